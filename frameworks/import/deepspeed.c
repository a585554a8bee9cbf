/* SPDX-License-Identifier: Apache-2.0 */
/* DeepSpeed's configuration (deepspeed/runtime/config.py, zero/config.py). "auto" is filled in by Hugging Face's
 * Trainer: the file does not say. */
#include "base/arena.h"
#include "frameworks/import/parts.h"

#include <string.h>

const char *const deepspeed_ignored[] = {"optimizer.params*",
                                         "scheduler*",
                                         "steps_per_print",
                                         "wall_clock_breakdown",
                                         "gradient_clipping",
                                         "fp16*",
                                         "bf16*",
                                         "torch_autocast*",
                                         "dump_state",
                                         "prescale_gradients",
                                         "tensorboard*",
                                         "wandb*",
                                         "csv_monitor*",
                                         "comet*",
                                         "comms_logger*",
                                         "flops_profiler*",
                                         "memory_breakdown",
                                         "zero_allow_untested_optimizer",
                                         "zero_force_ds_cpu_optimizer",
                                         "seed",
                                         "checkpoint*",
                                         "data_efficiency*",
                                         "autotuning*",
                                         "aio*",
                                         "elasticity*",
                                         "gradient_predivide_factor",
                                         "sparse_gradients",
                                         "dataloader_drop_last",
                                         "hybrid_engine*",
                                         "amp*",
                                         "compile*",
                                         "zero_optimization.allgather_partitions",
                                         "zero_optimization.allgather_bucket_size",
                                         "zero_optimization.reduce_scatter",
                                         "zero_optimization.contiguous_gradients",
                                         "zero_optimization.round_robin_gradients",
                                         "zero_optimization.sub_group_size",
                                         "zero_optimization.stage3_*",
                                         "zero_optimization.gather_16bit_weights_on_model_save",
                                         "zero_optimization.load_from_fp32_weights",
                                         "zero_optimization.ignore_unused_parameters",
                                         "zero_optimization.elastic_checkpoint",
                                         "zero_optimization.legacy_stage1",
                                         "zero_optimization.memory_efficient_linear",
                                         "zero_optimization.offload_optimizer*",
                                         "zero_optimization.offload_param*",
                                         "zero_optimization.mics_hierarchical_params_gather",
                                         "zero_optimization.pipeline_loading_checkpoint",
                                         "activation_checkpointing.number_checkpoints",
                                         "activation_checkpointing.profile",
                                         "activation_checkpointing.synchronize_checkpoint_boundary",
                                         "tensor_parallel.*",
                                         "_*",
                                         NULL};

static const char *const partial[] = {
    "zero_optimization.cpu_offload",
    "the optimizer's state and step are on the host: stagesim keeps both on the GPU",
    "zero_optimization.cpu_offload_params",
    "weights are on the host: stagesim keeps them on the GPU",
    "zero_optimization.zero_quantized_weights",
    "weights are gathered in 8 bits: stagesim sends 2 bytes of each",
    "zero_optimization.zero_quantized_gradients",
    "gradients are sent in 4 bits: stagesim sends whole ones",
    "bf16.bf16_master_weights_and_grads",
    "master weights in 16 bits: stagesim counts 4 bytes of each",
    "bf16.bf16_optimizer_states",
    "the optimizer's state in 16 bits: stagesim counts 4 bytes of each number",
    "activation_checkpointing.partition_activations",
    "saved activations are divided among tensor-parallel ranks",
    "activation_checkpointing.cpu_checkpointing",
    "saved activations are moved to the host",
    "activation_checkpointing.contiguous_memory_optimization",
    "where layers are computed again is in the program: --set schedule.recompute=full says so",
    "sparse_attention*",
    "another attention: stagesim has the usual one",
    "pipeline*",
    "pipeline stages are in the program: --set parallel.pipeline=NUMBER says so",
    "curriculum_learning*",
    "sequences grow: stagesim has one length",
    "compression_training*",
    "compressed training: stagesim trains the whole model",
    "progressive_layer_drop*",
    "layers are dropped: stagesim computes all",
    NULL};

static bool is_auto(const struct node *node)
{
    return node && node->kind == NODE_SCALAR && !strcmp(node->text, "auto");
}

/* The value, unless it is "auto": then what asks for it says so. */
static const struct node *get(struct reading *r, const char *path)
{
    const struct node *node = reading_get(r, path);
    return is_auto(node) ? NULL : node;
}

static struct source source(struct reading *r, const char *path)
{
    return reading_source(r, path, "DeepSpeed");
}

static void put_count(struct reading *r, const char *key, const char *path)
{
    if (get(r, path))
        settings_put_count(r->settings, key, reading_count(r, path, 0), source(r, path));
}

static void read_batch(struct reading *r)
{
    bool any = reading_get(r, "train_batch_size") || reading_get(r, "train_micro_batch_size_per_gpu");
    put_count(r, "batch.global", "train_batch_size");
    put_count(r, "batch.micro", "train_micro_batch_size_per_gpu");
    put_count(r, "@accumulation", "gradient_accumulation_steps");
    if (!any)
        diag_error(r->settings->diag, r->root->at,
                   "neither train_batch_size nor train_micro_batch_size_per_gpu; DeepSpeed needs one of them");
    if (is_auto(reading_get(r, "train_micro_batch_size_per_gpu")))
        settings_remark(
            r->settings, REMARK_MISSING, reading_get(r, "train_micro_batch_size_per_gpu")->key_at, "batch.micro",
            "auto: Trainer's per_device_train_batch_size, which is not in the file: --set batch.micro=NUMBER");
}

static void read_offload(struct reading *r)
{
    static const char *const paths[] = {"zero_optimization.offload_optimizer.device",
                                        "zero_optimization.offload_param.device"};
    static const char *const what[] = {"the optimizer's state and step are there: stagesim keeps both on the GPU",
                                       "weights are there: stagesim keeps them on the GPU"};
    for (size_t i = 0; i < 2; i++) {
        const struct node *node = reading_get(r, paths[i]);
        if (node && node->kind == NODE_SCALAR && strcmp(node->text, "none") != 0)
            settings_remark(r->settings, REMARK_PARTIAL, node->key_at, paths[i], "%s: %s", node->text, what[i]);
    }
}

static void read_groups(struct reading *r)
{
    const struct node *node = get(r, "zero_optimization.zero_hpz_partition_size");
    uint64_t hpz = node ? reading_count(r, "zero_optimization.zero_hpz_partition_size", 1) : 1;
    if (hpz > 1) {
        put_count(r, "transformer.shard_ranks", "zero_optimization.zero_hpz_partition_size");
        settings_remark(
            r->settings, REMARK_PARTIAL, node->key_at, "zero_optimization.zero_hpz_partition_size",
            "only weights of the backward lie in groups of that many: stagesim has gradients and state there, too");
    }
    const char *mics = reading_text(r, "zero_optimization.mics_shard_size", "-1");
    if (strcmp(mics, "-1") != 0 && hpz <= 1)
        put_count(r, "transformer.shard_ranks", "zero_optimization.mics_shard_size");
}

static void read_zero(struct reading *r)
{
    uint64_t stage = get(r, "zero_optimization.stage") ? reading_count(r, "zero_optimization.stage", 0) : 0;
    settings_put_count(r->settings, "transformer.zero", stage, source(r, "zero_optimization.stage"));
    bool overlap = get(r, "zero_optimization.overlap_comm") ? reading_flag(r, "zero_optimization.overlap_comm", false)
                                                            : stage == 3;
    settings_put_flag(r->settings, "communication.overlap", overlap, source(r, "zero_optimization.overlap_comm"));
    if (get(r, "zero_optimization.reduce_bucket_size"))
        put_count(r, "@bucket", "zero_optimization.reduce_bucket_size");
    else
        settings_put(r->settings, "@bucket", "500000000",
                     source_default("DeepSpeed without zero_optimization.reduce_bucket_size"));
    read_offload(r);
    read_groups(r);
}

static void read_precision(struct reading *r)
{
    static const char *const paths[] = {"bf16.enabled", "bfloat16.enabled", "fp16.enabled", "torch_autocast.enabled"};
    const struct node *automatic = NULL;
    for (size_t i = 0; i < 4; i++) {
        const struct node *node = reading_get(r, paths[i]);
        if (is_auto(node))
            automatic = node;
        else if (node && reading_flag(r, paths[i], false)) {
            bool half = i == 2 || (i == 3 && strstr(reading_text(r, "torch_autocast.dtype", "bfloat16"), "float16") &&
                                   !strstr(reading_text(r, "torch_autocast.dtype", ""), "bf"));
            settings_put(r->settings, "compute.precision", half ? "fp16" : "bf16", source(r, paths[i]));
            settings_put(r->settings, "transformer.gradients", "same",
                         source_default("DeepSpeed without communication_data_type: gradients as the weights"));
            return;
        }
    }
    if (automatic) {
        settings_put(r->settings, "compute.precision", "bf16", source_assumed("auto: Trainer's --bf16 or --fp16"));
        settings_put(r->settings, "transformer.gradients", "same",
                     source_default("DeepSpeed: gradients as the weights"));
    } else
        settings_put(r->settings, "compute.precision", "fp32", source(r, "bf16.enabled"));
}

static void read_gradients(struct reading *r)
{
    static const char *const paths[] = {"communication_data_type", "data_types.grad_accum_dtype"};
    for (size_t i = 0; i < 2; i++) {
        const struct node *node = get(r, paths[i]);
        if (node && !strcmp(reading_text(r, paths[i], ""), "fp32"))
            settings_put(r->settings, "transformer.gradients", "fp32", source(r, paths[i]));
    }
}

static void read_optimizer(struct reading *r)
{
    const struct node *node = get(r, "optimizer.type");
    const char *type = reading_text(r, "optimizer.type", "");
    bool compressed = strstr(type, "Bit") || strstr(type, "ZeroOne");
    if (node && (strstr(type, "Adam") || strstr(type, "adam")) && !compressed)
        settings_put(r->settings, "transformer.optimizer", "adam", source(r, "optimizer.type"));
    else if (node && !strcmp(type, "SGD"))
        settings_put(r->settings, "transformer.optimizer", "momentum", source(r, "optimizer.type"));
    else if (node)
        settings_remark(r->settings, REMARK_PARTIAL, node->key_at, "optimizer.type",
                        "%s is taken as adam: its state, time and messages differ", type);
}

static void read_axes(struct reading *r)
{
    const struct node *ulysses = get(r, "sequence_parallel_size");
    put_count(r, "parallel.tensor", "tensor_parallel.autotp_size");
    if (ulysses && reading_count(r, "sequence_parallel_size", 1) > 1)
        settings_remark(r->settings, REMARK_PARTIAL, ulysses->key_at, "sequence_parallel_size",
                        "ranks exchange heads of a sequence: stagesim has a ring or a gather of keys and values "
                        "(parallel.context)");
}

bool deepspeed_is(const struct node *root)
{
    return node_get(root, "zero_optimization") || node_get(root, "train_batch_size") ||
           node_get(root, "train_micro_batch_size_per_gpu");
}

void deepspeed_read(const struct node *root, struct settings *settings)
{
    struct reading reading = reading_of(root, settings);
    read_batch(&reading);
    read_zero(&reading);
    read_gradients(&reading);
    read_precision(&reading);
    read_optimizer(&reading);
    read_axes(&reading);
    reading_account(&reading, deepspeed_ignored, partial);
}
