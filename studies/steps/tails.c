/* SPDX-License-Identifier: Apache-2.0 */
#include "studies/steps/tails.h"

#include "base/arena.h"
#include "base/exit_code.h"
#include "base/isolate.h"
#include "base/process/guard.h"
#include "job/job.h"
#include "simulator/run/folded_run.h"
#include "simulator/tails/tails_run.h"
#include "studies/steps/kernel_shares.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PROCESSES_MAX = 64 };

/* ---- processes ---- */

/* Every of-th block of lanes from the number-th on: the first steps, which are compared, cost more than the others. */
struct share {
    uint32_t number, of, steps;
    pid_t process; /* 0: none was made */
};

static void run_share(struct step_walk *walk, const struct share *share, struct tails_step *steps)
{
    for (uint64_t from = (uint64_t)share->number * STEP_LANES; from < share->steps;
         from += (uint64_t)share->of * STEP_LANES) {
        uint64_t left = share->steps - from;
        tails_run(walk, (uint32_t)from, left < STEP_LANES ? (uint32_t)left : STEP_LANES, steps + from);
    }
}

static void begin(struct step_walk *walk, struct share *share, struct tails_step *steps)
{
    pid_t parent = getpid(), process = share->number * STEP_LANES < share->steps ? fork() : -1;
    if (process == 0) {
        isolate_bond(parent);
        run_share(walk, share, steps);
        _exit(0);
    }
    share->process = process > 0 ? process : 0;
}

/* What no process has done is done here. */
static void end(struct step_walk *walk, const struct share *share, struct tails_step *steps)
{
    int status = -1;
    while (share->process && waitpid(share->process, &status, 0) < 0 && errno == EINTR) {}
    if (!share->process || status)
        run_share(walk, share, steps);
}

static void run_all(struct step_walk *walk, uint32_t count, struct tails_step *steps)
{
    struct share shares[PROCESSES_MAX];
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    uint32_t processes = processors < 1 ? 1 : processors > PROCESSES_MAX ? PROCESSES_MAX : (uint32_t)processors;
    for (uint32_t i = 0; i < processes; i++) {
        shares[i] = (struct share){.number = i, .of = processes, .steps = count};
        if (i)
            begin(walk, &shares[i], steps);
    }
    for (uint32_t i = 0; i < processes; i++)
        end(walk, &shares[i], steps);
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

static bool fill(struct step_walk *walk, uint32_t count, struct report *report, struct fault *fault)
{
    size_t bytes = count * sizeof(struct tails_step);
    struct tails_step *steps = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (steps == MAP_FAILED)
        return fault_set(fault, "no memory for %u steps: %s", count, strerror(errno));
    run_all(walk, count, steps);
    report->tails = tails_figures_of(walk, steps, count);
    munmap(steps, bytes);
    return true;
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

int tails_add(const struct scenario *scenario, struct platform *platform, struct report *report, FILE *console,
              struct diag *diag)
{
    struct fault fault = {""};
    if (!scenario->tails.given)
        return EXIT_DONE;
    guard_doing("drawing steps of %s", scenario->name);
    struct arena *arena = arena_create();
    struct scenario *alone = load(scenario, arena, diag);
    struct job *job = alone ? job_create(alone, platform, 2, arena, diag) : NULL;
    int code = job && tails_fit(scenario, job->program->stages, diag) ? EXIT_DONE : EXIT_BAD_INPUT;
    if (code == EXIT_DONE) {
        struct step_walk *walk = make_walk(alone, job, console, arena, diag, &fault);
        bool done = walk && fill(walk, scenario->tails.steps, report, &fault);
        code = done || fault.text[0] ? EXIT_DONE : EXIT_BAD_INPUT;
        if (!done && fault.text[0] && console)
            diag_print(console, "note: tails: no quantiles of the step: %s\n", fault.text);
    }
    arena_destroy(arena);
    return code;
}
