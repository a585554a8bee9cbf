/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/scheduling/queue.h"

#include "base/arena.h"
#include "cluster/scheduling/outages.h"
#include "cluster/scheduling/queue_state.h"
#include "cluster/scheduling/watts.h"

#include <math.h>
#include <stdlib.h>

static void end_job(struct queue *queue, uint32_t job)
{
    queue->tasks[job].left = 0;
    if (queue->outages)
        outages_ended(queue, job);
    queue_close_span(queue, job);
    queue->run->records[job].end = queue->now;
    queue->request->options.policy->ended(queue, job);
}

/* ---- the course of time ---- */

/* Of jobs from `coming` on. */
static double next_time(struct queue *queue, uint32_t coming)
{
    const struct queue_request *request = queue->request;
    const struct queue_end *end = queue_next_end(queue);
    double time = fmin(fmin(queue->wake, queue->joins), end ? end->time : INFINITY);
    if (coming < request->job_count)
        time = fmin(time, request->jobs[coming].submit);
    return queue->outages ? fmin(time, outages_next(queue->outages)) : time;
}

/* Jobs end, or failures of them are noticed. Whether something was; counts those that end. */
static bool end_jobs(struct queue *queue, uint32_t *done)
{
    bool happened = false;
    for (const struct queue_end *end; (end = queue_next_end(queue)) && end->time <= queue->now; happened = true) {
        uint32_t job = end->job;
        queue_pop_end(queue);
        if (queue->outages && outages_noticed(queue, job))
            continue;
        end_job(queue, job);
        ++*done;
    }
    return happened;
}

/* Nothing is decided where nothing happened: what failed may be in repair. */
static void pass_time(struct queue *queue)
{
    const struct queue_request *request = queue->request;
    uint32_t coming = 0, done = 0;
    while (done < request->job_count && queue->failed == NO_JOB) {
        double time = queue->now = next_time(queue, coming);
        bool happened = end_jobs(queue, &done) || time >= queue->wake;
        if (done == request->job_count)
            break;
        if (queue->outages)
            happened |= outages_pass(queue);
        for (; coming < request->job_count && request->jobs[coming].submit <= time; coming++, happened = true)
            queue_enlist(queue, coming);
        if (happened)
            request->options.policy->decide(queue);
        if (happened && request->options.migrate)
            queue_migrate(queue);
        if (happened && queue->watts)
            watts_divide(queue);
        queue_beside_settle(queue);
        if (queue->outages && outages_stuck(queue)) {
            queue->run->stuck = true;
            queue->failed = queue->first == NO_JOB ? 0 : queue->first;
        }
    }
}

bool queue_run(const struct queue_request *request, struct arena *arena, struct queue_run *run, uint32_t *failed)
{
    const struct queue_policy *policy = request->options.policy;
    *run = (struct queue_run){.request = request,
                              .records = arena_array(arena, (size_t)request->job_count + 1, sizeof *run->records)};
    struct queue queue = {.request = request,
                          .arena = arena,
                          .run = run,
                          .tasks = array_zeroed((size_t)request->job_count + 1, sizeof *queue.tasks),
                          .first = NO_JOB,
                          .last = NO_JOB,
                          .pool = node_pool_create(request->nodes, request->options.placement, request->options.block),
                          .wake = INFINITY,
                          .joins = INFINITY,
                          .moving = NO_JOB,
                          .failed = NO_JOB};
    for (uint32_t job = 0; job < request->job_count; job++)
        queue.tasks[job].left = request->jobs[job].work;
    queue.outages = request->failures ? outages_create(&queue) : NULL;
    queue.watts = request->power ? watts_create(&queue) : NULL;
    if (request->beside)
        request->beside(request->user, NULL, 0, 0);
    if (policy->begin)
        policy->begin(&queue);
    pass_time(&queue);
    if (policy->finish)
        policy->finish(&queue);
    struct queue_span *spans = arena_array(arena, run->span_count + 1, sizeof *spans);
    for (size_t i = 0; i < run->span_count; i++)
        spans[i] = run->spans[i];
    free(run->spans);
    run->spans = spans;
    if (queue.outages)
        outages_finish(&queue);
    outages_destroy(queue.outages);
    watts_destroy(queue.watts);
    node_pool_destroy(queue.pool);
    free(queue.ends);
    free(queue.beside);
    free(queue.elsewhere);
    free(queue.tasks);
    *failed = queue.failed;
    return queue.failed == NO_JOB;
}
