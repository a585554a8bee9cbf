#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""same_figures.py STAGESIM FOLDER [NAME...]: runs every job that is shipped (or those of these names) on both engines,
and keeps what they say in FOLDER.
same_figures.py --compare FOLDER OTHER: what two builds said, for instance with two releases of SimGrid. On the analytic
engine every byte has to be the same. On SimGrid every word has to be, and every number to 1e-6 of the larger one or to
1e-12, which is the rounding of the clock: some numbers are differences of times."""
import json
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import tool  # noqa: E402

TOLERANCE, ROUNDING = 1e-6, 1e-12
NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?")


def jobs():
    return [path for folder in ("scenarios", "scenarios/papers") for path in sorted((tool.ROOT / folder).glob("*.yaml"))
            if tool.is_job(path)]


def run(binary, folder, names):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "source").write_text(str(tool.ROOT))
    for path in jobs():
        name = path.relative_to(tool.ROOT / "scenarios").with_suffix("")
        if names and str(name) not in names:
            continue
        for engine in ("analytic", "simgrid"):
            out = folder / engine / name
            command = [binary, "run", path, "--engine", engine, "-o", out, "--trace", "csv", "--quiet"]
            done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL)
            if done.returncode:
                raise SystemExit(f"{name}, {engine}: exit code {done.returncode}\n{done.stderr}")


def text_of(folder, path):
    """Without how long the run took, the versions of what it ran with, and where the source lay."""
    text = (folder / path).read_text()
    if path.suffix in (".json", ".yaml"):
        text = text.replace((folder / "source").read_text() + "/", "")
    if path.name == "summary.json":
        text = re.sub(r'"simulation": *\{[^}]*\}', "", text)
    return text


def worst(first, second, rounding):
    """The largest relative difference of the numbers of two texts; None: their words differ."""
    if first == second:
        return 0.0
    lines = first.splitlines(), second.splitlines()
    if len(lines[0]) != len(lines[1]):
        return None
    differing = [pair for pair in zip(*lines) if pair[0] != pair[1]]
    first, second = ("\n".join(pair[i] for pair in differing) for i in (0, 1))
    if NUMBER.sub("#", first) != NUMBER.sub("#", second):
        return None
    pairs = [(float(a), float(b)) for a, b in zip(NUMBER.findall(first), NUMBER.findall(second))]
    return max((abs(a - b) / max(abs(a), abs(b)) for a, b in pairs if abs(a - b) > rounding),
               default=0.0)


def compare(first, second):
    files = (path for path in first.glob("*/**/*") if path.is_file() and path.name != "about.json")
    paths = sorted(path.relative_to(first) for path in files)
    faults, most = 0, 0.0
    for path in paths:
        exact = path.parts[0] == "analytic"
        if not (second / path).is_file():
            difference = None
        else:
            difference = worst(text_of(first, path), text_of(second, path), 0 if exact else ROUNDING)
        if difference is None or difference > (0 if exact else TOLERANCE):
            faults += 1
            print(f"{path}: " + ("words differ" if difference is None else f"numbers differ by {difference:.3g}"))
        most = max(most, difference or 0)
    print(f"{len(paths)} files, {faults} differ; the largest difference of a number is {most:.3g}")
    return bool(faults) or len(paths) < 100


def main():
    if sys.argv[1] == "--compare":
        return compare(*map(pathlib.Path, sys.argv[2:4]))
    run(pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve(), sys.argv[3:])
    return 0


sys.exit(main())
