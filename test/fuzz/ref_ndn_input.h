// SPDX-License-Identifier: Apache-2.0
#ifndef TEST_FUZZ_REF_NDN_INPUT_H
#define TEST_FUZZ_REF_NDN_INPUT_H

#include <stdlib.h>
#include <string.h>

#include "parser/ndn_encode.h"
#include "test/fuzz/ref_ndn.h"

/** Bits of an input's first octet. What is wrapped saves the fuzzer from having to get outer lengths right. */
enum input_flags {
    INPUT_LENIENT = 1,
    INPUT_TRAILING = 2, /**< octets behind the packet are allowed */
    INPUT_WRAP = 4,     /**< the input is the inside of a packet of the target's type */
    INPUT_NAME = 8,     /**< ... behind the Name /A */
    INPUT_TOKEN = 16,   /**< and the packet goes into an LpPacket with a token of 8 octets */
};

/** Run one input of the Interest and Data targets: options, packet by the options, both parsers, encoding again. */
static inline int ref_ndn_input(const uint8_t *data, size_t size, uint8_t type)
{
    static const uint8_t name[] = {7, 3, 8, 1, 'A'}, token[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    if (size < 1 || size > NDN_PACKET_MAX + 100)
        return 0;
    uint8_t flags = *data++;
    size--;
    // A heap block of the exact size, with the packet at its end, so that reading beyond shows.
    size_t room = NDN_LP_HEADER_MAX + 16, inside = size;
    uint8_t *block = malloc(room + size + 1), *end = block + room + size, *p = end - size;
    if (block == NULL)
        return 0;
    memcpy(p, data, size);
    if ((flags & INPUT_WRAP) != 0) {
        if ((flags & INPUT_NAME) != 0) {
            p -= sizeof name;
            memcpy(p, name, sizeof name);
            inside += sizeof name;
        }
        p -= ndn_tlv_var_size(inside);
        ndn_tlv_put_var(p, inside);
        *--p = type;
    }
    if ((flags & INPUT_TOKEN) != 0) {
        struct ndn_lp_out lp = {.token = token, .token_len = sizeof token};
        p -= ndn_lp_prepend(p, (size_t)(end - p), &lp);
    }
    size_t len = (size_t)(end - p);
    uint8_t *exact = malloc(len > 0 ? len : 1);
    if (exact != NULL) {
        memcpy(exact, p, len);
        struct ndn_parse_opts opts = {.lenient = (flags & INPUT_LENIENT) != 0,
                                      .allow_trailing = (flags & INPUT_TRAILING) != 0};
        struct ndn_packet pkt;
        if (ref_ndn_compare(exact, len, &opts, &pkt) && pkt.type != 0)
            ref_ndn_check_reencoded(&pkt);
    }
    free(exact);
    free(block);
    return 0;
}

#endif
