#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""layouts.py STAGESIM [--ranks N]...: `stagesim layouts` of GPT models on Perlmutter's nodes. The model's times against
AxoNN's equations worked out here from the model's shape, ranks and their correlation again from the csv, engines' times
against `stagesim run`, and whether the layout that the communication model puts first is among the best three of its
first ten on SimGrid. 64 ranks (20B) take seconds; 256 (40B) and 1024 (80B), a minute and a quarter of an hour, are for
`--ranks`."""
import argparse
import csv
import io
import json
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from tool import Checker

# Model, layers, hidden; four samples for each rank, as many as fill the GPUs.
CASES = {64: ("axonn-20b", 32, 7168), 256: ("axonn-40b", 38, 9216), 1024: ("axonn-80b", 42, 12288)}
SEQUENCE, VOCABULARY, PER_RANK = 2048, 51200, 4
NODE, PAIR, INJECTION = 4, 80e9, 4 * 22.5e9  # GPUs of a node, NVLink between two of them, a node's four network cards
SCENARIO = """platform: {folder}/perlmutter.xml
workload: transformer
model: {model}
parallel: {{z: {z}, data: {data}}}
tensor_parallel: {{algorithm: axonn-3d}}
batch: {{global: {batch}, micro_batches: 1}}
schedule: {{name: 1f1b, recompute: full}}
transformer: {{granularity: {granularity}}}
compute: {{precision: bf16}}
"""
check = Checker()


def stagesim(*arguments):
    done = subprocess.run([STAGESIM, *map(str, arguments)], capture_output=True, text=True, timeout=3000)
    check.that(done.returncode == 0, f"{arguments}: exit code {done.returncode}\n{done.stderr}")
    return done.stdout


def equations(ranks, layers, hidden, x, y, z, data):
    """Seconds of communication (Singh et al., arXiv 2502.08145, section V-B): bytes of each ring over its bandwidth.
    With full recomputation forward
    all-reduces run twice; weights are gathered for the forward and for the backward."""
    def bandwidth(size, apart):
        return PAIR if apart * size <= NODE else INJECTION / min(NODE, apart)

    bx, by, bz, bdata = bandwidth(x, 1), bandwidth(y, x), bandwidth(z, x * y), bandwidth(data, x * y * z)
    rows = PER_RANK * ranks // data * SEQUENCE / z
    seconds = 0
    shapes = [(hidden, 3 * hidden, False, 2), (hidden, hidden, True, 2), (hidden, 4 * hidden, False, 2),
              (4 * hidden, hidden, True, 2)] * layers
    shapes += [(hidden, VOCABULARY, False, 1), (VOCABULARY, hidden, True, 1)]
    for inner, columns, transposed, forwards in shapes:
        gx, gy, b_in, b_out = (y, x, by, bx) if transposed else (x, y, bx, by)
        seconds += forwards * 2 * (gy - 1) / gy * 2 * rows * columns / gx / b_out
        if inner != VOCABULARY:
            seconds += 2 * (gx - 1) / gx * 2 * rows * inner / gy / b_in
    own = (layers * (12 * hidden**2 + 7 * hidden) + VOCABULARY * hidden) / (x * y) + (layers * 6 * hidden +
                                                                                      (SEQUENCE + 2) * hidden) / y
    seconds += 2 * (z - 1) / z * 2 * own / bz + (z - 1) / z * 4 * own / bz
    return seconds + 2 * (data - 1) / data * 4 * own / z / bdata


def correlation(left, right):
    """Spearman's, of lists without equal values, by differences of ranks."""
    def ranks(values):
        order = sorted(range(len(values)), key=values.__getitem__)
        return [order.index(i) for i in range(len(values))]

    n = len(left)
    return 1 - 6 * sum((a - b) ** 2 for a, b in zip(ranks(left), ranks(right))) / (n * (n * n - 1))


def check_model(rows, ranks, layers, hidden):
    for row in rows:
        if row["fits"] == "no":
            check.that(not row["model_s"] and not row["analytic_s"] and float(row["peak_bytes"]) > 0,
                       f"does not fit and was timed: {row}")
            continue
        x, y, z, data = (int(row[name]) for name in ("x", "y", "z", "data"))
        check.near(float(row["model_s"]), equations(ranks, layers, hidden, x, y, z, data),
                   f"model of {x} {y} {z} {data}")
        check.that(x * y * z * data == ranks, f"{x} {y} {z} {data} are not {ranks} ranks")


def check_best(rows, ranks):
    first = [float(row["simgrid_s"]) for row in rows[:10] if row["simgrid_s"]]
    check.that(len(first) == 10, f"{len(first)} layouts simulated")
    better = sum(seconds < first[0] for seconds in first)
    check.that(better < 3, f"{ranks} ranks: {better} of the model's first ten are faster on SimGrid than its first")
    print(f"{ranks} ranks: the model's best layout is number {better + 1} of its first ten on SimGrid")


def check_output(path, rows):
    """The same in JSON, the order by the analytic engine, and single runs."""
    document = json.loads(stagesim("layouts", path, "--top", "10", "--format", "json"))
    check.that(len(document["layouts"]) == len(rows), "json has other layouts than csv")
    fitting = [row for row in rows if row["fits"] == "yes"]
    for left, right, pairs in (("model", "analytic", fitting), ("model", "simgrid", rows[:10]),
                               ("analytic", "simgrid", rows[:10])):
        values = [[float(row[f"{side}_s"]) for row in pairs] for side in (left, right)]
        if len(set(values[0])) == len(set(values[1])) == len(pairs):
            check.near(document["rank_correlation"][f"{left}_{right}"], correlation(*values),
                       f"rank correlation of {left} and {right}")
    ordered = list(
        csv.DictReader(io.StringIO(stagesim("layouts", path, "--top", "0", "--method", "analytic", "--format", "csv"))))
    times = [float(row["analytic_s"]) for row in ordered if row["fits"] == "yes"]
    check.that(times == sorted(times) and len(times) == len(fitting),
               "--method analytic does not order by the analytic engine")
    check.that(not any(row["simgrid_s"] for row in ordered), "--top 0 simulates")
    for row in rows[:2]:
        sets = [f"parallel.{name}={row[name]}" for name in ("x", "y", "z", "data")]
        arguments = sum((["--set", value] for value in sets), []) + ["--quiet"]
        for engine in "analytic", "simgrid":
            folder = path.parent / engine
            stagesim("run", path, *arguments, "--engine", engine, "-o", folder)
            summary = json.loads((folder / "summary.json").read_text())
            check.near(summary["time"]["iteration_s"], float(row[f"{engine}_s"]), f"{engine}, {sets}")
        for end in "low", "high":
            band = summary["time"].get("band")
            check.that(bool(band) == bool(row[f"iteration_{end}_s"]), f"{end} end of a band: {row}")
            if band:
                check.near(float(row[f"iteration_{end}_s"]), band[f"{end}_s"], f"{end} end of {sets}")


def check_methods():
    """A method that there is not is a mistake of usage."""
    done = subprocess.run([STAGESIM, "layouts", "absent.yaml", "--method", "axon"], capture_output=True, text=True)
    check.that(done.returncode == 2 and "did you mean 'axonn'?" in done.stderr, f"--method axon: {done}")


def check_case(ranks):
    model, layers, hidden = CASES[ranks]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        stagesim("platform", "generate", "perlmutter", "--nodes", ranks // NODE, "-o", folder / "perlmutter.xml")
        path = folder / "job.yaml"
        values = {"folder": name, "model": model, "z": ranks // 4, "data": 4, "batch": PER_RANK * ranks}
        path.write_text(SCENARIO.format(granularity="layer", **values))
        rows = list(csv.DictReader(io.StringIO(stagesim("layouts", path, "--top", "10", "--format", "csv"))))
        check_model(rows, ranks, layers, hidden)
        check_best(rows, ranks)
        if ranks == min(CASES):
            check_output(path, rows)


def main():
    global STAGESIM
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("stagesim")
    parser.add_argument("--ranks", type=int, action="append", choices=sorted(CASES))
    arguments = parser.parse_args()
    STAGESIM = os.path.abspath(arguments.stagesim)
    check_methods()
    for ranks in arguments.ranks or [min(CASES)]:
        check_case(ranks)
    return check.done()


if __name__ == "__main__":
    sys.exit(main())
