/* SPDX-License-Identifier: Apache-2.0 */
/* accelerate's configuration (src/accelerate/commands/launch.py): how many GPUs, and what they share. It has no model
 * and no batch. */
#include "base/arena.h"
#include "frameworks/import/parts.h"

#include <string.h>
#include <strings.h>

const char *const accelerate_ignored[] = {"compute_environment",
                                          "debug",
                                          "downcast_bf16",
                                          "enable_cpu_affinity",
                                          "machine_rank",
                                          "main_training_function",
                                          "main_process_ip",
                                          "main_process_port",
                                          "rdzv_backend",
                                          "rdzv_conf*",
                                          "same_network",
                                          "tpu_*",
                                          "use_cpu",
                                          "gpu_ids",
                                          "dynamo_config*",
                                          "commands",
                                          "command_file",
                                          "num_cpu_threads_per_process",
                                          "ipex_config*",
                                          "mpirun_config*",
                                          "fp8_config*",
                                          "fsdp_config.fsdp_auto_wrap_policy",
                                          "fsdp_config.fsdp_backward_prefetch",
                                          "fsdp_config.fsdp_backward_prefetch_policy",
                                          "fsdp_config.fsdp_cpu_ram_efficient_loading",
                                          "fsdp_config.fsdp_ignored_modules",
                                          "fsdp_config.fsdp_state_dict_type",
                                          "fsdp_config.fsdp_sync_module_states",
                                          "fsdp_config.fsdp_transformer_layer_cls_to_wrap",
                                          "fsdp_config.fsdp_use_orig_params",
                                          "fsdp_config.fsdp_min_num_params",
                                          "fsdp_config.fsdp_limit_all_gathers",
                                          "deepspeed_config.zero3_*",
                                          "deepspeed_config.gradient_clipping",
                                          "deepspeed_config.deepspeed_multinode_launcher",
                                          "deepspeed_config.deepspeed_hostfile",
                                          "deepspeed_config.deepspeed_moe_layer_cls_names",
                                          "deepspeed_config.offload_optimizer_nvme_path",
                                          "deepspeed_config.offload_param_nvme_path",
                                          "megatron_lm_config.megatron_lm_gradient_clipping",
                                          "_*",
                                          NULL};

static const char *const partial[] = {
    "fsdp_config.fsdp_offload_params",
    "weights, gradients and state are on the host: stagesim keeps them on the GPU",
    "fsdp_config.fsdp_forward_prefetch",
    "a gather more is under way: stagesim gathers one layer ahead",
    "deepspeed_config.offload_optimizer_device",
    "the optimizer's state and step are there: stagesim keeps both on the GPU",
    "deepspeed_config.offload_param_device",
    "weights are there: stagesim keeps them on the GPU",
    "parallelism_config.parallelism_config_sp_size",
    "ranks exchange heads of a sequence: stagesim has a ring or a gather of keys and values",
    "parallelism_config.parallelism_config_cp_comm_strategy",
    "see transformer.context_method",
    NULL};

static struct source source(struct reading *r, const char *path)
{
    return reading_source(r, path, "accelerate");
}

static void put_count(struct reading *r, const char *key, const char *path)
{
    if (reading_get(r, path))
        settings_put_count(r->settings, key, reading_count(r, path, 0), source(r, path));
}

static void read_ranks(struct reading *r)
{
    uint64_t ranks = reading_count(r, "num_processes", 0), machines = reading_count(r, "num_machines", 1);
    put_count(r, "@ranks", "num_processes");
    if (ranks && machines && ranks % machines == 0 && reading_get(r, "num_processes"))
        settings_put_count(r->settings, "@gpus_per_node", ranks / machines, source(r, "num_processes"));
}

static void read_precision(struct reading *r)
{
    const struct node *node = reading_get(r, "mixed_precision");
    const char *text = reading_text(r, "mixed_precision", "no");
    bool known = !strcasecmp(text, "bf16") || !strcasecmp(text, "fp16") || !strcasecmp(text, "fp8");
    bool none = !strcasecmp(text, "no") || !strcasecmp(text, "false");
    if (known || none)
        settings_put(r->settings, "compute.precision", known ? text : "fp32", source(r, "mixed_precision"));
    else if (node)
        diag_error(r->settings->diag, node->at, "mixed_precision is '%s'; expected no, fp16, bf16 or fp8", text);
}

/* ---- FSDP ---- */

enum strategy { FULL_SHARD, SHARD_GRAD_OP, NO_SHARD, HYBRID_SHARD, HYBRID_SHARD_ZERO2, STRATEGIES };

/* By name or by number from 1. */
static enum strategy strategy_of(struct reading *r)
{
    static const char *const names[] = {"FULL_SHARD", "SHARD_GRAD_OP", "NO_SHARD", "HYBRID_SHARD",
                                        "HYBRID_SHARD_ZERO2"};
    const struct node *node = reading_get(r, "fsdp_config.fsdp_sharding_strategy");
    const char *text = reading_text(r, "fsdp_config.fsdp_sharding_strategy", "FULL_SHARD");
    for (enum strategy each = FULL_SHARD; each < STRATEGIES; each++)
        if (!strcasecmp(text, names[each]) || (text[0] == (char)('1' + (int)each) && !text[1]))
            return each;
    diag_error(r->settings->diag, node ? node->at : r->root->at,
               "fsdp_sharding_strategy is '%s'; expected FULL_SHARD, SHARD_GRAD_OP, NO_SHARD, HYBRID_SHARD or "
               "HYBRID_SHARD_ZERO2",
               text);
    return FULL_SHARD;
}

static void read_first(struct reading *r)
{
    enum strategy strategy = strategy_of(r);
    struct source from = source(r, "fsdp_config.fsdp_sharding_strategy");
    uint64_t node = settings_count(r->settings, "@gpus_per_node", 0);
    settings_put(r->settings, "transformer.zero", strategy == NO_SHARD ? "0" : "3", from);
    if (strategy == SHARD_GRAD_OP || strategy == HYBRID_SHARD_ZERO2)
        settings_put(r->settings, "transformer.reshard", "false", from);
    if (strategy < HYBRID_SHARD)
        return;
    if (node > 1 && node < settings_count(r->settings, "@ranks", 0))
        settings_put_count(r->settings, "transformer.shard_ranks", node, from);
    else if (!node)
        settings_remark(
            r->settings, REMARK_PARTIAL, from.at, from.text,
            "shards lie within a node, whose GPUs the file does not count: --set transformer.shard_ranks=NUMBER");
}

static void read_second(struct reading *r)
{
    settings_put(r->settings, "transformer.zero", "3", source(r, "fsdp_config.fsdp_version"));
    settings_put_flag(r->settings, "transformer.reshard",
                      reading_flag(r, "fsdp_config.fsdp_reshard_after_forward", true),
                      source(r, "fsdp_config.fsdp_reshard_after_forward"));
}

static void read_fsdp(struct reading *r)
{
    if (reading_count(r, "fsdp_config.fsdp_version", 1) == 2)
        read_second(r);
    else
        read_first(r);
    settings_put(r->settings, "schedule.recompute",
                 reading_flag(r, "fsdp_config.fsdp_activation_checkpointing", false) ? "full" : "none",
                 source(r, "fsdp_config.fsdp_activation_checkpointing"));
    settings_put(r->settings, "transformer.gradients", "same",
                 source_default("FSDP reduces gradients in the precision of computation"));
}

/* ---- the others ---- */

static void read_axes(struct reading *r)
{
    put_count(r, "parallel.tensor", "parallelism_config.parallelism_config_tp_size");
    put_count(r, "parallel.context", "parallelism_config.parallelism_config_cp_size");
    if (!reading_get(r, "parallelism_config.parallelism_config_dp_replicate_size") &&
        !reading_get(r, "parallelism_config.parallelism_config_dp_shard_size"))
        return;
    settings_put_count(r->settings, "@replicas",
                       reading_count(r, "parallelism_config.parallelism_config_dp_replicate_size", 1),
                       source(r, "parallelism_config.parallelism_config_dp_replicate_size"));
    settings_put_count(r->settings, "@shards",
                       reading_count(r, "parallelism_config.parallelism_config_dp_shard_size", 1),
                       source(r, "parallelism_config.parallelism_config_dp_shard_size"));
}

static void read_deepspeed(struct reading *r, const char **other)
{
    const struct node *file = reading_get(r, "deepspeed_config.deepspeed_config_file");
    put_count(r, "transformer.zero", "deepspeed_config.zero_stage");
    put_count(r, "@accumulation", "deepspeed_config.gradient_accumulation_steps");
    if (file && file->kind == NODE_SCALAR)
        *other = file->text;
}

static void read_megatron(struct reading *r)
{
    static const struct {
        const char *path, *key;
    } counts[] = {{"megatron_lm_config.megatron_lm_tp_degree", "parallel.tensor"},
                  {"megatron_lm_config.megatron_lm_pp_degree", "parallel.pipeline"},
                  {"megatron_lm_config.megatron_lm_num_micro_batches", "@accumulation"}};
    for (size_t i = 0; i < 3; i++)
        put_count(r, counts[i].key, counts[i].path);
    if (reading_get(r, "megatron_lm_config.megatron_lm_sequence_parallelism"))
        settings_put_flag(r->settings, "transformer.sequence_parallel",
                          reading_flag(r, "megatron_lm_config.megatron_lm_sequence_parallelism", false),
                          source(r, "megatron_lm_config.megatron_lm_sequence_parallelism"));
    if (reading_flag(r, "megatron_lm_config.megatron_lm_recompute_activations", false))
        settings_put(r->settings, "schedule.recompute", "selective",
                     source(r, "megatron_lm_config.megatron_lm_recompute_activations"));
    if (reading_flag(r, "megatron_lm_config.megatron_lm_use_distributed_optimizer", false))
        settings_put(r->settings, "transformer.zero", "1",
                     source(r, "megatron_lm_config.megatron_lm_use_distributed_optimizer"));
}

bool accelerate_is(const struct node *root)
{
    const struct node *fsdp = node_get(root, "fsdp_config");
    bool own = false;
    for (const struct node *each = fsdp && fsdp->kind == NODE_MAP ? fsdp->first : NULL; each; each = each->next)
        own |= !strncmp(each->key, "fsdp_", 5);
    return node_get(root, "distributed_type") || node_get(root, "compute_environment") || own ||
           (node_get(root, "num_processes") && node_get(root, "mixed_precision"));
}

void accelerate_read(const struct node *root, struct settings *settings, const char **other)
{
    struct reading reading = reading_of(root, settings);
    const char *type = reading_text(&reading, "distributed_type", "NO");
    read_ranks(&reading);
    if (!node_find(root, "deepspeed_config.deepspeed_config_file"))
        read_precision(&reading);
    if (!strcmp(type, "FSDP"))
        read_fsdp(&reading);
    read_axes(&reading);
    read_deepspeed(&reading, other);
    read_megatron(&reading);
    reading_get(&reading, "mixed_precision");
    reading_account(&reading, accelerate_ignored, partial);
}
