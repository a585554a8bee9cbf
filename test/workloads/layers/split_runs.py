#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""split_runs.py STAGESIM: jobs whose layers are split one by one. All layers by samples are the data-parallel job;
halos, sums and gathers take the time of closed forms on both engines; messages of random networks and splits have the
bytes of an enumeration of indices, and both engines agree on them where links are not shared."""
import collections
import csv
import itertools
import json
import math
import os
import pathlib
import random
import subprocess
import sys
import tempfile

STAGESIM = os.path.abspath(sys.argv[1])
ROOT = pathlib.Path(__file__).resolve().parents[3]
RATE, SPEED, LATENCY = 1e9, 1e12, 1e-4
ENGINES = ("simgrid", "analytic")
faults = []


def expect(good, what):
    if not good:
        faults.append(what)


def near(value, expected, what, tolerance=1e-6):
    expect(math.isclose(value, expected, rel_tol=tolerance, abs_tol=1e-12), f"{what}: {value!r}, not {expected!r}")


def write_platform(path, speeds, latency=0, policy="SPLITDUPLEX"):
    """Every pair of hosts has a link of its own."""
    hosts = "".join(f'<host id="h-{i}" speed="{speed}f"/>' for i, speed in enumerate(speeds))
    pairs = list(itertools.combinations(range(len(speeds)), 2))
    links = "".join(f'<link id="l-{i}-{k}" bandwidth="{RATE}Bps" latency="{latency}s" sharing_policy="{policy}"/>' for
                    i, k in pairs)
    end = ("_UP", "_DOWN") if policy == "SPLITDUPLEX" else ("", "")
    routes = "".join(
        f'<route src="h-{a}" dst="h-{b}" symmetrical="NO"><link_ctn id="l-{i}-{k}"{way}/></route>' for i, k in pairs for
        a, b, way in ((i, k, f' direction="{end[0][1:]}"' if end[0] else ""),
                      (k, i, f' direction="{end[1][1:]}"' if end[1] else "")))
    path.write_text('<?xml version="1.0"?><!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd"><platform '
                    f'version="4.1"><zone id="mesh" routing="Full">{hosts}{links}{routes}</zone></platform>')


def run(folder, scenario, *sets, rows=False):
    (folder / "job.yaml").write_text(json.dumps(scenario))
    command = [STAGESIM, "run", folder / "job.yaml", "-o", folder / "out", "--quiet"]
    for value in sets + (("output.trace=csv",) if rows else ()):
        command += ["--set", value]
    environment = dict(os.environ, STAGESIM_MODELS=str(ROOT / "workloads/models"))
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, env=environment)
    if done.returncode:
        sys.exit(f"{json.dumps(scenario)}\n{sets}\n{done.stderr}")
    summary = json.loads((folder / "out" / "summary.json").read_text())
    if not rows:
        return summary
    with open(folder / "out" / "operations.csv", encoding="utf-8") as file:
        return summary, list(csv.DictReader(file))


def job(layers, splits, ranks, samples, **more):
    return {"platform": "mesh.xml", "workload": "layers", "model": {"layers": layers},
            "parallel": {"data": 1, "tensor": ranks}, "batch": {"global": samples, "micro": samples},
            "compute": {"precision": "fp32", "efficiency": 1}, "split": {"layers": splits}, **more}


def sizes(summary):
    return [(row["count"], row["most_bytes"]) for row in summary["collectives"]]


# ---- data parallelism ----

def check_data(folder):
    """All layers by samples: computing, memory, bytes and collectives of the job without splits."""
    for model, platform, ranks in (("alexnet", "pcie-a100-8", 8), ("resnet-50", "dgx-a100-2", 16),
                                   ("lstm-ptb", "dgx-a100-2", 4)):
        scenario = {"platform": str(ROOT / f"platforms/{platform}.xml"), "workload": "layers", "model": model,
                    "parallel": {"data": ranks}, "batch": {"global": 32 * ranks, "micro": 16},
                    "compute": {"precision": "fp16"}}
        for engine, overlap in itertools.product(ENGINES, (True, False)):
            scenario |= {"engine": engine, "communication": {"overlap": overlap}}
            plain = run(folder, scenario)
            split = run(folder, scenario | {"split": {"layers": [{"layer": "*", "sample": ranks}]}})
            what = f"{model} {engine} {overlap} by samples"
            for path in (("time", "iteration_s"), ("communication", "sent_bytes"), ("communication", "exposed_s"),
                         ("memory", "peak_bytes"), ("throughput", "mfu"), ("limits", "memory")):
                a, b = plain, split
                for key in path:
                    a, b = a[key], b[key]
                near(b, a, f"{what}: {path}", 1e-9)
            near(split["workers"][0]["busy_s"], plain["workers"][0]["busy_s"], f"{what}: busy", 1e-9)
            expect(sizes(split) == sizes(plain), f"{what}: collectives")


# ---- closed forms ----

FLOPS = 6e9


def vector(channels, **more):
    return {"name": "data", "outputs": channels, **more}


def dense(channels, **more):
    return {"name": "fc", "kind": "dense", "flops": FLOPS, "parameters": 1, "outputs": channels, **more}


def check_halo(folder):
    """Two to four ranks by height, a convolution of 5 x 5: an inner rank gets two rows from each side and sends as
    many; forward and backward compute a share each."""
    samples, channels, height, width = 4, 8, 24, 40
    image = {"name": "data", "outputs": channels * height * width, "height": height, "width": width}
    layer = {"name": "conv", "kind": "convolution", "flops": FLOPS, "parameters": 1, "kernel": 5, "padding": 2,
             **{key: image[key] for key in ("outputs", "height", "width")}}
    for ranks, engine in itertools.product((2, 3, 4), ENGINES):
        write_platform(folder / "mesh.xml", (SPEED,) * ranks, LATENCY)
        summary = run(folder, job([image, layer], [{"layer": "*", "sample": 1, "height": ranks}], ranks, samples,
                                  engine=engine, communication={"overlap": False}))
        time, own, got = summary["time"]["iteration_s"], 2 * height // ranks, 2 * min(2, ranks - 1)
        near(summary["memory"]["parts"]["activations_bytes"], (own + got) * samples * channels * width * 4,
             f"rows that a rank of {ranks} keeps, {engine}")
        halo = LATENCY + 2 * samples * channels * width * 4 / RATE
        data = run(folder, job([image, layer], [{"layer": "*"}], ranks, 12, engine=engine,
                               communication={"overlap": False}))["time"]["iteration_s"]
        sync = data - 12 / ranks * 3 * FLOPS / SPEED
        near(time, samples * 3 * FLOPS / ranks / SPEED + 2 * halo + sync, f"halo of {ranks} {engine}")


def check_places(folder):
    """A layer on one rank, the next one on another: FlexFlow's example of 2 s, 1 s on the link and 3 s. The first layer
    reads the network's input, and needs no gradient of it."""
    layers = [{"name": name, "kind": "dense", "flops": seconds * SPEED, "parameters": 1, "outputs": 250000000} for
              name, seconds in (("a", 2), ("b", 3))]
    for engine in ENGINES:
        write_platform(folder / "mesh.xml", (SPEED,) * 2)
        for where, seconds in (([0], 2 * 2 + 3 * 3), ([1], 2 * 2 + 3 * 3 + 2 * 1)):
            splits = [{"layer": "a", "devices": [0]}, {"layer": "b", "devices": where}]
            near(run(folder, job(layers, splits, 2, 1, engine=engine))["time"]["iteration_s"], seconds,
                 f"layers on ranks 0 and {where} {engine}")


def check_sums(folder):
    """Input channels: summands are reduced and scattered, the gradient gathered: (p - 1) / p of the output each."""
    samples, outputs = 2, 120000
    for ranks, engine in itertools.product((2, 3, 4), ENGINES):
        write_platform(folder / "mesh.xml", (SPEED,) * ranks)
        summary, rows = run(
            folder, job([vector(48), dense(outputs)], [{"layer": "data", "out": ranks}, {"layer": "fc", "in": ranks}],
                        ranks, samples, engine=engine, communication={"all_gather": "ring", "reduce_scatter": "ring"}),
            rows=True)
        exchange = (ranks - 1) / ranks * samples * outputs * 4 / RATE
        near(summary["time"]["iteration_s"], samples * 3 * FLOPS / ranks / SPEED + 2 * exchange,
             f"sums of {ranks} {engine}")
        expect(not [row for row in rows if row["kind"] in ("activation", "gradient")], "sums need no messages")


def check_gathers(folder):
    """Output channels: every rank gets the inputs of all others, each over a link of its own, and returns their
    gradient; as many bytes as a tensor axis exchanges."""
    samples, inputs = 2, 120000
    for ranks, engine in itertools.product((2, 3, 4), ENGINES):
        write_platform(folder / "mesh.xml", (SPEED,) * ranks)
        layers = [vector(inputs), dense(48)]
        summary = run(folder, job(layers, [{"layer": "*", "out": ranks}], ranks, samples, engine=engine))
        exchange = samples * inputs * 4 / ranks / RATE
        near(summary["time"]["iteration_s"], samples * 3 * FLOPS / ranks / SPEED + 2 * exchange,
             f"gathers of {ranks} {engine}")
        plain = job(layers, [], ranks, samples, engine=engine)
        del plain["split"]
        near(summary["communication"]["sent_bytes"], run(folder, plain)["communication"]["sent_bytes"],
             f"bytes of {ranks} {engine} as along a tensor axis")


def check_recurrent(folder):
    """Outputs of a recurrent layer are gathered at every step, as along a tensor axis; who reads them has them."""
    layers = [vector(64, height=5), {"name": "rnn", "kind": "recurrent", "flops": FLOPS, "parameters": 4096, "steps": 5,
                                     "outputs": 60000, "height": 5}, dense(12, height=1)]
    for ranks, engine in itertools.product((2, 3), ENGINES):
        write_platform(folder / "mesh.xml", (SPEED,) * ranks, LATENCY)
        splits = [{"layer": "data", "devices": [0]}, {"layer": "*n*", "out": ranks}, {"layer": "fc", "out": ranks}]
        plain = job(layers[1:], [], ranks, 4, engine=engine)
        del plain["split"]
        near(run(folder, job(layers[1:], splits[1:], ranks, 4, engine=engine))["time"]["iteration_s"],
             run(folder, plain)["time"]["iteration_s"], f"recurrent of {ranks} {engine}")


def check_shares(folder):
    """Ranks of unequal speed with shares in proportion to it are busy as long, whatever is divided."""
    speeds = (7e11, 3e11)
    write_platform(folder / "mesh.xml", speeds)
    for dimension, engine in itertools.product(("sample", "in", "out"), ENGINES):
        split = [{"layer": "*", "sample": 2, "shares": [0.7, 0.3]},
                 {"layer": "fc", "sample": 1, dimension: 2, "shares": [7, 3]}]
        summary = run(folder, job([vector(10), dense(10)], split, 2, 2, engine=engine))
        for worker in summary["workers"]:
            near(worker["busy_s"], 2 * 3 * FLOPS / sum(speeds), f"share of {dimension} {engine}")


def check_unlike_shares(folder):
    """Two samples, 1.4 and 0.6 of them on two ranks, then 1 and 1: 0.4 of one go from the first to the second."""
    write_platform(folder / "mesh.xml", (SPEED,) * 2)
    split = [{"layer": "data", "sample": 2, "shares": [0.7, 0.3]}, {"layer": "fc", "sample": 2}]
    for engine in ENGINES:
        _, rows = run(folder, job([vector(1000), dense(10)], split, 2, 2, engine=engine), rows=True)
        found = [(row["kind"], int(row["peer"]), int(row["rank"]), round(float(row["bytes"]), 6)) for row in rows if
                 row["stream"].startswith("receive")]
        expect(sorted(found) == [("activation", 0, 1, 1600), ("gradient", 1, 0, 1600)], f"unlike shares: {found}")


def check_files(folder):
    """The section from a YAML file, and its rows from a CSV file."""
    write_platform(folder / "mesh.xml", (SPEED, SPEED / 2), LATENCY)
    rows = [{"layer": "data", "devices": [1]}, {"layer": "f*", "out": 2, "devices": [1, 0], "shares": [3, 7]}]
    scenario = job([vector(1000), dense(10)], rows, 2, 1, engine="analytic")
    expected = run(folder, scenario)["time"]["iteration_s"]
    (folder / "split.yaml").write_text(json.dumps({"layers": rows}))
    (folder / "split.csv").write_text("layer,out,devices,shares\ndata,,1,\nf*,2,1;0,3;7\n")
    for split in ("split.yaml", {"layers": "split.csv"}):
        near(run(folder, scenario | {"split": split})["time"]["iteration_s"], expected, f"{split}", 1e-15)


def check_shared_weights(folder):
    """Layers with one set of weights: it is held, added up and updated once."""
    write_platform(folder / "mesh.xml", (SPEED,) * 2)
    layers = [{"name": f"l{i}", "kind": "dense", "flops": FLOPS, "outputs": 8,
               **({"weights": "l0"} if i else {"parameters": 1000000})} for i in range(3)]
    for splits in (None, [{"layer": "*", "sample": 2}], [{"layer": "*", "sample": 2}, {"layer": "l2", "devices": [1]}]):
        scenario = job(layers, splits, 2, 2, engine="analytic") | {"parallel": {"data": 2},
                                                                   "batch": {"global": 2, "micro": 1}}
        if not splits:
            del scenario["split"]
        summary = run(folder, scenario)
        expect(sizes(summary) == [(1, 4e6)], f"one all-reduce of shared weights: {splits}")
        near(summary["memory"]["parts"]["parameters_bytes"], 4e6, f"shared weights are held once: {splits}")
        passes = 8 if splits is None or len(splits) == 1 else 11
        near(summary["time"]["iteration_s"], 4e6 / RATE + passes * FLOPS / SPEED, f"time with shared weights: {splits}")


# ---- random networks ----

DIMENSIONS = ("sample", "height", "width", "in", "out")
SAMPLES, RANKS = 12, 6


def divisors(number, most):
    return [d for d in range(1, most + 1) if number % d == 0]


def random_network(random_of):
    """Layers with their shapes: (row, inputs as numbers of layers, added, window)."""
    shapes, rows = [(random_of.choice((2, 4, 6)), random_of.randint(4, 9), random_of.randint(1, 7))], []
    rows.append({"name": "l0", "reads": [], "added": [], "window": None, "mixes": False})
    for number in range(1, random_of.randint(4, 7)):
        first = random_of.randrange(number)
        reads = [first] + [i for i in range(number) if shapes[i][1:] == shapes[first][1:] and i != first and
                           random_of.random() < 0.3]
        kernel = [random_of.randint(1, min(5, size + 2)) for size in shapes[first][1:]]
        stride, padding = random_of.randint(1, 2), [random_of.randint(0, k // 2) for k in kernel]
        sides = [(size + 2 * p - k) // stride + 1 for size, p, k in zip(shapes[first][1:], padding, kernel)]
        if min(sides) < 1:
            kernel, stride, padding, sides = [1, 1], 1, [0, 0], shapes[first][1:]
        channels, mixes = random_of.choice((2, 3, 4, 6)), random_of.random() < 0.7
        if not mixes:
            channels = sum(shapes[i][0] for i in reads)
        shape = (channels, *sides)
        added = [i for i in range(number) if shapes[i] == shape and random_of.random() < 0.5]
        shapes.append(shape)
        rows.append({"name": f"l{number}", "reads": reads, "added": added, "window": (kernel, stride, padding),
                     "mixes": mixes})
    return rows, shapes


def describe(rows, shapes):
    layers = []
    for row, (channels, height, width) in zip(rows, shapes):
        layer = {"name": row["name"], "kind": "convolution" if row["mixes"] else "other", "flops": 1e6, "parameters": 8,
                 "outputs": channels * height * width, "channels": channels, "height": height, "width": width}
        if row["window"]:
            layer |= {"from": [f"l{i}" for i in row["reads"]], "kernel": row["window"][0],
                      "stride": row["window"][1], "padding": row["window"][2]}
        if row["added"]:
            layer["added"] = [f"l{i}" for i in row["added"]]
        layers.append(layer)
    return layers


def random_split(random_of, row, shape, inputs):
    most = (SAMPLES, shape[1], shape[2], inputs if row["mixes"] and inputs else 1, shape[0])
    while True:
        degrees = [random_of.choice([d for d in (1, 1, 1, 2, 3, 4) if d <= limit]) for limit in most]
        count = math.prod(degrees)
        if count <= RANKS:
            return degrees, random_of.sample(range(RANKS), count)


def parts(n, count):
    """Equal parts of n indices, as sets."""
    return [set(range(k * n // count, (k + 1) * n // count)) for k in range(count)]


def boxes(degrees, shape, inputs):
    """Of every part the sets of samples, rows, columns and channels that it computes, its input channels, and the
    channels that it owns."""
    sides = [parts(SAMPLES, degrees[0]), parts(shape[1], degrees[1]), parts(shape[2], degrees[2]),
             parts(inputs, degrees[3]) if inputs else [set()] * degrees[3], parts(shape[0], degrees[4])]
    for sample, rows, columns, ins, outs in itertools.product(*(range(d) for d in degrees)):
        channels = sorted(sides[4][outs])
        owned = {channels[i] for i in parts(len(channels), degrees[3])[ins]}
        yield (sides[0][sample], sides[1][rows], sides[2][columns], sides[4][outs]), sides[3][ins], owned


def reach(outputs, size, kernel, stride, padding):
    """Inputs from the first to the last that outputs read."""
    read = [o * stride - padding + k for o in outputs for k in range(kernel)]
    return set(range(max(0, min(read)), min(size, max(read) + 1))) if read else set()


def list_messages(rows, shapes, splits):
    """What parts of layers get of parts of others in a forward, from sets of indices: (source, its part, layer, its
    part, numbers)."""
    inputs = [sum(shapes[i][0] for i in row["reads"]) for row in rows]
    layout = [list(boxes(degrees, shape, n)) for (degrees, _), shape, n in zip(splits, shapes, inputs)]
    for layer, row in enumerate(rows):
        for part, (box, ins, owned) in enumerate(layout[layer]):
            needs, before = [], 0
            for source in row["reads"]:
                kernel, stride, padding = row["window"]
                channels = ins if row["mixes"] else box[3]
                needs.append((source, (box[0], *(reach(box[1 + side], shapes[source][1 + side], kernel[side], stride,
                                                       padding[side]) for side in (0, 1)),
                                       {c - before for c in channels} & set(range(shapes[source][0])))))
                before += shapes[source][0]
            needs += [(source, (*box[:3], owned)) for source in row["added"]]
            for edge, (source, need) in enumerate(needs):
                for other, (held, _, owner) in enumerate(layout[source]):
                    numbers = math.prod(len(x & y) for x, y in zip(need, (*held[:3], owner)))
                    if numbers:
                        yield layer, edge, part, source, other, numbers


def count_messages(rows, shapes, splits):
    """Bytes by (sender, receiver, bytes) of a forward."""
    messages = collections.Counter()
    for layer, _, part, source, other, numbers in list_messages(rows, shapes, splits):
        a, b = splits[source][1][other], splits[layer][1][part]
        if a != b:
            messages[a, b, 4 * numbers] += 1
    return messages


def check_random(folder, seed):
    random_of = random.Random(seed)
    rows, shapes = random_network(random_of)
    inputs = [sum(shapes[i][0] for i in row["reads"]) for row in rows]
    splits = [random_split(random_of, row, shape, n) for row, shape, n in zip(rows, shapes, inputs)]
    listed = [{"layer": row["name"], "devices": devices, **dict(zip(DIMENSIONS, degrees))}
              for row, (degrees, devices) in zip(rows, splits)]
    scenario = job(describe(rows, shapes), listed, RANKS, SAMPLES)
    expected = count_messages(rows, shapes, splits)
    returned = collections.Counter({(b, a, size): n for (a, b, size), n in expected.items()})
    times = []
    for engine in ENGINES:
        summary, operations = run(folder, scenario | {"engine": engine}, rows=True)
        times.append(summary["time"]["iteration_s"])
        for kind, wanted in (("activation", expected), ("gradient", returned)):
            found = collections.Counter((int(row["peer"]), int(row["rank"]), float(row["bytes"])) for row in operations
                                        if row["kind"] == kind and row["stream"].startswith("receive"))
            expect(found == wanted, f"seed {seed} {engine}: {kind} {found} not {wanted}")
    near(times[0], times[1], f"engines, seed {seed}")
    return sum(expected.values())


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        check_data(folder)
        for check in (check_halo, check_places, check_sums, check_gathers, check_recurrent, check_shares,
                      check_unlike_shares, check_files, check_shared_weights):
            check(folder)
        write_platform(folder / "mesh.xml", [SPEED * (1 + i / 10) for i in range(RANKS)], LATENCY, "FATPIPE")
        messages = sum(check_random(folder, seed) for seed in range(30))
        expect(messages > 1000, f"only {messages} messages")
    print("\n".join(faults) or f"split layers as computed, {messages} messages of random networks")
    sys.exit(bool(faults))


if __name__ == "__main__":
    main()
