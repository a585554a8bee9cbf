/* SPDX-License-Identifier: Apache-2.0 */
/* Orders that repeat: of random pipelines they keep the limit and never
 * dead-lock, whatever the number of micro-batches, and each micro-batch more
 * takes no longer than asked for; of one pipeline the period is known. */
#include "schedules/best/periodic.h"

#include "base/arena.h"

#include <criterion/criterion.h>
#include <math.h>

enum { STAGES = 16, ENOUGH = 1 << 20 };

struct pipeline {
    uint32_t workers, chunks, limit;
    double forward[STAGES], backward[STAGES], weight[STAGES], latency; /* backward whole; weight[0] 0: not split */
};

static struct instance *instance_of(const struct pipeline *pipeline, uint32_t batches, struct arena *arena)
{
    uint32_t stages = pipeline->workers * pipeline->chunks;
    uint32_t *worker_of = arena_array(arena, stages, sizeof *worker_of);
    for (uint32_t stage = 0; stage < stages; stage++)
        worker_of[stage] = stage % pipeline->workers;
    struct instance_request request = {.workers = pipeline->workers,
                                       .stages = stages,
                                       .batches = batches,
                                       .worker_of = worker_of,
                                       .forward = pipeline->forward,
                                       .backward = pipeline->backward,
                                       .weight = pipeline->weight[0] > 0 ? pipeline->weight : NULL,
                                       .latency = pipeline->latency,
                                       .limit = pipeline->limit};
    return instance_create(&request, arena);
}

/* What the order of so many micro-batches takes, in the caller's time; 0: no
 * pattern is shorter than `most`, in units. */
static double time_of(const struct pipeline *pipeline, uint32_t batches, uint32_t of_pattern, double most)
{
    struct arena *arena = arena_create();
    const struct instance *instance = instance_of(pipeline, batches, arena);
    struct periodic *periodic = periodic_create(instance, arena);
    struct words *words = words_create(instance, arena);
    struct budget budget = {.total = ENOUGH, .slice = ENOUGH};
    int64_t *scratch = arena_array(arena, instance->operations, sizeof *scratch);
    double time = 0;
    if (periodic_try(periodic, of_pattern, 64, most, &budget, words)) {
        int64_t units = words_makespan(instance, words, NULL, scratch);
        cr_assert_gt(units, 0, "the order keeps the limit and ends");
        time = (double)units * instance->unit;
    }
    arena_destroy(arena);
    return time;
}

/* Eight workers of two chunks in a loop, passes of 1, and room for one
 * micro-batch: 25 is what stashes alone need, but a backward that comes back
 * meets the next forward on one worker. The first starts at 0, and the last
 * ends 33 later than it starts. */
Test(periodic, known)
{
    struct pipeline pipeline = {.workers = 8, .chunks = 2, .limit = 2};
    for (int stage = 0; stage < STAGES; stage++) {
        pipeline.forward[stage] = pipeline.weight[stage] = 1;
        pipeline.backward[stage] = 2;
    }
    cr_assert_float_eq(time_of(&pipeline, 32, 1, 100), 31 * 26 + 33, 1e-9);
    cr_assert_float_eq(time_of(&pipeline, 100, 1, 100), 99 * 26 + 33, 1e-9);
    cr_assert_eq(time_of(&pipeline, 32, 1, 26), 0);
    pipeline.limit = 0; /* the work of a worker, 6 */
    cr_assert_leq(time_of(&pipeline, 100, 1, 100), 99 * 6 + 60 + 1e-9);
}

Test(periodic, random)
{
    uint64_t state = 1;
    unsigned found = 0;
    for (int i = 0; i < 60; i++) {
        uint32_t draws[8];
        for (int k = 0; k < 8; k++) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            draws[k] = (uint32_t)(state >> 40);
        }
        struct pipeline pipeline = {.workers = 2 + draws[0] % 4, .chunks = 1 + draws[1] % 2, .latency = draws[2] % 3};
        uint32_t stages = pipeline.workers * pipeline.chunks, of_pattern = 1 + draws[3] % PERIODIC_MOST;
        pipeline.limit = draws[4] % 3 ? pipeline.chunks + draws[5] % stages : 0;
        double way = 0;
        for (uint32_t stage = 0; stage < stages; stage++) {
            pipeline.forward[stage] = 1 + (draws[6] >> stage) % 4;
            pipeline.weight[stage] = draws[7] % 4 ? 1 + (draws[7] >> stage) % 3 : 0;
            pipeline.backward[stage] = 2 + pipeline.weight[stage];
            way += pipeline.forward[stage] + pipeline.backward[stage] + 2 * pipeline.latency;
        }
        /* One micro-batch behind the other takes `way`. */
        double few = time_of(&pipeline, 24, of_pattern, way),
               many = time_of(&pipeline, 24 + 12 * of_pattern, of_pattern, way);
        found += few > 0;
        cr_assert((few > 0) == (many > 0));
        cr_assert_leq(many, few + 12 * of_pattern * way + 1e-9, "%d: %g, %g", i, few, many);
        cr_assert(few <= 24 * way + 2 * way + 1e-9, "%d: %g of %g", i, few, 24 * way);
    }
    cr_assert_geq(found, 40);
}
