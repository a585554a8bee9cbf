/* SPDX-License-Identifier: Apache-2.0 */
#include "studies/steps/tails.h"

#include "base/arena.h"
#include "base/exit_code.h"
#include "base/process/guard.h"
#include "base/process/interruption.h"
#include "job/job.h"
#include "simulator/run/folded_run.h"
#include "simulator/tails/tails_run.h"
#include "studies/steps/kernel_shares.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PROCESSES_MAX = 64 };
/* Steps that are noted at a time: a multiple of STEP_LANES. */
enum { TAILS_BLOCK = 16 };

/* ---- shared out ---- */

/* A step, with what tells other jobs' steps from it: what one takes in which nothing varies, and what the longest
 * path's computations take on average. */
struct item {
    struct tails_step step;
    double even, control;
};

static bool draw(void *user, uint32_t from, uint32_t count, void *items)
{
    struct step_walk *walk = user;
    struct item *all = items;
    struct tails_step steps[TAILS_BLOCK];
    double control = step_walk_control_mean(walk);
    memset(steps, 0, sizeof steps);
    tails_run(walk, from, count, steps);
    for (uint32_t i = 0; i < count; i++)
        all[i] = (struct item){steps[i], walk->model->net->length, control};
    return true;
}

struct blocks_request tails_request_of(const struct scenario *scenario)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    return (struct blocks_request){.command = "quantiles",
                                   .item = "step",
                                   .items = scenario->tails.steps,
                                   .per_block = TAILS_BLOCK,
                                   .size = sizeof(struct item),
                                   .fill = draw,
                                   .identity = {.kind = "run",
                                                .title = "stagesim run journal 1\n",
                                                .fingerprint = blocks_fingerprint(scenario, sizeof(struct item))},
                                   .jobs = processors < 1               ? 1
                                           : processors > PROCESSES_MAX ? PROCESSES_MAX
                                                                        : (unsigned)processors,
                                   .shard = 1,
                                   .shards = 1};
}

/* Whether all steps are of this job; they may come from journals. */
static bool take_steps(const struct blocks *blocks, const struct step_walk *walk, struct tails_step *steps)
{
    const struct item *items = blocks->items;
    double control = step_walk_control_mean(walk);
    for (uint32_t i = 0; i < blocks->request->items; i++) {
        steps[i] = items[i].step;
        if (fabs(items[i].even - walk->model->net->length) > 0 || fabs(items[i].control - control) > 0) {
            diag_print(blocks->request->out,
                       "stagesim: step %u of the journal is of another job; a file that the scenario names has "
                       "changed since\n",
                       i + 1);
            return false;
        }
    }
    return true;
}

static int finish(const struct blocks *blocks, const struct step_walk *walk, struct report *report)
{
    const struct blocks_request *request = blocks->request;
    if (blocks->stopped) {
        if (!interruption_noted())
            diag_print(request->out, "stopped early: not all of %u steps were drawn%s\n", request->items,
                       request->journal ? "; --resume goes on" : "; with -o DIR, --resume would go on");
        return EXIT_FAILED;
    }
    if (request->shards > 1)
        return EXIT_DONE;
    struct tails_step *steps = array_zeroed(request->items, sizeof *steps);
    bool same = take_steps(blocks, walk, steps);
    if (same)
        report->tails = tails_figures_of(walk, steps, request->items);
    free(steps);
    return same ? EXIT_DONE : EXIT_BAD_INPUT;
}

static int draw_all(const struct scenario *scenario, struct step_walk *walk, const struct tails_sharing *sharing,
                    struct report *report, struct diag *diag)
{
    struct fault fault = {""};
    struct blocks blocks;
    struct blocks_request request = sharing ? sharing->how : tails_request_of(scenario);
    request.user = walk;
    request.out = diag->out;
    if (!blocks_create(&blocks, &request, &fault)) {
        diag_print(diag->out, "stagesim: %s\n", fault.text);
        blocks_destroy(&blocks);
        return EXIT_FAILED;
    }
    bool merges = sharing && sharing->file_count;
    int code = merges ? blocks_merge(&blocks, sharing->files, sharing->file_count) : blocks_run(&blocks);
    if (code == EXIT_DONE)
        code = finish(&blocks, walk, report);
    blocks_destroy(&blocks);
    return code;
}

/* ---- the job ---- */

/* One iteration of it, in full. NULL with the mistakes reported. */
static struct scenario *load(const struct scenario *scenario, struct arena *arena, struct diag *diag)
{
    static const struct scenario_set sets[] = {
        {NULL, "iterations=1"}, {NULL, "engine=analytic"}, {NULL, "fold=off"}, {NULL, "steady=off"}};
    struct scenario_request request =
        scenario_request_with(&scenario->request, sets, sizeof sets / sizeof *sets, arena);
    request.study = true;
    return scenario_load(&request, arena, diag);
}

/* Says which settings change no step. */
static void tell_idle(const struct step_model *model, FILE *console)
{
    const char *name, *why;
    for (size_t next = 0; console && (name = step_model_idle(model, &next, &why));)
        diag_print(console, "note: tails.%s changes nothing: %s\n", name, why);
}

/* NULL with the fault filled, or the mistakes reported. */
static struct step_walk *make_walk(const struct scenario *alone, const struct job *job, FILE *console,
                                   struct arena *arena, struct diag *diag, struct fault *fault)
{
    struct folded_run run;
    const struct kernel_shares *shares;
    struct engine_job engine_job = {.program = job->program, .platform = job->platform, .hosts = job->hosts};
    if (job->program->overlapping) {
        fault_set(fault, "iterations overlap, so that there is no step that has a time of its own");
        return NULL;
    }
    if (!kernel_shares_find(alone, job, arena, diag, &shares, fault))
        return NULL;
    if (!folded_run(&engine_analytic, &engine_job, false, arena, &run, fault))
        return NULL;
    struct step_net *net = step_net_create(run.timeline, arena, fault);
    timeline_destroy(run.timeline);
    if (!net)
        return NULL;
    struct step_model *model = step_model_create(net, &alone->tails, shares, job->platform, job->hosts, arena);
    tell_idle(model, console);
    return step_walk_create(model, arena, fault);
}

bool tails_fit(const struct scenario *scenario, uint32_t stages, struct diag *diag)
{
    const struct tails_trace *trace = scenario->tails.trace;
    if (!trace || trace->stages == stages)
        return true;
    diag_error(diag, scenario_place(scenario, "tails.trace"),
               "micro-batches were recorded on %u stage%s, and the job has %u; expected one row for each stage",
               trace->stages, trace->stages > 1 ? "s" : "", stages);
    return false;
}

/* NULL with the mistakes reported, or the fault filled. */
static struct step_walk *build(const struct scenario *scenario, struct platform *platform, FILE *console,
                               struct arena *arena, struct diag *diag, struct fault *fault)
{
    struct scenario *alone = load(scenario, arena, diag);
    struct job *job = alone ? job_create(alone, platform, 2, arena, diag) : NULL;
    bool fits = job && tails_fit(scenario, job->program->stages, diag);
    return fits ? make_walk(alone, job, console, arena, diag, fault) : NULL;
}

double tails_quantile(const struct scenario *scenario, struct platform *platform, double share, struct fault *fault,
                      struct diag *diag)
{
    struct arena *arena = arena_create();
    struct step_walk *walk = build(scenario, platform, NULL, arena, diag, fault);
    double value = walk ? tails_quantile_of(walk, scenario->tails.steps, share).value : 0;
    arena_destroy(arena);
    return value;
}

int tails_add(const struct scenario *scenario, struct platform *platform, const struct tails_sharing *sharing,
              struct report *report, FILE *console, struct diag *diag)
{
    struct fault fault = {""};
    if (!scenario->tails.given)
        return EXIT_DONE;
    guard_doing("drawing steps of %s", scenario->name);
    struct arena *arena = arena_create();
    struct step_walk *walk = build(scenario, platform, console, arena, diag, &fault);
    int code = EXIT_DONE;
    if (walk)
        code = draw_all(scenario, walk, sharing, report, diag);
    else if (!fault.text[0])
        code = EXIT_BAD_INPUT;
    else if (console)
        diag_print(console, "note: tails: no quantiles of the step: %s\n", fault.text);
    arena_destroy(arena);
    return code;
}
