// SPDX-License-Identifier: Apache-2.0
#ifndef FWD_QUIC_KEY_FILE_H
#define FWD_QUIC_KEY_FILE_H

#include <stddef.h>
#include <stdint.h>

#include "fwd/quic/service.h"

/*
 * Files with keys, in hexadecimal digits; what follows '#' in a line is a comment. A file that its group or others may
 * read is refused. Nothing of a file stays in memory but the key itself, which is the caller's to wipe. Control thread.
 */

/** Octets of a message of why a file cannot be used, NUL counted in. */
#define KEY_FILE_ERR_MAX 256

/**
 * Read a file with one key of 16 octets.
 *
 * @param err why not, as "PATH:LINE: what is wrong" or "PATH: ..."
 * @return 0, -EINVAL, or what open() and read() say
 */
int key_file_read(const char *path, uint8_t key[16], char err[KEY_FILE_ERR_MAX]);

/** Read a file with 1 to QUIC_RETRY_KEYS_MAX lines "SEQUENCE KEY IV". As key_file_read(). @return their number */
int key_file_read_retry(const char *path, struct quic_retry_key keys[QUIC_RETRY_KEYS_MAX], char err[KEY_FILE_ERR_MAX]);

#endif
