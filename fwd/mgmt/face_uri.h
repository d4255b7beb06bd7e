// SPDX-License-Identifier: Apache-2.0
#ifndef FWD_MGMT_FACE_URI_H
#define FWD_MGMT_FACE_URI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "ports/face.h"

/*
 * FaceUris as NFD writes them: udp4://192.0.2.1:6363, tcp6://[2001:db8::1]:6363, ether://[02:00:00:00:00:01],
 * dev://eth0. Any thread; needs libc alone, so that daemon and client share it.
 */

#define FACE_URI_PORT       6363  /**< of UDP and TCP when none is given */
#define FACE_URI_GROUP_PORT 56363 /**< of a UDP group */
#define FACE_URI_HOST_MAX   256

enum face_uri_scheme {
    FACE_URI_UNKNOWN = 0, /**< a scheme that nobody here knows */
    FACE_URI_UDP,         /**< of either IP version, to be resolved */
    FACE_URI_UDP4,
    FACE_URI_UDP6,
    FACE_URI_TCP,
    FACE_URI_TCP4,
    FACE_URI_TCP6,
    FACE_URI_ETHER,
    FACE_URI_DEV,
    FACE_URI_OTHER, /**< unix, fd, ws, internal and others that faces have and that nobody can ask for */
};

/** A FaceUri taken apart. */
struct face_uri {
    uint8_t scheme;               /**< enum face_uri_scheme */
    bool canonical;               /**< complete, numeric and written in the one right way */
    uint8_t family;               /**< AF_INET, AF_INET6: the host is such an address; else 0 */
    bool has_mac;                 /**< the host is a MAC address */
    bool has_port;                /**< UDP and TCP */
    uint16_t port;                /**< host byte order */
    uint8_t ip[16];               /**< 4 or 16 octets used */
    uint8_t mac[6];               /**< ether */
    char scope[16];               /**< IPv6: interface after '%'; "": none */
    char host[FACE_URI_HOST_MAX]; /**< as written, without brackets and scope; "": too long or not text */
    bool has_path;                /**< more than "/" follows */
};

/**
 * Take a FaceUri apart. @p text need not end in 0, and may hold anything.
 *
 * @return 0, or -EINVAL when it has no scheme; what is wrong with the rest, uri->canonical tells
 */
int face_uri_parse(struct face_uri *uri, const char *text, size_t len);

/** The canonical form of a numeric UDP, TCP or Ethernet URI, or of dev://. @return octets, 0 when there is none */
size_t face_uri_write(const struct face_uri *uri, char text[FACE_URI_MAX]);

/** True for IPv4 and IPv6 multicast addresses and Ethernet groups. */
bool face_uri_is_group(const struct face_uri *uri);
/** True when the host is 127.0.0.0/8 or ::1. */
bool face_uri_is_loopback(const struct face_uri *uri);

/**
 * As a socket address, the scope looked up among this machine's interfaces. @return its length; 0: the URI has no
 * IP address, or no such interface
 */
socklen_t face_uri_sockaddr(const struct face_uri *uri, struct sockaddr_storage *address);

/**
 * Complete what a user wrote: udp://router.example becomes udp4://192.0.2.1:6363. Resolves names, which may take
 * seconds.
 *
 * @return 0 and the canonical URI in *uri; -EINVAL, -ENOENT with a reason in @p err
 */
int face_uri_canonize(struct face_uri *uri, const char *text, char err[128]);

#endif
