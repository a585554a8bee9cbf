#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""idle_run.py STAGESIM: elastic jobs on idle nodes, against a second replay that shares nothing with the first; logs of
batch jobs; throughputs that stagesim finds out; what is written; and how long a week of 1,000 nodes takes."""
import csv
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "support"))
import tool  # noqa: E402

check = tool.Checker()
binary = tool.binary_argument()


# ---- a second replay ----

def rates_of(points, most):
    """Straight lines between points that begin at 1 and end at `most`."""
    sizes = sorted(points)
    rates = [0.0] * (most + 1)
    for left, right in zip(sizes, sizes[1:]):
        for n in range(left, right + 1):
            rates[n] = points[left] + (points[right] - points[left]) * (n - left) / (right - left)
    return rates


def is_better(value, sizes, than):
    """Of what is worth the same, the one in which the last job has the smallest size, then the one before it."""
    return value > than[0] + 1e-9 or (abs(value - than[0]) <= 1e-9 and sizes[::-1] < than[1][::-1])


def best_sizes(jobs, here, owned, idle, forward, objective):
    """Every total of nodes, job by job: the best that can be had with it, and how."""
    table = {0: (0.0, ())}
    for j in here:
        job, now = jobs[j], len(owned[j])
        following = {}
        for n in [0, *range(job["least"], job["most"] + 1)]:
            cost = job["grow"] if n > now else job["shrink"] if n < now else 0
            more = forward * objective[j][n] - cost * objective[j][now]
            for used, (value, sizes) in table.items():
                total, reached = used + n, sizes + (n,)
                if total <= idle and (total not in following or is_better(value + more, reached, following[total])):
                    following[total] = (value + more, reached)
        table = following
    best = next(iter(table.values()))
    for value, sizes in table.values():
        if is_better(value, sizes, best):
            best = (value, sizes)
    return best[1]


def replay(spans, jobs, duration, forward, speed_up, running):
    rates = [rates_of(job["points"], job["most"]) for job in jobs]
    weight = [job["least"] / r[job["least"]] if speed_up else 1 for job, r in zip(jobs, rates)]
    objective = [[w * x for x in r] for w, r in zip(weight, rates)]
    done, gross, share = [[0.0] * len(jobs) for _ in range(3)]
    began, ended, owned, here = {}, {}, {}, []
    waiting = sorted(range(len(jobs)), key=lambda j: (jobs[j]["submit"], j))
    free, now, rescales, preemptions, decisions, idle_time = set(), 0.0, 0, 0, 0, 0.0
    moments = sorted({t for s in spans for t in s[1:] if t < duration})
    while True:
        ends = [now + max(0, jobs[j]["samples"] - done[j]) / rates[j][len(owned[j])] for j in here
                if jobs[j]["samples"] and owned[j]]
        arrivals = [max(now, jobs[waiting[0]]["submit"])] if waiting and len(here) < running else []
        following = min([t for t in moments[:1]] + ends + arrivals + [duration])
        idle = len(free) + sum(len(owned[j]) for j in here)
        for j in here:
            done[j] += rates[j][len(owned[j])] * (following - now)
            gross[j] += rates[j][len(owned[j])] * (following - now)
            share[j] += min(idle, sum(jobs[k]["most"] for k in here)) / len(here) * (following - now)
        idle_time += idle * (following - now)
        now = following
        if now >= duration:
            break
        if moments and moments[0] == now:
            moments.pop(0)
            leaving = {node for node, _, to in spans if to == now}
            for j in here:
                before = len(owned[j])
                owned[j] -= leaving
                if len(owned[j]) < before:
                    done[j] -= jobs[j]["shrink"] * rates[j][before]
                    preemptions += 1
            free = (free - leaving) | {node for node, start, _ in spans if start == now}
        for j in list(here):
            if jobs[j]["samples"] and done[j] >= jobs[j]["samples"] * (1 - 1e-12):
                here.remove(j)
                free |= owned.pop(j)
                ended[j] = now
        while waiting and len(here) < running and jobs[waiting[0]]["submit"] <= now:
            j = waiting.pop(0)
            here.append(j)
            owned[j], began[j] = set(), now
        decisions += 1
        idle = len(free) + sum(len(owned[j]) for j in here)
        sizes = dict(zip(here, best_sizes(jobs, here, owned, idle, forward, objective)))
        for grows in (False, True):
            for j in here:
                have = len(owned[j])
                if sizes[j] == have or (sizes[j] > have) != grows:
                    continue
                done[j] -= (jobs[j]["grow"] if grows else jobs[j]["shrink"]) * rates[j][have]
                moved = sorted(free if grows else owned[j])[:abs(sizes[j] - have)]
                owned[j] = owned[j] | set(moved) if grows else owned[j] - set(moved)
                free = free - set(moved) if grows else free | set(moved)
                rescales += 1
    dedicated = 0.0
    for j, start in began.items():
        time_here = ended.get(j, duration) - start
        mean = min(share[j] / time_here, jobs[j]["most"])
        low = int(mean)
        rate = rates[j][low] + (rates[j][min(low + 1, jobs[j]["most"])] - rates[j][low]) * (mean - low)
        dedicated += weight[j] * rate * time_here
    return {"work": sum(w * x for w, x in zip(weight, done)), "gross_work": sum(w * x for w, x in zip(weight, gross)),
            "dedicated_work": dedicated, "rescales": rescales, "preemptions": preemptions, "decisions": decisions,
            "finished_jobs": len(ended), "idle": idle_time, "ended": ended}


def draw_log(rng, nodes, duration):
    spans = []
    for node in range(nodes):
        now = rng.uniform(0, 100)
        while now < duration:
            to = now + rng.uniform(20, 400)
            spans.append((node, now, min(to, duration * 1.1)))
            now = to + rng.uniform(20, 300)
    return spans


def draw_jobs(rng):
    jobs = []
    for i in range(4):
        points = {n: rng.uniform(5, 12) * n ** rng.uniform(0.6, 1.1) for n in (1, 2, 3, 5, 8)}
        jobs.append({"name": f"job{i}", "points": points, "least": 1, "most": 8, "grow": rng.uniform(5, 20),
                     "shrink": rng.uniform(2, 15), "samples": rng.choice([0, 8000, 20000]),
                     "submit": rng.choice([0, 0, 300.5, 700.25])})
    return jobs


def write_log(folder, spans):
    with open(os.path.join(folder, "idle.csv"), "w", encoding="utf-8") as file:
        file.write("node,from,to\n" + "".join(f"n{node},{start!r},{to!r}\n" for node, start, to in spans))


def scenario(section, **others):
    return {"name": "t", "idle_nodes": section, **others}


def write(folder, content):
    with open(os.path.join(folder, "t.yaml"), "w", encoding="utf-8") as file:
        json.dump(content, file)


def summary(folder):
    with open(os.path.join(folder, "out", "summary.json"), encoding="utf-8") as file:
        return json.load(file)


def entry(job):
    values = {"points": {str(n): rate for n, rate in job["points"].items()}, "grow": f"{job['grow']!r}s",
              "shrink": f"{job['shrink']!r}s", "submit": f"{job['submit']!r}s"}
    if job["samples"]:
        values["samples"] = job["samples"]
    return values


def compare(folder, seed):
    rng = random.Random(seed)
    duration, running, speed_up = 3000.0, rng.choice([2, 4]), seed % 2 == 1
    spans, jobs = draw_log(rng, 14, duration), draw_jobs(rng)
    write_log(folder, spans)
    write(folder, scenario({"log": "idle.csv", "duration": "3000s", "jobs": {job["name"]: entry(job) for job in jobs},
                            "decide": {"forward": ["15s", "60s"], "running": running,
                                       "objective": "speed-up" if speed_up else "samples"}}))
    tool.run(binary, "run", "t.yaml", "-o", "out", "--quiet", cwd=folder)
    got = summary(folder)
    for policy, forward in zip(got["policies"], (15, 60)):
        expected = replay(spans, jobs, duration, forward, speed_up, running)
        for key in ("decisions", "rescales", "preemptions", "finished_jobs"):
            check.that(policy[key] == expected[key], f"seed {seed}, {forward} s: {key} {policy[key]}, {expected[key]}")
        for key in ("work", "gross_work", "dedicated_work"):
            check.near(policy[key], expected[key], f"seed {seed}, {forward} s: {key}")
        for j, end in expected["ended"].items():
            check.near(policy["jobs"][j]["ended_s"], end, f"seed {seed}: end of job {j}")
        check.that(policy["work"] <= policy["best_work"], f"seed {seed}: more than the best")
        check.near(policy["efficiency"], policy["work"] / policy["dedicated_work"], "efficiency")
        check.near(got["idle_node_s"], expected["idle"], f"seed {seed}: idle node time")


# ---- what is written ----

def read_table(folder, name):
    with open(os.path.join(folder, "out", name), encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def check_paje(folder, jobs):
    if not shutil.which("pj_dump"):
        print("pj_dump is not installed: the Paje trace was not read")
        return
    dump = subprocess.run(["pj_dump", "-l", "17", os.path.join(folder, "out", "timeline.paje")], capture_output=True,
                          text=True, check=False)
    check.that(dump.returncode == 0, dump.stderr[:300])
    held, free = {}, 0.0
    for line in dump.stdout.splitlines():
        fields = [field.strip() for field in line.split(",")]
        if fields[0] == "State" and fields[-1] == "free":
            free += float(fields[5])
        elif fields[0] == "State":
            held[fields[-1]] = held.get(fields[-1], 0) + float(fields[5])
    for job in jobs:
        check.near(held.get(job["name"], 0), job["node_s"], f"Paje: node time of {job['name']}", 1e-9)
    check.near(free, summary(folder)["idle_node_s"], "Paje: idle node time", 1e-9)


def check_chrome(folder, jobs):
    """Slices of jobs lie within those of idle nodes, and last as long as jobs had nodes."""
    with open(os.path.join(folder, "out", "timeline.chrome.json"), encoding="utf-8") as file:
        events = json.load(file)["traceEvents"]
    held, idle = {}, {}
    for event in (event for event in events if event["ph"] == "X"):
        span = (event["ts"] / 1e6, (event["ts"] + event["dur"]) / 1e6)
        if event["cat"] == "idle":
            idle.setdefault(event["tid"], []).append(span)
            continue
        held[event["name"]] = held.get(event["name"], 0) + span[1] - span[0]
        check.that(any(begin <= span[0] + 1e-6 and span[1] <= end + 1e-6 for begin, end in idle.get(event["tid"], [])),
                   f"Chrome: {event} on a node that is not idle")
    for job in jobs:
        check.near(held.get(job["name"], 0), job["node_s"], f"Chrome: node time of {job['name']}", 1e-9)
    check.near(sum(end - begin for spans in idle.values() for begin, end in spans), summary(folder)["idle_node_s"],
               "Chrome: idle node time", 1e-9)


def contents(folder, names):
    """Without the time that the run took."""
    found = {name: open(os.path.join(folder, "out", name), "rb").read() for name in names}
    found["summary.json"], count = re.subn(rb'"simulation": *\{[^}]*\}', b"", found["summary.json"])
    check.that(count == 1, "one block `simulation`")
    return found


def check_files(folder):
    rng = random.Random(5)
    jobs = draw_jobs(rng)
    write_log(folder, draw_log(rng, 10, 2000.0))
    write(folder, scenario({"log": "idle.csv", "duration": "2000s", "jobs": {job["name"]: entry(job) for job in jobs},
                            "decide": {"method": ["optimal", "greedy", "equal", "first"]}}))
    options = ["--trace", "csv,paje,chrome", "--picture", "svg", "--report", "--quiet"]
    tool.run(binary, "run", "t.yaml", "-o", "out", *options, cwd=folder)
    names = sorted(os.listdir(os.path.join(folder, "out")))
    check.that(names == ["about.json", "decisions.csv", "idle.json", "jobs.csv", "report.html", "scenario.yaml",
                         "sizes.csv", "summary.json", "timeline.chrome.json", "timeline.paje", "timeline.svg"],
               f"files: {names}")
    first = contents(folder, names)
    policies = summary(folder)["policies"]
    check.that(len(policies) == 4 and all(p["work"] <= p["best_work"] for p in policies), "four policies")
    check_paje(folder, policies[0]["jobs"])
    check_chrome(folder, policies[0]["jobs"])
    for policy in policies:
        mine = [row for row in read_table(folder, "decisions.csv") if row["method"] == policy["method"]]
        check.that(len(mine) == policy["decisions"], f"{policy['method']}: decisions.csv")
        check.that(sum(int(row["grown"]) + int(row["shrunk"]) for row in mine) == policy["rescales"], "rescales")
        check.that(all(int(row["used"]) <= int(row["idle"]) for row in mine), "more used than idle")
        left = [row for row in read_table(folder, "sizes.csv")
                if row["method"] == policy["method"] and row["cause"] == "left"]
        check.that(len(left) == policy["preemptions"], f"{policy['method']}: sizes.csv")
        ends = [float(row["time_s"]) for row in mine[1:]] + [2000.0]
        work = sum(float(row["rate"]) * (end - float(row["time_s"])) - float(row["lost"])
                   for row, end in zip(mine, ends))
        check.near(work, policy["work"], f"{policy['method']}: work of its decisions", 1e-9)
    tool.run(binary, "run", "t.yaml", "-o", "out", *options, cwd=folder)
    check.that(first == contents(folder, names), "the same files again")


def check_running(folder):
    """Ten jobs run at a time unless the scenario says otherwise, which is said where there are more of them."""
    with open(os.path.join(folder, "idle.csv"), "w", encoding="utf-8") as out:
        out.write("node,from,to\n" + "".join(f"n{i},0,100\n" for i in range(20)))
    for count, running, said in ((20, None, "20 elastic jobs, of which at most 10 run at a time "
                                  "(idle_nodes.decide.running is not given)"), (10, None, "10 elastic jobs"),
                                 (20, 15, "20 elastic jobs, of which at most 15 run at a time "
                                  "(idle_nodes.decide.running)"), (20, 20, "20 elastic jobs")):
        write(folder, scenario({"log": "idle.csv", "jobs": {"a": {"points": {"1": 1}, "count": count}},
                                "decide": {"running": running} if running else {}}))
        for command, after in (("check", ";"), ("run", ", work")):
            printed = tool.run(binary, command, "t.yaml", cwd=folder).stdout
            check.that(said + after in printed, f"{command} of {count} jobs, {running} at a time: {printed[:300]}")
        tool.run(binary, "run", "t.yaml", "-o", "out", "--quiet", cwd=folder)
        got = summary(folder)
        began = sum("began_s" in job for job in got["policies"][0]["jobs"])
        check.that(got["running_most"] == (running or 10) and began == min(count, running or 10), f"{began} began")


def check_compared(folder):
    """compare and sweep have of each way to decide what run has, and files that can be looked at."""
    rng = random.Random(8)
    jobs = draw_jobs(rng)
    write_log(folder, draw_log(rng, 10, 2000.0))
    section = {"log": "idle.csv", "duration": "2000s", "jobs": {job["name"]: entry(job) for job in jobs}}
    figures = {"work": "work", "efficiency": "efficiency", "of_best": "of_the_best", "rescales": "rescales",
               "preemptions": "preemptions"}
    methods = ["optimal", "greedy", "equal", "first"]
    write(folder, scenario({**section, "decide": {"method": methods}}))
    tool.run(binary, "run", "t.yaml", "-o", "out", "--quiet", cwd=folder)
    expected = summary(folder)["policies"]
    tool.run(binary, "compare", "t.yaml", "-o", "both", "--picture", "svg", "--report", "--quiet", cwd=folder)
    with open(os.path.join(folder, "both", "comparison.json"), encoding="utf-8") as file:
        rows = json.load(file)
    write(folder, scenario({**section, "decide": {"method": "optimal"}}))
    varied = f"idle_nodes.decide.method={','.join(methods)}"
    printed = tool.run(binary, "sweep", "t.yaml", "--set", varied, "--format", "csv", "--quiet", cwd=folder).stdout
    swept = list(csv.DictReader(printed.splitlines()))
    check.that(len(rows) == len(swept) == len(methods), f"ways to decide: {rows}, {swept}")
    for policy, row, line in zip(expected, rows, swept):
        check.that(row["decided_by"].split(",")[0] == line["idle_nodes.decide.method"] == policy["method"], f"{row}")
        for figure, column in figures.items():
            check.that(row[column] == policy[figure], f"compare, {policy['method']}: {column} {row[column]}")
            check.near(float(line[figure]), policy[figure], f"sweep, {policy['method']}: {figure}", 1e-12)
    check.that(rows[0]["directory"] == "t-optimal", f"the first has files: {rows[0]}")
    best = max(expected, key=lambda policy: policy["work"])["method"]
    printed = tool.run(binary, "sweep", "t.yaml", "--set", varied, "--quiet", cwd=folder).stdout
    check.that("best work of jobs on idle nodes" in printed and f"with idle_nodes.decide.method {best}" in printed,
               f"the best: {printed}")
    page = open(os.path.join(folder, "both", "report.html"), encoding="utf-8").read()
    check.that("The jobs do most with optimal" in page and 'href="t-optimal/report.html"' in page, "the page on top")
    with open(os.path.join(folder, "queue.yaml"), "w", encoding="utf-8") as file:
        file.write("platform: dgx-h100:4\nqueue: {log: none.csv}\n")
    with open(os.path.join(folder, "none.csv"), "w", encoding="utf-8") as file:
        file.write("submit,nodes,run\n0,1,1\n")
    error = tool.run(binary, "compare", "t.yaml", "queue.yaml", cwd=folder, expect=1).stderr
    check.that("they have no figures in common" in error, f"idle nodes and a queue: {error}")


# ---- logs of batch jobs, throughputs of stagesim ----

def check_gaps(folder):
    """Four nodes: one job of 2 from 100 to 300 s, one of 3 from 200 to 400 s, of which one goes without."""
    swf = "; MaxNodes: 4\n; MaxProcs: 4\n" + "".join(
        f"{i} {submit} {wait} {run} {size} -1 -1 {size} -1 -1 1 1 1 1 1 1 -1 -1\n"
        for i, submit, wait, run, size in ((1, 90, 10, 200, 2), (2, 200, 0, 200, 3)))
    with open(os.path.join(folder, "log.swf"), "w", encoding="utf-8") as file:
        file.write(swf)
    write(folder, scenario({"log": "log.swf", "format": "swf",
                            "jobs": {"a": {"points": {"1": 1, "4": 4}, "grow": "0s", "shrink": "0s"}}}))
    tool.run(binary, "run", "t.yaml", "-o", "out", "--quiet", cwd=folder)
    got = summary(folder)
    check.near(got["duration_s"], 300, "from the first start to the last end")
    check.near(got["idle_node_s"], 2 * 100 + 0 * 100 + 2 * 100, "idle node time between batch jobs")
    check.near(got["policies"][0]["work"], 400, "work between batch jobs")


def check_scaling(folder):
    """A job whose throughput stagesim finds out has that of `run` with the same data-parallel width."""
    file = str(tool.ROOT / "scenarios" / "resnet-50.yaml")
    with open(os.path.join(folder, "idle.csv"), "w", encoding="utf-8") as out:
        out.write("node,from,to\na,0,10\nb,10,20\na,10,20\n")
    write(folder, scenario({"log": "idle.csv", "jobs": {"resnet": {"scenario": file, "grow": "0s", "shrink": "0s"}}}))
    tool.run(binary, "run", "t.yaml", "-o", "out", "--quiet", cwd=folder)
    got = summary(folder)
    check.that(got["simulated_sizes"] == 2, "two sizes are simulated")
    expected = 0
    for data in (8, 16):
        rows = json.loads(tool.run(binary, "run", file, "--engine", "analytic", "--set", f"parallel.data={data}",
                                   "--format", "json", "--quiet").stdout)
        expected += 10 * next(value for key, value in rows[0].items() if key.startswith("samples"))
    check.near(got["policies"][0]["work"], expected, "work at stagesim's own rates", 1e-6)


def check_week():
    """Processor time, which does not depend on what else the machine does."""
    with tempfile.TemporaryDirectory() as folder:
        tool.run(binary, "run", tool.ROOT / "scenarios" / "idle-nodes.yaml", "-o", "out", "--quiet",
                 "--set", "idle_nodes.decide={method: optimal, forward: 120s}", cwd=folder)
        used, decision = summary(folder)["simulation"].values()
        policy = summary(folder)["policies"][0]
    print(f"a week of 1,000 nodes: {used:.2f} s, {decision:.3f} ms a decision")
    check.that(used < 60, f"a week of 1,000 nodes took {used:.1f} s")
    check.that(0.9 < policy["efficiency"] < 1, f"efficiency {policy['efficiency']}")


with tempfile.TemporaryDirectory() as scratch:
    for number in range(1, 9):
        compare(scratch, number)
    check_files(scratch)
    check_running(scratch)
    check_compared(scratch)
    check_gaps(scratch)
    check_scaling(scratch)
check_week()
sys.exit(check.done())
