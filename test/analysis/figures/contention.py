#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What contention adds, and what the critical path says of faster hardware, against hand-made cases and really changed
runs.

usage: contention.py STAGESIM"""

import json
import os
import subprocess
import sys
import tempfile

PLATFORM = """<?xml version="1.0"?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1"><zone id="two-nodes" routing="Full">
<host id="gpu-0" speed="1Gf"/><host id="gpu-1" speed="1Gf"/><host id="gpu-2" speed="1Gf"/><host id="gpu-3" speed="1Gf"/>
<link id="nic" bandwidth="{bandwidth}Bps" latency="{latency}s"/>
<link id="back" bandwidth="{bandwidth}Bps" latency="{latency}s"/>
<link id="inside" bandwidth="{bandwidth}Bps" latency="{latency}s"/>
{routes}
</zone></platform>
"""

SCENARIO = """platform: platform.xml
workload: stages
stages: {{forward: {forward}s, backward: {backward}s, message: 1GB, gradient: {gradient}}}
parallel: {{data: 2, pipeline: 2}}
order: [data, pipeline]
batch: {{micro_batches: {micro_batches}}}
schedule: {{name: gpipe}}
fold: {fold}
"""


def route(source, target):
    link = "inside" if source // 2 == target // 2 else "nic" if source < target else "back"
    return f'<route src="gpu-{source}" dst="gpu-{target}" symmetrical="NO"><link_ctn id="{link}"/></route>'


def run(stagesim, directory, engine, bandwidth=1e9, latency=0.0, forward=1.0, backward=2.0, gradient="0B",
        micro_batches=1, fold="auto"):
    routes = "\n".join(route(i, j) for i in range(4) for j in range(4) if i != j)
    with open(os.path.join(directory, "platform.xml"), "w", encoding="utf-8") as file:
        file.write(PLATFORM.format(bandwidth=repr(bandwidth), latency=repr(latency), routes=routes))
    with open(os.path.join(directory, "scenario.yaml"), "w", encoding="utf-8") as file:
        file.write(
            SCENARIO.format(forward=repr(forward), backward=repr(backward), gradient=gradient,
                            micro_batches=micro_batches, fold=fold))
    out = os.path.join(directory, "out")
    done = subprocess.run([stagesim, "run", os.path.join(directory, "scenario.yaml"), "--engine", engine, "-o", out,
                           "--quiet"], check=True, capture_output=True, text=True, timeout=60)
    with open(os.path.join(out, "summary.json"), encoding="utf-8") as file:
        return json.load(file), done.stdout


def close(value, expected, tolerance=1e-6):
    assert abs(value - expected) <= tolerance * max(abs(expected), 1), f"{value} is not {expected}"


def shared_nic(stagesim, directory):
    """Two replicas send 1 GB at the same moment through one 1 GB/s link in either direction: 2 s instead of 1 s each.
    They are alike; of
    ranks that are alike one is listed."""
    for fold, listed in (("auto", 2), ("off", 4)):
        shared_nic_folded(*run(stagesim, directory, "both", fold=fold), listed)


def shared_nic_folded(summary, printed, listed):
    contention = summary["contention"]
    close(contention["analytic_s"], 1 + 1 + 1 + 2 + 1 + 2)
    close(contention["contended_s"], 1 + 2 + 1 + 2 + 2 + 2)
    close(contention["added_s"], 2)
    rows = {(row["type"], row["kind"]): row for row in contention["operations"]}
    assert set(rows) == {("computation", "F"), ("computation", "B"), ("message", "activation"),
                         ("message", "gradient")}, rows
    for kind, seconds in (("F", 1), ("B", 2)):  # one on each of four ranks
        row = rows["computation", kind]
        assert row["count"] == 4
        close(row["analytic_s"], seconds)
        close(row["added_s"], 0)
    for kind in ("activation", "gradient"):  # one for every two ranks
        row = rows["message", kind]
        assert row["count"] == 2
        close(row["analytic_s"], 0.5)
        close(row["contended_s"], 1)
    delayed = contention["most_delayed"]
    assert len(delayed) == listed, delayed
    for entry in delayed:
        kind, link = ("activation", "nic") if entry["rank"] < 2 else ("gradient", "back")
        assert entry["operation"] == kind + (" 0.0" if kind == "activation" else " 1.0"), entry
        assert entry["peer"] == (entry["rank"] + 2) % 4
        close(entry["added_s"], 1)
        assert entry["links"] == [{"name": link, "others": 1}], entry
    assert "contention         2.000 s added to 8.000 s" in printed, printed


def shared_ring(stagesim, directory):
    """Two rings of two ranks inside their nodes on one link, the second 4 s behind the first. A ring shares the link
    with itself on either engine, its
    2 flows of 1 GB taking 2 s, of 3 GB 6 s; with the other ring on SimGrid only."""
    for gradient, others in (("1GB", 0), ("3GB", 2)):
        summary, _ = run(stagesim, directory, "both", gradient=gradient)
        ring = [row for row in summary["contention"]["operations"] if row["type"] == "collective"]
        assert len(ring) == 1 and ring[0]["kind"] == "gradient-sync" and ring[0]["count"] == 4, ring
        close(ring[0]["analytic_s"], 2 * int(gradient[0]))
        delayed = [row for row in summary["contention"]["most_delayed"] if row["type"] == "collective"]
        if not others:
            close(ring[0]["contended_s"], 2)
            assert not delayed, delayed
            continue
        # 2 s of the first ring are left when the second begins: both lose as much.
        close(ring[0]["contended_s"], 8)
        assert len(delayed) == 2, delayed
        for entry in delayed:
            close(entry["added_s"], 2)
            assert entry["links"] == [{"name": "inside", "others": others}] and "peer" not in entry, entry


def sensitivity(stagesim, directory):
    """The shares of the critical path against runs with everything of one sort 1 % quicker."""
    base = {"forward": 1.0, "backward": 1.7, "latency": 0.125, "gradient": "1GB", "micro_batches": 5}
    quicker = {"compute": {"forward": 0.99, "backward": 1.7 * 0.99}, "bandwidth": {"bandwidth": 1e9 / 0.99},
               "latency": {"latency": 0.125 * 0.99}}
    for engine in ("analytic", "simgrid"):
        summary, _ = run(stagesim, directory, engine, **base)
        shares, length = summary["sensitivity"], summary["critical_path"]["length_s"]
        time = summary["time"]["iteration_s"]
        close(shares["compute_s"] + shares["bandwidth_s"] + shares["latency_s"], length)
        assert min(shares["compute"], shares["bandwidth"], shares["latency"]) > 0.005, shares
        for what, change in quicker.items():
            gained = 1 - run(stagesim, directory, engine, **{**base, **change})[0]["time"]["iteration_s"] / time
            predicted = 0.01 * shares[what]
            # SimGrid shares a link in inverse proportion to latencies: latency and bandwidth are not quite apart.
            tolerance = 1e-9 if engine == "analytic" else 2e-5
            assert abs(gained - predicted) <= tolerance, f"{engine}: {what}: {gained} gained, {predicted} predicted"


def main():
    stagesim = os.path.abspath(sys.argv[1])
    for case in (shared_nic, shared_ring, sensitivity):
        with tempfile.TemporaryDirectory() as directory:
            case(stagesim, directory)


main()
