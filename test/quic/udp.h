// SPDX-License-Identifier: Apache-2.0
#ifndef TEST_QUIC_UDP_H
#define TEST_QUIC_UDP_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

/* UDP sockets of the QUIC test programs: datagrams in and out in batches, never fragmented. One thread. */

/** An IPv4 or IPv6 address with its port. */
struct udp_addr {
    struct sockaddr_storage sa;
    socklen_t len;
};

/** Read an IPv4 or IPv6 address. @return false: @p text is none */
bool udp_addr_parse(struct udp_addr *addr, const char *text, uint16_t port);

/** Bind a non-blocking socket with large buffers to @p addr, and write back the port it got. Ends the program on
 * errors. */
int udp_open(struct udp_addr *addr);

/** Monotonic time in nanoseconds. */
uint64_t udp_now(void);

#define UDP_BATCH    32
#define UDP_SIZE_MAX 2048 /**< octets of a datagram that are received or sent */

/** Datagrams on their way in or out. */
struct udp_batch {
    unsigned n;
    struct udp_addr peer[UDP_BATCH];
    size_t len[UDP_BATCH];
    uint8_t data[UDP_BATCH][UDP_SIZE_MAX];
};

/** Receive what is there, UDP_BATCH datagrams at most. @return the number */
unsigned udp_receive(int fd, struct udp_batch *batch);

/** Send all of a batch and empty it. A datagram that the kernel refuses is lost, as on a network. */
void udp_send(int fd, struct udp_batch *batch);

#endif
