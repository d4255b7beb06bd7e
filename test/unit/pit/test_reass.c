// SPDX-License-Identifier: Apache-2.0
#include "pit/reass.h"

#include <criterion/criterion.h>

#include <errno.h>

#include "parser/ndn_packet.h"
#include "test/unit/pit/fake_mbuf.h"

#define MS UINT64_C(1000000)

static const struct reass_config small = {
    .max_messages = 8,
    .max_per_face = 4,
    .max_bytes = 64 * 1024,
    .max_fragments = 32,
    .timeout_ms = 500,
    .pages = ARENA_PAGES_SMALL,
};

/** What the last reass_add() gave. */
static struct {
    struct rte_mbuf *out;
    struct reass_header header;
    struct reass_freed freed;
} got;

static struct reass *make(const struct reass_config *config)
{
    struct reass *reass = NULL;
    cr_assert_eq(reass_create(&reass, config, 0), 0);
    return reass;
}

static void destroy(struct reass *reass)
{
    reass_destroy(reass);
    cr_assert_eq(fake_n_live, 0);
}

static struct reass_stats stats(const struct reass *reass)
{
    struct reass_stats s;
    reass_stats(reass, &s);
    return s;
}

static struct ndn_lp fragment(uint64_t sequence, uint16_t index, uint16_t count)
{
    return (struct ndn_lp){
        .has = LP_HAS_HEADER | LP_HAS_SEQUENCE | LP_HAS_FRAGMENT,
        .sequence = sequence,
        .frag_index = index,
        .frag_count = count,
    };
}

static enum reass_result add_mbuf(struct reass *reass, uint32_t face, uint64_t sender, const struct ndn_lp *lp,
                                  struct rte_mbuf *mbuf, uint64_t now_ns)
{
    got.out = NULL;
    enum reass_result result = reass_add(reass, face, sender, lp, mbuf, now_ns, &got.out, &got.header, &got.freed);
    cr_assert_eq(reass_check(reass), 0);
    cr_assert_eq(got.out != NULL, result == REASS_COMPLETE);
    return result;
}

/** Fragment @p index of @p count of message @p id, with @p len octets. */
static enum reass_result add(struct reass *reass, uint32_t face, uint64_t id, uint16_t index, uint16_t count,
                             uint16_t len, uint64_t now_ns)
{
    static const uint8_t octets[NDN_PACKET_MAX + 1];
    struct ndn_lp lp = fragment(id + index, index, count);
    return add_mbuf(reass, face, 0, &lp, fake_segment(octets, len, 1), now_ns);
}

static unsigned all_freed(void)
{
    return (unsigned)got.freed.bad + got.freed.oversize + got.freed.duplicate + got.freed.evicted + got.freed.full;
}

Test(reass, fragments_in_any_order_make_the_packet)
{
    struct reass *reass = make(&small);
    static const char *const part[] = {"abc", "de", "fgh"};
    static const unsigned order[] = {2, 0, 1};
    uint8_t token[] = {1, 2, 3};
    for (unsigned i = 0; i < 3; i++) {
        unsigned n = order[i];
        struct ndn_lp lp = fragment(100 + n, (uint16_t)n, 3);
        if (n == 0) {
            lp.token = token;
            lp.token_len = sizeof token;
            lp.congestion_mark = 5;
        }
        struct rte_mbuf *mbuf = fake_chain(part[n], (uint16_t)strlen(part[n]), 2, 1);
        cr_assert_eq(add_mbuf(reass, 300, 0, &lp, mbuf, 1000), i < 2 ? REASS_STORED : REASS_COMPLETE);
        cr_assert_eq(all_freed(), 0);
    }
    memset(token, 9, sizeof token);
    uint8_t octets[16];
    cr_assert_eq(got.out->pkt_len, 8);
    cr_assert_eq(got.out->nb_segs, 5);
    cr_assert_eq(fake_read(got.out, 0, 16, octets), 8);
    cr_assert_eq(memcmp(octets, "abcdefgh", 8), 0);
    cr_assert_eq(got.header.lp.token_len, 3);
    cr_assert_eq(got.header.lp.token, got.header.token);
    cr_assert_eq(memcmp(got.header.lp.token, "\1\2\3", 3), 0);
    cr_assert_eq(got.header.lp.congestion_mark, 5);
    cr_assert_eq(stats(reass).n_completed, 1);
    cr_assert_eq(stats(reass).n_messages, 0);
    cr_assert_eq(stats(reass).n_bytes, 0);
    rte_pktmbuf_free(got.out);
    destroy(reass);
}

Test(reass, single_fragment_is_complete_at_once)
{
    struct reass *reass = make(&small);
    cr_assert_eq(add(reass, 300, 7, 0, 1, 10, 0), REASS_COMPLETE);
    cr_assert_eq(got.out->pkt_len, 10);
    cr_assert_eq(got.header.lp.token_len, 0);
    rte_pktmbuf_free(got.out);
    destroy(reass);
}

Test(reass, announcement_is_kept_when_its_octets_are)
{
    struct reass *reass = make(&small);
    struct ndn_lp lp = fragment(0, 0, 1);
    struct rte_mbuf *mbuf = fake_segment("abc", 3, 1);
    lp.has |= LP_HAS_PREFIX_ANNOUNCEMENT;
    lp.announcement = (const uint8_t *)mbuf->buf_addr + 4;
    lp.announcement_len = 20;
    lp.n_acks = 3;
    lp.acks = lp.announcement;
    cr_assert_eq(add_mbuf(reass, 300, 0, &lp, mbuf, 0), REASS_COMPLETE);
    cr_assert_eq(got.header.lp.announcement, (const uint8_t *)mbuf->buf_addr + 4);
    cr_assert_eq(got.header.lp.n_acks, 0);
    rte_pktmbuf_free(mbuf);
    mbuf = fake_segment("abc", 3, 1);
    uint8_t elsewhere[20];
    lp.announcement = elsewhere;
    cr_assert_eq(add_mbuf(reass, 300, 0, &lp, mbuf, 0), REASS_COMPLETE);
    cr_assert_eq(got.header.lp.has & LP_HAS_PREFIX_ANNOUNCEMENT, 0);
    cr_assert_null(got.header.lp.announcement);
    rte_pktmbuf_free(mbuf);
    destroy(reass);
}

Test(reass, sequence_below_fragindex_wraps)
{
    struct reass *reass = make(&small);
    cr_assert_eq(add(reass, 300, UINT64_MAX, 1, 2, 10, 0), REASS_STORED);
    cr_assert_eq(add(reass, 300, UINT64_MAX, 0, 2, 10, 0), REASS_COMPLETE);
    rte_pktmbuf_free(got.out);
    destroy(reass);
}

Test(reass, faces_senders_and_messages_are_kept_apart)
{
    struct reass *reass = make(&small);
    struct ndn_lp lp = fragment(10, 0, 2), last = fragment(11, 1, 2);
    cr_assert_eq(add_mbuf(reass, 300, 1, &lp, fake_segment("a", 1, 1), 0), REASS_STORED);
    cr_assert_eq(add_mbuf(reass, 300, 2, &last, fake_segment("b", 1, 1), 0), REASS_STORED);
    cr_assert_eq(add_mbuf(reass, 301, 1, &last, fake_segment("c", 1, 1), 0), REASS_STORED);
    last.sequence = 12;
    cr_assert_eq(add_mbuf(reass, 300, 1, &last, fake_segment("d", 1, 1), 0), REASS_STORED);
    cr_assert_eq(stats(reass).n_messages, 4);
    last.sequence = 11;
    cr_assert_eq(add_mbuf(reass, 300, 1, &last, fake_segment("e", 1, 1), 0), REASS_COMPLETE);
    uint8_t octets[2];
    cr_assert_eq(fake_read(got.out, 0, 2, octets), 2);
    cr_assert_eq(memcmp(octets, "ae", 2), 0);
    rte_pktmbuf_free(got.out);
    destroy(reass);
}

Test(reass, fragcount_is_limited_before_anything_is_kept)
{
    struct reass *reass = make(&small);
    cr_assert_eq(add(reass, 300, 1, 0, 33, 10, 0), REASS_BAD);
    cr_assert_eq(add(reass, 300, 1, 0, 401, 10, 0), REASS_BAD);
    cr_assert_eq(add(reass, 300, 1, 0, 0, 10, 0), REASS_BAD);
    cr_assert_eq(add(reass, 300, 1, 2, 2, 10, 0), REASS_BAD);
    cr_assert_eq(got.freed.bad, 1);
    cr_assert_eq(stats(reass).n_messages, 0);
    cr_assert_eq(fake_n_live, 0);
    destroy(reass);
}

Test(reass, changed_fragcount_drops_the_message)
{
    struct reass *reass = make(&small);
    cr_assert_eq(add(reass, 300, 1, 0, 4, 10, 0), REASS_STORED);
    cr_assert_eq(add(reass, 300, 1, 1, 4, 10, 0), REASS_STORED);
    cr_assert_eq(add(reass, 300, 1, 2, 3, 10, 0), REASS_BAD);
    cr_assert_eq(got.freed.bad, 3);
    cr_assert_eq(all_freed(), 3);
    cr_assert_eq(stats(reass).n_messages, 0);
    cr_assert_eq(stats(reass).n_frags_freed, 3);
    cr_assert_eq(fake_n_live, 0);
    destroy(reass);
}

Test(reass, duplicate_is_dropped_and_the_message_goes_on)
{
    struct reass *reass = make(&small);
    cr_assert_eq(add(reass, 300, 1, 0, 2, 10, 0), REASS_STORED);
    cr_assert_eq(add(reass, 300, 1, 0, 2, 20, 0), REASS_DUPLICATE);
    cr_assert_eq(got.freed.duplicate, 1);
    cr_assert_eq(all_freed(), 1);
    cr_assert_eq(add(reass, 300, 1, 1, 2, 10, 0), REASS_COMPLETE);
    cr_assert_eq(got.out->pkt_len, 20);
    rte_pktmbuf_free(got.out);
    destroy(reass);
}

Test(reass, sum_above_the_packet_size_aborts)
{
    struct reass *reass = make(&small);
    cr_assert_eq(add(reass, 300, 1, 0, 3, 4400, 0), REASS_STORED);
    cr_assert_eq(add(reass, 300, 1, 1, 3, 4400, 0), REASS_STORED);
    cr_assert_eq(add(reass, 300, 1, 2, 3, 1, 0), REASS_OVERSIZE);
    cr_assert_eq(got.freed.oversize, 3);
    cr_assert_eq(fake_n_live, 0);
    cr_assert_eq(add(reass, 300, 1, 2, 3, NDN_PACKET_MAX + 1, 0), REASS_OVERSIZE);
    cr_assert_eq(got.freed.oversize, 1);
    cr_assert_eq(add(reass, 300, 2, 0, 2, 4400, 0), REASS_STORED);
    cr_assert_eq(add(reass, 300, 2, 1, 2, 4400, 0), REASS_COMPLETE);
    cr_assert_eq(got.out->pkt_len, NDN_PACKET_MAX);
    rte_pktmbuf_free(got.out);
    destroy(reass);
}

Test(reass, timeout_counts_from_the_last_fragment)
{
    struct reass *reass = make(&small);
    cr_assert_eq(add(reass, 300, 1, 0, 3, 10, 0), REASS_STORED);
    cr_assert_eq(add(reass, 300, 9, 0, 3, 10, 100 * MS), REASS_STORED);
    cr_assert_eq(add(reass, 300, 1, 1, 3, 10, 400 * MS), REASS_STORED);
    cr_assert_eq(reass_poll(reass, 600 * MS - 1), 0);
    cr_assert_eq(reass_poll(reass, 600 * MS), 1);
    cr_assert_eq(reass_poll(reass, 900 * MS - 1), 0);
    cr_assert_eq(reass_poll(reass, 900 * MS), 2);
    cr_assert_eq(stats(reass).n_timeout, 2);
    cr_assert_eq(stats(reass).n_frags_freed, 3);
    cr_assert_eq(fake_n_live, 0);
    cr_assert_eq(add(reass, 300, 1, 2, 3, 10, 900 * MS), REASS_STORED, "a message of its own now");
    destroy(reass);
}

Test(reass, oldest_of_the_same_face_goes_first)
{
    struct reass *reass = make(&small);
    cr_assert_eq(add(reass, 301, 1, 0, 2, 10, 0), REASS_STORED);
    for (uint64_t i = 0; i < 4; i++)
        cr_assert_eq(add(reass, 300, 10 + 10 * i, 0, 3, 10, i), REASS_STORED);
    cr_assert_eq(add(reass, 300, 10, 1, 3, 10, 5), REASS_STORED, "now message 20 is the oldest of its face");
    cr_assert_eq(add(reass, 300, 100, 0, 3, 10, 6), REASS_STORED);
    cr_assert_eq(got.freed.evicted, 1);
    cr_assert_eq(stats(reass).n_evicted, 1);
    cr_assert_eq(stats(reass).n_messages, 5);
    cr_assert_eq(add(reass, 301, 1, 1, 2, 10, 7), REASS_COMPLETE);
    rte_pktmbuf_free(got.out);
    cr_assert_eq(add(reass, 300, 10, 2, 3, 10, 8), REASS_COMPLETE);
    rte_pktmbuf_free(got.out);
    destroy(reass);
}

Test(reass, oldest_of_all_goes_when_the_face_has_none)
{
    struct reass *reass = make(&small);
    for (uint32_t i = 0; i < 8; i++)
        cr_assert_eq(add(reass, 300 + i / 2, i * 10, 0, 3, 10, i), REASS_STORED);
    cr_assert_eq(add(reass, 400, 0, 0, 3, 10, 9), REASS_STORED);
    cr_assert_eq(got.freed.evicted, 1);
    cr_assert_eq(add(reass, 300, 0, 1, 3, 10, 10), REASS_STORED, "the first has gone, so this is a new message");
    cr_assert_eq(got.freed.evicted, 1);
    cr_assert_eq(stats(reass).n_messages, 8);
    destroy(reass);
}

Test(reass, byte_budget_counts_whole_buffers)
{
    struct reass_config config = small;
    config.max_bytes = 10 * (FAKE_HEADROOM + 100);
    struct reass *reass = make(&config);
    cr_assert_eq(add(reass, 300, 1, 0, 12, 100, 0), REASS_STORED);
    for (uint16_t i = 0; i < 9; i++)
        cr_assert_eq(add(reass, 301, 100, i, 12, 100, 1), REASS_STORED);
    cr_assert_eq(stats(reass).n_bytes, config.max_bytes);
    // The budget is full: the message itself is spared, so another one goes.
    cr_assert_eq(add(reass, 301, 100, 9, 12, 100, 2), REASS_STORED);
    cr_assert_eq(got.freed.evicted, 1);
    cr_assert_eq(stats(reass).n_messages, 1);
    // Nothing else is left: the message can never be complete.
    cr_assert_eq(add(reass, 301, 100, 10, 12, 100, 3), REASS_FULL);
    cr_assert_eq(got.freed.full, 1);
    cr_assert_eq(got.freed.evicted, 10);
    cr_assert_eq(fake_n_live, 0);
    // More than the whole budget evicts nothing.
    cr_assert_eq(add(reass, 300, 1, 0, 12, 100, 4), REASS_STORED);
    cr_assert_eq(add(reass, 301, 1, 0, 12, 2000, 4), REASS_FULL);
    cr_assert_eq(all_freed(), 1);
    cr_assert_eq(stats(reass).n_messages, 1);
    destroy(reass);
}

Test(reass, face_removal_drops_its_messages_only)
{
    struct reass *reass = make(&small);
    cr_assert_eq(add(reass, 300, 1, 0, 3, 10, 0), REASS_STORED);
    cr_assert_eq(add(reass, 300, 1, 1, 3, 10, 0), REASS_STORED);
    cr_assert_eq(add(reass, 300, 10, 1, 3, 10, 0), REASS_STORED);
    cr_assert_eq(add(reass, 301, 1, 0, 2, 10, 0), REASS_STORED);
    cr_assert_eq(reass_face_remove(reass, 300), 3);
    cr_assert_eq(reass_check(reass), 0);
    cr_assert_eq(reass_face_remove(reass, 300), 0);
    cr_assert_eq(add(reass, 301, 1, 1, 2, 10, 0), REASS_COMPLETE);
    rte_pktmbuf_free(got.out);
    destroy(reass);
}

Test(reass, flood_of_first_fragments_stays_bounded)
{
    struct reass_config config = small;
    config.max_messages = 1024;
    config.max_per_face = 64;
    config.max_bytes = 8 << 20;
    config.max_fragments = 400;
    struct reass *reass = make(&config);
    cr_assert_eq(add(reass, 301, 5, 0, 2, 1000, 0), REASS_STORED);
    unsigned freed = 0;
    for (uint64_t i = 0; i < 20000; i++) {
        cr_assert_eq(add(reass, 300, i * 1000, 0, 400, 28, i), REASS_STORED);
        freed += all_freed();
    }
    cr_assert_eq(stats(reass).n_messages, 65);
    cr_assert_eq(stats(reass).n_evicted, 20000 - 64);
    cr_assert_eq(freed, 20000 - 64);
    cr_assert_eq(add(reass, 301, 5, 1, 2, 1000, 20000), REASS_COMPLETE, "another face does not suffer");
    rte_pktmbuf_free(got.out);
    destroy(reass);
}

Test(reass, creation_refuses_what_cannot_be)
{
    struct reass *reass = NULL;
    struct reass_config config = small;
    config.max_fragments = NDN_LP_FRAGS_MAX + 1;
    cr_assert_eq(reass_create(&reass, &config, 0), -EINVAL);
    config = small;
    config.max_messages = 0;
    cr_assert_eq(reass_create(&reass, &config, 0), -EINVAL);
    config = small;
    config.max_per_face = 0;
    cr_assert_eq(reass_create(&reass, &config, 0), -EINVAL);
    config = small;
    config.max_fragments = 0;
    cr_assert_eq(reass_create(&reass, &config, 0), -EINVAL);
    cr_assert_null(reass);
    reass_destroy(NULL);
}

/* Messages in random order with loss and duplicates. */
#define MESSAGES 40
#define OPS      60000

struct message {
    uint64_t id;
    uint32_t face;
    uint16_t count, len; /**< fragments, octets of each */
    uint32_t sent;       /**< bit i: fragment i was given */
};

static uint64_t random_state = 42;

static uint32_t draw(uint32_t below)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (uint32_t)(random_state >> 33) % below;
}

static void message_new(struct message *m)
{
    m->id = random_state - draw(4);
    m->face = 300 + draw(3);
    m->count = (uint16_t)(1 + draw(8));
    m->len = (uint16_t)(1 + draw(900));
    m->sent = 0;
}

Test(reass, random_order_loss_and_duplicates)
{
    struct reass_config config = small;
    config.max_messages = 24;
    config.max_per_face = 10;
    config.max_bytes = 40000;
    struct reass *reass = make(&config);
    struct message message[MESSAGES];
    for (unsigned i = 0; i < MESSAGES; i++)
        message_new(&message[i]);
    uint64_t now_ns = 0, given = 0, freed = 0, complete = 0;
    for (unsigned op = 0; op < OPS; op++) {
        struct message *m = &message[draw(draw(2) == 0 ? 4 : MESSAGES)];
        if (draw(20) == 0) {
            message_new(m);
            continue;
        }
        uint16_t index = (uint16_t)draw(m->count), count = m->count;
        if (draw(200) == 0)
            count = (uint16_t)(count + 1);
        uint8_t octets[1000];
        for (unsigned i = 0; i < m->len; i++)
            octets[i] = (uint8_t)(m->id + index * 31u + i);
        struct ndn_lp lp = fragment(m->id + index, index, count);
        uint8_t token = (uint8_t)m->id;
        lp.token = &token;
        lp.token_len = index == 0;
        given++;
        enum reass_result result = add_mbuf(reass, m->face, m->face % 2, &lp,
                                            fake_chain(octets, m->len, (uint16_t)(1 + draw(400)), 1), now_ns);
        freed += all_freed();
        if (result == REASS_COMPLETE) {
            complete += m->count;
            uint8_t whole[NDN_PACKET_MAX];
            uint32_t len = (uint32_t)m->count * m->len;
            cr_assert_eq(got.out->pkt_len, len);
            cr_assert_eq(fake_read(got.out, 0, sizeof whole, whole), len);
            for (uint32_t i = 0; i < len; i++)
                cr_assert_eq(whole[i], (uint8_t)(m->id + i / m->len * 31u + i % m->len));
            cr_assert_eq(got.header.lp.token[0], (uint8_t)m->id);
            rte_pktmbuf_free(got.out);
            message_new(m);
        }
        struct reass_stats s = stats(reass);
        cr_assert_leq(s.n_bytes, config.max_bytes);
        cr_assert_leq(s.n_messages, config.max_messages);
        cr_assert_eq(s.n_frags_freed, freed);
        now_ns += draw(20) * MS;
        if (draw(10) == 0)
            freed += reass_poll(reass, now_ns);
        if (draw(500) == 0)
            freed += reass_face_remove(reass, 300 + draw(3));
    }
    freed += reass_poll(reass, now_ns + 500 * MS);
    cr_assert_eq(reass_check(reass), 0);
    cr_assert_eq(given, freed + complete, "every frame is accounted for");
    cr_assert_gt(complete, given / 20);
    cr_assert_gt(stats(reass).n_evicted, 100);
    cr_assert_gt(stats(reass).n_timeout, 10);
    cr_assert_eq(fake_n_live, 0);
    destroy(reass);
}
