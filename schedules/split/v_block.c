/* SPDX-License-Identifier: Apache-2.0 */
#include "schedules/split/v_block.h"

#include "base/arena.h"
#include "schedules/kit/zero_bubble.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { PERIOD = 6 };

/* ---- lanes ---- */

/* What a worker runs is six lanes: forwards, backwards and weight gradients of its stage down the V (even) and up
 * (odd). In all that follows a lane goes through the micro-batches in order, so a worker's order is a list of lanes. */
enum { LANES = 6 };

static enum slot_kind kind_of(unsigned lane)
{
    return (enum slot_kind)(lane / 2); /* SLOT_FORWARD, SLOT_BACKWARD, SLOT_WEIGHT */
}

static uint32_t stage_of(unsigned lane, uint32_t worker, uint32_t stages)
{
    return lane % 2 ? stages - 1 - worker : worker;
}

struct order {
    uint8_t *lanes; /* [position] */
    size_t count;
};

/* ---- the repeated block ---- */

/* The lane of each pass (0 to 3) of a block, in the order of struct v_block. */
static const uint8_t pass_lane[4] = {2 * SLOT_FORWARD, 2 * SLOT_FORWARD + 1, 2 * SLOT_BACKWARD + 1, 2 * SLOT_BACKWARD};

/* The weight gradient of the first backward of an order that has none yet; `next` is where to look for it. */
static uint8_t weight_lane(const struct order *order, size_t *next)
{
    while (kind_of(order->lanes[*next]) != SLOT_BACKWARD)
        ++*next;
    return (uint8_t)(order->lanes[(*next)++] - 2 * SLOT_BACKWARD + 2 * SLOT_WEIGHT);
}

/* One worker's blocks, one every period: in each slot of time the pass that some block has there, or else a weight
 * gradient that is left. */
static struct order repeat(struct v_block block, uint32_t count)
{
    struct order order = {array_grow(NULL, &(size_t){0}, (size_t)LANES * count, 1), 0};
    int pass_at[PERIOD] = {-1, -1, -1, -1, -1, -1};
    uint32_t done[4] = {0}, backwards = 0, weights = 0;
    size_t next = 0;
    for (int pass = 0; pass < 4; pass++)
        pass_at[block.slots[pass] % PERIOD] = pass;
    for (uint32_t time = 0; weights < 2 * count; time++) {
        int pass = pass_at[time % PERIOD];
        if (pass >= 0 && time >= block.slots[pass] && done[pass] < count) {
            done[pass]++;
            order.lanes[order.count++] = pass_lane[pass];
            backwards += kind_of(pass_lane[pass]) == SLOT_BACKWARD;
        } else if (weights < backwards) {
            uint8_t lane = weight_lane(&order, &next);
            order.lanes[order.count++] = lane;
            weights++;
        }
    }
    return order;
}

/* ---- compaction ---- */

/* A worker during a pass. It takes operations from the back of one order, so that the order of a pass against time is
 * just what the one in the direction of time begins with. */
struct hand {
    struct order from, to;
    size_t next[LANES]; /* position of a lane's next operation, counted from the back; the order's length: none left */
    uint32_t done[LANES]; /* operations of a lane that are placed */
    uint32_t held;        /* half stages' stashes */
    uint32_t woken;       /* slot of time from which on it may find something to run; before it, nothing has changed */
};

/* One pass over the orders, in the direction of time or against it. Against it, what follows an operation must be
 * placed first, and stashes appear with W and vanish with F. */
struct pass {
    uint32_t workers, stages, micro_batches;
    bool against;
    uint32_t most;
    size_t row;
    uint32_t *end; /* [(stage * 3 + kind) * row + i]: slot of time after the i-th operation that the pass places there;
                      0 before */
    struct hand *hands; /* [worker] */
};

static unsigned lane_at(const struct hand *hand, size_t position)
{
    return hand->from.lanes[hand->from.count - 1 - position];
}

static void move_on(struct hand *hand, unsigned lane, size_t position)
{
    while (position < hand->from.count && lane_at(hand, position) != lane)
        position++;
    hand->next[lane] = position;
}

static uint32_t *end_of(const struct pass *pass, enum slot_kind kind, uint32_t stage, uint32_t i)
{
    return &pass->end[((size_t)stage * 3 + kind) * pass->row + i];
}

static bool over(const struct pass *pass, enum slot_kind kind, uint32_t stage, uint32_t i, uint32_t time)
{
    uint32_t end = *end_of(pass, kind, stage, i);
    return end > 0 && end <= time;
}

/* Whether the i-th operation of a kind in a stage can run: in either direction micro-batches follow each other, so its
 * inputs are the i-th of their kind, too. */
static bool ready(const struct pass *pass, enum slot_kind kind, uint32_t stage, uint32_t i, uint32_t time)
{
    uint32_t last = pass->stages - 1;
    switch (kind) {
    case SLOT_FORWARD:
        if (pass->against)
            return over(pass, SLOT_BACKWARD, stage, i, time) &&
                   (stage == last || over(pass, SLOT_FORWARD, stage + 1, i, time));
        return stage == 0 || over(pass, SLOT_FORWARD, stage - 1, i, time);
    case SLOT_BACKWARD:
        if (pass->against)
            return over(pass, SLOT_WEIGHT, stage, i, time) &&
                   (stage == 0 || over(pass, SLOT_BACKWARD, stage - 1, i, time));
        return over(pass, SLOT_FORWARD, stage, i, time) &&
               (stage == last || over(pass, SLOT_BACKWARD, stage + 1, i, time));
    default:
        return pass->against || over(pass, SLOT_BACKWARD, stage, i, time);
    }
}

static int change(const struct pass *pass, unsigned lane)
{
    int taken = kind_of(lane) == SLOT_FORWARD ? 1 : kind_of(lane) == SLOT_WEIGHT ? -1 : 0;
    return pass->against ? -taken : taken;
}

static size_t first_left(const struct hand *hand)
{
    size_t first = hand->next[0];
    for (unsigned lane = 1; lane < LANES; lane++)
        first = hand->next[lane] < first ? hand->next[lane] : first;
    return first;
}

/* Whether a stash that is held from now on leaves room for all that stands between here and its place in the order. */
static bool has_room(const struct pass *pass, const struct hand *hand, size_t first, size_t position)
{
    int64_t held = hand->held;
    for (size_t i = first; i < position && held < pass->most; i++) {
        unsigned lane = lane_at(hand, i);
        if (i >= hand->next[lane])
            held += change(pass, lane);
    }
    return held < pass->most;
}

/* The lane whose next operation a worker runs at a time: of those that can run, and whose stash has room, the first in
 * its order; LANES when there is none. Operations of a micro-batch are within one block's length of each other, so a
 * look that far is enough. */
static unsigned choose(const struct pass *pass, uint32_t worker, uint32_t time)
{
    const struct hand *hand = &pass->hands[worker];
    size_t first = first_left(hand), end = first + (size_t)PERIOD * (pass->workers + 2);
    end = end < hand->from.count ? end : hand->from.count;
    size_t freely = end, taking = end; /* the first that can run without a stash, and the first that takes one */
    for (unsigned lane = 0; lane < LANES; lane++) {
        size_t *best = change(pass, lane) > 0 ? &taking : &freely;
        if (hand->next[lane] < *best &&
            ready(pass, kind_of(lane), stage_of(lane, worker, pass->stages), hand->done[lane], time))
            *best = hand->next[lane];
    }
    if (taking < freely && has_room(pass, hand, first, taking))
        return lane_at(hand, taking);
    return freely < end ? lane_at(hand, freely) : LANES;
}

/* What an operation lets run belongs to its worker or to one of those beside it, between which micro-batches pass: from
 * the next slot of time on they look again. */
static void wake(struct pass *pass, uint32_t worker, uint32_t time)
{
    for (uint32_t other = worker ? worker - 1 : 0; other <= worker + 1 && other < pass->workers; other++)
        pass->hands[other].woken = time + 1;
}

static bool place(struct pass *pass, uint32_t worker, uint32_t time)
{
    struct hand *hand = &pass->hands[worker];
    if (hand->woken < time)
        return false;
    unsigned lane = choose(pass, worker, time);
    if (lane == LANES)
        return false;
    wake(pass, worker, time);
    *end_of(pass, kind_of(lane), stage_of(lane, worker, pass->stages), hand->done[lane]++) = time + 1;
    hand->held += (uint32_t)change(pass, lane);
    move_on(hand, lane, hand->next[lane] + 1);
    hand->to.lanes[hand->to.count++] = (uint8_t)lane;
    return true;
}

static void run(struct pass *pass)
{
    size_t left = (size_t)LANES * pass->micro_batches * pass->workers;
    for (uint32_t time = 0; left > 0; time++) {
        size_t before = left;
        for (uint32_t worker = 0; worker < pass->workers; worker++)
            left -= place(pass, worker, time);
        /* Of all that is left the earliest in the repeated blocks has its inputs, and its stash has room. */
        assert(left < before);
        (void)before;
    }
}

static void *zeros(size_t count, size_t size)
{
    size_t capacity = 0;
    void *items = array_grow(NULL, &capacity, count, size);
    return memset(items, 0, capacity * size);
}

/* Replaces the orders of the workers. */
static void compact(struct order *orders, uint32_t workers, uint32_t micro_batches, uint32_t most, bool against)
{
    /* Workers are about equally far: rows whose lengths are powers of two would all want the same places of a cache. */
    size_t row = (size_t)micro_batches + 16;
    struct pass pass = {.workers = workers,
                        .stages = 2 * workers,
                        .micro_batches = micro_batches,
                        .against = against,
                        .most = most,
                        .row = row,
                        .end = zeros(LANES * workers * row, sizeof *pass.end),
                        .hands = zeros(workers, sizeof *pass.hands)};
    for (uint32_t worker = 0; worker < workers; worker++) {
        struct hand *hand = &pass.hands[worker];
        hand->from = orders[worker];
        hand->to.lanes = zeros(hand->from.count, 1);
        for (unsigned lane = 0; lane < LANES; lane++)
            move_on(hand, lane, 0);
    }
    run(&pass);
    for (uint32_t worker = 0; worker < workers; worker++) {
        free(orders[worker].lanes);
        orders[worker] = pass.hands[worker].to;
    }
    free(pass.end);
    free(pass.hands);
}

static void append(struct plan *plan, uint32_t worker, struct order order)
{
    uint32_t done[LANES] = {0};
    plan_expect(plan, worker, order.count);
    for (size_t i = 0; i < order.count; i++) {
        unsigned lane = order.lanes[i];
        enum slot_kind kind = kind_of(lane);
        plan_append(plan, worker, kind, 0, stage_of(lane, worker, plan->stages), done[lane]++)->split =
            kind == SLOT_BACKWARD;
    }
}

uint32_t v_block_peak(v_block_of *block, const void *shape, uint32_t workers, uint32_t count)
{
    uint32_t peak = 0;
    for (uint32_t worker = 0; worker < workers; worker++) {
        struct order order = repeat(block(shape, workers, worker), count);
        uint32_t held = 0;
        for (size_t i = 0; i < order.count; i++) {
            held += kind_of(order.lanes[i]) == SLOT_FORWARD;
            held -= kind_of(order.lanes[i]) == SLOT_WEIGHT;
            peak = held > peak ? held : peak;
        }
        free(order.lanes);
    }
    return peak;
}

struct plan *v_block_plan(const struct schedule_request *request, v_block_of *block, const void *shape, uint32_t most)
{
    uint32_t workers = request->workers;
    struct order *orders = zeros(workers, sizeof *orders);
    for (uint32_t worker = 0; worker < workers; worker++)
        orders[worker] = repeat(block(shape, workers, worker), request->micro_batches);
    compact(orders, workers, request->micro_batches, most, true);
    compact(orders, workers, request->micro_batches, most, false);
    struct plan *plan = plan_create_waves(request, 2 * workers);
    for (uint32_t worker = 0; worker < workers; worker++) {
        append(plan, worker, orders[worker]);
        free(orders[worker].lanes);
    }
    free(orders);
    return plan;
}
