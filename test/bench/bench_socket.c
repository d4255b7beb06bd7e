// SPDX-License-Identifier: Apache-2.0
/*
 * Exchanges of two applications through a forwarder that runs: a producer registers a prefix on its socket, a consumer
 * keeps a window of Interests pending. Both are processes of their own that read and write many packets at once.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "fwd/client/link.h"
#include "fwd/client/manager.h"
#include "parser/ndn_encode.h"
#include "parser/ndn_packet.h"
#include "parser/ndn_tlv.h"

#define BUFFER (256 << 10)

static const char usage[] = "usage: bench_socket [OPTION...]\n"
                            "  -t, --transport URI  socket of the forwarder; default as for pitlane\n"
                            "  -w, --window N       Interests pending at once (256)\n"
                            "  -n, --seconds N      how long to measure (5)\n"
                            "  -s, --size OCTETS    Content of a Data packet (100)\n"
                            "      --json           one JSON document\n";

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static struct link *dial(const char *transport)
{
    struct link *link;
    char err[LINK_ERR] = "";
    const struct link_config config = {.transport = transport};
    if (link_open(&link, &config, false, err) != 0) {
        fprintf(stderr, "bench_socket: %s\n", err);
        exit(1);
    }
    return link;
}

/* The descriptor of a link, for blocking reads and writes of many packets. */
static int descriptor(const struct link *link)
{
    int fd = link_fd(link);
    const struct timeval patience = {.tv_sec = 2};
    fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK);
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    return fd;
}

static void register_prefix(struct link *link, const uint8_t *name, uint16_t len)
{
    struct manager *manager;
    struct manager_answer answer;
    char err[LINK_ERR] = "";
    const struct manager_config config = {0};
    const struct mgmt_params params = {.has = MGMT_HAS_NAME, .name = {name, len}};
    if (manager_attach(&manager, link, &config, err) != 0 ||
        manager_command(manager, "rib", "register", &params, &answer) != MANAGER_OK) {
        fprintf(stderr, "bench_socket: the prefix cannot be registered: %s\n", err[0] != '\0' ? err : answer.text);
        exit(1);
    }
    manager_close(manager);
}

static bool put_all(int fd, const uint8_t *p, size_t len)
{
    while (len > 0) {
        ssize_t n = send(fd, p, len, MSG_NOSIGNAL);
        if (n <= 0)
            return false;
        p += n;
        len -= (size_t)n;
    }
    return true;
}

/* Call @p take for each packet that comes, and write what it has added to the buffer. */
typedef size_t (*take_t)(void *ctx, const uint8_t *packet, size_t len, uint8_t *out, size_t size);

static void serve(int fd, take_t take, void *ctx, const volatile sig_atomic_t *end)
{
    static uint8_t in[BUFFER], out[BUFFER];
    size_t have = 0;
    while (!*end) {
        ssize_t n = recv(fd, in + have, sizeof in - have, 0);
        if (n <= 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return;
        have += (size_t)n;
        struct cursor c = cursor_make(in, have);
        struct tlv tlv;
        size_t added = 0;
        for (const uint8_t *p = in; tlv_read_outer(&c, true, &tlv) == VERDICT_OK; p = c.p) {
            added += take(ctx, p, (size_t)(c.p - p), out + added, sizeof out - added);
            if (sizeof out - added < 2 * NDN_PACKET_MAX) {
                if (!put_all(fd, out, added))
                    return;
                added = 0;
            }
        }
        have = cursor_left(&c);
        memmove(in, c.p, have);
        if (!put_all(fd, out, added))
            return;
    }
}

struct producer {
    uint16_t size;
    uint8_t content[NDN_PACKET_MAX];
};

static size_t answer_interest(void *ctx, const uint8_t *packet, size_t len, uint8_t *out, size_t size)
{
    const struct producer *producer = ctx;
    struct ndn_packet ndn;
    const struct ndn_parse_opts opts = {0};
    if (ndn_packet_parse(packet, len, &opts, &ndn) != VERDICT_OK || ndn.type != NDN_TYPE_INTEREST)
        return 0;
    uint8_t data[NDN_PACKET_MAX];
    const struct ndn_data_out form = {.name = ndn.name.value,
                                      .name_len = ndn.name.len,
                                      .freshness_ms = 1000,
                                      .content = producer->content,
                                      .content_len = producer->size};
    size_t data_len = ndn_data_encode(data, sizeof data, &form, NULL, NULL), header = 0;
    if (data_len == 0 || size < data_len + NDN_LP_HEADER_MAX)
        return 0;
    if (ndn.lp.token_len > 0) {
        const struct ndn_lp_out lp = {.token_len = ndn.lp.token_len, .token = ndn.lp.token};
        header = ndn_lp_prepend_size(data_len, &lp);
        ndn_lp_prepend(out + header, data_len, &lp);
    }
    memcpy(out + header, data, data_len);
    return header + data_len;
}

struct consumer {
    uint8_t name[64];
    uint16_t name_len;
    uint64_t sequence, received, odd;
};

static size_t put_interest(struct consumer *consumer, uint8_t *out, size_t size)
{
    uint64_t sequence = consumer->sequence++;
    memcpy(consumer->name + consumer->name_len - sizeof sequence, &sequence, sizeof sequence);
    const struct ndn_interest_out form = {.name = consumer->name,
                                          .name_len = consumer->name_len,
                                          .nonce = (uint32_t)(sequence * 2654435761u),
                                          .lifetime_ms = 4000};
    return ndn_interest_encode(out, size, &form);
}

static size_t take_data(void *ctx, const uint8_t *packet, size_t len, uint8_t *out, size_t size)
{
    struct consumer *consumer = ctx;
    if (packet[0] != NDN_TYPE_DATA) {
        struct ndn_packet ndn;
        const struct ndn_parse_opts opts = {0};
        if (ndn_packet_parse(packet, len, &opts, &ndn) != VERDICT_OK || ndn.type != NDN_TYPE_DATA) {
            consumer->odd++;
            return 0;
        }
    }
    consumer->received++;
    return put_interest(consumer, out, size);
}

static volatile sig_atomic_t ended;

static void on_alarm(int number)
{
    (void)number;
    ended = 1;
}

static double consume(const char *transport, struct consumer *consumer, unsigned window, unsigned seconds)
{
    static uint8_t burst[BUFFER];
    struct link *link = dial(transport);
    int fd = descriptor(link);
    const struct sigaction action = {.sa_handler = on_alarm};
    sigaction(SIGALRM, &action, NULL);
    size_t len = 0;
    for (unsigned i = 0; i < window && sizeof burst - len > 256; i++)
        len += put_interest(consumer, burst + len, sizeof burst - len);
    alarm(seconds);
    uint64_t begin = now_ns();
    if (put_all(fd, burst, len))
        serve(fd, take_data, consumer, &ended);
    double elapsed = (double)(now_ns() - begin) / 1e9;
    link_close(link);
    return elapsed;
}

static unsigned number(const char *text, unsigned max)
{
    unsigned long value = strtoul(text, NULL, 10);
    if (value == 0 || value > max) {
        fprintf(stderr, "bench_socket: '%s' is no number from 1 to %u\n", text, max);
        exit(2);
    }
    return (unsigned)value;
}

int main(int argc, char **argv)
{
    static const struct option options[] = {{"transport", required_argument, NULL, 't'},
                                            {"window", required_argument, NULL, 'w'},
                                            {"seconds", required_argument, NULL, 'n'},
                                            {"size", required_argument, NULL, 's'},
                                            {"json", no_argument, NULL, 'j'},
                                            {"help", no_argument, NULL, 'h'},
                                            {0}};
    static struct producer producer = {.size = 100};
    const char *transport = NULL;
    unsigned window = 256, seconds = 5;
    bool json = false;
    int option;
    while ((option = getopt_long(argc, argv, "t:w:n:s:h", options, NULL)) != -1) {
        switch (option) {
        case 't':
            transport = optarg;
            break;
        case 'w':
            window = number(optarg, 2000);
            break;
        case 'n':
            seconds = number(optarg, 3600);
            break;
        case 's':
            producer.size = (uint16_t)number(optarg, 8000);
            break;
        case 'j':
            json = true;
            break;
        default:
            fputs(usage, option == 'h' ? stdout : stderr);
            return option == 'h' ? 0 : 2;
        }
    }
    struct consumer consumer = {.name_len = 7 + 6 + 10};
    snprintf((char *)consumer.name, sizeof consumer.name,
             "\x08\x05"
             "bench\x08\x04%04x\x08\x08",
             (unsigned)getpid() & 0xffff);
    struct link *link = dial(transport);
    register_prefix(link, consumer.name, 7 + 6);
    pid_t child = fork();
    if (child == 0) {
        static const volatile sig_atomic_t never;
        for (;;)
            serve(descriptor(link), answer_interest, &producer, &never); /* silence is no end */
    }
    double elapsed = consume(transport, &consumer, window, seconds);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    double rate = (double)consumer.received / elapsed;
    if (json)
        printf("{\"bench\": \"socket\", \"cases\": [{\"name\": \"window %u, %u octets\", \"exchanges_per_s\": %.0f, "
               "\"ns_median\": %.1f, \"odd\": %" PRIu64 "}]}\n",
               window, producer.size, rate, 1e9 / rate, consumer.odd);
    else
        printf("%.0f exchanges/s (window %u, %u octets, %.1f s), %" PRIu64 " odd packets\n", rate, window,
               producer.size, elapsed, consumer.odd);
    return consumer.received > 0 ? 0 : 1;
}
