// SPDX-License-Identifier: Apache-2.0
#ifndef CONF_CONF_H
#define CONF_CONF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/*
 * Settings of the daemon, read from a file in libconfig's syntax. One table (conf/schema.c) says what keys there are;
 * it drives the checks, the defaults, the effective configuration and the manual. A struct conf is complete (every
 * default filled in), checked (ranges, units, references between sections) and never changes after conf_load().
 * Everything it points at is its own and lives until conf_free(). Control thread only.
 */

#define CONF_PORTS_MAX          62 /* two more are the daemon's own */
#define CONF_WORKERS_MAX        64
#define CONF_FACES_MAX          16000
#define CONF_UDP_PORTS_MAX      8
#define CONF_ANCHORS_MAX        16
#define CONF_AUTHORIZATIONS_MAX 64
#define CONF_UNIX_USERS_MAX     32
#define CONF_SUBNETS_MAX        32
#define CONF_QUIC_MAX           16  /* services */
#define CONF_QUIC_VIPS_MAX      16  /* of one service */
#define CONF_QUIC_VIPS_ALL_MAX  64  /* of all services */
#define CONF_QUIC_SERVERS_MAX   256 /* of one service */
#define CONF_QUIC_SCHEMES_MAX   8   /* of one service */
#define CONF_QUIC_IDS_MAX       4   /* of one server */
#define CONF_QUIC_VERSIONS_MAX  8
/** Largest text read, included files counted in. */
#define CONF_TEXT_MAX (16u << 20)
/** Files that include one another, the first counted in. */
#define CONF_INCLUDE_DEPTH 8

/** Where something stands; file is "" when it was not configured. */
struct conf_at {
    const char *file;
    unsigned line;
};

enum conf_log_level { CONF_LOG_ERROR = 0, CONF_LOG_WARNING, CONF_LOG_INFO, CONF_LOG_DEBUG };
enum conf_hugepages { CONF_HUGEPAGES_AUTO = 0, CONF_HUGEPAGES_YES, CONF_HUGEPAGES_NO };
enum conf_checksum { CONF_CHECKSUM_VERIFY = 0, CONF_CHECKSUM_TRUST };
enum conf_cs_policy { CONF_CS_LRU = 0, CONF_CS_PRIORITY_FIFO };
/** Values as in fwd/fwd.h. */
enum conf_cs_unsolicited {
    CONF_CS_DROP_ALL = 0,
    CONF_CS_ADMIT_LOCAL,
    CONF_CS_ADMIT_NETWORK,
    CONF_CS_ADMIT_ALL,
};

/* Values as in NFD management (and ports/face.h). */
enum conf_scope { CONF_SCOPE_NON_LOCAL = 0, CONF_SCOPE_LOCAL = 1 };
enum conf_persistency { CONF_PERSISTENT = 0, CONF_PERMANENT = 2 };
enum conf_link_type { CONF_LINK_P2P = 0, CONF_LINK_MULTI_ACCESS = 1, CONF_LINK_AD_HOC = 2 };
/* Values as in ports/face.h. */
enum conf_face_kind { CONF_ETHER = 1, CONF_UDP4, CONF_UDP6, CONF_BARE };

struct conf_daemon {
    struct conf_at at;
    const char *user;        /**< account that workers run as after start; NULL: stay */
    int log_level;           /**< enum conf_log_level */
    const char *log_file;    /**< NULL: stderr */
    const char *runtime_dir; /**< of EAL's files and the telemetry socket */
    const char *file_prefix; /**< EAL's --file-prefix */
    bool tlv_lenient;        /**< accept non-minimal TLV numbers */
    bool strict_perms;       /**< refuse a configuration file that everyone may write */
};

struct conf_workers {
    struct conf_at at;
    unsigned count;
    unsigned n_lcores; /**< 0: not configured; else equals count */
    unsigned lcores[CONF_WORKERS_MAX];
    bool busy_poll;
    uint32_t max_sleep_us;
    unsigned burst;
    unsigned dispatch_components;
};

struct conf_memory {
    struct conf_at at;
    int hugepages;      /**< enum conf_hugepages */
    uint32_t mbufs;     /**< of the packet pool that all ports share; 0: computed from ports and tables */
    uint32_t mbuf_size; /**< octets of an mbuf's data room, headroom counted in */
};

struct conf_port {
    struct conf_at at;
    const char *name;
    const char *device; /**< DPDK device string; NULL when netdev is set */
    const char *netdev; /**< kernel interface for AF_XDP; NULL when device is set */
    uint32_t mtu;       /**< 0: the device's */
    unsigned queues;    /**< 0: as many as workers */
    uint32_t rx_desc, tx_desc;
    unsigned n_udp_ports;
    uint16_t udp_ports[CONF_UDP_PORTS_MAX]; /**< host order, 0 after the last */
    bool bare;                              /**< frames carry bare NDN packets; true for net_memif unless configured */
    bool promiscuous;
    int checksum;                    /**< enum conf_checksum */
    uint32_t udp_on_demand;          /**< faces of unknown UDP peers at once, 0: none */
    uint32_t udp_idle_ms;            /**< until such a face is removed when nothing comes by it */
    const char *address4, *address6; /**< as configured, NULL: none */
    bool has_ip4, has_ip6;           /**< own addresses were given */
    uint8_t ip4[4], ip6[16];
    uint8_t ip4_prefix_len, ip6_prefix_len;
};

struct conf_face {
    struct conf_at at;
    const char *name;
    const char *port_name;
    unsigned port;      /**< index in conf->port */
    int kind;           /**< enum conf_face_kind */
    int local_kind;     /**< of the key local, 0: not given */
    bool multicast;     /**< the remote is a group address */
    bool mac_static;    /**< remote_mac was given by the key mac (UDP) or by the remote (Ethernet) */
    bool has_next_hop;  /**< UDP: resolve this address's MAC, not remote_ip's */
    bool has_local_mac; /**< Ethernet: local_mac was given, else the port's own */
    uint8_t remote_mac[6], local_mac[6];
    uint8_t remote_ip[16], local_ip[16],
        next_hop[16];               /**< 4 or 16 octets used; local is the port's unless configured */
    uint16_t remote_udp, local_udp; /**< host order */
    unsigned vlan;                  /**< 0: untagged */
    uint32_t mtu;                   /**< largest NDNLPv2 packet in octets; 0: from the port */
    int scope;                      /**< enum conf_scope */
    int link_type;                  /**< enum conf_link_type, by the kind of remote unless configured */
    int persistency;                /**< enum conf_persistency */
    bool local_fields, reliability, congestion_marking;
    const char *remote, *local, *mac, *next_hop_text; /**< as configured; all but remote may be NULL */
};

struct conf_route {
    struct conf_at at;
    const char *prefix; /**< name URI, not decoded: starts with "/", no bad percent-escape, at most 32 components */
    const char *face_name;
    unsigned face; /**< index in conf->face */
    uint32_t cost;
    bool child_inherit; /**< longer prefixes with routes of their own have this one, too */
    bool capture;       /**< this prefix, and those below it, have no routes of shorter ones */
};

struct conf_strategy {
    struct conf_at at;
    const char *prefix; /**< name URI, not decoded */
    /** As configured: "multicast", "asf/v=5/max-timeouts~2", or NFD's name of an instance, not decoded. */
    const char *strategy;
    uint32_t retx_suppression_initial_ms, retx_suppression_max_ms;
    double retx_suppression_multiplier;
};

struct conf_pit {
    struct conf_at at;
    uint32_t capacity;            /**< entries of each worker */
    uint32_t max_lifetime_ms;     /**< longer InterestLifetimes are cut to this */
    double face_share;            /**< of the PIT that one face may hold, 0 < share <= 1 */
    uint32_t dead_nonce_capacity; /**< fingerprints of each worker */
};

struct conf_cs {
    struct conf_at at;
    uint32_t capacity;     /**< Data packets of each worker; 0: off */
    uint32_t capacity_max; /**< most that management may ask for; at least capacity */
    int policy;            /**< enum conf_cs_policy */
    int unsolicited;       /**< enum conf_cs_unsolicited */
};

#define CONF_REGIONS_MAX 32

/** What the forwarding of Interests depends on beside routes and strategies. */
struct conf_forwarding {
    struct conf_at at;
    unsigned default_hop_limit; /**< 0: none */
    unsigned n_regions;
    const char *region[CONF_REGIONS_MAX]; /**< name URIs, as prefixes of routes are */
};

struct conf_fib {
    struct conf_at at;
    uint32_t capacity; /**< prefixes */
};

/** NDNLPv2 reassembly and reliability, of each worker. */
struct conf_lp {
    struct conf_at at;
    uint32_t max_fragments; /**< of one message */
    uint32_t timeout_ms;
    uint64_t budget;   /**< octets of packet buffers held */
    uint32_t messages; /**< partial messages at once */
    uint32_t per_face; /**< partial messages of one face */
    uint32_t reliable_faces;
    uint32_t unacknowledged; /**< buffers of packets that wait for an Ack */
};

/** Values as in fwd/mgmt/auth.h. */
enum conf_privilege {
    CONF_PRIVILEGE_FACES = 1 << 0,
    CONF_PRIVILEGE_FIB = 1 << 1,
    CONF_PRIVILEGE_CS = 1 << 2,
    CONF_PRIVILEGE_STRATEGY_CHOICE = 1 << 3,
};

/** Who may use the management modules that need a privilege. Without any of these everyone may. */
struct conf_authorization {
    struct conf_at at;
    const char *certfile; /**< "any", or a file with a certificate or HMAC key */
    unsigned n_privileges;
    const char *privilege[4]; /**< as configured */
    unsigned privileges;      /**< bits of enum conf_privilege */
};

/** Trust anchors: "any", files, folders or "base64:...", as configured. */
struct conf_rib {
    struct conf_at at;
    unsigned n_localhost_security, n_localhop_security, n_announcement_validation, n_certificates;
    const char *localhost_security[CONF_ANCHORS_MAX];
    const char *localhop_security[CONF_ANCHORS_MAX]; /**< none: /localhop/nfd/rib is not served */
    const char *announcement_validation[CONF_ANCHORS_MAX];
    const char *certificates[CONF_ANCHORS_MAX]; /**< files and folders of certificates signed below an anchor */
    uint32_t anchor_refresh_ms;                 /**< how often folders are read again */
    bool readvertise_nlsr;                      /**< routes of origin client go to /localhost/nlsr */
    bool auto_prefix_propagate;                 /**< routes go to /localhop/nfd; without localhop_security only */
    uint32_t propagate_cost, propagate_timeout_ms, propagate_refresh_ms;
    uint32_t propagate_base_retry_ms, propagate_max_retry_ms;
    const char *propagate_certificate, *propagate_key; /**< name URI, and PEM file; NULL: both */
};

/** Applications on this host. */
struct conf_unix {
    struct conf_at at;
    bool enabled;
    const char *path;
    const char *mode_text; /**< as configured */
    unsigned mode;         /**< bits of the socket's file mode */
    const char *group;     /**< that the socket belongs to; NULL: as it comes */
    unsigned n_users;      /**< 0: all that the mode lets */
    const char *users[CONF_UNIX_USERS_MAX];
};

/** Listening TCP sockets, and which TCP peers are of this host. */
struct conf_tcp {
    struct conf_at at;
    bool listen, ipv4, ipv6;
    unsigned port;
    unsigned n_local_whitelist, n_local_blacklist;
    const char *local_whitelist[CONF_SUBNETS_MAX], *local_blacklist[CONF_SUBNETS_MAX]; /**< see conf_subnet() */
};

/** UDP sockets of the kernel, beside the UDP faces of ports. */
struct conf_udp {
    struct conf_at at;
    bool listen, ipv4, ipv6, multicast;
    unsigned port;
    uint32_t mtu; /**< largest NDNLPv2 packet in octets */
    uint32_t idle_timeout_ms;
};

struct conf_websocket {
    struct conf_at at;
    bool listen, ipv4, ipv6;
    unsigned port;
};

/** Limits of all sockets. */
struct conf_sockets {
    struct conf_at at;
    uint32_t faces;    /**< on-demand faces at once, of each kind */
    uint32_t queue;    /**< octets that wait for a slow peer */
    uint32_t stall_ms; /**< longest that a peer may be stuck */
    bool congestion_marking;
};

/** Values as in fwd/quic/service.h. */
enum conf_quic_delivery { CONF_QUIC_L2 = 0, CONF_QUIC_IPIP, CONF_QUIC_GUE };
enum conf_quic_retry { CONF_QUIC_RETRY_OFF = 0, CONF_QUIC_RETRY_ON, CONF_QUIC_RETRY_TRANSITION };
enum conf_quic_state { CONF_QUIC_UP = 0, CONF_QUIC_DRAIN, CONF_QUIC_DOWN };

/** A service: QUIC datagrams to its virtual addresses go to its servers. */
struct conf_quic {
    struct conf_at at;
    const char *name;
    unsigned n_vips;
    const char *vip[CONF_QUIC_VIPS_MAX]; /**< see conf_quic_vip() */
    int delivery;                        /**< enum conf_quic_delivery */
    unsigned gue_port;
    bool require_fixed_bit, drop_unroutable, drop_small_initials, version_negotiation;
    unsigned n_versions;
    const char *version_text[CONF_QUIC_VERSIONS_MAX]; /**< as configured */
    uint32_t versions[CONF_QUIC_VERSIONS_MAX];
    uint32_t edge_rate, initial_rate; /**< packets a second for one source; 0: no limit */
    uint32_t flow_table;              /**< flows of each worker; 0: off */
    uint32_t flow_idle_ms, flow_keep_ms;
    int retry; /**< enum conf_quic_retry */
    uint32_t retry_lifetime_ms;
    const char *retry_keys; /**< file */
    unsigned retry_config;  /**< ID of the configuration that CIDs in Retry packets follow */
    const char *hash_key;   /**< 32 hexadecimal digits, or a file; NULL: random */
    uint32_t probe_interval_ms, probe_timeout_ms;
    unsigned probe_failures;
};

/** A QUIC-LB configuration of a service. */
struct conf_quic_config {
    struct conf_at at;
    const char *service_name;
    unsigned service; /**< index in conf->quic, here and below */
    unsigned id, server_id_len, nonce_len;
    const char *key_file; /**< NULL: plaintext */
};

/** A private layout of connection IDs. */
struct conf_quic_scheme {
    struct conf_at at;
    const char *service_name;
    unsigned service;
    unsigned mask, value, offset_bits, bits;
};

struct conf_quic_server {
    struct conf_at at;
    const char *name;
    const char *service_name;
    unsigned service;
    unsigned n_ids;
    const char *id[CONF_QUIC_IDS_MAX]; /**< see conf_quic_id() */
    const char *address;
    bool v6;
    uint8_t ip[16]; /**< 4 or 16 octets used */
    unsigned weight;
    int state;             /**< enum conf_quic_state */
    const char *port_name; /**< NULL: found by the kernel's routes */
    unsigned port;         /**< index in conf->port, when port_name is given */
    unsigned vlan;         /**< on that port; 0: untagged */
    const char *mac_text;  /**< NULL: found by the kernel's neighbours */
    uint8_t mac[6];
};

struct conf {
    struct conf_daemon daemon;
    struct conf_workers workers;
    struct conf_memory memory;
    struct conf_pit pit;
    struct conf_cs cs;
    struct conf_fib fib;
    struct conf_lp lp;
    struct conf_forwarding forwarding;
    struct conf_port *port;
    unsigned n_ports;
    struct conf_face *face;
    unsigned n_faces;
    struct conf_route *route;
    unsigned n_routes;
    struct conf_strategy *strategy;
    unsigned n_strategies;
    struct conf_authorization *authorization;
    unsigned n_authorizations;
    struct conf_rib rib;
    struct conf_unix unix_socket;
    struct conf_tcp tcp;
    struct conf_udp udp;
    struct conf_websocket websocket;
    struct conf_sockets sockets;
    struct conf_quic *quic;
    unsigned n_quics;
    struct conf_quic_config *quic_config;
    unsigned n_quic_configs;
    struct conf_quic_scheme *quic_scheme;
    unsigned n_quic_schemes;
    struct conf_quic_server *quic_server;
    unsigned n_quic_servers;
};

/** Take "192.168.0.0/16", "fd00::/8" or an address alone apart; IPv4 as ::ffff:a.b.c.d. @return false: it is none */
bool conf_subnet(const char *text, uint8_t ip[16], uint8_t *prefix_len);

/** Take "192.0.2.1:443" or "[2001:db8::1]:443" apart; @p port in host order. @return false: it is none */
bool conf_quic_vip(const char *text, uint8_t ip[16], bool *v6, uint16_t *port);
/** Octets of a server ID in hexadecimal digits. @return their number, 1 to 15; 0: it is none */
unsigned conf_quic_id(const char *text, uint8_t octets[16]);
/** Octets of hexadecimal digits, exactly @p len of them. @return false: they are none */
bool conf_hex(const char *text, uint8_t *octets, size_t len);

/**
 * Read, check and complete a configuration. The file, and each file it includes, is read once into memory and parsed
 * from there. Every fault found is written to @p err as a line "FILE:LINE: what is wrong, what is allowed"; warnings
 * as "FILE:LINE: warning: ...". @p err may be NULL.
 *
 * @return 0 and *conf; -EINVAL when the text has faults; another negative errno when a file cannot be read
 */
int conf_load(const char *path, struct conf **conf, FILE *err);

/** As conf_load(), from @p len octets of memory that messages call @p name. Includes are refused. */
int conf_load_text(const char *name, const char *text, size_t len, struct conf **conf, FILE *err);

void conf_free(struct conf *conf);

/**
 * Where a key of an item stands, for faults that only show later (a device that cannot be opened). @p item is
 * &conf->port[i], &conf->daemon and the like, @p key as in the file ("device"). Gives the item's own position when
 * the key was not configured.
 */
struct conf_at conf_key_at(const struct conf *conf, const void *item, const char *key);

/** Write the whole configuration with every default, as a file that conf_load() reads to the same configuration. */
void conf_print_effective(const struct conf *conf, FILE *out);

/** Write every section and key with type, range, default and meaning, as plain text. */
void conf_print_manual(FILE *out);

/**
 * Compare what cannot change while running (EAL, lcores, memory, tables, ports). For each such key that differs one
 * line "FILE:LINE: KEY: ... restart needed" is written to @p err, which may be NULL.
 *
 * @return number of keys that differ
 */
unsigned conf_restart_needed(const struct conf *running, const struct conf *wanted, FILE *err);

/** True when a section ("face") of two configurations differs in any item or its order. */
bool conf_section_differs(const struct conf *a, const struct conf *b, const char *name);

#endif
