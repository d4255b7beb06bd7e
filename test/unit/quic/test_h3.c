// SPDX-License-Identifier: Apache-2.0
#include <criterion/criterion.h>
#include <string.h>

#include "test/quic/h3.h"

struct body {
    uint8_t octets[256];
    size_t len;
};

static void collect(void *ctx, uint64_t offset, const uint8_t *octets, size_t len)
{
    struct body *body = ctx;
    cr_assert_eq(offset, body->len);
    cr_assert_leq(len, sizeof body->octets - body->len);
    memcpy(body->octets + body->len, octets, len);
    body->len += len;
}

/* The octets in two parts, split anywhere. */
static void read_split(const uint8_t *octets, size_t len, const char *want)
{
    for (size_t at = 0; at <= len; at++) {
        struct h3_reader reader = {0};
        struct body body = {.len = 0};
        cr_assert(h3_read(&reader, octets, at, collect, &body));
        cr_assert(h3_read(&reader, octets + at, len - at, collect, &body));
        cr_assert(reader.headers && !reader.in_frame && reader.n == 0, "split at %zu", at);
        cr_assert_eq(body.len, strlen(want));
        cr_assert_arr_eq(body.octets, want, body.len, "split at %zu", at);
    }
}

Test(h3, a_request_is_a_post_with_its_length)
{
    uint8_t out[H3_HEAD_MAX];
    size_t len = h3_request(out, 0x123456789);
    const uint8_t want[] = {1,   16,  0,   0,   0xd4, 0xd7, 0xc1, 0x50, 9, 'l',  'o',  'c',  'a', 'l',
                            'h', 'o', 's', 't', 0,    0xc0, 0,    0,    1, 0x23, 0x45, 0x67, 0x89};
    cr_assert_eq(len, sizeof want);
    cr_assert_arr_eq(out, want, len);
}

Test(h3, what_is_written_is_read_at_every_split)
{
    uint8_t octets[2 * H3_HEAD_MAX];
    size_t len = h3_request(octets, 5);
    memcpy(octets + len, "hello", 5);
    read_split(octets, len + 5, "hello");
    len = h3_response(octets, 7);
    memcpy(octets + len, "goodbye", 7);
    read_split(octets, len + 7, "goodbye");
}

Test(h3, data_comes_in_many_frames_among_others)
{
    // HEADERS, DATA "ab", an unknown type of two octets with payload, empty DATA, DATA "c" with a long length, trailers
    const uint8_t octets[] = {1, 3, 0, 0, 0xd9, 0, 2, 'a', 'b', 0x40, 0x21, 1, 'x', 0, 0, 0, 0x40, 1, 'c', 1, 2, 0, 0};
    read_split(octets, sizeof octets, "abc");
}

Test(h3, an_empty_body_is_whole)
{
    uint8_t octets[H3_HEAD_MAX];
    size_t len = h3_response(octets, 0);
    read_split(octets, len, "");
}

Test(h3, a_cut_body_is_seen)
{
    uint8_t octets[2 * H3_HEAD_MAX];
    struct h3_reader reader = {0};
    struct body body = {.len = 0};
    size_t len = h3_response(octets, 7);
    memcpy(octets + len, "goodby", 6);
    cr_assert(h3_read(&reader, octets, len + 6, collect, &body));
    cr_assert(reader.in_frame);
}

Test(h3, data_before_headers_is_refused)
{
    const uint8_t octets[] = {0, 1, 'x'};
    struct h3_reader reader = {0};
    struct body body = {.len = 0};
    cr_assert_not(h3_read(&reader, octets, sizeof octets, collect, &body));
    cr_assert_eq(body.len, 0);
}
