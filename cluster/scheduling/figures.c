/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/scheduling/figures.h"

#include "base/arena.h"
#include "base/sum.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const queue_figure_names[] = {"wait_s", "completion_s", "slowdown", "bounded_slowdown", "fairness"};
const char *const queue_figure_titles[] = {"waiting", "completion", "slowdown", "bounded slowdown", "fairness"};

const char *const queue_part_names[] = {"useful", "saving", "done_again", "standing", "free", "in_repair"};
const char *const queue_part_titles[] = {"steps that count", "saving states", "steps done again",
                                         "standing still",   "free",          "in repair"};

/* ---- what holds when ---- */

/* How much changes at a time. */
struct change {
    double time;
    int64_t waiting, present;
    int64_t nodes;
};

static int by_time(const void *left, const void *right)
{
    const struct change *a = left, *b = right;
    return a->time < b->time ? -1 : a->time > b->time;
}

static struct change *collect(const struct queue_run *run, size_t *count)
{
    uint32_t jobs = run->request->job_count;
    struct change *changes = array_zeroed(3 * (size_t)jobs + 2 * run->span_count, sizeof *changes);
    *count = 0;
    for (uint32_t job = 0; job < jobs; job++) {
        changes[(*count)++] = (struct change){run->request->jobs[job].submit, 1, 1, 0};
        changes[(*count)++] = (struct change){run->records[job].start, -1, 0, 0};
        changes[(*count)++] = (struct change){run->records[job].end, 0, -1, 0};
    }
    for (size_t i = 0; i < run->span_count; i++) {
        changes[(*count)++] = (struct change){run->spans[i].from, 0, 0, run->spans[i].count};
        changes[(*count)++] = (struct change){run->spans[i].to, 0, 0, -(int64_t)run->spans[i].count};
    }
    qsort(changes, *count, sizeof *changes, by_time);
    return changes;
}

/* The levels, and for each the integral of the number of jobs that are present, up to its time. */
static double *find_levels(const struct queue_run *run, struct arena *arena, struct queue_figures *figures)
{
    size_t count;
    struct change *changes = collect(run, &count), now = {0};
    double *present = array_zeroed(count + 1, sizeof *present);
    struct sum area = {0};
    figures->levels = arena_array(arena, count + 1, sizeof *figures->levels);
    for (size_t i = 0, next; i < count; i = next) {
        if (i)
            sum_add(&area, (double)now.present * (changes[i].time - now.time));
        now.time = changes[i].time;
        for (next = i; next < count && changes[next].time == now.time; next++) {
            now.waiting += changes[next].waiting;
            now.present += changes[next].present;
            now.nodes += changes[next].nodes;
        }
        present[figures->level_count] = sum_total(&area);
        figures->levels[figures->level_count++] =
            (struct queue_level){now.time, (uint32_t)now.waiting, (uint32_t)now.nodes};
        if (now.waiting > figures->longest)
            figures->longest = (uint32_t)now.waiting;
    }
    free(changes);
    return present;
}

/* The level that begins at a time. */
static size_t level_at(const struct queue_figures *figures, double time)
{
    size_t from = 0, past = figures->level_count;
    while (past - from > 1) {
        size_t middle = from + (past - from) / 2;
        if (figures->levels[middle].time <= time)
            from = middle;
        else
            past = middle;
    }
    return from;
}

/* ---- jobs ---- */

static void find_values(const struct queue_run *run, const double *present, struct queue_figures *figures)
{
    for (uint32_t job = 0; job < run->request->job_count; job++) {
        const struct queue_job *asked = &run->request->jobs[job];
        const struct queue_record *record = &run->records[job];
        double completion = record->end - asked->submit;
        double area = present[level_at(figures, record->end)] - present[level_at(figures, asked->submit)];
        /* On one n-th of the cluster it has fewer nodes than it asks for, or not. */
        double others = completion > 0 ? area / completion : 1;
        double share = fmax(1, asked->nodes * others / run->request->nodes);
        figures->values[QUEUE_WAIT][job] = record->start - asked->submit;
        figures->values[QUEUE_COMPLETION][job] = completion;
        figures->values[QUEUE_SLOWDOWN][job] = completion / asked->alone;
        figures->values[QUEUE_BOUNDED][job] = fmax(1, completion / fmax(asked->alone, QUEUE_BOUND));
        figures->values[QUEUE_FAIRNESS][job] = completion / (asked->alone * share);
    }
}

static int ascending(const void *left, const void *right)
{
    const double *a = left, *b = right;
    return *a < *b ? -1 : *a > *b;
}

/* The value that so large a share of the sorted ones does not exceed. */
static double quantile(const double *sorted, uint32_t count, double share)
{
    uint32_t rank = (uint32_t)ceil(share * count);
    return sorted[rank > 0 ? rank - 1 : 0];
}

static struct queue_mean mean_of(const struct queue_run *run, const double *values)
{
    uint32_t count = run->request->job_count;
    struct sum sum = {0}, weighted = {0}, weights = {0};
    double *sorted = array_zeroed(count, sizeof *sorted);
    for (uint32_t job = 0; job < count; job++) {
        double weight = run->request->jobs[job].nodes * run->request->jobs[job].share * run->request->jobs[job].alone;
        sorted[job] = values[job];
        sum_add(&sum, values[job]);
        sum_add(&weighted, weight * values[job]);
        sum_add(&weights, weight);
    }
    qsort(sorted, count, sizeof *sorted, ascending);
    struct queue_mean mean = {sum_total(&sum) / count, quantile(sorted, count, 0.5), quantile(sorted, count, 0.95),
                              sorted[count - 1], sum_total(&weighted) / sum_total(&weights)};
    free(sorted);
    return mean;
}

/* ---- the cluster ---- */

static void find_use(const struct queue_run *run, struct queue_figures *figures)
{
    const struct queue_request *request = run->request;
    struct sum had = {0}, used = {0};
    double last = 0;
    for (size_t i = 0; i < run->span_count; i++) {
        const struct queue_span *span = &run->spans[i];
        sum_add(&had, span->count * (span->to - span->from));
        sum_add(&used, span->count * request->jobs[span->job].share * (span->to - span->from - span->stalled));
    }
    for (uint32_t job = 0; job < request->job_count; job++) {
        last = fmax(last, run->records[job].end);
        figures->changes += run->records[job].changes;
        figures->moves += run->records[job].moves;
    }
    figures->makespan = last - request->jobs[0].submit;
    figures->allocated = sum_total(&had) / (request->nodes * figures->makespan);
    figures->busy = sum_total(&used) / (request->nodes * figures->makespan);
    figures->node_hours = sum_total(&had) / 3600;
}

static void find_parts(const struct queue_run *run, struct queue_figures *figures)
{
    const struct queue_request *request = run->request;
    struct sum standing = {0}, saving = {0}, again = {0}, away = {0};
    double all = request->nodes * figures->makespan;
    for (size_t i = 0; i < run->span_count; i++)
        sum_add(&standing, run->spans[i].count * run->spans[i].stalled);
    for (uint32_t job = 0; job < request->job_count; job++) {
        sum_add(&saving, request->jobs[job].nodes * run->records[job].saving);
        sum_add(&again, request->jobs[job].nodes * run->records[job].lost);
        figures->stops += run->records[job].stops;
        figures->requeues += run->records[job].requeues;
    }
    for (size_t i = 0; i < run->away_count; i++)
        sum_add(&away, run->away[i].to - run->away[i].from);
    figures->parts[PART_SAVING] = sum_total(&saving) / all;
    figures->parts[PART_AGAIN] = sum_total(&again) / all;
    figures->parts[PART_STANDING] = sum_total(&standing) / all;
    figures->parts[PART_AWAY] = sum_total(&away) / all;
    figures->parts[PART_USEFUL] =
        figures->allocated - figures->parts[PART_SAVING] - figures->parts[PART_AGAIN] - figures->parts[PART_STANDING];
    figures->running = figures->allocated - figures->parts[PART_STANDING];
    figures->parts[PART_FREE] = fmax(0, 1 - figures->allocated - figures->parts[PART_AWAY]);
}

void queue_figures(const struct queue_run *run, struct arena *arena, struct queue_figures *figures)
{
    memset(figures, 0, sizeof *figures);
    double *present = find_levels(run, arena, figures);
    for (int i = 0; i < QUEUE_FIGURES; i++)
        figures->values[i] = arena_array(arena, run->request->job_count, sizeof *figures->values[i]);
    find_values(run, present, figures);
    for (int i = 0; i < QUEUE_FIGURES; i++)
        figures->means[i] = mean_of(run, figures->values[i]);
    find_use(run, figures);
    find_parts(run, figures);
    queue_fragments(run, figures->makespan, &figures->fragments);
    queue_energy(run, figures->makespan, arena, &figures->energy);
    free(present);
}
