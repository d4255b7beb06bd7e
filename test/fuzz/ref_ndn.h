// SPDX-License-Identifier: Apache-2.0
#ifndef TEST_FUZZ_REF_NDN_H
#define TEST_FUZZ_REF_NDN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "parser/ndn_packet.h"

/*
 * A second parser of NDN packets, written for comparison only: it cuts every element into a list of its children
 * first and asks questions of the lists afterwards, allocates as it likes, and shares no code with parser/.
 */

struct ref_name {
    size_t off, len; /**< TLV-VALUE, from the start of the input */
    size_t n_comps;
    size_t end[NDN_NAME_DEPTH + 1];
    bool has_digest;
    size_t n_params;
};

struct ref_packet {
    int type; /**< 5, 6, or 0 for a fragment or an IDLE packet */
    size_t net_off, net_len;
    struct ref_name name;
    bool can_be_prefix, must_be_fresh, has_nonce;
    uint32_t nonce, lifetime_ms, freshness_ms;
    size_t nonce_off, hop_limit_off; /**< from net_off; hop_limit_off 0: absent */
    uint8_t hop_limit;
    size_t n_hints;
    struct ref_name hint[NDN_HINTS_MAX];

    bool is_lp, has_sequence, has_fragment, has_nack, has_next_hop, has_incoming, has_policy, has_mark, has_tx_sequence,
        has_non_discovery;
    size_t token_off, token_len, announcement_off, announcement_len; /**< length 0: absent */
    uint64_t sequence, frag_index, frag_count, nack_reason, next_hop, incoming, policy, mark, tx_sequence;
    size_t n_acks;
    uint64_t first_ack, last_ack; /**< of those within NDN_LP_ACKS_MAX */
};

/** Does ndn_packet_parse() have to accept this input? @p ref is filled when it does. */
bool ref_ndn_parse(const uint8_t *p, size_t len, const struct ndn_parse_opts *opts, struct ref_packet *ref);

/** Parse @p p both ways and abort unless the two agree on acceptance and on every field. @return accepted */
bool ref_ndn_compare(const uint8_t *p, size_t len, const struct ndn_parse_opts *opts, struct ndn_packet *pkt);

/** Encode what was accepted again, without its header fields, and abort unless that parses to the same. */
void ref_ndn_check_reencoded(const struct ndn_packet *pkt);

#endif
