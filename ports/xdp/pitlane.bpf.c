// SPDX-License-Identifier: Apache-2.0
/*
 * Redirects frames that carry NDN, or QUIC for one of our virtual addresses, to the AF_XDP socket of their queue and
 * leaves all others to the kernel, so that ARP, ping and ssh keep working on the interface. It only sorts: whatever it
 * redirects is parsed and checked in full by the daemon.
 */
#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/in.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/udp.h>

#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#include "ports/xdp/xdp_abi.h"

#define ETHERTYPE_NDN 0x8624
#define VLAN_TAGS_MAX 2
#define IP_MF_OFFSET  0x3fff /* More Fragments, and the offset */

/* RFC 792, RFC 4443: errors, which quote the packet that they are about. Of ICMPv6 those are the types below 128. */
#define ICMP_UNREACHABLE   3
#define ICMP_TIME_EXCEEDED 11
#define ICMP_PARAMETER     12
#define ICMP6_FIRST_INFO   128

struct icmp {
    __u8 type, code;
    __be16 checksum;
    __be32 rest;
};

struct vlan_tag {
    __be16 tci;
    __be16 ethertype;
};

struct {
    __uint(type, BPF_MAP_TYPE_XSKMAP);
    __uint(max_entries, XDP_QUEUES_MAX);
    __type(key, __u32);
    __type(value, __u32);
} xsks_map SEC(".maps"); /* net_af_xdp looks for this name */

struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, 1);
    __type(key, __u32);
    __type(value, struct xdp_conf);
} pitlane_conf SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, XDP_VIPS_MAX);
    __type(key, struct xdp_vip);
    __type(value, __u8);
} pitlane_vips SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, XDP_COUNTERS);
    __type(key, __u32);
    __type(value, __u64);
} pitlane_stats SEC(".maps");

static __always_inline void count(__u32 counter)
{
    __u64 *value = bpf_map_lookup_elem(&pitlane_stats, &counter);
    if (value) {
        (*value)++;
    }
}

static __always_inline int pass(void)
{
    count(XDP_COUNT_PASSED);
    return XDP_PASS;
}

/* Without a socket on this queue: the kernel's while the daemon starts, lost and counted while it runs. */
static __always_inline int redirect(struct xdp_md *ctx, const struct xdp_conf *conf)
{
    int action = bpf_redirect_map(&xsks_map, ctx->rx_queue_index, conf->active ? XDP_DROP : XDP_PASS);
    count(action == XDP_REDIRECT ? XDP_COUNT_REDIRECTED : action == XDP_PASS ? XDP_COUNT_PASSED : XDP_COUNT_DROPPED);
    return action;
}

static __always_inline int is_our_port(const struct xdp_conf *conf, __be16 port)
{
#pragma unroll
    for (int i = 0; i < XDP_UDP_PORTS_MAX; i++) {
        if (conf->udp_port_be[i] == port && port != 0) {
            return 1;
        }
    }
    return 0;
}

/* The UDP header at @p l3, IPv4 without options that is no fragment, or IPv6 without extension headers; else NULL. */
static __always_inline struct udphdr *find_udp(void *l3, void *end, __be16 ethertype)
{
    if (ethertype == bpf_htons(ETH_P_IP)) {
        struct iphdr *ip = l3;
        if ((void *)(ip + 1) > end || ip->version != 4 || ip->ihl != 5 || ip->protocol != IPPROTO_UDP ||
            (ip->frag_off & bpf_htons(IP_MF_OFFSET)) != 0) {
            return NULL;
        }
        return (struct udphdr *)(ip + 1);
    }
    if (ethertype == bpf_htons(ETH_P_IPV6)) {
        struct ipv6hdr *ip = l3;
        if ((void *)(ip + 1) > end || ip->version != 6 || ip->nexthdr != IPPROTO_UDP) {
            return NULL;
        }
        return (struct udphdr *)(ip + 1);
    }
    return NULL;
}

static __always_inline int is_vip(const struct xdp_vip *vip)
{
    return bpf_map_lookup_elem(&pitlane_vips, vip) != NULL;
}

static __always_inline int is_error4(__u8 type)
{
    return type == ICMP_UNREACHABLE || type == ICMP_TIME_EXCEEDED || type == ICMP_PARAMETER;
}

static __always_inline int is_error6(__u8 type)
{
    return type < ICMP6_FIRST_INFO;
}

/*
 * QUIC to a virtual address, or an ICMP error to it that quotes a UDP datagram from its port: of the same shapes as
 * find_udp(). Everything else to it is the kernel's, ping too.
 */
static __always_inline int is_quic(const struct xdp_conf *conf, void *l3, void *end, __be16 ethertype)
{
    struct xdp_vip vip = {};
    void *l4;
    __u8 protocol;
    if (!conf->has_vips) {
        return 0;
    }
    if (ethertype == bpf_htons(ETH_P_IP)) {
        struct iphdr *ip = l3;
        if ((void *)(ip + 1) > end || ip->version != 4 || ip->ihl != 5 ||
            (ip->frag_off & bpf_htons(IP_MF_OFFSET)) != 0) {
            return 0;
        }
        vip.version = 4;
        vip.ip[0] = ip->daddr;
        protocol = ip->protocol;
        l4 = ip + 1;
    } else if (ethertype == bpf_htons(ETH_P_IPV6)) {
        struct ipv6hdr *ip = l3;
        if ((void *)(ip + 1) > end || ip->version != 6) {
            return 0;
        }
        vip.version = 6;
        __builtin_memcpy(vip.ip, &ip->daddr, sizeof vip.ip);
        protocol = ip->nexthdr;
        l4 = ip + 1;
    } else {
        return 0;
    }
    if (protocol == IPPROTO_UDP) {
        struct udphdr *udp = l4;
        if ((void *)(udp + 1) > end || udp->dest == 0) {
            return 0;
        }
        vip.port_be = udp->dest;
        return is_vip(&vip);
    }
    struct icmp *icmp = l4;
    struct udphdr *udp = NULL;
    if ((void *)(icmp + 1) > end) {
        return 0;
    }
    if (protocol == IPPROTO_ICMP && vip.version == 4 && is_error4(icmp->type)) {
        udp = find_udp(icmp + 1, end, bpf_htons(ETH_P_IP));
    } else if (protocol == IPPROTO_ICMPV6 && vip.version == 6 && is_error6(icmp->type)) {
        udp = find_udp(icmp + 1, end, bpf_htons(ETH_P_IPV6));
    }
    if (!udp || (void *)(udp + 1) > end) {
        return 0;
    }
    vip.port_be = udp->source;
    return is_vip(&vip);
}

SEC("xdp")
int pitlane_xdp(struct xdp_md *ctx)
{
    void *data = (void *)(long)ctx->data, *end = (void *)(long)ctx->data_end;
    __u32 zero = 0;
    const struct xdp_conf *conf = bpf_map_lookup_elem(&pitlane_conf, &zero);
    struct ethhdr *eth = data;
    if (!conf || (void *)(eth + 1) > end) {
        return pass();
    }
    __be16 ethertype = eth->h_proto;
    void *l3 = eth + 1;
#pragma unroll
    for (int i = 0; i < VLAN_TAGS_MAX; i++) {
        if (ethertype != bpf_htons(ETH_P_8021Q) && ethertype != bpf_htons(ETH_P_8021AD)) {
            break;
        }
        struct vlan_tag *tag = l3;
        if ((void *)(tag + 1) > end) {
            return pass();
        }
        ethertype = tag->ethertype;
        l3 = tag + 1;
    }
    if (ethertype == bpf_htons(ETHERTYPE_NDN)) {
        return redirect(ctx, conf);
    }
    struct udphdr *udp = find_udp(l3, end, ethertype);
    if (udp && (void *)(udp + 1) <= end && is_our_port(conf, udp->dest)) {
        return redirect(ctx, conf);
    }
    return is_quic(conf, l3, end, ethertype) ? redirect(ctx, conf) : pass();
}

char LICENSE[] SEC("license") = "Apache-2.0"; /* none of the helpers is for GPL programs only */
