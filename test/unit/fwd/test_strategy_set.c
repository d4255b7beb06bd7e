// SPDX-License-Identifier: Apache-2.0
/* Strategy instances by name: versions, parameters, numbers. */
#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

#include "conf/conf.h"
#include "fwd/strategy_set.h"
#include "parser/ndn_name.h"

#define P "/localhost/nfd/strategy/"

static struct strategy_set *set;

static void start(void)
{
    cr_assert_eq(strategy_set_create(&set), 0);
}

static void stop(void)
{
    strategy_set_destroy(set);
}

TestSuite(strategy_set, .init = start, .fini = stop);

static int make(const char *uri, uint16_t *number)
{
    uint8_t name[NDN_NAME_MAX];
    char why[128] = "";
    int len = ndn_name_from_uri(uri, name, sizeof name);
    cr_assert_geq(len, 0, "%s", uri);
    int rc = strategy_set_instance(set, name, (uint16_t)len, number, why);
    cr_expect_eq(why[0] != '\0', rc != 0, "%s: \"%s\"", uri, why);
    return rc;
}

static void name_is(uint16_t number, const char *uri)
{
    const uint8_t *name = NULL;
    uint8_t want[NDN_NAME_MAX];
    int len = ndn_name_from_uri(uri, want, sizeof want);
    cr_assert_eq(strategy_set_name(set, number, &name), len, "%s", uri);
    cr_expect_arr_eq(name, want, (size_t)len, "%s", uri);
}

Test(strategy_set, each_name_gives_what_the_reference_forwarder_answers)
{
    static const struct {
        const char *uri;
        int rc;
        const char *name; /* NULL: as given */
    } row[] = {
        {P "best-route", 0, P "best-route/v=5"},
        {P "best-route/v=5", 0, NULL},
        {P "multicast", 0, P "multicast/v=5"},
        {P "multicast/v=5", 0, NULL},
        {P "multicast/v=3", -EINVAL, NULL},
        {P "multicast/v=0", -EINVAL, NULL},
        {P "multicast/%FD%03", -EINVAL, NULL}, // the old way to write a version
        {P "multicast/%FD%06", -EINVAL, NULL},
        {P "multicast/%FD%05", 0, P "multicast/v=5"},
        {P "multicast/v=6", -ENOENT, NULL},
        {P "multicast/v=18446744073709551615", -ENOENT, NULL},
        {P "multicast/54=abc", -ENOENT, NULL}, // three octets are no number
        {P "multicast/54=%00%05", 0, P "multicast/v=5"},
        {P "best-rout", -ENOENT, NULL},
        {P "best-route2", -ENOENT, NULL},
        {P "access", 0, P "access/v=1"},
        {P "asf", 0, P "asf/v=5"},
        {P "random", 0, P "random/v=1"},
        {P "self-learning", 0, P "self-learning/v=1"},
        {P "self-learning/v=1/x~1", -EINVAL, NULL},
        {P "access/v=1/retx-suppression-max~300", -EINVAL, NULL},
        {P "access/v=2", -ENOENT, NULL},
        {P "asf/v=4", -EINVAL, NULL},
        {P "asf/v=5/max-timeouts~0/probing-interval~1000/measurements-lifetime~1001", 0, NULL},
        {P "asf/v=5/probing-interval~999", -EINVAL, NULL},
        {P "asf/v=5/measurements-lifetime~60000", -EINVAL, NULL},
        {P "asf/v=5/probing-interval~300000", -EINVAL, NULL},
        {P "asf/v=5/max-timeouts~-1", -EINVAL, NULL},
        {P "no-such", -ENOENT, NULL},
        {P "no-such/v=1", -ENOENT, NULL},
        {P "54=%05", -ENOENT, NULL},
        {P "8=best-route/x", -ENOENT, NULL},
        {P "best-route/x/v=5", -ENOENT, NULL},
        {P "99=best-route", -ENOENT, NULL},
        {"/localhost/nfd/strategy", -ENOENT, NULL},
        {"/localhost/nfd", -ENOENT, NULL},
        {"/localhost/nfd/strategies/best-route/v=5", -ENOENT, NULL},
        {"/best-route", -ENOENT, NULL},
        {"/a/b/c/d/e/f/g/v=5/x~1", -ENOENT, NULL},
    };
    for (unsigned i = 0; i < RTE_DIM(row); i++) {
        uint16_t number = 4711;
        cr_expect_eq(make(row[i].uri, &number), row[i].rc, "%s", row[i].uri);
        if (row[i].rc == 0)
            name_is(number, row[i].name != NULL ? row[i].name : row[i].uri);
        else
            cr_expect_eq(number, 4711, "%s", row[i].uri);
    }
}

Test(strategy_set, parameters_are_read_or_refused)
{
    static const struct {
        const char *params;
        int rc;
    } row[] = {
        {"retx-suppression-initial~20", 0},
        {"retx-suppression-initial~20/retx-suppression-max~100/retx-suppression-multiplier~1.5", 0},
        {"retx-suppression-multiplier~1", 0},
        {"retx-suppression-multiplier~0.5", -EINVAL},
        {"retx-suppression-multiplier~nan", -EINVAL},
        {"retx-suppression-multiplier~inf", -EINVAL},
        {"retx-suppression-multiplier~1e3", -EINVAL},
        {"retx-suppression-multiplier~1.2.3", -EINVAL},
        {"retx-suppression-multiplier~", -EINVAL},
        {"retx-suppression-multiplier~99999999999999999999999999999999999", -EINVAL},
        {"retx-suppression-initial~0", -EINVAL},
        {"retx-suppression-initial~-1", -EINVAL},
        {"retx-suppression-initial~4294967296", -EINVAL},
        {"retx-suppression-initial~99999999999999999999", -EINVAL},
        {"retx-suppression-initial~1x", -EINVAL},
        {"retx-suppression-initial~", -EINVAL},
        {"retx-suppression-initial", -EINVAL},
        {"~1", -EINVAL},
        {"~", -EINVAL},
        {"...", -EINVAL}, // an empty component
        {"9=retx-suppression-initial~20", -EINVAL},
        {"retx-suppression-initial~300", -EINVAL}, // more than the greatest
        {"retx-suppression-max~9", -EINVAL},
        {"retx-suppression-maximum~300", -EINVAL},
        {"probing-interval~2000", -EINVAL}, // another strategy's
        {"retx-suppression-initial~20/x~1", -EINVAL},
    };
    for (unsigned i = 0; i < RTE_DIM(row); i++) {
        char uri[300];
        snprintf(uri, sizeof uri, P "best-route/v=5/%s", row[i].params);
        uint16_t number;
        cr_expect_eq(make(uri, &number), row[i].rc, "%s", uri);
        if (row[i].rc == 0)
            name_is(number, uri);
    }
    uint16_t number;
    cr_assert_eq(make(P "multicast/v=5/retx-suppression-initial~20/retx-suppression-initial~40", &number), 0);
    cr_expect_eq(strategy_set_list(set)[number]->type, &strategy_multicast);
    cr_expect_eq(strategy_set_list(set)[number]->suppression.initial_ticks,
                 strategy_suppression(40, 1, 1).initial_ticks);
    // Parameters without a version belong to no name there is.
    cr_expect_eq(make(P "best-route/retx-suppression-initial~20", &number), -ENOENT);
}

Test(strategy_set, equal_names_have_one_number_and_number_0_is_the_default)
{
    uint16_t a, b;
    name_is(0, P "best-route/v=5");
    const struct strategy *first = strategy_set_list(set)[0];
    cr_assert_eq(first->type, strategy_default.type);
    cr_assert_eq(first->suppression.max_ticks, strategy_default.suppression.max_ticks);
    cr_assert_eq(make(P "best-route", &a), 0);
    cr_assert_eq(a, 0);
    cr_assert_eq(make(P "multicast", &a), 0);
    cr_assert_eq(make(P "multicast/v=5", &b), 0);
    cr_assert_eq(a, b);
    cr_assert_eq(make(P "multicast/v=5/retx-suppression-max~300", &b), 0);
    cr_assert_neq(a, b);
    cr_assert_eq(strategy_set_list(set)[b]->number, b);
    const uint8_t *name;
    cr_assert_eq(strategy_set_name(set, (uint16_t)(b + 1), &name), 0);
}

Test(strategy_set, short_names_and_uris)
{
    uint16_t number;
    char why[128];
    cr_assert_eq(strategy_set_instance_uri(set, "multicast", &number, why), 0);
    name_is(number, P "multicast/v=5");
    cr_assert_eq(strategy_set_instance_uri(set, "multicast/v=5/retx-suppression-max~300", &number, why), 0);
    name_is(number, P "multicast/v=5/retx-suppression-max~300");
    uint16_t same;
    cr_assert_eq(strategy_set_instance_uri(set, "multicast/retx-suppression-max~300", &same, why), 0);
    cr_assert_eq(same, number);
    char text[STRATEGY_TEXT_MAX];
    (void)strategy_set_text(set, number, text, sizeof text);
    cr_assert_str_eq(text, P "multicast/v=5/retx-suppression-max~300");
    (void)strategy_set_text(set, 999, text, sizeof text);
    cr_assert_str_eq(text, "");
    cr_assert_eq(strategy_set_instance_uri(set, P "best-route/v=5", &number, why), 0);
    cr_assert_eq(number, 0);
    cr_assert_eq(strategy_set_instance_uri(set, "", &number, why), -ENOENT);
    cr_assert_eq(strategy_set_instance_uri(set, "/%zz", &number, why), -ENOENT);
    char longer[1200];
    memset(longer, 'a', sizeof longer - 1);
    longer[sizeof longer - 1] = '\0';
    cr_assert_eq(strategy_set_instance_uri(set, longer, &number, why), -ENOENT);
}

Test(strategy_set, keys_of_the_configuration_are_parameters)
{
    static const struct {
        struct conf_strategy conf;
        const char *name;
    } row[] = {
        {{.strategy = "multicast", .retx_suppression_initial_ms = 10}, P "multicast/v=5"},
        {{.strategy = P "multicast", .retx_suppression_initial_ms = 10}, P "multicast/v=5"},
        {{.strategy = P "multicast/v=5", .retx_suppression_initial_ms = 20},
         P "multicast/v=5/retx-suppression-initial~20/retx-suppression-max~250/retx-suppression-multiplier~2.000000"},
        {{.strategy = "multicast", .retx_suppression_initial_ms = 20},
         P "multicast/v=5/retx-suppression-initial~20/retx-suppression-max~250/retx-suppression-multiplier~2.000000"},
        {{.strategy = P "multicast", .retx_suppression_initial_ms = 20},
         P "multicast/v=5/retx-suppression-initial~20/retx-suppression-max~250/retx-suppression-multiplier~2.000000"},
        {{.strategy = "multicast/v=6", .retx_suppression_initial_ms = 20}, NULL},
        {{.strategy = "/elsewhere/multicast", .retx_suppression_initial_ms = 10}, NULL},
    };
    for (unsigned i = 0; i < RTE_DIM(row); i++) {
        struct conf_strategy conf = row[i].conf;
        conf.retx_suppression_max_ms = 250;
        conf.retx_suppression_multiplier = 2;
        uint16_t number;
        char why[128];
        int rc = strategy_set_instance_conf(set, &conf, &number, why);
        cr_expect_eq(rc, row[i].name != NULL ? 0 : -ENOENT, "row %u: %d", i, rc);
        if (rc == 0)
            name_is(number, row[i].name);
    }
}

Test(strategy_set, there_are_only_so_many_instances)
{
    char uri[200];
    uint16_t number;
    for (unsigned i = 1; i < STRATEGY_INSTANCES_MAX; i++) {
        snprintf(uri, sizeof uri, P "multicast/v=5/retx-suppression-max~%u", 1000 + i);
        cr_assert_eq(make(uri, &number), 0);
        cr_assert_eq(number, i);
    }
    cr_assert_eq(make(P "multicast/v=5/retx-suppression-max~99999", &number), -ENOSPC);
    cr_assert_eq(make(uri, &number), 0); // what there is stays
    cr_assert_eq(number, STRATEGY_INSTANCES_MAX - 1);
}
