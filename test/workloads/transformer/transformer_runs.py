#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""transformer_runs.py STAGESIM: runs of the workload transformer against formulas that are worked out here."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

STAGESIM = os.path.abspath(sys.argv[1])
LAYERS, HIDDEN, HEADS, SEQUENCE, VOCABULARY = 8, 1024, 16, 512, 32000
PARAMETERS = LAYERS * (12 * HIDDEN**2 + 13 * HIDDEN) + (VOCABULARY + SEQUENCE) * HIDDEN + 2 * HIDDEN
BASE = f"""platform: gpus.xml
workload: transformer
model: {{layers: {LAYERS}, hidden: {HIDDEN}, heads: {HEADS}, sequence: {SEQUENCE}, vocabulary: {VOCABULARY},
  positions: {SEQUENCE}}}
batch: {{micro: 2, micro_batches: 4}}
schedule: {{name: 1f1b}}
transformer: {{attention: standard}}
compute: {{precision: fp16, efficiency: 0.5}}
engine: analytic
"""
STAGESIM_TABLES = pathlib.Path(__file__).resolve().parents[3] / "workloads" / "efficiency"
faults = []


def expect(good, what):
    if not good:
        faults.append(what)


def near(value, expected, what, tolerance=1e-9):
    expect(abs(value - expected) <= tolerance * abs(expected), f"{what}: {value!r}, not {expected!r}")


def run(folder, *sets):
    command = [STAGESIM, "run", folder / "job.yaml", "-o", folder / "out", "--quiet"]
    for value in sets:
        command += ["--set", value]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    if done.returncode:
        sys.exit(f"{sets}\n{done.stderr}")
    return json.loads((folder / "out" / "summary.json").read_text())


def check_one_rank(folder):
    flops = 72 * 8 * LAYERS * SEQUENCE * HIDDEN**2 * (1 + SEQUENCE / (6 * HIDDEN) + VOCABULARY / (12 * HIDDEN * LAYERS))
    summary = run(folder)
    near(summary["time"]["iteration_s"], flops / (0.5 * 312e12), "half of the peak")
    near(summary["throughput"]["mfu"], 0.5, "MFU at half of the peak")
    near(summary["throughput"]["tokens_per_s"], 8 * SEQUENCE / summary["time"]["iteration_s"], "tokens")
    activation = SEQUENCE * 2 * HIDDEN * (LAYERS * (34 + 5 * HEADS * SEQUENCE / HIDDEN) + 1 + 4 *
                                          (1 + VOCABULARY / HIDDEN))
    near(summary["memory"]["peak_bytes"], 18 * PARAMETERS + activation, "memory")
    again = run(folder, "schedule.recompute=full")
    full = 96 * 8 * LAYERS * SEQUENCE * HIDDEN**2 * (1 + SEQUENCE / (6 * HIDDEN) + VOCABULARY / (16 * HIDDEN * LAYERS))
    near(again["throughput"]["hfu"], full / again["time"]["iteration_s"] / 312e12, "HFU, full recomputation")
    near(again["throughput"]["hfu"], 0.5, "all that is computed runs at half of the peak")
    core = run(folder, "schedule.recompute=selective")["throughput"]
    near(core["hfu"] / core["mfu"], (1 + SEQUENCE / (3 * HIDDEN) + VOCABULARY / (12 * HIDDEN * LAYERS)) /
         (1 + SEQUENCE / (6 * HIDDEN) + VOCABULARY / (12 * HIDDEN * LAYERS)), "HFU over MFU, selective recomputation")


def check_flash(folder):
    """Flash attention forms the scores again, whatever is recomputed; selective recomputation changes nothing."""
    part = SEQUENCE / (6 * HIDDEN)  # of the model's flops that attention adds to 72 B L s h^2
    model = 1 + part + VOCABULARY / (12 * HIDDEN * LAYERS)
    runs = {mode: run(folder, "transformer.attention=flash", f"schedule.recompute={mode}")
            for mode in ("none", "selective", "full")}
    for mode, again in (("none", part / 6), ("selective", part / 6), ("full", (1 + part) / 3 + part / 6)):
        throughput = runs[mode]["throughput"]
        near(throughput["hfu"] / throughput["mfu"], 1 + again / model, f"HFU over MFU, flash attention, {mode}")
    for section in ("time", "memory", "throughput"):
        expect(runs["none"][section] == runs["selective"][section],
               f"selective recomputation changes {section} with flash attention")


def check_traffic(folder):
    message = 2 * 2 * SEQUENCE * HIDDEN
    for sequence in ("false", "true"):
        sent = run(folder, "parallel.tensor=4",
                   f"transformer.sequence_parallel={sequence}")["communication"]["sent_bytes"]
        # 4 all-reduces a layer, 1 for the input, 1 for the output's gradient; sequence parallelism gathers twice a
        # layer more.
        buffers = 4 * (4 * LAYERS + 2) + (4 * 2 * LAYERS / 2 if sequence == "true" else 0)
        near(sent, buffers * 2 * 3 * message, f"tensor, sequence parallel {sequence}")
    gradients = 2 * PARAMETERS
    for zero, volume in ((0, 2), (1, 2), (2, 2), (3, 3)):
        sent = run(folder, "parallel.data=4", f"transformer.zero={zero}", "transformer.gradients=same",
                   "batch.micro_batches=1")
        near(sent["communication"]["sent_bytes"], volume * 3 * gradients, f"ZeRO-{zero}: {volume} times the parameters")
        state = {0: 16, 1: 4 + 12 / 4, 2: 2 + 14 / 4, 3: 16 / 4}[zero] * PARAMETERS
        held = sent["memory"]["peak_bytes"] - run(folder,
                                                  "batch.micro_batches=1")["memory"]["peak_bytes"] + 18 * PARAMETERS
        buffers = 2 * 2 * PARAMETERS / LAYERS if zero == 3 else 0
        near(held, state + buffers, f"state of ZeRO-{zero}")
    kept = run(folder, "parallel.data=4", "transformer.zero=3", "transformer.reshard=false",
               "transformer.gradients=same", "batch.micro_batches=1")["communication"]["sent_bytes"]
    near(kept, 2 * 3 * gradients, "weights that are kept")


def check_hybrid(folder):
    """8 replicas in 2 groups of 4 that share: traffic and memory, and what crosses between nodes."""
    base = ["parallel.data=8", "transformer.gradients=same", "batch.micro_batches=1"]
    weights, alone = 2 * PARAMETERS, run(folder, "batch.micro_batches=1")["memory"]["peak_bytes"] - 18 * PARAMETERS
    for zero, passes in ((1, 2), (2, 2), (3, 3)):
        summary = run(folder, *base, f"transformer.zero={zero}", "transformer.shard_ranks=4")
        # In each group `passes` scatters and gathers along 4 ranks; then 4 all-reduces of a quarter between 2 ranks.
        near(summary["communication"]["sent_bytes"], (2 * passes * 3 + 4 * 2 / 4) * weights,
             f"hybrid ZeRO-{zero}: bytes")
        state = {1: 4 + 12 / 4, 2: 2 + 14 / 4,
                 3: 16 / 4}[zero] * PARAMETERS + (2 * weights / LAYERS if zero == 3 else 0)
        near(summary["memory"]["peak_bytes"], alone + state, f"hybrid ZeRO-{zero}: memory")
        whole = run(folder, *base, f"transformer.zero={zero}", "transformer.shard_ranks=8")
        near(whole["time"]["iteration_s"], run(folder, *base, f"transformer.zero={zero}")["time"]["iteration_s"],
             "one group of all")
    kept = run(folder, *base, "transformer.zero=3", "transformer.reshard=false", "transformer.shard_ranks=4")
    near(kept["communication"]["sent_bytes"], (2 * 2 * 3 + 4 * 2 / 4) * weights, "hybrid, weights kept")
    near(kept["memory"]["peak_bytes"], alone + 16 / 4 * PARAMETERS + weights, "hybrid, weights kept: memory")
    nodes = ["parallel.data=16", "transformer.zero=3", "batch.micro_batches=1", "engine=simgrid"]
    full, hybrid = (run(folder, *nodes, *extra)["time"]["iteration_s"] for extra in ([], ["transformer.shard_ranks=8"]))
    expect(hybrid < full, f"sharding within nodes, over two of them: {hybrid} s, {full} s sharded over both")


def check_granularity(folder):
    cases = [("1f1b", "parallel.tensor=2")] + [("1f1b", f"transformer.zero={zero}") for zero in (1, 2, 3)]
    cases += [(name, "transformer.sequence_parallel=true")
              for name in ("gpipe", "interleaved", "chimera", "zb-h1", "dualpipe-v")]
    cases += [("v-half", "transformer={zero: 3, reshard: false, bucket: 1GB}")]
    for engine in ("analytic", "simgrid"):
        for schedule, extra in cases:
            sets = ["parallel.pipeline=4", "parallel.data=2", extra, f"schedule.name={schedule}", f"engine={engine}",
                    "parallel.tensor=2", "batch.micro_batches=8"]
            stage, layer = (run(folder, *sets, f"transformer.granularity={g}") for g in ("stage", "layer"))
            near(layer["time"]["iteration_s"], stage["time"]["iteration_s"],
                 f"{engine}, {schedule}, {extra}: granularities", 0.01)
            near(layer["communication"]["sent_bytes"], stage["communication"]["sent_bytes"],
                 f"{schedule}, {extra}: bytes")
            near(layer["workers"][0]["peak_in_flight"], stage["workers"][0]["peak_in_flight"],
                 f"{schedule}, {extra}: in flight")


def check_overlap(folder):
    late, early = (run(folder, "parallel.data=8", f"communication.overlap={flag}")["time"]["iteration_s"]
                   for flag in ("false", "true"))
    alone = run(folder)["time"]["iteration_s"]
    expect(alone < early < late, f"overlap: {alone}, {early}, {late}")
    whole = run(folder, "parallel.data=8", "transformer.bucket=1TB")["time"]["iteration_s"]
    near(whole, late, "one bucket is as late as none")


def check_balance(folder):
    even, auto, given = (run(folder, "parallel.pipeline=4", "batch.micro_batches=16", *extra) for extra in (
        (), ("transformer.balance=auto",), ("transformer.layers_per_stage=[3,2,2,1]",)))
    expect(auto["time"]["iteration_s"] < even["time"]["iteration_s"], "balancing does not help")
    expect(given["workers"][0]["busy_s"] > given["workers"][1]["busy_s"], "layers are not where they were put")


def check_levers(folder):
    """Each lever is held to a run that uses it."""
    base = ["parallel.data=2", "parallel.pipeline=4", "batch.micro=128", "batch.micro_batches=8", "schedule.name=gpipe"]
    memory = run(folder, *base)["memory"]
    expect(not memory["fits"] and memory["dominant"] == "activations", f"memory: {memory}")
    near(sum(memory["parts"].values()), memory["peak_bytes"], "parts of the memory")
    expect([lever["peak_bytes"] for lever in memory["levers"]] ==
           sorted((lever["peak_bytes"] for lever in memory["levers"]), reverse=True), "levers are not in order")
    settings = {lever["setting"]: lever["peak_bytes"] for lever in memory["levers"]}
    expect(set(settings) >=
           {"schedule.recompute=full", "schedule.recompute=selective", "transformer.zero=1", "schedule=1f1b"},
           f"levers: {settings}")
    for setting, peak in settings.items():
        changed = run(folder, *base, *setting.split(" and "))["memory"]
        near(peak, changed["peak_bytes"], setting)
        expect([lever["fits"] for lever in memory["levers"] if lever["setting"] == setting] == [changed["fits"]],
               f"{setting} fits")
    expect("levers" not in run(folder)["memory"], "levers of a job that fits")
    check_levers_kept(folder, base)
    check_levers_together(folder)


def check_levers_kept(folder, base):
    """Another schedule computes again what the scenario's does, its own options are dropped."""
    base = base + ["batch.micro=1024", "schedule={name: interleaved, chunks: 2, recompute: selective}"]
    levers = {lever["setting"]: lever["peak_bytes"] for lever in run(folder, *base)["memory"]["levers"]}
    setting = "schedule=1f1b and schedule.recompute=selective"
    near(levers.get(setting, 0), run(folder, *base, *setting.split(" and "))["memory"]["peak_bytes"],
         "1f1b in place of interleaved")


def check_levers_together(folder):
    """No lever is enough alone; the last one names several that are."""
    base = ["model.layers=48", "model.hidden=4096", "parallel.tensor=2", "parallel.data=2", "batch.micro=24",
            "batch.micro_batches=2"]
    levers = run(folder, *base)["memory"]["levers"]
    expect([lever["fits"] for lever in levers] == [False] * (len(levers) - 1) + [True],
           f"only several together fit: {levers}")
    together = levers[-1]
    expect(together["setting"].count(" and ") >= 1, f"several: {together}")
    changed = run(folder, *base, *together["setting"].split(" and "))["memory"]
    expect(changed["fits"], f"{together['setting']} does not fit")
    near(together["peak_bytes"], changed["peak_bytes"], together["setting"])


def check_repeated_heads(folder):
    """Four ranks share two heads of keys and values: each has one, the model's flops do not change."""
    sets = ["parallel.tensor=4", "model.kv_heads=2", "transformer.sequence_parallel=true",
            "transformer.attention=flash"]
    summary, tokens, size = run(folder, *sets), 2 * SEQUENCE, HIDDEN // HEADS
    divided = HIDDEN * (HIDDEN + 2 * 4 * size) + HIDDEN**2 + 8 * HIDDEN**2 + HIDDEN + 2 * 4 * size + 4 * HIDDEN
    parameters = LAYERS * (divided / 4 + 6 * HIDDEN) + VOCABULARY * HIDDEN / 4 + SEQUENCE * HIDDEN + 2 * HIDDEN
    layer = tokens * (10 * HIDDEN + 2 * (2 * HIDDEN + 2 * 4 * size) + 16 * HIDDEN) / 4
    near(summary["memory"]["peak_bytes"],
         18 * parameters + LAYERS * layer + tokens * (HIDDEN + 4 * HIDDEN + 4 * VOCABULARY) / 4,
         "repeated heads: memory")
    forward = 2 * tokens * (LAYERS * (2 * HIDDEN**2 + 2 * HIDDEN * 2 * size + 8 * HIDDEN**2 + 2 * SEQUENCE * HIDDEN) +
                            HIDDEN * VOCABULARY)
    throughput = summary["throughput"]
    near(throughput["mfu"] * summary["time"]["iteration_s"] * 4 * 312e12, 3 * 4 * forward,
         "repeated heads: model flops")


def check_training(folder):
    summary = run(folder, "parallel.data=4", "transformer.tokens=300e9", "transformer.price=2.5")
    days = 300e9 / summary["throughput"]["tokens_per_s"] / 86400
    near(summary["training"]["days"], days, "days")
    near(summary["training"]["cost"], days * 24 * 4 * 2.5, "cost")
    price = run(folder, "parallel.data=4", "transformer.price=2.5")["training"]
    expect(set(price) == {"cost_per_million_tokens", "price_per_gpu_hour"}, f"price alone: {price}")
    near(price["cost_per_million_tokens"], days * 24 * 4 * 2.5 / 300e3, "cost of a million tokens")


def check_profile(folder):
    """What recomputation adds to measured layers and takes from measured activations, with 4 micro-batches of 2."""
    (folder / "layers.csv").write_text("kind,micro_batch,forward_s,backward_s,activation_bytes\nlayer,2,3e-3,5e-3,9e7\n"
                                       "head,2,1e-3,2e-3,\n")
    sets = ["compute={precision: fp16, profile: layers.csv}"]
    runs = {mode: run(folder, *sets, f"schedule.recompute={mode}") for mode in ("none", "selective", "full")}
    scores = 4 * SEQUENCE**2 * HIDDEN / (24 * SEQUENCE * HIDDEN**2 + 4 * SEQUENCE**2 * HIDDEN)
    dropped = 2 * SEQUENCE * 5 * HEADS * SEQUENCE  # bytes of scores, their softmax and its mask
    inputs = 2 * 2 * SEQUENCE * HIDDEN
    for mode, again, activation in (("selective", scores, LAYERS * -dropped),
                                    ("full", 1, LAYERS * (inputs - 9e7) + 9e7)):
        near(runs[mode]["time"]["iteration_s"] - runs["none"]["time"]["iteration_s"], 4 * LAYERS * again * 3e-3,
             f"profile, {mode}: time", 1e-6)
        near(runs[mode]["memory"]["peak_bytes"] - runs["none"]["memory"]["peak_bytes"], activation,
             f"profile, {mode}: memory", 1e-6)


def check_kernels(folder):
    """compute.kernels names an installed table of the GPU; where there is none the job is refused."""
    tables = STAGESIM_TABLES / "H100-SXM5-80GB-transformer-engine.csv"
    subprocess.run([STAGESIM, "platform", "generate", "dgx-h100", "--nodes", "2", "-o", folder / "h100.xml"],
                   check=True)
    common = ("platform=h100.xml", "transformer.attention=flash")
    named = run(folder, *common, "compute={precision: fp8, kernels: transformer-engine}")["time"]["iteration_s"]
    near(named, run(folder, *common, f"compute={{precision: fp8, table: {tables}}}")["time"]["iteration_s"],
         "the table of the kernels", 1e-12)
    if abs(named / run(folder, *common, "compute.precision=fp8")["time"]["iteration_s"] - 1) < 0.01:
        faults.append("kernels do not matter")
    for compute, reason in (("{kernels: transformer-engine}", "with the kernels of transformer-engine"),
                            ("{efficiency: 0.5, kernels: transformer-engine}",
                             "expected no efficiency, table or profile beside them")):
        done = subprocess.run([STAGESIM, "check", folder / "job.yaml", "--set", f"compute={compute}"],
                              capture_output=True, text=True, timeout=60)
        if done.returncode != 1 or reason not in done.stderr:
            faults.append(f"{compute}: {done.returncode} {done.stderr}")


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        subprocess.run([STAGESIM, "platform", "generate", "dgx-a100", "--nodes", "2", "-o", folder / "gpus.xml"],
                       check=True)
        (folder / "job.yaml").write_text(BASE)
        for check in (check_one_rank, check_flash, check_traffic, check_hybrid, check_granularity, check_overlap,
                      check_balance, check_levers, check_training, check_repeated_heads, check_profile, check_kernels):
            check(folder)
    print("\n".join(faults) or "all hold")
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())
