#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""circles.py BUILD: no two files of a folder need each other, neither directly nor around others of the folder, and no
two folders. What a file needs is what the linker sees: symbols that its object takes and another one defines, so that
names alike, and names that only one file knows, do not count. Then arrows are turned round in a copy, and have to be
found. No symbol is defined twice either: a static library links then, and calls whichever comes first."""
import collections
import json
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
DEFINED = frozenset("TDBRGSC")  # nm's letters of symbols that others may take, weak ones left out


def objects(build):
    """Paths of objects, each with its source from the root; what is generated or tests is left out."""
    found = {}
    for entry in json.loads((build / "compile_commands.json").read_text()):
        source = os.path.relpath(os.path.normpath(os.path.join(entry["directory"], entry["file"])), ROOT)
        path = os.path.normpath(os.path.join(entry["directory"], entry["output"]))
        of_product = entry["output"].split("/")[0] in ("libstagesim-core.a.p", "libstagesim-simgrid.a.p", "stagesim.p")
        if of_product and not source.startswith("..") and (ROOT / source).is_file() and os.path.exists(path):
            found[path] = source
    return found


def symbols(paths):
    """Of each path what it defines and what it takes."""
    defines, takes = collections.defaultdict(set), collections.defaultdict(set)
    done = subprocess.run(["nm", "-A", "-P", *paths], capture_output=True, text=True, check=True)
    for line in done.stdout.splitlines():
        path, _, rest = line.partition(": ")
        words = rest.split()
        if words[1] in DEFINED and words[0] != "___asan_globals_registered":  # every object has it
            defines[path].add(words[0])
        elif words[1] == "U":
            takes[path].add(words[0])
    return defines, takes


def needs_of(build):
    """source -> the sources of its folder that it needs -> a symbol of theirs; the same of folders; what is defined
    twice."""
    sources = objects(build)
    defines, takes = symbols(sorted(sources))
    definer = {name: sources[path] for path in defines for name in defines[path]}
    twice = [f"{name} is defined in {sources[path]} and in {definer[name]}" for path in sorted(defines)
             for name in sorted(defines[path]) if definer[name] != sources[path]]
    files = {source: {} for source in sources.values()}
    folders = {os.path.dirname(source): {} for source in files}
    for path, names in takes.items():
        for name in sorted(names & definer.keys()):
            source, other = sources[path], definer[name]
            folder, holder = os.path.dirname(source), os.path.dirname(other)
            if folder != holder:
                folders[folder].setdefault(holder, f"{name} in {os.path.basename(source)}")
            elif other != source:
                files[source].setdefault(other, name)
    return files, folders, twice


def reached(needs, start):
    """All that a source needs, with what that needs."""
    seen, ahead = set(), [start]
    while ahead:
        for other in needs[ahead.pop()]:
            if other not in seen:
                seen.add(other)
                ahead.append(other)
    return seen


def circles(needs):
    """Each circle as the set of its sources."""
    reach = {source: reached(needs, source) for source in needs}
    found = {frozenset(other for other in reach[source] if source in reach[other]) for source in needs
             if source in reach[source]}
    return sorted(found, key=sorted)


def tell(needs, circle):
    lines = [f"{len(circle)} need each other in a circle:"]
    lines += [f"  {source} needs {other}: {name}" for source in sorted(circle)
              for other, name in sorted(needs[source].items()) if other in circle]
    return "\n".join(lines)


def check_search(needs, least):
    """Every arrow turned round as well is a circle with both its ends; a copy without that is none."""
    arrows = [(source, other) for source in sorted(needs) for other in sorted(needs[source])]
    for source, other in arrows[::max(1, len(arrows) // 100)]:
        turned = {each: dict(others) for each, others in needs.items()}
        turned[other][source] = "turned"
        if not any({source, other} <= circle for circle in circles(turned)):
            yield f"{other} needs {source}, turned round, was not found"
    if len(arrows) < least:
        yield f"only {len(arrows)} arrows were seen"


def main():
    files, folders, twice = needs_of(pathlib.Path(sys.argv[1]).resolve())
    faults = twice + [tell(needs, circle) for needs in (files, folders) for circle in circles(needs)]
    faults = faults or [*check_search(files, 300), *check_search(folders, 200)]
    counts = [f"{len(needs)} {what}, {sum(map(len, needs.values()))} arrows"
              for needs, what in ((files, "sources"), (folders, "folders"))]
    print("\n".join(faults) or f"{'; '.join(counts)}: no circle")
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())
