/* SPDX-License-Identifier: Apache-2.0 */
#include "commands/schedule/schedule_on.h"

#include "base/arena.h"
#include "base/exit_code.h"
#include "base/process/interruption.h"
#include "base/quantity.h"
#include "schedules/plan/plan_file.h"
#include "studies/lab.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- a folder for orders ---- */

static const char *make_folder(struct arena *arena)
{
    const char *parent = getenv("TMPDIR");
    char *folder = arena_print(arena, "%s/stagesim-lab-XXXXXX", parent && *parent ? parent : "/tmp");
    return mkdtemp(folder);
}

static void remove_folder(const char *folder, struct arena *arena)
{
    DIR *directory = opendir(folder);
    for (struct dirent *entry; directory && (entry = readdir(directory));)
        if (entry->d_name[0] != '.')
            unlink(arena_print(arena, "%s/%s", folder, entry->d_name));
    if (directory)
        closedir(directory);
    rmdir(folder);
}

/* ---- what is printed ---- */

static void print_table(const struct lab *lab, FILE *out, enum table_format format)
{
    struct table *table = table_create();
    char text[READABLE_MAX];
    bool layouts = false;
    for (uint32_t i = 0; i < lab->count; i++)
        layouts |= lab->candidates[i].layout[0] != '\0';
    table_columns(table, ">rank", "<schedule", ">iteration", ">analytic", ">above bound", ">memory", "<fits", NULL);
    if (layouts)
        table_column(table, "layers", '<');
    for (uint32_t i = 0; i < lab->count && i < LAB_CONFIRMED; i++) {
        const struct lab_candidate *candidate = &lab->candidates[i];
        table_cell(table, "%u", i + 1);
        table_cell(table, "%s", candidate->label);
        table_cell(table, "%s", candidate->simgrid > 0 ? readable_seconds(text, candidate->simgrid) : "");
        table_cell(table, "%s", readable_seconds(text, candidate->analytic));
        table_cell(table, "%s",
                   candidate->bound > 0 ? readable_percent(text, candidate->analytic / candidate->bound - 1) : "");
        table_cell(table, "%s", candidate->peak_bytes > 0 ? readable_binary_bytes(text, candidate->peak_bytes) : "");
        table_cell(table, "%s", candidate->fits ? "yes" : "no");
        if (layouts)
            table_cell(table, "%s", candidate->layout);
    }
    table_finish(table, out, table_style_of(format, out));
}

static void print_sets(const struct lab_candidate *candidate, FILE *out)
{
    if (strcmp(candidate->schedule, "best") != 0)
        fprintf(out, " --set schedule.name=%s", candidate->schedule);
    for (uint32_t i = 0; i < candidate->set_count; i++)
        fprintf(out, " --set '%s'", candidate->sets[i]);
}

/* What is best with the schedule that the scenario has, where layers were moved. */
static void print_own(const struct lab *lab, FILE *out)
{
    const struct lab_candidate *own = NULL;
    char text[READABLE_MAX];
    for (uint32_t i = 0; i < lab->count; i++) {
        const struct lab_candidate *candidate = &lab->candidates[i];
        if (candidate->own && !candidate->improved &&
            (!own || candidate->fits > own->fits ||
             (candidate->fits == own->fits && candidate->analytic < own->analytic)))
            own = candidate;
    }
    if (!own)
        return;
    fprintf(out, "with the scenario's own schedule %s on the analytic engine%s:", readable_seconds(text, own->analytic),
            own->fits ? "" : ", more than fits");
    print_sets(own, out);
    fputc('\n', out);
}

/* The value of one of a candidate's keys; NULL where it has none. */
static const char *value_of(const struct lab_candidate *candidate, const char *key)
{
    size_t length = strlen(key);
    for (uint32_t i = 0; i < candidate->set_count; i++)
        if (!strncmp(candidate->sets[i], key, length) && candidate->sets[i][length] == '=')
            return candidate->sets[i] + length + 1;
    return NULL;
}

/* Layers and recomputation as Megatron-LM's arguments. */
static void print_megatron(const struct lab_candidate *candidate, FILE *out)
{
    const char *again = value_of(candidate, "schedule.recompute");
    fprintf(out, "Megatron-LM: --pipeline-model-parallel-layout '%s'", candidate->layout);
    if (again && !strcmp(again, "full"))
        fputs(" --recompute-granularity full --recompute-method uniform --recompute-num-layers 1", out);
    if (again && !strcmp(again, "selective"))
        fputs(" --recompute-granularity selective", out);
    fputs(again && again[0] == '[' ? "; it computes again alike in all stages, which here differ\n" : "\n", out);
}

/* The winner as keys of a scenario. */
static void print_keys(const struct lab *lab, FILE *out)
{
    const struct lab_candidate *best = &lab->candidates[0];
    fprintf(out, "the best as scenario keys:");
    print_sets(best, out);
    fputs(best->improved ? "\nits order was changed on the platform: -o FILE.csv writes it, schedule.file takes it\n"
                         : "\n",
          out);
    if (best->layout[0])
        print_megatron(best, out);
    print_own(lab, out);
    if (lab->stopped)
        fprintf(out, "stopped after %u schedules were timed: another run may find a better one\n", lab->count);
}

static void print_remarks(const struct lab *lab, FILE *out, enum table_format format)
{
    char *lines = NULL;
    size_t size = 0;
    FILE *remarks = table_remarks_begin(&lines, &size);
    print_keys(lab, remarks);
    table_remarks_end(out, format, remarks, &lines);
}

/* ---- the winner's order ---- */

static bool read_times(const char *path, uint32_t stages, struct plan_costs *costs, struct arena *arena)
{
    FILE *file = fopen(path, "r");
    double *times[3];
    bool good = file && fscanf(file, "%lf", &costs->latency) == 1;
    for (unsigned kind = 0; kind < 3; kind++)
        times[kind] = arena_array(arena, stages, sizeof(double));
    for (uint32_t stage = 0; good && stage < stages; stage++)
        good = fscanf(file, "%lf %lf %lf", &times[0][stage], &times[1][stage], &times[2][stage]) == 3;
    costs->forward = times[0];
    costs->backward = times[1];
    costs->weight = times[2];
    if (file)
        fclose(file);
    return good;
}

static int read_order(const struct lab *lab, uint32_t rank, const char *folder, struct arena *arena,
                      struct schedule_on_result *result)
{
    struct diag diag = {.out = stderr};
    uint32_t number = lab->candidates[rank].number;
    result->plan = plan_file_read(arena_print(arena, "%s/%u.csv", folder, number), PYTORCH_TODAY, &diag);
    if (!result->plan)
        return EXIT_FAILED;
    if (read_times(arena_print(arena, "%s/%u.times", folder, number), result->plan->stages, &result->costs, arena))
        return EXIT_DONE;
    plan_destroy(result->plan);
    result->plan = NULL;
    diag_print(stderr, "stagesim schedule: the order in %s cannot be read again\n", folder);
    return EXIT_FAILED;
}

/* The order of the first of the list that PyTorch can run, and what it is where that is not the best. */
static int read_for_pytorch(const struct schedule_on_request *request, const struct lab *lab, const char *folder,
                            struct arena *arena, struct schedule_on_result *result)
{
    struct fault why = {""}, fault = {""};
    for (uint32_t rank = 0; rank < lab->count; rank++) {
        const struct lab_candidate *candidate = &lab->candidates[rank];
        char text[READABLE_MAX];
        int code = read_order(lab, rank, folder, arena, result);
        if (code)
            return code;
        if (plan_pytorch_holds(result->plan, &fault)) {
            if (rank > 0) {
                fprintf(request->table, "PyTorch: rank %u, %s, %s on the %s:", rank + 1, candidate->label,
                        readable_seconds(text, candidate->simgrid > 0 ? candidate->simgrid : candidate->analytic),
                        candidate->simgrid > 0 ? "SimGrid engine" : "analytic engine");
                print_sets(candidate, request->table);
                fprintf(request->table, "; not the best: %s\n", why.text);
            }
            return EXIT_DONE;
        }
        why = rank == 0 ? fault : why;
        plan_destroy(result->plan);
        result->plan = NULL;
    }
    diag_print(stderr, "stagesim schedule: none of the orders can be written for PyTorch; of the best: %s\n", why.text);
    return EXIT_BAD_INPUT;
}

/* Only a transformer's stages are made of layers that can move. */
static bool check_partition(const struct schedule_on_request *request, const struct scenario *scenario,
                            struct diag *diag)
{
    const char *workload = scenario->workload->name;
    if (!request->partition || strcmp(workload, "transformer") == 0)
        return true;
    diag_error(
        diag, scenario_place(scenario, "workload"),
        "--partition moves the layers of a transformer, and the workload is '%s'; without --partition, schedules "
        "are tried for its stages as they are",
        workload);
    diag_rest(diag);
    return false;
}

int schedule_on(const struct schedule_on_request *request, struct arena *arena, struct schedule_on_result *result)
{
    struct diag diag = {.out = stderr};
    *result = (struct schedule_on_result){.plan = NULL};
    struct scenario *scenario = scenario_load(&request->scenario, arena, &diag);
    if (!scenario || !check_partition(request, scenario, &diag))
        return EXIT_BAD_INPUT;
    const char *folder = make_folder(arena);
    if (!folder) {
        diag_print(stderr, "stagesim schedule: no folder for orders can be made in $TMPDIR or /tmp\n");
        return EXIT_FAILED;
    }
    struct lab *lab = arena_alloc(arena, sizeof *lab);
    interruption_await();
    int code =
        lab_run(&(struct lab_request){scenario, request->effort, request->time_limit, request->partition, folder}, lab);
    if (code == EXIT_DONE) {
        print_table(lab, request->table, request->format);
        print_remarks(lab, request->table, request->format);
        code = request->pytorch ? read_for_pytorch(request, lab, folder, arena, result)
                                : read_order(lab, 0, folder, arena, result);
    }
    remove_folder(folder, arena);
    return code;
}
