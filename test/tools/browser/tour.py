#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tour.py STAGESIM: what the playground's tour says is true, by the native program: at each step the figures that its
text names hold before anything is moved, the question is not answered then, and it is after the move; the reasons that
the answers give hold, too. Needs node, which reads the steps. Skipped without it."""
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "support"))
import page  # noqa: E402
from tool import ROOT, Checker, binary_argument, summary  # noqa: E402

GIB = 2 ** 30
ASK = """const {STEPS} = await import(process.argv[1]);
for await (const line of (await import('node:readline')).createInterface({input: process.stdin})) {
    const {step, run, text} = JSON.parse(line);
    console.log(JSON.stringify(run ? !!STEPS[step].met(run, text) : STEPS));
}"""
check = Checker()


class Tour:
    """The steps as the page has them, and runs of their scenarios."""

    def __init__(self, binary, folder):
        self.binary, self.folder, self.count = binary, folder, 0
        script = folder / "tour.mjs"
        shutil.copy(ROOT / "tools/browser/page/tour.js", script)
        self.node = subprocess.Popen(["node", "--input-type=module", "-e", ASK, script.as_uri()], text=True,
                                     stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.steps = self.ask({})

    def ask(self, what):
        self.node.stdin.write(json.dumps(what) + "\n")
        self.node.stdin.flush()
        return json.loads(self.node.stdout.readline())

    def run(self, step, *changes):
        """The summary of a step (from 1) with words of its scenario in the place of others, and whether it is met."""
        text = self.steps[step - 1]["start"]
        for old, new in changes:
            check.that(old in text, f"step {step}: there is no {old}")
            text = text.replace(old, new)
        self.count += 1
        file = self.folder / f"{self.count}.yaml"
        file.write_text(text)
        run = summary(self.binary, file, self.folder / str(self.count), "--engine", "analytic")
        return run, self.ask({"step": step - 1, "run": run, "text": text})


def said(step, words):
    """A text of the step has these words, which the check beside is about."""
    texts = f"{step['text']} {step['question']} {step['answer']}"
    check.that(re.search(words, texts), f"{step['title']}: there is nothing of '{words}' in the text")


def bubbles(tour):
    """Steps 1, 3, 4 and 5: stages that are alike, where formulas say how long devices wait."""
    steps = tour.steps
    said(steps[0], r"75 % of .*m \+ 3")
    for batches in (1, 7, 8, 20):
        run, met = tour.run(1, ("micro_batches: 1", f"micro_batches: {batches}"))
        check.near(run["bubble"]["ratio"], 3 / (batches + 3), f"{batches} micro-batches")
        check.that(met == (batches >= 8), f"{batches} micro-batches answer the first question: {met}")
    said(steps[2], "27 %.*half the time.*twice as many messages")
    before, after = tour.run(3)[0], tour.run(3, ("1f1b", "interleaved"))[0]
    check.near(before["bubble"]["ratio"], 3 / 11, "1F1B")
    check.near(after["bubble"]["ratio"], 1.5 / 9.5, "interleaved: the pipeline fills in half the time")
    said(steps[3], "less than 1 %.*zb-h2 and zb-v")
    for name in ("zb-h2", "zb-v"):
        check.that(tour.run(4, ("zb-h1", name))[1], f"{name} leaves a hole")
    check.that(not any(tour.run(4, ("zb-h1", name))[1] for name in ("1f1b", "gpipe", "v-min")), "not only these")
    said(steps[4], "bubble of 43 %.*25 %.*two stages")
    check.near(tour.run(5)[0]["bubble"]["ratio"], 3 / 7, "GPipe with four")
    check.near(tour.run(5, ("gpipe", "chimera"))[0]["bubble"]["ratio"], 0.25, "Chimera")


def memories(tour):
    """Steps 2 and 6: 12 GiB for each micro-batch in flight."""
    said(tour.steps[1], "all eight micro-batches. That does not fit.*as long and fits")
    gpipe, one = tour.run(2)[0], tour.run(2, ("gpipe", "1f1b"))[0]
    check.near(gpipe["memory"]["peak_bytes"], 8 * 12 * GIB, "GPipe keeps eight")
    check.near(one["memory"]["peak_bytes"], 4 * 12 * GIB, "1F1B keeps four")
    check.that(not gpipe["memory"]["fits"] and one["memory"]["fits"], "what fits")
    check.near(one["time"]["iteration_s"], gpipe["time"]["iteration_s"], "as long", 0.01)
    said(tour.steps[5], "48 GiB.*30 GiB.*v-min takes half.*v-half three quarters")
    start, least, half = (tour.run(6, *change)[0] for change in ([], [("1f1b", "v-min")], [("1f1b", "v-half")]))
    check.near(start["memory"]["peak_bytes"], 48 * GIB, "1F1B")
    check.near(least["memory"]["peak_bytes"], 24 * GIB, "v-min takes half of it")
    check.near(half["memory"]["peak_bytes"], 36 * GIB, "v-half takes three quarters")
    check.that(half["bubble"]["ratio"] < least["bubble"]["ratio"], "v-half waits less")


def models(tour):
    """Steps 7 to 10."""
    said(tour.steps[6], "below 11 s.*tensor 4, data 2.*hold more")
    start, other = tour.run(7)[0], tour.run(7, page.ANSWERS[6])[0]
    check.that(other["memory"]["peak_bytes"] > 1.2 * start["memory"]["peak_bytes"], "a GPU has to hold more")
    said(tour.steps[7], "a tenth.*below 12 s")
    slow, fast = (tour.run(8, *change)[0] for change in ([], [("what_if: [nic=0.1]\n", "")]))
    inside = [tour.run(8, page.ANSWERS[7], *change)[0] for change in ([], [("what_if: [nic=0.1]\n", "")])]
    check.that(slow["time"]["iteration_s"] > 2 * fast["time"]["iteration_s"], "the slow network costs much")
    check.that(inside[0]["time"]["iteration_s"] < 1.05 * inside[1]["time"]["iteration_s"], "almost harmless in a node")
    said(tour.steps[8], "a quarter of the time.*8 %.*512.*four times the work")
    start, large = tour.run(9)[0], tour.run(9, page.ANSWERS[8])[0]
    check.near(start["communication"]["exposed_s"] / start["time"]["iteration_s"], 0.25, "a quarter", 0.04)
    exposed = [run["communication"]["exposed_s"] for run in (large, start)]
    check.near(*exposed, "the gradients are the same", 0.02)
    said(tour.steps[9], "less than 20 s.*1f1b")
    check.that(tour.run(10)[0]["memory"]["fits"] and tour.run(10, page.ANSWERS[9])[0]["memory"]["fits"], "both fit")


def main():
    binary = binary_argument()
    if not shutil.which("node"):
        print("skipped: there is no node")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        tour = Tour(binary, pathlib.Path(folder))
        check.that(len(tour.steps) == len(page.ANSWERS) == 10, "ten steps")
        for number, answer in enumerate(page.ANSWERS, 1):
            check.that(not tour.run(number)[1], f"step {number} is answered at its start")
            check.that(tour.run(number, answer)[1], f"step {number} is not answered by {answer}")
            check.that(tour.steps[number - 1]["question"].count("?") + tour.steps[number - 1]["question"].count(".") > 0
                       and len(tour.steps[number - 1]["text"]) > 60, f"step {number} asks nothing")
        bubbles(tour)
        memories(tour)
        models(tour)
        tour.node.stdin.close()
        tour.node.wait()
    return check.done()


if __name__ == "__main__":
    sys.exit(main())
