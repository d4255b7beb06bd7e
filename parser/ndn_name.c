// SPDX-License-Identifier: Apache-2.0
#include "parser/ndn_name.h"

#include "parser/ndn_name_parse.h"

enum verdict ndn_name_parse(const uint8_t *value, size_t len, bool lenient, struct ndn_name *name)
{
    unsigned n_params;
    return ndn_name_parse_inline(value, len, lenient, name, &n_params);
}
