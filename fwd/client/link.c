// SPDX-License-Identifier: Apache-2.0
#include "fwd/client/link.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <unistd.h>

#include "fwd/client/command.h"
#include "fwd/client/partial.h"
#include "parser/frame.h"

#define LINK_FRAME_MAX 65536
#define LINK_MTU_MIN   256
#define LINK_UDP_PORT  "6363"
/** Kernel buffers, so that a burst of fragments fits. */
#define LINK_SOCKET_BUFFER (4 << 20)

/** Ethernet header with a VLAN tag. */
#define LINK_ETHER_MAX 18

struct link {
    int fd;
    bool ether;
    bool group;    /**< the peer of the configuration is a group */
    uint16_t vlan; /**< 0: untagged */
    uint8_t own_mac[6];
    size_t mtu;
    uint64_t sequence;
    struct link_peer peer; /**< len 0: none */
    struct partial_table *partials;
    struct link_counters counters;
    char name[128];
    uint8_t in[LINK_FRAME_MAX];
    uint8_t out[LINK_ETHER_MAX + NDN_LP_HEADER_MAX + LINK_FRAME_MAX];
};

static const uint8_t ndn_group[6] = {0x01, 0x00, 0x5e, 0x00, 0x17, 0xaa};

int link_config_from_line(const struct command_line *line, struct link_config *config)
{
    uint64_t mtu, vlan;
    if (command_number(line, "mtu", LINK_MTU_MIN, 65000, 0, &mtu) != 0 ||
        command_number(line, "vlan", 1, 4094, 0, &vlan) != 0)
        return -EINVAL;
    *config = (struct link_config){
        .udp = command_value(line, "udp"),
        .local = command_value(line, "local"),
        .ether = command_value(line, "ether"),
        .remote = command_value(line, "remote"),
        .mtu = (uint16_t)mtu,
        .vlan = (uint16_t)vlan,
    };
    if (config->ether != NULL && (config->udp != NULL || config->local != NULL)) {
        fprintf(stderr, "pitlane: --ether does not go with --udp or --local\n");
        return -EINVAL;
    }
    if (config->ether == NULL && (config->remote != NULL || config->vlan != 0)) {
        fprintf(stderr, "pitlane: --remote and --vlan go with --ether only\n");
        return -EINVAL;
    }
    return 0;
}

/** Resolve "1.2.3.4", "1.2.3.4:5", ":5", "::1", "[::1]:5". */
static int resolve(const char *text, const char *port, bool passive, int family, struct link_peer *peer,
                   char err[LINK_ERR])
{
    char host[256];
    snprintf(host, sizeof host, "%s", text);
    char *name = host;
    char *colon = strrchr(host, ':');
    if (host[0] == '[') {
        char *end = strchr(host, ']');
        if (end == NULL || (end[1] != '\0' && end[1] != ':')) {
            snprintf(err, LINK_ERR, "%s: an address like [::1]:6363 is meant?", text);
            return -EINVAL;
        }
        *end = '\0';
        name = host + 1;
        if (end[1] == ':')
            port = end + 2;
    } else if (colon != NULL && strchr(host, ':') == colon) {
        *colon = '\0';
        if (colon[1] != '\0')
            port = colon + 1;
    }
    // An IPv6 socket takes IPv4 peers, too.
    if (name[0] == '\0' && passive && family == AF_UNSPEC)
        family = AF_INET6;
    const struct addrinfo hints = {
        .ai_family = family,
        .ai_socktype = SOCK_DGRAM,
        .ai_flags = AI_NUMERICSERV | (passive ? AI_PASSIVE : 0),
    };
    struct addrinfo *found;
    int ret = getaddrinfo(name[0] != '\0' ? name : NULL, port, &hints, &found);
    if (ret != 0) {
        snprintf(err, LINK_ERR, "%s: %s", text, gai_strerror(ret));
        return -EINVAL;
    }
    memcpy(&peer->address, found->ai_addr, found->ai_addrlen);
    peer->len = found->ai_addrlen;
    freeaddrinfo(found);
    return 0;
}

static bool is_group(const struct link_peer *peer)
{
    if (peer->address.ss_family == AF_INET)
        return IN_MULTICAST(ntohl(((const struct sockaddr_in *)&peer->address)->sin_addr.s_addr));
    return peer->address.ss_family == AF_INET6 &&
           IN6_IS_ADDR_MULTICAST(&((const struct sockaddr_in6 *)&peer->address)->sin6_addr);
}

/** Join the group and send to it from the interface that has the local address. */
static int join_group(struct link *link, const struct link_peer *local)
{
    int zero = 0;
    if (link->peer.address.ss_family == AF_INET) {
        struct ip_mreqn request = {
            .imr_multiaddr = ((const struct sockaddr_in *)&link->peer.address)->sin_addr,
            .imr_address = ((const struct sockaddr_in *)&local->address)->sin_addr,
        };
        setsockopt(link->fd, IPPROTO_IP, IP_MULTICAST_LOOP, &zero, sizeof zero);
        if (setsockopt(link->fd, IPPROTO_IP, IP_MULTICAST_IF, &request, sizeof request) != 0 ||
            setsockopt(link->fd, IPPROTO_IP, IP_ADD_MEMBERSHIP, &request, sizeof request) != 0)
            return -errno;
        return 0;
    }
    const struct sockaddr_in6 *group = (const struct sockaddr_in6 *)&link->peer.address;
    int index = (int)group->sin6_scope_id;
    struct ipv6_mreq request = {.ipv6mr_multiaddr = group->sin6_addr, .ipv6mr_interface = (unsigned)index};
    setsockopt(link->fd, IPPROTO_IPV6, IPV6_MULTICAST_LOOP, &zero, sizeof zero);
    if (setsockopt(link->fd, IPPROTO_IPV6, IPV6_MULTICAST_IF, &index, sizeof index) != 0 ||
        setsockopt(link->fd, IPPROTO_IPV6, IPV6_JOIN_GROUP, &request, sizeof request) != 0)
        return -errno;
    return 0;
}

static int open_udp(struct link *link, const struct link_config *config, bool server, char err[LINK_ERR])
{
    int ret;
    int family = AF_UNSPEC;
    if (config->udp != NULL) {
        ret = resolve(config->udp, LINK_UDP_PORT, false, AF_UNSPEC, &link->peer, err);
        if (ret != 0)
            return ret;
        family = link->peer.address.ss_family;
    }
    bool group = config->udp != NULL && is_group(&link->peer);
    struct link_peer local = {0};
    ret = resolve(config->local != NULL ? config->local : ":", server || group ? LINK_UDP_PORT : "0", true, family,
                  &local, err);
    if (ret != 0)
        return ret;
    link->fd = socket(local.address.ss_family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (link->fd < 0) {
        snprintf(err, LINK_ERR, "socket: %s", strerror(errno));
        return -errno;
    }
    int zero = 0;
    if (local.address.ss_family == AF_INET6 && family == AF_UNSPEC)
        setsockopt(link->fd, IPPROTO_IPV6, IPV6_V6ONLY, &zero, sizeof zero);
    // A forwarder takes no IP fragments: NDNLPv2 fragments in their stead.
    int discover = IP_PMTUDISC_DO;
    if (local.address.ss_family == AF_INET)
        setsockopt(link->fd, IPPROTO_IP, IP_MTU_DISCOVER, &discover, sizeof discover);
    else
        setsockopt(link->fd, IPPROTO_IPV6, IPV6_MTU_DISCOVER, &discover, sizeof discover);
    struct link_peer bound = local;
    if (group) {
        // Datagrams to the group arrive only at a socket that is bound to the group or to no address.
        ret = join_group(link, &local);
        if (ret != 0) {
            snprintf(err, LINK_ERR, "%s: cannot join: %s", config->udp, strerror(-ret));
            return ret;
        }
        uint16_t port = ((const struct sockaddr_in *)&link->peer.address)->sin_port;
        if (local.address.ss_family == AF_INET)
            *(struct sockaddr_in *)&bound.address = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = port};
        else
            *(struct sockaddr_in6 *)&bound.address = (struct sockaddr_in6){.sin6_family = AF_INET6, .sin6_port = port};
    }
    if (bind(link->fd, (const struct sockaddr *)&bound.address, bound.len) != 0) {
        snprintf(err, LINK_ERR, "%s: cannot bind: %s", config->local != NULL ? config->local : "UDP", strerror(errno));
        return -errno;
    }
    // Only the peer's datagrams, and word of an unreachable port.
    if (config->udp != NULL && !group &&
        connect(link->fd, (const struct sockaddr *)&link->peer.address, link->peer.len) != 0) {
        snprintf(err, LINK_ERR, "%s: %s", config->udp, strerror(errno));
        return -errno;
    }
    link->group = group;
    link->mtu = config->mtu != 0 ? config->mtu : local.address.ss_family == AF_INET ? 1472 : 1452;
    snprintf(link->name, sizeof link->name, "%s over UDP", config->udp != NULL ? config->udp : "any");
    return 0;
}

static int open_ether(struct link *link, const struct link_config *config, char err[LINK_ERR])
{
    uint8_t mac[6];
    memcpy(mac, ndn_group, sizeof mac);
    if (config->remote != NULL) {
        char tail;
        if (sscanf(config->remote, "%2hhx:%2hhx:%2hhx:%2hhx:%2hhx:%2hhx%c", &mac[0], &mac[1], &mac[2], &mac[3], &mac[4],
                   &mac[5], &tail) != 6) {
            snprintf(err, LINK_ERR, "%s: a MAC address like 02:00:00:00:00:01 is allowed", config->remote);
            return -EINVAL;
        }
    }
    unsigned index = if_nametoindex(config->ether);
    if (index == 0) {
        snprintf(err, LINK_ERR, "%s: no such interface", config->ether);
        return -ENODEV;
    }
    // Without a VLAN interface the kernel shows the tag only to those who listen to every protocol.
    uint16_t protocol = htons(config->vlan != 0 ? ETH_P_ALL : FRAME_ETHERTYPE_NDN);
    link->fd = socket(AF_PACKET, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, protocol);
    if (link->fd < 0) {
        snprintf(err, LINK_ERR, "packet socket: %s", strerror(errno));
        return -errno;
    }
    const struct sockaddr_ll bound = {
        .sll_family = AF_PACKET,
        .sll_protocol = protocol,
        .sll_ifindex = (int)index,
    };
    struct packet_mreq group = {.mr_ifindex = (int)index, .mr_type = PACKET_MR_MULTICAST, .mr_alen = 6};
    memcpy(group.mr_address, ndn_group, 6);
    struct ifreq request = {0}, hardware = {0};
    int one = 1;
    snprintf(request.ifr_name, sizeof request.ifr_name, "%s", config->ether);
    snprintf(hardware.ifr_name, sizeof hardware.ifr_name, "%s", config->ether);
    if (bind(link->fd, (const struct sockaddr *)&bound, sizeof bound) != 0 ||
        setsockopt(link->fd, SOL_PACKET, PACKET_ADD_MEMBERSHIP, &group, sizeof group) != 0 ||
        setsockopt(link->fd, SOL_PACKET, PACKET_AUXDATA, &one, sizeof one) != 0 ||
        ioctl(link->fd, SIOCGIFMTU, &request) != 0 || ioctl(link->fd, SIOCGIFHWADDR, &hardware) != 0) {
        snprintf(err, LINK_ERR, "%s: %s", config->ether, strerror(errno));
        return -errno;
    }
    struct sockaddr_ll peer = bound;
    peer.sll_protocol = htons(FRAME_ETHERTYPE_NDN);
    peer.sll_halen = 6;
    memcpy(peer.sll_addr, mac, 6);
    memcpy(&link->peer.address, &peer, sizeof peer);
    link->peer.len = sizeof peer;
    memcpy(link->own_mac, hardware.ifr_hwaddr.sa_data, 6);
    link->ether = true;
    link->group = (mac[0] & 1) != 0;
    link->vlan = config->vlan;
    link->mtu = config->mtu != 0 ? config->mtu : (size_t)request.ifr_mtu;
    snprintf(link->name, sizeof link->name, "%02x:%02x:%02x:%02x:%02x:%02x over %s", mac[0], mac[1], mac[2], mac[3],
             mac[4], mac[5], config->ether);
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
    ret = config->ether != NULL ? open_ether(link, config, err) : open_udp(link, config, server, err);
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
    free(link);
}

int link_fd(const struct link *link)
{
    return link->fd;
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
    if (link->ether) {
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
    if (to.len == 0)
        return -EDESTADDRREQ;
    // A connected socket takes no address.
    struct sockaddr_storage connected;
    socklen_t connected_len = sizeof connected;
    if (!link->ether && getpeername(link->fd, (struct sockaddr *)&connected, &connected_len) == 0)
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

int link_receive(struct link *link, struct link_packet *received)
{
    struct link_peer *from = &received->from;
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
    memset(from, 0, sizeof *from);
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
    const uint8_t *p = link->in;
    size_t len = (size_t)n;
    struct link_peer sender = *from;
    if (link->ether) {
        if (!ether_is_ours(link, &message, len))
            return 0;
        // What came to the group is answered to the group.
        if ((p[0] & 1) != 0 && link->group)
            from->len = 0;
        p += ETH_HLEN;
        len -= ETH_HLEN;
    } else if (link->group) {
        from->len = 0;
    }
    link->counters.frames_received++;
    const struct ndn_parse_opts opts = {.allow_trailing = link->ether};
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
