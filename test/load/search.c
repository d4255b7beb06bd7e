// SPDX-License-Identifier: Apache-2.0
#include "test/load/search.h"

#define KEPT 0.99 /* of a rate that was sent: good enough */

double search_loss(const struct tally *tally)
{
    uint64_t due = tally->sent + tally->unsent, answered = tally->received + tally->aggregated;
    return due > 0 ? (double)(due - answered) / (double)due : 0;
}

double search_per_second(const struct run *run, uint64_t packets)
{
    uint64_t ticks = run->tally->end - run->tally->begin;
    return ticks > 0 ? (double)packets * run->hz / (double)ticks : 0;
}

static struct search_trial *try(struct run *run, struct search *search, double rate)
{
    struct plan plan = {.rate = rate,
                        .poisson = run->options->poisson,
                        .window = run->options->window,
                        .seconds = run->options->trial_s};
    run_stretch(run, &plan);
    struct search_trial *trial = &search->trial[search->n_trials++];
    *trial = (struct search_trial){.rate = rate,
                                   .sent = search_per_second(run, run->tally->sent),
                                   .received = search_per_second(run, run->tally->received + run->tally->aggregated),
                                   .loss = search_loss(run->tally),
                                   .p99_us = (double)histogram_percentile(&run->tally->latency, 99) * 1e6 / run->hz};
    bool lossy = run->options->max_loss >= 0 && trial->loss > run->options->max_loss;
    trial->good = !lossy && (rate <= 0 || trial->sent >= KEPT * rate);
    return trial;
}

void search_saturate(struct run *run, struct search *search)
{
    search->saturated = try(run, search, 0)->received;
}

void search_throughput(struct run *run, struct search *search)
{
    double low = 0, high = run->options->rate;
    if (high <= 0) {
        // A closed loop has fewer packets on the way than an open one at the same rate may have.
        search_saturate(run, search);
        high = 1.2 * search->saturated;
    }
    // The upper end comes first: it may be no limit.
    if (high > 0 && try(run, search, high)->good)
        low = search->rate = high;
    while (high - low > run->options->resolution * high && search->n_trials < SEARCH_TRIALS_MAX && !run_stopped(run)) {
        double rate = (low + high) / 2;
        if (try(run, search, rate)->good)
            low = search->rate = rate;
        else
            high = rate;
    }
}
