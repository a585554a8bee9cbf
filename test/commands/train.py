#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""train.py STAGESIM: `stagesim train`. Means against the closed form, with a scenario from end to end; what is written
agrees with what is printed, the parts with the whole, a run and a sweep with the command; the same bytes twice; keys
that count; mistakes."""
import csv
import io
import json
import math
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from tool import ROOT, STAGES_JOB, Checker, binary_argument, run

JOB = STAGES_JOB + """training: {steps: 3600, step: 1s, runs: 2000, start: 0s}
failures: {components: [{name: job, unit: job, every: 3600s}], detect: 0s, restart: 120s}
checkpoint: {every: 10min, way: blocking, save: 60s, load: 0s, bytes: 1GB}
"""
DAY = 86400.0
check = Checker()


def forecast(stagesim, folder, *arguments):
    run(stagesim, "train", "job.yaml", "-o", "out", "--quiet", *arguments, cwd=folder)
    return json.loads((folder / "out/forecast.json").read_text())["forecast"]


def closed_form(stagesim, folder):
    """Six segments of 600 s, a checkpoint of 60 s each, a failure in 3,600 s, a restart of 120 s: 4,493.555 s."""
    figures = forecast(stagesim, folder)
    expected = 6 * math.exp(120 / 3600) * 3600 * (math.exp(660 / 3600) - 1)
    check.that(abs(expected - 4493.555) < 0.001, "the formula")
    off = abs(figures["mean_s"] - expected)
    check.that(off < 4 * figures["mean_error_s"], f"mean {figures['mean_s']}, expected {expected}")
    check.that(figures["mean_error_s"] < 0.02 * expected, "the mean is known well")
    parts = sum(value for key, value in figures.items() if key.startswith("part_"))
    check.that(abs(parts / figures["mean_s"] - 1) < 1e-9, f"parts {parts}, mean {figures['mean_s']}")
    check.that(figures["low_s"] <= figures["median_s"] <= figures["high_s"], "band in order")
    check.that(figures["energy_low_j"] < figures["energy_j"] < figures["energy_high_j"], "energy in its band")
    check.that(figures["energy_high_j"] / figures["energy_low_j"] < figures["high_s"] / figures["low_s"],
               "GPUs draw less while they wait")
    check.that(figures["nodes"] == 4 and figures["gpus_per_node"] == 8, "nodes")
    check.that(figures["half_interval_mean_s"] == 0, "no interval was chosen")


def goodput(stagesim, folder):
    """Parts multiply to the whole, causes add up to what failures took; policies of single nodes lose less."""
    figures = forecast(stagesim, folder, "--set",
                       "failures.components=[{name: node, every: 20h}, {name: job, unit: job, every: 3h}]")
    written = json.loads((folder / "out/forecast.json").read_text())
    product = written["goodput"]["scheduling"] * written["goodput"]["runtime"]
    check.that(abs(product / (figures["part_steps_s"] / figures["mean_s"]) - 1) < 1e-9, f"product {product}")
    lost = sum(cause["lost_s"] for cause in written["causes"])
    parts = ("lost", "detection", "waiting", "replacement", "restart", "load")
    failed = sum(figures[f"part_{part}_s"] for part in parts)
    check.that([cause["name"] for cause in written["causes"]] == ["node", "job"], f"{written['causes']}")
    check.that(abs(lost / failed - 1) < 1e-9, f"lost {lost}, by failures {failed}")
    failures = "components: [{name: node, every: 20h}], detect: 0s, restart: 10min"
    means = [forecast(stagesim, folder, "--set", f"failures={{{failures}, policy: {policy}}}")["mean_s"]
             for policy in ("restart", "reroute", "templates")]
    check.that(means[0] > means[1] and means[0] > means[2], f"restart, reroute, templates: {means}")
    spread = ["--set", "platform=dgx-h100:32", "--set", "parallel={pipeline: 8, data: 4, tensor: 8}"]
    plain = forecast(stagesim, folder, *spread, "--set", "failures.scale=0")
    twice = forecast(stagesim, folder, *spread, "--set", "failures.scale=0", "--set", "failures.policy=redundant",
                     "--set", "batch.micro_batches=32")
    # 32 forwards of a third of a beat beside 32 + 7, and 7 . 2 / 3 beats of bubble that take some of them.
    expected = 1 + (32 / 3 - 14 / 3) / 39
    check.that(abs(twice["computing_s"] / plain["computing_s"] / expected - 1) < 1e-12, f"computed twice: {twice}")
    check.that(twice["redundancy"] == twice["step_s"] and plain["redundancy"] == 1, f"redundancy: {twice}")
    given = forecast(stagesim, folder, *spread, "--set", "failures.policy=redundant", "--set",
                     "failures.redundancy=1.25")
    check.that(given["step_s"] == 1.25, f"a redundancy that is given: {given}")


def best(stagesim, folder):
    """auto: M (1 + W0(-exp(-C/M - 1))) is 620 s here, and half and twice of it are worse."""
    figures = forecast(stagesim, folder, "--set", "checkpoint.every=auto", "--set", "training.steps=200000", "--set",
                       "training.runs=60")
    x = 0.0
    for _ in range(200):
        x = 1 - math.exp(-x - 60 / 3600)
    check.that(abs(figures["checkpoint_formula_s"] - 3600 * x) < 1, f"{figures['checkpoint_formula_s']} and {3600 * x}")
    check.that(figures["half_interval_mean_s"] > figures["mean_s"], "half is worse")
    check.that(figures["twice_interval_mean_s"] > figures["mean_s"], "twice is worse")


def files(stagesim, folder):
    printed = run(stagesim, "train", "job.yaml", "-o", "first", "--format", "csv", cwd=folder).stdout
    run(stagesim, "train", "job.yaml", "-o", "second", "--quiet", cwd=folder)
    for name in ("forecast.json", "month.svg", "calendar.csv", "calendar.paje"):
        first, second = (folder / "first" / name).read_bytes(), (folder / "second" / name).read_bytes()
        check.that(first and first == second, f"{name} is the same twice")
    for name in ("scenario.yaml", "about.json"):
        check.that((folder / "first" / name).exists(), name)
    figures = json.loads((folder / "first/forecast.json").read_text())["forecast"]
    rows = list(csv.DictReader(io.StringIO(printed)))
    check.that(rows[0]["time_of"] == "steps" and rows[-1]["time_of"] == "all", "rows")
    check.that(abs(float(rows[-1]["days"]) * DAY / figures["mean_s"] - 1) < 1e-12, "days")
    check.that(abs(sum(float(row["share"]) for row in rows[:-1]) - 1) < 1e-9, "shares")
    spans = list(csv.DictReader((folder / "first/calendar.csv").read_text().splitlines()))
    check.that(float(spans[0]["start_s"]) == 0, "the calendar begins at 0")
    check.that(all(a["end_s"] == b["start_s"] for a, b in zip(spans, spans[1:])), "the calendar has no gaps")
    steps = sum(float(s["end_s"]) - float(s["start_s"]) for s in spans if s["part"] == "steps")
    check.that(steps >= 3600 - 1e-6, f"{steps} s of steps")
    paje = (folder / "first/calendar.paje").read_text().splitlines()
    check.that(sum(line.startswith("7 ") for line in paje) == len(spans), "a state for each span")
    check.that(sum(line.startswith("8 ") for line in paje) == sum(line.startswith("7 ") for line in paje), "each ends")
    again = run(stagesim, "train", "first/scenario.yaml", "--format", "csv", cwd=folder).stdout
    check.that(again == printed, "the scenario that was written is the same training")


def elsewhere(stagesim, folder):
    """run, its page and a sweep say what train says."""
    figures = forecast(stagesim, folder)
    done = run(stagesim, "run", "job.yaml", "-o", "run", "--report", "--trace", "csv", cwd=folder).stdout
    check.that("with failures" in done and "goodput" in done, done)
    check.that(json.loads((folder / "run/summary.json").read_text())["forecast"] == figures, "the summary has the same")
    page = (folder / "run/report.html").read_text()
    check.that("with failures (" in page and "in 8 of 10)" in page, "the verdict")
    run(stagesim, "report", "run", cwd=folder)
    check.that((folder / "run/report.html").read_text().count("with failures (") == page.count("with failures ("),
          "the report of a written run says it, too")
    text = run(stagesim, "sweep", "job.yaml", "--set", "checkpoint.every=5min,10min", "--set", "failures.scale=0,1",
               "--quiet", "--format", "csv", cwd=folder).stdout
    rows = list(csv.DictReader(io.StringIO(text)))
    check.that(len(rows) == 4, "four rows")
    check.that(abs(float(rows[3]["days"]) * DAY / figures["median_s"] - 1) < 1e-12, "its days")
    check.that(abs(float(rows[2]["days"]) * DAY - 3600 - 6 * 60) < 1e-6, "steps and checkpoints are left")


def keys(stagesim, folder):
    """Each makes the training longer or shorter as it should; the failures are the same."""
    node = ["--set", "failures={components: [{name: node, every: 20h}, "
            "{name: slow, every: 50h, effect: slow, slow: 2}], detect: 1min, restart: 5min, repair: 6h, spares: 2}",
           
            "--set", "training.steps=200000", "--set", "training.runs=20",
            "--set", "checkpoint={every: 10min, save: 1s, bytes: 1TB, storage: 10GBps}"]
    base = forecast(stagesim, folder, *node)
    longer = ["failures.spares=0", "failures.scale=2", "failures.detect=10min", "failures.restart=20min",
              "training.start=1h", "checkpoint.storage=1GBps", "checkpoint.every=1h"]
    for change in longer:
        other = forecast(stagesim, folder, *node, "--set", change)
        check.that(other["mean_s"] > base["mean_s"], f"{change}: {other['mean_s']} after {base['mean_s']}")
    for change in ("failures.policy=replica", "checkpoint.way=memory"):
        other = forecast(stagesim, folder, *node, "--set", change)
        check.that(other["mean_s"] < base["mean_s"], f"{change}: {other['mean_s']} after {base['mean_s']}")
    blocking = forecast(stagesim, folder, *node, "--set",
                        "checkpoint={every: 10min, bytes: 1TB, storage: 10GBps, way: blocking}")
    check.that(blocking["checkpoint_save_s"] == 100 and blocking["mean_s"] > base["mean_s"], "steps wait for the bytes")
    other = forecast(stagesim, folder, *node, "--set", "failures.spares=0", "--set", "failures.policy=shrink")
    waits = forecast(stagesim, folder, *node, "--set", "failures.spares=0")
    check.that(other["mean_s"] < waits["mean_s"] and other["part_replicas_s"] > 0, "shrinking is better than waiting")
    check.that(waits["part_waiting_s"] > 0 and base["part_slow_s"] > 0, "parts")


def mistakes(stagesim, folder):
    def said(*arguments):
        done = run(stagesim, "train", "job.yaml", *arguments, cwd=folder, expect=1)
        check.that(done.stdout == "", "nothing is printed")
        return done.stderr
    (folder / "plain.yaml").write_text(JOB[:JOB.index("training:")])
    done = run(stagesim, "train", "plain.yaml", cwd=folder, expect=1).stderr
    check.that("nothing is said of the training" in done, done)
    plain = JOB.replace("steps: 3600, ", "")
    (folder / "plain.yaml").write_text(plain)
    done = run(stagesim, "train", "plain.yaml", cwd=folder, expect=1).stderr
    check.that("plain.yaml:8:" in done and "nothing says how long the training is" in done, done)
    for command in ("run", "check"):
        done = run(stagesim, command, "plain.yaml", cwd=folder)
        check.that("note: training: training, failures and checkpoint change nothing" in done.stdout + done.stderr,
                   f"{command}: {done}")
        done = run(stagesim, command, "job.yaml", cwd=folder)
        check.that("note: training:" not in done.stdout + done.stderr, f"{command}: {done}")
    text = said("--set", "failures.redundancy=1.2")
    check.that("redundancy changes nothing; it needs policy: redundant" in text, text)
    text = said("--set", "failures.fill_bubble=false")
    check.that("fill_bubble changes nothing; it needs policy: reroute" in text, text)
    text = said("--set", "failures.policy=redundant", "--set", "parallel={data: 8}", "--set", "stages.forward=1s")
    check.that("policy: redundant needs a pipeline" in text, text)
    text = said("--set", "failures={components: [{name: job, unit: job, every: 10s}], restart: 120s}")
    check.that("does not get on" in text, text)
    check.that("expected one scenario" in run(stagesim, "train", cwd=folder, expect=2).stderr, "no scenario")


BLOOM = """platform: dgx-a100:48
workload: stages
stages: {forward: 1s, backward: 2s}
parallel: {tensor: 4, pipeline: 12, data: 8}
batch: {micro_batches: 12, micro: 1}
schedule: 1f1b
engine: analytic
"""


def hangs(stagesim, folder):
    """The lines of doc/train.md, for a job of BLOOM's size: what it says of the share of failures that hang
    (test/training/published.c)."""
    page = (ROOT / "doc/train.md").read_text()
    lines = next(block for block in page.split("```yaml")[1:] if "name: hang," in block).split("```")[0]
    (folder / "bloom.yaml").write_text(BLOOM + lines.replace("platform: dgx-a100:48\n", ""))
    for share, expected in ((0.001, 93.5), (0.333, 91.5), (0.667, 89.8), (0.999, 88.2)):
        starts, hang = (f"{{share: {part:.3f}, of: {of}}}" for part, of in
                        ((1 - share, "{uniform: [0s, 3h]}"), (share, "{samples: [18h, 6h, 11h]}")))
        run(stagesim, "train", "bloom.yaml", "-o", "out", "--quiet", "--set",
            f"failures.detect={{mixture: [{starts}, {hang}]}}", "--set", "checkpoint.bytes=2.3TB", cwd=folder)
        figures = json.loads((folder / "out/forecast.json").read_text())["forecast"]
        steps = 100 * 38305 * 105.5 / figures["mean_s"]
        check.that(abs(steps - expected) < 0.7, f"{share} of the failures hang: {steps}, expected {expected}")


def main():
    stagesim = binary_argument()
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / "job.yaml").write_text(JOB)
        for part in (closed_form, goodput, best, files, elsewhere, keys, hangs, mistakes):
            part(stagesim, folder)
    return check.done()


if __name__ == "__main__":
    sys.exit(main())
