#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""alone.py STAGESIM PRELOAD: where no process can be made, as in the playground, commands that share work among
processes do it in their own, and print the same."""
import os
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from tool import ROOT, Checker

SMALL = ["--set", "search.data=1", "--set", "search.micro=2", "--set", "search.schedules=1f1b", "--set",
         "search.recompute=none", "--set", "search.zero=1", "--set", "search.sequence_parallel=false"]
COMMANDS = [
    ["run", "scenarios/demo.yaml", "--engine", "analytic"],
    ["compare", "scenarios/demo.yaml", "--engine", "analytic", "--schedules", "gpipe,1f1b"],
    ["sweep", "scenarios/demo.yaml", "--engine", "analytic", "--set", "batch.global=512,1024"],
    ["search", "scenarios/power-capped.yaml", *SMALL, "--set", "search.cap=[150W,200W]", "--engine", "analytic",
     "--top", "2"],
    ["search", "scenarios/gpt-7.5b.yaml", "--set", "search.schedules=[1f1b,interleaved]", "--set",
     "search.recompute=none", "--top", "4", "--engine", "analytic"],
    ["collective", "all-reduce", "--platform", "platforms/dgx-a100-2.xml", "--algorithm", "all", "--sizes",
     "1MiB:1MiB:2", "--engine", "analytic"],
    ["plan", "scenarios/plan.yaml", "--by", "60d", "--engine", "analytic", "--set", "search.gpus=32"],
]
check = Checker()


def main():
    binary, preload = (str(pathlib.Path(path).resolve()) for path in sys.argv[1:3])
    for words in COMMANDS:
        texts, quiet = [], [] if words[0] == "collective" else ["--quiet"]
        for environment in (os.environ, {**os.environ, "LD_PRELOAD": preload}):
            try:
                done = subprocess.run([binary, *words, *quiet], cwd=ROOT, env=environment, capture_output=True,
                                      text=True, timeout=60)
            except subprocess.TimeoutExpired:
                check.that(False, f"{' '.join(words[:2])} does not end")
                continue
            check.that(done.returncode == 0, done.stderr)
            texts.append(re.sub(r"[\d.]+ s of|in [\d.]+ m?s", "", done.stdout))
        check.that(len(set(texts)) == 1 and len(texts) == 2, f"{' '.join(words[:2])} prints something else")
    return check.done()


sys.exit(main())
