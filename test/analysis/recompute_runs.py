#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs scenarios under every schedule that fits and has recompute.py derive their figures again from operations.csv.

usage: recompute_runs.py STAGESIM SOURCE_ROOT
"""
import os
import subprocess
import sys
import tempfile

import recompute

BALANCED = "{forward: 1s, backward: 2s, weight: 1s, message: 1MB, gradient: 10MB, activation: 1GiB, parameters: 1GiB, optimizer: 0.1s}"
UNEVEN = ("{forward: [20ms, 10ms, 11ms, 15ms], backward: [40ms, 20ms, 25ms, 20ms], weight: [17ms, 10ms, 10ms, 10ms], "
          "message: 30MB, gradient: 100MB, activation: 1GiB}")
# platform, stages, parallel, micro-batches, further lines
SCENARIOS = {
    "ring": ("ring-8.xml", BALANCED, "{data: 2, pipeline: 4}", 8, ""),
    "again": ("mesh-8.xml", BALANCED, "{data: 1, pipeline: 4}", 8, "iterations: 3\nengine: analytic\n"),
    "uneven": ("mesh-8.xml", UNEVEN, "{data: 2, pipeline: 4}", 12, ""),
    "contended": ("pcie-a100-8.xml", UNEVEN, "{pipeline: 4, data: 2}", 4, "order: [data, pipeline]\n"),
}


def main():
    stagesim, root = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    failed = False
    with tempfile.TemporaryDirectory() as scratch:
        for name, (platform, stages, parallel, micro_batches, more) in SCENARIOS.items():
            scenario = os.path.join(scratch, name + ".yaml")
            with open(scenario, "w") as file:
                file.write("platform: %s/platforms/%s\nworkload: stages\nstages: %s\nparallel: %s\nbatch: {micro_batches: %d}\n"
                           "schedule: {name: 1f1b}\noutput: {trace: [csv]}\n%s"
                           % (root, platform, stages, parallel, micro_batches, more))
            out = os.path.join(scratch, name)
            subprocess.run([stagesim, "compare", scenario, "--schedules", "all", "-o", out, "--quiet"], check=True,
                           stdout=subprocess.DEVNULL)
            directories = sorted(entry.path for entry in os.scandir(out) if entry.is_dir())
            if len(directories) < 15:
                print("%s: only %d schedules ran" % (name, len(directories)))
                failed = True
            failed |= recompute.main(directories)
    return failed


if __name__ == "__main__":
    sys.exit(main())
