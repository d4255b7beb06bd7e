// SPDX-License-Identifier: Apache-2.0
#ifndef TEST_UNIT_PARSER_GUARD_H
#define TEST_UNIT_PARSER_GUARD_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/** Memory that ends at a page nobody may touch, so that the first octet read past a buffer kills the test. */
struct guard {
    uint8_t *end;
    size_t size;
};

static inline struct guard guard_make(size_t size)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), usable = (size + page - 1) / page * page;
    uint8_t *base = mmap(NULL, usable + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (base == MAP_FAILED || mprotect(base + usable, page, PROT_NONE) != 0)
        abort();
    return (struct guard){.end = base + usable, .size = usable};
}

/** A copy of @p len octets that ends where the forbidden page begins. */
static inline const uint8_t *guard_copy(const struct guard *guard, const uint8_t *p, size_t len)
{
    if (len > guard->size)
        abort();
    if (len > 0)
        memcpy(guard->end - len, p, len);
    return guard->end - len;
}

#endif
