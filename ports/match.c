// SPDX-License-Identifier: Apache-2.0
#include "ports/match.h"

#include "ports/defer.h"

#include <rte_branch_prediction.h>
#include <rte_common.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#define SMALL_MAX  4 /* faces found by comparing; beyond that, by hash */
#define SLOTS_MIN  16
#define VLANS_MAX  8  /* VLANs that a miss is explained for */
#define LOCALS_MAX 32 /* own IP addresses and groups that a miss is explained for */

enum key_kind { KEY_ETHER = 1, KEY_ETHER_GROUP, KEY_UDP4, KEY_UDP6, KEY_UDP4_GROUP, KEY_UDP6_GROUP };

/* What tells the faces of a port apart: kind, VLAN and UDP ports; peer address (or group); own address. */
struct key {
    uint64_t tag;
    uint64_t peer[2];
    uint64_t local[2];
};

struct entry {
    struct key key;
    uint32_t face;
    uint32_t hash;
};

struct local {
    uint8_t ip[16]; /* IPv4 in the first four octets, the rest 0 */
    bool v6;
};

/*
 * Workers read a match under RCU. Up to SMALL_MAX faces it never changes: each face added or removed publishes a copy.
 * Beyond that the slots of the hash are changed in place, one atomic pointer at a time, and a copy is published only to
 * grow or for a VLAN or own address that is new; otherwise adding n faces would cost n^2.
 */
struct port_match {
    uint32_t n_small;
    uint32_t bare_face;
    uint32_t mask; /* of slots; 0: no hash yet */
    uint8_t mac[6];
    uint8_t ip4[4];
    uint8_t ip4_prefix_len;
    uint64_t seed[2];
    struct entry small[SMALL_MAX];
    uint32_t n_vlans;
    uint16_t vlan[VLANS_MAX];
    uint64_t vlan_known[4096 / 64];
    uint32_t n_locals;
    struct local local[LOCALS_MAX];
    struct entry *_Atomic slot[];
};

/* What only the control thread needs. */
struct match_owner {
    struct defer defer;
    uint32_t n_faces;
    uint32_t n_used;                 /* slots in use or deleted */
    uint32_t vlan_refs[4096];        /* faces of each VLAN */
    uint32_t local_refs[LOCALS_MAX]; /* faces of each own address */
};

static struct entry deleted; /* marks a slot whose entry was removed */

static inline uint64_t mix(uint64_t a, uint64_t b)
{
    __extension__ typedef unsigned __int128 uint128;
    uint128 product = (uint128)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* Keyed: peers choose their addresses, and on-demand faces come from those. */
static inline uint32_t key_hash(const struct port_match *match, const struct key *key)
{
    uint64_t a = mix(key->tag ^ match->seed[0], key->peer[0] ^ match->seed[1]);
    uint64_t b = mix(key->peer[1] ^ match->seed[1], key->local[0] ^ match->seed[0] ^ UINT64_C(0xa0761d6478bd642f));
    uint64_t hash = mix(a ^ key->local[1] ^ UINT64_C(0xe7037ed1a0b428db), b ^ match->seed[0]);
    return (uint32_t)(hash ^ (hash >> 32));
}

static inline bool key_equal(const struct key *a, const struct key *b)
{
    return ((a->tag ^ b->tag) | (a->peer[0] ^ b->peer[0]) | (a->peer[1] ^ b->peer[1]) | (a->local[0] ^ b->local[0]) |
            (a->local[1] ^ b->local[1])) == 0;
}

static inline uint64_t key_tag(enum key_kind kind, uint16_t vlan, uint16_t peer_port, uint16_t local_port)
{
    return (uint64_t)kind | (uint64_t)vlan << 16 | (uint64_t)peer_port << 32 | (uint64_t)local_port << 48;
}

static inline void load_mac(uint64_t word[2], const uint8_t *mac)
{
    memcpy(word, mac, 6);
}

static inline void load_ip(uint64_t word[2], const uint8_t *ip, bool v6)
{
    memcpy(word, ip, v6 ? 16 : 4);
}

static uint32_t find(const struct port_match *match, const struct key *key)
{
    if (likely(match->mask == 0)) {
        for (uint32_t i = 0; i < match->n_small; i++) {
            if (key_equal(&match->small[i].key, key)) {
                return match->small[i].face;
            }
        }
        return 0;
    }
    uint32_t hash = key_hash(match, key);
    /* At least half of the slots are empty, so the walk is short; the bound keeps it finite whatever happens. */
    for (uint32_t i = 0; i <= match->mask; i++) {
        const struct entry *entry = atomic_load_explicit(&match->slot[(hash + i) & match->mask],
                                                         memory_order_acquire); /* pairs with insert() */
        if (entry == NULL) {
            return 0;
        }
        if (entry->hash == hash && key_equal(&entry->key, key)) {
            return entry->face;
        }
    }
    return 0;
}

/* No face for this key: is there one on another VLAN, or none on this VLAN at all? */
static bool is_vlan_miss(const struct port_match *match, struct key key, uint16_t vlan)
{
    for (uint32_t i = 0; i < match->n_vlans; i++) {
        key.tag = (key.tag & ~(UINT64_C(0xffff) << 16)) | (uint64_t)match->vlan[i] << 16;
        if (match->vlan[i] != vlan && find(match, &key) != 0) {
            return true;
        }
    }
    return false;
}

static bool is_local(const struct port_match *match, const uint8_t *ip, bool v6)
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

static inline bool is_vlan_known(const struct port_match *match, uint16_t vlan)
{
    return (match->vlan_known[(vlan & 4095) / 64] >> (vlan % 64) & 1) != 0;
}

static enum port_miss classify_ether(const struct port_match *match, const struct frame *frame, uint32_t *face,
                                     uint64_t *sender)
{
    struct key key = {.tag = key_tag(frame->multicast ? KEY_ETHER_GROUP : KEY_ETHER, frame->vlan, 0, 0)};
    load_mac(key.peer, frame->multicast ? frame->dst_mac : frame->src_mac);
    uint32_t id = find(match, &key);
    if (unlikely(id == 0)) {
        return is_vlan_miss(match, key, frame->vlan) ? PORT_MISS_VLAN : PORT_MISS_L2;
    }
    uint64_t from[2] = {0};
    if (frame->multicast) {
        load_mac(from, frame->src_mac);
        from[0] = mix(from[0] ^ match->seed[0], match->seed[1]) | 1;
    }
    *sender = from[0];
    *face = id;
    return PORT_MATCHED;
}

static enum port_miss classify_udp(const struct port_match *match, const struct frame *frame, uint32_t *face,
                                   uint64_t *sender)
{
    bool v6 = frame->kind == FRAME_UDP6;
    bool ip_group = v6 ? frame->dst_ip[0] == 0xff : (frame->dst_ip[0] & 0xf0) == 0xe0;
    if (frame->multicast != ip_group) {
        return PORT_MISS_DST; /* unicast IP in a link broadcast (RFC 1122 section 3.3.6), or a group sent to one host */
    }
    struct key key = {0};
    if (ip_group) {
        key.tag = key_tag(v6 ? KEY_UDP6_GROUP : KEY_UDP4_GROUP, frame->vlan, 0, frame->dport);
        load_ip(key.peer, frame->dst_ip, v6);
    } else {
        key.tag = key_tag(v6 ? KEY_UDP6 : KEY_UDP4, frame->vlan, frame->sport, frame->dport);
        load_ip(key.peer, frame->src_ip, v6);
        load_ip(key.local, frame->dst_ip, v6);
    }
    uint32_t id = find(match, &key);
    uint64_t from[2] = {0};
    load_ip(from, frame->src_ip, v6);
    if (likely(id != 0)) {
        if (ip_group) {
            if (unlikely(is_local(match, frame->src_ip, v6))) {
                return PORT_MISS_SRC;
            }
            *sender = mix(from[0] ^ match->seed[0], from[1] ^ frame->sport ^ match->seed[1]) | 1;
        } else {
            *sender = 0;
        }
        *face = id;
        return PORT_MATCHED;
    }
    if (is_local(match, frame->src_ip, v6)) {
        return PORT_MISS_SRC;
    }
    if (!v6 && !ip_group && is_directed_broadcast(match, frame->dst_ip)) {
        return PORT_MISS_DST;
    }
    if (match->n_locals < LOCALS_MAX && !is_local(match, frame->dst_ip, v6)) { /* a full list cannot tell */
        return PORT_MISS_DST;
    }
    return is_vlan_miss(match, key, frame->vlan) ? PORT_MISS_VLAN : PORT_MISS_UDP;
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
    if (unlikely(frame->n_tags > 1 || !is_vlan_known(match, frame->vlan))) {
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

/* Control thread from here on. */

static struct port_match *own(const struct port *port)
{
    return atomic_load_explicit(&port->match, memory_order_relaxed);
}

static void publish(struct port *port, struct port_match *match)
{
    struct port_match *old = own(port);
    atomic_store_explicit(&port->match, match, memory_order_release); /* pairs with port_classify() */
    defer_free(&port->match_owner->defer, old);
}

static uint32_t local_find(const struct port_match *match, const uint8_t *ip, bool v6)
{
    uint32_t i = 0;
    while (i < match->n_locals && (match->local[i].v6 != v6 || memcmp(match->local[i].ip, ip, v6 ? 16 : 4) != 0)) {
        i++;
    }
    return i;
}

static void local_add(struct match_owner *owner, struct port_match *match, const uint8_t *ip, bool v6)
{
    uint32_t i = local_find(match, ip, v6);
    if (i == match->n_locals) {
        if (i == LOCALS_MAX) {
            return;
        }
        match->local[i] = (struct local){.v6 = v6};
        memcpy(match->local[i].ip, ip, v6 ? 16 : 4);
        owner->local_refs[i] = 0;
        match->n_locals++;
    }
    owner->local_refs[i]++;
}

static void local_remove(struct match_owner *owner, struct port_match *match, const uint8_t *ip, bool v6)
{
    uint32_t i = local_find(match, ip, v6);
    if (i < match->n_locals && --owner->local_refs[i] == 0) {
        match->n_locals--;
        match->local[i] = match->local[match->n_locals];
        owner->local_refs[i] = owner->local_refs[match->n_locals];
    }
}

int port_match_init(struct port *port, struct rte_rcu_qsbr *qsbr)
{
    struct match_owner *owner = calloc(1, sizeof *owner);
    struct port_match *match = calloc(1, sizeof *match);
    int rc = -ENOMEM;
    if (owner == NULL || match == NULL) {
        goto fail;
    }
    if (getrandom(match->seed, sizeof match->seed, 0) != (ssize_t)sizeof match->seed) {
        rc = -EIO;
        goto fail;
    }
    defer_init(&owner->defer, qsbr);
    memcpy(match->mac, port->mac, 6);
    memcpy(match->ip4, port->config.ip4, 4);
    match->ip4_prefix_len = port->config.ip4_prefix_len;
    port->match_owner = owner;
    static const uint8_t none[16];
    if (memcmp(port->config.ip4, none, 4) != 0) {
        local_add(owner, match, port->config.ip4, false);
    }
    if (memcmp(port->config.ip6, none, 16) != 0) {
        local_add(owner, match, port->config.ip6, true);
    }
    atomic_store_explicit(&port->match, match, memory_order_release); /* pairs with port_classify() */
    return 0;
fail:
    free(owner);
    free(match);
    return rc;
}

void port_match_destroy(struct port *port)
{
    struct port_match *match = own(port);
    if (match == NULL) {
        return;
    }
    for (uint32_t i = 0; match->mask != 0 && i <= match->mask; i++) {
        struct entry *entry = atomic_load_explicit(&match->slot[i], memory_order_relaxed);
        if (entry != &deleted) {
            free(entry);
        }
    }
    defer_flush(&port->match_owner->defer);
    free(port->match_owner);
    free(match);
    port->match_owner = NULL;
    atomic_store_explicit(&port->match, NULL, memory_order_relaxed);
}

static struct port_match *match_copy(const struct port_match *old, uint32_t n_slots)
{
    struct port_match *match = calloc(1, sizeof *match + n_slots * sizeof match->slot[0]);
    if (match != NULL) {
        memcpy(match, old, offsetof(struct port_match, slot));
        match->mask = n_slots != 0 ? n_slots - 1 : 0;
    }
    return match;
}

static void insert(struct port_match *match, struct entry *entry)
{
    uint32_t at = entry->hash;
    while (atomic_load_explicit(&match->slot[at & match->mask], memory_order_relaxed) != NULL) {
        at++;
    }
    atomic_store_explicit(&match->slot[at & match->mask], entry, memory_order_release); /* pairs with find() */
}

/*
 * A copy whose hash has room for one face more. Entries are shared with the old match, whose memory alone is freed
 * after the copy is published.
 */
static struct port_match *rehash(const struct port_match *old, uint32_t n_faces)
{
    uint32_t n_slots = SLOTS_MIN;
    while (n_slots < 4 * (n_faces + 1)) {
        n_slots *= 2;
    }
    struct port_match *match = match_copy(old, n_slots);
    if (match == NULL) {
        return NULL;
    }
    match->n_small = 0;
    for (uint32_t i = 0; i < old->n_small; i++) {
        struct entry *entry = malloc(sizeof *entry);
        if (entry == NULL) {
            goto free_match;
        }
        *entry = old->small[i];
        insert(match, entry);
    }
    for (uint32_t i = 0; old->mask != 0 && i <= old->mask; i++) {
        struct entry *entry = atomic_load_explicit(&old->slot[i], memory_order_relaxed);
        if (entry != NULL && entry != &deleted) {
            insert(match, entry);
        }
    }
    return match;
free_match: /* only entries that were copied from the small list exist here */
    for (uint32_t i = 0; i <= match->mask; i++) {
        free(atomic_load_explicit(&match->slot[i], memory_order_relaxed));
    }
    free(match);
    return NULL;
}

static bool is_group(const struct face_config *config)
{
    switch (config->kind) {
    case FACE_ETHER:
        return (config->remote_mac[0] & 1) != 0;
    case FACE_UDP4:
        return (config->remote_ip[0] & 0xf0) == 0xe0;
    case FACE_UDP6:
        return config->remote_ip[0] == 0xff;
    default:
        return false;
    }
}

static bool has_ip(const struct face_config *config)
{
    return config->kind == FACE_UDP4 || config->kind == FACE_UDP6;
}

/* Would noting the face change what workers see, or only our counts? */
static bool is_news(const struct port_match *match, const struct face_config *config)
{
    bool v6 = config->kind == FACE_UDP6;
    return !is_vlan_known(match, config->vlan) ||
           (has_ip(config) && match->n_locals < LOCALS_MAX &&
            (local_find(match, config->local_ip, v6) == match->n_locals ||
             (is_group(config) && local_find(match, config->remote_ip, v6) == match->n_locals)));
}

static bool is_last(const struct match_owner *owner, const struct port_match *match, const struct face_config *config)
{
    bool v6 = config->kind == FACE_UDP6;
    if (owner->vlan_refs[config->vlan & 4095] == 1) {
        return true;
    }
    if (!has_ip(config)) {
        return false;
    }
    uint32_t local = local_find(match, config->local_ip, v6);
    uint32_t group = is_group(config) ? local_find(match, config->remote_ip, v6) : match->n_locals;
    return (local < match->n_locals && owner->local_refs[local] == 1) ||
           (group < match->n_locals && owner->local_refs[group] == 1);
}

/* Count a face's VLAN and addresses. Changes match only where is_news() says so. */
static void note_face(struct match_owner *owner, struct port_match *match, const struct face_config *config)
{
    uint16_t vlan = config->vlan & 4095;
    owner->n_faces++;
    if (owner->vlan_refs[vlan]++ == 0) {
        match->vlan_known[vlan / 64] |= UINT64_C(1) << vlan % 64;
        if (match->n_vlans < VLANS_MAX) {
            match->vlan[match->n_vlans++] = vlan;
        }
    }
    if (has_ip(config)) {
        local_add(owner, match, config->local_ip, config->kind == FACE_UDP6);
        if (is_group(config)) {
            local_add(owner, match, config->remote_ip, config->kind == FACE_UDP6);
        }
    }
}

/* The reverse; changes match only where is_last() says so. */
static void forget_face(struct match_owner *owner, struct port_match *match, const struct face_config *config)
{
    uint16_t vlan = config->vlan & 4095;
    owner->n_faces--;
    if (--owner->vlan_refs[vlan] == 0) {
        match->vlan_known[vlan / 64] &= ~(UINT64_C(1) << vlan % 64);
        for (uint32_t i = 0; i < match->n_vlans; i++) {
            if (match->vlan[i] == vlan) {
                match->vlan[i] = match->vlan[--match->n_vlans];
            }
        }
    }
    if (has_ip(config)) {
        local_remove(owner, match, config->local_ip, config->kind == FACE_UDP6);
        if (is_group(config)) {
            local_remove(owner, match, config->remote_ip, config->kind == FACE_UDP6);
        }
    }
}

static void face_key(const struct face_config *config, struct key *key)
{
    bool group = is_group(config), v6 = config->kind == FACE_UDP6;
    memset(key, 0, sizeof *key);
    if (config->kind == FACE_ETHER) {
        key->tag = key_tag(group ? KEY_ETHER_GROUP : KEY_ETHER, config->vlan, 0, 0);
        load_mac(key->peer, config->remote_mac);
    } else if (group) {
        key->tag = key_tag(v6 ? KEY_UDP6_GROUP : KEY_UDP4_GROUP, config->vlan, 0, config->remote_udp);
        load_ip(key->peer, config->remote_ip, v6);
    } else {
        key->tag = key_tag(v6 ? KEY_UDP6 : KEY_UDP4, config->vlan, config->remote_udp, config->local_udp);
        load_ip(key->peer, config->remote_ip, v6);
        load_ip(key->local, config->local_ip, v6);
    }
}

static int set_bare(struct port *port, uint32_t face)
{
    struct port_match *match = match_copy(own(port), 0);
    if (match == NULL) {
        return -ENOMEM;
    }
    match->bare_face = face;
    publish(port, match);
    return 0;
}

int port_face_add(struct port *port, const struct face *face)
{
    struct match_owner *owner = port->match_owner;
    struct port_match *old = own(port), *match = old;
    defer_reclaim(&owner->defer);
    if (face->kind == FACE_BARE || old->bare_face != 0) {
        /* A port carries link headers or it does not: one bare face, or any number of others. */
        return old->bare_face != 0 || owner->n_faces != 0 ? -EEXIST : set_bare(port, face->id);
    }
    struct entry new = {.face = face->id};
    face_key(&face->config, &new.key);
    new.hash = key_hash(old, &new.key);
    if (find(old, &new.key) != 0) {
        return -EEXIST;
    }
    if (old->mask == 0 && old->n_small < SMALL_MAX) {
        match = match_copy(old, 0);
        if (match == NULL) {
            return -ENOMEM;
        }
        match->small[match->n_small++] = new;
        note_face(owner, match, &face->config);
        publish(port, match);
        return 0;
    }
    struct entry *entry = malloc(sizeof *entry);
    if (entry == NULL) {
        return -ENOMEM;
    }
    *entry = new;
    if (old->mask == 0 || 2 * (owner->n_used + 1) > old->mask || is_news(old, &face->config)) {
        match = rehash(old, owner->n_faces);
        if (match == NULL) {
            free(entry);
            return -ENOMEM;
        }
        owner->n_used = owner->n_faces;
    }
    note_face(owner, match, &face->config);
    owner->n_used++;
    insert(match, entry);
    if (match != old) {
        publish(port, match);
    }
    return 0;
}

static int remove_small(struct port *port, const struct face *face, const struct key *key)
{
    struct port_match *match = match_copy(own(port), 0);
    if (match == NULL) {
        return -ENOMEM;
    }
    for (uint32_t i = 0; i < match->n_small; i++) {
        if (match->small[i].face == face->id && key_equal(&match->small[i].key, key)) {
            match->small[i] = match->small[--match->n_small];
            forget_face(port->match_owner, match, &face->config);
            publish(port, match);
            return 0;
        }
    }
    free(match);
    return -ENOENT;
}

static struct entry *_Atomic *find_slot(struct port_match *match, const struct key *key, uint32_t face)
{
    uint32_t hash = key_hash(match, key);
    for (uint32_t i = 0; i <= match->mask; i++) {
        struct entry *_Atomic *slot = &match->slot[(hash + i) & match->mask];
        const struct entry *entry = atomic_load_explicit(slot, memory_order_relaxed);
        if (entry == NULL) {
            return NULL;
        }
        if (entry->face == face && key_equal(&entry->key, key)) {
            return slot;
        }
    }
    return NULL;
}

int port_face_remove(struct port *port, const struct face *face)
{
    struct match_owner *owner = port->match_owner;
    struct port_match *match = own(port);
    defer_reclaim(&owner->defer);
    if (face->kind == FACE_BARE) {
        return match->bare_face == face->id ? set_bare(port, 0) : -ENOENT;
    }
    struct key key;
    face_key(&face->config, &key);
    if (match->mask == 0) {
        return remove_small(port, face, &key);
    }
    struct entry *_Atomic *slot = find_slot(match, &key, face->id);
    if (slot == NULL) {
        return -ENOENT;
    }
    struct entry *entry = atomic_load_explicit(slot, memory_order_relaxed);
    atomic_store_explicit(slot, &deleted, memory_order_relaxed);
    if (is_last(owner, match, &face->config)) {
        struct port_match *copy = rehash(match, owner->n_faces);
        if (copy == NULL) {
            atomic_store_explicit(slot, entry, memory_order_release);
            return -ENOMEM;
        }
        owner->n_used = owner->n_faces - 1;
        forget_face(owner, copy, &face->config);
        publish(port, copy);
    } else {
        forget_face(owner, match, &face->config);
    }
    defer_free(&owner->defer, entry);
    return 0;
}
