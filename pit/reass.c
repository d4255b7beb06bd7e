// SPDX-License-Identifier: Apache-2.0
#include "pit/reass.h"

#include <rte_mbuf.h>

#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "parser/ndn_packet.h"
#include "parser/random.h"
#include "pit/pool.h"
#include "pit/table.h"

/*
 * The timeout counts from the last fragment and is the same for all messages, so a list ordered by the last fragment
 * is also the order of expiry and the order of eviction: no timer is needed. Each message stands in two such lists,
 * the global one and that of its face.
 */

/** Neighbours in a list ordered by the last fragment. */
struct reass_link {
    uint32_t older, newer; /**< POOL_NONE at the ends */
};

struct reass_list {
    uint32_t oldest, newest;
    uint32_t count;
};

struct reass_msg {
    uint64_t id; /**< Sequence - FragIndex, wrapping */
    uint64_t sender;
    uint64_t hash;
    uint64_t last_ns; /**< when its last fragment came */
    uint32_t face;
    uint32_t face_rec;
    struct reass_link all, same;
    uint32_t n_octets; /**< of the network packet, so far */
    uint32_t n_bytes;  /**< mbuf buffers held */
    uint16_t frag_count;
    uint16_t n_frags; /**< fragments held; 0: not in use */
    struct reass_header header;
};

/** A face that has partial messages. */
struct reass_face {
    uint64_t hash;
    uint32_t face;
    struct reass_list list;
};

struct reass {
    struct reass_config config;
    uint64_t secret[2];
    struct pool msgs, faces;
    struct table msg_index, face_index;
    struct reass_list all;
    struct rte_mbuf **frags; /**< max_fragments for each message */
    size_t frags_size;
    struct reass_stats stats;
};

static struct reass_msg *msg_at(const struct reass *r, uint32_t index)
{
    return pool_at(&r->msgs, index);
}

static struct reass_face *face_at(const struct reass *r, uint32_t index)
{
    return pool_at(&r->faces, index);
}

static struct rte_mbuf **frags_of(const struct reass *r, uint32_t index)
{
    return r->frags + (size_t)(index - 1) * r->config.max_fragments;
}

/** Keyed, so that Sequence numbers cannot be chosen to share a bucket. */
static uint64_t mix(const struct reass *r, uint64_t a, uint64_t b)
{
    __extension__ unsigned __int128 product = (unsigned __int128)(a ^ r->secret[0]) * (b ^ r->secret[1]);
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static struct reass_link *link_of(const struct reass *r, uint32_t index, bool same)
{
    struct reass_msg *msg = msg_at(r, index);
    return same ? &msg->same : &msg->all;
}

static void list_append(const struct reass *r, struct reass_list *list, uint32_t index, bool same)
{
    struct reass_link *link = link_of(r, index, same);
    link->older = list->newest;
    link->newer = POOL_NONE;
    if (list->newest != POOL_NONE)
        link_of(r, list->newest, same)->newer = index;
    else
        list->oldest = index;
    list->newest = index;
    list->count++;
}

static void list_remove(const struct reass *r, struct reass_list *list, uint32_t index, bool same)
{
    struct reass_link *link = link_of(r, index, same);
    if (link->older != POOL_NONE)
        link_of(r, link->older, same)->newer = link->newer;
    else
        list->oldest = link->newer;
    if (link->newer != POOL_NONE)
        link_of(r, link->newer, same)->older = link->older;
    else
        list->newest = link->older;
    list->count--;
}

int reass_create(struct reass **reass, const struct reass_config *config, uint64_t now_ns)
{
    (void)now_ns;
    if (config->max_messages == 0 || config->max_messages > (1u << 24) || config->max_fragments == 0 ||
        config->max_fragments > NDN_LP_FRAGS_MAX || config->max_per_face == 0)
        return -EINVAL;
    struct reass *r = arena_map(sizeof *r, config->pages);
    if (r == NULL)
        return -ENOMEM;
    r->config = *config;
    if (random_octets(r->secret, sizeof r->secret) != 0)
        goto unmap;
    uint32_t n = config->max_messages;
    if (pool_init(&r->msgs, n, sizeof(struct reass_msg), config->pages) != 0)
        goto unmap;
    if (pool_init(&r->faces, n, sizeof(struct reass_face), config->pages) != 0)
        goto fini_msgs;
    if (table_init(&r->msg_index, n, config->pages) != 0)
        goto fini_faces;
    if (table_init(&r->face_index, n, config->pages) != 0)
        goto fini_msg_index;
    r->frags_size = (size_t)n * config->max_fragments * sizeof(struct rte_mbuf *);
    r->frags = arena_map(r->frags_size, config->pages);
    if (r->frags == NULL)
        goto fini_face_index;
    *reass = r;
    return 0;

fini_face_index:
    table_fini(&r->face_index);
fini_msg_index:
    table_fini(&r->msg_index);
fini_faces:
    pool_fini(&r->faces);
fini_msgs:
    pool_fini(&r->msgs);
unmap:
    arena_unmap(r, sizeof *r);
    return -ENOMEM;
}

static uint32_t face_find(const struct reass *r, uint32_t face, uint64_t hash)
{
    struct table_iter iter;
    for (uint32_t i = table_first(&r->face_index, hash, &iter); i != 0; i = table_next(&r->face_index, &iter))
        if (face_at(r, i)->face == face)
            return i;
    return POOL_NONE;
}

static uint32_t msg_find(const struct reass *r, uint32_t face, uint64_t sender, uint64_t id, uint64_t hash)
{
    struct table_iter iter;
    for (uint32_t i = table_first(&r->msg_index, hash, &iter); i != 0; i = table_next(&r->msg_index, &iter)) {
        const struct reass_msg *msg = msg_at(r, i);
        if (msg->id == id && msg->face == face && msg->sender == sender)
            return i;
    }
    return POOL_NONE;
}

/** Take a message out of all lists; its fragments stay with the caller. */
static void msg_detach(struct reass *r, uint32_t index)
{
    struct reass_msg *msg = msg_at(r, index);
    struct reass_face *rec = face_at(r, msg->face_rec);
    list_remove(r, &r->all, index, false);
    list_remove(r, &rec->list, index, true);
    if (rec->list.count == 0) {
        table_remove(&r->face_index, rec->hash, msg->face_rec);
        pool_put(&r->faces, msg->face_rec);
    }
    table_remove(&r->msg_index, msg->hash, index);
    r->stats.n_bytes -= msg->n_bytes;
    msg->n_frags = 0;
    pool_put(&r->msgs, index);
}

/** Drop a message. @return fragments freed */
static uint16_t msg_drop(struct reass *r, uint32_t index)
{
    struct reass_msg *msg = msg_at(r, index);
    struct rte_mbuf **frags = frags_of(r, index);
    uint16_t n = msg->n_frags;
    for (unsigned i = 0; i < msg->frag_count; i++) {
        if (frags[i] != NULL)
            rte_pktmbuf_free(frags[i]);
        frags[i] = NULL;
    }
    msg_detach(r, index);
    r->stats.n_frags_freed += n;
    return n;
}

/** Drop the oldest message, of the same face when it has one. @p keep is spared; there is another. */
static uint16_t evict(struct reass *r, uint32_t face_rec, uint32_t keep)
{
    uint32_t victim = POOL_NONE;
    if (face_rec != POOL_NONE) {
        victim = face_at(r, face_rec)->list.oldest;
        if (victim != POOL_NONE && victim == keep)
            victim = msg_at(r, victim)->same.newer;
    }
    if (victim == POOL_NONE) {
        victim = r->all.oldest;
        if (victim != POOL_NONE && victim == keep)
            victim = msg_at(r, victim)->all.newer;
    }
    assert(victim != POOL_NONE);
    r->stats.n_evicted++;
    return msg_drop(r, victim);
}

/** Make a message without fragments. Room has been made before. @return its index, POOL_NONE when an index is full */
static uint32_t msg_new(struct reass *r, uint32_t face, uint64_t face_hash, uint64_t hash)
{
    uint32_t rec = face_find(r, face, face_hash);
    if (rec == POOL_NONE) {
        // There are as many as messages, so one is left.
        rec = pool_get(&r->faces);
        if (table_insert(&r->face_index, face_hash, rec) != 0) {
            pool_put(&r->faces, rec);
            return POOL_NONE;
        }
        *face_at(r, rec) = (struct reass_face){.hash = face_hash, .face = face};
    }
    uint32_t index = pool_get(&r->msgs);
    if (table_insert(&r->msg_index, hash, index) != 0) {
        pool_put(&r->msgs, index);
        index = POOL_NONE;
    }
    struct reass_face *face_rec = face_at(r, rec);
    if (index == POOL_NONE) {
        if (face_rec->list.count == 0) {
            table_remove(&r->face_index, face_hash, rec);
            pool_put(&r->faces, rec);
        }
        return POOL_NONE;
    }
    struct reass_msg *msg = msg_at(r, index);
    msg->face = face;
    msg->face_rec = rec;
    msg->hash = hash;
    msg->n_octets = 0;
    msg->n_bytes = 0;
    msg->n_frags = 0;
    list_append(r, &r->all, index, false);
    list_append(r, &face_rec->list, index, true);
    return index;
}

static uint32_t bytes_held(const struct rte_mbuf *mbuf)
{
    uint32_t bytes = 0;
    for (; mbuf != NULL; mbuf = mbuf->next)
        bytes += mbuf->buf_len;
    return bytes;
}

/** Keep the fields of the first fragment, whose header lies in front of the octets of @p mbuf. */
static void header_keep(struct reass_header *header, const struct ndn_lp *lp, const struct rte_mbuf *mbuf)
{
    header->lp = *lp;
    if (lp->token_len > 0 && lp->token_len <= NDN_LP_TOKEN_MAX)
        memcpy(header->token, lp->token, lp->token_len);
    else
        header->lp.token_len = 0;
    header->lp.token = header->token;
    // Acks belong to the link and were taken from each fragment as it came.
    header->lp.acks = NULL;
    header->lp.n_acks = 0;
    header->lp.fragment = NULL;
    header->lp.fragment_len = 0;
    // Only the buffer of the fragment itself is known to live on.
    const uint8_t *buf = mbuf->buf_addr;
    if ((lp->has & LP_HAS_PREFIX_ANNOUNCEMENT) != 0 &&
        (lp->announcement < buf || lp->announcement > buf + mbuf->buf_len ||
         lp->announcement_len > (size_t)(buf + mbuf->buf_len - lp->announcement))) {
        header->lp.has &= (uint16_t)~LP_HAS_PREFIX_ANNOUNCEMENT;
        header->lp.announcement = NULL;
        header->lp.announcement_len = 0;
    }
}

/** Chain the fragments of a complete message and forget the message. */
static struct rte_mbuf *msg_join(struct reass *r, uint32_t index)
{
    struct reass_msg *msg = msg_at(r, index);
    struct rte_mbuf **frags = frags_of(r, index);
    struct rte_mbuf *head = frags[0];
    struct rte_mbuf *last = head;
    frags[0] = NULL;
    while (last->next != NULL)
        last = last->next;
    for (unsigned i = 1; i < msg->frag_count; i++) {
        struct rte_mbuf *frag = frags[i];
        frags[i] = NULL;
        head->pkt_len += frag->pkt_len;
        head->nb_segs = (uint16_t)(head->nb_segs + frag->nb_segs);
        last->next = frag;
        while (last->next != NULL)
            last = last->next;
    }
    msg_detach(r, index);
    r->stats.n_completed++;
    return head;
}

static enum reass_result refuse(struct reass *r, uint32_t msg, struct rte_mbuf *mbuf, uint16_t *count,
                                enum reass_result result)
{
    if (msg != POOL_NONE)
        *count = (uint16_t)(*count + msg_drop(r, msg));
    rte_pktmbuf_free(mbuf);
    *count = (uint16_t)(*count + 1);
    r->stats.n_frags_freed++;
    return result;
}

/** Make room for @p bytes more of message @p msg (POOL_NONE: a new one). @return true when there is room */
static bool make_room(struct reass *r, uint32_t msg, uint32_t face, uint64_t face_hash, uint32_t bytes,
                      struct reass_freed *freed)
{
    uint32_t held = msg == POOL_NONE ? 0 : msg_at(r, msg)->n_bytes;
    if (bytes > r->config.max_bytes || held > r->config.max_bytes - bytes)
        return false;
    // The loop ends: each turn takes one message away, and without other messages all conditions are false.
    for (;;) {
        uint32_t rec = face_find(r, face, face_hash);
        bool full = r->stats.n_bytes > r->config.max_bytes - bytes;
        if (msg == POOL_NONE)
            full |= r->all.count >= r->config.max_messages ||
                    (rec != POOL_NONE && face_at(r, rec)->list.count >= r->config.max_per_face);
        if (!full)
            return true;
        freed->evicted = (uint16_t)(freed->evicted + evict(r, rec, msg));
    }
}

enum reass_result reass_add(struct reass *r, uint32_t face, uint64_t sender, const struct ndn_lp *lp,
                            struct rte_mbuf *mbuf, uint64_t now_ns, struct rte_mbuf **out, struct reass_header *header,
                            struct reass_freed *freed)
{
    *freed = (struct reass_freed){0};
    uint64_t id = lp->sequence - lp->frag_index;
    uint64_t face_hash = mix(r, face, 0x9e3779b97f4a7c15);
    uint64_t hash = mix(r, id, mix(r, face, sender));
    uint32_t index = msg_find(r, face, sender, id, hash);

    if (lp->frag_count > r->config.max_fragments || lp->frag_index >= lp->frag_count ||
        (index != POOL_NONE && msg_at(r, index)->frag_count != lp->frag_count))
        return refuse(r, index, mbuf, &freed->bad, REASS_BAD);
    if (index != POOL_NONE && frags_of(r, index)[lp->frag_index] != NULL)
        return refuse(r, POOL_NONE, mbuf, &freed->duplicate, REASS_DUPLICATE);
    uint32_t n_octets = index == POOL_NONE ? 0 : msg_at(r, index)->n_octets;
    if (mbuf->pkt_len > NDN_PACKET_MAX - n_octets)
        return refuse(r, index, mbuf, &freed->oversize, REASS_OVERSIZE);

    uint32_t bytes = bytes_held(mbuf);
    bool room = make_room(r, index, face, face_hash, bytes, freed);
    if (room && index == POOL_NONE) {
        index = msg_new(r, face, face_hash, hash);
        room = index != POOL_NONE;
    }
    if (!room) {
        // Without this fragment the message can never be complete.
        if (index != POOL_NONE) {
            r->stats.n_evicted++;
            freed->evicted = (uint16_t)(freed->evicted + msg_drop(r, index));
        }
        return refuse(r, POOL_NONE, mbuf, &freed->full, REASS_FULL);
    }

    struct reass_msg *msg = msg_at(r, index);
    if (msg->n_frags == 0) {
        msg->id = id;
        msg->sender = sender;
        msg->frag_count = lp->frag_count;
    } else {
        struct reass_face *rec = face_at(r, msg->face_rec);
        list_remove(r, &r->all, index, false);
        list_append(r, &r->all, index, false);
        list_remove(r, &rec->list, index, true);
        list_append(r, &rec->list, index, true);
    }
    frags_of(r, index)[lp->frag_index] = mbuf;
    msg->n_frags++;
    msg->n_octets += mbuf->pkt_len;
    msg->n_bytes += bytes;
    msg->last_ns = now_ns;
    r->stats.n_bytes += bytes;
    if (lp->frag_index == 0)
        header_keep(&msg->header, lp, mbuf);
    if (msg->n_frags < msg->frag_count)
        return REASS_STORED;

    *header = msg->header;
    header->lp.token = header->token;
    *out = msg_join(r, index);
    return REASS_COMPLETE;
}

uint32_t reass_poll(struct reass *r, uint64_t now_ns)
{
    uint32_t freed = 0;
    uint64_t timeout_ns = (uint64_t)r->config.timeout_ms * 1000000;
    while (r->all.oldest != POOL_NONE) {
        uint64_t last_ns = msg_at(r, r->all.oldest)->last_ns;
        if (now_ns < last_ns || now_ns - last_ns < timeout_ns)
            break;
        r->stats.n_timeout++;
        freed += msg_drop(r, r->all.oldest);
    }
    return freed;
}

uint32_t reass_face_remove(struct reass *r, uint32_t face)
{
    uint32_t freed = 0;
    uint32_t rec = face_find(r, face, mix(r, face, 0x9e3779b97f4a7c15));
    if (rec == POOL_NONE)
        return 0;
    for (uint32_t left = face_at(r, rec)->list.count; left > 0; left--)
        freed += msg_drop(r, face_at(r, rec)->list.oldest);
    return freed;
}

void reass_destroy(struct reass *r)
{
    if (r == NULL)
        return;
    while (r->all.oldest != POOL_NONE)
        msg_drop(r, r->all.oldest);
    arena_unmap(r->frags, r->frags_size);
    table_fini(&r->face_index);
    table_fini(&r->msg_index);
    pool_fini(&r->faces);
    pool_fini(&r->msgs);
    arena_unmap(r, sizeof *r);
}

void reass_stats(const struct reass *r, struct reass_stats *stats)
{
    *stats = r->stats;
    stats->n_messages = r->all.count;
}

static int msg_check(const struct reass *r, uint32_t index)
{
    const struct reass_msg *msg = msg_at(r, index);
    struct rte_mbuf **frags = frags_of(r, index);
    uint32_t n = 0, octets = 0, bytes = 0;
    for (unsigned i = 0; i < r->config.max_fragments; i++) {
        if (frags[i] == NULL)
            continue;
        if (i >= msg->frag_count)
            return -EINVAL;
        n++;
        octets += frags[i]->pkt_len;
        bytes += bytes_held(frags[i]);
    }
    bool found = msg_find(r, msg->face, msg->sender, msg->id, msg->hash) == index;
    bool sums = n == msg->n_frags && octets == msg->n_octets && bytes == msg->n_bytes;
    bool partial = n > 0 && n < msg->frag_count && octets <= NDN_PACKET_MAX;
    return found && sums && partial && face_at(r, msg->face_rec)->face == msg->face ? 0 : -EINVAL;
}

int reass_check(const struct reass *r)
{
    uint32_t n = 0, n_faces = 0, bytes = 0, in_faces = 0;
    uint64_t last_ns = 0;
    for (uint32_t i = r->all.oldest; i != POOL_NONE; i = msg_at(r, i)->all.newer) {
        const struct reass_msg *msg = msg_at(r, i);
        if (++n > r->config.max_messages || msg->last_ns < last_ns || msg_check(r, i) != 0)
            return -EINVAL;
        last_ns = msg->last_ns;
        bytes += msg->n_bytes;
        const struct reass_face *rec = face_at(r, msg->face_rec);
        if (rec->list.oldest != i)
            continue;
        n_faces++;
        if (rec->list.count > r->config.max_per_face)
            return -EINVAL;
        uint32_t left = rec->list.count;
        for (uint32_t j = i; j != POOL_NONE && left > 0; j = msg_at(r, j)->same.newer, left--)
            in_faces++;
        if (left != 0)
            return -EINVAL;
    }
    bool counts = n == r->all.count && n == r->msgs.n_used && n == r->msg_index.n_entries && n == in_faces &&
                  n_faces == r->faces.n_used && n_faces == r->face_index.n_entries;
    return counts && bytes == r->stats.n_bytes && bytes <= r->config.max_bytes ? 0 : -EINVAL;
}
