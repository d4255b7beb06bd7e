// SPDX-License-Identifier: Apache-2.0
#include "ports/sock/private.h"

const struct sock_counter_desc sock_counter_descs[] = {
#define DESC(field, meaning)                                   \
    {                                                          \
#field, offsetof(struct sock_counters, field), meaning \
    }
    DESC(accepted, "faces that peers or management have made"),
    DESC(refused, "peers refused: too many, not allowed, or not wanted"),
    DESC(closed, "faces closed"),
    DESC(malformed, "connections closed over octets that are no packet"),
    DESC(stalled, "connections closed because the peer neither read nor ended its packet"),
    DESC(datagrams, "datagrams dropped that are not one packet"),
    DESC(queue_full, "packets dropped because their reader was slow"),
    DESC(no_mbuf, "packets lost for want of a packet buffer"),
    DESC(ring_full, "datagrams lost because a worker was too slow"),
    DESC(no_face, "packets for a peer that is gone"),
    DESC(marked, "packets marked because a queue was long"),
#undef DESC
    {0},
};

void sock_counters(const struct sock *sock, struct sock_counters *counters)
{
    const struct sock_atomic_counters *from = &sock->counters;
#define COPY(name) counters->name = atomic_load_explicit(&from->name, memory_order_relaxed)
    COPY(accepted);
    COPY(refused);
    COPY(closed);
    COPY(malformed);
    COPY(datagrams);
    COPY(stalled);
    COPY(queue_full);
    COPY(no_mbuf);
    COPY(ring_full);
    COPY(marked);
    COPY(no_face);
#undef COPY
}
