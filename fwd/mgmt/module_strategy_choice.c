// SPDX-License-Identifier: Apache-2.0
/* strategy-choice/set, unset, list: choices stand in the FIB, instances in the strategy set. */
#include <errno.h>
#include <stdio.h>

#include "fwd/fwd.h"
#include "fwd/mgmt/mgmt_impl.h"
#include "fwd/strategy_set.h"

static void set(struct mgmt_request *request)
{
    struct strategy_set *strategies = request->env->strategies;
    struct mgmt_params body = request->params;
    if (strategies == NULL) {
        mgmt_answer(request, 500, "No strategies", NULL);
        return;
    }
    if (mgmt_name_depth(body.name) > NDN_NAME_DEPTH) {
        mgmt_answer(request, 414, "Prefix has too many components (limit is 32)", NULL);
        return;
    }
    uint16_t number;
    char why[128] = "", text[160];
    int rc = strategy_set_instance(strategies, body.strategy.p, body.strategy.len, &number, why);
    if (rc == -ENOENT) {
        mgmt_answer(request, 404, "Strategy not registered", NULL);
        return;
    }
    if (rc != 0) {
        snprintf(text, sizeof text, "Error instantiating strategy: %s", why);
        mgmt_answer(request, rc == -EINVAL ? 409 : 500, text, NULL);
        return;
    }
    rc = fib_strategy_set(request->env->shared->fib, body.name.p, body.name.len, number);
    if (rc != 0) {
        mgmt_answer(request, 500, "Strategy choice table is full", NULL);
        return;
    }
    body.strategy.len = strategy_set_name(strategies, number, &body.strategy.p);
    mgmt_answer(request, 200, "OK", &body);
}

static bool unset_valid(const struct mgmt_params *params)
{
    return params->name.len > 0;
}

static void unset(struct mgmt_request *request)
{
    const struct mgmt_params *params = &request->params;
    // That there is no such choice is what was wanted.
    if (mgmt_name_depth(params->name) <= NDN_NAME_DEPTH)
        fib_strategy_unset(request->env->shared->fib, params->name.p, params->name.len);
    mgmt_answer(request, 200, "OK", params);
}

struct listing {
    const struct strategy_set *strategies;
    struct mgmt_dataset *dataset;
    bool has_root;
};

static bool write_choice(struct listing *listing, struct mgmt_octets name, uint16_t number)
{
    struct mgmt_strategy_choice choice = {.name = name};
    choice.strategy.len = strategy_set_name(listing->strategies, number, &choice.strategy.p);
    size_t size = (size_t)name.len + choice.strategy.len + 32;
    uint8_t *room = mgmt_dataset_room(listing->dataset, size);
    if (room == NULL)
        return false;
    mgmt_dataset_put(listing->dataset, mgmt_strategy_choice_encode(room, size, &choice));
    return true;
}

static bool see_root(void *ctx, const struct fib_item *item)
{
    struct listing *listing = ctx;
    listing->has_root = item->len == 0 && item->has_strategy;
    return false; // the root comes first
}

static bool write_item(void *ctx, const struct fib_item *item)
{
    const struct mgmt_octets name = {item->prefix, item->len};
    return !item->has_strategy || write_choice(ctx, name, item->entry->strategy);
}

static void write_list(struct mgmt *mgmt, const struct mgmt_env *env, struct mgmt_octets query, uint64_t now_ns,
                       struct mgmt_dataset *dataset)
{
    (void)mgmt;
    (void)query;
    (void)now_ns;
    struct listing listing = {.strategies = env->strategies, .dataset = dataset};
    if (env->strategies == NULL) {
        mgmt_dataset_reject(dataset, 500, "No strategies");
        return;
    }
    // The root always has a choice: the first instance, unless another one was set.
    fib_foreach(env->shared->fib, see_root, &listing);
    if (listing.has_root || write_choice(&listing, (struct mgmt_octets){0}, 0))
        fib_foreach(env->shared->fib, write_item, &listing);
}

static const struct mgmt_verb verbs[] = {
    {.name = "set", .required = MGMT_HAS_NAME | MGMT_HAS_STRATEGY, .run = set},
    {.name = "unset", .required = MGMT_HAS_NAME, .valid = unset_valid, .run = unset},
    {.name = NULL},
};

static const struct mgmt_list lists[] = {{.name = "list", .write = write_list}, {.name = NULL}};

const struct mgmt_module mgmt_strategy_choice = {.name = "strategy-choice", .verbs = verbs, .lists = lists};
