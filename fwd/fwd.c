// SPDX-License-Identifier: Apache-2.0
#include "fwd/fwd.h"

#include <errno.h>
#include <string.h>

#include "fwd/dispatch.h"
#include "fwd/input.h"
#include "fwd/output.h"
#include "fwd/quic/quic.h"
#include "fwd/reliability.h"
#include "fwd/token.h"

/* What a worker owns beside its tables, in one mapping. */
struct fwd_memory {
    struct fwd fwd;
    struct stats_face face_stats[FACE_SLOTS];
    struct pkt pkts[FWD_BURST_MAX];
    struct dispatch_out dispatch_out[FWD_WORKERS_MAX];
    struct fwd_broadcast broadcast;
    uint8_t linear[INPUT_LINEAR_SLACK + INPUT_LINEAR_SIZE];
};

static int fwd_create_reliability(struct fwd *fwd, const struct fwd_config *config)
{
    struct reliability_config reliability = {
        .faces = config->reliable_faces, .packets = config->reliable_packets, .pages = config->pages};
    return config->reliable_faces > 0 ? reliability_create(&fwd->reliability, &reliability, config->now_ns) : 0;
}

static int fwd_create_quic(struct fwd *fwd, const struct fwd_config *config)
{
    return config->quic ? quic_worker_create(&fwd->quic, config) : 0;
}

int fwd_create(struct fwd **out, const struct fwd_config *config)
{
    if (config->pit.capacity >= 1u << TOKEN_SLOT_BITS || config->worker >= FWD_WORKERS_MAX)
        return -EINVAL;
    struct fwd_memory *memory = arena_map(sizeof *memory, config->pages);
    if (memory == NULL)
        return -ENOMEM;
    struct fwd *fwd = &memory->fwd;
    *fwd = (struct fwd){
        .shared = config->shared,
        .pool = config->pool,
        .pkts = memory->pkts,
        .linear = memory->linear + INPUT_LINEAR_SLACK,
        .dispatch_out = memory->dispatch_out,
        .broadcast = &memory->broadcast,
        .now_ns = config->now_ns,
        .random = config->seed,
        .worker = config->worker,
        .short_room = OUTPUT_SHORT_ROOM,
        .cs_on = config->cs.capacity > 0,
        .cs_serve = config->cs.capacity > 0,
        .cs_admit = config->cs.capacity > 0,
        .send = config->send,
        .send_ctx = config->send_ctx,
        .face_stats = memory->face_stats,
    };
    // Each worker numbers fragments in a range of its own, from a start that a stranger does not know.
    fwd->sequence = (uint64_t)config->worker << 56 | (pkt_random(fwd) >> 16);
    if (pit_create(&fwd->pit, &config->pit, config->now_ns) != 0 ||
        cs_create(&fwd->cs, &config->cs, config->now_ns) != 0 ||
        dnl_create(&fwd->dnl, config->dnl_capacity, config->pages) != 0 ||
        reass_create(&fwd->reass, &config->reass, config->now_ns) != 0 ||
        measurements_create(&fwd->measurements, config->measurements != 0 ? config->measurements : 4096, config->pages,
                            config->now_ns) != 0 ||
        fwd_create_reliability(fwd, config) != 0 || fwd_create_quic(fwd, config) != 0) {
        fwd_destroy(fwd);
        return -ENOMEM;
    }
    *out = fwd;
    return 0;
}

void fwd_destroy(struct fwd *fwd)
{
    if (fwd == NULL)
        return;
    for (unsigned port = 0; port < PORT_MAX; port++)
        rte_pktmbuf_free_bulk(fwd->tx[port].mbuf, fwd->tx[port].n);
    quic_worker_destroy(fwd->quic);
    measurements_destroy(fwd->measurements);
    reliability_destroy(fwd->reliability);
    if (fwd->reass != NULL)
        reass_destroy(fwd->reass);
    if (fwd->dnl != NULL)
        dnl_destroy(fwd->dnl);
    if (fwd->cs != NULL)
        cs_destroy(fwd->cs);
    if (fwd->pit != NULL)
        pit_destroy(fwd->pit);
    // struct fwd is the first member of the mapping.
    arena_unmap(fwd, sizeof(struct fwd_memory));
}

void fwd_flush(struct fwd *fwd)
{
    while (fwd->tx_ports != 0)
        output_flush(fwd, (uint16_t)__builtin_ctzll(fwd->tx_ports));
}

static void fwd_expire(void *ctx, struct pit_entry *entry)
{
    if (unlikely(entry->flags & PIT_WATCHED) && ndn_interest_wake(ctx, entry))
        return;
    ndn_interest_reject(ctx, entry);
}

void fwd_poll(struct fwd *fwd, uint64_t now_ns, uint32_t max)
{
    fwd->now_ns = now_ns;
    pit_poll(fwd->pit, now_ns, max, fwd_expire, fwd);
    uint32_t timed_out = reass_poll(fwd->reass, now_ns);
    fwd->stats.held -= timed_out;
    fwd->stats.drops[DROP_LP_REASS_TIMEOUT] += timed_out;
    cs_poll(fwd->cs, now_ns);
    measurements_poll(fwd->measurements, now_ns, max);
    if (unlikely(fib_added(fwd->shared->fib) != fwd->next_hops.added || fwd->next_hops.slot != 0))
        ndn_interest_walk(fwd);
    if (fwd->reliability != NULL)
        reliability_poll(fwd, now_ns, max);
    if (unlikely(fwd->quic != NULL))
        quic_worker_poll(fwd, max);
}

uint64_t fwd_next_ns(const struct fwd *fwd, uint64_t now_ns)
{
    if (fwd->next_hops.slot != 0)
        return 0;
    uint64_t pit_ns = pit_next_ns(fwd->pit, now_ns);
    uint64_t link_ns = fwd->reliability != NULL ? reliability_next_ns(fwd->reliability, now_ns) : UINT64_MAX;
    return RTE_MIN(pit_ns, link_ns);
}

int fwd_cs_set(struct fwd *fwd, uint32_t capacity, bool admit, bool serve)
{
    int rc = cs_resize(fwd->cs, capacity);
    if (rc != 0)
        return rc;
    fwd->cs_admit = admit && capacity > 0;
    fwd->cs_serve = serve && capacity > 0;
    fwd->cs_on = fwd->cs_admit || fwd->cs_serve;
    return 0;
}

void fwd_face_removed(struct fwd *fwd, uint32_t face)
{
    uint32_t freed = reass_face_remove(fwd->reass, face);
    fwd->stats.held -= freed;
    fwd->stats.drops[DROP_LP_REASS_EVICT] += freed;
    reliability_face_removed(fwd->reliability, face);
}

int fwd_check(const struct fwd *fwd)
{
    return pit_check(fwd->pit) != 0 || cs_check(fwd->cs) != 0 || reass_check(fwd->reass) != 0 ||
                   measurements_check(fwd->measurements) != 0 ||
                   (fwd->reliability != NULL && reliability_check(fwd->reliability) != 0)
               ? -EINVAL
               : 0;
}
