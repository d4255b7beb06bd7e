// SPDX-License-Identifier: Apache-2.0
#ifndef TEST_QUIC_TRANSFER_H
#define TEST_QUIC_TRANSFER_H

#include <stdbool.h>
#include <stdint.h>

#include "test/quic/conn.h"
#include "test/quic/h3.h"
#include "test/quic/udp.h"

/*
 * One upload of the client on a connection and a socket of its own. On its way it changes its port: unknown to QUIC, as
 * a NAT does (rebind), or as a client that moves and takes another connection ID of the server (migrate).
 */

struct transfer_options {
    struct udp_addr local, peer;
    uint64_t octets;
    uint64_t rate;    /**< octets a second; 0: as fast as it goes */
    unsigned rebinds; /**< after the migrations, all of them spread evenly over the octets */
    unsigned migrations;
    uint64_t timeout_ns; /**< of the whole transfer */
    unsigned dcid_len;   /**< of the client-chosen connection ID: 8..20 */
    uint32_t version;
    uint16_t payload_max;
    bool h3; /**< as a POST of HTTP/3, whose answer is not read */
};

enum transfer_state { TRANSFER_RUNS = 0, TRANSFER_OK, TRANSFER_FAILED };

struct transfer {
    struct conn conn;
    const struct transfer_options *options;
    uint64_t begin_ns, confirmed_ns, end_ns;
    uint64_t written;          /**< octets of the upload that may be sent now: the rate */
    uint8_t head[H3_HEAD_MAX]; /**< of HTTP/3: before the upload */
    size_t head_len;
    struct h3_reader reader;
    unsigned moves;
    bool confirmed, work;
    bool was_reset; /**< by a Stateless Reset */
    uint8_t state;  /**< enum transfer_state */
    char answer[96];
    size_t answer_len;
    char server[40]; /**< its ID in the answer */
    const char *why; /**< of a failure; static */
};

void transfer_begin(struct transfer *transfer, const struct transfer_options *options, uint64_t now);

/** Read what has arrived, when @p readable; send what is due. @return when to come again at the latest */
uint64_t transfer_work(struct transfer *transfer, bool readable, uint64_t now);

/** Free what it has. */
void transfer_close(struct transfer *transfer);

#endif
