#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""explain_schedules.py STAGESIM: what run wrote with a schedule of the table is recognised as that schedule, or as one
of the same order, without its scenario: several shapes of each, and options that can be read from the order. With its
scenario the scenario's schedule comes first. An order that is none of the table's is not recognised, and what is said
to stand elsewhere is what was moved."""
import csv
import json
import os
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import tool

STAGESIM = tool.binary_argument()
check = tool.Checker()
# Workers, micro-batches, stages' forward and backward, a message: short, as long as a computation, and unequal stages.
SHAPES = ((4, 16, "3.1ms", "7.3ms", "40MB"), (2, 8, "10ms", "20ms", "1MB"), (4, 12, "3.3ms", "7.1ms", "120MB"),
          (8, 32, "10ms", "21ms", "100MB"))
OPTIONS = ("hanayo, waves: 1", "hanayo, order: rounds", "zb-auto, memory: 2p", "zb-auto, memory: 3.5",
           "zb-auto, memory: [4, 3.5, 3, 2]", "zb-auto, stash: whole, memory: 3", "zb-auto, optimizer: blocking",
           "v-adaptive, memory: 3", "dynapipe, memory: [5, 4, 3, 2]", "interleaved, chunks: 4",
           "interleaved, chunks: 2, group: 8", "seq1f1b, slices: 2, chunks: 2", "mepipe, slices: 8, chunks: 3",
           "slimpipe, slices: 8", "chimera, pairs: 2", "chimera, concatenation: doubling", "gpipe, backwards: lifo",
           "breadth-first, backwards: lifo, chunks: 4", "mario, ahead: 2", "best, chunks: 2, placement: wave",
           "best, chunks: 1, memory: 3", "best, chunks: 1, backward: whole, memory: [4, 3, 2, 1]",
           "group-interleaved, chunks: 4, group: 3", "dualpipe, backward: separate")
# What is searched for often has the order of one of these; of those the trace says no more.
SEARCHED = {"best": {"1f1b", "zb-h2", "zb-v", "slimpipe"}}
JOB = """platform: links.xml
workload: stages
stages: {{forward: {}, backward: {}, optimizer: 1ms, message: {}, gradient: 10MB, activation: 10MB}}
parallel: {{data: 2, pipeline: {}}}
batch: {{micro_batches: {}}}
schedule: {}
engine: analytic
"""


def write_links(path, hosts):
    """A link for each pair of hosts, and one from each to its memory."""
    pairs = [(i, k) for i in range(hosts) for k in range(hosts) if i != k]
    lines = [tool.HEAD, '<zone id="all" routing="Full">']
    lines += [f'<host id="gpu-{i}" speed="1Tf"/>' for i in range(hosts)]
    lines += [f'<link id="pcie-{i}" bandwidth="20GBps" latency="1us"/>' for i in range(hosts)]
    lines += [f'<link id="l-{i}-{k}" bandwidth="20GBps" latency="5us"/>' for i, k in pairs]
    lines += [f'<route src="gpu-{i}" dst="gpu-{k}" symmetrical="NO"><link_ctn id="l-{i}-{k}"/></route>'
              for i, k in pairs]
    path.write_text("\n".join(lines) + "</zone></platform>\n")


def record(shape, schedule, traces="csv"):
    """False if the schedule does not take so many workers and micro-batches."""
    workers, micro_batches, forward, backward, message = shape
    pathlib.Path("job.yaml").write_text(JOB.format(forward, backward, message, workers, micro_batches, schedule))
    tool.run("rm", "-rf", "out")
    result = tool.run(STAGESIM, "run", "job.yaml", "-o", "out", "--trace", traces, "--quiet", expect=None)
    return result.returncode == 0


def recognised(*arguments):
    tool.run("rm", "-rf", "why")
    tool.run(STAGESIM, "explain", *arguments, "-o", "why", "--quiet")
    found = json.loads(pathlib.Path("why/explain.json").read_text())["pipeline"]
    names = {found.get("schedule"), *found.get("schedule_alike", "").split(", ")}
    whole = found["schedule_followed"] == found["schedule_compared"] > 0
    return (names if whole else set()), found


def check_one(shape, name, schedule):
    names, found = recognised("out/operations.csv")
    check.that(names & {name, *SEARCHED.get(name, ())}, f"{schedule} {shape}: {found}")
    _, found = recognised("job.yaml", "out/operations.csv")
    check.that(found["schedule"] == name and found["schedule_followed"] == found["schedule_compared"],
               f"{schedule} {shape} with its scenario: {found}")
    check.that(found["micro_batches"] == shape[1], f"{schedule} {shape}: {found['micro_batches']} micro-batches")


def check_table():
    names = [line.split()[0] for line in tool.run(STAGESIM, "list", "schedules", "--format", "csv").stdout.replace(
        ",", " ").splitlines()[1:]]
    check.that(len(names) > 30, f"schedules: {names}")
    for number, name in enumerate(tool.sampled(names)):
        taken = 0
        for shape in SHAPES[number % 2::2]:
            if name == "recycle" and shape[0] < 4:  # of one stage: a trace has no rank that runs nothing
                taken += 1
            elif record(shape, name):
                check_one(shape, name, name)
                taken += 1
        check.that(taken, f"{name}: no shape is taken")


def check_options():
    for schedule in tool.sampled(OPTIONS):
        taken = record(SHAPES[0], "{name: " + schedule + "}")
        if check.that(taken, f"{schedule}: it is not taken"):
            check_one(SHAPES[0], schedule.split(",")[0], schedule)


def check_viewers():
    """Blocks of a forward and a backward in traces for others."""
    for schedule in ("dualpipe", "combined-1f1b", "mepipe"):
        record(SHAPES[0], schedule, "csv,chrome,paje,chakra")
        ranks = sorted(pathlib.Path("out/chakra").glob("*.et"))
        for file in ("timeline.chrome.json", "timeline.paje", "chakra"):
            names, found = recognised(*(ranks if file == "chakra" else [f"out/{file}"]))
            check.that(schedule in names, f"{schedule}, {file}: {found}")


def check_wrong():
    """In the steady state the first worker runs a forward before the backward that comes first otherwise, once or
    three times."""
    workers, micro_batches = SHAPES[0][:2]
    for moved in (1, 3):
        tool.run(STAGESIM, "schedule", "1f1b", "--workers", workers, "--micro-batches", micro_batches, "-o",
                 "right.csv")
        with open("right.csv", newline="", encoding="utf-8") as file:
            rows = list(csv.reader(file))
        for i in range(moved):
            at = 1 + workers + 1 + 4 * i  # rows of the first worker are the first ones, behind those of its warm-up
            check.that([row[2] for row in rows[at - 1:at + 1]] == ["B", "F"], f"rows {rows[at - 1:at + 1]}")
            rows[at - 1], rows[at] = rows[at], rows[at - 1]
        with open("wrong.csv", "w", newline="", encoding="utf-8") as file:
            csv.writer(file, lineterminator="\n").writerows(rows)
        tool.run("rm", "right.csv")
        if not check.that(record(SHAPES[0], "{file: wrong.csv}"), "the wrong order runs"):
            continue
        names, found = recognised("out/operations.csv")
        check.that(not names and "schedule" not in found, f"a wrong order: {found}")
        check.that(found["schedule_closest"] == "1f1b" and found["schedule_apart"] == moved and
                   found["schedule_operations"] == 2 * workers * micro_batches, f"a wrong order, {moved}: {found}")
        names, found = recognised("job.yaml", "out/operations.csv")
        check.that(found["schedule"] == "wrong", f"a wrong order with its scenario: {found}")


def check_sparse():
    """Of a step of which hardly anything is there, or whose numbers are damaged, no order is told."""
    record(SHAPES[0], "1f1b")
    with open("out/operations.csv", newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    first = next(row for row in rows if row["kind"] == "F")
    for column, value in (("micro_batch", "80000"), ("micro_batch", "4000000000"), ("stage", "65000")):
        before, first[column] = first[column], value
        with open("sparse.csv", "w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, first.keys(), lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)
        first[column] = before
        _, found = recognised("sparse.csv")
        check.that(found["schedule_compared"] == 0, f"{column} {value}: {found}")


def main():
    with tempfile.TemporaryDirectory() as scratch:
        os.chdir(scratch)
        write_links(pathlib.Path("links.xml"), 16)
        check_wrong()
        check_sparse()
        check_viewers()
        check_options()
        check_table()
        os.chdir("/")
    return check.done()


if __name__ == "__main__":
    sys.exit(main())
