// SPDX-License-Identifier: Apache-2.0
#include "fwd/mgmt/rib_impl.h"

#include <stdlib.h>
#include <string.h>

/** Does the name of @p entry come before @p name? */
static bool is_before(const struct rib_entry *entry, struct mgmt_octets name)
{
    uint16_t common = entry->len < name.len ? entry->len : name.len;
    int order = common > 0 ? memcmp(rib_entry_name(entry), name.p, common) : 0;
    return order < 0 || (order == 0 && entry->len < name.len);
}

static bool is_name(const struct rib_entry *entry, struct mgmt_octets name)
{
    return entry->len == name.len && rib_entry_under(entry, name.p, name.len);
}

void rib_find(struct rib *rib, struct mgmt_octets name, struct rib_path *path)
{
    struct rib_entry *before = NULL, **next = rib->head;
    for (unsigned level = RIB_HEIGHT_MAX; level-- > 0;) {
        while (next[level] != NULL && is_before(next[level], name)) {
            before = next[level];
            next = before->next;
        }
        path->link[level] = &next[level];
    }
    path->before = before;
    path->entry = next[0] != NULL && is_name(next[0], name) ? next[0] : NULL;
}

struct rib_entry *rib_nearest(struct rib *rib, struct mgmt_octets name)
{
    struct rib_path path;
    rib_find(rib, name, &path);
    // What stands between an ancestor and the name has that ancestor, too.
    struct rib_entry *entry = path.entry != NULL ? path.entry : path.before;
    while (entry != NULL &&
           (entry->len > name.len || (entry->len > 0 && memcmp(rib_entry_name(entry), name.p, entry->len) != 0)))
        entry = entry->parent;
    return entry;
}

static uint8_t height_draw(struct rib *rib)
{
    rib->random += UINT64_C(0x9e3779b97f4a7c15);
    uint64_t x = rib->random;
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    x ^= x >> 31;
    uint8_t height = 1;
    for (; height < RIB_HEIGHT_MAX && (x & 3) == 0; x >>= 2)
        height++;
    return height;
}

struct rib_entry *rib_entry_add(struct rib *rib, struct mgmt_octets name, struct rib_path *path)
{
    uint8_t height = height_draw(rib);
    struct rib_entry *entry = calloc(1, sizeof *entry + height * sizeof entry->next[0] + name.len);
    if (entry == NULL)
        return NULL;
    entry->len = name.len;
    entry->height = height;
    entry->room = 1;
    if (name.len > 0)
        memcpy(entry->next + height, name.p, name.len);
    entry->parent = rib_nearest(rib, name);
    for (unsigned level = 0; level < height; level++) {
        entry->next[level] = *path->link[level];
        *path->link[level] = entry;
    }
    path->entry = entry;
    for (struct rib_entry *below = entry->next[0]; below != NULL && rib_entry_under(below, name.p, name.len);
         below = below->next[0])
        if (below->parent == entry->parent)
            below->parent = entry;
    rib->n_entries++;
    return entry;
}

void rib_entry_remove(struct rib *rib, struct rib_entry *entry)
{
    struct rib_path path;
    struct mgmt_octets name = {rib_entry_name(entry), entry->len};
    rib_find(rib, name, &path);
    for (unsigned level = 0; level < entry->height; level++)
        *path.link[level] = entry->next[level];
    for (struct rib_entry *below = entry->next[0]; below != NULL && rib_entry_under(below, name.p, name.len);
         below = below->next[0])
        if (below->parent == entry)
            below->parent = entry->parent;
    rib->n_entries--;
}
