// SPDX-License-Identifier: Apache-2.0
#ifndef TEST_QUIC_CID_MAKER_H
#define TEST_QUIC_CID_MAKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "parser/quic_lb.h"

/* The connection IDs that a server gives out: with its server ID in one of the forms that a forwarder reads, or not. */

enum cid_form {
    CID_RANDOM = 0, /**< all octets random: as servers do that know of no forwarder */
    CID_UNROUTABLE, /**< config ID 0b111, else random */
    CID_LB,         /**< QUIC-LB */
    CID_PRIVATE,    /**< a fixed first octet, the server ID, random octets */
};

struct cid_maker {
    uint8_t form; /**< enum cid_form */
    uint8_t config;
    uint8_t first;    /**< first octet of a private layout */
    bool hide_length; /**< the low bits of a QUIC-LB CID are random, instead of its length - 1 */
    uint8_t nonce_len;
    bool encrypted;
    uint8_t key[16];
    struct quic_lb_id id;
    struct quic_lb lb;
};

/** Work out the rule. @return false: no QUIC-LB configuration has such lengths */
bool cid_maker_init(struct cid_maker *maker);

/** Octets of every CID: a server has to know, a short header does not tell. */
size_t cid_maker_len(const struct cid_maker *maker);

/** Make the next one: cid_maker_len() octets. */
void cid_maker_next(const struct cid_maker *maker, uint8_t cid[QUIC_LB_CID_MAX]);

/** Hexadecimal octets. @return their number, -1: @p text is none or too long */
int cid_maker_hex(const char *text, uint8_t *octets, size_t max);

#endif
