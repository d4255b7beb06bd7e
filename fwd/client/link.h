// SPDX-License-Identifier: Apache-2.0
#ifndef FWD_CLIENT_LINK_H
#define FWD_CLIENT_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "parser/ndn_encode.h"
#include "parser/ndn_packet.h"

struct command_line;

/*
 * The link of `pitlane`: NDN packets over the forwarder's stream socket (Unix or TCP), a UDP socket of the kernel, or
 * an Ethernet interface (AF_PACKET), the last two with NDNLPv2 fragmentation and reassembly. It shares no code with
 * ports/, so that it is an independent peer, but for the parsers. Single-threaded.
 */
struct link;

#define LINK_ERR 256

/** What a link is told to be. Strings are read by link_open() only. */
struct link_config {
    const char *transport; /**< URI of the forwarder's socket; NULL without the others: as transport_find() says */
    const char *udp;       /**< "ADDRESS[:PORT]" of the peer or group; NULL: whoever sends */
    const char *local;     /**< "[ADDRESS]:PORT" or "ADDRESS"; NULL: any address, a port of the kernel's choice */
    const char *ether;     /**< interface; NULL: not over Ethernet */
    const char *remote;    /**< MAC of the Ethernet peer; NULL: the NDN group */
    uint16_t vlan;         /**< tag of Ethernet frames; 0: none */
    uint16_t mtu;          /**< largest link-layer packet; 0: of the interface, over UDP 1472 (IPv4) or 1452 (IPv6) */
};

/** Where a packet came from or goes to. */
struct link_peer {
    struct sockaddr_storage address;
    socklen_t len; /**< 0: the peer of the configuration */
};

/** One packet received. Pointers of @p packet go into the link's buffer and live until the next link_receive(). */
struct link_packet {
    struct ndn_packet packet;
    struct link_peer from;
};

struct link_counters {
    uint64_t sent, received; /**< network packets */
    uint64_t frames_sent, frames_received;
    uint64_t bad;          /**< frames that the parser refused */
    uint64_t send_errors;  /**< frames that the kernel did not take */
    uint64_t lost_partial; /**< packets of which a fragment did not come in time */
};

/** Fill a configuration from the options of a command. @return 0 or -EINVAL after a complaint on stderr */
int link_config_from_line(const struct command_line *line, struct link_config *config);

/** @p server: bind to port 6363 when no local port is given. @return 0, or a negative errno and words in @p err */
int link_open(struct link **link, const struct link_config *config, bool server, char err[LINK_ERR]);
void link_close(struct link *link);

/** For poll(2): the descriptor, and what to wait for before link_receive() is called. */
int link_fd(const struct link *link);
short link_events(const struct link *link);
/** Does it lead to a forwarder's stream socket, where prefixes are registered; is that on this host? */
bool link_is_stream(const struct link *link);
bool link_is_local(const struct link *link);
/** Words for where the link leads. Static to the link. */
const char *link_name(const struct link *link);
const struct link_counters *link_counters(const struct link *link);

/**
 * Send a network packet with header fields @p lp (sequence and fragment fields are the link's own), fragmented when
 * it is larger than the MTU. @p peer NULL: the configured one.
 *
 * @return 0, -EMSGSIZE when it needs too many fragments, -EDESTADDRREQ without a peer, -EIO when the kernel refused
 */
int link_send(struct link *link, const uint8_t *net, size_t len, const struct ndn_lp_out *lp,
              const struct link_peer *peer);

/**
 * Take one frame from the socket, without waiting. @return 1 and *received when it completed a network packet, 0 when
 * it did not, -EAGAIN when there is none, another negative errno when the socket failed (stream:
 * -ECONNRESET when the forwarder closed it, -EPROTO when what it sends is no packet)
 */
int link_receive(struct link *link, struct link_packet *received);

#endif
