// SPDX-License-Identifier: Apache-2.0
#include "test/unit/ports/sock_support.h"

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

struct rte_mempool *pool;
struct port port;
struct sock *sock;
struct sock_config config;
char path[96], err[200];
struct heard heard;
static char folder[64];
static unsigned baseline;

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

const struct sock_listener listener = {on_accepted, on_connected, on_closed, on_updown, NULL};

uint64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

void sock_begin(void)
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

void start(void)
{
    cr_assert_eq(sock_start(&sock, &config, &listener, err), 0, "%s", err);
    cr_assert_eq(sock_run(sock, err), 0, "%s", err);
}

void sock_end(void)
{
    char command[128];
    sock_stop(sock);
    cr_assert_eq(access(path, F_OK), -1);
    port_close(&port);
    cr_assert_eq(rte_mempool_in_use_count(pool), baseline);
    snprintf(command, sizeof command, "rm -rf %s", folder);
    cr_assert_eq(system(command), 0);
}

/* Run the control thread's part until the counter has this value. */
void hear(const unsigned *counter, unsigned value)
{
    uint64_t until = now_ms() + 10000;
    while (*counter < value && now_ms() < until) {
        struct pollfd fd = {.fd = sock_fd(sock), .events = POLLIN};
        poll(&fd, 1, 100);
        sock_poll(sock);
    }
    cr_assert_eq(*counter, value);
}

int dial(void)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    cr_assert_eq(connect(fd, (struct sockaddr *)&address, sizeof address), 0, "%s", strerror(errno));
    return fd;
}

int dial_face(void)
{
    unsigned before = heard.accepted;
    int fd = dial();
    hear(&heard.accepted, before + 1);
    return fd;
}

/* The next frame for the worker. */
struct rte_mbuf *receive(void)
{
    struct rte_mbuf *mbuf = NULL;
    uint64_t until = now_ms() + 10000;
    while (port_rx_burst(&port, 0, &mbuf, 1) == 0 && now_ms() < until) {
        usleep(100);
    }
    cr_assert_not_null(mbuf);
    return mbuf;
}

void send_frame(uint32_t face, const void *p, size_t len)
{
    struct rte_mbuf *mbuf = rte_pktmbuf_alloc(pool);
    cr_assert_not_null(mbuf);
    memcpy(rte_pktmbuf_append(mbuf, (uint16_t)len), p, len);
    thread_port_set_face(mbuf, face);
    while (port_tx_burst(&port, 0, &mbuf, 1) == 0) {
        usleep(100);
    }
}

void put(int fd, const void *p, size_t len)
{
    cr_assert_eq(send(fd, p, len, MSG_NOSIGNAL), (ssize_t)len, "%s", strerror(errno));
}

/* Octets of the peer that come out of the socket, until there are @p len or it has been closed. */
size_t take(int fd, uint8_t *p, size_t len)
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

void expect_frame(uint32_t face, const void *p, size_t len)
{
    struct rte_mbuf *mbuf = receive();
    cr_assert_eq(thread_port_face(mbuf), face);
    cr_assert_eq(mbuf->pkt_len, len);
    cr_assert_eq(memcmp(rte_pktmbuf_mtod(mbuf, void *), p, len), 0);
    rte_pktmbuf_free(mbuf);
}

struct sock_counters counters(void)
{
    struct sock_counters now;
    sock_counters(sock, &now);
    return now;
}
