// SPDX-License-Identifier: Apache-2.0
#include "test/load/shape.h"

#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "parser/ndn_encode.h"
#include "test/load/random.h"

#define SIGNATURE_SIZE 32
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
    return 0;
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
    if (rc != 0)
        names_destroy(&shape->names);
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

static bool same(const uint8_t *a, const uint8_t *b, size_t from, size_t to)
{
    return memcmp(a + from, b + from, to - from) == 0;
}

enum shape_verdict shape_check_interest(const struct shape *shape, const struct ndn_packet *pkt, uint32_t *number)
{
    if (!names_read(&shape->names, false, pkt->name.value, pkt->name.len, number))
        return SHAPE_STRANGE;
    const uint8_t *p = pkt->net;
    size_t name_off = shape->interest_name_off, name_end = name_off + shape->names.len, nonce = shape->nonce_off;
    if (pkt->net_len != shape->interest_len || !same(p, shape->interest, 0, name_off) ||
        !same(p, shape->interest, name_end, nonce))
        return SHAPE_CORRUPT;
    // A forwarder counts HopLimit down, and nothing else.
    size_t at = nonce + 4, hop = shape->hop_limit_off;
    if (hop != 0) {
        if (p[hop] > shape->interest[hop] || !same(p, shape->interest, at, hop))
            return SHAPE_CORRUPT;
        at = hop + 1;
    }
    return same(p, shape->interest, at, shape->interest_len) ? SHAPE_OK : SHAPE_CORRUPT;
}

enum shape_verdict shape_check_data(const struct shape *shape, const struct ndn_packet *pkt, uint32_t *number)
{
    if (!names_read(&shape->names, true, pkt->name.value, pkt->name.len, number))
        return SHAPE_STRANGE;
    const uint8_t *p = pkt->net;
    size_t name_off = shape->data_name_off, name_end = name_off + shape->names.data_len, content = shape->content_off;
    bool good = pkt->net_len == shape->data_len && same(p, shape->data, 0, name_off) &&
                same(p, shape->data, name_end, content) &&
                shape_filled(shape->seed, *number, 0, p + content, shape->content_len) &&
                same(p, shape->data, content + shape->content_len, shape->signature_off) &&
                shape_filled(shape->seed, *number, SIGNATURE_WORD, p + shape->signature_off, SIGNATURE_SIZE);
    return good ? SHAPE_OK : SHAPE_CORRUPT;
}
