/* SPDX-License-Identifier: Apache-2.0 */
/* The layout that options of Megatron-LM describe: GPUs, ranks' order, chunks, layers of stages, buckets. What needs
 * counts of other files is put together by megatron_finish. */
#include "base/arena.h"
#include "frameworks/import/parts.h"

#include <string.h>

static void put_from(struct arguments *a, const char *name, const char *key)
{
    const struct argument *argument = argument_find(a, name);
    if (argument)
        settings_put_count(a->settings, key, argument_count(a, name, 0), argument_source(a, argument));
}

/* GPUs: nodes of the launcher times processes of a node. Where one of them is not known, the platform says. */
static void read_ranks(struct arguments *a)
{
    const struct argument *nodes = argument_find(a, "nnodes"), *tasks = argument_find(a, "nproc-per-node");
    bool open = (nodes && nodes->count && nodes->values[0].open) || (tasks && tasks->count && tasks->values[0].open);
    if (!tasks || open)
        return;
    uint64_t count = argument_count(a, "nproc-per-node", 1);
    const char *text =
        arena_print(a->settings->arena, "%s%s%s", nodes ? nodes->label : "", nodes ? " x " : "", tasks->label);
    settings_put_count(a->settings, "@gpus_per_node", count, argument_source(a, tasks));
    settings_put_count(a->settings, "@ranks", settings_product(argument_count(a, "nnodes", 1), count),
                       source_given(tasks->at, text));
}

static void read_expert_tensor(struct arguments *a)
{
    const struct argument *argument = argument_find(a, "expert-tensor-parallel-size");
    uint64_t tensor = argument_count(a, "tensor-model-parallel-size", 1);
    uint64_t ranks = argument_count(a, "expert-tensor-parallel-size", tensor);
    if (!argument || ranks == tensor)
        return;
    if (ranks == 1)
        settings_put(a->settings, "parallel.expert_tensor", "1", argument_source(a, argument));
    else
        settings_remark(a->settings, REMARK_PARTIAL, argument->at, argument->label,
                        "%llu of %llu ranks along tensor share an expert: stagesim knows 1 and all, and takes all",
                        (unsigned long long)ranks, (unsigned long long)tensor);
}

static void read_order(struct arguments *a)
{
    const struct argument *mapping = argument_find(a, "use-tp-pp-dp-mapping");
    if (argument_is_on(a, "use-tp-pp-dp-mapping"))
        settings_put(a->settings, "order", "[tensor, context, pipeline, data]", argument_source(a, mapping));
    else
        settings_put(a->settings, "order", "[tensor, context, data, pipeline]",
                     source_default("Megatron-LM's order of ranks, tp-cp-ep-dp-pp"));
}

static void read_chunks(struct arguments *a)
{
    static const char *const names[] = {"num-virtual-stages-per-pipeline-rank", "virtual-pipeline-model-parallel-size",
                                        NULL};
    for (const char *const *name = names; *name; name++)
        if (argument_find(a, *name) && argument_count(a, *name, 1) > 1)
            put_from(a, *name, "schedule.chunks");
    put_from(a, "num-layers-per-virtual-pipeline-stage", "@chunk_layers");
    put_from(a, "microbatch-group-size-per-virtual-pipeline-stage", "schedule.group");
    const struct argument *beside = argument_find(a, "overlap-moe-expert-parallel-comm");
    if (argument_is_on(a, "overlap-moe-expert-parallel-comm") && argument_count(a, "expert-model-parallel-size", 1) > 1)
        settings_put(a->settings, "@beside", "combined-1f1b", argument_source(a, beside));
}

static void read_stages(struct arguments *a)
{
    const struct argument *embedding = argument_find(a, "account-for-embedding-in-pipeline-split"),
                          *loss = argument_find(a, "account-for-loss-in-pipeline-split"),
                          *layout = argument_find(a, "pipeline-model-parallel-layout");
    put_from(a, "decoder-first-pipeline-num-layers", "@first_layers");
    put_from(a, "decoder-last-pipeline-num-layers", "@last_layers");
    if (argument_is_on(a, "account-for-embedding-in-pipeline-split"))
        settings_put(a->settings, "@first_less", "1", argument_source(a, embedding));
    if (argument_is_on(a, "account-for-loss-in-pipeline-split"))
        settings_put(a->settings, "@last_less", "1", argument_source(a, loss));
    if (strstr(argument_text(a, "pp-partition-method", ""), "embed")) {
        settings_put(a->settings, "@first_less", "1", argument_source(a, argument_find(a, "pp-partition-method")));
        settings_put(a->settings, "@last_less", "1", argument_source(a, argument_find(a, "pp-partition-method")));
    }
    if (layout && layout->count)
        settings_put(a->settings, "@layout", layout->values[0].text, argument_source(a, layout));
}

static void read_context(struct arguments *a)
{
    const struct argument *argument = argument_find(a, "cp-comm-type");
    const char *how = argument_text(a, "cp-comm-type", "p2p");
    bool ring = !strcmp(how, "p2p"), gather = !strcmp(how, "all_gather"), heads = !strcmp(how, "a2a");
    if (argument_count(a, "context-parallel-size", 1) <= 1)
        return;
    if (!ring && !gather && !heads)
        settings_remark(a->settings, REMARK_PARTIAL, argument->at, argument->label,
                        "%s exchanges heads within nodes and has rings over them: stagesim takes one ring", how);
    settings_put(a->settings, "transformer.context_method",
                 gather  ? "all-gather"
                 : heads ? "all-to-all"
                         : "ring",
                 argument ? argument_source(a, argument) : argument_absent(a, "cp-comm-type"));
}

/* Sequence parallelism is switched off where there is no tensor parallelism. */
static void read_sequence_parallel(struct arguments *a)
{
    const struct argument *argument = argument_find(a, "sequence-parallel");
    if (argument_is_on(a, "sequence-parallel") && argument_count(a, "tensor-model-parallel-size", 1) <= 1)
        settings_replace(
            a->settings, "transformer.sequence_parallel", "false",
            source_given(argument->at, arena_print(a->settings->arena, "%s, off as tensor is 1", argument->label)));
}

static void read_training(struct arguments *a)
{
    put_from(a, "train-samples", "@samples");
    put_from(a, "train-iters", "@iterations");
    put_from(a, "num-distributed-optimizer-instances", "@instances");
    if (argument_find(a, "ddp-bucket-size"))
        put_from(a, "ddp-bucket-size", "@bucket");
    else if (arguments_have_defaults(a) && !argument_find(a, "deepspeed"))
        settings_put(a->settings, "@bucket", "0", argument_absent(a, "ddp-bucket-size"));
}

void megatron_read_layout(struct arguments *a)
{
    read_ranks(a);
    read_expert_tensor(a);
    read_order(a);
    read_chunks(a);
    read_stages(a);
    read_context(a);
    read_sequence_parallel(a);
    read_training(a);
}
