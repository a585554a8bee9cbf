#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""choice.py STAGESIM: the schedule `best` without options is never above a synchronous row that fits, on either engine
and where memory or stashes are short; `run`, `compare`, `sweep`, `check` and the recorded scenario mean the same by it;
what its options leave open is all that is chosen; given chunks are searched for as they are; and every
schedule says when to use it."""
import csv
import io
import json
import pathlib
import random
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from tool import Checker, binary_argument, run, summary

STAGES = """platform: {platform}
workload: stages
parallel: {{pipeline: 4, data: {data}}}
batch: {{micro: 1, global: {samples}}}
schedule: {{name: best, effort: 4000{options}}}
stages:
  forward: [{forward}]
  backward: [{backward}]
  message: {message}
  gradient: 100MB
  activation: {activation}
"""
check = Checker()


def job(folder, name="job.yaml", options="", platform="dgx-a100:1", seed=1, data=1, samples=8, message="50MB",
        activation="2GB"):
    source = random.Random(seed)
    forward = [source.choice((10, 11, 12, 15)) for _ in range(4)]
    backward = [2 * time + source.choice((-2, 0, 1)) for time in forward]
    (folder / name).write_text(STAGES.format(
        platform=platform, data=data, samples=samples * data, options=options, message=message, activation=activation,
        forward=", ".join(f"{time}ms" for time in forward), backward=", ".join(f"{time}ms" for time in backward)))


def rows_of(stagesim, folder, *arguments):
    text = run(stagesim, "compare", *arguments, "--quiet", "--format", "csv", cwd=folder).stdout
    return list(csv.DictReader(io.StringIO(text)))


def is_searched(row):
    return row["schedule"].startswith("best")


def never_above(stagesim, folder):
    for seed, engine, options in ((1, "analytic", {}), (2, "simgrid", {"data": 2}),
                                  (3, "analytic", {"message": "400MB"}), (4, "analytic", {"activation": "14GB"})):
        job(folder, seed=seed, **options)
        rows = rows_of(stagesim, folder, "job.yaml", "--schedules", "all", "--engine", engine)
        ran = [row for row in rows if not row["reason"] and not row["schedule"].startswith("pipedream")]
        best = [row for row in ran if is_searched(row)]
        fitting = [float(row["iteration_s"]) for row in ran if row["fits"] == "true"]
        check.that(len(best) == 1 and len(fitting) > 5, f"{seed}: {rows}")
        check.that(best[0]["fits"] == "true", f"{seed}: {best}")
        check.that(float(best[0]["iteration_s"]) <= min(fitting) * (1 + 1e-9),
                   f"{seed}, {engine}: best takes {best[0]['iteration_s']}, another one {min(fitting)}")


def stashes(stagesim, folder):
    """No more micro-batches in flight than asked for, and no row with as few is faster."""
    job(folder, options=", memory: 2")
    rows = rows_of(stagesim, folder, "job.yaml", "--schedules", "v-min,mario,1f1b,best", "--engine", "analytic")
    few = [float(row["iteration_s"]) for row in rows if float(row["peak_in_flight"]) <= 2]
    check.that(len(few) >= 3 and is_searched(rows[3]) and float(rows[3]["peak_in_flight"]) <= 2, rows)
    check.that(float(rows[3]["iteration_s"]) <= min(few) * (1 + 1e-9), rows)


def same_everywhere(stagesim, folder):
    job(folder)
    name = rows_of(stagesim, folder, "job.yaml", "--engine", "analytic")[0]["schedule"]
    check.that(name.startswith("best ("), name)
    run(stagesim, "run", "job.yaml", "--engine", "analytic", "-o", "out", "--quiet", cwd=folder)
    alone = json.loads((folder / "out/summary.json").read_text())
    recorded = summary(stagesim, folder / "out/scenario.yaml", "again", cwd=folder)
    check.that(alone["scenario"]["schedule"] == name, alone["scenario"])
    check.near(recorded["time"]["iteration_s"], alone["time"]["iteration_s"], "the recorded scenario", 1e-12)
    check.that(f"schedule {name}," in run(stagesim, "check", "job.yaml", cwd=folder).stdout, "check")
    text = run(stagesim, "sweep", "job.yaml", "--set", "batch.global=8,12", "--engine", "analytic", "--format", "csv",
               "--quiet", cwd=folder).stdout
    swept = list(csv.DictReader(io.StringIO(text)))
    check.near(float(swept[0]["iteration_s"]), alone["time"]["iteration_s"], "sweep", 1e-12)


def limits_of_each_worker(stagesim, folder):
    """Read, kept, recorded, and refused where they are wrong."""
    job(folder, options=", chunks: 2, memory: [3, 2.5, 3/2, 0]")
    run(stagesim, "run", "job.yaml", "--engine", "analytic", "-o", "limited", "--quiet", cwd=folder)
    once = json.loads((folder / "limited/summary.json").read_text())
    peaks = [worker["peak_in_flight"] for worker in once["workers"]]
    check.that(all(peak <= limit for peak, limit in zip(peaks, (3, 2.5, 1.5, 8))), peaks)
    text = (folder / "limited/scenario.yaml").read_text()
    check.that("[3, 2.5, 1.5, 0]" in text, text)
    again = summary(stagesim, folder / "limited/scenario.yaml", "limited-again", cwd=folder)
    check.near(again["time"]["iteration_s"], once["time"]["iteration_s"], "the recorded limits", 1e-12)
    for options, expected in ((", chunks: 2, memory: some", "expected a number of stashes such as 4, 3.5 or 7/2"),
                              (", chunks: 2, memory: [1, x]", "memory is 'x'"), (", chunks: 2, memory: 1/0", "1/0"),
                              (", chunks: 2, memory: [1, 2]", "2 values for 4 workers"),
                              (", chunks: 2, memory: 0.5", "needs room for a micro-batch in each of")):
        job(folder, options=options)
        refused = run(stagesim, "check", "job.yaml", cwd=folder, expect=1)
        check.that(expected in refused.stderr, f"{options}: {refused.stderr}")
    job(folder)
    refused = run(stagesim, "check", "job.yaml", "--set", "schedule={name: zb-auto, memory: 3p}", cwd=folder, expect=1)
    check.that("expected 1p, 2p or none, a number of stashes" in refused.stderr, refused.stderr)


def only_what_is_open(stagesim, folder):
    def name_of(options):
        job(folder, options=options)
        return rows_of(stagesim, folder, "job.yaml", "--engine", "analytic")[0]["schedule"]

    check.that("wave" in name_of(", placement: wave"), "placement")
    check.that("whole" in name_of(", placement: wave, backward: whole"), "placement and backward")
    check.that(name_of(", chunks: 2") == "best", "chunks")
    check.that(name_of(", chunks: 1, backward: whole") == "best", "one chunk")


def all_say_when(stagesim):
    for schedule in json.loads(run(stagesim, "list", "schedules", "--format", "json").stdout):
        check.that(schedule.get("when"), f"{schedule['name']}: when to use it")


def main():
    stagesim = binary_argument()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        never_above(stagesim, folder)
        stashes(stagesim, folder)
        same_everywhere(stagesim, folder)
        only_what_is_open(stagesim, folder)
        limits_of_each_worker(stagesim, folder)
    all_say_when(stagesim)
    return check.done()


if __name__ == "__main__":
    sys.exit(main())
