// SPDX-License-Identifier: Apache-2.0
#ifndef FWD_MGMT_FACE_CONTROL_H
#define FWD_MGMT_FACE_CONTROL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fwd/mgmt/wire.h"
#include "ports/face.h"

/*
 * Faces made, changed and removed while the daemon runs, whoever asks: management, a peer that connects to a socket,
 * the configuration. All of it in the control thread, under the daemon's lock.
 */

struct face_control;
struct fwd_shared;
struct worker;
struct port;
struct monitor;
struct sock;

struct face_control_config {
    struct fwd_shared *shared;
    struct worker *worker;
    uint16_t n_workers;
    struct port *port; /**< devices; n_ports of them */
    uint16_t n_ports;
    struct monitor *monitor; /**< NULL in tests */
    struct sock *sock;       /**< NULL: no sockets */
    bool congestion_marking; /**< default of new UDP and TCP faces */
};

/**
 * Adds the faces contentstore:// (254) and null:// (255) to the table, which take everything and send nothing, and the
 * ring by which workers tell of unknown peers (fwd/unknown.h). After the ports were opened and before workers start.
 *
 * @return 0, -ENOMEM
 */
int face_control_create(struct face_control **control, const struct face_control_config *config);
/** After workers and the I/O thread ended, before mgmt_destroy(): requests that wait for a socket are answered 504. */
void face_control_destroy(struct face_control *control);

/** Hear of faces: created, destroyed (the face is still there during the call), up, down. */
typedef void (*face_listener_t)(void *ctx, enum mgmt_face_event event, const struct face *face);
/** @return 0 or -ENOSPC (8 listeners) */
int face_control_listen(struct face_control *control, face_listener_t listener, void *ctx);

/** What faces/create asks for. */
struct face_request {
    struct mgmt_octets uri, local_uri; /**< local_uri.len 0: none */
    bool has_mtu, has_congestion_interval, has_congestion_threshold;
    uint8_t persistency;
    uint8_t flags; /**< values */
    uint8_t mask;  /**< which of them count; the others have their defaults */
    uint64_t mtu, congestion_interval_ns, congestion_threshold;
};

/** NFD's status code and text; @p face is the new one (200), the one there was (409), or NULL. */
typedef void (*face_made_t)(void *ctx, unsigned code, const char *text, const struct face *face);

/**
 * Make a face: on one of our ports when the way to the remote leads there, else over a socket of the kernel. @p made
 * is called exactly once, from here or later (TCP).
 */
void face_control_make(struct face_control *control, const struct face_request *request, face_made_t made, void *ctx);

/**
 * For sock_listener.connected: the outcome of a sock_connect() that face_control_make() began under @p ticket.
 *
 * @return FaceId, 0: nobody waits for it, or there is no room
 */
uint32_t face_control_connected(struct face_control *control, uint64_t ticket, int rc,
                                const struct face_config *config);

/** Announce a face that was added to the table by someone else (configuration, an accepted socket). */
void face_control_announce(struct face_control *control, uint32_t id);
/**
 * Take a face away everywhere: receive match, monitor, RIB (by listeners) and table at once, FIB and workers at the
 * next face_control_poll(), for all faces that have gone by then. Reserved faces stay. @return 0, -ENOENT, -EPERM
 */
int face_control_remove(struct face_control *control, uint32_t id);
/** faces/update. @return 0, -ENOENT, -EINVAL with *wrong (bits of enum mgmt_field) that cannot be so */
int face_control_change(struct face_control *control, uint32_t id, const struct face_update *update, uint32_t *wrong);
/** A face went up or down, as the monitor (which set its flag) or a socket says. */
void face_control_updown(struct face_control *control, uint32_t id, bool up);
/** Housekeeping: idle on-demand faces and the like. @return nanoseconds until it wants to be called again */
uint64_t face_control_poll(struct face_control *control, uint64_t now_ns);

/** Counters of a face over all workers. */
struct stats_face;
void face_control_counters(const struct face_control *control, uint32_t id, struct stats_face *sum);

/** Status of a face as faces/list has it. URIs point into the face. */
void face_control_status(const struct face_control *control, const struct face *face, struct mgmt_face_status *status);

#endif
