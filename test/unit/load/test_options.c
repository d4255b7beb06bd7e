// SPDX-License-Identifier: Apache-2.0
#include <criterion/criterion.h>
#include <criterion/redirect.h>
#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "test/load/options.h"

static struct options options;

/* A command line in one string. */
static int parse(const char *line)
{
    static char copy[1024]; // options point into it
    char *argv[64] = {(char[]){"pitlane-load"}}, *save;
    int argc = 1;
    strcpy(copy, line);
    for (char *word = strtok_r(copy, " ", &save); word != NULL; word = strtok_r(NULL, " ", &save))
        argv[argc++] = word;
    return options_parse(argc, argv, &options);
}

Test(options, least_that_is_needed)
{
    cr_assert_eq(parse("--consumer 0 --producer 1"), 0);
    cr_expect(options.consumer.present && options.consumer.port == 0 && options.consumer.link == LINK_AUTO);
    cr_expect(options.producer.present && options.producer.port == 1);
    cr_expect(options.mode == MODE_NDN && options.rate <= 0 && options.window == 64 && options.duration_s == 10);
    cr_expect(options.names == NAMES_DISTINCT && options.token_echo && options.consumer_token && options.max_loss < 0);
    cr_assert_eq(parse("--producer 5"), 0);
    cr_expect(options.duration_s <= 0, "a producer alone goes on");
    cr_expect_not(options.consumer.present);
}

Test(options, everything)
{
    cr_assert_eq(
        parse("--consumer 3,link=udp,mac=02:00:00:00:00:0a,to=02:00:00:00:00:0B,vlan=17,ip=fd00::1,to-ip=fd00::2,"
              "udp=7000,to-udp=7001 --producer 4,link=bare --mtu 1400 --rate 2.5M --arrivals poisson "
              "--count 3k --timeout 0.25 --warm-up 1 --outstanding 65536 --max-loss 0.001 --prefix /a/b "
              "--names zipf:1k:0.9 --components 8 --flows 100 --first 77 --payload 1k --can-be-prefix "
              "--must-be-fresh --lifetime 500 --freshness 0 --hop-limit 9 --token off --consumer-token off "
              "--fragments --inject drop:3,corrupt:4,nack:5 --seed 99 --mbufs 8k --mbuf-size 4096 "
              "--descriptors 512 --sleep 20 --quiet --json out"),
        0);
    const struct options_end *end = &options.consumer;
    cr_expect(end->port == 3 && end->link == LINK_UDP && end->vlan == 17 && end->family == AF_INET6);
    cr_expect(end->has_local_mac && end->local_mac[5] == 10 && end->has_remote_mac && end->remote_mac[5] == 11);
    cr_expect(end->local_ip[0] == 0xfd && end->local_ip[15] == 1 && end->remote_ip[15] == 2);
    cr_expect(end->local_udp == 7000 && end->remote_udp == 7001);
    cr_expect(options.producer.link == LINK_BARE && options.producer.local_udp == 6363);
    cr_expect_float_eq(options.rate, 2.5e6, 1e-6);
    cr_expect(options.mtu == 1400 && options.poisson && options.count == 3000 && options.outstanding == 65536);
    cr_expect(options.duration_s <= 0, "by count alone");
    cr_expect_float_eq(options.timeout_s, 0.25, 1e-9);
    cr_expect_float_eq(options.max_loss, 0.001, 1e-9);
    cr_expect_float_eq(options.zipf_s, 0.9, 1e-9);
    cr_expect(options.names == NAMES_ZIPF && options.n_names == 1000 && options.components == 8 &&
              options.flows == 100);
    cr_expect(options.first == 77 && options.payload == 1000 && options.can_be_prefix && options.must_be_fresh);
    cr_expect(options.lifetime_ms == 500 && options.freshness_ms == 0 && options.hop_limit == 9);
    cr_expect(!options.token_echo && !options.consumer_token && options.fragments && options.seed == 99);
    cr_expect(options.inject.drop == 3 && options.inject.corrupt == 4 && options.inject.nack == 5);
    cr_expect(options.mbufs == 8000 && options.mbuf_size == 4096 && options.descriptors == 512);
    cr_expect(options.sleep_us == 20 && options.quiet && strcmp(options.json, "out") == 0);
}

#define QUIC_END "--mode quic --consumer 0,link=udp,to=02:00:00:00:00:01,ip=10.0.0.1,to-ip=10.0.9.1,to-udp=443 "

Test(options, quic)
{
    cr_assert_eq(parse(QUIC_END "--producer 1 --quic-config 2:4:6:000102030405060708090a0b0c0d0e0f "
                                "--quic-server 0a0b0c0d=02:00:00:00:00:09 --quic-server 0a0b0c0e --quic-flows 1k "
                                "--quic-initials 0.1 --quic-rebind 100 --quic-port 2000"),
                 0);
    const struct options_quic *quic = &options.quic;
    cr_expect(quic->config_id == 2 && quic->config.server_id_len == 4 && quic->config.nonce_len == 6);
    cr_expect(quic->config.encrypted && quic->config.key[15] == 15);
    cr_expect(quic->n_servers == 2 && quic->server[0].octets[3] == 13 && quic->server[1].len == 4);
    cr_expect(quic->has_server_mac[0] && quic->server_mac[0][5] == 9 && !quic->has_server_mac[1]);
    cr_expect(quic->flows == 1000 && quic->rebind == 100 && quic->first_sport == 2000);
}

Test(options, what_is_refused)
{
    static const char *const lines[] = {
        "",
        "--rate 5",
        "--consumer 0 --rate 5 --window 5",
        "--consumer 0 --search --saturate 0.5",
        "--consumer 0 --search --count 5",
        "--consumer 0 --outstanding 5000",
        "--consumer 0 behind",
        "--consumer 0 --no-such-option",
        "--consumer 0 --rate",
        "--consumer 0 --rate 0",
        "--consumer 0 --rate -1",
        "--consumer 0 --rate 1x",
        "--consumer 0 --rate nan",
        "--consumer 0 --rate 1G0",
        "--consumer 0 --window 1.5",
        "--consumer 0 --hop-limit 256",
        "--consumer 0 --mtu 100000",
        "--consumer 0 --arrivals sometimes",
        "--consumer 0 --mode http",
        "--consumer 0 --token maybe",
        "--consumer 0 --names cycle",
        "--consumer 0 --names cycle:0",
        "--consumer 0 --names cycle:5:1",
        "--consumer 0 --names zipf:5",
        "--consumer 0 --names zipf:5:1:1",
        "--consumer 0 --names pareto:5:1",
        "--consumer 0 --inject drop",
        "--consumer 0 --inject drop:0",
        "--consumer 0 --inject burn:5",
        "--consumer 0 --first -5",
        "--consumer x",
        "--consumer 0,link",
        "--consumer 0,link=serial",
        "--consumer 0,mac=02:00:00:00:00",
        "--consumer 0,mac=02:00:00:00:00:0g",
        "--consumer 0,mac=02-00-00-00-00-00",
        "--consumer 0,vlan=4095",
        "--consumer 0,udp=0",
        "--consumer 0,colour=red",
        "--consumer 0,link=udp",
        "--consumer 0,link=udp,ip=10.0.0.1,to-ip=10.0.0.2",
        "--consumer 0,link=udp,ip=10.0.0.1,to-ip=fd00::1,to=02:00:00:00:00:01",
        "--consumer 0,link=udp,ip=10.0.0.256,to-ip=10.0.0.2,to=02:00:00:00:00:01",
        QUIC_END "--producer 1",
        QUIC_END "--producer 1 --quic-config 0:3:5",
        QUIC_END "--producer 1 --quic-config 0:3:5 --quic-server 0102",
        QUIC_END "--producer 1 --quic-config 7:3:5 --quic-server 010203",
        QUIC_END "--producer 1 --quic-config 0:3:3 --quic-server 010203",
        QUIC_END "--producer 1 --quic-config 0:3:5:00 --quic-server 010203",
        QUIC_END "--producer 1 --quic-config 0:3 --quic-server 010203",
        QUIC_END "--producer 1 --quic-config 0:3:5 --quic-server 01020",
        QUIC_END "--producer 1 --quic-config 0:3:5 --quic-server 010203=x",
        QUIC_END "--producer 0 --quic-config 0:3:5 --quic-server 010203",
        "--mode quic --consumer 0 --producer 1 --quic-config 0:3:5 --quic-server 010203",
    };
    for (unsigned i = 0; i < sizeof lines / sizeof lines[0]; i++)
        cr_expect_eq(parse(lines[i]), -EINVAL, "%s", lines[i]);
}

Test(options, names_are_new_in_each_run_unless_told)
{
    uint32_t first[4];
    for (unsigned i = 0; i < 4; i++) {
        cr_assert_eq(parse("--consumer 0"), 0);
        first[i] = options.first;
    }
    cr_expect(first[0] != first[1] || first[1] != first[2] || first[2] != first[3]);
    cr_assert_eq(parse("--consumer 0 --names cycle:10"), 0);
    cr_expect_eq(options.first, 0);
    cr_assert_eq(parse("--consumer 0 --first 4294967295"), 0);
    cr_expect_eq(options.first, UINT32_MAX);
}

Test(options, help_is_no_run, .init = cr_redirect_stdout)
{
    cr_expect_eq(parse("--help"), 1);
}
