// SPDX-License-Identifier: Apache-2.0
#include "ports/face.h"

#include "ports/defer.h"
#include "parser/frame.h"

#include <rte_ether.h>
#include <rte_ip.h>

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MTU_MIN      64
#define MTU_MAX      8800 /* largest NDN packet, link-layer header included */
#define UDP4_HDR_LEN 28
#define UDP6_HDR_LEN 48
#define NO_SLOT      UINT32_MAX

/* The table with what only the control thread needs: an index of addresses that finds duplicates. */
struct face_table_owner {
    struct face_table table; /* first: callers hold a pointer to it */
    struct defer defer;
    uint32_t bucket[FACE_SLOTS];
    uint32_t chain[FACE_SLOTS];
};

static struct face_table_owner *owner_of(struct face_table *table)
{
    return (struct face_table_owner *)table;
}

static struct face *slot_load(const struct face_table *table, uint32_t slot)
{
    return atomic_load_explicit(&table->slot[slot], memory_order_relaxed); /* the control thread is the only writer */
}

int face_table_create(struct face_table **table, struct rte_rcu_qsbr *qsbr)
{
    struct face_table_owner *owner = NULL;
    if (posix_memalign((void **)&owner, RTE_CACHE_LINE_SIZE, sizeof *owner) != 0) {
        return -ENOMEM;
    }
    memset(owner, 0, sizeof *owner);
    for (uint32_t i = 0; i < FACE_SLOTS; i++) {
        owner->bucket[i] = NO_SLOT;
    }
    owner->table.next_id = FACE_ID_FIRST;
    owner->table.qsbr = qsbr;
    defer_init(&owner->defer, qsbr);
    *table = &owner->table;
    return 0;
}

void face_table_destroy(struct face_table *table)
{
    if (table == NULL) {
        return;
    }
    for (uint32_t i = 0; i < FACE_SLOTS; i++) {
        free(slot_load(table, i));
    }
    defer_flush(&owner_of(table)->defer);
    free(owner_of(table));
}

static size_t ip_len(const struct face_config *config)
{
    return config->kind == FACE_UDP4 ? 4 : config->kind == FACE_UDP6 ? 16 : 0;
}

static bool all_zero(const uint8_t *p, size_t len)
{
    uint8_t any = 0;
    for (size_t i = 0; i < len; i++) {
        any |= p[i];
    }
    return any == 0;
}

static bool is_ip_group(const struct face_config *config)
{
    return config->kind == FACE_UDP4 ? (config->remote_ip[0] & 0xf0) == 0xe0
                                     : config->kind == FACE_UDP6 && config->remote_ip[0] == 0xff;
}

/* Same port, VLAN and addresses: frames of the two faces could not be told apart. */
static bool same_peer(const struct face_config *a, const struct face_config *b)
{
    if (a->port != b->port || a->kind != b->kind) {
        return false;
    }
    if (a->kind == FACE_BARE) {
        return true;
    }
    if (a->kind == FACE_THREAD) {
        return false; /* whose sockets they are, they know themselves */
    }
    if (a->vlan != b->vlan) {
        return false;
    }
    if (a->kind == FACE_ETHER) {
        return memcmp(a->remote_mac, b->remote_mac, 6) == 0;
    }
    if (memcmp(a->remote_ip, b->remote_ip, ip_len(a)) != 0) {
        return false;
    }
    if (is_ip_group(a)) {
        return a->remote_udp == b->remote_udp;
    }
    return a->remote_udp == b->remote_udp && a->local_udp == b->local_udp &&
           memcmp(a->local_ip, b->local_ip, ip_len(a)) == 0;
}

static uint32_t peer_hash(const struct face_config *config)
{
    uint64_t hash = config->port * UINT64_C(0x9e3779b97f4a7c15) + config->kind;
    const uint8_t *peer = config->kind == FACE_ETHER ? config->remote_mac : config->remote_ip;
    size_t len = config->kind == FACE_ETHER ? 6 : ip_len(config);
    if (config->kind == FACE_THREAD) {
        peer = (const uint8_t *)config->remote_uri;
        len = strlen(config->remote_uri);
    }
    if (config->kind == FACE_ETHER || ip_len(config) != 0) {
        hash = hash * 31 + config->vlan;
    }
    for (size_t i = 0; i < len; i++) {
        hash = (hash ^ peer[i]) * UINT64_C(0x100000001b3);
    }
    if (ip_len(config) != 0) {
        hash = (hash ^ config->remote_udp) * UINT64_C(0x9e3779b97f4a7c15);
    }
    return (uint32_t)((hash >> 32) ^ hash) % FACE_SLOTS;
}

static void index_insert(struct face_table_owner *owner, uint32_t slot, const struct face_config *config)
{
    uint32_t *head = &owner->bucket[peer_hash(config)];
    owner->chain[slot] = *head;
    *head = slot;
}

static void index_remove(struct face_table_owner *owner, uint32_t slot, const struct face_config *config)
{
    uint32_t *link = &owner->bucket[peer_hash(config)];
    while (*link != slot) {
        link = &owner->chain[*link];
    }
    *link = owner->chain[slot];
}

static const struct face *index_find(const struct face_table_owner *owner, const struct face_config *config)
{
    uint32_t slot = owner->bucket[peer_hash(config)];
    while (slot != NO_SLOT) {
        const struct face *face = slot_load(&owner->table, slot);
        if (same_peer(&face->config, config)) {
            return face;
        }
        slot = owner->chain[slot];
    }
    return NULL;
}

/* Sum of 16-bit words as they lie in memory: a ones' complement sum does not care for the byte order (RFC 1071). */
static uint32_t sum_words(uint32_t sum, const uint8_t *p, size_t len)
{
    for (size_t i = 0; i + 1 < len; i += 2) {
        uint16_t word;
        memcpy(&word, p + i, 2);
        sum += word;
    }
    return sum;
}

static uint16_t fold(uint32_t sum)
{
    sum = (sum & 0xffff) + (sum >> 16);
    sum = (sum & 0xffff) + (sum >> 16);
    return (uint16_t)sum;
}

static uint8_t *put16(uint8_t *p, uint16_t value)
{
    p[0] = (uint8_t)(value >> 8);
    p[1] = (uint8_t)value;
    return p + 2;
}

static uint8_t *put(uint8_t *p, const uint8_t *from, size_t len)
{
    memcpy(p, from, len);
    return p + len;
}

/* IPv4 header without total length. The checksum field holds the sum of the others, for face_tx.h to complete. */
static uint8_t *write_ip4(uint8_t *p, const struct face_config *config)
{
    struct rte_ipv4_hdr ip = {
        .version_ihl = 0x45,
        .fragment_offset =
            htons(RTE_IPV4_HDR_DF_FLAG), /* NDNLPv2 fragments; and DF lets Identification be 0 (RFC 6864) */
        .time_to_live = is_ip_group(config) ? 1 : 64,
        .next_proto_id = IPPROTO_UDP,
    };
    memcpy(&ip.src_addr, config->local_ip, 4);
    memcpy(&ip.dst_addr, config->remote_ip, 4);
    ip.hdr_checksum = fold(sum_words(0, (const uint8_t *)&ip, sizeof ip));
    return put(p, (const uint8_t *)&ip, sizeof ip);
}

static uint8_t *write_ip6(uint8_t *p, const struct face_config *config)
{
    struct rte_ipv6_hdr ip = {
        .vtc_flow = htonl(UINT32_C(6) << 28),
        .proto = IPPROTO_UDP,
        .hop_limits = is_ip_group(config) ? 1 : 64,
    };
    memcpy(ip.src_addr, config->local_ip, 16);
    memcpy(ip.dst_addr, config->remote_ip, 16);
    return put(p, (const uint8_t *)&ip, sizeof ip);
}

static void build_header(struct face *face)
{
    const struct face_config *config = &face->config;
    memset(face->hdr, 0, sizeof face->hdr);
    face->hdr_len = 0;
    face->l3_off = 0;
    face->csum_base = 0;
    if (config->kind == FACE_BARE || config->kind == FACE_THREAD) {
        return;
    }
    uint8_t *p = put(face->hdr, config->remote_mac, 6);
    p = put(p, config->local_mac, 6);
    if (config->vlan != 0) {
        p = put16(p, RTE_ETHER_TYPE_VLAN);
        p = put16(p, config->vlan);
    }
    if (config->kind == FACE_ETHER) {
        p = put16(p, FRAME_ETHERTYPE_NDN);
        face->hdr_len = (uint8_t)(p - face->hdr);
        return;
    }
    bool v4 = config->kind == FACE_UDP4;
    p = put16(p, v4 ? RTE_ETHER_TYPE_IPV4 : RTE_ETHER_TYPE_IPV6);
    face->l3_off = (uint8_t)(p - face->hdr);
    p = v4 ? write_ip4(p, config) : write_ip6(p, config);
    const uint8_t *udp = p;
    p = put16(p, config->local_udp);
    p = put16(p, config->remote_udp);
    p = put16(p, 0);
    p = put16(p, 0);
    face->hdr_len = (uint8_t)(p - face->hdr);
    uint32_t sum = sum_words(htons(IPPROTO_UDP), config->local_ip, ip_len(config));
    sum = sum_words(sum, config->remote_ip, ip_len(config));
    face->csum_base = fold(sum_words(sum, udp, 4));
}

static void udp_uri(char *uri, size_t size, const struct face_config *config, const uint8_t *ip, uint16_t port)
{
    char text[INET6_ADDRSTRLEN] = "";
    if (config->kind == FACE_UDP4) {
        inet_ntop(AF_INET, ip, text, sizeof text);
        snprintf(uri, size, "udp4://%s:%u", text, port);
        return;
    }
    inet_ntop(AF_INET6, ip, text, sizeof text);
    /* Link-local addresses, unicast and multicast, mean something on one interface only. */
    bool scoped = (ip[0] == 0xfe && (ip[1] & 0xc0) == 0x80) || (ip[0] == 0xff && (ip[1] & 0x0f) == 2);
    if (scoped && config->dev != NULL) {
        snprintf(uri, size, "udp6://[%s%%%.15s]:%u", text, config->dev, port);
    } else {
        snprintf(uri, size, "udp6://[%s]:%u", text, port);
    }
}

static void write_uris(struct face *face)
{
    const struct face_config *config = &face->config;
    const uint8_t *mac = config->remote_mac;
    switch (config->kind) {
    case FACE_UDP4:
    case FACE_UDP6:
        udp_uri(face->local_uri, sizeof face->local_uri, config, config->local_ip, config->local_udp);
        udp_uri(face->remote_uri, sizeof face->remote_uri, config, config->remote_ip, config->remote_udp);
        return;
    case FACE_ETHER:
        snprintf(face->remote_uri, sizeof face->remote_uri, "ether://[%02x:%02x:%02x:%02x:%02x:%02x]", mac[0], mac[1],
                 mac[2], mac[3], mac[4], mac[5]);
        break;
    case FACE_THREAD:
        snprintf(face->local_uri, sizeof face->local_uri, "%s", config->local_uri);
        snprintf(face->remote_uri, sizeof face->remote_uri, "%s", config->remote_uri);
        face->config.local_uri = face->local_uri;
        face->config.remote_uri = face->remote_uri;
        return;
    default:
        snprintf(face->remote_uri, sizeof face->remote_uri, "bare://%s", face->dev);
        break;
    }
    snprintf(face->local_uri, sizeof face->local_uri, "dev://%s", face->dev);
}

static uint16_t mtu_of(const struct face_config *config, uint16_t port_mtu)
{
    if (config->kind == FACE_THREAD) {
        return config->mtu != 0 ? config->mtu : FACE_MTU_UNLIMITED;
    }
    uint32_t below = config->kind == FACE_UDP4 ? UDP4_HDR_LEN : config->kind == FACE_UDP6 ? UDP6_HDR_LEN : 0;
    uint32_t mtu = port_mtu > below ? port_mtu - below : 0;
    mtu = config->mtu != 0 ? RTE_MIN(config->mtu, mtu) : mtu;
    return (uint16_t)RTE_MIN(mtu, (uint32_t)MTU_MAX);
}

/* Multicast MAC address of a group: RFC 1112 section 6.4, RFC 2464 section 7. */
static void group_mac(struct face_config *config)
{
    const uint8_t *ip = config->remote_ip;
    if (config->kind == FACE_UDP4) {
        const uint8_t mac[6] = {0x01, 0x00, 0x5e, ip[1] & 0x7f, ip[2], ip[3]};
        memcpy(config->remote_mac, mac, 6);
    } else {
        const uint8_t mac[6] = {0x33, 0x33, ip[12], ip[13], ip[14], ip[15]};
        memcpy(config->remote_mac, mac, 6);
    }
}

static bool valid(const struct face_config *config)
{
    bool multi = config->link_type == FACE_LINK_MULTI_ACCESS || config->link_type == FACE_LINK_AD_HOC;
    if (config->vlan > 4094 || (config->link_type != FACE_LINK_P2P && !multi) ||
        (config->mtu != 0 && config->mtu < MTU_MIN)) {
        return false;
    }
    bool mac_group = (config->remote_mac[0] & 1) != 0;
    switch (config->kind) {
    case FACE_BARE:
        return config->vlan == 0;
    case FACE_THREAD:
        return config->vlan == 0 && config->local_uri != NULL && config->remote_uri != NULL;
    case FACE_ETHER:
        return !all_zero(config->remote_mac, 6) &&
               (mac_group || (!multi && memcmp(config->remote_mac, config->local_mac, 6)));
    case FACE_UDP4:
    case FACE_UDP6:
        if (config->local_udp == 0 || config->remote_udp == 0 || all_zero(config->local_ip, ip_len(config)) ||
            all_zero(config->remote_ip, ip_len(config))) {
            return false;
        }
        return is_ip_group(config) ||
               (!multi && !mac_group && memcmp(config->local_ip, config->remote_ip, ip_len(config)) != 0);
    default:
        return false;
    }
}

/* What the flags and the scope ask of its packets' headers. */
static uint8_t fields_of(const struct face *face)
{
    return face->scope == FACE_SCOPE_LOCAL || (face->flags & (FACE_LOCAL_FIELDS | FACE_RELIABILITY)) != 0;
}

/* Build and publish a face of a checked configuration. */
static int publish(struct face_table *table, const struct face_config *config, uint16_t port_mtu, uint32_t id)
{
    struct face_table_owner *owner = owner_of(table);
    struct face *face = NULL;
    if (posix_memalign((void **)&face, RTE_CACHE_LINE_SIZE, sizeof *face) != 0) {
        return -ENOMEM;
    }
    memset(face, 0, sizeof *face);
    face->id = id;
    face->config = *config;
    if (is_ip_group(config)) {
        group_mac(&face->config);
    }
    bool group = is_ip_group(config) || (config->kind == FACE_ETHER && (config->remote_mac[0] & 1) != 0);
    if (group && config->link_type == FACE_LINK_P2P) {
        face->config.link_type = FACE_LINK_MULTI_ACCESS;
    }
    face->port = config->port;
    face->kind = config->kind;
    face->scope = config->scope;
    face->link_type = face->config.link_type;
    face->flags = config->flags;
    face->fields = fields_of(face);
    face->persistency = config->persistency;
    face->mtu = mtu_of(config, port_mtu);
    snprintf(face->name, sizeof face->name, "%s", config->name != NULL ? config->name : "");
    if (config->dev != NULL) {
        snprintf(face->dev, sizeof face->dev, "%s", config->dev);
    } else {
        snprintf(face->dev, sizeof face->dev, "port%u", config->port);
    }
    face->config.name = face->name;
    face->config.dev = config->dev != NULL ? face->dev : NULL;
    if (ip_len(config) != 0 && all_zero(face->config.remote_mac, 6)) {
        atomic_init(&face->down, FACE_DOWN_NEIGHBOUR);
    }
    build_header(face);
    write_uris(face);
    index_insert(owner, face->id % FACE_SLOTS, &face->config);
    atomic_store_explicit(&table->slot[face->id % FACE_SLOTS], face, memory_order_release); /* pairs with face_get() */
    table->n_faces++;
    return 0;
}

int face_add(struct face_table *table, const struct face_config *config, uint16_t port_mtu, uint32_t *id)
{
    struct face_table_owner *owner = owner_of(table);
    defer_reclaim(&owner->defer);
    if (!valid(config)) {
        return -EINVAL;
    }
    const struct face *existing = index_find(owner, config);
    if (existing != NULL) {
        *id = existing->id;
        return -EEXIST;
    }
    if (mtu_of(config, port_mtu) < MTU_MIN) {
        return -EINVAL;
    }
    if (table->n_faces >= FACE_SLOTS) {
        return -ENOSPC;
    }
    uint32_t next = table->next_id;
    while (next < FACE_ID_FIRST || slot_load(table, next % FACE_SLOTS) != NULL) {
        next = next < FACE_ID_FIRST ? FACE_ID_FIRST : next + 1;
    }
    int rc = publish(table, config, port_mtu, next);
    if (rc != 0) {
        return rc;
    }
    table->next_id = next + 1;
    *id = next;
    return 0;
}

int face_add_reserved(struct face_table *table, const struct face_config *config, uint32_t id)
{
    if (config->kind != FACE_THREAD || id == 0 || id >= FACE_ID_FIRST || !valid(config)) {
        return -EINVAL;
    }
    if (slot_load(table, id % FACE_SLOTS) != NULL) {
        return -EEXIST;
    }
    return publish(table, config, UINT16_MAX, id);
}

static struct face *face_own(struct face_table *table, uint32_t id)
{
    struct face *face = slot_load(table, id % FACE_SLOTS);
    return face != NULL && face->id == id ? face : NULL;
}

int face_remove(struct face_table *table, uint32_t id)
{
    struct face *face = face_own(table, id);
    if (face == NULL) {
        return -ENOENT;
    }
    index_remove(owner_of(table), id % FACE_SLOTS, &face->config);
    atomic_store_explicit(&table->slot[id % FACE_SLOTS], NULL, memory_order_release);
    table->n_faces--;
    defer_free(&owner_of(table)->defer, face);
    return 0;
}

/* A private copy of a published face, to be changed and given to republish(). */
static int copy_face(struct face_table *table, uint32_t id, struct face **copy)
{
    const struct face *face = face_own(table, id);
    if (face == NULL) {
        return -ENOENT;
    }
    if (posix_memalign((void **)copy, RTE_CACHE_LINE_SIZE, sizeof **copy) != 0) {
        return -ENOMEM;
    }
    memcpy(*copy, face, sizeof *face);
    (*copy)->config.name = (*copy)->name;
    (*copy)->config.dev = face->config.dev != NULL ? (*copy)->dev : NULL;
    if (face->kind == FACE_THREAD) {
        (*copy)->config.local_uri = (*copy)->local_uri;
        (*copy)->config.remote_uri = (*copy)->remote_uri;
    }
    return 0;
}

static void republish(struct face_table *table, struct face *copy)
{
    struct face *old = slot_load(table, copy->id % FACE_SLOTS);
    atomic_store_explicit(&table->slot[copy->id % FACE_SLOTS], copy, memory_order_release); /* pairs with face_get() */
    defer_free(&owner_of(table)->defer, old);
}

int face_set_remote_mac(struct face_table *table, uint32_t id, const uint8_t mac[6])
{
    struct face *copy = NULL;
    int rc = copy_face(table, id, &copy);
    if (rc != 0) {
        return rc;
    }
    memcpy(copy->config.remote_mac, mac, 6);
    atomic_fetch_and_explicit(&copy->down, (uint8_t)~FACE_DOWN_NEIGHBOUR, memory_order_relaxed);
    build_header(copy);
    republish(table, copy);
    return 0;
}

int face_change(struct face_table *table, uint32_t id, const struct face_update *update)
{
    if (update->has_mtu && (update->mtu < MTU_MIN || update->mtu > MTU_MAX)) {
        return -EINVAL;
    }
    struct face *copy = NULL;
    int rc = copy_face(table, id, &copy);
    if (rc != 0) {
        return rc;
    }
    if (update->has_persistency) {
        copy->persistency = copy->config.persistency = update->persistency;
    }
    if (update->has_flags) {
        copy->flags = copy->config.flags = update->flags;
        copy->fields = fields_of(copy);
    }
    if (update->has_congestion_interval) {
        copy->config.congestion_interval_ns = update->congestion_interval_ns;
    }
    if (update->has_congestion_threshold) {
        copy->config.congestion_threshold = update->congestion_threshold;
    }
    if (update->has_mtu) {
        copy->mtu = copy->config.mtu = update->mtu;
    }
    republish(table, copy);
    return 0;
}

int face_set_local_mac(struct face_table *table, uint32_t id, const uint8_t mac[6])
{
    struct face *copy = NULL;
    int rc = copy_face(table, id, &copy);
    if (rc != 0) {
        return rc;
    }
    memcpy(copy->config.local_mac, mac, 6);
    build_header(copy);
    republish(table, copy);
    return 0;
}

int face_set_port_mtu(struct face_table *table, uint32_t id, uint16_t port_mtu)
{
    const struct face *face = face_own(table, id);
    if (face != NULL && face->mtu == mtu_of(&face->config, port_mtu)) {
        return 0;
    }
    struct face *copy = NULL;
    int rc = copy_face(table, id, &copy);
    if (rc != 0) {
        return rc;
    }
    copy->mtu = mtu_of(&copy->config, port_mtu);
    if (copy->mtu < MTU_MIN) {
        free(copy);
        return -EINVAL;
    }
    republish(table, copy);
    return 0;
}

int face_set_down(struct face_table *table, uint32_t id, uint8_t reason, bool down)
{
    struct face *face = face_own(table, id);
    if (face == NULL) {
        return -ENOENT;
    }
    if (down) {
        atomic_fetch_or_explicit(&face->down, reason, memory_order_relaxed);
    } else {
        atomic_fetch_and_explicit(&face->down, (uint8_t)~reason, memory_order_relaxed);
    }
    return 0;
}
