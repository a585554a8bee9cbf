#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""metamorphic.py STAGESIM analytic|simgrid: what must not change when a job is written down in another way, for every
schedule and workload.

All times multiplied (also by numbers that round); bytes and bandwidths multiplied; other units; hosts that are alike
exchanged; one more host that nobody uses; more micro-batches. Equal to 1e-12 on the analytic engine, to 1e-6 on
SimGrid, idle hosts to the digit on the former. No expected time is written down here: a job is compared with itself."""
import csv
import io
import json
import pathlib
import re
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import tool

SHARES = {"forward": [0.020, 0.010, 0.011, 0.015], "backward": [0.040, 0.020, 0.025, 0.020],
          "weight": [0.017, 0.010, 0.010, 0.010]}
HOSTS = 8


def cluster(times=1, bandwidths=1, hosts=HOSTS):
    """Hosts around a switch, each with one link that messages both ways share: transfers contend."""
    return (tool.HEAD + f'<cluster id="c" prefix="gpu-" radical="0-{hosts - 1}" suffix="" speed="{1e12 / times!r}f" '
            f'bw="{25e9 * bandwidths / times!r}Bps" lat="{2e-6 * times!r}s" sharing_policy="SHARED"/></platform>\n')


def stages(times=1, data=1, unit=lambda value, _: value, micro_batches=8, more=""):
    """A pipeline of uneven workers; `unit` writes a quantity as text."""
    lists = ", ".join(f"{key}: [{', '.join(str(unit(repr(value * times) + 's', value * times)) for value in values)}]"
                      for key, values in SHARES.items())
    size = {key: unit(f"{repr(value * data)}B", value * data) for key,
            value in {"message": 3e7, "gradient": 1e8, "activation": 1e9}.items()}
    return (f"platform: platform.xml\nworkload: stages\nstages: {{{lists}, message: {size['message']}, gradient: "
            f"{size['gradient']}, activation: {size['activation']}{more}}}\n" f"parallel: {{data: 2, pipeline: 4}}\n"
            f"batch: {{micro_batches: {micro_batches}}}\nschedule: 1f1b\n")


TRANSFORMER = """platform: platform.xml
workload: transformer
model: {layers: 16, hidden: 1024, heads: 16, sequence: 512, vocabulary: 8192, ffn: 4096, experts: 4, top_k: 2}
parallel: {tensor: 2, pipeline: 2, data: 2, expert: 2}
transformer: {sequence_parallel: true, zero: 1}
batch: {micro_batches: 4, micro: 1}
schedule: 1f1b
compute: {efficiency: 0.5, precision: fp32}
"""
LAYERS = """platform: platform.xml
workload: layers
model: alexnet
parallel: {data: %d}
batch: {micro: 4, micro_batches: 1}
compute: {efficiency: 0.5, precision: fp32}
"""
# Further lines and ranks beside the data-parallel ones
SERVERS = {"": 0, "layers: {servers: 2}\n": 2,
           "layers: {servers: 2, colocated: true, consistency: asynchronous}\n" "iterations: 4\n": 0,
           "layers: {period: 2}\niterations: 4\n": 0}


class Jobs:
    """Runs scenarios in a folder on one engine."""

    def __init__(self, check, binary, engine, folder):
        self.check, self.binary, self.engine, self.folder = check, binary, engine, folder
        self.tolerance = 1e-12 if engine == "analytic" else 1e-6

    def times(self, scenario, platform, schedules=True):
        """Iteration times by schedule, as they are written."""
        (self.folder / "platform.xml").write_text(platform)
        (self.folder / "job.yaml").write_text(scenario)
        if not schedules:
            summary = tool.summary(self.binary, "job.yaml", "out", "--engine", self.engine, cwd=self.folder)
            return {"": summary["time"]["iteration_s"]}
        names = [name for name in json_names(self.binary) if name != "best"]  # a search whose effort is in seconds
        rows = tool.run(self.binary, "compare", "job.yaml", "--schedules", ",".join(names), "--engine", self.engine,
                        "--format", "csv", "--quiet", cwd=self.folder).stdout
        return {row["schedule"]: float(row["iteration_s"]) for row in csv.DictReader(io.StringIO(rows))
                if row["iteration_s"]}

    def equal(self, one, other, what, factor=1, tolerance=None):
        self.check.that(one.keys() == other.keys() and one, f"{what}: {sorted(one)} and {sorted(other)}")
        # SimGrid's clock knows no steps below 1e-15 s: of a thousand or two on a path each may be late by that much.
        least = 2e-12 if self.engine == "simgrid" else 0
        for schedule, time in one.items():
            self.check.that(abs(other.get(schedule, 0) - factor * time) <=
                            (self.tolerance if tolerance is None else tolerance) * factor * time + least,
                            f"{self.engine}, {schedule}: {what}: {time!r} s became {other.get(schedule)!r}")


def json_names(binary, known={}):
    if not known:
        listed = json.loads(tool.run(binary, "list", "schedules", "--format", "json").stdout)
        known["names"] = tool.sampled(schedule["name"] for schedule in listed)
    return known["names"]


def prefixed(value, number):
    """The same quantity in a thousandth of the unit, or a thousand units."""
    suffix = "s" if value.endswith("s") else "B"
    return f"{number * 1e3!r}ms" if suffix == "s" else f"{number / 1e6!r}MB"


def scaled(jobs):
    base = {False: jobs.times(stages(), cluster())}
    jobs.check.that(len(base[False]) >= 17 * len(json_names(jobs.binary)) // 37, f"only {sorted(base[False])} ran")
    for k in (1e-6, 1e-3, 1 / 3, 7, 1e3):
        jobs.equal(base[False], jobs.times(stages(times=k), cluster(times=k)), f"all times x {k:g}", k)
    for k in (1e-3, 1 / 3, 8, 1e3):
        jobs.equal(base[False], jobs.times(stages(data=k), cluster(bandwidths=k)), f"bytes and bandwidths x {k:g}")
    jobs.equal(base[False], jobs.times(stages(unit=prefixed), cluster()), "milliseconds and megabytes")
    one = jobs.times(TRANSFORMER, cluster())
    for k in (1e-3, 1 / 3, 1e3):
        jobs.equal(one, jobs.times(TRANSFORMER, cluster(times=k)), f"transformer, all times x {k:g}", k)
    for more, servers in SERVERS.items():
        scenario = LAYERS % (HOSTS - 2 - servers) + more
        one = jobs.times(scenario, cluster(), False)
        for k in (1e-3, 1 / 3, 1e3):
            jobs.equal(one, jobs.times(scenario, cluster(times=k), False),
                       f"layers, {more.strip()!r}, all times x {k:g}", k)


def idle(jobs):
    """Hosts behind the last one."""
    tolerance = 0 if jobs.engine == "analytic" else None
    for name, scenario, schedules in [("stages", stages(), True),
                                      ("transformer", TRANSFORMER, True)] + [(f"layers {more.strip()!r}",
                                                                              LAYERS % (HOSTS - 2 - servers) + more,
                                                                              False) for more,
                                                                             servers in SERVERS.items()]:
        one = jobs.times(scenario, cluster(), schedules)
        jobs.equal(one, jobs.times(scenario, cluster(hosts=HOSTS + 1), schedules), f"{name} and one more idle host",
                   tolerance=tolerance)


def exchanged(jobs):
    """Nodes of a cluster, and GPUs of a node, under each other's names."""
    tool.run(jobs.binary, "platform", "generate", "dgx-a100", "--nodes", 2, "--gpus-per-node", 4, "-o", "dgx.xml",
             cwd=jobs.folder)
    text = (jobs.folder / "dgx.xml").read_text()
    renamed = {"nodes": lambda node, gpu: (1 - node, gpu), "GPUs": lambda node, gpu: (node, (gpu + 1) % 4)}
    for name, scenario in (("stages", stages()), ("transformer", TRANSFORMER)):
        one = jobs.times(scenario, text)
        for what, rename in renamed.items():
            other = re.sub(r'"gpu-(\d+)-(\d+)"', lambda found: '"gpu-%d-%d"' % rename(*map(int, found.groups())), text)
            jobs.check.that(other != text, "the platform has other names of hosts")
            jobs.equal(one, jobs.times(scenario, other), f"{name}, {what} exchanged")


def more_micro_batches(jobs):
    """k N micro-batches compute k times as long on every worker, and take at most k iterations of N: these would do. A
    greedy order may take longer than an order that it does not look for."""
    names = [name for name in json_names(jobs.binary) if name != "best"]
    found = {}
    (jobs.folder / "platform.xml").write_text(cluster())
    for k in (1, 2, 3):
        (jobs.folder / "job.yaml").write_text(stages(micro_batches=8 * k))
        tool.run(jobs.binary, "compare", "job.yaml", "--schedules", ",".join(names), "--engine", jobs.engine, "-o",
                 f"n{k}", "--quiet", cwd=jobs.folder)
        found[k] = {path.parent.name: json.loads(path.read_text())
                    for path in (jobs.folder / f"n{k}").glob("*/summary.json")}
    for name, one in found[1].items():
        for k in (2, 3):
            other = found[k].get(name)
            if not jobs.check.that(other is not None, f"{name} does not run with {8 * k} micro-batches"):
                continue
            for before, after in zip(one["workers"], other["workers"]):
                jobs.check.near(after["busy_s"], k * before["busy_s"],
                                f"{jobs.engine}, {name}: busy with {k} times the micro-batches", jobs.tolerance)
            if name.endswith("-greedy"):
                continue
            most = k * one["time"]["iteration_s"] * (1 + 1e-9)
            jobs.check.that(other["time"]["iteration_s"] <= most,
                            f"{jobs.engine}, {name}: "
                            f"{other['time']['iteration_s']} s with {k} times the micro-batches, "
                            f"{one['time']['iteration_s']} s before")


def main():
    check = tool.Checker()
    with tempfile.TemporaryDirectory() as temporary:
        jobs = Jobs(check, tool.binary_argument(), sys.argv[2], pathlib.Path(temporary))
        for part in (scaled, idle, exchanged, more_micro_batches):
            part(jobs)
    return check.done()


if __name__ == "__main__":
    sys.exit(main())
