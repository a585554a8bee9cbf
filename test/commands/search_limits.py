#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`stagesim search` whose time is up, or that is interrupted, at any step: while it looks at layouts it times the most
promising of those that it knows, while it simulates the best it shows what it has. --resume then comes to the bytes of
a search that was not stopped.

usage: search_limits.py STAGESIM
"""
import csv
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import tool

# Looking at all of them takes 20 s of a processor; nearly all are discarded by a bound.
WIDE = """platform: dgx-a100:8
workload: transformer
model: megatron-22b
parallel: {tensor: 8, pipeline: 2, data: 4}
batch: {global: 64, micro: 1}
schedule: 1f1b
search: {micro: [1, 2, 4, 8, 16], chunks: [2, 3, 4, 6, 8], tensor_overlap: [false, true], overlap: [false, true],
  balance: [even, auto]}
"""
# One layout is timed at once and simulated in half a minute.
LONG = """platform: dgx-a100-2
workload: transformer
model: megatron-7.5b
parallel: {tensor: 4, pipeline: 4}
batch: {global: 100000, micro: 1}
schedule: 1f1b
steady: off
search: {data: 1, tensor: 4, pipeline: 4, micro: 1, schedules: 1f1b, zero: 0, recompute: full, sequence_parallel: true}
"""
FILES = ("search.csv", "search.json", "search.html", "best.yaml", "scenario.yaml")


def timed(binary, folder, *arguments, hurried=False):
    """Hurried: it may have timed nothing, which it says."""
    begun = time.monotonic()
    result = tool.run(binary, "search", *arguments, "--quiet", cwd=folder, expect=None if hurried else 0)
    nothing = result.returncode == 1 and result.stderr.endswith("nothing was timed yet\n")
    if result.returncode and not nothing:
        raise SystemExit(f"exit code {result.returncode}: {result.stdout}{result.stderr}")
    return result.stdout, time.monotonic() - begun


def rows_of(folder):
    with open(folder / "search.csv", newline="") as file:
        return list(csv.DictReader(file))


def while_looking(check, binary, folder):
    """Half of the time is for layouts that are known by then; they are of all sizes."""
    wide = ("wide.yaml", "--engine", "analytic", "--jobs", "1", "--top", 0)
    for limit in (2, 4, 8, 16, 32):  # on a busy machine little may be known after the first
        text, _ = timed(binary, folder, *wide, "-o", "limited", "--time-limit", f"{limit}s", hurried=True)
        rows = rows_of(folder / "limited") if (folder / "limited").exists() else []
        looked = {row["data"] for row in rows if row["status"] != "not tried"}
        if any(row["rank"] for row in rows) and len(looked) >= 3:
            break
    check.that("stopped early" in text and any(row["rank"] for row in rows), f"limit while looking: {text!r}")
    check.that(any(row["status"] == "not tried" for row in rows), "limit while looking: all were looked at")
    check.that(len(looked) >= 3, f"limit while looking: only data {looked}")
    for moment in (1, 3, 8):  # looking takes 20 s of a processor
        process = subprocess.Popen([str(binary), "search", *map(str, wide), "--quiet"], cwd=folder, text=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        tool.wait_until_computed(process, moment)
        process.send_signal(signal.SIGINT)
        out, error = process.communicate(timeout=120)
        if process.returncode == 0:
            break
    check.that(process.returncode == 0 and "stopped early" in out, f"interrupted while looking: {out!r} {error!r}")


def in_turns(check, binary, folder):
    """Where looking and timing take turns, and where a search goes on later, the bytes are those of one in peace."""
    wide = ("wide.yaml", "--engine", "analytic", "--set", "search.micro=[1]", "--set", "search.balance=auto", "--set",
            "search.chunks=2", "--top", 0)
    _, seconds = timed(binary, folder, *wide, "-o", "calm")
    for share in tool.sampled((0.7, 1.5)):
        (folder / "turns.journal").unlink(missing_ok=True)
        timed(binary, folder, *wide, "-o", "turns", "--time-limit", f"{1000 * share * seconds:.0f}ms")
        if (folder / "turns.journal").exists():
            timed(binary, folder, *wide, "-o", "turns", "--resume")
        for name in FILES:
            check.that((folder / "calm" / name).read_bytes() == (folder / "turns" / name).read_bytes(),
                       f"{share} of the time: another {name}")


def while_simulating(check, binary, folder):
    for limit in (1, 4, 16):  # on a busy machine the layout may not be timed by then
        text, _ = timed(binary, folder, "long.yaml", "-o", "long", "--time-limit", f"{limit}s", hurried=True)
        if (folder / "long").exists() and any(row["rank"] for row in rows_of(folder / "long")):
            break
    check.that("of the best, 0 were simulated" in text, f"limit while simulating: {text!r}")
    check.that([row["verified_iteration_s"] for row in rows_of(folder / "long") if row["rank"]] == [""], "simulated")
    check.that((folder / "long.journal").exists(), "limit while simulating: the journal is gone")


def main():
    check, binary = tool.Checker(), tool.binary_argument()
    os.environ["STAGESIM_PLATFORMS"] = str(tool.ROOT / "platforms")
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        (folder / "wide.yaml").write_text(WIDE)
        (folder / "long.yaml").write_text(LONG)
        for part in (while_looking, in_turns, while_simulating):
            part(check, binary, folder)
    return check.done()


if __name__ == "__main__":
    sys.exit(main())
