// SPDX-License-Identifier: Apache-2.0
#include "test/quic/transfer.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "test/quic/pattern.h"

#define SCID_LEN  8
#define TICK_NS   5000000u  /**< between the steps of a limited rate */
#define SETTLE_NS 50000000u /**< from the confirmed handshake to the first move */

static void end(struct transfer *t, const char *why, uint64_t now)
{
    if (t->state != TRANSFER_RUNS)
        return;
    t->state = why == NULL ? TRANSFER_OK : TRANSFER_FAILED;
    t->why = why;
    t->end_ns = now;
}

static void judge(struct transfer *t)
{
    uint64_t octets = 0;
    char verdict[8] = "";
    t->answer[t->answer_len] = '\0';
    bool whole = sscanf(t->answer, "%39s %" SCNu64 " %7s", t->server, &octets, verdict) == 3;
    if (!whole)
        end(t, "answer is not readable", udp_now());
    else if (octets != t->options->octets)
        end(t, "answer tells another number of octets", udp_now());
    else
        end(t, strcmp(verdict, "ok") == 0 ? NULL : "octets were changed", udp_now());
}

static void ignore(void *ctx, uint64_t offset, const uint8_t *octets, size_t len)
{
    (void)ctx, (void)offset, (void)octets, (void)len;
}

/* Others' servers answer what they like; but not before they have everything. */
static void received_h3(struct transfer *t, const uint8_t *data, size_t len, bool fin)
{
    if (!h3_read(&t->reader, data, len, ignore, NULL))
        end(t, "answer is no HTTP/3", udp_now());
    if (!fin)
        return;
    snprintf(t->server, sizeof(t->server), "h3");
    if (!t->reader.headers || t->reader.in_frame || t->reader.n > 0)
        end(t, "answer is not whole", udp_now());
    else
        end(t, t->conn.fin_sent ? NULL : "answer comes too early", udp_now());
}

static void received(struct conn *conn, uint64_t offset, const uint8_t *data, size_t len, bool fin)
{
    struct transfer *t = conn->user;
    (void)offset;
    if (t->options->h3) {
        received_h3(t, data, len, fin);
        return;
    }
    if (len >= sizeof(t->answer) - t->answer_len) {
        end(t, "answer is too long", udp_now());
        return;
    }
    if (len > 0)
        memcpy(t->answer + t->answer_len, data, len);
    t->answer_len += len;
    if (fin)
        judge(t);
}

static uint8_t *to_send(struct conn *conn, uint64_t offset, size_t *len, bool *fin)
{
    struct transfer *t = conn->user;
    if (offset < t->head_len) {
        *len = t->head_len - offset;
        return t->head + offset;
    }
    offset -= t->head_len;
    if (*len > t->written - offset)
        *len = t->written - offset;
    uint8_t *data = pattern_at(offset, len);
    *fin = offset + *len == t->options->octets;
    return data;
}

static void make_cid(struct conn *conn, ngtcp2_cid *cid, size_t len)
{
    (void)conn;
    cid->datalen = len;
    conn_random(cid->data, len);
}

static void confirmed(struct conn *conn)
{
    struct transfer *t = conn->user;
    t->confirmed = true;
    t->confirmed_ns = udp_now();
}

static void on_reset(struct conn *conn)
{
    ((struct transfer *)conn->user)->was_reset = true;
}

static const struct conn_role role = {
    .received = received,
    .to_send = to_send,
    .make_cid = make_cid,
    .confirmed = confirmed,
    .reset = on_reset,
};

void transfer_begin(struct transfer *t, const struct transfer_options *options, uint64_t now)
{
    ngtcp2_cid dcid, scid;
    memset(t, 0, sizeof(*t));
    t->options = options;
    t->begin_ns = now;
    t->work = true;
    t->conn = (struct conn){.role = &role, .user = t, .local = options->local, .peer = options->peer};
    t->conn.fd = udp_open(&t->conn.local);
    if (options->h3)
        t->head_len = h3_request(t->head, options->octets);
    make_cid(&t->conn, &dcid, options->dcid_len);
    make_cid(&t->conn, &scid, SCID_LEN);
    struct conn_options conn_options = {.h3 = options->h3,
                                        .version = options->version,
                                        .dcid = &dcid,
                                        .scid = &scid,
                                        .payload_max = options->payload_max};
    if (!conn_open(&t->conn, &conn_options))
        end(t, t->conn.why, now);
}

/* A port change is due when its part of the octets is on its way. */
static void move(struct transfer *t, uint64_t now)
{
    const struct transfer_options *o = t->options;
    unsigned all = o->rebinds + o->migrations;
    if (t->moves == all || !t->confirmed || now - t->confirmed_ns < SETTLE_NS)
        return;
    if (t->conn.sent < o->octets / (all + 1) * (t->moves + 1))
        return;
    struct udp_addr local = o->local, before = t->conn.local;
    int fd = udp_open(&local), old = t->conn.fd;
    t->conn.fd = fd;
    if (t->moves < o->migrations) {
        t->conn.local = local;
        if (!conn_migrate(&t->conn, now)) {
            /* No spare connection ID of the server yet: the next round tries again. */
            t->conn.local = before;
            t->conn.fd = old;
            close(fd);
            return;
        }
    }
    close(old);
    t->moves++;
}

uint64_t transfer_work(struct transfer *t, bool readable, uint64_t now)
{
    static struct udp_batch batch;
    const struct transfer_options *o = t->options;
    if (t->state != TRANSFER_RUNS)
        return UINT64_MAX;
    for (unsigned turns = 0; readable && turns < 4 && udp_receive(t->conn.fd, &batch) > 0; turns++) {
        t->work = true;
        for (unsigned i = 0; i < batch.n && t->state == TRANSFER_RUNS; i++) {
            if (!conn_read(&t->conn, &o->peer, batch.data[i], batch.len[i], now))
                end(t, t->was_reset ? "Stateless Reset" : t->conn.why, now);
        }
    }
    if (now - t->begin_ns > o->timeout_ns)
        end(t, "timeout", now);
    uint64_t allowed = o->octets;
    if (o->rate != 0) {
        uint64_t ms = (now - t->begin_ns) / 1000000;
        if (o->rate * ms / 1000 < allowed)
            allowed = o->rate * ms / 1000;
    }
    t->work = t->work || allowed != t->written;
    t->written = allowed;
    if (t->state == TRANSFER_RUNS)
        move(t, now);
    if (t->state == TRANSFER_RUNS && (t->work || conn_due(&t->conn) <= now)) {
        t->work = false;
        if (!conn_write(&t->conn, now))
            end(t, t->conn.why, now);
    }
    if (t->state == TRANSFER_OK)
        conn_finish(&t->conn, now);
    if (t->state != TRANSFER_RUNS)
        return 0;
    uint64_t due = conn_due(&t->conn), latest = t->begin_ns + o->timeout_ns;
    if (allowed < o->octets && now + TICK_NS < latest)
        latest = now + TICK_NS;
    return due < latest ? due : latest;
}

void transfer_close(struct transfer *t)
{
    conn_close(&t->conn);
    close(t->conn.fd);
}
