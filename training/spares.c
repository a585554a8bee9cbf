/* SPDX-License-Identifier: Apache-2.0 */
#include "training/spares.h"

#include "base/rounded/rounded.h"

#include <math.h>

/* With as many spares, one waits in all but so much of the time. */
static const double LACKING = 0.01;

uint32_t spares_for(double away, double probability)
{
    double logarithm = -away, none = rounded_exp(logarithm);
    uint32_t spares = 0;
    while (away > 0 && 1 - none > probability && spares < 1000000) {
        logarithm += rounded_log(away / ++spares);
        none += rounded_exp(logarithm);
    }
    return spares;
}

/* Units of the job that can fail. */
static double units_of(const struct training_plan *plan, const struct failure_component *component)
{
    switch ((enum failure_unit)component->unit) {
    case UNIT_GPU:
        return (double)plan->nodes * plan->gpus_per_node;
    case UNIT_NODE:
        return plan->nodes;
    case UNIT_RACK:
        return ceil((double)plan->nodes / plan->rack);
    case UNIT_SWITCH:
        return ceil((double)plan->nodes / plan->behind_switch);
    default:
        return 1;
    }
}

static double nodes_of(const struct training_plan *plan, const struct failure_component *component)
{
    return component->unit == UNIT_JOB      ? 0
           : component->unit == UNIT_RACK   ? fmin(plan->rack, plan->nodes)
           : component->unit == UNIT_SWITCH ? fmin(plan->behind_switch, plan->nodes)
                                            : 1;
}

double spares_away(const struct training_plan *plan)
{
    double away = 0;
    for (size_t i = 0; i < plan->component_count; i++) {
        const struct failure_component *c = &plan->components[i];
        const struct distribution *repair = c->repair ? c->repair : plan->repair;
        if (c->replace)
            away += plan->rate * units_of(plan, c) / c->every * nodes_of(plan, c) * distribution_mean(repair);
    }
    return away;
}

uint32_t spares_chosen(const struct training_plan *plan)
{
    return spares_for(spares_away(plan), LACKING);
}

double failures_per_second(const struct training_plan *plan, unsigned effects)
{
    double rate = 0;
    for (size_t i = 0; i < plan->component_count; i++)
        if (effects >> plan->components[i].effect & 1)
            rate += plan->rate * units_of(plan, &plan->components[i]) / plan->components[i].every;
    return rate;
}
