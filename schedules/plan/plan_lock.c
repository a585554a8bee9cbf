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
    case DONE_OUTPUT:
        return SLOT_OUTPUT;
    case DONE_OUTPUT_GRADIENT:
        return SLOT_OUTPUT_GRADIENT;
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
        uint32_t stage = plan_walk_missing(walk, plan, &inputs[i]);
        if (stage == UINT32_MAX)
            continue;
        unsigned missing = inputs[i].mask & ~walk->done[(size_t)inputs[i].micro_batch * plan->stages + stage];
        wait->kind = awaited_kind(missing);
        wait->part = missing == 2 ? PART_A : missing == 4 ? PART_B : PART_WHOLE;
        wait->stage = stage;
        wait->micro_batch = inputs[i].micro_batch;
        wait->worker = inputs[i].all ? plan_worker(plan, wait->slot->pipeline, stage) : inputs[i].worker;
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

__attribute__((format(printf, 4, 5))) static void note(struct plan_lock *lock, uint32_t worker, size_t index,
                                                       const char *format, ...)
{
    struct plan_note *note = &lock->notes[lock->note_count++];
    note->worker = worker;
    note->index = index;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(note->text, sizeof note->text, format, arguments);
    va_end(arguments);
}

/* Where the slot that `wait` is for stands, if it stands anywhere. */
static void note_awaited(const struct plan *plan, const struct plan_walk *walk, const struct wait *wait,
                         uint32_t worker, struct plan_lock *lock)
{
    const struct plan_order *order = &plan->orders[wait->worker];
    for (size_t i = walk->next[wait->worker]; i < order->count; i++) {
        const struct slot *slot = &order->slots[i];
        if (slot->kind != wait->kind || slot->stage != wait->stage || slot->micro_batch != wait->micro_batch ||
            (wait->part != PART_WHOLE && slot->part != wait->part))
            continue;
        note(lock, wait->worker, i, "worker %u waits for this", worker);
        return;
    }
}

static void say_wait(const struct wait *wait, uint32_t worker, bool first, struct plan_lock *lock)
{
    append(lock->text, sizeof lock->text, "%s waits for %s of micro-batch %u in stage %u", first ? "" : ", which",
           plan_words_of(wait->kind, wait->part).text, wait->micro_batch, wait->stage);
    if (wait->worker != worker)
        append(lock->text, sizeof lock->text, " from worker %u", wait->worker);
    else
        append(lock->text, sizeof lock->text, ", which is not before it in its own order");
}

void plan_lock_describe(const struct plan *plan, const struct plan_walk *walk, struct plan_lock *lock)
{
    uint32_t start = cycle_start(plan, walk), worker = start, length = 0;
    *lock = (struct plan_lock){.worker = start, .index = find_wait(plan, walk, start).index};
    append(lock->text, sizeof lock->text, "worker %u", start);
    do {
        struct wait wait = find_wait(plan, walk, worker);
        if (length < PLAN_LOCK_SPELLED) {
            say_wait(&wait, worker, !length, lock);
            if (length)
                note(lock, worker, wait.index, "worker %u comes no further than here", worker);
            note_awaited(plan, walk, &wait, worker, lock);
        }
        worker = wait.worker;
        length++;
    } while (worker != start);
    if (length > PLAN_LOCK_SPELLED)
        append(lock->text, sizeof lock->text, ", and so on through %u workers", length);
}
