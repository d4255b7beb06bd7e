// SPDX-License-Identifier: Apache-2.0
#include "parser/random.h"

#include <errno.h>
#include <stdbool.h>
#include <sys/random.h>

static struct {
    bool fixed;
    uint64_t state;
} source;

/* splitmix64 */
static uint64_t next(void)
{
    uint64_t z = source.state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

void random_fix(uint64_t seed)
{
    source.fixed = true;
    source.state = seed;
}

int random_octets(void *out, size_t len)
{
    uint8_t *octets = out;
    if (!source.fixed) {
        // Keys are short: what getrandom(2) gives of one is all of it, or nothing.
        return getrandom(out, len, 0) == (ssize_t)len ? 0 : -EIO;
    }
    for (size_t i = 0; i < len; i += sizeof(uint64_t)) {
        uint64_t word = next();
        // Lowest octet first, whatever the machine's order is.
        for (size_t k = i; k < len && k < i + sizeof word; k++, word >>= 8)
            octets[k] = (uint8_t)word;
    }
    return 0;
}
