#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Searches with objective p50, p95 and p99: each layout has what `run --quantiles` says of it alone, on both engines,
and the ranking is by that, which is another one than by the iteration. Processes and parts change nothing. A scenario
without tails is refused, and a schedule whose iterations overlap is illegal.

usage: quantiles.py STAGESIM"""
import csv
import json
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "support"))
import tool

JOB = """platform: dgx-a100-2
workload: transformer
model: {layers: 8, hidden: 2048, heads: 16, sequence: 2048, vocabulary: 51200, positions: 2048}
parallel: {data: 1}
batch: {global: 64, micro: 1}
schedule: 1f1b
engine: analytic
tails: {like: uneven-sequences, steps: 200}
search: {data: [2, 4, 8, 16], pipeline: [1, 2, 4, 8], tensor: 1, micro: 1, schedules: [1f1b, zb-h1, pipedream],
  recompute: none, zero: 1, sequence_parallel: false, objective: OBJECTIVE}
"""


def found(binary, folder, objective, engine):
    (folder / "s.yaml").write_text(JOB.replace("OBJECTIVE", objective))
    tool.run(binary, "search", "s.yaml", "-o", "found", "--engine", engine, "--quiet", "--top", "3", cwd=folder)
    with open(folder / "found/search.csv") as file:
        rows = list(csv.DictReader(file))
    return [row for row in rows if row["status"] == "fits"], rows


def alone(binary, folder, row, engine):
    sets = [f"parallel.{axis}={row[axis]}" for axis in ("data", "pipeline")]
    sets += ["transformer.zero=1", "transformer.balance=auto", "schedule=" + (row["schedule"] or "1f1b")]
    tool.run(binary, "run", "s.yaml", "-o", "one", "--quiet", "--engine", engine,
             *(part for text in sets for part in ("--set", text)), cwd=folder)
    return json.loads((folder / "one/summary.json").read_text())["step"]


def check_objective(check, binary, folder, objective, engine):
    rows, everything = found(binary, folder, objective, engine)
    values = []
    for row in rows:
        if engine == "simgrid" and not row["verified_iteration_s"]:
            continue
        quantile = alone(binary, folder, row, engine if row["verified_iteration_s"] else "analytic")[f"{objective}_s"]
        check.near(float(row[f"step_{objective}_s"]), quantile, f"{objective}, {engine}: {row}", 1e-9)
        values.append(quantile)
    check.that(len(values) >= (3 if engine == "simgrid" else 6), f"{objective}, {engine}: {len(values)} compared")
    check.that(values == sorted(values), f"{objective}, {engine}: {values}")
    illegal = [row for row in everything if row["status"] == "illegal" and "pipedream" in row["schedule"]]
    check.that(illegal and all("iterations overlap" in row["reason"] for row in illegal),
               f"{objective}: pipedream is {illegal}")
    return rows


def check_recorded(check, binary, folder):
    """What was recorded on two stages says nothing of other pipelines, and the reason says so."""
    text = JOB.replace("OBJECTIVE", "p95").replace("like: uneven-sequences, steps: 200", "steps: 50, trace: two.csv")
    (folder / "two.csv").write_text("micro_batch,stage,forward,backward\n" + "".join(
        f"{k},{stage},{10 + k}ms,{20 + k}ms\n" for k in range(4) for stage in range(2)))
    (folder / "s.yaml").write_text(text)
    refused = tool.run(binary, "search", "s.yaml", "--quiet", cwd=folder, expect=1).stderr
    check.that("steps is 50; expected at least 100" in refused and refused.count("error:") == 1, refused)
    (folder / "s.yaml").write_text(text.replace("steps: 50", "steps: 100"))
    tool.run(binary, "search", "s.yaml", "-o", "recorded", "--quiet", cwd=folder)
    with open(folder / "recorded/search.csv") as file:
        rows = [row for row in csv.DictReader(file) if row["schedule"] == "1f1b"]
    check.that({row["pipeline"] for row in rows if row["status"] == "fits"} == {"2"}, f"recorded: {rows}")
    other = [row["reason"] for row in rows if row["status"] == "illegal" and row["pipeline"] in "48"]
    check.that(other and all("were recorded on 2 stages" in reason for reason in other), f"recorded: {other}")


def main():
    binary, check = tool.binary_argument(), tool.Checker()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for objective in ("p50", "p95", "p99"):
            rows = check_objective(check, binary, folder, objective, "analytic")
        iterations = [float(row["iteration_s"]) for row in rows]
        check.that(iterations != sorted(iterations), "by p99 layouts have the order that they have by iterations")
        tool.run(binary, "search", "s.yaml", "-o", "again", "--quiet", "--jobs", "3", cwd=folder)
        for part in "12":
            tool.run(binary, "search", "s.yaml", "-o", "parts", "--quiet", "--shard", f"{part}/2", cwd=folder)
        tool.run(binary, "search", "s.yaml", "-o", "joined", "--quiet", "--merge", "parts", cwd=folder)
        texts = {(folder / of / "search.csv").read_bytes() for of in ("again", "joined")}
        check.that(len(texts) == 1, "processes or parts change what is found")
        check_objective(check, binary, folder, "p95", "simgrid")
        check_recorded(check, binary, folder)
        (folder / "bad.yaml").write_text(JOB.replace("OBJECTIVE", "p95").replace("tails:", "# tails:"))
        refused = tool.run(binary, "search", "bad.yaml", "--quiet", cwd=folder, expect=1).stderr
        check.that("bad.yaml:10:66: error: objective: p95 is of steps that vary" in refused, refused)
    return check.done()


if __name__ == "__main__":
    sys.exit(main())
