// SPDX-License-Identifier: Apache-2.0
#ifndef PORTS_VHOST_H
#define PORTS_VHOST_H

/**
 * Make sure that a vhost device can make its socket: what a process that was killed left is removed. Devices of other
 * drivers, and vhost devices that connect to a socket (client=1), are none of its business. Control thread.
 *
 * @param device the vdev's name and arguments
 * @return 0, or a negative errno with a message of at most PORT_ERR_LEN octets in @p err: the path is too long, is
 * another program's socket or no socket at all, or its folder is not there
 */
int vhost_prepare(const char *device, char *err);

#endif
