#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""queue.py STAGESIM: a scenario with `queue:`. Every policy against the rules of doc/queue.md written down once more,
without heaps and without thought of speed, on random small workloads; nodes against what must hold of any of them;
figures by hand; throughputs against single runs of the same job; Paje by pj_dump."""
import csv
import hashlib
import json
import math
import pathlib
import random
import resource
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "support"))
from queue_rules import GROW, NODES, ROWS, SHRINK, SLICE, SWITCH, conservative, easy, elastic, fcfs, gang, shortest
from queue_tables import MODEL, nodes_of, rows_of
from tool import Checker, binary_argument, run, summary

check = Checker()


class Run:
    def __init__(self, stagesim, folder, policy, *arguments):
        out = folder / "out"
        result = run(stagesim, "run", "queue.yaml", "-o", out, "--set", f"queue.policy={policy}", *arguments, "--quiet",
                     "--trace", "csv", cwd=folder)
        self.printed = result.stdout
        self.jobs = rows_of(out / "jobs.csv")
        self.spans = rows_of(out / "spans.csv")
        self.summary = json.loads((out / "summary.json").read_text())
        self.start = [float(row["start_s"]) for row in self.jobs]
        self.end = [float(row["end_s"]) for row in self.jobs]


# ---- random workloads ----

def write_log(folder, jobs, kind=""):
    lines = ["submit,nodes,run,limit,type"]
    lines += [f"{submit!r},{nodes},{'' if kind else repr(run_)},{limit!r},{kind}"
              for submit, nodes, run_, limit in jobs]
    (folder / "jobs.csv").write_text("\n".join(lines) + "\n")


def random_jobs(seed, count):
    """Quarters of a second have exact sums, so that both sides meet the same ties."""
    choose = random.Random(seed)
    jobs, now = [], 0.0
    for _ in range(count):
        now += choose.choice([0, 1, 5, 20]) + choose.randrange(8) / 4
        run_ = choose.choice([5, 30, 100, 300]) + choose.randrange(40) / 4
        jobs.append((now, choose.choice([1, 1, 2, 3, 5, 8, 12]), run_, run_ * choose.choice([0.5, 1, 1, 2, 3])))
    return jobs


def check_nodes(label, result, jobs):
    """No node is two jobs' at a time, and each job has what it asked for."""
    busy = {}
    for span in result.spans:
        nodes = nodes_of(span["nodes"])
        check.that(len(set(nodes)) == len(nodes) and nodes[-1] < NODES, f"{label}: nodes of {span}")
        if jobs:
            check.that(len(nodes) == jobs[int(span["job"]) - 1][1], f"{label}: as many nodes as asked for, {span}")
        for node in nodes:
            busy.setdefault(node, []).append((float(span["from_s"]), float(span["to_s"])))
    for node, times in busy.items():
        times.sort()
        check.that(all(a[1] <= b[0] for a, b in zip(times, times[1:])), f"{label}: node {node} is used twice")


def same(label, result, expected):
    for what, got, wanted in (("start", result.start, expected[0]), ("end", result.end, expected[1])):
        for job, (a, b) in enumerate(zip(got, wanted)):
            if not check.that(a == b, f"{label}: {what} of job {job + 1} is {a!r}, by the rules {b!r}"):
                return


def against_rules(stagesim, folder):
    options = [f"--set=queue.slice={SLICE}s", f"--set=queue.switch={SWITCH}s", f"--set=queue.rows={ROWS}"]
    for seed in range(3):
        jobs = random_jobs(seed, 70)
        exact = [(submit, nodes, run_, run_) for submit, nodes, run_, _ in jobs]
        write_log(folder, jobs)
        for policy, rule in (("fcfs", fcfs), ("shortest", shortest), ("easy", easy), ("conservative", conservative),
                             ("gang", gang)):
            estimates = "limits" if seed == 2 else "exact"
            result = Run(stagesim, folder, policy, *options, f"--set=queue.estimates={estimates}",
                         f"--set=queue.placement={['packed', 'first', 'spread'][seed]}")
            same(f"{policy}, seed {seed}", result, rule(jobs if estimates == "limits" else exact))
            check_nodes(f"{policy}, seed {seed}", result, jobs)
            if policy == "fcfs":
                check.that(result.start == sorted(result.start), "fcfs: jobs start in their order")
            if policy in ("fcfs", "easy", "shortest", "conservative"):
                check.that(all(abs(float(row["end_s"]) - float(row["start_s"]) - job[2]) < 1e-9
                               for row, job in zip(result.jobs, jobs)), f"{policy}: jobs run as long as logged")


def many_wait(stagesim, folder):
    """Nearly all jobs wait at a time, which is when conservative backfilling looks no further than it has to."""
    for seed in range(8):
        jobs = [(submit // 50, *others) for submit, *others in random_jobs(20 + seed, 100)]
        if seed > 3:  # no two limits are alike
            jobs = [(*others, limit + i / 1024) for i, (*others, limit) in enumerate(jobs)]
        write_log(folder, jobs)
        estimates = ("exact", "limits")[seed % 2]
        result = Run(stagesim, folder, "conservative", f"--set=queue.estimates={estimates}")
        exact = [(submit, nodes, run_, run_) for submit, nodes, run_, _ in jobs]
        same(f"many wait, seed {seed}", result, conservative(jobs if estimates == "limits" else exact))
    for step in (0, 1 / 64):
        jobs = [(0.0, 1 + i * 7 % 12, 50.0 + i * 13 % 400, 400.0 + i * 37 % 6000 * step) for i in range(6000)]
        write_log(folder, jobs)
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        result = Run(stagesim, folder, "conservative", "--set=queue.estimates=limits")
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        check.that(seconds < 20, f"6,000 jobs that wait take {seconds} s of processor time, where 1 s is usual")
        check_nodes(f"6,000 jobs, {step}", result, jobs)
        check.that(all(abs(end - start - job[2]) < 1e-9 for start, end, job in zip(result.start, result.end, jobs)),
                   f"6,000 jobs, {step}: jobs run as long as logged")
        done = 0.0
        for start, end in sorted(zip(result.start, result.end)):
            check.that(start <= done, f"6,000 jobs, {step}: all nodes are free from {done} to {start}, and jobs wait")
            done = max(done, end)
    exact = [(0.0, *job[1:3], job[2]) for job in jobs[:1500]]
    write_log(folder, exact)
    same("1,500 jobs at once", Run(stagesim, folder, "conservative"), placed_once(exact))


def placed_once(jobs):
    """Where all come at one time and end when they are expected to, reservations that are made once stay."""
    times, free, start = [0.0, math.inf], [NODES], []  # free[i] from times[i] to times[i + 1]
    for _, nodes, length, _ in jobs:
        first = last = 0
        while times[last + 1] < times[first] + length or free[last] < nodes:
            first, last = (last + 1, last + 1) if free[last] < nodes else (first, last + 1)
        begin, end = times[first], times[first] + length
        if times[last + 1] != end:
            times.insert(last + 1, end)
            free.insert(last + 1, free[last])
        for place in range(first, last + 1):
            free[place] -= nodes
        start.append(begin)
    return start, [begin + job[2] for begin, job in zip(start, jobs)]


def head_is_not_delayed(stagesim, folder):
    """With exact estimates a job under EASY starts no later than if nobody had come after it."""
    jobs = [(12 * submit, *others) for submit, *others in random_jobs(5, 60)]
    write_log(folder, jobs)
    whole = Run(stagesim, folder, "easy").start
    exact = [(submit, nodes, run_, run_) for submit, nodes, run_, _ in jobs]
    heads = 0
    for job in range(1, len(jobs)):
        others = fcfs(exact[:job + 1])[0] if max(whole[:job]) <= jobs[job][0] else None
        if others:  # all before it have started when it comes: it is the head at once
            heads += whole[job] > jobs[job][0]
            alone = easy(exact[:job + 1])[0][job]
            check.that(whole[job] <= alone, f"easy: later jobs delay job {job + 1} from {alone} to {whole[job]}")
    check.that(heads > 8, f"only {heads} jobs were heads at once and waited")


# ---- by hand ----

BY_HAND = [(0.0, 2, 100.0, 100.0), (10.0, 3, 50.0, 50.0), (20.0, 2, 20.0, 20.0), (30.0, 1, 200.0, 200.0),
           (40.0, 4, 10.0, 10.0)]


def by_hand(stagesim, folder):
    """Four nodes, the five jobs of doc/definitions.md."""
    (folder / "queue.yaml").write_text("platform: dgx-h100:4\nqueue: {log: jobs.csv}\n")
    write_log(folder, BY_HAND)
    result = Run(stagesim, folder, "fcfs")
    check.that(result.start == [0, 100, 150, 150, 350] and result.end == [100, 150, 170, 350, 360], "fcfs by hand")
    result = Run(stagesim, folder, "easy")
    check.that(result.start == [0, 100, 20, 40, 240] and result.end == [100, 150, 40, 240, 250], "easy by hand")
    figures = result.summary
    check.near(figures["wait_s"]["mean"], (90 + 10 + 200) / 5, "mean waiting")
    check.near(figures["completion_s"]["mean"], (100 + 140 + 20 + 210 + 210) / 5, "mean completion")
    check.near(figures["slowdown"]["mean"], (1 + 2.8 + 1 + 1.05 + 21) / 5, "mean slowdown")
    check.near(figures["bounded_slowdown"]["mean"], (1 + 2.8 + 1 + 1.05 + 21) / 5, "mean bounded slowdown")
    work = [200, 150, 40, 200, 40]
    check.near(figures["wait_s"]["weighted"], (150 * 90 + 200 * 10 + 40 * 200) / sum(work), "weighted waiting")
    check.near(figures["makespan_s"], 250, "makespan")
    check.near(figures["allocated"], sum(work) / (4 * 250), "allocated")
    check.near(figures["wait_s"]["median"], 10, "median waiting: the third of five")
    check.near(figures["wait_s"]["p95"], 200, "95 % of five jobs are all of them")
    check.that(figures["most_waiting"] == 2, "most waiting")
    check.near(figures["loss_of_capacity"], 0.35, "free while jobs wait")
    check.near(figures["fragmentation"], 118 / 370, "fragmentation")
    check.near(figures["running"], 0.63, "running")
    # Job c comes at 20 and ends at 40. Two jobs are there before, three with it, d comes at 30, so that 3.5 are there
    # on average: it asks for 2 of 4 nodes and would have 4 / 3.5, so that it would take 1.75 times as long.
    check.near(float(result.jobs[2]["fairness"]), 1 / 1.75, "fairness of c")
    check.near(float(result.jobs[4]["bounded_slowdown"]), 21, "bounded slowdown of e: 210 s over 10 s")


# ---- throughputs ----

TYPE = """workload: stages
stages: {forward: 1s, backward: 1s}
batch: {micro_batches: 2, micro: 1}
parallel: {data: 8}
schedule: gpipe
platform: dgx-h100:1
"""


def elastic_jobs(stagesim, folder):
    """A job whose iteration takes 6 s on any nodes, one of 16 samples a node."""
    (folder / "type.yaml").write_text(TYPE)
    (folder / "queue.yaml").write_text(
        f"platform: dgx-h100:{NODES}\nqueue:\n  log: jobs.csv\n  grow: {GROW}s\n  shrink: {SHRINK}s\n"
        "  types: {even: {scenario: type.yaml, iterations: 20, nodes_min: 1, nodes_max: 8}}\n")
    jobs = [(submit, choose, 0, 1.0) for (submit, _, _, _), choose in
            zip(random_jobs(5, 30), [1, 2, 4, 8, 2, 3] * 5)]
    write_log(folder, jobs, "even")
    result = Run(stagesim, folder, "elastic")
    check_nodes("elastic", result, None)
    iteration = float(result.jobs[0]["alone_s"]) / 20
    rate = {n: 16 * n / iteration for n in range(1, 9)}
    start, end = elastic([(submit, None, 20 * 16 * nodes) for submit, nodes, _, _ in jobs], list(range(1, 9)), rate)
    for job in range(len(jobs)):
        check.near(result.start[job], start[job], f"elastic: start of job {job + 1}", 1e-6)
        check.near(result.end[job], end[job], f"elastic: end of job {job + 1}", 1e-6)
    work = sum(20 * 16 * nodes / (16 / iteration) for _, nodes, _, _ in jobs)
    had = sum(len(nodes_of(span["nodes"])) * (float(span["to_s"]) - float(span["from_s"]) - float(span["stalled_s"]))
              for span in result.spans)
    check.near(had, work, "elastic: what is done is what there was to do", 1e-6)
    check.that(result.summary["throughputs"]["evaluated"] <= 8, "eight sizes are at most eight evaluations")
    check.that(sum(int(row["changes"]) for row in result.jobs) == result.summary["changes"] > 10, "changes of size")


def against_runs(stagesim, folder):
    """A job alone is as fast as `run` says of it; a thousand jobs take a handful of evaluations."""
    (folder / "model.yaml").write_text(MODEL)
    (folder / "queue.yaml").write_text(
        "platform: dgx-h100:8\nqueue:\n  log: jobs.csv\n  types: {model: {scenario: model.yaml, iterations: 50}}\n")
    choose = random.Random(3)
    jobs = [(10.0 * i, choose.choice([1, 2, 4]), 0, 1.0) for i in range(1000)]
    write_log(folder, jobs, "model")
    result = Run(stagesim, folder, "easy")
    for nodes in (1, 2, 4):
        alone = summary(stagesim, "model.yaml", "alone", "--set", f"parallel.data={nodes}", "--set", "engine=analytic",
                        "--set", f"platform=dgx-h100:{nodes}", cwd=folder)
        row = next(row for row, job in zip(result.jobs, jobs) if job[1] == nodes)
        check.near(float(row["alone_s"]), 50 * alone["time"]["iteration_s"], f"{nodes} nodes", 1e-9)
    counts = result.summary["throughputs"]
    check.that(counts["asked"] >= 1000 and counts["evaluated"] <= 8, f"evaluations: {counts}")
    check.that(f"{counts['evaluated']} layouts evaluated" in result.printed, "they are printed")
    contended = Run(stagesim, folder, "easy", "--engine", "simgrid", "--set", "queue.jobs=60")
    alone = summary(stagesim, "model.yaml", "alone", "--set", "parallel.data=4", "--set", "platform=dgx-h100:4",
                    cwd=folder)
    row = next(row for row in contended.jobs if row["nodes"] == "4")
    check.near(float(row["alone_s"]), 50 * alone["time"]["iteration_s"], "4 nodes with contention", 1e-9)
    check.that(len(contended.jobs) == 60 and "engine simgrid" in contended.printed, "the first 60 jobs on SimGrid")
    again = Run(stagesim, folder, "easy")
    check.that(again.jobs == result.jobs and again.spans == result.spans, "the same again")


def platforms(stagesim, folder):
    """Types run on the queue's platform however that is written, wherever their scenarios lie."""
    (folder / "far" / "own models").mkdir(parents=True)
    (folder / "far" / "model.yaml").write_text(MODEL)
    (folder / "far" / "own models" / "it's.yaml").write_text("from: dgx-h100\n")
    write_log(folder, [(0.0, 4, 0, 1.0)], "model")
    times = []
    for platform in ("{preset: dgx-h100, nodes: 4, pod: 1, oversubscription: 8}",
                     "{preset: \"far/own models/it's.yaml\", nodes: 4, pod: 1, oversubscription: 8}",
                     "dgx-h100:4", "{preset: dgx-h100, nodes: 4}", "\"far/own models/it's.yaml:4\""):
        (folder / "queue.yaml").write_text(f"platform: {platform}\nqueue:\n  log: jobs.csv\n  types: {{model: "
                                           "{scenario: far/model.yaml, iterations: 50}}\n")
        times.append(float(Run(stagesim, folder, "easy", "--engine", "simgrid").jobs[0]["alone_s"]))
        alone = summary(stagesim, "far/model.yaml", "alone", "--set", "parallel.data=4", "--set",
                        f"platform={platform}", cwd=folder)
        check.near(times[-1], 50 * alone["time"]["iteration_s"], f"platform {platform}", 1e-9)
    check.that(times[0] == times[1] and times[2] == times[3] == times[4], f"the same platforms: {times}")
    check.that(times[0] > 1.01 * times[2], f"what the map says has an effect: {times}")


# ---- other programs, other commands ----

def paje(stagesim, folder):
    (folder / "queue.yaml").write_text("platform: dgx-h100:4\nqueue: {log: jobs.csv}\n")
    write_log(folder, BY_HAND)
    run(stagesim, "run", "queue.yaml", "-o", "drawn", "--trace", "paje,csv", "--picture", "svg", "--report",
        "--quiet", cwd=folder)
    page = (folder / "drawn" / "report.html").read_text()
    inputs = json.loads((folder / "drawn" / "about.json").read_text())["inputs"]
    found = {file["role"]: file.get("sha256") for file in inputs}
    check.that(sorted(file["role"] for file in inputs) == ["log", "platform", "scenario"] and
               found["log"] == hashlib.sha256((folder / "jobs.csv").read_bytes()).hexdigest(),
               f"about.json: {inputs}")
    check.that("Nodes over time" in page and page.count("<tr><td>") == 5 + 5 + 3,
               "report.html has all jobs, figures and sizes")
    check.that("jobs waiting" in page and "</html>" in page, "report.html is whole")
    run(stagesim, "run", "queue.yaml", "-o", "drawn", "--trace", "chrome,csv", "--quiet", cwd=folder)
    events = json.loads((folder / "drawn" / "timeline.chrome.json").read_text())["traceEvents"]
    slices = sorted((event["tid"], event["ts"] / 1e6, (event["ts"] + event["dur"]) / 1e6, event["name"])
                    for event in events if event["ph"] == "X")
    spans = rows_of(folder / "drawn" / "spans.csv")
    check.that(slices == sorted((node, float(span["from_s"]), float(span["to_s"]), span["job"])
                                for span in spans for node in nodes_of(span["nodes"])), f"Chrome: {slices}")
    most = json.loads((folder / "drawn" / "summary.json").read_text())["most_waiting"]
    check.that(max(event["args"]["jobs waiting"] for event in events if event["name"] == "jobs waiting") == most and
               sum(event["name"] == "thread_name" for event in events) == 4, "Chrome: levels and nodes")
    if not shutil.which("pj_dump"):
        print("pj_dump is not installed: timeline.paje was not read back")
        return
    done = subprocess.run(["pj_dump", folder / "drawn" / "timeline.paje"], capture_output=True, text=True, check=False)
    states = [line.split(", ") for line in done.stdout.splitlines() if line.startswith("State")]
    spans = rows_of(folder / "drawn" / "spans.csv")
    wanted = sorted((f"node {node}", float(span["from_s"]), float(span["to_s"]), span["job"])
                    for span in spans for node in nodes_of(span["nodes"]))
    read = sorted((state[1], float(state[3]), float(state[4]), state[7]) for state in states)
    check.that(done.returncode == 0 and read == wanted, f"pj_dump: {done.stderr[:200]} {read[:3]} {wanted[:3]}")


def policies_side_by_side(stagesim, folder):
    write_log(folder, BY_HAND)
    (folder / "queue.yaml").write_text("platform: dgx-h100:4\nqueue: {log: jobs.csv}\n")
    (folder / "other.yaml").write_text("platform: dgx-h100:4\nqueue: {log: jobs.csv, policy: easy}\n")
    text = run(stagesim, "compare", "queue.yaml", "other.yaml", "--format", "json", "--quiet", cwd=folder).stdout
    rows = json.loads(text)
    check.that([row["policy"] for row in rows] == ["fcfs", "easy"], "compare: policies")
    check.near(rows[1]["waiting"], 60, "compare: waiting")
    run(stagesim, "compare", "queue.yaml", "other.yaml", "-o", "both", "--picture", "svg", "--report", "--quiet",
        cwd=folder)
    page = (folder / "both" / "report.html").read_text()
    check.that("done soonest with easy: 136.0 s after" in page and page.count("<tr><td>") == 1, "compare: the page")
    text = run(stagesim, "sweep", "queue.yaml", "--set", "queue.policy=fcfs,easy,shortest", "--format", "csv",
               "--quiet", cwd=folder).stdout
    found = list(csv.DictReader(text.splitlines()))
    check.that([row["queue.policy"] for row in found] == ["fcfs", "easy", "shortest"], f"sweep: policies, {text}")
    check.near(float(found[1]["completion_s"]), 136, "sweep: completion")
    check.near(float(found[1]["wait_s"]), 60, "sweep: waiting")
    text = run(stagesim, "check", "queue.yaml", cwd=folder).stdout
    check.that("5 jobs" in text and "4 nodes" in text, f"check: {text}")


def main():
    stagesim = binary_argument()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "queue.yaml").write_text(f"platform: dgx-h100:{NODES}\nqueue: {{log: jobs.csv}}\n")
        against_rules(stagesim, folder)
        many_wait(stagesim, folder)
        head_is_not_delayed(stagesim, folder)
        by_hand(stagesim, folder)
        elastic_jobs(stagesim, folder)
        against_runs(stagesim, folder)
        platforms(stagesim, folder)
        paje(stagesim, folder)
        policies_side_by_side(stagesim, folder)
    sys.exit(check.done())


main()
