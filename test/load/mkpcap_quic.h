// SPDX-License-Identifier: Apache-2.0
#ifndef TEST_LOAD_MKPCAP_QUIC_H
#define TEST_LOAD_MKPCAP_QUIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "parser/quic_lb.h"
#include "test/load/mkpcap_frame.h"

#define MKPCAP_SERVERS_MAX 1024
/** Smallest datagram with an Initial (RFC 9000, section 14.1). */
#define MKPCAP_INITIAL_MIN  1200
#define MKPCAP_DATAGRAM_MIN 64
#define MKPCAP_DATAGRAM_MAX 9000

/** Kinds of QUIC packets, as shares of a mix. */
enum mkpcap_quic_kind {
    MKPCAP_QUIC_SHORT,
    MKPCAP_QUIC_INITIAL,
    MKPCAP_QUIC_HANDSHAKE,
    MKPCAP_QUIC_0RTT,
    MKPCAP_QUIC_KINDS,
};

/** QUIC datagrams of connections whose CIDs servers have issued. */
struct mkpcap_quic {
    struct quic_lb lb; /**< the one configuration below */
    uint8_t config_id;
    struct quic_lb_config config;
    unsigned n_servers;
    struct quic_lb_id server[MKPCAP_SERVERS_MAX];
    unsigned connections; /**< connection i is of server i modulo n_servers, and has source port from.port + i */
    unsigned share[MKPCAP_QUIC_KINDS]; /**< of each kind, in percent: 100 together */
    uint16_t size;                     /**< octets of a datagram; Initials have MKPCAP_INITIAL_MIN at least */
    bool client_initials;              /**< Initials and 0-RTT have CIDs that the client has drawn: 8 random octets */
    bool rebind;                       /**< every datagram comes from another source port */
};

/**
 * Parse "ID,ENCODING,SERVER-ID-LENGTH,NONCE-LENGTH" with encoding plaintext, single-pass or four-pass.
 *
 * @return 0; -EINVAL: not of this form, a number is out of range, or the lengths do not make this encoding
 */
int mkpcap_quic_config(struct mkpcap_quic *quic, const char *text);

/** Parse a key of 32 hexadecimal digits. @return 0 or -EINVAL */
int mkpcap_quic_key(struct mkpcap_quic *quic, const char *text);

/** Parse server IDs, hexadecimal and separated by commas. @return 0, -EINVAL or -ENOSPC */
int mkpcap_quic_servers(struct mkpcap_quic *quic, const char *text);

/** Parse shares in percent: "SHORT/INITIAL/HANDSHAKE/0RTT". @return 0, or -EINVAL when they do not make 100 */
int mkpcap_quic_mix(struct mkpcap_quic *quic, const char *text);

/** Make quic->lb of what was parsed. @return 0, or -EINVAL: no server, one whose ID is of another length, sizes */
int mkpcap_quic_prepare(struct mkpcap_quic *quic);

/** The CID of connection @p connection. @return its octets, 1 + server ID + nonce */
size_t mkpcap_quic_cid(const struct mkpcap_quic *quic, uint64_t seed, uint64_t connection,
                       uint8_t cid[QUIC_LB_CID_MAX]);

/**
 * Write datagram @p number to @p p, of MKPCAP_DATAGRAM_MAX octets, and set way->from.port to where it comes from, given
 * the first of these ports. @return octets written
 */
size_t mkpcap_quic_datagram(const struct mkpcap_quic *quic, uint64_t seed, uint64_t number, uint8_t *p,
                            struct mkpcap_way *way);

#endif
