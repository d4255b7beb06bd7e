// SPDX-License-Identifier: Apache-2.0
#include "fwd/client/transport.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int transport_from_file(const char *path, char uri[TRANSPORT_URI_MAX])
{
    FILE *file = fopen(path, "r");
    if (file == NULL)
        return -ENOENT;
    char line[1024];
    int ret = 0;
    while (ret == 0 && fgets(line, sizeof line, file) != NULL) {
        char *key = line + strspn(line, " \t");
        char *value = strchr(key, '=');
        // Comments begin with ';' or '#', and so no key does.
        if (value == NULL || strncmp(key, "transport", 9) != 0 || key + 9 + strspn(key + 9, " \t") != value)
            continue;
        value += 1 + strspn(value + 1, " \t\"");
        value[strcspn(value, " \t\"\r\n")] = '\0';
        if (value[0] != '\0' && strlen(value) < TRANSPORT_URI_MAX) {
            strcpy(uri, value);
            ret = 1;
        }
    }
    fclose(file);
    return ret;
}

void transport_find(const char *option, char uri[TRANSPORT_URI_MAX])
{
    if (option == NULL)
        option = getenv("NDN_CLIENT_TRANSPORT");
    if (option != NULL && option[0] != '\0') {
        snprintf(uri, TRANSPORT_URI_MAX, "%s", option);
        return;
    }
    char home[512];
    const char *dir = getenv("HOME");
    snprintf(home, sizeof home, "%s/.ndn/client.conf", dir != NULL ? dir : "");
    const char *const paths[] = {home, "/usr/local/etc/ndn/client.conf", "/etc/ndn/client.conf"};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        int ret = transport_from_file(paths[i], uri);
        if (ret == 1)
            return;
        // The first file counts, even when it says nothing about this.
        if (ret == 0)
            break;
    }
    strcpy(uri, TRANSPORT_DEFAULT);
}
