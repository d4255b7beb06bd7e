// SPDX-License-Identifier: Apache-2.0
#ifndef PARSER_QUIC_LB_IMPL_H
#define PARSER_QUIC_LB_IMPL_H

/* Shared by quic_lb*.c only. */
#include <string.h>

#include "parser/cursor.h"
#include "parser/quic_lb.h"

enum {
    QUIC_LB_KIND_NONE = 0,
    QUIC_LB_KIND_PLAINTEXT,
    QUIC_LB_KIND_SINGLE_PASS,
    QUIC_LB_KIND_FOUR_PASS,
    QUIC_LB_KIND_SCHEME,
};

#define QUIC_LB_CONFIG_SHIFT 5

/** The implementation without vector instructions. */
enum quic_lb_verdict quic_lb_decode_portable(const struct quic_lb *lb, const uint8_t *cid, size_t len,
                                             struct quic_lb_id *id);

#if defined(__x86_64__)
#define QUIC_LB_HAVE_X86 1
#else
#define QUIC_LB_HAVE_X86 0
#endif

#if QUIC_LB_HAVE_X86
/** The implementation for processors with VAES and AVX-512, and whether this is one. */
enum quic_lb_verdict quic_lb_decode_avx512(const struct quic_lb *lb, const uint8_t *cid, size_t len,
                                           struct quic_lb_id *id);
void quic_lb_burst_avx512(struct quic_lb_job *jobs, size_t n);
bool quic_lb_cpu_has_avx512(void);
#endif

/** Why there is no rule for a first octet. */
static inline enum quic_lb_verdict quic_lb_no_rule(uint8_t first)
{
    return first >> QUIC_LB_CONFIG_SHIFT == QUIC_LB_CONFIGS ? QUIC_LB_RESERVED : QUIC_LB_NO_CONFIG;
}

/** The server ID of a private layout; the CID has the octets that the rule needs. */
static inline void quic_lb_decode_scheme(const struct quic_lb_rule *rule, const uint8_t *cid, size_t len,
                                         struct quic_lb_id *id)
{
    uint64_t v = 0;
    size_t left = len - rule->first;
    if (left >= sizeof v)
        v = load_be64(cid + rule->first);
    else
        for (size_t i = 0; i < left; i++)
            v |= (uint64_t)cid[rule->first + i] << (56 - 8 * i);
    // To the low end, cut to its size; then to the high end of whole octets.
    v = v << rule->skip >> (64 - rule->bits);
    v = htobe64(v << (64 - 8 * rule->id_len));
    memset(id, 0, sizeof *id);
    memcpy(id->octets, &v, sizeof v);
    id->len = rule->id_len;
}

/**
 * The loop over a burst: CIDs of the first four-pass rule that comes are worked on by @p together, up to eight at a
 * time with idle lanes repeating the last, all others by @p decode. A burst is nearly always of one service and its one
 * configuration in use. Both functions are known where this is inlined.
 */
static inline __attribute__((always_inline)) void
quic_lb_burst(struct quic_lb_job *jobs, size_t n,
              enum quic_lb_verdict (*decode)(const struct quic_lb_rule *rule, const uint8_t *cid, size_t len,
                                             struct quic_lb_id *id),
              void (*together)(const struct quic_lb_rule *rule, struct quic_lb_job *const jobs[QUIC_LB_BURST]))
{
    struct quic_lb_job *lanes[QUIC_LB_BURST];
    const struct quic_lb_rule *common = NULL;
    unsigned n_lanes = 0;
    for (size_t i = 0; i < n; i++) {
        struct quic_lb_job *job = &jobs[i];
        if (job->cid_len == 0) {
            job->verdict = QUIC_LB_SHORT;
            continue;
        }
        const struct quic_lb_rule *rule = &job->lb->rule[job->lb->rule_of[job->cid[0]]];
        if (job->cid_len < rule->size) {
            job->verdict = QUIC_LB_SHORT;
        } else if (rule->kind != QUIC_LB_KIND_FOUR_PASS || (n_lanes > 0 && rule != common)) {
            job->verdict = (uint8_t)decode(rule, job->cid, job->cid_len, &job->id);
        } else {
            common = rule;
            job->verdict = QUIC_LB_OK;
            lanes[n_lanes++] = job;
            if (n_lanes == QUIC_LB_BURST) {
                together(common, lanes);
                n_lanes = 0;
            }
        }
    }
    if (n_lanes > QUIC_LB_BURST / 4) {
        for (unsigned i = n_lanes; i < QUIC_LB_BURST; i++)
            lanes[i] = lanes[n_lanes - 1];
        together(common, lanes);
    } else {
        for (unsigned i = 0; i < n_lanes; i++)
            (void)decode(common, lanes[i]->cid, lanes[i]->cid_len, &lanes[i]->id);
    }
}

#endif
