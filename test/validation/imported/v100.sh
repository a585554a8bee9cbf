#!/bin/bash
# The options that describe BigScience's job tr1-13B (Megatron-DeepSpeed on nodes of 4 V100), typed from
# bigscience-workshop/bigscience train/tr1-13B-base/tr1-13B-round1.slurm @ 053adafe; what the rows of v100.csv vary is a
# variable. The job of 1.3B has the same options and --embed-layernorm.
#SBATCH --nodes=128
#SBATCH --ntasks-per-node=1
#SBATCH --gres=gpu:4
set -x -e
GPUS_PER_NODE=4
NNODES=${NNODES:-128}
TP_SIZE=${TP_SIZE:-2}
PP_SIZE=${PP_SIZE:-4}
MICRO_BATCH_SIZE=${MICRO_BATCH_SIZE:-1}
GLOBAL_BATCH_SIZE=${GLOBAL_BATCH_SIZE:-1024}
NLAYERS=${NLAYERS:-40}
NHIDDEN=${NHIDDEN:-5120}
NHEADS=${NHEADS:-32}
MORE=${MORE-"--checkpoint-activations"}
ZERO_STAGE=1
config_json="./ds_config.$SLURM_JOBID.json"

cat <<EOT > $config_json
{
  "train_micro_batch_size_per_gpu": $MICRO_BATCH_SIZE,
  "train_batch_size": $GLOBAL_BATCH_SIZE,
  "zero_optimization": {"stage": $ZERO_STAGE},
  "fp16": {"enabled": true, "loss_scale": 0, "initial_scale_power": 12}
}
EOT

GPT_ARGS="--num-layers $NLAYERS --hidden-size $NHIDDEN --ffn-hidden-size $((4 * NHIDDEN)) \
    --num-attention-heads $NHEADS --seq-length 2048 --max-position-embeddings 2048 \
    --micro-batch-size $MICRO_BATCH_SIZE --rampup-batch-size 16 16 5_000_000 --global-batch-size $GLOBAL_BATCH_SIZE \
    --train-samples 300_000_000 --loss-scale 12 --clip-grad 1.0 --fp16 $MORE"
DEEPSPEED_ARGS="--deepspeed --deepspeed_config ${config_json} --zero-stage ${ZERO_STAGE} \
    --deepspeed-activation-checkpointing"
export LAUNCHER="python -u -m torch.distributed.launch --nproc_per_node $GPUS_PER_NODE --nnodes $NNODES"
export CMD="`pwd`/pretrain_gpt.py --tensor-model-parallel-size $TP_SIZE --pipeline-model-parallel-size $PP_SIZE \
    $GPT_ARGS --data-impl mmap --distributed-backend nccl $DEEPSPEED_ARGS"
srun --jobid $SLURM_JOBID bash -c '$LAUNCHER --node_rank $SLURM_PROCID $CMD' 2>&1 | tee -a main_log.txt
