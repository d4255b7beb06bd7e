// SPDX-License-Identifier: Apache-2.0
#include "ports/sock/private.h"

#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define AT_PATH "unix socket %s: "

static int fill_address(const struct sock *sock, struct sockaddr_un *address, char err[200])
{
    *address = (struct sockaddr_un){.sun_family = AF_UNIX};
    size_t len = strlen(sock->config.unix_path);
    if (len == 0 || len >= sizeof address->sun_path) {
        return sock_fail(err, -EINVAL, AT_PATH "a path has 1 to %zu octets", sock->config.unix_path,
                         sizeof address->sun_path - 1);
    }
    memcpy(address->sun_path, sock->config.unix_path, len + 1);
    return 0;
}

/* Folders on the way to the socket that are not there yet. */
static int make_folders(struct sock *sock, const struct passwd *account, char err[200])
{
    char path[sizeof((struct sockaddr_un *)0)->sun_path];
    snprintf(path, sizeof path, "%s", sock->config.unix_path);
    for (char *slash = strchr(path + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        bool made = mkdir(path, 0755) == 0;
        /* Whatever the umask says: applications of other accounts pass through it. */
        if (made ? chmod(path, 0755) != 0 : errno != EEXIST) {
            return sock_fail(err, -errno, AT_PATH "cannot make the folder %s: %s", sock->config.unix_path, path,
                             strerror(errno));
        }
        sock->unix_folders += made;
        /* The account that the daemon becomes removes the socket in the end. */
        if (made && account != NULL && chown(path, account->pw_uid, account->pw_gid) != 0) {
            return sock_fail(err, -errno, AT_PATH "cannot give the folder %s to %s: %s", sock->config.unix_path, path,
                             sock->config.account, strerror(errno));
        }
        *slash = '/';
    }
    return 0;
}

/* Those that were made for the socket, if nobody else has put something there and we still may. */
static void remove_folders(struct sock *sock)
{
    char path[sizeof((struct sockaddr_un *)0)->sun_path];
    snprintf(path, sizeof path, "%s", sock->config.unix_path);
    for (; sock->unix_folders > 0; sock->unix_folders--) {
        *strrchr(path, '/') = '\0';
        if (rmdir(path) != 0) {
            return;
        }
    }
}

/* A socket that a process left behind is in the way; one that somebody listens on is not ours to take. */
static int remove_stale(const struct sock *sock, const struct sockaddr_un *address, char err[200])
{
    const char *path = sock->config.unix_path;
    struct stat st;
    if (lstat(path, &st) != 0) {
        return errno == ENOENT ? 0 : sock_fail(err, -errno, AT_PATH "%s", path, strerror(errno));
    }
    if (!S_ISSOCK(st.st_mode)) {
        return sock_fail(err, -EEXIST, AT_PATH "there is something that is no socket", path);
    }
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) {
        return sock_fail(err, -errno, AT_PATH "%s", path, strerror(errno));
    }
    int rc = connect(fd, (const struct sockaddr *)address, sizeof *address) == 0 ? 0 : errno;
    close(fd);
    if (rc != ECONNREFUSED) {
        return sock_fail(err, -EADDRINUSE, AT_PATH "another process listens on it", path);
    }
    if (unlink(path) != 0) {
        return sock_fail(err, -errno, AT_PATH "cannot remove what a process left there: %s", path, strerror(errno));
    }
    return 0;
}

/* Nobody can connect before listen(2), so that mode and owners are set in time. */
static int set_access(const struct sock *sock, const struct passwd *account, char err[200])
{
    const char *path = sock->config.unix_path;
    gid_t gid = (gid_t)-1;
    if (sock->config.unix_group != NULL) {
        const struct group *group = getgrnam(sock->config.unix_group);
        if (group == NULL) {
            return sock_fail(err, -ENOENT, AT_PATH "no such group: %s", path, sock->config.unix_group);
        }
        gid = group->gr_gid;
    }
    if (chown(path, account != NULL ? account->pw_uid : (uid_t)-1, gid) != 0 ||
        chmod(path, sock->config.unix_mode & 0777) != 0) {
        return sock_fail(err, -errno, AT_PATH "cannot set mode and group: %s", path, strerror(errno));
    }
    return 0;
}

static int find_users(struct sock *sock, char err[200])
{
    const char *const *users = sock->config.unix_users;
    unsigned n = 0;
    if (users == NULL) {
        return 0;
    }
    while (users[n] != NULL) {
        n++;
    }
    sock->unix_uids = calloc(n + 1, sizeof *sock->unix_uids);
    if (sock->unix_uids == NULL) {
        return sock_fail(err, -ENOMEM, "out of memory");
    }
    for (; sock->n_unix_uids < n; sock->n_unix_uids++) {
        const struct passwd *user = getpwnam(users[sock->n_unix_uids]);
        if (user == NULL) {
            return sock_fail(err, -ENOENT, AT_PATH "no such account: %s", sock->config.unix_path,
                             users[sock->n_unix_uids]);
        }
        sock->unix_uids[sock->n_unix_uids] = user->pw_uid;
    }
    return 0;
}

int unix_listen(struct sock *sock, char err[200])
{
    struct sockaddr_un address;
    struct passwd account, *found = NULL;
    char text[1024], uri[FACE_URI_MAX];
    int rc = find_users(sock, err);
    if (rc == 0) {
        rc = fill_address(sock, &address, err);
    }
    if (rc != 0) {
        return rc;
    }
    if (sock->config.account != NULL) {
        getpwnam_r(sock->config.account, &account, text, sizeof text, &found);
    }
    rc = make_folders(sock, found, err);
    if (rc == 0) {
        rc = remove_stale(sock, &address, err);
    }
    if (rc != 0) {
        return rc;
    }
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof address) != 0) {
        rc = sock_fail(err, -errno, AT_PATH "%s", address.sun_path, strerror(errno));
        goto close_fd;
    }
    sock->unix_bound = true;
    rc = set_access(sock, found, err);
    if (rc != 0) {
        goto close_fd;
    }
    if (listen(fd, SOCK_BACKLOG) != 0) {
        rc = sock_fail(err, -errno, AT_PATH "%s", address.sun_path, strerror(errno));
        goto close_fd;
    }
    snprintf(uri, sizeof uri, "unix://%s", address.sun_path);
    rc = server_add(sock, SOCK_UNIX, fd, uri);
    if (rc == 0) {
        return 0;
    }
close_fd:
    if (fd >= 0) {
        close(fd);
    }
    return rc;
}

void unix_unlink(struct sock *sock)
{
    if (sock->unix_bound) {
        unlink(sock->config.unix_path);
        sock->unix_bound = false;
    }
    remove_folders(sock);
    free(sock->unix_uids);
    sock->unix_uids = NULL;
}

static bool unix_allowed(const struct sock *sock, int fd, uid_t *uid)
{
    struct ucred peer;
    socklen_t len = sizeof peer;
    if (sock->config.unix_users == NULL) {
        return true;
    }
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) != 0) {
        return false;
    }
    *uid = peer.uid;
    for (unsigned i = 0; i < sock->n_unix_uids; i++) {
        if (sock->unix_uids[i] == peer.uid) {
            return true;
        }
    }
    return false;
}

void unix_accepted(struct sock_server *server, int fd)
{
    struct sock *sock = server->sock;
    char peer[64];
    uid_t uid = 0;
    if (!unix_allowed(sock, fd, &uid)) {
        snprintf(peer, sizeof peer, "peer of account %u", (unsigned)uid);
        conn_log(sock, peer, "may not connect to the Unix socket");
        sock_count(&sock->counters.refused);
        close(fd);
        return;
    }
    struct sock_conn *conn = conn_new(sock, SOCK_UNIX);
    if (conn == NULL) {
        close(fd);
        return;
    }
    conn->fd = conn->send_fd = fd;
    conn->scope = FACE_SCOPE_LOCAL;
    snprintf(conn->local_uri, sizeof conn->local_uri, "%s", server->uri);
    snprintf(conn->remote_uri, sizeof conn->remote_uri, "fd://%d", fd);
    conn_count(conn);
    conn_ask(conn, SOCK_ACCEPTED);
}
