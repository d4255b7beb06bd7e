// SPDX-License-Identifier: Apache-2.0
#ifndef TEST_LOAD_OPTIONS_H
#define TEST_LOAD_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "parser/quic_lb.h"

#define OPTIONS_URI_MAX          512
#define OPTIONS_QUIC_SERVERS_MAX 64
#define OPTIONS_MAC_SIZE         6

enum options_mode {
    MODE_NDN,
    MODE_QUIC,
};

enum options_link {
    LINK_AUTO, /**< bare on memif, else Ethernet */
    LINK_ETHER,
    LINK_UDP,
    LINK_BARE,
};

/** A role's port, and what it writes before and expects of its packets. */
struct options_end {
    bool present;
    uint16_t port; /**< of DPDK */
    uint8_t link;  /**< enum options_link */
    bool has_local_mac, has_remote_mac;
    uint8_t local_mac[OPTIONS_MAC_SIZE], remote_mac[OPTIONS_MAC_SIZE];
    uint16_t vlan;  /**< 0: no tag */
    uint8_t family; /**< AF_INET or AF_INET6 with LINK_UDP */
    uint8_t local_ip[16], remote_ip[16];
    uint16_t local_udp, remote_udp; /**< host byte order */
};

enum options_names {
    NAMES_DISTINCT,
    NAMES_CYCLE,
    NAMES_ZIPF,
};

/** Each Nth packet gets this; 0: none does. */
struct options_inject {
    uint32_t drop, corrupt, nack;
};

struct options_quic {
    uint32_t flows;
    bool has_config;
    uint8_t config_id;
    struct quic_lb_config config;
    struct quic_lb_id server[OPTIONS_QUIC_SERVERS_MAX];
    uint8_t server_mac[OPTIONS_QUIC_SERVERS_MAX][OPTIONS_MAC_SIZE];
    bool has_server_mac[OPTIONS_QUIC_SERVERS_MAX];
    uint16_t n_servers;
    double initials;      /**< share of packets that are Initials, 0..1 */
    uint32_t rebind;      /**< packets of a flow until its port changes; 0: never */
    uint16_t first_sport; /**< ports of clients begin here */
};

struct options {
    uint8_t mode; /**< enum options_mode */
    struct options_end consumer, producer;

    double rate;  /**< packets a second, open loop; 0: closed loop */
    bool poisson; /**< random arrivals of that rate */
    uint32_t window;
    double duration_s; /**< 0: until count or a signal */
    uint64_t count;    /**< 0: until duration or a signal */
    double timeout_s;
    double warm_up_s;
    uint32_t outstanding; /**< requests remembered; 0: from rate and timeout */

    double saturate; /**< 0: off; else this share of the saturated rate is run */
    bool search;
    double trial_s;
    double resolution; /**< of the search, a share of the rate */
    double max_loss;   /**< negative: not checked */

    char prefix[OPTIONS_URI_MAX];
    uint8_t names; /**< enum options_names */
    uint32_t n_names;
    double zipf_s;
    uint32_t components;
    uint32_t flows;
    bool has_first;
    uint32_t first;
    uint32_t payload;
    bool can_be_prefix, must_be_fresh;
    uint32_t lifetime_ms, freshness_ms;
    uint8_t hop_limit; /**< 0: none */
    bool token_echo, consumer_token;
    bool fragments;
    struct options_inject inject;
    struct options_quic quic;

    uint64_t seed;
    uint32_t mbufs, mbuf_size, descriptors;
    uint16_t mtu; /**< 0: the device's */
    uint32_t sleep_us;
    bool quiet;
    const char *json; /**< file; NULL: standard output */
};

/**
 * Read the command line behind EAL's part. Says on stderr what is wrong with it.
 *
 * @return 0 and *options filled, 1 when help was printed, -EINVAL for wrong usage
 */
int options_parse(int argc, char **argv, struct options *options);

#endif
