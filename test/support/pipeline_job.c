/* SPDX-License-Identifier: Apache-2.0 */
#include "test/support/pipeline_job.h"

#include "simulator/arena.h"
#include "workloads/pipeline.h"

struct program *pipeline_job(const struct plan *plan, const struct setting *setting, bool data_innermost, struct mesh *mesh,
                             struct arena *arena)
{
    double *arrays[5];
    double chunks = (double)plan->stages / plan->workers;
    const double values[] = {setting->forward / chunks, setting->backward / chunks, setting->backward / 2 / chunks, setting->message,
                             setting->gradient / chunks};
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
    mesh->axis_count = 2;
    mesh->axes[data_innermost] = (struct mesh_axis){.name = "pipeline", .size = plan->workers, .distinct = true};
    mesh->axes[!data_innermost] = (struct mesh_axis){.name = "data", .size = setting->data};
    mesh_finish(mesh, arena);
    struct program_builder *builder = program_builder_create(mesh);
    struct pipeline_request request = {.plan = plan, .costs = &costs, .repetitions = 1};
    pipeline_lower(&request, mesh, builder);
    struct program *program = program_finish(builder, arena);
    program_builder_destroy(builder);
    return program;
}
