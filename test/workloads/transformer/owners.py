#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""owners STAGESIM: ranks that update whole tensors and broadcast them (transformer.zero_parts: tensors), as InternEvo's
optimizer does. Who owns what is computed here once more from a list of tensors; held against it are the bytes of every
broadcast, its time by the chain's formula, the optimizer's state, that gradients are all-reduced over all replicas, and
both engines, folded and not. What has no owners is refused."""
import collections
import csv
import json
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "support"))
import tool

STAGESIM = tool.binary_argument()
check = tool.Checker()
LAYERS, HIDDEN, FFN, VOCABULARY, LATENCY, BANDWIDTH = 6, 256, 704, 16384, 4e-6, 20e9
TABLE = str(tool.ROOT / "workloads/efficiency/A100-SXM4-80GB.csv")


def run(folder, *sets):
    job = {"platform": "mesh.xml", "workload": "transformer", "parallel": {"data": 8},
           "model": {"layers": LAYERS, "hidden": HIDDEN, "heads": 4, "ffn": FFN, "gated": True, "norm": "rms",
                     "sequence": 256, "vocabulary": VOCABULARY, "positions": 0, "biases": False, "tied": False},
           "batch": {"micro": 1, "micro_batches": 2}, "schedule": {"name": "1f1b"},
           "transformer": {"zero": 1, "zero_parts": "tensors", "gradients": "same", "bucket": "2MB"},
           "compute": {"precision": "bf16", "table": TABLE}, "communication": {"all_reduce": "ring"},
           "engine": "analytic", "output": {"trace": ["csv"], "replicas": "all"}}
    (folder / "job.yaml").write_text(json.dumps(job))
    done = tool.run(STAGESIM, "run", folder / "job.yaml", "-o", folder / "out", "--quiet",
                    *[option for each in sets for option in ("--set", each)], expect=None)
    if done.returncode:
        return done.stderr, []
    with open(folder / "out" / "operations.csv") as file:
        return json.loads((folder / "out" / "summary.json").read_text()), list(csv.DictReader(file))


def tensors(tensor, stage, stages):
    """Elements on one rank: a fused one of queries, keys and values, an output, two into the block and one out of it,
    two norms for each layer; the embedding; the output and its norm."""
    layers = [3 * HIDDEN * HIDDEN / tensor, HIDDEN * HIDDEN / tensor, *[HIDDEN * FFN / tensor] * 3, HIDDEN, HIDDEN]
    found = layers * (LAYERS // stages)
    found += [VOCABULARY * HIDDEN / tensor] if stage == 0 else []
    return found + ([VOCABULARY * HIDDEN / tensor, HIDDEN] if stage == stages - 1 else [])


def owners(sizes, ranks):
    """The largest first, to the rank with least; what each rank has, and how often."""
    loads = [0.0] * ranks
    for size in sorted(sizes, reverse=True):
        loads[loads.index(min(loads))] += size
    return collections.Counter(load for load in loads if load)


def broadcasts(folder):
    for mesh, tensor, stages, sharing in (({"data": 2}, 1, 1, 2), ({"data": 8}, 1, 1, 8), ({"data": 64}, 1, 1, 64),
                                          ({"data": 8, "tensor": 2}, 2, 1, 8), ({"data": 8, "pipeline": 2}, 1, 2, 8),
                                          ({"data": 64}, 1, 1, 4)):
        sets = [f"parallel.{axis}={size}" for axis, size in mesh.items()]
        if sharing < mesh["data"]:
            sets += [f"transformer.shard_ranks={sharing}"]
        summary, rows = run(folder, *sets)
        state = []
        for stage in range(stages):
            wanted = owners(tensors(tensor, stage, stages), sharing)
            found = [row for row in rows if row["kind"] == "parameter-gather" and int(row["stage"]) == stage]
            for rank in {row["rank"] for row in found}:
                own = [row for row in found if row["rank"] == rank]
                # what a member sends, on average: all but the last one hand on everything
                check.that(sorted(float(row["bytes"]) for row in own) ==
                           sorted(2 * size * count * (sharing - 1) / sharing for size, count in wanted.items()),
                           f"{sets}, rank {rank}: bytes of {wanted}")
            last = max(float(row["end_s"]) for row in found)
            first = min(float(row["data_start_s"]) for row in found)
            one_by_one = sum(count * ((sharing - 1) * LATENCY + 2 * size / BANDWIDTH) for size, count in wanted.items())
            # the root of a chain goes on before its last member, so that broadcasts of different sizes meet a little
            apart = len(wanted) * (sharing - 1) * LATENCY
            check.that(one_by_one - apart <= last - first <= one_by_one * (1 + 1e-6), f"{sets}: one after the other")
            state.append(12 * max(wanted))
        check.near(summary["memory"]["parts"]["optimizer_bytes"], max(state), f"{sets}: state of the largest owner")
        synced = {(row["collective"], row["ranks"]) for row in summary["collectives"] if row["collective"] !=
                  "broadcast" and row["ranks"] == mesh["data"]}
        check.that(synced == {("all-reduce", mesh["data"])}, f"{sets}: gradients over all replicas: {synced}")


def over_nodes(folder):
    """Over nodes of eight GPUs: as often as there are owners what `stagesim collective` says of one broadcast."""
    _, rows = run(folder, "parallel.data=64", "platform=dgx-a100:8")
    found = [row for row in rows if row["kind"] == "parameter-gather" and row["rank"] == "0"]
    check.that(found, "rank 0 is there")
    expected = 0
    for size, count in owners(tensors(1, 0, 1), 64).items():
        text = tool.run(STAGESIM, "collective", "broadcast", "--platform", "dgx-a100:8", "--engine", "analytic",
                        "--sizes", f"{int(2 * size)}:{int(2 * size)}:2", "--format", "csv").stdout
        row = next(csv.DictReader(line for line in text.splitlines() if not line.startswith("#")))
        expected += count * float(row["time_us"]) * 1e-6
    spent = max(float(row["end_s"]) for row in found) - min(float(row["start_s"]) for row in found)
    check.near(spent / expected, 1, "over nodes", 0.02)


def engines(folder):
    for sets in (["parallel.data=8"], ["parallel.data=16", "transformer.shard_ranks=4"],
                 ["parallel.data=4", "parallel.pipeline=2"]):
        times = [run(folder, *sets, *more)[0]["time"]["iteration_s"]
                 for more in ([], ["fold=off"], ["engine=simgrid"], ["engine=simgrid", "fold=off"])]
        check.near(times[1] / times[0], 1, f"{sets}: folded, analytic", 1e-9)
        check.near(times[3] / times[2], 1, f"{sets}: folded", 1e-9)
        check.near(times[2] / times[0], 1, f"{sets}: engines", 1e-4)
    equal = run(folder, "parallel.data=64", "transformer.zero_parts=equal")[0]["time"]["iteration_s"]
    check.that(run(folder, "parallel.data=64")[0]["time"]["iteration_s"] > equal, "equal parts are gathered at once")


def refused(folder):
    for sets in (["model.experts=4", "model.top_k=1", "model.expert_ffn=64"], ["transformer.adapter_rank=8"]):
        text, _ = run(folder, *sets)
        check.that("expected zero_parts: equal" in str(text), f"{sets}: {str(text)[:200]}")


with tempfile.TemporaryDirectory() as name:
    root = pathlib.Path(name)
    tool.write_mesh(root / "mesh.xml", 64, f"{LATENCY}s", f"{BANDWIDTH}Bps")
    for part in (broadcasts, over_nodes, engines, refused):
        part(root)
