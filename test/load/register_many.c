// SPDX-License-Identifier: Apache-2.0
/*
 * An application with many prefixes: registers them all through one connection to the local socket, a window of
 * commands outstanding, and says how long that took. Stays connected until its standard input ends.
 */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "parser/ndn_tlv.h"
#include "test/load/register.h"

#define WINDOW      256
#define COMMAND_MAX 512
#define IN_MAX      (64u << 10)

static void fail(const char *what)
{
    fprintf(stderr, "register_many: %s: %s\n", what, strerror(errno));
    exit(1);
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static int connect_to(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof address) != 0)
        fail(path);
    return fd;
}

static void send_all(int fd, const uint8_t *p, size_t len)
{
    while (len > 0) {
        ssize_t n = send(fd, p, len, MSG_NOSIGNAL);
        if (n <= 0)
            fail("send");
        p += n;
        len -= (size_t)n;
    }
}

/** Count whole elements at the front of the buffer, and those of them that say 200. @return octets of them */
static size_t count_answers(const uint8_t *in, size_t len, unsigned *n_answers, unsigned *n_good)
{
    static const uint8_t good[] = {0x66, 1, 200};
    struct cursor c = cursor_make(in, len);
    struct tlv answer;
    size_t done = 0;
    while (cursor_left(&c) > 0 && tlv_read_outer(&c, false, &answer) == VERDICT_OK) {
        ++*n_answers;
        *n_good += memmem(answer.value, answer.len, good, sizeof good) != NULL;
        done = len - cursor_left(&c);
    }
    return done;
}

int main(int argc, char **argv)
{
    if (argc != 4) {
        fprintf(stderr, "usage: register_many SOCKET PREFIX COUNT\n");
        return 2;
    }
    unsigned n = (unsigned)strtoul(argv[3], NULL, 10), n_sent = 0, n_answers = 0, n_good = 0;
    static uint8_t in[IN_MAX], batch[WINDOW * COMMAND_MAX];
    size_t in_len = 0;
    int fd = connect_to(argv[1]);
    double from = seconds();
    while (n_answers < n) {
        size_t batch_len = 0;
        for (; n_sent < n && n_sent - n_answers < WINDOW; n_sent++) {
            char uri[256];
            snprintf(uri, sizeof uri, "%s/%u", argv[2], n_sent);
            batch_len += register_prefix(batch + batch_len, COMMAND_MAX, uri);
        }
        send_all(fd, batch, batch_len);
        struct pollfd pollfd = {.fd = fd, .events = POLLIN};
        if (poll(&pollfd, 1, 10000) != 1) {
            fprintf(stderr, "register_many: %u of %u are answered, and no more come\n", n_answers, n);
            return 1;
        }
        ssize_t got = recv(fd, in + in_len, sizeof in - in_len, 0);
        if (got <= 0)
            fail("recv");
        in_len += (size_t)got;
        size_t done = count_answers(in, in_len, &n_answers, &n_good);
        memmove(in, in + done, in_len -= done);
    }
    printf("%u registered, %u of them well, in %.3f s\n", n_answers, n_good, seconds() - from);
    fflush(stdout);
    char octet;
    while (read(STDIN_FILENO, &octet, 1) > 0)
        ;
    return n_good == n ? 0 : 1;
}
