// SPDX-License-Identifier: Apache-2.0
#ifndef FWD_MGMT_AUTH_FILE_H
#define FWD_MGMT_AUTH_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fwd/mgmt/auth_key.h"

/*
 * Keys from where the configuration says they are: a file with NDN certificates (Data, as they are or in base64), a
 * folder of such files, "base64:CERTIFICATE", or "hmac:FILE" whose file holds a name URI and a key in base64.
 */

#define AUTH_FILE_MAX   65536
#define AUTH_FOLDER_MAX 1024

/**
 * Called for each key, with the certificate it was read from (NULL for an HMAC key). Takes *key over.
 * @return NULL, else what is wrong
 */
typedef const char *(*auth_key_taker_t)(void *ctx, struct auth_key *key, const uint8_t *data, size_t len);

/**
 * Read the keys of @p source. A file in a folder that is none of ours is skipped with a warning; any other makes the
 * whole fail. Reads files: at start, and seldom.
 *
 * @return 0 and *is_folder; -EINVAL with @p why
 */
int auth_file_read(const char *source, auth_key_taker_t taker, void *ctx, bool *is_folder, char *why, size_t why_size);

/** Decode base64 that blanks and line ends may be in. @return octets, at most @p len / 4 * 3 + 3; -1: it is none */
long auth_base64(const char *text, size_t len, uint8_t *octets);

#endif
