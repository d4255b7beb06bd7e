// SPDX-License-Identifier: Apache-2.0
/* Memory runs out at every place in turn while a set is made: it is made later, and the old one is as it was. */
#include "fwd/quic/build.h"

#include <criterion/criterion.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/** Allocations until one fails; negative: none does. */
static long left = -1;

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);

static bool fails(void)
{
    return left >= 0 && left-- == 0;
}

void *__wrap_malloc(size_t size)
{
    return fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t n, size_t size)
{
    return fails() ? NULL : __real_calloc(n, size);
}

void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
    return fails() ? NULL : __real_aligned_alloc(alignment, size);
}

static const char text[] = "port: { lan: { netdev = \"lan\"; }; };\n"
                           "quic: { a: { vip = \"203.0.113.10:443\"; }; b: { vip = \"203.0.113.11:443\"; }; };\n"
                           "quic-config: ( { service = \"a\"; id = 0; server-id-length = 3; nonce-length = 4; } );\n"
                           "quic-server: { x: { service = \"a\"; id = \"000001\"; address = \"10.0.0.1\"; };"
                           " y: { service = \"b\"; address = \"10.0.0.2\"; }; };\n";

Test(quic_build_nomem, a_set_is_made_whole_or_not_at_all)
{
    struct conf *conf;
    struct quic_set *set = NULL, *again = NULL;
    cr_assert_eq(conf_load_text("text", text, sizeof text - 1, &conf, stderr), 0);
    long n = 0;
    for (int rc = -ENOMEM; rc != 0; n++) {
        cr_assert_null(set);
        left = n;
        rc = quic_set_build(&set, conf, NULL, 0, NULL);
        left = -1;
        cr_assert(rc == 0 || rc == -ENOMEM);
    }
    cr_expect_geq(n, 12);
    n = 0;
    for (int rc = -ENOMEM; rc != 0; n++) {
        cr_assert_null(again);
        left = n;
        rc = quic_set_again(&again, set);
        left = -1;
        cr_assert(rc == 0 || rc == -ENOMEM);
    }
    cr_expect_geq(n, 12);
    cr_expect_eq(again->service[0].n_servers, 1);
    quic_set_destroy(set);
    quic_set_destroy(again);
    conf_free(conf);
}
