// SPDX-License-Identifier: Apache-2.0
#include "fwd/daemon/replay_ways.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "conf/conf.h"
#include "ports/face.h"
#include "ports/port.h"

#define ETHER_SIZE 14
#define TAGS_MAX   2
/* Ports of a group that several have a face to. */
#define SEVERAL (-3)
/* What an interface of the capture comes to, beside the index of a port. */
#define BY_ADDRESS (-2)

#define ETHERTYPE_IP4  0x0800
#define ETHERTYPE_ARP  0x0806
#define ETHERTYPE_VLAN 0x8100
#define ETHERTYPE_QINQ 0x88a8
#define ETHERTYPE_IP6  0x86dd

struct place {
    uint64_t mac; /* 0: nobody */
    int port;
};

/* A neighbour that UDP is sent to. */
struct neighbour {
    uint8_t ip[16];
    bool v6, known;
    uint16_t port;
    uint8_t mac[6];
};

struct ways {
    const struct conf *conf;
    const struct port *port;
    uint16_t n_ports;
    struct place own[2 * PORT_MAX];
    struct place *peer; /* of faces' remote addresses, groups among them */
    uint32_t peer_mask, n_peers;
    struct neighbour *neighbour; /* ordered by address */
    uint32_t n_neighbours, n_unknown;
};

static uint64_t mac_number(const uint8_t *mac)
{
    uint64_t number = 0;
    memcpy(&number, mac, 6);
    return number;
}

static uint32_t mac_hash(uint64_t mac)
{
    return (uint32_t)(mac * UINT64_C(0x9e3779b97f4a7c15) >> 32);
}

static struct place *find(struct place *places, uint32_t mask, uint64_t mac)
{
    uint32_t at = mac_hash(mac);
    while (places[at & mask].mac != 0 && places[at & mask].mac != mac)
        at++;
    return &places[at & mask];
}

/* ---- neighbours ---- */

static int compare(const void *a, const void *b)
{
    const struct neighbour *one = a, *other = b;
    if (one->v6 != other->v6)
        return one->v6 ? 1 : -1;
    return memcmp(one->ip, other->ip, sizeof one->ip);
}

/* The first of those with an address, NULL: there is none. */
static struct neighbour *first(const struct ways *ways, const uint8_t *ip, bool v6)
{
    struct neighbour key = {.v6 = v6};
    memcpy(key.ip, ip, v6 ? 16 : 4);
    uint32_t low = 0, high = ways->n_neighbours;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (compare(&ways->neighbour[middle], &key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low < ways->n_neighbours && compare(&ways->neighbour[low], &key) == 0 ? &ways->neighbour[low] : NULL;
}

static const struct neighbour *end(const struct ways *ways)
{
    return ways->neighbour + ways->n_neighbours;
}

static void want(struct ways *ways, uint16_t port, const uint8_t *ip, bool v6)
{
    struct neighbour *neighbour = &ways->neighbour[ways->n_neighbours++];
    *neighbour = (struct neighbour){.v6 = v6, .port = port};
    memcpy(neighbour->ip, ip, v6 ? 16 : 4);
}

static void want_all(struct ways *ways)
{
    const struct conf *conf = ways->conf;
    for (unsigned i = 0; i < conf->n_faces; i++) {
        const struct conf_face *face = &conf->face[i];
        bool udp = face->kind == CONF_UDP4 || face->kind == CONF_UDP6;
        if (!udp || face->multicast || face->mac_static)
            continue;
        want(ways, (uint16_t)face->port, face->remote_ip, face->kind == CONF_UDP6);
        if (face->has_next_hop)
            want(ways, (uint16_t)face->port, face->next_hop, face->kind == CONF_UDP6);
    }
    for (unsigned i = 0; i < conf->n_quic_servers; i++) {
        const struct conf_quic_server *server = &conf->quic_server[i];
        int port = server->port_name != NULL ? (int)server->port : ways_port_to(ways, server->ip, server->v6);
        if (server->mac_text == NULL && port >= 0)
            want(ways, (uint16_t)port, server->ip, server->v6);
    }
    qsort(ways->neighbour, ways->n_neighbours, sizeof *ways->neighbour, compare);
    ways->n_unknown = ways->n_neighbours;
}

bool ways_want(const struct ways *ways)
{
    return ways->n_unknown > 0;
}

/* @param port at which it is a neighbour, or WAYS_NONE: not told */
static void learn(struct ways *ways, int port, const uint8_t *ip, bool v6, const uint8_t *mac)
{
    if ((mac[0] & 1) != 0 || mac_number(mac) == 0)
        return;
    struct neighbour *neighbour = first(ways, ip, v6);
    for (; neighbour != NULL && neighbour < end(ways); neighbour++) {
        if (neighbour->v6 != v6 || memcmp(neighbour->ip, ip, v6 ? 16 : 4) != 0)
            return;
        if (neighbour->known || (port != WAYS_NONE && neighbour->port != port))
            continue;
        neighbour->known = true;
        memcpy(neighbour->mac, mac, sizeof neighbour->mac);
        ways->n_unknown--;
    }
}

static unsigned load_u16(const uint8_t *p)
{
    return (unsigned)p[0] << 8 | p[1];
}

static int interface_port(struct ways *ways, const struct capture *capture, struct capture_interface *interface)
{
    if (interface->user != WAYS_NONE)
        return interface->user;
    interface->user = BY_ADDRESS;
    unsigned index = capture_interface_index(capture, interface);
    for (uint16_t p = 0; p < ways->n_ports && interface->name[0] != '\0'; p++) {
        const struct port_config *config = &ways->port[p].config;
        if (strcmp(config->name, interface->name) == 0 ||
            (config->netdev != NULL && strcmp(config->netdev, interface->name) == 0))
            return interface->user = p;
    }
    if (capture_n_interfaces(capture) > 1 && index < ways->n_ports)
        interface->user = (int)index;
    return interface->user;
}

static int own_port(struct ways *ways, const uint8_t *mac)
{
    const struct place *place = find(ways->own, 2 * PORT_MAX - 1, mac_number(mac));
    return place->mac != 0 ? place->port : WAYS_NONE;
}

void ways_learn(struct ways *ways, const struct capture *capture, const struct capture_frame *frame)
{
    const uint8_t *p = frame->octets;
    uint32_t len = frame->len, off = ETHER_SIZE;
    if (len < ETHER_SIZE)
        return;
    unsigned type = load_u16(p + 12);
    for (unsigned tags = 0; tags < TAGS_MAX && (type == ETHERTYPE_VLAN || type == ETHERTYPE_QINQ); tags++) {
        if (len - off < 4)
            return;
        type = load_u16(p + off + 2);
        off += 4;
    }
    const uint8_t *dst = p, *src = p + 6;
    int sender = own_port(ways, src);
    int port = interface_port(ways, capture, frame->interface);
    if (port < 0)
        port = own_port(ways, dst);
    p += off;
    len -= off;
    if (type == ETHERTYPE_ARP) {
        static const uint8_t ethernet_ip4[6] = {0, 1, 8, 0, 6, 4};
        if (sender < 0 && len >= 28 && memcmp(p, ethernet_ip4, sizeof ethernet_ip4) == 0)
            learn(ways, port, p + 14, false, p + 8);
    } else if (type == ETHERTYPE_IP4 && len >= 20) {
        learn(ways, sender >= 0 ? sender : port, sender >= 0 ? p + 16 : p + 12, false, sender >= 0 ? dst : src);
    } else if (type == ETHERTYPE_IP6 && len >= 40) {
        learn(ways, sender >= 0 ? sender : port, sender >= 0 ? p + 24 : p + 8, true, sender >= 0 ? dst : src);
    }
}

bool ways_neighbour(const struct ways *ways, uint16_t port, const uint8_t *ip, bool v6, uint8_t mac[6])
{
    const struct neighbour *neighbour = first(ways, ip, v6);
    for (; neighbour != NULL && neighbour < end(ways); neighbour++) {
        if (neighbour->v6 != v6 || memcmp(neighbour->ip, ip, v6 ? 16 : 4) != 0)
            return false;
        if (!neighbour->known || neighbour->port != port)
            continue;
        memcpy(mac, neighbour->mac, sizeof neighbour->mac);
        return true;
    }
    return false;
}

static bool same_network(const uint8_t *a, const uint8_t *b, unsigned bits)
{
    if (memcmp(a, b, bits / 8) != 0)
        return false;
    return bits % 8 == 0 || ((a[bits / 8] ^ b[bits / 8]) >> (8 - bits % 8)) == 0;
}

int ways_port_to(const struct ways *ways, const uint8_t *ip, bool v6)
{
    for (unsigned i = 0; i < ways->n_ports; i++) {
        const struct conf_port *port = &ways->conf->port[i];
        if (v6 ? port->has_ip6 && same_network(port->ip6, ip, port->ip6_prefix_len)
               : port->has_ip4 && same_network(port->ip4, ip, port->ip4_prefix_len))
            return (int)i;
    }
    return ways->n_ports == 1 ? 0 : WAYS_NONE;
}

/* ---- ports ---- */

int ways_face(struct ways *ways, const struct face *face)
{
    uint64_t mac = mac_number(face->config.remote_mac);
    if (mac == 0)
        return 0;
    if (2 * (ways->n_peers + 1) > ways->peer_mask) {
        uint32_t mask = 2 * ways->peer_mask + 1;
        struct place *peer = calloc(mask + 1, sizeof *peer);
        if (peer == NULL)
            return -ENOMEM;
        for (uint32_t i = 0; i <= ways->peer_mask; i++)
            if (ways->peer[i].mac != 0)
                *find(peer, mask, ways->peer[i].mac) = ways->peer[i];
        free(ways->peer);
        ways->peer = peer;
        ways->peer_mask = mask;
    }
    struct place *place = find(ways->peer, ways->peer_mask, mac);
    if (place->mac == 0) {
        *place = (struct place){.mac = mac, .port = face->port};
        ways->n_peers++;
    } else if (place->port != face->port) {
        place->port = SEVERAL;
    }
    return 0;
}

static int peer_port(struct ways *ways, const uint8_t *mac)
{
    const struct place *place = find(ways->peer, ways->peer_mask, mac_number(mac));
    return place->mac != 0 && place->port != SEVERAL ? place->port : WAYS_NONE;
}

int ways_ingress(struct ways *ways, const struct capture *capture, const struct capture_frame *frame)
{
    const uint8_t *dst = frame->octets, *src = frame->octets + 6;
    if (frame->len < ETHER_SIZE)
        return WAYS_NONE;
    if (own_port(ways, src) >= 0)
        return WAYS_OWN;
    int port = interface_port(ways, capture, frame->interface);
    if (port < 0)
        port = own_port(ways, dst);
    if (port < 0 && (dst[0] & 1) != 0) {
        port = peer_port(ways, src);
        port = port < 0 ? peer_port(ways, dst) : port;
    }
    return port < 0 && ways->n_ports == 1 ? 0 : port < 0 ? WAYS_NONE : port;
}

int ways_create(struct ways **out, const struct conf *conf, const struct port *ports, uint16_t n_ports)
{
    struct ways *ways = calloc(1, sizeof *ways);
    if (ways == NULL)
        return -ENOMEM;
    ways->conf = conf;
    ways->port = ports;
    ways->n_ports = n_ports;
    ways->peer_mask = 63;
    ways->peer = calloc(ways->peer_mask + 1, sizeof *ways->peer);
    ways->neighbour = calloc(2 * (size_t)conf->n_faces + conf->n_quic_servers + 1, sizeof *ways->neighbour);
    if (ways->peer == NULL || ways->neighbour == NULL) {
        ways_destroy(ways);
        return -ENOMEM;
    }
    for (uint16_t p = 0; p < n_ports; p++)
        *find(ways->own, 2 * PORT_MAX - 1, mac_number(ports[p].mac)) =
            (struct place){.mac = mac_number(ports[p].mac), .port = p};
    want_all(ways);
    *out = ways;
    return 0;
}

void ways_destroy(struct ways *ways)
{
    if (ways == NULL)
        return;
    free(ways->peer);
    free(ways->neighbour);
    free(ways);
}
