// SPDX-License-Identifier: Apache-2.0
/*
 * Status datasets: written at once, cut into segments, kept for as long as a client takes to ask for them one by one.
 */
#include "fwd/mgmt/mgmt_impl.h"

#include <stdlib.h>
#include <string.h>

/* Octets of Content in a segment, and what is left for the name in the largest packet. */
#define SEGMENT_MAX  8000
#define NAME_ROOM    512
#define SEGMENT_LESS 5000
/* Datasets kept, and their octets; the newest is kept however large it is. */
#define STORED_MAX        64
#define STORED_OCTETS_MAX (64u << 20)
#define KEEP_NS           (UINT64_C(1000000) * MGMT_FRESHNESS_MS)

#define CONTENT_TYPE_NACK 3

struct mgmt_dataset {
    uint8_t *octets;
    size_t len, size;
    bool no_memory;
    bool rejected;
    unsigned code;
    const char *text;
};

struct mgmt_stored {
    struct mgmt_stored *newer, *older;
    uint64_t expires_ns;
    uint64_t version;
    uint8_t *octets;
    size_t len;
    uint16_t segment;  /**< octets in each but the last */
    uint16_t name_len; /**< of the name with its version */
    uint8_t name[];
};

uint8_t *mgmt_dataset_room(struct mgmt_dataset *dataset, size_t size)
{
    if (size > dataset->size - dataset->len) {
        size_t want = dataset->len + size;
        want = want > 2 * dataset->size ? want : 2 * dataset->size;
        want = want > SEGMENT_MAX ? want : SEGMENT_MAX;
        uint8_t *octets = realloc(dataset->octets, want);
        if (octets == NULL) {
            dataset->no_memory = true;
            return NULL;
        }
        dataset->octets = octets;
        dataset->size = want;
    }
    return dataset->octets + dataset->len;
}

void mgmt_dataset_put(struct mgmt_dataset *dataset, size_t len)
{
    dataset->len += len;
}

void mgmt_dataset_reject(struct mgmt_dataset *dataset, unsigned code, const char *text)
{
    dataset->rejected = true;
    dataset->code = code;
    dataset->text = text;
}

static void stored_free(struct mgmt *mgmt, struct mgmt_stored *stored)
{
    if (stored->newer != NULL)
        stored->newer->older = stored->older;
    else
        mgmt->stored_newest = stored->older;
    if (stored->older != NULL)
        stored->older->newer = stored->newer;
    else
        mgmt->stored_oldest = stored->newer;
    mgmt->n_stored--;
    mgmt->stored_octets -= stored->len;
    free(stored->octets);
    free(stored);
}

static void stored_push(struct mgmt *mgmt, struct mgmt_stored *stored)
{
    stored->newer = NULL;
    stored->older = mgmt->stored_newest;
    if (stored->older != NULL)
        stored->older->newer = stored;
    else
        mgmt->stored_oldest = stored;
    mgmt->stored_newest = stored;
    mgmt->n_stored++;
    mgmt->stored_octets += stored->len;
    while (mgmt->n_stored > STORED_MAX || (mgmt->stored_octets > STORED_OCTETS_MAX && mgmt->n_stored > 1))
        stored_free(mgmt, mgmt->stored_oldest);
}

uint64_t mgmt_dataset_poll(struct mgmt *mgmt, uint64_t now_ns)
{
    uint64_t next = UINT64_MAX;
    for (struct mgmt_stored *stored = mgmt->stored_oldest, *newer; stored != NULL; stored = newer) {
        newer = stored->newer;
        if (stored->expires_ns <= now_ns)
            stored_free(mgmt, stored);
        else if (stored->expires_ns - now_ns < next)
            next = stored->expires_ns - now_ns;
    }
    return next;
}

void mgmt_dataset_fini(struct mgmt *mgmt)
{
    while (mgmt->stored_oldest != NULL)
        stored_free(mgmt, mgmt->stored_oldest);
}

/* @return false when there is no such segment */
static bool send_segment(struct mgmt *mgmt, const struct mgmt_stored *stored, uint64_t segment)
{
    uint64_t n = stored->len == 0 ? 1 : (stored->len - 1) / stored->segment + 1;
    if (segment >= n)
        return false;
    size_t off = (size_t)segment * stored->segment, left = stored->len - off;
    uint8_t name[NDN_NAME_MAX + 2 * MGMT_NUMBER_COMP_MAX];
    memcpy(name, stored->name, stored->name_len);
    uint16_t comp_len = mgmt_put_number(name + stored->name_len, MGMT_TLV_SEGMENT, segment);
    struct mgmt_data data = {
        .name = {name, (uint16_t)(stored->name_len + comp_len)},
        .content = stored->octets + off,
        .content_len = (uint16_t)(left < stored->segment ? left : stored->segment),
        .token = &mgmt->token,
    };
    if (segment + 1 == n)
        data.final_block = (struct mgmt_octets){name + stored->name_len, comp_len};
    mgmt_send_data(mgmt, &data);
    return true;
}

/* @p name without the components behind the version. */
static struct mgmt_stored *find_stored(struct mgmt *mgmt, uint64_t version, const uint8_t *name, uint16_t len)
{
    struct mgmt_stored *stored = mgmt->stored_newest;
    while (stored != NULL && stored->version != version)
        stored = stored->older;
    bool same = stored != NULL && stored->name_len == len && memcmp(stored->name, name, len) == 0;
    return same ? stored : NULL;
}

/* An Interest for what was cut before. */
static void send_stored(struct mgmt *mgmt, const struct ndn_name *name, uint64_t segment, bool has_segment,
                        uint64_t now_ns)
{
    struct ndn_name versioned = *name;
    versioned.n_comps = (uint16_t)(name->n_comps - (has_segment ? 1 : 0));
    uint64_t version;
    if (!mgmt_last_number(&versioned, MGMT_TLV_VERSION, &version))
        return;
    struct mgmt_stored *stored = find_stored(mgmt, version, name->value, name->end[versioned.n_comps]);
    if (stored == NULL || stored->expires_ns <= now_ns)
        return;
    // Whoever still asks gets the rest, too.
    if (send_segment(mgmt, stored, segment))
        stored->expires_ns = now_ns + KEEP_NS;
}

/* Versions are times, and never the same twice. */
static uint64_t new_version(struct mgmt *mgmt)
{
    mgmt->version = mgmt->wall_ms > mgmt->version ? mgmt->wall_ms : mgmt->version + 1;
    return mgmt->version;
}

/* Take the octets over. */
static void store(struct mgmt *mgmt, const struct ndn_name *name, struct mgmt_dataset *dataset, uint64_t now_ns)
{
    struct mgmt_stored *stored = malloc(sizeof *stored + name->len + MGMT_NUMBER_COMP_MAX);
    if (stored == NULL)
        return;
    stored->expires_ns = now_ns + KEEP_NS;
    stored->version = new_version(mgmt);
    stored->octets = dataset->octets;
    stored->len = dataset->len;
    stored->segment = name->len <= NAME_ROOM ? SEGMENT_MAX : SEGMENT_LESS;
    memcpy(stored->name, name->value, name->len);
    stored->name_len =
        (uint16_t)(name->len + mgmt_put_number(stored->name + name->len, MGMT_TLV_VERSION, stored->version));
    dataset->octets = NULL;
    stored_push(mgmt, stored);
    send_segment(mgmt, stored, 0);
}

void mgmt_dataset(struct mgmt *mgmt, const struct ndn_packet *pkt, const struct mgmt_list *list, uint64_t now_ns)
{
    const struct ndn_name *name = &pkt->name;
    uint64_t number;
    bool has_segment = mgmt_last_number(name, MGMT_TLV_SEGMENT, &number);
    mgmt->counters.datasets++;
    if (has_segment || mgmt_last_number(name, MGMT_TLV_VERSION, &number)) {
        send_stored(mgmt, name, has_segment ? number : 0, has_segment, now_ns);
        return;
    }
    // Only as a prefix can it match a name with version and segment; a rejection has the name itself.
    struct mgmt_dataset dataset = {0};
    struct mgmt_octets query = {0};
    if (list->with_query && name->n_comps > 4) {
        struct mgmt_octets component = mgmt_component(name, 4);
        query = (struct mgmt_octets){component.p + 2, (uint16_t)(component.len - 2)};
    }
    list->write(mgmt, &mgmt->env, query, now_ns, &dataset);
    const struct mgmt_octets as_asked = {name->value, name->len};
    if (dataset.no_memory)
        mgmt_dataset_reject(&dataset, 500, "Out of memory");
    if (dataset.rejected)
        mgmt_respond(mgmt, as_asked, &mgmt->token, CONTENT_TYPE_NACK, dataset.code, dataset.text, NULL);
    else if (pkt->interest.can_be_prefix)
        store(mgmt, name, &dataset, now_ns);
    free(dataset.octets);
}
