// SPDX-License-Identifier: Apache-2.0
/* LpPackets: the parser against the reference parser, and header fields written again. */
#include <stdlib.h>
#include <string.h>

#include "parser/ndn_encode.h"
#include "test/fuzz/ref_ndn.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/** Write the fields that the encoder knows in front of the same payload, and read them again. */
static void check_prepended(const struct ndn_lp *lp)
{
    static uint8_t buf[NDN_LP_HEADER_MAX + NDN_LP_ACKS_MAX * NDN_LP_ACK_SIZE + 2 * UINT16_MAX];
    uint8_t *end = buf + sizeof buf - UINT16_MAX;
    uint64_t acks[NDN_LP_ACKS_MAX];
    for (unsigned i = 0; i < lp->n_acks; i++)
        acks[i] = ndn_lp_ack(lp, i);
    struct ndn_lp_out out = {
        .token_len = lp->token_len,
        .token = lp->token,
        .has_sequence = (lp->has & LP_HAS_SEQUENCE) != 0,
        .sequence = lp->sequence,
        .frag_index = lp->frag_index,
        .frag_count = lp->frag_count,
        .nack_reason = lp->nack_reason <= UINT16_MAX ? (uint16_t)lp->nack_reason : 0,
        .has_mark = (lp->has & LP_HAS_CONGESTION_MARK) != 0,
        .congestion_mark = lp->congestion_mark,
        .has_incoming_face = (lp->has & LP_HAS_INCOMING_FACE) != 0,
        .incoming_face = lp->incoming_face,
        .has_cache_policy = (lp->has & LP_HAS_CACHE_POLICY) != 0,
        .cache_policy = lp->cache_policy,
        .acks = acks,
        .n_acks = lp->n_acks,
        .has_tx_sequence = (lp->has & LP_HAS_TX_SEQUENCE) != 0,
        .tx_sequence = lp->tx_sequence,
        .non_discovery = (lp->has & LP_HAS_NON_DISCOVERY) != 0,
        .announcement = lp->announcement,
        .announcement_len = lp->has & LP_HAS_PREFIX_ANNOUNCEMENT ? lp->announcement_len : 0,
    };
    size_t len = lp->fragment_len, header = ndn_lp_prepend(end, len, &out);
    if (header > (size_t)NDN_LP_HEADER_MAX + lp->n_acks * NDN_LP_ACK_SIZE + out.announcement_len ||
        header != ndn_lp_prepend_size(len, &out))
        abort();
    if (len > 0)
        memcpy(end, lp->fragment, len);
    if (header + len > UINT16_MAX)
        return;
    struct ndn_lp again;
    unsigned kept = LP_HAS_HEADER | LP_HAS_SEQUENCE | LP_HAS_FRAGMENT | LP_HAS_CONGESTION_MARK | LP_HAS_INCOMING_FACE |
                    LP_HAS_CACHE_POLICY | LP_HAS_TX_SEQUENCE | LP_HAS_NON_DISCOVERY | LP_HAS_PREFIX_ANNOUNCEMENT |
                    LP_HAS_ACK | (out.nack_reason != 0 ? LP_HAS_NACK : 0);
    if (ndn_lp_parse(end - header, header + len, false, &again) != VERDICT_OK || again.has != (lp->has & kept) ||
        again.token_len != lp->token_len || again.frag_index != lp->frag_index || again.frag_count != lp->frag_count ||
        again.n_acks != lp->n_acks || again.nack_reason != out.nack_reason || again.fragment_len != lp->fragment_len)
        abort();
    for (unsigned i = 0; i < again.n_acks; i++)
        if (ndn_lp_ack(&again, i) != acks[i])
            abort();
    // These count only with their bits.
    if ((out.has_sequence && again.sequence != lp->sequence) ||
        (out.has_mark && again.congestion_mark != lp->congestion_mark) ||
        (out.has_incoming_face && again.incoming_face != lp->incoming_face) ||
        (out.has_cache_policy && again.cache_policy != lp->cache_policy) ||
        (out.has_tx_sequence && again.tx_sequence != lp->tx_sequence) ||
        (out.announcement_len > 0 && (again.announcement_len != out.announcement_len ||
                                      memcmp(again.announcement, out.announcement, out.announcement_len) != 0)))
        abort();
    if (again.token_len > 0 && memcmp(again.token, lp->token, again.token_len) != 0)
        abort();
    if (len > 0 && again.fragment != end)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1 || size > UINT16_MAX)
        return 0;
    struct ndn_parse_opts opts = {.lenient = (data[0] & 1) != 0, .allow_trailing = (data[0] & 2) != 0};
    bool wrap = (data[0] & 4) != 0;
    data++;
    size--;
    size_t header = wrap ? 1 + ndn_tlv_var_size(size) : 0;
    uint8_t *p = malloc(header + size + 1);
    if (p == NULL)
        return 0;
    if (wrap) {
        p[0] = 100;
        ndn_tlv_put_var(p + 1, size);
    }
    memcpy(p + header, data, size);
    uint8_t *exact = realloc(p, header + size > 0 ? header + size : 1);
    p = exact != NULL ? exact : p;
    struct ndn_packet pkt;
    if (ref_ndn_compare(p, header + size, &opts, &pkt)) {
        if ((pkt.lp.has & LP_HAS_HEADER) != 0)
            check_prepended(&pkt.lp);
        if (pkt.type != 0)
            ref_ndn_check_reencoded(&pkt);
    }
    free(p);
    return 0;
}
