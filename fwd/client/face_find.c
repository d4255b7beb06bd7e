// SPDX-License-Identifier: Apache-2.0
/* Which faces a FaceId or a FaceUri means. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "fwd/client/manage_priv.h"
#include "fwd/client/nfd_text.h"
#include "fwd/mgmt/face_uri.h"

int face_set_fetch(const struct command_line *line, struct manager *manager, const struct mgmt_face_filter *filter,
                   struct face_set *set)
{
    struct manager_answer answer;
    uint8_t query[1024];
    size_t query_len = 0, off = 0;
    *set = (struct face_set){0};
    if (filter != NULL) {
        query_len = mgmt_face_filter_encode(query, sizeof query, filter);
        if (query_len == 0) {
            fprintf(line->err, "pitlane: the FaceUri is too long\n");
            return COMMAND_FAILED;
        }
    }
    if (manager_dataset(manager, "faces", filter != NULL ? "query" : "list", filter != NULL ? query : NULL, query_len,
                        &set->dataset, &answer) != MANAGER_OK)
        return manage_fail(line, &answer, filter != NULL ? "querying face" : "fetching face dataset");
    const uint8_t *item;
    int len;
    while ((len = manager_dataset_next(&set->dataset, &off, &item)) > 0) {
        struct mgmt_face_status status;
        struct mgmt_face_status *grown = realloc(set->face, (set->n + 1) * sizeof *grown);
        if (grown == NULL || mgmt_face_status_decode(item, (size_t)len, &status) != 0) {
            set->face = grown != NULL ? grown : set->face;
            len = -EINVAL;
            break;
        }
        set->face = grown;
        set->face[set->n++] = status;
    }
    if (len == 0)
        return COMMAND_OK;
    fprintf(line->err, "pitlane: the forwarder's list of faces does not decode\n");
    face_set_free(set);
    return COMMAND_FAILED;
}

void face_set_free(struct face_set *set)
{
    free(set->face);
    manager_dataset_free(&set->dataset);
    *set = (struct face_set){0};
}

int face_canonize(const struct command_line *line, const char *text, const char *which, char uri[256])
{
    struct face_uri parsed;
    char reason[128], canonical[FACE_URI_MAX];
    int ret = face_uri_canonize(&parsed, text, reason);
    if (ret != 0 && parsed.scheme == FACE_URI_OTHER && strlen(text) < 256) {
        // A face may well have such a URI, though nobody can ask for one.
        strcpy(uri, text);
        return 0;
    }
    if (ret != 0) {
        fprintf(line->err, "Error during %s FaceUri canonization: %s: %s\n", which, text, reason);
        return ret;
    }
    size_t len = face_uri_write(&parsed, canonical);
    snprintf(uri, 256, "%s", len > 0 ? canonical : text);
    return 0;
}

static bool is_number(const char *text, uint64_t *number)
{
    char *end;
    errno = 0;
    *number = strtoull(text, &end, 10);
    return errno == 0 && text[0] >= '0' && text[0] <= '9' && *end == '\0';
}

static void complain_ambiguous(const struct command_line *line, const struct face_set *set)
{
    fprintf(line->err, "Multiple faces match specified remote FaceUri. Re-run the command with a FaceId:");
    for (size_t i = 0; i < set->n; i++) {
        char local[256];
        nfd_octets_text(set->face[i].local_uri, local, sizeof local);
        fprintf(line->err, "%s %" PRIu64 " (local=%s)", i > 0 ? "," : "", set->face[i].face_id, local);
    }
    fprintf(line->err, "\n");
}

int face_find(const struct command_line *line, struct manager *manager, const char *text, bool many, bool none_ok,
              struct face_set *set)
{
    struct mgmt_face_filter filter = {0};
    char uri[256];
    if (is_number(text, &filter.face_id)) {
        filter.has_face_id = true;
        none_ok = false;
    } else {
        if (face_canonize(line, text, "remote", uri) != 0)
            return COMMAND_FAILED;
        filter.uri = (struct mgmt_octets){(const uint8_t *)uri, (uint16_t)strlen(uri)};
    }
    int status = face_set_fetch(line, manager, &filter, set);
    if (status != COMMAND_OK)
        return status;
    if (set->n == 0 && !none_ok) {
        fprintf(line->err, "Face not found\n");
        status = COMMAND_FAILED;
    } else if (set->n > 1 && !many) {
        complain_ambiguous(line, set);
        status = COMMAND_FAILED;
    }
    if (status != COMMAND_OK)
        face_set_free(set);
    return status;
}
