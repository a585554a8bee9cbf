#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The shortest orders of small pipelines by another solver: a mixed-integer program of each, solved by CBC.

    second_solver.py SOLVE CBC [--count N] [--seed S]

The program has the start of every operation and a 0/1 variable for every pair of operations of a worker whose order the
model leaves open: which of them is first. Micro-batches are alike, so they follow each other in every stage and kind;
nothing else is shared. A limit of stashes is a sum over operations of a worker: forwards before a forward
less releases before it. `solve` (see solve.c) has to find the same time, and to prove it.
"""
import argparse
import concurrent.futures
import os
import random
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../support"))
import tool

KINDS = "FBW"


def draw(source):
    """A small instance: (workers, micro-batches, limit, latency, worker of each stage, lengths by kind)."""
    while True:
        workers, batches, chunks = source.randint(1, 3), source.randint(1, 3), source.choice([1, 1, 2])
        stages, split = workers * chunks, source.random() < 0.6
        if stages * batches * (3 if split else 2) > 12:
            continue
        wave = source.random() < 0.5
        place = [workers - 1 - s % workers if wave and s // workers % 2 else s % workers for s in range(stages)]
        lengths = [[source.randint(1, most) for _ in range(stages)] for most in (5, 6, 5)]
        limit = source.randint(chunks, chunks * batches) if source.random() < 0.8 else 0
        return workers, batches, limit, source.choice([0, 0, 1, 2]), place, lengths[:3 if split else 2]


def line_of(name, instance):
    """The instance as solve.c reads it; its backwards are whole."""
    workers, batches, limit, latency, place, lengths = instance
    whole = [b + w for b, w in zip(lengths[1], lengths[2])] if len(lengths) == 3 else lengths[1]
    lists = [place, lengths[0], whole, lengths[2] if len(lengths) == 3 else []]
    return ",".join([name, str(workers), str(batches), str(limit), str(latency)] +
                    [" ".join(map(str, one)) for one in lists] + [""])


class Program:
    """A mixed-integer program in CPLEX's LP format."""

    def __init__(self, instance):
        self.workers, self.batches, self.limit, self.latency, self.place, self.lengths = instance
        self.stages = len(self.place)
        self.rows, self.pairs = [], set()
        self.long = sum(map(sum, self.lengths)) * self.batches + 2 * self.stages * self.latency * self.batches

    def operations(self, worker):
        """(kind, stage, micro-batch) of a worker."""
        return [(kind, stage, batch) for kind in range(len(self.lengths)) for stage in range(self.stages)
                for batch in range(self.batches) if self.place[stage] == worker]

    @staticmethod
    def start(operation):
        """The variable of an operation's start."""
        return f"t_{KINDS[operation[0]]}_{operation[1]}_{operation[2]}"

    def length(self, operation):
        """How long an operation takes."""
        return self.lengths[operation[0]][operation[1]]

    def follows(self, first, second, lag):
        """`second` starts after the end of `first`, and a lag."""
        self.rows.append(f"{self.start(second)} - {self.start(first)} >= {self.length(first) + lag}")

    def model(self):
        """What an operation waits for in the model, and the micro-batch before it."""
        for batch in range(self.batches):
            for stage in range(self.stages):
                for kind in range(1, len(self.lengths)):
                    self.follows((kind - 1, stage, batch), (kind, stage, batch), 0)
                if stage:
                    lag = self.latency if self.place[stage] != self.place[stage - 1] else 0
                    self.follows((0, stage - 1, batch), (0, stage, batch), lag)
                    self.follows((1, stage, batch), (1, stage - 1, batch), lag)
                for kind in range(len(self.lengths)):
                    if batch:
                        self.follows((kind, stage, batch - 1), (kind, stage, batch), 0)
                    self.rows.append(f"end - {self.start((kind, stage, batch))} >= {self.lengths[kind][stage]}")

    @staticmethod
    def must_precede(first, second):
        """Whether the model has a path from one operation to the other."""
        (kind, stage, batch), (later, other, behind) = first, second
        if kind > later or batch > behind or first == second:
            return False
        if kind == later:
            return other == stage or (other > stage if kind == 0 else kind == 1 and other < stage)
        return kind == 0 or other <= stage

    def before(self, first, second):
        """(constant, sign, variable): whether `first` is before `second` is constant + sign x variable."""
        if self.must_precede(first, second) or self.must_precede(second, first):
            return int(self.must_precede(first, second)), 0, ""
        if first < second:
            return 0, 1, "x_" + self.start(first)[2:] + "_" + self.start(second)[2:]
        return 1, -1, "x_" + self.start(second)[2:] + "_" + self.start(first)[2:]

    def workers_do_one_thing(self):
        """Of two operations of a worker one is first."""
        for worker in range(self.workers):
            own = self.operations(worker)
            for i, first in enumerate(own):
                for second in own[i + 1:]:
                    first_before, sign, name = self.before(first, second)
                    if not sign:
                        self.follows(*((first, second) if first_before else (second, first)), 0)
                        continue
                    self.pairs.add(name)
                    a, b = self.start(first), self.start(second)
                    self.rows.append(f"{b} - {a} - {self.long} {name} >= {self.length(first) - self.long}")
                    self.rows.append(f"{a} - {b} + {self.long} {name} >= {self.length(second)}")

    def stashes(self):
        """When a forward starts, fewer than the limit of the forwards before it have not been released."""
        release = len(self.lengths) - 1
        for worker in range(self.workers if self.limit else 0):
            own = self.operations(worker)
            for forward in (operation for operation in own if operation[0] == 0):
                terms, constant = [], 0
                for other in own:
                    if other == forward or other[0] not in (0, release):
                        continue
                    base, sign, name = self.before(other, forward)
                    sign, base = (sign, base) if other[0] == 0 else (-sign, -base)
                    constant += base
                    if sign:
                        terms.append(f"{'+' if sign > 0 else '-'} {name}")
                if not terms:
                    terms.append("0 end")
                self.rows.append(f"{' '.join(terms)} <= {self.limit - 1 - constant}")

    def text(self):
        """All of it."""
        self.model()
        self.workers_do_one_thing()
        self.stashes()
        lines = ["Minimize", " cost: end", "Subject To"]
        lines += [f" c{i}: {row}" for i, row in enumerate(self.rows)]
        return "\n".join(lines + ["Binaries"] + [f" {name}" for name in sorted(self.pairs)] + ["End", ""])


def optimum(cbc, instance, directory, name):
    """The least time, None where there is no order."""
    path, answer = os.path.join(directory, name + ".lp"), os.path.join(directory, name + ".txt")
    with open(path, "w", encoding="utf-8") as file:
        file.write(Program(instance).text())
    subprocess.run([cbc, path, "ratioGap", "0", "allowableGap", "0", "solve", "solution", answer], check=True,
                   stdout=subprocess.DEVNULL)
    with open(answer, encoding="utf-8") as file:
        status = file.readline()
    if status.startswith("Infeasible"):
        return None
    assert status.startswith("Optimal"), status
    return float(status.split()[-1])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("solve")
    parser.add_argument("cbc")
    parser.add_argument("--count", type=int, default=150)
    parser.add_argument("--seed", type=int, default=42)
    options = parser.parse_args()
    if not shutil.which(options.cbc):
        print(f"skipped: there is no {options.cbc} (Debian: coinor-cbc)")
        sys.exit(77)
    source = random.Random(options.seed)
    instances = tool.sampled([draw(source) for _ in range(options.count)])
    limited = 0
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "instances.csv")
        with open(path, "w", encoding="utf-8") as file:
            file.write("\n".join(line_of(f"i{i}", one) for i, one in enumerate(instances)) + "\n")
        run = subprocess.run([options.solve, path, "100000", "1e9"], check=True, capture_output=True, text=True)
        answers = [answer.split(",") for answer in run.stdout.splitlines()]
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            least = list(pool.map(lambda i: optimum(options.cbc, instances[i], directory, f"i{i}"),
                                  range(len(instances))))
    for i, (answer, time) in enumerate(zip(answers, least, strict=True)):
        found = float(answer[1])
        if time is None:
            assert found < 0, f"{line_of(f'i{i}', instances[i])}: {found}, but there is no order"
            continue
        assert found == round(time) and float(answer[2]) == found and answer[3] == "1", \
            f"{line_of(f'i{i}', instances[i])}: {answer[1:4]}, the other solver has {time}"
        limited += instances[i][2] > 0
    assert limited >= len(instances) // 3
    print(f"{len(instances)} pipelines, {limited} with limits: the other solver has the same times")


if __name__ == "__main__":
    main()
