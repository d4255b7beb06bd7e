// SPDX-License-Identifier: Apache-2.0
#ifndef TEST_LOAD_MKPCAP_OUT_H
#define TEST_LOAD_MKPCAP_OUT_H

#include <stddef.h>
#include <stdint.h>

/** Of captures, which say where they end; trafgen's text is what netsniff-ng would make of one. */
enum mkpcap_format {
    MKPCAP_PCAP_NS, /**< classic, nanoseconds */
    MKPCAP_PCAP_US, /**< classic, microseconds: all that Pktgen-DPDK reads */
    MKPCAP_PCAPNG,  /**< nanoseconds; tells the interface of each frame */
    MKPCAP_TRAFGEN, /**< packets of trafgen(8); no time */
};

struct mkpcap_out;

/** Names of formats as options have them: "pcap", "pcap-us", "pcapng", "trafgen". @return 0 or -EINVAL */
int mkpcap_format_parse(const char *text, enum mkpcap_format *format);

/**
 * Make a file, of @p n_interfaces interfaces of Ethernet.
 *
 * @return NULL when it cannot be made, with a message in @p err
 */
struct mkpcap_out *mkpcap_out_open(const char *path, enum mkpcap_format format, unsigned n_interfaces, char *err,
                                   size_t err_size);

/** Append a frame received at an interface at a time since 1970. Failures show in mkpcap_out_close(). */
void mkpcap_out_write(struct mkpcap_out *out, unsigned interface, uint64_t time_ns, const uint8_t *frame, size_t len);

/** @return 0, or -EIO when not everything could be written */
int mkpcap_out_close(struct mkpcap_out *out);

#endif
