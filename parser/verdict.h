// SPDX-License-Identifier: Apache-2.0
#ifndef PARSER_VERDICT_H
#define PARSER_VERDICT_H

/** What a parser says of its input. VERDICT_OK is 0; every other value is one drop reason (parser/verdict.def). */
enum verdict {
    VERDICT_OK = 0,
#define VERDICT(symbol, name, text) VERDICT_##symbol,
#include "parser/verdict.def"
#undef VERDICT
    VERDICT_COUNT
};

/** Counter name of @p verdict ("tlv_trunc"), "ok" for VERDICT_OK. Static storage, any thread. */
const char *verdict_name(enum verdict verdict);

#endif
