// SPDX-License-Identifier: Apache-2.0
#include "test/load/mkpcap_frame.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "parser/frame.h"

#define PROTO_UDP 17

static uint8_t *put16(uint8_t *p, size_t value)
{
    p[0] = (uint8_t)(value >> 8);
    p[1] = (uint8_t)value;
    return p + 2;
}

static uint8_t *put(uint8_t *p, const void *octets, size_t len)
{
    memcpy(p, octets, len);
    return p + len;
}

int mkpcap_end_parse(const char *text, struct mkpcap_end *out)
{
    struct mkpcap_end end = *out;
    unsigned mac[6];
    int used = 0;
    if (sscanf(text, "%2x:%2x:%2x:%2x:%2x:%2x%n", &mac[0], &mac[1], &mac[2], &mac[3], &mac[4], &mac[5], &used) != 6)
        return -EINVAL;
    for (unsigned i = 0; i < 6; i++)
        end.mac[i] = (uint8_t)mac[i];
    text += used;
    if (*text == ',') {
        char ip[INET6_ADDRSTRLEN];
        size_t len = strcspn(++text, ",");
        if (len >= sizeof ip)
            return -EINVAL;
        memcpy(ip, text, len);
        ip[len] = '\0';
        if (inet_pton(AF_INET, ip, end.ip) == 1)
            end.ip_len = 4;
        else if (inet_pton(AF_INET6, ip, end.ip) == 1)
            end.ip_len = 16;
        else
            return -EINVAL;
        text += len;
    }
    if (*text == ',') {
        char *rest;
        unsigned long port = strtoul(text + 1, &rest, 10);
        if (rest == text + 1 || port == 0 || port > UINT16_MAX)
            return -EINVAL;
        end.port = (uint16_t)port;
        text = rest;
    }
    if (*text != '\0')
        return -EINVAL;
    *out = end;
    return 0;
}

int mkpcap_way_check(const struct mkpcap_way *way)
{
    return way->from.ip_len == way->to.ip_len ? 0 : -EINVAL;
}

static void put_ip(uint8_t *p, const struct mkpcap_way *way, size_t udp_len)
{
    if (way->from.ip_len == 16) {
        p = put(p, "\x60\0\0\0", 4);
        p = put16(p, udp_len);
        *p++ = PROTO_UDP;
        *p++ = 64;
        p = put(p, way->from.ip, 16);
        put(p, way->to.ip, 16);
        return;
    }
    uint8_t *header = p;
    p = put(p, "\x45\0", 2);
    p = put16(p, 20 + udp_len);
    p = put(p, "\0\0\x40\0\x40", 5); // Identification 0, Don't Fragment, TTL 64
    *p++ = PROTO_UDP;
    p = put16(p, 0);
    p = put(p, way->from.ip, 4);
    put(p, way->to.ip, 4);
    put16(header + 10, (uint16_t)~frame_csum_add(0, header, 20));
}

static void put_udp(uint8_t *p, const struct mkpcap_way *way, size_t udp_len)
{
    put16(p, way->from.port);
    put16(p + 2, way->to.port);
    put16(p + 4, udp_len);
    put16(p + 6, 0);
    uint32_t sum = frame_csum_add((uint32_t)(PROTO_UDP + udp_len), way->from.ip, way->from.ip_len);
    sum = frame_csum_add(sum, way->to.ip, way->to.ip_len);
    uint16_t csum = (uint16_t)~frame_csum_add(sum, p, udp_len);
    put16(p + 6, csum != 0 ? csum : 0xffff); // 0 would say: none (RFC 768)
}

size_t mkpcap_frame(const struct mkpcap_way *way, uint8_t *payload, size_t len)
{
    uint8_t *p = payload;
    uint16_t type = FRAME_ETHERTYPE_NDN;
    if (way->from.ip_len != 0) {
        type = way->from.ip_len == 4 ? 0x0800 : 0x86dd;
        p -= 8;
        put_udp(p, way, 8 + len);
        p -= way->from.ip_len == 4 ? 20 : 40;
        put_ip(p, way, 8 + len);
    }
    p -= 14;
    put16(put(put(p, way->to.mac, 6), way->from.mac, 6), type);
    return (size_t)(payload - p);
}
