// SPDX-License-Identifier: Apache-2.0
#ifndef PARSER_QUIC_LB_H
#define PARSER_QUIC_LB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "parser/aes128.h"

/*
 * Connection ID to server ID: QUIC-LB (draft-ietf-quic-load-balancers-21) in its three encodings, and private layouts
 * that keep a plaintext server ID at a fixed place. A CID tells by its first octet which rule it follows.
 */
#define QUIC_LB_CONFIGS       7 /**< config IDs 0..6; 0b111 marks CIDs that cannot be routed */
#define QUIC_LB_SCHEMES       8 /**< private layouts at most */
#define QUIC_LB_SERVER_ID_MAX 15
#define QUIC_LB_NONCE_MIN     4
#define QUIC_LB_NONCE_MAX     18
#define QUIC_LB_CID_MAX       20 /**< octets of a CID that any rule looks at */
#define QUIC_LB_BURST         8  /**< CIDs that are decoded side by side */

/** A server ID, zero behind its octets: two are equal when all 16 octets are. */
struct quic_lb_id {
    uint8_t octets[QUIC_LB_SERVER_ID_MAX];
    uint8_t len;
} __attribute__((aligned(16)));

/** Why a CID has no server ID. */
enum quic_lb_verdict {
    QUIC_LB_OK = 0,
    QUIC_LB_NO_CONFIG, /**< no rule for this first octet */
    QUIC_LB_RESERVED,  /**< config ID 0b111: the server says that it cannot be routed */
    QUIC_LB_SHORT,     /**< shorter than its rule needs */
};

/** One QUIC-LB configuration (draft, section 5.3). Not encrypted, single-pass and four-pass follow from it. */
struct quic_lb_config {
    uint8_t server_id_len; /**< 1..15 */
    uint8_t nonce_len;     /**< 4..18; with the server ID at most 19 */
    bool encrypted;
    uint8_t key[AES128_BLOCK];
};

/** A private layout: CIDs with (first octet & mask) == value have a server ID of @p bits at bit @p offset_bits. */
struct quic_lb_scheme {
    uint8_t mask, value;
    uint8_t offset_bits; /**< from the first bit of the CID */
    uint8_t bits;        /**< 1..64, with the bits before it in its first octet at most 64; ends within 20 octets */
};

/** What a first octet stands for. Private to quic_lb*.c; all of it is worked out when the rule is added. */
struct quic_lb_rule {
    uint8_t kind;
    uint8_t size;  /**< octets that the CID must have */
    uint8_t len;   /**< octets of server ID and nonce */
    uint8_t half;  /**< octets of a half, the shared one of an odd length included */
    uint8_t tail;  /**< octet of the CID where the second load of 16 begins */
    uint8_t first; /**< octet of the CID where the server ID of a scheme begins */
    uint8_t skip;  /**< bits before it in that octet */
    uint8_t bits;  /**< of the server ID of a scheme */
    uint8_t id_len;
    bool fourth_pass;                                 /**< the server ID reaches into the right half */
    uint8_t mask[2][16] __attribute__((aligned(16))); /**< octets and bits of the left and the right half */
    uint8_t take[2][16]; /**< shuffle: where the two loads have the left and the right half */
    uint8_t join[16];    /**< shuffle: the right half to where it is in the whole */
    uint8_t id_mask[16];
    uint8_t id_tail[16];  /**< zeros, then id_len */
    uint8_t white[4][16]; /**< of pass 1..4: length and pass number, with the first round key */
    struct aes128 aes;
} __attribute__((aligned(64)));

/**
 * The rules of one service. All zero: none yet, every CID is unroutable. Filled by one thread; read by any number of
 * threads once it is published. Holds keys: wipe it before giving the memory back.
 */
struct quic_lb {
    struct quic_lb_rule rule[1 + QUIC_LB_CONFIGS + QUIC_LB_SCHEMES];
    uint8_t rule_of[256]; /**< first octet to rule; 0: none */
    uint8_t n_schemes;
};

/** Add configuration @p config_id. @return 0, -EINVAL (ID, lengths), or -EEXIST (its first octets have a rule) */
int quic_lb_add_config(struct quic_lb *lb, uint8_t config_id, const struct quic_lb_config *config);

/** Add a private layout. @return 0, -EINVAL, -EEXIST (a first octet of it has a rule), or -ENOSPC */
int quic_lb_add_scheme(struct quic_lb *lb, const struct quic_lb_scheme *scheme);

/**
 * Find the server ID in a CID (draft, section 5.5). Of a short header, whose CID length is not on the wire,
 * pass what follows the header's first octet, up to QUIC_LB_CID_MAX. Octets behind what the rule needs are the server's
 * own. Whether the server exists is for the caller to find out. Nothing beyond @p len octets is read. Any thread.
 *
 * @return QUIC_LB_OK and *id filled; else the reason, *id untouched
 */
extern enum quic_lb_verdict (*quic_lb_decode)(const struct quic_lb *lb, const uint8_t *cid, size_t len,
                                              struct quic_lb_id *id);

/** One CID of a burst. */
struct quic_lb_job {
    const struct quic_lb *lb;
    const uint8_t *cid;
    uint8_t cid_len;
    uint8_t verdict;      /**< out: enum quic_lb_verdict */
    struct quic_lb_id id; /**< out: when verdict is QUIC_LB_OK */
};

/** As quic_lb_decode(), for @p n CIDs, of which QUIC_LB_BURST at a time are worked on side by side. */
extern void (*quic_lb_decode_burst)(struct quic_lb_job *jobs, size_t n);

/**
 * Choose the fastest implementation this CPU has ("avx512", "aes", else "portable"), of decoding and of what makes CIDs
 * and takes them apart. Call once at start, before any thread.
 */
void quic_lb_decode_init(void);

/** Force an implementation by name, for tests and benchmarks. @return 0, or -ENOTSUP when the CPU lacks it */
int quic_lb_decode_select(const char *isa);

/**
 * Make a CID as a server does (draft, section 5.4). @p first is its first octet: the config ID in the high three bits,
 * below it either random bits or the CID's length - 1. @p nonce has nonce_len octets; a server must never use one
 * twice under a key.
 *
 * @return octets written to @p cid, or -EINVAL (no such configuration, or id->len differs from it)
 */
int quic_lb_encode(const struct quic_lb *lb, uint8_t first, const struct quic_lb_id *id, const uint8_t *nonce,
                   uint8_t cid[QUIC_LB_CID_MAX]);

/**
 * Take a QUIC-LB CID apart wholly, for tools: server ID and nonce.
 *
 * @return octets of the nonce, or -EINVAL (no QUIC-LB configuration, or too short)
 */
int quic_lb_open(const struct quic_lb *lb, const uint8_t *cid, size_t len, struct quic_lb_id *id,
                 uint8_t nonce[QUIC_LB_NONCE_MAX]);

/** Text of a verdict, e.g. "too short for its configuration". Static storage, any thread. */
const char *quic_lb_verdict_text(enum quic_lb_verdict verdict);

#endif
