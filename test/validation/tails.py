#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tails.py STAGESIM: steps of recorded jobs (traces/timeline-*.json.gz, arXiv 2505.05713) that were held out. Every
other step gives the recorded micro-batches that are drawn, whole; the quantiles are compared with those of the steps
in between. A step is what its slowest replica takes from its first forward to its last backward. Who takes medians, or
draws each computation for itself, predicts uneven sequences far too fast: that is shown beside."""
import collections
import gzip
import json
import pathlib
import re
import statistics
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "support"))
from tool import Checker, binary_argument, run

check = Checker()
KINDS = {"forward-compute": 0, "backward-compute": 1}


def read(name):
    """{step: {(replica, stage, micro-batch, backward): (begin, end) in seconds}}"""
    with gzip.open(HERE / "traces" / f"timeline-{name}.json.gz") as file:
        events = json.load(file)
    stages = {(event["pid"], event["tid"]): int(re.search(r"PP rank (\d+)", event["args"]["name"]).group(1))
              for event in events if event["name"] == "thread_name"}
    steps = collections.defaultdict(dict)
    for event in events:
        if event["ph"] == "X" and event["name"] in KINDS:
            key = event["pid"], stages[event["pid"], event["tid"]], event["args"]["mb_id"], KINDS[event["name"]]
            steps[event["args"]["step"]][key] = event["ts"] / 1e6, (event["ts"] + event["dur"]) / 1e6
    return dict(steps)


def measured(step):
    spans = collections.defaultdict(lambda: [float("inf"), 0])
    for (replica, *_), (begin, end) in step.items():
        spans[replica] = [min(spans[replica][0], begin), max(spans[replica][1], end)]
    return max(end - begin for begin, end in spans.values())


def write_trace(path, steps):
    rows = ["step,replica,micro_batch,stage,forward,backward"]
    for number, step in steps.items():
        for replica, stage, batch, backward in sorted(step):
            if not backward:
                times = [end - begin for begin, end in (step[replica, stage, batch, way] for way in (0, 1))]
                rows.append(f"{number},{replica},{batch},{stage},{times[0]:.7f}s,{times[1]:.7f}s")
    path.write_text("\n".join(rows) + "\n")


def quantile(values, share):
    values = sorted(values)
    place = share * (len(values) - 1)
    low = int(place)
    return values[low] + (place - low) * (values[min(low + 1, len(values) - 1)] - values[low])


def predict(stagesim, folder, steps, tails):
    replicas, stages, batches = (len({key[i] for step in steps.values() for key in step}) for i in range(3))
    means = [[statistics.mean(end - begin for step in steps.values() for key, (begin, end) in step.items()
                              if key[1] == stage and key[3] == way) for stage in range(stages)] for way in (0, 1)]
    text = [", ".join(f"{seconds:.6f}s" for seconds in times) for times in means]
    (folder / "job.yaml").write_text(
        f"platform: dgx-h100:{-(-replicas * stages // 8)}\nworkload: stages\n"
        f"stages: {{forward: [{text[0]}], backward: [{text[1]}]}}\n"
        f"parallel: {{pipeline: {stages}, data: {replicas}}}\nbatch: {{micro_batches: {batches}, micro: 1}}\n"
        f"schedule: 1f1b\nengine: analytic\ntails: {{{tails}, steps: 2000}}\n")
    row = json.loads(run(stagesim, "run", "job.yaml", "--format", "json", "--quiet", cwd=folder).stdout)[0]
    return row["iteration_s"], row["step_p50_s"], row["step_p95_s"]


def main():
    stagesim = binary_argument()
    for name in ("AR", "SE", "ST"):
        steps = read(name)
        numbers = sorted(steps)
        fitted, held = ({number: steps[number] for number in numbers[i::2]} for i in (0, 1))
        times = [measured(step) for step in held.values()]
        p50, p95 = quantile(times, 0.5), quantile(times, 0.95)
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            write_trace(folder / "trace.csv", fitted)
            even, *found = predict(stagesim, folder, fitted, "trace: trace.csv")
            alone = [end - begin for step in fitted.values() for begin, end in step.values()]
            spread = statistics.pstdev(alone) / statistics.mean(alone)
        errors = found[0] / p50 - 1, found[1] / p95 - 1
        print(f"{name}: {len(held)} steps held out, p50 {p50:.4f} s, p95 {p95:.4f} s; drawn {100 * errors[0]:+.2f} %, "
              f"{100 * errors[1]:+.2f} %; means alone {100 * (even / p50 - 1):+.1f} %, cv {spread:.2f}")
        check.that(abs(errors[0]) < 0.02 and abs(errors[1]) < 0.04, f"{name}: {errors}")
    return check.done()


if __name__ == "__main__":
    sys.exit(main())
