# SPDX-License-Identifier: Apache-2.0
"""What the tests of the product share: running the binary, platforms and scenarios made for a test."""
import json
import os
import pathlib
import signal
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]

# Shells let programs in the background, and nohup, ignore these; a test's own programs are to hear them.
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    if signal.getsignal(number) == signal.SIG_IGN:
        signal.signal(number, signal.SIG_DFL)

HEAD = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
"""

# Eight pipelines of four workers; three seconds of a micro-batch on each.
STAGES_JOB = """platform: dgx-h100:4
workload: stages
stages: {forward: 1s, backward: 2s}
parallel: {pipeline: 4, data: 8}
batch: {micro_batches: 4, micro: 1}
schedule: 1f1b
engine: analytic
"""


class Checker:
    """Counts what does not hold; `done` gives the exit code."""

    def __init__(self):
        self.faults = self.checks = 0

    def that(self, holds, text):
        self.checks += 1
        if not holds:
            self.faults += 1
            print(f"FAILED: {text}")
        return holds

    def near(self, value, expected, text, tolerance=1e-9):
        return self.that(abs(value - expected) <= tolerance * max(1, abs(expected)),
                         f"{text}: {value!r}, expected {expected!r}")

    def done(self):
        print(f"{self.checks} checks, {self.faults} failed")
        return 1 if self.faults or not self.checks else 0


def describes_job(text):
    """Whether a scenario's text is one job: whether it has no key that makes it something else."""
    kinds = ("idle_nodes", "jobs", "pairs", "queue", "rl", "serving")
    return not any(line.split(":")[0] in kinds for line in text.splitlines())


def is_job(path):
    """The same of a scenario's file."""
    return describes_job(path.read_text())


def sampled(cases, least=1):
    """The share of the cases that the build's option `samples` asks for, at least so many per cent, evenly spread, the
    first one always."""
    percent = max(least, int(os.environ.get("STAGESIM_SAMPLES", 100)))
    return [case for number, case in enumerate(cases) if number * percent // 100 > (number - 1) * percent // 100]


def wait_until_computed(process, seconds):
    """Waits until a process that was started, with its children, has used so much of a processor, or has ended: on a
    busy machine that takes longer."""
    tick = os.sysconf("SC_CLK_TCK")

    def used(number):
        try:
            fields = pathlib.Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()
            children = pathlib.Path(f"/proc/{number}/task/{number}/children").read_text().split()
        except OSError:
            return 0
        return (int(fields[11]) + int(fields[12])) / tick + sum(map(used, children))

    while process.poll() is None and used(process.pid) < seconds:
        time.sleep(0.05)


def binary_argument():
    return os.path.abspath(sys.argv[1])


def run(binary, *arguments, cwd=None, expect=0, **keywords):
    """Runs the binary; the exit code must be `expect` (None: any)."""
    result = subprocess.run([binary, *map(str, arguments)], cwd=cwd, stdin=subprocess.DEVNULL, capture_output=True,
                            text=True, timeout=300, **keywords)
    if expect is not None and result.returncode != expect:
        raise SystemExit(f"{' '.join(map(str, arguments))}: exit code {result.returncode}, not {expect}\n"
                         f"{result.stdout}{result.stderr}")
    return result


def write_mesh(path, hosts, latency="0s", bandwidth="1PBps", links=""):
    """A full mesh: every ordered pair has a link of its own. `links`: attributes that every link gets."""
    lines = [HEAD, '<zone id="mesh" routing="Full">']
    lines += [f'<host id="gpu-{i}" speed="1Tf"/>' for i in range(hosts)]
    pairs = [(i, j) for i in range(hosts) for j in range(hosts) if i != j]
    lines += [f'<link id="l-{i}-{j}" bandwidth="{bandwidth}" latency="{latency}" {links}/>' for i, j in pairs]
    lines += [f'<route src="gpu-{i}" dst="gpu-{j}" symmetrical="NO"><link_ctn id="l-{i}-{j}"/></route>' for i,
              j in pairs]
    pathlib.Path(path).write_text("\n".join(lines + ["</zone></platform>\n"]))


def write_scenario(path, platform, schedule, workers, micro_batches, data=1, stages="forward: 1s, backward: 2s",
                   more=""):
    pathlib.Path(path).write_text(f"platform: {platform}\nworkload: stages\nstages: {{{stages}}}\n"
                                  f"parallel: {{data: {data}, pipeline: {workers}}}\nbatch: {{micro_batches: "
                                  f"{micro_batches}}}\n" f"schedule: {schedule}\n{more}")


SEARCHED = """platform: dgx-a100-2
workload: transformer
model: {layers: 4, hidden: 1024, heads: 4, sequence: 512, vocabulary: 32000}
parallel: {pipeline: 2, data: 2}
batch: {global: 12, micro: 1}
schedule: 1f1b
search: {micro: [1], schedules: [1f1b], recompute: [none], zero: [0], gpus: 4}
"""
LAID_OUT = """platform: dgx-a100-2
workload: transformer
model: {layers: 2, hidden: 1024, heads: 4, sequence: 512, vocabulary: 32000}
parallel: {z: 2, data: 1}
tensor_parallel: {algorithm: axonn-3d}
batch: {global: 8, micro_batches: 1}
schedule: 1f1b
"""


def write_inputs(folder):
    """Inputs of every command: s.yaml to run on platform.xml, t.yaml to search, l.yaml to lay out, node.xml to import,
    measured.txt to fit, a month.yml to draw jobs of, jobs.swf to fit one to."""
    write_mesh(folder / "platform.xml", 4, latency="1us", bandwidth="10GBps")
    write_scenario(folder / "s.yaml", "platform.xml", "1f1b", 4, 4, stages="forward: 1s, backward: 2s, message: 1MB")
    (folder / "t.yaml").write_text(SEARCHED)
    (folder / "l.yaml").write_text(LAID_OUT)
    (folder / "month.yml").write_text("jobs_per_day: 30\ndays: 2\nsizes: [{gpus: 8, share: 1, run: 2h}]\n")
    (folder / "jobs.swf").write_text("".join(f"{i + 1} {600 * i} -1 {90 + i} 8 -1 -1 8 -1 -1 1 -1 -1 -1 -1 -1 -1 -1\n"
                                             for i in range(40)))
    for name, source in (("node.xml", "hwloc/two.xml"), ("measured.txt", "measured/printed.txt")):
        (folder / name).write_bytes((ROOT / "test/fuzz/corpus" / source).read_bytes())


def as_own(path):
    """Marks a file as one that stagesim wrote, and may replace (base/files/owner.h)."""
    status = os.stat(path)
    seconds, rest = divmod(status.st_mtime_ns, 10**9)
    os.setxattr(path, "user.stagesim", b"%d %d.%09d" % (status.st_size, seconds, rest))


def summary(binary, scenario, folder, *arguments, cwd="."):
    """summary.json of a run of the scenario."""
    run(binary, "run", scenario, "-o", folder, "--quiet", *arguments, cwd=cwd)
    return json.loads((pathlib.Path(cwd) / folder / "summary.json").read_text())
