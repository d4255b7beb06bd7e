// SPDX-License-Identifier: Apache-2.0
#include "fwd/quic/limit.h"

#include <errno.h>
#include <string.h>

#define WAYS        8
#define SOURCES_MAX (1u << 24)
#define DEPTH_NS    UINT64_C(1000000000)

/*
 * A cache line of names and one of times. A name is the keyed hash of what it stands for; nobody outside can find two
 * with the same. The time is when the bucket will be full again (the "theoretical arrival time" of a virtual
 * scheduler): one number holds level and last use.
 */
struct limit_set {
    uint64_t name[WAYS];
    uint64_t full_ns[WAYS];
} __attribute__((aligned(64)));

struct quic_limit {
    struct flow_hash_key key;
    uint32_t mask; /* sets - 1 */
    struct limit_set set[];
};

static size_t limit_size(uint32_t sets)
{
    return sizeof(struct quic_limit) + (size_t)sets * sizeof(struct limit_set);
}

int quic_limit_create(struct quic_limit **out, uint32_t sources, const struct flow_hash_key *key,
                      enum arena_pages pages)
{
    if (sources == 0 || sources > SOURCES_MAX)
        return -EINVAL;
    uint32_t sets = 1;
    while (sets * WAYS < sources)
        sets *= 2;
    struct quic_limit *limit = arena_map(limit_size(sets), pages);
    if (limit == NULL)
        return -ENOMEM;
    limit->key = *key;
    limit->mask = sets - 1;
    *out = limit;
    return 0;
}

void quic_limit_destroy(struct quic_limit *limit)
{
    if (limit != NULL)
        arena_unmap(limit, limit_size(limit->mask + 1));
}

static uint64_t limit_name(const struct quic_limit *limit, uint16_t slot, enum quic_limit_kind kind, const uint8_t *ip,
                           bool v6)
{
    struct flow_key key;
    memset(&key, 0, sizeof key);
    key.kind = (uint8_t)kind;
    key.cid_len = (uint8_t)slot;
    key.addr_len = v6 ? 16 : 4;
    // Whoever has one address of a /64 has them all.
    key.len = v6 ? 8 : 4;
    memcpy(key.octets, ip, key.len);
    return flow_key_hash(&key, &limit->key);
}

bool quic_limit_take(struct quic_limit *limit, uint16_t slot, enum quic_limit_kind kind, const uint8_t *ip, bool v6,
                     uint32_t rate, uint64_t now_ns)
{
    if (rate == 0)
        return true;
    uint64_t each_ns = DEPTH_NS / rate;
    uint64_t name = limit_name(limit, slot, kind, ip, v6);
    struct limit_set *set = &limit->set[name >> 32 & limit->mask];
    unsigned least = 0;
    for (unsigned i = 0; i < WAYS; i++) {
        if (set->name[i] == name) {
            uint64_t full_ns = set->full_ns[i] > now_ns ? set->full_ns[i] : now_ns;
            if (full_ns - now_ns > DEPTH_NS - each_ns)
                return false;
            set->full_ns[i] = full_ns + each_ns;
            return true;
        }
        if (set->full_ns[i] < set->full_ns[least])
            least = i;
    }
    set->name[least] = name;
    set->full_ns[least] = now_ns + each_ns;
    return true;
}

uint32_t quic_limit_count(const struct quic_limit *limit, uint64_t now_ns)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i <= limit->mask; i++)
        for (unsigned j = 0; j < WAYS; j++)
            n += limit->set[i].full_ns[j] > now_ns;
    return n;
}
