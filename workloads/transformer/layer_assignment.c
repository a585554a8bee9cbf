/* SPDX-License-Identifier: Apache-2.0 */
/* Which layers a stage holds: as the scenario says, evenly, or so that the stages take about as long. */
#include "base/arena.h"
#include "workloads/transformer/pipeline_layout.h"
#include "workloads/transformer/transformer.h"

#include <stdlib.h>

/* At most one of the keys that say which layers a stage holds. */
static bool check_keys(const struct transformer_job *j)
{
    const struct transformer_parameters *p = j->parameters;
    bool list = p->layers_per_stage.count > 0, text = p->pipeline_layout != NULL;
    if (list + text + (p->balance == BALANCE_AUTO) <= 1)
        return true;
    j->api->error(j->job, list && text ? "pipeline_layout" : "balance",
                  "%s says which layers a stage holds; expected one of the two keys",
                  list ? "layers_per_stage" : "pipeline_layout");
    return false;
}

static bool check_layout(const struct transformer_job *j, const struct pipeline_layout *given)
{
    const char *key = "pipeline_layout";
    if (given->stages != j->stages)
        j->api->error(j->job, key, "%u stages; expected %u, those of the schedule", given->stages, j->stages);
    else if (given->layers != j->model.layers)
        j->api->error(j->job, key, "the stages have %u layers (t) in all, the model has %llu", given->layers,
                      (unsigned long long)j->model.layers);
    else if (given->prediction_layers != j->model.predictions)
        j->api->error(j->job, key,
                      "%u layers that predict a further token (m); expected %llu, as model.predictions says",
                      given->prediction_layers, (unsigned long long)j->model.predictions);
    else if (given->prediction_layers && given->prediction + 1 != given->stages)
        j->api->error(j->job, key,
                      "layers that predict a further token (m) are in the last stage; expected them there");
    else if (given->embedding || given->loss + 1 != given->stages)
        j->api->error(j->job, key, "expected E in the first stage and L in the last one");
    else
        return true;
    return false;
}

static bool assign_layout(struct transformer_job *j)
{
    struct fault fault = {""};
    struct pipeline_layout given;
    if (!pipeline_layout_read(j->parameters->pipeline_layout, 0, &given, &fault)) {
        j->api->error(j->job, "pipeline_layout", "%s", fault.text);
        return false;
    }
    bool good = check_layout(j, &given);
    for (uint32_t stage = 0; good && stage < j->stages; stage++)
        j->layers[stage] = given.counts[stage];
    pipeline_layout_finish(&given);
    return good;
}

static bool assign_given(struct transformer_job *j)
{
    const struct stagesim_list *given = &j->parameters->layers_per_stage;
    double sum = 0;
    if (given->count != j->stages) {
        j->api->error(j->job, "layers_per_stage", "%zu values for %u stages; expected one for each", given->count,
                      j->stages);
        return false;
    }
    for (uint32_t stage = 0; stage < j->stages; stage++) {
        j->layers[stage] = (uint32_t)given->values[stage];
        sum += given->values[stage];
    }
    if (sum == (double)j->model.layers)
        return true;
    j->api->error(j->job, "layers_per_stage", "the stages have %.0f layers in all, the model has %llu", sum,
                  (unsigned long long)j->model.layers);
    return false;
}

/* A share `again` of the forward is computed twice. */
static double parts_time(const struct stagesim_part *parts, uint32_t count, double again)
{
    double time = 0;
    for (uint32_t i = 0; i < count; i++)
        time += parts[i].forward * (1 + again) + parts[i].backward;
    return time;
}

static double block_time(const struct transformer_job *j, enum transformer_block block, double again)
{
    struct stagesim_part part = transformer_part(j, block, STAGESIM_NONE);
    return parts_time(&part, 1, again);
}

static double layer_time(const struct transformer_job *j, uint64_t layer, double again)
{
    struct stagesim_part parts[LAYER_PARTS_MAX];
    return parts_time(parts, transformer_layer_parts(j, (uint32_t)layer, parts), again);
}

/* What a stage has to do apart from layers, so far, and with each further layer. */
struct load {
    double time, layer,
        dense; /* seconds of a micro-batch; dense: of a layer without experts, of which the first stage has `left` */
    uint64_t left;
};

static double next_load(const struct load *load)
{
    return load->time + (load->left ? load->dense : load->layer);
}

/* Where layers differ the mean of those that come again. */
static double mean_layer_time(const struct transformer_job *j, double again)
{
    uint64_t layers = j->model.layers, period = transformer_layers_period(&j->model), count = 0;
    double sum = 0;
    for (; count < period && count < layers; count++)
        sum += layer_time(j, layers - 1 - count, again);
    return sum / (double)count;
}

static void set_load(const struct transformer_job *j, uint32_t stage, struct load *load)
{
    struct transformer_job on = transformer_on_stage(j, stage);
    double again = j->api->recomputed(j->job, stage);
    *load = (struct load){.layer = mean_layer_time(&on, again), .dense = layer_time(&on, 0, again)};
    load->left = stage == 0 && j->model.experts ? j->model.dense_layers : 0;
    load->time = (stage == transformer_input_stage(j) ? block_time(&on, BLOCK_INPUT, again) : 0) +
                 (stage + 1 == j->stages ? block_time(&on, BLOCK_OUTPUT, again) : 0);
}

/* Each layer goes to the stage that is done first with it (the first of equals): with equal layers the busiest stage
 * could not have less, on stages of different speed either. First layers without experts are taken to be the first
 * stage's. */
static bool assign_balanced(struct transformer_job *j)
{
    struct load *loads = array_zeroed(j->stages, sizeof *loads);
    for (uint32_t stage = 0; loads && stage < j->stages; stage++)
        set_load(j, stage, &loads[stage]);
    for (uint64_t count = 0; loads && count < j->model.layers; count++) {
        uint32_t best = 0;
        for (uint32_t stage = 1; stage < j->stages; stage++)
            if (next_load(&loads[stage]) < next_load(&loads[best]) * (1 - 1e-12))
                best = stage;
        loads[best].time = next_load(&loads[best]);
        loads[best].left -= loads[best].left > 0;
        j->layers[best]++;
    }
    bool ok = loads != NULL;
    free(loads);
    return ok;
}

/* ---- layers of several kinds ---- */

/* Seconds of every layer on every stage: [stage * layers + layer], and what the stage has to do beside. */
struct times {
    double *layers, *rest;
};

static double tower_time(const struct transformer_job *on, double again)
{
    struct stagesim_part *parts = array_zeroed(1 + transformer_tower_part_count(on), sizeof *parts);
    double time = parts ? parts_time(parts, transformer_tower_parts(on, parts), again) : 0;
    free(parts);
    return time;
}

/* Layers of one kind take the same time. */
static void set_times(const struct transformer_job *j, uint32_t stage, struct times *times)
{
    struct transformer_job on = transformer_on_stage(j, stage);
    struct load load;
    uint32_t layers = (uint32_t)j->model.layers, further = (uint32_t)j->model.predictions;
    double again = j->api->recomputed(j->job, stage), *own = &times->layers[(size_t)stage * layers];
    set_load(j, stage, &load);
    times->rest[stage] = load.time + (stage == 0 ? tower_time(&on, again) : 0);
    for (uint32_t i = 0; i < layers; i++) {
        uint32_t like = 0;
        while (like < i && j->layer_kinds[like] != j->layer_kinds[i])
            like++;
        own[i] = like < i ? own[like] : layer_time(&on, i, again);
    }
    for (uint32_t i = 0; i < further && stage + 1 == j->stages; i++)
        times->rest[stage] += block_time(&on, BLOCK_PREDICTION, again) + layer_time(&on, layers + i, again) +
                              block_time(&on, BLOCK_OUTPUT, again);
}

/* Gives each stage as many of the layers that are left as it has done by `most`; whether all have a place. */
static bool fill_until(const struct transformer_job *j, const struct times *times, double most, uint32_t *counts)
{
    uint32_t layers = (uint32_t)j->model.layers, next = 0;
    for (uint32_t stage = 0; stage < j->stages; stage++) {
        double time = times->rest[stage];
        uint32_t first = next;
        while (next < layers && stage >= transformer_input_stage(j) &&
               time + times->layers[(size_t)stage * layers + next] <= most)
            time += times->layers[(size_t)stage * layers + next++];
        counts[stage] = next - first;
    }
    return next == layers;
}

/* The least time in which all stages can be done, to a millionth: stages hold neighbours, so any time tells at once
 * whether it is enough. */
static bool assign_unequal(struct transformer_job *j)
{
    uint32_t layers = (uint32_t)j->model.layers;
    struct times times = {array_zeroed((size_t)j->stages * layers, sizeof(double)),
                          array_zeroed(j->stages, sizeof(double))};
    double low = 0, high = 0;
    for (uint32_t stage = 0; times.layers && times.rest && stage < j->stages; stage++) {
        set_times(j, stage, &times);
        high += times.rest[stage];
        for (uint32_t i = 0; i < layers; i++)
            high += times.layers[(size_t)stage * layers + i];
    }
    while (times.layers && times.rest && high - low > 1e-6 * high) {
        double middle = (low + high) / 2;
        if (fill_until(j, &times, middle, j->layers))
            high = middle;
        else
            low = middle;
    }
    bool ok = times.layers && times.rest && fill_until(j, &times, high, j->layers);
    free(times.layers);
    free(times.rest);
    return ok;
}

bool transformer_assign_layers(struct transformer_job *j)
{
    if (!check_keys(j))
        return false;
    if (j->parameters->pipeline_layout)
        return assign_layout(j);
    if (j->parameters->layers_per_stage.count)
        return assign_given(j);
    uint32_t first = transformer_input_stage(j), stages = j->stages - first;
    if (!stages || j->model.layers < stages) {
        j->api->error(j->job, "model.layers", "%llu layers are fewer than the %u stages of the pipeline",
                      (unsigned long long)j->model.layers, j->stages);
        return false;
    }
    if (j->parameters->balance == BALANCE_AUTO)
        return transformer_has_kinds(&j->model) ? assign_unequal(j) : assign_balanced(j);
    if (j->model.layers % stages) {
        j->api->error(j->job, "model.layers",
                      "%llu layers cannot be divided evenly over %u stages; give layers_per_stage, or balance: auto, "
                      "in the section "
                      "transformer",
                      (unsigned long long)j->model.layers, stages);
        return false;
    }
    for (uint32_t stage = first; stage < j->stages; stage++)
        j->layers[stage] = (uint32_t)(j->model.layers / stages);
    return true;
}
