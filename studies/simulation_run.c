/* SPDX-License-Identifier: Apache-2.0 */
/* A run inside its process: the platform, the job, the engines. */
#include "studies/simulation_run.h"

#include "analysis/figures/idle.h"
#include "analysis/output/run_print.h"
#include "analysis/pictures/gantt_collect.h"
#include "base/arena.h"
#include "base/diagnostics.h"
#include "base/exit_code.h"
#include "base/figure.h"
#include "base/isolate.h"
#include "base/process/clock.h"
#include "base/process/guard.h"
#include "base/process/interruption.h"
#include "job/scenario/scenario_kind.h"
#include "job/steady/steady_run.h"
#include "simulator/engines/analytic/columns.h"
#include "simulator/engines/class_store.h"
#include "simulator/engines/engine.h"
#include "simulator/engines/progress.h"
#include "simulator/engines/simgrid_part.h"
#include "simulator/run/folded_run.h"
#include "studies/choice.h"
#include "studies/describe.h"
#include "studies/evaluate.h"
#include "studies/levers.h"
#include "studies/shortened_report.h"
#include "studies/steps/tails.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

/* Where mistakes go. */
static FILE *mistakes_of(const struct run *run)
{
    return run->request && run->request->mistakes ? run->request->mistakes : run->self->console;
}

static int fail(const struct run *run, int code, const struct fault *fault)
{
    diag_print(mistakes_of(run), "stagesim: %s\n", fault->text);
    return code;
}

/* A program that cannot finish is a mistake in the scenario. */
int run_refuse(struct run *run, const struct fault *fault)
{
    diag_error(&run->diag, scenario_place(run->scenario, ""), "%s", fault->text);
    return EXIT_BAD_INPUT;
}

static void measure(const struct run *run, struct report *report, double wall)
{
    const struct platform *platform = run->platform;
    struct rusage usage;
    if (run->request->nearest)
        report->run.nearest = *run->request->nearest;
    getrusage(RUSAGE_SELF, &usage);
    report->wall = wall;
    report->activities_per_s = wall > 0 ? (double)report->activities / wall : 0;
    report->platform_loader = platform->loader;
    report->platform_loader_reason = platform->loader_reason;
    report->peak_rss_bytes = 1024.0 * (double)usage.ru_maxrss;
}

/* Only pictures show boxes, the critical path and memory over time. */
static struct gantt *make_gantt(const struct run *run, const struct timeline *timeline, const struct report *report)
{
    struct gantt_choice choice = {.messages = true, .rows_only = !run->request->draw};
    choice.levels = run->request->files && (run->request->files->html || run->request->files->memory);
    if (run->request->draw) {
        choice.critical = critical_path_create(frame_create(timeline, run->arena), run->arena);
    }
    return gantt_of_run(report, timeline, &choice);
}

/* The same program with free transfers, and on SimGrid's engine with transfers that are alone. Where one of them cannot
 * run, there are no such figures. */
struct nested {
    struct timeline *free, *alone; /* to be destroyed; NULL: not run */
    struct idle_run free_time;
    struct idle_timelines timelines;
};

static struct timeline *run_nested(struct run *run, bool transfers_free)
{
    struct fault fault = {""};
    struct folded_run folded;
    struct engine_job job = {.program = run->job->program,
                             .platform = run->platform,
                             .hosts = run->job->hosts,
                             .classes = run->classes,
                             .transfers_free = transfers_free};
    return folded_run(&engine_analytic, &job, true, run->arena, &folded, &fault) ? folded.timeline : NULL;
}

/* How long it takes with free transfers, which is all that is printed of that run. */
static bool time_free(struct run *run, const struct engine *engine, const struct folding *folding,
                      struct idle_run *free_time)
{
    struct columns_time time;
    struct engine_job job = {.program = run->job->program,
                             .platform = run->platform,
                             .hosts = run->job->hosts,
                             .classes = run->classes,
                             .folding = engine == &engine_analytic && folding->classes ? folding : NULL,
                             .transfers_free = true};
    if (run->request->files || run->scenario->fold != FOLD_AUTO || !columns_run(&job, run->arena, &time))
        return false;
    *free_time = (struct idle_run){time.iteration, time.busy, time.busy_max};
    return true;
}

static void run_all_nested(struct run *run, const struct engine *engine, const struct folded_run *folded,
                           struct nested *nested)
{
    const struct timeline *timeline = folded->timeline;
    *nested = (struct nested){0};
    if (!run->request->split)
        return;
    guard_doing("splitting the idle time of %s", run->scenario->name);
    if (time_free(run, engine, folded->folding, &nested->free_time))
        nested->timelines.free_time = &nested->free_time;
    else
        nested->free = run_nested(run, true);
    if ((nested->free || nested->timelines.free_time) && engine != &engine_analytic && !run->alone)
        nested->alone = run_nested(run, false);
    nested->timelines.free = nested->free;
    nested->timelines.alone = engine == &engine_analytic ? timeline : run->alone ? run->alone : nested->alone;
}

/* How many classes of ranks there are and, where that is written, how many it would be if latencies were left out. */
static void describe_classes(const struct run *run, const struct engine *engine, const struct engine_job *job,
                             const struct folding *folding, struct run_description *description)
{
    if (!folding->equals || !folding->classes)
        return;
    description->fold_classes = folding->classes;
    uint32_t count = run->request->files ? folded_run_classes_but_latency(engine, job, run->arena) : 0;
    if (count < folding->classes)
        description->fold_classes_but_latency = count;
}

static bool describe(const struct run *run, const struct engine *engine, const struct engine_job *job,
                     const struct folding *folding, struct run_description *description, struct fault *fault)
{
    const struct simgrid_part *part = engine == &engine_simgrid ? simgrid_part(fault) : NULL;
    job_describe(run->job, description);
    description->engine = engine->name;
    description->command = run->request->command;
    description->simgrid = part ? part->library(run->arena) : NULL;
    description->folded_replicas = folding->classes ? folding->slices : 0;
    description->fold_reason = folding->reason;
    describe_classes(run, engine, job, folding, description);
    return job_describe_inputs(run->job, run->platform, description, run->arena, fault);
}

/* Prints and writes what is asked of the last engine's run. */
static bool write_run(struct run *run, struct timeline *timeline, struct report *report, const struct nested *nested,
                      struct fault *fault)
{
    bool ok = true;
    struct gantt *gantt = make_gantt(run, timeline, report);
    run_tell(run, report);
    gantt_save(gantt, run->self->results);
    if (run->ahead) {
        gantt_destroy(gantt);
        return true;
    }
    if (run->request->print)
        run_print(run->self->results, table_style_of(run->request->format, stdout), report);
    struct trace_source source = {timeline, run->platform, run->job->hosts, run->scenario->all_replicas,
                                  report->idle.known ? &nested->timelines : NULL};
    if (run->request->files)
        ok = run_files_write(run->request->files, &source, report, gantt, fault) &&
             (run->request->output ? output_flush(run->request->output, fault)
                                   : !fflush(run->request->files->operations));
    gantt_destroy(gantt);
    return ok;
}

/* The figures, and of the last engine what is asked for beside them. An exit code. */
static int hand_over(struct run *run, bool last, const struct folded_run *folded, struct report *report,
                     struct nested *nested)
{
    struct fault fault = {""};
    struct timeline *timeline = folded->timeline;
    struct comparison_row row = comparison_row_of(report);
    row.bound = run->job->bound;
    row.bound_splits = run->job->bound_splits;
    run_note_settled(run, report, last, &row);
    if (!figures_finite(&fault)) /* before pictures are made of them */
        return fail(run, EXIT_FAILED, &fault);
    fwrite(&row, sizeof row, 1, run->self->results);
    bool ok = !last || write_run(run, timeline, report, nested, &fault);
    timeline_destroy(nested->free);
    timeline_destroy(nested->alone);
    timeline_destroy(run->alone);
    run->alone = last ? NULL : timeline;
    if (last)
        timeline_destroy(timeline);
    return !ok ? fail(run, EXIT_FAILED, &fault) : run->ahead ? EXIT_AHEAD : EXIT_DONE;
}

/* Runs one engine and hands its figures over; the files are those of the last engine. */
static int run_engine(struct run *run, const struct engine *engine, bool last)
{
    struct fault fault = {""};
    struct progress progress;
    progress_init(&progress, run->request->quiet ? NULL : run->self->console, engine->name);
    guard_doing("simulating %s, engine %s", run->scenario->name, engine->name);
    if (run->request->behind > 0 || run->request->least)
        progress_behind(&progress, run->request->behind, run->request->least);
    struct engine_progress hook = progress_hook(&progress);
    struct engine_job job = {.program = run->job->program,
                             .platform = run->platform,
                             .hosts = run->job->hosts,
                             .progress = &hook,
                             .classes = run->classes};
    struct folded_run folded;
    struct steady steady;
    double started = clock_now();
    bool ok = steady_run(run->scenario, engine, &job, run->arena, &folded, &steady, &fault);
    double wall = clock_now() - started;
    struct timeline *timeline = folded.timeline;
    progress_finish(&progress);
    guard_doing("reporting on %s", run->scenario->name);
    struct run_description description;
    if (!ok || !describe(run, engine, &job, folded.folding, &description, &fault))
        return fault.refused ? run_refuse(run, &fault) : fail(run, EXIT_FAILED, &fault);
    description.steady = steady;
    description.printed = !run->request->files;
    const struct frame *frame = frame_create(timeline, run->arena);
    struct report *report = report_of_frame(&description, frame, run->platform, run->arena);
    struct nested nested;
    run_all_nested(run, engine, &folded, &nested);
    report->idle = idle_split_of(frame, &nested.timelines, run->arena);
    measure(run, report, wall);
    guard_doing("simulating the training of %s", run->scenario->name);
    run_add_training(run, report);
    int code = last ? tails_add(run->scenario, run->platform, run->request->steps, report,
                                run->request->quiet ? NULL : run->self->console, &run->diag)
                    : EXIT_DONE;
    if (code != EXIT_DONE)
        return code;
    if (last)
        levers_find(run->scenario, run->platform, (double)program_operations(run->job->program), report, run->arena);
    if (run->alone)
        report->contention = contention_create(run->alone, frame, run->platform, run->job->hosts, run->arena);
    run_note_ahead(run, last && run_is_ahead(run, engine, timeline), (double)program_operations(run->job->program));
    if (last)
        run_note_unlike(run, frame); /* with both engines, that of the last is known of one iteration */
    return hand_over(run, last, &folded, report, &nested);
}

/* What is asked for follows from a job with fewer micro-batches where that comes back to a state. False: it does not,
 * and nothing has been handed over. */
static bool run_shortened(struct run *run)
{
    const struct simulation_request *request = run->request;
    const struct scenario *scenario = run->scenario;
    bool ahead = false;
    struct shortened_report_request shorter = {scenario, run->platform, run->classes, request->split,
                                               run_is_open(run) ? &ahead : NULL};
    double operations = 0, started = clock_now();
    if (scenario->engine != ENGINE_ANALYTIC || request->files || request->draw || scenario->tails.given)
        return false;
    guard_doing("simulating %s, engine %s", scenario->name, engine_analytic.name);
    struct report *report = shortened_report(&shorter, run->arena, &operations);
    if (!report)
        return false;
    guard_doing("reporting on %s", scenario->name);
    measure(run, report, clock_now() - started);
    run_add_training(run, report);
    levers_find(scenario, run->platform, operations, report, run->arena);
    struct comparison_row row = comparison_row_of(report);
    struct gantt_choice choice = {.messages = true, .rows_only = true};
    struct gantt *gantt = gantt_of_run(report, NULL, &choice);
    run_note_ahead(run, ahead, operations);
    run_note_settled(run, report, true, &row);
    fwrite(&row, sizeof row, 1, run->self->results);
    run_tell(run, report);
    gantt_save(gantt, run->self->results);
    gantt_destroy(gantt);
    if (request->print && !run->ahead)
        run_print(run->self->results, table_style_of(request->format, stdout), report);
    return true;
}

/* What the platform is called: the file that was opened, or the preset as it was written. */
const char *run_platform_name(const struct platform_source *source)
{
    return source->file ? source->file : source->text;
}

/* With the file's name where the text does not begin with it. */
static void report_platform(struct diag *diag, const char *file, const char *text)
{
    size_t length = strlen(file);
    if (strncmp(text, file, length) == 0 && text[length] == ':' && text[length + 1] != ' ')
        diag_fault(diag, NULL, text);
    else
        diag_error(diag, (struct place){.file = file}, "%s", text + (strncmp(text, file, length) ? 0 : length + 2));
}

static bool configure(struct run *run)
{
    const struct scenario *scenario = run->scenario;
    struct fault fault = {""};
    if (platform_source_configure(scenario->simgrid, scenario->simgrid_count, &fault))
        return true;
    diag_error(&run->diag, scenario_place(scenario, "simgrid"), "SimGrid refuses a setting: %s", fault.text);
    return false;
}

/* SimGrid is started only where it loads the platform, `simulates` says that its engine is to run, or there are
 * settings for it to check. */
int run_load_platform(struct run *run, bool simulates)
{
    const char *why = NULL;
    struct fault fault = {""};
    const struct scenario *scenario = run->scenario;
    *run->self->stage = STAGE_LOADING;
    run->platform = platform_source_native(&scenario->platform, run->arena, &why, &fault);
    bool native = run->platform || fault.text[0], needed = simulates || scenario->simgrid_count > 0;
    if (!native || needed) {
        struct fault broken = {""};
        if (!simgrid_part(&broken)) {
            diag_print(run->diag.out, "stagesim: %s\n", broken.text);
            return EXIT_FAILED;
        }
        *run->self->stage = STAGE_CONFIGURING;
        if (!configure(run))
            return EXIT_BAD_INPUT;
        *run->self->stage = STAGE_LOADING;
    }
    if (!native)
        run->platform = platform_source_simgrid(&scenario->platform, why, run->arena, &fault);
    if (!run->platform)
        report_platform(&run->diag, run_platform_name(&scenario->platform), fault.text);
    else if ((run->platform = scenario_change_platform(scenario, run->platform, run->arena, &run->diag)))
        *run->self->stage = STAGE_RUNNING;
    return run->platform ? EXIT_DONE : EXIT_BAD_INPUT;
}

int run_build(struct run *run)
{
    guard_doing("building the job of %s", run->scenario->name);
    run->job = job_create_steady(run->scenario, run->platform, run->arena, &run->diag);
    return run->job ? EXIT_DONE : EXIT_BAD_INPUT;
}

/* Before anything runs: what other simulators could not be given. */
static int allow_files(struct run *run)
{
    struct fault fault = {""};
    const struct program *program = run->job->program;
    const struct run_files *files = run->request->files;
    const char *lost = files ? run_files_lose(files, program) : NULL;
    if (lost)
        diag_print(run->told, "note: %s\n", lost);
    if (!files || run_files_allow(files, run->request->output, &program, 1, &fault))
        return EXIT_DONE;
    if (fault.refused)
        diag_print(run->diag.out, "stagesim: %s\n", fault.text);
    else
        diag_error(&run->diag, scenario_place(run->scenario, "output.trace"), "%s", fault.text);
    return EXIT_BAD_INPUT;
}

static int run_engines(struct run *run)
{
    bool analytic = run->scenario->engine != ENGINE_SIMGRID, simgrid = run->scenario->engine != ENGINE_ANALYTIC;
    int code = run_find_training(run);
    if (code != EXIT_DONE)
        return code;
    if (run_shortened(run))
        return run->ahead ? EXIT_AHEAD : EXIT_DONE;
    if (simgrid)
        run_settle(run);
    code = run_build(run);
    if (code == EXIT_DONE)
        code = allow_files(run);
    if (code == EXIT_DONE && analytic)
        code = run_engine(run, &engine_analytic, !simgrid);
    if (code == EXIT_DONE && simgrid)
        code = run_engine(run, &engine_simgrid, true);
    timeline_destroy(run->alone);
    return code;
}

/* Loads, and does the rest. */
int run_prepared(int (*rest)(struct run *run), bool simulates, struct run *run, struct isolated *self)
{
    run->self = self;
    run->arena = arena_create();
    run->classes = class_store_create();
    run_tell_begin(run);
    run->diag = (struct diag){.out = mistakes_of(run)};
    guard_doing("loading %s", run_platform_name(&run->scenario->platform));
    int code = run_load_platform(run, simulates);
    if (code == EXIT_DONE)
        run->scenario = choice_settle(run->scenario, run->platform, run->arena);
    if (code == EXIT_DONE)
        code = rest(run);
    diag_rest(&run->diag);
    fflush(run->diag.out);
    run_tell_end(run);
    class_store_destroy(run->classes);
    arena_destroy(run->arena);
    return code;
}

/* What is no job. SimGrid is there before the kind makes processes of its own. */
int run_visit_kind(const struct simulation_request *request, const struct scenario *scenario, bool simulates,
                   struct isolated *self)
{
    struct run run = {.request = request, .scenario = scenario, .self = self, .arena = arena_create()};
    run.diag = (struct diag){.out = mistakes_of(&run)};
    int code = scenario->kind->platform ? run_load_platform(&run, simulates) : EXIT_DONE;
    struct simulation_context context = {.request = request,
                                         .scenario = scenario,
                                         .platform = run.platform,
                                         .self = self,
                                         .arena = run.arena,
                                         .diag = run.diag};
    guard_doing("simulating %s", scenario->name);
    if (code == EXIT_DONE)
        code = request ? scenario->kind->run(&context) : scenario->kind->check(&context);
    diag_rest(&context.diag);
    fflush(context.diag.out);
    arena_destroy(run.arena);
    return code;
}

void simulation_hand_over(const struct simulation_context *context, const struct comparison_row *whole,
                          const struct comparison_row *parts, size_t count, const struct gantt *gantt)
{
    FILE *out = context->self->results;
    comparison_check(whole);
    for (size_t i = 0; i < count; i++)
        comparison_check(&parts[i]);
    fwrite(whole, sizeof *whole, 1, out);
    fwrite(&count, sizeof count, 1, out);
    if (count)
        fwrite(parts, sizeof *parts, count, out);
    run_hand_over_told(out, "", 0); /* each kind tells what it has to tell itself */
    gantt_save(gantt, out);
}

/* What was handed over counts only where all of it is finite. */
static int end_with(struct isolated *self, const struct simulation_request *request, int code)
{
    struct fault fault = {""};
    if (code != EXIT_DONE || figures_finite(&fault))
        return code;
    diag_print(request->mistakes ? request->mistakes : self->console, "stagesim: %s\n", fault.text);
    fflush(request->mistakes ? request->mistakes : self->console);
    return EXIT_FAILED;
}

int run_child(void *user, struct isolated *self)
{
    const struct simulation_request *request = user;
    struct run run = {.request = request, .scenario = request->scenario};
    bool simulates = request->scenario->engine != ENGINE_ANALYTIC || run_asks_for_traffic(request->scenario);
    int code = request->scenario->kind ? run_visit_kind(request, request->scenario, simulates, self)
                                       : run_prepared(run_engines, simulates, &run, self);
    return end_with(self, request, code);
}
