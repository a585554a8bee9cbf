#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""random_faults.py STAGESIM DIRECTORY FIRST COUNT [NOISE]: jobs and faults drawn at random, for tests of what explains
traces. Explain's thresholds were chosen with faulty_traces.py in sight; jobs below 2000 have corrected two things.

Job number n, from FIRST on, is drawn from the seed n: stages, replicas, micro-batches, times, sizes and one of five
schedules. It is simulated once, and replayed with one fault after the other, as in faulty_traces.py. `faults` yields
for each its name, the file of its operations, its cost, what of explain it should be in, and what it should name."""
import copy
import json
import pathlib
import random
import subprocess
import sys

import faulty_traces
from faulty_traces import LATENCY, Job

SCHEDULES = ("1f1b", "gpipe", "zb-h1", "interleaved", "eager-1f1b")
WORTH = 0.01  # of a step: faults that cost less are not looked at, for others hide them


class Drawn:
    """A job."""

    def __init__(self, number):
        self.random = random.Random(number)
        draw = self.random
        self.stages, self.replicas = draw.randint(3, 6), draw.randint(2, 3)
        self.schedule = SCHEDULES[number % len(SCHEDULES)]
        self.micro_batches = self.stages * draw.randint(2, 3)
        self.forward = draw.uniform(4, 30)
        self.backward = self.forward * draw.uniform(1.7, 2.2)
        self.optimizer = draw.uniform(2, 10)
        self.message, self.gradient = draw.uniform(4, 40), draw.uniform(40, 400)

    def scenario(self):
        chunks = ", chunks: 2" if self.schedule == "interleaved" else ""
        return f"""platform: links.xml
workload: stages
stages:
  forward: {self.forward:.3f}ms
  backward: {self.backward:.3f}ms
  optimizer: {self.optimizer:.3f}ms
  message: {self.message:.2f}MB
  gradient: {self.gradient:.2f}MB
  activation: 20MB
  parameters: 100MB
parallel: {{pipeline: {self.stages}, data: {self.replicas}}}
batch: {{micro_batches: {self.micro_batches}}}
schedule: {{name: {self.schedule}{chunks}}}
engine: analytic
"""


# ---- faults: each changes a job, and says which parts it should be in and what they should name ----

COMPUTES = ("F", "B", "W")


def slow_gpu(draw, job):
    rank, factor = draw.choice(job.ranks), draw.uniform(1.08, 1.7)
    for one in job.choose(*COMPUTES, "optimizer", rank=rank):
        one.seconds *= factor
    return {"slow-ranks"}, f"rank {rank} "


def slow_link(draw, job):
    one = draw.choice([one for one in job.choose("activation", "gradient") if one.type == "send"])
    ends, factor = {one.rank, int(one.row["peer"])}, draw.uniform(3, 12)
    for other in job.choose("activation", "gradient"):
        if {other.rank, int(other.row["peer"])} == ends:
            other.seconds = LATENCY + (other.seconds - LATENCY) * factor
    return {"messages"}, ("rank", ends)


def host_gap(draw, job):
    rank, gap, kind = draw.choice(job.ranks), draw.uniform(0.001, 0.006), draw.choice("FB")
    for one in job.choose(kind, rank=rank):
        one.gap = gap
    return {"gaps"}, f"rank {rank} "


def uneven(draw, job):
    """Sequences of log-normal lengths in all replicas, as much work in all as before."""
    workers = len({one.row["position"] for one in job.choose("F")})
    keys = sorted({(one.rank // workers, one.micro_batch) for one in job.choose("F")})
    factors = {key: draw.lognormvariate(0, 0.35) for key in keys}
    mean = sum(factors.values()) / len(keys)
    for one in job.choose(*COMPUTES):
        one.seconds *= factors[one.rank // workers, one.micro_batch] / mean
    return {"uneven-micro-batches"}, "micro-batches differ"


def pauses(draw, job):
    count, pause = draw.randint(1, 4), draw.uniform(1.5, 5)
    chosen = draw.sample(job.choose("B"), count)
    for one in chosen:
        one.pause = pause * one.seconds
    return {"pauses"}, f"{count} computation"


def slow_stage(draw, job):
    stage, factor = draw.choice(sorted({one.stage for one in job.choose("F")})), draw.uniform(1.1, 2)
    for one in job.choose(*COMPUTES, stage=stage):
        one.seconds *= factor
    return {"uneven-stages"}, f"stage {stage}"


def recomputation(draw, job):
    forward = {(one.rank, one.stage, one.micro_batch): one.seconds for one in job.choose("F")}
    for one in job.choose("B"):
        one.again = forward[one.rank, one.stage, one.micro_batch]
    return {"backwards"}, "about a forward more"


def slow_optimizer(draw, job):
    factor = draw.uniform(3, 20)
    for one in job.choose("optimizer"):
        one.seconds *= factor
    return {"other-computations"}, ""


def other_job(draw, job):
    first, factor = draw.randint(1, 5), draw.uniform(2, 8)
    for one in job.operations.values():
        if one.type == "collective" or (one.type in ("send", "receive") and one.micro_batch >= first):
            one.seconds = LATENCY + (one.seconds - LATENCY) * factor
    return {"messages", "collectives"}, ""


def message_size(draw, job):
    """Activations and their gradients in another precision."""
    factor = draw.choice([2, 4])
    for one in job.choose("activation", "gradient"):
        one.seconds = LATENCY + (one.seconds - LATENCY) * factor
        one.row = {**one.row, "bytes": repr(float(one.row["bytes"]) * factor)}
    return {"message-sizes"}, ""


def gradient_size(draw, job):
    """Gradients in another precision. A ring of n ranks has 2 (n - 1) steps of a latency each."""
    factor = draw.choice([2, 4])
    for one in job.choose("gradient-sync"):
        steps = 2 * (len(job.members[job.partner[one.rank, one.id]]) - 1) * LATENCY
        one.seconds = steps + (one.seconds - steps) * factor
        one.row = {**one.row, "bytes": repr(float(one.row["bytes"]) * factor)}
    return {"collective-sizes"}, ""


def other_order(draw, job):
    """All forwards come first."""
    for (rank, stream), order in job.streams.items():
        if stream == "compute":
            order.sort(key=lambda one: (one.kind != "F", one.kind == "optimizer"))
    return {"order"}, ""


FAULTS = {"slow GPU": slow_gpu, "slow link": slow_link, "host gap": host_gap, "uneven micro-batches": uneven,
          "pauses": pauses, "slow stage": slow_stage, "recomputation": recomputation,
          "slow optimizer": slow_optimizer, "another job": other_job, "size of messages": message_size,
          "size of gradients": gradient_size, "another order": other_order}


# ---- all of a job ----

def make_job(binary, directory, number, noise=0):
    """(the drawn, its replayed operations, seconds of a step without a fault). Each computation and transfer takes
    log-normally more or less by about `noise` of itself."""
    directory.mkdir(parents=True, exist_ok=True)
    drawn = Drawn(number)
    (directory / "links.xml").write_text(faulty_traces.platform(drawn.stages * drawn.replicas))
    (directory / "scenario.yaml").write_text(drawn.scenario())
    subprocess.run([binary, "run", str(directory / "scenario.yaml"), "-o", str(directory / "run"), "--trace", "csv",
                    "--quiet", "--set", "output.replicas=all", "--set", "fold=off"], check=True,
                   stdout=subprocess.DEVNULL)
    job = Job(directory / "run/operations.csv")
    for one in job.operations.values():
        one.seconds *= drawn.random.lognormvariate(0, noise) if noise else 1
    return drawn, job, job.replay()


def faults(binary, directory, number, noise=0):
    """(name, file, cost of a step, step, parts, who) of each that is worth it."""
    directory = pathlib.Path(directory)
    drawn, job, plain = make_job(binary, directory, number, noise)
    for name, fault in FAULTS.items():
        faulty = copy.deepcopy(job)
        parts, who = fault(drawn.random, faulty)
        step = faulty.replay()
        if abs(step - plain) < max(WORTH, 3 * noise) * plain:
            continue
        path = directory / f"{name.replace(' ', '-')}.csv"
        faulty.write_csv(path)
        yield name, path, step - plain, step, parts, who


def explain(binary, directory, path, name=None):
    """explain.json of a faulty run; with its own name, for those that are read beside each other."""
    out = pathlib.Path(directory) / (name or "why")
    subprocess.run([binary, "explain", str(pathlib.Path(directory) / "scenario.yaml"), str(path), "-o", str(out),
                    "--quiet"], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return json.loads((out / "explain.json").read_text())


def names(found, parts, who):
    """Whether the words of those parts name it."""
    words = " ".join(part.get("worst", "") for part in found["parts"] if part["part"] in parts)
    if isinstance(who, tuple):
        return any(f"{who[0]} {rank}" in words for rank in who[1])
    return who in words


def judge(found, cost, parts, who):
    """(share of the cost that is charged where it should be, share that is charged elsewhere, whether it is named)"""
    charged = sum(part["seconds"] for part in found["parts"] if part["part"] in parts)
    elsewhere = sum(abs(part["seconds"]) for part in found["parts"] if part["part"] not in parts)
    return charged / cost, elsewhere / abs(cost), names(found, parts, who)


def main():
    binary, directory, first, count = sys.argv[1], pathlib.Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
    noise = float(sys.argv[5]) if len(sys.argv) > 5 else 0
    hits, all_of, named = {}, {}, {}
    for number in range(first, first + count):
        folder = directory / str(number)
        for name, path, cost, _, parts, who in faults(binary, folder, number, noise):
            share, elsewhere, known = judge(explain(binary, folder, path), cost, parts, who)
            hit = abs(share - 1) <= 0.05
            all_of[name] = all_of.get(name, 0) + 1
            hits[name] = hits.get(name, 0) + hit
            named[name] = named.get(name, 0) + known
            if not hit or not known:
                print(f"{number:4} {name:22} {100 * share:7.1f} % of {1e3 * cost:8.2f} ms, {100 * elsewhere:6.1f} % "
                      f"elsewhere, {'named' if known else 'not named'}")
    for name in FAULTS:
        if name in all_of:
            print(f"{name:22} {hits[name]} of {all_of[name]} within 5 %, {named[name]} named")


if __name__ == "__main__":
    main()
