#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Throughput of Bert-48 on 64 nodes of Piz Daint under five schedules, as measured by the authors of Chimera (arXiv
2107.06925, Figure 14), beside what stagesim predicts from the times of one layer that they measured on one P100.

What goes in: forward and backward of one layer by micro-batch size, 12 layers a worker, on the last one also a head of
2.5 layers' work; recomputation (R) adds a forward to the backward; messages of B x 128 x 1024 and gradients of
669,790,012 numbers of 4 bytes; the shipped preset of the machine. What has to come out: how many times faster Chimera
is than each of the others, to 5 %, the accuracy to which a bar of the figure can be read. All throughputs together are
too high by one factor, which is printed: layers timed alone leave out what a framework adds. After dividing by it each
is held to 5 % as well.

usage: chimera.py STAGESIM """
import csv
import io
import os
import statistics
import subprocess
import sys
import tempfile

LAYER_MS = {4: (2.518, 4.198), 8: (4.500, 7.653), 16: (9.299, 14.876), 32: (16.100, 26.953)}
# schedule, micro-batch size, recomputation, sequences per second as read off the figure
MEASURED = [("chimera", 8, False, 340), ("pipedream-2bw", 16, True, 290), ("1f1b", 4, False, 275),
            ("gpipe", 4, True, 205), ("gems", 32, False, 140)]
LAYERS = [12, 12, 12, 14.5]
GRADIENTS = [731750400, 604618752, 604618752, 738172144]
SCENARIO = """platform: piz-daint.xml
workload: stages
stages: {{forward: {forward}, backward: {backward}, message: {message}B, gradient: {gradient}}}
parallel: {{data: 16, pipeline: 4}}
batch: {{global: 1024, micro: {micro}}}
schedule: {schedule}
"""


def listed(values, unit):
    return "[" + ", ".join(f"{value}{unit}" for value in values) + "]"


def predict(stagesim, folder, schedule, micro, recompute):
    forward, backward = LAYER_MS[micro]
    backward += forward if recompute else 0
    with open(os.path.join(folder, "bert.yaml"), "w") as file:
        file.write(
            SCENARIO.format(forward=listed([forward * n for n in LAYERS], "ms"),
                            backward=listed([backward * n for n in LAYERS], "ms"), message=micro * 128 * 1024 * 4,
                            gradient=listed(GRADIENTS, "B"), micro=micro, schedule=schedule))
    result = subprocess.run([stagesim, "run", "bert.yaml", "--format", "csv"], cwd=folder, check=True,
                            capture_output=True, text=True)
    return float(next(csv.DictReader(io.StringIO(result.stdout)))["samples_per_s"])


# What was found when this was last looked at.
FOUND, MARGINS = (1.870, 0.0195, 0.0276, -0.0147), (0.02, 0.005, 0.01, 0.005)


def main():
    stagesim, failed = os.path.abspath(sys.argv[1]), False
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([stagesim, "platform", "generate", "piz-daint", "--nodes", "64", "-o", "piz-daint.xml"],
                       cwd=folder, check=True)
        predicted = [predict(stagesim, folder, *row[:3]) for row in MEASURED]
    errors, ratios = [], []
    factor = statistics.geometric_mean(value / row[3] for value, row in zip(predicted, MEASURED))
    print(f"common factor {factor:.3f}\nschedule       measured  predicted/factor  error  Chimera faster by: measured  "
          f"predicted  error")
    for value, (schedule, _, _, measured) in zip(predicted, MEASURED):
        error, ratio = value / factor / measured - 1, predicted[0] / value / (MEASURED[0][3] / measured) - 1
        print(f"{schedule:13}  {measured:8}  {value / factor:16.1f}  {error:+6.1%}  {MEASURED[0][3] / measured:27.2f}  "
              f"{predicted[0] / value:9.2f}" f"  {ratio:+6.1%}")
        errors.append(error)
        ratios.append(ratio)
    # The factor takes the errors' bias away, so that it is its own; of the ratios to Chimera the bias is what is left.
    found = factor, statistics.fmean(map(abs, errors)), max(map(abs, errors)), statistics.fmean(ratios)
    for what, value, before, margin in zip(("factor", "mean error", "worst error", "bias of the gain"), found, FOUND,
                                           MARGINS):
        outside = abs(value - before) > margin
        print(f"{what} {value:.4f} ({before} +- {margin}){', outside' if outside else ''}")
        failed |= outside
    return failed


if __name__ == "__main__":
    sys.exit(main())
