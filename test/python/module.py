#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""module.py STAGESIM: the Python module against the program itself.

Each function's figures are those that the program prints for the same words; dicts, nested values, paths seen from the
current folder, texts with blanks; errors with the program's message and code; tables with and without pandas (a
stand-in, where there is none); where the program is found, in a source tree and as installed; the example, whose cells
print what they should."""
import csv
import gc
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import types
import unittest.mock

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from tool import Checker, run, summary

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python"))
sys.dont_write_bytecode = True
import stagesim

DEMO = ROOT / "scenarios/demo.yaml"
JOB = {
    "platform": "ring.xml",
    "workload": "stages",
    "stages": {"forward": ["10ms", "10ms", "12ms", "10ms"], "backward": "20ms", "message": "4MiB"},
    "parallel": {"pipeline": 4, "data": 2},
    "batch": {"micro_batches": 8},
    "schedule": "1f1b",
}
check = Checker()


def figures(found):
    return {key: value for key, value in found.items() if key not in ("simulation", "scenario")}


def runs(binary, folder):
    found = stagesim.run(DEMO, schedule="chimera", batch={"global": 1024})
    expected = summary(binary, DEMO, folder / "out", "--schedule", "chimera", "--set", "batch.global=1024")
    check.that(figures(found) == figures(expected), "run and `stagesim run` differ")
    check.that(found.time.iteration_s == expected["time"]["iteration_s"] == found["time"]["iteration_s"], "attributes")
    same = stagesim.run(str(DEMO), schedule={"name": "chimera"}, batch__global=1024, engine="simgrid")
    check.that(figures(same) == figures(found), "a dict, and two underscores")
    check.that("global: 1024" in found.resolved and "name: chimera" in found.resolved, "resolved")
    kept = found.folder
    del found
    gc.collect()
    check.that(not kept.exists(), "the temporary directory stays behind")
    traced = stagesim.run(DEMO, out=folder / "kept", trace=["csv", "paje"], picture="svg", report=True)
    with open(folder / "kept/operations.csv") as file:
        lines = list(csv.DictReader(file))
    rows = traced.rows("operations")
    check.that(len(rows) == len(lines) and all(row.end_s == float(line["end_s"]) and row.kind == line["kind"]
                                               for row, line in zip(rows, lines)), "operations")
    check.that(traced._repr_html_().lstrip().startswith("<"), "the picture")
    check.that((folder / "kept/report.html").exists() and (folder / "kept/timeline.paje").exists(), "files")


def dicts(binary, folder):
    shutil.copy(ROOT / "platforms/ring-8.xml", folder / "ring.xml")
    (folder / "job.yaml").write_text(json.dumps(JOB))
    expected = summary(binary, "job.yaml", "out", "--set", "name=scenario", cwd=folder)
    os.chdir(folder)
    found = stagesim.run(JOB)
    check.that(figures(found) == figures(expected), "a dict and a file differ")
    named = stagesim.run({**JOB, "name": "a: b, 'c'"}, what_if=["*.latency=2", "gpu-1=0.5"],
                         stages={"backward": "25ms"})
    check.that(named.scenario.name == "a: b, 'c'", named.scenario.name)
    expected = summary(binary, "job.yaml", "out", "--scale", "*.latency=2", "--scale", "gpu-1=0.5", "--set",
                       "stages.backward=25ms", cwd=folder)
    check.that(named.time == expected["time"], "what_if")


def tables(binary):
    rows = stagesim.compare(DEMO, schedules=["gpipe", "1f1b", "chimera"], what_if=["as is", "slow: gpu-1=0.5"])
    printed = json.loads(run(binary, "compare", DEMO, "--schedules", "gpipe,1f1b,chimera", "--what-if", "as is",
                             "--what-if", "slow: gpu-1=0.5", "--format", "json", "--quiet").stdout)
    check.that(rows == printed and len(rows) == 6, "compare")
    check.that(rows.best().iteration_s == min(row["iteration_s"] for row in printed), "best")
    both = stagesim.compare([DEMO, ROOT / "scenarios/gpt-7.5b.yaml"], engine="analytic")
    check.that([row.scenario for row in both] == ["demo", "gpt-7.5b"], both)
    swept = stagesim.sweep(DEMO, {"batch.global": [512, 1024], "stages.message": ["1MiB", "2MiB"]},
                           schedules="gpipe", engine="analytic", jobs=1)
    printed = json.loads(run(binary, "sweep", DEMO, "--set", "batch.global=512,1024", "--set",
                             "stages.message=1MiB,2MiB", "--schedules", "gpipe", "--engine", "analytic", "--quiet",
                             "--format", "json").stdout)
    check.that(swept == printed and len(swept) == 4, "sweep")
    check.that(swept[3].set["batch.global"] == "1024", swept[3])
    ranged = stagesim.sweep(DEMO, {"batch.global": "512:2048:x2"}, engine="analytic")
    check.that([row.set["batch.global"] for row in ranged] == ["512", "1024", "2048"], ranged)
    frames(swept)


def frames(rows):
    """pandas is asked for a frame of the rows, where it is there; the list is there anyway."""
    real = sys.modules.get("pandas")
    sys.modules["pandas"] = types.SimpleNamespace(json_normalize=lambda rows: ("frame", rows))
    kind, given = rows.frame
    check.that(kind == "frame" and given == list(rows), "the frame")
    del sys.modules["pandas"]
    try:
        import pandas
        check.that(list(rows.frame["set.batch.global"]) == [row.set["batch.global"] for row in rows], "pandas")
    except ImportError:
        pass
    if real:
        sys.modules["pandas"] = real


def others(binary):
    found = stagesim.schedule("interleaved", 4, 8, option={"chunks": 2}, forward=[1, 1, 1, 2], latency=0.5)
    printed = json.loads(run(binary, "schedule", "interleaved", "--workers", "4", "--micro-batches", "8", "--option",
                             "chunks=2", "--forward", "1,1,1,2", "--latency", "0.5", "--format", "json").stdout)
    check.that(found == printed and found.bubble.ratio > 0, "schedule")
    space = {"micro": [1, 2], "tensor": [8], "schedules": ["1f1b"]}
    found = stagesim.search(ROOT / "scenarios/gpt-7.5b.yaml", space=space, top=1, engine="analytic")
    words = ["--set", "search.micro=[1, 2]", "--set", "search.tensor=[8]", "--set", "search.schedules=[1f1b]"]
    printed = json.loads(run(binary, "search", ROOT / "scenarios/gpt-7.5b.yaml", *words, "--top", "1", "--engine",
                             "analytic", "--format", "json", "--quiet").stdout)
    check.that(found.best == printed["best"] and found.best[0].rank == 1, "search")


def refused(call, code, *texts):
    try:
        call()
    except stagesim.Error as error:
        check.that(error.code == code and all(text in str(error) for text in texts), f"{error.code}: {error}")
    else:
        check.that(False, f"nothing is refused: {texts}")


def mistakes():
    refused(lambda: stagesim.run(DEMO, schedule="gpipee"), 1, "no schedule 'gpipee'; did you mean 'gpipe'?")
    refused(lambda: stagesim.run({**JOB, "stages": {"forwrd": "1s"}}), 1, "did you mean 'forward'?")
    refused(lambda: stagesim.run("nowhere.yaml"), 1, "nowhere.yaml")
    refused(lambda: stagesim.sweep(DEMO), 1, "nothing varies")
    refused(lambda: stagesim.schedule("1f1b"), 2, "--workers")
    try:
        stagesim.run(DEMO).bubbles
    except AttributeError as error:
        check.that("bubble" in str(error), str(error))
    else:
        check.that(False, "an attribute that is not there")


def places(binary, folder):
    """Where the program is found."""
    (folder / "usr/bin").mkdir(parents=True)
    (folder / "usr/share/stagesim/python").mkdir(parents=True)
    shutil.copy(ROOT / "python/stagesim.py", folder / "usr/share/stagesim/python")
    os.symlink(binary, folder / "usr/bin/stagesim")
    words = [sys.executable, "-B", "-c", "import stagesim; print(stagesim.binary())"]

    def found(path, **environment):
        return subprocess.run(words, env={"PYTHONPATH": str(path), **environment}, capture_output=True, text=True,
                              cwd=folder)

    installed = folder / "usr/share/stagesim/python"
    check.that(found(installed, PATH="").stdout.strip() == str(folder / "usr/bin/stagesim"), "as installed")
    check.that(found(installed, PATH="", STAGESIM=binary).stdout.strip() == binary, "$STAGESIM")
    os.unlink(folder / "usr/bin/stagesim")
    check.that(found(installed, PATH=str(pathlib.Path(binary).parent)).stdout.strip() == binary, "in the PATH")
    check.that("was not found" in found(installed, PATH="").stderr, "nowhere")


def example(binary):
    result = subprocess.run([sys.executable, "-B", str(ROOT / "examples/python/schedules.py")], capture_output=True,
                            text=True, env={**os.environ, "STAGESIM": binary, "PYTHONPATH": str(ROOT / "python"),
                                            "STAGESIM_PLATFORMS": str(ROOT / "platforms")})
    check.that(result.returncode == 0, result.stderr)
    for shown in ("best: zb-h1", "32 gpipe", "closed form 0.2727, stagesim 0.2727", "did you mean 'gpipe'?"):
        check.that(shown in result.stdout, f"the example does not show {shown}:\n{result.stdout}")


def main():
    binary = os.environ["STAGESIM"] = str(pathlib.Path(sys.argv[1]).resolve())
    check.that(stagesim.binary() == binary, "$STAGESIM")
    with unittest.mock.patch.object(stagesim, "__file__", "/stagesim.py"):
        check.that(stagesim.binary() == binary, "a module in the root directory")
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary).resolve()
        runs(binary, folder)
        dicts(binary, folder)
        tables(binary)
        others(binary)
        mistakes()
        places(binary, folder)
        example(binary)
        os.chdir(ROOT)
    return check.done()


if __name__ == "__main__":
    sys.exit(main())
