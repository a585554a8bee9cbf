#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""measured_kernels.py STAGESIM: `compute: {kernels: measured}`. A job's computing time is the sum of what
`stagesim kernel` says of each of its operators, whose shapes are written down here from the formulas of a transformer;
the clock, the host's times, the source; what is marked as beyond the measured range; and that an expert's rows, not
those of all, decide how fast a grouped product is."""
import json
import os
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "support"))
import tool

STAGESIM = tool.binary_argument()
check = tool.Checker()
S, H, HEADS, KV, FFN, V, LAYERS = 2048, 4096, 32, 8, 14336, 32000, 2
MODEL = f"layers: {LAYERS}, hidden: {H}, heads: {HEADS}, kv_heads: {KV}, ffn: {FFN}, gated: true, sequence: {S}, " \
        f"vocabulary: {V}, tied: false, biases: false, dropout: false, norm: rms"


def job(folder, compute="", model=MODEL, precision="bf16", parallel="{data: 1}", more="", preset="dgx-b200"):
    path = folder / "job.yaml"
    path.write_text(f"""platform: {{preset: {preset}, nodes: 1}}
workload: transformer
model: {{{model}}}
parallel: {parallel}
batch: {{global: {8 if "8" in parallel else 1}, micro: 1}}
compute: {{precision: {precision}, kernels: measured{compute}}}
schedule: 1f1b
engine: analytic
{more}""")
    tool.run(STAGESIM, "run", path, "-o", folder / "out", "--quiet")
    return json.loads((folder / "out" / "summary.json").read_text())


def busy(summary):
    return max(worker["busy_s"] for worker in summary["workers"])


def kernel(kind, stage, source="simumax-b200", gpu="B200", **sizes):
    words = [word for key, value in sizes.items() for word in ((f"-{key}" if len(key) == 1 else f"--{key}"), value)]
    words += ["--source", source] if source else []
    return json.loads(tool.run(STAGESIM, "kernel", kind, "--gpu", gpu, "--stage", stage, "--format", "json",
                               *words).stdout)["seconds"]


def product(rows, inner, columns, **where):
    """Forward, and both of the backward."""
    return [kernel("matmul", "forward", m=rows, n=columns, k=inner, **where),
            kernel("matmul", "input", m=rows, n=inner, k=columns, **where),
            kernel("matmul", "weight", m=columns, n=inner, k=rows, **where)]


def moving(stage, size):
    return kernel("memory", stage, "simumax-b200", bytes=round(size))


def expected():
    """Seconds of matrix units, and of what moves memory."""
    key_value = 2 * KV * H // HEADS
    layer = sum(sum(product(S, a, b)) for a, b in ((H, H + key_value), (H, H), (H, 2 * FFN), (FFN, H)))
    size = {"heads": HEADS, "sequence": S, "head-size": H // HEADS}
    layer += kernel("attention", "forward", **size) + kernel("attention", "backward", "simumax-b200", **size)
    element, hidden = 2, S * H
    moved = 2 * (moving("norm", 2 * element * hidden) + moving("norm", 4 * element * hidden))
    moved += 2 * moving("rope", 2 * element * S * (H + key_value))
    moved += 2 * (moving("add", 3 * element * hidden) + moving("add", 2 * element * hidden))
    moved += moving("silu", 3 * element * S * FFN) + moving("silu", 5 * element * S * FFN)
    ends = moving("embedding", 3 * element * hidden) + moving("embedding", (element + 8) * hidden)
    ends += moving("norm", 2 * element * hidden) + moving("norm", 4 * element * hidden)
    ends += moving("loss", (element + 16) * S * V) + moving("loss", (element + 8) * S * V)
    return LAYERS * layer + sum(product(S, H, V)), LAYERS * moved + ends


def matrix_seconds(folder, compute, model):
    """Of products and attention: what half the clock adds."""
    one, half = (busy(job(folder, f"{compute}, clock: {clock}", model=model, preset="dgx-h100")) for clock in (1, 0.5))
    return half - one


def one_by_one(folder):
    """On H100 an inference library alone has measured grouped products: without its name they are the dense products
    of their groups, which a note says."""
    experts, where = 8, {"gpu": "H100", "source": "trtllm-h100"}
    model = MODEL + f", experts: {experts}, top_k: 2, expert_ffn: {FFN}"
    found = matrix_seconds(folder, "", model) - matrix_seconds(folder, "", MODEL)
    rows = S * 2 // experts
    layer = sum(product(S, H, experts, **where))
    layer += experts * sum(product(rows, H, 2 * FFN, **where) + product(rows, FFN, H, **where))
    layer -= sum(product(S, H, 2 * FFN, **where) + product(S, FFN, H, **where))
    check.near(found, LAYERS * layer, "grouped products as the products of their groups", 1e-6)
    job(folder, model=model, preset="dgx-h100")
    about = json.loads((folder / "out" / "about.json").read_text())
    check.that(any("one by one" in note and "trtllm-h100" in note for note in about["notes"]), f"{about['notes']}")
    named = matrix_seconds(folder, ", source: trtllm-h100", model)
    check.that(named < matrix_seconds(folder, "", model), "the inference library's own kernels are faster")
    job(folder, ", source: trtllm-h100", model=model, preset="dgx-h100")
    about = json.loads((folder / "out" / "about.json").read_text())
    check.that(not any("one by one" in note for note in about.get("notes", [])), f"{about.get('notes')}")


with tempfile.TemporaryDirectory() as scratch:
    folder = pathlib.Path(scratch)
    whole = job(folder)
    matrix, memory = expected()
    slower = job(folder, ", clock: 0.5")
    check.near(busy(slower) - busy(whole), matrix, "twice the time of products and attention at half the clock", 1e-6)
    # Adam reads the gradient and reads and writes weights and both moments: 4 + 26 bytes a parameter.
    parameters = LAYERS * (H * (H + 2 * KV * H // HEADS) + H * H + 3 * H * FFN + 2 * H) + 2 * V * H + H
    check.near(busy(whole) - matrix - memory, moving("add", 30 * parameters), "beside them the optimizer", 1e-5)
    later = job(folder, ", step: 50ms")
    check.near(busy(later) - busy(whole), 0.05, "the host at the end of an iteration", 1e-6)
    hosted = job(folder, ", dispatch: 5ms")
    check.that(busy(hosted) > busy(whole) + 0.05, "the host's issue of operators")
    check.near(busy(job(folder, ", source: simumax-b200")), busy(whole), "the source that trains is the default", 1e-12)
    other = job(folder, ", source: trtllm-b200")
    check.that(1.15 * busy(other) < busy(whole), "a source that ran for a short time at a high clock is faster")
    found = whole["scenario"]
    # Five linear maps with three products each, attention both ways; of what moves memory two sizes of normalisations,
    # residuals, activations, embedding and loss, one of heads, and the optimizer. None of these was measured there,
    # and no backward of attention of so few tokens.
    check.that((found["kernels"], found["kernels_outside"]) == (29, 14), f"kernels {found}")
    far = job(folder, model=MODEL.replace(f"sequence: {S}", "sequence: 1048576"))
    check.that(far["scenario"]["kernels_outside"] > found["kernels_outside"], "a sequence beyond all measured ones")
    wide, narrow = (busy(job(folder, model=MODEL.replace(f"sequence: {S}", "sequence: 16384"), precision=precision))
                    for precision in ("bf16", "fp8"))
    check.that(0.5 < narrow / wide < 0.95, f"fp8 over bf16 {narrow / wide}")
    # As many flop in 8 experts of 2,048 rows or in 512 of 32.
    experts = []
    for count in (8, 512):
        one, half = (busy(job(folder, f", clock: {clock}", model=MODEL + f", experts: {count}",
                              parallel="{data: 8, expert: 8}")) for clock in (1, 0.5))
        experts.append(half - one)
    check.that(experts[1] > 1.5 * experts[0], f"experts of many and few rows: {experts}")
    one_by_one(folder)
    # A GPU without measured kernels, and a key that is none.
    (folder / "job.yaml").write_text((folder / "job.yaml").read_text().replace("dgx-h100", "dgx-1v"))
    said = tool.run(STAGESIM, "run", folder / "job.yaml", "-o", folder / "no", "--quiet", expect=1).stderr
    check.that("V100" in said and not (folder / "no").exists(), said)
sys.exit(check.done())
