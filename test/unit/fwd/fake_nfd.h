// SPDX-License-Identifier: Apache-2.0
#ifndef TEST_UNIT_FWD_FAKE_NFD_H
#define TEST_UNIT_FWD_FAKE_NFD_H

#include <criterion/criterion.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "fwd/client/batch.h"
#include "fwd/client/command.h"
#include "fwd/client/nfd_text.h"
#include "fwd/client/ping.h"
#include "fwd/mgmt/wire.h"
#include "parser/ndn_encode.h"
#include "parser/ndn_tlv.h"

/* A forwarder's management behind a Unix socket, which answers from a table of rules and writes down what it is asked.
 */

enum fake_act {
    FAKE_ANSWER = 0, /**< a ControlResponse, or a dataset when there are octets */
    FAKE_SILENT,
    FAKE_CLOSE,
    FAKE_HALF,     /**< half of the answer, then close */
    FAKE_RAW,      /**< the octets of the rule as they are, not in a Data */
    FAKE_NACK,     /**< a Nack NoRoute */
    FAKE_IN_LP,    /**< the answer in an LpPacket with IncomingFaceId */
    FAKE_NO_NAMES, /**< a dataset without version and segment in its name */
    FAKE_REJECT,   /**< a dataset of ContentType Nack that holds a ControlResponse */
    FAKE_BLOB,     /**< the octets of the rule as Content of an answer to a command */
};

struct fake_rule {
    const char *path; /**< "faces/create"; NULL ends the table */
    uint32_t code;
    const char *text;
    struct mgmt_params body; /**< has 0: none */
    const char *hex;         /**< octets of the dataset */
    size_t segment;          /**< octets of a segment; 0: all in one */
    enum fake_act act;
    unsigned forgets; /**< so many requests for later segments are not answered */
};

struct fake_nfd {
    const struct fake_rule *rules;
    char dir[32], path[64], uri[80];
    int fd;
    pthread_t thread;
    char log[16384]; /**< a line for each request; to be read after fake_nfd_stop() */
    size_t log_len;
    unsigned n_forgotten;
};

static size_t fake_hex(const char *hex, uint8_t *out, size_t size)
{
    size_t n = 0;
    for (; hex[0] != '\0' && hex[1] != '\0'; hex += 2) {
        unsigned octet;
        cr_assert(n < size && sscanf(hex, "%2x", &octet) == 1);
        out[n++] = (uint8_t)octet;
    }
    return n;
}

static void fake_log(struct fake_nfd *fake, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void fake_log(struct fake_nfd *fake, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = vsnprintf(fake->log + fake->log_len, sizeof fake->log - fake->log_len, format, args);
    va_end(args);
    if (n > 0 && fake->log_len + (size_t)n < sizeof fake->log)
        fake->log_len += (size_t)n;
}

/** The parameters of a command as text. */
static void fake_log_params(struct fake_nfd *fake, const struct mgmt_params *p)
{
    char text[512];
    const struct {
        uint32_t bit;
        const char *name;
        uint64_t value;
    } numbers[] = {
        {MGMT_HAS_FACE_ID, "face", p->face_id},
        {MGMT_HAS_ORIGIN, "origin", p->origin},
        {MGMT_HAS_COST, "cost", p->cost},
        {MGMT_HAS_CAPACITY, "capacity", p->capacity},
        {MGMT_HAS_COUNT, "count", p->count},
        {MGMT_HAS_FLAGS, "flags", p->flags},
        {MGMT_HAS_MASK, "mask", p->mask},
        {MGMT_HAS_EXPIRATION_PERIOD, "expires", p->expiration_ms},
        {MGMT_HAS_FACE_PERSISTENCY, "persistency", p->persistency},
        {MGMT_HAS_CONGESTION_INTERVAL, "interval", p->congestion_interval_ns},
        {MGMT_HAS_CONGESTION_THRESHOLD, "threshold", p->congestion_threshold},
        {MGMT_HAS_MTU, "mtu", p->mtu},
    };
    if ((p->has & MGMT_HAS_NAME) != 0) {
        nfd_name_text(p->name, text, sizeof text);
        fake_log(fake, " name=%s", text);
    }
    if ((p->has & MGMT_HAS_URI) != 0)
        fake_log(fake, " uri=%.*s", (int)p->uri.len, (const char *)p->uri.p);
    if ((p->has & MGMT_HAS_LOCAL_URI) != 0)
        fake_log(fake, " local=%.*s", (int)p->local_uri.len, (const char *)p->local_uri.p);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        if ((p->has & numbers[i].bit) != 0)
            fake_log(fake, " %s=%" PRIu64, numbers[i].name, numbers[i].value);
    }
    if ((p->has & MGMT_HAS_STRATEGY) != 0) {
        nfd_name_text(p->strategy, text, sizeof text);
        fake_log(fake, " strategy=%s", text);
    }
}

static void fake_send(int fd, const uint8_t *p, size_t len)
{
    while (len > 0) {
        ssize_t n = send(fd, p, len, MSG_NOSIGNAL);
        if (n <= 0)
            return;
        p += n;
        len -= (size_t)n;
    }
}

static size_t fake_tlv(uint8_t *p, uint32_t type, const void *value, size_t len)
{
    size_t n = ndn_tlv_put_var(p, type);
    n += ndn_tlv_put_var(p + n, len);
    memcpy(p + n, value, len);
    return n + len;
}

/** A Data packet with the elements a dataset needs. @p last < 0: no FinalBlockId */
static size_t fake_data(uint8_t *out, const uint8_t *name, size_t name_len, uint8_t content_type, int64_t last,
                        const uint8_t *content, size_t content_len)
{
    static const uint8_t signature[] = {0x16, 3, 0x1b, 1, 0};
    uint8_t inside[NDN_PACKET_MAX + 512], meta[64], component[16], number[8], digest[32];
    size_t meta_len = 0, len = fake_tlv(inside, NDN_TLV_NAME, name, name_len);
    if (content_type != 0)
        meta_len += fake_tlv(meta, NDN_TLV_CONTENT_TYPE, &content_type, 1);
    meta_len += fake_tlv(meta + meta_len, NDN_TLV_FRESHNESS, "\x03\xe8", 2);
    if (last >= 0) {
        size_t n = fake_tlv(component, 50, number, ndn_tlv_put_nni(number, (uint64_t)last));
        meta_len += fake_tlv(meta + meta_len, NDN_TLV_FINAL_BLOCK_ID, component, n);
    }
    len += fake_tlv(inside + len, NDN_TLV_META_INFO, meta, meta_len);
    len += fake_tlv(inside + len, NDN_TLV_CONTENT, content, content_len);
    memcpy(inside + len, signature, sizeof signature);
    len += sizeof signature;
    cr_assert(ping_sha256(inside, len, digest));
    len += fake_tlv(inside + len, NDN_TLV_SIGNATURE_VALUE, digest, sizeof digest);
    return fake_tlv(out, NDN_TYPE_DATA, inside, len);
}

static void fake_answer(struct fake_nfd *fake, int fd, const struct fake_rule *rule, const struct ndn_packet *interest,
                        uint64_t segment)
{
    static _Thread_local uint8_t octets[65536], out[NDN_LP_HEADER_MAX + 2 * NDN_PACKET_MAX];
    uint8_t name[NDN_NAME_MAX], number[8], content[NDN_PACKET_MAX];
    uint8_t *packet = out + NDN_LP_HEADER_MAX;
    size_t name_len = interest->name.len, len, n_octets = 0;
    memcpy(name, interest->name.value, name_len);
    if (rule->hex != NULL)
        n_octets = fake_hex(rule->hex, octets, sizeof octets);
    if (rule->act == FAKE_RAW) {
        fake_send(fd, octets, n_octets);
        return;
    }
    if (rule->act == FAKE_NACK) {
        memcpy(packet, interest->net, interest->net_len);
        const struct ndn_lp_out nack = {.nack_reason = NDN_NACK_NO_ROUTE};
        len = ndn_lp_prepend(packet, interest->net_len, &nack);
        fake_send(fd, packet - len, len + interest->net_len);
        return;
    }
    bool dataset = rule->code == 0 || rule->act == FAKE_REJECT;
    if (!dataset || rule->act == FAKE_REJECT) {
        size_t n = mgmt_response_encode(content, sizeof content, rule->code, rule->text,
                                        rule->body.has != 0 ? &rule->body : NULL);
        len = fake_data(packet, name, name_len, dataset ? 3 : 0, dataset ? 0 : -1, content, n);
    } else if (rule->act == FAKE_BLOB) {
        len = fake_data(packet, name, name_len, 0, -1, octets, n_octets);
    } else {
        size_t size = rule->segment > 0 ? rule->segment : n_octets + 1;
        uint64_t last = n_octets > 0 ? (n_octets - 1) / size : 0;
        if (segment > last)
            return;
        // Segments in the store may be gone.
        if (segment > 0 && fake->n_forgotten < rule->forgets) {
            fake->n_forgotten++;
            return;
        }
        size_t off = segment * size, n = n_octets - off < size ? n_octets - off : size;
        if (interest->interest.can_be_prefix && rule->act != FAKE_NO_NAMES) {
            name_len += fake_tlv(name + name_len, 54, number, ndn_tlv_put_nni(number, 1700000000000));
            name_len += fake_tlv(name + name_len, 50, number, ndn_tlv_put_nni(number, segment));
        }
        len = fake_data(packet, name, name_len, 0, segment == last ? (int64_t)last : -1, octets + off, n);
    }
    if (rule->act == FAKE_IN_LP) {
        const struct ndn_lp_out lp = {.has_incoming_face = true, .incoming_face = 300};
        size_t header = ndn_lp_prepend(packet, len, &lp);
        packet -= header;
        len += header;
    }
    fake_send(fd, packet, rule->act == FAKE_HALF ? len / 2 : len);
}

/** Take one request apart, write it down and answer. @return false when the connection is to be closed */
static bool fake_request(struct fake_nfd *fake, int fd, const uint8_t *p, size_t len)
{
    const struct ndn_parse_opts opts = {0};
    struct ndn_packet interest;
    struct tlv comp[8] = {0};
    unsigned n = 0;
    char path[64] = "";
    uint64_t segment = 0;
    cr_assert_eq(ndn_packet_parse(p, len, &opts, &interest), VERDICT_OK);
    cr_assert_eq(interest.type, NDN_TYPE_INTEREST);
    struct cursor c = cursor_make(interest.name.value, interest.name.len);
    while (n < 8 && cursor_left(&c) > 0)
        cr_assert_eq(tlv_read(&c, false, &comp[n++]), VERDICT_OK);
    cr_assert(n >= 4);
    snprintf(path, sizeof path, "%.*s/%.*s", (int)comp[2].len, (const char *)comp[2].value, (int)comp[3].len,
             (const char *)comp[3].value);
    fake_log(fake, "%s", path);
    struct mgmt_params params = {0};
    struct tlv parameters = {0};
    if (n == 6 && comp[5].type == NDN_PARAMS_DIGEST) {
        struct cursor inside = cursor_make(comp[4].value, comp[4].len);
        cr_assert_eq(tlv_read(&inside, false, &parameters), VERDICT_OK);
        cr_assert_eq(parameters.type, MGMT_CONTROL_PARAMETERS);
        cr_assert_eq(mgmt_params_decode(parameters.value, parameters.len, &params), 0);
        fake_log_params(fake, &params);
    } else if (comp[n - 1].type == 50) {
        cr_assert(tlv_nni(&comp[n - 1], &segment));
        fake_log(fake, " segment=%" PRIu64, segment);
    }
    fake_log(fake, "\n");
    for (const struct fake_rule *rule = fake->rules; rule->path != NULL; rule++) {
        if (strcmp(rule->path, path) != 0)
            continue;
        if (rule->act == FAKE_CLOSE)
            return false;
        if (rule->act != FAKE_SILENT)
            fake_answer(fake, fd, rule, &interest, segment);
        return rule->act != FAKE_HALF;
    }
    return true;
}

static void fake_connection(struct fake_nfd *fake, int fd)
{
    uint8_t in[4 * NDN_PACKET_MAX];
    size_t len = 0;
    for (;;) {
        struct cursor c = cursor_make(in, len);
        struct tlv tlv;
        if (len >= 2 && tlv_read(&c, false, &tlv) == VERDICT_OK) {
            size_t size = (size_t)(c.p - in);
            if (!fake_request(fake, fd, in, size))
                return;
            memmove(in, in + size, len - size);
            len -= size;
            continue;
        }
        ssize_t n = recv(fd, in + len, sizeof in - len, 0);
        if (n <= 0)
            return;
        len += (size_t)n;
    }
}

static void *fake_serve(void *arg)
{
    struct fake_nfd *fake = arg;
    for (;;) {
        int fd = accept(fake->fd, NULL, NULL);
        if (fd < 0)
            return NULL;
        fake_connection(fake, fd);
        close(fd);
    }
}

static inline void fake_nfd_start(struct fake_nfd *fake, const struct fake_rule *rules)
{
    *fake = (struct fake_nfd){.rules = rules};
    strcpy(fake->dir, "/tmp/pitlane-test-XXXXXX");
    cr_assert_not_null(mkdtemp(fake->dir));
    snprintf(fake->path, sizeof fake->path, "%s/nfd.sock", fake->dir);
    snprintf(fake->uri, sizeof fake->uri, "unix://%s", fake->path);
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    strcpy(address.sun_path, fake->path);
    fake->fd = socket(AF_UNIX, SOCK_STREAM, 0);
    cr_assert(fake->fd >= 0);
    cr_assert_eq(bind(fake->fd, (const struct sockaddr *)&address, sizeof address), 0);
    cr_assert_eq(listen(fake->fd, 4), 0);
    cr_assert_eq(pthread_create(&fake->thread, NULL, fake_serve, fake), 0);
    setenv("NDN_CLIENT_TRANSPORT", fake->uri, 1);
    unsetenv("PITLANE_SOCKET");
}

static inline void fake_nfd_stop(struct fake_nfd *fake)
{
    shutdown(fake->fd, SHUT_RDWR);
    pthread_join(fake->thread, NULL);
    close(fake->fd);
    unlink(fake->path);
    rmdir(fake->dir);
}

/** A command line in one string, split as in a batch. */
static inline int run_line(const char *text, char **out, char **err)
{
    char line[1024], *words[64];
    size_t size;
    snprintf(line, sizeof line, "pitlane %s", text);
    int n = batch_split(line, words, 64);
    cr_assert(n > 1);
    FILE *out_file = open_memstream(out, &size), *err_file = open_memstream(err, &size);
    int status = command_main(n, words, out_file, err_file);
    fclose(out_file);
    fclose(err_file);
    return status;
}

#endif
