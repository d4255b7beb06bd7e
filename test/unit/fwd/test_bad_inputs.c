// SPDX-License-Identifier: Apache-2.0
/*
 * Every row of test/cases as real frames through the whole receive path: contiguous, and split over two segments at
 * every octet. One counter rises by one and no other, no mbuf is kept, nothing is sent but what the row lets through.
 */
#include <criterion/criterion.h>
#include <string.h>

#include "fwd/chain.h"
#include "test/bed/bed.h"
#include "test/cases/bad_inputs.h"

/* Rows for UDP go over IPv6 too. */
#define CARRIER_UDP6 (1u << 8)

static struct bed *bed;
static struct bad_addrs addrs; /* ours are those of port 0 */
static uint32_t consumer, faces[3];
static uint8_t frame[BAD_INPUT_MAX + 128], other[BAD_INPUT_MAX + 128];

static void start(bool lenient, uint32_t max_fragments)
{
    bed = bed_create(&(struct bed_config){.lenient = lenient, .n_mbufs = 2047, .max_fragments = max_fragments});
    struct port *port = bed_port(bed);
    memcpy(addrs.our_mac, port->mac, 6);
    memcpy(addrs.peer_mac, (uint8_t[6]){2, 0, 0, 0, 2, 1}, 6);
    memcpy(addrs.our_ip4, port->config.ip4, 4);
    memcpy(addrs.peer_ip4, (uint8_t[4]){10, 0, 0, 2}, 4);
    memcpy(addrs.our_ip6, port->config.ip6, 16);
    memcpy(addrs.peer_ip6, port->config.ip6, 16);
    addrs.peer_ip6[15] = 2;
    addrs.ndn_port = 6363;
    addrs.quic_port = 4433;
    addrs.vlan = 77;
    faces[0] = bed_ether(bed, port, 2);
    faces[1] = bed_udp4(bed, port, 2);
    faces[2] = bed_udp6(bed, port, 2);
    bed_route(bed, "/", bed_ether(bed, bed_port(bed), 2), 0);
    struct face_config local = {
        .port = bed_bare_port(bed)->index, .kind = FACE_BARE, .scope = FACE_SCOPE_LOCAL, .flags = FACE_LOCAL_FIELDS};
    consumer = bed_face(bed, &local);
}

static void stop(void)
{
    bed_destroy(bed);
}

/* The application at the consumer sends an Interest for /A to the face that the row's frame will come from. */
static void make_pending(unsigned carrier)
{
    uint8_t packet[32];
    size_t len = bad_input_expand("6415 FD03300200 00 500D 050B 0703080141 0A040A0B0C0D", 0, packet);
    uint32_t face = faces[carrier == BAD_UDP4 ? 1 : carrier == CARRIER_UDP6 ? 2 : 0];
    packet[6] = (uint8_t)(face >> 8);
    packet[7] = (uint8_t)face;
    bed_packet(bed, consumer, packet, len);
    cr_assert_eq(bed->n_sent, 1);
    bed_drop_sent(bed);
}

static size_t make_frame(const struct bad_input *row, uint32_t i, unsigned carrier)
{
    // Another face has the second packet of this row.
    if (strcmp(row->id, "N50") == 0 && i == 1)
        carrier = carrier == BAD_ETHER ? BAD_UDP4 : BAD_ETHER;
    if (carrier != CARRIER_UDP6)
        return bad_input_frame(row, i, (enum bad_carrier)carrier, &addrs, frame);
    struct frame_builder b = {.addrs = &addrs, .frame = frame};
    size_t len = bad_input_payload(row, i, &addrs, other);
    frame_build_udp6(&b, addrs.ndn_port, addrs.ndn_port, other, len);
    frame_build_checksums(&b);
    return b.len;
}

/* What becomes of a row here: nobody listens for QUIC, and its addresses are judged before that is noticed. */
static const char *outcome_of(const struct bad_input *row)
{
    if (strcmp(row->id, "Q31b") == 0)
        return "ip_src";
    if (strcmp(row->id, "Q17") == 0)
        return "segments"; // no packet of ours is half as large
    return row->carriers == BAD_QUIC || strcmp(row->id, "Q31") == 0 ? "udp_unmatched" : row->outcome;
}

static bool is_accepted(const char *outcome)
{
    return strcmp(outcome, "accept") == 0 || strcmp(outcome, "token_bad") == 0;
}

/* Refused frames, all reasons but @p outcome; @p named those with it. Uses that are no refusals count as others. */
static uint64_t refused(const char *outcome, uint64_t *named)
{
    const struct stats_worker stats = bed_stats(bed);
    bool known = is_accepted(outcome);
    uint64_t others = 0;
    *named = 0;
    for (unsigned i = 1; i < DROP_COUNT; i++) {
        if (strcmp(drop_info[i].name, outcome) == 0) {
            known = true;
            *named = stats.drops[i];
        } else if (!is_accepted(outcome) || !drop_is_consumed((enum drop)i)) {
            others += stats.drops[i];
        }
    }
    cr_assert(known, "no counter is named %s", outcome);
    return others;
}

/* Frames that may have been sent: what was accepted, or the Nack that some refusals are answered with. */
static bool may_send(const char *outcome, unsigned n)
{
    if (n == 0)
        return true;
    return is_accepted(outcome) ||
           (n == 1 && (strcmp(outcome, "scope_localhop") == 0 || strcmp(outcome, "loop_dup_nonce") == 0));
}

/* A good frame of the Ethernet face. */
static struct rte_mbuf *good(const char *uri)
{
    uint8_t packet[200];
    size_t len = bed_interest(packet, sizeof packet, uri, &(struct bed_fields){.nonce = 0x600d600d});
    return bed_frame(bed, faces[0], packet, len);
}

/* The row's packets; with @p neighbours each between two good frames of one burst. */
static void run(const struct bad_input *row, unsigned carrier, uint32_t split, bool neighbours)
{
    const char *outcome = outcome_of(row);
    if (row->needs != NULL && strstr(row->needs, "a pending Interest") != NULL)
        make_pending(carrier);
    uint64_t named, before_named, token_bad = bed_stats(bed).token_bad;
    uint64_t before = refused(outcome, &before_named);
    for (uint32_t i = 0; i < row->n_packets; i++) {
        size_t len = make_frame(row, i, carrier);
        struct rte_mbuf *mbuf = bed_raw(bed, frame, len);
        if (split > 0 && split < len)
            mbuf = bed_split(bed, mbuf, split);
        if (i + 1 == row->n_packets)
            bed_drop_sent(bed);
        if (neighbours) {
            struct rte_mbuf *burst[] = {good("/good/1"), mbuf, good("/good/2")};
            bed_receive(bed, &bed->port[0], burst, 3);
        } else {
            bed_receive(bed, &bed->port[0], &mbuf, 1);
        }
    }
    uint64_t after = refused(outcome, &named);
    unsigned n_sent = bed->n_sent - (neighbours ? 2 : 0);
    cr_assert_eq(after, before, "%s, carrier %u, split %u: another counter than %s rose", row->id, carrier, split,
                 outcome);
    if (is_accepted(outcome))
        cr_assert(n_sent > 0 || strcmp(row->id, "L13") == 0 || strcmp(row->id, "N51") == 0,
                  "%s, carrier %u, split %u: nothing was sent", row->id, carrier, split);
    else if (row->n_packets == 1 || strcmp(row->id, "N50") == 0)
        cr_assert_eq(named, before_named + 1, "%s, carrier %u, split %u: %s rose by %d", row->id, carrier, split,
                     outcome, (int)(named - before_named));
    else
        cr_assert_gt(named, before_named, "%s, carrier %u, split %u", row->id, carrier, split);
    if (strcmp(outcome, "token_bad") == 0)
        cr_assert_eq(bed_stats(bed).token_bad, token_bad + 1, "%s", row->id);
    cr_assert(may_send(outcome, n_sent), "%s, carrier %u, split %u: %u frames sent", row->id, carrier, split, n_sent);
    cr_assert_eq(bed_check(bed), 0, "%s, carrier %u, split %u: law or invariant broken", row->id, carrier, split);

    // What the row left behind lapses: its entry, its fragments, its dead nonces.
    bed_drop_sent(bed);
    bed_pass(bed, NDN_LIFETIME_MAX_MS + 10);
    bed_pass(bed, 7000);
    cr_assert_eq(pit_count(bed->fwd[0]->pit), 0, "%s", row->id);
    cr_assert_eq(bed_mbufs(bed), 0, "%s, carrier %u, split %u: %u mbufs leaked", row->id, carrier, split,
                 bed_mbufs(bed));
}

/* Run @p f for each row and form with this leniency. */
static void each(bool lenient, void (*f)(const struct bad_input *row, unsigned carrier))
{
    start(lenient, 0);
    for (size_t r = 0; r < n_bad_inputs; r++) {
        const struct bad_input *row = &bad_inputs[r];
        if (row->lenient != lenient || strcmp(row->id, "L11") == 0)
            continue;
        for (unsigned carrier = BAD_ETHER; carrier <= BAD_FRAME; carrier <<= 1)
            if ((row->carriers & carrier) != 0)
                f(row, carrier);
        if ((row->carriers & BAD_UDP4) != 0)
            f(row, CARRIER_UDP6);
    }
    stop();
}

static void run_whole(const struct bad_input *row, unsigned carrier)
{
    run(row, carrier, 0, false);
}

/* A frame above INT16_MAX octets is refused whole (segments) before its split could matter. */
static void run_split(const struct bad_input *row, unsigned carrier)
{
    size_t len = make_frame(row, 0, carrier);
    if (len > INT16_MAX)
        return;
    for (uint32_t split = 1; split < len; split++)
        run(row, carrier, split, false);
}

Test(bad_inputs, every_row_has_its_outcome)
{
    each(false, run_whole);
    each(true, run_whole);
}

static void run_between(const struct bad_input *row, unsigned carrier)
{
    size_t len = make_frame(row, 0, carrier);
    if (row->n_packets > 1)
        return;
    run(row, carrier, 0, true);
    if (len > 20 && len < 2000)
        run(row, carrier, 20, true);
}

Test(bad_inputs, good_frames_in_the_same_burst_change_nothing)
{
    each(false, run_between);
    each(true, run_between);
}

Test(bad_inputs, splits_change_nothing)
{
    each(false, run_split);
}

Test(bad_inputs, splits_change_nothing_with_lenient_tlv)
{
    each(true, run_split);
}

Test(bad_inputs, flood_of_first_fragments_stays_within_its_bounds)
{
    start(false, 400);
    const struct bad_input *row = bad_input_find("L11");
    run(row, BAD_ETHER, 0, false);
    run(row, BAD_UDP4, 0, false);
    stop();
}
