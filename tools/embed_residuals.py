#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""embed_residuals.py OUTPUT.c RESIDUALS.csv PAIRS.csv MEMORY.csv: the rows as C tables, sorted by their ratio and
distance."""
import csv
import pathlib
import sys

WORDS = "set", "kind", "framework", "gpu", "nodes", "precision", "calibrated", "counted"


def read(path):
    lines = (line for line in pathlib.Path(path).read_text(encoding="utf-8").splitlines() if not line.startswith("#"))
    return list(csv.DictReader(lines))


def rows_text(name, path):
    rows = sorted(read(path), key=lambda row: (float(row["ratio"]), [row.get(word, "") for word in WORDS]))
    text = f"const struct band_row {name}s[] = {{\n"
    for row in rows:
        text += "    {%s, %s},\n" % (", ".join(f'"{row.get(word, "")}"' for word in WORDS), repr(float(row["ratio"])))
    return text + f"}};\nconst unsigned {name}_count = {len(rows)};\n\n"


def main(output, residuals, pairs, memory):
    text = '#include "analysis/band/band_rows.h"\n\n'
    text += rows_text("band_row", residuals) + rows_text("band_memory_row", memory)
    text += "const struct band_pair band_pairs[] = {\n"
    rows = sorted(read(pairs), key=lambda row: float(row["apart"]))
    for row in rows:
        text += f"    {{{float(row['apart'])!r}, {'true' if row['right'] == 'yes' else 'false'}, "
        text += f'"{row["changed"]}"}},\n'
    text += f"}};\nconst unsigned band_pair_count = {len(rows)};\n"
    pathlib.Path(output).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
