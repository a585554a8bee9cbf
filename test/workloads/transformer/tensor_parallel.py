#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tensor_parallel.py STAGESIM: what each rank sends under every algorithm of tensor parallelism, added up from
operations.csv, against the formulas of the papers; and AxoNN's special cases against Megatron's and ZeRO's programs."""
import collections
import csv
import json
import os
import pathlib
import subprocess
import sys
import tempfile

STAGESIM = os.path.abspath(sys.argv[1])
LAYERS, HIDDEN, HEADS, SEQUENCE, VOCABULARY, MICRO_BATCHES = 3, 1024, 16, 256, 2048, 2
ELEMENT, GRADIENT = 2, 4
BASE = f"""platform: gpus.xml
workload: transformer
model: {{layers: {LAYERS}, hidden: {HIDDEN}, heads: {HEADS}, sequence: {SEQUENCE}, vocabulary: {VOCABULARY},
  positions: {SEQUENCE}}}
schedule: {{name: 1f1b}}
compute: {{precision: bf16, efficiency: 0.5}}
output: {{replicas: all}}
"""
# Linear maps: inner dimension, columns, whether AxoNN transposes it.
MAPS = LAYERS * [(HIDDEN, 3 * HIDDEN, False), (HIDDEN, HIDDEN, True), (HIDDEN, 4 * HIDDEN, False),
                 (4 * HIDDEN, HIDDEN, True)]
HEAD, EMBEDDING = (HIDDEN, VOCABULARY, False), (VOCABULARY, HIDDEN, True)
faults = []


def near(value, expected, what, tolerance=1e-12):
    if abs(value - expected) > tolerance * abs(expected):
        faults.append(f"{what}: {value!r}, not {expected!r}")


def run(folder, parallel, algorithm, micro, *sets, engine="analytic"):
    text = f"{BASE}parallel: {{{parallel}}}\nengine: {engine}\n" \
           f"batch: {{micro: {micro}, micro_batches: {MICRO_BATCHES}}}\n"
    text += f"tensor_parallel: {{algorithm: {algorithm}}}\n" if algorithm else ""
    (folder / "job.yaml").write_text(text)
    command = [STAGESIM, "run", folder / "job.yaml", "-o", folder / "out", "--quiet", "--trace", "csv"]
    for value in sets:
        command += ["--set", value]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    if done.returncode:
        sys.exit(f"{parallel} {algorithm} {sets}\n{done.stderr}")
    sent = collections.defaultdict(lambda: collections.Counter())
    with open(folder / "out" / "operations.csv") as file:
        for row in csv.DictReader(file):
            if row["stream"].startswith("collective"):
                sent[int(row["rank"])][row["kind"]] += float(row["bytes"])
    return json.loads((folder / "out" / "summary.json").read_text()), sent


def expect(sent, ranks, kind, expected, what):
    if len(sent) != ranks:
        faults.append(f"{what}: {len(sent)} ranks, not {ranks}")
    for rank in sent:
        near(sent[rank][kind], expected, f"{what}: {kind} of rank {rank}")


def gather(ranks):
    return (ranks - 1) / ranks


def all_reduce(ranks):
    return 2 * (ranks - 1) / ranks


def parameters(parts, width):
    """Of one rank: matrices and biases of their columns in `parts` parts, vectors as long as the hidden size in
    `width`."""
    layer = (12 * HIDDEN**2 + 7 * HIDDEN) / parts + 6 * HIDDEN / width
    return LAYERS * layer + VOCABULARY * HIDDEN / parts + (SEQUENCE + 2) * HIDDEN / width


def check_megatron(folder):
    for tensor, data in [(2, 1), (4, 2), (8, 1), (16, 2)]:
        summary, sent = run(folder, f"tensor: {tensor}, data: {data}", "megatron-1d", 2)
        rows = 2 * SEQUENCE
        # 8 b s h (t-1)/t
        tensor_bytes = MICRO_BATCHES * ELEMENT * rows * HIDDEN * (LAYERS * 8 * gather(tensor) + 2 * all_reduce(tensor))
        what = f"megatron-1d, tensor {tensor}, data {data}"
        expect(sent, tensor * data, "tensor", tensor_bytes, what)
        expect(sent, tensor * data, "gradient-sync", GRADIENT * parameters(tensor, 1) * all_reduce(data), what)


def check_summa(folder):
    for q, depth, data in [(2, 1, 1), (4, 1, 1), (8, 1, 1), (2, 1, 2), (2, 2, 1), (4, 2, 1), (2, 4, 2), (4, 4, 1)]:
        algorithm = "summa-2d" if depth == 1 else "tesseract-2.5d"
        micro, ranks = q * depth * 2, q * q * depth * data
        _, sent = run(folder, f"x: {q}, y: {q}, z: {depth}, data: {data}", algorithm, micro)
        rows = micro * SEQUENCE
        panels = sum(3 * (rows * inner / depth + inner * columns) / q for inner, columns, _ in MAPS + [HEAD])
        panels += 2 * VOCABULARY * HIDDEN / q
        what = f"{algorithm}, q {q}, depth {depth}, data {data}"
        expect(sent, ranks, "tensor", MICRO_BATCHES * ELEMENT * gather(q) * panels, what)
        expect(sent, ranks, "gradient-sync", GRADIENT * parameters(q * q, q) * all_reduce(depth * data), what)


def check_cube(folder):
    for q, data in [(2, 1), (2, 2), (4, 1)]:
        micro, ranks = q * q, q**3 * data
        _, sent = run(folder, f"x: {q}, y: {q}, z: {q}, data: {data}", "cube-3d", micro)
        rows = micro * SEQUENCE
        matrices = sum(2 * (rows * inner + inner * columns + rows * columns) for inner, columns, _ in MAPS + [HEAD])
        matrices += 2 * (VOCABULARY * HIDDEN + rows * HIDDEN)
        what = f"cube-3d, q {q}, data {data}"
        expect(sent, ranks, "tensor", MICRO_BATCHES * ELEMENT * (q - 1) / q**3 * matrices, what)
        expect(sent, ranks, "gradient-sync", GRADIENT * parameters(q**3, q) * all_reduce(data), what)


def check_axonn(folder):
    for x, y, z, data in [(1, 1, 4, 1), (4, 1, 1, 2), (1, 4, 1, 1), (2, 2, 1, 1), (2, 1, 2, 2), (1, 2, 4, 1),
                          (2, 2, 2, 2), (4, 2, 2, 1), (2, 4, 2, 4)]:
        micro, ranks = 2 * z, x * y * z * data
        _, sent = run(folder, f"x: {x}, y: {y}, z: {z}, data: {data}", "axonn-3d", micro)
        rows, volume = micro * SEQUENCE / z, 0
        for inner, columns, transposed in MAPS + [HEAD, EMBEDDING]:
            gx, gy = (y, x) if transposed else (x, y)
            volume += all_reduce(gy) * rows * columns / gx
            if inner != VOCABULARY:  # rows of the embedding are looked up: there is no gradient of an input
                volume += all_reduce(gx) * rows * inner / gy
        what = f"axonn-3d, x {x}, y {y}, z {z}, data {data}"
        own = parameters(x * y, y)
        expect(sent, ranks, "tensor", MICRO_BATCHES * ELEMENT * volume, what)
        expect(sent, ranks, "parameter-gather", MICRO_BATCHES * 2 * ELEMENT * own * gather(z), what)
        scattered = MICRO_BATCHES * gather(z) if z > 1 else 0
        expect(sent, ranks, "gradient-sync", GRADIENT * own * (scattered + all_reduce(data) / z), what)


def compare(one, other, what):
    near(one[0]["time"]["iteration_s"], other[0]["time"]["iteration_s"], f"{what}: time", 1e-6)
    near(one[0]["memory"]["peak_bytes"], other[0]["memory"]["peak_bytes"], f"{what}: memory", 1e-9)
    for rank in other[1]:
        for kind in other[1][rank] | one[1][rank]:
            near(one[1][rank][kind], other[1][rank][kind], f"{what}: {kind} of rank {rank}")


def check_special_cases(folder):
    for engine in "analytic", "simgrid":
        for granularity in "stage", "layer":
            for recompute in "none", "full":
                sets = [f"transformer.granularity={granularity}", f"schedule.recompute={recompute}"]
                what = f"{engine}, {granularity}, recompute {recompute}"
                axonn = run(folder, "z: 8", "axonn-3d", 8, *sets, engine=engine)
                compare(axonn, run(folder, "data: 8", None, 1, "transformer.zero=3", *sets, engine=engine),
                        f"{what}: z alone and zero: 3")
                axonn = run(folder, "z: 4, data: 2", "axonn-3d", 4, *sets, engine=engine)
                hybrid = run(folder, "data: 8", None, 1, "transformer.zero=3", "transformer.shard_ranks=4", *sets,
                             engine=engine)
                compare(axonn, hybrid, f"{what}: z and data, and hybrid sharding")
                sets += ["tensor_parallel.overlap=[gather, scatter, data]"]
                axonn = run(folder, "x: 4, data: 2", "axonn-3d", 2, *sets, engine=engine)
                compare(axonn, run(folder, "tensor: 4, data: 2", None, 2, *sets, engine=engine),
                        f"{what}: x alone and megatron-1d")


def check_overlap(folder):
    """Each of the four makes the iteration shorter, all of them together more than any alone; bytes stay."""
    def time(overlap):
        summary, sent = run(folder, "x: 2, y: 2, z: 2, data: 2", "axonn-3d", 4, "transformer.granularity=layer",
                            f"tensor_parallel.overlap={overlap}")
        return summary["time"]["iteration_s"], sum(sum(kinds.values()) for kinds in sent.values())

    none, all_four = time("[]"), time("[gather, scatter, input, data]")
    near(all_four[1], none[1], "bytes with and without overlap")
    for word in "gather", "scatter", "input", "data":
        one = time(f"[{word}]")
        if not all_four[0] < one[0] < none[0]:
            faults.append(f"overlap of {word} alone takes {one[0]}, all {all_four[0]}, none {none[0]}")


def check_memory(folder):
    """Weights, gradients and optimizer state by the ranks that share them."""
    for parallel, algorithm, micro, parts, width, shards in [("x: 2, y: 2", "summa-2d", 4, 4, 2, 1),
                                                             ("x: 2, y: 2, z: 2", "cube-3d", 4, 8, 2, 1),
                                                             ("x: 2, y: 2, z: 4", "axonn-3d", 4, 4, 2, 4)]:
        few = run(folder, parallel, algorithm, micro)[0]["memory"]["peak_bytes"]
        more = run(folder, parallel, algorithm, micro, "transformer.gradients=same")[0]["memory"]["peak_bytes"]
        near(few - more, 2 * parameters(parts, width) / shards, f"{algorithm}: gradients of 4 instead of 2 bytes", 1e-9)


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        subprocess.run([STAGESIM, "platform", "generate", "perlmutter", "--nodes", "16", "-o", folder / "gpus.xml"],
                       check=True)
        for check in (check_megatron, check_summa, check_cube, check_axonn, check_special_cases, check_overlap,
                      check_memory):
            check(folder)
    for fault in faults[:20]:
        print("FAILED:", fault)
    print(f"{len(faults)} faults")
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())
