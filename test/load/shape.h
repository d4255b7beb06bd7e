// SPDX-License-Identifier: Apache-2.0
#ifndef TEST_LOAD_SHAPE_H
#define TEST_LOAD_SHAPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "parser/ndn_encode.h"
#include "parser/ndn_packet.h"
#include "test/load/names.h"
#include "test/load/options.h"

/** Octets of an Interest, and of Data before their Content, at most. */
#define SHAPE_INTEREST_MAX (NDN_NAME_MAX + 64)

/*
 * The packets of a run. All Interests are alike but for name and Nonce, all Data but for name, Content and signature,
 * which follow from the seed and the name's number: consumer and producer need not talk about them. Each octet of a
 * packet that comes is compared with what was sent. The signature is DigestSha256 by its type only.
 */
struct shape {
    struct names names;
    uint64_t seed;
    uint16_t interest_len, interest_name_off, nonce_off, hop_limit_off; /* 0: no HopLimit */
    uint16_t data_len, data_name_off, content_off, content_len, signature_off;
    uint8_t interest[SHAPE_INTEREST_MAX], interest_mask[SHAPE_INTEREST_MAX];
    uint8_t data[NDN_PACKET_MAX];
    uint8_t data_mask[SHAPE_INTEREST_MAX]; /* up to Content */
    struct shape_head {
        uint8_t len, token_off;
        uint8_t octets[NDN_LP_TOKEN_HEADER_MAX], mask[NDN_LP_TOKEN_HEADER_MAX];
    } head[2]; /* NDNLPv2 with a PitToken of eight octets, before an Interest and before a Data */
};

/** Says on stderr what is wrong. @return 0, -EINVAL or -ENOMEM */
int shape_create(struct shape *shape, const struct options *options);
void shape_destroy(struct shape *shape);

/** Write the Interest (Data) for a name's number: interest_len (data_len) octets. */
void shape_interest(const struct shape *shape, uint32_t number, uint32_t nonce, uint8_t *p);
void shape_data(const struct shape *shape, uint32_t number, uint8_t *p);

/** What a packet turns out to be. */
enum shape_verdict {
    SHAPE_OK,
    SHAPE_STRANGE, /**< not of this run: another name */
    SHAPE_CORRUPT, /**< of this run by its name, but not what was sent */
};

/** Compare a packet that was parsed: the whole Interest (Data) TLV. */
enum shape_verdict shape_check_interest(const struct shape *shape, const struct ndn_packet *pkt, uint32_t *number);
enum shape_verdict shape_check_data(const struct shape *shape, const struct ndn_packet *pkt, uint32_t *number);

/**
 * The commonest case without parsing: whether @p p begins with an Interest (Data) that was sent, in an LpPacket that
 * has a PitToken of eight octets and nothing else. What is equal in each octet has been parsed before. A no means
 * nothing.
 *
 * @return octets of the LpPacket, and where token and network packet begin; 0: not so
 */
size_t shape_quick(const struct shape *shape, bool is_data, const uint8_t *p, size_t len, uint32_t *number,
                   const uint8_t **token, const uint8_t **net);

/**
 * The octets that stand for a number: words of eight, each a step further, so that neither an octet changed nor words
 * that change places go unseen. Starts at word @p from.
 */
void shape_fill(uint64_t seed, uint64_t number, uint32_t from, uint8_t *p, size_t len);
bool shape_filled(uint64_t seed, uint64_t number, uint32_t from, const uint8_t *p, size_t len);

#endif
