#!/bin/bash
# The options that describe the scaling of a 175B on LUMI (Megatron-DeepSpeed on MI250X), typed from
# spyysalo/lumi-llm-scaling meg-ds/pretrain_175B_16_node.sh @ 73149585 (MIT licence).
#SBATCH --ntasks-per-node=8
TP_SIZE=8
PP_SIZE=8
MICRO_BATCH_SIZE=2
GLOBAL_BATCH_SIZE=1024
TRAIN_SAMPLES=146_500_000
TRAIN_SAMPLES=${TRAIN_SAMPLES//_}
NHIDDEN=14336
ZERO_STAGE=0
CONFIG="ds_configs/$SLURM_JOB_ID.json"
mkdir -p ds_configs
cat <<END > $CONFIG
{
  "train_micro_batch_size_per_gpu": $MICRO_BATCH_SIZE,
  "train_batch_size": $GLOBAL_BATCH_SIZE,
  "zero_optimization": {"stage": $ZERO_STAGE},
  "bf16": {"enabled": true}
}
END
MODEL="--num-layers 70 --hidden-size $NHIDDEN --num-attention-heads 112 --ffn-hidden-size $((4*NHIDDEN)) \
    --seq-length 2048 --max-position-embeddings 2048 --position-embedding-type alibi --embed-layernorm \
    --sync-tp-duplicated-parameters --tokenizer-type GPT2BPETokenizer --make-vocab-size-divisible-by 128"
BATCH="--micro-batch-size $MICRO_BATCH_SIZE --global-batch-size $GLOBAL_BATCH_SIZE --train-samples $TRAIN_SAMPLES"
DEEPSPEED="--deepspeed --deepspeed_config $CONFIG --zero-stage $ZERO_STAGE"
srun launch.sh Megatron-DeepSpeed/pretrain_gpt.py --tensor-model-parallel-size $TP_SIZE \
    --pipeline-model-parallel-size $PP_SIZE $MODEL $BATCH --bf16 --optimizer adam --checkpoint-activations $DEEPSPEED
