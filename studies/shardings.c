/* SPDX-License-Identifier: Apache-2.0 */
#include "studies/shardings.h"

#include "analysis/figures/traffic.h"
#include "analysis/output/comparison.h"
#include "base/arena.h"
#include "base/exit_code.h"
#include "base/process/interruption.h"
#include "studies/evaluate.h"
#include "studies/sharding/balanced.h"
#include "studies/sharding/improve.h"
#include "studies/sharding/rules.h"
#include "studies/simulation.h"
#include "workloads/dlrm/dlrm.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Plans that the search asks the analytic engine for, and from how many of the fastest proposals it starts. */
enum { SEARCH_BUDGET = 1200, SEARCH_STARTS = 2 };
/* Tables of which the lower bound looks at each, those that read most first. */
enum { BOUND_TABLES = 16 };

/* In the process that evaluates. */
struct study {
    const struct scenario *scenario;
    struct platform *platform;
    enum shardings_method method;
    struct arena *arena;
    struct sharding_task task;
    struct diag hindered; /* by what: counted, not said */
    FILE *results;
    bool searching; /* loads are to have what ranks send, too */
    double most;    /* bytes that a rank may have; 0: not known */
    double second;  /* that a byte which a rank sends counts as, beside what it computes, in the search */
};

/* ---- what there is to place ---- */

static void describe_tables(struct study *study)
{
    const struct scenario *scenario = study->scenario;
    const struct dlrm_parameters *parameters = scenario->parameters;
    const struct dlrm_job job = {.parameters = parameters}; /* the state of a table needs no more */
    uint32_t count = (uint32_t)parameters->tables.count;
    struct dlrm_table *tables = arena_array(study->arena, count, sizeof *tables);
    double *bytes = arena_array(study->arena, count, sizeof *bytes);
    double *unique = arena_array(study->arena, count, sizeof *unique), batch = (double)scenario->global_batch;
    for (uint32_t i = 0; i < count; i++) {
        tables[i] = dlrm_table_of(parameters, i);
        bytes[i] = 4 * tables[i].rows * (double)tables[i].width * (1 + dlrm_sparse_state(&job, &tables[i]));
        unique[i] = dlrm_unique_rows(&tables[i], batch * tables[i].pooling);
    }
    study->task = (struct sharding_task){.count = count,
                                         .ranks = scenario->mesh.ranks,
                                         .tables = tables,
                                         .bytes = bytes,
                                         .unique = unique,
                                         .batch = batch};
}

/* ---- one plan ---- */

/* What the ranks compute in an iteration, seconds each, and the bytes that they send in all-to-alls. */
static void find_loads(const struct job *job, double *loads, double *sent)
{
    const struct program *program = job->program;
    for (uint32_t rank = 0; rank < program->mesh->ranks; rank++) {
        const struct position *position = &program->positions[program->mesh->position_of[rank]];
        double seconds = 0, bytes = 0;
        for (uint32_t id = 0; id < position->operation_count; id++) {
            const struct operation *operation = &position->operations[id];
            if (operation->type == OPERATION_COMPUTE)
                seconds += operation_cost(program, operation)->seconds;
            else if (operation->type == OPERATION_COLLECTIVE && operation->collective == STAGESIM_ALL_TO_ALL)
                bytes += traffic_sent(program, operation, position);
        }
        loads[rank] = seconds / program->iterations;
        sent[rank] = bytes / program->iterations;
    }
}

/* Times the scenario with these rules; NULL: with its own. False where it cannot be run so. */
static bool time_rules(struct study *study, const char *yaml, struct sharding_row *row, double *loads)
{
    struct arena *arena = arena_create();
    struct scenario_set sets[] = {{.text = "engine=analytic"},
                                  {.text = yaml ? arena_print(arena, "dlrm.sharding=%s", yaml) : NULL}};
    struct evaluation_request request = {study->scenario->request, sets, yaml ? 2 : 1, UINT64_MAX, .whole = true};
    struct evaluation evaluation;
    bool ok = evaluate(&request, study->platform, arena, &study->hindered, &evaluation);
    if (ok) {
        struct comparison_row result = comparison_row_of(evaluation.report);
        row->analytic = result.iteration;
        row->memory = result.peak_bytes;
        row->fits = !result.capacity_known || result.fits;
        study->most = evaluation.report->capacity_bytes * (1 - study->scenario->reserve);
        double *sent = arena_array(arena, study->task.ranks, sizeof *sent), busiest = 0;
        find_loads(evaluation.job, loads, sent);
        row->computing = row->mean = 0;
        for (uint32_t rank = 0; rank < study->task.ranks; rank++) {
            row->computing = fmax(row->computing, loads[rank]);
            row->mean += loads[rank] / study->task.ranks;
            busiest = fmax(busiest, sent[rank]);
        }
        if (!yaml) /* the time that the scenario's own plan does not compute is taken for that of its busiest sender */
            study->second = busiest > 0 ? fmax(0, row->analytic - row->computing) / busiest : 0;
        for (uint32_t rank = 0; rank < study->task.ranks && study->searching; rank++)
            loads[rank] += study->second * sent[rank];
    }
    arena_destroy(arena);
    return ok;
}

/* The text that `write` makes of a plan; the caller frees it. */
static char *text_of(const struct study *study, const struct dlrm_placement *placement,
                     void (*write)(FILE *, const struct sharding_task *, const struct dlrm_placement *))
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    write(out, &study->task, placement);
    fclose(out);
    return text;
}

static bool time_plan(struct study *study, const struct dlrm_placement *placement, struct sharding_row *row,
                      double *loads)
{
    char *yaml = text_of(study, placement, sharding_rules_yaml);
    bool ok = time_rules(study, yaml, row, loads);
    free(yaml);
    return ok;
}

static double judge_seconds(void *user, const struct dlrm_placement *placement, double *loads)
{
    struct study *study = user;
    struct sharding_row row;
    return time_plan(study, placement, &row, loads) && row.fits ? row.analytic : INFINITY;
}

/* ---- the bound, and the room for tables ---- */

static int by_reads(const void *left, const void *right)
{
    const struct dlrm_table *const *a = left, *const *b = right;
    double x = (*a)->pooling * (double)(*a)->width, y = (*b)->pooling * (double)(*b)->width;
    return x < y || x > y ? (x > y ? -1 : 1) : (*a > *b) - (*a < *b);
}

/* Lookups and updates of the largest table, when rank 0 has it alone and rank 1 all others; what a rank computes
 * without tables is taken off. */
static double largest_table(struct study *study, struct dlrm_placement *placement, double dense, double *loads)
{
    uint32_t count = study->task.count;
    const struct dlrm_table **order = array_zeroed(count, sizeof *order);
    struct sharding_row row;
    double largest = 0;
    for (uint32_t i = 0; i < count; i++)
        order[i] = &study->task.tables[i];
    qsort(order, count, sizeof *order, by_reads);
    for (uint32_t i = 0; i < count; i++)
        dlrm_placement_set(placement, i, DLRM_WHOLE, &(uint32_t){1}, 1);
    for (uint32_t i = 0; i < count && i < BOUND_TABLES && !interruption_noted(); i++) {
        uint32_t table = (uint32_t)(order[i] - study->task.tables);
        dlrm_placement_set(placement, table, DLRM_WHOLE, &(uint32_t){0}, 1);
        if (time_plan(study, placement, &row, loads))
            largest = fmax(largest, loads[0] - dense);
        dlrm_placement_set(placement, table, DLRM_WHOLE, &(uint32_t){1}, 1);
    }
    free(order);
    return largest;
}

/* Also finds the room for tables: what is left beside all else in the plan that cuts all tables over all ranks. */
static bool find_bounds(struct study *study, struct sharding_rows *bounds, double *loads)
{
    struct sharding_task *task = &study->task;
    struct dlrm_placement placement;
    struct sharding_row row;
    double bytes = 0;
    uint32_t *all = array_zeroed(task->ranks, sizeof *all);
    dlrm_placement_init(&placement, task->count, task->ranks);
    for (uint32_t rank = 0; rank < task->ranks; rank++)
        all[rank] = rank;
    for (uint32_t i = 0; i < task->count; i++) {
        dlrm_placement_set(&placement, i, DLRM_ROWS, all, task->ranks);
        bytes += task->bytes[i];
    }
    bool ok = time_plan(study, &placement, &row, loads);
    if (ok && study->most > 0)
        task->room = fmax(1, study->most - fmax(0, row.memory - bytes / task->ranks));
    for (uint32_t i = 0; i < task->count; i++)
        dlrm_placement_set(&placement, i, DLRM_WHOLE, &(uint32_t){0}, 1);
    ok = ok && time_plan(study, &placement, &row, loads);
    double dense = ok ? loads[1] : 0, mean = ok ? (loads[0] - dense) / task->ranks : 0;
    bounds->mean = dense + mean;
    bounds->whole = ok ? dense + fmax(mean, largest_table(study, &placement, dense, loads)) : 0;
    dlrm_placement_finish(&placement);
    free(all);
    return ok;
}

/* ---- what goes to the process that prints ---- */

static void put_text(FILE *out, const char *text)
{
    size_t size = strlen(text);
    fwrite(&size, sizeof size, 1, out);
    fwrite(text, 1, size, out);
}

static void put_row(const struct study *study, const struct sharding_row *row)
{
    fwrite(row, sizeof *row, 1, study->results);
    put_text(study->results, row->name);
    put_text(study->results, row->yaml);
    put_text(study->results, row->csv);
}

/* HugeCTR's planner knows of no tables in host memory. */
static bool is_planned(const struct study *study, const struct dlrm_placement *placement)
{
    for (uint32_t i = 0; i < study->task.count; i++)
        if (placement->places[i].split == DLRM_HOST)
            return false;
    return true;
}

/* A plan that was timed; `own`: by the scenario's rules as they stand there. */
static void hand_over(const struct study *study, const char *name, const struct dlrm_placement *placement, bool own,
                      struct sharding_row *row)
{
    char *yaml = text_of(study, placement, sharding_rules_yaml), *csv = text_of(study, placement, sharding_rules_csv);
    row->name = name;
    row->simgrid = NAN;
    row->cost = is_planned(study, placement) ? sharding_balanced_cost(&study->task, placement) : NAN;
    row->yaml = own ? "" : yaml;
    row->csv = csv;
    row->cut = row->replicated = 0;
    for (uint32_t i = 0; i < study->task.count; i++) {
        enum dlrm_split split = placement->places[i].split;
        row->cut += split == DLRM_ROWS || split == DLRM_COLUMNS;
        row->replicated += split == DLRM_REPLICATED;
    }
    put_row(study, row);
    free(yaml);
    free(csv);
}

static char *get_text(FILE *in, struct arena *arena)
{
    size_t size = 0;
    if (fread(&size, sizeof size, 1, in) != 1)
        return NULL;
    char *text = arena_array(arena, size + 1, 1);
    return fread(text, 1, size, in) == size ? text : NULL;
}

static bool get_rows(FILE *in, struct sharding_rows *rows, struct arena *arena)
{
    struct sharding_row row, *items = NULL;
    size_t capacity = 0;
    bool ok = fread(&rows->whole, sizeof rows->whole, 1, in) == 1 && fread(&rows->mean, sizeof rows->mean, 1, in) == 1;
    while (ok && fread(&row, sizeof row, 1, in) == 1) {
        row.name = get_text(in, arena);
        row.yaml = get_text(in, arena);
        row.csv = get_text(in, arena);
        ok = row.name && row.yaml && row.csv;
        items = array_grow(items, &capacity, rows->count + 1, sizeof *items);
        items[rows->count++] = row;
        rows->fitting += row.fits;
    }
    rows->rows = arena_array(arena, rows->count + 1, sizeof *items);
    if (rows->count)
        memcpy(rows->rows, items, rows->count * sizeof *items);
    free(items);
    return ok && !ferror(in);
}

/* ---- proposals ---- */

/* A proposal that was timed, for the search to start from. */
struct proposal {
    struct dlrm_placement placement;
    double seconds;
};

struct proposals {
    struct proposal *items;
    size_t count, capacity;
};

/* False where it cannot be run. */
static bool add_own(struct study *study, double *loads)
{
    struct sharding_row row;
    struct dlrm_job job = {.parameters = study->scenario->parameters,
                           .tables = (struct dlrm_table *)(uintptr_t)study->task.tables,
                           .table_count = study->task.count,
                           .ranks = study->task.ranks};
    if (!time_rules(study, NULL, &row, loads))
        return false;
    if (dlrm_model_place(&job))
        hand_over(study, "scenario", &job.placement, true, &row);
    dlrm_placement_finish(&job.placement);
    return true;
}

static void propose_all(struct study *study, struct proposals *proposals, double *loads)
{
    for (const struct sharding_maker *maker = study->method == SHARDINGS_GREEDY ? sharding_greedy : sharding_cutting;
         maker->name && !interruption_noted(); maker++) {
        struct sharding_row row;
        struct proposal proposal;
        dlrm_placement_init(&proposal.placement, study->task.count, study->task.ranks);
        if (!maker->make(&study->task, &proposal.placement) || !time_plan(study, &proposal.placement, &row, loads)) {
            dlrm_placement_finish(&proposal.placement);
            continue;
        }
        hand_over(study, maker->name, &proposal.placement, false, &row);
        proposal.seconds = row.fits ? row.analytic : INFINITY;
        proposals->items =
            array_grow(proposals->items, &proposals->capacity, proposals->count + 1, sizeof *proposals->items);
        proposals->items[proposals->count++] = proposal;
    }
}

static struct proposal *fastest(const struct proposals *proposals)
{
    struct proposal *found = NULL;
    for (size_t i = 0; i < proposals->count; i++)
        if (!isinf(proposals->items[i].seconds) && (!found || proposals->items[i].seconds < found->seconds))
            found = &proposals->items[i];
    return found;
}

static bool is_stopped(void)
{
    return interruption_noted() != 0;
}

static void search(struct study *study, const struct proposals *proposals, double *loads)
{
    struct sharding_judge judge = {judge_seconds, is_stopped, study, 0};
    struct proposal *best = NULL;
    double least = INFINITY;
    study->searching = true;
    for (int start = 0; start < SEARCH_STARTS; start++) {
        struct proposal *from = fastest(proposals);
        double before = from ? from->seconds : INFINITY;
        if (!from || interruption_noted())
            break;
        judge.budget += SEARCH_BUDGET / SEARCH_STARTS;
        double found = sharding_improve(&study->task, &judge, &from->placement, loads);
        from->seconds = INFINITY; /* not again */
        if (found <= before && found < least) {
            best = from;
            least = found;
        }
    }
    struct sharding_row row;
    study->searching = false;
    if (best && time_plan(study, &best->placement, &row, loads))
        hand_over(study, "search", &best->placement, false, &row);
}

/* Where no plan can be run, what hinders the scenario's own is said. */
static int say_what_hinders(const struct study *study, struct diag *diag)
{
    if (study->hindered.trouble) {
        diag_trouble(diag, (struct place){study->scenario->file, 0, 0},
                     "not every sharding could be evaluated: a file could not be read again, or there was no memory");
        return EXIT_FAILED;
    }
    struct arena *arena = arena_create();
    job_create_steady(study->scenario, study->platform, arena, diag);
    arena_destroy(arena);
    if (!diag->errors)
        diag_error(diag, scenario_place(study->scenario, "dlrm"), "no sharding can be run");
    return EXIT_BAD_INPUT;
}

static int study_all(void *user, struct platform *platform, FILE *results, struct diag *diag)
{
    const struct study *asked = user;
    struct study study = {.scenario = asked->scenario,
                          .platform = platform,
                          .method = asked->method,
                          .arena = arena_create(),
                          .results = results};
    struct sharding_rows bounds = {0};
    struct proposals proposals = {0};
    interruption_renew(); /* SimGrid has put a handler of its own there */
    describe_tables(&study);
    double *loads = arena_array(study.arena, study.task.ranks, sizeof *loads);
    bool ok = find_bounds(&study, &bounds, loads);
    if (ok) {
        fwrite(&bounds.whole, sizeof bounds.whole, 1, results);
        fwrite(&bounds.mean, sizeof bounds.mean, 1, results);
        ok = add_own(&study, loads);
    }
    if (ok) {
        propose_all(&study, &proposals, loads);
        if (study.method == SHARDINGS_SEARCH)
            search(&study, &proposals, loads);
    }
    int code = ok && !study.hindered.trouble ? EXIT_DONE : say_what_hinders(&study, diag);
    for (size_t i = 0; i < proposals.count; i++)
        dlrm_placement_finish(&proposals.items[i].placement);
    free(proposals.items);
    arena_destroy(study.arena);
    return code;
}

/* ---- all of it ---- */

/* Equal times in the order of the names. */
static int by_time(const void *left, const void *right)
{
    const struct sharding_row *a = left, *b = right;
    if (a->fits != b->fits)
        return a->fits ? -1 : 1;
    if (a->analytic < b->analytic || a->analytic > b->analytic)
        return a->analytic < b->analytic ? -1 : 1;
    return strcmp(a->name, b->name);
}

static int simulate_row(const struct scenario *scenario, struct sharding_row *row)
{
    struct arena *arena = arena_create();
    struct scenario_set sets[] = {{.text = "engine=simgrid"},
                                  {.text = arena_print(arena, "dlrm.sharding=%s", row->yaml)}};
    int code = simulate_iteration(scenario, sets, *row->yaml ? 2 : 1, &row->simgrid);
    arena_destroy(arena);
    return code;
}

/* Adds up the tables' laws, thousands of rows each, for the processes that simulate: they inherit what is known. */
static void remember_tables(const struct scenario *scenario)
{
    const struct dlrm_parameters *parameters = scenario->parameters;
    double batch = (double)scenario->global_batch / fmax(1, scenario->micro_batches);
    for (uint32_t i = 0; i < parameters->tables.count; i++) {
        struct dlrm_table table = dlrm_table_of(parameters, i);
        dlrm_unique_rows(&table, batch * table.pooling);
        dlrm_unique_rows(&table, batch / scenario->mesh.ranks * table.pooling);
    }
}

static bool check(const struct scenario *scenario)
{
    struct diag diag = {.out = stderr};
    if (!simulation_expects_samples(scenario, scenario->global_batch > 0, &diag))
        return false;
    if (scenario->mesh.ranks < 2)
        diag_error(&diag, scenario_place(scenario, "parallel"),
                   "one rank has all tables; expected parallel: {data: 2} or more");
    return diag.errors == 0;
}

int shardings_find(const struct scenario *scenario, enum shardings_method method, size_t top,
                   struct sharding_rows *rows, struct arena *arena)
{
    FILE *results = NULL;
    struct study asked = {.scenario = scenario, .method = method};
    *rows = (struct sharding_rows){0};
    if (!check(scenario))
        return EXIT_BAD_INPUT;
    int code = simulation_visit(&(struct simulation_visit){scenario, study_all, &asked}, &results);
    if (code == EXIT_DONE && !get_rows(results, rows, arena)) {
        fputs("stagesim: the shardings could not be read back\n", stderr);
        code = EXIT_FAILED;
    }
    if (results)
        fclose(results);
    if (rows->count)
        qsort(rows->rows, rows->count, sizeof *rows->rows, by_time);
    if (code == EXIT_DONE && top)
        remember_tables(scenario);
    while (code == EXIT_DONE && !interruption_noted() && rows->simulated < top && rows->simulated < rows->fitting) {
        code = simulate_row(scenario, &rows->rows[rows->simulated]);
        rows->simulated += code == EXIT_DONE;
    }
    rows->stopped = interruption_noted();
    return rows->stopped && rows->count ? EXIT_DONE : code;
}
