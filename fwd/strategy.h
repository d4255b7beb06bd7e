// SPDX-License-Identifier: Apache-2.0
#ifndef FWD_STRATEGY_H
#define FWD_STRATEGY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fwd/pkt.h"

/*
 * Forwarding strategies: which upstreams a pending Interest is sent to. A strategy decides, the pipeline sends; so a
 * strategy neither owns packets nor touches records. Instances are made by the control thread and read by workers.
 */

/** Exponential suppression of retransmissions (NFD RetxSuppressionExponential). */
struct strategy_suppression {
    uint16_t initial_ticks; /**< of 2^20 ns */
    uint16_t max_ticks;
    float multiplier; /**< at least 1; only read when an interval is renewed */
};

/** Upstreams that one Interest can be sent to: those of a prefix, or all faces when a strategy broadcasts. */
#define STRATEGY_OUT_MAX 128
/** In n_out: out-records get a mark, the first upstream may be a probe. */
#define STRATEGY_OUT_MARKED 0x8000u

/** What a strategy sees of an Interest, and what it decides. */
struct strategy_choice {
    const struct face *in;       /**< downstream */
    const struct fib_entry *fib; /**< NULL: no prefix matches */
    struct pit_entry *entry;
    struct pkt *pkt;   /**< the Interest; of one made again from its entry only names, nonce and HopLimit */
    bool localhost;    /**< the name is under /localhost */
    bool localhop;     /**< the name is under /localhop */
    uint8_t hop_limit; /**< after decrement; 255 when absent */
    bool suppressed;   /**< it only waits: a retransmission that came too early */
    uint16_t n_out;    /**< upstreams chosen, with STRATEGY_OUT_MARKED or without */
    enum drop none;    /**< why nothing was chosen */
    bool probe;        /**< with STRATEGY_OUT_MARKED: out[0] gets a nonce of its own */
    uint8_t mark;      /**< with STRATEGY_OUT_MARKED: goes into the out-records */
    const struct face *out[STRATEGY_OUT_MAX];
};

/** An instance: a type with parameters. */
struct strategy {
    const struct strategy_type *type;
    struct strategy_suppression suppression;
    uint16_t number; /**< its place in fwd_shared.strategies */
    uint32_t probing_interval_ms;
    uint32_t max_timeouts; /**< silent ones, before a face counts as timed out */
    uint32_t measurements_lifetime_ms;
};

struct strategy_type {
    const char *name;     /**< "best-route" */
    uint8_t version;      /**< current version, of /localhost/nfd/strategy/NAME/v=N */
    bool nack_no_route;   /**< an Interest without eligible next hop is answered with Nack NoRoute and forgotten */
    bool nack_on_loop;    /**< a looping Interest is answered with Nack Duplicate */
    bool handles_nack;    /**< Nacks from upstream are aggregated and passed on */
    bool suppresses;      /**< takes the parameters retx-suppression-* */
    bool probes;          /**< takes probing-interval, max-timeouts and measurements-lifetime */
    bool rejects;         /**< an Interest without eligible next hop is forgotten, without a Nack */
    bool first_eligible;  /**< a new Interest goes to the first eligible next hop alone: no need to ask for that */
    uint8_t straggler_ms; /**< how long a watched entry outlives Data while other upstreams may answer */
    /** Choose upstreams for a new or retransmitted Interest whose in-record is in place. */
    void (*interest)(struct fwd *fwd, const struct strategy *strategy, struct strategy_choice *choice);
    /**
     * Data from an upstream of a watched entry, before it is sent on; NULL: not of interest.
     * @return true: it is not for this entry's downstreams now
     */
    bool (*data)(struct fwd *fwd, const struct strategy *strategy, const struct pkt *pkt, struct pit_entry *entry,
                 struct pit_out *out);
    /**
     * A Nack, which is in @p out already; NULL: not of interest.
     * @return true: the strategy has dealt with it, the entry may be gone
     */
    bool (*nack)(struct fwd *fwd, const struct strategy *strategy, const struct pkt *pkt, struct pit_entry *entry,
                 struct pit_out *out);
    /** The timer that strategy_wake_at() set: choose more upstreams, once for each downstream. NULL: sets none. */
    void (*timer)(struct fwd *fwd, const struct strategy *strategy, struct strategy_choice *choice);
    /** Next hops of a pending Interest may have become more: choose those, once for each downstream. NULL: none. */
    void (*new_next_hop)(struct fwd *fwd, const struct strategy *strategy, struct strategy_choice *choice);
};

/** Suppression parameters from milliseconds; at least one tick. Control thread. */
struct strategy_suppression strategy_suppression(uint32_t initial_ms, uint32_t max_ms, double multiplier);

extern const struct strategy_type strategy_access;
extern const struct strategy_type strategy_asf;
extern const struct strategy_type strategy_best_route;
extern const struct strategy_type strategy_multicast;
extern const struct strategy_type strategy_random;
extern const struct strategy_type strategy_self_learning;

/** best-route; of every strategy's parameters the defaults. */
extern const struct strategy strategy_default;

/** Data and timers of this entry are reported to the strategy from now on (PIT_WATCHED). Worker. */
static inline void strategy_watch(const struct strategy *strategy, struct pit_entry *entry)
{
    entry->flags |= PIT_WATCHED;
    entry->suppress = strategy->number;
}

/** The strategy of a watched entry. Worker. */
static inline const struct strategy *strategy_watching(const struct fwd *fwd, const struct pit_entry *entry)
{
    return fwd->shared->strategies[entry->suppress];
}

/** Have strategy->type->timer called in @p ms, when the entry, which is watched, still pends then. Worker. */
void strategy_wake_at(struct fwd *fwd, struct pit_entry *entry, uint32_t ms);

/** Have strategy->type->new_next_hop called when next hops are added while the entry pends. Worker. */
static inline void strategy_want_next_hops(struct fwd *fwd, const struct pit_entry *entry)
{
    struct fwd_next_hops *next_hops = &fwd->next_hops;
    if (!next_hops->wanted || (int32_t)(entry->node.expiry - next_hops->until) > 0) {
        next_hops->wanted = true;
        next_hops->until = entry->node.expiry;
    }
}

/** True when an upstream that was asked may still answer: its record has not expired, and it has sent no Nack. */
bool strategy_is_waiting(struct fwd *fwd, struct pit_entry *entry);

/** Round-trip time, in MEASUREMENTS_SHIFT units, since an out-record with a mark of strategy_now() was sent. Worker. */
static inline uint32_t strategy_rtt(const struct fwd *fwd, const struct pit_out *out)
{
    return (uint32_t)(fwd->now_ns >> MEASUREMENTS_SHIFT) -
           (out->sent << (WHEEL_TICK_SHIFT - MEASUREMENTS_SHIFT) | out->mark);
}

/** What of the time a wheel tick does not tell, for strategy_choice.mark. */
static inline uint8_t strategy_now(const struct fwd *fwd)
{
    return (uint8_t)(fwd->now_ns >> MEASUREMENTS_SHIFT);
}

/** Components of the prefix that an Interest's next hops and strategy belong to, a ForwardingHint left aside. Worker.
 */
unsigned strategy_depth(struct fwd *fwd, const struct strategy_choice *choice);

/** Why nothing was chosen: the first reason that is more than an absence. */
static inline void strategy_note(struct strategy_choice *choice, enum drop reason)
{
    if (choice->none == DROP_NO_ROUTE)
        choice->none = reason;
}

/** Why a next hop may not be used for this Interest; DROP_NONE when it may, and then *out is its face. Worker. */
static inline enum drop strategy_eligible(struct fwd *fwd, const struct strategy_choice *choice, uint32_t nexthop,
                                          const struct face **out)
{
    const struct face *face = face_get(fwd->shared->faces, nexthop);
    // null:// takes what it is sent, and that is the end of it: no Nack.
    if (unlikely(face == NULL || (atomic_load_explicit(&face->down, memory_order_relaxed) & ~FACE_DOWN_NULL) != 0))
        return DROP_FACE_DOWN;
    if (unlikely(nexthop == choice->in->id && face->link_type != FACE_LINK_AD_HOC))
        return DROP_NO_ROUTE;
    if (face->scope == FACE_SCOPE_NON_LOCAL) {
        if (unlikely(choice->localhost))
            return DROP_SCOPE_VIOLATION;
        if (unlikely(choice->localhop && choice->in->scope == FACE_SCOPE_NON_LOCAL))
            return DROP_SCOPE_LOCALHOP;
        if (unlikely(choice->hop_limit == 0))
            return DROP_HOP_LIMIT_SPENT;
    }
    *out = face;
    return DROP_NONE;
}

enum strategy_retx { STRATEGY_NEW, STRATEGY_FORWARD, STRATEGY_SUPPRESS };

/**
 * Decide on a retransmission by the time since any upstream was last used, and renew the entry's interval. When no
 * upstream is left that may answer, the Interest counts as new.
 */
enum strategy_retx strategy_suppress_entry(struct fwd *fwd, const struct strategy *strategy, struct pit_entry *entry);
/** The same for one upstream. */
enum strategy_retx strategy_suppress_out(struct fwd *fwd, const struct strategy *strategy, struct pit_out *out);

#endif
