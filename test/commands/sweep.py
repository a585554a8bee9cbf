#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""sweep.py STAGESIM: `stagesim sweep`. Every row against `stagesim run` with the same values; lists, ranges and their
order against those written out here; what cannot be simulated; the best; the same bytes with other numbers of
processes, from shards, after Ctrl-C and after kill -9 with a torn journal; the page and the picture; mistakes."""
import csv
import io
import itertools
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from tool import Checker, binary_argument, run, summary

JOB = """platform: dgx-a100:2
workload: transformer
model: megatron-1.7b
parallel: {tensor: 2, pipeline: 4, data: 2}
batch: {micro: 1, global: 16}
schedule: {name: 1f1b, recompute: full}
"""
FILES = ["sweep.csv", "sweep.html", "sweep.json", "sweep.svg"]
check = Checker()


def rows_of(stagesim, folder, *arguments):
    text = run(stagesim, "sweep", "job.yaml", *arguments, "--quiet", "--format", "csv", cwd=folder).stdout
    return list(csv.DictReader(io.StringIO(text)))


def against_runs(stagesim, folder):
    """Each row is the run; those that cannot be run say why; the last axis varies fastest."""
    rows = rows_of(stagesim, folder, "--set", "batch.micro=1,2", "--schedules", "gpipe,bitpipe,1f1b", "--what-if",
                   "as is", "--what-if", "slow: gpu-0-*=0.5", "--set", "batch.global=12")
    order = list(itertools.product(["1", "2"], ["gpipe", "bitpipe", "1f1b"], ["as is", "slow"]))
    check.that([(row["batch.micro"], row["schedule"], row["what_if"]) for row in rows] == order, rows)
    for row in rows:
        if row["schedule"] == "bitpipe":
            check.that(row["reason"].startswith("bitpipe needs") and not row["iteration_s"], row)
            continue
        scales = ["--scale", "gpu-0-*=0.5"] if row["what_if"] == "slow" else []
        alone = summary(stagesim, "job.yaml", "alone", "--set", f"batch.micro={row['batch.micro']}", "--set",
                        "batch.global=12", "--set", f"schedule={{name: {row['schedule']}, recompute: full}}", *scales,
                        cwd=folder)
        band = alone["time"]["band"]
        for figure, value in (("iteration_s", alone["time"]["iteration_s"]), ("iteration_low_s", band["low_s"]),
                              ("iteration_high_s", band["high_s"]), ("bubble", alone["bubble"]["ratio"]),
                              ("memory", alone["memory"]["peak_bytes"]),
                              ("memory_low_bytes", alone["memory"]["band"]["low_bytes"]),
                              ("memory_high_bytes", alone["memory"]["band"]["high_bytes"]),
                              ("fits_share", alone["memory"]["band"]["fits_share"]),
                              ("mfu", alone["throughput"]["mfu"])):
            check.near(float(row[figure]), value, f"{row['schedule']} {figure}")


def ranges(stagesim, folder):
    """Values as they are written, in order; words with colons are no ranges."""
    for text, expected in [("4:16:4", "4 8 12 16"), ("1:16:x2", "1 2 4 8 16"), ("16:4:-4", "16 12 8 4"),
                           ("8:1:x0.5", "8 4 2 1"), ("3:3:1", None), ("1:10:4", "1 5 9"), ("2,6", "2 6"),
                           ("4 , 8", "4 8")]:
        rows = rows_of(stagesim, folder, "--set", "batch={micro: 1}", "--set", f"batch.micro_batches={text}", "--set",
                       "engine=analytic", "--schedules", "gpipe")
        if expected is None:
            check.that(len(rows) == 1 and "batch.micro_batches" not in rows[0], rows)
        else:
            check.that([row["batch.micro_batches"] for row in rows] == expected.split(), f"{text}: {rows}")
    (folder / "times.yaml").write_text("platform: ideal:4\nworkload: stages\nstages: {forward: 1ms, backward: 2ms}\n"
                                       "parallel: {pipeline: 4}\nbatch: {micro_batches: 8}\nschedule: 1f1b\n")
    text = run(stagesim, "sweep", "times.yaml", "--set", "stages.forward=0.1ms:0.5ms:0.1ms", "--format", "csv",
               "--quiet", cwd=folder).stdout
    rows = list(csv.DictReader(io.StringIO(text)))
    check.that([row["stages.forward"] for row in rows] == ["0.1ms", "0.2ms", "0.3ms", "0.4ms", "0.5ms"], rows)
    for row, forward in zip(rows, (0.1, 0.2, 0.3, 0.4, 0.5)):
        check.near(float(row["bubble"]), 3 / 11, f"1f1b's bubble, forward {forward} ms", 1e-6)
    rows = rows_of(stagesim, folder, "--set", "platform=dgx-a100:2,dgx-a100:4", "--set", "search.micro=[1,2]")
    check.that([row["platform"] for row in rows] == ["dgx-a100:2", "dgx-a100:4"], rows)


SWEEP = ["--set", "batch.micro=1,2,4", "--set", "parallel.pipeline=1,2,4", "--schedules", "gpipe,1f1b,chimera,zb-h1"]


def content(folder):
    return {name: (folder / name).read_bytes() for name in FILES}


def same_bytes(stagesim, folder):
    run(stagesim, "sweep", "job.yaml", *SWEEP, "-o", "whole", "--quiet", "--jobs", 1, cwd=folder)
    whole = content(folder / "whole")
    names = sorted(path.name for path in (folder / "whole").iterdir())
    check.that(names == sorted([*FILES, "about.json", "scenario.yaml"]), "other files")
    check.that(not (folder / "whole.journal").exists(), "the journal is left")
    run(stagesim, "sweep", "job.yaml", *SWEEP, "-o", "many", "--quiet", "--jobs", 5, cwd=folder)
    check.that(content(folder / "many") == whole, "five processes give other bytes than one")
    for shard in (3, 1, 2):
        run(stagesim, "sweep", "job.yaml", *SWEEP, "--shard", f"{shard}/3", "-o", "parts", "--quiet", cwd=folder)
        if shard == 1:
            done = run(stagesim, "sweep", "job.yaml", *SWEEP, "-o", "early", "--merge", "parts", cwd=folder, expect=1)
            check.that("part 2/3" in done.stderr, done.stderr)
    (folder / "parts/part-4-of-4.journal").touch()  # another process has only just made it
    run(stagesim, "sweep", "job.yaml", *SWEEP, "-o", "merged", "--merge", "parts", "--quiet", cwd=folder)
    check.that(content(folder / "merged") == whole, "shards give other bytes")
    rows = json.loads(whole["sweep.json"])
    check.that(len(rows) == 36 and [dict(row["set"]) for row in rows] == [
        {"batch.micro": micro, "parallel.pipeline": pipeline, "schedule": schedule}
        for micro in "124" for pipeline in "124" for schedule in ("gpipe", "1f1b", "chimera", "zb-h1")], rows)
    return whole


def ended(stagesim, folder, whole):
    """Ended again and again in the middle, each time with what was written last torn off; then gone on with."""
    for number in range(4):
        kill = signal.SIGKILL if number % 2 == 0 else signal.SIGINT
        resume = ["--resume"] if number else []
        process = subprocess.Popen([stagesim, "sweep", "job.yaml", *SWEEP, "-o", "cut", "--jobs", "1", *resume],
                                   cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(0.12)
        process.send_signal(kill)
        process.wait()
        journal = folder / "cut.journal"
        if journal.exists() and journal.stat().st_size > 5000:
            os.truncate(journal, journal.stat().st_size - 7)
    run(stagesim, "sweep", "job.yaml", *SWEEP, "-o", "cut", "--resume", "--quiet", cwd=folder)
    check.that(content(folder / "cut") == whole, "a sweep that was ended and resumed gives other bytes")
    done = run(stagesim, "sweep", "job.yaml", *SWEEP, "--time-limit", "1ms", "--jobs", 1, cwd=folder)
    check.that("stopped early" in done.stderr, done.stderr)
    process = subprocess.Popen([stagesim, "sweep", "job.yaml", *SWEEP, "-o", "other", "--jobs", "1"], cwd=folder,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    time.sleep(0.1)
    process.kill()
    process.wait()
    journal = folder / "other.journal"
    if journal.exists():
        before = journal.read_bytes()
        done = run(stagesim, "sweep", "job.yaml", *SWEEP[:-1], "gpipe,1f1b,chimera,zb-h2", "-o", "other", "--resume",
                   cwd=folder, expect=1)
        check.that("has changed" in done.stderr, done.stderr)
        check.that(journal.read_bytes() == before, "a sweep that was refused touched the journal")


def best_and_pictures(stagesim, folder, whole):
    text = run(stagesim, "sweep", "job.yaml", *SWEEP, "--y", "samples_per_s", "--quiet", cwd=folder).stdout
    rows = [row for row in json.loads(whole["sweep.json"]) if row.get("fits")]
    best = max(rows, key=lambda row: row["samples_per_s"])
    words = ", ".join(f"{key} {value}" for key, value in best["set"].items())
    said = next((line for line in text.splitlines() if line.startswith("best ")), "")
    check.that(said.endswith(f"with {words}"), f"{said!r}, expected {words}")
    page, picture = whole["sweep.html"].decode(), whole["sweep.svg"].decode()
    check.that(picture.startswith("<?xml") and "<svg" in page, "the picture")
    check.that("parallel.pipeline" in page and page.count("<tr") == 37, "the page")
    check.that("http" not in page.replace("http://www.w3.org", ""), "the page asks for something")
    for arguments in (["--x", "parallel.pipeline", "--by", "batch.micro", "--y", "memory"], ["--x", "schedule"],
                      ["--picture", "png,pdf"]):
        run(stagesim, "sweep", "job.yaml", *SWEEP[:4], "--schedules", "gpipe,1f1b", *arguments, "-o",
            f"drawn-{arguments[0][2:]}",
            "--quiet", cwd=folder)
    names = sorted(path.name for path in (folder / "drawn-picture").glob("sweep.*"))
    check.that(names == ["sweep.csv", "sweep.html", "sweep.json", "sweep.pdf", "sweep.png"], names)


def mistakes(stagesim, folder):
    for arguments, code, expected in [
            ([], 1, "nothing varies"), (["--set", "batch.micro=1"], 1, "nothing varies"),
            (["--set", "batch.micro"], 1, "expected KEY=VALUES"), (["--set", "batch.micro=1,,2"], 1, "value is empty"),
            (["--set", "batch.micro=4:1:1"], 1, "never gets"), (["--set", "batch.micro=1:2:0"], 1, "never gets"),
            (["--set", "batch.micro=1:1e9:1"], 1, "more than 10000 values"),
            (["--set", "batch.micro=1:9999:1", "--set", "batch.global=1:999:1"], 1, "more than 100000 combinations"),
            (["--set", "btch.micro=1,2"], 1, "did you mean 'batch'?"),
            (["--set", "batch.micro=1,2", "--x", "batch.micr"], 1, "did you mean 'batch.micro'?"),
            (["--set", "batch.micro=1,2", "--y", "bubbel"], 1, "did you mean 'bubble'?"),
            (["--schedules", "1f1b,gpip"], 1, "did you mean 'gpipe'?"),
            (["--schedules", "none.csv,1f1b"], 1, "none.csv"),
            (["--set", "batch.micro=1,2", "--shard", "3/2", "-o", "x"], 1, "--shard takes"),
            (["--set", "batch.micro=1,2", "--resume"], 2, "expects -o"), (["--jobs", "0"], 2, "--jobs"),
            (["other.yaml", "--set", "batch.micro=1,2"], 2, "expected one scenario")]:
        done = run(stagesim, "sweep", "job.yaml", *arguments, cwd=folder, expect=code)
        check.that(expected in done.stderr and not done.stdout, f"{arguments}: {done.stderr}")
    done = run(stagesim, "sweep", "none.yaml", "--set", "batch.micro=1,2", "-o", "none", cwd=folder, expect=1)
    check.that("none.yaml" in done.stderr and not (folder / "none").exists(), done.stderr)


def main():
    stagesim = binary_argument()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "job.yaml").write_text(JOB)
        against_runs(stagesim, folder)
        ranges(stagesim, folder)
        whole = same_bytes(stagesim, folder)
        ended(stagesim, folder, whole)
        best_and_pictures(stagesim, folder, whole)
        mistakes(stagesim, folder)
    return check.done()


if __name__ == "__main__":
    sys.exit(main())
