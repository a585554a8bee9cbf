#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""clouds STAGESIM: an all-reduce of two p5.48xlarge over EFA beside the preset. Four of its rows gave start-ups; rates
are blind, as are all other rows. Of two p6-b200 the smallest sizes are known, and given."""
import csv
import pathlib
import statistics
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import tool  # noqa: E402

STAGESIM, CHECK = tool.binary_argument(), tool.Checker()
TABLE = pathlib.Path(__file__).with_name("clouds") / "h100x16_2node_p5_efa_allreduce.csv"
GIVEN = (8, 16384, 1048576, 67108864)


def rows(text):
    return {int(float(row["size_bytes"])): float(row["time_us"])
            for row in csv.DictReader(line for line in text.splitlines() if not line.startswith("#"))}


def predicted(platform, sizes):
    return rows(tool.run(STAGESIM, "collective", "all-reduce", "--platform", platform, "--sizes", sizes, "--format",
                         "csv").stdout)


def main():
    measured, found = rows(TABLE.read_text()), predicted("aws-p5:2", "8B:16GiB:2")
    errors = {size: found[size] / time - 1 for size, time in measured.items()}
    for name, least, most, limit in (("below 1 MiB", 0, 2**20, 0.25), ("1 to 64 MiB", 2**20, 2**26, 0.15),
                                     ("from 64 MiB on", 2**26, 2**40, 0.1)):
        kept = [error for size, error in errors.items() if least <= size < most and size not in GIVEN]
        mean = statistics.mean(map(abs, kept))
        print(f"2 p5, {name}: {len(kept)} rows kept, {mean:.1%}, {statistics.mean(kept):+.1%}")
        CHECK.that(mean <= limit, f"2 p5, {name}: {mean:.1%}, limit {limit:.0%}")
    small = predicted("aws-p6-b200:2", "8B:256B:2")
    for time, (size, found) in zip((50.58, 54.55, 54.59, 55.60, 56.27, 57.14), sorted(small.items())):
        CHECK.that(abs(found / time - 1) <= 0.15, f"2 p6-b200, {size} bytes: {found} us, measured {time}")
    return CHECK.done()


sys.exit(main())
