#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""what_if.py STAGESIM: changes of a platform by `what_if` and `--scale`, against its XML file edited by hand: both
engines, links by kind, by name and by both directions, GPUs by name, node and model, latencies, several changes,
and shares of the links, which are drawn again from the file's names here."""
import csv
import json
import os
import pathlib
import re
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from tool import HEAD, Checker, binary_argument, run, summary

JOB = """workload: transformer
model: megatron-3.6b
parallel: {tensor: 4, pipeline: 2, data: 4}
batch: {micro: 1, global: 32}
schedule: 1f1b
"""
UNITS = {"GBps": 1e9, "PBps": 1e15, "us": 1e-6, "ns": 1e-9, "ms": 1e-3, "s": 1, "Tf": 1e12}
check = Checker()


def scaled(value, factor):
    """A quantity of the XML file, changed."""
    number, unit = re.fullmatch(r"([0-9.e+-]+)([A-Za-z]+)", value).groups()
    return f"{float(number) * factor!r}{unit}"


def edit(xml, element, wanted, attribute, factor):
    """The file with an attribute changed of the elements whose id matches."""

    def change(match):
        text = match.group(0)
        if not re.fullmatch(wanted, re.search(r'id="([^"]*)"', text).group(1)):
            return text
        return re.sub(rf'({attribute}=")([^"]*)', lambda m: m.group(1) + scaled(m.group(2), factor), text)

    changed = re.sub(rf"<{element} [^>]*>", change, xml)
    check.that(changed != xml, f"{element} {wanted}: the file has none")
    return changed


# What is typed, and the same by hand.
CASES = [
    (["nic=0.5"], [("link", "nic-.*", "bandwidth", 0.5)]),
    (["uplink.latency=100"], [("link", "uplink-.*", "latency", 100)]),
    (["nvlink.bandwidth=0.25", "nvlink.latency=3"],
     [("link", "nvlink-.*", "bandwidth", 0.25), ("link", "nvlink-.*", "latency", 3)]),
    (["nvlink-1-*=0.5"], [("link", "nvlink-1-.*", "bandwidth", 0.5)]),
    (["nic-?-3=0.1"], [("link", "nic-.-3", "bandwidth", 0.1)]),
    (["gpu-1-*=0.8"], [("host", "gpu-1-.*", "speed", 0.8)]),
    (["node-0=0.5"], [("host", "gpu-0-.*", "speed", 0.5)]),
    (["A100-*=2"], [("host", "gpu-.*", "speed", 2)]),
    (["gpu-0-0.speed=0.3", "nic=2"], [("host", "gpu-0-0", "speed", 0.3), ("link", "nic-.*", "bandwidth", 2)]),
    (["nic=0.5", "nic=0.5"], [("link", "nic-.*", "bandwidth", 0.25)]),
]


def by_hand(folder, stagesim):
    xml = (folder / "as-is.xml").read_text()
    (folder / "job.yaml").write_text("platform: as-is.xml\n" + JOB)
    as_is = summary(stagesim, "job.yaml", "out", "--engine", "analytic", cwd=folder)["time"]["iteration_s"]
    for number, (changes, edits) in enumerate(CASES):
        edited = xml
        for one in edits:
            edited = edit(edited, *one)
        (folder / "edited.xml").write_text(edited)
        (folder / "edited.yaml").write_text("platform: edited.xml\n" + JOB)
        scales = [word for change in changes for word in ("--scale", change)]
        for engine in ["analytic", "simgrid"] if number % 3 == 0 else ["analytic"]:
            found = summary(stagesim, "job.yaml", "out", "--engine", engine, *scales, cwd=folder)
            expected = summary(stagesim, "edited.yaml", "out", "--engine", engine, cwd=folder)
            for figure in ("iteration_s",):
                check.near(found["time"][figure], expected["time"][figure], f"{changes} {engine} {figure}")
            check.near(found["bubble"]["ratio"], expected["bubble"]["ratio"], f"{changes} {engine} bubble", 1e-7)
        name = found["scenario"]["platform"]
        check.that(name == f"as-is.xml with {', '.join(changes)}", f"{changes}: {name}")
        check.that(found["time"]["iteration_s"] != as_is, f"{changes}: nothing changed")


def passed_twice(folder, stagesim):
    """A route that has a link twice, one after the other, has its latency twice, also the changed one."""
    def bus(latency):
        return HEAD + f"""<zone id="z" routing="Full">
<host id="gpu-0" speed="1Tf"/><host id="gpu-1" speed="1Tf"/>
<link id="bus-0" bandwidth="1GBps" latency="{latency}us"/>
<route src="gpu-0" dst="gpu-1"><link_ctn id="bus-0"/><link_ctn id="bus-0"/></route>
</zone></platform>
"""
    times = {}
    for name, latency, scales in (("changed", 10, ("--scale", "bus.latency=100")), ("edited", 1000, ())):
        (folder / f"{name}.xml").write_text(bus(latency))
        (folder / f"{name}.yaml").write_text(f"""platform: {name}.xml
workload: stages
stages: {{forward: 1ms, backward: 1ms, message: 1B}}
parallel: {{pipeline: 2}}
batch: {{micro_batches: 1}}
schedule: gpipe
engine: analytic
""")
        times[name] = summary(stagesim, f"{name}.yaml", "out", *scales, cwd=folder)["time"]["iteration_s"]
    check.near(times["changed"], times["edited"], "a link that is passed twice")
    check.near(times["edited"], 4e-3 + 2 * 2e-3, "two messages over two latencies of 1 ms", 1e-5)


def in_the_scenario(folder, stagesim):
    """The key and the option are the same; the option takes the key's place."""
    (folder / "key.yaml").write_text("platform: dgx-a100:4\nwhat_if: [nic=0.5, \"gpu-1-*=0.8\"]\n" + JOB)
    (folder / "plain.yaml").write_text("platform: dgx-a100:4\n" + JOB)
    one = summary(stagesim, "key.yaml", "out", cwd=folder)["time"]
    other = summary(stagesim, "plain.yaml", "out", "--scale", "nic=0.5", "--scale", "gpu-1-*=0.8", cwd=folder)["time"]
    check.that(one == other, "the key and the option differ")
    none = summary(stagesim, "key.yaml", "out", "--set", "what_if=none", cwd=folder)["time"]
    check.that(none == summary(stagesim, "plain.yaml", "out", cwd=folder)["time"], "what_if=none changes something")


def shares(folder, stagesim):
    """A share draws whole links, both directions at once, as many as it says; by seed."""
    (folder / "plain.yaml").write_text("platform: dgx-a100:4\n" + JOB)
    outcomes = set()
    for seed in range(6):
        time = summary(stagesim, "plain.yaml", "out", "--scale", f"nic@5%/{seed}=0.05", cwd=folder)["time"]
        again = summary(stagesim, "plain.yaml", "out", "--scale", f"nic@5%/{seed}=0.05", cwd=folder)["time"]
        check.that(time == again, f"seed {seed}: two runs differ")
        outcomes.add(time["iteration_s"])
    check.that(len(outcomes) > 1, f"all seeds draw alike: {outcomes}")
    whole = summary(stagesim, "plain.yaml", "out", "--scale", "nic@100%=0.5", cwd=folder)["time"]
    check.that(whole == summary(stagesim, "plain.yaml", "out", "--scale", "nic=0.5", cwd=folder)["time"], "100 %")


def broken(folder, stagesim):
    """Interfaces that are down. All-reduce over 4 nodes of 8: the other seven carry it, so 8/7 of the time from which
    bytes decide. A message of a GPU whose interface is down shares its neighbour's with another message."""
    times = {}
    for change in ("nic=1", "nic-*-3=down", "nic-1-3=down", "nic-1-3=0.5"):
        for engine in ("simgrid", "analytic"):
            text = run(stagesim, "collective", "all-reduce", "--platform", "dgx-h100:4", "--algorithm", "ring",
                       "--sizes", "16GiB:16GiB:2", "--scale", change, "--engine", engine, "--format", "json").stdout
            times[change, engine] = json.loads(text)["rows"][0]["time_us"]
    for engine in ("simgrid", "analytic"):
        for change, factor in (("nic-*-3=down", 8 / 7), ("nic-1-3=down", 8 / 7), ("nic-1-3=0.5", 2)):
            check.near(times[change, engine] / times["nic=1", engine], factor, f"{change} {engine}", 5e-3)
    job = """workload: stages
stages: {forward: 1ms, backward: 1ms, message: 9GB}
parallel: {data: 8, pipeline: 2}
batch: {micro_batches: 1}
schedule: gpipe
"""
    (folder / "messages.yaml").write_text("platform: dgx-h100:2\norder: [data, pipeline]\n" + job)
    for change, factor in (("nic=1", 1), ("nic-0-3=down", 2), ("nic-?-3=down", 2)):
        run(stagesim, "run", "messages.yaml", "--scale", change, "--trace", "csv", "-o", "traced", cwd=folder)
        with open(folder / "traced" / "operations.csv", newline="", encoding="utf-8") as file:
            last = max(float(row["end_s"]) for row in csv.DictReader(file) if row["kind"] == "activation")
        check.near(last - 1e-3, factor * 9e9 / 45e9, f"messages, {change}", 1e-4)


def caps(folder, stagesim):
    """Links that became faster and run into others are told of: what a node's links carry together is known here."""
    node = {"nic": 8 * 45.0, "pcie": 8 * 48.0, "uplink": 360.0}
    (folder / "capped.yaml").write_text(JOB + "platform: dgx-h100:4\n")
    for changes in ({"nic": 2}, {"nic": 1.05}, {"nic": 2, "uplink": 2}, {"nic": 1.05, "uplink": 1.05}, {"uplink": 3},
                    {"nic": 0.5}, {"nic": 2, "uplink": 2, "pcie": 2}, {"nvlink": 4},
                    {"nic": 2, "uplink": 1.5, "pcie": 2},
                    {"nic": 1.05, "uplink": 1.5}, {"uplink": 1.01, "pcie": 2}):
        after = {kind: rate * changes.get(kind, 1) for kind, rate in node.items()}
        wanted, comes = False, None  # what the links that became faster let through, on the way of all transfers
        for kind in ("pcie", "nic", "uplink", "uplink", "nic", "pcie"):
            wanted |= comes is not None and after[kind] < comes * (1 - 1e-9)
            if changes.get(kind, 1) > 1:
                comes = after[kind] if comes is None else min(comes, after[kind])
        scales = sum((["--scale", f"{kind}={factor}"] for kind, factor in changes.items()), [])
        said = run(stagesim, "run", "capped.yaml", "--engine", "analytic", *scales, cwd=folder).stderr
        check.that(("note: what_if: " in said and "faster links before it" in said) == wanted, f"{changes}: {said}")
    text = run(stagesim, "collective", "all-reduce", "--platform", "dgx-h100:4", "--scale", "nic=2", "--sizes",
               "1GiB:1GiB:2").stdout
    check.that("uplink-0 carries 360 GB/s, less than the 720 GB/s of the faster links before it" in text, text)
    text = run(stagesim, "collective", "all-reduce", "--platform", "dgx-h100:4", "--scale", "uplink=3", "--sizes",
               "1GiB:1GiB:2").stdout  # eight transfers share the uplink
    check.that("nic-0-0 carries 45 GB/s, less than the 135 GB/s of the faster links before it" in text, text)


def mistakes(folder, stagesim):
    (folder / "plain.yaml").write_text("platform: dgx-a100:4\n" + JOB)
    for change, expected in [("nci=0.5", "did you mean 'nic'?"), ("nic", "expected TARGET=FACTOR"),
                             ("nic=0", "expected a number from 1e-6"), ("nic=-1", "is no factor"),
                             ("nic@=2", "is no share"), ("nic@5=2", "is no share"), ("nic@0%=2", "is no share"),
                             ("=2", "expected TARGET=FACTOR"), (".latency=2", "is no kind of links"),
                             ("nic.speed=2", "is no name of a GPU"), ("gpu-0-0.latency=2", "is no kind of links"),
                             ("nic=down", "cuts off 'gpu-0-0' of 'node-0'"), ("nic-2-*=down", "cuts off 'gpu-2-0'"),
                             ("nic.latency=down", "is down as a whole"), ("gpu-0-0=down", "is a GPU"),
                             ("nci=down", "did you mean 'nic'?"), ("routing=hash", "is no routing"),
                             ("routing=ecmp/x", "is no routing"), ("routing=ecmp", "nothing says over how many links"),
                             ("*" * 300 + "x=2", "is no kind of links"), ('"\\=2', "is no kind of links")]:
        done = run(stagesim, "run", "plain.yaml", "--scale", change, "-o", "none", cwd=folder, expect=1)
        check.that(expected in done.stderr and "error: what_if" in done.stderr, f"{change}: {done.stderr}")
        check.that(not os.path.exists(folder / "none"), f"{change}: something was written")
    (folder / "where.yaml").write_text("platform: dgx-a100:4\nwhat_if:\n  - nic=0.5\n  - nvlnik=2\n" + JOB)
    done = run(stagesim, "run", "where.yaml", cwd=folder, expect=1)
    check.that(done.stderr.startswith("where.yaml:4:5: error: what_if: 'nvlnik'"), done.stderr)
    done = run(stagesim, "run", "plain.yaml", "--set", "loader=simgrid", "--scale", "nic=2", cwd=folder, expect=1)
    check.that("only platforms that stagesim reads itself" in done.stderr, done.stderr)


def main():
    stagesim = binary_argument()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        run(stagesim, "platform", "generate", "dgx-a100", "--nodes", 4, "-o", folder / "as-is.xml")
        by_hand(folder, stagesim)
        passed_twice(folder, stagesim)
        in_the_scenario(folder, stagesim)
        shares(folder, stagesim)
        broken(folder, stagesim)
        caps(folder, stagesim)
        mistakes(folder, stagesim)
    return check.done()


if __name__ == "__main__":
    sys.exit(main())
