#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Jobs that are extended from a state that came back, against the same jobs run whole: every schedule with uneven
stages, all figures of the summary, every operation's times and the memory, on the analytic engine to 1e-9 and on
SimGrid to 1e-6.

usage: steady_run.py STAGESIM analytic|simgrid [JOBS]: so many jobs of each schedule"""

import csv
import json
import pathlib
import random
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "support"))
import tool  # noqa: E402

STAGESIM, ENGINE = sys.argv[1:3]
JOBS = int(sys.argv[3]) if len(sys.argv) > 3 else 2
TOLERANCE = {"analytic": 1e-9, "simgrid": 1e-6}[ENGINE]
# Their orders, or with contention their times, need not repeat: at least these do without contention.
REPEAT = {"1f1b", "chimera"}


def run(*arguments):
    return subprocess.run([STAGESIM, *map(str, arguments)], capture_output=True, text=True, check=False)


def listed():
    return [schedule["name"] for schedule in json.loads(run("list", "schedules", "--format", "json").stdout)]


def times(draw, count, scale, spread):
    """Of stages that are equal, nearly equal or uneven."""
    base = scale * draw.uniform(0.5, 1.5)
    off = {"even": lambda: 0, "near": lambda: draw.uniform(0, 1e-4),
           "uneven": lambda: draw.choice([0, 0, draw.uniform(0, 0.4), draw.uniform(0, 2e-3)])}[spread]
    return [base * (1 + off()) for _ in range(count)]


def text(values):
    return "[" + ", ".join(f"{1e3 * v!r}ms" for v in values) + "]"


def write(folder, name, draw):
    """A job of 4 or 6 workers; the number of stages follows from the schedule, so that times are given per worker where
    it needs more."""
    workers, even = draw.choice([4, 4, 6]), draw.choice(["even", "near", "near", "uneven"])
    weight = times(draw, workers, 1e-3, even)
    backward = [w + b for w, b in zip(weight, times(draw, workers, 1e-3, even))]
    scenario = folder / "job.yaml"
    scenario.write_text(
        f"platform: nodes.xml\nworkload: stages\n"
        f"stages: {{forward: {text(times(draw, workers, 1e-3, even))}, backward: {text(backward)}, "
        f"weight: {text(weight)}, "
        f"message: {draw.choice(['8MiB', '32MiB', '1KiB'])}, gradient: {draw.choice(['256MiB', '1MiB'])}, "
        f"optimizer: 1ms, "
        f"activation: 100MiB, parameters: 1GiB}}\n"
        f"parallel: {{data: {draw.choice([1, 2])}, pipeline: {workers}}}\n"
        f"order: {draw.choice(['[pipeline, data]', '[data, pipeline]'])}\n"
        f"batch: {{micro_batches: {workers * draw.choice([16, 20, 24])}}}\nschedule: {name}\nengine: {ENGINE}\n"
        f"communication: {{messages: {draw.choice(['queued', 'pipelined', 'blocking'])}}}\n"
        f"fold: {'off' if ENGINE == 'analytic' else draw.choice(['auto', 'off'])}\n")
    return scenario


class Comparison:
    def __init__(self, whole, extended):
        self.faults, self.whole, self.extended = [], whole, extended
        first, second = ({**json.loads((folder / "summary.json").read_text())} for folder in (whole, extended))
        self.steady, self.scale = second["steady"], first["time"]["makespan_s"]
        for key in ("simulation", "steady"):
            first.pop(key, None)
            second.pop(key, None)
        self.value("summary", first, second)
        for name in ("operations.csv", "memory.csv"):
            self.rows(name)

    def value(self, place, first, second):
        if isinstance(first, dict):
            if first.keys() != second.keys():
                self.faults.append(f"{place}: other members")
            for key in first.keys() & second.keys():
                self.value(f"{place}.{key}", first[key], second[key])
        elif isinstance(first, list):
            if len(first) != len(second):
                self.faults.append(f"{place}: {len(first)} and {len(second)} items")
            for i, (a, b) in enumerate(zip(first, second)):
                self.value(f"{place}[{i}]", a, b)
        elif isinstance(first, float) or isinstance(second, float):
            scale = max(abs(first), self.scale if place.endswith("_s") else 1)
            if not abs(first - second) <= TOLERANCE * scale:
                self.faults.append(f"{place}: {first!r} and {second!r}")
        elif first != second:
            self.faults.append(f"{place}: {first!r} and {second!r}")

    def rows(self, name):
        tables = []
        for folder in (self.whole, self.extended):
            with open(folder / name, newline="", encoding="utf-8") as file:
                tables.append(list(csv.DictReader(file)))
        if name == "operations.csv":  # rows of one moment may change places
            tables = [sorted(table, key=lambda row: (int(row["rank"]), int(row["id"]))) for table in tables]
        if len(tables[0]) != len(tables[1]):
            self.faults.append(f"{name}: {len(tables[0])} and {len(tables[1])} rows")
        for first, second in zip(*tables):
            for key in first:
                if first[key] != second[key] and not (
                        key.endswith("_s") and
                        abs(float(first[key]) - float(second[key])) <= TOLERANCE * self.scale):
                    self.faults.append(f"{name}, {key}: {first} and {second}")
                    return


def check(folder, name, seed, faults):
    """The extended run's summary of what was run; None where the schedule does not go with the job."""
    scenario = write(folder, name, random.Random(f"{name} {seed}"))
    for steady in ("off", "auto"):
        done = run("run", scenario, "--set", f"steady={steady}", "--set", "output.trace=csv", "-o", folder / steady)
        if done.returncode:
            return None
    comparison = Comparison(folder / "off", folder / "auto")
    faults += [f"{name}, seed {seed}: {fault}" for fault in comparison.faults[:3]]
    return comparison.steady


def main():
    every = listed()
    names, faults, extended, tried, linear = tool.sampled(every), [], {}, {}, 0
    with tempfile.TemporaryDirectory() as directory:
        folder = pathlib.Path(directory)
        if run("platform", "generate", "dgx-h100", "--nodes", 2, "-o", folder / "nodes.xml").returncode:
            sys.exit("no platform")
        for name, seed in ((name, seed) for name in names for seed in range(JOBS)):
            steady = check(folder, name, seed, faults)
            if steady:
                tried[name] = tried.get(name, 0) + 1
                linear += "linear" in steady
                extended[name] = extended.get(name, 0) + ("micro_batches_run" in steady)
    for name in names:
        print(f"{name}: {extended.get(name, 0)} of {tried.get(name, 0)} extended")
    print(f"{linear} because times advanced linearly")
    if ENGINE == "analytic" and names == every and not linear:
        faults.append("no times advanced linearly")
    for name in REPEAT & tried.keys():
        if not extended[name]:
            faults.append(f"{name}: none was extended")
    print("\n".join(faults) or "all agree")
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())
