/* SPDX-License-Identifier: Apache-2.0 */
/* idle.json, written and read back. */
#include "analysis/output/saved/kept_fields.h"
#include "base/arena.h"
#include "cluster/idle/idle_nodes.h"
#include "cluster/idle/idle_view.h"

#include <math.h>
#include <string.h>

/* Longer than any run, and more than any count; pictures compute with them. */
static const double seconds_most = 1e12, count_most = 9e15;
static const double reached_most = 100; /* a share */

/* ---- writing ---- */

static void write_way(struct json_writer *json, const struct idle_way *way)
{
    json_object_begin(json, NULL, false);
    json_text(json, "name", way->name);
    json_integer(json, "decisions", way->decisions);
    json_integer(json, "rescales", way->rescales);
    json_integer(json, "preemptions", way->preemptions);
    json_number(json, "used_time", way->used_time);
    json_number(json, "work", way->work);
    json_number(json, "dedicated", way->dedicated);
    json_number(json, "best", way->best);
    json_object_end(json);
}

/* Runs of slices in which it has nodes: the number of the first, and the nodes of each. */
static void write_nodes(struct json_writer *json, const double *nodes)
{
    json_array_begin(json, "nodes", false);
    for (size_t i = 0; i < IDLE_SLICES;) {
        if (!(nodes[i] > 0)) {
            i++;
            continue;
        }
        json_array_begin(json, NULL, false);
        json_integer(json, NULL, i);
        for (; i < IDLE_SLICES && nodes[i] > 0; i++)
            json_number(json, NULL, nodes[i]);
        json_array_end(json);
    }
    json_array_end(json);
}

static void write_job(struct json_writer *json, const struct idle_shown_job *job)
{
    json_object_begin(json, NULL, false);
    json_text(json, "name", job->name);
    json_number(json, "began", isfinite(job->began) ? job->began : NAN);
    json_number(json, "ended", isfinite(job->ended) ? job->ended : NAN);
    json_number(json, "node_time", job->node_time);
    json_number(json, "samples", job->samples);
    json_number(json, "dedicated", job->dedicated);
    json_number(json, "gross", job->gross);
    json_integer(json, "grown", job->grown);
    json_integer(json, "shrunk", job->shrunk);
    json_integer(json, "preempted", job->preempted);
    write_nodes(json, job->nodes);
    json_object_end(json);
}

void idle_view_write(FILE *out, const struct idle_view *view)
{
    struct json_writer json = json_writer_init(out);
    json_object_begin(&json, NULL, true);
    json_text(&json, "name", view->name);
    json_text(&json, "unit", view->unit);
    json_integer(&json, "nodes", view->nodes);
    json_number(&json, "duration", view->duration);
    json_number(&json, "idle_time", view->idle_time);
    json_array_begin(&json, "ways", true);
    for (size_t i = 0; i < view->way_count; i++)
        write_way(&json, &view->ways[i]);
    json_array_end(&json);
    json_array_begin(&json, "jobs", true);
    for (size_t i = 0; i < view->job_count; i++)
        write_job(&json, &view->jobs[i]);
    json_array_end(&json);
    json_array_begin(&json, "spans", true);
    for (size_t i = 0; i < view->span_count; i++) {
        json_array_begin(&json, NULL, false);
        json_integer(&json, NULL, view->spans[i].job);
        json_number(&json, NULL, view->spans[i].from);
        json_number(&json, NULL, view->spans[i].to);
        json_array_end(&json);
    }
    json_array_end(&json);
    json_array_begin(&json, "idle", false);
    for (size_t i = 0; i < IDLE_SLICES; i++)
        json_number(&json, NULL, view->idle[i]);
    json_array_end(&json);
    json_array_begin(&json, "reached", false);
    for (size_t i = 0; i < IDLE_PARTS_SHOWN; i++)
        json_number(&json, NULL, isnan(view->reached[i]) ? -1 : view->reached[i]);
    json_array_end(&json);
    json_object_end(&json);
    putc('\n', out);
}

/* ---- reading ---- */

/* A number of a map within bounds. */
static double bounded(struct kept_file *file, const struct node *map, const char *key, double least, double most)
{
    const struct node *node = node_get(map, key);
    double number = kept_number(file, node, map);
    if (number >= least && number <= most)
        return number;
    kept_refuse(file, node ? node : map, "a number that a replay has");
    return least;
}

static uint64_t count_of(struct kept_file *file, const struct node *map, const char *key)
{
    double number = bounded(file, map, key, 0, count_most);
    if (number != floor(number))
        kept_refuse(file, node_get(map, key), "a whole number");
    return (uint64_t)number;
}

static double any(struct kept_file *file, const struct node *map, const char *key)
{
    return kept_number(file, node_get(map, key), map);
}

static void read_ways(struct kept_file *file, const struct node *root, struct idle_view *view)
{
    const struct node *list = kept_list(file, root, "ways");
    view->ways = arena_array(file->arena, list->count + (size_t)1, sizeof *view->ways);
    for (const struct node *node = list->first; node && file->good; node = node->next) {
        if (node->kind != NODE_MAP) {
            kept_refuse(file, node, "a way to decide");
            return;
        }
        view->ways[view->way_count++] = (struct idle_way){.name = kept_text(file, node_get(node, "name"), node),
                                                          .decisions = count_of(file, node, "decisions"),
                                                          .rescales = count_of(file, node, "rescales"),
                                                          .preemptions = count_of(file, node, "preemptions"),
                                                          .used_time = any(file, node, "used_time"),
                                                          .work = any(file, node, "work"),
                                                          .dedicated = any(file, node, "dedicated"),
                                                          .best = any(file, node, "best")};
    }
    if (!list->count || list->count > IDLE_POLICIES_MAX)
        kept_refuse(file, list->first ? list : root, "1 to 64 ways to decide");
}

static void read_nodes(struct kept_file *file, const struct node *map, const struct idle_view *view, double *nodes)
{
    for (const struct node *run = kept_list(file, map, "nodes")->first; run && file->good; run = run->next) {
        const struct node *at = run->kind == NODE_LIST ? run->first : NULL;
        size_t slice = kept_count(file, at, run);
        for (at = kept_next(at); at && file->good; at = at->next, slice++) {
            double mean = kept_number(file, at, run);
            if (slice >= IDLE_SLICES || mean < 0 || mean > view->nodes * (1 + 1e-9))
                kept_refuse(file, at, "the nodes of 336 slices of time");
            else
                nodes[slice] = mean;
        }
    }
}

/* A moment of the replay; INFINITY: there is none. */
static double moment_of(struct kept_file *file, const struct node *map, const char *key)
{
    return node_get(map, key) ? bounded(file, map, key, 0, seconds_most) : INFINITY;
}

static void read_jobs(struct kept_file *file, const struct node *root, struct idle_view *view)
{
    const struct node *list = kept_list(file, root, "jobs");
    if (list->count > IDLE_JOBS_MAX)
        kept_refuse(file, list, "at most 10,000 jobs");
    view->jobs = arena_array(file->arena, list->count + (size_t)1, sizeof *view->jobs);
    for (const struct node *node = list->first; node && file->good; node = node->next) {
        if (node->kind != NODE_MAP) {
            kept_refuse(file, node, "a job");
            return;
        }
        struct idle_shown_job *job = &view->jobs[view->job_count++];
        *job = (struct idle_shown_job){.name = kept_text(file, node_get(node, "name"), node),
                                       .began = moment_of(file, node, "began"),
                                       .ended = moment_of(file, node, "ended"),
                                       .node_time = any(file, node, "node_time"),
                                       .samples = any(file, node, "samples"),
                                       .dedicated = any(file, node, "dedicated"),
                                       .gross = any(file, node, "gross"),
                                       .grown = count_of(file, node, "grown"),
                                       .shrunk = count_of(file, node, "shrunk"),
                                       .preempted = count_of(file, node, "preempted"),
                                       .nodes = arena_array(file->arena, IDLE_SLICES, sizeof(double))};
        read_nodes(file, node, view, job->nodes);
    }
}

static void read_spans(struct kept_file *file, const struct node *root, struct idle_view *view)
{
    const struct node *list = kept_list(file, root, "spans");
    view->spans = arena_array(file->arena, list->count + (size_t)1, sizeof *view->spans);
    for (const struct node *node = list->first; node && file->good; node = node->next) {
        const struct node *at = node->kind == NODE_LIST ? node->first : NULL;
        struct idle_shown_span *span = &view->spans[view->span_count++];
        span->job = kept_count(file, at, node);
        span->from = kept_number(file, at = kept_next(at), node);
        span->to = kept_number(file, kept_next(at), node);
        if (span->job >= view->job_count || span->from < 0 || span->from > span->to ||
            span->to > view->duration * (1 + 1e-9))
            kept_refuse(file, node, "a time with nodes [job, from, to]");
    }
}

/* As many numbers as there are slices, from least to most. */
static void read_slices(struct kept_file *file, const struct node *root, const char *key, size_t count, double least,
                        double most, double *slices)
{
    const struct node *list = kept_list(file, root, key);
    size_t i = 0;
    for (const struct node *node = list->first; node && i < count && file->good; node = node->next, i++) {
        slices[i] = kept_number(file, node, list);
        if (slices[i] < least || slices[i] > most)
            kept_refuse(file, node, "a mean over a slice of time");
    }
    if (i < count || list->count > count)
        kept_refuse(file, list->first ? list : root, "a number for each slice of time");
}

struct idle_view *idle_view_read(const char *path, struct arena *arena, struct diag *diag)
{
    struct kept_file file = {IDLE_SAVED, arena, diag, true};
    struct idle_view *view = arena_alloc(arena, sizeof *view);
    const struct node *root = kept_load(path, &file);
    if (!root)
        return NULL;
    *view = (struct idle_view){.name = kept_text(&file, node_get(root, "name"), root),
                               .unit = kept_text(&file, node_get(root, "unit"), root),
                               .nodes = (uint32_t)bounded(&file, root, "nodes", 1, IDLE_NODES_MAX),
                               .duration = bounded(&file, root, "duration", 1e-9, seconds_most),
                               .idle_time = bounded(&file, root, "idle_time", 0, seconds_most * IDLE_NODES_MAX)};
    read_ways(&file, root, view);
    read_jobs(&file, root, view);
    read_spans(&file, root, view);
    read_slices(&file, root, "idle", IDLE_SLICES, 0, view->nodes * (1 + 1e-9), view->idle);
    read_slices(&file, root, "reached", IDLE_PARTS_SHOWN, -1, reached_most, view->reached);
    for (size_t i = 0; i < IDLE_PARTS_SHOWN; i++)
        if (view->reached[i] < 0)
            view->reached[i] = NAN;
    return file.good ? view : NULL;
}
