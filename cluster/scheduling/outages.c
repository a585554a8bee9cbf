/* SPDX-License-Identifier: Apache-2.0 */
/* A job that a failure stops keeps its nodes until that is noticed. Then those that leave for repair are replaced by
 * free ones, or it waits again; then it starts from the last state that is safe. What a job does in between is
 * training/progress.h. */
#include "cluster/scheduling/outages.h"

#include "base/arena.h"
#include "cluster/scheduling/outage_parts.h"

#include <math.h>
#include <stdlib.h>

/* A job that is stopped more often is given up, or where no job ends for so many times the longest and so long. */
enum { STOPS_MAX = 10000 };
static const double GIVEN_UP = 200, GIVEN_UP_SECONDS = 1e7;

double outages_next(const struct outages *outages)
{
    return fmin(outages->back, outages->begin + clocks_next(outages->clocks));
}

/* ---- nodes ---- */

static void change_nodes(struct queue *queue)
{
    const struct queue_policy *policy = queue->request->options.policy;
    if (policy->nodes_changed)
        policy->nodes_changed(queue);
}

/* It is nobody's. */
static void send_away(struct queue *queue, const struct repair *leaving)
{
    struct outages *outages = queue->outages;
    struct queue_run *run = queue->run;
    const struct training_plan *plan = queue->request->failures->cluster;
    double back = queue->now + leaving->time;
    if (plan->lemon_strikes && ++outages->strikes[leaving->node] >= plan->lemon_strikes) {
        outages->strikes[leaving->node] = 0;
        clocks_exchange(outages->clocks, leaving->node);
    }
    outages->owner[leaving->node] = AWAY;
    outages->repairs =
        array_grow(outages->repairs, &outages->repair_capacity, outages->repair_count + 1, sizeof *outages->repairs);
    outages->repairs[outages->repair_count++] = (struct repair){leaving->node, back};
    outages->back = fmin(outages->back, back);
    run->away = array_grow(run->away, &outages->away_capacity, run->away_count + 1, sizeof *run->away);
    run->away[run->away_count++] = (struct queue_away){leaving->node, queue->now, back};
}

static bool come_back(struct queue *queue)
{
    struct outages *outages = queue->outages;
    size_t left = 0;
    if (outages->back > queue->now)
        return false;
    outages->back = INFINITY;
    for (size_t i = 0; i < outages->repair_count; i++) {
        struct repair repair = outages->repairs[i];
        if (repair.time <= queue->now) {
            outages->owner[repair.node] = NO_JOB;
            node_pool_give(queue->pool, &repair.node, 1);
        } else {
            outages->repairs[left++] = repair;
            outages->back = fmin(outages->back, repair.time);
        }
    }
    outages->repair_count = left;
    change_nodes(queue);
    return true;
}

/* ---- failures ---- */

static struct queue_outage draw_outage(const struct queue *queue, struct failure *failure)
{
    const struct failure_component *component = failure->component;
    const struct training_plan *plan = queue->request->failures->cluster;
    struct queue_outage outage = {queue->now, component, failure->first, failure->count, 0, 0, 0, NULL, NULL, 0};
    if (component->effect != EFFECT_PLANNED)
        outage.detection = distribution_draw(component->detect ? component->detect : plan->detect, &failure->draws);
    if (component->replace) {
        double *repairs = arena_array(queue->arena, (size_t)failure->count + 1, sizeof *repairs);
        for (uint32_t i = 0; i < failure->count; i++)
            repairs[i] = distribution_draw(component->repair ? component->repair : plan->repair, &failure->draws);
        outage.repairs = repairs;
        outage.replacement = distribution_draw(plan->replacement, &failure->draws);
    }
    outage.back = distribution_draw(plan->restart, &failure->draws);
    return outage;
}

/* Its nodes of the unit leave when this is noticed, and it has to start anew. */
static void mark(struct queue *queue, uint32_t job, const struct queue_outage *outage, const struct failure *failure)
{
    struct stay *stay = &queue->outages->stays[job];
    struct draws draws = failure->draws;
    if (stay->stopped && !outage->repairs)
        return;
    for (uint32_t i = 0; i < outage->count && outage->repairs; i++) {
        if (queue->outages->owner[outage->first + i] != job)
            continue;
        bool known = false;
        for (size_t k = 0; k < stay->leaving_count; k++)
            known |= stay->leaving[k].node == outage->first + i;
        stay->leaving =
            array_grow(stay->leaving, &stay->leaving_capacity, stay->leaving_count + 1, sizeof *stay->leaving);
        if (!known)
            stay->leaving[stay->leaving_count++] = (struct repair){outage->first + i, outage->repairs[i]};
    }
    stay->replacement = outage->replacement;
    stay->again = outage->replacement + outage->back + distribution_draw(stay->progress.plan->load, &draws);
}

/* How long it stands still until something is done. */
static double stop(struct queue *queue, uint32_t job, const struct queue_outage *outage, const struct failure *failure)
{
    struct queue_task *task = &queue->tasks[job];
    struct stay *stay = &queue->outages->stays[job];
    bool planned = outage->component->effect == EFFECT_PLANNED, finished;
    struct draws draws = failure->draws;
    queue_close_span(queue, job);
    if (queue->now < task->since)
        return planned || queue->now < stay->replaced ? 0 : outage->detection;
    progress_advance(&stay->progress, task->since, queue->now, &finished);
    if (!planned) {
        progress_stop(&stay->progress, queue->now, true, NULL);
        return outage->detection;
    }
    progress_keep(&stay->progress, queue->now);
    return distribution_draw(stay->progress.plan->save, &draws);
}

static void hit(struct queue *queue, uint32_t job, const struct queue_outage *outage, const struct failure *failure)
{
    struct queue_task *task = &queue->tasks[job];
    struct stay *stay = &queue->outages->stays[job];
    const struct queue_policy *policy = queue->request->options.policy;
    if (!stay->stopped) {
        double still = stop(queue, job, outage, failure);
        mark(queue, job, outage, failure);
        stay->stopped = true;
        queue->run->records[job].stops++;
        queue_stand(queue, job, queue->now + still);
    } else {
        mark(queue, job, outage, failure);
    }
    task->due = task->since + outages_expected(queue, job);
    if (policy->postponed)
        policy->postponed(queue, job);
}

/* It works, saves its state, and what comes then is seen to in outages_noticed. */
static void save_state(struct queue *queue, uint32_t job)
{
    struct queue_task *task = &queue->tasks[job];
    struct stay *stay = &queue->outages->stays[job];
    const struct queue_options *options = &queue->request->options;
    bool finished;
    queue_close_span(queue, job);
    double still = queue->now < task->since ? 0 : options->save;
    if (queue->now >= task->since) {
        progress_advance(&stay->progress, task->since, queue->now, &finished);
        progress_keep(&stay->progress, queue->now);
    }
    stay->stopped = true;
    stay->replacement = 0;
    stay->again = options->resume;
    queue_stand(queue, job, queue->now + still);
    task->due = task->since + outages_expected(queue, job);
    if (options->policy->postponed)
        options->policy->postponed(queue, job);
}

void outages_yield(struct queue *queue, uint32_t job)
{
    queue->tasks[job].yields = true;
    if (!queue->outages->stays[job].stopped) /* otherwise it waits again when that is noticed */
        save_state(queue, job);
}

void outages_move(struct queue *queue, uint32_t job)
{
    queue->tasks[job].moves = true;
    queue->moving = job;
    save_state(queue, job);
}

/* Free nodes leave at once; jobs are stopped. False where all nodes are away. */
static bool meet(struct queue *queue, struct queue_outage *outage, const struct failure *failure)
{
    struct outages *outages = queue->outages;
    uint32_t *jobs = arena_array(queue->arena, (size_t)outage->count + 1, sizeof *jobs);
    bool met = false, left = false;
    for (uint32_t i = 0; i < outage->count; i++) {
        uint32_t node = outage->first + i, owner = outages->owner[node];
        met |= owner != AWAY;
        if (owner == NO_JOB && outage->repairs) {
            node_pool_take_node(queue->pool, node);
            send_away(queue, &(struct repair){node, outage->repairs[i]});
            left = true;
        }
        if (owner == NO_JOB || owner == AWAY)
            continue;
        uint32_t known = 0;
        while (known < outage->job_count && jobs[known] != owner)
            known++;
        jobs[known] = owner;
        outage->job_count += known == outage->job_count;
    }
    outage->jobs = jobs;
    for (uint32_t i = 0; i < outage->job_count; i++)
        hit(queue, jobs[i], outage, failure);
    if (left)
        change_nodes(queue);
    return met;
}

bool outages_pass(struct queue *queue)
{
    struct outages *outages = queue->outages;
    struct queue_run *run = queue->run;
    bool happened = come_back(queue);
    while (outages->begin + clocks_next(outages->clocks) <= queue->now) {
        struct failure failure = clocks_take(outages->clocks);
        struct queue_outage outage = draw_outage(queue, &failure);
        if (!meet(queue, &outage, &failure))
            continue;
        run->outages = array_grow(run->outages, &outages->outage_capacity, run->outage_count + 1, sizeof *run->outages);
        run->outages[run->outage_count++] = outage;
        happened = true;
    }
    return happened;
}

/* ---- what is done about it ---- */

static bool leaves(const struct stay *stay, uint32_t node)
{
    size_t i = 0;
    while (i < stay->leaving_count && stay->leaving[i].node != node)
        i++;
    return i < stay->leaving_count;
}

static int ascending(const void *left, const void *right)
{
    const uint32_t *a = left, *b = right;
    return *a < *b ? -1 : *a > *b;
}

/* Those that leave do, and the task has the others; returns how many it asked for. */
static uint32_t part(struct queue *queue, uint32_t job)
{
    struct queue_task *task = &queue->tasks[job];
    const struct stay *stay = &queue->outages->stays[job];
    uint32_t asked = task->count, kept = 0, *nodes = arena_array(queue->arena, asked, sizeof *nodes);
    for (uint32_t i = 0; i < asked; i++)
        if (!leaves(stay, task->nodes[i]))
            nodes[kept++] = task->nodes[i];
    for (size_t i = 0; i < stay->leaving_count; i++)
        send_away(queue, &stay->leaving[i]);
    task->nodes = nodes;
    task->count = kept;
    return asked;
}

/* It moves: its nodes are as good as any others. */
static void leave_all(struct queue *queue, uint32_t job)
{
    struct queue_task *task = &queue->tasks[job];
    outages_own(queue, job, NO_JOB);
    node_pool_give(queue->pool, task->nodes, task->count);
    task->count = 0;
    task->moves = false;
    queue->moving = NO_JOB;
}

static void wait_again(struct queue *queue, uint32_t job)
{
    const struct queue_policy *policy = queue->request->options.policy;
    outages_own(queue, job, NO_JOB);
    policy->ended(queue, job);
    queue_enlist(queue, job);
    queue->run->records[job].requeues += !queue->tasks[job].yields;
    queue->tasks[job].yields = false;
    if (policy->again)
        policy->again(queue, job);
}

bool outages_noticed(struct queue *queue, uint32_t job)
{
    struct queue_task *task = &queue->tasks[job];
    struct stay *stay = &queue->outages->stays[job];
    if (!stay->stopped)
        return false;
    stay->stopped = false;
    queue_close_span(queue, job);
    bool left = stay->leaving_count > 0;
    uint32_t asked = part(queue, job);
    stay->leaving_count = 0;
    bool moves = task->moves;
    if (moves)
        leave_all(queue, job);
    uint32_t missing = asked - task->count;
    if (missing <= node_pool_free(queue->pool) && !task->yields) {
        if (missing)
            node_pool_take(queue->pool, missing, task->nodes + task->count);
        task->count = asked;
        qsort(task->nodes, asked, sizeof *task->nodes, ascending);
        queue->run->records[job].moves += moves;
        queue_resume(queue, job, outages_begin(queue, job));
        const struct queue_policy *policy = queue->request->options.policy;
        if (policy->postponed)
            policy->postponed(queue, job);
    } else {
        wait_again(queue, job);
    }
    if (left)
        change_nodes(queue);
    return true;
}

/* ---- the end ---- */

bool outages_stuck(const struct queue *queue)
{
    const struct outages *outages = queue->outages;
    const struct queue_run *run = queue->run;
    const struct queue_outage *last = run->outage_count ? &run->outages[run->outage_count - 1] : NULL;
    for (uint32_t i = 0; last && i < last->job_count; i++)
        if (run->records[last->jobs[i]].stops > STOPS_MAX)
            return true;
    return queue->now > outages->last + GIVEN_UP * outages->longest + GIVEN_UP_SECONDS;
}

void outages_finish(struct queue *queue)
{
    struct queue_run *run = queue->run;
    struct queue_outage *outages = arena_array(queue->arena, run->outage_count + 1, sizeof *outages);
    struct queue_away *away = arena_array(queue->arena, run->away_count + 1, sizeof *away);
    for (size_t i = 0; i < run->outage_count; i++)
        outages[i] = run->outages[i];
    for (size_t i = 0; i < run->away_count; i++) {
        away[i] = run->away[i];
        away[i].to = fmin(away[i].to, queue->now);
    }
    free(run->outages);
    free(run->away);
    run->outages = outages;
    run->away = away;
}
