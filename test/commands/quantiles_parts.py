#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""quantiles_parts.py STAGESIM: steps of `run --quantiles` that several processes draw, that are killed and resumed, or
drawn in parts and by tasks of an array, are the bytes of one process. What is not of the job is refused. The array is
one of a sbatch that runs its tasks one after the other (search_slurm.py has a real one)."""
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from tool import STAGES_JOB, Checker, binary_argument, run

JOB = STAGES_JOB + "tails: {like: uneven-sequences, device: {samples: factors.csv}, steps: 1003}\n"
SBATCH = """#!/bin/bash
while [ $# -gt 0 ]; do
  case "$1" in --array=*) array="${1#--array=}";; --wrap) task="$2"; shift;; esac
  shift
done
case "$array" in *-*) array=$(seq "${array%-*}" "${array#*-}");; *) array="${array//,/ }";; esac
for number in $array; do [ "$number" = "$LOST" ] && [ ! -e lost ] && touch lost && continue
  SLURM_ARRAY_TASK_ID=$number bash -c "$task"; done >&2
echo 7
"""
check = Checker()


def figures(folder, name):
    """All files, but for the times of the simulation and what was typed."""
    summary = json.loads((folder / name / "summary.json").read_text())
    summary["simulation"] = None
    return json.dumps(summary), (folder / name / "scenario.yaml").read_bytes()


def same(folder, whole, printed, done, what):
    check.that(figures(folder, "out") == whole and done.stdout == printed, f"{what}: what one process gives")
    check.that(not (folder / "out.journal").exists(), f"{what}: the journal is gone")
    shutil.rmtree(folder / "out")


def killed(stagesim, folder, whole, printed):
    for sign in (signal.SIGKILL, signal.SIGINT):
        process = subprocess.Popen([stagesim, "run", "job.yaml", "-o", "out", "--quiet", "--jobs", "2"], cwd=folder,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        journal = folder / "out.journal"
        while process.poll() is None and not (journal.exists() and journal.stat().st_size > 3000):
            time.sleep(0.0005)
        process.send_signal(sign)
        process.communicate()
        if process.returncode == 0:  # it was faster
            shutil.rmtree(folder / "out")
            continue
        check.that(journal.exists() and not (folder / "out").exists(), f"{sign.name}: a journal and nothing else")
        done = run(stagesim, "run", "job.yaml", "-o", "out", "--quiet", "--resume", cwd=folder)
        same(folder, whole, printed, done, sign.name)
    done = run(stagesim, "run", "job.yaml", "-o", "out", "--quiet", "--time-limit", "0.000001s", cwd=folder, expect=3)
    check.that("stopped early" in done.stderr and done.stdout == "", f"the time is up: {done}")
    kept = (folder / "out.journal").read_bytes()
    for change in ("tails.seed=1", "tails.steps=2000", "stages.forward=2s"):
        done = run(stagesim, "run", "job.yaml", "-o", "out", "--resume", "--set", change, cwd=folder, expect=1)
        check.that("of another run" in done.stderr and (folder / "out.journal").read_bytes() == kept, done.stderr)
    done = run(stagesim, "run", "job.yaml", "-o", "out", "--quiet", "--resume", cwd=folder)
    same(folder, whole, printed, done, "the time is up")


def parts(stagesim, folder, whole, printed):
    def part(number, *arguments):
        return run(stagesim, "run", "job.yaml", "-o", "parts", "--quiet", "--shard", f"{number}/3", *arguments,
                   cwd=folder)

    check.that(part(1).stdout == "" and part(3, "--jobs", "1").stdout == "", "a part prints nothing")
    done = run(stagesim, "run", "job.yaml", "--merge", "parts", cwd=folder, expect=1)
    check.that("step 17 of 1003, which part 2/3 has, is missing" in done.stderr, done.stderr)
    part(2)
    done = run(stagesim, "run", "job.yaml", "--merge", "parts", "-o", "out", "--quiet", cwd=folder)
    same(folder, whole, printed, done, "joined parts")
    (folder / "factors.csv").write_text("factor\n1\n1.1\n")
    done = run(stagesim, "run", "job.yaml", "--merge", "parts", "-o", "out", cwd=folder, expect=1)
    check.that("step 1 of the journal is of another job" in done.stderr and not (folder / "out").exists(), done.stderr)


def array(stagesim, folder, whole, printed):
    """One task is lost and submitted again."""
    programs = folder / "bin"
    programs.mkdir()
    for name, text in (("sbatch", SBATCH), ("squeue", "#!/bin/bash\n")):
        (programs / name).write_text(text)
        (programs / name).chmod(0o755)
    environment = {**os.environ, "PATH": f"{programs}:{os.environ['PATH']}", "LOST": "2"}
    done = run(stagesim, "run", "job.yaml", "-o", "out", "--slurm", cwd=folder, env=environment)
    check.that(re.search("submitted again: 1 of [0-9]+ parts", done.stderr), done.stderr)  # as many as are worth it
    check.that(not (folder / "out.parts").exists(), "parts go when all is done")
    same(folder, whole, printed, done, "an array")


def mistakes(stagesim, folder):
    for arguments, words in ((("--resume",), "--resume expects -o DIR"), (("--shard", "1/2"), "--shard expects -o DIR"),
                             (("--exhaustive",), "--exhaustive is for search"),
                             (("--merge",), "--merge expects the directories"),
                             (("--jobs", "2", "--set", "tails.quantiles=false"),
                              "--jobs is for the steps that --quantiles draws")):
        done = run(stagesim, "run", "job.yaml", *arguments, cwd=folder, expect=2)
        check.that(words in done.stderr, f"{arguments}: {done.stderr}")


def main():
    stagesim = binary_argument()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "job.yaml").write_text(JOB)
        (folder / "factors.csv").write_text("factor\n1\n1.05\n")
        printed = run(stagesim, "run", "job.yaml", "-o", "out", "--quiet", "--jobs", "1", cwd=folder).stdout
        whole = figures(folder, "out")
        shutil.rmtree(folder / "out")
        done = run(stagesim, "run", "job.yaml", "-o", "out", "--quiet", "--jobs", "5", cwd=folder)
        same(folder, whole, printed, done, "five processes")
        for test in (killed, array, parts):
            test(stagesim, folder, whole, printed)
        mistakes(stagesim, folder)
    return check.done()


if __name__ == "__main__":
    sys.exit(main())
