#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tower_place STAGESIM: a tower with its own number of tensor-parallel ranks, beside the language model or on a stage
of its own: bytes that it sends and gathers, ranks that synchronise its gradients, images that each of them has, by
hand; what the outputs say of it; and what is refused."""
import csv
import json
import os
import pathlib
import subprocess
import sys
import tempfile

STAGESIM = sys.argv[1]
FOLDER = pathlib.Path(tempfile.mkdtemp())
# Under sanitizers: what points into a copy that has gone. SimGrid's own stacks would be taken for such copies.
SEEN = {"analytic": {"ASAN_OPTIONS": "detect_stack_use_after_return=1"}, "simgrid": {}}
failures = 0
V, INNER, DEPTH, PATCHES, H, S, T, D, N = 1152, 4304, 27, 1024, 4096, 4096, 4, 2, 4
MODEL = {"layers": 8, "hidden": H, "heads": 32, "kv_heads": 8, "head_size": 128, "ffn": 12288, "gated": True,
         "sequence": S, "vocabulary": 32000, "norm": "rms", "biases": False, "tied": False, "dropout": False,
         "tower_layers": DEPTH, "tower_hidden": V, "tower_heads": 16, "tower_ffn": INNER, "tower_inputs": 1536,
         "tower_patches": PATCHES, "tower_images": 8}
TOKENS = PATCHES // 4 * H * 2  # bytes of an image's tokens
COUNT = DEPTH * (4 * (V * V + V) + 2 * V * INNER + INNER + V + 4 * V) + 1537 * V + 2 * V + \
    (4 * V + 1) * 4 * V + (4 * V + 1) * H
RATE = 989e12 / 2


def expect(good, *what):
    global failures
    if not good:
        failures += 1
        print(*what)


def run(*sets, engine="analytic", rows=False, parallel=None, **model):
    shape = {key: value for key, value in (MODEL | model).items() if value is not None}
    job = {"platform": "dgx-h100:3", "workload": "transformer", "model": shape,
           "parallel": parallel or {"tensor": T, "pipeline": 3, "data": D}, "batch": {"global": N * D, "micro": 1},
           "schedule": {"name": "1f1b", "recompute": "none"}, "compute": {"precision": "bf16", "efficiency": 0.5}}
    out = FOLDER / "out"
    subprocess.run(["rm", "-rf", str(out)], check=True)
    (FOLDER / "job.yaml").write_text(json.dumps(job))
    more = ["--trace", "csv", "--set", "output.replicas=all"] if rows else []
    result = subprocess.run([STAGESIM, "run", str(FOLDER / "job.yaml"), "--engine", engine, "-o", str(out), *more,
                             *[f"--set=transformer.{each}" if each[0] != "/" else f"--set={each[1:]}"
                               for each in sets]], capture_output=True, text=True, env={**os.environ, **SEEN[engine]})
    if result.returncode:
        return None, " ".join(result.stderr.split())
    summary = json.loads((out / "summary.json").read_text())
    table = list(csv.DictReader(open(out / "operations.csv"))) if rows else []
    return summary | {"text": result.stdout, "page": (out / "index.html").exists()}, table


def of(table, kind, position, **keys):
    return [row for row in table if row["kind"] == kind and row["position"] == str(position) and
            all(row[key] == str(value) for key, value in keys.items())]


def groups(rows):
    members = {}
    for row in rows:
        members.setdefault(row["group"], set()).add(row["rank"])
    return {len(each) for each in members.values()}


def forward(images):  # seconds on one rank that has all of each layer
    layer = 2 * PATCHES * (4 * V * V + 2 * V * INNER) + 4 * PATCHES * PATCHES * V
    return images * (DEPTH * layer + 2 * PATCHES / 4 * ((4 * V) ** 2 + 4 * V * H) + 2 * PATCHES * 1536 * V) / RATE


# ---- a stage of its own, each rank with whole layers ----

own, table = run("tower_place=own", "tower_tensor=1", rows=True)
expect(own, table)
sent = [float(row["bytes"]) for row in of(table, "activation", 0) if row["stream"].startswith("send")]
expect(len(sent) == T * D * N and set(sent) == {8 * TOKENS / T}, "tokens", len(sent), set(sent), 8 * TOKENS / T)
back = [float(row["bytes"]) for row in of(table, "gradient", 0) if row["stream"].startswith("receive")]
expect(back == sent, "gradients of them", set(back))
sync = of(table, "gradient-sync", 0)
expect(groups(sync) == {T * D}, "replicas of the tower", groups(sync))
ranks = T * D
mine = sum(float(row["bytes"]) for row in sync if row["rank"] == sync[0]["rank"])
expect(abs(mine / (2 * (ranks - 1) / ranks * 4 * COUNT) - 1) < 1e-6, "its gradients", mine, COUNT)
others = groups(of(table, "gradient-sync", 1))
expect(others == {D}, "replicas of the language model", others)
# the language model's first stage: sums of its embedding and of 4 layers, 2 forward and 2 backward, and the tokens
whole = S * H * 2
tensor = [float(row["bytes"]) for row in of(table, "tensor", 1, rank=of(table, "tensor", 1)[0]["rank"])]
wanted = N * (2 * (T - 1) / T * whole * (1 + 4 * 4) + (T - 1) / T * 8 * TOKENS)
expect(abs(sum(tensor) / wanted - 1) < 1e-6, "gathers of tokens", sum(tensor), wanted)
expect(not of(table, "tensor", 0), "ranks of the tower share nothing")
for images, most in ((8, 2), (5, 2), (4, 1), (1, 1)):
    result, table = run("tower_place=own", "tower_tensor=1", rows=True, tower_images=images, tower_frozen=True)
    times = {round((float(row["end_s"]) - float(row["start_s"])) / forward(most), 3) for row in of(table, "F", 0)}
    expect(times == {1.0}, "whole images", images, times)

# ---- a frozen one gets no gradients of its tokens, and nobody gathers them ----


def gathered(table):  # of a rank of the language model's first stage: where all tokens come together, and back
    rows = of(table, "tensor", 1, rank=of(table, "tensor", 1)[0]["rank"])
    return sum(float(row["bytes"]) for row in rows)


def returned(table):
    return {float(row["bytes"]) for row in of(table, "gradient", 0) if row["stream"].startswith("receive")}


SOUND = {"audio_layers": 2, "audio_hidden": 1280, "audio_heads": 20, "audio_inputs": 128, "audio_pool": 2,
         "audio_padded": True, "audio_length": "9s"}  # 900 frames, 450 positions, 225 tokens
tables = [run("tower_place=own", "tower_tensor=1", "sequence_parallel=true", rows=True, **more)[1]
          for more in ({}, {"tower_frozen": True}, SOUND | {"tower_frozen": True})]
expect(returned(tables[0]) == {8 * TOKENS / T} and max(returned(tables[1])) < 1, "gradients of frozen towers",
       [returned(table) for table in tables])
expect(returned(tables[2]) == {225 * H * 2 / T}, "one of two frozen", returned(tables[2]))
less = gathered(tables[0]) - gathered(tables[1])
expect(abs(less / (N * (T - 1) / T * 8 * TOKENS) - 1) < 1e-6, "gathers of gradients", less)

# ---- padding is computed, and travels only where the language model gets it ----

for more, tokens in (({}, 225), ({"audio_padding_passed": True}, 750)):
    _, table = run("tower_place=own", "tower_tensor=1", rows=True, tower_images=0, **SOUND, **more)
    sent = {float(row["bytes"]) for row in of(table, "activation", 0) if row["stream"].startswith("send")}
    expect(sent == {tokens * H * 2 / T}, "padding", more, sent)

# ---- pairs of ranks that share layers ----

pairs, table = run("tower_place=own", "tower_tensor=2", "zero=1", "sequence_parallel=true", rows=True)
expect(pairs, table)
sent = {float(row["bytes"]) for row in of(table, "activation", 0) if row["stream"].startswith("send")}
expect(sent == {8 * TOKENS / T}, "tokens of pairs", sent)
expect(groups(of(table, "tensor", 0)) == {2} and groups(of(table, "gradient-sync", 0)) == {T * D // 2} and
       groups(of(table, "parameter-gather", 0)) == {T * D // 2}, "pairs", groups(of(table, "tensor", 0)))

# ---- beside the language model ----

beside, table = run("tower_tensor=1", "layers_per_stage=[2,3,3]", rows=True)
expect(groups(of(table, "gradient-sync", 0)) == {D, T * D}, "two kinds of replicas",
       groups(of(table, "gradient-sync", 0)))
shared, _ = run("layers_per_stage=[2,3,3]")
expect(beside["time"]["iteration_s"] != shared["time"]["iteration_s"], "its own ranks change nothing")
for sets in (("tower_place=own", "tower_tensor=1"), ("tower_tensor=2", "layers_per_stage=[2,3,3]"),
             ("tower_place=own",)):
    for more in ((), ("/schedule=zb-h1",), ("/schedule=gpipe",), ("/schedule.recompute=full",), ("zero=2",),
                 ("granularity=layer",), ("balance=auto",) if sets[-1][:6] != "layers" else ()):
        result, why = run(*sets, *more)
        expect(result, sets, more, why)
one, _ = run("tower_place=own", "tower_tensor=1", tower_images=5, tower_mergers=2)
other, _ = run("tower_place=own", "tower_tensor=1", engine="simgrid", tower_images=5, tower_mergers=2)
expect(abs(other["time"]["iteration_s"] / one["time"]["iteration_s"] - 1) < 0.03, "engines")

# ---- what is frozen is not gathered: of each gradient, in 32 bits, its weight is, in 16, and half as often ----

for zero in (1, 2):
    for sets, more in (((), {}), ((), {"tower_frozen": True}), (("adapter_rank=8",), {}),
                       (("adapter_rank=8", "tower_tensor=1"), {})):
        _, table = run(f"zero={zero}", *sets, rows=True, parallel={"tensor": 4, "data": 2}, **more)
        moved = [sum(float(row["bytes"]) for row in of(table, kind, 0, rank=0))
                 for kind in ("gradient-sync", "parameter-gather")]
        # zero 2 scatters the gradients of each of the four micro-batches
        expect(abs(moved[1] / moved[0] * 2 * (N if zero == 2 else 1) - 1) < 1e-6, "gathered", zero, sets, more, moved)

# ---- what it holds while layers run, on a stage that has no others: of two, three and four layers ----


def parts(depth, *sets):
    result, why = run("tower_place=own", *sets, tower_layers=depth, tower_images=16, layers=2, vocabulary=1024,
                      parallel={"tensor": 2, "pipeline": 2, "data": 2})
    expect(result, sets, why)
    return result["memory"]["parts"] | {"hfu": result["throughput"]["hfu"] * result["time"]["iteration_s"]}


kept = [parts(depth, "/schedule.recompute=none") for depth in (40, 41)]
again = [parts(depth, "/schedule.recompute=full") for depth in (40, 41)]
layer = (kept[1]["activations_bytes"] - kept[0]["activations_bytes"]) / 2  # of two micro-batches
expect(abs(again[0]["buffers_bytes"] / layer - 1) < 1e-9, "a layer that is computed again", again[0], layer)
# Scores are formed once more by flash attention in any case.
flop = 2 * 16 * PATCHES * (4 * V * V + 2 * V * INNER) + 16 * 4 * PATCHES * PATCHES * V
more = [(again[i]["hfu"] - kept[i]["hfu"]) * 989e12 * 8 / (N * D) for i in (0, 1)]
expect(abs((more[1] - more[0]) / flop - 1) < 1e-6, "flop of a layer again", more, flop)
shards = [parts(40, f"zero={zero}") for zero in (2, 3)]
layer = (4 * V * V + 3 * V + 2 * V * INNER + INNER) / 2 + 6 * V  # of two ranks along tensor, which both have its norms
weights = 2 * (layer + (1539 * V + (4 * V + 1) * (4 * V + H)) / 40)  # with as much of what is beside the layers
expect(shards[0]["buffers_bytes"] == 0 and abs(shards[1]["buffers_bytes"] / weights / 2 - 1) < 1e-3, "gathered layers",
       shards, weights)

# ---- what the outputs say ----

counts = [8, 0, 4, 2, 0, 4, 1, 1]  # of samples (micro-batch, rank) in turn: 13 on rank 0, 7 on rank 1
drawn, _ = run("layers_per_stage=[0,4,4]", "tower_tensor=1", tower_images=None, tower_image_list=counts,
               tower_frozen=True)
per = [sum(-(-n // T) for n in counts[rank::2]) for rank in range(2)]  # images of the rank with most of each
towers = drawn["towers"]
expect(abs(towers["mean_s"] / forward(sum(per) / 2) - 1) < 1e-3 and
       abs(towers["most_s"] / forward(max(per)) - 1) < 1e-3, "what towers cost", towers, per, forward(1))
waits = [worker["causes"]["receive"] + worker["causes"]["collective"] for worker in drawn["workers"]]
expect(towers["waiting_worker"] == waits.index(max(waits)) and
       abs(towers["waits_s"] / max(waits) / drawn["time"]["iteration_s"] - 1) < 1e-9, "who waits", towers, waits)
expect("more on the replica with most; worker" in drawn["text"] and "towers  " in drawn["text"], drawn["text"])
none, _ = run(tower_images=0, parallel={"tensor": T, "pipeline": 2, "data": D})
expect("towers" not in none and "towers  " not in none["text"], "no tower computes")

# ---- what cannot be ----

for sets, model, words in (
        (("tower_tensor=3",), {}, "4 tensor-parallel ranks cannot be cut into groups of 3"),
        (("tower_tensor=8",), {}, "8 ranks of a tower are more than the 4 along tensor"),
        (("tower_tensor=1", "zero=3"), {}, "expected zero of at most 2"),
        (("tower_place=own", "layers_per_stage=[2,3,3]"), {}, "no layers of the language model on it"),
        (("tower_place=own", "balance=auto", "/schedule=interleaved", "/schedule.chunks=2"), {},
         "a schedule with one stage on each worker"),
        (("tower_place=own",), {"tied": True}, "expected tower_place: first"),
        (("tower_place=own", "/parallel={tensor: 2, context: 2, pipeline: 3, data: 2}"), {},
         "transformer.tower_place: error: which ranks that share a sequence"),
        (("tower_tensor=1", "/parallel={tensor: 2, context: 2, pipeline: 3, data: 2}"), {},
         "transformer.tower_tensor: error: which ranks that share a sequence"),
        (("tower_tensor=1", "layers_per_stage=[2,3,3]", "sequence_parallel=true"), {"experts": 8, "top_k": 2},
         "beside experts of the same stage"),
        (("tower_tensor=1",), {key: None for key in MODEL if key.startswith("tower")}, "it needs model.tower_layers"),
        (("tower_place=own", "/parallel={tensor: 4, data: 2}"), {}, "it needs parallel.pipeline")):
    result, why = run(*sets, **model)
    expect(result is None and words in why, sets, why)
experts, why = run("tower_place=own", "tower_tensor=1", "sequence_parallel=true", experts=8, top_k=2)
expect(experts, "experts behind it", why)
sys.exit(failures > 0)
