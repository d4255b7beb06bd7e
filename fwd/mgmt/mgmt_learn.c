// SPDX-License-Identifier: Apache-2.0
/*
 * What workers report of self-learning (fwd/strategy_self_learning.c): Data that carries a prefix announcement makes a
 * route to where it came from; Data without one gets the announcement that the RIB has for it, and goes back; a Nack
 * ends the route that the Interest followed.
 */
#include <string.h>

#include "fwd/fwd.h"
#include "fwd/mgmt/auth.h"
#include "fwd/mgmt/mgmt_impl.h"
#include "fwd/mgmt/rib.h"

/* A learnt route lives this long unless its announcement ends sooner (NFD: 10 minutes). */
#define LEARN_ROUTE_NS UINT64_C(600000000000)

static void learn_route(struct mgmt *mgmt, const struct ndn_lp *lp, uint32_t face, uint64_t now_ns, uint64_t wall_ms)
{
    struct auth *auth = mgmt->env.auth;
    struct rib_announcement announcement;
    const uint8_t *data = lp->announcement;
    size_t len = lp->announcement_len;
    if (rib_announcement_decode(data, len, face, now_ns, wall_ms, &announcement) != 0) {
        mgmt->counters.malformed++;
        return;
    }
    if (auth != NULL && auth_data(auth, AUTH_ANNOUNCEMENT, data, len, wall_ms) != AUTH_ACCEPTED) {
        mgmt->counters.unauthorized++;
        return;
    }
    (void)rib_announce(mgmt->env.rib, &announcement, data, len, now_ns, LEARN_ROUTE_NS);
}

/* The Data goes back whether there is an announcement or not: somebody waits for it. */
static void learn_answer(struct mgmt *mgmt, const struct ndn_packet *pkt, uint64_t now_ns, uint64_t wall_ms)
{
    uint8_t *end = mgmt->packet + sizeof mgmt->packet;
    const struct mgmt_octets name = {pkt->name.value, pkt->name.len};
    size_t len = pkt->net_len;
    struct ndn_lp_out lp = {.announcement = mgmt->content};
    size_t found = rib_announcement_find(mgmt->env.rib, name, now_ns, wall_ms, mgmt->content, sizeof mgmt->content);
    lp.announcement_len = (uint16_t)found;
    // One packet has to hold both.
    if (found > 0 && ndn_lp_prepend_size(len, &lp) > NDN_PACKET_MAX - len)
        lp.announcement_len = 0;
    uint8_t *net = memmove(end - len, pkt->net, len);
    size_t header = lp.announcement_len > 0 ? ndn_lp_prepend(net, len, &lp) : 0;
    mgmt->env.send(mgmt->env.ctx, net - header, header + len);
}

void mgmt_learn(struct mgmt *mgmt, const struct ndn_packet *pkt, uint64_t now_ns, uint64_t wall_ms)
{
    const struct mgmt_env *env = &mgmt->env;
    uint64_t face = pkt->lp.has & LP_HAS_INCOMING_FACE ? pkt->lp.incoming_face : 0;
    // A face that has gone since takes its routes with it.
    if (env->rib == NULL || env->shared == NULL || face == 0 || face > UINT32_MAX ||
        face_get(env->shared->faces, (uint32_t)face) == NULL)
        return;
    const struct mgmt_octets name = {pkt->name.value, pkt->name.len};
    if (pkt->lp.has & LP_HAS_NACK) {
        if (pkt->lp.nack_reason == NDN_NACK_NO_ROUTE)
            (void)rib_announcement_renew(env->rib, name, (uint32_t)face, now_ns, 0);
    } else if (pkt->lp.has & LP_HAS_PREFIX_ANNOUNCEMENT) {
        learn_route(mgmt, &pkt->lp, (uint32_t)face, now_ns, wall_ms);
    } else {
        learn_answer(mgmt, pkt, now_ns, wall_ms);
    }
}
