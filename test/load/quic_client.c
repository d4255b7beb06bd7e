// SPDX-License-Identifier: Apache-2.0
#include "test/load/quic_client.h"

#include <rte_mbuf.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "parser/frame.h"
#include "test/load/random.h"

#define STANDSTILL 4 /* of a timeout: a part that is longer than any turn of a loop */

int quic_client_create(struct quic_client *client, const struct options *options, const struct device *device,
                       const struct quic_flows *flows, struct quic_server *server, struct rte_mempool *pool, double hz)
{
    double share = options->quic.initials;
    *client = (struct quic_client){.tx = {.port = device->port},
                                   .flows = flows,
                                   .server = server,
                                   .timeout = (uint64_t)(options->timeout_s * hz),
                                   .hz = hz,
                                   .seed = options->seed,
                                   .random = random_seed(options->seed + 3),
                                   .initials = share >= 1 ? UINT64_MAX : (uint64_t)(share * 0x1p64),
                                   .pool = pool};
    int rc = link_create(&client->link, &options->consumer, device);
    if (rc != 0)
        return rc;
    unsigned longest = share > 0 ? flows->initial_len : flows->short_len;
    if (longest > client->link.payload_max ||
        longest > (unsigned)rte_pktmbuf_data_room_size(pool) - RTE_PKTMBUF_HEADROOM - LINK_HEADER_MAX) {
        fprintf(stderr, "pitlane-load: datagrams of %u octets do not fit the MTU or a packet buffer\n", longest);
        return -EMSGSIZE;
    }
    client->flow_number = calloc(flows->n, sizeof *client->flow_number);
    return client->flow_number != NULL ? 0 : -ENOMEM;
}

void quic_client_destroy(struct quic_client *client)
{
    free(client->flow_number);
}

void quic_client_start(struct quic_client *client, const struct plan *plan, uint64_t now)
{
    memset(&client->tally, 0, sizeof client->tally);
    client->tx.refused = 0;
    client->given_up = client->arrived = client->rebinds = client->n_initials = 0;
    client->quiet_since = client->worked = client->tally.begin = now;
    pace_start(&client->pace, plan, client->seed + client->head, client->hz, now);
}

void quic_client_stop(struct quic_client *client, uint64_t now)
{
    pace_stop(&client->pace, now);
}

void quic_client_receive(struct quic_client *client, struct rte_mbuf *mbuf)
{
    struct frame frame;
    bool udp = mbuf->nb_segs == 1 &&
               frame_parse(rte_pktmbuf_mtod(mbuf, const uint8_t *), mbuf->data_len, &(struct frame_opts){0}, &frame) ==
                   VERDICT_OK &&
               (frame.kind == FRAME_UDP4 || frame.kind == FRAME_UDP6);
    // Version Negotiation, Retry and the like: nothing of ours asks for them.
    if (udp && frame.sport == client->server->vip_port)
        client->tally.unexpected++;
    else
        client->tally.foreign++;
    rte_pktmbuf_free(mbuf);
}

/* The next datagram, of the flow whose turn it is. */
static void make_datagram(struct quic_client *client, struct rte_mbuf *mbuf, uint64_t due, uint64_t now)
{
    const struct quic_flows *flows = client->flows;
    uint64_t lag = now - due;
    struct quic_stamp stamp = {.flow = (uint32_t)(client->head % flows->n),
                               .number = client->head,
                               .due = due,
                               .lag = lag < UINT32_MAX ? (uint32_t)lag : UINT32_MAX,
                               .initial = random_next(&client->random) < client->initials};
    stamp.flow_number = client->flow_number[stamp.flow]++;
    uint32_t generation = quic_flows_generation(flows, stamp.flow_number);
    uint16_t sport = quic_flows_sport(flows, stamp.flow, generation);
    uint8_t *frame = rte_pktmbuf_mtod(mbuf, uint8_t *), header = client->link.header_len;
    size_t len = quic_flows_write(flows, &stamp, frame + header);
    memcpy(frame, client->link.header, header);
    frame[header - 8] = (uint8_t)(sport >> 8);
    frame[header - 7] = (uint8_t)sport;
    link_finish(&client->link, frame, len);
    rte_pktmbuf_append(mbuf, (uint16_t)(header + len));
    device_add(&client->tx, mbuf);

    client->head++;
    client->tally.sent++;
    client->tally.octets_sent += header + len;
    client->n_initials += stamp.initial;
    client->rebinds += generation > 0 && stamp.flow_number % flows->rebind == 0;
    if (lag > client->tally.behind)
        client->tally.behind = lag;
}

static uint32_t on_the_way(const struct quic_client *client)
{
    uint64_t gone = client->arrived + client->given_up;
    return client->tally.sent > gone ? (uint32_t)(client->tally.sent - gone) : 0;
}

unsigned quic_client_work(struct quic_client *client, uint64_t now)
{
    uint64_t arrived = tally_read(&client->server->arrived);
    bool stood_still = now - client->worked > client->timeout / STANDSTILL;
    client->worked = now;
    if (arrived != client->arrived || stood_still) {
        client->arrived = arrived;
        client->tally.received = tally_read(&client->server->tally.received);
        client->quiet_since = now;
    } else if (now - client->quiet_since > client->timeout) {
        client->given_up += on_the_way(client);
    }
    if (!device_send(&client->tx) || !pace_ready(&client->pace, now, on_the_way(client)))
        return 0;
    struct rte_mbuf *mbufs[DEVICE_BURST];
    if (rte_pktmbuf_alloc_bulk(client->pool, mbufs, DEVICE_BURST) != 0)
        return 0;
    unsigned n = 0;
    uint64_t due;
    for (; n < DEVICE_BURST && pace_take(&client->pace, now, on_the_way(client), &due); n++)
        make_datagram(client, mbufs[n], due, now);
    rte_pktmbuf_free_bulk(mbufs + n, DEVICE_BURST - n);
    if (n > 0)
        client->quiet_since = now;
    device_send(&client->tx);
    return n;
}

bool quic_client_done(struct quic_client *client, uint64_t now)
{
    struct tally *tally = &client->tally;
    if (!pace_over(&client->pace, now)) {
        if (now < client->pace.end || now - client->pace.end < client->timeout)
            return false;
        tally->unsent += pace_rest(&client->pace);
    }
    if (tally->end == 0)
        tally->end = now;
    return client->tx.to == 0 && on_the_way(client) == 0;
}

void quic_client_take(struct quic_client *client, const struct tally *server)
{
    struct tally *tally = &client->tally;
    tally->received = server->received;
    tally->late = server->late;
    tally->duplicates = server->duplicates;
    tally->reordered = server->reordered;
    tally->corrupted = server->corrupted;
    tally->misrouted = server->misrouted;
    tally->unexpected += server->unexpected;
    tally->foreign += server->foreign;
    tally->octets_received = server->octets_received;
    tally->lost = tally->sent > server->received ? tally->sent - server->received : 0;
    tally->latency = server->latency;
    tally->service = server->service;
}
