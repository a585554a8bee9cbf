/* SPDX-License-Identifier: Apache-2.0 */
/* Memory and bounds of a job, from its plan and costs alone. */
#include "base/arena.h"
#include "base/bulk.h"
#include "job/job_parts.h"
#include "schedules/plan/plan_rows.h"
#include "workloads/pipeline/outline.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Iterations may run into each other: then any replica may be the one that they wait for. */
static bool is_repeated(const struct stagesim_job *job)
{
    return job->scenario->iterations > 1;
}

static double collective_seconds(void *user, uint32_t worker, const char *axes, enum stagesim_collective collective,
                                 double bytes)
{
    struct stagesim_job *job = user;
    if (job->scenario->collectives.stepwise)
        return 0;
    struct collective_time time = job_collective_time(job, worker, axes, collective, bytes, is_repeated(job));
    return time.together ? time.seconds : 0;
}

static double replica_message_seconds(const struct stagesim_job *job, uint32_t from, uint32_t to, double bytes,
                                      uint32_t replica)
{
    const struct mesh *mesh = &job->job->mesh;
    struct platform_route route;
    uint32_t source = job->job->hosts[mesh_rank(mesh, from, replica)],
             target = job->job->hosts[mesh_rank(mesh, to, replica)];
    if (!job->platform->reaches(job->platform, source, target))
        return 0;
    job->platform->route(job->platform, source, target, &route);
    return route.latency + bytes / route.bandwidth;
}

double job_message_seconds(const struct stagesim_job *job, uint32_t from, uint32_t to, double bytes)
{
    return replica_message_seconds(job, from, to, bytes, 0);
}

static double message_seconds(void *user, uint32_t from, uint32_t to, double bytes)
{
    const struct stagesim_job *job = user;
    uint32_t replicas = is_repeated(job) ? job->job->mesh.replicas : 1;
    double least = INFINITY;
    for (uint32_t replica = 0; replica < replicas; replica++)
        least = fmin(least, replica_message_seconds(job, from, to, bytes, replica));
    return least;
}

/* Whether computing and transfers take as long in each iteration, and computing nowhere less than in the first replica:
 * bounds of several iterations count on it. */
static bool is_even(const struct stagesim_job *job)
{
    const struct mesh *mesh = &job->job->mesh;
    const struct platform_library *library = &job->platform->library;
    bool even = library->overlap_node <= 0 && library->overlap_network <= 0;
    for (uint32_t position = 0; position < mesh->positions && even; position++) {
        double speed = platform_full_speed(&job->platform->hosts[job->job->hosts[mesh_rank(mesh, position, 0)]]);
        for (uint32_t replica = 0; replica < mesh->replicas && even; replica++) {
            const struct platform_host *host =
                &job->platform->hosts[job->job->hosts[mesh_rank(mesh, position, replica)]];
            even = !host->varies && host->speed <= speed;
        }
    }
    return even;
}

/* Every rank has to fit in its own host. */
static void compare_memory(const struct stagesim_job *job, const double *peaks, struct job_outline *sketch)
{
    const struct mesh *mesh = &job->job->mesh;
    sketch->fits = true;
    for (uint32_t position = 0; position < mesh->positions; position++) {
        sketch->peak_bytes = fmax(sketch->peak_bytes, peaks[position]);
        for (uint32_t replica = 0; replica < mesh->replicas; replica++) {
            const struct platform_host *host =
                &job->platform->hosts[job->job->hosts[mesh_rank(mesh, position, replica)]];
            double capacity = host->memory * (1 - job->scenario->reserve);
            if (capacity <= 0)
                continue;
            if (sketch->capacity_bytes == 0 || capacity < sketch->capacity_bytes)
                sketch->capacity_bytes = capacity;
            sketch->fits = sketch->fits && peaks[position] <= capacity;
        }
    }
}

static struct pipeline_outline_request outline_request(struct stagesim_job *job, const struct stagesim_pipeline *costs)
{
    return (struct pipeline_outline_request){.plan = job->plan,
                                             .costs = costs,
                                             .mesh = &job->job->mesh,
                                             .collective = collective_seconds,
                                             .message = message_seconds,
                                             .user = job,
                                             .repeated = is_repeated(job)};
}

void job_bound(struct stagesim_job *job, const struct stagesim_pipeline *costs)
{
    struct pipeline_outline_request request = outline_request(job, costs);
    job->job->bound = pipeline_outline_any(&request, job->arena);
    job->job->bound_splits = pipeline_outline_splits(job->plan);
}

static const double *copy_times(const double *times, uint32_t stages, struct arena *arena)
{
    double *copy = arena_array(arena, stages, sizeof *copy);
    if (times)
        memcpy(copy, times, stages * sizeof *copy);
    return copy;
}

void job_keep_order(struct stagesim_job *job, const struct stagesim_pipeline *costs, double message)
{
    struct job_order *order = arena_alloc(job->arena, sizeof *order);
    char *rows = NULL;
    size_t size = 0;
    FILE *text = memory_stream_open(&rows, &size);
    plan_rows_write(job->plan, text);
    memory_stream_close(text);
    *order = (struct job_order){.rows = arena_copy(job->arena, rows),
                                .stages = costs->stages,
                                .forward = copy_times(costs->forward, costs->stages, job->arena),
                                .backward = copy_times(costs->backward, costs->stages, job->arena),
                                .weight = copy_times(costs->weight, costs->stages, job->arena),
                                .message = message};
    job->job->order = order->rows ? order : NULL;
    free(rows);
}

void job_sketch(struct stagesim_job *job, const struct stagesim_pipeline *costs)
{
    struct job_outline *sketch = job->sketch;
    struct pipeline_outline_request request = outline_request(job, costs);
    double *peaks = arena_array(job->arena, job->plan->workers, sizeof *peaks);
    bool offloads = plan_offloads_anywhere(job->plan); /* then memory follows from what else moves over the links */
    *sketch = (struct job_outline){.known = job->plan->iterations == 1 && !job->plan->asynchronous && !offloads};
    if (!sketch->known)
        return;
    pipeline_outline_peaks(job->plan, costs, peaks);
    compare_memory(job, peaks, sketch);
    sketch->imprint.arena = job->arena;
    if (sketch->fits)
        pipeline_imprint(&sketch->imprint, costs, &job->job->mesh);
    if (is_repeated(job) && !is_even(job))
        return;
    struct pipeline_outline_work work = pipeline_outline_work(&request, job->arena);
    sketch->work = work.seconds;
    sketch->bare = work.bare;
    sketch->computing = work.computing;
    sketch->order = job->bounds >= JOB_BOUND_ORDER ? pipeline_outline_order(&request, job->arena) : 0;
    sketch->any = job->bounds >= JOB_BOUND_ANY && !is_repeated(job) ? pipeline_outline_any(&request, job->arena) : 0;
}
