// SPDX-License-Identifier: Apache-2.0
#include "pit/maglev.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#define FREE UINT16_MAX

/** A server while the table is being filled. */
struct turn {
    uint64_t id;
    uint64_t credit; /**< of turns: a round gives it its weight, a turn costs the greatest weight */
    uint32_t weight;
    uint32_t next, skip; /**< where it looks for a free slot, and how far on when that is taken */
    uint16_t backend;
};

static bool is_prime(uint32_t n)
{
    if (n < 2)
        return false;
    for (uint32_t i = 2; (uint64_t)i * i <= n; i++)
        if (n % i == 0)
            return false;
    return true;
}

/** Finaliser of SplitMix64: ids may well be small numbers. */
static uint64_t mix(uint64_t v)
{
    v = (v ^ v >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    v = (v ^ v >> 27) * UINT64_C(0x94d049bb133111eb);
    return v ^ v >> 31;
}

/** One turn for each server that has any share, in the order of ids. @return how many; 0 when two ids are equal */
static unsigned line_up(struct turn *turns, uint32_t size, const struct maglev_backend *backends, unsigned n_backends)
{
    unsigned n = 0;
    for (unsigned i = 0; i < n_backends; i++) {
        unsigned at = n;
        for (; at > 0 && turns[at - 1].id >= backends[i].id; at--)
            if (turns[at - 1].id == backends[i].id)
                return 0;
        memmove(&turns[at + 1], &turns[at], (n - at) * sizeof *turns);
        uint64_t first = mix(backends[i].id + UINT64_C(0x9e3779b97f4a7c15)), second = mix(first ^ backends[i].id);
        turns[at] = (struct turn){
            .id = backends[i].id,
            .weight = backends[i].weight,
            .next = (uint32_t)(first % size),
            .skip = (uint32_t)(second % (size - 1)) + 1,
            .backend = (uint16_t)i,
        };
        n++;
    }
    return n;
}

/** Let the servers take slots in turns, each the next free one of its own order of all slots. */
static void fill(struct maglev *maglev, struct turn *turns, unsigned n, uint32_t greatest)
{
    uint32_t n_free = maglev->size;
    memset(maglev->slot, 0xff, maglev->size * sizeof maglev->slot[0]);
    while (n_free > 0) {
        for (unsigned i = 0; i < n && n_free > 0; i++) {
            struct turn *turn = &turns[i];
            turn->credit += turn->weight;
            if (turn->credit < greatest)
                continue;
            turn->credit -= greatest;
            uint32_t at = turn->next;
            // The size is prime, so that each order has all slots, and there is a free one.
            while (maglev->slot[at] != FREE)
                at = at >= maglev->size - turn->skip ? at - (maglev->size - turn->skip) : at + turn->skip;
            maglev->slot[at] = turn->backend;
            turn->next = at;
            n_free--;
        }
    }
}

static size_t octets_of(uint32_t size)
{
    return sizeof(struct maglev) + (size_t)size * sizeof(uint16_t);
}

int maglev_create(struct maglev **maglev, uint32_t size, const struct maglev_backend *backends, unsigned n_backends,
                  enum arena_pages pages)
{
    if (size > INT32_MAX || !is_prime(size) || size < 3 || n_backends == 0 || n_backends > MAGLEV_BACKENDS_MAX ||
        n_backends > size)
        return -EINVAL;
    uint32_t greatest = 0;
    for (unsigned i = 0; i < n_backends; i++)
        if (backends[i].weight > greatest)
            greatest = backends[i].weight;
    if (greatest == 0)
        return -EINVAL;
    size_t turns_size = (n_backends + 1) * sizeof(struct turn);
    struct turn *turns = arena_map(turns_size, ARENA_PAGES_SMALL);
    if (turns == NULL)
        return -ENOMEM;
    int ret = -EINVAL;
    struct maglev *made = NULL;
    unsigned n = line_up(turns, size, backends, n_backends);
    if (n == 0)
        goto unmap_turns;
    ret = -ENOMEM;
    made = arena_map(octets_of(size), pages);
    if (made == NULL)
        goto unmap_turns;
    made->size = size;
    made->n_backends = n_backends;
    fill(made, turns, n, greatest);
    *maglev = made;
    ret = 0;
unmap_turns:
    arena_unmap(turns, turns_size);
    return ret;
}

void maglev_destroy(struct maglev *maglev)
{
    if (maglev != NULL)
        arena_unmap(maglev, octets_of(maglev->size));
}

size_t maglev_memory(const struct maglev *maglev)
{
    return arena_size(octets_of(maglev->size));
}

uint32_t maglev_slots(const struct maglev *maglev, uint16_t backend)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < maglev->size; i++)
        n += maglev->slot[i] == backend;
    return n;
}
