// SPDX-License-Identifier: Apache-2.0
/* Links over UDP and over Ethernet frames: how their sockets are opened. */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "fwd/client/link_priv.h"
#include "parser/frame.h"

#define LINK_UDP_PORT "6363"

static const uint8_t ndn_group[6] = {0x01, 0x00, 0x5e, 0x00, 0x17, 0xaa};

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

int link_open_udp(struct link *link, const struct link_config *config, bool server, char err[LINK_ERR])
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
    link->kind = LINK_UDP;
    link->group = group;
    link->mtu = config->mtu != 0 ? config->mtu : local.address.ss_family == AF_INET ? 1472 : 1452;
    snprintf(link->name, sizeof link->name, "%s over UDP", config->udp != NULL ? config->udp : "any");
    return 0;
}

int link_open_ether(struct link *link, const struct link_config *config, char err[LINK_ERR])
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
    link->kind = LINK_ETHER;
    link->group = (mac[0] & 1) != 0;
    link->vlan = config->vlan;
    link->mtu = config->mtu != 0 ? config->mtu : (size_t)request.ifr_mtu;
    snprintf(link->name, sizeof link->name, "%02x:%02x:%02x:%02x:%02x:%02x over %s", mac[0], mac[1], mac[2], mac[3],
             mac[4], mac[5], config->ether);
    return 0;
}
