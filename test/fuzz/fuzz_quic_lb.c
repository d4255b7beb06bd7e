// SPDX-License-Identifier: Apache-2.0
/*
 * Connection IDs under arbitrary configurations: every implementation says the same, nothing beyond the CID is read,
 * and what can be taken apart is put together again to the same octets.
 */
#include <stdlib.h>
#include <string.h>

#include "parser/quic_lb.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define JOBS 40

static void must(bool condition)
{
    if (!condition)
        abort();
}

/** What is left of the input; zeros behind its end. */
static struct {
    const uint8_t *p;
    size_t left;
} in;

static uint8_t next(void)
{
    if (in.left == 0)
        return 0;
    in.left--;
    return *in.p++;
}

/** Rules as the input says, most of them possible ones. */
static void make_rules(struct quic_lb *lb)
{
    memset(lb, 0, sizeof *lb);
    for (unsigned n = next() % 10; n > 0; n--) {
        uint8_t what = next();
        if (what >= 0xc0) {
            struct quic_lb_scheme scheme = {.mask = next(), .value = next(), .offset_bits = next(), .bits = next()};
            if (what >= 0xd0) {
                scheme.value &= scheme.mask;
                scheme.bits = (uint8_t)(1 + scheme.bits % 64);
            }
            (void)quic_lb_add_scheme(lb, &scheme);
            continue;
        }
        struct quic_lb_config config = {.encrypted = (what & 0x20) != 0, .server_id_len = next(), .nonce_len = next()};
        if ((what & 0x18) != 0) {
            config.server_id_len = (uint8_t)(1 + config.server_id_len % QUIC_LB_SERVER_ID_MAX);
            config.nonce_len = (uint8_t)(QUIC_LB_NONCE_MIN + config.nonce_len % 15);
        }
        memset(config.key, next(), sizeof config.key);
        (void)quic_lb_add_config(lb, what & 7, &config);
    }
}

static void check_id(const struct quic_lb_id *id)
{
    must(id->len > 0 && id->len <= QUIC_LB_SERVER_ID_MAX);
    for (unsigned i = id->len; i < QUIC_LB_SERVER_ID_MAX; i++)
        must(id->octets[i] == 0);
}

/** There and back. */
static void check_open(const struct quic_lb *lb, const uint8_t *cid, size_t len, const struct quic_lb_id *id)
{
    struct quic_lb_id other;
    uint8_t nonce[QUIC_LB_NONCE_MAX], made[QUIC_LB_CID_MAX];
    int nonce_len = quic_lb_open(lb, cid, len, &other, nonce);
    if (nonce_len < 0)
        return; // a private layout: that has no nonce
    must(nonce_len >= QUIC_LB_NONCE_MIN && nonce_len <= QUIC_LB_NONCE_MAX && memcmp(&other, id, sizeof other) == 0);
    int size = quic_lb_encode(lb, cid[0], id, nonce, made);
    must(size == 1 + id->len + nonce_len && (size_t)size <= len && memcmp(made, cid, (size_t)size) == 0);
}

static void check_bursts(const struct quic_lb_job *jobs, size_t n)
{
    static const char *const isas[] = {"avx512", "aes"};
    for (size_t isa = 0; isa < sizeof isas / sizeof isas[0]; isa++) {
        if (quic_lb_decode_select(isas[isa]) != 0)
            continue;
        struct quic_lb_job got[JOBS];
        memcpy(got, jobs, sizeof got);
        for (size_t i = 0; i < n; i++) {
            got[i].verdict = 0xff;
            memset(&got[i].id, 0, sizeof got[i].id);
        }
        quic_lb_decode_burst(got, n);
        for (size_t i = 0; i < n; i++) {
            struct quic_lb_id id = {.len = 0};
            must(got[i].verdict == jobs[i].verdict && memcmp(&got[i].id, &jobs[i].id, sizeof id) == 0);
            must(quic_lb_decode(jobs[i].lb, jobs[i].cid, jobs[i].cid_len, &id) == jobs[i].verdict);
            must(memcmp(&id, &jobs[i].id, sizeof id) == 0);
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct quic_lb lbs[2];
    in.p = data;
    in.left = size;
    make_rules(&lbs[0]);
    make_rules(&lbs[1]);
    struct quic_lb_job jobs[JOBS];
    memset(jobs, 0, sizeof jobs);
    uint8_t *copies[JOBS];
    size_t n = 0;
    must(quic_lb_decode_select("portable") == 0);
    for (; n < JOBS && in.left > 0; n++) {
        uint8_t what = next();
        size_t len = what % 32;
        if (len > in.left)
            len = in.left;
        // Of its exact size, so that a read beyond it is seen.
        copies[n] = malloc(len > 0 ? len : 1);
        if (copies[n] == NULL)
            break;
        memcpy(copies[n], in.p, len);
        in.p += len;
        in.left -= len;
        struct quic_lb_job *job = &jobs[n];
        *job = (struct quic_lb_job){.lb = &lbs[what >> 7], .cid = copies[n], .cid_len = (uint8_t)len};
        job->verdict = (uint8_t)quic_lb_decode(job->lb, job->cid, len, &job->id);
        must(job->verdict <= QUIC_LB_SHORT);
        if (job->verdict == QUIC_LB_OK) {
            check_id(&job->id);
            check_open(job->lb, job->cid, len, &job->id);
        }
    }
    check_bursts(jobs, n);
    for (size_t i = 0; i < n; i++)
        free(copies[i]);
    return 0;
}
