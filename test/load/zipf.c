// SPDX-License-Identifier: Apache-2.0
#include "test/load/zipf.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

/* Fill the table from weights whose mean is 1; @p order is room for n numbers. */
static void make_slots(struct zipf *zipf, double *weight, uint32_t *order)
{
    // Slots below the mean from the front, the others from the back.
    uint32_t n = zipf->n, n_small = 0, n_large = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (weight[i] < 1)
            order[n_small++] = i;
        else
            order[n - ++n_large] = i;
    }
    while (n_small > 0 && n_large > 0) {
        uint32_t small = order[--n_small], large = order[n - n_large];
        zipf->slot[small] = (struct zipf_slot){(uint32_t)(weight[small] * 0x1p32), large};
        weight[large] -= 1 - weight[small];
        if (weight[large] < 1) {
            n_large--;
            order[n_small++] = large;
        }
    }
    // What rounding leaves has weight 1. A threshold of 2^32 does not fit: the alias is the number itself.
    while (n_small > 0) {
        uint32_t i = order[--n_small];
        zipf->slot[i] = (struct zipf_slot){UINT32_MAX, i};
    }
    while (n_large > 0) {
        uint32_t i = order[n - n_large--];
        zipf->slot[i] = (struct zipf_slot){UINT32_MAX, i};
    }
}

int zipf_create(struct zipf *zipf, uint32_t n, double s)
{
    if (n == 0 || !(s >= 0))
        return -EINVAL;
    double *weight = malloc(n * sizeof *weight), sum = 0;
    uint32_t *order = malloc(n * sizeof *order);
    *zipf = (struct zipf){.n = n, .slot = malloc(n * sizeof *zipf->slot)};
    int rc = weight != NULL && order != NULL && zipf->slot != NULL ? 0 : -ENOMEM;
    if (rc == 0) {
        for (uint32_t i = 0; i < n; i++)
            sum += weight[i] = pow(i + 1.0, -s);
        for (uint32_t i = 0; i < n; i++)
            weight[i] *= n / sum;
        make_slots(zipf, weight, order);
    } else {
        zipf_destroy(zipf);
    }
    free(order);
    free(weight);
    return rc;
}

void zipf_destroy(struct zipf *zipf)
{
    free(zipf->slot);
    zipf->slot = NULL;
}
