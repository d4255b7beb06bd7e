// SPDX-License-Identifier: Apache-2.0
#include "fwd/mgmt/wire.h"

#include <errno.h>
#include <string.h>

#include "fwd/mgmt/wire_fields.h"
#include "parser/ndn_tlv.h"

/* ControlParameters. */

#define PARAM(type, kind, field, bit)                                  \
    {                                                                  \
        type, kind, WIRE_BIT, offsetof(struct mgmt_params, field), bit \
    }
static const struct wire_field params_fields[] = {
    PARAM(NDN_TLV_NAME, WIRE_NAME, name, 0),
    PARAM(MGMT_FACE_ID, WIRE_NNI, face_id, 1),
    PARAM(MGMT_URI, WIRE_OCTETS, uri, 2),
    PARAM(MGMT_LOCAL_URI, WIRE_OCTETS, local_uri, 3),
    PARAM(MGMT_ORIGIN, WIRE_NNI, origin, 4),
    PARAM(MGMT_COST, WIRE_NNI, cost, 5),
    PARAM(MGMT_CAPACITY, WIRE_NNI, capacity, 6),
    PARAM(MGMT_COUNT, WIRE_NNI, count, 7),
    PARAM(MGMT_FLAGS, WIRE_NNI, flags, 8),
    PARAM(MGMT_MASK, WIRE_NNI, mask, 9),
    PARAM(MGMT_STRATEGY, WIRE_STRATEGY, strategy, 10),
    PARAM(MGMT_EXPIRATION_PERIOD, WIRE_NNI, expiration_ms, 11),
    PARAM(MGMT_FACE_PERSISTENCY, WIRE_NNI, persistency, 12),
    PARAM(MGMT_CONGESTION_INTERVAL, WIRE_NNI, congestion_interval_ns, 13),
    PARAM(MGMT_CONGESTION_THRESHOLD, WIRE_NNI, congestion_threshold, 14),
    PARAM(MGMT_MTU, WIRE_NNI, mtu, 15),
};
_Static_assert(offsetof(struct mgmt_params, has) == 0, "WIRE_BIT looks there");
_Static_assert(MGMT_HAS_MTU == 1 << 15 && MGMT_HAS_STRATEGY == 1 << 10, "bits as in the list");

int mgmt_params_decode(const uint8_t *p, size_t len, struct mgmt_params *params)
{
    struct mgmt_params got = {0};
    int rc = wire_read(p, len, params_fields, WIRE_N_OF(params_fields), &got);
    if (rc == 0)
        *params = got;
    return rc;
}

size_t mgmt_params_encode(uint8_t *p, size_t size, const struct mgmt_params *params)
{
    return wire_encode(p, size, MGMT_CONTROL_PARAMETERS, params_fields, WIRE_N_OF(params_fields), params);
}

/* ControlResponse. */

int mgmt_response_decode(const uint8_t *p, size_t len, struct mgmt_response *response)
{
    struct tlv outer, code, text;
    uint64_t number;
    if (!wire_unwrap(p, len, MGMT_CONTROL_RESPONSE, &outer))
        return -EINVAL;
    struct cursor c = cursor_make(outer.value, outer.len);
    if (cursor_left(&c) == 0 || tlv_read(&c, false, &code) != VERDICT_OK || code.type != MGMT_STATUS_CODE ||
        !tlv_nni(&code, &number) || number > UINT32_MAX)
        return -EINVAL;
    if (cursor_left(&c) == 0 || tlv_read(&c, false, &text) != VERDICT_OK || text.type != MGMT_STATUS_TEXT ||
        text.len > UINT16_MAX)
        return -EINVAL;
    const uint8_t *body = c.p;
    size_t body_len = cursor_left(&c);
    if (body_len > UINT16_MAX)
        return -EINVAL;
    response->code = (uint32_t)number;
    response->text = (struct mgmt_octets){text.value, (uint16_t)text.len};
    response->body = (struct mgmt_octets){body, (uint16_t)body_len};
    return 0;
}

size_t mgmt_response_encode(uint8_t *p, size_t size, uint32_t code, const char *text, const struct mgmt_params *body)
{
    size_t text_len = strlen(text);
    size_t body_inside = body != NULL ? wire_size(params_fields, WIRE_N_OF(params_fields), body) : 0;
    size_t inside = wire_nni_size(MGMT_STATUS_CODE, code) + wire_tlv_size(MGMT_STATUS_TEXT, text_len) +
                    (body != NULL ? wire_tlv_size(MGMT_CONTROL_PARAMETERS, body_inside) : 0);
    size_t total = wire_tlv_size(MGMT_CONTROL_RESPONSE, inside);
    if (total > size)
        return 0;
    p = wire_put_header(p, MGMT_CONTROL_RESPONSE, inside);
    p = wire_put_nni(p, MGMT_STATUS_CODE, code);
    p = wire_put_header(p, MGMT_STATUS_TEXT, text_len);
    memcpy(p, text, text_len);
    p += text_len;
    if (body != NULL)
        wire_write(wire_put_header(p, MGMT_CONTROL_PARAMETERS, body_inside), params_fields, WIRE_N_OF(params_fields),
                   body);
    return total;
}
