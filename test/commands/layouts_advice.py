#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""layouts_advice.py STAGESIM: `stagesim layouts --method advice` against the numbers that its rules give by hand, and
against simulations of jobs in which nothing overlaps."""
import csv
import io
import itertools
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from tool import Checker

SPEED, HOSTS = 1e12, 40
SPEED_UPS = {2: 1.833, 4: 3.143, 8: 4.889, 16: 6.769}  # G (1 + R)/(1 + G R) for R = 0.1
RESNET_50 = 25557032  # parameters
check = Checker()


def stagesim(*arguments, code=0):
    done = subprocess.run([STAGESIM, *map(str, arguments)], capture_output=True, text=True, timeout=300)
    check.that(done.returncode == code, f"{arguments}: exit code {done.returncode}\n{done.stderr}")
    return done.stdout if code == 0 else done.stderr


def write_job(folder, computing, parameters, servers, rate, workers=16):
    """One layer that computes for so many seconds, in fp32, on hosts with a link in each direction."""
    hosts = "".join(f'<host id="h-{i}" speed="{SPEED}f"/>' for i in range(HOSTS))
    links = "".join(f'<link id="{way}-{i}" bandwidth="{rate}Bps" latency="0s"/>' for i in range(HOSTS)
                    for way in ("up", "down"))
    routes = "".join(f'<route src="h-{i}" dst="h-{k}" symmetrical="NO"><link_ctn id="up-{i}"/><link_ctn '
                     f'id="down-{k}"/></route>' for i, k in itertools.permutations(range(HOSTS), 2))
    (folder / "star.xml").write_text('<?xml version="1.0"?><!DOCTYPE platform SYSTEM '
                                     '"https://simgrid.org/simgrid.dtd"><platform version="4.1">'
                                     f'<zone id="star" routing="Full">{hosts}{links}{routes}</zone></platform>')
    path = folder / "job.yaml"
    path.write_text("platform: star.xml\nworkload: layers\nmodel: {layers: [{name: a, flops: "
                    f"{computing * SPEED / 2}, parameters: {parameters}, outputs: 1}}]}}\n"
                    f"parallel: {{data: {workers}}}\nbatch: {{global: {workers}, micro: 1}}\n"
                    f"layers: {{servers: {servers}}}\ncompute: {{precision: fp32, efficiency: 1}}\n")
    return path


def advise(path, *arguments):
    return json.loads(stagesim("layouts", path, "--method", "advice", "--format", "json", *arguments))


def check_speed_up(folder):
    """A server's link takes what workers exchange one after the other: T_C + G T_O."""
    computing, rate = 0.4, 10e9
    parameters = int(0.1 * computing * rate / 2 / 4)  # R = 0.1: the gradient and the weights cross the link
    path = write_job(folder, computing, parameters, 1, rate)
    advice = advise(path)
    check.near(advice["ratio"], 0.1, "R", 1e-6)
    check.that([row["count"] for row in advice["gpus"]] == [1, 2, 4, 8, 16], f"numbers of GPUs: {advice['gpus']}")
    for row in advice["gpus"][1:]:
        published = SPEED_UPS[row["count"]]
        check.near(row["speedup"], published, f"rule for {row['count']} GPUs", 2e-4)
        check.near(row["simulated_speedup"], published, f"simulated speed-up of {row['count']} GPUs", 1e-2)
        check.near(row["iteration_s"] / (computing * (1 + 0.1 * row["count"])), 1, f"iteration of {row['count']} GPUs",
                   1e-6)
    # By hand: 1.1/0.1 is the limit, and (1.1 - a)/(0.1 a) GPUs reach an efficiency a.
    text = stagesim("layouts", path, "--method", "advice", "--top", "0")
    check.that("at most (1 + R)/R = 11\n" in text, f"limit of the speed-up:\n{text}")
    check.that("90.00 %: 2.222, 80.00 %: 3.75, 70.00 %: 5.714, 50.00 %: 12\n" in text,
               f"GPUs for an efficiency:\n{text}")
    check.that(not any("iteration_s" in row for row in advise(path, "--top", "0")["gpus"][1:]), "--top 0 simulates")
    rows = list(csv.DictReader(io.StringIO(stagesim("layouts", path, "--format", "csv"))))
    check.that([float(row["rule"]) for row in rows if row["what"] == "gpus"] ==
               [row["speedup"] for row in advice["gpus"]], "csv and json differ")


def check_servers(folder):
    """ResNet-50 in fp32, 16 workers, 1.25 GB/s, 0.4 s of computing: 6.54, so 7 servers."""
    computing, rate = 0.4, 1.25e9
    path = write_job(folder, computing, RESNET_50, 16, rate)
    advice = advise(path)
    check.near(advice["servers_needed"], 6.54, "servers of ResNet-50", 1e-3)
    rows = advice["servers"]
    check.that([row["count"] for row in rows] == [1, 2, 4, 7], f"numbers of servers: {rows}")
    for row in rows:
        moving = row["iteration_s"] - computing
        check.near(moving * row["count"] * rate / (2 * 4 * RESNET_50 * 16), 1, f"links of {row['count']} servers", 1e-2)
        check.near(row["links_s"] / moving, 1, f"rule and simulation for {row['count']} servers", 1e-2)
        check.that((moving <= computing) == (row["count"] >= 7), f"{row['count']} servers are enough, or not")
    six = json.loads(run(path, "layers.servers=6"))["time"]["iteration_s"] - computing
    check.that(six > computing, "six servers are enough")
    check.that(math.ceil(advice["servers_needed"]) == 7, "servers, rounded up")


def run(path, *sets):
    out = path.parent / "out"
    stagesim("run", path, "-o", out, "--quiet", *sum((["--set", value] for value in sets), []))
    return (out / "summary.json").read_text()


def check_mistakes(folder):
    path = write_job(folder, 0.1, 1000, 0, 1e9)
    check.that("expected no axis but data" in stagesim("layouts", path, "--set", "parallel={tensor: 2}", "--set",
                                                       "batch={micro: 1, micro_batches: 1}", code=1), "tensor axis")
    check.that("expected --method" in stagesim("layouts", path, "--method", "axonn", code=1), "another method")
    alone = advise(path)
    check.near(alone["ratio"] + 1, 1, "R without servers", 1e-9)
    check.that(alone["servers"] == [] and alone["servers_needed"] > 0, "servers where there are none")


def main():
    global STAGESIM
    STAGESIM = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory() as name:
        for function in (check_speed_up, check_servers, check_mistakes):
            function(pathlib.Path(name))
    return check.done()


if __name__ == "__main__":
    sys.exit(main())
