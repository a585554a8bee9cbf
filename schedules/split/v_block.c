/* SPDX-License-Identifier: Apache-2.0 */
#include "schedules/split/v_block.h"

#include "base/arena.h"
#include "base/bulk.h"
#include "schedules/zero_bubble.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { PERIOD = 6 };

/* ---- the repeated block ---- */

static void append_weight(struct plan *plan, uint32_t worker, size_t *next)
{
    const struct plan_order *order = &plan->orders[worker];
    while (order->slots[*next].kind != SLOT_BACKWARD)
        ++*next;
    const struct slot *backward = &order->slots[(*next)++];
    plan_append(plan, worker, SLOT_WEIGHT, 0, backward->stage, backward->micro_batch);
}

/* The pass (0 to 3) that the block has in a slot of time, for a micro-batch of the iteration; false where the slot is
 * free. */
static bool find_pass(const struct v_block *block, uint32_t time, uint32_t count, uint32_t *pass, uint32_t *micro_batch)
{
    for (*pass = 0; *pass < 4; ++*pass)
        if (time >= block->slots[*pass] && (time - block->slots[*pass]) % PERIOD == 0) {
            *micro_batch = (time - block->slots[*pass]) / PERIOD;
            return *micro_batch < count;
        }
    return false;
}

static void repeat(struct plan *plan, uint32_t worker, struct v_block block)
{
    uint32_t up = plan->stages - 1 - worker, count = plan->micro_batches, backwards = 0, weights = 0;
    size_t next = 0;
    plan_expect(plan, worker, (size_t)6 * count);
    for (uint32_t time = 0; weights < 2 * count; time++) {
        uint32_t pass, micro_batch;
        if (find_pass(&block, time, count, &pass, &micro_batch)) {
            bool backward = pass >= 2;
            uint32_t stage = pass == 1 || pass == 2 ? up : worker;
            plan_append(plan, worker, backward ? SLOT_BACKWARD : SLOT_FORWARD, 0, stage, micro_batch)->split = backward;
            backwards += backward;
        } else if (weights < backwards) {
            append_weight(plan, worker, &next);
            weights++;
        }
    }
}

/* ---- compaction ---- */

/* One pass over the plan, in the direction of time or against it. Against it, what follows an operation must be placed
 * first, and stashes appear with W and vanish with F. */
struct pass {
    struct plan *plan;
    bool against;
    uint32_t most;
    uint32_t *end;   /* [kind][micro_batch * stages + stage]: slot of time after the operation; 0 before it is placed */
    bool *placed;    /* of one worker after the other: [position in the direction of the pass] */
    size_t *head;    /* [worker]: first position that is not placed */
    uint32_t *held;  /* [worker]: half stages' stashes */
    uint32_t *woken; /* [worker]: slot of time from which on it may find something to run; before it, nothing has
                        changed for it */
    struct slot **orders;
    size_t *count; /* [worker]: of orders */
};

static const struct slot *at(const struct pass *pass, uint32_t worker, size_t position)
{
    const struct plan_order *order = &pass->plan->orders[worker];
    return &order->slots[pass->against ? order->count - 1 - position : position];
}

static uint32_t *end_of(const struct pass *pass, enum slot_kind kind, uint32_t stage, uint32_t micro_batch)
{
    const struct plan *plan = pass->plan;
    return &pass->end[((size_t)kind * plan->micro_batches + micro_batch) * plan->stages + stage];
}

static bool over(const struct pass *pass, enum slot_kind kind, uint32_t stage, const struct slot *slot, uint32_t time)
{
    uint32_t end = *end_of(pass, kind, stage, slot->micro_batch);
    return end > 0 && end <= time;
}

static bool ready(const struct pass *pass, const struct slot *slot, uint32_t time)
{
    uint32_t stage = slot->stage, last = pass->plan->stages - 1;
    switch ((enum slot_kind)slot->kind) {
    case SLOT_FORWARD:
        if (pass->against)
            return over(pass, SLOT_BACKWARD, stage, slot, time) &&
                   (stage == last || over(pass, SLOT_FORWARD, stage + 1, slot, time));
        return stage == 0 || over(pass, SLOT_FORWARD, stage - 1, slot, time);
    case SLOT_BACKWARD:
        if (pass->against)
            return over(pass, SLOT_WEIGHT, stage, slot, time) &&
                   (stage == 0 || over(pass, SLOT_BACKWARD, stage - 1, slot, time));
        return over(pass, SLOT_FORWARD, stage, slot, time) &&
               (stage == last || over(pass, SLOT_BACKWARD, stage + 1, slot, time));
    default:
        return pass->against || over(pass, SLOT_BACKWARD, stage, slot, time);
    }
}

static int change(const struct pass *pass, const struct slot *slot)
{
    int taken = slot->kind == SLOT_FORWARD ? 1 : slot->kind == SLOT_WEIGHT ? -1 : 0;
    return pass->against ? -taken : taken;
}

/* The position of the operation that a worker runs at a time: the first in its order that can run and whose stash, held
 * from now on, leaves room for all between; the order's length when there is none. Operations of a micro-batch are
 * within one block's length of each other, so a look that far is enough. */
static size_t choose(const struct pass *pass, uint32_t worker, const bool *placed, uint32_t time)
{
    size_t count = pass->plan->orders[worker].count,
           end = pass->head[worker] + (size_t)PERIOD * (pass->plan->workers + 2);
    int64_t held = pass->held[worker], high = held;
    for (size_t position = pass->head[worker]; position < count && position < end; position++) {
        if (placed[position])
            continue;
        const struct slot *slot = at(pass, worker, position);
        int taken = change(pass, slot);
        if ((taken <= 0 || high < pass->most) && ready(pass, slot, time))
            return position;
        held += taken;
        high = held > high ? held : high;
    }
    return count;
}

/* What an operation lets run belongs to its worker or to one of those beside it, between which micro-batches pass: from
 * the next slot of time on they look again. */
static void wake(struct pass *pass, uint32_t worker, uint32_t time)
{
    for (uint32_t other = worker ? worker - 1 : 0; other <= worker + 1 && other < pass->plan->workers; other++)
        pass->woken[other] = time + 1;
}

static bool place(struct pass *pass, uint32_t worker, bool *placed, uint32_t time)
{
    if (pass->woken[worker] < time)
        return false;
    size_t count = pass->plan->orders[worker].count, position = choose(pass, worker, placed, time);
    if (position == count)
        return false;
    wake(pass, worker, time);
    const struct slot *slot = at(pass, worker, position);
    *end_of(pass, slot->kind, slot->stage, slot->micro_batch) = time + 1;
    pass->held[worker] += (uint32_t)change(pass, slot);
    placed[position] = true;
    while (pass->head[worker] < count && placed[pass->head[worker]])
        pass->head[worker]++;
    size_t index = pass->count[worker]++;
    pass->orders[worker][pass->against ? count - 1 - index : index] = *slot;
    return true;
}

static void *zeros(size_t count, size_t size)
{
    size_t capacity = 0;
    void *items = array_grow(NULL, &capacity, count, size);
    return memset(items, 0, capacity * size);
}

static void run(struct pass *pass)
{
    const struct plan *plan = pass->plan;
    size_t each = (size_t)3 * 2 * plan->micro_batches, left = each * plan->workers;
    for (uint32_t time = 0; left > 0; time++) {
        size_t before = left;
        for (uint32_t worker = 0; worker < plan->workers; worker++)
            left -= place(pass, worker, pass->placed + worker * each, time);
        /* Of all that is left the earliest in the repeated blocks has its inputs, and its stash has room. */
        assert(left < before);
        (void)before;
    }
}

static void compact(struct plan *plan, uint32_t most, bool against)
{
    size_t each = (size_t)3 * 2 * plan->micro_batches, cells = (size_t)plan->micro_batches * plan->stages;
    struct pass pass = {.plan = plan,
                        .against = against,
                        .most = most,
                        .end = zeros(3 * cells, sizeof *pass.end),
                        .placed = zeros(each * plan->workers, sizeof *pass.placed),
                        .head = zeros(plan->workers, sizeof *pass.head),
                        .woken = zeros(plan->workers, sizeof *pass.woken),
                        .held = zeros(plan->workers, sizeof *pass.held),
                        .orders = zeros(plan->workers, sizeof *pass.orders),
                        .count = zeros(plan->workers, sizeof *pass.count)};
    for (uint32_t worker = 0; worker < plan->workers; worker++)
        pass.orders[worker] = bulk_alloc(each * sizeof *pass.orders[worker]);
    run(&pass);
    for (uint32_t worker = 0; worker < plan->workers; worker++) {
        bulk_free(plan->orders[worker].slots, plan->orders[worker].capacity * sizeof(struct slot));
        plan->orders[worker] = (struct plan_order){.slots = pass.orders[worker], .count = each, .capacity = each};
    }
    free(pass.end);
    free(pass.placed);
    free(pass.head);
    free(pass.woken);
    free(pass.held);
    free(pass.orders);
    free(pass.count);
}

struct plan *v_block_plan(const struct schedule_request *request,
                          struct v_block (*block)(uint32_t workers, uint32_t worker), uint32_t most)
{
    struct plan *plan = plan_create_waves(request, 2 * request->workers);
    for (uint32_t worker = 0; worker < request->workers; worker++)
        repeat(plan, worker, block(request->workers, worker));
    compact(plan, most, true);
    compact(plan, most, false);
    return plan;
}
