#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""queue_contention.py STAGESIM: jobs of a queue that slow each other down, against the same jobs in `jobs:`, against
sums by hand, and against a queue in which they cannot meet."""
import csv
import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "support"))
import tool  # noqa: E402

check = tool.Checker()
binary = tool.binary_argument()


def job(data, layers=4):
    return {"workload": "transformer",
            "model": {"layers": layers, "hidden": 1024, "heads": 8, "sequence": 1024, "vocabulary": 32000},
            "parallel": {"tensor": 8, "data": data}, "batch": {"micro_batches": 2, "micro": 1}, "schedule": "gpipe"}


def platform(oversubscription, pod=2):
    return {"preset": "dgx-h100", "nodes": 8, "pod": pod, "oversubscription": oversubscription}


def put(folder, name, content):
    with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
        file.write(content if isinstance(content, str) else json.dumps(content))


def run(folder, scenario, expect=0):
    """The folder that it wrote, or what it said."""
    put(folder, "scenario.yaml", scenario)
    out = tempfile.mkdtemp(dir=folder)
    table = ["--trace", "csv"] if "queue" in scenario else []
    got = subprocess.run([binary, "run", "scenario.yaml", "--quiet", "-o", out, *table], cwd=folder,
                         capture_output=True, text=True, check=False)
    check.that(got.returncode == expect, f"exit {got.returncode}, expected {expect}: {scenario}\n{got.stderr}")
    return out if expect == 0 else got.stderr


def long_job(seconds, gradient):
    return {"workload": "stages", "stages": {"forward": f"{seconds / 6}s", "backward": f"{seconds / 3}s",
                                             "gradient": gradient},
            "parallel": {"pipeline": 1, "data": 8}, "batch": {"micro_batches": 2, "micro": 1}, "schedule": "gpipe"}


TYPES = {"small": job(1, 4), "large": job(1, 8), "long": long_job(4, "20GB"), "endless": long_job(1000, "20GB"),
         "piped": {**job(1, 8), "schedule": "pipedream-2bw", "parallel": {"tensor": 8, "pipeline": 2, "data": 1},
                   "batch": {"micro_batches": 4, "micro": 1}}}


def queue(folder, jobs, oversubscription, pod=2, **keys):
    """Jobs as (nodes, type, iterations), all at 0, or with the time at which they come."""
    put(folder, "log.csv", "submit,nodes,run,type,iterations,priority\n"
        + "".join(f"{(*at, 0)[0]},{nodes},,{kind},{iterations},1\n" for nodes, kind, iterations, *at in jobs))
    for kind, described in TYPES.items():
        put(folder, f"{kind}.yaml", {**described, "platform": "dgx-h100:1"})
    types = {kind: {"scenario": f"{kind}.yaml", "iterations": 1} for kind in TYPES}
    return {"platform": platform(oversubscription, pod), "engine": "simgrid",
            "queue": {"log": "log.csv", "placement": "spread", "types": types, **keys}}


def read(out, name):
    with open(os.path.join(out, name), encoding="utf-8", newline="") as file:
        return json.load(file) if name.endswith("json") else list(csv.DictReader(file))


def nodes_of(span):
    nodes = []
    for part in span["nodes"].split():
        first, _, last = part.partition("-")
        nodes += range(int(first), int(last or first) + 1)
    return nodes


def ends(folder, jobs, oversubscription=8, **keys):
    out = run(folder, queue(folder, jobs, oversubscription, contention=True, **keys))
    counts = read(out, "summary.json")["contention"]
    check.that(counts["sets"] == counts["simulated"] + counts["known"] + counts["estimated"], f"{jobs}: {counts}")
    return [float(span["to_s"]) for span in read(out, "spans.csv")], out


def check_jobs(folder):
    """When nothing waits, and jobs are alike, a queue is what `jobs:` says."""
    for jobs, oversubscription in (([(4, "small", 20)] * 2, 8), ([(2, "small", 12)] * 4, 4), ([(4, "large", 7)] * 2, 2),
                                   ([(2, "large", 9)] * 3, 8)):
        _, out = ends(folder, jobs, oversubscription)
        spans = sorted(read(out, "spans.csv"), key=lambda span: int(span["job"]))
        layers = {"small": 4, "large": 8}
        described = {f"j{i}": {"scenario": job(nodes, layers[kind]), "iterations": iterations,
                               "placement": [f"gpu-{node}-*" for node in nodes_of(span)]}
                     for i, ((nodes, kind, iterations), span) in enumerate(zip(jobs, spans))}
        found = read(run(folder, {"platform": platform(oversubscription), "jobs": described}), "summary.json")
        for one, span in zip(found["jobs"], spans):
            check.near(float(span["to_s"]), one["end_s"], f"{jobs}, {one['name']}", 1e-6)
        slowed = max(one["slow_down"] for one in found["jobs"])
        check.near(read(out, "summary.json")["contention"]["largest_slow_down"], slowed, f"{jobs}: slow-down", 1e-6)
        check.that(slowed > 1.01, f"{jobs} meet")


def check_rates(folder):
    """The longer of two jobs goes on alone when the other has ended."""
    (both, _), _ = ends(folder, [(4, "small", 20)] * 2)
    (alone,), _ = ends(folder, [(4, "small", 20)])
    (first, last), _ = ends(folder, [(4, "small", 20), (4, "small", 50)])
    check.near(first, both, "the shorter job", 1e-9)
    check.near(last, both + 30 * alone / 20, "the longer one", 1e-9)


def check_apart(folder):
    """Where jobs cannot meet nothing changes, to the last digit."""
    jobs = [(4, "small", 20), (2, "large", 30), (2, "small", 11), (8, "large", 5), (1, "small", 9)]
    tables = [[read(run(folder, queue(folder, jobs, 1, contention=contention)), name)
               for name in ("spans.csv", "jobs.csv")] for contention in (True, False)]
    check.that(tables[0] == tables[1], "jobs that cannot meet have other times")


def check_energy(folder):
    """While a job waits for the network its GPUs draw idle watts: its work takes the same joules above these."""
    idle, full = 100, 650
    for jobs in ([(4, "small", 20)] * 2, [(4, "small", 20), (4, "large", 50)], [(2, "large", 9)] * 4):
        joules, times = [], []
        for contention in (True, False):
            scenario = queue(folder, jobs, 64, contention=contention)
            out = run(folder, {**scenario, "power": {"idle": f"{idle}W", "full": f"{full}W"}})
            joules.append([float(row["energy_j"]) for row in read(out, "jobs.csv")])
            times.append([float(row["end_s"]) - float(row["start_s"]) for row in read(out, "jobs.csv")])
        for (nodes, *_), slow, alone, longer, time in zip(jobs, *joules, *times):
            check.that(longer > 1.05 * time, f"{jobs} meet: {longer}, alone {time}")
            check.near(slow, alone + idle * 8 * nodes * (longer - time), f"{jobs}: joules", 1e-9)


def seconds_of(folder, scenario):
    """Of each job in the order of the log, and what is said of contention."""
    out = run(folder, scenario)
    return [float(row["end_s"]) - float(row["start_s"]) for row in read(out, "jobs.csv")], \
        read(out, "summary.json").get("contention")


def check_estimates(folder):
    """Sets that are too large are estimated from others, and how far that is off is said."""
    jobs = [(2, "small", 24)] * 2 + [(2, "large", 15)] * 2
    alone, _ = seconds_of(folder, queue(folder, jobs, 64, 4))
    exact, found = seconds_of(folder, queue(folder, jobs, 64, 4, contention=True))
    check.that(found["estimated"] == 0 and found["largest_simulated"] == 4, f"{found}")
    for together in (2, 3):
        rough, found = seconds_of(folder, queue(folder, jobs, 64, 4, contention=True, together=together))
        check.that(found["estimated"] > 0 and found["parts_simulated"] > 0 and found["largest_set"] == 4, f"{found}")
        for one, other, least in zip(exact, rough, alone):
            check.that(abs(other / one - 1) < 0.2 and other > 1.15 * least,
                       f"{exact}, estimated {rough}, alone {alone}")


def check_parts(folder):
    """Where no two jobs of a set meet, estimates are learnt from as many as do, each class once."""
    jobs = [(2, "small", 12)] * 4
    (one, *_), _ = seconds_of(folder, queue(folder, jobs, 1.5, pod=4))
    exact, _ = seconds_of(folder, queue(folder, jobs, 1.5, pod=4, contention=True))
    rough, found = seconds_of(folder, queue(folder, jobs, 1.5, pod=4, contention=True, together=2))
    check.that((found["largest_simulated"], found["parts_simulated"], found["simulated"]) == (3, 1, 0), f"{found}")
    check.that(min(exact) > 1.002 * one and min(rough) > 1.002 * one, f"{exact}, estimated {rough}, alone {one}")
    check.that(found["estimates_checked"] == 0, f"estimated from the very class that it is compared with: {found}")


def check_lengths(folder):
    """An iteration of one job beside a hundred of another one: each slow-down is that of `jobs:`."""
    jobs = [(4, "long", 4), (4, "small", 600)]
    alone, _ = seconds_of(folder, queue(folder, jobs, 64))
    found, counts = seconds_of(folder, queue(folder, jobs, 64, contention=True))
    described = {f"j{i}": {"scenario": {**TYPES[kind], "parallel": {**TYPES[kind]["parallel"],
                                                                    "data": 32 if kind == "long" else 4}},
                           "iterations": iterations, "placement": [f"gpu-{2 * k + i}-*" for k in range(4)]}
                 for i, (_, kind, iterations) in enumerate(jobs)}
    wanted = read(run(folder, {"platform": platform(64), "jobs": described}), "summary.json")["jobs"]
    check.that(counts["simulated"] == 1 and max(found[0] / alone[0], found[1] / alone[1]) > 1.1, f"{found} {alone}")
    for one, described, time in zip(found, wanted, alone):
        check.near(one, described["end_s"], f"{jobs}, {described['name']}: alone {time}", 0.005)


def check_uneven(folder):
    """A set of a job whose iteration has thousands of another one's is estimated, tried once, and that is said."""
    jobs = [(4, "endless", 1), (2, "small", 60), (1, "small", 10, 1)]
    _, out = ends(folder, jobs, 64)
    found = read(out, "summary.json")["contention"]
    check.that(found["uneven"] == 1 and found["sets"] == found["estimated"] == 3 and found["failed"] == 0, f"{found}")
    check.that(found["guessed"] == 2 * found["estimated"], f"nothing is known of these jobs: {found}")


def check_first(folder):
    """Nobody is faster beside others than alone, also where the first iteration is another one than the later ones."""
    jobs = [(4, "piped", 40), (4, "small", 60)]
    alone, _ = seconds_of(folder, queue(folder, jobs, 2, 4))
    beside, found = seconds_of(folder, queue(folder, jobs, 2, 4, contention=True))
    check.that(found["simulated"] == 1, f"{found}")
    for one, other in zip(beside, alone):
        check.near(one, other, f"{jobs}: beside each other, where they meet in name only", 1e-3)


def check_classes(folder):
    """A class is simulated once, also behind the last set that may be."""
    _, out = ends(folder, [(4, "small", 5 + i) for i in range(9)], sets=1)
    found = read(out, "summary.json")["contention"]
    check.that(found["simulated"] == 1 and found["known"] == 7 and found["estimated"] == 0, f"{found}")


def check_refusals(folder):
    scenario = queue(folder, [(4, "small", 20)], 8, contention=True)
    check.that("engine: simgrid" in run(folder, {**scenario, "engine": "analytic"}, 1), "the engine is named")
    scenario["queue"]["log"] = "month.yaml"
    check.that("drawn" in run(folder, scenario, 1), "jobs without types are named")


def main():
    with tempfile.TemporaryDirectory() as folder:
        for each in (check_jobs, check_rates, check_apart, check_energy, check_estimates, check_parts, check_lengths,
                     check_uneven, check_first, check_classes, check_refusals):
            each(folder)
    return check.done()


sys.exit(main())
