/* SPDX-License-Identifier: Apache-2.0 */
/* What jobs do between failures. */
#include "base/arena.h"
#include "cluster/scheduling/outage_parts.h"
#include "cluster/scheduling/outages.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PURPOSE_JOBS = 7 };

struct outages *outages_create(struct queue *queue)
{
    const struct queue_request *request = queue->request;
    const struct queue_failures *failures = request->failures;
    struct outages *outages = array_zeroed(1, sizeof *outages);
    outages->clocks = clocks_create(failures->cluster, request->nodes, failures->run);
    outages->stays = array_zeroed((size_t)request->job_count + 1, sizeof *outages->stays);
    outages->owner = array_zeroed((size_t)request->nodes + 1, sizeof *outages->owner);
    outages->strikes = array_zeroed((size_t)request->nodes + 1, sizeof *outages->strikes);
    outages->begin = outages->last = request->job_count ? request->jobs[0].submit : 0;
    outages->back = INFINITY;
    for (uint32_t node = 0; node < request->nodes; node++)
        outages->owner[node] = NO_JOB;
    for (uint32_t job = 0; job < request->job_count; job++) {
        struct stay *stay = &outages->stays[job];
        struct draws draws = draws_of(failures->cluster->seed + failures->run, PURPOSE_JOBS, job);
        progress_begin(&stay->progress, &failures->jobs[job], draw_bits(&draws), &stay->counts, NULL);
        outages->longest = fmax(outages->longest, failures->jobs[job].work);
        outages->last = fmax(outages->last, request->jobs[job].submit);
    }
    return outages;
}

void outages_destroy(struct outages *outages)
{
    if (!outages)
        return;
    clocks_destroy(outages->clocks);
    free(outages->stays);
    free(outages->owner);
    free(outages->strikes);
    free(outages->repairs);
    free(outages);
}

uint32_t outages_away(const struct outages *outages)
{
    return (uint32_t)outages->repair_count;
}

void outages_own(struct queue *queue, uint32_t job, uint32_t owner)
{
    const struct queue_task *task = &queue->tasks[job];
    for (uint32_t i = 0; i < task->count; i++)
        queue->outages->owner[task->nodes[i]] = owner;
}

double outages_expected(const struct queue *queue, uint32_t job)
{
    const struct stay *stay = &queue->outages->stays[job];
    double work = queue->request->failures->jobs[job].work;
    double left = work > 0 ? (work - stay->progress.done) / work : 1;
    return stay->again + queue->request->jobs[job].expected * left;
}

double outages_begin(struct queue *queue, uint32_t job)
{
    struct stay *stay = &queue->outages->stays[job];
    outages_own(queue, job, job);
    stay->replaced = queue->now + stay->replacement;
    return queue->now + stay->again;
}

double outages_end(struct queue *queue, uint32_t job)
{
    const struct queue_job *asked = &queue->request->jobs[job];
    struct queue_task *task = &queue->tasks[job];
    struct stay *stay = &queue->outages->stays[job];
    struct training_run counts;
    bool finished;
    stay->progress.share = task->rate * asked->alone / asked->work;
    struct progress ahead = stay->progress;
    ahead.run = memset(&counts, 0, sizeof counts);
    return progress_advance(&ahead, task->since, INFINITY, &finished);
}

double outages_left(const struct queue *queue, uint32_t job)
{
    const struct queue_task *task = &queue->tasks[job];
    struct progress ahead = queue->outages->stays[job].progress;
    struct training_run counts = {0};
    bool finished;
    ahead.run = &counts;
    if (queue->now > task->since)
        progress_advance(&ahead, task->since, queue->now, &finished);
    return fmax(0, queue->request->failures->jobs[job].work - ahead.done);
}

bool outages_stopped(const struct queue *queue, uint32_t job)
{
    return queue->outages->stays[job].stopped;
}

void outages_settle(struct queue *queue, uint32_t job)
{
    bool finished;
    progress_advance(&queue->outages->stays[job].progress, queue->tasks[job].since, queue->now, &finished);
}

void outages_ended(struct queue *queue, uint32_t job)
{
    struct stay *stay = &queue->outages->stays[job];
    struct queue_record *record = &queue->run->records[job];
    bool finished;
    progress_advance(&stay->progress, queue->tasks[job].since, INFINITY, &finished);
    record->saving = stay->counts.parts[PART_CHECKPOINT];
    record->lost = fmax(0, stay->counts.computed - queue->request->failures->jobs[job].work);
    outages_own(queue, job, NO_JOB);
    free(stay->leaving);
    stay->leaving = NULL;
    queue->outages->last = fmax(queue->outages->last, queue->now);
}
