/* SPDX-License-Identifier: Apache-2.0 */
#include "commands/report_kept.h"

#include "analysis/output/comparison_idle.h"
#include "analysis/output/comparison_queue.h"
#include "base/arena.h"
#include "cluster/answers/queue_comparison.h"
#include "cluster/idle/idle_view.h"
#include "cluster/jobs/jobs_view.h"

#include <math.h>

/* ---- several jobs ---- */

static void *read_jobs(const char *path, struct arena *arena, struct diag *diag)
{
    struct jobs_view *view = arena_alloc(arena, sizeof *view);
    return jobs_view_read(path, view, arena, diag) ? view : NULL;
}

static void finish_jobs(void *run)
{
    jobs_view_finish(run);
}

static bool draw_jobs(const struct run_files *files, const void *run, struct fault *fault)
{
    return jobs_view_draw(files, run, fault);
}

const struct kept_kind kept_jobs = {.file = JOBS_SAVED, .read = read_jobs, .finish = finish_jobs, .draw = draw_jobs};

/* ---- queues ---- */

static void *read_queue(const char *path, struct arena *arena, struct diag *diag)
{
    struct queue_page *page = arena_alloc(arena, sizeof *page);
    return queue_page_read(path, page, arena, diag) ? page : NULL;
}

static void finish_queue(void *run)
{
    queue_page_finish(run);
}

static bool draw_queue(const struct run_files *files, const void *run, struct fault *fault)
{
    return queue_page_draw(files, run, fault);
}

static struct gantt *align_queue(const void *run, const struct comparison_row *row)
{
    const struct queue_page *page = run;
    return queue_aligned(&page->drawing, row->schedule);
}

static bool set_queue(struct comparison_row *row, const char *key, double value)
{
    if (!row->queue.known)
        row->queue = (struct comparison_queue){.known = true, .joules = NAN, .kilograms = NAN, .cost = NAN};
    return comparison_queue_set(row, key, value);
}

static bool check_queue(struct comparison_row *row)
{
    row->iteration = row->queue.completion;
    return row->iteration > 0;
}

static const struct kept_rows queue_rows = {"policy", "a figure of a queue",
                                            "a queue with its completion, and the directory of its run", set_queue,
                                            check_queue};
static const struct kept_kind queues = {QUEUE_SAVED, read_queue, finish_queue, draw_queue, &queue_rows, align_queue};

/* ---- idle nodes ---- */

static void *read_idle(const char *path, struct arena *arena, struct diag *diag)
{
    return idle_view_read(path, arena, diag);
}

static void finish_idle(void *run)
{
    (void)run;
}

static bool draw_idle(const struct run_files *files, const void *run, struct fault *fault)
{
    return idle_view_draw(files, run, fault);
}

static struct gantt *align_idle(const void *run, const struct comparison_row *row)
{
    (void)row;
    return idle_view_aligned(run);
}

static bool check_idle(struct comparison_row *row)
{
    return row->idle_nodes.known;
}

static const struct kept_rows idle_rows = {"decided_by", "a figure of idle nodes",
                                           "idle nodes with their figures, and the directory of their run",
                                           comparison_idle_set, check_idle};
static const struct kept_kind idle_nodes = {IDLE_SAVED, read_idle, finish_idle, draw_idle, &idle_rows, align_idle};

const struct kept_kind *const kept_kinds[] = {&kept_jobs, &queues, &idle_nodes, NULL};
