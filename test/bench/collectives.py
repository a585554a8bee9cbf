#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How fast collectives are simulated on SimGrid: one ring all-reduce over more and more ranks, and a thousand
all-reduces of 8.

usage: collectives.py STAGESIM [--limits]

Prints processor seconds, the better of two: of one all-reduce with loading the platform, and of each further one, from
sixteen in a row. With --limits it fails above 10 s for 16,384 ranks and above 1 s for a thousand of 8 ranks, both with
loading, and where four times the ranks take more than six times as long."""
import os
import subprocess
import sys
import tempfile

STAGESIM = os.path.abspath(sys.argv[1])
NODES = (128, 512, 2048)


def processor(*command):
    """The lesser of two, in seconds."""
    best = float("inf")
    for _ in range(2):
        before = os.times()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        after = os.times()
        best = min(best, after.children_user + after.children_system - before.children_user - before.children_system)
    return best


def all_reduce(platform, ranks, sizes):
    return processor(STAGESIM, "collective", "all-reduce", "--platform", platform, "--ranks", str(ranks), "--algorithm",
                     "ring", "--sizes", sizes)


def main():
    wrong, beyond = False, []
    with tempfile.TemporaryDirectory() as folder:
        platform = os.path.join(folder, "platform.xml")
        print("| ring all-reduce over | flows | one, with loading | each further one | microseconds per rank |\n"
              "|---|---|---|---|---|")
        for nodes in NODES:
            subprocess.run([STAGESIM, "platform", "generate", "dgx-h100", "--nodes", str(nodes), "-o", platform],
                           check=True)
            whole, more = (all_reduce(platform, 8 * nodes, sizes) for sizes in ("1GiB:1GiB:2", "1GiB:32TiB:2"))
            beyond.append(max(more - whole, 1e-3) / 15)
            print(f"| {8 * nodes:,} ranks | {16 * nodes + 1:,} | {whole:.2f} s | {beyond[-1]:.3f} s | "
                  f"{beyond[-1] / nodes / 8 * 1e6:.0f} |")
            wrong |= whole > 10
        subprocess.run([STAGESIM, "platform", "generate", "dgx-h100", "--nodes", "1", "-o", platform], check=True)
        thousand = all_reduce(platform, 8, "1KiB:20MiB:1.01")
        print(f"\n1,000 ring all-reduces of 8 ranks, 1 KiB to 20 MiB: {thousand:.2f} s of processor time")
        wrong |= thousand > 1 or beyond[-1] > 6 * beyond[-2]
    return wrong and "--limits" in sys.argv


sys.exit(main())
