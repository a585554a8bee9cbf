/* SPDX-License-Identifier: Apache-2.0 */
#include "simulator/levers.h"

#include "simulator/arena.h"
#include "simulator/evaluate.h"

#include <stdlib.h>
#include <string.h>

enum { LEVERS_MAX = 12, OPERATIONS_MAX = 200000 };

/* One change: a schedule in place of the scenario's, or values. */
struct change {
    const char *name, *schedule, *sets[2];
};

/* The largest memory of a rank with a change; 0 where the scenario cannot be changed so. Everything but the answer goes back. */
static double peak_with(const struct scenario *scenario, struct platform *platform, const struct change *change)
{
    struct arena *arena = arena_create();
    struct diag silent = {0};
    struct scenario_set sets[2] = {{.text = change->sets[0]}, {.text = change->sets[1]}};
    struct evaluation_request request = {scenario->request, sets, (change->sets[0] != NULL) + (change->sets[1] != NULL),
                                         2 * OPERATIONS_MAX};
    if (change->schedule)
        request.scenario.schedule = change->schedule;
    struct evaluation evaluation;
    double peak = evaluate(&request, platform, arena, &silent, &evaluation) ? evaluation.report->peak_bytes : 0;
    arena_destroy(arena);
    return peak;
}

static void try_change(const struct scenario *scenario, struct platform *platform, struct report *report, const struct change *change)
{
    double peak = peak_with(scenario, platform, change);
    if (peak > 0 && peak < report->peak_bytes)
        report->levers[report->lever_count++] = (struct lever){change->name, peak, peak <= report->capacity_bytes};
}

/* As many samples in micro-batches of half the size. */
static void try_smaller(const struct scenario *scenario, struct platform *platform, struct report *report, struct arena *arena)
{
    uint64_t half = scenario->micro_batch_size / 2;
    if (!half || scenario->micro_batch_size % 2)
        return;
    const char *micro = arena_print(arena, "batch.micro=%llu", (unsigned long long)half);
    const char *count = arena_print(arena, "batch.micro_batches=%llu", 2ull * scenario->micro_batches);
    try_change(scenario, platform, report, &(struct change){arena_print(arena, "%s, %s", micro, count), NULL, {micro, count}});
}

static int by_peak(const void *left, const void *right)
{
    const struct lever *a = left, *b = right;
    if (a->peak_bytes != b->peak_bytes)
        return a->peak_bytes > b->peak_bytes ? -1 : 1;
    return strcmp(a->setting, b->setting);
}

void levers_find(const struct scenario *scenario, struct platform *platform, const struct program *program, struct report *report,
                 struct arena *arena)
{
    static const struct change changes[] = {
        {"schedule.recompute=selective", NULL, {"schedule.recompute=selective"}},
        {"schedule.recompute=full", NULL, {"schedule.recompute=full"}},
        {"transformer.sequence_parallel=true", NULL, {"transformer.sequence_parallel=true"}},
        {"transformer.zero=1", NULL, {"transformer.zero=1"}},
        {"transformer.zero=2", NULL, {"transformer.zero=2"}},
        {"transformer.zero=3", NULL, {"transformer.zero=3"}},
        {"schedule=1f1b", "1f1b", {NULL}},
        {"schedule=v-half", "v-half", {NULL}},
    };
    if (report->fits || count_operations(program) > OPERATIONS_MAX)
        return;
    report->levers = arena_array(arena, LEVERS_MAX, sizeof *report->levers);
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++)
        try_change(scenario, platform, report, &changes[i]);
    try_smaller(scenario, platform, report, arena);
    if (report->lever_count)
        qsort(report->levers, report->lever_count, sizeof *report->levers, by_peak);
}
