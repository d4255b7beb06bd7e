// SPDX-License-Identifier: Apache-2.0
#include "test/bench/exchange.h"

#include <stdlib.h>
#include <string.h>

#include <rte_mbuf.h>

static size_t find(const uint8_t *in, size_t len, const char *text)
{
    uint8_t *at = memmem(in, len, text, strlen(text));
    if (at == NULL)
        abort();
    return (size_t)(at - in);
}

static void digits(uint8_t *to, uint64_t number, unsigned base, unsigned n)
{
    for (unsigned i = n; i-- > 0; number /= base)
        to[i] = (uint8_t) "0123456789abcdef"[number % base];
}

void exchange_init(struct exchange *x, struct bed *bed, uint32_t consumer, uint32_t producer, unsigned comps,
                   unsigned payload)
{
    x->bed = bed;
    char uri[512] = "/ndnbench/flow0000";
    for (unsigned i = 3; i < comps; i++)
        strcat(uri, "/aaaaaaaa");
    strcat(uri, "/00000000");
    struct bed_fields fields = {.nonce = 0x5a5b5c5d,
                                .lifetime_ms = 60000,
                                .token = "TOKENTOK",
                                .token_len = 8,
                                .freshness_ms = 10000,
                                .payload = (uint16_t)payload,
                                .fill = 0x55};
    uint8_t packet[NDN_PACKET_MAX + 512];
    size_t len = bed_interest(packet, sizeof packet, uri, &fields);
    struct rte_mbuf *frame = bed_frame(bed, consumer, packet, len);
    x->interest_len = frame->pkt_len;
    memcpy(x->interest, rte_pktmbuf_mtod(frame, void *), x->interest_len);
    rte_pktmbuf_free(frame);
    len = bed_data(packet, sizeof packet, uri, &fields);
    frame = bed_frame(bed, producer, packet, len);
    x->data_len = frame->pkt_len;
    if (x->data_len > frame->data_len)
        abort();
    memcpy(x->data, rte_pktmbuf_mtod(frame, void *), x->data_len);
    rte_pktmbuf_free(frame);
    x->interest_seq = find(x->interest, x->interest_len, "00000000");
    x->data_seq = find(x->data, x->data_len, "00000000");
    x->interest_flow = find(x->interest, x->interest_len, "flow") + 4;
    x->data_flow = find(x->data, x->data_len, "flow") + 4;
    x->interest_token = find(x->interest, x->interest_len, "TOKENTOK");
    x->data_token = find(x->data, x->data_len, "TOKENTOK");
    x->interest_nonce = find(x->interest, x->interest_len, "\x5a\x5b\x5c\x5d");
}

static struct rte_mbuf *copy(const struct exchange *x, const uint8_t *octets, size_t len)
{
    struct rte_mbuf *mbuf = rte_pktmbuf_alloc(x->bed->pool);
    if (mbuf == NULL)
        abort();
    memcpy(rte_pktmbuf_append(mbuf, (uint16_t)len), octets, len);
    return mbuf;
}

struct rte_mbuf *exchange_interest(const struct exchange *x, uint64_t number, unsigned flow)
{
    struct rte_mbuf *mbuf = copy(x, x->interest, x->interest_len);
    uint8_t *p = rte_pktmbuf_mtod(mbuf, uint8_t *);
    digits(p + x->interest_seq, number, 16, 8);
    digits(p + x->interest_flow, flow, 10, 4);
    uint32_t nonce = (uint32_t)(number * 2654435761u);
    memcpy(p + x->interest_nonce, &nonce, sizeof nonce);
    memcpy(p + x->interest_token, &number, sizeof number);
    return mbuf;
}

struct rte_mbuf *exchange_data(const struct exchange *x, uint64_t number, unsigned flow,
                               const uint8_t token[TOKEN_SIZE])
{
    struct rte_mbuf *mbuf = copy(x, x->data, x->data_len);
    uint8_t *p = rte_pktmbuf_mtod(mbuf, uint8_t *);
    digits(p + x->data_seq, number, 16, 8);
    digits(p + x->data_flow, flow, 10, 4);
    memcpy(p + x->data_token, token, TOKEN_SIZE);
    return mbuf;
}

const uint8_t *exchange_token(const struct exchange *x, const struct rte_mbuf *sent)
{
    return rte_pktmbuf_mtod(sent, const uint8_t *) + x->interest_token;
}

void exchange_check_interest(const struct exchange *x, const struct rte_mbuf *sent, uint64_t number)
{
    uint8_t want[8];
    digits(want, number, 16, 8);
    if (memcmp(rte_pktmbuf_mtod(sent, const uint8_t *) + x->interest_seq, want, 8) != 0)
        abort();
}

void exchange_check_data(const struct exchange *x, const struct rte_mbuf *sent, uint64_t number)
{
    if (memcmp(rte_pktmbuf_mtod(sent, const uint8_t *) + x->data_token, &number, 8) != 0)
        abort();
}
