// SPDX-License-Identifier: Apache-2.0
#include "fwd/daemon/manage.h"

#include <errno.h>
#include <string.h>

#include <rte_mbuf.h>

#include "fwd/chain.h"
#include "fwd/daemon/daemon.h"
#include "fwd/daemon/log.h"
#include "fwd/daemon/sock_config.h"
#include "fwd/mgmt/auth.h"
#include "fwd/mgmt/face_control.h"
#include "fwd/mgmt/mgmt.h"
#include "fwd/mgmt/rib.h"
#include "parser/ndn_encode.h"
#include "ports/sock/sock.h"

/* Packets that management looks at in one round, so that links and neighbours have their turn too. */
#define MANAGE_BURST  32
#define MANAGE_ROUNDS 64

static uint64_t wall_ms(const struct daemon *daemon, uint64_t now_ns)
{
    return (atomic_load_explicit(&daemon->shared.posix_ns, memory_order_relaxed) + now_ns) / 1000000;
}

/* A packet of management, on its way to a worker. */
static void send_packet(void *ctx, const uint8_t *packet, size_t len)
{
    struct daemon *daemon = ctx;
    struct rte_mbuf *mbuf = chain_from_octets(daemon->pool, packet, (uint32_t)len);
    if (mbuf == NULL)
        return;
    thread_port_set_face(mbuf, FACE_ID_INTERNAL);
    // Workers hand it to the one that has the Interest pending.
    if (thread_port_send(daemon->internal.thread, 0, &mbuf, 1) == 0)
        rte_pktmbuf_free(mbuf);
}

static int open_port(struct daemon *daemon, struct port *port, const char *name)
{
    char err[200] = "";
    uint16_t index = daemon->n_ports;
    for (; daemon->shared.port[index] != NULL; index++)
        ;
    int rc = port_open_thread(port, index, name, daemon->n_workers, err);
    if (rc != 0) {
        log_error("port %s: %s\n", name, err);
        return -1;
    }
    daemon->shared.port[index] = port;
    return 0;
}

int manage_open(struct daemon *daemon)
{
    if (open_port(daemon, &daemon->internal, "internal") != 0 ||
        (daemon->replay == NULL && open_port(daemon, &daemon->sockets, "sockets") != 0))
        return -1;
    const struct face_config config = {
        .name = "internal",
        .port = daemon->internal.index,
        .kind = FACE_THREAD,
        .scope = FACE_SCOPE_LOCAL,
        .persistency = FACE_PERMANENT,
        .flags = FACE_LOCAL_FIELDS,
        .local_uri = "internal://",
        .remote_uri = "internal://",
    };
    int rc = face_add_reserved(daemon->shared.faces, &config, FACE_ID_INTERNAL);
    if (rc != 0)
        log_error("the internal face: %s\n", strerror(-rc));
    return rc;
}

static uint32_t on_accepted(void *ctx, const struct face_config *config)
{
    struct daemon *daemon = ctx;
    uint32_t id;
    if (face_add(daemon->shared.faces, config, UINT16_MAX, &id) != 0)
        return 0;
    face_control_announce(daemon->manage.faces, id);
    return id;
}

static uint32_t on_connected(void *ctx, uint64_t ticket, int rc, const struct face_config *config)
{
    struct daemon *daemon = ctx;
    return face_control_connected(daemon->manage.faces, ticket, rc, config);
}

static void on_closed(void *ctx, uint32_t face)
{
    struct daemon *daemon = ctx;
    face_control_remove(daemon->manage.faces, face);
}

static void on_updown(void *ctx, uint32_t face, bool up)
{
    struct daemon *daemon = ctx;
    face_control_updown(daemon->manage.faces, face, up);
}

/* Routes go with their face. */
static void on_face(void *ctx, enum mgmt_face_event event, const struct face *face)
{
    struct daemon *daemon = ctx;
    if (event == MGMT_FACE_DESTROYED)
        rib_face_remove(daemon->manage.rib, face->id);
}

static int start_sockets(struct daemon *daemon)
{
    struct manage *manage = &daemon->manage;
    const struct sock_listener listener = {
        .accepted = on_accepted, .connected = on_connected, .closed = on_closed, .updown = on_updown, .ctx = daemon};
    struct sock_config config;
    char err[200] = "";
    static struct sock_config_lists lists;
    sock_config_make(daemon->conf, &config, &lists);
    config.port = &daemon->sockets;
    config.pool = daemon->pool;
    int rc = sock_start(&manage->sock, &config, &listener, err);
    if (rc != 0)
        log_error("sockets: %s\n", err[0] != '\0' ? err : strerror(-rc));
    return rc;
}

static int start_management(struct daemon *daemon)
{
    struct manage *manage = &daemon->manage;
    const struct mgmt_env env = {
        .shared = &daemon->shared,
        .worker = daemon->worker,
        .n_workers = daemon->n_workers,
        .strategies = daemon->strategies,
        .faces = manage->faces,
        .rib = manage->rib,
        .auth = manage->auth,
        .version = PITLANE_VERSION,
        .cs_capacity_max = daemon->conf->cs.capacity_max * daemon->n_workers,
        .localhop = daemon->conf->rib.n_localhop_security > 0,
        .start_ms = wall_ms(daemon, worker_now_ns()),
        .send = send_packet,
        .ctx = daemon,
    };
    return mgmt_create(&manage->mgmt, &env);
}

/*
 * Interests for management go to the internal face. As with NFD the RIB has a route for the whole, and the FIB an entry
 * for the RIB's part.
 */
static int serve(struct daemon *daemon, const char *uri, bool in_rib)
{
    uint8_t name[64];
    int len = ndn_name_from_uri(uri, name, sizeof name);
    const struct rib_route route = {.face = FACE_ID_INTERNAL, .origin = RIB_ORIGIN_APP, .flags = RIB_CHILD_INHERIT};
    if (in_rib)
        return rib_register(daemon->manage.rib, (struct mgmt_octets){name, (uint16_t)len}, &route);
    return fib_nexthop_set(daemon->shared.fib, name, (uint16_t)len, FACE_ID_INTERNAL, 0);
}

static int serve_all(struct daemon *daemon)
{
    int rc = serve(daemon, "/localhost/nfd", true);
    if (rc == 0)
        rc = serve(daemon, "/localhost/nfd/rib", false);
    if (rc == 0 && daemon->conf->rib.n_localhop_security > 0)
        rc = serve(daemon, "/localhop/nfd/rib", true);
    return rc;
}

int manage_start(struct daemon *daemon)
{
    struct manage *manage = &daemon->manage;
    char err[256] = "";
    int rc = auth_create(&manage->auth, daemon->conf, err);
    if (rc != 0) {
        log_error("%s\n", err[0] != '\0' ? err : strerror(-rc));
        return -1;
    }
    rc = rib_create(&manage->rib, daemon->shared.fib);
    if (rc == 0 && daemon->replay == NULL && start_sockets(daemon) != 0)
        return -1;
    const struct face_control_config config = {
        .shared = &daemon->shared,
        .worker = daemon->worker,
        .n_workers = daemon->n_workers,
        .port = daemon->port,
        .n_ports = daemon->n_ports,
        .monitor = daemon->monitor,
        .sock = manage->sock,
        .congestion_marking = daemon->conf->sockets.congestion_marking,
    };
    if (rc == 0)
        rc = face_control_create(&manage->faces, &config);
    if (rc == 0)
        rc = face_control_listen(manage->faces, on_face, daemon);
    if (rc == 0)
        rc = start_management(daemon);
    if (rc == 0)
        rc = serve_all(daemon);
    // What goes to routing daemons and gateways is signed anew each time: no replay would be as the last one.
    if (rc == 0 && daemon->replay == NULL)
        rc = readvertise_configure(manage->readvertise, daemon->conf, manage->rib, manage->mgmt, err);
    if (rc != 0)
        log_error("management does not start: %s\n", err[0] != '\0' ? err : strerror(-rc));
    return rc != 0 ? -1 : 0;
}

int manage_run(struct daemon *daemon)
{
    char err[200] = "";
    if (sock_run(daemon->manage.sock, err) == 0)
        return 0;
    log_error("sockets: %s\n", err);
    return -1;
}

void manage_quiet(struct daemon *daemon)
{
    sock_stop(daemon->manage.sock);
    daemon->manage.sock = NULL;
}

void manage_stop(struct daemon *daemon)
{
    struct manage *manage = &daemon->manage;
    // Requests that wait for a connection are answered here.
    face_control_destroy(manage->faces);
    mgmt_destroy(manage->mgmt);
    rib_destroy(manage->rib);
    for (unsigned i = 0; i < READVERTISE_MAX; i++)
        readvertise_destroy(manage->readvertise[i]);
    auth_destroy(manage->auth);
}

void manage_close(struct daemon *daemon)
{
    // A start that failed at a device has not come to these.
    if (daemon->internal.thread != NULL)
        port_close(&daemon->internal);
    if (daemon->sockets.thread != NULL)
        port_close(&daemon->sockets);
}

unsigned manage_fds(const struct daemon *daemon, int fds[MANAGE_FDS])
{
    fds[0] = daemon->internal.thread->wake_fd;
    fds[1] = sock_fd(daemon->manage.sock);
    return MANAGE_FDS;
}

int manage_wait(struct daemon *daemon, int most)
{
    uint64_t now_ns = worker_now_ns(), next_ns = daemon->manage.next_ns;
    if (!thread_port_sleep(daemon->internal.thread) || next_ns <= now_ns)
        return 0;
    // Rounded up: a wait that is too short would be one more turn.
    uint64_t ms = (next_ns - now_ns + 999999) / 1000000;
    return ms < (uint64_t)most ? (int)ms : most;
}

/* What applications and routing daemons ask. */
static void receive(struct daemon *daemon, uint64_t now_ns)
{
    static uint8_t packet[NDN_PACKET_MAX + NDN_LP_HEADER_MAX];
    struct rte_mbuf *mbufs[MANAGE_BURST];
    for (unsigned round = 0; round < MANAGE_ROUNDS; round++) {
        uint16_t n = thread_port_receive(daemon->internal.thread, mbufs, MANAGE_BURST);
        for (uint16_t i = 0; i < n; i++) {
            uint32_t len = mbufs[i]->pkt_len;
            if (len <= sizeof packet) {
                chain_read(mbufs[i], 0, packet, len);
                mgmt_receive(daemon->manage.mgmt, packet, len, now_ns, wall_ms(daemon, now_ns));
            }
            rte_pktmbuf_free(mbufs[i]);
        }
        if (n < MANAGE_BURST)
            break;
    }
}

void manage_round(struct daemon *daemon)
{
    struct manage *manage = &daemon->manage;
    pthread_mutex_lock(&daemon->lock);
    uint64_t now_ns = worker_now_ns();
    thread_port_wake(daemon->internal.thread);
    if (manage->sock != NULL)
        sock_poll(manage->sock);
    receive(daemon, now_ns);
    uint64_t next_ns = rib_poll(manage->rib, now_ns);
    next_ns = RTE_MIN(next_ns, face_control_poll(manage->faces, now_ns));
    for (unsigned i = 0; i < READVERTISE_MAX; i++)
        if (manage->readvertise[i] != NULL)
            next_ns = RTE_MIN(next_ns, readvertise_poll(manage->readvertise[i], now_ns));
    // Last: it times what the others have just asked for.
    next_ns = RTE_MIN(next_ns, mgmt_poll(manage->mgmt, now_ns));
    manage->next_ns = next_ns > UINT64_MAX - now_ns ? UINT64_MAX : now_ns + next_ns;
    pthread_mutex_unlock(&daemon->lock);
}
