// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <getopt.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "fwd/daemon/daemon.h"
#include "fwd/daemon/log.h"

#define CONF_DEFAULT "/etc/pitlane/pitlane.conf"
/* Longest time between two rounds of the control thread's housekeeping. */
#define ROUND_MS 200

static const char usage[] = "usage: pitlaned [-c FILE] [-t [-v]] [-m] [-V] [-h]\n"
                            "  -c FILE  configuration (" CONF_DEFAULT ")\n"
                            "  -t       check the configuration and exit: 0 good, 1 with faults\n"
                            "  -v       with -t: print the effective configuration\n"
                            "  -m       print the manual of the configuration\n"
                            "  -V       print the version\n"
                            "  -h       this\n";

/* Signals come through a descriptor: nothing is interrupted, nothing runs in a handler. */
static int signal_fd(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGHUP);
    sigprocmask(SIG_BLOCK, &set, NULL);
    signal(SIGPIPE, SIG_IGN);
    return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

/* True when the daemon shall end. Any number of SIGHUPs at once are one reload. */
static bool signalled(int fd, struct daemon *daemon, const char *path)
{
    struct signalfd_siginfo info;
    bool end = false, reload = false;
    while (read(fd, &info, sizeof info) == (ssize_t)sizeof info) {
        if (info.ssi_signo == SIGHUP)
            reload = true;
        else
            end = true;
    }
    if (reload && !end)
        daemon_reload(daemon, path);
    return end;
}

static void run(struct daemon *daemon, int sigfd, const char *path)
{
    struct pollfd fds[2 + MANAGE_FDS] = {{.fd = sigfd}, {.fd = monitor_fd(daemon->monitor)}};
    int manage[MANAGE_FDS];
    nfds_t n_fds = 2 + manage_fds(daemon, manage);
    for (nfds_t i = 2; i < n_fds; i++)
        fds[i].fd = manage[i - 2];
    for (nfds_t i = 0; i < n_fds; i++)
        fds[i].events = POLLIN;
    uint64_t follow_ns = 0;
    for (;;) {
        int n = poll(fds, n_fds, manage_wait(daemon, ROUND_MS));
        if (n < 0 && errno != EINTR)
            break;
        if (n > 0 && fds[0].revents != 0 && signalled(sigfd, daemon, path))
            break;
        manage_round(daemon);
        if ((n > 0 && fds[1].revents != 0) || worker_now_ns() >= follow_ns) {
            daemon_follow(daemon);
            follow_ns = worker_now_ns() + (uint64_t)ROUND_MS * 1000000;
        }
    }
}

static int load(const char *path, bool check, bool verbose, struct conf **conf)
{
    int rc = conf_load(path, conf, stderr);
    if (rc != 0)
        return 1;
    if (daemon_check(*conf, stderr) != 0) {
        conf_free(*conf);
        return 1;
    }
    if (verbose)
        conf_print_effective(*conf, stdout);
    if (check && !verbose)
        printf("%s: good\n", path);
    return 0;
}

int main(int argc, char **argv)
{
    const char *path = CONF_DEFAULT;
    bool check = false, verbose = false;
    int option;
    while ((option = getopt(argc, argv, "c:tvmVh")) != -1) {
        switch (option) {
        case 'c':
            path = optarg;
            break;
        case 't':
            check = true;
            break;
        case 'v':
            verbose = true;
            break;
        case 'm':
            conf_print_manual(stdout);
            return 0;
        case 'V':
            printf("pitlaned %s\n", PITLANE_VERSION);
            return 0;
        case 'h':
            fputs(usage, stdout);
            return 0;
        default:
            fputs(usage, stderr);
            return 2;
        }
    }
    if (optind != argc) {
        fputs(usage, stderr);
        return 2;
    }
    struct conf *conf;
    if (load(path, check, verbose, &conf) != 0)
        return 1;
    if (check) {
        conf_free(conf);
        return 0;
    }
    int rc = log_open(conf->daemon.log_file, conf->daemon.log_level);
    if (rc != 0) {
        struct conf_at at = conf_key_at(conf, &conf->daemon, "log-file");
        fprintf(stderr, "%s:%u: cannot open %s: %s\n", at.file, at.line, conf->daemon.log_file, strerror(-rc));
        conf_free(conf);
        return 1;
    }
    // Before any thread is made, so that all of them leave the signals to this one.
    int sigfd = signal_fd();
    struct daemon *daemon = daemon_start(conf);
    if (daemon == NULL)
        return 1;
    log_info("ready: %u workers, %u ports, %u faces\n", daemon->n_workers, daemon->n_ports,
             daemon->shared.faces->n_faces);
    notify("READY=1");
    run(daemon, sigfd, path);
    notify("STOPPING=1");
    log_info("stopping\n");
    daemon_stop(daemon);
    close(sigfd);
    return 0;
}
