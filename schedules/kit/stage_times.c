/* SPDX-License-Identifier: Apache-2.0 */
#include "schedules/kit/stage_times.h"

#include "base/arena.h"

static const double *times_of(const double *given, double share, const struct schedule_request *request,
                              uint32_t stages, struct arena *arena)
{
    if (given)
        return given;
    double *times = arena_array(arena, stages, sizeof *times);
    for (uint32_t stage = 0; stage < stages; stage++)
        times[stage] = share * request->workers / stages;
    return times;
}

void stage_times_fill(const struct schedule_request *request, uint32_t stages, bool split,
                      struct instance_request *instance, struct arena *arena)
{
    struct plan_costs none = {0};
    const struct plan_costs *costs = request->costs ? request->costs : &none;
    instance->forward = times_of(costs->forward, request->forward, request, stages, arena);
    instance->backward = times_of(costs->backward, request->backward, request, stages, arena);
    instance->weight = split ? times_of(costs->weight, request->weight, request, stages, arena) : NULL;
    instance->latency = costs->latency;
}
