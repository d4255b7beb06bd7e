// SPDX-License-Identifier: Apache-2.0
/*
 * Any octets as a prefix announcement. What is one becomes a route of its prefix, lives no longer than it says, is
 * found again octet by octet for names below, and leaves nothing behind when its face goes.
 */
#include "fwd/mgmt/rib.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "parser/ndn_name.h"
#include "parser/ndn_packet.h"
#include "pit/fib.h"

#define NOW_NS  UINT64_C(1000000000)
#define WALL_MS UINT64_C(1767225600000)
#define FACE    300

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct ndn_name_key key = {{3}};
static struct fib *fib;
static struct rib *rib;

static void require(bool holds, const char *what)
{
    if (!holds) {
        fprintf(stderr, "broken: %s\n", what);
        abort();
    }
}

static void open_rib(void)
{
    const struct fib_config config = {.capacity = 16, .pages = ARENA_PAGES_SMALL, .key = &key};
    ndn_name_hash_init();
    require(fib_create(&fib, &config) == 0 && rib_create(&rib, fib) == 0, "no memory");
}

static void announce(const struct rib_announcement *announcement, const uint8_t *data, size_t size)
{
    static uint8_t found[NDN_PACKET_MAX];
    const struct rib_route *route = &announcement->route;
    int rc = rib_announce(rib, announcement, data, size, NOW_NS, UINT64_MAX);
    if (rc == -ETIME || rc == -E2BIG || rc == -EINVAL) {
        require(rc != -ETIME || route->expires_ns <= NOW_NS, "called expired, and is not");
        require(rib_count(rib) == 0, "refused, and there");
        return;
    }
    require(rc == 0 && rib_count(rib) == 1 && fib_count(fib) == 1, "announced, and not there");
    require(rib_poll(rib, NOW_NS) == route->expires_ns - NOW_NS, "lives longer or shorter than it says");
    size_t len = rib_announcement_find(rib, announcement->name, NOW_NS, WALL_MS, found, sizeof found);
    require(len == size && memcmp(found, data, size) == 0, "found, and another one");
    require(rib_announcement_renew(rib, announcement->name, FACE, NOW_NS, 1) == 0, "not to be renewed");
    require(rib_face_remove(rib, FACE) == 1 && rib_count(rib) == 0 && fib_count(fib) == 0, "outlives its face");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (rib == NULL)
        open_rib();
    // A copy of exactly this size, so that a read behind it is seen.
    uint8_t *copy = malloc(size > 0 ? size : 1);
    if (copy == NULL)
        return 0;
    if (size > 0)
        memcpy(copy, data, size);
    struct rib_announcement announcement;
    if (rib_announcement_decode(copy, size, FACE, NOW_NS, WALL_MS, &announcement) == 0) {
        const struct rib_route *route = &announcement.route;
        require(announcement.name.p >= copy && announcement.name.p + announcement.name.len < copy + size,
                "the name is somewhere else");
        require(route->face == FACE && route->origin == RIB_ORIGIN_PREFIXANN && route->cost == RIB_COST_PREFIXANN,
                "another kind of route");
        require(route->expires_ns >= NOW_NS, "expired before it came");
        announce(&announcement, copy, size);
    }
    free(copy);
    return 0;
}
