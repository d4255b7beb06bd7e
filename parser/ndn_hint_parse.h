// SPDX-License-Identifier: Apache-2.0
#ifndef PARSER_NDN_HINT_PARSE_H
#define PARSER_NDN_HINT_PARSE_H

#include "parser/ndn_packet.h"
#include "parser/ndn_tlv.h"

/**
 * Read a ForwardingHint (NDN packet spec 0.3, section 3.5; Delegations as before 0.3 are taken too) of an Interest that
 * begins at @p net. Part of ndn_packet_parse(). @return VERDICT_OK and interest->hint, n_hints filled, or why not
 */
enum verdict ndn_hint_parse(const struct tlv *hints, bool lenient, const uint8_t *net, struct ndn_interest *interest);

#endif
