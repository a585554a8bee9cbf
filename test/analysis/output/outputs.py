#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reads the output files of the worked example back with other programs: json, csv, pj_dump.

usage: outputs.py WRITE_OUTPUTS
"""
import colorsys
import csv
import filecmp
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "figures"))
import recompute

HEADER = ("rank,host,position,stream,id,kind,stage,micro_batch,pipeline,part,group,peer,bytes,flops,"
          "memory_delta_bytes,waits_for,"
          "start_s,data_start_s,end_s")
FILES = ["summary.json", "operations.csv", "critical-path.csv", "slack.csv", "timeline.paje", "timeline.chrome.json"]
mistakes = []


def expect(condition, text):
    if not condition:
        mistakes.append(text)


def near(a, b):
    return abs(a - b) <= 1e-12 * max(1, abs(b))


def refuse(text):
    raise ValueError("JSON with " + text)


def load(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file, parse_constant=refuse)


def check_summary(directory):
    summary = load(os.path.join(directory, "summary.json"))
    expect(list(summary) ==
           ["schema", "stagesim", "scenario", "time", "bubble", "communication", "memory", "critical_path",
            "sensitivity", "workers", "links", "link_kinds", "simulation"],
           "blocks of summary.json: %s" % list(summary))
    expect(summary["scenario"]["mesh"] == {"pipeline": 2, "data": 2}, "mesh %s" % summary["scenario"]["mesh"])
    expect(near(summary["time"]["iteration_s"], 9.2), "iteration_s")
    expect(near(summary["bubble"]["causes"]["fill"], 1.1 / 2 / 9.2), "fill")
    expect(near(summary["communication"]["exposed_s"], 0.25), "exposed_s")
    expect(summary["communication"]["sent_bytes"] == 8e6, "sent_bytes")
    parts = {"parameters_bytes": 100, "gradients_bytes": 0, "optimizer_bytes": 0, "buffers_bytes": 1,
             "activations_bytes": 20}
    expect(summary["memory"] ==
           {"peak_bytes": 121, "capacity_bytes": 120, "fits": False, "parts": parts, "dominant": "parameters"},
           "memory %s" % summary["memory"])
    expect([w["peak_in_flight"] for w in summary["workers"]] == [2, 1], "peak_in_flight")


def check_csv(directory):
    with open(os.path.join(directory, "operations.csv"), newline="") as file:
        lines = file.read().split("\n")
    expect(lines[0] == HEADER, "header of operations.csv: " + lines[0])
    expect(lines[1] == "0,gpu-0,0,compute,0,F,0,0,0,,,,0,0,10,,0,0,1", "first row: " + lines[1])
    expect(len(lines) == 2 + 32 and lines[-1] == "", "number of rows")
    with open(os.path.join(directory, "critical-path.csv"), newline="") as file:
        rows = list(csv.DictReader(file))
    expect(list(rows[0]) == HEADER.split(",") + ["slack_s"], "header of critical-path.csv")
    expect([(row["rank"], row["kind"]) for row in rows] ==
           [("0", "F"), ("1", "activation"), ("1", "F"), ("1", "B"), ("1", "F"), ("1", "B"), ("0", "gradient"),
            ("0", "B")], "critical path")
    for before, after in zip(rows, rows[1:]):
        expect(before["end_s"] == after["data_start_s"], "the critical path has no holes")


def check_colours(directory):
    """Forwards are blue and backwards orange, as in the pictures."""
    with open(os.path.join(directory, "timeline.paje"), encoding="utf-8") as file:
        colours = dict(re.findall(r'^4 \S+ A "([^"]+)" "([^"]+)"$', file.read(), re.MULTILINE))
    for kind, degrees in (("F", 210), ("B", 30), ("W", 160)):
        hue = 360 * colorsys.rgb_to_hsv(*map(float, colours[kind].split()))[0]
        expect(abs(hue - degrees) < 15, "%s is %s" % (kind, colours[kind]))


def check_paje(directory):
    check_colours(directory)
    if not shutil.which("pj_dump"):
        print("pj_dump is not installed: timeline.paje was not read back")
        return
    done = subprocess.run(["pj_dump", "-l", "17", "-u", os.path.join(directory, "timeline.paje")], capture_output=True,
                          text=True)
    expect(done.returncode == 0 and not done.stderr, "pj_dump: " + done.stderr)
    rows = [[field.strip() for field in line.split(",")] for line in done.stdout.splitlines()]
    containers = [(row[2], row[6]) for row in rows if row[0] == "Container"]
    for kind, number in (("cluster", 1), ("node", 2), ("GPU", 4), ("stream", 12)):
        expect(sum(c[0] == kind for c in containers) == number, "containers of type %s: %s" % (kind, containers))
    states = [row for row in rows if row[0] == "State"]
    expect(len(states) == 2 * (8 + 8), "%d states" % len(states))
    for kind, seconds in (("F", 8 * 1), ("B", 8 * 2), ("activation", 8 * 0.1)):
        total = sum(float(row[5]) for row in states if row[7] == kind)
        expect(abs(total - seconds) < 1e-9, "%s states last %r s" % (kind, total))
    expect({row[8] for row in states if row[7] == "F"} == {"F 0.0", "F 0.1", "F 1.0", "F 1.1"}, "names of operations")
    links = [row for row in rows if row[0] == "Link"]
    expect(len(links) == 8 and all(abs(float(row[5]) - 0.1) < 1e-9 for row in links), "links: %s" % links)
    levels = [float(row[6]) for row in rows if row[0] == "Variable"]
    expect(max(levels) == 2 and min(levels) == 0, "stashed activations: %s" % levels)


def check_chrome(directory):
    events = load(os.path.join(directory, "timeline.chrome.json"))["traceEvents"]
    slices = [e for e in events if e["ph"] == "X"]
    expect(len(slices) == 32, "%d slices" % len(slices))
    expect(near(sum(e["dur"] for e in slices if e["cat"] == "B"), 8 * 2e6), "duration of B slices")
    starts = {e["id"]: e for e in events if e["ph"] == "s"}
    ends = {e["id"]: e for e in events if e["ph"] == "f"}
    expect(len(starts) == 8 and starts.keys() == ends.keys(), "flows: %d and %d" % (len(starts), len(ends)))
    for number, end in ends.items():
        for e in (starts[number], end):
            expect(
                any(s["pid"] == e["pid"] and s["tid"] == e["tid"] and s["ts"] <= e["ts"] < s["ts"] + s["dur"]
                    for s in slices), "an arrow ends outside of a slice: %s" % e)
        expect(starts[number]["pid"] // 2 == end["pid"] // 2 and starts[number]["pid"] != end["pid"],
               "an arrow leaves its replica")
    expect({e["args"]["name"] for e in events if e["ph"] == "M" and e["name"] == "thread_name"} ==
           {"compute", "send:1:activation", "receive:1:gradient", "receive:0:activation", "send:0:gradient"}, "threads")
    expect(max(e["args"]["micro-batches"] for e in events if e["ph"] == "C") == 2, "counter")


def check_hostile(directory):
    load(os.path.join(directory, "summary.json"))
    load(os.path.join(directory, "timeline.chrome.json"))
    with open(os.path.join(directory, "operations.csv"), newline="", encoding="latin-1") as file:
        rows = list(csv.DictReader(file))
    expect(len(rows) == 16 and {row["host"] for row in rows} == {'a,"b"\\x0a\\xff'},
           "names with commas, quotes, line breaks and bytes that are no text")
    with open(os.path.join(directory, "timeline.paje"), encoding="latin-1") as file:
        expect('"r0 a,_b__\xff"' in file.read(), "Paje names cannot hold quotes")
    if shutil.which("pj_dump"):
        done = subprocess.run(["pj_dump", os.path.join(directory, "timeline.paje")], capture_output=True)
        expect(done.returncode == 0 and not done.stderr, "pj_dump: %s" % done.stderr)


def main():
    with tempfile.TemporaryDirectory() as scratch:
        def write(name, replicas, how):
            directory = os.path.join(scratch, name)
            subprocess.run([sys.argv[1], directory, str(replicas), how], check=True)
            return directory

        whole = write("whole", 2, "whole")
        check_summary(whole)
        check_csv(whole)
        check_paje(whole)
        check_chrome(whole)
        check_hostile(write("hostile", 1, "hostile"))
        again, folded, spread = write("again", 2, "whole"), write("folded", 4, "folded"), write("folded-all", 2,
                                                                                                "folded-all")
        for name in FILES:
            expect(filecmp.cmp(os.path.join(whole, name), os.path.join(again, name), False),
                   name + " differs from run to run")
        for name in ("operations.csv", "slack.csv", "timeline.paje", "timeline.chrome.json"):
            expect(filecmp.cmp(os.path.join(whole, name), os.path.join(spread, name), False),
                   name + " with folded replicas written out")
        expect(load(os.path.join(folded, "summary.json"))["folding"] == {"simulated_ranks": 2, "represented_ranks": 6},
               "folding")
        expect(not recompute.main([whole, folded, spread], False), "recompute.py")
    for mistake in mistakes:
        print(mistake)
    return bool(mistakes)


if __name__ == "__main__":
    sys.exit(main())
