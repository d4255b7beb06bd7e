// SPDX-License-Identifier: Apache-2.0
#include "fwd/client/link.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "fwd/client/command.h"
#include "fwd/client/link_priv.h"
#include "fwd/client/transport.h"
#include "parser/frame.h"

#define LINK_MTU_MIN 256
/** Kernel buffers, so that a burst of fragments fits. */
#define LINK_SOCKET_BUFFER (4 << 20)

int link_config_from_line(const struct command_line *line, struct link_config *config)
{
    uint64_t mtu, vlan;
    if (command_number(line, "mtu", LINK_MTU_MIN, 65000, 0, &mtu) != 0 ||
        command_number(line, "vlan", 1, 4094, 0, &vlan) != 0)
        return -EINVAL;
    *config = (struct link_config){
        .transport = command_value(line, "transport"),
        .udp = command_value(line, "udp"),
        .local = command_value(line, "local"),
        .ether = command_value(line, "ether"),
        .remote = command_value(line, "remote"),
        .mtu = (uint16_t)mtu,
        .vlan = (uint16_t)vlan,
    };
    bool udp = config->udp != NULL || config->local != NULL;
    if ((config->ether != NULL) + udp + (config->transport != NULL) > 1) {
        fprintf(stderr, "pitlane: --transport, --ether, and --udp or --local exclude each other\n");
        return -EINVAL;
    }
    if (config->ether == NULL && (config->remote != NULL || config->vlan != 0)) {
        fprintf(stderr, "pitlane: --remote and --vlan go with --ether only\n");
        return -EINVAL;
    }
    if (config->ether == NULL && !udp && config->mtu != 0) {
        fprintf(stderr, "pitlane: --mtu goes with --ether, --udp or --local only\n");
        return -EINVAL;
    }
    return 0;
}

int link_open(struct link **out, const struct link_config *config, bool server, char err[LINK_ERR])
{
    struct link *link = calloc(1, sizeof *link);
    if (link == NULL) {
        snprintf(err, LINK_ERR, "out of memory");
        return -ENOMEM;
    }
    link->fd = -1;
    int ret = partial_create(&link->partials);
    if (ret != 0) {
        snprintf(err, LINK_ERR, "out of memory");
        goto free_link;
    }
    if (getrandom(&link->sequence, sizeof link->sequence, 0) != sizeof link->sequence)
        link->sequence = (uint64_t)getpid() << 32;
    if (config->ether != NULL) {
        ret = link_open_ether(link, config, err);
    } else if (config->udp != NULL || config->local != NULL) {
        ret = link_open_udp(link, config, server, err);
    } else {
        char uri[TRANSPORT_URI_MAX];
        transport_find(config->transport, uri);
        ret = link_open_stream(link, uri, err);
    }
    if (ret != 0)
        goto close_fd;
    int size = LINK_SOCKET_BUFFER;
    if (setsockopt(link->fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof size) != 0)
        setsockopt(link->fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof size);
    if (setsockopt(link->fd, SOL_SOCKET, SO_SNDBUFFORCE, &size, sizeof size) != 0)
        setsockopt(link->fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof size);
    *out = link;
    return 0;
close_fd:
    if (link->fd >= 0)
        close(link->fd);
    partial_destroy(link->partials);
free_link:
    free(link);
    return ret;
}

void link_close(struct link *link)
{
    if (link == NULL)
        return;
    close(link->fd);
    partial_destroy(link->partials);
    free(link->queue);
    free(link);
}

int link_fd(const struct link *link)
{
    return link->fd;
}

short link_events(const struct link *link)
{
    return (short)(POLLIN | (link->queue_len > 0 ? POLLOUT : 0));
}

bool link_is_stream(const struct link *link)
{
    return link->kind == LINK_STREAM;
}

bool link_is_local(const struct link *link)
{
    return link->local;
}

const char *link_name(const struct link *link)
{
    return link->name;
}

const struct link_counters *link_counters(const struct link *link)
{
    return &link->counters;
}

/** Send a link-layer packet with LINK_ETHER_MAX octets of room before it. */
static int send_frame(struct link *link, uint8_t *frame, size_t len, const struct link_peer *peer)
{
    if (link->kind == LINK_STREAM)
        return link_stream_send(link, frame, len);
    if (link->kind == LINK_ETHER) {
        uint16_t tag[] = {htons(ETH_P_8021Q), htons(link->vlan)}, type = htons(FRAME_ETHERTYPE_NDN);
        size_t header = link->vlan != 0 ? LINK_ETHER_MAX : LINK_ETHER_MAX - sizeof tag;
        frame -= header;
        len += header;
        memcpy(frame, ((const struct sockaddr_ll *)&peer->address)->sll_addr, 6);
        memcpy(frame + 6, link->own_mac, 6);
        if (link->vlan != 0)
            memcpy(frame + 12, tag, sizeof tag);
        memcpy(frame + header - sizeof type, &type, sizeof type);
    }
    ssize_t n = sendto(link->fd, frame, len, MSG_NOSIGNAL,
                       peer->len > 0 ? (const struct sockaddr *)&peer->address : NULL, peer->len);
    if (n != (ssize_t)len) {
        link->counters.send_errors++;
        return errno == EMSGSIZE ? -EMSGSIZE : -EIO;
    }
    link->counters.frames_sent++;
    return 0;
}

int link_send(struct link *link, const uint8_t *net, size_t len, const struct ndn_lp_out *lp_in,
              const struct link_peer *peer)
{
    struct ndn_lp_out lp = *lp_in;
    struct link_peer to = peer != NULL && peer->len > 0 ? *peer : link->peer;
    if (to.len == 0 && link->kind != LINK_STREAM)
        return -EDESTADDRREQ;
    // A connected socket takes no address.
    struct sockaddr_storage connected;
    socklen_t connected_len = sizeof connected;
    if (link->kind == LINK_UDP && getpeername(link->fd, (struct sockaddr *)&connected, &connected_len) == 0)
        to.len = 0;
    uint8_t *payload = link->out + LINK_ETHER_MAX + NDN_LP_HEADER_MAX;
    bool bare =
        lp.token_len == 0 && !lp.has_mark && !lp.has_incoming_face && !lp.has_cache_policy && lp.nack_reason == 0;
    if (len > LINK_FRAME_MAX)
        return -EMSGSIZE;
    size_t header = bare ? 0 : ndn_lp_prepend_size(len, &lp);
    if (header + len <= link->mtu) {
        memcpy(payload, net, len);
        if (!bare)
            header = ndn_lp_prepend(payload, len, &lp);
        int ret = send_frame(link, payload - header, header + len, &to);
        if (ret == 0)
            link->counters.sent++;
        return ret;
    }
    lp.has_sequence = true;
    lp.frag_count = NDN_LP_FRAGS_MAX;
    size_t chunk = link->mtu - ndn_lp_prepend_size(link->mtu, &lp);
    size_t n_frags = (len + chunk - 1) / chunk;
    if (n_frags > NDN_LP_FRAGS_MAX)
        return -EMSGSIZE;
    for (size_t i = 0; i < n_frags; i++) {
        size_t n = len - i * chunk < chunk ? len - i * chunk : chunk;
        // The header fields of the packet ride on its first fragment.
        struct ndn_lp_out fields = i == 0 ? lp : (struct ndn_lp_out){.has_sequence = true};
        fields.frag_index = (uint16_t)i;
        fields.frag_count = (uint16_t)n_frags;
        fields.sequence = link->sequence++;
        memcpy(payload, net + i * chunk, n);
        size_t prepended = ndn_lp_prepend(payload, n, &fields);
        int ret = send_frame(link, payload - prepended, prepended + n, &to);
        if (ret != 0)
            return ret;
    }
    link->counters.sent++;
    return 0;
}

/** VLAN tag of a frame, which the kernel has taken out of it; 0: none. */
static uint16_t frame_vlan(struct msghdr *message)
{
    for (struct cmsghdr *c = CMSG_FIRSTHDR(message); c != NULL; c = CMSG_NXTHDR(message, c)) {
        struct tpacket_auxdata aux;
        if (c->cmsg_level != SOL_PACKET || c->cmsg_type != PACKET_AUXDATA || c->cmsg_len < CMSG_LEN(sizeof aux))
            continue;
        memcpy(&aux, CMSG_DATA(c), sizeof aux);
        return (aux.tp_status & TP_STATUS_VLAN_VALID) != 0 ? aux.tp_vlan_tci & 0xfff : 0;
    }
    return 0;
}

/** Is this Ethernet frame for us? The kernel gives what we send, and what other hosts or VLANs get, too. */
static bool ether_is_ours(const struct link *link, struct msghdr *message, size_t len)
{
    const struct sockaddr_ll *from = message->msg_name;
    return from->sll_pkttype != PACKET_OUTGOING && from->sll_pkttype != PACKET_OTHERHOST && len >= ETH_HLEN &&
           link->in[12] == FRAME_ETHERTYPE_NDN >> 8 && link->in[13] == (FRAME_ETHERTYPE_NDN & 0xff) &&
           frame_vlan(message) == link->vlan;
}

/** One datagram or frame, where it is for us. @return as link_receive() */
static int receive_frame(struct link *link, struct link_peer *from, struct link_peer *sender, const uint8_t **frame,
                         size_t *len)
{
    union {
        char octets[CMSG_SPACE(sizeof(struct tpacket_auxdata))];
        struct cmsghdr align;
    } control;
    struct iovec vec = {link->in, sizeof link->in};
    struct msghdr message = {
        .msg_name = &from->address,
        .msg_namelen = sizeof from->address,
        .msg_iov = &vec,
        .msg_iovlen = 1,
        .msg_control = &control,
        .msg_controllen = sizeof control,
    };
    ssize_t n;
    do {
        n = recvmsg(link->fd, &message, 0);
    } while (n < 0 && errno == EINTR);
    // Word of an unreachable peer is not a failure of the socket: the peer may yet come.
    if (n < 0 && (errno == ECONNREFUSED || errno == EHOSTUNREACH || errno == ENETUNREACH || errno == ENETDOWN))
        return 0;
    if (n < 0)
        return errno == EWOULDBLOCK ? -EAGAIN : -errno;
    from->len = message.msg_namelen;
    *frame = link->in;
    *len = (size_t)n;
    *sender = *from;
    if (link->kind == LINK_ETHER) {
        if (!ether_is_ours(link, &message, *len))
            return 0;
        // What came to the group is answered to the group.
        if ((link->in[0] & 1) != 0 && link->group)
            from->len = 0;
        *frame += ETH_HLEN;
        *len -= ETH_HLEN;
    } else if (link->group) {
        from->len = 0;
    }
    return 1;
}

int link_receive(struct link *link, struct link_packet *received)
{
    const uint8_t *p;
    size_t len;
    struct link_peer sender = {0};
    memset(&received->from, 0, sizeof received->from);
    int ret = link->kind == LINK_STREAM ? link_stream_receive(link, &p, &len)
                                        : receive_frame(link, &received->from, &sender, &p, &len);
    if (ret <= 0)
        return ret;
    link->counters.frames_received++;
    const struct ndn_parse_opts opts = {.allow_trailing = link->kind == LINK_ETHER};
    struct ndn_packet *packet = &received->packet;
    if (ndn_packet_parse(p, len, &opts, packet) != VERDICT_OK) {
        link->counters.bad++;
        return 0;
    }
    if (packet->lp.frag_count > 1) {
        const uint8_t *whole;
        struct ndn_lp lp;
        if (!partial_add(link->partials, &sender, &packet->lp, &whole, &len, &lp)) {
            link->counters.lost_partial = partial_lost(link->partials);
            return 0;
        }
        packet->lp = lp;
        if (ndn_packet_parse_net(whole, len, &opts, packet) != VERDICT_OK) {
            link->counters.bad++;
            return 0;
        }
    }
    if (packet->type == 0)
        return 0;
    link->counters.received++;
    return 1;
}
