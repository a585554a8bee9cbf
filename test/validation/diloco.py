#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""diloco STAGESIM: the bandwidths between two islands that papers ask for (diloco.csv), simulated. A small job stands
for each model: the time of its exchange over that of its step is that of the model. Prints the compute utilisation that
each bandwidth gives beside the one that it was published for, in points; fails where they are further apart than a step
of the authors' bandwidths makes them. Nothing is fitted."""
import csv
import json
import pathlib
import subprocess
import sys
import tempfile

STAGESIM = pathlib.Path(sys.argv[1]).resolve()
HERE = pathlib.Path(__file__).resolve().parent
TARGETS = (50, 80, 90, 95, 99)
# A step of 1.21 in bandwidth changes the time of an exchange by as much: a utilisation of 50 % becomes one of 55 %.
BAR = 5.0

PRODUCT = """kind: product
summary: one GPU
device: H100-SXM5-80GB
devices: 1
cables: {card: ndr}
node:
  - add: port
  - {join: [device, port], cable: card, exit: true}
fabric: {name: test, kind: switched, hop: 0.1us, pod: 1, source: test, confidence: L}
"""
JOB = """platform: {preset: one.yaml, nodes: 2, sites: 2, site_rate: 1GBps, site_latency: 2us}
workload: transformer
model: {layers: 4, hidden: 1024, heads: 8, vocabulary: 1000, sequence: 1024}
parallel: {data: 2}
batch: {micro: 8, micro_batches: 2}
schedule: 1f1b
transformer: {islands: 2}
compute: {efficiency: 0.1}
engine: analytic
"""


def run(folder, *sets):
    command = [STAGESIM, "run", "job.yaml", "-o", "out", "--quiet"]
    for text in sets:
        command += ["--set", text]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{sets}: {done.stderr}")
    return json.loads((folder / "out" / "summary.json").read_text())


def main():
    errors = []
    with tempfile.TemporaryDirectory() as name, open(HERE / "diloco.csv") as table:
        folder = pathlib.Path(name)
        (folder / "one.yaml").write_text(PRODUCT)
        (folder / "job.yaml").write_text(JOB)
        alone = run(folder, "parallel.data=1", "transformer.islands=1")
        step, parameters = alone["time"]["iteration_s"], alone["memory"]["parts"]["parameters_bytes"] / 2
        for row in csv.DictReader(line for line in table if not line.startswith("#")):
            found = []
            for target in TARGETS:
                published = float(row["parameters"]) * 2 * 8 / (float(row[str(target)]) * 1e9) / float(row["step"])
                rate = parameters * 2 / (published * step)
                iterations = 2 * int(row["period"]) // int(row["parts"])
                whole = run(folder, f"platform.site_rate={rate}Bps", f"iterations={iterations}",
                            f"transformer.outer_period={row['period']}", f"transformer.outer_parts={row['parts']}",
                            f"transformer.outer_delay={row['delay']}", f"transformer.outer_bytes={row['bytes']}")
                found.append(100 * step / whole["time"]["iteration_s"])
            errors += [value - target for value, target in zip(found, TARGETS)]
            print(f"{row['source']:<10} {float(row['parameters']) / 1e9:4.0f}B {row['method']:<21} "
                  f"every {row['period']:>3}  " + " ".join(f"{value:5.1f}" for value in found))
    mean, bias = sum(map(abs, errors)) / len(errors), sum(errors) / len(errors)
    print(f"{len(errors)} bandwidths: the utilisation is {mean:.1f} points off in the mean, bias {bias:+.1f}")
    return mean > BAR or len(errors) < 90


sys.exit(main())
