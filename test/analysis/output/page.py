#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""page.py STAGESIM: the timeline of report.html, read back from its data, holds what operations.csv says; so does the
picture that is there without JavaScript; pages stay small."""
import base64
import csv
import hashlib
import html
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
KINDS = {"F": 0, "B": 1, "W": 2, "optimizer": 3}
SCENARIO = """platform: {root}/platforms/mesh-8.xml
workload: stages
stages: {{forward: [20ms, 10ms, 11ms, 15ms], backward: [40ms, 20ms, 25ms, 20ms], weight: 9ms, message: 30MB,
  gradient: 100MB, activation: 1GiB, optimizer: 7ms}}
parallel: {{data: 2, pipeline: 4}}
batch: {{micro_batches: 12}}
schedule: {schedule}
"""


class Bytes:
    def __init__(self, text):
        self.data, self.at = base64.b64decode(text), 0

    def next(self):
        value = shift = 0
        while True:
            byte = self.data[self.at]
            self.at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    def signed(self):
        value = self.next()
        return -(value + 1) // 2 if value & 1 else value // 2


def boxes_of(data):
    """[row]: (kind, lane, number, half, critical, start, end) in ticks."""
    source, rows = Bytes(data["boxes"]), []
    for _ in data["busy"]:
        before, last, boxes = [0, 0], [0, 0], []
        for _ in range(source.next()):
            style = data["styles"][source.next()]
            lane = style >> 8 & 1
            start = before[lane] + source.signed()
            before[lane] = start + source.next()
            last[lane] += source.signed()
            boxes.append((style & 7, lane, last[lane], style >> 6 & 3, style >> 11 & 1, start, before[lane]))
        rows.append(boxes)
    assert source.at == len(source.data)
    return rows


def arrows_of(data):
    source, arrows, at = Bytes(data["arrows"]), [], 0
    while source.at < len(source.data):
        sender, receiver = source.next(), source.next()
        at += source.signed()
        arrows.append((sender, receiver, at, at + source.next()))
    return arrows


def data_of(page):
    return [json.loads(text) for text in re.findall(r'<script type="application/json">(.*?)</script>', page, re.S)]


class Pages(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory()
        self.folder = pathlib.Path(self.scratch.name)
        self.addCleanup(self.scratch.cleanup)

    def stagesim(self, *arguments):
        return subprocess.run([STAGESIM, *map(str, arguments), "--quiet"], check=True, capture_output=True, text=True)

    def run_schedule(self, schedule):
        scenario, out = self.folder / "uneven.yaml", self.folder / schedule
        scenario.write_text(SCENARIO.format(root=ROOT, schedule=schedule))
        self.stagesim("run", scenario, "-o", out, "--report", "--trace", "csv")
        with open(out / "operations.csv", newline="") as file:
            operations = list(csv.DictReader(file))
        return (out / "report.html").read_text(), operations, json.loads((out / "summary.json").read_text())

    def test_the_data_are_the_operations(self):
        for schedule in ("1f1b", "zb-h1", "chimera"):
            page, operations, summary = self.run_schedule(schedule)
            data, = data_of(page)
            tick = data["end"] / 2 ** 24
            self.assertAlmostEqual(data["iteration"], summary["time"]["iteration_s"], delta=1e-12)
            with open(self.folder / schedule / "critical-path.csv", newline="") as file:
                critical = {(row["rank"], row["id"]) for row in csv.DictReader(file)}
            for worker, boxes in zip(summary["workers"], boxes_of(data)):
                rank = str(worker.get("simulated_rank", worker["rank"]))
                own = [row for row in operations if row["rank"] == rank and row["stream"] == "compute"]
                shown = [box for box in boxes if box[1] == 0]
                self.assertEqual(len(own), len(shown), schedule)
                own.sort(key=lambda row: int(row["id"]))
                for row, (kind, _, number, half, flag, start, end) in zip(own, shown):
                    self.assertEqual(kind, KINDS[row["kind"]])
                    self.assertEqual(half, 0)
                    self.assertEqual(number, int(row["micro_batch"] or -1))
                    self.assertEqual(bool(flag), (rank, row["id"]) in critical)
                    self.assertAlmostEqual(start * tick, float(row["start_s"]), delta=0.6 * tick)
                    self.assertAlmostEqual(end * tick, float(row["end_s"]), delta=0.6 * tick)
            ranks = {str(w.get("simulated_rank", w["rank"])): w["position"] for w in summary["workers"]}
            sends = sorted((ranks[row["rank"]], ranks[row["peer"]], round(float(row["data_start_s"]) / tick)) for row in
                           operations if row["stream"].startswith("send") and row["rank"] in ranks)
            found = sorted(arrow[:3] for arrow in arrows_of(data))
            self.assertEqual(len(found), len(sends))
            for a, b in zip(found, sends):
                self.assertEqual(a[:2], b[:2])
                self.assertLessEqual(abs(a[2] - b[2]), 1)

    def test_the_picture_shows_every_box_without_javascript(self):
        page, operations, summary = self.run_schedule("zb-h1")
        svg = re.search(r'<svg viewBox.*?</svg>', page, re.S).group()
        drawn = sum(path.lower().count("m") for path in re.findall(r'<path fill="url[^"]*" d="([^"]*)"', svg))
        ranks = {str(w.get("simulated_rank", w["rank"])) for w in summary["workers"]}
        own = [row for row in operations if row["rank"] in ranks and
               (row["stream"] == "compute" or row["stream"].startswith("collective"))]
        self.assertEqual(drawn, len(own))
        written = re.findall(r"<tspan[^>]*>(\d+)</tspan>", re.sub(r'<text class="a".*?</text>', "", svg))
        self.assertGreater(len(written), len(ranks) * 12)

    def test_pages_are_small(self):
        out = self.folder / "all"
        self.stagesim("compare", ROOT / "scenarios/demo.yaml", "--schedules", "all", "-o", out, "--report")
        page = (out / "report.html").read_text()
        self.assertGreaterEqual(len(data_of(page)), 18)
        boxes = sum(path.lower().count("m") for path in re.findall(r'<path fill="url[^"]*" d="([^"]*)"', page))
        self.assertGreater(boxes, 5000)
        self.assertLess(len(page), 100_000 + 54 * boxes)
        script = re.search(r"<script>\n(.*?)</script>", page, re.S).group(1)
        self.assertLess(len(script), 45_000)

    def test_the_verdict_and_what_it_rests_on(self):
        out = self.folder / "job"
        command = ["run", "scenarios/llama3-70b.yaml", "--report", "--set", "transformer.tokens=15e12", "--set",
                   "transformer.price=2.5", "--set", "transformer.currency=USD"]
        subprocess.run([STAGESIM, *command, "-o", str(out), "--quiet"], check=True, capture_output=True, cwd=ROOT)
        page, summary = (out / "report.html").read_text(), json.loads((out / "summary.json").read_text())
        verdict = re.sub(r"<[^>]*>", "", re.search(r'<p class="verdict">(.*?)</p>', page, re.S).group(1))
        training, memory, time = summary["training"], summary["memory"], summary["time"]["iteration_s"]
        spare = (memory["capacity_bytes"] - memory["peak_bytes"]) / 2 ** 30
        for text in ("llama3-70b on 32 H100-SXM5-80GB", f"{time:.2f} s an iteration",
                     f"fits with {spare:.3f} GiB to spare", f"{100 * summary['throughput']['mfu']:.2f} % MFU",
                     f"{training['days']:.0f} days",
                     f"{training['cost'] / 1e6:.3g} million USD", "15 T tokens"):
            self.assertIn(text, verdict)
        self.assertAlmostEqual(training["cost"], training["days"] * 24 * 32 * 2.5, delta=1e-6 * training["cost"])
        most = max(("order", "imbalance", "transfer", "contention"), key=lambda part: summary["idle"][part])
        self.assertIn({"order": "order of the schedule", "imbalance": "unequal work", "transfer": "moving data",
                       "contention": "slow each other down"}[most], verdict)
        for role, name in (("scenario", "scenarios/llama3-70b.yaml"), ("model", "workloads/models/llama3-70b.yaml"),
                           ("platform", "platforms/dgx-h100-4.xml")):
            path = ROOT / name
            line = f"{role} {path.name} sha256 {hashlib.sha256(path.read_bytes()).hexdigest()}"
            self.assertIn(line, summary["simulation"]["inputs"])
            self.assertIn(line, page)
        self.assertEqual(summary["simulation"]["command"], "stagesim " + " ".join(command))
        self.assertIn(summary["simulation"]["command"], page)
        self.assertAlmostEqual(sum(memory["parts"].values()), memory["peak_bytes"], delta=1)

    def test_kinds_of_links(self):
        """Against operations.csv: on a ring of equal nodes every byte of a message passes the interfaces of both ends;
        counts as `platform show` has them."""
        page, operations, summary = self.run_schedule("1f1b")
        kinds = {kind["name"]: kind for kind in summary["link_kinds"]}
        shown = subprocess.run([STAGESIM, "platform", "show", str(ROOT / "platforms/mesh-8.xml"), "--format", "json"],
                               check=True, capture_output=True, text=True)
        for link in json.loads(shown.stdout)["links"]:
            if link["name"] in kinds:
                self.assertEqual(kinds[link["name"]]["count"], link["count"])
                self.assertEqual(kinds[link["name"]]["bandwidth_bytes_per_s"], link["bandwidth_bytes_per_s"])
        busiest = max(link["utilization"] for link in summary["links"])
        self.assertEqual(summary["link_kinds"][0]["utilization_max"], busiest)
        for kind in summary["link_kinds"]:
            mean = kind["bytes"] / kind["used"] / kind["bandwidth_bytes_per_s"] / summary["time"]["iteration_s"]
            self.assertAlmostEqual(kind["utilization"], mean, delta=1e-12)
            first = kind is summary["link_kinds"][0]
            self.assertIn(kind["name"] + (' <span class="badge">the bottleneck' if first else "</th>"), page)

    def test_a_job_that_does_not_fit(self):
        out = self.folder / "large"
        self.stagesim("run", ROOT / "scenarios/llama3-70b.yaml", "--set", "batch.micro=8", "-o", out, "--report")
        page, summary = (out / "report.html").read_text(), json.loads((out / "summary.json").read_text())
        self.assertFalse(summary["memory"]["fits"])
        self.assertIn("does not fit", re.search(r'<p class="verdict">(.*?)</p>', page, re.S).group(1))
        for lever in summary["memory"]["levers"]:
            self.assertIn(f"--set {lever['setting']}</code>", html.unescape(page))

    def test_nothing_comes_from_elsewhere(self):
        page, _, _ = self.run_schedule("1f1b")
        self.assertEqual(re.findall(r"\b(?:src|srcset|action|poster|data)\s*=\s*[\"'][^\"']", page), [])
        calls = r"@import|fetch\(|XMLHttpRequest|WebSocket|EventSource|sendBeacon|import\("
        self.assertEqual(re.findall(calls, page), [])
        self.assertEqual([a for a in re.findall(r'href="([^"]*)"', page) if not a.startswith("#")], [])


if __name__ == "__main__":
    STAGESIM = str(pathlib.Path(sys.argv.pop(1)).resolve())
    unittest.main(verbosity=1)
