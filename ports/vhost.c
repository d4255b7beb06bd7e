// SPDX-License-Identifier: Apache-2.0
#include "ports/vhost.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "ports/ethdev.h"

/* Value of an argument behind the device's name: @return its octets, or -1 when it is not there. */
static int argument(const char *device, const char *key, const char **value)
{
    size_t len = strlen(key);
    for (const char *p = strchr(device, ','); p != NULL; p = strchr(p, ',')) {
        p++;
        if (strncmp(p, key, len) == 0 && p[len] == '=') {
            *value = p + len + 1;
            return (int)strcspn(*value, ",");
        }
    }
    return -1;
}

/* Does anyone listen at the socket? */
static bool is_served(const struct sockaddr_un *address)
{
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return true;
    bool served = connect(fd, (const struct sockaddr *)address, sizeof *address) == 0 || errno != ECONNREFUSED;
    close(fd);
    return served;
}

int vhost_prepare(const char *device, char *err)
{
    const char *value;
    if (strncmp(device, "net_vhost", 9) != 0 && strncmp(device, "eth_vhost", 9) != 0)
        return 0;
    if (argument(device, "client", &value) == 1 && *value == '1')
        return 0;
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int len = argument(device, "iface", &value);
    if (len <= 0)
        return port_fail(err, -EINVAL, "device %.60s needs iface=PATH of its socket", device);
    if ((size_t)len >= sizeof address.sun_path)
        return port_fail(err, -ENAMETOOLONG, "a socket's path has at most %zu octets: %.80s",
                         sizeof address.sun_path - 1, value);
    memcpy(address.sun_path, value, (size_t)len);
    struct stat info;
    if (lstat(address.sun_path, &info) != 0) {
        char folder[sizeof address.sun_path] = ".";
        const char *slash = strrchr(address.sun_path, '/');
        if (slash != NULL)
            snprintf(folder, sizeof folder, "%.*s/", (int)(slash - address.sun_path), address.sun_path);
        return access(folder, W_OK) == 0 ? 0 : port_fail(err, -errno, "folder %.80s: %s", folder, strerror(errno));
    }
    if (!S_ISSOCK(info.st_mode))
        return port_fail(err, -EEXIST, "%.80s is there, and is no socket", address.sun_path);
    if (is_served(&address))
        return port_fail(err, -EADDRINUSE, "socket %.80s belongs to a program that runs", address.sun_path);
    if (unlink(address.sun_path) != 0)
        return port_fail(err, -errno, "cannot remove the old socket %.80s: %s", address.sun_path, strerror(errno));
    return 0;
}
