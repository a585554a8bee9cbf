#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""layers.py STAGESIM: the workload layers against closed forms, and against a second computation of parameter servers,
in which flows share the hosts' links max-min fairly."""
import itertools
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

STAGESIM = os.path.abspath(sys.argv[1])
ROOT = pathlib.Path(__file__).resolve().parents[3]
RATE = 10e9  # bytes per second of a host's link in each direction
SPEED = 1e12  # flop/s
GRADIENT = 400e6
BASE = """workload: layers
compute: {precision: fp32, efficiency: 1}
layers: {bucket: 0B}
"""
COUNTS = {  # published parameters, and multiply-adds of a forward in the digits that torchvision states
    "alexnet": (61100840, "0.714"), "vgg-16": (138357544, "15.470"), "resnet-50": (25557032, "4.089"),
    "inception-v3": (23834568, "5.713"), "lstm-ptb": (66022000, "1.785"), "vgg-11": (132863336, "7.609"),
    "vgg-13": (133047848, "11.308"), "vgg-19": (143667240, "19.632"), "resnet-18": (11689512, "1.814"),
    "resnet-34": (21797672, "3.664"), "lenet-5": (61706, "0.000417"),
    "resnet-101": (44549160, "7.801"), "rnntc": (43829250, "1.342"), "rnnlm": (108111632, "3.504"),
    "nmt": (134020352, "2.740")}
faults = []


def expect(good, what):
    if not good:
        faults.append(what)


def near(value, expected, what, tolerance=1e-6):
    expect(abs(value - expected) <= tolerance * abs(expected), f"{what}: {value!r}, not {expected!r}")


def write_star(path, speeds):
    """Hosts around a switch without limits: each has a link up and one down."""
    hosts = "".join(f'<host id="h-{i}" speed="{speed}f"/>' for i, speed in enumerate(speeds))
    links = "".join(f'<link id="{way}-{i}" bandwidth="{RATE}Bps" latency="0s"/>' for i in range(len(speeds))
                    for way in ("up", "down"))
    routes = "".join(f'<route src="h-{i}" dst="h-{k}" symmetrical="NO"><link_ctn id="up-{i}"/><link_ctn '
                     f'id="down-{k}"/></route>' for i, k in itertools.permutations(range(len(speeds)), 2))
    path.write_text('<?xml version="1.0"?><!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd"><platform '
                    'version="4.1">' f'<zone id="star" routing="Full">{hosts}{links}{routes}</zone></platform>')


def run(folder, layers, *sets, speeds=(SPEED,) * 32, engine="simgrid", batch="{global: %d, micro: 1}", data=4,
        model=None):
    write_star(folder / "star.xml", speeds)
    rows = ", ".join("{" + ", ".join(f"{key}: {value}" for key, value in layer.items()) + "}" for layer in layers)
    model = model or f"{{layers: [{rows}]}}"
    (folder / "job.yaml").write_text(BASE + f"platform: star.xml\nmodel: {model}\nparallel: {{data: {data}}}\nengine: "
                                     f"{engine}\n" f"batch: {batch % data if '%' in batch else batch}\n")
    command = [STAGESIM, "run", folder / "job.yaml", "-o", folder / "out", "--quiet"]
    for value in sets:
        command += ["--set", value]
    environment = dict(os.environ, STAGESIM_MODELS=str(ROOT / "workloads/models"))
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, env=environment)
    if done.returncode:
        sys.exit(f"{sets}\n{done.stderr}")
    return json.loads((folder / "out" / "summary.json").read_text())


def seconds(*arguments, **keywords):
    return run(*arguments, **keywords)["time"]["iteration_s"]


ONE = [{"name": "a", "flops": 1e10, "parameters": f"{int(GRADIENT)}B", "outputs": 1}]
COMPUTE = 2 * 1e10 / SPEED  # the first layer's backward is only its weight gradient


# ---- closed forms ----

def check_servers(folder):
    """n workers push and pull all of the gradient; each of s servers takes in n/s of it: the busier link sets the
    pace."""
    for workers, servers in ((4, 1), (4, 2), (4, 4), (8, 3), (3, 8)):
        pace = max(1, workers / servers) * GRADIENT / RATE
        found = seconds(folder, ONE, f"layers.servers={servers}", data=workers)
        near(found, COMPUTE + 2 * pace, f"{workers} workers, {servers} servers")
        alone = seconds(folder, ONE, f"layers.servers={servers}", data=workers, engine="analytic")
        near(alone, COMPUTE + 2 * GRADIENT / servers / RATE,
             f"{workers} workers, {servers} servers, without contention")
        summary = run(folder, ONE, f"layers.servers={servers}", data=workers)
        near(summary["communication"]["sent_bytes"], 2 * workers * GRADIENT, "bytes of servers")
        links = {link["name"]: link["bytes"] for link in summary["links"]}
        if workers >= servers:  # the summary has the busiest links
            near(links[f"down-{workers}"], workers * GRADIENT / servers, "bytes into a server")
            near(links[f"up-{workers + servers - 1}"], workers * GRADIENT / servers, "bytes out of a server")
    bandwidth = 50e9
    found = seconds(folder, ONE, "layers.servers=2", f"layers.server_bandwidth={bandwidth / 1e9}GBps")
    # Adds three gradients to the first; momentum in fp32 reads the gradient, reads and writes momentum and weight.
    update = (3 * GRADIENT / 2 + GRADIENT / 2 * 5) / bandwidth
    near(found, COMPUTE + 4 * GRADIENT / RATE + update, "time of the update")


def check_colocated(folder):
    for workers, servers in ((4, 4), (4, 2), (8, 1)):
        pace = max((workers - 1) / servers, 1 if servers < workers else (servers - 1) / servers) * GRADIENT / RATE
        found = seconds(folder, ONE, f"layers.servers={servers}", "layers.colocated=true", data=workers)
        near(found, COMPUTE + 2 * pace, f"{servers} servers on the hosts of {workers} workers")
    ring = seconds(folder, ONE, "communication.all_reduce=ring", data=4)
    near(ring, COMPUTE + 2 * 3 / 4 * GRADIENT / RATE, "ring")
    near(seconds(folder, ONE, "layers.servers=4", "layers.colocated=true"), ring,
         "a server on every worker is as fast as a ring")


def check_asynchrony(folder):
    """Without waiting for each other, workers have rates; T is the time of an iteration of each on the mean."""
    speeds = (SPEED, SPEED, SPEED / 3, SPEED / 2) + (SPEED,) * 4
    layers = [{"name": "a", "flops": 1e10, "parameters": 1000, "outputs": 1}]
    times = [2e10 / speed + 2 * 4000 / 4 / RATE for speed in speeds[:4]]
    mean = 4 / sum(1 / time for time in times)
    sets = ["layers.servers=4", "iterations=12"]
    found = run(folder, layers, *sets, "layers.consistency=asynchronous", speeds=speeds)
    near(found["time"]["iteration_s"], mean, "asynchronous, uneven speeds", 1e-3)
    expect(found["scenario"]["synchronous"] is False, "asynchronous training is said to be synchronous")
    together = seconds(folder, layers, *sets, speeds=speeds)
    near(together, max(times), "synchronous: the slowest worker", 1e-3)
    near(seconds(folder, layers, *sets, "layers.consistency=stale", speeds=speeds), together,
         "staleness 0 is synchronous", 1e-3)
    before = together
    for staleness in (1, 2, 4, 12):
        time = seconds(folder, layers, *sets, "layers.consistency=stale", f"layers.staleness={staleness}",
                       speeds=speeds)
        expect(mean * (1 - 1e-3) <= time <= before * (1 + 1e-9),
               f"staleness {staleness}: {time}, {before} with less, {mean} without limit")
        before = time
    near(before, mean, "staleness beyond all iterations is asynchronous", 1e-3)


def check_local(folder):
    for period in (1, 2, 5):
        found = run(folder, ONE, f"layers.period={period}", f"iterations={2 * period}", "communication.all_reduce=ring")
        near(found["time"]["iteration_s"], COMPUTE + 2 * 3 / 4 * GRADIENT / RATE / period, f"local SGD, every {period}")
        near(found["communication"]["sent_bytes"], 4 * 2 * 3 / 4 * GRADIENT / period,
             f"bytes of local SGD, every {period}")
        busy = found["workers"][0]["busy_s"]
        near(busy, COMPUTE, f"busy with local SGD, every {period}")
    found = seconds(folder, ONE, "layers.period=4", "iterations=8", "layers.servers=2")
    near(found, COMPUTE + 2 * 2 * GRADIENT / RATE / 4, "local SGD through servers")


def check_compression(folder):
    ring = ["communication.all_reduce=ring", "communication.all_gather=ring", "layers.compression=8",
            "layers.compression_rate=100GBps"]
    found = run(folder, ONE, *ring)
    near(found["time"]["iteration_s"], COMPUTE + 2 * GRADIENT / 100e9 + 2 * 3 / 4 * GRADIENT / 8 / RATE, "compression")
    near(found["communication"]["sent_bytes"], 2 * 3 * GRADIENT / 8, "compressed bytes")
    found = run(folder, ONE, *ring, "layers.compression_exchange=all-gather")
    near(found["time"]["iteration_s"], COMPUTE + 2 * GRADIENT / 100e9 + 3 * GRADIENT / 8 / RATE,
         "compression, gathered")
    near(found["communication"]["sent_bytes"], 4 * 3 * GRADIENT / 8, "compressed bytes, gathered")
    pushed = seconds(folder, ONE, "layers.servers=4", "layers.compression=8")
    near(pushed, COMPUTE + (1 / 8 + 1) * GRADIENT / RATE, "what workers push is compressed, weights are whole")


def check_streamed(folder):
    """Weights come for the forward, and while it runs for the backward; gradients go back. All of it passes each host's
    link once."""
    for workers, flops in ((3, 1e10), (3, 1e11), (1, 1e11)):
        layers = [dict(ONE[0], flops=flops)]
        found = run(folder, layers, "layers.servers=1", "layers.weights=streamed", "iterations=4",
                    "communication.broadcast=chain", "communication.reduce=chain", data=workers)
        pace, compute = GRADIENT / RATE, flops / SPEED
        near(found["time"]["iteration_s"], max(pace + compute, 2 * pace) + compute + pace,
             f"streamed weights, {workers} workers")
        near(found["communication"]["sent_bytes"], 3 * workers * GRADIENT, "bytes of streamed weights")
    expect(found["workers"][0]["peak_bytes"] < 3.01 * GRADIENT,
           "workers hold more than two buckets' weights and one's gradients")
    deep = [dict(ONE[0], name=f"l{i}", flops=1e11, parameters=f"{int(GRADIENT / 8)}B") for i in range(8)]
    # Behind the first bucket everything but the last gradient is hidden: 8 forwards and 15 passes of backwards.
    found = run(folder, deep, "layers.servers=1", "layers.weights=streamed", "iterations=4", data=2)
    near(found["time"]["iteration_s"], 23 * 0.1 + 2 * GRADIENT / 8 / RATE, "streamed weights, eight layers")


def check_model_parallel(folder):
    """By channel: (t - 1)/t of each input is gathered, and of its gradient scattered, by each of t ranks."""
    sizes = [1000, 3000, 500, 200]
    layers = [{"name": f"l{i}", "kind": "dense", "flops": 1e6, "parameters": 4000, "outputs": size} for i,
              size in enumerate(sizes)]
    inputs = 4 * sum(sizes[:-1])  # of a sample, without the first layer's
    found = run(folder, layers, "parallel={tensor: 4}", batch="{global: 8, micro: 8}")
    near(found["communication"]["sent_bytes"], 2 * 3 * 8 * inputs, "by channel")
    near(found["throughput"]["mfu"] * SPEED * found["time"]["iteration_s"], 8 * 1e6 * (3 * 4 - 1) / 4,
         "flop by channel")
    layers[0]["kind"] = layers[1]["kind"] = "convolution"
    found = run(folder, layers, "layers.dense=divided", "communication.all_reduce=ring", batch="{global: 8, micro: 2}")
    dense = 2 * 3 * 8 * 4 * sum(sizes[1:3])  # all eight samples' inputs of the two dense layers
    near(found["communication"]["sent_bytes"], dense + 2 * 3 * 2 * 16000, "dense layers divided over replicas")
    recurrent = [{"name": f"r{i}", "kind": "recurrent", "flops": 1e6, "parameters": 4000, "outputs": 700, "steps": 7}
                 for i in range(2)]
    found = run(folder, recurrent, "parallel={tensor: 2}", batch="{global: 1, micro: 1}")
    # Outputs step by step, forward and backward; the second layer's input is there already, its gradient is scattered
    # as usual.
    near(found["communication"]["sent_bytes"], 2 * 2 * 4 * 700, "recurrent layers by channel")


# ---- second computations ----

def check_schedule(folder):
    """The same job as a pipeline of one worker is lowered in another way."""
    for sets in (["parallel={data: 4}"], ["parallel={tensor: 4}"], ["parallel={data: 2, tensor: 2}"],
                 ["parallel={data: 4}", "layers.dense=divided"], ["parallel={data: 4}", "communication.overlap=false"],
                 ["parallel={data: 4}", "layers.bucket=1MB", "iterations=2"]):
        sets = sets + ["compute.efficiency=0.5"]
        one, other = (run(folder, [], *sets, *more, model="alexnet", batch="{global: 32, micro: 4}")
                      for more in ([], ["schedule=1f1b"]))
        for block, key in (("time", "iteration_s"), ("communication", "sent_bytes"), ("memory", "peak_bytes"),
                           ("bubble", "ratio")):
            near(one[block][key], other[block][key], f"{sets}: {key} with and without a schedule", 1e-9)


def rows_of(name):
    text = (ROOT / f"workloads/models/{name}.yaml").read_text()
    return [dict(re.findall(r"(\w+): ([^,}]+)", line)) for line in text.splitlines() if line.startswith("- {")]


def check_networks():
    for name, (parameters, multiplications) in COUNTS.items():
        rows = rows_of(name)
        expect(sum(int(row.get("parameters", 0)) for row in rows) == parameters, f"{name}: parameters")
        digits, sum_of_rows = len(multiplications.partition(".")[2]), sum(int(row["flops"]) for row in rows) / 2e9
        expect(f"{sum_of_rows:.{digits}f}" == multiplications, f"{name}: multiply-adds")
    done = subprocess.run([sys.executable, ROOT / "tools/networks.py", "--check", ROOT / "workloads/models"],
                          capture_output=True, text=True)
    expect(done.returncode == 0, done.stdout + done.stderr)


def check_balance(folder):
    """The busiest stage of a pipeline has the least possible to do: all cuts are tried."""
    flops = [int(row["flops"]) for row in rows_of("alexnet")]
    work = [value * (2 if i == 0 else 3 if int(row["parameters"]) else 2) for i,
            (value, row) in enumerate(zip(flops, rows_of("alexnet")))]
    for stages in (2, 3, 4, 5):
        cuts = itertools.combinations(range(1, len(work)), stages - 1)
        best = min(max(sum(work[a:b]) for a, b in zip((0,) + cut, cut + (len(work),))) for cut in cuts)
        found = run(folder, [], f"parallel={{pipeline: {stages}}}", "schedule=1f1b", model="alexnet",
                    batch="{global: 8, micro: 1}")
        near(max(worker["busy_s"] for worker in found["workers"]), 8 * best / SPEED, f"balance over {stages} stages",
             1e-9)


class Fluid:
    """Tasks that wait for others: computations, and flows that share links max-min fairly."""

    def __init__(self):
        self.tasks = []

    def add(self, waits, duration=0.0, flow=None, size=0.0):
        self.tasks.append({"waits": set(waits), "left": size if flow else duration, "flow": flow, "end": None})
        return len(self.tasks) - 1

    def rates(self, active):
        rates, left = {}, {}
        for task in active:
            for link in self.tasks[task]["flow"]:
                left.setdefault(link, [RATE, set()])[1].add(task)
        while len(rates) < len(active):
            link = min((link for link in left if left[link][1]), key=lambda link: left[link][0] / len(left[link][1]))
            share = left[link][0] / len(left[link][1])
            for task in list(left[link][1]):
                rates[task] = share
                for other in self.tasks[task]["flow"]:
                    left[other][0] -= share
                    left[other][1].discard(task)
        return rates

    def run(self):
        now, waiting, running = 0.0, set(range(len(self.tasks))), set()
        while waiting or running:
            ready = {task for task in waiting
                     if all(self.tasks[other]["end"] is not None for other in self.tasks[task]["waits"])}
            waiting -= ready
            running |= ready
            rates = self.rates([task for task in running if self.tasks[task]["flow"]])
            step = min(self.tasks[task]["left"] / rates.get(task, 1) for task in running)
            now += step
            for task in list(running):
                self.tasks[task]["left"] -= step * rates.get(task, 1)
                if self.tasks[task]["left"] <= 1e-12 * max(1, rates.get(task, 1)):
                    self.tasks[task]["end"] = now
                    running.discard(task)


def fluid_servers(layers, workers, servers, iterations, synchronous):
    """Every layer a bucket, shards even. Workers are hosts 0.., servers behind them. Returns ends[iteration][worker] of
    the backwards."""
    fluid, last, pulled, queue = Fluid(), {}, {}, {}
    flow = lambda a, b: (f"up-{a}", f"down-{b}")
    newest = lambda tasks, key: [tasks[key]] if key in tasks else []
    backwards = []
    for _ in range(iterations):
        done = {}
        for w in range(workers):
            for i, (flops, _) in enumerate(layers):
                last[w] = fluid.add(newest(last, w) + pulled.get((w, i), []), flops / SPEED)
            for i in reversed(range(len(layers))):
                last[w] = done[w, i] = fluid.add([last[w]], (1 if i == 0 else 2) * layers[i][0] / SPEED)
        backwards.append([last[w] for w in range(workers)])
        for i in reversed(range(len(layers))):
            pushes, share = {}, layers[i][1] / servers
            for w, s in itertools.product(range(workers), range(servers)):
                key = "push", w, s
                queue[key] = pushes[w, s] = fluid.add([done[w, i]] + newest(queue, key), flow=flow(w, workers + s),
                                                      size=share)
            for w, s in itertools.product(range(workers), range(servers)):
                key, awaited = ("pull", w,
                                s), [pushes[other, s] for other in range(workers) if synchronous or other == w]
                queue[key] = fluid.add(awaited + newest(queue, key), flow=flow(workers + s, w), size=share)
                pulled[w, i] = (pulled[w, i] if s else []) + [queue[key]]
    fluid.run()
    return [[fluid.tasks[task]["end"] for task in row] for row in backwards]


def check_fluid(folder):
    layers = [(4e9, 40e6), (9e9, 200e6), (2e9, 120e6)]
    rows = [{"name": f"l{i}", "flops": flops, "parameters": f"{int(size)}B", "outputs": 1} for i,
            (flops, size) in enumerate(layers)]
    for workers, servers, mode in ((2, 1, "synchronous"), (3, 2, "synchronous"), (4, 3, "synchronous"),
                                   (3, 2, "asynchronous")):
        ends = fluid_servers(layers, workers, servers, 6, mode == "synchronous")
        period = ends[4][0] - ends[3][0]
        found = seconds(folder, rows, f"layers.servers={servers}", "iterations=7", f"layers.consistency={mode}",
                        data=workers)
        near(found, period, f"{workers} workers, {servers} servers, {mode}: second computation", 1e-6)


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for check in (check_servers, check_colocated, check_asynchrony, check_local, check_compression, check_streamed,
                      check_model_parallel, check_schedule, check_balance, check_fluid):
            check(folder)
    check_networks()
    print("\n".join(faults))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
