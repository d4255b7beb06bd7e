// SPDX-License-Identifier: Apache-2.0
#include "fwd/mgmt/auth_packet.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "parser/ndn_tlv.h"

enum {
    TLV_KEY_LOCATOR = 28,
    TLV_SIGNATURE_NONCE = 38,
    TLV_SIGNATURE_TIME = 40,
    TLV_SIGNATURE_SEQ_NUM = 42,
    TLV_INTEREST_SIGNATURE_INFO = 44,
    TLV_INTEREST_SIGNATURE_VALUE = 46,
    TLV_VALIDITY_PERIOD = 253,
    TLV_NOT_BEFORE = 254,
    TLV_NOT_AFTER = 255,
};

/*
 * Lenient about the form of TLV numbers: how strict the forwarder is about them was decided when the packet came in,
 * and what a signature covers are octets, not their meaning.
 */
static bool next(struct cursor *c, struct tlv *tlv)
{
    return tlv_read(c, true, tlv) == VERDICT_OK;
}

static struct cursor inside(const struct tlv *tlv)
{
    return cursor_make(tlv->value, tlv->len);
}

/* "20240229T235959" in UTC. */
static bool read_date(const struct tlv *tlv, uint64_t *ms)
{
    char text[16];
    struct tm tm = {0};
    if (tlv->len != sizeof text - 1 || tlv->value[8] != 'T')
        return false;
    for (size_t i = 0; i < tlv->len; i++)
        if (i != 8 && (tlv->value[i] < '0' || tlv->value[i] > '9'))
            return false;
    memcpy(text, tlv->value, tlv->len);
    text[tlv->len] = '\0';
    if (sscanf(text, "%4d%2d%2dT%2d%2d%2d", &tm.tm_year, &tm.tm_mon, &tm.tm_mday, &tm.tm_hour, &tm.tm_min,
               &tm.tm_sec) != 6)
        return false;
    if (tm.tm_mon < 1 || tm.tm_mon > 12 || tm.tm_mday < 1 || tm.tm_mday > 31 || tm.tm_hour > 23 || tm.tm_min > 59 ||
        tm.tm_sec > 60)
        return false;
    tm.tm_year -= 1900;
    tm.tm_mon -= 1;
    time_t seconds = timegm(&tm);
    // Before 1970 is as good as 1970.
    *ms = seconds > 0 ? (uint64_t)seconds * 1000 : 0;
    return true;
}

static bool read_validity(const struct tlv *period, struct auth_signature *signature)
{
    struct cursor c = inside(period);
    struct tlv from, to;
    signature->has_validity = true;
    return next(&c, &from) && from.type == TLV_NOT_BEFORE && read_date(&from, &signature->not_before_ms) &&
           next(&c, &to) && to.type == TLV_NOT_AFTER && read_date(&to, &signature->not_after_ms) &&
           cursor_left(&c) == 0;
}

static bool is_name(struct auth_view name)
{
    return auth_name_tail(name, NULL, 0) >= 0;
}

/* A KeyLocator with a KeyDigest names no key that we could find: as if it were not there. */
static bool read_key_locator(const struct tlv *locator, struct auth_signature *signature)
{
    struct cursor c = inside(locator);
    struct tlv tlv;
    if (!next(&c, &tlv) || cursor_left(&c) > 0)
        return false;
    if (tlv.type == NDN_TLV_NAME)
        signature->signer = (struct auth_view){tlv.value, tlv.len};
    return tlv.type != NDN_TLV_NAME || is_name(signature->signer);
}

/* TLV-VALUE of a SignatureInfo or InterestSignatureInfo. */
static bool read_info(const uint8_t *p, size_t len, struct auth_signature *signature)
{
    struct cursor c = cursor_make(p, len);
    struct tlv tlv;
    if (!next(&c, &tlv) || tlv.type != NDN_TLV_SIGNATURE_TYPE || !tlv_nni(&tlv, &signature->type))
        return false;
    uint64_t seq_num;
    for (uint32_t last = tlv.type; cursor_left(&c) > 0;) {
        if (!next(&c, &tlv))
            return false;
        bool ok = tlv.type > last;
        switch (tlv.type) {
        case TLV_KEY_LOCATOR:
            ok = ok && read_key_locator(&tlv, signature);
            break;
        case TLV_SIGNATURE_NONCE:
            signature->nonce = (struct auth_view){tlv.value, tlv.len};
            ok = ok && tlv.len > 0;
            break;
        case TLV_SIGNATURE_TIME:
            signature->has_time = true;
            ok = ok && tlv_nni(&tlv, &signature->time_ms);
            break;
        case TLV_SIGNATURE_SEQ_NUM:
            ok = ok && tlv_nni(&tlv, &seq_num);
            break;
        case TLV_VALIDITY_PERIOD:
            ok = ok && read_validity(&tlv, signature);
            break;
        default:
            if (tlv_is_critical(tlv.type))
                return false;
            continue;
        }
        if (!ok)
            return false;
        last = tlv.type;
    }
    return true;
}

int auth_name_tail(struct auth_view name, size_t from_end[], unsigned n)
{
    struct cursor c = cursor_make(name.p, name.len);
    struct tlv tlv;
    int n_comps = 0;
    while (cursor_left(&c) > 0) {
        if (n > 0)
            memmove(from_end + 1, from_end, (n - 1) * sizeof from_end[0]);
        if (n > 0)
            from_end[0] = (size_t)(c.p - name.p);
        if (!next(&c, &tlv))
            return -1;
        n_comps++;
    }
    return n_comps;
}

/* The TLV that a generic component holds, and nothing else. */
static bool component_tlv(struct auth_view name, size_t off, uint32_t type, struct tlv *tlv)
{
    struct cursor c = cursor_make(name.p + off, name.len - off);
    struct tlv comp;
    if (!next(&c, &comp) || comp.type != NDN_GENERIC)
        return false;
    c = inside(&comp);
    return next(&c, tlv) && tlv->type == type && cursor_left(&c) == 0;
}

static bool component_value(struct auth_view name, size_t off, struct tlv *comp)
{
    struct cursor c = cursor_make(name.p + off, name.len - off);
    return next(&c, comp) && comp->type == NDN_GENERIC;
}

/* .../TIMESTAMP/NONCE/SignatureInfo/SignatureValue */
static enum auth_format parse_v02(struct auth_signature *signature)
{
    size_t at[4];
    int n = auth_name_tail(signature->name, at, 4);
    struct tlv info, value, time, nonce;
    if (n < 2 || !component_tlv(signature->name, at[0], NDN_TLV_SIGNATURE_VALUE, &value) ||
        !component_tlv(signature->name, at[1], NDN_TLV_SIGNATURE_INFO, &info))
        return AUTH_UNSIGNED;
    if (n < 4 || !component_value(signature->name, at[3], &time) || !component_value(signature->name, at[2], &nonce) ||
        !read_info(info.value, info.len, signature) || !tlv_nni(&time, &signature->time_ms) || nonce.len == 0)
        return AUTH_BAD;
    signature->has_time = true;
    signature->nonce = (struct auth_view){nonce.value, nonce.len};
    signature->value = (struct auth_view){value.value, value.len};
    signature->covered[0] = (struct auth_view){signature->name.p, at[0]};
    return AUTH_COMMAND_V02;
}

/* The name's components but its parameters digest, which is taken out. */
static void cover_name(struct auth_signature *signature)
{
    struct auth_view name = signature->name;
    struct cursor c = cursor_make(name.p, name.len);
    struct tlv tlv;
    signature->covered[0] = name;
    for (const uint8_t *start = c.p; cursor_left(&c) > 0 && next(&c, &tlv); start = c.p) {
        if (tlv.type != NDN_PARAMS_DIGEST || tlv.len != NDN_DIGEST_SIZE)
            continue;
        memcpy(signature->params_digest, tlv.value, NDN_DIGEST_SIZE);
        signature->covered[0].len = (size_t)(start - name.p);
        signature->covered[1] = (struct auth_view){c.p, cursor_left(&c)};
        return;
    }
}

enum auth_format auth_interest_parse(const uint8_t *interest, size_t len, struct auth_signature *signature)
{
    struct cursor c = cursor_make(interest, len);
    struct tlv tlv, params = {0}, info = {0};
    memset(signature, 0, sizeof *signature);
    if (len > NDN_PACKET_MAX || !next(&c, &tlv) || tlv.type != NDN_TYPE_INTEREST || cursor_left(&c) > 0)
        return AUTH_BAD;
    c = inside(&tlv);
    const uint8_t *end = c.end, *start = NULL, *info_end = NULL;
    if (!next(&c, &tlv) || tlv.type != NDN_TLV_NAME)
        return AUTH_BAD;
    signature->name = (struct auth_view){tlv.value, tlv.len};
    if (!is_name(signature->name))
        return AUTH_BAD;
    while (cursor_left(&c) > 0) {
        const uint8_t *at = c.p;
        if (!next(&c, &tlv))
            return AUTH_BAD;
        if (tlv.type == NDN_TLV_APP_PARAMETERS && start == NULL) {
            start = at;
            params = tlv;
        } else if (tlv.type == TLV_INTEREST_SIGNATURE_INFO) {
            info = tlv;
            info_end = c.p;
            break;
        } else if (tlv.type == TLV_INTEREST_SIGNATURE_VALUE || start != NULL) {
            return AUTH_BAD;
        }
    }
    if (start != NULL)
        signature->params = (struct auth_view){start, (size_t)(end - start)};
    if (info_end == NULL)
        return parse_v02(signature);
    // Octets that nobody signed have no place between or behind.
    if (params.value == NULL || !read_info(info.value, info.len, signature) || !next(&c, &tlv) ||
        tlv.type != TLV_INTEREST_SIGNATURE_VALUE || cursor_left(&c) > 0)
        return AUTH_BAD;
    signature->value = (struct auth_view){tlv.value, tlv.len};
    cover_name(signature);
    signature->covered[2] = (struct auth_view){start, (size_t)(info_end - start)};
    return AUTH_SIGNED;
}

static bool read_meta_info(const struct tlv *meta, struct auth_signature *signature)
{
    struct cursor c = inside(meta);
    struct tlv tlv;
    while (cursor_left(&c) > 0) {
        if (!next(&c, &tlv))
            return false;
        if (tlv.type == NDN_TLV_CONTENT_TYPE && signature->content_type.p == NULL)
            signature->content_type = (struct auth_view){tlv.value, tlv.len};
    }
    return true;
}

enum auth_format auth_data_parse(const uint8_t *data, size_t len, struct auth_signature *signature)
{
    struct cursor c = cursor_make(data, len);
    struct tlv tlv;
    memset(signature, 0, sizeof *signature);
    if (len > NDN_PACKET_MAX || !next(&c, &tlv) || tlv.type != NDN_TYPE_DATA || cursor_left(&c) > 0)
        return AUTH_BAD;
    c = inside(&tlv);
    const uint8_t *start = c.p;
    if (!next(&c, &tlv) || tlv.type != NDN_TLV_NAME)
        return AUTH_BAD;
    signature->name = (struct auth_view){tlv.value, tlv.len};
    if (!is_name(signature->name))
        return AUTH_BAD;
    for (uint32_t last = NDN_TLV_NAME; next(&c, &tlv);) {
        bool known = tlv.type >= NDN_TLV_META_INFO && tlv.type <= NDN_TLV_SIGNATURE_VALUE;
        if (!known && !tlv_is_critical(tlv.type))
            continue;
        if (!known || tlv.type <= last)
            return AUTH_BAD;
        last = tlv.type;
        if (tlv.type == NDN_TLV_META_INFO && !read_meta_info(&tlv, signature))
            return AUTH_BAD;
        if (tlv.type == NDN_TLV_CONTENT)
            signature->content = (struct auth_view){tlv.value, tlv.len};
        if (tlv.type != NDN_TLV_SIGNATURE_INFO)
            continue;
        signature->covered[0] = (struct auth_view){start, (size_t)(c.p - start)};
        if (!read_info(tlv.value, tlv.len, signature) || !next(&c, &tlv) || tlv.type != NDN_TLV_SIGNATURE_VALUE ||
            cursor_left(&c) > 0)
            return AUTH_BAD;
        signature->value = (struct auth_view){tlv.value, tlv.len};
        return AUTH_SIGNED;
    }
    return AUTH_BAD;
}

size_t auth_covered(const struct auth_signature *signature, uint8_t *buf)
{
    size_t len = 0;
    for (size_t i = 0; i < sizeof signature->covered / sizeof signature->covered[0]; i++) {
        if (signature->covered[i].len == 0)
            continue;
        memcpy(buf + len, signature->covered[i].p, signature->covered[i].len);
        len += signature->covered[i].len;
    }
    return len;
}
