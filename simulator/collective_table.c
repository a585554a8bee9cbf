/* SPDX-License-Identifier: Apache-2.0 */
#include "simulator/collective_table.h"

#include "simulator/arena.h"
#include "simulator/collectives/communicator.h"
#include "simulator/command.h"
#include "simulator/isolate.h"
#include "simulator/paths.h"
#include "simulator/program.h"
#include "simulator/simgrid_bridge.h"

#include <stdlib.h>
#include <string.h>

double collective_bus_factor(enum stagesim_collective kind, uint32_t ranks)
{
    switch (kind) {
    case STAGESIM_ALL_REDUCE:
        return 2.0 * (ranks - 1) / ranks;
    case STAGESIM_REDUCE_SCATTER:
    case STAGESIM_ALL_GATHER:
    case STAGESIM_ALL_TO_ALL:
        return (ranks - 1.0) / ranks;
    default:
        return 1;
    }
}

double collective_bandwidth(const struct collective_row *row)
{
    return row->seconds > 0 ? row->bytes / row->seconds : 0;
}

double collective_bus_bandwidth(const struct collective_row *row, enum stagesim_collective kind, uint32_t ranks)
{
    return collective_bandwidth(row) * collective_bus_factor(kind, ranks);
}

/* ---- in the process that loads the platform ---- */

struct computation {
    const struct collective_request *request;
    struct arena *arena;
    struct platform *platform;
    uint32_t *hosts, ranks;
    struct communicator *communicator;
    FILE *results;
};

static void add_rows(struct computation *computation, const struct collective_algorithm *algorithm)
{
    const struct collective_request *request = computation->request;
    for (size_t i = 0; i < request->size_count; i++) {
        struct collective_choice choice = communicator_choose(computation->communicator, request->kind, algorithm, request->sizes[i]);
        struct collective_row row = {.bytes = request->sizes[i],
                                     .seconds = choice.seconds,
                                     .algorithm = choice.algorithm, /* constant data: at the same place in the parent */
                                     .chosen = !algorithm};
        snprintf(row.protocol, sizeof row.protocol, "%s", choice.protocol ? choice.protocol : "");
        fwrite(&row, sizeof row, 1, computation->results);
    }
}

static bool place_ranks(struct computation *computation, struct fault *fault)
{
    const struct collective_request *request = computation->request;
    computation->ranks = request->ranks ? request->ranks : computation->platform->host_count;
    if (computation->platform->host_count == 0)
        return fault_set(fault, "%s: no host in it can hold a rank", request->file);
    if (computation->ranks > computation->platform->host_count)
        return fault_set(fault, "%u ranks are more than the %u GPUs of %s", computation->ranks, computation->platform->host_count,
                         request->file);
    if (computation->ranks < 2)
        return fault_set(fault, "%s has one GPU; a collective needs two ranks", request->file);
    computation->hosts = arena_array(computation->arena, computation->ranks, sizeof *computation->hosts);
    for (uint32_t rank = 0; rank < computation->ranks; rank++)
        computation->hosts[rank] = rank;
    return true;
}

static bool compute(struct computation *computation, struct fault *fault)
{
    const struct collective_request *request = computation->request;
    computation->platform = bridge_configure(NULL, 0, fault) ? bridge_load(request->file, computation->arena, fault) : NULL;
    if (!computation->platform || !place_ranks(computation, fault))
        return false;
    computation->communicator = communicator_create(computation->platform, computation->hosts, computation->ranks, computation->arena);
    const struct collective_shape *shape = communicator_shape(computation->communicator);
    const char *refusal = request->algorithm ? collective_algorithm_refuses(request->algorithm, shape, request->kind) : NULL;
    if (refusal)
        return fault_set(fault, "%s on %u ranks of %s: %s %s", collective_name(request->kind), computation->ranks, request->file,
                         request->algorithm->name, refusal);
    fwrite(&computation->ranks, sizeof computation->ranks, 1, computation->results);
    for (const struct collective_algorithm *const *each = collective_algorithms; *each && request->all; each++)
        if (!collective_algorithm_refuses(*each, shape, request->kind))
            add_rows(computation, *each);
    add_rows(computation, request->algorithm);
    return true;
}

static int compute_isolated(void *user, struct isolated *self)
{
    struct computation computation = {.request = user, .arena = arena_create(), .results = self->results};
    struct fault fault = {""};
    bool done = compute(&computation, &fault);
    arena_destroy(computation.arena);
    if (done)
        return EXIT_DONE;
    fputs(fault.text, self->results);
    return EXIT_BAD_INPUT;
}

/* ---- in the parent ---- */

static bool read_rows(struct collective_table *table, FILE *results, struct fault *fault)
{
    struct collective_row row;
    size_t capacity = 0;
    bool good = fread(&table->ranks, sizeof table->ranks, 1, results) == 1;
    while (good && fread(&row, sizeof row, 1, results) == 1) {
        table->rows = array_grow(table->rows, &capacity, table->count + 1, sizeof *table->rows);
        table->rows[table->count++] = row;
    }
    return good || fault_set(fault, "the simulation's process wrote nothing");
}

bool collective_table_init(struct collective_table *table, const struct collective_request *request, struct fault *fault)
{
    FILE *results = NULL;
    int stage = 0;
    bool done = false;
    struct fault inner = {""};
    *table = (struct collective_table){0};
    if (!path_check_readable(request->file, fault))
        return false;
    int code = isolate(compute_isolated, (void *)request, &results, &stage, &inner);
    if (code == EXIT_DONE)
        done = read_rows(table, results, fault);
    else if (code < 0)
        fault_set(fault, "%s: %s", request->file, inner.text);
    else {
        char text[sizeof fault->text] = "";
        text[fread(text, 1, sizeof text - 1, results)] = '\0';
        fault_set(fault, "%s", text);
    }
    if (results)
        fclose(results);
    return done;
}

void collective_table_finish(struct collective_table *table)
{
    free(table->rows);
    *table = (struct collective_table){0};
}
