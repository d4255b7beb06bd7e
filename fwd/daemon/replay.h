// SPDX-License-Identifier: Apache-2.0
#ifndef FWD_DAEMON_REPLAY_H
#define FWD_DAEMON_REPLAY_H

#include <stdbool.h>
#include <stdint.h>

#include "conf/conf.h"

struct daemon;
struct monitor_hop;
struct monitor_hop_config;

/*
 * The daemon of a configuration, driven by a capture instead of devices: the same tables, faces, routes, strategies and
 * QUIC services, one worker, and every frame that it sends in another capture. Time is that of the frames, and all
 * random numbers are fixed: what comes out depends on the configuration, the capture and the options, and on nothing
 * else.
 */

#define REPLAY_TAIL_MS  10000u
#define REPLAY_BURST_NS 50000u
/** What the worker's clock shows at the first frame: as with devices it has been up for a moment. */
#define REPLAY_START_NS UINT64_C(1000000000)

/** The MAC address of a port, which a device would have told. */
struct replay_mac {
    const char *port; /**< name in the configuration */
    uint8_t mac[6];
};

struct replay_options {
    const char *in;
    const char *out;   /**< pcapng when it ends so, else pcap; NULL: none */
    const char *stats; /**< JSON is written there; NULL: text to stderr */
    uint32_t tail_ms;  /**< most time that goes on behind the last frame, while something is pending */
    uint32_t burst_ns; /**< frames of one port, one after another and this close, come in together */
    bool portable;     /**< no instructions that not every CPU has; what comes out is the same */
    unsigned n_macs;
    struct replay_mac mac[CONF_PORTS_MAX];
};

/** Take "PORT=02:00:00:00:00:01" apart, changing @p text. @return 0, -EINVAL, -ENOSPC: too many */
int replay_option_mac(struct replay_options *options, char *text);

/** Do it, with messages on stderr. Takes @p conf over. @return exit status: 0, 1 failed */
int replay_run(struct conf *conf, const struct replay_options *options);

/* What the kernel is asked in the daemon, the configuration and the capture are asked in a replay. */

/** A face was added: find the MAC address of its next hop. @return 0, negative errno */
int replay_face_add(struct daemon *daemon, uint32_t face);
/** As monitor_hop_add() and monitor_hop_remove(). */
int replay_hop_add(struct daemon *daemon, const struct monitor_hop_config *config, const struct monitor_hop **hop);
void replay_hop_remove(const struct monitor_hop *hop);

#endif
