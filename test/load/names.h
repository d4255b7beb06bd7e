// SPDX-License-Identifier: Apache-2.0
#ifndef TEST_LOAD_NAMES_H
#define TEST_LOAD_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "parser/ndn_name.h"
#include "test/load/options.h"
#include "test/load/zipf.h"

/*
 * The names of a run: PREFIX/flowNNNN/aaaaaaaa/.../hhhhhhhh. Each has a number of 32 bits, hhhhhhhh in hexadecimal;
 * NNNN is that number modulo the flows, for forwarders with many routes. With few components the flow is left out.
 * Data that only a prefix names have one component more, "/data".
 */
struct names {
    uint8_t kind; /* enum options_names */
    bool has_flow;
    uint16_t flow_off, number_off; /* of the digits in value */
    uint16_t len, data_len;        /* of an Interest's name, of a Data's */
    uint32_t first, n, flows;
    uint32_t *flow_digits; /* of each flow, four octets as they stand in a name */
    struct zipf zipf;
    uint64_t random;
    uint8_t value[NDN_NAME_MAX]; /* with digits of zero */
};

/** Says on stderr what is wrong. @return 0, -EINVAL or -ENOMEM */
int names_create(struct names *names, const struct options *options);
void names_destroy(struct names *names);

/** Number of the name of request @p k = 0, 1, ... */
uint32_t names_next(struct names *names, uint64_t k);

/** Put the digits of a number into a copy of names->value. */
void names_write(const struct names *names, uint32_t number, uint8_t *value);

/** Put zeros where names_write() puts digits. */
void names_mask(const struct names *names, uint8_t *mask);

/**
 * Read the number out of the digits of a Name that is known to have the length of ours. @return false when they are no
 * digits, or flow and number do not belong together; what stands around them is not looked at
 */
bool names_digits(const struct names *names, const uint8_t *value, uint32_t *number);

/** Whether a Name (TLV-VALUE) is one of ours, of a Data or of an Interest, each octet compared. */
bool names_read(const struct names *names, bool is_data, const uint8_t *value, size_t len, uint32_t *number);

#endif
