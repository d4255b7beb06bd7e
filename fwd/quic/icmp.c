// SPDX-License-Identifier: Apache-2.0
/*
 * ICMP errors about what a server has sent from a virtual address. They reach us, not the server, and go to it: by the
 * Source Connection ID of the packet that they quote, which the server chose (draft-ietf-quic-load-balancers-21,
 * section 6); where that packet has none, being one of 1-RTT, as a datagram of the client would go that it was for. A
 * quote that ends before tells too little. An error changes nothing here.
 */
#include <endian.h>
#include <string.h>

#include "fwd/pkt.h"
#include "fwd/quic/take.h"
#include "parser/cursor.h"

/*
 * The server's connection ID. In its place, where the quoted packet has none: one of no octets, which names no server.
 * @return false when the quote ends before it
 */
static bool quoted_header(const struct frame_quote *quote, struct quic_header *header)
{
    struct cursor c = cursor_make(quote->payload, quote->payload_len);
    const uint8_t *skipped, *scid;
    uint8_t first, len;
    if (!cursor_u8(&c, &first))
        return false;
    *header = (struct quic_header){.first = first, .type = QUIC_TYPE_SHORT, .dcid = quote->payload};
    if ((first & QUIC_LONG_HEADER) == 0)
        return true;
    if (!cursor_bytes(&c, 4, &skipped) || !cursor_u8(&c, &len) || !cursor_bytes(&c, len, &skipped) ||
        !cursor_u8(&c, &len) || !cursor_bytes(&c, len, &scid))
        return false;
    header->type = QUIC_TYPE_HANDSHAKE;
    header->dcid = scid;
    header->dcid_len = len;
    return true;
}

bool quic_icmp(struct fwd *fwd, const struct port *port, struct rte_mbuf *mbuf, bool handed_over)
{
    const struct quic_set *set = atomic_load_explicit(&fwd->shared->quic, memory_order_acquire);
    const uint8_t *p = mbuf->next == NULL ? rte_pktmbuf_mtod(mbuf, const uint8_t *) : fwd->linear;
    const struct frame_opts opts = {.skip_ip_csum = port_frame_opts(port, mbuf).skip_ip_csum || handed_over};
    struct frame frame;
    struct frame_quote quote;
    struct quic_header header;
    if (set == NULL)
        return false;
    enum verdict verdict = frame_parse_icmp(p, mbuf->pkt_len, &opts, &frame, &quote);
    if (verdict != VERDICT_OK && verdict != VERDICT_ICMP)
        return false;
    bool v6 = frame.kind == FRAME_ICMP6;
    if (!quic_set_has_vip(set, frame.dst_ip, v6))
        return false;
    enum drop drop = (enum drop)verdict;
    if (drop == DROP_NONE)
        drop = quic_check_link(set, port, &frame, v6);
    const struct quic_service *service = NULL;
    if (drop == DROP_NONE) {
        service = quic_set_find(set, quote.src_ip, v6, htobe16(quote.sport));
        drop = service == NULL || !quoted_header(&quote, &header) ? DROP_ICMP : DROP_NONE;
    }
    if (drop != DROP_NONE) {
        pkt_drop(fwd, mbuf, drop);
        return true;
    }
    struct quic_pkt *pkt = &fwd->quic->pkt[fwd->quic->n];
    uint16_t l3_off = (uint16_t)(frame.payload_off - (v6 ? QUIC_IPV6_HEADER : QUIC_IPV4_HEADER));
    *pkt = (struct quic_pkt){.mbuf = mbuf,
                             .port = port,
                             .service = service,
                             .v6 = v6,
                             .handed_over = handed_over,
                             .quote_off = (uint16_t)(quote.ip - p),
                             .l3_off = l3_off,
                             .l3_len = (uint16_t)(frame.payload_off - l3_off + frame.payload_len),
                             .payload_off = (uint16_t)(quote.payload - p),
                             .payload_len = quote.payload_len,
                             .header = header};
    quic_take_pkt(fwd, p);
    return true;
}

bool quic_take_icmp(struct fwd *fwd, const struct port *port, struct rte_mbuf *mbuf)
{
    return quic_icmp(fwd, port, mbuf, false);
}
