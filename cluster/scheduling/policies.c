/* SPDX-License-Identifier: Apache-2.0 */
/* Policies that give a job its nodes once and leave it alone until it ends. */
#include "base/arena.h"
#include "cluster/scheduling/queue_state.h"
#include "cluster/scheduling/running.h"

#include <math.h>
#include <stdlib.h>

static void give_back(struct queue *queue, uint32_t job)
{
    node_pool_give(queue->pool, queue->tasks[job].nodes, queue->tasks[job].count);
}

static void start(struct queue *queue, uint32_t job)
{
    queue_start(queue, job, queue->request->jobs[job].nodes);
}

/* ---- first come, first served ---- */

static void decide_fcfs(struct queue *queue)
{
    while (queue->first != NO_JOB && running_fits(queue, queue->first))
        start(queue, queue->first);
}

const struct queue_policy queue_fcfs = {
    .name = "fcfs",
    .title = "first come, first served",
    .summary = "jobs start in the order in which they came; the first that does not fit holds back the others",
    .endures = true,
    .ended = give_back,
    .decide = decide_fcfs,
};

/* ---- EASY backfilling ---- */

static void decide_easy(struct queue *queue)
{
    while (queue->first != NO_JOB && running_fits(queue, queue->first))
        running_start(queue, queue->first);
    if (queue->first == NO_JOB || queue_free(queue) == 0)
        return;
    uint32_t extra, next;
    double reserved = running_reserve(queue, queue->first, &extra);
    for (uint32_t job = queue->tasks[queue->first].next; job != NO_JOB && queue_free(queue); job = next) {
        const struct queue_job *asked = &queue->request->jobs[job];
        next = queue->tasks[job].next;
        bool in_time = queue->now + queue_expected(queue, job) <= reserved;
        if (!running_fits(queue, job) || (!in_time && asked->nodes > extra))
            continue;
        extra -= in_time ? 0 : asked->nodes;
        running_start(queue, job);
    }
}

const struct queue_policy queue_easy = {
    .name = "easy",
    .title = "EASY backfilling",
    .summary = "as fcfs, but the first that does not fit gets a reservation, and later jobs that do not delay it may "
               "pass it",
    .endures = true,
    .begin = running_begin,
    .finish = running_finish,
    .ended = running_ended,
    .postponed = running_postponed,
    .decide = decide_easy,
};

/* ---- the shortest first ---- */

/* Those that wait as a heap, the shortest first; of equal ones that which came first. */
struct shortest {
    uint32_t *jobs, count;
    size_t capacity;
    uint32_t newest; /* of those that wait, when the heap was last filled */
};

static void begin_shortest(struct queue *queue)
{
    queue->own = array_zeroed(1, sizeof(struct shortest));
    ((struct shortest *)queue->own)->newest = NO_JOB;
}

static void finish_shortest(struct queue *queue)
{
    struct shortest *shortest = queue->own;
    free(shortest->jobs);
    free(shortest);
}

static bool shorter(const struct queue *queue, uint32_t a, uint32_t b)
{
    double left = queue_expected(queue, a), right = queue_expected(queue, b);
    return left < right || (left == right && a < b);
}

static void push_shortest(const struct queue *queue, struct shortest *heap, uint32_t job)
{
    heap->jobs = array_grow(heap->jobs, &heap->capacity, heap->count + 1, sizeof *heap->jobs);
    uint32_t hole = heap->count++;
    for (uint32_t parent; hole > 0 && shorter(queue, job, heap->jobs[parent = (hole - 1) / 2]); hole = parent)
        heap->jobs[hole] = heap->jobs[parent];
    heap->jobs[hole] = job;
}

static void pop_shortest(const struct queue *queue, struct shortest *heap)
{
    uint32_t last = heap->jobs[--heap->count], hole = 0;
    for (uint32_t child; (child = 2 * hole + 1) < heap->count; hole = child) {
        if (child + 1 < heap->count && shorter(queue, heap->jobs[child + 1], heap->jobs[child]))
            child++;
        if (!shorter(queue, heap->jobs[child], last))
            break;
        heap->jobs[hole] = heap->jobs[child];
    }
    heap->jobs[hole] = last;
}

/* Jobs are numbered in the order in which they come, so that new ones are those behind the newest known. */
static void take_new(struct queue *queue, struct shortest *heap)
{
    uint32_t job = queue->last, known = heap->newest;
    for (; job != NO_JOB && (known == NO_JOB || job > known); job = queue->tasks[job].previous)
        push_shortest(queue, heap, job);
    if (queue->last != NO_JOB && (known == NO_JOB || queue->last > known))
        heap->newest = queue->last;
}

static void push_again(struct queue *queue, uint32_t job)
{
    push_shortest(queue, queue->own, job);
}

static void decide_shortest(struct queue *queue)
{
    struct shortest *heap = queue->own;
    take_new(queue, heap);
    while (heap->count && running_fits(queue, heap->jobs[0])) {
        uint32_t job = heap->jobs[0];
        pop_shortest(queue, heap);
        start(queue, job);
    }
}

const struct queue_policy queue_shortest = {
    .name = "shortest",
    .title = "shortest first",
    .summary = "of those that wait the one that is expected to run shortest starts first; while it does not fit, the "
               "others wait",
    .endures = true,
    .begin = begin_shortest,
    .finish = finish_shortest,
    .ended = give_back,
    .again = push_again,
    .decide = decide_shortest,
};
