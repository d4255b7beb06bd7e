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
#include "fwd/daemon/replay.h"

#define CONF_DEFAULT "/etc/pitlane/pitlane.conf"
/* Longest time between two rounds of the control thread's housekeeping. */
#define ROUND_MS 200

static const char usage[] =
    "usage: pitlaned [-c FILE] [-t [-v]] [-m] [-V] [-h]\n"
    "       pitlaned [-c FILE] --replay IN [--out OUT] [...]\n"
    "  -c FILE  configuration (" CONF_DEFAULT ")\n"
    "  -t       check the configuration and exit: 0 good, 1 with faults\n"
    "  -v       with -t: print the effective configuration\n"
    "  -m       print the manual of the configuration\n"
    "  -V       print the version\n"
    "  -h       this\n"
    "Replay of a capture, instead of devices and the clock:\n"
    "  --replay IN            frames to receive, pcap or pcapng\n"
    "  --out OUT              frames that were sent; pcapng when it ends in .pcapng\n"
    "  --replay-mac PORT=MAC  MAC address of a port (02:00:00:00:00:01 is the first's, and on)\n"
    "  --replay-tail MS       most time behind the last frame for what is pending (10000)\n"
    "  --replay-burst NS      frames of one port this close come in together (50000)\n"
    "  --replay-portable      without instructions that not every CPU has; OUT is the same\n"
    "  --replay-stats FILE    counters as JSON, instead of text on standard error\n"
    "A frame's port is that with the name or netdev of its interface (pcapng), or with the\n"
    "number of it when there are several; else that with its destination MAC address; for a\n"
    "group that with a face to its source, else the only one with a face to the group; else\n"
    "the only one there is. Frames from a port's own MAC address are left out. Neighbours\n"
    "without a configured MAC address have the one that the capture shows. OUT depends on\n"
    "the configuration, IN and these options only, and the port that sent a frame is its\n"
    "interface (pcapng) and its source MAC address.\n";

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

enum { OPTION_REPLAY = 256, OPTION_OUT, OPTION_MAC, OPTION_TAIL, OPTION_BURST, OPTION_STATS, OPTION_PORTABLE };

static const struct option long_options[] = {
    {"replay", required_argument, NULL, OPTION_REPLAY},      {"out", required_argument, NULL, OPTION_OUT},
    {"replay-mac", required_argument, NULL, OPTION_MAC},     {"replay-tail", required_argument, NULL, OPTION_TAIL},
    {"replay-burst", required_argument, NULL, OPTION_BURST}, {"replay-stats", required_argument, NULL, OPTION_STATS},
    {"replay-portable", no_argument, NULL, OPTION_PORTABLE}, {0},
};

/* A number of the command line. @return false: it is none, which was told */
static bool number(const char *text, const char *option, uint32_t *to)
{
    char *end;
    errno = 0;
    unsigned long value = strtoul(text, &end, 10);
    if (errno == 0 && *end == '\0' && text[0] >= '0' && text[0] <= '9' && value <= UINT32_MAX) {
        *to = (uint32_t)value;
        return true;
    }
    fprintf(stderr, "pitlaned: %s \"%s\": a number from 0 to %u is needed\n", option, text, UINT32_MAX);
    return false;
}

/* An option of a replay. @return false: it is wrong, which was told, or is none */
static bool replay_option(int option, char *text, struct replay_options *options)
{
    switch (option) {
    case OPTION_REPLAY:
        options->in = text;
        return true;
    case OPTION_OUT:
        options->out = text;
        return true;
    case OPTION_STATS:
        options->stats = text;
        return true;
    case OPTION_PORTABLE:
        options->portable = true;
        return true;
    case OPTION_TAIL:
        return number(text, "--replay-tail", &options->tail_ms);
    case OPTION_BURST:
        return number(text, "--replay-burst", &options->burst_ns);
    case OPTION_MAC:
        if (replay_option_mac(options, text) == 0)
            return true;
        fprintf(stderr, "pitlaned: --replay-mac: as in \"lan=02:00:00:00:00:01\", once for each port\n");
        return false;
    default:
        return false;
    }
}

int main(int argc, char **argv)
{
    static struct replay_options replay = {.tail_ms = REPLAY_TAIL_MS, .burst_ns = REPLAY_BURST_NS};
    const char *path = CONF_DEFAULT;
    bool check = false, verbose = false, replays = false;
    int option;
    while ((option = getopt_long(argc, argv, "c:tvmVh", long_options, NULL)) != -1) {
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
            if (replay_option(option, optarg, &replay)) {
                replays = true;
                break;
            }
            if (option < OPTION_REPLAY)
                fputs(usage, stderr);
            return 2;
        }
    }
    if (optind != argc || (replays && (replay.in == NULL || check))) {
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
    if (replays) {
        log_open(NULL, conf->daemon.log_level);
        return replay_run(conf, &replay);
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
