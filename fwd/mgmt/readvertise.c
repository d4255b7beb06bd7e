// SPDX-License-Identifier: Apache-2.0
#include "fwd/mgmt/readvertise.h"

#include <errno.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fwd/mgmt/due.h"
#include "fwd/mgmt/mgmt.h"
#include "fwd/mgmt/rib.h"
#include "fwd/mgmt/signer.h"
#include "parser/ndn_encode.h"
#include "parser/ndn_packet.h"

/** Commands that wait for their answers at most, so that thousands of routes do not go out at once. */
#define IN_FLIGHT_MAX 64
#define NEVER         UINT64_MAX
#define NS_PER_MS     UINT64_C(1000000)

enum command { COMMAND_NONE = 0, COMMAND_REGISTER, COMMAND_UNREGISTER };

/** A prefix that is told of. */
struct advert {
    struct readvertise *owner;
    struct due due;
    uint64_t delay_ns; /**< before the next attempt, should the one under way fail */
    uint32_t n_routes; /**< 0: to be withdrawn */
    uint8_t under_way; /**< enum command */
    bool answered, ok; /**< the command under way */
    uint16_t len;
    uint8_t name[];
};

struct readvertise {
    struct readvertise_config config;
    struct signer *signer;
    struct due_queue queue;
    void *adverts; /**< tsearch(3) tree of struct advert */
    unsigned n_in_flight;
    bool available; /**< the RIB has a route to where commands go */
    struct readvertise_counters counters;
    uint8_t to[NDN_NAME_MAX], identity[NDN_NAME_MAX];
};

static struct advert *advert_of(struct due *due)
{
    return (struct advert *)((char *)due - offsetof(struct advert, due));
}

static int compare(const void *a, const void *b)
{
    const struct advert *x = a, *y = b;
    if (x->len != y->len)
        return x->len < y->len ? -1 : 1;
    return x->len > 0 ? memcmp(x->name, y->name, x->len) : 0;
}

static struct advert *advert_make(struct readvertise *r, struct mgmt_octets name)
{
    struct advert *advert = calloc(1, sizeof *advert + name.len);
    if (advert == NULL)
        return NULL;
    advert->owner = r;
    advert->due.place = DUE_NOWHERE;
    advert->len = name.len;
    if (name.len > 0)
        memcpy(advert->name, name.p, name.len);
    return advert;
}

static void advert_drop(struct readvertise *r, struct advert *advert)
{
    due_remove(&r->queue, &advert->due);
    tdelete(advert, &r->adverts, compare);
    r->counters.n_prefixes--;
    free(advert);
}

/** Have the next poll look at it, unless it waits for an answer. */
static void hurry(struct readvertise *r, struct advert *advert)
{
    advert->delay_ns = r->config.retry_min_ns;
    if (advert->under_way == COMMAND_NONE)
        due_set(&r->queue, &advert->due, 0);
}

static void route_added(struct readvertise *r, struct mgmt_octets prefix)
{
    struct advert *made = advert_make(r, prefix);
    struct advert **found = made != NULL ? tsearch(made, &r->adverts, compare) : NULL;
    // Without memory the route is not told of: the other side learns of it no sooner than it is registered again.
    if (found == NULL) {
        free(made);
        return;
    }
    if (*found != made) {
        free(made);
    } else if (due_reserve(&r->queue) != 0) {
        tdelete(made, &r->adverts, compare);
        free(made);
        return;
    } else {
        // In the queue all its life, so that there is always room for it.
        due_set(&r->queue, &made->due, NEVER);
        r->counters.n_prefixes++;
    }
    struct advert *advert = *found;
    if (advert->n_routes++ == 0)
        hurry(r, advert);
}

static void route_removed(struct readvertise *r, struct mgmt_octets prefix)
{
    struct advert *key = advert_make(r, prefix);
    struct advert **found = key != NULL ? tfind(key, &r->adverts, compare) : NULL;
    free(key);
    if (found == NULL || (*found)->n_routes == 0)
        return;
    if (--(*found)->n_routes == 0)
        hurry(r, *found);
}

static void check_available(struct readvertise *r)
{
    bool available = rib_serves(r->config.rib, r->config.to);
    if (available == r->available)
        return;
    r->available = available;
    // To who comes everything is told anew. One time for all of them keeps the heap a heap.
    for (uint32_t i = 0; i < r->queue.n; i++) {
        advert_of(r->queue.heap[i])->delay_ns = r->config.retry_min_ns;
        r->queue.heap[i]->at_ns = 0;
    }
}

static void heard(void *ctx, bool added, struct mgmt_octets name, const struct rib_route *route)
{
    struct readvertise *r = ctx;
    struct mgmt_octets prefix;
    if (r->config.policy(r->config.identity, name, route, &prefix)) {
        if (added)
            route_added(r, prefix);
        else
            route_removed(r, prefix);
    }
    check_available(r);
}

/** The answer of a command; what follows from it the next poll does, which knows the time. */
static void answered(void *ctx, const uint8_t *content, size_t len)
{
    struct advert *advert = ctx;
    struct mgmt_response response;
    advert->answered = true;
    advert->ok = content != NULL && mgmt_response_decode(content, len, &response) == 0 && response.code == 200;
    advert->owner->n_in_flight--;
    due_set(&advert->owner->queue, &advert->due, 0);
}

/** Name of a command: PREFIX/rib/VERB/PARAMETERS. @return its octets, 0: too long */
static size_t command_name(const struct readvertise *r, const struct advert *advert, enum command command,
                           uint8_t name[NDN_PACKET_MAX])
{
    static const uint8_t to_register[] = {8, 3, 'r', 'i', 'b', 8, 8, 'r', 'e', 'g', 'i', 's', 't', 'e', 'r'};
    static const uint8_t to_unregister[] = {8,   3,   'r', 'i', 'b', 8,   10,  'u', 'n',
                                            'r', 'e', 'g', 'i', 's', 't', 'e', 'r'};
    struct mgmt_params params = {
        .has = MGMT_HAS_NAME | MGMT_HAS_FACE_ID | MGMT_HAS_ORIGIN,
        .name = {advert->name, advert->len},
        .origin = r->config.origin,
        .cost = r->config.cost,
        .flags = RIB_CHILD_INHERIT,
    };
    if (command == COMMAND_REGISTER)
        params.has |= MGMT_HAS_COST | MGMT_HAS_FLAGS;
    const uint8_t *verb = command == COMMAND_REGISTER ? to_register : to_unregister;
    size_t verb_len = command == COMMAND_REGISTER ? sizeof to_register : sizeof to_unregister;
    uint8_t encoded[NDN_NAME_MAX + 64];
    size_t n = mgmt_params_encode(encoded, sizeof encoded, &params);
    size_t header = 1 + ndn_tlv_var_size(n);
    if (n == 0 || r->config.to.len + verb_len + header + n > NDN_NAME_MAX - NDN_DIGEST_COMP_SIZE)
        return 0;
    memcpy(name, r->to, r->config.to.len);
    uint8_t *p = name + r->config.to.len;
    memcpy(p, verb, verb_len);
    p += verb_len;
    *p++ = NDN_GENERIC;
    p += ndn_tlv_put_var(p, n);
    memcpy(p, encoded, n);
    return (size_t)(p + n - name);
}

static void send_command(struct readvertise *r, struct advert *advert, enum command command)
{
    uint8_t name[NDN_PACKET_MAX], interest[NDN_PACKET_MAX];
    size_t name_len = command_name(r, advert, command, name);
    size_t len = 0;
    if (name_len > 0)
        len = signer_interest(r->signer, interest, sizeof interest, name, name_len,
                              (uint32_t)(r->config.timeout_ns / NS_PER_MS));
    advert->under_way = (uint8_t)command;
    advert->answered = false;
    r->n_in_flight++;
    due_set(&r->queue, &advert->due, NEVER);
    if (len == 0 || mgmt_express(r->config.mgmt, interest, len, r->config.timeout_ns, answered, advert) != 0)
        answered(advert, NULL, 0);
}

/** An answer has come, or will not: what next? */
static void settle(struct readvertise *r, struct advert *advert, uint64_t now_ns)
{
    enum command done = advert->under_way;
    bool is_wanted = advert->n_routes > 0;
    advert->under_way = COMMAND_NONE;
    if (!advert->ok)
        r->counters.failed++;
    else if (done == COMMAND_REGISTER)
        r->counters.registered++;
    else
        r->counters.unregistered++;
    if (is_wanted != (done == COMMAND_REGISTER)) {
        // Routes came or went meanwhile.
        due_set(&r->queue, &advert->due, now_ns);
    } else if (!advert->ok) {
        due_set(&r->queue, &advert->due, now_ns + advert->delay_ns);
        advert->delay_ns =
            advert->delay_ns < r->config.retry_max_ns / 2 ? advert->delay_ns * 2 : r->config.retry_max_ns;
    } else if (is_wanted) {
        advert->delay_ns = r->config.retry_min_ns;
        due_set(&r->queue, &advert->due, now_ns + r->config.refresh_ns);
    } else {
        advert_drop(r, advert);
    }
}

uint64_t readvertise_poll(struct readvertise *r, uint64_t now_ns)
{
    struct due *due;
    while ((due = due_first(&r->queue)) != NULL && due->at_ns <= now_ns) {
        struct advert *advert = advert_of(due);
        if (advert->under_way != COMMAND_NONE && advert->answered)
            settle(r, advert, now_ns);
        else if (advert->under_way != COMMAND_NONE)
            due_set(&r->queue, due, NEVER);
        else if (!r->available && advert->n_routes == 0)
            advert_drop(r, advert); // who was told is gone, and what it knew with it
        else if (!r->available)
            due_set(&r->queue, due, NEVER);
        else if (r->n_in_flight < IN_FLIGHT_MAX)
            send_command(r, advert, advert->n_routes > 0 ? COMMAND_REGISTER : COMMAND_UNREGISTER);
        else
            return NEVER; // answers come first
    }
    return due == NULL || due->at_ns == NEVER ? NEVER : due->at_ns - now_ns;
}

void readvertise_counters(const struct readvertise *r, struct readvertise_counters *counters)
{
    *counters = r->counters;
}

static void add_routes(void *ctx, struct mgmt_octets name, const struct rib_route *routes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        heard(ctx, true, name, &routes[i]);
}

int readvertise_create(struct readvertise **readvertise, const struct readvertise_config *config, char err[256])
{
    struct readvertise *r = calloc(1, sizeof *r);
    int rc = -ENOMEM;
    if (r == NULL) {
        snprintf(err, 256, "out of memory");
        return rc;
    }
    r->config = *config;
    if (config->to.len > sizeof r->to || config->identity.len > sizeof r->identity) {
        snprintf(err, 256, "a name is too long");
        rc = -EINVAL;
        goto free_all;
    }
    memcpy(r->to, config->to.p, config->to.len);
    r->config.to.p = r->to;
    if (config->identity.p != NULL) {
        memcpy(r->identity, config->identity.p, config->identity.len);
        r->config.identity.p = r->identity;
    }
    rc = signer_create(&r->signer, config->key_file, config->certificate, err);
    if (rc != 0)
        goto free_all;
    rc = rib_listen(config->rib, heard, r);
    if (rc != 0) {
        snprintf(err, 256, "too many listen to the RIB");
        goto free_all;
    }
    rib_foreach(config->rib, add_routes, r);
    check_available(r);
    *readvertise = r;
    return 0;

free_all:
    signer_destroy(r->signer);
    free(r);
    return rc;
}

void readvertise_destroy(struct readvertise *r)
{
    if (r == NULL)
        return;
    tdestroy(r->adverts, free);
    due_free(&r->queue);
    signer_destroy(r->signer);
    free(r);
}
