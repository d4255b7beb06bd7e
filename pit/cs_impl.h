// SPDX-License-Identifier: Apache-2.0
#ifndef PIT_CS_IMPL_H
#define PIT_CS_IMPL_H

#include <stdbool.h>
#include <stdint.h>

#include "pit/cs.h"
#include "pit/octets.h"
#include "pit/pool.h"
#include "pit/table.h"
#include "pit/wheel.h"

/* Inside of the Content Store. pit/cs.h includes it for its inline part; other code takes nothing from here. */

/** Nodes of one prefix that a lookup looks at. */
#define CS_WALK 64
/** Up to so many entries a prefix length is indexed at once when it is first asked for. */
#define CS_BUILD_AT_ONCE 1024
/** A prefix length that nobody asked for in this time is no longer indexed. */
#define CS_LENGTH_IDLE_NS UINT64_C(60000000000)
/** When nodes run out, a length not asked for in this time makes room. */
#define CS_LENGTH_SPARE_NS UINT64_C(1000000000)

/** Eviction takes the oldest of the first queue that is not empty; lru uses the last one only. */
enum cs_queue_id { CS_QUEUE_UNSOLICITED = 0, CS_QUEUE_STALE, CS_QUEUE_MAIN, CS_QUEUES };

enum cs_entry_flags {
    CS_HAS_DIGEST = 1 << 0,
    CS_USED = 1 << 1, /**< found since eviction last came by (large CS) */
};

struct cs_entry {
    uint64_t hash;
    struct rte_mbuf *mbuf; /**< NULL: not in use */
    uint64_t fresh_until;  /**< ns, the last moment at which it is fresh; 0: never fresh */
    uint16_t off;          /**< Data, from buf_addr of the first segment: stays right when headers are cut or added */
    uint16_t len;          /**< of the Data */
    uint32_t newer, older; /**< neighbours in its queue, a ring */
    uint32_t nodes;        /**< first node in the prefix index */
    uint32_t seq;          /**< order of insertion, wrapping: of n_inserts the low half */
    uint16_t name_len;
    uint8_t depth;       /**< components of the name */
    uint8_t queue : 4;   /**< enum cs_queue_id */
    uint8_t flags : 4;   /**< enum cs_entry_flags */
    const uint8_t *name; /**< TLV-VALUE in the Data's buffer; NULL: it lies in several, and is read from there */
} __attribute__((aligned(64)));
_Static_assert(sizeof(struct cs_entry) == 64, "one cache line");

/** What an entry has and most packets do not touch; same index as the entry. */
struct cs_cold {
    struct wheel_node node; /**< moves it to the stale queue (priority-fifo) */
    uint8_t digest[NDN_DIGEST_SIZE];
    uint8_t pad[16];
};
_Static_assert(sizeof(struct cs_cold) == 64, "one cache line");

/** A ring, so that the oldest entry becomes the newest by moving the end: what an eviction for new Data does. */
struct cs_queue {
    uint32_t newest; /**< its newer neighbour is the oldest; POOL_NONE: empty */
    uint32_t count;
};

/** An entry below one prefix length. */
struct cs_node {
    uint32_t entry;
    uint32_t group;
    uint32_t newer, older; /**< neighbours in its group */
    uint32_t sibling;      /**< next node of the same entry */
    uint32_t length;       /**< components of the prefix */
};

/** The entries below one prefix, or several whose hashes are equal. */
struct cs_group {
    uint64_t hash;
    uint32_t newest, oldest;
    uint32_t count;
    uint32_t length;
};

struct cs_length {
    uint64_t asked_ns; /**< last lookup */
    uint32_t cursor;   /**< next slot to be indexed, or to be dropped */
};

struct cs_prefixes {
    uint64_t lengths;  /**< bit k: new Data is indexed at k components */
    uint64_t building; /**< bit k: Data from before that is not all indexed yet */
    uint64_t dropping; /**< bit k: nodes are being taken away */
    uint64_t check_ns; /**< when to look for idle lengths */
    struct pool nodes, groups;
    struct table index;
    struct cs_length length[NDN_NAME_DEPTH + 1];
    struct ndn_name_key key;
};

struct cs {
    struct cs_entry *entry; /**< by index, from 1 on; memory of the pool */
    struct table index;
    bool steady;      /**< policy lru, and as many entries as there may be: new Data takes the place of the oldest */
    bool look_ahead;  /**< large enough for cs_evict_ahead() to pay */
    bool approximate; /**< hits mark entries instead of moving them */
    uint64_t n_hits, n_misses, n_inserts, n_evictions;
    struct cs_queue queue[CS_QUEUES];
    struct pool entries;
    uint32_t capacity;
    uint32_t n_entries;
    uint32_t ahead; /**< entry that will be evicted soon and is being brought into the cache */
    enum cs_policy policy;
    struct cs_cold *cold;
    struct wheel *wheel; /**< priority-fifo only */
    uint32_t capacity_max;
    uint64_t now_ns; /**< of the cs_poll() in progress */
    struct cs_prefixes prefixes;
};

static inline struct cs_entry *cs_at(const struct cs *cs, uint32_t index)
{
    return &cs->entry[index];
}

static inline bool cs_fresh(const struct cs_entry *entry, uint64_t now_ns)
{
    return entry->fresh_until >= now_ns && entry->fresh_until != 0;
}

/** Entry after @p index from oldest to newest, POOL_NONE after the newest. */
static inline uint32_t cs_newer(const struct cs *cs, uint32_t index)
{
    const struct cs_entry *entry = cs_at(cs, index);
    return cs->queue[entry->queue].newest != index ? entry->newer : POOL_NONE;
}

/* pit/cs_data.c: octets of the Data. */

/** True when the entry's name begins with @p len octets at @p value, which are not more than its name has. */
bool cs_name_begins(const struct cs_entry *entry, const uint8_t *value, uint16_t len);
/** Copy the entry's name. @return octets; @p buf holds NDN_NAME_MAX */
uint16_t cs_name_copy(const struct cs_entry *entry, uint8_t *buf);
/** SHA-256 of the Data (implicit digest, NDN packet spec 0.3 section 2.1), computed when first asked for. */
const uint8_t *cs_digest(struct cs *cs, uint32_t index);

/* pit/cs_prefix.c: prefix index. */

int cs_prefix_init(struct cs_prefixes *prefixes, uint32_t capacity, enum arena_pages pages);
void cs_prefix_fini(struct cs_prefixes *prefixes);
/** Index a new entry at the lengths in use. */
void cs_prefix_add(struct cs *cs, uint32_t index, const struct ndn_name *name, uint64_t now_ns);
/** Take an entry out of the index. */
void cs_prefix_remove(struct cs *cs, uint32_t index);
/** The entry's Data was replaced: it is the newest again. */
void cs_prefix_renew(struct cs *cs, uint32_t index);
/** Newest entry below @p name. @return its index, 0 when there is none or the index is not complete */
uint32_t cs_prefix_find(struct cs *cs, const struct ndn_name *name, const struct ndn_name_key *key, bool must_be_fresh,
                        uint64_t now_ns);
void cs_prefix_poll(struct cs *cs, uint64_t now_ns);
int cs_prefix_check(const struct cs *cs);

#include "pit/cs_inline.h"

#endif
