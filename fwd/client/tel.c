// SPDX-License-Identifier: Apache-2.0
#include "fwd/client/tel.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

/** Larger than any answer of the telemetry library (16 kB), so that a longer one of a later version fits. */
#define TEL_ANSWER_MAX (1u << 20)
#define TEL_TIMEOUT_S  10

struct tel {
    int fd;
    char path[108];
    char answer[TEL_ANSWER_MAX];
};

static int complain(char err[TEL_ERR], int code, const char *format, ...) __attribute__((format(printf, 3, 4)));
static int complain(char err[TEL_ERR], int code, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(err, TEL_ERR, format, args);
    va_end(args);
    return code;
}

int tel_path(char *path, size_t size, const char *socket_path, const char *runtime_dir, const char *prefix)
{
    int n;
    if (socket_path == NULL && runtime_dir == NULL && prefix == NULL)
        socket_path = getenv("PITLANE_SOCKET");
    if (socket_path != NULL) {
        n = snprintf(path, size, "%s", socket_path);
    } else {
        if (runtime_dir == NULL)
            runtime_dir = "/run/pitlane";
        n = snprintf(path, size, "%s/dpdk/%s/dpdk_telemetry.v2", runtime_dir, prefix != NULL ? prefix : "pitlane");
    }
    return n < 0 || (size_t)n >= size ? -ENAMETOOLONG : 0;
}

/** One answer into tel->answer, terminated. @return its length, or a negative errno */
static ssize_t receive(struct tel *tel, char err[TEL_ERR])
{
    ssize_t n;
    do {
        n = recv(tel->fd, tel->answer, sizeof tel->answer - 1, 0);
    } while (n < 0 && errno == EINTR);
    if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
        return complain(err, -ETIMEDOUT, "%s: no answer in %d s", tel->path, TEL_TIMEOUT_S);
    if (n < 0)
        return complain(err, -errno, "%s: no answer: %s", tel->path, strerror(errno));
    if (n == 0)
        return complain(err, -ECONNRESET, "%s: the daemon closed the connection", tel->path);
    tel->answer[n] = '\0';
    return n;
}

int tel_open(struct tel **out, const char *path, char err[TEL_ERR])
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof address.sun_path)
        return complain(err, -ENAMETOOLONG, "%s: longer than a socket's path may be", path);
    strcpy(address.sun_path, path);
    struct tel *tel = malloc(sizeof *tel);
    if (tel == NULL)
        return complain(err, -ENOMEM, "out of memory");
    snprintf(tel->path, sizeof tel->path, "%s", path);
    int ret;
    tel->fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (tel->fd < 0) {
        ret = complain(err, -errno, "socket: %s", strerror(errno));
        goto free_tel;
    }
    const struct timeval timeout = {.tv_sec = TEL_TIMEOUT_S};
    setsockopt(tel->fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout);
    setsockopt(tel->fd, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof timeout);
    if (connect(tel->fd, (const struct sockaddr *)&address, sizeof address) != 0) {
        ret = complain(err, -errno, "%s: %s%s", path, strerror(errno),
                       errno == ENOENT || errno == ECONNREFUSED ? " (is pitlaned running?)" : "");
        goto close_fd;
    }
    // The daemon speaks first: version and limits.
    ret = (int)receive(tel, err);
    if (ret < 0)
        goto close_fd;
    *out = tel;
    return 0;
close_fd:
    close(tel->fd);
free_tel:
    free(tel);
    return ret;
}

void tel_close(struct tel *tel)
{
    if (tel == NULL)
        return;
    close(tel->fd);
    free(tel);
}

json_t *tel_query(struct tel *tel, const char *command, const char *params, char err[TEL_ERR])
{
    char request[512];
    int n =
        snprintf(request, sizeof request, "%s%s%s", command, params != NULL ? "," : "", params != NULL ? params : "");
    if (n < 0 || (size_t)n >= sizeof request) {
        complain(err, 0, "request too long");
        return NULL;
    }
    if (send(tel->fd, request, (size_t)n, MSG_NOSIGNAL) != n) {
        complain(err, 0, "%s: cannot ask: %s", tel->path, strerror(errno));
        return NULL;
    }
    ssize_t len = receive(tel, err);
    if (len < 0)
        return NULL;
    json_error_t fault;
    json_t *root = json_loadb(tel->answer, (size_t)len, 0, &fault);
    if (root == NULL) {
        complain(err, 0, "%s: answer to %s is not JSON: %s", tel->path, command, fault.text);
        return NULL;
    }
    json_t *value = json_object_get(root, command);
    if (value == NULL || json_is_null(value)) {
        complain(err, 0, "the daemon does not know %s", command);
        json_decref(root);
        return NULL;
    }
    json_incref(value);
    json_decref(root);
    return value;
}

/** Long strings come as arrays of pieces: the telemetry library cuts a string at 127 octets. */
static void join_pieces(json_t *row)
{
    const char *key;
    json_t *value;
    void *next;
    json_object_foreach_safe(row, next, key, value)
    {
        if (!json_is_string(json_array_get(value, 0)))
            continue;
        size_t i, len = 0;
        json_t *piece;
        json_array_foreach(value, i, piece) len += json_string_length(piece);
        char *joined = malloc(len + 1);
        if (joined == NULL)
            continue;
        char *p = joined;
        json_array_foreach(value, i, piece)
        {
            memcpy(p, json_is_string(piece) ? json_string_value(piece) : "", json_string_length(piece));
            p += json_string_length(piece);
        }
        json_object_set_new(row, key, json_stringn(joined, len));
        free(joined);
    }
}

json_t *tel_query_rows(struct tel *tel, const char *command, char err[TEL_ERR])
{
    json_t *all = json_array();
    json_int_t start = 0;
    for (bool more = true; more;) {
        char params[32];
        snprintf(params, sizeof params, "%" JSON_INTEGER_FORMAT, start);
        json_t *page = tel_query(tel, command, params, err);
        if (page == NULL)
            goto free_all;
        const char *key;
        json_t *row;
        json_object_foreach(json_object_get(page, "rows"), key, row)
        {
            join_pieces(row);
            json_array_append(all, row);
        }
        json_t *next = json_object_get(page, "next");
        json_int_t at = json_is_integer(next) ? json_integer_value(next) : 0;
        more = next != NULL;
        json_decref(page);
        if (more && at <= start) {
            complain(err, 0, "pages of %s do not advance", command);
            goto free_all;
        }
        start = at;
    }
    return all;
free_all:
    json_decref(all);
    return NULL;
}
