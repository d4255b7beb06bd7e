// SPDX-License-Identifier: Apache-2.0
#include "ports/sock/stream.h"

#include "parser/cursor.h"

#include <assert.h>

/* Longest type and length. */
#define HEADER_MAX (9 + 9)

static enum stream_verdict cut_any(const uint8_t *p, size_t len, size_t *size)
{
    struct cursor c = cursor_make(p, len);
    uint64_t type, length;
    if (cursor_tlv_number(&c, true, &type) != VERDICT_OK) {
        return STREAM_MORE;
    }
    if (type == 0 || type > UINT32_MAX) {
        return STREAM_BAD;
    }
    if (cursor_tlv_number(&c, true, &length) != VERDICT_OK) {
        return STREAM_MORE;
    }
    size_t header = len - cursor_left(&c);
    if (length > STREAM_ELEMENT_MAX - header) {
        return STREAM_BAD;
    }
    if (length > cursor_left(&c)) {
        return STREAM_MORE;
    }
    *size = header + (size_t)length;
    return STREAM_ELEMENT;
}

enum stream_verdict stream_cut(const uint8_t *p, size_t len, size_t *size)
{
    static_assert(HEADER_MAX < STREAM_ELEMENT_MAX, "no header is longer than the largest element");
    /* Nearly every element has a type of one octet and a length of one or three. */
    if (len >= 4 && (uint8_t)(p[0] - 1) < 0xfc) {
        size_t header = 2, length = p[1];
        if (length == 0xfd) {
            header = 4;
            length = load_be16(p + 2);
        }
        if (p[1] <= 0xfd && length <= len - header && length <= STREAM_ELEMENT_MAX - header) {
            *size = header + length;
            return STREAM_ELEMENT;
        }
    }
    return cut_any(p, len, size);
}
