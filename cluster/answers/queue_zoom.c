/* SPDX-License-Identifier: Apache-2.0 */
/* From a month to one iteration of its jobs: what draws it. */
#include "base/arena.h"
#include "base/document.h"
#include "base/words/shell_word.h"
#include "cluster/answers/queue_output.h"
#include "job/scenario/scenario_kind.h"

#include <stdlib.h>
#include <string.h>

/* Kinds of jobs with fewer jobs are not listed. */
enum { KINDS_MAX = 100 };

/* Jobs of a type that ask for as many nodes. */
struct kind {
    uint32_t type, nodes, jobs, first; /* first: one of them */
};

static int by_jobs(const void *left, const void *right)
{
    const struct kind *a = left, *b = right;
    if (a->jobs != b->jobs)
        return a->jobs > b->jobs ? -1 : 1;
    return a->first < b->first ? -1 : 1;
}

static int by_kind(const void *left, const void *right)
{
    const struct kind *a = left, *b = right;
    if (a->type != b->type)
        return a->type < b->type ? -1 : 1;
    if (a->nodes != b->nodes)
        return a->nodes < b->nodes ? -1 : 1;
    return a->first < b->first ? -1 : 1;
}

/* Those with most jobs first. */
static size_t list_kinds(const struct queue_view *view, struct kind *kinds)
{
    const struct queue_request *request = view->run->request;
    size_t count = 0, kept = 0;
    for (uint32_t i = 0; i < request->job_count; i++)
        if (request->jobs[i].kind != UINT32_MAX)
            kinds[count++] = (struct kind){request->jobs[i].kind, request->jobs[i].nodes, 1, i};
    if (count)
        qsort(kinds, count, sizeof *kinds, by_kind);
    for (size_t i = 0; i < count; i++) {
        if (kept && kinds[kept - 1].type == kinds[i].type && kinds[kept - 1].nodes == kinds[i].nodes)
            kinds[kept - 1].jobs++;
        else
            kinds[kept++] = kinds[i];
    }
    if (kept)
        qsort(kinds, kept, sizeof *kinds, by_jobs);
    return kept;
}

/* For another scenario's --set, wherever that one is. */
static const char *platform_of(const struct scenario *scenario, struct arena *arena)
{
    const struct node *node = node_get(scenario->root, "platform");
    const char *value = node ? scenario_platform_value(node, scenario->directory, arena) : scenario->platform.file;
    return shell_word(arena_print(arena, "platform=%s", value), arena);
}

static const char *command_of(const struct queue_view *view, const struct kind *kind, struct arena *arena)
{
    const struct queue_type *type = &view->queue->types[kind->type];
    const struct scenario *scenario = type->scenario;
    const uint32_t *gpus = view->run->request->gpus;
    uint64_t hosts = 0, replica = scenario->mesh.ranks / scenario->data;
    for (uint32_t node = 0; node < kind->nodes; node++)
        hosts += gpus[node];
    return arena_print(arena, "stagesim run %s --set %s --set parallel.data=%llu --set engine=%s -o %s --report",
                       shell_word(scenario->file, arena), platform_of(view->scenario, arena),
                       (unsigned long long)(hosts / replica),
                       view->scenario->engine == ENGINE_ANALYTIC ? "analytic" : "simgrid",
                       shell_word(arena_print(arena, "%s-%u", type->name, kind->nodes), arena));
}

void queue_zoom_page(struct queue_page *page, const struct queue_view *view, struct arena *arena)
{
    const struct queue_request *request = view->run->request;
    struct kind *kinds = arena_array(arena, request->job_count + (size_t)1, sizeof *kinds);
    size_t count = list_kinds(view, kinds);
    if (!count)
        return;
    struct table *table = table_create();
    table_columns(table, "<type", ">nodes", ">jobs", ">iteration alone", "<" QUEUE_COMMAND, NULL);
    for (size_t i = 0; i < count && i < KINDS_MAX; i++) {
        const struct queue_type *type = &view->queue->types[kinds[i].type];
        const struct arrival *arrival = &view->queue->log->arrivals[kinds[i].first];
        double iterations = arrival->iterations > 0 ? arrival->iterations : (double)type->iterations;
        table_cell(table, "%s", type->name);
        table_cell(table, "%u", kinds[i].nodes);
        table_cell(table, "%u", kinds[i].jobs);
        table_seconds(table, request->jobs[kinds[i].first].alone / iterations);
        table_cell(table, "%s", command_of(view, &kinds[i], arena));
    }
    struct queue_section *section = queue_page_table(page, QUEUE_ITERATIONS, table);
    section->notes =
        count > KINDS_MAX
            ? arena_print(arena, "The %d kinds with most jobs, of %zu. On nodes that are neighbours.", KINDS_MAX, count)
            : "What draws an iteration of a job, on nodes that are neighbours.";
}
