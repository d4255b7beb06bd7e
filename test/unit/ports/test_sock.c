// SPDX-License-Identifier: Apache-2.0
#include "ports/sock/sock.h"

#include <rte_eal.h>
#include <rte_mbuf.h>

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "ports/thread_port.h"

/* The tests are both the control thread and the only worker. */
static struct rte_mempool *pool;
static struct port port;
static struct sock *sock;
static struct sock_config config;
static char folder[64], path[96], err[200];
static unsigned baseline;

static struct heard {
    uint32_t next, last, refuse;
    unsigned accepted, closed, connected, up, down;
    uint32_t closed_face;
    int rc;
    struct face_config config;
    char local_uri[FACE_URI_MAX], remote_uri[FACE_URI_MAX];
} heard;

static uint32_t on_accepted(void *ctx, const struct face_config *face)
{
    (void)ctx;
    heard.accepted++;
    heard.config = *face;
    snprintf(heard.local_uri, sizeof heard.local_uri, "%s", face->local_uri);
    snprintf(heard.remote_uri, sizeof heard.remote_uri, "%s", face->remote_uri);
    if (heard.refuse > 0) {
        heard.refuse--;
        return 0;
    }
    return heard.last = heard.next++;
}

static uint32_t on_connected(void *ctx, uint64_t ticket, int rc, const struct face_config *face)
{
    (void)ticket;
    heard.connected++;
    heard.rc = rc;
    if (rc != 0) {
        return 0;
    }
    heard.accepted--;
    return on_accepted(ctx, face);
}

static void on_closed(void *ctx, uint32_t face)
{
    (void)ctx;
    heard.closed++;
    heard.closed_face = face;
}

static void on_updown(void *ctx, uint32_t face, bool up)
{
    (void)ctx;
    (void)face;
    if (up) {
        heard.up++;
    } else {
        heard.down++;
    }
}

static const struct sock_listener listener = {on_accepted, on_connected, on_closed, on_updown, NULL};

static uint64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static void start_eal(void)
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
    pool = rte_pktmbuf_pool_create("pool", 8191, 64, 0, 2176, SOCKET_ID_ANY);
    cr_assert_not_null(pool);
    cr_assert_eq(port_open_thread(&port, 3, "sock", 1, err), 0, "%s", err);
    strcpy(folder, "/tmp/pitlane-sock-XXXXXX");
    cr_assert_not_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/nfd/nfd.sock", folder);
    heard.next = FACE_ID_FIRST;
    config = (struct sock_config){.port = &port,
                                  .pool = pool,
                                  .unix_path = path,
                                  .unix_mode = 0660,
                                  .faces_max = 64,
                                  .queue_max = 262144,
                                  .stall_ms = 10000,
                                  .congestion_marking = true};
    baseline = rte_mempool_in_use_count(pool);
}

static void start(void)
{
    cr_assert_eq(sock_start(&sock, &config, &listener, err), 0, "%s", err);
}

static void end(void)
{
    char command[128];
    sock_stop(sock);
    cr_assert_eq(access(path, F_OK), -1);
    port_close(&port);
    cr_assert_eq(rte_mempool_in_use_count(pool), baseline);
    snprintf(command, sizeof command, "rm -rf %s", folder);
    cr_assert_eq(system(command), 0);
}

TestSuite(sock, .init = start_eal, .fini = end, .timeout = 60);

/* Run the control thread's part until the counter has this value. */
static void hear(const unsigned *counter, unsigned value)
{
    uint64_t until = now_ms() + 10000;
    while (*counter < value && now_ms() < until) {
        struct pollfd fd = {.fd = sock_fd(sock), .events = POLLIN};
        poll(&fd, 1, 100);
        sock_poll(sock);
    }
    cr_assert_eq(*counter, value);
}

static int dial(void)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    cr_assert_eq(connect(fd, (struct sockaddr *)&address, sizeof address), 0, "%s", strerror(errno));
    return fd;
}

static int dial_face(void)
{
    unsigned before = heard.accepted;
    int fd = dial();
    hear(&heard.accepted, before + 1);
    return fd;
}

/* The next frame for the worker. */
static struct rte_mbuf *receive(void)
{
    struct rte_mbuf *mbuf = NULL;
    uint64_t until = now_ms() + 10000;
    while (port_rx_burst(&port, 0, &mbuf, 1) == 0 && now_ms() < until) {
        usleep(100);
    }
    cr_assert_not_null(mbuf);
    return mbuf;
}

static void send_frame(uint32_t face, const void *p, size_t len)
{
    struct rte_mbuf *mbuf = rte_pktmbuf_alloc(pool);
    cr_assert_not_null(mbuf);
    memcpy(rte_pktmbuf_append(mbuf, (uint16_t)len), p, len);
    thread_port_set_face(mbuf, face);
    while (port_tx_burst(&port, 0, &mbuf, 1) == 0) {
        usleep(100);
    }
}

static void put(int fd, const void *p, size_t len)
{
    cr_assert_eq(send(fd, p, len, MSG_NOSIGNAL), (ssize_t)len, "%s", strerror(errno));
}

/* Octets of the peer that come out of the socket, until there are @p len or it has been closed. */
static size_t take(int fd, uint8_t *p, size_t len)
{
    size_t have = 0;
    while (have < len) {
        ssize_t n = read(fd, p + have, len - have);
        if (n <= 0) {
            break;
        }
        have += (size_t)n;
    }
    return have;
}

Test(sock, peer_becomes_a_face_as_nfd_describes_it)
{
    start();
    int fd = dial_face();
    char local[160];
    snprintf(local, sizeof local, "unix://%s", path);
    cr_expect_str_eq(heard.local_uri, local);
    cr_expect_eq(strncmp(heard.remote_uri, "fd://", 5), 0, "%s", heard.remote_uri);
    cr_expect_eq(heard.config.kind, FACE_THREAD);
    cr_expect_eq(heard.config.port, 3);
    cr_expect_eq(heard.config.scope, FACE_SCOPE_LOCAL);
    cr_expect_eq(heard.config.persistency, FACE_ON_DEMAND);
    cr_expect_eq(heard.config.link_type, FACE_LINK_P2P);
    cr_expect_eq(heard.config.flags, FACE_CONGESTION_MARKING);
    close(fd);
    hear(&heard.closed, 1);
    cr_expect_eq(heard.closed_face, heard.last);
}

Test(sock, elements_come_out_whole_at_every_split)
{
    static const uint8_t stream[] = {5, 3, 1, 2, 3, 100, 0, 6, 253, 0, 4, 9, 8, 7, 6};
    static const size_t starts[] = {0, 5, 7, 15};
    start();
    int fd = dial_face();
    for (size_t split = 1; split < sizeof stream; split++) {
        put(fd, stream, split);
        usleep(1000);
        put(fd, stream + split, sizeof stream - split);
        for (unsigned i = 0; i < 3; i++) {
            struct rte_mbuf *mbuf = receive();
            cr_assert_eq(thread_port_face(mbuf), heard.last);
            cr_assert_eq(mbuf->pkt_len, starts[i + 1] - starts[i]);
            cr_assert_eq(memcmp(rte_pktmbuf_mtod(mbuf, void *), stream + starts[i], mbuf->pkt_len), 0);
            rte_pktmbuf_free(mbuf);
        }
    }
    close(fd);
}

Test(sock, largest_packet_passes_in_both_directions)
{
    static uint8_t packet[8800] = {6, 253, 0x22, 0x5c}, back[8800];
    for (size_t i = 4; i < sizeof packet; i++) {
        packet[i] = (uint8_t)(i * 7);
    }
    start();
    int fd = dial_face();
    for (unsigned i = 0; i < 3; i++) {
        put(fd, packet, sizeof packet);
        struct rte_mbuf *mbuf = receive();
        cr_assert_eq(mbuf->pkt_len, sizeof packet);
        cr_assert_gt(mbuf->nb_segs, 1);
        cr_assert_eq(port_tx_burst(&port, 0, &mbuf, 1), 1);
        memset(back, 0, sizeof back);
        cr_assert_eq(take(fd, back, sizeof back), sizeof back);
        cr_assert_eq(memcmp(back, packet, sizeof back), 0);
    }
    close(fd);
}

Test(sock, garbage_closes_the_connection_and_no_other)
{
    static const uint8_t bad[][6] = {{0, 1, 2}, {6, 253, 0x22, 0x5d}, {6, 254, 255, 255, 255, 255}};
    uint8_t octet;
    start();
    int other = dial_face();
    uint32_t other_face = heard.last;
    for (unsigned i = 0; i < 3; i++) {
        int fd = dial_face();
        uint32_t face = heard.last;
        put(fd, bad[i], sizeof bad[i]);
        hear(&heard.closed, i + 1);
        cr_assert_eq(heard.closed_face, face);
        cr_assert_eq(read(fd, &octet, 1), 0);
        close(fd);
    }
    send_frame(other_face, "\x64\x00", 2);
    cr_assert_eq(take(other, &octet, 1), 1);
    struct sock_counters counters;
    sock_counters(sock, &counters);
    cr_assert_eq(counters.malformed, 3);
    close(other);
}
