// SPDX-License-Identifier: Apache-2.0
#include "test/load/consumer.h"

#include <rte_mbuf.h>

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "parser/ndn_encode.h"
#include "pit/reass.h"
#include "test/load/random.h"

#define TOKEN_SIZE      8
#define RING_MIN        (UINT64_C(1) << 16)
#define RING_CLOSED_MIN (UINT64_C(1) << 20)
#define RING_MAX        (UINT64_C(1) << 26)
#define STANDSTILL      4   /* of a timeout: a part that is longer than any turn of a loop */
#define EXPIRE_MAX      256 /* requests given up in one go */

/* The token of a request: its number, and a mark of the run. */
static void put_token(const struct consumer *consumer, uint64_t number, uint8_t token[TOKEN_SIZE])
{
    uint32_t low = (uint32_t)number, mark = (uint32_t)consumer->seed ^ 0x706c6c64;
    memcpy(token, &low, 4);
    memcpy(token + 4, &mark, 4);
}

/* Extend the low 32 bits of a request's number. @return false when no such request was sent */
static bool whole_number(const struct consumer *consumer, uint32_t low, uint64_t *number)
{
    uint32_t back = (uint32_t)consumer->head - low;
    if (back == 0 || back > consumer->head)
        return false;
    *number = consumer->head - back;
    return true;
}

static bool read_token(const struct consumer *consumer, const uint8_t *token, uint64_t *number)
{
    uint8_t want[TOKEN_SIZE];
    uint32_t low;
    memcpy(&low, token, 4);
    put_token(consumer, low, want);
    return memcmp(want, token, TOKEN_SIZE) == 0 && whole_number(consumer, low, number);
}

static struct consumer_request *request_at(const struct consumer *consumer, uint64_t number)
{
    return &consumer->ring[number & consumer->mask];
}

static bool in_ring(const struct consumer *consumer, uint64_t number)
{
    return number < consumer->head && consumer->head - number <= consumer->mask + 1;
}

static void make_template(struct consumer *consumer)
{
    uint8_t net[SHAPE_INTEREST_MAX], *middle = consumer->template + LINK_HEADER_MAX + NDN_LP_TOKEN_HEADER_MAX;
    size_t len = consumer->shape.interest_len, lp = 0;
    shape_interest(&consumer->shape, 0, 0, net);
    memcpy(middle, net, len);
    if (consumer->token)
        lp = ndn_lp_prepend_token(middle, len, (const uint8_t[TOKEN_SIZE]){0});
    uint8_t *frame = link_wrap(&consumer->link, middle - lp, lp + len);
    consumer->template_len = (uint16_t)(middle + len - frame);
    consumer->net_off = (uint8_t)(middle - frame);
    // Behind the token stand type and length of Fragment.
    consumer->token_off = consumer->token ? (uint8_t)(consumer->net_off - 1 - ndn_tlv_var_size(len) - TOKEN_SIZE) : 0;
    memmove(consumer->template, frame, consumer->template_len);
}

static int make_reass(struct consumer *consumer, uint64_t now_ns)
{
    struct reass_config config = {.max_messages = 4096,
                                  .max_per_face = 4096,
                                  .max_bytes = 64u << 20,
                                  .max_fragments = NDN_LP_FRAGS_MAX,
                                  .timeout_ms = 500,
                                  .pages = ARENA_PAGES_SMALL};
    return reass_create(&consumer->reass, &config, now_ns);
}

static uint64_t now_ns(const struct consumer *consumer, uint64_t now)
{
    return (uint64_t)((double)now * (1e9 / consumer->hz));
}

static uint64_t ring_size(const struct options *options)
{
    if (options->outstanding != 0)
        return options->outstanding;
    uint64_t size = options->rate > 0 && !options->search ? RING_MIN : RING_CLOSED_MIN;
    double want = options->rate * options->timeout_s * 1.25;
    while (size < RING_MAX && ((double)size < want || size < 2 * (uint64_t)options->window))
        size *= 2;
    return size;
}

/* Memory that is there before the run, so that no first touch slows it down. */
static void *touched(size_t n, size_t size)
{
    void *memory = malloc(n * size);
    if (memory != NULL)
        memset(memory, 0, n * size);
    return memory;
}

int consumer_create(struct consumer *consumer, const struct options *options, const struct device *device,
                    struct rte_mempool *pool, double hz)
{
    *consumer = (struct consumer){.token = options->consumer_token,
                                  .distinct = options->names == NAMES_DISTINCT,
                                  .timeout = (uint64_t)(options->timeout_s * hz),
                                  .hz = hz,
                                  .seed = options->seed,
                                  .random = random_seed(options->seed + 2),
                                  .tx = {.port = device->port},
                                  .pool = pool};
    int rc = link_create(&consumer->link, &options->consumer, device);
    if (rc != 0)
        return rc;
    consumer->is_bare = consumer->link.kind != LINK_ETHER;
    rc = shape_create(&consumer->shape, options);
    if (rc != 0)
        return rc;
    if (consumer->shape.interest_len + NDN_LP_TOKEN_HEADER_MAX > consumer->link.payload_max) {
        fprintf(stderr, "pitlane-load: Interests are larger than the MTU\n");
        rc = -EMSGSIZE;
        goto destroy;
    }
    make_template(consumer);
    uint64_t size = ring_size(options);
    consumer->mask = size - 1;
    consumer->ring = touched(size, sizeof *consumer->ring);
    rc = consumer->ring != NULL ? 0 : -ENOMEM;
    if (rc == 0 && !consumer->distinct) {
        consumer->last = touched(options->n_names, sizeof *consumer->last);
        consumer->surplus = touched(options->n_names, sizeof *consumer->surplus);
        rc = consumer->last != NULL && consumer->surplus != NULL ? 0 : -ENOMEM;
    }
    if (rc == 0 && options->fragments)
        rc = make_reass(consumer, now_ns(consumer, 0));
    if (rc == 0)
        return 0;
    fprintf(stderr, "pitlane-load: no memory for %lu requests\n", (unsigned long)size);
destroy:
    consumer_destroy(consumer);
    return rc;
}

void consumer_destroy(struct consumer *consumer)
{
    if (consumer->reass != NULL)
        reass_destroy(consumer->reass);
    free(consumer->surplus);
    free(consumer->last);
    free(consumer->ring);
    shape_destroy(&consumer->shape);
}

void consumer_start(struct consumer *consumer, const struct plan *plan, uint64_t now)
{
    memset(&consumer->tally, 0, sizeof consumer->tally);
    consumer->tx.refused = 0;
    consumer->tally.begin = consumer->worked = now;
    pace_start(&consumer->pace, plan, consumer->seed + consumer->head, consumer->hz, now);
}

void consumer_stop(struct consumer *consumer, uint64_t now)
{
    pace_stop(&consumer->pace, now);
}

/* A request ends. */
static void settle(struct consumer *consumer, struct consumer_request *request, enum consumer_state state)
{
    assert(request->state == REQUEST_OUT);
    request->state = (uint8_t)state;
    consumer->out--;
}

static void record(struct consumer *consumer, const struct consumer_request *request, uint64_t now)
{
    uint64_t latency = now - request->due;
    histogram_record(&consumer->tally.latency, latency);
    histogram_record(&consumer->tally.service, latency > request->lag ? latency - request->lag : 0);
}

/* Earlier requests of the same name that wait: a forwarder keeps one record of them, with the latest token. */
static void settle_earlier(struct consumer *consumer, uint32_t name, uint32_t previous, uint64_t now)
{
    uint64_t number;
    while (previous != 0 && whole_number(consumer, previous - 1, &number) && in_ring(consumer, number)) {
        struct consumer_request *request = request_at(consumer, number);
        if (request->state != REQUEST_OUT || request->name != name)
            return;
        settle(consumer, request, REQUEST_AGGREGATED);
        consumer->tally.aggregated++;
        record(consumer, request, now);
        uint16_t *surplus = &consumer->surplus[name - consumer->shape.names.first];
        if (!consumer->token && *surplus < UINT16_MAX)
            ++*surplus;
        previous = request->previous;
    }
}

/* The request that a name stands for, when there are no tokens. */
static bool find_by_name(struct consumer *consumer, uint32_t name, uint64_t *number)
{
    uint32_t at = name - consumer->shape.names.first;
    if (consumer->distinct)
        return whole_number(consumer, at, number);
    return at < consumer->shape.names.n && consumer->last[at] != 0 &&
           whole_number(consumer, consumer->last[at] - 1, number);
}

static void take_answer(struct consumer *consumer, uint64_t number, uint32_t name, bool nack, uint64_t now)
{
    struct tally *tally = &consumer->tally;
    if (!in_ring(consumer, number)) {
        tally->late++;
        return;
    }
    struct consumer_request *request = request_at(consumer, number);
    if (request->name != name) {
        tally->corrupted++;
        return;
    }
    uint16_t *surplus = consumer->distinct ? NULL : &consumer->surplus[name - consumer->shape.names.first];
    switch ((enum consumer_state)request->state) {
    case REQUEST_OUT:
        break;
    case REQUEST_LOST:
    case REQUEST_AGGREGATED:
        tally->late++;
        return;
    case REQUEST_NONE:
    case REQUEST_NACKED:
    case REQUEST_RECEIVED:
        if (!consumer->token && surplus != NULL && *surplus > 0) {
            --*surplus;
            tally->late++;
        } else {
            tally->duplicates++;
        }
        return;
    }
    if (nack) {
        settle(consumer, request, REQUEST_NACKED);
        tally->nacks++;
        return;
    }
    settle(consumer, request, REQUEST_RECEIVED);
    tally->received++;
    record(consumer, request, now);
    if (number < consumer->next_expected)
        tally->reordered++;
    else
        consumer->next_expected = number + 1;
    if (request->previous != 0)
        settle_earlier(consumer, name, request->previous, now);
}

/* A whole packet. */
static void take_packet(struct consumer *consumer, const struct ndn_packet *pkt, uint64_t now)
{
    struct tally *tally = &consumer->tally;
    bool nack = (pkt->lp.has & LP_HAS_NACK) != 0;
    uint32_t name;
    enum shape_verdict verdict = SHAPE_STRANGE;
    if (pkt->type == NDN_TYPE_DATA)
        verdict = shape_check_data(&consumer->shape, pkt, &name);
    else if (nack && names_read(&consumer->shape.names, false, pkt->name.value, pkt->name.len, &name))
        verdict = SHAPE_OK; // forwarders write the Interest anew, from what they know of it
    if (verdict != SHAPE_OK) {
        *(verdict == SHAPE_STRANGE ? &tally->unexpected : &tally->corrupted) += 1;
        return;
    }
    uint64_t number;
    bool token_good = consumer->token ? pkt->lp.token_len == TOKEN_SIZE && read_token(consumer, pkt->lp.token, &number)
                                      : pkt->lp.token_len == 0;
    if (!token_good) {
        tally->corrupted++;
    } else if (!consumer->token && !find_by_name(consumer, name, &number)) {
        tally->unexpected++;
    } else {
        take_answer(consumer, number, name, nack, now);
    }
}

/* Data in the commonest form. */
static bool take_quick(struct consumer *consumer, const uint8_t *packet, size_t len, uint64_t now)
{
    uint32_t name;
    uint64_t number;
    const uint8_t *token, *net;
    size_t whole = consumer->token ? shape_quick(&consumer->shape, true, packet, len, &name, &token, &net) : 0;
    // Behind it there may be padding, but not on every link.
    if (whole == 0 || (whole < len && consumer->is_bare) || !read_token(consumer, token, &number))
        return false;
    take_answer(consumer, number, name, false, now);
    return true;
}

/* One of several fragments. Takes the mbuf over. */
static void take_fragment(struct consumer *consumer, const struct ndn_packet *pkt, struct rte_mbuf *mbuf, uint64_t now)
{
    struct tally *tally = &consumer->tally;
    if (consumer->reass == NULL || mbuf->nb_segs != 1) {
        tally->unexpected++;
        rte_pktmbuf_free(mbuf);
        return;
    }
    uint16_t before = (uint16_t)(pkt->net - rte_pktmbuf_mtod(mbuf, const uint8_t *));
    rte_pktmbuf_adj(mbuf, before);
    rte_pktmbuf_trim(mbuf, (uint16_t)(mbuf->pkt_len - pkt->net_len));
    struct rte_mbuf *whole;
    struct reass_header header;
    struct reass_freed freed;
    enum reass_result result =
        reass_add(consumer->reass, 1, 0, &pkt->lp, mbuf, now_ns(consumer, now), &whole, &header, &freed);
    if (result == REASS_BAD || result == REASS_OVERSIZE)
        tally->corrupted++;
    else if (result == REASS_DUPLICATE)
        tally->duplicates++;
    if (result != REASS_COMPLETE)
        return;
    uint8_t scratch[NDN_PACKET_MAX];
    const uint8_t *p = device_octets(whole, scratch, sizeof scratch);
    struct ndn_packet message = {.lp = header.lp};
    if (p == NULL || ndn_packet_parse_net(p, whole->pkt_len, &(struct ndn_parse_opts){0}, &message) != VERDICT_OK)
        tally->corrupted++;
    else
        take_packet(consumer, &message, now);
    rte_pktmbuf_free(whole);
}

bool consumer_receive(struct consumer *consumer, struct rte_mbuf *mbuf, uint64_t now)
{
    struct tally *tally = &consumer->tally;
    uint8_t scratch[NDN_PACKET_MAX + 256];
    const uint8_t *frame = device_octets(mbuf, scratch, sizeof scratch), *packet;
    size_t len;
    if (frame == NULL || link_unwrap(&consumer->link, frame, mbuf->pkt_len, &packet, &len) != 0) {
        tally->foreign++;
        rte_pktmbuf_free(mbuf);
        return true;
    }
    if (take_quick(consumer, packet, len, now)) {
        tally->octets_received += mbuf->pkt_len;
        rte_pktmbuf_free(mbuf);
        return true;
    }
    struct ndn_packet pkt;
    struct ndn_parse_opts opts = {.allow_trailing = !consumer->is_bare};
    if (ndn_packet_parse(packet, len, &opts, &pkt) != VERDICT_OK) {
        tally->corrupted++;
        rte_pktmbuf_free(mbuf);
        return true;
    }
    if (pkt.type == NDN_TYPE_INTEREST && (pkt.lp.has & LP_HAS_NACK) == 0)
        return false;
    tally->octets_received += mbuf->pkt_len;
    if (pkt.type == 0 && pkt.lp.frag_count > 1) {
        take_fragment(consumer, &pkt, mbuf, now);
        return true;
    }
    if (pkt.type != 0)
        take_packet(consumer, &pkt, now);
    rte_pktmbuf_free(mbuf);
    return true;
}

/* Requests are sent in the order of their numbers, so that the oldest are the first to be given up. */
static unsigned expire(struct consumer *consumer, uint64_t now)
{
    unsigned n = 0;
    if (now - consumer->worked > consumer->timeout / STANDSTILL)
        consumer->patience = now + consumer->timeout;
    consumer->worked = now;
    for (; n < EXPIRE_MAX && consumer->tail < consumer->head; n++, consumer->tail++) {
        struct consumer_request *request = request_at(consumer, consumer->tail);
        if (request->state != REQUEST_OUT)
            continue;
        bool full = consumer->head - consumer->tail > consumer->mask - DEVICE_BURST;
        bool in_time = now < consumer->patience || now - (request->due + request->lag) < consumer->timeout;
        if (in_time && !full)
            break; // all have the same time to wait
        settle(consumer, request, REQUEST_LOST);
        consumer->tally.lost++;
    }
    return n;
}

static void make_request(struct consumer *consumer, uint64_t due, uint64_t now)
{
    uint64_t number = consumer->head++, lag = now - due;
    uint32_t name = names_next(&consumer->shape.names, number);
    struct consumer_request *request = request_at(consumer, number);
    *request = (struct consumer_request){
        .due = due, .lag = lag < UINT32_MAX ? (uint32_t)lag : UINT32_MAX, .name = name, .state = REQUEST_OUT};
    if (consumer->last != NULL) {
        uint32_t *last = &consumer->last[name - consumer->shape.names.first];
        request->previous = *last;
        *last = (uint32_t)number + 1;
    }
    consumer->out++;
    consumer->tally.sent++;
    if (lag > consumer->tally.behind)
        consumer->tally.behind = lag;
}

static void write_interest(struct consumer *consumer, uint64_t number, uint8_t *frame)
{
    memcpy(frame, consumer->template, consumer->template_len);
    uint8_t *net = frame + consumer->net_off;
    uint32_t nonce = (uint32_t)random_next(&consumer->random);
    names_write(&consumer->shape.names, request_at(consumer, number)->name, net + consumer->shape.interest_name_off);
    memcpy(net + consumer->shape.nonce_off, &nonce, sizeof nonce);
    if (consumer->token)
        put_token(consumer, number, frame + consumer->token_off);
    link_finish(&consumer->link, frame, (size_t)(consumer->template_len - consumer->link.header_len));
}

unsigned consumer_work(struct consumer *consumer, uint64_t now)
{
    unsigned n = expire(consumer, now);
    if (consumer->reass != NULL)
        reass_poll(consumer->reass, now_ns(consumer, now));
    if (!device_send(&consumer->tx) || !pace_ready(&consumer->pace, now, consumer->out))
        return n;
    // A burst that the pool cannot give is due again later.
    struct rte_mbuf *mbufs[DEVICE_BURST];
    if (rte_pktmbuf_alloc_bulk(consumer->pool, mbufs, DEVICE_BURST) != 0)
        return n;
    unsigned n_made = 0;
    uint64_t due;
    for (; n_made < DEVICE_BURST && pace_take(&consumer->pace, now, consumer->out, &due); n_made++) {
        make_request(consumer, due, now);
        char *frame = rte_pktmbuf_append(mbufs[n_made], consumer->template_len);
        write_interest(consumer, consumer->head - 1, (uint8_t *)frame);
        device_add(&consumer->tx, mbufs[n_made]);
    }
    consumer->tally.octets_sent += (uint64_t)n_made * consumer->template_len;
    rte_pktmbuf_free_bulk(mbufs + n_made, DEVICE_BURST - n_made);
    device_send(&consumer->tx);
    return n + n_made;
}

bool consumer_done(struct consumer *consumer, uint64_t now)
{
    struct pace *pace = &consumer->pace;
    struct tally *tally = &consumer->tally;
    if (!pace_over(pace, now)) {
        // What the port did not take in time is not sent any more.
        if (now < pace->end || now - pace->end < consumer->timeout)
            return false;
        tally->unsent += pace_rest(pace);
    }
    if (tally->end == 0)
        tally->end = now;
    return consumer->out == 0 && consumer->tx.to == 0;
}
