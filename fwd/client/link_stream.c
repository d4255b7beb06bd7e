// SPDX-License-Identifier: Apache-2.0
/* Links over a stream (Unix socket, TCP): TLVs one after another, and a queue for what the kernel does not take. */
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>
#include <unistd.h>

#include "fwd/client/link_priv.h"
#include "parser/ndn_tlv.h"

#define STREAM_PORT               "6363"
#define STREAM_CONNECT_TIMEOUT_MS 4000
/** More than this is not kept for a forwarder that does not read. */
#define STREAM_QUEUE_MAX (4u << 20)

static int open_unix(struct link *link, const char *path, char err[LINK_ERR])
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (path[0] == '\0' || strlen(path) >= sizeof address.sun_path) {
        snprintf(err, LINK_ERR, "unix://%s: a path of 1 to %zu octets is allowed", path, sizeof address.sun_path - 1);
        return -EINVAL;
    }
    strcpy(address.sun_path, path);
    link->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (link->fd < 0) {
        snprintf(err, LINK_ERR, "socket: %s", strerror(errno));
        return -errno;
    }
    if (connect(link->fd, (const struct sockaddr *)&address, sizeof address) != 0) {
        int code = -errno;
        snprintf(err, LINK_ERR, "%s: %s%s", path, strerror(errno),
                 errno == ENOENT || errno == ECONNREFUSED ? " (does the forwarder run?)" : "");
        return code;
    }
    link->local = true;
    snprintf(link->name, sizeof link->name, "unix://%s", path);
    return 0;
}

/** Connect within a bounded time. @return 0 or a negative errno */
static int connect_in_time(int fd, const struct addrinfo *to)
{
    if (connect(fd, to->ai_addr, to->ai_addrlen) == 0)
        return 0;
    if (errno != EINPROGRESS)
        return -errno;
    struct pollfd poll_fd = {.fd = fd, .events = POLLOUT};
    int n = poll(&poll_fd, 1, STREAM_CONNECT_TIMEOUT_MS);
    if (n <= 0)
        return n == 0 ? -ETIMEDOUT : -errno;
    int code = 0;
    socklen_t len = sizeof code;
    getsockopt(fd, SOL_SOCKET, SO_ERROR, &code, &len);
    return -code;
}

static bool is_loopback(const struct sockaddr *address)
{
    if (address->sa_family == AF_INET)
        return ntohl(((const struct sockaddr_in *)address)->sin_addr.s_addr) >> 24 == 127;
    return IN6_IS_ADDR_LOOPBACK(&((const struct sockaddr_in6 *)address)->sin6_addr);
}

/** @p text is what follows "tcp://": HOST, HOST:PORT or [HOST]:PORT. */
static int open_tcp(struct link *link, const char *text, int family, char err[LINK_ERR])
{
    char host[256];
    const char *port = STREAM_PORT, *name = host;
    snprintf(host, sizeof host, "%s", text);
    // A slash at the end is usual in URIs.
    host[strcspn(host, "/")] = '\0';
    char *end = host[0] == '[' ? strchr(host, ']') : NULL;
    char *colon = strrchr(end != NULL ? end : host, ':');
    if (end != NULL) {
        *end = '\0';
        name = host + 1;
    }
    if (colon != NULL && (end != NULL || strchr(host, ':') == colon)) {
        *colon = '\0';
        port = colon + 1;
    }
    const struct addrinfo hints = {.ai_family = family, .ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV};
    struct addrinfo *found;
    int ret = getaddrinfo(name, port, &hints, &found);
    if (ret != 0) {
        snprintf(err, LINK_ERR, "tcp://%s: %s", text, gai_strerror(ret));
        return -EINVAL;
    }
    ret = -EHOSTUNREACH;
    for (const struct addrinfo *a = found; a != NULL; a = a->ai_next) {
        link->fd = socket(a->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
        ret = link->fd >= 0 ? connect_in_time(link->fd, a) : -errno;
        if (ret == 0) {
            link->local = is_loopback(a->ai_addr);
            break;
        }
        if (link->fd >= 0)
            close(link->fd);
        link->fd = -1;
    }
    freeaddrinfo(found);
    if (ret != 0) {
        snprintf(err, LINK_ERR, "tcp://%s: %s", text, strerror(-ret));
        return ret;
    }
    int one = 1;
    setsockopt(link->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    snprintf(link->name, sizeof link->name, "tcp://%s", text);
    return 0;
}

int link_open_stream(struct link *link, const char *uri, char err[LINK_ERR])
{
    static const struct {
        const char *prefix;
        int family;
    } schemes[] = {
        {"unix://", AF_UNIX}, {"unix:", AF_UNIX}, {"tcp://", AF_UNSPEC}, {"tcp4://", AF_INET}, {"tcp6://", AF_INET6},
    };
    int ret = -EINVAL;
    snprintf(err, LINK_ERR, "transport %s: unix:///PATH or tcp://HOST[:PORT] is allowed", uri);
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++) {
        size_t len = strlen(schemes[i].prefix);
        if (strncmp(uri, schemes[i].prefix, len) != 0)
            continue;
        ret = schemes[i].family == AF_UNIX ? open_unix(link, uri + len, err)
                                           : open_tcp(link, uri + len, schemes[i].family, err);
        break;
    }
    if (ret != 0)
        return ret;
    fcntl(link->fd, F_SETFL, fcntl(link->fd, F_GETFL) | O_NONBLOCK);
    link->kind = LINK_STREAM;
    link->mtu = sizeof link->out;
    return 0;
}

/** @return octets that the kernel took, maybe 0; a negative errno when the stream is broken */
static ssize_t send_some(struct link *link, const uint8_t *p, size_t len)
{
    size_t sent = 0;
    while (sent < len) {
        ssize_t n = send(link->fd, p + sent, len - sent, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
            break;
        if (n < 0)
            return -errno;
        sent += (size_t)n;
    }
    return (ssize_t)sent;
}

/* Give the kernel what was kept. */
static void link_stream_flush(struct link *link)
{
    if (link->queue_len == 0)
        return;
    ssize_t n = send_some(link, link->queue + link->queue_off, link->queue_len);
    // What cannot be sent any more is forgotten: reading tells that the stream is broken.
    size_t done = n < 0 ? link->queue_len : (size_t)n;
    link->queue_off += done;
    link->queue_len -= done;
    if (link->queue_len == 0)
        link->queue_off = 0;
}

static int keep(struct link *link, const uint8_t *p, size_t len)
{
    if (link->queue_off > 0 && link->queue_off + link->queue_len + len > link->queue_size) {
        memmove(link->queue, link->queue + link->queue_off, link->queue_len);
        link->queue_off = 0;
    }
    if (link->queue_off + link->queue_len + len > link->queue_size) {
        size_t size = 2 * (link->queue_size + len);
        uint8_t *queue = realloc(link->queue, size);
        if (queue == NULL)
            return -ENOMEM;
        link->queue = queue;
        link->queue_size = size;
    }
    memcpy(link->queue + link->queue_off + link->queue_len, p, len);
    link->queue_len += len;
    return 0;
}

int link_stream_send(struct link *link, const uint8_t *frame, size_t len)
{
    link_stream_flush(link);
    ssize_t n = 0;
    if (link->queue_len == 0)
        n = send_some(link, frame, len);
    // A frame that the kernel took a part of must be kept, or the stream falls apart.
    if (n < 0 || (n == 0 && link->queue_len + len > STREAM_QUEUE_MAX) ||
        ((size_t)n < len && keep(link, frame + n, len - (size_t)n) != 0)) {
        link->counters.send_errors++;
        return -EIO;
    }
    link->counters.frames_sent++;
    return 0;
}

/** Octets of the TLV at the front; 0 when more octets must come to tell. @return false when no packet is so large */
static bool front_size(const struct link *link, size_t *size)
{
    struct cursor c = cursor_make(link->in + link->in_off, link->in_len);
    uint32_t type;
    size_t len;
    *size = 0;
    enum verdict verdict = cursor_tlv_type(&c, true, &type);
    if (verdict == VERDICT_OK)
        verdict = cursor_tlv_length(&c, false, &len);
    if (verdict == VERDICT_TLV_TRUNC)
        return true;
    if (verdict != VERDICT_OK || len > NDN_PACKET_MAX)
        return false;
    *size = link->in_len - cursor_left(&c) + len;
    return true;
}

int link_stream_receive(struct link *link, const uint8_t **frame, size_t *len)
{
    link_stream_flush(link);
    for (;;) {
        size_t size;
        if (!front_size(link, &size))
            return -EPROTO;
        if (size > 0 && size <= link->in_len) {
            *frame = link->in + link->in_off;
            *len = size;
            link->in_off += size;
            link->in_len -= size;
            return 1;
        }
        if (link->in_off > 0) {
            memmove(link->in, link->in + link->in_off, link->in_len);
            link->in_off = 0;
        }
        ssize_t n = recv(link->fd, link->in + link->in_len, sizeof link->in - link->in_len, 0);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return errno == EWOULDBLOCK ? -EAGAIN : -errno;
        if (n == 0)
            return -ECONNRESET;
        link->in_len += (size_t)n;
    }
}
