// SPDX-License-Identifier: Apache-2.0
#include "test/load/mkpcap_plan.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "parser/ndn_packet.h"
#include "test/load/mkpcap_random.h"

#define FRAME_MAX (MKPCAP_HEADERS_MAX + NDN_PACKET_MAX + 256)
/* Captures begin here, so that readers have a date: 2024-01-01T00:00:00Z. */
#define EPOCH_NS 1704067200000000000u

static_assert(MKPCAP_HEADERS_MAX + MKPCAP_DATAGRAM_MAX <= FRAME_MAX, "datagrams fit");

/** Where the writing of a plan is. */
struct place {
    const struct mkpcap_plan *plan;
    struct mkpcap_out *out;
    uint64_t time_ns;
    uint64_t frames, datagrams;
};

static void end(struct mkpcap_end *end, uint8_t port, uint8_t host)
{
    *end = (struct mkpcap_end){.mac = {2, 0, 0, 0, port, host}, .port = 6363};
}

void mkpcap_plan_init(struct mkpcap_plan *plan)
{
    memset(plan, 0, sizeof *plan);
    plan->kind = MKPCAP_INTEREST;
    plan->count = 1000;
    plan->seed = 1;
    plan->gap_ns = 1000;
    plan->live = 64;
    plan->burst = 64;
    plan->quic_share = 50;
    plan->ndn = (struct mkpcap_ndn){
        .comps = 4, .flows = 10000, .lifetime_ms = 60000, .freshness_ms = 10000, .payload = 100, .token = 8};
    mkpcap_ndn_prefix(&plan->ndn, "/ndnbench");
    plan->quic.connections = 1024;
    plan->quic.size = MKPCAP_INITIAL_MIN;
    mkpcap_quic_config(&plan->quic, "0,plaintext,3,4");
    mkpcap_quic_servers(&plan->quic, "000001,000002");
    mkpcap_quic_mix(&plan->quic, "90/4/5/1");
    end(&plan->interest_way.from, 0, 2);
    end(&plan->interest_way.to, 0, 1);
    end(&plan->data_way.from, 1, 2);
    end(&plan->data_way.to, 1, 1);
    plan->quic_way = plan->interest_way;
    mkpcap_end_parse("02:00:00:00:00:02,198.51.100.2,49152", &plan->quic_way.from);
    mkpcap_end_parse("02:00:00:00:00:01,203.0.113.10,443", &plan->quic_way.to);
}

const char *mkpcap_plan_check(struct mkpcap_plan *plan)
{
    bool has_quic = plan->kind == MKPCAP_QUIC || plan->kind == MKPCAP_MIX;
    if (plan->count == 0 || plan->first > UINT32_MAX || plan->count > UINT32_MAX + 1ull - plan->first)
        return "numbers of packets are 1 to 2^32 long and end below 2^32";
    if (plan->live == 0 || plan->burst == 0)
        return "live and burst are at least 1";
    if (plan->quic_share < 1 || plan->quic_share > 99)
        return "the share of QUIC is 1 to 99 percent";
    if (mkpcap_way_check(&plan->interest_way) != 0 || mkpcap_way_check(&plan->data_way) != 0 ||
        mkpcap_way_check(&plan->quic_way) != 0)
        return "addresses of both ends have to be of one kind";
    switch (mkpcap_ndn_check(&plan->ndn)) {
    case 0:
        break;
    case -EMSGSIZE:
        return "packets are larger than NDN allows";
    default:
        return "components: two more than the prefix has at least; flows: 1 to 10000; tokens: up to 32 octets, Data's "
               "no longer than Interests'";
    }
    if (has_quic && plan->quic_way.from.ip_len == 0)
        return "QUIC needs IP addresses";
    if (has_quic && mkpcap_quic_prepare(&plan->quic) != 0)
        return "QUIC: server IDs of the configured length, at least one connection, 64 to 9000 octets";
    return NULL;
}

static void write_frame(struct place *place, unsigned interface, const struct mkpcap_way *way, uint8_t *payload,
                        size_t len)
{
    size_t headers = mkpcap_frame(way, payload, len);
    mkpcap_out_write(place->out, interface, place->time_ns, payload - headers, headers + len);
    place->time_ns += place->plan->gap_ns;
    place->frames++;
}

static void write_datagram(struct place *place)
{
    const struct mkpcap_plan *plan = place->plan;
    uint8_t frame[FRAME_MAX];
    uint8_t *payload = frame + MKPCAP_HEADERS_MAX;
    struct mkpcap_way way = plan->quic_way;
    size_t len = mkpcap_quic_datagram(&plan->quic, plan->seed, plan->first + place->datagrams++, payload, &way);
    write_frame(place, MKPCAP_CONSUMER, &way, payload, len);
}

/* In a mix: the datagrams that come before the next frame of NDN's. */
static void interleave(struct place *place)
{
    const struct mkpcap_plan *plan = place->plan;
    while (plan->kind == MKPCAP_MIX &&
           mkpcap_random(plan->seed, MKPCAP_RANDOM_MIX, ~place->frames) % 100 < plan->quic_share)
        write_datagram(place);
}

static void write_ndn(struct place *place, bool data, uint64_t number)
{
    const struct mkpcap_plan *plan = place->plan;
    uint8_t frame[FRAME_MAX];
    uint8_t *payload = frame + MKPCAP_HEADERS_MAX;
    interleave(place);
    size_t len = data ? mkpcap_ndn_data(&plan->ndn, plan->seed, plan->first + number, payload)
                      : mkpcap_ndn_interest(&plan->ndn, plan->seed, plan->first + number, payload);
    write_frame(place, data ? MKPCAP_PRODUCER : MKPCAP_CONSUMER, data ? &plan->data_way : &plan->interest_way, payload,
                len);
}

/* Interests in bursts; once more than `live` are pending, as many Data follow as there are too many. */
static void write_exchanges(struct place *place)
{
    const struct mkpcap_plan *plan = place->plan;
    uint64_t asked = 0, answered = 0;
    while (answered < plan->count) {
        for (uint32_t i = 0; i < plan->burst && asked < plan->count; i++)
            write_ndn(place, false, asked++);
        uint64_t keep = asked < plan->count ? plan->live : 0;
        while (asked - answered > keep)
            write_ndn(place, true, answered++);
    }
}

void mkpcap_plan_write(const struct mkpcap_plan *plan, struct mkpcap_out *out)
{
    struct place place = {.plan = plan, .out = out, .time_ns = EPOCH_NS};
    switch (plan->kind) {
    case MKPCAP_INTEREST:
    case MKPCAP_DATA:
        for (uint64_t i = 0; i < plan->count; i++)
            write_ndn(&place, plan->kind == MKPCAP_DATA, i);
        break;
    case MKPCAP_QUIC:
        for (uint64_t i = 0; i < plan->count; i++)
            write_datagram(&place);
        break;
    case MKPCAP_EXCHANGE:
    case MKPCAP_MIX:
        write_exchanges(&place);
        break;
    }
}
