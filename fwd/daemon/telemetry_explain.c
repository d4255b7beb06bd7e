// SPDX-License-Identifier: Apache-2.0
#include "fwd/daemon/telemetry_explain.h"

#include <rte_telemetry.h>

#include <arpa/inet.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fwd/daemon/daemon.h"
#include "fwd/quic/edge.h"
#include "fwd/quic/quic.h"
#include "fwd/quic/tunnel.h"
#include "parser/verdict.h"

/* Below what the library takes for a string. */
#define STEP_MAX     120
#define QUESTION_MAX 1024

/* A question taken apart. */
struct question {
    char text[QUESTION_MAX];
    const char *service, *from;
    unsigned long len; /**< of the whole datagram */
    unsigned n;        /**< octets that are here */
    uint8_t octets[EXPLAIN_OCTETS_MAX];
};

static void step(struct rte_tel_data *steps, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void step(struct rte_tel_data *steps, const char *format, ...)
{
    char text[STEP_MAX];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    rte_tel_data_add_array_string(steps, text);
}

static const char *hex(const uint8_t *octets, unsigned n, char text[2 * 20 + 4])
{
    unsigned shown = n > 20 ? 20 : n;
    for (unsigned i = 0; i < shown; i++)
        snprintf(text + 2 * i, 3, "%02x", octets[i]);
    snprintf(text + 2 * shown, 4, "%s", n > shown ? "..." : "");
    return text;
}

static bool take_apart(const char *params, struct question *q)
{
    if (params == NULL || strlen(params) >= sizeof q->text)
        return false;
    strcpy(q->text, params);
    char *save, *len, *octets, *end;
    q->service = strtok_r(q->text, ",", &save);
    q->from = strtok_r(NULL, ",", &save);
    len = strtok_r(NULL, ",", &save);
    octets = strtok_r(NULL, ",", &save);
    if (len == NULL || octets == NULL || strtok_r(NULL, ",", &save) != NULL)
        return false;
    q->len = strtoul(len, &end, 10);
    q->n = (unsigned)(strlen(octets) / 2);
    return *end == '\0' && q->len <= 65527 && q->n >= 1 && q->n <= EXPLAIN_OCTETS_MAX && q->n <= q->len &&
           conf_hex(octets, q->octets, q->n);
}

/* ---- steps ---- */

static const char *const type_text[] = {
    [QUIC_TYPE_SHORT] = "short header (1-RTT)",
    [QUIC_TYPE_INITIAL] = "Initial",
    [QUIC_TYPE_0RTT] = "0-RTT",
    [QUIC_TYPE_HANDSHAKE] = "Handshake",
    [QUIC_TYPE_RETRY] = "Retry",
    [QUIC_TYPE_VERSION_NEGOTIATION] = "Version Negotiation",
    [QUIC_TYPE_OTHER_VERSION] = "long header of another version",
};

static void explain_header(struct rte_tel_data *steps, const struct quic_header *header)
{
    char dcid[48], scid[48];
    if (header->type == QUIC_TYPE_SHORT) {
        step(steps, "packet: %s, first octet 0x%02x", type_text[header->type], header->first);
        return;
    }
    step(steps, "packet: %s, version 0x%08" PRIx32, type_text[header->type], header->version);
    step(steps, "DCID: %u octets %s", header->dcid_len, hex(header->dcid, header->dcid_len, dcid));
    step(steps, "SCID: %u octets %s", header->scid_len, hex(header->scid, header->scid_len, scid));
    if (header->type == QUIC_TYPE_INITIAL)
        step(steps, "token: %u octets", header->token_len);
}

/* @return false when the datagram ends here */
static bool explain_edge(struct rte_tel_data *steps, const struct quic_service *service,
                         const struct quic_header *header, unsigned long len)
{
    if (header->type == QUIC_TYPE_SHORT)
        return true;
    if (service->version_negotiation && !quic_version_offered(service, header->version)) {
        step(steps, len >= QUIC_INITIAL_MIN ? "edge: version is not offered: answered by Version Negotiation"
                                            : "edge: version is not offered, datagram below 1200 octets: dropped");
        return false;
    }
    struct quic_header initial;
    if (!quic_edge_initial(header, len, &initial))
        return true;
    if (header->type != QUIC_TYPE_INITIAL)
        step(steps, "edge: there is an Initial behind that packet, token: %u octets", initial.token_len);
    if (service->drop_small_initials && len < QUIC_INITIAL_MIN) {
        step(steps, "edge: Initial in a datagram of %lu octets, below 1200: dropped", len);
        return false;
    }
    if (service->initial_rate != 0)
        step(steps, "edge: at most %" PRIu32 " Initials a second of one source", service->initial_rate);
    if (service->retry_mode != QUIC_RETRY_OFF)
        step(steps, "edge: Retry is on: goes on with a valid token only");
    return true;
}

static const struct quic_server *explain_cid(struct rte_tel_data *steps, const struct quic_service *service,
                                             const struct quic_header *header)
{
    static const char *const why[] = {
        [QUIC_ROUTABLE] = "",
        [QUIC_UNROUTABLE_CONFIG] = "its first octet stands for no configuration",
        [QUIC_UNROUTABLE_SHORT] = "too short for its configuration",
        [QUIC_UNROUTABLE_SERVER] = "no active server has the server ID",
    };
    const struct quic_pkt pkt = {.service = service, .header = *header};
    struct quic_lb_id id = {.len = 0};
    enum quic_unroutable unroutable = QUIC_ROUTABLE;
    char text[48];
    const struct quic_server *server = quic_explain(service, &pkt, &unroutable, &id);
    if (header->dcid_len > 0)
        step(steps, "connection ID: first octet 0x%02x: config ID %u", header->dcid[0], header->dcid[0] >> 5);
    if (id.len > 0)
        step(steps, "server ID: %u octets %s", id.len, hex(id.octets, id.len, text));
    if (server == NULL)
        step(steps, "not routable: %s", why[unroutable]);
    else
        step(steps, "routable: server %s", server->name);
    return server;
}

/* The 4-tuple towards the service's first virtual address of the client's family. */
static bool tuple_of(const struct quic_set *set, unsigned service, const char *from, struct flow_key *key)
{
    uint8_t ip[16], ports[4];
    bool v6;
    uint16_t port;
    if (!conf_quic_vip(from, ip, &v6, &port))
        return false;
    for (unsigned i = 0; i < set->n_vips; i++) {
        const struct quic_vip *vip = &set->vip[i];
        if (vip->service != service || vip->v6 != v6)
            continue;
        uint16_t port_be = htons(port);
        memcpy(ports, &port_be, 2);
        memcpy(ports + 2, &vip->port_be, 2);
        flow_key_tuple(key, ip, vip->ip, v6 ? 16 : 4, ports);
        return true;
    }
    return false;
}

static const struct quic_server *explain_hash(struct rte_tel_data *steps, const struct quic_set *set, unsigned index,
                                              const struct question *q, const struct quic_header *header)
{
    const struct quic_service *service = &set->service[index];
    struct flow_key key;
    bool begins_nothing = header->type == QUIC_TYPE_INITIAL && header->dcid_len < QUIC_CLIENT_CID_MIN;
    if (service->drop_unroutable &&
        (begins_nothing || header->type == QUIC_TYPE_SHORT || header->type == QUIC_TYPE_HANDSHAKE)) {
        step(steps, begins_nothing ? "drop-unroutable: Initial with a DCID of less than 8 octets: dropped"
                                   : "drop-unroutable: dropped");
        return NULL;
    }
    if (service->flow_table)
        step(steps, begins_nothing
                        ? "flow table: asked first; what it does not know is dropped: the DCID has less than 8 octets"
                        : "flow table: asked first, where a worker knows the flow");
    if (strcmp(q->from, "-") == 0) {
        step(steps, "hash of the 4-tuple: chooses; give the client's address to see which server");
        return NULL;
    }
    if (!tuple_of(set, index, q->from, &key)) {
        step(steps, "hash of the 4-tuple: %.60s and no virtual address go together", q->from);
        return NULL;
    }
    const struct quic_server *server = quic_by_hash(service, &key);
    step(steps, "hash of the 4-tuple: %s%s", server != NULL ? "server " : "no server takes new connections: dropped",
         server != NULL ? server->name : "");
    return server;
}

/* Octets of the IP packet that a client's datagram comes in, 0: whether it is IPv4 or IPv6 is not known. */
static unsigned long packet_len(const struct question *q)
{
    uint8_t ip[16];
    bool v6;
    uint16_t port;
    return conf_quic_vip(q->from, ip, &v6, &port) ? q->len + 8 + (v6 ? 40 : 20) : 0;
}

static void explain_delivery(struct rte_tel_data *steps, const struct daemon *daemon,
                             const struct quic_service *service, const struct quic_server *server,
                             const struct question *q)
{
    static const char *const delivery[] = {"l2", "ipip", "gue"};
    uint16_t index = atomic_load_explicit(&server->port, memory_order_relaxed);
    const struct port *port = index < PORT_MAX ? daemon->shared.port[index] : NULL;
    unsigned outer = quic_tunnel_size(service->delivery, server->v6);
    unsigned mtu = atomic_load_explicit(&server->mtu, memory_order_relaxed);
    uint64_t mac = atomic_load_explicit(&server->mac, memory_order_relaxed);
    if (mac == 0 || port == NULL) {
        step(steps, "delivery: the way to %s is not known yet: dropped", server->name);
        return;
    }
    if (outer > 0 && !quic_tunnel_source(port, server->v6)) {
        step(steps, "delivery: port %.48s has no address to send from: dropped", port->config.name);
        return;
    }
    mtu = mtu != 0 && mtu < port->mtu ? mtu : port->mtu;
    char vlan[24] = "";
    if (mac >> 48 != 0)
        snprintf(vlan, sizeof vlan, ", VLAN %u", (unsigned)(mac >> 48));
    step(steps, "delivery: %s by port %.48s%s, MTU %u", delivery[service->delivery], port->config.name, vlan, mtu);
    unsigned long len = packet_len(q);
    if (len > 0 && len + outer > mtu)
        step(steps, "delivery: %lu octets and %u around them are too many: dropped, the client is told", len, outer);
}

/* @return the server, NULL when there is none */
static const struct quic_server *explain(const struct daemon *daemon, const struct quic_set *set, unsigned index,
                                         const struct question *q, struct rte_tel_data *steps)
{
    const struct quic_service *service = &set->service[index];
    const struct quic_opts opts = {
        .require_fixed_bit = service->require_fixed_bit,
        .small_initials = true,
        .short_dcid_len = QUIC_LB_CID_MAX,
        .from_client = true,
    };
    struct quic_header header;
    // What is not here counts as there: zeros that no decision depends on.
    uint8_t *datagram = calloc(1, q->len);
    if (datagram == NULL)
        return NULL;
    memcpy(datagram, q->octets, q->n);
    const struct quic_server *server = NULL;
    enum verdict verdict = quic_parse(datagram, q->len, &opts, &header);
    if (verdict != VERDICT_OK) {
        step(steps, "packet: dropped: %s", verdict_name(verdict));
    } else {
        explain_header(steps, &header);
        if (explain_edge(steps, service, &header, q->len)) {
            server = explain_cid(steps, service, &header);
            if (server == NULL)
                server = explain_hash(steps, set, index, q, &header);
            if (server != NULL)
                explain_delivery(steps, daemon, service, server, q);
        }
    }
    free(datagram);
    return server;
}

int telemetry_quic_explain(const struct daemon *daemon, struct rte_tel_data *d, const char *params)
{
    const struct quic_set *set = atomic_load_explicit(&daemon->shared.quic, memory_order_relaxed);
    struct question q;
    rte_tel_data_start_dict(d);
    if (!take_apart(params, &q)) {
        rte_tel_data_add_dict_string(d, "error", "not understood; SERVICE,FROM,LENGTH,HEX is needed");
        return 0;
    }
    unsigned i = 0;
    while (set != NULL && i < set->n_services && strcmp(set->service[i].name, q.service) != 0)
        i++;
    if (set == NULL || i == set->n_services) {
        rte_tel_data_add_dict_string(d, "error", "no QUIC service has this name");
        return 0;
    }
    struct rte_tel_data *steps = rte_tel_data_alloc();
    if (steps == NULL)
        return -1;
    rte_tel_data_start_array(steps, RTE_TEL_STRING_VAL);
    const struct quic_server *server = explain(daemon, set, i, &q, steps);
    rte_tel_data_add_dict_string(d, "server", server != NULL ? server->name : "");
    if (rte_tel_data_add_dict_container(d, "steps", steps, 0) != 0) {
        rte_tel_data_free(steps);
        return -1;
    }
    return 0;
}
