/* SPDX-License-Identifier: Apache-2.0 */
/* Jobs that can run on several numbers of nodes share the cluster evenly. Whenever a job comes or ends, sizes are
 * decided anew: jobs are let in, in the order in which they came, while all have their smallest size; then the job with
 * the fewest nodes gets its next size, as long as there are nodes for it. */
#include "base/arena.h"
#include "cluster/scheduling/queue_state.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct elastic {
    uint32_t *jobs, count; /* let in, in the order in which they came */
    uint32_t *level;       /* by job: the place of its new size in its list */
    uint32_t *heap;
    uint32_t least; /* nodes that all need at their smallest sizes */
    size_t capacity, heap_capacity;
};

static void begin(struct queue *queue)
{
    struct elastic *elastic = queue->own = array_zeroed(1, sizeof *elastic);
    elastic->level = array_zeroed((size_t)queue->request->job_count + 1, sizeof *elastic->level);
}

static void finish(struct queue *queue)
{
    struct elastic *elastic = queue->own;
    free(elastic->jobs);
    free(elastic->level);
    free(elastic->heap);
    free(elastic);
}

static void ended(struct queue *queue, uint32_t job)
{
    struct elastic *elastic = queue->own;
    uint32_t place = 0;
    while (elastic->jobs[place] != job)
        place++;
    elastic->count--;
    memmove(elastic->jobs + place, elastic->jobs + place + 1, (elastic->count - place) * sizeof *elastic->jobs);
    elastic->least -= queue->request->jobs[job].sizes[0];
    node_pool_give(queue->pool, queue->tasks[job].nodes, queue->tasks[job].count);
}

static void let_in(struct queue *queue)
{
    struct elastic *elastic = queue->own;
    while (queue->first != NO_JOB) {
        uint32_t job = queue->first, smallest = queue->request->jobs[job].sizes[0];
        if (smallest > queue->request->nodes - elastic->least)
            return;
        elastic->least += smallest;
        elastic->jobs = array_grow(elastic->jobs, &elastic->capacity, elastic->count + 1, sizeof *elastic->jobs);
        elastic->jobs[elastic->count++] = job;
        queue_unlist(queue, job);
    }
}

/* ---- sizes ---- */

static uint32_t size_of(const struct queue *queue, uint32_t job)
{
    return queue->request->jobs[job].sizes[((const struct elastic *)queue->own)->level[job]];
}

static bool fewer(const struct queue *queue, uint32_t a, uint32_t b)
{
    uint32_t left = size_of(queue, a), right = size_of(queue, b);
    return left < right || (left == right && a < b);
}

static void sink(const struct queue *queue, uint32_t *heap, uint32_t count, uint32_t hole)
{
    uint32_t job = heap[hole];
    for (uint32_t child; (child = 2 * hole + 1) < count; hole = child) {
        if (child + 1 < count && fewer(queue, heap[child + 1], heap[child]))
            child++;
        if (!fewer(queue, heap[child], job))
            break;
        heap[hole] = heap[child];
    }
    heap[hole] = job;
}

static void choose_sizes(struct queue *queue)
{
    struct elastic *elastic = queue->own;
    uint32_t spare = queue->request->nodes - elastic->least, count = 0;
    elastic->heap = array_grow(elastic->heap, &elastic->heap_capacity, elastic->count + 1, sizeof *elastic->heap);
    for (uint32_t i = 0; i < elastic->count; i++) {
        elastic->level[elastic->jobs[i]] = 0;
        elastic->heap[count++] = elastic->jobs[i];
    }
    for (uint32_t i = count / 2; i-- > 0;)
        sink(queue, elastic->heap, count, i);
    while (count && spare) {
        uint32_t job = elastic->heap[0], level = elastic->level[job];
        const struct queue_job *asked = &queue->request->jobs[job];
        if (level + 1 < asked->size_count && asked->sizes[level + 1] - asked->sizes[level] <= spare) {
            spare -= asked->sizes[level + 1] - asked->sizes[level];
            elastic->level[job]++;
        } else
            elastic->heap[0] = elastic->heap[--count]; /* nodes only become fewer: it has what it gets */
        if (count)
            sink(queue, elastic->heap, count, 0);
    }
}

/* ---- the change ---- */

/* What a job was stalled for and what this costs do not add up: it waits for the later. */
static double stall(const struct queue *queue, uint32_t job, double seconds)
{
    return fmax(queue->tasks[job].since, queue->now + seconds);
}

/* It keeps the lowest numbers. */
static void shrink(struct queue *queue, uint32_t job, uint32_t size)
{
    struct queue_task *task = &queue->tasks[job];
    queue_pause(queue, job);
    node_pool_give(queue->pool, task->nodes + size, task->count - size);
    task->count = size;
    queue->run->records[job].changes++;
    queue_resume(queue, job, stall(queue, job, queue->request->options.shrink));
}

static int ascending(const void *left, const void *right)
{
    const uint32_t *a = left, *b = right;
    return *a < *b ? -1 : *a > *b;
}

static void grow(struct queue *queue, uint32_t job, uint32_t size)
{
    struct queue_task *task = &queue->tasks[job];
    uint32_t *nodes = arena_array(queue->arena, size, sizeof *nodes), had = task->count;
    bool runs = task->runs;
    if (runs)
        queue_pause(queue, job);
    if (had)
        memcpy(nodes, task->nodes, had * sizeof *nodes);
    node_pool_take(queue->pool, size - had, nodes + had);
    qsort(nodes, size, sizeof *nodes, ascending);
    task->nodes = nodes;
    task->count = size;
    queue->run->records[job].changes += runs;
    queue_resume(queue, job, runs ? stall(queue, job, queue->request->options.grow) : queue->now);
}

static void decide(struct queue *queue)
{
    struct elastic *elastic = queue->own;
    let_in(queue);
    choose_sizes(queue);
    for (uint32_t i = 0; i < elastic->count; i++)
        if (size_of(queue, elastic->jobs[i]) < queue->tasks[elastic->jobs[i]].count)
            shrink(queue, elastic->jobs[i], size_of(queue, elastic->jobs[i]));
    for (uint32_t i = 0; i < elastic->count; i++)
        if (size_of(queue, elastic->jobs[i]) > queue->tasks[elastic->jobs[i]].count)
            grow(queue, elastic->jobs[i], size_of(queue, elastic->jobs[i]));
}

const struct queue_policy queue_elastic = {
    .name = "elastic",
    .title = "elastic",
    .summary = "jobs grow and shrink between their smallest and largest sizes and share the cluster evenly",
    .changes = "changes of size",
    .resizes = true,
    .begin = begin,
    .finish = finish,
    .ended = ended,
    .decide = decide,
};
