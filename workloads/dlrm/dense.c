/* SPDX-License-Identifier: Apache-2.0 */
/* Dense layers and the interaction: shapes, roofline times, bytes. */
#include "base/arena.h"
#include "workloads/dlrm/dlrm.h"

#include <stdio.h>

/* ---- operators ---- */

/* Adds the time of an operator: a matrix product of flops, or what only moves bytes. */
static void add_operator(const struct dlrm_job *j, struct dlrm_layer *layer, double *seconds, double flops,
                         double numbers)
{
    struct transformer_operator work = {
        .name = layer->name, .matrix = flops > 0, .flops = flops, .bytes = numbers * j->element_bytes};
    struct transformer_operator arithmetic = work;
    arithmetic.bytes = 0;
    double time = efficiency_operator_time(&j->device, &work);
    if (time > efficiency_operator_time(&j->device, &arithmetic))
        layer->bound += time;
    *seconds += time;
}

/* The product of `samples` rows of `inputs` numbers with a weight, forward and backward. The first layer of the model
 * needs no gradient of its input. */
static void add_product(const struct dlrm_job *j, struct dlrm_layer *layer, double inputs, double outputs, bool first)
{
    double flops = 2 * j->samples * inputs * outputs;
    double numbers = j->samples * (inputs + outputs) + inputs * outputs;
    add_operator(j, layer, &layer->forward, flops, numbers);
    add_operator(j, layer, &layer->backward, flops, numbers);
    if (!first)
        add_operator(j, layer, &layer->backward, flops, numbers);
    layer->multiply_adds += inputs * outputs;
    layer->forward_flops += flops;
    layer->backward_flops += first ? flops : 2 * flops;
}

/* ---- layers ---- */

static struct dlrm_layer *new_layer(struct dlrm_job *j, const char *what, uint32_t number)
{
    struct dlrm_layer *layer = &j->layers[j->layer_count++];
    snprintf(layer->name, sizeof layer->name, "%s%u", what, number);
    return layer;
}

/* A linear map with bias, and its ReLU. Where they are no part of the product, ReLU reads and writes the output, its
 * gradient reads both the output and the gradient and writes, and the bias' gradient reads it once more. */
static struct dlrm_layer *add_linear(struct dlrm_job *j, const char *what, uint32_t number, double inputs,
                                     double outputs, bool first)
{
    struct dlrm_layer *layer = new_layer(j, what, number);
    layer->parameters = inputs * outputs + outputs;
    layer->activation = j->samples * outputs * j->element_bytes;
    add_product(j, layer, inputs, outputs, first);
    if (!(j->parameters->fused & DLRM_FUSED_MLP)) {
        add_operator(j, layer, &layer->forward, 0, 2 * j->samples * outputs);
        add_operator(j, layer, &layer->backward, 0, 3 * j->samples * outputs);
        add_operator(j, layer, &layer->backward, 0, j->samples * outputs);
    }
    return layer;
}

/* What the interaction reads of a sample: the bottom layers' output, and a sum of rows of each table. */
static double interaction_inputs(const struct dlrm_job *j)
{
    double numbers = j->width;
    for (uint32_t i = 0; i < j->table_count; i++)
        numbers += (double)j->tables[i].width;
    return numbers;
}

static double interaction_outputs(const struct dlrm_job *j)
{
    double vectors = j->table_count + 1.0;
    if (j->parameters->interaction != DLRM_DOT)
        return interaction_inputs(j);
    return j->width + vectors * (vectors - 1) / 2;
}

/* Products of all pairs of vectors, of which those of different ones are joined to the bottom's output. One kernel
 * reads the vectors and writes the result; as single operators vectors are joined, multiplied, and pairs picked, and in
 * the backward the gradient takes the form of a matrix, meets the vectors twice, is added up, and taken apart. */
static void add_dot(struct dlrm_job *j)
{
    struct dlrm_layer *layer = new_layer(j, "interaction", 0);
    double b = j->samples, vectors = j->table_count + 1.0, square = vectors * vectors, inputs = interaction_inputs(j);
    double outputs = interaction_outputs(j), flops = 2 * b * square * j->width;
    layer->multiply_adds = square * j->width;
    layer->forward_flops = flops;
    layer->backward_flops = 2 * flops;
    layer->activation = b * (inputs + outputs) * j->element_bytes;
    if (j->parameters->fused & DLRM_FUSED_INTERACTION) {
        add_operator(j, layer, &layer->forward, flops, b * (inputs + outputs));
        add_operator(j, layer, &layer->backward, 2 * flops, b * (2 * inputs + outputs));
        return;
    }
    add_operator(j, layer, &layer->forward, 0, 2 * b * inputs);
    add_operator(j, layer, &layer->forward, flops, b * (inputs + square));
    add_operator(j, layer, &layer->forward, 0, 2 * b * outputs);
    add_operator(j, layer, &layer->backward, 0, b * (outputs + square));
    add_operator(j, layer, &layer->backward, flops, b * (square + 2 * inputs));
    add_operator(j, layer, &layer->backward, flops, b * (square + 2 * inputs));
    add_operator(j, layer, &layer->backward, 0, 3 * b * inputs);
    add_operator(j, layer, &layer->backward, 0, 2 * b * inputs);
}

static void add_concat(struct dlrm_job *j)
{
    struct dlrm_layer *layer = new_layer(j, "interaction", 0);
    double numbers = 2 * j->samples * interaction_inputs(j);
    layer->activation = numbers / 2 * j->element_bytes;
    add_operator(j, layer, &layer->forward, 0, numbers);
    add_operator(j, layer, &layer->backward, 0, numbers);
}

/* x0 * (U V x + b) + x (Wang et al. 2021, DCN V2, arXiv 2008.13535, section 3.3, low rank). The element-wise part reads
 * three and writes one; in the backward it reads the gradient and two factors, writes two gradients and adds to that of
 * x0. */
static void add_cross(struct dlrm_job *j, uint32_t number)
{
    struct dlrm_layer *layer = new_layer(j, "cross", number);
    double width = interaction_inputs(j), rank = (double)j->parameters->cross_rank, all = j->samples * width;
    layer->parameters = 2 * width * rank + width;
    layer->activation = j->samples * (2 * width + rank) * j->element_bytes;
    add_product(j, layer, width, rank, false);
    add_product(j, layer, rank, width, false);
    add_operator(j, layer, &layer->forward, 0, 4 * all);
    add_operator(j, layer, &layer->backward, 0, 7 * all);
}

/* The logistic function and the cross entropy of one number a sample, and the gradient of both. */
static void add_loss(struct dlrm_job *j, struct dlrm_layer *last, double outputs)
{
    add_operator(j, last, &last->forward, 0, 2 * j->samples * outputs);
    add_operator(j, last, &last->backward, 0, 2 * j->samples * outputs);
}

void dlrm_dense_describe(struct dlrm_job *j)
{
    const struct dlrm_parameters *p = j->parameters;
    j->bottom_count = (uint32_t)p->bottom.count - 1;
    j->layers = array_zeroed(j->bottom_count + 1 + p->cross_layers + p->top.count, sizeof *j->layers);
    for (uint32_t i = 0; i < j->bottom_count; i++)
        add_linear(j, "bottom", i, p->bottom.values[i], p->bottom.values[i + 1], i == 0);
    if (p->interaction == DLRM_DOT)
        add_dot(j);
    else
        add_concat(j);
    for (uint32_t i = 0; p->interaction == DLRM_CROSS && i < p->cross_layers; i++)
        add_cross(j, i);
    double inputs = interaction_outputs(j);
    struct dlrm_layer *layer = NULL;
    for (uint32_t i = 0; i < p->top.count; i++) {
        layer = add_linear(j, "top", i, inputs, p->top.values[i], false);
        inputs = p->top.values[i];
    }
    add_loss(j, layer, inputs);
}

double dlrm_dense_parameters(const struct dlrm_job *j)
{
    double sum = 0;
    for (uint32_t i = 0; i < j->layer_count; i++)
        sum += j->layers[i].parameters;
    return sum;
}

double dlrm_dense_multiply_adds(const struct dlrm_job *j)
{
    double sum = 0;
    for (uint32_t i = 0; i < j->layer_count; i++)
        sum += j->layers[i].multiply_adds;
    return sum;
}

/* The step reads the gradient, and reads and writes weights in fp32 and the optimizer's state; weights in 16 bits are
 * written beside. */
double dlrm_dense_update(const struct dlrm_job *j, double parameters)
{
    static const double state[] = {[DLRM_SGD] = 0, [DLRM_ADAGRAD] = 1, [DLRM_ROWWISE_ADAGRAD] = 1, [DLRM_ADAM] = 2};
    double bytes = j->element_bytes + 8 * (1 + state[j->parameters->optimizer]) + (j->element_bytes < 4 ? 2 : 0);
    struct transformer_operator step = {.name = "optimizer", .bytes = parameters * bytes};
    return step.bytes > 0 ? efficiency_operator_time(&j->device, &step) : 0;
}
