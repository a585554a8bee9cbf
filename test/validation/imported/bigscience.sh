#!/bin/bash
# The options that describe BigScience's job tr11-176B (Megatron-DeepSpeed on Jean Zay), typed from
# bigscience-workshop/bigscience train/tr11-176B-ml/tr11-176B-ml.slurm @ e726b159; what the rows of bigscience.csv vary
# is a variable.
#SBATCH --nodes=48
#SBATCH --gres=gpu:8
TP_SIZE=${TP_SIZE:-4}
PP_SIZE=${PP_SIZE:-12}
MICRO_BATCH_SIZE=${MICRO_BATCH_SIZE:-2}
GLOBAL_BATCH_SIZE=${GLOBAL_BATCH_SIZE:-2048}
NLAYERS=${NLAYERS:-70}
NHIDDEN=${NHIDDEN:-14336}
NHEADS=${NHEADS:-112}
PRECISION=${PRECISION:-bf16}
ZERO_STAGE=${ZERO_STAGE:-0}
PARTITION=${PARTITION:-"type:transformer|embedding"}
CONFIG=./ds_config.json
if [ $PRECISION = bf16 ]; then OTHER=fp16; else OTHER=bf16; fi

cat <<END > $CONFIG
{
  "train_micro_batch_size_per_gpu": $MICRO_BATCH_SIZE,
  "train_batch_size": $GLOBAL_BATCH_SIZE,
  "zero_optimization": {"stage": $ZERO_STAGE},
  "$PRECISION": {"enabled": true}, "$OTHER": {"enabled": false}
}
END

MODEL="--num-layers $NLAYERS --hidden-size $NHIDDEN --num-attention-heads $NHEADS --seq-length 2048 \
    --max-position-embeddings 2048 --position-embedding-type alibi --embed-layernorm --pad-vocab-size-to 250880"
BATCH="--micro-batch-size $MICRO_BATCH_SIZE --rampup-batch-size 192 16 9_765_625 \
    --global-batch-size $GLOBAL_BATCH_SIZE --train-samples 220_000_000"
LAYOUT="--tensor-model-parallel-size $TP_SIZE --pipeline-model-parallel-size $PP_SIZE \
    --pp-partition-method '$PARTITION' --checkpoint-activations"
DEEPSPEED="--deepspeed --deepspeed_config $CONFIG --zero-stage $ZERO_STAGE --deepspeed-activation-checkpointing"
export CUDA_LAUNCH_BLOCKING=1
LAUNCHER="python -u -m torch.distributed.run --nproc_per_node 8 --nnodes $SLURM_NNODES"
srun bash -c "$LAUNCHER --node_rank \$SLURM_PROCID pretrain_gpt.py $MODEL $BATCH $LAYOUT --$PRECISION $DEEPSPEED"
