#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""embed_hardware.py OUTPUT.c FILE...: a C source with the data files of hardware, byte for byte, in the order given.

The folder of a file is its kind, its name without the ending is what it is called."""
import pathlib
import sys


def main(output, *inputs):
    parts, rows = ['#include "platforms/hardware/hardware_files.h"\n'], []
    for number, path in enumerate(map(pathlib.Path, inputs)):
        data = path.read_bytes()
        lines = (", ".join(str(byte if byte < 128 else byte - 256) for byte in data[i:i + 32])
                 for i in range(0, len(data), 32))
        parts.append("static const char text_%d[] = {\n%s};\n" % (number, ",\n".join(lines)))
        rows.append('    {"%s", "%s", text_%d, sizeof text_%d},' % (path.parent.name, path.stem, number, number))
    parts.append("const struct hardware_text hardware_texts[] = {\n%s\n};\n" % "\n".join(rows))
    parts.append("const size_t hardware_text_count = sizeof hardware_texts / sizeof *hardware_texts;\n")
    pathlib.Path(output).write_text("\n".join(parts), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
