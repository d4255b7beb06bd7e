// SPDX-License-Identifier: Apache-2.0
#ifndef PORTS_XDP_VIPS_H
#define PORTS_XDP_VIPS_H

#include "ports/port.h"

/**
 * Make a map of struct xdp_vip hold these addresses and no other, while the program runs: what is in it before and
 * after is never missing in between. Control thread. @return 0, or a negative errno
 */
int xdp_vips_set(int map_fd, const struct port_vip *vips, unsigned n);

#endif
