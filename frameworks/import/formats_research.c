/* SPDX-License-Identifier: Apache-2.0 */
/* Formats of laboratories that train their own models: InternEvo (internlm/initialize/launch.py, configs/), OLMo
 * (olmo/config.py) and OLMo-core, of which only the name is known. */
#include "frameworks/import/formats.h"

#include <stddef.h>

/* ---- InternEvo ---- */

static const char *const internevo_marks[] = {"parallel.zero1",  "parallel.tensor", "parallel.pipeline",
                                              "data.micro_num",  "data.micro_bsz",  "hybrid_zero_optimizer",
                                              "beta2_scheduler", "grad_scaler",     NULL};

static const struct format_row internevo_rows[] = {
    {"model.num_layers", ROW_COUNT, "model.layers", NULL, NULL},
    {"model.hidden_size", ROW_COUNT, "model.hidden", NULL, NULL},
    {"model.num_attention_heads", ROW_COUNT, "model.heads", NULL, NULL},
    {"model.num_kv_attention_heads", ROW_COUNT, "model.kv_heads", NULL, NULL},
    {"model.mlp_ratio", ROW_RATIO, "model.ffn", "model.hidden 256", NULL},
    {"model.vocab_size", ROW_COUNT, "model.vocabulary", NULL, NULL},
    {"model.norm_type", ROW_WORD, "model.norm", "rmsnorm=rms layernorm=layer", "rms"},
    {"model.use_swiglu", ROW_FLAG, "model.gated", NULL, "true"},
    {"model.num_experts", ROW_COUNT, "model.experts", NULL, NULL},
    {"moe.top_k", ROW_COUNT, "model.top_k", NULL, NULL},
    {"model.num_chunks", ROW_CHUNKS, "schedule.chunks", NULL, NULL},
    {"model.checkpoint", ROW_WORD, "schedule.recompute", "true=full 1=full 1.0=full false=none 0=none 0.0=none",
     "none"},
    {"model.dtype", ROW_WORD, "compute.precision",
     "torch.bfloat16=bf16 torch.float16=fp16 torch.half=fp16 torch.float32=fp32 torch.tf32=tf32", "fp16"},
    {"data.seq_len", ROW_COUNT, "model.sequence", NULL, NULL},
    {"data.micro_bsz", ROW_COUNT, "batch.micro", NULL, NULL},
    {"data.micro_num", ROW_COUNT, "@accumulation", NULL, "1"},
    {"parallel.tensor.size", ROW_COUNT, "parallel.tensor", NULL, NULL},
    {"?parallel.tensor", ROW_COUNT, "parallel.tensor", NULL, "1"},
    {"parallel.tensor.mode", ROW_WORD, "transformer.sequence_parallel", "mtp=false msp=true fsp=true", NULL},
    {"parallel.sequence_parallel", ROW_FLAG, "transformer.sequence_parallel", NULL, "false"},
    {"parallel.pipeline.size", ROW_COUNT, "parallel.pipeline", NULL, NULL},
    {"?parallel.pipeline", ROW_COUNT, "parallel.pipeline", NULL, "1"},
    {"parallel.zero1.size", ROW_SHARDS, "transformer.zero", "1", NULL},
    {"?parallel.zero1", ROW_SHARDS, "transformer.zero", "1", "1"},
    {"parallel.weight.size", ROW_WORD, "@weight_parallel", "1=1", NULL},
    {"?parallel.weight", ROW_WORD, "@weight_parallel", "1=1", NULL},
    {"hybrid_zero_optimizer.overlap_sync_grad", ROW_FLAG, "communication.overlap", NULL, "false"},
    {"hybrid_zero_optimizer.reduce_bucket_size", ROW_COUNT, "@bucket", NULL, NULL},
    {"model.use_flash_attn", ROW_WORD, "transformer.attention", "true=flash false=standard", "flash"},
    {NULL, ROW_COUNT, NULL, NULL, NULL},
};

static const struct format_fact internevo_facts[] = {
    {"model.biases", "false", "InternLM's layers", NULL, NULL, NULL},
    {"model.positions", "0", "InternLM's layers, rotary", NULL, NULL, NULL},
    {"model.dropout", "false", "InternLM's layers", NULL, NULL, NULL},
    {"model.tied", "false", "InternLM's layers", NULL, NULL, NULL},
    {"transformer.gradients", "same", "HybridZeroOptimizer, which sums gradients in the type of the model", NULL, NULL,
     NULL},
    {"transformer.zero_parts", "tensors", "HybridZeroOptimizer, whose ranks broadcast the tensors that they own",
     "transformer.zero", "1", "model.experts"},
    {"order", "[tensor, data, pipeline]", "InternEvo's groups, pipeline outermost", NULL, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL, NULL},
};

static const char *const internevo_ignored[] = {"ckpt*",
                                                "loss*",
                                                "adam*",
                                                "lr_scheduler*",
                                                "beta2_scheduler*",
                                                "grad_scaler*",
                                                "monitor*",
                                                "cudnn_*",
                                                "metric_dtype",
                                                "model_type",
                                                "use_fp32_norm",
                                                "enable_tb",
                                                "tensorboard_folder",
                                                "resume_tb_folder",
                                                "hybrid_zero_optimizer.clip_grad_norm",
                                                "data.valid*",
                                                "data.train_folder",
                                                "data.total_steps",
                                                "data.skip_batches",
                                                "data.min_length",
                                                "data.empty_cache_and_diag_interval",
                                                "data.diag_outlier_ratio",
                                                "data.type",
                                                "data.packed_length",
                                                "model.embed_*",
                                                "model.parallel_output",
                                                "model.apply_post_layer_norm",
                                                "model.layer_norm_epsilon",
                                                "model.residual_in_fp32",
                                                "model.no_bias",
                                                "model.multiple_of",
                                                "model.rope*",
                                                "parallel.pipeline.interleaved_overlap",
                                                "parallel.weight.overlap",
                                                "parallel.weight.memory_pool",
                                                NULL};

static const char *const internevo_partial[] = {
    "parallel.zero1.fsdp",
    "weights are shared as well: --set transformer.zero=3",
    "data.gradient_accumulation",
    "micro-batches of a step of the optimizer: stagesim takes data.micro_num",
    "data.pack_sample_into_one",
    "samples of a packed sequence attend to each other: as long as the sequence",
    "data.rampup_batch_size",
    "the batch grows while training begins: stagesim takes the full one",
    "hybrid_zero_optimizer.overlap_sync_param",
    "weights are gathered beside the next forward pass: not modelled",
    NULL};

const struct format format_internevo = {
    "InternEvo", NULL, internevo_marks, 3, internevo_rows, internevo_facts, internevo_ignored, internevo_partial};

/* ---- OLMo ---- */

static const char *const olmo_marks[] = {"model.weight_tying",
                                         "model.mlp_ratio",
                                         "model.mlp_hidden_size",
                                         "model.layer_norm_type",
                                         "model.rope",
                                         "fsdp.wrapping_strategy",
                                         "save_interval_unsharded",
                                         "model.embedding_size",
                                         "model.max_sequence_length",
                                         "model.d_model",
                                         "model.activation_type",
                                         "canceled_check_interval",
                                         NULL};

static const struct format_row olmo_rows[] = {
    {"model.n_layers", ROW_COUNT, "model.layers", NULL, NULL},
    {"model.d_model", ROW_COUNT, "model.hidden", NULL, NULL},
    {"model.n_heads", ROW_COUNT, "model.heads", NULL, NULL},
    {"model.n_kv_heads", ROW_COUNT, "model.kv_heads", NULL, NULL},
    {"model.activation_type", ROW_WORD, "model.gated", "swiglu=true gelu=false relu=false silu=false", "true"},
    {"model.mlp_hidden_size", ROW_HALF, "model.ffn", "model.gated", NULL},
    {"model.mlp_ratio", ROW_HALF, "model.ffn", "model.gated model.hidden", NULL},
    {"model.embedding_size", ROW_COUNT, "model.vocabulary", NULL, NULL},
    {"model.vocab_size", ROW_SPARE, "model.vocabulary", NULL, NULL},
    {"model.max_sequence_length", ROW_COUNT, "model.sequence", NULL, NULL},
    {"model.weight_tying", ROW_FLAG, "model.tied", NULL, "true"},
    {"model.include_bias", ROW_FLAG, "model.biases", NULL, "true"},
    {"model.layer_norm_type", ROW_WORD, "model.norm", "rms=rms default=layer low_precision=layer", "layer"},
    {"model.rope", ROW_WORD, "model.positions", "true=0 false=@model.max_sequence_length",
     "@model.max_sequence_length"},
    {"model.attention_layer_norm", ROW_FLAG, "model.qk_norm", NULL, "false"},
    {"model.attention_layer_norm", ROW_ONE, "model.qk_norm_whole", "true", NULL},
    {"global_train_batch_size", ROW_COUNT, "batch.global", NULL, NULL},
    {"device_train_microbatch_size", ROW_COUNT, "batch.micro", NULL, NULL},
    {"precision", ROW_WORD, "compute.precision", "amp_bf16=bf16 amp_fp16=fp16 fp32=fp32", "fp32"},
    {"activation_checkpointing", ROW_WORD, "schedule.recompute", "whole_layer=full null=none", "none"},
    {"distributed_strategy", ROW_WORD, "transformer.zero", "fsdp=3 ddp=0", "3"},
    {"fsdp.hybrid_sharding_num_model_replicas", ROW_COUNT, "@replicas", NULL, NULL},
    {"fsdp.sharding_strategy", ROW_WORD, "transformer.zero",
     "FULL_SHARD=3 HYBRID_SHARD=3 SHARD_GRAD_OP=2 NO_SHARD=0 _HYBRID_SHARD_ZERO2=2", NULL},
    {NULL, ROW_COUNT, NULL, NULL, NULL},
};

static const struct format_fact olmo_facts[] = {
    {"model.dropout", "false", "OLMo's configurations", NULL, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL, NULL},
};

static const char *const olmo_ignored[] = {"run_name",
                                           "seed",
                                           "epoch",
                                           "dry_run",
                                           "wandb*",
                                           "optimizer*",
                                           "scheduler*",
                                           "tokenizer*",
                                           "save_*",
                                           "sharded_checkpointer",
                                           "load_path*",
                                           "reset_*",
                                           "restore_*",
                                           "remote_save_folder",
                                           "no_pre_train_checkpoint",
                                           "max_duration",
                                           "stop_*",
                                           "max_grad_norm*",
                                           "speed_monitor*",
                                           "gen1_gc_interval",
                                           "eval_*",
                                           "evaluators*",
                                           "device_eval_batch_size",
                                           "console_log_interval",
                                           "canceled_check_interval",
                                           "time_limit",
                                           "data*",
                                           "softmax_auxiliary_loss",
                                           "auxiliary_loss_multiplier",
                                           "fused_loss",
                                           "model.alibi",
                                           "model.rope_*",
                                           "model.flash_attention",
                                           "model.attention_dropout",
                                           "model.residual_dropout",
                                           "model.embedding_dropout",
                                           "model.block_type",
                                           "model.layer_norm_*",
                                           "model.bias_for_layer_norm",
                                           "model.attention_layer_norm_*",
                                           "model.norm_after",
                                           "model.eos_token_id",
                                           "model.pad_token_id",
                                           "model.init_*",
                                           "model.scale_*",
                                           "fsdp.wrapping_strategy",
                                           "fsdp.precision",
                                           "fsdp.use_orig_params",
                                           "ddp*",
                                           NULL};

static const char *const olmo_partial[] = {
    "compile",
    "a compiled model: its operators are fused more than stagesim takes them to be",
    "model.multi_query_attention",
    "one head of keys and values: --set model.kv_heads=1",
    "model.clip_qkv",
    "one operator more a layer, not modelled",
    "fsdp.disable_grad_sync",
    "gradients are not reduced after each micro-batch: not modelled",
    NULL};

const struct format format_olmo = {"OLMo", NULL, olmo_marks, 3, olmo_rows, olmo_facts, olmo_ignored, olmo_partial};

/* ---- OLMo-core: its files are what a Python program wrote down ---- */

static const char *const core_marks[] = {"model.block", "model._CLASS_", "train_module", "data_loader", NULL};

const struct format format_olmo_core = {"OLMo-core", NULL, core_marks, 2, NULL, NULL, NULL, NULL};
