// SPDX-License-Identifier: Apache-2.0
#ifndef TEST_QUIC_CONN_H
#define TEST_QUIC_CONN_H

#include <gnutls/gnutls.h>
#include <ngtcp2/ngtcp2.h>
#include <ngtcp2/ngtcp2_crypto.h>
#include <stdbool.h>
#include <stdint.h>

#include "test/quic/udp.h"

/*
 * One QUIC connection with one bidirectional stream, as server and client have it in common: packets in, packets out,
 * timers. What the stream carries and which connection IDs there are is told by the functions of a role. With HTTP/3
 * there are streams of one direction besides: ours says what it has to, the peer's are not read. One thread.
 */

struct conn;

struct conn_role {
    /** Stream octets arrived, in order; @p fin: they were the last. */
    void (*received)(struct conn *conn, uint64_t offset, const uint8_t *data, size_t len, bool fin);
    /**
     * What to send from stream offset @p offset on, in memory that stays until the connection is freed.
     * @param len in: wanted, out: there. @param fin out: nothing follows
     */
    uint8_t *(*to_send)(struct conn *conn, uint64_t offset, size_t *len, bool *fin);
    /** Make a new connection ID for this end; @p len is the length that all of them have. */
    void (*make_cid)(struct conn *conn, ngtcp2_cid *cid, size_t len);
    void (*confirmed)(struct conn *conn); /**< the handshake is; optional */
    void (*reset)(struct conn *conn);     /**< a Stateless Reset arrived; optional */
};

struct conn {
    ngtcp2_conn *quic; /**< NULL: closed */
    gnutls_session_t tls;
    ngtcp2_crypto_conn_ref ref;
    const struct conn_role *role;
    void *user; /**< the role's own */
    int fd;
    struct udp_addr local, peer;
    int64_t stream;  /**< -1: not open yet */
    int64_t control; /**< of HTTP/3; -1: not open yet */
    uint8_t control_sent;
    uint64_t sent; /**< stream octets given to packets once */
    bool fin_sent;
    bool stuck;      /**< stream waits for the peer's flow control */
    bool more;       /**< there is more to send at once */
    const char *why; /**< what ended it, when it was not meant to end; static */
};

struct conn_options {
    bool server;
    bool h3; /**< client only: ask for HTTP/3 */
    uint32_t version;
    const ngtcp2_cid *dcid; /**< the peer's: of a server the source CID of the Initial */
    const ngtcp2_cid *scid; /**< our first */
    /** Server only: transport parameters that prove it saw the first Initial. */
    const ngtcp2_cid *original_dcid;
    const ngtcp2_cid *retry_scid; /**< NULL: there was no Retry */
    uint16_t payload_max;         /**< octets of the largest UDP payload sent; 0: 1452 */
};

/** Begin. @p conn has role, user, fd, local and peer; the rest is set here. @return false: ngtcp2 refuses */
bool conn_open(struct conn *conn, const struct conn_options *options);

/** A datagram arrived from @p peer. @return false: the connection has ended (see conn->why) and is to be closed */
bool conn_read(struct conn *conn, const struct udp_addr *peer, const uint8_t *data, size_t len, uint64_t now);

/** Send what there is to send, after timers that have expired. @return as conn_read() */
bool conn_write(struct conn *conn, uint64_t now);

/** When conn_write() is due again, in nanoseconds of udp_now(). */
uint64_t conn_due(const struct conn *conn);

/** Was HTTP/3 agreed on? Known when stream octets have arrived, or the handshake is confirmed. */
bool conn_is_h3(const struct conn *conn);

/** Tell the peer that it is over. */
void conn_finish(struct conn *conn, uint64_t now);

/** Free what conn_open() made. The struct itself stays the caller's. */
void conn_close(struct conn *conn);

/** Random octets. */
void conn_random(uint8_t *data, size_t len);

/** Token of the Stateless Reset for a connection ID: the same for every server, so that any of them can send it. */
void conn_reset_token(uint8_t token[NGTCP2_STATELESS_RESET_TOKENLEN], const ngtcp2_cid *cid);

/** The client's move to its new local address (RFC 9000, section 9.2), after conn->local and conn->fd changed. */
bool conn_migrate(struct conn *conn, uint64_t now);

#endif
