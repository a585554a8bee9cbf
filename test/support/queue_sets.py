# SPDX-License-Identifier: Apache-2.0
"""How fast jobs of a queue are on nodes, alone and beside others, from `jobs:`. Two nodes stand behind a switch; jobs
meet where both of them send through a switch."""
import csv
import json
import math

from queue_types import platform
from tool import run

ROUNDS = 16  # iterations of the slowest job of a set that is simulated (doc/queue.md#contention)


def pods_of(nodes):
    return [node // 2 for node in nodes]


def numbered(groups):
    """The same groups of switches, which are numbered in the order in which they occur."""
    order = {}
    return tuple(tuple(order.setdefault(pod, len(order)) for pod in group) for group in groups)


def where_of(nodes, pod):
    """Which of a job's nodes are behind a switch: what it sends there depends on that."""
    return tuple(place for place, node in enumerate(nodes) if node // 2 == pod)


class Alone:
    """Seconds of an iteration on some nodes; which switches they share is all that counts. One iteration: each of
    several is a little longer, for flows that would leave at one time are told apart by a share of the whole run."""

    def __init__(self, stagesim, folder, described, oversubscription):
        self.stagesim, self.folder, self.described = stagesim, folder, described
        self.oversubscription, self.known, self.runs = oversubscription, {}, 0

    def ends(self, places, iterations):
        """When each iteration of each job ends."""
        jobs = {f"job{number}": {"scenario": {**self.described, "parallel": {"pipeline": 1, "data": 8 * len(nodes)}},
                                 "iterations": count, "placement": [f"gpu-{node}-*" for node in nodes]}
                for number, (nodes, count) in enumerate(zip(places, iterations))}
        described = {"platform": platform(self.oversubscription), "jobs": jobs}
        (self.folder / "beside.yaml").write_text(json.dumps(described))
        run(self.stagesim, "run", "beside.yaml", "-o", self.folder / "beside", "--quiet", "--trace", "csv",
            cwd=self.folder)
        self.runs += 1
        found = [[0.0] * count for count in iterations]
        with open(self.folder / "beside" / "operations.csv", encoding="utf-8") as file:
            for row in csv.DictReader(file):
                job, iteration = found[int(row["job"][3:])], int(row["iteration"])
                job[iteration] = max(job[iteration], float(row["end_s"]))
        return found

    def iteration(self, nodes):
        key = numbered([pods_of(nodes)])
        if key not in self.known:
            self.known[key] = self.ends([nodes], [1])[0][0]
        return self.known[key]


class Beside:
    """How many times as long an iteration takes, of all that work. Sets of jobs that meet are simulated once for each
    class, in the order in which they come up: of jobs that are like each other the first is like the first."""

    def __init__(self, alone):
        self.alone, self.ratios, self.two, self.names = alone, {}, {}, {}
        self.begin()

    def begin(self):
        """Another month, which knows no class."""
        self.classes, self.largest = {}, 0

    def slow(self, places):
        """By jobs' places, in their order: simulated, all beginning together, while all run."""
        key = numbered([pods_of(nodes) for nodes in places])
        if key in self.ratios:
            return self.ratios[key]
        lengths = []
        for nodes in places:
            own = numbered([pods_of(nodes)])
            if own not in self.two:
                first, second = self.alone.ends([nodes], [2])[0]
                self.two[own] = (first, second - first)
            lengths.append(self.two[own])
        longest = max(length for _, length in lengths)
        counts = [math.ceil(ROUNDS * longest / length) for _, length in lengths]
        ends = self.alone.ends(places, counts)
        until = min(job[-1] for job in ends) * (1 + 1e-9)
        ratios = []
        for job, (first, length) in zip(ends, lengths):
            done = sum(end <= until for end in job)
            ratios.append(job[done - 1] / (first + (done - 1) * length))
        self.ratios[key] = ratios
        return ratios

    def colours(self, places):
        """What tells jobs of a set apart: nodes, seconds, and whom they meet where."""
        switches = [set(pods_of(nodes)) for nodes in places]
        colours = [self.name_of((len(nodes), f"{self.alone.iteration(nodes):.6e}")) for nodes in places]
        for _ in places:
            met = {pod: tuple(sorted((where_of(other, pod), colour) for colour, other in zip(colours, places)
                                     if pod in pods_of(other))) for pods in switches for pod in pods}
            colours = [self.name_of((colour, tuple(sorted((where_of(nodes, pod), met[pod]) for pod in pods
                                                          if len(met[pod]) > 1))))
                       for colour, pods, nodes in zip(colours, switches, places)]
        return colours

    def name_of(self, what):
        return self.names.setdefault(what, len(self.names))

    def of_set(self, places):
        self.largest = max(self.largest, len(places))
        colours = self.colours(places)
        name = tuple(sorted(colours))
        if name not in self.classes:
            self.classes[name] = (colours, self.slow(places))
        known, ratios = self.classes[name]
        taken, found = set(), []
        for colour in colours:
            like = next(k for k, other in enumerate(known) if other == colour and k not in taken)
            taken.add(like)
            found.append(ratios[like])
        return found

    def __call__(self, working):
        """Of jobs that have nodes."""
        slow = [1.0] * len(working)
        sends = {k for k, job in enumerate(working) if len(set(pods_of(job.nodes))) > 1}
        while sends:
            together = {min(sends)}
            while True:
                pods = {pod for k in together for pod in pods_of(working[k].nodes)}
                more = {k for k in sends if pods & set(pods_of(working[k].nodes))}
                if more == together:
                    break
                together = more
            sends -= together
            members = sorted(together)
            if len(members) > 1:
                for k, ratio in zip(members, self.of_set([working[k].nodes for k in members])):
                    slow[k] = ratio
        return slow
