// SPDX-License-Identifier: Apache-2.0
#ifndef TEST_UNIT_FWD_ALLOC_H
#define TEST_UNIT_FWD_ALLOC_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/*
 * Each function that asks the C library or the kernel for memory, so that calls count while counting is set: those of
 * other libraries, too. For one source file of a program.
 */
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t n, size_t size);
extern void *__libc_realloc(void *p, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);
extern void __libc_free(void *p);

static bool counting;
static uint64_t n_calls;

void *malloc(size_t size)
{
    n_calls += counting;
    return __libc_malloc(size);
}

void *calloc(size_t n, size_t size)
{
    n_calls += counting;
    return __libc_calloc(n, size);
}

void *realloc(void *p, size_t size)
{
    n_calls += counting;
    return __libc_realloc(p, size);
}

void free(void *p)
{
    n_calls += counting;
    __libc_free(p);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    n_calls += counting;
    return __libc_memalign(alignment, size);
}

int posix_memalign(void **p, size_t alignment, size_t size)
{
    n_calls += counting;
    *p = __libc_memalign(alignment, size);
    return *p != NULL ? 0 : ENOMEM;
}

void *mmap(void *addr, size_t len, int prot, int flags, int fd, off_t offset)
{
    n_calls += counting;
    return (void *)syscall(SYS_mmap, addr, len, prot, flags, fd, offset);
}

#endif
