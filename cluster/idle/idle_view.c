/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/idle/idle_view.h"

#include "analysis/pictures/gantt.h"
#include "base/arena.h"
#include "cluster/idle/idle_output.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* More jobs have no rows in the aligned picture of comparisons. */
enum { ALIGNED_JOBS_MAX = 64 };

double idle_way_efficiency(const struct idle_way *way)
{
    return way->dedicated > 0 ? way->work / way->dedicated : 0;
}

double idle_way_attainment(const struct idle_way *way)
{
    return way->best > 0 ? way->work / way->best : 0;
}

/* ---- means over slices ---- */

/* Adds value * time to the slices between two moments, divided by their length. */
static void spread(double *slices, size_t count, double duration, double from, double to, double value)
{
    double length = duration / (double)count;
    for (size_t i = (size_t)fmin((double)count - 1, from / length); i < count && (double)i * length < to; i++) {
        double begin = fmax(from, (double)i * length), end = fmin(to, (double)(i + 1) * length);
        if (end > begin)
            slices[i] += value * (end - begin) / length;
    }
}

static void collect_nodes(const struct idle_study *study, struct idle_view *view)
{
    const struct replay *replay = study->replays[0];
    double idle = 0;
    for (size_t i = 0; i < replay->stay_count; i++) {
        const struct node_stay *stay = &replay->stays[i];
        spread(view->jobs[stay->job].nodes, IDLE_SLICES, replay->duration, stay->from, stay->to, 1);
    }
    for (size_t i = 0; i < study->moments.count; i++) {
        const struct idle_moment *moment = &study->moments.items[i];
        double to = i + 1 < study->moments.count ? moment[1].time : replay->duration;
        idle += (double)moment->joined_count - moment->left_count;
        spread(view->idle, IDLE_SLICES, replay->duration, moment->time, to, idle);
    }
}

static void collect_reached(const struct replay *replay, struct idle_view *view)
{
    double best[IDLE_PARTS_SHOWN] = {0}, work[IDLE_PARTS_SHOWN] = {0}, length = replay->duration / IDLE_PARTS_SHOWN;
    for (size_t i = 0; i < replay->decision_count; i++) {
        const struct replay_decision *decision = &replay->decisions[i];
        double to = i + 1 < replay->decision_count ? decision[1].time : replay->duration;
        size_t part = (size_t)fmin(IDLE_PARTS_SHOWN - 1, decision->time / length);
        spread(best, IDLE_PARTS_SHOWN, replay->duration, decision->time, to, decision->best);
        spread(work, IDLE_PARTS_SHOWN, replay->duration, decision->time, to, decision->rate);
        work[part] -= decision->lost / length;
    }
    for (size_t i = 0; i < IDLE_PARTS_SHOWN; i++)
        view->reached[i] = best[i] > 0 ? fmax(0, work[i] / best[i]) : NAN;
}

/* ---- times with nodes ---- */

static int by_from(const void *left, const void *right)
{
    const struct node_stay *a = left, *b = right;
    return a->from < b->from || a->from > b->from ? (a->from < b->from ? -1 : 1)
                                                  : (a->job > b->job) - (a->job < b->job);
}

static void collect_spans(const struct replay *replay, struct idle_view *view, struct arena *arena)
{
    size_t shown = view->job_count < ALIGNED_JOBS_MAX ? view->job_count : ALIGNED_JOBS_MAX;
    struct node_stay *stays = arena_array(arena, replay->stay_count + 1, sizeof *stays);
    struct idle_shown_span *open = arena_array(arena, shown + 1, sizeof *open);
    view->spans = arena_array(arena, replay->stay_count + shown + 1, sizeof *view->spans);
    if (replay->stay_count)
        memcpy(stays, replay->stays, replay->stay_count * sizeof *stays);
    qsort(stays, replay->stay_count, sizeof *stays, by_from);
    for (size_t i = 0; i < replay->stay_count; i++) {
        if (stays[i].job >= shown)
            continue;
        struct idle_shown_span *span = &open[stays[i].job];
        if (stays[i].from > span->to) {
            if (span->to > span->from)
                view->spans[view->span_count++] = *span;
            span->from = stays[i].from;
        }
        span->job = stays[i].job;
        span->to = fmax(span->to, stays[i].to);
    }
    for (size_t i = 0; i < shown; i++)
        if (open[i].to > open[i].from)
            view->spans[view->span_count++] = open[i];
}

struct gantt *idle_view_aligned(const struct idle_view *view)
{
    struct gantt *gantt = gantt_create(view->ways[0].name, "", GANTT_SECONDS);
    snprintf(gantt->computing, sizeof gantt->computing, "has nodes");
    for (size_t i = 0; i < view->job_count && i < ALIGNED_JOBS_MAX; i++)
        gantt_add_row(gantt, view->jobs[i].name, -1);
    for (size_t i = 0; i < view->span_count; i++) {
        const struct idle_shown_span *span = &view->spans[i];
        if (span->job < gantt->row_count)
            gantt_add_box(gantt, &(struct gantt_box){.start = span->from,
                                                     .end = span->to,
                                                     .row = span->job,
                                                     .number = GANTT_NO_NUMBER,
                                                     .kind = GANTT_COMPUTE});
    }
    gantt_finish(gantt);
    return gantt;
}

/* ---- all of it ---- */

static struct idle_way way_of(const struct idle_study *study, size_t i, struct arena *arena)
{
    const struct replay *replay = study->replays[i];
    return (struct idle_way){.name = idle_policy_name(&study->nodes->policies[i], arena),
                             .decisions = replay->decision_count,
                             .rescales = replay->rescales,
                             .preemptions = replay->preemptions,
                             .used_time = replay->used_time,
                             .work = replay->work,
                             .dedicated = replay->dedicated,
                             .best = replay->best};
}

static struct idle_shown_job job_of(const struct idle_study *study, size_t i, struct arena *arena)
{
    const struct job_figures *figures = &study->replays[0]->jobs[i];
    return (struct idle_shown_job){.name = study->jobs[i].name,
                                   .began = figures->began,
                                   .ended = figures->ended,
                                   .node_time = figures->node_time,
                                   .samples = figures->samples,
                                   .dedicated = figures->dedicated,
                                   .gross = figures->gross,
                                   .grown = figures->grown,
                                   .shrunk = figures->shrunk,
                                   .preempted = figures->preempted,
                                   .nodes = arena_array(arena, IDLE_SLICES, sizeof(double))};
}

struct idle_view *idle_view_create(const struct idle_study *study, const char *name, struct arena *arena)
{
    struct idle_view *view = arena_alloc(arena, sizeof *view);
    const struct replay *first = study->replays[0];
    *view = (struct idle_view){.name = name,
                               .unit = idle_work_unit(study),
                               .nodes = study->log->node_count,
                               .duration = first->duration,
                               .idle_time = first->idle_time,
                               .ways = arena_array(arena, study->nodes->policy_count, sizeof *view->ways),
                               .way_count = study->nodes->policy_count,
                               .jobs = arena_array(arena, study->job_count + 1, sizeof *view->jobs),
                               .job_count = study->job_count};
    for (size_t i = 0; i < view->way_count; i++)
        view->ways[i] = way_of(study, i, arena);
    for (size_t i = 0; i < view->job_count; i++)
        view->jobs[i] = job_of(study, i, arena);
    collect_nodes(study, view);
    collect_reached(first, view);
    collect_spans(first, view, arena);
    return view;
}
