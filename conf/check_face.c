// SPDX-License-Identifier: Apache-2.0
#include "conf/check.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static bool in_network(const uint8_t *a, const uint8_t *b, unsigned prefix_len)
{
    unsigned whole = prefix_len / 8, rest = prefix_len % 8;
    return memcmp(a, b, whole) == 0 && (rest == 0 || (a[whole] ^ b[whole]) >> (8 - rest) == 0);
}

static bool is_link_local(const uint8_t ip[16])
{
    return ip[0] == 0xFE && (ip[1] & 0xC0) == 0x80;
}

static void check_local(struct check *check, struct conf_face *face, const struct conf_port *port)
{
    static const char *const schemes[] = {[CONF_ETHER] = "ether://", [CONF_UDP4] = "udp4://", [CONF_UDP6] = "udp6://"};
    if (face->kind == CONF_BARE) {
        CHECK_FAULT(check, face, "local", "face.%s.local: a bare face has no addresses; remove it", face->name);
        return;
    }
    // 0: it was refused already.
    if (face->local_kind == 0)
        return;
    if (face->local_kind != face->kind) {
        CHECK_FAULT(check, face, "local", "face.%s.local: is of another kind than remote; %s... is needed", face->name,
                    schemes[face->kind]);
        return;
    }
    bool own = face->kind == CONF_ETHER || (face->kind == CONF_UDP4 ? memcmp(face->local_ip, port->ip4, 4) == 0
                                                                    : memcmp(face->local_ip, port->ip6, 16) == 0);
    if (!own)
        CHECK_FAULT(check, face, "local", "face.%s.local: is not the address of port.%s; %s is needed", face->name,
                    port->name, face->kind == CONF_UDP4 ? port->address4 : port->address6);
}

static void check_next_hop(struct check *check, const struct conf_face *face, const struct conf_port *port)
{
    bool v4 = face->kind == CONF_UDP4;
    const char *const name = face->name;
    if (face->mac != NULL && face->next_hop_text != NULL)
        CHECK_FAULT(check, face, "next-hop", "face.%s: has both mac and next-hop; one of them is allowed", name);
    if (face->multicast && (face->mac != NULL || face->next_hop_text != NULL)) {
        CHECK_FAULT(check, face, face->mac != NULL ? "mac" : "next-hop",
                    "face.%s: a group has no next hop; remove mac and next-hop", name);
        return;
    }
    if (face->multicast)
        return;
    const uint8_t *own = v4 ? port->ip4 : port->ip6;
    unsigned len = v4 ? port->ip4_prefix_len : port->ip6_prefix_len;
    if (memcmp(face->remote_ip, own, v4 ? 4 : 16) == 0) {
        CHECK_FAULT(check, face, "remote", "face.%s.remote: is the address of port.%s itself; another host is needed",
                    name, port->name);
        return;
    }
    if (face->has_next_hop && (strchr(face->next_hop_text, ':') == NULL) != v4) {
        CHECK_FAULT(check, face, "next-hop", "face.%s.next-hop: is of another IP version than remote; IPv%d is needed",
                    name, v4 ? 4 : 6);
        return;
    }
    const uint8_t *hop = face->has_next_hop ? face->next_hop : face->remote_ip;
    bool reached = in_network(hop, own, len) || (!v4 && is_link_local(hop));
    if (reached || face->mac != NULL)
        return;
    if (face->has_next_hop)
        CHECK_FAULT(check, face, "next-hop",
                    "face.%s.next-hop: %s is not on the network of port.%s; an address in %s is needed", name,
                    face->next_hop_text, port->name, v4 ? port->address4 : port->address6);
    else if (face->next_hop_text == NULL)
        CHECK_FAULT(check, face, "remote",
                    "face.%s.remote: is not on the network of port.%s (%s); next-hop or mac is needed", name,
                    port->name, v4 ? port->address4 : port->address6);
}

static void check_udp_face(struct check *check, struct conf_face *face, const struct conf_port *port)
{
    bool v4 = face->kind == CONF_UDP4;
    if ((v4 ? port->address4 : port->address6) == NULL) {
        CHECK_FAULT(check, face, "remote", "face.%s.remote: port.%s has no IPv%d address; its address%d is needed",
                    face->name, port->name, v4 ? 4 : 6, v4 ? 4 : 6);
        return;
    }
    // An address that was refused has been reported already.
    if (v4 ? !port->has_ip4 : !port->has_ip6)
        return;
    if (face->local != NULL)
        check_local(check, face, port);
    memcpy(face->local_ip, v4 ? port->ip4 : port->ip6, v4 ? 4 : 16);
    if (face->local_udp == 0)
        face->local_udp = face->multicast ? face->remote_udp : port->udp_ports[0];
    bool listens = false;
    for (unsigned i = 0; i < port->n_udp_ports; i++)
        listens |= port->udp_ports[i] == face->local_udp;
    if (!listens)
        CHECK_FAULT(check, face, face->local != NULL ? "local" : "remote",
                    "face.%s: its local UDP port %u is not one of port.%s.udp-ports; %u is needed there", face->name,
                    face->local_udp, port->name, face->local_udp);
    check_next_hop(check, face, port);
}

static void check_face_mtu(struct check *check, const struct conf_face *face, const struct conf_port *port)
{
    uint32_t headers = face->kind == CONF_UDP4 ? 28 : face->kind == CONF_UDP6 ? 48 : 0;
    if (port->mtu > 0 && face->mtu > port->mtu - headers)
        CHECK_FAULT(check, face, "mtu",
                    "face.%s.mtu: %" PRIu32 " does not fit the port's mtu; at most %" PRIu32 " is allowed", face->name,
                    face->mtu, port->mtu - headers);
}

static void check_face(struct check *check, struct conf_face *face, const struct check_names *ports)
{
    char path[100];
    snprintf(path, sizeof path, "face.%s.port", face->name);
    const char *const name = face->name;
    bool resolved =
        face->port_name != NULL && check_resolve(check, ports, "port", face->port_name, &face->port, face, path);
    if (face->kind == 0)
        return;
    bool udp = face->kind == CONF_UDP4 || face->kind == CONF_UDP6;
    if (!check_is_set(check, face, "link-type"))
        face->link_type = face->multicast ? CONF_LINK_MULTI_ACCESS : CONF_LINK_P2P;
    if (face->multicast != (face->link_type != CONF_LINK_P2P))
        CHECK_FAULT(check, face, "link-type", "face.%s.link-type: does not fit the remote; %s", name,
                    face->multicast ? "multi-access or ad-hoc is allowed for a group"
                                    : "point-to-point is allowed for a host");
    if (face->scope == CONF_SCOPE_LOCAL && face->kind != CONF_BARE)
        CHECK_FAULT(check, face, "scope",
                    "face.%s.scope: /localhost must not leave the host; local is allowed on bare ports only", name);
    if (face->local_fields && face->scope != CONF_SCOPE_LOCAL)
        CHECK_FAULT(check, face, "local-fields",
                    "face.%s.local-fields: a neighbour must not choose where Interests go; only with scope local",
                    name);
    if (face->reliability && face->link_type != CONF_LINK_P2P)
        CHECK_FAULT(check, face, "reliability",
                    "face.%s.reliability: of several neighbours none can acknowledge for all; it is for hosts only",
                    name);
    if (face->vlan > 0 && face->kind == CONF_BARE)
        CHECK_FAULT(check, face, "vlan", "face.%s.vlan: frames of a bare port have no VLAN tag; remove it", name);
    if (!udp && (face->mac != NULL || face->next_hop_text != NULL))
        CHECK_FAULT(check, face, face->mac != NULL ? "mac" : "next-hop",
                    "face.%s: mac and next-hop are for UDP faces; remove them", name);
    if (!resolved)
        return;
    const struct conf_port *port = &check->conf->port[face->port];
    if (port->bare != (face->kind == CONF_BARE)) {
        CHECK_FAULT(check, face, "remote", "face.%s.remote: port.%s is %s; %s is needed", name, port->name,
                    port->bare ? "bare" : "not bare", port->bare ? "\"bare\"" : "ether://, udp4:// or udp6://");
        return;
    }
    if (udp)
        check_udp_face(check, face, port);
    else if (face->local != NULL)
        check_local(check, face, port);
    check_face_mtu(check, face, port);
}

static int by_peer(const void *a, const void *b)
{
    const struct conf_face *x = *(const struct conf_face *const *)a, *y = *(const struct conf_face *const *)b;
    if (x->port != y->port)
        return x->port < y->port ? -1 : 1;
    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    if (x->vlan != y->vlan)
        return x->vlan < y->vlan ? -1 : 1;
    int order = memcmp(x->remote_ip, y->remote_ip, sizeof x->remote_ip);
    // The MAC address of a UDP face is its next hop's, which many remotes may share.
    if (order == 0 && x->kind == CONF_ETHER)
        order = memcmp(x->remote_mac, y->remote_mac, sizeof x->remote_mac);
    if (order != 0)
        return order;
    if (x->remote_udp != y->remote_udp)
        return x->remote_udp < y->remote_udp ? -1 : 1;
    return x->local_udp < y->local_udp ? -1 : x->local_udp > y->local_udp;
}

static int by_peer_and_line(const void *a, const void *b)
{
    int order = by_peer(a, b);
    const struct conf_face *x = *(const struct conf_face *const *)a, *y = *(const struct conf_face *const *)b;
    return order != 0 ? order : x < y ? -1 : x > y;
}

int check_faces(struct check *check, const struct check_names *ports)
{
    struct conf *conf = check->conf;
    const struct conf_face **sorted = malloc((conf->n_faces > 0 ? conf->n_faces : 1) * sizeof *sorted);
    if (sorted == NULL)
        return -ENOMEM;
    unsigned n = 0;
    for (unsigned i = 0; i < conf->n_faces; i++) {
        unsigned before = check->faults->n_errors;
        check_face(check, &conf->face[i], ports);
        // What was refused already is not compared.
        if (check->faults->n_errors == before && conf->face[i].kind != 0 && conf->face[i].port_name != NULL)
            sorted[n++] = &conf->face[i];
    }
    qsort(sorted, n, sizeof *sorted, by_peer_and_line);
    for (unsigned i = 1; i < n; i++)
        if (by_peer(&sorted[i - 1], &sorted[i]) == 0)
            CHECK_FAULT(check, sorted[i], "",
                        "face.%s: has the port, VLAN and remote of face.%s; one face for each is allowed",
                        sorted[i]->name, sorted[i - 1]->name);
    free(sorted);
    return 0;
}
