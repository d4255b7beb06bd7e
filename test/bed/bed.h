// SPDX-License-Identifier: Apache-2.0
#ifndef TEST_BED_BED_H
#define TEST_BED_BED_H

#include "fwd/dispatch.h"
#include "fwd/fwd.h"
#include "fwd/strategy_set.h"

#include <rte_mbuf.h>

/*
 * A forwarder without devices, threads or clock, for tests, fuzzers and benchmarks: ports that exist only as receive
 * matches, frames made by hand, sent frames caught in an array. One bed per process.
 */

#define BED_WORKERS_MAX 4
#define BED_SENT_MAX    4096
#define BED_FACES_MAX   1024

struct bed_config {
    uint16_t n_workers;    /**< 0: 1 */
    uint32_t pit_capacity; /**< 0: 1024 */
    uint32_t pit_blocks;   /**< 0: the PIT's default */
    uint32_t cs_capacity;  /**< 0: off */
    enum cs_policy cs_policy;
    uint32_t fib_capacity;                           /**< 0: 1024 */
    uint32_t dnl_capacity;                           /**< 0: 4096 */
    uint32_t measurements;                           /**< prefixes; 0: the default of the forwarder */
    uint32_t n_mbufs;                                /**< 0: 4095 */
    uint32_t mbuf_size;                              /**< 0: 2048 + headroom */
    uint32_t face_share;                             /**< 0: no limit */
    uint32_t max_fragments;                          /**< 0: 32 */
    uint32_t max_messages;                           /**< in reassembly; 0: 64 */
    uint32_t max_per_face;                           /**< in reassembly; 0: 16 */
    uint32_t reass_bytes;                            /**< 0: 1 MB */
    uint32_t max_lifetime_ms;                        /**< 0: the reference forwarder's */
    uint32_t reliable_faces;                         /**< faces with reliability; 0: none has it */
    uint32_t reliable_packets;                       /**< 0: 512 */
    bool quic;                                       /**< forwarders have QUIC; the caller sets shared.quic */
    struct flow_config quic_flow[QUIC_SERVICES_MAX]; /**< capacity 0: none */
    bool lenient;
    bool tx_multi_seg; /**< ports send chains */
    bool free_sent;    /**< sent frames are freed at once instead of being kept */
    enum arena_pages pages;
};

/** A frame that a forwarder sent. */
struct bed_sent {
    uint16_t port;
    uint16_t worker;
    struct rte_mbuf *mbuf; /**< the bed's until bed_drop_sent() */
};

struct bed {
    struct fwd_shared shared;
    struct fwd *fwd[BED_WORKERS_MAX];
    struct rte_mempool *pool;
    struct port port[PORT_MAX];
    uint16_t n_ports;
    unsigned n_faces;
    uint32_t face[BED_FACES_MAX];    /**< ids of the faces there are */
    struct strategy_set *strategies; /**< 0 is best-route, 1 multicast */
    uint64_t now_ns;
    unsigned n_sent;
    bool free_sent;
    bool refuse_send; /**< the device takes nothing */
    struct bed_sent sent[BED_SENT_MAX];
};

/** Start EAL (once per process, no hugepages, no devices) and make a bed; exits the process on failure. */
struct bed *bed_create(const struct bed_config *config);
void bed_destroy(struct bed *bed);

/** A new port: Ethernet with MAC 02:00:00:00:00:<index + 1>, 10.0.<index>.1/24 and fd00:<index>::1, MTU 1500. */
struct port *bed_port(struct bed *bed);
/** A port of bare packets. */
struct port *bed_bare_port(struct bed *bed);

/** Faces. Unicast peers have MAC 02:00:00:00:<host>:<port + 1>, 10.0.<port>.<host>, fd00:<port>::<host>. @return FaceId
 */
uint32_t bed_ether(struct bed *bed, struct port *port, uint8_t host);
uint32_t bed_ether_multicast(struct bed *bed, struct port *port);
uint32_t bed_udp4(struct bed *bed, struct port *port, uint8_t host);
uint32_t bed_udp6(struct bed *bed, struct port *port, uint8_t host);
uint32_t bed_bare(struct bed *bed, struct port *port);
/** The internal face, FaceId 1, behind a port of its own: what management and the control thread stand behind. */
void bed_internal(struct bed *bed);
/** Any face. */
uint32_t bed_face(struct bed *bed, const struct face_config *config);

/** Take a face away as management would: out of its port's match, the FIB, the table, then from each worker. */
void bed_face_remove(struct bed *bed, uint32_t id);

/** Route and strategy by URI; abort on failure. */
void bed_route(struct bed *bed, const char *prefix, uint32_t face, uint32_t cost);
void bed_strategy(struct bed *bed, const char *prefix, uint16_t strategy);
/** The same by name, such as "asf/v=5/max-timeouts~2"; abort on failure. */
const struct strategy *bed_strategy_named(struct bed *bed, const char *prefix, const char *strategy);

/** A frame as @p face's peer would send it, with @p len octets of link-layer packet. */
struct rte_mbuf *bed_frame(struct bed *bed, uint32_t face, const void *packet, size_t len);
/** Raw octets as a frame. */
struct rte_mbuf *bed_raw(struct bed *bed, const void *octets, size_t len);
/** The same octets over two segments, cut at @p split (0 < split < length). Frees @p mbuf. */
struct rte_mbuf *bed_split(struct bed *bed, struct rte_mbuf *mbuf, uint32_t split);

/** Receive frames at worker 0 (or another) and send what comes of them; with several workers: until rings are empty. */
void bed_receive(struct bed *bed, const struct port *port, struct rte_mbuf **mbufs, uint16_t n);
void bed_receive_at(struct bed *bed, uint16_t worker, const struct port *port, struct rte_mbuf **mbufs, uint16_t n);
/** One packet from a face's peer, received and worked on. */
void bed_packet(struct bed *bed, uint32_t face, const void *packet, size_t len);
/** Let time pass and fire timers. */
void bed_pass(struct bed *bed, uint64_t ms);

/** Interest and Data by URI, as link-layer packets. @return octets written */
struct bed_fields {
    uint32_t nonce;       /**< Interest */
    uint32_t lifetime_ms; /**< Interest; 0: absent */
    bool can_be_prefix, must_be_fresh;
    uint8_t hop_limit;     /**< 0: absent */
    uint32_t freshness_ms; /**< Data; 0: absent */
    uint16_t payload;      /**< Data: octets of Content */
    uint8_t fill;          /**< Data: value of those octets */
    const void *token;     /**< PitToken to wrap with */
    uint8_t token_len;
    uint16_t nack;            /**< wrap as Nack with this reason */
    bool no_cache;            /**< CachePolicy NoCache */
    bool non_discovery;       /**< Interest: NonDiscovery */
    const void *announcement; /**< Data: PrefixAnnouncement */
    uint16_t announcement_len;
};
size_t bed_interest(uint8_t *buf, size_t size, const char *uri, const struct bed_fields *fields);
size_t bed_data(uint8_t *buf, size_t size, const char *uri, const struct bed_fields *fields);
/** Build and deliver in one step. */
void bed_send_interest(struct bed *bed, uint32_t face, const char *uri, const struct bed_fields *fields);
void bed_send_data(struct bed *bed, uint32_t face, const char *uri, const struct bed_fields *fields);

/** Parse sent frame @p i as its receiver would: names not hashed. The face it went to is *face. Aborts when it cannot.
 */
struct ndn_packet bed_parse_sent(struct bed *bed, unsigned i, uint32_t *face);
/** Free the frames caught so far. */
void bed_drop_sent(struct bed *bed);

/** Sum of a drop reason, and of all counters, over the workers. */
uint64_t bed_drops(const struct bed *bed, enum drop drop);
struct stats_worker bed_stats(const struct bed *bed);
/** Name of the only drop or consumed counter that is not zero; "" when there is none, "several" when there are more. */
const char *bed_only_drop(const struct bed *bed);
/** Conservation law, table invariants. @return 0 or -EINVAL */
int bed_check(const struct bed *bed);
/** mbufs out of the pool now. */
unsigned bed_mbufs(const struct bed *bed);

#endif
