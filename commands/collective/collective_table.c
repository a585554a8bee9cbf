/* SPDX-License-Identifier: Apache-2.0 */
#include "commands/collective/collective_table.h"

#include "base/arena.h"
#include "base/isolate.h"
#include "base/process/guard.h"
#include "commands/cli/command.h"
#include "simulator/collectives/assignment.h"
#include "simulator/collectives/msccl/msccl.h"
#include "simulator/program/program.h"
#include "simulator/run/folded_run.h"

#include <math.h>
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

/* Members of others end together. */
static bool is_rooted(enum stagesim_collective kind)
{
    return kind == STAGESIM_BROADCAST || kind == STAGESIM_REDUCE;
}

/* A program of one group: all ranks, one collective after the other; behind one that members leave one by one a
 * barrier, so that all come to the next one together. */
static struct program *program_of(const struct computation *computation, struct mesh *mesh)
{
    const struct collective_request *request = computation->request;
    const struct stagesim_identity identity = {STAGESIM_OTHER, STAGESIM_NONE, STAGESIM_NONE, 0, 0, STAGESIM_NONE, 0};
    mesh->axis_count = 1;
    mesh->axes[0] = (struct mesh_axis){.name = "data", .size = computation->ranks};
    mesh_finish(mesh, computation->arena);
    struct program_builder *builder = program_builder_create(mesh);
    uint32_t group = program_add_group(builder, 1, (const uint32_t[]){0}, 1);
    uint32_t nothing = program_add_cost(builder, &(struct stagesim_cost){0}),
             begin = program_add_compute(builder, 0, identity, nothing);
    for (size_t i = 0; i < request->size_count; i++) {
        uint32_t cost = program_add_cost(builder, &(struct stagesim_cost){.bytes = request->sizes[i]});
        uint32_t id = program_add_collective(builder, 0, group, request->kind, identity, cost);
        if (i == 0)
            program_add_wait(builder, 0, id, begin);
        if (is_rooted(request->kind))
            program_add_collective(builder, 0, group, STAGESIM_BARRIER, identity, nothing);
    }
    struct program *program = program_finish(builder, computation->arena);
    assignment_create(program, computation->arena);
    program_builder_destroy(builder);
    return program;
}

/* From the last rank's arrival at a collective to its end on the last rank. */
static double whole_seconds(const struct timeline *timeline, uint32_t ranks, uint32_t id)
{
    double begin = 0, end = 0;
    for (uint32_t rank = 0; rank < ranks; rank++) {
        begin = fmax(begin, timeline_rank(timeline, rank)[id].start);
        end = fmax(end, timeline_rank(timeline, rank)[id].end);
    }
    return end - begin;
}

/* Replaces the rows' times by those of a simulation. */
static bool simulate_rows(const struct computation *computation, const struct collective_algorithm *algorithm,
                          struct collective_row *rows, struct fault *fault)
{
    const struct collective_request *request = computation->request;
    struct mesh mesh = {0};
    struct program *program = program_of(computation, &mesh);
    struct collective_policy policy = {.stepwise = request->stepwise};
    policy.algorithms[request->kind] = algorithm;
    assignment_place(program->assignment, computation->platform, computation->hosts, &policy);
    struct engine_job job = {.program = program, .platform = computation->platform, .hosts = computation->hosts};
    struct folded_run run;
    bool done = folded_run(request->engine, &job, true, computation->arena, &run, fault);
    uint32_t first = program->positions[0].streams[position_group_stream(&program->positions[0], 0)].first;
    for (size_t i = 0; done && i < request->size_count; i++)
        rows[i].seconds =
            whole_seconds(run.timeline, computation->ranks, first + (uint32_t)i * (is_rooted(request->kind) ? 2 : 1));
    timeline_destroy(run.timeline);
    return done;
}

static bool write_rows(struct computation *computation, const struct collective_algorithm *algorithm,
                       struct fault *fault)
{
    const struct collective_request *request = computation->request;
    struct collective_row *rows = arena_array(computation->arena, request->size_count, sizeof *rows);
    for (size_t i = 0; i < request->size_count; i++) {
        struct collective_choice choice =
            communicator_choose(computation->communicator, request->kind, algorithm, request->sizes[i]);
        rows[i] =
            (struct collective_row){.bytes = request->sizes[i],
                                    .seconds = choice.seconds,
                                    .algorithm = choice.algorithm, /* constant data: at the same place in the parent */
                                    .chosen = !algorithm || choice.algorithm != algorithm};
        snprintf(rows[i].protocol, sizeof rows[i].protocol, "%s", choice.protocol ? choice.protocol : "");
    }
    if (!simulate_rows(computation, algorithm, rows, fault))
        return false;
    fwrite(rows, sizeof *rows, request->size_count, computation->results);
    return true;
}

struct rows_of {
    struct computation *computation;
    const struct collective_algorithm *algorithm;
};

static int rows_isolated(void *user, struct isolated *self)
{
    const struct rows_of *rows = user;
    struct fault fault = {""};
    rows->computation->results = self->results;
    if (write_rows(rows->computation, rows->algorithm, &fault))
        return EXIT_DONE;
    fputs(fault.text, self->results);
    return EXIT_BAD_INPUT;
}

static size_t read_all(FILE *results, char *text, size_t size)
{
    size_t length = results ? fread(text, 1, size - 1, results) : 0;
    text[length] = '\0';
    return length;
}

/* Several algorithms: each in a process of its own, for a second simulation would go on with the first one's clock,
 * precision and mailboxes. The platform is loaded once. */
static bool add_rows(struct computation *computation, const struct collective_algorithm *algorithm, struct fault *fault)
{
    struct rows_of rows = {computation, algorithm};
    FILE *results, *own = computation->results;
    int stage;
    char text[4096];
    int code = isolate(rows_isolated, &rows, &results, &stage, fault);
    computation->results = own; /* where there are no processes, it was this one's */
    if (code == EXIT_DONE)
        for (size_t length; (length = read_all(results, text, sizeof text)) > 0;)
            fwrite(text, 1, length, own);
    else if (code >= 0 && read_all(results, text, sizeof text))
        fault_set(fault, "%s", text);
    if (results)
        fclose(results);
    return code == EXIT_DONE;
}

static bool place_ranks(struct computation *computation, struct fault *fault)
{
    const struct collective_request *request = computation->request;
    computation->ranks = request->ranks ? request->ranks : computation->platform->host_count;
    if (computation->platform->host_count == 0)
        return fault_set(fault, "%s: no host in it can hold a rank", request->file);
    if (computation->ranks > computation->platform->host_count)
        return fault_set(fault, "%u ranks are more than the %u GPUs of %s", computation->ranks,
                         computation->platform->host_count, request->file);
    if (computation->ranks < 2)
        return fault_set(fault, "%s has one GPU; a collective needs two ranks", request->file);
    computation->hosts = arena_array(computation->arena, computation->ranks, sizeof *computation->hosts);
    for (uint32_t rank = 0; rank < computation->ranks; rank++)
        computation->hosts[rank] = rank;
    return true;
}

static void list_refusal(struct collective_table *table, const struct collective_shape *shape,
                         enum stagesim_collective kind, const struct collective_algorithm *algorithm)
{
    const char *reason = collective_algorithm_refuses(algorithm, shape, kind);
    if (reason && algorithm->kinds & KIND(kind) && table->refusal_count < REFUSALS_MAX)
        table->refusals[table->refusal_count++] = (struct collective_refusal){algorithm, reason};
}

static void list_refusals(struct collective_table *table, const struct collective_shape *shape,
                          const struct collective_request *request)
{
    for (const struct collective_algorithm *const *each = collective_algorithms; *each; each++)
        list_refusal(table, shape, request->kind, *each);
    if (request->own)
        list_refusal(table, shape, request->kind, request->own);
}

static const struct collective_shape *place_communicator(struct computation *computation, bool stepwise)
{
    struct collective_shape shape =
        communicator_shape_of(computation->platform, computation->hosts, computation->ranks);
    computation->communicator =
        communicator_create_shaped(computation->platform, computation->hosts, &shape, stepwise, computation->arena);
    return communicator_shape(computation->communicator);
}

/* Loads the platform. The shape of the ranks on it; NULL with the fault filled. */
static const struct collective_shape *place(struct computation *computation, bool stepwise, struct fault *fault)
{
    const struct collective_request *request = computation->request;
    guard_doing("loading %s", request->file);
    computation->platform =
        platform_source_load(&request->source, request->engine == &engine_simgrid, computation->arena, fault);
    guard_doing("computing");
    size_t wrong;
    if (computation->platform)
        computation->platform = what_if_platform(computation->platform, request->changes, request->change_count,
                                                 computation->arena, &wrong, fault);
    if (!computation->platform || !place_ranks(computation, fault))
        return NULL;
    const struct collective_shape *shape = place_communicator(computation, stepwise);
    const char *refusal =
        request->algorithm ? collective_algorithm_refuses(request->algorithm, shape, request->kind) : NULL;
    if (refusal)
        fault_set(fault, "%s on %u ranks of %s: %s %s", collective_name(request->kind), computation->ranks,
                  request->file, request->algorithm->name, refusal);
    return refusal ? NULL : shape;
}

static bool compute(struct computation *computation, struct fault *fault)
{
    const struct collective_request *request = computation->request;
    const struct collective_shape *shape = place(computation, request->stepwise, fault);
    if (!shape)
        return false;
    struct collective_table head = {.ranks = computation->ranks};
    if (computation->platform->capped)
        snprintf(head.capped, sizeof head.capped, "%s", computation->platform->capped);
    if (request->all)
        list_refusals(&head, shape, request);
    fwrite(&head, sizeof head, 1, computation->results);
    if (!request->all)
        return write_rows(computation, request->algorithm, fault);
    for (const struct collective_algorithm *const *each = collective_algorithms; *each; each++)
        if (!collective_algorithm_refuses(*each, shape, request->kind) && !add_rows(computation, *each, fault))
            return false;
    const struct collective_algorithm *own = request->own;
    if (own && !collective_algorithm_refuses(own, shape, request->kind) && !add_rows(computation, own, fault))
        return false;
    return add_rows(computation, NULL, fault);
}

static bool write_program(struct computation *computation, struct fault *fault)
{
    const struct collective_request *request = computation->request;
    /* Programs run stepwise. */
    struct msccl_description description = {.shape = place(computation, true, fault), .kind = request->kind};
    for (size_t i = request->size_count; description.shape && i-- > 0;) {
        struct collective_choice choice =
            communicator_choose(computation->communicator, request->kind, request->algorithm, request->sizes[i]);
        if (!description.algorithm)
            description.most = request->sizes[i];
        else if (choice.algorithm != description.algorithm || choice.protocol != description.protocol)
            break;
        description.algorithm = choice.algorithm;
        description.protocol = choice.protocol;
        description.least = request->sizes[i];
    }
    return description.shape && msccl_write(computation->results, &description, fault);
}

static int run_isolated(struct isolated *self, const struct collective_request *request,
                        bool (*run)(struct computation *, struct fault *))
{
    struct computation computation = {.request = request, .arena = arena_create(), .results = self->results};
    struct fault fault = {""};
    bool done = run(&computation, &fault);
    arena_destroy(computation.arena);
    if (done)
        return EXIT_DONE;
    fputs(fault.text, self->results);
    return EXIT_BAD_INPUT;
}

static int compute_isolated(void *user, struct isolated *self)
{
    return run_isolated(self, user, compute);
}

static int write_isolated(void *user, struct isolated *self)
{
    return run_isolated(self, user, write_program);
}

/* ---- in the parent ---- */

static bool read_rows(struct collective_table *table, FILE *results, struct fault *fault)
{
    struct collective_row row;
    size_t capacity = 0;
    bool good = fread(table, sizeof *table, 1, results) == 1;
    while (good && fread(&row, sizeof row, 1, results) == 1) {
        table->rows = array_grow(table->rows, &capacity, table->count + 1, sizeof *table->rows);
        table->rows[table->count++] = row;
    }
    if (ferror(results))
        return fault_set(fault, "the simulation's results could not be read back");
    return good || fault_set(fault, "the simulation's process wrote nothing");
}

/* What the process wrote, NULL with the fault filled. */
static FILE *results_of(int (*run)(void *, struct isolated *), const struct collective_request *request,
                        struct fault *fault)
{
    FILE *results = NULL;
    int stage = 0;
    struct fault inner = {""};
    int code = isolate(run, (void *)request, &results, &stage, &inner);
    if (code == EXIT_DONE)
        return results;
    if (code < 0)
        fault_set(fault, "%s: %s", request->file, inner.text);
    else {
        char text[sizeof fault->text] = "";
        read_all(results, text, sizeof text);
        fault_set(fault, "%s", text);
    }
    if (results)
        fclose(results);
    return NULL;
}

bool collective_table_init(struct collective_table *table, const struct collective_request *request,
                           struct fault *fault)
{
    *table = (struct collective_table){0};
    FILE *results = results_of(compute_isolated, request, fault);
    bool done = results && read_rows(table, results, fault);
    if (results)
        fclose(results);
    return done;
}

bool collective_program_write(FILE *out, const struct collective_request *request, struct fault *fault)
{
    char text[4096];
    FILE *results = results_of(write_isolated, request, fault);
    for (size_t length; results && (length = read_all(results, text, sizeof text)) > 0;)
        fwrite(text, 1, length, out);
    if (results)
        fclose(results);
    return results != NULL;
}

void collective_table_finish(struct collective_table *table)
{
    free(table->rows);
    *table = (struct collective_table){0};
}
