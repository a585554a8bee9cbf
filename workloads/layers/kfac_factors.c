/* SPDX-License-Identifier: Apache-2.0 */
/* Factors of second order: their sizes, and what they take to compute. */
#include "base/rounded/rounded.h"
#include "workloads/layers/kfac.h"

#include "workloads/layers/graph.h"

#include <math.h>

/* What is given, and what follows from it. */
struct layers_kfac_parameters layers_kfac_parameters_of(const struct layers_parameters *p)
{
    enum { EVERY = 10, EIGEN_WORK = 9 };
    struct layers_kfac_parameters kfac = p->kfac;
    if (!kfac.factors_every)
        kfac.factors_every = kfac.inverse_every && kfac.inverse_every % EVERY ? 1 : EVERY;
    if (!kfac.inverse_every)
        kfac.inverse_every = EVERY * kfac.factors_every;
    if (kfac.work <= 0)
        kfac.work = kfac.inverse ? EIGEN_WORK : 1;
    return kfac;
}

/* Numbers beside the matrix of weights, for each output channel: one is a bias, two are a normalisation's. */
static double beside(const struct layers_job *j, uint32_t index, double inner, double outer)
{
    return j->layers[index].parameters.elements / outer - inner;
}

static bool has_factors(const struct layer *layer)
{
    bool kind = layer->type == LAYER_CONVOLUTION || layer->type == LAYER_DENSE;
    return kind && !layer->weights && layer->parameters.elements > 0 && layer->flops > 0;
}

struct kfac_layer kfac_layer_of(const struct layers_job *j, uint32_t index)
{
    const struct layer *layer = &j->layers[index];
    const struct layer_operator *op = &j->graph->operators[index];
    if (!has_factors(layer))
        return (struct kfac_layer){0};
    double outputs = graph_outputs(op), outer = (double)op->output.channels, inner = layer->flops / 2 / outputs;
    double biases = beside(j, index, inner, outer);
    return (struct kfac_layer){
        .inner = inner + (biases >= 1 && biases <= 1), .outer = outer, .positions = outputs / outer};
}

bool kfac_fits(const struct layers_job *j, uint32_t index)
{
    enum { BESIDE_MAX = 4 };
    const struct layer_operator *op = &j->graph->operators[index];
    if (!has_factors(&j->layers[index]))
        return true;
    double more = beside(j, index, j->layers[index].flops / 2 / graph_outputs(op), (double)op->output.channels);
    return more >= 0 && more <= BESIDE_MAX;
}

double kfac_numbers(const struct kfac_layer *layer)
{
    return layer->inner * layer->inner + layer->outer * layer->outer;
}

double kfac_packed(const struct kfac_layer *layer)
{
    return layer->inner * (layer->inner + 1) / 2 + layer->outer * (layer->outer + 1) / 2;
}

double kfac_factor_flops(const struct kfac_layer *layer, double samples)
{
    return 2 * samples * layer->positions * kfac_numbers(layer);
}

double kfac_inverse_flops(const struct kfac_layer *layer, double work)
{
    return work * (rounded_pow(layer->inner, 3) + rounded_pow(layer->outer, 3));
}

double kfac_precondition_flops(const struct kfac_layer *layer)
{
    return 2 * layer->inner * layer->outer * (layer->inner + layer->outer);
}
