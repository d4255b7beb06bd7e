// SPDX-License-Identifier: Apache-2.0
#include "ports/xdp/vips.h"

#include "ports/xdp/xdp_abi.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <string.h>

_Static_assert(XDP_VIPS_MAX >= 2 * PORT_VIPS_MAX, "old and new ones fit together");

struct keys {
    unsigned n;
    struct xdp_vip key[XDP_VIPS_MAX];
};

static bool keys_have(const struct keys *keys, const struct xdp_vip *key)
{
    for (unsigned i = 0; i < keys->n; i++) {
        if (memcmp(&keys->key[i], key, sizeof *key) == 0) {
            return true;
        }
    }
    return false;
}

static void keys_add(struct keys *keys, const struct port_vip *vip)
{
    struct xdp_vip key = {.version = vip->v6 ? 6 : 4, .port_be = vip->port_be};
    memcpy(key.ip, vip->ip, vip->v6 ? 16 : 4);
    if (!keys_have(keys, &key)) {
        keys->key[keys->n++] = key;
    }
}

/* All keys of the map are read before any is deleted: to delete the one that was read last starts the walk anew. */
static int read_keys(int map_fd, struct keys *keys)
{
    struct xdp_vip *last = NULL;
    keys->n = 0;
    while (keys->n < XDP_VIPS_MAX && bpf_map_get_next_key(map_fd, last, &keys->key[keys->n]) == 0) {
        last = &keys->key[keys->n++];
    }
    return keys->n == XDP_VIPS_MAX || errno == ENOENT ? 0 : -errno;
}

int xdp_vips_set(int map_fd, const struct port_vip *vips, unsigned n)
{
    struct keys wanted = {.n = 0}, there;
    for (unsigned i = 0; i < n; i++) {
        keys_add(&wanted, &vips[i]);
    }
    const uint8_t present = 1;
    for (unsigned i = 0; i < wanted.n; i++) {
        int rc = bpf_map_update_elem(map_fd, &wanted.key[i], &present, BPF_ANY);
        if (rc != 0) {
            return rc;
        }
    }
    int rc = read_keys(map_fd, &there);
    for (unsigned i = 0; i < there.n && rc == 0; i++) {
        if (!keys_have(&wanted, &there.key[i])) {
            rc = bpf_map_delete_elem(map_fd, &there.key[i]);
        }
    }
    return rc;
}
