#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""prefetch.py STAGESIM: with zero: 3 the weights of a layer are gathered as many layers ahead as transformer.prefetch
or prefetch_bucket says, in as many pieces as gather_bucket and gather_pieces say. The starts are worked out again from
the order and the durations of operations.csv alone: a gather begins when the one before it has ended and the layer that
many before its own begins; a layer begins when the one before, its gather, and the scatters of a backward before it
have ended."""
import csv
import json
import math
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "support"))
import tool

RANKS, LAYERS, HIDDEN = 16, 6, 1024
SCENARIO = f"""platform: {{preset: dgx-a100, nodes: 2}}
workload: transformer
model: {{layers: {LAYERS}, hidden: {HIDDEN}, heads: 16, sequence: 1024, vocabulary: 8192}}
parallel: {{data: {RANKS}}}
batch: {{global: 32, micro: 1}}
transformer: {{zero: 3, KEYS}}
schedule: 1f1b
engine: analytic
"""


def run(binary, folder, keys):
    path = pathlib.Path(folder) / "s.yaml"
    path.write_text(SCENARIO.replace("KEYS", keys))
    tool.run(binary, "run", path, "-o", "out", "--trace", "csv", cwd=folder)
    with open(path.with_name("out") / "operations.csv") as file:
        rows = [row for row in csv.DictReader(file) if row["rank"] == "0"]
    return rows, json.loads((path.with_name("out") / "summary.json").read_text())


def schedule(rows, ahead):
    """For each gather and each computation that waits for gathers: found and expected start."""
    waiting = sorted((row for row in rows if row["kind"] == "parameter-gather"), key=lambda row: int(row["id"]))
    layers = sorted((row for row in rows if row["stream"] == "compute" and row["kind"] in "FB"),
                    key=lambda row: float(row["start_s"]))
    scattered = {row["id"]: float(row["end_s"]) for row in rows if row["kind"] == "gradient-sync"}
    awaited = {name for row in layers for name in row["waits_for"].split()}
    pairs, ends, free, pieces = [], [], 0.0, len(waiting)
    for number, row in enumerate(layers):
        mine = [waiting.pop(0)]
        while mine[-1]["id"] not in awaited:
            mine.append(waiting.pop(0))
        before = ends[-1] if ends else 0.0
        first = number - ahead  # the layer whose beginning the gather may begin with
        earliest = before if ahead == 0 else (ends[first - 1] if first >= 1 else 0.0)
        for gather in mine:
            start = max(free, earliest)
            pairs.append((float(gather["start_s"]), start, f"gather {gather['id']}"))
            free = start + float(gather["end_s"]) - float(gather["start_s"])
        start = max([before, free] + [scattered[name] for name in row["waits_for"].split() if name in scattered])
        pairs.append((float(row["start_s"]), start, f"layer {number}"))
        ends.append(start + float(row["end_s"]) - float(row["start_s"]))
    return pairs, pieces / len(layers)


def main():
    check, binary = tool.Checker(), tool.binary_argument()
    weights = 2 * (12 * HIDDEN ** 2 + 13 * HIDDEN)  # of a layer, bf16
    with tempfile.TemporaryDirectory() as folder:
        times = {}
        for keys, ahead, pieces in [(f"prefetch: {d}", d, 1) for d in (0, 1, 2, 3, 16)] + [
                ("gather_pieces: 3", 1, 3), ("gather_pieces: 5, prefetch: 0", 0, 5),
                ("prefetch_bucket: 1kB", 1, 1), (f"prefetch_bucket: {weights * 9 // 5}B", 2, 1)]:
            rows, summary = run(binary, folder, keys)
            times[keys] = summary["time"]["iteration_s"]
            pairs, found = schedule(rows, ahead)
            check.near(found, pieces, f"{keys}: pieces of a layer")
            for start, expected, what in pairs:
                check.near(start, expected, f"{keys}: {what}", 1e-12)
        check.that(times["prefetch: 0"] > 1.05 * times["prefetch: 1"], f"nothing ahead is no slower: {times}")
        rows, _ = run(binary, folder, f"gather_bucket: {weights // 4}B")
        whole, _ = run(binary, folder, "prefetch: 1")
        sizes = [[float(row["bytes"]) for row in each if row["kind"] == "parameter-gather"] for each in (rows, whole)]
        check.near(sum(sizes[0]), sum(sizes[1]), "bytes in pieces and as one")
        for size in sizes[1]:
            pieces = max(1, math.ceil(size / (weights // 4)))
            check.that(any(abs(each - size / pieces) < 1e-6 for each in sizes[0]), f"no piece of {size} / {pieces}")
        check.that(max(sizes[0]) <= weights // 4, f"a piece of {max(sizes[0])} bytes")
    return check.done()


if __name__ == "__main__":
    sys.exit(main())
