// SPDX-License-Identifier: Apache-2.0
#ifndef PARSER_CURSOR_H
#define PARSER_CURSOR_H

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "parser/verdict.h"

/**
 * The one bounded big-endian reader that every octet from the network passes through. Each read compares its size
 * with what is left before it loads anything, so that no pointer beyond @p end is ever formed; on failure the cursor
 * stays where it was and the out-parameter is untouched. Loads go through memcpy(): no alignment is assumed.
 */
struct cursor {
    const uint8_t *p;   /**< next octet */
    const uint8_t *end; /**< one past the last */
};

/** A cursor over @p len octets at @p p. */
static inline struct cursor cursor_make(const uint8_t *p, size_t len)
{
    // Adding 0 to a null pointer is undefined, and an empty buffer may well be one.
    return (struct cursor){.p = p, .end = len > 0 ? p + len : p};
}

/** Octets left to read. */
static inline size_t cursor_left(const struct cursor *c)
{
    return (size_t)(c->end - c->p);
}

/** Big-endian loads for octets that are known to be in bounds. */
static inline uint16_t load_be16(const uint8_t *p)
{
    uint16_t v;
    memcpy(&v, p, sizeof v);
    return be16toh(v);
}

static inline uint32_t load_be32(const uint8_t *p)
{
    uint32_t v;
    memcpy(&v, p, sizeof v);
    return be32toh(v);
}

/** The same, little-endian: for comparisons with constants, where it costs nothing. */
static inline uint32_t load_le32(const uint8_t *p)
{
    uint32_t v;
    memcpy(&v, p, sizeof v);
    return le32toh(v);
}

static inline uint64_t load_be64(const uint8_t *p)
{
    uint64_t v;
    memcpy(&v, p, sizeof v);
    return be64toh(v);
}

/** Read one octet. @return false when nothing is left */
static inline bool cursor_u8(struct cursor *c, uint8_t *v)
{
    if (cursor_left(c) < 1)
        return false;
    *v = *c->p++;
    return true;
}

/** Read a 16-bit number. @return false when fewer than 2 octets are left */
static inline bool cursor_u16(struct cursor *c, uint16_t *v)
{
    if (cursor_left(c) < 2)
        return false;
    *v = load_be16(c->p);
    c->p += 2;
    return true;
}

/** Read a 24-bit number. @return false when fewer than 3 octets are left */
static inline bool cursor_u24(struct cursor *c, uint32_t *v)
{
    if (cursor_left(c) < 3)
        return false;
    *v = (uint32_t)c->p[0] << 16 | load_be16(c->p + 1);
    c->p += 3;
    return true;
}

/** Read a 32-bit number. @return false when fewer than 4 octets are left */
static inline bool cursor_u32(struct cursor *c, uint32_t *v)
{
    if (cursor_left(c) < 4)
        return false;
    *v = load_be32(c->p);
    c->p += 4;
    return true;
}

/** Read a 64-bit number. @return false when fewer than 8 octets are left */
static inline bool cursor_u64(struct cursor *c, uint64_t *v)
{
    if (cursor_left(c) < 8)
        return false;
    *v = load_be64(c->p);
    c->p += 8;
    return true;
}

/** Step over @p n octets, @p bytes pointing at the first. @return false when fewer are left */
static inline bool cursor_bytes(struct cursor *c, uint64_t n, const uint8_t **bytes)
{
    if (cursor_left(c) < n)
        return false;
    *bytes = c->p;
    c->p += n;
    return true;
}

/** The forms of four and eight octets, for cursor_quic_varint(). */
bool cursor_quic_varint_long(struct cursor *c, uint64_t *v);

/** Read a QUIC variable-length integer (RFC 9000, 16); longer forms than needed are legal. @return false when cut */
static inline bool cursor_quic_varint(struct cursor *c, uint64_t *v)
{
    size_t left = cursor_left(c);
    if (left < 1)
        return false;
    uint8_t first = c->p[0];
    if (first < 0x40) {
        *v = first;
        c->p += 1;
        return true;
    }
    if (first < 0x80) {
        if (left < 2)
            return false;
        *v = load_be16(c->p) & 0x3fff;
        c->p += 2;
        return true;
    }
    // Copies, so that the caller's variables can stay in registers.
    struct cursor next = *c;
    uint64_t n;
    if (!cursor_quic_varint_long(&next, &n))
        return false;
    *c = next;
    *v = n;
    return true;
}

/**
 * Read a TLV number (NDN packet spec 0.3, section 1): 1, 3, 5 or 9 octets.
 *
 * @return VERDICT_TLV_TRUNC when cut, VERDICT_TLV_NONMIN when not in shortest form and not @p lenient
 */
static inline enum verdict cursor_tlv_number(struct cursor *c, bool lenient, uint64_t *v)
{
    size_t left = cursor_left(c);
    if (left < 1)
        return VERDICT_TLV_TRUNC;
    uint8_t first = c->p[0];
    if (first < 0xfd) {
        *v = first;
        c->p += 1;
        return VERDICT_OK;
    }
    size_t size = (size_t)1 << (first - 0xfc);
    if (left - 1 < size)
        return VERDICT_TLV_TRUNC;
    uint64_t n, floor;
    switch (size) {
    case 2:
        n = load_be16(c->p + 1);
        floor = 0xfd;
        break;
    case 4:
        n = load_be32(c->p + 1);
        floor = 0x10000;
        break;
    default:
        n = load_be64(c->p + 1);
        floor = 0x100000000;
        break;
    }
    if (n < floor && !lenient)
        return VERDICT_TLV_NONMIN;
    *v = n;
    c->p += 1 + size;
    return VERDICT_OK;
}

/** Read a TLV-TYPE, 1 .. 2^32-1. @return as cursor_tlv_number(); VERDICT_TLV_TYPE0 when out of range */
static inline enum verdict cursor_tlv_type(struct cursor *c, bool lenient, uint32_t *type)
{
    struct cursor next = *c;
    uint64_t n;
    enum verdict verdict = cursor_tlv_number(&next, lenient, &n);
    if (verdict != VERDICT_OK)
        return verdict;
    if (n == 0 || n > UINT32_MAX)
        return VERDICT_TLV_TYPE0;
    *type = (uint32_t)n;
    *c = next;
    return VERDICT_OK;
}

/**
 * Read a TLV-LENGTH. It is not compared with what is left, except in the 9-octet form: no packet needs that, so it
 * is refused unless @p lenient allows it for a length that fits.
 *
 * @return as cursor_tlv_number(); VERDICT_TLV_LEN for a 9-octet form
 */
static inline enum verdict cursor_tlv_length(struct cursor *c, bool lenient, size_t *len)
{
    struct cursor next = *c;
    uint64_t n;
    enum verdict verdict = cursor_tlv_number(&next, true, &n);
    if (verdict != VERDICT_OK)
        return verdict;
    size_t size = (size_t)(next.p - c->p);
    if (size == 9 && (!lenient || n > cursor_left(&next)))
        return VERDICT_TLV_LEN;
    if (!lenient && ((size == 3 && n < 0xfd) || (size == 5 && n < 0x10000)))
        return VERDICT_TLV_NONMIN;
    *len = (size_t)n;
    *c = next;
    return VERDICT_OK;
}

#endif
