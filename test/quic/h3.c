// SPDX-License-Identifier: Apache-2.0
#include "test/quic/h3.h"

#include <string.h>

/* RFC 9114, section 7.2 */
#define FRAME_DATA    0x00
#define FRAME_HEADERS 0x01

/* Field lines of QPACK behind the prefix of a section that refers to no dynamic table. */
static const uint8_t request[] = {
    0,         0,
    0xc0 | 20,                                                // :method POST
    0xc0 | 23,                                                // :scheme https
    0xc0 | 1,                                                 // :path /
    0x50 | 0,  9, 'l', 'o', 'c', 'a', 'l', 'h', 'o', 's', 't' // :authority
};
static const uint8_t response[] = {0, 0, 0xc0 | 25}; // :status 200

/* @return octets of HEADERS with that section, and of the beginning of DATA with @p body octets */
static size_t head(uint8_t *out, const uint8_t *section, size_t len, uint64_t body)
{
    uint8_t *p = out;
    *p++ = FRAME_HEADERS;
    *p++ = (uint8_t)len;
    memcpy(p, section, len);
    p += len;
    *p++ = FRAME_DATA;
    for (unsigned i = 0; i < 8; i++)
        *p++ = (uint8_t)(body >> (56 - 8 * i));
    p[-8] |= 0xc0;
    return (size_t)(p - out);
}

size_t h3_request(uint8_t out[H3_HEAD_MAX], uint64_t body)
{
    return head(out, request, sizeof request, body);
}

size_t h3_response(uint8_t out[H3_HEAD_MAX], uint64_t body)
{
    return head(out, response, sizeof response, body);
}

/* A variable-length integer (RFC 9000, section 16) at @p p. @return its octets, 0: not all are there */
static size_t varint(const uint8_t *p, size_t len, uint64_t *value)
{
    if (len == 0 || len < (size_t)1 << (p[0] >> 6))
        return 0;
    size_t n = (size_t)1 << (p[0] >> 6);
    *value = p[0] & 0x3f;
    for (size_t i = 1; i < n; i++)
        *value = *value << 8 | p[i];
    return n;
}

/* One more octet of a frame's type and length. @return false: DATA before HEADERS */
static bool frame_head(struct h3_reader *reader, uint8_t octet)
{
    uint64_t type;
    reader->head[reader->n++] = octet;
    size_t n = varint(reader->head, reader->n, &type);
    if (n == 0 || varint(reader->head + n, reader->n - n, &reader->left) == 0)
        return true;
    reader->n = 0;
    reader->in_frame = reader->left > 0;
    reader->is_data = type == FRAME_DATA;
    reader->headers = reader->headers || type == FRAME_HEADERS;
    return !reader->is_data || reader->headers;
}

bool h3_read(struct h3_reader *reader, const uint8_t *octets, size_t len,
             void (*data)(void *ctx, uint64_t offset, const uint8_t *octets, size_t len), void *ctx)
{
    while (len > 0) {
        if (!reader->in_frame) {
            if (!frame_head(reader, *octets))
                return false;
            octets++;
            len--;
        }
        if (!reader->in_frame)
            continue;
        size_t n = len < reader->left ? len : (size_t)reader->left;
        if (reader->is_data && n > 0) {
            data(ctx, reader->body, octets, n);
            reader->body += n;
        }
        octets += n;
        len -= n;
        reader->left -= n;
        reader->in_frame = reader->left > 0;
    }
    return true;
}
