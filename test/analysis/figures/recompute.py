#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Recomputes, from operations.csv alone and in ways of its own, what doc/definitions.md says follows from it, and
compares with summary.json, critical-path.csv and slack.csv to 1e-9.

usage: recompute.py DIRECTORY...    (each with summary.json, operations.csv, critical-path.csv, slack.csv) """
import csv
import os
import sys
from collections import defaultdict

from recompute_run import Run

TOLERANCE = 1e-9
IDLE = ["order", "imbalance", "transfer", "contention"]
CAUSES = ["fill", "drain", "receive", "collective", "dependency", "input"]


class Checker:
    def __init__(self, run, idle_known):
        self.run, self.idle_known, self.mistakes = run, idle_known, []

    def near(self, what, value, expected, scale):
        if not abs(value - expected) <= TOLERANCE * scale:
            self.mistakes.append("%s is %r, operations.csv says %r" % (what, value, expected))

    def check(self):
        run, summary = self.run, self.run.summary
        T, scale = run.T, max(run.ends)
        self.near("iteration_s", summary["time"]["iteration_s"], T, scale)
        if run.false_cycle:
            self.mistakes.append("the iterations of the cycle do not end as far apart as it is long")
        self.near("makespan_s", summary["time"]["makespan_s"], max(run.ends) - min(run.starts), scale)
        self.order()
        if T <= 0:
            return self.mistakes
        figures = {rank: run.watch(rank) for rank in run.ranks}
        self.bubbles(figures, summary["bubble"], T)
        self.idle(figures, summary, T)
        self.communication(figures, summary["communication"], T)
        self.workers(figures, summary["workers"], T)
        self.shown(summary["workers"], T)
        self.path(summary.get("critical_path"), T)
        self.slacks()
        return self.mistakes

    def order(self):
        names = {}
        keys = []
        for o in self.run.operations:
            streams = names.setdefault(o.rank, {})
            keys.append((o.start, o.rank, min(i.id for i in self.run.streams[o.rank, o.stream]), o.id))
        if keys != sorted(keys):
            self.mistakes.append("operations.csv is not ordered by start, rank, stream")

    def bubbles(self, figures, bubble, T):
        count, figures = len(self.run.counted), {rank: figures[rank] for rank in self.run.counted}
        ratios = [1 - f.get("busy", 0) / T for f in figures.values()]
        mean_busy = sum(f.get("busy", 0) for f in figures.values()) / count
        self.near("bubble.ratio", bubble["ratio"], sum(ratios) / count, 1)
        self.near("bubble.min", bubble["min"], min(ratios), 1)
        self.near("bubble.max", bubble["max"], max(ratios), 1)
        if mean_busy > 0:
            self.near("over_ideal", bubble["over_ideal"], T / mean_busy - 1, 1)
        for cause in CAUSES:
            expected = sum(f.get(cause, 0) for f in figures.values()) / count / T
            self.near("causes." + cause, bubble["causes"][cause], expected, 1)
        total = sum(bubble["causes"].values())
        if abs(total - bubble["ratio"]) > 1e-12:
            self.mistakes.append("causes sum to %r, the ratio is %r" % (total, bubble["ratio"]))
        if not self.run.steady and not self.run.whole:
            spans = [1 - f["busy"] / f["span"] for f in figures.values() if f.get("span", 0) > 0]
            self.near("span_max", bubble["span_max"], max(spans + [0]), 1)

    def idle(self, figures, summary, T):
        run, idle = self.run, summary.get("idle")
        if not idle:
            if self.idle_known or run.operations[0].alone is not None:
                self.mistakes.append("idle time is not split")
            return
        total = sum(idle[part] for part in IDLE)
        if abs(total - summary["bubble"]["ratio"]) > 1e-9:
            self.mistakes.append("idle time adds up to %r, the ratio is %r" % (total, summary["bubble"]["ratio"]))
        if run.steady or run.whole:
            return
        replays = [run.replay(free) for free in (True, False)]
        if None in replays:
            self.mistakes.append("operations are left over when operations.csv is replayed")
            return
        free, alone = (run.idle_run(times) for times in replays)
        idle_alone = alone[0] - alone[1]
        mean_busy = sum(figures[rank].get("busy", 0) for rank in run.counted) / len(run.counted)
        expected = {"order": free[0] - free[2], "imbalance": free[2] - free[1],
                    "transfer": idle_alone - (free[0] - free[1]), "contention": T - mean_busy - idle_alone}
        for part in IDLE:
            self.near("idle." + part, idle[part], expected[part] / T, 1)

    def communication(self, figures, communication, T):
        count, run = len(self.run.counted), self.run
        for key in ("exposed", "overlapped"):
            expected = sum(figures[rank].get(key, 0) for rank in run.counted) / count
            self.near(key + "_s", communication[key + "_s"], expected, T)
        sent = sum(o.bytes for o in run.operations if o.type in ("send", "collective") and o.iteration in run.measured)
        sent *= run.summary["scenario"]["ranks"] / len(run.ranks) / len(run.measured)
        self.near("sent_bytes", communication["sent_bytes"], sent, max(sent, 1))

    def workers(self, figures, workers, T):
        run = self.run
        for worker in workers:
            if worker["rank"] not in figures:
                continue
            f, name = figures[worker["rank"]], "worker %d " % worker["position"]
            self.near(name + "busy_s", worker["busy_s"], f.get("busy", 0), T)
            self.near(name + "bubble", worker["bubble"], 1 - f.get("busy", 0) / T, 1)
            if not run.steady and not run.whole:
                self.near(name + "span_s", worker["span_s"], f.get("span", 0), T)
            for cause in CAUSES:
                self.near(name + cause, worker["causes"][cause], f.get(cause, 0) / T, 1)
            if run.summary["scenario"]["workload"] == "stages":
                self.near(name + "peak_in_flight", worker["peak_in_flight"], run.in_flight(worker["rank"]), 1)

    def shown(self, workers, T):
        """The workers are those of the replica on which the critical path spends most time."""
        run = self.run
        if len(run.ranks) != run.summary["scenario"]["ranks"]:
            return  # folded: not every replica has operations
        chain, _, length = run.critical_path()
        replicas = defaultdict(list)  # those of a position lie in the order of ranks
        for rank in sorted(run.ranks):
            replicas[run.ranks[rank][0].position].append(rank)
        replica_of = {rank: number for ranks in replicas.values() for number, rank in enumerate(ranks)}
        seconds, before = defaultdict(float), run.ends[run.measured[-1]] - length
        for operation in chain:
            seconds[replica_of[operation.rank]] += operation.end - before
            before = operation.end
        here = {replica_of[worker["rank"]] for worker in workers}
        if len(here) != 1 or seconds[here.pop()] < max(seconds.values()) - 1e-9 * T:
            self.mistakes.append("the workers are not those of the critical path")

    def read(self, name):
        with open(os.path.join(self.run.directory, name), newline="") as file:
            return list(csv.DictReader(file))

    def path(self, critical, T):
        chain, shares, length = self.run.critical_path()
        self.near("critical_path.length_s", critical["length_s"], length, T)
        for kind in ("compute", "receive", "collective", "delay"):
            self.near("critical_path." + kind, critical.get(kind + "_s", 0), shares[kind], T)
        written = [(int(row["rank"]), int(row["id"])) for row in self.read("critical-path.csv")]
        if written != [(o.rank, o.id) for o in chain]:
            self.mistakes.append("critical-path.csv holds another chain")

    def slacks(self):
        slack = self.run.slack()
        rows = self.read("slack.csv")
        if len(rows) != len(slack):
            self.mistakes.append("slack.csv has %d rows for %d operations" % (len(rows), len(slack)))
        for row in rows:
            key = int(row["rank"]), int(row["id"])
            self.near("slack of %d.%d" % key, float(row["slack_s"]), slack[key], max(self.run.ends))
        for row in self.read("critical-path.csv"):
            key = int(row["rank"]), int(row["id"])
            self.near("slack of %d.%d" % key, float(row["slack_s"]), slack[key], max(self.run.ends))


def main(directories, idle_known=True):
    failed = 0
    for directory in directories:
        mistakes = Checker(Run(directory), idle_known).check()
        for mistake in mistakes[:20]:
            print("%s: %s" % (directory, mistake))
        failed += bool(mistakes)
    print("%d of %d directories agree" % (len(directories) - failed, len(directories)))
    return failed != 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]) if len(sys.argv) > 1 else 2)
