// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <grp.h>
#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cap-ng.h>

#include <rte_eal.h>

#include "fwd/daemon/daemon.h"
#include "fwd/daemon/log.h"

/* EAL has made a folder with a socket, which the account shall be able to remove at the end. */
static int give_runtime_dir(const struct passwd *account)
{
    char path[PATH_MAX], socket[PATH_MAX + 32];
    snprintf(path, sizeof path, "%s", rte_eal_get_runtime_dir());
    snprintf(socket, sizeof socket, "%s/dpdk_telemetry.v2", path);
    if ((lchown(socket, account->pw_uid, account->pw_gid) != 0 && errno != ENOENT) ||
        lchown(path, account->pw_uid, account->pw_gid) != 0)
        return -1;
    // The folder above is that of all prefixes: it is passed through, no more.
    *strrchr(path, '/') = '\0';
    return chmod(path, 0711);
}

/*
 * setuid(2) of glibc changes every thread, and with it each loses its capabilities. The control thread alone keeps
 * what opening a netdev that comes back and detaching an XDP program take; it parses no packet.
 */
int daemon_drop_privileges(const struct conf *conf)
{
    if (conf->daemon.user == NULL)
        return 0;
    struct conf_at at = conf_key_at(conf, &conf->daemon, "user");
    errno = 0;
    const struct passwd *account = getpwnam(conf->daemon.user);
    if (account == NULL) {
        log_error("%s:%u: no such account: %s\n", at.file, at.line, conf->daemon.user);
        return -1;
    }
    if (give_runtime_dir(account) != 0) {
        log_error("%s:%u: cannot give %s to %s: %s\n", at.file, at.line, rte_eal_get_runtime_dir(), conf->daemon.user,
                  strerror(errno));
        return -1;
    }
    if (prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0) != 0 || initgroups(account->pw_name, account->pw_gid) != 0 ||
        setresgid(account->pw_gid, account->pw_gid, account->pw_gid) != 0 ||
        setresuid(account->pw_uid, account->pw_uid, account->pw_uid) != 0) {
        log_error("%s:%u: cannot become %s: %s\n", at.file, at.line, conf->daemon.user, strerror(errno));
        return -1;
    }
    capng_clear(CAPNG_SELECT_BOTH);
    capng_updatev(CAPNG_ADD, CAPNG_EFFECTIVE | CAPNG_PERMITTED, CAP_NET_ADMIN, CAP_NET_RAW, CAP_SYS_ADMIN, CAP_IPC_LOCK,
                  -1);
    if (capng_apply(CAPNG_SELECT_CAPS) != 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) {
        log_error("%s:%u: cannot limit capabilities: %s\n", at.file, at.line, strerror(errno));
        return -1;
    }
    return 0;
}
