// SPDX-License-Identifier: Apache-2.0
/* The management client against a fake forwarder: signed requests, segments, and answers that make no sense. */
#include "fwd/client/manager.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <sys/stat.h>

#include "fwd/mgmt/signer.h"
#include "fwd/client/transport.h"
#include "test/unit/fwd/fake_nfd.h"

static struct manager *open_manager(const struct fake_nfd *fake, uint64_t timeout_ns)
{
    const struct manager_config config = {.transport = fake->uri, .timeout_ns = timeout_ns};
    struct manager *manager;
    char err[LINK_ERR] = "";
    cr_assert_eq(manager_open(&manager, &config, err), 0, "%s", err);
    return manager;
}

static const struct mgmt_params route = {
    .has = MGMT_HAS_NAME | MGMT_HAS_COST,
    .name = {(const uint8_t *)"\x08\x01"
                              "A",
             3},
    .cost = 7,
};

Test(client_manager, a_command_is_answered_with_code_text_and_body)
{
    static const struct fake_rule rules[] = {
        {.path = "rib/register",
         .code = 200,
         .text = "OK",
         .body = {.has = MGMT_HAS_FACE_ID | MGMT_HAS_COST, .face_id = 308, .cost = 7}},
        {.path = "rib/unregister", .code = 403, .text = "no\x1b[2Jway", .act = FAKE_IN_LP},
        {0},
    };
    struct fake_nfd fake;
    struct manager_answer answer;
    fake_nfd_start(&fake, rules);
    struct manager *manager = open_manager(&fake, 0);
    cr_expect_eq(manager_command(manager, "rib", "register", &route, &answer), 200);
    cr_expect_str_eq(answer.text, "OK");
    cr_expect_eq(answer.params.face_id, 308);
    cr_expect_eq(manager_command(manager, "rib", "unregister", &route, &answer), 403);
    cr_expect_str_eq(answer.text, "no?[2Jway", "nothing of it moves the cursor of a terminal");
    cr_expect_eq(answer.params.has, 0);
    manager_close(manager);
    fake_nfd_stop(&fake);
    cr_expect_str_eq(fake.log, "rib/register name=/A cost=7\nrib/unregister name=/A cost=7\n");
}

Test(client_manager, a_dataset_is_put_together_from_its_segments)
{
    // 600 octets of TLVs of four octets each, so that items straddle segments of 101.
    static char hex[2 * 600 + 1];
    for (unsigned i = 0; i < 150; i++)
        snprintf(hex + 8 * i, 9, "8002%04x", i);
    static struct fake_rule rules[] = {
        {.path = "rib/list", .hex = hex, .segment = 101}, {.path = "fib/list", .hex = ""}, {0}};
    struct fake_nfd fake;
    struct manager_answer answer;
    struct manager_dataset dataset;
    fake_nfd_start(&fake, rules);
    struct manager *manager = open_manager(&fake, 0);
    cr_assert_eq(manager_dataset(manager, "rib", "list", NULL, 0, &dataset, &answer), MANAGER_OK, "%s", answer.text);
    cr_expect_eq(dataset.len, 600);
    size_t off = 0;
    const uint8_t *item;
    unsigned n = 0;
    while (manager_dataset_next(&dataset, &off, &item) == 4)
        cr_expect_eq(load_be16(item + 2), n++);
    cr_expect_eq(n, 150);
    manager_dataset_free(&dataset);
    cr_assert_eq(manager_dataset(manager, "fib", "list", NULL, 0, &dataset, &answer), MANAGER_OK);
    cr_expect_eq(dataset.len, 0);
    manager_dataset_free(&dataset);
    manager_close(manager);
    fake_nfd_stop(&fake);
    static const char asked[] = "rib/list\nrib/list segment=1\nrib/list segment=2\nrib/list segment=3\n"
                                "rib/list segment=4\nrib/list segment=5\n";
    cr_expect_eq(strncmp(fake.log, asked, sizeof asked - 1), 0, "%s", fake.log);
    cr_expect_not_null(strstr(fake.log, "fib/list\n"));
    cr_expect_null(strstr(fake.log, "fib/list segment"), "one segment is known to be all: %s", fake.log);
}

Test(client_manager, a_dataset_that_was_forgotten_half_way_is_fetched_anew)
{
    static char hex[2 * 600 + 1];
    for (unsigned i = 0; i < 150; i++)
        snprintf(hex + 8 * i, 9, "8002%04x", i);
    struct fake_rule rules[] = {{.path = "rib/list", .hex = hex, .segment = 50, .forgets = 1}, {0}};
    struct fake_nfd fake;
    struct manager_answer answer;
    struct manager_dataset dataset;
    fake_nfd_start(&fake, rules);
    struct manager *manager = open_manager(&fake, 2000000000);
    cr_assert_eq(manager_dataset(manager, "rib", "list", NULL, 0, &dataset, &answer), MANAGER_OK, "%s", answer.text);
    cr_expect_eq(dataset.len, 600);
    manager_dataset_free(&dataset);
    manager_close(manager);
    fake_nfd_stop(&fake);
    // A forwarder that never has them is given up.
    rules[0].forgets = UINT32_MAX;
    fake_nfd_start(&fake, rules);
    manager = open_manager(&fake, 500000000);
    cr_expect_eq(manager_dataset(manager, "rib", "list", NULL, 0, &dataset, &answer), MANAGER_TIMEOUT);
    manager_close(manager);
    fake_nfd_stop(&fake);
    const char *at = fake.log;
    unsigned n = 0;
    while ((at = strstr(at, "rib/list\n")) != NULL) {
        at++;
        n++;
    }
    cr_expect_eq(n, 3, "%s", fake.log);
}

Test(client_manager, answers_that_make_no_sense_have_a_code_and_words)
{
    static const struct {
        struct fake_rule rule;
        uint32_t code;
    } cases[] = {
        {{.path = "rib/list", .act = FAKE_SILENT}, MANAGER_TIMEOUT},
        {{.path = "rib/list", .act = FAKE_CLOSE}, MANAGER_LINK},
        {{.path = "rib/list", .act = FAKE_HALF, .hex = "80020000"}, MANAGER_LINK},
        {{.path = "rib/list", .act = FAKE_NACK}, MANAGER_NACK},
        {{.path = "rib/list", .act = FAKE_NO_NAMES, .hex = "80020000"}, MANAGER_BAD_ANSWER},
        {{.path = "rib/list", .act = FAKE_REJECT, .code = 400, .text = "Malformed filter"}, 400},
        {{.path = "rib/list", .act = FAKE_REJECT, .code = 200, .text = "OK"}, MANAGER_BAD_ANSWER},
        // A TLV larger than any packet, one of type 0, and an answer to a question nobody asked.
        {{.path = "rib/list", .act = FAKE_RAW, .hex = "06fe00100000"}, MANAGER_LINK},
        {{.path = "rib/list", .act = FAKE_RAW, .hex = "0000"}, MANAGER_LINK},
        {{.path = "rib/list", .act = FAKE_RAW, .hex = "060a0703080141150016031b0100"}, MANAGER_TIMEOUT},
        // An element that never becomes whole.
        {{.path = "rib/list", .act = FAKE_RAW, .hex = "0620070308"}, MANAGER_TIMEOUT},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct fake_rule rules[] = {cases[i].rule, {0}};
        struct fake_nfd fake;
        struct manager_answer answer;
        struct manager_dataset dataset;
        fake_nfd_start(&fake, rules);
        struct manager *manager = open_manager(&fake, cases[i].code == MANAGER_TIMEOUT ? 200000000 : 0);
        uint32_t code = manager_dataset(manager, "rib", "list", NULL, 0, &dataset, &answer);
        cr_expect_eq(code, cases[i].code, "row %zu: %u %s", i, code, answer.text);
        cr_expect(answer.text[0] != '\0', "row %zu", i);
        manager_close(manager);
        fake_nfd_stop(&fake);
    }
}

Test(client_manager, contents_of_commands_that_do_not_decode_are_bad_answers)
{
    static const char *const contents[] = {"", "65", "6500", "65056601c86702", "650566010167014f00", "6403660100",
                                           // a body that is no ControlParameters, and one that is cut
                                           "65096601c867024f4b6900", "650a6601c867024f4b680269", "ff"};
    for (size_t i = 0; i < sizeof contents / sizeof *contents; i++) {
        const struct fake_rule rules[] = {{.path = "rib/register", .act = FAKE_BLOB, .hex = contents[i]}, {0}};
        struct fake_nfd fake;
        struct manager_answer answer;
        fake_nfd_start(&fake, rules);
        struct manager *manager = open_manager(&fake, 0);
        cr_expect_eq(manager_command(manager, "rib", "register", &route, &answer), MANAGER_BAD_ANSWER, "row %zu: %u", i,
                     answer.code);
        manager_close(manager);
        fake_nfd_stop(&fake);
    }
}

Test(client_manager, items_of_a_dataset_that_are_cut_are_told)
{
    uint8_t octets[] = {0x80, 2, 1, 2, 0x80, 9, 1};
    const struct manager_dataset dataset = {.p = octets, .len = sizeof octets};
    size_t off = 0;
    const uint8_t *item;
    cr_expect_eq(manager_dataset_next(&dataset, &off, &item), 4);
    cr_expect_eq(manager_dataset_next(&dataset, &off, &item), -EINVAL);
}

/** Elements of a signed Interest. */
struct signed_interest {
    struct tlv app, info, value, digest;
    const uint8_t *components, *app_start, *value_start, *end;
    size_t components_len;
    uint64_t type, time_ms;
    struct tlv locator;
};

static struct signed_interest take_apart(const uint8_t *p, size_t len)
{
    const struct ndn_parse_opts opts = {0};
    struct ndn_packet packet;
    struct signed_interest s = {0};
    struct tlv tlv;
    cr_assert_eq(ndn_packet_parse(p, len, &opts, &packet), VERDICT_OK);
    struct cursor c = cursor_make(packet.name.value, packet.name.len);
    s.components = packet.name.value;
    while (cursor_left(&c) > 0) {
        s.components_len = (size_t)(c.p - packet.name.value);
        cr_assert_eq(tlv_read(&c, false, &s.digest), VERDICT_OK);
    }
    c = cursor_make(p, len);
    cr_assert_eq(tlv_read(&c, false, &tlv), VERDICT_OK);
    c = cursor_make(tlv.value, tlv.len);
    while (cursor_left(&c) > 0) {
        const uint8_t *start = c.p;
        cr_assert_eq(tlv_read(&c, false, &tlv), VERDICT_OK);
        if (tlv.type == NDN_TLV_APP_PARAMETERS) {
            s.app = tlv;
            s.app_start = start;
        } else if (tlv.type == 44) {
            s.info = tlv;
        } else if (tlv.type == 46) {
            s.value = tlv;
            s.value_start = start;
        }
    }
    s.end = c.end;
    cr_assert(s.app_start != NULL && s.value_start != NULL);
    static const uint32_t order[] = {NDN_TLV_SIGNATURE_TYPE, 28, 38, 40};
    size_t at = 0;
    c = cursor_make(s.info.value, s.info.len);
    while (cursor_left(&c) > 0) {
        cr_assert_eq(tlv_read(&c, false, &tlv), VERDICT_OK);
        while (at < 4 && order[at] != tlv.type)
            at++;
        cr_assert(at < 4, "element %u out of order", tlv.type);
        if (tlv.type == NDN_TLV_SIGNATURE_TYPE)
            cr_assert(tlv_nni(&tlv, &s.type));
        else if (tlv.type == 28)
            s.locator = tlv;
        else if (tlv.type == 38)
            cr_assert_eq(tlv.len, 8);
        else
            cr_assert(tlv_nni(&tlv, &s.time_ms));
    }
    // The digest component covers all after the Name's elements that belong to the signature.
    uint8_t digest[32];
    cr_assert(ping_sha256(s.app_start, (size_t)(s.end - s.app_start), digest));
    cr_expect_eq(s.digest.type, NDN_PARAMS_DIGEST);
    cr_expect_arr_eq(s.digest.value, digest, 32);
    return s;
}

/** The octets that the signature covers. */
static size_t covered(const struct signed_interest *s, uint8_t *p)
{
    size_t rest = (size_t)(s->value_start - s->app_start);
    memcpy(p, s->components, s->components_len);
    memcpy(p + s->components_len, s->app_start, rest);
    return s->components_len + rest;
}

Test(client_manager, requests_are_signed_with_a_digest_and_a_time_that_increases)
{
    struct signer *signer;
    char err[SIGNER_ERR];
    uint8_t interest[NDN_PACKET_MAX], octets[NDN_PACKET_MAX], digest[32];
    uint64_t last = 0;
    cr_assert_eq(signer_create(&signer, NULL, NULL, err), 0);
    for (unsigned i = 0; i < 100; i++) {
        size_t len = signer_interest(signer, interest, sizeof interest, route.name.p, route.name.len, 4000);
        cr_assert(len > 0);
        struct signed_interest s = take_apart(interest, len);
        cr_expect_eq(s.type, 0);
        cr_expect_eq(s.locator.type, 0, "a digest has no KeyLocator");
        cr_expect(s.time_ms > last);
        last = s.time_ms;
        cr_assert(ping_sha256(octets, covered(&s, octets), digest));
        cr_expect_eq(s.value.len, 32);
        cr_expect_arr_eq(s.value.value, digest, 32);
    }
    cr_expect_eq(signer_interest(signer, interest, 60, route.name.p, route.name.len, 4000), 0, "no room");
    signer_destroy(signer);
}

Test(client_manager, requests_are_signed_with_keys_of_every_kind)
{
    static const struct {
        const char *name;
        uint64_t type;
    } kinds[] = {{"EC", 3}, {"RSA", 1}, {"ED25519", 5}};
    char dir[] = "/tmp/pitlane-test-XXXXXX", path[64], err[SIGNER_ERR];
    cr_assert_not_null(mkdtemp(dir));
    snprintf(path, sizeof path, "%s/key.pem", dir);
    for (size_t i = 0; i < 3; i++) {
        EVP_PKEY *key = i == 0   ? EVP_PKEY_Q_keygen(NULL, NULL, "EC", "P-256")
                        : i == 1 ? EVP_PKEY_Q_keygen(NULL, NULL, "RSA", (size_t)2048)
                                 : EVP_PKEY_Q_keygen(NULL, NULL, "ED25519");
        cr_assert_not_null(key, "%s", kinds[i].name);
        FILE *file = fopen(path, "w");
        cr_assert_eq(PEM_write_PKCS8PrivateKey(file, key, NULL, NULL, 0, NULL, NULL), 1);
        fclose(file);
        struct signer *signer;
        uint8_t interest[NDN_PACKET_MAX], octets[NDN_PACKET_MAX];
        cr_assert_eq(signer_create(&signer, path, "/op/KEY/1/self/v=1", err), 0, "%s", err);
        size_t len = signer_interest(signer, interest, sizeof interest, route.name.p, route.name.len, 10000);
        struct signed_interest s = take_apart(interest, len);
        cr_expect_eq(s.type, kinds[i].type);
        static const uint8_t locator[] = {7, 21,  8, 2, 'o', 'p', 8,   3,   'K',  'E', 'Y', 8,
                                          1, '1', 8, 4, 's', 'e', 'l', 'f', 0x36, 1,   1};
        cr_assert_eq(s.locator.len, sizeof locator, "%zu", s.locator.len);
        cr_expect_arr_eq(s.locator.value, locator, sizeof locator);
        EVP_MD_CTX *ctx = EVP_MD_CTX_new();
        cr_assert_eq(EVP_DigestVerifyInit(ctx, NULL, i == 2 ? NULL : EVP_sha256(), NULL, key), 1);
        cr_expect_eq(EVP_DigestVerify(ctx, s.value.value, s.value.len, octets, covered(&s, octets)), 1, "%s",
                     kinds[i].name);
        EVP_MD_CTX_free(ctx);
        EVP_PKEY_free(key);
        signer_destroy(signer);
    }
    unlink(path);
    rmdir(dir);
}

Test(client_manager, keys_that_cannot_be_used_come_with_words)
{
    char dir[] = "/tmp/pitlane-test-XXXXXX", path[64], locked[64], err[SIGNER_ERR];
    cr_assert_not_null(mkdtemp(dir));
    snprintf(path, sizeof path, "%s/junk.pem", dir);
    snprintf(locked, sizeof locked, "%s/locked.pem", dir);
    FILE *file = fopen(path, "w");
    fputs("-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n", file);
    fclose(file);
    EVP_PKEY *key = EVP_PKEY_Q_keygen(NULL, NULL, "EC", "P-256");
    char passphrase[] = "secret";
    file = fopen(locked, "w");
    cr_assert_eq(PEM_write_PKCS8PrivateKey(file, key, EVP_aes_128_cbc(), passphrase, 6, NULL, NULL), 1);
    fclose(file);
    EVP_PKEY_free(key);
    const struct {
        const char *key, *certificate;
    } bad[] = {{path, "/op"},        {locked, "/op"}, {"/nonexistent", "/op"}, {path, NULL}, {NULL, "/op"},
               {path, "not a name"}, {path, "/"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct signer *signer;
        err[0] = '\0';
        cr_expect_lt(signer_create(&signer, bad[i].key, bad[i].certificate, err), 0, "row %zu", i);
        cr_expect(err[0] != '\0', "row %zu", i);
    }
    unlink(path);
    unlink(locked);
    rmdir(dir);
}

Test(client_manager, the_transport_is_found_where_ndn_clients_look)
{
    char dir[] = "/tmp/pitlane-test-XXXXXX", ndn[64], path[96], uri[TRANSPORT_URI_MAX];
    cr_assert_not_null(mkdtemp(dir));
    snprintf(ndn, sizeof ndn, "%s/.ndn", dir);
    snprintf(path, sizeof path, "%s/client.conf", ndn);
    cr_assert_eq(mkdir(ndn, 0700), 0);
    setenv("HOME", dir, 1);
    unsetenv("NDN_CLIENT_TRANSPORT");
    static const struct {
        const char *text, *uri;
    } files[] = {
        {"; a comment\ntransport=unix:///tmp/a.sock\n", "unix:///tmp/a.sock"},
        {"pib=x\n  transport = tcp://192.0.2.1:7000  \r\ntransport=unix:///b\n", "tcp://192.0.2.1:7000"},
        {"transport=\"unix:///q\"\n", "unix:///q"},
        {"transports=unix:///c\n;transport=unix:///d\n#transport=unix:///e\n", TRANSPORT_DEFAULT},
        {"transport=\n", TRANSPORT_DEFAULT},
        {"", TRANSPORT_DEFAULT},
    };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        FILE *file = fopen(path, "w");
        fputs(files[i].text, file);
        fclose(file);
        transport_find(NULL, uri);
        cr_expect_str_eq(uri, files[i].uri, "row %zu", i);
    }
    setenv("NDN_CLIENT_TRANSPORT", "unix:///variable", 1);
    transport_find(NULL, uri);
    cr_expect_str_eq(uri, "unix:///variable");
    transport_find("tcp://option", uri);
    cr_expect_str_eq(uri, "tcp://option");
    unlink(path);
    cr_expect_eq(transport_from_file(path, uri), -ENOENT);
    rmdir(ndn);
    rmdir(dir);
}

Test(client_manager, transports_that_lead_nowhere_come_with_words)
{
    static char longest[] = "unix:///01234567890123456789012345678901234567890123456789012345678901234567890123456789"
                            "0123456789012345678901234567890";
    static const char *const bad[] = {
        "unix://",
        "unix:///nonexistent/nfd.sock",
        "tcp://127.0.0.1:http",
        "udp://127.0.0.1",
        "nfd.sock",
        "tcp4://[::1]:6363",
        longest,
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char err[LINK_ERR] = "";
        struct link *link;
        const struct link_config config = {.transport = bad[i]};
        cr_expect_lt(link_open(&link, &config, false, err), 0, "%s", bad[i]);
        cr_expect(err[0] != '\0', "%s", bad[i]);
    }
}
