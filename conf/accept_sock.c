// SPDX-License-Identifier: Apache-2.0
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conf/accept.h"
#include "conf/conf.h"

bool accept_mode(void *item, const char *text, char *why, size_t why_size)
{
    struct conf_unix *socket = item;
    size_t len = strlen(text);
    if (len < 3 || len > 4 || text[strspn(text, "01234567")] != '\0' || (len == 4 && text[0] != '0')) {
        snprintf(why, why_size, "is not a file mode; octal digits are needed, as in \"0660\"");
        return false;
    }
    socket->mode = (unsigned)strtoul(text, NULL, 8);
    return true;
}

bool accept_group(void *item, const char *text, char *why, size_t why_size)
{
    if (accept_user(item, text, why, why_size))
        return true;
    snprintf(why, why_size, "is not the name of a group; letters, digits, '_', '-' and '.' are allowed");
    return false;
}

bool conf_subnet(const char *text, uint8_t ip[16], uint8_t *prefix_len)
{
    char address[INET6_ADDRSTRLEN];
    size_t len = strcspn(text, "/");
    if (len >= sizeof address)
        return false;
    memcpy(address, text, len);
    address[len] = '\0';
    bool v4 = strchr(address, ':') == NULL;
    memset(ip, 0, 16);
    ip[10] = ip[11] = v4 ? 0xff : 0;
    if (inet_pton(v4 ? AF_INET : AF_INET6, address, v4 ? ip + 12 : ip) != 1)
        return false;
    unsigned bits = v4 ? 32 : 128, given = bits;
    if (text[len] == '/') {
        const char *digits = text + len + 1;
        size_t n = strlen(digits);
        if (n == 0 || n > 3 || digits[strspn(digits, "0123456789")] != '\0')
            return false;
        given = (unsigned)strtoul(digits, NULL, 10);
    }
    if (given > bits)
        return false;
    *prefix_len = (uint8_t)(128 - bits + given);
    return true;
}

bool accept_subnet(void *item, const char *text, char *why, size_t why_size)
{
    (void)item;
    uint8_t ip[16], prefix_len;
    if (conf_subnet(text, ip, &prefix_len))
        return true;
    snprintf(why, why_size, "is no subnet; an address with a prefix length is needed, as in \"127.0.0.0/8\"");
    return false;
}
