// SPDX-License-Identifier: Apache-2.0
/*
 * A QUIC server behind a forwarder: takes uploads of the pattern, says at each one's end who it is and what it got,
 * and answers short headers that it does not know with a Stateless Reset, which shows datagrams on a wrong way. Prints
 * "ready" when it listens; its counters as one JSON line at SIGUSR1, and at SIGTERM, which ends it.
 */
#include <err.h>
#include <getopt.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "test/quic/server_conns.h"
#include "test/quic/server_retry.h"
#include "test/quic/tls.h"
#include "test/quic/udp.h"

#define LISTEN_MAX 4

static const char usage[] = "usage: quic_server -p PORT -k KEY.pem -c CERT.pem [options] ADDRESS...\n"
                            "  -i HEX    server ID\n"
                            "  -n N      octets of the nonce, or of what follows the server ID (default 6)\n"
                            "  -l N      QUIC-LB connection IDs of configuration N (0..6)\n"
                            "  -e HEX    key of the configuration: encrypted connection IDs\n"
                            "  -r        random low bits in the first octet, instead of the length\n"
                            "  -f HEX    private layout: this first octet, the server ID, random octets\n"
                            "  -u        connection IDs that say that they cannot be routed\n"
                            "  -t FILE   keys of Retry tokens that a forwarder makes\n"
                            "Without -l, -f or -u connection IDs are random.\n";

static volatile sig_atomic_t stop, tell;

static void on_signal(int number)
{
    if (number == SIGUSR1)
        tell = 1;
    else
        stop = 1;
}

static void print_counters(const struct server *server)
{
    printf("{\"server\": \"%s\"", server->id_text);
#define COUNTER(name) printf(", \"" #name "\": %" PRIu64, server->count.name);
    SERVER_COUNTERS(COUNTER)
#undef COUNTER
    printf("}\n");
    fflush(stdout);
}

static void serve(struct server *server, const struct pollfd *listen, const struct udp_addr *local, unsigned n)
{
    static struct udp_batch batch;
    struct pollfd fds[LISTEN_MAX];
    sigset_t blocked, open;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGUSR1);
    sigaddset(&blocked, SIGTERM);
    sigaddset(&blocked, SIGINT);
    sigprocmask(SIG_BLOCK, &blocked, &open);
    while (!stop) {
        uint64_t now = udp_now(), due = server_work(server, now), wait = due > now ? due - now : 0;
        struct timespec timeout = {.tv_sec = 1};
        if (wait < 1000000000u)
            timeout = (struct timespec){.tv_nsec = (long)wait};
        memcpy(fds, listen, sizeof(fds));
        ppoll(fds, n, &timeout, &open);
        if (tell) {
            tell = 0;
            print_counters(server);
        }
        now = udp_now();
        for (unsigned i = 0; i < n; i++) {
            udp_receive(fds[i].fd, &batch);
            for (unsigned k = 0; k < batch.n; k++)
                server_input(server, fds[i].fd, &local[i], &batch.peer[k], batch.data[k], batch.len[k], now);
        }
    }
}

static uint8_t *octets_of(const char *text, uint8_t *octets, size_t max, uint8_t *len)
{
    int n = cid_maker_hex(text, octets, max);
    if (n <= 0)
        errx(2, "\"%s\" is not 1 to %zu octets", text, max);
    if (len != NULL)
        *len = (uint8_t)n;
    return octets;
}

int main(int argc, char **argv)
{
    static struct server server;
    struct cid_maker *maker = &server.maker;
    struct pollfd fds[LISTEN_MAX] = {{0}};
    struct udp_addr local[LISTEN_MAX];
    struct sigaction action = {.sa_handler = on_signal};
    const char *key = NULL, *cert = NULL;
    unsigned port = 0, n = 0;
    int option;
    maker->nonce_len = 6;
    while ((option = getopt(argc, argv, "p:k:c:i:n:l:e:rf:ut:")) != -1) {
        switch (option) {
        case 'p':
            port = (unsigned)strtoul(optarg, NULL, 10);
            break;
        case 'k':
            key = optarg;
            break;
        case 'c':
            cert = optarg;
            break;
        case 'i':
            octets_of(optarg, maker->id.octets, QUIC_LB_SERVER_ID_MAX, &maker->id.len);
            break;
        case 'n':
            maker->nonce_len = (uint8_t)strtoul(optarg, NULL, 10);
            break;
        case 'l':
            maker->form = CID_LB;
            maker->config = (uint8_t)strtoul(optarg, NULL, 10);
            break;
        case 'e':
            maker->encrypted = true;
            octets_of(optarg, maker->key, sizeof(maker->key), NULL);
            break;
        case 'r':
            maker->hide_length = true;
            break;
        case 'f':
            maker->form = CID_PRIVATE;
            octets_of(optarg, &maker->first, 1, NULL);
            break;
        case 'u':
            maker->form = CID_UNROUTABLE;
            break;
        case 't':
            server_retry_init(optarg);
            server.checks_tokens = true;
            break;
        default:
            fputs(usage, stderr);
            return 2;
        }
    }
    if (key == NULL || cert == NULL || port == 0 || port > UINT16_MAX || optind == argc || argc - optind > LISTEN_MAX ||
        maker->id.len == 0) {
        fputs(usage, stderr);
        return 2;
    }
    for (unsigned i = 0; i < maker->id.len; i++)
        sprintf(server.id_text + 2 * (size_t)i, "%02x", maker->id.octets[i]);
    if (!cid_maker_init(maker))
        errx(2, "no connection IDs of such lengths");
    tls_init(key, cert);
    for (; optind < argc; optind++, n++) {
        if (!udp_addr_parse(&local[n], argv[optind], (uint16_t)port))
            errx(2, "\"%s\" is no address", argv[optind]);
        fds[n] = (struct pollfd){.fd = udp_open(&local[n]), .events = POLLIN};
    }
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGUSR1, &action, NULL);
    puts("ready");
    fflush(stdout);
    serve(&server, fds, local, n);
    print_counters(&server);
    server_close(&server);
    return 0;
}
