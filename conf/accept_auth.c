// SPDX-License-Identifier: Apache-2.0
#include "conf/accept.h"
#include "conf/conf.h"

#include <stdio.h>
#include <string.h>

bool accept_certificates(void *item, const char *text, char *why, size_t why_size)
{
    (void)item;
    static const char scheme[] = "base64:";
    if (strcmp(text, "any") == 0) {
        snprintf(why, why_size, "is no certificate; a file, a folder or \"base64:...\" is allowed");
        return false;
    }
    if (strncmp(text, scheme, strlen(scheme)) != 0)
        return true;
    const char *digits = text + strlen(scheme);
    size_t n = strspn(digits, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/");
    if (n > 0 && digits[n + strspn(digits + n, "=")] == '\0')
        return true;
    snprintf(why, why_size, "is not base64; letters, digits, '+', '/' and '=' at its end are allowed");
    return false;
}

bool accept_anchor(void *item, const char *text, char *why, size_t why_size)
{
    return strcmp(text, "any") == 0 || accept_certificates(item, text, why, why_size);
}

bool accept_privilege(void *item, const char *text, char *why, size_t why_size)
{
    static const struct {
        const char *name;
        unsigned bit;
    } privileges[] = {{"faces", CONF_PRIVILEGE_FACES},
                      {"fib", CONF_PRIVILEGE_FIB},
                      {"cs", CONF_PRIVILEGE_CS},
                      {"strategy-choice", CONF_PRIVILEGE_STRATEGY_CHOICE}};
    struct conf_authorization *authorization = item;
    for (size_t i = 0; i < sizeof privileges / sizeof privileges[0]; i++)
        if (strcmp(text, privileges[i].name) == 0) {
            authorization->privileges |= privileges[i].bit;
            return true;
        }
    snprintf(why, why_size, "is no privilege; \"faces\", \"fib\", \"cs\" and \"strategy-choice\" are allowed");
    return false;
}
