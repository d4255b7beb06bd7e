// SPDX-License-Identifier: Apache-2.0
#include "conf/check.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/** Copy-mode AF_XDP receives into frames of 4 kB less headroom and metadata. */
#define NETDEV_MTU_MAX 3300
/** The kernel takes no larger frames than a page, of which 256 octets go to the buffer's own fields. */
#define NETDEV_MBUF_MAX 3840
/** Octets of a packet buffer that AF_XDP leaves no packet: two headrooms, link header and VLAN tags. */
#define NETDEV_BELOW_MTU 406
/** Buffers that the fill ring of one queue holds from the start. */
#define NETDEV_RING 2048
/** Octets that a packet buffer takes beside its data room. */
#define MBUF_OVERHEAD 192

unsigned check_line(const struct check *check, const void *item, const char *key)
{
    const struct conf_set *set = conf_set_find(check->priv, item, key);
    return set != NULL ? set->at.line : ((const struct schema_item *)item)->at.line;
}

bool check_is_set(const struct check *check, const void *item, const char *key)
{
    return conf_set_find(check->priv, item, key) != NULL;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct check_name *)a)->name, ((const struct check_name *)b)->name);
}

static int names_make(struct check_names *names, const char *section_name, const struct conf *conf)
{
    const struct schema_section *section = schema_find(section_name);
    const char *items = schema_items(section, conf, &names->n);
    names->list = malloc((names->n > 0 ? names->n : 1) * sizeof names->list[0]);
    if (names->list == NULL)
        return -ENOMEM;
    for (unsigned i = 0; i < names->n; i++) {
        const struct schema_item *item = (const void *)(items + (size_t)i * section->item_size);
        names->list[i] = (struct check_name){item->name, i};
    }
    qsort(names->list, names->n, sizeof names->list[0], by_name);
    return 0;
}

static const char *name_at(const void *list, size_t i)
{
    return ((const struct check_name *)list)[i].name;
}

bool check_resolve(struct check *check, const struct check_names *names, const char *what, const char *name,
                   unsigned *index, const void *item, const char *path)
{
    const struct check_name key = {.name = name};
    const struct check_name *found = bsearch(&key, names->list, names->n, sizeof names->list[0], by_name);
    if (found != NULL) {
        *index = found->index;
        return true;
    }
    const char *near = faults_nearest(name, name_at, names->list, names->n);
    if (near != NULL)
        CHECK_FAULT(check, item, what, "%s: no %s is called '%s'; did you mean '%s'?", path, what, name, near);
    else
        CHECK_FAULT(check, item, what, "%s: no %s is called '%s'; the name of a group in section %s is needed", path,
                    what, name, what);
    return false;
}

/* ---- workers and memory ---- */

static void check_workers(struct check *check)
{
    struct conf_workers *workers = &check->conf->workers;
    if (!check_is_set(check, workers, "count") && workers->n_lcores > 0)
        workers->count = workers->n_lcores;
    if (check_is_set(check, workers, "lcores") && workers->n_lcores > 0 && workers->n_lcores != workers->count)
        CHECK_FAULT(check, workers, "lcores",
                    "workers.lcores: has %u CPUs for %u workers; one for each worker is needed", workers->n_lcores,
                    workers->count);
}

static void check_memory(struct check *check)
{
    const struct conf *conf = check->conf;
    const struct conf_memory *memory = &conf->memory;
    uint64_t mbufs = memory->mbufs;
    uint64_t needed = (uint64_t)conf->workers.count * conf->cs.capacity;
    for (unsigned i = 0; i < conf->n_ports; i++) {
        const struct conf_port *port = &conf->port[i];
        // How many queues a device has is not known here: one, unless they are configured.
        needed += (uint64_t)(port->queues > 0 ? port->queues : 1) *
                  (port->netdev != NULL ? NETDEV_RING : port->rx_desc + port->tx_desc);
        if (port->netdev == NULL)
            continue;
        if (memory->mbuf_size > NETDEV_MBUF_MAX)
            CHECK_FAULT(check, memory, "mbuf-size",
                        "memory.mbuf-size: %" PRIu32 " is too large for AF_XDP of port.%s; at most %d is allowed with "
                        "netdev",
                        memory->mbuf_size, port->name, NETDEV_MBUF_MAX);
        else if (port->mtu <= NETDEV_MTU_MAX && port->mtu + NETDEV_BELOW_MTU > memory->mbuf_size)
            CHECK_FAULT(check, port, "mtu",
                        "port.%s.mtu: %" PRIu32 " does not fit a packet buffer; memory.mbuf-size of at least %" PRIu32
                        " is needed",
                        port->name, port->mtu, port->mtu + NETDEV_BELOW_MTU);
    }
    if (mbufs > 0 && mbufs < needed)
        CHECK_FAULT(check, memory, "mbufs",
                    "memory.mbufs: %" PRIu64 " are fewer than the queues of the ports and the Data of "
                    "cs.capacity can hold; at least %" PRIu64 " are needed",
                    mbufs, needed);
    // Less than what the tables really take, so that nothing is refused that would fit.
    uint64_t tables = (uint64_t)conf->workers.count *
                      ((uint64_t)conf->pit.capacity * 208 + (uint64_t)conf->pit.dead_nonce_capacity * 8 +
                       (uint64_t)conf->cs.capacity_max * 64);
    long pages = sysconf(_SC_PHYS_PAGES), page_size = sysconf(_SC_PAGESIZE);
    uint64_t physical = pages > 0 && page_size > 0 ? (uint64_t)pages * (uint64_t)page_size : UINT64_MAX;
    uint64_t buffers = mbufs * (memory->mbuf_size + MBUF_OVERHEAD);
    if (tables + buffers > physical)
        CHECK_FAULT(check, &conf->pit, "capacity",
                    "pit.capacity: tables of %u workers and packet buffers take at least %" PRIu64
                    " MB, more than the %" PRIu64
                    " MB of this host; less of pit.capacity, pit.dead-nonce-capacity, cs.capacity-max, "
                    "memory.mbufs or workers.count is needed",
                    conf->workers.count, (tables + buffers) >> 20, physical >> 20);
}

static void check_tables(struct check *check)
{
    struct conf *conf = check->conf;
    if (conf->cs.capacity_max == 0)
        conf->cs.capacity_max = conf->cs.capacity;
    else if (conf->cs.capacity_max < conf->cs.capacity)
        CHECK_FAULT(check, &conf->cs, "capacity-max",
                    "cs.capacity-max: %" PRIu32 " is less than capacity; at least %" PRIu32 " is needed",
                    conf->cs.capacity_max, conf->cs.capacity);
    if (conf->lp.per_face > conf->lp.messages)
        CHECK_FAULT(check, &conf->lp, check_is_set(check, &conf->lp, "per-face") ? "per-face" : "messages",
                    "lp.per-face: %" PRIu32 " is more than lp.messages; at most %" PRIu32 " is allowed",
                    conf->lp.per_face, conf->lp.messages);
    for (unsigned i = 0; i < conf->n_strategies; i++) {
        const struct conf_strategy *s = &conf->strategy[i];
        if (s->retx_suppression_initial_ms > s->retx_suppression_max_ms)
            CHECK_FAULT(check, s, "retx-suppression-initial",
                        "strategy.retx-suppression-initial: %" PRIu32 "ms is more than "
                        "retx-suppression-max; at most %" PRIu32 "ms is allowed",
                        s->retx_suppression_initial_ms, s->retx_suppression_max_ms);
    }
}

/* ---- ports ---- */

/* The value of "key=value" in the arguments of a DPDK device, with its length; @p def when it is not there. */
static const char *device_arg(const char *device, const char *key, const char *def, size_t *len)
{
    size_t key_len = strlen(key);
    for (const char *p = strchr(device, ','); p != NULL; p = strchr(p, ',')) {
        p++;
        if (strncmp(p, key, key_len) == 0 && p[key_len] == '=') {
            p += key_len + 1;
            *len = strcspn(p, ",");
            return p;
        }
    }
    *len = strlen(def);
    return def;
}

static bool starts_with(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

/* Name of a device without its arguments; a PCI address gets its domain. */
static void device_name(const char *device, char *name, size_t size)
{
    int len = (int)strcspn(device, ",");
    bool short_pci = len == 7 && device[2] == ':' && device[5] == '.';
    snprintf(name, size, "%s%.*s", short_pci ? "0000:" : "", len, device);
}

static bool same_arg(const char *a, const char *b, const char *key, const char *def)
{
    size_t a_len, b_len;
    const char *x = device_arg(a, key, def, &a_len), *y = device_arg(b, key, def, &b_len);
    return a_len == b_len && memcmp(x, y, a_len) == 0;
}

/* Kernel interface that a port takes over, with its length; NULL when it takes none. */
static const char *port_interface(const struct conf_port *port, size_t *len)
{
    *len = port->netdev != NULL ? strlen(port->netdev) : 0;
    if (port->netdev != NULL)
        return port->netdev;
    if (port->device == NULL ||
        (!starts_with(port->device, "net_af_xdp") && !starts_with(port->device, "net_af_packet")))
        return NULL;
    const char *iface = device_arg(port->device, "iface", "", len);
    return *len > 0 ? iface : NULL;
}

/* What two ports cannot share, NULL when they get along. */
static const char *port_clash(const struct conf_port *a, const struct conf_port *b)
{
    size_t a_len, b_len;
    const char *x = port_interface(a, &a_len), *y = port_interface(b, &b_len);
    if (x != NULL && y != NULL && a_len == b_len && memcmp(x, y, a_len) == 0)
        return "network interface";
    if (a->device == NULL || b->device == NULL)
        return NULL;
    char a_name[600], b_name[600];
    device_name(a->device, a_name, sizeof a_name);
    device_name(b->device, b_name, sizeof b_name);
    if (strcmp(a_name, b_name) == 0)
        return "device";
    if (starts_with(a_name, "net_memif") && starts_with(b_name, "net_memif") &&
        same_arg(a->device, b->device, "id", "0") && same_arg(a->device, b->device, "role", "client") &&
        same_arg(a->device, b->device, "socket", "/run/memif.sock"))
        return "memif socket, id and role";
    return NULL;
}

static void check_port(struct check *check, struct conf_port *port)
{
    const char *name = port->name;
    if (port->device == NULL && port->netdev == NULL && !text_group_is_faulty(check->text, port->at.line))
        CHECK_FAULT(check, port, "", "port.%s: has neither device nor netdev; one of them is needed", name);
    if (port->device != NULL && port->netdev != NULL)
        CHECK_FAULT(check, port, "netdev", "port.%s: has both device and netdev; one of them is allowed", name);
    if (!check_is_set(check, port, "bare"))
        port->bare = port->device != NULL && starts_with(port->device, "net_memif");
    if (port->netdev != NULL && port->bare)
        CHECK_FAULT(check, port, "bare", "port.%s.bare: frames of a netdev have an Ethernet header; false is needed",
                    name);
    if (port->netdev != NULL && port->mtu > NETDEV_MTU_MAX)
        CHECK_FAULT(check, port, "mtu",
                    "port.%s.mtu: %" PRIu32 " is too large for AF_XDP; at most %d is allowed with netdev", name,
                    port->mtu, NETDEV_MTU_MAX);
    if (port->queues > check->conf->workers.count)
        CHECK_FAULT(check, port, "queues",
                    "port.%s.queues: %u are more than workers; at most %u, one for each, is allowed", name,
                    port->queues, check->conf->workers.count);
    if (port->udp_on_demand > 0 && port->bare)
        CHECK_FAULT(check, port, "udp-on-demand", "port.%s.udp-on-demand: a bare port has no UDP peers; remove it",
                    name);
    else if (port->udp_on_demand > 0 && port->address4 == NULL && port->address6 == NULL)
        CHECK_FAULT(check, port, "udp-on-demand",
                    "port.%s.udp-on-demand: peers need an address to send to; address4 or address6 is needed", name);
    if (port->bare && (port->address4 != NULL || port->address6 != NULL))
        CHECK_FAULT(check, port, port->address4 != NULL ? "address4" : "address6",
                    "port.%s: a bare port has no IP address; remove address4 and address6", name);
}

static void check_ports(struct check *check)
{
    struct conf *conf = check->conf;
    for (unsigned i = 0; i < conf->n_ports; i++) {
        struct conf_port *port = &conf->port[i];
        check_port(check, port);
        for (unsigned k = 0; k < i; k++) {
            const char *clash = port_clash(&conf->port[k], port);
            if (clash == NULL)
                continue;
            CHECK_FAULT(check, port, port->netdev != NULL ? "netdev" : "device",
                        "port.%s: has the same %s as port.%s; each may be used once", port->name, clash,
                        conf->port[k].name);
            break;
        }
    }
}

/* ---- routes and strategies ---- */

/* Octets of a name without the "/" that may end it. */
static size_t name_len(const char *name)
{
    size_t len = strlen(name);
    return len > 1 && name[len - 1] == '/' ? len - 1 : len;
}

static int by_prefix(const char *a, const char *b)
{
    size_t a_len = name_len(a), b_len = name_len(b);
    int order = memcmp(a, b, a_len < b_len ? a_len : b_len);
    return order != 0 ? order : a_len < b_len ? -1 : a_len > b_len;
}

static int by_route(const void *a, const void *b)
{
    const struct conf_route *x = *(const struct conf_route *const *)a, *y = *(const struct conf_route *const *)b;
    int order = by_prefix(x->prefix, y->prefix);
    if (order != 0)
        return order;
    return x->face < y->face ? -1 : x->face > y->face;
}

static int by_route_and_line(const void *a, const void *b)
{
    const struct conf_route *x = *(const struct conf_route *const *)a, *y = *(const struct conf_route *const *)b;
    int order = by_route(a, b);
    return order != 0 ? order : x < y ? -1 : x > y;
}

static int check_routes(struct check *check, const struct check_names *faces)
{
    struct conf *conf = check->conf;
    const struct conf_route **sorted = malloc((conf->n_routes > 0 ? conf->n_routes : 1) * sizeof *sorted);
    if (sorted == NULL)
        return -ENOMEM;
    unsigned n = 0;
    for (unsigned i = 0; i < conf->n_routes; i++) {
        struct conf_route *route = &conf->route[i];
        if (route->face_name != NULL &&
            check_resolve(check, faces, "face", route->face_name, &route->face, route, "route.face") &&
            route->prefix != NULL)
            sorted[n++] = route;
    }
    qsort(sorted, n, sizeof *sorted, by_route_and_line);
    for (unsigned i = 1; i < n; i++)
        if (by_route(&sorted[i - 1], &sorted[i]) == 0) {
            CHECK_FAULT(check, sorted[i], "prefix", "route: %s to face %s is there a second time; once is allowed",
                        sorted[i]->prefix, sorted[i]->face_name);
            faults_relate(check->faults, "first at", sorted[i - 1]->at.line);
        }
    free(sorted);
    return 0;
}

static int by_strategy(const void *a, const void *b)
{
    const struct conf_strategy *x = *(const struct conf_strategy *const *)a,
                               *y = *(const struct conf_strategy *const *)b;
    int order = by_prefix(x->prefix, y->prefix);
    return order != 0 ? order : x < y ? -1 : x > y;
}

static int check_strategies(struct check *check)
{
    struct conf *conf = check->conf;
    const struct conf_strategy **sorted = malloc((conf->n_strategies > 0 ? conf->n_strategies : 1) * sizeof *sorted);
    if (sorted == NULL)
        return -ENOMEM;
    unsigned n = 0;
    for (unsigned i = 0; i < conf->n_strategies; i++)
        if (conf->strategy[i].prefix != NULL)
            sorted[n++] = &conf->strategy[i];
    qsort(sorted, n, sizeof *sorted, by_strategy);
    for (unsigned i = 1; i < n; i++)
        if (by_prefix(sorted[i - 1]->prefix, sorted[i]->prefix) == 0) {
            CHECK_FAULT(check, sorted[i], "prefix", "strategy: %s has a strategy already; one is allowed",
                        sorted[i]->prefix);
            faults_relate(check->faults, "first at", sorted[i - 1]->at.line);
        }
    free(sorted);
    return 0;
}

static void check_rib(struct check *check)
{
    const struct conf_rib *rib = &check->conf->rib;
    if (rib->auto_prefix_propagate && rib->n_localhop_security > 0)
        CHECK_FAULT(check, rib, "auto-prefix-propagate",
                    "rib.auto-prefix-propagate: is not allowed together with localhop-security; one of them is");
    if ((rib->propagate_key != NULL) != (rib->propagate_certificate != NULL))
        CHECK_FAULT(check, rib, rib->propagate_key != NULL ? "propagate-key" : "propagate-certificate",
                    "rib: has one of propagate-key and propagate-certificate; both or neither are needed");
    if (rib->propagate_base_retry_ms > rib->propagate_max_retry_ms)
        CHECK_FAULT(check, rib, "propagate-base-retry-wait",
                    "rib.propagate-base-retry-wait: %" PRIu32 "ms is more than propagate-max-retry-wait; at most "
                    "%" PRIu32 "ms is allowed",
                    rib->propagate_base_retry_ms, rib->propagate_max_retry_ms);
}

int check_all(struct conf_private *priv, const struct text *text, struct faults *faults)
{
    struct check check = {.priv = priv, .conf = &priv->conf, .text = text, .faults = faults};
    struct check_names ports = {0}, faces = {0};
    int error = names_make(&ports, "port", &priv->conf);
    if (error == 0)
        error = names_make(&faces, "face", &priv->conf);
    if (error == 0) {
        check_workers(&check);
        check_tables(&check);
        check_ports(&check);
        check_memory(&check);
        check_rib(&check);
        error = check_faces(&check, &ports);
    }
    if (error == 0)
        error = check_routes(&check, &faces);
    if (error == 0)
        error = check_strategies(&check);
    if (error == 0)
        check_quic(&check, &ports);
    free(ports.list);
    free(faces.list);
    return error;
}
