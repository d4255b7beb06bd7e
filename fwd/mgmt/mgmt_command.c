// SPDX-License-Identifier: Apache-2.0
#include "fwd/mgmt/mgmt_impl.h"

#include <stdlib.h>
#include <string.h>

#include "fwd/mgmt/auth.h"
#include "fwd/mgmt/wire_fields.h"
#include "parser/ndn_tlv.h"

/* Answers that may be under way at once. */
#define HELD_MAX 4096

struct mgmt_held {
    struct mgmt *mgmt;
    struct mgmt_held *next, **back; /**< @p back points at the pointer to this one */
    struct mgmt_token token;
    uint16_t name_len;
    uint8_t name[];
};

void mgmt_respond(struct mgmt *mgmt, struct mgmt_octets name, const struct mgmt_token *token, uint8_t content_type,
                  unsigned code, const char *text, const struct mgmt_params *body)
{
    size_t len = mgmt_response_encode(mgmt->content, sizeof mgmt->content, code, text, body);
    const struct mgmt_data data = {
        .name = name,
        .content_type = content_type,
        .content = mgmt->content,
        .content_len = (uint16_t)len,
        .token = token,
    };
    if (len > 0)
        mgmt_send_data(mgmt, &data);
}

void mgmt_answer(struct mgmt_request *request, unsigned code, const char *text, const struct mgmt_params *body)
{
    request->mgmt->answered = true;
    mgmt_respond(request->mgmt, request->name, &request->mgmt->token, 0, code, text, body);
}

struct mgmt_held *mgmt_hold(struct mgmt_request *request)
{
    struct mgmt *mgmt = request->mgmt;
    if (mgmt->n_held == HELD_MAX)
        return NULL;
    struct mgmt_held *held = malloc(sizeof *held + request->name.len);
    if (held == NULL)
        return NULL;
    held->mgmt = mgmt;
    held->token = mgmt->token;
    held->name_len = request->name.len;
    memcpy(held->name, request->name.p, request->name.len);
    held->next = mgmt->held;
    held->back = &mgmt->held;
    if (held->next != NULL)
        held->next->back = &held->next;
    mgmt->held = held;
    mgmt->n_held++;
    mgmt->answered = true;
    return held;
}

static void held_free(struct mgmt_held *held)
{
    *held->back = held->next;
    if (held->next != NULL)
        held->next->back = held->back;
    held->mgmt->n_held--;
    free(held);
}

void mgmt_answer_held(struct mgmt_held *held, unsigned code, const char *text, const struct mgmt_params *body)
{
    const struct mgmt_octets name = {held->name, held->name_len};
    mgmt_respond(held->mgmt, name, &held->token, 0, code, text, body);
    held_free(held);
}

void mgmt_held_fini(struct mgmt *mgmt)
{
    while (mgmt->held != NULL)
        held_free(mgmt->held);
}

static enum auth_privilege privilege_of(const struct mgmt_module *module, bool localhop)
{
    static const struct {
        const char *module;
        enum auth_privilege privilege;
    } privileges[] = {
        {"faces", AUTH_FACES},
        {"fib", AUTH_FIB},
        {"cs", AUTH_CS},
        {"strategy-choice", AUTH_STRATEGY_CHOICE},
    };
    for (size_t i = 0; i < WIRE_N_OF(privileges); i++)
        if (strcmp(privileges[i].module, module->name) == 0)
            return privileges[i].privilege;
    return localhop ? AUTH_RIB_LOCALHOP : AUTH_RIB_LOCALHOST;
}

/* ControlParameters in the component after the verb. */
static bool read_params(const struct ndn_name *name, struct mgmt_params *params)
{
    struct tlv component, inside;
    if (name->n_comps < 5)
        return false;
    struct mgmt_octets octets = mgmt_component(name, 4);
    return wire_unwrap(octets.p, octets.len, NDN_GENERIC, &component) &&
           wire_unwrap(component.value, component.len, MGMT_CONTROL_PARAMETERS, &inside) &&
           mgmt_params_decode(inside.value, inside.len, params) == 0;
}

/* TLV-VALUE of the ApplicationParameters of an Interest that has been parsed; none: length 0. */
static struct mgmt_octets read_app_params(const struct ndn_packet *pkt)
{
    struct cursor outer = cursor_make(pkt->net, pkt->net_len);
    struct tlv interest, tlv;
    if (tlv_read(&outer, true, &interest) != VERDICT_OK)
        return (struct mgmt_octets){0};
    struct cursor c = cursor_make(interest.value, interest.len);
    while (cursor_left(&c) > 0 && tlv_read(&c, true, &tlv) == VERDICT_OK)
        if (tlv.type == NDN_TLV_APP_PARAMETERS)
            return (struct mgmt_octets){tlv.value, (uint16_t)tlv.len};
    return (struct mgmt_octets){0};
}

/* False when the request has been dealt with. */
static bool authorize(struct mgmt_request *request, const struct ndn_packet *pkt, const struct mgmt_module *module,
                      bool localhop)
{
    struct mgmt *mgmt = request->mgmt;
    if (mgmt->env.auth == NULL)
        return true;
    switch (auth_command(mgmt->env.auth, privilege_of(module, localhop), pkt->net, pkt->net_len, mgmt->wall_ms)) {
    case AUTH_ACCEPTED:
        return true;
    case AUTH_MALFORMED:
        mgmt->counters.malformed++;
        return false;
    case AUTH_REPLAYED:
        mgmt->counters.replayed++;
        break;
    default:
        mgmt->counters.unauthorized++;
        break;
    }
    mgmt_answer(request, 403, "authorization rejected", NULL);
    return false;
}

static bool fields_fit(const struct mgmt_verb *verb, const struct mgmt_params *params)
{
    uint32_t allowed = verb->required | verb->optional;
    if ((params->has & verb->required) != verb->required || (params->has & ~allowed) != 0)
        return false;
    // Where there is a Mask, neither means anything without the other.
    bool has_flags = (params->has & MGMT_HAS_FLAGS) != 0, has_mask = (params->has & MGMT_HAS_MASK) != 0;
    if ((allowed & MGMT_HAS_MASK) != 0 && has_flags != has_mask)
        return false;
    return verb->valid == NULL || verb->valid(params);
}

void mgmt_command(struct mgmt *mgmt, const struct ndn_packet *pkt, const struct mgmt_module *module,
                  const struct mgmt_verb *verb, bool localhop, uint64_t now_ns)
{
    bool has_face = (pkt->lp.has & LP_HAS_INCOMING_FACE) != 0 && pkt->lp.incoming_face <= UINT32_MAX;
    struct mgmt_request request = {
        .mgmt = mgmt,
        .env = &mgmt->env,
        .face = has_face ? (uint32_t)pkt->lp.incoming_face : 0,
        .name = {pkt->name.value, pkt->name.len},
        .now_ns = now_ns,
        .wall_ms = mgmt->wall_ms,
    };
    if (verb->raw)
        request.app_params = read_app_params(pkt);
    // Before anyone is asked for a signature, as the reference forwarder does.
    if (verb->raw ? !verb->decodes(request.app_params) : !read_params(&pkt->name, &request.params)) {
        mgmt->counters.malformed++;
        return;
    }
    mgmt->counters.commands++;
    if (!authorize(&request, pkt, module, localhop))
        return;
    if (!verb->raw && !fields_fit(verb, &request.params)) {
        mgmt_answer(&request, 400, "failed in validating parameters", NULL);
        return;
    }
    mgmt->answered = false;
    verb->run(&request);
    // Of raw parameters only the verb knows that they do not decode.
    if (!mgmt->answered)
        mgmt->counters.malformed++;
}
