#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What questions of real scale cost on this machine, as a Markdown table. Every row is a command; its processor time
is that of the command and its children, its memory the largest process'. With a peer's folder (Calculon's), that
one's evaluation of a layout as well.

usage: scale.py STAGESIM [--peer CALCULON] [--only WORD]"""
import argparse
import os
import pathlib
import platform
import re
import resource
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
JOB = """platform: dgx-a100:315
workload: transformer
model: megatron-529.6b
parallel: {tensor: 8, pipeline: 35, data: 9}
batch: {micro: 1, micro_batches: 280}
transformer: {balance: auto, sequence_parallel: true}
schedule: 1f1b
compute: {precision: bf16}
"""
# question, arguments, seconds of processor that it must reach (None: none)
ROWS = (
    ("530B on 2,520 A100, analytic", "run 530b.yaml --engine analytic", 0.02),
    ("the same without sequence parallelism, and every lever",
     "run 530b.yaml --engine analytic --set transformer.sequence_parallel=false",
     None),
    ("the same on SimGrid", "run 530b.yaml", 3),
    ("search of it: what is allowed by default", "search 530b.yaml --top 0 --quiet", 120),
    ("search: one mesh, all timed",
     "search 530b.yaml --top 0 --quiet --exhaustive --jobs 1 --set search.data=9 --set search.tensor=8 "
     "--set search.micro=1", None),
    ("search of llama3-70b on 512 H100", "search llama.yaml --top 0 --quiet", 30),
    ("405B on 16,384 H100, SimGrid", "run 405b.yaml", 5),
    ("100,000 H100, check", "check 100k.yaml", 1),
    ("100,000 H100, analytic", "run 100k.yaml --engine analytic", 3),
)
LLAMA = """platform: {platform}
workload: transformer
model: {model}
parallel: {parallel}
batch: {{global: {batch}, micro: 1}}
transformer: {{sequence_parallel: true, balance: auto, zero: 1}}
schedule: 1f1b
compute: {{precision: bf16}}
"""


def write_scenarios(folder):
    (folder / "530b.yaml").write_text(JOB)
    for name, model, target, parallel, batch in (
            ("llama", "llama3-70b", "dgx-h100:64", "{tensor: 8, pipeline: 4, data: 16}", 512),
            ("405b", "llama3-405b", "dgx-h100:2048", "{tensor: 8, pipeline: 16, data: 128}", 2048),
            ("100k", "llama3-405b", "dgx-h100:12500", "{tensor: 8, pipeline: 16, data: 781}", 6248)):
        (folder / f"{name}.yaml").write_text(LLAMA.format(platform=target, model=model, parallel=parallel, batch=batch))


def measure(command, folder, limit=600):
    """Processor seconds, wall seconds, largest resident bytes, output; None where it failed or took too long."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    started = time.monotonic()
    try:
        result = subprocess.run(
            ["/usr/bin/env", "bash", "-c", f"exec {command}"], cwd=folder, capture_output=True, text=True, timeout=limit
        )
    except subprocess.TimeoutExpired:
        return None, f"no answer in {limit} s"
    wall, after = time.monotonic() - started, resource.getrusage(resource.RUSAGE_CHILDREN)
    if result.returncode:
        return None, (result.stderr.strip().splitlines() or ["failed"])[-1][:80]
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return (seconds, wall), result.stdout


def machine():
    model = re.search(r"model name\s*: (.*)", pathlib.Path("/proc/cpuinfo").read_text())
    return f"{model[1] if model else platform.processor()}, {os.cpu_count()} processors"


def counts(output):
    """Layouts of a search: how many, and how many of them were timed."""
    found = re.search(r"candidates (\d+)", output), re.search(r"timed (\d+)", output)
    return f"{found[0][1]} layouts, {found[1][1]} timed" if all(found) else ""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("stagesim")
    parser.add_argument("--peer", type=pathlib.Path)
    parser.add_argument("--only", default="")
    arguments = parser.parse_args()
    os.environ.setdefault("STAGESIM_MODELS", str(ROOT / "workloads/models"))
    os.environ.setdefault("STAGESIM_EFFICIENCY", str(ROOT / "workloads/efficiency"))
    binary = pathlib.Path(arguments.stagesim).resolve()
    print(f"{machine()}\n\n| question | processor | wall | to reach | |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        write_scenarios(folder)
        for question, command, goal in ROWS:
            if arguments.only not in question:
                continue
            times, output = measure(f"{binary} {command}", folder)
            aim = f"{goal} s" if goal else ""
            print(f"| {question} | {times[0]:.3f} s | {times[1]:.2f} s | {aim} | {counts(output)} |" if times
                  else f"| {question} | - | - | {aim} | {output} |", flush=True)
        if arguments.peer:
            peer = arguments.peer.resolve()
            command = (f"env PYTHONPATH={peer} {sys.executable} {peer}/bin/calculon llm {peer}/models/megatron-1T.json "
                       f"{peer}/examples/3072_t4_p64_d12_mbs4_full.json {peer}/systems/a100_80g.json -")
            times, output = measure(command, folder)
            name = "Calculon, a layout of 1,008 billion parameters (with the start of Python)"
            print(f"| {name} | {times[0]:.3f} s | {times[1]:.2f} s | | |"
                  if times else f"| Calculon | - | - | | {output} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
