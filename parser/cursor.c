// SPDX-License-Identifier: Apache-2.0
#include "parser/cursor.h"

bool cursor_quic_varint_long(struct cursor *c, uint64_t *v)
{
    uint32_t n4;
    uint64_t n8;
    if (c->p[0] < 0xc0) {
        if (!cursor_u32(c, &n4))
            return false;
        *v = n4 & 0x3fffffff;
        return true;
    }
    if (!cursor_u64(c, &n8))
        return false;
    *v = n8 & 0x3fffffffffffffff;
    return true;
}
