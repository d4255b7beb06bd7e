// SPDX-License-Identifier: Apache-2.0
#ifndef PORTS_SOCK_STREAM_H
#define PORTS_SOCK_STREAM_H

#include <stddef.h>
#include <stdint.h>

/** Largest link-layer packet, LpPacket header included. */
#define STREAM_ELEMENT_MAX 8800

enum stream_verdict {
    STREAM_ELEMENT, /**< the first octets are a whole element */
    STREAM_MORE,    /**< they may become one */
    STREAM_BAD,     /**< they cannot become one of at most STREAM_ELEMENT_MAX octets */
};

/**
 * What begins at @p p of a stream of concatenated TLVs. Only the outermost type and length are looked at; numbers not
 * in shortest form are for the worker to judge, which knows the configuration.
 *
 * @param size STREAM_ELEMENT: octets of the element
 */
enum stream_verdict stream_cut(const uint8_t *p, size_t len, size_t *size);

#endif
