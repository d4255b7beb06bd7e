// SPDX-License-Identifier: Apache-2.0
#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

#include "pit/flow_key.h"
#include "pit/maglev.h"

#define N_MAX 128

static struct maglev_backend backends[N_MAX];

static void make_backends(unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        backends[i] = (struct maglev_backend){.id = i + 1, .weight = 1};
}

static struct maglev *make(uint32_t size, unsigned n)
{
    struct maglev *maglev = NULL;
    cr_assert_eq(maglev_create(&maglev, size, backends, n, ARENA_PAGES_SMALL), 0);
    return maglev;
}

Test(maglev, tables_that_cannot_be)
{
    struct maglev *maglev = NULL;
    make_backends(N_MAX);
    static const struct {
        uint32_t size;
        unsigned n;
    } bad[] = {{0, 3},     {1, 3},     {2, 2},        {4, 3},     {65536, 3},
               {65535, 3}, {65537, 0}, {65537, 4097}, {101, 102}, {0xfffffffb, 3}};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        cr_expect_eq(maglev_create(&maglev, bad[i].size, backends, bad[i].n, ARENA_PAGES_SMALL), -EINVAL, "%zu", i);
    backends[7].id = backends[3].id;
    cr_expect_eq(maglev_create(&maglev, 65537, backends, 10, ARENA_PAGES_SMALL), -EINVAL, "equal ids");
    for (unsigned i = 0; i < 3; i++)
        backends[i].weight = 0;
    cr_expect_eq(maglev_create(&maglev, 65537, backends, 3, ARENA_PAGES_SMALL), -EINVAL, "no weight");
    cr_expect_null(maglev);
    maglev_destroy(NULL);
}

Test(maglev, shares_are_even)
{
    static const unsigned counts[] = {1, 2, 3, 10, 100};
    for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++) {
        unsigned n = counts[c], sum = 0;
        make_backends(n);
        struct maglev *maglev = make(MAGLEV_SIZE_DEFAULT, n);
        for (uint16_t i = 0; i < n; i++) {
            uint32_t slots = maglev_slots(maglev, i);
            cr_expect(slots == MAGLEV_SIZE_DEFAULT / n || slots == MAGLEV_SIZE_DEFAULT / n + 1, "%u of %u", i, n);
            sum += slots;
        }
        cr_expect_eq(sum, MAGLEV_SIZE_DEFAULT);
        cr_expect(maglev_memory(maglev) >= 2 * MAGLEV_SIZE_DEFAULT);
        maglev_destroy(maglev);
    }
}

Test(maglev, shares_follow_weights)
{
    static const uint32_t weights[] = {1, 0, 100, 50, 3, 1000, 0xffffffff};
    for (unsigned n = 2; n <= 7; n++) {
        uint64_t sum = 0;
        make_backends(n);
        for (unsigned i = 0; i < n; i++)
            sum += backends[i].weight = weights[i];
        struct maglev *maglev = make(MAGLEV_SIZE_DEFAULT, n);
        for (uint16_t i = 0; i < n; i++) {
            double want = (double)MAGLEV_SIZE_DEFAULT * weights[i] / (double)sum;
            cr_expect(maglev_slots(maglev, i) <= want + 2 && maglev_slots(maglev, i) + 2 >= want, "%u of %u", i, n);
        }
        cr_expect_eq(maglev_slots(maglev, 1), 0, "a server without weight has no slot");
        maglev_destroy(maglev);
    }
}

Test(maglev, the_order_of_servers_does_not_matter)
{
    make_backends(50);
    for (unsigned i = 0; i < 50; i++)
        backends[i].weight = 1 + i % 7;
    struct maglev *one = make(4099, 50);
    for (unsigned i = 0; i < 25; i++) {
        struct maglev_backend other = backends[i];
        backends[i] = backends[49 - i];
        backends[49 - i] = other;
    }
    struct maglev *two = make(4099, 50);
    for (uint32_t i = 0; i < 4099; i++)
        cr_assert_eq(one->slot[i], 49 - two->slot[i]);
    maglev_destroy(one);
    maglev_destroy(two);
}

/** Share of slots that lead to another server in @p b than in @p a although that of @p a is still there. */
static double moved(const struct maglev *a, const struct maglev *b, uint16_t gone)
{
    uint32_t n = 0, stay = 0;
    for (uint32_t i = 0; i < a->size; i++) {
        if (a->slot[i] == gone)
            continue;
        stay++;
        n += a->slot[i] != b->slot[i];
    }
    return (double)n / stay;
}

Test(maglev, little_moves_when_servers_come_and_go)
{
    static const unsigned counts[] = {3, 10, 100};
    for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++) {
        unsigned n = counts[c];
        double worst = 0, sum = 0;
        make_backends(n);
        struct maglev *all = make(MAGLEV_SIZE_DEFAULT, n);
        for (uint16_t gone = 0; gone < n; gone++) {
            backends[gone].weight = 0;
            struct maglev *without = make(MAGLEV_SIZE_DEFAULT, n);
            backends[gone].weight = 1;
            // Both ways at once: what moves when it comes back is what moved when it went.
            double share = moved(all, without, gone);
            sum += share;
            worst = share > worst ? share : worst;
            maglev_destroy(without);
        }
        // A modulo would move (n - 1) / n of them.
        cr_expect(sum / n < 0.02 && worst < 0.04, "%u servers: %.4f on average, %.4f at worst", n, sum / n, worst);
        cr_log_info("%u servers: %.2f %% of other flows move on average, %.2f %% at worst", n, 100 * sum / n,
                    100 * worst);
        maglev_destroy(all);
    }
}

Test(maglev, small_changes_of_weight_move_little)
{
    make_backends(10);
    for (unsigned i = 0; i < 10; i++)
        backends[i].weight = 100;
    struct maglev *before = make(MAGLEV_SIZE_DEFAULT, 10);
    backends[4].weight = 90;
    struct maglev *after = make(MAGLEV_SIZE_DEFAULT, 10);
    cr_expect(moved(before, after, UINT16_MAX) < 0.1);
    maglev_destroy(before);
    maglev_destroy(after);
}

Test(maglev, hashes_of_tuples_reach_all_servers_alike)
{
    enum { N = 16, FLOWS = 160000 };
    static const struct flow_hash_key hash_key = {1, 2};
    unsigned count[N] = {0};
    make_backends(N);
    struct maglev *maglev = make(MAGLEV_SIZE_DEFAULT, N);
    for (uint32_t i = 0; i < FLOWS; i++) {
        uint8_t src[16] = {0x20, 1, 0xd, 0xb8}, dst[16] = {0x20, 1, 0xd, 0xb8, 1};
        uint8_t ports[4] = {(uint8_t)(i >> 8), (uint8_t)i, 1, 0xbb};
        src[15] = (uint8_t)(i >> 16);
        struct flow_key key;
        flow_key_tuple(&key, src, dst, i % 2 == 0 ? 16 : 4, ports);
        if (i % 2 == 1)
            key.octets[7] = (uint8_t)(i >> 16);
        uint16_t backend = maglev_pick(maglev, flow_key_hash(&key, &hash_key));
        cr_assert_lt(backend, N);
        count[backend]++;
    }
    for (unsigned i = 0; i < N; i++)
        cr_expect(count[i] > FLOWS / N * 95 / 100 && count[i] < FLOWS / N * 105 / 100, "%u", count[i]);
    uint16_t last = maglev->slot[MAGLEV_SIZE_DEFAULT - 1];
    cr_expect_eq(maglev_pick(maglev, UINT64_MAX), last);
    cr_expect_eq(maglev_pick(maglev, 0), maglev->slot[0]);
    maglev_destroy(maglev);
}
