#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Jobs whose iterations overlap, drawn from a seed: PipeDream takes as long for a micro-batch however many an iteration
has, on both engines alike where nothing shares a link, and as the schedule without a platform takes.

usage: crossing.py STAGESIM"""

import json
import pathlib
import random
import subprocess
import sys
import tempfile

STAGESIM = sys.argv[1]
faults = []


def run(*arguments):
    result = subprocess.run([STAGESIM, *map(str, arguments)], capture_output=True, text=True, check=False)
    if result.returncode:
        sys.exit(f"{arguments}: {result.stderr}")
    return result.stdout


def job(folder, workers, forward, backward, micro_batches, engine):
    scenario = folder / "job.yaml"
    times = [", ".join(f"{1e3 * t!r}ms" for t in values) for values in (forward, backward)]
    scenario.write_text(
        f"platform: node.xml\nworkload: stages\nstages: {{forward: [{times[0]}], backward: [{times[1]}]}}\n"
        f"parallel: {{pipeline: {workers}}}\nbatch: {{micro_batches: {micro_batches}}}\nschedule: pipedream\n"
        f"engine: {engine}\n")
    run("run", scenario, "-o", folder / "out")
    return json.loads((folder / "out" / "summary.json").read_text())["time"]


def check(folder, seed):
    draw = random.Random(seed)
    workers = draw.randint(2, 6)
    forward = [draw.choice([draw.uniform(1e-3, 2e-3), 1e-3]) for _ in range(workers)]
    backward = [draw.choice([draw.uniform(2e-3, 4e-3), 2e-3]) for _ in range(workers)]
    found = {}
    for micro_batches in (1, 2, 3, 2 * workers + 1):
        for engine in ("analytic", "simgrid"):
            time = job(folder, workers, forward, backward, micro_batches, engine)
            found[micro_batches, engine] = time["iteration_s"] / micro_batches
            if not time.get("cycle_iterations"):
                faults.append(f"seed {seed}: {micro_batches} micro-batches, {engine}: no cycle")
    expected = found[1, "analytic"]
    for (micro_batches, engine), seconds in found.items():
        if abs(seconds / expected - 1) > (1e-9 if engine == "analytic" else 1e-6):
            faults.append(f"seed {seed}: {seconds!r} s a micro-batch with {micro_batches}, {engine}; {expected!r} with "
                          f"one")


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        run("platform", "generate", "dgx-h100", "--nodes", 1, "-o", folder / "node.xml")
        for seed in range(10):
            check(folder, seed)
    print("\n".join(faults) or "all agree")
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())
