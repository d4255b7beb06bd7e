// SPDX-License-Identifier: Apache-2.0
/* Every allocation of a load fails once: the load must say so, or end as if it had not failed, and leak nothing. */
#include "support.h"

#include <criterion/criterion.h>

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *old, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *old, size_t size);

/* Allocations until one fails; negative: none fails. */
static int countdown = -1;

static bool fails(void)
{
    return countdown >= 0 && countdown-- == 0;
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

/* Load a file again and again, until no allocation is left that could fail. */
static void fail_each(const char *path, int normal)
{
    for (int i = 0;; i++) {
        cr_assert_lt(i, 10000);
        struct conf *conf = NULL;
        FILE *err = fopen("/dev/null", "w");
        cr_assert_not_null(err);
        countdown = i;
        int error = conf_load(path, &conf, err);
        bool failed = countdown < 0;
        countdown = -1;
        fclose(err);
        cr_expect(error == -ENOMEM || error == normal, "allocation %d: %d", i, error);
        cr_expect_eq(error == 0, conf != NULL);
        if (failed && normal == 0)
            cr_expect_eq(error, -ENOMEM, "allocation %d: %d", i, error);
        conf_free(conf);
        if (!failed) {
            cr_expect_gt(i, 10);
            cr_expect_eq(error, normal);
            return;
        }
    }
}

Test(conf_nomem, good_file)
{
    fail_each(SHIPPED_FOLDER "/examples/pci.conf", 0);
}

Test(conf_nomem, file_with_many_faults)
{
    fail_each(BAD_FOLDER "/many-faults.cfg", -EINVAL);
}

Test(conf_nomem, file_with_includes_and_long_numbers)
{
    fail_each(BAD_FOLDER "/c18-include-faulty.cfg", -EINVAL);
    fail_each(BAD_FOLDER "/c10-numbers.cfg", -EINVAL);
}
