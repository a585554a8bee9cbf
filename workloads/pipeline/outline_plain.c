/* SPDX-License-Identifier: Apache-2.0 */
/* What stages compute, and where the plan does not matter for it, a micro-batch on all of them. */
#include "workloads/pipeline/lowering.h"
#include "workloads/pipeline/outline_parts.h"

#include <math.h>

/* The least share of its time that a part takes on any replica. */
static double least_factor(const struct outline *o, const struct stagesim_part *part)
{
    if (!part->varies)
        return 1;
    const struct mesh *mesh = o->request->mesh;
    size_t count = (size_t)mesh_product(mesh, lowering_axes(mesh, part->varies)) *
                   lowering_factor_sets(part->varies, o->request->costs->factor_sets);
    double least = 1;
    for (size_t i = 0; i < count; i++)
        least = fmin(least, part->factors[i]);
    return least;
}

/* Computation alone; parts that vary as where they take least. */
struct copy_times outline_stage_computes(const struct outline *o, uint32_t stage)
{
    const struct stagesim_pipeline *costs = o->request->costs;
    struct copy_times times = {.forward = at(costs->forward, stage),
                               .backward = at(costs->backward, stage),
                               .weight = at(costs->weight, stage)};
    for (uint32_t i = 0; costs->parts && i < costs->part_counts[stage]; i++) {
        const struct stagesim_part *part = &costs->parts[stage][i];
        double less = 1 - least_factor(o, part);
        times.forward -= less * part->forward;
        times.backward -= less * part->backward;
        times.weight -= less * part->weight;
    }
    times.input = times.backward - times.weight;
    times.block = at(costs->block, stage);
    return times;
}

static bool is_plain(const struct outline *o)
{
    const struct plan *plan = o->request->plan;
    bool plain = plan->pipelines == 1 && !o->request->costs->block;
    for (uint32_t worker = 0; worker < plan->workers && plain; worker++)
        for (size_t i = 0; i < plan->orders[worker].count && plain; i++) {
            const struct slot *slot = &plan->orders[worker].slots[i];
            plain = !slot->joined && slot->part == PART_WHOLE && slot->kind <= SLOT_WEIGHT;
        }
    return plain;
}

double outline_computing(const struct outline *o)
{
    double sum = 0;
    if (!is_plain(o))
        return 0;
    for (uint32_t stage = 0; stage < o->request->plan->stages; stage++) {
        struct copy_times times = outline_stage_computes(o, stage);
        sum += times.forward + times.backward;
    }
    return sum;
}
