// SPDX-License-Identifier: Apache-2.0
/* Interests get what they lack: a Nonce, and a HopLimit where one is configured. */
#include "fwd/input.h"

#include <string.h>

#include "parser/ndn_encode.h"
#include "parser/ndn_tlv.h"

/* Octets of the TLV number that starts with @p first. */
static unsigned input_var_size(uint8_t first)
{
    return first < 253 ? 1 : 1 + (2u << (first - 253));
}

/*
 * Make room for @p size octets at @p off of the Interest at @p net: what is before them moves left, header, PIT token
 * and all. @return how many octets the packet now begins earlier; *at is where the new octets go
 */
static unsigned input_insert(uint8_t *net, struct ndn_packet *ndn, unsigned off, unsigned size, uint8_t **at)
{
    struct ndn_interest *interest = &ndn->interest;
    unsigned type_size = input_var_size(net[0]);
    unsigned header = type_size + input_var_size(net[type_size]);
    unsigned value_len = ndn->net_len - header + size;
    unsigned new_header = 1 + (unsigned)ndn_tlv_var_size(value_len);
    uint8_t *start = net + header - size - new_header;

    if (ndn->lp.token_len > 0) {
        // It stands in front of the Interest, where that now begins.
        memmove(start - ndn->lp.token_len, ndn->lp.token, ndn->lp.token_len);
        ndn->lp.token = start - ndn->lp.token_len;
    }
    memmove(net + header - size, net + header, off - header);
    start[0] = NDN_TYPE_INTEREST;
    ndn_tlv_put_var(start + 1, value_len);
    *at = net + off - size;

    // Offsets count from the new beginning; those of what stands behind change by the new octets, too.
    int front = (int)new_header - (int)header, behind = front + (int)size;
    interest->nonce_off = (uint16_t)((int)interest->nonce_off + (interest->nonce_off < off ? front : behind));
    if (interest->hop_limit_off != 0)
        interest->hop_limit_off = (uint16_t)((int)interest->hop_limit_off + behind);
    for (unsigned i = 0; i < interest->n_hints; i++)
        interest->hint[i].off = (uint16_t)(interest->hint[i].off + front);
    ndn->name.value -= size;
    ndn->net = start;
    ndn->net_len = (uint16_t)(new_header + value_len);
    return (unsigned)(net - start);
}

unsigned input_put_nonce(struct fwd *fwd, uint8_t *net, struct ndn_packet *ndn)
{
    struct ndn_interest *interest = &ndn->interest;
    uint8_t *nonce;
    unsigned moved = input_insert(net, ndn, interest->nonce_off, NDN_NONCE_TLV_SIZE, &nonce);
    interest->nonce = (uint32_t)pkt_random(fwd);
    nonce[0] = NDN_TYPE_NONCE;
    nonce[1] = sizeof interest->nonce;
    for (unsigned i = 0; i < sizeof interest->nonce; i++)
        nonce[2 + i] = (uint8_t)(interest->nonce >> (24 - 8 * i));
    interest->has_nonce = true;
    interest->nonce_off = (uint16_t)(nonce + 2 - ndn->net);
    return moved;
}

unsigned input_put_hop_limit(uint8_t *net, struct ndn_packet *ndn, uint8_t hop_limit)
{
    struct ndn_interest *interest = &ndn->interest;
    // Behind the Nonce, and behind the InterestLifetime when there is one.
    unsigned off = interest->nonce_off + (unsigned)sizeof interest->nonce;
    struct cursor c = cursor_make(net + off, ndn->net_len - off);
    struct tlv tlv;
    while (cursor_left(&c) > 0 && tlv_read(&c, true, &tlv) == VERDICT_OK)
        if (tlv.type == NDN_TLV_LIFETIME)
            off = (unsigned)(tlv.value + tlv.len - net);
    uint8_t *at;
    unsigned moved = input_insert(net, ndn, off, NDN_HOP_LIMIT_TLV_SIZE, &at);
    interest->hop_limit = (uint8_t)RTE_MIN(hop_limit + 1, UINT8_MAX);
    at[0] = NDN_TLV_HOP_LIMIT;
    at[1] = 1;
    at[2] = interest->hop_limit;
    interest->hop_limit_off = (uint16_t)(at + 2 - ndn->net);
    return moved;
}

unsigned input_complete(struct fwd *fwd, uint8_t *net, struct ndn_packet *ndn)
{
    unsigned moved = 0;
    if (!ndn->interest.has_nonce)
        moved = input_put_nonce(fwd, net, ndn);
    if (fwd->shared->default_hop_limit > 0 && ndn->interest.hop_limit_off == 0 && !(ndn->lp.has & LP_HAS_NACK))
        moved += input_put_hop_limit(net - moved, ndn, fwd->shared->default_hop_limit);
    return moved;
}
