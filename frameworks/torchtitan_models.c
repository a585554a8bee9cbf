/* SPDX-License-Identifier: Apache-2.0 */
#include "frameworks/torchtitan_models.h"

#include <stddef.h>

const char torchtitan_common[] = "gated true norm rms tied false biases false dropout false";

const struct torchtitan_model torchtitan_models[] = {
    {"llama3", "8B", "layers 32 hidden 4096 heads 32 kv_heads 8 ffn 14336 vocabulary 128256"},
    {"llama3", "70B", "layers 80 hidden 8192 heads 64 kv_heads 8 ffn 28672 vocabulary 128256"},
    {"llama3", "405B", "layers 126 hidden 16384 heads 128 kv_heads 8 ffn 53248 vocabulary 128256"},
    {"deepseek_v3", "16B",
     "layers 27 hidden 2048 heads 16 ffn 10944 vocabulary 102400 experts 64 top_k 6 expert_ffn 1408 shared_experts 2 "
     "dense_layers 1 kv_rank 512 query_rank 0 head_size 128 rope_size 64 value_size 128"},
    {"deepseek_v3", "671B",
     "layers 61 hidden 7168 heads 128 ffn 18432 vocabulary 129280 experts 256 top_k 8 expert_ffn 2048 shared_experts 1 "
     "dense_layers 3 expert_groups 8 top_groups 4 router_bias true kv_rank 512 query_rank 1536 head_size 128 "
     "rope_size 64 value_size 128"},
    {NULL},
};
