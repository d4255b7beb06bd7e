// SPDX-License-Identifier: Apache-2.0
#include "fwd/client/manager.h"

#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "fwd/client/ping.h"
#include "fwd/mgmt/signer.h"
#include "parser/ndn_encode.h"
#include "parser/ndn_tlv.h"

#define COMMAND_TIMEOUT_NS 10000000000
#define SEGMENT_TIMEOUT_NS 4000000000
/** Bounds of a dataset, against a forwarder gone mad. */
#define DATASET_MAX  (64u << 20)
#define SEGMENTS_MAX 65536

enum { COMP_SEGMENT = 50, COMP_VERSION = 54, CONTENT_TYPE_NACK = 3 };

struct manager {
    struct link *link;
    bool owns_link;
    struct signer *signer;
    uint64_t timeout_ns; /**< 0: the default of the request */
    struct link_packet received;
    uint8_t interest[NDN_PACKET_MAX];
    uint8_t answer[NDN_PACKET_MAX]; /**< Data that struct manager_answer points into */
};

int manager_attach(struct manager **out, struct link *link, const struct manager_config *config, char err[LINK_ERR])
{
    struct manager *m = calloc(1, sizeof *m);
    if (m == NULL) {
        snprintf(err, LINK_ERR, "out of memory");
        return -ENOMEM;
    }
    int ret = signer_create(&m->signer, config->key_file, config->certificate, err);
    if (ret != 0) {
        free(m);
        return ret;
    }
    m->link = link;
    m->timeout_ns = config->timeout_ns;
    *out = m;
    return 0;
}

int manager_open(struct manager **out, const struct manager_config *config, char err[LINK_ERR])
{
    const struct link_config link_config = {.transport = config->transport};
    struct link *link;
    int ret = link_open(&link, &link_config, false, err);
    if (ret != 0)
        return ret;
    ret = manager_attach(out, link, config, err);
    if (ret != 0)
        link_close(link);
    else
        (*out)->owns_link = true;
    return ret;
}

void manager_close(struct manager *m)
{
    if (m == NULL)
        return;
    if (m->owns_link)
        link_close(m->link);
    signer_destroy(m->signer);
    free(m);
}

static uint32_t fail(struct manager_answer *answer, uint32_t code, const char *text)
{
    *answer = (struct manager_answer){.code = code};
    snprintf(answer->text, sizeof answer->text, "%s", text);
    return code;
}

/** Append a component to a Name. @return false when there is no room */
static bool add_component(uint8_t *name, size_t *len, size_t size, uint32_t type, const void *value, size_t value_len)
{
    uint8_t header[18];
    size_t n = ndn_tlv_put_var(header, type);
    n += ndn_tlv_put_var(header + n, value_len);
    if (size - *len < n || size - *len - n < value_len)
        return false;
    memcpy(name + *len, header, n);
    if (value_len > 0)
        memcpy(name + *len + n, value, value_len);
    *len += n + value_len;
    return true;
}

/** The Name of a command or dataset: /localhost/nfd/MODULE/VERB. @return its octets */
static size_t make_name(const struct manager *m, uint8_t *name, size_t size, const char *module, const char *verb)
{
    const char *const parts[] = {link_is_local(m->link) ? "localhost" : "localhop", "nfd", module, verb};
    size_t len = 0;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        add_component(name, &len, size, NDN_GENERIC, parts[i], strlen(parts[i]));
    return len;
}

static bool starts_with(const struct ndn_name *name, const uint8_t *prefix, size_t len, bool whole)
{
    return (whole ? name->len == len : name->len >= len) && memcmp(name->value, prefix, len) == 0;
}

/**
 * Send an Interest and wait for its Data or Nack; other packets are not for us. @p prefix: Data may have a longer name.
 *
 * @return MANAGER_OK and m->received, else the code that answer has
 */
static uint32_t ask(struct manager *m, const uint8_t *interest, size_t len, const uint8_t *name, size_t name_len,
                    bool prefix, uint64_t timeout_ns, struct manager_answer *answer)
{
    const struct ndn_lp_out none = {0};
    const struct ndn_packet *packet = &m->received.packet;
    uint64_t deadline_ns = ping_now_ns() + timeout_ns;
    if (link_send(m->link, interest, len, &none, NULL) != 0)
        return fail(answer, MANAGER_LINK, "cannot send to the forwarder");
    for (;;) {
        int ret = link_receive(m->link, &m->received);
        if (ret == 1) {
            if (packet->type == NDN_TYPE_DATA && starts_with(&packet->name, name, name_len, !prefix))
                return MANAGER_OK;
            if (packet->type == NDN_TYPE_INTEREST && (packet->lp.has & LP_HAS_NACK) != 0 &&
                starts_with(&packet->name, name, name_len, true))
                return fail(answer, MANAGER_NACK, "received Nack");
            continue;
        }
        if (ret == -ECONNRESET)
            return fail(answer, MANAGER_LINK, "the forwarder closed the connection");
        if (ret < 0 && ret != -EAGAIN)
            return fail(answer, MANAGER_LINK, strerror(-ret));
        uint64_t now_ns = ping_now_ns();
        if (now_ns >= deadline_ns)
            return fail(answer, MANAGER_TIMEOUT, "request timed out");
        if (ret != -EAGAIN)
            continue;
        struct pollfd fd = {.fd = link_fd(m->link), .events = link_events(m->link)};
        poll(&fd, 1, (int)((deadline_ns - now_ns) / 1000000) + 1);
    }
}

/** Keep the Data just received, so that views into it live on. @return false when it is malformed */
static bool keep_data(struct manager *m, struct ping_data *data)
{
    const struct ndn_packet *packet = &m->received.packet;
    if (packet->net_len > sizeof m->answer)
        return false;
    memcpy(m->answer, packet->net, packet->net_len);
    return ping_data_parse(m->answer, packet->net_len, data);
}

/** A ControlResponse into an answer. @return its code, MANAGER_BAD_ANSWER when it makes no sense */
static uint32_t take_response(const struct ping_data *data, struct manager_answer *answer)
{
    struct mgmt_response response;
    if (mgmt_response_decode(data->content, data->content_len, &response) != 0)
        return fail(answer, MANAGER_BAD_ANSWER, "the answer is no ControlResponse");
    *answer = (struct manager_answer){.code = response.code};
    size_t len = response.text.len < sizeof answer->text - 1 ? response.text.len : sizeof answer->text - 1;
    for (size_t i = 0; i < len; i++) {
        // It goes to a terminal.
        uint8_t c = response.text.p[i];
        answer->text[i] = (char)(c >= 0x20 && c != 0x7f ? c : '?');
    }
    if (response.body.len > 0) {
        struct cursor c = cursor_make(response.body.p, response.body.len);
        struct tlv tlv;
        if (tlv_read(&c, false, &tlv) != VERDICT_OK || tlv.type != MGMT_CONTROL_PARAMETERS ||
            mgmt_params_decode(tlv.value, tlv.len, &answer->params) != 0)
            return fail(answer, MANAGER_BAD_ANSWER, "the body of the answer does not decode");
    }
    return answer->code;
}

uint32_t manager_command(struct manager *m, const char *module, const char *verb, const struct mgmt_params *params,
                         struct manager_answer *answer)
{
    uint8_t name[NDN_NAME_MAX], octets[NDN_NAME_MAX];
    size_t name_len = make_name(m, name, sizeof name, module, verb);
    size_t len = mgmt_params_encode(octets, sizeof octets, params);
    uint64_t timeout_ns = m->timeout_ns != 0 ? m->timeout_ns : COMMAND_TIMEOUT_NS;
    if (len == 0 || !add_component(name, &name_len, sizeof name, NDN_GENERIC, octets, len))
        return fail(answer, MANAGER_LINK, "the request is too large");
    len = signer_interest(m->signer, m->interest, sizeof m->interest, name, name_len, (uint32_t)(timeout_ns / 1000000));
    struct ndn_packet packet;
    const struct ndn_parse_opts opts = {0};
    if (len == 0 || ndn_packet_parse(m->interest, len, &opts, &packet) != VERDICT_OK)
        return fail(answer, MANAGER_LINK, "the request is too large");
    uint32_t code = ask(m, m->interest, len, packet.name.value, packet.name.len, false, timeout_ns, answer);
    struct ping_data data;
    if (code != MANAGER_OK)
        return code;
    if (!keep_data(m, &data))
        return fail(answer, MANAGER_BAD_ANSWER, "the answer is malformed Data");
    return take_response(&data, answer);
}

/** What the Name of a segment says. */
struct segment_name {
    size_t versioned_len; /**< octets of the Name up to the version */
    uint64_t segment;
};

/** @p base_len: octets of the dataset's Name. */
static bool parse_segment_name(const uint8_t *name, size_t len, size_t base_len, struct segment_name *parsed)
{
    struct cursor c = cursor_make(name + base_len, len - base_len);
    struct tlv version = {0}, segment = {0};
    // A signed or otherwise longer question has components before the version.
    while (cursor_left(&c) > 0) {
        version = segment;
        parsed->versioned_len = len - cursor_left(&c);
        if (tlv_read(&c, false, &segment) != VERDICT_OK)
            return false;
    }
    return version.type == COMP_VERSION && segment.type == COMP_SEGMENT && tlv_nni(&segment, &parsed->segment);
}

/** Number of the last segment, where this Data says so. @return false when FinalBlockId makes no sense */
static bool final_segment(const struct ping_data *data, uint64_t *last)
{
    if (data->final_block == NULL)
        return true;
    struct cursor c = cursor_make(data->final_block, data->final_block_len);
    struct tlv comp;
    return tlv_read(&c, false, &comp) == VERDICT_OK && cursor_left(&c) == 0 && comp.type == COMP_SEGMENT &&
           tlv_nni(&comp, last);
}

static bool append(struct manager_dataset *dataset, const uint8_t *p, size_t len)
{
    if (len > DATASET_MAX - dataset->len)
        return false;
    if (dataset->len + len > dataset->size) {
        size_t size = 2 * (dataset->len + len);
        uint8_t *grown = realloc(dataset->p, size);
        if (grown == NULL)
            return false;
        dataset->p = grown;
        dataset->size = size;
    }
    if (len > 0)
        memcpy(dataset->p + dataset->len, p, len);
    dataset->len += len;
    return true;
}

uint32_t manager_dataset(struct manager *m, const char *module, const char *list, const uint8_t *query,
                         size_t query_len, struct manager_dataset *dataset, struct manager_answer *answer)
{
    uint8_t name[NDN_NAME_MAX], number[8];
    uint64_t timeout_ns = m->timeout_ns != 0 ? m->timeout_ns : SEGMENT_TIMEOUT_NS;
    size_t base_len = make_name(m, name, sizeof name - 64, module, list), versioned_len = 0;
    uint64_t last = UINT64_MAX, next = 0;
    *dataset = (struct manager_dataset){0};
    if (query != NULL && !add_component(name, &base_len, sizeof name - 64, NDN_GENERIC, query, query_len))
        return fail(answer, MANAGER_LINK, "the request is too large");
    // The first answer tells the version; from then on segments are asked for by their whole Name.
    while (next <= last) {
        bool discovery = versioned_len == 0;
        size_t name_len = discovery ? base_len : versioned_len;
        if (!discovery)
            add_component(name, &name_len, sizeof name, COMP_SEGMENT, number, ndn_tlv_put_nni(number, next));
        struct ndn_interest_out out = {
            .name = name,
            .name_len = (uint16_t)name_len,
            .can_be_prefix = discovery,
            .must_be_fresh = discovery,
            .lifetime_ms = (uint32_t)(timeout_ns / 1000000),
        };
        if (getrandom(&out.nonce, sizeof out.nonce, 0) != sizeof out.nonce)
            return fail(answer, MANAGER_LINK, "no random numbers");
        size_t len = ndn_interest_encode(m->interest, sizeof m->interest, &out);
        uint32_t code = ask(m, m->interest, len, name, name_len, discovery, timeout_ns, answer);
        if (code != MANAGER_OK)
            goto free_dataset;
        struct ping_data data;
        const struct ndn_name *got = &m->received.packet.name;
        struct segment_name segment;
        if (!keep_data(m, &data)) {
            fail(answer, MANAGER_BAD_ANSWER, "the answer is malformed Data");
            goto free_dataset;
        }
        if (data.content_type == CONTENT_TYPE_NACK) {
            if (take_response(&data, answer) == MANAGER_OK)
                fail(answer, MANAGER_BAD_ANSWER, "a rejection with status code 200");
            goto free_dataset;
        }
        if (!parse_segment_name(got->value, got->len, base_len, &segment) || segment.versioned_len > sizeof name - 64 ||
            !final_segment(&data, &last) || (last != UINT64_MAX && last >= SEGMENTS_MAX) || next >= SEGMENTS_MAX) {
            fail(answer, MANAGER_BAD_ANSWER, "the name of the answer has no version and segment, or no sensible end");
            goto free_dataset;
        }
        if (discovery) {
            memcpy(name, got->value, segment.versioned_len);
            versioned_len = segment.versioned_len;
            // Some other segment of it was at hand: begin with the first.
            if (segment.segment != 0)
                continue;
        }
        if (!append(dataset, data.content, data.content_len)) {
            fail(answer, MANAGER_BAD_ANSWER, "the dataset is too large");
            goto free_dataset;
        }
        next++;
    }
    *answer = (struct manager_answer){.code = MANAGER_OK};
    return MANAGER_OK;
free_dataset:
    manager_dataset_free(dataset);
    return answer->code;
}

void manager_dataset_free(struct manager_dataset *dataset)
{
    free(dataset->p);
    *dataset = (struct manager_dataset){0};
}

int manager_dataset_next(const struct manager_dataset *dataset, size_t *off, const uint8_t **item)
{
    if (*off >= dataset->len)
        return 0;
    struct cursor c = cursor_make(dataset->p + *off, dataset->len - *off);
    struct tlv tlv;
    if (tlv_read(&c, false, &tlv) != VERDICT_OK)
        return -EINVAL;
    *item = dataset->p + *off;
    size_t size = (size_t)(c.p - *item);
    *off += size;
    return (int)size;
}
