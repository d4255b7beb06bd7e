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

/** What a strategy sees of an Interest, and what it decides. */
struct strategy_choice {
    const struct face *in;       /**< downstream */
    const struct fib_entry *fib; /**< NULL: no prefix matches */
    struct pit_entry *entry;
    bool localhost;    /**< the name is under /localhost */
    bool localhop;     /**< the name is under /localhop */
    uint8_t hop_limit; /**< after decrement; 255 when absent */
    uint8_t n_out;
    enum drop none;  /**< why nothing was chosen */
    bool suppressed; /**< a retransmission that came too early: it only waits */
    const struct face *out[FIB_NEXTHOPS_MAX];
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
    const char *name;   /**< "best-route" */
    uint8_t version;    /**< current version, of /localhost/nfd/strategy/NAME/v=N */
    bool nack_no_route; /**< an Interest without eligible next hop is answered with Nack NoRoute and forgotten */
    bool nack_on_loop;  /**< a looping Interest is answered with Nack Duplicate */
    bool handles_nack;  /**< Nacks from upstream are aggregated and passed on */
    bool suppresses;    /**< takes the parameters retx-suppression-* */
    bool probes;        /**< takes probing-interval, max-timeouts and measurements-lifetime */
    /** Choose upstreams for a new or retransmitted Interest whose in-record is in place. */
    void (*interest)(struct fwd *fwd, const struct strategy *strategy, struct strategy_choice *choice);
};

/** Suppression parameters from milliseconds; at least one tick. Control thread. */
struct strategy_suppression strategy_suppression(uint32_t initial_ms, uint32_t max_ms, double multiplier);

extern const struct strategy_type strategy_best_route;
extern const struct strategy_type strategy_multicast;

/** best-route; of every strategy's parameters the defaults. */
extern const struct strategy strategy_default;

/** Why a next hop may not be used for this Interest; DROP_NONE when it may, and then *out is its face. Worker. */
static inline enum drop strategy_eligible(struct fwd *fwd, const struct strategy_choice *choice, uint32_t nexthop,
                                          const struct face **out)
{
    const struct face *face = face_get(fwd->shared->faces, nexthop);
    if (unlikely(face == NULL || atomic_load_explicit(&face->down, memory_order_relaxed) != 0))
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
