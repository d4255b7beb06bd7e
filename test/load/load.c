// SPDX-License-Identifier: Apache-2.0
/*
 * pitlane-load: sends Interests and answers them, on DPDK ports, through whatever forwards between them; or QUIC
 * datagrams to servers behind a balancer. README.md beside this file shows how. A run has up to three parts: the path
 * is warmed up, the rate to run at is looked for, and then it is measured.
 */
#include <rte_cycles.h>
#include <rte_eal.h>
#include <rte_lcore.h>

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "test/load/options.h"
#include "test/load/report.h"
#include "test/load/run.h"
#include "test/load/search.h"

static struct run run;

static void on_signal(int number)
{
    (void)number;
    run_stop(&run);
}

static void *progress_main(void *arg)
{
    (void)arg;
    struct report_progress last = {0};
    struct timespec start, now;
    clock_gettime(CLOCK_MONOTONIC, &start);
    now = start;
    while (true) {
        now.tv_sec++;
        if (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &now, NULL) == 0)
            report_progress(&run, &last, (double)(now.tv_sec - start.tv_sec));
    }
    return NULL;
}

static int measure(const struct options *options, char *const *arguments)
{
    static struct search search;
    struct plan plan = {.rate = options->rate,
                        .poisson = options->poisson,
                        .window = options->window,
                        .seconds = options->duration_s,
                        .count = options->count};
    if (options->warm_up_s > 0 && run.tally != NULL) {
        struct plan warm_up = plan;
        warm_up.seconds = options->warm_up_s;
        warm_up.count = 0;
        // The rate of a search is its end, and may be far too much.
        if (options->search)
            warm_up.rate = 0;
        run_stretch(&run, &warm_up);
    }
    if (options->saturate > 0) {
        search_saturate(&run, &search);
        plan.rate = search.rate = search.saturated * options->saturate;
    } else if (options->search) {
        search_throughput(&run, &search);
        plan.rate = search.rate;
    }
    if ((options->search || options->saturate > 0) && plan.rate <= 0)
        fputs("pitlane-load: no rate was found\n", stderr);
    else
        run_stretch(&run, &plan);
    return report_write(&run, &plan, &search, arguments);
}

int main(int argc, char **argv)
{
    static struct options options;
    // Help needs no EAL.
    bool only_help = argc == 2 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0);
    char *help[] = {argv[0], (char[]){"--help"}, NULL};
    if (only_help)
        return options_parse(2, help, &options) == 1 ? 0 : 2;
    char *const *arguments = argv + 1;
    char **copy = calloc((size_t)argc + 1, sizeof *copy);
    if (copy == NULL)
        return 1;
    for (int i = 1; i < argc; i++)
        copy[i - 1] = argv[i];
    arguments = copy;
    errno = 0; // net_af_xdp 22.11 mistakes an old one for its own
    int used = rte_eal_init(argc, argv);
    if (used < 0) {
        fprintf(stderr, "pitlane-load: EAL does not start\n");
        return 2;
    }
    argv[used] = argv[0];
    int rc = options_parse(argc - used, argv + used, &options);
    if (rc != 0) {
        rte_eal_cleanup();
        return rc == 1 ? 0 : 2;
    }
    struct sigaction action = {.sa_handler = on_signal};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    if (run_create(&run, &options) != 0) {
        rte_eal_cleanup();
        return 1;
    }
    pthread_t progress;
    bool has_progress = !options.quiet && rte_ctrl_thread_create(&progress, "progress", NULL, progress_main, NULL) == 0;
    rc = measure(&options, arguments);
    if (has_progress) {
        pthread_cancel(progress);
        pthread_join(progress, NULL);
    }
    run_destroy(&run);
    rte_eal_cleanup();
    free(copy);
    return rc == 0 ? 0 : 1;
}
