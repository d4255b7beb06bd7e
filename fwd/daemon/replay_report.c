// SPDX-License-Identifier: Apache-2.0
/* What a replay came to. */
#include "fwd/daemon/replay_impl.h"

#include <rte_ether.h>

#include <errno.h>
#include <inttypes.h>

#include "fwd/daemon/daemon.h"
#include "fwd/quic/quic.h"

static const struct {
    const char *name, *text;
    size_t offset;
} counters[] = {
#define COUNTER(field, name, text) {name, text, offsetof(struct replay_counters, field)},
    REPLAY_COUNTERS(COUNTER)
#undef COUNTER
};

static uint64_t value(const void *base, size_t offset)
{
    return *(const uint64_t *)(const void *)((const char *)base + offset);
}

static void json_string(FILE *out, const char *text)
{
    putc('"', out);
    for (; *text != '\0'; text++) {
        unsigned char c = (unsigned char)*text;
        if (c == '"' || c == '\\')
            fprintf(out, "\\%c", c);
        else if (c < 0x20)
            fprintf(out, "\\u%04x", c);
        else
            putc(c, out);
    }
    putc('"', out);
}

static void json_ports(const struct daemon *daemon, FILE *out)
{
    const struct replay_counters *sums = &daemon->replay->counters;
    fprintf(out, "  \"ports\": [");
    for (uint16_t p = 0; p < daemon->n_ports; p++) {
        char mac[RTE_ETHER_ADDR_FMT_SIZE];
        const struct port *port = &daemon->port[p];
        rte_ether_format_addr(mac, sizeof mac, (const struct rte_ether_addr *)(const void *)port->mac);
        fprintf(out, "%s\n    {\"name\": ", p > 0 ? "," : "");
        json_string(out, port->config.name);
        fprintf(out, ", \"mac\": \"%s\", \"received\": %" PRIu64 ", \"sent\": %" PRIu64 "}", mac, sums->in[p],
                sums->out[p]);
    }
    fprintf(out, "\n  ],\n");
}

static void json_faces(const struct daemon *daemon, FILE *out)
{
    const struct fwd *fwd = daemon->replay->fwd;
    const char *comma = "";
    fprintf(out, "  \"faces\": [");
    for (uint32_t slot = 0; slot < FACE_SLOTS; slot++) {
        const struct face *face = atomic_load_explicit(&daemon->shared.faces->slot[slot], memory_order_relaxed);
        if (face == NULL)
            continue;
        const struct stats_face *stats = &fwd->face_stats[slot];
        fprintf(out, "%s\n    {\"id\": %" PRIu32 ", \"name\": ", comma, face->id);
        json_string(out, face->name);
        fprintf(out, ", \"remote\": ");
        json_string(out, face->remote_uri);
        for (const struct stats_desc *desc = stats_face_desc; desc->name != NULL; desc++)
            fprintf(out, ", \"%s\": %" PRIu64, desc->name, stats->face == face->id ? value(stats, desc->offset) : 0);
        fprintf(out, "}");
        comma = ",";
    }
    fprintf(out, "\n  ],\n");
}

static void json_quic(const struct daemon *daemon, FILE *out)
{
    const struct quic_set *set = atomic_load_explicit(&daemon->shared.quic, memory_order_relaxed);
    const struct fwd *fwd = daemon->replay->fwd;
    const char *comma = "";
    fprintf(out, "  \"quic_servers\": [");
    for (unsigned i = 0; set != NULL && fwd->quic != NULL && i < set->n_services; i++) {
        const struct quic_service *service = &set->service[i];
        for (unsigned k = 0; k < service->n_servers; k++) {
            const struct quic_server *server = &service->server[k];
            const struct quic_stats_server *stats = &fwd->quic->stats.server[service->slot][server->slot];
            fprintf(out, "%s\n    {\"service\": ", comma);
            json_string(out, service->name);
            fprintf(out, ", \"name\": ");
            json_string(out, server->name);
            fprintf(out, ", \"packets\": %" PRIu64 ", \"bytes\": %" PRIu64 ", \"initials\": %" PRIu64 "}",
                    stats->packets, stats->bytes, stats->initials);
            comma = ",";
        }
    }
    fprintf(out, "\n  ],\n");
}

int replay_report_json(const struct daemon *daemon, FILE *out)
{
    const struct replay *replay = daemon->replay;
    const struct stats_worker *stats = &replay->fwd->stats;
    struct cs_info cs;
    cs_info(replay->fwd->cs, &cs);
    fprintf(out, "{\n  \"capture\": {\"duration_ns\": %" PRIu64, replay->last_ns - replay->first_ns);
    for (unsigned i = 0; i < RTE_DIM(counters); i++)
        fprintf(out, ", \"%s\": %" PRIu64, counters[i].name, value(&replay->counters, counters[i].offset));
    fprintf(out, "},\n");
    json_ports(daemon, out);
    json_faces(daemon, out);
    json_quic(daemon, out);
    fprintf(out, "  \"tables\": {\"pit\": %" PRIu32 ", \"cs\": %" PRIu32 ", \"cs_hits\": %" PRIu64 "},\n",
            pit_count(replay->fwd->pit), (uint32_t)cs.n_entries, (uint64_t)cs.n_hits);
    fprintf(out, "  \"worker\": {\"duration_ns\": %" PRIu64, replay->now_ns - REPLAY_START_NS);
    for (const struct stats_desc *desc = stats_worker_desc; desc->name != NULL; desc++)
        fprintf(out, ", \"%s\": %" PRIu64, desc->name, value(stats, desc->offset));
    fprintf(out, ", \"error\": %" PRId64 "},\n  \"drops\": {", stats_unaccounted(stats));
    for (unsigned i = 1; i < DROP_COUNT; i++)
        fprintf(out, "%s\"%s\": %" PRIu64, i > 1 ? ", " : "", drop_info[i].name, stats->drops[i]);
    fprintf(out, "}\n}\n");
    return ferror(out) ? -EIO : 0;
}

int replay_report_text(const struct daemon *daemon, FILE *out)
{
    const struct replay *replay = daemon->replay;
    const struct stats_worker *stats = &replay->fwd->stats;
    uint64_t duration_ns = replay->last_ns - replay->first_ns;
    fprintf(out, "%s: %" PRIu64 ".%09" PRIu64 " s\n", replay->options->in, duration_ns / 1000000000,
            duration_ns % 1000000000);
    for (unsigned i = 0; i < RTE_DIM(counters); i++) {
        uint64_t count = value(&replay->counters, counters[i].offset);
        if (count > 0)
            fprintf(out, "%12" PRIu64 "  %s\n", count, counters[i].text);
    }
    for (uint16_t p = 0; p < daemon->n_ports; p++)
        fprintf(out, "port %s: %" PRIu64 " frames received, %" PRIu64 " sent\n", daemon->port[p].config.name,
                replay->counters.in[p], replay->counters.out[p]);
    for (const struct stats_desc *desc = stats_worker_desc; desc->name != NULL; desc++)
        if (value(stats, desc->offset) > 0)
            fprintf(out, "%12" PRIu64 "  %s\n", value(stats, desc->offset), desc->text);
    for (unsigned i = 1; i < DROP_COUNT; i++)
        if (stats->drops[i] > 0)
            fprintf(out, "%12" PRIu64 "  %s %s: %s\n", stats->drops[i],
                    drop_is_consumed((enum drop)i) ? "consumed," : "dropped,", drop_info[i].name, drop_info[i].text);
    return ferror(out) ? -EIO : 0;
}
