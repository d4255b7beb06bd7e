// SPDX-License-Identifier: Apache-2.0
#ifndef TEST_FUZZ_QUIC_FRAME_H
#define TEST_FUZZ_QUIC_FRAME_H

/* Frames of QUIC clients for fuzz_quic_fwd, and the judge of what comes out: code of its own, which aborts. */
#include "test/unit/fwd/quic_scene.h"

#define QUIC_FRAME_ROOM 3200
#define TUNNEL_PORT     6080

static const uint8_t client_mac[6] = {2, 0, 0, 0, 9, 1};

struct quic_from {
    bool v6;
    uint8_t host; /* of four */
    uint16_t sport;
    uint8_t vip; /* number of the service */
    uint8_t ttl;
    uint8_t tag; /* a priority tag, or one of a VLAN */
    bool no_csum;
};

static inline const struct quic_vip *quic_from_vip(const struct quic_set *set, const struct quic_from *from)
{
    unsigned i = 2u * from->vip + from->v6;
    CHECK(i < set->n_vips && set->vip[i].v6 == from->v6);
    return &set->vip[i];
}

static inline const struct quic_service *quic_from_service(const struct quic_set *set, const struct quic_from *from)
{
    return &set->service[quic_from_vip(set, from)->service];
}

/* Where the IP header begins: behind one tag at most. */
static inline size_t quic_l3(const uint8_t *frame)
{
    return scene_get16(frame + 12) == 0x8100 ? 18 : 14;
}

/* Make the checksums of a frame right, as far as its headers allow it. */
static inline void quic_frame_mend(uint8_t *frame, size_t len)
{
    size_t off = quic_l3(frame);
    uint8_t *ip = frame + off;
    if (len < off + 48)
        return;
    bool v6 = ip[0] >> 4 == 6;
    uint8_t protocol = ip[v6 ? 6 : 9], *l4 = ip + (v6 ? 40 : 20);
    size_t l4_len = len - off - (v6 ? 40 : 20), at = protocol == 17 ? 6 : 2;
    if (!v6) {
        scene_put16(ip + 10, 0);
        scene_put16(ip + 10, (uint16_t)~scene_csum(0, ip, 20));
    }
    scene_put16(l4 + at, 0);
    uint16_t sum = protocol == 1 ? scene_csum(0, l4, l4_len) : scene_l4_sum(ip, v6, protocol, l4, l4_len);
    uint16_t csum = (uint16_t)~sum;
    scene_put16(l4 + at, csum == 0 && protocol == 17 ? 0xffff : csum);
}

/* Link and IP header of a packet of the client with @p len octets of IP payload. @return octets of them */
static inline size_t quic_ip_put(uint8_t *frame, const struct port *port, const struct quic_set *set,
                                 const struct quic_from *from, uint8_t protocol, size_t len)
{
    size_t off = 14, l3 = from->v6 ? 40 : 20;
    memcpy(frame, port->mac, 6);
    memcpy(frame + 6, client_mac, 6);
    if (from->tag != 0) {
        scene_put16(frame + 12, 0x8100);
        scene_put16(frame + 14, from->host == 3 ? 9 : 0xe000);
        off = 18;
    }
    scene_put16(frame + off - 2, from->v6 ? 0x86dd : 0x0800);
    uint8_t *ip = frame + off;
    memset(ip, 0, l3);
    if (from->v6) {
        ip[0] = 0x60;
        ip[1] = 0x20;
        scene_put16(ip + 4, (uint32_t)len);
        ip[6] = protocol;
        ip[7] = from->ttl;
        memcpy(ip + 8, scene_client6, 16);
        ip[23] = (uint8_t)(1 + from->host);
        memcpy(ip + 24, quic_from_vip(set, from)->ip, 16);
    } else {
        ip[0] = 0x45;
        ip[1] = 0x03;
        scene_put16(ip + 2, (uint32_t)(20 + len));
        scene_put16(ip + 4, 0x1234);
        ip[8] = from->ttl;
        ip[9] = protocol;
        memcpy(ip + 12, scene_client4, 4);
        ip[15] = (uint8_t)(1 + from->host);
        memcpy(ip + 16, quic_from_vip(set, from)->ip, 4);
    }
    return off + l3;
}

/* A datagram of a client. @return octets of the frame */
static inline size_t quic_frame_put(uint8_t *frame, const struct port *port, const struct quic_set *set,
                                    const struct quic_from *from, const uint8_t *payload, size_t len)
{
    size_t off = quic_ip_put(frame, port, set, from, 17, 8 + len);
    uint8_t *udp = frame + off;
    scene_put16(udp, from->sport);
    scene_put16(udp + 2, be16toh(quic_from_vip(set, from)->port_be));
    scene_put16(udp + 4, (uint32_t)(8 + len));
    scene_put16(udp + 6, 0);
    memcpy(udp + 8, payload, len);
    quic_frame_mend(frame, off + 8 + len);
    if (from->no_csum)
        scene_put16(udp + 6, 0);
    return off + 8 + len;
}

/* An ICMP error that quotes what a server has sent to the client. @return octets of the frame */
static inline size_t quic_error_put(uint8_t *frame, const struct port *port, const struct quic_set *set,
                                    const struct quic_from *from, uint8_t what, const uint8_t *payload, size_t quoted)
{
    static const uint8_t types4[4] = {3, 11, 12, 8}, types6[4] = {2, 1, 3, 128};
    size_t l3 = from->v6 ? 40 : 20, len = 8 + l3 + 8 + quoted;
    size_t off = quic_ip_put(frame, port, set, from, from->v6 ? 58 : 1, len);
    uint8_t *icmp = frame + off, *quote = icmp + 8, *udp = quote + l3;
    memset(icmp, 0, 8 + l3);
    icmp[0] = (from->v6 ? types6 : types4)[what >> 1 & 3];
    icmp[1] = what >> 3 & 7;
    icmp[5] = what & 64 ? (uint8_t)quoted : 0;
    quote[0] = from->v6 ? 0x60 : 0x45;
    quote[from->v6 ? 6 : 9] = 17;
    scene_put16(quote + (from->v6 ? 4 : 2), (uint32_t)(from->v6 ? 1208 : 1228));
    // The packet's own addresses, turned around.
    const uint8_t *ip = frame + off - l3;
    size_t size = from->v6 ? 16 : 4, src = from->v6 ? 8 : 12;
    memcpy(quote + src, ip + src + size, size);
    memcpy(quote + src + size, ip + src, size);
    scene_put16(udp, be16toh(quic_from_vip(set, from)->port_be));
    scene_put16(udp + 2, from->sport);
    scene_put16(udp + 4, 1208);
    scene_put16(udp + 6, 0x5555);
    memcpy(udp + 8, payload, quoted);
    quic_frame_mend(frame, off + len);
    if (what & 128)
        frame[off + 2] ^= 1;
    return off + len;
}

/* ---- judgement ---- */

struct quic_sent {
    const uint8_t *inner; /* the client's IP packet */
    size_t inner_len, l3_len;
    bool inner_v6;
};

/* An IP packet whose header is whole. @return its octets */
static inline size_t quic_ip_read(const uint8_t *ip, size_t len, bool *v6)
{
    *v6 = ip[0] >> 4 == 6;
    if (*v6) {
        CHECK(len >= 40);
        size_t total = 40u + scene_get16(ip + 4);
        CHECK(total <= len && ip[7] > 0);
        return total;
    }
    CHECK(len >= 20 && ip[0] == 0x45 && scene_csum(0, ip, 20) == 0xffff);
    size_t total = scene_get16(ip + 2);
    CHECK(total >= 20 && total <= len && ip[8] > 0);
    return total;
}

static inline void quic_l4_judge(const uint8_t *ip, bool v6, size_t len)
{
    size_t l3 = v6 ? 40 : 20, l4_len = len - l3;
    uint8_t protocol = ip[v6 ? 6 : 9];
    const uint8_t *l4 = ip + l3;
    if (protocol == 17) {
        CHECK(l4_len >= 8 && scene_get16(l4 + 4) >= 8 && scene_get16(l4 + 4) <= l4_len);
        CHECK((scene_get16(l4 + 6) == 0 && !v6) || scene_l4_sum(ip, v6, 17, l4, scene_get16(l4 + 4)) == 0xffff);
        return;
    }
    CHECK(protocol == (v6 ? 58 : 1) && l4_len >= 8);
    CHECK((v6 ? scene_l4_sum(ip, true, 58, l4, l4_len) : scene_csum(0, l4, l4_len)) == 0xffff);
}

/* A frame to a server: what is in it, link padding and outer headers apart. */
static inline void quic_sent_read(const uint8_t *p, size_t len, const struct quic_service *service,
                                  const struct quic_server *server, const struct port *port, struct quic_sent *sent)
{
    const uint8_t *ip = p + 14;
    bool v6;
    sent->l3_len = quic_ip_read(ip, len - 14, &v6);
    CHECK(scene_get16(p + 12) == (v6 ? 0x86dd : 0x0800));
    CHECK(14 + sent->l3_len == len || len == 60 || len == 56); // less a tag
    sent->inner = ip;
    sent->inner_len = sent->l3_len;
    if (service->delivery != QUIC_DELIVER_L2) {
        size_t l3 = v6 ? 40 : 20;
        CHECK(v6 == server->v6);
        CHECK(memcmp(ip + (v6 ? 24 : 16), server->ip, v6 ? 16 : 4) == 0);
        CHECK(memcmp(ip + (v6 ? 8 : 12), v6 ? port->config.ip6 : port->config.ip4, v6 ? 16 : 4) == 0);
        CHECK(v6 || scene_get16(ip + 6) == 0x4000);
        uint8_t protocol = ip[v6 ? 6 : 9];
        sent->inner = ip + l3;
        sent->inner_len -= l3;
        if (service->delivery == QUIC_DELIVER_GUE) {
            const uint8_t *udp = sent->inner;
            CHECK(protocol == 17 && sent->inner_len > 8);
            CHECK(scene_get16(udp + 2) == TUNNEL_PORT && scene_get16(udp + 4) == sent->inner_len);
            CHECK(v6 ? scene_l4_sum(ip, true, 17, udp, sent->inner_len) == 0xffff : scene_get16(udp + 6) == 0);
            sent->inner += 8;
            sent->inner_len -= 8;
        } else {
            CHECK(protocol == (sent->inner[0] >> 4 == 6 ? 41 : 4));
        }
        CHECK(ip[v6 ? 7 : 8] == 64);
    }
    CHECK(quic_ip_read(sent->inner, sent->inner_len, &sent->inner_v6) == sent->inner_len);
    quic_l4_judge(sent->inner, sent->inner_v6, sent->inner_len);
}

/* A frame to a client: sound, from a virtual address. @return its destination address; *size: octets of the packet */
static inline const uint8_t *quic_answer_read(const uint8_t *p, size_t len, const struct quic_set *set, uint16_t *size,
                                              bool *v6)
{
    size_t off = quic_l3(p);
    const uint8_t *ip = p + off;
    size_t total = quic_ip_read(ip, len - off, v6);
    CHECK(off + total == len || len == 60);
    quic_l4_judge(ip, *v6, total);
    const uint8_t *l4 = ip + (*v6 ? 40 : 20);
    bool udp = ip[*v6 ? 6 : 9] == 17, found = false;
    for (unsigned i = 0; i < set->n_vips; i++)
        found |= set->vip[i].v6 == *v6 && memcmp(set->vip[i].ip, ip + (*v6 ? 8 : 12), *v6 ? 16 : 4) == 0 &&
                 (!udp || be16toh(set->vip[i].port_be) == scene_get16(l4));
    CHECK(found);
    if (udp) {
        // Version Negotiation or Retry, nothing else.
        struct quic_header header;
        CHECK(quic_parse(l4 + 8, scene_get16(l4 + 4) - 8u, &(struct quic_opts){0}, &header) == VERDICT_OK);
        CHECK(header.type == QUIC_TYPE_VERSION_NEGOTIATION || header.type == QUIC_TYPE_RETRY);
    } else {
        CHECK(*v6 ? l4[0] == 2 && l4[1] == 0 && total <= 1280 : l4[0] == 3 && l4[1] == 4 && total <= 576);
        CHECK(scene_get16(l4 + 6) >= (*v6 ? 1280 : 68));
    }
    *size = (uint16_t)total;
    return ip + (*v6 ? 24 : 16);
}

#endif
