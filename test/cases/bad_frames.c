// SPDX-License-Identifier: Apache-2.0
/* Whole Ethernet frames for the rows that are about Ethernet, VLAN, IP and UDP headers. */
#include "test/cases/bad_inputs.h"

#include <string.h>

#define ETHER_HEADER 14
#define IPV4_HEADER  20
#define IPV6_HEADER  40
#define UDP_HEADER   8

static const uint8_t interest[] = {0x05, 0x0b, 0x07, 0x03, 0x08, 0x01, 0x41, 0x0a, 0x04, 0x01, 0x02, 0x03, 0x04};

static void put16(uint8_t *p, unsigned v)
{
    p[0] = (uint8_t)(v >> 8);
    p[1] = (uint8_t)v;
}

static unsigned get16(const uint8_t *p)
{
    return (unsigned)p[0] << 8 | p[1];
}

/** RFC 1071 as the text has it, octet pair by octet pair: it shares nothing with the code under test. */
static unsigned checksum(unsigned sum, const uint8_t *p, size_t len)
{
    for (size_t i = 0; i < len; i++)
        sum += (unsigned)p[i] << (i % 2 == 0 ? 8 : 0);
    while (sum > 0xffff)
        sum = (sum & 0xffff) + (sum >> 16);
    return sum;
}

static void put_ether(struct frame_builder *b, unsigned ethertype)
{
    memcpy(b->frame, b->addrs->our_mac, 6);
    memcpy(b->frame + 6, b->addrs->peer_mac, 6);
    put16(b->frame + 12, ethertype);
    b->len = ETHER_HEADER;
    b->ip_off = b->udp_off = 0;
}

static void put_udp(struct frame_builder *b, uint16_t sport, uint16_t dport, const uint8_t *payload, size_t len)
{
    uint8_t *udp = b->frame + b->len;
    b->udp_off = b->len;
    put16(udp, sport);
    put16(udp + 2, dport);
    put16(udp + 4, (unsigned)(UDP_HEADER + len));
    put16(udp + 6, 0);
    memcpy(udp + UDP_HEADER, payload, len);
    b->len += UDP_HEADER + len;
}

void frame_build_ether(struct frame_builder *b, const uint8_t *payload, size_t len)
{
    put_ether(b, 0x8624);
    memcpy(b->frame + ETHER_HEADER, payload, len);
    b->len += len;
}

void frame_build_udp4(struct frame_builder *b, uint16_t sport, uint16_t dport, const uint8_t *payload, size_t len)
{
    put_ether(b, 0x0800);
    uint8_t *ip = b->frame + ETHER_HEADER;
    b->ip_off = ETHER_HEADER;
    memset(ip, 0, IPV4_HEADER);
    ip[0] = 0x45;
    put16(ip + 2, (unsigned)(IPV4_HEADER + UDP_HEADER + len));
    ip[8] = 64;
    ip[9] = 17;
    memcpy(ip + 12, b->addrs->peer_ip4, 4);
    memcpy(ip + 16, b->addrs->our_ip4, 4);
    b->len += IPV4_HEADER;
    put_udp(b, sport, dport, payload, len);
}

void frame_build_udp6(struct frame_builder *b, uint16_t sport, uint16_t dport, const uint8_t *payload, size_t len)
{
    put_ether(b, 0x86dd);
    uint8_t *ip = b->frame + ETHER_HEADER;
    b->ip_off = ETHER_HEADER;
    memset(ip, 0, IPV6_HEADER);
    ip[0] = 0x60;
    put16(ip + 4, (unsigned)(UDP_HEADER + len));
    ip[6] = 17;
    ip[7] = 64;
    memcpy(ip + 8, b->addrs->peer_ip6, 16);
    memcpy(ip + 24, b->addrs->our_ip6, 16);
    b->len += IPV6_HEADER;
    put_udp(b, sport, dport, payload, len);
}

void frame_build_tag(struct frame_builder *b, uint16_t tpid, uint16_t tci)
{
    memmove(b->frame + 16, b->frame + 12, b->len - 12);
    put16(b->frame + 12, tpid);
    put16(b->frame + 14, tci);
    b->len += 4;
    b->ip_off += b->ip_off > 0 ? 4 : 0;
    b->udp_off += b->udp_off > 0 ? 4 : 0;
}

void frame_build_checksums(struct frame_builder *b)
{
    if (b->ip_off == 0)
        return;
    uint8_t *ip = b->frame + b->ip_off;
    bool v4 = b->udp_off - b->ip_off < IPV6_HEADER;
    if (v4 && !b->keep_ip_csum) {
        put16(ip + 10, 0);
        put16(ip + 10, ~checksum(0, ip, b->udp_off - b->ip_off) & 0xffff);
    }
    if (b->keep_udp_csum)
        return;
    uint8_t *udp = b->frame + b->udp_off;
    size_t udp_len = get16(udp + 4), room = b->len - b->udp_off;
    put16(udp + 6, 0);
    unsigned sum = v4 ? checksum(0, ip + 12, 8) : checksum(0, ip + 8, 32);
    sum = checksum(sum + 17 + (unsigned)udp_len, udp, udp_len < room ? udp_len : room);
    put16(udp + 6, sum == 0xffff ? 0xffff : ~sum & 0xffff);
}

static uint8_t *base_ether(struct frame_builder *b)
{
    frame_build_ether(b, interest, sizeof interest);
    return b->frame;
}

/** @return the IPv4 header */
static uint8_t *base_udp4(struct frame_builder *b)
{
    frame_build_udp4(b, b->addrs->ndn_port, b->addrs->ndn_port, interest, sizeof interest);
    return b->frame + b->ip_off;
}

/** @return the IPv6 header */
static uint8_t *base_udp6(struct frame_builder *b)
{
    frame_build_udp6(b, b->addrs->ndn_port, b->addrs->ndn_port, interest, sizeof interest);
    return b->frame + b->ip_off;
}

/** Set an IPv4 address, source at 12 or destination at 16, in an otherwise good datagram. */
static void udp4_address(struct frame_builder *b, size_t at, uint8_t a0, uint8_t a1, uint8_t a2, uint8_t a3)
{
    const uint8_t address[4] = {a0, a1, a2, a3};
    memcpy(base_udp4(b) + at, address, 4);
}

void bad_frame_runt_1(struct frame_builder *b)
{
    base_ether(b);
    b->len = 1;
}

void bad_frame_runt_13(struct frame_builder *b)
{
    base_ether(b);
    b->len = 13;
}

void bad_frame_no_payload(struct frame_builder *b)
{
    base_ether(b);
    b->len = ETHER_HEADER;
}

/** Another forwarder takes these eight octets for a header of its own with a face number in it. */
void bad_frame_all_ones_header(struct frame_builder *b)
{
    memset(base_ether(b), 0xff, 8);
}

void bad_frame_vlan_other(struct frame_builder *b)
{
    base_ether(b);
    frame_build_tag(b, 0x8100, b->addrs->vlan);
}

void bad_frame_vlan_priority(struct frame_builder *b)
{
    base_ether(b);
    frame_build_tag(b, 0x8100, 0xe000);
}

void bad_frame_vlan_reserved(struct frame_builder *b)
{
    base_ether(b);
    frame_build_tag(b, 0x8100, 0x0fff);
}

void bad_frame_vlan_qinq(struct frame_builder *b)
{
    base_ether(b);
    frame_build_tag(b, 0x8100, b->addrs->vlan);
    frame_build_tag(b, 0x88a8, b->addrs->vlan);
}

void bad_frame_vlan_three(struct frame_builder *b)
{
    bad_frame_vlan_qinq(b);
    frame_build_tag(b, 0x88a8, b->addrs->vlan);
}

void bad_frame_vlan_cut(struct frame_builder *b)
{
    bad_frame_vlan_qinq(b);
    b->len = 20;
}

void bad_frame_src_multicast(struct frame_builder *b)
{
    base_ether(b)[6] |= 1;
}

void bad_frame_src_broadcast(struct frame_builder *b)
{
    memset(base_ether(b) + 6, 0xff, 6);
}

void bad_frame_src_zero(struct frame_builder *b)
{
    memset(base_ether(b) + 6, 0, 6);
}

void bad_frame_other_mac(struct frame_builder *b)
{
    base_ether(b)[5] ^= 0x80;
}

void bad_frame_arp(struct frame_builder *b)
{
    put16(base_ether(b) + 12, 0x0806);
}

void bad_frame_ip4_version_6(struct frame_builder *b)
{
    base_udp4(b)[0] = 0x65;
}

void bad_frame_ip6_version_4(struct frame_builder *b)
{
    base_udp6(b)[0] = 0x45;
}

/** 40 octets of options (no-operation), the right UDP header behind them. */
void bad_frame_ip4_options(struct frame_builder *b)
{
    uint8_t *ip = base_udp4(b);
    memmove(ip + 60, ip + IPV4_HEADER, UDP_HEADER + sizeof interest);
    memset(ip + IPV4_HEADER, 1, 40);
    ip[0] = 0x4f;
    b->len += 40;
    b->udp_off += 40;
    put16(ip + 2, get16(ip + 2) + 40);
    // With options the header is as long as an IPv6 header, so the builder cannot tell them apart.
    put16(ip + 10, 0);
    put16(ip + 10, ~checksum(0, ip, 60) & 0xffff);
    b->keep_ip_csum = b->keep_udp_csum = true;
}

void bad_frame_ip4_ihl_small(struct frame_builder *b)
{
    base_udp4(b)[0] = 0x44;
}

void bad_frame_ip4_ihl_over_total(struct frame_builder *b)
{
    uint8_t *ip = base_udp4(b);
    ip[0] = 0x4f;
    put16(ip + 2, 41);
}

void bad_frame_ip4_total_over_frame(struct frame_builder *b)
{
    uint8_t *ip = base_udp4(b);
    put16(ip + 2, get16(ip + 2) + 1);
}

void bad_frame_ip4_total_small(struct frame_builder *b)
{
    put16(base_udp4(b) + 2, 27);
}

void bad_frame_ip4_padded(struct frame_builder *b)
{
    base_udp4(b);
    memset(b->frame + b->len, 0, 6);
    b->len += 6;
}

void bad_frame_ip4_first_fragment(struct frame_builder *b)
{
    base_udp4(b)[6] = 0x20;
}

void bad_frame_ip4_later_fragment(struct frame_builder *b)
{
    base_udp4(b)[7] = 3;
}

/** One octet at an offset inside the header of the first fragment, as teardrop sends them. */
void bad_frame_ip4_tiny_fragment(struct frame_builder *b)
{
    uint8_t *ip = base_udp4(b);
    put16(ip + 2, 28);
    put16(ip + 6, 0x2001);
    b->len = b->udp_off + UDP_HEADER;
    put16(b->frame + b->udp_off + 4, UDP_HEADER);
}

void bad_frame_ip4_src_zero(struct frame_builder *b)
{
    udp4_address(b, 12, 0, 0, 0, 0);
}

void bad_frame_ip4_src_loopback(struct frame_builder *b)
{
    udp4_address(b, 12, 127, 0, 0, 1);
}

void bad_frame_ip4_src_multicast(struct frame_builder *b)
{
    udp4_address(b, 12, 224, 0, 23, 170);
}

void bad_frame_ip4_src_broadcast(struct frame_builder *b)
{
    udp4_address(b, 12, 255, 255, 255, 255);
}

void bad_frame_ip4_src_ours(struct frame_builder *b)
{
    memcpy(base_udp4(b) + 12, b->addrs->our_ip4, 4);
}

void bad_frame_ip4_dst_broadcast(struct frame_builder *b)
{
    udp4_address(b, 16, 255, 255, 255, 255);
}

void bad_frame_ip4_dst_directed(struct frame_builder *b)
{
    memset(base_udp4(b) + 19, 255, 1);
}

void bad_frame_ip4_bad_csum(struct frame_builder *b)
{
    base_udp4(b);
    frame_build_checksums(b);
    b->frame[b->ip_off + 10] ^= 1;
    b->keep_ip_csum = true;
}

void bad_frame_ip4_tcp(struct frame_builder *b)
{
    base_udp4(b)[9] = 6;
}

void bad_frame_ip4_icmp(struct frame_builder *b)
{
    base_udp4(b)[9] = 1;
}

void bad_frame_ip4_udplite(struct frame_builder *b)
{
    base_udp4(b)[9] = 136;
}

/** Put an 8-octet extension header of this number between IPv6 and UDP. */
static void udp6_extension(struct frame_builder *b, uint8_t number)
{
    uint8_t *ip = base_udp6(b), *ext = ip + IPV6_HEADER;
    memmove(ext + 8, ext, UDP_HEADER + sizeof interest);
    memset(ext, 0, 8);
    ext[0] = ip[6];
    ip[6] = number;
    b->len += 8;
    b->udp_off += 8;
    put16(ip + 4, get16(ip + 4) + 8);
}

/** An atomic fragment: a fragment header that says "all of it". */
void bad_frame_ip6_fragment(struct frame_builder *b)
{
    udp6_extension(b, 44);
}

void bad_frame_ip6_hop_by_hop(struct frame_builder *b)
{
    udp6_extension(b, 0);
}

void bad_frame_ip6_payload_over_frame(struct frame_builder *b)
{
    uint8_t *ip = base_udp6(b);
    put16(ip + 4, get16(ip + 4) + 1);
}

void bad_frame_ip6_src_multicast(struct frame_builder *b)
{
    base_udp6(b)[8] = 0xff;
}

void bad_frame_ip6_dst_loopback(struct frame_builder *b)
{
    uint8_t *dst = base_udp6(b) + 24;
    memset(dst, 0, 15);
    dst[15] = 1;
}

void bad_frame_udp4_len_0(struct frame_builder *b)
{
    base_udp4(b);
    put16(b->frame + b->udp_off + 4, 0);
    b->keep_udp_csum = true;
}

void bad_frame_udp4_len_7(struct frame_builder *b)
{
    base_udp4(b);
    put16(b->frame + b->udp_off + 4, 7);
    b->keep_udp_csum = true;
}

void bad_frame_udp4_len_over_ip(struct frame_builder *b)
{
    base_udp4(b);
    put16(b->frame + b->udp_off + 4, UDP_HEADER + sizeof interest + 1);
}

void bad_frame_udp4_len_under_ip(struct frame_builder *b)
{
    uint8_t *ip = base_udp4(b);
    memset(b->frame + b->len, 0xee, 5);
    b->len += 5;
    put16(ip + 2, get16(ip + 2) + 5);
}

void bad_frame_udp4_empty(struct frame_builder *b)
{
    frame_build_udp4(b, b->addrs->ndn_port, b->addrs->ndn_port, interest, 0);
}

void bad_frame_udp4_bad_csum(struct frame_builder *b)
{
    base_udp4(b);
    frame_build_checksums(b);
    b->frame[b->len - 1] ^= 1;
    b->keep_udp_csum = true;
}

void bad_frame_udp4_no_csum(struct frame_builder *b)
{
    base_udp4(b);
    b->keep_udp_csum = true;
}

void bad_frame_udp6_bad_csum(struct frame_builder *b)
{
    base_udp6(b);
    frame_build_checksums(b);
    b->frame[b->len - 1] ^= 1;
    b->keep_udp_csum = true;
}

void bad_frame_udp6_no_csum(struct frame_builder *b)
{
    base_udp6(b);
    b->keep_udp_csum = true;
}

static const uint8_t short_header[43] = {0x40, 0x07, 0x20, 0xb1, 0xd0, 0x7b, 0x35, 0x9d, 0x3c, 0x11};

/** "Fragmentation needed" about a datagram of which only the UDP header is quoted: no connection ID inside. */
void bad_frame_icmp_quoting_quic(struct frame_builder *b)
{
    uint8_t quoted[8 + IPV4_HEADER + UDP_HEADER] = {3, 4};
    uint8_t *ip = base_udp4(b);
    memcpy(quoted + 8, ip, IPV4_HEADER + UDP_HEADER);
    memcpy(quoted + 8 + 12, b->addrs->our_ip4, 4);
    memcpy(quoted + 8 + 16, b->addrs->peer_ip4, 4);
    put16(quoted + 8 + IPV4_HEADER, b->addrs->quic_port);
    put16(quoted + 2, ~checksum(0, quoted, sizeof quoted) & 0xffff);
    memcpy(ip + IPV4_HEADER, quoted, sizeof quoted);
    ip[9] = 1;
    put16(ip + 2, IPV4_HEADER + sizeof quoted);
    b->len = ETHER_HEADER + IPV4_HEADER + sizeof quoted;
    b->keep_udp_csum = true;
}

void bad_frame_quic_sport_0(struct frame_builder *b)
{
    frame_build_udp4(b, 0, b->addrs->quic_port, short_header, sizeof short_header);
}

void bad_frame_quic_from_ourselves(struct frame_builder *b)
{
    frame_build_udp4(b, b->addrs->quic_port, b->addrs->quic_port, short_header, sizeof short_header);
    memcpy(b->frame + b->ip_off + 12, b->addrs->our_ip4, 4);
}
