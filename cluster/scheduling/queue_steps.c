/* SPDX-License-Identifier: Apache-2.0 */
/* The steps of jobs through a queue. */
#include "base/arena.h"
#include "cluster/scheduling/outage_parts.h"
#include "cluster/scheduling/queue_state.h"
#include "cluster/scheduling/watts.h"

#include <math.h>

/* ---- steps of jobs ---- */

uint32_t queue_free(const struct queue *queue)
{
    uint32_t available = node_pool_free(queue->pool);
    if (!queue->outages)
        return available;
    uint32_t busy = queue->request->nodes - available - outages_away(queue->outages);
    uint32_t most = queue->request->nodes - queue->request->failures->spares;
    return available < most - busy ? available : most - busy;
}

double queue_expected(const struct queue *queue, uint32_t job)
{
    return queue->outages ? outages_expected(queue, job) : queue->request->jobs[job].expected;
}

void queue_enlist(struct queue *queue, uint32_t job)
{
    struct queue_task *task = &queue->tasks[job];
    task->previous = queue->last;
    while (task->previous != NO_JOB && task->previous > job)
        task->previous = queue->tasks[task->previous].previous;
    task->next = task->previous == NO_JOB ? queue->first : queue->tasks[task->previous].next;
    *(task->previous == NO_JOB ? &queue->first : &queue->tasks[task->previous].next) = job;
    *(task->next == NO_JOB ? &queue->last : &queue->tasks[task->next].previous) = job;
    task->waits = true;
    queue->waiting++;
}

void queue_unlist(struct queue *queue, uint32_t job)
{
    struct queue_task *task = &queue->tasks[job];
    *(task->previous == NO_JOB ? &queue->first : &queue->tasks[task->previous].next) = task->next;
    *(task->next == NO_JOB ? &queue->last : &queue->tasks[task->next].previous) = task->previous;
    task->waits = false;
    queue->waiting--;
}

void queue_resume(struct queue *queue, uint32_t job, double since)
{
    struct queue_task *task = &queue->tasks[job];
    struct queue_record *record = &queue->run->records[job];
    double rate = queue->request->rate(queue->request->user, job, task->nodes, task->count);
    if (!(rate > 0) && queue->failed == NO_JOB)
        queue->failed = job;
    task->rate = task->full = task->alone = rate > 0 ? rate : 1;
    task->from = task->charged = queue->now;
    task->since = task->stands = since;
    task->runs = true;
    queue_beside_enter(queue, job);
    if (queue->watts)
        watts_resume(queue, job);
    queue_set_end(queue, job, queue->outages ? outages_end(queue, job) : since + task->left / task->rate);
    if (record->spans == 0)
        record->start = queue->now;
    if (record->spans++ == 0 || queue->outages)
        task->due = queue->now + queue_expected(queue, job);
}

void queue_stand(struct queue *queue, uint32_t job, double until)
{
    struct queue_task *task = &queue->tasks[job];
    task->runs = true;
    task->from = task->charged = queue->now;
    task->since = task->stands = until;
    queue_set_end(queue, job, until);
}

void queue_close_span(struct queue *queue, uint32_t job)
{
    struct queue_task *task = &queue->tasks[job];
    struct queue_run *run = queue->run;
    double stalled = fmin(task->stands, queue->now) - task->from;
    if (queue->watts)
        watts_charge(queue, job);
    task->runs = false;
    task->version++;
    queue_beside_leave(queue, job);
    if (queue->now == task->from) { /* it had them for no time */
        run->records[job].spans -= task->left > 0 && !queue->outages;
        return;
    }
    run->spans = array_grow(run->spans, &queue->span_capacity, run->span_count + 1, sizeof *run->spans);
    run->spans[run->span_count++] =
        (struct queue_span){job, task->count, task->nodes, task->from, queue->now, stalled, task->joules};
    task->joules = 0;
}

void queue_pause(struct queue *queue, uint32_t job)
{
    struct queue_task *task = &queue->tasks[job];
    if (queue->now > task->since)
        task->left = fmax(0, task->left - task->rate * (queue->now - task->since));
    queue_close_span(queue, job);
}

void queue_start(struct queue *queue, uint32_t job, uint32_t count)
{
    struct queue_task *task = &queue->tasks[job];
    queue_unlist(queue, job);
    task->count = count;
    task->nodes = arena_array(queue->arena, count, sizeof *task->nodes);
    node_pool_take(queue->pool, count, task->nodes);
    queue_resume(queue, job, queue->outages ? outages_begin(queue, job) : queue->now);
}
