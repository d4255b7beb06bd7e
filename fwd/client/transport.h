// SPDX-License-Identifier: Apache-2.0
#ifndef FWD_CLIENT_TRANSPORT_H
#define FWD_CLIENT_TRANSPORT_H

#include <stddef.h>

#define TRANSPORT_URI_MAX 256
#define TRANSPORT_DEFAULT "unix:///run/nfd/nfd.sock"

/**
 * Where NDN applications connect to, as ndn-cxx finds it: @p option when given, else the variable
 * NDN_CLIENT_TRANSPORT, else "transport" in the first client.conf that is there (~/.ndn/client.conf,
 * /usr/local/etc/ndn/client.conf, /etc/ndn/client.conf), else TRANSPORT_DEFAULT.
 */
void transport_find(const char *option, char uri[TRANSPORT_URI_MAX]);

/** "transport" of one client.conf. @return 1 and *uri; 0 when the file does not say; -ENOENT when there is no file */
int transport_from_file(const char *path, char uri[TRANSPORT_URI_MAX]);

#endif
