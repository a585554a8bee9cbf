/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/queue/queue_prepare.h"

#include "base/arena.h"
#include "cluster/months/month.h"
#include "cluster/queue/queue_failures.h"
#include "cluster/queue/queue_power.h"
#include "cluster/queue/queue_users.h"
#include "cluster/queue/slowing.h"

#include <math.h>
#include <stdlib.h>

struct preparing {
    const struct queue_scenario *queue;
    struct throughput *throughput;
    struct slowing *slowing;
    struct arena *arena;
    struct diag *diag;
    uint32_t nodes, processors; /* of the cluster; of a node */
    uint32_t *chosen;           /* [nodes]: scratch */
    struct queue_failing failing;
    const struct queue_power *power;
    bool fails;
};

static double rate(void *user, uint32_t job, const uint32_t *nodes, uint32_t count)
{
    struct preparing *preparing = user;
    struct throughput_figures figures;
    uint32_t type = preparing->queue->type_of[job];
    if (type == UINT32_MAX)
        return 1;
    return throughput_of(preparing->throughput, type, nodes, count, preparing->diag, &figures) ? figures.rate : 0;
}

/* On the nodes that it would be given in an empty cluster. */
static bool rate_alone(struct preparing *preparing, uint32_t type, uint32_t count, struct diag *diag,
                       struct throughput_figures *figures)
{
    struct node_pool *pool =
        node_pool_create(preparing->nodes, preparing->queue->options.placement, preparing->queue->options.block);
    node_pool_take(pool, count, preparing->chosen);
    node_pool_destroy(pool);
    return throughput_of(preparing->throughput, type, preparing->chosen, count, diag, figures);
}

/* The sizes between a type's bounds on which it can run. */
static uint32_t *sizes_of(struct preparing *preparing, uint32_t type, uint32_t *count)
{
    const struct queue_type *described = &preparing->queue->types[type];
    uint64_t least = described->nodes_min ? described->nodes_min : 1;
    uint64_t most = described->nodes_max < preparing->nodes ? described->nodes_max : preparing->nodes;
    uint32_t *sizes = arena_array(preparing->arena, preparing->nodes + 1, sizeof *sizes);
    struct throughput_figures figures;
    *count = 0;
    for (uint64_t size = least; described->nodes_max && size <= most; size++)
        if (rate_alone(preparing, type, (uint32_t)size, NULL, &figures))
            sizes[(*count)++] = (uint32_t)size;
    return sizes;
}

static bool is_size(const uint32_t *sizes, uint32_t count, uint32_t size)
{
    uint32_t i = 0;
    while (i < count && sizes[i] != size)
        i++;
    return i < count;
}

static bool put_size(const struct preparing *preparing, const struct arrival *arrival, struct queue_job *job)
{
    uint32_t per_node = preparing->processors, processors = arrival->processors;
    job->nodes = arrival->nodes ? arrival->nodes : (processors - 1) / per_node + 1;
    job->share = processors ? fmin(1, processors / ((double)job->nodes * per_node)) : 1;
    uint32_t spares = preparing->failing.failures.spares;
    if (job->nodes <= preparing->nodes && job->nodes <= preparing->nodes - spares)
        return true;
    if (job->nodes <= preparing->nodes)
        diag_error(preparing->diag, arrival->at, "job %s asks for %u nodes; the platform has %u beside %u spare%s",
                   job->name, job->nodes, preparing->nodes - spares, spares, spares == 1 ? "" : "s");
    else
        diag_error(preparing->diag, arrival->at, "job %s asks for %u nodes; the platform has %u", job->name, job->nodes,
                   preparing->nodes);
    return false;
}

static bool put_work(struct preparing *preparing, const struct arrival *arrival, uint32_t type, struct queue_job *job,
                     struct throughput_figures *asked)
{
    struct throughput_figures figures = {.iteration = 1};
    *asked = figures;
    if (type == UINT32_MAX) {
        job->work = job->alone = arrival->run;
        return true;
    }
    if (!rate_alone(preparing, type, job->nodes, preparing->diag, &figures)) {
        diag_note(preparing->diag, arrival->at, "job %s of type %s asks for %u node%s", job->name,
                  preparing->queue->types[type].name, job->nodes, job->nodes == 1 ? "" : "s");
        return false;
    }
    double iterations =
        arrival->iterations > 0 ? arrival->iterations : (double)preparing->queue->types[type].iterations;
    job->work = iterations * figures.iteration * figures.rate;
    job->alone = iterations * figures.iteration;
    *asked = figures;
    return true;
}

static void beside(void *user, struct queue_neighbour *working, uint32_t count, double cap)
{
    const struct preparing *preparing = user;
    struct queue_clock clock = queue_power_clock(preparing->power, cap);
    slowing_share(preparing->slowing, working, count, clock.stretch, clock.most);
}

/* One job of the log; false after a mistake was reported. */
static bool put_job(struct preparing *preparing, uint32_t index, uint32_t **sizes, uint32_t *counts,
                    struct queue_job *job)
{
    const struct queue_scenario *queue = preparing->queue;
    const struct arrival *arrival = &queue->log->arrivals[index];
    uint32_t type = queue->type_of[index];
    struct throughput_figures figures;
    *job = (struct queue_job){.name = arrival->name,
                              .submit = arrival->submit,
                              .kind = type,
                              .placed = type != UINT32_MAX,
                              .user = arrival->user,
                              .priority = arrival->priority};
    if (!put_size(preparing, arrival, job) || !put_work(preparing, arrival, type, job, &figures))
        return false;
    job->expected = job->alone;
    if (preparing->fails)
        queue_failing_add(&preparing->failing, index, job, figures.state, figures.iteration);
    if (queue->estimates == ESTIMATES_LIMITS && arrival->limit > 0)
        job->expected = arrival->limit;
    if (type != UINT32_MAX && !sizes[type] && queue_policy_resizes(queue->options.policy))
        sizes[type] = sizes_of(preparing, type, &counts[type]);
    bool elastic = type != UINT32_MAX && sizes[type] && is_size(sizes[type], counts[type], job->nodes);
    job->sizes = elastic ? sizes[type] : &job->nodes;
    job->size_count = elastic ? counts[type] : 1;
    return true;
}

bool queue_prepare(const struct scenario *scenario, struct throughput *throughput, struct slowing *slowing,
                   struct arena *arena, struct diag *diag, struct queue_request *request)
{
    const struct queue_scenario *queue = scenario->whole;
    const struct node_layout *layout = throughput_nodes(throughput);
    struct preparing *preparing = arena_alloc(arena, sizeof *preparing);
    struct queue_job *jobs = arena_array(arena, queue->job_count + 1, sizeof *jobs);
    uint32_t *sizes[QUEUE_TYPES_MAX] = {NULL}, counts[QUEUE_TYPES_MAX] = {0};
    *preparing = (struct preparing){.queue = queue,
                                    .throughput = throughput,
                                    .slowing = slowing,
                                    .arena = arena,
                                    .diag = diag,
                                    .nodes = layout->node_count,
                                    .chosen = arena_array(arena, layout->node_count + 1, sizeof(uint32_t))};
    preparing->processors = queue->processors_per_node ? (uint32_t)queue->processors_per_node : layout->first[1];
    preparing->fails = queue_failing_begin(&preparing->failing, queue, preparing->nodes, layout->first[1], arena);
    if (preparing->fails && preparing->failing.failures.spares >= preparing->nodes) {
        diag_error(diag, queue->spares_at, "%u spares leave none of %u nodes to jobs; expected at most %u",
                   preparing->failing.failures.spares, preparing->nodes, preparing->nodes - 1);
        return false;
    }
    if (!queue_power_create(scenario, throughput, arena, diag, &preparing->power))
        return false;
    queue_power_take_jobs(preparing->power, jobs);
    bool good = true;
    for (uint32_t i = 0; i < queue->job_count; i++)
        good &= put_job(preparing, i, sizes, counts, &jobs[i]);
    *request = (struct queue_request){.jobs = jobs,
                                      .job_count = (uint32_t)queue->job_count,
                                      .nodes = layout->node_count,
                                      .options = queue->options,
                                      .rate = rate,
                                      .user = preparing,
                                      .beside = slowing ? beside : NULL,
                                      .failures = preparing->fails ? &preparing->failing.failures : NULL,
                                      .power = preparing->power,
                                      .gpus = layout->gpus,
                                      .gpu_hour = queue->gpu_hour,
                                      .kilowatt_hour = queue->kilowatt_hour};
    return queue_open_accounts(queue, jobs, request, arena, diag) && good;
}

bool queue_redraw(void *user, uint32_t run, struct arena *arena, struct queue_request *request)
{
    const struct queue_redraw *redraw = user;
    struct scenario *scenario = arena_alloc(arena, sizeof *scenario);
    struct queue_scenario *queue = arena_alloc(arena, sizeof *queue);
    const struct queue_scenario *given = redraw->scenario->whole;
    *scenario = *redraw->scenario;
    *queue = *given;
    scenario->whole = queue;
    queue->log = month_generate(queue->month, queue->seed + run, given->log->file, given->log_at, arena, redraw->diag);
    if (!queue->log)
        return false;
    queue->job_count = given->jobs_most && given->jobs_most < queue->log->count ? given->jobs_most : queue->log->count;
    uint32_t *types = arena_array(arena, queue->job_count + 1, sizeof *types);
    for (uint64_t i = 0; i < queue->job_count; i++)
        types[i] = UINT32_MAX;
    queue->type_of = types;
    return queue_prepare(scenario, redraw->throughput, NULL, arena, redraw->diag, request);
}
