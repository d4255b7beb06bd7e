// SPDX-License-Identifier: Apache-2.0
/*
 * A QUIC client that uploads the pattern over one or many connections, changing its ports on the way, and checks the
 * server's answers. Prints a JSON line for each connection and one for all at the end; exits 0 when all went well. At
 * SIGTERM it begins no more connections, and ends with the last.
 */
#include <err.h>
#include <getopt.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test/quic/pattern.h"
#include "test/quic/tls.h"
#include "test/quic/transfer.h"

#define CONNECTIONS_MAX 256
#define SERVERS_MAX     32

static const char usage[] = "usage: quic_client [options] ADDRESS PORT\n"
                            "  -o N   octets of each upload (default 1048576)\n"
                            "  -n N   connections at a time (default 1)\n"
                            "  -f S   begin new ones for S seconds, in place of those that end (default: none)\n"
                            "  -g MS  between the beginnings of two connections (default 0)\n"
                            "  -r N   octets a second of each connection (default: no limit)\n"
                            "  -b N   port changes of each that its QUIC does not know of (default 0)\n"
                            "  -m N   port changes that are migrations (default 0)\n"
                            "  -d N   octets of the first destination connection ID (default 18)\n"
                            "  -s N   octets of the largest UDP payload (default 1452)\n"
                            "  -a A   own address\n"
                            "  -3     as a POST of HTTP/3, to a server of others\n"
                            "  -w     write the octets of the upload to standard output, and do nothing else\n"
                            "  -t S   time for each connection (default 60)\n";

struct client {
    struct transfer_options options;
    unsigned connections;
    uint64_t again_ns, gap_ns;
    uint64_t begun, ok, failed, resets, moves, octets;
    unsigned n_servers;
    struct {
        char name[40];
        uint64_t n;
    } server[SERVERS_MAX];
    struct transfer transfer[CONNECTIONS_MAX];
    struct pollfd fds[CONNECTIONS_MAX];
};

static volatile sig_atomic_t stop;

static void on_signal(int number)
{
    (void)number;
    stop = 1;
}

static void count(struct client *client, const struct transfer *t)
{
    double seconds = (double)(t->end_ns - t->begin_ns) / 1e9;
    unsigned s = 0;
    uint64_t sent = t->conn.sent < t->head_len ? 0 : t->conn.sent - t->head_len;
    printf("{\"result\": \"%s\", \"server\": \"%s\", \"octets\": %" PRIu64 ", \"seconds\": %.3f, \"moves\": %u}\n",
           t->state == TRANSFER_OK ? "ok" : t->why, t->server, sent, seconds, t->moves);
    fflush(stdout);
    client->resets += t->was_reset;
    client->moves += t->moves;
    if (t->state != TRANSFER_OK) {
        client->failed++;
        return;
    }
    client->ok++;
    client->octets += sent;
    while (s < client->n_servers && strcmp(client->server[s].name, t->server) != 0)
        s++;
    if (s == client->n_servers && s < SERVERS_MAX) {
        memcpy(client->server[s].name, t->server, sizeof(t->server));
        client->n_servers++;
    }
    if (s < SERVERS_MAX)
        client->server[s].n++;
}

static void print_summary(const struct client *client, double seconds)
{
    printf("{\"connections\": %" PRIu64 ", \"ok\": %" PRIu64 ", \"failed\": %" PRIu64 ", \"resets\": %" PRIu64
           ", \"moves\": %" PRIu64 ", \"octets\": %" PRIu64 ", \"seconds\": %.3f, \"servers\": {",
           client->begun, client->ok, client->failed, client->resets, client->moves, client->octets, seconds);
    for (unsigned s = 0; s < client->n_servers; s++)
        printf("%s\"%s\": %" PRIu64, s > 0 ? ", " : "", client->server[s].name, client->server[s].n);
    printf("}}\n");
}

static void begin(struct client *client, unsigned i, uint64_t now)
{
    client->begun++;
    transfer_begin(&client->transfer[i], &client->options, now);
}

/* @return false: all are done */
static bool turn(struct client *client, unsigned begun, uint64_t *due)
{
    bool runs = false;
    for (unsigned i = 0; i < begun; i++) {
        struct transfer *t = &client->transfer[i];
        if (t->options == NULL)
            continue;
        uint64_t now = udp_now(), next = transfer_work(t, (client->fds[i].revents & POLLIN) != 0, now);
        if (t->state != TRANSFER_RUNS) {
            count(client, t);
            transfer_close(t);
            t->options = NULL;
            if (now < client->again_ns && !stop) {
                begin(client, i, now);
                next = 0;
            }
        }
        runs = runs || t->options != NULL;
        if (next < *due)
            *due = next;
    }
    return runs;
}

static void run(struct client *client)
{
    uint64_t next_begin = udp_now();
    unsigned begun = 0;
    bool runs = true;
    while (runs) {
        uint64_t now = udp_now(), due = UINT64_MAX;
        while (begun < client->connections && next_begin <= now && !stop) {
            begin(client, begun++, now);
            next_begin += client->gap_ns;
        }
        runs = turn(client, begun, &due);
        if (begun < client->connections && !stop) {
            runs = true;
            due = next_begin < due ? next_begin : due;
        }
        now = udp_now();
        uint64_t wait = due > now ? due - now : 0;
        struct timespec timeout = {.tv_sec = wait >= 1000000000u, .tv_nsec = wait < 1000000000u ? (long)wait : 0};
        for (unsigned i = 0; i < begun; i++) {
            const struct transfer *t = &client->transfer[i];
            client->fds[i] = (struct pollfd){.fd = t->options != NULL ? t->conn.fd : -1, .events = POLLIN};
        }
        if (runs)
            ppoll(client->fds, begun, &timeout, NULL);
    }
}

static uint64_t number(const char *text, uint64_t min, uint64_t max)
{
    char *end;
    unsigned long long value = strtoull(text, &end, 0);
    if (*text == '\0' || *end != '\0' || value < min || value > max)
        errx(2, "\"%s\" is not in %" PRIu64 "..%" PRIu64, text, min, max);
    return value;
}

static int write_pattern(uint64_t octets)
{
    for (uint64_t at = 0; at < octets;) {
        size_t len = octets - at < 65536 ? (size_t)(octets - at) : 65536;
        const uint8_t *data = pattern_at(at, &len);
        if (fwrite(data, 1, len, stdout) != len)
            err(1, "standard output");
        at += len;
    }
    return fflush(stdout) == 0 ? 0 : 1;
}

int main(int argc, char **argv)
{
    static struct client client = {.connections = 1};
    struct transfer_options *o = &client.options;
    const char *local = NULL;
    bool only_write = false;
    uint64_t begin_ns = udp_now();
    int option;
    *o = (struct transfer_options){
        .octets = 1 << 20, .timeout_ns = 60 * NGTCP2_SECONDS, .dcid_len = 18, .version = NGTCP2_PROTO_VER_V1};
    while ((option = getopt(argc, argv, "o:n:f:g:r:b:m:d:s:a:t:3w")) != -1) {
        switch (option) {
        case 'o':
            o->octets = number(optarg, 0, UINT64_C(1) << 40);
            break;
        case 'n':
            client.connections = (unsigned)number(optarg, 1, CONNECTIONS_MAX);
            break;
        case 'f':
            client.again_ns = begin_ns + number(optarg, 0, 3600) * NGTCP2_SECONDS;
            break;
        case 'g':
            client.gap_ns = number(optarg, 0, 60000) * NGTCP2_MILLISECONDS;
            break;
        case 'r':
            o->rate = number(optarg, 1, UINT64_C(1) << 32);
            break;
        case 'b':
            o->rebinds = (unsigned)number(optarg, 0, 100);
            break;
        case 'm':
            o->migrations = (unsigned)number(optarg, 0, 100);
            break;
        case 'd':
            o->dcid_len = (unsigned)number(optarg, 8, 20);
            break;
        case 's':
            o->payload_max = (uint16_t)number(optarg, 1200, UDP_SIZE_MAX);
            break;
        case '3':
            o->h3 = true;
            break;
        case 'w':
            only_write = true;
            break;
        case 'a':
            local = optarg;
            break;
        case 't':
            o->timeout_ns = number(optarg, 1, 3600) * NGTCP2_SECONDS;
            break;
        default:
            fputs(usage, stderr);
            return 2;
        }
    }
    if (only_write)
        return write_pattern(o->octets);
    if (argc - optind != 2 ||
        !udp_addr_parse(&o->peer, argv[optind], (uint16_t)number(argv[optind + 1], 1, UINT16_MAX))) {
        fputs(usage, stderr);
        return 2;
    }
    if (local == NULL)
        local = o->peer.sa.ss_family == AF_INET6 ? "::" : "0.0.0.0";
    if (!udp_addr_parse(&o->local, local, 0) || o->local.sa.ss_family != o->peer.sa.ss_family)
        errx(2, "\"%s\" is no own address for this server", local);
    signal(SIGTERM, on_signal);
    signal(SIGINT, on_signal);
    tls_init(NULL, NULL);
    run(&client);
    print_summary(&client, (double)(udp_now() - begin_ns) / 1e9);
    return client.failed == 0 && client.ok > 0 ? 0 : 1;
}
