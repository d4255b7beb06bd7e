// SPDX-License-Identifier: Apache-2.0
#ifndef FWD_CLIENT_PING_H
#define FWD_CLIENT_PING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "parser/ndn_packet.h"

struct command_line;

/** `pitlane ping PREFIX` and `pitlane pingserver PREFIX`. @return enum command_exit */
int ping_run(const struct command_line *line);
int pingserver_run(const struct command_line *line);

/** Most octets of Content that pingserver sends. */
#define PING_CONTENT_MAX 8600

/** The Content that pingserver sends for a Name: octets that depend on the Name, so that a mix-up is seen. */
void ping_content(const uint8_t *name, size_t name_len, uint8_t *content, size_t len);

/** What a Data packet holds besides its Name. Pointers go into the packet. */
struct ping_data {
    const uint8_t *content;
    size_t content_len;
    const uint8_t *signed_part; /**< the octets that the signature covers */
    size_t signed_len;
    uint64_t content_type;      /**< 0 when absent: a blob */
    const uint8_t *final_block; /**< TLV-VALUE of FinalBlockId, NULL when absent */
    size_t final_block_len;
    const uint8_t *digest; /**< SignatureValue when SignatureType is DigestSha256 and it has 32 octets, else NULL */
};

/** Read the elements of a whole Data TLV (NDN packet spec 0.3, Data). @return false when it is malformed */
bool ping_data_parse(const uint8_t *data, size_t len, struct ping_data *parsed);

/** True when the DigestSha256 signature of @p data is right; also true for other signature types. */
bool ping_data_verify(const struct ping_data *data);

/** SHA-256. @return false when the library failed */
bool ping_sha256(const uint8_t *p, size_t len, uint8_t digest[32]);

/** Nanoseconds of the monotonic clock. */
uint64_t ping_now_ns(void);

/** True after SIGINT or SIGTERM, once ping_catch_signals() was called. */
bool ping_stopped(void);
void ping_catch_signals(void);

/** Round-trip times: all are kept, up to a bound; beyond it every second one is. */
struct rtt {
    uint64_t *ns;
    size_t n, size;
    uint64_t stride, seen; /**< one of each stride is kept */
    uint64_t min, max, sum;
};

void rtt_init(struct rtt *rtt);
void rtt_free(struct rtt *rtt);
void rtt_add(struct rtt *rtt, uint64_t ns);
/** Nearest-rank percentile, 0 < @p percent <= 100; 0 without samples. Sorts the samples. */
uint64_t rtt_percentile(struct rtt *rtt, double percent);

#endif
