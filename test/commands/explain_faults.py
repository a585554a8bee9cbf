#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""explain_faults.py STAGESIM: faults that were put into a run (test/support/faulty_traces.py) are found by explain,
each as the part that it is, where it is, and with its cost within 5 %. The same runs in the form of PyTorch's profiler
are whole: kernels of a stream follow each other, each behind its launch, waits name records, and busy times are the
run's."""
import csv
import gzip
import io
import json
import pathlib
import sys
import tempfile
from collections import defaultdict

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import faulty_traces
import tool

# The parts of explain that a fault's cost is in, and what it says of the worst.
PARTS = {"slow-gpu": ({"slow-ranks"}, "rank 5"), "slow-link": ({"messages"}, "rank 1"),
         "host-gap": ({"gaps"}, "rank 3"),
         "uneven-micro-batches": ({"uneven-micro-batches"}, "micro-batches differ"),
         "garbage-collection": ({"pauses"}, "2 computations"), "slow-layer": ({"uneven-stages"}, "stage 1"),
         "wrong-schedule": ({"order"}, ""), "recomputation": ({"backwards"}, ""),
         "other-job": ({"messages", "collectives"}, "")}
# The part of the replay of its kernels that has the cost, where the ranks' kernels are enough to see it.
KERNELS = {"slow-gpu": "slow-ranks", "slow-link": "transfers", "host-gap": "host", "garbage-collection": "host",
           "slow-layer": "slow-ranks", "recomputation": "computation", "other-job": "transfers"}
# No fault has anything to do with what is left.
REST = 0.05


def parts_of(binary, folder, name):
    result = tool.run(binary, "explain", folder / "scenario.yaml", folder / name / "operations.csv", "--format", "csv")
    rows = list(csv.reader(io.StringIO(result.stdout)))
    head = rows[0]
    found = {}
    for row in rows[1:]:
        if len(row) == len(head):
            found[row[0]] = (float(row[1]), row[-1])
    return found


def check_explained(check, binary, folder, truth):
    for name, (wanted, worst) in PARTS.items():
        found = parts_of(binary, folder, name)
        cost, step = truth[name]["cost_s"], truth[name]["step_s"]
        check.near(found["measured"][0], step, f"{name}: the step", 1e-9)
        check.near(found["predicted"][0], truth["plain"]["step_s"], f"{name}: without it", 1e-9)
        charged = sum(found[part][0] for part in wanted)
        check.that(abs(charged - cost) <= 0.05 * cost, f"{name}: {charged} s, expected {cost} in {wanted}")
        check.that(any(worst in found[part][1] for part in wanted), f"{name}: {[found[part][1] for part in wanted]}")
        others = sum(abs(value) for part, (value, _) in found.items()
                     if part not in wanted | {"measured", "predicted"})
        check.that(others <= REST * cost, f"{name}: {others} s in other parts")
    plain = parts_of(binary, folder, "plain")
    check.near(plain["measured"][0], plain["predicted"][0], "without a fault", 1e-9)


def check_layers(check, binary, folder):
    """Four layers of four kernels, of 3 ms forward and 6 ms backward; one is twice as slow."""
    for name, rank, slowest in (("plain", 0, 1), ("slow-layer", 1, 2)):
        tool.run(binary, "explain", folder / name / f"rank-{rank}.json.gz", "-o", folder / "layers", "--quiet")
        rows = json.loads((folder / "layers/explain.json").read_text())["layers"]
        check.that([row["kernels"] for row in rows] == [4, 4], f"{name}: {rows}")
        for row, seconds in zip(rows, (3e-3, 6e-3)):
            check.near(row["seconds"], seconds, f"{name}: a layer", 1e-6)
            check.near(row["slowest"], slowest, f"{name}: the slowest layer", 1e-3)
            check.that(row["times"] >= 12, f"{name}: {row['times']} layers in a row")
        tool.run("rm", "-rf", folder / "layers")


def replay_of(binary, folder, name, *scenario):
    ranks = sorted((folder / name).glob("rank-*.json.gz"))
    tool.run("rm", "-rf", folder / name / "why")
    tool.run(binary, "explain", *scenario, *ranks, "-o", folder / name / "why", "--quiet")
    found = json.loads((folder / name / "why/explain.json").read_text())
    return found["measured_s"], found["replay"]


def check_replayed(check, binary, folder, truth):
    """Kernels and launches replayed: the recorded step comes out, and a fault's cost is in one part."""
    check_layers(check, binary, folder)
    _, plain = replay_of(binary, folder, "plain")
    for name, part in KERNELS.items():
        measured, replay = replay_of(binary, folder, name)
        cost = truth[name]["cost_s"]
        check.near(replay["step"], measured, f"{name}, kernels: the step", 1e-9)
        check.near(sum(replay.values()), 2 * replay["step"], f"{name}, kernels: parts add up", 1e-9)
        check.that(abs(replay[part] - plain[part] - cost) <= 0.05 * cost,
                   f"{name}, kernels: {part} {replay[part] - plain[part]} s, expected {cost}")


# What of the cost is on the scenario's links: every pair of ranks has one of its own, so that nothing is in its way.
ON_LINKS = {"slow-gpu": "slow-ranks", "slow-link": "slow-transfers", "other-job": "slow-transfers"}


def check_on_links(check, binary, folder, truth):
    """With the scenario, transfers are compared with what they take on its links."""
    _, before = replay_of(binary, folder, "plain", folder / "scenario.yaml")
    total = before["transfers"]
    for part in ("slow-transfers", "contention"):
        check.that(abs(before[part]) < 0.01 * total, f"plain on its links: {part} {before[part]} s of {total} s")
    for name, part in ON_LINKS.items():
        measured, replay = replay_of(binary, folder, name, folder / "scenario.yaml")
        cost = truth[name]["cost_s"]
        check.near(sum(replay.values()), 2 * measured, f"{name}, on the links: parts add up", 1e-9)
        check.that(abs(replay[part] - before[part] - cost) <= 0.05 * cost,
                   f"{name}, on the links: {part} {replay[part] - before[part]} s, expected {cost}")


def spans(events, category):
    return sorted((event for event in events if event["cat"] == category), key=lambda event: event["ts"])


def check_profile(check, path, job):
    """One rank of `job`, the replayed run."""
    what = f"{path.parent.name}/{path.name}"
    with gzip.open(path, "rt", encoding="utf-8") as file:
        trace = json.load(file)
    events, rank = trace["traceEvents"], trace["distributedInfo"]["rank"]
    kernels = spans(events, "kernel")
    check.that(all(event["dur"] >= 0 for event in events), f"{what}: an event that ends before it begins")
    launches = {event["args"]["correlation"]: event for event in spans(events, "cuda_runtime")}
    by_stream = defaultdict(list)
    for kernel in kernels:
        launch = launches[kernel["args"]["correlation"]]
        check.that(launch["name"] == "cudaLaunchKernel" and launch["ts"] < kernel["ts"], f"{what}: a launch too late")
        by_stream[kernel["args"]["stream"]].append(kernel)
    for stream, own in by_stream.items():
        late = [after["ts"] - before["ts"] - before["dur"] for before, after in zip(own, own[1:])]
        check.that(min(late, default=0) > -0.01, f"{what}: kernels of stream {stream} overlap")
    for wait in spans(events, "cuda_sync"):
        record = launches[wait["args"]["wait_on_cuda_event_record_corr_id"]]
        check.that(record["name"] == "cudaEventRecord" and wait["args"]["correlation"] in launches, f"{what}: a wait")
    busy = 1e-6 * sum(kernel["dur"] for kernel in by_stream[7])
    rows = [one for one in job if one.rank == rank and one.type == "compute"]
    expected = sum(one.end - one.start - one.pause for one in rows)
    check.that(abs(busy - expected) < 1e-6 * len(kernels), f"{what}: {busy} s busy, not {expected}")
    communicates = [one for one in job if one.rank == rank and one.type != "compute"]
    check.that(sum(len(own) for stream, own in by_stream.items() if stream != 7) == len(communicates),
               f"{what}: messages and collectives")


def check_profiles(check, folder):
    job = faulty_traces.Job(folder / "run/operations.csv")
    job.replay()
    for path in sorted((folder / "plain").glob("rank-*.json.gz")):
        check_profile(check, path, job.operations.values())
    for name in ("host-gap", "garbage-collection", "recomputation"):
        faulty = faulty_traces.Job(folder / "run/operations.csv")
        faulty_traces.FAULTS[name](faulty)
        faulty.replay()
        for rank in (2, 3):
            check_profile(check, folder / name / f"rank-{rank}.json.gz", faulty.operations.values())


def check_clock(check, folder, truth):
    """Only one rank's times are others, all by the same."""
    wrong = truth["bad-clock"]["rank"]
    for rank in (wrong, wrong - 1):
        both = []
        for name in ("plain", "bad-clock"):
            with gzip.open(folder / name / f"rank-{rank}.json.gz", "rt", encoding="utf-8") as file:
                both.append([event["ts"] for event in json.load(file)["traceEvents"]])
        expected = 1e6 * truth["bad-clock"]["seconds"] if rank == wrong else 0
        check.that(all(abs(late - early - expected) < 0.01 for early, late in zip(*both)), f"the clock of rank {rank}")


def explain_profiles(binary, folder, name):
    """explain.json of the profiles of all ranks."""
    files = sorted((folder / name).glob("rank-*.json.gz"))
    tool.run(binary, "explain", *map(str, files), "-o", folder / f"why-{name}", "--quiet")
    return json.loads((folder / f"why-{name}/explain.json").read_text())


def check_mesh(check, binary, folder):
    """Pipelines of 4 neighbours, replicas 4 apart: by what Megatron-LM calls their groups, by what they exchange."""
    for name, told in (("plain", True), ("untold", False)):
        if not told:
            (folder / name).mkdir()
            for path in (folder / "plain").glob("rank-*.json.gz"):
                text = gzip.decompress(path.read_bytes()).decode()
                for description in ("DATA_PARALLEL_GROUP", "PIPELINE_MODEL_PARALLEL_GROUP"):
                    text = text.replace(description, "undefined")
                (folder / name / path.name).write_bytes(gzip.compress(text.encode()))
        found = explain_profiles(binary, folder, name)["mesh"]
        kept = [(axis["axis"], axis["size"], axis["stride"], axis["told"]) for axis in found]
        check.that(kept == [("pipeline", 4, 1, told), ("data", 2, 4, told)], f"mesh, {name}: {found}")
        check.near(next(axis["bytes"] for axis in found if axis["axis"] == "data"), 8 * 100e6, f"mesh, {name}: bytes")
    files = sorted(map(str, (folder / "plain").glob("rank-*.json.gz")))
    result = tool.run(binary, "explain", folder / "scenario.yaml", *files, "--set", "parallel={pipeline: 2, data: 4}",
                      expect=1)
    check.that("the scenario has pipeline: 2, the process groups of the trace have 4" in result.stderr, result.stderr)
    result = tool.run(binary, "explain", files[0], files[1])
    check.that("mesh         pipeline 4, data 2\n" in result.stdout, f"the mesh of two ranks: {result.stdout}")
    missing = "2 of 4 pipeline workers have no rank in the trace, the first of them is worker 2"
    check.that(missing in result.stdout, f"what two ranks lack: {result.stdout}")
    result = tool.run(binary, "explain", *files[4:])
    check.that("pipeline workers have no rank" not in result.stdout, f"a whole pipeline: {result.stdout}")


def check_clock_explained(check, binary, folder, truth):
    """The clock is put right, by as much as it is off, and nothing is charged to it."""
    wrong, seconds = truth["bad-clock"]["rank"], truth["bad-clock"]["seconds"]
    plain, found = (explain_profiles(binary, folder, name) for name in ("plain", "bad-clock"))
    for rank in found["ranks"]:
        expected = -seconds if rank["rank"] == wrong else 0
        check.that(abs(rank["clock_shift_s"] - expected) < 1e-5, f"rank {rank['rank']}: {rank['clock_shift_s']} s")
    notes = [note for note in found["notes"] if f"the clock of rank {wrong} is 13.70 ms ahead of" in note]
    check.that(len(notes) == 1, f"what is said of the clock: {found['notes']}")
    check.that(not any("clock" in note for note in plain["notes"]), f"clocks that agree: {plain['notes']}")
    for part, value in plain["parts"].items():
        check.that(abs(found["parts"][part] - value) < 1e-5, f"{part}: {found['parts'][part]} s, {value} s without")


def main():
    check, binary = tool.Checker(), tool.binary_argument()
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        truth = faulty_traces.make(binary, folder)
        costs = [values["cost_s"] for name, values in truth.items() if name not in ("plain", "bad-clock")]
        check.that(len(costs) == 9 and min(costs) > 0.01, f"faults that cost nothing: {truth}")
        check_explained(check, binary, folder, truth)
        check_replayed(check, binary, folder, truth)
        check_on_links(check, binary, folder, truth)
        check_profiles(check, folder)
        check_clock(check, folder, truth)
        check_clock_explained(check, binary, folder, truth)
        check_mesh(check, binary, folder)
    return check.done()


if __name__ == "__main__":
    sys.exit(main())
