#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""uneven_files.py STAGESIM: schedule files whose stages are no multiple of the workers, fewer or more.

Costs are given for the workers' shares, 1/D of the model each. `schedule`, `run` and an evaluation of the file made
here agree on the time, for one cost and for a list; a stage's cost is what its part of the model contains. `check`
accepts what `run` does."""
import fractions
import itertools
import json
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import tool


def stage_cost(shares, stages, stage):
    """The integral of the shares over stage/stages .. (stage + 1)/stages of the model."""
    d, total = len(shares), fractions.Fraction(0)
    begin, end = fractions.Fraction(stage, stages), fractions.Fraction(stage + 1, stages)
    for share, value in enumerate(shares):
        low, high = max(begin, fractions.Fraction(share, d)), min(end, fractions.Fraction(share + 1, d))
        total += max(high - low, 0) * d * fractions.Fraction(value)
    return total


def placement(workers, stages):
    """The workers that hold each stage: the stages in turn, or with fewer stages than workers the workers in turn, each
    a pipeline."""
    if stages >= workers:
        return [[stage % workers for stage in range(stages)]]
    assert workers % stages == 0
    return [[pipeline * stages + stage for stage in range(stages)] for pipeline in range(workers // stages)]


def orders(workers, stages, micro_batches):
    """GPipe: (kind, stage, micro-batch, pipeline) of each worker; micro-batches take the pipelines in turn."""
    pipelines = placement(workers, stages)
    rows = [[] for _ in range(workers)]
    for kind, micro_batch in itertools.product("FB", range(micro_batches)):
        pipeline = micro_batch % len(pipelines)
        for stage in range(stages) if kind == "F" else reversed(range(stages)):
            rows[pipelines[pipeline][stage]].append((kind, stage, micro_batch, pipeline))
    return rows


def makespan(rows, stages, costs):
    """Slots start in their worker's order as soon as the stage before (after) has done the micro-batch."""
    ends, free, at, left = {}, [fractions.Fraction(0)] * len(rows), [0] * len(rows), sum(map(len, rows))
    while left:
        for worker, order in enumerate(rows):
            while at[worker] < len(order):
                kind, stage, micro_batch, _ = order[at[worker]]
                if kind == "F":
                    needs = [("F", stage - 1, micro_batch)] if stage else []
                else:
                    needs = [("F", stage, micro_batch)] + ([("B", stage + 1, micro_batch)] if stage + 1 < stages
                                                           else [])
                if any(need not in ends for need in needs):
                    break
                start = max([free[worker]] + [ends[need] for need in needs])
                free[worker] = ends[kind, stage, micro_batch] = start + costs[kind][stage]
                at[worker] += 1
                left -= 1
    return max(free)


def scenario(folder, workers, micro_batches, forward, backward):
    shares = [", ".join(f"{value}s" for value in values) for values in (forward, backward)]
    (folder / "uneven.yaml").write_text(f"platform: ideal.xml\nworkload: stages\nstages: {{forward: [{shares[0]}], "
                                        f"backward: [{shares[1]}]}}\nparallel: {{pipeline: {workers}}}\n"
                                        f"batch: {{micro_batches: {micro_batches}}}\nschedule: {{file: uneven.csv}}\n")


def one(check, binary, folder, workers, stages, forward, backward):
    micro_batches, what = 4, f"D={workers} S={stages} forward {forward} backward {backward}"
    rows = orders(workers, stages, micro_batches)
    lines = ["worker,kind,stage,micro_batch,pipeline"]
    lines += [f"{worker},{kind},{stage},{micro},{pipeline}" for worker, order in enumerate(rows) for kind, stage, micro,
              pipeline in order]
    (folder / "uneven.csv").write_text("\n".join(lines) + "\n")
    whole = {kind: values * workers if len(values) == 1 else values for kind,
             values in (("F", forward), ("B", backward))}
    costs = {kind: [stage_cost(values, stages, stage) for stage in range(stages)] for kind, values in whole.items()}
    expected = float(makespan(rows, stages, costs))
    drawn = tool.run(binary, "schedule", folder / "uneven.csv", "--forward", ",".join(map(str, forward)), "--backward",
                     ",".join(map(str, backward)), "--format", "json").stdout
    check.near(json.loads(drawn)["time"]["iteration_s"], expected, f"schedule of {what}")
    scenario(folder, workers, micro_batches, forward, backward)
    tool.run(binary, "check", folder / "uneven.yaml")
    check.near(
        tool.summary(binary, folder / "uneven.yaml", folder / "out", "--engine", "analytic")["time"]["iteration_s"],
        expected, f"run of {what}")


def main():
    check, binary = tool.Checker(), tool.binary_argument()
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        tool.write_mesh(folder / "ideal.xml", 6)
        for workers, stages in [(1, 3), (2, 1), (2, 3), (2, 5), (3, 2 * 3), (3, 4), (3, 5), (4, 2), (4, 6), (4, 7),
                                (6, 3), (5, 13)]:
            one(check, binary, folder, workers, stages, [1], [2])
            one(check, binary, folder, workers, stages, [1 + 0.5 * i for i in range(workers)],
                [7 - 0.75 * i for i in range(workers)])
    return check.done()


if __name__ == "__main__":
    sys.exit(main())
