#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""documents STAGESIM: packed sequences. Each rank's and micro-batch's forward and backward by sums of squares that are
counted here, of documents that are drawn here once more; windows and sparse attention pair by pair; one document is as
without; both engines, folding, steady state, schedules, search; what is refused."""
import csv
import json
import pathlib
import subprocess
import sys
import tempfile

STAGESIM = sys.argv[1]
FOLDER = pathlib.Path(tempfile.mkdtemp())
PEAK, SHARE, LAYERS, HIDDEN, SEQUENCE = 989e12, 0.5, 4, 1024, 4096
JOB = {"platform": "dgx-h100:1", "workload": "transformer",
       "model": {"layers": LAYERS, "hidden": HIDDEN, "heads": 8, "ffn": 4096, "sequence": SEQUENCE,
                 "vocabulary": 32000, "biases": False, "dropout": False, "norm": "rms"},
       "parallel": {"data": 4}, "batch": {"micro": 2, "micro_batches": 4}, "schedule": {"name": "1f1b"},
       "compute": {"efficiency": SHARE}, "engine": "analytic", "communication": {"overlap": False}}
failures = 0


def expect(good, *what):
    global failures
    if not good:
        failures += 1
        print(*what)


def call(command, *sets):
    (FOLDER / "job.yaml").write_text(json.dumps(JOB))
    out = FOLDER / "out"
    subprocess.run(["rm", "-rf", str(out)], check=True)
    return subprocess.run([STAGESIM, command, str(FOLDER / "job.yaml"), *[f"--set={each}" for each in sets],
                           *(["--trace", "csv", "-o", str(out)] if command == "run" else [])],
                          capture_output=True, text=True)


def run(*sets, replicas=True):
    """The iteration, and seconds of (rank, micro-batch, F or B)."""
    result, seconds = call("run", *(["output.replicas=all"] if replicas else []), *sets), {}
    if result.returncode:
        return None, result.stderr, None
    with open(FOLDER / "out" / "operations.csv", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if row["kind"] in ("F", "B"):
                key = int(row["rank"]), int(row["micro_batch"]), row["kind"]
                seconds[key] = seconds.get(key, 0) + float(row["end_s"]) - float(row["start_s"])
    summary = json.loads((FOLDER / "out" / "summary.json").read_text())
    return summary["time"]["iteration_s"], seconds, summary


MASK = (1 << 64) - 1


class Draws:
    """Steele, Lea and Flood's splitmix64, in a stream of its own for each purpose."""

    def __init__(self, seed, purpose, entity):
        self.state = seed
        for number in (purpose, entity, None):
            bits = self.bits()
            self.state = bits if number is None else (bits + number) & MASK

    def bits(self):
        self.state = (self.state + 0x9E3779B97F4A7C15) & MASK
        z = self.state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
        return z ^ (z >> 31)

    def uniform(self, low, high):
        return int(low + (high - low) * (self.bits() >> 11) * 2.0**-53 + 0.5)


def pack(sequences, draw, whole):
    """Documents of each sequence, token by token where it matters: greedily, in their order."""
    rest, packed = 0, []
    for _ in range(sequences):
        documents, room = [], SEQUENCE
        while room:
            length = rest or (min(draw(), SEQUENCE) if whole else draw())
            rest = 0
            if length > room and whole:
                rest = length
                break
            documents.append(min(length, room))
            rest = length - documents[-1]
            room -= documents[-1]
        packed.append(documents)
    return packed


def square(length):
    return length * length


def check(what, sets, packed, twice_pairs=square, width=4 * HIDDEN, replicas=4, micro=2, share=1.0, backward=2.5):
    """A pair of tokens is `width` flop in a forward, of which a causal mask leaves half."""
    plain, with_documents = run(*sets[0]), run(*sets[0], *sets[1])
    expect(plain[0] and with_documents[0], what, plain[1], with_documents[1])
    if not plain[0] or not with_documents[0]:
        return with_documents
    ranks = sorted({key[0] for key in plain[1]})
    expect(len(ranks) >= replicas, what, ranks)
    for (rank, batch, kind), seconds in with_documents[1].items():
        replica = rank // (len(ranks) // replicas)
        first = (batch * replicas + replica) * micro
        pairs = sum(twice_pairs(length) for documents in packed[first:first + micro] for length in documents)
        less = (pairs - micro * twice_pairs(SEQUENCE)) / 2 * width * LAYERS / (PEAK * SHARE) * share
        less *= backward if kind == "B" else 1
        expect(abs(seconds - plain[1][rank, batch, kind] - less) < 1e-9 * seconds, what, rank, batch, kind, seconds,
               plain[1][rank, batch, kind] + less)
    flops = (sum(twice_pairs(length) for documents in packed for length in documents) / len(packed)
             - twice_pairs(SEQUENCE)) * width * LAYERS * 3 * len(packed)
    all_flops = [result[2]["throughput"]["model_flops_per_s_per_gpu"] * result[0] * len(ranks)
                 for result in (plain, with_documents)]
    expect(abs(all_flops[1] - all_flops[0] - flops) <= 1e-9 * all_flops[0], what, "model flop", all_flops, flops)
    expect(with_documents[2]["memory"]["parts"] == plain[2]["memory"]["parts"], what, "memory")
    return with_documents


# All sequences alike: by hand; one document fills the sequence; a sequence that is not full.
check("a list", ([], ["model.documents=[1000, 2000, 1096]"]), [[1000, 2000, 1096]] * 32)
check("padding", ([], ["model.documents=[1000, 96]"]), [[1000, 96]] * 32)
one, many = run(), run("model.documents=[4096]")
expect(one[0] == many[0] and one[1] == many[1], "one document", one[0], many[0])
drawn = run("model.document_lengths=4096")
expect(abs(drawn[0] / one[0] - 1) < 1e-12, "one drawn document", drawn[0], one[0])

# Drawn: equal lengths cut at the ends of sequences or not; random ones; longer than a sequence.
for whole in (False, True):
    more = ["model.documents_whole=true"] if whole else []
    check("equal", ([], ["model.document_lengths=1500", *more]), pack(32, lambda: 1500, whole))
    for seed in (0, 7):
        draws = Draws(seed, 41, 0)
        packed = pack(32, lambda: draws.uniform(100, 5000), whole)
        check(f"random {seed}", ([], ["model.document_lengths={uniform: [100, 5000]}", f"model.document_seed={seed}",
                                      *more]), packed)
draws = Draws(0, 41, 0)
PACKED = pack(32, lambda: draws.uniform(100, 5000), False)
RANDOM = ["model.document_lengths={uniform: [100, 5000]}"]

# Pair by pair: a window, a chunk, picked keys; recomputation; tensor- and context-parallel ranks have a part each.
check("window", (["model.window=700"], RANDOM), PACKED,
      lambda length: sum(min(token + 0.5, 700 if token >= 700 else 1e9) for token in range(length)) * 2)
check("chunk", (["model.window=1024", "model.chunked=true"], RANDOM), PACKED,
      lambda length: length // 1024 * square(1024) + square(length % 1024))
check("full", (["schedule.recompute=full"], RANDOM), PACKED, backward=3.5)
check("tensor", (["parallel={tensor: 2, data: 4}", "transformer.sequence_parallel=true"], RANDOM), PACKED, share=0.5)
for method in ("all-gather", "ring", "all-to-all"):
    check(method, (["parallel={context: 2, data: 4}", f"transformer.context_method={method}"], RANDOM), PACKED,
          share=0.5)
check("layers", (["transformer.granularity=layer"], RANDOM), PACKED)
check("zero", (["transformer.zero=3"], RANDOM), PACKED)

# Both engines; replicas that are unlike each other are not folded into one; micro-batches are not left out.
MANY = [*RANDOM, "parallel={pipeline: 2, data: 4}", "batch.micro_batches=24"]
for sets in (MANY, [*MANY, "schedule.name=zb-h1"], [*MANY, "schedule.name=interleaved", "schedule.chunks=2"],
             [*MANY, "schedule.name=dualpipe"], [*MANY, "schedule.name=chimera"]):
    times = [run(*sets, *more)[0] for more in ([], ["fold=off"], ["steady=off"], ["engine=simgrid"],
                                               ["engine=simgrid", "steady=off"])]
    expect(all(times) and max(times[:3]) - min(times[:3]) <= 1e-9 * times[0], sets, times)
    expect(abs(times[3] - times[4]) <= 1e-9 * times[3] and abs(times[3] / times[0] - 1) < 0.05, sets, times)
result = call("run", *MANY, "schedule.name=dualpipe")
expect("micro-batches are not alike, but what runs as one" in result.stderr, result.stderr)
# A job that looks alike for long is not shortened either: a short document comes late, if at all.
RARE = ["model.document_lengths={mixture: [{share: 0.995, of: 4096}, {share: 0.005, of: 64}]}",
        "parallel={pipeline: 2, data: 1}", "batch={micro: 1, micro_batches: 160}"]
for seed in range(4):
    for engine in ("analytic", "simgrid"):
        sets = [*RARE, f"model.document_seed={seed}", f"engine={engine}"]
        auto, off = run(*sets, replicas=False)[0], run(*sets, "steady=off", replicas=False)[0]
        expect(auto and off and abs(auto - off) <= 1e-9 * off, "rare documents", seed, engine, auto, off)
# Nor in a search.
SPACE = {**JOB, "batch": {"global": 320, "micro": 1},
         "search": {"gpus": 2, "pipeline": 2, "data": 1, "tensor": 1, "micro": 1, "schedules": "1f1b", "zero": 0,
                    "recompute": "none"}}
(FOLDER / "space.yaml").write_text(json.dumps(SPACE))
for seed in range(3):
    sets = [RARE[0], f"model.document_seed={seed}"]
    words = ["search", FOLDER / "space.yaml", "--exhaustive", "--format", "csv", "--quiet"]
    found = subprocess.run([STAGESIM, *map(str, words), *[f"--set={each}" for each in sets]], capture_output=True,
                           text=True)
    rows = list(csv.DictReader(found.stdout.splitlines()))
    alone = run(*sets, *RARE[1:2], "batch={global: 320, micro: 1}", "transformer.balance=auto", "steady=off",
                replicas=False)
    expect(len(rows) == 1 and alone[0] and alone[0] in [float(value) for value in rows[0].values()
                                                        if value.replace(".", "").isdigit()],
           "search", seed, found.stdout, found.stderr, alone[0] or alone[1])
# Of all ranks the busiest one is waited for: with two lengths the mean takes less than what is simulated.
uneven = run(*MANY, "model.document_lengths={samples: [4096, 64]}")
busy = {}
for (rank, _, _), seconds in uneven[1].items():
    busy[rank] = busy.get(rank, 0) + seconds
expect(max(busy.values()) > 1.005 * min(busy.values()), "ranks are alike", busy)

for sets, words in (
        (["model.documents=[4000, 97]"], "documents of 4097 tokens do not fit into a sequence of 4096"),
        (["model.documents=[10]", "model.document_lengths=10"], "say the same in two ways"),
        (["model.documents=[10]", "transformer.attention=standard"], "needs transformer.attention: flash"),
        (["model.document_seed=3"], "needs model.document_lengths"),
        (["model.document_lengths=0.2"], "documents have less than a token"),
        (["model.document_lengths=1", "batch.micro=1000"], "at most 4e+06 can be drawn"),
        (["model.documents=[10, 20]", "schedule.name=seq1f1b", "parallel={pipeline: 4}"], "cuts sequences into slices"),
        ([*RANDOM, "parallel={context: 2, data: 2}", "transformer.context_balance=false"],
         "known only where each document is divided evenly"),
        ([*RANDOM, "model.mixers=w", "model.window=128", "model.query_rank=64"], "compressed attention"),
        (["model.document_lengths={uniform: [5, 1]}"], "expected the least and the most")):
    result = call("run", *sets)
    expect(result.returncode == 1 and words in result.stderr, sets, result.returncode, result.stderr)
sys.exit(failures > 0)
