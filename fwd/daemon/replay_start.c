// SPDX-License-Identifier: Apache-2.0
#include "fwd/daemon/replay.h"

#include <rte_eal.h>
#include <rte_ether.h>
#include <rte_mempool.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "fwd/daemon/daemon.h"
#include "fwd/daemon/log.h"
#include "fwd/daemon/replay_impl.h"
#include "fwd/daemon/tables.h"
#include "parser/ndn_name.h"
#include "parser/quic_lb.h"
#include "parser/random.h"
#include "ports/mbuf_pool.h"

/* All random numbers follow from it. */
#define SEED UINT64_C(0x7069746c616e6521)

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
    worker_clock_set(REPLAY_START_NS);
    return tables_memory(daemon, n);
}

/* Names and connection IDs; before the tables have any. */
static int start_names(const struct daemon *daemon)
{
    if (daemon->replay->options->portable)
        (void)ndn_name_hash_select("portable");
    return 0;
}

static int start_quic(struct daemon *daemon)
{
    int rc = daemon_quic_start(daemon);
    if (daemon->replay->options->portable)
        (void)quic_lb_decode_select("portable");
    return rc;
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

/* When the capture begins, the worker's clock shows REPLAY_START_NS. */
static void start_clock(struct daemon *daemon, uint64_t first_ns)
{
    struct replay *replay = daemon->replay;
    replay->now_ns = REPLAY_START_NS;
    replay->first_ns = replay->last_ns = first_ns;
    replay->posix_ns = first_ns - REPLAY_START_NS;
    atomic_store_explicit(&daemon->shared.posix_ns, replay->posix_ns, memory_order_relaxed);
}

/* Look ahead for the first time and, to the end if need be, for what is not known of neighbours; then begin again. */
static int start_ways(struct daemon *daemon)
{
    struct replay *replay = daemon->replay;
    struct capture_frame frame;
    char err[CAPTURE_ERR_MAX];
    if (ways_create(&replay->ways, daemon->conf, daemon->port, daemon->n_ports) != 0) {
        log_error("out of memory\n");
        return -1;
    }
    // A fault of the file is told of when its frames are replayed.
    bool is_first = true;
    while ((is_first || ways_want(replay->ways)) && capture_next(replay->capture, &frame, err) == 1) {
        if (is_first)
            start_clock(daemon, frame.time_ns);
        is_first = false;
        ways_learn(replay->ways, replay->capture, &frame);
    }
    capture_close(replay->capture);
    replay->capture = NULL;
    int rc = capture_open(&replay->capture, replay->fd, err);
    if (rc != 0)
        log_error("%s: %s\n", replay->options->in, err);
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
    struct replay replay = {.options = options, .fd = -1, .now_ns = REPLAY_START_NS};
    struct daemon *daemon = daemon_create(conf, 1);
    if (daemon == NULL)
        return 1;
    daemon->replay = &replay;
    random_fix(SEED);
    int rc = -1;
    if (start_capture(daemon) == 0 && start_memory(daemon) == 0 && tables_create(daemon) == 0 &&
        start_names(daemon) == 0 && start_ports(daemon) == 0 && start_ways(daemon) == 0 && manage_open(daemon) == 0 &&
        tables_faces(daemon) == 0 && start_quic(daemon) == 0 && tables_strategies(daemon) == 0 &&
        manage_start(daemon) == 0 && tables_routes(daemon) == 0 && start_worker(daemon) == 0 &&
        start_writer(daemon) == 0) {
        rc = replay_frames(daemon);
        if (report(daemon) != 0)
            rc = -1;
    }
    int written = capture_writer_close(replay.writer);
    if (written != 0) {
        log_error("cannot write %s: %s\n", options->out, strerror(-written));
        rc = -1;
    }
    fwd_destroy(replay.fwd);
    daemon->worker[0].fwd = NULL;
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
