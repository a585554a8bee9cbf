/* SPDX-License-Identifier: Apache-2.0 */
/* Jobs of higher priority come first, and those of lower priority that run give way to them: they save their states,
 * and wait again. */
#include "base/arena.h"
#include "cluster/scheduling/outages.h"
#include "cluster/scheduling/queue_state.h"
#include "cluster/scheduling/running.h"

#include <stdlib.h>

static bool comes_before(const struct queue *queue, uint32_t a, uint32_t b)
{
    uint32_t left = queue->request->jobs[a].priority, right = queue->request->jobs[b].priority;
    return left > right || (left == right && a < b);
}

static uint32_t first_of(const struct queue *queue)
{
    uint32_t best = queue->first;
    for (uint32_t job = queue->first; job != NO_JOB; job = queue->tasks[job].next)
        if (comes_before(queue, job, best))
            best = job;
    return best;
}

/* Of those that run the one that comes last, and may not stay when `job` comes; NO_JOB: there is none. */
static uint32_t last_below(const struct queue *queue, uint32_t job)
{
    const struct running *running = queue->own;
    uint32_t last = NO_JOB;
    for (uint32_t i = 0; i < running->count; i++) {
        uint32_t other = running->jobs[i];
        if (!queue->tasks[other].yields && queue->request->jobs[other].priority < queue->request->jobs[job].priority &&
            (last == NO_JOB || comes_before(queue, last, other)))
            last = other;
    }
    return last;
}

/* Nodes that jobs leave, and those that others would have to. */
static void count_nodes(const struct queue *queue, uint32_t job, uint64_t *coming, uint64_t *below)
{
    const struct running *running = queue->own;
    *coming = *below = 0;
    for (uint32_t i = 0; i < running->count; i++) {
        uint32_t other = running->jobs[i];
        if (queue->tasks[other].yields)
            *coming += queue->request->jobs[other].nodes;
        else if (queue->request->jobs[other].priority < queue->request->jobs[job].priority)
            *below += queue->request->jobs[other].nodes;
    }
}

/* As many give way as it takes; none where all of them would not be enough. */
static void make_room(struct queue *queue, uint32_t job)
{
    uint64_t coming, below, wanted = queue->request->jobs[job].nodes;
    count_nodes(queue, job, &coming, &below);
    uint64_t there = queue_free(queue) + coming;
    if (there + below < wanted)
        return;
    while (there < wanted) {
        uint32_t other = last_below(queue, job);
        there += queue->request->jobs[other].nodes;
        queue->run->records[other].changes++;
        outages_yield(queue, other);
    }
}

static void decide(struct queue *queue)
{
    while (queue->first != NO_JOB) {
        uint32_t job = first_of(queue);
        if (!running_fits(queue, job)) {
            make_room(queue, job);
            return;
        }
        running_start(queue, job);
    }
}

const struct queue_policy queue_priority = {
    .name = "priority",
    .title = "priorities with preemption",
    .summary = "jobs of higher priority come first, and jobs of lower priority that run give way to them; while the "
               "first does not fit, the others wait",
    .changes = "preemptions",
    .endures = true,
    .preempts = true,
    .begin = running_begin,
    .finish = running_finish,
    .ended = running_ended,
    .postponed = running_postponed,
    .decide = decide,
};
