#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""pairs.py STAGESIM [--update]: of two published variants of one job, did the one go faster that is predicted to?

Prints analysis/band/pairs.csv, from which `compare` and `search` say how sure a difference is: a row for each pair,
with how many times faster one variant is predicted than the other, and whether it was. Pairs are those of the groups of
winners.py, and of vTrain's jobs (two of one model, batch and number of GPUs). Without --update it fails where a pair of
the file has moved by more than 0.5 %, or goes the other way now."""
import collections
import csv
import io
import itertools
import os
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(os.path.dirname(HERE), "support")]
import tool
import transformer
import winners

FILE = os.path.join(os.path.dirname(os.path.dirname(HERE)), "analysis", "band", "pairs.csv")
COLUMNS = "set", "changed", "apart", "right"
# What the pairs of a family differ in, where it is one thing.
CHANGED = {"vtrain": "layout", "simumax": "layout", "zero_bubble": "schedule", "chimera": "schedule", "amd": "schedule"}


def pair(name, a, b):
    """a, b: (published, predicted) speeds."""
    first, second = (a, b) if a[1] >= b[1] else (b, a)
    return {"set": name, "changed": CHANGED.get(name, ""), "apart": f"{first[1] / second[1]:.4f}",
            "right": "yes" if first[0] > second[0] else "no"}


def of_winners(folder):
    for family in winners.FAMILIES:
        for group in family(folder):
            # zb-auto is ZB-1p, of which the paper has the rates of ZB-H1: its pairs would be those of zb-h1 once more.
            known = [(published, predicted) for name, published, predicted in group.jobs
                     if published and predicted and name != "zb-auto"]
            for a, b in itertools.combinations(known, 2):
                if a[0] != b[0]:
                    yield pair(family.__name__, a, b)


def of_vtrain(folder):
    """Each job with the next one of its group, for the hundreds of pairs of a group say little more."""
    fit = transformer.fitting()
    rows = fit.read_rows([os.path.join(HERE, "vtrain", name) for name in ("multi_node.csv", "single_node.csv")])
    model = fit.Model(transformer.STAGESIM, rows, folder, 2)
    transformer.use_table(model, "A100-SXM4-80GB")
    _, errors = fit.report(model, set())
    groups = collections.defaultdict(list)
    for row, error in zip(rows, errors):
        seconds = fit.measured_seconds(row)
        key = tuple(row[name] for name in ("layers", "hidden", "heads", "sequence", "gpus", "global_batch"))
        groups[key].append((1 / seconds, 1 / (seconds * (1 + error))))
    for jobs in groups.values():
        for a, b in zip(jobs, jobs[1:]):
            if a[0] != b[0]:
                yield pair("vtrain", a, b)


def main():
    quiet, sys.stdout = sys.stdout, io.StringIO()
    with tempfile.TemporaryDirectory() as folder:
        parts = [of_winners, of_vtrain]
        asked = parts if "--update" in sys.argv else parts[2 - len(tool.sampled(parts)):]  # winners.py has the first
        found = [each for part in asked for each in part(folder)]
    sys.stdout = quiet
    if "--update" in sys.argv:
        with open(FILE, "w", newline="") as file:
            file.write("# Two published variants of one job: how many times faster one is predicted than the other, "
                       "and whether it was.\n# Made by test/validation/pairs.py --update, which names the sources.\n")
            writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
            writer.writeheader()
            writer.writerows(found)
        return 0
    with open(FILE) as file:
        known = [row for row in csv.DictReader(line for line in file if not line.startswith("#"))
                 if asked == parts or row["set"] in {each["set"] for each in found}]
    moved = [(a, b) for a, b in zip(known, found) if any(a[key] != b[key] for key in ("set", "changed", "right")) or
             abs(float(a["apart"]) / float(b["apart"]) - 1) > 0.005]
    for before, now in moved[:8]:
        print(f"{before} is now {now}")
    print(f"{len(found)} pairs, {len(moved)} moved{'' if len(known) == len(found) else f', {len(known)} in the file'}")
    return bool(moved) or len(known) != len(found)


if __name__ == "__main__":
    sys.exit(main())
