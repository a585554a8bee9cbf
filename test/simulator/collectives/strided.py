#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""strided.py STAGESIM: what the platform's property collective_strided_efficiency slows down. Gradients are summed up
over two nodes in groups of one rank of a node, of ranks that are neighbours, and of ranks that are not: only for these
a share of 1/4 has to be the same as a quarter of the network's bandwidth, and for the others it has to be the same as
no property."""
import json
import pathlib
import subprocess
import sys
import tempfile

STAGESIM = pathlib.Path(sys.argv[1]).resolve()
PROPERTY = '<prop id="collective_strided_efficiency" value="0.25"/>'
# Ranks of a node in a group: tensor-parallel ranks, which lie side by side, are the stride.
CASES = {"one": (8, False), "strided": (2, True), "strided pairs": (4, True), "neighbours": (1, False)}
faults = []


def near(value, expected, what):
    if abs(value - expected) > 1e-9 * expected:
        faults.append(f"{what}: {value!r}, not {expected!r}")


def make_platforms(folder):
    subprocess.run([STAGESIM, "platform", "generate", "dgx-a100", "--nodes", "2", "-o", folder / "plain.xml"],
                   check=True)
    text = (folder / "plain.xml").read_text()
    (folder /
     "strided.xml").write_text(text.replace('<prop id="collective_launch"', PROPERTY + '<prop id="collective_launch"'))
    quarter = text.replace('bandwidth="22.5GBps"', 'bandwidth="5.625GBps"').replace('bandwidth="180GBps"',
                                                                                    'bandwidth="45GBps"')
    (folder / "quarter.xml").write_text(quarter)
    if PROPERTY not in (folder / "strided.xml").read_text() or quarter == text:
        sys.exit("the generated platform is not as expected")


def seconds(folder, platform, tensor, engine, algorithm, mode):
    (folder / "job.yaml").write_text(f"""platform: {platform}.xml
workload: transformer
model: {{layers: 2, hidden: 4096, heads: 32, sequence: 1024, vocabulary: 32000}}
parallel: {{tensor: {tensor}, data: {16 // tensor}}}
order: [tensor, data]
batch: {{micro: 1, micro_batches: 1}}
schedule: 1f1b
communication: {{overlap: false, all_reduce: {algorithm}, collectives: {mode}}}
compute: {{precision: bf16, efficiency: 0.5}}
engine: {engine}
""")
    done = subprocess.run([STAGESIM, "run", folder / "job.yaml", "-o", folder / "out", "--quiet"], capture_output=True,
                          text=True, timeout=60)
    if done.returncode:
        sys.exit(done.stderr)
    return json.loads((folder / "out" / "summary.json").read_text())["time"]["iteration_s"]


with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)
    make_platforms(folder)
    for engine, algorithm, mode in (("analytic", "ring", "steady"), ("simgrid", "ring", "steady"),
                                    ("simgrid", "ring", "stepwise"), ("analytic", "double-tree", "steady")):
        for case, (tensor, slowed) in CASES.items():
            plain, strided, quarter = (seconds(folder, platform, tensor, engine, algorithm, mode)
                                       for platform in ("plain", "strided", "quarter"))
            label = f"{engine}, {algorithm}, {mode}, {case}"
            near(strided, quarter if slowed else plain, label)
            if quarter < 1.02 * plain:
                faults.append(f"{label}: the network does not matter")
print("\n".join(faults) or "all hold")
sys.exit(bool(faults))
