#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""embed_residuals.py OUTPUT.c RESIDUALS.csv PAIRS.csv: the rows as C tables, sorted by their ratio and distance."""
import csv
import pathlib
import sys

WORDS = "set", "kind", "framework", "gpu", "nodes", "precision", "calibrated"


def read(path):
    lines = (line for line in pathlib.Path(path).read_text(encoding="utf-8").splitlines() if not line.startswith("#"))
    return list(csv.DictReader(lines))


def main(output, residuals, pairs):
    rows = sorted(read(residuals), key=lambda row: (float(row["ratio"]), [row[word] for word in WORDS]))
    text = '#include "analysis/band/band_rows.h"\n\nconst struct band_row band_rows[] = {\n'
    for row in rows:
        text += "    {%s, %s},\n" % (", ".join(f'"{row[word]}"' for word in WORDS), repr(float(row["ratio"])))
    text += f"}};\nconst unsigned band_row_count = {len(rows)};\n\nconst struct band_pair band_pairs[] = {{\n"
    rows = sorted(read(pairs), key=lambda row: float(row["apart"]))
    for row in rows:
        text += f"    {{{float(row['apart'])!r}, {'true' if row['right'] == 'yes' else 'false'}}},\n"
    text += f"}};\nconst unsigned band_pair_count = {len(rows)};\n"
    pathlib.Path(output).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
