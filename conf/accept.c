// SPDX-License-Identifier: Apache-2.0
#include "conf/accept.h"
#include "conf/conf.h"

#include <arpa/inet.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* NFD's ports: unicast, and the multicast groups 224.0.23.170 and ff02::1234. */
#define UDP_UNICAST   6363
#define UDP_MULTICAST 56363
/** As NDN_NAME_DEPTH of the parser, which this room does not know. */
#define NAME_COMPONENTS_MAX 32
#define INTERFACE_NAME_MAX  15

static bool refuse(char *why, size_t why_size, const char *format, ...) __attribute__((format(printf, 3, 4)));
static bool refuse(char *why, size_t why_size, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(why, why_size, format, args);
    va_end(args);
    return false;
}

static bool is_one_of(const char *text, const char *allowed)
{
    return text[strspn(text, allowed)] == '\0';
}

#define LETTERS "abcdefghijklmnopqrstuvwxyz"
#define UPPER   "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define DIGITS  "0123456789"

bool accept_user(void *item, const char *text, char *why, size_t why_size)
{
    (void)item;
    if (!is_one_of(text, LETTERS UPPER DIGITS "_-.") || strchr(DIGITS "-.", text[0]) != NULL)
        return refuse(why, why_size, "is not the name of an account; letters, digits, '_', '-' and '.' are allowed");
    return true;
}

bool accept_path(void *item, const char *text, char *why, size_t why_size)
{
    (void)item;
    return text[0] == '/' || refuse(why, why_size, "is not an absolute path; it must start with '/'");
}

bool accept_file_prefix(void *item, const char *text, char *why, size_t why_size)
{
    (void)item;
    if (!is_one_of(text, LETTERS UPPER DIGITS "_-.") || text[0] == '.')
        return refuse(why, why_size, "cannot be part of a file name; letters, digits, '_', '-' and '.' are allowed");
    return true;
}

bool accept_device(void *item, const char *text, char *why, size_t why_size)
{
    (void)item;
    if (strpbrk(text, " \t") != NULL || text[0] == ',' || text[0] == '-')
        return refuse(why, why_size,
                      "is not a DPDK device; a PCI address (\"0000:8a:00.0\") or a driver with its arguments "
                      "(\"net_memif0,role=server,id=0\") is needed, without blanks");
    return true;
}

bool accept_netdev(void *item, const char *text, char *why, size_t why_size)
{
    (void)item;
    if (strlen(text) > INTERFACE_NAME_MAX || strpbrk(text, "/ \t:") != NULL || strcmp(text, ".") == 0 ||
        strcmp(text, "..") == 0)
        return refuse(why, why_size, "is not a network interface; at most %d characters, no '/', ':' or blank",
                      INTERFACE_NAME_MAX);
    return true;
}

bool accept_reference(void *item, const char *text, char *why, size_t why_size)
{
    (void)item;
    (void)text;
    (void)why;
    (void)why_size;
    return true;
}

/* Decimal digits only, at most @p max; false when it is none. */
static bool read_digits(const char *text, size_t len, unsigned max, unsigned *value)
{
    if (len == 0 || len > 5)
        return false;
    *value = 0;
    for (size_t i = 0; i < len; i++) {
        if (text[i] < '0' || text[i] > '9')
            return false;
        *value = *value * 10 + (unsigned)(text[i] - '0');
    }
    return *value <= max;
}

static const char *why_not_host4(const uint8_t ip[4])
{
    if (ip[0] == 0 || ip[0] == 127)
        return "is in 0.0.0.0/8 or 127.0.0.0/8";
    if (ip[0] >= 240)
        return "is reserved or broadcast";
    return NULL;
}

static bool is_group4(const uint8_t ip[4])
{
    return ip[0] >= 224 && ip[0] < 240;
}

static const char *why_not_host6(const uint8_t ip[16])
{
    static const uint8_t zero[15], mapped[12] = {[10] = 0xFF, [11] = 0xFF};
    if (memcmp(ip, zero, 15) == 0 && ip[15] <= 1)
        return "is unspecified or loopback";
    if (memcmp(ip, mapped, 12) == 0)
        return "is an IPv4 address in IPv6 form";
    return NULL;
}

/* "ADDRESS/LENGTH" of family @p af. */
static bool read_prefix(int af, const char *text, uint8_t *ip, uint8_t *prefix_len, char *why, size_t why_size)
{
    unsigned bits = af == AF_INET ? 32 : 128, len = 0;
    const char *form = af == AF_INET ? "10.0.0.1/24" : "fd00::1/64";
    char address[INET6_ADDRSTRLEN];
    const char *slash = strchr(text, '/');
    size_t address_len = slash != NULL ? (size_t)(slash - text) : strlen(text);
    if (address_len >= sizeof address)
        address_len = sizeof address - 1;
    memcpy(address, text, address_len);
    address[address_len] = '\0';
    uint8_t octets[16];
    if (inet_pton(af, address, octets) != 1)
        return refuse(why, why_size, "is not an %s address with its prefix length; an example is \"%s\"",
                      af == AF_INET ? "IPv4" : "IPv6", form);
    if (slash == NULL)
        return refuse(why, why_size, "has no prefix length; write it as in \"%s\"", form);
    if (!read_digits(slash + 1, strlen(slash + 1), bits, &len) || len == 0)
        return refuse(why, why_size, "has a bad prefix length; 1 to %u is allowed", bits);
    const char *not_host = af == AF_INET ? why_not_host4(octets) : why_not_host6(octets);
    if (not_host != NULL || (af == AF_INET ? is_group4(octets) : octets[0] == 0xFF))
        return refuse(why, why_size, "%s; an address of a host is needed",
                      not_host != NULL ? not_host : "is a multicast group");
    memcpy(ip, octets, bits / 8);
    *prefix_len = (uint8_t)len;
    return true;
}

bool accept_address4(void *item, const char *text, char *why, size_t why_size)
{
    struct conf_port *port = item;
    uint8_t ip[4] = {0}, len = 0;
    if (!read_prefix(AF_INET, text, ip, &len, why, why_size))
        return false;
    uint32_t address = (uint32_t)ip[0] << 24 | (uint32_t)ip[1] << 16 | (uint32_t)ip[2] << 8 | ip[3];
    uint32_t host_bits = len < 32 ? UINT32_MAX >> len : 0;
    if (len < 31 && ((address & host_bits) == 0 || (address & host_bits) == host_bits))
        return refuse(why, why_size, "is the network's own or its broadcast address; an address of a host is needed");
    memcpy(port->ip4, ip, 4);
    port->ip4_prefix_len = len;
    port->has_ip4 = true;
    return true;
}

bool accept_address6(void *item, const char *text, char *why, size_t why_size)
{
    struct conf_port *port = item;
    port->has_ip6 = read_prefix(AF_INET6, text, port->ip6, &port->ip6_prefix_len, why, why_size);
    return port->has_ip6;
}

/* "02:00:00:00:00:01": six pairs of hexadecimal digits. */
static bool read_mac(const char *text, size_t len, uint8_t mac[6])
{
    if (len != 17)
        return false;
    for (size_t i = 0; i < 6; i++) {
        unsigned value = 0;
        for (size_t k = 0; k < 2; k++) {
            char c = text[3 * i + k];
            if (c >= '0' && c <= '9')
                value = value * 16 + (unsigned)(c - '0');
            else if ((c | 0x20) >= 'a' && (c | 0x20) <= 'f')
                value = value * 16 + (unsigned)((c | 0x20) - 'a' + 10);
            else
                return false;
        }
        if (i < 5 && text[3 * i + 2] != ':')
            return false;
        mac[i] = (uint8_t)value;
    }
    return true;
}

static bool is_zero_mac(const uint8_t mac[6])
{
    static const uint8_t zero[6];
    return memcmp(mac, zero, 6) == 0;
}

struct uri {
    int kind;
    uint8_t mac[6], ip[16];
    unsigned udp; /* 0: not given */
    bool group;
};

static bool read_ether(const char *rest, struct uri *uri, char *why, size_t why_size)
{
    size_t len = strlen(rest);
    if (len < 2 || rest[0] != '[' || rest[len - 1] != ']' || !read_mac(rest + 1, len - 2, uri->mac))
        return refuse(why, why_size,
                      "has no MAC address of six octets in brackets; an example is \"ether://[02:00:00:00:00:01]\"");
    if (is_zero_mac(uri->mac))
        return refuse(why, why_size, "has the MAC address of nobody; a unicast or group address is needed");
    uri->group = (uri->mac[0] & 1) != 0;
    return true;
}

static bool read_udp(int af, const char *rest, struct uri *uri, char *why, size_t why_size)
{
    const char *form = af == AF_INET ? "udp4://10.0.0.2:6363" : "udp6://[fd00::2]:6363";
    char address[INET6_ADDRSTRLEN];
    const char *start = rest, *end = NULL;
    if (af == AF_INET)
        end = rest + strcspn(rest, ":");
    else if (rest[0] == '[')
        end = strchr(++start, ']');
    if (end == NULL || (size_t)(end - start) >= sizeof address)
        return refuse(why, why_size, "has no numeric address; an example is \"%s\"", form);
    memcpy(address, start, (size_t)(end - start));
    address[end - start] = '\0';
    if (inet_pton(af, address, uri->ip) != 1)
        return refuse(why, why_size, "has a bad address '%s'; a numeric one is needed as in \"%s\"", address, form);
    const char *port = af == AF_INET ? end : end + 1;
    if (*port != '\0' && (*port != ':' || !read_digits(port + 1, strlen(port + 1), 65535, &uri->udp) || uri->udp == 0))
        return refuse(why, why_size, "has a bad UDP port; 1 to 65535 is allowed, as in \"%s\"", form);
    const char *not_host = af == AF_INET ? why_not_host4(uri->ip) : why_not_host6(uri->ip);
    if (not_host != NULL)
        return refuse(why, why_size, "cannot be reached: the address %s; a host or group is needed", not_host);
    uri->group = af == AF_INET ? is_group4(uri->ip) : uri->ip[0] == 0xFF;
    return true;
}

static bool read_uri(const char *text, struct uri *uri, char *why, size_t why_size)
{
    static const struct {
        const char *scheme;
        int kind;
    } schemes[] = {{"ether://", CONF_ETHER}, {"udp4://", CONF_UDP4}, {"udp6://", CONF_UDP6}};
    memset(uri, 0, sizeof *uri);
    if (strcmp(text, "bare") == 0) {
        uri->kind = CONF_BARE;
        return true;
    }
    for (size_t i = 0; i < sizeof schemes / sizeof schemes[0]; i++) {
        size_t len = strlen(schemes[i].scheme);
        if (strncmp(text, schemes[i].scheme, len) != 0)
            continue;
        uri->kind = schemes[i].kind;
        if (uri->kind == CONF_ETHER)
            return read_ether(text + len, uri, why, why_size);
        return read_udp(uri->kind == CONF_UDP4 ? AF_INET : AF_INET6, text + len, uri, why, why_size);
    }
    return refuse(why, why_size,
                  "is no face URI; ether://[MAC], udp4://ADDRESS:PORT, udp6://[ADDRESS]:PORT or bare is "
                  "allowed");
}

bool accept_remote(void *item, const char *text, char *why, size_t why_size)
{
    struct conf_face *face = item;
    struct uri uri;
    if (!read_uri(text, &uri, why, why_size))
        return false;
    face->kind = uri.kind;
    face->multicast = uri.group;
    memcpy(face->remote_ip, uri.ip, sizeof uri.ip);
    if (uri.kind == CONF_ETHER) {
        memcpy(face->remote_mac, uri.mac, sizeof uri.mac);
        face->mac_static = true;
    } else if (uri.kind != CONF_BARE) {
        face->remote_udp = (uint16_t)(uri.udp != 0 ? uri.udp : uri.group ? UDP_MULTICAST : UDP_UNICAST);
    }
    return true;
}

bool accept_local(void *item, const char *text, char *why, size_t why_size)
{
    struct conf_face *face = item;
    struct uri uri;
    if (!read_uri(text, &uri, why, why_size))
        return false;
    if (uri.kind == CONF_BARE || uri.group)
        return refuse(why, why_size,
                      "is not an address of this host; a unicast ether://, udp4:// or udp6:// is allowed");
    memcpy(face->local_ip, uri.ip, sizeof uri.ip);
    face->local_kind = uri.kind;
    face->local_udp = (uint16_t)uri.udp;
    face->has_local_mac = uri.kind == CONF_ETHER;
    memcpy(face->local_mac, uri.mac, sizeof uri.mac);
    return true;
}

bool accept_mac(void *item, const char *text, char *why, size_t why_size)
{
    struct conf_face *face = item;
    uint8_t mac[6];
    if (!read_mac(text, strlen(text), mac) || (mac[0] & 1) != 0 || is_zero_mac(mac))
        return refuse(why, why_size, "is not a unicast MAC address of six octets; an example is \"02:00:00:00:00:01\"");
    memcpy(face->remote_mac, mac, sizeof mac);
    face->mac_static = true;
    return true;
}

bool accept_next_hop(void *item, const char *text, char *why, size_t why_size)
{
    struct conf_face *face = item;
    int af = strchr(text, ':') != NULL ? AF_INET6 : AF_INET;
    uint8_t ip[16] = {0};
    if (inet_pton(af, text, ip) != 1 ||
        (af == AF_INET ? why_not_host4(ip) != NULL || is_group4(ip) : why_not_host6(ip) != NULL || ip[0] == 0xFF))
        return refuse(why, why_size, "is not an address of a host; an example is \"10.0.0.254\" or \"fd00::fe\"");
    memcpy(face->next_hop, ip, sizeof ip);
    face->has_next_hop = true;
    return true;
}

static bool is_hex(char c)
{
    return (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'f');
}

bool accept_name(void *item, const char *text, char *why, size_t why_size)
{
    (void)item;
    if (text[0] != '/')
        return refuse(why, why_size, "is not a name; it must start with '/', an example is \"/example/app\"");
    unsigned n = 0;
    const char *p = text + 1;
    while (*p != '\0') {
        size_t len = strcspn(p, "/");
        if (len == 0)
            return refuse(why, why_size, "has an empty component; \"...\" is how that is written");
        if ((len == 1 && p[0] == '.') || (len == 2 && p[0] == '.' && p[1] == '.'))
            return refuse(why, why_size, "has a component \".\" or \"..\"; those mean nothing in a name");
        if (++n > NAME_COMPONENTS_MAX)
            return refuse(why, why_size, "has too many components; at most %d are looked up", NAME_COMPONENTS_MAX);
        for (size_t i = 0; i < len; i++)
            if (p[i] == '%' && (i + 2 >= len || !is_hex(p[i + 1]) || !is_hex(p[i + 2])))
                return refuse(why, why_size, "has a bad percent-escape; '%%' and two hexadecimal digits are allowed");
        p += len;
        // One "/" may end the name.
        if (*p == '/')
            p++;
    }
    return true;
}

bool accept_strategy(void *item, const char *text, char *why, size_t why_size)
{
    static const char prefix[] = "/localhost/nfd/strategy/";
    static const char *const known[] = {"access", "asf", "best-route", "multicast", "random", "self-learning"};
    (void)item;
    const char *word = strncmp(text, prefix, sizeof prefix - 1) == 0 ? text + sizeof prefix - 1 : text;
    size_t len = strcspn(word, "/");
    for (unsigned i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strlen(known[i]) == len && memcmp(known[i], word, len) == 0)
            return word[len] == '\0' || accept_name(item, word + len, why, why_size);
    return refuse(why, why_size,
                  "is not known; \"access\", \"asf\", \"best-route\", \"multicast\", \"random\" and "
                  "\"self-learning\" are allowed, also with a version and parameters as \"asf/v=5/max-timeouts~2\"");
}
