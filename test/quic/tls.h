// SPDX-License-Identifier: Apache-2.0
#ifndef TEST_QUIC_TLS_H
#define TEST_QUIC_TLS_H

#include <gnutls/gnutls.h>
#include <ngtcp2/ngtcp2_crypto.h>
#include <stdbool.h>

/* TLS 1.3 of the QUIC test programs, by GnuTLS. All functions end the program when GnuTLS refuses. One thread. */

/** Read the certificate of a server; a client passes NULL twice, and believes every server. */
void tls_init(const char *key_file, const char *cert_file);

/**
 * A session for one connection, which @p ref finds. gnutls_deinit() frees it. A client asks for HTTP/3 when @p h3, else
 * for the bare stream of these programs; a server offers both.
 */
gnutls_session_t tls_session(bool server, bool h3, ngtcp2_crypto_conn_ref *ref);

/** Was HTTP/3 agreed on? False before it was. */
bool tls_is_h3(gnutls_session_t session);

#endif
