// SPDX-License-Identifier: Apache-2.0
#ifndef TEST_BENCH_EXCHANGE_H
#define TEST_BENCH_EXCHANGE_H

#include <stddef.h>
#include <stdint.h>

#include "fwd/token.h"
#include "parser/ndn_name.h"
#include "test/bed/bed.h"

/*
 * Frames of exchanges, for benchmarks of the pipeline: Interests /ndnbench/flowNNNN/.../NNNNNNNN with a PIT token of
 * eight octets and their Data, made by copying one of each and writing what varies.
 */

#define EXCHANGE_FLOWS 10000 /* of which each has a route */

struct exchange {
    struct bed *bed;
    uint8_t interest[512], data[NDN_PACKET_MAX + 256];
    size_t interest_len, data_len;
    size_t interest_seq, data_seq, interest_flow, data_flow; /* where the varying octets are */
    size_t interest_token, data_token, interest_nonce;
};

/** @param comps components of the names, 3 to 30; @param payload octets of Content */
void exchange_init(struct exchange *x, struct bed *bed, uint32_t consumer, uint32_t producer, unsigned comps,
                   unsigned payload);

/** The Interest @p number of a flow, whose PIT token is its number. The caller's. */
struct rte_mbuf *exchange_interest(const struct exchange *x, uint64_t number, unsigned flow);
/** Its Data, with the PIT token that the forwarder sent. The caller's. */
struct rte_mbuf *exchange_data(const struct exchange *x, uint64_t number, unsigned flow,
                               const uint8_t token[TOKEN_SIZE]);
/** Token of a forwarded Interest. Same shape as what came in, with a token of the same size. */
const uint8_t *exchange_token(const struct exchange *x, const struct rte_mbuf *sent);
/** Abort unless @p sent is the Interest, or the Data, of this number. */
void exchange_check_interest(const struct exchange *x, const struct rte_mbuf *sent, uint64_t number);
void exchange_check_data(const struct exchange *x, const struct rte_mbuf *sent, uint64_t number);

#endif
