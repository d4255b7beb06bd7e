// SPDX-License-Identifier: Apache-2.0
#ifndef FWD_PKT_H
#define FWD_PKT_H

#include <string.h>

#include <rte_mbuf.h>

#include "fwd/fwd.h"
#include "fwd/token.h"

/*
 * A packet on its way through the stages, and the steps that pipelines share. Internal to fwd/; every function is
 * called by the worker that owns the struct fwd.
 */

/** Data on its way through the workers that may hold shorter Interests for it (fwd/dispatch.h). */
struct pkt_look {
    uint8_t level; /**< lengths below this may still be looked at */
    bool matched;  /**< a worker before this one has sent it on */
    uint8_t via;   /**< the worker that looked first */
};
#define PKT_LOOK_ALL UINT8_MAX

/** A parsed packet of the burst. Its mbuf holds the network packet alone: link and LP headers are cut off. */
struct pkt {
    struct rte_mbuf *mbuf;
    const struct face *face; /**< it came in by; valid until the end of the burst (RCU) */
    struct pkt_look look;
    bool has_token; /**< Data and Nacks: they carry a PIT token of ours, and of this worker */
    union {
        struct {
            struct token token;      /**< Data and Nacks: what it says; a hint */
            struct pit_entry *entry; /**< Data: where that led to, if to its name, before the burst was acted on */
        };
        struct fib_hint fib; /**< Interests: where their route is */
    };
    struct ndn_packet ndn;
} __attribute__((aligned(64)));
_Static_assert(offsetof(struct pkt, ndn.name) == 192, "a packet of a few components touches four cache lines");
_Static_assert(offsetof(struct pkt, ndn.lp.sequence) == 128, "what is seldom read fills one of its own");

/** Count the end of a frame and free it. */
static inline void pkt_drop(struct fwd *fwd, struct rte_mbuf *mbuf, enum drop drop)
{
    fwd->stats.drops[drop]++;
    rte_pktmbuf_free(mbuf);
}

/** Counters of a face at this worker; starts them anew when the slot's last face was another. */
static inline struct stats_face *pkt_face_stats(struct fwd *fwd, uint32_t face)
{
    struct stats_face *stats = &fwd->face_stats[face % FACE_SLOTS];
    if (__builtin_expect(stats->face != face, 0)) {
        __builtin_memset(stats, 0, sizeof *stats);
        stats->face = face;
    }
    return stats;
}

/** An in-record of a face is gone. The face itself may be gone too, and its slot another's. */
static inline void pkt_face_release(struct fwd *fwd, uint32_t face)
{
    struct stats_face *stats = &fwd->face_stats[face % FACE_SLOTS];
    if (stats->face == face)
        stats->pending--;
}

/** Count the end of a packet that its face is to blame for, and free it. */
static inline void pkt_refuse(struct fwd *fwd, struct pkt *pkt, enum drop drop)
{
    pkt_face_stats(fwd, pkt->face->id)->in_drops++;
    pkt_drop(fwd, pkt->mbuf, drop);
}

/** Next pseudo-random number (splitmix64), for nonces. */
static inline uint64_t pkt_random(struct fwd *fwd)
{
    uint64_t z = (fwd->random += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* False when the name is certainly in neither of the scopes below. */
static inline bool pkt_may_be_scoped(const struct ndn_name *name)
{
    uint64_t first;
    if (name->len < 10)
        return false;
    memcpy(&first, name->value, sizeof first);
    static const uint8_t word[sizeof first] = "\x08\x00localh", mask[sizeof first] = "\xff\x00\xff\xff\xff\xff\xff\xff";
    uint64_t want, care;
    memcpy(&want, word, sizeof want);
    memcpy(&care, mask, sizeof care);
    return (first & care) == want;
}

/* Scopes (NFD scope-prefix): a name belongs to one when its first component is that very word. */
static inline bool pkt_is_localhost(const struct ndn_name *name)
{
    return name->len >= 11 && memcmp(name->value, "\x08\x09localhost", 11) == 0;
}

static inline bool pkt_is_localhop(const struct ndn_name *name)
{
    return name->len >= 10 && memcmp(name->value, "\x08\x08localhop", 10) == 0;
}

/* One pipeline per file, steps in the reference forwarder's order. They take pkt->mbuf over. */
void ndn_interest(struct fwd *fwd, struct pkt *pkt);
void ndn_data(struct fwd *fwd, struct pkt *pkt);
void ndn_nack(struct fwd *fwd, struct pkt *pkt);

/** The entry was not satisfied: remember its nonces, count, erase. */
void ndn_interest_reject(struct fwd *fwd, struct pit_entry *entry);
/** In pit_in.hops, above the HopLimit: the Interest has more in it than its entry keeps. */
#define INTEREST_HOPS_HINTED 0x100

struct strategy;
struct strategy_choice;
/** Send to every chosen upstream, of which there is at least one; the last takes pkt->mbuf itself. */
void ndn_interest_forward(struct fwd *fwd, struct pkt *pkt, const struct strategy_choice *choice, uint32_t expiry);

typedef void (*ndn_interest_choose_t)(struct fwd *fwd, const struct strategy *strategy, struct strategy_choice *choice);
/** True when the Interest of an in-record can be made from what its entry keeps: it has no hint and no parameters. */
bool ndn_interest_can_be_made(struct fwd *fwd, const struct pit_entry *entry, const struct pit_in *in);
/**
 * Make the Interest of each downstream again, as far as that can be, and send it to those that @p choose says: the
 * strategy's choice without a packet from outside.
 */
void ndn_interest_again(struct fwd *fwd, const struct strategy *strategy, struct pit_entry *entry,
                        ndn_interest_choose_t choose);
/** Next hops were added to the FIB: go on sending pending Interests to them, where the strategy wants that. */
void ndn_interest_walk(struct fwd *fwd);
/** The entry's timer fired. @return true when only its strategy wanted that, and the entry lives on, armed */
bool ndn_interest_wake(struct fwd *fwd, struct pit_entry *entry);

/** Add the nonces of an entry's out-records to the Dead Nonce List. */
void ndn_interest_remember(struct fwd *fwd, const struct pit_entry *entry);
/** Erase an entry, giving back its downstreams' shares of the PIT. */
void ndn_interest_erase(struct fwd *fwd, struct pit_entry *entry);
/** Entry and out-record that a packet from upstream answers by its PIT token; NULL when the token says nothing. */
struct pit_entry *ndn_token_entry(struct fwd *fwd, const struct pkt *pkt);

#endif
