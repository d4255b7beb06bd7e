// SPDX-License-Identifier: Apache-2.0
#include "test/quic/server_conns.h"

#include <err.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test/quic/h3.h"
#include "test/quic/pattern.h"
#include "test/quic/server_retry.h"

#define LINGER_NS   (3 * NGTCP2_SECONDS)
#define INITIAL_MIN 1200
#define RESET_MIN   43 /**< smaller datagrams get no Stateless Reset: it would not be smaller than they are */

struct server_conn {
    struct conn conn;
    struct server *server;
    struct server_conn *next;
    uint64_t gone_ns; /**< of a closed one: when its connection IDs are forgotten */
    uint64_t received;
    struct udp_addr last_peer;
    bool good, complete, work;
    struct h3_reader reader;
    char answer[96 + H3_HEAD_MAX];
    size_t answer_len;
};

/* Octets of the upload. */
static void upload(void *ctx, uint64_t offset, const uint8_t *data, size_t len)
{
    struct server_conn *c = ctx;
    if (offset != c->received || !pattern_check(offset, data, len))
        c->good = false;
    c->received += len;
    c->server->count.octets += len;
}

static void make_answer(struct server_conn *c, bool h3)
{
    char text[96];
    uint8_t head[H3_HEAD_MAX];
    size_t len = (size_t)snprintf(text, sizeof(text), "%s %" PRIu64 " %s\n", c->server->id_text, c->received,
                                  c->good ? "ok" : "bad"),
           head_len = h3 ? h3_response(head, len) : 0;
    memcpy(c->answer, head, head_len);
    memcpy(c->answer + head_len, text, len);
    c->answer_len = head_len + len;
}

static void received(struct conn *conn, uint64_t offset, const uint8_t *data, size_t len, bool fin)
{
    struct server_conn *c = conn->user;
    bool h3 = conn_is_h3(conn);
    if (!h3)
        upload(c, offset, data, len);
    else if (!h3_read(&c->reader, data, len, upload, c))
        c->good = false;
    if (!fin || c->complete)
        return;
    c->complete = true;
    c->good = c->good && !c->reader.in_frame && c->reader.n == 0;
    c->server->count.bad += !c->good;
    make_answer(c, h3);
}

static uint8_t *to_send(struct conn *conn, uint64_t offset, size_t *len, bool *fin)
{
    struct server_conn *c = conn->user;
    *len = c->complete ? c->answer_len - offset : 0;
    *fin = c->complete;
    return (uint8_t *)c->answer + (c->complete ? offset : 0);
}

static void next_cid(struct server_conn *c, ngtcp2_cid *cid)
{
    cid->datalen = cid_maker_len(&c->server->maker);
    cid_maker_next(&c->server->maker, cid->data);
    cid_map_add(&c->server->map, cid->data, cid->datalen, c);
}

static void make_cid(struct conn *conn, ngtcp2_cid *cid, size_t len)
{
    (void)len;
    next_cid(conn->user, cid);
}

static const struct conn_role role = {.received = received, .to_send = to_send, .make_cid = make_cid};

static struct server_conn *begin(struct server *server, int fd, const struct udp_addr *local,
                                 const struct udp_addr *peer, const ngtcp2_pkt_hd *header)
{
    ngtcp2_cid scid, original_dcid = header->dcid;
    enum server_retry retry = SERVER_RETRY_NONE;
    if (server->checks_tokens)
        retry = server_retry_check(header, peer, &original_dcid);
    if (retry == SERVER_RETRY_BAD) {
        server->count.bad_tokens++;
        return NULL;
    }
    server->count.retried += retry == SERVER_RETRY_GOOD;
    struct server_conn *c = calloc(1, sizeof(*c));
    if (c == NULL)
        err(2, "connection");
    c->server = server;
    c->good = true;
    c->last_peer = *peer;
    c->conn = (struct conn){.role = &role, .user = c, .fd = fd, .local = *local, .peer = *peer};
    next_cid(c, &scid);
    cid_map_add(&server->map, header->dcid.data, header->dcid.datalen, c);
    struct conn_options options = {
        .server = true,
        .version = header->version,
        .dcid = &header->scid,
        .scid = &scid,
        .original_dcid = &original_dcid,
        .retry_scid = retry == SERVER_RETRY_GOOD ? &header->dcid : NULL,
    };
    if (!conn_open(&c->conn, &options)) {
        warnx("connection: %s", c->conn.why);
        cid_map_forget(&server->map, c);
        free(c);
        return NULL;
    }
    c->next = server->conns;
    server->conns = c;
    server->count.connections++;
    return c;
}

static void end(struct server_conn *c, uint64_t now)
{
    if (c->complete && c->conn.fin_sent) {
        c->server->count.completed++;
    } else {
        warnx("connection broken after %" PRIu64 " octets: %s", c->received, c->conn.why);
        c->server->count.broken++;
    }
    conn_close(&c->conn);
    c->gone_ns = now + LINGER_NS;
}

static void answer(int fd, const struct udp_addr *peer, const uint8_t *data, ngtcp2_ssize len)
{
    if (len > 0)
        sendto(fd, data, (size_t)len, 0, (const struct sockaddr *)&peer->sa, peer->len);
}

static void negotiate(struct server *server, int fd, const struct udp_addr *peer, const ngtcp2_version_cid *ids)
{
    uint32_t version = NGTCP2_PROTO_VER_V1;
    uint8_t out[600], unused;
    conn_random(&unused, 1);
    server->count.version_negotiations++;
    answer(fd, peer, out,
           ngtcp2_pkt_write_version_negotiation(out, sizeof(out), unused, ids->scid, ids->scidlen, ids->dcid,
                                                ids->dcidlen, &version, 1));
}

static void reset(struct server *server, int fd, const struct udp_addr *peer, const ngtcp2_version_cid *ids)
{
    ngtcp2_cid cid;
    uint8_t token[NGTCP2_STATELESS_RESET_TOKENLEN], unpredictable[RESET_MIN - 1 - sizeof(token)], out[RESET_MIN];
    ngtcp2_cid_init(&cid, ids->dcid, ids->dcidlen);
    conn_reset_token(token, &cid);
    conn_random(unpredictable, sizeof(unpredictable));
    server->count.resets++;
    answer(fd, peer, out,
           ngtcp2_pkt_write_stateless_reset(out, sizeof(out), token, unpredictable, sizeof(unpredictable)));
}

void server_input(struct server *server, int fd, const struct udp_addr *local, const struct udp_addr *peer,
                  const uint8_t *data, size_t len, uint64_t now)
{
    ngtcp2_version_cid ids;
    ngtcp2_pkt_hd header;
    int rc = ngtcp2_pkt_decode_version_cid(&ids, data, len, cid_maker_len(&server->maker));
    server->count.datagrams++;
    if (rc == NGTCP2_ERR_VERSION_NEGOTIATION) {
        negotiate(server, fd, peer, &ids);
        return;
    }
    if (rc != 0) {
        server->count.strays++;
        return;
    }
    struct server_conn *c = cid_map_find(&server->map, ids.dcid, ids.dcidlen);
    if (c == NULL && (data[0] & 0x80) == 0) {
        if (len > RESET_MIN)
            reset(server, fd, peer, &ids);
        else
            server->count.strays++;
        return;
    }
    if (c == NULL) {
        if (ngtcp2_accept(&header, data, len) != 0 || header.type != NGTCP2_PKT_INITIAL) {
            server->count.strays++;
            return;
        }
        if (len < INITIAL_MIN) {
            server->count.small_initials++;
            return;
        }
        c = begin(server, fd, local, peer, &header);
    }
    if (c == NULL || c->conn.quic == NULL)
        return;
    if (c->last_peer.len != peer->len || memcmp(&c->last_peer.sa, &peer->sa, peer->len) != 0) {
        c->last_peer = *peer;
        server->count.moves++;
    }
    c->work = true;
    if (!conn_read(&c->conn, peer, data, len, now))
        end(c, now);
}

uint64_t server_work(struct server *server, uint64_t now)
{
    uint64_t due = UINT64_MAX;
    struct server_conn **at = &server->conns;
    while (*at != NULL) {
        struct server_conn *c = *at;
        if (c->conn.quic != NULL && (c->work || conn_due(&c->conn) <= now)) {
            c->work = false;
            if (!conn_write(&c->conn, now))
                end(c, now);
        }
        if (c->conn.quic == NULL && c->gone_ns <= now) {
            *at = c->next;
            cid_map_forget(&server->map, c);
            free(c);
            continue;
        }
        uint64_t next = c->conn.quic != NULL ? conn_due(&c->conn) : c->gone_ns;
        if (next < due)
            due = next;
        at = &c->next;
    }
    return due;
}

void server_close(struct server *server)
{
    while (server->conns != NULL) {
        struct server_conn *c = server->conns;
        server->conns = c->next;
        conn_close(&c->conn);
        cid_map_forget(&server->map, c);
        free(c);
    }
}
