// SPDX-License-Identifier: Apache-2.0
#ifndef PORTS_SOCK_INET_H
#define PORTS_SOCK_INET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "ports/sock/sock.h"

/* IP addresses with ports: struct sockaddr_storage of AF_INET or AF_INET6. Any thread. */

bool inet_same(const struct sockaddr_storage *a, const struct sockaddr_storage *b);
/** For tables and to tell senders apart; not keyed. */
uint32_t inet_hash(const struct sockaddr_storage *address);
/** Octets that the kernel is to be given. */
socklen_t inet_len(const struct sockaddr_storage *address);
/** The wildcard address of a family. @param port host byte order */
struct sockaddr_storage inet_any(int family, uint16_t port);
/** FaceUri: tcp4://1.2.3.4:6363, udp6://[fe80::1%eth0]:6363. @param scheme "tcp", "udp" or "ws" */
void inet_uri(char *uri, size_t size, const char *scheme, const struct sockaddr_storage *address);
/** The same without 4 or 6: ws://1.2.3.4:9696. */
void inet_uri_plain(char *uri, size_t size, const char *scheme, const struct sockaddr_storage *address);
/** Is the address in one of the subnets? IPv4-mapped ones count as IPv4. */
bool inet_in(const struct sockaddr_storage *address, const struct sock_subnet *subnets, unsigned n);

#endif
