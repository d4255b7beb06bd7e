// SPDX-License-Identifier: Apache-2.0
/*
 * WebSocket (RFC 6455) as browsers and NFD speak it for NDN: binary messages without a subprotocol, one packet in each.
 * We accept; libwebsockets does the rest in our loop.
 */
#include "ports/sock/private.h"

#include <errno.h>
#include <libwebsockets.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <unistd.h>

#include <rte_log.h>

/* Messages written in one turn of a connection. */
#define WS_TURN 64
/* A handshake takes no longer. */
#define WS_HANDSHAKE_S 5

struct ws_session {
    struct sock_conn *conn;
};

static const lws_retry_bo_t keep_alive = {.secs_since_valid_ping = 60, .secs_since_valid_hangup = 90};

/* A page of the web that a browser on this host shows is not an application of this host. */
static bool ws_is_local(const struct sock_conn *conn, bool from_page)
{
    static const struct sock_subnet loopback[] = {{{[10] = 0xff, [11] = 0xff, [12] = 127}, 104}, {{[15] = 1}, 128}};
    return !from_page && inet_in(&conn->local, loopback, RTE_DIM(loopback)) &&
           inet_in(&conn->remote, loopback, RTE_DIM(loopback));
}

static int ws_established(struct sock *sock, struct lws *wsi, struct ws_session *session)
{
    struct sock_conn *conn = conn_new(sock, SOCK_WEBSOCKET);
    int fd = lws_get_socket_fd(wsi), on = 1;
    socklen_t local_len = sizeof conn->local, remote_len = sizeof conn->remote;
    session->conn = NULL;
    if (conn == NULL) {
        return -1;
    }
    if (getsockname(fd, (struct sockaddr *)&conn->local, &local_len) != 0 ||
        getpeername(fd, (struct sockaddr *)&conn->remote, &remote_len) != 0) {
        conn_free(conn);
        return -1;
    }
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    conn->send_fd = fd;
    conn->ws = wsi;
    conn->scope = ws_is_local(conn, lws_get_opaque_user_data(wsi) != NULL) ? FACE_SCOPE_LOCAL : FACE_SCOPE_NON_LOCAL;
    inet_uri_plain(conn->local_uri, sizeof conn->local_uri, "ws", &conn->local);
    inet_uri_plain(conn->remote_uri, sizeof conn->remote_uri, "wsclient", &conn->remote);
    session->conn = conn;
    lws_rx_flow_control(wsi, 0); /* until it has a face */
    conn_count(conn);
    conn_ask(conn, SOCK_ACCEPTED);
    return 0;
}

void ws_up(struct sock_conn *conn)
{
    lws_rx_flow_control(conn->ws, 1);
}

static int ws_received(struct sock_conn *conn, struct lws *wsi, const uint8_t *p, size_t len)
{
    struct sock *sock = conn->sock;
    uint8_t *room = conn->in.len + len <= STREAM_ELEMENT_MAX ? queue_room(&conn->in, len) : NULL;
    if (room == NULL || !lws_frame_is_binary(wsi)) {
        sock_count(&sock->counters.malformed);
        conn_log(sock, conn->remote_uri, "closed: a message is no packet of at most 8800 octets");
        return -1;
    }
    if (conn->in.len == 0) {
        conn->in_since_ms = sock_now_ms(sock);
    }
    memcpy(room, p, len);
    queue_added(&conn->in, len);
    if (!lws_is_final_fragment(wsi) || lws_remaining_packet_payload(wsi) > 0) {
        return 0;
    }
    if (conn->in.len > 0 && datagram_check(sock, queue_first(&conn->in), conn->in.len)) {
        frames_of_packet(conn, queue_first(&conn->in), conn->in.len, 0);
    }
    queue_clear(&conn->in);
    return 0;
}

static int ws_writable(struct sock_conn *conn, struct lws *wsi)
{
    uint8_t message[LWS_PRE + STREAM_ELEMENT_MAX + MARK_SIZE_MAX];
    for (unsigned i = 0; i < WS_TURN && conn->out.len > 0 && !lws_send_pipe_choked(wsi); i++) {
        size_t size;
        if (stream_cut(queue_first(&conn->out), conn->out.len, &size) != STREAM_ELEMENT) {
            return -1;
        }
        memcpy(message + LWS_PRE, queue_first(&conn->out), size);
        queue_take(&conn->out, size);
        if (lws_write(wsi, message + LWS_PRE, size, LWS_WRITE_BINARY) < (int)size) {
            return -1;
        }
        conn->out_since_ms = sock_now_ms(conn->sock);
    }
    if (conn->out.len > 0) {
        lws_callback_on_writable(wsi);
    }
    return 0;
}

static int on_event(struct lws *wsi, enum lws_callback_reasons reason, void *user, void *in, size_t len)
{
    struct ws_session *session = user;
    struct sock_conn *conn = session != NULL ? session->conn : NULL;
    struct sock *sock = lws_context_user(lws_get_context(wsi));
    switch (reason) {
    case LWS_CALLBACK_WSI_CREATE:
        sock->n_ws++;
        return 0;
    case LWS_CALLBACK_WSI_DESTROY:
        sock->n_ws--;
        return 0;
    case LWS_CALLBACK_FILTER_PROTOCOL_CONNECTION:
        if (lws_hdr_total_length(wsi, WSI_TOKEN_ORIGIN) > 0) {
            lws_set_opaque_user_data(wsi, sock); /* any pointer says so */
        }
        return 0;
    case LWS_CALLBACK_ESTABLISHED:
        return ws_established(sock, wsi, session);
    case LWS_CALLBACK_RECEIVE:
        return conn == NULL ? -1 : ws_received(conn, wsi, in, len);
    case LWS_CALLBACK_SERVER_WRITEABLE:
        return conn == NULL ? -1 : ws_writable(conn, wsi);
    case LWS_CALLBACK_CLOSED:
        if (conn != NULL) {
            session->conn = NULL;
            conn->ws = NULL;
            conn_lost(conn);
        }
        return 0;
    default:
        return lws_callback_http_dummy(wsi, reason, user, in, len);
    }
}

static const struct lws_protocols protocols[] = {
    {.name = "ndn", .callback = on_event, .per_session_data_size = sizeof(struct ws_session), .rx_buffer_size = 65536},
    {0},
};

static void on_log(int level, const char *line)
{
    (void)level;
    RTE_LOG(WARNING, USER1, "WebSocket: %s", line); /* it ends with a line feed */
}

int ws_init(struct sock *sock)
{
    void *loops[] = {&sock->loop};
    struct lws_context_creation_info info = {
        .port = CONTEXT_PORT_NO_LISTEN_SERVER,
        .options = LWS_SERVER_OPTION_LIBUV | LWS_SERVER_OPTION_EXPLICIT_VHOSTS,
        .foreign_loops = loops,
        .protocols = protocols,
        .timeout_secs = WS_HANDSHAKE_S,
        .retry_and_idle_policy = &keep_alive,
        .user = sock,
    };
    lws_set_log_level(LLL_ERR, on_log);
    sock->ws = lws_create_context(&info);
    if (sock->ws == NULL) {
        return -ENOMEM;
    }
    sock->ws_host = lws_create_vhost(sock->ws, &info);
    return sock->ws_host != NULL ? 0 : -ENOMEM;
}

void ws_accepted(struct sock *sock, int fd)
{
    if (sock->n_ws > sock->config.faces_max) { /* those in the handshake, too */
        sock_count(&sock->counters.refused);
        close(fd);
        return;
    }
    lws_adopt_socket_vhost(sock->ws_host, fd); /* closes it when it cannot */
}

void ws_send(struct sock_conn *conn, uint32_t first)
{
    struct sock *sock = conn->sock;
    size_t marked = conn_mark_due(conn) ? conn_marked(conn, sock->batch[first]) : 0;
    if (conn->out.len == 0) {
        conn->out_since_ms = sock_now_ms(sock);
    }
    for (uint32_t i = first; i != SOCK_NONE; i = sock->batch_next[i], marked = 0) {
        const struct rte_mbuf *mbuf = sock->batch[i];
        size_t len = marked > 0 ? marked : mbuf->pkt_len;
        uint8_t *room = conn->out.len + len <= sock->config.queue_max ? queue_room(&conn->out, len) : NULL;
        if (room == NULL) {
            sock_count(&sock->counters.queue_full);
            continue;
        }
        if (marked > 0) {
            memcpy(room, sock->marked, len);
        } else {
            frames_flatten(mbuf, room);
        }
        queue_added(&conn->out, len);
    }
    lws_callback_on_writable(conn->ws);
}

void ws_close(struct sock_conn *conn)
{
    struct ws_session *session = lws_wsi_user(conn->ws);
    session->conn = NULL; /* what comes yet is nobody's */
    lws_set_timeout(conn->ws, PENDING_TIMEOUT_CLOSE_SEND, LWS_TO_KILL_ASYNC);
    conn->ws = NULL;
}

void ws_stop(struct sock *sock)
{
    if (sock->ws != NULL) {
        lws_context_destroy(sock->ws);
    }
}
