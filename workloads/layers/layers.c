/* SPDX-License-Identifier: Apache-2.0 */
/* The workload `layers`: the scenario's keys, and the order in which the job is built. */
#include "workloads/layers/kfac.h"
#include "workloads/layers/strategy.h"

#include "base/arena.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const char *const types[] = {"other", "convolution", "dense", "recurrent", "embedding", "pooling", NULL};
static const char *const denses[] = {"replicated", "divided", NULL};
static const char *const optimizers[] = {"momentum", "sgd", "adam", "kfac", NULL};
static const char *const inverses[] = {"cholesky", "eigen", NULL};
static const char *const gradient_types[] = {"same", "fp32", NULL};
static const char *const consistencies[] = {"synchronous", "stale", "asynchronous", NULL};
static const char *const shardings[] = {"even", "layers", NULL};
static const char *const weights[] = {"resident", "streamed", NULL};
static const char *const algorithms[] = {"direct", "auto", "gemm", "fft", "winograd", NULL};
static const char *const workspaces[] = {"largest", "all", NULL};
static const char *const exchanges[] = {"all-reduce", "all-gather", NULL};

static const struct layer layer_defaults = {.steps = 1};

#define COLUMN(name, type, ...)                                                                                        \
    {                                                                                                                  \
#name, type, offsetof(struct layer, name), __VA_ARGS__                                                         \
    }

static const struct stagesim_field columns[] = {
    COLUMN(name, STAGESIM_FIELD_TEXT, .required = true, .doc = "the layer's name"),
    {"kind", STAGESIM_FIELD_NAME, offsetof(struct layer, type), .names = types,
     .doc = "what the layer is; default other"},
    COLUMN(flops, STAGESIM_FIELD_RATIO, .least = 0, .most = 1e18,
           .doc = "flops of a sample's forward, 2 for a multiply-add; default 0"),
    COLUMN(parameters, STAGESIM_FIELD_AMOUNT, .least = 0, .most = 1e15,
           .doc = "number of weights and biases; default 0"),
    COLUMN(inputs, STAGESIM_FIELD_AMOUNT, .least = 0, .most = 1e15,
           .doc = "what the forward of a sample reads; default: the outputs of the previous layer"),
    COLUMN(outputs, STAGESIM_FIELD_AMOUNT, .required = true, .least = 0, .most = 1e15,
           .doc = "what the forward of a sample writes"),
    COLUMN(activations, STAGESIM_FIELD_AMOUNT, .least = 0, .most = 1e15,
           .doc = "what is kept of a sample for the backward; default: the outputs"),
    COLUMN(boundary, STAGESIM_FIELD_AMOUNT, .least = 0, .most = 1e15,
           .doc = "what later layers need from this layer and those before it, which a pipeline sends from stage to "
                  "stage; default: the outputs"),
    COLUMN(steps, STAGESIM_FIELD_COUNT, .least = 1, .most = 100000,
           .doc = "steps of a recurrent layer, one after the other; default 1"),
    COLUMN(from, STAGESIM_FIELD_TEXTS,
           .doc = "earlier layers whose outputs it reads, their channels one after the other; or input, the network's "
                  "input; default: the previous layer"),
    COLUMN(added, STAGESIM_FIELD_TEXTS, .doc = "earlier layers whose outputs are added to its own (shortcuts)"),
    COLUMN(weights, STAGESIM_FIELD_TEXT,
           .doc = "earlier layer whose weights it uses as well; default: it has weights of its own"),
    COLUMN(channels, STAGESIM_FIELD_COUNT, .least = 1, .most = 1e12,
           .doc = "channels of the outputs; default: outputs divided by height and width"),
    COLUMN(height, STAGESIM_FIELD_COUNT, .least = 1, .most = 1e9,
           .doc = "height of the outputs, or the length of a sequence; default 1"),
    COLUMN(width, STAGESIM_FIELD_COUNT, .least = 1, .most = 1e9, .doc = "width of the outputs; default 1"),
    COLUMN(kernel, STAGESIM_FIELD_COUNTS, .least = 1, .most = 1e9,
           .doc = "inputs that an output reads along height and width, one number or both; default: those at the same "
                  "place, or all where sizes differ"),
    COLUMN(stride, STAGESIM_FIELD_COUNTS, .least = 1, .most = 1e9, .doc = "stride of the kernel; default 1"),
    COLUMN(padding, STAGESIM_FIELD_COUNTS, .least = 0, .most = 1e9, .doc = "padding on every side; default 0"),
    {0},
};

static const struct stagesim_row_type row_type = {
    .what = "a layer", .fields = columns, .size = sizeof(struct layer), .defaults = &layer_defaults};

static const struct layers_parameters defaults = {.bucket = 25e6,
                                                  .period = 1,
                                                  .compression = 1,
                                                  .overlap = true,
                                                  .storage = {.prefetch = 1},
                                                  .kfac = {.distributed = true},
                                                  .workspace = -1};

#define FIELD(key, member, type, ...)                                                                                  \
    {                                                                                                                  \
        key, type, offsetof(struct layers_parameters, member), __VA_ARGS__                                             \
    }

static const struct stagesim_field fields[] = {
    FIELD("algorithms", algorithms, STAGESIM_FIELD_NAME, .names = algorithms,
          .doc = "algorithm of convolutions: one for all that can use it, or the fastest for each; default direct"),
    FIELD("workspace", workspace, STAGESIM_FIELD_BYTES, .least = 0, .most = 1e15,
          .doc = "memory that algorithms of convolutions may use in addition to their tensors; default: no limit"),
    FIELD("workspace_of", workspace_of, STAGESIM_FIELD_NAME, .names = workspaces,
          .doc = "largest: all convolutions use the same workspace, one after the other; all: each has a workspace of "
                 "its own; default largest"),
    FIELD("dense", dense, STAGESIM_FIELD_NAME, .names = denses,
          .doc = "dense layers on the data axis: replicated, or divided by channel while convolutions are replicated; "
                 "default replicated"),
    FIELD("layers_per_stage", layers_per_stage, STAGESIM_FIELD_COUNTS, .least = 1, .most = 100000,
          .doc = "number of layers of each stage of a pipeline; default: divided so that the busiest stage takes as "
                 "little time as possible"),
    FIELD("optimizer", optimizer, STAGESIM_FIELD_NAME, .names = optimizers,
          .doc = "the optimizer, which decides how large its state is and how long its step takes; default momentum"),
    FIELD("gradients", gradients, STAGESIM_FIELD_NAME, .names = gradient_types,
          .doc = "precision in which gradients are kept and synchronised; default same"),
    FIELD("bucket", bucket, STAGESIM_FIELD_BYTES, .least = 0, .most = 1e15,
          .doc = "size of a bucket: gradients that are synchronised together; default 25MB"),
    FIELD("checkpoints", checkpoints, STAGESIM_FIELD_COUNT, .least = 0, .most = 100000,
          .doc = "activations are kept only at so many cuts of the network; the backward computes the others again; "
                 "default 0: all are kept"),
    FIELD("period", period, STAGESIM_FIELD_COUNT, .least = 1, .most = 1000,
          .doc = "local SGD: replicas update their weights alone and average them every so many iterations; default 1"),
    FIELD("compression", compression, STAGESIM_FIELD_RATIO, .least = 1, .most = 1e6,
          .doc = "factor by which gradients are compressed before they are sent; default 1: not at all"),
    FIELD("compression_rate", compression_rate, STAGESIM_FIELD_RATE, .least = 1, .most = 1e18,
          .doc = "bytes of gradient that are compressed, or decompressed, in a second; default: this takes no time"),
    FIELD("compression_exchange", exchange, STAGESIM_FIELD_NAME, .names = exchanges,
          .doc = "all-reduce where compressed gradients can be added, all-gather where every rank needs each; default "
                 "all-reduce"),
    FIELD("servers", servers, STAGESIM_FIELD_COUNT, .least = 0, .most = 65536,
          .doc = "number of parameter servers, which replace collectives; default 0: none"),
    FIELD("colocated", colocated, STAGESIM_FIELD_FLAG,
          .doc = "whether servers run on the hosts of the first workers; otherwise they have hosts of their own; "
                 "default false"),
    FIELD("consistency", consistency, STAGESIM_FIELD_NAME, .names = consistencies,
          .doc = "servers answer when all workers' gradients are in, when no worker is too far behind, or at once; "
                 "default synchronous"),
    FIELD("staleness", staleness, STAGESIM_FIELD_COUNT, .least = 0, .most = 1000,
          .doc = "stale: iterations that a worker may be ahead of the slowest; default 0"),
    FIELD("shards", shards, STAGESIM_FIELD_NAME, .names = shardings,
          .doc =
              "even: every server holds a part of each layer; layers: whole layers, the largest first; default even"),
    FIELD("weights", weights, STAGESIM_FIELD_NAME, .names = weights,
          .doc =
              "resident: workers hold the weights; streamed: servers broadcast them for every pass; default resident"),
    FIELD("server_bandwidth", server_bandwidth, STAGESIM_FIELD_RATE, .least = 1, .most = 1e18,
          .doc = "bandwidth of a server's memory, with which it adds up gradients and updates weights; default: that "
                 "of its host"),
    {"model.layers", STAGESIM_FIELD_ROWS, offsetof(struct layers_parameters, layers), .required = true,
     .rows = &row_type, .doc = "the network's layers in their order"},
    {"model.input", STAGESIM_FIELD_COUNTS, offsetof(struct layers_parameters, input), .least = 1, .most = 1e12,
     .doc = "shape of the network's input: channels, height and width; default: not known"},
    {"split.layers", STAGESIM_FIELD_ROWS, offsetof(struct layers_parameters, splits), .rows = &split_row_type,
     .doc = "how layers are divided among the ranks; if several rows name a layer, the last one counts; default: by "
            "samples over all ranks"},
    {"model.parameters", STAGESIM_FIELD_COUNT, offsetof(struct layers_parameters, count), .least = 1, .most = 1e15,
     .doc = "published number of parameters; stagesim checks that the layers give it; default: not checked"},
    FIELD("compute.precision", precision, STAGESIM_FIELD_NAME, .names = device_precisions,
          .doc = "precision of numbers and products; default fp32"),
    FIELD("compute.efficiency", efficiency, STAGESIM_FIELD_RATIO, .least = 1e-6, .most = 1,
          .doc = "one share of the peak for all layers, in place of a table"),
    FIELD("compute.table", table, STAGESIM_FIELD_PATH,
          .doc = "efficiency table of the device; default: the installed one of the platform's model"),
    FIELD("communication.overlap", overlap, STAGESIM_FIELD_FLAG,
          .doc = "whether gradients are synchronised while the backward runs; default true"),
    FIELD("kfac.factors_every", kfac.factors_every, STAGESIM_FIELD_COUNT, .least = 1, .most = 1000,
          .doc = "iterations from one computation of the factors to the next; default 10"),
    FIELD("kfac.inverse_every", kfac.inverse_every, STAGESIM_FIELD_COUNT, .least = 1, .most = 1000,
          .doc =
              "iterations from one computation of the inverses to the next, a multiple of factors_every; default ten "
              "times factors_every"),
    FIELD("kfac.inverse", kfac.inverse, STAGESIM_FIELD_NAME, .names = inverses,
          .doc = "how factors are inverted, which sets the default of kfac.work; default cholesky"),
    FIELD("kfac.work", kfac.work, STAGESIM_FIELD_RATIO, .least = 1e-3, .most = 1e6,
          .doc = "flops of inverting an n x n factor over n^3; default 1, with eigen 9"),
    FIELD("kfac.distributed", kfac.distributed, STAGESIM_FIELD_FLAG,
          .doc = "whether the factors of a layer are inverted on one rank, and the inverses gathered, instead of on "
                 "every rank; default true"),
    FIELD("storage.hosts", storage.hosts, STAGESIM_FIELD_COUNT, .least = 0, .most = 65536,
          .doc = "number of storage hosts, after those of the workers; each sends an equal part of the samples; "
                 "default 0: samples need no transfer"),
    FIELD("storage.bandwidth", storage.bandwidth, STAGESIM_FIELD_RATE, .least = 1, .most = 1e18,
          .doc = "bandwidth of the disks of a storage host; default: no limit"),
    FIELD("storage.reads", storage.reads, STAGESIM_FIELD_RATIO, .least = 1e-3, .most = 1e15,
          .doc = "samples in random order that the disks of a storage host find in a second; default: no limit"),
    FIELD("storage.sample", storage.sample, STAGESIM_FIELD_BYTES, .least = 1, .most = 1e15,
          .doc = "size of a stored sample; default: what the first layer reads"),
    FIELD("storage.dataset", storage.dataset, STAGESIM_FIELD_BYTES, .least = 1, .most = 1e18,
          .doc = "size of all samples together, which decides how much caches hold"),
    FIELD("storage.cache", storage.cache, STAGESIM_FIELD_BYTES, .least = 0, .most = 1e18,
          .doc = "size of the samples that a storage host keeps in memory; default 0B"),
    FIELD("storage.local_cache", storage.local_cache, STAGESIM_FIELD_BYTES, .least = 0, .most = 1e18,
          .doc = "size of the samples that the host of a worker keeps for it; default 0B"),
    FIELD("storage.prefetch", storage.prefetch, STAGESIM_FIELD_COUNT, .least = 0, .most = 1000,
          .doc = "how many micro-batches ahead samples are requested; default 1"),
    {0},
};

/* ---- the graph ---- */

struct layers_graph *layers_make_graph(struct layers_job *j)
{
    const struct stagesim_list *input = &j->parameters->input;
    enum { CHANNELS, HEIGHT, WIDTH, NUMBERS };
    struct layer_shape shape = {0};
    if (input->count && input->count != NUMBERS) {
        j->api->error(j->job, "model.input", "input has %zu number%s; expected channels, height and width",
                      input->count, input->count == 1 ? "" : "s");
        return NULL;
    }
    if (input->count)
        shape = (struct layer_shape){(uint64_t)input->values[CHANNELS], (uint64_t)input->values[HEIGHT],
                                     (uint64_t)input->values[WIDTH]};
    struct row_reporter reporter = {layers_report, j};
    return graph_create(j->layers, j->count, &shape, &reporter);
}

/* ---- building ---- */

static enum transformer_optimizer optimizer_of(const struct layers_parameters *p)
{
    static const enum transformer_optimizer kinds[] = {OPTIMIZER_MOMENTUM, OPTIMIZER_SGD, OPTIMIZER_ADAM,
                                                       OPTIMIZER_MOMENTUM};
    return kinds[p->optimizer];
}

double layers_element_bytes(const struct layers_parameters *parameters)
{
    return parameters->precision <= TF32 ? 4 : 2; /* fp8 is for the products alone */
}

/* What numbers take in memory and on the way. */
static void set_bytes(struct layers_job *j)
{
    const struct layers_parameters *p = j->parameters;
    j->element_bytes = layers_element_bytes(p);
    j->state = transformer_state_of(optimizer_of(p), j->element_bytes, p->gradients ? 4 : j->element_bytes);
}

double layers_exchanged_bytes(const struct layers_parameters *p)
{
    struct layers_job j = {.parameters = p};
    const struct layer *layers = p->layers.rows;
    double count = 0;
    set_bytes(&j);
    for (size_t i = 0; i < p->layers.count; i++)
        count += layers[i].parameters.elements + layers[i].parameters.bytes / j.element_bytes;
    return count * (j.state.gradient / p->compression + j.state.weight);
}

void layers_describe(struct layers_job *j)
{
    const struct layers_parameters *p = j->parameters;
    j->layers = p->layers.rows;
    j->count = (uint32_t)p->layers.count;
    j->samples = j->api->micro_batch_size(j->job);
    j->data = j->api->axis(j->job, "data");
    j->tensor = j->api->axis(j->job, "tensor");
    j->workers = j->api->workers(j->job);
    set_bytes(j);
}

static void declare(const struct layers_job *j)
{
    double flops = 0, again = 0, busy = 0, bound = 0;
    for (uint32_t i = 0; i < j->count; i++) {
        again += j->costs[i].again_flops;
        flops += j->costs[i].forward_flops + j->costs[i].backward_flops - j->costs[i].again_flops;
        busy += j->costs[i].forward + j->costs[i].backward;
        bound += j->costs[i].memory_bound;
    }
    char *choices = layers_algorithms_text(j);
    double times = j->tensor * (double)j->data * j->api->micro_batches(j->job);
    struct stagesim_figures figures = {.size = sizeof figures,
                                       .model_flops = flops * times,
                                       .hardware_flops = (flops + again) * times,
                                       .peak_flops = j->device.peak,
                                       .memory_bound = busy > 0 ? bound / busy : 0,
                                       .bounds_known = true,
                                       .choices = choices};
    j->api->declare(j->job, &figures);
    free(choices);
}

static void report_split(void *user, uint32_t row, const char *text)
{
    const struct layers_job *j = user;
    char key[32] = "split.layers";
    if (row != STAGESIM_NONE)
        snprintf(key, sizeof key, "split.layers.%u", row);
    j->api->error(j->job, key, "%s", text);
}

static bool build_split(struct layers_job *j)
{
    struct row_reporter reporter = {report_split, j};
    struct layers_strategy *strategy =
        strategy_create(j->graph, &j->parameters->splits, j->data * j->tensor, j->samples * j->data, &reporter);
    bool ok = strategy && layers_build_split(j, strategy);
    strategy_destroy(strategy);
    return ok;
}

static bool build_graph(struct layers_job *j)
{
    if (j->parameters->splits.count)
        return build_split(j);

    bool pipeline = j->workers > 1 || j->api->scheduled(j->job);
    if (!layers_choose_algorithms(j)) {
        free(j->algorithms);
        return false;
    }
    j->costs = array_zeroed(j->count, sizeof *j->costs);
    layers_cost(j, &j->device, j->costs);
    declare(j);
    bool ok = pipeline ? layers_build_pipeline(j) : layers_build_steps(j);
    free(j->costs);
    free(j->algorithms);
    return ok;
}

static bool build(const void *parameters, struct stagesim_job *job, const struct stagesim_api *api)
{
    struct layers_job j = {.parameters = parameters, .job = job, .api = api};
    layers_describe(&j);
    bool pipeline = j.workers > 1 || api->scheduled(job);
    bool ok = layers_check(&j, pipeline);
    struct layers_graph *graph = layers_make_graph(&j);
    j.graph = graph;
    ok = ok && graph && (j.parameters->optimizer != LAYERS_KFAC || layers_check_kfac(&j)) &&
         layers_device(&j, 0, &j.efficiency, &j.device) && build_graph(&j);
    graph_destroy(graph);
    return ok;
}

/* Workers that talk to servers or to a storage, or have parts of their own, are no replicas of each other. */
static void shape(const void *parameters, struct stagesim_shape *shape)
{
    const struct layers_parameters *p = parameters;
    shape->distinct = p->servers > 0 || p->storage.hosts > 0 || p->splits.count > 0;
    shape->extra = (p->colocated ? 0 : (uint32_t)p->servers) + (uint32_t)p->storage.hosts;
}

const struct stagesim_workload layers_workload = {
    .abi = STAGESIM_WORKLOAD_ABI,
    .size = sizeof layers_workload,
    .name = "layers",
    .summary = "any network as a list of layers: data, model, hybrid and spatial parallel, split layer by layer, "
               "parameter servers, local SGD",
    .fields = fields,
    .parameters_size = sizeof(struct layers_parameters),
    .defaults = &defaults,
    .build = build,
    .shape = shape,
    .needs = layers_needs,
};
