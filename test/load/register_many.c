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
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include <openssl/evp.h>

#include "parser/ndn_encode.h"
#include "parser/ndn_name.h"
#include "parser/ndn_tlv.h"

#define WINDOW      256
#define COMMAND_MAX 512
#define IN_MAX      (64u << 10)

static void fail(const char *what)
{
    fprintf(stderr, "register_many: %s: %s\n", what, strerror(errno));
    exit(1);
}

/* A buffer that is written from its start; too much is a bug of the caller. */
struct out {
    uint8_t octets[2048];
    size_t len;
};

static void put(struct out *out, const void *p, size_t len)
{
    if (len > sizeof out->octets - out->len) {
        fputs("register_many: the prefix is too long\n", stderr);
        exit(1);
    }
    memcpy(out->octets + out->len, p, len);
    out->len += len;
}

static void put_tlv(struct out *out, unsigned type, const void *value, size_t len)
{
    uint8_t number[18];
    size_t size = ndn_tlv_put_var(number, type);
    size += ndn_tlv_put_var(number + size, len);
    put(out, number, size);
    put(out, value, len);
}

static void digest(const struct out *in, uint8_t value[32])
{
    if (EVP_Digest(in->octets, in->len, value, NULL, EVP_sha256(), NULL) != 1)
        exit(1);
}

/* Signed command that registers a prefix. @return octets of it */
static size_t register_prefix(uint8_t *p, size_t size, const char *uri)
{
    uint8_t value[NDN_NAME_MAX], hash[32], number[8];
    int len = ndn_name_from_uri(uri, value, sizeof value);
    if (len < 0)
        exit(1);
    struct out name = {.len = 0}, params = {.len = 0}, control = {.len = 0};
    put_tlv(&params, 7, value, (size_t)len);
    put_tlv(&control, 104, params.octets, params.len);
    static const char *const words[] = {"localhost", "nfd", "rib", "register"};
    for (unsigned i = 0; i < 4; i++)
        put_tlv(&name, NDN_GENERIC, words[i], strlen(words[i]));
    put_tlv(&name, NDN_GENERIC, control.octets, control.len);

    // InterestSignatureInfo: DigestSha256, SignatureNonce, SignatureTime.
    struct out info = {.len = 0}, signed_part = name, tail = {.len = 0}, all = {.len = 0}, body = {.len = 0};
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    uint64_t ms = (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
    put_tlv(&info, 27, "", 1);
    if (getrandom(number, sizeof number, 0) != (ssize_t)sizeof number)
        exit(1);
    put_tlv(&info, 38, number, sizeof number);
    put_tlv(&info, 40, number, ndn_tlv_put_nni(number, ms));
    put_tlv(&tail, 36, NULL, 0);
    put_tlv(&tail, 44, info.octets, info.len);
    put(&signed_part, tail.octets, tail.len);
    digest(&signed_part, hash);
    put_tlv(&tail, 46, hash, sizeof hash);

    digest(&tail, hash);
    put_tlv(&name, NDN_PARAMS_DIGEST, hash, sizeof hash);
    put_tlv(&body, 7, name.octets, name.len);
    put_tlv(&body, 10, number, 4);
    put(&body, tail.octets, tail.len);
    put_tlv(&all, 5, body.octets, body.len);
    if (all.len > size)
        exit(1);
    memcpy(p, all.octets, all.len);
    return all.len;
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

/* Count whole elements at the front of the buffer, and those of them that say 200. @return octets of them */
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
