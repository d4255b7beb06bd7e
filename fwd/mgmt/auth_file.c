// SPDX-License-Identifier: Apache-2.0
#include "fwd/mgmt/auth_file.h"

#include <rte_log.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <openssl/crypto.h>

#include "parser/ndn_name.h"
#include "parser/ndn_tlv.h"

/* Where keys go, and what went wrong on the way. */
struct reader {
    auth_key_taker_t taker;
    void *ctx;
    char *why;
    size_t why_size;
};

static int digit(char c)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *at = c != '\0' ? strchr(digits, c) : NULL;
    return at != NULL ? (int)(at - digits) : -1;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

long auth_base64(const char *text, size_t len, uint8_t *octets)
{
    uint32_t bits = 0;
    unsigned n_bits = 0, n_digits = 0, n_pads = 0;
    long n = 0;
    for (size_t i = 0; i < len; i++) {
        if (is_blank(text[i]))
            continue;
        int value = digit(text[i]);
        if (value < 0 && text[i] != '=')
            return -1;
        // After the '=' that fill a group up another text of its own may follow.
        if (value >= 0 && n_pads > 0)
            return -1;
        if (value < 0)
            n_pads++;
        else
            bits = bits << 6 | (uint32_t)value;
        if (value >= 0 && (n_bits += 6) >= 8)
            octets[n++] = (uint8_t)(bits >> (n_bits -= 8));
        if (++n_digits < 4)
            continue;
        if (n_pads > 2)
            return -1;
        n_digits = n_pads = n_bits = 0;
    }
    // Some leave the '=' out.
    return n_digits == 1 || n_pads > 0 ? -1 : n;
}

static int fail(struct reader *reader, const char *what, const char *wrong)
{
    snprintf(reader->why, reader->why_size, "\"%.100s%s\" %s", what, strlen(what) > 100 ? "..." : "", wrong);
    return -EINVAL;
}

static int fail_to_read(struct reader *reader, const char *what)
{
    char wrong[80];
    snprintf(wrong, sizeof wrong, "cannot be read: %s", strerror(errno));
    return fail(reader, what, wrong);
}

/* One Data after the other. */
static const char *take_certificates(struct reader *reader, const uint8_t *octets, size_t len)
{
    struct cursor c = cursor_make(octets, len);
    if (len == 0)
        return "is empty";
    while (cursor_left(&c) > 0) {
        const uint8_t *start = c.p;
        struct tlv tlv;
        struct auth_key key;
        if (tlv_read(&c, true, &tlv) != VERDICT_OK)
            return "is not an NDN certificate: not a Data packet";
        const char *wrong = auth_key_certificate(start, (size_t)(c.p - start), &key);
        if (wrong == NULL)
            wrong = reader->taker(reader->ctx, &key, start, (size_t)(c.p - start));
        if (wrong != NULL)
            return wrong;
    }
    return NULL;
}

static const char *take_base64(struct reader *reader, const char *text, size_t len)
{
    uint8_t *octets = malloc(len / 4 * 3 + 3);
    if (octets == NULL)
        return "out of memory";
    long n = auth_base64(text, len, octets);
    const char *wrong =
        n < 0 ? "is neither an NDN certificate nor one in base64" : take_certificates(reader, octets, (size_t)n);
    free(octets);
    return wrong;
}

/* "NAME KEY" */
static const char *take_hmac(struct reader *reader, const char *text, size_t len)
{
    static const char form[] = "is not a name and an HMAC key in base64";
    char uri[NDN_NAME_MAX];
    uint8_t name[NDN_NAME_MAX];
    size_t end = 0;
    while (end < len && !is_blank(text[end]))
        end++;
    if (end == 0 || end == len || end >= sizeof uri)
        return form;
    memcpy(uri, text, end);
    uri[end] = '\0';
    int name_len = ndn_name_from_uri(uri, name, sizeof name);
    if (name_len <= 0)
        return form;
    uint8_t *secret = malloc((len - end) / 4 * 3 + 3);
    if (secret == NULL)
        return "out of memory";
    struct auth_key key;
    long n = auth_base64(text + end, len - end, secret);
    const char *wrong = n < 0 ? form : auth_key_hmac(name, (size_t)name_len, secret, (size_t)n, &key);
    if (n > 0)
        OPENSSL_cleanse(secret, (size_t)n);
    free(secret);
    return wrong != NULL ? wrong : reader->taker(reader->ctx, &key, NULL, 0);
}

/* The whole of a file of at most AUTH_FILE_MAX octets, to be freed. A pipe must not keep the daemon waiting. */
static const char *read_file(int fd, char **text, size_t *len)
{
    *text = malloc(AUTH_FILE_MAX + 1);
    if (*text == NULL)
        return "out of memory";
    *len = 0;
    while (*len <= AUTH_FILE_MAX) {
        ssize_t n = read(fd, *text + *len, AUTH_FILE_MAX + 1 - *len);
        if (n < 0)
            return "cannot be read";
        if (n == 0)
            return NULL;
        *len += (size_t)n;
    }
    return "is larger than 64 kB";
}

static const char *take_file(struct reader *reader, int fd, bool hmac)
{
    char *text;
    size_t len;
    const char *wrong = read_file(fd, &text, &len);
    if (wrong == NULL && hmac)
        wrong = take_hmac(reader, text, len);
    else if (wrong == NULL)
        wrong = len > 0 && text[0] == NDN_TYPE_DATA ? take_certificates(reader, (const uint8_t *)text, len)
                                                    : take_base64(reader, text, len);
    if (text != NULL)
        OPENSSL_cleanse(text, AUTH_FILE_MAX + 1);
    free(text);
    return wrong;
}

static int not_hidden(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

static int take_folder(struct reader *reader, const char *path)
{
    struct dirent **entry;
    int n = scandir(path, &entry, not_hidden, alphasort);
    if (n < 0)
        return fail_to_read(reader, path);
    for (int i = 0; i < n; i++) {
        char file[PATH_MAX];
        snprintf(file, sizeof file, "%s/%s", path, entry[i]->d_name);
        free(entry[i]);
        int fd = i < AUTH_FOLDER_MAX ? open(file, O_RDONLY | O_NONBLOCK | O_CLOEXEC) : -1;
        struct stat st;
        if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode)) {
            const char *wrong = take_file(reader, fd, false);
            if (wrong != NULL)
                RTE_LOG(WARNING, USER1, "%s %s: skipped\n", file, wrong);
        } else if (i == AUTH_FOLDER_MAX) {
            RTE_LOG(WARNING, USER1, "%s has more than %d files: the others are skipped\n", path, AUTH_FOLDER_MAX);
        }
        if (fd >= 0)
            close(fd);
    }
    free(entry);
    return 0;
}

static int take_path(struct reader *reader, const char *path, bool hmac, bool *is_folder)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return fail_to_read(reader, path);
    const char *wrong = NULL;
    *is_folder = false;
    if (fstat(fd, &st) != 0)
        wrong = "cannot be read";
    else if (S_ISDIR(st.st_mode) && !hmac)
        *is_folder = true;
    else if (!S_ISREG(st.st_mode))
        wrong = "is not a file";
    else
        wrong = take_file(reader, fd, hmac);
    close(fd);
    if (wrong != NULL)
        return fail(reader, path, wrong);
    return *is_folder ? take_folder(reader, path) : 0;
}

static const char *after(const char *text, const char *scheme)
{
    size_t len = strlen(scheme);
    return strncmp(text, scheme, len) == 0 ? text + len : NULL;
}

int auth_file_read(const char *source, auth_key_taker_t taker, void *ctx, bool *is_folder, char *why, size_t why_size)
{
    struct reader reader = {.taker = taker, .ctx = ctx, .why = why, .why_size = why_size};
    *is_folder = false;
    const char *base64 = after(source, "base64:"), *hmac = after(source, "hmac:");
    if (base64 == NULL)
        return take_path(&reader, hmac != NULL ? hmac : source, hmac != NULL, is_folder);
    const char *wrong = take_base64(&reader, base64, strlen(base64));
    return wrong != NULL ? fail(&reader, "base64:...", wrong) : 0;
}
