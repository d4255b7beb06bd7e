// SPDX-License-Identifier: Apache-2.0
/* `pitlane quic explain`, which asks the daemon, and `pitlane quic cid`, which asks nobody. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "conf/conf.h"
#include "fwd/client/command.h"
#include "fwd/client/manage_priv.h"
#include "fwd/client/quic.h"
#include "fwd/client/tel.h"
#include "fwd/quic/key_file.h"
#include "parser/quic_lb.h"

/* As the daemon takes, fwd/daemon/telemetry_explain.h. */
#define EXPLAIN_OCTETS 400
#define DATAGRAM_MAX   65527

static int complain(const struct command_line *line, const char *what, const char *detail)
{
    fprintf(line->err, "pitlane: %s%s%s\n", what, detail != NULL ? ": " : "", detail != NULL ? detail : "");
    return COMMAND_FAILED;
}

/* Hexadecimal digits, blanks and colons between them left out. @return octets, 0: they are none */
static size_t read_hex(const char *text, uint8_t *octets, size_t max)
{
    char digits[3] = "";
    size_t n = 0, have = 0;
    for (; *text != '\0'; text++) {
        if (*text == ' ' || *text == ':' || *text == '\n')
            continue;
        digits[have++] = *text;
        if (have < 2)
            continue;
        if (n == max || !conf_hex(digits, &octets[n++], 1))
            return 0;
        have = 0;
    }
    return have == 0 ? n : 0;
}

static void to_hex(const uint8_t *octets, size_t n, char *text)
{
    text[0] = '\0';
    for (size_t i = 0; i < n; i++)
        snprintf(text + 2 * i, 3, "%02x", octets[i]);
}

/* ---- explain ---- */

static json_t *ask_explain(const struct command_line *line, const char *params)
{
    char path[512], err[TEL_ERR] = "path of the socket is too long";
    struct tel *tel;
    json_t *answer = NULL;
    if (tel_path(path, sizeof path, command_value(line, "socket"), command_value(line, "runtime-dir"),
                 command_value(line, "prefix")) == 0 &&
        tel_open(&tel, path, err) == 0) {
        answer = tel_query(tel, "/pitlane/quic_explain", params, err);
        tel_close(tel);
    }
    if (answer == NULL)
        complain(line, err, NULL);
    return answer;
}

int quic_explain_run(const struct command_line *line)
{
    const char *service = command_value(line, "service"), *from = command_value(line, "from");
    static uint8_t datagram[DATAGRAM_MAX];
    char params[1024], head[2 * EXPLAIN_OCTETS + 1];
    uint8_t ip[16];
    bool v6;
    uint16_t port;
    size_t n = read_hex(line->operand, datagram, sizeof datagram);
    uint64_t len;
    if (command_number(line, "length", 1, DATAGRAM_MAX, n, &len) != 0)
        return COMMAND_USAGE;
    if (service == NULL || strchr(service, ',') != NULL || strlen(service) > 64) {
        complain(line, "--service NAME is needed", NULL);
        return COMMAND_USAGE;
    }
    if (n == 0 || len < n) {
        complain(line, "octets of a UDP payload in hexadecimal digits are needed", NULL);
        return COMMAND_USAGE;
    }
    if (from != NULL && !conf_quic_vip(from, ip, &v6, &port)) {
        complain(line, "--from: ADDRESS:PORT is needed, as 192.0.2.1:4433 or [2001:db8::1]:4433", NULL);
        return COMMAND_USAGE;
    }
    to_hex(datagram, n < EXPLAIN_OCTETS ? n : EXPLAIN_OCTETS, head);
    snprintf(params, sizeof params, "%s,%s,%u,%s", service, from != NULL ? from : "-", (unsigned)len, head);
    json_t *answer = ask_explain(line, params);
    if (answer == NULL)
        return COMMAND_FAILED;
    const char *error = json_string_value(json_object_get(answer, "error"));
    if (error != NULL) {
        complain(line, service, error);
        json_decref(answer);
        return COMMAND_FAILED;
    }
    static const struct text_column columns[] = {{0}};
    if (command_has(line, "json"))
        return manage_object(line, columns, answer);
    size_t i;
    json_t *step;
    json_array_foreach(json_object_get(answer, "steps"), i, step) fprintf(line->out, "%s\n", json_string_value(step));
    json_decref(answer);
    return COMMAND_OK;
}

/* ---- cid ---- */

/* Add a configuration, with the key of a file or in digits. @return false after a complaint */
static bool add_config(const struct command_line *line, struct quic_lb *lb, unsigned id, struct quic_lb_config *config,
                       const char *key_file, const char *key)
{
    char err[KEY_FILE_ERR_MAX];
    bool ok = true;
    config->encrypted = key_file != NULL || key != NULL;
    if (key_file != NULL && key_file_read(key_file, config->key, err) != 0)
        ok = complain(line, err, NULL) == COMMAND_OK;
    else if (key != NULL && !conf_hex(key, config->key, sizeof config->key))
        ok = complain(line, "--key: 32 hexadecimal digits are needed", NULL) == COMMAND_OK;
    else if (quic_lb_add_config(lb, (uint8_t)id, config) != 0)
        ok = complain(line, "a server ID of 1 to 15 and a nonce of 4 to 18 octets, together at most 19, are needed",
                      NULL) == COMMAND_OK;
    explicit_bzero(config, sizeof *config);
    return ok;
}

static bool rules_of_service(const struct command_line *line, const struct conf *conf, const char *service,
                             struct quic_lb *lb)
{
    bool known = false;
    for (unsigned i = 0; i < conf->n_quics; i++)
        known |= strcmp(conf->quic[i].name, service) == 0;
    if (!known)
        return complain(line, "no QUIC service of the configuration is called", service) == COMMAND_OK;
    for (unsigned i = 0; i < conf->n_quic_configs; i++) {
        const struct conf_quic_config *from = &conf->quic_config[i];
        struct quic_lb_config config = {.server_id_len = (uint8_t)from->server_id_len,
                                        .nonce_len = (uint8_t)from->nonce_len};
        if (strcmp(from->service_name, service) == 0 && !add_config(line, lb, from->id, &config, from->key_file, NULL))
            return false;
    }
    for (unsigned i = 0; i < conf->n_quic_schemes; i++) {
        const struct conf_quic_scheme *from = &conf->quic_scheme[i];
        const struct quic_lb_scheme scheme = {(uint8_t)from->mask, (uint8_t)from->value, (uint8_t)from->offset_bits,
                                              (uint8_t)from->bits};
        if (strcmp(from->service_name, service) == 0)
            quic_lb_add_scheme(lb, &scheme);
    }
    return true;
}

/* Rules of a configuration file, or of one configuration that options describe. @return enum command_exit */
static int read_rules(const struct command_line *line, unsigned config_id, struct quic_lb *lb)
{
    const char *file = command_value(line, "config"), *service = command_value(line, "service");
    uint64_t server_id_len, nonce_len;
    if (file != NULL) {
        struct conf *conf;
        if (service == NULL) {
            complain(line, "--config: --service NAME is needed, too", NULL);
            return COMMAND_USAGE;
        }
        if (conf_load(file, &conf, line->err) != 0)
            return COMMAND_FAILED;
        bool ok = rules_of_service(line, conf, service, lb);
        conf_free(conf);
        return ok ? COMMAND_OK : COMMAND_FAILED;
    }
    if (command_number(line, "server-id-length", 1, 15, 8, &server_id_len) != 0 ||
        command_number(line, "nonce-length", 4, 18, 8, &nonce_len) != 0)
        return COMMAND_USAGE;
    struct quic_lb_config config = {.server_id_len = (uint8_t)server_id_len, .nonce_len = (uint8_t)nonce_len};
    return add_config(line, lb, config_id, &config, command_value(line, "key-file"), command_value(line, "key"))
               ? COMMAND_OK
               : COMMAND_FAILED;
}

static struct quic_lb *rules_create(void)
{
    struct quic_lb *lb = aligned_alloc(64, (sizeof *lb + 63) & ~(size_t)63);
    if (lb != NULL)
        memset(lb, 0, sizeof *lb);
    return lb;
}

static void rules_destroy(struct quic_lb *lb)
{
    explicit_bzero(lb, sizeof *lb);
    free(lb);
}

static int print_cid(const struct command_line *line, const uint8_t *cid, size_t len, const struct quic_lb_id *id,
                     const uint8_t *nonce, int nonce_len)
{
    static const struct text_column columns[] = {
        {"cid", "connection ID", TEXT_STRING},
        {"config", "config ID", TEXT_NUMBER},
        {"server_id", "server ID", TEXT_STRING},
        {"nonce", "nonce", TEXT_STRING},
        {0},
    };
    char text[2 * QUIC_LB_CID_MAX + 1];
    json_t *object = json_object();
    to_hex(cid, len, text);
    json_object_set_new(object, "cid", json_string(text));
    json_object_set_new(object, "config", json_integer(cid[0] >> 5));
    to_hex(id->octets, id->len, text);
    json_object_set_new(object, "server_id", json_string(text));
    if (nonce_len > 0) {
        to_hex(nonce, (size_t)nonce_len, text);
        json_object_set_new(object, "nonce", json_string(text));
    }
    return manage_object(line, columns, object);
}

static int encode(const struct command_line *line)
{
    struct quic_lb_id id = {.len = 0};
    uint8_t octets[16], nonce[QUIC_LB_NONCE_MAX], cid[QUIC_LB_CID_MAX];
    uint64_t config_id;
    if (command_number(line, "id", 0, 6, 0, &config_id) != 0)
        return COMMAND_USAGE;
    id.len = (uint8_t)conf_quic_id(command_arg(line, "octets"), octets);
    memcpy(id.octets, octets, sizeof id.octets);
    const char *given = command_value(line, "nonce");
    size_t given_len = given != NULL ? read_hex(given, nonce, sizeof nonce) : 0;
    if (id.len == 0 || (given != NULL && given_len == 0)) {
        complain(line, "a server ID of 1 to 15, and a nonce of 4 to 18 octets in hexadecimal digits are needed", NULL);
        return COMMAND_USAGE;
    }
    struct quic_lb *lb = rules_create();
    if (lb == NULL || (given == NULL && getrandom(nonce, sizeof nonce, 0) != (ssize_t)sizeof nonce)) {
        free(lb);
        return complain(line, strerror(errno), NULL);
    }
    int status = read_rules(line, (unsigned)config_id, lb);
    // The length of a CID, which is also in it, comes from a first try.
    uint8_t first = (uint8_t)(config_id << 5);
    int len = status == COMMAND_OK ? quic_lb_encode(lb, first, &id, nonce, cid) : -EINVAL;
    if (len > 0)
        len = quic_lb_encode(lb, (uint8_t)(first | (len - 1)), &id, nonce, cid);
    if (status == COMMAND_OK && (len < 0 || (given != NULL && given_len != (size_t)len - 1 - id.len)))
        status = complain(line, "the configuration has server IDs or nonces of another length", NULL);
    if (status == COMMAND_OK)
        status = print_cid(line, cid, (size_t)len, &id, nonce, len - 1 - id.len);
    rules_destroy(lb);
    return status;
}

static int decode(const struct command_line *line)
{
    uint8_t cid[QUIC_LB_CID_MAX], nonce[QUIC_LB_NONCE_MAX];
    struct quic_lb_id id = {.len = 0};
    size_t len = read_hex(command_arg(line, "octets"), cid, sizeof cid);
    if (len == 0) {
        complain(line, "a connection ID of 1 to 20 octets in hexadecimal digits is needed", NULL);
        return COMMAND_USAGE;
    }
    struct quic_lb *lb = rules_create();
    if (lb == NULL)
        return complain(line, strerror(ENOMEM), NULL);
    int status = read_rules(line, cid[0] >> 5 == 7 ? 0 : cid[0] >> 5, lb);
    if (status == COMMAND_OK) {
        quic_lb_decode_init();
        enum quic_lb_verdict verdict = quic_lb_decode(lb, cid, len, &id);
        if (verdict != QUIC_LB_OK)
            status = complain(line, "not routable", quic_lb_verdict_text(verdict));
        else
            status = print_cid(line, cid, len, &id, nonce, quic_lb_open(lb, cid, len, &id, nonce));
    }
    rules_destroy(lb);
    return status;
}

int quic_cid_run(const struct command_line *line)
{
    if (strcmp(line->operand, "encode") == 0)
        return encode(line);
    if (strcmp(line->operand, "decode") == 0)
        return decode(line);
    complain(line, "quic cid: encode or decode is needed", NULL);
    return COMMAND_USAGE;
}
