// SPDX-License-Identifier: Apache-2.0
#include "fwd/mgmt/readvertise.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "conf/conf.h"
#include "fwd/mgmt/rib.h"
#include "parser/ndn_name.h"
#include "parser/ndn_tlv.h"

#define NS_PER_MS UINT64_C(1000000)
#define NS_PER_S  UINT64_C(1000000000)

/* Times of the reference forwarder for NLSR, which has no settings for them. */
#define NLSR_TIMEOUT_NS   (10 * NS_PER_S)
#define NLSR_REFRESH_NS   (3600 * NS_PER_S)
#define NLSR_RETRY_MIN_NS (50 * NS_PER_S)
#define NLSR_RETRY_MAX_NS (3600 * NS_PER_S)

/* Their names as TLV-VALUEs. */
static const uint8_t localhost[] = {8, 9, 'l', 'o', 'c', 'a', 'l', 'h', 'o', 's', 't'};
static const uint8_t localhop[] = {8, 8, 'l', 'o', 'c', 'a', 'l', 'h', 'o', 'p'};
static const uint8_t nlsr[] = {8, 9, 'l', 'o', 'c', 'a', 'l', 'h', 'o', 's', 't', 8, 4, 'n', 'l', 's', 'r'};
static const uint8_t gateway[] = {8, 8, 'l', 'o', 'c', 'a', 'l', 'h', 'o', 'p', 8, 3, 'n', 'f', 'd'};

static bool begins_with(struct mgmt_octets name, const uint8_t *prefix, size_t len)
{
    return name.len >= len && (len == 0 || memcmp(name.p, prefix, len) == 0);
}

/** Names that do not go beyond this host, or this link. */
static bool is_scoped(struct mgmt_octets name)
{
    return begins_with(name, localhost, sizeof localhost) || begins_with(name, localhop, sizeof localhop);
}

bool readvertise_clients(struct mgmt_octets identity, struct mgmt_octets name, const struct rib_route *route,
                         struct mgmt_octets *prefix)
{
    (void)identity;
    if (route->origin != RIB_ORIGIN_CLIENT || is_scoped(name))
        return false;
    *prefix = name;
    return true;
}

bool readvertise_to_gateway(struct mgmt_octets identity, struct mgmt_octets name, const struct rib_route *route,
                            struct mgmt_octets *prefix)
{
    if (is_scoped(name))
        return false;
    if (identity.p != NULL) {
        if (!begins_with(name, identity.p, identity.len))
            return false;
        *prefix = identity;
        return true;
    }
    if (name.len == 0 || (route->origin != RIB_ORIGIN_APP && route->origin != RIB_ORIGIN_CLIENT))
        return false;
    *prefix = name;
    return true;
}

/**
 * Octets of the identity at the front of a certificate's name: what is before KEY, without a last component "nrd", by
 * which the reference forwarder's users name the daemon's own identity. @return -1: no name of a certificate
 */
static int identity_len(const uint8_t *name, size_t len)
{
    struct cursor c = cursor_make(name, len);
    size_t before = 0;
    bool is_nrd = false;
    while (cursor_left(&c) > 0) {
        struct tlv comp;
        size_t at = len - cursor_left(&c);
        if (tlv_read(&c, false, &comp) != VERDICT_OK)
            return -1;
        if (comp.type == NDN_GENERIC && comp.len == 3 && memcmp(comp.value, "KEY", 3) == 0)
            return (int)(is_nrd ? before : at);
        is_nrd = comp.type == NDN_GENERIC && comp.len == 3 && memcmp(comp.value, "nrd", 3) == 0;
        before = at;
    }
    return -1;
}

static struct readvertise_config propagate_config(const struct conf_rib *rib_conf)
{
    return (struct readvertise_config){
        .to = {gateway, sizeof gateway},
        .origin = RIB_ORIGIN_CLIENT,
        .cost = rib_conf->propagate_cost,
        .key_file = rib_conf->propagate_key,
        .certificate = rib_conf->propagate_certificate,
        .timeout_ns = rib_conf->propagate_timeout_ms * NS_PER_MS,
        .refresh_ns = rib_conf->propagate_refresh_ms * NS_PER_MS,
        .retry_min_ns = rib_conf->propagate_base_retry_ms * NS_PER_MS,
        .retry_max_ns = rib_conf->propagate_max_retry_ms * NS_PER_MS,
        .policy = readvertise_to_gateway,
    };
}

static int configure_nlsr(struct readvertise **readvertise, struct rib *rib, struct mgmt *mgmt, char err[256])
{
    struct readvertise_config config = {
        .rib = rib,
        .mgmt = mgmt,
        .to = {nlsr, sizeof nlsr},
        .origin = RIB_ORIGIN_APP,
        .timeout_ns = NLSR_TIMEOUT_NS,
        .refresh_ns = NLSR_REFRESH_NS,
        .retry_min_ns = NLSR_RETRY_MIN_NS,
        .retry_max_ns = NLSR_RETRY_MAX_NS,
        .policy = readvertise_clients,
    };
    return readvertise_create(readvertise, &config, err);
}

static int configure_propagate(struct readvertise **readvertise, const struct conf_rib *rib_conf, struct rib *rib,
                               struct mgmt *mgmt, char err[256])
{
    uint8_t certificate[NDN_NAME_MAX];
    struct readvertise_config config = propagate_config(rib_conf);
    config.rib = rib;
    config.mgmt = mgmt;
    if (rib_conf->propagate_certificate != NULL) {
        int len = ndn_name_from_uri(rib_conf->propagate_certificate, certificate, sizeof certificate);
        int n = len > 0 ? identity_len(certificate, (size_t)len) : -1;
        if (n < 0) {
            snprintf(err, 256, "%.200s is no name of a certificate", rib_conf->propagate_certificate);
            return -EINVAL;
        }
        config.identity = (struct mgmt_octets){certificate, (uint16_t)n};
    }
    return readvertise_create(readvertise, &config, err);
}

int readvertise_configure(struct readvertise *readvertise[READVERTISE_MAX], const struct conf *conf, struct rib *rib,
                          struct mgmt *mgmt, char err[256])
{
    int rc = 0;
    readvertise[READVERTISE_NLSR] = readvertise[READVERTISE_PROPAGATE] = NULL;
    if (conf->rib.readvertise_nlsr)
        rc = configure_nlsr(&readvertise[READVERTISE_NLSR], rib, mgmt, err);
    if (rc == 0 && conf->rib.auto_prefix_propagate)
        rc = configure_propagate(&readvertise[READVERTISE_PROPAGATE], &conf->rib, rib, mgmt, err);
    return rc;
}
