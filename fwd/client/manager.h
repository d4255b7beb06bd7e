// SPDX-License-Identifier: Apache-2.0
#ifndef FWD_CLIENT_MANAGER_H
#define FWD_CLIENT_MANAGER_H

#include <stddef.h>
#include <stdint.h>

#include "fwd/client/link.h"
#include "fwd/mgmt/wire.h"

/*
 * Client of the NFD management protocol: commands as signed Interests, datasets by discovery of their version and then
 * segment by segment. Below /localhost/nfd when the forwarder is on this host, else /localhop/nfd. Single-threaded.
 */
struct manager;

/** Codes besides those of the forwarder's answers, as ndn-cxx and so nfdc number them. */
enum manager_code {
    MANAGER_OK = 200,
    MANAGER_BAD_ANSWER = 10021, /**< an answer that does not decode, or lacks what it must have */
    MANAGER_TIMEOUT = 10060,
    MANAGER_NACK = 10800,
    MANAGER_LINK = 10901, /**< the connection broke, or the request is too large for a packet */
};

/** Strings are read by manager_open() only. */
struct manager_config {
    const char *transport;              /**< NULL: as transport_find() says */
    const char *key_file, *certificate; /**< of signer_create() */
    uint64_t timeout_ns;                /**< of each answer; 0: 10 s for a command, 4 s for a segment */
};

/** @return 0, or a negative errno and words in @p err */
int manager_open(struct manager **manager, const struct manager_config *config, char err[LINK_ERR]);
/** The same over a link that is open, which is not closed by manager_close(). */
int manager_attach(struct manager **manager, struct link *link, const struct manager_config *config,
                   char err[LINK_ERR]);
void manager_close(struct manager *manager);

/** What the forwarder answered. Pointers live until the next request. */
struct manager_answer {
    uint32_t code;             /**< of the ControlResponse, or enum manager_code */
    char text[256];            /**< StatusText, control characters replaced */
    struct mgmt_params params; /**< of the body; has is 0 without one */
};

/** Run a command such as "rib", "register". @return answer->code */
uint32_t manager_command(struct manager *manager, const char *module, const char *verb,
                         const struct mgmt_params *params, struct manager_answer *answer);

/** Octets of a dataset, to be freed with manager_dataset_free(). */
struct manager_dataset {
    uint8_t *p;
    size_t len;
};

/**
 * Fetch a dataset such as "faces", "list". @p query (NULL: none) is the TLV-VALUE of one more component.
 *
 * @return answer->code; with MANAGER_OK @p dataset has the octets of all segments
 */
uint32_t manager_dataset(struct manager *manager, const char *module, const char *list, const uint8_t *query,
                         size_t query_len, struct manager_dataset *dataset, struct manager_answer *answer);
void manager_dataset_free(struct manager_dataset *dataset);

/** Take the next TLV of a dataset. @p off begins at 0. @return octets of it at *item, 0 at the end, -EINVAL */
int manager_dataset_next(const struct manager_dataset *dataset, size_t *off, const uint8_t **item);

#endif
