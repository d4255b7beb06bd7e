// SPDX-License-Identifier: Apache-2.0
/*
 * Any octets as what a forwarder answers to the client's lists: the first octet chooses the list, the rest is the
 * stream, which then ends. A list is shown whole, or there is a complaint and exit code 1.
 */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>
#include <unistd.h>

#include "fwd/client/manage_priv.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/** More would not fit into the socket, which nobody reads while it is filled. */
#define STREAM_MAX 65536

static int listener = -1;
static char dir[] = "/tmp/pitlane-fuzz-XXXXXX", uri[64];
static FILE *nowhere;

static void require(bool holds, const char *what)
{
    if (!holds) {
        fprintf(stderr, "broken: %s\n", what);
        abort();
    }
}

static void stop(void)
{
    unlink(uri + strlen("unix://"));
    rmdir(dir);
}

static void start(void)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    require(mkdtemp(dir) != NULL, "no folder");
    snprintf(address.sun_path, sizeof address.sun_path, "%s/sock", dir);
    snprintf(uri, sizeof uri, "unix://%s/sock", dir);
    listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    require(bind(listener, (const struct sockaddr *)&address, sizeof address) == 0 && listen(listener, 4) == 0,
            "no socket");
    atexit(stop);
    nowhere = fopen("/dev/null", "w");
    require(nowhere != NULL, "no /dev/null");
}

/** A link to a peer that has sent @p data and nothing more. */
static struct link *connect_to(const uint8_t *data, size_t size, int *peer)
{
    const struct link_config config = {.transport = uri};
    char err[LINK_ERR];
    struct link *link;
    require(link_open(&link, &config, false, err) == 0, "no link");
    *peer = accept(listener, NULL, NULL);
    require(*peer >= 0, "no peer");
    while (size > 0) {
        ssize_t n = send(*peer, data, size, MSG_NOSIGNAL);
        require(n > 0, "the socket takes too little");
        data += n;
        size -= (size_t)n;
    }
    shutdown(*peer, SHUT_WR);
    return link;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct {
        const char *noun, *verb;
        int (*fetch)(const struct command_line *line, struct manager *manager, json_t **answer);
        bool rows;
    } lists[] = {
        {"face", "list", face_rows, true},         {"channel", "list", channel_rows, true},
        {"route", "list", route_rows, true},       {"fib", "list", fib_rows, true},
        {"strategy", "list", strategy_rows, true}, {"cs", "info", cs_object, false},
        {"status", "show", status_object, false},
    };
    if (listener < 0)
        start();
    if (size < 1 || size > STREAM_MAX)
        return 0;
    size_t list = data[0] % (sizeof lists / sizeof *lists);
    const struct command_line line = {
        .command = command_find(lists[list].noun, lists[list].verb), .out = nowhere, .err = nowhere};
    const struct manager_config config = {.timeout_ns = 1000000000};
    struct manager *manager;
    char err[LINK_ERR];
    int peer;
    struct link *link = connect_to(data + 1, size - 1, &peer);
    require(manager_attach(&manager, link, &config, err) == 0, "no manager");
    json_t *answer = NULL;
    int status = lists[list].fetch(&line, manager, &answer);
    require(status == COMMAND_OK || status == COMMAND_FAILED, "another exit code");
    if (status == COMMAND_OK) {
        require(lists[list].rows ? json_is_array(answer) : json_is_object(answer), "an answer of another kind");
        char *text = json_dumps(answer, 0);
        require(text != NULL, "what cannot be written as JSON");
        free(text);
        if (lists[list].rows)
            text_table_print(list == 0 ? face_columns : route_columns, answer, nowhere);
        json_decref(answer);
    }
    manager_close(manager);
    link_close(link);
    close(peer);
    return 0;
}
