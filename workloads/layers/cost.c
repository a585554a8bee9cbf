/* SPDX-License-Identifier: Apache-2.0 */
/* What layers cost: roofline times, the bytes that ranks hold and exchange. */
#include "workloads/layers/algorithm.h"
#include "workloads/layers/split.h"

#include <math.h>

/* ---- the device ---- */

bool layers_device(const struct layers_job *j, uint32_t position, struct efficiency *efficiency,
                   struct efficiency_device *device)
{
    struct stagesim_device host = j->api->device(j->job, position);
    *device = (struct efficiency_device){.efficiency = efficiency,
                                         .peak = device_peak(&host, j->parameters->precision),
                                         .fp8 = j->parameters->precision == FP8,
                                         .plain_peak = host.peak[0],
                                         .clock = j->api->clock(j->job, position),
                                         .bandwidth = host.memory_bandwidth};
    if (device->peak > 0)
        return device_read_efficiency(j->job, j->api, &host, j->parameters->efficiency, j->parameters->table,
                                      efficiency);
    j->api->error(j->job, "compute.precision", "the platform gives no peak_%s of its devices",
                  device_precisions[j->parameters->precision]);
    return false;
}

/* ---- sizes ---- */

double layers_bytes(const struct layers_job *j, const struct stagesim_amount *amount, double otherwise)
{
    return amount->given ? amount->bytes + amount->elements * j->element_bytes : otherwise;
}

static double parameter_count(const struct layers_job *j, const struct layer *layer)
{
    return layer->parameters.elements + layer->parameters.bytes / j->element_bytes;
}

/* A layer of which every rank of an axis holds some channels: how many ranks those are. Replicas do so with dense
 * layers where the scenario asks for it ("one weird trick", Krizhevsky 2014), and bring their samples together for it.
 */
static bool shares_replicas(const struct layers_job *j, const struct layer *layer)
{
    return j->parameters->dense && layer->type == LAYER_DENSE && j->data > 1;
}

const char *layers_axes(const struct layers_job *j, uint32_t layer)
{
    if (!shares_replicas(j, &j->layers[layer]))
        return "tensor";
    return j->tensor > 1 ? "tensor,data" : "data";
}

/* What a layer reads of other layers, of one sample. */
static double read_bytes(const struct layers_job *j, uint32_t index)
{
    const struct layer_operator *op = &j->graph->operators[index];
    double bytes = 0;
    for (uint32_t i = 0; i < op->edge_count; i++)
        bytes += layers_bytes(j, &j->layers[op->edges[i].source].outputs, 0);
    return bytes;
}

static double input_bytes(const struct layers_job *j, uint32_t index)
{
    return j->samples * layers_bytes(j, &j->layers[index].inputs, read_bytes(j, index));
}

/* The network's input alone needs no gradient. */
static bool needs_gradient(const struct layers_job *j, uint32_t index)
{
    return j->graph->operators[index].edge_count > 0;
}

static bool reads_recurrent(const struct layers_job *j, uint32_t index)
{
    const struct layer_operator *op = &j->graph->operators[index];
    bool all = op->edge_count > 0;
    for (uint32_t i = 0; i < op->edge_count; i++)
        all &= j->layers[op->edges[i].source].type == LAYER_RECURRENT;
    return all;
}

/* Sets what a layer's ranks exchange. The first layer reads the samples, of which every rank has its own; layers
 * without parameters work on the channels at hand; what a recurrent layer has gathered step by step need not be
 * gathered again. */
static void set_exchange(const struct layers_job *j, uint32_t index, struct layer_cost *cost)
{
    const struct layer *layer = &j->layers[index];
    bool replicas = shares_replicas(j, layer), divided = replicas || j->tensor > 1;
    if (!divided || cost->weights <= 0 || layer->type == LAYER_EMBEDDING)
        return;
    if (layer->type == LAYER_RECURRENT)
        cost->stepped = j->samples * layers_bytes(j, &layer->outputs, 0);
    if (needs_gradient(j, index) && !reads_recurrent(j, index))
        cost->gathered = input_bytes(j, index) * (replicas ? j->data : 1);
}

/* ---- times ---- */

/* A pass over a layer: seconds, of which some for moving bytes alone. */
static double pass_time(const struct efficiency_device *device, bool convolution, double flops, double bytes,
                        double *memory_bound)
{
    struct transformer_operator work = {.name = "layer",
                                        .matrix = flops > 0,
                                        .convolution = convolution,
                                        .flops = flops,
                                        .bytes = bytes},
                                arithmetic = work;
    if (flops <= 0 && bytes <= 0)
        return 0;
    arithmetic.bytes = 0;
    double seconds = efficiency_operator_time(device, &work);
    if (seconds > efficiency_operator_time(device, &arithmetic))
        *memory_bound += seconds;
    return seconds;
}

double layers_work_seconds(const struct efficiency_device *device, double flops, double bytes)
{
    double memory_bound = 0;
    return pass_time(device, false, flops, bytes, &memory_bound);
}

/* One pass over a layer: all of it, of which `weights` are bytes that each of its steps reads. */
struct pass {
    bool convolution;
    double flops, bytes, weights, steps;
};

static double steps_time(const struct efficiency_device *device, const struct pass *pass, double flops,
                         double *memory_bound)
{
    double bound = 0, steps = pass->steps, bytes = pass->bytes / steps + pass->weights;
    double seconds = steps * pass_time(device, pass->convolution, flops / steps, bytes, &bound);
    *memory_bound += steps * bound;
    return seconds;
}

/* What a forward reads and computes on one rank. */
static struct pass forward_pass(const struct layers_job *j, uint32_t index, const struct layer_cost *cost)
{
    const struct layer *layer = &j->layers[index];
    double samples = shares_replicas(j, layer) ? j->data : 1, owners = j->tensor * samples;
    double outputs = samples * j->samples * layers_bytes(j, &layer->outputs, 0) / owners;
    double inputs = samples * input_bytes(j, index) / (cost->weights > 0 ? 1 : owners);
    double weights = cost->weights * j->element_bytes;
    return (struct pass){.convolution = layer->type == LAYER_CONVOLUTION,
                         .flops = samples * j->samples * layer->flops / owners,
                         .bytes = inputs + outputs,
                         .weights = layer->type == LAYER_EMBEDDING ? outputs
                                                                   : weights, /* of a table only rows in use are read */
                         .steps = (double)layer->steps};
}

/* Passes over what a normalised layer keeps beside its output, the convolution's own output: the forward reads it for
 * the statistics, reads it again and writes the result, the backward reads it and the gradient twice and writes a
 * gradient. Functions such as ReLU are part of the passes. */
enum { NORM_FORWARD_PASSES = 3, NORM_BACKWARD_PASSES = 5 };

/* `samples`: so many of them, or as much of them as a part has. */
static void add_norm(const struct layers_job *j, const struct efficiency_device *device, const struct layer *layer,
                     double samples, struct layer_cost *cost)
{
    double outputs = layers_bytes(j, &layer->outputs, 0), kept = layers_bytes(j, &layer->activations, outputs);
    double bytes = samples * (kept - outputs) * device->efficiency->normalisation;
    if ((layer->type != LAYER_CONVOLUTION && layer->type != LAYER_DENSE) || bytes <= 0)
        return;
    double forward = 0;
    cost->forward += pass_time(device, false, 0, NORM_FORWARD_PASSES * bytes, &forward);
    cost->forward_bound += forward;
    cost->memory_bound += forward;
    cost->backward += pass_time(device, false, 0, NORM_BACKWARD_PASSES * bytes, &cost->memory_bound);
}

/* What a layer's algorithm makes of a pass and of the device: other flops, its workspace written and read, and no
 * matrix units where its products are none of matrices. A part of the layer takes its share. */
static void take_algorithm(const struct layers_job *j, uint32_t index, struct pass *pass,
                           struct efficiency_device *device)
{
    enum { PASSES = 2, PLAIN_BYTES = 4 }; /* over the workspace; bytes of its numbers outside of matrix units */
    struct convolution convolution;
    unsigned algorithm = j->algorithms ? j->algorithms[index] : ALGORITHM_DIRECT;
    if (algorithm == ALGORITHM_DIRECT || !layers_convolution_of(j, index, &convolution))
        return;
    struct algorithm_work work = algorithm_work_of(&convolution, algorithm);
    double share = pass->flops / (j->samples * j->layers[index].flops);
    pass->flops = share * work.flops;
    pass->bytes += PASSES * share * work.workspace * (work.matrix ? j->element_bytes : PLAIN_BYTES);
    if (!work.matrix && device->plain_peak > 0)
        device->peak = device->plain_peak;
}

/* The backward of a layer with parameters is two products of the forward's size; the first layer needs no gradient of
 * its input. Flops are those of the layer, times those of its algorithm. */
static void set_times(const struct layers_job *j, const struct efficiency_device *device, uint32_t index,
                      const struct pass *pass, struct layer_cost *cost)
{
    bool input_gradient = needs_gradient(j, index);
    double weight = cost->weights > 0 ? pass->flops : 0, input = input_gradient ? pass->flops : 0;
    cost->forward_flops = pass->flops;
    cost->weight_flops = weight;
    cost->backward_flops = weight + input;
    struct pass taken = *pass;
    struct efficiency_device on = *device;
    take_algorithm(j, index, &taken, &on);
    cost->forward = steps_time(&on, &taken, taken.flops, &cost->memory_bound);
    cost->forward_bound = cost->memory_bound;
    cost->weight = cost->weights > 0 ? steps_time(&on, &taken, taken.flops, &cost->memory_bound) : 0;
    cost->backward = cost->weight + (input_gradient ? steps_time(&on, &taken, taken.flops, &cost->memory_bound) : 0);
}

/* ---- parts ---- */

void layers_part_cost(const struct layers_job *j, const struct efficiency_device *device, uint32_t index,
                      const struct layer_part *part, double samples, struct layer_cost *cost)
{
    const struct layer *layer = &j->layers[index];
    const struct layer_operator *op = &j->graph->operators[index];
    double outputs = layers_bytes(j, &layer->outputs, 0),
           inputs = layers_bytes(j, &layer->inputs, read_bytes(j, index));
    double computed = box_volume(&part->output) / graph_outputs(op), /* as many samples' outputs */
        owned = box_volume(&part->owned) / graph_outputs(op);
    double weights = part->weights * parameter_count(j, &j->layers[op->weights]);
    *cost = (struct layer_cost){.parameters = op->weights == index ? weights : 0, .weights = weights};
    struct pass pass = {.convolution = layer->type == LAYER_CONVOLUTION,
                        .flops = samples * layer->flops * part->computed,
                        .bytes =
                            samples * inputs * split_read_share(j->graph, index, part, samples) + computed * outputs,
                        .weights = layer->type == LAYER_EMBEDDING ? computed * outputs : weights * j->element_bytes,
                        .steps = (double)layer->steps};
    set_times(j, device, index, &pass, cost);
    add_norm(j, device, layer, owned, cost);
    cost->gradient = cost->parameters * j->state.gradient;
    cost->taken = cost->activation = owned * layers_bytes(j, &layer->activations, outputs);
    cost->freed = -cost->activation;
}

/* ---- whole layers ---- */

void layers_cost(const struct layers_job *j, const struct efficiency_device *device, struct layer_cost *costs)
{
    for (uint32_t i = 0; i < j->count; i++) {
        const struct layer *layer = &j->layers[i];
        bool replicas = shares_replicas(j, layer);
        struct layer_cost *cost = &costs[i];
        double outputs = layers_bytes(j, &layer->outputs, 0);
        const struct layer *weights = &j->layers[j->graph->operators[i].weights];
        *cost = (struct layer_cost){.parameters = parameter_count(j, layer) / j->tensor / (replicas ? j->data : 1),
                                    .weights = parameter_count(j, weights) / j->tensor / (replicas ? j->data : 1)};
        set_exchange(j, i, cost);
        struct pass pass = forward_pass(j, i, cost);
        set_times(j, device, i, &pass, cost);
        add_norm(j, device, layer, j->samples / j->tensor, cost);
        cost->gradient = replicas ? 0 : cost->parameters * j->state.gradient;
        cost->activation = j->samples * layers_bytes(j, &layer->activations, outputs) / j->tensor + cost->gathered;
        cost->message = j->samples * layers_bytes(j, &layer->boundary, outputs) / j->tensor;
    }
    layers_checkpoints(j, costs);
}

double layers_convolution_seconds(const struct layers_job *j, uint32_t index)
{
    const struct layer *weights = &j->layers[j->graph->operators[index].weights];
    struct layer_cost cost = {.weights = parameter_count(j, weights) / j->tensor};
    struct pass pass = forward_pass(j, index, &cost);
    set_times(j, &j->device, index, &pass, &cost);
    return cost.forward + cost.backward;
}

double layers_optimizer_time(const struct layers_job *j, const struct efficiency_device *device, double parameters)
{
    struct transformer_operator step = {.name = "optimizer", .bytes = parameters * j->state.update};
    return step.bytes > 0 ? efficiency_operator_time(device, &step) : 0;
}

bool layers_convolution_of(const struct layers_job *j, uint32_t index, struct convolution *convolution)
{
    const struct layer *layer = &j->layers[index];
    const struct layer_operator *op = &j->graph->operators[index];
    if (layer->type != LAYER_CONVOLUTION || layer->flops <= 0)
        return false;
    double kernel_height = (double)op->height.kernel, kernel_width = (double)op->width.kernel;
    double read = layer->flops / 2 / graph_outputs(op); /* numbers that an output is computed from */
    *convolution =
        (struct convolution){.samples = j->samples,
                             .inputs = read / kernel_height / kernel_width,
                             .outputs = (double)op->output.channels,
                             .height = ((double)op->output.height - 1) * (double)op->height.stride + kernel_height,
                             .width = ((double)op->output.width - 1) * (double)op->width.stride + kernel_width,
                             .rows = (double)op->output.height,
                             .columns = (double)op->output.width,
                             .kernel_height = kernel_height,
                             .kernel_width = kernel_width,
                             .strided = op->height.stride > 1 || op->width.stride > 1};
    return true;
}
