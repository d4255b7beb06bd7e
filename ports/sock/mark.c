// SPDX-License-Identifier: Apache-2.0
#include "ports/sock/mark.h"

#include "parser/ndn_encode.h"
#include "parser/ndn_tlv.h"

#include <math.h>
#include <string.h>

bool mark_due(struct mark *mark, bool above, uint64_t now_ns, uint64_t interval_ns)
{
    if (!above) {
        *mark = (struct mark){0};
        return false;
    }
    if (mark->next_ns == 0) {
        mark->next_ns = now_ns + interval_ns;
        return false;
    }
    if (now_ns < mark->next_ns) {
        return false;
    }
    mark->n++;
    mark->next_ns += (uint64_t)((double)interval_ns / sqrt((double)mark->n + 1));
    return true;
}

static size_t mark_bare(uint8_t *out, size_t size, const uint8_t *packet, size_t len)
{
    /* The header is written so that it ends at a place, which must be where the packet begins. */
    const struct ndn_lp_out lp = {.has_mark = true, .congestion_mark = 1};
    size_t header = ndn_lp_prepend_size(len, &lp);
    uint8_t room[NDN_LP_HEADER_MAX];
    if (header > size || len > size - header) {
        return 0;
    }
    ndn_lp_prepend(room + sizeof room, len, &lp);
    memcpy(out, room + sizeof room - header, header);
    memcpy(out + header, packet, len);
    return header + len;
}

size_t mark_packet(uint8_t *out, size_t size, const uint8_t *packet, size_t len)
{
    static const uint8_t field[] = {NDN_LP_CONGESTION_MARK >> 8, NDN_LP_CONGESTION_MARK & 0xff, 1, 1};
    struct cursor c = cursor_make(packet, len);
    struct tlv outer, inner;
    if (tlv_read_outer(&c, true, &outer) != VERDICT_OK || cursor_left(&c) != 0) {
        return 0;
    }
    if (outer.type != NDN_LP_PACKET) {
        return mark_bare(out, size, packet, len);
    }
    /* Fields are in ascending order, but that Fragment comes last. */
    const uint8_t *place = outer.value;
    c = cursor_make(outer.value, outer.len);
    while (cursor_left(&c) > 0) {
        place = c.p;
        if (tlv_read(&c, true, &inner) != VERDICT_OK || inner.type == NDN_LP_CONGESTION_MARK) {
            return 0;
        }
        if (inner.type == NDN_LP_FRAGMENT || inner.type > NDN_LP_CONGESTION_MARK) {
            break;
        }
        place = c.p;
    }
    size_t before = (size_t)(place - outer.value), inside = outer.len + 1 + sizeof field;
    uint8_t header[1 + 9] = {NDN_LP_PACKET};
    size_t header_len = 1 + ndn_tlv_put_var(header + 1, inside);
    if (header_len + inside > size) {
        return 0;
    }
    uint8_t *p = out;
    memcpy(p, header, header_len);
    p += header_len;
    memcpy(p, outer.value, before);
    p += before;
    *p++ = 0xfd;
    memcpy(p, field, sizeof field);
    p += sizeof field;
    memcpy(p, place, outer.len - before);
    return header_len + inside;
}
