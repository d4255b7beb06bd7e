// SPDX-License-Identifier: Apache-2.0
#include "fwd/mgmt/mgmt_impl.h"

#include <errno.h>
#include <string.h>

#include <openssl/evp.h>

#include "parser/ndn_tlv.h"

/* CachePolicyType NoCache (NDNLPv2): what management says is true now and not later. */
#define NO_CACHE 1

int mgmt_send_init(struct mgmt *mgmt)
{
    // Fetched once: a fetch costs more than the digest of an answer.
    mgmt->sha256 = EVP_MD_fetch(NULL, "SHA2-256", NULL);
    mgmt->digest = EVP_MD_CTX_new();
    if (mgmt->sha256 == NULL || mgmt->digest == NULL) {
        mgmt_send_fini(mgmt);
        return -ENOMEM;
    }
    return 0;
}

void mgmt_send_fini(struct mgmt *mgmt)
{
    EVP_MD_CTX_free(mgmt->digest);
    EVP_MD_free(mgmt->sha256);
    mgmt->digest = NULL;
    mgmt->sha256 = NULL;
}

uint16_t mgmt_put_number(uint8_t p[MGMT_NUMBER_COMP_MAX], uint32_t type, uint64_t number)
{
    uint8_t *value = p + ndn_tlv_put_var(p, type) + 1;
    size_t len = ndn_tlv_put_nni(value, number);
    value[-1] = (uint8_t)len;
    return (uint16_t)(value + len - p);
}

/* DigestSha256 (NDN packet spec 0.3, section 4.1) over the signed portion. */
static bool sign(struct mgmt *mgmt, const uint8_t *covered, size_t len, uint8_t *signature)
{
    return EVP_DigestInit_ex2(mgmt->digest, mgmt->sha256, NULL) == 1 &&
           EVP_DigestUpdate(mgmt->digest, covered, len) == 1 && EVP_DigestFinal_ex(mgmt->digest, signature, NULL) == 1;
}

void mgmt_send_data(struct mgmt *mgmt, const struct mgmt_data *data)
{
    const struct ndn_data_out out = {
        .name = data->name.p,
        .name_len = data->name.len,
        .content_type = data->content_type,
        .freshness_ms = MGMT_FRESHNESS_MS,
        .final_block = data->final_block.p,
        .final_block_len = data->final_block.len,
        .content = data->content,
        .content_len = data->content_len,
    };
    uint8_t *packet = mgmt->packet + NDN_LP_HEADER_MAX;
    size_t signed_off, signed_len, len = ndn_data_encode(packet, MGMT_DATA_MAX, &out, &signed_off, &signed_len);
    if (len == 0 || !sign(mgmt, packet + signed_off, signed_len, packet + len - NDN_DIGEST_SIZE))
        return;
    const struct ndn_lp_out lp = {
        .has_cache_policy = true,
        .cache_policy = NO_CACHE,
        .token = data->token != NULL ? data->token->octets : NULL,
        .token_len = data->token != NULL ? data->token->len : 0,
    };
    size_t header = ndn_lp_prepend(packet, len, &lp);
    mgmt->env.send(mgmt->env.ctx, packet - header, header + len);
}
