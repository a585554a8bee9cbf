/* SPDX-License-Identifier: Apache-2.0 */
/* A launch script of Megatron-LM. Options that are a key of the scenario by themselves have their names from the table
 * of options; those that follow from several keys are put together here. */
#include "base/arena.h"
#include "base/bulk.h"
#include "frameworks/megatron_options.h"
#include "job/export/export.h"
#include "schedules/kit/rounds.h"
#include "workloads/transformer/pipeline_layout.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Options so far, in lines of the script's array. */
struct script {
    struct export_job *job;
    char *text;
    size_t size;
    FILE *out;
    bool hybrid; /* bars between letters of layers say which stage holds them */
};

static void option(struct script *s, const char *name)
{
    fprintf(s->out, "    --%s\n", name);
}

static void count(struct script *s, const char *name, uint64_t value)
{
    fprintf(s->out, "    --%s %" PRIu64 "\n", name, value);
}

static void word(struct script *s, const char *name, const char *value)
{
    fprintf(s->out, "    --%s %s\n", name, value);
}

/* An option that is a key of its own: with its value, or where it is a switch, when the value is the switch's. */
static void direct(struct script *s, const char *key, const char *value)
{
    const struct megatron_option *found = megatron_option_of_key(key);
    char text[32];
    if (found->role == OPTION_VALUE)
        word(s, found->name, value);
    else if (found->role == OPTION_SWITCH && !strcmp(found->value, value))
        option(s, found->name);
    else if (found->role == OPTION_WORD && megatron_option_word(found, value, 1, text, sizeof text))
        word(s, found->name, text);
}

static void direct_count(struct script *s, const char *key, uint64_t value)
{
    direct(s, key, arena_print(s->job->arena, "%" PRIu64, value));
}

static void direct_flag(struct script *s, const char *key, bool value)
{
    direct(s, key, value ? "true" : "false");
}

/* ---- the model ---- */

static void write_attention(struct script *s)
{
    const struct transformer_model *m = &s->job->model, *given = &s->job->parameters->model;
    if (m->kv_rank) {
        option(s, "multi-latent-attention");
        option(s, "qk-layernorm"); /* of the narrow vectors, which stagesim has in any case */
        if (m->query_rank)
            count(s, "q-lora-rank", m->query_rank);
        else
            export_remark(s->job, "model.query_rank", "queries are always compressed: --q-lora-rank is 512 without");
        count(s, "kv-lora-rank", m->kv_rank);
        count(s, "qk-head-dim", m->head_size);
        count(s, "qk-pos-emb-head-dim", m->rope_size);
        count(s, "v-head-dim", m->value_size);
    } else {
        if (given->kv_heads) {
            option(s, "group-query-attention");
            count(s, "num-query-groups", given->kv_heads);
        }
        if (given->head_size)
            count(s, "kv-channels", given->head_size);
    }
    if (m->window)
        word(s, "window-size", arena_print(s->job->arena, "%" PRIu64 ",0", m->window - 1));
    if (m->window && m->window_period)
        count(s, "window-attn-skip-freq", m->window_period);
    if (m->sinks)
        word(s, "softmax-type", "learnable");
}

/* The vocabulary is padded to a multiple of a number x tensor: one that pads nothing. */
static void write_vocabulary(struct script *s)
{
    uint64_t vocabulary = s->job->model.vocabulary, divisor = 128;
    count(s, "vocab-size", vocabulary);
    while (divisor > 1 && vocabulary % (divisor * s->job->tensor))
        divisor /= 2;
    if (divisor < 128)
        count(s, "make-vocab-size-divisible-by", divisor);
    if (vocabulary % (divisor * s->job->tensor))
        export_remark(s->job, "model.vocabulary", "is padded to a multiple of tensor, %" PRIu64, s->job->tensor);
}

static void write_positions(struct script *s)
{
    const struct transformer_model *m = &s->job->model;
    if (!m->positions)
        word(s, "position-embedding-type", "rope");
    count(s, "max-position-embeddings", m->positions ? m->positions : m->sequence);
}

static void write_experts(struct script *s)
{
    const struct transformer_model *m = &s->job->model;
    if (!m->experts)
        return;
    direct_count(s, "model.experts", m->experts);
    direct_count(s, "model.top_k", m->top_k);
    direct_count(s, "model.expert_ffn", m->expert_ffn);
    if (m->shared_ffn)
        count(s, "moe-shared-expert-intermediate-size", m->shared_ffn);
    if (m->expert_width != m->hidden)
        direct_count(s, "model.expert_width", m->expert_width);
    direct_flag(s, "model.shared_gate", m->shared_gate);
    if (!s->hybrid && m->dense_layers) /* otherwise the letters say it */
        word(s, "moe-layer-freq", arena_print(s->job->arena, "'%s'", export_expert_layers(s->job)));
    else if (!s->hybrid && m->expert_period > 1)
        count(s, "moe-layer-freq", m->expert_period);
    if (s->job->parameters->model.expert_groups)
        direct_count(s, "model.expert_groups", m->expert_groups);
    if (s->job->parameters->model.top_groups)
        direct_count(s, "model.top_groups", m->top_groups);
    direct_flag(s, "model.router_bias", m->router_bias);
    if (m->router_bias)
        word(s, "moe-router-score-function", "sigmoid"); /* no other goes with a bias for each expert */
    option(s, "moe-grouped-gemm");
    word(s, "moe-token-dispatcher-type", s->job->parameters->routing.exchange == EXCHANGE_DEEPEP ? "flex" : "alltoall");
}

/* Options of kinds of layers that the model has. */
static void write_kinds(struct script *s, const char *pattern)
{
    const struct transformer_model *m = &s->job->model;
    if (strchr(pattern, 'M')) {
        count(s, "mamba-state-dim", m->mamba_state);
        count(s, "mamba-head-dim", m->mamba_head_size);
        count(s, "mamba-num-groups", m->mamba_groups);
        count(s, "mamba-num-heads", m->mamba_heads);
    }
    if (strchr(pattern, 'G')) {
        count(s, "linear-conv-kernel-dim", m->convolution);
        count(s, "linear-key-head-dim", m->linear_key_size);
        count(s, "linear-value-head-dim", m->linear_value_size);
        count(s, "linear-num-key-heads", m->linear_key_heads);
        count(s, "linear-num-value-heads", m->linear_value_heads);
    }
    if (strchr(pattern, 'D')) {
        count(s, "dsa-indexer-n-heads", m->index_heads);
        count(s, "dsa-indexer-head-dim", m->index_size);
        count(s, "dsa-indexer-topk", m->index_top);
        if (m->index_trained)
            export_remark(s->job, "model.index_trained",
                          "the weight of its loss is a number: --dsa-indexer-loss-coeff");
    }
}

/* Layers: their number, or their letters, which say as much. */
static void write_layers(struct script *s)
{
    const struct transformer_model *m = &s->job->model;
    const char *pattern = export_pattern(s->job);
    if (pattern) {
        word(s, "hybrid-layer-pattern", arena_print(s->job->arena, "'%s'", pattern));
        write_kinds(s, pattern);
        s->job->layout = NULL;
        s->hybrid = true;
    } else {
        direct_count(s, "model.layers", m->layers);
    }
    if (m->predictions && !pattern)
        count(s, "mtp-num-layers", m->predictions);
    direct_flag(s, "model.output_gate", m->output_gate);
    if (m->streams > 1) {
        option(s, "enable-mhc-connections");
        count(s, "mhc-num-residual-streams", m->streams);
    }
    export_remark_kinds(s->job, true);
}

static void write_model(struct script *s)
{
    const struct transformer_model *m = &s->job->model;
    write_layers(s);
    direct_count(s, "model.hidden", m->hidden);
    direct_count(s, "model.heads", m->heads);
    write_attention(s);
    direct_count(s, "model.ffn", m->ffn);
    direct_flag(s, "model.gated", m->gated);
    direct_count(s, "model.sequence", m->sequence);
    write_positions(s);
    write_vocabulary(s);
    direct_flag(s, "model.tied", m->tied);
    direct_flag(s, "model.biases", m->biases);
    direct_flag(s, "model.qkv_biases", m->qkv_biases);
    direct_flag(s, "model.qk_norm", m->qk_norm);
    direct(s, "model.norm", transformer_norm_names[m->norm]);
    if (!m->dropout) {
        word(s, "attention-dropout", "0");
        word(s, "hidden-dropout", "0");
    }
    write_experts(s);
}

/* ---- the layout ---- */

/* Ranks from the innermost: tensor, context, replicas, pipeline; or the pipeline before the replicas. */
static void write_order(struct script *s)
{
    static const char *const names[] = {"tensor", "context", "data", "pipeline"};
    const struct mesh *mesh = &s->job->scenario->mesh;
    unsigned at[4] = {0};
    for (unsigned i = 0; i < 4; i++)
        for (unsigned k = 0; k < mesh->name_count; k++)
            if (!strcmp(mesh->names[k].name, names[i]))
                at[i] = k + 1;
    bool inner = !at[1] || at[0] < at[1], outer = at[0] < at[2] && at[1] < at[2] && at[0] < at[3] && at[1] < at[3];
    if (!inner || !outer)
        export_remark(s->job, "order",
                      "ranks lie tensor, context, data, pipeline from the innermost, or with --use-tp-pp-dp-mapping "
                      "pipeline before data");
    if (at[3] < at[2])
        option(s, "use-tp-pp-dp-mapping");
}

/* Of another schedule the layers of each worker, where it has one stage. */
static void write_foreign_layout(struct script *s)
{
    if (s->job->layout && s->job->stages == s->job->pipeline)
        word(s, "pipeline-model-parallel-layout", arena_print(s->job->arena, "'%s'", s->job->layout));
    else if (s->job->layout)
        export_remark(s->job, "transformer.pipeline_layout", "%s is of the stages of another schedule", s->job->layout);
}

/* Where a group is not of as many micro-batches as there are workers. */
static void write_group(struct script *s)
{
    struct schedule_request request = scenario_schedule_request(s->job->scenario);
    uint32_t group = rounds_group(&request);
    if (group < s->job->pipeline)
        export_remark(s->job, "schedule.group", "%u micro-batches of %" PRIu64 " workers: it takes at least as many",
                      group, s->job->pipeline);
    else if (group != s->job->pipeline || export_has(s->job, "schedule.group"))
        count(s, "microbatch-group-size-per-virtual-pipeline-stage", group);
}

static void write_chunks(struct script *s)
{
    const char *name = export_schedule(s->job);
    int64_t chunks = export_schedule_option(s->job, "chunks", 1);
    static const char *const said[] = {"chunks", "group", NULL};
    bool one = s->job->pipeline == 1, beside = (one || chunks > 1) && s->job->expert > 1;
    bool combined = beside && !strcmp(name, "combined-1f1b"), interleaved = combined || !strcmp(name, "interleaved");
    if (combined) /* without a pipeline, or with chunks */
        option(s, "overlap-moe-expert-parallel-comm");
    if (one)
        return;
    if (!interleaved && strcmp(name, "1f1b") != 0) {
        export_remark(s->job, "schedule", "%s is not there; without more options it runs 1f1b", name);
        write_foreign_layout(s);
        return;
    }
    export_schedule_options(s->job, said);
    if (s->job->layout)
        word(s, "pipeline-model-parallel-layout", arena_print(s->job->arena, "'%s'", s->job->layout));
    else if (interleaved && !s->hybrid)
        count(s, "num-virtual-stages-per-pipeline-rank", (uint64_t)chunks);
    if (interleaved)
        write_group(s);
}

static void write_context(struct script *s)
{
    if (s->job->context == 1)
        return;
    direct_count(s, "parallel.context", s->job->context);
    static const char *const words[] = {
        [CONTEXT_GATHER] = "all_gather", [CONTEXT_RING] = "p2p", [CONTEXT_HEADS] = "a2a"};
    word(s, "cp-comm-type", words[s->job->parameters->routing.context_method]);
}

static void write_layout(struct script *s)
{
    direct_count(s, "parallel.tensor", s->job->tensor);
    direct_count(s, "parallel.pipeline", s->job->pipeline);
    write_context(s);
    if (s->job->expert > 1)
        direct_count(s, "parallel.expert", s->job->expert);
    if (s->job->experts_whole)
        count(s, "expert-tensor-parallel-size", 1);
    write_order(s);
    write_chunks(s);
    direct_flag(s, "transformer.sequence_parallel", s->job->parameters->sequence_parallel && s->job->tensor > 1);
    direct_flag(s, "transformer.tensor_overlap", s->job->parameters->product_overlap);
    if (!s->job->parameters->scatter_gather && s->job->tensor > 1 && s->job->pipeline > 1)
        option(s, "no-scatter-gather-tensors-in-pipeline");
    direct_flag(s, "transformer.expert_overlap", s->job->parameters->routing.expert_overlap);
}

/* ---- the batch, and what replicas share ---- */

static void write_batch(struct script *s)
{
    const struct scenario *scenario = s->job->scenario;
    const struct transformer_parameters *p = s->job->parameters;
    direct_count(s, "batch.micro", scenario->micro_batch_size);
    if (scenario->micro_batches > 1 || export_has(s->job, "batch.global")) /* without, one for each replica */
        direct_count(s, "batch.global", scenario->micro_batch_size * scenario->micro_batches * scenario->data);
    if (p->tokens > 0)
        count(s, "train-samples", (uint64_t)(p->tokens / (double)s->job->model.sequence));
    if (p->routing.capacity_factor > 0)
        word(s, "moe-expert-capacity-factor", arena_print(s->job->arena, "%.15g", p->routing.capacity_factor));
}

static void write_sharing(struct script *s, uint64_t zero)
{
    static const char *const strategies[] = {"no_shard", "optim", "optim_grads", "optim_grads_params"};
    const struct transformer_parameters *p = s->job->parameters;
    if (zero)
        option(s, "use-distributed-optimizer");
    if (zero > 1) {
        option(s, "use-megatron-fsdp");
        word(s, "data-parallel-sharding-strategy", strategies[zero]);
        option(s, "no-gradient-accumulation-fusion");
        word(s, "ckpt-format", "fsdp_dtensor"); /* no other goes with it */
    }
    if (zero && p->shard_ranks && p->shard_ranks < s->job->data)
        count(s, "num-distributed-optimizer-instances", s->job->data / p->shard_ranks);
    if (zero == 3 && !p->reshard)
        export_remark(s->job, "transformer.reshard", "weights are always gathered again for the backward");
}

/* Buckets are counted in parameters there. */
static void write_bucket(struct script *s, bool half)
{
    const struct transformer_parameters *p = s->job->parameters;
    double bytes = p->gradients == GRADIENTS_SAME && half ? 2 : 4, elements = floor(p->bucket / bytes),
           standard = s->job->data > 40 ? 1e6 * (double)s->job->data : 40e6;
    if (p->bucket > 0 && elements != standard && elements >= 1 && elements < 0x1p53)
        count(s, "ddp-bucket-size", (uint64_t)elements);
    if (p->bucket > 0 && elements * bytes != p->bucket)
        export_remark(s->job, "transformer.bucket", "is cut to whole parameters of %g bytes", bytes);
}

static void write_replicas(struct script *s)
{
    const struct transformer_parameters *p = s->job->parameters;
    bool half = p->precision >= FP16;
    write_sharing(s, p->zero ? p->zero : p->distributed_optimizer);
    direct_flag(s, "communication.overlap", p->overlap);
    write_bucket(s, half);
    if (p->gradients == GRADIENTS_SAME && half && p->precision != FP16)
        option(s, "grad-reduce-in-bf16");
    if (p->gradients != GRADIENTS_SAME && p->precision == FP16)
        option(s, "accumulate-allreduce-grads-in-fp32");
}

/* ---- precision and recomputation ---- */

static void write_scaling(struct script *s, enum transformer_scaling scaling)
{
    static const char *const recipes[] = {[SCALING_DELAYED] = "delayed",
                                          [SCALING_CURRENT] = "tensorwise",
                                          [SCALING_BLOCK] = "blockwise",
                                          [SCALING_MX] = "mxfp8",
                                          [SCALING_NV] = NULL};
    if (scaling == SCALING_NV) {
        word(s, "fp4-format", "e2m1");
        return;
    }
    word(s, "fp8-format", "hybrid");
    if (recipes[scaling])
        word(s, "fp8-recipe", recipes[scaling]);
    if (scaling == SCALING_ROW)
        export_remark(s->job, "compute.scaling", "there is no recipe with a scale for each row");
    if (scaling == SCALING_TENSOR)
        export_remark(s->job, "compute.scaling", "products without casts are no recipe: its own is delayed scaling");
}

/* Moments and master weights that are no fp32. */
static void write_state(struct script *s)
{
    const struct transformer_parameters *p = s->job->parameters;
    const char *moments = p->moment_bytes == 2 ? "bf16" : p->moment_bytes == 1 ? "fp8" : NULL;
    bool bits = !moments && p->moment_bytes > 1 && p->moment_bytes < 1.1, half = p->master_bytes == 2;
    if (bits)
        option(s, "use-bnb-optimizer");
    if (moments || half)
        option(s, "use-precision-aware-optimizer");
    if (moments) {
        word(s, "exp-avg-dtype", moments);
        word(s, "exp-avg-sq-dtype", moments);
    }
    if (half)
        word(s, "main-params-dtype", "fp16");
    if (p->moment_bytes > 0 && p->moment_bytes != 4 && !bits && !moments)
        export_remark(s->job, "transformer.moment_bytes", "moments have 4, 2 or 1 bytes: here those of fp32");
    if (p->master_bytes > 0 && p->master_bytes != 4 && !half)
        export_remark(s->job, "transformer.master_bytes", "master weights have 4 or 2 bytes: here those of fp32");
}

static void write_compute(struct script *s)
{
    const struct transformer_parameters *p = s->job->parameters;
    if (p->precision >= FP16)
        option(s, p->precision == FP16 ? "fp16" : "bf16");
    if (p->precision == FP8)
        write_scaling(s, (enum transformer_scaling)p->scaling);
    if (p->precision == TF32)
        export_remark(s->job, "compute.precision", "tf32 is a setting of PyTorch: fp32 is what options say");
    if (p->attention == ATTENTION_STANDARD)
        word(s, "attention-backend", "unfused");
    if (s->job->scenario->recompute_count)
        export_remark(s->job, "schedule.recompute",
                      "stages differ; it computes alike in all: as in the first one here");
    if (s->job->scenario->recompute == RECOMPUTE_OPERATORS)
        export_remark(s->job, "schedule.recompute",
                      "single operators are computed again by torchtitan, not Megatron-LM");
    else if (s->job->scenario->recompute != RECOMPUTE_NONE)
        word(s, "recompute-granularity", s->job->scenario->recompute == RECOMPUTE_FULL ? "full" : "selective");
    if (s->job->scenario->recompute == RECOMPUTE_FULL) {
        word(s, "recompute-method", "uniform");
        count(s, "recompute-num-layers", 1);
        if (p->recompute_stops_early)
            export_remark(s->job, "transformer.recompute_stops_early", "it computes the whole of a layer again");
    }
    write_state(s);
    static const char *const optimizers[] = {"adam", "sgd", "sgd", "muon"};
    if (p->optimizer)
        word(s, "optimizer", optimizers[p->optimizer]);
    if (p->optimizer == 2)
        word(s, "sgd-momentum", "0");
}

/* ---- the script ---- */

/* GPUs of a node: of 8, or the most below that divide them all. */
static uint32_t gpus_of_node(uint32_t ranks)
{
    uint32_t gpus = ranks < 8 ? ranks : 8;
    while (ranks % gpus)
        gpus--;
    return gpus;
}

static const char *megatron_text(struct export_job *job)
{
    struct script s = {.job = job};
    uint32_t ranks = job->scenario->mesh.ranks;
    s.out = memory_stream_open(&s.text, &s.size);
    /* Megatron-FSDP wants more connections than one, the order of kernels beside collectives just one. */
    fprintf(s.out, "#!/bin/bash\n%sGPUS_PER_NODE=${GPUS_PER_NODE:-%u}\n",
            job->parameters->zero > 1 ? "" : "export CUDA_DEVICE_MAX_CONNECTIONS=1\n", gpus_of_node(ranks));
    fprintf(s.out, "NNODES=$((%u / GPUS_PER_NODE))\nOPTIONS=(\n", ranks);
    export_common(job);
    write_model(&s);
    write_layout(&s);
    write_batch(&s);
    write_replicas(&s);
    write_compute(&s);
    const char *program = s.hybrid ? "pretrain_mamba.py" : job->model.causal ? "pretrain_gpt.py" : "pretrain_bert.py";
    fprintf(s.out, ")\ntorchrun --nproc-per-node \"$GPUS_PER_NODE\" --nnodes \"$NNODES\" %s \"${OPTIONS[@]}\" \"$@\"\n",
            program);
    memory_stream_close(s.out);
    const char *text = arena_copy(job->arena, s.text);
    free(s.text);
    return text;
}

const struct exporter exporter_megatron = {
    .name = "megatron",
    .title = "Megatron-LM",
    .comment = "#",
    .rest = "To be added, behind the script's name: data, tokenizer, learning rate, --train-iters, paths.",
    .text = megatron_text,
};
