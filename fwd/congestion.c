// SPDX-License-Identifier: Apache-2.0
#include "fwd/congestion.h"

#include "fwd/output.h"

/* Time to the mark after the @p n th: the interval over the square root of n + 1, in steps of a hundredth. */
static uint64_t congestion_interval(uint32_t n)
{
    uint64_t square = UINT64_C(10000) * ((uint64_t)RTE_MIN(n, 399u) + 1), root = 100;
    while ((root + 1) * (root + 1) <= square)
        root++;
    return CONGESTION_INTERVAL_NS * 100 / root;
}

void congestion_refused(struct fwd *fwd, uint16_t port)
{
    struct fwd_congestion *congestion = &fwd->congestion[port];
    if (congestion->last_ns == 0 || fwd->now_ns - congestion->last_ns > CONGESTION_INTERVAL_NS) {
        // It took everything for a while: what refuses now is a new congestion.
        congestion->n_marks = 0;
        congestion->next_mark_ns = fwd->now_ns + CONGESTION_INTERVAL_NS;
    }
    congestion->last_ns = fwd->now_ns;
    if (fwd->now_ns < congestion->next_mark_ns)
        return;
    fwd->mark_ports |= 1ull << port;
    // The short way marks nothing.
    fwd->short_room = UINT16_MAX;
}

void congestion_mark(struct fwd *fwd, const struct face *face, struct ndn_lp_out *lp)
{
    struct fwd_congestion *congestion = &fwd->congestion[face->port];
    if (!(fwd->mark_ports & 1ull << face->port))
        return;
    fwd->mark_ports &= ~(1ull << face->port);
    if (fwd->mark_ports == 0)
        fwd->short_room = OUTPUT_SHORT_ROOM;
    congestion->n_marks++;
    congestion->next_mark_ns = fwd->now_ns + congestion_interval(congestion->n_marks);
    if (!(face->flags & FACE_CONGESTION_MARKING) || lp->has_mark)
        return;
    lp->has_mark = true;
    lp->congestion_mark = 1;
    fwd->stats.marked++;
}
