/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/scheduling/running.h"

#include "base/arena.h"

#include <math.h>
#include <stdlib.h>

void running_begin(struct queue *queue)
{
    queue->own = array_zeroed(1, sizeof(struct running));
}

void running_finish(struct queue *queue)
{
    struct running *running = queue->own;
    free(running->jobs);
    free(running);
}

bool running_fits(const struct queue *queue, uint32_t job)
{
    return queue->request->jobs[job].nodes <= queue_free(queue);
}

static bool due_before(const struct queue *queue, uint32_t a, uint32_t b)
{
    double left = queue->tasks[a].due, right = queue->tasks[b].due;
    return left < right || (left == right && a < b);
}

static void insert(struct queue *queue, uint32_t job)
{
    struct running *running = queue->own;
    running->jobs = array_grow(running->jobs, &running->capacity, running->count + 1, sizeof *running->jobs);
    uint32_t place = running->count++;
    for (; place > 0 && due_before(queue, job, running->jobs[place - 1]); place--)
        running->jobs[place] = running->jobs[place - 1];
    running->jobs[place] = job;
}

static void take_out(struct queue *queue, uint32_t job)
{
    struct running *running = queue->own;
    uint32_t place = 0;
    while (running->jobs[place] != job)
        place++;
    for (running->count--; place < running->count; place++)
        running->jobs[place] = running->jobs[place + 1];
}

void running_start(struct queue *queue, uint32_t job)
{
    queue_start(queue, job, queue->request->jobs[job].nodes);
    insert(queue, job);
}

void running_postponed(struct queue *queue, uint32_t job)
{
    take_out(queue, job);
    insert(queue, job);
}

void running_ended(struct queue *queue, uint32_t job)
{
    take_out(queue, job);
    node_pool_give(queue->pool, queue->tasks[job].nodes, queue->tasks[job].count);
}

double running_reserve(const struct queue *queue, uint32_t job, uint32_t *extra)
{
    const struct running *running = queue->own;
    uint32_t available = queue_free(queue), wanted = queue->request->jobs[job].nodes;
    double time = queue->now;
    for (uint32_t i = 0; i < running->count; i++) {
        double due = fmax(queue->now, queue->tasks[running->jobs[i]].due);
        if (available >= wanted && due > time)
            break;
        available += queue->tasks[running->jobs[i]].count;
        time = due;
    }
    *extra = available < wanted ? 0 : available - wanted;
    return available < wanted ? INFINITY : time;
}
