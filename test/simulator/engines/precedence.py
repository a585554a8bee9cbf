#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""precedence.py STAGESIM: groups that are exactly alike and share a link.

A small simulator of max-min sharing by progressive filling, event by event and independent of SimGrid, runs the data
parallel collectives of four tensor ranks over one trunk. It says that a symmetric job is an unstable point of max-min
sharing itself: starts that differ by 1e-9 of the time give another time. With the weights that groups have it says what
stagesim says. Then jobs on over-subscribed presets, where everything is alike: one GPU that is slower by 1e-9 changes
the time by less than 1e-6, and folded equals unfolded."""
import csv
import json
import pathlib
import random
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "support"))
import tool

NODES, GPUS = 2, 4
NIC, TRUNK, NVLINK, LATENCY = 10e9, 10e9, 400e9, 1e-6
STEP = 1e-4  # of weights from one turn to the next
JOB = """platform: platform.xml
workload: transformer
model: {layers: 16, hidden: 2048, heads: 16, sequence: 1024, vocabulary: 8192, ffn: 8192}
parallel: {tensor: 4, data: 2}
batch: {micro: 1, micro_batches: 1}
transformer: {zero: 1, bucket: 20MB}
schedule: gpipe
compute: {precision: bf16}
"""


def platform():
    hosts = range(NODES * GPUS)
    lines = ['<zone id="z" routing="Full">']
    lines += [f'<host id="g-{i}" speed="400Tf"><prop id="node" value="n-{i // GPUS}"/>'
              '<prop id="model" value="H100-SXM5-80GB"/><prop id="memory_bandwidth" value="300GBps"/></host>'
              for i in hosts]
    for i in hosts:
        lines += [f'<link id="{way}-{i}" bandwidth="{rate:g}Bps" latency="{LATENCY:g}s"/>'
                  for way, rate in (("up", NIC), ("down", NIC), ("nv-up", NVLINK), ("nv-down", NVLINK))]
    lines += [f'<link id="trunk-{i}" bandwidth="{TRUNK:g}Bps" latency="{LATENCY:g}s"/>' for i in range(NODES)]
    for i in hosts:
        for j in hosts:
            near = i // GPUS == j // GPUS
            links = [f"nv-up-{i}", f"nv-down-{j}"] if near else [f"up-{i}", f"trunk-{i // GPUS}", f"down-{j}"]
            if i != j:
                lines.append(f'<route src="g-{i}" dst="g-{j}" symmetrical="NO">'
                             + "".join(f'<link_ctn id="{link}"/>' for link in links) + "</route>")
    return tool.HEAD + "\n".join(lines) + "</zone></platform>\n"


def fill(flows):
    """Rates by progressive filling; flows: {key: (links, weight)}: a larger weight takes a smaller share."""
    capacity = {link: NIC if link[0] in "ud" else TRUNK for links, _ in flows.values() for link in links}
    rates, left = {}, dict(flows)
    while left:
        level, narrow = min((capacity[link] / sum(1 / weight for links, weight in left.values() if link in links), link)
                            for link in {link for links, _ in left.values() for link in links})
        for key in [key for key, (links, _) in left.items() if narrow in links]:
            links, weight = left.pop(key)
            rates[key] = level / weight
            for link in links:
                capacity[link] -= rates[key]
    return rates


class Chain:
    """What a tensor rank's group does with the network: collectives one after the other, with the optimizer's step
    between those of gradients and that of parameters."""

    def __init__(self, number, rows, weight, late=0):
        own = {int(row["id"]): row for row in rows}
        end = lambda row: float(row["end_s"])
        self.links = [(f"up-{a}", f"trunk-{a // GPUS}", f"down-{b}")
                      for a, b in ((number, number + GPUS), (number + GPUS, number))]
        self.weight, self.done, self.now = weight, 0, 0
        optimizer = next(row for row in rows if row["kind"] == "optimizer")
        self.step = end(optimizer) - float(optimizer["start_s"])
        self.computed = max(end(row) for row in rows if row["kind"] in "FB") + late
        sync = [row for row in rows if row["kind"] == "gradient-sync"]
        self.bytes = [float(row["bytes"]) for row in sync]
        self.ready = [max(end(own[int(i)]) for i in row["waits_for"].split()) + late for row in sync]
        self.bytes.append(sum(float(row["bytes"]) for row in rows if row["kind"] == "parameter-gather"))
        self.ends = []

    def start(self):
        """When its next collective begins to move data."""
        last = self.ends[-1] if self.ends else 0
        if len(self.ends) < len(self.ready):
            return max(last, self.ready[len(self.ends)]) + 3 * LATENCY
        return max(last, self.computed) + self.step + 3 * LATENCY


def simulate(chains):
    """Runs them to their end: their time."""
    now, moving = 0, {}  # (chain, direction): bytes left
    waiting = {i: chain.start() for i, chain in enumerate(chains)}
    while waiting or moving:
        rates = fill({key: (chains[key[0]].links[key[1]], chains[key[0]].weight) for key in moving})
        until = min([now + left / rates[key] for key, left in moving.items()] + list(waiting.values()))
        moving = {key: left - rates[key] * (until - now) for key, left in moving.items()}
        now = until
        for i in [i for i, at in waiting.items() if at <= now]:
            del waiting[i]
            moving.update({(i, way): chains[i].bytes[len(chains[i].ends)] for way in (0, 1)})
        for key in [key for key, left in moving.items() if left <= 1e-3]:
            del moving[key]
            i = key[0]
            if (i, 1 - key[1]) not in moving:
                chains[i].ends.append(now)
                if len(chains[i].ends) < len(chains[i].bytes):
                    waiting[i] = chains[i].start()
    return now


def check_sharing(test, stagesim, folder):
    """stagesim against the simulator above."""
    (folder / "platform.xml").write_text(platform())
    (folder / "job.yaml").write_text(JOB)
    tool.run(stagesim, "run", folder / "job.yaml", "-o", folder / "out", "--trace", "csv", "--set", "fold=off")
    rows = list(csv.DictReader((folder / "out/operations.csv").open()))
    lasts = json.loads((folder / "out/summary.json").read_text())["time"]["iteration_s"]
    of_rank = [[row for row in rows if row["rank"] == str(rank)] for rank in range(GPUS)]
    chains = lambda weight, late: [Chain(i, of_rank[i], weight(i), late(i)) for i in range(GPUS)]
    equal, turns = (lambda i: 1), (lambda i: 1 + STEP * (i - (GPUS - 1) / 2))
    generator = random.Random(1)
    symmetric = simulate(chains(equal, lambda i: 0))
    parted = [simulate(chains(equal, lambda i: generator.random() * 1e-9 * lasts)) for _ in range(5)]
    weighted = simulate(chains(turns, lambda i: 0))
    test.that(abs(weighted / lasts - 1) < 1e-6, "stagesim's time is that of max-min sharing with its weights: "
               f"{lasts:.9f} s, {weighted:.9f} s")
    test.that(all(abs(time / symmetric - 1) > 1e-4 for time in parted), "max-min sharing itself is unstable where all "
               f"is alike: {symmetric:.6f} s, and with starts 1e-9 apart {[round(time, 6) for time in parted]}")
    apart = max(abs(time / weighted - 1) for time in parted)
    test.that(apart < 1e-3 and apart < abs(symmetric / weighted - 1),
               f"weights give what it does apart from that point, to {apart:.1e}")


# A preset with the devices of a node, the tensor ranks of a job: each with stages of its own or without.
PRESETS = {"dgx-1v": 8, "dgx-2": 16, "dgx-a100": 8, "dgx-h100": 8, "hgx-h800": 8, "dgx-h200": 8, "dgx-b200": 8,
           "summit": 6, "perlmutter": 4, "polaris": 4, "frontier": 8, "alps": 4, "aws-p4d": 8, "aws-p5": 8,
           "aws-p3dn": 8, "aws-p5en": 8, "aws-p6-b200": 8, "mi300x": 8, "mi325x": 8, "mi355x": 8, "azure-nd-h100": 8,
           "azure-nd-mi300x": 8, "gcp-a3-mega": 8, "leonardo": 4, "juwels-booster": 4, "aurora": 6, "el-capitan": 4,
           "pcie-v100": 4, "pcie-a100": 8}
LAYOUTS = [(2, 1, "gpipe", 1, 4), (2, 1, "zb-h1", 2, 1.5), (2, 2, "1f1b", 1, 2), (1, 2, "interleaved", 3, 3)]


def check_preset(test, stagesim, folder, preset, gpus, layout):
    tensor, pipeline, schedule, zero, oversubscription = layout
    tensor = 4 if tensor > 1 and gpus % 4 == 0 else tensor
    data = 4 * gpus // tensor // pipeline
    (folder / "job.yaml").write_text(
        f"platform: {{preset: {preset}, nodes: 4, pod: 1, oversubscription: {oversubscription}}}\n"
        f"workload: transformer\nmodel: llama3-8b\nparallel: {{tensor: {tensor}, pipeline: {pipeline}, data: {data}}}\n"
        f"batch: {{micro: 1, micro_batches: {2 * pipeline}}}\ntransformer: {{zero: {zero}}}\nschedule: {schedule}\n"
        "compute: {efficiency: 0.5}\n")

    def time(*settings):
        arguments = [part for setting in settings for part in ("--set", setting)]
        return tool.summary(stagesim, folder / "job.yaml", folder / "out", *arguments)["time"]["iteration_s"]

    whole = time()
    name = f"{preset} {layout}"
    slower = time(f"what_if=[gpu-{gpus % 3}-{gpus % 4}=0.999999999]")
    test.that(abs(slower / whole - 1) < 1e-6, f"{name}: {whole!r} s, with one GPU slower by 1e-9 {slower!r} s")
    if gpus <= 8:
        unfolded = time("fold=off")
        test.that(abs(unfolded / whole - 1) < 1e-6, f"{name}: {whole!r} s, unfolded {unfolded!r} s")


def main():
    test = tool.Checker()
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        check_sharing(test, tool.binary_argument(), folder)
        for preset, gpus, layout in tool.sampled([(preset, gpus, layout) for preset, gpus in PRESETS.items()
                                                  for layout in LAYOUTS]):
            check_preset(test, tool.binary_argument(), folder, preset, gpus, layout)
    return test.done()


if __name__ == "__main__":
    sys.exit(main())
