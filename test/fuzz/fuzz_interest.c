// SPDX-License-Identifier: Apache-2.0
/* Interests and whatever else comes in bare packets: the parser against the reference parser. */
#include <stdlib.h>
#include <string.h>

#include "test/fuzz/ref_ndn_input.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return ref_ndn_input(data, size, NDN_TYPE_INTEREST);
}
