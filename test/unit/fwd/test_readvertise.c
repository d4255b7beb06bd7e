// SPDX-License-Identifier: Apache-2.0
/* Commands to a routing daemon that is played here. */
#include <criterion/criterion.h>

#include <errno.h>
#include <stdlib.h>

#include "conf/conf.h"
#include "fwd/mgmt/mgmt.h"
#include "fwd/mgmt/readvertise.h"
#include "fwd/mgmt/rib.h"
#include "parser/ndn_packet.h"
#include "test/unit/fwd/rib_fixture.h"

#define S         UINT64_C(1000000000)
#define CLIENT    RIB_ORIGIN_CLIENT
#define NO_ANSWER UINT64_MAX

/** A command that was expressed and not answered yet. */
struct expressed {
    void (*done)(void *ctx, const uint8_t *content, size_t len);
    void *ctx;
    char text[256]; /**< "register /a cost=0 flags=1 origin=0" */
    uint64_t timeout_ns;
};

static struct rib_bed bed;
static struct readvertise *readvertise;
static struct expressed expressed[256];
static unsigned n_expressed;
static bool refuse_to_express;

/** Words for a command; checks that it is one, and signed. */
static void describe(const uint8_t *interest, size_t len, char *text, size_t size)
{
    const struct ndn_parse_opts opts = {0};
    struct ndn_packet pkt;
    cr_assert_eq(ndn_packet_parse(interest, len, &opts, &pkt), VERDICT_OK);
    cr_assert_eq(pkt.type, NDN_TYPE_INTEREST);
    cr_assert_eq(pkt.interest.lifetime_ms, 10000);
    // /localhost/nlsr/rib/VERB/PARAMETERS/DIGEST, or the same below /localhop/nfd
    const struct ndn_name *name = &pkt.name;
    cr_assert_eq(name->n_comps, 6);
    char prefix[64];
    ndn_name_to_uri(name->value, name->end[4], prefix, sizeof prefix);
    struct mgmt_params params;
    const uint8_t *comp = name->value + name->end[4];
    size_t comp_len = (size_t)(name->end[5] - name->end[4]);
    cr_assert_eq(comp[0], 8);
    cr_assert_eq(comp[2], MGMT_CONTROL_PARAMETERS);
    cr_assert_eq(mgmt_params_decode(comp + 4, comp_len - 4, &params), 0);
    cr_assert_eq(name->value[name->end[5]], NDN_PARAMS_DIGEST);
    char uri[128];
    ndn_name_to_uri(params.name.p, params.name.len, uri, sizeof uri);
    cr_assert_eq(params.face_id, 0);
    int n = snprintf(text, size, "%s %s origin=%u", prefix, uri, (unsigned)params.origin);
    if ((params.has & MGMT_HAS_COST) != 0)
        snprintf(text + n, size - (size_t)n, " cost=%u flags=%u", (unsigned)params.cost, (unsigned)params.flags);
    cr_assert_eq((params.has & MGMT_HAS_COST) != 0, strstr(prefix, "/register") != NULL);
}

int mgmt_express(struct mgmt *mgmt, const uint8_t *interest, size_t len, uint64_t timeout_ns,
                 void (*done)(void *ctx, const uint8_t *content, size_t len), void *ctx)
{
    (void)mgmt;
    if (refuse_to_express)
        return -ENOSPC;
    cr_assert_lt(n_expressed, 256);
    struct expressed *e = &expressed[n_expressed++];
    *e = (struct expressed){.done = done, .ctx = ctx, .timeout_ns = timeout_ns};
    describe(interest, len, e->text, sizeof e->text);
    return 0;
}

/** Answer the oldest command with a status code, or not at all (0). */
static void answer(unsigned code)
{
    cr_assert_gt(n_expressed, 0);
    struct expressed e = expressed[0];
    memmove(expressed, expressed + 1, --n_expressed * sizeof e);
    uint8_t content[256];
    if (code == 0)
        e.done(e.ctx, NULL, 0);
    else
        e.done(e.ctx, content, mgmt_response_encode(content, sizeof content, code, "whatever", NULL));
}

static void create(readvertise_policy_t policy)
{
    char err[256];
    uint8_t to[64];
    bool nlsr = policy == readvertise_clients;
    int len = ndn_name_from_uri(nlsr ? "/localhost/nlsr" : "/localhop/nfd", to, sizeof to);
    struct readvertise_config config = {
        .rib = bed.rib,
        .to = {to, (uint16_t)len},
        .origin = nlsr ? RIB_ORIGIN_APP : RIB_ORIGIN_CLIENT,
        .cost = nlsr ? 0 : 15,
        .timeout_ns = 10 * S,
        .refresh_ns = 300 * S,
        .retry_min_ns = 50 * S,
        .retry_max_ns = 3600 * S,
        .policy = policy,
    };
    cr_assert_eq(readvertise_create(&readvertise, &config, err), 0, "%s", err);
}

static void setup(void)
{
    bed = rib_bed_make(1024);
}

static void teardown(void)
{
    rib_bed_free(&bed);
    readvertise_destroy(readvertise);
}

TestSuite(readvertise, .init = setup, .fini = teardown);

static void nlsr_comes(void)
{
    cr_assert_eq(rib_set(&bed, "/localhost/nlsr", 900, RIB_ORIGIN_APP, 0, RIB_CHILD_INHERIT), 0);
}

#define expect_expressed(n, want)                                                     \
    do {                                                                              \
        cr_assert_eq(n_expressed, (n), "%u", n_expressed);                            \
        cr_expect_str_eq(expressed[(n)-1].text, (want), "%s", expressed[(n)-1].text); \
    } while (0)

Test(readvertise, client_routes_are_told_to_nlsr_until_the_last_goes)
{
    nlsr_comes();
    create(readvertise_clients);
    cr_expect_eq(readvertise_poll(readvertise, 1), UINT64_MAX);
    rib_set(&bed, "/a", 256, CLIENT, 7, RIB_CHILD_INHERIT);
    rib_set(&bed, "/b", 256, RIB_ORIGIN_APP, 7, RIB_CHILD_INHERIT);
    rib_set(&bed, "/localhost/c", 256, CLIENT, 7, RIB_CHILD_INHERIT);
    cr_expect_eq(n_expressed, 0, "only a poll sends");
    readvertise_poll(readvertise, 1);
    expect_expressed(1, "/localhost/nlsr/rib/register /a origin=0 cost=0 flags=1");
    cr_expect_eq(expressed[0].timeout_ns, 10 * S);
    answer(200);
    rib_set(&bed, "/a", 257, CLIENT, 7, RIB_CHILD_INHERIT);
    cr_expect_eq(readvertise_poll(readvertise, 1), 300 * S);
    rib_unregister(bed.rib, rib_name("/a"), 256, CLIENT);
    cr_expect_eq(readvertise_poll(readvertise, 1), 300 * S);
    cr_expect_eq(n_expressed, 0, "there is another route of it");
    rib_face_remove(bed.rib, 257);
    readvertise_poll(readvertise, 1);
    expect_expressed(1, "/localhost/nlsr/rib/unregister /a origin=0");
    answer(200);
    cr_expect_eq(readvertise_poll(readvertise, 1), UINT64_MAX);
    struct readvertise_counters counters;
    readvertise_counters(readvertise, &counters);
    cr_expect_eq(counters.registered, 1);
    cr_expect_eq(counters.unregistered, 1);
    cr_expect_eq(counters.failed, 0);
    cr_expect_eq(counters.n_prefixes, 0);
}

Test(readvertise, command_is_repeated_before_it_lapses)
{
    nlsr_comes();
    create(readvertise_clients);
    rib_set(&bed, "/a", 256, CLIENT, 7, RIB_CHILD_INHERIT);
    readvertise_poll(readvertise, 1);
    answer(200);
    cr_expect_eq(readvertise_poll(readvertise, 1), 300 * S);
    cr_expect_eq(readvertise_poll(readvertise, 300 * S), 1);
    cr_expect_eq(n_expressed, 0);
    readvertise_poll(readvertise, 300 * S + 1);
    cr_expect_eq(n_expressed, 1);
}

Test(readvertise, failures_are_tried_again_after_growing_waits)
{
    static const unsigned codes[] = {0, 403, 0, 0, 500, 0, 0, 0, 0};
    static const uint64_t waits[] = {50, 100, 200, 400, 800, 1600, 3200, 3600, 3600};
    uint64_t now = 1;
    nlsr_comes();
    create(readvertise_clients);
    rib_set(&bed, "/a", 256, CLIENT, 7, RIB_CHILD_INHERIT);
    for (unsigned i = 0; i < sizeof codes / sizeof codes[0]; i++) {
        readvertise_poll(readvertise, now);
        cr_assert_eq(n_expressed, 1);
        answer(codes[i]);
        cr_expect_eq(readvertise_poll(readvertise, now), waits[i] * S, "%u", i);
        cr_expect_eq(n_expressed, 0);
        now += waits[i] * S;
    }
    readvertise_poll(readvertise, now);
    answer(200);
    cr_expect_eq(readvertise_poll(readvertise, now), 300 * S);
    rib_face_remove(bed.rib, 256);
    readvertise_poll(readvertise, now);
    expect_expressed(1, "/localhost/nlsr/rib/unregister /a origin=0");
    answer(0);
    cr_expect_eq(readvertise_poll(readvertise, now), 50 * S, "unregistering, too");
    readvertise_poll(readvertise, now + 50 * S);
    expect_expressed(1, "/localhost/nlsr/rib/unregister /a origin=0");
}

Test(readvertise, answer_that_is_none_counts_as_a_failure)
{
    nlsr_comes();
    create(readvertise_clients);
    rib_set(&bed, "/a", 256, CLIENT, 7, RIB_CHILD_INHERIT);
    readvertise_poll(readvertise, 1);
    n_expressed = 0;
    expressed[0].done(expressed[0].ctx, (const uint8_t *)"\x65\x01", 2);
    cr_expect_eq(readvertise_poll(readvertise, 1), 50 * S);
    refuse_to_express = true;
    cr_expect_eq(readvertise_poll(readvertise, 1 + 50 * S), 100 * S);
}

Test(readvertise, routes_that_come_and_go_meanwhile_are_caught_up_with)
{
    nlsr_comes();
    create(readvertise_clients);
    rib_set(&bed, "/a", 256, CLIENT, 7, RIB_CHILD_INHERIT);
    readvertise_poll(readvertise, 1);
    rib_face_remove(bed.rib, 256);
    readvertise_poll(readvertise, 1);
    cr_expect_eq(n_expressed, 1, "one command at a time");
    answer(200);
    readvertise_poll(readvertise, 1);
    expect_expressed(1, "/localhost/nlsr/rib/unregister /a origin=0");
    rib_set(&bed, "/a", 256, CLIENT, 7, RIB_CHILD_INHERIT);
    answer(200);
    readvertise_poll(readvertise, 1);
    expect_expressed(1, "/localhost/nlsr/rib/register /a origin=0 cost=0 flags=1");
}

Test(readvertise, nothing_is_sent_while_nobody_listens)
{
    create(readvertise_clients);
    rib_set(&bed, "/a", 256, CLIENT, 7, RIB_CHILD_INHERIT);
    rib_set(&bed, "/b", 257, CLIENT, 7, RIB_CHILD_INHERIT);
    cr_expect_eq(readvertise_poll(readvertise, 1), UINT64_MAX);
    cr_expect_eq(n_expressed, 0);
    nlsr_comes();
    readvertise_poll(readvertise, 1);
    cr_expect_eq(n_expressed, 2);
    answer(200);
    answer(200);
    readvertise_poll(readvertise, 1);
    rib_face_remove(bed.rib, 900);
    rib_face_remove(bed.rib, 257);
    cr_expect_eq(readvertise_poll(readvertise, 1), UINT64_MAX);
    struct readvertise_counters counters;
    readvertise_counters(readvertise, &counters);
    cr_expect_eq(counters.n_prefixes, 1, "withdrawn with who was told");
    cr_expect_eq(readvertise_poll(readvertise, 400 * S), UINT64_MAX);
    cr_expect_eq(n_expressed, 0);
    nlsr_comes();
    readvertise_poll(readvertise, 401 * S);
    expect_expressed(1, "/localhost/nlsr/rib/register /a origin=0 cost=0 flags=1");
}

Test(readvertise, who_goes_with_a_command_under_way_may_come_back)
{
    nlsr_comes();
    create(readvertise_clients);
    rib_set(&bed, "/a", 256, CLIENT, 7, RIB_CHILD_INHERIT);
    readvertise_poll(readvertise, 1);
    rib_face_remove(bed.rib, 900);
    cr_expect_eq(readvertise_poll(readvertise, 1), UINT64_MAX);
    answer(0);
    cr_expect_eq(readvertise_poll(readvertise, 1), 50 * S);
    cr_expect_eq(readvertise_poll(readvertise, 60 * S), UINT64_MAX);
    cr_expect_eq(n_expressed, 0);
    nlsr_comes();
    readvertise_poll(readvertise, 61 * S);
    cr_expect_eq(n_expressed, 1);
}

Test(readvertise, routes_there_before_are_told_too)
{
    nlsr_comes();
    rib_set(&bed, "/a", 256, CLIENT, 7, RIB_CHILD_INHERIT);
    create(readvertise_clients);
    readvertise_poll(readvertise, 1);
    cr_expect_eq(n_expressed, 1);
}

Test(readvertise, thousands_of_routes_go_out_64_at_a_time)
{
    struct readvertise_counters counters;
    char uri[32];
    nlsr_comes();
    create(readvertise_clients);
    for (unsigned i = 0; i < 1000; i++) {
        snprintf(uri, sizeof uri, "/r/%u", i);
        rib_set(&bed, uri, 256, CLIENT, 7, RIB_CHILD_INHERIT);
    }
    unsigned answers = 0;
    do {
        readvertise_poll(readvertise, 1);
        cr_assert_leq(n_expressed, 64);
        if (n_expressed == 0)
            break;
        answer(200);
    } while (answers++ < 5000);
    readvertise_counters(readvertise, &counters);
    cr_expect_eq(counters.registered, 1000);
    cr_expect_eq(answers, 1000);
    rib_face_remove(bed.rib, 256);
    for (answers = 0; answers < 5000; answers++) {
        readvertise_poll(readvertise, 1);
        if (n_expressed == 0)
            break;
        answer(200);
    }
    readvertise_counters(readvertise, &counters);
    cr_expect_eq(counters.unregistered, 1000);
    cr_expect_eq(counters.n_prefixes, 0);
}

Test(readvertise, gateway_is_told_of_applications_routes)
{
    create(readvertise_to_gateway);
    rib_set(&bed, "/localhop/nfd", 300, RIB_ORIGIN_AUTOCONF, 0, RIB_CHILD_INHERIT);
    rib_set(&bed, "/a", 256, RIB_ORIGIN_APP, 7, RIB_CHILD_INHERIT);
    rib_set(&bed, "/", 256, RIB_ORIGIN_APP, 7, RIB_CHILD_INHERIT);
    rib_set(&bed, "/b", 256, RIB_ORIGIN_NLSR, 7, RIB_CHILD_INHERIT);
    rib_set(&bed, "/localhop/c", 256, RIB_ORIGIN_APP, 7, RIB_CHILD_INHERIT);
    readvertise_poll(readvertise, 1);
    expect_expressed(1, "/localhop/nfd/rib/register /a origin=65 cost=15 flags=1");
}

Test(readvertise, identity_stands_for_the_routes_below_it)
{
    uint8_t identity[64];
    int len = ndn_name_from_uri("/net/me", identity, sizeof identity);
    struct mgmt_octets own = {identity, (uint16_t)len}, prefix;
    struct rib_route route = {.origin = RIB_ORIGIN_NLSR};
    cr_expect(readvertise_to_gateway(own, rib_name("/net/me/app"), &route, &prefix));
    cr_expect_eq(prefix.len, own.len);
    cr_expect_not(readvertise_to_gateway(own, rib_name("/net/you"), &route, &prefix));
    cr_expect_not(readvertise_to_gateway(own, rib_name("/net"), &route, &prefix));
    cr_expect_not(readvertise_to_gateway(own, rib_name("/"), &route, &prefix));
}

static int configure(const char *text, struct readvertise *got[READVERTISE_MAX], char err[256])
{
    struct conf *conf;
    cr_assert_eq(conf_load_text("test", text, strlen(text), &conf, stderr), 0);
    int rc = readvertise_configure(got, conf, bed.rib, NULL, err);
    conf_free(conf);
    return rc;
}

Test(readvertise, configuration_says_who_is_told)
{
    struct readvertise *got[READVERTISE_MAX];
    char err[256];
    cr_expect_eq(configure("rib: { };", got, err), 0);
    cr_expect_null(got[READVERTISE_NLSR]);
    cr_expect_null(got[READVERTISE_PROPAGATE]);
    cr_assert_eq(
        configure("rib: { readvertise-nlsr = true; auto-prefix-propagate = true; propagate-cost = 9; };", got, err), 0);
    nlsr_comes();
    rib_set(&bed, "/localhop/nfd", 300, RIB_ORIGIN_AUTOCONF, 0, RIB_CHILD_INHERIT);
    rib_set(&bed, "/a", 256, CLIENT, 7, RIB_CHILD_INHERIT);
    for (unsigned i = 0; i < READVERTISE_MAX; i++)
        readvertise_poll(got[i], 1);
    cr_assert_eq(n_expressed, 2);
    cr_expect_str_eq(expressed[0].text, "/localhost/nlsr/rib/register /a origin=0 cost=0 flags=1");
    cr_expect_str_eq(expressed[1].text, "/localhop/nfd/rib/register /a origin=65 cost=9 flags=1");
    // The RIB is gone first, as they listen to it.
    rib_bed_free(&bed);
    for (unsigned i = 0; i < READVERTISE_MAX; i++)
        readvertise_destroy(got[i]);
    setup();
}

Test(readvertise, certificate_without_its_key_file_is_refused)
{
    struct readvertise *got[READVERTISE_MAX];
    char err[256] = "";
    cr_expect_eq(configure("rib: { auto-prefix-propagate = true; propagate-key = \"/nowhere/key.pem\"; "
                           "propagate-certificate = \"/net/me/KEY/1/self/v=1\"; };",
                           got, err),
                 -ENOENT);
    cr_expect_neq(strstr(err, "/nowhere/key.pem"), NULL, "%s", err);
    cr_expect_eq(configure("rib: { auto-prefix-propagate = true; propagate-key = \"/nowhere/key.pem\"; "
                           "propagate-certificate = \"/net/me\"; };",
                           got, err),
                 -EINVAL);
    cr_expect_str_eq(err, "/net/me is no name of a certificate");
}

static void ignore(void *ctx, bool added, struct mgmt_octets name, const struct rib_route *route)
{
    (void)ctx, (void)added, (void)name, (void)route;
}

Test(readvertise, what_cannot_be_is_refused_with_words)
{
    static uint8_t octets[NDN_NAME_MAX + 1];
    char err[256] = "";
    struct mgmt_octets to = rib_name("/localhost/nlsr");
    struct readvertise_config config = {.rib = bed.rib, .to = {octets, sizeof octets}, .policy = readvertise_clients};
    struct readvertise *made = NULL;
    cr_expect_eq(readvertise_create(&made, &config, err), -EINVAL);
    cr_expect_str_eq(err, "a name is too long");
    config.to = to;
    config.identity = (struct mgmt_octets){octets, sizeof octets};
    cr_expect_eq(readvertise_create(&made, &config, err), -EINVAL);
    config.identity = (struct mgmt_octets){NULL, 0};
    while (rib_listen(bed.rib, ignore, NULL) == 0)
        ;
    cr_expect_eq(readvertise_create(&made, &config, err), -ENOSPC);
    cr_expect_str_eq(err, "too many listen to the RIB");
    cr_expect_null(made);
}

Test(readvertise, prefix_that_no_command_has_room_for_fails)
{
    // As long as a name may be: its command would be longer.
    static uint8_t name[NDN_NAME_MAX];
    struct readvertise_counters counters;
    for (unsigned i = 0; i < 10; i++) {
        uint8_t *comp = name + i * 202;
        comp[0] = 8;
        comp[1] = 200;
    }
    struct rib_route route = {.face = 256, .origin = CLIENT};
    nlsr_comes();
    create(readvertise_clients);
    cr_assert_eq(rib_register(bed.rib, (struct mgmt_octets){name, 2020}, &route), 0);
    cr_expect_eq(readvertise_poll(readvertise, 1), 50 * S);
    cr_expect_eq(n_expressed, 0);
    readvertise_counters(readvertise, &counters);
    cr_expect_eq(counters.failed, 1);
}
