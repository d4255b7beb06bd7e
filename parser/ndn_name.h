// SPDX-License-Identifier: Apache-2.0
#ifndef PARSER_NDN_NAME_H
#define PARSER_NDN_NAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "parser/verdict.h"

/** Longest prefix that is hashed and looked up on its own, in components (as the reference forwarder's name tree). */
#define NDN_NAME_DEPTH 32
/** Longest TLV-VALUE of a Name that is accepted, in octets. */
#define NDN_NAME_MAX 2048

#define NDN_IMPLICIT_DIGEST 1
#define NDN_PARAMS_DIGEST   2
#define NDN_GENERIC         8
#define NDN_DIGEST_SIZE     32
/** Octets of an ImplicitSha256DigestComponent TLV. */
#define NDN_DIGEST_COMP_SIZE (2 + NDN_DIGEST_SIZE)

/**
 * View of a Name: where its components are, and keyed hashes of its prefixes. Nothing is copied: @p value points
 * into the packet. Parsing fills everything but the hashes; ndn_name_hash() fills those.
 */
struct ndn_name {
    const uint8_t *value;              /**< TLV-VALUE of the Name: concatenated component TLVs */
    uint16_t len;                      /**< octets at value */
    uint16_t n_comps;                  /**< components, all of them */
    uint8_t depth;                     /**< min(n_comps, NDN_NAME_DEPTH) */
    bool has_digest;                   /**< the last component is an implicit digest */
    bool unread;                       /**< hash[] and end[] are not filled (ndn_packet.h) */
    uint64_t hash_full;                /**< keyed hash of all components; equals hash[depth] when n_comps == depth */
    uint64_t hash[NDN_NAME_DEPTH + 1]; /**< keyed hash of the first i components, i = 0..depth */
    uint16_t end[NDN_NAME_DEPTH + 1];  /**< octets of the first i components, i = 0..depth; end[0] = 0 */
};

/** Key of the name hash, drawn from getrandom(2) once per start so that names cannot be crafted to collide. */
struct ndn_name_key {
    uint8_t octets[64];
};

/**
 * Parse the TLV-VALUE of a Name (NDN packet spec 0.3, section 2): component types 1..65535, digest components of 32
 * octets, at most NDN_NAME_MAX octets, shortest TLV forms unless @p lenient. A Name without components is accepted
 * here. Fills @p name but for the hashes.
 */
enum verdict ndn_name_parse(const uint8_t *value, size_t len, bool lenient, struct ndn_name *name);

/**
 * Hash every prefix of @p name up to NDN_NAME_DEPTH components, and the whole of it, in one pass over its octets.
 * The instruction set is chosen at the first call of ndn_name_hash_init(); all of them give different values, so
 * that hashes must never leave the process.
 */
extern void (*ndn_name_hash)(struct ndn_name *name, const struct ndn_name_key *key);

/**
 * Read and hash a Name of which value and len are filled, in one pass, when it has 1 to NDN_NAME_DEPTH components, each
 * with a type and a length of one octet, none of them a digest.
 *
 * @return true, and *name is as after ndn_name_parse() and ndn_name_hash(); false: it may be anything, *name is
 *         undefined but for value and len
 */
extern bool (*ndn_name_read)(struct ndn_name *name, const struct ndn_name_key *key);

/** Continue @p hash state of a Name by one more component TLV (used for implicit digests). Same ISA as ndn_name_hash.
 */
extern uint64_t (*ndn_name_hash_extend)(const struct ndn_name *name, const uint8_t *comp, size_t len,
                                        const struct ndn_name_key *key);

/** Choose the fastest implementation this CPU has ("aes", else "portable"). Call once at start, before any thread. */
void ndn_name_hash_init(void);

/** Force an implementation by name, for tests and benchmarks. @return 0, or -ENOTSUP when the CPU lacks it */
int ndn_name_hash_select(const char *isa);

/**
 * Parse an NDN URI ("/a/b", "/8=a/54=%01", "ndn:/a", "/sha256digest=HEX") into component TLVs (NDN packet spec,
 * name URI). Control code only.
 *
 * @return octets written to @p buf, or -EINVAL, or -ENOSPC
 */
int ndn_name_from_uri(const char *uri, uint8_t *buf, size_t size);

/** Write the canonical URI of a Name's TLV-VALUE, always terminated. @return as snprintf(); -EINVAL on bad TLVs */
int ndn_name_to_uri(const uint8_t *value, size_t len, char *buf, size_t size);

#endif
