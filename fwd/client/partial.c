// SPDX-License-Identifier: Apache-2.0
#include "fwd/client/partial.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define PARTIALS 64

struct partial {
    bool used;
    uint16_t n_frags, n_have;
    uint64_t age; /**< of the last fragment, in fragments taken by the table */
    uint64_t first_sequence;
    struct link_peer from;
    struct ndn_lp lp; /**< of the first fragment; its token is @p token */
    uint8_t token[NDN_LP_TOKEN_MAX];
    uint16_t frag_len[NDN_LP_FRAGS_MAX]; /**< 0: not there yet */
    uint8_t *frag[NDN_LP_FRAGS_MAX];
};

struct partial_table {
    struct partial partial[PARTIALS];
    uint64_t n_taken, n_lost;
    uint8_t whole[NDN_PACKET_MAX];
};

int partial_create(struct partial_table **table)
{
    *table = calloc(1, sizeof **table);
    return *table != NULL ? 0 : -ENOMEM;
}

static void clear(struct partial *p)
{
    for (unsigned i = 0; i < p->n_frags; i++) {
        free(p->frag[i]);
        p->frag[i] = NULL;
        p->frag_len[i] = 0;
    }
    p->used = false;
}

void partial_destroy(struct partial_table *table)
{
    if (table == NULL)
        return;
    for (unsigned i = 0; i < PARTIALS; i++)
        clear(&table->partial[i]);
    free(table);
}

static bool same_peer(const struct link_peer *a, const struct link_peer *b)
{
    return a->len == b->len && memcmp(&a->address, &b->address, a->len) == 0;
}

/** The partial packet of a fragment, a new one in place of the oldest if need be. */
static struct partial *find(struct partial_table *table, const struct link_peer *from, const struct ndn_lp *fragment)
{
    uint64_t first = fragment->sequence - fragment->frag_index;
    struct partial *oldest = &table->partial[0];
    for (unsigned i = 0; i < PARTIALS; i++) {
        struct partial *p = &table->partial[i];
        if (p->used && p->first_sequence == first && same_peer(&p->from, from)) {
            if (p->n_frags == fragment->frag_count)
                return p;
            oldest = p;
            break;
        }
        if (!p->used || (oldest->used && p->age < oldest->age))
            oldest = p;
    }
    if (oldest->used) {
        table->n_lost++;
        clear(oldest);
    }
    oldest->used = true;
    oldest->first_sequence = first;
    oldest->from = *from;
    oldest->n_frags = fragment->frag_count;
    oldest->n_have = 0;
    return oldest;
}

bool partial_add(struct partial_table *table, const struct link_peer *from, const struct ndn_lp *fragment,
                 const uint8_t **whole, size_t *len, struct ndn_lp *lp)
{
    if (fragment->frag_count > NDN_LP_FRAGS_MAX || fragment->frag_index >= fragment->frag_count ||
        fragment->fragment_len == 0)
        return false;
    struct partial *p = find(table, from, fragment);
    p->age = ++table->n_taken;
    unsigned i = fragment->frag_index;
    if (p->frag[i] != NULL)
        return false;
    p->frag[i] = malloc(fragment->fragment_len);
    if (p->frag[i] == NULL)
        return false;
    memcpy(p->frag[i], fragment->fragment, fragment->fragment_len);
    p->frag_len[i] = fragment->fragment_len;
    p->n_have++;
    if (i == 0) {
        p->lp = *fragment;
        if (fragment->token_len > 0)
            memcpy(p->token, fragment->token, fragment->token_len);
    }
    if (p->n_have < p->n_frags)
        return false;
    size_t total = 0;
    for (i = 0; i < p->n_frags; i++) {
        if (p->frag_len[i] > sizeof table->whole - total) {
            table->n_lost++;
            clear(p);
            return false;
        }
        memcpy(table->whole + total, p->frag[i], p->frag_len[i]);
        total += p->frag_len[i];
    }
    *lp = p->lp;
    lp->token = p->token; // stays in place after clear()
    *whole = table->whole;
    *len = total;
    clear(p);
    return true;
}

uint64_t partial_lost(const struct partial_table *table)
{
    return table->n_lost;
}
