// SPDX-License-Identifier: Apache-2.0
/*
 * Which server a datagram goes to, in the order of draft-ietf-quic-load-balancers-21, section 4.2: by a connection ID
 * that can be routed; else, where there is a flow table, by what it knows of 4-tuple and source connection ID, of the
 * destination connection ID, of the 4-tuple; else by a hash of the 4-tuple. A routable connection ID never looks at the
 * table nor changes it: anybody can send one on somebody else's 4-tuple.
 */
#include <string.h>

#include "fwd/quic/quic.h"

/* A server that says its connection IDs cannot be routed writes their length into the first octet. */
#define RESERVED_CONFIG  7
#define RESERVED_CID_MIN 8

static bool is_long(const struct quic_pkt *pkt)
{
    return pkt->header.type != QUIC_TYPE_SHORT;
}

/* The server has chosen the connection ID of these, in the versions whose types are known. */
static bool is_servers_cid(const struct quic_pkt *pkt)
{
    return pkt->header.type == QUIC_TYPE_SHORT || pkt->header.type == QUIC_TYPE_HANDSHAKE;
}

/*
 * An Initial with a connection ID that no client may begin a connection with. Further ones of a client have the one
 * that its server chose, which may be as short as the server likes.
 */
static bool begins_nothing(const struct quic_pkt *pkt)
{
    return pkt->header.type == QUIC_TYPE_INITIAL && pkt->header.dcid_len < QUIC_CLIENT_CID_MIN;
}

static bool takes_known(const struct quic_server *server)
{
    return server->state != QUIC_DOWN;
}

/* Server to client is what an error quotes: turned around. */
static void quoted_tuple_key(const struct quic_pkt *pkt, struct flow_key *key)
{
    const uint8_t *ip = rte_pktmbuf_mtod_offset(pkt->mbuf, const uint8_t *, pkt->quote_off);
    const uint8_t *udp = rte_pktmbuf_mtod_offset(pkt->mbuf, const uint8_t *, pkt->payload_off - 8);
    const uint8_t ports[4] = {udp[2], udp[3], udp[0], udp[1]};
    if (pkt->v6)
        flow_key_tuple(key, ip + 24, ip + 8, 16, ports);
    else
        flow_key_tuple(key, ip + 16, ip + 12, 4, ports);
}

void quic_tuple_key(const struct quic_pkt *pkt, struct flow_key *key)
{
    if (unlikely(pkt->quote_off != 0)) {
        quoted_tuple_key(pkt, key);
        return;
    }
    const uint8_t *ip = rte_pktmbuf_mtod_offset(pkt->mbuf, const uint8_t *, pkt->l3_off);
    const uint8_t *udp = rte_pktmbuf_mtod_offset(pkt->mbuf, const uint8_t *, pkt->payload_off - 8);
    if (pkt->v6)
        flow_key_tuple(key, ip + 8, ip + 24, 16, udp);
    else
        flow_key_tuple(key, ip + 12, ip + 16, 4, udp);
}

/*
 * Octets of a connection ID that may be a key of the table: all of a long header's; of a short one's only when it says
 * itself how many they are.
 */
static uint8_t dcid_key_len(const struct quic_pkt *pkt)
{
    const struct quic_header *header = &pkt->header;
    if (is_long(pkt))
        return header->dcid_len;
    if (header->dcid_len == 0 || header->dcid[0] >> 5 != RESERVED_CONFIG)
        return 0;
    uint8_t len = (uint8_t)((header->dcid[0] & 31) + 1);
    return len >= RESERVED_CID_MIN && len <= header->dcid_len ? len : 0;
}

/* The table keeps counters' places, which stay the same when the configuration is read anew. */
static const struct quic_server *server_of_slot(const struct quic_service *service, uint16_t slot)
{
    for (unsigned i = 0; i < service->n_servers; i++)
        if (service->server[i].slot == slot)
            return takes_known(&service->server[i]) ? &service->server[i] : NULL;
    return NULL;
}

const struct quic_server *quic_by_hash(const struct quic_service *service, const struct flow_key *tuple)
{
    if (service->maglev == NULL)
        return NULL;
    uint16_t backend = maglev_pick(service->maglev, flow_key_hash(tuple, &service->hash_key));
    return &service->server[service->maglev_server[backend]];
}

/* One key of the table: what it leads to, if anything. */
static const struct quic_server *look(struct flow *flow, const struct quic_service *service, const struct flow_key *key,
                                      uint64_t now_ns)
{
    uint16_t slot;
    if (!flow_find(flow, key, flow_key_hash(key, &service->hash_key), now_ns, &slot))
        return NULL;
    return server_of_slot(service, slot);
}

static void remember(struct fwd *fwd, struct flow *flow, const struct quic_service *service, const struct flow_key *key,
                     const struct quic_server *server)
{
    if (flow_add(flow, key, flow_key_hash(key, &service->hash_key), server->slot, fwd->now_ns) == FLOW_FULL)
        fwd->quic->stats.service[service->slot].flow_full++;
}

/* The flow table, and what is new goes into it. @p tuple is the 4-tuple's key. */
static void by_table(struct fwd *fwd, struct quic_pkt *pkt, const struct flow_key *tuple)
{
    const struct quic_service *service = pkt->service;
    struct flow *flow = fwd->quic->flow[service->slot];
    struct flow_key scid = *tuple, dcid;
    uint8_t dcid_len = dcid_key_len(pkt);
    bool icmp = pkt->quote_off != 0;
    if (is_long(pkt) && !icmp) {
        flow_key_add_scid(&scid, pkt->header.scid, pkt->header.scid_len);
        pkt->server = look(flow, service, &scid, fwd->now_ns);
        pkt->how = QUIC_BY_TUPLE_SCID;
    }
    if (dcid_len > 0)
        flow_key_dcid(&dcid, pkt->header.dcid, dcid_len);
    if (pkt->server == NULL && dcid_len > 0) {
        pkt->server = look(flow, service, &dcid, fwd->now_ns);
        pkt->how = QUIC_BY_DCID;
    }
    if (pkt->server == NULL) {
        pkt->server = look(flow, service, tuple, fwd->now_ns);
        pkt->how = QUIC_BY_TUPLE;
    }
    if (pkt->server == NULL) {
        if (begins_nothing(pkt) && !flow_is_full(flow)) {
            pkt->drop = DROP_QUIC_CID_LEN;
            return;
        }
        pkt->server = quic_by_hash(service, tuple);
        pkt->how = QUIC_BY_HASH;
    }
    // An ICMP error comes from anywhere.
    if (pkt->server == NULL || icmp)
        return;
    // What is there already stays as it is: it may be somebody else's packet.
    remember(fwd, flow, service, is_long(pkt) ? &scid : tuple, pkt->server);
    if (is_long(pkt))
        remember(fwd, flow, service, tuple, pkt->server);
    if (dcid_len > 0)
        remember(fwd, flow, service, &dcid, pkt->server);
}

/* @return false when it was left to the worker that has the flow table */
static bool fall_back(struct fwd *fwd, struct quic_pkt *pkt)
{
    const struct quic_service *service = pkt->service;
    if (service->drop_unroutable && (is_servers_cid(pkt) || begins_nothing(pkt))) {
        pkt->drop = is_servers_cid(pkt) ? DROP_QUIC_UNROUTABLE : DROP_QUIC_CID_LEN;
        return true;
    }
    pkt->owner = service->flow_table ? quic_owner(service->slot, fwd->shared->n_workers) : fwd->worker;
    if (pkt->owner != fwd->worker)
        return false;
    struct flow_key tuple;
    quic_tuple_key(pkt, &tuple);
    if (service->flow_table && fwd->quic->flow[service->slot] != NULL) {
        by_table(fwd, pkt, &tuple);
    } else {
        pkt->server = quic_by_hash(service, &tuple);
        pkt->how = QUIC_BY_HASH;
    }
    if (pkt->server == NULL && pkt->drop == DROP_NONE)
        pkt->drop = DROP_QUIC_NO_SERVER;
    return true;
}

static enum quic_unroutable why_unroutable(enum quic_lb_verdict verdict)
{
    switch (verdict) {
    case QUIC_LB_OK:
        return QUIC_UNROUTABLE_SERVER;
    case QUIC_LB_SHORT:
        return QUIC_UNROUTABLE_SHORT;
    case QUIC_LB_NO_CONFIG:
    case QUIC_LB_RESERVED:
        break;
    }
    return QUIC_UNROUTABLE_CONFIG;
}

static __rte_always_inline const struct quic_server *by_cid(const struct quic_service *service,
                                                            const struct quic_lb_job *job)
{
    const struct quic_server *server = job->verdict == QUIC_LB_OK ? quic_service_server(service, &job->id) : NULL;
    return server != NULL && takes_known(server) ? server : NULL;
}

static void count_unroutable(struct quic_stats_service *stats, enum quic_unroutable why)
{
    stats->unroutable_config += why == QUIC_UNROUTABLE_CONFIG;
    stats->unroutable_short += why == QUIC_UNROUTABLE_SHORT;
    stats->unroutable_server += why == QUIC_UNROUTABLE_SERVER;
}

static void count_how(struct quic_stats_service *stats, enum quic_how how)
{
    switch (how) {
    case QUIC_BY_CID:
        stats->by_cid++;
        break;
    case QUIC_BY_TUPLE_SCID:
        stats->by_tuple_scid++;
        break;
    case QUIC_BY_DCID:
        stats->by_dcid++;
        break;
    case QUIC_BY_TUPLE:
        stats->by_tuple++;
        break;
    case QUIC_BY_HASH:
        stats->by_hash++;
        break;
    case QUIC_HOWS:
        break;
    }
}

void quic_steer(struct fwd *fwd, struct quic_pkt *pkts, unsigned n)
{
    struct quic_lb_job *jobs = fwd->quic->job;
    quic_lb_decode_burst(jobs, n);
    for (unsigned i = 0; i < n; i++) {
        struct quic_pkt *pkt = &pkts[i];
        struct quic_stats_service *stats = &fwd->quic->stats.service[pkt->service->slot];
        pkt->server = by_cid(pkt->service, &jobs[i]);
        pkt->how = QUIC_BY_CID;
        pkt->drop = DROP_NONE;
        if (likely(pkt->server != NULL)) {
            stats->by_cid += pkt->quote_off == 0;
            continue;
        }
        // It counts where it is decided.
        if (!fall_back(fwd, pkt))
            continue;
        // A client's first packets have connection IDs of its own making: those are not the servers' fault.
        if (pkt->header.type != QUIC_TYPE_INITIAL && pkt->header.type != QUIC_TYPE_0RTT && pkt->quote_off == 0)
            count_unroutable(stats, why_unroutable((enum quic_lb_verdict)jobs[i].verdict));
        if (pkt->server != NULL && pkt->quote_off == 0)
            count_how(stats, (enum quic_how)pkt->how);
    }
}

const struct quic_server *quic_explain(const struct quic_service *service, const struct quic_pkt *pkt,
                                       enum quic_unroutable *unroutable, struct quic_lb_id *id)
{
    struct quic_lb_job job;
    uint8_t cid_len = RTE_MIN(pkt->header.dcid_len, (uint8_t)QUIC_LB_CID_MAX);
    job.verdict = (uint8_t)quic_lb_decode(service->lb, pkt->header.dcid, cid_len, &job.id);
    const struct quic_server *server = by_cid(service, &job);
    *unroutable = server != NULL ? QUIC_ROUTABLE : why_unroutable((enum quic_lb_verdict)job.verdict);
    if (job.verdict == QUIC_LB_OK)
        *id = job.id;
    if (server != NULL || pkt->mbuf == NULL)
        return server;
    struct flow_key tuple;
    quic_tuple_key(pkt, &tuple);
    return quic_by_hash(service, &tuple);
}
