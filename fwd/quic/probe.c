// SPDX-License-Identifier: Apache-2.0
#include "fwd/quic/probe.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include "parser/quic.h"

/* Number of the target, and what nobody can guess. */
#define CID_LEN        (4 + QUIC_PROBE_RANDOM)
#define ANSWERS_MAX    8192
#define RECEIVE_OCTETS (4 << 20)

union address {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
};

void quic_probe_open(struct quic_probe *probe)
{
    for (int i = 0; i < 2; i++) {
        int octets = RECEIVE_OCTETS;
        probe->fd[i] = socket(i == 0 ? AF_INET : AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        if (probe->fd[i] >= 0)
            setsockopt(probe->fd[i], SOL_SOCKET, SO_RCVBUF, &octets, sizeof octets);
    }
}

void quic_probe_close(struct quic_probe *probe)
{
    for (int i = 0; i < 2; i++)
        if (probe->fd[i] >= 0)
            close(probe->fd[i]);
}

static socklen_t address_of(const struct quic_probe_target *target, union address *to)
{
    memset(to, 0, sizeof *to);
    if (target->v6) {
        to->v6.sin6_family = AF_INET6;
        to->v6.sin6_port = htons(target->port);
        memcpy(&to->v6.sin6_addr, target->ip, 16);
        return sizeof to->v6;
    }
    to->v4.sin_family = AF_INET;
    to->v4.sin_port = htons(target->port);
    memcpy(&to->v4.sin_addr, target->ip, 4);
    return sizeof to->v4;
}

static bool is_from(const struct quic_probe_target *target, const union address *from)
{
    if (target->v6)
        return from->any.sa_family == AF_INET6 && from->v6.sin6_port == htons(target->port) &&
               memcmp(&from->v6.sin6_addr, target->ip, 16) == 0;
    return from->any.sa_family == AF_INET && from->v4.sin_port == htons(target->port) &&
           memcmp(&from->v4.sin_addr, target->ip, 4) == 0;
}

static void cid_of(uint32_t number, const struct quic_probe_target *target, uint8_t cid[CID_LEN])
{
    memcpy(cid, &number, sizeof number);
    memcpy(cid + sizeof number, target->random, sizeof target->random);
}

/* The packet's DCID is the SCID that the probe had. */
static void take_answer(struct quic_probe_target *targets, uint32_t n, const uint8_t *p, size_t len,
                        const union address *from)
{
    const struct quic_opts opts = {.small_initials = true};
    struct quic_header header;
    uint8_t cid[CID_LEN];
    uint32_t number;
    if (quic_parse(p, len, &opts, &header) != VERDICT_OK || header.type != QUIC_TYPE_VERSION_NEGOTIATION ||
        header.dcid_len != CID_LEN)
        return;
    memcpy(&number, header.dcid, sizeof number);
    if (number >= n || !targets[number].waits || !is_from(&targets[number], from))
        return;
    cid_of(number, &targets[number], cid);
    if (memcmp(cid, header.dcid, sizeof cid) != 0)
        return;
    targets[number].waits = false;
    targets[number].silent = false;
    targets[number].failures = 0;
}

static void take_answers(const struct quic_probe *probe, struct quic_probe_target *targets, uint32_t n)
{
    for (int i = 0; i < 2; i++)
        for (int k = 0; probe->fd[i] >= 0 && k < ANSWERS_MAX; k++) {
            uint8_t octets[2048];
            union address from;
            socklen_t size = sizeof from;
            ssize_t len = recvfrom(probe->fd[i], octets, sizeof octets, 0, &from.any, &size);
            if (len < 0)
                break;
            take_answer(targets, n, octets, (size_t)len, &from);
        }
}

static void send_probe(const struct quic_probe *probe, uint32_t number, struct quic_probe_target *target,
                       uint64_t now_ms)
{
    // Version 0x?a?a?a?a.
    uint8_t datagram[QUIC_INITIAL_MIN] = {0xc0, 0x1a, 0x2a, 0x3a, 0x4a, CID_LEN};
    union address to;
    target->due_ms = now_ms + target->interval_ms;
    if (getrandom(target->random, sizeof target->random, 0) != (ssize_t)sizeof target->random)
        return;
    cid_of(number, target, datagram + 6);
    datagram[6 + CID_LEN] = CID_LEN;
    cid_of(number, target, datagram + 7 + CID_LEN);
    socklen_t size = address_of(target, &to);
    // One that cannot be sent is one without an answer.
    sendto(probe->fd[target->v6], datagram, sizeof datagram, MSG_NOSIGNAL, &to.any, size);
    target->waits = true;
    target->deadline_ms = now_ms + target->timeout_ms;
}

void quic_probe_round(struct quic_probe *probe, struct quic_probe_target *targets, uint32_t n, uint64_t now_ms)
{
    take_answers(probe, targets, n);
    for (uint32_t i = 0; i < n; i++) {
        struct quic_probe_target *target = &targets[i];
        if (target->interval_ms == 0)
            continue;
        if (target->waits && now_ms >= target->deadline_ms) {
            target->waits = false;
            target->failures += target->failures < target->failures_max;
            target->silent |= target->failures >= target->failures_max;
        }
        // Not all at once at the start.
        if (target->due_ms == 0)
            target->due_ms = now_ms + (uint64_t)target->interval_ms * i / n;
        if (!target->waits && now_ms >= target->due_ms)
            send_probe(probe, i, target, now_ms);
    }
}
