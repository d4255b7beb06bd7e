// SPDX-License-Identifier: Apache-2.0
#include "test/quic/pattern.h"

#include <string.h>

#define PERIOD 1000003 /**< a prime */

static uint8_t octets[PERIOD];

static void fill(void)
{
    uint64_t state = 1;
    if (octets[0] != 0)
        return;
    for (size_t i = 0; i < PERIOD; i++) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        octets[i] = (uint8_t)(state >> 24);
    }
    octets[0] = 1;
}

uint8_t *pattern_at(uint64_t offset, size_t *len)
{
    size_t at = offset % PERIOD;
    fill();
    if (*len > PERIOD - at)
        *len = PERIOD - at;
    return octets + at;
}

bool pattern_check(uint64_t offset, const uint8_t *data, size_t len)
{
    while (len > 0) {
        size_t n = len;
        const uint8_t *want = pattern_at(offset, &n);
        if (memcmp(want, data, n) != 0)
            return false;
        offset += n;
        data += n;
        len -= n;
    }
    return true;
}
