// SPDX-License-Identifier: Apache-2.0
/* Probes of servers, with a socket of the test in a server's place. */
#include "fwd/quic/probe.h"

#include <criterion/criterion.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#define PROBE_LEN 1200

static struct quic_probe probe;
static int server;

static struct quic_probe_target target_of(int fd)
{
    struct sockaddr_in at;
    socklen_t size = sizeof at;
    cr_assert_eq(getsockname(fd, (struct sockaddr *)&at, &size), 0);
    return (struct quic_probe_target){
        .ip = {127, 0, 0, 1}, .port = ntohs(at.sin_port), .interval_ms = 100, .timeout_ms = 50, .failures_max = 2};
}

static void set_up(void)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    struct timeval wait = {.tv_sec = 5};
    quic_probe_open(&probe);
    server = socket(AF_INET, SOCK_DGRAM, 0);
    cr_assert_eq(bind(server, (struct sockaddr *)&at, sizeof at), 0);
    setsockopt(server, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof wait);
}

static void tear_down(void)
{
    quic_probe_close(&probe);
    close(server);
}

TestSuite(quic_probe, .init = set_up, .fini = tear_down);

/* Take a probe in, and answer it, with one octet changed when @p wrong is not 0. */
static void answer(unsigned wrong)
{
    uint8_t p[2000], vn[64] = {0x80};
    struct sockaddr_in from;
    socklen_t size = sizeof from;
    cr_assert_eq(recvfrom(server, p, sizeof p, 0, (struct sockaddr *)&from, &size), PROBE_LEN);
    cr_assert_eq(p[0] & 0x80, 0x80);
    for (int i = 1; i < 5; i++)
        cr_expect_eq(p[i] & 0x0f, 0x0a, "a reserved version");
    uint8_t len = p[5];
    cr_assert_eq(p[6 + len], len);
    vn[5] = len;
    memcpy(vn + 6, p + 7 + len, len);
    vn[6 + len] = len;
    memcpy(vn + 7 + len, p + 6, len);
    vn[7 + 2 * len + 3] = 1;
    if (wrong != 0)
        vn[wrong] ^= 1;
    sendto(server, vn, 7u + 2 * len + 4, 0, (struct sockaddr *)&from, size);
}

/* Rounds at one time until what was sent over the loopback has come in, which is at once. */
static void round_at(struct quic_probe_target *target, uint64_t now_ms)
{
    quic_probe_round(&probe, target, 1, now_ms);
}

Test(quic_probe, a_server_that_answers_is_not_silent)
{
    struct quic_probe_target target = target_of(server);
    for (uint64_t now = 1000; now < 2000; now += 100) {
        round_at(&target, now);
        cr_expect(target.waits);
        answer(0);
        round_at(&target, now + 49);
        cr_expect_not(target.waits);
        cr_expect_eq(target.failures, 0);
    }
    cr_expect_not(target.silent);
}

Test(quic_probe, failures_in_a_row_make_it_silent_and_one_answer_ends_that)
{
    struct quic_probe_target target = target_of(server);
    for (uint64_t now = 1000; now < 1400; now += 100) {
        round_at(&target, now);
        round_at(&target, now + 50);
        cr_expect_eq(target.silent, now >= 1100, "%llu", (unsigned long long)now);
    }
    for (int i = 0; i < 4; i++) {
        uint8_t p[2000];
        cr_assert_eq(recv(server, p, sizeof p, 0), PROBE_LEN);
    }
    round_at(&target, 1400);
    answer(0);
    round_at(&target, 1401);
    cr_expect_not(target.silent);
    cr_expect_eq(target.failures, 0);
}

Test(quic_probe, what_is_no_answer_does_not_count)
{
    struct quic_probe_target target = target_of(server);
    // The form bit, the version, the number and the random part of the connection ID.
    static const unsigned wrong[] = {1, 5, 6, 10};
    for (unsigned i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        uint64_t now = 1000 + 100 * i;
        round_at(&target, now);
        answer(wrong[i]);
        round_at(&target, now + 10);
        cr_expect(target.waits, "octet %u", wrong[i]);
        round_at(&target, now + 50);
    }
    cr_expect(target.silent);
}

Test(quic_probe, an_answer_from_elsewhere_does_not_count)
{
    struct quic_probe_target target = target_of(server);
    round_at(&target, 1000);
    target.port ^= 1;
    answer(0);
    round_at(&target, 1010);
    cr_expect(target.waits);
}

Test(quic_probe, without_an_interval_nothing_is_sent)
{
    struct quic_probe_target target = target_of(server);
    uint8_t p[2000];
    target.interval_ms = 0;
    for (uint64_t now = 0; now < 1000; now += 100)
        round_at(&target, now);
    cr_expect_eq(recv(server, p, sizeof p, MSG_DONTWAIT), -1);
    cr_expect_not(target.silent);
}
