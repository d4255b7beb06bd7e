// SPDX-License-Identifier: Apache-2.0
/* Items of the status datasets and of faces/events. */
#include "fwd/mgmt/wire.h"

#include <errno.h>
#include <string.h>

#include "fwd/mgmt/wire_fields.h"
#include "parser/ndn_tlv.h"

enum {
    TLV_NFD_VERSION = 128,
    TLV_START_TIMESTAMP = 129,
    TLV_CURRENT_TIMESTAMP = 130,
    TLV_N_NAME_TREE = 131,
    TLV_N_FIB = 132,
    TLV_N_PIT = 133,
    TLV_N_MEASUREMENTS = 134,
    TLV_N_CS = 135,
    TLV_N_HITS = 129,
    TLV_N_MISSES = 130,
    TLV_URI_SCHEME = 131,
    TLV_FACE_SCOPE = 132,
    TLV_LINK_TYPE = 134,
    TLV_IN_INTERESTS = 144,
    TLV_IN_DATA = 145,
    TLV_OUT_INTERESTS = 146,
    TLV_OUT_DATA = 147,
    TLV_IN_BYTES = 148,
    TLV_OUT_BYTES = 149,
    TLV_FACE_QUERY_FILTER = 150,
    TLV_IN_NACKS = 151,
    TLV_OUT_NACKS = 152,
    TLV_SATISFIED = 153,
    TLV_UNSATISFIED = 154,
};

#define NEED(type, kind, object, field)                              \
    {                                                                \
        type, kind, WIRE_REQUIRED, offsetof(struct object, field), 0 \
    }
#define MAY(type, kind, object, field, has)                                                 \
    {                                                                                       \
        type, kind, WIRE_BOOL, offsetof(struct object, field), offsetof(struct object, has) \
    }

static const struct wire_field face_fields[] = {
    NEED(MGMT_FACE_ID, WIRE_NNI, mgmt_face_status, face_id),
    NEED(MGMT_URI, WIRE_OCTETS, mgmt_face_status, uri),
    NEED(MGMT_LOCAL_URI, WIRE_OCTETS, mgmt_face_status, local_uri),
    MAY(MGMT_EXPIRATION_PERIOD, WIRE_NNI, mgmt_face_status, expiration_ms, has_expiration),
    NEED(TLV_FACE_SCOPE, WIRE_NNI, mgmt_face_status, scope),
    NEED(MGMT_FACE_PERSISTENCY, WIRE_NNI, mgmt_face_status, persistency),
    NEED(TLV_LINK_TYPE, WIRE_NNI, mgmt_face_status, link_type),
    MAY(MGMT_CONGESTION_INTERVAL, WIRE_NNI, mgmt_face_status, congestion_interval_ns, has_congestion_interval),
    MAY(MGMT_CONGESTION_THRESHOLD, WIRE_NNI, mgmt_face_status, congestion_threshold, has_congestion_threshold),
    MAY(MGMT_MTU, WIRE_NNI, mgmt_face_status, mtu, has_mtu),
    NEED(TLV_IN_INTERESTS, WIRE_NNI, mgmt_face_status, in_interests),
    NEED(TLV_IN_DATA, WIRE_NNI, mgmt_face_status, in_data),
    NEED(TLV_IN_NACKS, WIRE_NNI, mgmt_face_status, in_nacks),
    NEED(TLV_OUT_INTERESTS, WIRE_NNI, mgmt_face_status, out_interests),
    NEED(TLV_OUT_DATA, WIRE_NNI, mgmt_face_status, out_data),
    NEED(TLV_OUT_NACKS, WIRE_NNI, mgmt_face_status, out_nacks),
    NEED(TLV_IN_BYTES, WIRE_NNI, mgmt_face_status, in_bytes),
    NEED(TLV_OUT_BYTES, WIRE_NNI, mgmt_face_status, out_bytes),
    NEED(MGMT_FLAGS, WIRE_NNI, mgmt_face_status, flags),
};

size_t mgmt_face_status_encode(uint8_t *p, size_t size, const struct mgmt_face_status *status)
{
    return wire_encode(p, size, MGMT_ITEM, face_fields, WIRE_N_OF(face_fields), status);
}

int mgmt_face_status_decode(const uint8_t *p, size_t len, struct mgmt_face_status *status)
{
    struct mgmt_face_status got = {0};
    int rc = wire_decode(p, len, MGMT_ITEM, face_fields, WIRE_N_OF(face_fields), &got);
    if (rc == 0)
        *status = got;
    return rc;
}

static const struct wire_field event_fields[] = {
    NEED(MGMT_FACE_EVENT_KIND, WIRE_NNI, mgmt_face_notification, kind),
    NEED(MGMT_FACE_ID, WIRE_NNI, mgmt_face_notification, face_id),
    NEED(MGMT_URI, WIRE_OCTETS, mgmt_face_notification, uri),
    NEED(MGMT_LOCAL_URI, WIRE_OCTETS, mgmt_face_notification, local_uri),
    NEED(TLV_FACE_SCOPE, WIRE_NNI, mgmt_face_notification, scope),
    NEED(MGMT_FACE_PERSISTENCY, WIRE_NNI, mgmt_face_notification, persistency),
    NEED(TLV_LINK_TYPE, WIRE_NNI, mgmt_face_notification, link_type),
    NEED(MGMT_FLAGS, WIRE_NNI, mgmt_face_notification, flags),
};

size_t mgmt_face_notification_encode(uint8_t *p, size_t size, const struct mgmt_face_notification *event)
{
    return wire_encode(p, size, MGMT_FACE_EVENT, event_fields, WIRE_N_OF(event_fields), event);
}

int mgmt_face_notification_decode(const uint8_t *p, size_t len, struct mgmt_face_notification *event)
{
    struct mgmt_face_notification got = {0};
    int rc = wire_decode(p, len, MGMT_FACE_EVENT, event_fields, WIRE_N_OF(event_fields), &got);
    if (rc == 0)
        *event = got;
    return rc;
}

static const struct wire_field channel_fields[] = {{MGMT_LOCAL_URI, WIRE_OCTETS, WIRE_REQUIRED, 0, 0}};

size_t mgmt_channel_encode(uint8_t *p, size_t size, const char *local_uri)
{
    size_t len = strlen(local_uri);
    if (len > UINT16_MAX)
        return 0;
    const struct mgmt_octets uri = {(const uint8_t *)local_uri, (uint16_t)len};
    return wire_encode(p, size, MGMT_CHANNEL, channel_fields, WIRE_N_OF(channel_fields), &uri);
}

int mgmt_channel_decode(const uint8_t *p, size_t len, struct mgmt_octets *local_uri)
{
    struct mgmt_octets got = {0};
    int rc = wire_decode(p, len, MGMT_CHANNEL, channel_fields, WIRE_N_OF(channel_fields), &got);
    if (rc == 0)
        *local_uri = got;
    return rc;
}

/* FibEntry and RibEntry: a Name, then records. */

static const struct wire_field hop_fields[] = {
    NEED(MGMT_FACE_ID, WIRE_NNI, mgmt_next_hop, face_id),
    NEED(MGMT_COST, WIRE_NNI, mgmt_next_hop, cost),
};
static const struct wire_field route_fields[] = {
    NEED(MGMT_FACE_ID, WIRE_NNI, mgmt_route, face_id),
    NEED(MGMT_ORIGIN, WIRE_NNI, mgmt_route, origin),
    NEED(MGMT_COST, WIRE_NNI, mgmt_route, cost),
    NEED(MGMT_FLAGS, WIRE_NNI, mgmt_route, flags),
    MAY(MGMT_EXPIRATION_PERIOD, WIRE_NNI, mgmt_route, expiration_ms, has_expiration),
};

static size_t entry_encode(uint8_t *p, size_t size, struct mgmt_octets name, const struct wire_field *field,
                           size_t n_fields, const void *records, size_t record_size, size_t n)
{
    size_t inside = wire_tlv_size(NDN_TLV_NAME, name.len);
    for (size_t i = 0; i < n; i++) {
        const void *record = (const uint8_t *)records + i * record_size;
        inside += wire_tlv_size(MGMT_RECORD, wire_size(field, n_fields, record));
    }
    size_t total = wire_tlv_size(MGMT_ITEM, inside);
    if (total > size)
        return 0;
    uint8_t *end = p + total;
    p = wire_put_header(p, MGMT_ITEM, inside);
    p = wire_put_header(p, NDN_TLV_NAME, name.len);
    if (name.len > 0)
        memcpy(p, name.p, name.len);
    p += name.len;
    for (size_t i = 0; i < n; i++)
        p +=
            wire_encode(p, (size_t)(end - p), MGMT_RECORD, field, n_fields, (const uint8_t *)records + i * record_size);
    return total;
}

size_t mgmt_fib_entry_encode(uint8_t *p, size_t size, struct mgmt_octets name, const struct mgmt_next_hop *hops,
                             size_t n)
{
    return entry_encode(p, size, name, hop_fields, WIRE_N_OF(hop_fields), hops, sizeof *hops, n);
}

size_t mgmt_rib_entry_encode(uint8_t *p, size_t size, struct mgmt_octets name, const struct mgmt_route *routes,
                             size_t n)
{
    return entry_encode(p, size, name, route_fields, WIRE_N_OF(route_fields), routes, sizeof *routes, n);
}

int mgmt_entry_decode(const uint8_t *p, size_t len, struct mgmt_octets *name, struct mgmt_octets *rest)
{
    static const struct wire_field name_field[] = {{NDN_TLV_NAME, WIRE_NAME, WIRE_REQUIRED, 0, 0}};
    struct tlv entry, tlv;
    struct mgmt_octets got;
    if (!wire_unwrap(p, len, MGMT_ITEM, &entry) || entry.len == 0)
        return -EINVAL;
    struct cursor c = cursor_make(entry.value, entry.len);
    if (tlv_read(&c, false, &tlv) != VERDICT_OK || cursor_left(&c) > UINT16_MAX ||
        wire_read(entry.value, (size_t)(c.p - entry.value), name_field, 1, &got) != 0)
        return -EINVAL;
    *name = got;
    *rest = (struct mgmt_octets){c.p, (uint16_t)cursor_left(&c)};
    return 0;
}

/* Take the first record off @p rest into a zeroed object. */
static int record_take(struct mgmt_octets *rest, const struct wire_field *field, size_t n, void *object)
{
    struct cursor c = cursor_make(rest->p, rest->len);
    struct tlv tlv;
    do {
        if (cursor_left(&c) == 0)
            return 0;
        if (tlv_read(&c, false, &tlv) != VERDICT_OK)
            return -EINVAL;
    } while (tlv.type != MGMT_RECORD);
    if (wire_read(tlv.value, tlv.len, field, n, object) != 0)
        return -EINVAL;
    *rest = (struct mgmt_octets){c.p, (uint16_t)cursor_left(&c)};
    return 1;
}

int mgmt_next_hop_take(struct mgmt_octets *rest, struct mgmt_next_hop *hop)
{
    struct mgmt_next_hop got = {0};
    int rc = record_take(rest, hop_fields, WIRE_N_OF(hop_fields), &got);
    if (rc == 1)
        *hop = got;
    return rc;
}

int mgmt_route_take(struct mgmt_octets *rest, struct mgmt_route *route)
{
    struct mgmt_route got = {0};
    int rc = record_take(rest, route_fields, WIRE_N_OF(route_fields), &got);
    if (rc == 1)
        *route = got;
    return rc;
}

static const struct wire_field cs_fields[] = {
    NEED(MGMT_CAPACITY, WIRE_NNI, mgmt_cs_info, capacity), NEED(MGMT_FLAGS, WIRE_NNI, mgmt_cs_info, flags),
    NEED(TLV_N_CS, WIRE_NNI, mgmt_cs_info, n_entries),     NEED(TLV_N_HITS, WIRE_NNI, mgmt_cs_info, n_hits),
    NEED(TLV_N_MISSES, WIRE_NNI, mgmt_cs_info, n_misses),
};

size_t mgmt_cs_info_encode(uint8_t *p, size_t size, const struct mgmt_cs_info *info)
{
    return wire_encode(p, size, MGMT_ITEM, cs_fields, WIRE_N_OF(cs_fields), info);
}

int mgmt_cs_info_decode(const uint8_t *p, size_t len, struct mgmt_cs_info *info)
{
    struct mgmt_cs_info got = {0};
    int rc = wire_decode(p, len, MGMT_ITEM, cs_fields, WIRE_N_OF(cs_fields), &got);
    if (rc == 0)
        *info = got;
    return rc;
}

static const struct wire_field choice_fields[] = {
    NEED(NDN_TLV_NAME, WIRE_NAME, mgmt_strategy_choice, name),
    NEED(MGMT_STRATEGY, WIRE_STRATEGY, mgmt_strategy_choice, strategy),
};

size_t mgmt_strategy_choice_encode(uint8_t *p, size_t size, const struct mgmt_strategy_choice *choice)
{
    return wire_encode(p, size, MGMT_ITEM, choice_fields, WIRE_N_OF(choice_fields), choice);
}

int mgmt_strategy_choice_decode(const uint8_t *p, size_t len, struct mgmt_strategy_choice *choice)
{
    struct mgmt_strategy_choice got = {0};
    int rc = wire_decode(p, len, MGMT_ITEM, choice_fields, WIRE_N_OF(choice_fields), &got);
    if (rc == 0)
        *choice = got;
    return rc;
}

static const struct wire_field general_fields[] = {
    NEED(TLV_NFD_VERSION, WIRE_OCTETS, mgmt_general_status, version),
    NEED(TLV_START_TIMESTAMP, WIRE_NNI, mgmt_general_status, start_ms),
    NEED(TLV_CURRENT_TIMESTAMP, WIRE_NNI, mgmt_general_status, current_ms),
    NEED(TLV_N_NAME_TREE, WIRE_NNI, mgmt_general_status, n_name_tree),
    NEED(TLV_N_FIB, WIRE_NNI, mgmt_general_status, n_fib),
    NEED(TLV_N_PIT, WIRE_NNI, mgmt_general_status, n_pit),
    NEED(TLV_N_MEASUREMENTS, WIRE_NNI, mgmt_general_status, n_measurements),
    NEED(TLV_N_CS, WIRE_NNI, mgmt_general_status, n_cs),
    NEED(TLV_IN_INTERESTS, WIRE_NNI, mgmt_general_status, in_interests),
    NEED(TLV_IN_DATA, WIRE_NNI, mgmt_general_status, in_data),
    NEED(TLV_IN_NACKS, WIRE_NNI, mgmt_general_status, in_nacks),
    NEED(TLV_OUT_INTERESTS, WIRE_NNI, mgmt_general_status, out_interests),
    NEED(TLV_OUT_DATA, WIRE_NNI, mgmt_general_status, out_data),
    NEED(TLV_OUT_NACKS, WIRE_NNI, mgmt_general_status, out_nacks),
    NEED(TLV_SATISFIED, WIRE_NNI, mgmt_general_status, satisfied),
    NEED(TLV_UNSATISFIED, WIRE_NNI, mgmt_general_status, unsatisfied),
};

size_t mgmt_general_status_encode(uint8_t *p, size_t size, const struct mgmt_general_status *status)
{
    size_t total = wire_size(general_fields, WIRE_N_OF(general_fields), status);
    if (total > size)
        return 0;
    wire_write(p, general_fields, WIRE_N_OF(general_fields), status);
    return total;
}

int mgmt_general_status_decode(const uint8_t *p, size_t len, struct mgmt_general_status *status)
{
    struct mgmt_general_status got = {0};
    int rc = wire_read(p, len, general_fields, WIRE_N_OF(general_fields), &got);
    if (rc == 0)
        *status = got;
    return rc;
}

#define ANY_OF(type, field)                                                           \
    {                                                                                 \
        type, WIRE_OCTETS, WIRE_NONEMPTY, offsetof(struct mgmt_face_filter, field), 0 \
    }
static const struct wire_field filter_fields[] = {
    MAY(MGMT_FACE_ID, WIRE_NNI, mgmt_face_filter, face_id, has_face_id),
    ANY_OF(TLV_URI_SCHEME, scheme),
    ANY_OF(MGMT_URI, uri),
    ANY_OF(MGMT_LOCAL_URI, local_uri),
    MAY(TLV_FACE_SCOPE, WIRE_NNI, mgmt_face_filter, scope, has_scope),
    MAY(MGMT_FACE_PERSISTENCY, WIRE_NNI, mgmt_face_filter, persistency, has_persistency),
    MAY(TLV_LINK_TYPE, WIRE_NNI, mgmt_face_filter, link_type, has_link_type),
};

int mgmt_face_filter_decode(const uint8_t *p, size_t len, struct mgmt_face_filter *filter)
{
    struct mgmt_face_filter got = {0};
    int rc = wire_decode(p, len, TLV_FACE_QUERY_FILTER, filter_fields, WIRE_N_OF(filter_fields), &got);
    if (rc == 0)
        *filter = got;
    return rc;
}

size_t mgmt_face_filter_encode(uint8_t *p, size_t size, const struct mgmt_face_filter *filter)
{
    return wire_encode(p, size, TLV_FACE_QUERY_FILTER, filter_fields, WIRE_N_OF(filter_fields), filter);
}
