#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What of --shard, --merge, --resume, --slurm and -o does not go together is refused by search and sweep in the same
words, before anything is read or written.

usage: parts.py STAGESIM
"""
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "support"))
import tool

MISTAKES = [([], "expected one scenario, got 0"), (["a.yaml", "b.yaml"], "expected one scenario, got 2"),
            (["a.yaml", "--merge", "-o", "out"], "--merge expects the directories of the parts behind the scenario"),
            (["a.yaml", "--shard", "1/2"], "--shard expects -o DIR, where what was found is kept"),
            (["a.yaml", "--resume"], "--resume expects -o DIR, where what was found is kept"),
            (["a.yaml", "--slurm"], "--slurm expects -o DIR, where what was found is kept"),
            (["a.yaml", "--slurm", "--shard", "1/2", "-o", "out"],
             "--slurm makes and joins the parts itself; expected no --shard"),
            (["a.yaml", "b", "--slurm", "--merge", "-o", "out"],
             "--slurm makes and joins the parts itself; expected no --merge")]

check = tool.Checker()
stagesim = tool.binary_argument()
with tempfile.TemporaryDirectory() as work:
    for command in ("search", "sweep"):
        for arguments, expected in MISTAKES:
            done = tool.run(stagesim, command, *arguments, cwd=work, expect=2)
            said = done.stderr.partition("\n")[0]
            check.that(said == f"stagesim {command}: {expected}" and not done.stdout,
                       f"{command} {' '.join(arguments)}: {said}")
    check.that(not list(pathlib.Path(work).iterdir()), "something was written")
sys.exit(check.done())
