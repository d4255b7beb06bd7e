// SPDX-License-Identifier: Apache-2.0
/* The worker of a replay: frames in, time, frames out. */
#include "fwd/daemon/replay_impl.h"

#include <rte_ether.h>
#include <rte_mbuf.h>
#include <rte_ring.h>

#include <string.h>

#include "fwd/chain.h"
#include "fwd/daemon/daemon.h"
#include "fwd/daemon/log.h"
#include "parser/frame.h"

/* Timers are polled at least this often, as they are not made for a clock that leaps. */
#define LEAP_NS UINT64_C(86400000000000)
/* Polls without the time going on. */
#define POLLS_MAX 1000000u
/* Turns of management at one time. */
#define ROUNDS_MAX 64u
/* ---- frames out ---- */

uint16_t replay_send(struct fwd *fwd, uint16_t index, struct rte_mbuf **mbufs, uint16_t n)
{
    struct daemon *daemon = fwd->send_ctx;
    struct replay *replay = daemon->replay;
    const struct port *port = fwd->shared->port[index];
    uint8_t header[RTE_ETHER_HDR_LEN] = {0};
    uint32_t header_len = 0;
    if (port->bare) {
        // Bare packets have an Ethernet header in a capture, to nobody in particular.
        memcpy(header + 6, port->mac, sizeof port->mac);
        header[12] = FRAME_ETHERTYPE_NDN >> 8;
        header[13] = FRAME_ETHERTYPE_NDN & 0xff;
        header_len = sizeof header;
    }
    if (port->thread != NULL) {
        uint16_t taken = port_tx_burst(port, 0, mbufs, n);
        rte_pktmbuf_free_bulk(mbufs + taken, (unsigned)(n - taken));
        return taken;
    }
    for (uint16_t i = 0; i < n && replay->writer != NULL; i++)
        capture_writer_add(replay->writer, fwd->now_ns + replay->posix_ns, index, header, header_len, mbufs[i]);
    replay->counters.out[index] += n;
    rte_pktmbuf_free_bulk(mbufs, n);
    return n;
}

/* ---- time ---- */

/* Let time pass until @p to_ns, at most a leap, and fire each timer when it is due. */
static void pass(struct replay *replay, uint64_t to_ns)
{
    struct fwd *fwd = replay->fwd;
    uint64_t next_ns;
    for (unsigned polls = 0; polls < POLLS_MAX; polls++) {
        next_ns = fwd_next_ns(fwd, replay->now_ns);
        if (next_ns > to_ns - replay->now_ns)
            break;
        replay->now_ns += next_ns;
        fwd_poll(fwd, replay->now_ns, UINT32_MAX);
        fwd_flush(fwd);
    }
    replay->now_ns = to_ns;
    fwd_poll(fwd, to_ns, UINT32_MAX);
    fwd_flush(fwd);
}

static bool management_is_due(const struct daemon *daemon)
{
    const struct rte_ring *unknown = daemon->shared.unknown_peer[0];
    return rte_ring_count(daemon->internal.thread->to_thread[0]) > 0 ||
           (unknown != NULL && rte_ring_count(unknown) > 0) || daemon->replay->now_ns >= daemon->manage.next_ns;
}

/*
 * Management's turn, without delay: what it is asked, and faces of peers that were unknown. While time passes without
 * frames it rests, however much is due: all of that is made good before the next frame.
 */
static void manage(struct daemon *daemon)
{
    struct replay *replay = daemon->replay;
    struct rte_mbuf *mbufs[FWD_BURST_MAX];
    for (unsigned round = 0; round < ROUNDS_MAX && management_is_due(daemon); round++) {
        uint16_t n;
        worker_clock_set(replay->now_ns);
        manage_round(daemon);
        while ((n = port_rx_burst(&daemon->internal, 0, mbufs, FWD_BURST_MAX)) > 0)
            fwd_input(replay->fwd, &daemon->internal, mbufs, n, replay->now_ns);
        fwd_flush(replay->fwd);
        fib_reclaim(daemon->shared.fib);
    }
}

static void advance(struct daemon *daemon, uint64_t to_ns)
{
    struct replay *replay = daemon->replay;
    while (to_ns - replay->now_ns > LEAP_NS)
        pass(replay, replay->now_ns + LEAP_NS);
    pass(replay, to_ns);
    manage(daemon);
}

/* What was pending at the last frame comes to its end. */
static void finish(struct daemon *daemon)
{
    struct replay *replay = daemon->replay;
    uint64_t end_ns = replay->now_ns + (uint64_t)replay->options->tail_ms * 1000000;
    for (unsigned polls = 0; polls < POLLS_MAX; polls++) {
        uint64_t next_ns = fwd_next_ns(replay->fwd, replay->now_ns);
        if (replay->fwd->stats.held > 0)
            next_ns = RTE_MIN(next_ns, UINT64_C(1) << WHEEL_TICK_SHIFT);
        if (next_ns > end_ns - replay->now_ns)
            break;
        advance(daemon, replay->now_ns + next_ns);
    }
}

/* ---- frames in ---- */

struct burst {
    uint16_t n, max, port;
    uint64_t first_ns, last_ns;
    struct rte_mbuf *mbuf[FWD_BURST_MAX];
};

/* A worker finds them when the last one is there. */
static void receive(struct daemon *daemon, struct burst *burst)
{
    struct replay *replay = daemon->replay;
    if (burst->n == 0)
        return;
    advance(daemon, burst->last_ns);
    fwd_input(replay->fwd, &daemon->port[burst->port], burst->mbuf, burst->n, replay->now_ns);
    fwd_flush(replay->fwd);
    manage(daemon);
    replay->counters.in[burst->port] += burst->n;
    replay->counters.bursts++;
    burst->n = 0;
}

/* The worker's time of a frame. */
static uint64_t frame_time(struct daemon *daemon, const struct capture_frame *frame)
{
    struct replay *replay = daemon->replay;
    if (frame->time_ns < replay->last_ns)
        replay->counters.late++;
    else
        replay->last_ns = frame->time_ns;
    return replay->last_ns - replay->posix_ns;
}

static struct rte_mbuf *make_mbuf(struct daemon *daemon, const uint8_t *octets, uint32_t len)
{
    struct rte_mbuf *mbuf = rte_pktmbuf_alloc(daemon->pool);
    if (mbuf == NULL)
        return NULL;
    if (likely(len <= rte_pktmbuf_tailroom(mbuf))) {
        memcpy(rte_pktmbuf_append(mbuf, (uint16_t)len), octets, len);
        return mbuf;
    }
    rte_pktmbuf_free(mbuf);
    return chain_from_octets(daemon->pool, octets, len);
}

static void take(struct daemon *daemon, const struct capture_frame *frame, struct burst *burst)
{
    struct replay *replay = daemon->replay;
    struct replay_counters *counters = &replay->counters;
    counters->frames++;
    uint64_t time_ns = frame_time(daemon, frame);
    if (frame->wire_len > frame->len) {
        counters->cut++;
        return;
    }
    int index = ways_ingress(replay->ways, replay->capture, frame);
    if (index < 0) {
        counters->own += index == WAYS_OWN;
        counters->no_port += index != WAYS_OWN;
        return;
    }
    const uint8_t *octets = frame->octets;
    uint32_t len = frame->len;
    if (daemon->port[index].bare) {
        if (octets[12] != FRAME_ETHERTYPE_NDN >> 8 || octets[13] != (FRAME_ETHERTYPE_NDN & 0xff)) {
            counters->no_port++;
            return;
        }
        octets += RTE_ETHER_HDR_LEN;
        len -= RTE_ETHER_HDR_LEN;
    }
    if (burst->n == burst->max ||
        (burst->n > 0 && (burst->port != index || time_ns - burst->first_ns > replay->options->burst_ns)))
        receive(daemon, burst);
    struct rte_mbuf *mbuf = make_mbuf(daemon, octets, len);
    if (mbuf == NULL) {
        counters->no_buffer++;
        return;
    }
    if (burst->n == 0) {
        burst->port = (uint16_t)index;
        burst->first_ns = time_ns;
    }
    burst->last_ns = time_ns;
    burst->mbuf[burst->n++] = mbuf;
}

int replay_frames(struct daemon *daemon)
{
    struct replay *replay = daemon->replay;
    struct burst burst = {.max = (uint16_t)RTE_MIN(daemon->conf->workers.burst, (unsigned)FWD_BURST_MAX)};
    struct capture_frame frame;
    char err[CAPTURE_ERR_MAX];
    int rc;
    while ((rc = capture_next(replay->capture, &frame, err)) == 1)
        take(daemon, &frame, &burst);
    receive(daemon, &burst);
    if (rc < 0)
        log_error("%s: %s\n", replay->options->in, err);
    else
        finish(daemon);
    return rc < 0 ? -1 : 0;
}
