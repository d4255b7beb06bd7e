// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "fwd/pkt.h"

static const uint8_t localhost[] = {8, 9, 'l', 'o', 'c', 'a', 'l', 'h', 'o', 's', 't'};
static const uint8_t localhop[] = {8, 8, 'l', 'o', 'c', 'a', 'l', 'h', 'o', 'p'};

bool pkt_is_localhost(const uint8_t *name, size_t len)
{
    return len >= sizeof localhost && memcmp(name, localhost, sizeof localhost) == 0;
}

bool pkt_is_localhop(const uint8_t *name, size_t len)
{
    return len >= sizeof localhop && memcmp(name, localhop, sizeof localhop) == 0;
}
