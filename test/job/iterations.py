#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""iterations STAGESIM: `iterations` is obeyed or finds out how many are enough, also of schedules whose order
crosses iterations; with contention time per micro-batch and each rank's busy time do not depend on how many an
iteration has."""
import json
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import tool  # noqa: E402

STAGESIM = tool.binary_argument()
# Four pipelines behind switches that carry a quarter of what their nodes send.
SHARED = """platform: {preset: dgx-h100, nodes: 4, pod: 1, oversubscription: 4}
workload: transformer
model: llama3-8b
parallel: {tensor: 2, pipeline: 4, data: 4}
batch: {micro: 1, micro_batches: 4}
schedule: pipedream
"""
check = tool.Checker()


def summary(scenario, folder, *sets):
    options = [word for each in sets for word in ("--set", each)]
    tool.run(STAGESIM, "run", scenario, *options, "--quiet", "-o", folder / "out")
    return json.loads((folder / "out/summary.json").read_text())


def alike_however_many(scenario, folder):
    """A micro-batch's share of time and of each rank's computing."""
    for engine in ("analytic", "simgrid"):
        found = {n: summary(scenario, folder, f"engine={engine}", f"batch.micro_batches={n}") for n in (2, 4, 8)}
        for n, each in found.items():
            what = f"{n} micro-batches, {engine}"
            check.near(each["time"]["iteration_s"] / n / (found[8]["time"]["iteration_s"] / 8), 1, what, 1e-4)
            check.near(each["bubble"]["ratio"], found[8]["bubble"]["ratio"], f"bubble of {what}", 1e-4)
            for mine, other in zip(each["workers"], found[8]["workers"], strict=True):
                check.near(mine["busy_s"] / n / (other["busy_s"] / 8), 1, f"busy of {what}", 1e-6)


def obeyed(scenario, folder):
    for engine in ("analytic", "simgrid"):
        for schedule in tool.sampled(("pipedream", "gpipe")):
            time = summary(scenario, folder, f"engine={engine}", f"schedule.name={schedule}", "iterations=7")["time"]
            check.that(time["iterations"] == 7, f"{schedule}, {engine}: {time['iterations']} iterations, not 7")
            check.that("settled" not in time or schedule == "pipedream", f"{schedule}: nobody asked")


def settled(scenario, folder):
    for engine in ("analytic", "simgrid"):
        for schedule in tool.sampled(("pipedream", "1f1b")):
            time = summary(scenario, folder, f"engine={engine}", f"schedule.name={schedule}",
                           "iterations=settled")["time"]
            more = summary(scenario, folder, f"engine={engine}", f"schedule.name={schedule}",
                           f"iterations={4 * time['iterations']}")["time"]
            check.that(time["settled"], f"{schedule}, {engine}: it does not stand")
            check.near(time["iteration_s"] / more["iteration_s"], 1, f"{schedule}, {engine}", 2e-4)
    for command in (("compare", scenario, "--schedules", "gpipe,pipedream"), ("sweep", scenario)):
        swept = ["--set", "batch.micro_batches=2,4"] if command[0] == "sweep" else []
        tool.run(STAGESIM, *command, *swept, "--set", "engine=analytic", "--set", "iterations=settled")
    searched(scenario, folder)


def searched(scenario, folder):
    """The best layout's time is that of a run of it, on either engine; bubble and exposed share go with the time."""
    space = ("search.schedules=[1f1b]", "search.tensor=[2]", "search.pipeline=[4]", "search.micro=[1]",
             "search.zero=[0]", "search.recompute=[none]", "iterations=settled")
    tool.run(STAGESIM, "search", scenario, "--quiet", "-o", folder / "best", "--top", 1,
             *[word for each in space for word in ("--set", each)])
    first = json.loads((folder / "best/search.json").read_text())["best"][0]
    for engine, key in (("analytic", "iteration_s"), ("simgrid", "verified_iteration_s")):
        ran = summary(folder / "best/best.yaml", folder, f"engine={engine}")
        time = ran["time"]
        check.that(time["settled"], f"the best layout, {engine}: it does not stand")
        check.near(first[key] / time["iteration_s"], 1, f"the best layout, {engine}", 1e-9)
    exposed = ran["communication"]["exposed_s"] / time["iteration_s"]
    check.near(first["bubble_ratio"], ran["bubble"]["ratio"], "bubble of the best layout", 1e-9)
    check.near(first["exposed_ratio"], exposed, "exposed share of the best layout", 1e-9)


def refused(scenario):
    for value in ("0", "1001", "2.5", "settle", "-1", "08"):
        result = tool.run(STAGESIM, "check", scenario, "--set", f"iterations={value}", expect=1)
        check.that("expected 1 to 1000, or settled" in result.stderr, f"{value}: {result.stderr}")


with tempfile.TemporaryDirectory() as name:
    root = pathlib.Path(name)
    (root / "job.yaml").write_text(SHARED)
    refused(root / "job.yaml")
    obeyed(root / "job.yaml", root)
    settled(root / "job.yaml", root)
    alike_however_many(root / "job.yaml", root)
sys.exit(check.done())
