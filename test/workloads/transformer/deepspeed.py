#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""deepspeed.py STAGESIM: what DeepSpeed's pipelines keep and do, against formulas: gradients in 16 bits beside those in
fp32 take 2 bytes of each parameter and, for each micro-batch, the time of moving 10 bytes; outputs of stages stay until
their backward; where the host waits for each operator, each takes the launch more."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

STAGESIM = os.path.abspath(sys.argv[1])
LAYERS, HIDDEN, SEQUENCE, STAGES, MICRO_BATCHES = 8, 1024, 512, 4, 8
# One size of everything: the memory is used to a share that no size changes.
TABLE = "what,size,value\nmatrix,1,0.5\nmemory,1,0.5\nflash,,0.5\n"
JOB = f"""platform: dgx-a100:1
workload: transformer
model: {{layers: {LAYERS}, hidden: {HIDDEN}, heads: 16, vocabulary: 1024, sequence: {SEQUENCE}, positions: 0,
  biases: false, tied: false}}
parallel: {{pipeline: {STAGES}}}
batch: {{micro: 2, micro_batches: {MICRO_BATCHES}}}
schedule: {{name: 1f1b, recompute: full}}
transformer: {{attention: flash}}
compute: {{precision: bf16, table: table.csv}}
engine: analytic
"""
faults = []


def run(folder, *sets):
    words = [word for each in sets for word in ("--set", each)]
    subprocess.run([STAGESIM, "run", "job.yaml", *words, "-o", "out", "--quiet"], cwd=folder, check=True,
                   stdout=subprocess.DEVNULL)
    return json.loads((folder / "out" / "summary.json").read_text())


def near(value, expected, what):
    if abs(value - expected) > 1e-9 * abs(expected):
        faults.append(f"{what}: {value}, not {expected}")


def parameters(stage):
    """Matrices and two normalisations of a layer, the embedding, the head with its normalisation."""
    layers = LAYERS / STAGES * (12 * HIDDEN**2 + 4 * HIDDEN)
    return layers + 1024 * HIDDEN * (stage in (0, STAGES - 1)) + 2 * HIDDEN * (stage == STAGES - 1)


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "job.yaml").write_text(JOB)
        (folder / "table.csv").write_text(TABLE)
        plain, added = run(folder), run(folder, "transformer.gradients=accumulated")
        kept, slow = run(folder, "transformer.stage_outputs=true"), run(folder, "compute.launch=1ms")
        output = 2 * SEQUENCE * HIDDEN * 2
        for stage in range(STAGES):
            before = plain["workers"][stage]["peak_bytes"]
            near(added["workers"][stage]["peak_bytes"] - before, 2 * parameters(stage), f"gradients, stage {stage}")
            flight = (STAGES - stage) * (stage < STAGES - 1)
            near(kept["workers"][stage]["peak_bytes"] - before + 1, flight * output + 1, f"outputs, stage {stage}")
        for figure in ("time", "throughput"):
            if kept[figure] != plain[figure]:
                faults.append(f"outputs that are kept take no time: {figure}")
        # Of matrices the fused pass reads and writes 4 bytes; a pass of its own reads 2 more, and the product writes 2.
        bandwidth = 0.5 * 2.039e12
        for stage in range(1, STAGES - 1):
            more = added["workers"][stage]["busy_s"] - plain["workers"][stage]["busy_s"]
            least = MICRO_BATCHES * parameters(stage) * 10 / bandwidth
            if not 0.55 * least <= more <= 1.001 * least:
                faults.append(f"stage {stage}: adding up takes {more}, a pass alone {least}")
        counts = [(slow["workers"][s]["busy_s"] - plain["workers"][s]["busy_s"]) / 1e-3 for s in range(1, STAGES - 1)]
        if abs(counts[0] / counts[1] - 1) > 1e-9 or abs(counts[0] - round(counts[0])) > 1e-6 or counts[0] < 100:
            faults.append(f"a launch is paid once for each operator: {counts}")
    print("\n".join(faults))
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())
