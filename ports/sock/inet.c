// SPDX-License-Identifier: Apache-2.0
#include "ports/sock/inet.h"

#include <arpa/inet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

static const struct sockaddr_in *v4(const struct sockaddr_storage *address)
{
    return (const struct sockaddr_in *)address;
}

static const struct sockaddr_in6 *v6(const struct sockaddr_storage *address)
{
    return (const struct sockaddr_in6 *)address;
}

bool inet_same(const struct sockaddr_storage *a, const struct sockaddr_storage *b)
{
    if (a->ss_family != b->ss_family) {
        return false;
    }
    if (a->ss_family == AF_INET) {
        return v4(a)->sin_port == v4(b)->sin_port && v4(a)->sin_addr.s_addr == v4(b)->sin_addr.s_addr;
    }
    return v6(a)->sin6_port == v6(b)->sin6_port && v6(a)->sin6_scope_id == v6(b)->sin6_scope_id &&
           memcmp(&v6(a)->sin6_addr, &v6(b)->sin6_addr, sizeof v6(a)->sin6_addr) == 0;
}

/* FNV-1a */
uint32_t inet_hash(const struct sockaddr_storage *address)
{
    bool is_v4 = address->ss_family == AF_INET;
    const uint8_t *p = is_v4 ? (const uint8_t *)&v4(address)->sin_addr : (const uint8_t *)&v6(address)->sin6_addr;
    uint32_t hash = 2166136261u ^ (is_v4 ? v4(address)->sin_port : v6(address)->sin6_port);
    for (size_t i = 0; i < (is_v4 ? 4u : 16u); i++) {
        hash = (hash ^ p[i]) * 16777619u;
    }
    return hash ^ hash >> 16;
}

socklen_t inet_len(const struct sockaddr_storage *address)
{
    return address->ss_family == AF_INET ? sizeof(struct sockaddr_in) : sizeof(struct sockaddr_in6);
}

struct sockaddr_storage inet_any(int family, uint16_t port)
{
    struct sockaddr_storage address = {.ss_family = (sa_family_t)family};
    if (family == AF_INET) {
        ((struct sockaddr_in *)&address)->sin_port = htons(port);
    } else {
        ((struct sockaddr_in6 *)&address)->sin6_port = htons(port);
    }
    return address;
}

/* "1.2.3.4:6363", "[fd00::1]:6363", "[fe80::1%eth0]:6363" */
static void endpoint(char *text, size_t size, const struct sockaddr_storage *address)
{
    char host[INET6_ADDRSTRLEN] = "", dev[IF_NAMESIZE] = "";
    if (address->ss_family == AF_INET) {
        inet_ntop(AF_INET, &v4(address)->sin_addr, host, sizeof host);
        snprintf(text, size, "%s:%u", host, ntohs(v4(address)->sin_port));
        return;
    }
    inet_ntop(AF_INET6, &v6(address)->sin6_addr, host, sizeof host);
    bool scoped = v6(address)->sin6_scope_id != 0 && if_indextoname(v6(address)->sin6_scope_id, dev) != NULL;
    snprintf(text, size, "[%s%s%s]:%u", host, scoped ? "%" : "", dev, ntohs(v6(address)->sin6_port));
}

void inet_uri(char *uri, size_t size, const char *scheme, const struct sockaddr_storage *address)
{
    char text[INET6_ADDRSTRLEN + IF_NAMESIZE + 16];
    endpoint(text, sizeof text, address);
    snprintf(uri, size, "%s%c://%s", scheme, address->ss_family == AF_INET ? '4' : '6', text);
}

void inet_uri_plain(char *uri, size_t size, const char *scheme, const struct sockaddr_storage *address)
{
    char text[INET6_ADDRSTRLEN + IF_NAMESIZE + 16];
    endpoint(text, sizeof text, address);
    snprintf(uri, size, "%s://%s", scheme, text);
}

static bool in_subnet(const uint8_t ip[16], const struct sock_subnet *subnet)
{
    unsigned octets = subnet->prefix_len / 8, bits = subnet->prefix_len % 8;
    if (memcmp(ip, subnet->ip, octets) != 0) {
        return false;
    }
    return bits == 0 || ((ip[octets] ^ subnet->ip[octets]) & (0xff << (8 - bits) & 0xff)) == 0;
}

bool inet_in(const struct sockaddr_storage *address, const struct sock_subnet *subnets, unsigned n)
{
    uint8_t ip[16] = {[10] = 0xff, [11] = 0xff};
    if (address->ss_family == AF_INET) {
        memcpy(ip + 12, &v4(address)->sin_addr, 4);
    } else {
        memcpy(ip, &v6(address)->sin6_addr, 16);
    }
    for (unsigned i = 0; i < n; i++) {
        if (in_subnet(ip, &subnets[i])) {
            return true;
        }
    }
    return false;
}
