#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""batch-sweep.py STAGESIM PICTURE.svg [MODEL]: at which batch data parallelism loses to model parallelism, on four
kinds of accelerators.

Prints throughputs of every split, platform and batch, and draws data parallelism's over that of the best other split.
Hollow marks: data parallelism does not fit in the devices' memory. """
import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
STAGESIM, PICTURE = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2])
MODEL = sys.argv[3] if len(sys.argv) > 3 else "vgg-16"
PLATFORMS = (("16 A100", "dgx-a100-2", "fp16", 16, "#1f5fa8", ""),
             ("16 TPU v3", "tpu-v3-16", "bf16", 16, "#c65d00", "6 3"),
             ("16 IPU", "graphcore-16", "fp16", 16, "#2c8a4b", "2 3"),
             ("4 CS-2", "cerebras-4", "fp16", 4, "#7a3fa0", "8 3 2 3"))
BATCHES = [16 << k for k in range(9)]


def simulate(folder, platform, precision, mesh, batch, micro, extra=""):
    scenario = folder / "job.yaml"
    scenario.write_text(f"platform: {ROOT}/platforms/{platform}.xml\nworkload: layers\nmodel: "
                        f"{ROOT}/workloads/models/{MODEL}.yaml\n" f"parallel: {mesh}\nbatch: {{global: {batch}, micro: "
                        f"{micro}}}\ncompute: {{precision: {precision}, efficiency: 0.5}}\n{extra}")
    subprocess.run([STAGESIM, "run", scenario, "-o", folder / "out", "--quiet"], check=True, capture_output=True)
    summary = json.loads((folder / "out" / "summary.json").read_text())
    return batch / summary["time"]["iteration_s"], summary["memory"]["fits"], summary["limits"]["by"]


def splits(folder, platform, precision, devices, batch):
    """Data, hybrid, by channel, by layer (four stages, as many replicas as there are devices left)."""
    replicas = devices // 4
    micro = max(1, batch // replicas // 8)
    yield "data", simulate(folder, platform, precision, f"{{data: {devices}}}", batch, batch // devices)
    yield "hybrid", simulate(folder, platform, precision, f"{{data: {devices}}}", batch, batch // devices,
                             "layers: {dense: divided}\n")
    yield "channel", simulate(folder, platform, precision, f"{{tensor: {devices}}}", batch, batch)
    yield "layer", simulate(folder, platform, precision, f"{{data: {replicas}, pipeline: 4}}", batch, micro,
                            "schedule: 1f1b\n")


def sweep():
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, platform, precision, devices, *_ in PLATFORMS:
            for batch in BATCHES:
                row = found[name, batch] = dict(splits(pathlib.Path(folder), platform, precision, devices, batch))
                cells = (f"{split} {rate:9.0f} {by:8} {'' if fits else 'does not fit'}" for split,
                         (rate, fits, by) in row.items())
                print(f"{name:10} {batch:5}  " + " | ".join(f"{cell:32}" for cell in cells))
    return found


def point(index, ratio):
    return 70 + index * 480 / (len(BATCHES) - 1), 300 - min(ratio, 1.25) * 208


def draw(found):
    lines = [
        '<svg xmlns="http://www.w3.org/2000/svg" width="700" height="370" font-family="sans-serif" font-size="12">',
        '<rect width="700" height="370" fill="white"/>',
        f'<text x="70" y="22" font-size="14">{MODEL}: throughput of '
        f'data parallelism over that of the best model-parallel split</text>']
    for index, batch in enumerate(BATCHES):
        x, _ = point(index, 0)
        lines.append(f'<path d="M {x:.1f} 40 V 300" stroke="#e4e4e4"/><text x="{x:.1f}" y="318" '
                     f'text-anchor="middle">{batch}</text>')
    for ratio in (0, 0.25, 0.5, 0.75, 1, 1.25):
        _, y = point(0, ratio)
        color = "#555" if ratio == 1 else "#e4e4e4"
        lines.append(f'<path d="M 70 {y:.1f} H 550" stroke="{color}"/><text x="62" y="{y + 4:.1f}" '
                     f'text-anchor="end">{ratio:g}</text>')
    lines.append('<text x="310" y="342" text-anchor="middle">images of an iteration, all devices together</text>')
    for row, (name, _, _, _, color, dashes) in enumerate(PLATFORMS):
        dashes = f' stroke-dasharray="{dashes}"' if dashes else ""
        points = []
        for index, batch in enumerate(BATCHES):
            values = found[name, batch]
            best = max(rate for split,
                       (rate, fits, _) in values.items() if split != "data"
                       and (fits or not any(v[1] for v in values.values())))
            points.append((*point(index, values["data"][0] / best), values["data"][1]))
        path = " L ".join(f"{x:.1f} {y:.1f}" for x, y, _ in points)
        lines.append(f'<path d="M {path}" fill="none" stroke="{color}" stroke-width="2" '
                     f'stroke-linejoin="round"{dashes}/>')
        lines += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" stroke="{color}" fill="{color if fits else "white"}"/>'
                  for x, y, fits in points]
        y = 60 + 22 * row
        lines.append(f'<path d="M 570 {y} H 604" stroke="{color}" stroke-width="2"{dashes}/><text x="612" '
                     f'y="{y + 4}">{name}</text>')
    PICTURE.write_text("\n".join(lines + ["</svg>"]) + "\n")


if __name__ == "__main__":
    draw(sweep())
