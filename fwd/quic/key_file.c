// SPDX-License-Identifier: Apache-2.0
#include "fwd/quic/key_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "conf/conf.h"

#define FILE_MAX  4096
#define WORDS_MAX 4

struct line {
    const char *word[WORDS_MAX];
    unsigned n, number;
};

static int fail(char *err, int error, const char *format, ...) __attribute__((format(printf, 3, 4)));
static int fail(char *err, int error, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(err, KEY_FILE_ERR_MAX, format, args);
    va_end(args);
    return error;
}

/* Read the whole file. @return its length, negative errno */
static int read_file(const char *path, char text[FILE_MAX + 1], char *err)
{
    struct stat st;
    // A pipe without a writer must not keep the control thread.
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return fail(err, -errno, "%.150s: cannot be opened: %s", path, strerror(errno));
    int rc = fstat(fd, &st) != 0 ? -errno : 0;
    if (rc != 0)
        fail(err, rc, "%.150s: %s", path, strerror(-rc));
    else if (!S_ISREG(st.st_mode))
        rc = fail(err, -EINVAL, "%.150s: is no file", path);
    else if ((st.st_mode & 077) != 0)
        rc = fail(err, -EINVAL, "%.150s:1: may be used by its group or others (mode %04o); chmod 600 is needed", path,
                  (unsigned)st.st_mode & 07777);
    size_t len = 0;
    while (rc == 0 && len <= FILE_MAX) {
        ssize_t n = read(fd, text + len, FILE_MAX + 1 - len);
        if (n == 0)
            break;
        if (n > 0)
            len += (size_t)n;
        else if (errno != EINTR)
            rc = fail(err, -errno, "%.150s: cannot be read: %s", path, strerror(errno));
    }
    close(fd);
    if (rc == 0 && len > FILE_MAX)
        rc = fail(err, -EINVAL, "%.150s: is too long for a file with keys; at most %d octets are allowed", path,
                  FILE_MAX);
    if (rc != 0)
        return rc;
    text[len] = '\0';
    return strlen(text) == len ? (int)len : fail(err, -EINVAL, "%.150s:1: is no text", path);
}

/* Next line with words in it. @return false at the end */
static bool next_line(char **rest, unsigned *number, struct line *line)
{
    char *text;
    while ((text = strsep(rest, "\n")) != NULL) {
        ++*number;
        text[strcspn(text, "#\r")] = '\0';
        line->n = 0;
        line->number = *number;
        char *save, *word = strtok_r(text, " \t", &save);
        for (; word != NULL && line->n < WORDS_MAX; word = strtok_r(NULL, " \t", &save))
            line->word[line->n++] = word;
        if (line->n > 0)
            return true;
    }
    return false;
}

int key_file_read(const char *path, uint8_t key[16], char err[KEY_FILE_ERR_MAX])
{
    char text[FILE_MAX + 1], *rest = text;
    struct line line;
    unsigned number = 0;
    uint8_t octets[16];
    int rc = read_file(path, text, err);
    if (rc < 0)
        goto wipe;
    rc = 0;
    if (!next_line(&rest, &number, &line))
        rc = fail(err, -EINVAL, "%.150s:1: has no key; 32 hexadecimal digits are needed", path);
    else if (line.n != 1 || !conf_hex(line.word[0], octets, sizeof octets))
        rc = fail(err, -EINVAL, "%.150s:%u: is no key; 32 hexadecimal digits are needed", path, line.number);
    else if (next_line(&rest, &number, &line))
        rc = fail(err, -EINVAL, "%.150s:%u: is more than one key; one is needed", path, line.number);
    else
        memcpy(key, octets, sizeof octets);
wipe:
    explicit_bzero(text, sizeof text);
    explicit_bzero(octets, sizeof octets);
    return rc;
}

static bool read_retry_key(const struct line *line, struct quic_retry_key *key)
{
    if (line->n != 3 || line->word[0][strspn(line->word[0], "0123456789")] != '\0' || strlen(line->word[0]) > 3)
        return false;
    unsigned long sequence = strtoul(line->word[0], NULL, 10);
    key->sequence = (uint8_t)sequence;
    return sequence <= 127 && conf_hex(line->word[1], key->key, sizeof key->key) &&
           conf_hex(line->word[2], key->iv, sizeof key->iv);
}

int key_file_read_retry(const char *path, struct quic_retry_key keys[QUIC_RETRY_KEYS_MAX], char err[KEY_FILE_ERR_MAX])
{
    char text[FILE_MAX + 1], *rest = text;
    struct quic_retry_key read[QUIC_RETRY_KEYS_MAX];
    struct line line;
    unsigned number = 0;
    int n = 0, rc = read_file(path, text, err);
    if (rc < 0)
        goto wipe;
    rc = 0;
    while (rc == 0 && next_line(&rest, &number, &line)) {
        if (n == QUIC_RETRY_KEYS_MAX)
            rc = fail(err, -EINVAL, "%.150s:%u: has too many keys; at most %d are allowed", path, line.number,
                      QUIC_RETRY_KEYS_MAX);
        else if (!read_retry_key(&line, &read[n]))
            rc = fail(err, -EINVAL,
                      "%.150s:%u: is no key; \"SEQUENCE KEY IV\" with 0 to 127, 32 and 24 hexadecimal digits is needed",
                      path, line.number);
        for (int i = 0; rc == 0 && i < n; i++)
            if (read[i].sequence == read[n].sequence)
                rc = fail(err, -EINVAL, "%.150s:%u: has sequence %u a second time; once is allowed", path, line.number,
                          read[n].sequence);
            // Nonces are an IV and a token's number: two IVs can come to the same with one key.
            else if (memcmp(read[i].key, read[n].key, sizeof read[n].key) == 0)
                rc = fail(err, -EINVAL, "%.150s:%u: has the key of sequence %u; another is needed", path, line.number,
                          read[i].sequence);
        n += rc == 0;
    }
    if (rc == 0 && n == 0)
        rc = fail(err, -EINVAL, "%.150s:1: has no key; a line \"SEQUENCE KEY IV\" is needed", path);
    if (rc == 0) {
        memcpy(keys, read, (size_t)n * sizeof read[0]);
        rc = n;
    }
wipe:
    explicit_bzero(text, sizeof text);
    explicit_bzero(read, sizeof read);
    return rc;
}
