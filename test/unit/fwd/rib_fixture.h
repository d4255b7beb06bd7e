// SPDX-License-Identifier: Apache-2.0
#ifndef TEST_UNIT_FWD_RIB_FIXTURE_H
#define TEST_UNIT_FWD_RIB_FIXTURE_H

/* A RIB over a small FIB, driven by name URIs. */
#include <criterion/criterion.h>

#include <stdio.h>
#include <string.h>

#include "fwd/mgmt/rib.h"
#include "parser/ndn_name.h"
#include "pit/fib.h"

static const struct ndn_name_key rib_key = {{7}};

struct rib_bed {
    struct fib *fib;
    struct rib *rib;
};

static inline struct rib_bed rib_bed_make(uint32_t capacity)
{
    struct rib_bed bed = {0};
    struct fib_config config = {.capacity = capacity, .pages = ARENA_PAGES_SMALL, .key = &rib_key};
    ndn_name_hash_init();
    cr_assert_eq(fib_create(&bed.fib, &config), 0);
    cr_assert_eq(rib_create(&bed.rib, bed.fib), 0);
    return bed;
}

static inline void rib_bed_free(struct rib_bed *bed)
{
    rib_destroy(bed->rib);
    fib_destroy(bed->fib);
}

/** TLV-VALUE of a name; two may be in use at a time. */
static inline struct mgmt_octets rib_name(const char *uri)
{
    static uint8_t buf[2][NDN_NAME_MAX];
    static unsigned turn;
    turn ^= 1;
    int len = ndn_name_from_uri(uri, buf[turn], sizeof buf[turn]);
    cr_assert_geq(len, 0, "%s", uri);
    return (struct mgmt_octets){buf[turn], (uint16_t)len};
}

static inline int rib_set(struct rib_bed *bed, const char *uri, uint32_t face, uint16_t origin, uint64_t cost,
                          uint8_t flags)
{
    struct rib_route route = {.face = face, .origin = origin, .cost = cost, .flags = flags};
    return rib_register(bed->rib, rib_name(uri), &route);
}

/** Next hops of the prefix that a name's Interests follow, as "256:10 257:20"; "none" without a prefix. */
static inline const char *rib_hops(struct rib_bed *bed, const char *uri)
{
    static char text[512];
    struct mgmt_octets octets = rib_name(uri);
    struct ndn_name name;
    static const uint8_t none;
    cr_assert_eq(ndn_name_parse(octets.len > 0 ? octets.p : &none, octets.len, false, &name), VERDICT_OK);
    ndn_name_hash(&name, &rib_key);
    const struct fib_entry *entry = fib_lookup(bed->fib, &name);
    if (entry == NULL)
        return "none";
    size_t at = 0;
    text[0] = 0;
    for (unsigned i = 0; i < entry->n_nexthops; i++)
        at += (size_t)snprintf(text + at, sizeof text - at, "%s%u:%u", i > 0 ? " " : "", entry->nexthop[i].face,
                               entry->nexthop[i].cost);
    return text;
}

#define expect_hops(bed, uri, want) cr_expect_str_eq(rib_hops(bed, uri), want, "%s has %s", uri, rib_hops(bed, uri))

#endif
