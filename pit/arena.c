// SPDX-License-Identifier: Apache-2.0
#include "pit/arena.h"

#include <errno.h>
#include <stdint.h>
#include <sys/mman.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

#define SMALL_SIZE ((size_t)4096)

size_t arena_size(size_t size)
{
    size_t page = size >= ARENA_HUGE_SIZE ? ARENA_HUGE_SIZE : SMALL_SIZE;
    // A size that overflows when it is rounded up stays as it is: mmap() then refuses it.
    return size > SIZE_MAX - page ? size : (size + page - 1) & ~(page - 1);
}

/** Make every page present and writable, so that lack of memory shows here and not as a SIGBUS later. */
static bool populate(uint8_t *p, size_t size)
{
    if (madvise(p, size, MADV_POPULATE_WRITE) == 0)
        return true;
    if (errno != EINVAL)
        return false;
    // Kernels before 5.14.
    for (size_t i = 0; i < size; i += SMALL_SIZE)
        *(volatile uint8_t *)(p + i) = 0;
    return true;
}

static void *map_hugetlb(size_t size)
{
    void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1, 0);
    if (p == MAP_FAILED)
        return NULL;
    if (!populate(p, size)) {
        munmap(p, size);
        return NULL;
    }
    return p;
}

static void *map_ordinary(size_t size, bool want_huge)
{
    // Alignment to a huge page is made by mapping one more than needed and giving back both ends.
    size_t slack = size >= ARENA_HUGE_SIZE ? ARENA_HUGE_SIZE : 0;
    if (size > SIZE_MAX - slack)
        return NULL;
    uint8_t *p = mmap(NULL, size + slack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED)
        return NULL;
    if (slack != 0) {
        size_t head = (size_t)(-(uintptr_t)p) & (ARENA_HUGE_SIZE - 1);
        if (head != 0)
            munmap(p, head);
        if (slack != head)
            munmap(p + head + size, slack - head);
        p += head;
        // Advice only: without huge pages the tables work as well, more slowly.
        madvise(p, size, want_huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
    }
    if (!populate(p, size)) {
        munmap(p, size);
        return NULL;
    }
    return p;
}

void *arena_map(size_t size, enum arena_pages pages)
{
    if (size == 0)
        return NULL;
    size_t whole = arena_size(size);
    if (pages != ARENA_PAGES_SMALL && whole >= ARENA_HUGE_SIZE) {
        void *p = map_hugetlb(whole);
        if (p != NULL || pages == ARENA_PAGES_HUGE)
            return p;
    }
    return map_ordinary(whole, pages != ARENA_PAGES_SMALL);
}

void arena_unmap(void *p, size_t size)
{
    if (p != NULL)
        munmap(p, arena_size(size));
}
