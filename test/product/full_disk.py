#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""full_disk.py STAGESIM: a disk that is full is named as what it is, with the file that had no room, by every command
that writes: texts, pictures, pages, compressed traces, journals. The process's limit on the size of files stands for
the disk, so that no file system has to be made."""
import pathlib
import re
import resource
import signal
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import tool

ROOM, SHARED = 4096, 240000  # bytes of a file; of the memory that processes of a search share, and no more


def limit(room):
    def set_limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
        resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))
    return set_limit


def main():
    check, binary = tool.Checker(), tool.binary_argument()
    scenarios = tool.ROOT / "scenarios"
    demo, gpt = scenarios / "demo.yaml", scenarios / "gpt-7.5b.yaml"
    commands = [["run", demo, "--picture", form] for form in ("svg", "png", "pdf")]
    commands += [["run", demo, "--trace", form] for form in
                 ("csv", "paje", "chrome", "chrome-gz", "perfetto", "chakra", "goal")]
    commands += [["run", scenarios / name, *options] for name in ("demo.yaml", "queue.yaml", "idle-nodes.yaml")
                 for options in (["--report"], ["--picture", "svg"])]
    commands += [["compare", demo, "--schedules", "gpipe,1f1b", "--report"],
                 ["compare", demo, "--schedules", "gpipe,1f1b", "--picture", "png"],
                 ["sweep", demo, "--set", "batch.micro=1,2,4", "--picture", "svg"],
                 ["search", gpt, "--set", "search.schedules=1f1b", "--top", "2", "--quiet"],
                 ["schedule", "1f1b", "--workers", "8", "--micro-batches", "64"]]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for command in commands:
            out = "out.svg" if command[0] == "schedule" else "out"
            done = subprocess.run([binary, *map(str, command), "-o", out], cwd=folder, capture_output=True, text=True,
                                  preexec_fn=limit(SHARED if command[0] == "search" else ROOM), timeout=300)
            named = re.search(rf"^stagesim[ a-z]*: {re.escape(out)}[/.]?\S*: (cannot be written: )?"
                              r"(File too large|No space left on device)$",
                              done.stderr, re.MULTILINE)
            check.that(done.returncode == 3 and named, f"{command}: {done.returncode} {done.stderr!r}")
            left = sorted(path.name for path in folder.rglob("*") if not path.name.endswith(".journal"))
            check.that(not left, f"{command}: left {left}")
            for path in folder.glob("*.journal"):
                path.unlink()
        done = subprocess.run([binary, "import", "--shim", "shim"], cwd=folder, capture_output=True, text=True,
                              preexec_fn=limit(0))
        full = done.returncode == 3 and "File too large" in done.stderr
        check.that(full, f"--shim: {done.returncode} {done.stderr!r}")
        check.that(not (folder / "shim").exists(), "--shim left a folder")
    return check.done()


if __name__ == "__main__":
    sys.exit(main())
