// SPDX-License-Identifier: Apache-2.0
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conf/accept.h"
#include "conf/conf.h"

static int digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool conf_hex(const char *text, uint8_t *octets, size_t len)
{
    if (strlen(text) != 2 * len)
        return false;
    for (size_t i = 0; i < len; i++) {
        int high = digit(text[2 * i]), low = digit(text[2 * i + 1]);
        if (high < 0 || low < 0)
            return false;
        octets[i] = (uint8_t)(high << 4 | low);
    }
    return true;
}

unsigned conf_quic_id(const char *text, uint8_t octets[16])
{
    size_t len = strlen(text) / 2;
    memset(octets, 0, 16);
    return len >= 1 && len <= 15 && conf_hex(text, octets, len) ? (unsigned)len : 0;
}

/* A host of whatever kind: neither a group, nor nobody, nor everybody. */
static bool read_host(const char *text, uint8_t ip[16], bool *v6)
{
    static const uint8_t nobody[16];
    *v6 = strchr(text, ':') != NULL;
    memset(ip, 0, 16);
    if (inet_pton(*v6 ? AF_INET6 : AF_INET, text, ip) != 1)
        return false;
    if (*v6)
        return ip[0] != 0xff && memcmp(ip, nobody, 16) != 0;
    return ip[0] != 0 && ip[0] < 224;
}

bool conf_quic_vip(const char *text, uint8_t ip[16], bool *v6, uint16_t *port)
{
    char address[INET6_ADDRSTRLEN];
    const char *colon = strrchr(text, ':');
    if (colon == NULL)
        return false;
    size_t digits = strlen(colon + 1), len = (size_t)(colon - text);
    bool bracket = text[0] == '[';
    if (digits == 0 || digits > 5 || colon[1 + strspn(colon + 1, "0123456789")] != '\0')
        return false;
    unsigned long number = strtoul(colon + 1, NULL, 10);
    if (number == 0 || number > 65535 || (bracket && (len < 2 || colon[-1] != ']')))
        return false;
    const char *start = text + bracket;
    len -= 2u * bracket;
    if (len >= sizeof address)
        return false;
    memcpy(address, start, len);
    address[len] = '\0';
    *port = (uint16_t)number;
    return read_host(address, ip, v6) && *v6 == bracket;
}

bool accept_vip(void *item, const char *text, char *why, size_t why_size)
{
    (void)item;
    uint8_t ip[16];
    bool v6;
    uint16_t port;
    if (conf_quic_vip(text, ip, &v6, &port))
        return true;
    snprintf(why, why_size,
             "is no address of a host with a UDP port; as \"203.0.113.10:443\" or \"[2001:db8::10]:443\" is needed");
    return false;
}

bool accept_version(void *item, const char *text, char *why, size_t why_size)
{
    (void)item;
    size_t n = strspn(text + (strncmp(text, "0x", 2) == 0 ? 2 : 0), "0123456789abcdefABCDEF");
    if (strncmp(text, "0x", 2) == 0 && n >= 1 && n <= 8 && text[2 + n] == '\0' && strtoul(text, NULL, 16) != 0)
        return true;
    snprintf(why, why_size, "is no QUIC version; 1 to 8 hexadecimal digits after \"0x\" are needed, not all of them 0");
    return false;
}

bool accept_hash_key(void *item, const char *text, char *why, size_t why_size)
{
    (void)item;
    uint8_t octets[16];
    if (text[0] == '/' || conf_hex(text, octets, sizeof octets))
        return true;
    snprintf(why, why_size, "is no key; 32 hexadecimal digits, or an absolute path of a file with them, are needed");
    return false;
}

bool accept_server_id(void *item, const char *text, char *why, size_t why_size)
{
    (void)item;
    uint8_t octets[16];
    if (conf_quic_id(text, octets) != 0)
        return true;
    snprintf(why, why_size, "is no server ID; 1 to 15 octets in hexadecimal digits are needed, as in \"c4605e\"");
    return false;
}

bool accept_server_address(void *item, const char *text, char *why, size_t why_size)
{
    struct conf_quic_server *server = item;
    if (read_host(text, server->ip, &server->v6))
        return true;
    snprintf(why, why_size, "is not an address of a host; an example is \"10.0.0.2\" or \"fd00::2\"");
    return false;
}

bool accept_server_mac(void *item, const char *text, char *why, size_t why_size)
{
    static const uint8_t nobody[6];
    struct conf_quic_server *server = item;
    size_t n = 0;
    for (; n < 6 && strlen(text) == 17; n++) {
        char pair[3] = {text[3 * n], text[3 * n + 1], '\0'};
        if (!conf_hex(pair, &server->mac[n], 1) || (n < 5 && text[3 * n + 2] != ':'))
            break;
    }
    if (n == 6 && (server->mac[0] & 1) == 0 && memcmp(server->mac, nobody, 6) != 0)
        return true;
    snprintf(why, why_size, "is not a unicast MAC address of six octets; an example is \"02:00:00:00:00:01\"");
    return false;
}
