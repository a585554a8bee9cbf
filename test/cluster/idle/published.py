#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""published.py STAGESIM FOLDER: the replay of BFTrainer's log, by hand, since the log states no licence. FOLDER has
idle-counts.csv (time, idle, joined, left of all nodes) and idle-intervals-1024.csv (node, start, end). Efficiencies,
decisions and idle nodes must be those of the replayer's rules, computed independently. Without the folder: skipped."""
import csv
import json
import os
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "support"))
import tool  # noqa: E402

check = tool.Checker()
binary = tool.binary_argument()
EFFICIENCY = {10: 0.875, 30: 0.899, 60: 0.906, 120: 0.908, 300: 0.908}
RESCALES = {10: 6072, 30: 6822, 60: 7263, 120: 8242, 300: 9639}
SHUFFLENET = {1: 2831, 2: 5259, 4: 9988, 8: 20379.2, 16: 38895.3, 32: 74125.1, 64: 145081.5}


def rows(folder, name):
    with open(os.path.join(folder, name), encoding="utf-8") as file:
        return list(csv.DictReader(line for line in file if not line.startswith("#")))


def replay(folder, scratch, decide, know="curve"):
    start = rows(folder, "idle-counts.csv")[1000]["t_s"]
    with open(os.path.join(scratch, "log.csv"), "w", encoding="utf-8") as file:
        file.write("node,from,to\n")
        for row in rows(folder, "idle-intervals-1024.csv"):
            file.write(f"{row['node']},{row['start_s']},{row['end_s']}\n")
    section = {"log": "log.csv", "start": f"{start}s", "duration": "604800s", "decide": decide,
               "jobs": {"shufflenet": {"count": 10, "points": {str(n): rate for n, rate in SHUFFLENET.items()},
                                       "grow": "18s", "shrink": "12s", "know": know}}}
    with open(os.path.join(scratch, "t.yaml"), "w", encoding="utf-8") as file:
        json.dump({"idle_nodes": section}, file)
    print(tool.run(binary, "run", "t.yaml", "-o", "out", "--quiet", cwd=scratch).stdout)
    with open(os.path.join(scratch, "out", "summary.json"), encoding="utf-8") as file:
        return json.load(file)


if len(sys.argv) < 3 or not os.path.exists(os.path.join(sys.argv[2], "idle-intervals-1024.csv")):
    print("the log is not here: skipped")
    sys.exit(77)
with tempfile.TemporaryDirectory() as place:
    got = replay(sys.argv[2], place, {"forward": [f"{time}s" for time in EFFICIENCY]})
    check.near(got["mean_idle_nodes"], 85.10, "idle nodes", 0.001)
    for policy in got["policies"]:
        forward = policy["forward_s"]
        check.that(policy["decisions"] == 7212, f"{policy['decisions']} decisions, expected 7212")
        check.that(abs(policy["efficiency"] - EFFICIENCY[forward]) <= 0.005,
                   f"{forward} s: efficiency {policy['efficiency']:.4f}, expected {EFFICIENCY[forward]}")
        check.near(policy["rescales"], RESCALES[forward], f"{forward} s: rescales", 0.005)
    replay(sys.argv[2], place, {"method": ["optimal", "greedy", "equal", "first"]})
    replay(sys.argv[2], place, {}, "linear")
    replay(sys.argv[2], place, {"profile": "30s"}, "profile")
sys.exit(check.done())
