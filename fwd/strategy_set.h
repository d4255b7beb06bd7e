// SPDX-License-Identifier: Apache-2.0
#ifndef FWD_STRATEGY_SET_H
#define FWD_STRATEGY_SET_H

#include <stddef.h>
#include <stdint.h>

#include "fwd/strategy.h"

/*
 * Strategy instances by name, as management and the configuration write them:
 * /localhost/nfd/strategy/NAME[/v=N[/parameter~value]...]. An instance has a number, which FIB entries hold, and lives
 * as long as the set. Control thread; workers read the list by number.
 */
#define STRATEGY_INSTANCES_MAX 4096
/** Longest name of an instance in octets, and longest text of one with its final 0. */
#define STRATEGY_NAME_MAX 400
#define STRATEGY_TEXT_MAX 512

struct strategy_set;

int strategy_set_create(struct strategy_set **set);
void strategy_set_destroy(struct strategy_set *set);

/** For fwd_shared.strategies: STRATEGY_INSTANCES_MAX places; [0] is best-route with its defaults. */
const struct strategy *const *strategy_set_list(const struct strategy_set *set);

/**
 * The instance that a name (TLV-VALUE) means: without version the current one, without parameters the defaults. Equal
 * instances have one number.
 *
 * @return 0 and *number; -ENOENT: no such strategy, or version (404); -EINVAL: it cannot be made so (409), -ENOSPC;
 * @p why gets words for all of them
 */
int strategy_set_instance(struct strategy_set *set, const uint8_t *name, uint16_t len, uint16_t *number, char why[128]);

/** The same by URI; a short name such as "asf" or "asf/max-timeouts~2" stands for the full one, with its version. */
int strategy_set_instance_uri(struct strategy_set *set, const char *uri, uint16_t *number, char why[128]);

struct conf_strategy;
/** The same for an entry of the configuration, whose retx-suppression-* keys count when they differ from the default.
 */
int strategy_set_instance_conf(struct strategy_set *set, const struct conf_strategy *conf, uint16_t *number,
                               char why[128]);

/** Instance name with version and given parameters, as TLV-VALUE. @return octets at *name, which lives with the set; 0
 * when there is no such number */
uint16_t strategy_set_name(const struct strategy_set *set, uint16_t number, const uint8_t **name);

/** The same as a URI for people, with the version as v=N. @return as snprintf() */
int strategy_set_text(const struct strategy_set *set, uint16_t number, char *text, size_t size);

#endif
