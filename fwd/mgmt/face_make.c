// SPDX-License-Identifier: Apache-2.0
/* faces/create: on one of our ports when the way to the remote leads there, else over a socket of the kernel. */
#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fwd/mgmt/face_control_priv.h"

/* NFD's words. */
#define TEXT_EXISTS      "Face with remote URI already exists"
#define TEXT_NO_CHANNEL  "No channels available to connect"
#define TEXT_LOCAL_FIELD "Local fields can only be enabled on faces with local scope"

/* A request that has been understood. */
struct make {
    struct face_control *control;
    const struct face_request *request;
    struct face_uri uri, local;
    char text[FACE_URI_MAX], local_text[FACE_URI_MAX]; /* local_text "": none was given */
    uint8_t flags;
    face_made_t made;
    void *ctx;
};

static void answer(const struct make *make, unsigned code, const char *text)
{
    make->made(make->ctx, code, text, NULL);
}

static void answer_existing(const struct make *make, const struct face *face)
{
    make->made(make->ctx, 409, TEXT_EXISTS, face);
}

static void answer_errno(const struct make *make, int rc)
{
    switch (rc) {
    case -EINVAL:
        answer(make, 406, "Cannot create a face to this remote URI");
        return;
    case -ENOTSUP:
        answer(make, 504, "The next hop cannot be resolved on this port");
        return;
    case -ENOSPC:
        answer(make, 500, "Too many faces");
        return;
    default:
        answer(make, 500, "Out of memory");
        return;
    }
}

void face_control_dev(const struct port *port, char dev[64])
{
    const char *device = port->config.netdev != NULL ? port->config.netdev : port->config.device;
    if (device == NULL)
        device = port->config.name != NULL ? port->config.name : "";
    // Of a DPDK device the name, without its arguments.
    snprintf(dev, 64, "%.*s", (int)strcspn(device, ","), device);
}

int face_control_add(struct face_control *control, struct port *port, const struct face_config *config, uint32_t *id)
{
    struct face_table *table = face_control_table(control);
    int rc = face_add(table, config, port->mtu, id);
    if (rc != 0)
        return rc;
    rc = port->match_owner != NULL ? port_face_add(port, face_get(table, *id)) : -ENOTSUP;
    if (rc != 0)
        goto remove_face;
    if (control->config.monitor != NULL) {
        rc = monitor_face_add(control->config.monitor, *id);
        if (rc != 0)
            goto remove_match;
    }
    if (config->persistency == FACE_ON_DEMAND) {
        rc = face_demand_add(control, face_get(table, *id));
        if (rc != 0)
            goto remove_watch;
    }
    face_control_announce(control, *id);
    return 0;
remove_watch:
    if (control->config.monitor != NULL)
        monitor_face_remove(control->config.monitor, *id);
remove_match:
    port_face_remove(port, face_get(table, *id));
remove_face:
    face_remove(table, *id);
    return rc;
}

static void make_on_port(const struct make *make, struct port *port, struct face_config *config)
{
    const struct face_request *request = make->request;
    char dev[64];
    uint32_t id = 0;
    face_control_dev(port, dev);
    config->port = port->index;
    config->dev = dev;
    config->persistency = request->persistency;
    config->flags = make->flags;
    config->mtu = request->has_mtu ? (uint16_t)request->mtu : 0;
    config->congestion_interval_ns = request->has_congestion_interval ? request->congestion_interval_ns : 0;
    config->congestion_threshold = request->has_congestion_threshold ? request->congestion_threshold : 0;
    memcpy(config->local_mac, port->mac, 6);
    int rc = face_control_add(make->control, port, config, &id);
    const struct face *face = face_get(face_control_table(make->control), id);
    if (rc == -EEXIST && face != NULL)
        answer_existing(make, face);
    else if (rc != 0)
        answer_errno(make, rc);
    else
        make->made(make->ctx, 200, "OK", face);
}

static bool in_network(const uint8_t *a, const uint8_t *b, unsigned prefix_len)
{
    unsigned whole = prefix_len / 8, rest = prefix_len % 8;
    return memcmp(a, b, whole) == 0 && (rest == 0 || (a[whole] ^ b[whole]) >> (8 - rest) == 0);
}

static bool is_set(const uint8_t *p, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (p[i] != 0)
            return true;
    return false;
}

/* Without a kernel to ask: the port whose network the remote is on. */
static int way_by_network(const struct face_control *control, const struct face_uri *uri, struct monitor_way *way)
{
    bool v4 = uri->family == AF_INET;
    for (uint16_t p = 0; p < control->config.n_ports; p++) {
        struct port *port = &control->config.port[p];
        const uint8_t *own = v4 ? port->config.ip4 : port->config.ip6;
        unsigned len = v4 ? port->config.ip4_prefix_len : 64;
        if (is_set(own, v4 ? 4 : 16) && in_network(uri->ip, own, len)) {
            *way = (struct monitor_way){.port = port};
            return 0;
        }
    }
    return -ENODEV;
}

static int find_way(const struct face_control *control, const struct face_uri *uri, struct monitor_way *way)
{
    if (control->config.monitor == NULL)
        return way_by_network(control, uri, way);
    unsigned ifindex = uri->scope[0] != '\0' ? if_nametoindex(uri->scope) : 0;
    return monitor_way(control->config.monitor, uri->family, uri->ip, ifindex, way);
}

static bool is_link_local(const struct face_uri *uri)
{
    return uri->family == AF_INET6 && uri->ip[0] == 0xfe && (uri->ip[1] & 0xc0) == 0x80;
}

/* @return false when the port has no address to send from */
static bool udp_config(const struct make *make, const struct monitor_way *way, struct face_config *config)
{
    const struct face_uri *uri = &make->uri;
    const struct port_config *port = &way->port->config;
    bool v4 = uri->family == AF_INET;
    size_t len = v4 ? 4 : 16;
    const uint8_t *own = v4 ? port->ip4 : port->ip6;
    *config = (struct face_config){
        .kind = v4 ? FACE_UDP4 : FACE_UDP6,
        .vlan = way->vlan,
        .local_udp = port->udp_ports[0],
        .remote_udp = uri->port,
    };
    if (config->local_udp == 0)
        config->local_udp = FACE_URI_PORT;
    memcpy(config->remote_ip, uri->ip, len);
    // The configured address is what neighbours were told, unless the kernel must choose one of another scope.
    if (is_set(own, len) && way->vlan == 0 && !is_link_local(uri))
        memcpy(config->local_ip, own, len);
    else if (way->has_source)
        memcpy(config->local_ip, way->source, len);
    else
        return false;
    return true;
}

static void make_over_socket(const struct make *make, bool stream)
{
    struct face_control *control = make->control;
    const struct face_request *request = make->request;
    struct sock_remote remote = {
        .stream = stream,
        .persistency = request->persistency,
        .flags = make->flags,
        .mtu = request->has_mtu ? (uint16_t)RTE_MIN(request->mtu, (uint64_t)FACE_MTU_MAX) : 0,
        .congestion_interval_ns = request->has_congestion_interval ? request->congestion_interval_ns : 0,
        .congestion_threshold = request->has_congestion_threshold ? request->congestion_threshold : 0,
    };
    if (control->config.sock == NULL) {
        answer(make, 504, TEXT_NO_CHANNEL);
        return;
    }
    if (face_uri_sockaddr(&make->uri, &remote.address) == 0) {
        answer(make, 400, "Non-canonical remote URI");
        return;
    }
    const struct face *face =
        face_get(face_control_table(control), sock_find(control->config.sock, stream, &remote.address));
    if (face != NULL) {
        answer_existing(make, face);
        return;
    }
    struct face_waiter *waiter = control->n_waiters < FACE_WAITERS_MAX ? malloc(sizeof *waiter) : NULL;
    if (waiter == NULL) {
        answer(make, 504, "Too many connections under way");
        return;
    }
    *waiter = (struct face_waiter){.made = make->made, .ctx = make->ctx};
    snprintf(waiter->uri, sizeof waiter->uri, "%s", make->text);
    // Who asks for the same remote meanwhile waits for the same connection.
    for (const struct face_waiter *other = control->waiters; other != NULL; other = other->next)
        if (strcmp(other->uri, waiter->uri) == 0)
            waiter->ticket = other->ticket;
    bool first = waiter->ticket == 0;
    if (first)
        waiter->ticket = control->next_ticket++;
    struct face_waiter **last = &control->waiters;
    while (*last != NULL)
        last = &(*last)->next;
    *last = waiter;
    control->n_waiters++;
    int rc = first ? sock_connect(control->config.sock, &remote, waiter->ticket) : 0;
    if (rc == 0)
        return;
    *last = NULL;
    control->n_waiters--;
    free(waiter);
    answer(make, 504, rc == -EAFNOSUPPORT ? TEXT_NO_CHANNEL : strerror(-rc));
}

/* Take those who wait under a ticket out of the list, in order. */
static struct face_waiter *take_waiters(struct face_control *control, uint64_t ticket)
{
    struct face_waiter *taken = NULL, **taken_last = &taken, **link = &control->waiters;
    while (*link != NULL) {
        struct face_waiter *waiter = *link;
        if (waiter->ticket != ticket) {
            link = &waiter->next;
            continue;
        }
        *link = waiter->next;
        waiter->next = NULL;
        *taken_last = waiter;
        taken_last = &waiter->next;
        control->n_waiters--;
    }
    return taken;
}

uint32_t face_control_connected(struct face_control *control, uint64_t ticket, int rc, const struct face_config *config)
{
    struct face_waiter *waiter = take_waiters(control, ticket);
    struct face_table *table = face_control_table(control);
    uint32_t id = 0;
    bool made = false;
    // One that came by itself while we connected is the face of this remote already.
    const struct face *face = rc == 0 && waiter != NULL ? face_control_find(control, waiter->uri, NULL) : NULL;
    if (rc == 0 && waiter != NULL && face == NULL) {
        rc = face_add(table, config, UINT16_MAX, &id);
        made = rc == 0;
        if (made) {
            face_control_announce(control, id);
            face = face_get(table, id);
        }
    }
    while (waiter != NULL) {
        struct face_waiter *next = waiter->next;
        if (made)
            waiter->made(waiter->ctx, 200, "OK", face);
        else if (face != NULL)
            waiter->made(waiter->ctx, 409, TEXT_EXISTS, face);
        else
            waiter->made(waiter->ctx, 504, rc == -ETIMEDOUT ? "Connection timed out" : strerror(-rc), NULL);
        made = false;
        free(waiter);
        waiter = next;
    }
    return id;
}

/* What UDP, TCP and Ethernet refuse alike. @return false when the request was answered */
static bool check(const struct make *make, const char *what)
{
    const struct face_request *request = make->request;
    char text[128];
    if (request->persistency == FACE_ON_DEMAND) {
        snprintf(text, sizeof text, "Outgoing %s faces do not support on-demand persistency", what);
        answer(make, 406, text);
        return false;
    }
    if (face_uri_is_group(&make->uri)) {
        snprintf(text, sizeof text, "Cannot create multicast %s faces", what);
        answer(make, 406, text);
        return false;
    }
    if ((make->flags & FACE_LOCAL_FIELDS) != 0 && !face_uri_is_loopback(&make->uri)) {
        answer(make, 406, TEXT_LOCAL_FIELD);
        return false;
    }
    if (request->has_mtu && (request->mtu < FACE_MTU_MIN || request->mtu > UINT16_MAX)) {
        answer(make, 406,
               request->mtu < FACE_MTU_MIN ? "Override MTU cannot be less than 64"
                                           : "Override MTU cannot be greater than 65535");
        return false;
    }
    return true;
}

static void make_udp(const struct make *make)
{
    struct monitor_way way;
    struct face_config config;
    if (make->local_text[0] != '\0') {
        answer(make, 406, "Cannot create unicast UDP faces with a LocalUri");
        return;
    }
    // UDP faces are not local, whatever their remote.
    if ((make->flags & FACE_LOCAL_FIELDS) != 0) {
        answer(make, 406, TEXT_LOCAL_FIELD);
        return;
    }
    if (!check(make, "UDP"))
        return;
    const struct face *face = face_control_find(make->control, make->text, NULL);
    if (face != NULL)
        answer_existing(make, face);
    else if (find_way(make->control, &make->uri, &way) == 0 && udp_config(make, &way, &config))
        make_on_port(make, way.port, &config);
    else
        make_over_socket(make, false);
}

static void make_tcp(const struct make *make)
{
    if (make->local_text[0] != '\0') {
        answer(make, 406, "Cannot create TCP faces with a LocalUri");
        return;
    }
    if (!check(make, "TCP"))
        return;
    if (make->request->has_mtu) {
        answer(make, 406, "TCP faces do not support an MTU");
        return;
    }
    if ((make->flags & FACE_RELIABILITY) != 0) {
        answer(make, 406, "TCP faces do not support NDNLPv2 reliability");
        return;
    }
    const struct face *face = face_control_find(make->control, make->text, NULL);
    if (face != NULL)
        answer_existing(make, face);
    else
        make_over_socket(make, true);
}

/* The port that dev://NAME means: a netdev, a VLAN interface upon one, or a DPDK device. */
static struct port *port_of_dev(const struct face_control *control, const char *name, uint16_t *vlan)
{
    struct port *port;
    char dev[64];
    *vlan = 0;
    if (control->config.monitor != NULL && monitor_netdev(control->config.monitor, name, &port, vlan) == 0)
        return port;
    for (uint16_t p = 0; p < control->config.n_ports; p++) {
        port = &control->config.port[p];
        face_control_dev(port, dev);
        if (port->config.netdev == NULL && strcmp(dev, name) == 0)
            return port;
    }
    return NULL;
}

static void make_ether(const struct make *make)
{
    struct face_config config = {.kind = FACE_ETHER};
    if (make->local_text[0] == '\0' || make->local.scheme != FACE_URI_DEV) {
        answer(make, 406, "Creation of unicast Ethernet faces requires a LocalUri with dev:// scheme");
        return;
    }
    if (!check(make, "Ethernet"))
        return;
    struct port *port = port_of_dev(make->control, make->local.host, &config.vlan);
    if (port == NULL || port->bare) {
        answer(make, 504, TEXT_NO_CHANNEL);
        return;
    }
    memcpy(config.remote_mac, make->uri.mac, 6);
    make_on_port(make, port, &config);
}

/* @return false when it is not canonical */
static bool parse(const struct mgmt_octets *octets, struct face_uri *uri, char text[FACE_URI_MAX])
{
    text[0] = '\0';
    if (face_uri_parse(uri, (const char *)octets->p, octets->len) != 0 || !uri->canonical)
        return false;
    text[face_uri_write(uri, text)] = '\0';
    return true;
}

/* What the mask names is as asked, the rest as NFD has it: marking on where there is a queue to look at. */
static uint8_t flags_of(const struct face_control *control, const struct face_request *request, uint8_t scheme)
{
    uint8_t flags = scheme != FACE_URI_ETHER && control->config.congestion_marking ? FACE_CONGESTION_MARKING : 0;
    uint8_t mask = request->mask & (FACE_LOCAL_FIELDS | FACE_RELIABILITY | FACE_CONGESTION_MARKING);
    return (uint8_t)((flags & ~mask) | (request->flags & mask));
}

void face_control_make(struct face_control *control, const struct face_request *request, face_made_t made, void *ctx)
{
    struct make make = {.control = control, .request = request, .made = made, .ctx = ctx};
    bool canonical = parse(&request->uri, &make.uri, make.text);
    if (!canonical && make.uri.scheme != FACE_URI_OTHER) {
        answer(&make, 400, "Non-canonical remote URI");
        return;
    }
    if (request->local_uri.len > 0 && !parse(&request->local_uri, &make.local, make.local_text)) {
        answer(&make, 400, "Non-canonical local URI");
        return;
    }
    make.flags = flags_of(control, request, make.uri.scheme);
    switch (make.uri.scheme) {
    case FACE_URI_UDP4:
    case FACE_URI_UDP6:
        make_udp(&make);
        return;
    case FACE_URI_TCP4:
    case FACE_URI_TCP6:
        make_tcp(&make);
        return;
    case FACE_URI_ETHER:
        make_ether(&make);
        return;
    default:
        answer(&make, 406, "Unsupported protocol");
        return;
    }
}
