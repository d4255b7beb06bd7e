// SPDX-License-Identifier: Apache-2.0
/*
 * Framing of streams: however the octets are cut into pieces, the same elements come out, and the stream is found
 * malformed at the same place. Each element is also marked for congestion: what was a packet must still be the same
 * one, with a mark.
 */
#include "parser/ndn_lp.h"
#include "parser/ndn_tlv.h"
#include "ports/sock/mark.h"
#include "ports/sock/queue.h"
#include "ports/sock/stream.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define CHECK(condition)  \
    do {                  \
        if (!(condition)) \
            abort();      \
    } while (0)

/* Where the whole stream stops: behind its last element, and whether what follows is malformed. */
struct outcome {
    size_t end;
    unsigned n;
    uint64_t hash;
    bool bad;
};

static void element(struct outcome *outcome, const uint8_t *p, size_t len)
{
    for (size_t i = 0; i < len; i++)
        outcome->hash = (outcome->hash ^ p[i]) * 0x100000001b3;
    outcome->hash = outcome->hash * 31 + len;
    outcome->end += len;
    outcome->n++;
}

static struct outcome whole(const uint8_t *p, size_t len)
{
    struct outcome outcome = {0};
    size_t size;
    enum stream_verdict verdict;
    while ((verdict = stream_cut(p + outcome.end, len - outcome.end, &size)) == STREAM_ELEMENT) {
        CHECK(size > 0 && size <= len - outcome.end && size <= STREAM_ELEMENT_MAX);
        element(&outcome, p + outcome.end, size);
    }
    outcome.bad = verdict == STREAM_BAD;
    return outcome;
}

/* As a connection does it: what is left over waits for the next piece. */
static struct outcome in_pieces(const uint8_t *p, size_t len, uint32_t seed)
{
    struct outcome outcome = {0};
    struct sock_queue queue = {0};
    size_t size;
    while (len > 0 && !outcome.bad) {
        seed = seed * 1664525 + 1013904223;
        size_t n = (seed >> 16) % (seed & 0x80 ? 7 : 2000) + 1;
        n = n < len ? n : len;
        uint8_t *room = queue_room(&queue, n);
        CHECK(room != NULL);
        memcpy(room, p, n);
        queue_added(&queue, n);
        p += n;
        len -= n;
        enum stream_verdict verdict = STREAM_MORE;
        while (queue.len > 0 && (verdict = stream_cut(queue_first(&queue), queue.len, &size)) == STREAM_ELEMENT) {
            element(&outcome, queue_first(&queue), size);
            queue_take(&queue, size);
        }
        outcome.bad = queue.len > 0 && verdict == STREAM_BAD;
        CHECK(outcome.bad || queue.len < STREAM_ELEMENT_MAX);
    }
    queue_clear(&queue);
    return outcome;
}

static void mark(const uint8_t *p, size_t len)
{
    static uint8_t out[STREAM_ELEMENT_MAX + MARK_SIZE_MAX];
    struct ndn_lp before, after;
    struct cursor c = cursor_make(p, len);
    uint32_t type = 0;
    bool was_lp = cursor_tlv_type(&c, true, &type) == VERDICT_OK && type == NDN_LP_PACKET;
    bool sound = was_lp && ndn_lp_parse(p, len, true, &before) == VERDICT_OK;
    size_t n = mark_packet(out, sizeof out, p, len);
    if (n == 0) {
        CHECK(was_lp && (!sound || (before.has & LP_HAS_CONGESTION_MARK) != 0));
        return;
    }
    CHECK(n <= len + MARK_SIZE_MAX);
    if (was_lp && !sound)
        return;
    CHECK(ndn_lp_parse(out, n, true, &after) == VERDICT_OK);
    CHECK((after.has & LP_HAS_CONGESTION_MARK) != 0 && after.congestion_mark == 1);
    if (!was_lp) {
        CHECK(after.fragment_len == len && memcmp(after.fragment, p, len) == 0);
        return;
    }
    CHECK((after.has & ~(unsigned)LP_HAS_CONGESTION_MARK) == before.has);
    CHECK(after.fragment_len == before.fragment_len && after.n_acks == before.n_acks &&
          after.token_len == before.token_len);
    CHECK(before.fragment_len == 0 || memcmp(after.fragment, before.fragment, before.fragment_len) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 4)
        return 0;
    uint32_t seed;
    memcpy(&seed, data, sizeof seed);
    data += 4;
    size -= 4;
    struct outcome a = whole(data, size), b = in_pieces(data, size, seed);
    CHECK(a.n == b.n && a.hash == b.hash && a.bad == b.bad);
    size_t off = 0, len;
    for (unsigned i = 0; i < 64 && stream_cut(data + off, size - off, &len) == STREAM_ELEMENT; i++) {
        mark(data + off, len);
        off += len;
    }
    return 0;
}
