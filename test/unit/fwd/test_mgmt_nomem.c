// SPDX-License-Identifier: Apache-2.0
/* Every allocation of management fails once: it must say so, or leave the answer out, and go on as before. */
#include "test/unit/fwd/mgmt_fixture.h"

#include <errno.h>

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *old, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *old, size_t size);

/* Allocations of management until one fails; negative: none fails. The test's own never do. */
static int countdown = -1;
static bool in_test;

static bool fails(void)
{
    return !in_test && countdown >= 0 && countdown-- == 0;
}

void *__wrap_malloc(size_t size)
{
    return fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t n, size_t size)
{
    return fails() ? NULL : __real_calloc(n, size);
}

void *__wrap_realloc(void *old, size_t size)
{
    return fails() ? NULL : __real_realloc(old, size);
}

static struct scene scene;

/* As scene_send(), whose copy does not count. */
static void catch_packet(void *ctx, const uint8_t *packet, size_t len)
{
    in_test = true;
    scene_send(ctx, packet, len);
    in_test = false;
}

static void setup(void)
{
    scene_open(&scene, NULL);
    mgmt_destroy(scene.mgmt);
    scene.env.send = catch_packet;
    cr_assert_eq(mgmt_create(&scene.mgmt, &scene.env), 0);
}

static void teardown(void)
{
    scene_close(&scene);
}

TestSuite(mgmt_nomem, .init = setup, .fini = teardown);

/* Do something with the i-th allocation failing. @return false when there were not so many */
static bool fail_at(int i, void (*act)(void))
{
    scene_forget(&scene);
    countdown = i;
    act();
    bool failed = countdown < 0;
    countdown = -1;
    return failed;
}

static void create(void)
{
    struct mgmt *mgmt = NULL;
    int rc = mgmt_create(&mgmt, &scene.env);
    cr_assert(rc == 0 || rc == -ENOMEM);
    cr_assert_eq(rc == 0, mgmt != NULL);
    mgmt_destroy(mgmt);
}

Test(mgmt_nomem, management_is_not_made_by_halves)
{
    int n = 0;
    while (fail_at(n, create))
        n++;
    cr_assert_geq(n, 2);
}

static void list(void)
{
    scene_ask_uri(&scene, "/localhost/nfd/fib/list", true);
}

Test(mgmt_nomem, a_dataset_without_memory_is_rejected_or_not_answered)
{
    uint8_t name[64];
    size_t len = scene_name("/a", name, sizeof name);
    cr_assert_eq(fib_nexthop_set(scene.shared.fib, name, (uint16_t)len, 300, 0), 0);
    cr_assert(fail_at(0, list));
    struct scene_data data = scene_read(&scene, 0);
    cr_assert_eq(data.content_type, 3);
    cr_assert(fail_at(1, list));
    cr_assert_eq(scene.n_sent, 0);
    cr_assert(!fail_at(2, list));
    cr_assert_eq(scene_read(&scene, 0).content_type, 0);
}

static void erase(void)
{
    uint8_t octets[64];
    const struct mgmt_params params = {.has = MGMT_HAS_NAME, .name = {(const uint8_t *)"\x08\x01\x61", 3}};
    size_t len = mgmt_params_encode(octets, sizeof octets, &params);
    scene_command_raw(&scene, SCENE_APP, "cs/erase", octets, len, SCENE_V03);
}

Test(mgmt_nomem, a_command_without_memory_gets_500)
{
    int n = 0;
    for (; fail_at(n, erase); n++)
        cr_assert_str_eq(scene_text(&scene), "Out of memory");
    cr_assert_eq(n, 2);
    cr_assert_str_eq(scene_text(&scene), "OK");
}

static void publish(void)
{
    mgmt_notify(scene.mgmt, "faces", "events", (const uint8_t *)"x", 1, scene.now_ns);
}

Test(mgmt_nomem, a_notification_without_memory_takes_no_number)
{
    scene_ask_uri(&scene, "/localhost/nfd/faces/events", true);
    cr_assert(fail_at(0, publish));
    cr_assert_eq(scene.n_sent, 0);
    cr_assert(!fail_at(1, publish));
    struct scene_data data = scene_read(&scene, 0);
    cr_assert_str_eq(scene_uri(data.name), "/localhost/nfd/faces/events/58=%00");
}

static int express_rc;

static void done(void *ctx, const uint8_t *content, size_t len)
{
    (void)ctx;
    (void)content;
    (void)len;
    cr_assert_fail("it was never expressed");
}

static void express(void)
{
    express_rc = mgmt_express(scene.mgmt, (const uint8_t *)"\x05\x05\x07\x03\x08\x01\x61", 7, 1, done, NULL);
}

Test(mgmt_nomem, an_interest_without_memory_is_not_expressed)
{
    cr_assert(fail_at(0, express));
    cr_assert_eq(express_rc, -ENOMEM);
    cr_assert_eq(scene.n_sent, 0);
    scene_pass(&scene, 1000);
}
