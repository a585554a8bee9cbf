#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""kernel.py STAGESIM: `stagesim kernel` with tables of its own against the models' formulas written down once more,
neighbours and their weights, the marks of what was not measured, both formats, mistakes of the tables with their places
and of the command line; and that the installed tables answer."""
import json
import math
import os
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import tool

STAGESIM = tool.binary_argument()
MODELS = "kind,type,stage,source,processors,peak_tflops,bandwidth_gbps,launch_us,compute_share,memory_share,extra\n"
ROWS = "kind,type,stage,source,groups,m,n,k,time_us\n"
PROCESSORS, PEAK, BANDWIDTH = 10, 100e12, 1000e9
MODEL = f"here,{PROCESSORS},100,1000,2,0.5,0.8"
ALL = [f"matmul,bf16,forward,{MODEL},0", f"matmul,bf16,weight,{MODEL},0", f"grouped,bf16,forward,{MODEL},3",
       f"grouped,bf16,weight,{MODEL},3", f"experts,bf16,forward,{MODEL},0", f"attention,bf16,forward,{MODEL},512",
       f"attention,bf16,backward,{MODEL},512", f"attention,bf16,forward-full,{MODEL},512",
       f"decode,bf16,forward,{MODEL},40", f"memory,bf16,norm,{MODEL},0"]
check = tool.Checker()


def install(folder, models, rows=()):
    (folder / "GPU.kernel-models.csv").write_text(MODELS + "\n".join(models) + "\n")
    (folder / "GPU.kernels.csv").write_text(ROWS + "\n".join(rows) + "\n")


def ask(*arguments, gpu="GPU", expect=0):
    result = tool.run(STAGESIM, "kernel", *arguments, "--gpu", gpu, "--format", "json", expect=None)
    check.that(result.returncode == expect, f"{arguments}: exit code {result.returncode}, {result.stderr}")
    return json.loads(result.stdout) if not expect and not result.returncode else result.stderr


# ---- the formulas of doc/kernel.md ----


def product(groups, m, n, k, weight=False):
    waves = [math.ceil(groups * math.ceil(m / r) * math.ceil(n / c) / PROCESSORS) * PROCESSORS * r * c * p
             for r, c, p in ((128, 256, 1), (128, 128, 1.06), (64, 128, 1.18))]
    moved = groups * (2 * k * (m + n) + (8 if weight else 2) * m * n)
    return max(2 * min(waves) * (k + 128) / (PEAK * 0.5), moved / (BANDWIDTH * 0.8))


def attention(heads, s, d, v, factor):
    idle = max(1, PROCESSORS / (heads * math.ceil(s / 128)))
    return max(factor * heads * s * s * (d + v) * idle * (1 + 512 / s) / (PEAK * 0.5),
               4 * heads * s * (d + v) / (BANDWIDTH * 0.8))


def formulas(folder):
    install(folder, ALL)
    launch = 2e-6
    for m, n, k in ((1024, 4096, 512), (100, 300, 64), (8192, 8192, 16)):
        size = ("-m", m, "-n", n, "-k", k)
        check.near(ask("matmul", *size)["seconds"], launch + product(1, m, n, k), f"matmul {size}", 1e-12)
        check.near(ask("matmul", *size, "--stage", "weight")["seconds"], launch + product(1, m, n, k, True),
                   f"weight {size}", 1e-12)
        check.near(ask("grouped", *size, "--groups", 7)["seconds"], launch + 7 * 3e-6 + product(7, m, n, k),
                   f"grouped {size}", 1e-12)
        check.near(ask("grouped", *size, "--groups", 7, "--stage", "weight")["seconds"],
                   launch + 7 * 3e-6 + product(7, n, k, m, True), f"grouped weight {size}", 1e-12)
        check.near(ask("experts", *size, "--groups", 7)["seconds"], launch + product(7, m, 2 * n, k) +
                   product(7, m, k, n) + 6 * 7 * m * (n + k) / (BANDWIDTH * 0.8), f"experts {size}", 1e-12)
    for stage, factor in (("forward", 1), ("forward-full", 2), ("backward", 2.5)):
        for heads, s, d, v in ((32, 4096, 128, 128), (1, 256, 192, 128)):
            found = ask("attention", "--batch", 2, "--heads", heads, "--sequence", s, "--head-size", d, "--value-size",
                        v, "--stage", stage)
            check.near(found["seconds"], launch + attention(2 * heads, s, d, v, factor), f"attention {stage}", 1e-12)
            check.near(found["flops"], factor * 2 * heads * s * s * (d + v), "flop of attention")
    for batch, heads, keys, s, d in ((4, 16, 2, 1000, 128), (500, 8, 8, 2, 64), (1, 128, 1, 9000, 64)):
        found = ask("decode", "--batch", batch, "--heads", heads, "--kv-heads", keys, "--sequence", s, "--head-size", d)
        groups, flops = batch * keys, 4 * batch * heads * s * d
        moved = 4 * groups * s * d + 4 * batch * heads * d
        check.near(found["seconds"], launch + max(moved / (BANDWIDTH * 0.8), flops / (PEAK * 0.5),
                                                  groups * 40e-6 / PROCESSORS), f"decode {batch}", 1e-12)
        check.near(found["flops"], flops, "flop over a cache")
    refused = ask("decode", "--heads", 6, "--kv-heads", 4, "--sequence", 8, "--head-size", 8, expect=2)
    check.that("no multiple" in refused, "heads that do not share")
    check.near(ask("memory", "--bytes", "8MB", "--stage", "norm")["seconds"], launch + 8e6 / 800e9, "memory", 1e-12)
    check.that(ask("memory", "--bytes", 8, "--stage", "norm")["outside"], "what nothing was measured of is not marked")


def neighbours(folder):
    """At a measured kernel it weighs most; between two as far away the mean of logarithms; outside is marked."""
    times = {1024: 100e-6, 4096: 300e-6}
    rows = [f"matmul,bf16,forward,here,1,{m},2048,2048,{1e6 * t}" for m, t in times.items()]
    install(folder, ALL, rows)
    beside = {m: t / (2e-6 + product(1, m, 2048, 2048)) for m, t in times.items()}
    shape = ("-n", 2048, "-k", 2048)
    half = ask("matmul", "-m", 2048, *shape)
    mean = math.sqrt(beside[1024] * beside[4096])
    check.near(half["seconds"], (2e-6 + product(1, 2048, 2048, 2048)) * mean, "between")
    check.that(not half["outside"] and len(half["nearest"]) == 2 and half["source"] == "here", f"between: {half}")
    near, far = 1 / 0.05, 1 / (4 + 0.05)
    at = ask("matmul", "-m", 1024, *shape)
    expected = (2e-6 + product(1, 1024, 2048, 2048)) * math.exp(
        (near * math.log(beside[1024]) + far * math.log(beside[4096])) / (near + far))
    check.near(at["seconds"], expected, "at a measured kernel")
    check.that(at["nearest"][0]["m"] == 1024, f"nearest: {at['nearest']}")
    check.near(at["nearest"][0]["seconds"], times[1024], "what was measured there", 1e-12)
    for m, n in ((512, 2048), (8192, 2048), (2048, 4096)):
        check.that(ask("matmul", "-m", m, "-n", n, "-k", 2048)["outside"], f"{m} x {n} is not marked")
    text = tool.run(STAGESIM, "kernel", "matmul", "-m", 512, *shape, "--gpu", "GPU").stdout
    check.that("OUTSIDE: m was measured from 1024 to 4096" in text, text)
    # The weight gradient has no rows: the forward's.
    weight = ask("matmul", "-m", 2048, *shape, "--stage", "weight")
    check.near(weight["seconds"], (2e-6 + product(1, 2048, 2048, 2048, True)) * math.sqrt(beside[1024] * beside[4096]),
               "of another stage's rows")


def sources(folder):
    """The first one counts unless another is asked for."""
    other = ALL[0].replace(",here,", ",other,").replace(",0.5,", ",0.25,")
    install(folder, ALL + [other])
    size = ("-m", 4096, "-n", 4096, "-k", 4096)
    first, second = ask("matmul", *size)["seconds"], ask("matmul", *size, "--source", "other")["seconds"]
    check.near((second - 2e-6) / (first - 2e-6), 2, "half the share")
    check.that("expected" in ask("matmul", *size, "--source", "none", expect=1), "an unknown source")
    check.that("fp8" in ask("matmul", *size, "--type", "fp8", expect=1), "a type without a model")


def mistakes(folder):
    size = ("-m", 8, "-n", 8, "-k", 8)
    cases = [(ALL[:1] + ["matmul,bf17,forward,here,1,1,1,1,1,1,0"], [], "kernel-models.csv:3:8: ", "bf16"),
             ([ALL[0].replace(",0.5,", ",1.5,")], [], "kernel-models.csv:2:", "compute_share is 1.5"),
             ([ALL[0].replace(",here,", f",{'x' * 30},")], [], "kernel-models.csv:2:", "1 to 23 characters"),
             ([ALL[0].replace(",10,", ",0,")], [], "kernel-models.csv:2:", "processors is 0"),
             (ALL, ["matmul,bf16,forward,here,1,8,8,8,0"], "kernels.csv:2:", "time_us is 0"),
             (ALL, ["matmul,bf16,forward,here,1,0,8,8,1"], "kernels.csv:2:", "m is 0"),
             (ALL, ["matmul,bf16,forward,there,1,8,8,8,1"], "kernels.csv:2:", "the models have no matmul"),
             (ALL, ["matmul,bf16,forward,here,1,8,8"], "kernels.csv:2", ""), ([], [], "kernel-models.csv", "no model")]
    for models, rows, place, text in cases:
        install(folder, models, rows)
        said = ask("matmul", *size, expect=1)
        check.that(place in said and text in said, f"{place} {text}: {said}")
    install(folder, ALL)
    for arguments, text in ((("matmul", "-m", 8, "-n", 8), "-k is missing"),
                            (("matmul", *size, "--heads", 3), "does not have"),
                            (("matmol", *size), "did you mean 'matmul'"), (("matmul", *size, "--type", "fp9"), "fp8"),
                            (("matmul", "-m", 0, "-n", 8, "-k", 8), "whole number"), ((), "which kernel"),
                            (("memory", "--bytes", "8Gbps"), "64MiB"),
                            (("matmul", *size, "--stage", "forwrad"), "forward")):
        result = tool.run(STAGESIM, "kernel", *arguments, "--gpu", "GPU", expect=2)
        check.that(text in result.stderr and not result.stdout, f"{arguments}: {result.stderr}")
    check.that("--gpu is missing" in tool.run(STAGESIM, "kernel", "matmul", *size, expect=2).stderr, "without a GPU")
    check.that("no kernels of 'X'" in ask("matmul", *size, gpu="X", expect=1), "an unknown GPU")
    (folder / "GPU.kernel-models.csv").unlink()
    check.that("kernel-models.csv beside it" in ask("matmul", *size, expect=1), "rows without models")


def installed():
    """Names, their beginnings, and what may be several."""
    size = ("-m", 4096, "-n", 4096, "-k", 4096)
    for gpu in ("B200-180GB", "b200", "H100", "H200", "GB200", "A100-SXM"):
        found = ask("matmul", *size, gpu=gpu)
        check.that(0 < found["seconds"] < 1e-3 and not found["outside"] and len(found["nearest"]) == 6,
                   f"{gpu}: {found}")
    check.that("may be several" in ask("matmul", *size, gpu="A100", expect=1), "A100 is two")


with tempfile.TemporaryDirectory() as scratch:
    os.environ["STAGESIM_EFFICIENCY"] = scratch
    for part in (formulas, neighbours, sources, mistakes):
        part(pathlib.Path(scratch))
    del os.environ["STAGESIM_EFFICIENCY"]
    installed()
sys.exit(check.done())
