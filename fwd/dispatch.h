// SPDX-License-Identifier: Apache-2.0
#ifndef FWD_DISPATCH_H
#define FWD_DISPATCH_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "fwd/pkt.h"

/*
 * Who owns a name. With several workers, the hash of a name's first components picks the worker whose PIT and CS
 * hold it; packets that arrive elsewhere cross one single-producer single-consumer ring, in bursts. Data and Nacks
 * that carry our PIT token go to the worker named there.
 *
 * Interests shorter than the dispatch prefix are owned by the hash of what they have. Data that answers one of them
 * may first reach the owner of its longer prefix; each worker publishes how many CanBePrefix Interests it holds at
 * each short length, and only where there are some does the Data travel on for a second look.
 */
#define DISPATCH_DEPTH_MAX 4
#define DISPATCH_SLOTS     65536
#define DISPATCH_RING_SIZE 4096

struct rte_ring;

/** CanBePrefix Interests pending at each short length, written by one worker. */
struct dispatch_short {
    _Atomic uint32_t pending[DISPATCH_DEPTH_MAX];
} __attribute__((aligned(64)));

struct dispatch {
    uint16_t n_workers;
    uint8_t depth; /**< components that pick the owner, 1..DISPATCH_DEPTH_MAX */
    uint8_t owner[DISPATCH_SLOTS];
    struct dispatch_short short_names[FWD_WORKERS_MAX];
    struct rte_ring *ring[FWD_WORKERS_MAX][FWD_WORKERS_MAX]; /**< [from][to] */
};

/** Control thread, after rte_eal_init(). @return 0, -EINVAL, -ENOMEM */
int dispatch_create(struct dispatch **dispatch, uint16_t n_workers, uint8_t depth);
/** Frees packets left in the rings. */
void dispatch_destroy(struct dispatch *dispatch);

/** Packets on their way to each worker; part of struct fwd. */
struct dispatch_out {
    uint16_t n;
    struct rte_mbuf *mbuf[FWD_BURST_MAX];
};

/** Hand the packet to its owner when that is another worker. @return true when it is gone */
bool dispatch_away(struct fwd *fwd, struct pkt *pkt);

/** Hand a whole frame that came in by @p port to worker @p to, where quic_arrive() gets it. */
void dispatch_frame(struct fwd *fwd, struct rte_mbuf *mbuf, const struct port *port, uint16_t to);

/** True when Interests for this very name are this worker's. */
bool dispatch_owns(const struct fwd *fwd, const struct ndn_name *name);

/** Parse a packet that was handed over. @return false when it was dropped; *linear as for frames */
bool dispatch_arrive(struct fwd *fwd, struct rte_mbuf *mbuf, struct pkt *pkt, bool *linear);

/**
 * Send Data on to the next worker that may hold a shorter Interest for it: the packet itself when nobody wanted it
 * yet, else a copy.
 *
 * @param matched this worker found entries for it
 * @return true when pkt->mbuf was handed over (only when @p matched is false)
 */
bool dispatch_second_look(struct fwd *fwd, struct pkt *pkt, bool matched);

/** Hand another worker the Acks of a face that are for it (fwd/reliability.h): an LpPacket that has nothing else. */
void dispatch_acks(struct fwd *fwd, uint16_t to, uint32_t face, const uint64_t *acks, uint8_t n);

/** Publish how many short CanBePrefix Interests this worker holds; before the Interest leaves for upstream. */
static inline void dispatch_publish(struct fwd *fwd, unsigned depth)
{
    struct dispatch *dispatch = fwd->shared->dispatch;
    // Release pairs with the acquire in dispatch_second_look(): Data that comes back sees the count.
    if (dispatch != NULL && depth < dispatch->depth)
        atomic_store_explicit(&dispatch->short_names[fwd->worker].pending[depth], pit_prefix_count(fwd->pit, depth),
                              memory_order_release);
}

/** Move what waits into the rings. */
void dispatch_flush(struct fwd *fwd);

/** Packets that other workers handed to this one. @return packets written to @p mbufs, at most FWD_BURST_MAX */
uint16_t dispatch_receive(struct fwd *fwd, uint16_t from, struct rte_mbuf **mbufs);

#endif
