#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""routes.py STAGESIM: hashed routes in commands, on both engines: the slow-down of a ring over two pods is what the
fullest link carries, with the links counted from `platform show --between`; a file, a preset and a change of the
platform draw alike; seeds differ, and their mean is that of balls in bins."""
import collections
import itertools
import json
import pathlib
import re
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from tool import Checker, binary_argument, run, summary

check = Checker()
GPUS = 8
SIZE = "16GiB:16GiB:2"
JOB = """workload: stages
stages: {forward: 1ms, backward: 2ms, message: 1MB, gradient: 4GB}
parallel: {data: 16}
batch: {micro_batches: 1}
schedule: gpipe
communication: {all_reduce: ring}
"""


def generate(stagesim, path, *options):
    run(stagesim, "platform", "generate", "dgx-h100", "--nodes", 2, "--pod", 1, *options, "-o", path)
    return path


def seconds(stagesim, platform, engine):
    text = run(stagesim, "collective", "all-reduce", "--platform", platform, "--algorithm", "ring", "--sizes", SIZE,
               "--engine", engine, "--format", "json").stdout
    return json.loads(text)["rows"][0]["time_us"]


def links(stagesim, platform, source, target):
    text = run(stagesim, "platform", "show", platform, "--between", source, target, "--format", "json").stdout
    return [link["name"] for link in json.loads(text)["links"]]


def fullest(stagesim, platform, flows):
    """Parts of transfers on the fullest link, over the flows; ring j leaves node 0 at the GPU where it enters node 1,
    and goes back two GPUs further."""
    carried = collections.Counter()
    for a, b, shift in ((0, 1, 0), (1, 0, 2)):
        for gpu in range(GPUS):
            route = links(stagesim, platform, f"gpu-{a}-{gpu}", f"gpu-{b}-{(gpu + shift) % GPUS}")
            names = [name for name in route if name.startswith("spine")]
            check.near(len(names), 2 * flows, f"{platform}: links of a route")
            ups, downs = names[:flows], names[flows:]
            check.that([n.split("-")[2].split("_")[0] for n in ups] == [n.split("-")[2].split("_")[0] for n in downs],
                       f"{platform}: {ups} and {downs}")
            carried.update(names)
    return max(carried.values()) / flows


def rings(stagesim, folder):
    even = {engine: seconds(stagesim, generate(stagesim, folder / "even.xml"), engine)
            for engine in ("simgrid", "analytic")}
    for seed, flows in ((1, 1), (2, 1), (3, 4)):
        file = generate(stagesim, folder / f"{seed}.xml", "--routing", "ecmp", "--paths", GPUS, "--seed", seed,
                        "--flows", flows)
        slower = fullest(stagesim, file, flows)
        check.that(slower > 1, f"seed {seed}: no two flows meet")
        for engine, alone in even.items():
            check.near(seconds(stagesim, file, engine) / alone, slower, f"seed {seed}, {engine}", 0.02)


def draws_alike(stagesim, folder):
    """The file, the preset and the changed platform."""
    file = generate(stagesim, folder / "seed.xml", "--routing", "ecmp", "--paths", 8, "--seed", 5)
    preset = "platform: {preset: dgx-h100, nodes: 2, pod: 1, routing: ecmp, paths: 8, seed: 5}\n"
    for name, platform in (("file", f"platform: {file.name}\n"), ("preset", preset)):
        (folder / f"{name}.yaml").write_text(platform + JOB)
    times = {(name, engine): summary(stagesim, f"{name}.yaml", "out", "--engine", engine, cwd=folder)["time"]
             for name in ("file", "preset") for engine in ("simgrid", "analytic")}
    for engine in ("simgrid", "analytic"):
        check.near(times["file", engine]["iteration_s"], times["preset", engine]["iteration_s"], engine, 1e-15)


def expectation():
    """Flows on the fullest of two links in either of two directions, each with eight flows, over four; by counting."""
    worst = [max(throw.count(0), throw.count(1)) / 4 for throw in itertools.product((0, 1), repeat=GPUS)]
    chances = collections.Counter(worst)
    return sum(chances[one] * chances[other] * max(one, other)
               for one, other in itertools.product(chances, repeat=2)) / len(worst)**2


def seeds(stagesim, folder):
    """A sweep over seeds: its mean is the expectation of two directions."""
    (folder / "seeds.yaml").write_text("platform: {preset: dgx-h100, nodes: 2, pod: 1}\n" + JOB)
    even = summary(stagesim, "seeds.yaml", "out", "--engine", "analytic", cwd=folder)["time"]["iteration_s"]
    hashed = "platform: {preset: dgx-h100, nodes: 2, pod: 1, routing: ecmp, paths: 2}\n"
    (folder / "seeds.yaml").write_text(hashed + JOB)
    done = run(stagesim, "sweep", "seeds.yaml", "--set", "platform.seed=1:200:1", "--engine", "analytic", "-o", "swept",
               cwd=folder)
    rows = json.loads((folder / "swept" / "sweep.json").read_text())
    found = [row["iteration_s"] for row in rows]
    check.that(len(found) == 200 and len(set(found)) > 3, f"{len(found)} rows, {len(set(found))} times")
    found.sort()
    said = re.search(r"iteration time over 200 seeds: mean (\S+ \S+), least (\S+ \S+), median (\S+ \S+), "
                     r"95 % up to (\S+ \S+), most (\S+ \S+)\n", done.stdout)
    check.that(said, f"no spread in {done.stdout[-300:]}")
    for text, value in zip(said.groups() if said else (), (sum(found) / 200, found[0], found[99], found[189],
                                                           found[199])):
        number, unit = text.split()
        check.near(float(number) * {"s": 1, "ms": 1e-3}[unit], value, f"spread: {text}", 2e-3)
    compute = 3e-3
    mean = sum((time - compute) / (even - compute) for time in found) / len(found)
    check.near(mean, expectation(), "mean over seeds", 0.03)


def folded(stagesim, folder):
    """Replicas that are alike are still simulated once, with the same times."""
    platform = "platform: {preset: dgx-h100, nodes: 4, pod: 1, rails: spine, routing: ecmp, paths: 2}\n"
    (folder / "folded.yaml").write_text(platform + """workload: transformer
model: llama3-8b
parallel: {tensor: 4, pipeline: 2, data: 4}
batch: {micro: 1, global: 16}
schedule: 1f1b
""")
    for change in ("routing=ecmp/3", "nic-1-2=down"):
        times = [summary(stagesim, "folded.yaml", "out", "--set", f"fold={fold}", "--scale", change,
                         cwd=folder)["time"]["iteration_s"] for fold in ("auto", "off")]
        check.near(*times, f"{change}: folded and not", 1e-9)


def main():
    stagesim = binary_argument()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        rings(stagesim, folder)
        draws_alike(stagesim, folder)
        seeds(stagesim, folder)
        folded(stagesim, folder)
    return check.done()


if __name__ == "__main__":
    sys.exit(main())
