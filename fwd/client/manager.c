// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fwd/client/manager_priv.h"
#include "fwd/mgmt/signer.h"
#include "parser/ndn_encode.h"
#include "parser/ndn_tlv.h"

#define COMMAND_TIMEOUT_NS 10000000000

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

uint32_t manager_fail(struct manager_answer *answer, uint32_t code, const char *text)
{
    *answer = (struct manager_answer){.code = code};
    snprintf(answer->text, sizeof answer->text, "%s", text);
    return code;
}

bool manager_add_component(uint8_t *name, size_t *len, size_t size, uint32_t type, const void *value, size_t value_len)
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

size_t manager_name(const struct manager *m, uint8_t *name, size_t size, const char *module, const char *verb)
{
    const char *const parts[] = {link_is_local(m->link) ? "localhost" : "localhop", "nfd", module, verb};
    size_t len = 0;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        manager_add_component(name, &len, size, NDN_GENERIC, parts[i], strlen(parts[i]));
    return len;
}

static bool starts_with(const struct ndn_name *name, const uint8_t *prefix, size_t len, bool whole)
{
    return (whole ? name->len == len : name->len >= len) && memcmp(name->value, prefix, len) == 0;
}

uint32_t manager_send(struct manager *m, size_t len, struct manager_answer *answer)
{
    const struct ndn_lp_out none = {0};
    return link_send(m->link, m->interest, len, &none, NULL) == 0
               ? MANAGER_OK
               : manager_fail(answer, MANAGER_LINK, "cannot send to the forwarder");
}

uint32_t manager_wait(struct manager *m, const uint8_t *name, size_t name_len, bool prefix, uint64_t deadline_ns,
                      struct manager_answer *answer)
{
    const struct ndn_packet *packet = &m->received.packet;
    for (;;) {
        int ret = link_receive(m->link, &m->received);
        if (ret == 1 && packet->type == NDN_TYPE_DATA && starts_with(&packet->name, name, name_len, !prefix))
            return MANAGER_OK;
        if (ret == 1 && packet->type == NDN_TYPE_INTEREST && (packet->lp.has & LP_HAS_NACK) != 0 &&
            starts_with(&packet->name, name, name_len, !prefix))
            return manager_fail(answer, MANAGER_NACK, "received Nack");
        if (ret == -ECONNRESET)
            return manager_fail(answer, MANAGER_LINK, "the forwarder closed the connection");
        if (ret < 0 && ret != -EAGAIN)
            return manager_fail(answer, MANAGER_LINK, strerror(-ret));
        // Packets for somebody else do not keep us waiting for longer.
        uint64_t now_ns = ping_now_ns();
        if (now_ns >= deadline_ns)
            return manager_fail(answer, MANAGER_TIMEOUT, "request timed out");
        if (ret != -EAGAIN)
            continue;
        struct pollfd fd = {.fd = link_fd(m->link), .events = link_events(m->link)};
        poll(&fd, 1, (int)((deadline_ns - now_ns) / 1000000) + 1);
    }
}

bool manager_keep_data(struct manager *m, struct ping_data *data)
{
    const struct ndn_packet *packet = &m->received.packet;
    if (packet->net_len > sizeof m->answer)
        return false;
    memcpy(m->answer, packet->net, packet->net_len);
    return ping_data_parse(m->answer, packet->net_len, data);
}

uint32_t manager_take_response(const struct ping_data *data, struct manager_answer *answer)
{
    struct mgmt_response response;
    if (mgmt_response_decode(data->content, data->content_len, &response) != 0)
        return manager_fail(answer, MANAGER_BAD_ANSWER, "the answer is no ControlResponse");
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
            return manager_fail(answer, MANAGER_BAD_ANSWER, "the body of the answer does not decode");
    }
    return answer->code;
}

uint32_t manager_command(struct manager *m, const char *module, const char *verb, const struct mgmt_params *params,
                         struct manager_answer *answer)
{
    uint8_t name[NDN_NAME_MAX], octets[NDN_NAME_MAX];
    size_t name_len = manager_name(m, name, sizeof name, module, verb);
    size_t len = mgmt_params_encode(octets, sizeof octets, params);
    uint64_t timeout_ns = m->timeout_ns != 0 ? m->timeout_ns : COMMAND_TIMEOUT_NS;
    if (len == 0 || !manager_add_component(name, &name_len, sizeof name, NDN_GENERIC, octets, len))
        return manager_fail(answer, MANAGER_LINK, "the request is too large");
    len = signer_interest(m->signer, m->interest, sizeof m->interest, name, name_len, (uint32_t)(timeout_ns / 1000000));
    struct ndn_packet packet;
    const struct ndn_parse_opts opts = {0};
    if (len == 0 || ndn_packet_parse(m->interest, len, &opts, &packet) != VERDICT_OK)
        return manager_fail(answer, MANAGER_LINK, "the request is too large");
    uint32_t code = manager_send(m, len, answer);
    if (code == MANAGER_OK)
        code = manager_wait(m, packet.name.value, packet.name.len, false, ping_now_ns() + timeout_ns, answer);
    struct ping_data data;
    if (code != MANAGER_OK)
        return code;
    if (!manager_keep_data(m, &data))
        return manager_fail(answer, MANAGER_BAD_ANSWER, "the answer is malformed Data");
    return manager_take_response(&data, answer);
}
