#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""aliases.py STAGESIM: what people type. Abbreviations of axes, schedules and presets in other letters, a number of
tokens with its letter, and options that other commands have are understood as their long forms, or answered with what
to type; and of many mistakes the first eight and the number of the others are shown."""
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "support"))
from tool import Checker, binary_argument, run

JOB = """platform: dgx-h100:4
workload: transformer
model: llama3-8b
parallel: {tensor: 8, pipeline: 2, data: 2}
batch: {micro: 1, global: 64}
schedule: 1f1b
"""
# Typed, and its long form.
SAME = [(["--set", "parallel.tp=4"], ["--set", "parallel.tensor=4"]),
        (["--set", "parallel={tp: 4, pp: 2, dp: 2, cp: 2}"],
         ["--set", "parallel={tensor: 4, pipeline: 2, data: 2, context: 2}"]),
        (["--set", "schedule=1F1B"], ["--set", "schedule=1f1b"]),
        (["--schedule", "GPipe"], ["--set", "schedule=gpipe"]),
        (["--set", "platform=DGX-H100:5"], ["--set", "platform=dgx-h100:5"]),
        (["--set", "transformer.tokens=15T"], ["--set", "transformer.tokens=15e12"])]
HINTS = [("platform=h100", "dgx-h100:4"), ("platform=dgx-h100", "dgx-h100:4"), ("platform=a100:2", "'dgx-a100'"),
         ("schedule=zero-bubble", "'zb-h1'"), ("schedule=interleaved-1f1b", "'interleaved'"),
         ("transformer.recompute=full", "'schedule.recompute'"), ("tokens=15T", "'transformer.tokens'"),
         ("mbs=2", "'batch.micro'"), ("batch.gbs=2", "'global'"), ("model.num_layers=4", "'layers'"),
         ("model.vocab_size=4", "'vocabulary'"), ("parallel.tensro=4", "'tensor'")]
check = Checker()


def main():
    stagesim = binary_argument()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "job.yaml").write_text(JOB)
        (folder / "short.yaml").write_text(JOB.replace("tensor: 8, pipeline: 2, data: 2", "tp: 8, pp: 2, dp: 2"))
        for short, long in SAME:
            one, other = (run(stagesim, "check", "job.yaml", *words, cwd=folder).stdout.lower()
                          for words in (short, long))
            check.that(one == other, f"{short}:\n{one}{other}")
        one, other = (run(stagesim, "check", file, "--set", "parallel.tensor=4", cwd=folder).stdout.split("\n", 1)[1]
                      for file in ("short.yaml", "job.yaml"))
        check.that(one == other, f"a set of an axis that the file abbreviates:\n{one}{other}")
        (folder / "both.yaml").write_text(JOB.replace("tensor: 8", "tensor: 8, tp: 4"))
        done = run(stagesim, "check", "both.yaml", cwd=folder, expect=1)
        check.that("both.yaml:4:23: error: 'tp' is not a key" in done.stderr, done.stderr)
        for typed, expected in HINTS:
            done = run(stagesim, "check", "job.yaml", "--set", typed, cwd=folder, expect=1)
            check.that(expected in done.stderr, f"{typed}: {done.stderr}")
        done = run(stagesim, "compare", "job.yaml", "--schedules", "gpipe", "chimera", "--quiet", cwd=folder)
        check.that("chimera" in done.stdout, done.stdout)
        for words, expected in [(["--gpus", "8"], "'--gpus'; the platform"),
                                (["--schedules", "1f1b"], "--schedule NAME"),
                                (["--y", "bubble"], "for sweep"), (["--nonsense", "8"], "'--nonsense'")]:
            done = run(stagesim, "run", "job.yaml", *words, cwd=folder, expect=2)
            check.that(expected in done.stderr, done.stderr)
        (folder / "many.yaml").write_text(JOB + "".join(f"wrong{i}: 1\n" for i in range(20)))
        done = run(stagesim, "check", "many.yaml", cwd=folder, expect=1)
        check.that(done.stderr.count(": error: 'wrong") == 8 and "12 more mistakes" in done.stderr, done.stderr)
    return check.done()


if __name__ == "__main__":
    sys.exit(main())
