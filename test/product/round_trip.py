#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""round_trip.py STAGESIM: every schedule exported by `schedule --format csv` and read back by `schedule: {file: ...}`
predicts the same, and a hand-written file is a schedule like any other."""
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import tool

STAGES = "forward: [1s, 1.1s, 0.9s, 1.3s], backward: 2s, weight: 0.9s, message: 1GB, gradient: 3GB, activation: 1GB"
# A file is one iteration and then a flush; these go on without one.
OVERLAPPING = {"pipedream", "pipedream-2bw", "zb-auto", "zb-h2", "zb-v", "zb-v-greedy"}
# Orders follow from times and messages: `schedule` is told those of the job, 1 GB over 100 GB/s.
TIMES = ("--forward", "1,1.1,0.9,1.3", "--latency", 0.010001)
# Here they follow from more, which `run` alone knows: chunks that are open, the host's link.
ADAPTING = ("best", "pipe-offload")
PLATFORMS = {"pipe-offload": "pcie-a100-8.xml"}  # schedules that need host memory
BATCHES = {"stp": 12}  # schedules that need more than 8 micro-batches
BY_HAND = """worker,kind,stage,micro_batch
0,F,0,0
0,F,0,1
0,B,0,0
0,B,0,1
1,F,1,0
1,B,1,0
1,F,1,1
1,B,1,1
"""


def round_trip(check, binary, folder, name):
    batches = BATCHES.get(name, 8)
    tool.run(binary, "schedule", name, "--workers", 4, "--micro-batches", batches, *TIMES, "--backward", 2,
             "--weight", 0.9, "--format", "csv", "-o", f"{name}.csv", cwd=folder)
    found = []
    for schedule in (name, f"{{file: {name}.csv}}"):
        tool.write_scenario(folder / "s.yaml", tool.ROOT / "platforms" / PLATFORMS.get(name, "mesh-8.xml"), schedule,
                            4, batches, data=2, stages=STAGES)
        found.append(tool.summary(binary, "s.yaml", "out", cwd=folder))
    check.that(found[0]["time"].get("steady_state", False) == (name in OVERLAPPING),
               f"{name}: do its iterations overlap?")
    if name in OVERLAPPING or name in ADAPTING:
        return
    for block in ("time", "bubble", "communication", "workers", "memory"):
        check.that(found[0].get(block) == found[1].get(block),
                   f"{name}: {block} {found[0].get(block)} as file {found[1].get(block)}")


def main():
    check, binary = tool.Checker(), tool.binary_argument()
    names = [line.split()[0] for line in tool.run(binary, "list", "schedules").stdout.splitlines()]
    check.that(len(names) >= 18, f"schedules {names}")
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        for name in names:
            if name != "recycle":  # it leaves a worker without work, which no file has: commands/schedule.py
                round_trip(check, binary, folder, name)
        (folder / "mine.csv").write_text(BY_HAND)
        tool.write_mesh(folder / "ideal.xml", 2)
        tool.write_scenario(folder / "mine.yaml", "ideal.xml", "{file: mine.csv}", 2, 2)
        check.near(tool.summary(binary, "mine.yaml", "out", cwd=folder)["time"]["iteration_s"], 9,
                   "1F1B of two workers, by hand")
    return check.done()


if __name__ == "__main__":
    sys.exit(main())
