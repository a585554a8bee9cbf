/* SPDX-License-Identifier: Apache-2.0 */
#include "studies/search/training.h"

#include "studies/calendar/goodput.h"
#include "studies/calendar/slow_steps.h"
#include "workloads/transformer/transformer.h"

bool search_trains(const struct scenario *scenario)
{
    return scenario->search.objective >= OBJECTIVE_DAYS;
}

double search_step_share(const struct scenario *scenario)
{
    static const double shares[SEARCH_OBJECTIVES] = {
        [OBJECTIVE_P50] = 0.5, [OBJECTIVE_P95] = 0.95, [OBJECTIVE_P99] = 0.99};
    return shares[scenario->search.objective];
}

static bool has_price(const struct scenario *scenario)
{
    const struct transformer_parameters *transformer = scenario->parameters;
    return scenario->workload == &transformer_workload && transformer->price > 0;
}

bool search_training_check(const struct scenario *scenario, struct diag *diag)
{
    const char *objective = search_objective_names[scenario->search.objective];
    struct place at = scenario_place(scenario, "search.objective");
    if (!search_trains(scenario))
        return true;
    if (!scenario->training.given)
        diag_error(diag, at,
                   "objective: %s is of a whole training, and nothing is said of it; expected a section training, "
                   "failures or checkpoint, such as failures: llama3",
                   objective);
    else if (!goodput_has_length(scenario))
        diag_error(diag, at,
                   "objective: %s needs to know how long the training is; expected 'steps' in training, or all tokens "
                   "in transformer.tokens",
                   objective);
    else if (scenario->training.traffic_simulated)
        diag_error(diag, scenario_place(scenario, "checkpoint.traffic"),
                   "traffic: simulated is of one layout, and not simulated for each of a search; leave it out");
    else if (slow_steps_asked(scenario))
        diag_error(diag, scenario_place(scenario, "failures.components"),
                   "what_if of a component is of one layout, and not simulated for each of a search; expected slow");
    else if (scenario->training.step > 0)
        diag_error(diag, scenario_place(scenario, "training.step"),
                   "step: with objective: %s each layout has a step time of its own; leave it out", objective);
    else if (scenario->search.objective == OBJECTIVE_PRICE && !has_price(scenario))
        diag_error(diag, at, "objective: price needs what a GPU costs for an hour; expected transformer.price");
    else
        return true;
    return false;
}

struct search_training search_training_of(const struct training_forecast *forecast)
{
    if (!forecast->known || forecast->outcome.stuck)
        return (struct search_training){0};
    return (struct search_training){forecast->outcome.wall.middle, forecast->cost.middle,
                                    forecast->outcome.steps_share.middle};
}

double search_step_of(const struct scenario *scenario, const struct tails_figures *tails)
{
    switch (scenario->search.objective) {
    case OBJECTIVE_P50:
        return tails->p50.value;
    case OBJECTIVE_P95:
        return tails->p95.value;
    case OBJECTIVE_P99:
        return tails->p99.value;
    default:
        return 0;
    }
}
