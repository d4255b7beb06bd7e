// SPDX-License-Identifier: Apache-2.0
#include "test/unit/fwd/mgmt_fixture.h"

#include <pthread.h>
#include <stdatomic.h>

#include "fwd/worker.h"
#include "test/bed/bed.h"

#define CAPACITY 12000

static struct scene scene;
static struct bed *bed;
static struct worker workers[2];
static uint32_t consumer, producer;

static void open_workers(uint16_t n)
{
    const struct bed_config config = {.n_workers = n, .cs_capacity = CAPACITY, .n_mbufs = 16383, .free_sent = true};
    bed = bed_create(&config);
    struct port *port = bed_port(bed);
    consumer = bed_ether(bed, port, 2);
    producer = bed_ether(bed, port, 3);
    bed_route(bed, "/", producer, 0);
    for (uint16_t w = 0; w < n; w++)
        workers[w].fwd = bed->fwd[w];
    const struct mgmt_env env = {.worker = workers, .n_workers = n, .cs_capacity_max = (uint32_t)CAPACITY * n};
    scene_open(&scene, &env);
}

static void setup(void)
{
    open_workers(1);
}

static void teardown(void)
{
    scene_close(&scene);
    bed_destroy(bed);
}

TestSuite(mgmt_cs, .init = setup, .fini = teardown);

/* Fetch Data through the forwarder. @return true when it came out of the CS */
static bool fetch(const char *uri)
{
    static uint32_t nonce;
    const struct bed_fields interest = {.nonce = ++nonce}, data = {.freshness_ms = 10000};
    uint64_t before = bed_stats(bed).out_data;
    bed_send_interest(bed, consumer, uri, &interest);
    if (bed_stats(bed).out_data > before)
        return true;
    bed_send_data(bed, producer, uri, &data);
    cr_assert_eq(bed_stats(bed).out_data, before + 1);
    return false;
}

static void fill(const char *prefix, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        char uri[64];
        snprintf(uri, sizeof uri, "%s/%u", prefix, i);
        cr_assert(!fetch(uri));
    }
}

static struct mgmt_cs_info info(void)
{
    size_t len;
    struct mgmt_cs_info info;
    uint8_t *octets = scene_fetch(&scene, "/localhost/nfd/cs/info", &len);
    cr_assert_eq(mgmt_cs_info_decode(octets, len, &info), 0);
    free(octets);
    return info;
}

static struct mgmt_params flags(uint64_t value, uint64_t mask)
{
    return (struct mgmt_params){.has = MGMT_HAS_FLAGS | MGMT_HAS_MASK, .flags = value, .mask = mask};
}

Test(mgmt_cs, info_counts)
{
    fill("/a", 3);
    cr_assert(fetch("/a/0"));
    struct mgmt_cs_info now = info();
    cr_assert_eq(now.capacity, CAPACITY);
    cr_assert_eq(now.flags, 3);
    cr_assert_eq(now.n_entries, 3);
    cr_assert_eq(now.n_hits, 1);
    cr_assert_eq(now.n_misses, 3);
}

Test(mgmt_cs, config_without_fields_tells_what_there_is)
{
    const struct mgmt_params params = {.has = 0};
    struct mgmt_params body;
    cr_assert_eq(scene_command(&scene, "cs/config", &params, &body), 200);
    cr_assert_eq(body.has, MGMT_HAS_CAPACITY | MGMT_HAS_FLAGS);
    cr_assert_eq(body.capacity, CAPACITY);
    cr_assert_eq(body.flags, 3);
}

Test(mgmt_cs, admit_and_serve_are_switches_of_their_own)
{
    struct mgmt_params body, params = flags(0, 1);
    fill("/a", 1);
    cr_assert_eq(scene_command(&scene, "cs/config", &params, &body), 200);
    cr_assert_eq(body.flags, 2, "admits nothing, serves what it has");
    fill("/b", 1);
    cr_assert(!fetch("/b/0"));
    cr_assert(fetch("/a/0"));
    params = flags(1, 3);
    cr_assert_eq(scene_command(&scene, "cs/config", &params, &body), 200);
    cr_assert_eq(body.flags, 1, "admits, and serves nothing");
    fill("/c", 1);
    cr_assert(!fetch("/a/0"));
    params = flags(UINT64_MAX, 2);
    cr_assert_eq(scene_command(&scene, "cs/config", &params, &body), 200);
    cr_assert_eq(body.flags, 3);
    cr_assert(fetch("/c/0"), "was kept meanwhile");
    cr_assert(!fetch("/b/0"));
    cr_assert_eq(info().flags, 3);
}

/* Row M21 of the bad inputs. */
Test(mgmt_cs, a_capacity_beyond_the_memory_is_cut_and_told)
{
    const uint64_t asked[] = {CAPACITY + 1, UINT32_MAX, (uint64_t)1 << 32, UINT64_MAX};
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
        const struct mgmt_params params = {.has = MGMT_HAS_CAPACITY, .capacity = asked[i]};
        struct mgmt_params body;
        cr_assert_eq(scene_command(&scene, "cs/config", &params, &body), 200);
        cr_assert_eq(body.capacity, CAPACITY);
        cr_assert_eq(info().capacity, CAPACITY);
    }
}

Test(mgmt_cs, capacity_shrinks_and_grows)
{
    struct mgmt_params body, params = {.has = MGMT_HAS_CAPACITY, .capacity = 0};
    fill("/a", 10);
    cr_assert_eq(scene_command(&scene, "cs/config", &params, &body), 200);
    cr_assert_eq(body.capacity, 0);
    cr_assert_eq(info().n_entries, 0);
    cr_assert(!fetch("/a/0"));
    cr_assert_eq(info().n_entries, 0);
    uint64_t misses = info().n_misses;
    cr_assert(!fetch("/a/0"));
    cr_assert_eq(info().n_misses, misses, "a CS of no size is not asked");
    params.capacity = 5;
    cr_assert_eq(scene_command(&scene, "cs/config", &params, &body), 200);
    cr_assert_eq(body.capacity, 5);
    fill("/b", 10);
    cr_assert_eq(info().n_entries, 5);
    cr_assert(fetch("/b/9"));
}

Test(mgmt_cs, erase_takes_what_is_below_a_name)
{
    fill("/a", 100);
    fill("/ab", 10);
    struct mgmt_params params = scene_params("/a"), body;
    params.has |= MGMT_HAS_COUNT;
    params.count = 30;
    cr_assert_eq(scene_command(&scene, "cs/erase", &params, &body), 200);
    cr_assert_eq(body.has, MGMT_HAS_NAME | MGMT_HAS_COUNT, "more are left, but no more were wanted");
    cr_assert_eq(body.count, 30);
    cr_assert_str_eq(scene_uri(body.name), "/a");
    params.has = MGMT_HAS_NAME;
    cr_assert_eq(scene_command(&scene, "cs/erase", &params, &body), 200);
    cr_assert_eq(body.count, 70);
    cr_assert_eq(scene_command(&scene, "cs/erase", &params, &body), 200);
    cr_assert_eq(body.count, 0);
    cr_assert_eq(info().n_entries, 10);
    params = scene_params("/");
    cr_assert_eq(scene_command(&scene, "cs/erase", &params, &body), 200);
    cr_assert_eq(body.count, 10);
}

Test(mgmt_cs, a_call_erases_256_and_says_when_more_remain)
{
    fill("/a", 600);
    struct mgmt_params params = scene_params("/a"), body;
    for (unsigned left = 600; left > 256; left -= 256) {
        cr_assert_eq(scene_command(&scene, "cs/erase", &params, &body), 200);
        cr_assert_eq(body.has, MGMT_HAS_NAME | MGMT_HAS_COUNT | MGMT_HAS_CAPACITY);
        cr_assert_eq(body.count, 256);
        cr_assert_eq(body.capacity, 256);
    }
    cr_assert_eq(scene_command(&scene, "cs/erase", &params, &body), 200);
    cr_assert_eq(body.has, MGMT_HAS_NAME | MGMT_HAS_COUNT);
    cr_assert_eq(body.count, 600 - 512);
    fill("/b", 256);
    params = scene_params("/b");
    cr_assert_eq(scene_command(&scene, "cs/erase", &params, &body), 200);
    cr_assert_eq(body.has, MGMT_HAS_NAME | MGMT_HAS_COUNT, "exactly so many, and none is left");
    fill("/c", 300);
    params = scene_params("/c");
    params.has |= MGMT_HAS_COUNT;
    params.count = 256;
    cr_assert_eq(scene_command(&scene, "cs/erase", &params, &body), 200);
    cr_assert_eq(body.has, MGMT_HAS_NAME | MGMT_HAS_COUNT, "so many were wanted");
    params.count = 257;
    fill("/d", 300);
    params.name = scene_params("/d").name;
    cr_assert_eq(scene_command(&scene, "cs/erase", &params, &body), 200);
    cr_assert_eq(body.capacity, 256);
}

Test(mgmt_cs, answers_of_a_large_erasure_come_later)
{
    fill("/a", CAPACITY);
    struct mgmt_params params = scene_params("/none");
    uint8_t octets[64];
    size_t len = mgmt_params_encode(octets, sizeof octets, &params);
    scene_command_raw(&scene, SCENE_APP, "cs/erase", octets, len, SCENE_V03);
    cr_assert_eq(scene.n_sent, 0, "twelve steps, of which eight are made at once");
    cr_assert_eq(mgmt_poll(scene.mgmt, scene.now_ns), UINT64_MAX);
    cr_assert_eq(scene.n_sent, 1);
    struct scene_data data = scene_read(&scene, 0);
    struct mgmt_response response;
    cr_assert_eq(mgmt_response_decode(data.content.p, data.content.len, &response), 0);
    cr_assert_eq(response.code, 200);
    cr_assert_eq(data.lp.token_len, 8, "the token comes back, however late");
}

Test(mgmt_cs, so_many_erasures_and_no_more)
{
    fill("/a", CAPACITY);
    struct mgmt_params params = scene_params("/none");
    uint8_t octets[64];
    size_t len = mgmt_params_encode(octets, sizeof octets, &params);
    // Each call makes two thirds of the steps that one takes.
    for (unsigned i = 0; i < 900; i++)
        scene_command_raw(&scene, SCENE_APP, "cs/erase", octets, len, SCENE_V03);
    struct scene_data data = scene_read(&scene, scene.n_sent - 1);
    struct mgmt_response response;
    cr_assert_eq(mgmt_response_decode(data.content.p, data.content.len, &response), 0);
    cr_assert_eq(response.code, 503);
    cr_assert_lt(scene.n_sent, 900, "those under way are not answered yet, and go with management");
}

Test(mgmt_cs_workers, all_workers_are_one, .init = NULL)
{
    open_workers(2);
    fill("/a", 50);
    fill("/b", 50);
    fill("/c", 50);
    struct mgmt_cs_info now = info();
    cr_assert_eq(now.capacity, 2 * CAPACITY);
    cr_assert_eq(now.n_entries, 150);
    struct mgmt_params body, params = {.has = MGMT_HAS_CAPACITY, .capacity = 101};
    cr_assert_eq(scene_command(&scene, "cs/config", &params, &body), 200);
    cr_assert_eq(body.capacity, 101);
    params.capacity = 2 * CAPACITY;
    cr_assert_eq(scene_command(&scene, "cs/config", &params, &body), 200);
    params = scene_params("/");
    params.has |= MGMT_HAS_COUNT;
    params.count = 60;
    now = info();
    cr_assert_eq(scene_command(&scene, "cs/erase", &params, &body), 200);
    cr_assert_eq(body.count, 60);
    params.has = MGMT_HAS_NAME;
    cr_assert_eq(scene_command(&scene, "cs/erase", &params, &body), 200);
    cr_assert_eq(body.count, now.n_entries - 60);
    teardown();
}

/* A worker that does nothing but answer calls. */
struct caller {
    pthread_t thread;
    _Atomic bool stop;
    unsigned calls;
};

static void *answer_calls(void *arg)
{
    struct caller *caller = arg;
    struct worker *worker = &workers[0];
    while (!atomic_load(&caller->stop)) {
        int asked = WORKER_CALL_ASKED;
        if (!atomic_compare_exchange_strong(&worker->call_state, &asked, WORKER_CALL_RUNNING))
            continue;
        worker->call(worker->fwd, worker->call_arg);
        caller->calls++;
        atomic_store(&worker->call_state, WORKER_CALL_IDLE);
    }
    return NULL;
}

Test(mgmt_cs, a_running_worker_looks_at_a_thousand_entries_a_call)
{
    struct caller caller = {0};
    fill("/a", 4000);
    atomic_store(&workers[0].ready, true);
    cr_assert_eq(pthread_create(&caller.thread, NULL, answer_calls, &caller), 0);
    struct mgmt_params params = scene_params("/none"), body;
    cr_assert_eq(scene_command(&scene, "cs/erase", &params, &body), 200);
    cr_assert_eq(body.count, 0);
    cr_assert_eq(info().n_entries, 4000);
    atomic_store(&caller.stop, true);
    pthread_join(caller.thread, NULL);
    cr_assert_eq(caller.calls, 4 + 1);
    atomic_store(&workers[0].ready, false);
}

Test(mgmt_cs, a_worker_that_does_not_answer_is_told)
{
    atomic_store(&workers[0].ready, true);
    struct mgmt_params params = scene_params("/a");
    cr_assert_eq(scene_command(&scene, "cs/erase", &params, NULL), 500);
    scene_forget(&scene);
    scene_ask_uri(&scene, "/localhost/nfd/status/general", true);
    cr_assert_eq(scene_read(&scene, 0).content_type, 3);
    atomic_store(&workers[0].ready, false);
}

Test(mgmt_cs, general_status_has_the_workers_counters)
{
    fill("/a", 3);
    cr_assert(fetch("/a/0"));
    const struct bed_fields interest = {.nonce = 1000};
    bed_send_interest(bed, consumer, "/pending", &interest);
    size_t len;
    uint8_t *octets = scene_fetch(&scene, "/localhost/nfd/status/general", &len);
    struct mgmt_general_status status;
    cr_assert_eq(mgmt_general_status_decode(octets, len, &status), 0);
    cr_assert_eq(status.in_interests, 5);
    cr_assert_eq(status.out_interests, 4);
    cr_assert_eq(status.in_data, 3);
    cr_assert_eq(status.out_data, 4);
    cr_assert_eq(status.n_pit, 1);
    cr_assert_eq(status.n_cs, 3);
    cr_assert_eq(status.satisfied, 3);
    cr_assert_eq(status.n_name_tree, status.n_fib + 1);
    free(octets);
}

Test(mgmt_cs, general_status_counts_what_is_in_the_tables_of_workers_once)
{
    fill("/a", 3);
    const struct bed_fields pending = {.nonce = 77, .lifetime_ms = 4000};
    bed_send_interest(bed, consumer, "/b", &pending);
    uint8_t value[16];
    struct ndn_name name;
    size_t name_len = scene_name("/a/b", value, sizeof value);
    cr_assert_eq(ndn_name_parse(value, name_len, false, &name), VERDICT_OK);
    ndn_name_hash(&name, &bed->shared.name_key);
    for (unsigned depth = 0; depth <= 2; depth++)
        cr_assert_not_null(measurements_get(bed->fwd[0]->measurements, &name, depth, 1, 4000, bed->now_ns));
    size_t len;
    struct mgmt_general_status status;
    uint8_t *octets = scene_fetch(&scene, "/localhost/nfd/status/general", &len);
    cr_assert_eq(mgmt_general_status_decode(octets, len, &status), 0);
    cr_expect_eq(status.n_cs, 3);
    cr_expect_eq(status.n_pit, 1);
    cr_expect_eq(status.n_measurements, 3);
    cr_expect_eq(status.satisfied, 3);
    cr_expect_eq(status.in_interests, 4);
    free(octets);
}
