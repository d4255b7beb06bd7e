// SPDX-License-Identifier: Apache-2.0
#include "test/load/shape.h"

#include <assert.h>
#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "parser/ndn_encode.h"
#include "test/load/random.h"

#define SIGNATURE_SIZE 32
#define SIGNATURE_INFO (5 + 2) /* octets between Content and signature: SignatureInfo, type and length of the value */
#define SIGNATURE_WORD UINT32_C(0x10000) /* beyond any word of Content */
#define STEP           UINT64_C(0x9e3779b97f4a7c15)

static uint64_t first_word(uint64_t seed, uint64_t number, uint32_t from)
{
    return random_mix(seed ^ random_mix(number)) + STEP * from;
}

void shape_fill(uint64_t seed, uint64_t number, uint32_t from, uint8_t *p, size_t len)
{
    uint64_t word = first_word(seed, number, from);
    for (; len >= 8; len -= 8, p += 8, word += STEP) {
        uint64_t octets = htole64(word);
        memcpy(p, &octets, 8);
    }
    uint64_t octets = htole64(word);
    memcpy(p, &octets, len);
}

bool shape_filled(uint64_t seed, uint64_t number, uint32_t from, const uint8_t *p, size_t len)
{
    uint64_t word = first_word(seed, number, from), differ = 0;
    for (; len >= 8; len -= 8, p += 8, word += STEP) {
        uint64_t octets;
        memcpy(&octets, p, 8);
        differ |= le64toh(octets) ^ word;
    }
    uint64_t octets = htole64(word);
    return differ == 0 && memcmp(p, &octets, len) == 0;
}

static int make_interest(struct shape *shape, const struct options *options)
{
    struct ndn_interest_out out = {.name = shape->names.value,
                                   .name_len = shape->names.len,
                                   .can_be_prefix = options->can_be_prefix,
                                   .must_be_fresh = options->must_be_fresh,
                                   .lifetime_ms = options->lifetime_ms,
                                   .hop_limit = options->hop_limit};
    shape->interest_len = (uint16_t)ndn_interest_encode(shape->interest, sizeof shape->interest, &out);
    struct ndn_packet pkt;
    if (shape->interest_len == 0 ||
        ndn_packet_parse(shape->interest, shape->interest_len, &(struct ndn_parse_opts){0}, &pkt) != VERDICT_OK)
        return -EINVAL;
    shape->interest_name_off = (uint16_t)(pkt.name.value - shape->interest);
    shape->nonce_off = pkt.interest.nonce_off;
    shape->hop_limit_off = pkt.interest.hop_limit_off;
    memset(shape->interest_mask, 0xff, sizeof shape->interest_mask);
    names_mask(&shape->names, shape->interest_mask + shape->interest_name_off);
    memset(shape->interest_mask + shape->nonce_off, 0, 4);
    if (shape->hop_limit_off != 0)
        shape->interest_mask[shape->hop_limit_off] = 0;
    return 0;
}

static int make_data(struct shape *shape, const struct options *options)
{
    static const uint8_t content[NDN_PACKET_MAX];
    struct ndn_data_out out = {.name = shape->names.value,
                               .name_len = shape->names.data_len,
                               .freshness_ms = options->freshness_ms,
                               .content_len = (uint16_t)options->payload,
                               .content = content};
    size_t signed_off, signed_len;
    shape->data_len = (uint16_t)ndn_data_encode(shape->data, sizeof shape->data, &out, &signed_off, &signed_len);
    struct ndn_packet pkt;
    if (shape->data_len == 0 ||
        ndn_packet_parse(shape->data, shape->data_len, &(struct ndn_parse_opts){0}, &pkt) != VERDICT_OK) {
        fprintf(stderr, "pitlane-load: Data with %u octets of Content are larger than %d\n", options->payload,
                NDN_PACKET_MAX);
        return -EINVAL;
    }
    shape->data_name_off = (uint16_t)(pkt.name.value - shape->data);
    shape->content_len = (uint16_t)options->payload;
    shape->signature_off = (uint16_t)(shape->data_len - SIGNATURE_SIZE);
    // The signed part ends with SignatureInfo, TYPE 22 and LENGTH 3, before which stands Content.
    shape->content_off = (uint16_t)(signed_off + signed_len - 5 - options->payload);
    assert(shape->content_off + options->payload + SIGNATURE_INFO == shape->signature_off);
    memset(shape->data_mask, 0xff, sizeof shape->data_mask);
    names_mask(&shape->names, shape->data_mask + shape->data_name_off);
    return 0;
}

static void make_head(struct shape_head *head, size_t net_len)
{
    uint8_t *end = head->octets + sizeof head->octets;
    size_t len = ndn_lp_prepend_token(end, net_len, (const uint8_t[8]){0});
    memmove(head->octets, end - len, len);
    head->len = (uint8_t)len;
    // Behind the token stand type and length of Fragment.
    head->token_off = (uint8_t)(len - 1 - ndn_tlv_var_size(net_len) - 8);
    memset(head->mask, 0xff, sizeof head->mask);
    memset(head->mask + head->token_off, 0, 8);
}

int shape_create(struct shape *shape, const struct options *options)
{
    int rc = names_create(&shape->names, options);
    if (rc != 0)
        return rc;
    shape->seed = options->seed;
    rc = make_interest(shape, options);
    if (rc == 0)
        rc = make_data(shape, options);
    if (rc != 0) {
        names_destroy(&shape->names);
        return rc;
    }
    make_head(&shape->head[0], shape->interest_len);
    make_head(&shape->head[1], shape->data_len);
    return rc;
}

void shape_destroy(struct shape *shape)
{
    names_destroy(&shape->names);
}

void shape_interest(const struct shape *shape, uint32_t number, uint32_t nonce, uint8_t *p)
{
    memcpy(p, shape->interest, shape->interest_len);
    names_write(&shape->names, number, p + shape->interest_name_off);
    memcpy(p + shape->nonce_off, &nonce, sizeof nonce);
}

void shape_data(const struct shape *shape, uint32_t number, uint8_t *p)
{
    size_t behind = (size_t)shape->content_off + shape->content_len;
    memcpy(p, shape->data, shape->content_off);
    names_write(&shape->names, number, p + shape->data_name_off);
    shape_fill(shape->seed, number, 0, p + shape->content_off, shape->content_len);
    memcpy(p + behind, shape->data + behind, shape->signature_off - behind);
    shape_fill(shape->seed, number, SIGNATURE_WORD, p + shape->signature_off, SIGNATURE_SIZE);
}

static uint64_t difference(const uint8_t *a, const uint8_t *b, const uint8_t *mask)
{
    uint64_t x, y, m;
    memcpy(&x, a, 8);
    memcpy(&y, b, 8);
    memcpy(&m, mask, 8);
    return (x ^ y) & m;
}

/* Compare @p len octets, eight at least, where the mask has ones. */
static bool same(const uint8_t *a, const uint8_t *b, const uint8_t *mask, size_t len)
{
    uint64_t differ = 0;
    size_t i = 0;
    for (; i + 8 <= len; i += 8)
        differ |= difference(a + i, b + i, mask + i);
    // The last eight, of which some were compared already.
    differ |= difference(a + len - 8, b + len - 8, mask + len - 8);
    return differ == 0;
}

/* A packet whose octets are not those of one of ours: is it one that was changed? */
static enum shape_verdict other(const struct shape *shape, bool is_data, const struct ndn_packet *pkt, uint32_t *number)
{
    bool ours = names_read(&shape->names, is_data, pkt->name.value, pkt->name.len, number);
    return ours ? SHAPE_CORRUPT : SHAPE_STRANGE;
}

/* Whether these are the octets of an Interest (Data) that was sent; there are interest_len (data_len) of them. */
static bool same_interest(const struct shape *shape, const uint8_t *p, uint32_t *number)
{
    size_t hop = shape->hop_limit_off;
    // A forwarder counts HopLimit down, and changes nothing else.
    return same(p, shape->interest, shape->interest_mask, shape->interest_len) &&
           names_digits(&shape->names, p + shape->interest_name_off, number) &&
           (hop == 0 || p[hop] <= shape->interest[hop]);
}

static bool same_data(const struct shape *shape, const uint8_t *p, uint32_t *number)
{
    size_t content = shape->content_off, behind = content + shape->content_len, signature = shape->signature_off;
    return same(p, shape->data, shape->data_mask, content) &&
           names_digits(&shape->names, p + shape->data_name_off, number) &&
           shape_filled(shape->seed, *number, 0, p + content, shape->content_len) &&
           memcmp(p + behind, shape->data + behind, SIGNATURE_INFO) == 0 &&
           shape_filled(shape->seed, *number, SIGNATURE_WORD, p + signature, SIGNATURE_SIZE);
}

enum shape_verdict shape_check_interest(const struct shape *shape, const struct ndn_packet *pkt, uint32_t *number)
{
    if (pkt->net_len == shape->interest_len && same_interest(shape, pkt->net, number))
        return SHAPE_OK;
    return other(shape, false, pkt, number);
}

enum shape_verdict shape_check_data(const struct shape *shape, const struct ndn_packet *pkt, uint32_t *number)
{
    if (pkt->net_len == shape->data_len && same_data(shape, pkt->net, number))
        return SHAPE_OK;
    return other(shape, true, pkt, number);
}

size_t shape_quick(const struct shape *shape, bool is_data, const uint8_t *p, size_t len, uint32_t *number,
                   const uint8_t **token, const uint8_t **net)
{
    const struct shape_head *head = &shape->head[is_data];
    size_t whole = (size_t)head->len + (is_data ? shape->data_len : shape->interest_len);
    if (len < whole || !same(p, head->octets, head->mask, head->len))
        return 0;
    *token = p + head->token_off;
    *net = p + head->len;
    bool good = is_data ? same_data(shape, *net, number) : same_interest(shape, *net, number);
    return good ? whole : 0;
}
