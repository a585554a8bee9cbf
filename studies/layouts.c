/* SPDX-License-Identifier: Apache-2.0 */
#include "studies/layouts.h"

#include "analysis/output/comparison.h"
#include "base/arena.h"
#include "base/exit_code.h"
#include "base/process/interruption.h"
#include "job/job.h"
#include "studies/describe.h"
#include "studies/evaluate.h"
#include "studies/simulation.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const layouts_method_names[] = {"axonn", "analytic", NULL};

/* ---- AxoNN's communication model ---- */

/* Ranks on the node of rank 0, and the rate at which they send to other nodes together: of links that several of them
 * use each once. */
struct node_injection {
    uint32_t ranks;
    double bandwidth; /* INFINITY: all ranks are on it */
};

/* Index of the slowest link between two hosts. */
static uint32_t slowest_link(struct platform *platform, uint32_t from, uint32_t to)
{
    struct platform_route route;
    platform->route(platform, from, to, &route);
    uint32_t slowest = route.links[0];
    for (uint32_t i = 1; i < route.link_count; i++)
        if (platform->links[route.links[i]].bandwidth < platform->links[slowest].bandwidth)
            slowest = route.links[i];
    return slowest;
}

static bool same_node(const struct job *job, uint32_t rank, uint32_t other)
{
    const struct platform_host *hosts = job->platform->hosts;
    return !strcmp(hosts[job->hosts[rank]].node, hosts[job->hosts[other]].node);
}

static struct node_injection injection_of(const struct job *job)
{
    const struct mesh *mesh = job->program->mesh;
    struct node_injection node = {.bandwidth = 0};
    uint32_t far = mesh->ranks - 1, *links = array_zeroed(mesh->ranks, sizeof *links), count = 0;
    for (uint32_t rank = 0; links && rank < mesh->ranks; rank++) {
        if (!same_node(job, rank, 0))
            continue;
        node.ranks++;
        if (same_node(job, far, 0) || !job->platform->reaches(job->platform, job->hosts[rank], job->hosts[far]))
            continue;
        uint32_t link = slowest_link(job->platform, job->hosts[rank], job->hosts[far]), i = 0;
        while (i < count && links[i] != link)
            i++;
        if (i == count) {
            links[count++] = link;
            node.bandwidth += job->platform->links[link].bandwidth;
        }
    }
    free(links);
    node.bandwidth = count ? node.bandwidth : INFINITY;
    return node;
}

/* Bytes per second of a group's ring. */
static double group_bandwidth(const struct job *job, const struct group *group, const struct node_injection *node)
{
    const struct program *program = job->program;
    uint32_t size = group_size(program, group), *ranks = array_zeroed(size, sizeof *ranks);
    if (!ranks)
        return INFINITY;
    group_ranks(program, group, group_instance_of(program, group, 0), ranks);
    double slowest = INFINITY;
    bool spans = false;
    for (uint32_t i = 0; i < size; i++) {
        uint32_t next = ranks[(i + 1) % size];
        struct platform_route route;
        spans |= !same_node(job, ranks[i], next);
        job->platform->route(job->platform, job->hosts[ranks[i]], job->hosts[next], &route);
        slowest = fmin(slowest, route.bandwidth);
    }
    double apart = (double)ranks[1] - ranks[0];
    free(ranks);
    return spans ? node->bandwidth / fmin(node->ranks, apart) : slowest;
}

/* What a ring makes a rank send, over the bytes of a collective as the cost table has them. */
static double ring_share(enum stagesim_collective collective, uint32_t ranks)
{
    double share = (double)(ranks - 1) / ranks;
    return collective == STAGESIM_ALL_REDUCE ? 2 * share : share;
}

double layout_model_seconds(const struct job *job)
{
    const struct program *program = job->program;
    const struct position *position = &program->positions[0];
    struct node_injection node = injection_of(job);
    double sum = 0;
    for (uint32_t s = 0; s < position->stream_count; s++) {
        const struct stream *stream = &position->streams[s];
        if (stream->type != OPERATION_COLLECTIVE)
            continue;
        const struct group *group = &program->groups[stream->peer];
        double bandwidth = group_bandwidth(job, group, &node);
        for (uint32_t id = stream->first; id < stream->first + stream->count; id++) {
            const struct operation *operation = &position->operations[id];
            double share = ring_share((enum stagesim_collective)operation->collective, group_size(program, group));
            sum += share * operation_cost(program, operation)->bytes / bandwidth;
        }
    }
    return sum / program->iterations;
}

/* ---- all layouts ---- */

enum { LAYOUT_SETS = 10 };

/* A layout as values of the scenario; texts from the arena. */
static void layout_sets(const struct scenario *scenario, const struct layout_row *row, const char *engine,
                        struct scenario_set sets[LAYOUT_SETS], struct arena *arena)
{
    const char *texts[LAYOUT_SETS] = {
        arena_print(arena, "parallel.x=%u", row->x),
        arena_print(arena, "parallel.y=%u", row->y),
        arena_print(arena, "parallel.z=%u", row->z),
        arena_print(arena, "parallel.data=%u", row->data),
        "parallel.tensor=1",
        "tensor_parallel.algorithm=axonn-3d",
        arena_print(arena, "batch.global=%llu", (unsigned long long)scenario->global_batch),
        arena_print(arena, "batch.micro_batches=%u", scenario->micro_batches),
        arena_print(arena, "batch.micro=%.0f", row->micro_batch),
        arena_print(arena, "engine=%s", engine),
    };
    for (size_t i = 0; i < LAYOUT_SETS; i++)
        sets[i] = (struct scenario_set){.text = texts[i]};
}

/* Whether the job does not fit, which is known before it is built: then it is not timed. */
static bool is_too_big(const struct evaluation_request *request, struct platform *platform, struct layout_row *row,
                       struct arena *arena, struct diag *diag)
{
    struct job_outline outline;
    if (!evaluate_outline(request, platform, JOB_BOUND_WORK, arena, diag, &outline) || !outline.known || outline.fits)
        return false;
    row->model = row->analytic = NAN;
    row->memory = outline.peak_bytes;
    return true;
}

/* False where the job cannot be laid out so; `diag` counts what hinders it, and knows whether it was trouble outside.
 */
static bool evaluate_layout(const struct scenario *scenario, struct platform *platform, struct layout_row *row,
                            struct diag *diag)
{
    struct arena *arena = arena_create();
    struct scenario_set sets[LAYOUT_SETS];
    struct evaluation evaluation;
    layout_sets(scenario, row, "analytic", sets, arena);
    struct evaluation_request request = {scenario->request, sets, LAYOUT_SETS, UINT64_MAX, .whole = true};
    bool too_big = is_too_big(&request, platform, row, arena, diag);
    bool ok = too_big || evaluate(&request, platform, arena, diag, &evaluation);
    if (ok && !too_big) {
        struct comparison_row result = comparison_row_of(evaluation.report);
        row->model = layout_model_seconds(evaluation.job);
        row->analytic = result.iteration;
        row->memory = result.peak_bytes;
        row->fits = !result.capacity_known || result.fits;
    }
    arena_destroy(arena);
    return ok;
}

static uint32_t spread_ranks(const struct mesh *mesh)
{
    return mesh_size(mesh, "x") * mesh_size(mesh, "y") * mesh_size(mesh, "z") * mesh_size(mesh, "tensor") *
           mesh_size(mesh, "data");
}

/* Bytes of the GPU that has least; 0: of one it is not known. */
static double smallest_memory(const struct platform *platform, uint32_t gpus)
{
    double least = INFINITY;
    for (uint32_t i = 0; i < gpus && i < platform->host_count; i++)
        least = fmin(least, platform->hosts[i].memory);
    return isinf(least) ? 0 : least;
}

/* Of as many ranks along x, y, z and data; writes those that can be. */
static size_t write_layouts(const struct scenario *scenario, struct platform *platform, FILE *results,
                            struct diag *diag)
{
    uint32_t ranks = spread_ranks(&scenario->mesh);
    size_t count = 0;
    struct job_bands bands = scenario_bands(scenario, platform, scenario->mesh.ranks);
    double capacity = smallest_memory(platform, scenario->mesh.ranks);
    for (uint32_t x = 1; x <= ranks && !interruption_noted(); x++)
        for (uint32_t y = 1; ranks % x == 0 && y <= ranks / x; y++)
            for (uint32_t z = 1; ranks / x % y == 0 && z <= ranks / x / y; z++) {
                uint32_t data = ranks / x / y / z;
                uint64_t replicas = (uint64_t)data * scenario->micro_batches;
                if (ranks / x / y % z || scenario->global_batch % replicas || interruption_noted())
                    continue;
                struct layout_row row = {x,
                                         y,
                                         z,
                                         data,
                                         .micro_batch = (double)(scenario->global_batch / replicas),
                                         .simgrid = NAN,
                                         .band = bands.time,
                                         .memory_band = bands.memory};
                if (!evaluate_layout(scenario, platform, &row, diag))
                    continue;
                row.outlook = memory_band_outlook(&bands.memory, row.memory, capacity, scenario->reserve);
                count += fwrite(&row, sizeof row, 1, results);
            }
    return count;
}

/* Where there is no layout, what hinders the scenario's own is said. */
static int evaluate_all(void *user, struct platform *platform, FILE *results, struct diag *diag)
{
    const struct scenario *scenario = user;
    struct diag hindered = {0};
    interruption_renew(); /* SimGrid has put a handler of its own there */
    size_t count = write_layouts(scenario, platform, results, &hindered);
    if (hindered.trouble) {
        diag_trouble(diag, (struct place){scenario->file, 0, 0},
                     "not every layout could be evaluated: a file could not be read again, or there was no memory");
        return EXIT_FAILED;
    }
    if (count || interruption_noted())
        return EXIT_DONE;
    struct arena *arena = arena_create();
    job_create_steady(scenario, platform, arena, diag);
    arena_destroy(arena);
    if (!diag->errors)
        diag_error(diag, scenario_place(scenario, "parallel"),
                   "no layout of %u ranks along x, y, z and data suits the model and the batch",
                   spread_ranks(&scenario->mesh));
    return EXIT_BAD_INPUT;
}

/* ---- order ---- */

static int by_value(double left, double right, const struct layout_row *a, const struct layout_row *b)
{
    if (a->fits != b->fits)
        return a->fits ? -1 : 1;
    if (left != right && a->fits)
        return left < right ? -1 : 1;
    return a->x != b->x   ? (a->x > b->x) - (a->x < b->x)
           : a->y != b->y ? (a->y > b->y) - (a->y < b->y)
                          : (a->z > b->z) - (a->z < b->z);
}

static int by_model(const void *left, const void *right)
{
    const struct layout_row *a = left, *b = right;
    return by_value(a->model, b->model, a, b);
}

static int by_analytic(const void *left, const void *right)
{
    const struct layout_row *a = left, *b = right;
    return by_value(a->analytic, b->analytic, a, b);
}

/* False after it was reported that they cannot be read back. */
static bool read_rows(FILE *results, struct layout_table *table)
{
    size_t capacity = 0;
    struct layout_row row;
    while (fread(&row, sizeof row, 1, results) == 1) {
        table->rows = array_grow(table->rows, &capacity, table->count + 1, sizeof *table->rows);
        table->rows[table->count++] = row;
        table->fitting += row.fits;
    }
    if (ferror(results))
        fputs("stagesim: the layouts could not be read back\n", stderr);
    return !ferror(results);
}

/* ---- SimGrid ---- */

static int simulate_row(const struct scenario *scenario, struct layout_row *row)
{
    struct arena *arena = arena_create();
    struct scenario_set sets[LAYOUT_SETS];
    layout_sets(scenario, row, "simgrid", sets, arena);
    int code = simulate_iteration(scenario, sets, LAYOUT_SETS, &row->simgrid);
    arena_destroy(arena);
    return code;
}

int layouts_find(const struct scenario *scenario, enum layouts_method method, size_t top, struct layout_table *table)
{
    FILE *results = NULL;
    *table = (struct layout_table){0};
    if (!simulation_expects_samples(scenario, scenario->global_batch > 0, &(struct diag){.out = stderr}))
        return EXIT_BAD_INPUT;
    int code =
        simulation_visit(&(struct simulation_visit){scenario, evaluate_all, (void *)(uintptr_t)scenario}, &results);
    if (code == EXIT_DONE && !read_rows(results, table))
        code = EXIT_FAILED;
    if (results)
        fclose(results);
    if (table->count)
        qsort(table->rows, table->count, sizeof *table->rows, method == LAYOUTS_AXONN ? by_model : by_analytic);
    while (code == EXIT_DONE && !interruption_noted() && table->simulated < top && table->simulated < table->fitting) {
        code = simulate_row(scenario, &table->rows[table->simulated]);
        table->simulated += code == EXIT_DONE;
    }
    table->stopped = interruption_noted();
    return table->stopped && table->count ? EXIT_DONE : code;
}
