// SPDX-License-Identifier: Apache-2.0
#ifndef FWD_MGMT_AUTH_TRUST_H
#define FWD_MGMT_AUTH_TRUST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fwd/mgmt/auth_key.h"

/*
 * Whose signatures count for one purpose: trust anchors, and certificates that a chain of certificates leads from to
 * an anchor, each issued by a key whose identity is a prefix of its own. Folders are read again now and then.
 */

struct auth_source {
    char *text;     /**< as auth_file_read() takes it */
    bool is_anchor; /**< else its certificates must be issued by one that is trusted */
};

/** Zeroed: nobody is trusted. */
struct auth_trust {
    bool any; /**< everybody is */
    struct auth_source *source;
    unsigned n_sources;
    struct auth_key **key;
    unsigned n_keys, room;
    bool has_folder;
    uint64_t read_ms; /**< when the sources were read, since 1970 */
};

/** Add a source, "any" or as auth_file_read() takes it; paths are relative to the folder of @p beside. @return 0,
 * -ENOMEM */
int auth_trust_add(struct auth_trust *trust, const char *text, bool is_anchor, const char *beside);

/**
 * Read all sources. What was trusted stays so on failure.
 *
 * @return 0; -ENOMEM; -EINVAL with the source that is at fault in *index and @p why
 */
int auth_trust_read(struct auth_trust *trust, unsigned *index, char *why, size_t why_size);

/** Read folders again when the last time was @p refresh_ms ago, or the clock was set back. */
void auth_trust_refresh(struct auth_trust *trust, uint64_t wall_ms, uint32_t refresh_ms);

void auth_trust_clear(struct auth_trust *trust);

/** Is the identity of this key a prefix of a Name? */
bool auth_trust_is_above(const struct auth_key *key, struct auth_view name);

#endif
