// SPDX-License-Identifier: Apache-2.0
#include "test/unit/ports/sock_support.h"

#include <rte_mbuf.h>

#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static const uint8_t interest[] = {5, 2, 1, 2}, data[] = {6, 3, 1, 2, 3};

static void inet_begin(void)
{
    sock_begin();
    config.unix_path = NULL;
    config.tcp_listen = config.tcp_v4 = config.tcp_v6 = true;
    config.udp_listen = config.udp_v4 = config.udp_v6 = true;
    config.udp_mtu = 8800;
    config.udp_idle_s = 600;
    config.local_white[0] = (struct sock_subnet){{[10] = 0xff, [11] = 0xff, [12] = 127}, 104};
    config.local_white[1] = (struct sock_subnet){{[15] = 1}, 128};
    config.n_local_white = 2;
}

TestSuite(sock_inet, .init = inet_begin, .fini = sock_end, .timeout = 60);

/* The port of the channel whose URI starts like this. */
static uint16_t channel_port(const char *scheme)
{
    const char *const *uris;
    unsigned n = sock_channels(sock, &uris);
    for (unsigned i = 0; i < n; i++) {
        if (strncmp(uris[i], scheme, strlen(scheme)) == 0) {
            return (uint16_t)atoi(strrchr(uris[i], ':') + 1);
        }
    }
    cr_assert_fail("no channel %s", scheme);
    return 0;
}

static struct sockaddr_storage at(const char *ip, uint16_t number)
{
    struct sockaddr_storage address = {0};
    if (strchr(ip, ':') != NULL) {
        struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)&address;
        v6->sin6_family = AF_INET6;
        v6->sin6_port = htons(number);
        cr_assert_eq(inet_pton(AF_INET6, ip, &v6->sin6_addr), 1);
    } else {
        struct sockaddr_in *v4 = (struct sockaddr_in *)&address;
        v4->sin_family = AF_INET;
        v4->sin_port = htons(number);
        cr_assert_eq(inet_pton(AF_INET, ip, &v4->sin_addr), 1);
    }
    return address;
}

static socklen_t size_of(const struct sockaddr_storage *address)
{
    return address->ss_family == AF_INET ? sizeof(struct sockaddr_in) : sizeof(struct sockaddr_in6);
}

static uint16_t port_of(int fd, struct sockaddr_storage *address)
{
    socklen_t len = sizeof *address;
    cr_assert_eq(getsockname(fd, (struct sockaddr *)address, &len), 0);
    return ntohs(((struct sockaddr_in *)address)->sin_port);
}

static int connect_to(int type, const char *from, const char *ip, uint16_t number)
{
    struct sockaddr_storage to = at(ip, number), own = at(from, 0);
    int fd = socket(to.ss_family, type, 0);
    cr_assert_eq(bind(fd, (struct sockaddr *)&own, size_of(&own)), 0);
    cr_assert_eq(connect(fd, (struct sockaddr *)&to, size_of(&to)), 0, "%s", strerror(errno));
    return fd;
}

static int listen_at(int type, const char *ip, uint16_t number, uint16_t *got)
{
    struct sockaddr_storage own = at(ip, number);
    int fd = socket(own.ss_family, type, 0), on = 1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    cr_assert_eq(bind(fd, (struct sockaddr *)&own, size_of(&own)), 0, "%s", strerror(errno));
    if (type == SOCK_STREAM) {
        cr_assert_eq(listen(fd, 8), 0);
    }
    *got = port_of(fd, &own);
    return fd;
}

static void expect_uris(const char *scheme, int fd, const char *ip_text, uint16_t theirs)
{
    struct sockaddr_storage own;
    char uri[128];
    snprintf(uri, sizeof uri, "%s://%s:%u", scheme, ip_text, theirs);
    cr_assert_str_eq(heard.local_uri, uri);
    snprintf(uri, sizeof uri, "%s://%s:%u", scheme, ip_text, port_of(fd, &own));
    cr_assert_str_eq(heard.remote_uri, uri);
}

Test(sock_inet, tcp_peers_are_faces_and_local_ones_are_local)
{
    uint8_t back[8];
    start();
    static const struct {
        const char *scheme, *ip, *text;
    } rows[] = {{"tcp4", "127.0.0.1", "127.0.0.1"}, {"tcp6", "::1", "[::1]"}};
    for (unsigned i = 0; i < 2; i++) {
        uint16_t number = channel_port(rows[i].scheme);
        int fd = connect_to(SOCK_STREAM, rows[i].ip, rows[i].ip, number);
        hear(&heard.accepted, i + 1);
        cr_assert_eq(heard.config.scope, FACE_SCOPE_LOCAL);
        cr_assert_eq(heard.config.persistency, FACE_ON_DEMAND);
        expect_uris(rows[i].scheme, fd, rows[i].text, number);
        put(fd, interest, sizeof interest);
        expect_frame(heard.last, interest, sizeof interest);
        send_frame(heard.last, data, sizeof data);
        cr_assert_eq(take(fd, back, sizeof data), sizeof data);
        struct sockaddr_storage own;
        port_of(fd, &own);
        cr_assert_eq(sock_find(sock, true, &own), heard.last);
        cr_assert_eq(sock_find(sock, false, &own), 0);
        close(fd);
        hear(&heard.closed, i + 1);
        cr_assert_eq(sock_find(sock, true, &own), 0);
    }
}

Test(sock_inet, tcp_face_is_local_when_both_ends_are_in_the_whitelist)
{
    config.local_white[0] = (struct sock_subnet){{[10] = 0xff, [11] = 0xff, [12] = 127, [15] = 0}, 127};
    start();
    uint16_t number = channel_port("tcp4");
    static const struct {
        const char *from, *to;
        uint8_t scope;
    } rows[] = {{"127.0.0.1", "127.0.0.1", FACE_SCOPE_LOCAL},
                {"127.0.0.2", "127.0.0.1", FACE_SCOPE_NON_LOCAL},
                {"127.0.0.1", "127.0.0.2", FACE_SCOPE_NON_LOCAL}};
    for (unsigned i = 0; i < 3; i++) {
        int fd = connect_to(SOCK_STREAM, rows[i].from, rows[i].to, number);
        hear(&heard.accepted, i + 1);
        cr_assert_eq(heard.config.scope, rows[i].scope, "%u", i);
        close(fd);
    }
}

Test(sock_inet, tcp_blacklist_wins)
{
    config.local_black[0] = (struct sock_subnet){{[10] = 0xff, [11] = 0xff, [12] = 127, [15] = 1}, 128};
    config.n_local_black = 1;
    start();
    int fd = connect_to(SOCK_STREAM, "127.0.0.1", "127.0.0.1", channel_port("tcp4"));
    hear(&heard.accepted, 1);
    cr_assert_eq(heard.config.scope, FACE_SCOPE_NON_LOCAL);
    close(fd);
}

static struct sock_remote remote_at(bool stream, const char *ip, uint16_t number, uint8_t persistency)
{
    return (struct sock_remote){.stream = stream, .address = at(ip, number), .persistency = persistency};
}

Test(sock_inet, tcp_face_is_made_and_goes_with_its_peer)
{
    uint16_t number;
    uint8_t back[8];
    int server = listen_at(SOCK_STREAM, "127.0.0.1", 0, &number);
    start();
    struct sock_remote remote = remote_at(true, "127.0.0.1", number, FACE_PERSISTENT);
    cr_assert_eq(sock_connect(sock, &remote, 7), 0);
    int fd = accept(server, NULL, NULL);
    hear(&heard.connected, 1);
    cr_assert_eq(heard.rc, 0);
    char uri[64];
    snprintf(uri, sizeof uri, "tcp4://127.0.0.1:%u", number);
    cr_assert_str_eq(heard.remote_uri, uri);
    cr_assert_eq(heard.config.persistency, FACE_PERSISTENT);
    cr_assert_eq(sock_find(sock, true, &remote.address), heard.last);
    send_frame(heard.last, data, sizeof data);
    cr_assert_eq(take(fd, back, sizeof data), sizeof data);
    put(fd, interest, sizeof interest);
    expect_frame(heard.last, interest, sizeof interest);
    close(fd);
    hear(&heard.closed, 1);
    close(server);
}

Test(sock_inet, tcp_face_to_nobody_is_refused)
{
    uint16_t number;
    close(listen_at(SOCK_STREAM, "127.0.0.1", 0, &number));
    start();
    struct sock_remote remote = remote_at(true, "127.0.0.1", number, FACE_PERMANENT);
    cr_assert_eq(sock_connect(sock, &remote, 7), 0);
    hear(&heard.connected, 1);
    cr_assert_eq(heard.rc, -ECONNREFUSED);
    remote.address.ss_family = AF_UNIX;
    cr_assert_eq(sock_connect(sock, &remote, 8), -EAFNOSUPPORT);
}

Test(sock_inet, permanent_tcp_face_finds_its_peer_again)
{
    uint16_t number;
    uint8_t back[8];
    config.stall_ms = 400; /* and with it the period of the timer */
    int server = listen_at(SOCK_STREAM, "127.0.0.1", 0, &number);
    start();
    struct sock_remote remote = remote_at(true, "127.0.0.1", number, FACE_PERMANENT);
    cr_assert_eq(sock_connect(sock, &remote, 7), 0);
    int fd = accept(server, NULL, NULL);
    hear(&heard.connected, 1);
    put(fd, interest, 2); /* half a packet does not spoil what comes later */
    close(server);
    close(fd);
    hear(&heard.down, 1);
    send_frame(heard.last, data, sizeof data); /* lost */
    usleep(1300000);                           /* one attempt fails */
    server = listen_at(SOCK_STREAM, "127.0.0.1", number, &number);
    fd = accept(server, NULL, NULL);
    hear(&heard.up, 1);
    put(fd, interest, sizeof interest);
    expect_frame(heard.last, interest, sizeof interest);
    send_frame(heard.last, interest, sizeof interest);
    cr_assert_eq(take(fd, back, sizeof interest), sizeof interest);
    cr_assert_eq(memcmp(back, interest, sizeof interest), 0);
    cr_assert_eq(heard.closed, 0);
    /* Once it is no longer permanent it goes with its peer. */
    struct face face = {.id = heard.last, .persistency = FACE_PERSISTENT, .mtu = FACE_MTU_UNLIMITED};
    sock_changed(sock, &face);
    usleep(50000);
    close(fd);
    hear(&heard.closed, 1);
    close(server);
}

Test(sock_inet, first_datagram_makes_a_face_and_is_not_lost)
{
    start();
    static const struct {
        const char *scheme, *ip, *text;
    } rows[] = {{"udp4", "127.0.0.1", "127.0.0.1"}, {"udp6", "::1", "[::1]"}};
    uint8_t back[16];
    for (unsigned i = 0; i < 2; i++) {
        uint16_t number = channel_port(rows[i].scheme);
        int fd = connect_to(SOCK_DGRAM, rows[i].ip, rows[i].ip, number);
        put(fd, interest, sizeof interest);
        put(fd, data, sizeof data);
        hear(&heard.accepted, i + 1);
        cr_assert_eq(heard.config.scope, FACE_SCOPE_NON_LOCAL);
        cr_assert_eq(heard.config.persistency, FACE_ON_DEMAND);
        cr_assert_eq(heard.config.mtu, 8800);
        expect_uris(rows[i].scheme, fd, rows[i].text, number);
        expect_frame(heard.last, interest, sizeof interest);
        expect_frame(heard.last, data, sizeof data);
        send_frame(heard.last, data, sizeof data);
        cr_assert_eq(recv(fd, back, sizeof back, 0), (ssize_t)sizeof data);
        struct sockaddr_storage own;
        port_of(fd, &own);
        cr_assert_eq(sock_find(sock, false, &own), heard.last);
        int64_t left = sock_expires_ms(sock, heard.last);
        cr_assert(left > 590000 && left <= 600000, "%lld", (long long)left);
        close(fd);
    }
}

Test(sock_inet, datagram_that_is_not_one_packet_is_dropped_and_makes_no_face)
{
    static uint8_t big[9000] = {6, 253, 0x22, 0x5d};
    static const uint8_t two[] = {5, 1, 1, 5, 1, 1}, cut[] = {5, 3, 1}, zero[] = {0, 1, 1};
    start();
    int fd = connect_to(SOCK_DGRAM, "127.0.0.1", "127.0.0.1", channel_port("udp4"));
    put(fd, two, sizeof two);
    put(fd, cut, sizeof cut);
    put(fd, zero, sizeof zero);
    put(fd, big, 8801);
    put(fd, big, sizeof big);
    put(fd, "", 0);
    big[3] = 0x5c;
    put(fd, big, 8801); /* a packet and one octet */
    put(fd, big, 8800);
    hear(&heard.accepted, 1);
    struct rte_mbuf *mbuf = receive();
    cr_assert_eq(mbuf->pkt_len, 8800);
    rte_pktmbuf_free(mbuf);
    cr_assert_eq(counters().datagrams, 7);
    close(fd);
}

Test(sock_inet, silent_udp_face_is_closed)
{
    config.udp_idle_s = 1;
    config.stall_ms = 400;
    start();
    uint16_t number = channel_port("udp4");
    int fd = connect_to(SOCK_DGRAM, "127.0.0.1", "127.0.0.1", number);
    uint64_t begin = now_ms();
    for (unsigned i = 0; i < 8; i++) {
        put(fd, interest, sizeof interest);
        usleep(200000);
        sock_poll(sock);
    }
    cr_assert_eq(heard.closed, 0); /* it was heard of now and then */
    hear(&heard.closed, 1);
    cr_assert_geq(now_ms() - begin, 2400);
    cr_assert_leq(now_ms() - begin, 6000);
    /* A persistent one stays. */
    put(fd, interest, sizeof interest);
    hear(&heard.accepted, 2);
    struct face face = {.id = heard.last, .persistency = FACE_PERSISTENT, .mtu = 8800};
    sock_changed(sock, &face);
    usleep(2200000);
    sock_poll(sock);
    cr_assert_eq(heard.closed, 1);
    cr_assert_eq(sock_expires_ms(sock, heard.last), -1);
    close(fd);
}

Test(sock_inet, udp_faces_are_limited)
{
    config.faces_max = 2;
    start();
    int fd[3];
    for (unsigned i = 0; i < 3; i++) {
        fd[i] = connect_to(SOCK_DGRAM, "127.0.0.1", "127.0.0.1", channel_port("udp4"));
        put(fd[i], interest, sizeof interest);
    }
    hear(&heard.accepted, 2);
    for (unsigned i = 0; i < 100 && counters().refused == 0; i++) {
        usleep(10000);
    }
    cr_assert_eq(counters().refused, 1);
    for (unsigned i = 0; i < 3; i++) {
        close(fd[i]);
    }
}

Test(sock_inet, udp_face_is_made_and_goes_when_nobody_listens)
{
    uint16_t number;
    uint8_t back[16];
    start();
    int peer = listen_at(SOCK_DGRAM, "127.0.0.1", 0, &number);
    struct sock_remote remote = remote_at(false, "127.0.0.1", number, FACE_PERSISTENT);
    remote.mtu = 1200;
    cr_assert_eq(sock_connect(sock, &remote, 1), 0);
    hear(&heard.connected, 1);
    cr_assert_eq(heard.rc, 0);
    cr_assert_eq(heard.config.mtu, 1200);
    uint32_t persistent = heard.last;
    send_frame(persistent, data, sizeof data);
    struct sockaddr_storage from;
    socklen_t len = sizeof from;
    cr_assert_eq(recvfrom(peer, back, sizeof back, 0, (struct sockaddr *)&from, &len), (ssize_t)sizeof data);
    /* It sends from the port that is listened on, so that the answer belongs to the same face. */
    cr_assert_eq(ntohs(((struct sockaddr_in *)&from)->sin_port), channel_port("udp4"));
    cr_assert_eq(sendto(peer, interest, sizeof interest, 0, (struct sockaddr *)&from, len), (ssize_t)sizeof interest);
    expect_frame(persistent, interest, sizeof interest);
    close(peer);
    send_frame(persistent, data, sizeof data);
    hear(&heard.closed, 1);
    cr_assert_eq(heard.closed_face, persistent);
    /* A permanent one does not mind. */
    remote.persistency = FACE_PERMANENT;
    cr_assert_eq(sock_connect(sock, &remote, 2), 0);
    hear(&heard.connected, 2);
    for (unsigned i = 0; i < 5; i++) {
        send_frame(heard.last, data, sizeof data);
        usleep(20000);
    }
    sock_poll(sock);
    cr_assert_eq(heard.closed, 1);
    peer = listen_at(SOCK_DGRAM, "127.0.0.1", number, &number);
    send_frame(heard.last, data, sizeof data);
    cr_assert_eq(recv(peer, back, sizeof back, 0), (ssize_t)sizeof data);
    close(peer);
}

Test(sock_inet, port_in_use_is_said)
{
    uint16_t number;
    int fd = listen_at(SOCK_STREAM, "0.0.0.0", 0, &number);
    config.tcp_port = number;
    cr_assert_eq(sock_start(&sock, &config, &listener, err), -EADDRINUSE);
    cr_assert_not_null(strstr(err, "tcp4://0.0.0.0:"), "%s", err);
    sock = NULL;
    close(fd);
}

/* Packets towards a peer that does not read are marked after a while, and only where that is wanted. */
static unsigned marked_of(uint8_t flags)
{
    static uint8_t packet[1000] = {6, 253, 0x03, 0xe4}, back[2000];
    int fd = connect_to(SOCK_STREAM, "127.0.0.1", "127.0.0.1", channel_port("tcp4"));
    hear(&heard.accepted, heard.accepted + 1);
    struct face face = {.id = heard.last,
                        .persistency = FACE_ON_DEMAND,
                        .flags = flags,
                        .mtu = FACE_MTU_UNLIMITED,
                        .config = {.congestion_interval_ns = 20000000, .congestion_threshold = 1000}};
    sock_changed(sock, &face);
    uint64_t before = counters().marked;
    for (unsigned i = 0; i < 60; i++) {
        for (unsigned k = 0; k < 100; k++) {
            send_frame(heard.last, packet, sizeof packet);
        }
        usleep(5000);
    }
    unsigned seen = 0;
    struct pollfd ready = {.fd = fd, .events = POLLIN};
    while (poll(&ready, 1, 500) == 1 && take(fd, back, 4) == 4) {
        size_t len = 4u + (size_t)(back[2] << 8 | back[3]);
        cr_assert_eq(back[1], 253);
        cr_assert_leq(len, sizeof back);
        cr_assert_eq(take(fd, back + 4, len - 4), len - 4);
        if (back[0] == 100) {
            cr_assert_eq(memcmp(back + 4, "\xfd\x03\x40\x01\x01\x50", 6), 0);
            cr_assert_eq(memcmp(back + len - sizeof packet, packet, sizeof packet), 0);
            seen++;
        }
    }
    unsigned marks = (unsigned)(counters().marked - before);
    cr_assert_leq(seen, marks);
    cr_assert(marks == 0 || seen > 0);
    close(fd);
    return marks;
}

Test(sock_inet, packets_are_marked_under_congestion_where_that_is_on)
{
    config.queue_max = 16 << 20;
    start();
    unsigned marks = marked_of(FACE_CONGESTION_MARKING);
    cr_assert(marks >= 5 && marks < 200, "%u", marks);
    cr_assert_eq(marked_of(0), 0);
}
