/* SPDX-License-Identifier: Apache-2.0 */
/* Conservative backfilling: at every event all that wait get reservations anew, in the order in which they came. What
 * counts is who starts now, so the round ends when nobody behind can start. */
#include "base/arena.h"
#include "cluster/queue/running.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* How many nodes are free from a time on, until the next step. */
struct step {
    double time;
    uint32_t free;
};

struct profile {
    struct step *steps;
    uint32_t count;
    size_t capacity;
};

/* Jobs that ask for equally many nodes, as a heap: that which is expected to run shortest first. Those that have
 * started since are taken out when they come to its top. */
struct heap {
    uint32_t *jobs, count;
    size_t capacity;
};

struct conservative {
    struct running running;
    struct profile profile;
    struct heap *heaps; /* [nodes + 1] */
    uint32_t newest;    /* of those that wait, when the heaps were last filled */
};

static void begin(struct queue *queue)
{
    struct conservative *own = queue->own = array_zeroed(1, sizeof *own);
    own->heaps = array_zeroed((size_t)queue->request->nodes + 1, sizeof *own->heaps);
    own->newest = NO_JOB;
}

static void finish(struct queue *queue)
{
    struct conservative *own = queue->own;
    for (uint32_t i = 0; i <= queue->request->nodes; i++)
        free(own->heaps[i].jobs);
    free(own->heaps);
    free(own->profile.steps);
    running_finish(queue);
}

/* ---- who waits ---- */

static double expected(const struct queue *queue, uint32_t job)
{
    return queue->request->jobs[job].expected;
}

static void push(const struct queue *queue, struct heap *heap, uint32_t job)
{
    heap->jobs = array_grow(heap->jobs, &heap->capacity, heap->count + (size_t)1, sizeof *heap->jobs);
    uint32_t hole = heap->count++;
    for (uint32_t parent; hole > 0 && expected(queue, job) < expected(queue, heap->jobs[parent = (hole - 1) / 2]);
         hole = parent)
        heap->jobs[hole] = heap->jobs[parent];
    heap->jobs[hole] = job;
}

static void pop(const struct queue *queue, struct heap *heap)
{
    uint32_t last = heap->jobs[--heap->count], hole = 0;
    for (uint32_t child; (child = 2 * hole + 1) < heap->count; hole = child) {
        if (child + 1 < heap->count && expected(queue, heap->jobs[child + 1]) < expected(queue, heap->jobs[child]))
            child++;
        if (!(expected(queue, heap->jobs[child]) < expected(queue, last)))
            break;
        heap->jobs[hole] = heap->jobs[child];
    }
    heap->jobs[hole] = last;
}

/* Jobs are numbered in the order in which they come, so that new ones are those behind the newest known. */
static void take_new(struct queue *queue, struct conservative *own)
{
    uint32_t known = own->newest;
    for (uint32_t job = queue->last; job != NO_JOB && (known == NO_JOB || job > known);
         job = queue->tasks[job].previous)
        push(queue, &own->heaps[queue->request->jobs[job].nodes], job);
    if (queue->last != NO_JOB && (known == NO_JOB || queue->last > known))
        own->newest = queue->last;
}

/* Seconds of the shortest job that waits for so many nodes; INFINITY: none does. */
static double shortest(const struct queue *queue, struct heap *heap)
{
    while (heap->count && queue->run->records[heap->jobs[0]].spans)
        pop(queue, heap);
    return heap->count ? expected(queue, heap->jobs[0]) : INFINITY;
}

/* ---- reservations ---- */

static void insert_step(struct profile *profile, uint32_t at, struct step step)
{
    profile->steps = array_grow(profile->steps, &profile->capacity, profile->count + 1, sizeof *profile->steps);
    for (uint32_t i = profile->count++; i > at; i--)
        profile->steps[i] = profile->steps[i - 1];
    profile->steps[at] = step;
}

/* The step that begins at a time, made where there is none. */
static uint32_t step_at(struct profile *profile, double time, uint32_t from)
{
    while (from < profile->count && profile->steps[from].time < time)
        from++;
    if (from == profile->count || profile->steps[from].time > time)
        insert_step(profile, from, (struct step){time, profile->steps[from - 1].free});
    return from;
}

/* From what runs. */
static void fill_profile(const struct queue *queue, struct profile *profile)
{
    const struct running *running = queue->own;
    profile->count = 0;
    insert_step(profile, 0, (struct step){queue->now, node_pool_free(queue->pool)});
    for (uint32_t i = 0; i < running->count; i++) {
        const struct queue_task *task = &queue->tasks[running->jobs[i]];
        uint32_t last = profile->count - 1;
        if (task->due > profile->steps[last].time) {
            insert_step(profile, last + 1, (struct step){task->due, profile->steps[last].free});
            last++;
        }
        profile->steps[last].free += task->count;
    }
}

/* The first step from which on so many nodes are free for so long; `from`: none before it is. */
static uint32_t find_hole(const struct profile *profile, uint32_t from, uint32_t nodes, double seconds)
{
    double end = profile->steps[from].time + seconds;
    for (uint32_t i = from; i < profile->count && (profile->steps[i].time < end || i == from); i++)
        if (profile->steps[i].free < nodes && i + 1 < profile->count) {
            from = i + 1;
            end = profile->steps[from].time + seconds;
        }
    return from;
}

/* Whether some job that waits could start now, as far as the reservations made so far go. */
static bool somebody_starts(const struct queue *queue, struct conservative *own)
{
    const struct profile *profile = &own->profile;
    uint32_t step = 0;
    for (uint32_t nodes = node_pool_free(queue->pool); nodes > 0; nodes--) {
        while (step < profile->count && profile->steps[step].free >= nodes)
            step++;
        double until = step < profile->count ? profile->steps[step].time : INFINITY;
        double seconds = shortest(queue, &own->heaps[nodes]);
        if (step > 0 && seconds < INFINITY && queue->now + seconds <= until)
            return true;
    }
    return false;
}

/* Starts the job where its hole begins now. */
static void reserve(struct queue *queue, struct profile *profile, uint32_t job, uint32_t from)
{
    const struct queue_job *asked = &queue->request->jobs[job];
    uint32_t past = step_at(profile, profile->steps[from].time + asked->expected, from);
    for (uint32_t i = from; i < past; i++)
        profile->steps[i].free -= asked->nodes;
    /* What is overdue may still have the nodes that it was to leave now. */
    if (profile->steps[from].time <= queue->now && running_fits(queue, job))
        running_start(queue, job);
}

static void decide(struct queue *queue)
{
    struct conservative *own = queue->own;
    uint32_t next;
    take_new(queue, own);
    if (queue->first == NO_JOB || node_pool_free(queue->pool) == 0)
        return;
    fill_profile(queue, &own->profile);
    for (uint32_t job = queue->first; job != NO_JOB && somebody_starts(queue, own); job = next) {
        const struct queue_job *asked = &queue->request->jobs[job];
        next = queue->tasks[job].next;
        reserve(queue, &own->profile, job, find_hole(&own->profile, 0, asked->nodes, asked->expected));
    }
}

const struct queue_policy queue_conservative = {
    .name = "conservative",
    .title = "conservative backfilling",
    .summary = "every job that waits has a reservation, and later jobs may pass it where they delay none",
    .begin = begin,
    .finish = finish,
    .ended = running_ended,
    .decide = decide,
};
