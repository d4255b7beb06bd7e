// SPDX-License-Identifier: Apache-2.0
#ifndef TEST_LOAD_QUIC_SERVER_H
#define TEST_LOAD_QUIC_SERVER_H

#include <stdbool.h>
#include <stdint.h>

#include "test/load/device.h"
#include "test/load/options.h"
#include "test/load/quic_flows.h"
#include "test/load/tally.h"

#define QUIC_SERVER_SEEN (UINT64_C(1) << 20) /**< datagrams that are remembered */

/* A MAC address that was seen first, and has to be the same from then on. */
struct quic_server_place {
    bool known;
    uint8_t mac[OPTIONS_MAC_SIZE];
};

struct quic_server_flow {
    struct quic_server_place initial_place; /* of Initials, from one address of the client's */
    uint32_t generation;                    /* which */
    uint32_t next;                          /* one more than the latest flow_number */
};

/*
 * All servers of the balancer, on one port: each has an address of its own there, and the same virtual one. Sees that
 * datagrams come whole and once, and that those of a flow come to its server: always the same, and the one that the
 * command line says, if it does. One thread, but for quic_server_turn().
 */
struct quic_server {
    uint16_t port;
    const struct quic_flows *flows;
    const struct options_quic *options;
    uint8_t family;
    uint8_t client_ip[16], vip[16];
    uint16_t vip_port;
    struct quic_server_flow *flow;
    struct quic_server_place place[OPTIONS_QUIC_SERVERS_MAX]; /* of short headers, by server */
    uint64_t packets[OPTIONS_QUIC_SERVERS_MAX];               /* of them, all the time */
    uint64_t *seen;                                           /* bits by number, of the last QUIC_SERVER_SEEN */
    uint64_t next;                                            /* one more than the highest number */
    uint64_t arrived;                                         /* datagrams of this run, all of them, in this stretch */
    uint64_t turn, turn_taken; /* number of the stretch: as wanted, as the server's thread knows */
    struct tally tally;
    struct tally last; /* of the stretch before */
};

/** Flows stay the caller's. @return 0 or -ENOMEM */
int quic_server_create(struct quic_server *server, const struct options *options, const struct device *device,
                       const struct quic_flows *flows);
void quic_server_destroy(struct quic_server *server);

/** Take over a frame that came. */
void quic_server_receive(struct quic_server *server, struct rte_mbuf *mbuf, uint64_t now);

/** See whether a stretch is over: what was counted goes to server->last. The server's thread, at each turn of its loop.
 */
void quic_server_work(struct quic_server *server);

/**
 * Ask for the end of a stretch; server->last is valid when this returns true at last. From the thread that sends, while
 * the server's own calls quic_server_work(). @p number is one more for each stretch.
 */
bool quic_server_turn(struct quic_server *server, uint64_t number);

#endif
