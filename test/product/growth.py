#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""growth.py PROGRAM: work that is linear stays linear. growth.c does each piece of work small and large; valgrind
counts the instructions. An item of the large one may take at most MOST times those of the small one: a scan that went
through all items for each would take as many times as the work grew. Nothing here measures time."""
import collections
import csv
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

MOST = 2
GROWN = 2.5  # large work has at least so many times the items, or the comparison says nothing


def count(program):
    """(name, size) to items and instructions, in the order of the work."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(["valgrind", "--tool=callgrind", "--callgrind-out-file=counts", program], cwd=folder,
                              capture_output=True, text=True, env={**os.environ, "MALLOC_PERTURB_": "0"})
        if done.returncode:
            sys.exit(f"exit code {done.returncode}: {done.stderr[-2000:]}")
        dumps = sorted((path for path in pathlib.Path(folder).glob("counts.*")),
                       key=lambda path: int(path.name.split(".")[1]))
        taken = {}
        for dump in dumps:
            text = dump.read_text()
            name = re.search(r"^desc: Trigger: Client Request: (.*)$", text, re.M)
            total = re.search(r"^(?:summary|totals): (\d+)", text, re.M)
            if name and total:
                taken[name[1]] = int(total[1])
    work = collections.OrderedDict()
    for name, items in csv.reader(done.stdout.splitlines()):
        work[tuple(name.rsplit("/", 1))] = int(items), taken[name]
    return work


def main():
    if not shutil.which("valgrind"):
        print("skipped: there is no valgrind")
        return 77
    work, faults, first = count(pathlib.Path(sys.argv[1]).resolve()), [], {}
    for (name, size), (items, instructions) in work.items():
        if not items:
            faults.append(f"{name}, {size}: the work failed")
            continue
        each = instructions / items
        small_size, small_items, small = first.setdefault(name, (size, items, each))
        print(f"{name:32} {size:>10} {items:8} items, {each:9.1f} instructions each, {each / small:5.2f} times")
        if each > MOST * small:
            faults.append(f"{name}: {each:.1f} instructions for an item of {size}, {small:.1f} of {small_size}")
        if size != small_size and items < GROWN * small_items and not name.startswith("streams"):
            faults.append(f"{name}: {size} has {items} items, {small_size} has {small_items}")
    if len(first) < 25:
        faults.append(f"only {len(first)} kinds of work were counted")
    print("\n".join(faults))
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())
