// SPDX-License-Identifier: Apache-2.0
#ifndef PIT_PIT_H
#define PIT_PIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "parser/ndn_name.h"
#include "pit/pool.h"
#include "pit/table.h"
#include "pit/wheel.h"

/*
 * Pending Interest Table of one worker. An entry is three cache lines: header and first in-record, first out-record
 * and name up to 44 octets, the rest of a name up to 108 octets. What does not fit (more records, long tokens, long
 * names) stands in 64-octet blocks chained from the entry. An entry is keyed by Name + CanBePrefix + MustBeFresh
 * (ForwardingHint is not part of the key). It is always armed on the wheel: pit_insert() arms it.
 * One owner thread; nothing here is safe to read from another, but for pit_count().
 */

#define PIT_NAME_INLINE  108
#define PIT_TOKEN_INLINE 8
/** Most in-records, and most out-records, of one entry. */
#define PIT_RECORDS_MAX 255

enum pit_flags {
    PIT_CAN_BE_PREFIX = 1 << 0, /**< selectors: part of the key */
    PIT_MUST_BE_FRESH = 1 << 1,
    PIT_SELECTORS = PIT_CAN_BE_PREFIX | PIT_MUST_BE_FRESH,
    PIT_DIGEST = 1 << 2,    /**< the name ends in an implicit digest */
    PIT_SIBLING = 1 << 3,   /**< another entry may have the same name with other selectors */
    PIT_SATISFIED = 1 << 4, /**< Data has been sent on; the entry waits for slower upstreams (pipelines') */
    PIT_IN_USE = 1 << 5,
    PIT_DEEP = 1 << 6,    /**< CanBePrefix and more than NDN_NAME_DEPTH components, see pit_match_data() */
    PIT_WATCHED = 1 << 7, /**< the strategy hears of Data and of the timer; its number is in suppress (pipelines') */
};

/** A downstream that waits for Data. */
struct pit_in {
    uint32_t face;                   /**< FaceId; 0: unused */
    uint32_t nonce;                  /**< of its last Interest */
    uint32_t expiry;                 /**< wheel tick */
    uint8_t token_len;               /**< 0..32 */
    uint8_t mark;                    /**< of the last Interest: the strategy's own */
    uint16_t hops;                   /**< HopLimit of the last Interest, and more (pipelines') */
    uint8_t token[PIT_TOKEN_INLINE]; /**< when token_len <= 8; else the number of a block, see pit_in_token() */
};
_Static_assert(sizeof(struct pit_in) == 24, "fits the first line of an entry");

/** An upstream that the Interest was sent to. */
struct pit_out {
    uint32_t face;     /**< FaceId; 0: unused */
    uint32_t nonce;    /**< sent last */
    uint32_t sent;     /**< wheel tick of the last transmission */
    uint32_t expiry;   /**< wheel tick */
    uint8_t nack;      /**< Nack reason received for this nonce, 0: none */
    uint8_t mark;      /**< the strategy's own; 0 at first */
    uint16_t suppress; /**< retransmission suppression interval of this upstream, ticks (strategy's) */
};
_Static_assert(sizeof(struct pit_out) == 20, "fits the second line of an entry");

struct pit_entry {
    uint64_t hash;          /**< keyed hash of the whole name */
    struct wheel_node node; /**< node.owner is the name's length in octets */
    uint16_t generation;    /**< changes each time this slot is reused; part of our PIT token */
    uint8_t depth;          /**< components of the name, at most NDN_NAME_DEPTH (longer names: NDN_NAME_DEPTH) */
    uint8_t flags;          /**< enum pit_flags */
    uint8_t n_in;
    uint8_t n_out;
    uint16_t suppress; /**< retransmission suppression interval of the entry, ticks; or see PIT_WATCHED (strategy's) */
    uint32_t sent;     /**< wheel tick of the last transmission to any upstream */
    uint32_t ext;      /**< first chained block, 0: none */
    struct pit_in in;
    struct pit_out out;
    uint8_t name[PIT_NAME_INLINE];
} __attribute__((aligned(64)));
_Static_assert(sizeof(struct pit_entry) == 192, "three cache lines");
_Static_assert(offsetof(struct pit_entry, out) == 64, "header and in-record fill the first line");

struct pit_config {
    uint32_t capacity;   /**< entries */
    uint32_t ext_blocks; /**< 64-octet blocks for what does not fit; 0: capacity / 4, at least 1024 */
    enum arena_pages pages;
};

struct pit;

/** Called by pit_poll() for an entry that is due, disarmed; the callee must pit_erase() it or re-arm it. */
typedef void (*pit_expire_t)(void *ctx, struct pit_entry *entry);

/** @return 0, -EINVAL (capacity 0), or -ENOMEM */
int pit_create(struct pit **pit, const struct pit_config *config, uint64_t now_ns);
void pit_destroy(struct pit *pit);

/** Octets this PIT takes for its whole capacity: entries, index, blocks. */
size_t pit_memory(const struct pit *pit);
/** Entries in use; any thread may ask. */
static inline uint32_t pit_count(const struct pit *pit);
/** Entries that can be in use. */
static inline uint32_t pit_capacity(const struct pit *pit);

/** First stage of a lookup: bring the bucket of @p hash into the cache. */
static inline void pit_prefetch_bucket(const struct pit *pit, uint64_t hash);
/** Second stage: bring the candidate entries of @p hash into the cache. The bucket should have arrived. */
static inline void pit_prefetch_entry(const struct pit *pit, uint64_t hash);
/** Bring the entry that a token points at into the cache; any slot number is allowed. */
static inline void pit_prefetch_slot(const struct pit *pit, uint32_t slot);

/** Entry with exactly this name and these selectors, NULL when there is none. */
struct pit_entry *pit_find(const struct pit *pit, const struct ndn_name *name, uint8_t selectors);

enum pit_insert_result { PIT_FOUND, PIT_NEW, PIT_FULL };

/**
 * Find or make the entry for an Interest. A new entry has no records and is armed at @p expiry (wheel tick).
 * PIT_FULL when entries, index or blocks ran out; *entry is then NULL and nothing has changed.
 */
enum pit_insert_result pit_insert(struct pit *pit, const struct ndn_name *name, uint8_t selectors, uint32_t expiry,
                                  struct pit_entry **entry);

/** Where a new entry goes; good until the PIT changes. */
struct pit_place {
    struct table_bucket *home;
    unsigned empty; /**< bits of its free slots */
};

/**
 * The short way for most Interests, in two steps: is the name certainly not pending, whatever the selectors, does it
 * fit an entry without CanBePrefix, and is there room? Then pit_put() makes the entry, as pit_insert() would.
 *
 * @return false when that is not certain: pit_insert() has to look
 */
static inline bool pit_find_place(struct pit *pit, const struct ndn_name *name, struct pit_place *place);
/** @param selectors PIT_MUST_BE_FRESH or 0 */
static inline struct pit_entry *pit_put(struct pit *pit, const struct ndn_name *name, struct pit_place place,
                                        uint8_t selectors, uint32_t expiry);

/** Free an entry, its records and blocks; disarms it. */
static inline void pit_erase(struct pit *pit, struct pit_entry *entry);

/** Slot number of an entry, for tokens. */
static inline uint32_t pit_slot(const struct pit *pit, const struct pit_entry *entry);
/** Entry of a slot when it is in use and has this generation, else NULL. Any slot number is allowed. */
static inline struct pit_entry *pit_at(const struct pit *pit, uint32_t slot, uint16_t generation);

/** True when the entry's name equals (@p prefix false) or is a prefix of (@p prefix true) @p len octets at @p value. */
bool pit_name_matches(const struct pit *pit, const struct pit_entry *entry, const uint8_t *value, uint16_t len,
                      bool prefix);
/** True when the entry's name is @p name. */
static inline bool pit_name_is(const struct pit *pit, const struct pit_entry *entry, const struct ndn_name *name);
/** Copy the entry's name. @return octets; @p buf holds at least NDN_NAME_MAX octets */
uint16_t pit_name_copy(const struct pit *pit, const struct pit_entry *entry, uint8_t *buf);

/** Give the implicit digest of the Data that is being matched; called at most once, only when an entry needs it. */
typedef const uint8_t *(*pit_digest_t)(void *ctx);
/** Most entries that one Data can satisfy. */
#define PIT_MATCHES_MAX 80

/**
 * Entries that Data named @p name satisfies: exact names with any selectors, CanBePrefix entries at shorter
 * prefixes, entries with an implicit digest. Lengths at which no CanBePrefix entry is pending are not looked up.
 * CanBePrefix entries with more than NDN_NAME_DEPTH components (PIT_DEEP) are found under the hash of their first
 * NDN_NAME_DEPTH and compared one by one; no more than 64 of them with the same such prefix can be pending. @p digest
 * may be NULL: then no entry matches by digest.
 *
 * @return number of entries written to @p match
 */
unsigned pit_match_data(const struct pit *pit, const struct ndn_name *name, const struct ndn_name_key *key,
                        pit_digest_t digest, void *ctx, struct pit_entry *match[PIT_MATCHES_MAX]);

/**
 * True when only an entry of exactly this name can match (no CanBePrefix entry at a shorter length and no digest
 * entry is pending anywhere in this PIT that could): a token hit then needs no second look unless PIT_SIBLING.
 */
static inline bool pit_only_exact(const struct pit *pit, const struct ndn_name *name);

/** CanBePrefix entries pending at @p depth components, for the dispatcher's short-name counters. */
static inline uint32_t pit_prefix_count(const struct pit *pit, unsigned depth);

/** In-record of @p face, NULL when there is none. */
static inline struct pit_in *pit_in_find(const struct pit *pit, struct pit_entry *entry, uint32_t face);
/** New in-record for @p face, which has none. NULL when blocks ran out or there are PIT_RECORDS_MAX. Only face is set.
 */
static inline struct pit_in *pit_in_add(struct pit *pit, struct pit_entry *entry, uint32_t face);
/** Remove an in-record and its token. */
void pit_in_remove(struct pit *pit, struct pit_entry *entry, struct pit_in *in);
/** First record (@p prev NULL) or the one after @p prev; NULL at the end. Removal during iteration is not allowed. */
static inline struct pit_in *pit_in_next(const struct pit *pit, struct pit_entry *entry, struct pit_in *prev);
/** Keep a downstream's PIT token. @return 0, -EINVAL (longer than 32 octets), -ENOSPC when a long one finds no block */
static inline int pit_in_set_token(struct pit *pit, struct pit_entry *entry, struct pit_in *in, const uint8_t *token,
                                   uint8_t len);
/** The token of an in-record, valid until the record changes; in->token_len octets. */
const uint8_t *pit_in_token(const struct pit *pit, const struct pit_entry *entry, const struct pit_in *in);

/** Out-record of @p face, NULL when there is none. */
static inline struct pit_out *pit_out_find(const struct pit *pit, struct pit_entry *entry, uint32_t face);
/** New out-record for @p face, which has none. NULL when blocks ran out or there are PIT_RECORDS_MAX. Only face is set.
 */
static inline struct pit_out *pit_out_add(struct pit *pit, struct pit_entry *entry, uint32_t face);
/** First out-record (@p prev NULL) or the one after @p prev; NULL at the end. No removal during iteration. */
static inline struct pit_out *pit_out_next(const struct pit *pit, struct pit_entry *entry, struct pit_out *prev);
/** Remove an out-record. */
void pit_out_remove(struct pit *pit, struct pit_entry *entry, struct pit_out *out);

/** Re-arm the entry's timer. */
static inline void pit_arm(struct pit *pit, struct pit_entry *entry, uint32_t expiry);

/** Fire what is due, at most @p max entries; the rest at the next poll. See wheel_poll(). @return entries fired */
static inline uint32_t pit_poll(struct pit *pit, uint64_t now_ns, uint32_t max, pit_expire_t expire, void *ctx);
/** Nanoseconds until the next expiry (lower bound). */
uint64_t pit_next_ns(const struct pit *pit, uint64_t now_ns);

/** First used entry at or after slot @p *slot, which is advanced past it; NULL at the end. For listing and removal. */
struct pit_entry *pit_scan(const struct pit *pit, uint32_t *slot);
/** The same of at most @p n slots. NULL: none in those, *slot is past them; or at pit_scan_end(), where all end. */
struct pit_entry *pit_scan_some(const struct pit *pit, uint32_t *slot, uint32_t n);
/** Slot after the last that was ever used. */
uint32_t pit_scan_end(const struct pit *pit);

/** Check every invariant (counts, chains, index, "no entry without a timer"). Tests and fuzzers. @return 0 or -EINVAL
 */
int pit_check(const struct pit *pit);

#include "pit/pit_inline.h"

#endif
