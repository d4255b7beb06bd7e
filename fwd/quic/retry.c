// SPDX-License-Identifier: Apache-2.0
/*
 * Retry (RFC 9000 8.1.2) in the servers' place, with tokens that they can read (draft-ietf-quic-retry-offload). No
 * state for a client: the Source Connection ID of a Retry is a routable one of the server that the 4-tuple leads to, so
 * that the Initial that comes back finds its server by its connection ID.
 *
 * That connection ID is a function of the token's unique number, the key and the server. A client that has heard from
 * its server uses the server's connection ID in further Initials, which still carry the token but not the connection ID
 * that the token was made for; it is made anew from them then.
 */
#include <string.h>

#include "fwd/quic/edge_priv.h"
#include "parser/cursor.h"

#define TRANSITION_NS UINT64_C(200000000)
#define CONFIG_SHIFT  5
#define UNROUTABLE    0xe0

/* The token numbers of workers never have that first octet: what it is sealed with is not used for any token. */
static const uint8_t derive_number[GCM_NONCE] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
                                                 0xff, 0xff, 0xff, 0xff, 0xff, 0xff};

static bool same_key(const struct quic_edge_key *key, const struct quic_retry_key *from)
{
    return key->is_set && memcmp(key->from.key, from->key, sizeof from->key) == 0 &&
           memcmp(key->from.iv, from->iv, sizeof from->iv) == 0;
}

static bool set_key(struct quic_edge_key *key, const struct quic_retry_key *from)
{
    uint8_t nonce[GCM_NONCE], tag[GCM_TAG], secret[sizeof key->cid_key] = {0};
    key->from = *from;
    key->n_tokens = 0;
    for (unsigned i = 0; i < sizeof nonce; i++)
        nonce[i] = from->iv[i] ^ derive_number[i];
    key->is_set = gcm_set_key(&key->gcm, from->key) &&
                  gcm_seal(&key->gcm, nonce, (const uint8_t *)"connection IDs", 14, secret, sizeof secret, tag);
    memcpy(&key->cid_key, secret, sizeof secret);
    explicit_bzero(secret, sizeof secret);
    return key->is_set;
}

static bool in_use(const struct quic_service *service, const struct quic_edge_key *key)
{
    for (unsigned i = 0; i < service->n_retry_keys; i++)
        if (same_key(key, &service->retry_key[i]))
            return true;
    return false;
}

/*
 * The context of a key. A key that came with another configuration takes the place of one that went; the count of
 * tokens stays with a key wherever in the configuration it stands.
 */
static struct quic_edge_key *find_key(struct quic_edge *edge, const struct quic_service *service,
                                      const struct quic_retry_key *from)
{
    struct quic_edge_key *keys = edge->key[service->slot], *other = NULL;
    for (unsigned i = 0; i < QUIC_RETRY_KEYS_MAX; i++) {
        if (same_key(&keys[i], from))
            return &keys[i];
        if (other == NULL && !in_use(service, &keys[i]))
            other = &keys[i];
    }
    return other != NULL && set_key(other, from) ? other : NULL;
}

/* A key that may make another token, the first one first. */
static struct quic_edge_key *making_key(struct quic_edge *edge, const struct quic_service *service, uint8_t *sequence)
{
    for (unsigned i = 0; i < service->n_retry_keys; i++) {
        struct quic_edge_key *key = find_key(edge, service, &service->retry_key[i]);
        if (key == NULL || key->n_tokens >= QUIC_RETRY_TOKENS_MAX)
            continue;
        *sequence = service->retry_key[i].sequence;
        return key;
    }
    return NULL;
}

static struct quic_edge_key *reading_key(struct quic_edge *edge, const struct quic_service *service, uint8_t first)
{
    for (unsigned i = 0; i < service->n_retry_keys; i++)
        if (service->retry_key[i].sequence == (first & (RETRY_TOKEN_NEW_BIT - 1)))
            return find_key(edge, service, &service->retry_key[i]);
    return NULL;
}

static const struct quic_server *server_of_tuple(const struct quic_pkt *pkt)
{
    struct flow_key tuple;
    quic_tuple_key(pkt, &tuple);
    return quic_by_hash(pkt->service, &tuple);
}

/* The server that a client's Initials go to now. */
static const struct quic_server *server_of(const struct quic_pkt *pkt)
{
    struct quic_lb_id id;
    const struct quic_service *service = pkt->service;
    uint8_t len = RTE_MIN(pkt->header.dcid_len, (uint8_t)QUIC_LB_CID_MAX);
    const struct quic_server *server = NULL;
    if (quic_lb_decode(service->lb, pkt->header.dcid, len, &id) == QUIC_LB_OK)
        server = quic_service_server(service, &id);
    return server != NULL ? server : server_of_tuple(pkt);
}

/*
 * The Source Connection ID of the Retry whose token has this number. A server without an ID in the configuration has
 * one that says it cannot be routed: then the 4-tuple leads to it again.
 */
static uint8_t make_cid(const struct quic_edge_key *key, const struct quic_service *service,
                        const struct quic_server *server, const uint8_t number[RETRY_TOKEN_NUMBER],
                        uint8_t cid[QUIC_LB_CID_MAX])
{
    uint64_t nonce[3];
    struct flow_key input;
    _Static_assert(sizeof nonce >= QUIC_LB_CID_MAX, "as many octets as any encoding wants");
    for (unsigned i = 0; i < RTE_DIM(nonce); i++) {
        uint8_t octets[1 + RETRY_TOKEN_NUMBER] = {(uint8_t)i};
        memcpy(octets + 1, number, RETRY_TOKEN_NUMBER);
        flow_key_dcid(&input, octets, sizeof octets);
        // The same on every machine: it is what another forwarder has to come to.
        nonce[i] = htole64(flow_key_hash(&input, &key->cid_key));
    }
    uint8_t first = (uint8_t)(service->retry_config << CONFIG_SHIFT);
    for (unsigned i = 0; i < server->n_ids; i++) {
        int len = quic_lb_encode(service->lb, first, &server->id[i], (const uint8_t *)nonce, cid);
        if (len > 0) {
            cid[0] = (uint8_t)(first | (len - 1));
            return (uint8_t)len;
        }
    }
    memcpy(cid, nonce, QUIC_LB_CID_MAX);
    cid[0] = UNROUTABLE | (QUIC_LB_CID_MAX - 1);
    return QUIC_LB_CID_MAX;
}

static void fill_client(const struct quic_pkt *pkt, struct retry_token_client *client)
{
    memset(client->ip, 0, sizeof client->ip);
    memcpy(client->ip, quic_edge_source(pkt), pkt->v6 ? 16 : 4);
    client->port = load_be16(rte_pktmbuf_mtod_offset(pkt->mbuf, const uint8_t *, pkt->payload_off - 8));
}

static uint64_t posix_s(const struct fwd *fwd)
{
    uint64_t posix_ns = atomic_load_explicit(&fwd->shared->posix_ns, memory_order_relaxed);
    return (posix_ns + fwd->now_ns) / 1000000000;
}

/* Is the token one that this client, at this port, was given by us or by a server? */
static bool token_is_good(struct fwd *fwd, const struct quic_pkt *pkt)
{
    const struct quic_service *service = pkt->service;
    const struct quic_header *header = &pkt->header;
    struct retry_token_client client;
    struct retry_token token;
    struct quic_edge_key *key = reading_key(fwd->quic->edge, service, header->token[0]);
    if (key == NULL)
        return false;
    fill_client(pkt, &client);
    client.rscid = header->dcid;
    client.rscid_len = header->dcid_len;
    uint64_t now_s = posix_s(fwd);
    enum retry_token_verdict verdict = retry_token_check(&key->gcm, key->from.iv, header->token, header->token_len,
                                                         &client, now_s, service->retry_lifetime_s, &token);
    if (verdict != RETRY_TOKEN_FORGED || (header->token[0] & RETRY_TOKEN_NEW_BIT) != 0)
        return verdict == RETRY_TOKEN_OK;
    // Perhaps the client has heard from its server already.
    uint8_t cid[QUIC_LB_CID_MAX];
    const struct quic_server *server = server_of(pkt);
    if (server == NULL)
        return false;
    client.rscid = cid;
    client.rscid_len = make_cid(key, service, server, header->token + 1, cid);
    return retry_token_check(&key->gcm, key->from.iv, header->token, header->token_len, &client, now_s,
                             service->retry_lifetime_s, &token) == RETRY_TOKEN_OK;
}

/* Its worker, when that began, and how many there were: twice only if two begin with the same 56 random bits. */
static void next_number(struct quic_edge *edge, uint8_t number[RETRY_TOKEN_NUMBER])
{
    uint32_t count = htobe32(edge->number_count);
    memcpy(number, edge->number, sizeof edge->number);
    memcpy(number + sizeof edge->number, &count, sizeof count);
    if (++edge->number_count == 0) {
        uint64_t random = quic_edge_random(edge);
        memcpy(edge->number + 1, &random, sizeof edge->number - 1);
    }
}

/* Answer an Initial with a Retry. @return false when none can be made */
static bool send_retry(struct fwd *fwd, const struct quic_pkt *pkt, const struct quic_server *server,
                       struct quic_edge_key *key, uint8_t sequence, bool keep)
{
    struct quic_edge *edge = fwd->quic->edge;
    const struct quic_header *header = &pkt->header;
    struct retry_token_client client;
    uint8_t cid[QUIC_LB_CID_MAX], number[RETRY_TOKEN_NUMBER], token[RETRY_TOKEN_MADE], buffer[RETRY_PACKET_BUFFER];
    const uint8_t *packet;
    fill_client(pkt, &client);
    client.rscid = cid;
    // The client would ignore a Retry that changes nothing (RFC 9000 17.2.5.1).
    do {
        next_number(edge, number);
        client.rscid_len = make_cid(key, pkt->service, server, number, cid);
    } while (client.rscid_len == header->dcid_len && memcmp(cid, header->dcid, header->dcid_len) == 0);
    key->n_tokens++;
    size_t token_len = retry_token_make(&key->gcm, key->from.iv, sequence, number, &client, header->dcid,
                                        header->dcid_len, posix_s(fwd) + pkt->service->retry_lifetime_s, token);
    struct retry_packet fields = {
        .version = header->version,
        .unused = number[RETRY_TOKEN_NUMBER - 1],
        .dcid = header->scid,
        .dcid_len = header->scid_len,
        .scid = cid,
        .scid_len = client.rscid_len,
        .odcid = header->dcid,
        .odcid_len = header->dcid_len,
        .token = token,
        .token_len = (uint16_t)token_len,
    };
    size_t len = token_len > 0 ? retry_packet_write(&edge->tags, &fields, buffer, &packet) : 0;
    if (len == 0)
        return false;
    fwd->quic->stats.service[pkt->service->slot].retries++;
    quic_answer(fwd, pkt, packet, (uint16_t)len, keep);
    return true;
}

bool quic_retry(struct fwd *fwd, const struct quic_pkt *pkt)
{
    const struct quic_service *service = pkt->service;
    struct quic_stats_service *stats = &fwd->quic->stats.service[service->slot];
    const struct quic_header *header = &pkt->header;
    // The control thread's clock may be a little ahead of this burst's.
    bool transition = service->retry_mode == QUIC_RETRY_TRANSITION &&
                      (fwd->now_ns < service->retry_on_ns || fwd->now_ns - service->retry_on_ns < TRANSITION_NS);
    if (header->token_len > 0) {
        if (token_is_good(fwd, pkt)) {
            stats->tokens_good++;
            return false;
        }
        stats->tokens_bad++;
        if ((header->token[0] & RETRY_TOKEN_NEW_BIT) == 0)
            return quic_edge_drop(fwd, pkt, DROP_QUIC_TOKEN_BAD);
    }
    if (transition && (header->dcid_len < QUIC_CLIENT_CID_MIN || pkt->payload_len < QUIC_INITIAL_MIN))
        return false;
    if (header->dcid_len < QUIC_CLIENT_CID_MIN)
        return quic_edge_drop(fwd, pkt, DROP_QUIC_CID_LEN);
    if (pkt->payload_len < QUIC_INITIAL_MIN)
        return quic_edge_drop(fwd, pkt, DROP_QUIC_DGRAM_SMALL);
    const struct quic_server *server = server_of_tuple(pkt);
    if (server == NULL)
        return false;
    uint8_t sequence = 0;
    struct quic_edge_key *key = making_key(fwd->quic->edge, service, &sequence);
    if (key == NULL) {
        // The servers see it as they would without Retry: that is better than to let nobody in any more.
        stats->retry_spent++;
        return false;
    }
    if (!quic_limit_take(fwd->quic->edge->limit, service->slot, QUIC_LIMIT_EDGE, quic_edge_source(pkt), pkt->v6,
                         service->edge_rate, fwd->now_ns))
        return !transition && quic_edge_drop(fwd, pkt, DROP_QUIC_LIMITED);
    return send_retry(fwd, pkt, server, key, sequence, transition) && !transition;
}
