// SPDX-License-Identifier: Apache-2.0
#include "ports/match.h"

#include "ports/match_table.h"

#include <rte_branch_prediction.h>
#include <rte_byteorder.h>
#include <rte_common.h>

#include <string.h>

static __rte_noinline uint32_t find_hashed(const struct port_match *match, const struct match_key *key)
{
    uint32_t hash = match_key_hash(match, key);
    /* At least half of the slots are empty, so the walk is short; the bound keeps it finite whatever happens. */
    for (uint32_t i = 0; i <= match->mask; i++) {
        const struct match_entry *entry = atomic_load_explicit(&match->slot[(hash + i) & match->mask],
                                                               memory_order_acquire); /* pairs with insert() */
        if (entry == NULL) {
            return 0;
        }
        if (entry->hash == hash && match_key_equal(&entry->key, key)) {
            return entry->face;
        }
    }
    return 0;
}

static inline uint32_t find(const struct port_match *match, const struct match_key *key)
{
    if (unlikely(match->mask != 0)) {
        return find_hashed(match, key);
    }
    for (uint32_t i = 0; i < match->n_small; i++) {
        if (match_key_equal(&match->small[i].key, key)) {
            return match->small[i].face;
        }
    }
    return 0;
}

uint32_t match_find(const struct port_match *match, const struct match_key *key)
{
    return find(match, key);
}

/* No face for this key: is there one on another VLAN, or none on this VLAN at all? */
static bool is_vlan_miss(const struct port_match *match, struct match_key key, uint16_t vlan)
{
    for (uint32_t i = 0; i < match->n_vlans; i++) {
        key.tag = (key.tag & ~(UINT64_C(0xffff) << 16)) | (uint64_t)match->vlan[i] << 16;
        if (match->vlan[i] != vlan && find(match, &key) != 0) {
            return true;
        }
    }
    return false;
}

static __rte_noinline bool is_local(const struct port_match *match, const uint8_t *ip, bool v6)
{
    for (uint32_t i = 0; i < match->n_locals; i++) {
        if (match->local[i].v6 == v6 && memcmp(match->local[i].ip, ip, v6 ? 16 : 4) == 0) {
            return true;
        }
    }
    return false;
}

static bool is_directed_broadcast(const struct port_match *match, const uint8_t *ip)
{
    if (match->ip4_prefix_len == 0 || match->ip4_prefix_len > 30) {
        return false; /* RFC 3021: no broadcast address on a /31 */
    }
    uint32_t own, dst;
    memcpy(&own, match->ip4, 4);
    memcpy(&dst, ip, 4);
    uint32_t host = UINT32_MAX >> match->ip4_prefix_len;
    own = rte_be_to_cpu_32(own);
    dst = rte_be_to_cpu_32(dst);
    return ((own ^ dst) & ~host) == 0 && ((dst & host) == host || (dst & host) == 0);
}

/* The reasons are out of line: what they need in registers, the usual frame need not save. */
static __rte_noinline enum port_miss explain_udp(const struct port_match *match, const struct frame *frame,
                                                 const struct match_key *key)
{
    bool v6 = frame->kind == FRAME_UDP6;
    if (is_local(match, frame->src_ip, v6)) {
        return PORT_MISS_SRC;
    }
    if (!v6 && !frame->multicast && is_directed_broadcast(match, frame->dst_ip)) {
        return PORT_MISS_DST;
    }
    if (match->n_locals < MATCH_LOCALS_MAX && !is_local(match, frame->dst_ip, v6)) { /* a full list cannot tell */
        return PORT_MISS_DST;
    }
    return is_vlan_miss(match, *key, frame->vlan) ? PORT_MISS_VLAN : PORT_MISS_UDP;
}

static __rte_noinline enum port_miss explain_ether(const struct port_match *match, const struct frame *frame,
                                                   const struct match_key *key)
{
    return is_vlan_miss(match, *key, frame->vlan) ? PORT_MISS_VLAN : PORT_MISS_L2;
}

static inline enum port_miss classify_ether(const struct port_match *match, const struct frame *frame, uint32_t *face,
                                            uint64_t *sender)
{
    struct match_key key = {.tag =
                                match_key_tag(frame->multicast ? MATCH_ETHER_GROUP : MATCH_ETHER, frame->vlan, 0, 0)};
    uint64_t from[2];
    match_load_mac(from, frame->src_mac);
    key.peer[0] = from[0];
    if (frame->multicast) {
        match_load_mac(key.peer, frame->dst_mac);
    }
    uint32_t id = find(match, &key);
    if (unlikely(id == 0)) {
        return explain_ether(match, frame, &key);
    }
    *sender = frame->multicast ? match_mix(from[0] ^ match->seed[0], match->seed[1]) | 1 : 0;
    *face = id;
    return PORT_MATCHED;
}

static inline enum port_miss classify_udp(const struct port_match *match, const struct frame *frame, uint32_t *face,
                                          uint64_t *sender)
{
    bool v6 = frame->kind == FRAME_UDP6;
    bool ip_group = v6 ? frame->dst_ip[0] == 0xff : (frame->dst_ip[0] & 0xf0) == 0xe0;
    if (unlikely(frame->multicast != ip_group)) {
        return PORT_MISS_DST; /* unicast IP in a link broadcast (RFC 1122 section 3.3.6), or a group sent to one host */
    }
    struct match_key key = {0};
    uint64_t from[2];
    match_load_ip(from, frame->src_ip, v6);
    if (unlikely(ip_group)) {
        key.tag = match_key_tag(v6 ? MATCH_UDP6_GROUP : MATCH_UDP4_GROUP, frame->vlan, 0, frame->dport);
        match_load_ip(key.peer, frame->dst_ip, v6);
    } else {
        key.tag = match_key_tag(v6 ? MATCH_UDP6 : MATCH_UDP4, frame->vlan, frame->sport, frame->dport);
        key.peer[0] = from[0];
        key.peer[1] = from[1];
        match_load_ip(key.local, frame->dst_ip, v6);
    }
    uint32_t id = find(match, &key);
    if (unlikely(id == 0)) {
        return explain_udp(match, frame, &key);
    }
    *sender = 0;
    if (unlikely(ip_group)) {
        if (is_local(match, frame->src_ip, v6)) {
            return PORT_MISS_SRC;
        }
        *sender = match_mix(from[0] ^ match->seed[0], from[1] ^ frame->sport ^ match->seed[1]) | 1;
    }
    *face = id;
    return PORT_MATCHED;
}

enum port_miss port_classify(const struct port *port, const struct frame *frame, uint32_t *face, uint64_t *sender)
{
    const struct port_match *match =
        atomic_load_explicit(&port->match, memory_order_acquire); /* pairs with publish() */
    if (unlikely(match == NULL)) {
        return PORT_MISS_L2;
    }
    if (!frame->multicast && memcmp(frame->dst_mac, match->mac, 6) != 0) {
        return PORT_MISS_L2;
    }
    if (unlikely(memcmp(frame->src_mac, match->mac, 6) == 0)) {
        return PORT_MISS_L2; /* our own frame, looped back or forged */
    }
    if (unlikely(frame->n_tags > 1 || !match_vlan_known(match, frame->vlan))) {
        return PORT_MISS_VLAN;
    }
    return frame->kind == FRAME_NDN ? classify_ether(match, frame, face, sender)
                                    : classify_udp(match, frame, face, sender);
}

uint32_t port_bare_face(const struct port *port)
{
    const struct port_match *match =
        atomic_load_explicit(&port->match, memory_order_acquire); /* pairs with publish() */
    return match != NULL ? match->bare_face : 0;
}
