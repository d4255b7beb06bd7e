// SPDX-License-Identifier: Apache-2.0
#include "ports/match.h"

#include "parser/random.h"
#include "ports/defer.h"
#include "ports/match_table.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define SLOTS_MIN 16

/* What only the control thread needs. */
struct match_owner {
    struct defer defer;
    uint32_t n_faces;
    uint32_t n_used;                       /* slots in use or deleted */
    uint32_t vlan_refs[4096];              /* faces of each VLAN */
    uint32_t local_refs[MATCH_LOCALS_MAX]; /* faces of each own address */
};

static struct match_entry deleted; /* marks a slot whose entry was removed */

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
        if (i == MATCH_LOCALS_MAX) {
            return;
        }
        match->local[i] = (struct match_local){.v6 = v6};
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
    if (random_octets(match->seed, sizeof match->seed) != 0) {
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
    if (port->config.udp_on_demand > 0) {
        /* Peers that have no face yet are heard untagged. */
        owner->vlan_refs[0] = 1;
        match->vlan_known[0] = 1;
        match->vlan[match->n_vlans++] = 0;
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
        struct match_entry *entry = atomic_load_explicit(&match->slot[i], memory_order_relaxed);
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

static void insert(struct port_match *match, struct match_entry *entry)
{
    uint32_t at = entry->hash;
    while (atomic_load_explicit(&match->slot[at & match->mask], memory_order_relaxed) != NULL) {
        at++;
    }
    atomic_store_explicit(&match->slot[at & match->mask], entry, memory_order_release); /* pairs with match_find() */
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
        struct match_entry *entry = malloc(sizeof *entry);
        if (entry == NULL) {
            goto free_match;
        }
        *entry = old->small[i];
        insert(match, entry);
    }
    for (uint32_t i = 0; old->mask != 0 && i <= old->mask; i++) {
        struct match_entry *entry = atomic_load_explicit(&old->slot[i], memory_order_relaxed);
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
    return !match_vlan_known(match, config->vlan) ||
           (has_ip(config) && match->n_locals < MATCH_LOCALS_MAX &&
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
        if (match->n_vlans < MATCH_VLANS_MAX) {
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

static void face_key(const struct face_config *config, struct match_key *key)
{
    bool group = is_group(config), v6 = config->kind == FACE_UDP6;
    memset(key, 0, sizeof *key);
    if (config->kind == FACE_ETHER) {
        key->tag = match_key_tag(group ? MATCH_ETHER_GROUP : MATCH_ETHER, config->vlan, 0, 0);
        match_load_mac(key->peer, config->remote_mac);
    } else if (group) {
        key->tag = match_key_tag(v6 ? MATCH_UDP6_GROUP : MATCH_UDP4_GROUP, config->vlan, 0, config->remote_udp);
        match_load_ip(key->peer, config->remote_ip, v6);
    } else {
        key->tag = match_key_tag(v6 ? MATCH_UDP6 : MATCH_UDP4, config->vlan, config->remote_udp, config->local_udp);
        match_load_ip(key->peer, config->remote_ip, v6);
        match_load_ip(key->local, config->local_ip, v6);
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
    struct match_entry new = {.face = face->id};
    face_key(&face->config, &new.key);
    new.hash = match_key_hash(old, &new.key);
    if (match_find(old, &new.key) != 0) {
        return -EEXIST;
    }
    if (old->mask == 0 && old->n_small < MATCH_SMALL_MAX) {
        match = match_copy(old, 0);
        if (match == NULL) {
            return -ENOMEM;
        }
        match->small[match->n_small++] = new;
        note_face(owner, match, &face->config);
        publish(port, match);
        return 0;
    }
    struct match_entry *entry = malloc(sizeof *entry);
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

static int remove_small(struct port *port, const struct face *face, const struct match_key *key)
{
    struct port_match *match = match_copy(own(port), 0);
    if (match == NULL) {
        return -ENOMEM;
    }
    for (uint32_t i = 0; i < match->n_small; i++) {
        if (match->small[i].face == face->id && match_key_equal(&match->small[i].key, key)) {
            match->small[i] = match->small[--match->n_small];
            forget_face(port->match_owner, match, &face->config);
            publish(port, match);
            return 0;
        }
    }
    free(match);
    return -ENOENT;
}

static struct match_entry *_Atomic *find_slot(struct port_match *match, const struct match_key *key, uint32_t face)
{
    uint32_t hash = match_key_hash(match, key);
    for (uint32_t i = 0; i <= match->mask; i++) {
        struct match_entry *_Atomic *slot = &match->slot[(hash + i) & match->mask];
        const struct match_entry *entry = atomic_load_explicit(slot, memory_order_relaxed);
        if (entry == NULL) {
            return NULL;
        }
        if (entry->face == face && match_key_equal(&entry->key, key)) {
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
    struct match_key key;
    face_key(&face->config, &key);
    if (match->mask == 0) {
        return remove_small(port, face, &key);
    }
    struct match_entry *_Atomic *slot = find_slot(match, &key, face->id);
    if (slot == NULL) {
        return -ENOENT;
    }
    struct match_entry *entry = atomic_load_explicit(slot, memory_order_relaxed);
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
