/* SPDX-License-Identifier: Apache-2.0 */
/* What the page and the picture of idle nodes show, as plain data: written beside them, so that `report` draws them
 * again. */
#ifndef STAGESIM_IDLE_VIEW_H
#define STAGESIM_IDLE_VIEW_H

#include "analysis/output/run_files.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct arena;
struct diag;
struct idle_study;

#define IDLE_SAVED "idle.json"

/* Pictures show means over slices of time; of a week: half an hour, and two hours. */
enum { IDLE_SLICES = 336, IDLE_PARTS_SHOWN = 84 };

/* A way to decide. */
struct idle_way {
    const char *name; /* "optimal, 120 s" */
    uint64_t decisions, rescales, preemptions;
    double used_time;             /* node-seconds */
    double work, dedicated, best; /* as in struct replay */
};

/* A job under the first way. */
struct idle_shown_job {
    const char *name;
    double began, ended; /* seconds; INFINITY: not */
    double node_time, samples, dedicated, gross;
    uint64_t grown, shrunk, preempted;
    double *nodes; /* [IDLE_SLICES]: that it has, on average; from the arena */
};

/* A time for which a job of the aligned picture of comparisons has nodes. */
struct idle_shown_span {
    uint32_t job;
    double from, to;
};

struct idle_view {
    const char *name, *unit; /* of the scenario; what work is counted in */
    uint32_t nodes;
    double duration, idle_time; /* seconds, node-seconds */
    struct idle_way *ways;      /* [way_count], at least one; the first is the one that is shown */
    size_t way_count;
    struct idle_shown_job *jobs; /* [job_count] */
    size_t job_count;
    struct idle_shown_span *spans; /* [span_count] */
    size_t span_count;
    double idle[IDLE_SLICES];         /* nodes, on average */
    double reached[IDLE_PARTS_SHOWN]; /* share of the best; NAN: there was nothing to do */
};

/* Of a study whose replays have run; texts and lists from the arena, or the study's. */
struct idle_view *idle_view_create(const struct idle_study *study, const char *name, struct arena *arena);

/* work / dedicated, work / best. */
double idle_way_efficiency(const struct idle_way *way);
double idle_way_attainment(const struct idle_way *way);

/* idle.json. */
void idle_view_write(FILE *out, const struct idle_view *view);
/* NULL after mistakes were reported. Memory from the arena. */
struct idle_view *idle_view_read(const char *path, struct arena *arena, struct diag *diag);

/* Jobs as rows, with a box for each time in which a job has nodes. The caller destroys it. */
struct gantt *idle_view_aligned(const struct idle_view *view);

/* Nodes over time by job, and below it how much of the best was reached. False with the fault filled. */
bool idle_picture(const struct idle_view *view, enum canvas_format format, const struct picture_form *form, FILE *out,
                  struct fault *fault);
bool idle_page_write(FILE *out, const struct idle_view *view, struct fault *fault);
/* The pictures and report.html, those that are open. False with the fault filled. */
bool idle_view_draw(const struct run_files *files, const struct idle_view *view, struct fault *fault);

#endif
