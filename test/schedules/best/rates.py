#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a further micro-batch of tiny pipelines takes, by a graph of all that can be under way at a time.

    rates.py SOLVE [--count N] [--seed S]

A node of the graph is a moment of whole time: how far each micro-batch under way has come and how long until it can go
on, how long each worker is busy, and what it holds. An edge is one unit of time, in which idle workers may start what
they can, or stay idle. Times are whole, so some best order starts everything at whole times. No order takes less for
each micro-batch than r if no cycle of the graph does; then a potential for the costs (time less r for each micro-batch)
exists, and it is computed. `solve` (see solve.c) must have a bound for which it exists, and a rate that some cycle has.
"""
import argparse
import fractions
import itertools
import os
import random
import subprocess
import tempfile

import second_solver

NODES_MOST = 12000


def draw(source):
    """A tiny instance of 16 micro-batches, as second_solver.py's."""
    workers, chunks, split = source.randint(1, 3), source.choice([1, 2, 2, 3]), source.random() < 0.5
    chunks = min(chunks, 4 // workers) or 1
    stages = workers * chunks
    wave = source.random() < 0.5
    place = [workers - 1 - s % workers if wave and s // workers % 2 else s % workers for s in range(stages)]
    lengths = [[source.randint(1, most) for _ in range(stages)] for most in (2, 3, 2)]
    return workers, 16, source.randint(chunks, chunks + 2), source.choice([0, 0, 1]), place, lengths[:2 + split]


class Graph:
    """All moments that can be reached, and what leads from one to the next."""

    def __init__(self, instance):
        self.workers, _, self.limit, self.latency, self.place, self.lengths = instance
        self.stages, self.split = len(self.place), len(self.lengths) == 3
        self.nodes, self.edges = {}, []
        start = ((), ((0, 0),) * self.workers, (0,) * self.stages, (0,) * self.workers)
        self.nodes[start] = 0
        queue = [start]
        for node in queue:
            if len(self.nodes) > NODES_MOST:
                return
            for after, ended in self.after(node):
                if after not in self.nodes:
                    self.nodes[after] = len(self.nodes)
                    queue.append(after)
                self.edges.append((self.nodes[node], self.nodes[after], ended))

    def after(self, node):
        """(node, micro-batches that ended) a unit of time later."""
        choices = [self.choices(node, worker) for worker in range(self.workers)]
        seen = set()
        for choice in itertools.product(*choices):
            under_way, busy, left, held, ended = [list(one) for one in node] + [0]
            for worker, what in enumerate(choice):
                if what is not None:
                    ended += self.start(under_way, busy, left, held, worker, what)
            under_way = tuple((at, max(wait - 1, 0)) for at, wait in under_way if at < 2 * self.stages)
            for worker, (rest, release) in enumerate(busy):
                held[worker] -= release and rest == 1
                busy[worker] = (rest - 1, release) if rest > 1 else (0, 0)
            seen.add(((under_way, tuple(busy), tuple(left), tuple(held)), ended))
        return seen

    def stage_at(self, at):
        """(kind, stage) of an operation on the way of a micro-batch."""
        return (0, at) if at < self.stages else (1, 2 * self.stages - 1 - at)

    def choices(self, node, worker):
        """What a worker may start: a place in the row of micro-batches, ("W", stage), None for nothing."""
        under_way, busy, left, held = node
        if busy[worker][0]:
            return [None]
        found = [None] + [("W", stage) for stage in range(self.stages) if left[stage] and self.place[stage] == worker]
        for i, (at, wait) in enumerate(under_way + ((0, 0),)):
            kind, stage = self.stage_at(at)
            if wait or self.place[stage] != worker or (i and under_way[i - 1][0] <= at):
                continue
            if kind or held[worker] < self.limit:
                found.append(i)
        return found

    def start(self, under_way, busy, left, held, worker, what):
        """Starts it; 1 if a micro-batch comes to its last operation."""
        if isinstance(what, tuple):
            left[what[1]] -= 1
            busy[worker] = (self.lengths[2][what[1]], 1)
            return 0
        if what == len(under_way):
            under_way.append((0, 0))
        at = under_way[what][0]
        kind, stage = self.stage_at(at)
        length = self.lengths[kind][stage]
        busy[worker] = (length, int(kind == 1 and not self.split))
        held[worker] += kind == 0
        left[stage] += kind == 1 and self.split
        last = at == 2 * self.stages - 1
        away = not last and self.place[self.stage_at(at + 1)[1]] != worker
        under_way[what] = (at + 1, length + away * self.latency)
        return int(last)

    def has_potential(self, rate):
        """Whether no cycle takes less than `rate` for each micro-batch (shortest paths of Bellman and Ford: they come
        to an end, or a node is on its own way)."""
        costs = [(a, b, rate.denominator - rate.numerator * ended) for a, b, ended in self.edges]
        least, before = [0] * len(self.nodes), [None] * len(self.nodes)
        for count in itertools.count():
            moved = False
            for a, b, cost in costs:
                if least[a] + cost < least[b]:
                    least[b] = least[a] + cost
                    before[b] = a
                    moved = True
            if not moved:
                return True
            if count % 8 == 7 and has_cycle(before):
                return False
        return None


def has_cycle(before):
    """Whether some node comes before itself."""
    seen = [0] * len(before)
    for first in range(len(before)):
        node = first
        while node is not None and not seen[node]:
            seen[node] = first + 1
            node = before[node]
        if node is not None and seen[node] == first + 1:
            return True
    return False


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("solve")
    parser.add_argument("--count", type=int, default=40)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--effort", default="20000")
    options = parser.parse_args()
    source = random.Random(options.seed)
    instances = [draw(source) for _ in range(options.count)]
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "instances.csv")
        with open(path, "w", encoding="utf-8") as file:
            file.write("\n".join(second_solver.line_of(f"i{i}", one) for i, one in enumerate(instances)) + "\n")
        run = subprocess.run([options.solve, path, options.effort, "1e9"], check=True, capture_output=True, text=True)
    answers = [[float(value) for value in answer.split(",")[1:]] for answer in run.stdout.splitlines()]
    looked = closed = above = 0
    for instance, answer in zip(instances, answers, strict=True):
        graph = Graph(instance)
        if answer[0] < 0 or len(graph.nodes) > NODES_MOST:
            continue
        looked += 1
        rate, bound = [fractions.Fraction(value).limit_denominator(64) for value in answer[5:]]
        line = second_solver.line_of("rate", instance)
        assert bound <= rate, f"{line}: {rate} is below {bound}"
        assert graph.has_potential(bound), f"{line}: some order takes less than {bound}"
        assert not graph.has_potential(rate + fractions.Fraction(1, 50)), f"{line}: no order takes {rate}"
        closed += rate == bound
        work = max(sum(one[stage] for one in instance[5] for stage in range(len(instance[4]))
                       if instance[4][stage] == worker) for worker in range(instance[0]))
        above += rate == bound > work
    print(f"{looked} pipelines: no order is better than the bound, some order has the rate; {closed} times they are "
          f"equal, {above} times above the work of a worker")
    assert looked >= len(instances) // 3 and above >= looked // 8


if __name__ == "__main__":
    main()
