// SPDX-License-Identifier: Apache-2.0
#include "fwd/daemon/capture.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fwd/daemon/capture_format.h"

#define BUFFER (4u * CAPTURE_FRAME_MAX)

__extension__ typedef unsigned __int128 wide;

/* Time unit of an interface of pcapng. */
struct resolution {
    uint8_t value; /* if_tsresol */
    int64_t offset_s;
};

struct capture {
    int fd;
    bool ng, swapped;
    uint32_t unit_ns; /* of the fraction in pcap */
    uint64_t size;    /* of the file */
    uint64_t offset;  /* in the file, of buffer[start] */
    uint64_t last_ns;
    size_t start, end; /* octets in the buffer that were not used yet */
    unsigned n, room;
    struct capture_interface *interface;
    struct resolution *resolution; /* of each */
    char *err;
    uint8_t buffer[BUFFER];
};

static int fault(struct capture *c, const char *format, ...) __attribute__((format(printf, 2, 3)));
static int fault(struct capture *c, const char *format, ...)
{
    va_list args;
    int n = snprintf(c->err, CAPTURE_ERR_MAX, "offset %" PRIu64 ": ", c->offset);
    va_start(args, format);
    vsnprintf(c->err + n, CAPTURE_ERR_MAX - (size_t)n, format, args);
    va_end(args);
    return -EINVAL;
}

static uint64_t left(const struct capture *c)
{
    return c->size - c->offset;
}

static const uint8_t *at(const struct capture *c, size_t off)
{
    return c->buffer + c->start + off;
}

static uint16_t u16(const struct capture *c, size_t off)
{
    const uint8_t *p = at(c, off);
    return (uint16_t)(c->swapped ? p[0] << 8 | p[1] : p[1] << 8 | p[0]);
}

/* As numbers of a little-endian file; swapped of a big-endian one. */
static uint32_t u32(const struct capture *c, size_t off)
{
    const uint8_t *p = at(c, off);
    return c->swapped ? (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3]
                      : (uint32_t)p[3] << 24 | (uint32_t)p[2] << 16 | (uint32_t)p[1] << 8 | p[0];
}

/* Have @p len octets, which the file has and the buffer holds, in a row. @return 0, negative errno */
static int fill(struct capture *c, size_t len)
{
    if (c->end - c->start >= len)
        return 0;
    memmove(c->buffer, c->buffer + c->start, c->end - c->start);
    c->end -= c->start;
    c->start = 0;
    while (c->end < len) {
        ssize_t n = read(c->fd, c->buffer + c->end, sizeof c->buffer - c->end);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0) {
            int rc = -errno;
            fault(c, "cannot be read: %s", strerror(errno));
            return rc;
        }
        if (n == 0)
            return fault(c, "the file became shorter while it was read");
        c->end += (size_t)n;
    }
    return 0;
}

static void consume(struct capture *c, size_t len)
{
    c->start += len;
    c->offset += len;
}

/* Pass over octets that the file has. @return 0, negative errno */
static int skip(struct capture *c, uint64_t len)
{
    size_t held = c->end - c->start;
    if (len <= held) {
        consume(c, (size_t)len);
        return 0;
    }
    if (lseek(c->fd, (off_t)(len - held), SEEK_CUR) < 0) {
        int rc = -errno;
        fault(c, "cannot be read: %s", strerror(errno));
        return rc;
    }
    c->start = c->end = 0;
    c->offset += len;
    return 0;
}

static uint64_t earliest(wide time_ns)
{
    return time_ns > CAPTURE_TIME_MAX ? CAPTURE_TIME_MAX : (uint64_t)time_ns;
}

static int add_interface(struct capture *c, uint16_t link_type)
{
    if (c->n == CAPTURE_INTERFACES_MAX)
        return fault(c, "more than %u interfaces", CAPTURE_INTERFACES_MAX);
    if (c->n == c->room) {
        unsigned room = c->room != 0 ? 2 * c->room : 4;
        struct capture_interface *interface = realloc(c->interface, room * sizeof *interface);
        if (interface == NULL)
            return -ENOMEM;
        c->interface = interface;
        struct resolution *resolution = realloc(c->resolution, room * sizeof *resolution);
        if (resolution == NULL)
            return -ENOMEM;
        c->resolution = resolution;
        c->room = room;
    }
    c->interface[c->n] = (struct capture_interface){.link_type = link_type, .user = -1};
    c->resolution[c->n++] = (struct resolution){.value = 6};
    return 0;
}

static int check_link(struct capture *c, unsigned link_type)
{
    return link_type == CAPTURE_LINK_ETHERNET
               ? 0
               : fault(c, "link type %u: only Ethernet (%u) can be replayed", link_type, CAPTURE_LINK_ETHERNET);
}

static int check_len(struct capture *c, uint32_t len)
{
    return len <= CAPTURE_FRAME_MAX ? 0
                                    : fault(c, "a frame of %u octets; at most %u are taken", len, CAPTURE_FRAME_MAX);
}

/* ---- pcap ---- */

static int open_pcap(struct capture *c)
{
    if (left(c) < PCAP_HEADER_SIZE)
        return fault(c, "the file ends within its header");
    if (u16(c, 4) != PCAP_VERSION_MAJOR || u16(c, 6) != PCAP_VERSION_MINOR)
        return fault(c, "version %u.%u of pcap; %u.%u is known", u16(c, 4), u16(c, 6), PCAP_VERSION_MAJOR,
                     PCAP_VERSION_MINOR);
    // The upper half tells of frame check sequences, which are as good as padding.
    uint16_t link_type = (uint16_t)(u32(c, 20) & 0xffff);
    int rc = check_link(c, link_type);
    if (rc == 0)
        rc = add_interface(c, link_type);
    if (rc == 0)
        consume(c, PCAP_HEADER_SIZE);
    return rc;
}

static int next_pcap(struct capture *c, struct capture_frame *frame)
{
    if (left(c) == 0)
        return 0;
    if (left(c) < PCAP_RECORD_SIZE)
        return fault(c, "the file ends within the header of a record");
    int rc = fill(c, PCAP_RECORD_SIZE);
    if (rc != 0)
        return rc;
    uint32_t len = u32(c, 8);
    if ((rc = check_len(c, len)) != 0)
        return rc;
    if (len > left(c) - PCAP_RECORD_SIZE)
        return fault(c, "a frame of %u octets, of which the file has %" PRIu64, len, left(c) - PCAP_RECORD_SIZE);
    if ((rc = fill(c, PCAP_RECORD_SIZE + len)) != 0)
        return rc;
    *frame = (struct capture_frame){
        .time_ns = earliest((wide)u32(c, 0) * 1000000000 + (wide)u32(c, 4) * c->unit_ns),
        .len = len,
        .wire_len = u32(c, 12),
        .octets = at(c, PCAP_RECORD_SIZE),
        .interface = c->interface,
        .offset = c->offset,
    };
    consume(c, PCAP_RECORD_SIZE + len);
    return 1;
}

/* ---- pcapng ---- */

static uint64_t block_time(const struct resolution *resolution, uint64_t time)
{
    wide ns = 0;
    unsigned exponent = resolution->value & 0x7f;
    if (resolution->value & 0x80) {
        ns = (wide)time * 1000000000 >> exponent;
    } else {
        ns = time;
        for (; exponent < 9; exponent++)
            ns *= 10;
        for (; exponent > 9 && ns > 0; exponent--)
            ns /= 10;
    }
    wide offset_ns =
        (wide)(resolution->offset_s < 0 ? 0 - (uint64_t)resolution->offset_s : (uint64_t)resolution->offset_s) *
        1000000000;
    if (resolution->offset_s < 0)
        return earliest(ns > offset_ns ? ns - offset_ns : 0);
    return earliest(ns + offset_ns);
}

/* Byte order and version of a section, whose block is in the buffer. */
static int section(struct capture *c, uint32_t len)
{
    if (len < PCAPNG_SECTION_SIZE)
        return fault(c, "a section header of %u octets", len);
    if (u16(c, 12) != PCAPNG_VERSION_MAJOR)
        return fault(c, "version %u.%u of pcapng; %u.0 is known", u16(c, 12), u16(c, 14), PCAPNG_VERSION_MAJOR);
    c->n = 0;
    return 0;
}

static int interface_option(struct capture *c, uint16_t code, size_t off, uint16_t len)
{
    struct capture_interface *interface = &c->interface[c->n - 1];
    struct resolution *resolution = &c->resolution[c->n - 1];
    if (code == PCAPNG_IF_NAME) {
        size_t n = strnlen((const char *)at(c, off), len);
        n = n < sizeof interface->name ? n : sizeof interface->name - 1;
        memcpy(interface->name, at(c, off), n);
        interface->name[n] = '\0';
    } else if (code == PCAPNG_IF_TSRESOL) {
        if (len != 1)
            return fault(c, "if_tsresol of %u octets", len);
        resolution->value = *at(c, off);
    } else if (code == PCAPNG_IF_TSOFFSET) {
        if (len != 8)
            return fault(c, "if_tsoffset of %u octets", len);
        uint32_t low = u32(c, off + (c->swapped ? 4 : 0)), high = u32(c, off + (c->swapped ? 0 : 4));
        resolution->offset_s = (int64_t)((uint64_t)high << 32 | low);
    }
    return 0;
}

static int interface_block(struct capture *c, uint32_t len)
{
    if (len < PCAPNG_INTERFACE_SIZE)
        return fault(c, "an interface description of %u octets", len);
    int rc = add_interface(c, u16(c, 8));
    size_t off = 16, end = len - 4;
    while (rc == 0 && end - off >= 4) {
        uint16_t code = u16(c, off), size = u16(c, off + 2);
        if (code == PCAPNG_END_OF_OPTIONS)
            break;
        size_t padded = (size + 3u) & ~(size_t)3;
        if (padded > end - off - 4)
            return fault(c, "an option of %u octets, which do not fit its block", size);
        rc = interface_option(c, code, off + 4, size);
        off += 4 + padded;
    }
    return rc;
}

/* A packet block with @p header octets before the frame. @return 1, negative errno */
static int packet(struct capture *c, struct capture_frame *frame, uint32_t len, size_t header, uint32_t interface,
                  uint32_t captured)
{
    if (interface >= c->n)
        return fault(c, "a frame of interface %u, of which nothing was told", interface);
    int rc = check_link(c, c->interface[interface].link_type);
    if (rc == 0)
        rc = check_len(c, captured);
    if (rc != 0)
        return rc;
    if (captured > len - header - 4)
        return fault(c, "a frame of %u octets, which do not fit their block of %u", captured, len);
    frame->len = captured;
    frame->octets = at(c, header);
    frame->interface = &c->interface[interface];
    frame->offset = c->offset;
    return 1;
}

static int timed_packet(struct capture *c, struct capture_frame *frame, uint32_t len, uint32_t interface)
{
    if (len < PCAPNG_PACKET_SIZE)
        return fault(c, "a packet block of %u octets", len);
    int rc = packet(c, frame, len, 28, interface, u32(c, 20));
    if (rc == 1) {
        frame->time_ns = block_time(&c->resolution[interface], (uint64_t)u32(c, 12) << 32 | u32(c, 16));
        frame->wire_len = u32(c, 24);
    }
    return rc;
}

static int simple_packet(struct capture *c, struct capture_frame *frame, uint32_t len)
{
    if (len < PCAPNG_SIMPLE_SIZE)
        return fault(c, "a packet block of %u octets", len);
    uint32_t wire = u32(c, 8), room = len - PCAPNG_SIMPLE_SIZE;
    int rc = packet(c, frame, len, 12, 0, wire < room ? wire : room);
    frame->time_ns = c->last_ns;
    frame->wire_len = wire;
    return rc;
}

/* A block that is in the buffer. @return 1 with a frame, 0 without, negative errno */
static int block(struct capture *c, uint32_t type, uint32_t len, struct capture_frame *frame)
{
    switch (type) {
    case PCAPNG_SECTION:
        return section(c, len);
    case PCAPNG_INTERFACE:
        return interface_block(c, len);
    case PCAPNG_ENHANCED_PACKET:
        return timed_packet(c, frame, len, len >= PCAPNG_PACKET_SIZE ? u32(c, 8) : 0);
    case PCAPNG_OLD_PACKET:
        return timed_packet(c, frame, len, len >= PCAPNG_PACKET_SIZE ? u16(c, 8) : 0);
    case PCAPNG_SIMPLE_PACKET:
        return simple_packet(c, frame, len);
    default:
        return 0;
    }
}

/* Byte order of the section that begins here. */
static int byte_order(struct capture *c)
{
    static const uint8_t big[4] = {0x1a, 0x2b, 0x3c, 0x4d}, little[4] = {0x4d, 0x3c, 0x2b, 0x1a};
    const uint8_t *magic = at(c, 8);
    if (memcmp(magic, big, 4) != 0 && memcmp(magic, little, 4) != 0)
        return fault(c, "byte-order magic %02x%02x%02x%02x", magic[0], magic[1], magic[2], magic[3]);
    c->swapped = memcmp(magic, big, 4) == 0;
    return 0;
}

static int next_block(struct capture *c, struct capture_frame *frame)
{
    int rc = left(c) >= PCAPNG_BLOCK_MIN ? fill(c, PCAPNG_BLOCK_MIN) : fault(c, "the file ends within a block");
    if (rc != 0)
        return rc;
    uint32_t type = u32(c, 0);
    if (type == PCAPNG_SECTION && (rc = byte_order(c)) != 0)
        return rc;
    uint32_t len = u32(c, 4);
    if (len < PCAPNG_BLOCK_MIN || len % 4 != 0)
        return fault(c, "a block of %u octets", len);
    if (len > left(c))
        return fault(c, "a block of %u octets, of which the file has %" PRIu64, len, left(c));
    // Keys, names and comments may be long; what is understood is not.
    if (len > BUFFER)
        return type == PCAPNG_SECTION ||
                       (type <= PCAPNG_ENHANCED_PACKET && type != PCAPNG_NAMES && type != PCAPNG_STATISTICS)
                   ? fault(c, "a block of %u octets; at most %u are taken", len, BUFFER)
                   : skip(c, len);
    if ((rc = fill(c, len)) != 0)
        return rc;
    if (u32(c, len - 4) != len)
        return fault(c, "a block of %u octets, whose end says %u", len, u32(c, len - 4));
    rc = block(c, type, len, frame);
    if (rc >= 0)
        consume(c, len);
    return rc;
}

static int next_pcapng(struct capture *c, struct capture_frame *frame)
{
    int rc = 0;
    while (rc == 0 && left(c) > 0)
        rc = next_block(c, frame);
    return rc;
}

/* ---- both ---- */

static int begin(struct capture *c)
{
    static const struct {
        uint8_t octets[4];
        bool ng, swapped;
        uint32_t unit_ns;
    } magic[] = {
        {{0xd4, 0xc3, 0xb2, 0xa1}, false, false, 1000}, {{0xa1, 0xb2, 0xc3, 0xd4}, false, true, 1000},
        {{0x4d, 0x3c, 0xb2, 0xa1}, false, false, 1},    {{0xa1, 0xb2, 0x3c, 0x4d}, false, true, 1},
        {{0x0a, 0x0d, 0x0d, 0x0a}, true, false, 0},
    };
    if (c->size < sizeof magic[0].octets)
        return fault(c, "the file has %" PRIu64 " octets: it is no capture", c->size);
    int rc = fill(c, c->size < PCAP_HEADER_SIZE ? (size_t)c->size : PCAP_HEADER_SIZE);
    if (rc != 0)
        return rc;
    for (unsigned i = 0; i < sizeof magic / sizeof magic[0]; i++) {
        if (memcmp(at(c, 0), magic[i].octets, sizeof magic[i].octets) != 0)
            continue;
        c->ng = magic[i].ng;
        c->swapped = magic[i].swapped;
        c->unit_ns = magic[i].unit_ns;
        return c->ng ? 0 : open_pcap(c);
    }
    const uint8_t *p = at(c, 0);
    return fault(c, "magic %02x%02x%02x%02x: neither pcap nor pcapng", p[0], p[1], p[2], p[3]);
}

int capture_open(struct capture **out, int fd, char err[CAPTURE_ERR_MAX])
{
    struct stat stat;
    if (fstat(fd, &stat) != 0 || !S_ISREG(stat.st_mode)) {
        snprintf(err, CAPTURE_ERR_MAX, "is not a file");
        return -EINVAL;
    }
    struct capture *c = malloc(sizeof *c);
    if (c == NULL || lseek(fd, 0, SEEK_SET) != 0) {
        int rc = c == NULL ? -ENOMEM : -errno;
        snprintf(err, CAPTURE_ERR_MAX, "%s", strerror(-rc));
        free(c);
        return rc;
    }
    memset(c, 0, offsetof(struct capture, buffer));
    c->fd = fd;
    c->size = (uint64_t)stat.st_size;
    c->err = err;
    int rc = begin(c);
    if (rc != 0) {
        if (rc == -ENOMEM)
            snprintf(err, CAPTURE_ERR_MAX, "out of memory");
        capture_close(c);
        return rc;
    }
    *out = c;
    return 0;
}

void capture_close(struct capture *capture)
{
    if (capture == NULL)
        return;
    free(capture->interface);
    free(capture->resolution);
    free(capture);
}

int capture_next(struct capture *c, struct capture_frame *frame, char err[CAPTURE_ERR_MAX])
{
    c->err = err;
    int rc = c->ng ? next_pcapng(c, frame) : next_pcap(c, frame);
    if (rc == 1)
        c->last_ns = frame->time_ns;
    if (rc == -ENOMEM)
        snprintf(err, CAPTURE_ERR_MAX, "out of memory");
    return rc;
}

unsigned capture_n_interfaces(const struct capture *capture)
{
    return capture->n;
}

unsigned capture_interface_index(const struct capture *capture, const struct capture_interface *interface)
{
    return (unsigned)(interface - capture->interface);
}
