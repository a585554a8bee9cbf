#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""deepep STAGESIM: published bandwidths of DeepEP and Hybrid-EP (deepep.csv) beside expert_exchange: deepep on presets
as they are; nothing is fitted to them. Prints each, and mean and bias by where the limit lies; fails where a group is
worse than it was."""
import csv
import itertools
import math
import pathlib
import subprocess
import sys
import tempfile

STAGESIM = pathlib.Path(sys.argv[1]).resolve()
HERE = pathlib.Path(__file__).resolve().parent
HIDDEN, TOP_K = 7168, 8
# Two releases of DeepEP, and Hybrid-EP, differ by as much on equal nodes: 57 to 61 GB/s on 32 ranks, 673 to 740 on 8.
BAR = 0.1

JOB = """platform: {platform}:{nodes}
workload: transformer
model: {{layers: 1, hidden: 7168, heads: 56, ffn: 2048, vocabulary: 1000, sequence: {tokens}, experts: {experts},
  top_k: 8, expert_groups: {groups}, top_groups: {top_groups}}}
parallel: {{data: {ranks}, expert: {ranks}}}
batch: {{micro: 1, micro_batches: 1}}
schedule: 1f1b
transformer: {{expert_exchange: deepep, granularity: layer, dispatch: {dispatch}{nodes_of}}}
compute: {{efficiency: 0.5}}
engine: analytic
output: {{trace: [csv]}}
"""


def holders(experts, among, groups, top):
    """Of `among` nodes or ranks, those that have some of a token's experts: all choices of groups counted."""
    each = experts // among
    if groups == 1:
        return among * (1 - math.comb(experts - each, TOP_K) / math.comb(experts, TOP_K))
    choices = list(itertools.combinations(range(groups), top))
    drawn = math.comb(experts * top // groups, TOP_K)
    total = 0
    for holder in range(among):
        first, last = holder * each, (holder + 1) * each
        for choice in choices:
            has = sum(max(0, min(last, (g + 1) * experts // groups) - max(first, g * experts // groups))
                      for g in choice)
            total += 1 - math.comb(experts * top // groups - has, TOP_K) / drawn
    return total / len(choices)


def seconds(folder, row, dispatch):
    """Of tokens on their way to experts, and back, in a forward."""
    ranks, node = int(row["ranks"]), int(row["node"])
    text = JOB.format(nodes=max(1, ranks // node), dispatch=dispatch,
                      nodes_of=f", expert_node: {node}" if ranks > node else "", **row)
    (folder / "job.yaml").write_text(text)
    done = subprocess.run([STAGESIM, "run", "job.yaml", "-o", "out", "--quiet"], cwd=folder,
                          capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{row}: {done.stderr}")
    with open(folder / "out" / "operations.csv") as file:
        rows = [r for r in csv.DictReader(file) if r["rank"] == "0" and r["kind"] == "expert"]
    each, rows = 2 if ranks > node else 1, sorted(rows, key=lambda r: float(r["start_s"]))
    sets = rows[:each], rows[each:2 * each]
    return [max(float(r["end_s"]) for r in found) - min(float(r["start_s"]) for r in found) for found in sets]


errors = {}
with tempfile.TemporaryDirectory() as name, open(HERE / "deepep.csv") as table:
    for row in csv.DictReader(line for line in table if not line.startswith("#")):
        among = int(row["ranks"]) // (int(row["node"]) if row["counts"] == "node" else 1)
        count = holders(int(row["experts"]), among, int(row["groups"]), int(row["top_groups"])) * int(row["tokens"])
        wide, narrow = 2 * HIDDEN * count, (HIDDEN + 4 * HIDDEN / 128) * count
        times = {kind: seconds(pathlib.Path(name), row, kind) for kind in ("same", "fp8")}
        for column, size, took in (("dispatch_fp8", narrow, times["fp8"][0]), ("dispatch_bf16", wide, times["same"][0]),
                                   ("combine", wide, times["same"][1])):
            if not row[column]:
                continue
            measured, predicted = float(row[column]), size / took / 1e9
            group = "narrow" if column == "dispatch_fp8" and row["library"] == "hybrid" else row["counts"]
            errors.setdefault(group, []).append(predicted / measured - 1)
            print(f"{row['library']:<9} {row['platform']:<12} {row['ranks']:>3} ranks {column:<14} {measured:7.1f} "
                  f"{predicted:7.1f} {100 * errors[group][-1]:+6.1f} %")
wrong = 0
for group, found in sorted(errors.items()):
    mean, bias = sum(map(abs, found)) / len(found), sum(found) / len(found)
    wrong += mean > BAR
    print(f"{group:<7} {len(found):3} rows: mean {100 * mean:.1f} %, bias {100 * bias:+.1f} %"
          f"{', beyond' if mean > BAR else ''}")
sys.exit(wrong > 0 or len(errors) != 3)
