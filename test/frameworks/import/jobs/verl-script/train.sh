# A launch of veRL: keys of its configuration behind the program.
NODES=${NODES:-2}
kl=False
python3 -m verl.trainer.main_ppo --config-path=config --config-name='ppo_megatron_trainer.yaml' \
    algorithm.adv_estimator=reinforce_plus_plus_baseline \
    data.train_files="['$HOME/data/train.parquet']" \
    data.train_batch_size=256 \
    data.max_prompt_length=1024 data.max_response_length=3072 \
    actor_rollout_ref.model.path=$MODEL_PATH \
    actor_rollout_ref.actor.ppo_mini_batch_size=64 \
    actor_rollout_ref.actor.use_kl_loss=$kl \
    algorithm.use_kl_in_reward=True \
    +actor_rollout_ref.actor.megatron.tensor_model_parallel_size=4 \
    actor_rollout_ref.rollout.name=vllm \
    actor_rollout_ref.rollout.tensor_model_parallel_size=4 \
    ++actor_rollout_ref.rollout.n=8 \
    '~critic.optim' \
    trainer.logger=[console,wandb] \
    trainer.n_gpus_per_node=8 \
    trainer.nnodes=$NODES "$@" 2>&1 | tee train.log
# A trial run.
python3 -m verl.trainer.main_ppo algorithm.adv_estimator=grpo trainer.nnodes=1
