// SPDX-License-Identifier: Apache-2.0
#ifndef TEST_UNIT_FWD_FACE_STAGE_H
#define TEST_UNIT_FWD_FACE_STAGE_H

#include <criterion/criterion.h>
#include <string.h>

#include "fwd/mgmt/face_control.h"
#include "fwd/worker.h"
#include "ports/match.h"
#include "ports/sock/sock.h"
#include "test/bed/bed.h"

/*
 * The stage of the tests of face control: a bed with two workers and two Ethernet ports, and an I/O thread that is
 * only pretended: what it is asked is noted, what it would tell the tests say.
 */
#define STAGE_WORKERS 2

__attribute__((unused)) static struct bed *bed;
__attribute__((unused)) static struct face_control *control;
static struct worker stage_worker[STAGE_WORKERS];

/* Answers of face_control_make(). */
__attribute__((unused)) static struct {
    unsigned calls, code, first_code;
    char text[128];
    uint32_t id;
} made;

/* What listeners heard. */
static unsigned stage_told[5];

/* The pretended I/O thread. */
static struct sock *const stage_sock = (struct sock *)&stage_worker;
__attribute__((unused)) static struct {
    struct sock_remote remote;
    uint64_t ticket;
} connects[16];
__attribute__((unused)) static unsigned n_connects, n_closed, n_changed;
__attribute__((unused)) static uint8_t changed_flags;
__attribute__((unused)) static int connect_rc;

int sock_connect(struct sock *sock, const struct sock_remote *remote, uint64_t ticket)
{
    cr_assert(sock == stage_sock && n_connects < RTE_DIM(connects));
    if (connect_rc == 0) {
        connects[n_connects].remote = *remote;
        connects[n_connects++].ticket = ticket;
    }
    return connect_rc;
}

uint32_t sock_find(const struct sock *sock, bool stream, const struct sockaddr_storage *address)
{
    (void)sock, (void)stream, (void)address;
    return 0;
}

void sock_close(struct sock *sock, uint32_t face)
{
    (void)sock, (void)face;
    n_closed++;
}

void sock_changed(struct sock *sock, const struct face *face)
{
    (void)sock;
    n_changed++;
    changed_flags = face->flags;
}

unsigned sock_channels(const struct sock *sock, const char *const **uris)
{
    static const char *const channels[] = {"unix:///run/nfd/nfd.sock", "tcp4://0.0.0.0:6363"};
    (void)sock;
    *uris = channels;
    return RTE_DIM(channels);
}

int64_t sock_expires_ms(const struct sock *sock, uint32_t face)
{
    (void)sock, (void)face;
    return -1;
}

static inline void stage_hear(void *ctx, enum mgmt_face_event event, const struct face *face)
{
    (void)ctx;
    cr_assert_eq(face_get(bed->shared.faces, face->id), face, "the face is there during the call");
    stage_told[event]++;
}

static inline unsigned told(enum mgmt_face_event event)
{
    return stage_told[event];
}

/** UDP faces that peers may make by themselves on each port; before stage_begin(). */
static uint32_t stage_on_demand;

static inline void stage_begin(void)
{
    bed = bed_create(&(struct bed_config){.n_workers = STAGE_WORKERS, .cs_capacity = 16, .pages = ARENA_PAGES_SMALL});
    for (unsigned p = 0; p < 2; p++) {
        struct port *port = bed_port(bed);
        port->config.device = p == 0 ? "port0,x=1" : "port1";
        port->config.udp_ports[0] = 6363;
        port->config.udp_on_demand = stage_on_demand;
        port->config.udp_idle_ms = 600000;
        port_match_destroy(port);
        cr_assert_eq(port_match_init(port, NULL), 0);
    }
    const struct face_config internal = {.kind = FACE_THREAD,
                                         .scope = FACE_SCOPE_LOCAL,
                                         .persistency = FACE_PERMANENT,
                                         .flags = FACE_LOCAL_FIELDS,
                                         .local_uri = "internal://",
                                         .remote_uri = "internal://"};
    cr_assert_eq(face_add_reserved(bed->shared.faces, &internal, FACE_ID_INTERNAL), 0);
    for (uint16_t w = 0; w < STAGE_WORKERS; w++)
        stage_worker[w].fwd = bed->fwd[w];
    const struct face_control_config config = {
        .shared = &bed->shared,
        .worker = stage_worker,
        .n_workers = STAGE_WORKERS,
        .port = bed->port,
        .n_ports = bed->n_ports,
        .sock = stage_sock,
        .congestion_marking = true,
    };
    cr_assert_eq(face_control_create(&control, &config), 0);
    cr_assert_eq(face_control_listen(control, stage_hear, NULL), 0);
    face_control_poll(control, bed->now_ns);
}

static inline void stage_end(void)
{
    face_control_destroy(control);
    bed_drop_sent(bed);
    bed_destroy(bed);
}

static inline void on_made(void *ctx, unsigned code, const char *text, const struct face *face)
{
    (void)ctx;
    if (made.calls++ == 0)
        made.first_code = code;
    made.code = code;
    snprintf(made.text, sizeof made.text, "%s", text);
    made.id = face != NULL ? face->id : 0;
}

static inline struct face_request request_of(const char *uri, const char *local)
{
    struct face_request request = {.uri = {(const uint8_t *)uri, (uint16_t)strlen(uri)}};
    if (local != NULL)
        request.local_uri = (struct mgmt_octets){(const uint8_t *)local, (uint16_t)strlen(local)};
    return request;
}

static inline void make_request(const struct face_request *request)
{
    memset(&made, 0, sizeof made);
    face_control_make(control, request, on_made, NULL);
}

static inline void make(const char *uri, const char *local)
{
    struct face_request request = request_of(uri, local);
    make_request(&request);
}

static inline void made_is(unsigned code, const char *text)
{
    cr_assert_eq(made.calls, 1, "%u answers", made.calls);
    cr_assert(made.code == code && strcmp(made.text, text) == 0, "%u %s", made.code, made.text);
}

static inline void status_of(uint32_t id, struct mgmt_face_status *status)
{
    const struct face *face = face_get(bed->shared.faces, id);
    cr_assert_not_null(face);
    face_control_status(control, face, status);
}

static inline void poll_at(uint64_t ms)
{
    face_control_poll(control, bed->now_ns + ms * 1000000);
}

static inline struct face_config thread_config(const char *local, const char *remote)
{
    return (struct face_config){.kind = FACE_THREAD, .local_uri = local, .remote_uri = remote};
}

/** The I/O thread tells the outcome of connection @p i. */
static inline uint32_t connected(unsigned i, int rc, const char *local, const char *remote)
{
    struct face_config config = thread_config(local, remote);
    return face_control_connected(control, connects[i].ticket, rc, rc == 0 ? &config : NULL);
}

/** A peer came by itself. */
static inline uint32_t accepted(const char *local, const char *remote)
{
    struct face_config config = thread_config(local, remote);
    uint32_t id;
    config.persistency = FACE_ON_DEMAND;
    cr_assert_eq(face_add(bed->shared.faces, &config, UINT16_MAX, &id), 0);
    face_control_announce(control, id);
    return id;
}

/* A face of each kind. */
enum stage_face { S_UDP, S_ETHER, S_GROUP, S_UNIX, S_TCP, S_NULL, STAGE_FACES };
__attribute__((unused)) static uint32_t stage_face[STAGE_FACES];

static inline void stage_faces(void)
{
    stage_face[S_UDP] = bed_udp4(bed, &bed->port[0], 7);
    stage_face[S_ETHER] = bed_ether(bed, &bed->port[0], 2);
    stage_face[S_GROUP] = bed_ether_multicast(bed, &bed->port[0]);
    struct face_config unix_face = thread_config("unix:///run/nfd/nfd.sock", "fd://20");
    unix_face.scope = FACE_SCOPE_LOCAL;
    unix_face.persistency = FACE_ON_DEMAND;
    cr_assert_eq(face_add(bed->shared.faces, &unix_face, UINT16_MAX, &stage_face[S_UNIX]), 0);
    stage_face[S_TCP] = accepted("tcp4://192.0.2.1:6363", "tcp4://192.0.2.9:1");
    stage_face[S_NULL] = FACE_ID_NULL;
    for (unsigned i = 0; i < STAGE_FACES; i++)
        face_control_announce(control, stage_face[i]);
}

#endif
