#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tensor_algorithms.py STAGESIM [-o PICTURE.svg]: tensor parallelism in 1D, 2D and 3D on 64 V100 (8 DGX-1V), over the
hidden size.

For every algorithm and order of its axes the largest micro-batch that fits in memory (a power of two times 16, at most
4096) is found with the analytic engine; SimGrid says how long a sample takes with it. Of an algorithm's orders the best
counts. Prints csv; draws time per sample relative to 3D's. """
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

LAYERS, SEQUENCE, HEADS = 24, 512, 64
SIZES = (2048, 4096, 6144, 8192, 10240, 12288, 14336, 16384)
ALGORITHMS = {
    "megatron-1d": ("tensor: 64", ["tensor, pipeline, data"]),
    "summa-2d": ("x: 8, y: 8", ["x, y, pipeline, data", "y, x, pipeline, data"]),
    "cube-3d": ("x: 4, y: 4, z: 4", ["x, y, z, pipeline, data", "y, x, z, pipeline, data", "y, z, x, pipeline, data"]),
}
SCENARIO = """platform: gpus.xml
workload: transformer
model: {{layers: {layers}, hidden: {hidden}, heads: {heads}, sequence: {sequence}, vocabulary: 51200,
  positions: {sequence}}}
parallel: {{{parallel}}}
order: [{order}]
tensor_parallel: {{algorithm: {algorithm}}}
batch: {{micro: {micro}, micro_batches: 1}}
schedule: {{name: 1f1b}}
transformer: {{attention: standard, granularity: layer}}
compute: {{precision: fp16, efficiency: 0.5}}
"""
# Colours that are told apart without red and green, and dashes.
STYLES = {"megatron-1d": ("#d55e00", "6 3", "1D (Megatron)"), "summa-2d": ("#0072b2", "2 2", "2D (SUMMA)"),
          "cube-3d": ("#000000", "", "3D (cube)")}


def run(stagesim, folder, engine, **values):
    (folder / "job.yaml").write_text(SCENARIO.format(layers=LAYERS, heads=HEADS, sequence=SEQUENCE, **values))
    command = [stagesim, "run", folder / "job.yaml", "--quiet", "--engine", engine, "-o", folder / "out"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    if done.returncode:
        sys.exit(done.stderr)
    summary = json.loads((folder / "out" / "summary.json").read_text())
    return summary["time"]["iteration_s"] / values["micro"], summary["memory"]["fits"]


def best(stagesim, folder, hidden, algorithm):
    """Seconds per sample, its micro-batch and order; None where nothing fits."""
    parallel, orders = ALGORITHMS[algorithm]
    values = {"hidden": hidden, "algorithm": algorithm, "parallel": parallel}
    fitting = None
    for micro in (16 << power for power in range(9)):
        if not run(stagesim, folder, "analytic", micro=micro, order=orders[0], **values)[1]:
            break
        fitting = micro
    if fitting is None:
        return None
    return min((run(stagesim, folder, "simgrid", micro=fitting, order=order, **values)[0], fitting, order)
               for order in orders)


def draw(path, results):
    """Time per sample over that of 3D, hidden sizes equally spaced."""
    left, top, width, height = 70, 30, 560, 300
    ratios = {a: [(i, r[a][0] / r["cube-3d"][0]) for i, r in enumerate(results.values()) if r[a] and r["cube-3d"]]
              for a in ALGORITHMS}
    most = max(value for points in ratios.values() for _, value in points) * 1.08

    def at(i, value):
        return left + width * i / (len(results) - 1), top + height * (1 - value / most)

    text = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + width + 40}" height="{top + height + 60}" '
            f'font-family="sans-serif" font-size="13">', '<rect width="100%" height="100%" fill="white"/>',
            f'<text x="{left}" y="18">time per sample, relative to 3D</text>']
    for tick in range(int(most * 2) + 1):
        y = at(0, tick / 2)[1]
        text.append(f'<path d="M{left} {y:.1f}h{width}" stroke="#dddddd"/><text x="{left - 8}" y="{y + 4:.1f}" '
                    f'text-anchor="end">{tick / 2:g}</text>')
    for i, hidden in enumerate(results):
        x = at(i, 0)[0]
        text.append(f'<text x="{x:.1f}" y="{top + height + 20}" text-anchor="middle">{hidden:,}</text>')
    text.append(f'<text x="{left + width / 2}" y="{top + height + 45}" text-anchor="middle">hidden size</text>')
    for index, (algorithm, points) in enumerate(ratios.items()):
        colour, dash, title = STYLES[algorithm]
        dashes = f' stroke-dasharray="{dash}"' if dash else ""
        path_text = "M" + "L".join("{:.1f} {:.1f}".format(*at(*point)) for point in points)
        text.append(f'<path d="{path_text}" fill="none" stroke="{colour}" stroke-width="2"{dashes}/>')
        text += ['<circle cx="{:.1f}" cy="{:.1f}" r="3" fill="{}"/>'.format(*at(*point), colour) for point in points]
        y = top + 16 + 20 * index
        text.append(f'<path d="M{left + width - 150} {y}h30" stroke="{colour}" stroke-width="2"{dashes}/>'
                    f'<text x="{left + width - 112}" y="{y + 4}">{title}</text>')
    path.write_text("\n".join(text + ["</svg>", ""]))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("stagesim")
    parser.add_argument("-o", "--output", type=pathlib.Path)
    arguments = parser.parse_args()
    stagesim, results = os.path.abspath(arguments.stagesim), {}
    print("hidden,algorithm,micro_batch,order,seconds_per_sample")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        subprocess.run([stagesim, "platform", "generate", "dgx-1v", "--nodes", "8", "-o", folder / "gpus.xml"],
                       check=True)
        for hidden in SIZES:
            results[hidden] = {algorithm: best(stagesim, folder, hidden, algorithm) for algorithm in ALGORITHMS}
            for algorithm, result in results[hidden].items():
                if result:
                    print(f"{hidden},{algorithm},{result[1]},{result[2].replace(', ', ' ')},{result[0]:.6g}",
                          flush=True)
    if arguments.output:
        draw(arguments.output, results)


if __name__ == "__main__":
    main()
