#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""iterations.py STAGESIM: the shortest and the longest of several iterations, and T, again from operations.csv, for
random jobs on both engines; a run says where one is not like the next, and only there."""
import pathlib
import random
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "support"))
import tool

from unlike import STAGES, lengths_of, random_job, write_changing


def main():
    stagesim, check, source, differ = tool.binary_argument(), tool.Checker(), random.Random(5), 0
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        write_changing(folder, "0 1.0\n0.4 0.5\n")  # in the midst of the third iteration
        jobs = [STAGES + "iterations: 5\n"]
        for _ in range(16):
            jobs.append(random_job(source) + f"engine: {source.choice(['simgrid', 'analytic'])}\n"
                        f"iterations: {source.choice([4, 5, 6])}\n")
        for job in jobs:
            (folder / "job.yaml").write_text(job)
            text = tool.run(stagesim, "run", "job.yaml", "-o", "out", "--trace", "csv", cwd=folder).stdout
            time = tool.json.loads((folder / "out/summary.json").read_text())["time"]
            lengths = lengths_of(folder / "out/operations.csv", 1)
            check.near(time["iteration_s"], sum(lengths) / len(lengths), f"{job} T")
            check.near(time["shortest_iteration_s"], min(lengths), f"{job} shortest")
            check.near(time["longest_iteration_s"], max(lengths), f"{job} longest")
            unlike = max(lengths) - min(lengths) > 1e-6 * time["iteration_s"]
            differ += unlike
            check.that(unlike == ("one is not like the next" in text), f"{job}{lengths}\n{text}")
    check.that(0 < differ < 17, f"{differ} of 17 jobs have iterations that differ")
    return check.done()


if __name__ == "__main__":
    sys.exit(main())
