// SPDX-License-Identifier: Apache-2.0
#ifndef FWD_DAEMON_CAPTURE_H
#define FWD_DAEMON_CAPTURE_H

#include <stdint.h>

/*
 * Frames from a capture file: pcap (draft-ietf-opsawg-pcap, microseconds or nanoseconds, either byte order) and pcapng
 * (draft-ietf-opsawg-pcapng). Its octets are hostile: every length is checked against what the file has left. Reads
 * with read(2) and not through a mapping, so that a file that shrinks meanwhile is an error like any other.
 */

#define CAPTURE_ERR_MAX 256
/** Most octets of one frame; what tools take for the longest that a capture may have. */
#define CAPTURE_FRAME_MAX 262144
/** Most interfaces of one section. */
#define CAPTURE_INTERFACES_MAX 4096
#define CAPTURE_NAME_MAX       64
/** No time is later than this (7 February 2106): later ones count as this. */
#define CAPTURE_TIME_MAX (UINT64_C(4294967295) * 1000000000 + 999999999)

struct capture;

/** An interface that frames were captured at. The only one of a pcap file has no name. */
struct capture_interface {
    char name[CAPTURE_NAME_MAX]; /**< if_name, cut to this; "": not told */
    uint16_t link_type;
    int user; /**< the caller's; -1 when the interface becomes known */
};

struct capture_frame {
    uint64_t time_ns;       /**< since 1970; of a block without a time that of the frame before */
    uint32_t len, wire_len; /**< octets captured, and on the wire: more when the capture cut the frame */
    const uint8_t *octets;  /**< valid until the next call */
    struct capture_interface *interface;
    uint64_t offset; /**< of its record in the file */
};

/**
 * Begin to read an open regular file, which stays the caller's. On failure @p err says why.
 *
 * @return 0, -EINVAL for what is no capture of Ethernet, or a negative errno
 */
int capture_open(struct capture **capture, int fd, char err[CAPTURE_ERR_MAX]);
void capture_close(struct capture *capture);

/**
 * The next frame. @return 1; 0 at the end; -EINVAL or what read(2) says, with the reason and where it is in @p err
 */
int capture_next(struct capture *capture, struct capture_frame *frame, char err[CAPTURE_ERR_MAX]);

/** Interfaces known so far of the section that the last frame was in. */
unsigned capture_n_interfaces(const struct capture *capture);
/** Index of an interface in its section. */
unsigned capture_interface_index(const struct capture *capture, const struct capture_interface *interface);

#endif
