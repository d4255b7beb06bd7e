// SPDX-License-Identifier: Apache-2.0
#include "fwd/daemon/telemetry_page.h"

#include <rte_telemetry.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/** Of the 16 kB of an answer; the rest is for what frames it. */
#define PAGE_OCTETS 15000
/** Below RTE_TEL_MAX_DICT_ENTRIES. */
#define PAGE_ROWS 200
/** The library ends a string after this many octets. */
#define PIECE (RTE_TEL_MAX_STRING_LEN - 1)

void page_begin(struct page *page)
{
    *page = (struct page){.rows = rte_tel_data_alloc()};
    if (page->rows != NULL)
        rte_tel_data_start_dict(page->rows);
}

struct rte_tel_data *page_row(struct page *page, uint64_t number, size_t octets)
{
    char key[24];
    // A row larger than a page is sent alone.
    if (page->full || page->n == PAGE_ROWS || (page->n > 0 && octets > PAGE_OCTETS - page->octets))
        goto full;
    struct rte_tel_data *row = page->rows != NULL ? rte_tel_data_alloc() : NULL;
    if (row == NULL)
        goto full;
    rte_tel_data_start_dict(row);
    snprintf(key, sizeof key, "%" PRIu64, number);
    if (rte_tel_data_add_dict_container(page->rows, key, row, 0) != 0) {
        rte_tel_data_free(row);
        goto full;
    }
    page->octets += octets < PAGE_OCTETS - page->octets ? octets : PAGE_OCTETS - page->octets;
    page->n++;
    return row;
full:
    page->next = number;
    page->full = true;
    return NULL;
}

void page_text(struct rte_tel_data *row, const char *key, const char *text)
{
    char piece[RTE_TEL_MAX_STRING_LEN];
    if (text == NULL)
        text = "";
    size_t len = strlen(text);
    if (len <= PIECE) {
        rte_tel_data_add_dict_string(row, key, text);
        return;
    }
    struct rte_tel_data *pieces = rte_tel_data_alloc();
    if (pieces == NULL)
        return;
    rte_tel_data_start_array(pieces, RTE_TEL_STRING_VAL);
    for (size_t at = 0; at < len; at += PIECE) {
        snprintf(piece, sizeof piece, "%.*s", PIECE, text + at);
        rte_tel_data_add_array_string(pieces, piece);
    }
    if (rte_tel_data_add_dict_container(row, key, pieces, 0) != 0)
        rte_tel_data_free(pieces);
}

int page_end(struct page *page, struct rte_tel_data *d)
{
    rte_tel_data_start_dict(d);
    // A first row always has room, unless memory ran out.
    if (page->rows == NULL || (page->full && page->n == 0) ||
        rte_tel_data_add_dict_container(d, "rows", page->rows, 0) != 0) {
        rte_tel_data_free(page->rows);
        return -1;
    }
    if (page->full)
        rte_tel_data_add_dict_u64(d, "next", page->base + page->next);
    return 0;
}
