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

#define LIKELY(x)            __builtin_expect(x, 1)
#define QUIC_LB_CONFIG_SHIFT 5
#define LANES                QUIC_LB_BURST

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

/** The block cipher of the implementation that is chosen, for what is not done in bursts; blocks may be the same. */
extern void (*quic_lb_encrypt_block)(const struct aes128 *aes, const uint8_t in[AES128_BLOCK],
                                     uint8_t out[AES128_BLOCK]);
extern void (*quic_lb_decrypt_block)(const struct aes128 *aes, const uint8_t in[AES128_BLOCK],
                                     uint8_t out[AES128_BLOCK]);

static inline bool quic_lb_is_encrypted(const struct quic_lb_rule *rule)
{
    return rule->kind == QUIC_LB_KIND_SINGLE_PASS || rule->kind == QUIC_LB_KIND_FOUR_PASS;
}

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

/** How an implementation works on CIDs that have the octets that their rule needs, and on LANES of one rule. */
struct quic_lb_ways {
    void (*plaintext)(const struct quic_lb_rule *rule, const uint8_t *cid, size_t len, struct quic_lb_id *id);
    enum quic_lb_verdict (*one)(const struct quic_lb_rule *rule, const uint8_t *cid, size_t len, struct quic_lb_id *id);
    void (*together)(const struct quic_lb_rule *rule, struct quic_lb_job *const jobs[LANES]);
};

/** Encrypted CIDs of one rule; their verdicts are set already. Idle lanes repeat the last one. */
static inline __attribute__((always_inline)) void quic_lb_lanes(const struct quic_lb_ways *ways,
                                                                const struct quic_lb_rule *rule,
                                                                struct quic_lb_job *lanes[LANES], unsigned n)
{
    if (n <= LANES / 4) {
        for (unsigned i = 0; i < n; i++)
            (void)ways->one(rule, lanes[i]->cid, lanes[i]->cid_len, &lanes[i]->id);
        return;
    }
    for (; n < LANES; n++)
        lanes[n] = lanes[n - 1];
    ways->together(rule, lanes);
}

/**
 * Encrypted CIDs of the first such rule that comes are worked on side by side, all others one by one. A burst is nearly
 * always of one service and its one configuration in use. The ways are known where this is inlined, so that they are,
 * too; the usual one falls through, for taken branches are what it costs.
 */
static inline __attribute__((always_inline)) void quic_lb_burst(const struct quic_lb_ways *ways,
                                                                struct quic_lb_job *jobs, size_t n)
{
    struct quic_lb_job *lanes[LANES];
    const struct quic_lb_rule *common = NULL;
    unsigned n_lanes = 0;
    for (struct quic_lb_job *job = jobs; job < jobs + n; job++) {
        const struct quic_lb_rule *rule;
        if (LIKELY(job->cid_len > 0) &&
            LIKELY(job->cid_len >= (rule = &job->lb->rule[job->lb->rule_of[job->cid[0]]])->size)) {
            job->verdict = QUIC_LB_OK;
            if (LIKELY(rule->kind == QUIC_LB_KIND_PLAINTEXT)) {
                ways->plaintext(rule, job->cid, job->cid_len, &job->id);
            } else if (LIKELY(quic_lb_is_encrypted(rule) && (n_lanes == 0 || rule == common))) {
                common = rule;
                lanes[n_lanes++] = job;
                if (n_lanes == LANES) {
                    ways->together(common, lanes);
                    n_lanes = 0;
                }
            } else {
                job->verdict = (uint8_t)ways->one(rule, job->cid, job->cid_len, &job->id);
            }
        } else {
            job->verdict = QUIC_LB_SHORT;
        }
    }
    quic_lb_lanes(ways, common, lanes, n_lanes);
}

#endif
