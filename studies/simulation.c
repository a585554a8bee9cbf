/* SPDX-License-Identifier: Apache-2.0 */
#include "studies/simulation.h"

#include "analysis/output/run_print.h"
#include "base/arena.h"
#include "base/diagnostics.h"
#include "base/exit_code.h"
#include "base/isolate.h"
#include "base/process/guard.h"
#include "base/process/interruption.h"
#include "base/table.h"
#include "job/scenario/scenario_kind.h"
#include "simulator/engines/engine.h"
#include "simulator/engines/simgrid_part.h"
#include "simulator/run/folded_run.h"
#include "studies/describe.h"
#include "studies/simulation_run.h"
#include "studies/steps/tails.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- check ---- */

static void print_what_would_run(const struct run *run, const struct timeline *timeline)
{
    struct run_description description;
    job_describe(run->job, &description);
    description.engine = engine_analytic.name;
    description.printed = true;
    struct report *report = report_create(&description, timeline, run->platform, run->arena);
    const struct mesh *mesh = run->job->program->mesh;
    diag_print(stdout, "%s: ok\n%u rank%s on %u GPU%s of %s:", run->scenario->file, mesh->ranks,
               readable_plural(mesh->ranks), run->platform->host_count, readable_plural(run->platform->host_count),
               run->scenario->platform_name);
    for (unsigned i = 0; i < mesh->name_count; i++)
        printf(" %s %u", mesh->names[i].name, mesh->names[i].size);
    if (mesh->extra)
        printf(" servers %u", mesh->extra);
    printf("\n%llu operations", (unsigned long long)program_all_operations(run->job->program));
    if (run->scenario->schedule_name)
        diag_print(stdout, ", schedule %s, %u micro-batch%s per replica", run->scenario->schedule_name,
                   run->scenario->micro_batches, run->scenario->micro_batches == 1 ? "" : "es");
    putchar('\n');
    if (description.figures.pipeline_layout)
        printf("pipeline layout %s\n", description.figures.pipeline_layout);
    if (description.figures.choices)
        diag_print(stdout, "chosen %s\n", description.figures.choices);
    if (description.imported.summary)
        diag_print(stdout, "imported from %s\n", description.imported.summary);
    for (size_t i = 0; i < description.note_count; i++)
        diag_print(stdout, "note: %s\n", description.notes[i]);
    if (report->peak_bytes <= 0)
        return;
    printf("%.4g GiB of memory per rank at most", report->peak_bytes / 0x1p30);
    memory_capacity_print(stdout, report);
    puts(report->capacity_bytes <= 0 ? "" : report->fits ? ": fits" : ": does not fit");
}

static int check_program(struct run *run)
{
    struct fault fault = {""};
    struct folded_run folded;
    if (run_build(run) != EXIT_DONE)
        return EXIT_BAD_INPUT;
    struct engine_job job = {.program = run->job->program, .platform = run->platform, .hosts = run->job->hosts};
    bool ok = folded_run(&engine_analytic, &job, run->scenario->fold == FOLD_AUTO, run->arena, &folded, &fault);
    if (!ok)
        return run_refuse(run, &fault);
    if (!tails_fit(run->scenario, run->job->program->stages, &run->diag)) {
        timeline_destroy(folded.timeline);
        return EXIT_BAD_INPUT;
    }
    print_what_would_run(run, folded.timeline);
    timeline_destroy(folded.timeline);
    return EXIT_DONE;
}

static int check_child(void *user, struct isolated *self)
{
    struct run run = {.scenario = user};
    if (run.scenario->kind)
        return run_visit_kind(NULL, run.scenario, false, self);
    return run_prepared(check_program, false, &run, self);
}

/* ---- the parent ---- */

/* What some of SimGrid's last words mean here. */
static const char *in_words(const char *text)
{
    static const char *const meanings[][2] = {
        {"The Impossible Did Happen",
         "work starts on a host or link whose profile has brought its speed or bandwidth to 0; what is to fail "
         "has a state_file, what is to be slow a value above 0"},
        {"Failed to allocate stack",
         "no memory for so many ranks; `fold: auto` simulates equal replicas once, and the analytic engine "
         "takes far less"},
    };
    for (size_t i = 0; i < sizeof meanings / sizeof *meanings; i++)
        if (strstr(text, meanings[i][0]))
            return meanings[i][1];
    return text;
}

static int report_abnormal_end(const struct scenario *scenario, int stage, const struct fault *fault, FILE *out)
{
    struct diag diag = {.out = out};
    if (stage == STAGE_CONFIGURING) {
        diag_error(&diag, scenario_place(scenario, "simgrid"), "SimGrid refuses a setting: %s", fault->text);
        return EXIT_BAD_INPUT;
    }
    if (stage == STAGE_LOADING) {
        diag_error(&diag, (struct place){run_platform_name(&scenario->platform), 0, 0}, "%s", fault->text);
        return EXIT_BAD_INPUT;
    }
    diag_print(out, "stagesim: the simulation failed: %s\n", in_words(fault->text));
    return EXIT_FAILED;
}

/* The rows of the parts of what is no job. */
static bool read_parts(FILE *results, struct simulation_result *result)
{
    size_t capacity = 0;
    if (fread(&result->part_count, sizeof result->part_count, 1, results) != 1)
        return false;
    result->parts = array_grow(NULL, &capacity, result->part_count + 1, sizeof *result->parts);
    return fread(result->parts, sizeof *result->parts, result->part_count, results) == result->part_count;
}

static bool read_told(FILE *results, struct simulation_result *result)
{
    size_t size, capacity = 0;
    if (fread(&size, sizeof size, 1, results) != 1)
        return false;
    result->told = array_grow(NULL, &capacity, size + 1, 1);
    result->told[size] = '\0';
    return fread(result->told, 1, size, results) == size;
}

static bool read_results(const struct simulation_request *request, FILE *results, struct simulation_result *result)
{
    bool whole = request->scenario->kind;
    result->row_count = request->scenario->engine == ENGINE_BOTH && !whole ? 2 : 1;
    if (fread(result->rows, sizeof *result->rows, result->row_count, results) == result->row_count &&
        (!whole || read_parts(results, result)) && read_told(results, result))
        result->gantt = gantt_load(results);
    if (!result->gantt)
        fputs("stagesim: the simulation's results could not be read back\n", stderr);
    return result->gantt != NULL;
}

/* For a command that awaits interruptions: ends the process then, or tells it. */
static void watch(struct isolation *isolation, int number)
{
    bool told = false;
    while (interruption_is_awaited() && isolate_runs(isolation)) {
        if (interruption_noted() && !told)
            isolate_signal(isolation, number);
        told = interruption_noted();
        nanosleep(&(struct timespec){0, 1000000}, NULL);
    }
}

struct isolation *simulation_start(const struct simulation_request *request, struct fault *fault)
{
    if (request->scenario->engine != ENGINE_ANALYTIC && !simgrid_part(fault))
        return NULL; /* loaded here, once for all the runs of a command */
    return (request->scenario->engine == ENGINE_ANALYTIC ? isolate_start_plain
                                                         : isolate_start)(run_child, (void *)(uintptr_t)request, fault);
}

int simulation_finish(const struct simulation_request *request, struct isolation *isolation,
                      struct simulation_result *result)
{
    struct fault fault = {""};
    FILE *results = NULL;
    int stage = 0;
    *result = (struct simulation_result){0};
    int code = isolate_wait(isolation, &results, &stage, &fault);
    if (code != EXIT_DONE && interruption_noted())
        code = EXIT_FAILED; /* whatever it has to say */
    else if (code < 0)
        code = report_abnormal_end(request->scenario, stage, &fault, request->mistakes ? request->mistakes : stderr);
    else if ((code == EXIT_DONE || code == EXIT_AHEAD) && !read_results(request, results, result))
        code = EXIT_FAILED;
    if (request->files && code != EXIT_AHEAD &&
        !run_files_join(request->files, code == EXIT_DONE, request->output, &fault)) {
        diag_print(request->mistakes ? request->mistakes : stderr, "stagesim: %s\n", fault.text);
        code = fault.refused ? EXIT_BAD_INPUT : EXIT_FAILED;
    }
    if (code == EXIT_DONE && request->print)
        result->printed = results;
    else if (results)
        fclose(results);
    return code;
}

static int simulate_once(const struct simulation_request *request, struct simulation_result *result)
{
    struct fault fault = {""};
    struct isolation *isolation = simulation_start(request, &fault);
    *result = (struct simulation_result){0};
    if (!isolation) {
        diag_print(request->mistakes ? request->mistakes : stderr, "stagesim: %s\n", fault.text);
        return EXIT_FAILED;
    }
    watch(isolation, SIGKILL);
    return simulation_finish(request, isolation, result);
}

void simulation_free(struct simulation_result *result)
{
    gantt_destroy(result->gantt);
    free(result->parts);
    free(result->told);
    *result = (struct simulation_result){0};
}

static void tell_unsettled(const struct simulation_request *request, struct simulation_result *result,
                           struct arena *arena)
{
    const char *text = simulation_note_unsettled(&result->rows[result->row_count - 1], arena);
    if (!request->quiet)
        diag_print(stderr, "note: %s\n", text);
}

/* Ranks run ahead into the next iteration: `result` has what one takes. */
static int simulate_again(const struct simulation_request *request, struct simulation_result *result)
{
    struct arena *arena = arena_create();
    struct simulation_request again = simulation_again(request, result, arena), rest = *request;
    struct simulation_result settled = {0};
    int code = again.scenario ? simulate_once(&again, &settled) : EXIT_FAILED;
    bool failed = code != EXIT_DONE, other = !failed && simulation_is_unlike(&settled);
    code = interruption_noted() ? code : EXIT_DONE;
    if (code == EXIT_DONE && (request->files || request->draw || request->print)) {
        simulation_free(result);
        rest.settles = false;
        rest.settled = other ? again.settled : 0;
        rest.scenario = other ? again.scenario : rest.scenario;
        code = simulate_once(&rest, result);
    } else if (other) {
        struct simulation_result one = *result;
        *result = settled;
        settled = one;
    }
    if (failed && code == EXIT_DONE)
        tell_unsettled(request, result, arena);
    simulation_free(&settled);
    arena_destroy(arena);
    return code;
}

int simulate(const struct simulation_request *request, struct simulation_result *result)
{
    int code = simulate_once(request, result);
    if (code == EXIT_AHEAD)
        code = simulate_again(request, result);
    if (code == EXIT_DONE && !request->quiet)
        fputs(result->told, stderr);
    free(result->told);
    result->told = NULL;
    return code;
}

int simulate_changed(const struct scenario *scenario, const struct scenario_set *sets, size_t count,
                     struct simulation_result *result)
{
    struct arena *arena = arena_create();
    struct scenario_request changed = scenario_request_with(&scenario->request, sets, count, arena);
    changed.study = true;
    struct simulation_request request = {.scenario = scenario_load(&changed, arena, &(struct diag){.out = stderr}),
                                         .quiet = true};
    *result = (struct simulation_result){0};
    int code = request.scenario ? simulate(&request, result) : EXIT_BAD_INPUT;
    gantt_destroy(result->gantt);
    result->gantt = NULL;
    arena_destroy(arena);
    return code;
}

int simulate_iteration(const struct scenario *scenario, const struct scenario_set *sets, size_t count,
                       double *iteration)
{
    struct simulation_result result;
    int code = simulate_changed(scenario, sets, count, &result);
    if (code == EXIT_DONE)
        *iteration = result.rows[0].iteration;
    return code;
}

bool simulation_expects_samples(const struct scenario *scenario, bool known, struct diag *diag)
{
    if (!known)
        diag_error(diag, scenario_place(scenario, "batch"),
                   "the samples of an iteration are not known; expected batch.global or batch.micro");
    return known;
}

bool simulation_print(struct simulation_result *result)
{
    char text[4096];
    if (!result->printed)
        return true;
    for (size_t size; (size = fread(text, 1, sizeof text, result->printed)) > 0;)
        fwrite(text, 1, size, stdout);
    bool complete = !ferror(result->printed);
    if (!complete)
        fputs("stagesim: the simulation's figures could not be read back\n", stderr);
    fclose(result->printed);
    result->printed = NULL;
    return complete;
}

int simulation_check(const struct scenario *scenario)
{
    struct fault fault = {""};
    FILE *results;
    int stage = 0;
    int code = isolate(check_child, (void *)(uintptr_t)scenario, &results, &stage, &fault);
    if (code < 0)
        code = report_abnormal_end(scenario, stage, &fault, stderr);
    if (results)
        fclose(results);
    return code;
}

/* ---- other uses of a loaded platform ---- */

static int visit_child(void *user, struct isolated *self)
{
    const struct simulation_visit *visit = user;
    struct run run = {
        .scenario = visit->scenario, .self = self, .arena = arena_create(), .diag = {.out = self->console}};
    int code = run_load_platform(&run, visit->simulates);
    if (code == EXIT_DONE)
        code = visit->body(visit->user, run.platform, self->results, &run.diag);
    arena_destroy(run.arena);
    return code;
}

struct isolation *simulation_visit_start(const struct simulation_visit *visit, struct fault *fault)
{
    return isolate_start(visit_child, (void *)(uintptr_t)visit, fault);
}

int simulation_visit_wait(const struct simulation_visit *visit, struct isolation *isolation, FILE **results)
{
    struct fault fault = {""};
    int stage = 0;
    watch(isolation, SIGTERM);
    int code = isolate_wait(isolation, results, &stage, &fault);
    return code < 0 ? report_abnormal_end(visit->scenario, stage, &fault, stderr) : code;
}

int simulation_visit(const struct simulation_visit *visit, FILE **results)
{
    struct fault fault = {""};
    struct isolation *isolation = simulation_visit_start(visit, &fault);
    *results = NULL;
    if (isolation)
        return simulation_visit_wait(visit, isolation, results);
    diag_print(stderr, "stagesim: %s\n", fault.text);
    return EXIT_FAILED;
}
