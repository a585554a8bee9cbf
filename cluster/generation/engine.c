/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/generation/engine.h"

#include "base/arena.h"
#include "base/paths.h"
#include "base/rounded/rounded.h"
#include "platforms/device.h"
#include "simulator/collectives/communicator.h"
#include "workloads/kernels/kernel_table.h"
#include "workloads/transformer/device.h"

#include <math.h>
#include <string.h>

/* Who exchanges what; NULL: nobody does. */
struct network {
    struct communicator *groups[GENERATION_EXCHANGES];
    double all_reduce; /* times the library's */
};

static double exchange_seconds(void *user, enum generation_exchange exchange, double bytes)
{
    static const enum stagesim_collective kinds[GENERATION_EXCHANGES] = {
        [GENERATION_SUM] = STAGESIM_ALL_REDUCE,
        [GENERATION_EXPERTS] = STAGESIM_ALL_TO_ALL,
        [GENERATION_STAGE] = STAGESIM_SEND_RECEIVE,
    };
    struct network *network = user;
    struct communicator *group = network->groups[exchange];
    double factor = exchange == GENERATION_SUM ? network->all_reduce : 1;
    return group ? factor * communicator_choose(group, kinds[exchange], NULL, bytes).seconds : 0;
}

static struct network *make_network(const struct generation_settings *settings, struct platform *platform,
                                    const uint32_t *hosts, struct arena *arena)
{
    struct network *network = arena_alloc(arena, sizeof *network);
    uint32_t tensor = (uint32_t)settings->tensor, ranks = tensor * (uint32_t)settings->data;
    uint32_t *ends = arena_array(arena, 2, sizeof *ends);
    network->all_reduce = settings->all_reduce;
    if (tensor > 1)
        network->groups[GENERATION_SUM] = communicator_create(platform, hosts, tensor, arena);
    if (ranks > 1)
        network->groups[GENERATION_EXPERTS] = communicator_create(platform, hosts, ranks, arena);
    if (settings->pipeline > 1) {
        ends[0] = hosts[0];
        ends[1] = hosts[ranks];
        network->groups[GENERATION_STAGE] = communicator_create(platform, ends, 2, arena);
    }
    return network;
}

static double peak_of(const struct platform_host *host, const struct stagesim_device *device, unsigned type)
{
    double wide = device_peak(device, BF16), narrow = device_peak(device, FP8);
    if (type == GENERATION_FP4 && host->peak[PRECISION_FP4] > 0)
        return host->peak[PRECISION_FP4];
    return type == GENERATION_FP8 || type == GENERATION_FP8_BLOCK ? fmax(narrow, wide) : wide;
}

/* Measured kernels of the device; NULL: there are none, or nobody wants them. */
static struct kernel_table *find_kernels(const struct generation_settings *settings, const char *model,
                                         struct arena *arena, struct fault *fault)
{
    if (settings->kernels != GENERATION_KERNELS_AUTO || !model)
        return NULL;
    const char *models =
        path_find_installed(INSTALLED_EFFICIENCY, arena_print(arena, "%s.kernel-models", model), ".csv", arena);
    const char *rows =
        path_find_installed(INSTALLED_EFFICIENCY, arena_print(arena, "%s.kernels", model), ".csv", arena);
    struct kernel_table *table = arena_alloc(arena, sizeof *table);
    return models && rows && kernel_table_read(models, rows, table, fault) ? table : NULL;
}

/* Of attention within prompts; of expert layers with weights of the engine's type, or the next wider one that was
 * measured. */
static void find_models(const struct generation_settings *settings, const struct stagesim_device *host,
                        struct generation_device *device)
{
    static const enum kernel_type types[GENERATION_TYPES] = {KERNEL_BF16, KERNEL_FP8, KERNEL_NVFP4, KERNEL_FP8_BLOCK};
    bool narrow = settings->weights != GENERATION_BF16 && device->peak > device->wide_peak;
    enum kernel_type wider = settings->weights == GENERATION_FP8_BLOCK ? KERNEL_FP8_BLOCK : KERNEL_FP8;
    struct kernel_shape shape = {.kind = KERNEL_EXPERTS, .type = narrow ? wider : KERNEL_BF16, .stage = KERNEL_FORWARD};
    if (device->kernels && !(settings->expert_share > 0))
        device->experts = kernel_model_of_library(device->kernels, &shape, device->library);
    if (device->kernels) {
        struct kernel_shape attention = {.kind = KERNEL_ATTENTION, .stage = KERNEL_FORWARD};
        device->prompts = kernel_model_find(device->kernels, &attention, NULL);
    }
    device->expert_type = types[settings->weights];
    device->measured_peak = narrow ? device_peak(host, FP8) : device->wide_peak;
}

/* Of the shares that expert layers reached alone, with equal numbers of tokens, what those of an engine do: of
 * TensorRT-LLM by its own throughput, half of which was looked at; of the others no loss is known. */
static double reach_of(const struct generation_settings *settings)
{
    static const double wide[] = {1, 0.5, 1}, narrow[] = {1, 0.4, 1};
    if (settings->expert_reach > 0)
        return settings->expert_reach;
    return (settings->weights == GENERATION_FP4 ? narrow : wide)[settings->library];
}

/* What products with weights, attention over the cache and products of experts reach. Memories with less bandwidth are
 * filled with fewer requests under way; found by runs of TensorRT-LLM and vLLM (doc/serving.md). */
static struct shares {
    double memory, cache, expert;
} shares_of(double bandwidth)
{
    static const double narrow = 2e12;
    return bandwidth < narrow ? (struct shares){0.9, 0.85, 0.85} : (struct shares){0.8, 0.7, 0.45};
}

static struct generation_device describe(const struct generation_settings *settings, const struct platform_host *host,
                                         const struct stagesim_device *device, const struct kernel_table *kernels)
{
    struct shares usual = shares_of(device->memory_bandwidth);
    struct generation_device found = {
        .memory = device->memory,
        .bandwidth = device->memory_bandwidth,
        .peak = peak_of(host, device, settings->weights),
        .wide_peak = device_peak(device, BF16),
        .memory_share = settings->memory_share > 0 ? settings->memory_share : usual.memory,
        .compute_share = settings->compute_share,
        .cache_share = settings->cache_share > 0 ? settings->cache_share : usual.cache,
        .expert_share = settings->expert_share > 0 ? settings->expert_share : usual.expert,
        .skew = settings->skew,
        .launch = settings->launch,
        .expert_launch = settings->expert_launch,
        .attention_launch = settings->attention_launch,
        .expert_reach = reach_of(settings),
        .host = settings->host,
        .sequence = settings->sequence,
        .waits = settings->waits,
        .eager = settings->eager,
        .kernels = kernels,
        .library = generation_libraries[settings->library]};
    find_models(settings, device, &found);
    return found;
}

/* Tokens that a sequence gains in a step: guesses count up to the first wrong one, and one more is always right. */
static double accepted(const struct generation_settings *settings)
{
    double sum = 1, chance = 1;
    for (uint64_t i = 0; i < settings->speculative; i++)
        sum += chance *= settings->acceptance;
    return sum;
}

static bool refuse(struct diag *diag, struct place at, const char *text)
{
    diag_error(diag, at, "%s", text);
    return false;
}

static bool set_limits(const struct generation_settings *settings, double taken, double longest, struct place at,
                       struct diag *diag, struct generation_engine *engine)
{
    double token = generation_token_bytes(engine->generation, longest),
           each = generation_sequence_bytes(engine->generation, longest);
    engine->weights = generation_weights(engine->generation);
    engine->cache = engine->capacity * settings->memory - settings->reserve - engine->weights - taken;
    if (engine->cache <= token + each) {
        diag_error(diag, at,
                   "weights of %.4g GB of a GPU leave no room for a cache: %.4g of %.4g GB may be used, %.4g GB are in "
                   "use already; expected more GPUs of an engine, or a narrower type",
                   engine->weights / 1e9, settings->memory, engine->capacity / 1e9, (taken + settings->reserve) / 1e9);
        return false;
    }
    double room = engine->cache * (double)settings->data;
    engine->limits =
        (struct batching_limits){.tokens = token > 0 ? room / token : room / fmax(each, 1),
                                 .each = token > 0 ? each / token : each > 0,
                                 .sequences = (uint32_t)settings->sequences,
                                 .budget = (double)(settings->tokens * settings->data * settings->pipeline),
                                 .accepted = accepted(settings),
                                 .polls = (uint32_t)settings->polls,
                                 .separate = settings->prompts == GENERATION_PROMPTS_ALONE,
                                 .shares = settings->shares};
    return true;
}

static bool create(const struct generation_settings *settings, const struct transformer_model *model,
                   struct platform *platform, const uint32_t *hosts, double taken, double longest, struct place at,
                   struct arena *arena, struct diag *diag, struct generation_engine *engine)
{
    struct stagesim_device device = device_of_host(&platform->hosts[hosts[0]]);
    struct transformer_model *whole = arena_alloc(arena, sizeof *whole);
    struct fault fault = {""};
    *engine = (struct generation_engine){.capacity = device.memory};
    if (model->documents.count || model->document_lengths)
        return refuse(
            diag, at,
            "documents of packed sequences (model.documents, model.document_lengths) are for jobs that train; "
            "an engine has sequences of its own");
    engine->kernels = find_kernels(settings, device.model, arena, &fault);
    *whole = *model;
    transformer_model_complete(whole);
    struct generation_request request = {
        .model = whole,
        .layout = {(uint32_t)settings->tensor, (uint32_t)settings->pipeline, (uint32_t)settings->data,
                   (uint32_t)settings->expert},
        .weights = (enum generation_type)settings->weights,
        .cache = (enum generation_type)settings->cache,
        .speculative = (double)settings->speculative,
        .draft = settings->draft,
        .device = describe(settings, &platform->hosts[hosts[0]], &device, engine->kernels),
        .network = {exchange_seconds, make_network(settings, platform, hosts, arena)},
    };
    if (fault.text[0])
        return refuse(diag, at, fault.text);
    if (!(device.memory > 0 && device.memory_bandwidth > 0 && request.device.peak > 0))
        return refuse(diag, at,
                      "the platform lacks its GPUs' memory, its bandwidth, or their peak in bf16; expected all three");
    engine->generation = generation_create(&request, arena, &fault);
    if (!engine->generation)
        return refuse(diag, at, fault.text);
    return set_limits(settings, taken, longest, at, diag, engine);
}

bool generation_engine_create(const struct generation_settings *settings, const struct transformer_model *model,
                              struct platform *platform, const uint32_t *hosts, double taken, double longest,
                              struct place at, struct arena *arena, struct diag *diag, struct generation_engine *engine)
{
    if (create(settings, model, platform, hosts, taken, longest, at, arena, diag, engine))
        return true;
    generation_engine_finish(engine);
    return false;
}

void generation_engine_finish(struct generation_engine *engine)
{
    if (engine->kernels)
        kernel_table_finish(engine->kernels);
    engine->kernels = NULL;
}
