// SPDX-License-Identifier: Apache-2.0
/*
 * On-demand faces of ports, as NFD makes them for its UDP channels: the first datagram of a peer makes its face, which
 * goes when nothing comes by it any more. Workers hand over that datagram through bounded rings.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_ring.h>

#include "fwd/mgmt/face_control_priv.h"
#include "parser/frame.h"

#define RING_SIZE 64
/* Between two looks at the rings. */
#define RING_NS UINT64_C(10000000)
/* New faces: one each this long, more at once when there were none for a while. */
#define FACE_NS  UINT64_C(10000000)
#define SAVED_NS (200 * FACE_NS)
/* Idle faces that are looked at in one go, and how often. */
#define IDLE_BURST 256
#define IDLE_NS    UINT64_C(250000000)
/* When there is no room, a face that was silent for this long makes some. */
#define EVICT_NS UINT64_C(5000000000)

static bool any_port_listens(const struct face_control *control)
{
    for (uint16_t p = 0; p < control->config.n_ports; p++)
        if (control->config.port[p].config.udp_on_demand > 0)
            return true;
    return false;
}

int face_demand_create(struct face_control *control)
{
    control->demand.tokens_ns = SAVED_NS;
    if (!any_port_listens(control))
        return 0;
    for (uint16_t w = 0; w < control->config.n_workers; w++) {
        char name[RTE_RING_NAMESIZE];
        snprintf(name, sizeof name, "unknown_peer_%u", w);
        struct rte_ring *ring = rte_ring_create(name, RING_SIZE, SOCKET_ID_ANY, RING_F_SP_ENQ | RING_F_SC_DEQ);
        if (ring == NULL)
            return -ENOMEM;
        control->config.shared->unknown_peer[w] = ring;
    }
    return 0;
}

void face_demand_destroy(struct face_control *control)
{
    for (uint16_t w = 0; w < control->config.n_workers; w++) {
        struct rte_ring *ring = control->config.shared->unknown_peer[w];
        struct rte_mbuf *mbuf;
        if (ring == NULL)
            continue;
        control->config.shared->unknown_peer[w] = NULL;
        while (rte_ring_sc_dequeue(ring, (void **)&mbuf) == 0)
            rte_pktmbuf_free(mbuf);
        rte_ring_free(ring);
    }
    free(control->demand.idle);
}

static uint64_t in_octets(const struct face_control *control, uint32_t id)
{
    struct stats_face stats;
    face_control_counters(control, id, &stats);
    return stats.in_bytes;
}

int face_demand_add(struct face_control *control, const struct face *face)
{
    struct face_demand *demand = &control->demand;
    if (demand->n == demand->room) {
        uint32_t room = demand->room != 0 ? 2 * demand->room : 16;
        struct face_idle *more = realloc(demand->idle, room * sizeof *more);
        if (more == NULL)
            return -ENOMEM;
        demand->idle = more;
        demand->room = room;
    }
    demand->idle[demand->n++] =
        (struct face_idle){.face = face->id, .in_octets = in_octets(control, face->id), .active_ns = control->now_ns};
    demand->n_on_port[face->port]++;
    return 0;
}

void face_demand_remove(struct face_control *control, const struct face *face)
{
    struct face_demand *demand = &control->demand;
    for (uint32_t i = 0; i < demand->n; i++) {
        if (demand->idle[i].face != face->id)
            continue;
        demand->idle[i] = demand->idle[--demand->n];
        demand->n_on_port[face->port]--;
        return;
    }
}

static uint64_t idle_ns(const struct face_control *control, const struct face *face)
{
    const struct port *port = control->config.shared->port[face->port];
    uint32_t ms = port != NULL && port->config.udp_idle_ms != 0 ? port->config.udp_idle_ms : 600000;
    return ms * UINT64_C(1000000);
}

int64_t face_demand_expires_ms(const struct face_control *control, uint32_t id)
{
    const struct face *face = face_get(face_control_table(control), id);
    const struct face_demand *demand = &control->demand;
    for (uint32_t i = 0; face != NULL && i < demand->n; i++) {
        const struct face_idle *idle = &demand->idle[i];
        if (idle->face != id)
            continue;
        uint64_t since = in_octets(control, id) != idle->in_octets ? control->now_ns : idle->active_ns;
        uint64_t end_ns = since + idle_ns(control, face);
        return end_ns > control->now_ns ? (int64_t)((end_ns - control->now_ns) / 1000000) : 0;
    }
    return -1;
}

/* Note whether anything came by a face. @return nanoseconds that nothing has */
static uint64_t look(struct face_control *control, struct face_idle *idle)
{
    uint64_t octets = in_octets(control, idle->face);
    if (octets != idle->in_octets) {
        idle->in_octets = octets;
        idle->active_ns = control->now_ns;
    }
    return control->now_ns - idle->active_ns;
}

/* Remove faces that were idle for too long, a part of them at a time. */
static void expire(struct face_control *control)
{
    struct face_demand *demand = &control->demand;
    if (control->now_ns < demand->look_ns)
        return;
    demand->look_ns = control->now_ns + IDLE_NS;
    for (uint32_t i = 0; i < IDLE_BURST && i < demand->n; i++) {
        demand->next = demand->next < demand->n ? demand->next : 0;
        struct face_idle *idle = &demand->idle[demand->next];
        const struct face *face = face_get(face_control_table(control), idle->face);
        if (face == NULL)
            *idle = demand->idle[--demand->n];
        else if (look(control, idle) >= idle_ns(control, face))
            face_control_remove(control, idle->face);
        else
            demand->next++;
    }
}

/* Make room on a port whose on-demand faces are as many as may be. @return false when all of them are in use */
static bool evict(struct face_control *control, uint16_t port)
{
    struct face_demand *demand = &control->demand;
    uint64_t longest = 0;
    uint32_t victim = 0;
    for (uint32_t i = 0; i < demand->n; i++) {
        const struct face *face = face_get(face_control_table(control), demand->idle[i].face);
        if (face == NULL || face->port != port)
            continue;
        uint64_t silent_ns = look(control, &demand->idle[i]);
        if (silent_ns > longest) {
            longest = silent_ns;
            victim = face->id;
        }
    }
    return longest >= EVICT_NS && face_control_remove(control, victim) == 0;
}

static bool may_add(struct face_control *control, const struct port *port)
{
    struct face_demand *demand = &control->demand;
    if (demand->tokens_ns < FACE_NS)
        return false;
    // Looking for a victim costs as much as a face does.
    demand->tokens_ns -= FACE_NS;
    return demand->n_on_port[port->index] < port->config.udp_on_demand || evict(control, port->index);
}

static int add_peer(struct face_control *control, struct port *port, const struct frame *frame)
{
    bool v4 = frame->kind == FRAME_UDP4;
    size_t len = v4 ? 4 : 16;
    char dev[64];
    uint32_t id;
    face_control_dev(port, dev);
    struct face_config config = {
        .port = port->index,
        .dev = dev,
        .kind = v4 ? FACE_UDP4 : FACE_UDP6,
        .persistency = FACE_ON_DEMAND,
        .flags = control->config.congestion_marking ? FACE_CONGESTION_MARKING : 0,
        // The way the frame came is right until the kernel tells a better one.
        .mac_static = port->netdev_index == 0 || control->config.monitor == NULL,
        .vlan = frame->vlan,
        .local_udp = frame->dport,
        .remote_udp = frame->sport,
    };
    memcpy(config.local_mac, port->mac, 6);
    memcpy(config.remote_mac, frame->src_mac, 6);
    memcpy(config.local_ip, frame->dst_ip, len);
    memcpy(config.remote_ip, frame->src_ip, len);
    return face_control_add(control, port, &config, &id);
}

/* @return true when the frame has a face now */
static bool admit(struct face_control *control, struct port *port, const struct rte_mbuf *mbuf)
{
    struct frame frame;
    uint32_t face;
    uint64_t sender;
    struct frame_opts opts = port_frame_opts(port, mbuf);
    if (frame_parse(rte_pktmbuf_mtod(mbuf, const uint8_t *), mbuf->data_len, &opts, &frame) != VERDICT_OK)
        return false;
    switch (port_classify(port, &frame, &face, &sender)) {
    case PORT_MATCHED:
        return true; // an earlier frame of the same peer
    case PORT_MISS_UDP:
        return may_add(control, port) && add_peer(control, port, &frame) == 0;
    default:
        return false;
    }
}

struct demand_call {
    const struct fwd_shared *shared;
    struct rte_mbuf *mbuf[RING_SIZE];
    uint16_t n;
};

static void receive_again(struct fwd *fwd, void *arg)
{
    struct demand_call *call = arg;
    for (uint16_t i = 0; i < call->n; i++)
        fwd_input(fwd, call->shared->port[call->mbuf[i]->hash.usr], &call->mbuf[i], 1, fwd->now_ns);
    call->n = 0;
}

static void give_back(struct worker *worker, struct demand_call *call)
{
    if (call->n == 0)
        return;
    if (atomic_load_explicit(&worker->ready, memory_order_acquire))
        worker_run(worker, receive_again, call);
    else if (worker->fwd != NULL)
        receive_again(worker->fwd, call);
    // What a worker that does not answer would have received.
    rte_pktmbuf_free_bulk(call->mbuf, call->n);
}

static void take_from(struct face_control *control, uint16_t w, struct rte_ring *ring)
{
    struct demand_call call = {.shared = control->config.shared};
    struct rte_mbuf *mbuf[RING_SIZE];
    unsigned n = rte_ring_sc_dequeue_burst(ring, (void **)mbuf, RING_SIZE, NULL);
    for (unsigned i = 0; i < n; i++) {
        struct port *port = mbuf[i]->hash.usr < PORT_MAX ? control->config.shared->port[mbuf[i]->hash.usr] : NULL;
        if (port != NULL && admit(control, port, mbuf[i]))
            call.mbuf[call.n++] = mbuf[i];
        else
            rte_pktmbuf_free(mbuf[i]);
    }
    give_back(&control->config.worker[w], &call);
}

uint64_t face_demand_poll(struct face_control *control)
{
    struct face_demand *demand = &control->demand;
    uint64_t since = control->now_ns - demand->refill_ns;
    demand->refill_ns = control->now_ns;
    demand->tokens_ns = RTE_MIN(demand->tokens_ns + since, SAVED_NS);
    bool listens = false;
    for (uint16_t w = 0; w < control->config.n_workers; w++) {
        struct rte_ring *ring = control->config.shared->unknown_peer[w];
        if (ring == NULL)
            continue;
        listens = true;
        take_from(control, w, ring);
    }
    expire(control);
    return listens ? RING_NS : demand->n > 0 ? IDLE_NS : UINT64_MAX;
}
