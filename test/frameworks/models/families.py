#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""families STAGESIM: config.json of the families of 2025 and 2026, by the numbers of their published files (keys that
change nothing left out). Parameters are those that modelling code gives, and where publishers count elements they are
the same: gpt-oss-120b 116,829,156,672, GLM-5 743,911,199,232 without router biases, Qwen3-30B-A3B 61,064,245,248 bytes,
Qwen3.5-27B 27,781,427,952 with its tower and the layer that predicts a further token (Megatron-Bridge,
examples/model_verification_cards @ 067f987d). stagesim refuses a shape that gives another number."""
import json
import pathlib
import subprocess
import sys
import tempfile

STAGESIM = sys.argv[1]
FOLDER = pathlib.Path(tempfile.mkdtemp())
failures = 0


def shape(kind, layers, hidden, heads, kv, vocabulary, **more):
    return {"model_type": kind, "num_hidden_layers": layers, "hidden_size": hidden, "num_attention_heads": heads,
            "num_key_value_heads": kv, "vocab_size": vocabulary, "tie_word_embeddings": False, **more}


def latent(query, nope=128, value=128):
    return {"q_lora_rank": query, "kv_lora_rank": 512, "qk_nope_head_dim": nope, "qk_rope_head_dim": 64,
            "v_head_dim": value}


def deepseek(kind, layers, hidden, heads, vocabulary, inner, experts, dense, **more):
    return shape(kind, layers, hidden, heads, heads, vocabulary, intermediate_size=inner, n_routed_experts=experts,
                 n_shared_experts=1, num_experts_per_tok=8, moe_intermediate_size=2048, first_k_dense_replace=dense,
                 **more)


def qwen(kind, layers, hidden, heads, kv, inner, **more):
    return shape(kind, layers, hidden, heads, kv, 151936, head_dim=128, intermediate_size=inner, **more)


def delta(keys, values):
    return {"linear_num_key_heads": keys, "linear_num_value_heads": values, "linear_key_head_dim": 128,
            "linear_value_head_dim": 128, "linear_conv_kernel_dim": 4, "head_dim": 256, "attn_output_gate": True}


def experts(count, top, inner, **more):
    return {"num_experts": count, "num_experts_per_tok": top, "moe_intermediate_size": inner, **more}


K3 = [layer for layer in range(1, 94) if layer % 4 and layer != 93]
RATIOS = [0, 0, *[4, 128] * 20, 4, 0]
NANO = "MEMEM*EMEMEM*EMEMEM*EMEMEM*EMEMEM*EMEMEMEM*EMEMEMEME"
SUPER = "MEMEMEM*EMEMEMEM*EMEMEMEM*EMEMEMEMEM*EMEMEMEMEM*EMEMEMEMEM*EMEMEMEMEM*EMEMEMEM*EMEMEMEME"
WINDOWS = [int(layer % 6 != 5 and layer > 0) for layer in range(48)]
GEMMA = ["full_attention" if layer % 6 == 5 else "sliding_attention" for layer in range(30)]



def granite(layers, hidden, heads, kv, mamba, size, state, inner, shared, **more):
    return shape("granitemoehybrid", layers, hidden, heads, kv, 100352, tie_word_embeddings=True, mamba_n_heads=mamba,
                 mamba_d_head="auto", mamba_expand=2, mamba_n_groups=1, mamba_d_state=state, mamba_d_conv=4,
                 mamba_chunk_size=256, mamba_conv_bias=True, mamba_proj_bias=False, intermediate_size=inner,
                 shared_intermediate_size=shared, **{"layer_types": [
                     "attention" if layer % 10 == 5 else "mamba" for layer in range(layers)], **more})


# 4 layers of attention and 36 of Mamba-2: into gate, x, B, C and steps; taps and biases of the convolution; three
# numbers of each head; the gate's normalisation; out. All with a feed-forward block and two normalisations.
GRANITE = 100352 * 1536 + 1536 + 4 * (2 * 1536 * 1536 + 2 * 1536 * 512) + \
    36 * (1536 * (2 * 3072 + 2 * 128 + 48) + (3072 + 256) * 5 + 3 * 48 + 3072 + 3072 * 1536) + \
    40 * (3 * 1536 * 1024 + 2 * 1536)

# name: file, parameters, those that a token meets, and those of layers that predict further tokens
MODELS = {
    "MiniMax-M2.5": (shape("minimax_m2", 62, 3072, 48, 8, 200064, head_dim=128, intermediate_size=1536,
                           num_local_experts=256, num_experts_per_tok=8, use_qk_norm=True, qk_norm_type="per_layer",
                           use_routing_bias=True, shared_intermediate_size=0), 228689764864, 11030553088,
                     (3, 11062807296)),
    "MiniMax-M3": (shape("minimax_m3", 60, 6144, 64, 4, 200064, head_dim=128, intermediate_size=3072,
                         dense_intermediate_size=12288, shared_intermediate_size=3072, n_shared_experts=1,
                         num_local_experts=128, num_experts_per_tok=4, moe_layer_freq=[0] * 3 + [1] * 57,
                         use_qk_norm=True, qk_norm_type="per_head", use_routing_bias=True,
                         sparse_attention_config={"sparse_attention_freq": [0] * 3 + [1] * 57,
                                                  "sparse_num_index_heads": 4, "sparse_index_dim": 128,
                                                  "sparse_block_size": 128, "sparse_topk_blocks": 16}),
                   426174572928, 25962473856, (1, 7491582592)),
    "MiniMax-Text-01": (shape("minimax_text_01", 80, 6144, 64, 8, 200064, head_dim=128, intermediate_size=9216,
                              num_local_experts=32, num_experts_per_tok=2,
                              attn_type_list=[int(layer % 8 == 7) for layer in range(80)]), 456089655296, 0),
    "Qwen3-0.6B": (qwen("qwen3", 28, 1024, 16, 8, 3072, tie_word_embeddings=True), 596049920, 0),
    "Qwen3-8B": (qwen("qwen3", 36, 4096, 32, 8, 12288), 8190735360, 0),
    "Qwen3-32B": (qwen("qwen3", 64, 5120, 64, 8, 25600), 32762123264, 0),
    "Qwen3-30B-A3B": (qwen("qwen3_moe", 48, 2048, 32, 4, 6144, **experts(128, 8, 768)), 30532122624, 3353032704),
    "Qwen3-235B-A22B": (qwen("qwen3_moe", 94, 4096, 64, 4, 12288, **experts(128, 8, 1536)), 235093634560, 22190763520),
    "Qwen3-VL-235B-A22B": (qwen("qwen3_vl_moe_text", 94, 4096, 64, 4, 12288, **experts(128, 8, 1536)), 235093634560,
                           22190763520),
    "Qwen3-VL-2B": (qwen("qwen3_vl_text", 28, 2048, 16, 8, 6144, tie_word_embeddings=True), 1720574976, 0),
    "Qwen3-VL-8B": (qwen("qwen3_vl_text", 36, 4096, 32, 8, 12288), 8190735360, 0),
    "Qwen3.5-27B": (shape("qwen3_5_text", 64, 5120, 24, 4, 248320, intermediate_size=17408, **delta(16, 48),
                          layer_types=(["linear_attention"] * 3 + ["full_attention"]) * 16), 26895998464, 0,
                    (1, 424699392)),
    "Qwen3.5-35B-A3B": (shape("qwen3_5_moe_text", 40, 2048, 16, 2, 248320, **delta(16, 32), **experts(256, 8, 512),
                              shared_expert_intermediate_size=512, full_attention_interval=4), 34660610688, 3454988928,
                        (1, 844640768)),
    "MiMo-7B-Base": (shape("mimo", 36, 4096, 32, 8, 151680, head_dim=128, intermediate_size=11008, attention_bias=True),
                     7622619136, 0, (1, 210790400)),
    "MiMo-V2-Flash": (shape("mimo_v2_flash", 48, 4096, 64, 4, 152576, head_dim=192, v_head_dim=128,
                            intermediate_size=16384, sliding_window_size=128, swa_num_attention_heads=64,
                            swa_num_key_value_heads=8, swa_head_dim=192, swa_v_head_dim=128,
                            hybrid_layer_pattern=[*WINDOWS[:47], 0], moe_layer_freq=[0] + [1] * 47,
                            n_routed_experts=256, num_experts_per_tok=8, moe_intermediate_size=2048,
                            add_swa_attention_sink_bias=True, add_full_attention_sink_bias=False), 308778780864,
                      15445936320),
    "DeepSeek-V3": (deepseek("deepseek_v3", 61, 7168, 128, 129280, 18432, 256, 3, **latent(1536)), 671026419200,
                    37552297472, (1, 11610068224)),
    "DeepSeek-V3.2": (deepseek("deepseek_v32", 61, 7168, 128, 129280, 18432, 256, 3, **latent(1536), index_n_heads=64,
                               index_head_dim=128, index_topk=2048), 671877944064, 38403822336, (1, 11624027648)),
    "DeepSeek-V4-Flash": (shape("deepseek_v4", 43, 4096, 64, 1, 129280, head_dim=512, q_lora_rank=1024, o_groups=8,
                                o_lora_rank=1024, qk_rope_head_dim=64, sliding_window=128, index_n_heads=64,
                                index_head_dim=128, index_topk=512, hc_mult=4, n_routed_experts=256,
                                n_shared_experts=1, num_experts_per_tok=6, moe_intermediate_size=2048,
                                num_hash_layers=3, compress_ratios=RATIOS), 284332240471, 13799632471,
                          (1, 6610048891)),
    "gemma-4-26B-A4B": (shape("gemma4_text", 30, 2816, 16, 8, 262144, head_dim=256, global_head_dim=512,
                              num_global_key_value_heads=2, attention_k_eq_v=True, intermediate_size=2112,
                              enable_moe_block=True, num_experts=128, top_k_experts=8, moe_intermediate_size=704,
                              layer_types=GEMMA, sliding_window=1024, tie_word_embeddings=True), 25233141760,
                        3822530560),
    "Llama-4-Scout": (shape("llama4_text", 48, 5120, 40, 8, 202048, head_dim=128, intermediate_size=8192,
                            intermediate_size_mlp=16384, num_local_experts=16, num_experts_per_tok=1,
                            interleave_moe_layer_step=1, attention_chunk_size=8192), 107769861120, 17172894720),
    "Llama-4-Maverick": (shape("llama4_text", 48, 5120, 40, 8, 202048, head_dim=128, intermediate_size=8192,
                               intermediate_size_mlp=16384, num_local_experts=128, num_experts_per_tok=1,
                               interleave_moe_layer_step=2, attention_chunk_size=8192), 400711848960, 0),
    "SmolLM3-3B": (shape("smollm3", 36, 2048, 16, 4, 128256, intermediate_size=11008, no_rope_layer_interval=4,
                         use_sliding_window=False, tie_word_embeddings=True), 3075098624, 0),
    "Seed-OSS-36B": (shape("seed_oss", 64, 5120, 80, 8, 155136, head_dim=128, intermediate_size=27648,
                           attention_bias=True, attention_out_bias=False, mlp_bias=False), 36151104512, 0),
    "OLMo-2-7B": (shape("olmo2", 32, 4096, 32, 32, 100352, intermediate_size=11008), 7298617344, 0),
    "OLMo-3-7B": (shape("olmo3", 32, 4096, 32, 32, 100278, intermediate_size=11008, sliding_window=4096,
                        layer_types=(["sliding_attention"] * 3 + ["full_attention"]) * 8), 7298011136, 0),
    "ERNIE-4.5-0.3B": (shape("ernie4_5", 18, 1024, 16, 2, 103424, head_dim=128, intermediate_size=3072, use_bias=False,
                             tie_word_embeddings=True), 360748032, 0),
    "dots.llm1": (shape("dots1", 62, 4096, 32, 32, 152064, intermediate_size=10944, n_routed_experts=128,
                        n_shared_experts=2, num_experts_per_tok=6, moe_intermediate_size=1408, n_group=1, topk_group=1,
                        first_k_dense_replace=1, use_sliding_window=False), 142774381696, 0),
    # 131072 x 4096 twice, 32 layers of ungated blocks, each with two numbers of its activation
    "Apertus-8B": (shape("apertus", 32, 4096, 32, 8, 131072, intermediate_size=21504, hidden_act="xielu"),
                   2 * 131072 * 4096 + 4096 + 32 * (2 * 4096 * 4096 + 2 * 4096 * 1024 + 2 * 128 + 2 * 4096 * 21504 + 2 +
                                                    2 * 4096), 0),
    "Ling-lite": (shape("bailing_moe", 28, 2048, 16, 4, 126464, head_dim=128, intermediate_size=5632, use_bias=False,
                        use_qkv_bias=False, norm_head=False, num_shared_experts=2, first_k_dense_replace=0,
                        **experts(64, 6, 1408)), 16801974272, 0),
    "Ling-mini-2.0": (shape("bailing_moe_v2", 20, 2048, 16, 4, 157184, head_dim=128, intermediate_size=5120,
                            use_qk_norm=True, moe_router_enable_expert_bias=True, n_group=8, topk_group=4,
                            num_shared_experts=1, first_k_dense_replace=1, **experts(256, 8, 512)),
                      2 * 157184 * 2048 + 2048 + 20 * (2 * 2048 * 2048 + 2 * 2048 * 512 + 2 * 128 + 2 * 2048) +
                      3 * 2048 * 5120 + 19 * (257 * 3 * 2048 * 512 + 256 * 2049), 0),
    "Hunyuan-7B": (shape("hunyuan_v1_dense", 32, 4096, 32, 8, 128167, head_dim=128, intermediate_size=14336,
                         use_qk_norm=True, tie_word_embeddings=True),
                   128167 * 4096 + 4096 + 32 * (2 * 4096 * 4096 + 2 * 4096 * 1024 + 2 * 128 + 3 * 4096 * 14336 +
                                                2 * 4096), 0),
    "Hunyuan-A13B": (shape("hunyuan_v1_moe", 32, 4096, 32, 8, 128167, head_dim=128, intermediate_size=3072,
                           num_experts=64, moe_topk=[8] * 32, moe_intermediate_size=[3072] * 32, use_cla=False,
                           num_shared_expert=[1] * 32, use_mla=False, kv_lora_rank=None, tie_word_embeddings=True),
                     80393183232, 0),
    # 10 layers of convolutions, three matrices in, three taps and one matrix out, and 6 of attention; 12288 x 2/3
    "LFM2-1.2B": (shape("lfm2", 16, 2048, 32, 8, 65536, block_ff_dim=12288, block_auto_adjust_ff_dim=True,
                        block_multiple_of=256, block_ffn_dim_multiplier=1.0, conv_L_cache=3, conv_bias=False,
                        full_attn_idxs=[2, 5, 8, 10, 12, 14], tie_word_embeddings=True), 1170340608, 0),
    "Granite-4.0-H-Tiny": (granite(40, 1536, 12, 4, 48, 64, 128, 512, 1024, num_local_experts=64,
                                   num_experts_per_tok=6), GRANITE + 40 * 64 * (3 * 1536 * 512 + 1536), 0),
    "Granite-4.0-H-dense": (granite(40, 1536, 12, 4, 48, 64, 128, 512, 1024, num_local_experts=0,
                                    num_experts_per_tok=0), GRANITE, 0),
    "Granite-4.0-attention": (dict(granite(40, 1536, 12, 4, 48, 64, 128, 512, 1024, num_local_experts=0),
                                   layer_types=["attention"] * 40),
                              100352 * 1536 + 1536 + 40 * (2 * 1536 * 1536 + 2 * 1536 * 512 + 3 * 1536 * 1024 +
                                                           2 * 1536), 0),
    "Llama-3.1-8B": (shape("llama", 32, 4096, 32, 8, 128256, intermediate_size=14336), 8030261248, 0),
    "Llama-3.1-70B": (shape("llama", 80, 8192, 64, 8, 128256, intermediate_size=28672), 70553706496, 0),
    "Llama-3.1-405B": (shape("llama", 126, 16384, 128, 8, 128256, intermediate_size=53248), 405853388800, 0),
    "Mixtral-8x7B": (shape("mixtral", 32, 4096, 32, 8, 32000, intermediate_size=14336, num_local_experts=8,
                           num_experts_per_tok=2, sliding_window=None), 46702792704, 12879925248),
    "Kimi-K2": (deepseek("kimi_k2", 61, 7168, 64, 163840, 18432, 384, 1, n_group=1, topk_group=1, **latent(1536)),
                1026408232448, 32861500928),
    "Kimi-K3": (shape("kimi_linear", 93, 7168, 96, 96, 163840, intermediate_size=33792, mla_use_output_gate=True,
                      attn_res_block_size=12, num_experts=896, num_experts_per_token=16, num_shared_experts=2,
                      moe_intermediate_size=3072, first_k_dense_replace=1, routed_expert_hidden_size=3584,
                      latent_moe_use_norm=True, **latent(1536),
                      linear_attn_config={"kda_layers": K3, "num_heads": 96, "head_dim": 128,
                                          "full_attn_layers": [i for i in range(1, 94) if i not in K3],
                                          "short_conv_kernel_size": 4, "use_full_rank_gate": True}), 2779484476000,
                105364017760),
    "GLM-5": (deepseek("glm_moe_dsa", 78, 6144, 64, 154880, 12288, 256, 3, n_group=1, index_n_heads=32,
                       index_head_dim=128, index_topk=2048, mlp_layer_types=["dense"] * 3 + ["sparse"] * 75,
                       **latent(2048, 192, 256)), 743911218432, 41784728832, (1, 9952920576)),
    "GLM-5.2": (deepseek("glm_moe_dsa", 78, 6144, 64, 154880, 12288, 256, 3, n_group=1, index_n_heads=32,
                         index_head_dim=128, index_topk=2048,
                         indexer_types=["full"] * 3 + (["shared"] * 3 + ["full"]) * 18 + ["shared"] * 3,
                         **latent(2048, 192, 256)), 743377019904, 0),
    "Nemotron-3-Nano": (shape("nemotron_h", 52, 2688, 32, 2, 131072, head_dim=128, intermediate_size=1856,
                              mamba_num_heads=64, mamba_head_dim=64, n_groups=8, ssm_state_size=128, conv_kernel=4,
                              chunk_size=128, n_routed_experts=128, num_experts_per_tok=6, n_shared_experts=1,
                              moe_intermediate_size=1856, moe_shared_expert_intermediate_size=3712,
                              hybrid_override_pattern=NANO), 31577940288, 3580076352),
    "Nemotron-3-Super": (shape("nemotron_h", 88, 4096, 32, 2, 131072, head_dim=128, intermediate_size=2688,
                               mamba_num_heads=128, mamba_head_dim=64, n_groups=8, ssm_state_size=128, conv_kernel=4,
                               chunk_size=128, n_routed_experts=512, num_experts_per_tok=22, n_shared_experts=1,
                               moe_intermediate_size=2688, moe_shared_expert_intermediate_size=5376,
                               moe_latent_size=1024, hybrid_override_pattern=SUPER), 120668707840, 0),
}

SCENARIO = """platform: dgx-h100:1024
workload: transformer
model: {file: config.json, sequence: 512, parameters: %d%s}
parallel: {data: 1}
batch: {global: 1, micro: 1}
schedule: 1f1b
"""


def run(config, parameters, active=0, further=None):
    more = f", active_parameters: {active}" if active else ""
    more += f", predictions: {further[0]}, further_parameters: {further[1]}" if further else ""
    (FOLDER / "config.json").write_text(json.dumps(config, indent=1))
    (FOLDER / "job.yaml").write_text(SCENARIO % (parameters, more))
    return subprocess.run([STAGESIM, "check", str(FOLDER / "job.yaml")], capture_output=True, text=True)


def expect(good, what, result):
    global failures
    if not good:
        failures += 1
        print(f"{what}: exit {result.returncode}\n{result.stdout}{result.stderr}")


for name, (config, *counts) in MODELS.items():
    result = run(config, *counts)
    expect(result.returncode == 0, name, result)
    result = run({"text_config": config, "vision_config": {}, "quantization_config": {"quant_algo": "NVFP4"}},
                 counts[0] + 1)
    expect(result.returncode == 1 and f"the shape gives {counts[0]} parameters" in result.stderr, name, result)
    (FOLDER / "config.json").write_text(json.dumps(config))
    made = subprocess.run([STAGESIM, "import", str(FOLDER / "config.json")], capture_output=True, text=True)
    expect(f"has {counts[0]} parameters" in made.stdout and "does not know" not in made.stdout, name + ", import", made)

# Installed models are refused where their shape gives another number than the one that they state.
ROOT = pathlib.Path(__file__).resolve().parents[3]
INSTALLED = [file for file in sorted((ROOT / "workloads/models").glob("*.yaml")) if "\nhidden: " in file.read_text()]
expect(len(INSTALLED) >= 50, "installed models", run(MODELS["Qwen3-0.6B"][0], 596049920))
for file in INSTALLED:
    stated = SCENARIO.replace("{file: config.json, sequence: 512, parameters: %d%s}", str(file))
    (FOLDER / "job.yaml").write_text(stated)
    result = subprocess.run([STAGESIM, "check", str(FOLDER / "job.yaml")], capture_output=True, text=True)
    expect(result.returncode == 0, file.name, result)

# Towers of Qwen: text, its tower, and the tower's parameters.
def tower(depth, hidden, inner, out, deepstack):
    return {"depth": depth, "hidden_size": hidden, "intermediate_size": inner, "num_heads": 16, "in_channels": 3,
            "patch_size": 16, "temporal_patch_size": 2, "num_position_embeddings": 2304, "spatial_merge_size": 2,
            "out_hidden_size": out, "deepstack_visual_indexes": deepstack}


for name, vision, count in (("Qwen3-VL-235B-A22B", tower(27, 1152, 4304, 4096, [8, 16, 24]), 576388336),
                            ("Qwen3-VL-8B", tower(27, 1152, 4304, 4096, [8, 16, 24]), 576388336),
                            ("Qwen3-VL-2B", tower(24, 1024, 4096, 2048, [5, 11, 17]), 406957056),
                            ("Qwen3.5-27B", tower(27, 1152, 4304, 5120, []), 460730096),
                            ("Qwen3.5-35B-A3B", tower(27, 1152, 4304, 2048, []), 446571248)):
    for add in (0, 1):
        file = {"text_config": MODELS[name][0], "vision_config": vision}
        (FOLDER / "config.json").write_text(json.dumps(file))
        (FOLDER / "job.yaml").write_text(SCENARIO % (MODELS[name][1], f", tower_parameters: {count + add}"))
        result = subprocess.run([STAGESIM, "check", str(FOLDER / "job.yaml")], capture_output=True, text=True)
        expect((result.returncode == 0) != add, name + ", tower", result)

# Towers of CLIP, SigLIP and Qwen2.5-VL, by hand: a square of patches, layers, what makes tokens.
def encoder(layers, hidden, inner):
    return layers * (4 * hidden * hidden + 2 * hidden * inner + 9 * hidden + inner)


def square(kind, image, layers, hidden, heads, inner, **more):
    return {"model_type": kind, "image_size": image, "patch_size": 14, "num_hidden_layers": layers,
            "hidden_size": hidden, "num_attention_heads": heads, "intermediate_size": inner, **more}


CLIP, SIGLIP = square("clip_vision_model", 336, 24, 1024, 16, 4096), encoder(27, 1152, 4304) + 589 * 1152 + 2 * 1152
RMS = 32 * (4 * 1280 ** 2 + 4 * 1280 + 3 * 1280 * 3420 + 2 * 3420 + 1280 + 2 * 1280) + 1176 * 1280 + 1280 + \
    5120 ** 2 + 5120
QWEN25 = {"depth": 32, "hidden_size": 1280, "num_heads": 16, "intermediate_size": 3420, "in_channels": 3,
          "patch_size": 14, "spatial_merge_size": 2, "temporal_patch_size": 2, "window_size": 112,
          "out_hidden_size": 3584, "fullatt_block_indexes": [7, 15, 23, 31]}
gemma3 = shape("gemma3_text", 34, 2560, 8, 4, 262208, head_dim=256, intermediate_size=10240, tie_word_embeddings=True)
for kind, text, vision, count, tokens in (
        ("llava", MODELS["Llama-3.1-8B"][0], CLIP, encoder(24, 1024, 4096) + 588 * 1024 + 577 * 1024 + 1024 +
         4 * 1024 + 1025 * 4096 + 4097 * 4096, 576),
        ("llava_onevision", MODELS["Qwen3-8B"][0], square("siglip_vision_model", 384, 27, 1152, 16, 4304,
                                                          vision_use_head=False),
         SIGLIP + 729 * 1152 + 1153 * 4096 + 4097 * 4096 + 4096, 729),
        ("paligemma", MODELS["Qwen3-8B"][0], square("siglip_vision_model", 224, 27, 1152, 16, 4304,
                                                    vision_use_head=False), SIGLIP + 256 * 1152 + 1153 * 4096, 256),
        ("gemma3", gemma3, square("siglip_vision_model", 896, 27, 1152, 16, 4304, vision_use_head=False),
         SIGLIP + 4096 * 1152 + 1152 + 1152 * 2560, 256),
        ("qwen2_5_vl", qwen("qwen2_5_vl_text", 28, 3584, 28, 4, 18944), QWEN25, RMS + 5121 * 3584, 256)):
    file = {"model_type": kind, "text_config": text, "vision_config": vision, "mm_tokens_per_image": 256}
    sets = [f"--set=model.{key}" for key in ("sequence=4096", "tower_images=2")]
    sets += ["--set=model.tower_patches=1024"] if kind == "qwen2_5_vl" else []
    (FOLDER / "config.json").write_text(json.dumps(file))
    made = subprocess.run([STAGESIM, "import", str(FOLDER / "config.json"), "--platform", "dgx-h100:1", *sets,
                           "--set=batch.micro=1", "--set=batch.global=8", "-o", str(FOLDER / f"{kind}.yaml")],
                          capture_output=True, text=True)
    expect(made.returncode == 0 and "are left out: this is the language model" not in made.stderr, kind, made)
    for add, room in ((0, 0), (1, 0), (0, 2 * tokens), (0, 2 * tokens - 1)):
        more = [f"--set=model.tower_parameters={count + add}"] + ([f"--set=model.sequence={room}"] if room else [])
        result = subprocess.run([STAGESIM, "check", str(FOLDER / f"{kind}.yaml"), *more], capture_output=True,
                                text=True)
        good = not add and room != 2 * tokens - 1
        expect((result.returncode == 0) == good, f"{kind}, tower {count} {more}", result)

# Layers by their blocks: unequal ones, and those that a list says in place of a pattern.
BLOCK = {"attention": {"n_heads_in_group": 8, "no_op": False}, "ffn": {"ffn_mult": 2.625, "no_op": False}}
NONE = {"attention": {"no_op": True}, "ffn": {"ffn_mult": 0.5, "no_op": False}}
unequal = shape("nemotron-nas", 2, 8192, 64, None, 1000, intermediate_size=None, block_configs=[BLOCK, NONE])
attention, first, second = 2 * 8192 * 8192 + 2 * 8192 * 1024, 14336, 2816
expect(run(unequal, 2 * 1000 * 8192 + 8192 + attention + 3 * 8192 * (first + second) + 3 * 8192).returncode == 0,
       "nemotron-nas", run(unequal, 1))
words = {"M": "mamba", "*": "attention", "E": "moe"}
listed = dict(MODELS["Nemotron-3-Nano"][0], layers_block_type=[words[letter] for letter in NANO])
for key in ("hybrid_override_pattern", "num_hidden_layers"):
    del listed[key]
expect(run(listed, 31577940288).returncode == 0, "a list of blocks", run(listed, 1))

for biased in (True, False):
    run(dict(MODELS["Seed-OSS-36B"][0], attention_out_bias=biased), 36151104512)
    result = subprocess.run([STAGESIM, "import", str(FOLDER / "config.json")], capture_output=True, text=True)
    expect(("attention_out_bias" in result.stdout + result.stderr) == biased, "a bias that is left out", result)

# Which features a vision model gives on is told where it is not as usual.
for more, words in (({"vision_feature_layer": [-2, -5]}, "those of 2 layers beside each other"),
                    ({"vision_feature_layer": -2}, None), ({"vision_feature_layer": [-2]}, None),
                    ({"vision_feature_select_strategy": "full"}, "becomes a token, too"),
                    ({"vision_feature_select_strategy": "default"}, None)):
    run({"model_type": "llava", "text_config": MODELS["Llama-3.1-8B"][0], "vision_config": CLIP, **more}, 1)
    result = subprocess.run([STAGESIM, "import", str(FOLDER / "config.json")], capture_output=True, text=True)
    expect(words in result.stderr if words else "vision_feature" not in result.stderr, more, result)
# LFM2 with untied embeddings, and blocks that are rounded or not.
for more, count in (({"tie_embedding": False}, 1170340608 + 65536 * 2048),
                    ({"block_ffn_dim_multiplier": None, "block_ff_dim": 12300}, 1170340608 + 16 * 3 * 2048 * 8),
                    ({"block_ff_dim": 12300}, 1170340608 + 16 * 3 * 2048 * 256)):
    result = run(dict(MODELS["LFM2-1.2B"][0], **more), count)
    expect(result.returncode == 0, more, result)

# What cannot be meant is refused at its place.
llama, flash, nano = (MODELS[name][0] for name in ("Llama-3.1-8B", "DeepSeek-V4-Flash", "Nemotron-3-Nano"))
lfm2 = MODELS["LFM2-1.2B"][0]
hunyuan, granite4 = MODELS["Hunyuan-A13B"][0], MODELS["Granite-4.0-H-Tiny"][0]
kimi, gemma = MODELS["Kimi-K3"][0], MODELS["gemma-4-26B-A4B"][0]
linear = dict(BLOCK, ffn={"replace_with_linear": True})
for config, words in ((dict(flash, compress_ratios=[0] * 42 + [8]), ["'8'", "expected 0, 4, 128"]),
                      (dict(flash, compress_ratios=[0] * 10), ["10 layers", "43"]),
                      (dict(nano, hybrid_override_pattern="MM"), ["'MM'", "52 layers"]),
                      (dict(gemma, num_kv_shared_layers=4), ["num_kv_shared_layers", "no kind of layer"]),
                      (dict(unequal, block_configs=[linear, NONE]), ["linear map", "no kind of layer"]),
                      (dict(unequal, block_configs=[BLOCK]), ["block_configs", "entry for each layer"]),
                      (dict(kimi, linear_attn_config={"kda_layers": [94], "num_heads": 96}), ["'94'", "1 to 93"]),
                      (dict(llama, model_type="falcon_h9", layer_types=["parallel_mamba", "full_attention"]),
                       ["'falcon_h9'", "'parallel_mamba'", "no kind that stagesim has"]),
                      (dict(llama, model_type="jamba"), ["it has Mamba-1, no kind of layer that stagesim has"]),
                      (dict(llama, model_type="falcon_h1"), ["beside each other in one layer"]),
                      (dict(lfm2, conv_bias=True), ["conv_bias", "no kind of layer"]),
                      (dict(lfm2, conv_bias="yes"), ["conv_bias", "expected 0"]),
                      (dict(lfm2, full_attn_idxs=[16]), ["'16'", "layers from 0 to 15"]),
                      (dict(lfm2, full_attn_idxs=5), ["'5'", "expected a list of layers"]),
                      *((dict(lfm2, block_ffn_dim_multiplier=factor), ["block_ffn_dim_multiplier is", "columns"])
                        for factor in (0, -1, 1e30, "NaN")),
                      (dict(lfm2, block_ff_dim=10**15), ["block_ff_dim is", "1 to 16777216 columns"]),
                      (dict(llama, model_type="gemma3n_text"), ["embeddings of each layer"]),
                      (dict(hunyuan, use_cla=True), ["use_cla", "no kind of layer"]),
                      (dict(hunyuan, moe_topk=[8] * 31 + [4]), ["moe_topk", "'4'", "same count for all layers"]),
                      *((dict(hunyuan, moe_topk=[8] * count), [f"moe_topk has {count} values", "32 layers"])
                        for count in (0, 1, 31)),
                      (dict(granite4, mamba_n_heads=7), ["cannot be divided over 7 heads"]),
                      (dict(llama, model_type="zzz", ssm_state_size=128), ["M (Mamba-2)", "by hand"])):
    result = run(config, 1)
    expect(result.returncode == 1 and all(word in result.stderr.replace("\n           ", " ") for word in words), words,
           result)
sys.exit(failures > 0)
