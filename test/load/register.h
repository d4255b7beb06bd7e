// SPDX-License-Identifier: Apache-2.0
#ifndef TEST_LOAD_REGISTER_H
#define TEST_LOAD_REGISTER_H

#include <stddef.h>
#include <stdint.h>

/**
 * Write a rib/register command (NFD management; signed Interest of packet spec 0.3, DigestSha256) for a prefix by URI
 * and the face it is sent on. @return octets written; exits the process on failure
 */
size_t register_prefix(uint8_t *p, size_t size, const char *uri);

#endif
