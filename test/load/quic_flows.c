// SPDX-License-Identifier: Apache-2.0
#include "test/load/quic_flows.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "parser/quic.h"
#include "test/load/random.h"
#include "test/load/shape.h"

#define INITIAL_MIN    1200 /* RFC 9000, section 14.1 */
#define INITIAL_CID    8    /* octets, section 7.2 */
#define INITIAL_HEADER (1 + 4 + 1 + INITIAL_CID + 1 + 1 + 2)
#define STAMP_SIZE     40

/* A stamp on the wire: mark of the run, the fields of struct quic_stamp, a sum of them. */
static void put_stamp(const struct quic_flows *flows, const struct quic_stamp *stamp, uint8_t p[STAMP_SIZE])
{
    uint64_t mark = random_mix(flows->seed) | stamp->initial;
    memcpy(p, &mark, 8);
    memcpy(p + 8, &stamp->flow, 4);
    memcpy(p + 12, &stamp->flow_number, 4);
    memcpy(p + 16, &stamp->number, 8);
    memcpy(p + 24, &stamp->due, 8);
    memcpy(p + 32, &stamp->lag, 4);
    // Nothing else that is compared follows from these.
    uint32_t sum = (uint32_t)random_mix(stamp->due ^ random_mix((uint64_t)stamp->flow_number << 32 | stamp->lag));
    memcpy(p + 36, &sum, 4);
}

static bool get_stamp(const struct quic_flows *flows, const uint8_t p[STAMP_SIZE], struct quic_stamp *stamp)
{
    uint64_t mark;
    memcpy(&mark, p, 8);
    if ((mark | 1) != (random_mix(flows->seed) | 1))
        return false;
    memcpy(&stamp->flow, p + 8, 4);
    memcpy(&stamp->flow_number, p + 12, 4);
    memcpy(&stamp->number, p + 16, 8);
    memcpy(&stamp->due, p + 24, 8);
    memcpy(&stamp->lag, p + 32, 4);
    return true;
}

int quic_flows_create(struct quic_flows *flows, const struct options *options)
{
    const struct options_quic *quic = &options->quic;
    *flows = (struct quic_flows){.n = quic->flows,
                                 .n_servers = quic->n_servers,
                                 .cid_len = (uint8_t)(1 + quic->config.server_id_len + quic->config.nonce_len),
                                 .first_sport = quic->first_sport,
                                 .rebind = quic->rebind,
                                 .seed = options->seed};
    uint32_t least = 1u + flows->cid_len + STAMP_SIZE;
    flows->short_len = (uint16_t)(options->payload > least ? options->payload : least);
    flows->initial_len = flows->short_len > INITIAL_MIN ? flows->short_len : INITIAL_MIN;
    struct quic_lb *lb = calloc(1, sizeof *lb);
    flows->cid = calloc(flows->n, sizeof *flows->cid);
    int rc = lb != NULL && flows->cid != NULL ? quic_lb_add_config(lb, quic->config_id, &quic->config) : -ENOMEM;
    for (uint32_t i = 0; i < flows->n && rc >= 0; i++) {
        uint8_t nonce[QUIC_LB_NONCE_MAX] = {0};
        uint8_t first = (uint8_t)(quic->config_id << 5 | (flows->cid_len - 1));
        // Four octets at least; numbers differ, and so do nonces.
        memcpy(nonce, &i, sizeof i);
        rc = quic_lb_encode(lb, first, &quic->server[i % quic->n_servers], nonce, flows->cid[i]);
    }
    free(lb);
    if (rc >= 0)
        return 0;
    fprintf(stderr, "pitlane-load: no connection IDs: %s\n", strerror(-rc));
    quic_flows_destroy(flows);
    return rc;
}

void quic_flows_destroy(struct quic_flows *flows)
{
    free(flows->cid);
    flows->cid = NULL;
}

uint16_t quic_flows_sport(const struct quic_flows *flows, uint32_t flow, uint32_t generation)
{
    uint32_t n = 65536u - flows->first_sport;
    return (uint16_t)(flows->first_sport + ((uint64_t)flow + UINT64_C(7919) * generation) % n);
}

/* Header up to the payload. @return its octets */
static size_t put_header(const struct quic_flows *flows, const struct quic_stamp *stamp, uint8_t *p)
{
    // Protected bits are like any others.
    uint8_t random = (uint8_t)random_mix(stamp->number);
    if (!stamp->initial) {
        p[0] = 0x40 | (random & 0x3f);
        memcpy(p + 1, flows->cid[stamp->flow], flows->cid_len);
        return 1u + flows->cid_len;
    }
    uint32_t generation = quic_flows_generation(flows, stamp->flow_number);
    uint64_t cid = random_mix(flows->seed ^ ((uint64_t)stamp->flow << 32 | generation));
    unsigned rest = (unsigned)flows->initial_len - INITIAL_HEADER;
    static const uint8_t version_1[4] = {0, 0, 0, 1};
    p[0] = 0xc0 | (random & 0x0f);
    memcpy(p + 1, version_1, 4);
    p[5] = INITIAL_CID;
    memcpy(p + 6, &cid, INITIAL_CID);
    p[6 + INITIAL_CID] = 0; // no connection ID of the client's own
    p[7 + INITIAL_CID] = 0; // no token
    p[8 + INITIAL_CID] = (uint8_t)(0x40 | rest >> 8);
    p[9 + INITIAL_CID] = (uint8_t)rest;
    return INITIAL_HEADER;
}

size_t quic_flows_write(const struct quic_flows *flows, const struct quic_stamp *stamp, uint8_t *p)
{
    size_t len = stamp->initial ? flows->initial_len : flows->short_len, at = put_header(flows, stamp, p);
    put_stamp(flows, stamp, p + at);
    at += STAMP_SIZE;
    shape_fill(flows->seed, stamp->number, 0, p + at, len - at);
    return len;
}

enum quic_read quic_flows_read(const struct quic_flows *flows, const uint8_t *p, size_t len, struct quic_stamp *stamp)
{
    struct quic_header header;
    struct quic_opts opts = {.require_fixed_bit = true, .from_client = true, .short_dcid_len = flows->cid_len};
    if (quic_parse(p, len, &opts, &header) != VERDICT_OK)
        return QUIC_READ_STRANGE;
    bool initial = header.type == QUIC_TYPE_INITIAL;
    size_t head = initial ? INITIAL_HEADER : 1u + flows->cid_len;
    if ((!initial && header.type != QUIC_TYPE_SHORT) || len < head + STAMP_SIZE || !get_stamp(flows, p + head, stamp) ||
        stamp->flow >= flows->n)
        return QUIC_READ_STRANGE;
    stamp->initial = initial;
    uint8_t want[INITIAL_HEADER + QUIC_LB_CID_MAX + STAMP_SIZE];
    put_header(flows, stamp, want);
    put_stamp(flows, stamp, want + head);
    head += STAMP_SIZE;
    bool good = len == (initial ? flows->initial_len : flows->short_len) && memcmp(p, want, head) == 0 &&
                shape_filled(flows->seed, stamp->number, 0, p + head, len - head);
    return good ? QUIC_READ_OK : QUIC_READ_CORRUPT;
}
