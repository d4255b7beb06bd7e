// SPDX-License-Identifier: Apache-2.0
#ifndef TEST_UNIT_PORTS_SOCK_SUPPORT_H
#define TEST_UNIT_PORTS_SOCK_SUPPORT_H

#include "ports/sock/sock.h"
#include "ports/thread_port.h"

/* The tests are both the control thread and the only worker of the I/O thread. */
extern struct rte_mempool *pool;
extern struct port port;
extern struct sock *sock;
extern struct sock_config config; /* to be changed before start() */
extern char path[96], err[200];

/* What the control thread heard. */
extern struct heard {
    uint32_t next, last, refuse; /* the next FaceId, the last given, how many are refused from now on */
    unsigned accepted, closed, connected, up, down;
    uint32_t closed_face;
    int rc;
    struct face_config config;
    char local_uri[FACE_URI_MAX], remote_uri[FACE_URI_MAX];
} heard;

extern const struct sock_listener listener;

/* Before and after each test. */
void sock_begin(void);
void sock_end(void);
void start(void);

uint64_t now_ms(void);
/* Run the control thread's part until the counter has this value. */
void hear(const unsigned *counter, unsigned value);
/* Connect to the Unix socket; dial_face() waits until there is a face. */
int dial(void);
int dial_face(void);
/* The next frame for the worker. */
struct rte_mbuf *receive(void);
/* The next frame is from this face and has these octets. */
void expect_frame(uint32_t face, const void *p, size_t len);
void send_frame(uint32_t face, const void *p, size_t len);
/* Write to a socket; read from it until there are @p len octets or it has been closed. */
void put(int fd, const void *p, size_t len);
size_t take(int fd, uint8_t *p, size_t len);
struct sock_counters counters(void);

#endif
