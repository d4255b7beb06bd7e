// SPDX-License-Identifier: Apache-2.0
/*
 * Any octets as a FaceUri. Written back, a canonical one is octet by octet what it was; what can be completed is
 * canonical afterwards, and completing it again changes nothing. Names are not resolved: that asks the network.
 */
#include "fwd/mgmt/face_uri.h"

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

static void complete(const char *text)
{
    struct face_uri uri, again;
    char err[128] = "", canonical[FACE_URI_MAX];
    if (face_uri_canonize(&uri, text, err) != 0) {
        require(err[0] != '\0', "refused without a reason");
        return;
    }
    size_t len = face_uri_write(&uri, canonical);
    require(len > 0 && uri.canonical, "completed, and not canonical");
    require(face_uri_parse(&again, canonical, len) == 0 && again.canonical, "the completed one is not canonical");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct face_uri uri;
    char back[FACE_URI_MAX];
    struct sockaddr_storage address;
    // A copy of exactly this size, so that a read behind it is seen.
    char *text = malloc(size + 1);
    if (text == NULL)
        return 0;
    if (size > 0)
        memcpy(text, data, size);
    text = realloc(text, size > 0 ? size : 1);
    if (face_uri_parse(&uri, text, size) == 0) {
        size_t len = face_uri_write(&uri, back);
        require(len < FACE_URI_MAX, "written beyond its end");
        require(!uri.canonical || (len == size && memcmp(back, text, len) == 0), "canonical, and written otherwise");
        require(strlen(uri.host) < FACE_URI_HOST_MAX && strlen(uri.scope) < sizeof uri.scope, "a part without end");
        face_uri_sockaddr(&uri, &address);
        bool numeric = uri.family != 0 || uri.has_mac || uri.scheme == FACE_URI_DEV;
        if (numeric && memchr(text, '\0', size) == NULL) {
            text = realloc(text, size + 1);
            text[size] = '\0';
            complete(text);
        }
    } else {
        require(!uri.canonical, "refused, and canonical");
    }
    free(text);
    return 0;
}
