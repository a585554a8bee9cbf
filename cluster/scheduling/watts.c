/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/scheduling/watts.h"

#include "base/arena.h"
#include "cluster/scheduling/outage_parts.h"

#include <math.h>
#include <stdlib.h>

struct watts {
    double cap;            /* of each GPU now; 0: none */
    uint32_t *jobs, count; /* that had nodes when the budget was last divided, or were given some since */
    bool *listed;          /* by job */
    size_t capacity;
};

struct watts *watts_create(const struct queue *queue)
{
    struct watts *watts = array_zeroed(1, sizeof *watts);
    watts->cap = queue->request->power->cap;
    watts->listed = array_zeroed((size_t)queue->request->job_count + 1, sizeof *watts->listed);
    return watts;
}

void watts_destroy(struct watts *watts)
{
    if (!watts)
        return;
    free(watts->jobs);
    free(watts->listed);
    free(watts);
}

static void draw_anew(struct queue *queue, uint32_t job)
{
    const struct queue_power *power = queue->request->power;
    struct queue_task *task = &queue->tasks[job];
    struct queue_draw draw = power->draw(power->user, job, task->nodes, task->count, queue->watts->cap);
    double slow = task->alone / task->rate; /* until it is known how much slower it is under this cap */
    task->alone = task->full * draw.speed;
    task->rate = task->alone / slow;
    task->watts = task->draws = draw.watts;
    queue->moved |= task->seated;
}

static double gpus_of(const struct queue *queue, uint32_t job)
{
    const struct queue_task *task = &queue->tasks[job];
    double gpus = 0;
    for (uint32_t i = 0; i < task->count; i++)
        gpus += queue->request->power->gpus[task->nodes[i]];
    return gpus * queue->request->jobs[job].share;
}

double watts_cap(const struct queue *queue)
{
    return queue->watts ? queue->watts->cap : 0;
}

void watts_resume(struct queue *queue, uint32_t job)
{
    struct watts *watts = queue->watts;
    draw_anew(queue, job);
    if (queue->request->power->budget > 0)
        queue->tasks[job].gpus = gpus_of(queue, job);
    if (watts->listed[job] || !(queue->request->power->budget > 0))
        return;
    watts->jobs = array_grow(watts->jobs, &watts->capacity, watts->count + 1, sizeof *watts->jobs);
    watts->jobs[watts->count++] = job;
    watts->listed[job] = true;
}

static void charge(struct queue *queue, uint32_t job, double watts, double from, double to)
{
    const struct power_settings *settings = queue->request->power->settings;
    struct queue_record *record = &queue->run->records[job];
    if (!(to > from))
        return;
    queue->tasks[job].joules += watts * (to - from);
    record->joules += watts * (to - from);
    if (settings->carbon_count)
        record->grams += power_grams_between(settings, watts, from, to);
}

static double idle_watts(const struct queue *queue, const struct queue_task *task)
{
    double watts = 0;
    for (uint32_t i = 0; i < task->count; i++)
        watts += queue->request->power->idle[task->nodes[i]];
    return watts;
}

void watts_charge(struct queue *queue, uint32_t job)
{
    struct queue_task *task = &queue->tasks[job];
    double works = fmin(fmax(task->stands, task->charged), queue->now);
    if (works > task->charged)
        charge(queue, job, idle_watts(queue, task), task->charged, works);
    charge(queue, job, task->watts, works, queue->now);
    task->charged = queue->now;
}

/* Work takes the same joules above those of idle GPUs, in more time. */
void watts_slow(struct queue *queue, uint32_t job, double rate)
{
    struct queue_task *task = &queue->tasks[job];
    double idle = idle_watts(queue, task);
    watts_charge(queue, job);
    task->watts = idle + (task->draws - idle) * rate / task->alone;
}

/* ---- a budget ---- */

/* What all others draw idle is set aside; those of jobs that have nodes have the rest, each as much. */
static double cap_of(const struct queue *queue)
{
    const struct queue_power *power = queue->request->power;
    double gpus = 0;
    for (uint32_t i = 0; i < queue->watts->count; i++)
        gpus += queue->tasks[queue->watts->jobs[i]].gpus;
    if (!(gpus > 0))
        return queue->watts->cap;
    double share = (power->budget - power->gpu_idle * (power->gpu_total - gpus)) / gpus;
    return fmin(power->cap > 0 ? fmin(power->cap, share) : share, power->gpu_full); /* more changes nothing */
}

/* Goes on from now at the rate under the new cap. */
static void rerate(struct queue *queue, uint32_t job)
{
    struct queue_task *task = &queue->tasks[job];
    if (queue->outages && outages_stopped(queue, job))
        return;
    watts_charge(queue, job);
    if (queue->now > task->since) {
        if (queue->outages)
            outages_settle(queue, job);
        else
            task->left = fmax(0, task->left - task->rate * (queue->now - task->since));
        task->since = queue->now;
    }
    draw_anew(queue, job);
    if (queue->tasks[job].rate != queue->tasks[job].alone)
        watts_slow(queue, job, queue->tasks[job].rate);
    queue_set_end(queue, job, queue->outages ? outages_end(queue, job) : task->since + task->left / task->rate);
}

void watts_divide(struct queue *queue)
{
    struct watts *watts = queue->watts;
    uint32_t kept = 0;
    if (!(queue->request->power->budget > 0))
        return;
    for (uint32_t i = 0; i < watts->count; i++) {
        uint32_t job = watts->jobs[i];
        watts->listed[job] = queue->tasks[job].runs;
        if (queue->tasks[job].runs)
            watts->jobs[kept++] = job;
    }
    watts->count = kept;
    double cap = cap_of(queue);
    if (cap == watts->cap)
        return;
    watts->cap = cap;
    for (uint32_t i = 0; i < watts->count; i++)
        rerate(queue, watts->jobs[i]);
}
