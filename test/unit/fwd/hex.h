// SPDX-License-Identifier: Apache-2.0
#ifndef TEST_UNIT_FWD_HEX_H
#define TEST_UNIT_FWD_HEX_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/** Octets of a hexadecimal string. @return their number */
static inline size_t hex_octets(const char *hex, uint8_t *p, size_t size)
{
    size_t n = strlen(hex) / 2;
    if (n > size)
        abort();
    for (size_t i = 0; i < n; i++) {
        unsigned octet;
        if (sscanf(hex + 2 * i, "%2x", &octet) != 1)
            abort();
        p[i] = (uint8_t)octet;
    }
    return n;
}

#endif
