#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""idle_report.py STAGESIM: `report` draws page and pictures of idle nodes again, the same to the byte, alone and in a
comparison, and refuses what these are drawn from where it is damaged."""
import json
import math
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "support"))
import tool  # noqa: E402

check = tool.Checker()
DRAWN = ("report.html", "timeline.svg", "timeline.png")
CURVE = {1: 2831, 8: 20379.2, 64: 145081.5}
ENDLESS = {"points": CURVE, "count": 3, "grow": "18s", "shrink": "12s"}
SCENARIOS = {
    # Jobs that end, that wait, that come late and that never begin; names that a page has to escape.
    "many": {"generate": {"nodes": 60, "duration": "9h", "together": 4}, "decide": {"running": 2, "method": [
        "optimal", "greedy", "equal", "first"], "forward": ["30s", "120s"]},
        "jobs": {"<a> & \"b\"": {**ENDLESS, "samples": 4e7, "submit": "1h"}, "late": {**ENDLESS, "submit": "8h"}}},
    # Nothing to do for the first part of a log that is shorter than its slices.
    "short": {"log": "idle.csv", "decide": {"method": "equal", "objective": "speed-up"},
              "jobs": {"x": {**ENDLESS, "count": 70, "submit": "20s", "know": "linear"}}},
    "profiled": {"generate": {"nodes": 30, "duration": "5h"}, "jobs": {"x": {**ENDLESS, "know": "profile"}}},
}


def draw(binary, folder, name):
    (folder / f"{name}.yaml").write_text(json.dumps({"idle_nodes": SCENARIOS[name]}))
    tool.run(binary, "run", f"{name}.yaml", "-o", name, "--report", "--picture", "svg,png", "--quiet", cwd=folder)
    return folder / name


def again(binary, folder):
    """Also where the files that it draws are away. What is kept adds up to what the summary says."""
    for name in SCENARIOS:
        out = draw(binary, folder, name)
        before = {file.name: file.read_bytes() for file in out.iterdir()}
        (out / "report.html").unlink()
        said = tool.run(binary, "report", name, cwd=folder).stdout.split()
        check.that(sorted(said) == sorted(f"{name}/{file}" for file in DRAWN), f"{name}: {said}")
        after = {file.name: file.read_bytes() for file in out.iterdir()}
        check.that(after.keys() == before.keys(), f"{name}: files {sorted(after)}")
        for file in before:
            check.that(after[file] == before[file], f"{name}/{file} is another one")
        kept, summary = json.loads(before["idle.json"]), json.loads(before["summary.json"])
        slice_s = kept["duration"] / len(kept["idle"])
        check.near(sum(kept["idle"]) * slice_s, summary["idle_node_s"], f"{name}: idle nodes", 1e-9)
        for job, figures in zip(kept["jobs"], summary["policies"][0]["jobs"]):
            nodes = sum(sum(run[1:]) for run in job["nodes"])
            check.that(math.isclose(nodes * slice_s, figures["node_s"], rel_tol=1e-9, abs_tol=1e-6),
                       f"{name}, {job['name']}: {nodes * slice_s} node-seconds, not {figures['node_s']}")
    tool.run(binary, "report", "many", "--picture", "pdf", "--quiet", cwd=folder)
    check.that((folder / "many/timeline.pdf").read_bytes().startswith(b"%PDF"), "another format")


def damaged(binary, folder):
    """Each mistake is reported with its place, and nothing is written."""
    out = folder / "many"
    file = out / "idle.json"
    text = file.read_text()
    before = (out / "report.html").read_bytes()
    (out / "report.html").unlink()
    changes = [('"name"', '"title"'), ('"unit"', '"units"'), ('"nodes": 60', '"nodes": 0'),
               ('"nodes": 60', '"nodes": 1e99'), ('"duration": ', '"duration": -'), ('"idle_time": ', '"idle_time": -'),
               ('"ways": [', '"ways": [3, '), ('"decisions": ', '"decisions": 0.5, "y": '),
               ('"work": ', '"works": '), ('"jobs": [', '"jobs": ["a", '), ('"began": ', '"began": -'),
               ('"nodes": [[', '"nodes": [[330, 1, 1, 1, 1, 1, 1, 1], ['), ('"nodes": [[', '"nodes": [[0, 61], ['),
               ('"nodes": [[', '"nodes": [7, ['), ('"spans": [', '"spans": [[6, 0, 1], '),
               ('"spans": [', '"spans": [[0, 2, 1], '), ('"spans": [', '"spans": [[0, 0, 1e9], '),
               ('"spans": [', '"spans": [7, '), ('"idle": [', '"idle": [0, '), ('"idle": [', '"idle": [-1, '),
               ('"reached": [', '"reached": [1e9, '), ('"reached"', '"reach"'), (text[len(text) // 2:], "")]
    for old, new in changes:
        check.that(old in text, f"{old} is there")
        file.write_text(text.replace(old, new, 1))
        said = tool.run(binary, "report", "many", cwd=folder, expect=1).stderr
        check.that(re.search(r"many/idle\.json:\d+:\d+: error: ", said), f"{old} as {new}: {said}")
        check.that(not (out / "report.html").exists(), f"{old} as {new}: something was written")
    file.write_text(text)
    tool.run(binary, "report", "many", "--quiet", cwd=folder)
    check.that((out / "report.html").read_bytes() == before, "whole again")


def compared(binary, folder):
    """A comparison is drawn again as it was, with each of its scenarios; and a smaller one takes its place."""
    tool.run(binary, "compare", *(f"{name}.yaml" for name in SCENARIOS), "-o", "all", "--report", "--picture",
             "svg,png", "--quiet", cwd=folder)
    drawn = {path: path.read_bytes() for path in (folder / "all").rglob("*.*")
             if path.suffix in (".html", ".svg", ".png")}
    check.that(len(drawn) == 3 * 4, f"{sorted(drawn)}")
    for path in drawn:
        path.write_text("")
    tool.run(binary, "report", "all", cwd=folder)
    for path, content in drawn.items():
        check.that(path.read_bytes() == content, f"{path} is another one")
    if shutil.which("pdftotext"):
        tool.run(binary, "report", "all", "--picture", "pdf", "--quiet", cwd=folder)
        text = subprocess.run(["pdftotext", folder / "all/comparison.pdf", "-"], check=True, capture_output=True,
                              text=True).stdout
        check.that("has nodes" in text and "computation" not in text, f"what boxes are: {text}")
    list_file = folder / "all/comparison.json"
    rows = json.loads(list_file.read_text())
    check.that(len(rows) == 6 + 1 + 1 and sum("directory" in row for row in rows) == 3, f"{rows}")
    for key, value, expected in (("work", "much", "a number"), ("haste", 1, "a figure of idle nodes"),
                                 ("directory", "../many", "the directory of their run")):
        list_file.write_text(json.dumps([{**rows[0], key: value}, *rows[1:]]))
        said = tool.run(binary, "report", "all", cwd=folder, expect=1).stderr
        check.that(expected in said and re.search(r"comparison\.json:\d+:\d+: error: ", said), f"{key}: {said}")
    list_file.write_text(json.dumps([row for row in rows if "directory" not in row]))
    said = tool.run(binary, "report", "all", cwd=folder, expect=1).stderr
    check.that("the directory of their run" in said, said)
    list_file.write_text(json.dumps(rows))
    kept = folder / "all" / rows[-1]["directory"] / "idle.json"
    kept.rename(folder / "kept.json")
    said = tool.run(binary, "report", "all", cwd=folder, expect=1).stderr
    check.that("there is no idle.json" in said, said)
    (folder / "kept.json").rename(kept)
    for names in (["many.yaml", "short.yaml"], ["short.yaml"]):
        tool.run(binary, "compare", *names, "-o", "two", "--quiet", cwd=folder)
    check.that([path.name for path in (folder / "two").iterdir() if path.is_dir()] == ["short-equal"], "older runs go")


def main():
    binary = tool.binary_argument()
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        (folder / "idle.csv").write_text("node,from,to\na,5,30\nb,12,20\nb,25,40.5\nc,30,90\n")
        again(binary, folder)
        damaged(binary, folder)
        compared(binary, folder)
    return check.done()


sys.exit(main())
