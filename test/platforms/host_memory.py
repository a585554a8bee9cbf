#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""host_memory.py STAGESIM PLATFORMS: stashes that move to host memory take the PCI Express links of the platform. A
transfer alone takes latency and bytes over the narrowest link; two workers of one switch share its way up and take
twice as long, workers of two switches do not; memory is given back when a transfer out ends and taken when one back
begins; only the backward of a stash waits for it; and platforms without such links are refused."""
import csv
import pathlib
import subprocess
import sys
import tempfile

STAGESIM, PLATFORMS = str(pathlib.Path(sys.argv[1]).resolve()), pathlib.Path(sys.argv[2]).resolve()
BYTES = 2.4e9
# pcie-a100-8.xml: 24 GB/s and 1.5 us on pcie, 24 GB/s and 0.5 us on root, of two devices each.
ALONE = BYTES / 24e9 + 2e-6
faults = 0


def expect(good, what):
    global faults
    if not good:
        print(what)
        faults += 1


def order(workers):
    """Two forwards, both stashes out; both back; two backwards, on every worker of a stage each."""
    rows = ["worker,kind,stage,micro_batch"]
    for w in range(workers):
        rows += [f"{w},{kind},{w},{m}" for kind, m in (("F", 0), ("F", 1), ("E", 0), ("E", 1), ("L", 0), ("L", 1),
                                                      ("B", 0), ("B", 1))]
    return "\n".join(rows) + "\n"


def run(folder, engine, workers, platform="pcie-a100-8.xml", more=""):
    (folder / "s.csv").write_text(order(workers))
    (folder / "s.yaml").write_text(f"""platform: {PLATFORMS / platform}
workload: stages
parallel: {{pipeline: {workers}}}
batch: {{micro_batches: 2}}
schedule: {{file: s.csv}}
stages: {{forward: 1ms, backward: 2ms, activation: {BYTES:.0f}B}}
{more}""")
    out = folder / f"{engine}-{workers}-{platform}"
    done = subprocess.run([STAGESIM, "run", folder / "s.yaml", "--engine", engine, "--quiet", "--trace", "csv", "-o",
                           out], capture_output=True, text=True)
    if done.returncode:
        return done.stderr, None
    with open(out / "operations.csv", newline="") as file:
        operations = list(csv.DictReader(file))
    with open(out / "memory.csv", newline="") as file:
        return operations, list(csv.DictReader(file))


def of(operations, rank, kind, micro_batch, stream=""):
    return next(row for row in operations if (row["rank"], row["kind"], row["micro_batch"]) ==
                (str(rank), kind, str(micro_batch)) and row["stream"].startswith(stream))


def near(a, b):
    return abs(a - b) <= 1e-6 * max(abs(a), abs(b))


def times(row):
    return float(row["data_start_s"]), float(row["end_s"])


def check(folder, engine):
    operations, memory = run(folder, engine, 1)
    if memory is None:
        expect(False, operations)
        return
    out, back = (times(of(operations, 0, kind, 0, "send")) for kind in ("offload", "load"))
    expect(near(out[0], 1e-3) and near(out[1] - out[0], ALONE), f"{engine}: out {out}, expected {ALONE} from 0.001 on")
    expect(near(back[0], out[1]) and near(back[1] - back[0], ALONE), f"{engine}: back {back}")
    # The second forward waits for nothing, the backward for its stash.
    expect(near(times(of(operations, 0, "F", 1))[1], 2e-3), f"{engine}: a forward waits")
    expect(near(times(of(operations, 0, "B", 0))[0], back[1]), f"{engine}: the backward does not wait for its stash")
    second = times(of(operations, 0, "offload", 1, "send"))
    expect(near(second[0], out[1]), f"{engine}: the second stash leaves at {second[0]}, the first has at {out[1]}")
    held = [(float(row["time_s"]), float(row["bytes"])) for row in memory]
    at = [[b for t, b in held if t <= when][-1] / BYTES
          for when in (0.5e-3, 1.5e-3, out[1] - 1e-5, out[1] + 1e-5, back[1] + 2.5e-3)]
    # What has left begins to come back at once: its room is taken again, until its backward has ended.
    expect(at == [1, 2, 2, 2, 1] and max(b for _, b in held) == 2 * BYTES, f"{engine}: holds {at}")
    expect(min(b for t, b in held if t > 2e-3 and t < back[1]) == BYTES, f"{engine}: gives nothing back: {held}")

    operations, _ = run(folder, engine, 4)
    for rank in range(4):
        start, end = times(of(operations, rank, "offload", 0, "send"))
        shared = engine == "simgrid"
        # Ranks 0 and 1 share a way up, and begin 1 ms apart: the first has the link for itself meanwhile.
        least, most = (1.9, 2.0) if shared else (1, 1)
        expect(least * ALONE * (1 - 1e-3) <= end - start <= most * ALONE * (1 + 1e-3),
               f"{engine}: rank {rank} takes {(end - start) / ALONE} times as long as alone")

    message, refused = run(folder, engine, 2, "ideal-8.xml")
    expect(refused is None and "does not say how host" in message and "pcie" in message, f"{engine}: {message}")


with tempfile.TemporaryDirectory() as temporary:
    for name in ("analytic", "simgrid"):
        check(pathlib.Path(temporary), name)
print(f"{faults} faults")
sys.exit(1 if faults else 0)
