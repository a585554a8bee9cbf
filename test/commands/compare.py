#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""compare.py STAGESIM: `stagesim compare` of variants. A schedule that does not fit, a schedule file that does not, and
a run that fails are rows with their reason, and the others are what `run` says; changed platforms are what `--scale`
says; scenarios of one name, the best, the order of rows; and nothing of what was not run is written."""
import csv
import io
import json
import pathlib
import random
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from tool import Checker, binary_argument, run, summary

JOB = """platform: dgx-a100:2
workload: transformer
model: megatron-1.7b
parallel: {tensor: 2, pipeline: 4, data: 2}
batch: {micro: 1, global: 12}
schedule: {name: 1f1b, recompute: full}
"""
check = Checker()


def rows_of(stagesim, folder, *arguments):
    done = run(stagesim, "compare", *arguments, "--quiet", "--format", "csv", cwd=folder)
    return list(csv.DictReader(io.StringIO(done.stdout)))


def schedules(stagesim, folder):
    """bitpipe does not take 6 micro-batches on 4 workers; the second file is for 3 workers."""
    for workers in (4, 3):
        run(stagesim, "schedule", "gpipe", "--workers", workers, "--micro-batches", 6, "-o", f"for-{workers}.csv",
            cwd=folder)
    words = ["1f1b", "bitpipe", "for-4.csv", "./for-3.csv", "gpipe"]
    rows = rows_of(stagesim, folder, "job.yaml", "--schedules", ",".join(words), "-o", "out")
    check.that([row["schedule"] for row in rows] == ["1f1b", "bitpipe", "for-4", "for-3", "gpipe"], rows)
    for row in rows:
        missing = row["schedule"] in ("bitpipe", "for-3")
        check.that(bool(row["reason"]) == missing and bool(row["iteration_s"]) != missing, row)
    check.that("4 workers" in rows[3]["reason"] and "for 3" in rows[3]["reason"], rows[3]["reason"])
    check.that(rows[2]["iteration_s"] == rows[4]["iteration_s"], "a file of gpipe is not gpipe")
    alone = summary(stagesim, "job.yaml", "alone", cwd=folder)["time"]["iteration_s"]
    check.near(float(rows[0]["iteration_s"]), alone, "1f1b in a comparison and alone")
    names = sorted(path.name for path in (folder / "out").iterdir() if path.name != "about.json")
    check.that(names == ["comparison.csv", "comparison.json", "job-1f1b", "job-for-4", "job-gpipe"], names)
    saved = json.loads((folder / "out" / "comparison.json").read_text())
    check.that([("reason" in entry) != ("iteration_s" in entry) for entry in saved] == [True] * 5, saved)
    text = run(stagesim, "compare", "job.yaml", "--schedules", ",".join(words), "--quiet", cwd=folder).stdout
    check.that("not run" in text and f"job, for-3: {rows[3]['reason']}" in text, text)


def failures(stagesim, folder):
    """Where nothing runs, and where the input itself is wrong, nothing is printed or written."""
    done = run(stagesim, "compare", "job.yaml", "--schedules", "bitpipe,./for-3.csv", "-o", "none", cwd=folder,
               expect=1)
    check.that(done.stderr.count("error:") == 2 and not done.stdout, done)
    done = run(stagesim, "compare", "job.yaml", "--schedules", "1f1b,none.csv", "-o", "none", cwd=folder, expect=1)
    check.that("none.csv" in done.stderr and not done.stdout, done)
    done = run(stagesim, "compare", "job.yaml", "--schedules", "1f1b,gpip", "-o", "none", cwd=folder, expect=1)
    check.that("did you mean 'gpipe'?" in done.stderr, done)
    check.that(not (folder / "none").exists(), "a failed comparison wrote files")


def what_ifs(stagesim, folder):
    cases = {"as is": [], "slower: nic=0.5,gpu-0-*=0.9": ["--scale", "nic=0.5", "--scale", "gpu-0-*=0.9"],
             "uplink.latency=50": ["--scale", "uplink.latency=50"]}
    options = [word for case in cases for word in ("--what-if", case)]
    rows = rows_of(stagesim, folder, "job.yaml", *options)
    check.that([row["scenario"] for row in rows] == ["job, as is", "job, slower", "job, uplink.latency=50"], rows)
    for row, scales in zip(rows, cases.values()):
        alone = summary(stagesim, "job.yaml", "alone", *scales, cwd=folder)["time"]["iteration_s"]
        check.near(float(row["iteration_s"]), alone, row["scenario"])
    rows = rows_of(stagesim, folder, "job.yaml", "--what-if", "as is", "--what-if", "nci=0.5")
    check.that("did you mean 'nic'?" in rows[1]["reason"] and rows[0]["iteration_s"], rows)


def names_and_order(stagesim, folder):
    for name, samples in (("small", 12), ("large", 24)):
        (folder / name).mkdir()
        (folder / name / "job.yaml").write_text(JOB.replace("global: 12", f"global: {samples}"))
    rows = rows_of(stagesim, folder, "large/job.yaml", "small/job.yaml", "--sort", "time")
    check.that([row["scenario"] for row in rows] == ["small/job", "large/job"], rows)
    rows = rows_of(stagesim, folder, "job.yaml", "--schedules", "gpipe,bitpipe,1f1b,pipedream", "--sort", "memory")
    check.that(rows[-1]["reason"] and rows[0]["schedule"] == "1f1b", rows)
    text = run(stagesim, "compare", "job.yaml", "--schedules", "pipedream,gpipe,1f1b", "--quiet", cwd=folder).stdout
    lines = {line.split()[1]: line for line in text.splitlines() if line.startswith("job ")}
    check.that("memory" in lines["1f1b"] and "time" not in lines["pipedream"], text)


STAGES = """platform: dgx-a100:1
workload: stages
parallel: {pipeline: 4, data: 1}
batch: {micro: 1, global: 6}
schedule: {name: best, chunks: 1, effort: 20000}
stages: {forward: 1s, backward: 2s, message: 0B, gradient: 0B}
"""


def bounds(stagesim, folder):
    """On even stages without messages the bound of split backwards is the head of a worker and its load: 3 + 6 x 3 s,
    which ZB-H1 reaches; that of whole ones has the tail behind, too: (6 + 3) x 3 s, which 1F1B takes."""
    (folder / "even.yaml").write_text(STAGES)
    rows = rows_of(stagesim, folder, "even.yaml", "--schedules", "1f1b,zb-h1,best,pipedream,pipedream-2bw,seq1f1b",
                   "--engine", "analytic")
    for row, bound in zip(rows, (27, 21, 21)):
        check.near(float(row["bound_s"]), bound, f"bound of {row['schedule']}", 1e-6)
        check.near(1 + float(row["above_bound"]), 1, f"{row['schedule']} above its bound", 1e-5)
    # Iterations that cross each other come as fast as 6 x 3 s of work; of four slices the first one's forward is ahead,
    # and its backward behind.
    for row, bound in zip(rows[3:], (18, 18, 20.25)):
        check.near(float(row["bound_s"]), bound, f"bound of {row['schedule']}", 1e-6)
        check.near(1 + float(row["above_bound"]), 1, f"{row['schedule']} above its bound", 1e-5)
    text = run(stagesim, "compare", "even.yaml", "--schedules", "1f1b,best", "--quiet", cwd=folder).stdout
    check.that("above bound" in text and "with whole backwards except for schedules that split them" in text, text)
    text = run(stagesim, "compare", "even.yaml", "--schedules", "1f1b,gpipe", "--quiet", cwd=folder).stdout
    check.that("a lower bound of any order with whole backwards" in text, text)


def bounds_of_all(stagesim, folder):
    """On random jobs every schedule has a bound, which none is below."""
    source = random.Random(3)
    for _ in range(5):
        weight = [source.uniform(0.2, 2) for _ in range(4)]
        times = {"forward": [source.uniform(0.5, 3) for _ in weight],
                 "backward": [one + source.uniform(0.3, 3) for one in weight], "weight": weight}
        stages = [f"{key}: [{', '.join(f'{value:.6f}s' for value in values)}]" for key, values in times.items()]
        stages += [f"message: {source.choice(['0B', '1MB', '3GB'])}", f"gradient: {source.choice(['0B', '1GB'])}",
                   f"attention: {source.choice([0, 0.5])}", f"optimizer: {source.choice(['0s', '0.5s'])}"]
        (folder / "random.yaml").write_text(STAGES.split("schedule:")[0].replace("global: 6", "global: 12") +
                                            f"schedule: 1f1b\nstages: {{{', '.join(stages)}}}\n")
        rows = rows_of(stagesim, folder, "random.yaml", "--schedules", "all", "--engine", "analytic")
        check.that(len([row for row in rows if row["iteration_s"]]) > 25, rows)
        check.that(all(row["above_bound"] and float(row["above_bound"]) > -1e-8 for row in rows if row["iteration_s"]),
                   (stages, [(row["schedule"], row["above_bound"]) for row in rows]))


def main():
    stagesim = binary_argument()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "job.yaml").write_text(JOB)
        schedules(stagesim, folder)
        failures(stagesim, folder)
        what_ifs(stagesim, folder)
        names_and_order(stagesim, folder)
        bounds(stagesim, folder)
        bounds_of_all(stagesim, folder)
    return check.done()


if __name__ == "__main__":
    sys.exit(main())
