// SPDX-License-Identifier: Apache-2.0
#ifndef FWD_DROP_H
#define FWD_DROP_H

#include <stdbool.h>

#include "parser/verdict.h"

/** How a frame ended, other than by being sent (fwd/drops.def). Starts with the values of enum verdict. */
enum drop {
    DROP_NONE = 0,
#define DROP(symbol, name, text)     DROP_##symbol,
#define CONSUMED(symbol, name, text) DROP_##symbol,
#include "fwd/drops.def"
#undef DROP
#undef CONSUMED
    DROP_COUNT
};
_Static_assert((int)DROP_QUIC_TYPE == (int)VERDICT_QUIC_TYPE, "verdicts and drops share their numbers");

/** First value that is not a drop but a use of the frame. */
#define DROP_FIRST_CONSUMED DROP_LP_IDLE

struct drop_info {
    const char *name; /**< counter name */
    const char *text; /**< one sentence for users */
};
/** Indexed by enum drop; [0] is empty. Read-only, any thread. */
extern const struct drop_info drop_info[DROP_COUNT];

/** True for frames that did their work, false for frames that were refused. */
static inline bool drop_is_consumed(enum drop drop)
{
    return drop >= DROP_FIRST_CONSUMED;
}

#endif
