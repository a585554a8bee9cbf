#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""casts.py STAGESIM: what casting and scaling cost beside products in fp8, as NVIDIA measured it on H200 and as
`compute.cast_bytes` has it.

TransformerEngine (docs/features/low_precision_training/speedups.rst @ 03b5742f, Apache-2.0): the 12 products of a layer
of width 4,096 and 16,384 within are 1.92 times as fast in fp8 as in bf16 by themselves, and with casts 1.69 times
(delayed scaling), 1.57 (current) and 1.41 (blocks). Tokens are not given. Here the products of the installed table and
casts of 7, 12 and 19 bytes an element (doc/transformer.md), for 8,192 and 16,384 tokens. The table's products in fp8
are slower than TransformerEngine's, so what is compared is by how much casts shorten the gain: within 4 %."""
import json
import subprocess
import sys

PRODUCTS = (4096, 3 * 4096), (4096, 4096), (4096, 16384), (16384, 4096)
PUBLISHED = (("delayed", 7, 1.69), ("current", 12, 1.57), ("blocks", 19, 1.41))
ALONE, BOUND = 1.92, 0.04


def kernel(*words):
    command = [sys.argv[1], "kernel", *map(str, words), "--gpu", "H200", "--format", "json"]
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)["seconds"]


def products(tokens, kind):
    shapes = [shape for k, n in PRODUCTS for shape in ((tokens, n, k), (tokens, k, n), (n, k, tokens))]
    return sum(kernel("matmul", "-m", m, "-n", n, "-k", k, "--type", kind) for m, n, k in shapes)


def casts(tokens, size):
    """Inputs and weights before the forward, gradients before the backward."""
    return sum(kernel("memory", "--stage", "cast", "--bytes", size * elements)
               for k, n in PRODUCTS for elements in (k * (tokens + n), n * tokens))


wrong = False
print(f"{'tokens':>6} {'scaling':8}{'published: alone/with casts':>28}{'predicted':>11}{'error':>9}")
for count in (8192, 16384):
    narrow = products(count, "fp8")
    for name, size, gain in PUBLISHED:
        ratio = (narrow + casts(count, size)) / narrow
        error = ratio / (ALONE / gain) - 1
        wrong |= abs(error) > BOUND
        print(f"{count:6} {name:8}{ALONE / gain:28.3f}{ratio:11.3f}{error:+9.1%}")
    print(f"{count:6} products alone in fp8 over bf16: {products(count, 'bf16') / narrow:.2f} (published {ALONE})")
sys.exit(wrong)
