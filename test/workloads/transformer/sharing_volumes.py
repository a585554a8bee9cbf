#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""sharing_volumes.py STAGESIM: what ranks send that share sequences (context parallelism) or experts, summed up from
operations.csv for every rank, against the published formulas, which are worked out here; work per rank; and that axes
of size 1 change nothing."""
import collections
import csv
import itertools
import json
import os
import pathlib
import subprocess
import sys
import tempfile

STAGESIM = os.path.abspath(sys.argv[1])
LAYERS, DENSE, HIDDEN, HEADS, KV_HEADS, SEQUENCE, VOCABULARY = 4, 2, 512, 8, 4, 1024, 4096
FFN, EXPERTS, TOP_K, SHARED, EXPERT_FFN, MICRO, MICRO_BATCHES = 2048, 16, 2, 1, 256, 2, 3
BASE = f"""platform: gpus.xml
workload: transformer
model:
  layers: {LAYERS}
  hidden: {HIDDEN}
  heads: {HEADS}
  kv_heads: {KV_HEADS}
  ffn: {FFN}
  sequence: {SEQUENCE}
  vocabulary: {VOCABULARY}
  gated: true
  biases: false
  dropout: false
  tied: false
  norm: rms
  experts: {EXPERTS}
  top_k: {TOP_K}
  shared_experts: {SHARED}
  expert_ffn: {EXPERT_FFN}
  dense_layers: {DENSE}
  expert_groups: 4
  top_groups: 1
batch: {{micro: {MICRO}, micro_batches: {MICRO_BATCHES}}}
schedule: {{name: 1f1b}}
transformer: {{sequence_parallel: true}}
compute: {{precision: bf16, efficiency: 0.5}}
communication: {{all_reduce: ring, reduce_scatter: ring, all_gather: ring, all_to_all: pairwise}}
engine: analytic
output: {{trace: [csv], replicas: all}}
"""
PLATFORM = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <cluster id="gpus" prefix="gpu-" radical="0-31" suffix="" speed="312Tf" bw="25GBps" lat="2us"/>
</platform>
"""
faults = []


def expect(good, what):
    if not good:
        faults.append(what)


def near(value, expected, what, tolerance=1e-12):
    expect(abs(value - expected) <= tolerance * max(abs(expected), 1), f"{what}: {value!r}, not {expected!r}")


def run(folder, mesh, *sets):
    """Rows of operations.csv; the mesh as in the section parallel."""
    command = [STAGESIM, "run", folder / "job.yaml", "-o", folder / "out", "--quiet"]
    for value in [f"parallel.{axis}={size}" for axis, size in mesh.items()] + list(sets):
        command += ["--set", value]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    if done.returncode:
        sys.exit(f"{mesh} {sets}\n{done.stderr}")
    with open(folder / "out" / "operations.csv") as file:
        return list(csv.DictReader(file))


def sent(rows):
    """Bytes that leave each rank, by kind."""
    sums = collections.defaultdict(lambda: collections.defaultdict(float))
    for row in rows:
        if row["stream"].startswith(("collective", "send")):
            sums[int(row["rank"])][row["kind"]] += float(row["bytes"])
    return sums


# ---- what a rank has of the model: parameters that all ranks of its stage hold, and routed experts ----

def parameters(stage, t, p, e, split):
    layers = range(stage * LAYERS // p, (stage + 1) * LAYERS // p)
    width = HIDDEN // HEADS
    attention = (HIDDEN * (HIDDEN + 2 * KV_HEADS * width) + HIDDEN * HIDDEN) / t + HIDDEN
    dense = 3 * HIDDEN * FFN / t + HIDDEN
    router = HIDDEN + EXPERTS * HIDDEN + SHARED * 3 * HIDDEN * EXPERT_FFN / t
    count = sum(attention + (dense if layer < DENSE else router) for layer in layers)
    count += VOCABULARY * HIDDEN / t * ((stage == 0) + (stage == p - 1)) + (HIDDEN if stage == p - 1 else 0)
    routed = sum(EXPERTS / e * 3 * HIDDEN * EXPERT_FFN / split for layer in layers if layer >= DENSE)
    return count, routed


def ring(ranks, size):
    """Reduce-scatter or all-gather of a buffer, half an all-reduce."""
    return (ranks - 1) / ranks * size


# ---- the formulas; t, c, d, p, e ranks along the axes, split those that share each expert (t or 1), `again` 1 where
# layers are computed again ----

def context_bytes(layers, t, c, again, method="ring"):
    """Keys and values of all tokens, in the forward and again in the backward, and their gradients: Llama 3, section
    3.3; Ring Attention. Where heads are exchanged, queries, keys, values and what comes of them, of a rank's tokens, in
    both directions: DeepSpeed Ulysses, section 3.2."""
    if method == "all-to-all":
        columns = (HEADS + 2 * KV_HEADS + HEADS) * (HIDDEN // HEADS) / t
        return MICRO_BATCHES * layers * (2 + again) * ring(c, 2 * MICRO * SEQUENCE / c * columns)
    keys_and_values = 2 * MICRO * SEQUENCE * 2 * KV_HEADS * (HIDDEN // HEADS) / t
    return MICRO_BATCHES * layers * (3 + again) * ring(c, keys_and_values)


def nodes_of_token(experts, top_k, nodes, groups=1, top=1):
    """Nodes that hold some of a token's experts, counted over every choice of groups and of experts within them."""
    found = choices = 0
    for chosen in itertools.combinations(range(groups), top):
        allowed = [expert for expert in range(experts) if expert * groups // experts in chosen]
        for mine in itertools.combinations(allowed, top_k):
            found += len({expert * nodes // experts for expert in mine})
            choices += 1
    return found / choices


def expert_bytes(expert_layers, t, c, e, again, copies=TOP_K, dispatch=2):
    """To the experts and back in each direction: 2 all-to-alls of tokens x top_k x hidden, of which (e - 1)/e leave the
    rank."""
    tokens = MICRO * SEQUENCE / c / t
    return MICRO_BATCHES * expert_layers * (2 + again) * ring(e, tokens * copies * HIDDEN * (dispatch + 2))


def tensor_bytes(stage, layers, expert_layers, t, c, p, split, again):
    """Sequence parallelism: all-gather and reduce-scatter around each block, inputs once more in the backward
    (Korthikanti et al. 2022); tokens
    of experts, of which each is there top_k times, are gathered and scattered once in each direction where split ranks
    share an expert."""
    once = ring(t, 2 * MICRO * SEQUENCE / c * HIDDEN)
    blocks = 2 * layers - expert_layers + SHARED * expert_layers
    volume = blocks * (5 + 2 * again) + expert_layers * (split > 1) * (4 + 2 * again) * TOP_K + 2 * (stage ==
                                                                                                  0) + 2 * (stage == p -
                                                                                                            1)
    return MICRO_BATCHES * volume * once


def sync_bytes(stage, zero, t, c, d, p, e, split):
    """Gradients in fp32 over all ranks that hold the same parameters, of experts only those; weights in 16 bits where
    they are sharded."""
    times = MICRO_BATCHES if zero >= 2 else 1
    sync = gather = 0
    for count, ranks in zip(parameters(stage, t, p, e, split), (c * d, t * c * d // split // e)):
        sync += (times if zero else 2) * ring(ranks, 4 * count)
        gather += (2 * MICRO_BATCHES if zero == 3 else zero > 0) * ring(ranks, 2 * count)
    return sync, gather


def stage_of(rank, t, c, p):
    return rank // (t * c) % p


def check_volumes(folder, mesh, zero, recompute, *sets):
    t, c, d, p, e = (mesh.get(axis, 1) for axis in ("tensor", "context", "data", "pipeline", "expert"))
    split = mesh.get("expert_tensor", t)
    method = next((text.split("=")[1] for text in sets if "context_method" in text), "")
    again, what = int(recompute == "full"), f"{mesh} zero {zero} {recompute} {sets}"
    sums = sent(run(folder, mesh, f"transformer.zero={zero}", f"schedule.recompute={recompute}", *sets))
    expect(len(sums) in (0, t * c * d * p), f"{what}: {len(sums)} ranks")
    for rank in range(t * c * d * p):
        stage, of = stage_of(rank, t, c, p), f"rank {rank} of {what}"
        layers = LAYERS // p
        experts = sum(layer >= DENSE for layer in range(stage * layers, (stage + 1) * layers))
        sync, gather = sync_bytes(stage, zero, t, c, d, p, e, split)
        near(sums[rank]["context"], context_bytes(layers, t, c, again, method), f"context, {of}")
        near(sums[rank]["expert"], expert_bytes(experts, t, c, e, again), f"expert, {of}")
        near(sums[rank]["tensor"], tensor_bytes(stage, layers, experts, t, c, p, split, again), f"tensor, {of}")
        near(sums[rank]["gradient-sync"], sync, f"gradient-sync, {of}")
        near(sums[rank]["parameter-gather"], gather, f"parameter-gather, {of}")
        near(sums[rank]["activation"], (stage < p - 1) * MICRO_BATCHES * 2 * MICRO * SEQUENCE / c * HIDDEN / t,
             f"activation, {of}")


def check_grid(folder):
    meshes = [{"data": d, "context": c, "tensor": t, "pipeline": p, "expert": e} for t, c, d, p,
              e in
              ((1, 1, 4, 1, 1), (1, 1, 4, 1, 2), (1, 1, 4, 2, 4), (1, 2, 1, 1, 1), (1, 4, 1, 1, 4), (1, 2, 4, 1, 2),
               (1, 2, 4, 2, 4), (1, 2, 4, 1, 8), (1, 4, 2, 2, 2), (2, 1, 2, 1, 2), (2, 2, 2, 2, 4), (2, 4, 2, 1, 2),
               (4, 2, 2, 2, 1), (2, 8, 1, 2, 8))]
    meshes += [{"tensor": t, "context": c, "data": d, "pipeline": p, "expert": e, "expert_tensor": 1} for t, c, d, p,
               e in
               ((2, 1, 2, 1, 1), (2, 1, 2, 1, 2), (2, 1, 4, 1, 8), (4, 1, 2, 2, 2), (4, 1, 2, 2, 4), (2, 2, 2, 2, 4),
                (2, 2, 2, 2, 8), (2, 1, 8, 2, 16), (1, 2, 4, 1, 8))]
    for number, mesh in enumerate(meshes):
        heads = KV_HEADS % (mesh["tensor"] * mesh["context"]) == 0
        for method in ("all-gather", "ring") + ("all-to-all",) * heads:
            zero, recompute = (0, 1, 3)[number % 3], ("none", "full")[number % 2]
            granularity = ("layer", "stage")[number // 2 % 2]
            check_volumes(folder, mesh, zero, recompute, f"transformer.context_method={method}",
                          f"transformer.granularity={granularity}")
    check_volumes(folder, meshes[6], 2, "none", "transformer.granularity=stage")
    check_volumes(folder, meshes[6], 1, "none", "transformer.granularity=layer", "transformer.expert_overlap=true")
    check_volumes(folder, meshes[10], 1, "full", "transformer.granularity=stage", "transformer.expert_overlap=true")
    check_volumes(folder, meshes[10], 1, "none", "transformer.context_balance=false", "transformer.context_method=ring")
    check_volumes(folder, meshes[6], 1, "none", "schedule.name=zb-h1")


def check_experts_further(folder):
    """Capacity, precision on the way, and routing that is limited to one of two nodes."""
    mesh = {"data": 8, "expert": 8}
    every = [rank for rank in range(8)]
    sums = sent(run(folder, mesh, "transformer.capacity_factor=1.25"))
    for rank in every:
        near(sums[rank]["expert"], 1.25 * expert_bytes(LAYERS - DENSE, 1, 1, 8, 0), f"capacity, rank {rank}")
    sums = sent(run(folder, mesh, "transformer.dispatch=fp8"))
    for rank in every:
        near(sums[rank]["expert"], expert_bytes(LAYERS - DENSE, 1, 1, 8, 0, dispatch=1), f"fp8, rank {rank}")
    for node, groups in ((4, (1, 1)), (2, (1, 1)), (4, (4, 1)), (4, (8, 3)), (2, (8, 3)), (2, (2, 1)), (2, (4, 2)),
                         (4, (2, 2))):
        sets = [f"model.expert_groups={groups[0]}", f"model.top_groups={groups[1]}"]
        sums = sent(run(folder, mesh, f"transformer.expert_node={node}", *sets))
        copies = nodes_of_token(EXPERTS, TOP_K, 8 // node, *groups)
        expected = (expert_bytes(LAYERS - DENSE, 1, 1, 8 // node, 0, copies=copies) +
                    expert_bytes(LAYERS - DENSE, 1, 1, node, 0))
        for rank in every:
            near(sums[rank]["expert"], expected, f"nodes of {node}, groups {groups}, rank {rank}")
        sums = sent(run(folder, mesh, f"transformer.expert_node={node}", "transformer.expert_exchange=deepep", *sets))
        reached = nodes_of_token(EXPERTS, TOP_K, 8, *groups)
        expected = (expert_bytes(LAYERS - DENSE, 1, 1, 8 // node, 0, copies=copies) +
                    expert_bytes(LAYERS - DENSE, 1, 1, node, 0, copies=reached))
        for rank in every:
            near(sums[rank]["expert"], expected, f"deepep, nodes of {node}, groups {groups}, rank {rank}")


def check_together(folder):
    """DeepEP sends between nodes and within them at once; what follows waits for both."""
    rows = run(folder, {"data": 8, "expert": 8}, "transformer.expert_node=2", "transformer.expert_exchange=deepep",
               "transformer.granularity=layer", "parallel.pipeline=1")
    mine = [row for row in rows if row["rank"] == "0"]
    sent_off = [row for row in mine if row["kind"] == "expert"]
    times = collections.Counter(row["start_s"] for row in sent_off)
    expect(sent_off and set(times.values()) == {2}, f"exchanges that begin at once: {set(times.values())}")
    for row in sent_off:
        begun = [other for other in mine if float(other["start_s"]) > float(row["start_s"]) and other["kind"] in "FB"]
        first = min([float(other["start_s"]) for other in begun], default=float("inf"))
        expect(first >= float(row["end_s"]) - 1e-15, f"{first} begins before tokens are there, {row['end_s']}")


# ---- work ----

def work(rows, t, c):
    """Flop and seconds of each context rank's computations of one replica's first tensor-parallel ranks."""
    flops, seconds = collections.Counter(), collections.Counter()
    for row in rows:
        rank = int(row["rank"])
        if rank % t == 0 and rank // (t * c) == 0 and row["kind"] in ("F", "B"):
            flops[rank // t] += float(row["flops"])
            seconds[rank // t] += float(row["end_s"]) - float(row["start_s"])
    return flops, seconds


def check_causal_balance(folder):
    """Chunks i and 2 c - 1 - i of 2 c give all ranks the same work. With consecutive chunks rank i has (2 i + 1)/c of
    the mean: the last one 2 - 1/c."""
    for c, t in ((2, 1), (4, 2), (8, 1)):
        mesh = {"context": c, "tensor": t}
        # half of the products of a rank's tokens with all others
        scores = MICRO * SEQUENCE * SEQUENCE / c * HIDDEN / t / 2
        attention = LAYERS * MICRO_BATCHES * (2 + 5) * 2 * scores
        for method in ("all-gather", "ring"):
            for granularity in ("stage", "layer"):
                sets = [f"transformer.context_method={method}", f"transformer.granularity={granularity}"]
                even, even_s = work(run(folder, mesh, *sets), t, c)
                uneven, uneven_s = work(run(folder, mesh, "transformer.context_balance=false", *sets), t, c)
                for i in range(c):
                    of = f"rank {i} of {c}, {method}, {granularity}"
                    near(even[i], even[0], f"balanced flop, {of}")
                    near(even_s[i], even_s[0], f"balanced time, {of}", 1e-9)
                    near(uneven[i] - even[i], attention * ((2 * i + 1) / c - 1), f"flop beyond the mean, {of}", 1e-9)
                    near(uneven_s[i] - even_s[i], attention * ((2 * i + 1) / c - 1) / 156e12,
                         f"seconds beyond the mean, {of}", 1e-7)


def check_heads(folder):
    """Ranks that exchange heads have the flop of others that share sequences in balance, in either order of chunks, and
    with measured kernels the time of whole sequences with fewer heads, not of blocks with all."""
    mesh = {"context": 4}
    for granularity in ("stage", "layer"):
        sets = [f"transformer.granularity={granularity}"]
        ring_work, _ = work(run(folder, mesh, "transformer.context_method=ring", *sets), 1, 4)
        for balance in ("true", "false"):
            mine, seconds = work(run(folder, mesh, "transformer.context_method=all-to-all",
                                     f"transformer.context_balance={balance}", *sets), 1, 4)
            for i in range(4):
                near(mine[i], ring_work[i], f"flop of rank {i}, heads exchanged, {granularity}", 1e-9)
                near(seconds[i], seconds[0], f"seconds of rank {i}, heads exchanged, {granularity}", 1e-9)
    for method, heads, length, times in (("all-to-all", HEADS // 4, SEQUENCE, 1),
                                         ("all-gather", HEADS, SEQUENCE // 4, 4)):
        rows = run(folder, mesh, f"transformer.context_method={method}", "platform={preset: dgx-h100, nodes: 1}",
                   "compute={precision: bf16, kernels: measured}", "transformer.granularity=layer")
        out = subprocess.run([STAGESIM, "kernel", "attention", "--gpu", "H100", "--batch", str(MICRO), "--heads",
                              str(heads), "--sequence", str(length), "--head-size", str(HIDDEN // HEADS), "--format",
                              "json"], capture_output=True, text=True, check=True).stdout
        expected = times * json.loads(out)["seconds"]
        found = [float(row["end_s"]) - float(row["start_s"]) for row in rows
                 if row["rank"] == "0" and row["kind"] == "F"]
        expect(sum(abs(value / expected - 1) < 1e-6 for value in found) == LAYERS * MICRO_BATCHES,
               f"{method}: no attention of {expected} s")


def check_imbalance(folder):
    """One rank of each group computes 1.5 times the mean of the routed experts' flop, the other three 2.5/3."""
    mesh = {"data": 8, "expert": 4}
    even, uneven = run(folder, mesh), run(folder, mesh, "transformer.expert_imbalance=1.5")
    routed = (LAYERS - DENSE) * MICRO_BATCHES * 3 * 2 * MICRO * SEQUENCE * TOP_K * 3 * HIDDEN * EXPERT_FFN
    sums = sent(uneven)
    for rank in range(8):
        near(sums[rank]["expert"], 1.5 * expert_bytes(LAYERS - DENSE, 1, 1, 4, 0),
             f"bytes as of the busiest, rank {rank}")
        flops = [sum(float(row["flops"]) for row in rows if int(row["rank"]) == rank) for rows in (even, uneven)]
        near(flops[1] - flops[0], routed * (0.5 if rank % 4 == 0 else -0.5 / 3), f"flop of rank {rank}", 1e-9)


def skewed_loads(skew, seed, experts, ranks):
    """Tokens of each rank over the mean, drawn here again."""
    mask = (1 << 64) - 1

    def mixed(value):
        value = ((value ^ value >> 30) * 0xbf58476d1ce4e5b9) & mask
        value = ((value ^ value >> 27) * 0x94d049bb133111eb) & mask
        return value ^ value >> 31
    order = sorted(range(experts), key=lambda i: mixed(((seed + 1) * 0x9e3779b97f4a7c15 + i) & mask))
    loads = [sum((order.index(expert) + 1) ** -skew for expert in range(rank * experts // ranks,
                                                                       (rank + 1) * experts // ranks))
             for rank in range(ranks)]
    return [load * ranks / sum(loads) for load in loads]


def check_loads(folder):
    """Loads of ranks as a list, and of experts by a power law: flop by rank, and bytes as of the busiest."""
    mesh, even = {"data": 8, "expert": 4}, None
    routed = (LAYERS - DENSE) * MICRO_BATCHES * 3 * 2 * MICRO * SEQUENCE * TOP_K * 3 * HIDDEN * EXPERT_FFN
    even = run(folder, mesh)
    for sets, loads in ((["transformer.expert_tokens=[30,10,25,15]"], [1.5, 0.5, 1.25, 0.75]),
                        (["transformer.expert_skew=1.2", "transformer.expert_seed=7"],
                         skewed_loads(1.2, 7, EXPERTS, 4))):
        rows = run(folder, mesh, *sets)
        sums = sent(rows)
        expect(max(loads) > 1.05, f"{sets} is even: {loads}")
        for rank in range(8):
            near(sums[rank]["expert"], max(loads) * expert_bytes(LAYERS - DENSE, 1, 1, 4, 0), f"bytes with {sets}",
                 1e-9)
            flops = [sum(float(row["flops"]) for row in each if int(row["rank"]) == rank) for each in (even, rows)]
            near(flops[1] - flops[0], routed * (loads[rank % 4] - 1), f"flop of rank {rank} with {sets}", 1e-8)


def check_nothing_changes(folder):
    """Axes of size 1, and keys that only matter with others: the same bytes."""
    mesh = {"data": 2, "pipeline": 2, "tensor": 2}
    sets = [["transformer.granularity=layer"], ["transformer.granularity=stage", "transformer.zero=1"]]
    for one in sets:
        run(folder, mesh, *one)
        before = (folder / "out" / "operations.csv").read_bytes()
        run(folder, {**mesh, "context": 1, "expert": 1}, *one, "transformer.context_method=ring",
            "transformer.context_balance=false", "transformer.dispatch=fp8")
        expect((folder / "out" / "operations.csv").read_bytes() == before, f"axes of size 1 change the bytes, {one}")


def check_granularity(folder):
    """Without contention whole stages take as long as single layers, but for the latencies of bursts."""
    for mesh in ({"context": 4, "data": 2, "expert": 4},
                 {"context": 2, "tensor": 2, "pipeline": 2, "data": 2, "expert": 2}):
        for sets in (["transformer.context_method=ring"], ["transformer.context_method=all-to-all"],
                     ["transformer.expert_overlap=true"],
                     ["transformer.context_balance=false"]):
            times = []
            for granularity in ("stage", "layer"):
                rows = run(folder, mesh, *sets, f"transformer.granularity={granularity}")
                times.append(max(float(row["end_s"]) for row in rows))
            near(times[0], times[1], f"stage and layer, {mesh} {sets}", 0.02)


def check_memory(folder):
    """One micro-batch's activations (flash attention, no dropout), 18 bytes of a parameter, keys and values of other
    ranks."""
    heads = 2 * KV_HEADS * (HIDDEN // HEADS)
    room = {"all-gather": lambda c: heads, "ring": lambda c: 2 / c * heads,
            "all-to-all": lambda c: (HIDDEN + heads) / c}
    for t, c, d, e, split in ((1, 1, 4, 4, 1), (1, 2, 2, 4, 1), (1, 4, 1, 2, 1), (2, 1, 4, 4, 2), (2, 1, 4, 8, 1),
                           (4, 2, 1, 8, 1)):
        for method in room:
            if method == "all-to-all" and KV_HEADS % (t * c):
                continue
            mesh = {"tensor": t, "context": c, "data": d, "expert": e, "expert_tensor": split}
            run(folder, mesh, f"transformer.context_method={method}", "transformer.granularity=stage")
            tokens = MICRO * SEQUENCE / c / t
            layer = 4 * 2 * HIDDEN + 2 * (2 * HIDDEN + heads)
            experts = SHARED * 6 * EXPERT_FFN + TOP_K * (2 * HIDDEN * split + 6 *
                                                         EXPERT_FFN) + 4 * EXPERTS + 2 * TOP_K * HIDDEN
            activations = tokens * (LAYERS * layer + DENSE * 6 * FFN + (LAYERS - DENSE) * experts + 4 * HIDDEN + 4 *
                                    VOCABULARY)
            others = 0 if c == 1 else 2 * MICRO * SEQUENCE / t * room[method](c)
            peak = json.loads((folder / "out" / "summary.json").read_text())["memory"]["peak_bytes"]
            near(peak, 18 * sum(parameters(0, t, 1, e, split)) + activations + others, f"memory, {mesh}, {method}")


def check_blocks_hide(folder):
    """In DualPipe tokens travel beside the block's computation: with it they begin, and what comes next waits for
    both."""
    rows = run(folder, {"pipeline": 2, "data": 4, "expert": 4}, "schedule=dualpipe", "batch.micro_batches=8",
               "model.dense_layers=0")
    mine = [row for row in rows if row["rank"] == "0"]
    computed = sorted((row for row in mine if row["stream"] == "compute" and row["end_s"] != row["start_s"]),
                      key=lambda row: float(row["start_s"]))
    blocks = [i for i, row in enumerate(computed) if row["kind"] == "FB"]
    expect(len(blocks) >= 4, f"{len(blocks)} blocks")
    for i in blocks:
        begin, end = float(computed[i]["start_s"]), float(computed[i]["end_s"])
        after = float(computed[i + 1]["start_s"]) if i + 1 < len(computed) else float("inf")
        travels = [row for row in mine if row["kind"] == "expert" and begin <= float(row["start_s"]) < max(after, end)]
        expect(travels and float(travels[0]["start_s"]) == begin, f"tokens of block {i} do not set out with it")
        near(sum(float(row["bytes"]) for row in travels) * MICRO_BATCHES, expert_bytes(LAYERS // 2, 1, 1, 4, 0),
             "what travels in a block")
        last = max([end] + [float(row["end_s"]) for row in travels])
        expect(after >= last, f"block {i} does not wait for its tokens")


def check_engines(folder):
    """On private links SimGrid is never earlier, and later only where two groups use a link at once."""
    subprocess.run([STAGESIM, "platform", "generate", "mesh", "--nodes", "8", "-o", folder / "mesh.xml"], check=True)
    for sets in (["transformer.context_method=ring"], ["transformer.context_method=all-to-all"],
                 ["transformer.context_balance=false"], ["transformer.expert_imbalance=1.5"],
                 ["transformer.expert_overlap=true"], ["transformer.expert_node=2", "transformer.granularity=layer"],
                 ["transformer.expert_exchange=deepep", "transformer.expert_node=2"]):
        times = []
        for engine in ("analytic", "simgrid"):
            rows = run(folder, {"data": 4, "context": 2, "expert": 4}, "platform=mesh.xml", "compute.precision=fp32",
                       f"engine={engine}", *sets)
            times.append(max(float(row["end_s"]) for row in rows))
        expect(times[0] * (1 - 1e-9) <= times[1] <= times[0] * 1.005, f"engines, {sets}: {times}")


def main():
    with tempfile.TemporaryDirectory() as directory:
        folder = pathlib.Path(directory)
        (folder / "job.yaml").write_text(BASE)
        (folder / "gpus.xml").write_text(PLATFORM)
        for check in (check_grid, check_experts_further, check_together, check_causal_balance, check_heads,
                      check_imbalance, check_loads, check_nothing_changes,
                      check_granularity, check_memory, check_blocks_hide, check_engines):
            check(folder)
    print("\n".join(faults[:40]))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
