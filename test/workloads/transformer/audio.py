#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""audio STAGESIM: towers of sound: their parameters, tensor by tensor, as import reads the files of four models; their
flop and state; images and sound that are given or drawn for each sample, and which ranks then wait."""
import json
import pathlib
import subprocess
import sys
import tempfile

STAGESIM = sys.argv[1]
FOLDER = pathlib.Path(tempfile.mkdtemp())
failures = 0
D, F, H = 1280, 5120, 4096
MODEL = {"layers": 8, "hidden": H, "heads": 32, "kv_heads": 8, "head_size": 128, "ffn": 12288, "gated": True,
         "sequence": 4096, "vocabulary": 32000, "norm": "rms", "biases": False, "tied": False, "dropout": False}
WHISPER = {"audio_layers": 32, "audio_hidden": D, "audio_heads": 20, "audio_ffn": F, "audio_inputs": 128}
IMAGES = {"tower_layers": 27, "tower_hidden": 1152, "tower_heads": 16, "tower_ffn": 4304, "tower_inputs": 1536,
          "tower_patches": 1024}


def expect(good, *what):
    global failures
    if not good:
        failures += 1
        print(*what)


def run(*sets, engine="analytic", parallel=None, batch=None, **model):
    job = {"platform": "dgx-h100:1", "workload": "transformer", "model": MODEL | model,
           "parallel": parallel or {"data": 1}, "batch": batch or {"global": 8, "micro": 1},
           "schedule": {"name": "1f1b", "recompute": "none"}, "compute": {"precision": "bf16", "efficiency": 0.5}}
    out = FOLDER / "out"
    subprocess.run(["rm", "-rf", str(out)], check=True)
    (FOLDER / "job.yaml").write_text(json.dumps(job))
    result = subprocess.run([STAGESIM, "run", str(FOLDER / "job.yaml"), "--engine", engine, "-o", str(out), "--quiet",
                             *[f"--set={each}" for each in sets]], capture_output=True, text=True)
    if result.returncode:
        return None, result.stderr.replace("\n           ", " ")
    summary = json.loads((out / "summary.json").read_text())
    return {**summary["time"], **summary["memory"]["parts"], **summary}, ""


# ---- parameters: tensors as transformers' modeling code makes them ----

def linear(inner, columns, bias=True):
    return inner * columns + (columns if bias else 0)


def encoder(layers, keys):
    layer = 3 * linear(D, D) + linear(D, D, keys) + linear(D, F) + linear(F, D) + 2 * 2 * D
    return layers * layer + 2 * D  # with the last normalisation


def whisper(positions):
    return linear(3 * 128, D) + linear(3 * D, D) + positions * D + encoder(32, False)


OMNI = linear(9, 480) + 2 * linear(9 * 480, 480) + linear(16 * 480, D, False) + encoder(32, True)
# Whisper large-v3 has 1,543,490,560 parameters, of which its decoder has all but these
decoder = 32 * (2 * (3 * linear(D, D) + linear(D, D, False)) + linear(D, F) + linear(F, D) + 3 * 2 * D)
expect(1543490560 - decoder - (51866 + 448 + 2) * D == whisper(1500), "the encoder of Whisper", whisper(1500))


def text(kind, hidden, layers, heads, kv, inner, vocabulary, **more):
    return {"model_type": kind, "hidden_size": hidden, "num_hidden_layers": layers, "num_attention_heads": heads,
            "num_key_value_heads": kv, "intermediate_size": inner, "vocab_size": vocabulary, **more}


def sound(kind, **more):
    return {"model_type": kind, "d_model": D, "encoder_layers": 32, "encoder_attention_heads": 20,
            "encoder_ffn_dim": F, "num_mel_bins": 128, "max_source_positions": 1500, **more}


experts = {"head_dim": 128, "num_experts": 128, "num_experts_per_tok": 8, "moe_intermediate_size": 768,
           "tie_word_embeddings": False}
eyes = {"depth": 27, "hidden_size": 1152, "intermediate_size": 4304, "num_heads": 16, "patch_size": 16,
        "spatial_merge_size": 2, "temporal_patch_size": 2, "in_channels": 3, "num_position_embeddings": 2304,
        "deepstack_visual_indexes": [8, 16, 24], "out_hidden_size": 2048}
FILES = {  # file, parameters of the tower, positions and tokens of 24 s, tokens that the layers of a clip see
    "Qwen2-Audio": ({"model_type": "qwen2_audio", "audio_config": sound("qwen2_audio_encoder"),
                     "text_config": {"model_type": "qwen2", "intermediate_size": 11008, "vocab_size": 156032}},
                    whisper(1500) + linear(D, 4096), 7754878976),
    "Voxtral": ({"model_type": "voxtral",
                 "audio_config": {"model_type": "voxtral_encoder", "hidden_size": D, "num_hidden_layers": 32,
                                  "num_attention_heads": 20, "intermediate_size": F, "num_mel_bins": 128,
                                  "max_source_positions": 1500},
                 "text_config": text("llama", 3072, 30, 32, 8, 8192, 131072, head_dim=128)},
                whisper(1500) + linear(4 * D, 3072, False) + linear(3072, 3072, False), 4014136320),
    "Qwen2.5-Omni": ({"model_type": "qwen2_5_omni", "talker_config": {"a": 1}, "thinker_config": {
        "model_type": "qwen2_5_omni_thinker", "audio_config": sound("qwen2_5_omni_audio_encoder", n_window=100),
        "text_config": text("qwen2_5_omni_text", 3584, 28, 28, 4, 18944, 152064)}},
                     whisper(0) + linear(D, 3584) + 2 * 3584, 7615616512),
    "Qwen3-Omni": ({"model_type": "qwen3_omni_moe", "code2wav_config": {"a": 1}, "thinker_config": {
        "model_type": "qwen3_omni_moe_thinker", "vision_config": eyes,
        "audio_config": sound("qwen3_omni_moe_audio_encoder", n_window=50, n_window_infer=800,
                              downsample_hidden_size=480),
        "text_config": text("qwen3_omni_moe_text", 2048, 48, 32, 4, 768, 152064, **experts)}},
                   OMNI + linear(D, D) + linear(D, 2048), 30532646912),
}
for name, (content, count, language) in FILES.items():
    (FOLDER / "config.json").write_text(json.dumps(content))
    sets = [f"--set=model.{key}={value}" for key, value in {
        "sequence": 4096, "audio_length": "24s", "audio_parameters": count, "parameters": language}.items()]
    if name == "Qwen3-Omni":
        sets += ["--set=model.tower_images=2", "--set=model.tower_patches=1024"]
    done = subprocess.run([STAGESIM, "import", str(FOLDER / "config.json"), "--platform", "dgx-h100:1", *sets,
                           "--set=batch.micro=1", "--set=batch.global=8", "-o", str(FOLDER / "job.yaml")],
                          capture_output=True, text=True)
    expect(not done.returncode, name, done.stderr)
    for wrong in (0, 1):
        done = subprocess.run([STAGESIM, "check", str(FOLDER / "job.yaml"),
                               *([f"--set=model.audio_parameters={count + wrong}"] if wrong else [])],
                              capture_output=True, text=True)
        expect(bool(done.returncode) == bool(wrong) and (not wrong or f"gives {count} param" in done.stderr), name,
               done.stderr)


def omni(seen={}, **more):
    thinker = FILES["Qwen3-Omni"][0]["thinker_config"]
    return {"model_type": "qwen3_omni_moe", "thinker_config": dict(
        thinker, vision_config=eyes | seen, audio_config=thinker["audio_config"] | more)}


whisper_of_15 = dict(FILES["Qwen2-Audio"][0], audio_config=sound("qwen2_audio_encoder", max_source_positions=750))
for content, words in ((whisper_of_15, "audio_clip: 15000ms"),
                       (dict(whisper_of_15, audio_config=[1]), "audio_config is a list; expected a map"),
                       (dict(whisper_of_15, audio_config=sound("parrot")), "the tower of model_type parrot is left"),
                       (dict(whisper_of_15, audio_config=sound("qwen2_audio_encoder", wings=2, dropout=0.1)),
                        "no key of qwen2_audio_encoder that stagesim knows"),
                       (omni(n_window=0), "n_window is 0; expected a count from 1"),
                       (omni(output_dim=5), "as wide as the language model, 2048"),
                       (omni({"patch_size": 0}), "patch_size is 0; expected a count from 1"),
                       (omni({"lashes": 9}), "no key of vision_config that stagesim knows")):
    (FOLDER / "config.json").write_text(json.dumps(content))
    (FOLDER / "job.yaml").unlink()
    done = subprocess.run([STAGESIM, "import", str(FOLDER / "config.json"), "-o", str(FOLDER / "job.yaml")],
                          capture_output=True, text=True)
    (FOLDER / "job.yaml").touch()
    said = " ".join(((FOLDER / "job.yaml").read_text() + done.stderr + done.stdout).replace("#", " ").split())
    expect(words in said, words, done.stderr, done.stdout)
(FOLDER / "config.json").write_text(json.dumps({
    "text_config": text("llama", 3072, 30, 32, 8, 8192, 131072),
    "audio_config": {"model_type": "gemma3n_audio", "conf_conv_kernel_size": 5}}))
done = subprocess.run([STAGESIM, "import", str(FOLDER / "config.json")], capture_output=True, text=True)
expect("conformers), a kind that stagesim lacks" in done.stdout + done.stderr, "conformers", done.stdout, done.stderr)

# ---- time: half the peak for every product, all else free ----

rate, none = 989e12 / 2, run(parallel={"data": 1})[0]["iteration_s"]


def layers(positions, seen):
    return 32 * positions * (8 * D * D + 4 * D * F + 4 * seen * D)


def front(frames):  # of Whisper
    return 2 * frames * 3 * 128 * D + 2 * frames / 2 * 3 * D * D


def ocean(seconds):  # Qwen3-Omni's convolutions, of chunks of 100 frames, whose bins are halved as well
    return seconds * 2 * (50 * 64 * 9 * 480 + (25 * 32 + 13 * 16) * 9 * 480 * 480 + 13 * 16 * 480 * D)


CASES = {
    "whole clips": ({"audio_padded": True, "audio_pool": 2, "audio_length": "40s"},
                    front(6000) + layers(3000, 1500) + 2 * 1500 * D * H),
    "shares of them": ({"audio_pool": 2, "audio_length": "45s"}, front(4500) + layers(2250, 1500) + 2 * 1125 * D * H),
    "stacked": ({"audio_merge": 4, "audio_projector": H, "audio_length": "30s", "audio_padded": True},
                front(3000) + layers(1500, 1500) + 2 * 375 * (4 * D * H + H * H)),
    "windows": ({"audio_clip": "2s", "audio_pool": 2, "audio_length": "30s"},
                front(3000) + layers(1500, 100) + 2 * 750 * D * H),
    "chunks": ({"audio_clip": "8s", "audio_strides": [2, 2, 2], "audio_channels": 480, "audio_chunk": 100,
                "audio_projector": D, "audio_length": "24s"},
               ocean(24) + layers(24 * 13, 104) + 2 * 24 * 13 * (D * D + D * H)),
}
for name, (keys, forward) in CASES.items():
    frozen, why = run(audio_frozen=True, **WHISPER, **keys)
    expect(frozen and abs((frozen["iteration_s"] - none) * rate / (8 * forward) - 1) < 0.01, name, why,
           frozen and (frozen["iteration_s"] - none) * rate / 8 / forward)
trained, why = run(**WHISPER, audio_length="30s")
frozen, why = run(**WHISPER, audio_length="30s", audio_frozen=True)
share = (trained["iteration_s"] - none) / (frozen["iteration_s"] - none)
expect(3 < share < 3.2, "a backward of twice the forward, and scores once more", share)
kept = {key: trained[key] - frozen[key] for key in ("gradients_bytes", "optimizer_bytes", "activations_bytes")}
size = linear(3 * 128, D) + linear(3 * D, D) + encoder(32, True) + linear(D, H)
expect(kept["gradients_bytes"] == 4 * size and kept["optimizer_bytes"] == 12 * size, "state", kept, size)
# A layer keeps 34 columns without masks of dropout and scores (Korthikanti et al., less 1 + 1 for the masks); before
# the layers frames and both convolutions, before and behind their activations; behind them what is projected.
ends = 3000 * 128 + 2 * 3000 * D + 1500 * D + 1500 * D
expect(abs(kept["activations_bytes"] / (32 * 32 * 1500 * D + 2 * ends) - 1) < 0.1, "activations",
       kept["activations_bytes"], 32 * 32 * 1500 * D + 2 * ends)
both, why = run(**WHISPER, **IMAGES, audio_length="30s", tower_images=2)
image, why = run(**IMAGES, tower_images=2)
expect(abs(both["iteration_s"] - trained["iteration_s"] - image["iteration_s"] + none) < 1e-6 * none, "two towers")

# ---- samples that differ: sample k of micro-batch m of rank r of R is number (m R + r) b + k ----

IMAGES["tower_frozen"] = True  # otherwise other gradients are synchronised beside its backward
one = (run(**IMAGES, tower_images=1)[0]["iteration_s"] - none) / 8
counts = [3, 0, 1, 0, 2, 5, 0, 4]
for data, micro in ((1, 1), (2, 1), (4, 1), (2, 2)):
    shape = {"parallel": {"data": data}, "batch": {"global": 8, "micro": micro}}
    empty = run(**shape)[0]["iteration_s"]
    told, why = run(**IMAGES, tower_image_list=counts, **shape)
    ranks = [sum(counts[(m * data + r) * micro + k] for m in range(8 // data // micro) for k in range(micro))
             for r in range(data)]
    expect(told and abs((told["iteration_s"] - empty) / (max(ranks) * one) - 1) < 0.01, "given", data, micro, why,
           told and (told["iteration_s"] - empty) / one, ranks)
shape = {"parallel": {"data": 4}, "batch": {"global": 32, "micro": 1}}
drawn = [run(**IMAGES, tower_image_counts={"log-normal": {"median": 1, "mean": 2}}, tower_seed=seed, engine=engine,
             **shape)[0]["iteration_s"] for seed, engine in ((1, "analytic"), (1, "simgrid"), (2, "analytic"))]
expect(abs(drawn[0] / drawn[1] - 1) < 0.01 and drawn[0] != drawn[2], "seeds", drawn)
same = [run(**IMAGES, **keys, **shape)[0]["iteration_s"] for keys in ({"tower_image_counts": 2}, {"tower_images": 2})]
expect(abs(same[0] / same[1] - 1) < 1e-9, "all alike", same)
long, why = run(**WHISPER, audio_lengths={"log-normal": {"median": "10s", "mean": "20s"}}, **shape)
mean, why = run(**WHISPER, audio_length="20s", **shape)
expect(long["iteration_s"] > 1.02 * mean["iteration_s"], "ranks wait", long["iteration_s"], mean["iteration_s"])
pipe = {"parallel": {"pipeline": 4, "data": 2}, "batch": {"global": 16, "micro": 1}}
# What is drawn has the room that what is given leaves: 2500 tokens of sound, or 6 images.
full, why = run(**IMAGES, **WHISPER, tower_image_counts={"uniform": [99, 101]}, audio_length="50s", **shape)
six, why = run(**IMAGES, **WHISPER, tower_images=6, audio_length="50s", **shape)
expect(full and abs(full["iteration_s"] / six["iteration_s"] - 1) < 1e-9 and
       "32 of 32 samples have only as much" in str(full["scenario"].get("notes")), "room", full, why)
for sets in ((), ("schedule=zb-h1",), ("schedule.recompute=full",), ("transformer.granularity=layer",),
             ("transformer.zero=1",), ("schedule=interleaved", "schedule.chunks=2"), ("transformer.adapter_rank=8",)):
    result, why = run(*sets, **WHISPER, **IMAGES, tower_image_counts={"uniform": [0, 4]},
                      audio_length_list=["5s", "9s"], **pipe)
    expect(result, sets, why)

# ---- what cannot be ----

for keys, words in ((WHISPER | {"audio_heads": 3}, "of which the former is a multiple"),
                    (WHISPER | {"audio_inputs": None}, "model.audio_inputs, the numbers of a frame"),
                    (WHISPER | {"audio_clip": "1ms"}, "no frame that a layer sees"),
                    (WHISPER | {"audio_strides": [1] * 7}, "at most 6 strides"),
                    ({"audio_rate": 50}, "model.audio_rate changes nothing here; it needs model.audio_layers"),
                    ({"audio_key_biases": False}, "it needs model.audio_layers"),
                    (IMAGES | {"tower_images": 17}, "4352 tokens of images, which do not fit into a sequence of 4096"),
                    (IMAGES | {"tower_image_list": [1, 17]}, "a sample has 4352 tokens of images, which do not fit"),
                    (WHISPER | IMAGES | {"tower_images": 8, "audio_length": "50s"}, "4548 tokens of images and sound"),
                    (WHISPER | IMAGES | {"tower_image_list": [0, 8], "audio_length_list": ["50s"]},
                     "has 4548 tokens of images and sound, which do not fit"),
                    (IMAGES | {"tower_image_counts": 17}, "4352 tokens of images, which do not fit into a sequence"),
                    (WHISPER | {"audio_padded": True, "audio_padding_passed": True, "audio_length": "61s"},
                     "4500 tokens of sound, which do not fit"),
                    (WHISPER | {"audio_padded": True, "audio_padding_passed": True, "audio_length_list": ["61s"]},
                     "4500 tokens of sound, which do not fit"),
                    (WHISPER | {"audio_positions": 1499}, "more positions than audio_positions are learned"),
                    (IMAGES | {"tower_images": 1, "tower_image_list": [1]}, "say the same in several ways"),
                    (IMAGES | {"tower_images": 1, "tower_seed": 3}, "it needs model.tower_image_counts"),
                    (IMAGES | {"tower_image_list": [0]}, "no sample of an iteration has any images")):
    result, why = run(**{key: value for key, value in keys.items() if value is not None})
    expect(result is None and words in why, keys, why)
for told in ({"tower_image_list": [1, 2]}, {"tower_images": 2}):  # nobody knows which slice has which images
    result, why = run("schedule=seq1f1b", "schedule.slices=4", **IMAGES, **told, parallel={"pipeline": 4, "data": 2})
    expect(result is None and "that a tower makes of images" in why, "slices", why)
for keys in ({}, {"audio_lengths": "61s"}, {"audio_length_list": ["61s"]}):  # 3050 tokens of 4500 positions
    result, why = run(**WHISPER, audio_padded=True, **(keys or {"audio_length": "61s"}))
    expect(result, "padding has no room of its own", keys, why)
sys.exit(failures > 0)
