// SPDX-License-Identifier: Apache-2.0
/*
 * Notification streams: Data numbered from 0. The last ones are kept, so that a subscriber that asks for one after the
 * other misses none; an Interest for one to come waits here as long as it lives.
 */
#include "fwd/mgmt/mgmt_impl.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fwd/mgmt/wire_fields.h"

#define KEEP_MAX    1024
#define WAITING_MAX 256
#define PREFIX_MAX  64
/* Any number will do: the first Interest of a subscriber. */
#define ANY UINT64_MAX

struct notification {
    uint8_t *content;
    uint16_t len;
};

struct waiting {
    uint64_t sequence; /**< or ANY */
    uint64_t expires_ns;
};

struct mgmt_stream {
    uint64_t next; /**< sequence number of the next notification */
    uint32_t n_waiting;
    uint16_t prefix_len;
    uint8_t prefix[PREFIX_MAX]; /**< name up to the sequence number */
    struct waiting waiting[WAITING_MAX];
    struct notification kept[KEEP_MAX]; /**< by sequence number modulo this */
};

static const struct {
    const char *module, *stream;
} streams[] = {{"faces", "events"}};

static uint16_t put_component(uint8_t *p, const char *text)
{
    uint8_t *value = wire_put_header(p, NDN_GENERIC, strlen(text));
    memcpy(value, text, strlen(text));
    return (uint16_t)(value + strlen(text) - p);
}

int mgmt_notify_init(struct mgmt *mgmt)
{
    mgmt->streams = calloc(WIRE_N_OF(streams), sizeof *mgmt->streams);
    if (mgmt->streams == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < WIRE_N_OF(streams); i++) {
        struct mgmt_stream *stream = &mgmt->streams[i];
        const char *const components[] = {"localhost", "nfd", streams[i].module, streams[i].stream};
        for (size_t c = 0; c < WIRE_N_OF(components); c++)
            stream->prefix_len =
                (uint16_t)(stream->prefix_len + put_component(stream->prefix + stream->prefix_len, components[c]));
    }
    return 0;
}

void mgmt_notify_fini(struct mgmt *mgmt)
{
    if (mgmt->streams == NULL)
        return;
    for (size_t i = 0; i < WIRE_N_OF(streams); i++)
        for (size_t k = 0; k < KEEP_MAX; k++)
            free(mgmt->streams[i].kept[k].content);
    free(mgmt->streams);
}

static void send_notification(struct mgmt *mgmt, const struct mgmt_stream *stream, uint64_t sequence,
                              const struct mgmt_token *token)
{
    uint8_t name[PREFIX_MAX + MGMT_NUMBER_COMP_MAX];
    memcpy(name, stream->prefix, stream->prefix_len);
    uint16_t comp_len = mgmt_put_number(name + stream->prefix_len, MGMT_TLV_SEQUENCE, sequence);
    const struct notification *kept = &stream->kept[sequence % KEEP_MAX];
    const struct mgmt_data data = {
        .name = {name, (uint16_t)(stream->prefix_len + comp_len)},
        .content = kept->content,
        .content_len = kept->len,
        .token = token,
    };
    mgmt_send_data(mgmt, &data);
}

/* Forget who waits for @p sequence, or has waited long enough. @return true when somebody did */
static bool take_waiting(struct mgmt_stream *stream, uint64_t sequence, uint64_t now_ns)
{
    bool any = false;
    uint32_t n = 0;
    for (uint32_t i = 0; i < stream->n_waiting; i++) {
        const struct waiting *waiting = &stream->waiting[i];
        if (waiting->expires_ns <= now_ns)
            continue;
        if (waiting->sequence == ANY || waiting->sequence == sequence)
            any = true;
        else
            stream->waiting[n++] = *waiting;
    }
    stream->n_waiting = n;
    return any;
}

static void wait_for(struct mgmt_stream *stream, uint64_t sequence, uint64_t now_ns, uint64_t expires_ns)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < stream->n_waiting; i++) {
        struct waiting *waiting = &stream->waiting[i];
        if (waiting->sequence == sequence) {
            waiting->expires_ns = expires_ns > waiting->expires_ns ? expires_ns : waiting->expires_ns;
            return;
        }
    }
    for (uint32_t i = 0; i < stream->n_waiting; i++)
        if (stream->waiting[i].expires_ns > now_ns)
            stream->waiting[n++] = stream->waiting[i];
    stream->n_waiting = n;
    if (n < WAITING_MAX)
        stream->waiting[stream->n_waiting++] = (struct waiting){sequence, expires_ns};
}

bool mgmt_notify_interest(struct mgmt *mgmt, const struct ndn_packet *pkt, uint64_t now_ns)
{
    const struct ndn_name *name = &pkt->name;
    uint64_t expires_ns = now_ns + (uint64_t)pkt->interest.lifetime_ms * 1000000, sequence;
    for (size_t i = 0; i < WIRE_N_OF(streams); i++) {
        struct mgmt_stream *stream = &mgmt->streams[i];
        if (name->end[4] != stream->prefix_len || memcmp(name->value, stream->prefix, stream->prefix_len) != 0)
            continue;
        mgmt->counters.notifications++;
        if (name->n_comps == 4 && pkt->interest.can_be_prefix)
            wait_for(stream, ANY, now_ns, expires_ns);
        if (name->n_comps != 5 || !mgmt_last_number(name, MGMT_TLV_SEQUENCE, &sequence) || sequence == ANY)
            return true;
        if (sequence >= stream->next)
            wait_for(stream, sequence, now_ns, expires_ns);
        else if (stream->next - sequence <= KEEP_MAX)
            send_notification(mgmt, stream, sequence, &mgmt->token);
        return true;
    }
    return false;
}

void mgmt_notify(struct mgmt *mgmt, const char *module, const char *name, const uint8_t *content, size_t len,
                 uint64_t now_ns)
{
    size_t i = 0;
    while (i < WIRE_N_OF(streams) && (strcmp(streams[i].module, module) != 0 || strcmp(streams[i].stream, name) != 0))
        i++;
    if (i == WIRE_N_OF(streams) || len == 0 || len > NDN_PACKET_MAX)
        return;
    struct mgmt_stream *stream = &mgmt->streams[i];
    struct notification *kept = &stream->kept[stream->next % KEEP_MAX];
    uint8_t *copy = realloc(kept->content, len);
    // Without memory there is no such notification, rather than a number that says nothing.
    if (copy == NULL)
        return;
    memcpy(copy, content, len);
    kept->content = copy;
    kept->len = (uint16_t)len;
    uint64_t sequence = stream->next++;
    if (take_waiting(stream, sequence, now_ns))
        send_notification(mgmt, stream, sequence, NULL);
}
