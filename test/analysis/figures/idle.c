/* SPDX-License-Identifier: Apache-2.0 */
/* Idle time by what can be done about it, against timelines that are worked by hand. */
#include "analysis/figures/idle.h"

#include "simulator/engines/engine.h"
#include "test/support/worked_example.h"

#include <criterion/criterion.h>
#include <math.h>

static const double exact = 1e-12;

#define near(actual, expected)                                                                                         \
    cr_assert_float_eq(actual, expected, exact, "%.17g is not %.17g", (double)(actual), (double)(expected))

static struct timeline *free_transfers(struct worked_example *example)
{
    struct fault fault = {""};
    struct timeline *timeline = timeline_create(example->program);
    struct engine_job job = {.program = example->program,
                             .platform = &example->platform,
                             .hosts = example->run.hosts,
                             .timeline = timeline,
                             .transfers_free = true};
    cr_assert(engine_analytic.run(&job, &fault), "%s", fault.text);
    return timeline;
}

/* Without messages: worker 0 F0 0-1, F1 1-2, B0 4-6, B1 7-9; worker 1 F0 1-2, B0 2-4, F1 4-5, B1 5-7. T is 9 s, 6 s of
 * it busy on both. The messages add 0.2 s. */
Test(idle, worked_by_hand)
{
    static const double starts[2][4] = {{0, 1, 4, 7}, {1, 2, 4, 5}}, ends[2][4] = {{1, 2, 6, 9}, {2, 4, 5, 7}};
    struct worked_example *example = worked_example_create(1, 0);
    struct timeline *free = free_transfers(example);
    for (uint32_t rank = 0; rank < 2; rank++)
        for (uint32_t id = 0; id < 4; id++) {
            near(free->moments[rank][id].start, starts[rank][id]);
            near(free->moments[rank][id].end, ends[rank][id]);
        }
    struct idle_timelines timelines = {.free = free, .alone = example->timeline};
    struct idle_split split =
        idle_split_of(frame_create(example->timeline, example->arena), &timelines, example->arena);
    cr_assert(split.known);
    near(split.shares[IDLE_ORDER], 3 / 9.2);
    near(split.shares[IDLE_IMBALANCE], 0);
    near(split.shares[IDLE_TRANSFER], 0.2 / 9.2);
    near(split.shares[IDLE_CONTENTION], 0);
    struct idle_timelines without = {.free_time = &split.free, .alone = example->timeline};
    struct idle_split same = idle_split_of(frame_create(example->timeline, example->arena), &without, example->arena);
    cr_assert(same.known);
    for (int i = 0; i < IDLE_PARTS; i++)
        near(same.shares[i], split.shares[i]);
    timeline_destroy(free);
    worked_example_destroy(example);
}

/* Worker 1 computes for 4 s instead of 6 s where transfers are free, and everything takes 0.7 s longer than alone: 9 s
 * with 6 s and 4 s busy, 9.2 s with 6 s busy, 9.9 s with 6 s busy. */
Test(idle, every_part)
{
    struct worked_example *example = worked_example_create(1, 0), *real = worked_example_create(1, 0);
    struct timeline *free = free_transfers(example);
    free->moments[1][0].end -= 1;
    free->moments[1][1].end -= 1;
    for (uint32_t id = 0; id < 8; id++)
        if (real->timeline->moments[0][id].end > 9)
            real->timeline->moments[0][id].start += 0.7, real->timeline->moments[0][id].end += 0.7;
    struct idle_timelines timelines = {.free = free, .alone = example->timeline};
    struct idle_split split = idle_split_of(frame_create(real->timeline, real->arena), &timelines, real->arena);
    near(split.free.iteration, 9);
    near(split.free.busy_max, 6);
    near(split.shares[IDLE_ORDER], 3 / 9.9);
    near(split.shares[IDLE_IMBALANCE], 1 / 9.9);
    near(split.shares[IDLE_TRANSFER], (3.2 - 4) / 9.9);
    near(split.shares[IDLE_CONTENTION], 0.7 / 9.9);
    double sum = 0;
    for (int i = 0; i < IDLE_PARTS; i++)
        sum += split.shares[i];
    near(sum, 1 - 6 / 9.9);
    timeline_destroy(free);
    worked_example_destroy(real);
    worked_example_destroy(example);
}

/* Messages take 0.1 s alone, computations what they take. */
Test(idle, seconds_alone)
{
    struct worked_example *example = worked_example_create(1, 0);
    struct timeline *free = free_transfers(example);
    struct idle_timelines timelines = {.free = free, .alone = example->timeline};
    struct idle_alone *alone = idle_alone_create(&timelines, example->arena);
    static const double seconds[8] = {1, 1, 2, 2, 0.1, 0.1, 0.1, 0.1};
    for (uint32_t id = 0; id < 8; id++)
        near(idle_alone_seconds(alone, 0, id), seconds[id]);
    idle_alone_destroy(alone);
    timeline_destroy(free);
    worked_example_destroy(example);
}

Test(idle, nothing_is_known_without_the_other_timelines)
{
    struct worked_example *example = worked_example_create(1, 0);
    struct idle_timelines timelines = {.alone = example->timeline};
    cr_assert_not(idle_split_of(frame_create(example->timeline, example->arena), &timelines, example->arena).known);
    worked_example_destroy(example);
}
