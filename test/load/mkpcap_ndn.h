// SPDX-License-Identifier: Apache-2.0
#ifndef TEST_LOAD_MKPCAP_NDN_H
#define TEST_LOAD_MKPCAP_NDN_H

#include <stddef.h>
#include <stdint.h>

#include "parser/ndn_name.h"

/** Interests and Data that belong together by their number: name PREFIX/flowNNNN/aaaaaaaa/.../<8 hex digits>. */
struct mkpcap_ndn {
    uint8_t prefix[NDN_NAME_MAX]; /**< TLV-VALUE of a Name */
    uint16_t prefix_len;
    uint16_t prefix_comps;
    uint16_t comps;        /**< components of the whole name, at least prefix_comps + 2 */
    uint16_t flows;        /**< different second last prefixes: flow number modulo this, 1..10000 */
    uint32_t lifetime_ms;  /**< of Interests, 0: absent */
    uint32_t freshness_ms; /**< of Data, 0: absent */
    uint16_t payload;      /**< octets of Content */
    uint8_t token;         /**< octets of the PitToken of Interests, 0..32; 0: bare packets */
    uint8_t data_token;    /**< octets of that of Data: the first of the same */
};

/** Set prefix, prefix_len and prefix_comps from an NDN URI. @return 0 or -EINVAL */
int mkpcap_ndn_prefix(struct mkpcap_ndn *ndn, const char *uri);

/** Does every packet of this fit? @return 0; -EINVAL: counts are out of range; -EMSGSIZE: packets are too large */
int mkpcap_ndn_check(const struct mkpcap_ndn *ndn);

/**
 * Write the link-layer packet of Interest @p number (32 bits) to @p p, of NDN_PACKET_MAX + 256 octets;
 * mkpcap_ndn_check() has passed. The nonce follows from @p seed and the number. @return octets written
 */
size_t mkpcap_ndn_interest(const struct mkpcap_ndn *ndn, uint64_t seed, uint64_t number, uint8_t *p);

/** The same for the Data that satisfies it. */
size_t mkpcap_ndn_data(const struct mkpcap_ndn *ndn, uint64_t seed, uint64_t number, uint8_t *p);

#endif
