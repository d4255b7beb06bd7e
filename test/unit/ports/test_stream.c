// SPDX-License-Identifier: Apache-2.0
#include "ports/sock/mark.h"
#include "ports/sock/queue.h"
#include "ports/sock/stream.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

struct row {
    const char *name;
    uint8_t octets[20];
    size_t len;
    enum stream_verdict verdict;
    size_t size;
};

Test(stream, first_element_is_cut)
{
    static const struct row rows[] = {
        {"nothing", {0}, 0, STREAM_MORE, 0},
        {"a type", {5}, 1, STREAM_MORE, 0},
        {"an empty element", {100, 0}, 2, STREAM_ELEMENT, 2},
        {"an empty element and more", {100, 0, 5, 1, 1}, 5, STREAM_ELEMENT, 2},
        {"an element", {5, 2, 1, 2}, 4, STREAM_ELEMENT, 4},
        {"one octet short", {5, 3, 1, 2}, 4, STREAM_MORE, 0},
        {"three octets of length", {5, 253, 0, 1, 9}, 5, STREAM_ELEMENT, 5},
        {"length cut", {5, 253, 0}, 3, STREAM_MORE, 0},
        {"five octets of length", {5, 254, 0, 0, 0, 1, 9}, 7, STREAM_ELEMENT, 7},
        {"nine octets of length", {5, 255, 0, 0, 0, 0, 0, 0, 0, 1, 9}, 11, STREAM_ELEMENT, 11},
        {"largest packet begins", {6, 253, 0x22, 0x5c}, 4, STREAM_MORE, 0},
        {"one octet too long", {6, 253, 0x22, 0x5d}, 4, STREAM_BAD, 0},
        {"largest with a longer header", {6, 254, 0, 0, 0x22, 0x5a}, 6, STREAM_MORE, 0},
        {"too long with a longer header", {6, 254, 0, 0, 0x22, 0x5b}, 6, STREAM_BAD, 0},
        {"2^32-1", {6, 254, 255, 255, 255, 255}, 6, STREAM_BAD, 0},
        {"2^64-1", {6, 255, 255, 255, 255, 255, 255, 255, 255, 255}, 10, STREAM_BAD, 0},
        {"type 0", {0, 2, 1, 2}, 4, STREAM_BAD, 0},
        {"type 0 alone", {0}, 1, STREAM_BAD, 0},
        {"type of three octets", {253, 3, 32, 1, 7}, 5, STREAM_ELEMENT, 5},
        {"type of three octets cut", {253, 3}, 2, STREAM_MORE, 0},
        {"type 0 in three octets", {253, 0, 0, 1, 7}, 5, STREAM_BAD, 0},
        {"type 2^32", {255, 0, 0, 0, 1, 0, 0, 0, 0, 0}, 10, STREAM_BAD, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct row *row = &rows[i];
        size_t size = 0;
        cr_expect_eq(stream_cut(row->octets, row->len, &size), row->verdict, "%s", row->name);
        cr_expect_eq(size, row->size, "%s: %zu", row->name, size);
    }
}

/* However little there is of a stream, the verdict on it does not change as more comes. */
Test(stream, verdicts_hold_at_every_split)
{
    static uint8_t octets[STREAM_ELEMENT_MAX + 1];
    static const size_t lengths[] = {0, 1, 252, 253, 254, 1500, STREAM_ELEMENT_MAX - 4, STREAM_ELEMENT_MAX - 3};
    for (size_t k = 0; k < sizeof lengths / sizeof lengths[0]; k++) {
        size_t length = lengths[k], header = length < 253 ? 2 : 4;
        octets[0] = 6;
        octets[1] = length < 253 ? (uint8_t)length : 253;
        octets[2] = (uint8_t)(length >> 8);
        octets[3] = (uint8_t)length;
        for (size_t len = 0; len <= sizeof octets; len++) {
            size_t size = 0;
            enum stream_verdict verdict = stream_cut(octets, len, &size);
            if (header + length > STREAM_ELEMENT_MAX) {
                cr_assert_eq(verdict, len < header ? STREAM_MORE : STREAM_BAD, "%zu of %zu", len, length);
            } else {
                cr_assert_eq(verdict, len < header + length ? STREAM_MORE : STREAM_ELEMENT, "%zu of %zu", len, length);
                cr_assert_eq(size, verdict == STREAM_ELEMENT ? header + length : 0);
            }
        }
    }
}

Test(queue, gives_back_what_was_put_in)
{
    struct sock_queue queue = {0};
    uint8_t in = 0, out = 0;
    size_t left = 0;
    srand(1);
    for (unsigned i = 0; i < 20000; i++) {
        size_t n = (size_t)rand() % 3000;
        if (rand() % 2) {
            uint8_t *room = queue_room(&queue, n);
            cr_assert_not_null(room);
            for (size_t k = 0; k < n; k++) {
                room[k] = in++;
            }
            queue_added(&queue, n);
            left += n;
        } else {
            n = n < left ? n : left;
            for (size_t k = 0; k < n; k++) {
                cr_assert_eq(queue_first(&queue)[k], out++);
            }
            queue_take(&queue, n);
            left -= n;
        }
        cr_assert_eq(queue.len, left);
    }
    queue_clear(&queue);
    cr_assert_null(queue.data);
}

Test(queue, holds_no_memory_when_empty)
{
    struct sock_queue queue = {0};
    cr_assert(queue_set(&queue, (const uint8_t *)"abc", 3));
    queue_take(&queue, 3);
    cr_assert_null(queue.data);
    cr_assert_eq(queue.size, 0);
}

Test(mark, first_comes_after_the_interval_and_the_others_ever_sooner)
{
    const uint64_t interval = 100000000;
    struct mark mark = {0};
    uint64_t now = 5000;
    cr_assert(!mark_due(&mark, false, now, interval));
    cr_assert(!mark_due(&mark, true, now, interval));
    cr_assert(!mark_due(&mark, true, now + interval - 1, interval));
    /* 100 ms / sqrt(n + 1) after each of n marks. */
    static const uint64_t after[] = {100000000, 170710678, 228445704, 278445704};
    for (unsigned i = 0; i < 4; i++) {
        cr_assert(!mark_due(&mark, true, now + after[i] - 10, interval), "%u", i);
        cr_assert(mark_due(&mark, true, now + after[i] + 10, interval), "%u", i);
        cr_assert(!mark_due(&mark, true, now + after[i] + 20, interval), "%u", i);
    }
    /* The incident ends: all begins anew. */
    cr_assert(!mark_due(&mark, false, now + 300000000, interval));
    cr_assert(!mark_due(&mark, true, now + 400000000, interval));
    cr_assert(!mark_due(&mark, true, now + 499999999, interval));
    cr_assert(mark_due(&mark, true, now + 500000000, interval));
}

struct mark_row {
    const char *name;
    uint8_t in[40];
    size_t in_len;
    uint8_t out[40];
    size_t out_len;
};

Test(mark, field_gets_its_place)
{
#define ROW(name, in, out)                           \
    {                                                \
        name, in, sizeof in - 1, out, sizeof out - 1 \
    }
    static const struct mark_row rows[] = {
        ROW("bare packet", "\x05\x02\x01\x02", "\x64\x0b\xfd\x03\x40\x01\x01\x50\x04\x05\x02\x01\x02"),
        ROW("token", "\x64\x08\x62\x02\xaa\xbb\x50\x02\x05\x00",
            "\x64\x0d\x62\x02\xaa\xbb\xfd\x03\x40\x01\x01\x50\x02\x05\x00"),
        ROW("between fields", "\x64\x11\xfd\x03\x2c\x01\x07\xfd\x03\x4c\x00\x50\x02\x05\x00",
            "\x64\x16\xfd\x03\x2c\x01\x07\xfd\x03\x40\x01\x01\xfd\x03\x4c\x00\x50\x02\x05\x00"),
        ROW("without fragment", "\x64\x04\x62\x02\xaa\xbb", "\x64\x09\x62\x02\xaa\xbb\xfd\x03\x40\x01\x01"),
        ROW("empty", "\x64\x00", "\x64\x05\xfd\x03\x40\x01\x01"),
        ROW("mark there already", "\x64\x09\xfd\x03\x40\x01\x01\x50\x02\x05\x00", ""),
        ROW("field cut", "\x64\x03\x62\x02\xaa", ""),
        ROW("element cut", "\x05\x03\x01", ""),
        ROW("octets behind", "\x05\x01\x01\x01", ""),
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct mark_row *row = &rows[i];
        uint8_t in[40], out[40 + MARK_SIZE_MAX];
        memcpy(in, row->in, row->in_len);
        if (in[0] == 0x64 && row->out_len > 2) {
            in[1] = (uint8_t)(row->in_len - 2);
        }
        size_t len = mark_packet(out, sizeof out, in, row->in_len);
        cr_expect_eq(len, row->out_len, "%s: %zu", row->name, len);
        if (len > 2) {
            cr_expect_eq(out[1], len - 2, "%s", row->name);
            cr_expect_eq(memcmp(out + 2, row->out + 2, len - 2), 0, "%s", row->name);
        }
    }
    uint8_t small[8];
    cr_expect_eq(mark_packet(small, sizeof small, (const uint8_t *)"\x05\x02\x01\x02", 4), 0);
}

/* Over the borders of the length's form, up to the largest packet. */
Test(mark, lengths_are_right_at_every_size)
{
    static uint8_t in[STREAM_ELEMENT_MAX], out[STREAM_ELEMENT_MAX + MARK_SIZE_MAX];
    for (size_t len = 2; len <= STREAM_ELEMENT_MAX; len++) {
        for (unsigned lp = 0; lp < 2; lp++) {
            size_t header = len < 255 ? 2 : 4;
            if (len == 255 || len == 256) {
                continue; /* there is no such element */
            }
            memset(in, 0, sizeof in);
            in[0] = lp ? 0x64 : 0x06;
            in[1] = header == 2 ? (uint8_t)(len - 2) : 253;
            if (header == 4) {
                in[2] = (uint8_t)((len - 4) >> 8);
                in[3] = (uint8_t)(len - 4);
            }
            if (lp && len > header) {
                if (len < header + 4) {
                    continue;
                }
                size_t inside = len - header - 4;
                in[header] = 0x50;
                in[header + 1] = 0xfd; /* a form that is longer than needed, so that every size can be had */
                in[header + 2] = (uint8_t)(inside >> 8);
                in[header + 3] = (uint8_t)inside;
            }
            size_t size = 0, n = mark_packet(out, sizeof out, in, len);
            cr_assert(n > len && n <= len + MARK_SIZE_MAX, "%zu", len);
            cr_assert_eq(stream_cut(out, n, &size), n <= STREAM_ELEMENT_MAX ? STREAM_ELEMENT : STREAM_BAD, "%zu", len);
            cr_assert(size == 0 || size == n, "%zu", len);
            cr_assert_eq(memcmp(out + n - (len - header), in + header, len - header), 0, "%zu", len);
        }
    }
}
