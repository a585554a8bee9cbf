/* SPDX-License-Identifier: Apache-2.0 */
/* How fast a scenario trains on n nodes: simulated with the analytic engine, once for each n. */
#include "base/arena.h"
#include "cluster/idle/idle_nodes.h"
#include "studies/evaluate.h"

#include <math.h>
#include <string.h>

struct scaling {
    struct scenario_request request;
    struct platform *platform;
    uint32_t node_gpus; /* of the first node */
    uint32_t replica;   /* GPUs of a data-parallel replica */
    struct arena *arena;
    struct diag *diag;
};

static bool report_at(struct diag *diag, struct place at, const char *file, const char *text)
{
    diag_error(diag, at, "%s: %s", file, text);
    return false;
}

static bool load(struct scaling *scaling, struct place at)
{
    const char *why = NULL, *file = scaling->request.file;
    struct fault fault = {""};
    struct scenario *scenario = scenario_load(&scaling->request, scaling->arena, scaling->diag);
    if (!scenario)
        return false;
    struct platform *platform = platform_source_native(&scenario->platform, scaling->arena, &why, &fault);
    if (!platform)
        return report_at(scaling->diag, at, file,
                         fault.text[0] ? fault.text : "its platform has to be a preset or a file of plain clusters");
    scaling->platform = scenario_change_platform(scenario, platform, scaling->arena, scaling->diag);
    if (!scaling->platform)
        return false;
    while (scaling->node_gpus < platform->host_count &&
           !strcmp(platform->hosts[scaling->node_gpus].node, platform->hosts[0].node))
        scaling->node_gpus++;
    scaling->replica = scenario->mesh.ranks / scenario->data;
    return true;
}

static bool simulate_size(const struct scaling *scaling, struct place at, struct curve_point *point)
{
    struct evaluation evaluation;
    uint32_t data = point->nodes * scaling->node_gpus / scaling->replica;
    if (!data || data * scaling->replica > scaling->platform->host_count)
        return report_at(scaling->diag, at, scaling->request.file,
                         arena_print(scaling->arena,
                                     "%u nodes of %u GPUs do not do for it: a replica takes %u GPUs, and its platform "
                                     "has %u; say in 'nodes' how few and how many it can have",
                                     point->nodes, scaling->node_gpus, scaling->replica,
                                     scaling->platform->host_count));
    struct scenario_set set = {"--set", arena_print(scaling->arena, "parallel.data=%u", data)};
    struct evaluation_request request = {
        .scenario = scaling->request, .changes = &set, .change_count = 1, .operations_max = 10000000};
    if (!evaluate(&request, scaling->platform, scaling->arena, scaling->diag, &evaluation))
        return false;
    point->rate = evaluation.report->samples_per_s;
    if (point->rate > 0)
        return true;
    return report_at(scaling->diag, at, scaling->request.file,
                     "it says nothing of samples; expected batch.micro_batch_size");
}

/* Nodes that the platform has. */
static uint32_t nodes_of(const struct scaling *scaling)
{
    return scaling->platform->host_count / scaling->node_gpus;
}

/* least, its doubles, and most. */
static size_t list_sizes(uint64_t least, uint64_t most, struct curve_point *points)
{
    size_t count = 0;
    for (uint64_t size = least; size < most; size *= 2)
        points[count++].nodes = (uint32_t)size;
    points[count++].nodes = (uint32_t)most;
    return count;
}

bool idle_scaling(const struct idle_entry *entry, bool plugins, struct curve_point **points, size_t *count,
                  struct arena *arena, struct diag *diag)
{
    enum { SIZES_MAX = 16 }; /* 1 to CURVE_NODES_MAX */
    struct scaling scaling = {.request = {.file = entry->scenario, .plugins = plugins}, .arena = arena, .diag = diag};
    if (!load(&scaling, entry->curve_at))
        return false;
    uint64_t most = entry->most                            ? entry->most
                    : nodes_of(&scaling) < CURVE_NODES_MAX ? nodes_of(&scaling)
                                                           : CURVE_NODES_MAX;
    *points = arena_array(arena, SIZES_MAX, sizeof **points);
    *count = list_sizes(entry->least < most ? entry->least : most, most, *points);
    for (size_t i = 0; i < *count; i++)
        if (!simulate_size(&scaling, entry->curve_at, &(*points)[i]))
            return false;
    return true;
}
