// SPDX-License-Identifier: Apache-2.0
#ifndef FWD_MGMT_AUTH_H
#define FWD_MGMT_AUTH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Who may command: signed Interests (NDN packet spec 0.3) and command Interests (v0.2), verified with OpenSSL against
 * certificates, with time and nonce rules against replay. Control thread.
 *
 * What is taken over of the reference forwarder's rules. Section authorizations: the certificate in certfile itself,
 * no chains. The RIB and announcements, which have validator rules there: a key counts when its certificate is an
 * anchor, or a chain of given certificates leads from it to one, each issued by an identity that is a prefix of its
 * own ("hierarchical"); commands may have any key that counts, announcements one whose identity is a prefix of what is
 * announced. Filters on names and key locators are not there. Nothing is fetched from the network.
 *
 * "any" for a module accepts every command, unsigned ones too. "any" for the RIB accepts what is signed with a
 * SignatureTime (v0.2: a timestamp) and verifies neither: times are not compared, so replays count, as in the
 * reference forwarder. Elsewhere a command's time is within two minutes of now and later than its key's last one.
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
/** Is the Interest a command Interest (v0.2), the last four components of whose name are about its signature? */
bool auth_is_command_v02(const uint8_t *interest, size_t len);

#endif
