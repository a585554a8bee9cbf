#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""adapters STAGESIM: low-rank adapters beside frozen weights: their parameters, gradients, state and traffic by hand,
times between those of a forward and of whole training; 4-bit weights; Muon's state and products."""
import json
import pathlib
import subprocess
import sys
import tempfile

STAGESIM = sys.argv[1]
FOLDER = pathlib.Path(tempfile.mkdtemp())
failures = 0

# One algorithm for exchanges of all sizes: in-network reduction, which auto takes for large ones, sends less.
JOB = {"platform": "dgx-h100:1", "workload": "transformer", "model": "llama3-8b", "parallel": {"data": 8},
       "batch": {"global": 16, "micro": 1}, "schedule": {"name": "1f1b", "recompute": "none"},
       "compute": {"precision": "bf16"}, "communication": {"all_reduce": "ring"}}


def expect(good, *what):
    global failures
    if not good:
        failures += 1
        print(*what)


def run(*sets):
    (FOLDER / "job.yaml").write_text(json.dumps(JOB))
    out = FOLDER / "out"
    subprocess.run(["rm", "-rf", str(out)], check=True)
    result = subprocess.run([STAGESIM, "run", str(FOLDER / "job.yaml"), "--engine", "analytic", "-o", str(out),
                             "--quiet", *[f"--set={each}" for each in sets]], capture_output=True, text=True)
    if result.returncode:
        return None, result.stderr
    summary = json.loads((out / "summary.json").read_text())
    return {**summary["time"], **summary["memory"]["parts"], **summary["communication"]}, ""


whole, why = run()
expect(whole, why)
# Of each layer r (k + n) for queries, keys and values in one, projection, both gated matrices in one, and the last.
rank, layers = 16, 32
adapters = rank * layers * ((4096 + 6144) + (4096 + 4096) + (4096 + 28672) + (14336 + 4096))
tuned, why = run(f"transformer.adapter_rank={rank}")
expect(tuned, why)
expect(tuned["gradients_bytes"] == 4 * adapters, "gradients", tuned["gradients_bytes"], 4 * adapters)
expect(tuned["optimizer_bytes"] == 12 * adapters, "state", tuned["optimizer_bytes"])
expect(tuned["parameters_bytes"] == whole["parameters_bytes"] + 2 * adapters, "weights", tuned["parameters_bytes"])
share = adapters / 8030261248
expect(abs(tuned["sent_bytes"] / whole["sent_bytes"] / share - 1) < 1e-9, "sent", tuned["sent_bytes"], share)
expect(0.55 * whole["iteration_s"] < tuned["iteration_s"] < 0.9 * whole["iteration_s"], "time", whole, tuned)
narrow, why = run(f"transformer.adapter_rank={rank}", "transformer.frozen_bytes=0.5")
expect(narrow["parameters_bytes"] == whole["parameters_bytes"] / 4 + 2 * adapters, "4 bits", narrow)
expect(narrow["iteration_s"] == tuned["iteration_s"], "4 bits change no product", narrow)
# Adapters of a part of the ranks' columns, of experts, with all that is shared, in a pipeline.
for sets in (("parallel={tensor: 2, pipeline: 2, data: 2}", "transformer.sequence_parallel=true"),
             ("transformer.zero=3",), ("model=mixtral-8x7b", "parallel={data: 8, expert: 8}"),
             ("model=qwen3.5-35b-a3b", "parallel={data: 8, expert: 8}"), ("model=nemotron-3-nano",),
             ("schedule.name=zb-h1", "parallel={pipeline: 4, data: 2}"), ("schedule.recompute=full",)):
    base, why = run(*sets)
    expect(base, sets, why)
    part, why = run("transformer.adapter_rank=8", *sets)
    expect(base and part and 0 < part["gradients_bytes"] < 0.02 * base["gradients_bytes"], sets, why, part)
    expect(base and part and part["iteration_s"] < base["iteration_s"], sets, "time")
for sets, words in ((("transformer.frozen_bytes=0.5",), "frozen_bytes changes nothing here; it needs"),
                    (("transformer.adapter_rank=8", "tensor_parallel.algorithm=axonn-3d"),
                     "adapters are for megatron")):
    result, why = run(*sets)
    expect(result is None and words in why, sets, why)

# Muon keeps one moment in place of two, and computes with each matrix of the width h: 30 h of a parameter.
muon, why = run("transformer.optimizer=muon")
adam = whole["optimizer_bytes"]
expect(muon["optimizer_bytes"] == adam * 8 / 12, "state of Muon", muon["optimizer_bytes"], adam)
expect(muon["iteration_s"] > whole["iteration_s"], "products of Muon", muon["iteration_s"], whole["iteration_s"])
sys.exit(failures > 0)
