#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""islands STAGESIM: replicas that agree now and then (local SGD, DiLoCo). The time of an iteration against its closed
form for periods, parts, delays and bytes; what each rank sends for islands of several ranks and every `zero`; what
cannot be is refused."""
import collections
import csv
import itertools
import json
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "support"))
import two_sites

STAGESIM = pathlib.Path(sys.argv[1]).resolve()
RATE, LATENCY = 0.5e9, 0.03
SITES = "0.5GBps", "30ms"  # the same
faults = []


def expect(right, text):
    if not right:
        faults.append(text)


def near(found, expected, text, relative=1e-6):
    expect(abs(found - expected) <= relative * max(abs(expected), 1e-12), f"{text}: {found} instead of {expected}")


def run(folder, *sets):
    command = [STAGESIM, "run", "job.yaml", "-o", "out", "--quiet", "--trace", "csv"]
    for text in sets:
        command += ["--set", text]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True)


def good(folder, *sets):
    done = run(folder, *sets)
    if done.returncode:
        sys.exit(f"{sets}: {done.stderr}")
    summary = json.loads((folder / "out" / "summary.json").read_text())
    return summary["time"]["iteration_s"], summary["memory"]["parts"]


def outer(period, parts=1, delay=0, size=4):
    return [f"transformer.outer_period={period}", f"transformer.outer_parts={parts}",
            f"transformer.outer_delay={delay}", f"transformer.outer_bytes={size}", f"iterations={2 * period // parts}"]


def check_times(folder):
    alone, memory = good(folder, "parallel.data=1", "transformer.islands=1")
    parameters = memory["parameters_bytes"] / 2
    cases = (1, 1, 0, 4), (4, 1, 0, 4), (4, 2, 0, 2), (6, 3, 1, 4), (6, 2, 3, 0.5), (8, 2, 2, 4)
    for engine, (period, parts, delay, size) in itertools.product(("analytic", "simgrid"), cases):
        found, _ = good(folder, f"engine={engine}", *outer(period, parts, delay, size))
        # Both send as much as they have, in two steps; each leaves its site and crosses to the other one.
        exchange = parameters * size / parts / RATE + 2 * (LATENCY + 2 * 0.2e-6 + 4 * 0.1e-6)
        hidden = min(exchange, delay * alone)
        near(found, alone + (exchange - hidden) / (period / parts), f"{engine}, {period}, {parts}, {delay}, {size}",
             1e-3)


def check_volumes(folder):
    two_sites.write(folder, *SITES, gpus=4)
    for zero, parts in itertools.product((0, 1, 2, 3), (1, 2)):
        _, memory = good(folder, f"transformer.zero={zero}", *outer(4, parts, 0, 2))
        with open(folder / "out" / "operations.csv") as file:
            rows = [row for row in csv.DictReader(file) if row["rank"] == "0"]
        parameters = memory["parameters_bytes"] / 2 * (2 if zero == 3 else 1)
        # A rank sends all of its half to one other rank, and its half of what an island gathers.
        sent = collections.Counter(row["kind"] for row in rows
                                   if abs(float(row["bytes"]) * parts / parameters - 1) < 1e-9)
        expect(sent["gradient-sync"] == 2, f"{sent} between islands, zero {zero}, {parts} parts")
        gathers = 0 if zero == 3 else 2 + (4 if zero and parts == 1 else 0) * 2
        expect(sent["parameter-gather"] == gathers, f"{sent} in an island, zero {zero}, {parts} parts")
    both = [good(folder, *outer(4), f"transformer.{key}")[1]["optimizer_bytes"]
            for key in ("outer_momentum=true", "outer_momentum=false", "outer_offload=true")]
    near(both[0] - both[1], parameters / 2 * 4, "bytes of the moment")
    near(both[1] - both[2], parameters / 2 * 4, "bytes of the weights that were agreed last")
    two_sites.write(folder, *SITES)


def check_refusals(folder):
    for sets, word in ((outer(4)[:4] + ["iterations=6"], "iterations: 8"), (outer(4, 3), "expected a divisor"),
                       (outer(4, 2, 3), "applied no later"), (outer(2) + ["transformer.islands=3"], "3 islands")):
        done = run(folder, *sets)
        expect(done.returncode == 1 and word in done.stderr, f"{sets}: {done.stderr}")


with tempfile.TemporaryDirectory() as directory:
    where = pathlib.Path(directory)
    two_sites.write(where, *SITES)
    for check in (check_times, check_volumes, check_refusals):
        check(where)
print("\n".join(faults))
sys.exit(bool(faults))
