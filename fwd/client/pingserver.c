// SPDX-License-Identifier: Apache-2.0
/* `pitlane pingserver`: an NDN producer that answers every Interest below a prefix. */
#include "fwd/client/ping.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "fwd/client/command.h"
#include "fwd/client/link.h"
#include "fwd/client/manager.h"
#include "fwd/client/nfd_text.h"
#include "parser/ndn_encode.h"

struct server {
    const struct command_line *line;
    struct link *link;
    bool quiet;
    uint64_t size, count, freshness_ns;
    uint8_t prefix[NDN_NAME_MAX];
    size_t prefix_len;
    uint64_t n_interests, n_answered, n_other, n_failed;
};

static void answer(struct server *server, const struct link_packet *received)
{
    const struct ndn_packet *packet = &received->packet;
    const struct ndn_name *name = &packet->name;
    uint8_t content[PING_CONTENT_MAX];
    uint8_t data[2 * NDN_PACKET_MAX];
    if (packet->type != NDN_TYPE_INTEREST || (packet->lp.has & LP_HAS_NACK) != 0 || name->len < server->prefix_len ||
        memcmp(name->value, server->prefix, server->prefix_len) != 0) {
        server->n_other++;
        return;
    }
    server->n_interests++;
    ping_content(name->value, name->len, content, server->size);
    const struct ndn_data_out out = {
        .name = name->value,
        .name_len = name->len,
        .freshness_ms = (uint32_t)(server->freshness_ns / 1000000),
        .content = content,
        .content_len = (uint16_t)server->size,
    };
    size_t signed_off, signed_len;
    size_t len = ndn_data_encode(data, sizeof data, &out, &signed_off, &signed_len);
    // The signature's value ends the packet.
    if (len < 32 || len > NDN_PACKET_MAX || !ping_sha256(data + signed_off, signed_len, data + len - 32)) {
        server->n_failed++;
        return;
    }
    const struct ndn_lp_out lp = {.token_len = packet->lp.token_len, .token = packet->lp.token};
    if (link_send(server->link, data, len, &lp, &received->from) != 0) {
        server->n_failed++;
        return;
    }
    server->n_answered++;
    if (!server->quiet) {
        char uri[512];
        ndn_name_to_uri(name->value, name->len, uri, sizeof uri);
        fprintf(server->line->out, "interest received: %s\n", uri);
        fflush(server->line->out);
    }
}

static int loop(struct server *server)
{
    struct link_packet received;
    while (!ping_stopped() && server->n_answered < server->count) {
        struct pollfd fd = {.fd = link_fd(server->link), .events = link_events(server->link)};
        if (poll(&fd, 1, 1000) <= 0)
            continue;
        int ret;
        do {
            ret = link_receive(server->link, &received);
            if (ret == 1)
                answer(server, &received);
        } while (ret >= 0 && server->n_answered < server->count && !ping_stopped());
        // A link that goes down and comes up again is waited for.
        if (ret != -EAGAIN && ret < 0 && ret != -ENETDOWN) {
            fprintf(stderr, "pitlane: cannot receive: %s\n", strerror(-ret));
            return ret;
        }
    }
    return 0;
}

static void summarize(const struct server *server)
{
    const struct link_counters *link = link_counters(server->link);
    FILE *out = server->line->out;
    if (command_has(server->line, "json")) {
        json_t *document = json_pack("{ss sI sI sI sI sI sI sI}", "prefix", server->line->operand, "interests",
                                     (json_int_t)server->n_interests, "answered", (json_int_t)server->n_answered,
                                     "other", (json_int_t)server->n_other, "failed", (json_int_t)server->n_failed,
                                     "frames_in", (json_int_t)link->frames_received, "frames_out",
                                     (json_int_t)link->frames_sent, "bad_frames", (json_int_t)link->bad);
        json_dumpf(document, out, JSON_INDENT(2));
        fputc('\n', out);
        json_decref(document);
        return;
    }
    fprintf(out, "--- %s pingserver statistics ---\n", server->line->operand);
    fprintf(out,
            "%" PRIu64 " Interests received, %" PRIu64 " answered, %" PRIu64 " failed, %" PRIu64
            " other packets, %" PRIu64 " bad frames\n",
            server->n_interests, server->n_answered, server->n_failed, server->n_other, link->bad);
}

/** Ask the forwarder at the other end for the Interests below the prefix. @return 0, or -EIO after a complaint */
static int register_prefix(const struct server *server)
{
    const struct manager_config config = {
        .key_file = command_value(server->line, "key"),
        .certificate = command_value(server->line, "certificate"),
    };
    const struct mgmt_params params = {
        .has = MGMT_HAS_NAME | MGMT_HAS_FLAGS,
        .name = {server->prefix, (uint16_t)server->prefix_len},
        .flags = NFD_CHILD_INHERIT,
    };
    struct manager *manager;
    struct manager_answer answer;
    char err[LINK_ERR];
    if (manager_attach(&manager, server->link, &config, err) != 0) {
        fprintf(stderr, "pitlane: %s\n", err);
        return -EIO;
    }
    uint32_t code = manager_command(manager, "rib", "register", &params, &answer);
    if (code != MANAGER_OK)
        fprintf(stderr, "Error %u when registering %s: %s\n", code, server->line->operand, answer.text);
    manager_close(manager);
    return code == MANAGER_OK ? 0 : -EIO;
}

int pingserver_run(const struct command_line *line)
{
    struct server server = {.line = line, .quiet = command_has(line, "quiet") || command_has(line, "json")};
    struct link_config config;
    char err[LINK_ERR];
    if (command_number(line, "size", 0, PING_CONTENT_MAX, 100, &server.size) != 0 ||
        command_number(line, "count", 1, UINT64_MAX, UINT64_MAX, &server.count) != 0 ||
        command_time(line, "freshness", 0, 86400000000000, 0, &server.freshness_ns) != 0 ||
        link_config_from_line(line, &config) != 0)
        return COMMAND_USAGE;
    int len = ndn_name_from_uri(line->operand, server.prefix, sizeof server.prefix);
    if (len < 0) {
        fprintf(stderr, "pitlane: %s: not an NDN name\n", line->operand);
        return COMMAND_USAGE;
    }
    server.prefix_len = (size_t)len;
    if (link_open(&server.link, &config, true, err) != 0) {
        fprintf(stderr, "pitlane: %s\n", err);
        return COMMAND_FAILED;
    }
    if (link_is_stream(server.link) && register_prefix(&server) != 0) {
        link_close(server.link);
        return COMMAND_FAILED;
    }
    ping_catch_signals();
    if (!server.quiet)
        fprintf(line->out, "PING SERVER %s, %s\n", line->operand, link_name(server.link));
    fflush(line->out);
    // Scripts wait for this line: the socket is bound, or the prefix registered, from here on.
    fprintf(stderr, "ready\n");
    int ret = loop(&server);
    summarize(&server);
    link_close(server.link);
    return ret == 0 ? COMMAND_OK : COMMAND_FAILED;
}
