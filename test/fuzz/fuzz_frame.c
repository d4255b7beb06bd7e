// SPDX-License-Identifier: Apache-2.0
/* Frames: what is accepted has right checksums by a slow sum, lengths inside the frame, and no refused address. */
#include <stdlib.h>
#include <string.h>

#include "parser/frame.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool condition)
{
    if (!condition)
        abort();
}

static unsigned slow_sum(unsigned sum, const uint8_t *p, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        sum += i % 2 == 0 ? (unsigned)p[i] << 8 : p[i];
        sum = (sum & 0xffff) + (sum >> 16);
    }
    return sum;
}

/** Put right checksums into a frame that the parser took without looking at them. @return the UDP checksum's place */
static void fix_checksums(uint8_t *p, const struct frame *f)
{
    size_t addr_len = f->kind == FRAME_UDP4 ? 4 : 16;
    uint8_t *udp = p + f->payload_off - 8, *src = p + (f->src_ip - p);
    if (f->kind == FRAME_UDP4) {
        uint8_t *ip = src - 12;
        ip[10] = ip[11] = 0;
        unsigned sum = ~slow_sum(0, ip, 20) & 0xffff;
        ip[10] = (uint8_t)(sum >> 8);
        ip[11] = (uint8_t)sum;
    }
    udp[6] = udp[7] = 0;
    unsigned sum = slow_sum(17 + f->payload_len + 8u, src, 2 * addr_len);
    sum = ~slow_sum(sum, udp, f->payload_len + 8u) & 0xffff;
    sum = sum == 0 ? 0xffff : sum;
    udp[6] = (uint8_t)(sum >> 8);
    udp[7] = (uint8_t)sum;
}

static void check(const uint8_t *p, size_t len, const struct frame *f)
{
    must(f->payload_off + (size_t)f->payload_len <= len && f->n_tags <= 2);
    must(f->dst_mac == p && f->src_mac == p + 6 && (p[6] & 1) == 0 && f->multicast == (p[0] & 1));
    must(f->vlan < 4095 && f->vlan_inner < 4095 && (f->vlan != 0 || f->vlan_inner == 0));
    size_t l2 = 14 + 4u * f->n_tags;
    if (f->kind == FRAME_NDN) {
        must(f->payload_off == l2 && f->payload_off + (size_t)f->payload_len == len);
        must(p[l2 - 2] == 0x86 && p[l2 - 1] == 0x24);
        return;
    }
    size_t addr_len = f->kind == FRAME_UDP4 ? 4 : 16, ip_len = f->kind == FRAME_UDP4 ? 20 : 40;
    const uint8_t *udp = p + l2 + ip_len;
    must(f->payload_off == l2 + ip_len + 8);
    must(f->sport == (udp[0] << 8 | udp[1]) && f->dport == (udp[2] << 8 | udp[3]));
    must(f->payload_len + 8 == (udp[4] << 8 | udp[5]));
    must(f->dst_ip == f->src_ip + addr_len && f->dst_ip + addr_len == udp);
    if (f->kind == FRAME_UDP4) {
        must(slow_sum(0, p + l2, 20) == 0xffff && p[l2] == 0x45);
        must(f->src_ip[0] != 127 && f->src_ip[0] != 0 && f->src_ip[0] < 224);
    } else {
        must(p[l2] >> 4 == 6 && f->src_ip[0] != 0xff);
    }
    if (udp[6] != 0 || udp[7] != 0)
        must(slow_sum(slow_sum(17 + f->payload_len + 8u, f->src_ip, 2 * addr_len), udp, f->payload_len + 8u) == 0xffff);
    else
        must(f->kind == FRAME_UDP4);
}

static void check_sum(const uint8_t *p, size_t len)
{
    must(frame_csum_add(0, p, len) == slow_sum(0, p, len));
    size_t half = len / 4 * 2;
    must(frame_csum_add(frame_csum_add(0x1234, p, half), p + half, len - half) == slow_sum(0x1234, p, len));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct frame_opts all, none = {.skip_ip_csum = true, .skip_udp_csum = true};
    struct frame f;
    if (size > 2048)
        return 0;
    check_sum(data, size);
    if (frame_parse(data, size, &all, &f) == VERDICT_OK) {
        check(data, size, &f);
        return 0;
    }
    // Behind checksums that no fuzzer guesses.
    if (frame_parse(data, size, &none, &f) != VERDICT_OK)
        return 0;
    must(f.kind != FRAME_NDN);
    uint8_t *copy = malloc(size);
    if (copy == NULL)
        return 0;
    memcpy(copy, data, size);
    must(frame_parse(copy, size, &none, &f) == VERDICT_OK);
    fix_checksums(copy, &f);
    struct frame g;
    must(frame_parse(copy, size, &all, &g) == VERDICT_OK && g.payload_len == f.payload_len && g.kind == f.kind);
    check(copy, size, &g);
    copy[g.payload_off - 8] ^= 1;
    must(frame_parse(copy, size, &all, &g) == VERDICT_UDP_CSUM);
    free(copy);
    return 0;
}
