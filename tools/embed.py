#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""embed.py OUTPUT.c FILE...: a C source with the text of each file, "page.css" as `const char page_css[]`.

Indentation and lines that are comments are left out: every page carries a copy."""
import pathlib
import re
import sys


def shrink(text):
    text = re.sub(r"(?s)/\*.*?\*/", "", text)
    lines = (line.strip() for line in text.splitlines())
    return "\n".join(line for line in lines if line and not line.startswith("//")) + "\n"


def main(output, *inputs):
    parts = ['#include "analysis/output/page_assets.h"\n']
    for path in map(pathlib.Path, inputs):
        data = shrink(path.read_text(encoding="utf-8")).encode() + b"\0"
        rows = (", ".join(str(byte if byte < 128 else byte - 256) for byte in data[i:i + 32])
                for i in range(0, len(data), 32))
        parts.append("const char %s[] = {\n%s};\n" % (path.name.replace(".", "_"), ",\n".join(rows)))
    pathlib.Path(output).write_text("\n".join(parts), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
