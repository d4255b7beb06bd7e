// SPDX-License-Identifier: Apache-2.0
#ifndef FWD_CLIENT_MANAGER_PRIV_H
#define FWD_CLIENT_MANAGER_PRIV_H

#include <stdbool.h>

#include "fwd/client/manager.h"
#include "fwd/client/ping.h"

/* What commands and datasets share. */

struct signer;

struct manager {
    struct link *link;
    bool owns_link;
    struct signer *signer;
    uint64_t timeout_ns; /**< 0: the default of the request */
    struct link_packet received;
    uint8_t interest[NDN_PACKET_MAX];
    uint8_t answer[NDN_PACKET_MAX]; /**< Data that struct manager_answer points into */
};

/** Fill an answer with a code and words. @return the code */
uint32_t manager_fail(struct manager_answer *answer, uint32_t code, const char *text);

/** Append a component to a Name. @return false when there is no room */
bool manager_add_component(uint8_t *name, size_t *len, size_t size, uint32_t type, const void *value, size_t value_len);
/** The Name of a command or dataset: /localhost/nfd/MODULE/VERB. @return its octets */
size_t manager_name(const struct manager *manager, uint8_t *name, size_t size, const char *module, const char *verb);

/** Send @p len octets of manager->interest. @return MANAGER_OK or the code that @p answer has */
uint32_t manager_send(struct manager *manager, size_t len, struct manager_answer *answer);
/**
 * Wait for Data or a Nack of this name, with @p prefix of a longer one, too; other packets are not for us.
 *
 * @return MANAGER_OK and manager->received, else the code that @p answer has
 */
uint32_t manager_wait(struct manager *manager, const uint8_t *name, size_t name_len, bool prefix, uint64_t deadline_ns,
                      struct manager_answer *answer);
/** Keep the Data just received, so that views into it live on. @return false when it is malformed */
bool manager_keep_data(struct manager *manager, struct ping_data *data);
/** A ControlResponse into an answer. @return its code, MANAGER_BAD_ANSWER when it makes no sense */
uint32_t manager_take_response(const struct ping_data *data, struct manager_answer *answer);

#endif
