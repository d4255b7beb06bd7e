// SPDX-License-Identifier: Apache-2.0
#include "test/unit/ports/sock_support.h"

#include <rte_mbuf.h>

#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static const uint8_t interest[] = {5, 2, 1, 2}, data[] = {6, 3, 1, 2, 3};

static void ws_begin(void)
{
    sock_begin();
    config.unix_path = NULL;
    config.ws_listen = config.ws_v4 = true;
}

TestSuite(sock_ws, .init = ws_begin, .fini = sock_end, .timeout = 60);

static int dial_tcp(void)
{
    const char *const *uris;
    cr_assert_eq(sock_channels(sock, &uris), 1);
    cr_assert_eq(strncmp(uris[0], "ws://0.0.0.0:", 13), 0, "%s", uris[0]);
    struct sockaddr_in to = {.sin_family = AF_INET,
                             .sin_port = htons((uint16_t)atoi(uris[0] + 13)),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    const struct timeval patience = {.tv_sec = 10};
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    cr_assert_eq(connect(fd, (struct sockaddr *)&to, sizeof to), 0);
    return fd;
}

/* A client's handshake (RFC 6455, section 4.1), with @p more header lines. */
static int dial_ws(const char *more)
{
    char text[1024] = "";
    int fd = dial_tcp(), len = snprintf(text, sizeof text,
                                        "GET / HTTP/1.1\r\nHost: 127.0.0.1:9696\r\nUpgrade: websocket\r\n"
                                        "Connection: Upgrade\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
                                        "Sec-WebSocket-Version: 13\r\n%s\r\n",
                                        more);
    put(fd, text, (size_t)len);
    size_t have = 0;
    memset(text, 0, sizeof text);
    while (strstr(text, "\r\n\r\n") == NULL) {
        cr_assert(have < sizeof text - 1 && read(fd, text + have, 1) == 1, "%s", text);
        have++;
    }
    cr_assert_not_null(strstr(text, " 101 "), "%s", text);
    cr_assert_not_null(strstr(text, "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="), "%s", text);
    return fd;
}

/* A masked frame (RFC 6455, section 5.2). @param first FIN and opcode */
static void put_frame(int fd, uint8_t first, const uint8_t *p, size_t len)
{
    static const uint8_t mask[4] = {1, 2, 3, 4};
    static uint8_t frame[20000];
    size_t n = 0;
    frame[n++] = first;
    if (len < 126) {
        frame[n++] = (uint8_t)(0x80 | len);
    } else {
        frame[n++] = 0x80 | 126;
        frame[n++] = (uint8_t)(len >> 8);
        frame[n++] = (uint8_t)len;
    }
    memcpy(frame + n, mask, 4);
    n += 4;
    for (size_t i = 0; i < len; i++) {
        frame[n++] = p[i] ^ mask[i % 4];
    }
    put(fd, frame, n);
}

/* A whole binary message. @return its length */
static size_t take_frame(int fd, uint8_t *p, size_t size)
{
    uint8_t head[4];
    cr_assert_eq(take(fd, head, 2), 2);
    cr_assert_eq(head[0], 0x82);
    size_t len = head[1];
    if (len == 126) {
        cr_assert_eq(take(fd, head + 2, 2), 2);
        len = (size_t)head[2] << 8 | head[3];
    }
    cr_assert_leq(len, size);
    cr_assert_eq(take(fd, p, len), len);
    return len;
}

Test(sock_ws, message_is_a_packet_in_both_directions)
{
    static uint8_t big[8800] = {6, 253, 0x22, 0x5c}, back[9000];
    start();
    int fd = dial_ws("");
    hear(&heard.accepted, 1);
    struct sockaddr_in own;
    socklen_t len = sizeof own;
    char uri[64];
    getsockname(fd, (struct sockaddr *)&own, &len);
    snprintf(uri, sizeof uri, "wsclient://127.0.0.1:%u", ntohs(own.sin_port));
    cr_assert_str_eq(heard.remote_uri, uri);
    cr_assert_eq(strncmp(heard.local_uri, "ws://127.0.0.1:", 15), 0, "%s", heard.local_uri);
    cr_assert_eq(heard.config.scope, FACE_SCOPE_LOCAL);
    cr_assert_eq(heard.config.persistency, FACE_ON_DEMAND);
    put_frame(fd, 0x82, interest, sizeof interest);
    expect_frame(heard.last, interest, sizeof interest);
    put_frame(fd, 0x82, big, sizeof big);
    struct rte_mbuf *mbuf = receive();
    cr_assert_eq(mbuf->pkt_len, sizeof big);
    cr_assert_eq(port_tx_burst(&port, 0, &mbuf, 1), 1);
    cr_assert_eq(take_frame(fd, back, sizeof back), sizeof big);
    cr_assert_eq(memcmp(back, big, sizeof big), 0);
    for (unsigned i = 0; i < 100; i++) {
        send_frame(heard.last, data, sizeof data);
    }
    for (unsigned i = 0; i < 100; i++) {
        cr_assert_eq(take_frame(fd, back, sizeof back), sizeof data);
        cr_assert_eq(memcmp(back, data, sizeof data), 0);
    }
    close(fd);
    hear(&heard.closed, 1);
}

Test(sock_ws, message_in_fragments_is_put_together)
{
    start();
    int fd = dial_ws("");
    hear(&heard.accepted, 1);
    put_frame(fd, 0x02, interest, 1);
    put_frame(fd, 0x89, (const uint8_t *)"ping", 4);
    put_frame(fd, 0x80, interest + 1, sizeof interest - 1);
    expect_frame(heard.last, interest, sizeof interest);
    uint8_t pong[6];
    cr_assert_eq(take(fd, pong, sizeof pong), sizeof pong);
    cr_assert_eq(memcmp(pong, "\x8a\x04ping", 6), 0);
    close(fd);
}

Test(sock_ws, page_of_the_web_is_not_local)
{
    start();
    int fd = dial_ws("Origin: https://example.net\r\n");
    hear(&heard.accepted, 1);
    cr_assert_eq(heard.config.scope, FACE_SCOPE_NON_LOCAL);
    close(fd);
}

Test(sock_ws, what_is_no_packet_is_dropped_or_ends_the_connection)
{
    static uint8_t big[9000] = {6, 253, 0x23, 0x24};
    static const uint8_t two[] = {5, 1, 1, 5, 1, 1};
    uint8_t octets[64];
    start();
    int fd = dial_ws("");
    hear(&heard.accepted, 1);
    put_frame(fd, 0x82, two, sizeof two);
    put_frame(fd, 0x82, two, 2);
    put_frame(fd, 0x82, interest, sizeof interest);
    expect_frame(heard.last, interest, sizeof interest);
    cr_assert_eq(counters().datagrams, 2);
    put_frame(fd, 0x82, big, sizeof big);
    hear(&heard.closed, 1);
    close(fd);
    fd = dial_ws("");
    hear(&heard.accepted, 2);
    put_frame(fd, 0x81, (const uint8_t *)"text", 4);
    hear(&heard.closed, 2);
    cr_assert_eq(counters().malformed, 2);
    close(fd);
    fd = dial_tcp(); /* what is no handshake makes no face */
    put(fd, "\x05\x02\x01\x02\r\n\r\n", 8);
    take(fd, octets, sizeof octets);
    close(fd);
    sock_poll(sock);
    cr_assert_eq(heard.accepted, 2);
}

Test(sock_ws, refused_and_destroyed_faces_are_disconnected)
{
    uint8_t octets[64];
    start();
    heard.refuse = 1;
    int fd = dial_ws("");
    hear(&heard.accepted, 1);
    while (take(fd, octets, 1) == 1) {
    }
    close(fd);
    fd = dial_ws("");
    hear(&heard.accepted, 2);
    sock_close(sock, heard.last);
    while (take(fd, octets, 1) == 1) {
    }
    close(fd);
    sock_poll(sock);
    cr_assert_eq(heard.closed, 0);
}

Test(sock_ws, peer_that_does_not_read_costs_only_itself)
{
    static uint8_t packet[8000] = {6, 253, 0x1f, 0x3c}, back[8800];
    config.stall_ms = 2000;
    start();
    int slow = dial_ws(""), fast;
    hear(&heard.accepted, 1);
    uint32_t slow_face = heard.last;
    fast = dial_ws("");
    hear(&heard.accepted, 2);
    for (unsigned i = 0; i < 1500; i++) {
        send_frame(slow_face, packet, 2000);
        if (i % 10 == 0) {
            send_frame(heard.last, data, sizeof data);
            cr_assert_eq(take_frame(fast, back, sizeof back), sizeof data);
        }
    }
    close(slow);
    close(fast);
}

Test(sock_ws, connections_are_limited_and_stop_ends_them)
{
    uint8_t octet;
    config.faces_max = 3;
    start();
    int fd[8];
    for (unsigned i = 0; i < 3; i++) {
        fd[i] = dial_ws("");
    }
    hear(&heard.accepted, 3);
    for (unsigned i = 3; i < 8; i++) {
        fd[i] = dial_tcp();
    }
    cr_assert_leq(read(fd[7], &octet, 1), 0);
    cr_assert_geq(counters().refused, 4);
    for (unsigned i = 3; i < 8; i++) {
        close(fd[i]);
    }
}
