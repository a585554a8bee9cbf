#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""mirror.py: nobody has to search for the tests of a source. test/X/Y.c or test/X/Y.py tests X/Y.c; where there is
none, test/README.md names tests. Those exist, belong to the build, and if they are in C, use a header of the source's
folder."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
TESTS = ROOT / "test"
PAGE = "test/README.md"
FOLDERS = ("base", "abi", "schedules", "platforms", "simulator", "workloads", "frameworks", "training", "job",
           "analysis", "studies", "traces", "cluster", "commands")
faults = []


def expect(good, what):
    if not good:
        faults.append(what)


def sources():
    found = [path for folder in FOLDERS for ending in ("c", "cpp") for path in (ROOT / folder).rglob(f"*.{ending}")]
    return sorted(path.relative_to(ROOT).with_suffix("") for path in found)


def registered(test):
    """Whether the meson.build of the test's folder, or of one above, names it."""
    if test.suffix == ".py" and test.stem == "recompute":
        return True  # by recompute_runs.py
    for folder in test.parents:
        path = TESTS / folder / "meson.build"
        if path.is_file():
            text = path.read_text()
            relative = test.relative_to(folder)
            stems = {str(relative.with_suffix("")), test.stem, str(relative)}
            return any(re.search(rf"['/]{re.escape(stem)}['.]", text) for stem in stems) or test.parts[0] == "fuzz"
    return False


def includes(path, seen):
    """The headers that a test includes, through what tests share as well."""
    found = set()
    for name in re.findall(r'#include "([^"]+)"', path.read_text()):
        found.add(name)
        if name.startswith("test/") and name not in seen:
            seen.add(name)
            for shared in (ROOT / name, (ROOT / name).with_suffix(".c")):
                found |= includes(shared, seen) if shared.is_file() else set()
    return found


def check_test(where, folder, name):
    path = TESTS / name
    expect(path.is_file(), f"{where}: there is no test/{name}")
    if not path.is_file():
        return
    expect(registered(pathlib.PurePath(name)), f"{where}: test/{name} is in no meson.build")
    if path.suffix != ".c" or folder in ("commands", "analysis/output") or name.startswith("fuzz/"):
        return
    top = folder.split("/")[0]
    expect(any(header.startswith(top + "/") for header in includes(path, set())),
           f"{where}: test/{name} includes no header of {top}/")


def read_page():
    """The sources that the page names, each with its line; rows are checked on the way."""
    named, folder = {}, None
    for number, line in enumerate((ROOT / PAGE).read_text().splitlines(), 1):
        where = f"{PAGE}:{number}"
        if line.startswith("## "):
            folder = line[3:]
            expect((ROOT / folder).is_dir(), f"{where}: there is no folder {folder}")
        elif folder and line.startswith("| `"):
            names, tests = (re.findall(r"`([^`]+)`", cell) for cell in line.strip("| ").split("|"))
            expect(tests, f"{where}: no tests are named")
            for name in names:
                source = pathlib.PurePath(folder) / name
                expect(source not in named, f"{where}: {source} is there twice")
                named[source] = where
            for test in tests:
                check_test(where, folder, test)
    return named


def main():
    named, known = read_page(), sources()
    for source in known:
        own = [TESTS / source.with_suffix(ending) for ending in (".c", ".py")]
        expect(source in named or any(path.is_file() for path in own),
               f"{source}: there is no test/{source}.c or .py, and {PAGE} names no other test")
    for source, where in named.items():
        expect(source in known, f"{where}: there is no source {source}")
    print("\n".join(faults) or f"{len(known)} sources, {len(named)} of them in {PAGE}: all hold")
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())
