// SPDX-License-Identifier: Apache-2.0
#ifndef FWD_CLIENT_PARTIAL_H
#define FWD_CLIENT_PARTIAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fwd/client/link.h"

/*
 * NDNLPv2 reassembly of a client: a few partial packets, keyed by sender and Sequence - FragIndex; the oldest makes
 * room for a new one. Single-threaded.
 */
struct partial_table;

/** @return 0 or -ENOMEM */
int partial_create(struct partial_table **table);
void partial_destroy(struct partial_table *table);

/**
 * Take a fragment. @return true when it completed a packet: then *whole .. *len are its octets and *lp the header
 * fields of its first fragment, all valid until the next call
 */
bool partial_add(struct partial_table *table, const struct link_peer *from, const struct ndn_lp *fragment,
                 const uint8_t **whole, size_t *len, struct ndn_lp *lp);

/** Partial packets that had to make room or contradicted themselves. */
uint64_t partial_lost(const struct partial_table *table);

#endif
