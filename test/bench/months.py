#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What months of jobs and clusters of many jobs cost on this machine, as a Markdown table: processor time of the
command and its children, the time of the clock, the memory of the largest process, and the processor time to reach.

usage: months.py STAGESIM [--only WORD] [--folder FOLDER]"""
import argparse
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import time

TYPES = {"gpt": (24, 2048, 16), "bert": (12, 1024, 16), "wide": (8, 4096, 32), "small": (8, 1024, 8)}
# question, scenario, processor seconds to reach
ROWS = [(f"100,000 jobs on 1,024 nodes, {policy}", policy, 5)
        for policy in ("fcfs", "easy", "conservative", "shortest")]
ROWS += [(f"10,000 jobs on 2,048 GPUs with contention, {placement}, pods of {pod}", f"{placement}-{pod}", 120)
         for placement in ("packed", "spread") for pod in (8, 32)]
ROWS += [("32 jobs of 64 GPUs by rail, one iteration", "rail-32", 10), ("the same, ten iterations", "rail-32-ten", 10)]
ROWS += [(f"256 jobs on 16,384 GPUs, one iteration, {placement}", f"{placement}-256", 60)
         for placement in ("packed", "rail", "spread", "random")]


def transformer(layers, hidden, heads, parallel, micro_batches=2):
    return {"workload": "transformer", "parallel": parallel, "schedule": "1f1b" if "pipeline" in parallel else "gpipe",
            "model": {"layers": layers, "hidden": hidden, "heads": heads, "sequence": 1024, "vocabulary": 32000},
            "batch": {"micro_batches": micro_batches, "micro": 1}}


def put(folder, name, content):
    (folder / name).write_text(content if isinstance(content, str) else json.dumps(content))


def pods(nodes, pod, oversubscription):
    return {"preset": "dgx-h100", "nodes": nodes, "pod": pod, "oversubscription": oversubscription}


def write_months(folder):
    choose, now, rows = random.Random(1), 0.0, ["submit,nodes,run"]
    for _ in range(100000):
        now += choose.expovariate(1) * 26
        rows.append(f"{now:.3f},{choose.choice([1, 1, 1, 2, 2, 4, 8, 16, 32, 64])},{choose.lognormvariate(7, 1):.3f}")
    put(folder, "many.csv", "\n".join(rows) + "\n")
    for policy in ("fcfs", "easy", "conservative", "shortest"):
        put(folder, f"{policy}.yaml", {"platform": "dgx-h100:1024", "queue": {"log": "many.csv", "policy": policy}})
    choose, now, rows = random.Random(2), 0.0, ["submit,nodes,run,type,iterations"]
    for _ in range(10000):
        now += choose.expovariate(1) * 40
        nodes, kind = choose.choice([1, 1, 2, 2, 4, 4, 8, 16, 32]), choose.choice(list(TYPES))
        rows.append(f"{now:.3f},{nodes},,{kind},{int(choose.lognormvariate(8.5, 1)) + 1}")
    put(folder, "typed.csv", "\n".join(rows) + "\n")
    for kind, size in TYPES.items():
        put(folder, f"{kind}.yaml", {"platform": "dgx-h100:1", **transformer(*size, {"tensor": 8, "data": 1})})
    for placement in ("packed", "spread"):
        for pod in (8, 32):
            put(folder, f"{placement}-{pod}.yaml", {
                "platform": pods(256, pod, 4), "engine": "simgrid",
                "queue": {"log": "typed.csv", "policy": "easy", "placement": placement, "contention": True,
                          "types": {kind: {"scenario": f"{kind}.yaml", "iterations": 1} for kind in TYPES}}})


def write_clusters(folder):
    job = transformer(24, 2048, 16, {"tensor": 8, "pipeline": 2, "data": 4}, 4)
    for name, nodes, copies, placement, iterations, oversubscription in (
            ("rail-32", 256, 32, "rail", 1, 4), ("rail-32-ten", 256, 32, "rail", 10, 4),
            *((f"{word}-256", 2048, 256, word, 1, 2) for word in ("packed", "rail", "spread", "random"))):
        put(folder, f"{name}.yaml", {
            "platform": pods(nodes, 8, oversubscription),
            "jobs": {"j": {"scenario": job, "copies": copies, "placement": placement, "iterations": iterations}}})


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("stagesim")
    parser.add_argument("--only", default="")
    parser.add_argument("--folder", type=pathlib.Path)
    arguments = parser.parse_args()
    rows = [row for row in ROWS if arguments.only in row[0]]
    if not rows:
        parser.error(f"no question has '{arguments.only}'; expected a part of one of: " +
                     "; ".join(question for question, _, _ in ROWS))
    binary = str(pathlib.Path(arguments.stagesim).resolve())
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.folder or pathlib.Path(temporary)
        write_months(folder)
        write_clusters(folder)
        print("| question | processor | clock | memory | to reach |\n|---|---|---|---|---|", flush=True)
        for question, name, goal in rows:
            begin = time.monotonic()
            child = subprocess.Popen([binary, "run", f"{name}.yaml", "--quiet"], cwd=folder, stdout=subprocess.DEVNULL)
            _, status, usage = os.wait4(child.pid, 0)
            child.returncode = status
            print(f"| {question} | {usage.ru_utime + usage.ru_stime:.1f} s | {time.monotonic() - begin:.1f} s "
                  f"| {usage.ru_maxrss / 1000:.0f} MB | {goal} s |{' failed' if status else ''}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
