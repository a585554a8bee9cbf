#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`stagesim search` against brute force: every candidate of a small space is checked and run on its own. The same layouts are legal, come to the same
time and memory, and win; the output does not depend on the number of processes; the winner's scenario runs.

usage: search.py STAGESIM
"""
import concurrent.futures
import csv
import itertools
import json
import os
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import tool

SCENARIO = """platform: dgx-a100-2
workload: transformer
model: {layers: 10, hidden: 8192, heads: 4, sequence: 2048, vocabulary: 32000}
parallel: {pipeline: 2, data: 2}
batch: {global: 12, micro: 1}
schedule: {name: interleaved, chunks: 3}
transformer: {attention: standard}
search: {micro: [1, 3], schedules: [1f1b, interleaved], recompute: [none, full], zero: [0, 2]}
"""
GPUS, GLOBAL = 4, 12


def candidates():
    meshes = [(data, tensor, GPUS // data // tensor) for data in (1, 2, 4) for tensor in (1, 2, 4) if data * tensor <= GPUS]
    return list(itertools.product(meshes, (1, 3), ("1f1b", "interleaved"), ("none", "full"), (0, 2)))


def settings(candidate):
    (data, tensor, pipeline), micro, schedule, recompute, zero = candidate
    chunks = ", chunks: 3" if schedule == "interleaved" else ""
    values = [f"parallel={{data: {data}, tensor: {tensor}, pipeline: {pipeline}}}", f"batch={{global: {GLOBAL}, micro: {micro}}}",
              f"schedule={{name: {schedule}, recompute: {recompute}{chunks}}}", f"transformer.zero={zero}"]
    return [part for value in values for part in ("--set", value)]


def alone(binary, folder, number, candidate):
    """The summary of one candidate; None where `check` refuses it."""
    arguments = settings(candidate)
    if tool.run(binary, "check", "s.yaml", *arguments, cwd=folder, expect=None).returncode:
        return None
    return tool.summary(binary, "s.yaml", f"alone-{number}", "--engine", "analytic", *arguments, cwd=folder)


def row_of(candidate):
    (data, tensor, pipeline), micro, schedule, recompute, zero = candidate
    return tuple(map(str, (data, tensor, pipeline, micro, schedule, recompute, zero)))


def brute_force(check, binary, folder):
    tool.run(binary, "search", "s.yaml", "--gpus", GPUS, "--engine", "analytic", "-o", "found", "--quiet", cwd=folder)
    with open(folder / "found/search.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    keys = ("data", "tensor", "pipeline", "micro", "schedule", "recompute", "zero")
    found = {tuple(row[key] for key in keys): row for row in rows}
    check.that(len(rows) == len(found) == len(candidates()), f"{len(rows)} rows for {len(candidates())} candidates")
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        summaries = list(pool.map(lambda item: alone(binary, folder, *item), enumerate(candidates())))
    times = []
    for candidate, summary in zip(candidates(), summaries):
        row = found.get(row_of(candidate))
        if not check.that(row is not None, f"{candidate} was not tried"):
            continue
        if summary is None:
            check.that(row["status"] == "illegal" and row["reason"], f"{candidate}: {row['status']}, but check refuses it")
            continue
        fits = summary["memory"]["fits"]
        check.that(row["status"] == ("fits" if fits else "does not fit"), f"{candidate}: {row['status']}, fits: {fits}")
        check.near(float(row["iteration_s"]), summary["time"]["iteration_s"], f"{candidate}: time", 1e-12)
        check.near(float(row["peak_bytes"]), summary["memory"]["peak_bytes"], f"{candidate}: memory", 1e-12)
        check.near(float(row["mfu"]), summary["throughput"]["mfu"], f"{candidate}: mfu", 1e-12)
        check.near(float(row["seconds_per_sample"]), summary["time"]["iteration_s"] / GLOBAL, f"{candidate}: seconds per sample", 1e-12)
        if fits:
            times.append((summary["time"]["iteration_s"], summary["memory"]["peak_bytes"]))
    kinds = {row["status"] for row in rows}
    check.that(kinds == {"fits", "does not fit", "illegal"}, f"a case that has all kinds: {kinds}")
    check_ranking(check, folder, rows, times)


def check_ranking(check, folder, rows, times):
    ranked = [row for row in rows if row["rank"]]
    check.near(float(ranked[0]["iteration_s"]), min(times)[0], "the winner's time", 1e-12)
    order = [(float(row["iteration_s"]), float(row["peak_bytes"])) for row in ranked]
    check.that(order == sorted(order) and len(order) == len(times), "the ranking is in the order of time")
    front = {point for point in order if not any(other != point and other[0] <= point[0] and other[1] <= point[1] for other in order)}
    marked = {(float(row["iteration_s"]), float(row["peak_bytes"])) for row in rows if row["pareto"] == "true"}
    check.that(marked == front, f"Pareto front {sorted(marked)}, expected {sorted(front)}")
    document = json.loads((folder / "found/search.json").read_text())
    check.that(document["candidates"] == len(rows) and document["fit"] == len(times), "counts of search.json")
    check.that(document["illegal"] == sum(reason["count"] for reason in document["reasons"]), "reasons of search.json")
    check.that(document["best"][0]["iteration_s"] == float(ranked[0]["iteration_s"]), "best of search.json")


def winner_runs(check, binary, folder):
    best = json.loads((folder / "found/search.json").read_text())["best"][0]
    summary = tool.summary(binary, folder / "found/best.yaml", "best", cwd=folder)
    check.near(summary["time"]["iteration_s"], best["iteration_s"], "best.yaml", 1e-12)
    check.that(summary["scenario"]["engine"] == "analytic", "best.yaml keeps the engine")


def same_for_any_number_of_processes(check, binary, folder):
    for jobs in (1, 3):
        tool.run(binary, "search", "s.yaml", "--gpus", GPUS, "--engine", "analytic", "-o", f"jobs-{jobs}", "--jobs", jobs, cwd=folder)
    for name in ("search.csv", "search.json", "search.svg", "best.yaml"):
        one, three = (folder / f"jobs-{jobs}" / name for jobs in (1, 3))
        check.that(one.read_bytes() == three.read_bytes(), f"{name} depends on --jobs")


def verified(check, binary, folder):
    """The times on SimGrid are those of a run, and decide the order."""
    result = tool.run(binary, "search", "s.yaml", "--gpus", GPUS, "--top", 3, "--format", "json", "--quiet", cwd=folder)
    best = json.loads(result.stdout)["best"]
    check.that(len(best) == 3, f"{len(best)} of the best 3")
    for layout in best:
        candidate = ((layout["data"], layout["tensor"], layout["pipeline"]), layout["micro"], layout["schedule"], layout["recompute"],
                     layout["zero"])
        summary = tool.summary(binary, "s.yaml", "verified", *settings(candidate), cwd=folder)
        check.that(summary["time"]["iteration_s"] == layout["verified_iteration_s"], f"{candidate}: verified time")
    times = [layout["verified_iteration_s"] for layout in best]
    check.that(times == sorted(times), f"order of the verified ones: {times}")


def other_axes_and_files(check, binary, folder):
    """Axes that are not searched stay; what is named by file is found from the winner's place."""
    (folder / "sub").mkdir()
    (folder / "sub/model.yaml").write_text("{layers: 4, hidden: 1024, heads: 8, sequence: 512, vocabulary: 32000}")
    (folder / "sub/p.xml").write_text((tool.ROOT / "platforms/dgx-a100-2.xml").read_text())
    (folder / "sub/s.yaml").write_text("platform: p.xml\nworkload: transformer\nmodel: model.yaml\nbatch: {global: 8, micro: 1}\n"
                                       "schedule: 1f1b\nsearch: {gpus: 8, micro: 1, recompute: none, zero: [0, 1]}\n")
    tool.run(binary, "search", "sub/s.yaml", "-o", "deep/er/found", "--quiet", "--engine", "analytic", "--picture", "png,pdf", cwd=folder)
    names = sorted(path.name for path in (folder / "deep/er/found").iterdir())
    check.that(names == ["best.yaml", "search.csv", "search.json", "search.pdf", "search.png"], f"files {names}")
    tool.run(binary, "run", "best.yaml", cwd=folder / "deep/er/found")
    check.that("platform: ../../../sub/p.xml" in (folder / "deep/er/found/best.yaml").read_text(), "the platform's path in best.yaml")
    names = [entry["name"] for entry in json.loads(tool.run(binary, "list", "schedules", "--format", "json").stdout)]
    tool.run(binary, "check", "sub/s.yaml", "--set", f"search.schedules=[{', '.join(names)}]", cwd=folder)


def refused(check, binary, folder):
    for arguments, code, expected in (
            (["--set", "search.schedules=gpipe", "--set", "model.layers=3", "--set", "search.pipeline=4"], 1, "none of the layouts is legal"),
            (["--gpus", "0"], 1, "--gpus: error"), (["--gpus", "17"], 1, "--gpus: error: the platform has 16 GPUs, fewer than 17"),
            (["--top", "-1"], 2, "--top takes"), (["--jobs", "x"], 2, "--jobs takes"), (["--trace", "csv"], 2, "unknown option"),
            (["other.yaml"], 2, "expected one scenario")):
        result = tool.run(binary, "search", "s.yaml", "-o", "refused", *arguments, cwd=folder, expect=code)
        check.that(expected in result.stderr and not result.stdout, f"{arguments}: {result.stderr!r}")
        check.that(not (folder / "refused").exists(), f"{arguments}: something was written")


def main():
    check, binary = tool.Checker(), tool.binary_argument()
    os.environ["STAGESIM_PLATFORMS"] = str(tool.ROOT / "platforms")
    os.environ["STAGESIM_EFFICIENCY"] = str(tool.ROOT / "workloads/efficiency")
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        (folder / "s.yaml").write_text(SCENARIO)
        for part in (brute_force, winner_runs, same_for_any_number_of_processes, verified, other_axes_and_files, refused):
            part(check, binary, folder)
    return check.done()


if __name__ == "__main__":
    sys.exit(main())
