// SPDX-License-Identifier: Apache-2.0
#ifndef PORTS_SOCK_PRIVATE_H
#define PORTS_SOCK_PRIVATE_H

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>

#include <uv.h>

#include <rte_mbuf.h>

#include "ports/sock/inet.h"
#include "ports/sock/mark.h"
#include "ports/sock/queue.h"
#include "ports/sock/sock.h"
#include "ports/sock/stream.h"

/* What the files of ports/sock/ share. "Control" is the control thread, "I/O" the thread that runs the loop. */

/* Octets asked for in one read(2). */
#define SOCK_READ 65536
/* Frames taken from the workers at once. */
#define SOCK_BATCH 512
#define SOCK_NONE  UINT32_MAX
/* Connections that wait to be accepted. */
#define SOCK_BACKLOG      4096
#define SOCK_CHANNELS_MAX 8

struct lws;
struct lws_context;
struct lws_vhost;

enum sock_kind { SOCK_UNIX, SOCK_TCP, SOCK_UDP, SOCK_UDP_GROUP, SOCK_WEBSOCKET };

enum sock_state {
    SOCK_PENDING,    /**< I/O waits for the control thread to give it a face */
    SOCK_CONNECTING, /**< I/O waits for the kernel */
    SOCK_UP,
    SOCK_DOWN, /**< permanent, without a peer; tries again at retry_ms */
    SOCK_GONE, /**< the control thread has been told, and frees it */
};

/** What I/O tells the control thread. */
enum sock_event_kind { SOCK_ACCEPTED, SOCK_CONNECTED, SOCK_CLOSED, SOCK_UPDOWN };

struct sock_event {
    struct sock_event *next;
    enum sock_event_kind kind;
    struct sock_conn *conn;
    int rc;
    uint32_t face; /**< UPDOWN */
    bool up;
    bool heap; /**< it was allocated for itself */
};

/** What the control thread tells I/O. */
enum sock_order_kind { SOCK_ORDER_FACE, SOCK_ORDER_CONNECT, SOCK_ORDER_CLOSE, SOCK_ORDER_CHANGE, SOCK_ORDER_STOP };

struct sock_order {
    struct sock_order *next;
    enum sock_order_kind kind;
    struct sock_conn *conn; /**< FACE, CONNECT */
    uint32_t face;          /**< FACE: 0 is no; CLOSE, CHANGE */
    uint8_t persistency, flags;
    uint16_t mtu;
    uint64_t congestion_interval_ns, congestion_threshold;
};

/** A socket with one peer, or a multicast group. I/O's, except what is said to be otherwise. */
struct sock_conn {
    struct sock *sock;
    enum sock_kind kind;   /**< never changes */
    enum sock_state state; /**< I/O */
    int fd;                /**< -1: none, or, of a UDP face, the family's */
    int send_fd;           /**< what is written to: fd, but for a group */
    uv_poll_t *poll;
    uint32_t face; /**< 0: none yet */
    uint8_t scope, link_type, flags;
    bool counted; /**< in n_accepted */
    bool failed;  /**< the kernel reported an error: what it still gives is read, then it is closed */
    bool blocked; /**< its worker took no more: not read from */
    bool asked;   /**< the control thread has been asked for a face, and did not answer yet */
    uint16_t mtu; /**< 0: no limit */
    uint64_t congestion_interval_ns, congestion_threshold;
    struct mark mark;
    uint64_t level_ms; /**< when the send queue was looked at last */
    bool congested;    /**< what was found then */

    struct sock_queue in;  /**< the beginning of an element, or what the worker did not take */
    struct sock_queue out; /**< what the kernel did not take */
    uint64_t in_since_ms;  /**< since when no element has been completed */
    uint64_t out_since_ms; /**< since when the peer reads nothing */
    int queued;            /**< octets that the kernel held when it was last looked at */

    /* Frames of the batch under way. */
    uint32_t first, last;
    struct sock_conn *next_touched;

    struct sock_conn *next, **link; /**< all of them */
    struct sock_conn *next_blocked;
    struct sock_conn *next_remote; /**< UDP faces with the same hash of their remote address */
    struct sock_udp *udp;          /**< the socket of a UDP face */
    unsigned ifindex;              /**< of a group */
    bool present;                  /**< group_follow(): its interface is still there */
    bool pinned;                   /**< local is what is sent from: the peer knows us by it */

    unsigned retries;
    uint64_t retry_ms;
    uint64_t deadline_ms; /**< of a connection attempt */
    struct lws *ws;       /**< WebSocket: the descriptor is its */

    /* Written before the control thread hears of it. */
    struct sockaddr_storage remote, local;
    char local_uri[FACE_URI_MAX], remote_uri[FACE_URI_MAX];
    uint64_t ticket;
    struct sock_event closed_event, first_event;

    _Atomic uint8_t persistency;    /**< either thread reads it */
    _Atomic uint64_t last_rx_ms;    /**< I/O writes it */
    struct sock_conn *control_next; /**< control: faces with the same hash of their remote address */
    uint32_t control_face;          /**< control: 0 when the face is gone from the table */
};

struct sock_atomic_counters {
    _Atomic uint64_t accepted, refused, closed, malformed, datagrams, stalled, queue_full, no_mbuf, ring_full, no_face,
        marked;
};

/** The UDP socket of an address family, which all unicast faces share. */
struct sock_udp {
    struct sock *sock;
    int family;
    int fd; /**< -1: this host does not know the family */
    bool listening;
    uv_poll_t poll;
    char uri[FACE_URI_MAX];
};

/* Datagrams read or written by one system call. */
#define SOCK_DATAGRAMS 32

/** A listening socket. */
struct sock_server {
    struct sock *sock;
    enum sock_kind kind;
    int fd;
    uv_poll_t poll;
    bool paused; /**< no descriptors are left: it is looked at again later */
    char uri[FACE_URI_MAX];
};

#define SOCK_SERVERS_MAX 8
#define SOCK_HASH        4096

struct sock {
    struct sock_config config;
    struct sock_listener listener;
    uid_t *unix_uids;
    unsigned n_unix_uids;
    bool unix_bound;
    unsigned unix_folders; /**< made for the socket, the last ones of its path */
    const char *channels[SOCK_CHANNELS_MAX];
    unsigned n_channels;
    pthread_t thread;
    bool looped, running;

    uv_loop_t loop;
    uv_async_t async;
    uv_poll_t wake;
    uv_prepare_t prepare;
    uv_check_t check;
    uv_idle_t idle;
    uv_timer_t timer;
    struct sock_server server[SOCK_SERVERS_MAX];
    unsigned n_servers;
    struct sock_udp udp[2]; /**< IPv4, IPv6 */

    pthread_mutex_t lock; /**< of the two lists */
    struct sock_event *events, **events_end;
    struct sock_order *orders, **orders_end;
    int event_fd;
    _Atomic bool ordered; /**< there are orders */

    /* I/O. */
    struct thread_port *frames;
    struct sock_conn *conns;
    struct sock_conn *blocked;
    struct sock_conn *by_face[FACE_SLOTS];
    struct sock_conn *by_remote[SOCK_HASH];
    unsigned n_accepted[SOCK_WEBSOCKET + 1]; /**< on-demand ones of each kind */
    bool idling, stopping, stopped;
    uint64_t logged_ms;
    uint64_t followed_ms; /**< when interfaces were looked at last */
    struct rte_mbuf *batch[SOCK_BATCH];
    uint32_t batch_next[SOCK_BATCH];
    uint8_t octets[STREAM_ELEMENT_MAX + SOCK_READ];
    uint8_t datagram[SOCK_DATAGRAMS][STREAM_ELEMENT_MAX + 1]; /**< one octet more: a longer one is noticed */
    uint8_t flat[STREAM_ELEMENT_MAX];
    uint8_t marked[STREAM_ELEMENT_MAX + MARK_SIZE_MAX];
    struct sock_atomic_counters counters;
    struct lws_context *ws;
    struct lws_vhost *ws_host;
    unsigned n_ws; /**< WebSocket connections, those in the handshake counted in */

    /* Control. */
    struct sock_conn *control_by_face[FACE_SLOTS];
    struct sock_conn *control_by_remote[SOCK_HASH];
};

static inline void sock_count(_Atomic uint64_t *counter)
{
    atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + 1, memory_order_relaxed);
}

static inline bool sock_is_stream(const struct sock_conn *conn)
{
    return conn->kind == SOCK_UNIX || conn->kind == SOCK_TCP;
}

static inline struct sock_conn *sock_of_face(const struct sock *sock, uint32_t face)
{
    struct sock_conn *conn = sock->by_face[face % FACE_SLOTS];
    return conn != NULL && conn->face == face ? conn : NULL;
}

/* events.c: between the two threads. */
void sock_post_event(struct sock *sock, struct sock_event *event);
void sock_post_order(struct sock *sock, struct sock_order *order);
struct sock_event *sock_take_events(struct sock *sock);
struct sock_order *sock_take_orders(struct sock *sock);

/* conn.c: connections, whatever they are made of. I/O, unless said otherwise. */

/** A connection without a descriptor, on-demand. Any thread. @return NULL: out of memory */
struct sock_conn *conn_new(struct sock *sock, enum sock_kind kind);
/** Any thread that owns it; its descriptor has been closed. */
void conn_free(struct sock_conn *conn);
/** It has its descriptor and its URIs: ask the control thread for a face. */
void conn_ask(struct sock_conn *conn, enum sock_event_kind kind);
/** The control thread's answer: a face, or 0. */
void conn_set_face(struct sock_conn *conn, uint32_t face);
/** Follow what is of interest now: it can be read, it can be written. @return 0, or a negative errno */
int conn_watch(struct sock_conn *conn);
/** Its peer is gone, or is to go: a permanent one tries again later, another one is closed and must not be touched. */
void conn_lost(struct sock_conn *conn);
/** Not wanted any more, permanent or not. Must not be touched after. */
void conn_close(struct sock_conn *conn);
/** Note that its worker took no more. */
void conn_block(struct sock_conn *conn);
/** An attempt to reach its peer has failed: as conn_lost() when it has a face, else the control thread hears of it. */
void conn_not_connected(struct sock_conn *conn, int rc);
/** It was accepted, and is one of faces_max. */
void conn_count(struct sock_conn *conn);
void conn_tell_updown(struct sock_conn *conn, bool up);
/** Put into the list of all. */
void conn_link(struct sock_conn *conn);
/** Shall the next packet be marked? */
bool conn_mark_due(struct sock_conn *conn);
/** Say why a peer is sent away, at most once a second. */
void conn_log(struct sock *sock, const char *peer, const char *why);

/* frames.c */

/** Make frames of the elements at @p p and give them to the face's worker. @return octets used; SIZE_MAX: malformed */
size_t frames_of_stream(struct sock_conn *conn, const uint8_t *p, size_t len);
/** Give one packet to the face's worker. @param sender of a group, else 0 */
void frames_of_packet(struct sock_conn *conn, const uint8_t *p, size_t len, uint32_t sender);
/** Copy a frame's octets. @return their number */
size_t frames_flatten(const struct rte_mbuf *mbuf, uint8_t *p);

/* stream_io.c. Those that return false have closed the connection. */
bool stream_readable(struct sock_conn *conn);
bool stream_writable(struct sock_conn *conn);
/** Try again to give the worker what it did not take. */
bool stream_unblock(struct sock_conn *conn);
/** Write frames of the batch, from @p first on. */
void stream_send(struct sock_conn *conn, uint32_t first);

/* websocket.c */

/** Make its part of the loop. Control, before the thread runs. @return 0, -ENOMEM */
int ws_init(struct sock *sock);
void ws_accepted(struct sock *sock, int fd);
/** It has a face. */
void ws_up(struct sock_conn *conn);
void ws_send(struct sock_conn *conn, uint32_t first);
/** Disconnect the peer; the connection hears no more of it. */
void ws_close(struct sock_conn *conn);
void ws_stop(struct sock *sock);

/* server.c: listening sockets. */

/** Add a listening, non-blocking socket. Control, before the thread runs. @return 0, or a negative errno */
int server_add(struct sock *sock, enum sock_kind kind, int fd, const char *uri);
/** Begin to accept. I/O. */
int server_start(struct sock_server *server);
/** Accept again, after descriptors ran out. I/O. */
void server_resume(struct sock_server *server);

/* unix.c. Control. */
int unix_listen(struct sock *sock, char err[200]);
void unix_unlink(struct sock *sock);
/** Somebody has connected. I/O. */
void unix_accepted(struct sock_server *server, int fd);

/* tcp.c */

/** Control. */
int tcp_listen(struct sock *sock, enum sock_kind kind, int family, uint16_t port, char err[200]);
void tcp_accepted(struct sock *sock, int fd, const struct sockaddr_storage *remote);
/** Begin to connect; conn_not_connected() may be called before it returns. */
void tcp_connect(struct sock_conn *conn);
/** The attempt has an outcome. */
void tcp_connecting(struct sock_conn *conn);

/* udp.c */

/** Control. */
int udp_open(struct sock *sock, int family, char err[200]);
int udp_start(struct sock_udp *udp);
/** Make a face to the remote. */
void udp_connect(struct sock_conn *conn);
void udp_send(struct sock_conn *conn, uint32_t first);
void udp_remove(struct sock_conn *conn);
/** It has a face: what its peer has sent meanwhile goes on. */
void udp_up(struct sock_conn *conn);
/** Send frames of the batch as datagrams. @param form address and control data of each, zeroed: connected */
void datagram_send(struct sock_conn *conn, uint32_t first, const struct msghdr *form);
/** Copy a frame of the batch with a mark to sock->marked. @return octets; 0: send it as it is */
size_t conn_marked(struct sock_conn *conn, const struct rte_mbuf *mbuf);
/** Is it one element and nothing else? Counts it when not. */
bool datagram_check(struct sock *sock, const uint8_t *p, size_t len);

/* group.c */

/**
 * Make the multicast faces of interfaces that are no ports and have none yet, close those of addresses that are gone.
 * What fails is tried again the next time. I/O, and control before the thread runs.
 */
void group_follow(struct sock *sock);
bool group_readable(struct sock_conn *conn);
void group_send(struct sock_conn *conn, uint32_t first);

/* io.c */

/** Make the loop. Control. @return 0, or a negative errno */
int io_init(struct sock *sock);
void *io_main(void *arg);
/** Undo io_init() when there never was a thread. Control. */
void io_discard(struct sock *sock);

static inline uint64_t sock_now_ms(const struct sock *sock)
{
    return uv_now(&sock->loop);
}

int sock_fail(char err[200], int rc, const char *format, ...) __attribute__((format(printf, 3, 4)));

#endif
