// SPDX-License-Identifier: Apache-2.0
#include "fwd/mgmt/auth.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <openssl/crypto.h>

#include "conf/conf.h"
#include "fwd/mgmt/auth_packet.h"
#include "fwd/mgmt/auth_replay.h"
#include "fwd/mgmt/auth_trust.h"

#define MODULES 4 /* that section authorizations is about */

enum { FACES, FIB, CS, STRATEGY_CHOICE, RIB_LOCALHOST, RIB_LOCALHOP, ANNOUNCEMENT, N_PURPOSES };

_Static_assert(AUTH_FACES == 1 << FACES && AUTH_ANNOUNCEMENT == 1 << ANNOUNCEMENT, "one bit for each purpose");
_Static_assert((int)CONF_PRIVILEGE_STRATEGY_CHOICE == (int)AUTH_STRATEGY_CHOICE, "bits of conf are those of auth.h");

/* Whose commands count for one purpose, and which have counted: as the reference forwarder, for each on its own. */
struct purpose {
    struct auth_trust trust;
    struct auth_replay replay;
};

struct auth {
    struct purpose purpose[N_PURPOSES];
    uint32_t refresh_ms;
};

/* ---- configuration ---- */

/* Where the sources of a purpose were said. */
struct origin {
    const void *item;
    const char *section, *key;
};

static int read_sources(struct auth_trust *trust, const struct conf *conf, const struct origin *origin, char err[256])
{
    unsigned index = 0;
    char why[180] = "";
    int error = auth_trust_read(trust, &index, why, sizeof why);
    if (error == -EINVAL) {
        struct conf_at at = conf_key_at(conf, origin[index].item, origin[index].key);
        snprintf(err, 256, "%s:%u: %s.%s: %s", at.file, at.line, origin[index].section, origin[index].key, why);
    }
    return error;
}

static int create_module(struct auth *auth, unsigned module, const struct conf *conf, char err[256])
{
    struct auth_trust *trust = &auth->purpose[module].trust;
    struct origin origin[CONF_AUTHORIZATIONS_MAX];
    trust->any = conf->n_authorizations == 0;
    for (unsigned i = 0; i < conf->n_authorizations; i++) {
        const struct conf_authorization *a = &conf->authorization[i];
        if ((a->privileges & 1u << module) == 0)
            continue;
        origin[trust->n_sources] = (struct origin){a, "authorizations", "certfile"};
        struct conf_at at = conf_key_at(conf, a, "certfile");
        int error = auth_trust_add(trust, a->certfile, true, at.file);
        if (error != 0)
            return error;
    }
    return read_sources(trust, conf, origin, err);
}

static int create_rib(struct auth *auth, unsigned purpose, const struct conf *conf, const char *key,
                      const char *const anchor[], unsigned n, char err[256])
{
    struct auth_trust *trust = &auth->purpose[purpose].trust;
    const struct conf_rib *rib = &conf->rib;
    struct origin origin[2 * CONF_ANCHORS_MAX];
    for (unsigned i = 0; i < n + rib->n_certificates; i++) {
        bool is_anchor = i < n;
        const char *from = is_anchor ? key : "certificates";
        origin[trust->n_sources] = (struct origin){rib, "rib", from};
        struct conf_at at = conf_key_at(conf, rib, from);
        int error = auth_trust_add(trust, is_anchor ? anchor[i] : rib->certificates[i - n], is_anchor, at.file);
        if (error != 0)
            return error;
    }
    return read_sources(trust, conf, origin, err);
}

int auth_create(struct auth **created, const struct conf *conf, char err[256])
{
    const struct conf_rib *rib = &conf->rib;
    struct auth *auth = calloc(1, sizeof *auth);
    int error = auth != NULL ? 0 : -ENOMEM;
    for (unsigned module = 0; error == 0 && module < MODULES; module++)
        error = create_module(auth, module, conf, err);
    if (error == 0)
        error = create_rib(auth, RIB_LOCALHOST, conf, "localhost-security", rib->localhost_security,
                           rib->n_localhost_security, err);
    if (error == 0)
        error = create_rib(auth, RIB_LOCALHOP, conf, "localhop-security", rib->localhop_security,
                           rib->n_localhop_security, err);
    if (error == 0)
        error = create_rib(auth, ANNOUNCEMENT, conf, "prefix-announcement-validation", rib->announcement_validation,
                           rib->n_announcement_validation, err);
    if (error != 0) {
        if (error == -ENOMEM)
            snprintf(err, 256, "authorizations: out of memory");
        auth_destroy(auth);
        return error;
    }
    auth->refresh_ms = rib->anchor_refresh_ms;
    *created = auth;
    return 0;
}

void auth_destroy(struct auth *auth)
{
    if (auth == NULL)
        return;
    for (unsigned i = 0; i < N_PURPOSES; i++) {
        auth_trust_clear(&auth->purpose[i].trust);
        auth_replay_clear(&auth->purpose[i].replay);
    }
    free(auth);
}

/* ---- decisions ---- */

static struct purpose *find_purpose(struct auth *auth, enum auth_privilege privilege)
{
    for (unsigned i = 0; i < N_PURPOSES; i++)
        if ((unsigned)privilege == 1u << i)
            return &auth->purpose[i];
    return NULL;
}

/* The producer checks this digest, forwarders do not: it binds the name to parameters that it does not hold. */
static bool params_digest_is_right(const struct auth_signature *signature)
{
    uint8_t digest[NDN_DIGEST_SIZE];
    return auth_sha256(signature->params.p, signature->params.len, digest) &&
           CRYPTO_memcmp(digest, signature->params_digest, sizeof digest) == 0;
}

/* Cheap tests first: a signature takes a hundred times as long as all of them. */
static enum auth_result check_command(struct purpose *purpose, const struct auth_signature *signature, uint64_t wall_ms)
{
    enum auth_result result = AUTH_REFUSED;
    for (unsigned i = 0; i < purpose->trust.n_keys; i++) {
        const struct auth_key *key = purpose->trust.key[i];
        if (!auth_key_is_named(key, signature->signer) || !auth_key_is_valid(key, wall_ms))
            continue;
        if (!auth_replay_is_new(&purpose->replay, key->id, signature, wall_ms)) {
            result = AUTH_REPLAYED;
            continue;
        }
        if (!auth_key_verify(key, signature))
            continue;
        return auth_replay_remember(&purpose->replay, key->id, signature, wall_ms) ? AUTH_ACCEPTED : AUTH_REFUSED;
    }
    return result;
}

enum auth_result auth_command(struct auth *auth, enum auth_privilege privilege, const uint8_t *interest, size_t len,
                              uint64_t wall_ms)
{
    struct purpose *purpose = find_purpose(auth, privilege);
    struct auth_signature signature;
    if (purpose == NULL)
        return AUTH_REFUSED;
    bool is_rib = (privilege & (AUTH_RIB_LOCALHOST | AUTH_RIB_LOCALHOP)) != 0;
    if (purpose->trust.any && !is_rib)
        return AUTH_ACCEPTED;
    enum auth_format format = auth_interest_parse(interest, len, &signature);
    if (format == AUTH_UNSIGNED)
        return is_rib ? AUTH_REFUSED : AUTH_MALFORMED;
    if (format == AUTH_BAD)
        return AUTH_MALFORMED;
    if (!signature.has_time)
        return AUTH_REFUSED;
    if (purpose->trust.any)
        return AUTH_ACCEPTED;
    // A digest proves nothing of who made it.
    if (signature.type == AUTH_DIGEST_SHA256)
        return AUTH_REFUSED;
    if (signature.signer.p == NULL)
        return AUTH_MALFORMED;
    // In v0.2 nobody signs what ApplicationParameters hold.
    if (format == AUTH_COMMAND_V02 ? signature.params.p != NULL : !params_digest_is_right(&signature))
        return AUTH_REFUSED;
    auth_trust_refresh(&purpose->trust, wall_ms, auth->refresh_ms);
    return check_command(purpose, &signature, wall_ms);
}

enum auth_result auth_data(struct auth *auth, enum auth_privilege privilege, const uint8_t *data, size_t len,
                           uint64_t wall_ms)
{
    struct purpose *purpose = find_purpose(auth, privilege);
    struct auth_signature signature;
    if (purpose == NULL)
        return AUTH_REFUSED;
    if (purpose->trust.any)
        return AUTH_ACCEPTED;
    if (auth_data_parse(data, len, &signature) != AUTH_SIGNED)
        return AUTH_REFUSED;
    if (signature.has_validity && (wall_ms < signature.not_before_ms || wall_ms > signature.not_after_ms))
        return AUTH_REFUSED;
    auth_trust_refresh(&purpose->trust, wall_ms, auth->refresh_ms);
    for (unsigned i = 0; i < purpose->trust.n_keys; i++) {
        const struct auth_key *key = purpose->trust.key[i];
        if (auth_key_is_named(key, signature.signer) && auth_key_is_valid(key, wall_ms) &&
            auth_trust_is_above(key, signature.name) && auth_key_verify(key, &signature))
            return AUTH_ACCEPTED;
    }
    return AUTH_REFUSED;
}

bool auth_is_command_v02(const uint8_t *interest, size_t len)
{
    struct auth_signature signature;
    return auth_interest_parse(interest, len, &signature) == AUTH_COMMAND_V02;
}
