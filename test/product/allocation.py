#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""allocation.py: outside of base/, sources ask for memory by base/arena.h and base/bulk.h, which end the process with a
message where there is none. A pointer that nobody checks would be a wrong result, or a crash. The fault sweep
(test/faults) tries allocations that fail; this finds the ones that its commands do not reach."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDERS = ("schedules", "platforms", "frameworks", "simulator", "workloads", "training", "job", "analysis",
           "studies", "cluster", "commands")
ASKS = re.compile(r"(?<![\w.>])(malloc|calloc|realloc|reallocarray|strdup|strndup|asprintf|aligned_alloc)\s*\(")


def find(text):
    """Numbers of the lines that ask the C library."""
    code = re.sub(r'/\*.*?\*/|"(\\.|[^"\\\n])*"', lambda match: "\n" * match[0].count("\n"), text, flags=re.S)
    return [number for number, line in enumerate(code.splitlines(), 1) if ASKS.search(line)]


def main():
    if find('/* malloc() */\nint *a = calloc(2, 4);\nx = "malloc(1)", my_malloc(3);\n') != [2]:
        print("the search does not find what it should")
        return 1
    faults = [f"{path.relative_to(ROOT)}:{number}: memory is asked for by base/arena.h"
              for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.c"))
              for number in find(path.read_text())]
    print("\n".join(faults))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
