#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""explain_viewers.py STAGESIM: traces that a run wrote for others, Chrome's, Paje's and Chakra's, are explained as its
operations.csv is: the step, its parts and who is the worst. Others' Chrome traces give what names and times say; cut
and broken ones are refused with their place."""
import json
import os
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import faulty_traces
import tool

STAGESIM = tool.binary_argument()
check = tool.Checker()
FILES = ("timeline.chrome.json", "timeline.paje")
# What is changed in the run that is explained; the scenario has none of it. Loads of the pipeline's own run in both
# directions, with weight gradients apart, and with several chunks.
RUNS = {"slow GPU": ("1f1b", ["--scale", "gpu-1=0.7"]), "slow link": ("zb-h1", ["--scale", "l-1-2=0.2"]),
        "stage": ("1f1b", ["--set", "stages.forward=[12ms,12ms,18ms,12ms]"]),
        "both directions": ("dualpipe", ["--scale", "gpu-6=0.9"]),
        "chunks": ("{name: interleaved, chunks: 2}", ["--scale", "gpu-6=0.9"])}


def explain(*arguments, expect=0):
    result = tool.run(STAGESIM, "explain", *arguments, "-o", "why", "--quiet", expect=expect)
    return json.loads(pathlib.Path("why/explain.json").read_text()) if not expect else result.stderr


def check_run(name, schedule, options):
    text = faulty_traces.SCENARIO.replace("schedule: 1f1b", f"schedule: {schedule}") + "output: {replicas: all}\n" \
        "fold: off\n"
    pathlib.Path("scenario.yaml").write_text(text)
    tool.run(STAGESIM, "run", "scenario.yaml", "-o", "out", "--trace", "csv,chrome,paje,chakra", "--quiet", *options)
    table = explain("scenario.yaml", "out/operations.csv")
    ranks = sorted(pathlib.Path("out/chakra").glob("*.et"))
    for file in (*FILES, "chakra"):
        traces, what = ranks if file == "chakra" else [f"out/{file}"], f"{name}, {file}"
        found = explain("scenario.yaml", *traces)
        check.that(not found["notes"], f"{what}: {found['notes']}")
        check.near(found["measured_s"], table["measured_s"], f"{what}: the step", 1e-9)
        check.that(found["pipeline"] == table["pipeline"], f"{what}: {found['pipeline']}, {table['pipeline']}")
        for one, other in zip(found["parts"], table["parts"]):
            check.that(abs(one["seconds"] - other["seconds"]) < 1e-3 * table["measured_s"],
                       f"{what}, {one['part']}: {one['seconds']} s, {other['seconds']} s from operations.csv")
        worst = [max(each["parts"], key=lambda part: part["seconds"]) for each in (found, table)]
        check.that(worst[0]["worst"] == worst[1]["worst"], f"{what}: {worst}")


def check_others():
    events = [{"ph": "X", "name": name, "pid": pid, "tid": tid, "ts": begin, "dur": length}
              for pid in "ab" for tid, name, begin, length in
              ((1, "train", 0, 60), (1, "gemm", 10, 20), (2, "ncclAllReduce", 50, 40), (3, "MemcpyHtoD", 85, 15))]
    pathlib.Path("other.json").write_text(json.dumps(events))
    found = explain("other.json")
    for part, expected in (("computation", 60e-6), ("communication", 30e-6), ("copies", 10e-6)):
        check.near(found["parts"][part], expected, f"another program's, {part}", 1e-9)
    check.that(len(found["ranks"]) == 2 and any("of no program that is known" in note for note in found["notes"]),
               f"another program's: {found['notes']}")


def check_broken():
    """Of the last run."""
    paje, chrome = (pathlib.Path("out", file).read_text() for file in (FILES[1], FILES[0]))
    lines = paje.splitlines(keepends=True)
    first = next(i for i, line in enumerate(lines) if line.startswith("7 "))
    cases = {"cut.paje": ("".join(lines[:first + 9]), "states have begun that do not end: the file was cut"),
             "event.paje": ("".join(lines[:first]) + "77 0 A s0.0 v0\n",
                            f":{first + 1}: error: the line is of no event"),
             "time.paje": ("".join(lines[:first]) + "7 soon A s0.0 v0 \"F 0.0\"\n", "a time is seconds from 0 to 1e12"),
             "stream.paje": ("".join(lines[:first]) + "7 0 A s99.0 v0 \"F 0.0\"\n", "no stream of a GPU"),
             "head.paje": ("".join(lines[:first]), "it has no operation of a training"),
             "cut.json": (chrome[:len(chrome) // 2], "it was cut"),
             "thread.json": (chrome.replace('"name":"compute"', '"name":"worker"', 1), "'worker' is no stream's name")}
    for name, (text, words) in cases.items():
        pathlib.Path(name).write_text(text)
        message = explain(name, expect=1)
        check.that(words in message and message.startswith(name), f"{name}: {message}")


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        pathlib.Path("links.xml").write_text(faulty_traces.platform(8))
        for name, (schedule, options) in RUNS.items():
            check_run(name, schedule, options)
        check_others()
        check_broken()
        os.chdir("/")
    return check.done()


if __name__ == "__main__":
    sys.exit(main())
