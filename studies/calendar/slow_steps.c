/* SPDX-License-Identifier: Apache-2.0 */
#include "studies/calendar/slow_steps.h"

#include "analysis/figures/frame.h"
#include "base/arena.h"
#include "base/exit_code.h"
#include "base/isolate.h"
#include "base/process/guard.h"
#include "job/steady/steady_run.h"

#include <math.h>
#include <string.h>

/* One simulation; change NULL: as the platform is. */
struct trial {
    const struct scenario *scenario;
    struct platform *platform;
    const char *change;
    FILE *out; /* for mistakes of the job as it is */
};

/* What it comes to: an iteration's seconds, or why there are none; empty: that was reported. */
struct outcome {
    double iteration;
    bool known;
    char text[sizeof(struct fault)];
};

static bool simulate_trial(const struct trial *trial, struct arena *arena, double *iteration, struct fault *fault)
{
    size_t wrong;
    struct what_if change;
    struct diag diag = {.out = trial->change ? NULL : trial->out};
    struct platform *platform = trial->platform;
    struct folded_run run;
    struct steady steady;
    bool analytic = trial->scenario->engine == ENGINE_ANALYTIC;
    if (trial->change && !what_if_parse(trial->change, &change, arena, fault))
        return false;
    if (trial->change && !(platform = what_if_platform(platform, &change, 1, arena, &wrong, fault)))
        return false;
    struct job *job = job_create_steady(trial->scenario, platform, arena, &diag);
    if (!job)
        return diag.out ? fflush(diag.out), false : fault_set(fault, "the job cannot be made");
    struct engine_job engine_job = {.program = job->program, .platform = platform, .hosts = job->hosts};
    if (!steady_run(trial->scenario, analytic ? &engine_analytic : &engine_simgrid, &engine_job, arena, &run, &steady,
                    fault))
        return false;
    *iteration = frame_create(run.timeline, arena)->iteration;
    timeline_destroy(run.timeline);
    return true;
}

static int run_trial(void *user, struct isolated *self)
{
    struct fault fault = {""};
    struct outcome outcome = {0};
    struct arena *arena = arena_create();
    outcome.known = simulate_trial(user, arena, &outcome.iteration, &fault);
    snprintf(outcome.text, sizeof outcome.text, "%s", fault.text);
    fwrite(&outcome, sizeof outcome, 1, self->results);
    arena_destroy(arena);
    return EXIT_DONE;
}

/* False with the fault filled, or with the mistakes reported. */
static bool try(struct trial *trial, double *iteration, struct fault *fault)
{
    struct outcome outcome = {0};
    bool read = isolate_value(run_trial, trial, &outcome, sizeof outcome, fault);
    *iteration = outcome.iteration;
    if (read && !outcome.text[0])
        return outcome.known;
    return fault->text[0] ? false : fault_set(fault, "%s", read ? outcome.text : "the simulation ended early");
}

bool slow_steps_asked(const struct scenario *scenario)
{
    const struct training_plan *plan = &scenario->training.plan;
    for (size_t i = 0; i < plan->component_count; i++)
        if (plan->components[i].change)
            return true;
    return false;
}

static int refuse(const struct scenario *scenario, const char *name, const struct fault *fault, struct diag *diag)
{
    diag_error(diag, scenario_place(scenario, "failures.components"),
               "%s: %s; expected a change with which the job can go on, or effect: stop", name, fault->text);
    return EXIT_BAD_INPUT;
}

int slow_steps_find(const struct scenario *scenario, struct platform *platform, double slow[TRAINING_CAUSES],
                    struct diag *diag)
{
    double as_it_is, changed;
    struct fault fault = {""};
    const struct training_plan *plan = &scenario->training.plan;
    struct trial trial = {.scenario = scenario, .platform = platform, .out = diag->out};
    guard_doing("simulating what slows %s down", scenario->name);
    if (!try(&trial, &as_it_is, &fault))
        return fault.text[0] ? refuse(scenario, scenario->name, &fault, diag) : EXIT_BAD_INPUT;
    for (size_t i = 0; i < plan->component_count && i < TRAINING_CAUSES; i++) {
        trial.change = plan->components[i].change;
        if (trial.change && !try(&trial, &changed, &fault))
            return refuse(scenario, plan->components[i].name, &fault, diag);
        if (trial.change)
            slow[i] = fmax(1, changed / as_it_is);
    }
    return EXIT_DONE;
}
