// SPDX-License-Identifier: Apache-2.0
#ifndef FWD_CHAIN_H
#define FWD_CHAIN_H

#include <rte_mbuf.h>

/* Octets of packets that lie in several mbufs. A chain here never has an empty segment after its first. */

/** Copy @p len octets at @p off, counted from the data of the first segment. They must exist. */
void chain_read(const struct rte_mbuf *mbuf, uint32_t off, void *buf, uint32_t len);

/** Overwrite one octet at @p off, counted from the data of the first segment. It must exist. */
void chain_write_octet(struct rte_mbuf *mbuf, uint32_t off, uint8_t octet);

/**
 * Cut a chain down to @p len octets at @p off, freeing segments that hold none of them. They must exist, and
 * @p len must not be 0.
 *
 * @return the new first segment
 */
struct rte_mbuf *chain_cut(struct rte_mbuf *mbuf, uint32_t off, uint32_t len);

/** Store @p len octets in as few new mbufs as they need. @return the chain, NULL when the pool ran out */
struct rte_mbuf *chain_from_octets(struct rte_mempool *pool, const uint8_t *p, uint32_t len);

/**
 * Copy @p len octets of a chain into as few new mbufs as they need, leaving @p headroom in the first. @p buf_off
 * counts from the first segment's buffer, not from its data: a packet whose headers have been rewritten since is
 * still found.
 *
 * @return the copy, NULL when the pool ran out
 */
struct rte_mbuf *chain_copy(struct rte_mempool *pool, const struct rte_mbuf *mbuf, uint32_t buf_off, uint32_t len,
                            uint16_t headroom);

/** Append @p tail to @p head. Both are whole chains. */
static inline void chain_append(struct rte_mbuf *head, struct rte_mbuf *tail)
{
    rte_pktmbuf_lastseg(head)->next = tail;
    head->nb_segs = (uint16_t)(head->nb_segs + tail->nb_segs);
    head->pkt_len += tail->pkt_len;
}

#endif
