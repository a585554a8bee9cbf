#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""lines.py STAGESIM: what every message of the program has in common. No line is longer than 160 columns, and no list
has more than eight names: a longer one is the nearest three and where all are. Looks at all golden errors of the tests
and at what each command says of wrong words."""
import pathlib
import re
import subprocess
import sys
import tempfile

COLUMNS, NAMES = 160, 8
TESTS = pathlib.Path(__file__).resolve().parent.parent
# What a command says about a word that it does not know.
WRONG = [f"{command} {arguments}" for command in ("run", "compare", "check", "sweep", "train", "search",
                                                  "plan", "month", "layouts", "schedule", "collective", "kernel",
                                                  "calibrate",
                                                  "explain", "import", "export", "report", "list", "platform show",
                                                  "platform generate", "platform fit", "platform import")
         for arguments in ("qqqqqq", "--qqqqqq", "--format qqqqqq", "--engine qqqqqq", "--schedules qqqqqq job.yaml",
                           "--trace qqqqqq job.yaml", "--picture qqqqqq job.yaml", "--sort qqqqqq job.yaml",
                           "job.yaml -o x.qqqqqq", "job.yaml --set qqqqqq=1", "job.yaml --set schedule=qqqqqq")]
WRONG += ["qqqqqq", "collective all-reduce --platform dgx-h100:1 --algorithm qqqqqq",
          "collective all-reduce --platform qqqqqq:1", "kernel matmul --gpu qqqqqq --m 1 --n 1 --k 1",
          "kernel matmul --gpu B200 --source qqqqqq --m 1 --n 1 --k 1", "import config.json",
          "import other.json", "sweep job.yaml --set batch.micro_batches=4,8 --y qqqqqq",
          "search job.yaml --set search.qqqqqq=1", "schedule 1f1b --workers 2 --micro-batches 2 --option qqqqqq=1",
          "schedule rows.csv", "run job.yaml --set workload=qqqqqq", "run job.yaml --set framework=qqqqqq",
          "run job.yaml --set model=qqqqqq", "run job.yaml --set simgrid.qqqqqq=1",
          "run job.yaml --set parallel.order=[qqqqqq]", "run job.yaml --set communication.all_reduce=qqqqqq",
          "run job.yaml --set output.qqqqqq=1", "run job.yaml --set engine=qqqqqq",
          "run job.yaml --what-if qqqqqq=2", "compare job.yaml --schedules 1f1b,qqqqqq"]
FILES = {"job.yaml": "platform: dgx-h100:1\nworkload: stages\nstages: {forward: 1ms, backward: 2ms}\n"
                     "parallel: {pipeline: 4}\nbatch: {micro_batches: 8}\nschedule: 1f1b\n",
         "config.json": '{"model_type": "qqqqqq", "hidden_size": 8}\n', "other.json": '{"qqqqqq": 1}\n',
         "rows.csv": "worker,kind,qqqqqq\n0,F,0\n"}


def names_in(line):
    """The names of the longest list: single words between commas, and what follows the last 'and' or 'or'."""
    longest = 0
    for found in re.finditer(r"(?:[^\s,;:()|]+, )+[^\s,;:()|]+(?: (?:or|and) [^\s,;:()|]+)?", line):
        longest = max(longest, found.group().count(", ") + 1 + bool(re.search(" (or|and) ", found.group())))
    return longest


def mistakes(text):
    """What is wrong with the lines of a message. Lines of the user's files and of usages are not messages."""
    wrong = []
    for line in text.splitlines():
        if re.match(r" *\d* \| ", line) or line.startswith("usage: "):
            continue
        if len(line) > COLUMNS and " " in line[:COLUMNS]:
            wrong.append(f"{len(line)} columns: {line}")
        if names_in(line) > NAMES:
            wrong.append(f"{names_in(line)} names: {line}")
    return wrong


def main():
    stagesim = str(pathlib.Path(sys.argv[1]).resolve())
    assert mistakes("a " * 81) and mistakes("a, b, c, d, e, f, g, h or i") and mistakes("a, b, c, d, e, f, g, h, i")
    assert not mistakes("a " * 80) and not mistakes("a, b, c, d, e, f, g or h")
    goldens = sorted(TESTS.rglob("*.stderr"))
    assert len(goldens) > 300, len(goldens)
    wrong = [f"{path.relative_to(TESTS)}: {what}" for path in goldens
             for what in mistakes(path.read_text("utf-8", "backslashreplace"))]
    with tempfile.TemporaryDirectory() as folder:
        for name, text in FILES.items():
            (pathlib.Path(folder) / name).write_text(text)
        silent = 0
        for words in WRONG:
            result = subprocess.run([stagesim, *words.split()], cwd=folder, stdin=subprocess.DEVNULL, timeout=60,
                                    capture_output=True, text=True, errors="backslashreplace")
            silent += result.returncode == 0
            wrong += [f"stagesim {words}: {what}" for what in mistakes(result.stderr)]
        assert silent < len(WRONG) / 10, f"{silent} of {len(WRONG)} are no mistakes"
    print("\n".join(wrong))
    sys.exit(bool(wrong))


main()
