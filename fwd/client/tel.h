// SPDX-License-Identifier: Apache-2.0
#ifndef FWD_CLIENT_TEL_H
#define FWD_CLIENT_TEL_H

#include <jansson.h>
#include <stddef.h>

/*
 * Client of the DPDK telemetry socket (SOCK_SEQPACKET, version 2): one request is "/command" or "/command,parameter",
 * one answer is one JSON object {"/command": value}. Single-threaded.
 */
struct tel;

/** Longest text of an error. */
#define TEL_ERR 256

/**
 * Path of the telemetry socket: @p socket when given, else made from the runtime directory and the file prefix of the
 * daemon, each NULL for its default. @return 0, or -ENAMETOOLONG
 */
int tel_path(char *path, size_t size, const char *socket, const char *runtime_dir, const char *prefix);

/** Connect. @return 0, or a negative errno with the reason in words in @p err */
int tel_open(struct tel **tel, const char *path, char err[TEL_ERR]);
void tel_close(struct tel *tel);

/**
 * Ask one question. @p params may be NULL. The answer is the value alone, without the command around it.
 *
 * @return the answer, owned by the caller; NULL with the reason in @p err
 */
json_t *tel_query(struct tel *tel, const char *command, const char *params, char err[TEL_ERR]);

/**
 * Ask for a list that comes in pages: each answer is {"rows": {KEY: {...}, ...}, "next": N}; the next page is asked
 * for with N as the parameter until "next" is absent. Strings that came in pieces (arrays of strings) are joined.
 *
 * @return an array of the rows in order, owned by the caller; NULL with the reason in @p err
 */
json_t *tel_query_rows(struct tel *tel, const char *command, char err[TEL_ERR]);

#endif
