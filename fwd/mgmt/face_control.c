// SPDX-License-Identifier: Apache-2.0
#include "fwd/mgmt/face_control.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fwd/mgmt/face_control_priv.h"

/* Between two looks for faces that went up or down without a word. */
#define UPDOWN_NS 200000000

/* FNV-1a */
static uint32_t uri_hash(const char *uri)
{
    uint32_t hash = 2166136261u;
    for (; *uri != '\0'; uri++)
        hash = (hash ^ (uint8_t)*uri) * 16777619u;
    return (hash ^ hash >> 16) % FACE_SLOTS;
}

static const struct face *face_at(const struct face_control *control, uint32_t slot)
{
    // The control thread is the only writer.
    return atomic_load_explicit(&face_control_table(control)->slot[slot], memory_order_relaxed);
}

static bool is_down(const struct face *face)
{
    return (atomic_load_explicit(&face->down, memory_order_relaxed) & ~FACE_DOWN_NULL) != 0;
}

static void index_add(struct face_control *control, const struct face *face)
{
    uint32_t slot = face->id % FACE_SLOTS, *head = &control->bucket[uri_hash(face->remote_uri)];
    control->chain[slot] = *head;
    *head = slot + 1;
    control->known[slot] = true;
    control->told_down[slot] = is_down(face);
}

static void index_remove(struct face_control *control, const struct face *face)
{
    uint32_t slot = face->id % FACE_SLOTS, *link = &control->bucket[uri_hash(face->remote_uri)];
    if (!control->known[slot])
        return;
    while (*link != slot + 1)
        link = &control->chain[*link - 1];
    *link = control->chain[slot];
    control->known[slot] = false;
}

const struct face *face_control_find(const struct face_control *control, const char *uri, const char *local_uri)
{
    for (uint32_t at = control->bucket[uri_hash(uri)]; at != 0; at = control->chain[at - 1]) {
        const struct face *face = face_at(control, at - 1);
        if (face->link_type == FACE_LINK_P2P && strcmp(face->remote_uri, uri) == 0 &&
            (local_uri == NULL || strcmp(face->local_uri, local_uri) == 0))
            return face;
    }
    return NULL;
}

/* Faces that everything can be sent to, and that send nothing. */
static int add_null_face(struct face_control *control, uint32_t id, const char *uri)
{
    const struct fwd_shared *shared = control->config.shared;
    uint16_t port = 0;
    while (port < PORT_MAX - 1 && shared->port[port] == NULL)
        port++;
    const struct face_config config = {
        .name = id == FACE_ID_NULL ? "null" : "contentstore",
        .port = port,
        .kind = FACE_THREAD,
        .scope = FACE_SCOPE_LOCAL,
        .persistency = FACE_PERMANENT,
        .local_uri = uri,
        .remote_uri = uri,
    };
    int rc = face_add_reserved(shared->faces, &config, id);
    return rc != 0 ? rc : face_set_down(shared->faces, id, FACE_DOWN_NULL, true);
}

int face_control_create(struct face_control **out, const struct face_control_config *config)
{
    struct face_control *control = calloc(1, sizeof *control);
    if (control == NULL)
        return -ENOMEM;
    control->config = *config;
    control->next_ticket = 1;
    int rc = add_null_face(control, FACE_ID_CONTENT_STORE, "contentstore://");
    if (rc == 0)
        rc = add_null_face(control, FACE_ID_NULL, "null://");
    if (rc == 0)
        rc = face_demand_create(control);
    if (rc != 0) {
        face_control_destroy(control);
        return rc;
    }
    // Those that the configuration made.
    for (uint32_t slot = 0; slot < FACE_SLOTS; slot++)
        if (face_at(control, slot) != NULL)
            index_add(control, face_at(control, slot));
    *out = control;
    return 0;
}

void face_control_destroy(struct face_control *control)
{
    if (control == NULL)
        return;
    while (control->waiters != NULL) {
        struct face_waiter *waiter = control->waiters;
        control->waiters = waiter->next;
        waiter->made(waiter->ctx, 504, "The forwarder stops", NULL);
        free(waiter);
    }
    face_demand_destroy(control);
    free(control->gone.id);
    free(control);
}

int face_control_listen(struct face_control *control, face_listener_t listener, void *ctx)
{
    if (control->n_listeners == FACE_LISTENERS_MAX)
        return -ENOSPC;
    control->listener[control->n_listeners].listener = listener;
    control->listener[control->n_listeners++].ctx = ctx;
    return 0;
}

static void face_control_tell(struct face_control *control, enum mgmt_face_event event, const struct face *face)
{
    for (unsigned i = 0; i < control->n_listeners; i++)
        control->listener[i].listener(control->listener[i].ctx, event, face);
}

void face_control_announce(struct face_control *control, uint32_t id)
{
    const struct face *face = face_get(face_control_table(control), id);
    if (face == NULL || control->known[id % FACE_SLOTS])
        return;
    index_add(control, face);
    face_control_tell(control, MGMT_FACE_CREATED, face);
}

static void remove_from_port(struct face_control *control, const struct face *face)
{
    struct port *port = control->config.shared->port[face->port];
    if (face->kind == FACE_THREAD || port == NULL)
        return;
    face_demand_remove(control, face);
    // Without an owner the port could not be opened again after its netdev was deleted, and matches nothing.
    if (port->match_owner != NULL)
        port_face_remove(port, face);
    if (control->config.monitor != NULL)
        monitor_face_remove(control->config.monitor, face->id);
}

int face_control_remove(struct face_control *control, uint32_t id)
{
    const struct face *face = face_get(face_control_table(control), id);
    if (face == NULL)
        return -ENOENT;
    if (id < FACE_ID_FIRST)
        return -EPERM;
    face_control_tell(control, MGMT_FACE_DESTROYED, face);
    index_remove(control, face);
    remove_from_port(control, face);
    bool socket = face->kind == FACE_THREAD;
    // Workers drop what is for a face that they do not find, so the FIB may follow later.
    face_remove(face_control_table(control), id);
    if (socket && control->config.sock != NULL)
        sock_close(control->config.sock, id);
    return face_gone_add(control, id);
}

static void tell_updown(struct face_control *control, const struct face *face)
{
    uint32_t slot = face->id % FACE_SLOTS;
    bool down = is_down(face);
    if (!control->known[slot] || control->told_down[slot] == down)
        return;
    control->told_down[slot] = down;
    face_control_tell(control, down ? MGMT_FACE_DOWN : MGMT_FACE_UP, face);
}

void face_control_updown(struct face_control *control, uint32_t id, bool up)
{
    const struct face *face = face_get(face_control_table(control), id);
    if (face == NULL)
        return;
    if (face->kind == FACE_THREAD)
        face_set_down(face_control_table(control), id, FACE_DOWN_LINK, !up);
    tell_updown(control, face);
}

static uint64_t poll_updown(struct face_control *control)
{
    if (control->now_ns < control->updown_ns)
        return control->updown_ns - control->now_ns;
    control->updown_ns = control->now_ns + UPDOWN_NS;
    for (uint32_t slot = 0; slot < FACE_SLOTS; slot++)
        if (control->known[slot])
            tell_updown(control, face_at(control, slot));
    return UPDOWN_NS;
}

uint64_t face_control_poll(struct face_control *control, uint64_t now_ns)
{
    control->now_ns = now_ns;
    uint64_t next_ns = poll_updown(control);
    next_ns = RTE_MIN(next_ns, face_demand_poll(control));
    return RTE_MIN(next_ns, face_gone_poll(control));
}

void face_control_counters(const struct face_control *control, uint32_t id, struct stats_face *sum)
{
    *sum = (struct stats_face){.face = id};
    for (uint16_t w = 0; w < control->config.n_workers; w++) {
        const struct fwd *fwd = control->config.worker[w].fwd;
        const struct stats_face *stats = fwd != NULL ? &fwd->face_stats[id % FACE_SLOTS] : NULL;
        if (stats == NULL || __atomic_load_n(&stats->face, __ATOMIC_RELAXED) != id)
            continue;
#define STAT(field, name, text) sum->field += stats_read(&stats->field);
        STATS_FACE(STAT)
#undef STAT
    }
}

static int64_t expires_ms(const struct face_control *control, const struct face *face)
{
    if (face->persistency != FACE_ON_DEMAND)
        return -1;
    if (face->kind != FACE_THREAD)
        return face_demand_expires_ms(control, face->id);
    return control->config.sock != NULL ? sock_expires_ms(control->config.sock, face->id) : -1;
}

static struct mgmt_octets octets(const char *text)
{
    return (struct mgmt_octets){(const uint8_t *)text, (uint16_t)strlen(text)};
}

void face_control_status(const struct face_control *control, const struct face *face, struct mgmt_face_status *status)
{
    struct stats_face stats;
    face_control_counters(control, face->id, &stats);
    // What has no queue has no congestion; NFD's internal face has one.
    bool congestion = face->id == FACE_ID_INTERNAL || face_class_of(face) != FACE_CLASS_NULL;
    uint64_t interval_ns = face->config.congestion_interval_ns, threshold = face->config.congestion_threshold;
    int64_t expiration_ms = expires_ms(control, face);
    *status = (struct mgmt_face_status){
        .face_id = face->id,
        .uri = octets(face->remote_uri),
        .local_uri = octets(face->local_uri),
        .has_expiration = expiration_ms >= 0,
        .expiration_ms = expiration_ms >= 0 ? (uint64_t)expiration_ms : 0,
        .has_congestion_interval = congestion,
        .has_congestion_threshold = congestion,
        .has_mtu = true,
        .scope = face->scope,
        .persistency = face->persistency,
        .link_type = face->link_type,
        .congestion_interval_ns = interval_ns != 0 ? interval_ns : FACE_CONGESTION_INTERVAL_NS,
        .congestion_threshold = threshold != 0 ? threshold : FACE_CONGESTION_THRESHOLD,
        .mtu = RTE_MIN(face->mtu, FACE_MTU_MAX),
        .in_interests = stats.in_interests,
        .in_data = stats.in_data,
        .in_nacks = stats.in_nacks,
        .out_interests = stats.out_interests,
        .out_data = stats.out_data,
        .out_nacks = stats.out_nacks,
        .in_bytes = stats.in_bytes,
        .out_bytes = stats.out_bytes,
        .flags = face->flags,
    };
}
