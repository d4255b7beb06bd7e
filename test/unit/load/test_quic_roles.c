// SPDX-License-Identifier: Apache-2.0
#include "test/unit/load/roles_support.h"

#include <criterion/criterion.h>
#include <string.h>
#include <sys/socket.h>

#include "parser/frame.h"
#include "test/load/quic_client.h"
#include "test/load/quic_server.h"

TestSuite(quic_roles, .init = roles_ports);

#define SERVERS 3

static struct quic_flows flows;
static struct quic_client client;
static struct quic_server server;
static const uint8_t macs[SERVERS][6] = {{2, 0, 0, 0, 0, 1}, {2, 0, 0, 0, 0, 2}, {2, 0, 0, 0, 0, 3}};
static uint64_t turns;

static struct options usual(void)
{
    struct options options = roles_options();
    options.mode = MODE_QUIC;
    options.consumer = (struct options_end){.present = true,
                                            .link = LINK_UDP,
                                            .family = AF_INET,
                                            .local_ip = {10, 0, 0, 1},
                                            .remote_ip = {203, 0, 113, 1},
                                            .local_udp = 1,
                                            .remote_udp = 4433};
    options.quic = (struct options_quic){.flows = 6,
                                         .has_config = true,
                                         .config = {.server_id_len = 2, .nonce_len = 5},
                                         .n_servers = SERVERS,
                                         .rebind = 4,
                                         .first_sport = 10000};
    for (uint8_t i = 0; i < SERVERS; i++) {
        options.quic.server[i] = (struct quic_lb_id){.octets = {9, i}, .len = 2};
        memcpy(options.quic.server_mac[i], macs[i], 6);
        options.quic.has_server_mac[i] = true;
    }
    return options;
}

static struct options options;

static void turn(void)
{
    turns++;
    cr_assert_not(quic_server_turn(&server, turns));
    quic_server_work(&server);
    cr_assert(quic_server_turn(&server, turns));
}

static void start(uint64_t count)
{
    cr_assert_eq(quic_flows_create(&flows, &options), 0);
    cr_assert_eq(quic_server_create(&server, &options, &roles.device[1], &flows), 0);
    cr_assert_eq(quic_client_create(&client, &options, &roles.device[0], &flows, &server, roles.pool, ROLES_HZ), 0);
    turns = 0;
    turn();
    struct plan plan = {.window = 64, .count = count};
    quic_client_start(&client, &plan, roles.now);
    while (quic_client_work(&client, roles.now) > 0)
        ;
    roles_collect(0);
}

/* As a balancer would: by the connection ID to its server's MAC address. */
static void give(unsigned i, unsigned to)
{
    memcpy(rte_pktmbuf_mtod(roles.frame[i], void *), macs[to], 6);
    quic_server_receive(&server, roles.frame[i], roles.now);
}

static void finish(void)
{
    for (unsigned i = 0; i < 30 && !quic_client_done(&client, roles.now); i++) {
        roles.now += 100000;
        quic_client_work(&client, roles.now);
    }
    cr_assert(quic_client_done(&client, roles.now));
    turn();
    quic_client_take(&client, &server.last);
    cr_expect_eq(client.tally.sent, client.tally.received + client.tally.lost);
    quic_client_destroy(&client);
    quic_server_destroy(&server);
    quic_flows_destroy(&flows);
    cr_expect_eq(rte_mempool_in_use_count(roles.pool), 0);
}

Test(quic_roles, datagrams_come_to_their_servers)
{
    options = usual();
    start(60);
    cr_assert_eq(roles.n, 60);
    roles.now += 70;
    for (unsigned i = 0; i < 60; i++)
        give(i, i % 6 % SERVERS);
    finish();
    cr_expect_eq(client.tally.received, 60);
    cr_expect_eq(client.rebinds, 12, "each of 6 flows after its 4th and 8th of 10");
    cr_expect_eq(client.tally.latency.max, 70);
    cr_expect_eq(client.tally.misrouted + client.tally.duplicates + client.tally.reordered, 0);
    for (unsigned i = 0; i < SERVERS; i++)
        cr_expect_eq(server.packets[i], 20);
}

Test(quic_roles, what_comes_elsewhere_twice_late_or_changed)
{
    options = usual();
    start(36);
    cr_assert_eq(roles.n, 36);
    struct rte_mbuf *copy = rte_pktmbuf_copy(roles.frame[7], roles.pool, 0, UINT32_MAX);
    give(6, 0);
    give(0, 0); // of the same flow, after its second one
    give(7, 1);
    roles.frame[7] = copy;
    give(7, 1);
    give(2, 1);
    rte_pktmbuf_mtod(roles.frame[3], uint8_t *)[60] ^=
        1; // of the connection ID or behind, and so the checksum is wrong
    give(3, 0);
    cr_expect_eq(server.tally.foreign, 1);
    rte_pktmbuf_free_bulk(roles.frame + 8, 28);
    rte_pktmbuf_free(roles.frame[1]);
    rte_pktmbuf_free_bulk(roles.frame + 4, 2);
    finish();
    cr_expect_eq(client.tally.received, 3);
    cr_expect_eq(client.tally.reordered, 1);
    cr_expect_eq(client.tally.duplicates, 1);
    cr_expect_eq(client.tally.misrouted, 1);
    cr_expect_eq(client.tally.lost, 33);
}

Test(quic_roles, servers_whose_address_is_not_told_have_the_first_that_is_seen)
{
    options = usual();
    memset(options.quic.has_server_mac, 0, sizeof options.quic.has_server_mac);
    start(12);
    give(0, 2);
    give(3, 2); // another flow of the same server
    give(6, 2);
    cr_expect_eq(server.tally.misrouted, 0);
    give(9, 1);
    cr_expect_eq(server.tally.misrouted, 1);
    for (unsigned i = 0; i < 12; i++) {
        if (i % 3 != 0)
            rte_pktmbuf_free(roles.frame[i]);
    }
    finish();
}

Test(quic_roles, initials_of_one_address_come_to_one_server)
{
    options = usual();
    options.quic.flows = 1;
    options.quic.initials = 1;
    start(12);
    cr_expect_eq(client.n_initials, 12);
    for (unsigned i = 0; i < 4; i++)
        give(i, 1);
    for (unsigned i = 4; i < 7; i++)
        give(i, 2);
    cr_expect_eq(server.tally.misrouted, 0);
    give(7, 0);
    cr_expect_eq(server.tally.misrouted, 1);
    rte_pktmbuf_free_bulk(roles.frame + 8, 4);
    finish();
    cr_expect_eq(client.tally.received, 7);
}

Test(quic_roles, addresses_that_were_changed_on_the_way)
{
    options = usual();
    start(2);
    uint8_t *p = rte_pktmbuf_mtod(roles.frame[0], uint8_t *);
    p[35]++; // low octet of the source port
    p[41]--; // and of the checksum
    give(0, 0);
    cr_expect_eq(server.tally.corrupted, 1);
    give(1, 1);
    finish();
    cr_expect_eq(client.tally.received, 1);
}

Test(quic_roles, answers_of_the_edge_are_not_expected)
{
    options = usual();
    start(1);
    uint8_t *p = rte_pktmbuf_mtod(roles.frame[0], uint8_t *);
    uint8_t swap[2];
    memcpy(swap, p + 34, 2);
    memcpy(p + 34, p + 36, 2);
    memcpy(p + 36, swap, 2);
    quic_client_receive(&client, roles.frame[0]);
    cr_expect_eq(client.tally.unexpected, 1);
    finish();
}
