// SPDX-License-Identifier: Apache-2.0
#include "test/unit/ports/sock_support.h"

#include <rte_mbuf.h>

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/un.h>
#include <unistd.h>

TestSuite(sock_unix, .init = sock_begin, .fini = sock_end, .timeout = 60);

Test(sock_unix, peer_becomes_a_face_as_nfd_describes_it)
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

Test(sock_unix, elements_come_out_whole_at_every_split)
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
            expect_frame(heard.last, stream + starts[i], starts[i + 1] - starts[i]);
        }
    }
    close(fd);
}

Test(sock_unix, largest_packet_passes_in_both_directions)
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

Test(sock_unix, garbage_closes_the_connection_and_no_other)
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
    cr_assert_eq(counters().malformed, 3);
    close(other);
}

/* A peer that reads nothing: its queue is bounded, and another peer is served all the while. */
Test(sock_unix, stalled_reader_costs_only_itself)
{
    static uint8_t packet[1000] = {6, 253, 0x03, 0xe4}, back[1000];
    config.congestion_marking = false;
    start();
    int slow = dial_face(), fast;
    uint32_t slow_face = heard.last;
    fast = dial_face();
    for (unsigned i = 0; i < 3000; i++) {
        send_frame(slow_face, packet, sizeof packet);
        send_frame(heard.last, packet, sizeof packet);
        cr_assert_eq(take(fast, back, sizeof back), sizeof back);
        cr_assert_eq(memcmp(back, packet, sizeof back), 0);
    }
    uint64_t dropped = counters().queue_full;
    cr_assert_gt(dropped, 1000);
    /* What it gets when it reads at last are whole packets, none of them cut. */
    for (unsigned i = 0; i < 3000 - dropped; i++) {
        cr_assert_eq(take(slow, back, sizeof back), sizeof back);
        cr_assert_eq(memcmp(back, packet, sizeof back), 0);
    }
    send_frame(slow_face, "\x64\x00", 2);
    cr_assert_eq(take(slow, back, 2), 2);
    cr_assert_eq(memcmp(back, "\x64\x00", 2), 0);
    close(slow);
    close(fast);
}

Test(sock_unix, stalled_reader_is_closed_in_the_end)
{
    static uint8_t packet[8000] = {6, 253, 0x1f, 0x3c};
    config.stall_ms = 300;
    start();
    int fd = dial_face();
    for (unsigned i = 0; i < 300; i++) {
        send_frame(heard.last, packet, 2000);
    }
    hear(&heard.closed, 1);
    cr_assert_eq(counters().stalled, 1);
    close(fd);
}

Test(sock_unix, reader_that_is_slow_but_reads_stays)
{
    static uint8_t packet[2000] = {6, 253, 0x07, 0xcc}, back[2000];
    config.stall_ms = 400;
    config.congestion_marking = false;
    start();
    int fd = dial_face();
    for (unsigned i = 0; i < 200; i++) {
        send_frame(heard.last, packet, sizeof packet);
    }
    for (unsigned i = 0; i < 20; i++) {
        for (unsigned k = 0; k < 10; k++) {
            cr_assert_eq(take(fd, back, sizeof back), sizeof back);
        }
        usleep(100000);
    }
    sock_poll(sock);
    cr_assert_eq(heard.closed, 0);
    close(fd);
}

Test(sock_unix, element_that_never_ends_closes_the_connection)
{
    config.stall_ms = 300;
    start();
    int half = dial_face(), slow = dial_face(), idle = dial_face();
    uint64_t begin = now_ms();
    put(half, "\x05\x10\x07", 3);
    for (unsigned i = 0; heard.closed < 2 && i < 100; i++) {
        if (i == 0) {
            put(slow, "\x05\x60", 2);
        } else {
            send(slow, "x", 1, MSG_NOSIGNAL); /* one octet now and then is no progress */
        }
        usleep(50000);
        sock_poll(sock);
    }
    cr_assert_eq(heard.closed, 2);
    cr_assert_geq(now_ms() - begin, 300);
    cr_assert_eq(counters().stalled, 2);
    /* One that has nothing to say may be silent. */
    send_frame(heard.last, "\x64\x00", 2);
    uint8_t octet;
    cr_assert_eq(take(idle, &octet, 1), 1);
    close(half);
    close(slow);
    close(idle);
}

/* More than the worker's ring holds: the stream waits, and nothing is lost. */
Test(sock_unix, stream_waits_for_a_busy_worker)
{
    enum { N = 3 * THREAD_PORT_RING };
    static uint8_t octets[N][6];
    start();
    int fd = dial_face();
    for (unsigned i = 0; i < N; i++) {
        octets[i][0] = 5;
        octets[i][1] = 4;
        memcpy(&octets[i][2], &i, 4);
    }
    fcntl(fd, F_SETFL, O_NONBLOCK);
    size_t sent = 0;
    for (unsigned tries = 0; tries < 20 && sent < sizeof octets; tries++) {
        ssize_t n = send(fd, (uint8_t *)octets + sent, sizeof octets - sent, MSG_NOSIGNAL);
        sent += n > 0 ? (size_t)n : 0;
        usleep(10000); /* nobody receives */
    }
    cr_assert_eq(sent, sizeof octets);
    for (unsigned i = 0; i < N; i++) {
        expect_frame(heard.last, octets[i], 6);
    }
    cr_assert_eq(counters().ring_full, 0);
    cr_assert_eq(counters().no_mbuf, 0);
    close(fd);
}

Test(sock_unix, refused_peer_is_disconnected)
{
    uint8_t octet;
    start();
    heard.refuse = 1;
    int fd = dial_face();
    cr_assert_eq(read(fd, &octet, 1), 0);
    sock_poll(sock);
    cr_assert_eq(heard.closed, 0);
    cr_assert_eq(counters().refused, 1);
    close(fd);
}

Test(sock_unix, faces_are_limited_and_come_free_again)
{
    uint8_t octet;
    config.faces_max = 2;
    start();
    int a = dial_face(), b = dial_face(), c = dial();
    cr_assert_eq(read(c, &octet, 1), 0);
    close(a);
    hear(&heard.closed, 1);
    close(c);
    c = dial_face();
    close(b);
    close(c);
}

Test(sock_unix, face_that_management_destroys_is_disconnected)
{
    uint8_t octet;
    start();
    int fd = dial_face();
    sock_close(sock, heard.last);
    cr_assert_eq(read(fd, &octet, 1), 0);
    usleep(10000);
    sock_poll(sock);
    cr_assert_eq(heard.closed, 0);
    sock_close(sock, heard.last);
    sock_close(sock, 12345);
    send_frame(heard.last, "\x64\x00", 2);
    for (unsigned i = 0; i < 100 && counters().no_face == 0; i++) {
        usleep(10000);
    }
    cr_assert_eq(counters().no_face, 1);
    close(fd);
}

Test(sock_unix, socket_is_made_with_mode_group_and_folder)
{
    struct stat st;
    config.unix_mode = 0620;
    config.unix_group = "daemon";
    umask(077);
    start();
    cr_assert_eq(stat(path, &st), 0);
    cr_assert_eq(st.st_mode & 07777, 0620);
    cr_assert_eq(st.st_gid, getgrnam("daemon")->gr_gid);
    *strrchr(path, '/') = '\0';
    cr_assert_eq(stat(path, &st), 0);
    cr_assert_eq(st.st_mode & 07777, 0755);
    path[strlen(path)] = '/';
    sock_stop(sock);
    sock = NULL;
    *strrchr(path, '/') = '\0';
    cr_assert_eq(stat(path, &st), -1);
    *strrchr(path, '/') = '\0';
    cr_assert_eq(stat(path, &st), 0); /* that was there before */
    path[strlen(path)] = '/';
    path[strlen(path)] = '/';
}

static void make_folder(void)
{
    *strrchr(path, '/') = '\0';
    cr_assert_eq(mkdir(path, 0755), 0);
    path[strlen(path)] = '/';
}

static int bind_there(void)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    cr_assert_eq(bind(fd, (struct sockaddr *)&address, sizeof address), 0);
    return fd;
}

Test(sock_unix, stale_socket_is_replaced)
{
    make_folder();
    close(bind_there());
    start();
    close(dial_face());
}

Test(sock_unix, live_socket_and_other_files_are_left_alone)
{
    struct stat st;
    make_folder();
    int fd = bind_there();
    cr_assert_eq(listen(fd, 1), 0);
    cr_assert_eq(sock_start(&sock, &config, &listener, err), -EADDRINUSE);
    cr_assert_not_null(strstr(err, "another process listens on it"), "%s", err);
    cr_assert_eq(stat(path, &st), 0);
    close(fd);
    unlink(path);
    fd = open(path, O_CREAT | O_WRONLY, 0600);
    close(fd);
    cr_assert_eq(sock_start(&sock, &config, &listener, err), -EEXIST);
    cr_assert_eq(stat(path, &st), 0);
    unlink(path);
    config.unix_group = "no-such-group";
    cr_assert_eq(sock_start(&sock, &config, &listener, err), -ENOENT);
    cr_assert_eq(stat(path, &st), -1);
    config.unix_group = NULL;
    config.unix_users = (const char *const[]){"no-such-account", NULL};
    cr_assert_eq(sock_start(&sock, &config, &listener, err), -ENOENT);
    sock = NULL;
}

Test(sock_unix, accounts_that_are_not_listed_are_refused)
{
    uint8_t octet;
    config.unix_users = (const char *const[]){"nobody", NULL};
    config.unix_mode = 0666;
    start();
    int fd = dial(); /* as root */
    cr_assert_eq(read(fd, &octet, 1), 0);
    close(fd);
    char *slash = strchr(path + 1, '/');
    cr_assert_not_null(slash);
    slash = strchr(slash + 1, '/');
    *slash = '\0';
    cr_assert_eq(chmod(path, 0711), 0);
    *slash = '/';
    pid_t child = fork();
    if (child == 0) {
        setuid(getpwnam("nobody")->pw_uid);
        fd = dial();
        read(fd, &octet, 1);
        _exit(0);
    }
    hear(&heard.accepted, 1);
    sock_close(sock, heard.last);
    cr_assert_eq(waitpid(child, NULL, 0), child);
    cr_assert_eq(counters().refused, 1);
}

Test(sock_unix, thousand_applications_at_once)
{
    enum { N = 1000 };
    static int fd[N];
    uint8_t packet[4] = {5, 2}, back[4];
    config.faces_max = N;
    start();
    for (unsigned i = 0; i < N; i++) {
        fd[i] = dial();
    }
    hear(&heard.accepted, N);
    for (uint32_t i = 0; i < N; i++) {
        packet[2] = (uint8_t)(i >> 8);
        packet[3] = (uint8_t)i;
        send_frame(heard.last - i, packet, sizeof packet);
    }
    /* Each gets its own, and each is heard. */
    bool seen[N] = {false};
    for (unsigned i = 0; i < N; i++) {
        cr_assert_eq(take(fd[i], back, sizeof back), sizeof back);
        unsigned which = (unsigned)back[2] << 8 | back[3];
        cr_assert(which < N && !seen[which]);
        seen[which] = true;
        put(fd[i], back, sizeof back);
        expect_frame(heard.last - which, back, sizeof back);
    }
    for (unsigned i = 0; i < N; i++) {
        close(fd[i]);
    }
    hear(&heard.closed, N);
    cr_assert_eq(counters().closed, N);
}

Test(sock_unix, ten_thousand_connects_leave_nothing_behind)
{
    config.faces_max = 256;
    start();
    for (unsigned i = 0; i < 10000; i++) {
        int fd = dial();
        if (i % 3 == 0) {
            send(fd, "\x05", 1, MSG_NOSIGNAL); /* it may have been refused already */
        }
        close(fd);
        if (i % 16 == 0) {
            sock_poll(sock);
        }
    }
    for (unsigned i = 0; i < 200 && (heard.accepted != heard.closed || i == 0); i++) {
        usleep(10000);
        sock_poll(sock);
    }
    cr_assert_eq(heard.closed, heard.accepted);
    cr_assert_eq(counters().accepted + counters().refused, 10000);
    int fd = dial_face();
    send_frame(heard.last, "\x64\x00", 2);
    uint8_t octet;
    cr_assert_eq(take(fd, &octet, 1), 1);
    close(fd);
}

/* What an application sends right before it ends is not lost, even when it has not read all. */
Test(sock_unix, last_words_are_heard)
{
    static const uint8_t packet[] = {5, 2, 1, 2};
    start();
    for (unsigned i = 0; i < 50; i++) {
        int fd = dial_face();
        send_frame(heard.last, "\x64\x00", 2);
        struct pollfd unread = {.fd = fd, .events = POLLIN};
        cr_assert_eq(poll(&unread, 1, 5000), 1);
        put(fd, packet, sizeof packet);
        close(fd);
        expect_frame(heard.last, packet, sizeof packet);
        hear(&heard.closed, i + 1);
    }
}

Test(sock_unix, queue_is_written_at_the_end)
{
    static uint8_t packet[2000] = {6, 253, 0x07, 0xcc}, back[2000];
    config.congestion_marking = false;
    start();
    int fd = dial_face();
    for (unsigned i = 0; i < 20; i++) {
        send_frame(heard.last, packet, sizeof packet);
    }
    sock_stop(sock);
    sock = NULL;
    for (unsigned i = 0; i < 20; i++) {
        cr_assert_eq(take(fd, back, sizeof back), sizeof back);
    }
    cr_assert_eq(take(fd, back, 1), 0);
    close(fd);
}

Test(sock_unix, channel_is_listed)
{
    const char *const *uris;
    char wanted[128];
    start();
    snprintf(wanted, sizeof wanted, "unix://%s", path);
    cr_assert_eq(sock_channels(sock, &uris), 1);
    cr_assert_str_eq(uris[0], wanted);
    cr_assert_eq(sock_expires_ms(sock, 256), -1);
}

/* Without descriptors nothing spins or breaks; when there are some again, those that wait are served. */
Test(sock_unix, peers_wait_while_descriptors_are_short)
{
    struct rlimit limit;
    config.stall_ms = 400; /* and with it the period of the timer */
    start();
    int first = dial_face(), waiting = socket(AF_UNIX, SOCK_STREAM, 0);
    getrlimit(RLIMIT_NOFILE, &limit);
    rlim_t before = limit.rlim_cur;
    limit.rlim_cur = (rlim_t)first; /* all below are taken */
    setrlimit(RLIMIT_NOFILE, &limit);
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    cr_assert_eq(connect(waiting, (struct sockaddr *)&address, sizeof address), 0);
    usleep(300000);
    sock_poll(sock);
    cr_assert_eq(heard.accepted, 1);
    limit.rlim_cur = before;
    setrlimit(RLIMIT_NOFILE, &limit);
    hear(&heard.accepted, 2);
    put(waiting, "\x64\x00", 2);
    expect_frame(heard.last, "\x64\x00", 2);
    close(waiting);
    close(first);
}
