#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""collective_all.py STAGESIM [--sweep]: `--algorithm all` says of each algorithm what it says when it is asked for
alone, to the digit.

Every preset with 3 nodes and another number from 1 to 16 (where it can have as many), the collectives taking turns;
with --sweep every number and collective. The build's option `samples` leaves presets out."""
import csv
import json
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import tool

KINDS = ["all-reduce", "all-gather", "reduce-scatter", "all-to-all", "broadcast", "reduce"]


def rows(binary, kind, platform, algorithm):
    text = tool.run(binary, "collective", kind, "--platform", platform, "--algorithm", algorithm, "--sizes",
                    "8GiB:8GiB:2", "--format", "csv").stdout
    return list(csv.DictReader(line for line in text.splitlines() if not line.startswith("#")))


def one(check, binary, kind, platform, what):
    together = rows(binary, kind, platform, "all")
    names = {row["algorithm"] for row in together}
    check.that(len(names) > 1 and "auto" in names, f"{what}: only {names}")
    for name in sorted(names):
        of_all = [{key: value for key, value in row.items() if key != "algorithm"} for row in together
                  if row["algorithm"] == name]
        alone = rows(binary, kind, platform, name)
        check.that(of_all == alone and alone, f"{what}, {name}: {of_all} among all, {alone} alone")


def main():
    check, binary, sweep = tool.Checker(), tool.binary_argument(), "--sweep" in sys.argv
    presets = [preset["name"] for preset in json.loads(tool.run(binary, "list", "presets", "--format", "json").stdout)]
    with tempfile.TemporaryDirectory() as temporary:
        platform = pathlib.Path(temporary) / "platform.xml"
        for number, preset in enumerate(presets) if sweep else tool.sampled(enumerate(presets)):
            for turn, nodes in enumerate(range(1, 17) if sweep else (3, 1 + number * 3 % 16)):
                fewer = ["--gpus-per-node", 8] if "-nvl" in preset else []
                made = tool.run(binary, "platform", "generate", preset, "--nodes", nodes, *fewer, "-o", platform,
                                expect=None)
                check.that(made.returncode == 0 or made.returncode == 1 and " try " in made.stderr, made.stderr)
                if made.returncode:
                    continue
                kinds = KINDS if sweep else [KINDS[(number + turn) % len(KINDS)]]
                if json.loads(tool.run(binary, "platform", "show", platform, "--format", "json").stdout)["gpus"] > 1:
                    for kind in kinds:
                        one(check, binary, kind, platform, f"{kind} on {nodes} nodes of {preset}")
    return check.done()


if __name__ == "__main__":
    sys.exit(main())
