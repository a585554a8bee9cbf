#!/bin/bash
# Four layers of unequal shape, in a file beside the script.
BLOCKS=./blocks.json
torchrun --nnodes 2 --nproc_per_node 8 pretrain_gpt.py \
    --num-layers 4 --hidden-size 2048 --num-attention-heads 32 --group-query-attention --num-query-groups 4 \
    --ffn-hidden-size 5632 --swiglu --normalization RMSNorm --untie-embeddings-and-output-weights \
    --seq-length 2048 --max-position-embeddings 2048 --position-embedding-type rope --use-rotary-position-embeddings \
    --rotary-percent 1.0 --rotary-base 500000 --use-rope-scaling --rope-scaling-factor 8.0 --vocab-size 32000 \
    --micro-batch-size 1 --global-batch-size 64 --bf16 --disable-bias-linear \
    --heterogeneous-layers-config-path $BLOCKS
