// SPDX-License-Identifier: Apache-2.0
#include "test/unit/load/roles_support.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "parser/frame.h"

TestSuite(roles, .init = roles_ports);

static const struct tally *tally = &roles.consumer.tally;

static void start(const struct options *options, uint64_t count)
{
    roles_create(options);
    struct plan plan = {.window = options->window, .count = count};
    consumer_start(&roles.consumer, &plan, roles.now);
}

static struct rte_mbuf *copy_of(unsigned i)
{
    struct rte_mbuf *copy = rte_pktmbuf_copy(roles.frame[i], roles.pool, 0, UINT32_MAX);
    cr_assert_not_null(copy);
    return copy;
}

Test(roles, each_interest_is_answered_and_its_time_is_known)
{
    struct options options = roles_options();
    start(&options, 100);
    while (!consumer_done(&roles.consumer, roles.now)) {
        roles_ask();
        cr_assert_gt(roles.n, 0);
        roles.now += 250;
        roles_give_all();
    }
    cr_expect_eq(tally->received, 100);
    cr_expect_eq(tally->latency.min, 250);
    cr_expect_eq(tally->latency.max, 250);
    cr_expect_eq(roles.producer.tally.data, 100);
    cr_expect_eq(roles.producer.tally.tokens, 100);
    cr_expect_eq(tally->duplicates + tally->reordered + tally->corrupted + tally->unexpected + tally->late, 0);
    roles_check();
}

Test(roles, open_loop_counts_from_when_a_packet_was_due)
{
    struct options options = roles_options();
    roles_create(&options);
    struct plan plan = {.rate = 1000, .seconds = 0.1};
    consumer_start(&roles.consumer, &plan, roles.now);
    roles.now += 50000; // the sender stands still: 51 are due by now
    roles_ask();
    cr_expect_eq(roles.n, 51);
    roles.now += 100;
    roles_give_all();
    cr_expect_eq(tally->latency.max, 50100);
    cr_expect_eq(tally->service.max, 100);
    cr_expect_eq(tally->behind, 50000);
    // As long as the port takes nothing.
    roles.now += 2000000;
    cr_expect(consumer_done(&roles.consumer, roles.now), "what was not sent in time is not sent any more");
    cr_expect_eq(tally->unsent, 49);
    roles_check();
}

Test(roles, loss_and_what_comes_after_it)
{
    struct options options = roles_options();
    start(&options, 32);
    roles_ask();
    cr_assert_eq(roles.n, 32);
    roles_pass(999999);
    cr_expect_eq(tally->lost, 0, "there is time yet");
    for (unsigned i = 3; i < 32; i++)
        roles_give(i);
    roles_pass(1);
    cr_expect_eq(tally->lost, 3);
    cr_expect_eq(tally->received, 29);
    roles_give(0);
    cr_expect_eq(tally->late, 1);
    cr_expect_eq(tally->received, 29);
    rte_pktmbuf_free_bulk(roles.frame + 1, 2);
    roles_check();
}

Test(roles, a_standstill_of_the_program_is_no_loss)
{
    struct options options = roles_options();
    start(&options, 32);
    roles_ask();
    roles_pass(500000);
    roles.now += 700000;
    consumer_work(&roles.consumer, roles.now);
    cr_expect_eq(tally->lost, 0, "the answers lie in the port");
    roles_give(0);
    cr_expect_eq(tally->latency.max, 1200000, "but it counts");
    roles_pass(999999);
    cr_expect_eq(tally->lost, 0);
    roles_pass(1);
    cr_expect_eq(tally->lost, 31);
    rte_pktmbuf_free_bulk(roles.frame + 1, 31);
    roles_check();
}

Test(roles, duplicates_and_reordering)
{
    struct options options = roles_options();
    start(&options, 8);
    roles_ask();
    struct rte_mbuf *copy = copy_of(0);
    roles_give(0);
    roles_give(4);
    roles_give(1);
    roles_give(2);
    roles_give(5);
    cr_expect_eq(tally->reordered, 2);
    roles.frame[0] = copy;
    roles_give(0);
    cr_expect_eq(tally->duplicates, 1);
    roles_give(3);
    roles_give(6);
    roles_give(7);
    cr_expect_eq(tally->reordered, 3);
    cr_expect_eq(tally->received, 8);
    roles_check();
}

Test(roles, each_octet_of_data_and_of_the_token_counts)
{
    struct options options = roles_options();
    start(&options, 1);
    roles_ask();
    cr_assert_eq(roles.n, 1);
    struct rte_mbuf *whole = roles.frame[0];
    uint32_t len = whole->pkt_len;
    for (uint32_t i = 14; i < len; i++) {
        roles.frame[0] = copy_of(0);
        rte_pktmbuf_mtod(roles.frame[0], uint8_t *)[i] ^= 0x10;
        roles_give(0);
        cr_expect_eq(tally->received, 0, "octet %u", i);
        roles.frame[0] = whole;
    }
    cr_expect_geq(tally->corrupted, 32 + 100, "content and signature at least: %lu", tally->corrupted);
    roles_give(0);
    cr_expect_eq(tally->received, 1);
    roles_check();
}

Test(roles, data_without_the_token_are_wrong_unless_none_was_sent)
{
    struct options options = roles_options();
    options.token_echo = false;
    start(&options, 4);
    roles_ask();
    roles_give_all();
    cr_expect_eq(tally->corrupted, 4);
    roles_check();
    options.consumer_token = false;
    start(&options, 4);
    roles_ask();
    roles_give_all();
    cr_expect_eq(tally->received, 4);
    roles_check();
}

Test(roles, nacks_end_a_request)
{
    struct options options = roles_options();
    options.inject.nack = 4;
    start(&options, 20);
    roles_ask();
    roles_give_all();
    cr_expect_eq(tally->nacks, 5);
    cr_expect_eq(tally->received, 15);
    cr_expect_eq(roles.producer.tally.nacks, 5);
    roles_check();
}

Test(roles, one_data_answers_all_interests_of_its_name_before)
{
    struct options options = roles_options();
    options.names = NAMES_CYCLE;
    options.n_names = 4;
    start(&options, 20);
    roles_ask();
    cr_assert_eq(roles.n, 20);
    // Requests 0..19 have names 0..3 in turn. The Data for 13 answers 1, 5 and 9, too, and 17 goes on waiting.
    roles_give(13);
    cr_expect_eq(tally->received, 1);
    cr_expect_eq(tally->aggregated, 3);
    roles_give(5);
    cr_expect_eq(tally->late, 1);
    roles_give(17);
    cr_expect_eq(tally->received, 2);
    cr_expect_eq(tally->aggregated, 3);
    for (unsigned i = 0; i < 20; i++) {
        if (i % 4 != 1)
            roles_give(i);
        else if (roles.frame[i] != NULL)
            rte_pktmbuf_free(roles.frame[i]);
    }
    cr_expect_eq(tally->received, 17);
    cr_expect_eq(tally->lost, 0);
    roles_check();
}

Test(roles, without_tokens_the_latest_is_answered_and_more_may_come)
{
    struct options options = roles_options();
    options.names = NAMES_CYCLE;
    options.n_names = 1;
    options.consumer_token = false;
    start(&options, 3);
    roles_ask();
    struct rte_mbuf *copy = copy_of(0);
    roles_give(0);
    cr_expect_eq(tally->received, 1);
    cr_expect_eq(tally->aggregated, 2);
    roles_give(1);
    roles_give(2);
    cr_expect_eq(tally->late, 2);
    cr_expect_eq(tally->duplicates, 0);
    roles.frame[0] = copy;
    roles_give(0);
    cr_expect_eq(tally->duplicates, 1);
    roles_check();
}

Test(roles, more_requests_than_are_remembered)
{
    struct options options = roles_options();
    options.window = 4096;
    start(&options, 3000);
    for (unsigned i = 0; i < 200; i++) {
        consumer_work(&roles.consumer, roles.now);
        roles_collect(0);
        rte_pktmbuf_free_bulk(roles.frame, roles.n);
    }
    cr_expect_eq(tally->sent, 3000);
    cr_expect_gt(tally->lost, 3000 - 1025, "the oldest are given up early");
    cr_expect_leq(roles.consumer.out, 1024);
    roles_check();
}

Test(roles, fragments_in_any_order)
{
    struct options options = roles_options();
    options.payload = 5000;
    options.fragments = true;
    start(&options, 3);
    roles_ask();
    cr_assert_eq(roles.n, 12, "%u frames", roles.n);
    for (unsigned i = 4; i-- > 0;)
        roles_give(i);
    cr_expect_eq(tally->received, 1);
    roles_give(4);
    roles_give(6);
    roles_give(7);
    rte_pktmbuf_free(roles.frame[5]);
    for (unsigned i = 8; i < 12; i++) {
        if (i == 10)
            rte_pktmbuf_mtod(roles.frame[i], uint8_t *)[600] ^= 1;
        roles_give(i);
    }
    cr_expect_eq(tally->received, 1);
    cr_expect_eq(tally->corrupted, 1);
    roles_check();
}

Test(roles, data_that_do_not_fit)
{
    struct options options = roles_options();
    options.payload = 1400;
    cr_assert_eq(producer_create(&roles.producer, &options, &roles.device[1], roles.pool), -EMSGSIZE);
    options.payload = 1380; // with a token of eight octets an MTU of 1500 is filled
    start(&options, 1);
    roles_ask();
    cr_assert_eq(roles.n, 1);
    roles_give_all();
    cr_expect_eq(tally->received, 1);
    roles_check();
}

Test(roles, udp_over_ipv4_and_ipv6)
{
    for (unsigned i = 0; i < 2; i++) {
        struct options options = roles_options();
        struct options_end near = {.present = true,
                                   .link = LINK_UDP,
                                   .family = i == 0 ? AF_INET : AF_INET6,
                                   .local_ip = {10, 0, 0, 1},
                                   .remote_ip = {10, 0, 0, 2},
                                   .local_udp = 7777,
                                   .remote_udp = 6363};
        struct options_end far = near;
        memcpy(far.local_ip, near.remote_ip, 16);
        memcpy(far.remote_ip, near.local_ip, 16);
        far.local_udp = 6363;
        far.remote_udp = 7777;
        options.consumer = near;
        options.producer = far;
        if (i == 0)
            options.consumer.vlan = options.producer.vlan = 17;
        start(&options, 5);
        consumer_work(&roles.consumer, roles.now);
        roles_collect(0);
        cr_assert_eq(roles.n, 5);
        for (unsigned k = 0; k < 5; k++) {
            struct frame frame;
            cr_assert_eq(frame_parse(rte_pktmbuf_mtod(roles.frame[k], uint8_t *), roles.frame[k]->data_len,
                                     &(struct frame_opts){0}, &frame),
                         VERDICT_OK);
            cr_expect_eq(frame.kind, i == 0 ? FRAME_UDP4 : FRAME_UDP6);
            cr_expect(frame.sport == 7777 && frame.dport == 6363 && frame.vlan == (i == 0 ? 17 : 0));
            producer_receive(&roles.producer, roles.frame[k]);
        }
        producer_work(&roles.producer);
        roles_collect(1);
        roles_give_all();
        cr_expect_eq(tally->received, 5);
        cr_expect_eq(tally->foreign, 0);
        roles_check();
    }
}

Test(roles, frames_of_others)
{
    struct options options = roles_options();
    start(&options, 2);
    roles_ask();
    // An Interest at the consumer's port is not its own; an ARP frame is nobody's.
    rte_pktmbuf_mtod(roles.frame[0], uint8_t *)[12] = 0x08;
    rte_pktmbuf_mtod(roles.frame[0], uint8_t *)[13] = 0x06;
    roles_give(0);
    cr_expect_eq(tally->foreign, 1);
    producer_receive(&roles.producer, roles.frame[1]);
    cr_expect_eq(roles.producer.tally.unexpected, 1);
    roles_check();
}
