/* SPDX-License-Identifier: Apache-2.0 */
#include "test/support/pipeline_job.h"

#include "base/arena.h"
#include "simulator/collectives/assignment.h"
#include "workloads/pipeline/pipeline.h"

/* Each stage is one part, for parts have exchanges. */
static void add_exchanges(struct stagesim_pipeline *costs, const struct setting *setting, struct arena *arena)
{
    if (!setting->forward_exchanges && !setting->backward_exchanges)
        return;
    const struct stagesim_part **parts = arena_array(arena, costs->stages, sizeof *parts);
    uint32_t *counts = arena_array(arena, costs->stages, sizeof *counts);
    for (uint32_t stage = 0; stage < costs->stages; stage++) {
        struct stagesim_part *part = arena_alloc(arena, sizeof *part);
        *part = (struct stagesim_part){.layer = STAGESIM_NONE,
                                       .forward = costs->forward[stage],
                                       .backward = costs->backward[stage],
                                       .weight = costs->weight[stage],
                                       .gradient = costs->gradient[stage]};
        if (setting->forward_exchanges)
            part->forward_exchanges = *setting->forward_exchanges;
        if (setting->backward_exchanges)
            part->backward_exchanges = *setting->backward_exchanges;
        parts[stage] = part;
        counts[stage] = 1;
    }
    costs->parts = parts;
    costs->part_counts = counts;
}

struct program *pipeline_job(const struct plan *plan, const struct setting *setting, bool data_innermost,
                             struct mesh *mesh, struct arena *arena)
{
    double *arrays[5];
    double chunks = (double)plan->stages / plan->workers;
    const double values[] = {setting->forward / chunks, setting->backward / chunks, setting->backward / 2 / chunks,
                             setting->message, setting->gradient / chunks};
    for (int i = 0; i < 5; i++) {
        arrays[i] = arena_array(arena, plan->stages, sizeof(double));
        for (uint32_t stage = 0; stage < plan->stages; stage++)
            arrays[i][stage] = values[i];
    }
    struct stagesim_pipeline costs = {.size = sizeof costs,
                                      .stages = plan->stages,
                                      .forward = arrays[0],
                                      .backward = arrays[1],
                                      .weight = arrays[2],
                                      .message = arrays[3],
                                      .gradient = arrays[4]};
    add_exchanges(&costs, setting, arena);
    unsigned tensor = setting->tensor > 0, inside = tensor && !setting->tensor_outside;
    mesh->axis_count = 2 + tensor;
    mesh->axes[inside ? 0 : 2] = (struct mesh_axis){.name = "tensor", .size = setting->tensor};
    mesh->axes[inside + data_innermost] =
        (struct mesh_axis){.name = "pipeline", .size = plan->workers, .distinct = true};
    mesh->axes[inside + !data_innermost] = (struct mesh_axis){.name = "data", .size = setting->data};
    mesh_finish(mesh, arena);
    struct program_builder *builder = program_builder_create(mesh);
    struct pipeline_request request = {.plan = plan, .costs = &costs, .repetitions = 1};
    pipeline_lower(&request, mesh, builder);
    struct program *program = program_finish(builder, arena);
    assignment_create(program, arena);
    program_builder_destroy(builder);
    return program;
}
