// SPDX-License-Identifier: Apache-2.0
/* QUIC services, and the configurations, layouts and servers that refer to them. */
#include "conf/check.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define CID_BITS_MAX 160
/** Octets of the name of a service or server: what the workers' tables keep. */
#define NAME_LEN_MAX 47

/* Of one service while it is checked: the line that says what a first octet stands for, 0: nothing does. */
struct octets {
    unsigned line[256];
};

static const char *service_name(const void *services, size_t i)
{
    return ((const struct conf_quic *)services)[i].name;
}

/* Find the service that an item names. */
static bool find_service(struct check *check, const char *section, const void *item, const char *name, unsigned *index)
{
    const struct conf *conf = check->conf;
    for (unsigned i = 0; name != NULL && i < conf->n_quics; i++)
        if (strcmp(conf->quic[i].name, name) == 0) {
            *index = i;
            return true;
        }
    *index = CONF_QUIC_MAX;
    if (name == NULL)
        return false;
    const char *near = faults_nearest(name, service_name, conf->quic, conf->n_quics);
    if (near != NULL)
        CHECK_FAULT(check, item, "service", "%s.service: no service is called '%s'; did you mean '%s'?", section, name,
                    near);
    else
        CHECK_FAULT(check, item, "service",
                    "%s.service: no service is called '%s'; the name of a group in section quic is needed", section,
                    name);
    return false;
}

/* ---- services ---- */

struct vip {
    uint8_t ip[16];
    bool v6;
    uint16_t port;
};

static void check_vips(struct check *check)
{
    const struct conf *conf = check->conf;
    struct vip seen[CONF_QUIC_VIPS_ALL_MAX];
    unsigned owner[CONF_QUIC_VIPS_ALL_MAX], n = 0;
    for (unsigned i = 0; i < conf->n_quics; i++) {
        const struct conf_quic *quic = &conf->quic[i];
        if (quic->n_vips == 0 && check_is_set(check, quic, "vip"))
            CHECK_FAULT(check, quic, "vip", "quic.%s.vip: has 0 values; 1 to %d are allowed", quic->name,
                        CONF_QUIC_VIPS_MAX);
        for (unsigned k = 0; k < quic->n_vips; k++) {
            struct vip vip = {0};
            if (!conf_quic_vip(quic->vip[k], vip.ip, &vip.v6, &vip.port))
                continue;
            if (n == CONF_QUIC_VIPS_ALL_MAX) {
                CHECK_FAULT(check, quic, "vip", "quic.%s.vip: of all services together at most %d are allowed",
                            quic->name, CONF_QUIC_VIPS_ALL_MAX);
                return;
            }
            for (unsigned other = 0; other < n; other++)
                if (seen[other].port == vip.port && seen[other].v6 == vip.v6 && memcmp(seen[other].ip, vip.ip, 16) == 0)
                    CHECK_FAULT(check, quic, "vip", "quic.%s.vip: %s is an address of quic.%s already; once is allowed",
                                quic->name, quic->vip[k], conf->quic[owner[other]].name);
            owner[n] = i;
            seen[n++] = vip;
        }
    }
}

static bool has_config(const struct conf *conf, unsigned service, unsigned id)
{
    for (unsigned i = 0; i < conf->n_quic_configs; i++)
        if (conf->quic_config[i].service == service && conf->quic_config[i].id == id)
            return true;
    return false;
}

static void check_name(struct check *check, const void *item, const char *section, const char *name)
{
    if (strlen(name) > NAME_LEN_MAX)
        CHECK_FAULT(check, item, "", "%s.%s: has a name of %zu octets; at most %d are allowed", section, name,
                    strlen(name), NAME_LEN_MAX);
}

static void check_service(struct check *check, unsigned index)
{
    struct conf_quic *quic = &check->conf->quic[index];
    check_name(check, quic, "quic", quic->name);
    for (unsigned i = 0; i < quic->n_versions; i++)
        quic->versions[i] = (uint32_t)strtoul(quic->version_text[i], NULL, 16);
    if (quic->version_negotiation && quic->n_versions == 0)
        CHECK_FAULT(check, quic, "versions", "quic.%s.versions: version-negotiation needs some; 1 to %d are allowed",
                    quic->name, CONF_QUIC_VERSIONS_MAX);
    if (quic->flow_keep_ms == 0)
        quic->flow_keep_ms = quic->flow_idle_ms;
    else if (quic->flow_keep_ms > quic->flow_idle_ms)
        CHECK_FAULT(check, quic, "flow-keep-time",
                    "quic.%s.flow-keep-time: %" PRIu32 "ms is more than flow-idle-timeout; at most %" PRIu32
                    "ms is allowed",
                    quic->name, quic->flow_keep_ms, quic->flow_idle_ms);
    if (quic->probe_interval_ms != 0 && quic->probe_timeout_ms > quic->probe_interval_ms)
        CHECK_FAULT(check, quic, check_is_set(check, quic, "probe-timeout") ? "probe-timeout" : "probe-interval",
                    "quic.%s.probe-timeout: %" PRIu32 "ms is more than probe-interval; at most %" PRIu32
                    "ms is allowed",
                    quic->name, quic->probe_timeout_ms, quic->probe_interval_ms);
    if (quic->retry == CONF_QUIC_RETRY_OFF)
        return;
    if (quic->retry_keys == NULL)
        CHECK_FAULT(check, quic, "retry", "quic.%s.retry: needs keys; retry-keys = \"FILE\" is needed", quic->name);
    if (!has_config(check->conf, index, quic->retry_config))
        CHECK_FAULT(check, quic, check_is_set(check, quic, "retry-config") ? "retry-config" : "retry",
                    "quic.%s.retry-config: the service has no configuration %u; the id of an item of quic-config is "
                    "needed",
                    quic->name, quic->retry_config);
}

/* ---- configurations and layouts ---- */

static void take_octets(struct check *check, struct octets *octets, const void *item, const char *key,
                        const char *section, unsigned mask, unsigned value)
{
    unsigned line = check_line(check, item, key);
    for (unsigned first = 0; first < 256; first++) {
        if ((first & mask) != value)
            continue;
        if (octets->line[first] != 0) {
            CHECK_FAULT(check, item, key,
                        "%s: the first octet 0x%02x stands for something else already; one is allowed", section, first);
            faults_relate(check->faults, "first at", octets->line[first]);
            return;
        }
        octets->line[first] = line;
    }
}

static void check_config(struct check *check, struct octets octets[], unsigned index)
{
    const struct conf *conf = check->conf;
    struct conf_quic_config *config = &conf->quic_config[index];
    if (config->server_id_len + config->nonce_len > 19)
        CHECK_FAULT(check, config, "nonce-length",
                    "quic-config.nonce-length: %u and a server ID of %u are more than a connection ID holds; together "
                    "at most 19 are allowed",
                    config->nonce_len, config->server_id_len);
    if (!find_service(check, "quic-config", config, config->service_name, &config->service))
        return;
    take_octets(check, &octets[config->service], config, "id", "quic-config.id", 0xe0, config->id << 5);
    for (unsigned i = 0; i < index; i++) {
        const struct conf_quic_config *other = &conf->quic_config[i];
        if (other->service != config->service || other->server_id_len != config->server_id_len ||
            (other->key_file == NULL) == (config->key_file == NULL))
            continue;
        CHECK_FAULT(check, config, "server-id-length",
                    "quic-config.server-id-length: a plaintext and an encrypted configuration share server IDs of %u "
                    "octets, which tells what is encrypted; another length is needed",
                    config->server_id_len);
        faults_relate(check->faults, "the other is at", check_line(check, other, "server-id-length"));
        return;
    }
}

static void check_scheme(struct check *check, struct octets octets[], unsigned n_of[], struct conf_quic_scheme *scheme)
{
    bool good = true;
    if ((scheme->value & ~scheme->mask) != 0) {
        CHECK_FAULT(check, scheme, "value", "quic-scheme.value: 0x%02x has bits that mask 0x%02x has not",
                    scheme->value, scheme->mask);
        good = false;
    }
    if (scheme->offset_bits % 8 + scheme->bits > 64)
        CHECK_FAULT(check, scheme, "bits",
                    "quic-scheme.bits: %u at bit %u reach over more than 8 octets; at most %u are allowed",
                    scheme->bits, scheme->offset_bits, 64 - scheme->offset_bits % 8);
    else if (scheme->offset_bits + scheme->bits > CID_BITS_MAX)
        CHECK_FAULT(check, scheme, "bits",
                    "quic-scheme.bits: %u at bit %u end behind the 20 octets of the longest connection ID",
                    scheme->bits, scheme->offset_bits);
    if (!find_service(check, "quic-scheme", scheme, scheme->service_name, &scheme->service) || !good)
        return;
    if (++n_of[scheme->service] > CONF_QUIC_SCHEMES_MAX)
        CHECK_FAULT(check, scheme, "service", "quic-scheme: quic.%s has more than %d layouts; at most %d are allowed",
                    scheme->service_name, CONF_QUIC_SCHEMES_MAX, CONF_QUIC_SCHEMES_MAX);
    take_octets(check, &octets[scheme->service], scheme, "value", "quic-scheme.value", scheme->mask, scheme->value);
}

/* ---- servers ---- */

/* A configuration or layout of the service has server IDs of this many octets. */
static bool length_is_used(const struct conf *conf, unsigned service, unsigned len)
{
    for (unsigned i = 0; i < conf->n_quic_configs; i++)
        if (conf->quic_config[i].service == service && conf->quic_config[i].server_id_len == len)
            return true;
    for (unsigned i = 0; i < conf->n_quic_schemes; i++)
        if (conf->quic_scheme[i].service == service && (conf->quic_scheme[i].bits + 7) / 8 == len)
            return true;
    return false;
}

static const struct conf_quic_server *server_with(const struct conf *conf, unsigned n_servers, unsigned service,
                                                  const uint8_t octets[16], unsigned len)
{
    for (unsigned i = 0; i < n_servers; i++) {
        const struct conf_quic_server *other = &conf->quic_server[i];
        for (unsigned k = 0; other->service == service && k < other->n_ids; k++) {
            uint8_t theirs[16];
            if (conf_quic_id(other->id[k], theirs) == len && memcmp(theirs, octets, 16) == 0)
                return other;
        }
    }
    return NULL;
}

static void check_ids(struct check *check, unsigned index)
{
    const struct conf *conf = check->conf;
    const struct conf_quic_server *server = &conf->quic_server[index];
    for (unsigned k = 0; k < server->n_ids; k++) {
        uint8_t octets[16];
        unsigned len = conf_quic_id(server->id[k], octets);
        if (len == 0)
            continue;
        if (!length_is_used(conf, server->service, len))
            faults_warn(check->faults, check_line(check, server, "id"),
                        "quic-server.%s.id: no configuration of quic.%s has server IDs of %u octets, as %s is",
                        server->name, server->service_name, len, server->id[k]);
        const struct conf_quic_server *other = server_with(conf, index, server->service, octets, len);
        if (other == NULL)
            continue;
        CHECK_FAULT(check, server, "id", "quic-server.%s.id: %s is the ID of quic-server.%s already; one is allowed",
                    server->name, server->id[k], other->name);
        faults_relate(check->faults, "first at", check_line(check, other, "id"));
    }
}

static void check_way(struct check *check, const struct check_names *ports, struct conf_quic_server *server)
{
    const struct conf *conf = check->conf;
    char path[128];
    snprintf(path, sizeof path, "quic-server.%.64s.port", server->name);
    if (server->vlan != 0 && server->port_name == NULL)
        CHECK_FAULT(check, server, "vlan", "quic-server.%s.vlan: is one of a port; port is needed", server->name);
    if (server->port_name == NULL) {
        for (unsigned i = 0; i < conf->n_ports; i++)
            if (conf->port[i].netdev != NULL)
                return;
        CHECK_FAULT(check, server, "",
                    "quic-server.%s: the kernel knows no way by ports without netdev; port and mac are needed",
                    server->name);
        return;
    }
    if (!check_resolve(check, ports, "port", server->port_name, &server->port, server, path))
        return;
    const struct conf_port *port = &conf->port[server->port];
    if (port->bare)
        CHECK_FAULT(check, server, "port", "%s: port.%s is bare; frames with an Ethernet header are needed", path,
                    port->name);
    else if (port->netdev == NULL && server->mac_text == NULL)
        CHECK_FAULT(check, server, "port",
                    "%s: port.%s has no netdev, and the kernel knows no neighbours there; mac is "
                    "needed",
                    path, port->name);
}

static bool has_source(const struct conf_port *port, bool v6)
{
    return v6 ? port->has_ip6 : port->has_ip4;
}

/* The outer header's source address is that of the port that a packet leaves by. */
static void check_tunnel(struct check *check, const struct conf_quic_server *server)
{
    const struct conf *conf = check->conf;
    const char *key = server->v6 ? "address6" : "address4";
    if (conf->quic[server->service].delivery == CONF_QUIC_L2)
        return;
    bool known = server->port_name != NULL && server->port < conf->n_ports;
    if (known && !has_source(&conf->port[server->port], server->v6))
        CHECK_FAULT(check, server, "port",
                    "quic-server.%s.port: tunnels to it begin at an address of the port; port.%s.%s is needed",
                    server->name, conf->port[server->port].name, key);
    if (server->port_name != NULL)
        return;
    for (unsigned i = 0; i < conf->n_ports; i++)
        if (conf->port[i].netdev != NULL && has_source(&conf->port[i], server->v6))
            return;
    CHECK_FAULT(
        check, server, "address",
        "quic-server.%s: tunnels to it begin at an address of the port that leads to it; %s of a port with netdev is "
        "needed",
        server->name, key);
}

/* A server that is sent to by a virtual address would be ourselves. */
static void check_address(struct check *check, const struct conf_quic_server *server)
{
    const struct conf *conf = check->conf;
    for (unsigned i = 0; server->address != NULL && i < conf->n_quics; i++)
        for (unsigned k = 0; k < conf->quic[i].n_vips; k++) {
            struct vip vip = {0};
            if (!conf_quic_vip(conf->quic[i].vip[k], vip.ip, &vip.v6, &vip.port) || vip.v6 != server->v6 ||
                memcmp(vip.ip, server->ip, sizeof vip.ip) != 0)
                continue;
            CHECK_FAULT(check, server, "address",
                        "quic-server.%s.address: %s is a virtual address of quic.%s; the server's own is needed",
                        server->name, server->address, conf->quic[i].name);
            return;
        }
}

static void check_server(struct check *check, const struct check_names *ports, unsigned n_of[], unsigned index)
{
    struct conf_quic_server *server = &check->conf->quic_server[index];
    char section[128];
    snprintf(section, sizeof section, "quic-server.%.64s", server->name);
    check_name(check, server, "quic-server", server->name);
    check_way(check, ports, server);
    if (!find_service(check, section, server, server->service_name, &server->service))
        return;
    if (++n_of[server->service] > CONF_QUIC_SERVERS_MAX)
        CHECK_FAULT(check, server, "service", "%s: quic.%s has more than %d servers; at most %d are allowed", section,
                    server->service_name, CONF_QUIC_SERVERS_MAX, CONF_QUIC_SERVERS_MAX);
    check_ids(check, index);
    check_tunnel(check, server);
    check_address(check, server);
}

void check_quic(struct check *check, const struct check_names *ports)
{
    struct conf *conf = check->conf;
    struct octets octets[CONF_QUIC_MAX];
    unsigned n_schemes[CONF_QUIC_MAX] = {0}, n_servers[CONF_QUIC_MAX] = {0};
    memset(octets, 0, sizeof octets);
    check_vips(check);
    for (unsigned i = 0; i < conf->n_quic_configs; i++)
        check_config(check, octets, i);
    for (unsigned i = 0; i < conf->n_quic_schemes; i++)
        check_scheme(check, octets, n_schemes, &conf->quic_scheme[i]);
    for (unsigned i = 0; i < conf->n_quics; i++)
        check_service(check, i);
    for (unsigned i = 0; i < conf->n_quic_servers; i++)
        check_server(check, ports, n_servers, i);
}
