// SPDX-License-Identifier: Apache-2.0
#include "fwd/strategy_set.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conf/conf.h"
#include "parser/cursor.h"
#include "parser/ndn_encode.h"
#include "parser/ndn_name.h"

#define COMP_VERSION 54
/* First octet of a version in a generic component, as naming conventions before typed components had it. */
#define VERSION_MARKER 0xfd

/* What retransmissions are suppressed by unless parameters say otherwise. */
#define SET_INITIAL_MS 10u
#define SET_MAX_MS     250u
#define SET_MULTIPLIER 2.0

#define SET_URI_MAX    1400
#define SET_PREFIX_URI "/localhost/nfd/strategy/"
static const uint8_t set_prefix[] = "\x08\x09localhost\x08\x03nfd\x08\x08strategy";
#define SET_PREFIX_LEN   (sizeof set_prefix - 1)
#define SET_PREFIX_COMPS 3

struct set_instance {
    struct strategy strategy;
    uint16_t name_len;
    uint8_t name[];
};

struct strategy_set {
    const struct strategy *list[STRATEGY_INSTANCES_MAX];
    struct set_instance *instance[STRATEGY_INSTANCES_MAX];
    uint16_t n;
};

static const struct strategy_type *const set_types[] = {&strategy_access,    &strategy_asf,    &strategy_best_route,
                                                        &strategy_multicast, &strategy_random, &strategy_self_learning};

/* A component of a parsed name. */
struct set_comp {
    uint32_t type;
    const uint8_t *value;
    size_t len;
};

__attribute__((format(printf, 3, 4))) static int set_refuse(char why[128], int rc, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(why, 128, format, args);
    va_end(args);
    return rc;
}

static struct set_comp set_comp(const struct ndn_name *name, unsigned i)
{
    struct cursor cur = cursor_make(name->value + name->end[i], (size_t)(name->end[i + 1] - name->end[i]));
    struct set_comp comp = {0};
    (void)cursor_tlv_type(&cur, true, &comp.type);
    (void)cursor_tlv_length(&cur, true, &comp.len);
    comp.value = cur.p;
    return comp;
}

/* True when a component is a version, of either convention. */
static bool set_version(const struct set_comp *comp, uint64_t *version)
{
    const uint8_t *p = comp->value;
    size_t len = comp->len;
    if (comp->type == NDN_GENERIC && len > 0 && p[0] == VERSION_MARKER) {
        p++;
        len--;
    } else if (comp->type != COMP_VERSION) {
        return false;
    }
    if (len != 1 && len != 2 && len != 4 && len != 8)
        return false;
    *version = 0;
    for (size_t i = 0; i < len; i++)
        *version = *version << 8 | p[i];
    return true;
}

/* A decimal number in text that does not end with 0. */
static bool set_number(const char *text, size_t len, uint32_t *number)
{
    uint64_t n = 0;
    if (len == 0 || len > 10)
        return false;
    for (size_t i = 0; i < len; i++) {
        if (text[i] < '0' || text[i] > '9')
            return false;
        n = n * 10 + (uint64_t)(text[i] - '0');
    }
    if (n > UINT32_MAX)
        return false;
    *number = (uint32_t)n;
    return true;
}

static bool set_real(const char *text, size_t len, double *real)
{
    char buf[32];
    if (len == 0 || len >= sizeof buf || strspn(text, "0123456789.") < len)
        return false;
    memcpy(buf, text, len);
    buf[len] = '\0';
    char *end;
    *real = strtod(buf, &end);
    return *end == '\0';
}

/* Parameters while they are read. */
struct set_params {
    uint32_t initial_ms, max_ms;
    double multiplier;
    uint32_t probing_interval_ms, max_timeouts, measurements_lifetime_ms;
};

static bool set_param(const struct strategy_type *type, const char *text, size_t len, const char *value,
                      size_t value_len, struct set_params *params, bool *known)
{
    static const struct {
        const char *name;
        size_t offset;
        bool probing;
    } numbers[] = {
        {"retx-suppression-initial", offsetof(struct set_params, initial_ms), false},
        {"retx-suppression-max", offsetof(struct set_params, max_ms), false},
        {"probing-interval", offsetof(struct set_params, probing_interval_ms), true},
        {"max-timeouts", offsetof(struct set_params, max_timeouts), true},
        {"measurements-lifetime", offsetof(struct set_params, measurements_lifetime_ms), true},
    };
    *known = true;
    for (unsigned i = 0; i < RTE_DIM(numbers); i++)
        if (strlen(numbers[i].name) == len && memcmp(numbers[i].name, text, len) == 0 &&
            (numbers[i].probing ? type->probes : type->suppresses))
            return set_number(value, value_len, (uint32_t *)(void *)((char *)params + numbers[i].offset));
    static const char multiplier[] = "retx-suppression-multiplier";
    if (type->suppresses && len == sizeof multiplier - 1 && memcmp(multiplier, text, len) == 0)
        return set_real(value, value_len, &params->multiplier);
    *known = false;
    return false;
}

/* Parameters from component @p first on, each name~value. */
static int set_params(const struct ndn_name *name, unsigned first, struct strategy *strategy, char why[128])
{
    const struct strategy_type *type = strategy->type;
    struct set_params params = {.initial_ms = SET_INITIAL_MS,
                                .max_ms = SET_MAX_MS,
                                .multiplier = SET_MULTIPLIER,
                                .probing_interval_ms = strategy->probing_interval_ms,
                                .max_timeouts = strategy->max_timeouts,
                                .measurements_lifetime_ms = strategy->measurements_lifetime_ms};
    for (unsigned i = first; i < name->n_comps; i++) {
        struct set_comp comp = set_comp(name, i);
        const char *text = (const char *)comp.value, *tilde = comp.len > 0 ? memchr(text, '~', comp.len) : NULL;
        int shown = (int)RTE_MIN(comp.len, (size_t)40);
        if (comp.type != NDN_GENERIC || tilde == NULL || tilde == text)
            return set_refuse(why, -EINVAL, "parameter %u is not of the form name~value", i - first + 1);
        size_t len = (size_t)(tilde - text);
        bool known;
        if (!set_param(type, text, len, tilde + 1, comp.len - len - 1, &params, &known))
            return known ? set_refuse(why, -EINVAL, "%.*s is not understood", shown, text)
                         : set_refuse(why, -EINVAL, "%s has no parameter %.*s", type->name,
                                      (int)RTE_MIN(len, (size_t)40), text);
    }
    if (name->len > STRATEGY_NAME_MAX)
        return set_refuse(why, -EINVAL, "the name is longer than %u octets", STRATEGY_NAME_MAX);
    if (params.initial_ms == 0 || params.max_ms < params.initial_ms)
        return set_refuse(why, -EINVAL, "retx-suppression-max is less than retx-suppression-initial, or that is 0");
    if (params.multiplier < 1 || params.multiplier > 1000)
        return set_refuse(why, -EINVAL, "retx-suppression-multiplier is not from 1 to 1000");
    if (type->probes && params.probing_interval_ms < 1000)
        return set_refuse(why, -EINVAL, "probing-interval is less than 1000 ms");
    if (type->probes && params.measurements_lifetime_ms <= params.probing_interval_ms)
        return set_refuse(why, -EINVAL, "measurements-lifetime is not longer than probing-interval");
    strategy->suppression = strategy_suppression(params.initial_ms, params.max_ms, params.multiplier);
    strategy->probing_interval_ms = params.probing_interval_ms;
    strategy->max_timeouts = params.max_timeouts;
    strategy->measurements_lifetime_ms = params.measurements_lifetime_ms;
    return 0;
}

/* The type of a name, and where its parameters begin (0: no version is given). */
static int set_type(const struct ndn_name *name, const struct strategy_type **type, unsigned *params, char why[128])
{
    uint64_t version = 0;
    unsigned at = name->n_comps;
    struct set_comp comp = {0};
    // The last version is the strategy's, as the reference forwarder reads it.
    while (at > SET_PREFIX_COMPS && (comp = set_comp(name, at - 1), !set_version(&comp, &version)))
        at--;
    bool has_version = at > SET_PREFIX_COMPS + 1;
    unsigned n_comps = has_version ? at - 1 : name->n_comps;
    *type = NULL;
    if (n_comps == SET_PREFIX_COMPS + 1 && name->len > SET_PREFIX_LEN &&
        memcmp(name->value, set_prefix, SET_PREFIX_LEN) == 0) {
        struct set_comp word = set_comp(name, SET_PREFIX_COMPS);
        for (unsigned i = 0; i < RTE_DIM(set_types); i++)
            if (word.type == NDN_GENERIC && strlen(set_types[i]->name) == word.len &&
                memcmp(set_types[i]->name, word.value, word.len) == 0)
                *type = set_types[i];
    }
    if (*type == NULL)
        return set_refuse(why, -ENOENT, "there is no such strategy");
    *params = has_version ? at : name->n_comps;
    if (!has_version || version == (*type)->version)
        return 0;
    // A version that is to come is unknown; one that has been is known, but not to be had any more.
    return set_refuse(why, comp.type == COMP_VERSION && version > (*type)->version ? -ENOENT : -EINVAL,
                      "the version of %s is %u", (*type)->name, (*type)->version);
}

static struct set_instance *set_make(const struct strategy *strategy, const struct ndn_name *name, unsigned params)
{
    const char *word = strategy->type->name;
    size_t word_len = strlen(word), params_at = name != NULL ? name->end[params] : 0;
    size_t params_len = name != NULL ? name->len - params_at : 0;
    struct set_instance *instance = malloc(sizeof *instance + SET_PREFIX_LEN + 2 + word_len + 3 + params_len);
    if (instance == NULL)
        return NULL;
    instance->strategy = *strategy;
    uint8_t *p = instance->name;
    memcpy(p, set_prefix, SET_PREFIX_LEN);
    p += SET_PREFIX_LEN;
    *p++ = NDN_GENERIC;
    *p++ = (uint8_t)word_len;
    memcpy(p, word, word_len);
    p += word_len;
    *p++ = COMP_VERSION;
    *p++ = 1;
    *p++ = strategy->type->version;
    if (params_len > 0)
        memcpy(p, name->value + params_at, params_len);
    instance->name_len = (uint16_t)((size_t)(p - instance->name) + params_len);
    return instance;
}

static void set_add(struct strategy_set *set, struct set_instance *instance)
{
    instance->strategy.number = set->n;
    set->instance[set->n] = instance;
    // Workers come to it by the number, which the FIB publishes later.
    set->list[set->n++] = &instance->strategy;
}

int strategy_set_create(struct strategy_set **set)
{
    struct strategy_set *s = calloc(1, sizeof *s);
    struct set_instance *first = set_make(&strategy_default, NULL, 0);
    if (s == NULL || first == NULL) {
        free(s);
        free(first);
        return -ENOMEM;
    }
    set_add(s, first);
    *set = s;
    return 0;
}

void strategy_set_destroy(struct strategy_set *set)
{
    if (set == NULL)
        return;
    for (unsigned i = 0; i < set->n; i++)
        free(set->instance[i]);
    free(set);
}

const struct strategy *const *strategy_set_list(const struct strategy_set *set)
{
    return set->list;
}

int strategy_set_instance(struct strategy_set *set, const uint8_t *value, uint16_t len, uint16_t *number, char why[128])
{
    struct ndn_name name;
    if (len == 0 || ndn_name_parse(value, len, true, &name) != VERDICT_OK || name.n_comps > NDN_NAME_DEPTH)
        return set_refuse(why, -ENOENT, "there is no such strategy");
    unsigned params;
    struct strategy strategy = strategy_default;
    int rc = set_type(&name, &strategy.type, &params, why);
    if (rc == 0)
        rc = set_params(&name, params, &strategy, why);
    if (rc != 0)
        return rc;
    struct set_instance *made = set_make(&strategy, &name, params);
    if (made == NULL)
        return set_refuse(why, -ENOSPC, "out of memory");
    for (uint16_t i = 0; i < set->n; i++) {
        const struct set_instance *is = set->instance[i];
        if (is->name_len == made->name_len && memcmp(is->name, made->name, made->name_len) == 0) {
            free(made);
            *number = i;
            return 0;
        }
    }
    if (set->n == STRATEGY_INSTANCES_MAX) {
        free(made);
        return set_refuse(why, -ENOSPC, "there are %u strategy instances already", STRATEGY_INSTANCES_MAX);
    }
    *number = set->n;
    set_add(set, made);
    return 0;
}

/* "multicast/x~1" and more in full, with the current version when there is none. @return as snprintf() */
static int set_expand(const char *text, const char *more, char *uri, size_t size)
{
    size_t len = strcspn(text, "/");
    const char *rest = text + len;
    char version[8] = "";
    for (unsigned i = 0; i < RTE_DIM(set_types); i++)
        if (strlen(set_types[i]->name) == len && memcmp(set_types[i]->name, text, len) == 0 &&
            strncmp(rest, "/v=", 3) != 0 && strncmp(rest, "/54=", 4) != 0)
            snprintf(version, sizeof version, "/v=%u", set_types[i]->version);
    return snprintf(uri, size, SET_PREFIX_URI "%.*s%s%s%s", (int)len, text, version, rest, more);
}

static int set_instance_text(struct strategy_set *set, const char *uri, uint16_t *number, char why[128])
{
    uint8_t name[NDN_NAME_MAX];
    int len = ndn_name_from_uri(uri, name, sizeof name);
    if (len < 0)
        return set_refuse(why, -ENOENT, "there is no such strategy");
    return strategy_set_instance(set, name, (uint16_t)len, number, why);
}

int strategy_set_instance_uri(struct strategy_set *set, const char *uri, uint16_t *number, char why[128])
{
    char whole[SET_URI_MAX];
    if (uri[0] == '/')
        return set_instance_text(set, uri, number, why);
    if (set_expand(uri, "", whole, sizeof whole) >= SET_URI_MAX)
        return set_refuse(why, -ENOENT, "there is no such strategy");
    return set_instance_text(set, whole, number, why);
}

int strategy_set_instance_conf(struct strategy_set *set, const struct conf_strategy *conf, uint16_t *number,
                               char why[128])
{
    char more[128] = "", whole[SET_URI_MAX];
    const char *text = conf->strategy;
    if (conf->retx_suppression_initial_ms != SET_INITIAL_MS || conf->retx_suppression_max_ms != SET_MAX_MS ||
        conf->retx_suppression_multiplier != SET_MULTIPLIER)
        snprintf(more, sizeof more,
                 "/retx-suppression-initial~%u/retx-suppression-max~%u/retx-suppression-multiplier~%.6f",
                 conf->retx_suppression_initial_ms, conf->retx_suppression_max_ms, conf->retx_suppression_multiplier);
    if (strncmp(text, SET_PREFIX_URI, sizeof SET_PREFIX_URI - 1) == 0)
        text += sizeof SET_PREFIX_URI - 1;
    if (set_expand(text, more, whole, sizeof whole) >= SET_URI_MAX)
        return set_refuse(why, -ENOENT, "there is no such strategy");
    return set_instance_text(set, whole, number, why);
}

uint16_t strategy_set_name(const struct strategy_set *set, uint16_t number, const uint8_t **name)
{
    if (number >= set->n)
        return 0;
    *name = set->instance[number]->name;
    return set->instance[number]->name_len;
}

int strategy_set_text(const struct strategy_set *set, uint16_t number, char *text, size_t size)
{
    if (number >= set->n)
        return snprintf(text, size, "%s", "");
    const struct set_instance *instance = set->instance[number];
    const struct strategy_type *type = instance->strategy.type;
    char params[STRATEGY_TEXT_MAX] = "";
    size_t params_at = SET_PREFIX_LEN + 2 + strlen(type->name) + 3;
    if (instance->name_len > params_at)
        (void)ndn_name_to_uri(instance->name + params_at, instance->name_len - params_at, params, sizeof params);
    return snprintf(text, size, "/localhost/nfd/strategy/%s/v=%u%s", type->name, type->version, params);
}
