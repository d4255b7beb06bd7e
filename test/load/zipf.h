// SPDX-License-Identifier: Apache-2.0
#ifndef TEST_LOAD_ZIPF_H
#define TEST_LOAD_ZIPF_H

#include <stdint.h>

#include "test/load/random.h"

/*
 * Numbers 0..n-1 where number i comes with a probability in proportion to 1 / (i + 1)^s. Drawn from an alias table
 * (Walker 1977; made as Vose 1991 does): one random number and one table entry each.
 */
struct zipf {
    uint32_t n;
    struct zipf_slot {
        uint32_t threshold; /**< below it the slot's own number, else the alias */
        uint32_t alias;
    } * slot;
};

/** @p n from 1, @p s from 0 (all alike). @return 0, -EINVAL or -ENOMEM */
int zipf_create(struct zipf *zipf, uint32_t n, double s);
void zipf_destroy(struct zipf *zipf);

static inline uint32_t zipf_draw(const struct zipf *zipf, uint64_t *random)
{
    // The high half chooses the slot, the low half what of it.
    uint64_t number = random_next(random);
    uint32_t i = random_below(number, zipf->n);
    const struct zipf_slot *slot = &zipf->slot[i];
    return (uint32_t)number < slot->threshold ? i : slot->alias;
}

#endif
