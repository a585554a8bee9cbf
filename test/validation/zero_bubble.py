#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The 24 bubble rates of the zero-bubble paper (arXiv 2401.10241, Tables 5 and 9) beside those of stagesim.

The paper profiled forward, input-gradient and weight-gradient times and the latency of a message on A100 GPUs, and
gives the bubble rate 1 - m (T_F + T_B + T_W) / cost of four schedules on 8 stages, cost being the largest time from a
stage's first operation to its last. Nothing is calibrated here: the same times go in, and all four printed digits have
to come out.

usage: zero_bubble.py STAGESIM plan|run
  plan: evaluated on the plan; run: simulated by both engines on a full mesh of private links of that latency.
"""
import json
import os
import subprocess
import sys
import tempfile

WORKERS = 8
# ZB-1p has the rates of ZB-H1 in every row of the paper.
SCHEDULES = {"1f1b": 0, "zb-h1": 1, "zb-auto": 1, "zb-h2": 2}
# model, micro-batches, T_F, T_B, T_W, T_comm in ms, published rates of the schedules above
ROWS = (
    ("1.5B", 24, 18.522, 18.086, 9.337, 0.601, (".2431", ".1585", ".1083")),
    ("1.5B", 32, 18.513, 18.086, 9.331, 0.626, (".1985", ".1242", ".0837")),
    ("1.5B", 64, 18.546, 18.097, 9.321, 0.762, (".1240", ".0674", ".0444")),
    ("6.2B", 24, 29.718, 29.444, 19.927, 0.527, (".2347", ".1323", ".0698")),
    ("6.2B", 32, 29.802, 29.428, 19.530, 0.577, (".1898", ".1045", ".0559")),
    ("6.2B", 64, 29.935, 29.621, 19.388, 0.535, (".1091", ".0554", ".0294")),
)


def call(command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(command)}\n{done.stderr}")
    return done.stdout


def plan_rate(stagesim, schedule, row):
    _, count, forward, backward, weight, latency, _ = row
    out = call([stagesim, "schedule", schedule, "--workers", str(WORKERS), "--micro-batches", str(count), "--forward",
                repr(forward), "--backward", repr(backward + weight), "--weight", repr(weight), "--latency",
                repr(latency), "--format", "json"])
    return json.loads(out)["bubble"]["span_max"]


def mesh(latency_ms):
    hosts = range(WORKERS)
    pairs = [(i, j) for i in hosts for j in hosts if i != j]
    lines = ["<?xml version='1.0'?>", '<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">',
             '<platform version="4.1">', '<zone id="mesh" routing="Full">']
    lines += [f'<host id="gpu-{i}" speed="1Gf"/>' for i in hosts]
    lines += [f'<link id="l-{i}-{j}" bandwidth="1PBps" latency="{latency_ms!r}ms"/>' for i, j in pairs]
    lines += [f'<route src="gpu-{i}" dst="gpu-{j}" symmetrical="NO"><link_ctn id="l-{i}-{j}"/></route>' for i,
              j in pairs]
    return "\n".join(lines + ["</zone>", "</platform>", ""])


def run_rate(stagesim, schedule, row, engine, folder):
    _, count, forward, backward, weight, latency, _ = row
    # One iteration on its own, as published: what follows it is not part of the cost.
    options = ", optimizer: blocking" if schedule == "zb-h2" else ""
    scenario = f"""platform: mesh.xml
workload: stages
stages: {{forward: {forward!r}ms, backward: {backward + weight!r}ms, weight: {weight!r}ms}}
parallel: {{pipeline: {WORKERS}}}
batch: {{micro_batches: {count}}}
schedule: {{name: {schedule}{options}}}
engine: {engine}
"""
    with open(os.path.join(folder, "mesh.xml"), "w") as out:
        out.write(mesh(latency))
    path = os.path.join(folder, "scenario.yaml")
    with open(path, "w") as out:
        out.write(scenario)
    call([stagesim, "run", path, "-o", os.path.join(folder, "out"), "--quiet"])
    with open(os.path.join(folder, "out", "summary.json")) as summary:
        return json.load(summary)["bubble"]["span_max"]


def rates(stagesim, schedule, row, mode, folder):
    if mode == "plan":
        return [plan_rate(stagesim, schedule, row)]
    return [run_rate(stagesim, schedule, row, engine, folder) for engine in ("simgrid", "analytic")]


def main():
    stagesim, mode = sys.argv[1], sys.argv[2]
    columns = ("plan",) if mode == "plan" else ("simgrid", "analytic")
    print(f"{'model':6}{'m':>4}  {'schedule':9}{'published':>10}" + "".join(f"{name:>10}" for name in columns))
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        for row in ROWS:
            for schedule, published in ((name, row[6][at]) for name, at in SCHEDULES.items()):
                texts = [f"{rate:.4f}".lstrip("0") for rate in rates(stagesim, schedule, row, mode, folder)]
                wrong += sum(text != published for text in texts)
                print(f"{row[0]:6}{row[1]:>4}  {schedule:9}{published:>10}" + "".join(f"{text:>10}" for text in texts))
    print(f"{wrong} of {len(ROWS) * len(SCHEDULES) * len(columns)} rates differ in the four printed digits")
    return wrong > 0


if __name__ == "__main__":
    sys.exit(main())
