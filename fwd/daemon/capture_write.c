// SPDX-License-Identifier: Apache-2.0
#include "fwd/daemon/capture_write.h"

#include <rte_mbuf.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fwd/daemon/capture.h"
#include "fwd/daemon/capture_format.h"

#define BUFFER (1u << 20)
/* Units of time are 10 to the minus 9 seconds. */
#define NANOSECONDS 9

struct capture_writer {
    int fd;
    int rc; /* of the first write that failed */
    bool pcapng;
    size_t n;
    uint8_t buffer[BUFFER];
};

static void flush(struct capture_writer *writer)
{
    size_t done = 0;
    while (writer->rc == 0 && done < writer->n) {
        ssize_t n = write(writer->fd, writer->buffer + done, writer->n - done);
        if (n >= 0)
            done += (size_t)n;
        else if (errno != EINTR)
            writer->rc = -errno;
    }
    writer->n = 0;
}

static void put(struct capture_writer *writer, const void *octets, size_t len)
{
    const uint8_t *p = octets;
    while (len > 0) {
        if (writer->n == sizeof writer->buffer)
            flush(writer);
        size_t n = RTE_MIN(len, sizeof writer->buffer - writer->n);
        memcpy(writer->buffer + writer->n, p, n);
        writer->n += n;
        p += n;
        len -= n;
    }
}

static void put_u16(struct capture_writer *writer, uint16_t number)
{
    put(writer, (const uint8_t[2]){(uint8_t)number, (uint8_t)(number >> 8)}, 2);
}

static void put_u32(struct capture_writer *writer, uint32_t number)
{
    put_u16(writer, (uint16_t)number);
    put_u16(writer, (uint16_t)(number >> 16));
}

static void put_padding(struct capture_writer *writer, uint32_t len)
{
    put(writer, (const uint8_t[4]){0}, (4 - len % 4) % 4);
}

static void put_option(struct capture_writer *writer, uint16_t code, const void *value, uint16_t len)
{
    put_u16(writer, code);
    put_u16(writer, len);
    put(writer, value, len);
    put_padding(writer, len);
}

static uint32_t option_size(size_t len)
{
    return 4 + (((uint32_t)len + 3) & ~3u);
}

static void put_pcap_header(struct capture_writer *writer)
{
    put_u32(writer, PCAP_MAGIC_NS);
    put_u16(writer, PCAP_VERSION_MAJOR);
    put_u16(writer, PCAP_VERSION_MINOR);
    put_u32(writer, 0);
    put_u32(writer, 0);
    put_u32(writer, CAPTURE_FRAME_MAX);
    put_u32(writer, CAPTURE_LINK_ETHERNET);
}

static void put_section(struct capture_writer *writer)
{
    put_u32(writer, PCAPNG_SECTION);
    put_u32(writer, PCAPNG_SECTION_SIZE);
    put_u32(writer, PCAPNG_BYTE_ORDER);
    put_u16(writer, PCAPNG_VERSION_MAJOR);
    put_u16(writer, 0);
    // Its length is not told.
    put_u32(writer, UINT32_MAX);
    put_u32(writer, UINT32_MAX);
    put_u32(writer, PCAPNG_SECTION_SIZE);
}

static void put_interface(struct capture_writer *writer, const char *name)
{
    uint16_t len = (uint16_t)strnlen(name, UINT8_MAX);
    uint32_t size = PCAPNG_INTERFACE_SIZE + option_size(len) + option_size(1) + option_size(0);
    put_u32(writer, PCAPNG_INTERFACE);
    put_u32(writer, size);
    put_u16(writer, CAPTURE_LINK_ETHERNET);
    put_u16(writer, 0);
    put_u32(writer, CAPTURE_FRAME_MAX);
    put_option(writer, PCAPNG_IF_NAME, name, len);
    put_option(writer, PCAPNG_IF_TSRESOL, (const uint8_t[1]){NANOSECONDS}, 1);
    put_option(writer, PCAPNG_END_OF_OPTIONS, "", 0);
    put_u32(writer, size);
}

int capture_writer_open(struct capture_writer **out, const char *path, bool pcapng, const char *const *names,
                        unsigned n_names)
{
    struct capture_writer *writer = malloc(sizeof *writer);
    if (writer == NULL)
        return -ENOMEM;
    writer->rc = 0;
    writer->n = 0;
    writer->pcapng = pcapng;
    writer->fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (writer->fd < 0) {
        int rc = -errno;
        free(writer);
        return rc;
    }
    if (pcapng)
        put_section(writer);
    else
        put_pcap_header(writer);
    for (unsigned i = 0; pcapng && i < n_names; i++)
        put_interface(writer, names[i]);
    *out = writer;
    return 0;
}

void capture_writer_add(struct capture_writer *writer, uint64_t time_ns, unsigned interface, const uint8_t *header,
                        uint32_t header_len, const struct rte_mbuf *mbuf)
{
    uint32_t len = header_len + mbuf->pkt_len, size = PCAPNG_PACKET_SIZE + ((len + 3) & ~3u);
    if (writer->pcapng) {
        put_u32(writer, PCAPNG_ENHANCED_PACKET);
        put_u32(writer, size);
        put_u32(writer, interface);
        put_u32(writer, (uint32_t)(time_ns >> 32));
        put_u32(writer, (uint32_t)time_ns);
    } else {
        put_u32(writer, (uint32_t)(time_ns / 1000000000));
        put_u32(writer, (uint32_t)(time_ns % 1000000000));
    }
    put_u32(writer, len);
    put_u32(writer, len);
    put(writer, header, header_len);
    for (const struct rte_mbuf *seg = mbuf; seg != NULL; seg = seg->next)
        put(writer, rte_pktmbuf_mtod(seg, const void *), seg->data_len);
    if (writer->pcapng) {
        put_padding(writer, len);
        put_u32(writer, size);
    }
}

int capture_writer_close(struct capture_writer *writer)
{
    if (writer == NULL)
        return 0;
    flush(writer);
    int rc = writer->rc;
    if (close(writer->fd) != 0 && rc == 0)
        rc = -errno;
    free(writer);
    return rc;
}
