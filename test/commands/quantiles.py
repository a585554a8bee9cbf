#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""quantiles.py STAGESIM: `--quantiles` and the section tails from end to end. Closed forms; figures of summaries, rows
and sweeps agree; the same bytes twice and on any number of processors; keys that count; mistakes."""
import csv
import io
import json
import math
import pathlib
import statistics
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from tool import STAGES_JOB, Checker, binary_argument, run

check = Checker()


LAYERS_JOB = """platform: dgx-a100:2
workload: transformer
model: {layers: 8, hidden: 2048, heads: 16, sequence: 1024, vocabulary: 50304}
parallel: {pipeline: 4, data: 2, tensor: 2}
batch: {micro_batches: 8, micro: 2}
schedule: 1f1b
engine: analytic
tails: {steps: 100}
"""


def step(stagesim, folder, *arguments, job="job.yaml"):
    run(stagesim, "run", job, "-o", "out", "--quiet", *arguments, cwd=folder)
    return json.loads((folder / "out/summary.json").read_text()).get("step")


def closed_forms(stagesim, folder):
    """One stage: a step is the slowest of 32 GPUs. Fixed factors multiply."""
    even = step(stagesim, folder, "--set", "tails={device: 1.5}")
    check.that(abs(even["even_s"] - 21) < 1e-4, f"even {even['even_s']}")
    for key in ("p50_s", "p95_low_s", "p99_high_s", "mean_s"):
        check.that(abs(even[key] / even["even_s"] - 1.5) < 1e-5, f"{key} of a factor of 1.5: {even[key]}")
    check.that(even["mean_error_s"] < 1e-9, "no error")
    alone = ["--set", "parallel={data: 32}", "--set", "batch={micro_batches: 1, micro: 1}"]
    figures = step(stagesim, folder, *alone, "--set",
                   "tails={device: {normal: {mean: 1, deviation: 0.02}}, steps: 8000}")
    normal = statistics.NormalDist()
    for name, share in (("p50", 0.5), ("p95", 0.95), ("p99", 0.99)):
        expected = figures["even_s"] * (1 + 0.02 * normal.inv_cdf(share ** (1 / 32)))
        low, high = figures[f"{name}_low_s"], figures[f"{name}_high_s"]
        check.that(low <= figures[f"{name}_s"] <= high and high / low < 1.01, f"{name} in its interval")
        check.that(abs(figures[f"{name}_s"] / expected - 1) < 0.002, f"{name} {figures[f'{name}_s']}, {expected}")
    check.that(abs(sum(worker["share"] for worker in figures["stragglers"]) - 5 / 32) < 0.03, "each as often")
    last = step(stagesim, folder, "--set", "parallel={pipeline: 4}", "--set", "batch={micro_batches: 1, micro: 1}",
                "--set", "stages={forward: [1s, 1s, 1s, 2s], backward: 2s}", "--set", "tails={device: 1, steps: 100}")
    check.that(abs(last["changes"]["even_last_stage"]["mean_s"] - 12) < 1e-4, f"the last stage as the others: {last}")
    check.that(abs(last["changes"]["even_stages"]["mean_s"] - 13) < 1e-4, f"the same over all stages: {last}")


def outputs(stagesim, folder):
    tails = ["--set", "tails={like: usual, steps: 200}"]
    figures = step(stagesim, folder, *tails)
    again = (folder / "out/summary.json").read_text().split('"simulation"')[0]
    check.that(step(stagesim, folder, *tails) == figures, "the same twice")
    check.that(json.loads(run(stagesim, "run", "out/scenario.yaml", "--format", "json", cwd=folder).stdout)[0]
               ["step_p95_s"] == figures["p95_s"], "the written scenario has it")
    check.that('"step"' in again, "summary")
    row = list(csv.DictReader(io.StringIO(run(stagesim, "run", "job.yaml", *tails, "--format", "csv",
                                              cwd=folder).stdout)))[0]
    for key in ("p50", "p95", "p99"):
        check.that(float(row[f"step_{key}_s"]) == figures[f"{key}_s"], f"{key} in the row")
    swept = list(csv.DictReader(io.StringIO(run(stagesim, "sweep", "job.yaml", *tails, "--set", "tails.seed=0,1",
                                                "--y", "p95", "--format", "csv", cwd=folder).stdout)))
    check.that(float(swept[0]["step_p95_s"]) == figures["p95_s"] and swept[1]["step_p95_s"] != swept[0]["step_p95_s"],
               "swept over seeds")
    one = run("taskset", "-c", "0", stagesim, "run", "job.yaml", *tails, "--format", "csv", cwd=folder).stdout
    check.that(float(list(csv.DictReader(io.StringIO(one)))[0]["step_p99_s"]) == figures["p99_s"], "one processor")


def drawn(stagesim, folder):
    """The picture of means and p95, by itself and on the page; without drawn steps there is neither."""
    for out, tails in (("varied", ["--quantiles", "--set", "tails={like: usual, steps: 100}"]), ("alike", [])):
        run(stagesim, "compare", "job.yaml", "--schedules", "gpipe,chimera", "--quiet", "--picture", "svg", "--report",
            "-o", out, *tails, cwd=folder)
        page = (folder / out / "report.html").read_text()
        check.that(("Steps that vary" in page) == bool(tails), f"the page of {out}")
        check.that((folder / out / "steps.svg").exists() == bool(tails), f"steps.svg of {out}")


def compared(stagesim, folder):
    text = run(stagesim, "compare", "job.yaml", "--schedules", "gpipe,chimera,1f1b", "--quantiles", "--set",
               "tails={like: uneven-sequences, steps: 200}", "--format", "csv", cwd=folder).stdout
    rows = list(csv.DictReader(io.StringIO(text)))
    p95 = [float(row["step_p95_s"]) for row in rows]
    check.that(p95 == sorted(p95) and len(set(p95)) == 3, f"by p95: {p95}")
    by_time = run(stagesim, "compare", "job.yaml", "--schedules", "gpipe,chimera,1f1b", "--quantiles", "--sort", "time",
                  "--set", "tails={steps: 100}", "--format", "csv", cwd=folder).stdout
    times = [float(row["iteration_s"]) for row in csv.DictReader(io.StringIO(by_time))]
    check.that(times == sorted(times), "by time where that is asked for")


def keys(stagesim, folder):
    base = step(stagesim, folder, "--set", "tails={device: 1, steps: 100}")
    (folder / "factors.csv").write_text("factor\n1\n1.2\n")
    for change in ("node: 1.2", "worker: 1.2", "micro_batch: 1.2", "operation: 1.2", "forward: 1.2", "backward: 1.2",
                   "device: {samples: factors.csv}", "device: {samples: [1, 1.2]}", "pause: 1s",
                   "pause: 1s, pause_every: 30"):
        figures = step(stagesim, folder, "--set", f"tails={{steps: 100, {change}}}")
        check.that(figures["mean_s"] > base["mean_s"], f"{change} counts")
    sends = ["--set", "stages.message=1GB", "--set", "stages.gradient=10GB", "--set", "stages.optimizer=1s"]
    base = step(stagesim, folder, *sends, "--set", "tails={device: 1, steps: 100}")
    for change in ("transfer: 1.2", "link: 1.2", "optimizer: 1.2", "message: 1.2", "collective: 1.2"):
        figures = step(stagesim, folder, *sends, "--set", f"tails={{steps: 100, {change}}}")
        check.that(figures["mean_s"] > base["mean_s"], f"{change} counts")
    both, message, collective = (step(stagesim, folder, *sends, "--set", f"tails={{steps: 100, {change}}}")["mean_s"]
                                 for change in ("transfer: 1.2", "transfer: 1.2, collective: 1",
                                                "transfer: 1.2, message: 1"))
    check.that(base["mean_s"] < message < both and base["mean_s"] < collective < both, "messages and collectives apart")
    split = ["--set", "schedule=zb-h1", "--set", "tails.steps=100"]
    plain, slow = (step(stagesim, folder, *split, "--set", f"tails.weight={factor}")["mean_s"] for factor in (1, 2))
    check.that(slow > plain, "weight gradients apart")
    check.that(step(stagesim, folder, "--set", "tails={like: usual, quantiles: false}") is None, "not asked for")


def kernels(stagesim, folder):
    """Shares of classes of kernels. On a GPU where only products take time they follow from the flop of a layer
    (Korthikanti et al. 2022, appendix A). Elsewhere kernels that are slow in tails take what slow ones of the job do.
    """
    (folder / "layers.yaml").write_text(LAYERS_JOB)

    def layers(*sets):
        return step(stagesim, folder, *[word for each in sets for word in ("--set", each)], job="layers.yaml")

    plain = ("compute.efficiency=0.5", "transformer.attention=standard", "parallel={}")
    batch, sequence, hidden, count, vocabulary = 2, 1024, 2048, 8, 50304
    scores = 4 * batch * sequence * sequence * hidden * count
    rest = 24 * batch * sequence * hidden ** 2 * count + 2 * batch * sequence * hidden * vocabulary
    share = scores / (scores + rest)
    for name, part in (("attention", share), ("matrix", 1 - share)):
        figures = layers(*plain, f"tails={{{name}: 3}}")
        check.near(figures["p50_s"] / figures["even_s"], 1 - part + 3 * part, f"share of {name}", 1e-6)
    for name in ("matrix", "attention", "norm", "elementwise"):
        slow = layers("compute.dispatch=0s", f"compute.{name}_time=1.5", "tails={device: 1}")["even_s"]
        figures = layers("compute.dispatch=0s", "transformer.granularity=layer", f"tails={{{name}: 1.5}}")
        check.near(figures["p95_s"] / slow, 1, f"{name} as slow kernels of the job", 1e-9)
        check.that(slow > figures["even_s"] * 1.001, f"{name} counts")
    varies = layers("tails={matrix: {normal: {mean: 1, deviation: 0.1}}}")
    check.that(varies["p99_s"] > varies["p50_s"] > varies["even_s"], f"varies: {varies}")
    for name in ("grouped", "scan"):
        done = run(stagesim, "run", "layers.yaml", "--set", f"tails.{name}=2", cwd=folder)
        check.that(f"note: tails.{name} changes nothing: " in done.stderr, done.stderr)
    hosts = run(stagesim, "run", "layers.yaml", "--set", "compute.dispatch=1s", "--set", "tails.matrix=2", cwd=folder)
    check.that("tails.matrix changes nothing: no computation takes longer" in hosts.stderr, "all wait for their hosts")


def recorded(stagesim, folder):
    """Two recorded replicas of four stages: sums of their own times on a pipeline of one micro-batch."""
    rows = ["step,replica,micro_batch,stage,forward,backward"]
    for replica in range(2):
        for batch in range(3):
            rows += [f"0,{replica},{batch},{stage},{1 + replica + batch / 10}s,2s" for stage in range(4)]
    (folder / "trace.csv").write_text("\n".join(rows) + "\n")
    figures = step(stagesim, folder, "--set", "batch={micro_batches: 1, micro: 1}", "--set", "parallel.data=2", "--set",
                   "tails={trace: trace.csv, steps: 3000}")
    for name, forward in (("p50_s", 2.1), ("p99_s", 2.2)):
        check.that(abs(figures[name] - 4 * forward - 8) < 1e-4, f"{name}: {figures[name]}")
    check.that(figures["stragglers"][0]["replica"] == 1, "the slow one")
    expected = 8 + 4 * 2.1
    check.that(abs(figures["mean_s"] - expected) < max(4 * figures["mean_error_s"], 1e-4), f"mean {figures['mean_s']}")
    error = run(stagesim, "check", "job.yaml", "--set", "parallel={pipeline: 2, data: 2}", "--set",
                "tails={trace: trace.csv}", cwd=folder, expect=1).stderr
    check.that("micro-batches were recorded on 4 stages, and the job has 2" in error, error)
    (folder / "trace.csv").write_text("\n".join(rows[:-1]) + "\n")
    error = run(stagesim, "check", "job.yaml", "--set", "tails={trace: trace.csv}", cwd=folder, expect=1).stderr
    check.that("micro-batch 2 of replica 1 in step 0 has not one row for each of the 4 stages" in error, error)


def no_step(stagesim, folder):
    done = run(stagesim, "run", "job.yaml", "--quantiles", "--set", "schedule=pipedream", "--set", "parallel.data=1",
               cwd=folder)
    check.that("no quantiles of the step: iterations overlap" in done.stderr, done.stderr)


def idle(stagesim, folder):
    """What is drawn for nothing is told: stages have no optimizer, and on one node nothing leaves it."""
    def told(*sets):
        done = run(stagesim, "run", "job.yaml", "--set", "tails.steps=100",
                   *[word for each in sets for word in ("--set", each)], cwd=folder)
        return [line.split(":")[1].split()[0] for line in done.stderr.splitlines() if " changes nothing: " in line]

    met = told("stages.gradient=1MB", "tails.link=1.5", "tails.forward=2", "tails.pause=1s")
    check.that(met == [], f"all of these meet something: {met}")
    check.that(told("tails.optimizer={uniform: [1, 2]}", "tails.micro_batch=2") == ["tails.optimizer"], "no optimizer")
    check.that(told("tails.weight=2", "tails.collective=2") == ["tails.weight", "tails.collective"], "none of both")
    one_node = ("platform=dgx-h100:1", "parallel.data=2", "stages.message=1MB")
    check.that(told(*one_node, "tails.link=1.5", "tails.transfer=2") == ["tails.link"], "nothing leaves the node")


def main():
    stagesim = binary_argument()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "job.yaml").write_text(STAGES_JOB)
        for test in (closed_forms, outputs, drawn, compared, keys, kernels, recorded, no_step, idle):
            test(stagesim, folder)
    return check.done()


if __name__ == "__main__":
    sys.exit(main())
