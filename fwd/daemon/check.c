// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <string.h>

#include "fwd/daemon/daemon.h"
#include "fwd/quic/build.h"
#include "fwd/mgmt/auth.h"
#include "parser/ndn_name.h"

/* Octets of a value that a message shows. */
#define SHOWN 60

static unsigned check_name(const struct conf *conf, const void *item, const char *where, const char *key,
                           const char *uri, FILE *faults)
{
    uint8_t name[NDN_NAME_MAX];
    int len = ndn_name_from_uri(uri, name, sizeof name);
    if (len >= 0)
        return 0;
    struct conf_at at = conf_key_at(conf, item, where);
    fprintf(faults, "%s:%u: %s: \"%.*s%s\" ", at.file, at.line, key, SHOWN, uri, strlen(uri) > SHOWN ? "..." : "");
    if (len == -ENOSPC)
        fprintf(faults, "is too long; %d octets, the TLV headers of its components counted in, are allowed\n",
                NDN_NAME_MAX);
    else
        fprintf(faults, "has a component of a type or with a value that there is not; allowed are as in \"/a/8=b/v=1/"
                        "sha256digest=...\" with 64 hexadecimal digits, types from 1 to 65535\n");
    return 1;
}

static unsigned check_prefix(const struct conf *conf, const void *item, const char *key, const char *uri, FILE *faults)
{
    return check_name(conf, item, "prefix", key, uri, faults);
}

/* Strategies are made once for the check: what a version or a parameter may be is known there. */
static unsigned check_strategies(const struct conf *conf, FILE *faults)
{
    struct strategy_set *set;
    unsigned n = 0;
    if (strategy_set_create(&set) != 0)
        return 0;
    for (unsigned i = 0; i < conf->n_strategies; i++) {
        const struct conf_strategy *from = &conf->strategy[i];
        uint16_t number;
        char why[128];
        n += check_prefix(conf, from, "strategy.prefix", from->prefix, faults);
        if (strategy_set_instance_conf(set, from, &number, why) == 0)
            continue;
        struct conf_at at = conf_key_at(conf, from, "strategy");
        fprintf(faults, "%s:%u: strategy.strategy: \"%.*s%s\" cannot be made: %s\n", at.file, at.line, SHOWN,
                from->strategy, strlen(from->strategy) > SHOWN ? "..." : "", why);
        n++;
    }
    strategy_set_destroy(set);
    return n;
}

/* Certificates are read here and let go: what is used is read at start. */
static unsigned check_auth(const struct conf *conf, FILE *faults)
{
    struct auth *auth;
    char err[256];
    int error = auth_create(&auth, conf, err);
    if (error == 0)
        auth_destroy(auth);
    else
        fprintf(faults, "%s\n", err);
    return error != 0;
}

/* Files with keys are read here, too, and let go. */
static unsigned check_quic(const struct conf *conf, FILE *faults)
{
    struct quic_set *set;
    int error = quic_set_build(&set, conf, NULL, 0, faults);
    if (error == 0)
        quic_set_destroy(set);
    return error != 0;
}

unsigned daemon_check(const struct conf *conf, FILE *faults)
{
    unsigned n = 0;
    for (unsigned i = 0; i < conf->n_routes; i++)
        n += check_prefix(conf, &conf->route[i], "route.prefix", conf->route[i].prefix, faults);
    for (unsigned i = 0; i < conf->forwarding.n_regions; i++)
        n += check_name(conf, &conf->forwarding, "region", "forwarding.region", conf->forwarding.region[i], faults);
    return n + check_strategies(conf, faults) + check_auth(conf, faults) + check_quic(conf, faults);
}
