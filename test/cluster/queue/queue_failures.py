#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""queue_failures.py STAGESIM: a queue whose nodes fail. Random months replayed by the rules of doc/queue.md, node by
node; what must hold of any month (no node is two jobs' or in repair meanwhile, no job is lost, all work is done,
nodes' time adds up, Little's law); figures by size and user; one job on all nodes against `train`; a month without
failures against the same queue; many months; fair share of one user."""
import csv
import math
import os
import pathlib
import random
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "support"))
from queue_identities import identities
from queue_month import (BLOCK, HALF_LIFE, QUOTA, QUOTAS, RESUME, SAVING, SHARES, Job, Month, Power,
                         Progress)
from queue_tables import Run, nodes_of, rows_of
from tool import Checker, binary_argument, run, sampled

check = Checker()
NODES = 12
# Each takes some 50 ms, so that CI tries a few; STAGESIM_MONTHS=3000 tries as many.
MONTHS = int(os.environ.get("STAGESIM_MONTHS", 48))
EVERY, SAVE, WRITE, LOAD = 20.0, 0.5, 4.0, 3.0
COMPONENTS = """failures:
  components:
    - {name: GPU, unit: gpu, every: 9000s}
    - {name: software, every: 3000s, replace: false}
    - {name: worn, every: 6000s, shape: 2, repair: 40s}
    - {name: power, unit: rack, every: 3000s, detect: 5s}
    - {name: leaf, unit: switch, every: 2500s, replace: false, detect: {uniform: [1s, 9s]}}
    - {name: firmware, every: 6000s, effect: planned}
  rack: 3
  switch: 5
  detect: {uniform: [0s, 10s]}
  restart: {uniform: [2s, 20s]}
"""
IDLE, FULL, PUE, HOURS = 60.0, 700.0, 1.25, [100 + hour * 37 % 24 * 20 for hour in range(24)]
COUNTS = ("stops", "requeues", "changes")
USERS = ("ann", "bob", "")
USERS_KEYS = (f"  half_life: {HALF_LIFE}s\n  quota: {QUOTA}\n  users: {{ann: {{share: {SHARES['ann']}}}, "
              f"bob: {{nodes: {QUOTAS['bob']}}}, nobody: {{share: 3}}}}\n")


def random_month(folder, seed):
    choose = random.Random(seed)
    policy = ("fcfs", "easy", "conservative", "shortest", "fair", "priority")[seed % 6]
    placement = choose.choice(["packed", "first", "spread", "block"])
    spares = choose.choice([0, 0, 1, 3])
    estimates = choose.choice(["exact", "limits"])
    every = choose.choice(["20s", "20s", "none"])
    replacement = choose.choice(["0s", "{uniform: [1s, 6s]}"])
    repair = choose.choice(["60s", "{exponential: 300s}", "15min"])
    power = {"alpha": choose.choice([2, 3]), "compute_bound": choose.choice([1, 0.5]),
             "budget": choose.choice([None, None, 15e3, 30e3, 50e3])}
    jobs, now = [], 1000.0
    for _ in range(choose.choice([20, 40, 60])):
        now += choose.choice([0, 1, 5, 20, 60]) + choose.randrange(8) / 4
        length = choose.choice([5, 30, 100, 300]) + choose.randrange(40) / 4
        jobs.append((now, choose.choice([1, 1, 2, 3, 5, 8, NODES - 3]), length, length * choose.choice([0.5, 1, 2, 3])))
    (folder / "jobs.csv").write_text("submit,nodes,run,limit,user,priority\n" + "".join(
        f"{submit!r},{nodes},{length!r},{limit!r},{USERS[number % 3]},{number % 4 or ''}\n"
        for number, (submit, nodes, length, limit) in enumerate(jobs)))
    (folder / "month.yaml").write_text(
        f"platform: dgx-h100:{NODES}\n"
        f"queue:\n  log: jobs.csv\n  policy: {policy}\n  placement: {placement}\n  estimates: {estimates}\n"
        f"  seed: {seed}\n{f'  block: {BLOCK}' if placement == 'block' else ''}\n"
        f"{USERS_KEYS if policy == 'fair' else ''}"
        f"{f'  save: {SAVING}s' if policy == 'priority' else ''}\n"
        f"{f'  resume: {RESUME}s' if policy == 'priority' else ''}\n"
        f"{COMPONENTS}  repair: {repair}\n  replacement: {replacement}\n  spares: {spares}\n"
        f"checkpoint: {{every: {every}, save: {SAVE}s, write: {WRITE}s, load: {LOAD}s}}\n"
        f"power:\n  idle: {IDLE}W\n  full: {FULL}W\n  pue: {PUE}\n  alpha: {power['alpha']}\n"
        f"  compute_bound: {power['compute_bound']}\n  carbon: {list_hours()}\n"
        f"{'  budget: %rW' % power['budget'] if power['budget'] else ''}\n")
    return jobs, policy, placement, spares, estimates, math.inf if every == "none" else EVERY, power


def list_hours():
    return "[" + ", ".join(map(str, HOURS)) + "]"


def replay(result, jobs, policy, placement, spares, estimates, every, power):
    """The same month by the rules."""
    tasks = []
    for number, (submit, nodes, length, limit) in enumerate(jobs):
        progress = Progress(length, every, SAVE, WRITE)
        expected = limit if estimates == "limits" else progress.end(0.0)
        tasks.append(Job(number, submit, nodes, expected, progress, USERS[number % 3], number % 4))
    drawn = Power(NODES, 8, IDLE, FULL, power["alpha"], power["compute_bound"], power["budget"], HOURS, PUE)
    return Month(NODES, spares, placement, policy, tasks, result.failures, LOAD, drawn).run()


def close(a, b):
    return abs(a - b) <= 1e-9 * max(1, abs(b))


def same_month(label, result, month):
    for row, job in zip(result.jobs, month.jobs):
        got = [float(row[key]) for key in ("start_s", "end_s", "saving_s", "lost_s", "energy_j", "carbon_g")]
        wanted = [job.start, job.end, job.progress.saving, job.progress.computed - job.progress.work, job.joules,
                  job.grams]
        good = all(abs(a - b) <= 1e-7 * max(1, abs(b)) for a, b in zip(got, wanted))
        stops, asked = tuple(int(row[key]) for key in COUNTS), tuple(getattr(job, key) for key in COUNTS)
        if not check.that(good and stops == asked,
                          f"{label}: job {row['job']} {got} {stops}, by the rules {wanted} {asked}"):
            return
    spans = sorted((int(span["job"]) - 1, float(span["from_s"]), nodes_of(span["nodes"])) for span in result.spans)
    wanted = sorted((job, since, nodes) for job, since, _, _, nodes in month.spans)
    check.that(len(spans) == len(wanted) and
               all(a[0] == b[0] and close(a[1], b[1]) and a[2] == b[2] for a, b in zip(spans, wanted)),
               f"{label}: spans differ from those by the rules")


def energy_adds_up(label, result, month):
    """Idle nodes and jobs; a budget is kept."""
    energy, first = result.summary["energy"], float(result.jobs[0]["submit_s"])
    last, watts = max(float(row["end_s"]) for row in result.jobs), month.power.watts(False)
    times = [(NODES, first, last)]
    times += [(-1, since, min(until, last)) for _, since, until in month.repairs if since < last]
    times += [(-len(nodes_of(span["nodes"])), float(span["from_s"]), float(span["to_s"])) for span in result.spans]
    free = sum(nodes * watts * (until - since) for nodes, since, until in times)
    carbon = sum(month.power.grams(nodes * watts, since, until) for nodes, since, until in times) / 1000
    joules, grams = (sum(float(row[key]) for row in result.jobs) for key in ("energy_j", "carbon_g"))
    check.that(abs(energy["free_energy_j"] - free) <= 1e-8 * energy["energy_j"], f"{label}: energy of free nodes")
    check.that(abs(energy["free_carbon_kg"] - carbon) <= 1e-8 * energy["carbon_kg"], f"{label}: carbon of free nodes")
    check.near(energy["energy_j"], joules + energy["free_energy_j"], f"{label}: energy adds up", 1e-9)
    check.near(energy["carbon_kg"], grams / 1000 + energy["free_carbon_kg"], f"{label}: carbon adds up", 1e-9)
    check.near(sum(float(span["energy_j"]) for span in result.spans), joules, f"{label}: energy of spans", 1e-9)
    for key in ("by_size", "by_user"):
        check.near(sum(group["energy_j"] for group in result.summary[key]), joules, f"{label}: energy {key}", 1e-9)
    for span in result.spans if month.power.budget else ():
        most = month.power.budget - (NODES - len(nodes_of(span["nodes"]))) * watts
        drawn = float(span["energy_j"]) / (float(span["to_s"]) - float(span["from_s"]))
        check.that(drawn <= most * (1 + 1e-9), f"{label}: {span} is above the budget")
    check.that(energy["mean_watts"] <= (month.power.budget or math.inf) * (1 + 1e-9), f"{label}: above the budget")


def fragments(label, result, month, jobs):
    """Between any two events: which nodes are free, who waits, and which jobs would not fit."""
    spans = [(float(span["from_s"]), float(span["to_s"]), set(nodes_of(span["nodes"])), span["job"])
             for span in result.spans]
    away = [(since, until, node) for node, since, until in month.repairs]
    ends = [float(row["end_s"]) for row in result.jobs]
    last = max(ends)
    times = sorted({time for span in spans for time in span[:2]} | {job[0] for job in jobs} |
                   {time for span in away for time in span[:2] if time < last})
    lost, found = 0.0, {NODES: [0.0, 0.0], BLOCK: [0.0, 0.0]}
    for since, until in zip(times, times[1:]):
        middle = (since + until) / 2
        has = [span for span in spans if span[0] <= middle < span[1]]
        busy = set().union(*[span[2] for span in has], {node for a, b, node in away if a <= middle < b})
        free = set(range(NODES)) - busy
        waits = sum(job[0] <= middle < end for job, end in zip(jobs, ends)) > len(has)
        lost += len(free) * (until - since) if waits else 0
        for size, sums in found.items():
            asked = [job[1] for job in jobs if job[1] <= size]
            for first in range(0, NODES, size):
                count = sum(first <= node < first + size for node in free)
                sums[0] += count * sum(nodes > count for nodes in asked) / len(asked) * (until - since)
                sums[1] += count * (until - since)
    summary = result.summary
    check.that(abs(summary["loss_of_capacity"] - lost / NODES / summary["makespan_s"]) < 1e-9, f"{label}: lost")
    check.that(abs(summary["fragmentation"] - found[NODES][0] / found[NODES][1]) < 1e-9, f"{label}: fragmentation")
    check.that("block_fragmentation" not in summary or
               abs(summary["block_fragmentation"] - found[BLOCK][0] / found[BLOCK][1]) < 1e-9, f"{label}: of blocks")
    check.near(summary["running"], summary["allocated"] - summary["node_time"]["standing"], f"{label}: running")


def groups(label, result, jobs, capped):
    """By size and by user, from the jobs and their spans."""
    size = {1: "1 node", 2: "2 nodes", 3: "3 or 4 nodes", 4: "3 or 4 nodes"}
    for key, name_of in (("by_size", lambda number: size.get(jobs[number][1], "5 to 8 nodes" if jobs[number][1] < 9 else
                                                             "9 to 16 nodes")),
                         ("by_user", lambda number: USERS[number % 3] or "nobody")):
        found = result.summary[key]
        names = {name_of(number) for number in range(len(jobs))}
        check.that({group["name"] for group in found} == names, f"{label}: {key} has {found}, not {names}")
        for group in found:
            rows = [row for number, row in enumerate(result.jobs) if name_of(number) == group["name"]]
            ids = {row["job"] for row in rows}
            waits = sorted(float(row["wait_s"]) for row in rows)
            had = sum((float(span["to_s"]) - float(span["from_s"])) * len(nodes_of(span["nodes"]))
                      for span in result.spans if span["job"] in ids)
            work = sum(jobs[int(name) - 1][1] * jobs[int(name) - 1][2] for name in ids)
            wanted = [len(rows), sum(waits) / len(waits), waits[math.ceil(len(waits) / 2) - 1],
                      waits[math.ceil(0.95 * len(waits)) - 1],
                      sum(float(row["bounded_slowdown"]) for row in rows) / len(rows), had / 3600, work / had,
                      sum(int(row["stops"]) for row in rows)]
            got = [group[name] for name in ("jobs", "wait_s", "wait_median_s", "wait_p95_s", "bounded_slowdown",
                                            "node_hours", "useful", "stops")]
            if capped:  # steps that count take longer then
                got[6] = wanted[6] = 0
            check.that(all(abs(a - b) <= 1e-8 * max(1, abs(b)) for a, b in zip(got, wanted)),
                       f"{label}: {key} {group['name']} {got}, not {wanted}")


def many_months(stagesim, folder):
    """Up to nine months, 10 % is the least and 90 % the most of them: with one month more they are the same, or its."""
    random_month(folder, 4)
    before = None
    for runs in range(1, 8):
        summary = Run(stagesim, folder, "month.yaml", "--set", f"queue.runs={runs}").summary
        check.that(("months" in summary) == (runs > 1), f"{runs} months")
        wait = summary["wait_s"]["mean"]
        low, high = (summary["months"]["wait_s"][key] for key in ("p10", "p90")) if runs > 1 else (wait, wait)
        check.that(low <= wait <= high, f"{runs} months: the first waits {wait}, not from {low} to {high}")
        if before:
            check.that(low <= before[0] and high >= before[1] and (low == before[0] or high == before[1]),
                       f"{runs} months: {low} to {high} after {before}")
        before = low, high
    check.that(before[0] < before[1], "months differ")
    text = run(stagesim, "sweep", "month.yaml", "--set", "failures.spares=0,3", "--set", "queue.runs=7", "--format",
               "csv", "--quiet", cwd=folder).stdout
    rows = list(csv.DictReader(text.splitlines()))
    check.that(len(rows) == 2 and all(float(row["wait_p10_s"]) <= float(row["wait_s"]) <= float(row["wait_p90_s"]) and
                                      float(row["useful_p10"]) <= float(row["useful"]) <= float(row["useful_p90"])
                                      for row in rows), f"sweep: {text}")
    printed = run(stagesim, "run", "month.yaml", "--set", "queue.runs=7", "--quiet", cwd=folder).stdout
    check.that("In 7 months" in printed and "By user" in printed and "By the size of jobs" in printed, "tables")


def preemption(stagesim, folder):
    """Where nothing fails: by hand on two nodes. Job 1 works for 30 s of 100, saves for 5 s, waits for job 2, which
    takes 10 s and has waited those 5, needs 20 s to go on, and ends at 30 + 5 + 10 + 20 + 70 = 135 s."""
    (folder / "jobs.csv").write_text("submit,nodes,run,priority\n0,2,100,\n30,1,10,1\n")
    (folder / "two.yaml").write_text("platform: dgx-h100:2\nqueue: {log: jobs.csv, policy: priority, save: 5s, "
                                     "resume: 20s}\n")
    result = Run(stagesim, folder, "two.yaml")
    ends = [(float(row["start_s"]), float(row["end_s"]), row["changes"]) for row in result.jobs]
    check.that(ends == [(0, 135, "1"), (35, 45, "0")], f"preemption: {ends}")
    check.near(result.summary["node_time"]["useful"], 210 / 270, "preemption: useful")
    check.near(result.summary["node_time"]["standing"], 50 / 270, "preemption: standing still")
    check.that("failures" not in result.summary and result.summary["changes"] == 1, "preemption: nothing fails")


def one_user(stagesim, folder):
    """Where all jobs are one user's, fair share is EASY backfilling."""
    random_month(folder, 7)
    text = (folder / "jobs.csv").read_text().replace("bob", "").replace("ann", "")
    (folder / "jobs.csv").write_text(text)
    easy = Run(stagesim, folder, "month.yaml")
    fair = Run(stagesim, folder, "month.yaml", "--set", "queue.policy=fair")
    check.that(easy.summary["policy"] == "easy" and easy.jobs == fair.jobs and easy.spans == fair.spans, "one user")


def months(stagesim, folder):
    failures = stops = requeues = 0
    for seed in sampled(range(MONTHS)):
        setting = random_month(folder, seed)
        result = Run(stagesim, folder, "month.yaml")
        month = replay(result, *setting)
        same_month(f"month {seed} {setting[1:]}", result, month)
        identities(check, f"month {seed} {setting[1:]}", result, NODES, month.repairs, setting[0],
                   month.power.budget is not None)
        energy_adds_up(f"month {seed}", result, month)
        fragments(f"month {seed}", result, month, setting[0])
        groups(f"month {seed}", result, setting[0], month.power.budget is not None)
        failures += result.summary["failures"]["count"]
        stops += result.summary["failures"]["stops"]
        requeues += result.summary["failures"]["requeues"]
    check.that(failures > MONTHS and stops > MONTHS / 2 and requeues > MONTHS / 8,
               f"only {failures} failures, {stops} stops, {requeues} of them waited again")


def as_train(stagesim, folder):
    """One job that needs all nodes goes through what `train` says of its first run, as long as no node fails again
    while it is in repair, which `train` lets it do."""
    rules = ("failures:\n  components:\n    - {name: GPU, unit: gpu, every: 300h}\n"
             "    - {name: software, every: 40h, replace: false}\n  spares: 0\n  repair: {uniform: [10min, 40min]}\n"
             "  detect: 5min\ncheckpoint: {every: 30min, save: 2s, write: 60s, load: 90s}\n")
    (folder / "train.yaml").write_text(
        "workload: stages\nstages: {forward: 1s, backward: 1s}\nbatch: {micro_batches: 2, micro: 1}\n"
        "parallel: {data: 32}\nschedule: gpipe\nplatform: dgx-h100:4\n"
        "training: {steps: 300000, step: 1s, start: 0s, runs: 10, seed: 5}\n" + rules)
    (folder / "jobs.csv").write_text("submit,nodes,run\n0,4,300000\n")
    (folder / "alone.yaml").write_text("platform: dgx-h100:4\nqueue: {log: jobs.csv, seed: 5}\n" + rules)
    run(stagesim, "train", "train.yaml", "-o", folder / "trained", "--quiet", cwd=folder)
    calendar = rows_of(folder / "trained" / "calendar.csv")
    job = Run(stagesim, folder, "alone.yaml").jobs[0]
    check.that(int(job["stops"]) > 10 and int(job["requeues"]) > 5, f"enough fails: {job}")
    check.near(float(job["end_s"]), max(float(row["end_s"]) for row in calendar), "the end that `train` says", 1e-9)


def nothing_fails(stagesim, folder):
    setting = random_month(folder, 1)
    result = Run(stagesim, folder, "month.yaml", "--set", "failures.scale=1e-9", "--set", "checkpoint.every=none")
    text = (folder / "month.yaml").read_text().replace("  seed: 1\n", "")  # by which nothing would be drawn
    (folder / "plain.yaml").write_text(text[:text.index("failures:")] + text[text.index("power:"):])
    plain = Run(stagesim, folder, "plain.yaml")
    for key in ("start_s", "end_s", "slowdown"):
        check.that([row[key] for row in plain.jobs] == [row[key] for row in result.jobs], f"nothing fails: {key}")
    check.that(len(setting[0]) == len(plain.jobs) and "failures" not in plain.summary, "nothing fails: summary")


def main():
    stagesim = binary_argument()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        months(stagesim, folder)
        as_train(stagesim, folder)
        nothing_fails(stagesim, folder)
        many_months(stagesim, folder)
        one_user(stagesim, folder)
        preemption(stagesim, folder)
    sys.exit(check.done())


main()
