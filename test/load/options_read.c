// SPDX-License-Identifier: Apache-2.0
#include "test/load/options_read.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool options_read_real(const char *text, double min, double max, double *value)
{
    char *end;
    if (!isdigit((unsigned char)text[0]) && text[0] != '.')
        return false;
    double number = strtod(text, &end);
    switch (*end) {
    case 'k':
        number *= 1e3;
        end++;
        break;
    case 'M':
        number *= 1e6;
        end++;
        break;
    case 'G':
        number *= 1e9;
        end++;
        break;
    }
    if (*end != '\0' || !isfinite(number) || number < min || number > max)
        return false;
    *value = number;
    return true;
}

bool options_read_number(const char *text, uint64_t min, uint64_t max, uint64_t *value)
{
    double number;
    if (!options_read_real(text, (double)min, (double)max, &number) || floor(number) < number)
        return false;
    *value = (uint64_t)number;
    return true;
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)tolower((unsigned char)c);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Pairs of hexadecimal digits. @return octets, or -1 */
static int read_hex(const char *text, size_t len, uint8_t *octets, size_t size)
{
    if (len % 2 != 0 || len / 2 > size)
        return -1;
    for (size_t i = 0; i < len; i += 2) {
        int high = hex_digit(text[i]), low = hex_digit(text[i + 1]);
        if (high < 0 || low < 0)
            return -1;
        octets[i / 2] = (uint8_t)(high << 4 | low);
    }
    return (int)(len / 2);
}

static bool read_mac(const char *text, uint8_t mac[OPTIONS_MAC_SIZE])
{
    if (strlen(text) != 17)
        return false;
    for (unsigned i = 0; i < OPTIONS_MAC_SIZE; i++) {
        if (read_hex(text + 3 * i, 2, mac + i, 1) != 1 || (i < 5 && text[3 * i + 2] != ':'))
            return false;
    }
    return true;
}

static bool read_ip(const char *text, struct options_end *end, uint8_t ip[16])
{
    uint8_t family = strchr(text, ':') != NULL ? AF_INET6 : AF_INET;
    if ((end->family != 0 && end->family != family) || inet_pton(family, text, ip) != 1)
        return false;
    end->family = family;
    return true;
}

static bool read_u16(const char *text, uint64_t min, uint64_t max, uint16_t *value)
{
    uint64_t number;
    if (!options_read_number(text, min, max, &number))
        return false;
    *value = (uint16_t)number;
    return true;
}

static bool read_link(const char *text, struct options_end *end)
{
    static const char *const names[] = {
        [LINK_AUTO] = "auto", [LINK_ETHER] = "ether", [LINK_UDP] = "udp", [LINK_BARE] = "bare"};
    for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(text, names[i]) == 0) {
            end->link = (uint8_t)i;
            return true;
        }
    }
    return false;
}

static bool read_end_key(const char *key, const char *value, struct options_end *end)
{
    if (strcmp(key, "link") == 0)
        return read_link(value, end);
    if (strcmp(key, "mac") == 0)
        return end->has_local_mac = read_mac(value, end->local_mac);
    if (strcmp(key, "to") == 0)
        return end->has_remote_mac = read_mac(value, end->remote_mac);
    if (strcmp(key, "vlan") == 0)
        return read_u16(value, 1, 4094, &end->vlan);
    if (strcmp(key, "ip") == 0)
        return read_ip(value, end, end->local_ip);
    if (strcmp(key, "to-ip") == 0)
        return read_ip(value, end, end->remote_ip);
    if (strcmp(key, "udp") == 0)
        return read_u16(value, 1, 65535, &end->local_udp);
    if (strcmp(key, "to-udp") == 0)
        return read_u16(value, 1, 65535, &end->remote_udp);
    return false;
}

bool options_read_end(const char *text, struct options_end *end)
{
    char copy[512];
    if (strlen(text) >= sizeof copy)
        return false;
    strcpy(copy, text);
    *end = (struct options_end){.present = true, .local_udp = 6363, .remote_udp = 6363};
    char *save, *word = strtok_r(copy, ",", &save);
    if (word == NULL || !read_u16(word, 0, 1023, &end->port))
        return false;
    while ((word = strtok_r(NULL, ",", &save)) != NULL) {
        char *value = strchr(word, '=');
        if (value == NULL)
            return false;
        *value++ = '\0';
        if (!read_end_key(word, value, end))
            return false;
    }
    return true;
}

bool options_read_names(const char *text, struct options *options)
{
    if (strcmp(text, "distinct") == 0) {
        options->names = NAMES_DISTINCT;
        return true;
    }
    char copy[64], *save;
    if (strlen(text) >= sizeof copy)
        return false;
    strcpy(copy, text);
    const char *kind = strtok_r(copy, ":", &save), *count = strtok_r(NULL, ":", &save),
               *exponent = strtok_r(NULL, ":", &save);
    uint64_t n;
    if (kind == NULL || count == NULL || strtok_r(NULL, ":", &save) != NULL ||
        !options_read_number(count, 1, 1u << 24, &n))
        return false;
    options->n_names = (uint32_t)n;
    if (strcmp(kind, "cycle") == 0 && exponent == NULL) {
        options->names = NAMES_CYCLE;
        return true;
    }
    if (strcmp(kind, "zipf") == 0 && exponent != NULL && options_read_real(exponent, 0, 10, &options->zipf_s)) {
        options->names = NAMES_ZIPF;
        return true;
    }
    return false;
}

bool options_read_inject(const char *text, struct options_inject *inject)
{
    char copy[128], *save;
    if (strlen(text) >= sizeof copy)
        return false;
    strcpy(copy, text);
    for (char *word = strtok_r(copy, ",", &save); word != NULL; word = strtok_r(NULL, ",", &save)) {
        char *value = strchr(word, ':');
        if (value == NULL)
            return false;
        *value++ = '\0';
        uint32_t *to = strcmp(word, "drop") == 0      ? &inject->drop
                       : strcmp(word, "corrupt") == 0 ? &inject->corrupt
                       : strcmp(word, "nack") == 0    ? &inject->nack
                                                      : NULL;
        uint64_t number;
        if (to == NULL || !options_read_number(value, 1, UINT32_MAX, &number))
            return false;
        *to = (uint32_t)number;
    }
    return true;
}

bool options_read_quic_config(const char *text, struct options_quic *quic)
{
    char copy[128], *save;
    if (strlen(text) >= sizeof copy)
        return false;
    strcpy(copy, text);
    static const uint64_t max[3] = {QUIC_LB_CONFIGS - 1, QUIC_LB_SERVER_ID_MAX, QUIC_LB_NONCE_MAX};
    uint64_t number[3];
    for (unsigned i = 0; i < 3; i++) {
        const char *word = strtok_r(i == 0 ? copy : NULL, ":", &save);
        if (word == NULL || !options_read_number(word, 0, max[i], &number[i]))
            return false;
    }
    quic->config_id = (uint8_t)number[0];
    quic->config = (struct quic_lb_config){.server_id_len = (uint8_t)number[1], .nonce_len = (uint8_t)number[2]};
    const char *key = strtok_r(NULL, ":", &save);
    if (key != NULL) {
        quic->config.encrypted = true;
        if (read_hex(key, strlen(key), quic->config.key, AES128_BLOCK) != AES128_BLOCK)
            return false;
    }
    struct quic_lb *lb = calloc(1, sizeof *lb);
    bool good = lb != NULL && quic_lb_add_config(lb, quic->config_id, &quic->config) == 0;
    free(lb);
    return quic->has_config = good;
}

bool options_read_quic_server(const char *text, struct options_quic *quic)
{
    if (quic->n_servers == OPTIONS_QUIC_SERVERS_MAX)
        return false;
    struct quic_lb_id *id = &quic->server[quic->n_servers];
    const char *mac = strchr(text, '=');
    int len = read_hex(text, mac != NULL ? (size_t)(mac - text) : strlen(text), id->octets, sizeof id->octets);
    if (len < 1 || (mac != NULL && !read_mac(mac + 1, quic->server_mac[quic->n_servers])))
        return false;
    id->len = (uint8_t)len;
    quic->has_server_mac[quic->n_servers] = mac != NULL;
    quic->n_servers++;
    return true;
}
