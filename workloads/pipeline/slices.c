/* SPDX-License-Identifier: Apache-2.0 */
/* Costs of slices of a sequence, where a plan cuts it: what follows from those of whole micro-batches. */
#include "schedules/plan/plan_slices.h"
#include "workloads/pipeline/lowering.h"

#include <math.h>

static const double *scaled(struct lowering *l, const double *whole, const double *by)
{
    uint32_t stages = l->plan->stages;
    double *out = whole ? arena_array(l->arena, stages, sizeof *out) : NULL;
    for (uint32_t stage = 0; whole && stage < stages; stage++)
        out[stage] = whole[stage] * by[stage];
    return out;
}

/* A slice's share of flop is taken to be that of time, by which a first slice can have less in its backward than its
 * weights' gradients. */
static const double *least(struct lowering *l, const double *values, const double *most)
{
    double *out = values && most ? arena_array(l->arena, l->plan->stages, sizeof *out) : NULL;
    for (uint32_t stage = 0; out && stage < l->plan->stages; stage++)
        out[stage] = fmin(values[stage], most[stage]);
    return out ? out : values;
}

static void scale_exchanges(struct stagesim_exchanges *exchanges, double by)
{
    for (unsigned i = 0; i < STAGESIM_EXCHANGES_MAX; i++)
        exchanges->items[i].bytes *= by;
}

/* Parts take as much longer or shorter as their stage; gradients stay as they are. */
static const struct stagesim_part *const *scale_parts(struct lowering *l, const double *forward, const double *backward,
                                                      double length)
{
    const struct stagesim_pipeline *costs = l->costs;
    if (!costs->parts)
        return NULL;
    const struct stagesim_part **all = arena_array(l->arena, l->plan->stages, sizeof *all);
    for (uint32_t stage = 0; stage < l->plan->stages; stage++) {
        struct stagesim_part *parts = arena_array(l->arena, costs->part_counts[stage] + (size_t)1, sizeof *parts);
        for (uint32_t i = 0; i < costs->part_counts[stage]; i++) {
            parts[i] = costs->parts[stage][i];
            parts[i].forward *= forward[stage];
            parts[i].backward *= backward[stage];
            parts[i].weight *= length;
            parts[i].forward_flops *= forward[stage];
            parts[i].backward_flops *= backward[stage];
            parts[i].weight_flops = fmin(parts[i].weight_flops * length, parts[i].backward_flops);
            scale_exchanges(&parts[i].forward_exchanges, length);
            scale_exchanges(&parts[i].backward_exchanges, length);
        }
        all[stage] = parts;
    }
    return all;
}

/* What a slice's share of each stage's forward (or backward) is. */
static double *works(struct lowering *l, uint32_t slice, const double *attention)
{
    double *work = arena_array(l->arena, l->plan->stages, sizeof *work);
    for (uint32_t stage = 0; stage < l->plan->stages; stage++)
        work[stage] = plan_slice_work(l->plan, slice, attention ? attention[stage] : 0);
    return work;
}

double lowering_spared(const struct plan *plan, const struct stagesim_pipeline *costs, uint32_t stage,
                       double activation)
{
    double share = plan_recomputed(plan, stage);
    double whole = at(costs->activation, stage),
           input = at(costs->checkpoint ? costs->checkpoint : costs->message, stage);
    return share > 0 && whole > 0 ? share * activation * (1 - fmin(input / whole, 1)) : 0;
}

double lowering_kept(const struct plan *plan, const struct stagesim_pipeline *costs, uint32_t stage, uint32_t slice)
{
    double bytes = at(costs->keys_values, stage), length = plan_slice_length(plan, slice);
    return plan->slices == 1 ? 0 : slice > 0 ? bytes * length : bytes * (length - 1);
}

struct stagesim_pipeline lowering_cut_costs(struct lowering *l, uint32_t slice)
{
    const struct stagesim_pipeline *whole = l->costs;
    struct stagesim_pipeline cut = *whole;
    double length = plan_slice_length(l->plan, slice);
    double *lengths = works(l, slice, NULL), *kept = works(l, slice, NULL);
    const double *forward = works(l, slice, whole->attention);
    const double *backward = works(l, slice, whole->attention_backward ? whole->attention_backward : whole->attention);
    for (uint32_t stage = 0; stage < l->plan->stages; stage++) {
        lengths[stage] = length;
        kept[stage] = lowering_kept(l->plan, whole, stage, slice);
    }
    cut.forward = scaled(l, whole->forward, forward);
    cut.backward = scaled(l, whole->backward, backward);
    cut.weight = scaled(l, whole->weight, lengths);
    cut.forward_flops = scaled(l, whole->forward_flops, forward);
    cut.backward_flops = scaled(l, whole->backward_flops, backward);
    cut.weight_flops = least(l, scaled(l, whole->weight_flops, lengths), cut.backward_flops);
    cut.message = scaled(l, whole->message, lengths);
    cut.gradient_message = scaled(l, whole->gradient_message, lengths);
    cut.activation = scaled(l, whole->activation, lengths);
    cut.weight_activation = scaled(l, whole->weight_activation, lengths);
    cut.parts = scale_parts(l, forward, backward, length);
    l->kept = kept;
    l->length = length;
    return cut;
}
