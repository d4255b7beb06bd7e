// SPDX-License-Identifier: Apache-2.0
/* What ping and pingserver agree on: the Content, the digest, the clock, and round-trip times. */
#include "fwd/client/ping.h"

#include <openssl/evp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "parser/ndn_tlv.h"

#define RTT_SAMPLES_MAX         (1u << 22)
#define SIGNATURE_DIGEST_SHA256 0

void ping_content(const uint8_t *name, size_t name_len, uint8_t *content, size_t len)
{
    // FNV-1a of the Name seeds a xorshift generator.
    uint64_t state = 0xcbf29ce484222325;
    for (size_t i = 0; i < name_len; i++)
        state = (state ^ name[i]) * 0x100000001b3;
    state |= 1;
    for (size_t i = 0; i < len; i++) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        content[i] = (uint8_t)(state >> 24);
    }
}

static bool parse_signature_info(const struct tlv *info, bool *is_digest)
{
    struct cursor c = cursor_make(info->value, info->len);
    while (cursor_left(&c) > 0) {
        struct tlv tlv;
        if (tlv_read(&c, false, &tlv) != VERDICT_OK)
            return false;
        uint64_t type;
        if (tlv.type == NDN_TLV_SIGNATURE_TYPE && tlv_nni(&tlv, &type))
            *is_digest = type == SIGNATURE_DIGEST_SHA256;
    }
    return true;
}

static bool parse_meta_info(const struct tlv *info, struct ping_data *parsed)
{
    struct cursor c = cursor_make(info->value, info->len);
    while (cursor_left(&c) > 0) {
        struct tlv tlv;
        if (tlv_read(&c, false, &tlv) != VERDICT_OK ||
            (tlv.type == NDN_TLV_CONTENT_TYPE && !tlv_nni(&tlv, &parsed->content_type)))
            return false;
        if (tlv.type == NDN_TLV_FINAL_BLOCK_ID) {
            parsed->final_block = tlv.value;
            parsed->final_block_len = tlv.len;
        }
    }
    return true;
}

bool ping_data_parse(const uint8_t *data, size_t len, struct ping_data *parsed)
{
    struct cursor c = cursor_make(data, len);
    struct tlv outer, tlv;
    bool is_digest = false;
    if (tlv_read(&c, false, &outer) != VERDICT_OK || outer.type != NDN_TYPE_DATA)
        return false;
    *parsed = (struct ping_data){.content = outer.value, .signed_part = outer.value};
    c = cursor_make(outer.value, outer.len);
    while (cursor_left(&c) > 0) {
        const uint8_t *start = c.p;
        if (tlv_read(&c, false, &tlv) != VERDICT_OK)
            return false;
        if (tlv.type == NDN_TLV_META_INFO) {
            if (!parse_meta_info(&tlv, parsed))
                return false;
        } else if (tlv.type == NDN_TLV_CONTENT) {
            parsed->content = tlv.value;
            parsed->content_len = tlv.len;
        } else if (tlv.type == NDN_TLV_SIGNATURE_INFO) {
            if (!parse_signature_info(&tlv, &is_digest))
                return false;
        } else if (tlv.type == NDN_TLV_SIGNATURE_VALUE) {
            parsed->signed_len = (size_t)(start - outer.value);
            parsed->digest = is_digest && tlv.len == 32 ? tlv.value : NULL;
            return !is_digest || tlv.len == 32;
        }
    }
    return false;
}

bool ping_sha256(const uint8_t *p, size_t len, uint8_t digest[32])
{
    unsigned n = 32;
    return EVP_Digest(p, len, digest, &n, EVP_sha256(), NULL) == 1;
}

bool ping_data_verify(const struct ping_data *data)
{
    uint8_t digest[32];
    if (data->digest == NULL)
        return true;
    return ping_sha256(data->signed_part, data->signed_len, digest) && memcmp(digest, data->digest, 32) == 0;
}

uint64_t ping_now_ns(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

static volatile sig_atomic_t stopped;

static void on_signal(int signal)
{
    (void)signal;
    stopped = 1;
}

bool ping_stopped(void)
{
    return stopped != 0;
}

void ping_catch_signals(void)
{
    // Without SA_RESTART, so that poll() returns.
    struct sigaction action = {.sa_handler = on_signal};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    signal(SIGPIPE, SIG_IGN);
}

void rtt_init(struct rtt *rtt)
{
    *rtt = (struct rtt){.stride = 1, .min = UINT64_MAX};
}

void rtt_free(struct rtt *rtt)
{
    free(rtt->ns);
}

void rtt_add(struct rtt *rtt, uint64_t ns)
{
    rtt->sum += ns;
    rtt->min = ns < rtt->min ? ns : rtt->min;
    rtt->max = ns > rtt->max ? ns : rtt->max;
    if (rtt->seen++ % rtt->stride != 0)
        return;
    if (rtt->n == rtt->size) {
        if (rtt->size >= RTT_SAMPLES_MAX) {
            for (size_t i = 0; 2 * i < rtt->n; i++)
                rtt->ns[i] = rtt->ns[2 * i];
            rtt->n = (rtt->n + 1) / 2;
            rtt->stride *= 2;
        } else {
            size_t size = rtt->size > 0 ? 2 * rtt->size : 1024;
            uint64_t *ns_new = realloc(rtt->ns, size * sizeof *ns_new);
            if (ns_new == NULL)
                return;
            rtt->ns = ns_new;
            rtt->size = size;
        }
    }
    rtt->ns[rtt->n++] = ns;
}

static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

uint64_t rtt_percentile(struct rtt *rtt, double percent)
{
    if (rtt->n == 0)
        return 0;
    qsort(rtt->ns, rtt->n, sizeof *rtt->ns, compare);
    double rank = percent / 100 * (double)rtt->n;
    size_t i = (size_t)rank;
    if ((double)i < rank)
        i++;
    return rtt->ns[i > 0 ? (i - 1 < rtt->n ? i - 1 : rtt->n - 1) : 0];
}
