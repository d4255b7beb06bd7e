// SPDX-License-Identifier: Apache-2.0
#ifndef FWD_MGMT_AUTH_H
#define FWD_MGMT_AUTH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Who may command: signed Interests (NDN packet spec 0.3) and command Interests (v0.2), verified with OpenSSL against
 * certificates, with time and nonce rules against replay. Control thread.
 */

struct auth;
struct conf;

/** What an authorization is for: the privileges of NFD's configuration, and the RIB under either scope. */
enum auth_privilege {
    AUTH_FACES = 1 << 0,
    AUTH_FIB = 1 << 1,
    AUTH_CS = 1 << 2,
    AUTH_STRATEGY_CHOICE = 1 << 3,
    AUTH_RIB_LOCALHOST = 1 << 4,
    AUTH_RIB_LOCALHOP = 1 << 5,
    AUTH_ANNOUNCEMENT = 1 << 6, /**< prefix announcements */
};

enum auth_result {
    AUTH_ACCEPTED = 0,
    AUTH_REFUSED,   /**< answer 403 "authorization rejected" */
    AUTH_REPLAYED,  /**< the same answer, another counter: time or nonce */
    AUTH_MALFORMED, /**< the signature is clearly malformed: no answer */
};

/** From the configuration, whose certificates are read here. On failure @p err says why. @return 0, -EINVAL, -ENOMEM */
int auth_create(struct auth **auth, const struct conf *conf, char err[256]);
void auth_destroy(struct auth *auth);

/**
 * Decide on a command Interest: a whole Interest TLV that has passed ndn_packet_parse(). Both signature formats are
 * told apart by their octets.
 */
enum auth_result auth_command(struct auth *auth, enum auth_privilege privilege, const uint8_t *interest, size_t len,
                              uint64_t wall_ms);
/** Decide on Data (a prefix announcement): a whole Data TLV. AUTH_ACCEPTED or AUTH_REFUSED. */
enum auth_result auth_data(struct auth *auth, enum auth_privilege privilege, const uint8_t *data, size_t len,
                           uint64_t wall_ms);
/** Components after MODULE/VERB of a command's name that belong to its signature: 1 + 4 in v0.2, 1 or 2 in v0.3. */
bool auth_is_command_v02(const uint8_t *interest, size_t len);

#endif
