#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What questions of real scale cost on this machine, and how many layouts searches evaluate, as two Markdown tables.
Every row is a command: processor time of the whole process and its children, and of it what is beyond the dynamic
loader's share (that of `stagesim --version`); memory is the largest process'. The shortest of three runs where one
takes less than two seconds. --quick leaves out what takes longer than ten seconds. With a peer's folder (Calculon's;
its Python packages must be there) the rate of that one on one core as well.

usage: scale.py STAGESIM [--peer CALCULON] [--python PYTHON] [--only WORD] [--quick]"""
import argparse
import os
import pathlib
import platform
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
SHORT = 2  # seconds: such rows are run three times
JOB = """platform: {platform}
workload: transformer
model: megatron-529.6b
parallel: {{tensor: 8, pipeline: 35, data: 9}}
batch: {{micro: 1, micro_batches: 280}}
transformer: {{balance: auto, sequence_parallel: true}}
schedule: 1f1b
compute: {{precision: bf16}}
"""
LLAMA = """platform: {platform}
workload: transformer
model: {model}
parallel: {parallel}
batch: {{global: {batch}, micro: 1}}
transformer: {{sequence_parallel: true, balance: auto, zero: 1}}
schedule: 1f1b
compute: {{precision: bf16}}
"""
STAGES = """platform: {platform}
workload: stages
stages: {{forward: 1ms, backward: 2ms, message: 8MiB, gradient: {gradient}}}
parallel: {{data: {data}, pipeline: 32}}
batch: {{micro_batches: {micro_batches}}}
schedule: 1f1b
communication: {{all_reduce: ring}}
"""
# question, arguments, seconds of processor beyond the loader that it must reach (None: none)
ROWS = (
    ("530B on 2,520 A100, analytic", "run 530b.yaml --engine analytic", 0.02),
    ("the same from its XML file", "run 530b-xml.yaml --engine analytic", 0.12),
    ("the same without sequence parallelism, with every lever",
     "run 530b.yaml --engine analytic --set transformer.sequence_parallel=false", None),
    ("the same on SimGrid", "run 530b.yaml", 3),
    ("the same on SimGrid, `steady: off`", "run 530b.yaml --set steady=off", None),
    ("405B on 16,384 H100, SimGrid", "run 405b.yaml", 5),
    ("100,000 H100, check", "check 100k.yaml", 1),
    ("100,000 H100, analytic", "run 100k.yaml --engine analytic", 3),
    ("100,000 H100, SimGrid", "run 100k.yaml --quiet", 60),
    ("100,000 H100 from its XML file, check", "check 100k-xml.yaml", 21),
    ("100,000 H100 from its XML file, analytic", "run 100k-xml.yaml --engine analytic", 23),
    ("100,000 H100 from its XML file, SimGrid", "run 100k-xml.yaml --quiet", 80),
    ("Chimera on 2,048 nodes of Piz Daint, SimGrid", f"run {ROOT}/scenarios/papers/chimera-2048.yaml --quiet", 5),
    ("all-to-all of 512 H100 in pods of 8 nodes, 4:1, SimGrid",
     "collective all-to-all --platform pods.xml --ranks 512 --sizes 1GiB:1GiB:2", 10),
    ("all-to-all of 4,096 H100, analytic",
     "collective all-to-all --platform dgx-h100:512 --engine analytic --sizes 1GiB:1GiB:2", 1),
    ("the same in pods of 8 nodes, 4:1, from an XML file",
     "collective all-to-all --platform pods.xml --engine analytic --sizes 1GiB:1GiB:2", 1),
    ("`platform show --between`, 16,384 H100", "platform show dgx-h100:2048 --between gpu-0-0 gpu-2047-7", 1),
    ("the same from its XML file", "platform show 16k.xml --between gpu-0-0 gpu-2047-7", 1),
    ("yardstick: 1F1B on 2,048 H100, 256 micro-batches, SimGrid", "run yardstick.yaml --quiet", 0.26),
    ("and a ring all-reduce of 512 MiB per stage", "run ring.yaml --quiet", None),
    ("yardstick, analytic", "run yardstick.yaml --engine analytic --quiet", 0.09),
    ("raw: 40,000 micro-batches on 32 H100, analytic, 7.5 million operations",
     "run raw.yaml --engine analytic --quiet --set steady=off", None),
)
LONG = ("100,000 H100, SimGrid", "100,000 H100 from its XML file, SimGrid")
# space, arguments, seconds of processor beyond the loader that it must reach; "all timed": nothing is discarded
SEARCHES = (
    ("530B on 2,520 A100, one mesh, all timed",
     "search 530b.yaml --top 0 --quiet --exhaustive --jobs 1 --set search.data=9 --set search.tensor=8 "
     "--set search.micro=1", None),
    ("530B on 2,520 A100, tensor 8, data 45, all timed",
     "search 530b.yaml --top 0 --quiet --exhaustive --jobs 1 --set search.data=45 --set search.tensor=8 "
     "--set search.micro=1", None),
    ("llama3-70b on 512 H100, the default space", "search llama.yaml --top 0 --quiet", 30),
    ("22B on 64 A100, what Calculon's search varies", "search 22b.yaml --top 0 --quiet", None),
    ("530B on 2,520 A100, the default space", "search 530b.yaml --top 0 --quiet", 120),
)
LONG_SEARCHES = tuple(row[0] for row in SEARCHES[3:])
# What Calculon's search varies for its megatron-22B on 64 A100, batch 64: divisors as sizes, chunks and micro-batches,
# recomputation full, attention or none, the optimizer sharded or not, all-reduce or reduce-scatter and all-gather,
# overlap of either. It also tries which network serves each axis.
PEER_SPACE = """platform: dgx-a100:8
workload: transformer
model: megatron-22b
parallel: {tensor: 8, pipeline: 2, data: 4}
batch: {global: 64, micro: 1}
schedule: 1f1b
compute: {precision: bf16}
search: {micro: [1, 2, 4, 8, 16, 32, 64], schedules: [1f1b, interleaved], chunks: [2, 3, 4, 6, 8, 12, 16, 24, 48],
  recompute: [none, selective, full], zero: [0, 1], sequence_parallel: [false, true], tensor_overlap: [false, true],
  overlap: [false, true], balance: even}
"""
PEER = """
import json, logging, sys, time, types
sys.path[:0] = [{folder!r}]
sys.modules.setdefault("pandas", types.ModuleType("pandas"))  # only what writes tables of all layouts needs it
sys.modules.setdefault("numpy", types.ModuleType("numpy"))  # only what writes JSON needs it
sys.modules.setdefault("psutil", types.ModuleType("psutil"))  # only what runs on several cores needs it
from calculon.llm import Llm, System
read = lambda name: json.load(open({folder!r} + name))
application, system = Llm.Application(read("/models/megatron-1T.json")), System(read("/systems/a100_80g.json"))
execution, log, count = read("/examples/3072_t4_p64_d12_mbs4_full.json"), logging.getLogger(), 0
begin = time.process_time()
while time.process_time() - begin < 3:
    model = Llm(application, log)
    model.compile(system, Llm.Execution.from_json(execution))
    model.run(system)
    count += 1
print(count / (time.process_time() - begin))
"""


def write_scenarios(folder):
    """Of the jobs; platforms that are read from files are made by make_platforms."""
    (folder / "530b.yaml").write_text(JOB.format(platform="dgx-a100:315"))
    (folder / "22b.yaml").write_text(PEER_SPACE)
    (folder / "530b-xml.yaml").write_text(JOB.format(platform="530b.xml"))
    for name, model, target, parallel, batch in (
            ("llama", "llama3-70b", "dgx-h100:64", "{tensor: 8, pipeline: 4, data: 16}", 512),
            ("405b", "llama3-405b", "dgx-h100:2048", "{tensor: 8, pipeline: 16, data: 128}", 2048),
            ("100k", "llama3-405b", "dgx-h100:12500", "{tensor: 8, pipeline: 20, data: 625}", 10000),
            ("100k-xml", "llama3-405b", "100k.xml", "{tensor: 8, pipeline: 20, data: 625}", 10000)):
        (folder / f"{name}.yaml").write_text(LLAMA.format(platform=target, model=model, parallel=parallel, batch=batch))
    for name, target, data, micro_batches, gradient in (("yardstick", "dgx-h100:256", 64, 256, "0B"),
                                                        ("ring", "dgx-h100:256", 64, 256, "512MiB"),
                                                        ("raw", "dgx-h100:4", 1, 40000, "0B")):
        (folder / f"{name}.yaml").write_text(STAGES.format(platform=target, data=data, micro_batches=micro_batches,
                                                           gradient=gradient))


def make_platforms(binary, folder, commands):
    """Those that the commands name."""
    for name, options in (("530b", ["dgx-a100", "--nodes", "315"]), ("100k", ["dgx-h100", "--nodes", "12500"]),
                          ("16k", ["dgx-h100", "--nodes", "2048"]),
                          ("pods", ["dgx-h100", "--nodes", "512", "--pod", "8", "--oversubscription", "4"])):
        if f"{name}.xml" in commands or f"{name}-xml" in commands:
            subprocess.run([binary, "platform", "generate", *options, "-o", folder / f"{name}.xml"], check=True,
                           stderr=subprocess.DEVNULL)


def measure(command, folder):
    """Processor seconds, bytes of the largest process, and output; None and why where it failed."""
    with tempfile.TemporaryFile() as output:
        child = subprocess.Popen(command, cwd=folder, stdout=output, stderr=output)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = status
        output.seek(0)
        text = output.read().decode()
    if status:
        return None, 0, (text.strip().splitlines() or ["failed"])[-1][:80]
    return usage.ru_utime + usage.ru_stime, 1024 * usage.ru_maxrss, text


def shortest(command, folder):
    runs = [measure(command, folder)]
    while runs[0][0] is not None and runs[0][0] < SHORT and len(runs) < 3:
        runs.append(measure(command, folder))
    return min(runs, key=lambda run: run[0] if run[0] is not None else 0)


def machine():
    model = re.search(r"model name\s*: (.*)", pathlib.Path("/proc/cpuinfo").read_text())
    name = model[1] if model else platform.processor()
    return f"{name}, {os.cpu_count()} processors; load {os.getloadavg()[0]:.1f} when this began"


def counts(output):
    """Layouts of a search: how many, and how many of them were timed."""
    found = re.search(r"candidates (\d+)", output), re.search(r"timed (\d+)", output)
    return f"{found[0][1]} layouts, {found[1][1]} timed" if all(found) else ""


def print_row(question, seconds, loader, peak, goal, note):
    beyond = max(0, seconds - loader)
    aim, ratio = (f"{goal:g} s", f"{beyond / goal:.2f}") if goal else ("", "")
    print(f"| {question} | {seconds:.3f} s | {beyond:.3f} s | {peak / 1e6:.0f} MB | {aim} | {ratio} "
          f"| {note} |", flush=True)


def rate(output, seconds):
    """Layouts that were timed in a second, where all that fit were, and jobs: equal ones are built once."""
    found, same = re.search(r"timed (\d+)", output), re.search(r"of which (\d+) are the same job", output)
    if not found:
        return ""
    jobs = int(found[1]) - (int(same[1]) if same else 0)
    return f"; {int(found[1]) / seconds:.0f} layouts, {jobs / seconds:.0f} different jobs a second and core"


def print_table(head, rows, binary, folder, loader):
    print(f"| {head} | processor | beyond the loader | memory | to reach | ratio | |\n|---|---|---|---|---|---|---|")
    for question, command, goal in rows:
        seconds, peak, output = shortest([binary, *command.split()], folder)
        if seconds is None:
            print(f"| {question} | - | - | - | {goal or ''} | | {output} |", flush=True)
            continue
        print_row(question, seconds, loader, peak, goal,
                  counts(output) + (rate(output, seconds - loader) if "all timed" in question else ""))


def search_row(peer, python, folder):
    """Calculon's search: executions counted without running them, times what one takes in a small space."""
    stubs = folder / "stubs"
    stubs.mkdir()
    (stubs / "psutil.py").write_text("import os\n\n\ndef cpu_count(logical=True):\n    return os.cpu_count()\n")
    (stubs / "pandas.py").write_text("")  # only another command of it needs that
    (stubs / "numpy.py").write_text("integer = floating = ndarray = bool_ = ()\n")  # its writer of JSON asks for these
    search = (f"env PYTHONPATH={peer}:{stubs} {python} {peer}/bin/calculon loe -c 1 -n %s "
              f"{peer}/models/megatron-22B.json %s float16 {peer}/systems/a100_80g.json out.json")
    counted, sample = (
        measure((search % words).split(), folder) for words in (("-d", "64 64"), ("", "2 1")))
    if counted[0] is None or sample[0] is None:
        print(f"| Calculon's search of it | - | - | | | | {sample[2] if counted[0] else counted[2]} |")
        return
    total, some = (int(re.search(r"Total executions: (\d+)", output)[1]) for _, _, output in (counted, sample))
    seconds = sample[0] / some
    print(f"| Calculon's search of it | {total * seconds:,.0f} s | | | | | {total:,} executions at {1 / seconds:.0f} a "
          f"second (measured on {some:,}) |")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("stagesim")
    parser.add_argument("--peer", type=pathlib.Path)
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--only", default="")
    parser.add_argument("--quick", action="store_true")
    arguments = parser.parse_args()
    os.environ.setdefault("STAGESIM_MODELS", str(ROOT / "workloads/models"))
    os.environ.setdefault("STAGESIM_EFFICIENCY", str(ROOT / "workloads/efficiency"))
    binary = str(pathlib.Path(arguments.stagesim).resolve())
    rows, searches = ([row for row in table if arguments.only in row[0] and not (arguments.quick and row[0] in long)]
                      for table, long in ((ROWS, LONG), (SEARCHES, LONG_SEARCHES)))
    if not rows + searches:
        parser.error(f"no question has '{arguments.only}'; expected a part of one of: " +
                     "; ".join(row[0] for row in ROWS + SEARCHES))
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        write_scenarios(folder)
        make_platforms(binary, folder, " ".join(row[1] for row in rows + searches))
        loader = min(measure([binary, "--version"], folder)[0] for _ in range(10))
        print(f"{machine()}; the loader takes {loader:.3f} s\n")
        print_table("question", rows, binary, folder, loader)
        print()
        print_table("search", searches, binary, folder, loader)
        if arguments.peer:
            seconds, _, output = measure([arguments.python, "-c", PEER.format(folder=str(arguments.peer.resolve()))],
                                         folder)
            print(f"| Calculon, evaluations of a layout of 1,008 billion parameters | "
                  f"{float(output):.0f} a second and core | | | | | |" if seconds is not None else
                  f"| Calculon | - | | | | | {output} |")
            search_row(arguments.peer, arguments.python, folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
