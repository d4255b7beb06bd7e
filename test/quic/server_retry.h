// SPDX-License-Identifier: Apache-2.0
#ifndef TEST_QUIC_SERVER_RETRY_H
#define TEST_QUIC_SERVER_RETRY_H

#include <ngtcp2/ngtcp2.h>
#include <stdbool.h>
#include <stdint.h>

#include "test/quic/udp.h"

/*
 * The server's part of Retry offload (draft-ietf-quic-retry-offload): tokens that the forwarder made tell what the
 * server has to know of the Initial that it never saw. One thread.
 */

/** Read keys: lines "SEQUENCE KEY IV" as the forwarder's file has them. Ends the program when there is none. */
void server_retry_init(const char *file);

enum server_retry { SERVER_RETRY_NONE = 0, SERVER_RETRY_GOOD, SERVER_RETRY_BAD };

/** Look at the token of an Initial. @p original_dcid is set when it is good. */
enum server_retry server_retry_check(const ngtcp2_pkt_hd *header, const struct udp_addr *peer,
                                     ngtcp2_cid *original_dcid);

#endif
