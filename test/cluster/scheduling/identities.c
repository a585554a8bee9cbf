/* SPDX-License-Identifier: Apache-2.0 */
/* What must hold of any month in which jobs slow each other down, move to better nodes and give way while nodes fail:
 * no job is lost, no node is two jobs' or in repair meanwhile, all work is done and none twice but what was lost, who
 * is first does not wait while it fits, nodes' time adds up, and Little's law. Random months; how fast jobs are on
 * nodes and beside others is made up. */
#include "cluster/scheduling/figures.h"

#include "base/arena.h"
#include "base/random/draws.h"
#include "test/support/samples.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MONTHS = 3000, JOBS_MOST = 40, NODES_MOST = 48, COMPONENTS = 4, ACCOUNTS = 3 };

struct month {
    uint32_t seed, pod;
    struct draws draws;
    struct queue_job jobs[JOBS_MOST];
    struct training_plan plans[JOBS_MOST], cluster;
    struct failure_component components[COMPONENTS];
    struct distribution times[8];
    struct queue_account accounts[ACCOUNTS];
    struct queue_failures failures;
    struct queue_request request;
    struct queue_run run;
};

/* ---- how fast jobs are ---- */

static uint32_t count_pods(const struct month *month, const uint32_t *nodes, uint32_t count)
{
    uint32_t pods = 0;
    for (uint32_t i = 0; i < count; i++)
        pods += i == 0 || nodes[i] / month->pod != nodes[i - 1] / month->pod;
    return pods;
}

/* Work a second: each further pod takes a quarter more time. */
static double rate_on(const struct month *month, const uint32_t *nodes, uint32_t count)
{
    return 1 / (1 + 0.25 * (count_pods(month, nodes, count) - 1));
}

static double rate(void *user, uint32_t job, const uint32_t *nodes, uint32_t count)
{
    (void)job;
    return rate_on(user, nodes, count);
}

static bool share_pod(const struct month *month, const uint32_t *a, uint32_t a_count, const uint32_t *b,
                      uint32_t b_count)
{
    for (uint32_t i = 0; i < a_count; i++)
        for (uint32_t k = 0; k < b_count; k++)
            if (a[i] / month->pod == b[k] / month->pod)
                return true;
    return false;
}

/* Of jobs in several pods, each that shares a pod takes 30 % more time. */
static double slow_beside(const struct month *month, const uint32_t *own, uint32_t own_count, const uint32_t *other,
                          uint32_t other_count)
{
    bool meet = count_pods(month, own, own_count) > 1 && count_pods(month, other, other_count) > 1 &&
                share_pod(month, own, own_count, other, other_count);
    return meet ? 0.3 : 0;
}

static void beside(void *user, struct queue_neighbour *working, uint32_t count, double cap)
{
    (void)cap;
    for (uint32_t i = 0; i < count; i++) {
        double slow = 1;
        for (uint32_t k = 0; k < count; k++)
            if (k != i)
                slow += slow_beside(user, working[i].nodes, working[i].count, working[k].nodes, working[k].count);
        working[i].rate = working[i].alone / slow;
    }
}

/* ---- a random month ---- */

static uint32_t below(struct month *month, uint32_t count)
{
    return (uint32_t)draw_below(&month->draws, count);
}

static const struct queue_policy *choose_policy(struct month *month)
{
    const struct queue_policy *enduring[16];
    uint32_t count = 0;
    for (size_t i = 0; queue_policies[i]; i++)
        if (queue_policy_endures(queue_policies[i]))
            enduring[count++] = queue_policies[i];
    return enduring[below(month, count)];
}

static void make_failures(struct month *month, uint32_t nodes)
{
    static const double seconds[] = {5, 3, 60, 12, 4, 0.5, 6, 0};
    for (size_t i = 0; i < sizeof seconds / sizeof *seconds; i++)
        month->times[i] = distribution_fixed(seconds[i]);
    month->times[2] = distribution_exponential(200);
    month->components[0] =
        (struct failure_component){"gpu", UNIT_GPU, 60000, 1, EFFECT_STOP, 0, NULL, true, NULL, NULL};
    month->components[1] =
        (struct failure_component){"software", UNIT_NODE, 9000, 1, EFFECT_STOP, 0, NULL, false, NULL, NULL};
    month->components[2] =
        (struct failure_component){"leaf", UNIT_SWITCH, 9000, 1.5, EFFECT_STOP, 0, NULL, true, NULL, NULL};
    month->components[3] =
        (struct failure_component){"firmware", UNIT_NODE, 20000, 1, EFFECT_PLANNED, 0, NULL, true, NULL, NULL};
    const struct distribution *times = month->times;
    month->cluster = (struct training_plan){.work = 1,
                                            .step = 1,
                                            .nodes = nodes,
                                            .gpus_per_node = 8,
                                            .replicas = 1,
                                            .rack = 4,
                                            .behind_switch = month->pod,
                                            .components = month->components,
                                            .component_count = COMPONENTS,
                                            .rate = 1,
                                            .start = &times[7],
                                            .detect = &times[0],
                                            .replacement = &times[1],
                                            .repair = &times[2],
                                            .restart = &times[3],
                                            .load = &times[4],
                                            .load_near = &times[7],
                                            .interval = below(month, 2) ? 30 : INFINITY,
                                            .save = &times[5],
                                            .write = &times[6],
                                            .write_near = &times[7],
                                            .far_interval = INFINITY,
                                            .evaluate_every = INFINITY,
                                            .seed = month->seed};
    month->failures = (struct queue_failures){&month->cluster, month->plans, 0, below(month, 3) ? 0 : 2};
}

static void make_jobs(struct month *month, uint32_t count, uint32_t most)
{
    static const double gaps[] = {0, 1, 5, 20, 60}, lengths[] = {10, 60, 200};
    double now = 1000;
    for (uint32_t i = 0; i < count; i++) {
        struct queue_job *job = &month->jobs[i];
        double seconds = lengths[below(month, 3)] + below(month, 160) / 4.0;
        now += gaps[below(month, 5)] + below(month, 8) / 4.0;
        *job = (struct queue_job){.name = "job",
                                  .submit = now,
                                  .work = seconds,
                                  .alone = seconds,
                                  .nodes = 1 + below(month, below(month, 3) ? most / 3 : most),
                                  .share = 1,
                                  .priority = below(month, 4),
                                  .account = below(month, ACCOUNTS),
                                  .placed = true};
        job->expected = seconds * (0.5 + below(month, 6) / 2.0);
        month->plans[i] = month->cluster;
        month->plans[i].nodes = job->nodes;
        month->plans[i].work = seconds;
    }
}

static void make_month(struct month *month, uint32_t seed)
{
    *month = (struct month){.seed = seed, .draws = draws_of(seed, 41, 0)};
    uint32_t nodes = 6 + below(month, NODES_MOST - 6), count = 5 + below(month, JOBS_MOST - 5);
    month->pod = 2 + below(month, 4);
    make_failures(month, nodes);
    uint32_t most = nodes - month->failures.spares;
    make_jobs(month, count, most);
    for (uint32_t i = 0; i < ACCOUNTS; i++)
        month->accounts[i] = (struct queue_account){"user", 1 + i, most};
    month->request = (struct queue_request){
        .jobs = month->jobs,
        .job_count = count,
        .nodes = nodes,
        .options = {.policy = choose_policy(month),
                    .placement = (enum node_choice)below(month, NODE_CHOICES),
                    .block = month->pod,
                    .save = 7,
                    .resume = 11,
                    .migrate = true,
                    .half_life = 200},
        .rate = rate,
        .user = month,
        .beside = beside,
        .failures = &month->failures,
        .accounts = month->accounts,
        .account_count = ACCOUNTS,
    };
}

/* ---- what must hold ---- */

static void hold(const struct month *month, bool holds, const char *what, uint32_t number, double is, double should)
{
    cr_assert(holds, "month %u, %s: %s %u: %.17g, expected %.17g", month->seed,
              queue_policy_name(month->request.options.policy), what, number, is, should);
}

static bool near(double a, double b)
{
    return fabs(a - b) <= 1e-9 * fmax(1, fmax(fabs(a), fabs(b)));
}

/* Every job begins and ends once, on as many nodes as it asked for, one span after the other. */
static void check_jobs(const struct month *month)
{
    const struct queue_run *run = &month->run;
    for (uint32_t job = 0; job < month->request.job_count; job++) {
        const struct queue_record *record = &run->records[job];
        double end = 0, first = INFINITY;
        for (size_t i = 0; i < run->span_count; i++) {
            const struct queue_span *span = &run->spans[i];
            if (span->job != job)
                continue;
            hold(month, span->from >= end, "a span of a job before the one before", job, span->from, end);
            hold(month, span->to > span->from, "an empty span of job", job, span->to, span->from);
            hold(month, span->stalled >= 0 && span->stalled <= span->to - span->from + 1e-9, "a stall of job", job,
                 span->stalled, span->to - span->from);
            hold(month, span->count == month->jobs[job].nodes, "nodes of job", job, span->count,
                 month->jobs[job].nodes);
            first = fmin(first, span->from);
            end = span->to;
        }
        hold(month, end == record->end && first == record->start, "the end of job", job, end, record->end);
        hold(month, record->start >= month->jobs[job].submit, "the start of job", job, record->start,
             month->jobs[job].submit);
        hold(month, record->requeues <= record->stops, "requeues of job", job, record->requeues, record->stops);
    }
}

struct stretch {
    uint32_t node;
    double from, to;
};

static int by_node(const void *left, const void *right)
{
    const struct stretch *a = left, *b = right;
    if (a->node != b->node)
        return a->node < b->node ? -1 : 1;
    return (a->from > b->from) - (a->from < b->from);
}

/* No node has two owners, and repair is one. */
static void check_nodes(const struct month *month, struct arena *arena)
{
    const struct queue_run *run = &month->run;
    size_t count = 0;
    struct stretch *all = arena_array(arena, run->span_count * NODES_MOST + run->away_count + 1, sizeof *all);
    for (size_t i = 0; i < run->span_count; i++)
        for (uint32_t k = 0; k < run->spans[i].count; k++)
            all[count++] = (struct stretch){run->spans[i].nodes[k], run->spans[i].from, run->spans[i].to};
    for (size_t i = 0; i < run->away_count; i++)
        all[count++] = (struct stretch){run->away[i].node, run->away[i].from, run->away[i].to};
    qsort(all, count, sizeof *all, by_node);
    for (size_t i = 1; i < count; i++)
        hold(month, all[i].node != all[i - 1].node || all[i].from >= all[i - 1].to, "two owners of node", all[i].node,
             all[i].from, all[i - 1].to);
}

static int by_value(const void *left, const void *right)
{
    const double *a = left, *b = right;
    return (*a > *b) - (*a < *b);
}

/* All times at which something may change, in order. */
static double *list_times(const struct month *month, size_t *count, struct arena *arena)
{
    const struct queue_run *run = &month->run;
    double *times =
        arena_array(arena, 3 * run->span_count + 2 * run->away_count + month->request.job_count + 1, sizeof *times);
    *count = 0;
    for (size_t i = 0; i < run->span_count; i++) {
        times[(*count)++] = run->spans[i].from;
        times[(*count)++] = run->spans[i].from + run->spans[i].stalled;
        times[(*count)++] = run->spans[i].to;
    }
    for (size_t i = 0; i < run->away_count; i++) {
        times[(*count)++] = run->away[i].from;
        times[(*count)++] = run->away[i].to;
    }
    for (uint32_t i = 0; i < month->request.job_count; i++)
        times[(*count)++] = month->jobs[i].submit;
    qsort(times, *count, sizeof *times, by_value);
    return times;
}

/* Whether a job that waits would be first; `than` UINT32_MAX: nobody is. */
static bool is_first(const struct month *month, uint32_t job, uint32_t than)
{
    if (than == UINT32_MAX)
        return true;
    const char *policy = queue_policy_name(month->request.options.policy);
    const struct queue_job *a = &month->jobs[job], *b = &month->jobs[than];
    if (!strcmp(policy, "priority"))
        return a->priority > b->priority || (a->priority == b->priority && job < than);
    if (!strcmp(policy, "shortest") || !strcmp(policy, "fair")) /* some job is first: the largest at most */
        return a->nodes > b->nodes;
    return job < than;
}

/* Between two times: what those that work do is added up, and who is first among those that wait does not fit. */
static void check_between(const struct month *month, double from, double to, double *done)
{
    const struct queue_run *run = &month->run;
    double middle = from + (to - from) / 2;
    bool has[JOBS_MOST] = {false};
    const struct queue_span *working[JOBS_MOST];
    uint32_t count = 0, busy = 0, away = 0, first = UINT32_MAX;
    for (size_t i = 0; i < run->span_count; i++) {
        const struct queue_span *span = &run->spans[i];
        if (!(span->from <= middle && middle < span->to))
            continue;
        has[span->job] = true;
        busy += span->count;
        if (middle >= span->from + span->stalled)
            working[count++] = span;
    }
    for (uint32_t i = 0; i < count; i++) {
        double slow = 1;
        for (uint32_t k = 0; k < count; k++)
            if (k != i)
                slow += slow_beside(month, working[i]->nodes, working[i]->count, working[k]->nodes, working[k]->count);
        done[working[i]->job] += (to - from) * rate_on(month, working[i]->nodes, working[i]->count) / slow;
    }
    for (size_t i = 0; i < run->away_count; i++)
        away += run->away[i].from <= middle && middle < run->away[i].to;
    for (uint32_t job = 0; job < month->request.job_count; job++)
        if (!has[job] && month->jobs[job].submit <= middle && middle < run->records[job].end &&
            is_first(month, job, first))
            first = job;
    uint32_t nodes = month->request.nodes, spares = month->failures.spares;
    hold(month, busy + away <= nodes && busy + spares <= nodes, "nodes in use", 0, busy, nodes);
    uint32_t free = nodes - busy - away, most = nodes - spares - busy, fits = free < most ? free : most;
    if (first != UINT32_MAX && to - from > 1e-6)
        hold(month, month->jobs[first].nodes > fits, "it fits and waits: job", first, month->jobs[first].nodes, fits);
}

/* Steps that are done are those of the job and those that were lost; where states are saved, this takes time. */
static void check_work(const struct month *month, struct arena *arena)
{
    double done[JOBS_MOST] = {0};
    size_t count;
    const double *times = list_times(month, &count, arena);
    for (size_t i = 1; i < count; i++)
        if (times[i] > times[i - 1])
            check_between(month, times[i - 1], times[i], done);
    for (uint32_t job = 0; job < month->request.job_count; job++) {
        const struct queue_record *record = &month->run.records[job];
        double steps = month->jobs[job].work + record->lost;
        if (isinf(month->cluster.interval)) {
            hold(month, record->saving == 0, "time to save states of job", job, record->saving, 0);
            hold(month, near(done[job], steps), "steps of job", job, done[job], steps);
        } else { /* no more than at full speed meanwhile */
            hold(month, done[job] <= (steps + record->saving) * (1 + 1e-9) && done[job] >= steps * (1 - 1e-9),
                 "steps of job", job, done[job], steps);
        }
    }
}

/* Jobs that wait and nodes in use over time are what jobs and spans add up to, and the parts of the nodes' time are all
 * of it. */
static void check_figures(const struct month *month, struct arena *arena)
{
    const struct queue_run *run = &month->run;
    struct queue_figures figures;
    double waiting = 0, nodes = 0, waits = 0, had = 0, away = 0, parts = 0, end = 0;
    queue_figures(run, arena, &figures);
    for (size_t i = 0; i + 1 < figures.level_count; i++) {
        const struct queue_level *level = &figures.levels[i];
        waiting += level->waiting * (level[1].time - level->time);
        nodes += level->nodes * (level[1].time - level->time);
    }
    for (uint32_t job = 0; job < month->request.job_count; job++) {
        waits += run->records[job].start - month->jobs[job].submit;
        end = fmax(end, run->records[job].end);
    }
    for (size_t i = 0; i < run->span_count; i++)
        had += run->spans[i].count * (run->spans[i].to - run->spans[i].from);
    for (size_t i = 0; i < run->away_count; i++)
        away += fmin(run->away[i].to, end) - run->away[i].from;
    for (int i = 0; i < QUEUE_PARTS; i++)
        parts += figures.parts[i];
    double all = month->request.nodes * (end - month->jobs[0].submit);
    hold(month, near(waiting, waits), "Little's law", 0, waiting, waits);
    hold(month, near(nodes, had), "nodes in use", 0, nodes, had);
    hold(month, near(figures.allocated, had / all), "allocated", 0, figures.allocated, had / all);
    hold(month, near(parts, 1), "parts of the nodes' time", 0, parts, 1);
    hold(month, near(figures.parts[PART_AWAY], away / all), "time in repair", 0, figures.parts[PART_AWAY], away / all);
}

/* Each stop has a cause; some meet jobs that stand still already. */
static void check_stops(const struct month *month)
{
    uint32_t stops = 0, listed = 0;
    for (uint32_t job = 0; job < month->request.job_count; job++)
        stops += month->run.records[job].stops;
    for (size_t i = 0; i < month->run.outage_count; i++)
        listed += month->run.outages[i].job_count;
    hold(month, stops <= listed, "stops", 0, stops, listed);
}

Test(identities, random_months)
{
    uint64_t moves = 0, stops = 0, gave_way = 0, tried = 0;
    for (uint32_t seed = 0; seed < MONTHS; seed++) {
        static struct month month;
        struct arena *arena = arena_create();
        uint32_t failed = 0;
        if (!in_sample(seed)) {
            arena_destroy(arena);
            continue;
        }
        make_month(&month, seed);
        bool done = queue_run(&month.request, arena, &month.run, &failed);
        hold(&month, done, "it does not end: job", failed, month.run.stuck, 0);
        check_jobs(&month);
        check_nodes(&month, arena);
        check_work(&month, arena);
        check_figures(&month, arena);
        check_stops(&month);
        tried++;
        for (uint32_t job = 0; job < month.request.job_count; job++) {
            moves += month.run.records[job].moves;
            stops += month.run.records[job].stops;
            gave_way += month.run.records[job].changes;
        }
        arena_destroy(arena);
    }
    cr_log_info("%llu months, %llu moves, %llu stops, %llu times a job gave way", (unsigned long long)tried,
                (unsigned long long)moves, (unsigned long long)stops, (unsigned long long)gave_way);
    cr_assert(moves > tried / 4 && stops > tried && gave_way > tried / 8,
              "%llu moves, %llu stops, %llu gave way in %llu", (unsigned long long)moves, (unsigned long long)stops,
              (unsigned long long)gave_way, (unsigned long long)tried);
}
