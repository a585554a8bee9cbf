/* SPDX-License-Identifier: Apache-2.0 */
/* What must cost as much for each item of large work as of small work. Under `valgrind --tool=callgrind` each piece of
 * work leaves a file with the instructions that it took, and this program prints what it was and how many items it had:
 * growth.py divides them. Instructions do not depend on what else the machine does. */
#include "analysis/figures/causes.h"
#include "base/arena.h"
#include "schedules/plan/plan_check.h"
#include "schedules/schedule.h"
#include "simulator/program/program.h"

#include <stdio.h>
#include <string.h>
#include <valgrind/callgrind.h>

/* What was counted since work_begin belongs to `name`, which had `items`. */
static void work_begin(void)
{
    CALLGRIND_ZERO_STATS;
}

static void work_end(const char *name, size_t items)
{
    printf("%s,%zu\n", name, items);
    CALLGRIND_DUMP_STATS_AT(name);
}

static size_t slots_of(const struct plan *plan)
{
    size_t slots = 0;
    for (uint32_t worker = 0; worker < plan->workers; worker++)
        slots += plan->orders[worker].count;
    return slots;
}

/* Making and checking the plan of a schedule with as many chunks as it takes here. */
static void plan_once(const struct schedule *schedule, uint32_t workers, uint32_t micro_batches)
{
    char name[80];
    struct schedule_refusal refusal;
    struct schedule_request request = schedule_request_default(schedule, workers, micro_batches);
    for (unsigned i = 0; schedule->options && schedule->options[i].key; i++)
        if (!strcmp(schedule->options[i].key, "chunks") || !strcmp(schedule->options[i].key, "waves"))
            request.options[i] = 2;
    if (schedule->searches || !schedule_fits(schedule, &request, &refusal))
        return; /* a search has a size of its own, and says so */
    work_begin();
    struct plan *plan = schedule->plan(&request);
    bool good = plan_check(plan, NULL);
    snprintf(name, sizeof name, "plan of %s/%u x %u", schedule->name, workers, micro_batches);
    work_end(name, good ? slots_of(plan) : 0);
    plan_destroy(plan);
}

/* Delays on some lanes of one position, one after the other. */
static void build_lanes(uint32_t lanes, uint32_t delays)
{
    char name[80];
    struct arena *arena = arena_create();
    struct mesh mesh = {.axis_count = 1, .axes = {{.name = "pipeline", .size = 1, .distinct = true}}};
    mesh_finish(&mesh, arena);
    work_begin();
    struct program_builder *builder = program_builder_create(&mesh);
    uint32_t cost = program_add_cost(builder, &(struct stagesim_cost){.seconds = 1});
    for (uint32_t i = 0; i < delays; i++)
        program_add_delay(builder, 0, i % lanes, (struct stagesim_identity){.kind = STAGESIM_OTHER}, cost);
    struct program *program = program_finish(builder, arena);
    snprintf(name, sizeof name, "streams of a program/%u", lanes);
    work_end(name, program->positions[0].stream_count == lanes + 1 ? delays : 0);
    program_builder_destroy(builder);
    arena_destroy(arena);
}

/* What a rank waits for at the end of each of many iterations: a collective that takes half of the time. */
static void end_iterations(uint32_t count)
{
    char name[80];
    struct arena *arena = arena_create();
    struct moment *moments = arena_array(arena, count, sizeof *moments);
    struct interval *scratch = arena_array(arena, count, sizeof *scratch);
    struct stream streams[] = {{.type = OPERATION_COMPUTE}, {.type = OPERATION_COLLECTIVE, .count = count}};
    struct position position = {.streams = streams, .stream_count = 2};
    double waited = 0;
    for (uint32_t i = 0; i < count; i++)
        moments[i] = (struct moment){.start = i + 0.25, .data_start = i + 0.25, .end = i + 0.75};
    work_begin();
    for (uint32_t i = 0; i < count; i++)
        waited += cause_collective_after(&position, moments, (struct interval){i, i + 1}, scratch);
    snprintf(name, sizeof name, "ends of iterations/%u", count);
    work_end(name, waited > 0.499 * count && waited < 0.501 * count ? count : 0);
    arena_destroy(arena);
}

int main(void)
{
    for (const struct schedule *const *schedule = schedule_table; *schedule; schedule++) {
        plan_once(*schedule, 8, 64);
        plan_once(*schedule, 8, 256);
        plan_once(*schedule, 32, 256);
    }
    build_lanes(500, 10000);
    build_lanes(10000, 10000);
    end_iterations(1000);
    end_iterations(4000);
    return 0;
}
