// SPDX-License-Identifier: Apache-2.0
#include "fwd/mgmt/auth_trust.h"

#include <rte_log.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fwd/mgmt/auth_file.h"

/* A certificate whose issuer is not known yet. */
struct candidate {
    struct auth_key *key; /* NULL: it is trusted by now */
    uint8_t *data;
    size_t len;
};

/* What is being read: trusted keys, and certificates that may become so. */
struct reading {
    struct auth_trust trust;
    struct candidate *candidate;
    unsigned n, room;
    bool is_anchor;
};

static bool grow(void **list, unsigned n, unsigned *room, size_t size)
{
    if (n < *room)
        return true;
    unsigned more = *room > 0 ? *room * 2 : 8;
    void *grown = realloc(*list, more * size);
    if (grown == NULL)
        return false;
    *list = grown;
    *room = more;
    return true;
}

static bool add_key(struct auth_trust *trust, struct auth_key *key)
{
    void *list = trust->key;
    bool ok = grow(&list, trust->n_keys, &trust->room, sizeof trust->key[0]);
    trust->key = list;
    if (ok)
        trust->key[trust->n_keys++] = key;
    return ok;
}

static bool add_candidate(struct reading *reading, struct auth_key *key, const uint8_t *data, size_t len)
{
    void *list = reading->candidate;
    bool ok = grow(&list, reading->n, &reading->room, sizeof reading->candidate[0]);
    reading->candidate = list;
    uint8_t *copy = ok ? malloc(len) : NULL;
    if (copy == NULL)
        return false;
    memcpy(copy, data, len);
    reading->candidate[reading->n++] = (struct candidate){key, copy, len};
    return true;
}

static void free_key(struct auth_key *key)
{
    if (key != NULL)
        auth_key_clear(key);
    free(key);
}

static const char *take(void *ctx, struct auth_key *key, const uint8_t *data, size_t len)
{
    struct reading *reading = ctx;
    struct auth_key *kept = malloc(sizeof *kept);
    if (kept == NULL) {
        auth_key_clear(key);
        return "out of memory";
    }
    *kept = *key;
    // An HMAC key is not signed by anyone: who names it trusts it.
    if (reading->is_anchor || data == NULL ? add_key(&reading->trust, kept) : add_candidate(reading, kept, data, len))
        return NULL;
    free_key(kept);
    return "out of memory";
}

bool auth_trust_is_above(const struct auth_key *key, struct auth_view name)
{
    return key->identity_len <= name.len && memcmp(key->name, name.p, key->identity_len) == 0;
}

static const struct auth_key *find_issuer(const struct auth_trust *trust, const struct candidate *candidate)
{
    struct auth_signature signature;
    if (auth_data_parse(candidate->data, candidate->len, &signature) != AUTH_SIGNED)
        return NULL;
    for (unsigned i = 0; i < trust->n_keys; i++) {
        const struct auth_key *key = trust->key[i];
        if (auth_key_is_named(key, signature.signer) && auth_trust_is_above(key, signature.name) &&
            auth_key_verify(key, &signature))
            return key;
    }
    return NULL;
}

/* Each turn but the last trusts at least one more. */
static bool build_chains(struct reading *reading)
{
    for (bool found = true; found;) {
        found = false;
        for (unsigned i = 0; i < reading->n; i++) {
            struct candidate *candidate = &reading->candidate[i];
            const struct auth_key *issuer = candidate->key != NULL ? find_issuer(&reading->trust, candidate) : NULL;
            if (issuer == NULL)
                continue;
            candidate->key->issuer = issuer;
            if (!add_key(&reading->trust, candidate->key))
                return false;
            candidate->key = NULL;
            found = true;
        }
    }
    return true;
}

static void free_keys(struct auth_trust *trust)
{
    for (unsigned i = 0; i < trust->n_keys; i++)
        free_key(trust->key[i]);
    free(trust->key);
    trust->key = NULL;
    trust->n_keys = trust->room = 0;
}

/* Candidates that stay are trusted by nobody. */
static void free_candidates(struct reading *reading)
{
    for (unsigned i = 0; i < reading->n; i++) {
        free_key(reading->candidate[i].key);
        free(reading->candidate[i].data);
    }
    free(reading->candidate);
}

int auth_trust_read(struct auth_trust *trust, unsigned *index, char *why, size_t why_size)
{
    struct reading reading = {0};
    int error = 0;
    for (unsigned i = 0; error == 0 && i < trust->n_sources; i++) {
        bool is_folder = false;
        reading.is_anchor = trust->source[i].is_anchor;
        *index = i;
        error = auth_file_read(trust->source[i].text, take, &reading, &is_folder, why, why_size);
        reading.trust.has_folder |= is_folder;
    }
    if (error == 0 && !build_chains(&reading))
        error = -ENOMEM;
    free_candidates(&reading);
    if (error != 0) {
        free_keys(&reading.trust);
        return error;
    }
    free_keys(trust);
    trust->key = reading.trust.key;
    trust->n_keys = reading.trust.n_keys;
    trust->room = reading.trust.room;
    trust->has_folder = reading.trust.has_folder;
    return 0;
}

void auth_trust_refresh(struct auth_trust *trust, uint64_t wall_ms, uint32_t refresh_ms)
{
    if (!trust->has_folder)
        return;
    if (trust->read_ms != 0 && wall_ms >= trust->read_ms && wall_ms - trust->read_ms < refresh_ms)
        return;
    // The first command after the start sets the clock; the folders have just been read.
    bool first = trust->read_ms == 0;
    trust->read_ms = wall_ms;
    unsigned index = 0;
    char why[200] = "out of memory";
    if (!first && auth_trust_read(trust, &index, why, sizeof why) != 0)
        RTE_LOG(WARNING, USER1, "trust anchors stay what they were: %s\n", why);
}

/* A path that is relative is so to the folder of the file that says it. */
static char *resolve(const char *text, const char *beside)
{
    const char *scheme_end = strncmp(text, "hmac:", 5) == 0 ? text + 5 : text;
    const char *slash = strrchr(beside, '/');
    char *resolved = NULL;
    if (strncmp(text, "base64:", 7) == 0 || scheme_end[0] == '/' || slash == NULL)
        return strdup(text);
    if (asprintf(&resolved, "%.*s%.*s%s", (int)(scheme_end - text), text, (int)(slash + 1 - beside), beside,
                 scheme_end) < 0)
        return NULL;
    return resolved;
}

int auth_trust_add(struct auth_trust *trust, const char *text, bool is_anchor, const char *beside)
{
    if (strcmp(text, "any") == 0) {
        trust->any = true;
        return 0;
    }
    struct auth_source *source = realloc(trust->source, (trust->n_sources + 1) * sizeof *source);
    if (source == NULL)
        return -ENOMEM;
    trust->source = source;
    char *resolved = resolve(text, beside);
    if (resolved == NULL)
        return -ENOMEM;
    trust->source[trust->n_sources++] = (struct auth_source){resolved, is_anchor};
    return 0;
}

void auth_trust_clear(struct auth_trust *trust)
{
    free_keys(trust);
    for (unsigned i = 0; i < trust->n_sources; i++)
        free(trust->source[i].text);
    free(trust->source);
    memset(trust, 0, sizeof *trust);
}
