// SPDX-License-Identifier: Apache-2.0
#ifndef TEST_UNIT_CONF_SUPPORT_H
#define TEST_UNIT_CONF_SUPPORT_H

#include "conf/conf.h"

/** Load a text; the faults and warnings written are given back in *faults, to be freed. */
int load_text(const char *text, struct conf **conf, char **faults);
/** The same for a file. */
int load_file(const char *path, struct conf **conf, char **faults);
/** Load a text that must be accepted. */
struct conf *load_good(const char *text);
/** What conf_print_effective() writes, to be freed. */
char *effective(const struct conf *conf);
/** The whole of a file with a NUL behind it, to be freed. */
char *read_file(const char *path, size_t *len);
/** A file of @p len octets in the folder @p folder, whose path is written to @p path. */
void write_file(char path[512], const char *folder, const char *name, const char *octets, size_t len);
/** A fresh folder for this test; remove_folder() removes it with its files. */
void make_folder(char path[256]);
void remove_folder(const char *path);

#endif
