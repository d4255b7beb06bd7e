// SPDX-License-Identifier: Apache-2.0
/*
 * Any octets as a configuration. What is accepted must print to an effective configuration that loads again and
 * prints the same; what is refused must say why.
 */
#include "conf/conf.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds, const char *what)
{
    if (!holds) {
        fprintf(stderr, "broken: %s\n", what);
        abort();
    }
}

static char *effective(const struct conf *conf, size_t *len)
{
    char *text = NULL;
    FILE *out = open_memstream(&text, len);
    if (out == NULL)
        abort();
    conf_print_effective(conf, out);
    fclose(out);
    return text;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct conf *conf = NULL, *again = NULL;
    char *faults = NULL;
    size_t faults_len = 0;
    FILE *err = open_memstream(&faults, &faults_len);
    if (err == NULL)
        return 0;
    int error = conf_load_text("fuzz", (const char *)data, size, &conf, err);
    fclose(err);
    if (error != 0) {
        require(error == -EINVAL && conf == NULL, "refused with another error");
        require(faults_len > 0 && strncmp(faults, "fuzz:", 5) == 0, "refused without a reason");
    } else {
        size_t len, again_len;
        char *text = effective(conf, &len);
        require(conf_load_text("again", text, len, &again, stderr) == 0, "the effective configuration is refused");
        char *again_text = effective(again, &again_len);
        require(len == again_len && memcmp(text, again_text, len) == 0, "the effective configuration changes");
        require(conf_restart_needed(conf, again, NULL) == 0, "the effective configuration differs");
        free(text);
        free(again_text);
    }
    free(faults);
    conf_free(conf);
    conf_free(again);
    return 0;
}
