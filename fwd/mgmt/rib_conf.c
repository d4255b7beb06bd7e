// SPDX-License-Identifier: Apache-2.0
#include "fwd/mgmt/rib.h"

#include <errno.h>

#include "conf/conf.h"
#include "parser/ndn_name.h"

int rib_add_configured(struct rib *rib, const struct conf *conf, const uint32_t *faces, unsigned *failed)
{
    uint8_t name[NDN_NAME_MAX];
    for (unsigned i = 0; i < conf->n_routes; i++) {
        const struct conf_route *route = &conf->route[i];
        if (faces[route->face] == 0)
            continue;
        int len = ndn_name_from_uri(route->prefix, name, sizeof name);
        int rc = len;
        if (len >= 0) {
            struct rib_route static_route = {
                .face = faces[route->face],
                .origin = RIB_ORIGIN_STATIC,
                .flags = (uint8_t)((route->child_inherit ? RIB_CHILD_INHERIT : 0) | (route->capture ? RIB_CAPTURE : 0)),
                .cost = route->cost,
            };
            rc = rib_register(rib, (struct mgmt_octets){name, (uint16_t)len}, &static_route);
        }
        if (rc != 0) {
            *failed = i;
            return rc;
        }
    }
    return 0;
}
