// SPDX-License-Identifier: Apache-2.0
#ifndef PORTS_FACE_H
#define PORTS_FACE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rte_rcu_qsbr;

/* FaceIds below 256 are reserved (NFD: 0 invalid, 1 internal, 254 contentstore, 255 null). */
#define FACE_ID_FIRST         256
#define FACE_ID_INTERNAL      1
#define FACE_ID_CONTENT_STORE 254
#define FACE_ID_NULL          255
/** Faces at once; the slot of a face is its id modulo this. */
#define FACE_SLOTS 16384
/** Octets of a FaceUri with its final 0. */
#define FACE_URI_MAX 128
/** Largest link-layer packet of a face without limit (streams): management reports no Mtu then. */
#define FACE_MTU_UNLIMITED UINT16_MAX
/** Room for Ethernet + two VLAN tags + IPv6 + UDP. */
#define FACE_HDR_MAX 72

/* Values as in NFD management, so that they can be reported as they are. */
enum face_scope { FACE_SCOPE_NON_LOCAL = 0, FACE_SCOPE_LOCAL = 1 };
enum face_persistency { FACE_PERSISTENT = 0, FACE_ON_DEMAND = 1, FACE_PERMANENT = 2 };
enum face_link_type { FACE_LINK_P2P = 0, FACE_LINK_MULTI_ACCESS = 1, FACE_LINK_AD_HOC = 2 };

/** How packets of a face look on its port. */
enum face_kind {
    FACE_ETHER = 1, /**< NDN over Ethernet, unicast or multicast */
    FACE_UDP4,
    FACE_UDP6,
    FACE_BARE,   /**< memif and test devices: bare NDN packets, no link header */
    FACE_THREAD, /**< a socket or management, behind a thread of this process (ports/thread_port.h) */
};

/** Flags a configuration or management may switch; bits as in NFD's face Flags. */
enum face_flags {
    FACE_LOCAL_FIELDS = 1 << 0,
    FACE_RELIABILITY = 1 << 1,
    FACE_CONGESTION_MARKING = 1 << 2,
};

/** What a face is told to be; addresses in network byte order. */
struct face_config {
    const char *name;    /**< of the configuration, for messages and lists; copied, may be NULL */
    uint16_t port;       /**< index of the port */
    uint8_t kind;        /**< enum face_kind */
    uint8_t scope;       /**< enum face_scope */
    uint8_t link_type;   /**< enum face_link_type */
    uint8_t persistency; /**< enum face_persistency */
    uint8_t flags;       /**< enum face_flags */
    bool mac_static;     /**< remote_mac was given; else it is resolved from next_hop (UDP unicast) */
    uint16_t vlan;       /**< 0: untagged */
    uint16_t mtu;        /**< largest link-layer packet (NDNLPv2) in octets; 0: from the port's MTU */
    uint8_t local_mac[6];
    uint8_t remote_mac[6];               /**< or the group address */
    uint8_t local_ip[16], remote_ip[16]; /**< 4 or 16 octets used */
    uint16_t local_udp, remote_udp;      /**< host byte order */
    uint8_t next_hop[16]; /**< UDP unicast: whose MAC address to use; 0: remote_ip's, or its gateway's by the kernel */
    const char *dev;      /**< interface or device name for dev:// URIs; copied, may be NULL */
    const char *local_uri, *remote_uri; /**< FACE_THREAD: as management shows them; copied */
    uint64_t congestion_interval_ns;    /**< BaseCongestionMarkingInterval; 0: 100 ms */
    uint64_t congestion_threshold;      /**< DefaultCongestionThreshold in octets; 0: 65536 */
};

/** Why a face does not send, 0: it is up. */
enum face_down {
    FACE_DOWN_LINK = 1 << 0,      /**< the port has no link, or is gone */
    FACE_DOWN_NEIGHBOUR = 1 << 1, /**< the next hop's MAC address is not known yet */
    FACE_DOWN_NULL = 1 << 2,      /**< takes everything and sends nothing: contentstore://, null://; shown as up */
};

/**
 * A face as workers see it. Published by RCU and never changed while published but for @p down: a change of
 * address or MTU publishes a copy. Hot fields first.
 */
struct face {
    uint32_t id;
    uint16_t port;
    uint16_t mtu; /**< largest link-layer packet in octets */
    uint8_t kind;
    uint8_t scope;
    uint8_t link_type;
    uint8_t flags;
    union {
        struct {
            _Atomic uint8_t down; /**< bits of enum face_down */
            uint8_t fields; /**< its packets want other header fields than a token: local scope, or flags say so */
        };
        _Atomic uint16_t uncommon; /**< both, to be looked at together: 0 when it is up and a token is all it wants */
    };
    uint8_t hdr_len; /**< octets of hdr to put before a link-layer packet */
    uint8_t l3_off;  /**< of the IP header in hdr; 0: none. UDP header follows it */
    uint8_t persistency;
    uint32_t csum_base; /**< UDP: sum of pseudo header addresses, protocol and ports, as loaded from memory */
    uint8_t hdr[FACE_HDR_MAX];
    struct face_config config;
    char name[48];
    char dev[48];
    /** As NFD writes them: ether://[01:..], udp4://1.2.3.4:6363, dev://eth0, unix:///run/nfd/nfd.sock, fd://20. */
    char local_uri[FACE_URI_MAX], remote_uri[FACE_URI_MAX];
};

/** All faces of the process. Slots are read by workers under RCU. */
struct face_table {
    struct face *_Atomic slot[FACE_SLOTS];
    uint32_t next_id;
    uint32_t n_faces;
    struct rte_rcu_qsbr *qsbr;
};

/** Face of an id, NULL when there is none. Workers (until their next quiescent state) and control. */
static inline const struct face *face_get(const struct face_table *table, uint32_t id)
{
    const struct face *face = atomic_load_explicit(&table->slot[id % FACE_SLOTS], memory_order_acquire);
    return face != NULL && face->id == id ? face : NULL;
}

/** @param qsbr of the workers that read the table; NULL when nobody else does. @return 0, -ENOMEM */
int face_table_create(struct face_table **table, struct rte_rcu_qsbr *qsbr);
/** Free the table and every face. After workers left. */
void face_table_destroy(struct face_table *table);

/**
 * Publish a new face: the link header template is built, URIs are written, the id is the next free one (ids are not
 * reused soon). The MAC address of a UDP group is derived from it. The caller adds it to its port's receive match
 * (port_face_add()). Control thread.
 *
 * @return 0 and *id, -EEXIST with *id of the face that has the same port, VLAN and addresses, -EINVAL, -ENOSPC
 */
int face_add(struct face_table *table, const struct face_config *config, uint16_t port_mtu, uint32_t *id);
/**
 * The same for a face with a reserved id (1, 254, 255), of kind FACE_THREAD. @return 0, -EEXIST, -EINVAL, -ENOMEM
 */
int face_add_reserved(struct face_table *table, const struct face_config *config, uint32_t id);
/** Unpublish; memory is freed after a grace period. @return 0, -ENOENT */
int face_remove(struct face_table *table, uint32_t id);
/** Publish a copy with another remote MAC (neighbour resolution), clearing FACE_DOWN_NEIGHBOUR. @return 0, -ENOENT */
int face_set_remote_mac(struct face_table *table, uint32_t id, const uint8_t mac[6]);
/** Publish a copy with another source MAC: the port's netdev was made anew. @return 0, -ENOENT */
int face_set_local_mac(struct face_table *table, uint32_t id, const uint8_t mac[6]);
/** Set or clear a reason (enum face_down) not to send. Control thread. @return 0, -ENOENT */
int face_set_down(struct face_table *table, uint32_t id, uint8_t reason, bool down);
/** Publish a copy with the MTU that face_add() would give it on a port of this MTU. @return 0, -EINVAL too small,
 * -ENOENT */
int face_set_port_mtu(struct face_table *table, uint32_t id, uint16_t port_mtu);
/** What management changes of a face; fields as in struct face_config. */
struct face_update {
    bool has_persistency, has_flags, has_congestion_interval, has_congestion_threshold, has_mtu;
    uint8_t persistency;
    uint8_t flags;
    uint64_t congestion_interval_ns, congestion_threshold;
    uint16_t mtu; /**< 64..8800 octets; the caller keeps it within the port's */
};
/** Publish a copy with the changes; all of them or none. @return 0, -EINVAL, -ENOENT, -ENOMEM */
int face_change(struct face_table *table, uint32_t id, const struct face_update *update);

#endif
