// SPDX-License-Identifier: Apache-2.0
#include "test/load/link.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "parser/cursor.h"
#include "parser/frame.h"

#define TYPE_IPV4 0x0800
#define TYPE_IPV6 0x86dd
#define TYPE_VLAN 0x8100
#define PROTO_UDP 17

static const uint8_t ndn_multicast[6] = {0x01, 0x00, 0x5e, 0x00, 0x17, 0xaa};

static void put_be16(uint8_t *p, unsigned number)
{
    p[0] = (uint8_t)(number >> 8);
    p[1] = (uint8_t)number;
}

static uint8_t *put_ip(struct link *link, uint8_t *p, const struct options_end *end)
{
    link->ip_off = (uint8_t)(p - link->header);
    if (end->family == AF_INET) {
        p[0] = 0x45;
        p[6] = 0x40; // may not be fragmented
        p[8] = 64;
        p[9] = PROTO_UDP;
        memcpy(p + 12, end->local_ip, 4);
        memcpy(p + 16, end->remote_ip, 4);
        p += 20;
    } else {
        p[0] = 0x60;
        p[6] = PROTO_UDP;
        p[7] = 64;
        memcpy(p + 8, end->local_ip, 16);
        memcpy(p + 24, end->remote_ip, 16);
        p += 40;
    }
    put_be16(p, end->local_udp);
    put_be16(p + 2, end->remote_udp);
    return p + 8;
}

int link_create(struct link *link, const struct options_end *end, const struct device *device)
{
    *link = (struct link){.kind = end->link, .family = end->family, .local_udp = end->local_udp};
    if (link->kind == LINK_AUTO)
        link->kind = strcmp(device->driver, "net_memif") == 0 ? LINK_BARE : LINK_ETHER;
    uint8_t *p = link->header;
    if (link->kind != LINK_BARE) {
        memcpy(p, end->has_remote_mac ? end->remote_mac : ndn_multicast, 6);
        memcpy(p + 6, end->has_local_mac ? end->local_mac : device->mac, 6);
        p += 12;
        if (end->vlan != 0) {
            put_be16(p, TYPE_VLAN);
            put_be16(p + 2, end->vlan);
            p += 4;
        }
        put_be16(p, link->kind == LINK_ETHER ? FRAME_ETHERTYPE_NDN : link->family == AF_INET ? TYPE_IPV4 : TYPE_IPV6);
        p += 2;
    }
    uint8_t *l3 = p;
    if (link->kind == LINK_UDP)
        p = put_ip(link, p, end);
    link->header_len = (uint8_t)(p - link->header);
    if (device->mtu <= p - l3) {
        fprintf(stderr, "pitlane-load: an MTU of %u is too small\n", device->mtu);
        return -EINVAL;
    }
    link->payload_max = (uint16_t)(device->mtu - (p - l3));
    return 0;
}

void link_finish(const struct link *link, uint8_t *frame, size_t packet_len)
{
    if (link->kind != LINK_UDP)
        return;
    uint8_t *ip = frame + link->ip_off, *udp;
    uint32_t sum = (uint32_t)PROTO_UDP + (uint32_t)packet_len + 8;
    if (link->family == AF_INET) {
        udp = ip + 20;
        put_be16(ip + 2, (unsigned)packet_len + 28);
        put_be16(ip + 10, 0);
        put_be16(ip + 10, ~frame_csum_add(0, ip, 20) & 0xffff);
        sum = frame_csum_add(sum, ip + 12, 8);
    } else {
        udp = ip + 40;
        put_be16(ip + 4, (unsigned)packet_len + 8);
        sum = frame_csum_add(sum, ip + 8, 32);
    }
    put_be16(udp + 4, (unsigned)packet_len + 8);
    put_be16(udp + 6, 0);
    uint32_t csum = ~frame_csum_add(sum, udp, packet_len + 8) & 0xffff;
    put_be16(udp + 6, csum != 0 ? csum : 0xffff);
}

uint8_t *link_wrap(const struct link *link, uint8_t *packet, size_t len)
{
    uint8_t *frame = packet - link->header_len;
    memcpy(frame, link->header, link->header_len);
    link_finish(link, frame, len);
    return frame;
}

int link_unwrap(const struct link *link, const uint8_t *frame, size_t len, const uint8_t **packet, size_t *packet_len)
{
    if (link->kind == LINK_BARE) {
        *packet = frame;
        *packet_len = len;
        return 0;
    }
    struct frame view;
    if (frame_parse(frame, len, &(struct frame_opts){0}, &view) != VERDICT_OK)
        return -ENOENT;
    bool ours = link->kind == LINK_ETHER
                    ? view.kind == FRAME_NDN
                    : (view.kind == FRAME_UDP4 || view.kind == FRAME_UDP6) && view.dport == link->local_udp;
    if (!ours)
        return -ENOENT;
    *packet = frame + view.payload_off;
    *packet_len = view.payload_len;
    return 0;
}
