#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Searches with objective days, price and goodput, on both engines and several numbers of GPUs: each layout has what
`train` says of it alone, and the ranking is by that. Fewer GPUs win the price, more of them the days. Processes, parts
and an interruption change nothing. What cannot be asked is refused.

usage: training.py STAGESIM"""
import csv
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "support"))
import tool

JOB = """platform: dgx-a100-2
workload: transformer
model: {layers: 8, hidden: 2048, heads: 16, sequence: 2048, vocabulary: 51200, positions: 2048}
transformer: {tokens: 2e11, price: 2}
parallel: {data: 1}
batch: {global: 64, micro: 1}
schedule: 1f1b
engine: analytic
training: {runs: 20, seed: 3}
failures: {components: [{name: GPU, unit: gpu, every: 500h}, {name: node, every: 900h}], spares: 0,
  repair: 1h}
search: {gpus: [16, 8, 16], data: [2, 4, 8, 16], pipeline: [1, 2, 4], tensor: 1, micro: [1, 2], schedules: 1f1b,
  recompute: none, zero: [0, 1], sequence_parallel: false, objective: OBJECTIVE}
"""
COLUMNS = {"days": "training_s", "price": "price", "goodput": "goodput"}
FIGURES = {"training_s": "median_s", "price": "cost", "goodput": "goodput"}


def found(binary, folder, text, engine):
    (folder / "s.yaml").write_text(text)
    tool.run(binary, "search", "s.yaml", "-o", "found", "--engine", engine, "--quiet", "--top", "4", cwd=folder)
    with open(folder / "found/search.csv") as file:
        return [row for row in csv.DictReader(file) if row["status"] == "fits"]


def alone(binary, folder, row, engine):
    """The layout's training by itself; zero, as all else, is a key of the scenario."""
    sets = [f"parallel.{axis}={row[axis]}" for axis in ("data", "pipeline")]
    sets += [f"batch.micro={row['micro']}", f"transformer.zero={row['zero']}", "transformer.balance=auto"]
    tool.run(binary, "train", "s.yaml", "-o", "one", "--quiet", "--engine", engine,
             *(part for text in sets for part in ("--set", text)), cwd=folder)
    return tool.json.loads((folder / "one/forecast.json").read_text())["forecast"]


def check_objective(check, binary, folder, objective, engine):
    rows = found(binary, folder, JOB.replace("OBJECTIVE", objective), engine)
    ranks = {int(row["data"]) * int(row["pipeline"]) for row in rows}
    check.that(ranks == {8, 16} and len(rows) >= 16, f"{objective}: {len(rows)} layouts on {ranks} GPUs")
    values = []
    for row in rows:
        simulated = bool(row["verified_iteration_s"])
        if engine == "simgrid" and not simulated:
            continue
        forecast = alone(binary, folder, row, engine if simulated else "analytic")
        for column, figure in FIGURES.items():
            check.near(float(row[column]), forecast[figure], f"{objective}, {engine}: {column} of {row}", 1e-6)
        values.append(float(row[COLUMNS[objective]]))
    check.that(len(values) >= 4, f"{objective}, {engine}: {len(values)} compared")
    order = sorted(values, reverse=objective == "goodput")
    check.that(values == order, f"{objective}, {engine}: {values}")
    first = rows[0]
    check.that(int(first["data"]) * int(first["pipeline"]) == (16 if objective == "days" else 8),
               f"{objective}, {engine}: first is {first}")


def check_same(check, binary, folder):
    """One process, several, and parts that are joined."""
    (folder / "s.yaml").write_text(JOB.replace("OBJECTIVE", "price"))
    tool.run(binary, "search", "s.yaml", "-o", "a", "--quiet", "--jobs", "1", cwd=folder)
    tool.run(binary, "search", "s.yaml", "-o", "b", "--quiet", "--jobs", "3", cwd=folder)
    for part in "12":
        tool.run(binary, "search", "s.yaml", "-o", "parts", "--quiet", "--shard", f"{part}/2", cwd=folder)
    tool.run(binary, "search", "s.yaml", "-o", "c", "--quiet", "--merge", "parts", cwd=folder)
    texts = {(folder / name / "search.csv").read_bytes() for name in "abc"}
    check.that(len(texts) == 1, "processes or parts change what is found")


def check_refused(check, binary, folder):
    good = JOB.replace("OBJECTIVE", "price")
    bad = {"expected transformer.price": good.replace(", price: 2}", "}"),
           "how long the training is": good.replace("tokens: 2e11, ", "").replace("price,", "days,")
           .replace("objective: price", "objective: days").replace(" price: 2", "zero: 0"),
           "leave it out": good.replace("runs: 20", "step: 2s"),
           "such as failures: llama3": "\n".join(line for line in good.splitlines()
                                                 if not line.startswith(("training:", "failures:", "  repair"))) + "\n"}
    for words, text in bad.items():
        (folder / "bad.yaml").write_text(text)
        process = tool.run(binary, "search", "bad.yaml", "-o", "bad", "--quiet", cwd=folder, expect=1)
        check.that(words in process.stderr and "bad.yaml:" in process.stderr, f"{words}: {process.stderr}")
        check.that(not (folder / "bad").exists(), f"{words}: something was written")


def main():
    binary, check = tool.binary_argument(), tool.Checker()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for objective in COLUMNS:
            check_objective(check, binary, folder, objective, "analytic")
        check_objective(check, binary, folder, "price", "simgrid")
        check_same(check, binary, folder)
        check_refused(check, binary, folder)
    return check.done()


if __name__ == "__main__":
    sys.exit(main())
