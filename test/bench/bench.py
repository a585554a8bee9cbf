#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How fast both engines are, beside a floor: 1F1B written by hand on SimGrid's C API, nothing recorded.

usage: bench.py STAGESIM [--large]

Run by hand on a quiet machine; nothing here is a test. Floor and stagesim take turns, rates are per second of processor
time beyond that of the same job with one micro-batch, so that start-up and other users of the machine matter less. All
micro-batches are gone through (`steady: off`): scale.py has what searching for a steady state saves.
--large adds 16,384 GPUs (minutes, gigabytes). The floor is floor.c beside this file; a C compiler builds it."""

import argparse
import json
import os
import subprocess
import sys
import tempfile

SCENARIO = """platform: {platform}
workload: stages
stages: {{forward: 1ms, backward: 2ms, message: 8MiB, gradient: {gradient}}}
parallel: {{data: {data}, pipeline: 32}}
batch: {{micro_batches: {micro_batches}}}
schedule: {{name: 1f1b}}
communication: {{all_reduce: ring}}
fold: {fold}
steady: off
"""
MEBI = 1 << 20


class Done:
    """A finished program: processor seconds, elapsed seconds, megabytes, standard output."""

    def __init__(self, command, environment=None):
        read, write = os.pipe()
        start = os.times().elapsed
        child = os.fork()
        if child == 0:
            os.dup2(write, 1)
            os.close(read)
            os.execvpe(command[0], command, {**os.environ, **(environment or {})})
        os.close(write)
        with os.fdopen(read, encoding="utf-8") as output:
            self.output = output.read()
        _, status, usage = os.wait4(child, 0)
        if status:
            sys.exit(f"{' '.join(command)} failed")
        self.elapsed = os.times().elapsed - start
        self.cpu = usage.ru_utime + usage.ru_stime
        self.megabytes = usage.ru_maxrss * 1024 / 1e6


class Bench:
    def __init__(self, stagesim, floor, directory):
        self.stagesim, self.floor, self.directory = stagesim, floor, directory

    def platform(self, gpus):
        path = os.path.join(self.directory, f"{gpus}.xml")
        if not os.path.exists(path):
            subprocess.run([self.stagesim, "platform", "generate", "dgx-h100", "--nodes", str(gpus // 8), "-o", path],
                           check=True, stderr=subprocess.DEVNULL)
        return path

    def run(self, engine, data, micro_batches, fold="auto", gradient="0B", plain=False):
        """plain: nothing written, no figures of the engine itself."""
        scenario, out = os.path.join(self.directory, "job.yaml"), os.path.join(self.directory, "out")
        with open(scenario, "w", encoding="utf-8") as file:
            file.write(
                SCENARIO.format(platform=self.platform(32 * data), gradient=gradient, data=data,
                                micro_batches=micro_batches, fold=fold))
        done = Done([self.stagesim, "run", scenario, "--engine", engine, "--quiet", "--format", "csv"] +
                    ([] if plain else ["-o", out]))
        if plain:
            return done
        with open(os.path.join(out, "summary.json"), encoding="utf-8") as file:
            done.simulation = json.load(file)["simulation"]
        return done

    def run_floor(self, data, micro_batches):
        mimalloc = {"LD_PRELOAD": "libmimalloc.so.2"} if "libmimalloc" in subprocess.run(["ldd", self.stagesim],
                                                                                         capture_output=True, text=True,
                                                                                         check=True).stdout else {}
        arguments = [self.platform(32 * data), str(data), "32", str(micro_batches), str(8 * MEBI)]
        config = ["--cfg=network/model:CM02", "--cfg=network/crosstraffic:0", "--cfg=contexts/stack-size:64",
                  "--log=root.thres:critical"]
        return Done([self.floor, *arguments, *config], mimalloc)


def operations(micro_batches, ranks=32):
    """1F1B of 32 stages: computations, and a send and a receive for each message."""
    return (2 * 32 + 4 * 31) * micro_batches * ranks // 32


def activities(micro_batches, ranks):
    return (2 * 32 + 2 * 31) * micro_batches * ranks // 32


def row(*cells):
    print("| " + " | ".join(cells) + " |", flush=True)


def head(*cells):
    print()
    row(*cells)
    row(*["---"] * len(cells))


def unfolded(bench, gpus, micro_batches):
    data = gpus // 32
    head(f"{gpus} GPUs, {micro_batches} micro-batches, every rank simulated", "activities/s of processor time",
         "memory", "of the floor")
    count = activities(micro_batches, gpus) - activities(1, gpus)
    rates = {}
    for name, start in (("floor", bench.run_floor), ("stagesim", lambda *job: bench.run("simgrid", *job, fold="off"))):
        least, whole = start(data, 1), start(data, micro_batches)
        rates[name] = count / (whole.cpu - least.cpu)
        row(name, f"{rates[name]:,.0f}", f"{whole.megabytes:,.0f} MB",
            f"{rates[name] / rates['floor']:.2f}")


def folded(bench):
    head("SimGrid, 2048 GPUs, 256 micro-batches of 8 MiB, folded", "elapsed", "processor", "memory")
    for name, gradient in (("messages only", "0B"), ("and a ring all-reduce of 512 MiB per stage", "512MiB")):
        done = bench.run("simgrid", 64, 256, gradient=gradient, plain=True)
        row(name, f"{done.elapsed:.2f} s", f"{done.cpu:.2f} s", f"{done.megabytes:.0f} MB")


def analytic(bench):
    head("analytic, 32 GPUs", "operations", "elapsed", "processor", "the engine alone, elapsed", "operations/s",
         "memory", "bytes per operation")
    least = bench.run("analytic", 1, 4, plain=True)
    for micro_batches in (4, 40, 400, 4096, 40000):
        done = min((bench.run("analytic", 1, micro_batches, plain=True) for _ in range(3)), key=lambda run: run.cpu)
        count, wall = operations(micro_batches), min(bench.run("analytic", 1, micro_batches).simulation["wall_s"]
                                                     for _ in range(5))
        per = (done.megabytes - least.megabytes) * 1e6 / (count - operations(4)) if micro_batches > 400 else 0
        row(f"{micro_batches} micro-batches", f"{count:,}", f"{done.elapsed:.3f} s", f"{done.cpu:.3f} s",
            f"{wall:.5f} s", f"{count / wall:,.0f}", f"{done.megabytes:.0f} MB", f"{per:.0f}" if per else "")


def linear(bench):
    head("SimGrid, 32 GPUs", "activities", "processor", "microseconds per activity")
    least = bench.run("simgrid", 1, 1, plain=True)
    for micro_batches in (16, 160, 1600, 16000):
        done = bench.run("simgrid", 1, micro_batches, plain=True)
        count, seconds = activities(micro_batches, 32), done.cpu - least.cpu
        row(f"{micro_batches} micro-batches", f"{count:,}", f"{seconds:.4f} s", f"{1e6 * seconds / count:.2f}")


def compile_floor(directory):
    source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "floor.c")
    path = os.path.join(directory, "floor")
    subprocess.run(["cc", "-O2", "-o", path, source, "-lsimgrid"], check=True)
    return path


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("stagesim")
    parser.add_argument("--large", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        bench = Bench(os.path.abspath(options.stagesim), compile_floor(directory), directory)
        print(f"load of the machine when this began: {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")
        analytic(bench)
        folded(bench)
        linear(bench)
        unfolded(bench, 2048, 64)
        if options.large:
            unfolded(bench, 16384, 16)


main()
