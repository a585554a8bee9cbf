#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""split_pipeline.py STAGESIM: split layers in pipelines. One stage is the job without a pipeline; all layers by samples
are the data-parallel pipeline; random networks, splits, speeds and stages take on both engines the time that a graph of
passes, messages and all-reduces has, which is built here from sets of indices."""
import graphlib
import itertools
import json
import math
import pathlib
import random
import sys
import tempfile

import split_runs as base

from split_runs import ENGINES, LATENCY, RATE, ROOT, SAMPLES, SPEED, expect, near, run


# ---- the limits ----

FIGURES = (("time", "iteration_s"), ("communication", "sent_bytes"), ("memory", "peak_bytes"), ("throughput", "mfu"),
           ("memory", "parts", "activations_bytes"))


def figure(summary, path):
    for key in path:
        summary = summary[key]
    return summary


def check_one_stage(folder):
    """A pipeline of one stage is the job without a schedule."""
    scenario = {"platform": str(ROOT / "platforms/dgx-a100-2.xml"), "workload": "layers", "model": "resnet-50",
                "parallel": {"data": 4, "tensor": 2}, "batch": {"global": 256, "micro": 16},
                "compute": {"precision": "fp16"},
                "split": {"layers": [{"layer": "*", "height": 2}, {"layer": "pool5", "sample": 8},
                                     {"layer": "fc", "in": 2, "shares": [1, 1, 1, 1, 3, 2]}]}}
    for engine, overlap in itertools.product(ENGINES, (True, False)):
        scenario |= {"engine": engine, "communication": {"overlap": overlap}}
        plain, piped = run(folder, scenario), run(folder, scenario | {"schedule": "1f1b"})
        for path in FIGURES:
            near(figure(piped, path), figure(plain, path), f"one stage, {engine} {overlap}: {path}", 1e-12)


def check_data(folder):
    """All layers by samples: the data-parallel pipeline, but for the copies of what stages get, which are kept."""
    for model, schedule, engine in itertools.product(("alexnet", "vgg-11"), ("gpipe", "1f1b", "interleaved", "zb-h1"),
                                                     ENGINES):
        scenario = {"platform": str(ROOT / "platforms/dgx-a100-2.xml"), "workload": "layers", "model": model,
                    "parallel": {"data": 2, "pipeline": 4}, "batch": {"global": 128, "micro": 8},
                    "compute": {"precision": "fp16"}, "engine": engine, "schedule": schedule}
        plain = run(folder, scenario)
        split = run(folder, scenario | {"split": {"layers": [{"layer": "*", "sample": 2}]}})
        for path in FIGURES[:2] + (("throughput", "mfu"), ("memory", "parts", "parameters_bytes"),
                                   ("memory", "parts", "optimizer_bytes")):
            near(figure(split, path), figure(plain, path), f"{model} {schedule} {engine} by samples: {path}", 1e-6)
        expect(sorted(base.sizes(split)) == sorted(base.sizes(plain)), f"{model} {schedule} {engine}: collectives")


def check_channels(folder):
    """All layers by output channels send as many bytes as along a tensor axis, within stages and between them."""
    ranks, stages = 2, 3
    base.write_platform(folder / "mesh.xml", (SPEED,) * (ranks * stages))
    layers = [base.vector(1200)] + [base.dense(1200, name=f"fc{i}") for i in range(5)]
    scenario = base.job(layers, [{"layer": "*", "out": ranks}], ranks, 4, schedule="1f1b", engine="analytic")
    scenario |= {"parallel": {"tensor": ranks, "pipeline": stages}, "batch": {"global": 16, "micro": 4}}
    split = run(folder, scenario)
    del scenario["split"]
    plain = run(folder, scenario)
    near(split["compute"]["model_flops"] if "compute" in split else 1, plain["compute"]["model_flops"] if "compute" in
         plain else 1, "flops by channels")
    # Between stages each part sends its channels to all of the next stage's, where a tensor axis gathers behind.
    gathered, cuts, micro_batches = 4 * 1200 * 4, stages - 1, 4
    within = 2 * gathered * (ranks - 1) * (len(layers) - 1 - cuts) * micro_batches
    between = 2 * gathered * ranks * cuts * micro_batches
    near(split["communication"]["sent_bytes"], within + between, "bytes by channels")
    near(plain["communication"]["sent_bytes"], within + between, "bytes along a tensor axis")


def check_placement(folder):
    """By kind of interface the ranks of a worker stay together, as they do without a split."""
    for order, pipeline in itertools.product((["data", "pipeline"], ["pipeline", "data"]), (2, 4)):
        scenario = {"platform": "mixed-nic-4.xml", "workload": "layers", "model": "alexnet", "order": order,
                    "parallel": {"data": 8, "pipeline": pipeline}, "batch": {"global": 256, "micro": 8},
                    "compute": {"precision": "fp16"}, "engine": "analytic", "schedule": "1f1b",
                    "placement": "nic-aware"}
        plain = run(folder, scenario)
        split = run(folder, scenario | {"split": {"layers": [{"layer": "*", "sample": 8}]}})
        near(split["time"]["iteration_s"], plain["time"]["iteration_s"], f"placed by interface: {order} {pipeline}")


# ---- random pipelines ----

GROUP, STAGES, MICRO_BATCHES = 3, 3, 4


def order_of(schedule, worker):
    """(direction, micro-batch) of a worker's passes."""
    if schedule == "gpipe":
        return [("F", m) for m in range(MICRO_BATCHES)] + [("B", m) for m in range(MICRO_BATCHES)]
    ahead = min(STAGES - 1 - worker, MICRO_BATCHES)
    slots = [("F", m) for m in range(ahead)]
    for m in range(MICRO_BATCHES):
        slots += [("F", m + ahead)] * (m + ahead < MICRO_BATCHES) + [("B", m)]
    return slots


class Graph:
    """Operations with what each waits for; those of one stream follow each other."""

    def __init__(self):
        self.seconds, self.before, self.last = {}, {}, {}

    def add(self, name, seconds, waits, *streams):
        self.seconds[name] = seconds
        self.before.setdefault(name, set()).update(waits)
        for stream in streams:
            if stream in self.last:
                self.before[name].add(self.last[stream])
            self.last[stream] = name

    def time(self):
        end = {}
        for name in graphlib.TopologicalSorter(self.before).static_order():
            end[name] = self.seconds[name] + max((end[other] for other in self.before[name]), default=0)
        return max(end.values())


def random_splits(random_of, rows, shapes, synced):
    """Degrees along samples, height, width, in and out, and ranks within a stage's group. Nothing is summed."""
    splits = []
    for row, shape in zip(rows, shapes):
        while True:
            degrees = [random_of.choice([d for d in (1, 1, 2, 3) if d <= limit]) for limit in
                       (SAMPLES, shape[1], shape[2], 1, 1 if synced else shape[0])]
            if math.prod(degrees) <= GROUP:
                break
        splits.append((degrees, random_of.sample(range(GROUP), math.prod(degrees))))
    return splits


def share(rows, shapes, splits, layer, part):
    """Of the layer's flops."""
    box, _, _ = list(base.boxes(splits[layer][0], shapes[layer], 0))[part]
    return math.prod(len(side) for side in box) / SAMPLES / math.prod(shapes[layer])


def build(job):
    """The graph of an iteration. `job`: rows, shapes, splits, cuts (the first layer of each stage), schedule, flops,
    parameters, speeds, latency."""
    graph = Graph()
    stage_of = [max(s for s in range(STAGES) if job["cuts"][s] <= layer) for layer in range(len(job["rows"]))]
    place = [[stage_of[layer] * GROUP + rank for rank in ranks] for layer, (_, ranks) in enumerate(job["splits"])]
    messages = sorted(base.list_messages(job["rows"], job["shapes"], job["splits"]))
    work = [[job["flops"] * SAMPLES * share(job["rows"], job["shapes"], job["splits"], layer, part) /
             job["speeds"][rank] for part, rank in enumerate(ranks)] for layer, ranks in enumerate(place)]
    passes = [1 + (job["parameters"] > 0) if row["reads"] or row["added"] else int(job["parameters"] > 0) for row in
              job["rows"]]

    def ends_of(direction, message):
        """Layer, part and rank of who has it, and the rank of who gets it."""
        layer, _, part, source, other, _ = message
        ends = (source, other, place[source][other]), (layer, part, place[layer][part])
        return (*ends[direction == "B"], ends[direction == "F"][2])

    def awaited(direction, message, micro_batch):
        layer, part, a, b = ends_of(direction, message)
        return (direction, layer, part, micro_batch) if a == b else ("send", direction, message, micro_batch)

    def send(direction, message, micro_batch):
        layer, part, a, b = ends_of(direction, message)
        if a != b:
            graph.add(awaited(direction, message, micro_batch), job["latency"] + 4 * message[-1] / RATE,
                      {(direction, layer, part, micro_batch)}, (a, b, direction))

    def forward(layer, m):
        for part, rank in enumerate(place[layer]):
            graph.add(("F", layer, part, m), work[layer][part], (), rank)
        for message in messages:
            if message[0] == layer:
                graph.before["F", layer, message[2], m].add(awaited("F", message, m))
                if stage_of[message[3]] == stage_of[layer]:
                    send("F", message, m)
        for message in messages:
            if message[3] == layer and stage_of[message[0]] != stage_of[layer]:
                send("F", message, m)

    def backward(layer, m, last):
        for part, rank in enumerate(place[layer]):
            graph.add(("B", layer, part, m), passes[layer] * work[layer][part], (), rank)
        for message in messages:
            if message[3] == layer:
                graph.before["B", layer, message[4], m].add(awaited("B", message, m))
        for message in messages:
            if message[0] == layer:
                send("B", message, m)
        group = tuple(sorted(place[layer]))
        if last and job["parameters"] and len(group) > 1:
            graph.add(("sync", layer), 2 * (len(group) - 1) / len(group) * 4 * job["parameters"] / RATE,
                      {graph.last[rank] for rank in group}, group)

    for worker in range(STAGES):
        layers = [layer for layer, stage in enumerate(stage_of) if stage == worker]
        slots = order_of(job["schedule"], worker)
        for direction, m in slots:
            for layer in layers if direction == "F" else layers[::-1]:
                if direction == "F":
                    forward(layer, m)
                else:
                    backward(layer, m, m == MICRO_BATCHES - 1)
    return graph, stage_of, messages


def check_random(folder, seed):
    random_of = random.Random(seed)
    synced, schedule = seed % 2, ("1f1b", "gpipe")[seed // 2 % 2]
    while True:
        rows, shapes = base.random_network(random_of)
        if len(rows) >= STAGES + 1:
            break
    for row in rows:
        row["mixes"] = True
    splits = random_splits(random_of, rows, shapes, synced)
    cuts = [0] + sorted(random_of.sample(range(1, len(rows)), STAGES - 1))
    ends = cuts[1:] + [len(rows)]
    speeds = [SPEED * random_of.choice((1, 1.5, 2.5)) for _ in range(GROUP * STAGES)]
    latency = 0 if synced else LATENCY
    base.write_platform(folder / "mesh.xml", speeds, latency, "FATPIPE")
    layers = base.describe(rows, shapes)
    for layer in layers:
        layer |= {"flops": 1e8, "parameters": 3e5 if synced else 0}
    listed = [{"layer": row["name"], "devices": devices, **dict(zip(base.DIMENSIONS, degrees))}
              for row, (degrees, devices) in zip(rows, splits)]
    scenario = base.job(layers, listed, GROUP, SAMPLES, schedule=schedule)
    scenario |= {"parallel": {"tensor": GROUP, "pipeline": STAGES},
                 "batch": {"global": SAMPLES * MICRO_BATCHES, "micro": SAMPLES},
                 "layers": {"layers_per_stage": [end - first for first, end in zip(cuts, ends)], "bucket": "0B"}}
    graph, stage_of, messages = build({"rows": rows, "shapes": shapes, "splits": splits, "cuts": cuts, "flops": 1e8,
                                       "schedule": schedule, "parameters": 3e5 * synced, "speeds": speeds,
                                       "latency": latency})
    for engine in ENGINES:
        summary = run(folder, scenario | {"engine": engine})
        near(summary["time"]["iteration_s"], graph.time(), f"seed {seed} {schedule} {engine}")
    return sum(stage_of[source] != stage_of[layer] for layer, _, _, source, _, _ in messages)


def check_cut(folder):
    """Without a given number of layers the longest stage is as short as with the best of all numbers, also where a slow
    stage is in front of fast ones or behind them."""
    random_of = random.Random(7)
    for _ in range(6):
        speeds = [SPEED / random_of.choice((1, 3, 10)) for _ in range(3)]
        base.write_platform(folder / "mesh.xml", [speed for speed in speeds for _ in range(2)])
        # Hosts of one model that are slower are slow ones of it, for which nobody cuts a network.
        text = (folder / "mesh.xml").read_text()
        for speed in {*speeds}:
            text = text.replace(f'speed="{speed}f"/>', f'speed="{speed}f"><prop id="model" value="at {speed}"/></host>')
        (folder / "mesh.xml").write_text(text)
        layers = [base.vector(100)] + [base.dense(40, name=f"d{i}") | {"flops": random_of.choice((1e8, 3e8, 1e9))}
                                       for i in range(5)]
        scenario = base.job(layers, [{"layer": "*", "sample": 2}], 1, 8, schedule="1f1b", engine="analytic")
        scenario |= {"parallel": {"tensor": 2, "pipeline": 3}, "batch": {"global": 64, "micro": 4}}

        def longest(**more):
            summary = run(folder, scenario | more)
            return max(worker["busy_s"] for worker in summary["workers"])

        best = min(longest(layers={"layers_per_stage": [a, b, len(layers) - a - b]})
                   for a in range(1, len(layers) - 1) for b in range(1, len(layers) - a))
        near(longest(), best, f"speeds {speeds}, layers {layers}: the longest stage", 1e-9)


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for check in (check_one_stage, check_data, check_channels, check_placement, check_cut):
            check(folder)
        messages = sum(check_random(folder, seed) for seed in range(24))
        expect(messages > 100, f"only {messages} messages between stages")
    print("\n".join(base.faults) or f"split pipelines as computed, {messages} messages between stages")
    sys.exit(bool(base.faults))


main()
