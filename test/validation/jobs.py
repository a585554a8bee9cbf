#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""jobs.py STAGESIM SET...: published training jobs (test/validation/jobs, each file names its source and licence)
beside stagesim's predictions, by framework and class of model.

Sets are simumax, default, torchtitan, bridge, nemo and long, each with the compute that its framework's jobs are
predicted with.
Prints each row and, by class, errors of throughput (+: too fast): mean, bias and worst, with those rows apart that
something was fitted to. Fails where a class leaves the band around MEASURED. What a row needs and its source does not
say is an assumption, written beside the set. Rows of models without a shape in models.csv are left out."""
import collections
import csv
import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
FOLDER = os.path.join(HERE, "jobs")
STAGESIM = os.path.abspath(sys.argv[1])
MARGINS = 0.005, 0.01  # of the mean upwards, of the bias both ways
PRESETS = {"A100-80GB": "dgx-a100", "H100": "dgx-h100", "B200": "dgx-b200", "GB200": "gb200-nvl72",
           "GB300": "gb300-nvl72", "B200-180GB": "dgx-b200", "H100-96GB-HBM2e-500W": "dgx-h100"}
NAMES = {"Qwen3_30B_a3B": "Qwen3-30B-A3B", "Qwen3_235B_a22B": "Qwen3-235B-A22B", "DeepSeekV3": "DeepSeek-V3",
         "GPT OSS 120B": "GPT-OSS-120B", "LLAMA3.1_405B": "Llama3.1-405B", "Llama3.1-8B": "Llama3-8B",
         "Llama3.1-70B": "Llama3-70B", "GPT3-175B": "GPT-175B", "Llama3-405B": "Llama3.1-405B",
         "Kimi_K2": "Kimi-K2"}


def table(name):
    with open(os.path.join(FOLDER, name)) as file:
        return list(csv.DictReader(line for line in file if not line.startswith("#")))


MODELS = {row["model"]: row for row in table("models.csv")}
RECIPES = table("megatron-bridge-recipes.csv")


def shape(name):
    """The model's keys, or None where its shape is not in models.csv."""
    cut = re.fullmatch(r"(.*) (\d+) layers", name)
    base = cut[1] if cut else name
    base = NAMES.get(base, re.sub(r"^LLAMA(\d)_", r"Llama\1-", base))
    if base not in MODELS:
        return None
    model = dict(MODELS[base])
    if cut:
        model["layers"] = cut[2]
        if int(model["dense_layers"]):
            model["dense_layers"] = "1"
        if base == "Llama3.1-405B":
            model["kv_heads"] = "16"
    return model


def model_text(model, sequence, more=""):
    keys = ["layers", "hidden", "heads", "kv_heads", "head_size", "ffn", "gated", "vocabulary"]
    if int(model["experts"]):
        keys += ["experts", "top_k", "expert_ffn", "shared_experts", "dense_layers"]
    if int(model["kv_rank"]):
        keys += ["query_rank", "kv_rank", "rope_size"]
    text = ", ".join(f"{key}: {model[key]}" for key in keys)
    biases = str(int(model["window"]) > 0).lower()  # GPT-OSS has windows, sinks and biases
    if int(model["window"]):
        text += f", window: {model['window']}, window_period: 2, sinks: true"
    return f"{{{text}, sequence: {sequence}, tied: false, biases: {biases}, dropout: false, norm: rms{more}}}"


def number(row, key, default=1):
    return int(row[key]) if row[key] else default


def placed(model, stages):
    """Layers that stages do not divide: the first and the last one have fewer, as NVIDIA's recipes have it."""
    layers = int(model["layers"])
    if layers % stages == 0:
        return ""
    most = -(-layers // stages)
    short = most * stages - layers
    counts = [most] * stages
    for i in range(short):
        counts[-1 - i // 2 if i % 2 == 0 else i // 2] -= 1
    return f", layers_per_stage: {counts}"


def predicting(model, stages):
    """The same where the last stage predicts a further token: it has what the others leave (Et*4|(t*4|)*14tmL)."""
    most = -(-int(model["layers"]) // stages)
    counts = [most] * (stages - 1) + [int(model["layers"]) - most * (stages - 1)]
    return f", layers_per_stage: {counts}" if counts[-1] > 0 else placed(model, stages)


LAYOUT = "tensor", "pipeline", "chunks", "expert", "micro_batch"


def recipe_of(row):
    """What the recipe of a row's release sets beside what the tables print; None: nothing is known."""
    release = row["source"].removeprefix("bridge-")
    for recipe in RECIPES:
        words = ((recipe["model"], row["model"]), (recipe["gpu"], row["gpu"]), (recipe["precision"], row["precision"]))
        if all(wanted in ("*", given_word) for wanted, given_word in words) and \
                recipe["first"] <= release <= recipe["last"]:
            return recipe
    return None


def with_recipe(row, model, recipe):
    """The row in the recipe's layout, and further words of the sections model, transformer and schedule."""
    row = dict(row, **dict(zip(LAYOUT, recipe["layout"].split())))
    words, e = {"model": "", "transformer": "", "schedule": ""}, number(row, "expert")
    if recipe["exchange"] == "deepep":
        node = 64 if row["gpu"] in ("GB200", "GB300") else 8
        words["transformer"] += ", expert_exchange: deepep" + (f", expert_node: {node}" if e > node else "")
        if int(model["groups"]):
            words["model"] += f", expert_groups: {model['groups']}, top_groups: {model['top_groups']}"
    elif recipe["exchange"]:
        words["transformer"] += f", expert_exchange: {recipe['exchange']}"
    if recipe["optimizer"] != "adam":
        words["transformer"] += f", optimizer: {recipe['optimizer']}"
    if int(recipe["predictions"]):
        words["model"] += f", predictions: {recipe['predictions']}"
    if recipe["overlap"] == "yes":
        chunks = number(row, "chunks")
        words["schedule"] = "name: combined-1f1b" + (f", chunks: {chunks}" if chunks > 1 else "")
    return row, words


def scenario(row, model, framework, compute="", transformer="", recompute=None, platform=None, recipe=None):
    """compute, transformer: further keys of these sections, which count before the framework's; recipe: recipe_of()."""
    row, words = with_recipe(row, model, recipe) if recipe else (row, {"model": "", "transformer": "", "schedule": ""})
    t, p, c, e = (number(row, key) for key in ("tensor", "pipeline", "context", "expert"))
    gpus, chunks = int(row["gpus"]), number(row, "chunks")
    preset = PRESETS[row["gpu"]]
    each = min(gpus, 64) if preset.endswith("nvl72") else min(gpus, 8)
    zero = {"zero1": 1, "zero2": 2, "fsdp2": 3, "zero3": 3}.get(row["sharded"], 1)
    schedule = words["schedule"] or (
        f"name: interleaved, chunks: {chunks}" if chunks > 1 and p > 1 else "name: 1f1b")
    layers = predicting(model, p * chunks) if "predictions" in words["model"] else placed(model, p * chunks)
    recompute = recompute or (row["recompute"] if row["recompute"] in ("full", "none") else "none")
    platform = platform or f"{{preset: {preset}, nodes: {gpus // each}, gpus_per_node: {each}}}"
    expert = f", expert: {e}" + (", expert_tensor: 1" if t > 1 else "") if e > 1 else ""
    context = f", context: {c}" if c > 1 else ""
    order = "[tensor, " + ("context, " if c > 1 else "") + "data, pipeline]"
    micro = number(row, "micro_batch", 1)
    scaling = f", scaling: {row['precision'].lower()}" if row["precision"] in ("MXFP8", "NVFP4") else ""
    return f"""platform: {platform}
framework: {framework}
workload: transformer
model: {model_text(model, row["sequence"], words["model"])}
parallel: {{tensor: {t}, data: {gpus // (t * p * c)}, pipeline: {p}{context}{expert}}}
order: {order}
batch: {{global: {row["global_batch"]}, micro: {micro}}}
transformer: {{zero: {zero}, sequence_parallel: {str(t > 1).lower()}{layers}{words["transformer"]}{transformer}}}
schedule: {{{schedule}, recompute: {recompute}}}
compute: {{precision: {"bf16" if row["precision"] == "BF16" else "fp8"}{scaling}{compute}}}
engine: analytic
"""


def predict(folder, text):
    path = os.path.join(folder, "row.yaml")
    with open(path, "w") as file:
        file.write(text)
    done = subprocess.run([STAGESIM, "run", path, "-o", os.path.join(folder, "out"), "--quiet"], capture_output=True,
                          text=True)
    if done.returncode:
        return None, done.stderr.strip().splitlines()[0]
    with open(os.path.join(folder, "out", "summary.json")) as file:
        return json.load(file), ""


# ---- what each set's rows are predicted with: (class, keyword arguments of scenario), or None ----


def kind(model):
    return "MoE" if int(model["experts"]) else "dense"


def simumax(row, model, folder):
    """Megatron-LM on the machine of the kernels' source simumax-b200, without overlap, as the source says. One number,
    the clock, is fitted to the dense rows that a hash gives. Memory is that of the allocator, without what
    lies beside it."""
    name = "long context" if number(row, "context") > 1 else kind(model)
    name += (", fitted" if given(row) else ", others") if name == "dense" else ""
    return name, {"framework": "megatron", "compute": ", kernels: measured, source: simumax-b200, clock: 0.93",
                  "transformer": ", extra_memory: 0B"}


def default(row, model, folder):
    """The same jobs with `kernels: measured` and nothing else said: what is taken by itself are the kernels of a
    library that trains. Nothing is fitted. With those of inference libraries, which counted before, the biases were
    +39.5 % with experts, +31.6 % without and +18.0 % of long contexts."""
    name = "long context" if number(row, "context") > 1 else kind(model)
    return name, {"framework": "megatron", "compute": ", kernels: measured"}


def slow_memory(folder, nodes):
    """The H100 of these rows: 96 GB of HBM2e at 2.4 TB/s."""
    path = os.path.join(folder, f"hbm2e-{nodes}.xml")
    if not os.path.exists(path):
        subprocess.run([STAGESIM, "platform", "generate", "dgx-h100", "--nodes", str(nodes), "-o", path], check=True)
        with open(path) as file:
            text = file.read()
        changed = re.sub(r'(memory_bandwidth" value=")[^"]*', r"\g<1>2.4TBps", text)
        assert changed != text
        with open(path, "w") as file:
            file.write(changed)
    return path


def torchtitan(row, model, folder):
    """Measured kernels at 0.72 of the clock of short runs: 0.87 that a GPU sustains at 700 W, times 0.83 for 500 W
    ((500 - 150) / (700 - 150) to the power of 0.4), at the lower end of what is known of it, which the given rows
    prefer. Attention is FlashAttention-2 of PyTorch (335 of 989 Tflop/s). Rows with pipelines do not say the size of
    micro-batches and are left out, and rows scaled by row, whose products are other kernels."""
    if number(row, "pipeline") > 1 or "rowwise" in row["precision"]:
        return None
    side = "fitted" if given(row) else "others"
    keywords = {"framework": "torchtitan", "compute": ", clock: 0.72, flash: 0.34",
                "transformer": ", extra_memory: 0B",
                "platform": slow_memory(folder, int(row["gpus"]) // 8)}
    if "compile" in row["options"]:
        keywords["compute"] += ", unfused: 1"
    if "async-tp" in row["options"]:
        keywords["transformer"] += ", tensor_overlap: true"
    if row["recompute"] == "selective-op":
        keywords["recompute"] = "operators"
    return f"dense, {row['precision'].lower()}, {side}", keywords


def bridge(row, model, folder):
    """NVIDIA's recipes: sequence parallelism with its communication beside the products, nothing recomputed, forced
    balance; what megatron-bridge-recipes.csv says of each. B300 is no preset; fine-tuning is left out. Each row has the
    profile of its release, or of the one before where its recipe has none of the new release's parts. Nothing is fitted
    to rows of GB300 and of NVFP4, which are classes of their own. The host's time for each expert is fitted to the rows
    with experts that a hash gives."""
    if row["gpu"] not in PRESETS or row["task"] != "pre-training":
        return None
    apart = ", NVFP4" if row["precision"] == "NVFP4" else ", GB300" if row["gpu"] == "GB300" else ""
    side = (", fitted" if given(row) else ", others") if kind(model) == "MoE" and not apart else ""
    release, recipe = row["source"].removeprefix("bridge-"), recipe_of(row)
    late = release >= "26.06" and (not recipe or recipe["graphs"] == "iteration")
    name = f", {'26.06 and later' if late else 'before 26.06'}" if kind(model) == "MoE" else ""
    older = kind(model) == "MoE" and release >= "26.06" and not late
    return kind(model) + name + apart + side, {"framework": f"nemo@{'26.04' if older else release}", "recipe": recipe}


def nemo(row, model, folder):
    """The same; fine-tuning with adapters is left out, and long rows count attention in flop."""
    if row["task"] == "lora" or not row["tokens_per_s_gpu"] or row["gpu"] not in PRESETS:
        return None
    return kind(model), {"framework": "nemo"}


def flop_of_token(model, sequence):
    """As NeMo counts them, half of the square of causal attention (nemo/utils/flops_formulas.py)."""
    layers, hidden, heads, kv_heads, ffn, vocabulary = (
        int(model[key]) for key in ("layers", "hidden", "heads", "kv_heads", "ffn", "vocabulary"))
    return layers * hidden**2 * (12 + 12 * kv_heads / heads + 18 * ffn / hidden + 6 * sequence / hidden +
                                 6 * vocabulary / (layers * hidden))


def long(row, model, folder):
    """NeMo's long sequences, of which teraflop/s are published: with them on one to eight context-parallel ranks, and
    one sequence for each replica. A row whose replicas are more than its sequences is left out. Nothing is fitted. On
    B200 attention has to run in 8 bits: 1,590 of the published Tflop/s are nearly all attention's, and cuDNN reaches
    1,418 in 16 bits and 1,753 in 8 on GB200 (forward and backward, 16,384 tokens, causal; NVIDIA/cudnn-frontend
    benchmark/sdpa_benchmark_training/results @ 3929da2)."""
    t, p, c = (number(row, key) for key in ("tensor", "pipeline", "context"))
    if "long" not in row["source"] or int(row["gpus"]) // (t * p * c) > int(row["global_batch"]):
        return None
    return f"dense, {row['gpu']}", {"framework": "nemo",
                                    "compute": f", flash: {1753 / 2250:.2f}" if row["gpu"] == "B200" else ""}


SETS = {"simumax": ("simumax-b200.csv", simumax), "torchtitan": ("torchtitan.csv", torchtitan),
        "bridge": ("megatron-bridge.csv", bridge), "nemo": ("nemo.csv", nemo)}
# Jobs that are among those already, or without a rate of tokens: they count in no band.
AGAIN = {"default": ("simumax-b200.csv", default), "long": ("nemo.csv", long)}


def given(row):
    """Half of the rows, by a hash."""
    return hashlib.sha256(repr(sorted(row.items())).encode()).digest()[0] % 2 == 0


def label(row):
    parts = " ".join(f"{letter}{row[key]}" for letter, key in
                     (("t", "tensor"), ("p", "pipeline"), ("v", "chunks"), ("c", "context"), ("e", "expert"),
                      ("b", "micro_batch")) if number(row, key) > 1)
    options = f"{row['recompute']} {row['options'][:20]}"
    return f"{row['model']}, {row['gpus']} {row['gpu']} {row['precision']} {options} {parts}"


def run_set(name, folder):
    file, settings = (SETS | AGAIN)[name]
    errors, wrong = collections.defaultdict(list), False
    print(f"{name}: {settings.__doc__}")
    for row in table(file):
        model = shape(row["model"])
        with_what = settings(row, model, folder) if model else None
        if not with_what:
            continue
        group, keywords = with_what
        summary, fault = predict(folder, scenario(row, model, **keywords))
        if not summary:
            print(f"  {label(row):88} {fault}")
            wrong = True
            continue
        tokens = summary["throughput"]["tokens_per_s"] / int(row["gpus"])
        measured = float(row["tokens_per_s_gpu"] or
                         float(row["tflops_gpu"]) * 1e12 / flop_of_token(model, int(row["sequence"])))
        error = tokens / measured - 1
        errors[group].append(error)
        both = re.sub(", (fitted|others)$", "", group)
        if both != group:
            errors[both].append(error)
        held = ""
        if row["memory_gib"] and name in ("simumax", "torchtitan"):
            errors["memory"].append(summary["memory"]["peak_bytes"] / 2**30 / float(row["memory_gib"]) - 1)
            held = f"{errors['memory'][-1]:+8.1%} of memory"
        print(f"  {label(row):88}{measured:10.5g}{tokens:10.5g}{error:+8.1%}{held}")
    return errors, wrong


# Mean and bias when they were last looked at. A change that moves one beyond its margin has to say why.
MEASURED = {
    ("simumax", "dense"): (0.0320, 0.0003),
    ("simumax", "dense, others"): (0.0367, 0.0059),
    ("simumax", "dense, fitted"): (0.0280, -0.0044),
    ("simumax", "MoE"): (0.0613, 0.0590),
    ("simumax", "long context"): (0.0170, -0.0160),
    ("simumax", "memory"): (0.0212, -0.0178),
    ("default", "dense"): (0.0604, 0.0604),
    ("default", "MoE"): (0.1195, 0.1195),
    ("default", "long context"): (0.0546, 0.0546),
    ("torchtitan", "dense, bf16"): (0.0885, 0.0885),
    ("torchtitan", "dense, bf16, fitted"): (0.1108, 0.1108),
    ("torchtitan", "dense, bf16, others"): (0.0549, 0.0549),
    ("torchtitan", "dense, fp8"): (0.0415, -0.0361),
    ("torchtitan", "dense, fp8, fitted"): (0.0113, 0.0022),
    ("torchtitan", "dense, fp8, others"): (0.0616, -0.0616),
    ("torchtitan", "memory"): (0.0934, -0.0934),
    ("bridge", "dense"): (0.0506, 0.0349),
    ("bridge", "dense, GB300"): (0.0387, -0.0342),
    ("bridge", "dense, NVFP4"): (0.0421, 0.0029),
    ("bridge", "MoE, before 26.06, GB300"): (0.0595, -0.0207),
    ("bridge", "MoE, 26.06 and later, GB300"): (0.1312, -0.1312),
    ("bridge", "MoE, before 26.06"): (0.0938, 0.0461),
    ("bridge", "MoE, before 26.06, fitted"): (0.0631, 0.0271),
    ("bridge", "MoE, before 26.06, others"): (0.1158, 0.0596),
    ("bridge", "MoE, 26.06 and later"): (0.0499, -0.0343),
    ("bridge", "MoE, 26.06 and later, fitted"): (0.0578, -0.0515),
    ("bridge", "MoE, 26.06 and later, others"): (0.0437, -0.0206),
    ("long", "dense, B200"): (0.0371, -0.0039),
    ("long", "dense, H100"): (0.0379, -0.0067),
    ("nemo", "dense"): (0.0298, -0.0298),
}
# The mean error that is aimed at. Sets beyond it are named in doc/accuracy.md.
BARS = {("simumax", "dense"): 0.06, ("simumax", "MoE"): 0.08, ("simumax", "long context"): 0.08,
        ("simumax", "memory"): 0.05, ("torchtitan", "dense, bf16"): 0.10, ("torchtitan", "dense, fp8"): 0.08,
        ("long", "dense, H100"): 0.08, ("long", "dense, B200"): 0.08,
        ("bridge", "dense"): 0.10, ("bridge", "MoE, before 26.06"): 0.15, ("bridge", "MoE, 26.06 and later"): 0.08}


def main():
    wrong = False
    with tempfile.TemporaryDirectory() as folder:
        for name in sys.argv[2:] or SETS | AGAIN:
            errors, failed = run_set(name, folder)
            wrong |= failed
            for group, found in sorted(errors.items()):
                mean, bias = sum(map(abs, found)) / len(found), sum(found) / len(found)
                before = MEASURED.get((name, group))
                outside = not before or mean > before[0] + MARGINS[0] or abs(bias - before[1]) > MARGINS[1]
                bar = BARS.get((name, group))
                aim = f", aim {bar:.0%}{'' if mean <= bar else ': MISSED'}" if bar else ""
                print(f"{name}, {group}: {len(found)} rows, mean {mean:.2%}, bias {bias:+.2%}, worst "
                      f"{max(map(abs, found)):.2%}{aim}{', outside of ' + str(before) if outside else ''}")
                wrong |= outside
    return wrong


if __name__ == "__main__":
    sys.exit(main())
