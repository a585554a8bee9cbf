#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""layer_kinds STAGESIM: every kind of layer runs on both engines, under schedules of all sorts, with every
recomputation, divided along tensor, context, expert and data; stages with unequal layers take unequal times, and
`balance: auto` evens them out; what ranks send is what each kind's page says."""
import itertools
import json
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "support"))
import tool

STAGESIM = sys.argv[1]
FOLDER = pathlib.Path(tempfile.mkdtemp())
failures = 0

SHAPE = {"layers": 4, "hidden": 1024, "heads": 16, "kv_heads": 4, "head_size": 64, "ffn": 2048, "sequence": 2048,
         "vocabulary": 16384, "gated": True, "biases": False, "norm": "rms", "tied": False, "dropout": False}
LATENT = {"kv_rank": 128, "query_rank": 256, "rope_size": 32, "value_size": 64, "kv_heads": 16}
EXPERTS = {"experts": 8, "top_k": 2, "expert_ffn": 512, "shared_experts": 1}
COMPRESSED = {"kv_heads": 1, "head_size": 128, "query_rank": 256, "output_groups": 4, "output_rank": 128, "window": 128,
              "sinks": True, "index_heads": 8, "index_top": 64}
KINDS = {
    "attention": {"mixers": "*"},
    "window": {"mixers": "W*", "window": 256, "local_kv_heads": 8, "local_sinks": True},
    "chunk": {"mixers": "WWW*", "window": 512, "chunked": True, "qk_norm": True, "qk_norm_free": True},
    "mamba": {"mixers": "MMM*", "mamba_heads": 32},
    "pattern": {"pattern": "M*-E", "mamba_heads": 32, **EXPERTS, "expert_width": 512, "shared_ffn": 1024},
    "gated delta": {"mixers": "GGG*", "linear_key_heads": 8, "linear_value_heads": 16, "output_gate": True},
    "kimi delta": {"mixers": "KKK+", "linear_value_heads": 16, **LATENT, "residual_blocks": 2},
    "kimi delta, full gate": {"mixers": "K", "linear_value_heads": 16, "linear_full_gate": True},
    "lightning": {"mixers": "LLL*", "linear_value_heads": 16, "chunk": 256},
    "short convolutions": {"mixers": "CCC*", "convolution": 3, "qk_norm": True},
    "sparse": {"mixers": "D", **LATENT, "index_heads": 8, "index_top": 256, **EXPERTS, "dense_layers": 1},
    "sparse, shared and trained": {"mixers": "DS", **LATENT, "index_heads": 8, "index_top": 256, "index_trained": True},
    "blocks": {"mixers": "*B", "index_heads": 4, "index_top": 4, "index_block": 64, **EXPERTS, "feeds": "-E"},
    "compressed": {"mixers": "wwch", **COMPRESSED, **EXPERTS, "router_bias": True, "hash_layers": 1, "streams": 4},
    "unequal": {"layer_kv_heads": [4, 0, 8, 4], "layer_ffn": [2048, 1024, 0, 4096]},
    "gemma": {"mixers": "WWW*", "window": 256, "keys_are_values": True, "norms": 7, **EXPERTS, "router_scales": True},
    "further tokens": {"mixers": "GG*M", "predictions": 2, "prediction_mixers": "*", "prediction_feeds": "-"},
}


def expect(good, what, *more):
    global failures
    if not good:
        failures += 1
        print(what, *more)


def run(model, *sets, engine="analytic", parallel=None, schedule="1f1b", recompute="none", **transformer):
    job = {"platform": "dgx-h100:2", "workload": "transformer", "model": model,
           "parallel": parallel or {"tensor": 2, "context": 2, "data": 2, "pipeline": 2},
           "batch": {"global": 8, "micro": 1}, "schedule": {"name": schedule, "recompute": recompute},
           "transformer": {"sequence_parallel": True, **transformer}, "compute": {"precision": "bf16"}}
    file, out = FOLDER / "job.yaml", FOLDER / "out"
    subprocess.run(["rm", "-rf", str(out)], check=True)
    file.write_text(json.dumps(job))
    options = [f"--set={each}" for each in sets]
    result = subprocess.run([STAGESIM, "run", str(file), "--engine", engine, "-o", str(out), "--quiet", *options],
                            capture_output=True, text=True)
    if result.returncode:
        return None, result.stderr
    summary = json.loads((out / "summary.json").read_text())
    return {**summary, **summary["time"], **summary["memory"], **summary["communication"]}, ""


SCHEDULED = {name: [] for name in KINDS}
for name, schedule in tool.sampled(list(itertools.product(KINDS, ("gpipe", "zb-h1", "1f1b-v", "seq1f1b")))):
    SCHEDULED[name].append(schedule)
for name, kind in KINDS.items():
    model = {**SHAPE, **kind}
    whole, why = run(model)
    expect(whole, name, why)
    if not whole:
        continue
    both, why = run(model, engine="simgrid")
    expect(both and abs(both["iteration_s"] / whole["iteration_s"] - 1) < 0.02, name, "on both engines",
           both and both["iteration_s"], whole["iteration_s"], why)
    fine, why = run(model, granularity="layer")
    expect(fine and abs(fine["iteration_s"] / whole["iteration_s"] - 1) < 0.05, name, "layer by layer", why,
           fine and fine["iteration_s"], whole["iteration_s"])
    peaks = [whole["peak_bytes"]]
    for recompute in ("selective", "operators", "full"):
        again, why = run(model, recompute=recompute)
        expect(again, name, recompute, why)
        if again:
            expect(again["iteration_s"] >= whole["iteration_s"] * (1 - 1e-9), name, recompute, "is no faster")
            peaks.append(again["peak_bytes"])
    expect(min(peaks) == peaks[-1] < peaks[0], name, "peaks of recomputation", peaks)
    for schedule in SCHEDULED[name]:
        other, why = run(model, schedule=schedule)
        expect(other, name, schedule, why)
    for method in ("ring", "all-to-all")[:1 if model["kv_heads"] == 1 else 2]:  # one head cannot be exchanged
        other, why = run(model, context_method=method)
        expect(other, name, method, why)
    shared, why = run(model, zero=3, balance="auto")
    expect(shared, name, "zero: 3, balance: auto", why)
    if "experts" in model:
        other, why = run(model, parallel={"tensor": 2, "expert": 4, "data": 4, "pipeline": 2})
        expect(other, name, "expert-parallel", why)

# Heads that nothing can share: of all layers, of one in a list, of those with a window with and without letters for
# them; scans that no network has; and each refused at the key that says it.
ALONE = {"pipeline": 1}
WINDOW = {"window": 256, "window_period": 2}
REFUSED = [
    ({"kv_heads": 17}, ALONE, {}, "model.kv_heads", "16 heads cannot share 17 heads"),
    ({"kv_heads": 3}, ALONE, {}, "model.kv_heads", "16 heads cannot share 3 heads"),
    ({"layer_kv_heads": [17, 4, 4, 4]}, ALONE, {}, "model.layer_kv_heads", "16 heads cannot share 17 heads"),
    ({"layer_kv_heads": [4, 0, 4, 3]}, ALONE, {}, "model.layer_kv_heads", "16 heads cannot share 3 heads"),
    ({"layer_kv_heads": [4, 4, 0, 8], "heads": 24, "kv_heads": 3}, {"tensor": 3, "data": 1}, {}, "model.layer_kv_heads",
     "layer_kv_heads 4 cannot be divided over 3"),
    ({"layer_kv_heads": [4, 0, 2, 4]}, {"context": 4}, {"context_method": "all-to-all"}, "context_method",
     "2 heads of keys and values cannot be divided"),
    ({**WINDOW, "local_heads": 12, "local_kv_heads": 6}, {"context": 4}, {"context_method": "all-to-all"},
     "context_method", "6 heads of keys and values cannot be divided"),
    ({**WINDOW, "local_kv_heads": 5}, ALONE, {}, "model.local_kv_heads", "16 heads cannot share 5 heads"),
    ({**WINDOW, "local_heads": 18}, ALONE, {}, "model.local_heads", "18 heads cannot share 4 heads"),
    ({**WINDOW, "local_heads": 18, "local_kv_heads": 2}, {"tensor": 4}, {}, "model.local_heads",
     "18 cannot be divided"),
    ({"window": 256, "mixers": "W*", "local_kv_heads": 32}, ALONE, {}, "model.local_kv_heads", "cannot share 32 heads"),
    ({"mixers": "M", "hidden": 16, "head_size": 4}, ALONE, {}, "model.mixers", "2 hidden is less than mamba_head_size"),
    ({"mixers": "M", "mamba_heads": 12}, ALONE, {}, "model.mamba_heads", "a multiple of mamba_groups"),
    ({"mixers": "M", "mamba_groups": 64}, ALONE, {}, "model.mamba_groups", "a multiple of mamba_groups"),
    ({**COMPRESSED, "mixers": "wwch", "output_groups": 3}, ALONE, {}, "model.output_groups",
     "a multiple of output_groups"),
    ({"mixers": "M", "mamba_heads": 32, "qk_norm": True}, ALONE, {}, "model.qk_norm", "no layer has it"),
    ({"mixers": "CCC*", "hidden": 2050, "head_size": 128}, {"tensor": 4, "data": 4}, {}, "model.hidden",
     "2050 cannot be divided over 4"),
    ({"mixers": "C", "qk_norm": True}, ALONE, {}, "model.qk_norm", "no layer has it"),
    ({"mixers": "C", "chunk": 64}, ALONE, {}, "model.chunk", "no layer has it"),
    ({"mixers": "G", "sinks": True}, ALONE, {}, "model.sinks", "no layer has it"),
    *[({"mixers": kind, "linear_key_heads": 6, "linear_value_heads": 16}, ALONE, {}, "model.linear_key_heads",
       "a multiple of linear_key_heads") for kind in "GKL"],
]
for keys, parallel, transformer, place, words in REFUSED:
    good, why = run({**SHAPE, **keys}, parallel=parallel, sequence_parallel=False, **transformer)
    expect(not good and words in why, keys, parallel, words, why)
    value = {**keys, **transformer}.get(place.split(".")[-1])
    spot = f'"{place.split(".")[-1]}": {json.dumps(value)}' if value else ""
    column = (FOLDER / "job.yaml").read_text().find(spot) + 1
    places = f"{column}|{column + spot.find(': ') + 2}"
    expect(not spot or re.search(rf"job.yaml:1:({places}): error", why), keys, place, why)

# Measured scans: the core of a model with linear attention is another one than the table's share of the peak gives.
for name in ("gated delta", "kimi delta", "mamba"):
    times = [run({**SHAPE, **KINDS[name]}, f"compute.kernels={kernels}")[0] for kernels in ("default", "measured")]
    expect(all(times) and times[0]["iteration_s"] != times[1]["iteration_s"], name, "measured")
    asked = subprocess.run([STAGESIM, "kernel", name.split(",")[0].replace(" ", "-"), "--gpu", "H100", "--heads", "16",
                            "--sequence", "2048", "--head-size", "128", "--value-size", "128"], capture_output=True,
                           text=True)
    expect(asked.returncode == 0 and "time  " in asked.stdout, name, asked.stderr)

# A pipeline of unequal layers: stages take their own layers' times, and balance evens them out.
hybrid = {**SHAPE, "layers": 16, "pattern": "--------********", "sequence": 16384, "vocabulary": 512}
even, _ = run(hybrid, parallel={"pipeline": 4, "data": 4})
auto, _ = run(hybrid, parallel={"pipeline": 4, "data": 4}, balance="auto")
busy = [[worker["busy_s"] for worker in summary["workers"]] for summary in (even, auto)]
expect(max(busy[0]) > 1.2 * min(busy[0]), "stages are unequal", busy[0])
expect(max(busy[1]) / min(busy[1]) < max(busy[0]) / min(busy[0]), "balanced", busy)
expect(auto["iteration_s"] < even["iteration_s"], "balance shortens", auto["iteration_s"], even["iteration_s"])

# Four residual streams: messages between stages are four times as large, and nothing else is sent along data: 8.
plain = {**SHAPE, "mixers": "*"}
pipe = {"pipeline": 2, "data": 1}
one, _ = run(plain, parallel=pipe)
four, _ = run({**plain, "streams": 4}, parallel=pipe)
expect(four["sent_bytes"] == 4 * one["sent_bytes"], "streams are sent", one["sent_bytes"], four["sent_bytes"])

# Context parallelism by hand: of 2 ranks each sends half of what it holds of the other's heads, both ways and in both
# directions; a Mamba-2 layer has 2 d + 2 G N + H columns in and d out, d = 2048.
share, _ = run({**SHAPE, "layers": 1, "pattern": "M", "mamba_heads": 32, "vocabulary": 16},
               parallel={"context": 2, "data": 1}, zero=0)
columns = 2 * 2048 + 2 * 8 * 128 + 32 + 2048
gradients = 4 * (1024 * (columns - 2048) + 2048 * 1024 + (2048 + 2048) * 5 + 3 * 32 + 2048 + 2 * 1024 + 2 * 16 * 1024)
tokens = 8 * 2048 / 2
expected = 2 * (2 * 2 * tokens * columns / 2 + gradients)
expect(abs(share["sent_bytes"] / expected - 1) < 1e-9, "heads that are exchanged", share["sent_bytes"], expected)
sys.exit(failures > 0)
