/* SPDX-License-Identifier: Apache-2.0 */
/* Formats of reinforcement learning: NeMo RL's examples/configs, veRL's trainer/config, OpenRLHF's arguments as YAML.
 * The model is in a config.json. */
#include "frameworks/import/formats.h"

#include <stddef.h>

/* ---- NeMo RL ---- */

static const char *const nemo_rl_marks[] = {"grpo",
                                            "loss_fn",
                                            "policy.model_name",
                                            "policy.generation",
                                            "policy.megatron_cfg",
                                            "policy.dtensor_cfg",
                                            "cluster.num_nodes",
                                            NULL};

static const char no_rollouts[] = "no samples are generated, so it is no step of reinforcement learning; expected grpo "
                                  "or ppo, or a scenario of the training alone";

static const struct format_row nemo_rl_rows[] = {
    {"sft", ROW_REFUSED, NULL, no_rollouts, NULL},
    {"dpo", ROW_REFUSED, NULL, no_rollouts, NULL},
    {"rm", ROW_REFUSED, NULL, no_rollouts, NULL},
    {"grpo.num_prompts_per_step", ROW_COUNT, "rl.prompts", NULL, NULL},
    {"grpo.num_generations_per_prompt", ROW_COUNT, "rl.samples", NULL, NULL},
    {"grpo.async_grpo.enabled", ROW_FLAG, "@ahead", NULL, NULL},
    {"grpo.async_grpo.max_trajectory_age_steps", ROW_COUNT, "@staleness", NULL, NULL},
    {"ppo.num_prompts_per_step", ROW_COUNT, "rl.prompts", NULL, NULL},
    {"ppo.num_generations_per_prompt", ROW_COUNT, "rl.samples", NULL, NULL},
    {"ppo.adv_estimator.name", ROW_WORD, "rl.critic", "gae=true grpo=false reinforce_plus_plus=false", NULL},
    {"ppo.async_ppo.enabled", ROW_FLAG, "@ahead", NULL, NULL},
    {"ppo.async_ppo.max_trajectory_age_steps", ROW_COUNT, "@staleness", NULL, NULL},
    {"policy.train_global_batch_size", ROW_COUNT, "rl.mini_batch", NULL, NULL},
    {"policy.max_total_sequence_length", ROW_COUNT, "rl.pack", NULL, NULL},
    {"policy.precision", ROW_WORD, "compute.precision", "bfloat16=bf16 float16=fp16 float32=fp32", NULL},
    {"policy.megatron_cfg.enabled", ROW_FLAG, "@megatron", NULL, NULL},
    {"policy.megatron_cfg.tensor_model_parallel_size", ROW_COUNT, "@megatron.tensor", NULL, NULL},
    {"policy.megatron_cfg.pipeline_model_parallel_size", ROW_COUNT, "@megatron.pipeline", NULL, NULL},
    {"policy.megatron_cfg.context_parallel_size", ROW_COUNT, "@megatron.context", NULL, NULL},
    {"policy.megatron_cfg.expert_model_parallel_size", ROW_COUNT, "@megatron.expert", NULL, NULL},
    {"policy.megatron_cfg.activation_checkpointing", ROW_FLAG, "@megatron.again", NULL, NULL},
    {"policy.dtensor_cfg.tensor_parallel_size", ROW_COUNT, "@dtensor.tensor", NULL, NULL},
    {"policy.dtensor_cfg.context_parallel_size", ROW_COUNT, "@dtensor.context", NULL, NULL},
    {"policy.dtensor_cfg.activation_checkpointing", ROW_FLAG, "@dtensor.again", NULL, NULL},
    {"policy.generation.max_new_tokens", ROW_COUNT, "rl.most", NULL, NULL},
    {"policy.generation.vllm_cfg.tensor_parallel_size", ROW_COUNT, "generation.tensor", NULL, NULL},
    {"policy.generation.vllm_cfg.pipeline_parallel_size", ROW_COUNT, "generation.pipeline", NULL, NULL},
    {"policy.generation.vllm_cfg.expert_parallel_size", ROW_COUNT, "generation.expert", NULL, NULL},
    {"policy.generation.vllm_cfg.precision", ROW_WORD, "generation.weights", "bfloat16=bf16 fp8=fp8 auto=bf16", NULL},
    {"policy.generation.colocated.enabled", ROW_FLAG, "@colocated", NULL, NULL},
    {"policy.generation.colocated.resources.num_nodes", ROW_COUNT, "@engine_nodes", NULL, NULL},
    {"policy.generation.colocated.resources.gpus_per_node", ROW_COUNT, "@engine_gpus", NULL, NULL},
    {"cluster.num_nodes", ROW_COUNT, "@nodes", NULL, "1"},
    {"cluster.gpus_per_node", ROW_COUNT, "@gpus_per_node", NULL, "1"},
    {NULL, ROW_COUNT, NULL, NULL, NULL},
};

static const char *const nemo_rl_ignored[] = {"defaults",
                                              "grpo.*",
                                              "ppo.*",
                                              "value_loss_fn*",
                                              "value.*",
                                              "loss_fn*",
                                              "checkpointing*",
                                              "logger*",
                                              "data*",
                                              "env*",
                                              "policy.model_name",
                                              "policy.tokenizer*",
                                              "policy.optimizer*",
                                              "policy.scheduler*",
                                              "policy.max_grad_norm",
                                              "policy.make_sequence_length_divisible_by",
                                              "policy.megatron_cfg.optimizer*",
                                              "policy.megatron_cfg.scheduler*",
                                              "policy.megatron_cfg.converter_type",
                                              "policy.megatron_cfg.freeze*",
                                              "policy.megatron_cfg.moe_router*",
                                              "policy.dtensor_cfg*",
                                              "policy.generation.backend",
                                              "policy.generation.t*",
                                              "policy.generation.stop*",
                                              "policy.generation.vllm_cfg.max_model_len",
                                              "policy.generation.vllm_cfg.load_format",
                                              "policy.generation.vllm_cfg.skip_tokenizer_init",
                                              NULL};

static const char *const nemo_rl_partial[] = {
    "grpo.skip_reference_policy_logprobs_calculation",
    "see rl.reference: not taken over",
    "ppo.skip_reference_policy_logprobs_calculation",
    "see rl.reference: not taken over",
    "grpo.use_dynamic_sampling",
    "see rl.kept: not taken over",
    "ppo.use_dynamic_sampling",
    "see rl.kept: not taken over",
    "ppo.ppo_epochs",
    "samples are trained with once",
    "value",
    "a critic is as large as the policy, and trained as it is",
    "policy.train_micro_batch_size",
    "samples are packed: see rl.pack",
    "policy.logprob_batch_size",
    "samples are packed: see rl.pack",
    "policy.sequence_packing*",
    "samples are packed: see rl.pack",
    "policy.dynamic_batching*",
    "samples are packed: see rl.pack",
    "policy.generation.vllm_cfg.gpu_memory_utilization",
    "see generation.memory: not taken over",
    "policy.generation.vllm_cfg.enforce_eager",
    "an engine without CUDA graphs: see generation.launch and generation.host",
    "policy.megatron_cfg.sequence_parallel",
    "see transformer.sequence_parallel: not taken over",
    NULL};

const struct format format_nemo_rl = {"NeMo RL",    NULL, nemo_rl_marks,   4,
                                      nemo_rl_rows, NULL, nemo_rl_ignored, nemo_rl_partial};

/* ---- veRL ---- */

static const char *const verl_marks[] = {
    "actor_rollout_ref.rollout", "actor_rollout_ref.actor",  "actor_rollout_ref.model", "algorithm.adv_estimator",
    "data.train_batch_size",     "data.max_response_length", "trainer.n_gpus_per_node", NULL};

#define ACTOR "actor_rollout_ref.actor."
#define ROLLOUT "actor_rollout_ref.rollout."

static const struct format_row verl_rows[] = {
    {"data.train_batch_size", ROW_COUNT, "rl.prompts", NULL, "1024"},
    {ROLLOUT "n", ROW_COUNT, "rl.samples", NULL, "1"},
    {"data.max_prompt_length", ROW_COUNT, "@prompt", NULL, "512"},
    {"data.max_response_length", ROW_COUNT, "rl.most", NULL, "512"},
    {ACTOR "ppo_mini_batch_size", ROW_COUNT, "@mini_prompts", NULL, "256"},
    {ACTOR "use_kl_loss", ROW_ONE, "rl.reference", "true", NULL},
    {"algorithm.use_kl_in_reward", ROW_ONE, "rl.reference", "true", NULL},
    {"algorithm.adv_estimator", ROW_WORD, "rl.critic",
     "gae=true grpo=false rloo=false remax=false reinforce_plus_plus=false reinforce_plus_plus_baseline=false "
     "opo=false "
     "grpo_passk=false gpg=false rloo_vectorized=false grpo_vectorized=false optimal_token_baseline=false "
     "tir_optimal_token_baseline=false",
     "true"},
    {"model_engine", ROW_WORD, "transformer.zero", "dp=3 megatron=1", NULL},
    {ACTOR "strategy", ROW_WORD, "transformer.zero", "fsdp=3 fsdp2=3 megatron=1", "3"},
    {ACTOR "megatron.tensor_model_parallel_size", ROW_COUNT, "@megatron.tensor", NULL, NULL},
    {ACTOR "megatron.pipeline_model_parallel_size", ROW_COUNT, "@megatron.pipeline", NULL, NULL},
    {ACTOR "megatron.context_parallel_size", ROW_COUNT, "@megatron.context", NULL, NULL},
    {ACTOR "megatron.expert_model_parallel_size", ROW_COUNT, "@megatron.expert", NULL, NULL},
    {ACTOR "ulysses_sequence_parallel_size", ROW_COUNT, "@dtensor.context", NULL, NULL},
    {"actor_rollout_ref.model.enable_gradient_checkpointing", ROW_FLAG, "@dtensor.again", NULL, NULL},
    {ACTOR "megatron.override_transformer_config.recompute_granularity", ROW_WORD, "@megatron.again", "full=true",
     NULL},
    {"actor_rollout_ref.model.lora_rank", ROW_WORD, "@full", "0=full", NULL},
    {ROLLOUT "tensor_model_parallel_size", ROW_COUNT, "generation.tensor", NULL, "2"},
    {ROLLOUT "data_parallel_size", ROW_COUNT, "generation.data", NULL, NULL},
    {ROLLOUT "pipeline_model_parallel_size", ROW_COUNT, "generation.pipeline", NULL, NULL},
    {ROLLOUT "expert_parallel_size", ROW_COUNT, "generation.expert", NULL, NULL},
    {ROLLOUT "max_num_seqs", ROW_COUNT, "generation.sequences", NULL, "256"},
    {ROLLOUT "max_num_batched_tokens", ROW_COUNT, "generation.tokens", NULL, "8192"},
    {"trainer.nnodes", ROW_COUNT, "@nodes", NULL, "1"},
    {"trainer.n_gpus_per_node", ROW_COUNT, "@gpus_per_node", NULL, "8"},
    {NULL, ROW_COUNT, NULL, NULL, NULL},
};

/* Defaults of its configurations: verl/trainer/config @ b178a3cd. */
static const struct format_fact verl_facts[] = {
    {"rl.reference", "false", "veRL without use_kl_loss and use_kl_in_reward", NULL, NULL, NULL},
    {"@dtensor.again", "true", "veRL's FSDP without enable_gradient_checkpointing", "transformer.zero", "3", NULL},
    {"@megatron", "true", "veRL's trainer by Megatron-LM", "transformer.zero", "1", NULL},
    {NULL, NULL, NULL, NULL, NULL, NULL},
};

static const char *const verl_ignored[] = {"hydra*",
                                           "defaults",
                                           "data.*",
                                           "algorithm.*",
                                           "critic*",
                                           "trainer.*",
                                           "custom_reward*",
                                           "ray*",
                                           "global_profiler*",
                                           "actor_rollout_ref.model.path",
                                           "actor_rollout_ref.model.use_*",
                                           ACTOR "optim*",
                                           ACTOR "clip*",
                                           ACTOR "entropy*",
                                           ACTOR "kl_*",
                                           ACTOR "loss*",
                                           ACTOR "grad_clip",
                                           ACTOR "checkpoint*",
                                           ROLLOUT "name",
                                           ROLLOUT "t*",
                                           ROLLOUT "val*",
                                           ROLLOUT "do_sample",
                                           NULL};

static const char *const verl_partial[] = {ACTOR "ppo_epochs",
                                           "samples are trained with once",
                                           "data.gen_batch_size",
                                           "see rl.kept: not taken over",
                                           "algorithm.filter_groups.enable",
                                           "see rl.kept: not taken over",
                                           "critic.model.path",
                                           "a critic is as large as the policy, and trained as it is",
                                           "reward_model*",
                                           "see rl.reward, a time: not taken over",
                                           ACTOR "ppo_micro*",
                                           "samples are packed: see rl.pack",
                                           ACTOR "ppo_max_token*",
                                           "samples are packed: see rl.pack",
                                           ACTOR "use_dynamic_bsz",
                                           "samples are packed: see rl.pack",
                                           ROLLOUT "log_prob*",
                                           "samples are packed: see rl.pack",
                                           "actor_rollout_ref.ref.log_prob*",
                                           "samples are packed: see rl.pack",
                                           ROLLOUT "gpu_memory_utilization",
                                           "see generation.memory: not taken over",
                                           ROLLOUT "enforce_eager",
                                           "an engine without CUDA graphs: see generation.launch and generation.host",
                                           ACTOR "fsdp_config.fsdp_size",
                                           "see transformer.shard_ranks: not taken over",
                                           ACTOR "fsdp_config*",
                                           "states move to the host where rl.offload says: not taken over",
                                           NULL};

const struct format format_verl = {"veRL", NULL, verl_marks, 4, verl_rows, verl_facts, verl_ignored, verl_partial};

/* ---- OpenRLHF ---- */

static const char *const openrlhf_marks[] = {"rollout_batch_size",
                                             "n_samples_per_prompt",
                                             "vllm_num_engines",
                                             "vllm_tensor_parallel_size",
                                             "actor_num_nodes",
                                             "actor_num_gpus_per_node",
                                             "generate_max_len",
                                             "prompt_max_len",
                                             "advantage_estimator",
                                             "micro_rollout_batch_size",
                                             NULL};

static const struct format_row openrlhf_rows[] = {
    {"eval_task", ROW_REFUSED, NULL,
     "samples are generated without training, so it is no step of reinforcement learning; expected a launch of "
     "train_ppo_ray",
     NULL},
    {"rollout_batch_size", ROW_COUNT, "rl.prompts", NULL, "1024"},
    {"n_samples_per_prompt", ROW_COUNT, "rl.samples", NULL, "1"},
    {"train_batch_size", ROW_COUNT, "rl.mini_batch", NULL, "128"},
    {"prompt_max_len", ROW_COUNT, "@prompt", NULL, "1024"},
    {"generate_max_len", ROW_COUNT, "rl.most", NULL, "1024"},
    {"lora_rank", ROW_WORD, "@full", "0=full", NULL},
    {"init_kl_coef", ROW_ABOVE, "rl.reference", NULL, "true"},
    {"advantage_estimator", ROW_WORD, "rl.critic",
     "gae=true group_norm=false rloo=false reinforce=false reinforce_baseline=false dr_grpo=false", "true"},
    {"ds_tensor_parallel_size", ROW_COUNT, "parallel.tensor", NULL, NULL},
    {"ring_attn_size", ROW_COUNT, "parallel.context", NULL, NULL},
    {"zero_stage", ROW_COUNT, "transformer.zero", NULL, "2"},
    {"bf16", ROW_ONE, "compute.precision", "bf16", NULL},
    {"gradient_checkpointing", ROW_FLAG, "@again", NULL, "false"},
    {"vllm_num_engines", ROW_COUNT, "rl.engines", NULL, NULL},
    {"vllm_tensor_parallel_size", ROW_COUNT, "generation.tensor", NULL, NULL},
    {"colocate_all_models", ROW_FLAG, "@colocated", NULL, "false"},
    {"async_train", ROW_FLAG, "@ahead", NULL, NULL},
    {"actor_num_nodes", ROW_COUNT, "@nodes", NULL, "1"},
    {"actor_num_gpus_per_node", ROW_COUNT, "@gpus_per_node", NULL, "8"},
    {NULL, ROW_COUNT, NULL, NULL, NULL},
};

static const char *const openrlhf_ignored[] = {
    "pretrain", "save*",  "ckpt*",       "logging*", "eval*",       "prompt_data*", "input*",
    "label*",   "apply*", "max_samples", "max_ep*",  "num_ep*",     "actor_learn*", "critic_learn*",
    "wandb*",   "kl_*",   "normalize*",  "adam*",    "flash_attn*", "seed",         "temperature",
    "top_p",    "lambd",  "gamma",       "eps*",     "entropy*",    "l2",           "use_tensorboard",
    NULL};

static const char *const openrlhf_partial[] = {"max_epochs",
                                               "samples are trained with once",
                                               "micro_*",
                                               "samples are packed: see rl.pack",
                                               "packing_samples",
                                               "samples are packed: see rl.pack",
                                               "reward_*",
                                               "see rl.reward, a time: not taken over",
                                               "remote_rm_url",
                                               "see rl.reward, a time: not taken over",
                                               "ref_*",
                                               "the reference model is on the trainer's GPUs",
                                               "critic_num*",
                                               "the critic is on the trainer's GPUs",
                                               "vllm_gpu_memory_utilization",
                                               "see generation.memory: not taken over",
                                               "deepspeed_enable_sleep",
                                               "see rl.offload",
                                               "vllm_enable_sleep",
                                               "see rl.offload",
                                               "adam_offload",
                                               "the optimizer's state and step stay on the GPU",
                                               NULL};

const struct format format_openrlhf = {"OpenRLHF",    NULL, openrlhf_marks,   4,
                                       openrlhf_rows, NULL, openrlhf_ignored, openrlhf_partial};
