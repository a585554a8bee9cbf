#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tied STAGESIM: the gradient of a token embedding of which the first and the last stage have a copy each. Its size and
time by formula, when it is exchanged, who takes part, what is held, under all kinds of placements, sharded and divided
in every way, on both engines, folded and not; and that nothing is exchanged where both stages are on the same
workers."""
import csv
import json
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "support"))
import tool

STAGESIM = tool.binary_argument()
check = tool.Checker()
HIDDEN, VOCABULARY, LATENCY, BANDWIDTH = 256, 16384, 4e-6, 20e9
MATRIX = HIDDEN * VOCABULARY
TABLE = str(tool.ROOT / "workloads/efficiency/A100-SXM4-80GB.csv")


def run(folder, *sets):
    """The summary, and rows of operations.csv."""
    job = {"platform": "mesh.xml", "workload": "transformer", "parallel": {"pipeline": 4},
           "model": {"layers": 16, "hidden": HIDDEN, "heads": 4, "sequence": 256, "vocabulary": VOCABULARY},
           "batch": {"micro": 1, "micro_batches": 8}, "schedule": {"name": "1f1b"},
           "compute": {"precision": "bf16", "table": TABLE}, "communication": {"all_reduce": "ring"},
           "engine": "analytic", "output": {"trace": ["csv"], "replicas": "all"}}
    (folder / "job.yaml").write_text(json.dumps(job))
    tool.run(STAGESIM, "run", folder / "job.yaml", "-o", folder / "out", "--quiet",
             *[option for each in sets for option in ("--set", each)])
    with open(folder / "out" / "operations.csv") as file:
        return json.loads((folder / "out" / "summary.json").read_text()), list(csv.DictReader(file))


def holders(rows, stage):
    return {int(row["rank"]) for row in rows if row["kind"] == "F" and int(row["stage"]) == stage}


def synced(rows, size):
    return [row for row in rows if row["kind"] == "gradient-sync" and float(row["bytes"]) == size]


def placements(folder):
    """Of one replica with fp32 gradients: 2 (r - 1)/r of the matrix' bytes at each of r = 2 workers."""
    size = 4 * MATRIX
    together = {"zb-v", "v-half", "dualpipe-v", "chimera", "dualpipe", "gems", "1f1b-v", "hanayo"}
    for schedule in ("1f1b", "gpipe", "interleaved", "breadth-first", "zb-h1", "bpipe", "pipedream",
                     "pipedream-2bw", *sorted(together)):
        name = f"schedule.name={schedule}"
        both, rows = run(folder, name)
        last = max(int(row["stage"]) for row in rows if row["kind"] == "F")
        ends = holders(rows, 0) | holders(rows, last)
        apart = holders(rows, 0) != holders(rows, last)
        check.that(apart == (schedule not in together), f"{schedule}: where the stages are")
        exchanged = synced(rows, size)
        check.that({int(row["rank"]) for row in exchanged} == (ends if apart else set()), f"{schedule}: who exchanges")
        for row in exchanged:
            check.near(float(row["end_s"]) - float(row["data_start_s"]), 2 * LATENCY + size / BANDWIDTH,
                       f"{schedule}: its time")
        _, rows = run(folder, name, "model.tied=false")
        check.that(not synced(rows, size) or not apart, f"{schedule}: exchanged although it is not tied")
        simulated, _ = run(folder, name, "engine=simgrid")
        # SimGrid's messages of no bytes have a thousandth of one; two pipelines meet in links
        tolerance = 1e-6 if schedule not in ("chimera", "gems", "hanayo") else 1e-3
        check.near(simulated["time"]["iteration_s"] / both["time"]["iteration_s"], 1, f"{schedule}: engines", tolerance)


def moment(rows, size, what):
    """After all the worker's gradients are synchronised and computed; both workers' steps wait for it."""
    tied = [row for row in synced(rows, size) if row["stage"] in ("0", "3")]
    check.that(tied, f"{what}: exchanged")
    for row in tied:
        own = [other for other in rows if other["rank"] == row["rank"] and other is not row]
        before = [float(other["end_s"]) for other in own if other["kind"] in ("F", "B", "W", "gradient-sync")]
        check.that(float(row["start_s"]) >= max(before) - 1e-12, f"{what}: it comes last of all gradients")
        steps = [float(other["start_s"]) for other in own if other["kind"] == "optimizer"]
        check.that(steps and min(steps) >= float(row["end_s"]) - 1e-12, f"{what}: steps wait")


def divided(folder):
    """V h/t parameters on a rank, a copy on every replica; sharded gradients by their parts."""
    for mesh, parts, sharing in (({"tensor": 2, "data": 2}, 2, 2), ({"context": 2, "data": 2}, 1, 4),
                                 ({"data": 4}, 1, 4)):
        axes = [f"parallel.{axis}={size}" for axis, size in mesh.items()]
        for zero in range(4):
            for precision, width in (("fp32", 4), ("same", 2)):
                size = width * MATRIX / parts / (sharing if zero >= 2 else 1)
                sets = axes + [f"transformer.zero={zero}", f"transformer.gradients={precision}"]
                _, rows = run(folder, *sets)
                found = [row for row in synced(rows, size) if row["stage"] in ("0", "3")]
                ends = holders(rows, 0) | holders(rows, 3)
                check.that({int(row["rank"]) for row in found} >= ends, f"{sets}: {size} bytes on each rank")
                moment(rows, size, f"{sets}")
    _, rows = run(folder, "parallel.data=4", "transformer.zero=2", "transformer.shard_ranks=2")
    check.that(synced(rows, 4 * MATRIX / 2), "with hybrid sharding the parts of those who share")
    _, rows = run(folder, "transformer.adapter_rank=8")
    check.that(not synced(rows, 4 * MATRIX), "a frozen embedding has no gradient")


def engines(folder):
    for sets in (["parallel.tensor=2", "parallel.data=2"], ["parallel.data=2", "schedule.name=interleaved"],
                 ["parallel.data=4", "transformer.zero=1"], ["parallel.data=2", "schedule.name=zb-h1"],
                 ["parallel.data=2", "iterations=3"], ["parallel.data=2", "communication.overlap=false"]):
        analytic, _ = run(folder, *sets)
        folded, _ = run(folder, *sets, "engine=simgrid")
        whole, _ = run(folder, *sets, "engine=simgrid", "fold=off")
        every, _ = run(folder, *sets, "fold=off")
        times = [each["time"]["iteration_s"] for each in (analytic, folded, whole, every)]
        check.near(times[1] / times[2], 1, f"{sets}: folded", 1e-9)
        check.near(times[0] / times[3], 1, f"{sets}: folded, analytic", 1e-9)
        check.near(times[0] / times[1], 1, f"{sets}: engines", 1e-6)


def held(folder):
    """With Adam in mixed precision 2 + 4 + 12 bytes of a parameter, of the fullest rank."""
    def static(*sets):
        return sum(value for key, value in run(folder, *sets)[0]["memory"]["parts"].items() if key !=
                   "activations_bytes")

    for schedule, saved in (("1f1b", 0), ("interleaved", 0), ("zb-v", 1), ("chimera", 1)):
        name = f"schedule.name={schedule}"
        check.near(static(name, "model.tied=false") - static(name), saved * 18 * MATRIX, f"{schedule}: held")
    # layers that predict further tokens need the embedding, and their stage has the output's matrix beside it
    further = ["model.predictions=1", "model.tied=false"]
    _, rows = run(folder, *further)
    check.that({int(row["rank"]) for row in synced(rows, 4 * MATRIX)} == {0, 3}, "further tokens: exchanged")
    near = [static("parallel.pipeline=2", f"schedule.name={name}", *further) for name in ("1f1b", "dualpipe-v")]
    _, rows = run(folder, *further, "schedule.name=dualpipe-v")
    check.that(not synced(rows, 4 * MATRIX), "further tokens: one embedding where both stages are together")
    check.that(near[0] > 0 and near[1] > 0, "further tokens: memory")


with tempfile.TemporaryDirectory() as name:
    root = pathlib.Path(name)
    tool.write_mesh(root / "mesh.xml", 16, f"{LATENCY}s", f"{BANDWIDTH}Bps")
    for part in (placements, divided, engines, held):
        part(root)
sys.exit(check.done())
