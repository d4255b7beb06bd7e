// SPDX-License-Identifier: Apache-2.0
#include "fwd/mgmt/wire_fields.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "fwd/mgmt/wire.h"
#include "parser/ndn_encode.h"
#include "parser/ndn_name.h"
#include "parser/ndn_tlv.h"

size_t wire_tlv_size(uint32_t type, size_t len)
{
    return ndn_tlv_var_size(type) + ndn_tlv_var_size(len) + len;
}

uint8_t *wire_put_header(uint8_t *p, uint32_t type, size_t len)
{
    p += ndn_tlv_put_var(p, type);
    return p + ndn_tlv_put_var(p, len);
}

static size_t nni_size(uint64_t number)
{
    return number <= UINT8_MAX ? 1 : number <= UINT16_MAX ? 2 : number <= UINT32_MAX ? 4 : 8;
}

size_t wire_nni_size(uint32_t type, uint64_t number)
{
    return wire_tlv_size(type, nni_size(number));
}

uint8_t *wire_put_nni(uint8_t *p, uint32_t type, uint64_t number)
{
    p = wire_put_header(p, type, nni_size(number));
    return p + ndn_tlv_put_nni(p, number);
}

bool wire_unwrap(const uint8_t *p, size_t len, uint32_t type, struct tlv *tlv)
{
    struct cursor c = cursor_make(p, len);
    return len > 0 && tlv_read(&c, false, tlv) == VERDICT_OK && tlv->type == type && cursor_left(&c) == 0;
}

static const struct mgmt_octets *octets_at(const struct wire_field *field, const void *object)
{
    return (const void *)((const uint8_t *)object + field->offset);
}

static uint64_t nni_at(const struct wire_field *field, const void *object)
{
    uint64_t number;
    memcpy(&number, (const uint8_t *)object + field->offset, sizeof number);
    return number;
}

static bool is_there(const struct wire_field *field, const void *object)
{
    uint32_t bits;
    switch (field->presence) {
    case WIRE_BIT:
        memcpy(&bits, object, sizeof bits);
        return (bits >> field->has & 1) != 0;
    case WIRE_BOOL:
        return *(const bool *)((const uint8_t *)object + field->has);
    case WIRE_NONEMPTY:
        return octets_at(field, object)->len > 0;
    default:
        return true;
    }
}

static void set_there(const struct wire_field *field, void *object)
{
    uint32_t bits;
    if (field->presence == WIRE_BIT) {
        memcpy(&bits, object, sizeof bits);
        bits |= UINT32_C(1) << field->has;
        memcpy(object, &bits, sizeof bits);
    } else if (field->presence == WIRE_BOOL) {
        *(bool *)((uint8_t *)object + field->has) = true;
    }
}

static size_t value_size(const struct wire_field *field, const void *object)
{
    switch (field->kind) {
    case WIRE_NNI:
        return nni_size(nni_at(field, object));
    case WIRE_STRATEGY:
        return wire_tlv_size(NDN_TLV_NAME, octets_at(field, object)->len);
    default:
        return octets_at(field, object)->len;
    }
}

size_t wire_size(const struct wire_field *field, size_t n, const void *object)
{
    size_t size = 0;
    for (size_t i = 0; i < n; i++)
        if (is_there(&field[i], object))
            size += wire_tlv_size(field[i].type, value_size(&field[i], object));
    return size;
}

static uint8_t *put_octets(uint8_t *p, const struct mgmt_octets *octets)
{
    if (octets->len > 0)
        memcpy(p, octets->p, octets->len);
    return p + octets->len;
}

uint8_t *wire_write(uint8_t *p, const struct wire_field *field, size_t n, const void *object)
{
    for (size_t i = 0; i < n; i++) {
        if (!is_there(&field[i], object))
            continue;
        p = wire_put_header(p, field[i].type, value_size(&field[i], object));
        if (field[i].kind == WIRE_NNI) {
            p += ndn_tlv_put_nni(p, nni_at(&field[i], object));
            continue;
        }
        const struct mgmt_octets *octets = octets_at(&field[i], object);
        if (field[i].kind == WIRE_STRATEGY)
            p = wire_put_header(p, NDN_TLV_NAME, octets->len);
        p = put_octets(p, octets);
    }
    return p;
}

static bool name_valid(const uint8_t *value, size_t len)
{
    struct ndn_name name;
    return ndn_name_parse(value, len, false, &name) == VERDICT_OK;
}

/* A Name and nothing else, as Strategy has it. */
static bool read_inner_name(const struct tlv *outer, struct tlv *name)
{
    return wire_unwrap(outer->value, outer->len, NDN_TLV_NAME, name);
}

static bool read_value(const struct wire_field *field, const struct tlv *tlv, void *object)
{
    uint8_t *place = (uint8_t *)object + field->offset;
    if (field->kind == WIRE_NNI) {
        uint64_t number;
        if (!tlv_nni(tlv, &number))
            return false;
        memcpy(place, &number, sizeof number);
        return true;
    }
    struct tlv value = *tlv;
    if (field->kind == WIRE_STRATEGY && !read_inner_name(tlv, &value))
        return false;
    if (value.len > UINT16_MAX || (field->kind != WIRE_OCTETS && !name_valid(value.value, value.len)))
        return false;
    const struct mgmt_octets octets = {value.value, (uint16_t)value.len};
    memcpy(place, &octets, sizeof octets);
    return true;
}

static bool any_required(const struct wire_field *field, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++)
        if (field[i].presence == WIRE_REQUIRED)
            return true;
    return false;
}

/* One of the first @p n elements: it is out of order, or stands twice. */
static bool is_known(const struct wire_field *field, size_t n, uint32_t type)
{
    for (size_t i = 0; i < n; i++)
        if (field[i].type == type)
            return true;
    return false;
}

int wire_read(const uint8_t *p, size_t len, const struct wire_field *field, size_t n, void *object)
{
    struct cursor c = cursor_make(p, len);
    size_t next = 0; // fields before this one are past
    while (cursor_left(&c) > 0) {
        struct tlv tlv;
        if (tlv_read(&c, false, &tlv) != VERDICT_OK)
            return -EINVAL;
        size_t i = next;
        while (i < n && field[i].type != tlv.type)
            i++;
        if (i == n) {
            if (is_known(field, next, tlv.type))
                return -EINVAL;
            continue;
        }
        if (any_required(field, next, i) || !read_value(&field[i], &tlv, object))
            return -EINVAL;
        set_there(&field[i], object);
        next = i + 1;
    }
    return any_required(field, next, n) ? -EINVAL : 0;
}

size_t wire_encode(uint8_t *p, size_t size, uint32_t type, const struct wire_field *field, size_t n, const void *object)
{
    size_t inside = wire_size(field, n, object), total = wire_tlv_size(type, inside);
    if (total > size)
        return 0;
    wire_write(wire_put_header(p, type, inside), field, n, object);
    return total;
}

int wire_decode(const uint8_t *p, size_t len, uint32_t type, const struct wire_field *field, size_t n, void *object)
{
    struct tlv tlv;
    if (!wire_unwrap(p, len, type, &tlv))
        return -EINVAL;
    return wire_read(tlv.value, tlv.len, field, n, object);
}
