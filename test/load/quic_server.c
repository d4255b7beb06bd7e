// SPDX-License-Identifier: Apache-2.0
#include "test/load/quic_server.h"

#include <rte_mbuf.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "parser/frame.h"

int quic_server_create(struct quic_server *server, const struct options *options, const struct device *device,
                       const struct quic_flows *flows)
{
    const struct options_end *client = &options->consumer;
    *server = (struct quic_server){.port = device->port,
                                   .flows = flows,
                                   .options = &options->quic,
                                   .family = client->family,
                                   .vip_port = client->remote_udp,
                                   .flow = calloc(flows->n, sizeof *server->flow),
                                   .seen = calloc(QUIC_SERVER_SEEN / 64, sizeof *server->seen)};
    memcpy(server->client_ip, client->local_ip, sizeof server->client_ip);
    memcpy(server->vip, client->remote_ip, sizeof server->vip);
    if (server->flow != NULL && server->seen != NULL)
        return 0;
    quic_server_destroy(server);
    return -ENOMEM;
}

void quic_server_destroy(struct quic_server *server)
{
    free(server->seen);
    free(server->flow);
    server->seen = NULL;
    server->flow = NULL;
}

/* Addresses and ports as they were sent: a balancer that gives datagrams on by MAC address changes none of them. */
static bool addresses_good(const struct quic_server *server, const struct frame *frame, const struct quic_stamp *stamp)
{
    size_t size = server->family == AF_INET ? 4 : 16;
    uint32_t generation = quic_flows_generation(server->flows, stamp->flow_number);
    return frame->kind == (server->family == AF_INET ? FRAME_UDP4 : FRAME_UDP6) &&
           memcmp(frame->src_ip, server->client_ip, size) == 0 && memcmp(frame->dst_ip, server->vip, size) == 0 &&
           frame->sport == quic_flows_sport(server->flows, stamp->flow, generation);
}

static bool same_place(struct quic_server_place *place, const uint8_t *mac)
{
    if (!place->known) {
        place->known = true;
        memcpy(place->mac, mac, sizeof place->mac);
    }
    return memcmp(place->mac, mac, sizeof place->mac) == 0;
}

/* Whether an Initial is at any of the servers, as far as these are known by address. */
static bool some_server(const struct quic_server *server, const uint8_t *mac)
{
    const struct options_quic *options = server->options;
    for (unsigned i = 0; i < options->n_servers; i++) {
        if (!options->has_server_mac[i] || memcmp(options->server_mac[i], mac, OPTIONS_MAC_SIZE) == 0)
            return true;
    }
    return false;
}

static bool place_good(struct quic_server *server, const struct quic_stamp *stamp, const uint8_t *mac)
{
    struct quic_server_flow *flow = &server->flow[stamp->flow];
    unsigned owner = stamp->flow % server->options->n_servers;
    if (!stamp->initial) {
        if (server->options->has_server_mac[owner] && memcmp(server->options->server_mac[owner], mac, 6) != 0)
            return false;
        server->packets[owner]++;
        return same_place(&server->place[owner], mac);
    }
    // By the hash of addresses and ports, so that it is another server's after the flow has moved.
    uint32_t generation = quic_flows_generation(server->flows, stamp->flow_number);
    if (generation > flow->generation) {
        flow->generation = generation;
        flow->initial_place.known = false;
    }
    return some_server(server, mac) && (generation < flow->generation || same_place(&flow->initial_place, mac));
}

/* Note a number. @return false when it was there already, or is so old that nobody knows */
static bool first_time(struct quic_server *server, uint64_t number)
{
    if (number + QUIC_SERVER_SEEN <= server->next)
        return false;
    if (number >= server->next + QUIC_SERVER_SEEN) {
        memset(server->seen, 0, QUIC_SERVER_SEEN / 8);
        server->next = number;
    }
    for (; server->next <= number; server->next++)
        server->seen[server->next % QUIC_SERVER_SEEN / 64] &= ~(UINT64_C(1) << server->next % 64);
    uint64_t *word = &server->seen[number % QUIC_SERVER_SEEN / 64], bit = UINT64_C(1) << number % 64;
    bool first = (*word & bit) == 0;
    *word |= bit;
    return first;
}

static void take_datagram(struct quic_server *server, const struct frame *frame, const uint8_t *p, uint64_t now)
{
    struct tally *tally = &server->tally;
    struct quic_stamp stamp;
    enum quic_read read = quic_flows_read(server->flows, p, frame->payload_len, &stamp);
    if (read == QUIC_READ_STRANGE) {
        tally->unexpected++;
        return;
    }
    server->arrived++;
    if (read == QUIC_READ_CORRUPT || !addresses_good(server, frame, &stamp)) {
        tally->corrupted++;
        return;
    }
    if (!first_time(server, stamp.number)) {
        server->arrived--;
        tally->duplicates++;
        return;
    }
    if (!place_good(server, &stamp, frame->dst_mac)) {
        tally->misrouted++;
        return;
    }
    struct quic_server_flow *flow = &server->flow[stamp.flow];
    if (stamp.flow_number < flow->next)
        tally->reordered++;
    else
        flow->next = stamp.flow_number + 1;
    uint64_t latency = now > stamp.due ? now - stamp.due : 0;
    histogram_record(&tally->latency, latency);
    histogram_record(&tally->service, latency > stamp.lag ? latency - stamp.lag : 0);
    tally->received++;
}

void quic_server_receive(struct quic_server *server, struct rte_mbuf *mbuf, uint64_t now)
{
    struct frame frame;
    const uint8_t *p = rte_pktmbuf_mtod(mbuf, const uint8_t *);
    bool udp = mbuf->nb_segs == 1 && frame_parse(p, mbuf->data_len, &(struct frame_opts){0}, &frame) == VERDICT_OK &&
               (frame.kind == FRAME_UDP4 || frame.kind == FRAME_UDP6);
    if (udp && frame.dport == server->vip_port) {
        server->tally.octets_received += mbuf->pkt_len;
        take_datagram(server, &frame, p + frame.payload_off, now);
    } else {
        server->tally.foreign++;
    }
    rte_pktmbuf_free(mbuf);
}

void quic_server_work(struct quic_server *server)
{
    // Pairs with quic_server_turn().
    uint64_t turn = __atomic_load_n(&server->turn, __ATOMIC_ACQUIRE);
    if (turn == server->turn_taken)
        return;
    server->last = server->tally;
    memset(&server->tally, 0, sizeof server->tally);
    server->arrived = 0;
    __atomic_store_n(&server->turn_taken, turn, __ATOMIC_RELEASE);
}

bool quic_server_turn(struct quic_server *server, uint64_t number)
{
    __atomic_store_n(&server->turn, number, __ATOMIC_RELEASE);
    return __atomic_load_n(&server->turn_taken, __ATOMIC_ACQUIRE) == number;
}
