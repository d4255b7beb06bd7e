// SPDX-License-Identifier: Apache-2.0
#include "conf/stringpool.h"

#include <stdlib.h>
#include <string.h>

#define BLOCK_SIZE 4096

struct stringpool_block {
    struct stringpool_block *next;
    size_t used, size;
    char text[];
};

const char *stringpool_keep(struct stringpool *strings, const char *text, size_t len)
{
    struct stringpool_block *block = strings->first;
    if (block == NULL || block->size - block->used <= len) {
        size_t size = len < BLOCK_SIZE ? BLOCK_SIZE : len + 1;
        block = malloc(sizeof *block + size);
        if (block == NULL)
            return NULL;
        block->next = strings->first;
        block->used = 0;
        block->size = size;
        strings->first = block;
    }
    char *copy = block->text + block->used;
    memcpy(copy, text, len);
    copy[len] = '\0';
    block->used += len + 1;
    return copy;
}

void stringpool_free(struct stringpool *strings)
{
    while (strings->first != NULL) {
        struct stringpool_block *next = strings->first->next;
        free(strings->first);
        strings->first = next;
    }
}
