// SPDX-License-Identifier: Apache-2.0
#include "parser/verdict.h"

static const char *const names[VERDICT_COUNT] = {
    [VERDICT_OK] = "ok",
#define VERDICT(symbol, name, text) [VERDICT_##symbol] = name,
#include "parser/verdict.def"
#undef VERDICT
};

const char *verdict_name(enum verdict verdict)
{
    return (unsigned)verdict < VERDICT_COUNT ? names[verdict] : "unknown";
}
