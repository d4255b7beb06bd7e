// SPDX-License-Identifier: Apache-2.0
#include "parser/ndn_name.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "parser/ndn_encode.h"
#include "parser/ndn_name_parse.h"

/** Types that have a name of their own in URIs, and how their value is written there. */
static const struct uri_type {
    const char *prefix;
    uint32_t type;
    enum { URI_HEX, URI_NUMBER } form;
} uri_types[] = {
    {"sha256digest", NDN_IMPLICIT_DIGEST, URI_HEX},
    {"params-sha256", NDN_PARAMS_DIGEST, URI_HEX},
    {"seg", 50, URI_NUMBER},
    {"off", 52, URI_NUMBER},
    {"v", 54, URI_NUMBER},
    {"t", 56, URI_NUMBER},
    {"seq", 58, URI_NUMBER},
};

#define ARRAY_SIZE(a) (sizeof(a) / sizeof(a)[0])

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

/** Where the URI's components are written; what does not fit is counted but not stored. */
struct out {
    uint8_t *buf;
    size_t size, used;
};

static int out_octet(struct out *out, uint8_t octet)
{
    if (out->used >= out->size)
        return -ENOSPC;
    out->buf[out->used++] = octet;
    return 0;
}

/** Decimal digits without leading zeros. */
static int parse_number(const char *s, size_t len, uint64_t *number)
{
    if (len == 0 || (len > 1 && s[0] == '0'))
        return -EINVAL;
    uint64_t n = 0;
    for (size_t i = 0; i < len; i++) {
        unsigned digit = (unsigned)(s[i] - '0');
        if (digit > 9 || n > (UINT64_MAX - digit) / 10)
            return -EINVAL;
        n = n * 10 + digit;
    }
    *number = n;
    return 0;
}

/** Percent-encoded text. A component of dots only has three more of them than its value. */
static int put_escaped(const char *s, size_t len, struct out *out)
{
    if (strspn(s, ".") >= len) {
        if (len < 3)
            return -EINVAL;
        len -= 3;
    }
    for (size_t i = 0; i < len; i++) {
        uint8_t octet = (uint8_t)s[i];
        if (octet == '%') {
            int high, low;
            if (len - i < 3 || (high = hex_digit(s[i + 1])) < 0 || (low = hex_digit(s[i + 2])) < 0)
                return -EINVAL;
            octet = (uint8_t)(high << 4 | low);
            i += 2;
        }
        int ret = out_octet(out, octet);
        if (ret != 0)
            return ret;
    }
    return 0;
}

static int put_hex(const char *s, size_t len, struct out *out)
{
    if (len % 2 != 0)
        return -EINVAL;
    for (size_t i = 0; i < len; i += 2) {
        int high = hex_digit(s[i]), low = hex_digit(s[i + 1]);
        if (high < 0 || low < 0)
            return -EINVAL;
        int ret = out_octet(out, (uint8_t)(high << 4 | low));
        if (ret != 0)
            return ret;
    }
    return 0;
}

static int put_number(const char *s, size_t len, struct out *out)
{
    uint64_t number;
    uint8_t octets[8];
    int ret = parse_number(s, len, &number);
    if (ret != 0)
        return ret;
    size_t size = ndn_tlv_put_nni(octets, number);
    for (size_t i = 0; i < size && ret == 0; i++)
        ret = out_octet(out, octets[i]);
    return ret;
}

/** Split "TYPE=" off a component; the type tells how the rest is to be read. */
static int put_value(const char *s, size_t len, struct out *out, uint32_t *type)
{
    const char *equals = memchr(s, '=', len);
    *type = NDN_GENERIC;
    if (equals == NULL)
        return put_escaped(s, len, out);
    size_t prefix_len = (size_t)(equals - s), value_len = len - prefix_len - 1;
    for (size_t i = 0; i < ARRAY_SIZE(uri_types); i++) {
        const struct uri_type *t = &uri_types[i];
        if (strlen(t->prefix) != prefix_len || memcmp(t->prefix, s, prefix_len) != 0)
            continue;
        *type = t->type;
        return t->form == URI_HEX ? put_hex(equals + 1, value_len, out) : put_number(equals + 1, value_len, out);
    }
    uint64_t number;
    if (parse_number(s, prefix_len, &number) != 0 || number == 0 || number > NDN_COMP_TYPE_MAX)
        return -EINVAL;
    *type = (uint32_t)number;
    return put_escaped(equals + 1, value_len, out);
}

static int put_component(const char *s, size_t len, struct out *out)
{
    // The value is written where it stands behind the longest header, then moved up to the header it needs.
    size_t start = out->used, header_max = 3 + 5, room = out->size - start;
    struct out value = {.buf = out->buf + start, .size = room, .used = 0};
    uint32_t type;
    int ret = put_value(s, len, &value, &type);
    if (ret != 0)
        return ret;
    if (type <= NDN_PARAMS_DIGEST && value.used != NDN_DIGEST_SIZE)
        return -EINVAL;
    uint8_t header[16];
    size_t header_len = ndn_tlv_put_var(header, type);
    header_len += ndn_tlv_put_var(header + header_len, value.used);
    if (header_len > header_max || room - value.used < header_len)
        return -ENOSPC;
    memmove(value.buf + header_len, value.buf, value.used);
    memcpy(value.buf, header, header_len);
    out->used = start + header_len + value.used;
    return 0;
}

int ndn_name_from_uri(const char *uri, uint8_t *buf, size_t size)
{
    struct out out = {.buf = buf, .size = size < INT32_MAX ? size : INT32_MAX, .used = 0};
    if (strncmp(uri, "ndn:", 4) == 0)
        uri += 4;
    if (*uri != '/')
        return -EINVAL;
    while (*uri == '/') {
        uri++;
        size_t len = strcspn(uri, "/");
        if (len == 0) {
            // The root, or a slash at the end.
            if (*uri != '\0')
                return -EINVAL;
            break;
        }
        int ret = put_component(uri, len, &out);
        if (ret != 0)
            return ret;
        uri += len;
    }
    return (int)out.used;
}

/** A text of which as much is kept as fits, as snprintf() does. */
struct text {
    char *buf;
    size_t size, used;
};

static __attribute__((format(printf, 2, 3))) void text_add(struct text *text, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    size_t at = text->used < text->size ? text->used : text->size;
    int n = vsnprintf(text->size > at ? text->buf + at : NULL, text->size - at, format, args);
    va_end(args);
    if (n > 0)
        text->used += (size_t)n;
}

static bool is_unreserved(uint8_t c)
{
    return c < 0x80 && (isalnum(c) || (c != 0 && strchr("-._~", c) != NULL));
}

static void text_escaped(struct text *text, const uint8_t *value, size_t len)
{
    size_t dots = 0;
    while (dots < len && value[dots] == '.')
        dots++;
    if (dots == len)
        text_add(text, "...");
    for (size_t i = 0; i < len; i++) {
        if (is_unreserved(value[i]))
            text_add(text, "%c", value[i]);
        else
            text_add(text, "%%%02X", value[i]);
    }
}

int ndn_name_to_uri(const uint8_t *value, size_t len, char *buf, size_t size)
{
    struct text text = {.buf = buf, .size = size, .used = 0};
    struct cursor c = cursor_make(value, len);
    if (size > 0)
        buf[0] = '\0';
    if (len == 0)
        text_add(&text, "/");
    while (cursor_left(&c) > 0) {
        struct tlv comp;
        if (ndn_name_comp(&c, true, &comp) != VERDICT_OK)
            return -EINVAL;
        if (comp.type <= NDN_PARAMS_DIGEST) {
            text_add(&text, "/%s=", comp.type == NDN_IMPLICIT_DIGEST ? "sha256digest" : "params-sha256");
            for (size_t i = 0; i < comp.len; i++)
                text_add(&text, "%02x", comp.value[i]);
            continue;
        }
        if (comp.type == NDN_GENERIC)
            text_add(&text, "/");
        else
            text_add(&text, "/%u=", comp.type);
        text_escaped(&text, comp.value, comp.len);
    }
    return (int)text.used;
}
