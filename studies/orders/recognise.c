/* SPDX-License-Identifier: Apache-2.0 */
#include "studies/orders/recognise.h"

#include "base/arena.h"
#include "schedules/schedule.h"
#include "studies/orders/candidates.h"

#include <stdlib.h>
#include <string.h>

/* The orders of all workers of a plan, or of a run. */
struct expected {
    const uint64_t **keys; /* [worker] */
    size_t *counts;
    uint32_t workers;
};

struct comparison {
    const struct order *order;
    struct recognised *found;
    struct expected expected;
    uint64_t *keys; /* of a plan */
    size_t room;
    const struct schedule *named; /* the last one that was */
    struct arena *arena;
};

static bool is_same(const struct order *order, const struct order_part *part, const struct expected *expected)
{
    return part->worker < expected->workers && part->count == expected->counts[part->worker] &&
           !memcmp(&order->keys[part->first], expected->keys[part->worker], part->count * sizeof *order->keys);
}

/* The parts of one step and replica, from `first` on: their end. */
static size_t end_of(const struct order *order, size_t first)
{
    size_t end = first + 1;
    while (end < order->part_count && order->parts[end].step == order->parts[first].step &&
           order->parts[end].replica == order->parts[first].replica)
        end++;
    return end;
}

/* Steps of a replica in which all workers follow what is expected. */
static uint32_t count_followed(const struct order *order, const struct expected *expected)
{
    uint32_t good = 0;
    for (size_t i = 0, end; i < order->part_count; i = end) {
        bool same = true;
        end = end_of(order, i);
        for (size_t k = i; k < end; k++)
            same &= is_same(order, &order->parts[k], expected);
        good += same;
    }
    return good;
}

/* Of the first step and replica. */
static void count_apart(const struct order *order, const struct expected *expected, size_t *apart, size_t *of)
{
    size_t end = end_of(order, 0);
    *apart = *of = 0;
    for (size_t i = 0; i < end; i++) {
        const struct order_part *part = &order->parts[i];
        bool there = part->worker < expected->workers;
        *of += part->count;
        *apart += there ? order_apart(&order->keys[part->first], part->count, expected->keys[part->worker],
                                      expected->counts[part->worker])
                        : part->count;
    }
}

/* ---- plans ---- */

/* The plan of a request; NULL: there is none, or weight gradients are apart from their backwards, and nowhere in the
 * trace. The caller owns it. */
static struct plan *expect(struct comparison *comparison, const struct schedule *schedule,
                           const struct schedule_request *request)
{
    struct plan *plan = schedule->plan(request);
    size_t room = 0, filled = 0;
    bool splits = false;
    if (!plan)
        return NULL;
    for (uint32_t worker = 0; worker < plan->workers && !comparison->order->weights; worker++)
        for (size_t i = 0; i < plan->orders[worker].count; i++)
            splits |= plan->orders[worker].slots[i].kind == SLOT_WEIGHT;
    if (splits) {
        plan_destroy(plan);
        return NULL;
    }
    for (uint32_t worker = 0; worker < plan->workers; worker++)
        room += plan->orders[worker].count;
    comparison->keys = array_grow(comparison->keys, &comparison->room, room, sizeof *comparison->keys);
    for (uint32_t worker = 0; worker < plan->workers; worker++) {
        comparison->expected.keys[worker] = &comparison->keys[filled];
        comparison->expected.counts[worker] = order_of_plan(plan, worker, &comparison->keys[filled]);
        filled += comparison->expected.counts[worker];
    }
    return plan;
}

static const char *also(const char *names, const char *name, struct arena *arena)
{
    return arena_print(arena, "%s%s%s", names, *names ? ", " : "", name);
}

/* Whether other options of the schedule are to be tried. */
static bool follow(void *user, const struct schedule *schedule, const struct schedule_request *request)
{
    struct comparison *comparison = user;
    struct recognised *found = comparison->found;
    struct plan *plan = expect(comparison, schedule, request);
    if (!plan)
        return true;
    uint32_t good = count_followed(comparison->order, &comparison->expected), slices = plan->slices;
    plan_destroy(plan);
    if (good > found->followed) {
        found->followed = good;
        found->schedule = schedule->name;
        found->options = candidate_text(schedule, request, comparison->arena);
        found->alike = "";
        found->slices = slices;
        comparison->named = schedule;
    } else if (good && good == found->followed && schedule != comparison->named) {
        found->alike = also(found->alike, schedule->name, comparison->arena);
        comparison->named = schedule;
    }
    return good < found->compared;
}

/* Nothing is followed so far: what comes nearest. */
static bool measure(void *user, const struct schedule *schedule, const struct schedule_request *request)
{
    struct comparison *comparison = user;
    struct recognised *found = comparison->found;
    struct plan *plan = expect(comparison, schedule, request);
    size_t apart, of;
    if (!plan)
        return true;
    plan_destroy(plan);
    count_apart(comparison->order, &comparison->expected, &apart, &of);
    if (apart < of && (!found->closest || apart < found->apart)) {
        found->closest = schedule->name;
        found->options = candidate_text(schedule, request, comparison->arena);
        found->apart = apart;
        found->of = of;
    }
    return true;
}

/* Rules first: one that is searched for takes seconds, and is tried if nothing else is followed. */
static void compare(struct comparison *comparison, const struct order_options *options)
{
    struct recognised *found = comparison->found;
    for (int searches = 0; searches < 2 && found->followed < found->compared; searches++)
        for (const struct schedule *const *it = schedule_table; *it; it++)
            if ((*it)->searches == searches)
                candidates_each(*it, options, follow, comparison);
    for (const struct schedule *const *it = schedule_table; *it && !found->followed; it++)
        if (!(*it)->searches)
            candidates_each(*it, options, measure, comparison);
}

static struct expected expected_of(uint32_t workers, struct arena *arena)
{
    return (struct expected){arena_array(arena, workers, sizeof(uint64_t *)),
                             arena_array(arena, workers, sizeof(size_t)), workers};
}

void recognise(const struct recorded *recorded, struct arena *arena, struct recognised *found)
{
    struct order order;
    order_find(recorded, arena, &order);
    *found = (struct recognised){.workers = order.workers,
                                 .stages = order.stages,
                                 .replicas = order.replicas,
                                 .micro_batches = order.micro_batches,
                                 .slices = 1,
                                 .options = "",
                                 .alike = ""};
    if (!order.part_count)
        return;
    for (size_t i = 0; i < order.part_count; i = end_of(&order, i))
        found->compared++;
    struct order_times times;
    struct order_options options;
    struct comparison comparison = {.order = &order, .found = found, .arena = arena};
    comparison.expected = expected_of(order.workers, arena);
    order_times_find(recorded, &order, arena, &times);
    order_options_find(&order, &times, arena, &options);
    compare(&comparison, &options);
    found->micro_batches /= found->slices;
    free(comparison.keys);
}

/* ---- with a scenario ---- */

/* Of its first step and replica. */
static void expect_run(struct expected *expected, const struct order *run)
{
    size_t end = run->part_count ? end_of(run, 0) : 0;
    for (size_t i = 0; i < end; i++) {
        const struct order_part *part = &run->parts[i];
        if (part->worker < expected->workers) {
            expected->keys[part->worker] = &run->keys[part->first];
            expected->counts[part->worker] = part->count;
        }
    }
}

/* Puts a name before those that are there. */
static void name_first(struct recognised *found, const char *name, uint32_t followed, struct arena *arena)
{
    const char *others = followed == found->followed && found->schedule ? found->schedule : "";
    for (const char *at = *others ? found->alike : ""; *at; at += strspn(at, ", ")) {
        const char *other = arena_copy_part(arena, at, strcspn(at, ","));
        others = strcmp(other, name) != 0 ? also(others, other, arena) : others;
        at += strlen(other);
    }
    found->schedule = name;
    found->options = "";
    found->alike = others;
    found->followed = followed;
}

uint32_t recognise_scenario(const struct recorded *recorded, const struct recorded *run,
                            const struct scenario *scenario, struct arena *arena, struct recognised *found)
{
    struct order order, own;
    const char *name = scenario->schedule_name;
    order_find(recorded, arena, &order);
    order_find(run, arena, &own);
    if (!name || !scenario->micro_batches || own.micro_batches < scenario->micro_batches)
        return scenario->micro_batches;
    if (!order.part_count)
        return own.micro_batches;
    uint32_t slices = own.micro_batches / scenario->micro_batches;
    struct expected expected = expected_of(order.workers, arena);
    expect_run(&expected, &own);
    uint32_t good = count_followed(&order, &expected);
    if (good && good >= found->followed) {
        found->micro_batches = order.micro_batches / slices;
        found->slices = slices;
        if (!found->schedule || strcmp(found->schedule, name) != 0)
            name_first(found, name, good, arena);
    }
    return own.micro_batches;
}
