// SPDX-License-Identifier: Apache-2.0
#include "parser/ndn_encode.h"

#include <assert.h>
#include <endian.h>
#include <string.h>

#include "parser/ndn_packet.h"
#include "parser/ndn_tlv.h"

size_t ndn_tlv_var_size(uint64_t number)
{
    return number < 0xfd ? 1 : number <= UINT16_MAX ? 3 : number <= UINT32_MAX ? 5 : 9;
}

static size_t nni_size(uint64_t number)
{
    return number <= UINT8_MAX ? 1 : number <= UINT16_MAX ? 2 : number <= UINT32_MAX ? 4 : 8;
}

/** Write the low @p size octets of @p number, big-endian. */
static void put_be(uint8_t *p, uint64_t number, size_t size)
{
    uint64_t be = htobe64(number);
    memcpy(p, (const uint8_t *)&be + 8 - size, size);
}

size_t ndn_tlv_put_var(uint8_t *p, uint64_t number)
{
    size_t size = ndn_tlv_var_size(number);
    if (size == 1) {
        p[0] = (uint8_t)number;
        return 1;
    }
    p[0] = size == 3 ? 0xfd : size == 5 ? 0xfe : 0xff;
    put_be(p + 1, number, size - 1);
    return size;
}

size_t ndn_tlv_put_nni(uint8_t *p, uint64_t number)
{
    size_t size = nni_size(number);
    put_be(p, number, size);
    return size;
}

/* Writers that put an element right before @p end and return where it begins. */

static uint8_t *before_var(uint8_t *end, uint64_t number)
{
    uint8_t *p = end - ndn_tlv_var_size(number);
    ndn_tlv_put_var(p, number);
    return p;
}

static uint8_t *before_header(uint8_t *value, uint32_t type, size_t len)
{
    return before_var(before_var(value, len), type);
}

static uint8_t *before_nni(uint8_t *end, uint32_t type, uint64_t number)
{
    size_t size = nni_size(number);
    put_be(end - size, number, size);
    return before_header(end - size, type, size);
}

static size_t tlv_size(uint32_t type, size_t len)
{
    return ndn_tlv_var_size(type) + ndn_tlv_var_size(len) + len;
}

static size_t nack_len(uint16_t reason)
{
    return tlv_size(NDN_LP_NACK_REASON, nni_size(reason));
}

/** An element of eight octets, whatever the number. */
static uint8_t *before_number8(uint8_t *end, uint32_t type, uint64_t number)
{
    put_be(end - 8, number, 8);
    return before_header(end - 8, type, 8);
}

static uint8_t *before_link_fields(uint8_t *p, const struct ndn_lp_out *lp)
{
    if (lp->announcement_len > 0) {
        p -= lp->announcement_len;
        memmove(p, lp->announcement, lp->announcement_len);
        p = before_header(p, NDN_LP_PREFIX_ANNOUNCEMENT, lp->announcement_len);
    }
    if (lp->non_discovery)
        p = before_header(p, NDN_LP_NON_DISCOVERY, 0);
    if (lp->has_tx_sequence)
        p = before_number8(p, NDN_LP_TX_SEQUENCE, lp->tx_sequence);
    for (unsigned i = lp->n_acks; i > 0; i--)
        p = before_number8(p, NDN_LP_ACK, lp->acks[i - 1]);
    return p;
}

static uint8_t *before_fields(uint8_t *p, const struct ndn_lp_out *lp)
{
    p = before_link_fields(p, lp);
    if (lp->has_mark)
        p = before_nni(p, NDN_LP_CONGESTION_MARK, lp->congestion_mark);
    if (lp->has_cache_policy) {
        uint8_t *value_end = p;
        p = before_nni(p, NDN_LP_CACHE_POLICY_TYPE, lp->cache_policy);
        p = before_header(p, NDN_LP_CACHE_POLICY, (size_t)(value_end - p));
    }
    if (lp->has_incoming_face)
        p = before_nni(p, NDN_LP_INCOMING_FACE, lp->incoming_face);
    if (lp->nack_reason != NDN_NACK_NONE) {
        p = before_nni(p, NDN_LP_NACK_REASON, lp->nack_reason);
        p = before_header(p, NDN_LP_NACK, nack_len(lp->nack_reason));
    }
    if (lp->token_len > 0) {
        p -= lp->token_len;
        memcpy(p, lp->token, lp->token_len);
        p = before_header(p, NDN_LP_PIT_TOKEN, lp->token_len);
    }
    if (lp->has_sequence) {
        if (lp->frag_count > 1) {
            p = before_nni(p, NDN_LP_FRAG_COUNT, lp->frag_count);
            p = before_nni(p, NDN_LP_FRAG_INDEX, lp->frag_index);
        }
        p = before_number8(p, NDN_LP_SEQUENCE, lp->sequence);
    }
    return p;
}

size_t ndn_lp_prepend(uint8_t *end, size_t payload_len, const struct ndn_lp_out *lp)
{
    assert(lp->token_len <= NDN_LP_TOKEN_MAX);
    uint8_t *p = payload_len > 0 ? before_header(end, NDN_LP_FRAGMENT, payload_len) : end;
    p = before_fields(p, lp);
    size_t inside = (size_t)(end - p) + payload_len;
    p = before_header(p, NDN_LP_PACKET, inside);
    return (size_t)(end - p);
}

size_t ndn_lp_behind_tx_sequence(size_t payload_len, const struct ndn_lp_out *lp)
{
    size_t size = payload_len > 0 ? tlv_size(NDN_LP_FRAGMENT, payload_len) - payload_len : 0;
    if (lp->non_discovery)
        size += tlv_size(NDN_LP_NON_DISCOVERY, 0);
    if (lp->announcement_len > 0)
        size += tlv_size(NDN_LP_PREFIX_ANNOUNCEMENT, lp->announcement_len);
    return size;
}

size_t ndn_lp_prepend_size(size_t payload_len, const struct ndn_lp_out *lp)
{
    size_t size = ndn_lp_behind_tx_sequence(payload_len, lp);
    if (lp->has_mark)
        size += tlv_size(NDN_LP_CONGESTION_MARK, nni_size(lp->congestion_mark));
    if (lp->has_cache_policy)
        size += tlv_size(NDN_LP_CACHE_POLICY, tlv_size(NDN_LP_CACHE_POLICY_TYPE, nni_size(lp->cache_policy)));
    if (lp->has_incoming_face)
        size += tlv_size(NDN_LP_INCOMING_FACE, nni_size(lp->incoming_face));
    if (lp->nack_reason != NDN_NACK_NONE)
        size += tlv_size(NDN_LP_NACK, nack_len(lp->nack_reason));
    if (lp->token_len > 0)
        size += tlv_size(NDN_LP_PIT_TOKEN, lp->token_len);
    size += (size_t)lp->n_acks * NDN_LP_ACK_SIZE;
    if (lp->has_tx_sequence)
        size += tlv_size(NDN_LP_TX_SEQUENCE, 8);
    if (lp->has_sequence) {
        size += tlv_size(NDN_LP_SEQUENCE, 8);
        if (lp->frag_count > 1)
            size += tlv_size(NDN_LP_FRAG_INDEX, nni_size(lp->frag_index)) +
                    tlv_size(NDN_LP_FRAG_COUNT, nni_size(lp->frag_count));
    }
    return tlv_size(NDN_LP_PACKET, size + payload_len) - payload_len;
}

/* Writers that go forward; the caller has checked the size of the whole packet. */

static uint8_t *put_header(uint8_t *p, uint32_t type, size_t len)
{
    p += ndn_tlv_put_var(p, type);
    return p + ndn_tlv_put_var(p, len);
}

static uint8_t *put_bytes(uint8_t *p, uint32_t type, const uint8_t *value, size_t len)
{
    p = put_header(p, type, len);
    if (len > 0)
        memcpy(p, value, len);
    return p + len;
}

static uint8_t *put_nni(uint8_t *p, uint32_t type, uint64_t number)
{
    p = put_header(p, type, nni_size(number));
    return p + ndn_tlv_put_nni(p, number);
}

size_t ndn_interest_encode(uint8_t *p, size_t size, const struct ndn_interest_out *out)
{
    size_t inside = tlv_size(NDN_TLV_NAME, out->name_len) + tlv_size(NDN_TLV_NONCE, 4);
    if (out->can_be_prefix)
        inside += tlv_size(NDN_TLV_CAN_BE_PREFIX, 0);
    if (out->must_be_fresh)
        inside += tlv_size(NDN_TLV_MUST_BE_FRESH, 0);
    if (out->lifetime_ms > 0)
        inside += tlv_size(NDN_TLV_LIFETIME, nni_size(out->lifetime_ms));
    if (out->hop_limit > 0)
        inside += tlv_size(NDN_TLV_HOP_LIMIT, 1);
    size_t total = tlv_size(NDN_TYPE_INTEREST, inside);
    if (total > size)
        return 0;
    p = put_header(p, NDN_TYPE_INTEREST, inside);
    p = put_bytes(p, NDN_TLV_NAME, out->name, out->name_len);
    if (out->can_be_prefix)
        p = put_header(p, NDN_TLV_CAN_BE_PREFIX, 0);
    if (out->must_be_fresh)
        p = put_header(p, NDN_TLV_MUST_BE_FRESH, 0);
    p = put_header(p, NDN_TLV_NONCE, 4);
    put_be(p, out->nonce, 4);
    p += 4;
    if (out->lifetime_ms > 0)
        p = put_nni(p, NDN_TLV_LIFETIME, out->lifetime_ms);
    if (out->hop_limit > 0)
        p = put_nni(p, NDN_TLV_HOP_LIMIT, out->hop_limit);
    return total;
}

size_t ndn_data_encode(uint8_t *p, size_t size, const struct ndn_data_out *out, size_t *signed_off, size_t *signed_len)
{
    static const uint8_t signature_info[] = {NDN_TLV_SIGNATURE_TYPE, 1, 0}; // DigestSha256
    static const uint8_t no_signature[NDN_DIGEST_SIZE];
    size_t meta = 0;
    if (out->content_type > 0)
        meta += tlv_size(NDN_TLV_CONTENT_TYPE, 1);
    if (out->freshness_ms > 0)
        meta += tlv_size(NDN_TLV_FRESHNESS, nni_size(out->freshness_ms));
    if (out->final_block_len > 0)
        meta += tlv_size(NDN_TLV_FINAL_BLOCK_ID, out->final_block_len);
    size_t covered = tlv_size(NDN_TLV_NAME, out->name_len) + (meta > 0 ? tlv_size(NDN_TLV_META_INFO, meta) : 0) +
                     tlv_size(NDN_TLV_CONTENT, out->content_len) +
                     tlv_size(NDN_TLV_SIGNATURE_INFO, sizeof signature_info);
    size_t inside = covered + tlv_size(NDN_TLV_SIGNATURE_VALUE, NDN_DIGEST_SIZE);
    size_t total = tlv_size(NDN_TYPE_DATA, inside);
    if (total > size)
        return 0;
    p = put_header(p, NDN_TYPE_DATA, inside);
    p = put_bytes(p, NDN_TLV_NAME, out->name, out->name_len);
    if (meta > 0) {
        p = put_header(p, NDN_TLV_META_INFO, meta);
        if (out->content_type > 0)
            p = put_nni(p, NDN_TLV_CONTENT_TYPE, out->content_type);
        if (out->freshness_ms > 0)
            p = put_nni(p, NDN_TLV_FRESHNESS, out->freshness_ms);
        if (out->final_block_len > 0)
            p = put_bytes(p, NDN_TLV_FINAL_BLOCK_ID, out->final_block, out->final_block_len);
    }
    p = put_bytes(p, NDN_TLV_CONTENT, out->content, out->content_len);
    p = put_bytes(p, NDN_TLV_SIGNATURE_INFO, signature_info, sizeof signature_info);
    put_bytes(p, NDN_TLV_SIGNATURE_VALUE, out->signature != NULL ? out->signature : no_signature, NDN_DIGEST_SIZE);
    if (signed_off != NULL)
        *signed_off = total - inside;
    if (signed_len != NULL)
        *signed_len = covered;
    return total;
}
