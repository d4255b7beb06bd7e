// SPDX-License-Identifier: Apache-2.0
#include "fwd/mgmt/face_uri.h"

#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

static const struct {
    const char *name;
    enum face_uri_scheme scheme;
} schemes[] = {
    {"udp", FACE_URI_UDP},     {"udp4", FACE_URI_UDP4},      {"udp6", FACE_URI_UDP6},
    {"tcp", FACE_URI_TCP},     {"tcp4", FACE_URI_TCP4},      {"tcp6", FACE_URI_TCP6},
    {"ether", FACE_URI_ETHER}, {"dev", FACE_URI_DEV},        {"udp4+dev", FACE_URI_OTHER},
    {"unix", FACE_URI_OTHER},  {"udp6+dev", FACE_URI_OTHER}, {"fd", FACE_URI_OTHER},
    {"ws", FACE_URI_OTHER},    {"wsclient", FACE_URI_OTHER}, {"internal", FACE_URI_OTHER},
    {"null", FACE_URI_OTHER},  {"bare", FACE_URI_OTHER},     {"contentstore", FACE_URI_OTHER},
};

static enum face_uri_scheme scheme_of(const char *text, size_t len)
{
    for (size_t i = 0; i < sizeof schemes / sizeof schemes[0]; i++)
        if (strlen(schemes[i].name) == len && memcmp(schemes[i].name, text, len) == 0)
            return schemes[i].scheme;
    return FACE_URI_UNKNOWN;
}

static bool is_scheme_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '+' || c == '_';
}

static bool is_text(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (text[i] <= ' ' || text[i] == 0x7f)
            return false;
    return true;
}

/* A run of octets as a string, when it is text and fits. */
static bool take(char *to, size_t size, const char *text, size_t len)
{
    if (len >= size || !is_text(text, len))
        return false;
    memcpy(to, text, len);
    to[len] = '\0';
    return true;
}

static int digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Six groups of one or two hexadecimal digits. */
static bool parse_mac(const char *text, uint8_t mac[6])
{
    for (unsigned i = 0; i < 6; i++) {
        int value = digit(*text);
        if (value < 0)
            return false;
        text++;
        if (digit(*text) >= 0)
            value = value * 16 + digit(*text++);
        mac[i] = (uint8_t)value;
        if (*text != (i < 5 ? ':' : '\0'))
            return false;
        text++;
    }
    return true;
}

static bool parse_port(const char *text, size_t len, uint16_t *port)
{
    uint32_t value = 0;
    if (len == 0 || len > 5)
        return false;
    for (size_t i = 0; i < len; i++) {
        if (text[i] < '0' || text[i] > '9')
            return false;
        value = value * 10 + (uint32_t)(text[i] - '0');
    }
    if (value > UINT16_MAX)
        return false;
    *port = (uint16_t)value;
    return true;
}

/* What the host is, apart from a name. */
static void parse_numeric(struct face_uri *uri)
{
    if (inet_pton(AF_INET, uri->host, uri->ip) == 1)
        uri->family = AF_INET;
    else if (inet_pton(AF_INET6, uri->host, uri->ip) == 1)
        uri->family = AF_INET6;
    uri->has_mac = uri->scheme == FACE_URI_ETHER && parse_mac(uri->host, uri->mac);
}

/* HOST, HOST:PORT, [HOST], [HOST%SCOPE], [HOST]:PORT. @return false when it is none of them */
static bool parse_authority(struct face_uri *uri, const char *text, size_t len)
{
    const char *end = text + len, *host_end, *port;
    if (len > 0 && text[0] == '[') {
        text++;
        const char *close = memchr(text, ']', (size_t)(end - text));
        if (close == NULL)
            return false;
        const char *percent = memchr(text, '%', (size_t)(close - text));
        host_end = percent != NULL ? percent : close;
        if (percent != NULL &&
            (close == percent + 1 || !take(uri->scope, sizeof uri->scope, percent + 1, (size_t)(close - percent - 1))))
            return false;
        port = close + 1;
    } else {
        const char *colon = memchr(text, ':', len);
        host_end = port = colon != NULL ? colon : end;
    }
    if (!take(uri->host, sizeof uri->host, text, (size_t)(host_end - text)))
        return false;
    parse_numeric(uri);
    if (port == end)
        return true;
    uri->has_port = *port == ':' && parse_port(port + 1, (size_t)(end - port - 1), &uri->port);
    return uri->has_port;
}

static bool is_tcp(const struct face_uri *uri)
{
    return uri->scheme == FACE_URI_TCP || uri->scheme == FACE_URI_TCP4 || uri->scheme == FACE_URI_TCP6;
}

static bool is_udp(const struct face_uri *uri)
{
    return uri->scheme == FACE_URI_UDP || uri->scheme == FACE_URI_UDP4 || uri->scheme == FACE_URI_UDP6;
}

int face_uri_parse(struct face_uri *uri, const char *text, size_t len)
{
    size_t n = 0;
    *uri = (struct face_uri){.scheme = FACE_URI_UNKNOWN};
    while (n < len && n < 16 && is_scheme_char(text[n]))
        n++;
    if (n == 0 || len - n < 3 || memcmp(text + n, "://", 3) != 0)
        return -EINVAL;
    uri->scheme = (uint8_t)scheme_of(text, n);
    const char *authority = text + n + 3, *end = text + len;
    const char *slash = memchr(authority, '/', (size_t)(end - authority));
    uri->has_path = slash != NULL && slash + 1 != end;
    if (!parse_authority(uri, authority, (size_t)((slash != NULL ? slash : end) - authority)))
        return 0;
    // One way to write each: what is written back must be what was read.
    char back[FACE_URI_MAX];
    uri->canonical =
        face_uri_write(uri, back) == len && memcmp(back, text, len) == 0 && !(is_tcp(uri) && face_uri_is_group(uri));
    return 0;
}

static size_t write_ip(const struct face_uri *uri, char text[FACE_URI_MAX])
{
    char ip[INET6_ADDRSTRLEN];
    bool v6 = uri->scheme == FACE_URI_UDP6 || uri->scheme == FACE_URI_TCP6;
    if (uri->family != (v6 ? AF_INET6 : AF_INET) || !uri->has_port || uri->port == 0 || uri->has_path ||
        inet_ntop(uri->family, uri->ip, ip, sizeof ip) == NULL)
        return 0;
    static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};
    if (v6 && memcmp(uri->ip, mapped, sizeof mapped) == 0)
        return 0;
    const char *scheme = is_udp(uri) ? "udp" : "tcp";
    int n;
    if (!v6)
        n = snprintf(text, FACE_URI_MAX, "%s4://%s:%u", scheme, ip, uri->port);
    else
        n = snprintf(text, FACE_URI_MAX, "%s6://[%s%s%s]:%u", scheme, ip, uri->scope[0] != '\0' ? "%" : "", uri->scope,
                     uri->port);
    return n < FACE_URI_MAX ? (size_t)n : 0;
}

size_t face_uri_write(const struct face_uri *uri, char text[FACE_URI_MAX])
{
    const uint8_t *mac = uri->mac;
    int n;
    switch (uri->scheme) {
    case FACE_URI_UDP4:
    case FACE_URI_UDP6:
    case FACE_URI_TCP4:
    case FACE_URI_TCP6:
        return write_ip(uri, text);
    case FACE_URI_ETHER:
        if (!uri->has_mac || uri->has_port || uri->has_path)
            return 0;
        n = snprintf(text, FACE_URI_MAX, "ether://[%02x:%02x:%02x:%02x:%02x:%02x]", mac[0], mac[1], mac[2], mac[3],
                     mac[4], mac[5]);
        break;
    case FACE_URI_DEV:
        if (uri->host[0] == '\0' || uri->has_port || uri->has_path)
            return 0;
        n = snprintf(text, FACE_URI_MAX, "dev://%s", uri->host);
        break;
    default:
        return 0;
    }
    return n < FACE_URI_MAX ? (size_t)n : 0;
}

bool face_uri_is_group(const struct face_uri *uri)
{
    if (uri->scheme == FACE_URI_ETHER)
        return uri->has_mac && (uri->mac[0] & 1) != 0;
    return (uri->family == AF_INET && (uri->ip[0] & 0xf0) == 0xe0) || (uri->family == AF_INET6 && uri->ip[0] == 0xff);
}

bool face_uri_is_loopback(const struct face_uri *uri)
{
    static const uint8_t one[16] = {[15] = 1};
    return (uri->family == AF_INET && uri->ip[0] == 127) ||
           (uri->family == AF_INET6 && memcmp(uri->ip, one, sizeof one) == 0);
}

socklen_t face_uri_sockaddr(const struct face_uri *uri, struct sockaddr_storage *address)
{
    memset(address, 0, sizeof *address);
    if (uri->family == AF_INET) {
        struct sockaddr_in *in = (struct sockaddr_in *)address;
        in->sin_family = AF_INET;
        in->sin_port = htons(uri->port);
        memcpy(&in->sin_addr, uri->ip, 4);
        return sizeof *in;
    }
    if (uri->family != AF_INET6)
        return 0;
    struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)address;
    in6->sin6_family = AF_INET6;
    in6->sin6_port = htons(uri->port);
    memcpy(&in6->sin6_addr, uri->ip, 16);
    if (uri->scope[0] != '\0') {
        in6->sin6_scope_id = if_nametoindex(uri->scope);
        if (in6->sin6_scope_id == 0)
            return 0;
    }
    return sizeof *in6;
}

/* A name's first address of the wanted IP version. */
static int resolve(struct face_uri *uri, int family, char err[128])
{
    struct addrinfo hints = {.ai_family = family, .ai_socktype = SOCK_DGRAM, .ai_flags = AI_ADDRCONFIG}, *list;
    int rc = getaddrinfo(uri->host, NULL, &hints, &list);
    if (rc != 0) {
        snprintf(err, 128, "%.80s: %s", uri->host, gai_strerror(rc));
        return -ENOENT;
    }
    uri->family = (uint8_t)list->ai_family;
    if (list->ai_family == AF_INET)
        memcpy(uri->ip, &((const struct sockaddr_in *)list->ai_addr)->sin_addr, 4);
    else
        memcpy(uri->ip, &((const struct sockaddr_in6 *)list->ai_addr)->sin6_addr, 16);
    freeaddrinfo(list);
    return 0;
}

static int canonize_ip(struct face_uri *uri, char err[128])
{
    bool udp = is_udp(uri);
    int family = AF_UNSPEC;
    if (uri->scheme == FACE_URI_UDP4 || uri->scheme == FACE_URI_TCP4)
        family = AF_INET;
    else if (uri->scheme == FACE_URI_UDP6 || uri->scheme == FACE_URI_TCP6)
        family = AF_INET6;
    if (uri->family == 0) {
        int rc = resolve(uri, family, err);
        if (rc != 0)
            return rc;
    }
    if (family != AF_UNSPEC && uri->family != family) {
        snprintf(err, 128, "the address is of another IP version than the scheme");
        return -EINVAL;
    }
    bool v4 = uri->family == AF_INET;
    uri->scheme = udp ? (v4 ? FACE_URI_UDP4 : FACE_URI_UDP6) : (v4 ? FACE_URI_TCP4 : FACE_URI_TCP6);
    if (!uri->has_port)
        uri->port = udp && face_uri_is_group(uri) ? FACE_URI_GROUP_PORT : FACE_URI_PORT;
    uri->has_port = true;
    return 0;
}

int face_uri_canonize(struct face_uri *uri, const char *text, char err[128])
{
    int rc = face_uri_parse(uri, text, strlen(text));
    if (rc != 0) {
        snprintf(err, 128, "not a FaceUri: SCHEME://... is needed");
        return rc;
    }
    if (uri->canonical)
        return 0;
    snprintf(err, 128, "not a FaceUri that can be completed");
    if (uri->host[0] == '\0')
        return -EINVAL;
    if (is_udp(uri) || is_tcp(uri)) {
        rc = canonize_ip(uri, err);
        if (rc != 0)
            return rc;
    }
    char canonical[FACE_URI_MAX];
    size_t len = face_uri_write(uri, canonical);
    if (len == 0)
        return -EINVAL;
    face_uri_parse(uri, canonical, len);
    return uri->canonical ? 0 : -EINVAL;
}
