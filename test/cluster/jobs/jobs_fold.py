#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""jobs_fold.py STAGESIM [CASES [SEED]]: ranks of all jobs of a cluster in classes, against every rank of every job, on
random clusters; which jobs are simulated for which; groups that do not get ahead of each other; what is refused."""
import json
import os
import random
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "support"))
import tool  # noqa: E402

check = tool.Checker()
binary = tool.binary_argument()


def summary_of(folder, cluster, *options):
    """The summary of a run, or None."""
    with open(os.path.join(folder, "cluster.yaml"), "w", encoding="utf-8") as file:
        json.dump(cluster, file)
    out = tempfile.mkdtemp(dir=folder)
    got = subprocess.run([binary, "run", "cluster.yaml", "--quiet", "-o", out, *options], cwd=folder,
                         capture_output=True, text=True, check=False)
    if not check.that(got.returncode == 0, f"{cluster}\n{got.stderr}"):
        return None
    with open(os.path.join(out, "summary.json"), encoding="utf-8") as file:
        return json.load(file)


# ---- random clusters ----

def draw_scenario(draw, ranks):
    """A job of so many ranks, or fewer."""
    tensor = draw.choice([size for size in (1, 2, 4, 8) if size <= ranks])
    pipeline = draw.choice([1, 1, 2]) if ranks // tensor >= 2 else 1
    job = {"workload": "transformer",
           "model": {"layers": 4, "hidden": 1024, "heads": 16, "sequence": 1024, "vocabulary": 32000},
           "parallel": {"tensor": tensor, "pipeline": pipeline, "data": ranks // tensor // pipeline},
           "batch": {"micro_batches": draw.choice([1, 2, 4]), "micro": 1},
           "schedule": "1f1b" if pipeline > 1 else "gpipe"}
    if draw.random() < 0.3:
        job["transformer"] = {"zero": draw.choice([1, 3])}
    return job


def draw_cluster(draw):
    nodes = draw.choice([4, 6, 8])
    platform = {"preset": draw.choice(["dgx-h100", "dgx-a100"]), "nodes": nodes, "pod": draw.choice([1, 2, nodes // 2]),
                "oversubscription": draw.choice([1, 1, 2, 4])}
    jobs, left = {}, 8 * nodes
    for i in range(draw.choice([1, 2, 3])):
        ranks, copies = draw.choice([2, 4, 8, 16]), draw.choice([1, 1, 2, 3])
        if ranks * copies > left:
            continue
        left -= ranks * copies
        jobs[f"j{i}"] = {"scenario": draw_scenario(draw, ranks), "iterations": draw.choice([1, 2, 3]), "copies": copies,
                         "placement": draw.choice(["packed", "spread", "random", "rail"]),
                         "start": f"{draw.choice([0, 0, 1, 7.5])}ms"}
    twin = draw.choice(list(jobs)) if jobs and draw.random() < 0.4 else None
    ranks = 1
    for size in jobs[twin]["scenario"]["parallel"].values() if twin else ():
        ranks *= size
    if twin and ranks <= left:  # the same job at another time
        jobs["twin"] = {**jobs[twin], "copies": 1, "start": f"{draw.choice([0, 2, 5])}ms"}
    leads = {"leads": "even"} if draw.random() < 0.3 else {}  # without turns, folded and not
    return {"platform": platform, "jobs": jobs, **leads} if jobs else draw_cluster(draw)


FIGURES = ("iteration_s", "iteration_alone_s", "end_s", "iteration_shortest_s", "iteration_longest_s", "bubble_ratio")


def check_leads(folder):
    """Jobs at random places: without turns ranks are alike, and folding them changes nothing; times are near those with
    turns; the run says how far off they are where it leaves turns out of itself."""
    scenario = {"workload": "transformer", "schedule": "gpipe",
                "model": {"layers": 4, "hidden": 1024, "heads": 16, "sequence": 1024, "vocabulary": 32000},
                "parallel": {"tensor": 8, "data": 4}, "batch": {"micro_batches": 1, "micro": 1}}

    def cluster(copies, **keys):
        return {"platform": {"preset": "dgx-h100", "nodes": 4 * copies, "pod": 4, "oversubscription": 4}, **keys,
                "jobs": {"j": {"scenario": scenario, "copies": copies, "placement": "random", "iterations": 1}}}

    for copies in (3, 4):
        even, all_ranks, exact = (summary_of(folder, cluster(copies, leads=leads, fold=fold))
                                  for leads, fold in (("even", "auto"), ("even", "off"), ("exact", "auto")))
        if not even or not all_ranks or not exact:
            return
        compare("leads", cluster(copies), even, all_ranks)
        check.that(2 * even["simulated_ranks"] <= exact["simulated_ranks"], f"even folds: {even['simulated_ranks']}")
        check.that("even_leads" in even and "even_leads" not in exact, "what was even is said")
        for one, other in zip(even["jobs"], exact["jobs"]):
            error = abs(one["iteration_s"] / other["iteration_s"] - 1)
            check.that(error < 0.01, f"{one['name']}: even is off by {error}")
    apart = summary_of(folder, cluster(4, leads="even", engine="analytic"))
    check.that(apart and "even_leads" not in apart, "without contention nobody gets ahead, and nothing is off")
    larger = {**scenario, "schedule": "1f1b", "model": {**scenario["model"], "layers": 24, "hidden": 2048},
              "parallel": {"tensor": 8, "pipeline": 2, "data": 4}, "batch": {"micro_batches": 4, "micro": 1}}
    many = summary_of(folder, {"platform": {"preset": "dgx-h100", "nodes": 112, "pod": 8, "oversubscription": 2},
                               "jobs": {"j": {"scenario": larger, "copies": 14, "placement": "random",
                                              "iterations": 1}}})
    said = many.get("even_leads", {}) if many else {}
    check.that(said.get("checked_jobs", 0) > 2 and 0 < said["error_mean"] <= said["error_max"] < 0.01, f"said: {said}")


def compare(case, cluster, short, long):
    for one, other in zip(short["jobs"], long["jobs"]):
        for figure in FIGURES:
            error = abs(one[figure] - other[figure]) / max(other[figure], 1e-9)
            check.that(error < 1e-6, f"case {case}, {one['name']}: {figure} {one[figure]} and {other[figure]}\n"
                                     f"{json.dumps(cluster)}")


def check_random(folder, numbers, seed):
    """Every other cluster is also run as a whole, jobs that share no link together."""
    folded = 0
    for case in numbers:
        cluster = draw_cluster(random.Random(f"{seed}/{case}"))
        short, long = summary_of(folder, cluster), summary_of(folder, cluster, "--set", "fold=off")
        if not short or not long:
            continue
        folded += short["simulated_ranks"] < long["simulated_ranks"]
        compare(case, cluster, short, long)
        kinds = (sorted(run["link_kinds"], key=lambda kind: kind["name"]) for run in (short, long))
        for one, other in zip(*kinds):
            check.that(one["name"] == other["name"] and abs(one["busy"] - other["busy"]) < 1e-6,
                       f"case {case}: links {one} and {other}")
        whole = summary_of(folder, cluster, "--set", "fold=off", "--set", "steady=off") if case % 2 else None
        if whole:
            check.that(whole["simulated_ranks"] == whole["ranks"], "the long way simulates all")
            compare(case, cluster, short, whole)
    check.that(folded > len(numbers) / 2, f"{folded} of {len(numbers)} were folded")


def check_chain(folder):
    """Jobs that are alike and share no link, but each one with a third, which comes between them: over many iterations
    one gets ahead of it and the other behind. Two chains stay alike."""
    scenario = {"workload": "transformer",
                "model": {"layers": 8, "hidden": 1024, "heads": 8, "sequence": 1024, "vocabulary": 32000},
                "parallel": {"tensor": 8, "data": 2}, "batch": {"micro_batches": 1, "micro": 1}, "schedule": "gpipe"}
    ends = {"a": (0, 2), "c": (3, 4), "b": (5, 6)}
    jobs = {f"{name}{chain}": {"scenario": scenario, "iterations": 20,
                               "placement": [f"gpu-{node + 8 * chain}-*" for node in nodes]}
            for chain in (0, 1) for name, nodes in ends.items()}
    cluster = {"platform": {"preset": "dgx-h100", "nodes": 16, "pod": 2, "oversubscription": 8}, "jobs": jobs}
    short, long = summary_of(folder, cluster), summary_of(folder, cluster, "--set", "fold=off")
    if short and long:
        compare("chain", cluster, short, long)
        check.that(len({round(job["end_s"], 6) for job in long["jobs"]}) > 1, "jobs of a chain differ")
        check.that(short["simulated_ranks"] <= long["simulated_ranks"] / 2, f"{short['simulated_ranks']} are simulated")


def main():
    cases = range(int(sys.argv[2])) if len(sys.argv) > 2 else tool.sampled(range(32))
    with tempfile.TemporaryDirectory() as folder:
        check_chain(folder)
        check_leads(folder)
        check_random(folder, cases, sys.argv[3] if len(sys.argv) > 3 else "folding")
    return check.done()


sys.exit(main())
