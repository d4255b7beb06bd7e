// SPDX-License-Identifier: Apache-2.0
#include "pit/reass.h"

#include <criterion/criterion.h>

#include "test/unit/pit/fake_mbuf.h"

static const struct reass_config small = {
    .max_messages = 8,
    .max_per_face = 4,
    .max_bytes = 64 * 1024,
    .max_fragments = 32,
    .timeout_ms = 500,
    .pages = ARENA_PAGES_SMALL,
};

static struct reass *make(const struct reass_config *config)
{
    struct reass *reass = NULL;
    cr_assert_eq(reass_create(&reass, config, 0), 0);
    return reass;
}

static struct ndn_lp fragment(uint64_t sequence, uint16_t index, uint16_t count)
{
    return (struct ndn_lp){
        .has = LP_HAS_HEADER | LP_HAS_SEQUENCE | LP_HAS_FRAGMENT,
        .sequence = sequence,
        .frag_index = index,
        .frag_count = count,
    };
}

Test(reass, fragments_in_any_order_make_the_packet)
{
    struct reass *reass = make(&small);
    struct rte_mbuf *out = NULL;
    struct reass_header header;
    struct reass_freed freed;
    static const char *const part[] = {"abc", "de", "fgh"};
    static const unsigned order[] = {2, 0, 1};
    for (unsigned i = 0; i < 3; i++) {
        unsigned n = order[i];
        struct ndn_lp lp = fragment(100 + n, (uint16_t)n, 3);
        uint8_t token[] = {1, 2, 3};
        if (n == 0) {
            lp.token = token;
            lp.token_len = sizeof token;
        }
        struct rte_mbuf *mbuf = fake_chain(part[n], (uint16_t)strlen(part[n]), 2, 1);
        enum reass_result result = reass_add(reass, 300, 0, &lp, mbuf, 1000, &out, &header, &freed);
        cr_assert_eq(result, i < 2 ? REASS_STORED : REASS_COMPLETE);
        cr_assert_eq(reass_check(reass), 0);
    }
    uint8_t octets[16];
    cr_assert_eq(out->pkt_len, 8);
    cr_assert_eq(out->nb_segs, 5);
    cr_assert_eq(fake_read(out, 0, 16, octets), 8);
    cr_assert_eq(memcmp(octets, "abcdefgh", 8), 0);
    cr_assert_eq(header.lp.token_len, 3);
    cr_assert_eq(memcmp(header.lp.token, "\1\2\3", 3), 0);
    rte_pktmbuf_free(out);
    reass_destroy(reass);
    cr_assert_eq(fake_n_live, 0);
}
