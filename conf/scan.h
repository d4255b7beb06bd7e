// SPDX-License-Identifier: Apache-2.0
#ifndef CONF_SCAN_H
#define CONF_SCAN_H

#include "conf/faults.h"
#include "conf/text.h"

/** Groups and lists in one another. */
#define SCAN_DEPTH_MAX 8
/** Octets of one string. */
#define SCAN_STRING_MAX 4096
/** Octets of one setting's name. */
#define SCAN_NAME_MAX 64
/** Settings in one group. */
#define SCAN_MEMBERS_MAX 128
/** Elements of one list or array. */
#define SCAN_ELEMENTS_MAX 1000000

/**
 * Check the text against libconfig's grammar before the library sees it. The library stops at the first fault, says
 * no more than "syntax error", cuts numbers that do not fit and needs quadratic time for a group with very many
 * members. So every fault of syntax, every duplicate and every number out of range is found here, and the setting
 * it stands in is overwritten with blanks: the library reads the rest.
 *
 * @return 0 when the rest can be read; -EINVAL when braces do not match, so that the rest has no meaning; -ENOMEM
 */
int scan(struct text *text, struct faults *faults);

#endif
