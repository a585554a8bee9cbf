#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What stagesim draws of a run against the times that it writes to operations.csv, and the pages against
comparison.csv; and a run where cairo cannot be loaded. picture_runs.py STAGESIM PLATFORMS"""
import csv
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../support"))
from svg import rectangles  # noqa: E402

PLATFORMS = os.path.abspath(sys.argv.pop())
STAGESIM = sys.argv.pop()
COLOURS = {("F", 0): "#b5d8f7", ("F", 1): "#2e6fb7", ("B", 0): "#ffcb8e", ("B", 1): "#c05a00",
           ("all-reduce", 0): "#9a5aa6"}
IDLE = "#eeeef1"
SCENARIO = """
platform: {platforms}/mesh-8.xml
workload: stages
stages: {{forward: [10ms, 12ms, 11ms, 15ms], backward: 20ms, message: 4MiB, gradient: 200MiB}}
parallel: {{data: 2, pipeline: 4}}
batch: {{micro_batches: 8}}
schedule: {{name: 1f1b}}
"""


class Runs(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.directory = os.path.join(cls.temporary.name, "out")
        scenario = os.path.join(cls.temporary.name, "mesh.yaml")
        with open(scenario, "w", encoding="utf-8") as file:
            file.write(SCENARIO.format(platforms=PLATFORMS))
        subprocess.run([STAGESIM, "compare", scenario, "--schedules", "1f1b,chimera,zb-h2", "-o", cls.directory,
                        "--trace", "csv", "--picture", "svg", "--report", "--quiet"], check=True,
                       stdout=subprocess.DEVNULL)
        with open(os.path.join(cls.directory, "comparison.csv"), encoding="utf-8") as file:
            cls.rows = {row["schedule"]: row for row in csv.DictReader(file)}

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    def read(self, *name):
        with open(os.path.join(self.directory, *name), encoding="utf-8") as file:
            return file.read()

    def check_boxes(self, schedule):
        operations = list(csv.DictReader(self.read(f"mesh-{schedule}", "operations.csv").splitlines()))
        summary = self.read(f"mesh-{schedule}", "summary.json")
        hosts = re.findall(r'"host": "([^"]*)"', summary)
        svg = ElementTree.fromstring(self.read(f"mesh-{schedule}", "timeline.svg"))
        grounds = sorted(rectangles(svg, IDLE, 100), key=lambda box: box[2])
        self.assertEqual(len(grounds), 4)
        left, right = grounds[0][:2]
        scale = (right - left) / max(float(operation["end_s"]) for operation in operations)
        for (kind, shade), colour in COLOURS.items():
            boxes = [box for box in rectangles(svg, colour) if box[3] <= grounds[-1][3] + 0.2]
            expected = []
            for operation in operations:
                collective = operation["stream"].startswith("collective") or operation["kind"] == "gradient-sync"
                named = operation["kind"] == kind if kind != "all-reduce" else collective
                down_or_up = int(operation["pipeline"] or 0) % 2 if kind != "all-reduce" else 0
                start = operation["data_start_s"] if kind == "all-reduce" else operation["start_s"]
                if named and down_or_up == shade and operation["host"] in hosts and float(operation["end_s"]) > float(
                    start):
                    row = hosts.index(operation["host"])
                    expected.append((row, left + scale * float(start), left + scale * float(operation["end_s"])))
            found = sorted(([i for i, g in enumerate(grounds) if g[2] - 0.2 <= box[2] <= g[3]][0], box[0], box[1])
                           for box in boxes)
            self.assertEqual(len(found), len(expected), (schedule, kind, shade))
            for box, place in zip(found, sorted(expected)):
                self.assertEqual(box[0], place[0])
                self.assertAlmostEqual(box[1], place[1], delta=0.2)
                self.assertAlmostEqual(box[2], place[2], delta=0.2)

    def test_boxes_of_1f1b(self):
        self.check_boxes("1f1b")

    def test_boxes_of_chimera(self):
        self.check_boxes("chimera")

    def test_cairo_is_loaded_where_something_is_drawn(self):
        """A library of that name that is none: nothing else needs it, and a picture says so."""
        broken, out = os.path.join(self.temporary.name, "libraries"), os.path.join(self.temporary.name, "none")
        os.mkdir(broken)
        with open(os.path.join(broken, "libcairo.so.2"), "wb"):
            pass
        scenario = os.path.join(self.temporary.name, "mesh.yaml")
        path = ":".join(filter(None, [broken, os.environ.get("LD_LIBRARY_PATH")]))
        plain = out + "-plain"
        for words, code in (([], 0), (["-o", plain], 0), (["-o", out, "--picture", "svg"], 3)):
            done = subprocess.run([STAGESIM, "run", scenario, "--engine", "analytic", *words], text=True,
                                  capture_output=True, env={**os.environ, "LD_LIBRARY_PATH": path}, check=False)
            self.assertEqual((done.returncode, "cannot be loaded" in done.stderr), (code, code == 3), done.stderr)
        self.assertEqual(os.path.exists(out), False)
        with open(os.path.join(plain, "about.json"), encoding="utf-8") as file:
            libraries = json.load(file)["libraries"]
        self.assertTrue("expat" in libraries and not {"cairo", "fontconfig"} & set(libraries), libraries)

    def test_comparison_ends_at_t(self):
        """One iteration of each run from 0 to T on one axis, also of zb-h2, of which several were simulated."""
        svg = ElementTree.fromstring(self.read("comparison.svg"))
        grounds = sorted(rectangles(svg, IDLE, 100), key=lambda box: box[2])
        self.assertEqual(len(grounds), 12)
        lengths = [(ground[1] - ground[0]) for ground in grounds[::4]]
        times = [float(self.rows[name]["iteration_s"]) for name in ("1f1b", "chimera", "zb-h2")]
        for length, time in zip(lengths, times):
            self.assertAlmostEqual(length / lengths[0], time / times[0], delta=0.001)

    def test_pages_say_what_the_tables_say(self):
        page = self.read("report.html")
        for row in self.rows.values():
            self.assertIn(f'{100 * float(row["bubble_ratio"]):.2f} %', page)
            self.assertIn(f'{float(row["relative_time"]):.3f}</td>', page)
            self.assertIn(f'href="mesh-{row["schedule"]}/report.html"', page)
            own = self.read(f'mesh-{row["schedule"]}', "report.html")
            self.assertIn(f'{100 * float(row["bubble_ratio"]):.2f} %', own)
            for cause in ("fill", "drain", "receive", "collective"):
                self.assertIn(f'<th scope="row">of it {cause}</th><td class="n">{100 * float(row[cause]):.2f} %</td>',
                              own)


if __name__ == "__main__":
    unittest.main()
