#!/bin/bash
# A model of 24 layers on two nodes; arrays, defaults and conditions as launch scripts have them.
export CUDA_DEVICE_MAX_CONNECTIONS=1
GPUS=8
NODES=${NODES:-2}
TP=4
PP=$((GPUS * NODES / TP / 2))
NAME=gpt; LOGS=$1

LAUNCH=(
    --nproc_per_node $GPUS
    --nnodes $NODES    # both are counts
    --master_addr ${MASTER_ADDR:-localhost}
)
MODEL=(
    --num-layers 24 --hidden-size 2048
    --num-attention-heads=16
    --seq-length 2048
    --max-position-embeddings 2048
    --vocab-size 50257
)
TRAIN=(--micro-batch-size 2 --global-batch-size 64 --bf16 --lr 1e-4 --train-iters 1000)
if [[ "$TP" -gt 1 && $NAME == gp* ]]; then
    TRAIN+=("--sequence-parallel" "--recompute-granularity selective")
elif [ -f "$LOGS" ]; then
    TRAIN+=(--num-layers 12)
fi
if [ -n "$EXTRA" ]; then
    TRAIN+=(--fp16)
fi
case $NAME in
bert) TRAIN+=(--num-experts 8) ;;
gpt | llama) TRAIN+=(--use-distributed-optimizer --overlap-grad-reduce) ;;
esac

mkdir -p "$LOGS" && torchrun "${LAUNCH[@]}" pretrain_gpt.py \
    ${MODEL[@]} \
    ${TRAIN[@]} \
    --tensor-model-parallel-size $TP --pipeline-model-parallel-size ${PP} \
    --num-layers-per-virtual-pipeline-stage 6 \
    --tensorboard-dir "${LOGS}/$NAME" --overlap-param-gather --my-own-option 3
