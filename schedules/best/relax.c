/* SPDX-License-Identifier: Apache-2.0 */
#include "schedules/best/relax.h"

#include "base/arena.h"
#include "schedules/best/layers.h"

#include <math.h>
#include <stdlib.h>

enum {
    WIDTH_LEAST = 4,
    WIDTH_NARROW = 16,
    WIDTH_FIRST = 64,
    WIDTH_MOST = 1 << 14,
    RATE_FIRST = 32,
    RATE_LEAST = 2048,
    RATE_BATCHES = 128
};

struct relax {
    const struct instance *instance;
    uint32_t *workers; /* those whose limit presses most first */
    uint32_t level;    /* relaxations that are done with, see find_keeps */
    bool full;         /* the next one has more states than there is room for, whatever the budget */
    uint32_t width, turn;
    uint32_t rate_level, rate_width;
    struct instance endless;  /* more micro-batches than can be under way */
    enum layers_keeps *keeps; /* scratch */
};

/* What the stashes of a micro-batch take of the limit of a worker. */
static double *find_pressures(const struct instance *instance, struct arena *arena)
{
    double *pressures = arena_array(arena, instance->workers, sizeof *pressures);
    int64_t *stays = array_zeroed(instance->stages, sizeof *stays);
    instance_stays(instance, stays);
    for (uint32_t stage = 0; stage < instance->stages; stage++)
        if (instance_limit(instance, stage))
            pressures[instance->worker_of[stage]] += (double)stays[stage] / instance_limit(instance, stage);
    free(stays);
    return pressures;
}

struct relax *relax_create(const struct instance *instance, int64_t effort, struct arena *arena)
{
    const double *pressures = find_pressures(instance, arena);
    struct relax *relax = arena_alloc(arena, sizeof *relax);
    int64_t width = effort / 4 * LAYERS_OF_EFFORT / instance->operations;
    *relax = (struct relax){.instance = instance, .endless = *instance};
    relax->width = width < WIDTH_LEAST ? WIDTH_LEAST : width < WIDTH_FIRST ? (uint32_t)width : WIDTH_FIRST;
    relax->rate_width = RATE_FIRST;
    relax->endless.batches = RATE_BATCHES;
    relax->workers = arena_array(arena, instance->workers, sizeof *relax->workers);
    relax->keeps = arena_array(arena, instance->workers, sizeof *relax->keeps);
    for (uint32_t worker = 0; worker < instance->workers; worker++) {
        uint32_t place = worker;
        for (; place && pressures[relax->workers[place - 1]] < pressures[worker]; place--)
            relax->workers[place] = relax->workers[place - 1];
        relax->workers[place] = worker;
    }
    return pressures[relax->workers[0]] > 0 ? relax : NULL;
}

/* The first worker keeps to all. One worker more each time does one thing at a time; when all do, one more each time
 * keeps to all. False: there are no more. */
static bool find_keeps(struct relax *relax, uint32_t level)
{
    uint32_t workers = relax->instance->workers;
    for (uint32_t i = 0; i < workers; i++) {
        bool all = i == 0 || i + workers <= level + 1;
        relax->keeps[relax->workers[i]] = all ? LAYERS_ALL : i <= level ? LAYERS_ONE_AT_A_TIME : LAYERS_DELAY;
    }
    return level < 2 * workers - 1;
}

void relax_raise(struct relax *relax, int64_t *least, int64_t most, struct budget *budget)
{
    enum layers_end end = LAYERS_FOUND;
    while (!relax->full && end != LAYERS_GIVEN_UP && *least <= most && find_keeps(relax, relax->level) &&
           !budget_is_spent(budget)) {
        int64_t earliest = 0;
        struct layers *layers = layers_create(relax->instance, relax->keeps);
        end = layers_try(layers, &(struct layers_request){.most = most}, budget, &earliest, NULL);
        layers_finish(layers);
        earliest = end == LAYERS_IMPOSSIBLE ? most + 1 : earliest;
        *least = earliest > *least ? earliest : *least;
        relax->level += end != LAYERS_GIVEN_UP;
        relax->full = end == LAYERS_GIVEN_UP && !budget_is_spent(budget);
    }
}

/* An order of the whole. */
static bool find_order(struct relax *relax, const struct layers_request *request, struct budget *budget,
                       struct words *words)
{
    int64_t end;
    for (uint32_t worker = 0; worker < relax->instance->workers; worker++)
        relax->keeps[worker] = LAYERS_ALL;
    struct layers *layers = layers_create(relax->instance, relax->keeps);
    enum layers_end found = layers_try(layers, request, budget, &end, words);
    layers_finish(layers);
    return found == LAYERS_FOUND;
}

bool relax_order(struct relax *relax, int64_t most, struct budget *budget, struct words *words)
{
    static const double leans[] = {0.2, 1, 0.5, 2};
    double lean = leans[relax->turn++ % (sizeof leans / sizeof *leans)];
    struct layers_request request = {.most = most, .width = relax->width, .lean = lean};
    if (request.width > WIDTH_MOST)
        return false;
    bool found = find_order(relax, &request, budget, words);
    if (!budget_is_spent(budget))
        relax->width *= 2;
    return found;
}

bool relax_steady(struct relax *relax, struct budget *budget, struct words *words)
{
    struct layers_request request = {.most = INT64_MAX, .width = WIDTH_NARROW, .lean = 0.2};
    return find_order(relax, &request, budget, words);
}

/* Relaxations that keep to more and more, as in relax_raise. */
static void raise_rate(struct relax *relax, double *least, double rate, struct budget *budget)
{
    struct layers_request request = {.most = INT64_MAX, .width = RATE_LEAST, .lean = 0.2, .endless = true};
    while (*least < rate && find_keeps(relax, relax->rate_level) && !budget_is_spent(budget)) {
        struct layers *layers = layers_create(&relax->endless, relax->keeps);
        *least = fmax(*least, layers_rate(layers, &request, rate, budget));
        layers_finish(layers);
        relax->rate_level += !budget_is_spent(budget);
    }
}

static void find_repeating(struct relax *relax, double least, double *rate, struct budget *budget)
{
    struct layers_request request = {.most = INT64_MAX, .width = relax->rate_width, .lean = 0.2};
    for (uint32_t worker = 0; worker < relax->instance->workers; worker++)
        relax->keeps[worker] = LAYERS_ALL;
    struct layers *layers = layers_create(&relax->endless, relax->keeps);
    *rate = fmin(*rate, layers_rate(layers, &request, least, budget));
    layers_finish(layers);
    relax->rate_width *= budget_is_spent(budget) ? 1 : 2;
}

void relax_rate(struct relax *relax, double *least, double *rate, struct budget *budget)
{
    int64_t half = budget->slice / 2;
    budget_begin(budget, half);
    if (relax->rate_width <= WIDTH_MOST)
        find_repeating(relax, *least, rate, budget);
    budget_begin(budget, half);
    raise_rate(relax, least, *rate, budget);
}
