#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""efficiency_classes.py STAGESIM: what tables say of convolutions and of normalisation, in closed forms. Iterations of
two tables differ by the passes that the tables differ in, and by nothing else."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

STAGESIM = os.path.abspath(sys.argv[1])
PEAK, BANDWIDTH, MATRIX, MEMORY, MICRO_BATCHES = 1e12, 1e11, 0.5, 0.4, 3
FLOPS = 1e10
KEPT, OUT = 9e6, 4e6  # numbers of 4 bytes
faults = []


def seconds(folder, kind, lines):
    """An iteration of two layers of the kind; the second one has a gradient of its input, too."""
    (folder / "one.xml").write_text(
        '<?xml version="1.0"?><!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd"><platform version="4.1">'
        f'<zone id="z" routing="Full"><host id="h" speed="1Tf"><prop id="peak_fp32" value="{PEAK / 1e12}Tf"/>'
        f'<prop id="memory_bandwidth" value="{BANDWIDTH / 1e9}GBps"/></host></zone></platform>')
    (folder / "table.csv").write_text(f"what,size,value\nmatrix,1e9,{MATRIX}\nmemory,1e6,{MEMORY}\n" + lines)
    layer = f"kind: {kind}, flops: {FLOPS}, parameters: 10, outputs: {OUT:.0f}, activations: {KEPT:.0f}, inputs: 1"
    (folder / "job.yaml").write_text(f"""platform: one.xml
workload: layers
model: {{layers: [{{name: a, {layer}}}, {{name: b, {layer}}}]}}
parallel: {{data: 1}}
batch: {{micro: 1, micro_batches: {MICRO_BATCHES}}}
compute: {{precision: fp32, table: table.csv}}
""")
    subprocess.run([STAGESIM, "run", "job.yaml", "-o", "out", "--quiet"], cwd=folder, check=True, capture_output=True)
    return json.loads((folder / "out" / "summary.json").read_text())["time"]["iteration_s"]


def differ(folder, kind, first, second, expected):
    found = seconds(folder, kind, first) - seconds(folder, kind, second)
    if abs(found - expected) > 1e-9:
        faults.append(f"{kind}, {first!r} against {second!r}: {found!r} s more, not {expected!r}")


def main():
    passes = MICRO_BATCHES * (2 + 3)  # of the first layer two, of the second three
    convolving = passes * FLOPS / PEAK * (1 / 0.2 - 1 / MATRIX)
    moving = MICRO_BATCHES * 2 * (3 + 5) * 4 * (KEPT - OUT) / (BANDWIDTH * MEMORY)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        differ(folder, "convolution", "convolution,1e9,0.2\n", "", convolving)
        differ(folder, "dense", "convolution,1e9,0.2\n", "", 0)
        for kind in ("convolution", "dense"):
            differ(folder, kind, "", "normalisation,,0\n", moving)
            differ(folder, kind, "normalisation,,0.25\n", "normalisation,,0\n", moving / 4)
    print("\n".join(faults) or "all hold")
    sys.exit(bool(faults))


if __name__ == "__main__":
    main()
