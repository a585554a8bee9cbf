#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""gap-chart.py STAGESIM SCENARIO OUT.svg: draws how far every schedule that fits is above the bound of any order.

The numbers are those of `stagesim compare SCENARIO --schedules all --engine analytic`."""
import csv
import io
import subprocess
import sys

WIDTH, BAR, GAP, LEFT, RIGHT, TOP = 720, 16, 6, 150, 70, 54
COLOURS = {"best": "#009e73"}
STYLE = """<style>text { font: 13px sans-serif; fill: #333 } .title { font-weight: bold }
@media (prefers-color-scheme: dark) { text { fill: #ddd } }</style>"""


def measure(binary, scenario):
    """[(schedule, share above the bound)], the best first."""
    command = [binary, "compare", scenario, "--schedules", "all", "--engine", "analytic", "--quiet", "--format", "csv"]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    rows = [row for row in csv.DictReader(io.StringIO(done.stdout)) if row["above_bound"]]
    return sorted(((row["schedule"], float(row["above_bound"])) for row in rows), key=lambda row: (row[1], row[0]))


def cut(is_cut, y):
    """A gap in a bar that is longer than it is drawn."""
    x = WIDTH - RIGHT - 24
    return f'<path d="M{x} {y + BAR}l8 {-BAR}h4l-8 {BAR}z" fill="white"/>\n' if is_cut else ""


def draw(rows, out):
    height = TOP + len(rows) * (BAR + GAP) + 8
    most = max(above for _, above in rows)
    shown = min(most, 0.6)  # a longer bar is cut, with its number beside it
    out.write(f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" '
              f'viewBox="0 0 {WIDTH} {height}">\n{STYLE}\n')
    out.write('<text class="title" x="8" y="20">Iteration time above the proven bound</text>\n'
              '<text x="8" y="38">of its own stages on its workers; where iterations overlap, of the '
              'busiest worker\'s part</text>\n')
    for i, (name, above) in enumerate(rows):
        y = TOP + i * (BAR + GAP)
        width = (WIDTH - LEFT - RIGHT) * min(above, shown) / shown
        out.write(f'<text x="{LEFT - 8}" y="{y + 13}" text-anchor="end">{name}</text>\n'
                  f'<rect x="{LEFT}" y="{y}" width="{max(width, 1):.1f}" height="{BAR}" '
                  f'fill="{COLOURS.get(name, "#0072b2")}"/>\n'
                  + cut(above > shown, y) +
                  f'<text x="{LEFT + max(width, 1) + 6:.1f}" y="{y + 13}">{100 * above:.1f} %</text>\n')
    out.write("</svg>\n")


def main():
    binary, scenario, path = sys.argv[1:]
    rows = measure(binary, scenario)
    with open(path, "w", encoding="utf-8") as out:
        draw(rows, out)


main()
