/* SPDX-License-Identifier: Apache-2.0 */
#include "training/clocks.h"

#include "base/arena.h"

#include <math.h>
#include <stdlib.h>

enum { PURPOSE_LEMON = 1, PURPOSE_CLOCK = 2 };

/* Components of a unit whose failures come at any moment alike are one group: which of them it is, is drawn. Every
 * other component is a group of its own. */
struct group {
    enum failure_unit unit;
    const struct failure_component *const *components; /* count of them */
    const double *shares;                              /* of all failures: up to and with component i */
    size_t count;
    struct distribution between; /* of one unit, by its own clock */
};

struct clock {
    double time;
    struct draws draws;
    uint32_t unit;
    uint16_t group;
};

struct clocks {
    const struct training_plan *plan;
    struct arena *arena;
    uint32_t machines;
    struct group *groups;
    size_t group_count;
    struct clock *heap; /* the earliest first */
    size_t count;
    bool *lemon;             /* [machine]; NULL: none are */
    double common, of_lemon; /* how many times as long it takes between two failures */
};

/* ---- the heap ---- */

static bool before(const struct clock *a, const struct clock *b)
{
    if (a->time < b->time || a->time > b->time)
        return a->time < b->time;
    return a->group != b->group ? a->group < b->group : a->unit < b->unit;
}

static void sink(struct clocks *clocks, size_t place)
{
    struct clock clock = clocks->heap[place];
    for (size_t child; (child = 2 * place + 1) < clocks->count; place = child) {
        if (child + 1 < clocks->count && before(&clocks->heap[child + 1], &clocks->heap[child]))
            child++;
        if (!before(&clocks->heap[child], &clock))
            break;
        clocks->heap[place] = clocks->heap[child];
    }
    clocks->heap[place] = clock;
}

/* ---- units ---- */

/* A device's clock is its node's: that one has the rates of all of them. */
static uint32_t unit_nodes(const struct training_plan *plan, enum failure_unit unit)
{
    return unit == UNIT_RACK ? plan->rack : unit == UNIT_SWITCH ? plan->behind_switch : 1;
}

static uint32_t count_units(const struct clocks *clocks, enum failure_unit unit)
{
    uint32_t nodes = unit_nodes(clocks->plan, unit);
    return unit == UNIT_JOB ? 1 : (clocks->machines + nodes - 1) / nodes;
}

/* Failures of a node, or of what else is one clock's unit, in a second. */
static double rate_of(const struct training_plan *plan, const struct failure_component *component)
{
    return plan->rate * (component->unit == UNIT_GPU ? plan->gpus_per_node : 1) / component->every;
}

static bool at_any_moment(const struct failure_component *component)
{
    return !(component->shape < 1 || component->shape > 1);
}

/* Devices count as their nodes do. */
static enum failure_unit clock_unit(const struct failure_component *component)
{
    return component->unit == UNIT_GPU && at_any_moment(component) ? UNIT_NODE : (enum failure_unit)component->unit;
}

/* ---- groups ---- */

static void add_group(struct clocks *clocks, enum failure_unit unit)
{
    const struct training_plan *plan = clocks->plan;
    const struct failure_component **list = arena_array(clocks->arena, plan->component_count, sizeof *list);
    double *shares = arena_array(clocks->arena, plan->component_count, sizeof *shares), all = 0;
    size_t count = 0;
    for (size_t i = 0; i < plan->component_count; i++)
        if (at_any_moment(&plan->components[i]) && clock_unit(&plan->components[i]) == unit) {
            list[count] = &plan->components[i];
            shares[count++] = all += rate_of(plan, &plan->components[i]);
        }
    for (size_t i = 0; i < count; i++)
        shares[i] /= all;
    if (all > 0)
        clocks->groups[clocks->group_count++] =
            (struct group){unit, list, shares, count, distribution_exponential(1 / all)};
}

static void add_alone(struct clocks *clocks, const struct failure_component *component)
{
    static const double whole[] = {1};
    const struct failure_component **list = arena_alloc(clocks->arena, sizeof *list);
    *list = component;
    double rate = clocks->plan->rate / component->every;
    if (rate > 0)
        clocks->groups[clocks->group_count++] = (struct group){(enum failure_unit)component->unit, list, whole, 1,
                                                               distribution_weibull(1 / rate, component->shape)};
}

static void make_groups(struct clocks *clocks)
{
    const struct training_plan *plan = clocks->plan;
    clocks->groups = arena_array(clocks->arena, plan->component_count + FAILURE_UNITS, sizeof *clocks->groups);
    for (int unit = 0; unit < FAILURE_UNITS; unit++)
        add_group(clocks, (enum failure_unit)unit);
    for (size_t i = 0; i < plan->component_count; i++)
        if (!at_any_moment(&plan->components[i]))
            add_alone(clocks, &plan->components[i]);
}

/* ---- clocks ---- */

/* Nodes that are lemons, devices in them too, fail more often; the mean over all nodes stays. */
static double pace(const struct clocks *clocks, const struct group *group, uint32_t unit)
{
    if (!clocks->lemon || (group->unit != UNIT_NODE && group->unit != UNIT_GPU))
        return 1;
    uint32_t machine = group->unit == UNIT_GPU ? unit / clocks->plan->gpus_per_node : unit;
    return clocks->lemon[machine] ? clocks->of_lemon : clocks->common;
}

static void wind(struct clocks *clocks, struct clock *clock)
{
    const struct group *group = &clocks->groups[clock->group];
    clock->time += distribution_draw(&group->between, &clock->draws) * pace(clocks, group, clock->unit);
}

static void draw_lemons(struct clocks *clocks, uint64_t seed)
{
    const struct training_plan *plan = clocks->plan;
    if (!(plan->lemons > 0))
        return;
    clocks->lemon = arena_array(clocks->arena, clocks->machines, sizeof *clocks->lemon);
    clocks->common = 1 - plan->lemons + plan->lemons * plan->lemon_rate;
    clocks->of_lemon = clocks->common / plan->lemon_rate;
    for (uint32_t machine = 0; machine < clocks->machines; machine++) {
        struct draws draws = draws_of(seed, PURPOSE_LEMON, machine);
        clocks->lemon[machine] = draw_unit(&draws) < plan->lemons;
    }
}

struct clocks *clocks_create(const struct training_plan *plan, uint32_t machines, uint64_t run)
{
    struct arena *arena = arena_create();
    struct clocks *clocks = arena_alloc(arena, sizeof *clocks);
    *clocks = (struct clocks){.plan = plan, .arena = arena, .machines = machines};
    struct draws draws = draws_of(plan->seed, 0, run);
    uint64_t seed = draw_bits(&draws);
    make_groups(clocks);
    draw_lemons(clocks, seed);
    size_t all = 0;
    for (size_t i = 0; i < clocks->group_count; i++) {
        const struct group *group = &clocks->groups[i];
        all += (size_t)count_units(clocks, group->unit) * (group->unit == UNIT_GPU ? plan->gpus_per_node : 1);
    }
    clocks->heap = arena_array_unset(arena, all, sizeof *clocks->heap);
    for (size_t i = 0; i < clocks->group_count; i++) {
        const struct group *group = &clocks->groups[i];
        uint32_t units = count_units(clocks, group->unit) * (group->unit == UNIT_GPU ? plan->gpus_per_node : 1);
        for (uint32_t unit = 0; unit < units; unit++) {
            struct clock *clock = &clocks->heap[clocks->count++];
            *clock = (struct clock){0, draws_of(seed, PURPOSE_CLOCK + i, unit), unit, (uint16_t)i};
            wind(clocks, clock);
        }
    }
    for (size_t i = clocks->count / 2; i-- > 0;)
        sink(clocks, i);
    return clocks;
}

void clocks_destroy(struct clocks *clocks)
{
    arena_destroy(clocks->arena);
}

double clocks_next(const struct clocks *clocks)
{
    return clocks->count ? clocks->heap[0].time : INFINITY;
}

struct failure clocks_take(struct clocks *clocks)
{
    struct clock *clock = &clocks->heap[0];
    const struct group *group = &clocks->groups[clock->group];
    struct failure failure = {.time = clock->time, .draws = {draw_bits(&clock->draws)}};
    double which = group->count > 1 ? draw_unit(&clock->draws) : 0;
    size_t component = 0;
    while (component + 1 < group->count && which >= group->shares[component])
        component++;
    failure.component = group->components[component];
    uint32_t nodes = unit_nodes(clocks->plan, group->unit);
    if (group->unit != UNIT_JOB) {
        failure.first = (group->unit == UNIT_GPU ? clock->unit / clocks->plan->gpus_per_node : clock->unit) * nodes;
        failure.count = failure.first + nodes > clocks->machines ? clocks->machines - failure.first : nodes;
    }
    wind(clocks, clock);
    sink(clocks, 0);
    return failure;
}

void clocks_exchange(struct clocks *clocks, uint32_t machine)
{
    if (clocks->lemon)
        clocks->lemon[machine] = false;
}
