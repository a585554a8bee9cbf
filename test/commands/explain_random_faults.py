#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""explain_random_faults.py STAGESIM: faults drawn at random, in jobs drawn at random (test/support/random_faults.py),
are found: 95 % of the cost of each is in the part that it is, and the words name it. Sizes other than the
scenario's are told apart from contention, and the step with a network of its own for each transfer is a replay's."""
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import faulty_traces
import random_faults
import tool

# One of each schedule.
JOBS = range(100, 105)


def network_alone(folder, path):
    """The faulty run replayed with transfers of the run without a fault: nothing else was under way there."""
    plain, faulty = (faulty_traces.Job(file) for file in (folder / "run/operations.csv", path))
    for key, one in faulty.operations.items():
        if one.type != "compute":
            one.seconds = plain.operations[key].seconds
    return faulty.replay()


def main():
    check, binary = tool.Checker(), tool.binary_argument()
    with tempfile.TemporaryDirectory() as scratch:
        for number in JOBS:
            folder = pathlib.Path(scratch) / str(number)
            for name, path, cost, step, parts, who in random_faults.faults(binary, folder, number):
                found = random_faults.explain(binary, folder, path)
                share, elsewhere, named = random_faults.judge(found, cost, parts, who)
                what = f"job {number}, {name}"
                check.near(found["measured_s"], step, f"{what}: the step", 1e-9)
                check.that(abs(share - 1) <= 0.05, f"{what}: {share} of its cost in {parts}, {elsewhere} elsewhere")
                check.that(named, f"{what}: {found['parts']} do not name {who}")
                if name in ("slow link", "another job"):
                    check.near(found["network_alone_s"], network_alone(folder, path), f"{what}: network alone", 1e-9)
    return check.done()


if __name__ == "__main__":
    sys.exit(main())
