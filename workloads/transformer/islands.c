/* SPDX-License-Identifier: Apache-2.0 */
/* Islands of data-parallel replicas that train by themselves and agree now and then: local SGD (Stich, ICLR 2019),
 * DiLoCo (Douillard et al. 2023, arXiv 2311.08105), in parts and beside the next iterations (2025, arXiv 2501.18512).
 * An island is the innermost ranks of the axis data. Each of its ranks has a share of the weights as they were agreed
 * last, and of the outer optimizer's moment. */
#include "base/arena.h"
#include "workloads/transformer/transformer.h"

#include <stdlib.h>

enum { FLOAT = 4 };

static bool accept_unless(const struct transformer_job *j, bool wrong, const char *key, const char *text)
{
    if (wrong)
        j->api->error(j->job, key, "%s", text);
    return !wrong;
}

/* Iterations from one outer step of a stage's weights, or of a part of them, to the next one. */
static uint32_t interval_of(const struct transformer_job *j)
{
    return (uint32_t)(j->parameters->outer_period / j->parameters->outer_parts);
}

static bool check_steps(const struct transformer_job *j)
{
    const struct transformer_parameters *p = j->parameters;
    uint32_t iterations = j->api->iterations(j->job);
    if (p->outer_period % p->outer_parts) {
        j->api->error(j->job, "outer_parts", "%llu iterations cannot be divided among %llu parts; expected a divisor",
                      (unsigned long long)p->outer_period, (unsigned long long)p->outer_parts);
        return false;
    }
    uint32_t interval = interval_of(j);
    if (iterations % interval) {
        j->api->error(j->job, "outer_period",
                      "an outer step is taken every %u iterations, and there are %u; expected a multiple, such as "
                      "iterations: %u",
                      interval, iterations, 2 * interval);
        return false;
    }
    return accept_unless(j, p->outer_delay > interval, "outer_delay",
                         "what one outer step has sent is applied no later than the next one sends; expected at most "
                         "outer_period / outer_parts");
}

bool transformer_set_islands(struct transformer_job *j)
{
    const struct transformer_parameters *p = j->parameters;
    j->island = j->data;
    if (p->islands < 2)
        return true;
    bool ok = accept_unless(j, j->tensor.algorithm != TENSOR_MEGATRON, "islands",
                            "islands are for megatron-1d; expected it as tensor_parallel.algorithm");
    ok &= accept_unless(j, p->shard_ranks > 0, "islands",
                        "islands are not for hybrid sharding: weights are shared within one; expected no shard_ranks");
    uint32_t inner = j->data / (uint32_t)p->islands;
    if (inner * p->islands != j->data || !j->api->cut(j->job, "data", inner)) {
        j->api->error(j->job, "islands", "%u data-parallel ranks cannot be cut into %llu islands; expected a divisor",
                      j->data, (unsigned long long)p->islands);
        return false;
    }
    j->island = inner;
    return check_steps(j) && ok;
}

static double moment_bytes(const struct transformer_job *j)
{
    return j->parameters->outer_momentum ? FLOAT : 0;
}

double transformer_outer_memory(const struct transformer_job *j, uint32_t stage)
{
    const struct transformer_parameters *p = j->parameters;
    return p->islands > 1 && !p->outer_offload ? transformer_held(j, stage, 0) * (FLOAT + moment_bytes(j)) : 0;
}

/* Seconds in which a stage's GPU moves so many bytes of its memory, and over the link of its host those that lie there.
 */
static double seconds(const struct transformer_job *j, uint32_t stage, double bytes, double carried)
{
    const struct transformer_parameters *p = j->parameters;
    struct transformer_operator step = {.name = "outer", .wide = true, .bytes = bytes};
    return efficiency_operator_time(&j->devices[stage]->device, &step) +
           (p->outer_offload ? carried / p->offload_rate : 0);
}

void transformer_islands_begin(const struct transformer_job *j, struct transformer_islands *islands,
                               struct stagesim_pipeline *pipeline)
{
    const struct transformer_parameters *p = j->parameters;
    double parts = (double)p->outer_parts, sent = p->outer_bytes, moment = moment_bytes(j);
    *islands = (struct transformer_islands){.within = ""};
    if (p->islands < 2)
        return;
    for (unsigned i = 0; i < sizeof islands->arrays / sizeof *islands->arrays; i++)
        islands->arrays[i] = array_zeroed(j->stages, sizeof *islands->arrays[i]);
    for (uint32_t stage = 0; stage < j->stages; stage++) {
        double each = transformer_held(j, stage, 0) / parts, whole = j->zero < 3 ? j->state.weight / parts : 0;
        islands->arrays[0][stage] = each * sent;
        /* The difference between weights now and those agreed last; then the mean difference to moment and weights. */
        islands->arrays[1][stage] = seconds(j, stage, each * (2 * FLOAT + sent), each * FLOAT);
        islands->arrays[2][stage] =
            seconds(j, stage, each * (sent + 2 * moment + 2 * FLOAT + j->state.weight), each * (FLOAT + 2 * moment));
        islands->arrays[3][stage] = transformer_stage_parameters(j, stage) * whole;
        islands->arrays[4][stage] = transformer_stage_experts(j, stage) * whole;
    }
    snprintf(islands->within, sizeof islands->within, "context,data:%u", j->island);
    snprintf(islands->experts, sizeof islands->experts, "whole_experts,%s,-expert", islands->within);
    snprintf(islands->between, sizeof islands->between, "data,-data:%u", j->island);
    pipeline->sync_axes = islands->within;
    pipeline->expert_axes = islands->experts;
    pipeline->outer_axes = islands->between;
    pipeline->outer_interval = interval_of(j);
    pipeline->outer_delay = (uint32_t)p->outer_delay;
    pipeline->outer_bytes = islands->arrays[0];
    pipeline->outer_before = islands->arrays[1];
    pipeline->outer_after = islands->arrays[2];
    pipeline->outer_gathered = islands->arrays[3];
    pipeline->outer_expert_gathered = islands->arrays[4];
    struct stagesim_pace pace = {
        .size = sizeof pace, .period = pipeline->outer_interval, .overlapping = p->outer_delay > 0};
    j->api->pace(j->job, &pace);
}

void transformer_islands_finish(struct transformer_islands *islands)
{
    for (unsigned i = 0; i < sizeof islands->arrays / sizeof *islands->arrays; i++)
        free(islands->arrays[i]);
}
