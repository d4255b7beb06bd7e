// SPDX-License-Identifier: Apache-2.0
#include "fwd/client/import.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "conf/conf.h"
#include "fwd/client/import_impl.h"

const struct command_option import_options[] = {
    {'o', "output", "FILE", "write the configuration there; default standard output, and the report to standard error"},
    {0},
};

static const struct import_key sections[] = {
    {"general", IMPORT_GROUP, .take = import_general},
    {"log", IMPORT_GROUP, .take = import_log},
    {"forwarder", IMPORT_GROUP, .take = import_forwarder},
    {"tables", IMPORT_GROUP, .take = import_tables},
    {"face_system", IMPORT_GROUP, .take = import_face_system},
    {"authorizations", IMPORT_GROUP, .take = import_authorizations},
    {"rib", IMPORT_GROUP, .take = import_rib},
    {0},
};

/* What is written is read as pitlaned reads it: a file that it refuses is of no use. */
static int check(const char *text, size_t len, FILE *err)
{
    struct conf *conf;
    int error = conf_load_text("the new configuration", text, len, &conf, err);
    if (error == 0)
        conf_free(conf);
    return error;
}

static int import_tree(struct import *import, const struct info_node *root, FILE *out)
{
    char *text = NULL;
    size_t len;
    import_walk(import, root, "", sections);
    import_face_system_absent(import, import_child(root, "face_system"));
    import_security_absent(import, import_child(root, "authorizations"), import_child(root, "rib"));
    if (import->n_errors > 0)
        return -EINVAL;
    FILE *memory = open_memstream(&text, &len);
    if (memory == NULL)
        return -ENOMEM;
    import_write(import, memory);
    int error = fclose(memory) != 0 || import->no_memory ? -ENOMEM : check(text, len, import->err);
    if (error == 0)
        fwrite(text, 1, len, out);
    free(text);
    return error;
}

/* Takes the tree over. */
static int import_info(const char *path, struct info *info, FILE *out, FILE *report, FILE *err)
{
    struct import import = {.path = path, .report = report, .err = err};
    int error = import_tree(&import, info_root(info), out);
    if (error == -ENOMEM)
        fprintf(err, "%s: out of memory\n", path);
    import_clear(&import);
    info_free(info);
    return error;
}

int import_nfd_conf(const char *path, FILE *out, FILE *report, FILE *err)
{
    struct info *info;
    int error = info_load(path, &info, err);
    return error == 0 ? import_info(path, info, out, report, err) : error;
}

int import_nfd_conf_text(const char *name, const char *text, size_t len, FILE *out, FILE *report, FILE *err)
{
    struct info *info;
    int error = info_load_text(name, text, len, &info, err);
    return error == 0 ? import_info(name, info, out, report, err) : error;
}

int import_run(const struct command_line *line)
{
    const char *path = command_value(line, "output");
    char *text = NULL;
    size_t len = 0;
    FILE *memory = open_memstream(&text, &len);
    if (memory == NULL)
        return COMMAND_FAILED;
    int error = import_nfd_conf(line->operand, memory, path != NULL ? line->out : line->err, line->err);
    bool written = fclose(memory) == 0;
    FILE *out = error == 0 && written && path != NULL ? fopen(path, "we") : line->out;
    if (error == 0) {
        written = written && out != NULL && fwrite(text, 1, len, out) == len;
        if (out != NULL && out != line->out)
            written &= fclose(out) == 0;
        if (!written)
            fprintf(line->err, "pitlane: %s cannot be written: %s\n", path != NULL ? path : "standard output",
                    strerror(errno));
    }
    free(text);
    return error == 0 && written ? COMMAND_OK : COMMAND_FAILED;
}
