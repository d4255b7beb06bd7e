// SPDX-License-Identifier: Apache-2.0
#include "fwd/mgmt/mgmt_impl.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "fwd/mgmt/module_faces.h"
#include "fwd/mgmt/wire_fields.h"
#include "fwd/worker.h"
#include "parser/ndn_tlv.h"

static const struct mgmt_module *const modules[] = {
    &mgmt_faces, &mgmt_fib, &mgmt_rib, &mgmt_cs, &mgmt_strategy_choice, &mgmt_status,
};

/* /localhost/nfd and /localhop/nfd */
static const uint8_t localhost_prefix[] = "\x08\x09localhost\x08\x03nfd";
static const uint8_t localhop_prefix[] = "\x08\x08localhop\x08\x03nfd";
#define PREFIX_COMPS 2

int mgmt_create(struct mgmt **out, const struct mgmt_env *env)
{
    struct mgmt *mgmt = calloc(1, sizeof *mgmt);
    if (mgmt == NULL)
        return -ENOMEM;
    mgmt->env = *env;
    mgmt->cs_flags = MGMT_CS_ADMIT | MGMT_CS_SERVE;
    mgmt->erasures_end = &mgmt->erasures;
    mgmt->express_ns = UINT64_MAX;
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    uint64_t now_ms = (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
    mgmt->start_ms = env->start_ms != 0 ? env->start_ms : now_ms;
    mgmt->wall_ms = mgmt->start_ms;
    if (mgmt_send_init(mgmt) != 0 || mgmt_notify_init(mgmt) != 0 ||
        (env->faces != NULL && mgmt_faces_listen(mgmt, env->faces) != 0)) {
        mgmt_destroy(mgmt);
        return -ENOMEM;
    }
    *out = mgmt;
    return 0;
}

void mgmt_destroy(struct mgmt *mgmt)
{
    if (mgmt == NULL)
        return;
    mgmt_cs_fini(mgmt);
    mgmt_express_fini(mgmt);
    mgmt_notify_fini(mgmt);
    mgmt_dataset_fini(mgmt);
    mgmt_held_fini(mgmt);
    mgmt_send_fini(mgmt);
    free(mgmt);
}

const struct mgmt_counters *mgmt_counters(const struct mgmt *mgmt)
{
    return &mgmt->counters;
}

struct mgmt_octets mgmt_component(const struct ndn_name *name, unsigned i)
{
    return (struct mgmt_octets){name->value + name->end[i], (uint16_t)(name->end[i + 1] - name->end[i])};
}

/* Is a component generic, and says the text? */
static bool mgmt_component_is(struct mgmt_octets component, const char *text)
{
    size_t len = strlen(text);
    return component.len == len + 2 && component.p[0] == NDN_GENERIC && memcmp(component.p + 2, text, len) == 0;
}

bool mgmt_last_number(const struct ndn_name *name, uint32_t type, uint64_t *number)
{
    struct mgmt_octets octets = mgmt_component(name, (unsigned)name->n_comps - 1);
    struct tlv component;
    return wire_unwrap(octets.p, octets.len, type, &component) && tlv_nni(&component, number);
}

unsigned mgmt_name_depth(struct mgmt_octets name)
{
    struct cursor c = cursor_make(name.p, name.len);
    struct tlv component;
    unsigned depth = 0;
    while (cursor_left(&c) > 0 && tlv_read(&c, true, &component) == VERDICT_OK)
        depth++;
    return depth;
}

int mgmt_worker_run(struct worker *worker, void (*run)(struct fwd *fwd, void *arg), void *arg)
{
    if (atomic_load_explicit(&worker->ready, memory_order_acquire))
        return worker_run(worker, run, arg);
    // Nobody else is at its tables.
    if (worker->fwd != NULL)
        run(worker->fwd, arg);
    return 0;
}

static bool begins_with(const struct ndn_name *name, const uint8_t *prefix, size_t len)
{
    return name->end[PREFIX_COMPS] == len && memcmp(name->value, prefix, len) == 0;
}

static const struct mgmt_module *find_module(const struct ndn_name *name)
{
    for (size_t i = 0; i < WIRE_N_OF(modules); i++)
        if (mgmt_component_is(mgmt_component(name, PREFIX_COMPS), modules[i]->name))
            return modules[i];
    return NULL;
}

static const struct mgmt_verb *find_verb(const struct mgmt_module *module, struct mgmt_octets component)
{
    for (const struct mgmt_verb *verb = module->verbs; verb != NULL && verb->name != NULL; verb++)
        if (mgmt_component_is(component, verb->name))
            return verb;
    return NULL;
}

static const struct mgmt_list *find_list(const struct mgmt_module *module, struct mgmt_octets component)
{
    for (const struct mgmt_list *list = module->lists; list != NULL && list->name != NULL; list++)
        if (mgmt_component_is(component, list->name))
            return list;
    return NULL;
}

/* @return false when nothing here serves the name */
static bool receive_interest(struct mgmt *mgmt, const struct ndn_packet *pkt, uint64_t now_ns)
{
    const struct ndn_name *name = &pkt->name;
    if (name->n_comps < PREFIX_COMPS + 2 || name->n_comps > NDN_NAME_DEPTH)
        return false;
    bool localhop = begins_with(name, localhop_prefix, sizeof localhop_prefix - 1);
    if (!localhop && !begins_with(name, localhost_prefix, sizeof localhost_prefix - 1))
        return false;
    const struct mgmt_module *module = find_module(name);
    if (module == NULL || (localhop && !(mgmt->env.localhop && module->localhop)))
        return false;
    struct mgmt_octets what = mgmt_component(name, PREFIX_COMPS + 1);
    const struct mgmt_verb *verb = find_verb(module, what);
    const struct mgmt_list *list = find_list(module, what);
    if (verb != NULL)
        mgmt_command(mgmt, pkt, module, verb, localhop, now_ns);
    else if (list != NULL)
        mgmt_dataset(mgmt, pkt, list, now_ns);
    else
        return !localhop && mgmt_notify_interest(mgmt, pkt, now_ns);
    return true;
}

void mgmt_receive(struct mgmt *mgmt, const uint8_t *packet, size_t len, uint64_t now_ns, uint64_t wall_ms)
{
    const struct ndn_parse_opts opts = {.lenient = mgmt->env.shared != NULL && mgmt->env.shared->lenient};
    struct ndn_packet pkt;
    if (ndn_packet_parse(packet, len, &opts, &pkt) != VERDICT_OK || pkt.type == 0) {
        mgmt->counters.malformed++;
        return;
    }
    if (pkt.type == NDN_TYPE_DATA || (pkt.lp.has & LP_HAS_NACK) != 0) {
        if (!mgmt_express_answer(mgmt, &pkt))
            mgmt_learn(mgmt, &pkt, now_ns, wall_ms);
        return;
    }
    mgmt->wall_ms = wall_ms;
    mgmt->token.len = pkt.lp.token_len;
    if (pkt.lp.token_len > 0)
        memcpy(mgmt->token.octets, pkt.lp.token, pkt.lp.token_len);
    if (!receive_interest(mgmt, &pkt, now_ns))
        mgmt->counters.ignored++;
}

uint64_t mgmt_poll(struct mgmt *mgmt, uint64_t now_ns)
{
    uint64_t next = mgmt_cs_poll(mgmt), other = mgmt_dataset_poll(mgmt, now_ns);
    next = other < next ? other : next;
    other = mgmt_express_poll(mgmt, now_ns);
    return other < next ? other : next;
}
