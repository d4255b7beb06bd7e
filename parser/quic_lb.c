// SPDX-License-Identifier: Apache-2.0
#include "parser/quic_lb.h"

#include <errno.h>
#include <string.h>

#include "parser/quic_lb_impl.h"

#define LEN_MAX   19
#define NO_OCTET  0x80 /* in a shuffle: zero */
#define LEFT      0
#define RIGHT     1
#define N_ALIKE   (1 << QUIC_LB_CONFIG_SHIFT) /* first octets of one config ID */
#define LOW_BITS  (N_ALIKE - 1)
#define SCHEME_AT (1 + QUIC_LB_CONFIGS) /* first rule of the private layouts */

/** A half and the other one: which octets, where the loads of a decoder have them. */
static void prepare_halves(struct quic_lb_rule *rule)
{
    unsigned right_at = rule->len - rule->half;
    for (unsigned i = 0; i < 16; i++) {
        bool in = i < rule->half;
        rule->mask[LEFT][i] = rule->mask[RIGHT][i] = in ? 0xff : 0;
        rule->take[LEFT][i] = (uint8_t)(in ? 1 + i : NO_OCTET);
        rule->take[RIGHT][i] = (uint8_t)(in ? 1 + right_at + i - rule->tail : NO_OCTET);
        rule->join[i] = (uint8_t)(i >= right_at && i - right_at < rule->half ? i - right_at : NO_OCTET);
    }
    if (rule->len % 2 == 1) {
        rule->mask[LEFT][rule->half - 1] = 0xf0;
        rule->mask[RIGHT][0] = 0x0f;
    }
    for (unsigned pass = 1; pass <= 4; pass++) {
        uint8_t *white = rule->white[pass - 1];
        memcpy(white, rule->aes.enc[0], AES128_BLOCK);
        white[14] ^= rule->len;
        white[15] ^= (uint8_t)pass;
    }
}

int quic_lb_add_config(struct quic_lb *lb, uint8_t config_id, const struct quic_lb_config *config)
{
    unsigned len = (unsigned)config->server_id_len + config->nonce_len;
    if (config_id >= QUIC_LB_CONFIGS || config->server_id_len == 0 || config->server_id_len > QUIC_LB_SERVER_ID_MAX ||
        config->nonce_len < QUIC_LB_NONCE_MIN || config->nonce_len > QUIC_LB_NONCE_MAX || len > LEN_MAX)
        return -EINVAL;
    uint8_t *rule_of = &lb->rule_of[config_id << QUIC_LB_CONFIG_SHIFT];
    for (unsigned i = 0; i < N_ALIKE; i++)
        if (rule_of[i] != 0)
            return -EEXIST;
    struct quic_lb_rule *rule = &lb->rule[1 + config_id];
    memset(rule, 0, sizeof *rule);
    rule->kind = !config->encrypted    ? QUIC_LB_KIND_PLAINTEXT
                 : len == AES128_BLOCK ? QUIC_LB_KIND_SINGLE_PASS
                                       : QUIC_LB_KIND_FOUR_PASS;
    rule->size = (uint8_t)(1 + len);
    rule->len = (uint8_t)len;
    rule->half = (uint8_t)((len + 1) / 2);
    rule->tail = rule->size > 16 ? (uint8_t)(rule->size - 16) : 0;
    rule->id_len = config->server_id_len;
    rule->fourth_pass = config->server_id_len > config->nonce_len;
    memset(rule->id_mask, 0xff, config->server_id_len);
    rule->id_tail[15] = config->server_id_len;
    if (config->encrypted) {
        aes128_expand(&rule->aes, config->key);
        prepare_halves(rule);
    }
    memset(rule_of, 1 + config_id, N_ALIKE);
    return 0;
}

int quic_lb_add_scheme(struct quic_lb *lb, const struct quic_lb_scheme *scheme)
{
    unsigned skip = scheme->offset_bits % 8, end = scheme->offset_bits + scheme->bits;
    if ((scheme->value & ~scheme->mask) != 0 || scheme->bits == 0 || skip + scheme->bits > 64 ||
        end > 8 * QUIC_LB_CID_MAX)
        return -EINVAL;
    if (lb->n_schemes == QUIC_LB_SCHEMES)
        return -ENOSPC;
    for (unsigned first = 0; first < 256; first++)
        if ((first & scheme->mask) == scheme->value && lb->rule_of[first] != 0)
            return -EEXIST;
    uint8_t number = (uint8_t)(SCHEME_AT + lb->n_schemes++);
    lb->rule[number] = (struct quic_lb_rule){
        .kind = QUIC_LB_KIND_SCHEME,
        .size = (uint8_t)((end + 7) / 8),
        .first = scheme->offset_bits / 8,
        .skip = (uint8_t)skip,
        .bits = scheme->bits,
        .id_len = (uint8_t)((scheme->bits + 7) / 8),
    };
    for (unsigned first = 0; first < 256; first++)
        if ((first & scheme->mask) == scheme->value)
            lb->rule_of[first] = number;
    return 0;
}

/** The halves of a CID's encrypted part, the nibble that they share kept once each (draft, 5.4.2). */
static void split(const struct quic_lb_rule *rule, const uint8_t *p, uint8_t half[2][16])
{
    memset(half, 0, 32);
    memcpy(half[LEFT], p, rule->half);
    memcpy(half[RIGHT], p + rule->len - rule->half, rule->half);
    for (unsigned i = 0; i < rule->half; i++) {
        half[LEFT][i] &= rule->mask[LEFT][i];
        half[RIGHT][i] &= rule->mask[RIGHT][i];
    }
}

static void join(const struct quic_lb_rule *rule, const uint8_t half[2][16], uint8_t *p)
{
    memset(p, 0, rule->len);
    memcpy(p, half[LEFT], rule->half);
    for (unsigned i = 0; i < rule->half; i++)
        p[rule->len - rule->half + i] |= half[RIGHT][i];
}

/** One pass of the Feistel network; it is its own inverse. Odd passes change the right half, even ones the left. */
static void pass(const struct quic_lb_rule *rule, unsigned number, uint8_t half[2][16])
{
    const uint8_t *from = half[(number - 1) % 2];
    uint8_t *to = half[number % 2], block[AES128_BLOCK];
    memcpy(block, from, AES128_BLOCK);
    block[14] = rule->len;
    block[15] = (uint8_t)number;
    quic_lb_encrypt_block(&rule->aes, block, block);
    for (unsigned i = 0; i < rule->half; i++)
        to[i] ^= block[i] & rule->mask[number % 2][i];
}

/** Decrypt as far as the server ID, or wholly. @p plain gets the octets behind the first; at least id_len are good. */
static void decrypt(const struct quic_lb_rule *rule, const uint8_t *cid, bool wholly, uint8_t plain[LEN_MAX])
{
    uint8_t half[2][16];
    switch (rule->kind) {
    case QUIC_LB_KIND_SINGLE_PASS:
        quic_lb_decrypt_block(&rule->aes, cid + 1, plain);
        break;
    case QUIC_LB_KIND_FOUR_PASS:
        split(rule, cid + 1, half);
        for (unsigned number = 4; number >= (wholly || rule->fourth_pass ? 1 : 2); number--)
            pass(rule, number, half);
        join(rule, (const uint8_t(*)[16])half, plain);
        break;
    default:
        memcpy(plain, cid + 1, rule->len);
        break;
    }
}

enum quic_lb_verdict quic_lb_decode_portable(const struct quic_lb *lb, const uint8_t *cid, size_t len,
                                             struct quic_lb_id *id)
{
    if (len == 0)
        return QUIC_LB_SHORT;
    const struct quic_lb_rule *rule = &lb->rule[lb->rule_of[cid[0]]];
    if (rule->kind == QUIC_LB_KIND_NONE)
        return quic_lb_no_rule(cid[0]);
    if (len < rule->size)
        return QUIC_LB_SHORT;
    if (rule->kind == QUIC_LB_KIND_SCHEME) {
        quic_lb_decode_scheme(rule, cid, len, id);
        return QUIC_LB_OK;
    }
    uint8_t plain[LEN_MAX];
    decrypt(rule, cid, false, plain);
    memset(id, 0, sizeof *id);
    memcpy(id->octets, plain, rule->id_len);
    id->len = rule->id_len;
    return QUIC_LB_OK;
}

int quic_lb_encode(const struct quic_lb *lb, uint8_t first, const struct quic_lb_id *id, const uint8_t *nonce,
                   uint8_t cid[QUIC_LB_CID_MAX])
{
    const struct quic_lb_rule *rule = &lb->rule[lb->rule_of[first]];
    if (rule->kind == QUIC_LB_KIND_NONE || rule->kind == QUIC_LB_KIND_SCHEME || id->len != rule->id_len)
        return -EINVAL;
    uint8_t half[2][16];
    cid[0] = first;
    memcpy(cid + 1, id->octets, rule->id_len);
    memcpy(cid + 1 + rule->id_len, nonce, rule->len - rule->id_len);
    if (rule->kind == QUIC_LB_KIND_SINGLE_PASS) {
        quic_lb_encrypt_block(&rule->aes, cid + 1, cid + 1);
    } else if (rule->kind == QUIC_LB_KIND_FOUR_PASS) {
        split(rule, cid + 1, half);
        for (unsigned number = 1; number <= 4; number++)
            pass(rule, number, half);
        join(rule, (const uint8_t(*)[16])half, cid + 1);
    }
    return rule->size;
}

int quic_lb_open(const struct quic_lb *lb, const uint8_t *cid, size_t len, struct quic_lb_id *id,
                 uint8_t nonce[QUIC_LB_NONCE_MAX])
{
    if (len == 0)
        return -EINVAL;
    const struct quic_lb_rule *rule = &lb->rule[lb->rule_of[cid[0]]];
    if (rule->kind == QUIC_LB_KIND_NONE || rule->kind == QUIC_LB_KIND_SCHEME || len < rule->size)
        return -EINVAL;
    uint8_t plain[LEN_MAX];
    decrypt(rule, cid, true, plain);
    memset(id, 0, sizeof *id);
    memcpy(id->octets, plain, rule->id_len);
    id->len = rule->id_len;
    int nonce_len = rule->len - rule->id_len;
    memcpy(nonce, plain + rule->id_len, (size_t)nonce_len);
    return nonce_len;
}

const char *quic_lb_verdict_text(enum quic_lb_verdict verdict)
{
    switch (verdict) {
    case QUIC_LB_OK:
        return "routable";
    case QUIC_LB_NO_CONFIG:
        return "no configuration for its first octet";
    case QUIC_LB_RESERVED:
        return "marked as not routable";
    case QUIC_LB_SHORT:
        return "too short for its configuration";
    }
    return "unknown";
}
