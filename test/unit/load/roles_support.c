// SPDX-License-Identifier: Apache-2.0
#include "test/unit/load/roles_support.h"

#include <rte_eal.h>
#include <rte_eth_ring.h>

#include <criterion/criterion.h>
#include <string.h>

struct roles roles;

void roles_ports(void)
{
    char *argv[] = {(char[]){"test"},
                    (char[]){"--no-huge"},
                    (char[]){"--no-pci"},
                    (char[]){"--no-shconf"},
                    (char[]){"-m"},
                    (char[]){"64"},
                    (char[]){"--no-telemetry"},
                    (char[]){"-l"},
                    (char[]){"0"},
                    (char[]){"--log-level=*:1"},
                    NULL};
    cr_assert_geq(rte_eal_init((int)(sizeof argv / sizeof argv[0]) - 1, argv), 0);
    roles.pool = rte_pktmbuf_pool_create("pool", 8191, 0, 0, 2176, SOCKET_ID_ANY);
    cr_assert_not_null(roles.pool);
    struct options options = roles_options();
    for (unsigned i = 0; i < 2; i++) {
        const char *const names[2][2] = {{"out0", "in0"}, {"out1", "in1"}};
        roles.sent[i] = rte_ring_create(names[i][0], 4096, SOCKET_ID_ANY, 0);
        struct rte_ring *in = rte_ring_create(names[i][1], 4096, SOCKET_ID_ANY, 0);
        cr_assert(roles.sent[i] != NULL && in != NULL);
        int port = rte_eth_from_rings(names[i][0], &in, 1, &roles.sent[i], 1, SOCKET_ID_ANY);
        cr_assert_geq(port, 0);
        cr_assert_eq(device_open(&roles.device[i], (uint16_t)port, &options, roles.pool), 0);
        // A ring has none.
        memcpy(roles.device[i].mac, (const uint8_t[]){2, 0, 0, 0, 9, (uint8_t)i}, 6);
    }
    roles.now = 1000000;
}

struct options roles_options(void)
{
    return (struct options){.consumer = {.present = true, .link = LINK_ETHER},
                            .producer = {.present = true, .port = 1, .link = LINK_ETHER},
                            .timeout_s = 1,
                            .window = 32,
                            .prefix = "/ndnbench",
                            .components = 4,
                            .flows = 1,
                            .payload = 100,
                            .lifetime_ms = 4000,
                            .freshness_ms = 10000,
                            .token_echo = true,
                            .consumer_token = true,
                            .outstanding = 1024,
                            .descriptors = 1024,
                            .seed = 3};
}

void roles_create(const struct options *options)
{
    cr_assert_eq(consumer_create(&roles.consumer, options, &roles.device[0], roles.pool, ROLES_HZ), 0);
    cr_assert_eq(producer_create(&roles.producer, options, &roles.device[1], roles.pool), 0);
}

void roles_collect(unsigned end)
{
    roles.n = rte_ring_dequeue_burst(roles.sent[end], (void **)roles.frame, ROLES_FRAMES, NULL);
}

void roles_ask(void)
{
    while (consumer_work(&roles.consumer, roles.now) > 0)
        ;
    roles_collect(0);
    for (unsigned i = 0; i < roles.n; i++) {
        cr_assert_gt(producer_room(&roles.producer), 0);
        producer_receive(&roles.producer, roles.frame[i]);
        producer_work(&roles.producer);
    }
    roles_collect(1);
}

void roles_give(unsigned i)
{
    cr_assert(consumer_receive(&roles.consumer, roles.frame[i], roles.now));
    roles.frame[i] = NULL;
}

void roles_give_all(void)
{
    for (unsigned i = 0; i < roles.n; i++)
        roles_give(i);
}

void roles_pass(uint64_t us)
{
    while (us > 0) {
        uint64_t step = us < 100000 ? us : 100000;
        roles.now += step;
        us -= step;
        while (consumer_work(&roles.consumer, roles.now) > 0)
            ;
    }
}

void roles_check(void)
{
    // Whatever still waits is given up now.
    roles_pass(3 * (uint64_t)ROLES_HZ);
    cr_assert(consumer_done(&roles.consumer, roles.now));
    const struct tally *tally = &roles.consumer.tally;
    cr_expect_eq(tally->sent, tally->received + tally->aggregated + tally->nacks + tally->lost);
    cr_expect_eq(tally->latency.n, tally->received + tally->aggregated);
    consumer_destroy(&roles.consumer);
    producer_destroy(&roles.producer);
    cr_expect_eq(rte_mempool_in_use_count(roles.pool), 0);
}
