#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""platforms.py STAGESIM: whether platforms are put in the right order. Published jobs of one model on several GPUs and
in several sizes, each with the layout that it was run in: the rank correlation (Spearman) of predicted with measured
speed per GPU, by model and over all of them. Speed is model flop/s per GPU, so that models can be compared; of one
model at one length that is the same order as tokens/s.

Rows: test/validation/jobs (NeMo and Megatron Bridge of NVIDIA, MLPerf Training 5.0; each file names its source), and
two papers: Megatron-LM's Table 1 (arXiv 2104.04473, A100) and Llama 3's Table 4 (arXiv 2407.21783: 8,192 and 16,384
H100). Nothing is fitted here. MLPerf's rows do not say the chunks of a stage; 8 are assumed, as their configurations
usually have. Rows of GPUs without a preset are left out, and fine-tuning. Fails where a correlation falls
by more than a hundredth below what it was when it was last looked at."""
import collections
import itertools
import sys
import tempfile

import jobs
import transformer

jobs.PRESETS |= {"H100-SXM5-80GB": "dgx-h100", "GB200-186GB": "gb200-nvl72"}
MARGIN = 0.01
# Spearman when it was last looked at: of all rows of a model on three platforms; of all rows of all models; of the
# means of a model, a precision and a platform.
# Llama3.1-405B had 0.978 before its two context-parallel ranks sent keys and values around a ring: rows in MXFP8 with
# these are as fast as rows in fp8 without now, while fp8 was 4 to 8 % faster.
MEASURED = {"DeepSeek-V3": 0.948, "GPT-OSS-120B": 0.845, "Llama3-70B": 0.951, "Llama3-8B": 0.894,
            "Llama3.1-405B": 0.852, "Qwen3-235B-A22B": 0.900, "Qwen3-30B-A3B": 0.950, "rows": 0.989, "means": 0.991}
# Pairs of platforms in the right order, of one model and precision.
RIGHT, PAIRS = 20, 21


def ranks(values):
    """Equal values share the mean of their places."""
    order = sorted(range(len(values)), key=values.__getitem__)
    places, first = [0.0] * len(values), 0
    while first < len(order):
        last = first
        while last + 1 < len(order) and values[order[last + 1]] == values[order[first]]:
            last += 1
        for i in order[first:last + 1]:
            places[i] = (first + last) / 2
        first = last + 1
    return places


def spearman(pairs):
    a, b = (ranks(list(column)) for column in zip(*pairs))
    mean = (len(a) - 1) / 2
    both = sum((x - mean) * (y - mean) for x, y in zip(a, b))
    spread = (sum((x - mean)**2 for x in a) * sum((y - mean)**2 for y in b))**0.5
    return both / spread if spread else 0


def name_of(model):
    base = jobs.NAMES.get(model, model.replace("LLAMA3.1_", "Llama3.1-").replace("LLAMA3_", "Llama3-"))
    return {"Llama3.1-8B": "Llama3-8B", "Llama3.1-70B": "Llama3-70B"}.get(base, base)


def settings(file, row, model, folder):
    if file == "mlperf-v5.0.csv":
        if "LoRA" in row["model"]:
            return None
        row["chunks"] = "8"
        return "dense", {"framework": "nemo"}
    return (jobs.bridge if file == "megatron-bridge.csv" else jobs.nemo)(row, model, folder)


def of_jobs(folder):
    for file in ("nemo.csv", "megatron-bridge.csv", "mlperf-v5.0.csv"):
        for row in jobs.table(file):
            model = jobs.shape(row["model"])
            with_what = settings(file, row, model, folder) if model else None
            if not with_what or not row["tokens_per_s_gpu"]:
                continue
            summary, fault = jobs.predict(folder, jobs.scenario(row, model, **with_what[1]))
            if not summary:
                print(f"left out: {jobs.label(row)}: {fault}")
                continue
            predicted = summary["throughput"]["model_flops_per_s_per_gpu"] / 1e12
            tokens = summary["throughput"]["tokens_per_s"] / int(row["gpus"])
            yield (name_of(row["model"]), jobs.PRESETS[row["gpu"]], int(row["gpus"]), row["precision"],
                   predicted * float(row["tokens_per_s_gpu"]) / tokens, predicted, row["source"])


class Kept(transformer.Table):
    """Tables of transformer.py, whose rows are kept."""
    rows = []

    def row(self, label, published, predicted, counts=True, gpus=None, seconds=False):
        super().row(label, published, predicted, counts, gpus, seconds)
        Kept.rows.append((label, published, predicted, gpus))


def of_papers(folder):
    transformer.Table = Kept
    transformer.megatron(folder)
    for label, published, predicted, gpus in Kept.rows:
        yield f"Megatron {label.split(',')[0]}", "dgx-a100", gpus, "FP16", published, predicted, "arXiv 2104.04473"
    Kept.rows = []
    for name in ("llama", "llama_long"):
        getattr(transformer, name)(folder)
    for label, published, predicted, gpus in Kept.rows:
        yield "Llama3.1-405B", "dgx-h100", gpus, "BF16", published * 989.4, predicted * 989.4, "arXiv 2407.21783"


def mean_of(rows):
    """{(model, precision, platform): (measured, predicted)}"""
    found = collections.defaultdict(list)
    for model, platform, _, precision, measured, predicted, _ in rows:
        found[model, precision.removeprefix("MX")[:3], platform].append((measured, predicted))
    return {key: tuple(sum(column) / len(column) for column in zip(*pairs)) for key, pairs in found.items()}


def judge(name, pairs, what):
    """Whether the correlation is lower than it was."""
    found = spearman(pairs)
    print(f"  {name}: Spearman {found:.3f} over {len(pairs)} {what}")
    return name in MEASURED and found < MEASURED[name] - MARGIN


def main():
    models = collections.defaultdict(list)
    with tempfile.TemporaryDirectory() as folder:
        for row in [*of_jobs(folder), *of_papers(folder)]:
            models[row[0]].append(row)
    wrong, everything = False, []
    for model, rows in sorted(models.items()):
        everything += rows
        platforms = {row[1] for row in rows}
        if len(platforms) < 2:
            continue
        print(f"{model}, on {len(platforms)} platforms: Tflop/s per GPU, measured and predicted")
        for _, platform, gpus, precision, measured, predicted, source in sorted(rows, key=lambda row: -row[4]):
            print(f"  {platform:12}{gpus:6} GPUs {precision:8}{measured:9.1f}{predicted:9.1f}  {source}")
        wrong |= judge(model, [(row[4], row[5]) for row in rows], "rows")
    wrong |= judge("rows", [(row[4], row[5]) for row in everything], f"rows of {len(models)} models")
    means = mean_of(everything)
    wrong |= judge("means", list(means.values()), "means of a model, a precision and a platform")
    right = total = 0
    for (a, (m, p)), (b, (n, q)) in itertools.combinations(means.items(), 2):
        if a[:2] == b[:2]:
            right, total = right + ((m - n) * (p - q) > 0), total + 1
            if (m - n) * (p - q) <= 0:
                print(f"  in the wrong order: {a}, {b}: measured {m:.1f} and {n:.1f}, predicted {p:.1f} and {q:.1f}")
    print(f"of {total} pairs of platforms with the same model and precision, {right} are in the right order")
    return wrong or right < RIGHT or total != PAIRS


if __name__ == "__main__":
    sys.exit(main())
