// SPDX-License-Identifier: Apache-2.0
#include "ports/netlink.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <linux/if_link.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <string.h>
#include <sys/socket.h>

static char buffer[1024] __attribute__((aligned(8)));

static struct nlmsghdr *link_message(uint16_t type, uint8_t family)
{
    memset(buffer, 0, sizeof buffer);
    struct nlmsghdr *nlh = mnl_nlmsg_put_header(buffer);
    nlh->nlmsg_type = type;
    struct ifinfomsg *info = mnl_nlmsg_put_extra_header(nlh, sizeof *info);
    info->ifi_family = family;
    info->ifi_index = 7;
    info->ifi_flags = IFF_UP | IFF_RUNNING;
    return nlh;
}

static struct nlmsghdr *neigh_message(uint16_t type, uint8_t family)
{
    memset(buffer, 0, sizeof buffer);
    struct nlmsghdr *nlh = mnl_nlmsg_put_header(buffer);
    nlh->nlmsg_type = type;
    struct ndmsg *ndm = mnl_nlmsg_put_extra_header(nlh, sizeof *ndm);
    ndm->ndm_family = family;
    ndm->ndm_ifindex = 9;
    ndm->ndm_state = NUD_REACHABLE;
    return nlh;
}

Test(netlink, link_message_is_read)
{
    struct nlmsghdr *nlh = link_message(RTM_NEWLINK, AF_UNSPEC);
    mnl_attr_put_strz(nlh, IFLA_IFNAME, "eth0");
    mnl_attr_put_u32(nlh, IFLA_MTU, 9000);
    struct netlink_link link;
    cr_assert(netlink_parse_link(nlh, &link));
    cr_assert_eq(link.index, 7);
    cr_assert_eq(link.flags, IFF_UP | IFF_RUNNING);
    cr_assert_eq(link.mtu, 9000);
    cr_assert_eq(link.vlan, 0);
    cr_assert_str_eq(link.name, "eth0");
}

Test(netlink, vlan_interface_tells_its_id_and_the_interface_below)
{
    for (int kind_first = 0; kind_first < 2; kind_first++) {
        struct nlmsghdr *nlh = link_message(RTM_NEWLINK, AF_UNSPEC);
        mnl_attr_put_strz(nlh, IFLA_IFNAME, "eth0.42");
        mnl_attr_put_u32(nlh, IFLA_LINK, 3);
        struct nlattr *info = mnl_attr_nest_start(nlh, IFLA_LINKINFO);
        if (kind_first) {
            mnl_attr_put_strz(nlh, IFLA_INFO_KIND, "vlan");
        }
        struct nlattr *data = mnl_attr_nest_start(nlh, IFLA_INFO_DATA);
        mnl_attr_put_u16(nlh, IFLA_VLAN_ID, 42);
        mnl_attr_nest_end(nlh, data);
        if (!kind_first) {
            mnl_attr_put_strz(nlh, IFLA_INFO_KIND, "vlan");
        }
        mnl_attr_nest_end(nlh, info);
        struct netlink_link link;
        cr_assert(netlink_parse_link(nlh, &link));
        cr_assert_eq(link.vlan, 42);
        cr_assert_eq(link.lower, 3);
    }
}

Test(netlink, another_kind_of_interface_is_no_vlan)
{
    struct nlmsghdr *nlh = link_message(RTM_NEWLINK, AF_UNSPEC);
    struct nlattr *info = mnl_attr_nest_start(nlh, IFLA_LINKINFO);
    mnl_attr_put_strz(nlh, IFLA_INFO_KIND, "vxlan");
    struct nlattr *data = mnl_attr_nest_start(nlh, IFLA_INFO_DATA);
    mnl_attr_put_u16(nlh, IFLA_VLAN_ID, 42); /* the number means something else there */
    mnl_attr_nest_end(nlh, data);
    mnl_attr_nest_end(nlh, info);
    struct netlink_link link;
    cr_assert(netlink_parse_link(nlh, &link));
    cr_assert_eq(link.vlan, 0);
}

Test(netlink, messages_of_a_bridge_and_others_are_not_links)
{
    struct netlink_link link;
    cr_assert_not(netlink_parse_link(link_message(RTM_DELLINK, AF_BRIDGE), &link));
    cr_assert_not(netlink_parse_link(link_message(RTM_NEWADDR, AF_UNSPEC), &link));
    struct nlmsghdr *nlh = link_message(RTM_NEWLINK, AF_UNSPEC);
    nlh->nlmsg_len = MNL_NLMSG_HDRLEN + 4;
    cr_assert_not(netlink_parse_link(nlh, &link));
}

Test(netlink, attributes_of_a_wrong_length_are_not_used)
{
    struct nlmsghdr *nlh = link_message(RTM_NEWLINK, AF_UNSPEC);
    mnl_attr_put_u8(nlh, IFLA_MTU, 200);
    mnl_attr_put_strz(nlh, IFLA_IFNAME, "a name that no interface can have");
    struct netlink_link link;
    cr_assert(netlink_parse_link(nlh, &link));
    cr_assert_eq(link.mtu, 0);
    cr_assert_str_eq(link.name, "");

    nlh = neigh_message(RTM_NEWNEIGH, AF_INET);
    mnl_attr_put(nlh, NDA_DST, 16, "0123456789abcdef");
    struct netlink_neigh neigh;
    cr_assert_not(netlink_parse_neigh(nlh, &neigh));
    nlh = neigh_message(RTM_NEWNEIGH, AF_INET);
    mnl_attr_put(nlh, NDA_DST, 4, "\x0a\x00\x00\x02");
    mnl_attr_put(nlh, NDA_LLADDR, 8, "12345678"); /* not Ethernet */
    cr_assert(netlink_parse_neigh(nlh, &neigh));
    cr_assert_not(neigh.has_mac);
}

Test(netlink, neighbour_message_is_read)
{
    for (int v6 = 0; v6 < 2; v6++) {
        struct nlmsghdr *nlh = neigh_message(v6 ? RTM_DELNEIGH : RTM_NEWNEIGH, v6 ? AF_INET6 : AF_INET);
        mnl_attr_put(nlh, NDA_DST, v6 ? 16 : 4, "0123456789abcdef");
        mnl_attr_put(nlh, NDA_LLADDR, 6, "\x02\x00\x00\x00\x00\x05");
        struct netlink_neigh neigh;
        cr_assert(netlink_parse_neigh(nlh, &neigh));
        cr_assert_eq(neigh.ifindex, 9);
        cr_assert_eq(neigh.state, NUD_REACHABLE);
        cr_assert(neigh.has_mac);
        cr_assert_eq(memcmp(neigh.mac, "\x02\x00\x00\x00\x00\x05", 6), 0);
        cr_assert_eq(memcmp(neigh.ip, "0123456789abcdef", v6 ? 16 : 4), 0);
    }
    struct netlink_neigh neigh;
    cr_assert_not(netlink_parse_neigh(neigh_message(RTM_NEWNEIGH, AF_BRIDGE), &neigh));
}

/* Loopback is everywhere. */
Test(netlink, kernel_is_asked_about_loopback)
{
    struct mnl_socket *nl = NULL;
    cr_assert_eq(netlink_open(&nl, false), 0);
    unsigned lo = if_nametoindex("lo");
    struct netlink_link link;
    cr_assert_eq(netlink_link(nl, lo, &link), 0);
    cr_assert_str_eq(link.name, "lo");
    cr_assert_eq(netlink_link(nl, 0x7ffffff0, &link), -ENODEV);
    struct netlink_neigh neigh;
    cr_assert_lt(netlink_neigh_get(nl, AF_INET, lo, (const uint8_t *)"\xcb\x00\x71\x09", &neigh), 0);
    mnl_socket_close(nl);
}

Test(netlink, way_to_this_host_itself_leads_to_no_neighbour)
{
    struct mnl_socket *nl;
    struct netlink_route route;
    static const uint8_t ip4[4] = {127, 0, 0, 1}, ip6[16] = {[15] = 1};
    cr_assert_eq(netlink_open(&nl, false), 0);
    cr_assert_eq(netlink_route(nl, AF_INET, 0, ip4, &route), 0);
    cr_expect_not(route.unicast);
    cr_expect_not(route.has_gateway);
    cr_expect(route.has_source && memcmp(route.source, ip4, 4) == 0);
    cr_expect_eq(route.ifindex, if_nametoindex("lo"));
    if (netlink_route(nl, AF_INET6, 0, ip6, &route) == 0) {
        cr_expect_not(route.unicast);
    }
    static const uint8_t group[4] = {224, 0, 23, 170};
    if (netlink_route(nl, AF_INET, 0, group, &route) == 0) {
        cr_expect_not(route.unicast);
    }
    mnl_socket_close(nl);
}
