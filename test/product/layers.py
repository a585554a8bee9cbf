#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""layers.py: the table of folders in CONTRIBUTING.md is true of every #include "..." of the sources. A folder includes
itself and what its row lists, and a row lists only folders that stand above it, so that there are no cycles. No folder
has more than 40 sources, no source more than 500 lines but where one table is most of it. Then each rule is broken once
in a copy of the texts and has to be found, with file and line."""
import os
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = "CONTRIBUTING.md"
HEAD = "| folder | what is in it | may use |"
SOURCE = (".c", ".h", ".cpp", ".hpp")
FLAT = 40
LONG = 500
INCLUDE = re.compile(r'\s*#\s*include\s+"([^"]+)"')


class Row:
    """`name/` is one folder, `name/**` a folder with all below it."""

    def __init__(self, line, cell, uses):
        self.line, self.deep = line, cell.endswith("/**")
        self.name = cell.removesuffix("/**").rstrip("/")
        self.all_above = uses == "all above"
        self.uses = re.findall(r"`([^`]+)`", uses)


class Tree:
    """The sources' texts by path from the root, with the page, and every folder; of scripts only how long they are."""

    def __init__(self, texts, folders, scripts):
        self.texts, self.folders, self.scripts = texts, folders, scripts

    def copy(self):
        return Tree(dict(self.texts), set(self.folders), dict(self.scripts))

    def files(self):
        """Every folder that holds sources, with their names."""
        names = {}
        for path in sorted(self.texts):
            if path != PAGE:
                names.setdefault(os.path.dirname(path) or ".", []).append(os.path.basename(path))
        return sorted(names.items())


def read_tree(root):
    """Builds and hidden folders are no part of it."""
    texts, every, scripts = {PAGE: (root / PAGE).read_text()}, set(), {}
    for path, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if name[0] != "." and name != "__pycache__"
                            and not os.path.exists(os.path.join(path, name, "build.ninja"))
                            and not name.startswith("build"))
        folder = os.path.relpath(path, root)
        every.add(folder)
        for name in names:
            where = os.path.normpath(os.path.join(folder, name))
            if name.endswith(SOURCE):
                texts[where] = pathlib.Path(path, name).read_text()
            elif name.endswith(".py"):
                scripts[where] = len(pathlib.Path(path, name).read_text().splitlines())
    return Tree(texts, every, scripts)


def read_table(tree):
    """The rows of the table by folder, in their order."""
    lines = tree.texts[PAGE].splitlines()
    start = lines.index(HEAD) + 2
    rows = {}
    for number, line in enumerate(lines[start:], start + 1):
        if not line.startswith("|"):
            break
        folder, _, uses = (cell.strip() for cell in line.strip("|").split("|"))
        row = Row(number, folder.strip("`"), uses)
        rows[row.name] = row
    return rows


def row_of(rows, folder):
    if folder in rows:
        return rows[folder]
    parents = (str(parent) for parent in pathlib.PurePath(folder).parents)
    return next((rows[parent] for parent in parents if parent in rows and rows[parent].deep), None)


def check_table(tree, rows):
    """Rows name folders that are there, and use what stands above them."""
    above = set()
    for name, row in rows.items():
        if name not in tree.folders:
            yield f"{PAGE}:{row.line}: `{name}` is no folder"
        for use in row.uses:
            if use not in above:
                yield f"{PAGE}:{row.line}: `{name}` may not use `{use}`: it is not a row above"
        above.add(name)


def check_include(tree, rows, row, folder, included):
    """What is wrong with an include of a file in `folder`, or nothing."""
    other = os.path.dirname(included)
    if included not in tree.texts:
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


def check_folder(tree, rows, folder, names):
    row = row_of(rows, folder)
    if not row:
        yield f"{folder}: the table of {PAGE} has no row for this folder"
        return
    if len(names) > FLAT:
        yield f"{folder}: {len(names)} source files in one folder, more than {FLAT}"
    for name in names:
        for number, line in enumerate(tree.texts[os.path.normpath(f"{folder}/{name}")].splitlines(), 1):
            match = INCLUDE.match(line)
            wrong = match and check_include(tree, rows, row, folder, match[1])
            if wrong:
                yield f'{folder}/{name}:{number}: #include "{match[1]}": {wrong}'


def largest_table(lines):
    """Lines of the longest initialiser at file scope."""
    longest, begin = 0, None
    for number, line in enumerate(lines):
        if begin is None and re.match(r"\S.*= \{$|\S.*= \{[^}]*$", line):
            begin = number
        elif begin is not None and line.startswith("};") or begin is not None and line.rstrip().endswith("}};"):
            longest, begin = max(longest, number + 1 - begin), None
    return longest


def check_lengths(tree):
    """Of the product's sources and the tests; a file may be one table."""
    for path, text in sorted(tree.texts.items()):
        lines = text.splitlines()
        if path != PAGE and len(lines) > LONG and 2 * largest_table(lines) < len(lines):
            yield f"{path}: {len(lines)} lines, more than {LONG}, and no table that is most of it"
    for path, length in sorted(tree.scripts.items()):
        if length > LONG:
            yield f"{path}: {length} lines, more than {LONG}"


def check_tree(tree):
    rows = read_table(tree)
    faults = [*check_table(tree, rows), *check_lengths(tree)]
    for folder, names in tree.files():
        faults += check_folder(tree, rows, folder, names)
    return faults


# ---- each rule broken once ----

def put(tree, name, text):
    tree.folders.add(os.path.dirname(name))
    tree.texts[name] = text + tree.texts.get(name, "")


def replace(tree, old, new):
    assert old in tree.texts[PAGE], old
    tree.texts[PAGE] = tree.texts[PAGE].replace(old, new, 1)


def widen(tree, name, use):
    """Lets a row use one more folder."""
    line = next(line for line in tree.texts[PAGE].splitlines() if line.startswith(f"| `{name}/` |"))
    replace(tree, line, f"{line.removesuffix(' |')}, `{use}` |")


def crowd(tree):
    for i in range(FLAT + 1):
        put(tree, f"base/extra{i}.c", "")


BROKEN = [("an include turned round",
           lambda tree: put(tree, "base/arena.c", '#include "simulator/program/program.h"\n'),
           'base/arena.c:1: #include "simulator/program/program.h": `simulator/program` stands below `base`'),
          ("an include of the roof",
           lambda tree: put(tree, "studies/search/search.c", '\n#include "commands/cli/options.h"\n'),
           'studies/search/search.c:2: #include "commands/cli/options.h": '
           '`commands/cli` stands below `studies/search`'),
          ("a folder that is not in the row",
           lambda tree: put(tree, "platforms/zones.c", '#include "schedules/schedule.h"\n'),
           'platforms/zones.c:1: #include "schedules/schedule.h": `platforms` may not use `schedules`'),
          ("source that uses tests", lambda tree: put(tree, "commands/main.c", '#include "test/support/hand_made.h"\n'),
           'commands/main.c:1: #include "test/support/hand_made.h": `test/support` stands below `commands`'),
          ("a path from beside the file", lambda tree: put(tree, "base/arena.c", '#include "bulk.h"\n'),
           'base/arena.c:1: #include "bulk.h": no such file'), ("a folder too full", crowd, "base: "),
          ("a script too long", lambda tree: tree.scripts.update({"tools/man.py": LONG + 1}), "tools/man.py: "),
          ("a file too long", lambda tree: put(tree, "base/arena.c", LONG * "\n"), "base/arena.c: "),
          ("a folder without row", lambda tree: put(tree, "platforms/new/one.c", ""), "platforms/new: the table"),
          ("a row without folder", lambda tree: replace(tree, "| `base/` |", "| `cellar/` | nothing | |\n| `base/` |"),
           "`cellar` is no folder"),
          ("a row that uses one below", lambda tree: widen(tree, "schedules/plan", "schedules"),
           "`schedules/plan` may not use `schedules`: it is not a row above"),]


def check_rules(tree):
    for what, change, expected in BROKEN:
        broken = tree.copy()
        change(broken)
        found = check_tree(broken)
        if not any(expected in fault for fault in found):
            yield f"{what} was not found: {found}"


sources = read_tree(ROOT)
faults = check_tree(sources) or list(check_rules(sources))
print("\n".join(faults) or "all hold")
sys.exit(bool(faults))
