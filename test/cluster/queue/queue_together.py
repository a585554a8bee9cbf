#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""queue_together.py STAGESIM: jobs of a queue that slow each other down, beside failures, preemption, caps and many
months. Months of two jobs at a time replayed by the rules of doc/queue.md; what must hold of any month; where jobs
cannot meet, the same as without contention; jobs under a cap against jobs that are so much slower by themselves."""
import math
import os
import pathlib
import random
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "support"))
from queue_identities import identities, one_owner
from queue_month import RESUME, SAVING, Job, Month, Power, Progress
from queue_tables import Run, nodes_of
from queue_types import (AWAY, CHECKPOINT, EVERY, FAILURES, FULL, IDLE, LOAD, NODES, POLICIES, SAVE, WRITE, job_type,
                         write)
from tool import Checker, binary_argument, sampled

check = Checker()
HALF = NODES // 2
# Each takes some 60 ms, so that CI tries a few; STAGESIM_MONTHS=500 tries as many.
MONTHS = int(os.environ.get("STAGESIM_MONTHS", 24))


def random_month(folder, seed, failures, sizes=(HALF,), oversubscription=8, power=None):
    choose = random.Random(seed)
    policy, every = POLICIES[seed % 6], choose.choice([f"{EVERY}s", f"{EVERY}s", "none"])
    jobs, now = [], 1000.0
    for _ in range(choose.choice([10, 20, 30])):
        now += choose.choice([0, 1, 5, 20, 60]) + choose.randrange(8) / 4
        jobs.append((now, choose.choice(sizes), choose.choice([10, 60, 200]) + choose.randrange(40), "wide",
                     choose.randrange(4)))
    keys = {"save": f"{SAVING}s", "resume": f"{RESUME}s"} if policy == "priority" else {}
    write(folder, jobs, oversubscription, policy=policy, seed=seed, **keys, failures=failures,
          checkpoint={**CHECKPOINT, "every": every}, **({"power": power} if power else {}))
    return jobs, policy, math.inf if every == "none" else EVERY


def measured(stagesim, folder):
    """Seconds of an iteration alone, and how much longer it takes beside another job."""
    write(folder, [(0.0, HALF, 40, "wide", 0)])
    alone = Run(stagesim, folder, "month.yaml").seconds()[0] / 40
    write(folder, [(0.0, HALF, 40, "wide", 0)] * 2)
    slow = Run(stagesim, folder, "month.yaml").seconds()[0] / 40 / alone
    check.that(slow > 1.1, f"jobs meet: {slow}")
    return alone, slow


def replayed(stagesim, folder):
    """Two jobs at a time, each with a node behind each switch: who works while the other does is slower, and who stands
    still for a failure, a checkpoint that is loaded or one that is saved to give way slows nobody."""
    alone, slow = measured(stagesim, folder)
    stops = slowed = 0
    for seed in sampled(range(MONTHS), least=25):
        jobs, policy, every = random_month(folder, seed, FAILURES)
        result = Run(stagesim, folder, "month.yaml")
        tasks = []
        for number, (submit, nodes, iterations, _, priority) in enumerate(jobs):
            progress = Progress(iterations * alone, every, SAVE, WRITE)
            tasks.append(Job(number, submit, nodes, progress.end(0.0), progress, "", priority))
        month = Month(NODES, 0, "spread", policy, tasks, result.failures, LOAD,
                      Power(NODES, 8, IDLE, FULL, 3, 1, None, [0] * 24, 1),
                      lambda working: [slow if len(working) == 2 else 1.0] * len(working)).run()
        for row, job in zip(result.jobs, month.jobs):
            got = [float(row[key]) for key in ("start_s", "end_s", "saving_s", "lost_s")]
            wanted = [job.start, job.end, job.progress.saving, job.progress.computed - job.progress.work]
            if not check.that(all(abs(a - b) <= 1e-6 * max(1, abs(b)) for a, b in zip(got, wanted)) and
                              (int(row["stops"]), int(row["changes"])) == (job.stops, job.changes),
                              f"month {seed} {policy}: job {row['job']} {got}, by the rules {wanted}"):
                break
        identities(check, f"month {seed} {policy}", result, NODES, month.repairs,
                   [(submit, nodes, iterations * alone) for submit, nodes, iterations, _, _ in jobs], True)
        stops += result.summary["failures"]["stops"]
        slowed += result.summary["contention"]["sets"]
    check.that(stops > MONTHS / 4 and slowed > MONTHS, f"only {stops} stops, {slowed} sets")


def apart(stagesim, folder):
    """Where jobs cannot meet, contention changes nothing, to the last digit: with nodes that leave, jobs that give way,
    a budget and several months."""
    for seed in sampled(range(12), least=25):
        random_month(folder, seed, AWAY, (1, 2, 3, HALF), 1,
                     {"idle": f"{IDLE}W", "full": f"{FULL}W", "budget": "30kW", "carbon": 300} if seed % 2 else None)
        runs = [Run(stagesim, folder, "month.yaml", "--set", "queue.runs=3", "--set", f"queue.contention={word}")
                for word in ("true", "false")]
        check.that(runs[0].spans == runs[1].spans and runs[0].jobs == runs[1].jobs and
                   runs[0].summary["months"] == runs[1].summary["months"], f"month {seed}: jobs that cannot meet")
        check.that(runs[0].summary["contention"]["sets"] == 0, f"month {seed}: jobs meet")


def mixed(stagesim, folder):
    """Months of jobs of many sizes, nodes that leave and a budget: what must hold of any; the first of several months
    is the one that is simulated alone."""
    slowest = 1.0
    for seed in sampled(range(MONTHS // 2), least=25):
        jobs, policy, _ = random_month(folder, 100 + seed, AWAY, (2, 3, HALF), 64,
                                       {"idle": f"{IDLE}W", "full": f"{FULL}W", "budget": "30kW"} if seed % 2 else None)
        result = Run(stagesim, folder, "month.yaml", "--set", "queue.sets=20")
        counts = result.summary["contention"]
        check.that(counts["sets"] == counts["simulated"] + counts["known"] + counts["estimated"], f"{counts}")
        check.that(counts["simulated"] + counts["parts_simulated"] + counts["uneven"] + counts["failed"] <= 20,
                   f"{counts}")
        slowest = max(slowest, counts["largest_slow_down"])
        one_owner(check, f"mixed month {seed} {policy}", result, jobs)
        if seed < 2:
            many = Run(stagesim, folder, "month.yaml", "--set", "queue.sets=20", "--set", "queue.runs=3")
            check.that(many.spans == result.spans and many.jobs == result.jobs, f"mixed month {seed}: of three")
            low, high = (many.summary["months"]["completion_s"][key] for key in ("p10", "p90"))
            check.that(low < high, f"mixed month {seed}: months differ")
    check.that(slowest > 1.5, f"the slowest job takes {slowest} times as long")


def capped(stagesim, folder):
    """Arithmetic that a cap makes so much slower is that of a job that is so much slower by itself. Two jobs on half of
    the nodes under a budget that leaves more to them than when all are at work: between two clocks."""
    for watts, pair in ((400, HALF), (250, HALF), (500, 2), (250, 2), (160, 2)):
        power = {"idle": f"{IDLE}W", "full": f"{FULL}W", "alpha": 3}
        budget = watts * 8 * 2 * pair + IDLE * 8 * (NODES - 2 * pair)
        stretch = ((FULL - IDLE) / (watts - IDLE)) ** (1 / 3)
        jobs = [(0.0, pair, 40, "wide", 0)] * 2
        write(folder, jobs, 64, power={**power, "budget": f"{budget}W"})
        found = Run(stagesim, folder, "month.yaml")
        write(folder, jobs, 64, types={"wide": job_type(stretch)})
        wanted = Run(stagesim, folder, "month.yaml")
        error = abs(found.seconds()[0] / wanted.seconds()[0] - 1)
        slow = wanted.summary["contention"]["largest_slow_down"]
        check.that(error < (1e-6 if pair == HALF else 0.01) and slow > 1.1,
                   f"{watts} W: {found.seconds()}, slower by itself {wanted.seconds()}, slow-down {slow}")


def energy(stagesim, folder):
    """Under a cap as well, work takes the same energy above idle watts beside others as alone."""
    for cap in (200, 400):
        joules, seconds = [], []
        for word in ("true", "false"):
            write(folder, [(0.0, HALF, 40, "wide", 0)] * 2, 64,
                  power={"idle": f"{IDLE}W", "full": f"{FULL}W", "cap": f"{cap}W"})
            result = Run(stagesim, folder, "month.yaml", "--set", f"queue.contention={word}")
            joules.append(float(result.jobs[0]["energy_j"]))
            seconds.append(result.seconds()[0])
        check.that(seconds[0] > 1.1 * seconds[1], f"{cap} W: {seconds}")
        check.near(joules[0], joules[1] + IDLE * 8 * HALF * (seconds[0] - seconds[1]), f"{cap} W: joules", 1e-9)


def main():
    stagesim = binary_argument()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for each in (replayed, apart, mixed, capped, energy):
            each(stagesim, folder)
    sys.exit(check.done())


main()
