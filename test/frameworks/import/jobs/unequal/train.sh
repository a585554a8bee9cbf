#!/bin/bash
# Four layers of unequal shape, in a file beside the script.
BLOCKS=./blocks.json
torchrun --nnodes 2 --nproc_per_node 8 pretrain_gpt.py \
    --num-layers 4 --hidden-size 2048 --num-attention-heads 32 --ffn-hidden-size 5632 --swiglu --normalization RMSNorm \
    --seq-length 2048 --max-position-embeddings 2048 --position-embedding-type rope --vocab-size 32000 \
    --micro-batch-size 1 --global-batch-size 64 --bf16 --disable-bias-linear \
    --heterogeneous-layers-config-path $BLOCKS
