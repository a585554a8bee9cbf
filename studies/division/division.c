/* SPDX-License-Identifier: Apache-2.0 */
#include "studies/division/division.h"

#include "base/arena.h"
#include "base/exit_code.h"
#include "base/process/interruption.h"
#include "studies/division/division_network.h"
#include "studies/division/division_rows.h"
#include "studies/evaluate.h"
#include "studies/simulation.h"
#include "workloads/layers/layers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const division_names[] = {"data", "owt", "hypar", "accpar", NULL};

enum { ROUNDS_MAX = 12 };

/* Beyond which two shares are told apart. */
static const double share_precision = 1e-5;

/* ---- one division, lowered and timed ---- */

struct timed {
    double iteration, bubble, memory;
    bool fits;
    double computing[PARTITION_KINDS]; /* mean over the devices of a kind */
};

/* Seconds that a host takes for a second of its model at full speed. */
static double slowness(const struct job *job, uint32_t rank)
{
    const struct platform_host *host = &job->platform->hosts[job->hosts[rank]];
    return platform_full_speed(host) / host->speed;
}

/* Adds up the seconds of a rank's computing by layer; returns the sum of all, the optimizer's included. */
static double add_computing(const struct job *job, uint32_t rank, double *layers)
{
    const struct program *program = job->program;
    const struct position *position = &program->positions[program->mesh->position_of[rank]];
    double slow = slowness(job, rank) / program->iterations, sum = 0;
    uint32_t replica = program->mesh->replica_of[rank];
    for (uint32_t id = 0; id < position->operation_count; id++) {
        const struct operation *operation = &position->operations[id];
        if (operation->type != OPERATION_COMPUTE)
            continue;
        double seconds =
            operation_cost(program, operation)->seconds * operation_factor(program, operation, replica) * slow;
        sum += seconds;
        if (operation->layer != LAYER_NONE)
            layers[operation->layer] += seconds;
    }
    return sum;
}

/* Computing of the program with the division, in the mean over the devices of each kind: of each layer into
 * layers[kind][layer], of all into timed->computing. */
static void measure(const struct division_study *study, const struct job *job, struct timed *timed,
                    double *layers[PARTITION_KINDS])
{
    for (uint32_t kind = 0, first = 0; kind < study->kind_count; first += study->counts[kind++]) {
        uint32_t each = study->counts[kind];
        double sum = 0;
        memset(layers[kind], 0, study->layer_count * sizeof *layers[kind]);
        for (uint32_t i = 0; i < each; i++)
            sum += add_computing(job, study->ranks[first + i], layers[kind]);
        timed->computing[kind] = sum / each;
        for (uint32_t layer = 0; layer < study->layer_count; layer++)
            layers[kind][layer] /= each;
    }
}

struct finding {
    const struct scenario *scenario;
    struct platform *platform;
    struct arena *arena;
    struct diag *diag;
    bool quiet;                   /* what cannot be divided is not reported */
    enum partition_method method; /* that has to be found */
    struct division_study *study;
    struct partition_network *network;
    struct partition_layer *layers; /* of the network */
    struct partition_devices devices;
    struct pairwise_step *order;
    double *seconds[PARTITION_KINDS]; /* [layer] */
};

/* NULL: equal parts by samples. False with the mistake reported. */
static bool evaluate_partition(const struct finding *f, const struct partition *partition, struct timed *timed)
{
    struct arena *arena = arena_create();
    struct evaluation evaluation;
    struct scenario_set sets[] = {
        {.text = arena_print(arena, "split={layers: %s}", division_list(f->study, partition, arena))},
        {.text = "engine=analytic"}};
    struct evaluation_request request = {f->scenario->request, sets, 2, UINT64_MAX, .whole = true};
    bool ok = evaluate(&request, f->platform, arena, f->diag, &evaluation);
    if (ok) {
        struct comparison_row row = comparison_row_of(evaluation.report);
        timed->iteration = row.iteration;
        timed->bubble = row.bubble;
        timed->memory = row.peak_bytes;
        timed->fits = !row.capacity_known || row.fits;
        measure(f->study, evaluation.job, timed, (double **)f->seconds);
    }
    arena_destroy(arena);
    return ok;
}

/* What the network's layers take of a group of each kind, from a division in which it has this share of them. */
static void take_seconds(struct finding *f, const struct timed *timed, const double *shares)
{
    for (uint32_t kind = 0; kind < f->study->kind_count; kind++) {
        double part = f->study->kind_count == 1 ? 1 : shares[kind];
        f->devices.fixed[kind] = timed->computing[kind];
        for (uint32_t layer = 0; layer < f->network->count; layer++) {
            f->layers[layer].seconds[kind] = f->seconds[kind][layer] / part;
            f->devices.fixed[kind] -= f->seconds[kind][layer];
        }
    }
}

/* A layer that cannot be divided: a mistake where the method has to be found. */
static bool report_undivided(const struct finding *f, enum partition_method method, uint32_t layer)
{
    if (method == f->method)
        diag_error(f->diag, scenario_place(f->scenario, "parallel"),
                   "the layer '%s' cannot be divided into %u parts by %s", f->study->layers[layer],
                   f->study->device_count, division_names[method]);
    return method != f->method;
}

/* Computing depends on the share, the share on computing: they are taken in turns until the share stays. False with the
 * mistake reported. */
static bool find_division(struct finding *f, enum partition_method method, const struct timed *start,
                          struct division *division)
{
    struct partition *partition = &division->partition;
    struct timed timed = *start;
    double shares[PARTITION_KINDS];
    for (uint32_t kind = 0; kind < f->study->kind_count; kind++)
        shares[kind] = 1.0 / f->study->ways[0];
    for (int round = 0; round < ROUNDS_MAX; round++) {
        take_seconds(f, &timed, shares);
        if (round)
            partition_finish(partition);
        uint32_t undivided = partition_find(f->network, &f->devices, method, f->order, partition);
        if (undivided < f->network->count)
            return report_undivided(f, method, undivided);
        bool stays = round > 0;
        for (uint32_t kind = 0; kind < f->study->kind_count; kind++) {
            stays &= fabs(partition->level[0].shares[kind] - shares[kind]) < share_precision;
            shares[kind] = partition->level[0].shares[kind];
        }
        if (stays)
            break;
        if (!evaluate_partition(f, partition, &timed))
            return false;
        partition->balanced &= round + 1 < ROUNDS_MAX;
    }
    division->found = true;
    division->predicted = partition_seconds(partition);
    division->analytic = timed.iteration;
    division->bubble = timed.bubble;
    division->memory = timed.memory;
    division->fits = timed.fits;
    memcpy(division->computing, timed.computing, sizeof timed.computing);
    return true;
}

/* ---- all divisions, in a process of their own ---- */

/* Division by division: the struct, whose pointers mean nothing, then the types of each level. */
static void write_study(FILE *results, const struct division_study *study)
{
    for (int method = 0; method < DIVISION_METHODS; method++) {
        const struct division *division = &study->methods[method];
        fwrite(division, sizeof *division, 1, results);
        for (uint32_t level = 0; division->found && level < study->levels; level++)
            fwrite(division->partition.level[level].types, 1, study->layer_count, results);
    }
}

/* What the parent cannot know: kinds, levels and ranks. */
struct devices_record {
    uint32_t levels, kind_count, device_count, counts[PARTITION_KINDS], ways[PARTITION_LEVELS_MAX];
    char kinds[PARTITION_KINDS][64];
};

static void write_devices(FILE *results, const struct division_study *study)
{
    struct devices_record record = {
        .levels = study->levels, .kind_count = study->kind_count, .device_count = study->device_count};
    memcpy(record.counts, study->counts, sizeof record.counts);
    memcpy(record.ways, study->ways, sizeof record.ways);
    for (uint32_t kind = 0; kind < study->kind_count; kind++)
        snprintf(record.kinds[kind], sizeof record.kinds[kind], "%s", study->kinds[kind]);
    fwrite(&record, sizeof record, 1, results);
    fwrite(study->ranks, sizeof *study->ranks, study->device_count, results);
}

/* Every part of every layer is spelt out. */
static bool refuse_parts(const struct finding *f)
{
    double parts = (double)f->study->layer_count * f->study->device_count;
    if (parts <= DIVISION_PARTS_MAX)
        return false;
    diag_error(f->diag, scenario_place(f->scenario, "parallel"),
               "%u layers on %u ranks are %.0f parts; expected at most %d", f->study->layer_count,
               f->study->device_count, parts, DIVISION_PARTS_MAX);
    return true;
}

static bool prepare(struct finding *f)
{
    struct job *job = job_create_steady(f->scenario, f->platform, f->arena, f->diag);
    f->network = job ? division_network(f->scenario, f->arena, f->diag) : NULL;
    if (!f->network || !division_devices(job, f->arena, f->diag, f->study, &f->devices) || refuse_parts(f))
        return false;
    f->devices.element_bytes = division_element_bytes(f->scenario);
    f->layers = (struct partition_layer *)(uintptr_t)f->network->layers;
    f->order = partition_order(f->network);
    for (int kind = 0; kind < PARTITION_KINDS; kind++)
        f->seconds[kind] = arena_array(f->arena, f->network->count, sizeof *f->seconds[kind]);
    if (!f->order)
        diag_error(f->diag, scenario_workload_place(f->scenario, "model.layers"),
                   "the network has too many ways beside each other: a layer of its graph is joined to more than %d "
                   "others when it is eliminated",
                   PAIRWISE_WIDTH);
    return f->order;
}

static int find_all(void *user, struct platform *platform, FILE *results, struct diag *diag)
{
    struct arena *arena = arena_create();
    struct finding f = *(struct finding *)user;
    struct timed start;
    f.platform = platform;
    f.arena = arena;
    f.diag = f.quiet ? &(struct diag){.out = NULL} : diag;
    interruption_renew(); /* SimGrid has put a handler of its own there */
    bool ok = prepare(&f) && evaluate_partition(&f, NULL, &start);
    for (unsigned method = 0; method < DIVISION_METHODS && ok && !interruption_noted(); method++)
        ok = find_division(&f, method, &start, &f.study->methods[method]);
    bool stopped = interruption_noted();
    if (ok && !stopped) {
        write_devices(results, f.study);
        write_study(results, f.study);
        for (int method = 0; method < DIVISION_METHODS; method++)
            if (f.study->methods[method].found)
                partition_finish(&f.study->methods[method].partition);
    }
    free(f.order);
    arena_destroy(arena);
    return stopped ? EXIT_FAILED : ok ? EXIT_DONE : EXIT_BAD_INPUT;
}

/* False after it was reported that the results cannot be read back. */
static bool read_study(FILE *results, struct arena *arena, struct division_study *study)
{
    struct devices_record record;
    bool ok = fread(&record, sizeof record, 1, results) == 1;
    if (ok) {
        study->levels = record.levels;
        study->kind_count = record.kind_count;
        study->device_count = record.device_count;
        memcpy(study->counts, record.counts, sizeof record.counts);
        memcpy(study->ways, record.ways, sizeof record.ways);
        study->ranks = arena_array(arena, study->device_count, sizeof *study->ranks);
        ok = fread(study->ranks, sizeof *study->ranks, study->device_count, results) == study->device_count;
    }
    for (uint32_t kind = 0; ok && kind < study->kind_count; kind++)
        study->kinds[kind] = arena_copy(arena, record.kinds[kind]);
    for (int method = 0; ok && method < DIVISION_METHODS; method++) {
        struct division *division = &study->methods[method];
        ok = fread(division, sizeof *division, 1, results) == 1;
        division->simgrid = NAN;
        for (uint32_t level = 0; ok && division->found && level < study->levels; level++) {
            uint8_t *types = division->partition.level[level].types = arena_array(arena, study->layer_count, 1);
            ok = fread(types, 1, study->layer_count, results) == study->layer_count;
        }
    }
    if (!ok)
        fputs("stagesim: the divisions could not be read back\n", stderr);
    return ok;
}

/* ---- SimGrid ---- */

static int simulate_division(const struct scenario *scenario, const struct division_study *study,
                             struct division *division)
{
    struct arena *arena = arena_create();
    struct scenario_set sets[] = {
        {.text = arena_print(arena, "split={layers: %s}", division_list(study, &division->partition, arena))},
        {.text = "engine=simgrid"}};
    int code = simulate_iteration(scenario, sets, 2, &division->simgrid);
    arena_destroy(arena);
    return code;
}

static void name_layers(const struct scenario *scenario, struct arena *arena, struct division_study *study)
{
    const struct layers_parameters *parameters = scenario->parameters;
    const struct layer *layers = parameters->layers.rows;
    study->layer_count = (uint32_t)parameters->layers.count;
    const char **names = arena_array(arena, study->layer_count, sizeof *names);
    for (uint32_t i = 0; i < study->layer_count; i++)
        names[i] = layers[i].name;
    study->layers = names;
}

/* The figures that divisions need; false with the mistake reported. */
static bool check(const struct scenario *scenario, bool quiet)
{
    struct diag diag = {.out = quiet ? NULL : stderr};
    if (!simulation_expects_samples(scenario, scenario->global_batch > 0, &diag))
        return false;
    if (scenario->workers > 1 || mesh_size(&scenario->mesh, "tensor") > 1)
        diag_error(&diag, scenario_place(scenario, "parallel"),
                   "a network is divided among ranks along data alone; expected parallel: {data: %u}",
                   scenario->mesh.ranks);
    return diag.errors == 0;
}

static int divide_all(struct finding *finding, struct arena *arena)
{
    FILE *results = NULL;
    struct division_study *study = finding->study;
    *study = (struct division_study){0};
    if (!check(finding->scenario, finding->quiet))
        return EXIT_BAD_INPUT;
    name_layers(finding->scenario, arena, study);
    int code = simulation_visit(&(struct simulation_visit){finding->scenario, find_all, finding}, &results);
    if (code == EXIT_DONE && !read_study(results, arena, study))
        code = EXIT_FAILED;
    if (results)
        fclose(results);
    return code;
}

int division_find(const struct scenario *scenario, enum partition_method method, struct arena *arena,
                  struct division_study *study)
{
    struct finding finding = {.scenario = scenario, .method = method, .study = study};
    int code = divide_all(&finding, arena);
    for (int i = 0; i < DIVISION_METHODS && code == EXIT_DONE && !interruption_noted(); i++)
        if (study->methods[i].found)
            code = simulate_division(scenario, study, &study->methods[i]);
    study->stopped = interruption_noted();
    return study->stopped && study->levels ? EXIT_DONE : code;
}

bool division_look(const struct scenario *scenario, struct arena *arena, struct division_study *study)
{
    struct finding finding = {.scenario = scenario, .method = PARTITION_ACCPAR, .study = study, .quiet = true};
    return divide_all(&finding, arena) == EXIT_DONE;
}
