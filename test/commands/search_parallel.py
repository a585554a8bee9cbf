#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The commands of doc/search.md for several machines, as they stand there, under GNU parallel: two nodes that ssh, a
script here, reaches. What comes out is what one process writes, byte for byte. Skipped where parallel is not installed.

usage: search_parallel.py STAGESIM
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import tool

SCENARIO = """platform: dgx-a100-2
workload: transformer
model: {layers: 8, hidden: 4096, heads: 16, sequence: 2048, vocabulary: 32000}
parallel: {data: 2}
batch: {global: 32, micro: 1}
schedule: 1f1b
search: {gpus: 8, zero: [0, 1], micro: [1, 2]}
"""
# What ssh does, without a network: the command goes to a shell of its own in the home directory.
SSH = """#!/bin/sh
echo "$1" >> "$NODES"
shift
[ "$1" = -- ] && shift
cd "$HOME" && exec sh -c "$*"
"""


def commands():
    page = (tool.ROOT / "doc/search.md").read_text()
    block = re.search(r"```sh\n(parallel .*?)```", page, re.DOTALL).group(1)
    lines = block.splitlines()
    assert len(lines) == 3 and lines[2].startswith("stagesim "), lines
    return lines


def is_gnu(parallel):
    return parallel and "GNU parallel" in subprocess.run([parallel, "--version"], capture_output=True,
                                                         text=True).stdout


def main():
    check, binary = tool.Checker(), tool.binary_argument()
    parallel = shutil.which("parallel")
    if not is_gnu(parallel):
        print("skipped: GNU parallel is not installed")
        return 77
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        work = folder / "work"
        (folder / "bin").mkdir()
        work.mkdir()
        (folder / "bin/stagesim").symlink_to(pathlib.Path(binary).resolve())
        (folder / "bin/ssh").write_text(SSH)
        (folder / "bin/ssh").chmod(0o755)
        (work / "s.yaml").write_text(SCENARIO)
        # Without SHELL, parallel takes the shell for what its parent is, here Python, and runs nothing: exit code 0.
        environment = {**os.environ, "SHELL": "/bin/sh", "PATH": f"{folder}/bin:{os.environ['PATH']}",
                       "HOME": str(folder), "NODES": str(folder / "nodes"),
                       "STAGESIM_PLATFORMS": str(tool.ROOT / "platforms"),
                       "STAGESIM_EFFICIENCY": str(tool.ROOT / "workloads/efficiency")}
        run = lambda line: subprocess.run(["sh", "-c", line], cwd=work, env=environment, capture_output=True,
                                          text=True, timeout=250)
        for line in (*commands(), "stagesim search s.yaml -o alone"):
            done = run(line)
            check.that(done.returncode == 0, f"{line}: exit {done.returncode}\n{done.stderr[-2000:]}")
        nodes = set((folder / "nodes").read_text().split())
        check.that(nodes == {"node1", "node2"}, f"nodes that were used: {nodes}")
        for name in ("search.csv", "search.json", "search.svg", "search.html", "best.yaml"):
            one, other = (work / where / name for where in ("found", "alone"))
            check.that(one.exists() and one.read_bytes() == other.read_bytes(), f"{name} differs from one process'")
    return check.done()


if __name__ == "__main__":
    sys.exit(main())
