// SPDX-License-Identifier: Apache-2.0
/* Capture files, made by hand and by the writer, read back. What is broken in them is in test/net/replay.py, too. */
#include <criterion/criterion.h>
#include <rte_mbuf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fwd/daemon/capture.h"
#include "fwd/daemon/capture_format.h"
#include "fwd/daemon/capture_write.h"

struct file {
    uint8_t *octets;
    size_t len, room;
};

static void put(struct file *file, const void *octets, size_t len)
{
    if (file->len + len > file->room) {
        file->room = 2 * (file->len + len);
        file->octets = realloc(file->octets, file->room);
    }
    memcpy(file->octets + file->len, octets, len);
    file->len += len;
}

static void put_u32(struct file *file, uint32_t number)
{
    put(file, &number, sizeof number);
}

static void put_u16(struct file *file, uint16_t number)
{
    put(file, &number, sizeof number);
}

static void put_block(struct file *file, uint32_t type, const struct file *body)
{
    uint32_t padding = (4 - body->len % 4) % 4, len = PCAPNG_BLOCK_MIN + (uint32_t)body->len + padding;
    put_u32(file, type);
    put_u32(file, len);
    put(file, body->octets, body->len);
    put(file, "\0\0\0", padding);
    put_u32(file, len);
}

static void put_section(struct file *file)
{
    put(file, "\x0a\x0d\x0d\x0a\x1c\0\0\0\x4d\x3c\x2b\x1a\1\0\0\0\xff\xff\xff\xff\xff\xff\xff\xff\x1c\0\0\0", 28);
}

static void put_option(struct file *file, uint16_t code, const void *value, uint16_t len)
{
    put_u16(file, code);
    put_u16(file, len);
    put(file, value, len);
    put(file, "\0\0\0", (4 - len % 4u) % 4);
}

static void put_interface(struct file *file, const char *name, uint8_t resolution, int64_t offset_s)
{
    struct file body = {0};
    put_u16(&body, 1);
    put_u16(&body, 0);
    put_u32(&body, 0);
    put_option(&body, PCAPNG_IF_NAME, name, (uint16_t)strlen(name));
    put_option(&body, PCAPNG_IF_TSRESOL, &resolution, 1);
    put_option(&body, PCAPNG_IF_TSOFFSET, &offset_s, 8);
    put_block(file, PCAPNG_INTERFACE, &body);
    free(body.octets);
}

static void put_packet(struct file *file, uint32_t interface, uint64_t time, const void *octets, uint32_t len)
{
    struct file body = {0};
    put_u32(&body, interface);
    put_u32(&body, (uint32_t)(time >> 32));
    put_u32(&body, (uint32_t)time);
    put_u32(&body, len);
    put_u32(&body, len);
    put(&body, octets, len);
    put_block(file, PCAPNG_ENHANCED_PACKET, &body);
    free(body.octets);
}

static int descriptor(struct file *file)
{
    int fd = memfd_create("capture", MFD_CLOEXEC);
    cr_assert_geq(fd, 0);
    cr_assert_eq(write(fd, file->octets, file->len), (ssize_t)file->len);
    free(file->octets);
    *file = (struct file){0};
    return fd;
}

static struct capture *open_file(struct file *file, int *fd)
{
    struct capture *capture = NULL;
    char err[CAPTURE_ERR_MAX] = "";
    *fd = descriptor(file);
    cr_assert_eq(capture_open(&capture, *fd, err), 0, "%s", err);
    return capture;
}

static struct capture_frame next(struct capture *capture)
{
    struct capture_frame frame = {0};
    char err[CAPTURE_ERR_MAX] = "";
    cr_assert_eq(capture_next(capture, &frame, err), 1, "%s", err);
    return frame;
}

static void end(struct capture *capture, int fd)
{
    struct capture_frame frame;
    char err[CAPTURE_ERR_MAX] = "";
    cr_expect_eq(capture_next(capture, &frame, err), 0, "%s", err);
    cr_expect_eq(capture_next(capture, &frame, err), 0, "the end stays the end: %s", err);
    capture_close(capture);
    close(fd);
}

static void end_bad(struct capture *capture, int fd, const char *text)
{
    struct capture_frame frame;
    char err[CAPTURE_ERR_MAX] = "";
    cr_expect_lt(capture_next(capture, &frame, err), 0);
    cr_expect_not_null(strstr(err, text), "%s", err);
    capture_close(capture);
    close(fd);
}

Test(capture, time_is_nanoseconds_whatever_the_unit)
{
    static const struct {
        uint8_t resolution;
        int64_t offset_s;
        uint64_t time, want;
    } cases[] = {
        {9, 0, 1700000000123456789, 1700000000123456789},
        {6, 0, 1700000000123456, 1700000000123456000},
        {0, 0, 1700000000, 1700000000000000000},
        {12, 0, 1700000000123456789, 1700000000123456},
        {127, 0, UINT64_MAX, 0},
        {0x80 | 1, 0, 3, 1500000000},
        {0x80 | 30, 0, 5u << 28, 1250000000},
        {0x80 | 127, 0, UINT64_MAX, 0},
        {9, 10, 5, 10000000005},
        {9, -1, 1700000000, 700000000},
        {9, -2, 1700000000, 0},
        {0, 0, UINT64_MAX, CAPTURE_TIME_MAX},
        {9, 0, UINT64_MAX, CAPTURE_TIME_MAX},
        {6, INT64_MAX, UINT64_MAX, CAPTURE_TIME_MAX},
        {0, INT64_MIN, UINT64_MAX, CAPTURE_TIME_MAX},
        {9, INT64_MIN, 1700000000, 0},
    };
    for (size_t i = 0; i < RTE_DIM(cases); i++) {
        struct file file = {0};
        int fd;
        put_section(&file);
        put_interface(&file, "", cases[i].resolution, cases[i].offset_s);
        put_packet(&file, 0, cases[i].time, "abc", 3);
        struct capture *capture = open_file(&file, &fd);
        struct capture_frame frame = next(capture);
        cr_expect_eq(frame.time_ns, cases[i].want, "case %zu: %lu", i, frame.time_ns);
        cr_expect(frame.len == 3 && memcmp(frame.octets, "abc", 3) == 0);
        end(capture, fd);
    }
}

Test(capture, frames_lie_across_the_buffer_and_are_whole)
{
    // 13 octets more than a quarter of the buffer, so that each is at another place of it.
    const uint32_t len = CAPTURE_FRAME_MAX - 4096 - 13, n = 40;
    uint8_t *octets = malloc(len);
    struct file file = {0};
    int fd;
    put_section(&file);
    put_interface(&file, "lan", 9, 0);
    for (uint32_t i = 0; i < n; i++) {
        memset(octets, (int)i, len);
        put_packet(&file, 0, i, octets, len - i);
    }
    struct capture *capture = open_file(&file, &fd);
    for (uint32_t i = 0; i < n; i++) {
        struct capture_frame frame = next(capture);
        memset(octets, (int)i, len);
        cr_assert_eq(frame.len, len - i);
        cr_assert_eq(memcmp(frame.octets, octets, len - i), 0);
    }
    end(capture, fd);
    free(octets);
}

Test(capture, each_section_has_its_interfaces)
{
    struct file file = {0};
    int fd;
    char name[100];
    memset(name, 'x', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    put_section(&file);
    put_interface(&file, "lan", 9, 0);
    put_interface(&file, name, 9, 0);
    put_packet(&file, 1, 1, "a", 1);
    put_section(&file);
    put_interface(&file, "wan", 9, 0);
    put_packet(&file, 0, 2, "b", 1);
    put_packet(&file, 1, 3, "c", 1);
    struct capture *capture = open_file(&file, &fd);
    struct capture_frame frame = next(capture);
    cr_expect_eq(strlen(frame.interface->name), CAPTURE_NAME_MAX - 1, "cut");
    cr_expect_eq(capture_interface_index(capture, frame.interface), 1);
    cr_expect_eq(capture_n_interfaces(capture), 2);
    cr_expect_eq(frame.interface->user, -1);
    frame.interface->user = 7;
    frame = next(capture);
    cr_expect_str_eq(frame.interface->name, "wan");
    cr_expect_eq(frame.interface->user, -1, "forgotten");
    cr_expect_eq(capture_n_interfaces(capture), 1);
    end_bad(capture, fd, "interface 1, of which nothing was told");
}

Test(capture, old_and_simple_packets_are_read)
{
    struct file file = {0}, body = {0};
    int fd;
    put_section(&file);
    put_interface(&file, "", 9, 0);
    put_u16(&body, 0);
    put_u16(&body, 17); // drops
    put_u32(&body, 1);
    put_u32(&body, 2);
    put_u32(&body, 2);
    put_u32(&body, 1000);
    put(&body, "ab", 2);
    put_block(&file, PCAPNG_OLD_PACKET, &body);
    body.len = 0;
    put_u32(&body, 3);
    put(&body, "cde", 3);
    put_block(&file, PCAPNG_SIMPLE_PACKET, &body);
    body.len = 0;
    put_u32(&body, 1000); // of which a snapshot of four
    put(&body, "fghi", 4);
    put_block(&file, PCAPNG_SIMPLE_PACKET, &body);
    free(body.octets);
    struct capture *capture = open_file(&file, &fd);
    struct capture_frame frame = next(capture);
    cr_expect_eq(frame.time_ns, (UINT64_C(1) << 32) + 2);
    cr_expect(frame.len == 2 && frame.wire_len == 1000 && memcmp(frame.octets, "ab", 2) == 0);
    frame = next(capture);
    cr_expect_eq(frame.time_ns, (UINT64_C(1) << 32) + 2, "that of the frame before");
    cr_expect(frame.len == 3 && frame.wire_len == 3 && memcmp(frame.octets, "cde", 3) == 0);
    frame = next(capture);
    cr_expect(frame.len == 4 && frame.wire_len == 1000);
    end(capture, fd);
}

Test(capture, interfaces_are_bounded)
{
    struct file file = {0};
    int fd;
    put_section(&file);
    for (unsigned i = 0; i <= CAPTURE_INTERFACES_MAX; i++)
        put_interface(&file, "", 9, 0);
    struct capture *capture = open_file(&file, &fd);
    end_bad(capture, fd, "more than 4096 interfaces");
}

Test(capture, file_that_shrinks_is_told_of)
{
    struct file file = {0};
    int fd;
    uint8_t octets[2000] = {0};
    put_section(&file);
    put_interface(&file, "", 9, 0);
    for (unsigned i = 0; i < 2000; i++)
        put_packet(&file, 0, i, octets, sizeof octets);
    struct capture *capture = open_file(&file, &fd);
    (void)next(capture);
    cr_assert_eq(ftruncate(fd, 100), 0);
    struct capture_frame frame;
    char err[CAPTURE_ERR_MAX];
    int rc;
    while ((rc = capture_next(capture, &frame, err)) == 1)
        ;
    cr_expect_lt(rc, 0);
    cr_expect_not_null(strstr(err, "became shorter"), "%s", err);
    capture_close(capture);
    close(fd);
}

/* An mbuf of two segments that nobody allocated. */
static struct rte_mbuf *chain(struct rte_mbuf mbuf[2], uint8_t *octets, uint16_t first, uint16_t second)
{
    memset(mbuf, 0, 2 * sizeof *mbuf);
    mbuf[0].buf_addr = octets;
    mbuf[0].data_len = first;
    mbuf[0].pkt_len = first + second;
    mbuf[0].next = second > 0 ? &mbuf[1] : NULL;
    mbuf[1].buf_addr = octets;
    mbuf[1].data_off = first;
    mbuf[1].data_len = second;
    return mbuf;
}

Test(capture, what_is_written_is_read_back)
{
    uint8_t octets[3000];
    struct rte_mbuf mbuf[2];
    for (unsigned i = 0; i < sizeof octets; i++)
        octets[i] = (uint8_t)(i * 7);
    for (unsigned ng = 0; ng < 2; ng++) {
        char path[] = "/tmp/pitlane-capture-XXXXXX";
        int fd = mkstemp(path);
        cr_assert_geq(fd, 0);
        struct capture_writer *writer = NULL;
        cr_assert_eq(capture_writer_open(&writer, path, ng, (const char *const[]){"west", "east"}, 2), 0);
        for (uint16_t i = 1; i < 1000; i++)
            capture_writer_add(writer, UINT64_C(1700000000000000000) + i, i % 2, octets, i % 15,
                               chain(mbuf, octets, i, i % 3 != 0 ? i : 0));
        cr_assert_eq(capture_writer_close(writer), 0);
        struct capture *capture;
        char err[CAPTURE_ERR_MAX] = "";
        cr_assert_eq(capture_open(&capture, fd, err), 0, "%s", err);
        for (uint16_t i = 1; i < 1000; i++) {
            struct capture_frame frame = next(capture);
            uint32_t len = i % 15 + i + (i % 3 != 0 ? i : 0);
            cr_assert_eq(frame.time_ns, UINT64_C(1700000000000000000) + i);
            cr_assert(frame.len == len && frame.wire_len == len);
            cr_assert_eq(memcmp(frame.octets, octets, i % 15), 0);
            cr_assert_eq(memcmp(frame.octets + i % 15, octets, len - i % 15), 0);
            cr_assert_str_eq(frame.interface->name, !ng ? "" : i % 2 ? "east" : "west");
        }
        end(capture, fd);
        unlink(path);
    }
}

Test(capture, writing_fails_aloud)
{
    struct capture_writer *writer = NULL;
    struct rte_mbuf mbuf[2];
    uint8_t octets[1] = {0};
    cr_expect_eq(capture_writer_open(&writer, "/nowhere/at/all", false, NULL, 0), -ENOENT);
    cr_expect_null(writer);
    cr_assert_eq(capture_writer_open(&writer, "/dev/full", false, NULL, 0), 0);
    capture_writer_add(writer, 0, 0, NULL, 0, chain(mbuf, octets, 1, 0));
    cr_expect_eq(capture_writer_close(writer), -ENOSPC);
    cr_expect_eq(capture_writer_close(NULL), 0);
}
