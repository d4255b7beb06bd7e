// SPDX-License-Identifier: Apache-2.0
/*
 * Datasets: the first answer tells the version, then segments are asked for by their whole Name, several at a time, as
 * a forwarder keeps them for a second only. When it has forgotten them, the dataset is fetched anew.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "fwd/client/manager_priv.h"
#include "parser/ndn_encode.h"
#include "parser/ndn_tlv.h"

#define SEGMENT_TIMEOUT_NS 4000000000
/** A segment that does not come for so long is not kept any more. */
#define SEGMENT_STALL_NS 1000000000
#define ATTEMPTS_MAX     3
/** Segments asked for at a time. */
#define WINDOW_MAX 8
/** Bounds of a dataset, against a forwarder gone mad. */
#define DATASET_MAX  (64u << 20)
#define SEGMENTS_MAX 65536

enum { COMP_SEGMENT = 50, COMP_VERSION = 54, CONTENT_TYPE_NACK = 3 };

/** Room for version and segment behind the Name of a dataset. */
#define NAME_ROOM 64

/** A segment that came; octets NULL: it did not. */
struct segment {
    uint8_t *octets;
    size_t len;
};

struct fetch {
    struct manager *manager;
    struct manager_answer *answer;
    uint64_t timeout_ns;
    uint8_t name[NDN_NAME_MAX];
    size_t base_len;      /**< octets of the dataset's Name */
    size_t versioned_len; /**< with its version; 0: not known yet */
    struct segment *segment;
    size_t n_slots;
    uint64_t next, n_got, last; /**< to ask for; came; UINT64_MAX: not known yet */
    size_t total;               /**< octets */
};

/** What the Name of a segment says. */
struct segment_name {
    size_t versioned_len; /**< octets of the Name up to the version */
    uint64_t segment;
};

/** @p base_len: octets of the dataset's Name. */
static bool parse_segment_name(const uint8_t *name, size_t len, size_t base_len, struct segment_name *parsed)
{
    struct cursor c = cursor_make(name + base_len, len - base_len);
    struct tlv version = {0}, segment = {0};
    // A signed or otherwise longer question has components before the version.
    while (cursor_left(&c) > 0) {
        version = segment;
        parsed->versioned_len = len - cursor_left(&c);
        if (tlv_read(&c, false, &segment) != VERDICT_OK)
            return false;
    }
    return version.type == COMP_VERSION && segment.type == COMP_SEGMENT && tlv_nni(&segment, &parsed->segment);
}

/** Number of the last segment, where this Data says so. @return false when FinalBlockId makes no sense */
static bool final_segment(const struct ping_data *data, uint64_t *last)
{
    if (data->final_block == NULL)
        return true;
    struct cursor c = cursor_make(data->final_block, data->final_block_len);
    struct tlv comp;
    return tlv_read(&c, false, &comp) == VERDICT_OK && cursor_left(&c) == 0 && comp.type == COMP_SEGMENT &&
           tlv_nni(&comp, last);
}

static void forget(struct fetch *f)
{
    for (size_t i = 0; i < f->n_slots; i++)
        free(f->segment[i].octets);
    free(f->segment);
    f->segment = NULL;
    f->n_slots = 0;
    f->next = f->n_got = f->total = f->versioned_len = 0;
    f->last = UINT64_MAX;
}

/** Ask for the dataset, or when its version is known for a segment. */
static uint32_t ask(struct fetch *f, uint64_t segment)
{
    struct manager *m = f->manager;
    bool discovery = f->versioned_len == 0;
    size_t name_len = discovery ? f->base_len : f->versioned_len;
    uint8_t number[8];
    if (!discovery)
        manager_add_component(f->name, &name_len, sizeof f->name, COMP_SEGMENT, number,
                              ndn_tlv_put_nni(number, segment));
    struct ndn_interest_out out = {
        .name = f->name,
        .name_len = (uint16_t)name_len,
        .can_be_prefix = discovery,
        .must_be_fresh = discovery,
        .lifetime_ms = (uint32_t)(f->timeout_ns / 1000000),
    };
    if (getrandom(&out.nonce, sizeof out.nonce, 0) != sizeof out.nonce)
        return manager_fail(f->answer, MANAGER_LINK, "no random numbers");
    return manager_send(m, ndn_interest_encode(m->interest, sizeof m->interest, &out), f->answer);
}

/** Keep a segment; one that came before changes nothing. */
static uint32_t keep(struct fetch *f, uint64_t number, const uint8_t *octets, size_t len)
{
    if (number >= f->n_slots) {
        size_t n_slots = 2 * ((size_t)number + 1);
        struct segment *grown = realloc(f->segment, n_slots * sizeof *grown);
        if (grown == NULL)
            return manager_fail(f->answer, MANAGER_LINK, "out of memory");
        memset(grown + f->n_slots, 0, (n_slots - f->n_slots) * sizeof *grown);
        f->segment = grown;
        f->n_slots = n_slots;
    }
    struct segment *segment = &f->segment[number];
    if (segment->octets != NULL)
        return MANAGER_OK;
    if (len > DATASET_MAX - f->total)
        return manager_fail(f->answer, MANAGER_BAD_ANSWER, "the dataset is too large");
    segment->octets = malloc(len > 0 ? len : 1);
    if (segment->octets == NULL)
        return manager_fail(f->answer, MANAGER_LINK, "out of memory");
    if (len > 0)
        memcpy(segment->octets, octets, len);
    segment->len = len;
    f->total += len;
    f->n_got++;
    return MANAGER_OK;
}

/** Take the Data just received. */
static uint32_t take(struct fetch *f)
{
    struct ping_data data;
    struct segment_name segment;
    const struct ndn_name *got = &f->manager->received.packet.name;
    if (!manager_keep_data(f->manager, &data))
        return manager_fail(f->answer, MANAGER_BAD_ANSWER, "the answer is malformed Data");
    if (data.content_type == CONTENT_TYPE_NACK) {
        uint32_t code = manager_take_response(&data, f->answer);
        return code != MANAGER_OK ? code
                                  : manager_fail(f->answer, MANAGER_BAD_ANSWER, "a rejection with status code 200");
    }
    if (!parse_segment_name(got->value, got->len, f->base_len, &segment) ||
        segment.versioned_len > sizeof f->name - NAME_ROOM || segment.segment >= SEGMENTS_MAX ||
        !final_segment(&data, &f->last) || (f->last != UINT64_MAX && f->last >= SEGMENTS_MAX))
        return manager_fail(f->answer, MANAGER_BAD_ANSWER,
                            "the name of the answer has no version and segment, or no sensible end");
    if (f->versioned_len == 0) {
        memcpy(f->name, got->value, segment.versioned_len);
        f->versioned_len = segment.versioned_len;
    }
    return keep(f, segment.segment, data.content, data.content_len);
}

static bool complete(const struct fetch *f)
{
    if (f->last == UINT64_MAX || f->n_got <= f->last)
        return false;
    for (uint64_t i = 0; i <= f->last; i++) {
        if (i >= f->n_slots || f->segment[i].octets == NULL)
            return false;
    }
    return true;
}

/** Fetch all segments. @return MANAGER_OK, or the code that the answer has; MANAGER_TIMEOUT may be tried again */
static uint32_t attempt(struct fetch *f)
{
    forget(f);
    uint32_t code = ask(f, 0);
    if (code == MANAGER_OK)
        code = manager_wait(f->manager, f->name, f->base_len, true, ping_now_ns() + f->timeout_ns, f->answer);
    if (code == MANAGER_OK)
        code = take(f);
    uint64_t n_taken = 1;
    while (code == MANAGER_OK && !complete(f)) {
        if (n_taken++ > 2 * SEGMENTS_MAX)
            return manager_fail(f->answer, MANAGER_BAD_ANSWER, "the same segments again and again");
        // With each answer the window grows, so that a short dataset is not asked for more than it has.
        uint64_t window = f->n_got < WINDOW_MAX ? f->n_got : WINDOW_MAX;
        while (code == MANAGER_OK && f->next < f->n_got + window && f->next <= f->last && f->next < SEGMENTS_MAX) {
            if (f->next >= f->n_slots || f->segment[f->next].octets == NULL)
                code = ask(f, f->next);
            f->next++;
        }
        uint64_t stall_ns = f->timeout_ns < SEGMENT_STALL_NS ? f->timeout_ns : SEGMENT_STALL_NS;
        if (code == MANAGER_OK)
            code = manager_wait(f->manager, f->name, f->versioned_len, true, ping_now_ns() + stall_ns, f->answer);
        if (code == MANAGER_OK)
            code = take(f);
    }
    return code;
}

uint32_t manager_dataset(struct manager *m, const char *module, const char *list, const uint8_t *query,
                         size_t query_len, struct manager_dataset *dataset, struct manager_answer *answer)
{
    struct fetch f = {
        .manager = m,
        .answer = answer,
        .timeout_ns = m->timeout_ns != 0 ? m->timeout_ns : SEGMENT_TIMEOUT_NS,
    };
    *dataset = (struct manager_dataset){0};
    f.base_len = manager_name(m, f.name, sizeof f.name - NAME_ROOM, module, list);
    if (query != NULL &&
        !manager_add_component(f.name, &f.base_len, sizeof f.name - NAME_ROOM, NDN_GENERIC, query, query_len))
        return manager_fail(answer, MANAGER_LINK, "the request is too large");
    uint32_t code = attempt(&f);
    // Only when an answer came at all: a forwarder that is silent is not asked again.
    for (unsigned i = 1; i < ATTEMPTS_MAX && code == MANAGER_TIMEOUT && f.versioned_len > 0; i++)
        code = attempt(&f);
    if (code == MANAGER_OK) {
        dataset->p = malloc(f.total > 0 ? f.total : 1);
        for (uint64_t i = 0; i <= f.last && dataset->p != NULL; i++) {
            memcpy(dataset->p + dataset->len, f.segment[i].octets, f.segment[i].len);
            dataset->len += f.segment[i].len;
        }
        *answer = (struct manager_answer){.code = MANAGER_OK};
        if (dataset->p == NULL)
            code = manager_fail(answer, MANAGER_LINK, "out of memory");
    }
    forget(&f);
    return code;
}

void manager_dataset_free(struct manager_dataset *dataset)
{
    free(dataset->p);
    *dataset = (struct manager_dataset){0};
}

int manager_dataset_next(const struct manager_dataset *dataset, size_t *off, const uint8_t **item)
{
    if (*off >= dataset->len)
        return 0;
    struct cursor c = cursor_make(dataset->p + *off, dataset->len - *off);
    struct tlv tlv;
    if (tlv_read(&c, false, &tlv) != VERDICT_OK)
        return -EINVAL;
    *item = dataset->p + *off;
    size_t size = (size_t)(c.p - *item);
    *off += size;
    return (int)size;
}
