#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""clouds STAGESIM: collectives of two nodes over clouds' own networks beside the presets: p5.48xlarge over EFA, A3 High
over GPUDirect-TCPX. A few rows of a table gave start-ups; all others, and the rates, are blind. Another site of A3 High
is blind altogether, and slower. Of two p6-b200 the smallest sizes are known, and given."""
import csv
import pathlib
import statistics
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import tool  # noqa: E402

STAGESIM, CHECK = tool.binary_argument(), tool.Checker()
TABLES = pathlib.Path(__file__).with_name("clouds")
MIB = 2**20
# table, collective, preset, rows that gave values, then for ranges of sizes the most that kept rows are off on the mean
CASES = (("h100x16_2node_p5_efa_allreduce", "all-reduce", "aws-p5:2", (8, 16384, MIB, 64 * MIB),
          ((0, MIB, 0.25), (MIB, 64 * MIB, 0.15), (64 * MIB, 2**40, 0.1))),
         ("h100x16_2node_a3high_tcpx_allgather", "all-gather", "gcp-a3-high:2", (MIB, 8 * MIB, 64 * MIB),
          ((MIB, 2**40, 0.15),)),
         ("h100x16_2node_a3high_toolkit_tcpx_allgather", "all-gather", "gcp-a3-high:2", (), ((MIB, 2**40, 0.5),)))


def rows(text):
    return {int(float(row["size_bytes"])): float(row["time_us"])
            for row in csv.DictReader(line for line in text.splitlines() if not line.startswith("#"))}


def predicted(collective, platform, least, most):
    return rows(tool.run(STAGESIM, "collective", collective, "--platform", platform, "--sizes", f"{least}B:{most}B:2",
                         "--format", "csv").stdout)


def main():
    for name, collective, platform, given, ranges in CASES:
        measured = rows((TABLES / f"{name}.csv").read_text())
        found = predicted(collective, platform, min(measured), max(measured))
        for least, most, limit in ranges:
            kept = [found[size] / time - 1 for size, time in measured.items()
                    if least <= size < most and size not in given]
            mean = statistics.mean(map(abs, kept))
            print(f"{name} from {least} B on: {len(kept)} rows kept, {mean:.1%}, {statistics.mean(kept):+.1%}")
            CHECK.that(mean <= limit, f"{name} from {least} B on: {mean:.1%}, limit {limit:.0%}")
    small = predicted("all-reduce", "aws-p6-b200:2", 8, 256)
    for time, (size, found) in zip((50.58, 54.55, 54.59, 55.60, 56.27, 57.14), sorted(small.items())):
        CHECK.that(abs(found / time - 1) <= 0.15, f"2 p6-b200, {size} bytes: {found} us, measured {time}")
    return CHECK.done()


sys.exit(main())
