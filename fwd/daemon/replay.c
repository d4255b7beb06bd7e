// SPDX-License-Identifier: Apache-2.0
#include "fwd/daemon/replay.h"

#include <rte_eal.h>
#include <rte_ether.h>
#include <rte_mbuf.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fwd/chain.h"
#include "fwd/daemon/daemon.h"
#include "fwd/daemon/log.h"
#include "fwd/daemon/replay_impl.h"
#include "fwd/daemon/tables.h"
#include "fwd/mgmt/rib.h"
#include "parser/frame.h"
#include "parser/random.h"
#include "ports/mbuf_pool.h"

/* Timers are polled at least this often, as they are not made for a clock that leaps. */
#define LEAP_NS UINT64_C(86400000000000)
/* Polls without the time going on. */
#define POLLS_MAX 1000000u
/* All random numbers follow from it. */
#define SEED UINT64_C(0x7069746c616e6521)

/* ---- what the kernel tells the daemon ---- */

static bool is_udp_unicast(const struct face *face)
{
    return (face->kind == FACE_UDP4 && (face->config.remote_ip[0] & 0xf0) != 0xe0) ||
           (face->kind == FACE_UDP6 && face->config.remote_ip[0] != 0xff);
}

int replay_face_add(struct daemon *daemon, uint32_t id)
{
    static const uint8_t none[16];
    const struct replay *replay = daemon->replay;
    const struct face *face = face_get(daemon->shared.faces, id);
    const struct face_config *config = &face->config;
    if (is_udp_unicast(face) && !config->mac_static) {
        bool v6 = face->kind == FACE_UDP6;
        uint8_t mac[6];
        bool known = (memcmp(config->next_hop, none, sizeof none) != 0 &&
                      ways_neighbour(replay->ways, face->port, config->next_hop, v6, mac)) ||
                     ways_neighbour(replay->ways, face->port, config->remote_ip, v6, mac);
        int rc = known ? face_set_remote_mac(daemon->shared.faces, id, mac) : 0;
        if (rc != 0)
            return rc;
        if (!known)
            log_warning("face %s: no frame tells the MAC address of its next hop: it stays down (give it with mac)\n",
                        face->name);
        face = face_get(daemon->shared.faces, id);
    }
    return ways_face(replay->ways, face);
}

int replay_hop_add(struct daemon *daemon, const struct monitor_hop_config *config, const struct monitor_hop **out)
{
    const struct replay *replay = daemon->replay;
    struct monitor_hop *hop = calloc(1, sizeof *hop);
    if (hop == NULL)
        return -ENOMEM;
    bool v6 = config->family == AF_INET6;
    hop->config = *config;
    hop->port = config->port;
    if (hop->port == NULL) {
        int index = ways_port_to(replay->ways, config->ip, v6);
        hop->port = index >= 0 ? &daemon->port[index] : NULL;
    }
    memcpy(hop->mac, config->mac, sizeof hop->mac);
    hop->known = hop->port != NULL &&
                 (config->mac_static || ways_neighbour(replay->ways, hop->port->index, config->ip, v6, hop->mac));
    hop->failed = !hop->known;
    *out = hop;
    return 0;
}

void replay_hop_remove(const struct monitor_hop *hop)
{
    free((void *)(uintptr_t)hop);
}

/* ---- frames out ---- */

static uint16_t replay_send(struct fwd *fwd, uint16_t index, struct rte_mbuf **mbufs, uint16_t n)
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

static void advance(struct replay *replay, uint64_t to_ns)
{
    while (to_ns - replay->now_ns > LEAP_NS)
        pass(replay, replay->now_ns + LEAP_NS);
    pass(replay, to_ns);
}

/* What was pending at the last frame comes to its end. */
static void finish(struct replay *replay)
{
    uint64_t end_ns = replay->now_ns + (uint64_t)replay->options->tail_ms * 1000000;
    for (unsigned polls = 0; polls < POLLS_MAX; polls++) {
        uint64_t next_ns = fwd_next_ns(replay->fwd, replay->now_ns);
        if (replay->fwd->stats.held > 0)
            next_ns = RTE_MIN(next_ns, UINT64_C(1) << WHEEL_TICK_SHIFT);
        if (next_ns > end_ns - replay->now_ns)
            break;
        pass(replay, replay->now_ns + next_ns);
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
    advance(replay, burst->last_ns);
    fwd_input(replay->fwd, &daemon->port[burst->port], burst->mbuf, burst->n, replay->now_ns);
    fwd_flush(replay->fwd);
    replay->counters.in[burst->port] += burst->n;
    replay->counters.bursts++;
    burst->n = 0;
}

/* The worker's time of a frame. */
static uint64_t frame_time(struct daemon *daemon, const struct capture_frame *frame)
{
    struct replay *replay = daemon->replay;
    if (replay->counters.frames == 1) {
        replay->first_ns = replay->last_ns = frame->time_ns;
        replay->posix_ns = frame->time_ns - REPLAY_START_NS;
        atomic_store_explicit(&daemon->shared.posix_ns, replay->posix_ns, memory_order_relaxed);
    }
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

static int run(struct daemon *daemon)
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
        finish(replay);
    return rc < 0 ? -1 : 0;
}

/* ---- start ---- */

int replay_option_mac(struct replay_options *options, char *text)
{
    struct rte_ether_addr address;
    char *mac = strchr(text, '=');
    if (mac == NULL)
        return -EINVAL;
    *mac++ = '\0';
    if (options->n_macs == CONF_PORTS_MAX)
        return -ENOSPC;
    if (rte_ether_unformat_addr(mac, &address) != 0 || !rte_is_valid_assigned_ether_addr(&address))
        return -EINVAL;
    struct replay_mac *to = &options->mac[options->n_macs++];
    to->port = text;
    memcpy(to->mac, address.addr_bytes, sizeof to->mac);
    return 0;
}

/* Of a port that no option tells one of: 02:00:00:00:00:01 is the first's. */
static void port_mac(const struct replay_options *options, const char *name, unsigned index, uint8_t mac[6])
{
    memcpy(mac, (const uint8_t[6]){2, 0, 0, 0, 0, (uint8_t)(index + 1)}, 6);
    for (unsigned i = 0; i < options->n_macs; i++)
        if (strcmp(options->mac[i].port, name) == 0)
            memcpy(mac, options->mac[i].mac, 6);
}

static bool is_port(const struct conf *conf, const char *name)
{
    for (unsigned i = 0; i < conf->n_ports; i++)
        if (strcmp(conf->port[i].name, name) == 0)
            return true;
    return false;
}

static int start_memory(struct daemon *daemon)
{
    const struct conf *conf = daemon->conf;
    uint32_t n = conf->memory.mbufs != 0 ? conf->memory.mbufs
                                         : (uint32_t)RTE_MIN(tables_mbufs(conf, 1), (uint64_t)UINT32_MAX / 2);
    if (daemon_eal_offline(mbuf_pool_memory(n, (uint16_t)conf->memory.mbuf_size)) != 0)
        return -1;
    daemon->eal = true;
    worker_clock_init();
    return tables_memory(daemon, n);
}

static int start_ports(struct daemon *daemon)
{
    const struct conf *conf = daemon->conf;
    const struct replay_options *options = daemon->replay->options;
    if (conf->n_ports == 0) {
        log_error("the configuration has no ports: no frame could come in\n");
        return -1;
    }
    for (unsigned i = 0; i < options->n_macs; i++)
        if (!is_port(conf, options->mac[i].port)) {
            log_error("--replay-mac: there is no port %s\n", options->mac[i].port);
            return -1;
        }
    for (unsigned i = 0; i < conf->n_ports; i++) {
        struct port_config config;
        uint8_t mac[6];
        char err[200] = "";
        tables_port_config(&conf->port[i], &config);
        port_mac(options, config.name, i, mac);
        int rc = port_open_offline(&daemon->port[i], (uint16_t)i, &config, mac, daemon->qsbr, err);
        if (rc != 0) {
            log_error("port %s: %s\n", config.name, err);
            return -1;
        }
        daemon->shared.port[i] = &daemon->port[i];
        daemon->n_ports++;
    }
    return 0;
}

static int start_capture(struct daemon *daemon)
{
    struct replay *replay = daemon->replay;
    char err[CAPTURE_ERR_MAX] = "";
    replay->fd = open(replay->options->in, O_RDONLY | O_CLOEXEC);
    int rc = replay->fd < 0 ? -errno : capture_open(&replay->capture, replay->fd, err);
    if (rc == 0)
        return 0;
    log_error("%s: %s\n", replay->options->in, err[0] != '\0' ? err : strerror(-rc));
    return -1;
}

/* Look through the whole capture for what is not known of neighbours, then begin again. */
static int start_ways(struct daemon *daemon)
{
    struct replay *replay = daemon->replay;
    struct capture_frame frame;
    char err[CAPTURE_ERR_MAX];
    if (ways_create(&replay->ways, daemon->conf, daemon->port, daemon->n_ports) != 0) {
        log_error("out of memory\n");
        return -1;
    }
    if (!ways_want(replay->ways))
        return 0;
    // A fault of the file is told of when its frames are replayed.
    while (ways_want(replay->ways) && capture_next(replay->capture, &frame, err) == 1)
        ways_learn(replay->ways, replay->capture, &frame);
    capture_close(replay->capture);
    replay->capture = NULL;
    int rc = capture_open(&replay->capture, replay->fd, err);
    if (rc != 0)
        log_error("%s: %s\n", replay->options->in, err);
    return rc != 0 ? -1 : 0;
}

static int start_rib(struct daemon *daemon)
{
    int rc = rib_create(&daemon->manage.rib, daemon->shared.fib);
    if (rc != 0)
        log_error("RIB: %s\n", strerror(-rc));
    return rc != 0 ? -1 : 0;
}

static int start_writer(struct daemon *daemon)
{
    static const char pcapng[] = ".pcapng";
    struct replay *replay = daemon->replay;
    const char *path = replay->options->out, *names[PORT_MAX];
    if (path == NULL)
        return 0;
    for (uint16_t p = 0; p < daemon->n_ports; p++)
        names[p] = daemon->port[p].config.name;
    size_t len = strlen(path), suffix = sizeof pcapng - 1;
    bool ng = len >= suffix && strcmp(path + len - suffix, pcapng) == 0;
    int rc = capture_writer_open(&replay->writer, path, ng, names, daemon->n_ports);
    if (rc != 0)
        log_error("cannot write %s: %s\n", path, strerror(-rc));
    return rc != 0 ? -1 : 0;
}

static int start_worker(struct daemon *daemon)
{
    struct worker *worker = &daemon->worker[0];
    struct fwd_config *config = &worker->config.fwd;
    if (tables_fwd_config(daemon, 0, config) != 0)
        return -1;
    config->send = replay_send;
    config->send_ctx = daemon;
    config->now_ns = REPLAY_START_NS;
    if (fwd_create(&worker->fwd, config) != 0) {
        log_error("no memory for the tables of the worker\n");
        return -1;
    }
    daemon->replay->now_ns = REPLAY_START_NS;
    daemon->replay->fwd = worker->fwd;
    return 0;
}

static int report(struct daemon *daemon)
{
    const char *path = daemon->replay->options->stats;
    FILE *out = path != NULL ? fopen(path, "we") : stderr;
    int rc = out == NULL ? -errno : path != NULL ? replay_report_json(daemon, out) : replay_report_text(daemon, out);
    if (out != NULL && path != NULL && fclose(out) != 0 && rc == 0)
        rc = -errno;
    if (rc != 0)
        log_error("cannot write %s: %s\n", path != NULL ? path : "the report", strerror(-rc));
    return rc != 0 ? -1 : 0;
}

int replay_run(struct conf *conf, const struct replay_options *options)
{
    struct replay replay = {.options = options, .fd = -1};
    struct daemon *daemon = daemon_create(conf, 1);
    if (daemon == NULL)
        return 1;
    daemon->replay = &replay;
    random_fix(SEED);
    int rc = -1;
    if (start_capture(daemon) == 0 && start_memory(daemon) == 0 && tables_create(daemon) == 0 &&
        start_ports(daemon) == 0 && start_ways(daemon) == 0 && tables_faces(daemon) == 0 &&
        daemon_quic_start(daemon) == 0 && tables_strategies(daemon) == 0 && start_rib(daemon) == 0 &&
        tables_routes(daemon) == 0 && start_worker(daemon) == 0 && start_writer(daemon) == 0) {
        rc = run(daemon);
        if (report(daemon) != 0)
            rc = -1;
    }
    int written = capture_writer_close(replay.writer);
    if (written != 0) {
        log_error("cannot write %s: %s\n", options->out, strerror(-written));
        rc = -1;
    }
    fwd_destroy(replay.fwd);
    if (daemon->pool != NULL && rte_mempool_in_use_count(daemon->pool) != 0) {
        log_error("%u packet buffers were lost\n", rte_mempool_in_use_count(daemon->pool));
        rc = -1;
    }
    ways_destroy(replay.ways);
    capture_close(replay.capture);
    if (replay.fd >= 0)
        close(replay.fd);
    daemon_stop(daemon);
    return rc != 0 ? 1 : 0;
}
