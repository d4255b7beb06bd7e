// SPDX-License-Identifier: Apache-2.0
/* The low-level SHA-256 works in a struct of the caller: nothing is allocated, unlike EVP. */
#define OPENSSL_API_COMPAT 0x10100000L

#include "pit/cs_impl.h"

#include <rte_mbuf.h>

#include <openssl/sha.h>

/** Reads octets of a chain from the Data on. */
struct cs_reader {
    const struct rte_mbuf *seg;
    uint32_t pos; /**< from buf_addr of seg */
};

/** Next run of at most @p max octets. @return its length, 0 at the end of the chain */
static uint32_t reader_run(struct cs_reader *reader, uint32_t max, const uint8_t **run)
{
    while (reader->seg != NULL) {
        uint32_t end = (uint32_t)reader->seg->data_off + reader->seg->data_len;
        if (reader->pos < end) {
            uint32_t n = end - reader->pos < max ? end - reader->pos : max;
            *run = (const uint8_t *)reader->seg->buf_addr + reader->pos;
            reader->pos += n;
            return n;
        }
        // What is left to skip goes on in the next segment.
        reader->pos -= end;
        reader->seg = reader->seg->next;
        if (reader->seg != NULL)
            reader->pos += reader->seg->data_off;
    }
    return 0;
}

static int reader_u8(struct cs_reader *reader)
{
    const uint8_t *octet;
    return reader_run(reader, 1, &octet) == 1 ? *octet : -1;
}

/** Skip one TLV number. */
static void reader_skip_number(struct cs_reader *reader)
{
    int first = reader_u8(reader);
    int more = first == 0xfd ? 2 : first == 0xfe ? 4 : first == 0xff ? 8 : 0;
    while (more-- > 0)
        reader_u8(reader);
}

/** Reader at the TLV-VALUE of the Data's Name: it is the first element, behind four TLV numbers. */
static struct cs_reader reader_at_name(const struct cs_entry *entry)
{
    struct cs_reader reader = {entry->mbuf, entry->off};
    for (int i = 0; i < 4; i++)
        reader_skip_number(&reader);
    return reader;
}

bool cs_name_begins(const struct cs_entry *entry, const uint8_t *value, uint16_t len)
{
    if (__builtin_expect(entry->name != NULL, 1))
        return octets_equal(entry->name, value, len);
    struct cs_reader reader = reader_at_name(entry);
    uint32_t left = len;
    while (left > 0) {
        const uint8_t *run;
        uint32_t n = reader_run(&reader, left, &run);
        if (n == 0 || !octets_equal(run, value, n))
            return false;
        value += n;
        left -= n;
    }
    return true;
}

uint16_t cs_name_copy(const struct cs_entry *entry, uint8_t *buf)
{
    if (entry->name != NULL) {
        octets_copy(buf, entry->name, entry->name_len);
        return entry->name_len;
    }
    struct cs_reader reader = reader_at_name(entry);
    uint16_t done = 0;
    while (done < entry->name_len) {
        const uint8_t *run;
        uint32_t n = reader_run(&reader, (uint32_t)entry->name_len - done, &run);
        if (n == 0)
            break;
        octets_copy(buf + done, run, n);
        done = (uint16_t)(done + n);
    }
    return done;
}

const uint8_t *cs_digest(struct cs *cs, uint32_t index)
{
    struct cs_entry *entry = cs_at(cs, index);
    uint8_t *digest = cs->cold[index].digest;
    if ((entry->flags & CS_HAS_DIGEST) != 0)
        return digest;
    SHA256_CTX sha;
    SHA256_Init(&sha);
    struct cs_reader reader = {entry->mbuf, entry->off};
    uint32_t left = entry->len;
    const uint8_t *run;
    for (uint32_t n; left > 0 && (n = reader_run(&reader, left, &run)) > 0; left -= n)
        SHA256_Update(&sha, run, n);
    SHA256_Final(digest, &sha);
    entry->flags |= CS_HAS_DIGEST;
    return digest;
}
