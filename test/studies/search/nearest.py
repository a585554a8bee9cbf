#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""nearest.py STAGESIM: how far a layout is from the best. The best is that of `search --exhaustive`, its command runs
it in that time, and the page says so; the same bytes again; a large space is looked at in part; --quiet and the key
leave it out; runs of a comparison have one best."""
import json
import pathlib
import re
import shlex
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "support"))
from tool import Checker, binary_argument, run, sampled

JOB = """platform: dgx-h100:1
workload: transformer
model: {layers: 8, hidden: 2048, heads: 16, sequence: 2048, vocabulary: 32000}
parallel: {tensor: 2, pipeline: 2, data: 2}
order: [tensor, data, pipeline]
batch: {global: 32, micro: 1}
transformer: {zero: 1}
schedule: gpipe
engine: analytic
"""
check = Checker()


def summary(folder, name):
    return json.loads((folder / name / "summary.json").read_text())


def part_of(call, folder):
    """A large space is looked at in part."""
    large = ["run", "a job.yaml", "--set", "output.nearest=on", "--quiet", "--set",
             "search={schedules: all, overlap: [true, false], micro: [1, 2, 4, 8], chunks: [2, 4]}"]
    call(*large, "-o", "part")
    part = summary(folder, "part")["nearest"]
    check.that(100 < part["layouts"] < part["of"] / 10 and part["best_s"] > 0, f"part of a large space: {part}")


def main():
    stagesim = binary_argument()
    with tempfile.TemporaryDirectory() as directory:
        folder = pathlib.Path(directory)
        folder.joinpath("a job.yaml").write_text(JOB)

        def call(*words):
            return run(stagesim, *words, cwd=folder)

        printed = call("run", "a job.yaml", "-o", "out", "--report").stdout
        near = summary(folder, "out")["nearest"]
        found = json.loads(call("search", "a job.yaml", "--exhaustive", "--quiet", "--top", "1", "--format",
                                "json").stdout)
        check.that(near["best_s"] == found["best"][0]["iteration_s"], f"{near} {found['best'][0]}")
        check.that(near["layouts"] == near["of"] == found["candidates"], f"{near} {found}")
        check.that(near["own_s"] == summary(folder, "out")["time"]["iteration_s"], near)
        check.near(near["distance"], near["own_s"] / near["best_s"] - 1, "distance", 1e-12)
        words = shlex.split(near["command"])
        check.that(words[:3] == ["stagesim", "run", "a job.yaml"], words)
        call(*words[1:], "-o", "best", "--quiet")
        check.near(summary(folder, "best")["time"]["iteration_s"], near["best_s"], "the command's time", 1e-9)
        said = f"from the best of {near['layouts']:,} layouts, {near['layout']}"
        page = (folder / "out/report.html").read_text()
        check.that(said in printed and near["command"] in printed, printed)
        check.that(said in page, "the page says it")
        call("run", "a job.yaml", "-o", "again", "--report")
        same = [re.sub(r"-o (out|again)", "", (folder / name / "report.html").read_text()) for name in ("out", "again")]
        check.that(same[0] == same[1], "the same page again")
        for words in (["--report", "--quiet"], ["--report", "--set", "output.nearest=off"], []):
            call("run", "a job.yaml", "-o", "none", *words)
            check.that("nearest" not in summary(folder, "none"), f"not with {words}")
        call("run", "a job.yaml", "-o", "best", "--quiet", "--set", "output.nearest=on",
             *shlex.split(near["command"])[3:])
        check.that(summary(folder, "best")["nearest"]["distance"] == 0, "the best is 0 % from the best")
        for part in sampled((None, part_of)):
            if part:
                part(call, folder)
        call("compare", "a job.yaml", "--schedules", "1f1b,gpipe", "--report", "-o", "both")
        page = (folder / "both/report.html").read_text()
        check.that(page.count("layouts, ") == 2 and page.count("It is run by") == 1, "a line for each, and one command")
    return check.done()


if __name__ == "__main__":
    sys.exit(main())
