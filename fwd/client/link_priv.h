// SPDX-License-Identifier: Apache-2.0
#ifndef FWD_CLIENT_LINK_PRIV_H
#define FWD_CLIENT_LINK_PRIV_H

#include "fwd/client/link.h"
#include "fwd/client/partial.h"

/* What the files of a link share. */

#define LINK_FRAME_MAX 65536
/** Ethernet header with a VLAN tag. */
#define LINK_ETHER_MAX 18

enum link_kind { LINK_UDP, LINK_ETHER, LINK_STREAM };

struct link {
    int fd;
    enum link_kind kind;
    bool group;    /**< the peer of the configuration is a group */
    bool local;    /**< the peer is on this host, by its address */
    uint16_t vlan; /**< 0: untagged */
    uint8_t own_mac[6];
    size_t mtu;
    uint64_t sequence;
    struct link_peer peer; /**< len 0: none */
    struct partial_table *partials;
    struct link_counters counters;
    char name[160];
    size_t in_off, in_len; /**< stream: [in_off, in_off + in_len) of in is not read yet */
    uint8_t *queue;        /**< stream: octets that the kernel did not take yet; NULL: none ever */
    size_t queue_off, queue_len, queue_size;
    uint8_t in[LINK_FRAME_MAX];
    uint8_t out[LINK_ETHER_MAX + NDN_LP_HEADER_MAX + LINK_FRAME_MAX];
};

/** Open the socket of a link; fill kind, fd, mtu, peer and name. @return 0, or a negative errno and words in @p err */
int link_open_udp(struct link *link, const struct link_config *config, bool server, char err[LINK_ERR]);
int link_open_ether(struct link *link, const struct link_config *config, char err[LINK_ERR]);
int link_open_stream(struct link *link, const char *uri, char err[LINK_ERR]);

/** Send on a stream, keeping what the kernel does not take. @return 0; -EIO when it failed or too much is kept */
int link_stream_send(struct link *link, const uint8_t *frame, size_t len);
/** The next TLV of the stream, to be read in place until the next call. @return as link_receive() */
int link_stream_receive(struct link *link, const uint8_t **frame, size_t *len);

#endif
