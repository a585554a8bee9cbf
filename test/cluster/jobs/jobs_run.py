#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""jobs_run.py STAGESIM: several jobs on one platform against closed forms of max-min sharing, and against what each job
does by itself."""
import csv
import gzip
import json
import os
import pathlib
import random as random_module
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "support"))
import tool  # noqa: E402

check = tool.Checker()
binary = tool.binary_argument()


def trunk(pairs):
    """Hosts a0.. and b0.., and between a's and b's one link of 1 GB/s in each direction."""
    lines = [tool.HEAD, "<zone id='c' routing='Full'>"]
    lines += [f"<host id='{side}{i}' speed='1Gf'/>" for side in "ab" for i in range(pairs)]
    lines.append("<link id='trunk' bandwidth='1GBps' latency='0s' sharing_policy='SPLITDUPLEX'/>")
    link = "<link_ctn id='trunk' direction='UP'/>"
    lines += [f"<route src='a{i}' dst='b{k}'>{link}</route>" for i in range(pairs) for k in range(pairs)]
    return "\n".join(lines + ["</zone></platform>\n"])


def job(compute, megabytes):
    """Two ranks that compute and then exchange so much, each to the other."""
    return {"workload": "stages", "stages": {"forward": f"{compute}s", "backward": "0s", "message": "0B",
                                             "gradient": f"{megabytes}MB"},
            "parallel": {"data": 2}, "batch": {"global": 2, "micro": 1}, "schedule": "gpipe"}


def run(folder, cluster, *options):
    with open(os.path.join(folder, "cluster.yaml"), "w", encoding="utf-8") as file:
        json.dump(cluster, file)
    got = subprocess.run([binary, "run", "cluster.yaml", "--format", "json", *options], cwd=folder, capture_output=True,
                         text=True, check=False)
    if not check.that(got.returncode == 0, got.stderr):
        return []
    rows = json.loads(got.stdout)[1:]
    check.that(len(rows) >= len(cluster["jobs"]), "a row for each job")
    return rows


def pairs_of(jobs):
    """Jobs as (compute, megabytes, start), each over the trunk."""
    return {"platform": "trunk.xml",
            "jobs": {f"j{i}": {"scenario": job(compute, size), "placement": [f"a{i}", f"b{i}"], "start": f"{start}s",
                               "iterations": 6} for i, (compute, size, start) in enumerate(jobs)}}


def check_periodic(folder):
    for offset, expected in ((0, 1.4), (0.2, 1.2), (0.4, 1.0)):
        for row in run(folder, pairs_of([(0.6, 400, 0), (0.6, 400, offset)])):
            check.near(row["iteration_s"], expected, f"two jobs, offset {offset}", 1e-6)
    for row in run(folder, pairs_of([(0.9, 300, 0)] * 3)):
        check.near(row["iteration_s"], 1.8, "three jobs", 1e-6)


# Cases of max-min sharing: links with their rates in GB/s, and transfers with their links, sizes in MB and starts, and
# when each ends. Where rates are the closed form, sizes are rates, so that all end after a second.
CASES = {
    "two transfers start together": ({"l": 1}, [("l", 1000, 0, 2), ("l", 3000, 0, 4)]),
    "second starts later": ({"l": 1}, [("l", 1000, 0, 1.5), ("l", 1000, 0.5, 2)]),
    "private caps": ({"l": 100, "x": 10, "y": 30}, [("lx", 10000, 0, 1), ("ly", 30000, 0, 1), ("l", 30000, 0, 1),
                                                    ("l", 30000, 0, 1)]),
    "parking lot": ({"l": 1, "m": 1, "n": 1}, [("lmn", 500, 0, 1), ("l", 500, 0, 1), ("m", 500, 0, 1),
                                               ("n", 500, 0, 1)]),
    "parking lot, uneven links": ({"l": 1, "m": 3}, [("lm", 500, 0, 1), ("l", 500, 0, 1), ("m", 2500, 0, 1)]),
}


def check_cases(folder):
    for name, (links, transfers) in CASES.items():
        lines = [tool.HEAD, "<zone id='c' routing='Full'>"]
        lines += [f"<host id='{side}{i}' speed='1Gf'/>" for side in "ab" for i in range(len(transfers))]
        lines += [f"<link id='{link}' bandwidth='{rate}GBps' latency='0s' sharing_policy='SPLITDUPLEX'/>"
                  for link, rate in links.items()]
        for i, (way, _, _, _) in enumerate(transfers):
            passed = "".join(f"<link_ctn id='{link}' direction='UP'/>" for link in way)
            lines.append(f"<route src='a{i}' dst='b{i}'>{passed}</route>")
        with open(os.path.join(folder, "case.xml"), "w", encoding="utf-8") as file:
            file.write("\n".join(lines + ["</zone></platform>\n"]))
        cluster = pairs_of([(0, size, start) for _, size, start, _ in transfers])
        cluster["platform"] = "case.xml"
        for described in cluster["jobs"].values():
            described["iterations"] = 1
        found = summary(folder, cluster)
        for described, (_, _, _, end) in zip(found["jobs"] if found else [], transfers):
            check.near(described["end_s"], end, f"{name}: {described['name']}", 1e-6)


def summary(folder, cluster, *options):
    """The summary of a run with all its files."""
    with open(os.path.join(folder, "cluster.yaml"), "w", encoding="utf-8") as file:
        json.dump(cluster, file)
    got = subprocess.run([binary, "run", "cluster.yaml", "-o", "out", *options], cwd=folder, capture_output=True,
                         text=True, check=False)
    if not check.that(got.returncode == 0, got.stderr):
        return None
    with open(os.path.join(folder, "out", "summary.json"), encoding="utf-8") as file:
        return json.load(file)


# ---- what is left out changes nothing ----

def random_cluster(random):
    """Jobs of a few kinds on hosts of a platform with nodes of two and one trunk, some of them copies."""
    jobs = {}
    for i in range(random.randint(2, 3)):
        ranks = random.choice((2, 2, 4))
        stages = {"forward": f"{random.choice((10, 20, 30))}ms", "backward": f"{random.choice((20, 40))}ms",
                  "message": f"{random.choice((2, 5))}MB", "gradient": f"{random.choice((5, 20))}MB"}
        scenario = {"workload": "stages", "stages": stages, "parallel": {"data": 2, "pipeline": ranks // 2},
                    "batch": {"global": 8, "micro": 1}, "schedule": "1f1b"}
        jobs[f"j{i}"] = {"scenario": scenario, "iterations": random.randint(40, 60),
                         "start": f"{random.choice((0, 0, 15, 40))}ms", "copies": random.choice((1, 1, 2)),
                         "placement": random.choice(("packed", "spread", "rail", "random"))}
    return {"platform": "nodes.xml", "jobs": jobs}


def nodes():
    """Eight nodes of two hosts; four around each of two switches, and a trunk between these."""
    lines = [tool.HEAD, "<zone id='c' routing='Floyd'>"]
    for i in range(16):
        lines.append(f"<host id='h{i}' speed='1Gf'><prop id='node' value='n{i // 2}'/></host>")
    lines += ["<router id='s0'/><router id='s1'/>"]
    lines += [f"<link id='l{i}' bandwidth='1GBps' latency='1us' sharing_policy='SPLITDUPLEX'/>" for i in range(16)]
    lines.append("<link id='trunk' bandwidth='1GBps' latency='1us' sharing_policy='SPLITDUPLEX'/>")
    lines += [f"<route src='h{i}' dst='s{i // 8}'><link_ctn id='l{i}' direction='UP'/></route>" for i in range(16)]
    lines.append("<route src='s0' dst='s1'><link_ctn id='trunk' direction='UP'/></route>")
    return "\n".join(lines + ["</zone></platform>\n"])


def covered(folder):
    """(row, kind): seconds covered by boxes of the picture, the last end, the last number."""
    with open(os.path.join(folder, "out", "jobs.json"), encoding="utf-8") as file:
        picture = json.load(file)
    check.that("left out" not in picture["subtitle"], "few cycles are drawn as often as they are gone through")
    found = {}
    for row, kind, number, start, end in sorted(picture["boxes"], key=lambda box: box[3]):
        seconds, last, most = found.get((row, kind), (0, 0, 0))
        found[row, kind] = seconds + max(0, end - max(start, last)), max(last, end), max(most, number)
    return found


def check_pictures(jobs, first, second):
    """Of jobs whose iterations were left out, and of the same in whole."""
    check.that(first.keys() == second.keys(), "the same rows")
    for key in (key for key in first.keys() & second.keys() if "cycle_repeats" in jobs[key[0]]):
        for a, b, what in zip(first[key], second[key], ("covered", "end", "number")):
            check.near(a, b, f"boxes of {key}: {what}", 1e-6)


def check_shortcuts(folder):
    """Components, alike components and left-out iterations against all jobs and iterations in one simulation."""
    source = random_module.Random(11)
    cut = sets = alike = 0
    for _ in range(8):
        cluster = random_cluster(source)
        short = summary(folder, cluster)
        boxes = covered(folder)
        whole = summary(folder, cluster, "--set", "steady=off")
        if not (short and whole):
            continue
        check_pictures(short["jobs"], boxes, covered(folder))
        sets += short["components"] > 1
        alike += short["simulated_components"] < short["components"]
        for a, b in zip(short["jobs"], whole["jobs"]):
            cut += "cycle_repeats" in a
            check.that(b["simulated_iterations"] == b["iterations"], "steady: off simulates all")
            for key in ("iteration_s", "end_s", "iteration_alone_s"):
                check.near(a[key], b[key], f"{cluster}: {a['name']} {key}", 1e-7)
    check.that(cut >= 6 and sets >= 2 and alike >= 1,
               f"the shortcuts were taken: {cut} jobs cut, {sets} clusters in sets, {alike} with sets alike")


# ---- a job by itself ----

def check_own_runs(folder):
    """Jobs that share nothing take what `run` says of their scenarios, and so does each alone."""
    scenario = job(0.01, 30)
    cluster = {"platform": "nodes.xml", "jobs": {"a": {"scenario": scenario, "placement": ["h0", "h1"]},
                                                 "b": {"scenario": "b.yaml", "placement": ["h14", "h15"],
                                                       "start": "3ms"}}}
    for name, own in (("a", scenario), ("b", job(0.02, 12))):
        with open(os.path.join(folder, f"{name}.yaml"), "w", encoding="utf-8") as file:
            json.dump({"platform": "nodes.xml", "iterations": 10, **own}, file)
    found = summary(folder, cluster)
    for described in found["jobs"] if found else []:
        got = subprocess.run([binary, "run", f"{described['name']}.yaml", "-o", "own"], cwd=folder, check=False,
                             capture_output=True, text=True)
        check.that(got.returncode == 0, got.stderr)
        with open(os.path.join(folder, "own", "summary.json"), encoding="utf-8") as file:
            own = json.load(file)
        check.near(described["iteration_s"] * 10, own["time"]["makespan_s"], described["name"])
        check.near(described["iteration_s"], described["iteration_alone_s"], f"{described['name']} alone")


# ---- figures and files ----

def check_figures(folder):
    """The worked example of doc/cluster.md: who meets whom on the trunk, and for how long."""
    cluster = {**pairs_of([(0.6, 400, 0), (0.6, 400, 0.2)]), "interference": True, "output": {"replicas": "all"}}
    found = summary(folder, cluster, "--trace", "paje,chrome,chrome-gz,perfetto,csv", "--picture", "svg", "--report")
    if not found:
        return
    a, b = found["jobs"]
    check.near(a["slow_down"], 1.2, "slow-down", 1e-6)
    check.near(b["end_s"], 0.2 + 6 * 1.2, "end", 1e-6)
    check.near(found["makespan_s"], b["end_s"], "makespan")
    check.near(found["interference"]["j0"]["j1"], 1.2, "matrix", 1e-6)
    for name in ("trunk_UP", "trunk_DOWN"):
        mine = [link for link in a["shared_links"] if link["link"] == name]
        check.that(len(mine) == 1 and mine[0]["with"] == "j1", f"{name} is shared with j1")
        check.near(mine[0]["share"], 6 * 0.4 / 7.4, name, 1e-6)  # of 7.4 s both move in 0.4 s of each iteration
    kind = found["link_kinds"][0]
    check.that(kind["name"] == "trunk" and kind["by_several_jobs"] == 2, "kinds of links")
    check.near(kind["busy"], 6 * 0.8 / 7.4, "the trunk is busy", 1e-6)
    check.near(kind["contended_max"], 6 * 0.4 / 7.4, "and contended", 1e-6)
    check_files(os.path.join(folder, "out"))
    check_traces(pathlib.Path(folder, "out"))
    check_report(folder)
    check.that(summary(folder, cluster) == found, "the same again")


def check_names(folder):
    """A job's name beyond ASCII is in the page as it is."""
    cluster = pairs_of([(0.6, 400, 0), (0.6, 400, 0)])
    cluster["jobs"] = {"café <1>": cluster["jobs"]["j0"], "東": cluster["jobs"]["j1"]}
    if not summary(folder, cluster, "--report"):
        return
    with open(os.path.join(folder, "out", "report.html"), encoding="utf-8") as file:
        verdict = re.search(r'<p class="verdict">(.*)</p>', file.read()).group(1)
    check.that("Most of all 東: 1.4000 times" in verdict and "with café &lt;1&gt; on" in verdict, verdict)


def check_report(folder):
    """The page and the picture again, the same to the byte, and mistakes in what they are drawn from."""
    out = pathlib.Path(folder, "out")
    before = {name: (out / name).read_bytes() for name in ("report.html", "timeline.svg")}
    got = subprocess.run([binary, "report", "out"], cwd=folder, capture_output=True, text=True, check=False)
    check.that(got.returncode == 0, got.stderr)
    check.that(all((out / name).read_bytes() == text for name, text in before.items()), "drawn again")
    saved = (out / "jobs.json").read_text()
    for old, new in (('"compute"', '"other"'), ('"tiles"', '"files"'), ('"table": 0', '"table": 9'), ("[0, ", "[7, "),
                     ('"rows": [', '"rows": [[["a"]], '), ('"title"', '"head"')):
        (out / "jobs.json").write_text(saved.replace(old, new, 1))
        got = subprocess.run([binary, "report", "out"], cwd=folder, capture_output=True, text=True, check=False)
        check.that(got.returncode == 1 and "out/jobs.json:" in got.stderr and "expected" in got.stderr,
                   f"{new}: {got.stderr}")
    (out / "jobs.json").unlink()  # which is not stagesim's any more


def check_files(out):
    dump = subprocess.run(["pj_dump", os.path.join(out, "timeline.paje")], capture_output=True, text=True, check=False)
    check.that(dump.returncode == 0, dump.stderr)
    rows = [line.split(", ") for line in dump.stdout.splitlines()]
    jobs = sorted(row[-1] for row in rows if row[0] == "Container" and row[2] == "job")
    check.that(jobs == ["j0", "j1"], f"containers of jobs: {jobs}")
    states = sorted((float(row[3]), float(row[4])) for row in rows if row[0] == "State" and row[-1] == "gradient-sync")
    check.that(len(states) == 24 and abs(states[0][0] - 0.6) < 1e-6 and abs(states[-1][1] - 7.4) < 1e-6,
               f"transfers of both jobs in one time: {states}")
    with open(os.path.join(out, "report.html"), encoding="utf-8") as file:
        page = file.read()
    for text in ("2 of 2 jobs are slowed down", "<svg", "trunk", "1.2000", "Which links of whom"):
        check.that(text in page, f"the page says {text}")
    with open(os.path.join(out, "timeline.svg"), encoding="utf-8") as file:
        picture = file.read()
    check.that("<svg" in picture, "a picture")
    again = subprocess.run([binary, "run", os.path.join(out, "scenario.yaml"), "--format", "json"], check=False,
                           capture_output=True, text=True)
    check.that(again.returncode == 0 and abs(json.loads(again.stdout)[1]["iteration_s"] - 1.2) < 1e-6,
               f"scenario.yaml gives the same again: {again.stderr}")


def check_traces(out):
    """The same operations in the table, in Chrome's format and in Perfetto's, each job in its own time and by its
    name."""
    with open(out / "operations.csv", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    events = json.loads((out / "timeline.chrome.json").read_text())["traceEvents"]
    names = {event["pid"]: event["args"]["name"] for event in events if event.get("name") == "process_name"}
    slices = sorted((names[event["pid"]].split(":")[0], event["ts"], event["dur"]) for event in events
                    if event["ph"] == "X")
    begin = {id(row): float(row["data_start_s" if row["stream"].startswith("receive") else "start_s"]) for row in rows}
    table = sorted((row["job"], 1e6 * begin[id(row)], 1e6 * (float(row["end_s"]) - begin[id(row)])) for row in rows)
    check.that(len(slices) == len(table) > 40, f"{len(slices)} slices, {len(table)} rows")
    check.that(all(one[0] == other[0] and abs(one[1] - other[1]) < 1e-3 and abs(one[2] - other[2]) < 1e-3
                   for one, other in zip(slices, table)), "slices are not the rows of the table")
    check.that(len(names) == len(set(names.values())) == 4, f"processes: {names}")
    for job, start, end in (("j0", 0, 7.2), ("j1", 0.2, 7.4)):
        mine = [row for row in rows if row["job"] == job]
        check.near(min(float(row["start_s"]) for row in mine), start, f"{job} begins", 1e-6)
        check.near(max(float(row["end_s"]) for row in mine), end, f"{job} ends", 1e-6)
        check.that({row["iteration"] for row in mine} == {str(i) for i in range(6)}, f"{job}: iterations")
    check.that(gzip.decompress((out / "timeline.chrome.json.gz").read_bytes()) ==
               (out / "timeline.chrome.json").read_bytes(), "the compressed trace is another one")
    perfetto = (out / "timeline.perfetto-trace").read_bytes()
    check.that(all(name.encode() in perfetto for name in names.values()), "Perfetto's trace does not name all ranks")


def check_placement(folder):
    """Hosts of each word, on nodes of two."""
    def hosts(placement, ranks, **more):
        scenario = {**job(0.01, 1), "parallel": {"data": ranks}, "batch": {"global": ranks, "micro": 1}}
        found = summary(folder, {"platform": "nodes.xml", "jobs": {
            "x": {"scenario": job(0.01, 1), "placement": ["h0", "h3"]},
            "a": {"scenario": scenario, "placement": placement, "iterations": 1, **more}}})
        return found["jobs"][1]["hosts"] if found else []

    check.that(hosts("packed", 4) == ["h1", "h2", "h4", "h5"], "packed")
    check.that(hosts("spread", 4) == ["h1", "h2", "h4", "h6"], "spread: one of every node")
    check.that(hosts("spread", 9) == ["h1", "h2", "h4", "h5", "h6", "h8", "h10", "h12", "h14"], "spread, second round")
    check.that(hosts("rail", 8) == ["h2", "h4", "h6", "h8", "h10", "h12", "h14", "h1"],
               "rail: first hosts, then second")
    check.that(hosts("h1*", 3) == ["h1", "h10", "h11"], "a pattern")
    one, same, other = (hosts("random", 6, seed=seed) for seed in (1, 1, 2))
    check.that(one == same and one != other and len(set(one)) == 6, "random, the same with the same seed")


def check_commands(folder):
    summary(folder, pairs_of([(0.6, 400, 0), (0.6, 400, 0.2)]))
    swept = subprocess.run([binary, "sweep", "cluster.yaml", "--set", "jobs.j1.start=0s,0.2s,0.4s",
                            "--format", "json"],
                           cwd=folder, capture_output=True, text=True, check=False)
    check.that(swept.returncode == 0, swept.stderr)
    times = [row["iteration_s"] for row in json.loads(swept.stdout or "[]")]
    check.that(len(times) == 3 and all(abs(a - b) < 1e-6 for a, b in zip(times, (1.4, 1.2, 1.0))), f"sweep: {times}")
    compared = subprocess.run([binary, "compare", "cluster.yaml", "--what-if", "trunk*=2", "--format", "json"],
                              cwd=folder, capture_output=True, text=True, check=False)
    check.that(compared.returncode == 0, compared.stderr)
    names = [row["scenario"] for row in json.loads(compared.stdout or "[]")]
    check.that(len(names) >= 3 and any(name.endswith("/j1") for name in names), f"compare: {names}")
    said = subprocess.run([binary, "check", "cluster.yaml"], cwd=folder, capture_output=True, text=True, check=False)
    check.that(said.returncode == 0 and "2 jobs on 4 of 6 GPUs" in said.stdout, said.stdout + said.stderr)


def check_notes(folder):
    """Keys that change nothing in a job, and defaults of its framework: about.json says what the terminal is told."""
    cluster = pairs_of([(0.6, 400, 0), (0.6, 400, 0)])
    cluster["jobs"]["j0"]["scenario"]["communication"] = {"messages": "pipelined"}
    cluster["jobs"]["j1"]["scenario"]["communication"] = {"messages": "blocking"}
    cluster["jobs"]["j1"]["scenario"]["simgrid"] = {"cfg": ["network/crosstraffic:0"]}
    cluster["engine"] = "simgrid"
    with open(os.path.join(folder, "cluster.yaml"), "w", encoding="utf-8") as file:
        json.dump(cluster, file)
    got = subprocess.run([binary, "run", "cluster.yaml", "-o", "noted"], cwd=folder, capture_output=True, text=True,
                         check=False)
    if not check.that(got.returncode == 0, got.stderr):
        return
    with open(os.path.join(folder, "noted", "about.json"), encoding="utf-8") as file:
        written = json.load(file).get("notes", [])
    told = [line.split(": note: ")[1] for line in got.stderr.splitlines() if ": note: " in line]
    check.that(sum("communication.messages changes nothing here; it needs" in text for text in told) == 2, got.stderr)
    check.that(all(text in written for text in told), f"{told} on the terminal, {written} in about.json")


def main():
    with tempfile.TemporaryDirectory() as folder:
        for name, text in (("trunk.xml", trunk(3)), ("nodes.xml", nodes())):
            with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                file.write(text)
        check_periodic(folder)
        check_cases(folder)
        check_figures(folder)
        check_own_runs(folder)
        check_names(folder)
        check_placement(folder)
        check_commands(folder)
        check_shortcuts(folder)
        check_notes(folder)
    return check.done()


sys.exit(main())
