// SPDX-License-Identifier: Apache-2.0
#ifndef FWD_DAEMON_TELEMETRY_PAGE_H
#define FWD_DAEMON_TELEMETRY_PAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rte_tel_data;

/*
 * One page of a list for the telemetry socket (fwd/daemon/telemetry.h): rows are added until the answer would outgrow
 * what the library sends, which it would cut without a word. Control code, single-threaded.
 */
struct page {
    struct rte_tel_data *rows;
    size_t octets; /**< estimate of the answer so far */
    unsigned n;
    uint64_t base; /**< added to the number of the next row */
    uint64_t next;
    bool full; /**< next is the first row of the next page */
};

void page_begin(struct page *page);

/**
 * Room for a row of at most about @p octets. @return the row, an empty object that belongs to the page; NULL when the
 * page is full, which makes @p number the first row of the next page
 */
struct rte_tel_data *page_row(struct page *page, uint64_t number, size_t octets);

/** Add a string of any length to a row; a long one goes as an array of pieces. NULL is written as "". */
void page_text(struct rte_tel_data *row, const char *key, const char *text);

/** Make the page the answer @p d. @return 0, or -1 when there was no memory for it */
int page_end(struct page *page, struct rte_tel_data *d);

#endif
