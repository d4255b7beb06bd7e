// SPDX-License-Identifier: Apache-2.0
/* TLV numbers, elements, names, their hashes and URIs: what is read is written and read again. */
#include <stdlib.h>
#include <string.h>

#include "parser/ndn_encode.h"
#include "parser/ndn_name.h"
#include "parser/ndn_tlv.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool condition)
{
    if (!condition)
        abort();
}

static void check_numbers(const uint8_t *data, size_t size)
{
    for (int lenient = 0; lenient < 2; lenient++) {
        struct cursor c = cursor_make(data, size);
        uint64_t number;
        uint8_t again[9];
        if (cursor_tlv_number(&c, lenient, &number) == VERDICT_OK) {
            size_t used = (size_t)(c.p - data), written = ndn_tlv_put_var(again, number);
            must(written == ndn_tlv_var_size(number) && written <= used);
            must(lenient || (written == used && memcmp(again, data, used) == 0));
        } else {
            must(c.p == data);
        }
    }
    struct cursor c = cursor_make(data, size);
    uint64_t number;
    if (cursor_quic_varint(&c, &number))
        must((size_t)(c.p - data) == (size_t)1 << (data[0] >> 6) && number < (uint64_t)1 << 62);
    for (size_t len = 1; len <= 8 && len <= size; len *= 2) {
        struct tlv tlv = {.type = 1, .len = len, .value = data};
        uint8_t again[8];
        must(tlv_nni(&tlv, &number));
        size_t written = ndn_tlv_put_nni(again, number);
        must(written <= len && memcmp(again, data + len - written, written) == 0);
    }
}

/** Step through elements; both ways to read one agree, and the cursor moves exactly over what it read. */
static void check_elements(const uint8_t *data, size_t size, bool lenient)
{
    struct cursor c = cursor_make(data, size);
    while (cursor_left(&c) > 0) {
        struct cursor before = c, other = c;
        struct tlv a = {0}, b = {0};
        enum verdict inner = tlv_read(&c, lenient, &a), outer = tlv_read_outer(&other, lenient, &b);
        must((inner == VERDICT_OK) == (outer == VERDICT_OK) && c.p == other.p);
        if (inner != VERDICT_OK) {
            must(c.p == before.p);
            must(outer == inner || (inner == VERDICT_TLV_LEN && outer == VERDICT_TLV_TRUNC));
            return;
        }
        must(a.type == b.type && a.len == b.len && a.value == b.value);
        must(a.value > before.p && a.value + a.len == c.p && c.p <= c.end);
    }
}

static void check_name(const uint8_t *data, size_t size, bool lenient)
{
    static const struct ndn_name_key key = {.octets = {9, 8, 7, 6, 5}};
    static char uri[6 * NDN_NAME_MAX + 64];
    static uint8_t again[3 * NDN_NAME_MAX];
    struct ndn_name name;
    if (ndn_name_parse(data, size, lenient, &name) != VERDICT_OK)
        return;
    must(name.end[name.depth] <= size && (name.n_comps > name.depth || name.end[name.depth] == size));
    static const char *const isas[] = {"portable", "aes"};
    for (size_t i = 0; i < 2; i++) {
        if (ndn_name_hash_select(isas[i]) != 0)
            continue;
        ndn_name_hash(&name, &key);
        for (unsigned d = 0; d < name.depth; d++) {
            struct ndn_name prefix;
            must(ndn_name_parse(data, name.end[d], lenient, &prefix) == VERDICT_OK);
            ndn_name_hash(&prefix, &key);
            must(prefix.hash_full == name.hash[d]);
            uint64_t next =
                ndn_name_hash_extend(&prefix, data + name.end[d], (size_t)(name.end[d + 1] - name.end[d]), &key);
            must(next == name.hash[d + 1]);
        }
    }
    int len = ndn_name_to_uri(data, size, uri, sizeof uri);
    must(len >= 0);
    // Only shortest forms and 16-bit types can be told in a URI.
    if (lenient || len >= (int)sizeof uri)
        return;
    must(ndn_name_from_uri(uri, again, sizeof again) == (int)size && memcmp(again, data, size) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > 2 * NDN_NAME_MAX)
        return 0;
    check_numbers(data, size);
    for (int lenient = 0; lenient < 2; lenient++) {
        check_elements(data, size, lenient);
        check_name(data, size, lenient);
    }
    // The same octets as the text of a URI.
    static uint8_t value[2 * NDN_NAME_MAX];
    char *text = malloc(size + 1);
    if (text == NULL)
        return 0;
    memcpy(text, data, size);
    text[size] = '\0';
    int len = ndn_name_from_uri(text, value, sizeof value);
    struct ndn_name name;
    if (len >= 0 && len <= NDN_NAME_MAX)
        must(ndn_name_parse(value, (size_t)len, false, &name) == VERDICT_OK);
    free(text);
    return 0;
}
