#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""rings.py STAGESIM PLATFORM PICTURE: draws the rings that `stagesim platform show` lists for the first node of a
platform, as an SVG. Devices are on a circle; a ring and its way back are one colour."""
import math
import re
import subprocess
import sys

COLOURS = ("#4269d0", "#efb118", "#ff725c", "#6cc5b0", "#3ca951", "#ff8ab7", "#a463f2", "#97bbf5")
RADIUS, MIDDLE, DISC = 130, 170, 15


def cycles(text):
    """The rings without those that only go the other way."""
    found = []
    for line in re.findall(r"^ +\d+ x  ([\d ]+)$", text, flags=re.M):
        ring = list(map(int, line.split()))
        if [ring[0], *ring[:0:-1]] not in found:
            found.append(ring)
    return found


def place(device, count):
    angle = 2 * math.pi * device / count - math.pi / 2
    return MIDDLE + RADIUS * math.cos(angle), MIDDLE + RADIUS * math.sin(angle)


def line(start, end, colour, shift):
    (x1, y1), (x2, y2) = start, end
    length = math.hypot(x2 - x1, y2 - y1)
    dx, dy = (y1 - y2) / length * shift, (x2 - x1) / length * shift
    return (f'<line x1="{x1 + dx:.1f}" y1="{y1 + dy:.1f}" x2="{x2 + dx:.1f}" y2="{y2 + dy:.1f}" stroke="{colour}" '
            'stroke-width="3"/>')


def draw(rings):
    count, used, parts = len(rings[0]), {}, []
    for ring, colour in zip(rings, COLOURS * 8):
        for here, there in zip(ring, ring[1:] + ring[:1]):
            pair = min(here, there), max(here, there)
            lane = used[pair] = used.get(pair, -1) + 1
            parts.append(line(place(pair[0], count), place(pair[1], count), colour, 5 * lane - 2.5))
    for device in range(count):
        x, y = place(device, count)
        parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{DISC}" fill="#ffffff" stroke="#333333"/>'
                     f'<text x="{x:.1f}" y="{y + 5:.1f}" text-anchor="middle" fill="#333333">{device}</text>')
    size = 2 * MIDDLE
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{size}" height="{size}" font-family="sans-serif" '
            f'font-size="14"><rect width="{size}" height="{size}" fill="#ffffff"/>\n' + "\n".join(parts) + "\n</svg>\n")


stagesim, platform, picture = sys.argv[1:]
shown = subprocess.run([stagesim, "platform", "show", platform], capture_output=True, text=True, check=True).stdout
with open(picture, "w", encoding="utf-8") as out:
    out.write(draw(cycles(shown)))
