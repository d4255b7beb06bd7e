// SPDX-License-Identifier: Apache-2.0
#include "fwd/mgmt/rib.h"

#include <openssl/evp.h>

#include <errno.h>
#include <string.h>
#include <time.h>

#include "fwd/mgmt/rib_impl.h"
#include "parser/ndn_encode.h"
#include "parser/ndn_packet.h"
#include "parser/ndn_tlv.h"

enum {
    TLV_KEYWORD = 32,
    TLV_SEGMENT = 50,
    TLV_VERSION = 54,
    TLV_VALIDITY_PERIOD = 253,
    TLV_NOT_BEFORE = 254,
    TLV_NOT_AFTER = 255,
};
#define CONTENT_TYPE_PREFIX_ANN 5
#define NS_PER_MS               UINT64_C(1000000)
/** Longest life of an announcement that is made here. */
#define ANNOUNCEMENT_MAX_MS (24 * 3600 * 1000)

/** Octets of the announced prefix at the front of an announcement's name. @return false: it is no such name */
static bool prefix_of(struct mgmt_octets name, uint16_t *prefix_len)
{
    // Types of the last three components, and where the first of them begins.
    uint32_t type[3] = {0};
    uint16_t start[3] = {0};
    bool is_pa[3] = {false};
    unsigned n = 0;
    struct cursor c = cursor_make(name.p, name.len);
    for (; cursor_left(&c) > 0; n++) {
        struct tlv comp;
        uint16_t at = (uint16_t)(name.len - cursor_left(&c));
        if (tlv_read(&c, false, &comp) != VERDICT_OK)
            return false;
        type[n % 3] = comp.type;
        start[n % 3] = at;
        is_pa[n % 3] = comp.type == TLV_KEYWORD && comp.len == 2 && memcmp(comp.value, "PA", 2) == 0;
        uint64_t number;
        if ((comp.type == TLV_SEGMENT || comp.type == TLV_VERSION) && !tlv_nni(&comp, &number))
            type[n % 3] = 0;
    }
    if (n < 3 || !is_pa[(n - 3) % 3] || type[(n - 2) % 3] != TLV_VERSION || type[(n - 1) % 3] != TLV_SEGMENT)
        return false;
    *prefix_len = start[(n - 3) % 3];
    return true;
}

/** Two digits of a date. @return -1: they are none */
static int two_digits(const uint8_t *p)
{
    if (p[0] < '0' || p[0] > '9' || p[1] < '0' || p[1] > '9')
        return -1;
    return (p[0] - '0') * 10 + (p[1] - '0');
}

/** YYYYMMDDThhmmss, as in certificates, to milliseconds since 1970. Times before are 0. */
static bool date_ms(const struct tlv *date, uint64_t *ms)
{
    static const uint8_t at[] = {0, 2, 4, 6, 9, 11, 13};
    int part[sizeof at];
    if (date->len != 15 || date->value[8] != 'T')
        return false;
    for (unsigned i = 0; i < sizeof at; i++) {
        part[i] = two_digits(date->value + at[i]);
        if (part[i] < 0)
            return false;
    }
    struct tm tm = {
        .tm_year = part[0] * 100 + part[1] - 1900,
        .tm_mon = part[2] - 1,
        .tm_mday = part[3],
        .tm_hour = part[4],
        .tm_min = part[5],
        .tm_sec = part[6],
    };
    if (tm.tm_mon < 0 || tm.tm_mon > 11 || tm.tm_mday < 1 || tm.tm_mday > 31 || tm.tm_hour > 23 || tm.tm_min > 59 ||
        tm.tm_sec > 60)
        return false;
    time_t seconds = timegm(&tm);
    *ms = seconds > 0 ? (uint64_t)seconds * 1000 : 0;
    return true;
}

static bool validity_decode(const struct tlv *period, uint64_t *from_ms, uint64_t *to_ms)
{
    struct cursor c = cursor_make(period->value, period->len);
    struct tlv from, to;
    return cursor_left(&c) > 0 && tlv_read(&c, false, &from) == VERDICT_OK && from.type == TLV_NOT_BEFORE &&
           date_ms(&from, from_ms) && cursor_left(&c) > 0 && tlv_read(&c, false, &to) == VERDICT_OK &&
           to.type == TLV_NOT_AFTER && date_ms(&to, to_ms) && cursor_left(&c) == 0;
}

/** What the Content says: how long from now, in milliseconds; 0: not valid now. */
static bool content_decode(const struct tlv *content, uint64_t wall_ms, uint64_t *left_ms)
{
    struct cursor c = cursor_make(content->value, content->len);
    struct tlv element;
    uint64_t from_ms, to_ms;
    if (cursor_left(&c) == 0 || tlv_read(&c, false, &element) != VERDICT_OK || element.type != MGMT_EXPIRATION_PERIOD ||
        !tlv_nni(&element, left_ms))
        return false;
    bool has_validity = false;
    while (cursor_left(&c) > 0) {
        if (tlv_read(&c, false, &element) != VERDICT_OK)
            return false;
        if (element.type == TLV_VALIDITY_PERIOD && !has_validity) {
            if (!validity_decode(&element, &from_ms, &to_ms))
                return false;
            has_validity = true;
        } else if (tlv_is_critical(element.type)) {
            return false;
        }
    }
    if (has_validity) {
        // Both ends belong to the period, as in certificates.
        uint64_t valid_ms = wall_ms >= from_ms && wall_ms <= to_ms ? to_ms - wall_ms : 0;
        *left_ms = valid_ms < *left_ms ? valid_ms : *left_ms;
    }
    return true;
}

static bool is_announcement_type(const struct tlv *meta_info)
{
    struct cursor c = cursor_make(meta_info->value, meta_info->len);
    struct tlv element;
    uint64_t type;
    return cursor_left(&c) > 0 && tlv_read(&c, false, &element) == VERDICT_OK && element.type == NDN_TLV_CONTENT_TYPE &&
           tlv_nni(&element, &type) && type == CONTENT_TYPE_PREFIX_ANN;
}

/** Find MetaInfo and Content behind the Name of a Data that the parser let pass. */
static bool data_split(const uint8_t *data, size_t len, struct tlv *meta_info, struct tlv *content)
{
    struct cursor c = cursor_make(data, len);
    struct tlv element;
    if (tlv_read_outer(&c, false, &element) != VERDICT_OK || cursor_left(&c) != 0)
        return false;
    c = cursor_make(element.value, element.len);
    bool has_meta_info = false;
    while (cursor_left(&c) > 0 && tlv_read(&c, false, &element) == VERDICT_OK) {
        if (element.type == NDN_TLV_META_INFO && !has_meta_info) {
            *meta_info = element;
            has_meta_info = true;
        } else if (element.type == NDN_TLV_CONTENT) {
            *content = element;
            return has_meta_info;
        }
    }
    return false;
}

/** Time @p left_ms after @p now_ns; never the 0 that means never. */
static uint64_t expiry_ns(uint64_t now_ns, uint64_t left_ms)
{
    uint64_t longest_ms = (UINT64_MAX - 1 - now_ns) / NS_PER_MS;
    uint64_t at_ns = now_ns + (left_ms < longest_ms ? left_ms : longest_ms) * NS_PER_MS;
    return at_ns > 0 ? at_ns : 1;
}

int rib_announcement_decode(const uint8_t *data, size_t len, uint32_t face, uint64_t now_ns, uint64_t wall_ms,
                            struct rib_announcement *announcement)
{
    struct ndn_packet pkt;
    const struct ndn_parse_opts opts = {0};
    struct tlv meta_info = {0}, content = {0};
    uint64_t left_ms;
    uint16_t prefix_len;
    if (len == 0 || data[0] != NDN_TYPE_DATA || ndn_packet_parse(data, len, &opts, &pkt) != VERDICT_OK)
        return -EBADMSG;
    struct mgmt_octets name = {pkt.name.value, pkt.name.len};
    if (!prefix_of(name, &prefix_len) || !data_split(data, len, &meta_info, &content) ||
        !is_announcement_type(&meta_info) || !content_decode(&content, wall_ms, &left_ms))
        return -EBADMSG;
    announcement->name = (struct mgmt_octets){name.p, prefix_len};
    announcement->route = (struct rib_route){
        .face = face,
        .origin = RIB_ORIGIN_PREFIXANN,
        .flags = RIB_CHILD_INHERIT,
        .cost = RIB_COST_PREFIXANN,
        .expires_ns = expiry_ns(now_ns, left_ms),
    };
    return 0;
}

/** The sooner of @p at_ns and @p max_ns from now. */
static uint64_t cut(uint64_t at_ns, uint64_t now_ns, uint64_t max_ns)
{
    return max_ns < UINT64_MAX - now_ns && now_ns + max_ns < at_ns ? now_ns + max_ns : at_ns;
}

int rib_announce(struct rib *rib, const struct rib_announcement *announcement, const uint8_t *data, size_t len,
                 uint64_t now_ns, uint64_t max_ns)
{
    struct rib_route route = announcement->route;
    uint64_t announcement_expires_ns = route.expires_ns;
    route.expires_ns = cut(route.expires_ns, now_ns, max_ns);
    if (route.expires_ns <= now_ns) {
        rib_unregister(rib, announcement->name, route.face, route.origin);
        return -ETIME;
    }
    struct mgmt_octets octets = {data, len <= NDN_PACKET_MAX ? (uint16_t)len : 0};
    return rib_register_announced(rib, announcement->name, &route, octets, announcement_expires_ns);
}

int rib_announcement_renew(struct rib *rib, struct mgmt_octets name, uint32_t face, uint64_t now_ns, uint64_t max_ns)
{
    struct rib_held *held = NULL;
    for (const struct rib_entry *entry = rib_nearest(rib, name); entry != NULL && held == NULL; entry = entry->parent) {
        held = rib_route_find(entry, face, RIB_ORIGIN_PREFIXANN);
        if (held != NULL && held->announced == NULL)
            return -ENOENT;
    }
    if (held == NULL)
        return -ENOENT;
    uint64_t expires_ns = cut(held->announced->expires_ns, now_ns, max_ns);
    if (expires_ns <= now_ns) {
        struct mgmt_octets at = {rib_entry_name(held->entry), held->entry->len};
        rib_unregister(rib, at, face, RIB_ORIGIN_PREFIXANN);
        return -ETIME;
    }
    held->route.expires_ns = expires_ns;
    rib_expiry_set(rib, held);
    return 0;
}

/** Append a component whose value is a NonNegativeInteger. */
static size_t put_number(uint8_t *p, uint8_t type, uint64_t number)
{
    p[0] = type;
    p[1] = (uint8_t)ndn_tlv_put_nni(p + 2, number);
    return 2u + p[1];
}

/** Data of the prefix with a digest for a signature: who asks knows us, and nobody else is to believe it. */
static size_t announcement_make(const struct rib_entry *entry, uint64_t left_ms, uint64_t wall_ms, uint8_t *data,
                                size_t size)
{
    static const uint8_t meta_info[] = {NDN_TLV_META_INFO, 3, NDN_TLV_CONTENT_TYPE, 1, CONTENT_TYPE_PREFIX_ANN};
    static const uint8_t signature_info[] = {NDN_TLV_SIGNATURE_INFO, 3, NDN_TLV_SIGNATURE_TYPE, 1, 0};
    uint8_t tail[32] = {TLV_KEYWORD, 2, 'P', 'A'}, content[16];
    size_t tail_len = 4;
    tail_len += put_number(tail + tail_len, TLV_VERSION, wall_ms);
    tail_len += put_number(tail + tail_len, TLV_SEGMENT, 0);
    size_t content_len = put_number(content, MGMT_EXPIRATION_PERIOD, left_ms);
    size_t name_len = entry->len + tail_len;
    size_t signed_len =
        1 + ndn_tlv_var_size(name_len) + name_len + sizeof meta_info + 2 + content_len + sizeof signature_info;
    size_t inside = signed_len + 2 + NDN_DIGEST_SIZE;
    if (1 + ndn_tlv_var_size(inside) + inside > size)
        return 0;
    uint8_t *p = data;
    *p++ = NDN_TYPE_DATA;
    p += ndn_tlv_put_var(p, inside);
    uint8_t *first = p;
    *p++ = NDN_TLV_NAME;
    p += ndn_tlv_put_var(p, name_len);
    memcpy(p, rib_entry_name(entry), entry->len);
    p += entry->len;
    p = (uint8_t *)memcpy(p, tail, tail_len) + tail_len;
    p = (uint8_t *)memcpy(p, meta_info, sizeof meta_info) + sizeof meta_info;
    *p++ = NDN_TLV_CONTENT;
    *p++ = (uint8_t)content_len;
    p = (uint8_t *)memcpy(p, content, content_len) + content_len;
    p = (uint8_t *)memcpy(p, signature_info, sizeof signature_info) + sizeof signature_info;
    uint8_t digest[NDN_DIGEST_SIZE];
    if (EVP_Digest(first, (size_t)(p - first), digest, NULL, EVP_sha256(), NULL) != 1)
        return 0;
    *p++ = NDN_TLV_SIGNATURE_VALUE;
    *p++ = NDN_DIGEST_SIZE;
    memcpy(p, digest, sizeof digest);
    return (size_t)(p + NDN_DIGEST_SIZE - data);
}

size_t rib_announcement_find(struct rib *rib, struct mgmt_octets name, uint64_t now_ns, uint64_t wall_ms, uint8_t *data,
                             size_t size)
{
    const struct rib_entry *entry = rib_nearest(rib, name);
    if (entry == NULL)
        return 0;
    const struct rib_announced *best = NULL;
    uint64_t until_ns = 0;
    for (const struct rib_held *held = entry->routes; held != NULL; held = held->next) {
        if (held->announced != NULL && (best == NULL || held->announced->expires_ns > best->expires_ns))
            best = held->announced;
        uint64_t expires_ns = held->route.expires_ns != 0 ? held->route.expires_ns : UINT64_MAX;
        until_ns = expires_ns > until_ns ? expires_ns : until_ns;
    }
    if (best != NULL && best->expires_ns > now_ns) {
        if (best->len > size)
            return 0;
        memcpy(data, best->octets, best->len);
        return best->len;
    }
    uint64_t left_ms = until_ns > now_ns ? (until_ns - now_ns) / NS_PER_MS : 0;
    return announcement_make(entry, left_ms < ANNOUNCEMENT_MAX_MS ? left_ms : ANNOUNCEMENT_MAX_MS, wall_ms, data, size);
}
