/* SPDX-License-Identifier: Apache-2.0 */
/* The split by layer: which layers a pipeline stage holds, and what it costs. */
#include "workloads/layers/layers.h"

#include "base/arena.h"
#include "base/bulk.h"

#include <math.h>
#include <stdlib.h>

/* ---- the cut ---- */

/* Times of layers: those of stage s begin at times + s * stride. */
struct cutting {
    const double *times;
    size_t stride;
    uint32_t count, stages;
};

static double layer_time(const struct cutting *c, uint32_t stage, uint32_t layer)
{
    return c->times[stage * c->stride + layer];
}

/* Fills stages from the front with at most `limit` each, leaving a layer for each of the others. True where that is
 * enough. */
static bool cut(const struct cutting *c, double limit, uint32_t *first)
{
    uint32_t layer = 0;
    for (uint32_t stage = 0; stage < c->stages; stage++) {
        double sum = layer_time(c, stage, layer);
        first[stage] = layer++;
        while (layer < c->count - (c->stages - 1 - stage) && sum + layer_time(c, stage, layer) <= limit)
            sum += layer_time(c, stage, layer++);
        if (sum > limit)
            return false;
    }
    first[c->stages] = layer;
    return layer == c->count;
}

/* The smallest largest stage where layers take the same time everywhere: the limit is bisected until no number lies
 * between one that suffices and one that does not. */
static void balance(const struct cutting *c, uint32_t *first)
{
    double low = 0, high = 0;
    for (uint32_t layer = 0; layer < c->count; layer++)
        high += layer_time(c, 0, layer);
    high *= 1 + 1e-12; /* sums of parts are rounded in another order */
    for (;;) {
        double middle = low + (high - low) / 2;
        if (middle <= low || middle >= high)
            break;
        *(cut(c, middle, first) ? &high : &low) = middle;
    }
    cut(c, high, first);
}

/* The same where a stage may be slower than the next one, so that it is not best to fill it: the smallest largest of
 * the first stages up to each layer, by those of one stage less. */
static void balance_unlike(const struct cutting *c, uint32_t *first)
{
    size_t ends = c->count + (size_t)1;
    double *longest = array_zeroed(c->stages * ends, sizeof *longest);
    uint32_t *begins = array_zeroed(c->stages * ends, sizeof *begins);
    for (uint32_t end = 1; end <= c->count; end++)
        longest[end] = longest[end - 1] + layer_time(c, 0, end - 1);
    for (uint32_t stage = 1; stage < c->stages; stage++)
        for (uint32_t end = stage + 1; end <= c->count; end++) {
            double *best = &longest[stage * ends + end], sum = 0;
            *best = INFINITY;
            for (uint32_t begin = end; begin-- > stage && (sum += layer_time(c, stage, begin)) < *best;) {
                double both = fmax(longest[(stage - 1) * ends + begin], sum);
                if (both < *best) {
                    *best = both;
                    begins[stage * ends + end] = begin;
                }
            }
        }
    first[c->stages] = c->count;
    for (uint32_t stage = c->stages; stage-- > 0;)
        first[stage] = begins[stage * ends + first[stage + 1]];
    free(longest);
    free(begins);
}

/* Whether a layer takes longer on one stage than on another. */
static bool are_unlike(const struct cutting *c)
{
    bool unlike = false;
    for (uint32_t stage = 1; stage < c->stages && !unlike; stage++)
        for (uint32_t layer = 0; layer < c->count; layer++)
            unlike |= layer_time(c, stage, layer) != layer_time(c, 0, layer);
    return unlike;
}

static bool take_given(const struct layers_job *j, uint32_t stages, uint32_t *first)
{
    const struct stagesim_list *given = &j->parameters->layers_per_stage;
    double sum = 0;
    if (given->count != stages) {
        j->api->error(j->job, "layers_per_stage", "%zu values for %u stages; expected one for each", given->count,
                      stages);
        return false;
    }
    for (uint32_t stage = 0; stage < stages; stage++) {
        first[stage] = (uint32_t)sum;
        sum += given->values[stage];
    }
    first[stages] = j->count;
    if (sum == (double)j->count)
        return true;
    j->api->error(j->job, "layers_per_stage", "the stages have %.0f layers in all, the network has %u", sum, j->count);
    return false;
}

bool layers_assign(const struct layers_job *j, uint32_t stages, const double *times, size_t stride, uint32_t *first)
{
    const struct cutting c = {times, stride, j->count, stages};
    if (j->parameters->layers_per_stage.count)
        return take_given(j, stages, first);
    if (j->count < stages) {
        j->api->error(j->job, "model.layers", "%u layers are fewer than the %u stages of the pipeline", j->count,
                      stages);
        return false;
    }
    (are_unlike(&c) ? balance_unlike : balance)(&c, first);
    return true;
}

/* ---- the stages ---- */

enum {
    FORWARD,
    BACKWARD,
    WEIGHT,
    FORWARD_FLOPS,
    BACKWARD_FLOPS,
    WEIGHT_FLOPS,
    GRADIENT,
    OPTIMIZER,
    MESSAGE,
    ACTIVATION,
    PARAMETER,
    GRADIENT_MEMORY,
    STATE,
    BUFFERS,
    ARRAYS
};

struct stages {
    const struct layers_job *j;
    const uint32_t *first;
    double *arrays[ARRAYS];
    struct stagesim_part *parts;     /* [layer] */
    const struct stagesim_part **of; /* [stage] */
    uint32_t *counts;
};

static void add_exchange(struct stagesim_exchanges *exchanges, uint32_t *count, struct stagesim_exchange exchange)
{
    if (exchange.bytes > 0)
        exchanges->items[(*count)++] = exchange;
}

/* What ranks that share a layer's channels exchange, see struct layer_cost. */
static void set_exchanges(const struct layers_job *j, uint32_t layer, struct stagesim_part *part)
{
    const struct layer_cost *cost = &j->costs[layer];
    const char *axes = layers_axes(j, layer);
    double steps = (double)j->layers[layer].steps;
    struct stagesim_exchange gather = {STAGESIM_ALL_GATHER, STAGESIM_TENSOR, STAGESIM_BEFORE, axes, cost->gathered, 1};
    struct stagesim_exchange step = {STAGESIM_ALL_GATHER, STAGESIM_TENSOR, STAGESIM_AFTER, axes, cost->stepped, steps};
    uint32_t forward = 0, backward = 0;
    add_exchange(&part->forward_exchanges, &forward, gather);
    add_exchange(&part->forward_exchanges, &forward, step);
    gather.collective = step.collective = STAGESIM_REDUCE_SCATTER;
    gather.moment = STAGESIM_AFTER;
    add_exchange(&part->backward_exchanges, &backward, step);
    add_exchange(&part->backward_exchanges, &backward, gather);
}

static void set_part(const struct layers_job *j, uint32_t layer, struct stagesim_part *part)
{
    const struct layer_cost *cost = &j->costs[layer];
    *part = (struct stagesim_part){.layer = layer,
                                   .forward = cost->forward,
                                   .backward = cost->backward,
                                   .weight = cost->weight,
                                   .forward_flops = cost->forward_flops,
                                   .backward_flops = cost->backward_flops,
                                   .weight_flops = cost->weight_flops,
                                   .gradient = cost->gradient};
    set_exchanges(j, layer, part);
}

static void add_layer(struct stages *s, uint32_t stage, uint32_t layer)
{
    const struct layers_job *j = s->j;
    const struct layer_cost *cost = &j->costs[layer];
    struct stagesim_part *part = &s->parts[layer];
    set_part(j, layer, part);
    const double values[ARRAYS] = {
        [FORWARD] = part->forward,
        [BACKWARD] = part->backward,
        [WEIGHT] = part->weight,
        [FORWARD_FLOPS] = part->forward_flops,
        [BACKWARD_FLOPS] = part->backward_flops,
        [WEIGHT_FLOPS] = part->weight_flops,
        [GRADIENT] = part->gradient,
        [ACTIVATION] = cost->activation,
        [PARAMETER] = cost->parameters * j->state.weight,
        [GRADIENT_MEMORY] = cost->parameters * j->state.gradient,
        [STATE] = cost->parameters * j->state.optimizer,
    };
    for (int i = 0; i < ARRAYS; i++)
        s->arrays[i][stage] += values[i];
    s->arrays[MESSAGE][stage] = cost->message;
}

static void fill(struct stages *s, uint32_t stages)
{
    for (uint32_t stage = 0; stage < stages; stage++) {
        double parameters = 0;
        for (uint32_t layer = s->first[stage]; layer < s->first[stage + 1]; layer++) {
            add_layer(s, stage, layer);
            parameters += s->j->costs[layer].parameters;
        }
        s->arrays[BUFFERS][stage] = layers_workspace(s->j, s->first[stage], s->first[stage + 1]);
        s->arrays[OPTIMIZER][stage] = layers_optimizer_time(s->j, &s->j->device, parameters);
        s->of[stage] = &s->parts[s->first[stage]];
        s->counts[stage] = s->first[stage + 1] - s->first[stage];
    }
}

static bool lower(const struct stages *s, uint32_t stages)
{
    const struct layers_parameters *p = s->j->parameters;
    struct stagesim_pipeline pipeline = {
        .size = sizeof pipeline,
        .stages = stages,
        .forward = s->arrays[FORWARD],
        .backward = s->arrays[BACKWARD],
        .weight = s->arrays[WEIGHT],
        .optimizer = s->arrays[OPTIMIZER],
        .forward_flops = s->arrays[FORWARD_FLOPS],
        .backward_flops = s->arrays[BACKWARD_FLOPS],
        .weight_flops = s->arrays[WEIGHT_FLOPS],
        .message = s->arrays[MESSAGE],
        .gradient = s->arrays[GRADIENT],
        .activation = s->arrays[ACTIVATION],
        .parameter = s->arrays[PARAMETER],
        .optimizer_state = s->arrays[STATE],
        .gradient_memory = s->arrays[GRADIENT_MEMORY],
        .buffers = s->arrays[BUFFERS],
        .parts = s->of,
        .part_counts = s->counts,
        .fine = s->j->tensor > 1 || p->dense,
        .late_sync = !p->overlap,
        .bucket = p->bucket,
    };
    return s->j->api->pipeline(s->j->job, &pipeline);
}

bool layers_build_pipeline(const struct layers_job *j)
{
    uint32_t stages = j->api->stages(j->job), *first = array_zeroed(stages + (size_t)1, sizeof *first);
    struct stages s = {.j = j,
                       .first = first,
                       .parts = array_zeroed(j->count, sizeof *s.parts),
                       .of = array_zeroed(stages, sizeof *s.of),
                       .counts = array_zeroed(stages, sizeof *s.counts)};
    for (int i = 0; i < ARRAYS; i++)
        s.arrays[i] = array_zeroed(stages, sizeof *s.arrays[i]);
    double *times = array_zeroed(j->count, sizeof *times);
    for (uint32_t layer = 0; layer < j->count; layer++)
        times[layer] = j->costs[layer].forward + j->costs[layer].backward;
    bool ok = layers_assign(j, stages, times, 0, first);
    if (ok) {
        fill(&s, stages);
        ok = lower(&s, stages);
    }
    for (int i = 0; i < ARRAYS; i++)
        free(s.arrays[i]);
    free(s.parts);
    free(s.of);
    free(s.counts);
    free(times);
    free(first);
    return ok;
}
