// SPDX-License-Identifier: Apache-2.0
/*
 * What the edge of a QUIC service answers or refuses asks for no memory, libcrypto included: Retry packets, tokens that
 * are good, bad or a server's, keys that change, Version Negotiation, limits. Exit 1 when there was a single call.
 */
#include "test/unit/fwd/alloc.h"

#include <stdio.h>
#include <string.h>

#include "test/bed/edge_bed.h"

#define ROUNDS 20000

static struct edge_bed *edge;
static uint8_t datagram[1500];

static void want(enum edge_end end, const struct edge_initial *fields)
{
    if (edge_datagram(edge, datagram, edge_put_initial(datagram, fields), true) != end) {
        counting = false;
        printf("an Initial did not end as it should\n");
        exit(1);
    }
}

static void retry_round(uint32_t version, unsigned n)
{
    struct quic_header header;
    const struct quic_opts opts = {0};
    struct edge_initial fields = {.version = version, .dcid_len = 8, .scid_len = 8};
    uint8_t cid[20], token[100];
    edge->v6 = n & 1;
    edge->service.retry_config = (uint8_t)(n % EDGE_CONFIGS);
    if (n % 100 == 0)
        edge->service.retry_key[0].key[0] ^= 1;
    want(EDGE_ANSWERED, &fields);
    struct edge_sent sent = edge_parse_sent(edge, 0);
    if (quic_parse(sent.payload, sent.len, &opts, &header) != VERDICT_OK)
        abort();
    memcpy(cid, header.scid, header.scid_len);
    memcpy(token, header.token, header.token_len);
    fields.dcid = cid;
    fields.dcid_len = header.scid_len;
    fields.token = token;
    fields.token_len = header.token_len;
    bed_drop_sent(edge->bed);
    want(EDGE_PASSED, &fields);
    // The same from a later Initial, then a changed one, then one that seems a server's.
    memset(cid, 0xff, sizeof cid);
    want(EDGE_PASSED, &fields);
    token[20 + n % 28] ^= 1;
    want(EDGE_DROPPED, &fields);
    token[0] |= 0x80;
    want(EDGE_ANSWERED, &fields);
    bed_drop_sent(edge->bed);
}

int main(void)
{
    edge = edge_bed_create();
    edge_bed_servers(edge);
    edge->service.n_versions = 2;
    edge->service.version[0] = QUIC_VERSION_1;
    edge->service.version[1] = QUIC_VERSION_2;
    edge->service.version_negotiation = true;
    edge->service.initial_rate = edge->service.edge_rate = 1000000;
    counting = true;
    // Calls that other libraries make must count too.
    free(strdup("counted"));
    if (n_calls != 2) {
        printf("calls are not counted\n");
        return 1;
    }
    n_calls = 0;
    for (unsigned i = 0; i < ROUNDS; i++) {
        retry_round(i & 2 ? QUIC_VERSION_2 : QUIC_VERSION_1, i);
        edge_put_long(datagram, 0xc0, 0x1a2a3a4a, 200, 200);
        if (edge_datagram(edge, datagram, 1200, true) != EDGE_ANSWERED)
            return 1;
        bed_drop_sent(edge->bed);
        edge->bed->now_ns += 1000000;
    }
    counting = false;
    printf("%u rounds, %llu Retry packets: %llu allocations\n", ROUNDS, (unsigned long long)edge_stats(edge)->retries,
           (unsigned long long)n_calls);
    return n_calls == 0 && edge_stats(edge)->retries == 2 * ROUNDS && bed_check(edge->bed) == 0 ? 0 : 1;
}
