// SPDX-License-Identifier: Apache-2.0
#ifndef TEST_QUIC_H3_H
#define TEST_QUIC_H3_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * As much of HTTP/3 (RFC 9114) as an upload takes: one request, a POST, and one response, so that our client meets
 * servers of others and our server their clients. Header fields are those of QPACK's static table (RFC 9204,
 * appendix A); those that come in are not read.
 */

#define H3_HEAD_MAX 64

/** What opens a control stream: its type, and SETTINGS without settings. */
#define H3_CONTROL     "\x00\x04\x00"
#define H3_CONTROL_LEN 3

/** What is before @p body octets of a POST. @return octets */
size_t h3_request(uint8_t out[H3_HEAD_MAX], uint64_t body);

/** What is before @p body octets of a response with status 200. @return octets */
size_t h3_response(uint8_t out[H3_HEAD_MAX], uint64_t body);

/** Where a request or response stream is being read; begins as {0}. */
struct h3_reader {
    uint8_t head[16]; /**< type and length of a frame, as far as they are there */
    uint8_t n;
    bool in_frame, is_data;
    bool headers;  /**< a HEADERS frame began */
    uint64_t left; /**< octets of the frame's payload to come */
    uint64_t body; /**< octets of DATA so far */
};

/**
 * Octets of the stream, in order; @p data is told of what of them is the body.
 *
 * @return false: frames in an order that no peer sends
 */
bool h3_read(struct h3_reader *reader, const uint8_t *octets, size_t len,
             void (*data)(void *ctx, uint64_t offset, const uint8_t *octets, size_t len), void *ctx);

#endif
