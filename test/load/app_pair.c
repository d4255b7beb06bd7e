// SPDX-License-Identifier: Apache-2.0
/*
 * Two applications on the local socket: a producer that registers a prefix and answers, and a consumer that keeps a
 * window of Interests outstanding. Reports exchanges a second.
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "parser/ndn_encode.h"
#include "parser/ndn_packet.h"
#include "test/load/register.h"

#define BUFFER     (256u << 10)
#define WINDOW_MAX 4096u

struct options {
    const char *socket;
    unsigned seconds, window, payload;
    bool json;
};

/* A stream socket with what was read and not looked at yet, and what is to be written. */
struct stream {
    int fd;
    uint8_t *in, *out;
    size_t in_len, out_len;
};

struct producer {
    const struct options *options;
    struct stream stream;
    uint64_t answered;
    _Atomic bool ready;
};

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void fail(const char *what)
{
    fprintf(stderr, "app_pair: %s: %s\n", what, strerror(errno));
    exit(1);
}

static void stream_open(struct stream *stream, const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    stream->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (stream->fd < 0 || connect(stream->fd, (struct sockaddr *)&address, sizeof address) != 0)
        fail(path);
    stream->in = malloc(BUFFER);
    stream->out = malloc(BUFFER);
    if (stream->in == NULL || stream->out == NULL)
        fail("memory");
}

static void stream_flush(struct stream *stream)
{
    for (size_t done = 0; done < stream->out_len;) {
        ssize_t n = send(stream->fd, stream->out + done, stream->out_len - done, MSG_NOSIGNAL);
        if (n <= 0)
            fail("send");
        done += (size_t)n;
    }
    stream->out_len = 0;
}

/* Wait for octets. @return false at the end of the stream */
static bool stream_read(struct stream *stream)
{
    ssize_t n = recv(stream->fd, stream->in + stream->in_len, BUFFER - stream->in_len, 0);
    if (n < 0 && errno != EAGAIN)
        fail("recv");
    if (n > 0)
        stream->in_len += (size_t)n;
    return n != 0;
}

/* Octets of the whole element at @p p; 0 when it is not all there. */
static size_t element_size(const uint8_t *p, size_t len)
{
    if (len < 2)
        return 0;
    size_t header = 2, value = p[1];
    if (value == 253) {
        if (len < 4)
            return 0;
        header = 4;
        value = (size_t)p[2] << 8 | p[3];
    } else if (value > 253) {
        errno = EPROTO;
        fail("an element of this length");
    }
    return len - header >= value ? header + value : 0;
}

/* Call for each whole packet read; the rest moves to the front. */
static void stream_each(struct stream *stream, void (*packet)(void *ctx, const struct ndn_packet *pkt), void *ctx)
{
    size_t done = 0, size;
    while ((size = element_size(stream->in + done, stream->in_len - done)) != 0) {
        struct ndn_packet pkt;
        const struct ndn_parse_opts opts = {.lenient = false};
        if (ndn_packet_parse(stream->in + done, size, &opts, &pkt) != VERDICT_OK) {
            errno = EPROTO;
            fail("packet from the forwarder");
        }
        packet(ctx, &pkt);
        done += size;
    }
    memmove(stream->in, stream->in + done, stream->in_len - done);
    stream->in_len -= done;
}

static void produce(void *ctx, const struct ndn_packet *pkt)
{
    static const uint8_t payload[NDN_PACKET_MAX];
    struct producer *producer = ctx;
    struct stream *stream = &producer->stream;
    if (pkt->type == NDN_TYPE_DATA) {
        // The answer to the registration.
        atomic_store(&producer->ready, true);
        return;
    }
    if (BUFFER - stream->out_len < NDN_PACKET_MAX + NDN_LP_HEADER_MAX)
        stream_flush(stream);
    const struct ndn_data_out data = {.name = pkt->name.value,
                                      .name_len = pkt->name.len,
                                      .content = payload,
                                      .content_len = (uint16_t)producer->options->payload};
    // The token, when there is one, goes back in front.
    uint8_t *start = stream->out + stream->out_len + NDN_LP_HEADER_MAX;
    size_t len = ndn_data_encode(start, NDN_PACKET_MAX, &data, NULL, NULL);
    const struct ndn_lp_out lp = {.token_len = pkt->lp.token_len, .token = pkt->lp.token};
    size_t header = ndn_lp_out_empty(&lp) ? 0 : ndn_lp_prepend(start, len, &lp);
    memmove(stream->out + stream->out_len, start - header, header + len);
    stream->out_len += header + len;
    producer->answered++;
}

static void *producer_main(void *arg)
{
    struct producer *producer = arg;
    struct stream *stream = &producer->stream;
    stream->out_len = register_prefix(stream->out, BUFFER, "/app/pair");
    stream_flush(stream);
    while (stream_read(stream)) {
        stream_each(stream, produce, producer);
        stream_flush(stream);
    }
    return NULL;
}

struct consumer {
    const struct options *options;
    struct stream stream;
    uint64_t sent, received, wrong;
    uint64_t sent_ns[WINDOW_MAX];
    bool open[WINDOW_MAX];
    uint64_t rtt_sum_ns, rtt_max_ns;
};

#define NAME_SIZE 21
static const uint8_t name_head[] = "\x08\x03"
                                   "app\x08\x04pair\x08\x08";

static void consume(void *ctx, const struct ndn_packet *pkt)
{
    struct consumer *consumer = ctx;
    uint64_t number = 0;
    if (pkt->type == NDN_TYPE_DATA && pkt->name.len == NAME_SIZE)
        for (unsigned i = 0; i < 8; i++)
            number = number << 8 | pkt->name.value[NAME_SIZE - 8 + i];
    unsigned slot = number % WINDOW_MAX;
    if (pkt->type != NDN_TYPE_DATA || pkt->name.len != NAME_SIZE || !consumer->open[slot]) {
        consumer->wrong++;
        return;
    }
    consumer->open[slot] = false;
    consumer->received++;
    uint64_t rtt_ns = now_ns() - consumer->sent_ns[slot];
    consumer->rtt_sum_ns += rtt_ns;
    if (rtt_ns > consumer->rtt_max_ns)
        consumer->rtt_max_ns = rtt_ns;
}

static void send_interest(struct consumer *consumer)
{
    struct stream *stream = &consumer->stream;
    uint64_t number = consumer->sent;
    unsigned slot = number % WINDOW_MAX;
    uint8_t name[NAME_SIZE];
    memcpy(name, name_head, NAME_SIZE - 8);
    for (unsigned i = 0; i < 8; i++)
        name[NAME_SIZE - 8 + i] = (uint8_t)(number >> (56 - 8 * i));
    const struct ndn_interest_out interest = {
        .name = name, .name_len = NAME_SIZE, .nonce = (uint32_t)number * 2654435761u, .lifetime_ms = 4000};
    stream->out_len += ndn_interest_encode(stream->out + stream->out_len, BUFFER - stream->out_len, &interest);
    consumer->open[slot] = true;
    consumer->sent_ns[slot] = now_ns();
    consumer->sent++;
}

static void consumer_run(struct consumer *consumer, uint64_t end_ns)
{
    struct stream *stream = &consumer->stream;
    const struct timeval patience = {.tv_sec = 5};
    setsockopt(stream->fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    while (now_ns() < end_ns) {
        while (consumer->sent - consumer->received - consumer->wrong < consumer->options->window)
            send_interest(consumer);
        stream_flush(stream);
        uint64_t before = consumer->received;
        if (!stream_read(stream))
            break;
        stream_each(stream, consume, consumer);
        if (consumer->received == before && stream->in_len == 0)
            break; // nothing came within the patience
    }
}

static unsigned number(const char *text, unsigned min, unsigned max)
{
    char *end;
    unsigned long value = strtoul(text, &end, 10);
    if (*end != '\0' || value < min || value > max) {
        fprintf(stderr, "app_pair: %s: want a number of %u..%u\n", text, min, max);
        exit(2);
    }
    return (unsigned)value;
}

static struct options parse(int argc, char **argv)
{
    static const struct option longs[] = {
        {"socket", required_argument, NULL, 's'}, {"seconds", required_argument, NULL, 't'},
        {"window", required_argument, NULL, 'w'}, {"payload", required_argument, NULL, 'p'},
        {"json", no_argument, NULL, 'j'},         {NULL, 0, NULL, 0}};
    struct options options = {.socket = "/run/nfd/nfd.sock", .seconds = 5, .window = 256, .payload = 100};
    int option;
    while ((option = getopt_long(argc, argv, "s:t:w:p:j", longs, NULL)) != -1) {
        switch (option) {
        case 's':
            options.socket = optarg;
            break;
        case 't':
            options.seconds = number(optarg, 1, 3600);
            break;
        case 'w':
            options.window = number(optarg, 1, WINDOW_MAX);
            break;
        case 'p':
            options.payload = number(optarg, 0, 8000);
            break;
        case 'j':
            options.json = true;
            break;
        default:
            fputs("usage: app_pair [--socket PATH] [--seconds N] [--window N] [--payload N] [--json]\n", stderr);
            exit(2);
        }
    }
    return options;
}

int main(int argc, char **argv)
{
    const struct options options = parse(argc, argv);
    struct producer producer = {.options = &options};
    static struct consumer consumer;
    consumer.options = &options;
    stream_open(&producer.stream, options.socket);
    stream_open(&consumer.stream, options.socket);
    pthread_t thread;
    if (pthread_create(&thread, NULL, producer_main, &producer) != 0)
        fail("thread");
    for (unsigned tries = 0; !atomic_load(&producer.ready); tries++) {
        if (tries == 500) {
            fputs("app_pair: the prefix was not registered within 5 s\n", stderr);
            return 1;
        }
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    }
    uint64_t from_ns = now_ns();
    consumer_run(&consumer, from_ns + (uint64_t)options.seconds * 1000000000);
    double seconds = (double)(now_ns() - from_ns) / 1e9;
    shutdown(producer.stream.fd, SHUT_RDWR);
    pthread_join(thread, NULL);
    uint64_t mean_us = consumer.received > 0 ? consumer.rtt_sum_ns / consumer.received / 1000 : 0;
    const char *format = options.json ? "{\"exchanges\": %" PRIu64 ", \"per_second\": %.0f, \"wrong\": %" PRIu64
                                        ", \"rtt_mean_us\": %" PRIu64 ", \"rtt_max_us\": %" PRIu64 "}\n"
                                      : "%" PRIu64 " exchanges, %.0f a second, %" PRIu64
                                        " wrong answers, round trip %" PRIu64 " us on average, %" PRIu64
                                        " us at most\n";
    printf(format, consumer.received, (double)consumer.received / seconds, consumer.wrong, mean_us,
           consumer.rtt_max_ns / 1000);
    return consumer.received > 0 && consumer.wrong == 0 ? 0 : 1;
}
