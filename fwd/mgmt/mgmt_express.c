// SPDX-License-Identifier: Apache-2.0
/* Interests that management expresses itself, by the name they ask for. */
#include "fwd/mgmt/mgmt_impl.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fwd/fwd.h"
#include "parser/ndn_tlv.h"

#define EXPRESSED_MAX 65536

struct mgmt_expressed {
    struct mgmt_expressed *next;
    uint64_t hash;
    uint64_t timeout_ns;
    uint64_t expires_ns; /**< 0: the next poll says */
    void (*done)(void *ctx, const uint8_t *content, size_t len);
    void *ctx;
    bool can_be_prefix;
    uint16_t name_len;
    uint8_t name[];
};

static void hash_name(const struct mgmt *mgmt, struct ndn_name *name)
{
    static const struct ndn_name_key no_key;
    ndn_name_hash(name, mgmt->env.shared != NULL ? &mgmt->env.shared->name_key : &no_key);
}

int mgmt_express(struct mgmt *mgmt, const uint8_t *interest, size_t len, uint64_t timeout_ns,
                 void (*done)(void *ctx, const uint8_t *content, size_t len), void *ctx)
{
    const struct ndn_parse_opts opts = {0};
    struct ndn_packet pkt;
    if (ndn_packet_parse(interest, len, &opts, &pkt) != VERDICT_OK || pkt.type != NDN_TYPE_INTEREST)
        return -EINVAL;
    if (mgmt->n_expressed == EXPRESSED_MAX)
        return -ENOSPC;
    struct mgmt_expressed *expressed = malloc(sizeof *expressed + pkt.name.len);
    if (expressed == NULL)
        return -ENOMEM;
    hash_name(mgmt, &pkt.name);
    struct mgmt_expressed **bucket = &mgmt->expressed[pkt.name.hash_full % MGMT_EXPRESSED_BUCKETS];
    *expressed = (struct mgmt_expressed){
        .next = *bucket,
        .hash = pkt.name.hash_full,
        .timeout_ns = timeout_ns,
        .done = done,
        .ctx = ctx,
        .can_be_prefix = pkt.interest.can_be_prefix,
        .name_len = pkt.name.len,
    };
    memcpy(expressed->name, pkt.name.value, pkt.name.len);
    *bucket = expressed;
    mgmt->n_expressed++;
    mgmt->express_ns = 0;
    mgmt->env.send(mgmt->env.ctx, interest, len);
    return 0;
}

/* TLV-VALUE of the Content of Data that has been parsed; none: NULL. */
static const uint8_t *read_content(const struct ndn_packet *pkt, size_t *len)
{
    struct cursor outer = cursor_make(pkt->net, pkt->net_len);
    struct tlv data, tlv;
    *len = 0;
    if (tlv_read(&outer, true, &data) != VERDICT_OK)
        return NULL;
    struct cursor c = cursor_make(data.value, data.len);
    while (cursor_left(&c) > 0 && tlv_read(&c, true, &tlv) == VERDICT_OK) {
        if (tlv.type == NDN_TLV_CONTENT) {
            *len = tlv.len;
            return tlv.value;
        }
    }
    return NULL;
}

/* Take those that ask for the first @p len octets of a name out of the table. */
static void take(struct mgmt *mgmt, const uint8_t *name, uint16_t len, uint64_t hash, bool whole,
                 struct mgmt_expressed **taken)
{
    struct mgmt_expressed **at = &mgmt->expressed[hash % MGMT_EXPRESSED_BUCKETS];
    while (*at != NULL) {
        struct mgmt_expressed *expressed = *at;
        if (expressed->hash != hash || expressed->name_len != len || memcmp(expressed->name, name, len) != 0 ||
            !(whole || expressed->can_be_prefix)) {
            at = &expressed->next;
            continue;
        }
        *at = expressed->next;
        expressed->next = *taken;
        *taken = expressed;
        mgmt->n_expressed--;
    }
}

static void finish(struct mgmt_expressed *taken, const uint8_t *content, size_t len)
{
    while (taken != NULL) {
        struct mgmt_expressed *next = taken->next;
        taken->done(taken->ctx, content, len);
        free(taken);
        taken = next;
    }
}

bool mgmt_express_answer(struct mgmt *mgmt, struct ndn_packet *pkt)
{
    static const uint8_t nothing;
    struct ndn_name *name = &pkt->name;
    struct mgmt_expressed *taken = NULL;
    if (mgmt->n_expressed == 0)
        return false;
    hash_name(mgmt, name);
    take(mgmt, name->value, name->len, name->hash_full, true, &taken);
    if (pkt->type == NDN_TYPE_INTEREST) { // in a Nack
        bool was_asked = taken != NULL;
        finish(taken, NULL, 0);
        return was_asked;
    }
    for (unsigned depth = 1; depth <= name->depth; depth++)
        take(mgmt, name->value, name->end[depth], name->hash[depth], false, &taken);
    size_t len;
    const uint8_t *content = read_content(pkt, &len);
    bool was_asked = taken != NULL;
    finish(taken, content != NULL ? content : &nothing, len);
    return was_asked;
}

uint64_t mgmt_express_poll(struct mgmt *mgmt, uint64_t now_ns)
{
    if (mgmt->n_expressed == 0)
        return UINT64_MAX;
    if (now_ns < mgmt->express_ns)
        return mgmt->express_ns - now_ns;
    struct mgmt_expressed *late = NULL;
    uint64_t next_ns = UINT64_MAX;
    for (size_t i = 0; i < MGMT_EXPRESSED_BUCKETS; i++) {
        for (struct mgmt_expressed **at = &mgmt->expressed[i]; *at != NULL;) {
            struct mgmt_expressed *expressed = *at;
            if (expressed->expires_ns == 0)
                expressed->expires_ns = now_ns + expressed->timeout_ns;
            if (expressed->expires_ns > now_ns) {
                next_ns = expressed->expires_ns < next_ns ? expressed->expires_ns : next_ns;
                at = &expressed->next;
                continue;
            }
            *at = expressed->next;
            expressed->next = late;
            late = expressed;
            mgmt->n_expressed--;
        }
    }
    mgmt->express_ns = next_ns;
    // What these express in turn, the next call looks at.
    finish(late, NULL, 0);
    if (mgmt->n_expressed == 0)
        return UINT64_MAX;
    return mgmt->express_ns > now_ns ? mgmt->express_ns - now_ns : 0;
}

void mgmt_express_fini(struct mgmt *mgmt)
{
    for (size_t i = 0; i < MGMT_EXPRESSED_BUCKETS; i++) {
        while (mgmt->expressed[i] != NULL) {
            struct mgmt_expressed *next = mgmt->expressed[i]->next;
            free(mgmt->expressed[i]);
            mgmt->expressed[i] = next;
        }
    }
}
