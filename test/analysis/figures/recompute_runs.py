#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs scenarios under every schedule that fits and has recompute.py derive their figures again from operations.csv.

usage: recompute_runs.py STAGESIM SOURCE_ROOT
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import recompute

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "support"))
import tool  # noqa: E402

BALANCED = "{forward: 1s, backward: 2s, weight: 1s, message: 1MB, gradient: 10MB, activation: 1GiB, " \
           "parameters: 1GiB, optimizer: 0.1s}"
UNEVEN = ("{forward: [20ms, 10ms, 11ms, 15ms], backward: [40ms, 20ms, 25ms, 20ms], weight: [17ms, 10ms, 10ms, 10ms], "
          "message: 30MB, gradient: 100MB, activation: 1GiB}")
# platform, stages, parallel, micro-batches, further lines
SCENARIOS = {
    "ring": ("ring-8.xml", BALANCED, "{data: 2, pipeline: 4}", 8, ""),
    "again": ("mesh-8.xml", BALANCED, "{data: 1, pipeline: 4}", 8, "iterations: 3\nengine: analytic\n"),
    "uneven": ("mesh-8.xml", UNEVEN, "{data: 2, pipeline: 4}", 12, ""),
    "contended": ("pcie-a100-8.xml", UNEVEN, "{pipeline: 4, data: 2}", 4, "order: [data, pipeline]\n"),
}


# What repeats in rounds, goes at paces of its own, or has servers: further lines of a scenario of layers
LAYERS = ("layers: {servers: 2}\niterations: 4\n",
          "layers: {servers: 3, colocated: true, consistency: asynchronous}\n" "iterations: 5\n",
          "layers: {servers: 1, consistency: stale, staleness: 1}\niterations: 5\n",
          "layers: {period: 2}\niterations: 6\n", "layers: {period: 3, servers: 2}\niterations: 3\n",
          "layers: {servers: 1, weights: streamed}\niterations: 4\n",
          "layers: {optimizer: kfac}\nkfac: {factors_every: 1, inverse_every: 2}\niterations: 4\n",
          "storage: {hosts: 2, bandwidth: 50MBps}\niterations: 8\n",
          "storage: {hosts: 1, reads: 500, prefetch: 0}\nlayers: {servers: 2}\niterations: 1\n")


def run_layers(stagesim, root, scratch):
    directories = []
    for number, lines in enumerate(LAYERS):
        scenario, out = (os.path.join(scratch, f"layers-{number}{end}") for end in (".yaml", ""))
        with open(scenario, "w") as file:
            file.write(f"platform: {root}/platforms/piz-daint-32.xml\nworkload: layers\nmodel: "
                       f"{root}/workloads/models/alexnet.yaml\n"
                       f"parallel: {{data: 4}}\nbatch: {{global: 64, micro: 8}}\n"
                       f"compute: {{efficiency: 0.5}}\n{lines}")
        subprocess.run([stagesim, "run", scenario, "--trace", "csv", "-o", out, "--quiet"], check=True,
                       stdout=subprocess.DEVNULL)
        directories.append(out)
    return recompute.main(directories)


def run_tensor(stagesim, root, scratch):
    """Replicas that differ by next to nothing: which of them ends last is chance, which one the critical path runs on
    is not."""
    scenario, out = os.path.join(scratch, "tensor.yaml"), os.path.join(scratch, "tensor")
    with open(scenario, "w") as file:
        file.write("platform: dgx-a100:2\nworkload: transformer\nmodel: llama3-8b\nparallel: {tensor: 4, pipeline: 4}\n"
                   "fold: off\n" "batch: {micro_batches: 8, micro: 1}\ntransformer: {sequence_parallel: true, "
                   "attention: flash}\nschedule: 1f1b\n")
    subprocess.run([stagesim, "run", scenario, "--trace", "csv", "-o", out, "--quiet"], check=True,
                   stdout=subprocess.DEVNULL, cwd=root)
    return recompute.main([out])


def run_joined(stagesim, root, scratch):
    """Iterations of which one begins on some ranks before the one before has ended on others: its all-gathers of
    parameters meet the end of that one. T is the time between ends, the more iterations the same."""
    directories, times = [], {}
    scenario = os.path.join(scratch, "joined.yaml")
    with open(scenario, "w") as file:
        file.write("platform: dgx-h100:1\nworkload: transformer\nmodel: llama3-8b\n"
                   "parallel: {tensor: 1, pipeline: 2, data: 4}\nfold: off\nbatch: {micro_batches: 2, micro: 1}\n"
                   "transformer: {zero: 3, balance: auto}\nschedule: interleaved\n")
    for engine in ("analytic", "simgrid"):
        for iterations in (2, 3, 6):
            out = os.path.join(scratch, f"joined-{engine}-{iterations}")
            trace = ["--trace", "csv"] if iterations < 6 else []
            subprocess.run([stagesim, "run", scenario, "--engine", engine, "--set", f"iterations={iterations}", *trace,
                            "-o", out, "--quiet"], check=True, stdout=subprocess.DEVNULL, cwd=root)
            directories += [out] if trace else []
            times[engine, iterations] = json.load(open(os.path.join(out, "summary.json")))["time"]
    failed = recompute.main(directories)
    for engine in ("analytic", "simgrid"):
        three, six = times[engine, 3], times[engine, 6]
        each = (six["makespan_s"] - three["makespan_s"]) / 3
        print(f"{engine}: {three['iteration_s']!r} s, {each!r} s for each further iteration")
        for time in (three, six):
            if abs(time["iteration_s"] / each - 1) > 1e-6:
                print(f"{engine}: an iteration takes {time['iteration_s']!r} s, and a further one {each!r} s")
                failed = True
    return failed


def main():
    stagesim, root = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    failed = False
    with tempfile.TemporaryDirectory() as scratch:
        for name, (platform, stages, parallel, micro_batches, more) in SCENARIOS.items():
            scenario = os.path.join(scratch, name + ".yaml")
            with open(scenario, "w") as file:
                file.write("platform: %s/platforms/%s\nworkload: stages\nstages: %s\nparallel: %s\nbatch: "
                           "{micro_batches: %d}\n"
                           "schedule: {name: 1f1b}\noutput: {trace: [csv]}\n%s" %
                           (root, platform, stages, parallel, micro_batches, more))
            out = os.path.join(scratch, name)
            subprocess.run([stagesim, "compare", scenario, "--schedules", "all", "-o", out, "--quiet"], check=True,
                           stdout=subprocess.DEVNULL)
            directories = sorted(entry.path for entry in os.scandir(out) if entry.is_dir())
            if len(directories) < 15:
                print("%s: only %d schedules ran" % (name, len(directories)))
                failed = True
            failed |= recompute.main(tool.sampled(directories))
        failed |= run_layers(stagesim, root, scratch)
        failed |= run_tensor(stagesim, root, scratch)
        failed |= run_joined(stagesim, root, scratch)
    return failed


if __name__ == "__main__":
    sys.exit(main())
