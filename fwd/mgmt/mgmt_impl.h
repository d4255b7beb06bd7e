// SPDX-License-Identifier: Apache-2.0
#ifndef FWD_MGMT_MGMT_IMPL_H
#define FWD_MGMT_MGMT_IMPL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fwd/mgmt/mgmt.h"
#include "parser/ndn_encode.h"
#include "parser/ndn_packet.h"

/* Inside of management. */

struct fwd;
struct worker;
struct evp_md_st;
struct evp_md_ctx_st;

#define MGMT_TLV_VERSION  54
#define MGMT_TLV_SEGMENT  50
#define MGMT_TLV_SEQUENCE 58
/** Octets of a component that holds a number: type, length, number. */
#define MGMT_NUMBER_COMP_MAX 10

/** FreshnessPeriod of every answer, and how long segments wait for the Interest that asks for them. */
#define MGMT_FRESHNESS_MS 1000
/** Largest Data sent: the LpPacket around it counts, too. */
#define MGMT_DATA_MAX (NDN_PACKET_MAX - NDN_LP_HEADER_MAX)

/** A PIT token that is to come back with the answer. */
struct mgmt_token {
    uint8_t len;
    uint8_t octets[NDN_LP_TOKEN_MAX];
};

/** Data to be sent. */
struct mgmt_data {
    struct mgmt_octets name;
    uint8_t content_type;
    struct mgmt_octets final_block; /**< component TLV; len 0: none */
    const uint8_t *content;
    uint16_t content_len;
    const struct mgmt_token *token; /**< NULL: none */
};

/** Flags of cs/config and cs/info. */
enum mgmt_cs_flags { MGMT_CS_ADMIT = 1 << 0, MGMT_CS_SERVE = 1 << 1 };

struct mgmt_stored;
struct mgmt_stream;
struct mgmt_expressed;
struct mgmt_erasure;

#define MGMT_EXPRESSED_BUCKETS 1024

struct mgmt {
    struct mgmt_env env;
    struct mgmt_counters counters;
    uint64_t start_ms;       /**< since 1970 */
    uint64_t wall_ms;        /**< of the packet in work */
    struct mgmt_token token; /**< of the Interest in work */
    struct evp_md_st *sha256;
    struct evp_md_ctx_st *digest;

    struct mgmt_held *held;
    uint32_t n_held;
    bool answered; /**< the command in work, or will be */

    uint64_t version; /**< of the last dataset */
    struct mgmt_stored *stored_newest, *stored_oldest;
    uint32_t n_stored;
    size_t stored_octets;

    struct mgmt_stream *streams;

    struct mgmt_expressed *expressed[MGMT_EXPRESSED_BUCKETS];
    uint32_t n_expressed;
    uint64_t express_ns; /**< nothing times out before */

    uint64_t cs_flags; /**< enum mgmt_cs_flags: what the workers' CS do */
    struct mgmt_erasure *erasures, **erasures_end;
    uint32_t n_erasures;

    uint8_t content[NDN_PACKET_MAX];                    /**< of an answer */
    uint8_t packet[NDN_LP_HEADER_MAX + NDN_PACKET_MAX]; /**< on its way out */
};

/* fwd/mgmt/mgmt.c */

/** Octets of component @p i of a name that has it, below NDN_NAME_DEPTH: its whole TLV. */
struct mgmt_octets mgmt_component(const struct ndn_name *name, unsigned i);
/** Number in the last component of a name when that has this type. */
bool mgmt_last_number(const struct ndn_name *name, uint32_t type, uint64_t *number);
/** Components of a name that has been checked. */
unsigned mgmt_name_depth(struct mgmt_octets name);
/** Run a function on a worker; when that does not run, right here. @return 0, -ETIMEDOUT */
int mgmt_worker_run(struct worker *worker, void (*run)(struct fwd *fwd, void *arg), void *arg);

/* fwd/mgmt/mgmt_send.c */

int mgmt_send_init(struct mgmt *mgmt);
void mgmt_send_fini(struct mgmt *mgmt);
/** Sign, wrap and send. What does not fit into a packet is not sent. */
void mgmt_send_data(struct mgmt *mgmt, const struct mgmt_data *data);
/** Write a component that holds a number. @return octets */
uint16_t mgmt_put_number(uint8_t p[MGMT_NUMBER_COMP_MAX], uint32_t type, uint64_t number);

/* fwd/mgmt/mgmt_command.c */

/** Decode, authorize, check and run a command. */
void mgmt_command(struct mgmt *mgmt, const struct ndn_packet *pkt, const struct mgmt_module *module,
                  const struct mgmt_verb *verb, bool localhop, uint64_t now_ns);
/** A response on its way out. */
void mgmt_respond(struct mgmt *mgmt, struct mgmt_octets name, const struct mgmt_token *token, uint8_t content_type,
                  unsigned code, const char *text, const struct mgmt_params *body);
void mgmt_held_fini(struct mgmt *mgmt);

/* fwd/mgmt/mgmt_dataset.c */

/** Answer from the store, or write a new dataset. */
void mgmt_dataset(struct mgmt *mgmt, const struct ndn_packet *pkt, const struct mgmt_list *list, uint64_t now_ns);
/** Forget what is stale. @return nanoseconds until something will be */
uint64_t mgmt_dataset_poll(struct mgmt *mgmt, uint64_t now_ns);
void mgmt_dataset_fini(struct mgmt *mgmt);

/* fwd/mgmt/mgmt_notify.c */

int mgmt_notify_init(struct mgmt *mgmt);
/** True when the Interest was for a notification stream. */
bool mgmt_notify_interest(struct mgmt *mgmt, const struct ndn_packet *pkt, uint64_t now_ns);
void mgmt_notify_fini(struct mgmt *mgmt);

/* fwd/mgmt/mgmt_express.c */

/** Data or a Nack came in. @return true when it answered an Interest of ours */
bool mgmt_express_answer(struct mgmt *mgmt, struct ndn_packet *pkt);
uint64_t mgmt_express_poll(struct mgmt *mgmt, uint64_t now_ns);
void mgmt_express_fini(struct mgmt *mgmt);

/* fwd/mgmt/mgmt_learn.c */

/** Data or a Nack that a worker reports, with IncomingFaceId. */
void mgmt_learn(struct mgmt *mgmt, const struct ndn_packet *pkt, uint64_t now_ns, uint64_t wall_ms);

/* fwd/mgmt/module_cs.c */

/** Go on with erasures. @return nanoseconds until it wants to be called again */
uint64_t mgmt_cs_poll(struct mgmt *mgmt);
void mgmt_cs_fini(struct mgmt *mgmt);

#endif
