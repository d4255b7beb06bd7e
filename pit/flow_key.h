// SPDX-License-Identifier: Apache-2.0
#ifndef PIT_FLOW_KEY_H
#define PIT_FLOW_KEY_H

#include <endian.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/*
 * What a QUIC datagram is known by when its connection ID does not name a server: its 4-tuple, its 4-tuple with a
 * Source Connection ID, or its Destination Connection ID (draft-ietf-quic-load-balancers-21, section 4).
 */
#define FLOW_KEY_CID_MAX 20

enum flow_key_kind {
    FLOW_KEY_TUPLE = 1,
    FLOW_KEY_TUPLE_SCID,
    FLOW_KEY_DCID,
};

/** One cache line. Zero behind what is used, so that two keys are equal when all their octets are. */
struct flow_key {
    uint8_t kind; /**< enum flow_key_kind */
    uint8_t addr_len;
    uint8_t cid_len;
    uint8_t len; /**< octets used below */
    uint8_t octets[60];
} __attribute__((aligned(64)));
_Static_assert(sizeof(struct flow_key) == 64 && 2 * 16 + 2 * 2 + FLOW_KEY_CID_MAX <= 60, "the longest key fits");

/** Key of flow_key_hash(). From the configuration where several forwarders have to choose alike, else random. */
struct flow_hash_key {
    uint64_t k0, k1;
};

/** The 4-tuple as it is in the packet from the client: addresses of @p addr_len (4 or 16) octets, ports as on the wire
 */
static inline void flow_key_tuple(struct flow_key *key, const uint8_t *src, const uint8_t *dst, size_t addr_len,
                                  const uint8_t ports[4])
{
    // The hash reads whole words: they are written whole, or each read would wait for several writes to get through.
    uint64_t head = FLOW_KEY_TUPLE | (uint64_t)addr_len << 8 | (uint64_t)(2 * addr_len + 4) << 24;
    uint32_t half;
    memcpy(&half, ports, sizeof half);
    head = htole64(head | (uint64_t)le32toh(half) << 32);
    memset(key, 0, sizeof *key);
    memcpy(key, &head, sizeof head);
    if (addr_len == 4) {
        uint32_t low, high;
        memcpy(&low, src, sizeof low);
        memcpy(&high, dst, sizeof high);
        uint64_t both = htole64(le32toh(low) | (uint64_t)le32toh(high) << 32);
        memcpy(key->octets + 4, &both, sizeof both);
    } else {
        memcpy(key->octets + 4, src, 16);
        memcpy(key->octets + 20, dst, 16);
    }
}

/** Make a key of a 4-tuple one of that and a Source Connection ID, of which FLOW_KEY_CID_MAX octets count. */
static inline void flow_key_add_scid(struct flow_key *key, const uint8_t *scid, size_t len)
{
    if (len > FLOW_KEY_CID_MAX)
        len = FLOW_KEY_CID_MAX;
    if (len > 0)
        memcpy(key->octets + key->len, scid, len);
    key->kind = FLOW_KEY_TUPLE_SCID;
    key->cid_len = (uint8_t)len;
    key->len = (uint8_t)(key->len + len);
}

/** A Destination Connection ID, of which FLOW_KEY_CID_MAX octets count. */
static inline void flow_key_dcid(struct flow_key *key, const uint8_t *dcid, size_t len)
{
    if (len > FLOW_KEY_CID_MAX)
        len = FLOW_KEY_CID_MAX;
    memset(key, 0, sizeof *key);
    key->kind = FLOW_KEY_DCID;
    key->cid_len = key->len = (uint8_t)len;
    if (len > 0)
        memcpy(key->octets, dcid, len);
}

/**
 * SipHash-1-3 of a key, the same on every CPU, so that every worker, and every forwarder that has
 * the same @p hash_key, makes the same choice. Clients cannot aim at a value without it. Any thread.
 */
uint64_t flow_key_hash(const struct flow_key *key, const struct flow_hash_key *hash_key);

#endif
