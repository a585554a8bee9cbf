#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tensor_overlap.py STAGESIM: transformer.tensor_overlap, recomputed from operations.csv. What a linear map exchanges
begins with its products, what comes next waits for both; as many bytes move as without; the iteration is shorter by the
smaller of the two times, map by map."""
import collections
import csv
import json
import os
import pathlib
import subprocess
import sys
import tempfile

STAGESIM = os.path.abspath(sys.argv[1])
LAYERS = 3
JOB = f"""platform: gpus.xml
workload: transformer
model: {{layers: {LAYERS}, hidden: 4096, heads: 32, sequence: 2048, vocabulary: 32000}}
batch: {{micro: 2, micro_batches: 2}}
schedule: {{name: 1f1b}}
transformer: {{sequence_parallel: true}}
compute: {{precision: bf16, efficiency: 0.5}}
"""
faults = []


def near(value, expected, what, tolerance=1e-9):
    if abs(value - expected) > tolerance * abs(expected):
        faults.append(f"{what}: {value!r}, not {expected!r}")


def run(folder, overlap, *sets):
    (folder / "job.yaml").write_text(JOB)
    command = [STAGESIM, "run", folder / "job.yaml", "-o", folder / "out", "--quiet", "--trace", "csv", "--set",
               f"transformer.tensor_overlap={overlap}"]
    for value in sets:
        command += ["--set", value]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    if done.returncode:
        sys.exit(done.stderr)
    with open(folder / "out" / "operations.csv") as file:
        rows = [row for row in csv.DictReader(file) if row["rank"] == "0"]
    return json.loads((folder / "out" / "summary.json").read_text())["time"]["iteration_s"], rows


def span(row):
    return float(row["end_s"]) - float(row["start_s"])


def check_maps(rows, maps, label):
    """Returns what overlap saves, from the operations alone."""
    computing = sorted((row for row in rows if row["stream"] == "compute" and row["kind"] in "FB" and span(row) > 0),
                       key=lambda row: int(row["id"]))
    moving = [row for row in rows if row["kind"] == "tensor"]
    hidden, count = 0, collections.Counter()
    for row, following in zip(computing, computing[1:] + [None]):
        beside = [other for other in moving if abs(float(other["start_s"]) - float(row["start_s"])) < 1e-12]
        if not beside:
            continue
        count[row["kind"]] += 1
        hidden += min(span(row), sum(map(span, beside)))
        done = max(float(row["end_s"]), *(float(other["end_s"]) for other in beside))
        if following and float(following["start_s"]) < done - 1e-12:
            faults.append(f"{label}: a computation at {following['start_s']} does not wait for {done}")
    if maps and (count["F"], count["B"]) != (maps, maps):
        faults.append(f"{label}: {dict(count)} of {maps} linear maps have exchanges beside them")
    return hidden


def check(folder, label, maps, *sets):
    without, rows = run(folder, "false", *sets)
    volume = sum(float(row["bytes"]) for row in rows if row["kind"] == "tensor")
    overlapped, rows = run(folder, "true", *sets)
    near(sum(float(row["bytes"]) for row in rows if row["kind"] == "tensor"), volume, f"{label}: bytes sent")
    near(overlapped, without - check_maps(rows, maps, label), f"{label}: iteration")
    if not 0 < overlapped < 0.98 * without:
        faults.append(f"{label}: overlap does not matter, {overlapped} of {without}")
    return overlapped


with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)
    subprocess.run([STAGESIM, "platform", "generate", "dgx-a100", "--nodes", "2", "-o", folder / "gpus.xml"],
                   check=True)
    text = (folder / "gpus.xml").read_text()
    (folder / "slow.xml").write_text(text.replace('bandwidth="240GBps"', 'bandwidth="10GBps"'))
    for engine in ("analytic", "simgrid"):
        for platform in ("gpus", "slow"):  # computing, or moving data, takes longer
            for recompute in ("none", "full"):
                common = (f"engine={engine}", f"platform={platform}.xml", f"schedule.recompute={recompute}",
                          "parallel.tensor=4")
                fine = check(folder, f"{engine}, {platform}, {recompute}", 2 * 4 * LAYERS, *common,
                             "transformer.granularity=layer")
                coarse = check(folder, f"{engine}, {platform}, {recompute}, stage", 0, *common)
                near(coarse, fine, f"{engine}, {platform}, {recompute}: stage and layer", 0.01)
    check(folder, "context", 2 * 4 * LAYERS, "engine=analytic", "parallel.tensor=4", "parallel.context=2",
          "transformer.granularity=layer")
    for sets, reason in ((("transformer.sequence_parallel=false", "parallel.tensor=2"),
                          "expected sequence_parallel: true"),
                         (("tensor_parallel.algorithm=axonn-3d", "parallel.x=2", "transformer.sequence_parallel=false"),
                          "expected tensor_parallel.algorithm: megatron-1d"),
                         (("compute={precision: bf16, profile: none.csv}", "parallel.tensor=2"),
                          "expected times from a table")):
        command = [STAGESIM, "check", folder / "job.yaml", "--set", "transformer.tensor_overlap=true"]
        for value in sets:
            command += ["--set", value]
        (folder / "none.csv").write_text("kind,micro_batch,forward_s,backward_s,activation_bytes\nlayer,2,1e-3,2e-3,\n")
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
        if done.returncode != 1 or reason not in done.stderr:
            faults.append(f"{sets}: {done.returncode}, {done.stderr}")
print("\n".join(faults) or "all hold")
sys.exit(bool(faults))
