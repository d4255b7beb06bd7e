// SPDX-License-Identifier: Apache-2.0
#ifndef TEST_UNIT_FWD_ANNOUNCEMENT_H
#define TEST_UNIT_FWD_ANNOUNCEMENT_H

/* Prefix announcements, right ones and others. */
#include <criterion/criterion.h>

#include <stdint.h>
#include <string.h>

#include "parser/ndn_encode.h"
#include "parser/ndn_name.h"

struct announcement_form {
    const char *name;    /**< URI */
    int content_type;    /**< -1: no MetaInfo */
    const uint8_t *more; /**< octets of Content after ExpirationPeriod */
    size_t more_len;
    uint64_t expiration_ms;
    bool no_expiration;
};

/** TLV of fewer than 65536 octets. @return end */
static inline uint8_t *announcement_tlv(uint8_t *p, uint32_t type, const void *value, size_t len)
{
    p += ndn_tlv_put_var(p, type);
    p += ndn_tlv_put_var(p, len);
    if (len > 0)
        memcpy(p, value, len);
    return p + len;
}

/** @return octets written to @p data, which has 4096 */
static inline size_t announcement_write(uint8_t *data, const struct announcement_form *form)
{
    static uint8_t name[2048], content[2048], inside[4096];
    static const uint8_t sig_info[] = {0x1b, 1, 0}, digest[32] = {0};
    int name_len = ndn_name_from_uri(form->name, name, sizeof name);
    cr_assert_geq(name_len, 0);
    uint8_t *p = content, number[8];
    if (!form->no_expiration)
        p = announcement_tlv(p, 109, number, ndn_tlv_put_nni(number, form->expiration_ms));
    if (form->more_len > 0)
        memcpy(p, form->more, form->more_len);
    size_t content_len = (size_t)(p - content) + form->more_len;
    p = announcement_tlv(inside, 7, name, (size_t)name_len);
    uint8_t meta_info[3] = {0x18, 1, (uint8_t)form->content_type};
    if (form->content_type >= 0)
        p = announcement_tlv(p, 20, meta_info, sizeof meta_info);
    p = announcement_tlv(p, 21, content, content_len);
    p = announcement_tlv(p, 22, sig_info, sizeof sig_info);
    p = announcement_tlv(p, 23, digest, sizeof digest);
    return (size_t)(announcement_tlv(data, 6, inside, (size_t)(p - inside)) - data);
}

/** ValidityPeriod TLV of two dates of 15 letters. @return its octets */
static inline size_t announcement_validity(uint8_t *p, const char *from, const char *to)
{
    uint8_t inside[64], *q = announcement_tlv(inside, 254, from, strlen(from));
    q = announcement_tlv(q, 255, to, strlen(to));
    return (size_t)(announcement_tlv(p, 253, inside, (size_t)(q - inside)) - p);
}

#endif
