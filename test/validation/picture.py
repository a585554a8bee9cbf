#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""picture.py STAGESIM PICTURE.svg [FILE...]: every published training speed that transformer.py compares, as predicted
over measured speed by the number of GPUs. FILEs are measured rows that are not part of the source."""
import contextlib
import io
import math
import os
import sys
import tempfile

import transformer

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 880, 470, 96, 14, 46, 104
LOW, HIGH, MOST_GPUS = 0.55, 2.2, 2 ** 14.6
# Colours that people who confuse red and green tell apart, each with a shape of its own.
GROUPS = {"vTrain, A100": ("#56b4e9", "circle"), "MosaicML FSDP, A100": ("#009e73", "diamond"),
          "MosaicML FSDP, H100": ("#e69f00", "triangle"),
          "NVIDIA recipes, bf16 and fp8, H100 to GB200": ("#000000", "square"),
          "papers: Megatron-LM, Korthikanti, Zero Bubble, Llama 3, DeepSeek-V3": ("#d55e00", "cross")}


def measured(files, folder):
    """(group, GPUs, speed, fitted) of the rows that tools/fit-efficiency knows."""
    fit, points = transformer.fitting(), []
    for group, paths, gpu in ((list(GROUPS)[0], files, None),
                              (list(GROUPS)[1], [transformer.HERE + "/mpt.csv"], "A100-SXM4-80GB"),
                              (list(GROUPS)[2], [transformer.HERE + "/mpt.csv"], "H100-SXM5-80GB"),
                              (list(GROUPS)[3], [transformer.HERE + "/dgxc.csv"], "H100-SXM5-80GB-transformer-engine")):
        rows = fit.read_rows(paths, gpu and gpu.removesuffix("-transformer-engine"))
        if not rows:
            continue
        with tempfile.TemporaryDirectory(dir=folder) as own:
            model = fit.Model(transformer.STAGESIM, rows, own, 2)
            transformer.use_table(model, gpu or "A100-SXM4-80GB", transformer.TRITON.get(gpu))
            errors = model.errors(list(range(len(rows))))
        fitted = set(fit.fitted_rows(rows, fit.EVERY)) if group != list(GROUPS)[1] else set()
        points += [(group, int(row["gpus"]), math.exp(-error), index in fitted) for index,
                   (row, error) in enumerate(zip(rows, errors))]
    return points


def published(folder):
    with contextlib.redirect_stdout(io.StringIO()):
        for paper in ("korthikanti", "megatron", "zero_bubble", "nemo", "nemo_blackwell", "llama", "llama_long",
                      "deepseek"):
            getattr(transformer, paper)(folder)
    names = list(GROUPS)
    return [(names[3] if "in fp8, kernels default" in heading else names[4], gpus, speed, False) for heading, gpus,
            speed in transformer.Table.drawn if "kernels transformer-engine" not in heading]


def across(gpus):
    return LEFT + (WIDTH - LEFT - RIGHT) * (math.log2(gpus) + 0.5) / (math.log2(MOST_GPUS) + 0.5)


def up(speed):
    return TOP + (HEIGHT - TOP - BOTTOM) * math.log(HIGH / speed) / math.log(HIGH / LOW)


def mark(shape, x, y, style):
    r = 3.6
    if shape == "circle":
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{r}" {style}/>'
    corners = {"square": ((-1, -1), (1, -1), (1, 1), (-1, 1)),
               "diamond": ((0, -1.35), (1.35, 0), (0, 1.35), (-1.35, 0)),
               "triangle": ((0, -1.3), (1.25, 1), (-1.25, 1)),
               "cross": ((-0.4, -1.4), (0.4, -1.4), (0.4, -0.4), (1.4, -0.4), (1.4, 0.4), (0.4, 0.4), (0.4, 1.4),
                         (-0.4, 1.4), (-0.4, 0.4), (-1.4, 0.4), (-1.4, -0.4), (-0.4, -0.4))}[shape]
    return f'<polygon points="{" ".join(f"{x + r * a:.1f},{y + r * b:.1f}" for a, b in corners)}" {style}/>'


def style_of(colour, fitted):
    if fitted:
        return f'fill="none" stroke="{colour}" stroke-opacity="0.8"'
    return f'fill="{colour}" fill-opacity="0.75" stroke="white" stroke-width="0.4"'


def axes():
    right, bottom = WIDTH - RIGHT, HEIGHT - BOTTOM
    lines = [f'<rect x="{LEFT}" y="{up(1.1):.1f}" width="{right - LEFT}" height="{up(1 / 1.1) - up(1.1):.1f}" '
             f'fill="#eeeeee"/>']
    for speed, text in ((0.6, "-40 %"), (0.7, "-30 %"), (0.8, "-20 %"), (0.9, "-10 %"), (1, "as measured"),
                        (1.1, "+10 %"), (1.2, "+20 %"), (1.4, "+40 %"), (1.6, "+60 %"), (2, "+100 %")):
        colour = "#444444" if speed == 1 else "#dddddd"
        lines.append(f'<line x1="{LEFT}" x2="{right}" y1="{up(speed):.1f}" y2="{up(speed):.1f}" stroke="{colour}" '
                     f'stroke-width="0.8"/>')
        lines.append(f'<text x="{LEFT - 6}" y="{up(speed) + 4:.1f}" text-anchor="end">{text}</text>')
    for power in range(0, 15):
        lines.append(f'<line x1="{across(2**power):.1f}" x2="{across(2**power):.1f}" y1="{bottom}" y2="{bottom + 4}" '
                     f'stroke="#444444"/>')
        lines.append(f'<text x="{across(2**power):.1f}" y="{bottom + 17}" text-anchor="middle">{2**power:,}</text>')
    lines.append(f'<text x="{(LEFT + right) / 2}" y="{bottom + 34}" text-anchor="middle">GPUs</text>')
    return lines


def legend(points):
    lines, places = [], ((LEFT, 0), (LEFT + 250, 0), (LEFT + 500, 0), (LEFT, 1), (LEFT + 320, 1))
    for (group, (colour, shape)), (x, row) in zip(GROUPS.items(), places):
        count, y = sum(point[0] == group for point in points), HEIGHT - BOTTOM + 56 + 20 * row
        if count:
            lines += [mark(shape, x + 6, y - 4, style_of(colour, False)),
                      f'<text x="{x + 16}" y="{y}">{group} ({count})</text>']
    lines.append(f'<text x="{LEFT}" y="{HEIGHT - 8}" fill="#555555">Hollow: rows that efficiencies were fitted to. '
                 f'Grey: within 10 %. Points of one number of GPUs are spread sideways.</text>')
    return lines


def within(points):
    return sum(1 / 1.1 <= point[2] <= 1.1 for point in points)


def draw(points):
    """Points of one group and number of GPUs are spread over a third of the way to the next."""
    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" role="img" width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 '
             f'{WIDTH} {HEIGHT}" font-family="DejaVu Sans, sans-serif" ' 'font-size="11.5">',
             "<title>Predicted over measured training speed by the number of GPUs</title>",
             '<rect width="100%" height="100%" fill="white"/>',
             f'<text x="{LEFT}" y="24" font-size="15" ' f'font-weight="bold">Predicted over measured training speed: '
             f'{within(points)} of {len(points)} ' f'published jobs within 10 %</text>']
    lines += axes()
    for number, (group, gpus, speed, fitted) in enumerate(points):
        x = across(gpus * 2 ** (0.7 * ((number * 0.618034) % 1 - 0.5)))
        lines.append(mark(GROUPS[group][1], x, up(min(max(speed, LOW), HIGH)), style_of(GROUPS[group][0], fitted)))
    return "\n".join(lines + legend(points) + ["</svg>"]) + "\n"


def main():
    with tempfile.TemporaryDirectory() as folder:
        points = measured([path for path in sys.argv[3:] if os.path.exists(path)], folder) + published(folder)
    with open(sys.argv[2], "w") as file:
        file.write(draw(points))
    print(f"{len(points)} jobs, {within(points)} within 10 %")


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    main()
