#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""schedule_on.py STAGESIM: `stagesim schedule best --on`. What it prints is what `run` says of the schedules and keys
that it names; no published schedule is faster on the analytic engine; its order is a schedule file; layers that it
moves make the job no slower; with the scenario's own schedule no partition and no recomputation of single stages,
all of them tried, is faster; the same words on every run; and nothing stays behind."""
import os
import pathlib
import re
import shlex
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from tool import Checker, binary_argument, run, summary

JOB = """platform: dgx-a100:1
workload: transformer
model: megatron-1.7b
parallel: {tensor: 2, pipeline: 4, data: 1}
batch: {micro: 1, global: 8}
schedule: 1f1b
transformer: {balance: auto}
"""
# Compute is slow on the second worker: one that holds fewer layers, or another one, has to go there.
STAGES = """platform: dgx-a100:1
workload: stages
parallel: {pipeline: 4, data: 1}
batch: {micro: 1, global: 6}
schedule: gpipe
stages: {forward: [1s, 3s, 1s, 2s], backward: [2s, 5s, 2s, 4s], weight: [1s, 2s, 1s, 2s], message: 1MB, gradient: 0B}
"""
# Seven layers on two workers whose activations are too many for the memory: something has to be computed again.
TIGHT = """platform: dgx-a100:1
workload: transformer
model: {hidden: 4096, heads: 32, layers: 7, sequence: 4096, vocabulary: 51200}
parallel: {tensor: 1, pipeline: 2, data: 1}
batch: {micro: 20, global: 120}
schedule: 1f1b
transformer: {balance: auto}
compute: {precision: bf16}
"""
check = Checker()


def rows_of(text):
    """[(schedule, seconds on SimGrid or None, seconds on the analytic engine)]"""
    scale = {"s": 1, "ms": 1e-3, "us": 1e-6}
    rows = []
    for line in text.splitlines():
        cells = re.split(r"  +", line.strip())
        if re.fullmatch(r"\d+", cells[0]):
            seconds = [float(cell.split()[0]) * scale[cell.split()[1]] for cell in cells[2:4]]
            rows.append((cells[1], *seconds))
    return rows


def best_of(stagesim, folder, *arguments):
    return run(stagesim, "schedule", "best", "--on", *arguments, cwd=folder).stdout


def orders(stagesim, folder):
    text = best_of(stagesim, folder, "stages.yaml", "--effort", "6000", "-o", "found.csv")
    rows = rows_of(text)
    check.that(len(rows) == 10 and rows == sorted(rows, key=lambda row: row[1]), text)
    again = best_of(stagesim, folder, "stages.yaml", "--effort", "6000", "-o", "again.csv")
    check.that(text == again and (folder / "found.csv").read_bytes() == (folder / "again.csv").read_bytes(),
               "another run says something else")
    found = summary(stagesim, "stages.yaml", "found", "--set", "schedule={file: found.csv}", cwd=folder)
    check.near(found["time"]["iteration_s"], rows[0][1], "the order that was written", 1e-3)
    for name in ("gpipe", "1f1b", "zb-h1", "zb-auto"):
        other = summary(stagesim, "stages.yaml", name, "--set", f"schedule={name}", "--engine", "analytic", cwd=folder)
        check.that(min(row[2] for row in rows) <= other["time"]["iteration_s"] * (1 + 1e-3), f"{name} is faster")


def partitions(stagesim, folder):
    plain = rows_of(best_of(stagesim, folder, "job.yaml", "--effort", "300", "-o", "plain.csv"))
    text = best_of(stagesim, folder, "job.yaml", "--effort", "300", "--partition", "-o", "moved.csv")
    rows = rows_of(text)
    check.that(rows[0][1] <= plain[0][1] * (1 + 1e-9), f"{rows[0]} after {plain[0]}")
    sets = shlex.split(re.search("scenario keys: (.*)", text).group(1))
    document = summary(stagesim, "job.yaml", "keys", *sets, cwd=folder)
    changed = "order was changed" in text
    check.that(changed or abs(document["time"]["iteration_s"] / rows[0][1] - 1) < 1e-3, (sets, rows[0]))
    layout = re.search(r"--pipeline-model-parallel-layout '(.*)'", text).group(1)
    check.that(document["scenario"]["pipeline_layout"] == layout, (document["scenario"], layout))


def for_pytorch(stagesim, folder):
    """The best order may be one that PyTorch cannot say; then it is the first that it can, which the output names."""
    text = best_of(stagesim, folder, "job.yaml", "--effort", "300", "--set", "batch.global=16", "--format", "pytorch",
                   "-o", "torch.csv")
    rows = rows_of(text)
    rank, label, rest = re.search(r"PyTorch: rank (\d+), (.*), [0-9.]+ m?s on the SimGrid engine: (.*)", text).groups()
    check.that(rows[int(rank) - 1][0] == label and int(rank) > 1, text)
    keys, why = rest.split("; not the best: ")
    check.that("which no action of PyTorch's schedules says" in why, why)
    document = summary(stagesim, "job.yaml", "torch", "--set", "batch.global=16", *shlex.split(keys), cwd=folder)
    check.near(document["time"]["iteration_s"], rows[int(rank) - 1][1], "the keys for PyTorch", 1e-3)
    check.that((folder / "torch.csv").read_text().startswith("0F0,"), "no file of PyTorch")
    for other in rows[:int(rank) - 1]:
        done = run(stagesim, "schedule", other[0], "--workers", "4", "--micro-batches", "16", "--format", "pytorch",
                   cwd=folder, expect=1)
        check.that("cannot be written for PyTorch" in done.stderr, done)


def joint(stagesim, folder):
    text = best_of(stagesim, folder, "tight.yaml", "--effort", "1000", "--partition", "-o", "joint.csv")
    sets = shlex.split(re.search("own schedule .*: (--set.*)", text).group(1))
    found = summary(stagesim, "tight.yaml", "own", *sets, "--engine", "analytic", cwd=folder)
    all_of_them = []
    for first in range(8):
        for ways in ("none, none", "none, full", "full, none", "full, full"):
            one = summary(stagesim, "tight.yaml", "one", "--engine", "analytic", "--set", "transformer.balance=even",
                          "--set", f"transformer.layers_per_stage=[{first}, {7 - first}]",
                          "--set", f"schedule.recompute=[{ways}]", cwd=folder)
            all_of_them.append((not one["memory"]["fits"], one["time"]["iteration_s"], ways))
    check.that(min(all_of_them)[2] in ("none, full", "full, none"), ("stages should differ", min(all_of_them)))
    check.that(found["memory"]["fits"], "what was found does not fit")
    check.near(found["time"]["iteration_s"], min(all_of_them)[1], "the best of all partitions", 1e-9)
    alike = [summary(stagesim, "tight.yaml", f"alike{i}", "--engine", "analytic", "--set", f"schedule.recompute={way}",
                     cwd=folder)["time"]["iteration_s"] for i, way in enumerate(("full", "[full, full]"))]
    check.that(alike[0] == alike[1], ("a list of equals is one word", alike))


def for_megatron(stagesim, folder):
    """What is computed again is an argument, too, or said to be none where stages differ."""
    for micro, words in ((24, "'; it computes again alike in all stages, which here differ\n"),
                         (30, "' --recompute-granularity full --recompute-method uniform --recompute-num-layers 1\n")):
        text = best_of(stagesim, folder, "tight.yaml", "--effort", "100", "--partition", "--set",
                       f"batch={{micro: {micro}, global: {6 * micro}}}")
        check.that(words in text[text.index("Megatron-LM: "):], text)


def wrong(stagesim, folder):
    def refused(words, *arguments, code=2):
        done = run(stagesim, "schedule", *arguments, cwd=folder, expect=code)
        check.that(words in done.stderr and not done.stdout, done)

    refused("--on is for best", "1f1b", "--on", "job.yaml")
    refused("the scenario says", "best", "--on", "job.yaml", "--workers", "4")
    refused("goes with --on", "best", "--workers", "4", "--micro-batches", "4", "--partition")
    refused("plain integer", "best", "--on", "job.yaml", "--effort", "0")
    refused("stages.yaml:2:11: error: --partition moves the layers of a transformer, and the workload is 'stages'",
            "best", "--on", "stages.yaml", "--partition", code=1)
    refused("none.yaml", "best", "--on", "none.yaml", code=1)


def main():
    stagesim = binary_argument()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        os.environ["TMPDIR"] = str(folder / "tmp")
        (folder / "tmp").mkdir()
        (folder / "job.yaml").write_text(JOB)
        (folder / "stages.yaml").write_text(STAGES)
        orders(stagesim, folder)
        partitions(stagesim, folder)
        for_pytorch(stagesim, folder)
        (folder / "tight.yaml").write_text(TIGHT)
        joint(stagesim, folder)
        for_megatron(stagesim, folder)
        wrong(stagesim, folder)
        check.that(not [path for path in (folder / "tmp").iterdir() if "lab" in path.name], "a folder stays behind")
    return check.done()


if __name__ == "__main__":
    sys.exit(main())
