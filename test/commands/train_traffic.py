#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""train_traffic.py STAGESIM: checkpoints that share links with the job, against cases worked by hand; copies to other
nodes; a state that is simulated in part; which hosts storage is behind; mistakes."""
import json
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from tool import Checker, binary_argument, run

NAMES = ("gpu-0", "gpu-1", "store-0", "store-1")
JOB = """platform: star.xml
workload: stages
stages: {forward: 200ms, backward: 400ms, gradient: 400MB}
parallel: {data: 2}
batch: {micro_batches: 1, micro: 1}
schedule: 1f1b
engine: analytic
training: {steps: 3600, runs: 10, start: 0s}
failures: {components: [{name: job, unit: job, every: 3600s}], scale: 0, detect: 0s, restart: 120s}
checkpoint: {every: 10min, traffic: simulated, servers: store-0, bytes: 1.6GB, save: 100ms}
"""
check = Checker()


def star():
    """Each host has a node and a link of its own of 1 GB/s, storage one of 100 GB/s; nothing has a latency."""
    zones = "".join(f'<zone id="node-{n}" routing="Full"><host id="{n}" speed="1Tf"/></zone>' for n in NAMES)
    links = "".join(f'<link id="link-{n}" bandwidth="{1 if n.startswith("gpu") else 100}GBps" latency="0s" '
                    'sharing_policy="SPLITDUPLEX"/>' for n in NAMES)
    routes = "".join(f'<zoneRoute src="node-{a}" dst="node-{b}" gw_src="{a}" gw_dst="{b}">'
                     f'<link_ctn id="link-{a}" direction="UP"/><link_ctn id="link-{b}" direction="DOWN"/></zoneRoute>'
                     for i, a in enumerate(NAMES) for b in NAMES[i + 1:])
    return ("<?xml version='1.0'?>\n<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n"
            f'<platform version="4.1"><zone id="all" routing="Full">{zones}{links}{routes}</zone></platform>\n')


def forecast(stagesim, folder, *sets):
    arguments = [word for each in sets for word in ("--set", each)]
    run(stagesim, "train", "job.yaml", "-o", "out", "--quiet", *arguments, cwd=folder)
    return json.loads((folder / "out/forecast.json").read_text())["forecast"]


def by_hand(stagesim, folder):
    """600 MB are written while the job computes; then both have half of the link. A slower storage caps a checkpoint
    at 500 MB/s a rank, which leaves the exchange as much."""
    for storage, write, slowed, load in (("100GBps", 1, 0.2, 0.8), ("1GBps", 1.6, 0.4, 1.6)):
        figures = forecast(stagesim, folder, f"checkpoint.storage={storage}")
        check.near(figures["checkpoint_write_s"], write, f"{storage}: written")
        check.near(figures["checkpoint_slowed_s"], slowed, f"{storage}: slowed")
        check.near(figures["checkpoint_load_s"], load, f"{storage}: loaded")
        # Without failures: six checkpoints, behind the last of which there are no steps; all of that one is written.
        check.near(figures["mean_s"], 3600 + 6 * 0.1 + 5 * slowed + write, f"{storage}: the whole", 1e-9)
        check.near(figures["part_checkpoint_s"], 6 * 0.1 + 5 * slowed + write, f"{storage}: its checkpoints", 1e-9)
    blocking = forecast(stagesim, folder,
                        "checkpoint={every: 10min, way: blocking, traffic: simulated, servers: store-0, bytes: 1.6GB}")
    check.near(blocking["checkpoint_save_s"], 0.8, "the job stands still for the writing alone")
    check.near(blocking["checkpoint_slowed_s"], 0, "and steps are as long as ever")
    quiet = forecast(stagesim, folder, "stages.gradient=0B")
    check.near(quiet["checkpoint_slowed_s"], 0, "a job without traffic is not slowed")
    check.near(quiet["checkpoint_write_s"], 0.8, "nor does it slow")
    both = forecast(stagesim, folder, "checkpoint.servers=store-*")
    check.near(both["checkpoint_write_s"], 1, "a server for each rank")


def copies(stagesim, folder):
    """Copies to the other node share both directions of the links with the exchange, a ring of two."""
    figures = forecast(stagesim, folder, "checkpoint.way=memory", "checkpoint.storage_every=30min")
    check.near(figures["checkpoint_slowed_s"], 0.2, "to storage")
    # Five checkpoints with steps behind: two of them go to storage, at 1,800 and, by the interval, at no other.
    check.near(figures["part_checkpoint_s"], 6 * 0.1 + 5 * 0.2 + 1, "each copy slows as much")
    printed = run(stagesim, "train", "job.yaml", "--set", "checkpoint.way=memory", cwd=folder).stdout
    check.that("they take 0.2 s longer in all; a copy to another node takes 1 s, and steps 0.2 s longer" in printed,
               printed)


def in_part(stagesim, folder):
    """Forty times the state: 32 s alone, so a quarter is simulated beside eight iterations. In each round of 1.4 s (0.6
    s alone, 0.8 s beside an exchange with half of the link) 1 GB is written: a quarter takes eight rounds."""
    figures = forecast(stagesim, folder, "checkpoint.bytes=64GB")
    check.near(figures["checkpoint_write_s"], 4 * 8 * 1.4, "written", 1e-3)
    check.near(figures["checkpoint_slowed_s"], 4 * 8 * 0.4, "slowed", 1e-3)


def elsewhere(stagesim, folder):
    """run says the same, also on SimGrid; a sweep takes it; servers are hosts of nodes without ranks by default."""
    figures = forecast(stagesim, folder)
    for engine in ("analytic", "simgrid", "both"):
        run(stagesim, "run", "job.yaml", "-o", "run", "--quiet", "--engine", engine, cwd=folder)
        written = json.loads((folder / "run/summary.json").read_text())["forecast"]
        check.near(written["checkpoint_slowed_s"], figures["checkpoint_slowed_s"], engine)
        check.near(written["mean_s"], figures["mean_s"], engine)
    text = run(stagesim, "sweep", "job.yaml", "--set", "checkpoint.storage=1GBps,100GBps", "--y", "days", "--quiet",
               "--format", "csv", cwd=folder).stdout.splitlines()
    check.that(len(text) == 3 and text[1] != text[2], text)
    default = forecast(stagesim, folder,
                       "checkpoint={every: 10min, traffic: simulated, bytes: 1.6GB, save: 100ms}")
    check.near(default["checkpoint_write_s"], 1, "the nodes without ranks")


def broken_links(stagesim, folder):
    """A link of half the rate: the exchange takes 0.8 s, and an iteration of 1 s 1.4 s, as if that were given."""
    component = ("failures={{components: [{{name: cable, unit: job, every: 1000s, effect: slow, replace: false, "
                 "detect: 0s, repair: 500s, {}}}], spares: 0}}")
    plain = ["checkpoint={every: none}", "training.steps=200000"]
    simulated = forecast(stagesim, folder, *plain, component.format("what_if: link-gpu-0=0.5"))
    given = forecast(stagesim, folder, *plain, component.format("slow: 1.4"))
    check.near(simulated["mean_s"], given["mean_s"], "as slow as that makes steps")
    check.that(given["part_slow_s"] > 0.1 * given["computing_s"], f"slow steps: {given['part_slow_s']}")
    figures = forecast(stagesim, folder, *plain, component.format("what_if: link-gpu-0=0.5"), "engine=simgrid")
    check.near(figures["mean_s"], given["mean_s"], "on SimGrid")
    arguments = [word for each in (*plain, component.format("what_if: link-gpu-0=0.5")) for word in ("--set", each)]
    printed = run(stagesim, "train", "job.yaml", *arguments, cwd=folder).stdout
    check.that("cable (link-gpu-0=0.5): steps take 1.4 times as long" in printed, printed)
    for row, words in (("what_if: link-gpu-0=down", "expected a change with which the job can go on"),
                       ("what_if: lnk=down", "cable"), ("what_if: link", "what_if of cable"),
                       ("slow: 2, what_if: link-gpu-0=0.5", "both say how slow steps are"),
                       ("effect: stop, what_if: link-gpu-0=0.5", "needs effect: slow")):
        change = component.format(row).replace("effect: slow, ", "" if "effect" in row else "effect: slow, ")
        done = run(stagesim, "train", "job.yaml", "--set", plain[0], "--set", change, cwd=folder, expect=1)
        check.that(words in " ".join(done.stderr.split()), f"{row}: {done.stderr}")


def mistakes(stagesim, folder):
    wrong = {
        "checkpoint.servers=gpu-*": "the job has a rank on gpu-0; expected hosts without ranks",
        "checkpoint.servers=stor": "no host of the platform has such a name; expected names such as store-1",
        "checkpoint={every: 10min, traffic: simulated, bytes: 1GB, write: 3s}": "which is given already",
        "checkpoint={every: 10min, traffic: simulated}": "nothing says how large a state is",
        "checkpoint={every: 10min, servers: store-0}": "servers changes nothing; it needs traffic: simulated",
        "checkpoint.traffic=simulate": "did you mean 'simulated'?",
        "loader=simgrid": "traffic: simulated needs a platform that stagesim reads itself",
        "parallel.data=4": "all nodes of the platform have ranks",
    }
    for change, words in wrong.items():
        arguments = ["--set", change]
        if change == "parallel.data=4":
            arguments += ["--set", "checkpoint={traffic: simulated, bytes: 1GB}"]
        done = run(stagesim, "train", "job.yaml", *arguments, cwd=folder, expect=1)
        check.that(words in " ".join(done.stderr.split()), f"{change}: {done.stderr}")
        check.that(done.stdout == "", f"{change}: nothing is printed")
    done = run(stagesim, "search", "job.yaml", "--set", "search={objective: days}", cwd=folder, expect=1)
    check.that("traffic: simulated is of one layout" in " ".join(done.stderr.split()), done.stderr)
    done = run(stagesim, "search", "job.yaml", "--set", "search={objective: days}", "--set", "checkpoint=10min",
               "--set", "failures.components=[{name: a, every: 9h, effect: slow, what_if: link-gpu-0=0.5}]",
               cwd=folder, expect=1)
    check.that("what_if of a component is of one layout" in " ".join(done.stderr.split()), done.stderr)
    done = run(stagesim, "train", "job.yaml", "--set", "stages.forward=[1s, 2s]", "--set", "checkpoint=10min",
               "--set", "failures.components=[{name: a, every: 9h, effect: slow, what_if: link-gpu-0=0.5}]",
               cwd=folder, expect=1)
    check.that("2 values for a pipeline" in done.stderr and "can go on" not in done.stderr, done.stderr)
    done = run(stagesim, "plan", "job.yaml", cwd=folder, expect=1)
    check.that("traffic: simulated needs nodes beside those of the job" in " ".join(done.stderr.split()), done.stderr)


def main():
    stagesim = binary_argument()
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / "star.xml").write_text(star())
        (folder / "job.yaml").write_text(JOB)
        for part in (by_hand, copies, in_part, elsewhere, broken_links, mistakes):
            part(stagesim, folder)
    return check.done()


if __name__ == "__main__":
    sys.exit(main())
