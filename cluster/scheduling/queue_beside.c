/* SPDX-License-Identifier: Apache-2.0 */
/* Jobs that run side by side, where one slows another down. */
#include "base/arena.h"
#include "cluster/scheduling/queue_state.h"
#include "cluster/scheduling/watts.h"

#include <math.h>

void queue_beside_enter(struct queue *queue, uint32_t job)
{
    if (!queue->request->beside)
        return;
    queue->beside = array_grow(queue->beside, &queue->beside_capacity, queue->beside_count + 1, sizeof *queue->beside);
    queue->tasks[job].seat = queue->beside_count;
    queue->beside[queue->beside_count++] = (struct queue_neighbour){.job = job};
    queue->moved = true;
}

void queue_beside_leave(struct queue *queue, uint32_t job)
{
    if (!queue->request->beside)
        return;
    uint32_t seat = queue->tasks[job].seat;
    queue->beside[seat] = queue->beside[--queue->beside_count];
    queue->tasks[queue->beside[seat].job].seat = seat;
    queue->moved = true;
}

/* What is left of it is what it has not done at its old rate. */
static void change_rate(struct queue *queue, uint32_t job, double rate)
{
    struct queue_task *task = &queue->tasks[job];
    if (queue->now > task->since) {
        task->left = fmax(0, task->left - task->rate * (queue->now - task->since));
        task->since = queue->now;
    }
    if (queue->watts)
        watts_slow(queue, job, rate);
    task->rate = rate;
    queue_set_end(queue, job, task->since + task->left / rate);
}

void queue_beside_settle(struct queue *queue)
{
    if (!queue->moved)
        return;
    queue->moved = false;
    for (uint32_t i = 0; i < queue->beside_count; i++) {
        const struct queue_task *task = &queue->tasks[queue->beside[i].job];
        queue->beside[i] =
            (struct queue_neighbour){queue->beside[i].job, task->count, task->nodes, task->full, task->full};
    }
    queue->request->beside(queue->request->user, queue->beside, queue->beside_count);
    for (uint32_t i = 0; i < queue->beside_count; i++)
        if (queue->beside[i].rate != queue->tasks[queue->beside[i].job].rate)
            change_rate(queue, queue->beside[i].job, queue->beside[i].rate);
}
