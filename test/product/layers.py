#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""layers.py: the table of folders in CONTRIBUTING.md is true of every #include "..." of the sources. A folder includes
itself and what its row lists, and a row lists only folders that stand above it, so that there are no cycles. Then each
rule is broken once in a copy and has to be found, with file and line."""
import os
import pathlib
import re
import shutil
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = "CONTRIBUTING.md"
HEAD = "| folder | what is in it | may use |"
SOURCE = (".c", ".h", ".cpp", ".hpp")
FLAT = 40
INCLUDE = re.compile(r'\s*#\s*include\s+"([^"]+)"')


class Row:
    """`name/` is one folder, `name/**` a folder with all below it."""

    def __init__(self, line, cell, uses):
        self.line, self.deep = line, cell.endswith("/**")
        self.name = cell.removesuffix("/**").rstrip("/")
        self.all_above = uses == "all above"
        self.uses = re.findall(r"`([^`]+)`", uses)


def read_table(root):
    """The rows of the table by folder, in their order."""
    lines = (root / PAGE).read_text().splitlines()
    start = lines.index(HEAD) + 2
    rows = {}
    for number, line in enumerate(lines[start:], start + 1):
        if not line.startswith("|"):
            break
        folder, _, uses = (cell.strip() for cell in line.strip("|").split("|"))
        row = Row(number, folder.strip("`"), uses)
        rows[row.name] = row
    return rows


def walk(root):
    """Every folder of the sources, from the root, with the names of its files. Builds and hidden folders are none."""
    for path, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if name[0] != "." and name != "__pycache__"
                            and not os.path.exists(os.path.join(path, name, "build.ninja"))
                            and not name.startswith("build"))
        yield os.path.relpath(path, root), sorted(name for name in names if name.endswith(SOURCE))


def row_of(rows, folder):
    if folder in rows:
        return rows[folder]
    parents = (str(parent) for parent in pathlib.PurePath(folder).parents)
    return next((rows[parent] for parent in parents if parent in rows and rows[parent].deep), None)


def check_table(root, rows):
    """Rows name folders that are there, and use what stands above them."""
    above = set()
    for name, row in rows.items():
        if not (root / name).is_dir():
            yield f"{PAGE}:{row.line}: `{name}` is no folder"
        for use in row.uses:
            if use not in above:
                yield f"{PAGE}:{row.line}: `{name}` may not use `{use}`: it is not a row above"
        above.add(name)


def check_include(root, rows, row, folder, included):
    """What is wrong with an include of a file in `folder`, or nothing."""
    other = os.path.dirname(included)
    if not (root / included).is_file():
        return "no such file from the root of the sources"
    target = row_of(rows, other)
    if other == folder or target is None or (target is row and row.deep):
        return None
    order = list(rows)
    if order.index(target.name) > order.index(row.name):
        return f"`{other}` stands below `{folder}` in the table of {PAGE}, and only rows above may be included"
    if not row.all_above and target.name not in row.uses:
        return f"`{folder}` may not use `{other}` ({PAGE}:{row.line})"
    return None


def check_folder(root, rows, folder, names):
    row = row_of(rows, folder)
    if not row:
        yield f"{folder}: the table of {PAGE} has no row for this folder"
        return
    if len(names) > FLAT:
        yield f"{folder}: {len(names)} source files in one folder, more than {FLAT}"
    for name in names:
        for number, line in enumerate((root / folder / name).read_text().splitlines(), 1):
            match = INCLUDE.match(line)
            wrong = match and check_include(root, rows, row, folder, match[1])
            if wrong:
                yield f'{folder}/{name}:{number}: #include "{match[1]}": {wrong}'


def check_tree(root):
    rows = read_table(root)
    faults = list(check_table(root, rows))
    for folder, names in walk(root):
        if names:
            faults += check_folder(root, rows, folder, names)
    return faults


# ---- each rule broken once ----

def put(root, name, text):
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text + (path.read_text() if path.exists() else ""))


def replace(root, old, new):
    text = (root / PAGE).read_text()
    assert old in text, old
    (root / PAGE).write_text(text.replace(old, new, 1))


def widen(root, name, use):
    """Lets a row use one more folder."""
    line = next(line for line in (root / PAGE).read_text().splitlines() if line.startswith(f"| `{name}/` |"))
    replace(root, line, f"{line.removesuffix(' |')}, `{use}` |")


def crowd(root):
    for i in range(FLAT + 1):
        put(root, f"base/extra{i}.c", "")


BROKEN = [("an include turned round",
           lambda root: put(root, "base/arena.c", '#include "simulator/program/program.h"\n'),
           'base/arena.c:1: #include "simulator/program/program.h": `simulator/program` stands below `base`'),
          ("an include of the roof",
           lambda root: put(root, "studies/search.c", '\n#include "commands/cli/options.h"\n'),
           'studies/search.c:2: #include "commands/cli/options.h": `commands/cli` stands below `studies`'),
          ("a folder that is not in the row",
           lambda root: put(root, "platforms/zones.c", '#include "schedules/schedule.h"\n'),
           'platforms/zones.c:1: #include "schedules/schedule.h": `platforms` may not use `schedules`'),
          ("source that uses tests", lambda root: put(root, "commands/main.c", '#include "test/support/hand_made.h"\n'),
           'commands/main.c:1: #include "test/support/hand_made.h": `test/support` stands below `commands`'),
          ("a path from beside the file", lambda root: put(root, "base/arena.c", '#include "bulk.h"\n'),
           'base/arena.c:1: #include "bulk.h": no such file'), ("a folder too full", crowd, "base: "),
          ("a folder without row", lambda root: put(root, "platforms/new/one.c", ""), "platforms/new: the table"),
          ("a row without folder", lambda root: replace(root, "| `base/` |", "| `cellar/` | nothing | |\n| `base/` |"),
           "`cellar` is no folder"),
          ("a row that uses one below", lambda root: widen(root, "schedules/plan", "schedules"),
           "`schedules/plan` may not use `schedules`: it is not a row above"),]


def check_rules(copy):
    for what, change, expected in BROKEN:
        with tempfile.TemporaryDirectory() as scratch:
            root = pathlib.Path(scratch) / "tree"
            shutil.copytree(copy, root)
            change(root)
            found = check_tree(root)
            if not any(expected in fault for fault in found):
                yield f"{what} was not found: {found}"


def copy_sources(root):
    """The tree as the check sees it: every folder, the sources and the page."""
    for path in read_table(ROOT):
        (root / path).mkdir(parents=True, exist_ok=True)
    for folder, names in walk(ROOT):
        for name in names:
            (root / folder).mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / folder / name, root / folder / name)
    shutil.copyfile(ROOT / PAGE, root / PAGE)


faults = check_tree(ROOT)
if not faults:
    with tempfile.TemporaryDirectory() as scratch:
        copy_sources(pathlib.Path(scratch))
        faults = list(check_rules(pathlib.Path(scratch)))
print("\n".join(faults) or "all hold")
sys.exit(bool(faults))
