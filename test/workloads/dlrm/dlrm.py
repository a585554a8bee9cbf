#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""dlrm.py STAGESIM: the workload dlrm against published counts, and against closed forms of times, bytes and memory."""
import itertools
import json
import os
import pathlib
import subprocess
import sys
import tempfile

STAGESIM = os.path.abspath(sys.argv[1])
ROOT = pathlib.Path(__file__).resolve().parents[3]
ENVIRONMENT = dict(os.environ, STAGESIM_MODELS=str(ROOT / "workloads/models"),
                   STAGESIM_EFFICIENCY=str(ROOT / "workloads/efficiency"))
RATE = 10e9  # bytes per second of a host's link in each direction
SPEED, MEMORY = 1e13, 1e12  # flop/s; bytes per second
faults = []


def expect(good, what):
    if not good:
        faults.append(what)


def near(value, expected, what, tolerance=1e-6):
    expect(abs(value - expected) <= tolerance * abs(expected), f"{what}: {value!r}, not {expected!r}")


def write_star(path, hosts, speed, memory):
    """Hosts around a switch without limits: each has a link up and one down."""
    nodes = "".join(f'<host id="h-{i}" speed="{speed}f"><prop id="memory_bandwidth" value="{memory / 1e9:.0f}GBps"/>'
                    f'</host>' for i in range(hosts))
    links = "".join(f'<link id="{way}-{i}" bandwidth="{RATE}Bps" latency="0s"/>' for i in range(hosts)
                    for way in ("up", "down"))
    routes = "".join(f'<route src="h-{i}" dst="h-{k}" symmetrical="NO"><link_ctn id="up-{i}"/><link_ctn '
                     f'id="down-{k}"/></route>' for i, k in itertools.permutations(range(hosts), 2))
    path.write_text('<?xml version="1.0"?><!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd"><platform '
                    f'version="4.1"><zone id="star" routing="Full">{nodes}{links}{routes}</zone></platform>')


class Job:
    """A small model. `tables`: rows, width, pooling of each."""

    def __init__(self, ranks, batch, tables, bottom=(16, 64, 32), top=(64, 8, 1), interaction="dot", speed=SPEED,
                 memory=MEMORY):
        self.ranks, self.batch, self.tables, self.bottom, self.top = ranks, batch, tables, bottom, top
        self.interaction, self.speed, self.memory = interaction, speed, memory
        self.fused, self.element = False, 4  # bytes of a number of the dense layers
        self.more, self.unique = "", None  # further keys of each table; different rows over lookups

    def run(self, folder, *sets, sharding=None, engine="simgrid"):
        write_star(folder / "star.xml", self.ranks, self.speed, self.memory)
        rows = "".join(f"  - {{name: t{i}, rows: {rows}, width: {width}, pooling: {pooling}{self.more}}}\n"
                       for i, (rows, width, pooling) in enumerate(self.tables))
        rules = "".join("  - {" + ", ".join(f"{key}: {value}" for key, value in rule.items()) + "}\n"
                        for rule in sharding or [])
        (folder / "job.yaml").write_text(
            f"platform: star.xml\nworkload: dlrm\nengine: {engine}\nparallel: {{data: {self.ranks}}}\n"
            f"batch: {{global: {self.batch}, micro_batches: 1}}\n"
            "compute: {precision: fp32, efficiency: 1, launch: 0s}\n"
            "communication: {all_reduce: ring, reduce_scatter: ring, all_gather: ring}\n"
            f"dlrm:\n  prefetch: false\n" + (f"  sharding:\n{rules}" if rules else "") +
            f"model:\n  bottom: {list(self.bottom)}\n  top: {list(self.top)}\n  interaction: {self.interaction}\n"
            f"  tables:\n{rows}")
        command = [STAGESIM, "run", folder / "job.yaml", "-o", folder / "out", "--quiet"]
        for value in sets:
            command += ["--set", value]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, env=ENVIRONMENT)
        if done.returncode:
            sys.exit(f"{sets}\n{done.stderr}")
        return json.loads((folder / "out" / "summary.json").read_text())

    # The same by hand: every operator takes the longer of its arithmetic and its bytes.

    def operator(self, flops, numbers):
        return max(flops / self.speed, self.element * numbers / self.memory)

    def linear(self, samples, inputs, outputs, first=False):
        product = self.operator(2 * samples * inputs * outputs,
                                samples * inputs + samples * outputs + inputs * outputs)
        if self.fused:
            return product, (1 if first else 2) * product
        forward = product + self.operator(0, 2 * samples * outputs)
        return forward, (1 if first else 2) * product + self.operator(0, 4 * samples * outputs)

    def dense(self):
        """Seconds of bottom layers, of the rest, and of the optimizer, forward and backward apart."""
        b, vectors = self.batch // self.ranks, len(self.tables) + 1
        bottom = [self.linear(b, i, o, k == 0) for k, (i, o) in enumerate(zip(self.bottom, self.bottom[1:]))]
        inputs, square = self.bottom[-1] + sum(width for _, width, _ in self.tables), vectors * vectors
        outputs = self.bottom[-1] + vectors * (vectors - 1) // 2
        flops = 2 * b * square * self.bottom[-1]
        forward = self.operator(0, 2 * b * inputs) + self.operator(flops, b * (inputs + square))
        forward += self.operator(0, 2 * b * outputs)
        backward = self.operator(0, b * (outputs + square)) + 2 * self.operator(flops, b * (square + 2 * inputs))
        backward += self.operator(0, 5 * b * inputs)
        if self.fused:
            forward = self.operator(flops, b * (inputs + outputs))
            backward = self.operator(2 * flops, b * (2 * inputs + outputs))
        rest = [(forward, backward)]
        rest += [self.linear(b, i, o) for i, o in zip((outputs,) + self.top, self.top)]
        loss = self.operator(0, 2 * b * self.top[-1])
        rest.append((loss, loss))
        step = self.element + 8 + (2 if self.element == 2 else 0)
        return [sum(part) for part in zip(*bottom)], [sum(part) for part in zip(*rest)], \
            step * self.parameters() / self.memory

    def parameters(self):
        vectors = len(self.tables) + 1
        sizes = (self.bottom[-1] + vectors * (vectors - 1) // 2,) + self.top
        return sum(i * o + o for shape in (self.bottom, sizes) for i, o in zip(shape, shape[1:]))

    def lookups(self, of):
        """Seconds of a rank's lookups and updates, of tables given as rows, width, pooling; rows all different."""
        sector = lambda size: 32 * -(-size // 32)
        read = update = 0
        for rows, width, pooling in of:
            unique = rows * (1 - (1 - 1 / rows) ** (self.batch * pooling))
            unique = self.unique * self.batch * pooling if self.unique else unique
            fixed = 96 + sector(4 * pooling) + sector(4 * width)
            factor = 1 if width > 64 else 1.1 if width > 32 else 1.55
            read += self.batch * (fixed + pooling * sector(4 * width)) * factor
            update += (self.batch * fixed + (2 if self.fused else 4) * unique * sector(4 * width)) * factor
        cast = 0 if self.fused or self.element == 4 else self.batch * sum(width for _, width, _ in of) * 6 / self.memory
        return read / self.memory + cast, update / self.memory + cast


# ---- published counts ----

def check_models(folder):
    """Each file states what is published. A wrong statement is refused, so a run proves the counts of rows, parameters
    and multiply-adds. On one rank the weights are all tables and all dense layers."""
    stated = {"dlrm-mlperf": (187767399, 2368897, 2458496), "dlrm-dcnv2": (204184588, 16044545, None),
              "dlrm-kaggle": (33762577, None, None), "dlrm-terabyte-t0": (882774559, 2368897, 2458496),
              "dlrm-terabyte-t3": (177944275, 2368897, 2458496), "dlrm-terabyte-t15": (32709138, 2368897, 2458496)}
    gib = {"dlrm-mlperf": "89.53", "dlrm-dcnv2": "97.36", "dlrm-kaggle": "2.01", "dlrm-terabyte-t0": "420.94",
           "dlrm-terabyte-t3": "84.85", "dlrm-terabyte-t15": "15.60"}
    kaggle = sum(i * o + o for sizes in ((13, 512, 256, 64, 16), (16 + 27 * 26 // 2, 512, 256, 1))
                 for i, o in zip(sizes, sizes[1:]))
    for model, (rows, parameters, products) in stated.items():
        text = (ROOT / f"workloads/models/{model}.yaml").read_text()
        for key, value in (("rows", rows), ("parameters", parameters), ("multiply_adds", products)):
            expect(value is None or f"\n{key}: {value}\n" in text, f"{model} does not state {key} {value}")
        command = [STAGESIM, "run", ROOT / "scenarios/dlrm.yaml", "--engine", "analytic", "-o", folder / model,
                   "--quiet"]
        for value in (f"model={model}", "parallel.data=1", "compute.precision=fp32"):
            command += ["--set", value]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, env=ENVIRONMENT)
        expect(done.returncode == 0, f"{model}: {done.stderr}")
        if done.returncode:
            continue
        held = json.loads((folder / model / "summary.json").read_text())["memory"]["parts"]["parameters_bytes"]
        tables = rows * 4 * (16 if model == "dlrm-kaggle" else 128)
        expect(held == tables + 4 * (parameters or kaggle), f"{model}: {held} bytes of weights")
        expect(f"{(held - 4 * (parameters or kaggle)) / 2 ** 30:.2f}" == gib[model], f"{model}: {tables / 2 ** 30} GiB")


# ---- closed forms ----

def check_one_rank(folder):
    for tables in ([(10**6, 32, 1)], [(10**5, 32, 3), (1000, 32, 10)]):
        job = Job(1, 4096, tables)
        bottom, rest, step = job.dense()
        expected = sum(bottom) + sum(rest) + step + sum(job.lookups(tables))
        near(job.run(folder)["time"]["iteration_s"], expected, f"one rank, {tables}", 1e-9)
    for precision, fused in (("fp16", False), ("fp16", True), ("fp32", True)):
        job.fused, job.element = fused, 2 if precision == "fp16" else 4
        bottom, rest, step = job.dense()
        expected = sum(bottom) + sum(rest) + step + sum(job.lookups(tables))
        sets = [f"compute.precision={precision}"] + ["dlrm.fused=[interaction, mlp, lookup]"] * fused
        near(job.run(folder, *sets)["time"]["iteration_s"], expected, f"one rank, {precision}, fused {fused}", 1e-9)


def check_different_rows(folder):
    """Given as a share, or as a histogram: 600 indices occur once and 100 four times, so 700 of 1,000 are different."""
    job = Job(1, 4096, [(10**6, 32, 2)])
    job.unique = 0.7
    bottom, rest, step = job.dense()
    expected = sum(bottom) + sum(rest) + step + sum(job.lookups(job.tables))
    bins = "model.histogram=[{table: 't*', occurrences: 1, rows: 600}, {table: t0, occurrences: 4, rows: 100}]"
    near(job.run(folder, bins)["time"]["iteration_s"], expected, "rows by a histogram", 1e-9)
    job.more = ", unique: 0.7"
    near(job.run(folder)["time"]["iteration_s"], expected, "rows by a share", 1e-9)


def check_memory(folder):
    """Weights, states and exchanged sums of one rank, and what layers keep."""
    job = Job(1, 4096, [(1000, 32, 2), (50, 32, 1)])
    numbers, dense = 1050 * 32, job.parameters()
    for optimizer, state in (("sgd", 0), ("adagrad", 4 * (numbers + dense)), ("adam", 8 * (numbers + dense)),
                             ("rowwise-adagrad", 4 * (1050 + dense))):
        parts = job.run(folder, f"dlrm.optimizer={optimizer}")["memory"]["parts"]
        near(parts["parameters_bytes"], 4 * (numbers + dense), "bytes of weights", 0)
        near(parts["optimizer_bytes"], state, f"bytes of {optimizer}'s state", 1e-12)
        near(parts["buffers_bytes"], 4096 * (2 * 64 * 4 + 3 * 8), "bytes of exchanged sums and indices", 0)
        kept = sum(job.bottom[1:]) + sum(job.top) + (32 * 3 + 32 + 3)
        near(parts["activations_bytes"], 4096 * 4 * kept, "bytes of activations", 0)


def check_exchanges(folder):
    """Nothing takes time but the network: sums there, gradients back, indices, and the all-reduce."""
    ranks, batch = 4, 4096
    for engine in ("simgrid", "analytic"):
        job = Job(ranks, batch, [(10**6, 32, 5)] * 4, speed=1e19, memory=1e18)
        summary = job.run(folder, "communication.overlap=false", engine=engine)
        sums, indices = batch / ranks * 32 * 4, batch / ranks * 5 * 8
        reduce = 4 * job.parameters()
        sent = ranks * (ranks - 1) * (2 * sums + indices) + 2 * (ranks - 1) * reduce
        near(summary["communication"]["sent_bytes"], sent, f"bytes, {engine}")
        # The iteration begins with its first computation: of one alone the indices came before it.
        seconds = ((ranks - 1) * 2 * sums + 2 * (ranks - 1) / ranks * reduce) / RATE
        if engine == "simgrid":
            near(summary["time"]["iteration_s"], seconds, "exchanges, one after the other", 1e-4)


def check_unequal(folder):
    """26 tables on 8 ranks, 4 on two of them and 3 on the others: the busiest rank sends 117.44 MB and receives
    92.27. Each rank's links carry its own bytes."""
    ranks, batch = 8, 65536
    job = Job(ranks, batch, [(10**6, 128, 1)] * 26, bottom=(16, 128), speed=1e19, memory=1e18)
    summary = job.run(folder, "communication.overlap=false", "dlrm.prefetch=true")
    counts = [4, 4] + [3] * 6
    piece, reduce = batch // ranks * 128 * 4, 2 * (ranks - 1) / ranks * 4 * job.parameters()
    indices = batch // ranks * 8
    expect(7 * 4 * piece == 117440512 and 22 * piece == 92274688, "the busiest rank's bytes")
    links = {link["name"]: link["bytes"] for link in summary["links"]}
    for rank, count in enumerate(counts):
        out = 7 * count * piece + (26 - count) * (piece + indices) + reduce
        back = (26 - count) * piece + 7 * count * (piece + indices) + reduce
        for name, expected in (("up", out), ("down", back)):
            if f"{name}-{rank}" in links:  # the summary has the busiest links
                near(links[f"{name}-{rank}"], expected, f"bytes of {name}-{rank}")
    expect(len(links) >= 8, f"only {len(links)} links in the summary")
    sent = sum(7 * count * (2 * piece + indices) for count in counts) + ranks * reduce
    near(summary["communication"]["sent_bytes"], sent, "bytes of unequal tables")


def check_many_flows(folder):
    """Three of 1,024 ranks send to all others. SimGrid takes the weights of their flows off a sum one by one; what
    rounding leaves of it exceeded its precision, and it ended."""
    (folder / "many.yaml").write_text(
        "platform: dgx-h100:128\nworkload: dlrm\nparallel: {data: 1024}\nbatch: {global: 65536, micro_batches: 1}\n"
        "dlrm: {prefetch: false}\nmodel: {bottom: [13, 32], top: [1], tables: [{name: a, rows: 1000000}, "
        "{name: b, rows: 1000000}, {name: c, rows: 1000}]}\n")
    found = {}
    for engine in ("simgrid", "analytic"):
        done = subprocess.run([STAGESIM, "run", folder / "many.yaml", "-o", folder / "many", "--quiet", "--engine",
                               engine], capture_output=True, text=True, env=ENVIRONMENT)
        expect(done.returncode == 0, f"1,024 unequal ranks: {done.stderr}")
        found[engine] = json.loads((folder / "many" / "summary.json").read_text()) if not done.returncode else None
    if all(found.values()):
        near(found["simgrid"]["time"]["iteration_s"], found["analytic"]["time"]["iteration_s"], "1,024 unequal ranks",
             0.05)


def check_rows(folder):
    """Tables divided by rows among all ranks: a reduce-scatter of the sums, an all-gather of their gradients."""
    ranks, batch = 4, 4096
    job = Job(ranks, batch, [(10**6, 32, 4)] * 4, speed=1e19, memory=1e18)
    summary = job.run(folder, "communication.overlap=false", sharding=[{"table": "'*'", "split": "row"}])
    sums, indices = batch * 4 * 32 * 4, batch / ranks * 4 * 8
    sent = 2 * (ranks - 1) * sums + ranks * (ranks - 1) * indices + 2 * (ranks - 1) * 4 * job.parameters()
    near(summary["communication"]["sent_bytes"], sent, "bytes of tables divided by rows")


def check_present(folder):
    """Of a table cut by rows a rank sends the sums of samples that have rows there: 1 - (1 - 1/n)^L of them."""
    ranks, batch = 4, 4096
    for pooling in (1, 3):
        job = Job(ranks, batch, [(10**6, 32, pooling)] * 4, speed=1e19, memory=1e18)
        summary = job.run(folder, "dlrm.partial=present", sharding=[{"table": "'*'", "split": "row"}])
        share = 1 - (1 - 1 / ranks) ** pooling
        each = batch / ranks * 4 * (2 * share * 32 * 4 + pooling / ranks * 8)
        sent = ranks * (ranks - 1) * each + 2 * (ranks - 1) * 4 * job.parameters()
        near(summary["communication"]["sent_bytes"], sent, f"sums of samples that are present, {pooling} lookups")


def check_two_steps(folder):
    """Ranks 0 and 1 are a node, 2 and 3 another: what one rank has for both ranks of a place goes to the rank there in
    its node first, and then, with what that one has, to the other node."""
    ranks, batch = 4, 4096
    for tables in (4, 5, 6):  # of 5 and 6 the first ranks have one more
        job = Job(ranks, batch, [(10**6, 32, 1)] * tables, speed=1e19, memory=1e18)
        summary = job.run(folder, "dlrm.node=2", "communication.overlap=false")
        sums, indices = batch / ranks * 32 * 4, batch / ranks * 8
        counts = [tables // ranks + (rank < tables % ranks) for rank in range(ranks)]
        # Within nodes each rank sends 2 pieces of each of its tables; across, one of each table of its node.
        pieces = sum(2 * count for count in counts) + 2 * sum(counts)
        reduce = 2 * (ranks - 1) * 4 * job.parameters()
        near(summary["communication"]["sent_bytes"], pieces * (2 * sums + indices) + reduce,
             f"bytes of two steps, {tables} tables")
        links = {link["name"]: link["bytes"] for link in summary["links"]}
        for rank, count in enumerate(counts):
            mate, node = counts[rank ^ 1], count + counts[rank ^ 1]
            other = tables - node
            back = other + 2 * mate  # what goes to tables: to the other node's, then to those of the rank beside
            near(links[f"up-{rank}"], (2 * count + node + back) * sums + back * indices + reduce / ranks,
                 f"bytes of up-{rank} in two steps, {tables} tables")
        if tables > 4:  # ranks begin at different times, when their indices are there
            continue
        for engine in ("simgrid", "analytic"):
            found = job.run(folder, "dlrm.node=2", "communication.overlap=false", engine=engine)["time"]["iteration_s"]
            near(found, 2 * (2 + 2) * sums / RATE + reduce / ranks / RATE, f"time of two steps, {engine}", 1e-4)


def node_numbers(split, pooling, present, place):
    """Numbers of a sample that one rank has of a table of width 32 over all 4 ranks, or over the 2 of a node, and that
    its node has when they are added; per rank."""
    held = [rank for rank in range(4) if place == "all" or rank < 2]
    share = lambda parts: 1 - (1 - parts / len(held)) ** pooling if present else 1
    own = [(32 * share(1) if split == "row" else 32 / len(held)) * (rank in held) for rank in range(4)]
    parts = [sum(rank // 2 == node for rank in held) for node in (0, 0, 1, 1)]
    return own, [(32 * share(count) if split == "row" else 32 * count / len(held)) * (count > 0) for count in parts]


def check_node_sums(folder):
    """HugeCTR's hierarchical exchange: sums of parts that lie on one node are added before they cross to the other, in
    the forward and, as gradients, once for each table and node in the backward. In 16 bits all of it is half."""
    ranks, batch = 4, 4096
    for split, pooling, place, present, element in itertools.product(("row", "column"), (1, 3), ("all", "0-1"),
                                                                     (True, False), (4, 2)):
        job = Job(ranks, batch, [(10**6, 32, pooling)], speed=1e19, memory=1e18)
        own, node = node_numbers(split, pooling, present, place)
        rules = [{"table": "'*'", "split": split, "ranks": place}]
        words = [f"dlrm.partial={'present' if present else 'all'}"] + ["compute.precision=fp16"] * (element == 2)
        piece = batch / ranks * element
        for added in (True, False):
            summary = job.run(folder, "dlrm.node=2", f"dlrm.node_sums={'added' if added else 'apart'}", *words,
                              sharding=rules)
            # Each rank sends two pieces to the rank beside it, and one to the other node.
            across = [node[rank] if added else own[rank] + own[rank ^ 1] for rank in range(ranks)]
            sums = piece * (2 * sum(own) + sum(across))
            if split == "row" and place == "all" and not present and not added:
                sums = (ranks - 1) * batch * 32 * element  # a reduce-scatter takes the place of both steps
            held = 4 if place == "all" else 2
            indices = batch / ranks * 8 * (2 + 2) * pooling * (1 if split == "row" else held)
            dense = 2 * (ranks - 1) * element * job.parameters()
            near(summary["communication"]["sent_bytes"], 2 * sums + indices + dense,
                 f"bytes, {split}, {pooling} lookups, ranks {place}, present {present}, {element}, added {added}")


def check_sent_precision(folder):
    """What HugeCTR sends in mixed precision, each switched on and off: sums, their gradients and dense gradients in 16
    bits; sums and their gradients in 32 bits beside dense gradients in 16; in one step and two. Overlap of exchanges
    and bottom layers sends the same."""
    ranks, batch = 4, 4096
    job = Job(ranks, batch, [(10**6, 32, 1)] * 4, speed=1e19, memory=1e18)
    for two_steps, precision, exchange in itertools.product((False, True), ("fp32", "fp16", "bf16"), ("", "fp32")):
        dense = 4 if precision == "fp32" else 2
        number = 4 if exchange else dense
        if precision == exchange:
            continue
        words = [f"compute.precision={precision}"] + [f"dlrm.exchange={exchange}"] * bool(exchange)
        words += ["dlrm.node=2"] * two_steps
        # In one step each rank sends a piece to each of three others; in two, two pieces to one rank, and one of each
        # of its node's two tables to another. Indices go the same way.
        pieces = ranks * ((2 + 2) if two_steps else 3)
        sums, indices = batch / ranks * 32 * number, batch / ranks * 8
        sent = pieces * (2 * sums + indices) + 2 * (ranks - 1) * dense * job.parameters()
        for overlap in ("true", "false"):
            summary = job.run(folder, f"communication.overlap={overlap}", *words)
            near(summary["communication"]["sent_bytes"], sent, f"bytes, {words}, overlap {overlap}", 1e-12)


def check_hugectr(folder):
    """The profile sends what its hierarchical exchange does, where a node is given: rows on one rank, sums added."""
    job = Job(4, 4096, [(10**6, 32, 3)], speed=1e19, memory=1e18)
    rules = [{"table": "'*'", "split": "row", "ranks": "all"}]
    framework, plain = ("framework=hugectr", "compute.precision=fp16"), ("compute.precision=fp16",)
    for words, own in (((), ("dlrm.partial=present",)),
                       (("dlrm.node=2",), ("dlrm.node=2", "dlrm.partial=present", "dlrm.node_sums=added"))):
        found = [job.run(folder, *keys, sharding=rules)["communication"]["sent_bytes"]
                 for keys in ((*framework, *words), (*plain, *own), (*plain, *words))]
        near(found[0], found[1], f"bytes of the profile, {words}", 1e-12)
        expect(found[0] < found[2], f"the profile changes nothing, {words}: {found}")


def check_one_node(folder):
    """Where all ranks are one node nothing crosses, and that is said."""
    job = Job(4, 4096, [(10**6, 32, 1)] * 4)
    job.run(folder)
    command = [STAGESIM, "run", folder / "job.yaml", "--set", "dlrm.node=4"]
    done = subprocess.run(command, capture_output=True, text=True, env=ENVIRONMENT)
    expect("all ranks are one node" in done.stderr, f"dlrm.node of all ranks: {done.stderr!r}")


def check_node_time(folder):
    """The sums of a node meet, then a kernel adds them, and only what crosses to the other node is beside the bottom
    layers."""
    ranks, batch = 4, 16384
    job = Job(ranks, batch, [(10**6, 32, 1)] * 4, memory=1e11)
    rules = [{"table": "'*'", "split": "row"}]
    bottom, _, _ = job.dense()
    found = [job.run(folder, "dlrm.node=2", f"dlrm.node_sums={word}", "dlrm.partial=present", "dlrm.bucket=1GB",
                     sharding=rules, engine=engine)["time"]["iteration_s"]
             for engine in ("simgrid", "analytic") for word in ("added", "apart")]
    numbers = batch / ranks * 2 * 32  # of the samples of a place; each rank has a quarter of them, a node half
    within, across = numbers * 4 / RATE, numbers * 4 / RATE
    add = 4 * (2 * numbers + 2 * numbers) / 1e11
    for i in (0, 2):
        near(found[i] - found[i + 1], add + within + max(bottom[0], across) - max(bottom[0], within + across),
             "the kernel that adds, and what the bottom layers no longer hide", 2e-3)


def check_host(folder):
    """A table in host memory: the rows that a batch reads come over PCI Express, 24 GB/s, and go back with their
    optimizer state; nothing hides that on one rank. Weights and state are not the GPU's."""
    rows, batch = 10**7, 65536
    (folder / "host.yaml").write_text(
        f"platform: dgx-a100:1\nworkload: dlrm\nparallel: {{data: 1}}\niterations: 3\n"
        f"batch: {{global: {batch}, micro_batches: 1}}\ndlrm: {{optimizer: adagrad}}\nmodel: {{bottom: [13, 128], "
        f"top: [1], tables: [{{name: a, rows: {rows}}}, {{name: b, rows: 1000}}]}}\n")
    found = {}
    for split, engine in itertools.product(("table", "host"), ("simgrid", "analytic")):
        command = [STAGESIM, "run", folder / "host.yaml", "-o", folder / "host", "--quiet", "--engine", engine, "--set",
                   f"dlrm.sharding=[{{table: a, split: {split}}}]"]
        subprocess.run(command, check=True, capture_output=True, env=ENVIRONMENT)
        found[split, engine] = json.loads((folder / "host" / "summary.json").read_text())
    moved = -rows * ((1 - 1 / rows) ** batch - 1) * 128 * 4 * 2
    for engine in ("simgrid", "analytic"):
        before, after = found["table", engine], found["host", engine]
        near(after["time"]["iteration_s"] - before["time"]["iteration_s"], 2 * moved / 24e9, f"host memory, {engine}",
             2e-3)
        for part in ("parameters_bytes", "optimizer_bytes"):
            near(before["memory"]["parts"][part] - after["memory"]["parts"][part], rows * 128 * 4, part, 0)
        near(after["memory"]["parts"]["buffers_bytes"] - before["memory"]["parts"]["buffers_bytes"], moved,
             "buffers for rows of host memory", 1e-6)


def check_copies(folder):
    """A replicated table: no sums travel. The smaller of its gradient and the rows that ranks touched does."""
    ranks, batch = 4, 4096
    for rows, touched in ((100, False), (10**9, True)):
        job = Job(ranks, batch, [(rows, 32, 1)], speed=1e19, memory=1e18)
        summary = job.run(folder, sharding=[{"table": "t0", "split": "replicated"}])
        b = batch / ranks
        unique = -rows * ((1 - 1 / rows) ** b - 1)
        exchanged = (ranks - 1) * ranks * unique * (32 * 4 + 8) if touched else 2 * (ranks - 1) * rows * 32 * 4
        near(summary["communication"]["sent_bytes"], exchanged + 2 * (ranks - 1) * 4 * job.parameters(),
             f"bytes of a replicated table of {rows} rows", 1e-5)


def check_overlap(folder):
    """Bottom layers run while sums travel: the longer of the two counts, each way."""
    ranks, batch = 4, 16384
    for memory in (1e11, 3e12):
        job = Job(ranks, batch, [(10**6, 32, 1)] * 4, memory=memory)
        bottom, rest, step = job.dense()
        lookup, update = job.lookups(job.tables[:1])
        sums = (ranks - 1) * batch / ranks * 128 / RATE
        reduce = 2 * (ranks - 1) / ranks * 4 * job.parameters() / RATE
        found = job.run(folder, "dlrm.bucket=1GB")["time"]["iteration_s"]
        apart = job.run(folder, "communication.overlap=false")["time"]["iteration_s"]
        near(apart, lookup + 2 * sums + sum(bottom) + sum(rest) + max(reduce, update) + step,
             f"without overlap, memory {memory:g}", 1e-3)
        back = max(sums, bottom[1]) + update
        less = lookup + max(sums, bottom[0]) + sum(rest) + back + step
        expect(less <= found * (1 + 1e-6) and found <= less + reduce + 1e-9,
               f"with overlap, memory {memory:g}: {found}, not {less} to {less + reduce}")


with tempfile.TemporaryDirectory() as name:
    place = pathlib.Path(name)
    for check in (check_models, check_one_rank, check_different_rows, check_memory, check_exchanges, check_unequal,
                  check_many_flows, check_rows, check_present, check_two_steps, check_node_sums,
                  check_sent_precision, check_hugectr, check_one_node, check_node_time, check_host, check_copies,
                  check_overlap):
        check(place)
for fault in faults:
    print(fault)
sys.exit(1 if faults else 0)
