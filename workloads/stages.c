/* SPDX-License-Identifier: Apache-2.0 */
/* The workload `stages`: an abstract pipeline for studying schedules, given in time and bytes per micro-batch and
 * worker. Values are those of one worker's share, 1/D of the model; a schedule with v stages per share gives each 1/v
 * of it (a stage may lie in two shares where a schedule file cuts the model otherwise), except for messages, which are
 * whole. */
#include "workloads/stages.h"

#include "base/arena.h"
#include "schedules/plan/plan_share.h"

#include <stdlib.h>

struct parameters {
    struct stagesim_list forward, backward, weight, block, optimizer;
    struct stagesim_list message, gradient, activation, parameters, optimizer_state, keys_values;
    double attention;
};

/* clang-format off */
#define TIMES(name, need, text) \
    {#name, STAGESIM_FIELD_TIMES, offsetof(struct parameters, name), need, 0, 1e12, NULL, text}
#define BYTES(name, text)    \
    {#name, STAGESIM_FIELD_BYTES_LIST, offsetof(struct parameters, name), false, 0, 1e18, NULL, text}
/* clang-format on */

static const struct stagesim_field fields[] = {
    TIMES(forward, true, "time of the forward of one micro-batch on one worker's share; one time or D times"),
    TIMES(backward, true, "time of the whole backward"),
    TIMES(weight, false, "time of the weight gradient, a part of the backward; default: half of the backward"),
    TIMES(block, false, "time of a forward and a backward that run as one block; default: the sum of their times"),
    TIMES(optimizer, false, "time of the optimizer step after the synchronisation of gradients; default: no step"),
    BYTES(message,
          "size of a micro-batch's activation between stages, and of its gradient on the way back; default 0B"),
    BYTES(gradient, "size of the gradient of a worker's share of the model, which its replicas all-reduce; default 0B"),
    BYTES(activation, "memory that a micro-batch's activations take from forward to backward; default 0B"),
    BYTES(parameters, "memory of one copy of the weights of a worker's share; default 0B"),
    BYTES(optimizer_state, "memory of the optimizer state of a worker's share; default 0B"),
    BYTES(keys_values, "the part of `activation` that is kept for later slices of the sequence; default 0B"),
    {"attention", STAGESIM_FIELD_RATIO, offsetof(struct parameters, attention), false, 0, 1, NULL,
     "share of causal attention in the time of a forward and of a backward; later slices have more of it; default 0"},
    {0},
};

static const struct stagesim_need needs[] = {
    {"weight", "a schedule that splits backwards?", true},
    {"block", "schedule.name=dualpipe,dualpipe-v,stp", true},
    {"keys_values", "a schedule with slices?", true},
    {"attention", "a schedule with slices?", true},
    {0},
};

/* A list has one value for all shares or one for each. */
static bool check_list(struct stagesim_job *job, const struct stagesim_api *api, const char *key,
                       const struct stagesim_list *list)
{
    if (list->count <= 1 || list->count == api->workers(job))
        return true;
    api->error(job, key, "%zu values for a pipeline of %u workers; expected one value, or %u", list->count,
               api->workers(job), api->workers(job));
    return false;
}

static double value(const struct stagesim_list *list, uint32_t share)
{
    return list->count == 0 ? 0 : list->values[list->count == 1 ? 0 : share];
}

static double weight_time(const struct parameters *p, uint32_t share)
{
    return p->weight.count ? value(&p->weight, share) : value(&p->backward, share) / 2;
}

static bool check(const void *parameters, struct stagesim_job *job, const struct stagesim_api *api)
{
    const struct parameters *p = parameters;
    bool ok = true;
    for (const struct stagesim_field *field = fields; field->key; field++)
        ok &=
            field->type == STAGESIM_FIELD_RATIO ||
            check_list(job, api, field->key, (const struct stagesim_list *)((const char *)parameters + field->offset));
    for (uint32_t share = 0; ok && share < api->workers(job); share++)
        if (weight_time(p, share) > value(&p->backward, share)) {
            api->error(job, "weight",
                       "the weight gradient is part of the backward and cannot take longer (worker %u: %g s of %g s)",
                       share, weight_time(p, share), value(&p->backward, share));
            ok = false;
        }
    return ok;
}

/* Values per stage from values per share. */
static double *per_stage(const struct stagesim_list *list, uint32_t workers, uint32_t stages)
{
    double *values = array_zeroed(stages, sizeof *values);
    for (uint32_t stage = 0; values && list->count && stage < stages; stage++)
        values[stage] = plan_share_cut(list->values, list->count, workers, stages, stage);
    return values;
}

/* Half of the backward where nothing is said. */
static double *weight_per_stage(const struct parameters *p, uint32_t workers, uint32_t stages)
{
    double *values = per_stage(p->weight.count ? &p->weight : &p->backward, workers, stages);
    for (uint32_t stage = 0; values && !p->weight.count && stage < stages; stage++)
        values[stage] /= 2;
    return values;
}

/* Whole, of the share in which the stage ends. */
static double *message_per_stage(const struct parameters *p, uint32_t workers, uint32_t stages)
{
    double *values = array_zeroed(stages, sizeof *values);
    for (uint32_t stage = 0; values && stage < stages; stage++)
        values[stage] = value(&p->message, plan_share_end(workers, stages, stage));
    return values;
}

static double *same(double number, uint32_t stages)
{
    double *values = array_zeroed(stages, sizeof *values);
    for (uint32_t stage = 0; values && stage < stages; stage++)
        values[stage] = number;
    return values;
}

static bool build(const void *parameters, struct stagesim_job *job, const struct stagesim_api *api)
{
    const struct parameters *p = parameters;
    uint32_t stages = api->stages(job), workers = api->workers(job);
    double *arrays[] = {
        per_stage(&p->forward, workers, stages),
        per_stage(&p->backward, workers, stages),
        weight_per_stage(p, workers, stages),
        p->block.count ? per_stage(&p->block, workers, stages) : NULL,
        per_stage(&p->optimizer, workers, stages),
        message_per_stage(p, workers, stages),
        per_stage(&p->gradient, workers, stages),
        per_stage(&p->activation, workers, stages),
        per_stage(&p->parameters, workers, stages),
        per_stage(&p->optimizer_state, workers, stages),
        same(p->attention, stages),
        per_stage(&p->keys_values, workers, stages),
    };
    struct stagesim_pipeline pipeline = {.size = sizeof pipeline,
                                         .stages = stages,
                                         .forward = arrays[0],
                                         .backward = arrays[1],
                                         .weight = arrays[2],
                                         .block = arrays[3],
                                         .optimizer = arrays[4],
                                         .message = arrays[5],
                                         .gradient = arrays[6],
                                         .activation = arrays[7],
                                         .parameter = arrays[8],
                                         .optimizer_state = arrays[9],
                                         .attention = arrays[10],
                                         .keys_values = arrays[11]};
    bool ok = api->pipeline(job, &pipeline);
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        free(arrays[i]);
    return ok;
}

const struct stagesim_workload stages_workload = {
    .abi = STAGESIM_WORKLOAD_ABI,
    .size = sizeof stages_workload,
    .name = "stages",
    .summary = "abstract pipeline given in time and bytes per micro-batch and worker",
    .fields = fields,
    .parameters_size = sizeof(struct parameters),
    .check = check,
    .build = build,
    .needs = needs,
};
