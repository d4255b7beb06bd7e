// SPDX-License-Identifier: Apache-2.0
/* Every row of test/cases against the parsers: its verdict, from any address, and no octet read past the end. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "parser/frame.h"
#include "parser/ndn_encode.h"
#include "parser/ndn_packet.h"
#include "parser/ndn_tlv.h"
#include "parser/quic.h"
#include "test/cases/bad_inputs.h"
#include "test/cases/usual.h"
#include "test/unit/parser/guard.h"

static enum verdict parse_ndn(const struct bad_input *row, bool ether, const uint8_t *p, size_t len,
                              struct ndn_packet *pkt)
{
    struct ndn_parse_opts opts = {.lenient = row->lenient, .allow_trailing = ether};
    const char *differs = usual_differs(p, len, &opts);
    cr_assert_null(differs, "%s: %s", row->id, differs);
    return ndn_packet_parse(p, len, &opts, pkt);
}

static enum verdict parse_quic(const struct bad_input *row, const uint8_t *p, size_t len, struct quic_header *header)
{
    struct quic_opts opts = {.require_fixed_bit = row->fixed_bit, .from_client = true, .short_dcid_len = 8};
    return quic_parse(p, len, &opts, header);
}

static enum verdict parse_frame(const struct bad_input *row, const uint8_t *p, size_t len)
{
    static const struct frame_opts opts;
    struct frame frame;
    enum verdict verdict = frame_parse(p, len, &opts, &frame);
    if (verdict != VERDICT_OK)
        return verdict;
    cr_assert_leq(frame.payload_off + (size_t)frame.payload_len, len, "%s", row->id);
    const uint8_t *payload = p + frame.payload_off;
    if (frame.kind != FRAME_NDN && frame.dport == bad_addrs_default.quic_port) {
        struct quic_header header;
        return parse_quic(row, payload, frame.payload_len, &header);
    }
    struct ndn_packet pkt;
    return parse_ndn(row, frame.kind == FRAME_NDN, payload, frame.payload_len, &pkt);
}

/** Parse a payload as @p carrier demands. */
static enum verdict parse(const struct bad_input *row, enum bad_carrier carrier, const uint8_t *p, size_t len)
{
    if (carrier == BAD_FRAME)
        return parse_frame(row, p, len);
    if (carrier == BAD_QUIC) {
        struct quic_header header;
        return parse_quic(row, p, len, &header);
    }
    struct ndn_packet pkt;
    return parse_ndn(row, carrier == BAD_ETHER, p, len, &pkt);
}

static const char *expected(const struct bad_input *row)
{
    return row->stage == BAD_PARSER && strcmp(row->outcome, "accept") != 0 ? row->outcome : "ok";
}

/** Call @p f for each row and carrier with the payload of its first packets. */
static void each_payload(void (*f)(const struct bad_input *row, enum bad_carrier carrier, const uint8_t *p, size_t len))
{
    uint8_t *buf = malloc(BAD_INPUT_MAX);
    cr_assert(buf != NULL);
    for (size_t r = 0; r < n_bad_inputs; r++) {
        const struct bad_input *row = &bad_inputs[r];
        for (unsigned carrier = BAD_ETHER; carrier <= BAD_FRAME; carrier <<= 1) {
            if ((row->carriers & carrier) == 0)
                continue;
            for (uint32_t i = 0; i < row->n_packets && i < 40; i++)
                f(row, (enum bad_carrier)carrier, buf, bad_input_payload(row, i, &bad_addrs_default, buf));
        }
    }
    free(buf);
}

static void check_verdict(const struct bad_input *row, enum bad_carrier carrier, const uint8_t *p, size_t len)
{
    enum verdict verdict = parse(row, carrier, p, len);
    cr_expect_str_eq(verdict_name(verdict), expected(row), "%s (%s): %s, expected %s", row->id, row->what,
                     verdict_name(verdict), expected(row));
}

Test(bad_inputs, every_row_has_its_verdict)
{
    each_payload(check_verdict);
}

static void check_unaligned(const struct bad_input *row, enum bad_carrier carrier, const uint8_t *p, size_t len)
{
    for (size_t shift = 1; shift < 8; shift++) {
        uint8_t *copy = malloc(len + shift);
        cr_assert(copy != NULL);
        memcpy(copy + shift, p, len);
        cr_expect_str_eq(verdict_name(parse(row, carrier, copy + shift, len)), expected(row), "%s at %zu", row->id,
                         shift);
        free(copy);
    }
}

Test(bad_inputs, verdict_does_not_depend_on_alignment)
{
    each_payload(check_unaligned);
}

/** What of a payload the parser may accept when that is all there is. */
static bool is_whole(enum bad_carrier carrier, const uint8_t *p, size_t len)
{
    if (carrier == BAD_QUIC) {
        struct quic_opts opts = {.from_client = true};
        struct quic_header header;
        // The first packet says how long it is; others reach to the end of the datagram, wherever that is.
        return quic_parse(p, len, &opts, &header) == VERDICT_OK && header.packet_len <= len;
    }
    struct cursor c = cursor_make(p, len);
    struct tlv outer;
    return tlv_read(&c, true, &outer) == VERDICT_OK;
}

static void check_truncated(const struct bad_input *row, enum bad_carrier carrier, const uint8_t *p, size_t len)
{
    static struct guard guard;
    if (guard.end == NULL)
        guard = guard_make(BAD_INPUT_MAX);
    for (size_t n = 0; n <= len; n++) {
        // All lengths of what is small, and around the ends of what is large.
        if (n == 1400 && len > 2800)
            n = len - 40;
        const uint8_t *copy = guard_copy(&guard, p, n);
        enum verdict verdict = parse(row, carrier, copy, n);
        if (verdict == VERDICT_OK && n < len && carrier != BAD_FRAME)
            cr_expect(is_whole(carrier, copy, n), "%s: %zu of %zu octets accepted", row->id, n, len);
    }
}

Test(bad_inputs, nothing_is_read_past_the_end_at_any_cut)
{
    each_payload(check_truncated);
}

Test(bad_inputs, a_cut_ip_frame_is_never_accepted)
{
    static const char *const ids[] = {"E25b", "E24d"};
    uint8_t *buf = malloc(BAD_INPUT_MAX);
    for (size_t i = 0; i < sizeof ids / sizeof ids[0]; i++) {
        const struct bad_input *row = bad_input_find(ids[i]);
        size_t len = bad_input_payload(row, 0, &bad_addrs_default, buf);
        for (size_t n = 0; n < len; n++)
            cr_expect_neq(parse_frame(row, buf, n), VERDICT_OK, "%s: %zu of %zu octets accepted", row->id, n, len);
    }
    free(buf);
}

/** The same outcome when the payload comes in a whole frame. */
static void check_frame(const struct bad_input *row, enum bad_carrier carrier, const uint8_t *p, size_t len)
{
    static uint8_t frame[BAD_INPUT_MAX];
    (void)p;
    (void)len;
    size_t size = bad_input_frame(row, 0, carrier, &bad_addrs_default, frame);
    cr_expect_str_eq(verdict_name(parse_frame(row, frame, size)), expected(row), "%s (%s) as a frame", row->id,
                     row->what);
}

Test(bad_inputs, verdict_is_the_same_inside_a_frame)
{
    each_payload(check_frame);
}

/** A network packet gets the same verdict behind LpPacket headers, those of the usual shape included. */
static void check_wrapped(const struct bad_input *row, enum bad_carrier carrier, const uint8_t *p, size_t len)
{
    static uint8_t buf[BAD_INPUT_MAX + NDN_LP_HEADER_MAX];
    if (row->id[0] != 'N' || carrier != BAD_UDP4)
        return;
    for (uint8_t token_len = 0; token_len <= 9; token_len++) {
        struct ndn_lp_out lp = {.token = (const uint8_t *)"123456789", .token_len = token_len};
        uint8_t *fragment = buf + NDN_LP_HEADER_MAX;
        memcpy(fragment, p, len);
        size_t header = ndn_lp_prepend(fragment, len, &lp);
        cr_expect_str_eq(verdict_name(parse(row, carrier, fragment - header, header + len)), expected(row),
                         "%s (%s) behind a token of %u octets", row->id, row->what, token_len);
    }
}

Test(bad_inputs, verdict_is_the_same_inside_an_lp_packet)
{
    each_payload(check_wrapped);
}

Test(bad_inputs, parser_outcomes_are_names_of_verdicts)
{
    for (size_t r = 0; r < n_bad_inputs; r++) {
        const struct bad_input *row = &bad_inputs[r];
        bool found = row->stage == BAD_PIPELINE || strcmp(row->outcome, "accept") == 0;
        for (unsigned v = VERDICT_OK + 1; v < VERDICT_COUNT; v++)
            found = found || strcmp(row->outcome, verdict_name((enum verdict)v)) == 0;
        cr_expect(found, "%s: %s is no verdict", row->id, row->outcome);
    }
}
