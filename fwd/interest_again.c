// SPDX-License-Identifier: Apache-2.0
/*
 * Pending Interests that are sent to more upstreams without a packet from a downstream. No packet is kept for a
 * pending Interest: it is made again from its PIT entry, which has all of a usual one. What an Interest may have
 * besides, a ForwardingHint or parameters, is not kept; such Interests are not made again.
 */
#include <string.h>

#include "fwd/chain.h"
#include "fwd/pkt.h"
#include "fwd/strategy.h"
#include "parser/ndn_encode.h"

bool ndn_interest_can_be_made(struct fwd *fwd, const struct pit_entry *entry, const struct pit_in *in)
{
    uint8_t value[NDN_NAME_MAX];
    struct ndn_name name;
    if (in->hops & INTEREST_HOPS_HINTED)
        return false;
    uint16_t len = pit_name_copy(fwd->pit, entry, value);
    if (ndn_name_parse(value, len, true, &name) != VERDICT_OK || name.n_comps > NDN_NAME_DEPTH)
        return false;
    // A digest of parameters stands at the end as a rule, and anywhere by right.
    for (unsigned i = 0; i < name.n_comps; i++)
        if (value[name.end[i]] == NDN_PARAMS_DIGEST)
            return false;
    return true;
}

/* Milliseconds that are left of an in-record's lifetime; at least 1. */
static uint32_t left_ms(const struct fwd *fwd, const struct pit_in *in)
{
    uint64_t left_ns = (uint64_t)(in->expiry - wheel_tick(fwd->now_ns)) << WHEEL_TICK_SHIFT;
    return (uint32_t)RTE_MAX(left_ns / 1000000, (uint64_t)1);
}

/* The Interest itself, in a new mbuf; NULL (counted) when there is none. */
static struct rte_mbuf *make(struct fwd *fwd, const struct pit_entry *entry, const struct pit_in *in,
                             const struct ndn_name *name)
{
    uint8_t wire[NDN_NAME_MAX + 64];
    struct ndn_interest_out out = {
        .name = name->value,
        .name_len = name->len,
        .can_be_prefix = (entry->flags & PIT_CAN_BE_PREFIX) != 0,
        .must_be_fresh = (entry->flags & PIT_MUST_BE_FRESH) != 0,
        .nonce = in->nonce,
        .lifetime_ms = left_ms(fwd, in),
        .hop_limit = (uint8_t)(in->hops == UINT8_MAX ? 0 : in->hops),
    };
    size_t len = ndn_interest_encode(wire, sizeof wire, &out);
    struct rte_mbuf *mbuf = chain_from_octets(fwd->pool, wire, (uint32_t)len);
    fwd->stats.originated++;
    if (mbuf == NULL)
        fwd->stats.drops[DROP_TX_NO_MBUF]++;
    return mbuf;
}

void ndn_interest_again(struct fwd *fwd, const struct strategy *strategy, struct pit_entry *entry,
                        ndn_interest_choose_t choose)
{
    uint8_t value[NDN_NAME_MAX];
    struct pkt pkt;
    memset(&pkt, 0, sizeof pkt);
    struct ndn_name *name = &pkt.ndn.name;
    uint16_t len = pit_name_copy(fwd->pit, entry, value);
    if (ndn_name_parse(value, len, true, name) != VERDICT_OK)
        return;
    ndn_name_hash(name, &fwd->shared->name_key);
    pkt.ndn.type = NDN_TYPE_INTEREST;
    struct strategy_choice choice;
    choice.fib = fib_lookup(fwd->shared->fib, name);
    choice.entry = entry;
    choice.pkt = &pkt;
    for (struct pit_in *in = pit_in_next(fwd->pit, entry, NULL); in != NULL; in = pit_in_next(fwd->pit, entry, in)) {
        const struct face *face = face_get(fwd->shared->faces, in->face);
        if (face == NULL || (int32_t)(in->expiry - wheel_tick(fwd->now_ns)) <= 0 ||
            !ndn_interest_can_be_made(fwd, entry, in))
            continue;
        pkt.face = face;
        pkt.ndn.interest = (struct ndn_interest){.hop_limit = (uint8_t)in->hops, .has_nonce = true, .nonce = in->nonce};
        choice.in = face;
        choice.localhost = pkt_is_localhost(name);
        choice.localhop = pkt_is_localhop(name);
        choice.hop_limit = (uint8_t)in->hops;
        choice.suppressed = false;
        choice.n_out = 0;
        choice.none = DROP_NO_ROUTE;
        choose(fwd, strategy, &choice);
        if (choice.n_out == 0)
            continue;
        pkt.mbuf = make(fwd, entry, in, name);
        if (pkt.mbuf != NULL)
            ndn_interest_forward(fwd, &pkt, &choice, in->expiry);
    }
}

bool ndn_interest_wake(struct fwd *fwd, struct pit_entry *entry)
{
    uint32_t now = wheel_tick(fwd->now_ns), end = now;
    for (struct pit_in *in = pit_in_next(fwd->pit, entry, NULL); in != NULL; in = pit_in_next(fwd->pit, entry, in))
        if ((int32_t)(in->expiry - end) > 0)
            end = in->expiry;
    if (end == now)
        return false;
    pit_arm(fwd->pit, entry, end);
    const struct strategy *strategy = strategy_watching(fwd, entry);
    if (strategy->type->timer != NULL)
        ndn_interest_again(fwd, strategy, entry, strategy->type->timer);
    return true;
}

/* Slots of the PIT that are looked at between two bursts. */
#define WALK_SLOTS 32

static void walk_entry(struct fwd *fwd, struct pit_entry *entry)
{
    uint8_t value[NDN_NAME_MAX];
    struct ndn_name name;
    uint16_t len = pit_name_copy(fwd->pit, entry, value);
    if (entry->n_in == 0 || ndn_name_parse(value, len, true, &name) != VERDICT_OK)
        return;
    ndn_name_hash(&name, &fwd->shared->name_key);
    const struct fib_entry *fib = fib_lookup(fwd->shared->fib, &name);
    const struct strategy *strategy = fwd->shared->strategies[fib != NULL ? fib->strategy : 0];
    if (strategy->type->new_next_hop != NULL)
        ndn_interest_again(fwd, strategy, entry, strategy->type->new_next_hop);
}

void ndn_interest_walk(struct fwd *fwd)
{
    struct fwd_next_hops *next_hops = &fwd->next_hops;
    uint32_t added = fib_added(fwd->shared->fib);
    // One that is added during a walk makes another one, for what the walk has passed.
    if (next_hops->slot == 0 && added != next_hops->added) {
        next_hops->added = added;
        if (!next_hops->wanted || (int32_t)(next_hops->until - wheel_tick(fwd->now_ns)) < 0) {
            next_hops->wanted = false;
            return;
        }
        next_hops->slot = 1;
    }
    uint32_t end = next_hops->slot + WALK_SLOTS;
    while (next_hops->slot < end) {
        struct pit_entry *entry = pit_scan_some(fwd->pit, &next_hops->slot, end - next_hops->slot);
        if (entry != NULL)
            walk_entry(fwd, entry);
        else if (next_hops->slot < end)
            break;
    }
    if (next_hops->slot >= pit_scan_end(fwd->pit))
        next_hops->slot = 0;
}
