// SPDX-License-Identifier: Apache-2.0
#include "fwd/daemon/log.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <rte_common.h>

int log_type = RTE_LOGTYPE_USER1;

void log_set_level(int level)
{
    static const uint32_t ours[] = {RTE_LOG_ERR, RTE_LOG_WARNING, RTE_LOG_INFO, RTE_LOG_DEBUG};
    // Libraries chat at "info"; what they say at "notice" and above concerns a user.
    static const uint32_t libraries[] = {RTE_LOG_ERR, RTE_LOG_WARNING, RTE_LOG_WARNING, RTE_LOG_DEBUG};
    rte_log_set_level_pattern("*", libraries[level]);
    rte_log_set_level((uint32_t)log_type, ours[level]);
    rte_log_set_level(RTE_LOGTYPE_USER1, ours[level]);
}

void log_lines(char *text, bool error)
{
    char *save, *line = strtok_r(text, "\n", &save);
    for (; line != NULL; line = strtok_r(NULL, "\n", &save)) {
        if (error)
            log_error("%s\n", line);
        else
            log_warning("%s\n", line);
    }
}

int log_open(const char *file, int level)
{
    FILE *stream = stderr;
    if (file != NULL) {
        stream = fopen(file, "ae");
        if (stream == NULL)
            return -errno;
        setvbuf(stream, NULL, _IOLBF, 0);
    }
    rte_openlog_stream(stream);
    log_type = rte_log_register("pitlaned");
    if (log_type < 0)
        log_type = RTE_LOGTYPE_USER1;
    rte_log_set_global_level(RTE_LOG_DEBUG);
    log_set_level(level);
    return 0;
}
