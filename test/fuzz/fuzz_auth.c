// SPDX-License-Identifier: Apache-2.0
/*
 * Any octets as a command, as a prefix announcement, as a certificate and as base64 of one. No signature can be made
 * by chance: what is accepted must be signed octets of the vectors, unchanged, and count once.
 */
#include "fwd/mgmt/auth.h"
#include "fwd/mgmt/auth_file.h"
#include "fwd/mgmt/auth_packet.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conf/conf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define VECTORS_MAX 64

/* Octets that one of the vectors signs. */
static struct {
    uint8_t *octets;
    size_t len;
} covered[VECTORS_MAX];
static unsigned n_covered;

/* Configuration that trusts the certificates of all vectors. */
static char conf_text[101000];

static void require(bool holds, const char *what)
{
    if (!holds) {
        fprintf(stderr, "broken: %s\n", what);
        abort();
    }
}

static size_t from_hex(const char *hex, uint8_t *octets)
{
    size_t len = strlen(hex) / 2;
    for (size_t i = 0; i < len; i++) {
        unsigned octet = 0;
        require(sscanf(hex + 2 * i, "%2x", &octet) == 1, "vectors are hex");
        octets[i] = (uint8_t)octet;
    }
    return len;
}

static size_t to_base64(char *text, const uint8_t *octets, size_t len)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    size_t n = 0;
    for (size_t i = 0; i < len; i += 3) {
        uint32_t bits = (uint32_t)octets[i] << 16;
        bits |= i + 1 < len ? (uint32_t)octets[i + 1] << 8 : 0;
        bits |= i + 2 < len ? octets[i + 2] : 0;
        for (unsigned k = 0; k < 4; k++)
            text[n++] = i + k <= len ? digits[bits >> (18 - 6 * k) & 63] : '=';
    }
    text[n] = '\0';
    return n;
}

static void load_vectors(void)
{
    static char line[6000], name[40], hex[5000], anchors[50000];
    uint8_t octets[NDN_PACKET_MAX];
    size_t n = 0;
    FILE *file = fopen(AUTH_VECTORS, "r");
    require(file != NULL, "vectors are there");
    while (fgets(line, sizeof line, file) != NULL) {
        if (line[0] == '#' || sscanf(line, "%39s %4999s", name, hex) != 2 || strcmp(name, "hmac-key") == 0)
            continue;
        size_t len = from_hex(hex, octets);
        struct auth_signature s;
        bool is_data = octets[0] == NDN_TYPE_DATA;
        require((is_data ? auth_data_parse : auth_interest_parse)(octets, len, &s) != AUTH_BAD, "vectors are good");
        covered[n_covered].octets = malloc(NDN_PACKET_MAX);
        require(covered[n_covered].octets != NULL, "memory");
        covered[n_covered].len = auth_covered(&s, covered[n_covered].octets);
        n_covered++;
        if (strstr(name, "certificate") == NULL && strstr(name, "anchor") == NULL)
            continue;
        n += (size_t)sprintf(anchors + n, "%s\"base64:", n > 0 ? ", " : "");
        n += to_base64(anchors + n, octets, len);
        n += (size_t)sprintf(anchors + n, "\"");
    }
    fclose(file);
    snprintf(conf_text, sizeof conf_text,
             "rib: { localhost-security = [ %s ]; localhop-security = \"any\"; "
             "prefix-announcement-validation = [ %s ]; };",
             anchors, anchors);
}

static struct auth *create(void)
{
    struct conf *conf;
    struct auth *auth;
    char err[256];
    require(conf_load_text("conf", conf_text, strlen(conf_text), &conf, stderr) == 0, "the configuration is good");
    require(auth_create(&auth, conf, err) == 0, "the certificates are good");
    conf_free(conf);
    return auth;
}

static void require_vector(const struct auth_signature *signature)
{
    uint8_t octets[NDN_PACKET_MAX];
    size_t len = auth_covered(signature, octets);
    bool found = false;
    for (unsigned i = 0; i < n_covered; i++)
        found |= covered[i].len == len && memcmp(covered[i].octets, octets, len) == 0;
    require(found, "nobody signed what is accepted");
}

static void try_command(struct auth **auth, const uint8_t *octets, size_t size)
{
    struct auth_signature s;
    enum auth_format format = auth_interest_parse(octets, size, &s);
    require(auth_is_command_v02(octets, size) == (format == AUTH_COMMAND_V02), "two opinions on v0.2");
    uint64_t now = s.time_ms;
    enum auth_result any = auth_command(*auth, AUTH_RIB_LOCALHOP, octets, size, now);
    require(any != AUTH_REPLAYED, "any compares times");
    require((any == AUTH_MALFORMED) == (format == AUTH_BAD), "malformed or not");
    require(auth_command(*auth, AUTH_CS, octets, size, now) == AUTH_ACCEPTED, "modules are open");
    enum auth_result result = auth_command(*auth, AUTH_RIB_LOCALHOST, octets, size, now);
    require(any == AUTH_ACCEPTED || result != AUTH_ACCEPTED, "an anchor accepts more than any");
    if (result != AUTH_ACCEPTED)
        return;
    require_vector(&s);
    require(auth_command(*auth, AUTH_RIB_LOCALHOST, octets, size, now) == AUTH_REPLAYED, "it counts twice");
    auth_destroy(*auth);
    *auth = create();
}

static void try_data(struct auth *auth, const uint8_t *octets, size_t size)
{
    const uint64_t in_2030 = UINT64_C(1900000000000);
    struct auth_signature s;
    struct auth_key key;
    enum auth_format format = auth_data_parse(octets, size, &s);
    if (auth_data(auth, AUTH_ANNOUNCEMENT, octets, size, in_2030) == AUTH_ACCEPTED) {
        require(format == AUTH_SIGNED, "bad Data is accepted");
        require_vector(&s);
    }
    if (auth_key_certificate(octets, size, &key) != NULL)
        return;
    require(key.identity_len < key.key_name_len && key.key_name_len < key.name_len, "parts of the name");
    require(auth_key_is_valid(&key, key.not_before_ms) && auth_key_is_valid(&key, key.not_after_ms), "validity");
    auth_key_verify(&key, &s);
    auth_key_clear(&key);
}

static const char *take(void *ctx, struct auth_key *key, const uint8_t *data, size_t len)
{
    ++*(unsigned *)ctx;
    require(data != NULL && len > 0, "a certificate without octets");
    auth_key_clear(key);
    return NULL;
}

static void try_text(const uint8_t *octets, size_t size)
{
    uint8_t *decoded = malloc(size / 4 * 3 + 3);
    char *text = malloc(size + 8), why[100] = "";
    bool is_folder;
    unsigned n = 0;
    if (decoded != NULL && text != NULL) {
        require(auth_base64((const char *)octets, size, decoded) <= (long)(size / 4 * 3 + 3), "base64 grows");
        memcpy(text, "base64:", 7);
        memcpy(text + 7, octets, size);
        text[7 + size] = '\0';
        int error = auth_file_read(text, take, &n, &is_folder, why, sizeof why);
        require(error == 0 ? n > 0 : why[0] != '\0', "refused without a reason, or accepted without a certificate");
    }
    free(decoded);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct auth *auth;
    if (auth == NULL) {
        load_vectors();
        auth = create();
    }
    if (size == 0)
        return 0;
    if (data[0] == NDN_TYPE_INTEREST)
        try_command(&auth, data, size);
    else if (data[0] == NDN_TYPE_DATA)
        try_data(auth, data, size);
    else
        try_text(data, size);
    return 0;
}
