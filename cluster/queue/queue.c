/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/queue/queue.h"

#include "base/arena.h"
#include "cluster/queue/queue_state.h"

#include <math.h>
#include <stdlib.h>

/* ---- ends to come ---- */

static bool sooner(const struct queue_end *a, const struct queue_end *b)
{
    return a->time < b->time || (a->time == b->time && a->job < b->job);
}

static void push_end(struct queue *queue, struct queue_end end)
{
    queue->ends = array_grow(queue->ends, &queue->end_capacity, queue->end_count + 1, sizeof *queue->ends);
    size_t hole = queue->end_count++;
    for (size_t parent; hole > 0 && sooner(&end, &queue->ends[parent = (hole - 1) / 2]); hole = parent)
        queue->ends[hole] = queue->ends[parent];
    queue->ends[hole] = end;
}

static void pop_end(struct queue *queue)
{
    struct queue_end last = queue->ends[--queue->end_count];
    size_t hole = 0;
    for (size_t child; (child = 2 * hole + 1) < queue->end_count; hole = child) {
        if (child + 1 < queue->end_count && sooner(&queue->ends[child + 1], &queue->ends[child]))
            child++;
        if (!sooner(&queue->ends[child], &last))
            break;
        queue->ends[hole] = queue->ends[child];
    }
    queue->ends[hole] = last;
}

/* The next end that still holds; NULL: nothing runs. */
static const struct queue_end *next_end(struct queue *queue)
{
    while (queue->end_count) {
        const struct queue_end *end = &queue->ends[0];
        if (queue->tasks[end->job].version == end->version)
            return end;
        pop_end(queue);
    }
    return NULL;
}

/* ---- steps of jobs ---- */

static void enlist(struct queue *queue, uint32_t job)
{
    struct queue_task *task = &queue->tasks[job];
    task->previous = queue->last;
    task->next = NO_JOB;
    *(queue->last == NO_JOB ? &queue->first : &queue->tasks[queue->last].next) = job;
    queue->last = job;
    queue->waiting++;
}

void queue_unlist(struct queue *queue, uint32_t job)
{
    const struct queue_task *task = &queue->tasks[job];
    *(task->previous == NO_JOB ? &queue->first : &queue->tasks[task->previous].next) = task->next;
    *(task->next == NO_JOB ? &queue->last : &queue->tasks[task->next].previous) = task->previous;
    queue->waiting--;
}

void queue_resume(struct queue *queue, uint32_t job, double since)
{
    struct queue_task *task = &queue->tasks[job];
    struct queue_record *record = &queue->run->records[job];
    double rate = queue->request->rate(queue->request->user, job, task->nodes, task->count);
    if (!(rate > 0) && queue->failed == NO_JOB)
        queue->failed = job;
    task->rate = rate > 0 ? rate : 1;
    task->from = queue->now;
    task->since = since;
    task->ends = since + task->left / task->rate;
    task->runs = true;
    push_end(queue, (struct queue_end){task->ends, job, ++task->version});
    if (record->spans++ == 0) {
        record->start = queue->now;
        task->due = queue->now + queue->request->jobs[job].expected;
    }
}

static void close_span(struct queue *queue, uint32_t job)
{
    struct queue_task *task = &queue->tasks[job];
    struct queue_run *run = queue->run;
    task->runs = false;
    task->version++;
    if (queue->now == task->from) { /* it had them for no time */
        run->records[job].spans -= task->left > 0;
        return;
    }
    run->spans = array_grow(run->spans, &queue->span_capacity, run->span_count + 1, sizeof *run->spans);
    run->spans[run->span_count++] = (struct queue_span){
        job, task->count, task->nodes, task->from, queue->now, fmin(task->since, queue->now) - task->from};
}

void queue_pause(struct queue *queue, uint32_t job)
{
    struct queue_task *task = &queue->tasks[job];
    if (queue->now > task->since)
        task->left = fmax(0, task->left - task->rate * (queue->now - task->since));
    close_span(queue, job);
}

void queue_start(struct queue *queue, uint32_t job, uint32_t count)
{
    struct queue_task *task = &queue->tasks[job];
    queue_unlist(queue, job);
    task->count = count;
    task->nodes = arena_array(queue->arena, count, sizeof *task->nodes);
    node_pool_take(queue->pool, count, task->nodes);
    queue_resume(queue, job, queue->now);
}

static void end_job(struct queue *queue, uint32_t job)
{
    queue->tasks[job].left = 0;
    close_span(queue, job);
    queue->run->records[job].end = queue->now;
    queue->request->options.policy->ended(queue, job);
}

/* ---- the course of time ---- */

static void pass_time(struct queue *queue)
{
    const struct queue_request *request = queue->request;
    uint32_t coming = 0, done = 0;
    while (done < request->job_count && queue->failed == NO_JOB) {
        const struct queue_end *end = next_end(queue);
        double time = fmin(queue->wake, end ? end->time : INFINITY);
        if (coming < request->job_count)
            time = fmin(time, request->jobs[coming].submit);
        queue->now = time;
        for (; (end = next_end(queue)) && end->time <= time; done++) {
            uint32_t job = end->job;
            pop_end(queue);
            end_job(queue, job);
        }
        for (; coming < request->job_count && request->jobs[coming].submit <= time; coming++)
            enlist(queue, coming);
        request->options.policy->decide(queue);
    }
}

bool queue_run(const struct queue_request *request, struct arena *arena, struct queue_run *run, uint32_t *failed)
{
    const struct queue_policy *policy = request->options.policy;
    *run =
        (struct queue_run){request, arena_array(arena, (size_t)request->job_count + 1, sizeof *run->records), NULL, 0};
    struct queue queue = {.request = request,
                          .arena = arena,
                          .run = run,
                          .tasks = array_zeroed((size_t)request->job_count + 1, sizeof *queue.tasks),
                          .first = NO_JOB,
                          .last = NO_JOB,
                          .pool = node_pool_create(request->nodes, request->options.placement),
                          .wake = INFINITY,
                          .failed = NO_JOB};
    for (uint32_t job = 0; job < request->job_count; job++)
        queue.tasks[job].left = request->jobs[job].work;
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
    node_pool_destroy(queue.pool);
    free(queue.ends);
    free(queue.tasks);
    *failed = queue.failed;
    return queue.failed == NO_JOB;
}
