// SPDX-License-Identifier: Apache-2.0
#ifndef FWD_DAEMON_REPLAY_WAYS_H
#define FWD_DAEMON_REPLAY_WAYS_H

#include <stdbool.h>
#include <stdint.h>

#include "fwd/daemon/capture.h"

struct conf;
struct face;
struct port;

/*
 * Which port a frame of a capture came in by, and which MAC addresses neighbours have. Control thread.
 *
 * The port is, in this order:
 * 1. of pcapng: the one whose name, or netdev, is that of the frame's interface;
 * 2. of pcapng with several interfaces: the one with the interface's number;
 * 3. the one with the destination MAC address;
 * 4. for a group: the one with a face to the source MAC address, else the only one with a face to that group;
 * 5. the only one there is.
 * A frame from a port's own MAC address is one that the forwarder sent itself when the capture was made.
 */
struct ways;

#define WAYS_NONE (-1) /**< no port */
#define WAYS_OWN  (-2) /**< sent by a port, not received */

/** @param ports @p n_ports open ports, in the configuration's order. @return 0, -ENOMEM */
int ways_create(struct ways **ways, const struct conf *conf, const struct port *ports, uint16_t n_ports);
void ways_destroy(struct ways *ways);

/**
 * True when there are neighbours whose MAC addresses the configuration does not tell. Then frames of the whole capture
 * are to be shown to ways_learn() before anything else is asked.
 */
bool ways_want(const struct ways *ways);
/** The first frame from an address, or ARP from it, tells its MAC address, as does one that we sent there. */
void ways_learn(struct ways *ways, const struct capture *capture, const struct capture_frame *frame);

/** MAC address of a neighbour at a port. @return false: unknown */
bool ways_neighbour(const struct ways *ways, uint16_t port, const uint8_t *ip, bool v6, uint8_t mac[6]);
/** The port whose network an address belongs to; else the only one there is. @return index, WAYS_NONE */
int ways_port_to(const struct ways *ways, const uint8_t *ip, bool v6);

/** A face was made: its remote MAC address is one of ways_ingress(). @return 0, -ENOMEM */
int ways_face(struct ways *ways, const struct face *face);

/** @return index of the port, WAYS_NONE, WAYS_OWN */
int ways_ingress(struct ways *ways, const struct capture *capture, const struct capture_frame *frame);

#endif
