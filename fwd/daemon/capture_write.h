// SPDX-License-Identifier: Apache-2.0
#ifndef FWD_DAEMON_CAPTURE_WRITE_H
#define FWD_DAEMON_CAPTURE_WRITE_H

#include <stdbool.h>
#include <stdint.h>

struct rte_mbuf;

/*
 * Frames into a capture file: pcap with nanoseconds, or pcapng with an interface for each port. Little-endian, and
 * nothing in it tells of the machine or the time of day: the same frames are the same octets everywhere.
 */
struct capture_writer;

/**
 * Make the file, or empty it. @p names are those of the interfaces of pcapng, in order; for pcap they are left alone.
 *
 * @return 0, or a negative errno
 */
int capture_writer_open(struct capture_writer **writer, const char *path, bool pcapng, const char *const *names,
                        unsigned n_names);

/**
 * Add a frame: @p header_len octets at @p header (0: none), then those of the chain @p mbuf, which stays the caller's.
 * A failure is told by capture_writer_close().
 */
void capture_writer_add(struct capture_writer *writer, uint64_t time_ns, unsigned interface, const uint8_t *header,
                        uint32_t header_len, const struct rte_mbuf *mbuf);

/** Write what is left; NULL is allowed. @return 0, or the first error of write(2) or close(2) as a negative errno */
int capture_writer_close(struct capture_writer *writer);

#endif
