// SPDX-License-Identifier: Apache-2.0
#ifndef TEST_QUIC_SERVER_CONNS_H
#define TEST_QUIC_SERVER_CONNS_H

#include <stdbool.h>
#include <stdint.h>

#include "test/quic/cid_maker.h"
#include "test/quic/cid_map.h"
#include "test/quic/conn.h"

/*
 * The connections of the server. Each stream's octets are compared with the pattern; at its end the answer is one line:
 * server ID, number of octets, "ok" or "bad". A connection that is over keeps its connection IDs for a while: late
 * datagrams of its client are no sign of a wrong way.
 */

/** COUNTER(name): what the server counts. */
#define SERVER_COUNTERS(COUNTER)                                                              \
    COUNTER(datagrams)                                                                        \
    COUNTER(octets)      /* of streams */                                                     \
    COUNTER(connections) /* accepted */                                                       \
    COUNTER(completed)   /* ended by the client after its answer */                           \
    COUNTER(broken)      /* ended otherwise */                                                \
    COUNTER(bad)         /* streams with wrong octets */                                      \
    COUNTER(moves)       /* of clients to another address or port */                          \
    COUNTER(resets)      /* Stateless Resets: a short header with an unknown CID came here */ \
    COUNTER(strays)      /* other packets of unknown connections */                           \
    COUNTER(retried)     /* connections with a good Retry token */                            \
    COUNTER(bad_tokens)  /* Initials with another token, dropped */                           \
    COUNTER(version_negotiations)                                                             \
    COUNTER(small_initials) /* Initials in datagrams below 1200 octets */

struct server_counters {
#define COUNTER(name) uint64_t name;
    SERVER_COUNTERS(COUNTER)
#undef COUNTER
};

struct server {
    struct cid_maker maker;
    struct cid_map map;
    bool checks_tokens; /**< of Retry packets that a forwarder sent: server_retry_init() was called */
    struct server_counters count;
    char id_text[2 * QUIC_LB_SERVER_ID_MAX + 8]; /**< in answers */
    struct server_conn *conns;
};

/** A datagram from @p peer arrived at @p local: give it to its connection, begin one, or answer without one. */
void server_input(struct server *server, int fd, const struct udp_addr *local, const struct udp_addr *peer,
                  const uint8_t *data, size_t len, uint64_t now);

/** Send what is due, end what is over. @return the time of the next call at the latest */
uint64_t server_work(struct server *server, uint64_t now);

/** End all connections without a word. */
void server_close(struct server *server);

#endif
