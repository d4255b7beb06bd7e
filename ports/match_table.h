// SPDX-License-Identifier: Apache-2.0
#ifndef PORTS_MATCH_TABLE_H
#define PORTS_MATCH_TABLE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* The receive match of a port, as match_lookup.c reads it for every frame and match.c writes it. */

#define MATCH_SMALL_MAX  4  /* faces found by comparing; beyond that, by hash */
#define MATCH_VLANS_MAX  8  /* VLANs that a miss is explained for */
#define MATCH_LOCALS_MAX 32 /* own IP addresses and groups that a miss is explained for */

enum match_kind { MATCH_ETHER = 1, MATCH_ETHER_GROUP, MATCH_UDP4, MATCH_UDP6, MATCH_UDP4_GROUP, MATCH_UDP6_GROUP };

/* What tells the faces of a port apart: kind, VLAN and UDP ports; peer address (or group); own address. */
struct match_key {
    uint64_t tag;
    uint64_t peer[2];
    uint64_t local[2];
};

struct match_entry {
    struct match_key key;
    uint32_t face;
    uint32_t hash;
};

struct match_local {
    uint8_t ip[16]; /* IPv4 in the first four octets, the rest 0 */
    bool v6;
};

/*
 * Workers read a match under RCU. Up to MATCH_SMALL_MAX faces it never changes: each face added or removed publishes a
 * copy. Beyond that the slots of the hash are changed in place, one atomic pointer at a time, and a copy is published
 * only to grow or for a VLAN or own address that is new; otherwise adding n faces would cost n^2.
 */
struct port_match {
    uint32_t n_small;
    uint32_t bare_face;
    uint32_t mask; /* of slots; 0: no hash yet */
    uint8_t mac[6];
    uint8_t ip4[4];
    uint8_t ip4_prefix_len;
    uint64_t seed[2];
    struct match_entry small[MATCH_SMALL_MAX];
    uint32_t n_vlans;
    uint16_t vlan[MATCH_VLANS_MAX];
    uint64_t vlan_known[4096 / 64];
    uint32_t n_locals;
    struct match_local local[MATCH_LOCALS_MAX];
    struct match_entry *_Atomic slot[];
};

static inline uint64_t match_mix(uint64_t a, uint64_t b)
{
    __extension__ typedef unsigned __int128 uint128;
    uint128 product = (uint128)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* Keyed: peers choose their addresses, and on-demand faces come from those. */
static inline uint32_t match_key_hash(const struct port_match *match, const struct match_key *key)
{
    uint64_t a = match_mix(key->tag ^ match->seed[0], key->peer[0] ^ match->seed[1]);
    uint64_t b =
        match_mix(key->peer[1] ^ match->seed[1], key->local[0] ^ match->seed[0] ^ UINT64_C(0xa0761d6478bd642f));
    uint64_t hash = match_mix(a ^ key->local[1] ^ UINT64_C(0xe7037ed1a0b428db), b ^ match->seed[0]);
    return (uint32_t)(hash ^ (hash >> 32));
}

static inline bool match_key_equal(const struct match_key *a, const struct match_key *b)
{
    return ((a->tag ^ b->tag) | (a->peer[0] ^ b->peer[0]) | (a->peer[1] ^ b->peer[1]) | (a->local[0] ^ b->local[0]) |
            (a->local[1] ^ b->local[1])) == 0;
}

static inline uint64_t match_key_tag(enum match_kind kind, uint16_t vlan, uint16_t peer_port, uint16_t local_port)
{
    return (uint64_t)kind | (uint64_t)vlan << 16 | (uint64_t)peer_port << 32 | (uint64_t)local_port << 48;
}

/* Addresses as words, put together in registers: to write some octets of a word and read it whole stalls. */
static inline void match_load_mac(uint64_t word[2], const uint8_t *mac)
{
    uint32_t low;
    uint16_t high;
    memcpy(&low, mac, sizeof low);
    memcpy(&high, mac + 4, sizeof high);
    word[0] = low | (uint64_t)high << 32;
    word[1] = 0;
}

static inline void match_load_ip(uint64_t word[2], const uint8_t *ip, bool v6)
{
    if (v6) {
        memcpy(word, ip, 16);
    } else {
        uint32_t ip4;
        memcpy(&ip4, ip, sizeof ip4);
        word[0] = ip4;
        word[1] = 0;
    }
}

static inline bool match_vlan_known(const struct port_match *match, uint16_t vlan)
{
    return (match->vlan_known[(vlan & 4095) / 64] >> (vlan % 64) & 1) != 0;
}

/** Face of a key, 0: none. Workers, under RCU, and control. */
uint32_t match_find(const struct port_match *match, const struct match_key *key);

#endif
