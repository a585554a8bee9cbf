/* SPDX-License-Identifier: Apache-2.0 */
/* A search as its caller sees it: what can be searched, what came back, strategies as text. */
#include "base/arena.h"
#include "base/exit_code.h"
#include "studies/operators/strategy_search.h"
#include "studies/simulation.h"
#include "workloads/layers/layers.h"

#include <stdio.h>
#include <string.h>

static const char *const dimension_names[CONFIGURATION_DIMENSIONS] = {"sample", "height", "width", "in", "out"};

static bool read_row(FILE *results, uint32_t layers, struct strategy_row *row, struct arena *arena)
{
    bool ok = fread(row, sizeof *row, 1, results) == 1;
    row->configurations = arena_array(arena, layers, sizeof *row->configurations);
    return ok && fread(row->configurations, sizeof *row->configurations, layers, results) == layers;
}

static bool read_table(FILE *results, struct strategy_table *table, struct arena *arena)
{
    bool ok = fread(table, sizeof *table, 1, results) == 1;
    if (!ok)
        return false;
    table->starts = arena_array(arena, table->start_count, sizeof *table->starts);
    ok = fread(table->starts, sizeof *table->starts, table->start_count, results) == table->start_count;
    table->bests = arena_array(arena, table->start_count, sizeof *table->bests);
    for (int i = 0; i < STRATEGY_ROWS && ok; i++)
        ok = read_row(results, table->layers, &table->rows[i], arena);
    for (uint32_t i = 0; i < table->start_count && ok; i++)
        ok = read_row(results, table->layers, &table->bests[i], arena);
    return ok;
}

/* A strategy names layers. */
static void check_names(const struct scenario *scenario, const struct layers_parameters *p, struct diag *diag)
{
    const struct layer *layers = p->layers.rows;
    for (size_t i = 0; i < p->layers.count; i++) {
        size_t other = 0;
        while (other < i && strcmp(layers[other].name, layers[i].name) != 0)
            other++;
        if (other == i && !strchr(layers[i].name, '*'))
            continue;
        diag_error(diag, scenario_place(scenario, "model"),
                   "the layer '%.60s' %s; expected names of their own without *", layers[i].name,
                   other < i ? "is there twice" : "has a * in its name");
        return;
    }
}

/* What the search cannot do. */
static bool check(const struct scenario *scenario)
{
    struct diag diag = {.out = stderr};
    const struct layers_parameters *p = scenario->parameters;
    const struct mesh *mesh = &scenario->mesh;
    if (mesh_size(mesh, "data") != mesh->ranks)
        diag_error(&diag, scenario_place(scenario, "parallel"),
                   "strategies are searched for %u ranks that are all on the data axis; expected parallel: {data: %u}",
                   mesh->ranks, mesh->ranks);
    if (mesh->ranks > OPERATORS_DEVICES_MAX)
        diag_error(&diag, scenario_place(scenario, "parallel"), "%u ranks; expected at most %d", mesh->ranks,
                   OPERATORS_DEVICES_MAX);
    if (p->layers.count > OPERATORS_LAYERS_MAX)
        diag_error(&diag, scenario_place(scenario, "model"), "%zu layers; expected at most %d", p->layers.count,
                   OPERATORS_LAYERS_MAX);
    else
        check_names(scenario, p, &diag);
    if (scenario->micro_batches != 1 || !scenario->micro_batch_size)
        diag_error(&diag, scenario_place(scenario, "batch"),
                   "strategies are searched for one micro-batch of a known size; expected batch: {global: SAMPLES, "
                   "micro: SAMPLES of a rank}");
    return diag.errors == 0;
}

int strategy_search(const struct strategy_request *request, struct strategy_table *table, struct arena *arena)
{
    FILE *results = NULL;
    if (!check(request->scenario))
        return EXIT_BAD_INPUT;
    int code = simulation_visit(
        &(struct simulation_visit){request->scenario, strategy_search_body, (void *)(uintptr_t)request}, &results);
    if (code == EXIT_DONE && !read_table(results, table, arena)) {
        fputs("stagesim: what the search has found could not be read back\n", stderr);
        code = EXIT_FAILED;
    }
    if (results)
        fclose(results);
    return code;
}

/* ---- as text ---- */

static const char *layer_text(const char *name, const struct configuration *c, struct arena *arena)
{
    const char *text = arena_print(arena, "{layer: %s", name);
    for (int d = 0; d < CONFIGURATION_DIMENSIONS; d++)
        if (c->degrees[d] > 1 || d == 0)
            text = arena_print(arena, "%s, %s: %u", text, dimension_names[d], c->degrees[d]);
    char *devices = arena_alloc(arena, (size_t)c->count * 12 + 1);
    size_t length = 0;
    for (uint32_t k = 0; k < c->count; k++)
        length += (size_t)snprintf(devices + length, 12, k ? ", %u" : "%u", c->first + k * c->stride);
    return arena_print(arena, "%s, devices: [%s]}", text, devices);
}

/* A name in double quotes, as YAML has them. */
static const char *quoted(const char *name, struct arena *arena)
{
    char *text = arena_alloc(arena, 2 * strlen(name) + 3), *end = text;
    *end++ = '"';
    for (; *name; name++) {
        if (*name == '"' || *name == '\\')
            *end++ = '\\';
        *end++ = *name;
    }
    *end++ = '"';
    return text;
}

const char *strategy_text(const struct scenario *scenario, const struct strategy_row *row, uint32_t layers,
                          const char *before, const char *between, struct arena *arena)
{
    const struct layers_parameters *p = scenario->parameters;
    const struct layer *described = p->layers.rows;
    const char **pieces = arena_array(arena, layers, sizeof *pieces);
    size_t size = 1;
    for (uint32_t i = 0; i < layers; i++) {
        const char *text = layer_text(quoted(described[i].name, arena), &row->configurations[i], arena);
        pieces[i] = arena_print(arena, "%s%s%s", i ? between : "", before, text);
        size += strlen(pieces[i]);
    }
    char *text = arena_alloc(arena, size), *end = text;
    for (uint32_t i = 0; i < layers; i++)
        end += snprintf(end, size - (size_t)(end - text), "%s", pieces[i]);
    return text;
}
