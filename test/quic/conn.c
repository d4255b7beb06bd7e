// SPDX-License-Identifier: Apache-2.0
#include "test/quic/conn.h"

#include <err.h>
#include <gnutls/crypto.h>
#include <string.h>

#include "test/quic/h3.h"
#include "test/quic/tls.h"

#define WINDOW_CONN   (16u << 20)
#define WINDOW_STREAM (8u << 20)
#define WINDOW_UNI    (64u << 10)
#define STREAMS_UNI   3 /* of HTTP/3: control, and two of QPACK */
#define IDLE_NS       (10 * NGTCP2_SECONDS)
#define PAYLOAD_MAX   1452

void conn_random(uint8_t *data, size_t len)
{
    if (gnutls_rnd(GNUTLS_RND_NONCE, data, len) != 0)
        errx(2, "no random numbers");
}

void conn_reset_token(uint8_t token[NGTCP2_STATELESS_RESET_TOKENLEN], const ngtcp2_cid *cid)
{
    static const uint8_t secret[] = "the same for all servers of a test";
    if (ngtcp2_crypto_generate_stateless_reset_token(token, secret, sizeof(secret), cid) != 0)
        errx(2, "no Stateless Reset token");
}

static ngtcp2_conn *of_ref(ngtcp2_crypto_conn_ref *ref)
{
    return ((struct conn *)ref->user_data)->quic;
}

static void on_rand(uint8_t *data, size_t len, const ngtcp2_rand_ctx *context)
{
    (void)context;
    conn_random(data, len);
}

static int on_new_cid(ngtcp2_conn *quic, ngtcp2_cid *cid, uint8_t *token, size_t len, void *user)
{
    struct conn *conn = user;
    (void)quic;
    conn->role->make_cid(conn, cid, len);
    conn_reset_token(token, cid);
    return 0;
}

static int on_stream_data(ngtcp2_conn *quic, uint32_t flags, int64_t stream, uint64_t offset, const uint8_t *data,
                          size_t len, void *user, void *stream_user)
{
    struct conn *conn = user;
    (void)stream_user;
    if (conn->stream < 0 && ngtcp2_is_bidi_stream(stream))
        conn->stream = stream;
    ngtcp2_conn_extend_max_stream_offset(quic, stream, len);
    ngtcp2_conn_extend_max_offset(quic, len);
    if (stream == conn->stream)
        conn->role->received(conn, offset, data, len, (flags & NGTCP2_STREAM_DATA_FLAG_FIN) != 0);
    return 0;
}

static int on_max_stream_data(ngtcp2_conn *quic, int64_t stream, uint64_t max, void *user, void *stream_user)
{
    struct conn *conn = user;
    (void)quic, (void)stream, (void)max, (void)stream_user;
    conn->stuck = false;
    return 0;
}

static int on_confirmed(ngtcp2_conn *quic, void *user)
{
    struct conn *conn = user;
    (void)quic;
    if (conn->role->confirmed != NULL)
        conn->role->confirmed(conn);
    return 0;
}

static int on_reset(ngtcp2_conn *quic, const ngtcp2_pkt_stateless_reset *packet, void *user)
{
    struct conn *conn = user;
    (void)quic, (void)packet;
    if (conn->role->reset != NULL)
        conn->role->reset(conn);
    return 0;
}

static const ngtcp2_callbacks callbacks = {
    .client_initial = ngtcp2_crypto_client_initial_cb,
    .recv_client_initial = ngtcp2_crypto_recv_client_initial_cb,
    .recv_crypto_data = ngtcp2_crypto_recv_crypto_data_cb,
    .encrypt = ngtcp2_crypto_encrypt_cb,
    .decrypt = ngtcp2_crypto_decrypt_cb,
    .hp_mask = ngtcp2_crypto_hp_mask_cb,
    .recv_retry = ngtcp2_crypto_recv_retry_cb,
    .update_key = ngtcp2_crypto_update_key_cb,
    .delete_crypto_aead_ctx = ngtcp2_crypto_delete_crypto_aead_ctx_cb,
    .delete_crypto_cipher_ctx = ngtcp2_crypto_delete_crypto_cipher_ctx_cb,
    .get_path_challenge_data = ngtcp2_crypto_get_path_challenge_data_cb,
    .version_negotiation = ngtcp2_crypto_version_negotiation_cb,
    .rand = on_rand,
    .get_new_connection_id = on_new_cid,
    .recv_stream_data = on_stream_data,
    .extend_max_stream_data = on_max_stream_data,
    .handshake_confirmed = on_confirmed,
    .recv_stateless_reset = on_reset,
};

static ngtcp2_path path_of(struct conn *conn, const struct udp_addr *peer)
{
    ngtcp2_path path = {0};
    path.local.addr = (ngtcp2_sockaddr *)&conn->local.sa;
    path.local.addrlen = conn->local.len;
    /* ngtcp2 copies the address and changes nothing. */
    path.remote.addr = (ngtcp2_sockaddr *)(uintptr_t)&peer->sa;
    path.remote.addrlen = peer->len;
    return path;
}

bool conn_open(struct conn *conn, const struct conn_options *options)
{
    ngtcp2_settings settings;
    ngtcp2_transport_params params;
    ngtcp2_path path = path_of(conn, &conn->peer);
    int rc;
    conn->ref = (ngtcp2_crypto_conn_ref){.get_conn = of_ref, .user_data = conn};
    conn->stream = -1;
    conn->control = -1;
    ngtcp2_settings_default(&settings);
    settings.initial_ts = udp_now();
    settings.max_window = WINDOW_CONN;
    settings.max_stream_window = WINDOW_STREAM;
    settings.max_tx_udp_payload_size = options->payload_max != 0 ? options->payload_max : PAYLOAD_MAX;
    ngtcp2_transport_params_default(&params);
    params.initial_max_data = WINDOW_STREAM;
    params.initial_max_stream_data_bidi_local = WINDOW_STREAM;
    params.initial_max_stream_data_bidi_remote = WINDOW_STREAM;
    params.initial_max_streams_bidi = 1;
    params.initial_max_stream_data_uni = WINDOW_UNI;
    params.initial_max_streams_uni = STREAMS_UNI;
    params.max_idle_timeout = IDLE_NS;
    params.active_connection_id_limit = 7;
    if (options->server) {
        params.original_dcid = *options->original_dcid;
        if (options->retry_scid != NULL) {
            params.retry_scid = *options->retry_scid;
            params.retry_scid_present = 1;
        }
        params.stateless_reset_token_present = 1;
        conn_reset_token(params.stateless_reset_token, options->scid);
        rc = ngtcp2_conn_server_new(&conn->quic, options->dcid, options->scid, &path, options->version, &callbacks,
                                    &settings, &params, NULL, conn);
    } else {
        rc = ngtcp2_conn_client_new(&conn->quic, options->dcid, options->scid, &path, options->version, &callbacks,
                                    &settings, &params, NULL, conn);
    }
    if (rc != 0) {
        conn->quic = NULL;
        conn->why = ngtcp2_strerror(rc);
        return false;
    }
    conn->tls = tls_session(options->server, options->h3, &conn->ref);
    ngtcp2_conn_set_tls_native_handle(conn->quic, conn->tls);
    return true;
}

bool conn_read(struct conn *conn, const struct udp_addr *peer, const uint8_t *data, size_t len, uint64_t now)
{
    ngtcp2_path path = path_of(conn, peer);
    ngtcp2_pkt_info info = {0};
    int rc = ngtcp2_conn_read_pkt(conn->quic, &path, &info, data, len, now);
    if (rc != 0)
        conn->why = ngtcp2_strerror(rc);
    return rc == 0;
}

/* What is to go into a datagram next. @return its stream, -1: nothing of one */
static int64_t next_stream(struct conn *conn, ngtcp2_vec *vec, bool *fin)
{
    static uint8_t control[] = H3_CONTROL;
    if (conn->stuck)
        return -1;
    if (conn->control >= 0 && conn->control_sent < H3_CONTROL_LEN) {
        vec->base = control + conn->control_sent;
        vec->len = H3_CONTROL_LEN - conn->control_sent;
        return conn->control;
    }
    if (conn->stream < 0 || conn->fin_sent)
        return -1;
    vec->base = conn->role->to_send(conn, conn->sent, &vec->len, fin);
    return vec->len > 0 || *fin ? conn->stream : -1;
}

static void count_sent(struct conn *conn, int64_t stream, const ngtcp2_vec *vec, size_t taken, bool fin)
{
    if (stream == conn->control) {
        conn->control_sent += (uint8_t)taken;
        return;
    }
    conn->sent += taken;
    conn->fin_sent = fin && taken == vec->len;
}

/* One datagram, into the batch. @return 1 written, 0 nothing to send now, negative: of ngtcp2 */
static int write_datagram(struct conn *conn, struct udp_batch *batch, uint64_t now)
{
    ngtcp2_path_storage storage;
    ngtcp2_pkt_info info;
    ngtcp2_path_storage_zero(&storage);
    for (;;) {
        bool fin = false;
        ngtcp2_vec vec = {.base = NULL, .len = 64 << 10};
        ngtcp2_ssize taken = -1;
        int64_t stream = next_stream(conn, &vec, &fin);
        uint32_t flags = NGTCP2_WRITE_STREAM_FLAG_NONE;
        if (stream >= 0)
            flags = NGTCP2_WRITE_STREAM_FLAG_MORE | (fin ? NGTCP2_WRITE_STREAM_FLAG_FIN : 0);
        ngtcp2_ssize n = ngtcp2_conn_writev_stream(conn->quic, &storage.path, &info, batch->data[batch->n],
                                                   UDP_SIZE_MAX, &taken, flags, stream, &vec, stream >= 0 ? 1 : 0, now);
        if (stream >= 0 && taken >= 0)
            count_sent(conn, stream, &vec, (size_t)taken, fin);
        if (n == NGTCP2_ERR_WRITE_MORE)
            continue;
        if (n == NGTCP2_ERR_STREAM_DATA_BLOCKED || n == NGTCP2_ERR_STREAM_SHUT_WR) {
            conn->stuck = true;
            continue;
        }
        if (n <= 0)
            return (int)n;
        struct udp_addr *to = &batch->peer[batch->n];
        memcpy(&to->sa, storage.path.remote.addr, storage.path.remote.addrlen);
        to->len = storage.path.remote.addrlen;
        batch->len[batch->n++] = (size_t)n;
        return 1;
    }
}

bool conn_write(struct conn *conn, uint64_t now)
{
    static struct udp_batch batch;
    int rc = 0;
    if (ngtcp2_conn_get_expiry(conn->quic) <= now)
        rc = ngtcp2_conn_handle_expiry(conn->quic, now);
    if (rc == 0) {
        if (conn->stream < 0 && !ngtcp2_conn_is_server(conn->quic) &&
            ngtcp2_conn_open_bidi_stream(conn->quic, &conn->stream, NULL) != 0)
            conn->stream = -1;
        if (conn->control < 0 && conn_is_h3(conn) && ngtcp2_conn_get_handshake_completed(conn->quic) &&
            ngtcp2_conn_open_uni_stream(conn->quic, &conn->control, NULL) != 0)
            conn->control = -1;
        /* Windows of the connection, unlike those of a stream, are raised without a word. */
        conn->stuck = conn->stuck && ngtcp2_conn_get_max_data_left(conn->quic) == 0;
        do
            rc = write_datagram(conn, &batch, now);
        while (rc > 0 && batch.n < UDP_BATCH);
        conn->more = rc > 0;
        udp_send(conn->fd, &batch);
        if (rc >= 0)
            ngtcp2_conn_update_pkt_tx_time(conn->quic, now);
    }
    if (rc < 0)
        conn->why = ngtcp2_strerror(rc);
    return rc >= 0;
}

bool conn_is_h3(const struct conn *conn)
{
    return tls_is_h3(conn->tls);
}

uint64_t conn_due(const struct conn *conn)
{
    return conn->more ? 0 : ngtcp2_conn_get_expiry(conn->quic);
}

void conn_finish(struct conn *conn, uint64_t now)
{
    static struct udp_batch batch;
    ngtcp2_path_storage storage;
    ngtcp2_pkt_info info;
    ngtcp2_connection_close_error reason;
    ngtcp2_path_storage_zero(&storage);
    ngtcp2_connection_close_error_default(&reason);
    ngtcp2_connection_close_error_set_application_error(&reason, 0, NULL, 0);
    ngtcp2_ssize n =
        ngtcp2_conn_write_connection_close(conn->quic, &storage.path, &info, batch.data[0], UDP_SIZE_MAX, &reason, now);
    if (n <= 0)
        return;
    memcpy(&batch.peer[0].sa, storage.path.remote.addr, storage.path.remote.addrlen);
    batch.peer[0].len = storage.path.remote.addrlen;
    batch.len[0] = (size_t)n;
    batch.n = 1;
    udp_send(conn->fd, &batch);
}

bool conn_migrate(struct conn *conn, uint64_t now)
{
    ngtcp2_path path = path_of(conn, &conn->peer);
    return ngtcp2_conn_initiate_immediate_migration(conn->quic, &path, now) == 0;
}

void conn_close(struct conn *conn)
{
    if (conn->quic == NULL)
        return;
    ngtcp2_conn_del(conn->quic);
    gnutls_deinit(conn->tls);
    conn->quic = NULL;
}
