/* SPDX-License-Identifier: Apache-2.0 */
#include "simulator/program/ends.h"

#include "base/arena.h"
#include "simulator/program/beats.h"

#include <math.h>

uint32_t ends_more(uint32_t iterations)
{
    return 2 * (iterations - 2) + 2;
}

/* When each iteration ends on the last of its ranks. */
static double *find_ends(const struct timeline *timeline, struct arena *arena)
{
    const struct program *program = timeline->program;
    double *ends = arena_array(arena, program->iterations, sizeof *ends);
    for (uint32_t entry = 0; entry < timeline->rank_count; entry++) {
        const struct position *position = &program->positions[program->mesh->position_of[timeline->ranks[entry]]];
        for (uint32_t id = 0; id < position->operation_count; id++) {
            double *end = &ends[position->operations[id].iteration];
            *end = fmax(*end, timeline->moments[entry][id].end);
        }
    }
    return ends;
}

/* Few iterations have to agree closely: their mean may change later on. */
bool ends_stand(const struct timeline *timeline, struct arena *arena)
{
    const double closely = 1e-6, nearly = 1e-4;
    const uint32_t few = 10;
    uint32_t iterations = timeline->program->iterations;
    struct cycle cycle;
    const struct beats *beats = iterations > 1 ? beats_of_iterations(timeline->program, arena) : NULL;
    if (beats && beats_find_cycle(beats, timeline, timeline->rounding, &cycle, arena) && cycle.beats < iterations)
        return true;
    if (iterations < ENDS_FEWEST)
        return false;
    const double *ends = find_ends(timeline, arena);
    uint32_t half = (iterations - 2) / 2;
    double early = (ends[half] - ends[0]) / half, late = (ends[2 * half] - ends[half]) / half;
    return fabs(late - early) <= (iterations > few ? nearly : closely) * late;
}
