// SPDX-License-Identifier: Apache-2.0
#include "fwd/daemon/telemetry_prefix.h"

#include <rte_telemetry.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fwd/fwd.h"
#include "fwd/daemon/telemetry_page.h"
#include "fwd/strategy_set.h"

/** The strategy a FIB item carries, as NFD names it. */
static void add_strategy(const struct strategy_set *set, struct rte_tel_data *row, uint16_t number)
{
    char text[STRATEGY_TEXT_MAX];
    (void)strategy_set_text(set, number, text, sizeof text);
    page_text(row, "strategy", text);
}

struct prefix_row {
    size_t name; /**< offset of the TLV-VALUE in names */
    uint16_t name_len;
    uint16_t strategy;
    struct fib_nexthop nexthop;
};

void prefix_list_clear(struct prefix_list *list)
{
    free(list->row);
    free(list->names);
    *list = (struct prefix_list){.strategies = list->strategies, .id = list->id};
}

/** The array with room for @p n more elements, maybe moved; NULL without memory, the old one is then as it was. */
static void *grow(void *array, size_t *size, size_t used, size_t n, size_t elem_size)
{
    if (array != NULL && n <= *size - used)
        return array;
    size_t wanted = (used + n) * 2 + 64;
    void *grown = realloc(array, wanted * elem_size);
    if (grown != NULL)
        *size = wanted;
    return grown;
}

static bool list_visit(void *ctx, const struct fib_item *item)
{
    struct prefix_list *list = ctx;
    unsigned n_rows = list->strategies ? item->has_strategy : item->has_nexthops ? item->entry->n_nexthops : 0;
    if (n_rows == 0)
        return true;
    uint8_t *names = grow(list->names, &list->names_size, list->names_len, item->len, 1);
    if (names != NULL)
        list->names = names;
    struct prefix_row *rows = grow(list->row, &list->size, list->n, n_rows, sizeof *rows);
    if (rows != NULL)
        list->row = rows;
    if (names == NULL || rows == NULL) {
        list->failed = true;
        return false;
    }
    if (item->len > 0)
        memcpy(list->names + list->names_len, item->prefix, item->len);
    for (unsigned i = 0; i < n_rows; i++) {
        struct prefix_row *row = &list->row[list->n++];
        *row = (struct prefix_row){.name = list->names_len, .name_len = item->len, .strategy = item->entry->strategy};
        if (!list->strategies)
            row->nexthop = item->entry->nexthop[i];
    }
    list->names_len += item->len;
    return true;
}

int prefix_list_answer(struct prefix_list *list, const struct fwd_shared *shared, const struct strategy_set *set,
                       struct rte_tel_data *d, uint64_t start)
{
    if (start == 0) {
        prefix_list_clear(list);
        list->id++;
        fib_foreach(shared->fib, list_visit, list);
        if (list->failed) {
            prefix_list_clear(list);
            return -1;
        }
    } else if (start >> 32 != list->id) {
        return -1;
    }
    struct page page;
    page_begin(&page);
    page.base = (uint64_t)list->id << 32;
    for (uint64_t i = start & UINT32_MAX; i < list->n; i++) {
        const struct prefix_row *from = &list->row[i];
        // Each octet of a name may take three characters.
        char uri[3 * NDN_NAME_MAX + 2 * NDN_NAME_DEPTH];
        int len = ndn_name_to_uri(list->names + from->name, from->name_len, uri, sizeof uri);
        struct rte_tel_data *row =
            page_row(&page, i, (list->strategies ? STRATEGY_TEXT_MAX : 150u) + (len > 0 ? (size_t)len : 0));
        if (row == NULL)
            break;
        page_text(row, "prefix", uri);
        if (list->strategies) {
            add_strategy(set, row, from->strategy);
        } else {
            rte_tel_data_add_dict_u64(row, "face", from->nexthop.face);
            rte_tel_data_add_dict_u64(row, "cost", from->nexthop.cost);
        }
    }
    if (!page.full)
        prefix_list_clear(list);
    return page_end(&page, d);
}
