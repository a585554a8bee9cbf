/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/answers/queue_page.h"

#include "base/arena.h"
#include "base/bulk.h"
#include "cluster/answers/queue_output.h"

#include <stdlib.h>

enum { JOBS_MAX_SHOWN = 500 };

/* Nodes are not drawn with more boxes; levels are joined where there are more. */
enum { BOXES_MAX = 20000, LEVELS_MAX = 32768 };

/* ---- texts ---- */

static const char *verdict_of(const struct queue_view *view, struct arena *arena)
{
    const struct queue_figures *figures = view->figures;
    char wait[READABLE_MAX], completion[READABLE_MAX];
    return arena_print(arena, "With %s, %u jobs wait %s on average and are done %s after they come.",
                       queue_policy_title(view->queue->options.policy), view->run->request->job_count,
                       readable_seconds(wait, figures->means[QUEUE_WAIT].mean),
                       readable_seconds(completion, figures->means[QUEUE_COMPLETION].mean));
}

static const char *notes_of(const struct queue_view *view, struct arena *arena)
{
    char text[160], *lines = NULL;
    size_t size = 0;
    FILE *said = memory_stream_open(&lines, &size);
    if (view->queue->contention)
        queue_contention_print(said, view);
    else
        fputs("Jobs do not slow each other down here: each runs as if it had the network alone.", said);
    memory_stream_close(said);
    const char *notes = arena_print(arena, "%s: %s. %s.\n%s", queue_policy_name(view->queue->options.policy),
                                    queue_policy_summary(view->queue->options.policy),
                                    queue_evaluations(text, sizeof text, view), lines);
    free(lines);
    return notes;
}

static void put_tiles(struct queue_page *page, const struct queue_view *view, struct arena *arena)
{
    const struct queue_figures *figures = view->figures;
    char text[READABLE_MAX + 16];
    queue_page_tile(page, readable_seconds(text, figures->makespan), "makespan", arena);
    queue_page_tile(page, readable_percent(text, figures->allocated), "of the nodes' time given to jobs", arena);
    queue_page_tile(page, readable_percent(text, figures->running), "running", arena);
    queue_page_tile(page, readable_percent(text, figures->parts[PART_USEFUL]), "useful: steps that count", arena);
    queue_page_tile(page, readable_percent(text, figures->fragments.waiting), "free while jobs wait", arena);
    queue_page_tile(page, readable_percent(text, figures->fragments.cluster), "of free nodes' time fragmented", arena);
    snprintf(text, sizeof text, "%u", figures->longest);
    queue_page_tile(page, text, "jobs waiting at most", arena);
    snprintf(text, sizeof text, "%.3g", figures->means[QUEUE_BOUNDED].mean);
    queue_page_tile(page, text, "bounded slowdown, mean", arena);
    snprintf(text, sizeof text, "%.3g", figures->means[QUEUE_FAIRNESS].mean);
    queue_page_tile(page, text, "fairness, mean", arena);
    queue_energy_tiles(page, view, arena);
}

static void put_means(struct queue_page *page, const struct queue_view *view)
{
    struct queue_section *section = queue_page_table(page, "Figures", queue_means_table(view));
    section->sorts = false;
    section->notes =
        "Waiting: from coming to the first start. Completion: from coming to the end. Slowdown: completion over the "
        "time alone. Bounded slowdown takes jobs to run 10 s at least. Fairness: completion over the time that the job "
        "would take on one n-th of the cluster, n jobs being there while it is. The weighted mean is by GPU-hours.";
}

static void put_jobs(struct queue_page *page, const struct queue_view *view, struct arena *arena)
{
    uint32_t count = view->run->request->job_count;
    struct table *table = table_create();
    table_columns(table, "<job", "<type", ">nodes", ">comes at", NULL);
    for (int i = 0; i < QUEUE_FIGURES; i++)
        table_column(table, queue_figure_titles[i], '>');
    table_column(table, "changes", '>');
    if (view->queue->options.migrate)
        table_column(table, "moves", '>');
    for (uint32_t number = 0; number < count && number < JOBS_MAX_SHOWN; number++) {
        const struct queue_job *job = &view->run->request->jobs[number];
        table_cell(table, "%s", job->name);
        table_cell(table, "%s", queue_type_name(view, job->kind));
        table_cell(table, "%u", job->nodes);
        table_seconds(table, job->submit);
        for (enum queue_figure i = 0; i < QUEUE_FIGURES; i++)
            queue_figure_cell(table, i, view->figures->values[i][number]);
        table_cell(table, "%u", view->run->records[number].changes);
        if (view->queue->options.migrate)
            table_cell(table, "%u", view->run->records[number].moves);
    }
    struct queue_section *section = queue_page_table(page, QUEUE_JOBS, table);
    if (count > JOBS_MAX_SHOWN)
        section->notes = arena_print(arena, "The first %d of %u jobs; jobs.csv has all.", JOBS_MAX_SHOWN, count);
}

static const char *chart_notes_of(const struct queue_view *view, struct arena *arena)
{
    return arena_print(
        arena, "%s%s",
        view->figures->changes ? "Hatched: the job has its nodes but stands still, since rows or sizes change.\n" : "",
        queue_fails(view) ? "Hatched: the job has its nodes but stands still after a failure. Black: the node is in "
                            "repair.\n"
                          : "");
}

/* ---- the picture ---- */

static const char *describe(const struct queue_view *view, bool draws, struct arena *arena)
{
    char busy[READABLE_MAX], given[READABLE_MAX], wait[READABLE_MAX];
    return arena_print(
        arena, "%u jobs on %u nodes, %s: %s of the nodes' time given to jobs, %s busy, mean waiting %s%s",
        view->run->request->job_count, view->run->request->nodes, queue_policy_title(view->queue->options.policy),
        readable_percent(given, view->figures->allocated), readable_percent(busy, view->figures->busy),
        readable_seconds(wait, view->figures->means[QUEUE_WAIT].mean), draws ? "" : "; " QUEUE_NOT_DRAWN);
}

static size_t list_boxes(const struct queue_run *run, struct queue_box *boxes)
{
    size_t count = 0;
    for (size_t i = 0; i < run->span_count; i++) {
        const struct queue_span *span = &run->spans[i];
        for (uint32_t k = 0, past; k < span->count; k = past, count++) {
            for (past = k + 1; past < span->count && span->nodes[past] == span->nodes[past - 1] + 1; past++) {}
            if (boxes)
                boxes[count] =
                    (struct queue_box){span->job,  span->nodes[k], past - k,     run->request->jobs[span->job].name,
                                       span->from, span->to,       span->stalled};
        }
    }
    return count;
}

/* The highest of each slice of time, of a month of any length as many. */
static void join_levels(struct queue_drawing *drawing, struct arena *arena)
{
    const struct queue_level *all = drawing->levels;
    struct queue_level *joined = arena_array(arena, LEVELS_MAX + 1, sizeof *joined);
    size_t count = 0, slice = 0;
    for (size_t i = 0; i < drawing->level_count; i++) {
        size_t own = (size_t)((all[i].time - drawing->begin) / drawing->span * (LEVELS_MAX - 1));
        if (count && own == slice) {
            struct queue_level *last = &joined[count - 1];
            last->waiting = all[i].waiting > last->waiting ? all[i].waiting : last->waiting;
            last->nodes = all[i].nodes > last->nodes ? all[i].nodes : last->nodes;
        } else {
            joined[count++] = all[i];
        }
        slice = own;
    }
    drawing->levels = joined;
    drawing->level_count = count;
}

static struct queue_drawing drawing_of(const struct queue_view *view, struct arena *arena)
{
    const struct queue_run *run = view->run;
    struct queue_drawing drawing = {.title = view->scenario->name,
                                    .nodes = run->request->nodes,
                                    .longest = view->figures->longest,
                                    .begin = run->request->jobs[0].submit,
                                    .span = view->figures->makespan,
                                    .levels = view->figures->levels,
                                    .level_count = view->figures->level_count};
    if (drawing.level_count > LEVELS_MAX)
        join_levels(&drawing, arena);
    drawing.box_count = list_boxes(run, NULL);
    drawing.draws = drawing.box_count <= BOXES_MAX;
    drawing.description = describe(view, drawing.draws, arena);
    if (!drawing.draws) {
        drawing.box_count = 0;
        return drawing;
    }
    drawing.boxes = arena_array(arena, drawing.box_count + 1, sizeof *drawing.boxes);
    list_boxes(run, drawing.boxes);
    drawing.away = run->away;
    drawing.away_count = run->away_count;
    return drawing;
}

struct queue_page queue_page_create(const struct queue_view *view, struct arena *arena)
{
    struct queue_page page = {.line =
                                  arena_print(arena, "%u jobs on %u nodes of %.200s, %s", view->run->request->job_count,
                                              view->run->request->nodes, view->scenario->platform_name,
                                              queue_policy_title(view->queue->options.policy)),
                              .verdict = verdict_of(view, arena),
                              .notes = notes_of(view, arena),
                              .chart_notes = chart_notes_of(view, arena),
                              .drawing = drawing_of(view, arena)};
    put_tiles(&page, view, arena);
    queue_alternatives_page(&page, view, arena);
    put_means(&page, view);
    queue_answers_page(&page, view);
    queue_failures_page(&page, view);
    put_jobs(&page, view, arena);
    queue_zoom_page(&page, view, arena);
    return page;
}
