// SPDX-License-Identifier: Apache-2.0
#include "test/load/names.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
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

/* Two hexadecimal digits of an octet, and back: 0x10 and more for what is no digit. */
static uint8_t hex_of[256][2], nibble_of[256];

static void make_tables(void)
{
    memset(nibble_of, 0xff, sizeof nibble_of);
    for (unsigned i = 0; i < 256; i++) {
        static const char digits[] = "0123456789abcdef";
        hex_of[i][0] = (uint8_t)digits[i >> 4];
        hex_of[i][1] = (uint8_t)digits[i & 15];
        if (i < 16)
            nibble_of[(uint8_t)digits[i]] = (uint8_t)i;
    }
}

static int make_flows(struct names *names)
{
    names->flow_digits = malloc(names->flows * sizeof *names->flow_digits);
    if (names->flow_digits == NULL)
        return -ENOMEM;
    for (uint32_t i = 0; i < names->flows; i++) {
        char digits[FLOW_DIGITS + 1];
        snprintf(digits, sizeof digits, "%04u", i % 10000);
        memcpy(&names->flow_digits[i], digits, FLOW_DIGITS);
    }
    return 0;
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
    make_tables();
    int rc = make_flows(names);
    if (rc == 0 && names->kind == NAMES_ZIPF)
        rc = zipf_create(&names->zipf, names->n, options->zipf_s);
    if (rc != 0)
        names_destroy(names);
    return rc;
}

void names_destroy(struct names *names)
{
    zipf_destroy(&names->zipf);
    free(names->flow_digits);
    names->flow_digits = NULL;
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

static uint32_t flow_of(const struct names *names, uint32_t number)
{
    return names->flows > 1 ? names->flow_digits[number % names->flows] : names->flow_digits[0];
}

void names_write(const struct names *names, uint32_t number, uint8_t *value)
{
    if (names->has_flow) {
        uint32_t flow = flow_of(names, number);
        memcpy(value + names->flow_off, &flow, FLOW_DIGITS);
    }
    uint8_t *p = value + names->number_off;
    memcpy(p, hex_of[number >> 24], 2);
    memcpy(p + 2, hex_of[number >> 16 & 0xff], 2);
    memcpy(p + 4, hex_of[number >> 8 & 0xff], 2);
    memcpy(p + 6, hex_of[number & 0xff], 2);
}

void names_mask(const struct names *names, uint8_t *mask)
{
    if (names->has_flow)
        memset(mask + names->flow_off, 0, FLOW_DIGITS);
    memset(mask + names->number_off, 0, NUMBER_DIGITS);
}

bool names_digits(const struct names *names, const uint8_t *value, uint32_t *number)
{
    const uint8_t *p = value + names->number_off;
    uint32_t read = 0, bad = 0;
    for (unsigned i = 0; i < NUMBER_DIGITS; i++) {
        uint32_t nibble = nibble_of[p[i]];
        bad |= nibble;
        read = read << 4 | (nibble & 15);
    }
    if (bad > 15)
        return false;
    *number = read;
    if (!names->has_flow)
        return true;
    uint32_t flow = flow_of(names, read);
    return memcmp(value + names->flow_off, &flow, FLOW_DIGITS) == 0;
}

bool names_read(const struct names *names, bool is_data, const uint8_t *value, size_t len, uint32_t *number)
{
    uint32_t read;
    if (len != (is_data ? names->data_len : names->len) || !names_digits(names, value, &read))
        return false;
    // What is fixed: up to the flow's digits, from there to the number's, and behind them.
    size_t at = names->has_flow ? (size_t)names->flow_off + FLOW_DIGITS : 0;
    size_t behind = (size_t)names->number_off + NUMBER_DIGITS;
    if ((names->has_flow && memcmp(value, names->value, names->flow_off) != 0) ||
        memcmp(value + at, names->value + at, names->number_off - at) != 0 ||
        memcmp(value + behind, names->value + behind, len - behind) != 0)
        return false;
    *number = read;
    return true;
}
