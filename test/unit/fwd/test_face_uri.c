// SPDX-License-Identifier: Apache-2.0
#include "fwd/mgmt/face_uri.h"

#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

TestSuite(face_uri);

static bool canonical(const char *text, size_t len)
{
    struct face_uri uri;
    return face_uri_parse(&uri, text, len) == 0 && uri.canonical;
}

Test(face_uri, one_way_to_write_each_is_canonical)
{
    static const char *const good[] = {
        "udp4://192.0.2.1:6363",
        "udp4://224.0.23.170:56363",
        "udp6://[2001:db8::1]:6363",
        "udp6://[fe80::1%eth0]:1",
        "udp6://[ff02::1234%lo]:56363",
        "tcp4://127.0.0.1:65535",
        "tcp6://[::1]:6363",
        "ether://[02:00:00:00:00:0a]",
        "ether://[01:00:5e:00:17:aa]",
        "dev://eth0",
        "dev://eth0.5",
        "udp4://0.0.0.0:6363",
    };
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
        cr_expect(canonical(good[i], strlen(good[i])), "%s", good[i]);
}

Test(face_uri, anything_else_is_not)
{
    static const char *const bad[] = {
        "udp4://999.1.1.1:1",
        "udp4://192.0.2.1",
        "udp4://192.0.2.1:",
        "udp4://192.0.2.1:0",
        "udp4://192.0.2.1:65536",
        "udp4://192.0.2.1:99999999999",
        "udp4://192.0.2.1:06363",
        "udp4://192.0.2.1:6363/",
        "udp4://192.0.2.1:6363/x",
        "udp4://192.0.2.01:6363",
        "udp4://[192.0.2.1]:6363",
        "udp4://router:6363",
        "udp4://[2001:db8::1]:6363",
        "udp6://192.0.2.1:6363",
        "udp6://[2001:DB8::1]:6363",
        "udp6://[2001:db8:0::1]:6363",
        "udp6://2001:db8::1:6363",
        "udp6://[::ffff:192.0.2.1]:6363",
        "udp6://[fe80::1%]:6363",
        "udp6://[2001:db8::1:6363",
        "udp6://[2001:db8::1]6363",
        "udp://192.0.2.1:6363",
        "tcp4://224.0.23.170:6363",
        "tcp6://[ff02::1]:6363",
        "ether://[02:00:00:00:00:0A]",
        "ether://[2:0:0:0:0:a]",
        "ether://02:00:00:00:00:0a",
        "ether://[02:00:00:00:00]",
        "ether://[02:00:00:00:00:0a]:1",
        "dev://",
        "dev://eth0:6363",
        "dev://eth0/x",
        "foo://192.0.2.1:6363",
        "ws://192.0.2.1:9696",
        "unix:///run/nfd/nfd.sock",
        "fd://20",
        "internal://",
        "UDP4://192.0.2.1:6363",
        "udp4://:6363",
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        cr_expect_not(canonical(bad[i], strlen(bad[i])), "%s", bad[i]);
}

Test(face_uri, what_has_no_scheme_is_none)
{
    struct face_uri uri;
    static const char *const none[] = {"", "udp4", "udp4:", "udp4:/", "://x", "192.0.2.1:6363", "a b://x"};
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++)
        cr_expect_eq(face_uri_parse(&uri, none[i], strlen(none[i])), -EINVAL, "%s", none[i]);
}

Test(face_uri, octets_that_are_no_text_and_endless_hosts_are_not_canonical)
{
    cr_expect_not(canonical("udp4://192.0.2.1\0:6363", 22));
    cr_expect_not(canonical("udp4://192.0.2.1:6363\0", 22));
    cr_expect_not(canonical("dev://\0", 7));
    cr_expect_not(canonical("dev://\xff\xfe", 8));
    size_t len = 8192;
    char *text = malloc(len);
    memset(text, 'a', len);
    memcpy(text, "udp4://", 7);
    cr_expect_not(canonical(text, len));
    memcpy(text, "dev://a", 7);
    cr_expect_not(canonical(text, len));
    memset(text, '1', len);
    memcpy(text, "udp4://192.0.2.1:", 17);
    cr_expect_not(canonical(text, len));
    free(text);
}

Test(face_uri, the_parts_are_told)
{
    struct face_uri uri;
    cr_assert_eq(face_uri_parse(&uri, "udp6://[fe80::1%lo]:6363", 24), 0);
    cr_expect_eq(uri.scheme, FACE_URI_UDP6);
    cr_expect_eq(uri.family, AF_INET6);
    cr_expect_str_eq(uri.scope, "lo");
    cr_expect_eq(uri.port, 6363);
    struct sockaddr_storage address;
    cr_assert_eq(face_uri_sockaddr(&uri, &address), sizeof(struct sockaddr_in6));
    cr_expect_neq(((struct sockaddr_in6 *)&address)->sin6_scope_id, 0);
    cr_assert_eq(face_uri_parse(&uri, "udp6://[fe80::1%nosuchif]:6363", 30), 0);
    cr_expect_eq(face_uri_sockaddr(&uri, &address), 0);
    cr_assert_eq(face_uri_parse(&uri, "udp4://192.0.2.1:6363", 21), 0);
    cr_assert_eq(face_uri_sockaddr(&uri, &address), sizeof(struct sockaddr_in));
    cr_expect_eq(((struct sockaddr_in *)&address)->sin_port, htons(6363));
    cr_expect_not(face_uri_is_group(&uri));
    cr_expect_not(face_uri_is_loopback(&uri));
    cr_assert_eq(face_uri_parse(&uri, "ether://[01:00:5e:00:17:aa]", 27), 0);
    cr_expect(face_uri_is_group(&uri));
    cr_expect_eq(face_uri_sockaddr(&uri, &address), 0);
    cr_assert_eq(face_uri_parse(&uri, "tcp6://[::1]:6363", 17), 0);
    cr_expect(face_uri_is_loopback(&uri));
    cr_assert_eq(face_uri_parse(&uri, "ws://192.0.2.1:9696", 19), 0);
    cr_expect_eq(uri.scheme, FACE_URI_OTHER);
}

Test(face_uri, what_users_write_is_completed)
{
    static const struct {
        const char *text, *canonical;
    } cases[] = {
        {"udp://192.0.2.1", "udp4://192.0.2.1:6363"},
        {"udp4://192.0.2.1", "udp4://192.0.2.1:6363"},
        {"udp://192.0.2.1:7777/", "udp4://192.0.2.1:7777"},
        {"udp://[2001:DB8::1]", "udp6://[2001:db8::1]:6363"},
        {"udp://224.0.23.170", "udp4://224.0.23.170:56363"},
        {"udp6://[FF02::1234%lo]", "udp6://[ff02::1234%lo]:56363"},
        {"tcp://192.0.2.1", "tcp4://192.0.2.1:6363"},
        {"tcp://[::1]:1", "tcp6://[::1]:1"},
        {"ether://[2:0:0:0:0:A]", "ether://[02:00:00:00:00:0a]"},
        {"dev://eth0", "dev://eth0"},
        {"dev://eth0/", "dev://eth0"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct face_uri uri;
        char err[128] = "", text[FACE_URI_MAX];
        cr_assert_eq(face_uri_canonize(&uri, cases[i].text, err), 0, "%s: %s", cases[i].text, err);
        size_t len = face_uri_write(&uri, text);
        cr_expect(len == strlen(cases[i].canonical) && memcmp(text, cases[i].canonical, len) == 0, "%s: %.*s",
                  cases[i].text, (int)len, text);
    }
}

Test(face_uri, what_cannot_be_completed_says_why)
{
    static const char *const bad[] = {
        "192.0.2.1",         "udp4://[2001:db8::1]", "tcp6://192.0.2.1", "foo://192.0.2.1",
        "udp://192.0.2.1:0", "tcp://224.0.23.170",   "ether://[01:02]",  "udp://"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct face_uri uri;
        char err[128] = "";
        cr_expect_neq(face_uri_canonize(&uri, bad[i], err), 0, "%s", bad[i]);
        cr_expect_neq(err[0], '\0', "%s", bad[i]);
    }
}
