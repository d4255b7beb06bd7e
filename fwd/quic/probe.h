// SPDX-License-Identifier: Apache-2.0
#ifndef FWD_QUIC_PROBE_H
#define FWD_QUIC_PROBE_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Whether servers answer: a datagram of 1200 octets with a version that is reserved to force Version Negotiation (RFC
 * 9000, section 15) is sent by a socket of the kernel, and a Version Negotiation packet (RFC 8999, section 6) that
 * echoes its connection IDs is the answer. No state is made at the server. Control thread.
 */
struct quic_probe {
    int fd[2]; /**< IPv4, IPv6; -1: not open */
};

#define QUIC_PROBE_RANDOM 8

struct quic_probe_target {
    uint8_t ip[16]; /**< 4 or 16 octets used */
    bool v6;
    uint16_t port;        /**< host order */
    uint32_t interval_ms; /**< 0: not probed */
    uint32_t timeout_ms;
    unsigned failures_max;
    /* State; zero at the start. */
    bool silent; /**< failures_max probes in a row had no answer */
    bool waits;  /**< for the answer to the last one */
    unsigned failures;
    uint64_t due_ms, deadline_ms;
    uint8_t random[QUIC_PROBE_RANDOM]; /**< of the last one */
};

void quic_probe_open(struct quic_probe *probe);
void quic_probe_close(struct quic_probe *probe);

/** Take answers in, count what was not answered in time, and send what is due. Never waits. */
void quic_probe_round(struct quic_probe *probe, struct quic_probe_target *targets, uint32_t n, uint64_t now_ms);

#endif
