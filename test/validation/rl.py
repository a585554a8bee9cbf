#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""rl.py STAGESIM: steps of reinforcement learning that were measured, beside what is predicted: jobs of NeMo RL, and
transfers of weights. Three values were fitted, to the rows of the half `given`; which three was decided with both
halves printed. Fails where errors are larger than those of today and a margin."""
import csv
import hashlib
import json
import math
import pathlib
import re
import statistics
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import tool

DATA = pathlib.Path(__file__).resolve().parent / "rl"
MODELS = {"DeepSeek V3": "deepseek-v3", "Qwen3-235B": "qwen3-235b-a22b", "Qwen3-30B3A": "qwen3-30b-a3b",
          "Qwen3-32B": "qwen3-32b", "LLAMA3.1_8B": "llama3-8b", "Nemotron-3-Nano-30B-A3B": "nemotron-3-nano"}
RECOMPUTED = ("DeepSeek V3", "Qwen3-235B", "Qwen3-32B", "Qwen3-30B3A", "Nemotron-3-Nano-30B-A3B")
PROMPT = 150  # tokens, of a question
# What was fitted: the trainer's time over that of the same job on full, equal packs; seconds of a step beside its
# phases where GPUs take turns; seconds of a transfer of weights
# beside its bytes. The deviation of lengths is the middle of what is usual (0.5 to 1.5 times the mean), not fitted.
FITTED = {"trainer": 1.3, "overhead": 16, "transfer": 14}
DEVIATION = 1.0
# Per cent: mean error, and mean error with its sign within, of all rows but the agent's.
BARS = {"given": (12.5, 3), "aside": (19, 8)}
# On and off policy on as many GPUs: (model, GPU, GPUs).
PAIRS = (("DeepSeek V3", "GB200", "256"), ("LLAMA3.1_8B", "GB200", "8"), ("DeepSeek V3", "H100", "512"),
         ("LLAMA3.1_8B", "H100", "16"), ("Qwen3-235B", "H100", "256"))


def read(name):
    with open(DATA / name) as file:
        return list(csv.DictReader(line for line in file if not line.startswith("#")))


def half(row):
    return "given" if hashlib.sha256(repr(sorted(row.items())).encode()).digest()[0] % 2 else "aside"


def log_normal(mean, deviation, most):
    """Of outputs that are cut at `most` and then have that mean: the mean before."""
    spread = math.sqrt(math.log(1 + deviation ** 2))
    normal = statistics.NormalDist()
    scores = [normal.inv_cdf((i + 0.5) / 2000) for i in range(2000)]
    low, high = 1.0, 100.0 * most
    while high / low > 1.0001:
        middle = math.sqrt(low * high)
        got = sum(min(most, middle * math.exp(spread * score - spread ** 2 / 2)) for score in scores) / 2000
        low, high = (middle, high) if got < mean else (low, middle)
    return f"{{log-normal: {{mean: {low:.6g}, deviation: {low * deviation:.6g}}}}}"


def nemo(row, fitted):
    """The scenario of a row."""
    gpus, apart = int(row["gpus"]), row["policy"] != "On policy"
    trainer = gpus // 2 if apart else gpus
    parts = {key: int(row["train_" + key]) for key in ("tp", "cp", "pp", "ep")}
    data = trainer // (parts["tp"] * parts["cp"] * parts["pp"])
    engine = int(row["generation_tp"]) * int(row["generation_pp"])
    most, average = int(row["max_sequence"]), int(row["average_sequence"])
    samples = 32 if int(row["rollouts"]) == 2048 else 16
    platform = f"dgx-h100:{gpus // 8}" if row["gpu"] == "H100" else f"gb200-nvl72:{max(1, gpus // 4)}"
    narrow = row["precision"] == "FP8"
    model = MODELS[row["model"]]
    experts = f", expert: {min(parts['ep'], trainer)}, expert_tensor: 1" if parts["ep"] > 1 else ""
    experts = experts if parts["tp"] > 1 else experts.replace(", expert_tensor: 1", "")
    # vLLM's own all-reduce is one of a node's GPUs. Grace's host work: serving.py.
    library = ", all_reduce: 1" if int(row["generation_tp"]) > (8 if row["gpu"] == "H100" else 4) else ""
    library += ", sequence: 40us" if row["gpu"] == "GB200" else ""
    balance = ", balance: auto" if parts["pp"] > 1 else ""
    shared = ", sequence_parallel: true" if parts["tp"] > 1 else ""
    recompute = "full" if row["model"] in RECOMPUTED else "none"
    return f"""platform: {platform}
model: {model}
generation: {{tensor: {row['generation_tp']}, pipeline: {row['generation_pp']},
  sequences: 1024{library}{', weights: fp8_block' if narrow else ''}}}
trainer:
  parallel: {{tensor: {parts['tp']}, context: {parts['cp']}, pipeline: {parts['pp']}, data: {data}{experts}}}
  transformer: {{zero: 1{balance}{shared}}}
  compute: {{precision: {'fp8' if narrow else 'bf16'}}}
  schedule: {{name: 1f1b, recompute: {recompute}}}
rl:
  prompts: {int(row['rollouts']) // samples}
  samples: {samples}
  prompt: {PROMPT}
  output: {log_normal(average - PROMPT, DEVIATION, most - PROMPT)}
  most: {most - PROMPT}
  mini_batch: {row['train_batch']}
  pack: {most}
  arrangement: {'async' if apart else 'colocated'}
  engines: {trainer // engine}
  transfer: broadcast
  transfer_start: {fitted['transfer']}s
  trainer_time: {fitted['trainer']}
  overhead: {0 if apart else fitted['overhead']}s
  steps: {6 if apart else 2}
"""


def run(stagesim, folder, text):
    (folder / "s.yaml").write_text(text)
    found = tool.run(stagesim, "run", folder / "s.yaml", "-o", folder / "out", "--quiet", expect=None)
    if found.returncode:
        print(found.stderr)
        return None
    return json.loads((folder / "out/summary.json").read_text())


def check_nemo(stagesim, folder, check):
    errors, steps = {}, {}
    for row in read("nemo-rl.csv"):
        found = run(stagesim, folder, nemo(row, FITTED))
        measured, got = float(row["step_s"]), found["step_s"]
        error, phases = 100 * (got / measured - 1), found["phases"]
        print(f"{row['model']:24}{row['gpu']:6}{row['gpus']:>4} {row['policy']:11}{row['precision']:5}"
              f"{measured:6.1f} s {error:+6.1f} % {half(row)}: generation "
              f"{phases['generation_s']:.0f} s, training {phases['training_s']:.0f} s, tail {found['tail']:.2f}")
        if row["algorithm"] == "GRPO":
            errors.setdefault(half(row), []).append(error)
            steps.setdefault((row["model"], row["gpu"], row["gpus"], row["policy"] == "On policy"), []).append(
                (measured, got))
    for key, found in sorted(errors.items()):
        mean, bias = sum(map(abs, found)) / len(found), sum(found) / len(found)
        print(f"NeMo RL, {key}: {len(found)} rows, mean {mean:.1f} %, bias {bias:+.1f} %")
        check.that(mean <= BARS[key][0] and abs(bias) <= BARS[key][1], key)
    for pair in PAIRS:
        on, off = steps[pair + (True,)], steps[pair + (False,)]
        ratios = [sum(row[i] for row in on) / len(on) / (sum(row[i] for row in off) / len(off)) for i in (0, 1)]
        print(f"{' '.join(pair)}: on policy over off policy {ratios[0]:.2f}, predicted {ratios[1]:.2f} "
              f"({100 * (ratios[1] / ratios[0] - 1):+.0f} %)")
        check.that(ratios[1] > 1, f"{pair}: the order")


# Transfers of weights: checkpoint-engine's broadcasts (MoonshotAI/checkpoint-engine, README; H800 and H20) and NeMo
# RL's resharding (docs/design-docs/nccl-reshard-refit.md @ 7ea279a; H100): model, type, way, GPUs of the trainer, its
# layout, GPUs of engines, tensor of each, seconds at least and at most.
TRANSFERS = (("deepseek-v3", "fp8", "broadcast", 16, "{data: 16, expert: 16}", 16, 16, 10.19, 10.19),
             ("deepseek-v3", "fp8", "broadcast", 256, "{pipeline: 16, data: 16, expert: 16}", 256, 16, 11.33, 11.33),
             ("qwen3-30b-a3b", "bf16", "reshard", 16, "{pipeline: 2, data: 8, expert: 8}", 16, 8, 0.74, 1.0),
             ("deepseek-v3", "bf16", "reshard", 256, "{pipeline: 16, data: 16, expert: 16}", 256, 32, 2.39, 2.83))


def check_transfers(stagesim, folder, check):
    for model, width, way, trainer, layout, engines, tensor, least, most in TRANSFERS:
        found = run(stagesim, folder, f"platform: dgx-h100:{(trainer + engines) // 8}\nmodel: {model}\ngeneration: "
                    f"{{tensor: {tensor}, weights: {width}}}\ntrainer: {{parallel: {layout}, transformer: {{balance: "
                    f"auto}}}}\nrl: {{arrangement: apart, engines: {engines // tensor}, transfer: {way}, prompts: 16, "
                    "samples: 1, output: 16, steps: 3, pack: 8192}\n")
        seconds = found["phases"]["transfer_s"]
        error = 100 * (seconds / min(max(seconds, least), most) - 1)
        print(f"{model} {width}, {way} to {engines} GPUs: {least} to {most} s, predicted {seconds:.2f} s "
              f"({error:+.0f} %)")
        check.that(abs(error) <= 15, f"{model} {way}")


# veRL (docs/advance/fully_async.md @ b178a3cd5), GRPO with Qwen2.5-Math-7B on H20 that take turns, FSDP2; the script
# is verl/experimental/fully_async_policy/shell/dapo_7b_math_fsdp2_64_64.sh. Lengths are not published: their mean is by
# the time of the updates on 32 GPUs, their deviation is as large. Seconds of GPUs: generation, log-probabilities,
# updates, step.
VERL = {32: (357.41, 107.71, 269.80, 790.10), 64: (150.72, 70.26, 133.41, 365.28)}
QWEN = ("{layers: 28, hidden: 3584, heads: 28, kv_heads: 4, head_size: 128, ffn: 18944, vocabulary: 152064, sequence: "
        "32768, gated: true, norm: rms, tied: false, biases: false, dropout: false}")
VERL_MEAN, VERL_MOST, VERL_EFFICIENCY = 2000, 28672, 0.85
VERL_BARS = {32: None, 64: (25, 25, 25, 15)}  # per cent


def check_verl(stagesim, folder, check):
    for gpus, measured in VERL.items():
        tool.run(stagesim, "platform", "generate", "dgx-h100", "--nodes", gpus // 8, "-o", folder / "h100.xml")
        text = (folder / "h100.xml").read_text().replace("H100-SXM5-80GB", "H20-96GB")
        for key, value in (("memory", "96GB"), ("memory_bandwidth", "4000GBps"), ("peak_bf16", "148Tf")):
            text = re.sub(f'(id="{key}" value=)"[^"]*"', rf'\1"{value}"', text)
        (folder / "h20.xml").write_text(re.sub('speed="[^"]*"', 'speed="148Tf"', text))
        found = run(stagesim, folder, f"""platform: h20.xml
model: {QWEN}
generation: {{tensor: 4, sequences: 1024, tokens: 30720, memory: 0.8}}
trainer:
  parallel: {{data: {gpus}}}
  transformer: {{zero: 3}}
  compute: {{efficiency: {VERL_EFFICIENCY}}}
  schedule: {{name: 1f1b, recompute: full}}
rl: {{prompts: 512, samples: 16, prompt: {PROMPT}, output: {log_normal(VERL_MEAN, DEVIATION, VERL_MOST)},
  most: {VERL_MOST}, mini_batch: 512, reference: false, steps: 2, pack: 32768, padded: 30720}}
""")
        phases = found["phases"]
        padding = (phases["overhead_s"] - 5) / 3
        got = [phases[key] + padding for key in ("generation_s", "old_log_probabilities_s", "training_s")]
        errors = [100 * (a / b - 1) for a, b in zip((*got, found["step_s"]), measured)]
        print(f"veRL, {gpus} H20: generation {errors[0]:+.1f} %, log-probabilities {errors[1]:+.1f} %, updates "
              f"{errors[2]:+.1f} %, step {errors[3]:+.1f} %; of each phase {padding:.0f} s are padding")
        for error, bar in zip(errors, VERL_BARS[gpus] or ()):
            check.that(abs(error) <= bar, f"veRL, {gpus} GPUs: {error:.1f} % of {bar} %")


def main():
    check = tool.Checker()
    stagesim = tool.binary_argument()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        check_nemo(stagesim, folder, check)
        check_transfers(stagesim, folder, check)
        check_verl(stagesim, folder, check)
    return check.done()


if __name__ == "__main__":
    sys.exit(main())
