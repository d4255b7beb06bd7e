// SPDX-License-Identifier: Apache-2.0
/*
 * The loop over a burst, for a file with an implementation: it has defined INLINE, the functions plaintext() and
 * decode_by(), and together(), which works on all lanes side by side. In line there, each with that file's
 * instructions.
 */
#include "parser/quic_lb_impl.h"

/** Encrypted CIDs of one rule; their verdicts are set already. Idle lanes repeat the last one. */
INLINE void work_on_lanes(const struct quic_lb_rule *rule, struct quic_lb_job *lanes[LANES], unsigned n)
{
    if (n <= LANES / 4) {
        for (unsigned i = 0; i < n; i++)
            (void)decode_by(rule, lanes[i]->cid, lanes[i]->cid_len, &lanes[i]->id);
        return;
    }
    for (; n < LANES; n++)
        lanes[n] = lanes[n - 1];
    together(rule, lanes);
}

/**
 * Encrypted CIDs of the first such rule that comes are worked on side by side, all others one by one. A burst is nearly
 * always of one service and its one configuration in use.
 */
INLINE void work_on_burst(struct quic_lb_job *jobs, size_t n)
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
                plaintext(rule, job->cid, job->cid_len, &job->id);
            } else if (LIKELY(quic_lb_is_encrypted(rule) && (n_lanes == 0 || rule == common))) {
                common = rule;
                lanes[n_lanes++] = job;
                if (n_lanes == LANES) {
                    together(common, lanes);
                    n_lanes = 0;
                }
            } else {
                job->verdict = (uint8_t)decode_by(rule, job->cid, job->cid_len, &job->id);
            }
        } else {
            job->verdict = QUIC_LB_SHORT;
        }
    }
    work_on_lanes(common, lanes, n_lanes);
}
