/* SPDX-License-Identifier: Apache-2.0 */
/* Steps replayed by the engine and on their graph take the same, whatever the durations are: recorded job timelines,
 * and runs of our own in which both directions of a pair of ranks are used at once. With recorded times, the recorded
 * step comes out. */
#include "studies/explain/engine_replay.h"

#include "base/arena.h"
#include "base/random/draws.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

#define SAMPLES SOURCE_ROOT "/test/validation/traces/"
#define OWN SOURCE_ROOT "/test/studies/explain/"

enum { STEPS_MAX = 2, DRAWS = 4 };
static const double near = 1e-12;

static double *draw(struct draws *draws, uint32_t count, double most)
{
    double *values = array_zeroed(count, sizeof *values);
    for (uint32_t i = 0; i < count; i++)
        values[i] = most * draw_unit(draws);
    return values;
}

static void compare(const struct replay *graph, struct engine_replay *engine, const char *file)
{
    struct fault fault = {.text = ""};
    struct draws draws = draws_of(7, 0, graph->step);
    double recorded = engine_replay_time(engine, NULL, NULL, &fault);
    cr_assert(fabs(recorded - graph->measured) <= near * graph->measured, "%s: step %u takes %.17g, recorded %.17g: %s",
              file, graph->step, recorded, graph->measured, fault.text);
    for (int i = 0; i < DRAWS; i++) {
        double *seconds = draw(&draws, graph->node_count, 1), *gaps = draw(&draws, graph->node_count, i % 2 ? 0.1 : 0);
        for (uint32_t node = 0; node < graph->node_count; node++)
            if (graph->nodes[node].kind == REPLAY_MEETING)
                seconds[node] = gaps[node] = 0;
        double fast = replay_time(graph, seconds, gaps, NULL), slow = engine_replay_time(engine, seconds, gaps, &fault);
        cr_assert(fabs(fast - slow) <= near * fast, "%s: step %u: %.17g on the graph, %.17g by the engine: %s", file,
                  graph->step, fast, slow, fault.text);
        free(seconds);
        free(gaps);
    }
}

static void compare_file(const char *file)
{
    struct diag diag = {.out = stderr};
    struct fault fault = {.text = ""};
    struct recorded *recorded = recorded_read(&file, 1, &diag);
    cr_assert(recorded, "%s", file);
    size_t count;
    uint32_t *steps = replay_steps(recorded, &count);
    for (size_t i = 0; i < count && i < STEPS_MAX; i++) {
        struct replay *graph = replay_create(recorded, steps[i], &fault);
        cr_assert(graph, "%s: %s", file, fault.text);
        struct engine_replay *engine = engine_replay_create(graph, NULL, &fault);
        cr_assert(engine, "%s: %s", file, fault.text);
        compare(graph, engine, file);
        engine_replay_finish(engine);
        replay_finish(graph);
    }
    free(steps);
    recorded_destroy(recorded);
}

Test(engine_replay, AR)
{
    compare_file(SAMPLES "timeline-AR.json.gz");
}

Test(engine_replay, ST)
{
    compare_file(SAMPLES "timeline-ST.json.gz");
}

Test(engine_replay, SE)
{
    compare_file(SAMPLES "timeline-SE.json.gz");
}

Test(engine_replay, both_directions)
{
    compare_file(OWN "dualpipe.csv");
}

Test(engine_replay, chunks)
{
    compare_file(OWN "interleaved.csv");
}
