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


def queue(folder, jobs, oversubscription, pod=2, **keys):
    """Jobs as (nodes, type, iterations), all at 0."""
    put(folder, "log.csv", "submit,nodes,run,type,iterations,priority\n"
        + "".join(f"0,{nodes},,{kind},{iterations},1\n" for nodes, kind, iterations in jobs))
    for kind, layers in (("small", 4), ("large", 8)):
        put(folder, f"{kind}.yaml", {**job(1, layers), "platform": "dgx-h100:1"})
    types = {kind: {"scenario": f"{kind}.yaml", "iterations": 1} for kind in ("small", "large")}
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


def check_estimates(folder):
    """Sets that are too large are estimated from others, and how far that is off is said."""
    jobs = [(2, "small", 12)] * 2 + [(2, "large", 9)] * 2
    exact, _ = ends(folder, jobs, pod=4)
    rough, out = ends(folder, jobs, pod=4, together=2)
    found = read(out, "summary.json")["contention"]
    check.that(found["estimated"] > 0 and found["largest_set"] == 4, f"{found}")
    check.that(all(abs(a / b - 1) < 0.5 for a, b in zip(sorted(exact), sorted(rough))), f"{exact} and {rough}")
    check.that(found["estimate_error_most"] >= abs(found["estimate_bias"]), f"{found}")
    _, out = ends(folder, [(4, "small", 5 + i) for i in range(9)], sets=1)
    found = read(out, "summary.json")["contention"]
    check.that(found["simulated"] == 1 and found["known"] > 0, f"pairs of equal jobs are of one class: {found}")


def check_refusals(folder):
    scenario = queue(folder, [(4, "small", 20)], 8, contention=True)
    check.that("engine: simgrid" in run(folder, {**scenario, "engine": "analytic"}, 1), "the engine is named")
    check.that("failures" in run(folder, {**scenario, "failures": "llama3"}, 1), "failures are named")
    scenario["queue"]["policy"] = "priority"
    check.that("preemption" in run(folder, scenario, 1), "preemption is named")


def main():
    with tempfile.TemporaryDirectory() as folder:
        for each in (check_jobs, check_rates, check_apart, check_estimates, check_refusals):
            each(folder)
    return check.done()


sys.exit(main())
