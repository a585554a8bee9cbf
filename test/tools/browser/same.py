#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""same.py STAGESIM BUILD: stagesim as WebAssembly (BUILD, made by tools/browser/build) under node against the native
program: exit code, what is printed, messages and every file of every scenario that is shipped, on the analytic engine,
are the same to the byte; so are schedules, lists, the schema and mistakes. What is not there says so.

Left out (exit code 77) where there is no such build or no node."""
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import threading

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "support"))
from tool import ROOT, Checker, sampled

HOME = "/usr/share/stagesim"
# Not asked: what searches for a given time. Not equal: how long it took, and with which libraries.
WITHOUT_FILES = [
    ["schedule", "all", "--workers", "4", "--micro-batches", "8"],
    ["schedule", "best", "--workers", "3", "--micro-batches", "4", "--format", "json"],
    ["schedule", "zb-v", "--workers", "4", "--micro-batches", "8", "--format", "json"],
    ["schedule", "chimera", "--workers", "4", "--micro-batches", "7"],
    ["list", "schedules"], ["list", "models", "--format", "json"], ["list", "presets"], ["list", "platforms"],
    ["schema", "scenario"],
    ["collective", "all-reduce", "--platform", "dgx-h100:2", "--engine", "analytic"],
    ["kernel", "matmul", "--gpu", "H100", "-m", "8192", "-n", "8192", "-k", "8192"],
    ["platform", "show", "dgx-h100:4", "--format", "json"],
    ["check", "scenarios/llama3-70b.yaml"],
    ["check", "scenarios/llama3-70b.yaml", "--set", "parallel.tensor=7", "--set", "bach=3"],
    ["run", "scenarios/llama3-70b.yaml", "--engine", "analytic", "--set", "batch.micro=8"],
    ["run", "scenarios/none.yaml"], ["rum"], ["--help"], ["compare", "scenarios/demo.yaml", "--engine", "analytic",
                                                         "--schedules", "all"],
]
ABSENT = {
    ("run", "scenarios/demo.yaml"): "SimGrid",
    ("run", "scenarios/demo.yaml", "--engine", "analytic", "--picture", "svg", "-o", "out"): "cairo",
    ("schedule", "1f1b", "--workers", "2", "--micro-batches", "4", "-o", "a.svg"): "cairo",
    ("platform", "import"): "hwloc",
    ("layouts", "scenarios/gpt-7.5b.yaml"): "SimGrid",
    ("serve", "--stdio"): "processes",
}
check = Checker()


def scenarios():
    return [f"{folder}/{path.name}" for folder in ("scenarios", "scenarios/papers")
            for path in sorted((ROOT / folder).glob("*.yaml"))]


def files_of(folder):
    """Without what a run took, the libraries it ran with, and the folders of what it read."""
    found = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path.name != "about.json":
            data = path.read_bytes()
            if path.name == "summary.json":
                data = re.sub(rb'"simulation": *\{[^}]*\}', b"", data)
            if path.name == "scenario.yaml":
                data = re.sub(rb'[^ :"\[]*/([^/ ]+\.(?:yaml|xml|csv)\b)', rb"\1", data)
            found[str(path.relative_to(folder))] = data
    return found


def ask_both(binary, build, folder, cases):
    """Answers of both to (words, out); native ones run in a folder that looks like that of the other."""
    for name, source in {"scenarios": "scenarios", "platforms": "platforms"}.items():
        (folder / name).symlink_to(ROOT / source)
    asked = "".join(json.dumps({"words": words, "out": out, "home": HOME, "to": str(folder / "wasm" / (out or "none"))})
                    + "\n" for words, out in cases)
    node = subprocess.Popen(["node", pathlib.Path(__file__).parent / "run.js", build], stdin=subprocess.PIPE,
                            stdout=subprocess.PIPE, text=True)
    native = []

    def write():
        node.stdin.write(asked)
        node.stdin.close()

    threading.Thread(target=write).start()
    for words, _ in cases:
        native.append(subprocess.run([binary, *words], cwd=folder, capture_output=True, text=True,
                                     stdin=subprocess.DEVNULL))
    return native, [json.loads(line) for line in node.stdout]


def compare(words, native, wasm):
    what = " ".join(words)
    check.that(wasm["code"] == native.returncode, f"{what}: code {wasm['code']}, not {native.returncode}")
    for name, ours, theirs in (("prints", wasm["output"], native.stdout), ("says", wasm["messages"], native.stderr)):
        if ours != theirs:
            pairs = [(a, b) for a, b in zip(ours.splitlines() + ["(end)"], theirs.splitlines() + ["(end)"]) if a != b]
            check.that(False, f"{what}: {name} {pairs[:1]}")
        else:
            check.that(True, what)


def main():
    binary, build = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2])
    if not (build / "tools/browser/stagesim.wasm").exists() or not shutil.which("node"):
        print("skipped: tools/browser/build has not been run (it needs Debian's emscripten), or there is no node")
        return 77
    runs = [(["run", name, "--engine", "analytic", "-o", out, "--trace", "csv"], out)
            for name in sampled(scenarios()) for out in [name.removesuffix(".yaml").replace("/", "-")]]
    plain = [(words, None) for words in WITHOUT_FILES]
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        native, wasm = ask_both(binary, build, folder, runs + plain)
        check.that(len(wasm) == len(native), f"{len(wasm)} answers")
        for (words, out), ours, theirs in zip(runs + plain, wasm, native):
            compare(words, theirs, ours)
            if not out:
                continue
            there = files_of(folder / out) if (folder / out).exists() else {}
            here = files_of(folder / "wasm" / out) if (folder / "wasm" / out).exists() else {}
            differ = sorted(name for name in there.keys() | here.keys() if there.get(name) != here.get(name))
            check.that(not differ, f"{out}: {differ} differ")
            check.that("summary.json" in there or theirs.returncode, f"{out}: nothing was written")
        done = subprocess.run(["node", pathlib.Path(__file__).parent / "run.js", build], text=True, capture_output=True,
                              input="".join(json.dumps({"words": words, "home": HOME}) + "\n" for words in ABSENT))
        for (words, reason), line in zip(ABSENT.items(), done.stdout.splitlines()):
            answer = json.loads(line)
            check.that(answer["code"] != 0 and reason in answer["messages"], f"{words}: {answer}")
    return check.done()


if __name__ == "__main__":
    sys.exit(main())
