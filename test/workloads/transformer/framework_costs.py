#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""framework_costs.py STAGESIM: keys that say what a framework's way of working costs, each against what `stagesim
kernel` says of the operators that it adds, from formulas written here: recompute: operators, compute.flash, cast_bytes,
unfused, expert_dispatch, transformer.recompute_stops_early, expert_hidden, tensor_copies, tensor_gathers,
tensor_overlap_hidden, shard_copies, optimizer_unfused, logits_bytes and extra_memory."""
import json
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "support"))
import tool

STAGESIM = tool.binary_argument()
check = tool.Checker()
S, H, HEADS, KV, FFN, V, LAYERS = 2048, 4096, 32, 8, 14336, 32000, 2
KEY, WIDE, NARROW = KV * H // HEADS, 2250e12, 4500e12
MODEL = f"layers: {LAYERS}, hidden: {H}, heads: {HEADS}, kv_heads: {KV}, ffn: {FFN}, gated: true, sequence: {S}, " \
        f"vocabulary: {V}, tied: false, biases: false, dropout: false, norm: rms"
PRODUCTS = ((H, H + 2 * KEY), (H, H), (H, 2 * FFN), (FFN, H))


def job(folder, compute="", transformer="", parallel="{data: 1}", recompute="none", model=MODEL, batch=None,
        schedule="1f1b"):
    path = folder / "job.yaml"
    path.write_text(f"""platform: {{preset: dgx-b200, nodes: 1}}
workload: transformer
model: {{{model}}}
parallel: {parallel}
batch: {{global: {batch or (8 if "8" in parallel else 1)}, micro: 1}}
transformer: {{sequence_parallel: {"true" if "tensor" in parallel else "false"}{transformer}}}
compute: {{kernels: measured{compute}}}
schedule: {{name: {schedule}, recompute: {recompute}}}
engine: analytic
""")
    tool.run(STAGESIM, "run", path, "-o", folder / "out", "--quiet")
    return json.loads((folder / "out" / "summary.json").read_text())


def busy(*arguments, **keywords):
    return max(worker["busy_s"] for worker in job(*arguments, **keywords)["workers"])


def kernel(kind, stage, source, *words):
    return json.loads(tool.run(STAGESIM, "kernel", kind, "--gpu", "B200", "--stage", stage, "--format", "json",
                               "--source", source, *words).stdout)["seconds"]


def product(inner, columns, kind="bf16"):
    """In bf16 that of a library that trains, which is what counts where there is one; in fp8 none was measured."""
    source = "simumax-b200" if kind == "bf16" else "trtllm-b200"
    return kernel("matmul", "forward", source, "-m", S, "-n", columns, "-k", inner, "--type", kind)


def moving(stage, size):
    return kernel("memory", stage, "vllm-b200" if stage == "cast" else "simumax-b200", "--bytes", round(size))


def forward_moves(times=1):
    """Of a layer's forward, apart from the residual behind its feed-forward block: bytes by operator."""
    hidden = S * H
    return 2 * moving("norm", times * 4 * hidden) + moving("rope", times * 4 * S * (H + 2 * KEY)) + \
        moving("add", times * 6 * hidden) + moving("silu", times * 6 * S * FFN)


def all_moves(times):
    hidden = S * H
    backward = 2 * moving("norm", times * 8 * hidden) + moving("rope", times * 4 * S * (H + 2 * KEY)) + \
        2 * moving("add", times * 4 * hidden) + moving("silu", times * 10 * S * FFN)
    ends = moving("embedding", times * 6 * hidden) + moving("embedding", times * 10 * hidden) + \
        moving("norm", times * 4 * hidden) + moving("norm", times * 8 * hidden) + \
        moving("loss", times * 18 * S * V) + moving("loss", times * 10 * S * V)
    return LAYERS * (forward_moves(times) + moving("add", times * 6 * hidden) + backward) + ends


def operators(folder):
    kept, again = job(folder), job(folder, recompute="operators")
    added = forward_moves() + product(H, KEY) + product(H, H) + product(H, FFN)
    seconds = [max(worker["busy_s"] for worker in summary["workers"]) for summary in (kept, again)]
    check.near(seconds[1] - seconds[0], LAYERS * added, "recompute: operators", 1e-6)
    shares = [summary["throughput"]["hfu"] / summary["throughput"]["mfu"] for summary in (kept, again)]
    model = 3 * (2 * S * (LAYERS * sum(a * b for a, b in PRODUCTS) + H * V) + LAYERS * 4 * S * S * H)
    check.near(shares[1] - shares[0], LAYERS * 2 * S * H * (KEY + H + FFN) / model, "its flop", 1e-6)
    # What a layer keeps less, but of one layer at a time: norms' outputs and one input, keys, two inner activations.
    less = 2 * S * (2 * H + KEY + 2 * FFN)
    check.near(kept["memory"]["peak_bytes"] - again["memory"]["peak_bytes"], (LAYERS - 1) * less, "its memory", 1e-6)
    narrow = [busy(folder, ", precision: fp8", recompute=recompute) for recompute in ("none", "operators")]
    added = forward_moves() + sum(product(a, b, "fp8") + moving("cast", 3 * a * (S + b))
                                  for a, b in ((H, KEY), (H, H), (H, FFN)))
    check.near(narrow[1] - narrow[0], LAYERS * added, "in fp8 the same products are kept", 1e-6)
    peaks = [job(folder, f", precision: {precision}", recompute="operators")["memory"]["peak_bytes"]
             for precision in ("bf16", "fp8")]
    check.near(peaks[1], peaks[0], "in fp8 as much memory", 1e-12)


def early(folder):
    """The last product of a feed-forward block is not computed again, nor is its sum among tensor-parallel ranks."""
    for parallel, share in (("{data: 1}", 1), ("{tensor: 2}", 2)):
        whole, short = (job(folder, "", word, parallel, "full") for word in ("", ", recompute_stops_early: true"))
        busy_less = max(w["busy_s"] for w in whole["workers"]) - max(w["busy_s"] for w in short["workers"])
        last = kernel("matmul", "forward", "simumax-b200", "-m", S, "-n", H, "-k", FFN // share, "--type", "bf16")
        check.near(busy_less, LAYERS * (last + moving("add", 6 * S * H // share)), f"stops early, {parallel}", 1e-6)
        less = whole["communication"]["sent_bytes"] - short["communication"]["sent_bytes"]
        # Two ranks each send half of what is summed and scattered.
        check.near(less, (share - 1) * LAYERS * 2 * 2 * S * H / 2, f"bytes that are not sent again, {parallel}", 1e-9)
        done = [each["throughput"]["hfu"] * each["time"]["iteration_s"] for each in (whole, short)]
        unit = whole["throughput"]["mfu"] / whole["throughput"]["model_flops_per_s_per_gpu"]
        check.near((done[0] - done[1]) / unit, LAYERS * 2 * S * H * FFN / share, f"flop that are not, {parallel}", 1e-6)
    for model in (MODEL.replace("dropout: false", "dropout: true"), MODEL + ", norms: 4", MODEL + ", streams: 2"):
        whole, short = (job(folder, "", word, "{data: 1}", "full", model)["time"]["iteration_s"]
                        for word in ("", ", recompute_stops_early: true"))
        check.that("recompute_stops_early: no layer ends" in (folder / "out/summary.json").read_text(), "a note")
        check.near(short, whole, f"computed again for what follows: {model}", 1e-12)


def attention(folder):
    slow, fast = busy(folder, ", flash: 0.25"), busy(folder, ", flash: 0.5")
    flops = LAYERS * (4 + 10) * S * S * H / 2
    check.near(slow - fast, flops * (4 - 2) / WIDE, "compute.flash", 1e-6)


def casts(folder):
    few, many = (busy(folder, f", precision: fp8, cast_bytes: {count}") for count in (6, 12))

    def cast(count):
        return LAYERS * sum(moving("cast", count * a * (S + b)) + moving("cast", count * S * b) for a, b in PRODUCTS)
    check.near(many - few, cast(12) - cast(6), "compute.cast_bytes", 1e-6)


def unfused(folder):
    check.near(busy(folder, ", unfused: 3") - busy(folder), all_moves(3) - all_moves(1), "compute.unfused", 1e-6)


def experts(folder):
    routed = {"model": MODEL + ", experts: 32", "parallel": "{data: 8, expert: 8}"}
    two, one = (busy(folder, f", expert_dispatch: {seconds}s", **routed) for seconds in (2 / 3, 1 / 3))
    check.near(two - one, LAYERS * 3 * 4 / 3, "compute.expert_dispatch, of 4 experts", 1e-6)
    plain = busy(folder, **routed)
    check.near(busy(folder, ", expert_dispatch: 1ns", **routed), plain, "what a busy device hides", 1e-12)
    few = busy(folder, ", expert_dispatch: 0.5s, expert_dispatch_most: 2", **routed)
    check.near(few, busy(folder, ", expert_dispatch: 0.25s", **routed), "2 of 4 experts at most", 1e-12)
    # The host waits in the forward, and in the backward attention hides as much of its time as it takes.
    slow, fast = (busy(folder, f", expert_dispatch: 1ms, flash: {share}", **routed) for share in (0.25, 0.5))
    check.near(slow - fast, LAYERS * 4 * S * S * H / 2 * (4 - 2) / WIDE, "attention beside the host", 1e-6)
    ways, narrow = (busy(folder, ", expert_dispatch: 1ms", more, **routed) for more in ("", ", dispatch: fp8"))
    check.that(narrow > ways, "tokens that travel for a shorter time hide less")


def hidden(folder):
    """Blocks of a forward and a backward that compute for longer than tokens travel: what does not hide adds its time.
    """
    micro_batches, chunks, warm = 6, LAYERS, 2  # of one worker with chunks of a layer (schedules/combined_1f1b.c)
    routed = {"model": MODEL + ", experts: 32, top_k: 4", "parallel": "{data: 8, expert: 8}",
              "schedule": f"combined-1f1b, chunks: {chunks}", "batch": 8 * micro_batches}
    times = [job(folder, ", matrix_time: 20, grouped_time: 20", word, **routed)["time"]["iteration_s"]
             for word in (", expert_hidden: 0", ", expert_hidden: 0.5", ", expert_hidden: 1", "")]
    check.near(times[2], times[3], "all of it hides where nothing is said", 1e-12)

    def sent(size):
        rows = tool.run(STAGESIM, "collective", "all-to-all", "--platform", "dgx-b200:1", "--engine", "analytic",
                        "--sizes", f"{size}:{size}:2", "--format", "json").stdout
        return json.loads(rows)["rows"][0]["time_us"] * 1e-6
    whole, half = sent(S * H * 2 * 4), sent(S * H * 4)
    blocks = micro_batches * chunks - warm
    check.near(times[0] - times[2], 4 * blocks * whole, "four exchanges of a block", 1e-6)
    # The slots before and behind the blocks send both halves one after the other.
    check.near(times[1] - times[2], 4 * blocks * half + 4 * warm * (2 * half - whole), "half of each", 1e-6)


def tensor(folder):
    shared = {"parallel": "{tensor: 2}"}
    plain, copied = busy(folder, **shared), busy(folder, "", ", tensor_copies: true", **shared)
    both = 2 * moving("add", 2 * 4 * S * H) + 2 * moving("add", 3 * 4 * S * H)
    check.near(copied - plain, LAYERS * both, "tensor_copies", 1e-6)
    sent = [job(folder, "", f", tensor_gathers: {word}", **shared)["communication"]["sent_bytes"]
            for word in ("same", "fp8")]
    # Of each layer's two blocks one gather forward and two backward, of input and output one each; half is spared.
    gathers = 6 * LAYERS + 2
    check.near(sent[0] - sent[1], 2 * gathers * 2 * S * H / 2 / 2, "tensor_gathers: fp8, of both ranks", 1e-6)
    times = [job(folder, "", f", tensor_overlap: true, tensor_overlap_hidden: {share}", **shared)["time"]["iteration_s"]
             for share in (0, 0.5, 1)]
    check.near(times[0] - times[1], times[1] - times[2], "tensor_overlap_hidden is linear", 0.1)
    check.that(times[0] > 1.02 * times[2], f"what is exposed costs: {times}")


def gathered_casts(folder):
    """Ranks cast their part of the rows of what they gather in fp8."""
    seconds = [busy(folder, ", precision: fp8", f", tensor_gathers: {word}", parallel="{tensor: 2}")
               for word in ("same", "fp8")]
    spared = sum(moving("cast", 3 * H * (S + columns)) - moving("cast", 3 * H * (S / 2 + columns))
                 for columns in (H // 2 + KEY, FFN))
    check.near(seconds[0] - seconds[1], LAYERS * spared, "casts of gathered operands", 1e-6)


WEIGHTS = H * (H + 2 * KEY) + H * H, 3 * H * FFN


def shards(folder):
    plain, copied, kept, whole, ignored = (
        busy(folder, "", f", zero: {zero}{more}", "{data: 8}")
        for zero, more in ((3, ""), (3, ", shard_copies: true"), (3, ", shard_copies: true, reshard: false"), (2, ""),
                           (2, ", shard_copies: true")))
    both = [sum(moving("add", 4 * weights) + moving("add", back * weights) for weights in WEIGHTS) for back in (10, 6)]
    check.near(copied - plain, LAYERS * both[0], "shard_copies", 1e-6)
    check.near(kept - plain, LAYERS * both[1], "shard_copies without a second gather", 1e-6)
    check.near(ignored, whole, "shard_copies where weights are not shared", 1e-12)


def step(folder):
    times = [job(folder, "", f", optimizer_unfused: {times}")["time"]["iteration_s"] for times in (1, 3)]
    parameters = LAYERS * (sum(WEIGHTS) + 2 * H) + 2 * V * H + H
    check.near(times[1] - times[0], moving("add", 3 * 30 * parameters) - moving("add", 30 * parameters),
               "optimizer_unfused", 1e-6)


def memory(folder):
    few, many, more = (job(folder, "", text, "{pipeline: 2}")["memory"]["peak_bytes"]
                       for text in ("", ", logits_bytes: 12", ", extra_memory: 3GB"))
    check.near(many - few, S * V * (12 - 4), "logits_bytes, on the last worker", 1e-6)
    check.near(more - few, 3e9, "extra_memory", 1e-6)


with tempfile.TemporaryDirectory() as scratch:
    for part in (operators, early, attention, casts, unfused, experts, hidden, tensor, gathered_casts, shards, step,
                 memory):
        part(pathlib.Path(scratch))
sys.exit(check.done())
