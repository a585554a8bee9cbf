#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The pictures and pages that picture_samples draws: valid, the same bytes every time, the right boxes at the right
places, labels that do not overlap, bounded in size, nothing from outside."""
import html.parser
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../support"))
from pdf import objects  # noqa: E402
from svg import SVG, rectangles  # noqa: E402

SAMPLES = sys.argv.pop(1)
LINK = "{http://www.w3.org/1999/xlink}href"
FORWARD = "#b5d8f7"


def tearDownModule():
    shutil.rmtree(Samples.directory)


def draw(directory):
    subprocess.run([SAMPLES, directory], check=True)
    return directory


class Page(html.parser.HTMLParser):
    """Checks that elements nest, and collects ids, addresses and text."""

    void = {"meta", "br", "link", "img", "hr", "input"}

    def __init__(self, text):
        super().__init__()
        self.open, self.ids, self.addresses, self.text, self.tags = [], [], [], [], []
        self.feed(text)
        self.close()
        assert not self.open, self.open

    def handle_starttag(self, tag, attributes):
        self.handle_startendtag(tag, attributes)
        if tag not in self.void:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.tags.append(tag)
        for name, value in attributes:
            if name == "id":
                self.ids.append(value)
            if name in ("href", "src", "xlink:href", "srcset", "data"):
                self.addresses.append(value)

    def handle_endtag(self, tag):
        assert self.open and self.open[-1] == tag, (tag, self.open)
        self.open.pop()

    def handle_data(self, data):
        self.text.append(data)


class Samples(unittest.TestCase):
    directory = draw(tempfile.mkdtemp())
    names = sorted(os.listdir(directory))

    def path(self, name):
        return os.path.join(self.directory, name)

    def read(self, name):
        with open(self.path(name), "rb") as file:
            return file.read()

    def svg(self, name):
        return ElementTree.fromstring(self.read(name))

    def words(self, name):
        """Words of a PDF with their places: (x, top, right, bottom, text)."""
        out = subprocess.run(["pdftotext", "-bbox", self.path(name), "-"], check=True, capture_output=True,
                             text=True).stdout
        pattern = r'<word xMin="([\d.]+)" yMin="([\d.]+)" xMax="([\d.]+)" yMax="([\d.]+)">(.*?)</word>'
        return [(*map(float, found[:4]), found[4]) for found in re.findall(pattern, out)]


class Pictures(Samples):
    def test_same_bytes_every_time(self):
        with tempfile.TemporaryDirectory() as other:
            draw(other)
            for name in self.names:
                with open(os.path.join(other, name), "rb") as file:
                    self.assertEqual(file.read(), self.read(name), name)

    def test_svg_is_sound(self):
        for name in self.names:
            if not name.endswith(".svg"):
                continue
            svg = self.svg(name)
            self.assertEqual(svg.tag, SVG + "svg")
            self.assertIsNotNone(svg.find(SVG + "title"), name)
            ids = [element.get("id") for element in svg.iter() if element.get("id")]
            self.assertEqual(len(ids), len(set(ids)), name)
            used = {element.get(LINK) for element in svg.iter() if element.get(LINK)}
            used |= {"#" + found for found in re.findall(rb"url\(#([^)]*)\)", self.read(name))
                     for found in [found.decode()]}
            self.assertLessEqual(used, {"#" + name for name in ids}, name)

    def test_png_header(self):
        for name in self.names:
            if name.endswith(".png"):
                data = self.read(name)
                self.assertEqual(data[:8], b"\x89PNG\r\n\x1a\n", name)
                width, height = struct.unpack(">II", data[16:24])
                self.assertTrue(200 <= width <= 32767 and 100 <= height <= 32767, (name, width, height))
                self.assertEqual(data[-8:-4], b"IEND", name)

    def test_pdf_has_no_date(self):
        for name in self.names:
            if name.endswith(".pdf"):
                data = self.read(name)
                self.assertTrue(data.startswith(b"%PDF-"), name)
                self.assertTrue(data.rstrip().endswith(b"%%EOF"), name)
                self.assertIn(b"/CreationDate (20000101000000Z)", objects(data).replace(b"+00'00", b"Z"), name)

    @unittest.skipUnless(shutil.which("pdftoppm"), "needs pdftoppm")
    def test_pdf_renders(self):
        for name in ("chimera.pdf", "zero.pdf", "large.pdf", "comparison.pdf", "chart.pdf"):
            done = subprocess.run(["pdftoppm", "-r", "20", "-gray", self.path(name)], check=True, capture_output=True)
            self.assertEqual(done.stderr, b"", name)
            self.assertTrue(done.stdout.startswith(b"P5"), name)
            self.assertGreater(len(set(done.stdout[32:])), 8, name)

    def test_boxes_lie_at_their_times(self):
        """GPipe: worker w runs the forward of micro-batch m from w + m to w + m + 1; T = (N + D - 1) * 3."""
        workers, batches = 4, 6
        total = (batches + workers - 1) * 3
        grounds = [box for box in rectangles(self.svg("gpipe.svg"), "#eeeef1") if box[1] - box[0] > 100]
        self.assertEqual(len(grounds), workers)
        left, right = grounds[0][0], grounds[0][1]
        boxes = [box for box in rectangles(self.svg("gpipe.svg"), FORWARD) if box[2] < grounds[-1][3]]
        self.assertEqual(len(boxes), workers * batches)
        expected = sorted((w, w + m) for w in range(workers) for m in range(batches))
        for (worker, start), box in zip(expected, sorted(boxes, key=lambda box: (box[2], box[0]))):
            self.assertAlmostEqual(box[0], left + (right - left) * start / total, delta=0.13)
            self.assertAlmostEqual(box[1], left + (right - left) * (start + 1) / total, delta=0.13)
            self.assertAlmostEqual(box[2], grounds[worker][2], delta=0.13)

    def test_one_long_run_does_not_press_the_others(self):
        """GPipe with 4 workers and 4 micro-batches takes 21; beside one that takes 105 it fills the plot, and that one
        is cut at 21."""
        for name, share in (("outlier.svg", 1), ("pair.svg", 1 / 5)):
            grounds = sorted((box for box in rectangles(self.svg(name), "#eeeef1") if box[1] - box[0] > 100),
                             key=lambda box: box[2])
            widest = max(box[1] - box[0] for box in grounds)
            for i, box in enumerate(grounds):
                self.assertAlmostEqual((box[1] - box[0]) / widest, 1 if i // 4 == 1 else share, delta=1e-3)
            long = [box for box in rectangles(self.svg(name), FORWARD) if grounds[4][2] - 1 < box[2] < grounds[7][3]]
            if share == 1:  # of worker w: micro-batch m from 5 (w + m) on; the axis ends at 21
                self.assertEqual(len(long), sum(5 * (w + m) < 21 for w in range(4) for m in range(4)))
                self.assertLessEqual(max(box[1] for box in long), grounds[0][1] + 0.2)

    def test_strips_have_the_area_of_the_boxes(self):
        """4,096 micro-batches on 64 workers: forward takes 1/3 of the busy time, whatever is merged."""
        svg = self.svg("large.svg")
        grounds = [box for box in rectangles(svg, "#eeeef1") if box[1] - box[0] > 100]
        self.assertEqual(len(grounds), 64)
        bottom = grounds[-1][3]
        height = grounds[0][3] - grounds[0][2]
        seconds = (4096 + 63) * 3
        for fill, busy in ((FORWARD, 4096), ("#ffcb8e", 2 * 4096)):
            boxes = [box for box in rectangles(svg, fill) if box[3] <= bottom + 0.2]
            area = sum((box[1] - box[0]) * (box[3] - box[2]) for box in boxes) / 64
            expected = (grounds[0][1] - grounds[0][0]) * height * busy / seconds
            self.assertAlmostEqual(area / expected, 1, delta=0.05, msg=fill)

    def test_bounded_in_size(self):
        for name, most in (("large.svg", 400_000), ("wide.svg", 400_000), ("large.pdf", 200_000),
                           ("large.png", 1_000_000)):
            self.assertLess(len(self.read(name)), most, name)

    @unittest.skipUnless(shutil.which("pdftotext"), "needs pdftotext")
    def test_labels(self):
        expected = {
            "gpipe.pdf": {"gpipe", "worker", "busy", "T", "27", "bubble", "33.3", "fill", "time", "(s)", "forward",
                          "backward", "idle"},
            "chimera.pdf": {"chimera", "down,", "up", "weight", "gradient:", "optimizer", "collective", "micro-batch"},
            "picosecond.pdf": {"(ps)"}, "megasecond.pdf": {"27,000,000", "20,000,000"},
            "comparison.pdf": {"gpipe", "1f1b", "chimera", "fill:", "drain:", "receive:", "21.9"},
            "outlier.pdf": {"cut", "ends", "105", "5.00"}, "chart.pdf": {"ring", "tree", "size", "time", "KiB", "ms"},
            "empty.pdf": {"nothing", "executed"}, "zero.pdf": {"zero", "&amp;", "takes", "time"},
            "idle-free.pdf": {"no", "bar:", "ever", "idle"}, "nothing.pdf": {"ring", "nothing", "draw:", "above"},}
        for name, labels in expected.items():
            self.assertLessEqual(labels, {word[4] for word in self.words(name)}, name)

    @unittest.skipUnless(shutil.which("pdftotext"), "needs pdftotext")
    def test_names_of_points(self):
        """Those that have room are there, and the axis does not begin at 0."""
        words = [word[4] for word in self.words("front.pdf")]
        self.assertEqual((words.count("first"), words.count("smallest")), (1, 1))
        self.assertTrue(0 < words.count("crowd") < 20, words.count("crowd"))
        amounts = [float(word) for word, unit in zip(words, words[1:]) if unit == "GiB"]
        self.assertTrue(amounts and min(amounts) >= 32, amounts)

    @unittest.skipUnless(shutil.which("pdftotext"), "needs pdftotext")
    def test_words_do_not_overlap(self):
        for name in self.names:
            if not name.endswith(".pdf"):
                continue
            words = sorted(self.words(name))
            for i, a in enumerate(words):
                for b in words[i + 1:]:
                    if b[0] >= a[2] - 0.5:
                        break
                    # boxes of words include the font's ascent and descent: a third of the height may touch
                    slack = 0.34 * min(a[3] - a[1], b[3] - b[1])
                    self.assertFalse(a[1] < b[3] - slack and b[1] < a[3] - slack, (name, a, b))

    @unittest.skipUnless(shutil.which("pdftotext"), "needs pdftotext")
    def test_micro_batch_numbers_lie_in_their_boxes(self):
        words = [word for word in self.words("gpipe.pdf") if re.fullmatch(r"\d", word[4])]
        total, grounds = 27, [box for box in rectangles(self.svg("gpipe.svg"), "#eeeef1") if box[1] - box[0] > 100]
        left, scale = grounds[0][0], (grounds[0][1] - grounds[0][0]) / total
        for worker in range(4):
            top, bottom = grounds[worker][2], grounds[worker][3]
            row = [w for w in words if top <= (w[1] + w[3]) / 2 <= bottom and w[0] >= left]
            forwards = [(word[4], (word[0] + word[2]) / 2) for word in row if (word[0] - left) / scale < worker + 6]
            self.assertEqual([text for text, _ in sorted(forwards, key=lambda f: f[1])], list("012345"))
            for text, middle in forwards:
                self.assertAlmostEqual((middle - left) / scale, worker + int(text) + 0.5, delta=0.1)

    def test_invalid_text_is_replaced(self):
        self.assertIn("zero & <duration>", self.svg("zero.svg").find(SVG + "title").text)


class Pages(Samples):
    def page(self, name):
        return Page(self.read(name).decode("utf-8"))

    def test_pages_are_sound(self):
        for name in ("report.html", "comparison.html"):
            page = self.page(name)
            self.assertEqual(len(page.ids), len(set(page.ids)), name)
            for address in page.addresses:
                self.assertTrue(address.startswith("#") or address.startswith("sample-"), address)
                if address.startswith("#"):
                    self.assertIn(address[1:], page.ids)
            outside = [found for found in re.findall(r"https?://[^\s\"'<)]+", self.read(name).decode())
                       if "www.w3.org" not in found]
            self.assertEqual(outside, [])

    def test_figures_of_the_worked_example(self):
        text = " ".join(" ".join(self.page("report.html").text).split())
        for figure in ("9.200 s", "34.78 %", "5.98 %", "11.41 %", "17.39 %", "0.533333", "250.0 ms", "150.0 ms",
                       "gpu-1", "link-0", "Memory over time", "does not fit"):
            self.assertIn(figure, text)

    def test_names_are_escaped(self):
        self.assertIn('Three <schedules> & "more"', " ".join(self.page("comparison.html").text))
        self.assertNotIn(b"<schedules>", self.read("comparison.html"))

    def test_bars_are_in_proportion(self):
        """The bars of the worked example: receive fills the bar of worker 0, fill and drain share that of worker 1 as
        1.1 to 2.1."""
        bars = [re.findall(r'class="c(\d)" style="width:([\d.]+)%', bar) for bar in
                re.findall(r'<div class="bar">(.*?)</div>', self.read("report.html").decode())]
        self.assertEqual([cause for cause, _ in bars[0]], ["2"])
        self.assertAlmostEqual(float(bars[0][0][1]), 100, delta=0.01)
        self.assertEqual([cause for cause, _ in bars[1]], ["0", "1"])
        self.assertAlmostEqual(float(bars[1][0][1]), 100 * 1.1 / 3.2, delta=0.01)
        self.assertAlmostEqual(float(bars[1][1][1]), 100 * 2.1 / 3.2, delta=0.01)


if __name__ == "__main__":
    unittest.main(verbosity=1)
