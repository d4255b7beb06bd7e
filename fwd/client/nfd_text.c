// SPDX-License-Identifier: Apache-2.0
#include "fwd/client/nfd_text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "parser/ndn_name.h"
#include "parser/ndn_tlv.h"

static const struct {
    uint32_t type;
    const char *marker;
} markers[] = {{50, "seg"}, {52, "off"}, {54, "v"}, {56, "t"}, {58, "seq"}};

void nfd_name_text(struct mgmt_octets name, char *text, size_t size)
{
    struct cursor c = cursor_make(name.p, name.len);
    size_t used = 0;
    snprintf(text, size, "%s", name.len == 0 ? "/" : "");
    while (cursor_left(&c) > 0 && used < size) {
        const uint8_t *start = c.p;
        struct tlv comp;
        uint64_t number;
        const char *marker = NULL;
        if (tlv_read(&c, true, &comp) != VERDICT_OK)
            return;
        for (size_t i = 0; i < sizeof markers / sizeof *markers; i++) {
            if (markers[i].type == comp.type && tlv_nni(&comp, &number))
                marker = markers[i].marker;
        }
        int n = marker != NULL ? snprintf(text + used, size - used, "/%s=%" PRIu64, marker, number)
                               : ndn_name_to_uri(start, (size_t)(c.p - start), text + used, size - used);
        if (n < 0)
            return;
        used += (size_t)n;
    }
}

int nfd_name_parse(const char *text, uint8_t *name, size_t size)
{
    if (text[0] == '/' || strncmp(text, "ndn:", 4) == 0)
        return ndn_name_from_uri(text, name, size);
    char *slashed;
    if (asprintf(&slashed, "/%s", text) < 0)
        return -ENOMEM;
    int ret = ndn_name_from_uri(slashed, name, size);
    free(slashed);
    return ret;
}

void nfd_octets_text(struct mgmt_octets octets, char *text, size_t size)
{
    size_t len = octets.len < size - 1 ? octets.len : size - 1;
    for (size_t i = 0; i < len; i++)
        text[i] = (char)(octets.p[i] >= 0x20 && octets.p[i] < 0x7f ? octets.p[i] : '?');
    text[len] = '\0';
}

static const struct {
    const char *word;
    uint64_t origin;
} origins[] = {
    {"app", 0}, {"autoreg", 64}, {"client", 65}, {"autoconf", 66}, {"nlsr", 128}, {"prefixann", 129}, {"static", 255},
};

void nfd_origin_text(uint64_t origin, char text[24])
{
    snprintf(text, 24, "%" PRIu64, origin);
    for (size_t i = 0; i < sizeof origins / sizeof *origins; i++) {
        if (origins[i].origin == origin)
            snprintf(text, 24, "%s", origins[i].word);
    }
}

int nfd_origin_parse(const char *text, uint64_t *origin)
{
    for (size_t i = 0; i < sizeof origins / sizeof *origins; i++) {
        if (strcmp(origins[i].word, text) == 0) {
            *origin = origins[i].origin;
            return 0;
        }
    }
    char *end;
    errno = 0;
    unsigned long long n = strtoull(text, &end, 10);
    if (errno != 0 || text[0] < '0' || text[0] > '9' || *end != '\0')
        return -EINVAL;
    *origin = n;
    return 0;
}

void nfd_route_flags_text(uint64_t flags, char text[64])
{
    uint64_t rest = flags & ~(uint64_t)(NFD_CHILD_INHERIT | NFD_CAPTURE);
    size_t used = 0;
    if (flags == 0)
        snprintf(text, 64, "none");
    if ((flags & NFD_CHILD_INHERIT) != 0)
        used = (size_t)snprintf(text, 64, "child-inherit");
    if ((flags & NFD_CAPTURE) != 0)
        used += (size_t)snprintf(text + used, 64 - used, "%scapture", used > 0 ? "|" : "");
    if (rest != 0)
        snprintf(text + used, 64 - used, "%s0x%" PRIx64, used > 0 ? "|" : "", rest);
}

const char *nfd_persistency_text(uint64_t persistency)
{
    static const char *const words[] = {"persistent", "on-demand", "permanent"};
    return persistency < 3 ? words[persistency] : "unknown";
}

const char *nfd_scope_text(uint64_t scope)
{
    static const char *const words[] = {"non-local", "local"};
    return scope < 2 ? words[scope] : "unknown";
}

const char *nfd_link_type_text(uint64_t link_type)
{
    static const char *const words[] = {"point-to-point", "multi-access", "ad-hoc"};
    return link_type < 3 ? words[link_type] : "unknown";
}

int nfd_persistency_parse(const char *text, uint64_t *persistency)
{
    if (strcmp(text, "persistent") == 0)
        *persistency = NFD_PERSISTENT;
    else if (strcmp(text, "permanent") == 0)
        *persistency = NFD_PERMANENT;
    else
        return -EINVAL;
    return 0;
}
