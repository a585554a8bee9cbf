set -x
ray job submit --address="http://127.0.0.1:8265" --runtime-env-json='{"working_dir": "/openrlhf"}' -- \
    python3 -m openrlhf.cli.train_ppo_ray \
    --ref_num_nodes 1 --ref_num_gpus_per_node 8 \
    --actor_num_nodes 1 --actor_num_gpus_per_node=8 \
    --vllm_num_engines 4 --vllm_tensor_parallel_size 2 --colocate_all_models \
    --pretrain ./model --save_path $SAVE \
    --rollout_batch_size 128 --n_samples_per_prompt 8 --train_batch_size 256 -packing_samples \
    --prompt_max_len 1024 --generate_max_len 2048 \
    --advantage_estimator reinforce --init_kl_coef 0 \
    --zero_stage 3 --bf16 --gradient_checkpointing
