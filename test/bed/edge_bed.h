// SPDX-License-Identifier: Apache-2.0
#ifndef TEST_BED_EDGE_BED_H
#define TEST_BED_EDGE_BED_H

#include "fwd/quic/edge.h"
#include "test/bed/bed.h"

/*
 * quic_edge() by itself: one service on one port, datagrams from client 10.0.0.x or fd00::x, whose frames are parsed as
 * the pipeline would, and what it answers parsed as the client would, all checksums included. What goes wrong aborts.
 */
#define EDGE_SERVERS    4
#define EDGE_LIFETIME_S 10
#define EDGE_POSIX_S    1800000000u /**< POSIX time when edge_bed_servers() was called */

/** Configurations of connection IDs, by their ID: 3 + 4 octets, 4 + 5, 8 + 8. */
enum { EDGE_PLAIN = 0, EDGE_FOUR_PASS, EDGE_SINGLE_PASS, EDGE_CONFIGS };

struct edge_bed {
    struct bed *bed;
    struct port *port;
    struct quic_worker *quic;
    struct quic_service service;
    struct quic_server server[EDGE_SERVERS];
    struct quic_pkt pkt;  /**< the last one */
    uint8_t host[4];      /**< client: last octets of its address */
    uint16_t client_port; /**< host byte order */
    bool v6, vlan;
    bool group;     /**< the frame is to a group's MAC address */
    uint32_t split; /**< a longer frame comes in two segments, cut here; 0: in one */
};

enum edge_end { EDGE_PASSED, EDGE_ANSWERED, EDGE_BOTH, EDGE_DROPPED };

/** A datagram that the forwarder sent: its payload is in the frame of bed->sent[i]. */
struct edge_sent {
    struct frame frame;
    const uint8_t *payload;
    uint16_t len, ip_id;
};

struct edge_initial {
    size_t len; /**< of the datagram; 0: 1200 */
    uint32_t version;
    uint8_t dcid_len, scid_len;
    const uint8_t *dcid; /**< NULL: d0d1.. */
    const uint8_t *token;
    size_t token_len;
};

/** A service without servers that has nothing switched on. */
struct edge_bed *edge_bed_create(void);
void edge_bed_destroy(struct edge_bed *edge);
/** Give it servers with an ID in each configuration, and switch Retry on: keys 77 and 3, CIDs of EDGE_FOUR_PASS. */
void edge_bed_servers(struct edge_bed *edge);

/** Counters of the service. */
static inline struct quic_stats_service *edge_stats(struct edge_bed *edge)
{
    return &edge->quic->stats.service[edge->service.slot];
}

/** A long header up to its connection IDs: DCID d0d1.., SCID 5051.. @return octets */
size_t edge_put_long(uint8_t *p, uint8_t first, uint32_t version, uint8_t dcid_len, uint8_t scid_len);
/** An Initial that fills its datagram; SCID 5051.. @return octets */
size_t edge_put_initial(uint8_t *p, const struct edge_initial *initial);
/** The frame that carries a datagram of the client to 10.0.0.1 or fd00::1, port 443. @return octets */
size_t edge_frame(const struct edge_bed *edge, uint8_t *frame, const uint8_t *payload, size_t len);

/**
 * Give a datagram to quic_edge() as the pipeline would. What quic_parse() refuses, with @p from_client, aborts. A
 * packet that goes on is freed.
 */
enum edge_end edge_datagram(struct edge_bed *edge, const uint8_t *payload, size_t len, bool from_client);

/** The @p i th frame sent: all of it as it must be, from the service to the client. */
struct edge_sent edge_parse_sent(const struct edge_bed *edge, unsigned i);

#endif
