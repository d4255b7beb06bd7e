// SPDX-License-Identifier: Apache-2.0
#ifndef FWD_MGMT_FACE_CONTROL_PRIV_H
#define FWD_MGMT_FACE_CONTROL_PRIV_H

#include "fwd/fwd.h"
#include "fwd/mgmt/face_control.h"
#include "fwd/mgmt/face_uri.h"
#include "fwd/worker.h"
#include "ports/monitor.h"
#include "ports/sock/sock.h"

#define FACE_LISTENERS_MAX 8
#define FACE_WAITERS_MAX   4096 /**< requests that wait for a connection */

/** Defaults that NFD reports. */
#define FACE_CONGESTION_INTERVAL_NS UINT64_C(100000000)
#define FACE_CONGESTION_THRESHOLD   UINT64_C(65536)
#define FACE_MTU_MIN                64
#define FACE_MTU_MAX                8800

/** What a face is, in one place, for rules about persistency and options. */
enum face_class {
    FACE_CLASS_DATAGRAM, /**< UDP and Ethernet unicast */
    FACE_CLASS_GROUP,    /**< UDP and Ethernet multicast */
    FACE_CLASS_BARE,
    FACE_CLASS_TCP,
    FACE_CLASS_ACCEPTED, /**< Unix and WebSocket: a peer came, nobody can go to it */
    FACE_CLASS_NULL,     /**< internal, contentstore, null */
};
enum face_class face_class_of(const struct face *face);

/** A faces/create that waits for sock_connect(). */
struct face_waiter {
    struct face_waiter *next;
    uint64_t ticket; /* waiters for the same remote share it */
    char uri[FACE_URI_MAX];
    face_made_t made;
    void *ctx;
};

/** Faces that were removed and that FIB and workers may still know. */
struct face_gone {
    uint32_t *id;
    uint32_t n, room;
    uint32_t told[FWD_WORKERS_MAX];       /* ids that each worker has forgotten, from the first */
    uint64_t not_before[FWD_WORKERS_MAX]; /* a worker that does not answer is left alone for a while */
    bool fib_due;
    uint64_t fib_not_before; /* a walk over a large FIB costs: seldom enough to be a small part of the time */
};

/** A face that is removed when nothing comes by it. */
struct face_idle {
    uint32_t face;
    uint64_t in_octets; /* when last looked at */
    uint64_t active_ns; /* when they were last seen to have grown */
};

/** Faces of ports whose persistency is on-demand. */
struct face_demand {
    struct face_idle *idle;
    uint32_t n, room;
    uint32_t next; /* to be looked at */
    uint64_t look_ns;
    uint64_t tokens_ns; /* new faces a second, as time that has been saved up */
    uint64_t refill_ns;
    uint32_t n_on_port[PORT_MAX];
};

struct face_control {
    struct face_control_config config;
    struct {
        face_listener_t listener;
        void *ctx;
    } listener[FACE_LISTENERS_MAX];
    unsigned n_listeners;
    uint64_t now_ns;
    struct face_waiter *waiters;
    unsigned n_waiters;
    uint64_t next_ticket;
    struct face_gone gone;
    struct face_demand demand;
    uint64_t updown_ns; /* when to look for faces that went up or down */
    /* Faces by remote URI: slot + 1 of the first, and of the next. */
    uint32_t bucket[FACE_SLOTS];
    uint32_t chain[FACE_SLOTS];
    bool known[FACE_SLOTS];     /* announced */
    bool told_down[FACE_SLOTS]; /* what listeners were last told */
};

static inline struct face_table *face_control_table(const struct face_control *control)
{
    return control->config.shared->faces;
}

/** A point-to-point face to this remote, over any port and socket; NULL. @p local_uri NULL: any */
const struct face *face_control_find(const struct face_control *control, const char *uri, const char *local_uri);

/* face_gone.c */
int face_gone_add(struct face_control *control, uint32_t id);
/** @return nanoseconds until it has more to do, UINT64_MAX: nothing is left */
uint64_t face_gone_poll(struct face_control *control);

/* face_demand.c */
int face_demand_create(struct face_control *control);
void face_demand_destroy(struct face_control *control);
/** A face of a port became on-demand, or is so no longer. */
int face_demand_add(struct face_control *control, const struct face *face);
void face_demand_remove(struct face_control *control, const struct face *face);
uint64_t face_demand_poll(struct face_control *control);
/** Milliseconds until an idle face is removed, -1: it is not on-demand. */
int64_t face_demand_expires_ms(const struct face_control *control, uint32_t id);

/* face_make.c */
/** Add a face of a port: table, receive match, next hop, listeners. @return 0, or a negative errno; all is undone then
 */
int face_control_add(struct face_control *control, struct port *port, const struct face_config *config, uint32_t *id);
/** Name of a port's device in dev:// URIs. */
void face_control_dev(const struct port *port, char dev[64]);

#endif
