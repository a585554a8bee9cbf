#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""queue_crowded.py STAGESIM: months of a queue in which jobs slow each other down and move to better nodes, while nodes
fail and jobs give way, replayed by the rules of doc/queue.md. How fast jobs are, alone and beside others, comes from
`jobs:`. And what must hold of any month."""
import math
import os
import pathlib
import random
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "support"))
from queue_identities import identities
from queue_month import RESUME, SAVING, Job, Month, Power, Progress
from queue_sets import Alone, Beside
from queue_tables import Run, nodes_of
from queue_types import AWAY, CHECKPOINT, EVERY, FULL, IDLE, LOAD, NODES, POLICIES, SAVE, WRITE, job_type, write
from tool import Checker, binary_argument, sampled

check = Checker()
# Each takes up to a second, so that CI tries a few; STAGESIM_MONTHS=500 tries as many.
MONTHS = int(os.environ.get("STAGESIM_MONTHS", 8))
FIRST = int(os.environ.get("STAGESIM_FIRST", 0))
OVERSUBSCRIPTION, WIDE = 64, job_type(gradient="20GB")


def random_month(folder, seed):
    choose = random.Random(seed)
    policy, placement = POLICIES[seed % 6], choose.choice(["packed", "first", "spread", "spread"])
    every, jobs, now = choose.choice([f"{EVERY}s", "none"]), [], 1000.0
    for _ in range(choose.choice([10, 20, 30])):
        now += choose.choice([0, 1, 5, 20, 60]) + choose.randrange(8) / 4
        jobs.append((now, choose.choice([1, 2, 2, 3, 4]), choose.choice([10, 60, 300]) + choose.randrange(40), "wide",
                     choose.randrange(4)))
    write(folder, jobs, OVERSUBSCRIPTION, {"wide": WIDE}, policy=policy, placement=placement, seed=seed, migration=True,
          contention=True, together=NODES, sets=100000, save=f"{SAVING}s", resume=f"{RESUME}s", failures=AWAY,
          checkpoint={**CHECKPOINT, "every": every})
    return jobs, policy, placement, math.inf if every == "none" else EVERY


def replay(result, alone, beside, jobs, policy, placement, every):
    """The same month by the rules, and the seconds of an iteration of each job in an empty cluster."""
    best = [alone.iteration(Month.at_first(placement, NODES, nodes)) for _, nodes, *_ in jobs]
    tasks = []
    for number, (submit, nodes, iterations, _, priority) in enumerate(jobs):
        progress = Progress(iterations * best[number], every, SAVE, WRITE)
        tasks.append(Job(number, submit, nodes, progress.end(0.0), progress, "", priority))
    beside.begin()
    month = Month(NODES, 0, placement, policy, tasks, result.failures, LOAD,
                  Power(NODES, 8, IDLE, FULL, 3, 1, None, [0] * 24, 1), beside,
                  lambda job, nodes: best[job.number] / alone.iteration(nodes)).run()
    return month, best


def same_month(label, result, month):
    """Members of a class are alike but for the turns of the run that was simulated for them, which differ by 10^-4 in
    their weights (CONTRIBUTING.md), and slow-downs by some 10^-6."""
    for row, job in zip(result.jobs, month.jobs):
        got = [float(row[key]) for key in ("start_s", "end_s", "saving_s", "lost_s", "moves", "stops")]
        wanted = [job.start, job.end, job.progress.saving, job.progress.computed - job.progress.work, job.moves,
                  job.stops]
        if not check.that(all(abs(a - b) <= 1e-6 * job.end for a, b in zip(got, wanted)),
                          f"{label}: job {row['job']} {got}, by the rules {wanted}"):
            return
    spans = sorted((int(span["job"]) - 1, nodes_of(span["nodes"])) for span in result.spans)
    check.that(spans == sorted((job, nodes) for job, _, _, _, nodes in month.spans), f"{label}: nodes")


def months(stagesim, folder):
    alone = Alone(stagesim, folder, WIDE, OVERSUBSCRIPTION)
    beside, moves, stops, slowed, largest = Beside(alone), 0, 0, 0, 0
    for seed in sampled(range(FIRST, FIRST + MONTHS), least=25):
        jobs, policy, placement, every = random_month(folder, seed)
        label = f"month {seed} {policy} {placement} {every}"
        result = Run(stagesim, folder, "month.yaml")
        month, best = replay(result, alone, beside, jobs, policy, placement, every)
        same_month(label, result, month)
        if placement != "spread":  # there a job may have better nodes than in an empty cluster
            identities(check, label, result, NODES, month.repairs,
                       [(job[0], job[1], job[2] * seconds) for job, seconds in zip(jobs, best)], True)
        counts = result.summary["contention"]
        check.that(counts["estimated"] == counts["uneven"] == counts["failed"] == 0, f"{label}: {counts}")
        classes = len(beside.classes)
        check.that(not counts["sets"] or 0 < counts["simulated"] <= classes, f"{label}: {counts}, {classes} classes")
        moves += result.summary["moves"]
        stops += result.summary["failures"]["stops"]
        slowed += counts["sets"]
        largest = max(largest, beside.largest)
    print(f"{moves} moves, {stops} stops, {slowed} sets of up to {largest} jobs, {alone.runs} simulations by jobs:")
    check.that(moves > MONTHS / 8 and stops > MONTHS / 4 and slowed > MONTHS and largest > 2, "months are too easy")


def main():
    stagesim = binary_argument()
    with tempfile.TemporaryDirectory() as name:
        months(stagesim, pathlib.Path(name))
    sys.exit(check.done())


main()
