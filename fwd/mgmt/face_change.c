// SPDX-License-Identifier: Apache-2.0
/* What management may change of a face, by what the face is. */
#include <errno.h>
#include <string.h>

#include "fwd/mgmt/face_control_priv.h"

static bool has_scheme(const char *uri, const char *scheme)
{
    return strncmp(uri, scheme, strlen(scheme)) == 0;
}

enum face_class face_class_of(const struct face *face)
{
    const char *uri = face->remote_uri;
    if (face->link_type != FACE_LINK_P2P)
        return FACE_CLASS_GROUP;
    if (face->kind == FACE_BARE)
        return FACE_CLASS_BARE;
    if (face->kind != FACE_THREAD || has_scheme(uri, "udp"))
        return FACE_CLASS_DATAGRAM;
    if (has_scheme(uri, "tcp"))
        return FACE_CLASS_TCP;
    return face->id < FACE_ID_FIRST ? FACE_CLASS_NULL : FACE_CLASS_ACCEPTED;
}

static bool may_persist(const struct face *face, uint8_t persistency)
{
    if (persistency == face->persistency)
        return true;
    switch (face_class_of(face)) {
    case FACE_CLASS_DATAGRAM:
    case FACE_CLASS_TCP:
        return persistency <= FACE_PERMANENT;
    case FACE_CLASS_GROUP:
    case FACE_CLASS_NULL:
        return persistency == FACE_PERMANENT;
    case FACE_CLASS_BARE:
        return persistency == FACE_PERSISTENT || persistency == FACE_PERMANENT;
    case FACE_CLASS_ACCEPTED:
        break;
    }
    return persistency == FACE_ON_DEMAND;
}

static bool may_have_flags(const struct face *face, uint8_t flags)
{
    uint8_t on = flags & (uint8_t)~face->flags;
    if ((on & FACE_LOCAL_FIELDS) != 0 && face->scope != FACE_SCOPE_LOCAL)
        return false;
    enum face_class class = face_class_of(face);
    return (on & FACE_RELIABILITY) == 0 || class == FACE_CLASS_DATAGRAM || class == FACE_CLASS_BARE;
}

static bool may_have_mtu(const struct face *face, uint16_t mtu)
{
    return mtu >= FACE_MTU_MIN && face->mtu != FACE_MTU_UNLIMITED;
}

/* Largest link-layer packet that the face could have. */
static uint16_t mtu_limit(const struct face_control *control, const struct face *face)
{
    const struct port *port = control->config.shared->port[face->port];
    uint32_t header = face->kind == FACE_UDP4 ? 28 : face->kind == FACE_UDP6 ? 48 : 0;
    uint32_t limit = FACE_MTU_MAX;
    if (face->kind != FACE_THREAD && port != NULL && port->mtu > header)
        limit = RTE_MIN(limit, port->mtu - header);
    return (uint16_t)limit;
}

int face_control_change(struct face_control *control, uint32_t id, const struct face_update *update, uint32_t *wrong)
{
    struct face_table *table = face_control_table(control);
    const struct face *face = face_get(table, id);
    uint32_t bad = 0;
    if (face == NULL)
        return -ENOENT;
    if (update->has_persistency && !may_persist(face, update->persistency))
        bad |= MGMT_HAS_FACE_PERSISTENCY;
    if (update->has_flags && !may_have_flags(face, update->flags))
        bad |= MGMT_HAS_FLAGS | MGMT_HAS_MASK;
    if (update->has_mtu && !may_have_mtu(face, update->mtu))
        bad |= MGMT_HAS_MTU;
    if (bad != 0) {
        *wrong = bad;
        return -EINVAL;
    }
    struct face_update fitting = *update;
    fitting.mtu = RTE_MIN(update->mtu, mtu_limit(control, face));
    bool was_demand = face->persistency == FACE_ON_DEMAND;
    int rc = face_change(table, id, &fitting);
    if (rc != 0)
        return rc;
    face = face_get(table, id);
    if (face->kind == FACE_THREAD) {
        if (control->config.sock != NULL && id >= FACE_ID_FIRST)
            sock_changed(control->config.sock, face);
    } else if (was_demand != (face->persistency == FACE_ON_DEMAND)) {
        if (was_demand)
            face_demand_remove(control, face);
        else
            return face_demand_add(control, face);
    }
    return 0;
}
