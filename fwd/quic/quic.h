// SPDX-License-Identifier: Apache-2.0
#ifndef FWD_QUIC_QUIC_H
#define FWD_QUIC_QUIC_H

#include <stdbool.h>
#include <stdint.h>

#include "fwd/fwd.h"
#include "fwd/quic/service.h"
#include "parser/frame.h"
#include "parser/quic.h"
#include "pit/flow.h"

/*
 * The QUIC pipeline of one worker: datagrams to virtual addresses, in stages over a burst like NDN packets: parse;
 * decode connection IDs side by side; select a server; rewrite and send. Stateless but for the optional flow table.
 */

/**
 * A datagram on its way. Its mbuf is the whole frame, the headers of Ethernet, IP and UDP contiguous in the first
 * segment. Of a datagram that came in several segments the QUIC header is in fwd->linear.
 */
struct quic_pkt {
    struct rte_mbuf *mbuf;
    const struct port *port; /**< it came in by */
    const struct quic_service *service;
    const struct quic_server *server; /**< chosen */
    uint8_t how;                      /**< enum quic_how */
    uint8_t drop;                     /**< enum drop, why there is no server; DROP_NONE: owner decides */
    uint16_t owner;                   /**< worker that has the flow table, when server is NULL */
    bool v6;
    bool plain;                        /**< a datagram, in one segment, behind an untagged Ethernet header */
    bool handed_over;                  /**< by another worker, which has counted it */
    uint16_t quote_off;                /**< ICMP error: of the IP header that it quotes; 0: it is a datagram */
    uint16_t l3_off;                   /**< of the IP header, from the start of the frame */
    uint16_t l3_len;                   /**< octets of the IP packet: link padding is behind it */
    uint16_t payload_off, payload_len; /**< UDP payload, of an ICMP error what it quotes of one */
    struct quic_header header;
};

/** How the server was found: the order of the draft (draft-ietf-quic-load-balancers-21, section 4.2). */
enum quic_how {
    QUIC_BY_CID = 0,    /**< its connection ID names it */
    QUIC_BY_TUPLE_SCID, /**< flow table: 4-tuple and source connection ID */
    QUIC_BY_DCID,       /**< flow table: destination connection ID */
    QUIC_BY_TUPLE,      /**< flow table: 4-tuple */
    QUIC_BY_HASH,       /**< Maglev over the 4-tuple */
    QUIC_HOWS,
};

/** Why a connection ID did not decide, for counters and `quic explain`. */
enum quic_unroutable { QUIC_ROUTABLE = 0, QUIC_UNROUTABLE_CONFIG, QUIC_UNROUTABLE_SHORT, QUIC_UNROUTABLE_SERVER };

/** STAT(field, name, meaning): counters of a service at one worker. */
#define STATS_QUIC(STAT)                                                                               \
    STAT(packets, "packets", "datagrams received")                                                     \
    STAT(bytes, "bytes", "octets of their IP packets")                                                 \
    STAT(initials, "initials", "Initial packets")                                                      \
    STAT(by_cid, "by_cid", "sent to the server that the connection ID names")                          \
    STAT(by_tuple_scid, "by_tuple_scid", "sent where the flow table says, by 4-tuple and source CID")  \
    STAT(by_dcid, "by_dcid", "sent where the flow table says, by destination CID")                     \
    STAT(by_tuple, "by_tuple", "sent where the flow table says, by 4-tuple")                           \
    STAT(by_hash, "by_hash", "sent where the hash of the 4-tuple leads")                               \
    STAT(unroutable_config, "unroutable_config", "connection IDs without a configuration")             \
    STAT(unroutable_short, "unroutable_short", "connection IDs too short for their configuration")     \
    STAT(unroutable_server, "unroutable_server", "connection IDs that name no active server")          \
    STAT(version_negotiations, "version_negotiations", "Version Negotiation packets sent")             \
    STAT(retries, "retries", "Retry packets sent")                                                     \
    STAT(tokens_good, "tokens_good", "Initials with a valid token")                                    \
    STAT(tokens_bad, "tokens_bad", "Initials with a token that did not verify")                        \
    STAT(retry_spent, "retry_spent", "Initials let through because no key may make more Retry tokens") \
    STAT(too_big, "too_big", "ICMP messages sent to clients: too big")                                 \
    STAT(icmp_followed, "icmp_followed", "ICMP errors sent to the server of the packet they quote")    \
    STAT(flows, "flows", "flows in the flow table now")                                                \
    STAT(flow_full, "flow_full", "flows that found no room in the flow table")                         \
    STAT(flows_evicted, "flows_evicted", "flows that gave way to new ones")                            \
    STAT(handed_over, "handed_over", "datagrams handed to the worker that has the flow table")         \
    STAT(coalesced_cid, "coalesced_cid", "datagrams whose second packet is for another connection ID")

struct quic_stats_service {
#define STAT(field, name, text) uint64_t field;
    STATS_QUIC(STAT)
#undef STAT
};
struct quic_stats_server {
    uint64_t packets, bytes, initials;
};

/** Counters of one worker, written by it alone, read by others with relaxed loads. */
struct quic_stats {
    struct quic_stats_service service[QUIC_SERVICES_MAX];
    struct quic_stats_server server[QUIC_SERVICES_MAX][QUIC_SERVERS_MAX];
};

/** What a worker has for QUIC; part of struct fwd, NULL when no service was ever configured. */
struct quic_worker {
    unsigned n; /**< datagrams that wait for quic_flush() */
    /** Index of the virtual address that datagrams were last for, by a hash: right or not, it is compared. */
    uint8_t vip_hint[QUIC_VIPS_MAX];
    struct quic_pkt pkt[FWD_BURST_MAX];
    struct quic_lb_job job[FWD_BURST_MAX];
    struct flow *flow[QUIC_SERVICES_MAX]; /**< of services with a flow table, by their slot */
    uint64_t too_big_ns;                  /**< time up to which ICMP messages have been used up */
    struct quic_edge *edge;               /**< limits and tokens (fwd/quic/edge.h) */
    struct quic_stats stats;
};

/** Flow tables are made for those slots whose owner this worker is, see quic_owner(). @return 0, or -ENOMEM */
int quic_worker_create(struct quic_worker **quic, const struct fwd_config *config);
/** Frees what waits, too; NULL is allowed. */
void quic_worker_destroy(struct quic_worker *quic);
/** Let flows expire, at most @p max of each table. */
void quic_worker_poll(struct fwd *fwd, uint32_t max);

/** The one worker that has the flow table of the service with this slot: what it decides does not depend on RSS. */
static inline uint16_t quic_owner(uint16_t slot, uint16_t n_workers)
{
    return n_workers > 1 ? slot % n_workers : 0;
}

/* Steps, one file each. Worker that owns the struct fwd. */

/**
 * input: a frame whose parse said UDP (frame) goes to a virtual address: take it over. Called from the receive stage;
 * what is taken waits until quic_flush().
 */
bool quic_take(struct fwd *fwd, const struct port *port, struct rte_mbuf *mbuf, const struct frame *frame);
/**
 * The same for a frame that nobody has parsed: the short way for nearly all datagrams, in one segment and without
 * tags, to an address that others came for before. @return false: it is something else, and as it was
 */
bool quic_take_plain(struct fwd *fwd, const struct port *port, struct rte_mbuf *mbuf);
/** dispatch: a frame that another worker has taken, and checked, came in by @p port and waits for quic_flush() here. */
void quic_arrive(struct fwd *fwd, const struct port *port, struct rte_mbuf *mbuf);
/** input: a frame whose IP payload is not UDP may be an ICMP error about a QUIC packet. @return true: taken over */
bool quic_take_icmp(struct fwd *fwd, const struct port *port, struct rte_mbuf *mbuf);
/** Work on what was taken: at the end of each receive burst, and when FWD_BURST_MAX wait. */
void quic_flush(struct fwd *fwd);

/**
 * edge: what is answered or refused here, before a server is looked for. Not for ICMP errors. The header may be in the
 * mbuf or elsewhere. @return true: the datagram is gone
 */
bool quic_edge(struct fwd *fwd, struct quic_pkt *pkt);

/**
 * steer: find the servers of a burst, in the draft's order. fwd->quic->job has its connection IDs. A packet without a
 * server has NULL.
 */
void quic_steer(struct fwd *fwd, struct quic_pkt *pkts, unsigned n);
/**
 * The same for one datagram without any effect and without the flow table, telling why: for `quic explain` and tests. A
 * packet without mbuf has no 4-tuple, so that only its connection ID can decide.
 */
const struct quic_server *quic_explain(const struct quic_service *service, const struct quic_pkt *pkt,
                                       enum quic_unroutable *unroutable, struct quic_lb_id *id);

/** steer: the 4-tuple of a datagram, or, of an ICMP error, of the client's datagrams that it is about. */
void quic_tuple_key(const struct quic_pkt *pkt, struct flow_key *key);
/** steer: the server that the hash of a 4-tuple leads to, NULL: none takes new connections. Who may read the service */
const struct quic_server *quic_by_hash(const struct quic_service *service, const struct flow_key *tuple);

/**
 * too_big: tell the client that the largest IP packet that gets to its server has @p mtu octets, within a rate, and
 * drop its datagram. Takes the mbuf over.
 */
void quic_too_big(struct fwd *fwd, struct quic_pkt *pkt, uint16_t mtu);

/** deliver: rewrite, and queue for the server's port; what does not fit is answered by ICMP. Takes the mbuf over. */
void quic_deliver(struct fwd *fwd, struct quic_pkt *pkt);

#endif
