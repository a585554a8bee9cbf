/* SPDX-License-Identifier: Apache-2.0 */
#include "schedules/plan/plan_repeats.h"

#include "base/arena.h"

#include <stdlib.h>

/* ---- the step of the order ---- */

static bool same_slot(const struct slot *a, const struct slot *b)
{
    return a->kind == b->kind && a->stage == b->stage && a->pipeline == b->pipeline && a->part == b->part &&
           a->joined == b->joined && a->split == b->split;
}

static uint32_t order_step(const struct plan_order *order)
{
    const struct slot *middle = order->slots + order->count / 2;
    for (size_t length = 1; 4 * length < order->count; length++) {
        if (middle[length].micro_batch <= middle->micro_batch)
            continue;
        uint32_t step = middle[length].micro_batch - middle->micro_batch;
        size_t same = 0;
        while (same < length && same_slot(&middle[same], &middle[same + length]) &&
               middle[same + length].micro_batch == middle[same].micro_batch + step)
            same++;
        if (same == length)
            return step;
    }
    return 0;
}

uint32_t plan_step(const struct plan *plan)
{
    uint64_t step = 1;
    for (uint32_t worker = 0; worker < plan->workers; worker++) {
        uint32_t own = order_step(&plan->orders[worker]), a = (uint32_t)step, b = own;
        if (!own)
            return 0;
        while (b) {
            uint32_t rest = a % b;
            a = b;
            b = rest;
        }
        step = step / a * own;
        if (step > plan->micro_batches)
            return 0;
    }
    return (uint32_t)step;
}

/* ---- beats in the middle ---- */

/* How far micro-batches of each pipeline move on; 0: not seen yet. */
struct moves {
    uint32_t *by; /* [pipeline] */
};

static bool moves_on(const struct moves *moves, const struct slot *from, const struct slot *to)
{
    if (!same_slot(from, to) || to->micro_batch <= from->micro_batch)
        return false;
    uint32_t *by = &moves->by[from->pipeline], move = to->micro_batch - from->micro_batch;
    *by = *by ? *by : move;
    return *by == move;
}

static size_t common_beginning(const struct plan_order *whole, const struct plan_order *part)
{
    size_t count = 0;
    while (count < part->count && same_slot(&whole->slots[count], &part->slots[count]) &&
           whole->slots[count].micro_batch == part->slots[count].micro_batch)
        count++;
    return count;
}

static bool order_extends(const struct plan_order *whole, const struct plan_order *part, uint32_t more,
                          const struct moves *all, const struct moves *beat, struct order_beat *found)
{
    if (whole->count <= part->count || (whole->count - part->count) % more)
        return false;
    size_t length = (whole->count - part->count) / more, place = common_beginning(whole, part);
    if (place < length)
        return false;
    for (size_t i = place; i < part->count; i++)
        if (!moves_on(all, &part->slots[i], &whole->slots[i + more * length]))
            return false;
    for (size_t i = place - length; i < place - length + more * length; i++)
        if (!moves_on(beat, &whole->slots[i], &whole->slots[i + length]))
            return false;
    *found = (struct order_beat){length, place};
    return true;
}

static bool same_shape(const struct plan *whole, const struct plan *part)
{
    if (whole->workers != part->workers || whole->stages != part->stages || whole->pipelines != part->pipelines ||
        whole->iterations != 1 || part->iterations != 1 || whole->step != part->step ||
        whole->asynchronous != part->asynchronous || whole->owners || part->owners || whole->barriers ||
        part->barriers || whole->steps_each != part->steps_each || whole->asynchronous)
        return false;
    for (size_t i = 0; i < (size_t)part->pipelines * part->stages; i++)
        if (whole->copies[i].worker != part->copies[i].worker || whole->copies[i].sync != part->copies[i].sync)
            return false;
    for (uint32_t worker = 0; worker < part->workers; worker++) {
        double a = whole->weight_versions[worker], b = part->weight_versions[worker];
        bool pairs = whole->partners && part->partners;
        if (a < b || a > b || !whole->partners != !part->partners ||
            (pairs && whole->partners[worker] != part->partners[worker]))
            return false;
    }
    return true;
}

bool plan_extends(const struct plan *whole, const struct plan *part, uint32_t more, struct order_beat *beats)
{
    struct order_beat found;
    struct moves all = {array_zeroed(whole->pipelines + (size_t)1, sizeof(uint32_t))};
    struct moves beat = {array_zeroed(whole->pipelines + (size_t)1, sizeof(uint32_t))};
    bool extends = more && same_shape(whole, part);
    for (uint32_t worker = 0; extends && worker < part->workers; worker++)
        extends = order_extends(&whole->orders[worker], &part->orders[worker], more, &all, &beat,
                                beats ? &beats[worker] : &found);
    for (uint32_t i = 0; extends && i < whole->pipelines; i++)
        extends = all.by[i] == more * beat.by[i];
    free(all.by);
    free(beat.by);
    return extends;
}
