#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""huggingface STAGESIM: a config.json in place of the section `model`. Shapes as they are published, with parameters
counted by their publishers: stagesim refuses a shape that gives another number."""
import json
import pathlib
import subprocess
import sys
import tempfile

STAGESIM = sys.argv[1]
FOLDER = pathlib.Path(tempfile.mkdtemp())
failures = 0


def shape(kind, layers, hidden, heads, inner, vocabulary, **more):
    return {"model_type": kind, "num_hidden_layers": layers, "hidden_size": hidden, "num_attention_heads": heads,
            "intermediate_size": inner, "vocab_size": vocabulary, **more}


def latent(query, **more):
    return {"q_lora_rank": query, "kv_lora_rank": 512, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64,
            "v_head_dim": 128, **more}


# name: shape, parameters, those that a token meets where there are experts
MODELS = {
    "gpt2": ({"model_type": "gpt2", "n_layer": 12, "n_embd": 768, "n_head": 12, "n_positions": 1024,
              "vocab_size": 50257, "n_inner": None}, 124439808),
    "gpt2-xl": ({"model_type": "gpt2", "n_layer": 48, "n_embd": 1600, "n_head": 25, "n_positions": 1024,
                 "vocab_size": 50257}, 1557611200),
    "bert-base": (shape("bert", 12, 768, 12, 3072, 30522, max_position_embeddings=512, type_vocab_size=2), 109482240),
    "bert-large": (shape("bert", 24, 1024, 16, 4096, 30522, max_position_embeddings=512, type_vocab_size=2),
                   335141888),
    "opt-1.3b": ({"model_type": "opt", "num_hidden_layers": 24, "hidden_size": 2048, "ffn_dim": 8192,
                  "num_attention_heads": 32, "max_position_embeddings": 2048, "vocab_size": 50272,
                  "word_embed_proj_dim": 2048, "do_layer_norm_before": True}, 1315758080),
    "llama2-7b": (shape("llama", 32, 4096, 32, 11008, 32000, num_key_value_heads=32), 6738415616),
    "llama3.1-8b": (shape("llama", 32, 4096, 32, 14336, 128256, num_key_value_heads=8), 8030261248),
    "llama3.2-1b": (shape("llama", 16, 2048, 32, 8192, 128256, num_key_value_heads=8, head_dim=64,
                          tie_word_embeddings=True), 1235814400),
    "mistral-7b": (shape("mistral", 32, 4096, 32, 14336, 32000), 7241732096),
    "mixtral-8x7b": (shape("mixtral", 32, 4096, 32, 14336, 32000, num_key_value_heads=8, num_local_experts=8,
                           num_experts_per_tok=2, sliding_window=None), 46702792704, 12879925248),
    "phi3-mini": (shape("phi3", 32, 3072, 32, 8192, 32064, num_key_value_heads=32, sliding_window=262144), 3821079552),
    "phi-2": (shape("phi", 32, 2560, 32, 10240, 51200, num_key_value_heads=32), 2779683840),
    "falcon-7b": ({"model_type": "falcon", "num_hidden_layers": 32, "hidden_size": 4544, "num_attention_heads": 71,
                   "vocab_size": 65024, "multi_query": True, "bias": False}, 6921720704),
    "falcon-40b, old names": ({"model_type": "falcon", "n_layer": 60, "n_embed": 8192, "n_head": 128, "n_head_kv": 8,
                               "vocab_size": 65024, "new_decoder_architecture": True}, 41303293952),
    "qwen2.5-7b": (shape("qwen2", 28, 3584, 28, 18944, 152064, num_key_value_heads=4, sliding_window=131072,
                         use_sliding_window=False), 7615616512),
    "qwen1.5-moe-a2.7b": (shape("qwen2_moe", 24, 2048, 16, 5632, 151936, num_key_value_heads=16, num_experts=60,
                                num_experts_per_tok=4, moe_intermediate_size=1408,
                                shared_expert_intermediate_size=5632), 14315784192),
    "qwen3-0.6b": (shape("qwen3", 28, 1024, 16, 3072, 151936, num_key_value_heads=8, head_dim=128,
                         tie_word_embeddings=True), 596049920),
    "qwen3-32b": (shape("qwen3", 64, 5120, 64, 25600, 151936, num_key_value_heads=8, head_dim=128), 32762123264),
    "qwen3-30b-a3b": (shape("qwen3_moe", 48, 2048, 32, 6144, 151936, num_key_value_heads=4, head_dim=128,
                            num_experts=128, num_experts_per_tok=8, moe_intermediate_size=768), 30532122624,
                      3353032704),
    "gemma-2b": (shape("gemma", 18, 2048, 8, 16384, 256000, num_key_value_heads=1), 2506172416),
    "gemma2-2b": (shape("gemma2", 26, 2304, 8, 9216, 256000, num_key_value_heads=4), 2614341888),
    "gemma3-1b": (shape("gemma3_text", 26, 1152, 4, 6912, 262144, num_key_value_heads=1, sliding_window=512),
                  999885952),
    "gpt-oss-20b": (shape("gpt_oss", 24, 2880, 64, 2880, 201088, num_key_value_heads=8, num_local_experts=32,
                          num_experts_per_tok=4, layer_types=["sliding_attention", "full_attention"] * 12),
                    20914757184, 4187440704),
    "deepseek-v2": (shape("deepseek_v2", 60, 5120, 128, 12288, 102400, n_routed_experts=160, n_shared_experts=2,
                          num_experts_per_tok=6, moe_intermediate_size=1536, first_k_dense_replace=1, n_group=8,
                          topk_group=3, **latent(1536)), 235741434880, 21375800320),
    "deepseek-v2-lite": (shape("deepseek_v2", 27, 2048, 16, 10944, 102400, n_routed_experts=64, n_shared_experts=2,
                               num_experts_per_tok=6, moe_intermediate_size=1408, first_k_dense_replace=1,
                               **latent(None)), 15706484224, 2661150208),
    "deepseek-v3": (shape("deepseek_v3", 61, 7168, 128, 18432, 129280, n_routed_experts=256, n_shared_experts=1,
                          num_experts_per_tok=8, moe_intermediate_size=2048, num_nextn_predict_layers=1,
                          **latent(1536, num_key_value_heads=128)), 671026419200, 37552297472),
}

SCENARIO = """platform: dgx-h100:1024
workload: transformer
model: {file: config.json, sequence: 512, parameters: %d%s}
parallel: {data: 1}
batch: {global: 1, micro: 1}
schedule: 1f1b
"""


def run(config, parameters, active=0, *options):
    (FOLDER / "config.json").write_text(json.dumps(config, indent=1))
    (FOLDER / "job.yaml").write_text(SCENARIO % (parameters, ", active_parameters: %d" % active if active else ""))
    return subprocess.run([STAGESIM, "check", str(FOLDER / "job.yaml"), *options], capture_output=True, text=True)


def expect(good, what, result):
    global failures
    if not good:
        failures += 1
        print(f"{what}: exit {result.returncode}\n{result.stdout}{result.stderr}")


for name, (config, *counts) in MODELS.items():
    result = run(config, *counts)
    expect(result.returncode == 0, name, result)
    wrapped = run({"architectures": ["X"], "text_config": config, "vision_config": {}}, *counts)
    expect(wrapped.returncode == 0, name + " in text_config", wrapped)
    result = run(config, counts[0] + 1)
    expect(result.returncode == 1 and f"the shape gives {counts[0]} parameters" in result.stderr, name, result)

# What is written beside the file counts before it, and --set before both.
llama, count = MODELS["llama2-7b"]
layer = (count - 2 * 32000 * 4096 - 4096) // 32
result = run(llama, count - 31 * layer, 0, "--set", "model.layers=1")
expect(result.returncode == 0, "--set beside a file", result)
(FOLDER / "config.json").write_text(json.dumps(llama))
result = subprocess.run([STAGESIM, "check", str(FOLDER / "job.yaml"), "--set",
                         f"model={{file: {FOLDER}/config.json, sequence: 64}}"], capture_output=True, text=True)
expect(result.returncode == 0, "a map in --set", result)

# Mistakes have their place in config.json, or in the scenario.
for config, words in ((dict(llama, model_type="lama"), ["config.json:2:", "'lama'", "did you mean 'llama'", "54 more"]),
                      ({k: v for k, v in llama.items() if k != "hidden_size"}, ["config.json:1:1", "'hidden_size'"]),
                      (dict(llama, num_hidden_layers="many"), ["config.json:3:", "num_hidden_layers", "'many'"]),
                      (dict(llama, num_attention_heads=0), ["config.json:5:", "num_attention_heads is 0"]),
                      (dict(MODELS["opt-1.3b"][0], word_embed_proj_dim=512), ["512 wide", "2048"]),
                      (dict(MODELS["qwen3-30b-a3b"][0], mlp_only_layers=[3]), ["not the first"]),
                      (dict(MODELS["gemma3-1b"][0], layer_types=["mamba"]), ["'mamba'", "sliding_attention"])):
    result = run(config, 1)
    expect(result.returncode == 1 and all(word in result.stderr for word in words), words, result)
result = subprocess.run([STAGESIM, "check", str(FOLDER / "job.yaml"), "--set", "model=" + str(FOLDER / "config.json")],
                        capture_output=True, text=True)
expect(result.returncode == 1, "no sequence", result)
sys.exit(failures > 0)
