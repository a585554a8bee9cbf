/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/generation/settings.h"

#include "platforms/platform.h"
#include "workloads/generation/generation.h"

#define VALUE(name) offsetof(struct generation_settings, name)

static const char *const cache_names[] = {"bf16", "fp8", NULL};
static const char *const prompts_names[] = {"mixed", "alone", NULL}; /* enum generation_prompts */
static const char *const kernels_names[] = {"auto", "none", NULL};   /* enum generation_kernels */

const char *const generation_libraries[GENERATION_LIBRARIES + 1] = {"vllm", "trtllm", "sglang", NULL};

static const struct stagesim_field fields[] = {
    {"tensor", STAGESIM_FIELD_COUNT, VALUE(tensor), .least = 1, .most = 4096,
     .doc = "ranks that share heads and columns; default 1"},
    {"pipeline", STAGESIM_FIELD_COUNT, VALUE(pipeline), .least = 1, .most = 4096,
     .doc = "stages of an engine, each with a group of sequences at work; default 1"},
    {"data", STAGESIM_FIELD_COUNT, VALUE(data), .least = 1, .most = 4096,
     .doc = "replicas of all but the experts within an engine, with sequences of their own (attention data parallel); "
            "default 1"},
    {"expert", STAGESIM_FIELD_COUNT, VALUE(expert), .least = 1, .most = 4096,
     .doc = "ranks, of tensor times data, among which experts are divided; the others divide each expert; default: "
            "with data above 1 all of them, else 1"},
    {"weights", STAGESIM_FIELD_NAME, VALUE(weights), .names = generation_type_names,
     .doc = "type of weights, and of the products with them; default bf16"},
    {"cache", STAGESIM_FIELD_NAME, VALUE(cache), .names = cache_names,
     .doc = "type of keys and values that are kept; default bf16"},
    {"memory", STAGESIM_FIELD_RATIO, VALUE(memory), .least = 0.01, .most = 1,
     .doc = "share of a GPU's memory that weights, cache and reserve may take; default 0.9"},
    {"reserve", STAGESIM_FIELD_BYTES, VALUE(reserve), .least = 0, .most = 1e13,
     .doc = "of it, what activations and libraries take; default 2GiB"},
    {"sequences", STAGESIM_FIELD_COUNT, VALUE(sequences), .least = 1, .most = 1000000,
     .doc = "sequences of an engine that go on at a time, at most; default 256"},
    {"tokens", STAGESIM_FIELD_COUNT, VALUE(tokens), .least = 1, .most = 1000000,
     .doc = "tokens of a step, in each replica and stage, at most: one of each sequence that goes on, and pieces of "
            "prompts; default 8192"},
    {"shares_prompts", STAGESIM_FIELD_FLAG, VALUE(shares),
     .doc = "samples of one prompt compute and keep it once; default true"},
    {"speculative", STAGESIM_FIELD_COUNT, VALUE(speculative), .least = 0, .most = 32,
     .doc = "further tokens that are guessed and checked in a step; default 0"},
    {"acceptance", STAGESIM_FIELD_RATIO, VALUE(acceptance), .least = 0, .most = 1,
     .doc = "with speculative, probability that a guess behind right ones is right; default 0.7"},
    {"draft", STAGESIM_FIELD_TIME, VALUE(draft), .least = 0, .most = 10,
     .doc = "with speculative, how long the guess of a token takes; default 0s"},
    {"kernels", STAGESIM_FIELD_NAME, VALUE(kernels), .names = kernels_names,
     .doc = "auto: products of many tokens, and attention over the cache, as measured kernels of the GPU take them, "
            "where there are any; none: the roofline alone; default auto"},
    {"library", STAGESIM_FIELD_NAME, VALUE(library), .names = generation_libraries,
     .doc = "whose measured kernels attention over the cache has: of vLLM, TensorRT-LLM or SGLang; default vllm"},
    {"memory_share", STAGESIM_FIELD_RATIO, VALUE(memory_share), .least = 0.01, .most = 1,
     .doc = "share of the memory's bandwidth that products reach; default 0.8, of GPUs with less "
            "than 2 TB/s 0.9"},
    {"compute_share", STAGESIM_FIELD_RATIO, VALUE(compute_share), .least = 0.01, .most = 1,
     .doc = "share of the peak that products reach that were not measured; default 0.65"},
    {"cache_share", STAGESIM_FIELD_RATIO, VALUE(cache_share), .least = 0.01, .most = 1,
     .doc = "share of the memory's bandwidth that attention over the cache reaches where it was not measured; default "
            "0.7, of GPUs "
            "with less than 2 TB/s 0.85"},
    {"expert_share", STAGESIM_FIELD_RATIO, VALUE(expert_share), .least = 0.01, .most = 1,
     .doc = "share of bandwidth and peak that products of experts reach; default 0.45, of GPUs with less than "
            "2 TB/s 0.85"},
    {"skew", STAGESIM_FIELD_RATIO, VALUE(skew), .least = 0, .most = 10,
     .doc = "coefficient of variation of the tokens that experts get; 0: all get as many; default 0.7"},
    {"all_reduce", STAGESIM_FIELD_RATIO, VALUE(all_reduce), .least = 0.01, .most = 10,
     .doc = "time of an engine's all-reduce over that of the platform's library; default 0.4"},
    {"launch", STAGESIM_FIELD_TIME, VALUE(launch), .least = 0, .most = 1,
     .doc = "what an operator takes beside its work; default 2us"},
    {"expert_launch", STAGESIM_FIELD_TIME, VALUE(expert_launch), .least = 0, .most = 1,
     .doc = "what a product of experts takes beside its work; default 20us"},
    {"attention_launch", STAGESIM_FIELD_TIME, VALUE(attention_launch), .least = 0, .most = 1,
     .doc = "what attention over the cache takes beside its work where it was not measured; default 10us"},
    {"expert_reach", STAGESIM_FIELD_RATIO, VALUE(expert_reach), .least = 0.01, .most = 1,
     .doc = "of the shares that measured expert layers reach, those that the engine's do; default 1, of TensorRT-LLM "
            "0.5, with weights of 4 bits 0.4"},
    {"host", STAGESIM_FIELD_TIME, VALUE(host), .least = 0, .most = 10,
     .doc = "what a step, or each stage of one, takes beside its operators; default 1.5ms"},
    {"sequence", STAGESIM_FIELD_TIME, VALUE(sequence), .least = 0, .most = 1,
     .doc = "the host's work for each sequence of a step, while the GPU computes; default 20us"},
    {"waits", STAGESIM_FIELD_TIME, VALUE(waits), .least = 0, .most = 1,
     .doc = "the host's work for each sequence of a step, while the GPU waits; default 3us"},
    {"polls", STAGESIM_FIELD_COUNT, VALUE(polls), .least = 1, .most = 100000,
     .doc = "steps without prompts after which the engine looks for new requests; default 1"},
    {"prompts", STAGESIM_FIELD_NAME, VALUE(prompts), .names = prompts_names,
     .doc = "mixed: sequences go on in steps that have prompts; alone: they wait; default mixed, of sglang alone"},
    {"eager", STAGESIM_FIELD_TIME, VALUE(eager), .least = 0, .most = 1,
     .doc = "in which the host launches an operator of a step that has prompts, which no graph has; default 70us, of "
            "trtllm 100us, of sglang 180us"},
    {0},
};

const struct fields_section generation_section = {"generation", true, fields};
static const struct generation_settings defaults = {.tensor = 1,
                                                    .pipeline = 1,
                                                    .data = 1,
                                                    .memory = 0.9,
                                                    .reserve = 2147483648.0,
                                                    .sequences = 256,
                                                    .tokens = 8192,
                                                    .shares = true,
                                                    .prompts = GENERATION_PROMPTS_USUAL,
                                                    .polls = 1,
                                                    .acceptance = 0.7,
                                                    .compute_share = 0.65,
                                                    .skew = 0.7,
                                                    .all_reduce = 0.4,
                                                    .launch = 2e-6,
                                                    .expert_launch = 20e-6,
                                                    .attention_launch = 10e-6,
                                                    .host = 1.5e-3,
                                                    .sequence = 20e-6,
                                                    .waits = 3e-6,
                                                    .eager = -1};

uint32_t generation_gpus(const struct generation_settings *settings)
{
    return (uint32_t)(settings->tensor * settings->pipeline * settings->data);
}

void generation_settings_read(const struct fields_reader *reader, const struct node *node, struct place missing,
                              struct generation_settings *settings)
{
    *settings = defaults;
    fields_check_keys(reader, &generation_section, NULL, node);
    fields_read(reader, &generation_section, node, missing, settings);
    /* By latencies of InferenceX's servers, whose steps with prompts take so long however short these are. */
    static const double eager[GENERATION_LIBRARIES] = {70e-6, 100e-6, 180e-6};
    if (settings->prompts == GENERATION_PROMPTS_USUAL)
        settings->prompts =
            settings->library == GENERATION_SGLANG ? GENERATION_PROMPTS_ALONE : GENERATION_PROMPTS_MIXED;
    if (settings->eager < 0)
        settings->eager = eager[settings->library];
    if (!settings->expert)
        settings->expert = settings->data > 1 ? settings->tensor * settings->data : 1;
    if (settings->tensor * settings->pipeline * settings->data > RANKS_MAX)
        diag_error(reader->diag, node->at, "an engine has %llu GPUs; expected at most %d",
                   (unsigned long long)(settings->tensor * settings->pipeline * settings->data), RANKS_MAX);
}
