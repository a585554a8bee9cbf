#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`stagesim search` against brute force: every candidate of a small space is checked and run on its own. The same
layouts are legal, come to the same time and memory, and win; the output does not depend on the number of processes,
on shards, nor on a kill and a resume; the winner's scenario runs.

usage: search.py STAGESIM [RANDOM SPACES]
"""
import concurrent.futures
import csv
import html.parser
import itertools
import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import tool

SCENARIO = """platform: dgx-a100-2
workload: transformer
model: {layers: 10, hidden: 8192, heads: 4, sequence: 2048, vocabulary: 32000}
parallel: {pipeline: 2, data: 2}
batch: {global: 12, micro: 1}
schedule: {name: interleaved, chunks: 3}
transformer: {attention: standard}
search: {micro: [1, 3], schedules: [1f1b, interleaved], recompute: [none, full], zero: [0, 2],
         balance: even, sequence_parallel: false}
"""
GPUS, GLOBAL = 4, 12
SPACES = int(sys.argv[2]) if len(sys.argv) > 2 else 40  # hundreds by hand


def candidates():
    meshes = [(data, tensor, GPUS // data // tensor) for data in (1, 2, 4) for tensor in (1, 2, 4)
              if data * tensor <= GPUS]
    return list(itertools.product(meshes, (1, 3), ("1f1b", "interleaved"), ("none", "full"), (0, 2)))


def settings(candidate):
    (data, tensor, pipeline), micro, schedule, recompute, zero = candidate
    chunks = ", chunks: 3" if schedule == "interleaved" else ""
    values = [f"parallel={{data: {data}, tensor: {tensor}, pipeline: {pipeline}}}",
              f"batch={{global: {GLOBAL}, micro: {micro}}}",
              f"schedule={{name: {schedule}, recompute: {recompute}{chunks}}}", f"transformer.zero={zero}"]
    return [part for value in values for part in ("--set", value)]


def alone(binary, folder, number, candidate):
    """The summary of one candidate; None where `check` refuses it."""
    arguments = settings(candidate)
    if tool.run(binary, "check", "s.yaml", *arguments, cwd=folder, expect=None).returncode:
        return None
    return tool.summary(binary, "s.yaml", f"alone-{number}", "--engine", "analytic", *arguments, cwd=folder)


def row_of(candidate):
    (data, tensor, pipeline), micro, schedule, recompute, zero = candidate
    return tuple(map(str, (data, tensor, pipeline, micro, schedule, recompute, zero)))


def brute_force(check, binary, folder):
    tool.run(binary, "search", "s.yaml", "--gpus", GPUS, "--engine", "analytic", "-o", "found", "--quiet",
             "--exhaustive", cwd=folder)
    with open(folder / "found/search.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    keys = ("data", "tensor", "pipeline", "micro", "schedule", "recompute", "zero")
    found = {tuple(row[key] for key in keys): row for row in rows}
    check.that(len(rows) == len(found) == len(candidates()), f"{len(rows)} rows for {len(candidates())} candidates")
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        summaries = list(pool.map(lambda item: alone(binary, folder, *item), enumerate(candidates())))
    times = []
    for candidate, summary in zip(candidates(), summaries):
        row = found.get(row_of(candidate))
        if not check.that(row is not None, f"{candidate} was not tried"):
            continue
        if summary is None:
            check.that(row["status"] == "illegal" and row["reason"],
                       f"{candidate}: {row['status']}, but check refuses it")
            continue
        fits = summary["memory"]["fits"]
        check.that(row["status"] == ("fits" if fits else "does not fit"), f"{candidate}: {row['status']}, fits: {fits}")
        check.near(float(row["peak_bytes"]), summary["memory"]["peak_bytes"], f"{candidate}: memory", 1e-12)
        if not fits:
            check.that(not row["iteration_s"], f"{candidate} does not fit and was timed")
            continue
        check.near(float(row["iteration_s"]), summary["time"]["iteration_s"], f"{candidate}: time", 1e-12)
        check.near(float(row["mfu"]), summary["throughput"]["mfu"], f"{candidate}: mfu", 1e-12)
        check.near(float(row["seconds_per_sample"]), summary["time"]["iteration_s"] / GLOBAL,
                   f"{candidate}: seconds per sample", 1e-12)
        times.append((float(row["iteration_s"]), float(row["peak_bytes"])))
    kinds = {row["status"] for row in rows}
    check.that(kinds == {"fits", "does not fit", "illegal"}, f"a case that has all kinds: {kinds}")
    check_ranking(check, folder, rows, times)


def check_ranking(check, folder, rows, times):
    ranked = [row for row in rows if row["rank"]]
    check.near(float(ranked[0]["iteration_s"]), min(times)[0], "the winner's time", 1e-12)
    order = [(float(row["iteration_s"]), float(row["peak_bytes"])) for row in ranked]
    check.that(order == sorted(order) and len(order) == len(times), "the ranking is in the order of time")
    front = {point for point in order
             if not any(other != point and other[0] <= point[0] and other[1] <= point[1] for other in order)}
    marked = {(float(row["iteration_s"]), float(row["peak_bytes"])) for row in rows if row["pareto"] == "true"}
    check.that(marked == front, f"Pareto front {sorted(marked)}, expected {sorted(front)}")
    document = json.loads((folder / "found/search.json").read_text())
    check.that(document["candidates"] == len(rows) and document["fit"] == len(times), "counts of search.json")
    check.that(document["illegal"] == sum(reason["count"] for reason in document["reasons"]), "reasons of search.json")
    check.that(document["best"][0]["iteration_s"] == float(ranked[0]["iteration_s"]), "best of search.json")


class Page(html.parser.HTMLParser):
    """Rows of the tables, the verdict, and what refers to other files."""

    def __init__(self, text):
        super().__init__()
        self.rows, self.verdict, self.inside, self.elsewhere = [], "", None, []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.elsewhere += [value for key in ("src", "href") if (value := attributes.get(key, "#"))[0] != "#"]
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th") or (tag, attributes.get("class")) == ("p", "verdict"):
            self.inside = tag
            self.rows[-1:] = [row + [""] for row in self.rows[-1:]] if tag != "p" else self.rows[-1:]

    def handle_endtag(self, tag):
        self.inside = None if tag == self.inside else self.inside

    def handle_data(self, data):
        if self.inside == "p":
            self.verdict += data
        elif self.inside:
            self.rows[-1][-1] += data


def page_shows_the_same(check, binary, folder):
    """search.html: the verdict that is printed, the best of search.json, the counts; nothing from elsewhere."""
    done = tool.run(binary, "search", "s.yaml", "--gpus", GPUS, "--top", 3, "-o", "paged", "--quiet", cwd=folder)
    document = json.loads((folder / "paged/search.json").read_text())
    page = Page((folder / "paged/search.html").read_text())
    printed = next(line for line in done.stdout.splitlines() if line.startswith("the first is "))
    check.that(printed.replace("the first is ", "It is ") in page.verdict, f"verdict {page.verdict!r}, not {printed!r}")
    check.that("exposed communication" in printed and "bubble" in printed, f"verdict: {printed}")
    check.that(not page.elsewhere, f"refers to {page.elsewhere}")
    for layout in document["best"]:
        values = [str(layout[key]) for key in ("rank", "data", "tensor", "pipeline", "micro", "schedule", "recompute",
                                               "zero")]
        check.that(any(row[:len(values)] == values for row in page.rows), f"{values} is not on the page")
    rows = [row[0] for row in page.rows if len(row) == 2]
    for key in ("timed", "discarded_by_work", "discarded_by_order", "do_not_fit", "illegal"):
        check.that(str(document[key]) in rows, f"{key}: {document[key]} is not on the page")


def warns_of_asynchronous(check, binary, folder):
    for schedule, expected in (("1f1b", False), ("pipedream-2bw", True)):
        done = tool.run(binary, "search", "s.yaml", "--gpus", GPUS, "--engine", "analytic", "--quiet", "--set",
                        f"search={{schedules: {schedule}, pipeline: 2, zero: 0}}", cwd=folder)
        check.that(("stale weights" in done.stdout) == expected, f"{schedule}: {done.stdout!r}")


def winner_runs(check, binary, folder):
    best = json.loads((folder / "found/search.json").read_text())["best"][0]
    summary = tool.summary(binary, folder / "found/best.yaml", "best", cwd=folder)
    check.near(summary["time"]["iteration_s"], best["iteration_s"], "best.yaml", 1e-12)
    check.that(summary["scenario"]["engine"] == "analytic", "best.yaml keeps the engine")


def same_for_any_number_of_processes(check, binary, folder):
    for jobs in (1, 3):
        tool.run(binary, "search", "s.yaml", "--gpus", GPUS, "--engine", "analytic", "-o", f"jobs-{jobs}", "--jobs",
                 jobs, cwd=folder)
    for name in FILES:
        one, three = (folder / f"jobs-{jobs}" / name for jobs in (1, 3))
        check.that(one.read_bytes() == three.read_bytes(), f"{name} depends on --jobs")


FILES = ("search.csv", "search.json", "search.svg", "search.html", "best.yaml")


def compare(check, folder, one, other, what):
    for name in (*FILES, "scenario.yaml", "about.json"):
        check.that((folder / one / name).read_bytes() == (folder / other / name).read_bytes(), f"{name}: {what}")


def parts(check, binary, folder):
    """Shards, one of them killed at first, come to the bytes of one process; so does what is simulated in shards."""
    arguments = ("search", "s.yaml", "--gpus", GPUS, "--top", 3, "--quiet")
    tool.run(binary, *arguments, "-o", "whole", cwd=folder)
    for shard in (1, 3):
        tool.run(binary, *arguments, "-o", "parts", "--shard", f"{shard}/3", cwd=folder)
    missing = tool.run(binary, *arguments, "-o", "merged", "--merge", "parts", cwd=folder, expect=1)
    check.that("the first is 2/3" in missing.stderr, f"a missing part: {missing.stderr!r}")
    environment = {"SLURM_ARRAY_TASK_ID": "14", "SLURM_ARRAY_TASK_MIN": "10", "SLURM_ARRAY_TASK_STEP": "4",
                   "SLURM_ARRAY_TASK_COUNT": "3"}
    tool.run(binary, *arguments, "-o", "parts", "--shard", "slurm", cwd=folder, env={**os.environ, **environment})
    names = sorted(path.name for path in (folder / "parts").iterdir())
    check.that(names == [f"part-{shard}-of-3.journal" for shard in (1, 2, 3)], f"parts {names}")
    tool.run(binary, *arguments, "-o", "merged", "--merge", "parts", cwd=folder)
    compare(check, folder, "whole", "merged", "parts differ from one process")
    for shard in (1, 2):
        tool.run(binary, *arguments, "-o", "parts", "--merge", "parts", "--shard", f"{shard}/2", cwd=folder)
    tool.run(binary, *arguments, "-o", "merged-again", "--merge", "parts", cwd=folder)
    compare(check, folder, "whole", "merged-again", "simulated in parts")
    (folder / "nothing").mkdir()
    for output in ("new", "nothing"):
        tool.run(binary, *arguments, "-o", output, "--merge", "nothing", "--shard", "1/2", cwd=folder, expect=1)
        check.that((folder / output).exists() == (output == "nothing"), f"a refused part: {output} is not as it was")
    other = tool.run(binary, *arguments, "-o", "other", "--merge", "parts", "--set", "search.zero=0", cwd=folder,
                     expect=1)
    check.that("is of another search" in other.stderr, f"parts of another search: {other.stderr!r}")


def killed_and_resumed(check, binary, folder):
    """kill -9 at any moment, as often as it takes; also a torn last entry."""
    arguments = [str(binary), "search", "s.yaml", "--gpus", str(GPUS), "--engine", "analytic", "--quiet", "--jobs", "2"]
    subprocess.run([*arguments, "-o", "calm"], cwd=folder, check=True, capture_output=True)
    delay, kills = 0.004, 0
    while True:
        process = subprocess.Popen([*arguments, "-o", "killed", "--resume"], cwd=folder, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL, start_new_session=True)
        try:
            process.wait(delay)
            break
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            kills += 1
            delay *= 1.3
            journal = folder / "killed.journal"
            if journal.exists() and journal.stat().st_size and kills % 3 == 0:  # behind what it begins with
                with open(journal, "ab") as file:
                    file.write(b"torn")
    check.that(kills > 3 and process.returncode == 0, f"{kills} kills, exit {process.returncode}")
    compare(check, folder, "calm", "killed", "a search that was killed and resumed")
    check.that(not (folder / "killed.journal").exists(), "the journal goes when all is done")


def keeps_the_journal(check, binary, folder):
    """What refuses to go on from a journal leaves it as it is, whatever it refuses for."""
    (folder / "typo.yaml").write_text((folder / "s.yaml").read_text() + "sarch: {}\n")
    search = [str(binary), "search", "s.yaml", "--engine", "analytic", "--set", "search={}", "--quiet"]
    tool.run(*search, "-o", "kept", "--time-limit", "300ms", cwd=folder, expect=None)
    journal = folder / "kept.journal"
    if not check.that(journal.exists(), "a search that was stopped has no journal"):
        return
    before = journal.read_bytes()
    for words, said in ((["--exhaustive"], "is of another search"),
                        (["--set", "search.zero=0"], "is of another search"),
                        (["--set", "batch.micro=x"], "batch.micro"), (["--exhaustve"], "--exhaustive"),
                        (["--jobs", "0"], "--jobs"), (["typo.yaml"], "")):
        line = [*search[:2], *words, *search[3:]] if words[0].endswith(".yaml") else [*search, *words]
        done = tool.run(*line, "-o", "kept", "--resume", cwd=folder, expect=None)
        check.that(done.returncode in (1, 2) and said in done.stderr, f"{words}: {done.returncode} {done.stderr!r}")
        check.that(journal.exists() and journal.read_bytes() == before, f"{words}: the journal was touched")
    tool.run(*search, "-o", "kept", "--resume", cwd=folder)
    check.that(not journal.exists(), "the journal goes with the answer")


def stopped_early(check, binary, folder):
    """A limit of time and an interruption give what is there and say what is missing; the journal goes on."""
    wide = ["search", "s.yaml", "--engine", "analytic", "--set", "search={}", "--quiet"]
    limited = tool.run(binary, *wide, "-o", "limited", "--time-limit", "400ms", cwd=folder, expect=None)
    text = limited.stdout + limited.stderr
    check.that("stopped early" in text or limited.returncode == 0 and "candidates" in text, f"time limit: {text!r}")
    wide += ["--set", "search.schedules=[1f1b, gpipe, interleaved, zb-v, hanayo]", "--jobs", "1"]
    for number in (signal.SIGINT, signal.SIGTERM):
        interrupted(check, binary, folder, wide, number)


def interrupted(check, binary, folder, wide, number):
    (folder / "interrupted.journal").unlink(missing_ok=True)
    process = subprocess.Popen([str(binary), *wide, "-o", "interrupted", "--exhaustive"], cwd=folder, text=True,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
    journal = folder / "interrupted.journal"
    while process.poll() is None and not (journal.exists() and journal.stat().st_size > 400000):
        time.sleep(0.01)
    os.killpg(process.pid, number)
    out, error = process.communicate(timeout=60)
    check.that(process.returncode in (0, 1) and "stopped early" in out + error, f"interrupted: {out!r} {error!r}")
    check.that((folder / "interrupted.journal").exists(), "an interrupted search keeps its journal")
    done = tool.run(binary, *wide, "-o", "interrupted", "--exhaustive", "--resume", cwd=folder)
    check.that("stopped early" not in done.stdout, "a resumed search is done")


def random_space(random):
    """A small job and the lists of its search."""
    pick = lambda values, most=3: sorted(random.sample(values, random.randint(1, min(most, len(values)))))
    gpus = random.choice((2, 4, 8, 16))
    schedules = ("1f1b", "interleaved", "zb-h1", "gpipe", "chimera", "dualpipe-v", "eager-1f1b", "hanayo", "zb-v",
                 "v-half", "breadth-first", "gems", "bpipe", "pipedream-2bw")
    lists = {"micro": pick([1, 2, 4], 2), "schedules": pick(list(schedules), 3),
             "recompute": pick(["none", "selective", "full"], 2), "zero": pick([0, 1, 2, 3], 2),
             "balance": pick(["even", "auto"]), "sequence_parallel": pick(["false", "true"])}
    if random.random() < 0.3:
        lists["overlap"] = ["false", "true"]
    if random.random() < 0.3:
        lists["chunks"] = pick([2, 3, 4])
    values = ", ".join(f"{key}: [{', '.join(map(str, value))}]" for key, value in lists.items())
    return f"""platform: dgx-a100-2
workload: transformer
model: {{layers: {random.choice((8, 12, 16))}, hidden: {random.choice((2048, 4096, 8192))}, heads: 16, sequence: 1024,
  vocabulary: 32000}}
parallel: {{pipeline: 2, data: 2}}
batch: {{global: {random.choice((16, 32, 48))}, micro: 1}}
schedule: 1f1b
transformer: {{attention: {random.choice(("standard", "flash"))}, granularity: {random.choice(("stage", "layer"))}}}
search: {{gpus: {gpus}, {values}}}
"""


def bounds_discard_nothing_that_counts(check, binary, folder):
    """On random spaces the best and the Pareto front are those of timing everything; most is discarded."""
    def one(seed):
        name, top = f"random-{seed}.yaml", 1 + seed % 12
        (folder / name).write_text(random_space(random.Random(seed)))
        found = []
        for arguments in ((), ("--exhaustive",)):
            result = tool.run(binary, "search", name, "--engine", "analytic", "--top", top, "--format", "json",
                              "--quiet", "--jobs", 1, *arguments, cwd=folder, expect=None)
            found.append(json.loads(result.stdout) if result.returncode == 0 else None)
        return seed, found
    discarded = timed = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for seed, (quick, whole) in pool.map(one, tool.sampled(range(SPACES))):
            if quick is None or whole is None:
                check.that(quick == whole, f"random-{seed}: one finds nothing")
                continue
            check.that(quick["best"] == whole["best"], f"random-{seed}: the best")
            strip = lambda rows: [{key: value for key, value in row.items() if key != "rank"} for row in rows]
            check.that(strip(quick["pareto"]) == strip(whole["pareto"]), f"random-{seed}: the Pareto front")
            check.that(quick["fit"] == whole["fit"] and quick["illegal"] == whole["illegal"], f"random-{seed}: counts")
            discarded += quick["discarded_by_work"] + quick["discarded_by_order"]
            timed += quick["timed"]
    check.that(discarded > timed / 2, f"{discarded} discarded, {timed} timed")


def reserve_counts(check, binary, folder):
    """What is held back is held back from every layout, and from the levers of a job that does not fit."""
    result = tool.run(binary, "search", "s.yaml", "--gpus", GPUS, "--engine", "analytic", "--exhaustive",
                      "--format", "csv", "--quiet",
                      "--set", "memory.reserve=40%", cwd=folder)
    rows = list(csv.DictReader(result.stdout.splitlines()))
    for status, fits in (("fits", True), ("does not fit", False)):
        peaks = [float(row["peak_bytes"]) for row in rows if row["status"] == status]
        check.that(peaks and all((peak <= 0.6 * 80 * 2**30) == fits for peak in peaks), f"reserve: {status} {peaks}")
    alone = tool.summary(binary, "s.yaml", "reserved", "--engine", "analytic", "--set", "schedule=1f1b",
                         "--set", "memory.reserve=99.5e-1%", cwd=folder)
    check.near(alone["memory"]["capacity_bytes"], 80 * 2**30 * (1 - 0.0995), "capacity less what is held back", 1e-12)
    for setting, reserve in (((), 0.06), (("--set", "memory.reserve=0"), 0), (("--set", "memory.reserve=0%"), 0)):
        memory = tool.summary(binary, "s.yaml", "reserved", "--engine", "analytic", "--set", "schedule=1f1b", *setting,
                              cwd=folder)["memory"]
        check.near(memory["capacity_bytes"], 80 * 2**30 * (1 - reserve), f"capacity with {setting}", 1e-12)
        check.that(memory.get("reserve_ratio", 0) == reserve, f"reserve with {setting}: {memory}")
    for wrong in ("6", "91%", "-1%", "x", "0.06", "nan%"):
        result = tool.run(binary, "check", "s.yaml", "--set", f"memory.reserve={wrong}", cwd=folder, expect=1)
        check.that("expected a share from 0% to 90%" in result.stderr, f"reserve {wrong}: {result.stderr!r}")


def verified(check, binary, folder):
    """The times on SimGrid are those of a run, and decide the order."""
    result = tool.run(binary, "search", "s.yaml", "--gpus", GPUS, "--top", 3, "--format", "json", "--quiet", cwd=folder)
    best = json.loads(result.stdout)["best"]
    check.that(len(best) == 3, f"{len(best)} of the best 3")
    for layout in best:
        candidate = ((layout["data"], layout["tensor"], layout["pipeline"]), layout["micro"], layout["schedule"],
                     layout["recompute"], layout["zero"])
        summary = tool.summary(binary, "s.yaml", "verified", *settings(candidate), cwd=folder)
        check.that(summary["time"]["iteration_s"] == layout["verified_iteration_s"], f"{candidate}: verified time")
        for end in "low", "high":
            check.near(layout[f"iteration_{end}_s"], summary["time"]["band"][f"{end}_s"], f"{candidate}: band, {end}")
    times = [layout["verified_iteration_s"] for layout in best]
    check.that(times == sorted(times), f"order of the verified ones: {times}")


def other_axes_and_files(check, binary, folder):
    """Axes that are not searched stay; what is named by file is found from the winner's place."""
    (folder / "sub").mkdir()
    (folder / "sub/model.yaml").write_text("{layers: 4, hidden: 1024, heads: 8, sequence: 512, vocabulary: 32000}")
    (folder / "sub/p.xml").write_text((tool.ROOT / "platforms/dgx-a100-2.xml").read_text())
    (folder / "sub/s.yaml").write_text("platform: p.xml\nworkload: transformer\nmodel: model.yaml\nbatch: {global: 8, "
                                       "micro: 1}\n"
                                       "schedule: 1f1b\nsearch: {gpus: 8, micro: 1, recompute: none, zero: [0, 1]}\n")
    tool.run(binary, "search", "sub/s.yaml", "-o", "deep/er/found", "--quiet", "--engine", "analytic", "--picture",
             "png,pdf", cwd=folder)
    names = sorted(path.name for path in (folder / "deep/er/found").iterdir())
    check.that(names == ["about.json", "best.yaml", "scenario.yaml", "search.csv", "search.html", "search.json",
                         "search.pdf", "search.png"], f"files {names}")
    tool.run(binary, "run", "best.yaml", cwd=folder / "deep/er/found")
    check.that("platform: ../../../sub/p.xml" in (folder / "deep/er/found/best.yaml").read_text(),
               "the platform's path in best.yaml")
    names = [entry["name"] for entry in json.loads(tool.run(binary, "list", "schedules", "--format", "json").stdout)]
    tool.run(binary, "check", "sub/s.yaml", "--set", f"search.schedules=[{', '.join(names)}]", cwd=folder)


def refused(check, binary, folder):
    for arguments, code, expected in ((["--set", "search.schedules=gpipe", "--set", "model.layers=3", "--set",
                                        "search.pipeline=4"], 1, "none of the layouts is legal"),
                                      (["--gpus", "0"], 1, "--gpus: error"),
                                      (["--gpus", "17"], 1, "--gpus: error: the platform has 16 GPUs, fewer than 17"),
                                      (["--top", "-1"], 2, "--top takes"), (["--jobs", "x"], 2, "--jobs takes"),
                                      (["--trace", "csv"], 2, "unknown option"),
                                      (["other.yaml"], 2, "expected one scenario")):
        result = tool.run(binary, "search", "s.yaml", "-o", "refused", *arguments, cwd=folder, expect=code)
        check.that(expected in result.stderr and not result.stdout, f"{arguments}: {result.stderr!r}")
        check.that(not (folder / "refused").exists(), f"{arguments}: something was written")


def unused_values(check, binary, folder):
    """Values that no layout has are told of, each key by its name; values that some layout has are not."""
    for sets, said in (
        (["search.tensor=[1, 2, 999]"], "search.tensor: no layout has 999: "),
        (["search.data=[1, 3]"], "search.data: no layout has 3: "),
        (["search.waves=2"], "search.waves: no layout has 2: none of the schedules takes it"),
        (["search.tensor=1", "search.sequence_parallel=[false, true]"], "search.sequence_parallel: no layout has"),
        (["search.tensor=[1, 2]", "search.chunks=3", "search.sequence_parallel=[false, true]"], ""),
    ):
        options = [part for each in sets for part in ("--set", each)]
        stderr = tool.run(binary, "search", "s.yaml", "--top", 1, *options, cwd=folder, expect=None).stderr
        notes = [line for line in stderr.splitlines() if "note:" in line and "search." in line]
        check.that(len(notes) == bool(said) and said in "".join(notes), f"{sets}: {stderr!r}")


def main():
    check, binary = tool.Checker(), tool.binary_argument()
    os.environ["STAGESIM_PLATFORMS"] = str(tool.ROOT / "platforms")
    os.environ["STAGESIM_EFFICIENCY"] = str(tool.ROOT / "workloads/efficiency")
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        (folder / "s.yaml").write_text(SCENARIO)
        for part in (brute_force, winner_runs, page_shows_the_same, warns_of_asynchronous,
                     same_for_any_number_of_processes, parts, killed_and_resumed, keeps_the_journal,
                     stopped_early, bounds_discard_nothing_that_counts, reserve_counts, verified, other_axes_and_files,
                     unused_values, refused):
            part(check, binary, folder)
    return check.done()


if __name__ == "__main__":
    sys.exit(main())
