// SPDX-License-Identifier: Apache-2.0
#include "test/load/report.h"

#include <rte_ethdev.h>
#include <rte_lcore.h>

#include <jansson.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static json_t *latency(const struct run *run, const struct histogram *histogram)
{
    static const struct {
        const char *name;
        double percent;
    } rows[] = {{"p50", 50}, {"p90", 90}, {"p99", 99}, {"p99.9", 99.9}, {"p99.99", 99.99}};
    double us = 1e6 / run->hz;
    json_t *object = json_pack("{s:I, s:f, s:f}", "count", (json_int_t)histogram->n, "min", (double)histogram->min * us,
                               "mean", histogram_mean(histogram) * us);
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++)
        json_object_set_new(object, rows[i].name,
                            json_real((double)histogram_percentile(histogram, rows[i].percent) * us));
    json_object_set_new(object, "max", json_real((double)histogram->max * us));
    return object;
}

static void set(json_t *object, const char *key, uint64_t number)
{
    json_object_set_new(object, key, json_integer((json_int_t)number));
}

/*
 * Latencies corrected for coordinated omission. The open loop measures from when a packet was due, and so has nothing
 * to correct. In the closed loop a slot of the window sends when its answer has come: its usual interval is the window
 * over the rate, and what a longer wait kept it from sending is added.
 */
static void add_latencies(const struct run *run, const struct plan *plan, json_t *object)
{
    const struct tally *tally = run->tally;
    json_object_set_new(object, "latency_uncorrected_us", latency(run, &tally->service));
    if (plan->rate > 0) {
        json_object_set_new(object, "latency_us", latency(run, &tally->latency));
        json_object_set_new(object, "correction", json_string("from the time a packet was due"));
        return;
    }
    double interval = tally->sent > 0 ? (double)(tally->end - tally->begin) * plan->window / (double)tally->sent : 0;
    struct histogram *corrected = malloc(sizeof *corrected);
    if (corrected == NULL)
        return;
    histogram_correct(&tally->latency, (uint64_t)interval, corrected);
    json_object_set_new(object, "latency_us", latency(run, corrected));
    json_object_set_new(object, "correction", json_string("by the expected interval: window / rate"));
    json_object_set_new(object, "expected_interval_us", json_real(interval * 1e6 / run->hz));
    free(corrected);
}

static void add_tally(const struct run *run, json_t *object)
{
    const struct tally *tally = run->tally;
    double seconds = (double)(tally->end - tally->begin) / run->hz;
    json_object_set_new(object, "seconds", json_real(seconds));
    set(object, "sent", tally->sent);
    set(object, "unsent", tally->unsent);
    set(object, "received", tally->received);
    set(object, "aggregated", tally->aggregated);
    set(object, "nacks", tally->nacks);
    set(object, "lost", tally->lost);
    set(object, "late", tally->late);
    set(object, "duplicates", tally->duplicates);
    set(object, "reordered", tally->reordered);
    set(object, "corrupted", tally->corrupted);
    set(object, "unexpected", tally->unexpected);
    set(object, "misrouted", tally->misrouted);
    set(object, "foreign", tally->foreign);
    set(object, "tx_full", run->tx->refused);
    json_object_set_new(object, "loss_ratio", json_real(search_loss(tally)));
    json_object_set_new(object, "rate_sent_pps", json_real(search_per_second(run, tally->sent)));
    json_object_set_new(object, "rate_received_pps",
                        json_real(search_per_second(run, tally->received + tally->aggregated)));
    json_object_set_new(object, "bits_received_ps", json_real(8 * search_per_second(run, tally->octets_received)));
    json_object_set_new(object, "behind_max_us", json_real((double)tally->behind * 1e6 / run->hz));
}

static json_t *producer(const struct producer *producer)
{
    const struct tally_producer *tally = &producer->tally;
    json_t *object = json_object();
    set(object, "interests", tally->interests);
    set(object, "tokens", tally->tokens);
    set(object, "data", tally->data);
    set(object, "frames", tally->frames);
    set(object, "dropped", tally->dropped);
    set(object, "spoilt", tally->spoilt);
    set(object, "nacks", tally->nacks);
    set(object, "oversize", tally->oversize);
    set(object, "corrupted", tally->corrupted);
    set(object, "unexpected", tally->unexpected);
    set(object, "foreign", tally->foreign);
    set(object, "tx_full", producer->tx.refused);
    return object;
}

static json_t *quic(const struct run *run)
{
    const struct options_quic *options = &run->options->quic;
    const struct quic_server *server = run->server;
    json_t *object = json_object(), *servers = json_array();
    set(object, "flows", run->flows.n);
    set(object, "initials", run->client->n_initials);
    set(object, "rebinds", run->client->rebinds);
    set(object, "short_octets", run->flows.short_len);
    set(object, "initial_octets", run->flows.initial_len);
    for (unsigned i = 0; i < options->n_servers; i++) {
        char id[2 * QUIC_LB_SERVER_ID_MAX + 1] = "", mac[18];
        const uint8_t *p = server->place[i].mac;
        for (unsigned k = 0; k < options->server[i].len; k++)
            snprintf(id + (size_t)2 * k, 3, "%02x", options->server[i].octets[k]);
        snprintf(mac, sizeof mac, "%02x:%02x:%02x:%02x:%02x:%02x", p[0], p[1], p[2], p[3], p[4], p[5]);
        json_array_append_new(servers, json_pack("{s:s, s:s, s:I}", "id", id, "mac", mac, "short_headers",
                                                 (json_int_t)server->packets[i]));
    }
    json_object_set_new(object, "servers", servers);
    return object;
}

static json_t *ports(const struct run *run)
{
    json_t *array = json_array();
    for (unsigned i = 0; i < run->n_devices; i++) {
        const struct device *device = &run->device[i];
        struct rte_eth_stats stats;
        if (rte_eth_stats_get(device->port, &stats) != 0)
            memset(&stats, 0, sizeof stats);
        json_array_append_new(array,
                              json_pack("{s:i, s:s, s:s, s:i, s:I, s:I, s:I, s:I}", "port", device->port, "device",
                                        device->name, "driver", device->driver, "mtu", device->mtu, "rx",
                                        (json_int_t)stats.ipackets, "tx", (json_int_t)stats.opackets, "rx_missed",
                                        (json_int_t)stats.imissed, "tx_errors", (json_int_t)stats.oerrors));
    }
    return array;
}

static json_t *load(const struct run *run, const struct plan *plan)
{
    json_t *object = plan->rate > 0 ? json_pack("{s:s, s:f, s:s}", "loop", "open", "rate_pps", plan->rate, "arrivals",
                                                plan->poisson ? "poisson" : "constant")
                                    : json_pack("{s:s, s:i}", "loop", "closed", "window", (int)plan->window);
    if (run->consumer != NULL) {
        const struct shape *shape = &run->consumer->shape;
        set(object, "first", shape->names.first);
        set(object, "interest_octets", shape->interest_len);
        set(object, "data_octets", shape->data_len);
    }
    set(object, "seed", run->options->seed);
    return object;
}

static json_t *searched(const struct search *search)
{
    json_t *trials = json_array();
    for (unsigned i = 0; i < search->n_trials; i++) {
        const struct search_trial *trial = &search->trial[i];
        json_array_append_new(trials,
                              json_pack("{s:f, s:f, s:f, s:f, s:f, s:b}", "rate_pps", trial->rate, "rate_sent_pps",
                                        trial->sent, "rate_received_pps", trial->received, "loss_ratio", trial->loss,
                                        "p99_us", trial->p99_us, "good", trial->good));
    }
    return json_pack("{s:f, s:f, s:o}", "saturated_pps", search->saturated, "rate_pps", search->rate, "trials", trials);
}

/* What is wrong, in words. */
static json_t *faults(const struct run *run, const struct search *search)
{
    json_t *array = json_array();
    char text[128];
    if (run->tally != NULL) {
        const struct tally *tally = run->tally;
        double loss = search_loss(tally);
        if (tally->corrupted > 0)
            json_array_append_new(array, json_string("packets came corrupted"));
        if (tally->unexpected > 0)
            json_array_append_new(array, json_string("packets came that are not of this run"));
        if (tally->misrouted > 0)
            json_array_append_new(array, json_string("packets came to another server"));
        if (tally->sent > 0 && tally->received == 0)
            json_array_append_new(array, json_string("nothing came back"));
        if (run->options->max_loss >= 0 && loss > run->options->max_loss) {
            snprintf(text, sizeof text, "loss ratio %g above %g", loss, run->options->max_loss);
            json_array_append_new(array, json_string(text));
        }
    }
    if (run->producer != NULL && run->producer->tally.corrupted + run->producer->tally.unexpected > 0)
        json_array_append_new(array, json_string("the producer got packets that are corrupted or not of this run"));
    if (run->options->search && search->rate <= 0)
        json_array_append_new(array, json_string("no rate was good"));
    return array;
}

int report_write(const struct run *run, const struct plan *plan, const struct search *search, char *const *arguments)
{
    json_t *object =
        json_pack("{s:s, s:s, s:i}", "tool", "pitlane-load", "mode", run->options->mode == MODE_QUIC ? "quic" : "ndn",
                  "lcores", run->worker != RTE_MAX_LCORE ? 2 : 1);
    json_t *line = json_array();
    for (; *arguments != NULL; arguments++)
        json_array_append_new(line, json_string(*arguments));
    json_object_set_new(object, "arguments", line);
    if (run->tally != NULL) {
        json_object_set_new(object, "load", load(run, plan));
        add_tally(run, object);
        add_latencies(run, plan, object);
    }
    if (run->producer != NULL)
        json_object_set_new(object, "producer", producer(run->producer));
    if (run->client != NULL)
        json_object_set_new(object, "quic", quic(run));
    json_object_set_new(object, "ports", ports(run));
    if (search->n_trials > 0)
        json_object_set_new(object, "search", searched(search));
    json_t *wrong = faults(run, search);
    bool good = json_array_size(wrong) == 0;
    json_object_set_new(object, "stopped", json_boolean(run_stopped(run)));
    json_object_set_new(object, "ok", json_boolean(good));
    json_object_set_new(object, "faults", wrong);

    int rc = 0;
    FILE *file = run->options->json != NULL ? fopen(run->options->json, "w") : stdout;
    if (file == NULL || json_dumpf(object, file, JSON_INDENT(2) | JSON_REAL_PRECISION(9)) != 0 ||
        fputc('\n', file) == EOF || fflush(file) != 0)
        rc = -EIO;
    if (file != NULL && file != stdout)
        fclose(file);
    json_decref(object);
    if (rc != 0)
        fprintf(stderr, "pitlane-load: the report cannot be written: %s\n", strerror(errno));
    return rc != 0 ? rc : !good;
}

void report_progress(const struct run *run, struct report_progress *last, double seconds)
{
    double since = seconds - last->seconds;
    struct report_progress now = {.seconds = seconds};
    if (run->tally != NULL) {
        const struct tally *tally = run->tally;
        now.sent = tally_read(&tally->sent);
        now.received = tally_read(&tally->received) + tally_read(&tally->aggregated);
    }
    if (run->producer != NULL)
        now.data = tally_read(&run->producer->tally.data);
    // A new stretch begins at 0.
    if (now.sent < last->sent)
        last->sent = last->received = 0;
    fprintf(stderr, "%7.1f s", seconds);
    if (run->tally != NULL)
        fprintf(stderr, "  sent %.0f/s  received %.0f/s  lost %lu  nacks %lu  wrong %lu",
                (double)(now.sent - last->sent) / since, (double)(now.received - last->received) / since,
                (unsigned long)tally_read(&run->tally->lost), (unsigned long)tally_read(&run->tally->nacks),
                (unsigned long)(tally_read(&run->tally->corrupted) + tally_read(&run->tally->unexpected) +
                                tally_read(&run->tally->misrouted)));
    if (run->producer != NULL)
        fprintf(stderr, "  answered %.0f/s", (double)(now.data - last->data) / since);
    fputc('\n', stderr);
    *last = now;
}
