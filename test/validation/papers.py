#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""papers.py STAGESIM [--all] [--update] [NAME...]: the headline figures of papers, published and predicted.

The head of each scenarios/papers/NAME.yaml has cases, in comments of these kinds, one line each:

    # case: what is compared
    # command: stagesim run ...
    # over: stagesim run ...         the figure is divided by that of this command; otherwise it stands for itself
    # figure: throughput.hfu x 312   where it stands in summary.json, and what it is multiplied by
    # published: 1.26 (abstract)     a number, or a range "1.16 to 2.34"; then its unit, and where it is from
    # predicted: 1.23                what comes out, to as many digits
    # memory: why                    where a job is predicted not to fit, and nowhere else
    # by hand: why                   only for cases that take too long for the suite

Runs every command, prints all cases, and fails where a prediction is not the head's to the last digit, where a job does
not fit in memory and the head does not say so, or where the table of doc/papers.md is not that of the heads. --update
writes both. Cases run by hand are run with --all. What a case is worth is said by the page, not here: the comparison is
with the head alone, the errors against the published figures are shown."""
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDER, PAGE = ROOT / "scenarios" / "papers", ROOT / "doc" / "papers.md"
KEYS = ("case", "command", "over", "figure", "published", "predicted", "memory", "by hand")
BEGIN, END = "<!-- cases -->", "<!-- end -->"
NUMBER = r"\d+(?:\.\d+)?"


def fail(text):
    raise SystemExit(f"papers: {text}")


def read_cases(path):
    """The cases of a head, and what the paper is: the first line up to its first closing bracket."""
    cases, lines = [], path.read_text().splitlines()
    for number, line in enumerate(lines):
        match = re.fullmatch(r"# ([a-z ]+): (.*)", line)
        if not match or match[1] not in KEYS:
            continue
        if match[1] == "case":
            cases.append({"file": path, "paper": lines[0][2:lines[0].index(")") + 1]})
        elif not cases:
            fail(f"{path.name}:{number + 1}: '{match[1]}' before the first case")
        if match[1] in cases[-1]:
            fail(f"{path.name}:{number + 1}: a second '{match[1]}' in one case")
        cases[-1][match[1]] = match[2]
    for case in cases:
        missing = [key for key in ("command", "figure", "published", "predicted") if key not in case]
        if missing:
            fail(f"{path.name}: case '{case['case']}' has no {missing[0]}")
        case["range"], case["unit"] = split_published(case["published"], path.name)
    return cases


def split_published(text, name):
    """Both ends of a range (equal for a number), as text, and the unit behind it."""
    match = re.fullmatch(rf"({NUMBER})(?: to ({NUMBER}))?( [^(]*?)?(?: \(.*\))?", text)
    if not match:
        fail(f"{name}: '{text}' is no number and no range")
    return (match[1], match[2] or match[1]), match[3] or ""


def find(summary, figure):
    path, _, factor = figure.partition(" x ")
    for key in path.split("."):
        summary = summary[key]
    return summary * float(factor or 1)


class Runner:
    """Runs each command once."""

    def __init__(self, stagesim, folder):
        self.stagesim, self.folder, self.found = stagesim, folder, {}

    def summary(self, command):
        if command not in self.found:
            words = shlex.split(command)
            if words[:2] != ["stagesim", "run"]:
                fail(f"'{command}' is no stagesim run")
            done = subprocess.run([self.stagesim, *words[1:], "--quiet", "-o", self.folder], capture_output=True,
                                  text=True, cwd=ROOT)
            if done.returncode:
                fail(f"{command}\n{done.stderr}")
            self.found[command] = json.loads((pathlib.Path(self.folder) / "summary.json").read_text())
        return self.found[command]

    def predict(self, case):
        commands = [case[key] for key in ("command", "over") if key in case]
        summaries = [self.summary(command) for command in commands]
        if all(summary["memory"]["fits"] for summary in summaries) == ("memory" in case):
            fail(f"{case['case']}: {'fits after all' if 'memory' in case else 'does not fit in memory'}")
        value = find(summaries[0], case["figure"])
        for summary in summaries[1:]:
            value /= find(summary, case["figure"])
        digits = len(case["range"][0].partition(".")[2])
        return f"{value:.{digits}f}"


def error(case):
    """Against the published number, or the nearer end of the range."""
    low, high, predicted = *map(float, case["range"]), float(case["predicted"])
    if low < high and low <= predicted <= high:
        return "within"
    return f"{100 * (predicted / (low if predicted < low else high) - 1):+.1f} %"


def write_head(case, predicted):
    """Puts the number into its case of the head."""
    text, start = case["file"].read_text(), f"# case: {case['case']}\n"
    before, _, behind = text.partition(start)
    behind = re.sub(r"(?m)^# predicted: .*$", f"# predicted: {predicted}", behind, count=1)
    case["file"].write_text(before + start + behind)


def page_rows(cases):
    rows = ["| paper | case | published | predicted | error | scenario |", "|---|---|---|---|---|---|"]
    last = None
    for case in cases:
        name = case["file"].name
        published = " to ".join(dict.fromkeys(case["range"])) + case["unit"]
        by_hand = ", by hand" if "by hand" in case else ""
        rows.append(f"| {case['paper'] if name != last else ''} | {case['case']} | {published} | {case['predicted']} | "
                    f"{error(case)} | {f'`{name}`{by_hand}' if name != last or by_hand else ''} |")
        last = name
    return "\n".join(rows)


def main():
    options = {word for word in sys.argv[2:] if word.startswith("--")}
    names, stagesim = [word for word in sys.argv[2:] if not word.startswith("--")], os.path.abspath(sys.argv[1])
    cases = [case for path in sorted(FOLDER.glob("*.yaml")) for case in read_cases(path)]
    wrong = False
    with tempfile.TemporaryDirectory() as folder:
        runner = Runner(stagesim, folder)
        for case in cases:
            if (names and case["file"].stem not in names) or ("by hand" in case and "--all" not in options):
                continue
            predicted = runner.predict(case)
            note = ""
            if predicted != case["predicted"]:
                note, wrong = f"  DIFFERS: the head says {case['predicted']}", True
                if "--update" in options:
                    write_head(case, predicted)
            case["predicted"] = predicted
            print(f"{case['file'].stem:20} {case['case'][:58]:58} {case['published'].split(' (')[0]:>22} "
                  f"{predicted:>8} {error(case):>9}{note}")
    before, _, rest = PAGE.read_text().partition(BEGIN)
    old, _, behind = rest.partition(END)
    new = f"\n{page_rows(cases)}\n"
    if "--update" in options:
        PAGE.write_text(before + BEGIN + new + END + behind)
    elif old != new:
        print(f"doc/papers.md does not have the table of the heads: run {sys.argv[0]} STAGESIM --update")
        wrong = True
    sys.exit(wrong and "--update" not in options)


if __name__ == "__main__":
    main()
