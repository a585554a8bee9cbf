/* SPDX-License-Identifier: Apache-2.0 */
#include "studies/calendar/goodput.h"

#include "base/arena.h"
#include "workloads/transformer/transformer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int by_name(const void *left, const void *right)
{
    return strcmp(*(const char *const *)left, *(const char *const *)right);
}

/* Nodes that have a rank; a host without a node is one. */
static uint32_t count_nodes(const struct report *report, const struct platform *platform)
{
    const char **names = array_zeroed(report->ranks, sizeof *names);
    uint32_t named = 0, nodes = 0;
    for (uint32_t rank = 0; rank < report->ranks; rank++) {
        const char *node = platform->hosts[report->run.hosts[rank]].node;
        if (node)
            names[named++] = node;
        else
            nodes++;
    }
    qsort(names, named, sizeof *names, by_name);
    for (uint32_t i = 0; i < named; i++)
        nodes += !i || strcmp(names[i], names[i - 1]) != 0;
    free(names);
    return nodes;
}

/* Each part of the model once: weights of one replica, and the optimizer's state, which ZeRO has divided already. */
static double state_bytes(const struct scenario *scenario, const struct report *report)
{
    const struct transformer_parameters *transformer = scenario->parameters;
    uint64_t level = scenario->workload == &transformer_workload ? transformer->zero : 0;
    double ranks = report->ranks, distinct = ranks / scenario->data;
    return report->parts.parameters * (level >= 3 ? ranks : distinct) +
           report->parts.optimizer * (level >= 1 ? ranks : distinct);
}

static double idle_watts(const struct report *report, const struct platform *platform)
{
    double watts = 0;
    for (uint32_t rank = 0; rank < report->ranks; rank++)
        watts += report->run.power ? report->run.power->states[rank].idle
                                   : platform->hosts[report->run.hosts[rank]].idle_watts;
    return watts;
}

struct training_job goodput_job(const struct scenario *scenario, const struct report *report,
                                const struct platform *platform)
{
    uint32_t nodes = count_nodes(report, platform);
    return (struct training_job){.iteration = report->iteration,
                                 .tokens = report->run.figures.tokens,
                                 .per_step = report->tokens_per_s * report->iteration,
                                 .nodes = nodes,
                                 .gpus_per_node = (report->ranks + nodes - 1) / nodes,
                                 .replicas = scenario->data,
                                 .stages = scenario->workers,
                                 .micro_batches = scenario->micro_batches,
                                 .state_bytes = state_bytes(scenario, report),
                                 .joules = report->energy,
                                 .idle_watts = report->energy >= 0 ? idle_watts(report, platform) : -1,
                                 .price = report->run.figures.price,
                                 .flop = report->run.figures.model_flops};
}

bool goodput_has_length(const struct scenario *scenario)
{
    const struct transformer_parameters *transformer = scenario->parameters;
    return scenario->training.steps > 0 || (scenario->workload == &transformer_workload && transformer->tokens > 0);
}

bool goodput_known(const struct scenario *scenario, const struct training_job *job)
{
    const struct training_settings *settings = &scenario->training;
    return (settings->step > 0 || job->iteration > 0) &&
           (settings->steps > 0 || (job->tokens > 0 && job->per_step > 0));
}

void goodput_forecast(const struct scenario *scenario, struct report *report)
{
    if (scenario->training.given && goodput_known(scenario, &report->training))
        report->forecast = training_forecast_of(&scenario->training, &report->training);
}
