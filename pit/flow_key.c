// SPDX-License-Identifier: Apache-2.0
#include "pit/flow_key.h"

#include <endian.h>

#define ROTL(x, b) (((x) << (b)) | ((x) >> (64 - (b))))

struct sip {
    uint64_t v0, v1, v2, v3;
};

static inline __attribute__((always_inline)) void sip_round(struct sip *s)
{
    s->v0 += s->v1;
    s->v1 = ROTL(s->v1, 13) ^ s->v0;
    s->v0 = ROTL(s->v0, 32);
    s->v2 += s->v3;
    s->v3 = ROTL(s->v3, 16) ^ s->v2;
    s->v0 += s->v3;
    s->v3 = ROTL(s->v3, 21) ^ s->v0;
    s->v2 += s->v1;
    s->v1 = ROTL(s->v1, 17) ^ s->v2;
    s->v2 = ROTL(s->v2, 32);
}

uint64_t flow_key_hash(const struct flow_key *key, const struct flow_hash_key *hash_key)
{
    struct sip s = {hash_key->k0 ^ 0x736f6d6570736575, hash_key->k1 ^ 0x646f72616e646f6d,
                    hash_key->k0 ^ 0x6c7967656e657261, hash_key->k1 ^ 0x7465646279746573};
    // The first four octets tell kind and lengths, so that whole words, zeros and all, are enough.
    const uint8_t *p = (const uint8_t *)key;
    size_t size = 4 + (size_t)key->len;
    for (size_t i = 0; i < size; i += 8) {
        uint64_t word;
        memcpy(&word, p + i, sizeof word);
        word = le64toh(word);
        s.v3 ^= word;
        sip_round(&s);
        s.v0 ^= word;
    }
    s.v2 ^= 0xff;
    sip_round(&s);
    sip_round(&s);
    sip_round(&s);
    return s.v0 ^ s.v1 ^ s.v2 ^ s.v3;
}
