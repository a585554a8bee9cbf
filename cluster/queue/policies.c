/* SPDX-License-Identifier: Apache-2.0 */
/* Policies that give a job its nodes once and leave it alone until it ends. */
#include "base/arena.h"
#include "cluster/queue/queue_state.h"

#include <math.h>
#include <stdlib.h>

static void give_back(struct queue *queue, uint32_t job)
{
    node_pool_give(queue->pool, queue->tasks[job].nodes, queue->tasks[job].count);
}

static bool fits(const struct queue *queue, uint32_t job)
{
    return queue->request->jobs[job].nodes <= node_pool_free(queue->pool);
}

static void start(struct queue *queue, uint32_t job)
{
    queue_start(queue, job, queue->request->jobs[job].nodes);
}

/* ---- first come, first served ---- */

static void decide_fcfs(struct queue *queue)
{
    while (queue->first != NO_JOB && fits(queue, queue->first))
        start(queue, queue->first);
}

const struct queue_policy queue_fcfs = {
    .name = "fcfs",
    .title = "first come, first served",
    .summary = "jobs start in the order in which they came; the first that does not fit holds back the others",
    .ended = give_back,
    .decide = decide_fcfs,
};

/* ---- EASY backfilling ---- */

/* Jobs that run, the first to be due first. */
struct running {
    uint32_t *jobs, count;
    size_t capacity;
};

static void begin_running(struct queue *queue)
{
    queue->own = array_zeroed(1, sizeof(struct running));
}

static void finish_running(struct queue *queue)
{
    struct running *running = queue->own;
    free(running->jobs);
    free(running);
}

static bool due_before(const struct queue *queue, uint32_t a, uint32_t b)
{
    double left = queue->tasks[a].due, right = queue->tasks[b].due;
    return left < right || (left == right && a < b);
}

static void start_due(struct queue *queue, uint32_t job)
{
    struct running *running = queue->own;
    start(queue, job);
    running->jobs = array_grow(running->jobs, &running->capacity, running->count + 1, sizeof *running->jobs);
    uint32_t place = running->count++;
    for (; place > 0 && due_before(queue, job, running->jobs[place - 1]); place--)
        running->jobs[place] = running->jobs[place - 1];
    running->jobs[place] = job;
}

static void end_due(struct queue *queue, uint32_t job)
{
    struct running *running = queue->own;
    uint32_t place = 0;
    while (running->jobs[place] != job)
        place++;
    for (running->count--; place < running->count; place++)
        running->jobs[place] = running->jobs[place + 1];
    give_back(queue, job);
}

/* When the job will have its nodes if those that run end when they are due, and how many are left then. Those that are
 * overdue are taken to end at once. */
static double reserve(const struct queue *queue, uint32_t job, uint32_t *extra)
{
    const struct running *running = queue->own;
    uint32_t available = node_pool_free(queue->pool), wanted = queue->request->jobs[job].nodes;
    double time = queue->now;
    for (uint32_t i = 0; i < running->count; i++) {
        double due = fmax(queue->now, queue->tasks[running->jobs[i]].due);
        if (available >= wanted && due > time)
            break;
        available += queue->tasks[running->jobs[i]].count;
        time = due;
    }
    *extra = available - wanted;
    return time;
}

static void decide_easy(struct queue *queue)
{
    while (queue->first != NO_JOB && fits(queue, queue->first))
        start_due(queue, queue->first);
    if (queue->first == NO_JOB || node_pool_free(queue->pool) == 0)
        return;
    uint32_t extra, next;
    double reserved = reserve(queue, queue->first, &extra);
    for (uint32_t job = queue->tasks[queue->first].next; job != NO_JOB && node_pool_free(queue->pool); job = next) {
        const struct queue_job *asked = &queue->request->jobs[job];
        next = queue->tasks[job].next;
        bool in_time = queue->now + asked->expected <= reserved;
        if (!fits(queue, job) || (!in_time && asked->nodes > extra))
            continue;
        extra -= in_time ? 0 : asked->nodes;
        start_due(queue, job);
    }
}

const struct queue_policy queue_easy = {
    .name = "easy",
    .title = "EASY backfilling",
    .summary = "as fcfs, but the first that does not fit gets a reservation, and later jobs that do not delay it may "
               "pass it",
    .begin = begin_running,
    .finish = finish_running,
    .ended = end_due,
    .decide = decide_easy,
};

/* ---- conservative backfilling ---- */

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

/* The first step from which on so many nodes are free for so long. */
static uint32_t find_hole(const struct profile *profile, uint32_t nodes, double seconds)
{
    uint32_t from = 0;
    for (uint32_t i = 0; i < profile->count; i++) {
        if (profile->steps[i].time >= profile->steps[from].time + seconds && i > from)
            break;
        if (profile->steps[i].free < nodes)
            from = i + 1;
    }
    return from;
}

static void decide_conservative(struct queue *queue)
{
    struct profile profile = {0};
    uint32_t next;
    if (queue->first == NO_JOB || node_pool_free(queue->pool) == 0)
        return;
    fill_profile(queue, &profile);
    for (uint32_t job = queue->first; job != NO_JOB && node_pool_free(queue->pool); job = next) {
        const struct queue_job *asked = &queue->request->jobs[job];
        uint32_t from = find_hole(&profile, asked->nodes, asked->expected);
        uint32_t past = step_at(&profile, profile.steps[from].time + asked->expected, from);
        next = queue->tasks[job].next;
        for (uint32_t i = from; i < past; i++)
            profile.steps[i].free -= asked->nodes;
        /* What is overdue may still have the nodes that it was to leave now. */
        if (profile.steps[from].time <= queue->now && fits(queue, job))
            start_due(queue, job);
    }
    free(profile.steps);
}

const struct queue_policy queue_conservative = {
    .name = "conservative",
    .title = "conservative backfilling",
    .summary = "every job that waits has a reservation, and later jobs may pass it where they delay none",
    .begin = begin_running,
    .finish = finish_running,
    .ended = end_due,
    .decide = decide_conservative,
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
    double left = queue->request->jobs[a].expected, right = queue->request->jobs[b].expected;
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

static void decide_shortest(struct queue *queue)
{
    struct shortest *heap = queue->own;
    take_new(queue, heap);
    while (heap->count && fits(queue, heap->jobs[0])) {
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
    .begin = begin_shortest,
    .finish = finish_shortest,
    .ended = give_back,
    .decide = decide_shortest,
};
