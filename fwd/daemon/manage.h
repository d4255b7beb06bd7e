// SPDX-License-Identifier: Apache-2.0
#ifndef FWD_DAEMON_MANAGE_H
#define FWD_DAEMON_MANAGE_H

#include <stdint.h>

#include "fwd/mgmt/readvertise.h"

struct daemon;
struct mgmt;
struct rib;
struct auth;
struct face_control;
struct sock;

/*
 * Management inside the daemon: the internal face with the NFD management protocol behind it, the RIB, and faces that
 * come and go. All of it runs in the control thread, under the daemon's lock.
 */
struct manage {
    struct mgmt *mgmt;
    struct rib *rib;
    struct auth *auth;
    struct face_control *faces;
    struct readvertise *readvertise[READVERTISE_MAX];
    struct sock *sock; /**< NULL: no sockets are configured */
    uint64_t next_ns;  /**< when something is due that no descriptor tells of */
};

/** Open the internal port and the sockets', and make the internal face. Before workers are planned. @return 0, -1 */
int manage_open(struct daemon *daemon);
/** Make the RIB, management and the sockets, for faces and tables that are there. @return 0, or -1 (logged) */
int manage_start(struct daemon *daemon);
/** Start the I/O thread, after the account was changed. @return 0, or -1 (logged) */
int manage_run(struct daemon *daemon);
/** Close sockets, so that nobody sends any more. Before workers stop. */
void manage_quiet(struct daemon *daemon);
/** Free everything but the ports. After workers stopped. */
void manage_stop(struct daemon *daemon);
/** Close the ports. After manage_stop(). */
void manage_close(struct daemon *daemon);

/** Descriptors the control thread waits for. */
#define MANAGE_FDS 2
unsigned manage_fds(const struct daemon *daemon, int fds[MANAGE_FDS]);
/** Say that the control thread is about to wait. @return milliseconds it may, at most @p most */
int manage_wait(struct daemon *daemon, int most);
/** Do what there is to do; the lock is taken. */
void manage_round(struct daemon *daemon);

#endif
