#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tower STAGESIM: a tower of Qwen3-VL before an 8B language model: its flop, parameters and state by hand, frozen or
trained, where it stands in a pipeline, and which stages wait for it."""
import json
import pathlib
import subprocess
import sys
import tempfile

STAGESIM = sys.argv[1]
FOLDER = pathlib.Path(tempfile.mkdtemp())
failures = 0
V, INNER, DEPTH, PATCHES, IMAGES, H = 1152, 4304, 27, 1024, 2, 4096
MODEL = {"layers": 8, "hidden": H, "heads": 32, "kv_heads": 8, "head_size": 128, "ffn": 12288, "gated": True,
         "sequence": 2048, "vocabulary": 32000, "norm": "rms", "biases": False, "tied": False, "dropout": False,
         "tower_layers": DEPTH, "tower_hidden": V, "tower_heads": 16, "tower_ffn": INNER, "tower_positions": 2304,
         "tower_inputs": 1536, "tower_patches": PATCHES, "tower_images": IMAGES, "tower_mergers": 4,
         "tower_parameters": 576388336}
NONE = {key: None for key in MODEL if key.startswith("tower_")}


def expect(good, *what):
    global failures
    if not good:
        failures += 1
        print(*what)


def run(*sets, engine="analytic", **model):
    shape = {key: value for key, value in {**MODEL, **model}.items() if value is not None}
    job = {"platform": "dgx-h100:1", "workload": "transformer", "model": shape, "parallel": {"data": 1},
           "batch": {"global": 8, "micro": 1}, "schedule": {"name": "1f1b", "recompute": "none"},
           "compute": {"precision": "bf16", "efficiency": 0.5}}
    out = FOLDER / "out"
    subprocess.run(["rm", "-rf", str(out)], check=True)
    (FOLDER / "job.yaml").write_text(json.dumps(job))
    result = subprocess.run([STAGESIM, "run", str(FOLDER / "job.yaml"), "--engine", engine, "-o", str(out), "--quiet",
                             *[f"--set={each}" for each in sets]], capture_output=True, text=True)
    if result.returncode:
        return None, result.stderr
    summary = json.loads((out / "summary.json").read_text())
    return {**summary["time"], **summary["memory"]["parts"], **summary}, ""


# With half the peak for every product and all else free, times are flop: layers see all patches of an image, and
# mergers make one token of four patches.
layer = 2 * PATCHES * (4 * V * V + 2 * V * INNER) + 4 * PATCHES * PATCHES * V
merger = 2 * (PATCHES / 4) * 4 * ((4 * V) ** 2 + 4 * V * H)
forward = IMAGES * (DEPTH * layer + merger + 2 * PATCHES * 1536 * V)
none, why = run(tower_images=0)
whole, why = run()
frozen, why = run(tower_frozen=True)
expect(none and whole and frozen, why)
rate, batch = 989e12 / 2, 8
expect(abs((frozen["iteration_s"] - none["iteration_s"]) / (batch * forward / rate) - 1) < 0.02, "frozen",
       frozen["iteration_s"] - none["iteration_s"], batch * forward / rate)
again = IMAGES * DEPTH * 2 * PATCHES * PATCHES * V  # flash attention forms its scores once more
expect(abs((whole["iteration_s"] - none["iteration_s"]) / (batch * (3 * forward + again) / rate) - 1) < 0.02, "trained",
       whole["iteration_s"] - none["iteration_s"], batch * (3 * forward + again) / rate)
count = MODEL["tower_parameters"]
expect(whole["parameters_bytes"] == frozen["parameters_bytes"] == none["parameters_bytes"], "weights")
expect(whole["optimizer_bytes"] - frozen["optimizer_bytes"] == 12 * count, "state", whole["optimizer_bytes"])
expect(whole["gradients_bytes"] - frozen["gradients_bytes"] == 4 * count, "gradients")
expect(frozen["activations_bytes"] == none["activations_bytes"] < whole["activations_bytes"], "activations")

# The first stage holds it: others wait, until layers move behind it.
pipe = ("parallel={pipeline: 4, data: 1}",)
heavy = {"tower_images": 6}
first, why = run(*pipe, **heavy)
busy = [worker["busy_s"] for worker in first["workers"]]
expect(busy[0] > 1.5 * max(busy[1:]), "the first stage", busy)
even, why = run(*pipe, "transformer.balance=auto", **heavy)
expect(even["iteration_s"] < 0.95 * first["iteration_s"], "balanced", even["iteration_s"], first["iteration_s"])
both, why = run(*pipe, engine="simgrid", **heavy)
expect(abs(both["iteration_s"] / first["iteration_s"] - 1) < 0.02, "engines", both["iteration_s"])
for sets in (("parallel={tensor: 2, pipeline: 2, data: 2}", "transformer.sequence_parallel=true"),
             ("parallel={context: 2, data: 4}", "batch.global=8"), ("transformer.zero=3", "parallel={data: 8}"),
             ("schedule.recompute=full",), ("schedule=zb-h1", *pipe), ("transformer.granularity=layer", *pipe),
             ("transformer.adapter_rank=8",)):
    result, why = run(*sets)
    expect(result, sets, why)
for model, words in (({"tower_heads": 5}, "of which the former is a multiple"),
                     ({"tower_parameters": 1}, "the shape gives 576388336"),
                     ({"tower_layers": 0, "tower_parameters": 1}, "model.tower_hidden changes nothing here"),
                     *[(NONE | {f"tower_{key}": 2},
                        f"model.tower_{key} changes nothing here; it needs model.tower_layers")
                       for key in ("hidden", "heads", "ffn", "positions", "inputs", "patches", "images", "merge",
                                   "mergers", "parameters")],
                     (NONE | {"tower_frozen": True}, "model.tower_frozen changes nothing")):
    result, why = run(**model)
    expect(result is None and words in why.replace("\n           ", " "), model, why)
sys.exit(failures > 0)
