// SPDX-License-Identifier: Apache-2.0
#include "fwd/drop.h"

const struct drop_info drop_info[DROP_COUNT] = {
    {"none", ""},
#define DROP(symbol, name, text)     {name, text},
#define CONSUMED(symbol, name, text) {name, text},
#include "fwd/drops.def"
#undef DROP
#undef CONSUMED
};
