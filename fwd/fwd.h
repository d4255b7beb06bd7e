// SPDX-License-Identifier: Apache-2.0
#ifndef FWD_FWD_H
#define FWD_FWD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fwd/drop.h"
#include "fwd/quic/service.h"
#include "fwd/stats.h"
#include "parser/ndn_packet.h"
#include "pit/cs.h"
#include "pit/dnl.h"
#include "pit/fib.h"
#include "pit/flow.h"
#include "pit/measurements.h"
#include "pit/pit.h"
#include "pit/reass.h"
#include "ports/face.h"
#include "ports/port.h"

struct rte_mbuf;
struct rte_mempool;
struct rte_ring;

/*
 * The forwarder of one worker: what happens to a burst of frames at a given time. It owns its tables, its counters
 * and its send buffers, and knows nothing of threads, devices' queues or clocks: frames come in by fwd_input(), go
 * out through fwd->send, and time is a parameter. A worker, a test, a fuzzer and a benchmark run the same code.
 *
 * All functions taking a struct fwd are called by the thread that owns it.
 */

#define FWD_BURST_MAX   64
#define FWD_WORKERS_MAX 64

struct dispatch;
struct dispatch_out;
struct quic_worker;
struct region;
struct reliability;
struct strategy;

/** Whose Data goes into the Content Store although nobody asked for it (NFD cs_unsolicited_policy). */
enum fwd_unsolicited { FWD_DROP_ALL = 0, FWD_ADMIT_LOCAL, FWD_ADMIT_NETWORK, FWD_ADMIT_ALL };

/** What all workers read. Written before they start, but for what RCU publishes (fib, faces, strategies). */
struct fwd_shared {
    struct ndn_name_key name_key;
    uint64_t token_key[2];
    struct fib *fib;
    struct face_table *faces;
    struct port *port[PORT_MAX];
    const struct strategy *const *strategies; /**< instances, by number; [0] is the default for "/" */
    struct dispatch *dispatch;                /**< NULL with one worker */
    struct quic_set *_Atomic quic;            /**< services; NULL: none. RCU */
    _Atomic uint64_t posix_ns;                /**< POSIX time when now_ns was 0; follows the clock as that is set */
    uint16_t n_workers;
    bool lenient;              /**< tlv-lenient */
    uint32_t max_lifetime_ms;  /**< cap on InterestLifetime */
    uint8_t default_hop_limit; /**< of Interests that come without; 0: none */
    uint8_t unsolicited;       /**< enum fwd_unsolicited */
    uint16_t n_regions;
    const struct region *regions;                   /**< network region table (fwd/region.h) */
    uint32_t face_share;                            /**< in-records one face may hold in one worker's PIT */
    struct rte_ring *unknown_peer[FWD_WORKERS_MAX]; /**< to the control thread: first frames of on-demand faces */
};

/** Frames waiting to be sent on one port. */
struct fwd_tx {
    uint16_t n;
    struct rte_mbuf *mbuf[FWD_BURST_MAX];
};

/** A port whose device takes less than it is given (fwd/congestion.c). */
struct fwd_congestion {
    uint64_t last_ns;      /**< when it last refused frames */
    uint64_t next_mark_ns; /**< the next packet is marked after that */
    uint32_t n_marks;      /**< since it began */
};

struct fwd;

/**
 * Give a port @p n frames. The frames are the callee's whatever it returns: those it could not send it has freed.
 * Those that another worker is to send, and to count, it adds to fwd->stats.relayed.
 *
 * @return frames sent
 */
typedef uint16_t (*fwd_send_t)(struct fwd *fwd, uint16_t port, struct rte_mbuf **mbufs, uint16_t n);

struct pkt;

/** Faces that a strategy broadcasts to, as they were at a time. */
struct fwd_broadcast {
    bool is_known;
    uint8_t n;
    uint32_t tick;      /**< wheel tick */
    uint32_t face[128]; /**< FaceIds of the non-local ones; some may be gone */
};

/** Pending Interests that are to be sent to new next hops, too: a walk through the PIT, a few entries at a time. */
struct fwd_next_hops {
    uint32_t added; /**< fib_added() when the last walk began */
    uint32_t slot;  /**< where the walk is; 0: there is none */
    uint32_t until; /**< wheel tick up to which an Interest that wants new next hops may be pending */
    bool wanted;    /**< until holds */
};

struct fwd {
    /* Read for every packet. */
    const struct fwd_shared *shared;
    struct pit *pit;
    struct cs *cs;
    struct dnl *dnl;
    struct reass *reass;
    struct measurements *measurements;
    struct reliability *reliability; /**< NULL: no face has it */
    struct fwd_broadcast *broadcast;
    struct fwd_next_hops next_hops;
    struct rte_mempool *pool;           /**< buffers for what is made here */
    struct pkt *pkts;                   /**< FWD_BURST_MAX of them: the burst being worked on */
    uint8_t *linear;                    /**< a packet in several segments, copied to be parsed */
    uint8_t lp_token[NDN_LP_TOKEN_MAX]; /**< PIT token of the packet in linear, when it was reassembled */
    struct dispatch_out *dispatch_out;  /**< FWD_WORKERS_MAX of them; NULL with one worker */
    uint64_t now_ns;                    /**< of the burst being worked on */
    uint64_t random;                    /**< state of the nonce generator */
    uint64_t sequence;                  /**< next NDNLPv2 Sequence */
    uint64_t mark_ports;                /**< bit of each port whose next packet is to have a CongestionMark */
    uint16_t worker;
    uint16_t short_room; /**< room before a packet that may leave on the short way; above all there is: none may */
    bool cs_on;          /**< the next two, or one of them */
    bool cs_serve;       /**< Interests are looked up in the CS */
    bool cs_admit;       /**< Data goes into the CS */
    fwd_send_t send;
    void *send_ctx;

    struct quic_worker *quic; /**< NULL: no service was ever configured */
    struct stats_worker stats;
    struct stats_face *face_stats; /**< FACE_SLOTS of them */
    uint64_t tx_ports;             /**< bit of each port with frames in tx[] */
    struct fwd_tx tx[PORT_MAX];
    struct fwd_congestion congestion[PORT_MAX];
};
_Static_assert(PORT_MAX <= 64, "one bit a port");

struct fwd_config {
    const struct fwd_shared *shared;
    uint16_t worker; /**< 0 .. n_workers - 1 */
    struct pit_config pit;
    struct cs_config cs;
    struct reass_config reass;
    uint32_t dnl_capacity;
    uint32_t measurements;     /**< prefixes that strategies remember something of; 0: 4096 */
    uint32_t reliable_faces;   /**< faces with NDNLPv2 reliability; 0: off, whatever faces' flags */
    uint32_t reliable_packets; /**< buffers of unacknowledged packets that may be kept */
    enum arena_pages pages;
    struct rte_mempool *pool;
    fwd_send_t send;
    void *send_ctx;
    bool quic; /**< datagrams to the virtual addresses of shared->quic are forwarded; false: struct fwd has no quic */
    struct flow_config quic_flow[QUIC_SERVICES_MAX]; /**< flow table of the service with this slot; capacity 0: none */
    uint64_t seed; /**< of nonces and sequence numbers; from getrandom(2), or fixed in tests */
    uint64_t now_ns;
};

/** Memory is populated by the calling thread, so that it lies on its NUMA node. @return 0, or -ENOMEM */
int fwd_create(struct fwd **fwd, const struct fwd_config *config);
/** Frees everything, the mbufs that tables hold included. */
void fwd_destroy(struct fwd *fwd);

/**
 * Work on a burst of frames received from @p port: parse, look up, act; what is to be sent waits in fwd->tx until
 * fwd_flush(). The mbufs are taken over. Time must not go backwards between calls.
 *
 * @param n at most FWD_BURST_MAX
 */
void fwd_input(struct fwd *fwd, const struct port *port, struct rte_mbuf **mbufs, uint16_t n, uint64_t now_ns);

/**
 * The same for packets handed over by another worker, which has parsed the frame, cut it to the link-layer packet
 * and marked the mbuf (fwd/dispatch.h).
 */
void fwd_input_handed_over(struct fwd *fwd, struct rte_mbuf **mbufs, uint16_t n, uint64_t now_ns);

/** Send what waits. */
void fwd_flush(struct fwd *fwd);

/** Fire timers that are due, at most @p max per table. Call once per turn of the loop, before fwd_flush(). */
void fwd_poll(struct fwd *fwd, uint64_t now_ns, uint32_t max);

/** Nanoseconds until fwd_poll() has work to do, a lower bound. */
uint64_t fwd_next_ns(const struct fwd *fwd, uint64_t now_ns);

/**
 * Change the CS's capacity, and whether it admits new Data and serves what it has. Data over the capacity goes bit by
 * bit. @return 0, or -ERANGE above what there is memory for
 */
int fwd_cs_set(struct fwd *fwd, uint32_t capacity, bool admit, bool serve);

/** Forget the partial messages and unacknowledged packets of a face that is gone. Its PIT records lapse by themselves:
 * no face has its id again. */
void fwd_face_removed(struct fwd *fwd, uint32_t face);

/** Check invariants of all tables: 0, or -EINVAL. Tests and fuzzers. */
int fwd_check(const struct fwd *fwd);

#endif
