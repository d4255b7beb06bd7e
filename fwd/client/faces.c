// SPDX-License-Identifier: Apache-2.0
/* `pitlane face ...` and `pitlane channel list`. */
#include <errno.h>
#include <string.h>

#include "fwd/client/manage.h"
#include "fwd/client/manage_priv.h"
#include "fwd/client/nfd_text.h"
#include "fwd/client/text_table.h"

const struct text_column face_columns[] = {
    {"id", "FACE", TEXT_NUMBER},
    {"name", "NAME", TEXT_STRING},
    {"state", "STATE", TEXT_STRING},
    {"remote", "REMOTE", TEXT_STRING},
    {"local", "LOCAL", TEXT_STRING},
    {"mtu", "MTU", TEXT_NUMBER},
    {"in_interests", "IN INT", TEXT_NUMBER},
    {"in_data", "IN DATA", TEXT_NUMBER},
    {"in_nacks", "IN NACK", TEXT_NUMBER},
    {"in_bytes", "IN BYTES", TEXT_NUMBER},
    {"out_interests", "OUT INT", TEXT_NUMBER},
    {"out_data", "OUT DATA", TEXT_NUMBER},
    {"out_nacks", "OUT NACK", TEXT_NUMBER},
    {"out_bytes", "OUT BYTES", TEXT_NUMBER},
    {"flags", "FLAGS", TEXT_STRING},
    {0},
};

/** Scope, persistency and so on in nfdc's words. */
static void flags_text(const struct mgmt_face_status *f, char *text, size_t size)
{
    snprintf(text, size, "%s %s %s%s%s%s", nfd_scope_text(f->scope), nfd_persistency_text(f->persistency),
             nfd_link_type_text(f->link_type), (f->flags & NFD_LOCAL_FIELDS) != 0 ? " local-fields" : "",
             (f->flags & NFD_RELIABILITY) != 0 ? " reliability" : "",
             (f->flags & NFD_CONGESTION_MARKING) != 0 ? " congestion-marking" : "");
}

static json_t *face_object(const struct mgmt_face_status *f)
{
    char flags[128];
    flags_text(f, flags, sizeof flags);
    json_t *o = json_object();
    json_object_set_new(o, "id", manage_number(f->face_id));
    json_object_set_new(o, "remote", manage_octets(f->uri));
    json_object_set_new(o, "local", manage_octets(f->local_uri));
    if (f->has_expiration)
        json_object_set_new(o, "expires_ms", manage_number(f->expiration_ms));
    json_object_set_new(o, "scope", json_string(nfd_scope_text(f->scope)));
    json_object_set_new(o, "persistency", json_string(nfd_persistency_text(f->persistency)));
    json_object_set_new(o, "link_type", json_string(nfd_link_type_text(f->link_type)));
    if (f->has_congestion_interval)
        json_object_set_new(o, "congestion_interval_ms", manage_number(f->congestion_interval_ns / 1000000));
    if (f->has_congestion_threshold)
        json_object_set_new(o, "congestion_threshold", manage_number(f->congestion_threshold));
    if (f->has_mtu)
        json_object_set_new(o, "mtu", manage_number(f->mtu));
    json_object_set_new(o, "in_interests", manage_number(f->in_interests));
    json_object_set_new(o, "in_data", manage_number(f->in_data));
    json_object_set_new(o, "in_nacks", manage_number(f->in_nacks));
    json_object_set_new(o, "in_bytes", manage_number(f->in_bytes));
    json_object_set_new(o, "out_interests", manage_number(f->out_interests));
    json_object_set_new(o, "out_data", manage_number(f->out_data));
    json_object_set_new(o, "out_nacks", manage_number(f->out_nacks));
    json_object_set_new(o, "out_bytes", manage_number(f->out_bytes));
    json_object_set_new(o, "flags", json_string(flags));
    return o;
}

/** Octets of an argument, a view; len 0 when it was not given. */
static struct mgmt_octets arg_octets(const struct command_line *line, const char *name)
{
    const char *text = command_arg(line, name);
    return (struct mgmt_octets){(const uint8_t *)text, (uint16_t)(text != NULL ? strlen(text) : 0)};
}

int face_rows(const struct command_line *line, struct manager *manager, json_t **rows)
{
    struct mgmt_face_filter filter = {.scheme = arg_octets(line, "scheme")};
    char remote[256], local[256];
    if (command_arg(line, "remote") != NULL) {
        if (face_canonize(line, command_arg(line, "remote"), "remote", remote) != 0)
            return COMMAND_FAILED;
        filter.uri = (struct mgmt_octets){(const uint8_t *)remote, (uint16_t)strlen(remote)};
    }
    if (command_arg(line, "local") != NULL) {
        if (face_canonize(line, command_arg(line, "local"), "local", local) != 0)
            return COMMAND_FAILED;
        filter.local_uri = (struct mgmt_octets){(const uint8_t *)local, (uint16_t)strlen(local)};
    }
    bool filtered = filter.scheme.len > 0 || filter.uri.len > 0 || filter.local_uri.len > 0;
    struct face_set set;
    int status = face_set_fetch(line, manager, filtered ? &filter : NULL, &set);
    if (status != COMMAND_OK)
        return status;
    *rows = json_array();
    for (size_t i = 0; i < set.n; i++)
        json_array_append_new(*rows, face_object(&set.face[i]));
    face_set_free(&set);
    return COMMAND_OK;
}

int face_show(const struct command_line *line)
{
    static const struct text_column columns[] = {
        {"id", "faceid", TEXT_NUMBER},
        {"remote", "remote", TEXT_STRING},
        {"local", "local", TEXT_STRING},
        {"flags", "flags", TEXT_STRING},
        {"mtu", "mtu", TEXT_NUMBER},
        {"congestion_interval_ms", "base marking interval, ms", TEXT_NUMBER},
        {"congestion_threshold", "default congestion threshold", TEXT_NUMBER},
        {"expires_ms", "expires in", TEXT_DURATION},
        {"in_interests", "Interests in", TEXT_NUMBER},
        {"in_data", "Data in", TEXT_NUMBER},
        {"in_nacks", "Nacks in", TEXT_NUMBER},
        {"in_bytes", "octets in", TEXT_NUMBER},
        {"out_interests", "Interests out", TEXT_NUMBER},
        {"out_data", "Data out", TEXT_NUMBER},
        {"out_nacks", "Nacks out", TEXT_NUMBER},
        {"out_bytes", "octets out", TEXT_NUMBER},
        {"scope", "scope", TEXT_STRING},
        {"persistency", "persistency", TEXT_STRING},
        {"link_type", "link type", TEXT_STRING},
        {0},
    };
    uint64_t id;
    struct manager *manager;
    struct face_set set;
    if (command_arg_number(line, "id", 0, UINT64_MAX, 0, &id) != 0)
        return COMMAND_USAGE;
    int status = manage_open(line, false, &manager);
    if (status == COMMAND_OK)
        status = face_find(line, manager, command_arg(line, "id"), false, false, &set);
    if (status != COMMAND_OK)
        return status;
    json_t *object = face_object(&set.face[0]);
    face_set_free(&set);
    return manage_object(line, columns, object);
}

/** Arguments that face create and face update share, into @p params. @return 0, -EINVAL after a complaint */
static int face_properties(const struct command_line *line, struct mgmt_params *params)
{
    static const struct {
        const char *arg;
        uint64_t bit;
    } switches[] = {{"reliability", NFD_RELIABILITY}, {"congestion-marking", NFD_CONGESTION_MARKING}};
    const char *persistency = command_arg(line, "persistency"), *mtu = command_arg(line, "mtu");
    if (persistency != NULL) {
        if (nfd_persistency_parse(persistency, &params->persistency) != 0) {
            fprintf(line->err, "pitlane: persistency %s: persistent or permanent is allowed\n", persistency);
            return -EINVAL;
        }
        params->has |= MGMT_HAS_FACE_PERSISTENCY;
    }
    for (size_t i = 0; i < sizeof switches / sizeof *switches; i++) {
        bool on;
        int ret = manage_arg_on_off(line, switches[i].arg, &on);
        if (ret < 0)
            return ret;
        if (ret == 0)
            continue;
        params->has |= MGMT_HAS_FLAGS | MGMT_HAS_MASK;
        params->mask |= switches[i].bit;
        params->flags |= on ? switches[i].bit : 0;
    }
    if (command_arg(line, "congestion-marking-interval") != NULL) {
        uint64_t ms;
        if (command_arg_number(line, "congestion-marking-interval", 0, UINT64_MAX / 1000000, 0, &ms) != 0)
            return -EINVAL;
        params->congestion_interval_ns = ms * 1000000;
        params->has |= MGMT_HAS_CONGESTION_INTERVAL;
    }
    if (command_arg(line, "default-congestion-threshold") != NULL) {
        if (command_arg_number(line, "default-congestion-threshold", 0, UINT64_MAX, 0, &params->congestion_threshold) !=
            0)
            return -EINVAL;
        params->has |= MGMT_HAS_CONGESTION_THRESHOLD;
    }
    if (mtu != NULL) {
        // As nfdc: auto asks for the largest that the link takes.
        params->mtu = UINT64_MAX;
        if (strcmp(mtu, "auto") != 0 && command_arg_number(line, "mtu", 0, UINT64_MAX, 0, &params->mtu) != 0)
            return -EINVAL;
        params->has |= MGMT_HAS_MTU;
    }
    return 0;
}

/** The result line of a face: what @p params has, and for what it has not, what was there before (may be NULL). */
static json_t *face_result(const char *word, const struct mgmt_params *params, const struct mgmt_params *before)
{
    static const struct mgmt_params none;
    if (before == NULL)
        before = &none;
#define EITHER(bit) ((params->has & (bit)) != 0 ? params : (before->has & (bit)) != 0 ? before : NULL)
    const struct mgmt_params *p;
    json_t *o = json_pack("{ss}", "result", word);
    if ((p = EITHER(MGMT_HAS_FACE_ID)) != NULL)
        json_object_set_new(o, "id", manage_number(p->face_id));
    if ((p = EITHER(MGMT_HAS_LOCAL_URI)) != NULL)
        json_object_set_new(o, "local", manage_octets(p->local_uri));
    if ((p = EITHER(MGMT_HAS_URI)) != NULL)
        json_object_set_new(o, "remote", manage_octets(p->uri));
    if ((p = EITHER(MGMT_HAS_FACE_PERSISTENCY)) != NULL)
        json_object_set_new(o, "persistency", json_string(nfd_persistency_text(p->persistency)));
    if ((p = EITHER(MGMT_HAS_FLAGS)) != NULL) {
        json_object_set_new(o, "reliability", json_boolean((p->flags & NFD_RELIABILITY) != 0));
        json_object_set_new(o, "congestion-marking", json_boolean((p->flags & NFD_CONGESTION_MARKING) != 0));
    }
    if ((p = EITHER(MGMT_HAS_CONGESTION_INTERVAL)) != NULL)
        json_object_set_new(o, "congestion-marking-interval", manage_number(p->congestion_interval_ns / 1000000));
    if ((p = EITHER(MGMT_HAS_CONGESTION_THRESHOLD)) != NULL)
        json_object_set_new(o, "default-congestion-threshold", manage_number(p->congestion_threshold));
    if ((p = EITHER(MGMT_HAS_MTU)) != NULL)
        json_object_set_new(o, "mtu", manage_number(p->mtu));
#undef EITHER
    return o;
}

/** A face's status in the form of command parameters, as face_result() takes them. */
static struct mgmt_params params_of(const struct mgmt_face_status *f)
{
    return (struct mgmt_params){
        .has = MGMT_HAS_FACE_ID | MGMT_HAS_URI | MGMT_HAS_LOCAL_URI | MGMT_HAS_FACE_PERSISTENCY | MGMT_HAS_FLAGS |
               (f->has_congestion_interval ? MGMT_HAS_CONGESTION_INTERVAL : 0) |
               (f->has_congestion_threshold ? MGMT_HAS_CONGESTION_THRESHOLD : 0) | (f->has_mtu ? MGMT_HAS_MTU : 0),
        .face_id = f->face_id,
        .uri = f->uri,
        .local_uri = f->local_uri,
        .flags = f->flags,
        .persistency = f->persistency,
        .congestion_interval_ns = f->congestion_interval_ns,
        .congestion_threshold = f->congestion_threshold,
        .mtu = f->mtu,
    };
}

/** Of what is wanted, what the existing face has not. FaceId is filled in; nothing else in has: nothing to do. */
static struct mgmt_params difference(const struct mgmt_params *wanted, const struct mgmt_params *existing)
{
    struct mgmt_params update = *wanted;
    update.has = MGMT_HAS_FACE_ID;
    update.face_id = existing->face_id;
    // A permanent face is not made less than that.
    if ((wanted->has & MGMT_HAS_FACE_PERSISTENCY) != 0 && wanted->persistency != existing->persistency &&
        existing->persistency != NFD_PERMANENT)
        update.has |= MGMT_HAS_FACE_PERSISTENCY;
    if ((wanted->has & MGMT_HAS_FLAGS) != 0 && ((wanted->flags ^ existing->flags) & wanted->mask) != 0)
        update.has |= MGMT_HAS_FLAGS | MGMT_HAS_MASK;
    if ((wanted->has & MGMT_HAS_CONGESTION_INTERVAL) != 0 &&
        wanted->congestion_interval_ns != existing->congestion_interval_ns)
        update.has |= MGMT_HAS_CONGESTION_INTERVAL;
    if ((wanted->has & MGMT_HAS_CONGESTION_THRESHOLD) != 0 &&
        wanted->congestion_threshold != existing->congestion_threshold)
        update.has |= MGMT_HAS_CONGESTION_THRESHOLD;
    if ((wanted->has & MGMT_HAS_MTU) != 0 && wanted->mtu != existing->mtu)
        update.has |= MGMT_HAS_MTU;
    return update;
}

/** Keep what an answer's views point at: the next request overwrites it. */
struct kept_uris {
    char remote[256], local[256];
};

static void keep_uris(struct mgmt_params *params, struct kept_uris *kept)
{
    size_t remote = params->uri.len < 256 ? params->uri.len : 255, local = params->local_uri.len;
    local = local < 256 ? local : 255;
    if (remote > 0)
        memcpy(kept->remote, params->uri.p, remote);
    if (local > 0)
        memcpy(kept->local, params->local_uri.p, local);
    params->uri = (struct mgmt_octets){(const uint8_t *)kept->remote, (uint16_t)remote};
    params->local_uri = (struct mgmt_octets){(const uint8_t *)kept->local, (uint16_t)local};
}

int face_create(const struct command_line *line)
{
    struct mgmt_params wanted = {.has = MGMT_HAS_URI | MGMT_HAS_FACE_PERSISTENCY, .persistency = NFD_PERSISTENT};
    struct manager_answer answer;
    struct manager *manager;
    char remote[256], local[256];
    if (face_properties(line, &wanted) != 0)
        return COMMAND_USAGE;
    if (face_canonize(line, command_arg(line, "remote"), "remote", remote) != 0)
        return COMMAND_FAILED;
    wanted.uri = (struct mgmt_octets){(const uint8_t *)remote, (uint16_t)strlen(remote)};
    if (command_arg(line, "local") != NULL) {
        if (face_canonize(line, command_arg(line, "local"), "local", local) != 0)
            return COMMAND_FAILED;
        wanted.local_uri = (struct mgmt_octets){(const uint8_t *)local, (uint16_t)strlen(local)};
        wanted.has |= MGMT_HAS_LOCAL_URI;
    }
    int status = manage_open(line, false, &manager);
    if (status != COMMAND_OK)
        return status;
    uint32_t code = manager_command(manager, "faces", "create", &wanted, &answer);
    if (code == 200)
        return manage_result(line, face_result("face-created", &answer.params, &wanted));
    const uint32_t body = MGMT_HAS_FACE_ID | MGMT_HAS_URI;
    // The same face, or a conflict with another one.
    if (code != 409 || (answer.params.has & body) != body || answer.params.uri.len != wanted.uri.len ||
        memcmp(answer.params.uri.p, wanted.uri.p, wanted.uri.len) != 0)
        return manage_fail(line, &answer, "creating face");
    struct mgmt_params existing = answer.params;
    struct kept_uris kept;
    keep_uris(&existing, &kept);
    struct mgmt_params update = difference(&wanted, &existing);
    if (update.has == MGMT_HAS_FACE_ID)
        return manage_result(line, face_result("face-exists", &existing, NULL));
    if (manager_command(manager, "faces", "update", &update, &answer) != 200)
        return manage_fail(line, &answer, "updating face");
    return manage_result(line, face_result("face-updated", &answer.params, &existing));
}

int face_create_for_route(const struct command_line *line, struct manager *manager, const char *uri, uint64_t *face_id)
{
    const struct mgmt_params wanted = {.has = MGMT_HAS_URI, .uri = {(const uint8_t *)uri, (uint16_t)strlen(uri)}};
    struct manager_answer answer;
    uint32_t code = manager_command(manager, "faces", "create", &wanted, &answer);
    if ((code != 200 && code != 409) || (answer.params.has & MGMT_HAS_FACE_ID) == 0)
        return manage_fail(line, &answer, "implicitly creating face");
    *face_id = answer.params.face_id;
    return COMMAND_OK;
}

int face_update(const struct command_line *line)
{
    struct mgmt_params update = {.has = MGMT_HAS_FACE_ID}, before;
    struct manager_answer answer;
    struct manager *manager;
    struct face_set set;
    if (face_properties(line, &update) != 0)
        return COMMAND_USAGE;
    int status = manage_open(line, false, &manager);
    if (status == COMMAND_OK)
        status = face_find(line, manager, command_arg(line, "face"), false, false, &set);
    if (status != COMMAND_OK)
        return status;
    update.face_id = set.face[0].face_id;
    before = params_of(&set.face[0]);
    if (manager_command(manager, "faces", "update", &update, &answer) != 200)
        status = manage_fail(line, &answer, "updating face");
    else
        status = manage_result(line, face_result("face-updated", &answer.params, &before));
    face_set_free(&set);
    return status;
}

int face_destroy(const struct command_line *line)
{
    struct manager_answer answer;
    struct manager *manager;
    struct face_set set;
    int status = manage_open(line, false, &manager);
    if (status == COMMAND_OK)
        status = face_find(line, manager, command_arg(line, "face"), false, false, &set);
    if (status != COMMAND_OK)
        return status;
    const struct mgmt_params target = {.has = MGMT_HAS_FACE_ID, .face_id = set.face[0].face_id};
    struct mgmt_params before = params_of(&set.face[0]);
    before.has &= ~(uint32_t)(MGMT_HAS_CONGESTION_INTERVAL | MGMT_HAS_CONGESTION_THRESHOLD | MGMT_HAS_MTU);
    if (manager_command(manager, "faces", "destroy", &target, &answer) != 200)
        status = manage_fail(line, &answer, "destroying face");
    else
        status = manage_result(line, face_result("face-destroyed", &before, NULL));
    face_set_free(&set);
    return status;
}

const struct text_column channel_columns[] = {{"local", "LOCAL", TEXT_STRING}, {0}};

int channel_rows(const struct command_line *line, struct manager *manager, json_t **rows)
{
    struct manager_dataset dataset;
    struct manager_answer answer;
    if (manager_dataset(manager, "faces", "channels", NULL, 0, &dataset, &answer) != MANAGER_OK)
        return manage_fail(line, &answer, "fetching channel dataset");
    *rows = json_array();
    const uint8_t *item;
    size_t off = 0;
    int len;
    while ((len = manager_dataset_next(&dataset, &off, &item)) > 0) {
        struct mgmt_octets local;
        if (mgmt_channel_decode(item, (size_t)len, &local) != 0) {
            len = -EINVAL;
            break;
        }
        json_array_append_new(*rows, json_pack("{so}", "local", manage_octets(local)));
    }
    manager_dataset_free(&dataset);
    if (len == 0)
        return COMMAND_OK;
    json_decref(*rows);
    fprintf(line->err, "pitlane: the forwarder's list of channels does not decode\n");
    return COMMAND_FAILED;
}

int channel_list(const struct command_line *line)
{
    struct manager *manager;
    json_t *rows;
    int status = manage_open(line, false, &manager);
    if (status == COMMAND_OK)
        status = channel_rows(line, manager, &rows);
    return status == COMMAND_OK ? manage_rows(line, "channels", channel_columns, rows) : status;
}
