#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""explain.py STAGESIM: recorded jobs against what their authors say of them, simulated ones with a known fault, parts
that add up, and traces that are refused."""
import csv
import gzip
import json
import os
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import faulty_traces
import tool

STAGESIM = tool.binary_argument()
ROOT = pathlib.Path(__file__).resolve().parents[2]
TRACES = ROOT / "test/validation/traces"
DEMO = str(ROOT / "scenarios/demo.yaml")
check = tool.Checker()


def explain(*arguments):
    """explain.json, after its parts were added up."""
    tool.run(STAGESIM, "explain", *map(str, arguments), "-o", "why", "--quiet")
    found = json.loads(pathlib.Path("why/explain.json").read_text())
    last = found.get("predicted_s", found["even_s"])
    parts = sum(part["seconds"] for part in found["parts"])
    check.near(parts + last, found["measured_s"], f"{arguments}: parts", 1e-9)
    page = pathlib.Path("why/explain.html").read_text()
    check.that(page.count('<figure class="tl">') == 2 and "</html>" in page, f"{arguments}: the page")
    return found


def part(found, name):
    return next(part for part in found["parts"] if part["part"] == name)


def close(cost, expected, text):
    check.that(abs(cost - expected) < 0.05 * expected, f"{text}: {cost} s, expected {expected} s")


# Replayed steps and those at the mean of their kind, which StragglerAnalysis computes of the same files; and the part
# that costs most, with its words.
JOBS = [("AR", 46.3364, 23.4847, 46.649, 176, "slow-ranks", "rank 0 (stage 0, data rank 0)"),
        ("ST", 2.1727, 1.8433, 2.214, 64, "uneven-stages", "stage 3: "),
        ("SE", 9.0838, 5.9133, 9.129, 1440, "uneven-micro-batches", "as with uneven sequences")]
# Forwards and backwards alone: the span of them in a replica, measured and replayed, and the median error, all computed
# of the same files by another program.
SPANS = {"AR": (27.824789, 27.758611, -0.0021938), "ST": (2.006892, 2.001805, -0.0025159),
         "SE": (6.826428, 6.756105, -0.0104059)}


def check_jobs():
    for name, replayed, ideal, measured, steps, worst, words in JOBS:
        found = explain(TRACES / f"timeline-{name}.json.gz")
        check.near(found["without_gaps_s"], replayed, f"{name}: replayed", 1e-3)
        check.near(found["ideal_s"], ideal, f"{name}: ideal", 1e-3)
        check.near(found["measured_s"], measured, f"{name}: measured", 1e-3)
        pipeline = found["pipeline"]
        check.that(pipeline["schedule"] == "1f1b" and pipeline["schedule_followed"] == steps ==
                   pipeline["schedule_compared"], f"{name}: {pipeline}")
        alone = found["forwards_and_backwards_alone"]
        check.that(alone["compared"] == steps, f"{name}: {alone}")
        for key, expected in zip(("measured_s", "replayed_s"), SPANS[name]):
            check.near(alone[key], expected, f"{name}: forwards and backwards alone, {key}", 1e-6)
        error = alone["median_error"]
        check.that(abs(error - SPANS[name][2]) < 1e-5, f"{name}: forwards and backwards alone: {error}")
        most = max(found["parts"], key=lambda part: part["seconds"])
        check.that(most["part"] == worst and words in most["worst"], f"{name}: {most}")


def simulate(*options, folder="out"):
    """Its iteration time."""
    tool.run(STAGESIM, "run", DEMO, "-o", folder, "--trace", "csv", "--quiet", *options)
    return json.loads(pathlib.Path(folder, "summary.json").read_text())["time"]["iteration_s"]


SLOW = "stages.forward=[54ms,54ms,81ms,65.25ms]", "stages.backward=[91.836ms,91.836ms,137.754ms,110.969ms]"
AGAIN = "stages.backward=[145.836ms,145.836ms,145.836ms,176.219ms]"
FAULTS = [("slow-ranks", "rank 2 (stage 2)", ["--scale", "gpu-2=0.8"]),
          ("uneven-stages", "stage 2, or rank 2", ["--set", SLOW[0], "--set", SLOW[1]]),
          ("backwards", "about a forward more", ["--set", AGAIN]),
          ("collectives", "gradient-sync of the group of rank",
           ["--scale", "local_link_from_router_0_to_node_1_*=0.05"]),
          ("order", "", ["--schedule", "gems"])]


def check_faults():
    """What is changed is found, and costs what the run that has it takes longer than the one that has not."""
    base = simulate(folder="base")
    same = explain(DEMO, "base/operations.csv")
    check.that(all(abs(part["seconds"]) < 1e-9 for part in same["parts"]), f"the scenario itself: {same}")
    for name, words, options in FAULTS:
        cost = simulate(*options) - base
        found = explain(DEMO, "out/operations.csv")
        check.near(found["measured_s"] - found["predicted_s"], cost, f"{name}: gap", 1e-9)
        if cost > 1e-6:
            close(part(found, name)["seconds"], cost, name)
            check.that(words in part(found, name).get("worst", ""), f"{name}: {part(found, name)}")


def write_later(path, rows, first, pause):
    """All that comes after the first forward 0.4 s later, or the forward itself longer by that."""
    end, table = float(first["end_s"]), [dict(row) for row in rows]
    for row, old in zip(table, rows):
        for key in ("start_s", "data_start_s", "end_s"):
            if float(old[key]) >= end and (old is not first or pause):
                row[key] = repr(float(old[key]) + 0.4)
    with open(path, "w", newline="") as file:
        writer = csv.DictWriter(file, rows[0].keys())
        writer.writeheader()
        writer.writerows(table)


def check_pauses():
    """The host does nothing for a while, or pauses in a single computation: the step is longer by as much."""
    rows = list(csv.DictReader(open("base/operations.csv")))
    first = next(row for row in rows if row["stream"] == "compute" and row["rank"] == "0")
    for name in ("gaps", "pauses"):
        write_later(f"{name}.csv", rows, first, name == "pauses")
        close(part(explain(DEMO, f"{name}.csv"), name)["seconds"], 0.4, name)


def check_clock():
    """The clock of rank 2 is 2 s ahead: it is put right, and costs nothing."""
    rows = list(csv.DictReader(open("base/operations.csv")))
    for row in rows:
        for key in ("start_s", "data_start_s", "end_s"):
            row[key] = repr(float(row[key]) + 2 * (row["rank"] == "2"))
    with open("clock.csv", "w", newline="") as file:
        writer = csv.DictWriter(file, rows[0].keys())
        writer.writeheader()
        writer.writerows(rows)
    found = explain(DEMO, "clock.csv")
    check.that(any("the clock of rank 2 is 2.000 s ahead of" in note for note in found["notes"]), f"{found['notes']}")
    check.near(found["measured_s"], found["predicted_s"], "another clock", 1e-9)
    check.that(all(abs(part["seconds"]) < 1e-9 for part in found["parts"]), f"another clock: {found['parts']}")


def check_calibrated_gaps(job):
    """The host lets 0.2 s pass before the first forwards: the clock is as before, the fixed time has that, and a run
    with the profile takes what the measured one takes."""
    replayed = faulty_traces.Job("slow/operations.csv")
    for one in replayed.choose("F", stage=0, micro_batch=0):
        one.gap = 0.2
    replayed.replay()
    replayed.write_csv("gaps.csv")
    found = explain(job, "gaps.csv")
    close(part(found, "gaps")["seconds"], 0.2, "a gap before all")
    result = tool.run(STAGESIM, "explain", job, "gaps.csv", "--calibrate", "gaps.yaml", "-o", "why2")
    text = pathlib.Path("gaps.yaml").read_text()
    values = {line.split(":")[0].strip(): line.split()[1] for line in text.splitlines()
              if line.startswith("  ") and ": " in line}
    check.near(float(values["clock"]), 0.9, "the clock beside gaps", 1e-3)
    # The GPU's efficiency table has 4.394 ms already.
    check.near(float(values["step"].rstrip("s")), 0.004394 + part(found, "gaps")["seconds"], "the fixed time", 1e-9)
    check.that("# links: messages 1.001, collectives 1 times what they take alone" in text, f"links: {text}")
    check.that("calibrated with operators of 2.952 s a step and gaps of 200.0 ms" in result.stderr, result.stderr)
    tool.run(STAGESIM, "run", job, "-o", "again", "--quiet", "--set", "framework=gaps.yaml")
    again = json.loads(pathlib.Path("again/summary.json").read_text())["time"]["iteration_s"]
    check.near(again, found["measured_s"], "a run with the profile", 1e-3)


def check_calibration():
    """A job at 0.9 of its clock: that is what the profile has, and with it the scenario's step is the measured one."""
    job = str(ROOT / "scenarios/gpt-7.5b.yaml")
    tool.run(STAGESIM, "run", job, "-o", "slow", "--trace", "csv", "--quiet", "--set", "compute.clock=0.9")
    tool.run(STAGESIM, "explain", job, "slow/operations.csv", "--calibrate", "mine.yaml", "--quiet")
    clock = next(float(line.split()[1]) for line in pathlib.Path("mine.yaml").read_text().splitlines()
                 if line.startswith("  clock:"))
    check.near(clock, 0.9, "calibrated clock", 1e-3)
    check.that("compute.step" not in pathlib.Path("mine.yaml").read_text(), "a run without gaps has no fixed time")
    check_calibrated_gaps(job)
    refuse("--calibrate wants a scenario", "slow/operations.csv", "--calibrate", "other.yaml", expect=2)


def refuse(text, *arguments, expect=1):
    result = tool.run(STAGESIM, "explain", *map(str, arguments), "-o", "refused", expect=expect)
    check.that(text in result.stderr, f"{arguments}: {result.stderr}")
    check.that(not os.path.exists("refused"), f"{arguments}: something was written")


def check_refusals():
    whole = gzip.decompress((TRACES / "timeline-ST.json.gz").read_bytes())
    pathlib.Path("cut.json").write_bytes(whole[:100000])
    refuse("cut.json:1:100001: error: the file ends in the middle of its JSON, it was cut", "cut.json")
    pathlib.Path("cut.json.gz").write_bytes((TRACES / "timeline-ST.json.gz").read_bytes()[:50000])
    refuse("the file ends in the middle of its compressed data, it was cut", "cut.json.gz")
    pathlib.Path("bad.json.gz").write_bytes((TRACES / "timeline-ST.json.gz").read_bytes()[:20000] + b"x" * 20000)
    refuse("bad.json.gz:1:", "bad.json.gz")
    refuse("none.json: error: No such file or directory; expected a recorded trace", "none.json")
    pathlib.Path("empty.json").write_text("")
    refuse("it was cut", "empty.json")
    simulate("--set", "batch.global=1024")
    refuse("the scenario has 8 micro-batches a step, the trace has 16", DEMO, "out/operations.csv")
    refuse("the scenario's pipeline has 4 workers, that of the trace has 2", DEMO, TRACES / "timeline-SE.json.gz")
    refuse("expected a trace", DEMO, expect=2)
    refuse("expected no other trace beside it", "base/operations.csv", "base/operations.csv")


def check_annotated():
    """Real profiles of a pipeline on CPUs, two stages of two replicas (test/traces/pipeline/README.md)."""
    files = [ROOT / f"test/traces/pipeline/rank-{rank}.json.gz" for rank in range(4)]
    found = explain(*files)
    pipeline = found["pipeline"]
    sizes = [pipeline[key] for key in ("workers", "stages", "replicas", "micro_batches")]
    check.that(sizes == [2, 2, 2, 4], f"annotated: {pipeline}")
    check.that(pipeline["schedule"] == "1f1b" and pipeline["schedule_followed"] == 4, f"annotated: {pipeline}")
    steps = [row for row in csv.DictReader(open(ROOT / "test/traces/pipeline/steps.csv"))]
    check.that(steps and found["steps"] == 2, f"annotated: {found['steps']} steps")
    refuse("expected all or none", files[1], TRACES / "resnet50-ddp-2xA100-rank0.json.gz")


def check_missing_ranks():
    """One stage of one replica is left out: its messages have no other end, which is said."""
    events = json.loads(gzip.decompress((TRACES / "timeline-ST.json.gz").read_bytes()))
    names = {(event["pid"], event["tid"]): event["args"]["name"] for event in events
             if event["ph"] == "M" and event["name"] == "thread_name"}
    kept = [event for event in events
            if event["pid"] or not names.get((event["pid"], event.get("tid")), "").startswith("PP rank 2")]
    pathlib.Path("missing.json").write_text(json.dumps(kept))
    found = explain("missing.json")
    check.that(any("no other end" in note for note in found["notes"]), f"missing ranks: {found['notes']}")


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        check_jobs()
        check_faults()
        check_pauses()
        check_clock()
        check_calibration()
        check_refusals()
        check_annotated()
        check_missing_ranks()
        os.chdir("/")
    return check.done()


if __name__ == "__main__":
    sys.exit(main())
