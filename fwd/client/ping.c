// SPDX-License-Identifier: Apache-2.0
/*
 * `pitlane ping`: an NDN consumer. Interests are named PREFIX/ping/RANDOM/SEQUENCE, so that no cache answers and two
 * runs cannot be mixed up; pending ones stand in a ring indexed by sequence number, oldest at the tail.
 */
#include "fwd/client/ping.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "fwd/client/command.h"
#include "fwd/client/link.h"
#include "parser/ndn_encode.h"
#include "parser/ndn_tlv.h"

#define WINDOW_MAX    65536
#define BURST         64
#define COMPONENT_MAX 24

enum outcome { PENDING = 0, ANSWERED, TIMED_OUT };

struct pending {
    uint64_t sent_ns;
    uint32_t nonce;
    uint8_t outcome; /**< enum outcome */
};

struct ping {
    const struct command_line *line;
    struct link *link;
    uint64_t count, interval_ns, lifetime_ns, window, token_len;
    uint64_t size;
    bool check_size, quiet;
    uint8_t name[NDN_NAME_MAX + 3 * COMPONENT_MAX];
    size_t base_len;     /**< octets of PREFIX/ping/RANDOM in name */
    uint64_t next, tail; /**< sequence numbers: [tail, next) stand in the ring */
    uint64_t next_send_ns;
    struct pending *ring;
    uint64_t ring_mask;
    uint64_t n_pending; /**< of the ring, without an outcome */
    uint64_t n_answered, n_nacked, n_timeout, n_bad, n_late, n_marked;
    struct rtt rtt;
};

/** Append a generic component of text. */
static size_t put_component(uint8_t *p, const char *text)
{
    size_t len = strlen(text);
    p[0] = NDN_GENERIC;
    p[1] = (uint8_t)len;
    memcpy(p + 2, text, len);
    return 2 + len;
}

static size_t put_sequence(struct ping *ping, uint64_t sequence)
{
    char text[COMPONENT_MAX];
    snprintf(text, sizeof text, "%" PRIu64, sequence);
    return ping->base_len + put_component(ping->name + ping->base_len, text);
}

/** The token of a sequence number: octets that depend on it. */
static void put_token(uint8_t *token, uint64_t len, uint64_t sequence)
{
    for (uint64_t i = 0; i < len; i++)
        token[i] = (uint8_t)(sequence >> (8 * (i & 3))) ^ (uint8_t)(0xa5 + i);
}

static void report(const struct ping *ping, const char *what, uint64_t sequence, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
static void report(const struct ping *ping, const char *what, uint64_t sequence, const char *format, ...)
{
    if (ping->quiet)
        return;
    va_list args;
    va_start(args, format);
    fprintf(ping->line->out, "%s %s: seq=%" PRIu64, what, ping->line->operand, sequence);
    vfprintf(ping->line->out, format, args);
    fputc('\n', ping->line->out);
    va_end(args);
    fflush(ping->line->out);
}

static int send_interest(struct ping *ping, uint64_t now_ns)
{
    uint8_t interest[NDN_PACKET_MAX];
    uint8_t token[NDN_LP_TOKEN_MAX];
    struct pending *pending = &ping->ring[ping->next & ping->ring_mask];
    size_t name_len = put_sequence(ping, ping->next);
    *pending = (struct pending){.sent_ns = now_ns};
    if (getrandom(&pending->nonce, sizeof pending->nonce, 0) != sizeof pending->nonce)
        return -EIO;
    const struct ndn_interest_out out = {
        .name = ping->name,
        .name_len = (uint16_t)name_len,
        .must_be_fresh = true,
        .nonce = pending->nonce,
        .lifetime_ms = (uint32_t)(ping->lifetime_ns / 1000000),
    };
    size_t len = ndn_interest_encode(interest, sizeof interest, &out);
    if (len == 0)
        return -EMSGSIZE;
    put_token(token, ping->token_len, ping->next);
    const struct ndn_lp_out lp = {.token_len = (uint8_t)ping->token_len, .token = token};
    int ret = link_send(ping->link, interest, len, &lp, NULL);
    // A full socket or a link that is down is a loss like any other.
    if (ret != 0 && ret != -EIO)
        return ret;
    ping->next++;
    ping->n_pending++;
    return 0;
}

static void expire(struct ping *ping, uint64_t now_ns)
{
    while (ping->tail < ping->next) {
        struct pending *pending = &ping->ring[ping->tail & ping->ring_mask];
        if (pending->outcome == PENDING) {
            if (now_ns - pending->sent_ns < ping->lifetime_ns)
                return;
            pending->outcome = TIMED_OUT;
            ping->n_timeout++;
            ping->n_pending--;
            report(ping, "timeout from", ping->tail, "%s", "");
        }
        ping->tail++;
    }
}

/** Sequence number in a Name of ours. @return false when the Name is not one of this run */
static bool parse_sequence(const struct ping *ping, const struct ndn_name *name, uint64_t *sequence)
{
    if (name->len <= ping->base_len || memcmp(name->value, ping->name, ping->base_len) != 0)
        return false;
    struct cursor c = cursor_make(name->value + ping->base_len, name->len - ping->base_len);
    struct tlv tlv;
    if (tlv_read(&c, false, &tlv) != VERDICT_OK || cursor_left(&c) > 0 || tlv.type != NDN_GENERIC || tlv.len == 0 ||
        tlv.len > 19)
        return false;
    *sequence = 0;
    for (size_t i = 0; i < tlv.len; i++) {
        if (tlv.value[i] < '0' || tlv.value[i] > '9')
            return false;
        *sequence = *sequence * 10 + (uint64_t)(tlv.value[i] - '0');
    }
    return true;
}

static const char *nack_text(uint32_t reason)
{
    switch (reason) {
    case NDN_NACK_CONGESTION:
        return "Congestion";
    case NDN_NACK_DUPLICATE:
        return "Duplicate";
    case NDN_NACK_NO_ROUTE:
        return "NoRoute";
    default:
        return "None";
    }
}

/** What is wrong with a Data packet; NULL: nothing. */
static const char *check_data(const struct ping *ping, const struct ndn_packet *packet)
{
    struct ping_data data;
    uint8_t expected[PING_CONTENT_MAX];
    if (!ping_data_parse(packet->net, packet->net_len, &data))
        return "malformed Data";
    if (!ping_data_verify(&data))
        return "wrong digest";
    if (!ping->check_size)
        return NULL;
    if (data.content_len != ping->size)
        return "wrong size";
    ping_content(packet->name.value, packet->name.len, expected, ping->size);
    return memcmp(expected, data.content, ping->size) == 0 ? NULL : "wrong content";
}

static void take(struct ping *ping, const struct ndn_packet *packet, uint64_t now_ns)
{
    uint64_t sequence;
    bool is_nack = packet->type == NDN_TYPE_INTEREST && (packet->lp.has & LP_HAS_NACK) != 0;
    if ((packet->type != NDN_TYPE_DATA && !is_nack) || !parse_sequence(ping, &packet->name, &sequence))
        return;
    if (sequence < ping->tail || sequence >= ping->next) {
        ping->n_late++;
        return;
    }
    struct pending *pending = &ping->ring[sequence & ping->ring_mask];
    if (pending->outcome != PENDING) {
        ping->n_late++;
        return;
    }
    if (is_nack && packet->interest.nonce != pending->nonce)
        return;
    uint64_t rtt_ns = now_ns - pending->sent_ns;
    double rtt_ms = (double)rtt_ns / 1e6;
    pending->outcome = ANSWERED;
    ping->n_pending--;
    if ((packet->lp.has & LP_HAS_CONGESTION_MARK) != 0 && packet->lp.congestion_mark != 0)
        ping->n_marked++;
    const char *fault = NULL;
    if (ping->token_len > 0) {
        uint8_t token[NDN_LP_TOKEN_MAX];
        put_token(token, ping->token_len, sequence);
        if (packet->lp.token_len != ping->token_len || memcmp(packet->lp.token, token, ping->token_len) != 0)
            fault = "wrong PIT token";
    }
    if (fault == NULL && !is_nack)
        fault = check_data(ping, packet);
    if (fault != NULL) {
        ping->n_bad++;
        report(ping, "bad content from", sequence, " time=%.3f ms: %s", rtt_ms, fault);
    } else if (is_nack) {
        ping->n_nacked++;
        report(ping, "nack from", sequence, " time=%.3f ms reason=%s", rtt_ms, nack_text(packet->lp.nack_reason));
    } else {
        ping->n_answered++;
        rtt_add(&ping->rtt, rtt_ns);
        report(ping, "content from", sequence, " time=%.3f ms", rtt_ms);
    }
}

static int loop(struct ping *ping)
{
    struct link_packet received;
    bool more = false; // the link holds packets that it has read already, of which the kernel knows nothing
    ping->next_send_ns = ping_now_ns();
    while (!ping_stopped() && (ping->next < ping->count || ping->n_pending > 0)) {
        uint64_t now_ns = ping_now_ns();
        expire(ping, now_ns);
        for (unsigned i = 0; i < BURST && ping->next < ping->count && now_ns >= ping->next_send_ns &&
                             ping->next - ping->tail < ping->window;
             i++) {
            int ret = send_interest(ping, now_ns);
            if (ret != 0) {
                fprintf(stderr, "pitlane: cannot send: %s\n", strerror(-ret));
                return ret;
            }
            // After a stall the pace goes on from now: no burst to catch up.
            ping->next_send_ns += ping->interval_ns;
            if (ping->next_send_ns + ping->interval_ns < now_ns)
                ping->next_send_ns = now_ns + ping->interval_ns;
            now_ns = ping_now_ns();
        }
        uint64_t wake_ns = now_ns + 1000000000;
        if (ping->next < ping->count && ping->next - ping->tail < ping->window && ping->next_send_ns < wake_ns)
            wake_ns = ping->next_send_ns;
        if (ping->tail < ping->next) {
            uint64_t due_ns = ping->ring[ping->tail & ping->ring_mask].sent_ns + ping->lifetime_ns;
            if (due_ns < wake_ns)
                wake_ns = due_ns;
        }
        uint64_t wait_ns = wake_ns > now_ns && !more ? wake_ns - now_ns : 0;
        const struct timespec wait = {.tv_sec = (time_t)(wait_ns / 1000000000),
                                      .tv_nsec = (long)(wait_ns % 1000000000)};
        struct pollfd fd = {.fd = link_fd(ping->link), .events = link_events(ping->link)};
        if (ppoll(&fd, 1, &wait, NULL) <= 0 && !more)
            continue;
        more = true;
        for (unsigned i = 0; i < BURST; i++) {
            int ret = link_receive(ping->link, &received);
            if (ret == -EAGAIN) {
                more = false;
                break;
            }
            if (ret < 0) {
                fprintf(stderr, "pitlane: cannot receive: %s\n", strerror(-ret));
                return ret;
            }
            if (ret == 1)
                take(ping, &received.packet, ping_now_ns());
        }
    }
    return 0;
}

static void summarize(struct ping *ping, uint64_t elapsed_ns)
{
    static const double percents[] = {50, 90, 99};
    uint64_t percentile[3];
    for (unsigned i = 0; i < 3; i++)
        percentile[i] = rtt_percentile(&ping->rtt, percents[i]);
    // What is still pending at a signal is neither answered nor lost.
    uint64_t resolved = ping->next - ping->n_pending;
    uint64_t lost = resolved - ping->n_answered - ping->n_nacked;
    double loss = resolved > 0 ? 100.0 * (double)lost / (double)resolved : 0;
    bool any = ping->n_answered > 0;
    double min = any ? (double)ping->rtt.min / 1e6 : 0, max = (double)ping->rtt.max / 1e6;
    double mean = any ? (double)ping->rtt.sum / (double)ping->n_answered / 1e6 : 0;
    FILE *out = ping->line->out;
    if (command_has(ping->line, "json")) {
        json_t *rtt = json_pack("{sf sf sf sf sf sf}", "min", min, "mean", mean, "p50", (double)percentile[0] / 1e6,
                                "p90", (double)percentile[1] / 1e6, "p99", (double)percentile[2] / 1e6, "max", max);
        json_t *document = json_pack(
            "{ss sI sI sI sI sI sI sI sf sf so}", "prefix", ping->line->operand, "sent", (json_int_t)ping->next,
            "received", (json_int_t)ping->n_answered, "nacked", (json_int_t)ping->n_nacked, "timeouts",
            (json_int_t)ping->n_timeout, "bad", (json_int_t)ping->n_bad, "pending", (json_int_t)ping->n_pending, "late",
            (json_int_t)ping->n_late, "loss_percent", loss, "time_ms", (double)elapsed_ns / 1e6, "rtt_ms", rtt);
        json_dumpf(document, out, JSON_INDENT(2) | JSON_REAL_PRECISION(6));
        fputc('\n', out);
        json_decref(document);
        return;
    }
    fprintf(out, "--- %s ping statistics ---\n", ping->line->operand);
    fprintf(out,
            "%" PRIu64 " Interests sent, %" PRIu64 " Data received, %" PRIu64 " nacked, %" PRIu64 " bad, %" PRIu64
            " timed out, %.2f%% loss, time %.0f ms\n",
            ping->next, ping->n_answered, ping->n_nacked, ping->n_bad, ping->n_timeout, loss, (double)elapsed_ns / 1e6);
    if (any)
        fprintf(out, "rtt min/p50/p90/p99/max = %.3f/%.3f/%.3f/%.3f/%.3f ms\n", min, (double)percentile[0] / 1e6,
                (double)percentile[1] / 1e6, (double)percentile[2] / 1e6, max);
}

/** Fill a struct ping from the command line. @return 0 or -EINVAL after a complaint */
static int configure(struct ping *ping, const struct command_line *line)
{
    ping->line = line;
    ping->check_size = command_has(line, "size");
    ping->quiet = command_has(line, "quiet") || command_has(line, "json");
    if (command_number(line, "count", 1, UINT64_MAX, UINT64_MAX, &ping->count) != 0 ||
        command_number(line, "window", 1, WINDOW_MAX, 1024, &ping->window) != 0 ||
        command_number(line, "size", 0, PING_CONTENT_MAX, 0, &ping->size) != 0 ||
        command_number(line, "token", 1, NDN_LP_TOKEN_MAX, 0, &ping->token_len) != 0 ||
        command_time(line, "interval", 0, 86400000000000, 1000000000, &ping->interval_ns) != 0 ||
        command_time(line, "lifetime", 1000000, 86400000000000, 4000000000, &ping->lifetime_ns) != 0)
        return -EINVAL;
    int len = ndn_name_from_uri(line->operand, ping->name, NDN_NAME_MAX - 3 * COMPONENT_MAX);
    if (len < 0) {
        fprintf(stderr, "pitlane: %s: not an NDN name\n", line->operand);
        return -EINVAL;
    }
    uint64_t id = ping_now_ns();
    if (getrandom(&id, sizeof id, 0) != sizeof id)
        id ^= (uint64_t)time(NULL) << 32;
    char text[COMPONENT_MAX];
    snprintf(text, sizeof text, "%016" PRIx64, id);
    ping->base_len = (size_t)len;
    ping->base_len += put_component(ping->name + ping->base_len, "ping");
    ping->base_len += put_component(ping->name + ping->base_len, text);
    return 0;
}

int ping_run(const struct command_line *line)
{
    struct ping ping = {0};
    struct link_config config;
    char err[LINK_ERR];
    if (configure(&ping, line) != 0 || link_config_from_line(line, &config) != 0)
        return COMMAND_USAGE;
    size_t size = 1;
    while (size < ping.window)
        size *= 2;
    ping.ring_mask = size - 1;
    ping.ring = calloc(size, sizeof *ping.ring);
    if (ping.ring == NULL)
        return COMMAND_FAILED;
    rtt_init(&ping.rtt);
    int status = COMMAND_FAILED;
    if (link_open(&ping.link, &config, false, err) != 0) {
        fprintf(stderr, "pitlane: %s\n", err);
        goto free_ring;
    }
    ping_catch_signals();
    if (!ping.quiet)
        fprintf(line->out, "PING %s, %s\n", line->operand, link_name(ping.link));
    uint64_t start_ns = ping_now_ns();
    int ret = loop(&ping);
    summarize(&ping, ping_now_ns() - start_ns);
    if (ret == 0 && ping.n_answered > 0)
        status = COMMAND_OK;
    link_close(ping.link);
free_ring:
    rtt_free(&ping.rtt);
    free(ping.ring);
    return status;
}
