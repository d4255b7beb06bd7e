// SPDX-License-Identifier: Apache-2.0
#include "test/load/mkpcap_ndn.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "parser/ndn_encode.h"
#include "parser/ndn_packet.h"
#include "test/load/mkpcap_random.h"

#define FILL 0x55 /* octets of Content */

int mkpcap_ndn_prefix(struct mkpcap_ndn *ndn, const char *uri)
{
    uint8_t value[NDN_NAME_MAX];
    int len = ndn_name_from_uri(uri, value, sizeof value);
    struct ndn_name name;
    if (len < 0 || ndn_name_parse(value, (size_t)len, false, &name) != VERDICT_OK)
        return -EINVAL;
    memcpy(ndn->prefix, value, (size_t)len);
    ndn->prefix_len = (uint16_t)len;
    ndn->prefix_comps = name.n_comps;
    return 0;
}

static size_t put_component(uint8_t *p, const char octets[8])
{
    p[0] = NDN_GENERIC;
    p[1] = 8;
    memcpy(p + 2, octets, 8);
    return 10;
}

static size_t put_name(const struct mkpcap_ndn *ndn, uint64_t number, uint8_t *p)
{
    char text[24];
    memcpy(p, ndn->prefix, ndn->prefix_len);
    size_t len = ndn->prefix_len;
    snprintf(text, sizeof text, "flow%04u", (unsigned)(number % ndn->flows));
    len += put_component(p + len, text);
    for (unsigned i = ndn->prefix_comps + 2u; i < ndn->comps; i++)
        len += put_component(p + len, "aaaaaaaa");
    snprintf(text, sizeof text, "%08x", (uint32_t)number);
    return len + put_component(p + len, text);
}

int mkpcap_ndn_check(const struct mkpcap_ndn *ndn)
{
    if (ndn->comps < ndn->prefix_comps + 2 || ndn->flows == 0 || ndn->flows > 10000 || ndn->token > 32 ||
        ndn->data_token > ndn->token)
        return -EINVAL;
    size_t name = ndn->prefix_len + 10 * ((size_t)ndn->comps - ndn->prefix_comps);
    // Everything beside name and content takes less than 100 octets of an Interest or Data.
    return name > NDN_NAME_MAX || name + ndn->payload + 100 > NDN_PACKET_MAX ? -EMSGSIZE : 0;
}

/* Put the packet of @p len octets behind NDN_LP_HEADER_MAX octets into an LpPacket, if it shall have a token. */
static size_t wrap(uint8_t *p, size_t len, uint64_t seed, uint64_t number, uint8_t token_len)
{
    uint8_t token[32];
    // The number first, so that who reads a capture sees it.
    for (unsigned i = 0; i < 8; i++)
        token[i] = (uint8_t)(number >> (56 - 8 * i));
    mkpcap_random_octets(seed, MKPCAP_RANDOM_TOKEN, number, token + 8, sizeof token - 8);
    struct ndn_lp_out lp = {.token = token, .token_len = token_len};
    uint8_t *packet = p + NDN_LP_HEADER_MAX;
    size_t header = token_len > 0 ? ndn_lp_prepend(packet, len, &lp) : 0;
    memmove(p, packet - header, header + len);
    return header + len;
}

size_t mkpcap_ndn_interest(const struct mkpcap_ndn *ndn, uint64_t seed, uint64_t number, uint8_t *p)
{
    uint8_t name[NDN_NAME_MAX];
    struct ndn_interest_out out = {
        .name = name,
        .name_len = (uint16_t)put_name(ndn, number, name),
        .nonce = (uint32_t)mkpcap_random(seed, MKPCAP_RANDOM_NONCE, number),
        .lifetime_ms = ndn->lifetime_ms,
    };
    size_t len = ndn_interest_encode(p + NDN_LP_HEADER_MAX, NDN_PACKET_MAX, &out);
    return wrap(p, len, seed, number, ndn->token);
}

size_t mkpcap_ndn_data(const struct mkpcap_ndn *ndn, uint64_t seed, uint64_t number, uint8_t *p)
{
    uint8_t name[NDN_NAME_MAX], content[NDN_PACKET_MAX];
    memset(content, FILL, ndn->payload);
    struct ndn_data_out out = {
        .name = name,
        .name_len = (uint16_t)put_name(ndn, number, name),
        .freshness_ms = ndn->freshness_ms,
        .content = content,
        .content_len = ndn->payload,
    };
    size_t len = ndn_data_encode(p + NDN_LP_HEADER_MAX, NDN_PACKET_MAX, &out, NULL, NULL);
    return wrap(p, len, seed, number, ndn->data_token);
}
