#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""train_resumed.py STAGESIM: trainings that are interrupted, killed and resumed, by one process or several, in one run
or in parts, give the bytes of one that was not. A refusal leaves a journal as it is."""
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from tool import STAGES_JOB, Checker, binary_argument, run

JOB = STAGES_JOB + """training: {steps: 200000, step: 1s, runs: 1500, start: 0s}
failures: {components: [{name: job, unit: job, every: 3600s}, {name: node, every: 40h}], restart: 120s, spares: 2}
checkpoint: {every: 10min, way: blocking, save: 6s, load: 0s, bytes: 1GB}
"""
FILES = ("forecast.json", "month.svg", "calendar.csv", "calendar.paje")
check = Checker()


def contents(folder, name):
    return {file: (folder / name / file).read_bytes() for file in FILES}


def begin(stagesim, folder, *arguments):
    """Until something is in the journal."""
    process = subprocess.Popen([stagesim, "train", "job.yaml", "-o", "out", "--quiet", *arguments], cwd=folder,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    journal = folder / "out.journal"
    while process.poll() is None and not (journal.exists() and journal.stat().st_size > 20000):
        time.sleep(0.001)
    return process, journal


def resume(stagesim, folder, whole, printed, what):
    done = run(stagesim, "train", "job.yaml", "-o", "out", "--quiet", "--resume", cwd=folder)
    check.that(contents(folder, "out") == whole, f"{what}: the files of one that was not interrupted")
    check.that(done.stdout == printed, f"{what}: what is printed")
    check.that(not (folder / "out.journal").exists(), f"{what}: the journal is gone")
    shutil.rmtree(folder / "out")


def interrupted(stagesim, folder, whole, printed):
    for sign in (signal.SIGKILL, signal.SIGINT, signal.SIGTERM):
        process, journal = begin(stagesim, folder, "--jobs", "2")
        process.send_signal(sign)
        _, said = process.communicate()
        if process.returncode == 0:  # it was faster
            shutil.rmtree(folder / "out")
            continue
        check.that(process.returncode == -sign, f"{sign.name}: {process.returncode}")
        check.that(sign == signal.SIGKILL or "--resume goes on" in said, f"{sign.name}: {said}")
        check.that(journal.exists() and not (folder / "out").exists(), f"{sign.name}: a journal and nothing else")
        resume(stagesim, folder, whole, printed, sign.name)
    done = run(stagesim, "train", "job.yaml", "-o", "out", "--quiet", "--time-limit", "0.02s", cwd=folder, expect=3)
    check.that("stopped early" in done.stderr and done.stdout == "", f"the time is up: {done}")
    resume(stagesim, folder, whole, printed, "the time is up")


def refusals(stagesim, folder, whole, printed):
    """Another training, a cut journal, a directory in the way."""
    journal, kept, limit = folder / "out.journal", b"", 0.02
    while len(kept) < 1000:  # on a slow machine nothing is done so soon
        run(stagesim, "train", "job.yaml", "-o", "out", "--quiet", "--time-limit", f"{limit}s", cwd=folder, expect=3)
        kept, limit = journal.read_bytes(), 2 * limit
    for change in ("failures.scale=2", "training.seed=1", "training.runs=2000", "checkpoint.every=5min"):
        done = run(stagesim, "train", "job.yaml", "-o", "out", "--resume", "--set", change, cwd=folder, expect=1)
        check.that("of another training" in done.stderr, f"{change}: {done.stderr}")
        check.that(journal.read_bytes() == kept, f"{change}: the journal is as it was")
    (folder / "out").mkdir()
    (folder / "out/forecast.json").write_text("mine\n")
    run(stagesim, "train", "job.yaml", "-o", "out", "--resume", "--quiet", cwd=folder, expect=1)
    check.that(journal.read_bytes() == kept, "an output that is refused: the journal is as it was")
    shutil.rmtree(folder / "out")
    journal.write_bytes(kept[:-7])
    resume(stagesim, folder, whole, printed, "a record that was not written to its end")


def parts(stagesim, folder, whole, printed):
    first = ("train", "job.yaml", "-o", "parts", "--quiet", "--shard", "1/3")
    done = run(stagesim, *first, "--time-limit", "0.001s", cwd=folder, expect=3)
    check.that("stopped early" in done.stderr, f"a part whose time is up: {done.stderr}")
    run(stagesim, *first, "--resume", cwd=folder)
    run(stagesim, "train", "job.yaml", "-o", "parts", "--quiet", "--shard", "3/3", cwd=folder)
    done = run(stagesim, "train", "job.yaml", "--merge", "parts", cwd=folder, expect=1)
    check.that("run 17 of 1500, which part 2/3 has, is missing" in done.stderr, done.stderr)
    run(stagesim, "train", "job.yaml", "-o", "parts", "--quiet", "--shard", "2/3", "--jobs", "1", cwd=folder)
    done = run(stagesim, "train", "job.yaml", "--merge", "parts", "-o", "out", "--quiet", cwd=folder)
    check.that(contents(folder, "out") == whole and done.stdout == printed, "joined parts")
    done = run(stagesim, "train", "job.yaml", "--merge", "parts", "--set", "training.seed=1", cwd=folder, expect=1)
    check.that("of another training" in done.stderr, done.stderr)
    shutil.rmtree(folder / "out")


def mistakes(stagesim, folder):
    for arguments, words in ((("--resume",), "--resume expects -o DIR"),
                             (("--shard", "1/2"), "--shard expects -o DIR"),
                             (("--exhaustive",), "--exhaustive is for search"),
                             (("--merge",), "--merge expects the directories")):
        done = run(stagesim, "train", "job.yaml", *arguments, cwd=folder, expect=2)
        check.that(words in done.stderr, f"{arguments}: {done.stderr}")
    done = run(stagesim, "train", "job.yaml", "-o", "p", "--shard", "3/2", cwd=folder, expect=1)
    check.that("--shard takes K/N" in done.stderr, done.stderr)
    stuck = ["--set", "failures={components: [{name: job, unit: job, every: 10s}], restart: 120s}"]
    done = run(stagesim, "train", "job.yaml", "-o", "out", *stuck, cwd=folder, expect=1)
    check.that("does not get on" in done.stderr and not (folder / "out").exists(), done.stderr)


def main():
    stagesim = binary_argument()
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / "job.yaml").write_text(JOB)
        printed = run(stagesim, "train", "job.yaml", "-o", "out", "--quiet", "--jobs", "1", cwd=folder).stdout
        whole = contents(folder, "out")
        shutil.rmtree(folder / "out")
        several = run(stagesim, "train", "job.yaml", "-o", "out", "--quiet", "--jobs", "5", cwd=folder).stdout
        check.that(contents(folder, "out") == whole and several == printed, "five processes")
        shutil.rmtree(folder / "out")
        for part in (interrupted, refusals, parts):
            part(stagesim, folder, whole, printed)
        mistakes(stagesim, folder)
    return check.done()


if __name__ == "__main__":
    sys.exit(main())
