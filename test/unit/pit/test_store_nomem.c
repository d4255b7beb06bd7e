// SPDX-License-Identifier: Apache-2.0
/* Content Store, reassembly, FIB and the tables of QUIC when memory runs out at each allocation in turn; linked with
 * --wrap. */
#include <criterion/criterion.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/types.h>

#include "pit/cs.h"
#include "pit/fib.h"
#include "pit/flow.h"
#include "pit/maglev.h"
#include "pit/reass.h"
#include "test/unit/pit/fake_mbuf.h"

void *__real_mmap(void *addr, size_t size, int prot, int flags, int fd, off_t off);
void *__wrap_mmap(void *addr, size_t size, int prot, int flags, int fd, off_t off);
void *__wrap_mmap64(void *addr, size_t size, int prot, int flags, int fd, off_t off);
int __real_munmap(void *addr, size_t size);
int __wrap_munmap(void *addr, size_t size);
void *__real_calloc(size_t n, size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);
ssize_t __real_getrandom(void *buf, size_t size, unsigned flags);
ssize_t __wrap_getrandom(void *buf, size_t size, unsigned flags);

/** Allocations that succeed before one fails; UINT_MAX: all do. */
static unsigned left = UINT_MAX;
static long n_octets_mapped;
static bool random_fails, random_is_zero;

static bool fails(void)
{
    return left != UINT_MAX && left-- == 0;
}

void *__wrap_mmap(void *addr, size_t size, int prot, int flags, int fd, off_t off)
{
    if (fails())
        return MAP_FAILED;
    void *p = __real_mmap(addr, size, prot, flags, fd, off);
    n_octets_mapped += p != MAP_FAILED ? (long)size : 0;
    return p;
}

/** What large file offsets make of mmap(). */
void *__wrap_mmap64(void *addr, size_t size, int prot, int flags, int fd, off_t off)
{
    return __wrap_mmap(addr, size, prot, flags, fd, off);
}

int __wrap_munmap(void *addr, size_t size)
{
    n_octets_mapped -= (long)size;
    return __real_munmap(addr, size);
}

void *__wrap_calloc(size_t n, size_t size)
{
    return fails() ? NULL : __real_calloc(n, size);
}

void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
    return fails() ? NULL : __real_aligned_alloc(alignment, size);
}

ssize_t __wrap_getrandom(void *buf, size_t size, unsigned flags)
{
    if (random_fails)
        return -1;
    if (!random_is_zero)
        return __real_getrandom(buf, size, flags);
    memset(buf, 0, size);
    return (ssize_t)size;
}

static const struct ndn_name_key key = {{5}};

static const struct reass_config reass_small = {
    .max_messages = 200,
    .max_per_face = 200,
    .max_bytes = 1 << 20,
    .max_fragments = 8,
    .timeout_ms = 500,
    .pages = ARENA_PAGES_SMALL,
};

static int make_cs_lru(void)
{
    struct cs *cs;
    struct cs_config config = {.capacity = 8, .capacity_max = 8, .policy = CS_LRU, .pages = ARENA_PAGES_SMALL};
    int rc = cs_create(&cs, &config, 0);
    left = UINT_MAX;
    if (rc == 0)
        cs_destroy(cs);
    return rc;
}

static int make_cs_fifo(void)
{
    struct cs *cs;
    struct cs_config config = {
        .capacity = 8, .capacity_max = 8, .policy = CS_PRIORITY_FIFO, .pages = ARENA_PAGES_SMALL};
    int rc = cs_create(&cs, &config, 0);
    left = UINT_MAX;
    if (rc == 0)
        cs_destroy(cs);
    return rc;
}

static int make_reass(void)
{
    struct reass *reass;
    int rc = reass_create(&reass, &reass_small, 0);
    left = UINT_MAX;
    if (rc == 0)
        reass_destroy(reass);
    return rc;
}

static int make_fib(void)
{
    struct fib *fib;
    struct fib_config config = {.capacity = 8, .pages = ARENA_PAGES_SMALL, .key = &key};
    int rc = fib_create(&fib, &config);
    left = UINT_MAX;
    if (rc == 0)
        fib_destroy(fib);
    return rc;
}

static int make_flow(void)
{
    struct flow *flow;
    struct flow_config config = {.capacity = 8, .idle_ms = 1000, .pages = ARENA_PAGES_SMALL};
    int rc = flow_create(&flow, &config, 0);
    left = UINT_MAX;
    if (rc == 0)
        flow_destroy(flow);
    return rc;
}

static int make_maglev(void)
{
    struct maglev *maglev;
    struct maglev_backend backend = {.id = 1, .weight = 1};
    int rc = maglev_create(&maglev, 4099, &backend, 1, ARENA_PAGES_SMALL);
    left = UINT_MAX;
    if (rc == 0)
        maglev_destroy(maglev);
    return rc;
}

/** Let each allocation of @p make fail in turn. @return how many there are */
static unsigned each_fails(int (*make)(void))
{
    for (unsigned n = 0;; n++) {
        cr_assert_lt(n, 100);
        long before = n_octets_mapped;
        left = n;
        int rc = make();
        left = UINT_MAX;
        cr_assert_eq(n_octets_mapped, before, "allocation %u: %ld octets stay mapped", n, n_octets_mapped - before);
        if (rc == 0)
            return n;
        cr_assert_eq(rc, -ENOMEM);
    }
}

Test(store_nomem, creation_fails_cleanly)
{
    ndn_name_hash_init();
    cr_assert_geq(each_fails(make_cs_lru), 6);
    cr_assert_gt(each_fails(make_cs_fifo), each_fails(make_cs_lru));
    cr_assert_geq(each_fails(make_reass), 6);
    cr_assert_geq(each_fails(make_fib), 4);
    cr_assert_geq(each_fails(make_flow), 4);
    cr_assert_eq(each_fails(make_maglev), 2);
    random_fails = true;
    cr_assert_eq(make_reass(), -ENOMEM);
}

Test(store_nomem, full_index_of_messages_refuses_one_more)
{
    struct reass *reass;
    random_is_zero = true;
    cr_assert_eq(reass_create(&reass, &reass_small, 0), 0);
    unsigned stored = 0, full = 0;
    for (unsigned i = 0; i < 100; i++) {
        // Without a secret and a sender all hashes are zero.
        struct ndn_lp lp = {.sequence = i * 10u, .frag_count = 2};
        struct rte_mbuf *out;
        struct reass_header header;
        struct reass_freed freed;
        enum reass_result result = reass_add(reass, i % 7, 0, &lp, fake_segment("x", 1, 1), 0, &out, &header, &freed);
        stored += result == REASS_STORED;
        full += result == REASS_FULL;
        cr_assert_eq(freed.full, result == REASS_FULL);
        cr_assert_eq(reass_check(reass), 0);
    }
    cr_assert_eq(stored, 64);
    cr_assert_eq(full, 36);
    // The first message of a face finds no room either and leaves nothing behind.
    struct ndn_lp lp = {.sequence = 7777, .frag_count = 2};
    struct rte_mbuf *out;
    struct reass_header header;
    struct reass_freed freed;
    cr_assert_eq(reass_add(reass, 99, 0, &lp, fake_segment("x", 1, 1), 0, &out, &header, &freed), REASS_FULL);
    cr_assert_eq(reass_check(reass), 0);
    reass_destroy(reass);
    cr_assert_eq(fake_n_live, 0);
}

static struct fib *fib;

static const struct fib_entry *lookup(const char *uri)
{
    uint8_t value[NDN_NAME_MAX];
    struct ndn_name name;
    int len = ndn_name_from_uri(uri, value, sizeof value);
    cr_assert_eq(ndn_name_parse(value, (size_t)len, false, &name), VERDICT_OK);
    ndn_name_hash(&name, &key);
    return fib_lookup(fib, &name);
}

static const char *const heirs[] = {
    "/a/b/a-prefix-that-needs-more-than-a-block-of-the-arena-and-so-has-memory-of-its-own/that-may-not-be-there-one",
    "/a/c/a-prefix-that-needs-more-than-a-block-of-the-arena-and-so-has-memory-of-its-own/that-may-not-be-there-two",
};

Test(store_nomem, failed_change_of_the_fib_changes_nothing)
{
    ndn_name_hash_init();
    struct fib_config config = {.capacity = 8, .pages = ARENA_PAGES_SMALL, .key = &key};
    cr_assert_eq(fib_create(&fib, &config), 0);
    uint8_t value[NDN_NAME_MAX], a[8];
    uint16_t a_len = (uint16_t)ndn_name_from_uri("/a", a, sizeof a);
    for (unsigned i = 0; i < 2; i++) {
        int len = ndn_name_from_uri(heirs[i], value, sizeof value);
        for (unsigned n = 0;; n++) {
            cr_assert_lt(n, 20);
            size_t before = fib_memory(fib);
            left = n;
            int rc = fib_nexthop_set(fib, value, (uint16_t)len, 300, 1);
            left = UINT_MAX;
            if (rc == 0)
                break;
            cr_assert_eq(rc, -ENOSPC);
            cr_assert_eq(fib_memory(fib), before);
            cr_assert_null(lookup(heirs[i]));
        }
    }
    // A strategy above two heirs: both change or none.
    for (unsigned n = 0;; n++) {
        cr_assert_lt(n, 20);
        left = n;
        int rc = fib_strategy_set(fib, a, a_len, 9);
        left = UINT_MAX;
        cr_assert_eq(lookup(heirs[0])->strategy, rc == 0 ? 9 : 0);
        cr_assert_eq(lookup(heirs[1])->strategy, rc == 0 ? 9 : 0);
        cr_assert_eq(lookup("/a") != NULL, rc == 0);
        if (rc == 0) {
            cr_assert_gt(n, 1);
            break;
        }
        cr_assert_eq(rc, -ENOSPC);
    }
    fib_destroy(fib);
}
