// SPDX-License-Identifier: Apache-2.0
#ifndef TEST_LOAD_OPTIONS_READ_H
#define TEST_LOAD_OPTIONS_READ_H

#include <stdbool.h>

#include "test/load/options.h"

/* Values of the command line. Each is read whole or refused: false. */

/** A number with a fraction and k, M or G behind it, from @p min to @p max. */
bool options_read_real(const char *text, double min, double max, double *value);
/** A whole number likewise ("64k"). */
bool options_read_number(const char *text, uint64_t min, uint64_t max, uint64_t *value);
/** PORT[,KEY=VALUE]... of a role. */
bool options_read_end(const char *text, struct options_end *end);
/** "distinct", "cycle:N" or "zipf:N:S". */
bool options_read_names(const char *text, struct options *options);
/** "drop:N", "corrupt:N", "nack:N", with commas between them. */
bool options_read_inject(const char *text, struct options_inject *inject);
/** CONFIG-ID:SERVER-ID-LENGTH:NONCE-LENGTH[:KEY]. */
bool options_read_quic_config(const char *text, struct options_quic *quic);
/** SERVER-ID[=MAC]. */
bool options_read_quic_server(const char *text, struct options_quic *quic);

#endif
