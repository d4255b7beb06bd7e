// SPDX-License-Identifier: Apache-2.0
/* What a QUIC service answers or refuses itself: Version Negotiation, small Initials, limits of a source. */
#include "test/bed/edge_bed.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

#include "fwd/quic/limit.h"
#include "parser/cursor.h"

#define UNKNOWN_VERSION 0x1a2a3a4au

static struct edge_bed *edge;
static uint8_t datagram[65536];

static void start(void)
{
    edge = edge_bed_create();
    edge->service.version_negotiation = true;
    edge->service.n_versions = 2;
    edge->service.version[0] = QUIC_VERSION_1;
    edge->service.version[1] = QUIC_VERSION_2;
    edge->service.drop_small_initials = true;
}

static void stop(void)
{
    cr_assert_eq(bed_check(edge->bed), 0);
    edge_bed_destroy(edge);
}

TestSuite(quic_edge, .init = start, .fini = stop);

static enum edge_end other_version(uint32_t version, size_t len, uint8_t dcid_len, uint8_t scid_len)
{
    memset(datagram, 0x77, len);
    edge_put_long(datagram, 0xc3, version, dcid_len, scid_len);
    return edge_datagram(edge, datagram, len, false);
}

static enum edge_end initial(uint32_t version, size_t len)
{
    struct edge_initial fields = {.len = len, .version = version, .dcid_len = 8, .scid_len = 8};
    return edge_datagram(edge, datagram, edge_put_initial(datagram, &fields), false);
}

static uint64_t drops(enum drop drop)
{
    return bed_drops(edge->bed, drop);
}

/* Version Negotiation as RFC 8999 section 6 has it. @return versions in it, the reserved ones left out */
static unsigned check_negotiation(struct edge_sent sent, uint8_t dcid_len, uint8_t scid_len, uint32_t asked)
{
    const uint8_t *p = sent.payload;
    unsigned n = 0, n_reserved = 0;
    cr_assert_eq(p[0] & 0xc0, 0xc0);
    cr_assert_eq(load_be32(p + 1), 0);
    cr_assert_eq(p[5], scid_len);
    for (unsigned i = 0; i < scid_len; i++)
        cr_assert_eq(p[6 + i], (uint8_t)(0x50 + i));
    p += 6 + scid_len;
    cr_assert_eq(*p, dcid_len);
    for (unsigned i = 0; i < dcid_len; i++)
        cr_assert_eq(p[1 + i], (uint8_t)(0xd0 + i));
    p += 1 + dcid_len;
    cr_assert_eq((sent.payload + sent.len - p) % 4, 0);
    for (; p < sent.payload + sent.len; p += 4) {
        uint32_t version = load_be32(p);
        cr_assert_neq(version, asked, "the client would ignore the whole packet");
        if ((version & 0x0f0f0f0f) == 0x0a0a0a0a) {
            n_reserved++;
            continue;
        }
        cr_assert_eq(version, edge->service.version[n]);
        n++;
    }
    cr_assert_eq(n_reserved, 1);
    return n;
}

Test(quic_edge, unknown_version_is_answered_with_those_offered)
{
    for (unsigned round = 0; round < 4; round++) {
        edge->v6 = round & 1;
        edge->vlan = round & 2;
        cr_assert_eq(other_version(UNKNOWN_VERSION, 1200, 8, 5), EDGE_ANSWERED);
        cr_assert_eq(edge->bed->n_sent, 1);
        cr_assert_eq(check_negotiation(edge_parse_sent(edge, 0), 8, 5, UNKNOWN_VERSION), 2);
        bed_drop_sent(edge->bed);
    }
    cr_assert_eq(edge_stats(edge)->version_negotiations, 4);
    cr_assert_eq(drops(DROP_QUIC_ANSWERED), 4);
}

/* Q05 */
Test(quic_edge, connection_ids_of_255_octets_are_echoed_in_less_than_half_the_octets)
{
    static const size_t sizes[] = {1200, 1252, 1472};
    edge->service.n_versions = 8;
    for (unsigned i = 2; i < 8; i++)
        edge->service.version[i] = 0xff000000 + i;
    for (unsigned i = 0; i < 2 * RTE_DIM(sizes); i++) {
        edge->v6 = i & 1;
        size_t len = sizes[i / 2] - (edge->v6 ? 20 : 0) * (i / 2 == 2);
        cr_assert_eq(other_version(UNKNOWN_VERSION, len, 255, 255), EDGE_ANSWERED);
        struct edge_sent sent = edge_parse_sent(edge, 0);
        cr_assert_eq(check_negotiation(sent, 255, 255, UNKNOWN_VERSION), 8);
        cr_assert_leq(2 * (sent.len + 28u), len + 28);
        bed_drop_sent(edge->bed);
    }
}

Test(quic_edge, empty_connection_ids_are_echoed_in_a_padded_frame)
{
    edge->service.n_versions = 1;
    cr_assert_eq(other_version(UNKNOWN_VERSION, 1200, 0, 0), EDGE_ANSWERED);
    struct edge_sent sent = edge_parse_sent(edge, 0);
    cr_assert_eq(check_negotiation(sent, 0, 0, UNKNOWN_VERSION), 1);
    cr_assert_eq(sent.len, 7 + 8);
    cr_assert_eq(edge->bed->sent[0].mbuf->pkt_len, 60);
}

Test(quic_edge, no_length_of_connection_ids_amplifies)
{
    edge->service.n_versions = 8;
    for (unsigned n = 0; n < 2000; n++) {
        uint8_t dcid_len = (uint8_t)(n * 37), scid_len = (uint8_t)(n * 101 + 7);
        edge->v6 = n & 1;
        cr_assert_eq(other_version(UNKNOWN_VERSION + n, 1200, dcid_len, scid_len), EDGE_ANSWERED);
        cr_assert_lt(2 * edge->bed->sent[0].mbuf->pkt_len, 1200 + 42);
        bed_drop_sent(edge->bed);
    }
}

Test(quic_edge, datagrams_that_cannot_begin_a_connection_are_not_answered)
{
    cr_assert_eq(other_version(UNKNOWN_VERSION, 1199, 8, 8), EDGE_DROPPED);
    cr_assert_eq(other_version(UNKNOWN_VERSION, 7, 0, 0), EDGE_DROPPED);
    cr_assert_eq(drops(DROP_QUIC_DGRAM_SMALL), 2);
    cr_assert_eq(edge->bed->n_sent, 0);
}

/* Q08 */
Test(quic_edge, version_negotiation_is_never_answered)
{
    memset(datagram, 0x77, 1200);
    size_t at = edge_put_long(datagram, 0xc0, 0, 8, 9);
    cr_assert_eq(edge_datagram(edge, datagram, at + 4 * 100, false), EDGE_DROPPED);
    cr_assert_eq(edge_datagram(edge, datagram, at + 4 * 294, false), EDGE_DROPPED);
    edge->service.version_negotiation = false;
    cr_assert_eq(edge_datagram(edge, datagram, at + 4 * 294, false), EDGE_DROPPED);
    cr_assert_eq(drops(DROP_QUIC_VN_RX), 3);
    cr_assert_eq(edge->bed->n_sent, 0);
}

Test(quic_edge, retry_packets_go_to_no_server)
{
    memset(datagram, 0x77, 1200);
    edge_put_long(datagram, 0xf0, QUIC_VERSION_1, 8, 8);
    cr_assert_eq(edge_datagram(edge, datagram, 1200, false), EDGE_DROPPED);
    edge_put_long(datagram, 0xc0, QUIC_VERSION_2, 8, 8);
    cr_assert_eq(edge_datagram(edge, datagram, 1200, false), EDGE_DROPPED);
    cr_assert_eq(drops(DROP_QUIC_TYPE), 2);
}

Test(quic_edge, versions_are_not_looked_at_without_version_negotiation)
{
    edge->service.version_negotiation = false;
    cr_assert_eq(other_version(UNKNOWN_VERSION, 1200, 255, 255), EDGE_PASSED);
    cr_assert_eq(other_version(UNKNOWN_VERSION, 30, 8, 8), EDGE_PASSED);
    cr_assert_eq(bed_only_drop(edge->bed)[0], '\0');
}

Test(quic_edge, version_that_is_parsed_but_not_offered_is_negotiated)
{
    edge->service.n_versions = 1;
    cr_assert_eq(initial(QUIC_VERSION_2, 1200), EDGE_ANSWERED);
    cr_assert_eq(check_negotiation(edge_parse_sent(edge, 0), 8, 8, QUIC_VERSION_2), 1);
    cr_assert_eq(initial(QUIC_VERSION_1, 1200), EDGE_PASSED);
}

Test(quic_edge, version_that_is_offered_but_not_parsed_goes_on)
{
    edge->service.version[1] = 0xff00001d;
    cr_assert_eq(other_version(0xff00001d, 1200, 8, 8), EDGE_PASSED);
    cr_assert_eq(other_version(0xff00001d, 30, 8, 8), EDGE_PASSED);
}

Test(quic_edge, reserved_version_asked_for_is_never_offered)
{
    for (unsigned n = 0; n < 65536; n += 7) {
        uint32_t asked = 0x0a0a0a0a | (n & 0xf) << 4 | (n & 0xf0) << 8 | (n & 0xf00) << 12 | (n & 0xf000) << 16;
        cr_assert_eq(other_version(asked, 1200, 8, 8), EDGE_ANSWERED);
        check_negotiation(edge_parse_sent(edge, 0), 8, 8, asked);
        bed_drop_sent(edge->bed);
    }
}

Test(quic_edge, answer_replaces_a_datagram_of_several_segments)
{
    static const uint32_t splits[] = {42, 43, 60, 300, 1000};
    for (unsigned i = 0; i < RTE_DIM(splits); i++) {
        edge->split = splits[i];
        cr_assert_eq(other_version(UNKNOWN_VERSION, 1300, 200, 200), EDGE_ANSWERED);
        check_negotiation(edge_parse_sent(edge, 0), 200, 200, UNKNOWN_VERSION);
        bed_drop_sent(edge->bed);
    }
    cr_assert_eq(bed_mbufs(edge->bed), 0);
}

Test(quic_edge, frame_to_a_group_is_answered_by_the_port)
{
    edge->group = true;
    cr_assert_eq(other_version(UNKNOWN_VERSION, 1200, 8, 8), EDGE_ANSWERED);
    check_negotiation(edge_parse_sent(edge, 0), 8, 8, UNKNOWN_VERSION);
}

Test(quic_edge, each_ipv4_answer_has_an_id_of_its_own)
{
    other_version(UNKNOWN_VERSION, 1200, 8, 8);
    other_version(UNKNOWN_VERSION, 1200, 8, 8);
    cr_assert_eq(edge->bed->n_sent, 2);
    uint16_t first = edge_parse_sent(edge, 0).ip_id, second = edge_parse_sent(edge, 1).ip_id;
    cr_assert_neq(first, second);
    cr_assert_neq(second, 7, "not the client's");
}

/* Q10 */
Test(quic_edge, initials_in_small_datagrams_are_dropped_where_the_service_says_so)
{
    cr_assert_eq(initial(QUIC_VERSION_1, 1199), EDGE_DROPPED);
    cr_assert_eq(initial(QUIC_VERSION_2, 1199), EDGE_DROPPED);
    cr_assert_eq(drops(DROP_QUIC_DGRAM_SMALL), 2);
    cr_assert_eq(initial(QUIC_VERSION_1, 1200), EDGE_PASSED);
    edge->service.drop_small_initials = false;
    cr_assert_eq(initial(QUIC_VERSION_1, 1199), EDGE_PASSED);
}

Test(quic_edge, short_headers_are_not_the_edges_affair)
{
    edge->service.initial_rate = 1;
    edge->service.edge_rate = 1;
    memset(datagram, 0x44, 100);
    for (unsigned i = 0; i < 100; i++)
        cr_assert_eq(edge_datagram(edge, datagram, 100, false), EDGE_PASSED);
}

/* Of what comes at this rate for this long, how much goes on. */
static unsigned passed(unsigned per_s, unsigned ms)
{
    unsigned n = 0, total = per_s * ms / 1000;
    for (unsigned i = 0; i < total; i++) {
        n += initial(QUIC_VERSION_1, 1200) == EDGE_PASSED;
        edge->bed->now_ns += 1000000000 / per_s;
    }
    return n;
}

Test(quic_edge, initials_of_a_source_are_limited_to_a_rate)
{
    edge->service.initial_rate = 100;
    for (unsigned v6 = 0; v6 < 2; v6++) {
        edge->v6 = v6;
        // A second's worth at once, then as many as the rate allows.
        cr_assert_eq(passed(1000, 1), 1);
        unsigned n = passed(1000, 10000);
        cr_assert(n >= 1095 && n <= 1101, "%u", n);
        // What was refused does not count.
        edge->bed->now_ns += 10000000;
        cr_assert_eq(initial(QUIC_VERSION_1, 1200), EDGE_PASSED);
        edge->bed->now_ns += 1000000000;
        n = passed(100, 5000);
        cr_assert_eq(n, 500);
    }
    cr_assert_eq(edge->bed->n_sent, 0);
    cr_assert_gt(drops(DROP_QUIC_LIMITED), 17000);
}

Test(quic_edge, sources_services_and_kinds_have_limits_of_their_own)
{
    edge->service.initial_rate = 1;
    edge->service.edge_rate = 1;
    cr_assert_eq(initial(QUIC_VERSION_1, 1200), EDGE_PASSED);
    cr_assert_eq(initial(QUIC_VERSION_1, 1200), EDGE_DROPPED);
    cr_assert_eq(other_version(UNKNOWN_VERSION, 1200, 8, 8), EDGE_ANSWERED);
    cr_assert_eq(other_version(UNKNOWN_VERSION, 1200, 8, 8), EDGE_DROPPED);
    // Another port is the same source, another service is another limit, another address another source.
    edge->client_port++;
    cr_assert_eq(initial(QUIC_VERSION_1, 1200), EDGE_DROPPED);
    edge->service.slot++;
    cr_assert_eq(initial(QUIC_VERSION_1, 1200), EDGE_PASSED);
    edge->service.slot--;
    edge->host[3]++;
    cr_assert_eq(initial(QUIC_VERSION_1, 1200), EDGE_PASSED);
    edge->v6 = true;
    cr_assert_eq(initial(QUIC_VERSION_1, 1200), EDGE_PASSED);
    cr_assert_eq(initial(QUIC_VERSION_1, 1200), EDGE_DROPPED);
    cr_assert_eq(drops(DROP_QUIC_LIMITED), 4);
}

Test(quic_edge, answers_go_on_when_their_time_has_come)
{
    edge->service.edge_rate = 10;
    unsigned n = 0;
    edge->bed->free_sent = true;
    for (unsigned i = 0; i < 5000; i++) {
        n += other_version(UNKNOWN_VERSION, 1200, 8, 8) == EDGE_ANSWERED;
        edge->bed->now_ns += 1000000;
    }
    cr_assert(n >= 58 && n <= 61, "%u", n);
    cr_assert_eq(edge_stats(edge)->version_negotiations, n);
}

/* Q28: 100,000 Initials a second from sources that were never seen, in ten times more of them than there is room for.
 */
Test(quic_edge, spoofed_sources_neither_fill_the_table_nor_hurt_known_ones)
{
    static const struct flow_hash_key key = {1, 2};
    struct quic_limit *limit;
    uint64_t now_ns = 1000000000;
    unsigned good = 0, bad = 0, good_total = 0, bad_total = 0;
    cr_assert_eq(quic_limit_create(&limit, 1024, &key, ARENA_PAGES_SMALL), 0);
    for (unsigned i = 0; i < 1000000; i++, now_ns += 10000) {
        uint32_t source = 0x40000000 + i;
        cr_assert(quic_limit_take(limit, 0, QUIC_LIMIT_INITIAL, (const uint8_t *)&source, false, 10, now_ns));
        if (i % 20000 == 0) {
            // Five a second of ten.
            good_total++;
            good += quic_limit_take(limit, 0, QUIC_LIMIT_INITIAL, (const uint8_t[4]){9, 9, 9, 9}, false, 10, now_ns);
        }
        if (i % 100 == 0) {
            // A hundred times too much.
            bad_total++;
            bad += quic_limit_take(limit, 0, QUIC_LIMIT_INITIAL, (const uint8_t[4]){6, 6, 6, 6}, false, 10, now_ns);
        }
        if (i % 1000 == 0)
            cr_assert_leq(quic_limit_count(limit, now_ns), 1024);
    }
    cr_assert_eq(good_total, 50);
    cr_assert_eq(good, good_total);
    cr_assert_eq(bad_total, 10000);
    cr_assert_leq(bad, 115, "who takes too much stays known: %u", bad);
    quic_limit_destroy(limit);
}

Test(quic_edge, limits_of_no_source_or_too_many_are_refused)
{
    static const struct flow_hash_key key = {1, 2};
    struct quic_limit *limit = NULL;
    cr_assert_eq(quic_limit_create(&limit, 0, &key, ARENA_PAGES_SMALL), -EINVAL);
    cr_assert_eq(quic_limit_create(&limit, UINT32_MAX, &key, ARENA_PAGES_SMALL), -EINVAL);
    cr_assert_null(limit);
    quic_limit_destroy(NULL);
    quic_edge_destroy(NULL);
}

Test(quic_edge, without_a_rate_nothing_is_counted)
{
    for (unsigned i = 0; i < 1000; i++)
        cr_assert_eq(initial(QUIC_VERSION_1, 1200), EDGE_PASSED);
    edge->service.initial_rate = UINT32_MAX;
    for (unsigned i = 0; i < 1000; i++)
        cr_assert_eq(initial(QUIC_VERSION_1, 1200), EDGE_PASSED);
}
