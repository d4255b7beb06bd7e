// SPDX-License-Identifier: Apache-2.0
#ifndef FWD_CLIENT_NFD_TEXT_H
#define FWD_CLIENT_NFD_TEXT_H

#include <stddef.h>
#include <stdint.h>

#include "fwd/mgmt/wire.h"

/* Values of the NFD management protocol as users of nfdc read and write them. */

/** Room for the URI of any Name that a packet can hold, with its final 0. */
#define NFD_NAME_TEXT_MAX 8192

/** URI of a Name (its TLV-VALUE); typed components by their markers, as v=5 and seg=0. Cut at @p size. */
void nfd_name_text(struct mgmt_octets name, char *text, size_t size);
/** Name of a text, in which the first slash may be left out. @return octets written to @p name, -EINVAL, -ENOSPC */
int nfd_name_parse(const char *text, uint8_t *name, size_t size);

/** Octets of a packet as text, control characters replaced. Cut at @p size. */
void nfd_octets_text(struct mgmt_octets octets, char *text, size_t size);

/** Origin of a route: its word, else the number, into @p text. */
void nfd_origin_text(uint64_t origin, char text[24]);
/** @return 0, -EINVAL */
int nfd_origin_parse(const char *text, uint64_t *origin);

/** Flags of a route: none, child-inherit, capture, child-inherit|capture; unknown bits as a number. */
void nfd_route_flags_text(uint64_t flags, char text[64]);

enum { NFD_CHILD_INHERIT = 1, NFD_CAPTURE = 2 };
enum { NFD_ORIGIN_CLIENT = 65, NFD_ORIGIN_STATIC = 255 };
enum { NFD_PERSISTENT = 0, NFD_ON_DEMAND = 1, NFD_PERMANENT = 2 };
enum { NFD_LOCAL_FIELDS = 1, NFD_RELIABILITY = 2, NFD_CONGESTION_MARKING = 4 };
enum { NFD_CS_ADMIT = 1, NFD_CS_SERVE = 2 };

/** Words of FacePersistency, FaceScope and LinkType; "unknown" for other numbers. */
const char *nfd_persistency_text(uint64_t persistency);
const char *nfd_scope_text(uint64_t scope);
const char *nfd_link_type_text(uint64_t link_type);
/** @return 0, -EINVAL */
int nfd_persistency_parse(const char *text, uint64_t *persistency);

#endif
