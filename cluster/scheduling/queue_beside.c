/* SPDX-License-Identifier: Apache-2.0 */
/* Jobs that run side by side, where one slows another down. */
#include "base/arena.h"
#include "cluster/scheduling/outage_parts.h"
#include "cluster/scheduling/queue_state.h"
#include "cluster/scheduling/watts.h"

#include <math.h>
#include <stdlib.h>

void queue_beside_enter(struct queue *queue, uint32_t job)
{
    struct queue_task *task = &queue->tasks[job];
    if (!queue->request->beside && !queue->request->options.migrate)
        return;
    queue->beside = array_grow(queue->beside, &queue->beside_capacity, queue->beside_count + 1, sizeof *queue->beside);
    task->seat = queue->beside_count;
    task->seated = true;
    queue->beside[queue->beside_count++] = job;
    queue->moved = true;
}

void queue_beside_leave(struct queue *queue, uint32_t job)
{
    struct queue_task *task = &queue->tasks[job];
    if (!task->seated)
        return;
    queue->beside[task->seat] = queue->beside[--queue->beside_count];
    queue->tasks[queue->beside[task->seat]].seat = task->seat;
    task->seated = false;
    queue->moved = true;
}

/* What is left of it is what it has not done at its old rate. */
static void change_rate(struct queue *queue, uint32_t job, double rate)
{
    struct queue_task *task = &queue->tasks[job];
    if (queue->now > task->since) {
        if (queue->outages)
            outages_settle(queue, job);
        else
            task->left = fmax(0, task->left - task->rate * (queue->now - task->since));
        task->since = queue->now;
    }
    if (queue->watts)
        watts_slow(queue, job, rate);
    task->rate = rate;
    queue_set_end(queue, job, queue->outages ? outages_end(queue, job) : task->since + task->left / rate);
}

/* Those of them that work; others join them later. */
static uint32_t list_working(struct queue *queue, struct queue_neighbour *working)
{
    uint32_t count = 0;
    queue->joins = INFINITY;
    for (uint32_t i = 0; i < queue->beside_count; i++) {
        const struct queue_task *task = &queue->tasks[queue->beside[i]];
        if (task->since <= queue->now)
            working[count++] =
                (struct queue_neighbour){queue->beside[i], task->count, task->nodes, task->alone, task->alone};
        else
            queue->joins = fmin(queue->joins, task->since);
    }
    return count;
}

void queue_beside_settle(struct queue *queue)
{
    if (!queue->request->beside || (!queue->moved && queue->now < queue->joins))
        return;
    queue->moved = false;
    struct queue_neighbour *working = array_zeroed(queue->beside_count + (size_t)1, sizeof *working);
    uint32_t count = list_working(queue, working);
    queue->request->beside(queue->request->user, working, count, watts_cap(queue));
    for (uint32_t i = 0; i < count; i++)
        if (working[i].rate != queue->tasks[working[i].job].rate)
            change_rate(queue, working[i].job, working[i].rate);
    free(working);
}
