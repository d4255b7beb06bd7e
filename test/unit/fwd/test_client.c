// SPDX-License-Identifier: Apache-2.0
/* The command line of `pitlane`, and its reads against a small fake of the telemetry socket. */
#include "fwd/client/command.h"

#include <criterion/criterion.h>
#include <criterion/redirect.h>
#include <errno.h>
#include <jansson.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "fwd/client/tel.h"
#include "fwd/client/text_table.h"

/** A server that answers from a table of request and answer. */
struct fake {
    const char *const *answers; /**< request, answer, request, answer, ..., NULL */
    char dir[32], path[64];
    int fd;
    pthread_t thread;
};

static void *serve(void *arg)
{
    struct fake *fake = arg;
    char request[1024];
    for (;;) {
        int client = accept(fake->fd, NULL, NULL);
        if (client < 0)
            return NULL;
        static const char hello[] = "{\"version\":\"fake\",\"pid\":1,\"max_output_len\":16384}";
        if (send(client, hello, strlen(hello), MSG_NOSIGNAL) < 0)
            abort();
        ssize_t n;
        while ((n = recv(client, request, sizeof request - 1, 0)) > 0) {
            request[n] = '\0';
            const char *answer = "{\"unknown\":null}";
            for (const char *const *a = fake->answers; *a != NULL; a += 2) {
                if (strcmp(a[0], request) == 0)
                    answer = a[1];
            }
            if (send(client, answer, strlen(answer), MSG_NOSIGNAL) < 0)
                abort();
        }
        close(client);
    }
}

static void fake_start(struct fake *fake, const char *const *answers)
{
    fake->answers = answers;
    strcpy(fake->dir, "/tmp/pitlane-test-XXXXXX");
    cr_assert_not_null(mkdtemp(fake->dir));
    snprintf(fake->path, sizeof fake->path, "%s/tel", fake->dir);
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    strcpy(address.sun_path, fake->path);
    fake->fd = socket(AF_UNIX, SOCK_SEQPACKET, 0);
    cr_assert(fake->fd >= 0);
    cr_assert_eq(bind(fake->fd, (const struct sockaddr *)&address, sizeof address), 0);
    cr_assert_eq(listen(fake->fd, 4), 0);
    cr_assert_eq(pthread_create(&fake->thread, NULL, serve, fake), 0);
}

static void fake_stop(struct fake *fake)
{
    shutdown(fake->fd, SHUT_RDWR);
    pthread_join(fake->thread, NULL);
    close(fake->fd);
    unlink(fake->path);
    rmdir(fake->dir);
}

/** Run a command line. @return its exit code; *out and *err are what it printed, to be freed */
static int run(char **out, char **err, const char *const *args)
{
    char *argv[16];
    int argc = 0;
    argv[argc++] = strdup("pitlane");
    for (; args[argc - 1] != NULL; argc++)
        argv[argc] = strdup(args[argc - 1]);
    size_t size;
    FILE *out_file = open_memstream(out, &size), *err_file = open_memstream(err, &size);
    int status = command_main(argc, argv, out_file, err_file);
    fclose(out_file);
    fclose(err_file);
    for (int i = 0; i < argc; i++)
        free(argv[i]);
    return status;
}
#define RUN(...) run(&out, &err, (const char *const[]){__VA_ARGS__, NULL})

Test(client, usage_faults_exit_2)
{
    static const char *const lines[][8] = {
        {"frobnicate"},
        {"face", "frobnicate"},
        {"face", "destroy"},
        {"face", "show", "udp4://192.0.2.1:6363"},
        {"face", "create", "udp4://192.0.2.1", "mtu", "large"},
        {"face", "create", "udp4://192.0.2.1", "on-demand"},
        {"route", "add", "/A"},
        {"route", "add", "/A", "300", "cost"},
        {"route", "add", "/A", "300", "cost", "-1"},
        {"route", "add", "/A%zz", "300"},
        {"route", "add", "/A", "300", "origin", "nobody"},
        {"strategy", "set", "/A"},
        {"strategy", "unset", "/"},
        {"cs", "config", "admit", "maybe"},
        {"cs", "erase"},
        {"cs", "erase", "/A", "count", "0"},
        {"route", "list", "--key=/dev/null"},
        {"fib", "list", "--timeout", "soon"},
        {"-f"},
        {"-f", "a", "b"},
        {"status", "--colour"},
        {"status", "-x"},
        {"status", "extra"},
        {"status", "-s"},
        {"status", "--json=yes"},
        {"ping"},
        {"ping", "/A", "--udp", "127.0.0.1", "--ether=lo"},
        {"ping", "/A", "--udp", "127.0.0.1", "--transport=unix:///x"},
        {"ping", "/A", "--transport=unix:///x", "--mtu=1000"},
        {"ping", "/A", "--udp", "127.0.0.1", "--count=0"},
        {"ping", "/A", "--udp", "127.0.0.1", "--interval=fast"},
        {"ping", "/A", "--udp", "127.0.0.1", "--token=33"},
        {"ping", "A%zz", "--udp", "127.0.0.1"},
        {"ping", "/A", "--udp", "127.0.0.1", "--remote=02:00:00:00:00:01"},
        {"pingserver", "/A", "--size", "9000"},
        {"help", "frobnicate"},
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        char *out, *err;
        int status = run(&out, &err, lines[i]);
        cr_expect_eq(status, COMMAND_USAGE, "row %zu: exit %d", i, status);
        free(out);
        free(err);
    }
}

Test(client, an_unknown_verb_is_told_what_is_there)
{
    char *out, *err;
    cr_expect_eq(RUN("face", "frobnicate"), COMMAND_USAGE);
    cr_expect_not_null(strstr(err, "'face frobnicate'"), "%s", err);
    cr_expect_not_null(strstr(err, "face list, face show, face create"), "%s", err);
    free(out);
    free(err);
    cr_expect_eq(RUN("face", "-h"), COMMAND_OK);
    cr_expect_not_null(strstr(out, "usage: pitlane face list"), "%s", out);
    free(out);
    free(err);
}

Test(client, version_is_printed)
{
    char *out, *err;
    cr_expect_eq(RUN("-V"), COMMAND_OK);
    cr_expect_eq(strncmp(out, "pitlane ", 8), 0, "%s", out);
    free(out);
    free(err);
}

Test(client, without_a_command_help_is_shown_and_exit_is_2)
{
    char *out, *err;
    int status = run(&out, &err, (const char *const[]){NULL});
    cr_expect_eq(status, COMMAND_USAGE);
    cr_expect_str_empty(out);
    cr_expect_not_null(strstr(err, "face list"));
    free(out);
    free(err);
}

Test(client, help_completion_and_manual_name_every_command)
{
    char *help, *completion, *manual, *err;
    cr_assert_eq(run(&help, &err, (const char *const[]){"help", NULL}), COMMAND_OK);
    free(err);
    cr_assert_eq(run(&completion, &err, (const char *const[]){"completion", NULL}), COMMAND_OK);
    free(err);
    cr_assert_eq(run(&manual, &err, (const char *const[]){"man", NULL}), COMMAND_OK);
    free(err);
    for (const struct command *c = command_table; c->noun != NULL; c++) {
        char name[64];
        snprintf(name, sizeof name, "%s%s%s", c->noun, c->verb != NULL ? " " : "", c->verb != NULL ? c->verb : "");
        cr_expect_not_null(strstr(help, name), "%s", name);
        cr_expect_not_null(strstr(manual, name), "%s", name);
        cr_expect_not_null(strstr(completion, c->noun), "%s", name);
        for (const struct command_option *o = c->options; o != NULL && o->name != NULL; o++)
            cr_expect_not_null(strstr(completion, o->name), "%s --%s", name, o->name);
        char words[512], *arm;
        snprintf(words, sizeof words, "\"%s %s\") words=", c->noun, c->verb != NULL ? c->verb : "");
        arm = strstr(completion, words);
        cr_assert_not_null(arm, "%s", words);
        for (const struct command_arg *a = c->args; a != NULL && a->name != NULL; a++) {
            char *at = strstr(arm, a->name);
            cr_expect(at != NULL && at < strstr(arm, ";;"), "%s %s", name, a->name);
            cr_expect_not_null(strstr(manual, a->help), "%s %s", name, a->name);
        }
    }
    free(help);
    free(completion);
    free(manual);
}

Test(client, options_of_one_command_are_shown_by_h)
{
    char *out, *err;
    cr_assert_eq(RUN("ping", "-h"), COMMAND_OK);
    cr_expect_not_null(strstr(out, "-W, --lifetime TIME"));
    cr_expect_null(strstr(out, "--socket"), "ping does not ask the daemon");
    free(out);
    free(err);
}

Test(client, socket_path_follows_the_runtime_directory_and_the_prefix)
{
    char path[128];
    unsetenv("PITLANE_SOCKET");
    cr_assert_eq(tel_path(path, sizeof path, NULL, NULL, NULL), 0);
    cr_expect_str_eq(path, "/run/pitlane/dpdk/pitlane/dpdk_telemetry.v2");
    cr_assert_eq(tel_path(path, sizeof path, NULL, "/tmp/d", "p2"), 0);
    cr_expect_str_eq(path, "/tmp/d/dpdk/p2/dpdk_telemetry.v2");
    setenv("PITLANE_SOCKET", "/s", 1);
    cr_assert_eq(tel_path(path, sizeof path, NULL, NULL, NULL), 0);
    cr_expect_str_eq(path, "/s");
    cr_assert_eq(tel_path(path, sizeof path, "/t", NULL, NULL), 0);
    cr_expect_str_eq(path, "/t");
    cr_expect_eq(tel_path(path, 8, NULL, "/tmp/d", NULL), -ENAMETOOLONG);
}

Test(client, daemon_that_does_not_run_is_exit_1)
{
    char *out, *err;
    cr_redirect_stderr();
    cr_expect_eq(RUN("status", "-s", "/nonexistent/socket"), COMMAND_FAILED);
    cr_expect_str_empty(out);
    free(out);
    free(err);
}

Test(client, status_is_a_list_in_the_order_of_the_table_and_json_on_demand)
{
    struct fake fake;
    fake_start(&fake, (const char *const[]){
                          "/pitlane/status",
                          "{\"/pitlane/status\":{\"received\":18446744073709,\"pid\":42,\"version\":\"0.1.0\","
                          "\"uptime_ms\":7264000,\"extra\":5}}",
                          NULL});
    char *out, *err;
    cr_expect_eq(RUN("status", "-s", fake.path), COMMAND_OK);
    cr_expect_str_eq(out, "version          0.1.0\n"
                          "process          42\n"
                          "running for      2h01m\n"
                          "frames received  18446744073709\n"
                          "extra            5\n");
    free(out);
    free(err);
    cr_expect_eq(RUN("status", "-j", "-s", fake.path), COMMAND_OK);
    json_t *document = json_loads(out, 0, NULL);
    cr_assert_not_null(document);
    cr_expect_eq(json_integer_value(json_object_get(document, "received")), 18446744073709);
    json_decref(document);
    free(out);
    free(err);
    fake_stop(&fake);
}

Test(client, lists_come_in_pages_and_long_names_in_pieces)
{
    struct fake fake;
    fake_start(&fake, (const char *const[]){
                          "/pitlane/routes,0",
                          "{\"/pitlane/routes\":{\"rows\":{\"0\":{\"prefix\":\"/A\",\"face\":256,\"cost\":0},"
                          "\"1\":{\"prefix\":[\"/lo\",\"ng\"],\"face\":1257,\"cost\":10}},\"next\":64}}",
                          "/pitlane/routes,64",
                          "{\"/pitlane/routes\":{\"rows\":{\"64\":{\"prefix\":\"/B\",\"face\":258}}}}", NULL});
    char *out, *err;
    cr_expect_eq(RUN("route", "list", "-s", fake.path), COMMAND_OK);
    cr_expect_str_eq(out, "PREFIX  FACE  COST\n"
                          "/A       256     0\n"
                          "/long   1257    10\n"
                          "/B       258     -\n");
    free(out);
    free(err);
    cr_expect_eq(RUN("route", "list", "--json", "-s", fake.path), COMMAND_OK);
    json_t *document = json_loads(out, 0, NULL);
    cr_assert_not_null(document);
    cr_expect_eq(json_array_size(json_object_get(document, "routes")), 3);
    json_decref(document);
    free(out);
    free(err);
    fake_stop(&fake);
}

Test(client, drops_show_what_occurred_unless_all_is_asked)
{
    struct fake fake;
    fake_start(
        &fake,
        (const char *const[]){
            "/pitlane/drops,0",
            "{\"/pitlane/"
            "drops\":{\"rows\":{\"a\":{\"reason\":\"tlv_trunc\",\"count\":3,\"kind\":\"dropped\",\"text\":\"cut\"},"
            "\"b\":{\"reason\":\"l2_short\",\"count\":0,\"kind\":\"dropped\",\"text\":\"short\"}}}}",
            NULL});
    char *out, *err;
    cr_expect_eq(RUN("drops", "-s", fake.path), COMMAND_OK);
    cr_expect_str_eq(out, "REASON     FRAMES  KIND     MEANING\n"
                          "tlv_trunc       3  dropped  cut\n");
    free(out);
    free(err);
    cr_expect_eq(RUN("drops", "-a", "-s", fake.path), COMMAND_OK);
    cr_expect_not_null(strstr(out, "l2_short        0  dropped  short\n"));
    free(out);
    free(err);
    fake_stop(&fake);
}

Test(client, sockets_show_what_they_have_counted)
{
    struct fake fake;
    fake_start(&fake, (const char *const[]){"/pitlane/sockets,0",
                                            "{\"/pitlane/sockets\":{\"rows\":{\"a\":{\"counter\":\"stalled\","
                                            "\"count\":2,\"text\":\"stuck\"},\"b\":{\"counter\":\"refused\","
                                            "\"count\":0,\"text\":\"too many\"}}}}",
                                            NULL});
    char *out, *err;
    cr_expect_eq(RUN("sockets", "-s", fake.path), COMMAND_OK);
    cr_expect_str_eq(out, "COUNTER  COUNT  MEANING\n"
                          "stalled      2  stuck\n");
    free(out);
    free(err);
    fake_stop(&fake);
}

Test(client, answers_that_make_no_sense_are_exit_1)
{
    static const char *const answers[] = {
        "not json",
        "{\"/pitlane/faces\":null}",
        "{\"/other\":{}}",
        "[]",
        "{\"/pitlane/faces\":{\"rows\":{},\"next\":0}}",
        "{\"/pitlane/faces\":{\"rows\":{},\"next\":-5}}",
    };
    cr_redirect_stderr();
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++) {
        struct fake fake;
        char *out, *err;
        fake_start(&fake, (const char *const[]){"/pitlane/faces,0", answers[i], NULL});
        cr_expect_eq(RUN("face", "list", "-s", fake.path), COMMAND_FAILED, "%s", answers[i]);
        free(out);
        free(err);
        fake_stop(&fake);
    }
}

Test(client, every_read_asks_its_own_command)
{
    static const struct {
        const char *noun, *verb, *request, *key;
    } reads[] = {
        {"port", "list", "/pitlane/ports", "ports"},
        {"face", "list", "/pitlane/faces", "faces"},
        {"route", "list", "/pitlane/routes", "routes"},
        {"strategy", "list", "/pitlane/strategies", "strategies"},
        {"worker", "list", "/pitlane/workers", "workers"},
        {"pit", "info", "/pitlane/pit", "pit"},
        {"cs", "info", "/pitlane/cs", "cs"},
    };
    for (size_t i = 0; i < sizeof reads / sizeof *reads; i++) {
        struct fake fake;
        char *out, *err, request[64], answer[128];
        snprintf(request, sizeof request, "%s,0", reads[i].request);
        snprintf(answer, sizeof answer, "{\"%s\":{\"rows\":{\"0\":{\"name\":\"n\"}}}}", reads[i].request);
        fake_start(&fake, (const char *const[]){request, answer, NULL});
        cr_expect_eq(RUN(reads[i].noun, reads[i].verb, "-j", "-s", fake.path), COMMAND_OK, "%s", request);
        json_t *document = json_loads(out, 0, NULL);
        cr_expect_eq(json_array_size(json_object_get(document, reads[i].key)), 1, "%s", request);
        json_decref(document);
        free(out);
        free(err);
        fake_stop(&fake);
    }
}

Test(client, durations_are_short)
{
    static const struct {
        json_int_t ms;
        const char *text;
    } cases[] = {{0, "0.0s"},       {1500, "1.5s"},     {9999, "10.0s"},     {10000, "0m10s"},
                 {450000, "7m30s"}, {7500000, "2h05m"}, {273600000, "3d04h"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[32];
        json_t *value = json_integer(cases[i].ms);
        text_format(TEXT_DURATION, value, text, sizeof text);
        cr_expect_str_eq(text, cases[i].text);
        json_decref(value);
    }
}
