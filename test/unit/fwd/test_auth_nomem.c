// SPDX-License-Identifier: Apache-2.0
/* Every allocation of auth fails once: it says so, forgets nobody that it must refuse, and leaks nothing. */
#include "auth_maker.h"

#include <criterion/criterion.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "conf/conf.h"

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

/* A configuration with every kind of source in the folder. */
static struct conf *make_sources(const char *folder, const struct maker_key *root, const struct maker_key *site)
{
    uint8_t octets[MAKER_MAX];
    char text[1000];
    struct conf *conf;
    struct maker_certificate anchor = {.key = root}, below = {.key = site, .issuer = root};
    maker_file(folder, "anchor", octets, maker_certificate(octets, &anchor));
    maker_file(folder, "below", octets, maker_certificate(octets, &below));
    maker_file(folder, "secret", "/s AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", 35);
    snprintf(text, sizeof text,
             "authorizations = ( { certfile = \"%s/anchor\"; privileges = \"cs\"; }, { certfile = \"hmac:%s/secret\"; "
             "privileges = \"faces\"; } ); rib: { localhost-security = [ \"%s\", \"any\" ]; localhop-security = "
             "\"%s/anchor\"; certificates = \"%s/below\"; };",
             folder, folder, folder, folder, folder);
    cr_assert_eq(conf_load_text("text", text, strlen(text), &conf, stderr), 0);
    return conf;
}

Test(auth_nomem, what_cannot_be_kept_is_not_trusted)
{
    struct maker_key root, site;
    char folder[128];
    uint8_t octets[MAKER_MAX];
    maker_key(&root, 5, "/net/KEY/1");
    maker_key(&site, 5, "/net/site/KEY/1");
    maker_folder(folder);
    struct conf *conf = make_sources(folder, &root, &site);
    struct maker_command command = {.key = &site, .time_ms = MAKER_NOW};
    size_t len = maker_signed(octets, &command);
    bool failed = true;
    int n_failed = 0;
    for (int i = 0; failed; i++) {
        struct auth *auth = NULL;
        char err[256] = "";
        cr_assert_lt(i, 1000);
        countdown = i;
        int error = auth_create(&auth, conf, err);
        failed = countdown < 0;
        countdown = -1;
        cr_expect_eq(error == 0, auth != NULL);
        cr_expect(error == 0 || error == -ENOMEM || error == -EINVAL, "allocation %d: %d", i, error);
        cr_expect(error == 0 || strstr(err, "out of memory") != NULL, "allocation %d: %s", i, err);
        n_failed += error != 0;
        if (error == 0)
            cr_expect_eq(auth_command(auth, AUTH_RIB_LOCALHOP, octets, len, MAKER_NOW), AUTH_ACCEPTED, "allocation %d",
                         i);
        auth_destroy(auth);
    }
    cr_expect_gt(n_failed, 20);
    conf_free(conf);
    maker_folder_remove(folder);
    maker_key_free(&root);
    maker_key_free(&site);
}

Test(auth_nomem, a_command_that_cannot_be_remembered_does_not_count)
{
    struct maker_key key;
    uint8_t octets[MAKER_MAX];
    maker_key(&key, 4, "/s");
    char folder[128], text[300];
    maker_folder(folder);
    maker_file(folder, "secret", "/s AQgPFh0kKzI5QEdOVVxjanF4f4aNlJuiqbC3vsXM09o=", 47);
    snprintf(text, sizeof text, "authorizations = ( { certfile = \"hmac:%s/secret\"; privileges = \"cs\"; } );",
             folder);
    struct auth *auth = maker_auth(text);
    struct maker_command command = {.key = &key, .time_ms = MAKER_NOW};
    size_t len = maker_signed(octets, &command);
    countdown = 0;
    cr_expect_eq(auth_command(auth, AUTH_CS, octets, len, MAKER_NOW), AUTH_REFUSED);
    cr_expect_lt(countdown, 0);
    countdown = -1;
    cr_expect_eq(auth_command(auth, AUTH_CS, octets, len, MAKER_NOW), AUTH_ACCEPTED);
    auth_destroy(auth);
    maker_folder_remove(folder);
}
