// SPDX-License-Identifier: Apache-2.0
/* What ping and pingserver are made of: Content, digest, percentiles, and the link with its fragments. */
#include "fwd/client/ping.h"

#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "fwd/client/link.h"
#include "fwd/client/partial.h"
#include "parser/ndn_encode.h"

static const uint8_t name_a[] = {8, 1, 'a', 8, 1, 'b'};

static size_t make_data(uint8_t *data, size_t size, uint16_t content_len)
{
    uint8_t content[PING_CONTENT_MAX];
    size_t off, len;
    ping_content(name_a, sizeof name_a, content, content_len);
    const struct ndn_data_out out = {
        .name = name_a, .name_len = sizeof name_a, .content = content, .content_len = content_len};
    size_t n = ndn_data_encode(data, size, &out, &off, &len);
    cr_assert(n > 32);
    cr_assert(ping_sha256(data + off, len, data + n - 32));
    return n;
}

Test(client_ping, content_depends_on_the_name_and_is_repeatable)
{
    uint8_t a[64], b[64], c[64];
    ping_content(name_a, sizeof name_a, a, sizeof a);
    ping_content(name_a, sizeof name_a, b, sizeof b);
    ping_content(name_a, 3, c, sizeof c);
    cr_expect_arr_eq(a, b, sizeof a);
    cr_expect_arr_neq(a, c, sizeof a);
}

Test(client_ping, data_is_read_back_and_its_digest_holds)
{
    uint8_t data[NDN_PACKET_MAX];
    uint16_t sizes[] = {0, 1, 100, 252, 253, 1000, 8000};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        size_t len = make_data(data, sizeof data, sizes[i]);
        struct ping_data parsed;
        cr_assert(ping_data_parse(data, len, &parsed));
        cr_expect_eq(parsed.content_len, sizes[i]);
        cr_expect_not_null(parsed.digest);
        cr_expect(ping_data_verify(&parsed));
        data[len / 2] ^= 1;
        cr_expect(!ping_data_parse(data, len, &parsed) || !ping_data_verify(&parsed));
    }
}

Test(client_ping, cut_data_is_refused_at_every_length)
{
    uint8_t data[NDN_PACKET_MAX];
    size_t len = make_data(data, sizeof data, 60);
    struct ping_data parsed;
    for (size_t i = 0; i < len; i++) {
        uint8_t *cut = malloc(i > 0 ? i : 1); // of the exact size, for the sanitizer
        memcpy(cut, data, i);
        cr_expect(!ping_data_parse(cut, i, &parsed), "%zu octets", i);
        free(cut);
    }
}

Test(client_ping, percentiles_are_nearest_rank)
{
    struct rtt rtt;
    rtt_init(&rtt);
    cr_expect_eq(rtt_percentile(&rtt, 50), 0);
    for (uint64_t i = 100; i > 0; i--)
        rtt_add(&rtt, i);
    cr_expect_eq(rtt_percentile(&rtt, 50), 50);
    cr_expect_eq(rtt_percentile(&rtt, 90), 90);
    cr_expect_eq(rtt_percentile(&rtt, 99), 99);
    cr_expect_eq(rtt_percentile(&rtt, 100), 100);
    cr_expect_eq(rtt.min, 1);
    cr_expect_eq(rtt.max, 100);
    rtt_free(&rtt);
}

Test(client_ping, samples_stay_bounded)
{
    struct rtt rtt;
    rtt_init(&rtt);
    for (uint64_t i = 0; i < 10000000; i++)
        rtt_add(&rtt, i);
    cr_expect(rtt.size <= 1u << 22);
    uint64_t median = rtt_percentile(&rtt, 50);
    cr_expect(median > 4900000 && median < 5100000, "%lu", (unsigned long)median);
    cr_expect_eq(rtt.max, 9999999);
    rtt_free(&rtt);
}

/** Give one fragment of @p net to a table. */
static bool add(struct partial_table *table, const struct link_peer *from, const uint8_t *net, uint64_t first,
                unsigned i, unsigned n, size_t chunk, size_t total, const uint8_t **whole, size_t *len)
{
    static const uint8_t token[] = {1, 2, 3};
    struct ndn_lp lp = {
        .sequence = first + i,
        .frag_index = (uint16_t)i,
        .frag_count = (uint16_t)n,
        .fragment = net + i * chunk,
        .fragment_len = (uint16_t)(total - i * chunk < chunk ? total - i * chunk : chunk),
        .token = i == 0 ? token : NULL,
        .token_len = i == 0 ? 3 : 0,
    };
    struct ndn_lp out;
    bool done = partial_add(table, from, &lp, whole, len, &out);
    if (done) {
        cr_expect_eq(out.token_len, 3);
        cr_expect_arr_eq(out.token, token, 3);
    }
    return done;
}

Test(client_ping, fragments_in_any_order_make_the_packet)
{
    static const unsigned orders[][4] = {{0, 1, 2, 3}, {3, 2, 1, 0}, {2, 0, 3, 1}};
    struct partial_table *table;
    struct link_peer peer = {.len = 4};
    uint8_t net[350];
    const uint8_t *whole;
    size_t len;
    for (size_t i = 0; i < sizeof net; i++)
        net[i] = (uint8_t)(i * 7);
    cr_assert_eq(partial_create(&table), 0);
    for (size_t o = 0; o < 3; o++) {
        for (unsigned k = 0; k < 3; k++) {
            cr_expect(!add(table, &peer, net, 1000 * o, orders[o][k], 4, 100, sizeof net, &whole, &len));
            // A duplicate changes nothing.
            cr_expect(!add(table, &peer, net, 1000 * o, orders[o][k], 4, 100, sizeof net, &whole, &len));
        }
        cr_assert(add(table, &peer, net, 1000 * o, orders[o][3], 4, 100, sizeof net, &whole, &len));
        cr_expect_eq(len, sizeof net);
        cr_expect_arr_eq(whole, net, sizeof net);
    }
    cr_expect_eq(partial_lost(table), 0);
    partial_destroy(table);
}

Test(client_ping, peers_are_kept_apart_and_old_partials_make_room)
{
    struct partial_table *table;
    struct link_peer a = {.len = 4}, b = {.len = 4};
    memset(&b.address, 1, 4);
    uint8_t net[200] = {0};
    const uint8_t *whole;
    size_t len;
    cr_assert_eq(partial_create(&table), 0);
    cr_expect(!add(table, &a, net, 5, 0, 2, 100, 200, &whole, &len));
    cr_expect(!add(table, &b, net, 5, 1, 2, 100, 200, &whole, &len));
    cr_expect(add(table, &a, net, 5, 1, 2, 100, 200, &whole, &len));
    // The partial of b is the oldest of 65 and goes.
    for (uint64_t i = 0; i < 64; i++)
        cr_expect(!add(table, &a, net, 100 + 10 * i, 1, 2, 100, 200, &whole, &len));
    cr_expect_eq(partial_lost(table), 1);
    // FragCount that changes starts the packet anew.
    cr_expect(!add(table, &a, net, 100, 0, 3, 70, 200, &whole, &len));
    cr_expect_eq(partial_lost(table), 2);
    partial_destroy(table);
}

Test(client_ping, too_large_a_packet_is_given_up)
{
    struct partial_table *table;
    struct link_peer peer = {.len = 4};
    static uint8_t net[20000];
    const uint8_t *whole;
    size_t len;
    cr_assert_eq(partial_create(&table), 0);
    cr_expect(!add(table, &peer, net, 5, 0, 2, 8000, 16000, &whole, &len));
    cr_expect(!add(table, &peer, net, 5, 1, 2, 8000, 16000, &whole, &len));
    cr_expect_eq(partial_lost(table), 1);
    partial_destroy(table);
}

/** Wait for one network packet. */
static void receive(struct link *link, struct link_packet *packet)
{
    for (unsigned i = 0; i < 1000; i++) {
        struct pollfd fd = {.fd = link_fd(link), .events = POLLIN};
        poll(&fd, 1, 10);
        int ret = link_receive(link, packet);
        if (ret == 1)
            return;
        cr_assert(ret == 0 || ret == -EAGAIN);
    }
    cr_assert_fail("nothing arrived");
}

Test(client_ping, packets_cross_udp_whole_and_in_fragments_with_their_token)
{
    static const char *const hosts[] = {"127.0.0.1:0", "[::1]:0"};
    for (size_t h = 0; h < 2; h++) {
        char err[LINK_ERR] = "", remote[64];
        struct link *server, *client;
        // A server on a port of the kernel's choice; its number is read from the socket.
        const struct link_config server_config = {.local = hosts[h], .mtu = 1000};
        cr_assert_eq(link_open(&server, &server_config, true, err), 0, "%s", err);
        struct sockaddr_in6 address;
        socklen_t address_len = sizeof address;
        cr_assert_eq(getsockname(link_fd(server), (struct sockaddr *)&address, &address_len), 0);
        snprintf(remote, sizeof remote, "%s:%u", h == 0 ? "127.0.0.1" : "[::1]", ntohs(address.sin6_port));
        const struct link_config client_config = {.udp = remote, .mtu = 300};
        cr_assert_eq(link_open(&client, &client_config, false, err), 0, "%s", err);

        uint8_t data[NDN_PACKET_MAX];
        static const uint8_t token[] = {9, 8, 7, 6};
        const struct ndn_lp_out none = {0}, with_token = {.token = token, .token_len = sizeof token};
        for (unsigned size = 10; size < 8500; size += 777) {
            size_t len = make_data(data, sizeof data, (uint16_t)size);
            struct link_packet packet;
            cr_assert_eq(link_send(client, data, len, &none, NULL), 0);
            receive(server, &packet);
            cr_expect_eq(packet.packet.net_len, len);
            cr_expect_eq(packet.packet.lp.token_len, 0);
            struct link_peer from = packet.from;
            cr_assert_eq(link_send(server, data, len, &with_token, &from), 0);
            receive(client, &packet);
            cr_expect_eq(packet.packet.net_len, len);
            cr_expect_arr_eq(packet.packet.net, data, len);
            cr_expect_eq(packet.packet.lp.token_len, sizeof token);
            cr_expect_arr_eq(packet.packet.lp.token, token, sizeof token);
        }
        cr_expect_eq(link_counters(server)->bad, 0);
        cr_expect_eq(link_counters(client)->bad, 0);
        link_close(server);
        link_close(client);
    }
}

Test(client_ping, a_server_without_a_peer_cannot_send)
{
    char err[LINK_ERR];
    struct link *server;
    const struct link_config config = {.local = "127.0.0.1:0"};
    cr_assert_eq(link_open(&server, &config, true, err), 0, "%s", err);
    const struct ndn_lp_out none = {0};
    cr_expect_eq(link_send(server, name_a, sizeof name_a, &none, NULL), -EDESTADDRREQ);
    link_close(server);
}

/** A listener on a Unix socket in a folder of its own. */
struct listener {
    char dir[32], uri[128];
    struct sockaddr_un address;
    int fd;
};

static void listener_open(struct listener *l)
{
    strcpy(l->dir, "/tmp/pitlane-test-XXXXXX");
    cr_assert_not_null(mkdtemp(l->dir));
    l->address = (struct sockaddr_un){.sun_family = AF_UNIX};
    snprintf(l->address.sun_path, sizeof l->address.sun_path, "%s/sock", l->dir);
    snprintf(l->uri, sizeof l->uri, "unix://%s", l->address.sun_path);
    l->fd = socket(AF_UNIX, SOCK_STREAM, 0);
    cr_assert_eq(bind(l->fd, (const struct sockaddr *)&l->address, sizeof l->address), 0);
    cr_assert_eq(listen(l->fd, 1), 0);
}

static void listener_close(struct listener *l)
{
    close(l->fd);
    unlink(l->address.sun_path);
    rmdir(l->dir);
}

Test(client_ping, packets_of_a_stream_are_found_however_it_is_cut)
{
    struct listener l;
    listener_open(&l);
    char err[LINK_ERR] = "";
    struct link *link;
    const struct link_config config = {.transport = l.uri};
    cr_assert_eq(link_open(&link, &config, false, err), 0, "%s", err);
    int peer = accept(l.fd, NULL, NULL);
    cr_assert(peer >= 0);
    static uint8_t stream[64 * NDN_PACKET_MAX];
    size_t len = 0, sizes[40];
    for (unsigned i = 0; i < 40; i++) {
        sizes[i] = make_data(stream + len, sizeof stream - len, (uint16_t)(i * 211 % 8500));
        len += sizes[i];
    }
    unsigned n = 0;
    struct link_packet packet;
    uint32_t random = 12345;
    for (size_t off = 0; off < len;) {
        random = random * 1664525 + 1013904223;
        size_t chunk = (random >> 16) % 3000 + 1;
        if (chunk > len - off)
            chunk = len - off;
        cr_assert_eq(send(peer, stream + off, chunk, 0), (ssize_t)chunk);
        off += chunk;
        int ret;
        while ((ret = link_receive(link, &packet)) == 1)
            cr_expect_eq(packet.packet.net_len, sizes[n++]);
        cr_assert_eq(ret, -EAGAIN);
    }
    cr_expect_eq(n, 40);
    // Half an element, then the end.
    cr_assert_eq(send(peer, stream, sizes[0] / 2, 0), (ssize_t)(sizes[0] / 2));
    cr_expect_eq(link_receive(link, &packet), -EAGAIN);
    close(peer);
    cr_expect_eq(link_receive(link, &packet), -ECONNRESET);
    link_close(link);
    listener_close(&l);
}

Test(client_ping, what_a_forwarder_does_not_read_is_kept_whole_up_to_a_bound)
{
    struct listener l;
    listener_open(&l);
    char err[LINK_ERR] = "";
    struct link *link;
    const struct link_config config = {.transport = l.uri};
    cr_assert_eq(link_open(&link, &config, false, err), 0, "%s", err);
    int peer = accept(l.fd, NULL, NULL);
    uint8_t data[NDN_PACKET_MAX];
    size_t len = make_data(data, sizeof data, 8000);
    const struct ndn_lp_out none = {0};
    unsigned sent = 0, refused = 0;
    for (unsigned i = 0; i < 10000 && refused < 3; i++) {
        int ret = link_send(link, data, len, &none, NULL);
        cr_assert(ret == 0 || ret == -EIO);
        sent += ret == 0;
        refused += ret != 0;
    }
    cr_expect_eq(refused, 3, "%u sent without a bound", sent);
    cr_expect((link_events(link) & POLLOUT) != 0);
    cr_expect_eq(link_counters(link)->send_errors, 3);
    // All that was taken arrives, packet after packet.
    static uint8_t in[65536];
    size_t total = 0;
    struct link_packet packet;
    while (total < sent * len) {
        ssize_t n = recv(peer, in, sizeof in, MSG_DONTWAIT);
        if (n > 0) {
            for (ssize_t i = 0; i < n; i++, total++)
                cr_assert_eq(in[i], data[total % len], "octet %zu", total);
        }
        cr_assert_eq(link_receive(link, &packet), -EAGAIN);
    }
    cr_expect_eq(recv(peer, in, sizeof in, MSG_DONTWAIT), -1);
    cr_expect_eq(link_events(link), POLLIN);
    close(peer);
    link_close(link);
    listener_close(&l);
}

Test(client_ping, streams_over_tcp_are_local_by_their_address)
{
    static const char *const hosts[] = {"127.0.0.1", "[::1]"};
    for (size_t h = 0; h < 2; h++) {
        struct sockaddr_in6 in6 = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
        struct sockaddr_in in = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
        struct sockaddr *address = h == 0 ? (struct sockaddr *)&in : (struct sockaddr *)&in6;
        socklen_t len = h == 0 ? sizeof in : sizeof in6;
        int fd = socket(address->sa_family, SOCK_STREAM, 0);
        cr_assert_eq(bind(fd, address, len), 0);
        cr_assert_eq(listen(fd, 1), 0);
        cr_assert_eq(getsockname(fd, address, &len), 0);
        char uri[64], err[LINK_ERR] = "";
        snprintf(uri, sizeof uri, "tcp%s://%s:%u", h == 0 ? "" : "6", hosts[h],
                 ntohs(h == 0 ? in.sin_port : in6.sin6_port));
        struct link *link;
        const struct link_config config = {.transport = uri};
        cr_assert_eq(link_open(&link, &config, false, err), 0, "%s", err);
        cr_expect(link_is_local(link) && link_is_stream(link));
        int peer = accept(fd, NULL, NULL);
        uint8_t data[NDN_PACKET_MAX];
        size_t n = make_data(data, sizeof data, 300);
        struct link_packet packet;
        cr_assert_eq(send(peer, data, n, 0), (ssize_t)n);
        receive(link, &packet);
        cr_expect_eq(packet.packet.net_len, n);
        close(peer);
        link_close(link);
        close(fd);
        cr_expect_lt(link_open(&link, &config, false, err), 0, "nobody listens any more");
    }
}

Test(client_ping, faults_of_the_link_come_with_words)
{
    static const struct link_config bad[] = {
        {.udp = "not a host"},
        {.udp = "[::1"},
        {.udp = "127.0.0.1:http"},
        {.ether = "no-such-interface"},
        {.ether = "lo", .remote = "02:00:00:00:00"},
        {.ether = "lo", .remote = "02:00:00:00:00:01:02"},
        {.local = "192.0.2.1:1"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char err[LINK_ERR] = "";
        struct link *link;
        cr_expect_lt(link_open(&link, &bad[i], false, err), 0, "row %zu", i);
        cr_expect(err[0] != '\0', "row %zu", i);
    }
}
