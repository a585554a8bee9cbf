#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""queue_migration.py STAGESIM: jobs of a queue that move to better nodes while they run. Months replayed by the rules
of doc/queue.md, with how fast jobs are on nodes from `jobs:`; what must hold of any month; one job by hand; and where
nodes are as good as each other, nothing changes."""
import math
import os
import pathlib
import random
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "support"))
from queue_identities import identities
from queue_month import RESUME, SAVING, Job, Month, Power, Progress
from queue_sets import Alone
from queue_tables import Run, nodes_of
from queue_types import AWAY, CHECKPOINT, EVERY, FULL, IDLE, LOAD, NODES, POLICIES, SAVE, WRITE, job_type, write
from tool import Checker, binary_argument, sampled

check = Checker()
# Each takes some 60 ms, so that CI tries a few; STAGESIM_MONTHS=500 tries as many.
MONTHS = int(os.environ.get("STAGESIM_MONTHS", 36))
OVERSUBSCRIPTION, WIDE = 64, job_type(gradient="20GB")
COST = {"save": f"{SAVING}s", "resume": f"{RESUME}s"}


def random_month(folder, seed):
    choose = random.Random(seed)
    policy, placement = POLICIES[seed % 6], choose.choice(["packed", "packed", "first", "spread"])
    every, jobs, now = choose.choice([f"{EVERY}s", "none"]), [], 1000.0
    for _ in range(choose.choice([10, 20, 30])):
        now += choose.choice([0, 1, 5, 20, 60]) + choose.randrange(8) / 4
        jobs.append((now, choose.choice([1, 1, 2, 2, 3, 4]), choose.choice([10, 60, 300, 900]) + choose.randrange(40),
                     "wide", choose.randrange(4)))
    write(folder, jobs, OVERSUBSCRIPTION, {"wide": WIDE}, policy=policy, placement=placement, seed=seed, migration=True,
          contention=False, **COST, failures=AWAY, checkpoint={**CHECKPOINT, "every": every})
    return jobs, policy, placement, math.inf if every == "none" else EVERY


def months(stagesim, folder):
    oracle, moves = Alone(stagesim, folder, WIDE, OVERSUBSCRIPTION), 0
    for seed in sampled(range(MONTHS), least=25):
        jobs, policy, placement, every = random_month(folder, seed)
        result = Run(stagesim, folder, "month.yaml")
        best = [oracle.iteration(Month.at_first(placement, NODES, nodes)) for _, nodes, *_ in jobs]
        tasks = []
        for number, (submit, nodes, iterations, _, priority) in enumerate(jobs):
            progress = Progress(iterations * best[number], every, SAVE, WRITE)
            tasks.append(Job(number, submit, nodes, progress.end(0.0), progress, "", priority))
        month = Month(NODES, 0, placement, policy, tasks, result.failures, LOAD,
                      Power(NODES, 8, IDLE, FULL, 3, 1, None, [0] * 24, 1),
                      rate=lambda job, nodes: best[job.number] / oracle.iteration(nodes)).run()
        for row, job in zip(result.jobs, month.jobs):
            got = [float(row[key]) for key in ("start_s", "end_s", "saving_s", "lost_s", "moves", "stops")]
            wanted = [job.start, job.end, job.progress.saving, job.progress.computed - job.progress.work, job.moves,
                      job.stops]
            if not check.that(all(abs(a - b) <= 1e-9 * max(1, abs(b)) for a, b in zip(got, wanted)),
                              f"month {seed} {policy} {placement}: job {row['job']} {got}, by the rules {wanted}"):
                break
        spans = sorted((int(span["job"]) - 1, nodes_of(span["nodes"])) for span in result.spans)
        check.that(spans == sorted((job, nodes) for job, _, _, _, nodes in month.spans), f"month {seed}: nodes")
        if placement != "spread":  # there a job may have better nodes than in an empty cluster
            identities(check, f"month {seed} {policy} {placement}", result, NODES, month.repairs,
                       [(job[0], job[1], job[2] * seconds) for job, seconds in zip(jobs, best)], True)
        check.that(result.summary["moves"] == sum(job.moves for job in month.jobs), f"month {seed}: moves")
        moves += result.summary["moves"]
    check.that(moves > MONTHS / 4, f"only {moves} moves")


def by_hand(stagesim, folder):
    """Two nodes behind two switches, beside a job that ends: the other moves behind one switch, and gains more than the
    move takes; with a move that takes longer it stays."""
    oracle = Alone(stagesim, folder, WIDE, OVERSUBSCRIPTION)
    near, far = oracle.iteration([0, 1]), oracle.iteration([0, 2])
    one = oracle.iteration([0])
    check.that(far > 1.2 * near, f"{far} over two switches, {near} over one")
    jobs = [(0.0, 1, 100, "wide", 0), (0.0, 2, 2000, "wide", 0), (0.0, 4, 2500, "wide", 0)]
    write(folder, jobs, OVERSUBSCRIPTION, {"wide": WIDE}, policy="fcfs", placement="first", migration=True,
          contention=False, **COST)
    result = Run(stagesim, folder, "month.yaml")
    first = 100 * one
    left = 2000 - first / far
    check.near(float(result.jobs[1]["end_s"]), first + SAVING + RESUME + left * near, "the job that moved", 1e-6)
    check.that([row["moves"] for row in result.jobs] == ["0", "1", "0"], f"moves: {result.jobs}")
    write(folder, jobs, OVERSUBSCRIPTION, {"wide": WIDE}, policy="fcfs", placement="first", migration=True,
          contention=False, save=f"{left * (far - near)}s", resume="1s")
    result = Run(stagesim, folder, "month.yaml")
    check.near(float(result.jobs[1]["end_s"]), 2000 * far, "the job that stayed", 1e-6)


def alike(stagesim, folder):
    """Where all nodes are as good as each other, no job moves, and nothing else changes."""
    for seed in range(6):
        random_month(folder, seed)
        text = (folder / "month.yaml").read_text()
        found = []
        for word in ("true", "false"):
            (folder / "month.yaml").write_text(text.replace('"migration": true', f'"migration": {word}').replace(
                f'"oversubscription": {OVERSUBSCRIPTION}', '"oversubscription": 1'))
            found.append(Run(stagesim, folder, "month.yaml"))
        rows = [{key: value for key, value in row.items() if key != "moves"} for row in found[0].jobs]
        check.that(found[0].summary["moves"] == 0 and rows == found[1].jobs and found[0].spans == found[1].spans,
                   f"month {seed}: nodes that are alike")


def main():
    stagesim = binary_argument()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        by_hand(stagesim, folder)
        months(stagesim, folder)
        alike(stagesim, folder)
    sys.exit(check.done())


main()
