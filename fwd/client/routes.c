// SPDX-License-Identifier: Apache-2.0
/* `pitlane route ...` and `pitlane fib list`. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "fwd/client/manage.h"
#include "fwd/client/manage_priv.h"
#include "fwd/client/nfd_text.h"
#include "fwd/client/text_table.h"
#include "fwd/mgmt/face_uri.h"
#include "parser/ndn_name.h"

const struct text_column route_columns[] = {
    {"prefix", "PREFIX", TEXT_STRING},
    {"face", "FACE", TEXT_NUMBER},
    {"origin", "ORIGIN", TEXT_STRING},
    {"cost", "COST", TEXT_NUMBER},
    {"flags", "FLAGS", TEXT_STRING},
    {"expires_ms", "EXPIRES", TEXT_DURATION},
    {0},
};

/** Which routes are wanted. */
struct route_filter {
    const struct mgmt_octets *prefix; /**< NULL: all */
    const struct face_set *faces;     /**< NULL: all */
    bool has_origin;
    uint64_t origin;
};

static bool route_matches(const struct route_filter *filter, const struct mgmt_route *route)
{
    if (filter->has_origin && route->origin != filter->origin)
        return false;
    if (filter->faces == NULL)
        return true;
    for (size_t i = 0; i < filter->faces->n; i++) {
        if (filter->faces->face[i].face_id == route->face_id)
            return true;
    }
    return false;
}

static json_t *route_object(const json_t *prefix, const struct mgmt_route *route)
{
    char origin[24], flags[64];
    nfd_origin_text(route->origin, origin);
    nfd_route_flags_text(route->flags, flags);
    json_t *o = json_pack("{sO so ss so ss}", "prefix", prefix, "face", manage_number(route->face_id), "origin", origin,
                          "cost", manage_number(route->cost), "flags", flags);
    if (route->has_expiration)
        json_object_set_new(o, "expires_ms", manage_number(route->expiration_ms));
    return o;
}

/** The routes of one RibEntry. @return 0, -EINVAL */
static int add_routes(const uint8_t *item, size_t len, const struct route_filter *filter, json_t *rows)
{
    struct mgmt_octets name, records;
    struct mgmt_route route;
    if (mgmt_entry_decode(item, len, &name, &records) != 0)
        return -EINVAL;
    if (filter->prefix != NULL &&
        (name.len != filter->prefix->len || (name.len > 0 && memcmp(name.p, filter->prefix->p, name.len) != 0)))
        return 0;
    json_t *prefix = manage_name(name);
    int ret;
    while ((ret = mgmt_route_take(&records, &route)) == 1) {
        if (route_matches(filter, &route))
            json_array_append_new(rows, route_object(prefix, &route));
    }
    json_decref(prefix);
    return ret;
}

static int fetch_routes(const struct command_line *line, struct manager *manager, const struct route_filter *filter,
                        json_t **rows)
{
    struct manager_dataset dataset;
    struct manager_answer answer;
    if (manager_dataset(manager, "rib", "list", NULL, 0, &dataset, &answer) != MANAGER_OK)
        return manage_fail(line, &answer, "fetching RIB dataset");
    *rows = json_array();
    const uint8_t *item;
    size_t off = 0;
    int len, ret = 0;
    while (ret == 0 && (len = manager_dataset_next(&dataset, &off, &item)) != 0)
        ret = len > 0 ? add_routes(item, (size_t)len, filter, *rows) : len;
    manager_dataset_free(&dataset);
    if (ret == 0)
        return COMMAND_OK;
    json_decref(*rows);
    fprintf(line->err, "pitlane: the forwarder's list of routes does not decode\n");
    return COMMAND_FAILED;
}

/** The argument "origin". Complains. @return 1 when given, 0, -EINVAL */
static int arg_origin(const struct command_line *line, uint64_t *origin)
{
    const char *text = command_arg(line, "origin");
    if (text == NULL)
        return 0;
    if (nfd_origin_parse(text, origin) == 0)
        return 1;
    fprintf(line->err, "pitlane: origin %s: app, autoreg, client, autoconf, nlsr, prefixann, static or a number\n",
            text);
    return -EINVAL;
}

/** At least one route must be there when the user asked for particular ones. */
static int check_found(const struct command_line *line, json_t *rows)
{
    if (json_array_size(rows) > 0)
        return COMMAND_OK;
    fprintf(line->err, "Route not found\n");
    json_decref(rows);
    return COMMAND_FAILED;
}

int route_rows(const struct command_line *line, struct manager *manager, json_t **rows)
{
    struct route_filter filter = {0};
    struct face_set faces = {0};
    const char *nexthop = command_arg(line, "nexthop");
    int given = arg_origin(line, &filter.origin);
    if (given < 0)
        return COMMAND_USAGE;
    filter.has_origin = given == 1;
    int status = COMMAND_OK;
    if (nexthop != NULL) {
        status = face_find(line, manager, nexthop, true, false, &faces);
        filter.faces = &faces;
    }
    if (status == COMMAND_OK)
        status = fetch_routes(line, manager, &filter, rows);
    face_set_free(&faces);
    if (status == COMMAND_OK && (nexthop != NULL || filter.has_origin))
        status = check_found(line, *rows);
    return status;
}

int route_show(const struct command_line *line)
{
    uint8_t octets[NDN_NAME_MAX];
    struct mgmt_octets prefix;
    const struct route_filter filter = {.prefix = &prefix};
    struct manager *manager;
    json_t *rows;
    if (manage_arg_name(line, "prefix", octets, sizeof octets, &prefix) != 0)
        return COMMAND_USAGE;
    int status = manage_open(line, false, &manager);
    if (status == COMMAND_OK)
        status = fetch_routes(line, manager, &filter, &rows);
    if (status == COMMAND_OK)
        status = check_found(line, rows);
    return status == COMMAND_OK ? manage_rows(line, "routes", route_columns, rows) : status;
}

/** The face of a new route; with a FaceUri that no face has, one is made. */
static int nexthop_face(const struct command_line *line, struct manager *manager, uint64_t *face_id)
{
    const char *nexthop = command_arg(line, "nexthop");
    struct face_set faces;
    char uri[256];
    int status = face_find(line, manager, nexthop, false, true, &faces);
    if (status != COMMAND_OK)
        return status;
    if (faces.n == 1)
        *face_id = faces.face[0].face_id;
    else if (face_canonize(line, nexthop, "remote", uri) != 0)
        status = COMMAND_FAILED;
    else
        status = face_create_for_route(line, manager, uri, face_id);
    face_set_free(&faces);
    return status;
}

int route_add(const struct command_line *line)
{
    uint8_t octets[NDN_NAME_MAX];
    struct mgmt_params params = {
        .has = MGMT_HAS_NAME | MGMT_HAS_FACE_ID | MGMT_HAS_ORIGIN | MGMT_HAS_COST | MGMT_HAS_FLAGS,
        .origin = NFD_ORIGIN_STATIC,
        .flags = NFD_CHILD_INHERIT,
    };
    struct manager_answer answer;
    struct manager *manager;
    if (manage_arg_name(line, "prefix", octets, sizeof octets, &params.name) != 0 ||
        arg_origin(line, &params.origin) < 0 || command_arg_number(line, "cost", 0, UINT64_MAX, 0, &params.cost) != 0 ||
        command_arg_number(line, "expires", 0, UINT64_MAX, 0, &params.expiration_ms) != 0)
        return COMMAND_USAGE;
    if (command_arg(line, "expires") != NULL)
        params.has |= MGMT_HAS_EXPIRATION_PERIOD;
    if (command_arg(line, "no-inherit") != NULL)
        params.flags &= ~(uint64_t)NFD_CHILD_INHERIT;
    if (command_arg(line, "capture") != NULL)
        params.flags |= NFD_CAPTURE;
    int status = manage_open(line, false, &manager);
    if (status == COMMAND_OK)
        status = nexthop_face(line, manager, &params.face_id);
    if (status != COMMAND_OK)
        return status;
    if (manager_command(manager, "rib", "register", &params, &answer) != 200)
        return manage_fail(line, &answer, "adding route");
    // What the answer leaves out is as it was asked for.
    const struct mgmt_params *got = &answer.params;
    char origin[24], flags[64];
    nfd_origin_text((got->has & MGMT_HAS_ORIGIN) != 0 ? got->origin : params.origin, origin);
    nfd_route_flags_text((got->has & MGMT_HAS_FLAGS) != 0 ? got->flags : params.flags, flags);
    json_t *expires = (got->has & MGMT_HAS_EXPIRATION_PERIOD) != 0 ? manage_number(got->expiration_ms) : json_null();
    return manage_result(
        line, json_pack("{ss so so ss so ss so}", "result", "route-add-accepted", "prefix",
                        manage_name((got->has & MGMT_HAS_NAME) != 0 ? got->name : params.name), "nexthop",
                        manage_number((got->has & MGMT_HAS_FACE_ID) != 0 ? got->face_id : params.face_id), "origin",
                        origin, "cost", manage_number((got->has & MGMT_HAS_COST) != 0 ? got->cost : params.cost),
                        "flags", flags, "expires", expires));
}

int route_remove(const struct command_line *line)
{
    uint8_t octets[NDN_NAME_MAX];
    struct mgmt_params params = {
        .has = MGMT_HAS_NAME | MGMT_HAS_FACE_ID | MGMT_HAS_ORIGIN,
        .origin = NFD_ORIGIN_STATIC,
    };
    struct manager_answer answer;
    struct manager *manager;
    struct face_set faces;
    if (manage_arg_name(line, "prefix", octets, sizeof octets, &params.name) != 0 ||
        arg_origin(line, &params.origin) < 0)
        return COMMAND_USAGE;
    int status = manage_open(line, false, &manager);
    if (status == COMMAND_OK)
        status = face_find(line, manager, command_arg(line, "nexthop"), true, false, &faces);
    if (status != COMMAND_OK)
        return status;
    char origin[24];
    nfd_origin_text(params.origin, origin);
    for (size_t i = 0; i < faces.n && status == COMMAND_OK; i++) {
        params.face_id = faces.face[i].face_id;
        if (manager_command(manager, "rib", "unregister", &params, &answer) != 200)
            status = manage_fail(line, &answer, "removing route");
        else
            status = manage_result(line, json_pack("{ss so so ss}", "result", "route-removed", "prefix",
                                                   manage_name(params.name), "nexthop", manage_number(params.face_id),
                                                   "origin", origin));
    }
    face_set_free(&faces);
    return status;
}

/** One FibEntry as a row. @return NULL when it does not decode */
static json_t *fib_object(const uint8_t *item, size_t len)
{
    struct mgmt_octets name, records;
    struct mgmt_next_hop hop;
    char text[2048] = "";
    size_t used = 0;
    int ret;
    if (mgmt_entry_decode(item, len, &name, &records) != 0)
        return NULL;
    json_t *hops = json_array();
    while ((ret = mgmt_next_hop_take(&records, &hop)) == 1) {
        json_array_append_new(
            hops, json_pack("{so so}", "face", manage_number(hop.face_id), "cost", manage_number(hop.cost)));
        if (used < sizeof text)
            used += (size_t)snprintf(text + used, sizeof text - used, "%s%" PRIu64 " (cost %" PRIu64 ")",
                                     used > 0 ? ", " : "", hop.face_id, hop.cost);
    }
    if (ret != 0) {
        json_decref(hops);
        return NULL;
    }
    return json_pack("{so so ss}", "prefix", manage_name(name), "nexthops", hops, "text", text);
}

const struct text_column fib_columns[] = {
    {"prefix", "PREFIX", TEXT_STRING},
    {"text", "NEXTHOPS", TEXT_STRING},
    {0},
};

int fib_rows(const struct command_line *line, struct manager *manager, json_t **rows)
{
    struct manager_dataset dataset;
    struct manager_answer answer;
    if (manager_dataset(manager, "fib", "list", NULL, 0, &dataset, &answer) != MANAGER_OK)
        return manage_fail(line, &answer, "fetching FIB dataset");
    *rows = json_array();
    const uint8_t *item;
    size_t off = 0;
    int len;
    while ((len = manager_dataset_next(&dataset, &off, &item)) > 0) {
        json_t *row = fib_object(item, (size_t)len);
        if (row == NULL) {
            len = -EINVAL;
            break;
        }
        // The text is for the table alone.
        if (command_has(line, "json"))
            json_object_del(row, "text");
        json_array_append_new(*rows, row);
    }
    manager_dataset_free(&dataset);
    if (len == 0)
        return COMMAND_OK;
    json_decref(*rows);
    fprintf(line->err, "pitlane: the forwarder's FIB does not decode\n");
    return COMMAND_FAILED;
}

int fib_list(const struct command_line *line)
{
    struct manager *manager;
    json_t *rows;
    int status = manage_open(line, false, &manager);
    if (status == COMMAND_OK)
        status = fib_rows(line, manager, &rows);
    return status == COMMAND_OK ? manage_rows(line, "fib", fib_columns, rows) : status;
}
