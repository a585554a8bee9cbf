/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/queue/slowing.h"

#include "base/arena.h"
#include "cluster/queue/key_table.h"
#include "cluster/queue/set_slow.h"
#include "simulator/engines/refine.h"

#include <math.h>
#include <stdlib.h>

/* Sets are found at so many clocks beside the full one, at equal steps of what they stretch arithmetic to; slow-downs
 * between two of them are linear in the stretch. */
enum { CLOCKS = 2 };
/* Jobs of a set that is simulated, where nothing says how many. */
enum { TOGETHER = 4 };

/* Jobs that run, as they are at one clock. */
struct at_clock {
    uint32_t number;
    double stretch;
    struct set_job *jobs; /* [job]: of those that work, its footprint; NULL: nobody has asked */
    bool *placed;         /* [job]: and it has been looked at */
    struct set_job **working;
    uint32_t working_count;
};

struct slowing {
    const struct queue_scenario *queue;
    struct throughput *throughput;
    struct arena *arena;
    struct key_table traffic_of; /* by shape and kind */
    struct traffic **traffic;
    size_t traffic_count, traffic_capacity;
    struct at_clock clocks[CLOCKS + 1];
    struct job_sets *finder;
    struct set_slow *sets;
};

struct slowing *slowing_create(const struct queue_scenario *queue, struct throughput *throughput)
{
    struct slowing *slowing = array_zeroed(1, sizeof *slowing);
    slowing->queue = queue;
    slowing->throughput = throughput;
    slowing->arena = arena_create();
    slowing->finder = job_sets_create(throughput_nodes(throughput)->platform);
    slowing->sets = set_slow_create(throughput_nodes(throughput)->platform,
                                    queue->together ? queue->together : TOGETHER, !queue->together, queue->sets);
    return slowing;
}

static void forget(struct slowing *slowing, struct at_clock *clock)
{
    for (uint64_t i = 0; clock->jobs && i < slowing->queue->job_count; i++)
        footprint_finish(&clock->jobs[i].footprint);
    free(clock->jobs);
    free(clock->placed);
    free(clock->working);
    *clock = (struct at_clock){0};
}

void slowing_destroy(struct slowing *slowing)
{
    if (!slowing)
        return;
    for (uint32_t i = 0; i <= CLOCKS; i++)
        forget(slowing, &slowing->clocks[i]);
    job_sets_destroy(slowing->finder);
    set_slow_destroy(slowing->sets);
    key_table_finish(&slowing->traffic_of);
    free(slowing->traffic);
    arena_destroy(slowing->arena);
    free(slowing);
}

struct set_counts slowing_counts(const struct slowing *slowing)
{
    return slowing ? set_slow_counts(slowing->sets) : (struct set_counts){0};
}

/* ---- jobs that run ---- */

/* A type at another clock is another kind. */
static uint32_t kind_of(uint32_t type, const struct at_clock *clock)
{
    return type + QUEUE_TYPES_MAX * clock->number;
}

/* NULL: its program cannot be built; it meets nobody. */
static struct traffic *find_traffic(struct slowing *slowing, const struct at_clock *clock, uint32_t type,
                                    const struct queue_neighbour *job, const uint32_t *hosts, uint32_t host_count)
{
    uint64_t key = refine_mix(throughput_shape(slowing->throughput, job->nodes, job->count), kind_of(type, clock));
    size_t number = key_table_find(&slowing->traffic_of, key);
    if (number != KEY_UNKNOWN)
        return slowing->traffic[number];
    struct diag silent = {0};
    struct traffic *traffic = arena_alloc(slowing->arena, sizeof *traffic);
    if (!traffic_create(slowing->throughput, type, hosts, host_count, clock->stretch, slowing->arena, &silent, traffic))
        traffic = NULL;
    key_table_add(&slowing->traffic_of, key, slowing->traffic_count);
    slowing->traffic =
        array_grow(slowing->traffic, &slowing->traffic_capacity, slowing->traffic_count + 1, sizeof(struct traffic *));
    slowing->traffic[slowing->traffic_count++] = traffic;
    return traffic;
}

/* A job that came, or got other nodes. */
static void place_job(struct slowing *slowing, const struct at_clock *clock, const struct queue_neighbour *neighbour,
                      uint32_t type)
{
    const struct node_layout *layout = throughput_nodes(slowing->throughput);
    struct set_job *job = &clock->jobs[neighbour->job];
    struct throughput_figures figures = {.iteration = 1};
    struct arena *arena = arena_create();
    uint32_t host_count;
    uint32_t *hosts = node_layout_hosts(layout, neighbour->nodes, neighbour->count, &host_count, arena);
    struct traffic *traffic = find_traffic(slowing, clock, type, neighbour, hosts, host_count);
    footprint_finish(&job->footprint);
    if (traffic)
        footprint_create(&job->footprint, traffic, layout->platform, hosts, host_count);
    job->nodes = neighbour->nodes;
    job->count = neighbour->count;
    job->type = kind_of(type, clock);
    throughput_stretched(slowing->throughput, type, neighbour->nodes, neighbour->count, clock->stretch, NULL, &figures);
    job->iteration = figures.iteration;
    clock->placed[neighbour->job] = true;
    arena_destroy(arena);
}

static int by_number(const void *left, const void *right)
{
    const struct set_job *const *a = left, *const *b = right;
    return (*a > *b) - (*a < *b);
}

/* Lists those that work and have a type, by number; forgets others. */
static void follow(struct slowing *slowing, struct at_clock *clock, const struct queue_neighbour *working,
                   uint32_t count)
{
    for (uint32_t i = 0; i < clock->working_count; i++)
        clock->working[i]->runs = false;
    struct set_job **before = clock->working;
    uint32_t before_count = clock->working_count;
    clock->working = array_zeroed(count + (size_t)1, sizeof(struct set_job *));
    clock->working_count = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t type = slowing->queue->type_of[working[i].job];
        struct set_job *job = &clock->jobs[working[i].job];
        if (type == UINT32_MAX || working[i].count < 2)
            continue;
        if (!clock->placed[working[i].job] || job->nodes != working[i].nodes || job->count != working[i].count)
            place_job(slowing, clock, &working[i], type);
        job->runs = true;
        job->slow = 1;
        clock->working[clock->working_count++] = job;
    }
    if (clock->working_count)
        qsort(clock->working, clock->working_count, sizeof(struct set_job *), by_number);
    for (uint32_t i = 0; i < before_count; i++)
        if (!before[i]->runs) {
            footprint_finish(&before[i]->footprint);
            clock->placed[before[i] - clock->jobs] = false;
        }
    free(before);
}

/* Fills slow[count]: how many times as long each takes at a clock. */
static void find_slow(struct slowing *slowing, uint32_t number, double most, const struct queue_neighbour *working,
                      uint32_t count, double *slow)
{
    struct at_clock *clock = &slowing->clocks[number];
    struct job_set set;
    if (!clock->jobs)
        *clock = (struct at_clock){.number = number,
                                   .stretch = 1 + (most - 1) * number / CLOCKS,
                                   .jobs = array_zeroed(slowing->queue->job_count + 1, sizeof *clock->jobs),
                                   .placed = array_zeroed(slowing->queue->job_count + 1, sizeof *clock->placed)};
    follow(slowing, clock, working, count);
    job_sets_find(slowing->finder, clock->working, clock->working_count);
    while (job_sets_next(slowing->finder, &set))
        set_slow_find(slowing->sets, slowing->finder, &set);
    for (uint32_t i = 0; i < count; i++)
        slow[i] = clock->jobs[working[i].job].runs ? clock->jobs[working[i].job].slow : 1;
}

void slowing_share(struct slowing *slowing, struct queue_neighbour *working, uint32_t count, double stretch,
                   double most)
{
    double place = most > 1 ? fmin((stretch - 1) / (most - 1) * CLOCKS, CLOCKS) : 0, below = floor(place);
    double *low = array_zeroed(count + (size_t)1, sizeof *low), *high = array_zeroed(count + (size_t)1, sizeof *high);
    for (uint32_t i = 0; i <= CLOCKS && !count; i++)
        if (slowing->clocks[i].jobs)
            follow(slowing, &slowing->clocks[i], NULL, 0);
    if (count)
        find_slow(slowing, (uint32_t)below, most, working, count, low);
    if (count && place > below)
        find_slow(slowing, (uint32_t)below + 1, most, working, count, high);
    for (uint32_t i = 0; i < count; i++) {
        double slow = place > below ? low[i] + (high[i] - low[i]) * (place - below) : low[i];
        if (slow != 1)
            working[i].rate = working[i].alone / slow;
    }
    free(low);
    free(high);
}
