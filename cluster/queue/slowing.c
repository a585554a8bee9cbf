/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/queue/slowing.h"

#include "base/arena.h"
#include "cluster/queue/job_sets.h"
#include "cluster/queue/key_table.h"
#include "cluster/queue/set_speeds.h"
#include "cluster/queue/slow_points.h"

#include <math.h>
#include <stdlib.h>

/* Points of a kind below which two of a large set are simulated for another one. */
enum { POINTS_FEW = 3 };

/* A class of sets: the slow-downs of its jobs by their colours. */
struct known_set {
    uint64_t *colours;
    double *slow;
    uint32_t count;
};

struct slowing {
    const struct queue_scenario *queue;
    struct throughput *throughput;
    struct arena *arena;
    struct key_table traffic_of, set_of; /* by shape and type; by class */
    struct traffic **traffic;
    size_t traffic_count, traffic_capacity;
    struct known_set *sets;
    size_t set_count, set_capacity;
    struct slow_points points;
    struct set_job *jobs; /* [job]: of those that run, its footprint */
    struct set_job **running;
    uint32_t running_count;
    size_t running_capacity;
    struct job_sets *finder;
    struct slowing_counts counts;
};

struct slowing *slowing_create(const struct queue_scenario *queue, struct throughput *throughput)
{
    struct slowing *slowing = array_zeroed(1, sizeof *slowing);
    slowing->queue = queue;
    slowing->throughput = throughput;
    slowing->arena = arena_create();
    slowing->jobs = array_zeroed(queue->job_count + 1, sizeof *slowing->jobs);
    slowing->finder = job_sets_create(throughput_nodes(throughput)->platform);
    return slowing;
}

void slowing_destroy(struct slowing *slowing)
{
    if (!slowing)
        return;
    for (uint64_t i = 0; i < slowing->queue->job_count; i++)
        footprint_finish(&slowing->jobs[i].footprint);
    job_sets_destroy(slowing->finder);
    slow_points_finish(&slowing->points);
    key_table_finish(&slowing->traffic_of);
    key_table_finish(&slowing->set_of);
    free(slowing->traffic);
    free(slowing->sets);
    free(slowing->jobs);
    free(slowing->running);
    arena_destroy(slowing->arena);
    free(slowing);
}

struct slowing_counts slowing_counts(const struct slowing *slowing)
{
    struct slowing_counts counts = {0};
    if (!slowing)
        return counts;
    counts = slowing->counts;
    double many = counts.checked ? (double)counts.checked : 1;
    counts.bias /= many;
    counts.error /= many;
    return counts;
}

/* ---- jobs that run ---- */

/* NULL: its program cannot be built; it meets nobody. */
static struct traffic *find_traffic(struct slowing *slowing, uint32_t type, const struct queue_neighbour *job,
                                    const uint32_t *hosts, uint32_t host_count)
{
    uint64_t key = key_mix(throughput_shape(slowing->throughput, job->nodes, job->count), type);
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

/* Lists those that run and have a type; forgets others. */
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
    for (uint32_t i = 0; i < before_count; i++)
        if (!before[i]->runs)
            footprint_finish(&before[i]->footprint);
    free(before);
}

/* ---- what sets come to ---- */

/* How far the estimates of a set's jobs would have been off. */
static void check_estimates(struct slowing *slowing, struct set_job *const *members, uint32_t count, const double *slow)
{
    struct slowing_counts *counts = &slowing->counts;
    for (uint32_t i = 0; i < count; i++) {
        if (slow_points_known(&slowing->points, members[i]->type, members[i]->count) < POINTS_FEW)
            continue;
        double error =
            slow_points_estimate(&slowing->points, members[i]->type, members[i]->count, members[i]->load) / slow[i] - 1;
        counts->checked++;
        counts->bias += error;
        counts->error += fabs(error);
        counts->worst = fmax(counts->worst, fabs(error));
    }
}

/* Simulates jobs, and remembers what that says of loads. False where it cannot be. */
static bool simulate(struct slowing *slowing, struct set_job *const *members, uint32_t count, double *slow)
{
    const struct footprint **footprints = array_zeroed(count, sizeof(struct footprint *));
    for (uint32_t i = 0; i < count; i++)
        footprints[i] = &members[i]->footprint;
    bool done = set_speeds_find(throughput_nodes(slowing->throughput)->platform, footprints, count, slow);
    free(footprints);
    slowing->counts.simulated++;
    if (!done)
        return false;
    check_estimates(slowing, members, count, slow);
    for (uint32_t i = 0; i < count; i++)
        slow_points_add(&slowing->points,
                        (struct slow_point){members[i]->type, members[i]->count, members[i]->load, slow[i]});
    return true;
}

static bool may_simulate(const struct slowing *slowing)
{
    return slowing->counts.simulated < slowing->queue->sets;
}

/* A job of a large set of whose kind little is known, beside the one that loads its link most, as if they were alone.
 */
static void learn(struct slowing *slowing, struct set_job *job)
{
    double slow[2], loads[2] = {job->load, job->rival->load};
    struct set_job *pair[2] = {job, job->rival};
    job_sets_load_pair(slowing->finder, pair);
    if (slow_points_known(&slowing->points, job->type, job->count) < POINTS_FEW && may_simulate(slowing))
        simulate(slowing, pair, 2, slow);
    for (int i = 0; i < 2; i++)
        pair[i]->load = loads[i];
}

static void estimate(struct slowing *slowing, const struct job_set *set)
{
    slowing->counts.estimated++;
    for (uint32_t i = 0; i < set->count; i++)
        if (slow_points_known(&slowing->points, set->jobs[i]->type, set->jobs[i]->count) < POINTS_FEW)
            learn(slowing, set->jobs[i]);
    for (uint32_t i = 0; i < set->count; i++)
        set->jobs[i]->slow =
            slow_points_estimate(&slowing->points, set->jobs[i]->type, set->jobs[i]->count, set->jobs[i]->load);
}

static void remember(struct slowing *slowing, const struct job_set *set, const double *slow)
{
    struct known_set known = {arena_array(slowing->arena, set->count, sizeof *known.colours),
                              arena_array(slowing->arena, set->count, sizeof *known.slow), set->count};
    for (uint32_t i = 0; i < set->count; i++) {
        known.colours[i] = set->jobs[i]->colour;
        known.slow[i] = slow[i];
    }
    slowing->sets = array_grow(slowing->sets, &slowing->set_capacity, slowing->set_count + 1, sizeof *slowing->sets);
    key_table_add(&slowing->set_of, set->class, slowing->set_count);
    slowing->sets[slowing->set_count++] = known;
}

static void recall(const struct known_set *known, const struct job_set *set)
{
    for (uint32_t i = 0; i < set->count; i++)
        for (uint32_t k = 0; k < known->count; k++)
            if (known->colours[k] == set->jobs[i]->colour)
                set->jobs[i]->slow = known->slow[k];
}

static void find_slow(struct slowing *slowing, const struct job_set *set)
{
    struct slowing_counts *counts = &slowing->counts;
    size_t number = key_table_find(&slowing->set_of, set->class);
    counts->sets++;
    counts->largest = set->count > counts->largest ? set->count : counts->largest;
    if (number != KEY_UNKNOWN) {
        counts->known++;
        recall(&slowing->sets[number], set);
    } else if (set->count > slowing->queue->together || !may_simulate(slowing)) {
        estimate(slowing, set);
    } else {
        double *slow = array_zeroed(set->count, sizeof *slow);
        if (simulate(slowing, set->jobs, set->count, slow)) {
            remember(slowing, set, slow);
            recall(&slowing->sets[slowing->set_count - 1], set);
        } else {
            estimate(slowing, set);
        }
        free(slow);
    }
    for (uint32_t i = 0; i < set->count; i++)
        counts->slowest = fmax(counts->slowest, set->jobs[i]->slow);
}

void slowing_share(struct slowing *slowing, struct queue_neighbour *running, uint32_t count)
{
    struct job_set set;
    follow(slowing, running, count);
    job_sets_find(slowing->finder, slowing->running, slowing->running_count);
    while (job_sets_next(slowing->finder, &set))
        find_slow(slowing, &set);
    for (uint32_t i = 0; i < count; i++) {
        const struct set_job *job = &slowing->jobs[running[i].job];
        if (job->runs && job->slow != 1)
            running[i].rate = running[i].alone / job->slow;
    }
}
