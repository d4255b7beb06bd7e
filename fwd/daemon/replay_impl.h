// SPDX-License-Identifier: Apache-2.0
#ifndef FWD_DAEMON_REPLAY_IMPL_H
#define FWD_DAEMON_REPLAY_IMPL_H

#include <stdio.h>

#include "fwd/daemon/capture.h"
#include "fwd/daemon/capture_write.h"
#include "fwd/daemon/replay.h"
#include "fwd/daemon/replay_ways.h"
#include "fwd/fwd.h"

/** What became of the capture's frames before a port had them, and of those that ports sent. */
#define REPLAY_COUNTERS(COUNTER)                                                      \
    COUNTER(frames, "frames", "frames of the capture")                                \
    COUNTER(cut, "cut", "of them: the capture has not all of their octets")           \
    COUNTER(own, "own", "of them: sent by the forwarder when the capture was made")   \
    COUNTER(no_port, "no_port", "of them: came in by no port that is known")          \
    COUNTER(no_buffer, "no_buffer", "of them: no packet buffer was free")             \
    COUNTER(late, "late", "of them: older than the one before, taken as equally old") \
    COUNTER(bursts, "bursts", "bursts that the rest came in by")

struct replay_counters {
#define COUNTER(field, name, text) uint64_t field;
    REPLAY_COUNTERS(COUNTER)
#undef COUNTER
    uint64_t in[PORT_MAX], out[PORT_MAX]; /**< frames of each port */
};

/** A replay that runs. Control thread, which is the worker as well. */
struct replay {
    const struct replay_options *options;
    int fd;
    struct capture *capture;
    struct capture_writer *writer; /**< NULL: nothing is written */
    struct ways *ways;
    struct fwd *fwd;
    uint64_t now_ns;            /**< of the worker */
    uint64_t posix_ns;          /**< what makes it the capture's time */
    uint64_t first_ns, last_ns; /**< of the capture */
    struct replay_counters counters;
};

/** What the worker sends, fwd_send_t with the daemon as its context. */
uint16_t replay_send(struct fwd *fwd, uint16_t index, struct rte_mbuf **mbufs, uint16_t n);
/** All frames of the capture, and what is pending behind them. @return 0, or -1: the file is bad (logged) */
int replay_frames(struct daemon *daemon);

/** Write the outcome. @return 0, or a negative errno */
int replay_report_json(const struct daemon *daemon, FILE *out);
int replay_report_text(const struct daemon *daemon, FILE *out);

#endif
