// SPDX-License-Identifier: Apache-2.0
#ifndef FWD_QUIC_SERVICE_H
#define FWD_QUIC_SERVICE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "parser/quic_lb.h"
#include "pit/flow_key.h"
#include "pit/maglev.h"

/*
 * QUIC services as workers see them: virtual addresses, the rules of their connection IDs, and the servers behind
 * them. The control thread builds a whole struct quic_set from the configuration and publishes it by RCU in
 * fwd_shared.quic; a reload publishes another. Workers read it and never change it, but for what is atomic here, which
 * the control thread writes while it is published.
 */

#define QUIC_SERVICES_MAX   16
#define QUIC_SERVERS_MAX    256 /**< of one service */
#define QUIC_VIPS_MAX       64  /**< of all services */
#define QUIC_VIP_HASHES     512
#define QUIC_SERVER_IDS_MAX 4 /**< of one server: one for each length that the configurations have */

/** How a datagram gets to its server. */
enum quic_delivery {
    QUIC_DELIVER_L2 = 0, /**< to the server's MAC address, nothing else changed but TTL: direct server return */
    QUIC_DELIVER_IPIP,   /**< IP in IP (RFC 2003), IPv6 in IPv6 and mixed forms (RFC 2473, RFC 4213) */
    QUIC_DELIVER_GUE,    /**< Generic UDP Encapsulation (draft-ietf-intarea-gue-09), variant 1: IP straight in UDP */
};

enum quic_state {
    QUIC_UP = 0,
    QUIC_DRAIN, /**< keeps its connections, gets no new ones */
    QUIC_DOWN,  /**< gets nothing */
};

struct quic_server {
    /* What a datagram needs comes first. Of this, what is atomic is written while published. */
    _Atomic uint64_t mac;   /**< next hop: see quic_next_hop(); 0: not known yet */
    _Atomic uint16_t port;  /**< index of the port it is reached by */
    _Atomic uint16_t mtu;   /**< of the way there: largest IP packet */
    _Atomic bool unhealthy; /**< the probe says so: treated as draining, and its connections go on */
    uint8_t state;          /**< enum quic_state, as configured */
    uint16_t slot;          /**< place of its counters; the same after a reload */
    bool v6;                /**< of ip */
    uint8_t n_ids;
    struct quic_lb_id id[QUIC_SERVER_IDS_MAX];
    uint8_t ip[16];  /**< 4 or 16 octets used; network byte order */
    uint32_t weight; /**< of new connections */
    bool joining;    /**< came with a reload and has no MAC address yet: gets no new connections. Control thread's */
    char name[48];
};

struct quic_vip {
    uint8_t ip[16]; /**< 4 or 16 octets used */
    bool v6;
    uint16_t port_be;
    uint16_t service; /**< index in the set */
};

/** Retry (draft-ietf-quic-retry-offload): keys of the shared-state token, the first one makes new tokens. */
#define QUIC_RETRY_KEYS_MAX 4
struct quic_retry_key {
    uint8_t sequence; /**< 7 bits */
    uint8_t key[16], iv[12];
};

enum quic_retry_mode { QUIC_RETRY_OFF = 0, QUIC_RETRY_ON, QUIC_RETRY_TRANSITION };

struct quic_service {
    char name[48];
    uint16_t slot;    /**< place of its counters; the same after a reload */
    uint8_t delivery; /**< enum quic_delivery */
    uint16_t gue_port;
    uint16_t n_servers;
    struct quic_lb *lb;         /**< rules of CIDs; the set's own */
    struct maglev *maglev;      /**< over the servers that take new connections; NULL: there are none */
    uint16_t *maglev_server;    /**< backend index of maglev to index in server[] */
    struct quic_server *server; /**< n_servers of them */
    /** Open-addressed map from server ID to server: mask + 1 places, 0: free, else index + 1. */
    uint16_t *id_slot;
    uint32_t id_mask;
    struct flow_hash_key hash_key; /**< of 4-tuples; configured where several forwarders must choose alike */

    bool require_fixed_bit;
    bool drop_unroutable;     /**< short headers and Handshakes whose CID names no server are dropped, not hashed */
    bool drop_small_initials; /**< Initials in datagrams below 1200 octets */
    bool version_negotiation;
    uint8_t n_versions; /**< offered in Version Negotiation */
    uint32_t version[8];
    uint32_t edge_rate;    /**< Version Negotiation and Retry packets a second for one source (/32, /64); 0: no limit */
    uint32_t initial_rate; /**< Initials a second from one source; 0: no limit */
    bool flow_table;       /**< remember where datagrams went whose CIDs cannot be routed */
    uint8_t retry_mode;    /**< enum quic_retry_mode */
    uint32_t retry_lifetime_s;
    uint8_t n_retry_keys;
    uint8_t retry_config; /**< QUIC-LB configuration of the CID in our Retry */
    struct quic_retry_key retry_key[QUIC_RETRY_KEYS_MAX];
    uint64_t retry_on_ns; /**< when Retry was switched on (transition mode) */
};

struct quic_set {
    uint16_t n_services, n_vips;
    struct quic_service *service;
    uint64_t vip_bits[QUIC_VIP_HASHES / 64]; /**< for the hash of each address below, its bit */
    struct quic_vip vip[QUIC_VIPS_MAX];      /**< added by quic_set_add_vip() */
};

/** Are 16 octets the same? Without a call. */
static inline bool quic_equal16(const void *a, const void *b)
{
    uint64_t x[2], y[2];
    memcpy(x, a, sizeof x);
    memcpy(y, b, sizeof y);
    return ((x[0] ^ y[0]) | (x[1] ^ y[1])) == 0;
}

/** The next hop to a server, in one word: its MAC address as loaded from memory, above it a VLAN ID, 0: untagged. */
static inline uint64_t quic_next_hop(const uint8_t mac[6], uint16_t vlan)
{
    uint64_t word = 0;
    memcpy(&word, mac, 6);
    return word | (uint64_t)vlan << 48;
}

/** Are two addresses of a version the same? Without a call: each datagram asks twice. */
static inline bool quic_ip_equal(const uint8_t *a, const uint8_t *b, bool v6)
{
    return v6 ? quic_equal16(a, b) : memcmp(a, b, 4) == 0;
}

/** Below QUIC_VIP_HASHES. Of the last octets: there virtual addresses differ from one another, and from clients'. */
static inline uint32_t quic_vip_hash(const uint8_t *ip, bool v6)
{
    uint32_t last;
    memcpy(&last, ip + (v6 ? 12 : 0), sizeof last);
    _Static_assert(QUIC_VIP_HASHES == 1 << 9, "nine bits");
    return last * 0x9e3779b1u >> 23;
}

/** Add one while the set is built; there is room for QUIC_VIPS_MAX. Control thread */
void quic_set_add_vip(struct quic_set *set, const struct quic_vip *vip);

/** True for the address, whatever the port, of a service. Worker, under RCU. */
bool quic_set_has_vip(const struct quic_set *set, const uint8_t *ip, bool v6);

/** The same without a call, as it nearly always is: false may be believed, true has to be asked again. */
static inline bool quic_set_may_have_vip(const struct quic_set *set, const uint8_t *ip, bool v6)
{
    uint32_t hash = quic_vip_hash(ip, v6);
    return (set->vip_bits[hash / 64] >> (hash % 64) & 1) != 0;
}

static inline bool quic_vip_is(const struct quic_vip *vip, const uint8_t *ip, bool v6, uint16_t port_be)
{
    return vip->port_be == port_be && vip->v6 == v6 && quic_ip_equal(vip->ip, ip, v6);
}

/** Virtual address and UDP port; NULL: the address is none of ours. Worker, under RCU. */
const struct quic_vip *quic_set_find_vip(const struct quic_set *set, const uint8_t *ip, bool v6, uint16_t port_be);
/** The service that has it, NULL: none. Worker, under RCU. */
const struct quic_service *quic_set_find(const struct quic_set *set, const uint8_t *ip, bool v6, uint16_t port_be);

/** Enter an ID into the map while the service is built. @return false: another server has it. Control thread */
bool quic_service_add_id(struct quic_service *service, const struct quic_lb_id *id, uint16_t server);

/*
 * Server IDs are the operator's, but which of them is asked for is a client's choice. Those that are counted differ in
 * their last octet, which is the highest of a word: a product alone would leave it there, above what is used.
 */
static inline uint32_t quic_id_hash(const struct quic_lb_id *id)
{
    uint64_t half[2];
    _Static_assert(sizeof *id == sizeof half, "the length is hashed too");
    memcpy(half, id, sizeof half);
    uint64_t h = half[0] ^ half[1] * 0x9e3779b97f4a7c15u;
    h = (h ^ h >> 32) * 0xbf58476d1ce4e5b9u;
    return (uint32_t)(h >> 32);
}

static inline bool quic_server_has_id(const struct quic_server *server, const struct quic_lb_id *id)
{
    for (unsigned i = 0; i < server->n_ids; i++)
        if (quic_equal16(&server->id[i], id))
            return true;
    return false;
}

/** Server of an ID, NULL when no server has it. In line: nearly each datagram asks. Worker, under RCU. */
static inline const struct quic_server *quic_service_server(const struct quic_service *service,
                                                            const struct quic_lb_id *id)
{
    uint32_t at = quic_id_hash(id);
    if (service->id_slot == NULL)
        return NULL;
    // At least half of the places are free, so that the walk is short.
    for (uint32_t i = 0; i <= service->id_mask; i++) {
        uint16_t index = service->id_slot[(at + i) & service->id_mask];
        if (index == 0)
            return NULL;
        if (quic_server_has_id(&service->server[index - 1], id))
            return &service->server[index - 1];
    }
    return NULL;
}

#endif
