// SPDX-License-Identifier: Apache-2.0
#ifndef FWD_MGMT_WIRE_H
#define FWD_MGMT_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * NFD management protocol on the wire: ControlParameters, ControlResponse and the items of the status datasets, both
 * ways. Needs parser/ alone, so that daemon and client share it. Every pointer that a decoder gives goes into the
 * octets it was given. Elements stand in the order below, each at most once. Unknown ones are ignored, critical by
 * their numbers or not, as NFD does: a newer client may say more than is understood here.
 */

/** TLV numbers of the management protocol. */
enum mgmt_tlv {
    MGMT_CONTROL_PARAMETERS = 104,
    MGMT_FACE_ID = 105,
    MGMT_COST = 106,
    MGMT_STRATEGY = 107,
    MGMT_FLAGS = 108,
    MGMT_EXPIRATION_PERIOD = 109,
    MGMT_ORIGIN = 111,
    MGMT_MASK = 112,
    MGMT_URI = 114,
    MGMT_LOCAL_URI = 129,
    MGMT_CAPACITY = 131,
    MGMT_COUNT = 132,
    MGMT_FACE_PERSISTENCY = 133,
    MGMT_CONGESTION_INTERVAL = 135,
    MGMT_CONGESTION_THRESHOLD = 136,
    MGMT_MTU = 137,
    MGMT_CONTROL_RESPONSE = 101,
    MGMT_STATUS_CODE = 102,
    MGMT_STATUS_TEXT = 103,
    MGMT_ITEM = 128,   /**< FaceStatus, FibEntry, RibEntry, StrategyChoice, ChannelStatus (130) and CsInfo */
    MGMT_RECORD = 129, /**< NextHopRecord, Route */
    MGMT_CHANNEL = 130,
    MGMT_FACE_EVENT = 192,
    MGMT_FACE_EVENT_KIND = 193,
};

/** Fields of ControlParameters, in the order of the wire: bits of mgmt_params.has. */
enum mgmt_field {
    MGMT_HAS_NAME = 1 << 0,
    MGMT_HAS_FACE_ID = 1 << 1,
    MGMT_HAS_URI = 1 << 2,
    MGMT_HAS_LOCAL_URI = 1 << 3,
    MGMT_HAS_ORIGIN = 1 << 4,
    MGMT_HAS_COST = 1 << 5,
    MGMT_HAS_CAPACITY = 1 << 6,
    MGMT_HAS_COUNT = 1 << 7,
    MGMT_HAS_FLAGS = 1 << 8,
    MGMT_HAS_MASK = 1 << 9,
    MGMT_HAS_STRATEGY = 1 << 10,
    MGMT_HAS_EXPIRATION_PERIOD = 1 << 11,
    MGMT_HAS_FACE_PERSISTENCY = 1 << 12,
    MGMT_HAS_CONGESTION_INTERVAL = 1 << 13,
    MGMT_HAS_CONGESTION_THRESHOLD = 1 << 14,
    MGMT_HAS_MTU = 1 << 15,
};

struct mgmt_octets {
    const uint8_t *p;
    uint16_t len;
};

/** ControlParameters. A field counts only when its bit in @p has is set. */
struct mgmt_params {
    uint32_t has;            /**< bits of enum mgmt_field */
    struct mgmt_octets name; /**< TLV-VALUE of the Name */
    uint64_t face_id;
    struct mgmt_octets uri, local_uri;
    uint64_t origin, cost, capacity, count, flags, mask;
    struct mgmt_octets strategy; /**< TLV-VALUE of the Name inside Strategy */
    uint64_t expiration_ms;
    uint64_t persistency;
    uint64_t congestion_interval_ns, congestion_threshold;
    uint64_t mtu;
};

/** Decode the TLV-VALUE of ControlParameters. @return 0 and *params; -EINVAL */
int mgmt_params_decode(const uint8_t *p, size_t len, struct mgmt_params *params);
/** Encode a ControlParameters TLV. @return octets written, 0 when @p size is too small */
size_t mgmt_params_encode(uint8_t *p, size_t size, const struct mgmt_params *params);

struct mgmt_response {
    uint32_t code;
    struct mgmt_octets text;
    struct mgmt_octets body; /**< TLVs after the text: of commands one ControlParameters TLV (104) */
};
/** Decode a ControlResponse TLV, header and all. @return 0, -EINVAL */
int mgmt_response_decode(const uint8_t *p, size_t len, struct mgmt_response *response);
/** @p body NULL: none; written as one ControlParameters TLV (104), as NFD does. @return octets, 0: too small */
size_t mgmt_response_encode(uint8_t *p, size_t size, uint32_t code, const char *text, const struct mgmt_params *body);

enum mgmt_face_event { MGMT_FACE_CREATED = 1, MGMT_FACE_DESTROYED = 2, MGMT_FACE_UP = 3, MGMT_FACE_DOWN = 4 };

struct mgmt_face_status {
    uint64_t face_id;
    struct mgmt_octets uri, local_uri;
    bool has_expiration, has_congestion_interval, has_congestion_threshold, has_mtu;
    uint64_t expiration_ms;
    uint64_t scope, persistency, link_type;
    uint64_t congestion_interval_ns, congestion_threshold, mtu;
    uint64_t in_interests, in_data, in_nacks, out_interests, out_data, out_nacks, in_bytes, out_bytes;
    uint64_t flags;
};

struct mgmt_face_notification {
    uint64_t kind; /**< enum mgmt_face_event */
    uint64_t face_id;
    struct mgmt_octets uri, local_uri;
    uint64_t scope, persistency, link_type, flags;
};

struct mgmt_next_hop {
    uint64_t face_id, cost;
};
struct mgmt_route {
    uint64_t face_id, origin, cost, flags;
    bool has_expiration;
    uint64_t expiration_ms;
};
struct mgmt_cs_info {
    uint64_t capacity, flags, n_entries, n_hits, n_misses;
};
struct mgmt_strategy_choice {
    struct mgmt_octets name, strategy;
};
struct mgmt_general_status {
    struct mgmt_octets version;
    uint64_t start_ms, current_ms; /**< since 1970 */
    uint64_t n_name_tree, n_fib, n_pit, n_measurements, n_cs;
    uint64_t in_interests, in_data, in_nacks, out_interests, out_data, out_nacks, satisfied, unsatisfied;
};

/*
 * Items: encoders write one whole item TLV (general status: its elements, which have no wrapper) and return octets, 0
 * when @p size is too small. Decoders take an item's TLV, header and all, of exactly @p len octets.
 */
size_t mgmt_face_status_encode(uint8_t *p, size_t size, const struct mgmt_face_status *status);
int mgmt_face_status_decode(const uint8_t *p, size_t len, struct mgmt_face_status *status);
size_t mgmt_face_notification_encode(uint8_t *p, size_t size, const struct mgmt_face_notification *event);
int mgmt_face_notification_decode(const uint8_t *p, size_t len, struct mgmt_face_notification *event);
size_t mgmt_channel_encode(uint8_t *p, size_t size, const char *local_uri);
int mgmt_channel_decode(const uint8_t *p, size_t len, struct mgmt_octets *local_uri);
size_t mgmt_fib_entry_encode(uint8_t *p, size_t size, struct mgmt_octets name, const struct mgmt_next_hop *hops,
                             size_t n);
size_t mgmt_rib_entry_encode(uint8_t *p, size_t size, struct mgmt_octets name, const struct mgmt_route *routes,
                             size_t n);
/** Name of a FibEntry or RibEntry; *rest are its records, to be read one by one with the two below. */
int mgmt_entry_decode(const uint8_t *p, size_t len, struct mgmt_octets *name, struct mgmt_octets *rest);
/** Take the first record off @p rest. @return 1, 0 when there is none left, -EINVAL */
int mgmt_next_hop_take(struct mgmt_octets *rest, struct mgmt_next_hop *hop);
int mgmt_route_take(struct mgmt_octets *rest, struct mgmt_route *route);
size_t mgmt_cs_info_encode(uint8_t *p, size_t size, const struct mgmt_cs_info *info);
int mgmt_cs_info_decode(const uint8_t *p, size_t len, struct mgmt_cs_info *info);
size_t mgmt_strategy_choice_encode(uint8_t *p, size_t size, const struct mgmt_strategy_choice *choice);
int mgmt_strategy_choice_decode(const uint8_t *p, size_t len, struct mgmt_strategy_choice *choice);
size_t mgmt_general_status_encode(uint8_t *p, size_t size, const struct mgmt_general_status *status);
int mgmt_general_status_decode(const uint8_t *p, size_t len, struct mgmt_general_status *status);

/** FaceQueryFilter: which faces a query wants. Decode the TLV (150), header and all. @return 0, -EINVAL */
struct mgmt_face_filter {
    bool has_face_id, has_scope, has_persistency, has_link_type;
    uint64_t face_id, scope, persistency, link_type;
    struct mgmt_octets scheme, uri, local_uri; /**< len 0: any */
};
int mgmt_face_filter_decode(const uint8_t *p, size_t len, struct mgmt_face_filter *filter);
size_t mgmt_face_filter_encode(uint8_t *p, size_t size, const struct mgmt_face_filter *filter);

#endif
