// SPDX-License-Identifier: Apache-2.0
#ifndef CONF_TEXT_H
#define CONF_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "conf/conf.h"
#include "conf/faults.h"
#include "conf/stringpool.h"

/** A run of lines of the merged text that come from one file. */
struct text_run {
    unsigned line; /**< first line of the run in the merged text */
    struct conf_at at;
};

/**
 * A configuration in memory: the file with every included file in its place, one text ended by NUL, and where its
 * lines come from. The text is valid UTF-8 without NUL or other control characters and ends in a line end.
 */
struct text {
    char *octets;
    size_t len, room;
    struct text_run *run;
    size_t n_runs;
    unsigned n_lines;
    unsigned n_files;
    const char *name; /**< of the first file, owned by the caller */
    unsigned *faulty; /**< lines of groups in which settings were blanked, see conf/scan.h */
    size_t n_faulty;
    bool world_writable; /**< a file, or the folder it stands in, may be written by everyone */
};

/**
 * Read a file and what it includes ("@include" first in a line, relative to the including file). Names of files are
 * kept in @p strings. Faults of files are added at the line that names them.
 *
 * @return 0; -EINVAL with faults added; -ENOMEM; another negative errno when the first file cannot be read
 */
int text_load(struct text *text, const char *path, struct stringpool *strings, struct faults *faults);
/** As text_load(), from memory. Includes are a fault. */
int text_load_memory(struct text *text, const char *name, const char *octets, size_t len, struct stringpool *strings,
                     struct faults *faults);
void text_free(struct text *text);

/** Remember that a setting of the group that begins in a merged line was blanked. @return 0 or -ENOMEM */
int text_mark_faulty(struct text *text, unsigned line);
/** True when the scanner blanked a setting of the group that begins in a merged line. */
bool text_group_is_faulty(const struct text *text, unsigned line);

/** Where a line of the merged text comes from. */
struct conf_at text_at(const struct text *text, unsigned line);

#endif
