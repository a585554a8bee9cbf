/* SPDX-License-Identifier: Apache-2.0 */
#include "schedules/plan/plan_lock.h"

#include "schedules/plan/plan_words.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* What a worker that cannot go on waits for. */
struct wait {
    const struct slot *slot; /* the slot of its block that waits */
    size_t index;
    uint32_t stage, micro_batch; /* of the awaited operation */
    unsigned kind, part;
    uint32_t worker; /* that should run it */
};

static enum slot_kind awaited_kind(unsigned missing)
{
    switch (missing) {
    case DONE_FORWARD:
        return SLOT_FORWARD;
    case DONE_RETURN:
        return SLOT_FETCH;
    case DONE_PASS_FORWARD:
        return SLOT_PASS_FORWARD;
    case DONE_PASS_BACKWARD:
        return SLOT_PASS_BACKWARD;
    case DONE_PASS_GRADIENT:
        return SLOT_PASS_GRADIENT;
    default:
        return SLOT_BACKWARD;
    }
}

static bool find_input(const struct plan *plan, const struct plan_walk *walk, struct wait *wait)
{
    struct plan_input inputs[PLAN_INPUTS_MAX];
    uint16_t own = walk->done[(size_t)wait->slot->micro_batch * plan->stages + wait->slot->stage];
    unsigned count = plan_inputs(plan, wait->slot, own, inputs);
    for (unsigned i = 0; i < count; i++) {
        unsigned missing = inputs[i].mask & ~walk->done[(size_t)inputs[i].micro_batch * plan->stages + inputs[i].stage];
        if (!missing)
            continue;
        wait->kind = awaited_kind(missing);
        wait->part = missing == 2 ? PART_A : missing == 4 ? PART_B : PART_WHOLE;
        wait->stage = inputs[i].stage;
        wait->micro_batch = inputs[i].micro_batch;
        wait->worker = inputs[i].worker;
        return true;
    }
    return false;
}

static struct wait find_wait(const struct plan *plan, const struct plan_walk *walk, uint32_t worker)
{
    struct wait wait = {0};
    const struct plan_order *order = &plan->orders[worker];
    size_t end = plan_block_end(order, walk->next[worker]);
    for (wait.index = walk->next[worker]; wait.index < end; wait.index++) {
        wait.slot = &order->slots[wait.index];
        if (find_input(plan, walk, &wait))
            break;
    }
    return wait;
}

/* A worker on the cycle with the lowest number: follow the waits from any blocked worker until one repeats. */
static uint32_t cycle_start(const struct plan *plan, const struct plan_walk *walk)
{
    uint32_t worker = 0;
    while (walk->next[worker] >= plan->orders[worker].count)
        worker++;
    for (uint32_t i = 0; i < plan->workers; i++)
        worker = find_wait(plan, walk, worker).worker;
    uint32_t lowest = worker;
    for (uint32_t next = find_wait(plan, walk, worker).worker; next != worker;
         next = find_wait(plan, walk, next).worker)
        if (next < lowest)
            lowest = next;
    return lowest;
}

__attribute__((format(printf, 3, 4))) static void append(char *text, size_t size, const char *format, ...)
{
    size_t used = strlen(text);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text + used, size - used, format, arguments);
    va_end(arguments);
}

size_t plan_lock_describe(const struct plan *plan, const struct plan_walk *walk, char *text, size_t size,
                          uint32_t *blocked)
{
    enum { SPELLED = 8 }; /* waits that are spelled out; longer cycles are cut */
    uint32_t start = cycle_start(plan, walk), worker = start, length = 0;
    struct wait first = find_wait(plan, walk, start);
    snprintf(text, size, "worker %u", start);
    do {
        struct wait wait = find_wait(plan, walk, worker);
        if (length < SPELLED)
            append(text, size, "%s waits for %s of micro-batch %u in stage %u", length ? ", which" : "",
                   plan_words_of(wait.kind, wait.part).text, wait.micro_batch, wait.stage);
        if (length < SPELLED && wait.worker != worker)
            append(text, size, " from worker %u", wait.worker);
        else if (length < SPELLED)
            append(text, size, ", which is not before it in its own order");
        worker = wait.worker;
        length++;
    } while (worker != start);
    if (length > SPELLED)
        append(text, size, ", and so on through %u workers", length);
    *blocked = start;
    return first.index;
}
