/* SPDX-License-Identifier: Apache-2.0 */
#include "studies/evaluate.h"

#include "base/arena.h"
#include "simulator/engines/engine.h"
#include "simulator/engines/folded_run.h"
#include "simulator/scenario/steady_run.h"
#include "studies/describe.h"

uint64_t count_operations(const struct program *program)
{
    uint64_t count = 0;
    for (uint32_t position = 0; position < program->mesh->positions; position++)
        count += program->positions[position].operation_count;
    return count;
}

bool evaluate_outline(const struct evaluation_request *request, struct platform *platform, bool order,
                      struct arena *arena, struct diag *diag, struct job_outline *outline)
{
    struct scenario_request changed =
        scenario_request_with(&request->scenario, request->changes, request->change_count, arena);
    struct scenario *scenario = scenario_load(&changed, arena, diag);
    return scenario && job_outline(scenario, platform, order, arena, diag, outline);
}

bool evaluate(const struct evaluation_request *request, struct platform *platform, struct arena *arena,
              struct diag *diag, struct evaluation *evaluation)
{
    struct fault fault = {""};
    struct folded_run run;
    struct scenario_request changed =
        scenario_request_with(&request->scenario, request->changes, request->change_count, arena);
    struct scenario *scenario = scenario_load(&changed, arena, diag);
    struct job *job = scenario ? job_create_steady(scenario, platform, arena, diag) : NULL;
    if (!job)
        return false;
    uint64_t operations = count_operations(job->program);
    if (operations > request->operations_max) {
        diag_error(diag, scenario_place(scenario, ""),
                   "the program has %llu operations, more than the %llu that are evaluated",
                   (unsigned long long)operations, (unsigned long long)request->operations_max);
        return false;
    }
    struct engine_job timed = {.program = job->program, .platform = platform, .hosts = job->hosts};
    struct steady steady;
    if (!steady_run(scenario, &engine_analytic, &timed, arena, &run, &steady, &fault)) {
        diag_error(diag, scenario_place(scenario, ""), "%s", fault.text);
        return false;
    }
    struct run_description description;
    job_describe(job, &description);
    description.engine = engine_analytic.name;
    description.brief = true;
    description.steady = steady;
    *evaluation = (struct evaluation){job, report_create(&description, run.timeline, platform, arena)};
    timeline_destroy(run.timeline);
    return true;
}
