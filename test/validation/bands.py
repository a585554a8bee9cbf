#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""bands.py STAGESIM: bands are written down a second time here, compared with the program's, and made from one half of
the published jobs, do they hold the other half? 80 % of it, 72 to 88, and 60 to 95 % of every class of ten jobs."""
import collections
import csv
import hashlib
import json
import math
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import tool

ROOT = pathlib.Path(__file__).resolve().parents[2]
LEVELS = (("kind", "framework", "gpu", "nodes", "precision"), ("kind", "framework", "gpu", "nodes"),
          ("kind", "framework", "gpu"), ("kind", "gpu", "nodes"), ("kind", "gpu"), ("kind", "framework"), ("kind",))
with open(ROOT / "analysis/band/residuals.csv", encoding="utf-8") as file:
    ROWS = list(csv.DictReader(line for line in file if not line.startswith("#")))
for each in ROWS:
    each["ratio"] = float(each["ratio"])
check = tool.Checker()


def quantiles(rows):
    """(low, high) of 80 % of one job more, each publication weighing the same; None: too few rows."""
    sizes = collections.Counter(row["set"] for row in rows)
    total = len(sizes) * (1 + 1 / len(rows))
    low = high = None
    filled = 0
    for row in sorted(rows, key=lambda row: row["ratio"]):
        filled += 1 / sizes[row["set"]]
        if filled <= 0.1 * total + 1e-9:
            low = row["ratio"]
        if high is None and filled >= 0.9 * total - 1e-9:
            high = row["ratio"]
    return None if low is None or high is None else (low, high)


def band(job, rows):
    """(low, high, number of rows) of the narrowest class that has a band."""
    for level in LEVELS:
        alike = [row for row in rows if row["calibrated"] == job["calibrated"] and all(row[k] == job[k] for k in level)]
        found = quantiles(alike) if alike else None
        if found:
            return *found, len(alike)
    return None


def hash_of(row, seed):
    return hashlib.sha256(f"{seed} {sorted(row.items())!r}".encode()).digest()[0]


def coverage():
    """Halves by a hash, 20 times. Publications with hundreds of rows count as one among others in the mean."""
    held, classes = [], collections.defaultdict(list)
    for seed in range(20):
        given = [row for row in ROWS if hash_of(row, seed) % 2]
        for row in ROWS:
            if hash_of(row, seed) % 2:
                continue
            found = band(row, given)
            if found:
                inside = found[0] <= row["ratio"] <= found[1]
                held.append(inside)
                classes[row["calibrated"], row["kind"], row["framework"], row["gpu"]].append(inside)
    share = sum(held) / len(held)
    check.that(0.72 <= share <= 0.88, f"{share:.1%} of jobs that were held back lie in their bands")
    print(f"{share:.1%} of {len(held) // 20} jobs held back lie in their bands")
    for name, inside in sorted(classes.items()):
        if len(inside) < 200: # ten jobs, twenty times
            continue
        share = sum(inside) / len(inside)
        print(f"  {', '.join(word for word in name[1:] if word)}{', calibrated' if name[0] == 'yes' else ''}: "
              f"{share:.1%} of {len(inside) // 20}")
        check.that(0.6 <= share <= 0.95, f"{name}: {share:.1%}")


def program(stagesim):
    jobs = [("dgx-h100:8", "nemo", "llama3-70b", "bf16", "several", "H100"),
            ("dgx-a100:1", "deepspeed", "llama3-8b", "fp16", "one", "A100"),
            ("dgx-h100:2", "megatron", "mixtral-8x7b", "bf16", "several", "H100"),
            ("mi300x:2", "megatron", "llama3-8b", "bf16", "several", "MI300X")]
    with tempfile.TemporaryDirectory() as folder:
        for platform, framework, model, precision, nodes, gpu in jobs:
            path = pathlib.Path(folder) / "job.yaml"
            gpus = 8 * int(platform.split(":")[1])
            path.write_text(f"platform: {platform}\nframework: {framework}\nworkload: transformer\nmodel: {model}\n"
                            f"parallel: {{tensor: 8, data: {gpus // 8}}}\nbatch: {{micro: 1, micro_batches: 2}}\n"
                            "transformer: {sequence_parallel: true}\n"
                            f"compute: {{precision: {precision}}}\nschedule: gpipe\nengine: analytic\n")
            tool.run(stagesim, "run", path, "-o", pathlib.Path(folder) / "out", "--quiet")
            time = json.loads((pathlib.Path(folder) / "out/summary.json").read_text())["time"]
            kind = "MoE" if model == "mixtral-8x7b" else "dense"
            low, high, count = band({"calibrated": "no", "kind": kind, "framework": framework, "gpu": gpu,
                                     "nodes": nodes, "precision": precision}, ROWS)
            found = time.get("band", {})
            check.that(found.get("published_jobs") == count, f"{platform}, {model}: {found}, expected {count} jobs")
            check.near(found.get("low_s", math.nan), low * time["iteration_s"], f"{platform}: low")
            check.near(found.get("high_s", math.nan), high * time["iteration_s"], f"{platform}: high")
            check.that(("lacks" in found) == (gpu == "MI300X"), f"{platform}: {found}")
            for key in ("compute.efficiency=0.5",):
                tool.run(stagesim, "run", path, "--set", key, "-o", pathlib.Path(folder) / "own", "--quiet")
                own = json.loads((pathlib.Path(folder) / "own/summary.json").read_text())["time"]
                check.that("band" not in own, "a band where the scenario says how long operators take")


coverage()
program(tool.binary_argument())
sys.exit(check.done())
