// SPDX-License-Identifier: Apache-2.0
#include "ports/netlink.h"

#include <errno.h>
#include <linux/if_link.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>

/* libmnl's loops over attributes cast const away. */
#pragma GCC diagnostic ignored "-Wcast-qual"

#define EVENT_BUFFER (4 << 20) /* octets of events that may wait for us */

static size_t address_len(uint8_t family)
{
    return family == AF_INET ? 4 : 16;
}

/* Attributes are taken only with the length that their meaning needs: mnl_attr_get_*() do not look. */
static bool has_len(const struct nlattr *attr, size_t len)
{
    return mnl_attr_get_payload_len(attr) == len;
}

static void parse_vlan(const struct nlattr *linkinfo, struct netlink_link *link)
{
    const struct nlattr *attr, *data = NULL;
    bool is_vlan = false;
    mnl_attr_for_each_nested(attr, linkinfo)
    {
        if (mnl_attr_get_type(attr) == IFLA_INFO_KIND) {
            is_vlan =
                mnl_attr_get_payload_len(attr) >= sizeof "vlan" && memcmp(mnl_attr_get_payload(attr), "vlan", 5) == 0;
        } else if (mnl_attr_get_type(attr) == IFLA_INFO_DATA) {
            data = attr;
        }
    }
    if (!is_vlan || data == NULL) {
        return;
    }
    mnl_attr_for_each_nested(attr, data)
    {
        if (mnl_attr_get_type(attr) == IFLA_VLAN_ID && has_len(attr, 2)) {
            link->vlan = mnl_attr_get_u16(attr);
        }
    }
}

bool netlink_parse_link(const struct nlmsghdr *nlh, struct netlink_link *link)
{
    if ((nlh->nlmsg_type != RTM_NEWLINK && nlh->nlmsg_type != RTM_DELLINK) ||
        mnl_nlmsg_get_payload_len(nlh) < sizeof(struct ifinfomsg)) {
        return false;
    }
    const struct ifinfomsg *info = mnl_nlmsg_get_payload(nlh);
    if (info->ifi_family != AF_UNSPEC) {
        return false; /* a bridge speaks of its ports with the same messages */
    }
    memset(link, 0, sizeof *link);
    link->index = (unsigned)info->ifi_index;
    link->flags = info->ifi_flags;
    const struct nlattr *attr;
    mnl_attr_for_each(attr, nlh, sizeof *info)
    {
        size_t len = mnl_attr_get_payload_len(attr);
        switch (mnl_attr_get_type(attr)) {
        case IFLA_IFNAME:
            if (len > 0 && len <= sizeof link->name) {
                memcpy(link->name, mnl_attr_get_payload(attr), len);
                link->name[len - 1] = '\0';
            }
            break;
        case IFLA_MTU:
            link->mtu = len == 4 ? mnl_attr_get_u32(attr) : 0;
            break;
        case IFLA_LINK:
            link->lower = len == 4 ? mnl_attr_get_u32(attr) : 0;
            break;
        case IFLA_LINKINFO:
            parse_vlan(attr, link);
            break;
        default:
            break;
        }
    }
    return true;
}

bool netlink_parse_neigh(const struct nlmsghdr *nlh, struct netlink_neigh *neigh)
{
    if ((nlh->nlmsg_type != RTM_NEWNEIGH && nlh->nlmsg_type != RTM_DELNEIGH) ||
        mnl_nlmsg_get_payload_len(nlh) < sizeof(struct ndmsg)) {
        return false;
    }
    const struct ndmsg *ndm = mnl_nlmsg_get_payload(nlh);
    if (ndm->ndm_family != AF_INET && ndm->ndm_family != AF_INET6) {
        return false;
    }
    memset(neigh, 0, sizeof *neigh);
    neigh->ifindex = (unsigned)ndm->ndm_ifindex;
    neigh->family = ndm->ndm_family;
    neigh->state = ndm->ndm_state;
    bool has_ip = false;
    const struct nlattr *attr;
    mnl_attr_for_each(attr, nlh, sizeof *ndm)
    {
        if (mnl_attr_get_type(attr) == NDA_DST && has_len(attr, address_len(neigh->family))) {
            memcpy(neigh->ip, mnl_attr_get_payload(attr), address_len(neigh->family));
            has_ip = true;
        } else if (mnl_attr_get_type(attr) == NDA_LLADDR && has_len(attr, 6)) {
            memcpy(neigh->mac, mnl_attr_get_payload(attr), 6);
            neigh->has_mac = true;
        }
    }
    return has_ip;
}

int netlink_open(struct mnl_socket **out, bool events)
{
    static const int groups[] = {RTNLGRP_LINK, RTNLGRP_NEIGH, RTNLGRP_IPV4_ROUTE, RTNLGRP_IPV6_ROUTE};
    struct mnl_socket *nl = mnl_socket_open2(NETLINK_ROUTE, SOCK_CLOEXEC | (events ? SOCK_NONBLOCK : 0));
    if (nl == NULL) {
        return -errno;
    }
    if (mnl_socket_bind(nl, 0, MNL_SOCKET_AUTOPID) != 0) {
        goto fail;
    }
    if (events) {
        for (size_t i = 0; i < sizeof groups / sizeof groups[0]; i++) {
            int group = groups[i];
            if (mnl_socket_setsockopt(nl, NETLINK_ADD_MEMBERSHIP, &group, sizeof group) != 0) {
                goto fail;
            }
        }
        int size = EVENT_BUFFER;
        if (setsockopt(mnl_socket_get_fd(nl), SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof size) != 0) {
            setsockopt(mnl_socket_get_fd(nl), SOL_SOCKET, SO_RCVBUF, &size, sizeof size);
        }
    } else {
        struct timeval timeout = {.tv_sec = 1}; /* the kernel answers at once; never hang on it */
        setsockopt(mnl_socket_get_fd(nl), SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout);
    }
    *out = nl;
    return 0;
fail:;
    int rc = -errno;
    mnl_socket_close(nl);
    return rc;
}

/* Send a request and give its answers to @p each until the kernel is done. */
static int transact(struct mnl_socket *nl, struct nlmsghdr *nlh, mnl_cb_t each, void *arg)
{
    static unsigned seq;
    char buffer[16384]; /* larger than any message of the kernel's */
    nlh->nlmsg_seq = ++seq;
    bool many = (nlh->nlmsg_flags & (NLM_F_DUMP | NLM_F_ACK)) != 0;
    if (mnl_socket_sendto(nl, nlh, nlh->nlmsg_len) < 0) {
        return -errno;
    }
    for (;;) {
        ssize_t len = mnl_socket_recvfrom(nl, buffer, sizeof buffer);
        if (len < 0) {
            return -errno;
        }
        const struct nlmsghdr *first = (const struct nlmsghdr *)buffer;
        if (len >= (ssize_t)sizeof *first && first->nlmsg_seq != seq) {
            continue; /* the late answer to a request that timed out */
        }
        int rc = mnl_cb_run(buffer, (size_t)len, seq, mnl_socket_get_portid(nl), each, arg);
        if (rc == MNL_CB_ERROR) {
            return -errno;
        }
        if (rc == MNL_CB_STOP || !many) {
            return 0;
        }
    }
}

struct links_arg {
    void (*each)(void *arg, const struct netlink_link *link);
    void *arg;
};

static int on_link(const struct nlmsghdr *nlh, void *data)
{
    const struct links_arg *links = data;
    struct netlink_link link;
    if (netlink_parse_link(nlh, &link)) {
        links->each(links->arg, &link);
    }
    return MNL_CB_OK;
}

int netlink_links(struct mnl_socket *nl, void (*each)(void *arg, const struct netlink_link *link), void *arg)
{
    char buffer[256] __attribute__((aligned(8)));
    struct nlmsghdr *nlh = mnl_nlmsg_put_header(buffer);
    nlh->nlmsg_type = RTM_GETLINK;
    nlh->nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
    mnl_nlmsg_put_extra_header(nlh, sizeof(struct ifinfomsg));
    struct links_arg links = {each, arg};
    return transact(nl, nlh, on_link, &links);
}

static void keep_link(void *arg, const struct netlink_link *link)
{
    *(struct netlink_link *)arg = *link;
}

int netlink_link(struct mnl_socket *nl, unsigned ifindex, struct netlink_link *link)
{
    char buffer[256] __attribute__((aligned(8)));
    struct nlmsghdr *nlh = mnl_nlmsg_put_header(buffer);
    nlh->nlmsg_type = RTM_GETLINK;
    nlh->nlmsg_flags = NLM_F_REQUEST;
    struct ifinfomsg *info = mnl_nlmsg_put_extra_header(nlh, sizeof *info);
    info->ifi_index = (int)ifindex;
    struct netlink_link found = {0};
    struct links_arg links = {keep_link, &found};
    int rc = transact(nl, nlh, on_link, &links);
    if (rc != 0) {
        return rc;
    }
    if (found.index != ifindex) {
        return -ENODEV;
    }
    *link = found;
    return 0;
}

struct route_arg {
    uint8_t family;
    struct netlink_route route;
};

static int on_route(const struct nlmsghdr *nlh, void *data)
{
    struct route_arg *arg = data;
    struct netlink_route *route = &arg->route;
    if (nlh->nlmsg_type != RTM_NEWROUTE || mnl_nlmsg_get_payload_len(nlh) < sizeof(struct rtmsg)) {
        return MNL_CB_OK;
    }
    const struct rtmsg *rtm = mnl_nlmsg_get_payload(nlh);
    route->unicast = rtm->rtm_type == RTN_UNICAST;
    size_t len = address_len(arg->family);
    const struct nlattr *attr;
    mnl_attr_for_each(attr, nlh, sizeof(struct rtmsg))
    {
        if (mnl_attr_get_type(attr) == RTA_OIF && has_len(attr, 4)) {
            route->ifindex = mnl_attr_get_u32(attr);
        } else if (mnl_attr_get_type(attr) == RTA_GATEWAY && has_len(attr, len)) {
            memcpy(route->gateway, mnl_attr_get_payload(attr), len);
            route->has_gateway = true;
        } else if (mnl_attr_get_type(attr) == RTA_PREFSRC && has_len(attr, len)) {
            memcpy(route->source, mnl_attr_get_payload(attr), len);
            route->has_source = true;
        }
    }
    return MNL_CB_OK;
}

int netlink_route(struct mnl_socket *nl, uint8_t family, unsigned ifindex, const uint8_t *ip,
                  struct netlink_route *route)
{
    char buffer[256] __attribute__((aligned(8)));
    struct nlmsghdr *nlh = mnl_nlmsg_put_header(buffer);
    nlh->nlmsg_type = RTM_GETROUTE;
    nlh->nlmsg_flags = NLM_F_REQUEST;
    struct rtmsg *rtm = mnl_nlmsg_put_extra_header(nlh, sizeof *rtm);
    rtm->rtm_family = family;
    rtm->rtm_dst_len = (uint8_t)(8 * address_len(family));
    mnl_attr_put(nlh, RTA_DST, address_len(family), ip);
    if (ifindex != 0) {
        mnl_attr_put_u32(nlh, RTA_OIF, ifindex);
    }
    struct route_arg arg = {.family = family};
    int rc = transact(nl, nlh, on_route, &arg);
    if (rc == 0) {
        *route = arg.route;
    }
    return rc;
}

int netlink_next_hop(struct mnl_socket *nl, uint8_t family, unsigned ifindex, const uint8_t *ip, uint8_t next_hop[16])
{
    struct netlink_route route;
    int rc = netlink_route(nl, family, ifindex, ip, &route);
    if (rc != 0) {
        return rc;
    }
    if (route.ifindex != ifindex) {
        return -ENETUNREACH;
    }
    memcpy(next_hop, route.has_gateway ? route.gateway : ip, address_len(family));
    return 0;
}

static int on_neigh(const struct nlmsghdr *nlh, void *data)
{
    struct netlink_neigh neigh;
    if (netlink_parse_neigh(nlh, &neigh)) {
        *(struct netlink_neigh *)data = neigh;
    }
    return MNL_CB_OK;
}

static struct nlmsghdr *neigh_request(char *buffer, uint16_t type, uint16_t flags, uint8_t family, unsigned ifindex,
                                      const uint8_t *ip, uint8_t ndm_flags)
{
    struct nlmsghdr *nlh = mnl_nlmsg_put_header(buffer);
    nlh->nlmsg_type = type;
    nlh->nlmsg_flags = NLM_F_REQUEST | flags;
    struct ndmsg *ndm = mnl_nlmsg_put_extra_header(nlh, sizeof *ndm);
    ndm->ndm_family = family;
    ndm->ndm_ifindex = (int)ifindex;
    ndm->ndm_flags = ndm_flags;
    mnl_attr_put(nlh, NDA_DST, address_len(family), ip);
    return nlh;
}

int netlink_neigh_get(struct mnl_socket *nl, uint8_t family, unsigned ifindex, const uint8_t *ip,
                      struct netlink_neigh *neigh)
{
    char buffer[256] __attribute__((aligned(8)));
    struct netlink_neigh found = {0};
    int rc = transact(nl, neigh_request(buffer, RTM_GETNEIGH, 0, family, ifindex, ip, 0), on_neigh, &found);
    if (rc != 0) {
        return rc;
    }
    if (found.ifindex != ifindex) {
        return -ENOENT;
    }
    *neigh = found;
    return 0;
}

int netlink_neigh_use(struct mnl_socket *nl, uint8_t family, unsigned ifindex, const uint8_t *ip)
{
    char buffer[256] __attribute__((aligned(8)));
    uint16_t flags = NLM_F_ACK | NLM_F_CREATE | NLM_F_REPLACE;
    return transact(nl, neigh_request(buffer, RTM_NEWNEIGH, flags, family, ifindex, ip, NTF_USE), NULL, NULL);
}
