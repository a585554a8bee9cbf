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


ENDS = (1.01, 1.02, 1.05, 1.1, 1.2, 1.5, math.inf)
with open(ROOT / "analysis/band/pairs.csv", encoding="utf-8") as file:
    PAIRS = [(float(row["apart"]), row["right"] == "yes", row["changed"])
             for row in csv.DictReader(line for line in file if not line.startswith("#"))]


def agreement(apart, pairs, changed=""):
    """(pairs, right) of those about as far apart: that differ in the same where these are five or more."""
    at = next(i for i, end in enumerate(ENDS) if apart < end)
    near = [(right, what) for other, right, what in pairs if (ENDS[at - 1] if at else 0) <= other < ENDS[at]]
    alike = [right for right, what in near if changed and what == changed]
    alike = alike if len(alike) >= 5 else [right for right, _ in near]
    return len(alike), sum(alike)


def order():
    """Where one half of the pairs says 8 of 10 or more, 85 % of the other half go that way; twenty halves."""
    right = []
    for seed in range(20):
        side = [hashlib.sha256(f"{seed} {i}".encode()).digest()[0] % 2 for i in range(len(PAIRS))]
        given = [pair for pair, mine in zip(PAIRS, side) if mine]
        for pair, mine in zip(PAIRS, side):
            count, agree = agreement(pair[0], given, pair[2]) if not mine else (0, 0)
            if count and agree >= 0.8 * count:
                right.append(pair[1])
    share = sum(right) / len(right)
    check.that(share >= 0.85, f"{share:.1%} of pairs that are said to be sure go as predicted")
    print(f"{share:.1%} of pairs held back that are said to be sure go as predicted")


MEMORY_LEVELS = (("kind", "framework", "nodes", "precision"), ("kind", "framework", "nodes"), ("kind", "framework"),
                 ("framework",), ("kind",), ())
with open(ROOT / "analysis/band/memory.csv", encoding="utf-8") as file:
    MEMORY = list(csv.DictReader(line for line in file if not line.startswith("#")))
for place, each in enumerate(MEMORY):
    each["ratio"], each["place"] = float(each["ratio"]), str(place)


def memory_class(job, rows):
    """(rows, quantiles) of the narrowest class that has some."""
    for level in MEMORY_LEVELS:
        alike = [row for row in rows if all(row[key] == job[key] for key in level)]
        found = quantiles(alike) if alike else None
        if found:
            return alike, found
    return None


def sure(rows, tensors, beside, gpu, reserve):
    """In which share of such jobs a prediction fits; one job more, of which nothing is known, does not."""
    sizes = collections.Counter(row["set"] for row in rows)
    fit = sum(1 / sizes[row["set"]] for row in rows
              if tensors * row["ratio"] + beside <= gpu * ((1 - reserve) if row["counted"] == "allocated" else 1))
    return fit / (len(sizes) * (1 + 1 / len(rows)))


def memory_coverage():
    """As coverage(), of memory; and of jobs held back that are said to fit in x of 100, at least so many fit: asked for
    GPUs of many sizes, in tenths, each publication weighing the same as in what is said."""
    held, classes, promised = [], collections.defaultdict(list), collections.defaultdict(list)
    sizes = collections.Counter(row["set"] for row in MEMORY)
    for seed in range(20):
        given = [row for row in MEMORY if hash_of(row, seed) % 2]
        for row in MEMORY:
            found = memory_class(row, given) if not hash_of(row, seed) % 2 else None
            if not found:
                continue
            inside = found[1][0] <= row["ratio"] <= found[1][1]
            held.append(inside)
            classes[row["kind"], row["framework"]].append(inside)
            for size in (0.9, 0.95, 1, 1.05, 1.1, 1.15, 1.2, 1.3, 1.4, 1.6):
                whole = size / (0.94 if row["counted"] == "allocated" else 1)
                said = sure(found[0], 1, 0, whole, 0.06)
                promised[min(int(said * 10), 9)].append((1 / sizes[row["set"]], row["ratio"] <= size))
    share = sum(held) / len(held)
    check.that(0.72 <= share <= 0.88, f"{share:.1%} of memories that were held back lie in their bands")
    print(f"{share:.1%} of {len(held) // 20} memories held back lie in their bands")
    for name, inside in sorted(classes.items()):
        print(f"  memory of {', '.join(name)}: {sum(inside) / len(inside):.1%} of {len(inside) / 20:.1f}")
        if len(inside) >= 200:
            check.that(0.6 <= sum(inside) / len(inside), f"memory of {name}")
    for tenth, fit in sorted(promised.items()):
        share = sum(weight for weight, did in fit if did) / sum(weight for weight, _ in fit)
        print(f"  said to fit in {10 * tenth} to {10 * tenth + 9} of 100: {share:.1%} did")
        check.that(share >= tenth / 10 - 0.15, f"said to fit in {10 * tenth} of 100: {share:.1%} did")


def compared(stagesim):
    """What compare says of its two fastest."""
    with tempfile.TemporaryDirectory() as folder:
        job = pathlib.Path(folder) / "job.yaml"
        for model, micro_batches in (("llama3-8b", 4), ("llama3-8b", 64), ("llama3-8b", 16)):
            job.write_text(f"platform: dgx-h100:4\nframework: megatron\nworkload: transformer\nmodel: {model}\n"
                           f"parallel: {{tensor: 2, pipeline: 4, data: 4}}\nschedule: gpipe\nengine: analytic\n"
                           f"batch: {{micro: 1, micro_batches: {micro_batches}}}\n")
            text = tool.run(stagesim, "compare", job, "--schedules", "gpipe,1f1b,interleaved", "--format", "csv").stdout
            times = sorted(float(row["iteration_s"]) for row in csv.DictReader(text.splitlines())
                           if row["fits"] != "false")
            said = tool.run(stagesim, "compare", job, "--schedules", "gpipe,1f1b,interleaved").stdout
            count, right = agreement(times[1] / times[0], PAIRS, "schedule")
            alike = " of schedules" if count < agreement(times[1] / times[0], PAIRS)[0] else ""
            words = f"of {count} published pairs{alike} predicted about as far apart {right} went this way"
            check.that(words in said, f"{words}: {said}")
            check.that(("cannot be told apart" in said) == (10 * right < 8 * count), said)


def program_memory(memory, job):
    """What a summary says of memory."""
    rows, (low, high) = memory_class(job, MEMORY)
    found, beside = memory.get("band", {}), memory["beside_bytes"]
    tensors = memory["peak_bytes"] - beside
    check.that(beside == int(2.1 * 2 ** 30) or abs(beside - 2.1 * 2 ** 30) < 1, f"{job}: {beside} bytes beside")
    check.that(found.get("published_jobs") == len(rows), f"{job}: {found}, expected {len(rows)} jobs")
    check.near(found.get("low_bytes", math.nan), tensors * low + beside, f"{job}: low")
    check.near(found.get("high_bytes", math.nan), tensors * high + beside, f"{job}: high")
    reserve = memory["reserve_ratio"]
    check.near(found.get("fits_share", math.nan), sure(rows, tensors, beside, memory["capacity_bytes"] / (1 - reserve),
                                                      reserve), f"{job}: fits")
    same_kind = any(row["kind"] == job["kind"] for row in rows)
    own = all(row["framework"] == job["framework"] for row in rows)
    check.that(("lacks" in found) == (not same_kind or not own), f"{job}: {found}")
    for word, counted in (("allocated", "allocated"), ("reserved", "reserved"), ("nvidia-smi", "shown")):
        check.that((word in found["alike"]) == any(row["counted"] == counted for row in rows), f"{job}: {found}")


def program(stagesim):
    jobs = [("dgx-h100:8", "nemo", "llama3-70b", "bf16", "several", "H100"),
            ("dgx-a100:1", "deepspeed", "llama3-8b", "fp16", "one", "A100"),
            ("dgx-a100:8", "deepspeed", "llama3-70b", "bf16", "several", "A100"),
            ("dgx-h100:2", "torchtitan", "llama3-70b", "bf16", "several", "H100"),
            ("dgx-h100:2", "torchtitan", "mixtral-8x7b", "bf16", "several", "H100"),
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
            memory = json.loads((pathlib.Path(folder) / "out/summary.json").read_text())["memory"]
            program_memory(memory, {"kind": kind, "framework": framework, "nodes": nodes, "precision": precision})
            for key in ("compute.efficiency=0.5",):
                tool.run(stagesim, "run", path, "--set", key, "-o", pathlib.Path(folder) / "own", "--quiet")
                own = json.loads((pathlib.Path(folder) / "own/summary.json").read_text())["time"]
                check.that("band" not in own, "a band where the scenario says how long operators take")


coverage()
memory_coverage()
order()
compared(tool.binary_argument())
program(tool.binary_argument())
sys.exit(check.done())
