#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""blocks.py STAGESIM BUILD: the manual's console blocks in the playground. Every block that opens there as commands
prints what the native program prints for the same lines in a shell, to the byte; no block that stays closed for want
of SimGrid, cairo or files would have run there. BUILD is what tools/browser/build made.

Left out (exit code 77) where there is no such build or no node."""
import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import threading

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "support"))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "tools/html"))
import blocks  # noqa: E402
from tool import ROOT, Checker, sampled  # noqa: E402

check = Checker()
HERE = pathlib.Path(__file__).resolve().parent
# What slow machines say, and what a run says where it has time to search: not in the page.
CALM = re.compile(r"^stagesim: .* s so far.*\n|^nearest better .*\n.*\n", re.M)


class Page:
    """What runs blocks as the page does, one after the other: a node, and another one after a block without an end."""

    def __init__(self, build):
        self.build, self.lock = build, threading.Lock()
        self.start()

    def start(self):
        self.node = subprocess.Popen(["node", HERE / "blocks.js", self.build], stdin=subprocess.PIPE,
                                     stdout=subprocess.PIPE, text=True)

    def run(self, lines, files):
        """(text, whether all ran) of a block."""
        with self.lock:
            timer = threading.Timer(100, self.node.kill)
            timer.start()
            self.node.stdin.write(json.dumps({"lines": lines, "files": files}) + "\n")
            self.node.stdin.flush()
            line = self.node.stdout.readline()
            timer.cancel()
            if not line:
                self.end()
                self.start()
                return "it takes too long", False
        answer = json.loads(line)
        return "".join(each["text"] for each in answer["done"]) + answer["error"], not answer["error"]

    def end(self):
        self.node.communicate()


def in_shell(binary, lines, files):
    """What the native program prints for it."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        for name in ("scenarios", "platforms"):
            shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("hardware", "*.c", "*.h"))
        (folder / "stagesim").symlink_to(binary)
        for name, text in files.items():
            (folder / name).write_text(text)
        environment = {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}", "LC_ALL": "C"}
        text = ""
        for line in lines:
            done = subprocess.run(["sh", "-c", line], cwd=folder, env=environment, capture_output=True, text=True,
                                  stdin=subprocess.DEVNULL, timeout=100)
            text += CALM.sub("", done.stderr) + CALM.sub("", done.stdout)
        return text


def main():
    binary, build = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
    if not (build / "tools/browser/stagesim.wasm").exists() or not shutil.which("node"):
        print("skipped: tools/browser/build has not been run (it needs emscripten and npm), or there is no node")
        return 77
    opened, closed = [], []
    for page in sorted((ROOT / "doc").glob("*.md")):
        files = {}
        for block in blocks.console_blocks(page.read_text(encoding="utf-8")):
            if blocks.editor_link(blocks.pieces(block)[0][0]) and len(blocks.pieces(block)) == 1:
                continue
            lines, used = blocks.lines_of(block, files)
            reason = blocks.absent(block, files)
            if reason != "no command of stagesim":
                (closed if reason else opened).append((page.name, lines, used, reason))
    tried = sampled(opened)

    node = Page(build)
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        def in_page(case):
            return node.run(*case[1:3])

        def both(case):
            return in_page(case), in_shell(binary, *case[1:3])

        for (page, lines, _, _), ((text, ran), expected) in zip(tried, pool.map(both, tried)):
            check.that(ran and text == expected, f"{page}: `{lines[0]}` says {text[:300]!r}, not {expected[:300]!r}")
        for (page, lines, _, reason), (text, ran) in zip(closed, pool.map(in_page, closed)):
            trouble = not ran or re.search(r"SimGrid|No such file|is not there|has no |cannot read|without cairo", text)
            trouble = trouble or reason == "processes"  # serve refuses a request here with the same words
            check.that("Aborted" not in text, f"{page}: `{lines[0]}` says {text[-200:]}")
            check.that(trouble, f"{page}: `{lines[0]}` is closed ({reason}), and runs in the page")
    node.end()
    print(f"{len(opened)} blocks open as commands, {len(closed)} with commands of stagesim stay closed")
    return check.done()


if __name__ == "__main__":
    sys.exit(main())
