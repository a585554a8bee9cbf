#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""room.py STAGESIM: jobs that are larger than the memory there is end with a message, at once where that can be
foreseen, and leave nothing behind. The limit stands for a small machine."""
import pathlib
import resource
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import tool

MEBI = 1 << 20


def refused(check, binary, folder, mebibytes, expect, said, *arguments):
    def limit():
        resource.setrlimit(resource.RLIMIT_DATA, (mebibytes * MEBI, mebibytes * MEBI))

    before = sorted(folder.rglob("*"))
    result = tool.run(binary, *arguments, cwd=folder, expect=expect, preexec_fn=limit)
    check.that(said in " ".join(result.stderr.split()) and result.stdout == "",
               f"{arguments}: {result.stdout}{result.stderr!r}, expected {said!r}")
    check.that(sorted(folder.rglob("*")) == before, f"{arguments}: left something behind")


def main():
    check, binary = tool.Checker(), tool.binary_argument()
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        tool.write_mesh(folder / "platform.xml", 64)
        tool.write_scenario(folder / "long.yaml", "platform.xml", "1f1b", 64, 40000)
        tool.write_scenario(folder / "wide.yaml", "platform.xml", "1f1b", 16, 60000, data=4, more="fold: off\n")
        refused(check, binary, folder, 256, 1, "of memory; there are", "check", "long.yaml")
        refused(check, binary, folder, 256, 1, "of memory; there are", "run", "long.yaml", "-o", "out", "--engine",
                "analytic")
        refused(check, binary, folder, 512, 3, "out of memory", "run", "wide.yaml", "-o", "out", "--engine", "analytic",
                "--quiet")
        refused(check, binary, folder, 100, 3, "out of memory", "schedule", "zb-v", "--workers", "256",
                "--micro-batches", "2048", "-o", "out")
        refused(check, binary, folder, 64, 3, "no memory for so many ranks", "run", "wide.yaml", "-o", "out", "--set",
                "batch.micro_batches=4", "--set", "simgrid={contexts/stack-size: 8192}")
    return check.done()


if __name__ == "__main__":
    sys.exit(main())
