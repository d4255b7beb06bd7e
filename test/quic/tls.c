// SPDX-License-Identifier: Apache-2.0
#include "test/quic/tls.h"

#include <err.h>
#include <ngtcp2/ngtcp2_crypto_gnutls.h>

#define PRIORITY                                                                       \
    "NORMAL:-VERS-ALL:+VERS-TLS1.3:-CIPHER-ALL:+AES-128-GCM:-GROUP-ALL:+GROUP-X25519:" \
    "%DISABLE_TLS13_COMPAT_MODE"

static gnutls_certificate_credentials_t credentials;

void tls_init(const char *key_file, const char *cert_file)
{
    int rc = gnutls_certificate_allocate_credentials(&credentials);
    if (rc == 0 && key_file != NULL)
        rc = gnutls_certificate_set_x509_key_file(credentials, cert_file, key_file, GNUTLS_X509_FMT_PEM);
    if (rc < 0)
        errx(2, "certificate: %s", gnutls_strerror(rc));
}

gnutls_session_t tls_session(bool server, bool h3, ngtcp2_crypto_conn_ref *ref)
{
    static unsigned char own[] = "pitlane-test", http[] = "h3";
    // The server has both, its own first; the client asks for one.
    gnutls_datum_t protocols[] = {{own, sizeof(own) - 1}, {http, sizeof(http) - 1}};
    gnutls_session_t session;
    int rc = gnutls_init(&session, server ? GNUTLS_SERVER | GNUTLS_NO_AUTO_SEND_TICKET : GNUTLS_CLIENT);
    if (rc == 0)
        rc = gnutls_priority_set_direct(session, PRIORITY, NULL);
    if (rc == 0)
        rc = server ? ngtcp2_crypto_gnutls_configure_server_session(session)
                    : ngtcp2_crypto_gnutls_configure_client_session(session);
    if (rc == 0)
        rc = gnutls_credentials_set(session, GNUTLS_CRD_CERTIFICATE, credentials);
    if (rc == 0)
        rc = gnutls_alpn_set_protocols(session, protocols + h3, server ? 2 : 1, GNUTLS_ALPN_MANDATORY);
    if (rc == 0 && !server)
        rc = gnutls_server_name_set(session, GNUTLS_NAME_DNS, "localhost", 9);
    if (rc != 0)
        errx(2, "TLS session: %s", gnutls_strerror(rc));
    gnutls_session_set_ptr(session, ref);
    return session;
}

bool tls_is_h3(gnutls_session_t session)
{
    gnutls_datum_t protocol;
    return gnutls_alpn_get_selected_protocol(session, &protocol) == 0 && protocol.size == 2 &&
           protocol.data[0] == 'h' && protocol.data[1] == '3';
}
