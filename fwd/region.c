// SPDX-License-Identifier: Apache-2.0
#include "fwd/region.h"

#include <string.h>

#include "fwd/chain.h"
#include "parser/ndn_encode.h"
#include "parser/ndn_tlv.h"

static bool region_reached(const struct fwd *fwd, const struct pkt *pkt)
{
    const struct ndn_interest *interest = &pkt->ndn.interest;
    for (unsigned i = 0; i < interest->n_hints; i++) {
        const uint8_t *hint = pkt->ndn.net + interest->hint[i].off;
        uint16_t len = interest->hint[i].len;
        for (unsigned r = 0; r < fwd->shared->n_regions; r++) {
            const struct region *region = &fwd->shared->regions[r];
            // A prefix in octets that is a sequence of whole components is one of names.
            if (len <= region->len && memcmp(hint, region->name, len) == 0)
                return true;
        }
    }
    return false;
}

/* Where the ForwardingHint lies in an Interest of @p len octets, and where its elements begin. */
static bool region_find_hint(const uint8_t *net, size_t len, uint32_t *elements, uint32_t *begin, uint32_t *end)
{
    struct cursor c = cursor_make(net, len);
    struct tlv tlv;
    if (tlv_read(&c, true, &tlv) != VERDICT_OK)
        return false;
    *elements = (uint32_t)(tlv.value - net);
    c = cursor_make(tlv.value, tlv.len);
    while (cursor_left(&c) > 0) {
        *begin = (uint32_t)(c.p - net);
        if (tlv_read(&c, true, &tlv) != VERDICT_OK)
            return false;
        if (tlv.type == NDN_TLV_FORWARDING_HINT) {
            *end = (uint32_t)(c.p - net);
            return true;
        }
    }
    return false;
}

bool region_strip_hint(struct fwd *fwd, struct pkt *pkt)
{
    struct rte_mbuf *mbuf = pkt->mbuf;
    uint8_t octets[NDN_PACKET_MAX];
    uint32_t elements, begin, end;
    if (fwd->shared->n_regions == 0 || !region_reached(fwd, pkt) || mbuf->pkt_len > sizeof octets)
        return false;
    chain_read(mbuf, 0, octets, mbuf->pkt_len);
    if (!region_find_hint(octets, mbuf->pkt_len, &elements, &begin, &end))
        return false;
    // What is before the hint moves to right before what is behind it, with a new header before that.
    uint32_t value_len = mbuf->pkt_len - elements - (end - begin);
    uint32_t header = 1 + (uint32_t)ndn_tlv_var_size(value_len), start = elements + (end - begin) - header;
    memmove(octets + start + header, octets + elements, begin - elements);
    octets[start] = NDN_TYPE_INTEREST;
    ndn_tlv_put_var(octets + start + 1, value_len);
    if (end <= mbuf->data_len) {
        // Its name may be read here still, until the end of the pipeline: it moves along.
        uint8_t *p = rte_pktmbuf_mtod(mbuf, uint8_t *);
        struct ndn_name *name = &pkt->ndn.name;
        memcpy(p + start, octets + start, end - start);
        if (name->value >= p && name->value < p + mbuf->data_len)
            name->value += end - begin;
        mbuf->data_off = (uint16_t)(mbuf->data_off + start);
        mbuf->data_len = (uint16_t)(mbuf->data_len - start);
        mbuf->pkt_len -= start;
    } else {
        // An Interest in several segments is parsed from the linear buffer.
        struct rte_mbuf *copy = chain_from_octets(fwd->pool, octets + start, mbuf->pkt_len - start);
        if (copy == NULL)
            return false;
        rte_pktmbuf_free(mbuf);
        pkt->mbuf = copy;
    }
    pkt->ndn.interest.n_hints = 0;
    return true;
}
