# SPDX-License-Identifier: Apache-2.0
"""Boxes of an SVG file that cairo wrote: 1.16 has colours in the attribute style, 1.18 in attributes of their own."""
import re

SVG = "{http://www.w3.org/2000/svg}"


def colour(element):
    """The fill colour as #rrggbb, or None."""
    text = element.get("fill") or next(iter(re.findall(r"fill:(rgb\([^)]*\))", element.get("style") or "")), "")
    parts = re.findall(r"([\d.]+)%", text)
    return "#" + "".join(f"{round(float(part) * 2.55):02x}" for part in parts) if len(parts) == 3 else None


def rectangles(svg, fill, least_width=0.0):
    """Left, right, top, bottom of all rectangles of that colour, pattern clips and legend swatches included."""
    boxes = []
    for path in svg.iter(SVG + "path"):
        if colour(path) != fill:
            continue
        for piece in path.get("d").split("Z"):
            numbers = [float(n) for n in re.findall(r"-?[\d.]+", piece)]
            xs, ys = numbers[0:8:2], numbers[1:8:2]
            if len(numbers) >= 8 and max(xs) - min(xs) > least_width:
                boxes.append((min(xs), max(xs), min(ys), max(ys)))
    for box in svg.iter(SVG + "rect"):
        if colour(box) == fill:
            x, y, width, height = (float(box.get(name)) for name in ("x", "y", "width", "height"))
            if width > least_width:
                boxes.append((x, x + width, y, y + height))
    return boxes
