// SPDX-License-Identifier: Apache-2.0
#ifndef CONF_ACCEPT_H
#define CONF_ACCEPT_H

#include <stdbool.h>
#include <stddef.h>

/* Checks of settings that are text, see schema_accept_t. The item is the struct that the setting belongs to. */

bool accept_user(void *item, const char *text, char *why, size_t why_size);
bool accept_path(void *item, const char *text, char *why, size_t why_size);
bool accept_file_prefix(void *item, const char *text, char *why, size_t why_size);
bool accept_device(void *item, const char *text, char *why, size_t why_size);
bool accept_netdev(void *item, const char *text, char *why, size_t why_size);
/** "10.0.0.1/24" into struct conf_port. */
bool accept_address4(void *item, const char *text, char *why, size_t why_size);
/** "fd00::1/64" into struct conf_port. */
bool accept_address6(void *item, const char *text, char *why, size_t why_size);
/** Face URI of the remote side into struct conf_face. */
bool accept_remote(void *item, const char *text, char *why, size_t why_size);
/** Face URI of the local side into struct conf_face, where the kind goes to @p local_kind. */
bool accept_local(void *item, const char *text, char *why, size_t why_size);
/** Unicast MAC address into struct conf_face. */
bool accept_mac(void *item, const char *text, char *why, size_t why_size);
/** Unicast IP address into struct conf_face. */
bool accept_next_hop(void *item, const char *text, char *why, size_t why_size);
/** Name URI, checked as far as that needs no decoding. */
bool accept_name(void *item, const char *text, char *why, size_t why_size);
/** Name of a strategy, short or in full, with version and parameters; the values of those are not looked at. */
bool accept_strategy(void *item, const char *text, char *why, size_t why_size);
/** Name of a port or face. */
bool accept_reference(void *item, const char *text, char *why, size_t why_size);
/** Trust anchor: "any", "base64:...", or a path. */
bool accept_anchor(void *item, const char *text, char *why, size_t why_size);
/** As accept_anchor(), but "any". */
bool accept_certificates(void *item, const char *text, char *why, size_t why_size);
/** Privilege into struct conf_authorization, added to those that it has. */
bool accept_privilege(void *item, const char *text, char *why, size_t why_size);
/** File mode in octal digits into struct conf_unix. */
bool accept_mode(void *item, const char *text, char *why, size_t why_size);
bool accept_group(void *item, const char *text, char *why, size_t why_size);
/** Address, or address and prefix length. */
bool accept_subnet(void *item, const char *text, char *why, size_t why_size);
/** Virtual address and port, see conf_quic_vip(). */
bool accept_vip(void *item, const char *text, char *why, size_t why_size);
/** QUIC version: "0x00000001". */
bool accept_version(void *item, const char *text, char *why, size_t why_size);
/** 16 octets in hexadecimal digits, or a path. */
bool accept_hash_key(void *item, const char *text, char *why, size_t why_size);
/** Server ID, see conf_quic_id(). */
bool accept_server_id(void *item, const char *text, char *why, size_t why_size);
/** IP address into struct conf_quic_server. */
bool accept_server_address(void *item, const char *text, char *why, size_t why_size);
/** Unicast MAC address into struct conf_quic_server. */
bool accept_server_mac(void *item, const char *text, char *why, size_t why_size);

#endif
