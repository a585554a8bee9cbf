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
    {"qwen3", "0.6B",
     "layers 28 hidden 1024 heads 16 kv_heads 8 head_size 128 ffn 3072 vocabulary 151936 qk_norm true tied true"},
    {"qwen3", "1.7B",
     "layers 28 hidden 2048 heads 16 kv_heads 8 head_size 128 ffn 6144 vocabulary 151936 qk_norm true tied true"},
    {"qwen3", "4B",
     "layers 36 hidden 2560 heads 32 kv_heads 8 head_size 128 ffn 9728 vocabulary 151936 qk_norm true tied true"},
    {"qwen3", "8B", "layers 36 hidden 4096 heads 32 kv_heads 8 head_size 128 ffn 12288 vocabulary 151936 qk_norm true"},
    {"qwen3", "14B",
     "layers 40 hidden 5120 heads 40 kv_heads 8 head_size 128 ffn 17408 vocabulary 151936 qk_norm true"},
    {"qwen3", "32B",
     "layers 64 hidden 5120 heads 64 kv_heads 8 head_size 128 ffn 25600 vocabulary 151936 qk_norm true"},
    {"qwen3", "30B-A3B",
     "layers 48 hidden 2048 heads 32 kv_heads 4 head_size 128 ffn 6144 vocabulary 151936 qk_norm true experts 128 "
     "top_k 8 expert_ffn 768"},
    {"qwen3", "235B-A22B",
     "layers 94 hidden 4096 heads 64 kv_heads 4 head_size 128 ffn 12288 vocabulary 151936 qk_norm true experts 128 "
     "top_k 8 expert_ffn 1536"},
    {NULL},
};
