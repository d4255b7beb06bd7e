// SPDX-License-Identifier: Apache-2.0
/*
 * What happens to links, neighbours and netdevs while the daemon runs.
 */
#include <errno.h>
#include <net/if.h>
#include <string.h>
#include <time.h>

#include <rte_rcu_qsbr.h>

#include "fwd/daemon/daemon.h"
#include "fwd/daemon/log.h"
#include "fwd/mgmt/face_control.h"

/* First and longest time between two attempts to open a port whose netdev came back. */
#define RETRY_MIN_MS 500u
#define RETRY_MAX_MS 60000u

/* Management's listeners hear of each face that went up or down. */
static void tell_faces(struct daemon *daemon, enum monitor_event event, const struct port *port, uint32_t face_id)
{
    bool up = event == MONITOR_FACE_UP || event == MONITOR_LINK_UP;
    if (daemon->manage.faces == NULL)
        return;
    if (event == MONITOR_FACE_UP || event == MONITOR_FACE_DOWN) {
        face_control_updown(daemon->manage.faces, face_id, up);
        return;
    }
    if (event != MONITOR_LINK_UP && event != MONITOR_LINK_DOWN && event != MONITOR_GONE)
        return;
    for (uint32_t slot = 0; slot < FACE_SLOTS; slot++) {
        const struct face *face = atomic_load_explicit(&daemon->shared.faces->slot[slot], memory_order_relaxed);
        if (face != NULL && face->port == port->index)
            face_control_updown(daemon->manage.faces, face->id, up);
    }
}

/* Faces of the configuration have names. */
static const char *name_of(const struct face *face)
{
    if (face == NULL)
        return "";
    return face->name[0] != '\0' ? face->name : face->remote_uri;
}

static void on_event(void *arg, enum monitor_event event, struct port *port, uint32_t face_id)
{
    struct daemon *daemon = arg;
    const struct face *face = face_id != 0 ? face_get(daemon->shared.faces, face_id) : NULL;
    const char *name = port->config.name;
    tell_faces(daemon, event, port, face_id);
    switch (event) {
    case MONITOR_LINK_UP:
        log_info("port %s: link up\n", name);
        break;
    case MONITOR_LINK_DOWN:
        log_warning("port %s: link down\n", name);
        break;
    case MONITOR_GONE:
        log_warning("port %s: the interface is gone\n", name);
        break;
    case MONITOR_RETURNED:
        daemon->returned |= 1ull << port->index;
        break;
    case MONITOR_MTU:
        log_info("port %s: MTU %u\n", name, port->mtu);
        break;
    case MONITOR_FACE_UP:
        log_info("face %s: next hop found\n", name_of(face));
        break;
    case MONITOR_FACE_DOWN:
        log_warning("face %s: next hop does not answer\n", name_of(face));
        break;
    }
}

int daemon_watch(struct daemon *daemon)
{
    struct monitor_listener listener = {.on_event = on_event, .arg = daemon};
    int rc = monitor_create(&daemon->monitor, daemon->shared.faces, &listener);
    for (uint16_t p = 0; p < daemon->n_ports && rc == 0; p++)
        rc = monitor_port_add(daemon->monitor, &daemon->port[p]);
    if (rc != 0)
        log_error("cannot watch the kernel's links and neighbours: %s\n", strerror(-rc));
    return rc != 0 ? -1 : 0;
}

/*
 * The netdev of a port was made anew: open it again in its old place, for its old faces. @return false when that
 * failed, for a reason that is logged; the port is closed then, and the monitor goes on watching for its netdev
 */
static bool reopen(struct daemon *daemon, struct port *port)
{
    struct port fresh;
    uint16_t n_queues = port->n_queues;
    if (!(daemon->closed & 1ull << port->index)) {
        // Workers have left the port alone since port->gone; after this none is still in a burst of it.
        rte_rcu_qsbr_synchronize(daemon->qsbr, RTE_QSBR_THRID_INVALID);
        port_close(port);
        daemon->closed |= 1ull << port->index;
    }
    if (daemon_port_open(daemon, port->index, &fresh) != 0)
        return false;
    if (fresh.n_queues != n_queues) {
        log_error("port %s: has %u queues now, had %u: give it as many, or restart\n", fresh.config.name,
                  fresh.n_queues, n_queues);
        port_close(&fresh);
        return false;
    }
    monitor_port_remove(daemon->monitor, port);
    atomic_store(&fresh.gone, true);
    memcpy(port, &fresh, sizeof *port);
    daemon->closed &= ~(1ull << port->index);
    monitor_port_add(daemon->monitor, port);
    for (uint32_t slot = 0; slot < FACE_SLOTS; slot++) {
        const struct face *face = atomic_load_explicit(&daemon->shared.faces->slot[slot], memory_order_relaxed);
        if (face != NULL && face->port == port->index && port_face_add(port, face) != 0)
            log_error("face %s: not received on any more\n", name_of(face));
    }
    daemon_quic_port(daemon, port);
    // Pairs with the workers' load: who sees the port back sees all of it.
    atomic_store_explicit(&port->gone, false, memory_order_release);
    log_info("port %s: the interface is back\n", port->config.name);
    return true;
}

/*
 * What kept a port from being opened may go: try again, later and later. Time decides and not the netdev's events, of
 * which each attempt causes some.
 */
static void reopen_due(struct daemon *daemon, uint16_t index, uint64_t now_ms)
{
    struct daemon_return *back = &daemon->back[index];
    if (now_ms < back->due_ms)
        return;
    if (reopen(daemon, &daemon->port[index])) {
        *back = (struct daemon_return){0};
        daemon->returned &= ~(1ull << index);
        return;
    }
    back->wait_ms = RTE_MIN(RTE_MAX(back->wait_ms * 2, RETRY_MIN_MS), RETRY_MAX_MS);
    back->due_ms = now_ms + back->wait_ms;
    if (if_nametoindex(daemon->conf->port[index].netdev) == 0)
        daemon->returned &= ~(1ull << index);
}

void daemon_clock(struct daemon *daemon)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    uint64_t posix_ns = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec - worker_now_ns();
    atomic_store_explicit(&daemon->shared.posix_ns, posix_ns, memory_order_relaxed);
}

void daemon_follow(struct daemon *daemon)
{
    daemon_clock(daemon);
    pthread_mutex_lock(&daemon->lock);
    uint64_t now_ms = worker_now_ns() / 1000000;
    monitor_poll(daemon->monitor, now_ms);
    for (uint16_t p = 0; p < daemon->n_ports; p++)
        if (daemon->returned & 1ull << p)
            reopen_due(daemon, p, now_ms);
    daemon_quic_follow(daemon);
    fib_reclaim(daemon->shared.fib);
    pthread_mutex_unlock(&daemon->lock);
}
