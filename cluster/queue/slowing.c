/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/queue/slowing.h"

#include "base/arena.h"
#include "cluster/queue/key_table.h"
#include "cluster/queue/set_slow.h"
#include "simulator/engines/refine.h"

#include <stdlib.h>

struct slowing {
    const struct queue_scenario *queue;
    struct throughput *throughput;
    struct arena *arena;
    struct key_table traffic_of; /* by shape and type */
    struct traffic **traffic;
    size_t traffic_count, traffic_capacity;
    struct set_job *jobs; /* [job]: of those that run, its footprint */
    struct set_job **running;
    uint32_t running_count;
    struct job_sets *finder;
    struct set_slow *sets;
};

struct slowing *slowing_create(const struct queue_scenario *queue, struct throughput *throughput)
{
    struct slowing *slowing = array_zeroed(1, sizeof *slowing);
    slowing->queue = queue;
    slowing->throughput = throughput;
    slowing->arena = arena_create();
    slowing->jobs = array_zeroed(queue->job_count + 1, sizeof *slowing->jobs);
    slowing->finder = job_sets_create(throughput_nodes(throughput)->platform);
    slowing->sets = set_slow_create(throughput_nodes(throughput)->platform, queue->together, queue->sets);
    return slowing;
}

void slowing_destroy(struct slowing *slowing)
{
    if (!slowing)
        return;
    for (uint64_t i = 0; i < slowing->queue->job_count; i++)
        footprint_finish(&slowing->jobs[i].footprint);
    job_sets_destroy(slowing->finder);
    set_slow_destroy(slowing->sets);
    key_table_finish(&slowing->traffic_of);
    free(slowing->traffic);
    free(slowing->jobs);
    free(slowing->running);
    arena_destroy(slowing->arena);
    free(slowing);
}

struct set_counts slowing_counts(const struct slowing *slowing)
{
    return slowing ? set_slow_counts(slowing->sets) : (struct set_counts){0};
}

/* ---- jobs that run ---- */

/* NULL: its program cannot be built; it meets nobody. */
static struct traffic *find_traffic(struct slowing *slowing, uint32_t type, const struct queue_neighbour *job,
                                    const uint32_t *hosts, uint32_t host_count)
{
    uint64_t key = refine_mix(throughput_shape(slowing->throughput, job->nodes, job->count), type);
    size_t number = key_table_find(&slowing->traffic_of, key);
    if (number != KEY_UNKNOWN)
        return slowing->traffic[number];
    struct diag silent = {0};
    struct traffic *traffic = arena_alloc(slowing->arena, sizeof *traffic);
    if (!traffic_create(slowing->throughput, type, hosts, host_count, slowing->arena, &silent, traffic))
        traffic = NULL;
    key_table_add(&slowing->traffic_of, key, slowing->traffic_count);
    slowing->traffic =
        array_grow(slowing->traffic, &slowing->traffic_capacity, slowing->traffic_count + 1, sizeof(struct traffic *));
    slowing->traffic[slowing->traffic_count++] = traffic;
    return traffic;
}

/* A job that came, or got other nodes. */
static void place_job(struct slowing *slowing, const struct queue_neighbour *neighbour, uint32_t type)
{
    const struct node_layout *layout = throughput_nodes(slowing->throughput);
    struct set_job *job = &slowing->jobs[neighbour->job];
    struct throughput_figures figures = {.iteration = 1};
    struct arena *arena = arena_create();
    uint32_t host_count;
    uint32_t *hosts = node_layout_hosts(layout, neighbour->nodes, neighbour->count, &host_count, arena);
    struct traffic *traffic = find_traffic(slowing, type, neighbour, hosts, host_count);
    footprint_finish(&job->footprint);
    if (traffic)
        footprint_create(&job->footprint, traffic, layout->platform, hosts, host_count);
    job->nodes = neighbour->nodes;
    job->count = neighbour->count;
    job->type = type;
    throughput_of(slowing->throughput, type, neighbour->nodes, neighbour->count, NULL, &figures);
    job->iteration = figures.iteration;
    arena_destroy(arena);
}

static int by_number(const void *left, const void *right)
{
    const struct set_job *const *a = left, *const *b = right;
    return (*a > *b) - (*a < *b);
}

/* Lists those that run and have a type, by number; forgets others. */
static void follow(struct slowing *slowing, const struct queue_neighbour *running, uint32_t count)
{
    for (uint32_t i = 0; i < slowing->running_count; i++)
        slowing->running[i]->runs = false;
    struct set_job **before = slowing->running;
    uint32_t before_count = slowing->running_count;
    slowing->running = array_zeroed(count + (size_t)1, sizeof(struct set_job *));
    slowing->running_count = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t type = slowing->queue->type_of[running[i].job];
        struct set_job *job = &slowing->jobs[running[i].job];
        if (type == UINT32_MAX || running[i].count < 2)
            continue;
        if (!job->footprint.traffic || job->nodes != running[i].nodes || job->count != running[i].count)
            place_job(slowing, &running[i], type);
        job->runs = true;
        job->slow = 1;
        slowing->running[slowing->running_count++] = job;
    }
    if (slowing->running_count)
        qsort(slowing->running, slowing->running_count, sizeof(struct set_job *), by_number);
    for (uint32_t i = 0; i < before_count; i++)
        if (!before[i]->runs)
            footprint_finish(&before[i]->footprint);
    free(before);
}

void slowing_share(struct slowing *slowing, struct queue_neighbour *running, uint32_t count)
{
    struct job_set set;
    follow(slowing, running, count);
    job_sets_find(slowing->finder, slowing->running, slowing->running_count);
    while (job_sets_next(slowing->finder, &set))
        set_slow_find(slowing->sets, slowing->finder, &set);
    for (uint32_t i = 0; i < count; i++) {
        const struct set_job *job = &slowing->jobs[running[i].job];
        if (job->runs && job->slow != 1)
            running[i].rate = running[i].alone / job->slow;
    }
}
