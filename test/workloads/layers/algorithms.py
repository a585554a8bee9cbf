#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""algorithms.py STAGESIM: algorithms of convolutions in whole runs, with counts and choices worked out here from the
networks' shapes. On the star platform of layers.py a computation takes its flops over the speed."""
import itertools
import math
import pathlib
import sys
import tempfile

import layers
from layers import SPEED, expect, faults, near, rows_of, run

DIRECT, GEMM, FFT, WINOGRAD_2, WINOGRAD_4 = range(5)
NAMES = ("direct", "gemm", "fft", "winograd-2", "winograd-4")
WANTED = {"auto": range(5), "gemm": [GEMM], "fft": [FFT], "winograd": [WINOGRAD_2, WINOGRAD_4]}
TRANSFORMS = {WINOGRAD_2: (2, 32, 28, 24), WINOGRAD_4: (4, 156, 72, 90)}
SAMPLES = 4


def convolutions(name):
    """(name, passes, input channels, output channels, output, kernel, stride) of each."""
    found = []
    for i, row in enumerate(rows_of(name)):
        if row["kind"] == "convolution":
            height, kernel = int(row["height"]), int(row.get("kernel", 1))
            channels = int(row["outputs"]) // height // int(row["width"])
            inner = int(row["flops"]) // 2 // int(row["outputs"])
            found.append((row["name"], 3 if i else 2, inner // kernel**2, channels, height, kernel,
                          int(row.get("stride", 1))))
    return found


def work(row, algorithm):
    """(flops, numbers of workspace) of a pass over square images, or None where it is not possible."""
    _, _, inputs, outputs, size, kernel, stride = row
    area = ((size - 1) * stride + kernel)**2
    planes = outputs * inputs + SAMPLES * inputs + SAMPLES * outputs
    direct = 2 * SAMPLES * outputs * inputs * size**2 * kernel**2
    if algorithm in (DIRECT, GEMM):
        return direct, SAMPLES * inputs * size**2 * kernel**2 if algorithm == GEMM else 0
    if algorithm == FFT:
        return 2.5 * area * math.log2(area) * planes + 4 * area * SAMPLES * inputs * outputs, area * planes
    if kernel != 3 or stride != 1:
        return None
    side, data, weights, result = TRANSFORMS[algorithm]
    tiles = SAMPLES * math.ceil(size / side)**2
    flops = 2 * tiles * outputs * inputs * (side + 2)**2 + tiles * (inputs * data + outputs * result)
    return flops + inputs * outputs * weights, tiles * (side + 2)**2 * (inputs + outputs)


def options(row, mode, bound):
    """(seconds, bytes, algorithm) that a layer can have, the best first."""
    found = []
    for algorithm in WANTED[mode]:
        made = work(row, algorithm)
        if made and 4 * made[1] <= bound:
            found.append((row[1] * made[0] / SPEED, 4 * made[1], algorithm))
    return sorted(found) or [(row[1] * work(row, DIRECT)[0] / SPEED, 0, DIRECT)]


def job(folder, name, *sets, **keywords):
    return run(folder, [], *sets, model=name, data=1, batch=f"{{micro: {SAMPLES}, micro_batches: 1}}", **keywords)


def text_of(rows, chosen):
    """As the program names a choice: lists of layers, and the most frequent algorithm without one."""
    most = max(range(5), key=lambda k: (chosen.count(k), -k))
    parts = [f"{NAMES[k]} " + ", ".join(row[0] for row, other in zip(rows, chosen) if other == k) + "; "
             for k in range(5) if k != most and k in chosen]
    return "".join(parts) + f"{NAMES[most]} all{'' if len(set(chosen)) == 1 else ' other'} convolutions; workspace "


def compare(found, plain, rows, picked, memory, what):
    seconds = sum(option[0] for option in picked) - sum(row[1] * work(row, DIRECT)[0] / SPEED for row in rows)
    near(found["time"]["iteration_s"], plain["time"]["iteration_s"] + seconds, f"{what}: time", 1e-9)
    held = found["workers"][0]["peak_bytes"] - plain["workers"][0]["peak_bytes"]
    expect(abs(held - memory) <= 1e-9 * plain["workers"][0]["peak_bytes"], f"{what}: {held} bytes, not {memory}")
    text = text_of(rows, [option[2] for option in picked])
    expect(found["scenario"]["choices"].startswith(text), f"{what}: {found['scenario']['choices']}, not {text}")


def check_largest(folder):
    for name in ("alexnet", "vgg-11", "resnet-50"):
        rows, plain = convolutions(name), job(folder, name)
        for mode in WANTED:
            for bound in (math.inf, 0, 3e6, 20e6):
                sets = [f"layers.algorithms={mode}"] + [f"layers.workspace={bound:.0f}B"] * (bound < math.inf)
                picked = [options(row, mode, bound)[0] for row in rows]
                compare(job(folder, name, *sets), plain, rows, picked, max(option[1] for option in picked),
                        f"{name}, {mode}, at most {bound} bytes")


def check_all(folder):
    """All ways to share one workspace out to AlexNet's five convolutions."""
    rows, plain = convolutions("alexnet"), job(folder, "alexnet")
    for bound in (0, 4e6, 12e6, 30e6, 1e9):
        ways = itertools.product(*(options(row, "auto", bound) for row in rows))
        best = min((sum(option[0] for option in way), sum(option[1] for option in way), way) for way in ways
                   if sum(option[1] for option in way) <= bound)
        found = job(folder, "alexnet", "layers.algorithms=auto", f"layers.workspace={int(bound)}B",
                    "layers.workspace_of=all")
        compare(found, plain, rows, best[2], best[1], f"one workspace of {bound} bytes")


def check_units(folder):
    """Products that are none of matrices run at the speed of fp32: with matrix units eight times as fast nothing beats
    the direct algorithm."""
    write = layers.write_star

    def with_peaks(path, speeds):
        write(path, speeds)
        peaks = "".join(f'<prop id="peak_{name}" value="{value / 1e12}Tf"/>'
                        for name, value in (("fp32", SPEED), ("fp16", 8 * SPEED)))
        path.write_text(path.read_text().replace('f"/><host', f'f">{peaks}</host><host').replace(
            'f"/><link', f'f">{peaks}</host><link', 1))

    layers.write_star = with_peaks
    plain = job(folder, "vgg-11", "compute.precision=fp16")
    auto = job(folder, "vgg-11", "compute.precision=fp16", "layers.algorithms=auto")
    near(auto["time"]["iteration_s"], plain["time"]["iteration_s"], "auto with matrix units", 1e-9)
    expect(auto["scenario"]["choices"].startswith("direct all convolutions"), auto["scenario"]["choices"])
    forced = job(folder, "vgg-11", "compute.precision=fp16", "layers.algorithms=winograd")
    layers.write_star = write
    rows = convolutions("vgg-11")
    seconds = sum(options(row, "winograd", math.inf)[0][0] - row[1] * work(row, DIRECT)[0] / 8 / SPEED for row in rows)
    near(forced["time"]["iteration_s"], plain["time"]["iteration_s"] + seconds, "Winograd without matrix units", 1e-9)


def check_pipeline(folder):
    """Stages have the workspace of their own layers."""
    rows = convolutions("vgg-11")
    sets = ("parallel={pipeline: 2}", "schedule=1f1b")
    plain, found = (job(folder, "vgg-11", *sets, *more) for more in ((), ("layers.algorithms=winograd",)))
    more = [a["peak_bytes"] - b["peak_bytes"] for a, b in zip(found["workers"], plain["workers"])]
    each = [options(row, "winograd", math.inf)[0][1] for row in rows]
    expect(any(abs(more[0] - size) < 1 for size in each) and len(more) == 2, f"workspace of stages: {more}, {each}")


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for check in (check_largest, check_all, check_units, check_pipeline):
            check(folder)
    print("\n".join(faults))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
