#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""embed_residuals.py OUTPUT.c RESIDUALS.csv: the rows as a C table, sorted by their ratio."""
import csv
import pathlib
import sys

WORDS = "set", "kind", "framework", "gpu", "nodes", "precision", "calibrated"


def main(output, path):
    lines = (line for line in pathlib.Path(path).read_text(encoding="utf-8").splitlines() if not line.startswith("#"))
    rows = sorted(csv.DictReader(lines), key=lambda row: (float(row["ratio"]), [row[word] for word in WORDS]))
    text = '#include "analysis/band/band_rows.h"\n\nconst struct band_row band_rows[] = {\n'
    for row in rows:
        text += "    {%s, %s},\n" % (", ".join(f'"{row[word]}"' for word in WORDS), repr(float(row["ratio"])))
    text += f"}};\nconst unsigned band_row_count = {len(rows)};\n"
    pathlib.Path(output).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
