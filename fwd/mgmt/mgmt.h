// SPDX-License-Identifier: Apache-2.0
#ifndef FWD_MGMT_MGMT_H
#define FWD_MGMT_MGMT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fwd/mgmt/wire.h"

/*
 * Management: an ordinary NDN producer behind the internal face (FaceId 1), run by the control thread under the
 * daemon's lock. Interests come to it in LpPackets that carry IncomingFaceId; its answers go back the same way. It is
 * a function of (packet, clock): tests and the fuzzer give it packets without a daemon.
 */

struct mgmt;
struct fwd_shared;
struct worker;
struct strategy_set;
struct face_control;
struct rib;
struct auth;

/** What management acts upon. Pointers may be NULL in tests: the modules that need them then answer 500. */
struct mgmt_env {
    struct fwd_shared *shared; /**< FIB, faces, counters */
    struct worker *worker;     /**< n_workers of them; 0 in tests without */
    uint16_t n_workers;
    struct strategy_set *strategies;
    struct face_control *faces;
    struct rib *rib;
    struct auth *auth;        /**< NULL: every command is accepted */
    const char *version;      /**< NfdVersion of status/general */
    uint32_t cs_capacity_max; /**< of all workers together */
    bool localhop;            /**< serve /localhop/nfd/rib too */
    uint64_t start_ms;        /**< StartTimestamp of status/general, since 1970; 0: now */
    /** Send a network packet, or LpPacket, from the internal face. */
    void (*send)(void *ctx, const uint8_t *packet, size_t len);
    void *ctx;
};

/** @return 0 or -ENOMEM */
int mgmt_create(struct mgmt **mgmt, const struct mgmt_env *env);
void mgmt_destroy(struct mgmt *mgmt);

/**
 * A link-layer packet that came out of the internal face. Never more than a bounded amount of work; what takes longer
 * goes on in mgmt_poll(). @p now_ns is worker_now_ns(), @p wall_ms the time of day since 1970.
 */
void mgmt_receive(struct mgmt *mgmt, const uint8_t *packet, size_t len, uint64_t now_ns, uint64_t wall_ms);
/** Go on with what is under way and forget what is stale. @return nanoseconds until it wants to be called again */
uint64_t mgmt_poll(struct mgmt *mgmt, uint64_t now_ns);

struct mgmt_counters {
    uint64_t commands, datasets, notifications;
    uint64_t malformed;    /**< undecodable: not answered (mgmt_malformed) */
    uint64_t unauthorized; /**< 403 */
    uint64_t replayed;     /**< 403 because of time or nonce (mgmt_replay) */
    uint64_t ignored;      /**< names that nothing here serves */
};
const struct mgmt_counters *mgmt_counters(const struct mgmt *mgmt);

/* For the modules: one file each (faces, fib, rib, cs, strategy-choice, status). */

/** A command that has been decoded, checked against its verb's fields, and authorized. Lives during the call. */
struct mgmt_request {
    struct mgmt *mgmt;
    const struct mgmt_env *env;
    uint32_t face;           /**< it came in by: what FaceId 0 or none means; 0: unknown */
    struct mgmt_octets name; /**< TLV-VALUE of the Interest's Name */
    struct mgmt_params params;
    struct mgmt_octets app_params; /**< TLV-VALUE of ApplicationParameters */
    uint64_t now_ns, wall_ms;
};

/**
 * Answer a command: exactly once, now or, after mgmt_hold(), later. @p body NULL: none. A command of a raw verb whose
 * parameters do not decode is not answered, and counted as malformed.
 */
void mgmt_answer(struct mgmt_request *request, unsigned code, const char *text, const struct mgmt_params *body);

/** An answer that comes later. Freed by mgmt_answer_held(), or by mgmt_destroy(). */
struct mgmt_held;
/** @return NULL without memory: then answer 500 at once */
struct mgmt_held *mgmt_hold(struct mgmt_request *request);
void mgmt_answer_held(struct mgmt_held *held, unsigned code, const char *text, const struct mgmt_params *body);

/** A command of a module. */
struct mgmt_verb {
    const char *name;  /**< NULL ends a list */
    uint32_t required; /**< bits of enum mgmt_field that must be there */
    uint32_t optional; /**< bits that may; any other field: 400 */
    bool raw;          /**< parameters are not ControlParameters: rib/announce decodes app_params itself */
    /** Of raw ones: can they be decoded? If not there is no answer, whoever asks. */
    bool (*decodes)(struct mgmt_octets app_params);
    /** What else is wrong with the fields, for 400 "failed in validating parameters"; may be NULL. */
    bool (*valid)(const struct mgmt_params *params);
    void (*run)(struct mgmt_request *request);
};

/** Octets of a dataset on their way into segments. */
struct mgmt_dataset;
/** Room for one item of at most @p size octets, to be confirmed with mgmt_dataset_put(); NULL without memory. */
uint8_t *mgmt_dataset_room(struct mgmt_dataset *dataset, size_t size);
void mgmt_dataset_put(struct mgmt_dataset *dataset, size_t len);
/** Reject the query: a Data of ContentType Nack with a ControlResponse. */
void mgmt_dataset_reject(struct mgmt_dataset *dataset, unsigned code, const char *text);

struct mgmt_list {
    const char *name; /**< NULL ends a list */
    bool with_query;  /**< one more name component is the question (faces/query) */
    /** Write the items. @p query is the TLV-VALUE of that component. */
    void (*write)(struct mgmt *mgmt, const struct mgmt_env *env, struct mgmt_octets query, uint64_t now_ns,
                  struct mgmt_dataset *dataset);
};

struct mgmt_module {
    const char *name;
    const struct mgmt_verb *verbs;
    const struct mgmt_list *lists;
    bool localhop; /**< also served under /localhop/nfd, when enabled */
};
extern const struct mgmt_module mgmt_faces, mgmt_fib, mgmt_rib, mgmt_cs, mgmt_strategy_choice, mgmt_status;

/** Publish a notification of a stream such as faces/events: the next sequence number; Interests that wait get it. */
void mgmt_notify(struct mgmt *mgmt, const char *module, const char *stream, const uint8_t *content, size_t len,
                 uint64_t now_ns);
/**
 * Express an Interest from the internal face (readvertise); @p done gets the Data's content, or NULL at timeout or
 * Nack; the time runs from the next mgmt_poll(). @return 0; -EINVAL (no Interest), -ENOSPC, -ENOMEM: @p done is not
 * called
 */
int mgmt_express(struct mgmt *mgmt, const uint8_t *interest, size_t len, uint64_t timeout_ns,
                 void (*done)(void *ctx, const uint8_t *content, size_t len), void *ctx);

#endif
