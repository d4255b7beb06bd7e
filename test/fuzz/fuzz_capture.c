// SPDX-License-Identifier: Apache-2.0
/*
 * Any octets as a capture: it is read to its end or to a fault that is told with where it is, all that is said of
 * frames holds, reading again gives the same, and what a replay asks of each frame before the forwarder has it is
 * answered.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "conf/conf.h"
#include "fwd/daemon/capture.h"
#include "fwd/daemon/replay_ways.h"
#include "ports/port.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition, const char *what)
{
    if (condition)
        return;
    fprintf(stderr, "fuzz_capture: %s\n", what);
    abort();
}

static struct conf_port conf_ports[2] = {{.name = "west"}, {.name = "east"}};
static struct conf_face faces[2] = {
    {.kind = CONF_UDP4, .port = 1, .remote_ip = {192, 0, 2, 7}},
    {.kind = CONF_UDP6, .port = 1, .remote_ip = {0x20, 1, 0x0d, 0xb8, [15] = 7}},
};
static const struct conf conf = {.port = conf_ports, .n_ports = 2, .face = faces, .n_faces = 2};
static struct port ports[2] = {
    {.index = 0, .mac = {2, 0, 0, 0, 0, 1}, .config.name = "west"},
    {.index = 1, .mac = {2, 0, 0, 0, 0, 2}, .config.name = "east"},
};

struct outcome {
    uint64_t sum; /* of everything that frames are */
    unsigned n_frames;
    int rc;
};

static void look_at(struct outcome *outcome, const struct capture *capture, const struct capture_frame *frame,
                    uint64_t *offset)
{
    require(frame->len <= CAPTURE_FRAME_MAX, "a frame is too long");
    require(frame->time_ns <= CAPTURE_TIME_MAX, "a time is too late");
    require(frame->offset >= *offset, "records go backwards");
    require(capture_interface_index(capture, frame->interface) < capture_n_interfaces(capture), "no such interface");
    require(memchr(frame->interface->name, '\0', sizeof frame->interface->name) != NULL, "the name has no end");
    *offset = frame->offset + 1;
    for (uint32_t i = 0; i < frame->len; i++)
        outcome->sum = (outcome->sum ^ frame->octets[i]) * UINT64_C(0x100000001b3);
    outcome->sum += frame->time_ns ^ frame->wire_len;
    outcome->n_frames++;
}

static struct outcome read_all(int fd, struct ways *ways, bool learn)
{
    struct outcome outcome = {0};
    struct capture *capture;
    struct capture_frame frame;
    char err[CAPTURE_ERR_MAX] = "";
    uint64_t offset = 0;
    outcome.rc = capture_open(&capture, fd, err);
    if (outcome.rc != 0) {
        require(strncmp(err, "offset ", 7) == 0, "a fault without its place");
        return outcome;
    }
    while ((outcome.rc = capture_next(capture, &frame, err)) == 1) {
        look_at(&outcome, capture, &frame, &offset);
        if (learn) {
            ways_learn(ways, capture, &frame);
            continue;
        }
        int port = ways_ingress(ways, capture, &frame);
        require(port == WAYS_NONE || port == WAYS_OWN || port == 0 || port == 1, "no such port");
        require(port < 0 || frame.len >= 14, "a port for what has no header");
    }
    require(outcome.rc == 0 || strncmp(err, "offset ", 7) == 0, "a fault without its place");
    capture_close(capture);
    return outcome;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static int fd = -1;
    struct ways *ways;
    uint8_t mac[6];
    if (fd < 0)
        fd = memfd_create("capture", MFD_CLOEXEC);
    require(fd >= 0 && ftruncate(fd, 0) == 0 && pwrite(fd, data, size, 0) == (ssize_t)size, "no file");
    require(ways_create(&ways, &conf, ports, 2) == 0, "no memory");
    struct outcome first = read_all(fd, ways, true), second = read_all(fd, ways, false);
    require(first.rc == second.rc && first.n_frames == second.n_frames && first.sum == second.sum,
            "it is another capture the second time");
    for (unsigned i = 0; i < 2; i++)
        if (ways_neighbour(ways, 1, faces[i].remote_ip, faces[i].kind == CONF_UDP6, mac))
            require((mac[0] & 1) == 0, "a neighbour has a group address");
    ways_destroy(ways);
    return 0;
}
