// SPDX-License-Identifier: Apache-2.0
#include <criterion/criterion.h>

#include <errno.h>
#include <string.h>

#include "fwd/mgmt/wire.h"
#include "test/unit/fwd/hex.h"
#include "test/unit/parser/guard.h"

/* Octets as the reference forwarder writes them. */

#define FACE_INTERNAL                                                                                              \
    "8053690101720b696e7465726e616c3a2f2f810b696e7465726e616c3a2f2f840101850102860100870405f5e1008804000100008902" \
    "226090010091016f97010092016f9301009801009402552b950223b26c0101"
#define FIB_ENTRY  "800f0704080262758107690201036a0100"
#define RIB_ENTRY  "8021070a08056e646e74730801708113690201226f01416a01006c01026d0400124d76"
#define CS_INFO    "8010830203e86c010387011a81010082017f"
#define STRATEGY   "802f07006b2b072908096c6f63616c686f737408036e666408087374726174656779080a626573742d726f757465360105"
#define CHANNEL    "82158113756470343a2f2f302e302e302e303a36333633"
#define FACE_EVENT "c027c1010169020100720766643a2f2f32388109756e69783a2f2f2f618401018501018601006c0100"
#define GENERAL                                                                                                    \
    "801232342e30372d33312d6766653034346365338108000001a22d215a8d8208000001a22d217dfb83010d8401058501028601008701" \
    "1a9001759101759701009201759301739801009901739a0100"
#define FILTER     "9606830475647034"
#define REGISTERED "6601c867024f4b681f070a08056e646e7473080170690201226f01416a01006c01026d0400124f80"
#define CREATED                                                                                                        \
    "684a690201237216756470343a2f2f3139382e31382e322e393a363336338116756470343a2f2f3139382e31382e322e313a363336336c01" \
    "04850100870405f5e10088040001000089022260"

enum item {
    ITEM_FACE,
    ITEM_FIB,
    ITEM_RIB,
    ITEM_CS,
    ITEM_STRATEGY,
    ITEM_CHANNEL,
    ITEM_EVENT,
    ITEM_GENERAL,
    ITEM_FILTER,
    ITEM_PARAMS,
};

static const struct {
    enum item item;
    const char *hex;
} items[] = {
    {ITEM_FACE, FACE_INTERNAL}, {ITEM_FIB, FIB_ENTRY},   {ITEM_RIB, RIB_ENTRY},    {ITEM_CS, CS_INFO},
    {ITEM_STRATEGY, STRATEGY},  {ITEM_CHANNEL, CHANNEL}, {ITEM_EVENT, FACE_EVENT}, {ITEM_GENERAL, GENERAL},
    {ITEM_FILTER, FILTER},      {ITEM_PARAMS, CREATED},
};
#define N_ITEMS (sizeof items / sizeof *items)

/* Decode an item and, when that succeeds, write it again. @return the decoder's result */
static int again(enum item item, const uint8_t *p, size_t len, uint8_t *out, size_t size, size_t *n)
{
    struct mgmt_face_status face;
    struct mgmt_octets name, rest, uri;
    struct mgmt_next_hop hops[8];
    struct mgmt_route routes[8];
    struct mgmt_cs_info cs;
    struct mgmt_strategy_choice choice;
    struct mgmt_face_notification event;
    struct mgmt_general_status general;
    struct mgmt_face_filter filter;
    struct mgmt_params params;
    char text[256];
    int rc, more = 0;
    unsigned i = 0;
    *n = 0;
    switch (item) {
    case ITEM_FACE:
        rc = mgmt_face_status_decode(p, len, &face);
        if (rc == 0)
            *n = mgmt_face_status_encode(out, size, &face);
        return rc;
    case ITEM_FIB:
        rc = mgmt_entry_decode(p, len, &name, &rest);
        while (rc == 0 && i < 8 && (more = mgmt_next_hop_take(&rest, &hops[i])) == 1)
            i++;
        if (rc == 0 && more == 0)
            *n = mgmt_fib_entry_encode(out, size, name, hops, i);
        return rc != 0 ? rc : more;
    case ITEM_RIB:
        rc = mgmt_entry_decode(p, len, &name, &rest);
        while (rc == 0 && i < 8 && (more = mgmt_route_take(&rest, &routes[i])) == 1)
            i++;
        if (rc == 0 && more == 0)
            *n = mgmt_rib_entry_encode(out, size, name, routes, i);
        return rc != 0 ? rc : more;
    case ITEM_CS:
        rc = mgmt_cs_info_decode(p, len, &cs);
        if (rc == 0)
            *n = mgmt_cs_info_encode(out, size, &cs);
        return rc;
    case ITEM_STRATEGY:
        rc = mgmt_strategy_choice_decode(p, len, &choice);
        if (rc == 0)
            *n = mgmt_strategy_choice_encode(out, size, &choice);
        return rc;
    case ITEM_CHANNEL:
        rc = mgmt_channel_decode(p, len, &uri);
        if (rc == 0 && uri.len < sizeof text) {
            memcpy(text, uri.p, uri.len);
            text[uri.len] = 0;
            *n = mgmt_channel_encode(out, size, text);
        }
        return rc;
    case ITEM_EVENT:
        rc = mgmt_face_notification_decode(p, len, &event);
        if (rc == 0)
            *n = mgmt_face_notification_encode(out, size, &event);
        return rc;
    case ITEM_GENERAL:
        rc = mgmt_general_status_decode(p, len, &general);
        if (rc == 0)
            *n = mgmt_general_status_encode(out, size, &general);
        return rc;
    case ITEM_FILTER:
        rc = mgmt_face_filter_decode(p, len, &filter);
        if (rc == 0)
            *n = mgmt_face_filter_encode(out, size, &filter);
        return rc;
    default:
        if (len < 2)
            return -EINVAL;
        rc = mgmt_params_decode(p + 2, len - 2, &params);
        if (rc == 0)
            *n = mgmt_params_encode(out, size, &params);
        return rc;
    }
}

Test(mgmt_wire, items_are_written_as_they_were_read)
{
    for (size_t i = 0; i < N_ITEMS; i++) {
        uint8_t octets[512], out[512];
        size_t len = hex_octets(items[i].hex, octets, sizeof octets), n;
        cr_assert_eq(again(items[i].item, octets, len, out, sizeof out, &n), 0, "%zu", i);
        cr_assert_eq(n, len, "%zu: %zu octets of %zu", i, n, len);
        cr_assert_arr_eq(out, octets, len, "%zu", i);
        cr_assert_eq(again(items[i].item, octets, len, out, len - 1, &n), 0);
        cr_assert_eq(n, 0, "%zu: no room for the last octet", i);
    }
}

Test(mgmt_wire, cut_items_are_refused_without_a_look_past_the_end)
{
    struct guard guard = guard_make(512);
    for (size_t i = 0; i < N_ITEMS; i++) {
        uint8_t octets[512], out[512];
        size_t len = hex_octets(items[i].hex, octets, sizeof octets), n;
        for (size_t cut = 0; cut < len; cut++) {
            int rc = again(items[i].item, guard_copy(&guard, octets, cut), cut, out, sizeof out, &n);
            // Elements of ControlParameters are all optional: it may be cut between two of them.
            if (items[i].item != ITEM_PARAMS)
                cr_assert_eq(rc, -EINVAL, "%zu cut to %zu", i, cut);
        }
    }
}

Test(mgmt_wire, octets_behind_an_item_are_refused)
{
    for (size_t i = 0; i < N_ITEMS; i++) {
        uint8_t octets[512], out[512];
        size_t len = hex_octets(items[i].hex, octets, sizeof octets), n;
        octets[len] = 1;
        cr_assert_eq(again(items[i].item, octets, len + 1, out, sizeof out, &n), -EINVAL, "%zu", i);
    }
}

Test(mgmt_wire, changed_octets_never_give_what_cannot_be_written)
{
    for (size_t i = 0; i < N_ITEMS; i++) {
        uint8_t octets[512], out[1024], once_more[1024];
        size_t len = hex_octets(items[i].hex, octets, sizeof octets), n, m;
        for (size_t at = 0; at < len; at++) {
            for (unsigned value = 0; value < 256; value++) {
                uint8_t was = octets[at];
                octets[at] = (uint8_t)value;
                if (again(items[i].item, octets, len, out, sizeof out, &n) == 0 && n > 0) {
                    cr_assert_eq(again(items[i].item, out, n, once_more, sizeof once_more, &m), 0);
                    cr_assert(m == n && memcmp(out, once_more, n) == 0, "%zu: octet %zu as %u", i, at, value);
                }
                octets[at] = was;
            }
        }
    }
}

struct params_case {
    const char *hex; /**< TLV-VALUE of ControlParameters */
    int rc;
    uint32_t has;
};

Test(mgmt_wire, parameters)
{
    const struct params_case cases[] = {
        {"", 0, 0},
        {"0700", 0, MGMT_HAS_NAME},
        {"0703080161", 0, MGMT_HAS_NAME},
        {"0703080161690100", 0, MGMT_HAS_NAME | MGMT_HAS_FACE_ID},
        {"6901007203616263", 0, MGMT_HAS_FACE_ID | MGMT_HAS_URI},
        {"6b0207006d0107", 0, MGMT_HAS_STRATEGY | MGMT_HAS_EXPIRATION_PERIOD},
        {"8908ffffffffffffffff", 0, MGMT_HAS_MTU},
        {"690300ffff", -EINVAL, 0},             // no NonNegativeInteger
        {"6900", -EINVAL, 0},                   //
        {"6901", -EINVAL, 0},                   // cut
        {"6902ff", -EINVAL, 0},                 //
        {"07030801616a0100690101", -EINVAL, 0}, // wrong order
        {"6901016a01006a0101", -EINVAL, 0},     // twice
        {"690101690101", -EINVAL, 0},
        {"f00100690101", 0, MGMT_HAS_FACE_ID}, // unknown, ignored
        {"f10100690101", 0, MGMT_HAS_FACE_ID}, // unknown and critical: as NFD
        {"1f00", 0, 0},
        {"0000", -EINVAL, 0},               //
        {"07020001", -EINVAL, 0},           // component of type 0
        {"0703080261", -EINVAL, 0},         // component cut
        {"6b03080161", -EINVAL, 0},         // Strategy without Name
        {"6b00", -EINVAL, 0},               //
        {"6b0407000700", -EINVAL, 0},       // two of them
        {"fd0069010169010100", -EINVAL, 0}, // number not in shortest form
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint8_t octets[64];
        size_t len = hex_octets(cases[i].hex, octets, sizeof octets);
        struct mgmt_params params = {.has = 0xdead};
        cr_assert_eq(mgmt_params_decode(octets, len, &params), cases[i].rc, "%s", cases[i].hex);
        cr_assert_eq(params.has, cases[i].rc == 0 ? cases[i].has : 0xdead, "%s", cases[i].hex);
    }
}

Test(mgmt_wire, parameters_hold_their_values)
{
    uint8_t octets[256];
    size_t len = hex_octets(CREATED, octets, sizeof octets);
    struct mgmt_params params;
    cr_assert_eq(mgmt_params_decode(octets + 2, len - 2, &params), 0);
    cr_assert_eq(params.face_id, 0x123);
    cr_assert_arr_eq(params.uri.p, "udp4://198.18.2.9:6363", 22);
    cr_assert_eq(params.uri.len, 22);
    cr_assert_arr_eq(params.local_uri.p, "udp4://198.18.2.1:6363", 22);
    cr_assert_eq(params.flags, 4);
    cr_assert_eq(params.persistency, 0);
    cr_assert_eq(params.congestion_interval_ns, 100000000);
    cr_assert_eq(params.congestion_threshold, 65536);
    cr_assert_eq(params.mtu, 8800);
}

Test(mgmt_wire, a_strategy_is_the_name_inside)
{
    uint8_t octets[64];
    size_t len = hex_octets("6b0707050803612f62", octets, sizeof octets);
    struct mgmt_params params;
    cr_assert_eq(mgmt_params_decode(octets, len, &params), 0);
    cr_assert_eq(params.strategy.len, 5);
    cr_assert_arr_eq(params.strategy.p,
                     "\x08\x03"
                     "a/b",
                     5);
}

Test(mgmt_wire, responses_are_those_of_the_reference_forwarder)
{
    uint8_t octets[128], out[128];
    size_t len = hex_octets("6528" REGISTERED, octets, sizeof octets);
    struct mgmt_response response;
    cr_assert_eq(mgmt_response_decode(octets, len, &response), 0);
    cr_assert_eq(response.code, 200);
    cr_assert_eq(response.text.len, 2);
    struct mgmt_params params;
    cr_assert_eq(response.body.p[0], MGMT_CONTROL_PARAMETERS);
    cr_assert_eq(mgmt_params_decode(response.body.p + 2, response.body.len - 2, &params), 0);
    cr_assert_eq(params.origin, 65);
    cr_assert_eq(params.expiration_ms, 1200000);
    cr_assert_eq(mgmt_response_encode(out, sizeof out, 200, "OK", &params), len);
    cr_assert_arr_eq(out, octets, len);
    for (size_t room = 0; room < len; room++)
        cr_assert_eq(mgmt_response_encode(out, room, 200, "OK", &params), 0);

    len = hex_octets("651d6602019467175374726174656779206e6f742072656769737465726564", octets, sizeof octets);
    cr_assert_eq(mgmt_response_decode(octets, len, &response), 0);
    cr_assert_eq(response.code, 404);
    cr_assert_eq(response.body.len, 0);
    cr_assert_eq(mgmt_response_encode(out, sizeof out, 404, "Strategy not registered", NULL), len);
    cr_assert_arr_eq(out, octets, len);
}

Test(mgmt_wire, bad_responses_are_refused)
{
    const char *const cases[] = {
        "",               // nothing
        "6500",           // no StatusCode
        "65036601c8",     // no StatusText
        "650567006601c8", // wrong order
        "6507660300000167"
        "00",                           // code of three octets
        "650c6608ffffffffffffffff6700", // code beyond 32 bits
        "65056601c86700"
        "00",             // octets behind
        "64056601c86700", // another type
        "65066601c86700", // cut
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint8_t octets[64];
        size_t len = hex_octets(cases[i], octets, sizeof octets);
        struct mgmt_response response;
        cr_assert_eq(mgmt_response_decode(octets, len, &response), -EINVAL, "%s", cases[i]);
    }
}

Test(mgmt_wire, records_are_taken_one_by_one)
{
    struct mgmt_route routes[3] = {
        {.face_id = 300, .origin = 255, .cost = 7, .flags = 1, .has_expiration = true, .expiration_ms = 60000},
        {.face_id = 1, .origin = 0, .cost = 0, .flags = 0},
        {.face_id = UINT64_MAX, .origin = 65, .cost = UINT32_MAX, .flags = 2},
    };
    uint8_t out[256];
    const struct mgmt_octets name = {(const uint8_t *)"\x08\x01"
                                                      "a",
                                     3};
    size_t len = mgmt_rib_entry_encode(out, sizeof out, name, routes, 3);
    struct mgmt_octets got, rest;
    struct mgmt_route route;
    cr_assert_eq(mgmt_entry_decode(out, len, &got, &rest), 0);
    cr_assert_eq(got.len, 3);
    for (unsigned i = 0; i < 3; i++) {
        cr_assert_eq(mgmt_route_take(&rest, &route), 1);
        cr_assert_eq(route.face_id, routes[i].face_id);
        cr_assert_eq(route.cost, routes[i].cost);
        cr_assert_eq(route.has_expiration, routes[i].has_expiration);
    }
    cr_assert_eq(mgmt_route_take(&rest, &route), 0);
    // A record of another kind is passed over.
    uint8_t odd[64];
    len = hex_octets("800d0703080161f0008106690101"
                     "6a0101",
                     odd, sizeof odd);
    odd[1] = (uint8_t)(len - 2);
    struct mgmt_next_hop hop;
    cr_assert_eq(mgmt_entry_decode(odd, len, &got, &rest), 0);
    cr_assert_eq(mgmt_next_hop_take(&rest, &hop), 1);
    cr_assert_eq(hop.cost, 1);
    odd[7] = 0xf1;
    cr_assert_eq(mgmt_entry_decode(odd, len, &got, &rest), 0);
    cr_assert_eq(mgmt_next_hop_take(&rest, &hop), 1);
    cr_assert_eq(mgmt_next_hop_take(&rest, &hop), 0);
}

Test(mgmt_wire, each_face_status_is_wrapped_in_its_own_element)
{
    // Public bug report: "Expecting FaceStatus element, but TLV has type 105".
    const struct mgmt_face_status status = {.face_id = 256, .has_mtu = true, .mtu = 1400};
    uint8_t out[256];
    size_t len = mgmt_face_status_encode(out, sizeof out, &status);
    cr_assert_eq(out[0], 128);
    cr_assert_eq(out[1], len - 2);
    cr_assert_eq(out[2], 105);
    struct mgmt_face_status got;
    cr_assert_eq(mgmt_face_status_decode(out + 2, len - 2, &got), -EINVAL, "a status without its wrapper");
}

Test(mgmt_wire, optional_elements_of_a_face_status_are_left_out)
{
    struct mgmt_face_status status = {.face_id = 255}, got;
    uint8_t out[256];
    size_t bare = mgmt_face_status_encode(out, sizeof out, &status);
    cr_assert_eq(mgmt_face_status_decode(out, bare, &got), 0);
    cr_assert(!got.has_expiration && !got.has_mtu && !got.has_congestion_interval && !got.has_congestion_threshold);
    status.has_expiration = true;
    status.expiration_ms = 1;
    status.has_congestion_interval = true;
    status.has_congestion_threshold = true;
    cr_assert_eq(mgmt_face_status_encode(out, sizeof out, &status), bare + 9);
    cr_assert_eq(mgmt_face_status_decode(out, bare + 9, &got), 0);
    cr_assert(got.has_expiration && got.has_congestion_interval && got.has_congestion_threshold && !got.has_mtu);
}

Test(mgmt_wire, filters_hold_what_was_asked_for)
{
    struct mgmt_face_filter filter = {.has_scope = true,
                                      .scope = 1,
                                      .has_link_type = true,
                                      .link_type = 1,
                                      .has_face_id = true,
                                      .face_id = 300,
                                      .has_persistency = true,
                                      .persistency = 2,
                                      .uri = {(const uint8_t *)"udp4://1.2.3.4:6363", 19},
                                      .local_uri = {(const uint8_t *)"dev://a", 7}};
    uint8_t out[128];
    struct mgmt_face_filter got;
    size_t len = mgmt_face_filter_encode(out, sizeof out, &filter);
    cr_assert_eq(mgmt_face_filter_decode(out, len, &got), 0);
    cr_assert(got.has_scope && got.has_link_type && got.has_face_id && got.has_persistency);
    cr_assert_eq(got.persistency, 2);
    cr_assert_eq(got.uri.len, 19);
    cr_assert_eq(got.scheme.len, 0);
    cr_assert_eq(mgmt_face_filter_decode((const uint8_t *)"\x96\x00", 2, &got), 0, "asks for every face");
    cr_assert_eq(mgmt_face_filter_decode((const uint8_t *)"\x97\x00", 2, &got), -EINVAL);
}

Test(mgmt_wire, a_channel_uri_that_fits_nowhere_is_not_written)
{
    static char uri[70000];
    static uint8_t out[80000];
    memset(uri, 'a', sizeof uri - 1);
    cr_assert_eq(mgmt_channel_encode(out, sizeof out, uri), 0);
}
