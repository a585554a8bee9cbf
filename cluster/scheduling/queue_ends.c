/* SPDX-License-Identifier: Apache-2.0 */
/* What comes up for jobs, the soonest first. */
#include "base/arena.h"
#include "cluster/scheduling/queue_state.h"

static bool sooner(const struct queue_end *a, const struct queue_end *b)
{
    return a->time < b->time || (a->time == b->time && a->job < b->job);
}

static void push_end(struct queue *queue, struct queue_end end);

/* Takes out those that are void: where jobs change their rates all the time, nearly all are. */
static void drop_void(struct queue *queue)
{
    size_t count = queue->end_count;
    queue->end_count = 0;
    for (size_t i = 0; i < count; i++) {
        struct queue_end end = queue->ends[i];
        if (queue->tasks[end.job].version == end.version)
            push_end(queue, end);
    }
    queue->end_most = 4 * queue->end_count + 4096;
}

static void push_end(struct queue *queue, struct queue_end end)
{
    queue->ends = array_grow(queue->ends, &queue->end_capacity, queue->end_count + 1, sizeof *queue->ends);
    size_t hole = queue->end_count++;
    for (size_t parent; hole > 0 && sooner(&end, &queue->ends[parent = (hole - 1) / 2]); hole = parent)
        queue->ends[hole] = queue->ends[parent];
    queue->ends[hole] = end;
}

void queue_pop_end(struct queue *queue)
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

const struct queue_end *queue_next_end(struct queue *queue)
{
    while (queue->end_count) {
        const struct queue_end *end = &queue->ends[0];
        if (queue->tasks[end->job].version == end->version)
            return end;
        queue_pop_end(queue);
    }
    return NULL;
}

void queue_set_end(struct queue *queue, uint32_t job, double time)
{
    queue->tasks[job].ends = time;
    if (queue->end_count >= queue->end_most)
        drop_void(queue);
    push_end(queue, (struct queue_end){time, job, ++queue->tasks[job].version});
}
