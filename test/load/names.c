// SPDX-License-Identifier: Apache-2.0
#include "test/load/names.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "parser/ndn_encode.h"

#define NUMBER_DIGITS 8
#define FLOW_DIGITS   4
#define DATA_WORD     "data"

/* Add a GenericNameComponent. @return where its octets are, or 0 when there is no room */
static uint16_t add(struct names *names, const char *text)
{
    size_t len = strlen(text);
    if (len > 200 || names->data_len + len + 2 > sizeof names->value)
        return 0;
    uint8_t *p = names->value + names->data_len;
    p[0] = NDN_GENERIC;
    p[1] = (uint8_t)len;
    memcpy(p + 2, text, len);
    names->data_len = (uint16_t)(names->data_len + len + 2);
    return (uint16_t)(names->data_len - len);
}

int names_create(struct names *names, const struct options *options)
{
    *names = (struct names){.kind = options->names,
                            .first = options->first,
                            .n = options->n_names,
                            .flows = options->flows,
                            .random = random_seed(options->seed + 1)};
    int len = ndn_name_from_uri(options->prefix, names->value, sizeof names->value);
    struct ndn_name prefix;
    if (len < 0 || ndn_name_parse(names->value, (size_t)len, false, &prefix) != VERDICT_OK) {
        fprintf(stderr, "pitlane-load: \"%s\" is no name\n", options->prefix);
        return -EINVAL;
    }
    names->data_len = (uint16_t)len;
    if (prefix.n_comps >= options->components) {
        fprintf(stderr, "pitlane-load: %u components leave no room behind the prefix\n", options->components);
        return -EINVAL;
    }
    unsigned left = options->components - prefix.n_comps - 1;
    bool fits = true;
    if (left > 0) {
        names->has_flow = true;
        names->flow_off = (uint16_t)(add(names, "flow0000") + 4);
        fits = names->flow_off != 4;
        left--;
    } else if (options->flows > 1) {
        fprintf(stderr, "pitlane-load: --flows needs two components behind the prefix\n");
        return -EINVAL;
    }
    for (; left > 0 && fits; left--)
        fits = add(names, "aaaaaaaa") != 0;
    fits = fits && (names->number_off = add(names, "00000000")) != 0;
    names->len = names->data_len;
    fits = fits && (!options->can_be_prefix || add(names, DATA_WORD) != 0);
    if (!fits) {
        fprintf(stderr, "pitlane-load: names are longer than %d octets\n", NDN_NAME_MAX);
        return -EINVAL;
    }
    return names->kind == NAMES_ZIPF ? zipf_create(&names->zipf, names->n, options->zipf_s) : 0;
}

void names_destroy(struct names *names)
{
    zipf_destroy(&names->zipf);
}

uint32_t names_next(struct names *names, uint64_t k)
{
    switch (names->kind) {
    case NAMES_CYCLE:
        return names->first + (uint32_t)(k % names->n);
    case NAMES_ZIPF:
        return names->first + zipf_draw(&names->zipf, &names->random);
    }
    return names->first + (uint32_t)k;
}

static void write_digits(uint8_t *to, uint32_t number, unsigned base, unsigned n)
{
    for (unsigned i = n; i-- > 0; number /= base)
        to[i] = (uint8_t) "0123456789abcdef"[number % base];
}

void names_write(const struct names *names, uint32_t number, uint8_t *value)
{
    if (names->has_flow)
        write_digits(value + names->flow_off, number % names->flows, 10, FLOW_DIGITS);
    write_digits(value + names->number_off, number, 16, NUMBER_DIGITS);
}

static bool read_digits(const uint8_t *from, uint32_t *number)
{
    uint32_t sum = 0;
    for (unsigned i = 0; i < NUMBER_DIGITS; i++) {
        uint8_t c = from[i];
        uint32_t digit;
        if (c >= '0' && c <= '9')
            digit = c - (uint32_t)'0';
        else if (c >= 'a' && c <= 'f')
            digit = c - (uint32_t)'a' + 10;
        else
            return false;
        sum = sum << 4 | digit;
    }
    *number = sum;
    return true;
}

bool names_read(const struct names *names, bool is_data, const uint8_t *value, size_t len, uint32_t *number)
{
    uint32_t read;
    if (len != (is_data ? names->data_len : names->len) || !read_digits(value + names->number_off, &read))
        return false;
    // What is fixed: up to the flow's digits, from there to the number's, and behind them.
    size_t at = 0;
    if (names->has_flow) {
        uint8_t flow[FLOW_DIGITS];
        write_digits(flow, read % names->flows, 10, FLOW_DIGITS);
        if (memcmp(value, names->value, names->flow_off) != 0 ||
            memcmp(value + names->flow_off, flow, FLOW_DIGITS) != 0)
            return false;
        at = names->flow_off + FLOW_DIGITS;
    }
    size_t behind = (size_t)names->number_off + NUMBER_DIGITS;
    if (memcmp(value + at, names->value + at, names->number_off - at) != 0 ||
        memcmp(value + behind, names->value + behind, len - behind) != 0)
        return false;
    *number = read;
    return true;
}
