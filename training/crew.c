/* SPDX-License-Identifier: Apache-2.0 */
#include "training/crew.h"

#include "base/arena.h"
#include "training/clocks.h"

#include <math.h>
#include <stdlib.h>

/* A machine without a place, and from when on it can take one. */
struct idler {
    double from;
    uint32_t machine;
};

struct crew {
    const struct training_plan *plan;
    struct arena *arena;
    uint32_t *places;     /* [machine] */
    uint32_t *strikes;    /* [machine] */
    struct idler *idlers; /* idler_count of them */
    uint32_t idler_count, machines, away_most;
};

struct crew *crew_create(const struct training_plan *plan)
{
    struct arena *arena = arena_create();
    struct crew *crew = arena_alloc(arena, sizeof *crew);
    *crew = (struct crew){.plan = plan, .arena = arena, .machines = plan->nodes + plan->spares};
    crew->places = arena_array_unset(arena, crew->machines, sizeof *crew->places);
    crew->strikes = arena_array(arena, crew->machines, sizeof *crew->strikes);
    crew->idlers = arena_array_unset(arena, plan->spares + 1, sizeof *crew->idlers);
    for (uint32_t machine = 0; machine < crew->machines; machine++)
        crew->places[machine] = machine < plan->nodes ? machine : NO_PLACE;
    for (uint32_t spare = 0; spare < plan->spares; spare++)
        crew->idlers[crew->idler_count++] = (struct idler){0, plan->nodes + spare};
    return crew;
}

void crew_destroy(struct crew *crew)
{
    arena_destroy(crew->arena);
}

uint32_t crew_machines(const struct crew *crew)
{
    return crew->machines;
}

uint32_t crew_place(const struct crew *crew, uint32_t machine)
{
    return crew->places[machine];
}

/* Of those that wait the lowest number, otherwise the one that is there first. */
static uint32_t first_idler(const struct crew *crew, double time)
{
    uint32_t best = 0;
    for (uint32_t i = 1; i < crew->idler_count; i++) {
        double from = fmax(crew->idlers[i].from, time), least = fmax(crew->idlers[best].from, time);
        if (from < least || (from <= least && crew->idlers[i].machine < crew->idlers[best].machine))
            best = i;
    }
    return best;
}

static void count_away(struct crew *crew, double time)
{
    uint32_t away = 0;
    for (uint32_t i = 0; i < crew->idler_count; i++)
        away += crew->idlers[i].from > time;
    crew->away_most = away > crew->away_most ? away : crew->away_most;
}

double crew_replace(struct crew *crew, uint32_t machine, double time, double repair, double pool, struct clocks *clocks)
{
    uint32_t place = crew->places[machine];
    if (crew->plan->lemon_strikes && ++crew->strikes[machine] >= crew->plan->lemon_strikes) {
        crew->strikes[machine] = 0;
        clocks_exchange(clocks, machine);
    }
    crew->places[machine] = NO_PLACE;
    crew->idlers[crew->idler_count++] = (struct idler){time + repair, machine};
    count_away(crew, time);
    uint32_t first = first_idler(crew, time);
    double from = fmax(crew->idlers[first].from, time);
    if (time + pool < from) { /* the pool's takes the number of the one that left, which goes back to the pool */
        first = crew->idler_count - 1;
        from = time + pool;
    }
    crew->places[crew->idlers[first].machine] = place;
    crew->idlers[first] = crew->idlers[--crew->idler_count];
    return from;
}

uint32_t crew_away_most(const struct crew *crew)
{
    return crew->away_most;
}
