#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Collectives within a node by GPU and library: nccl/node.csv beside stagesim's predictions.

usage: node_collectives.py STAGESIM

Values of the libraries were fitted to the tables that node.csv calls fitted; the others are kept. Predictions are those
of `stagesim collective` on the analytic engine. Prints mean error and bias by GPU, library and size of both halves, and
fails where a half of a size has a mean error above its bar (below 64 KiB, up to 64 MiB, from there on)."""
import collections
import concurrent.futures
import hashlib
import pathlib
import subprocess
import sys

STAGESIM, FILE = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(__file__).parent / "nccl" / "node.csv"
# By GPU and NCCL's release, the first that fits: product and library. No product has RTX PRO 6000.
PLATFORMS = (("a100_sxm", "", "dgx-a100", "a100"), ("h100_sxm", "nccl 2.23", "dgx-h100", "h100-nccl-2.23"),
             ("h100_sxm", "", "dgx-h100", "h100"), ("b200_sxm", "nccl 2.27.5", "dgx-b200", "blackwell-nccl-2.28"),
             ("b200_sxm", "nccl 2.28.9", "dgx-b200", "blackwell-nccl-2.28"), ("b200_sxm", "", "dgx-b200", "blackwell"),
             ("b300_sxm", "", "dgx-b200", "blackwell"), ("gb200", "", "gb200-nvl72", "nvl72"))
SIZES = ((0, 2**16, 0.12), (2**16, 2**26, 0.10), (2**26, 2**40, 0.05))
# What all rows of a half may be off by in the mean of the GPUs and libraries; one of those by MORE times it.
MORE = 2.2


def tables():
    """{(gpu, library, collective, gpus): {bytes: seconds}}"""
    found = collections.defaultdict(dict)
    for line in FILE.read_text().splitlines():
        if not line.startswith(("#", "gpu,")):
            *key, size, time = line.split(",")
            found[tuple(key)][int(size)] = float(time) * 1e-6
    return found


def is_fitted(key):
    return hashlib.sha256(",".join(key).encode()).digest()[0] % 2 == 0


def platform_of(key):
    for gpu, library, product, name in PLATFORMS:
        if key[0] == gpu and key[1].startswith(library):
            return product, name
    return None


def predict(job):
    """{bytes: seconds} of one platform, collective and number of ranks."""
    (product, library), kind, ranks = job
    platform = pathlib.Path(FOLDER) / f"{product}-{library}.xml"
    text = subprocess.run([STAGESIM, "collective", kind, "--platform", platform, "--ranks", ranks, "--sizes",
                           "512:512MiB:2", "--engine", "analytic", "--format", "csv"], capture_output=True, text=True,
                          check=True, timeout=300).stdout
    return {float(line.split(",")[0]): float(line.split(",")[1]) * 1e-6 for line in text.splitlines()
            if line[0].isdigit()}


def means(values):
    return (sum(map(abs, values)) / len(values), sum(values) / len(values)) if values else (0, 0)


def collect(measured, predicted):
    """{(fitted, gpu, library, size): errors}"""
    found = collections.defaultdict(list)
    for key, rows in measured.items():
        if not platform_of(key):
            continue
        times = predicted[platform_of(key), key[2], key[3]]
        for size, seconds in rows.items():
            band = next(i for i, (least, most, _) in enumerate(SIZES) if least <= size < most)
            found[is_fitted(key), key[0], key[1], band, key[2]].append(times[size] / seconds - 1)
    return found


def judge(found):
    wrong = False
    kinds = ("all-reduce", "all-gather", "reduce-scatter", "all-to-all")
    for half in (True, False):
        print(f"\n{'fitted' if half else 'kept'}: mean error, bias; below 64 KiB, up to 64 MiB, from there on")
        for machine in sorted({key[1:3] for key in found}):
            cells = []
            for band, (_, _, bar) in enumerate(SIZES):
                values = [error for kind in kinds for error in found[half, *machine, band, kind]]
                mean, bias = means(values)
                wrong |= mean > MORE * bar
                cells.append(f"{mean:6.1%} {bias:+6.1%}")
            print(f"{machine[0]:10} {machine[1]:19} " + "   ".join(cells))
        for kind in (*kinds, "all"):
            cells = []
            for band, (_, _, bar) in enumerate(SIZES):
                values = [error for key, errors in found.items() for error in errors
                          if key[0] == half and key[3] == band and kind in ("all", key[4])]
                mean, bias = means(values)
                wrong |= kind == "all" and mean > bar
                cells.append(f"{mean:6.1%} {bias:+6.1%}")
            print(f"{kind:30} " + "   ".join(cells))
    return wrong


if __name__ == "__main__":
    import tempfile
    with tempfile.TemporaryDirectory() as FOLDER, concurrent.futures.ThreadPoolExecutor(2) as pool:
        all_tables = tables()
        for product, library in {platform_of(key) for key in all_tables if platform_of(key)}:
            subprocess.run([STAGESIM, "platform", "generate", product, "--nodes", "1", "--library", library, "-o",
                            pathlib.Path(FOLDER) / f"{product}-{library}.xml"], check=True)
        jobs = sorted({(platform_of(key), key[2], key[3]) for key in all_tables if platform_of(key)})
        sys.exit(judge(collect(all_tables, dict(zip(jobs, pool.map(predict, jobs))))))
