/* SPDX-License-Identifier: Apache-2.0 */
/* What a scenario's power means for its job: clocks, watts, and computing times under a cap. */
#include "job/job_parts.h"

#include "base/arena.h"
#include "simulator/program/stretch.h"

void job_stretch(struct stagesim_job *building, struct program *program)
{
    struct power_plan *power = building->job->power;
    const struct power_settings *settings = power->settings;
    const struct stagesim_figures *figures = &building->job->figures;
    if (!power->capped || building->clocked)
        return;
    bool alike = !power_by_operator(settings);
    power->stretched = settings->table_count          ? 1
                       : settings->compute_bound >= 0 ? settings->compute_bound
                       : figures->bounds_known        ? 1 - figures->memory_bound
                                                      : 1;
    uint32_t positions = program->mesh->positions;
    double *factors = arena_array(building->arena, 2 * (size_t)positions + 1, sizeof *factors);
    for (uint32_t position = 0; position < positions; position++) {
        double clock = power->states[mesh_rank(program->mesh, position, 0)].clock;
        factors[position] = power_stretch(clock, power->stretched);
        factors[positions + position] = alike ? factors[position] : 1;
    }
    program_stretch(program, factors, &factors[positions], building->arena);
}

bool job_plan_power(const struct scenario *scenario, struct job *job, struct arena *arena, struct diag *diag)
{
    struct fault fault = {""};
    const char *key = "power";
    const struct mesh *mesh = &scenario->mesh;
    if (!scenario->power.given)
        return true;
    job->power = power_plan_create(&scenario->power, job->platform, job->hosts, mesh->ranks, arena, &key, &fault);
    for (uint32_t rank = 0; job->power && rank < mesh->ranks; rank++) {
        uint32_t first = mesh_rank(mesh, mesh->position_of[rank], 0);
        double own = job->power->states[rank].clock, clock = job->power->states[first].clock;
        if (own < clock || own > clock) {
            fault_set(&fault,
                      "the cap slows '%.80s' to %.4g of its clock and '%.80s' to %.4g, which do the same work for "
                      "different samples; expected one kind of GPU there",
                      job->platform->hosts[job->hosts[first]].name, clock, job->platform->hosts[job->hosts[rank]].name,
                      own);
            break;
        }
    }
    if (*fault.text)
        diag_error(diag, scenario_place(scenario, key), "%s: %s", key, fault.text);
    return !*fault.text;
}
