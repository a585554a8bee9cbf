#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""queue_report.py STAGESIM: `report` draws page and pictures of a queue again, the same to the byte, and refuses what
these are drawn from where it is damaged. On the page, each job of the picture leads to a panel with its command."""
import html.parser
import json
import pathlib
import re
import shlex
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "support"))
import tool  # noqa: E402

check = tool.Checker()
DRAWN = ("report.html", "timeline.svg", "timeline.png")
LOG = "submit,nodes,run,user\n" + "".join(
    f"{37 * i},{1 + i % 5},{200 + 61 * (i % 7)},{'<ann>' if i % 3 else 'bob'}\n" for i in range(30))
SCENARIOS = {
    "plain": "queue: {log: jobs.csv}\n",
    "what-if": "queue: {log: jobs.csv, policy: easy, alternatives: true, gpu_hour: 2.5, currency: USD}\n",
    "gang": "queue: {log: jobs.csv, policy: gang, slice: 60s, switch: 9s}\n",
    "fails": "queue: {log: jobs.csv, runs: 3}\n"
             "failures: {repair: 5min, components: [{name: GPU, unit: gpu, every: 9000s}]}\n"
             "checkpoint: {every: 2min}\n",
}


def draw(binary, folder, name):
    (folder / f"{name}.yaml").write_text("platform: dgx-h100:8\n" + SCENARIOS[name])
    tool.run(binary, "run", f"{name}.yaml", "-o", name, "--trace", "csv", "--report", "--picture", "svg,png", "--quiet",
             cwd=folder)
    return folder / name


def again(binary, folder):
    """For several kinds of queues, also where the files that it draws are away."""
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
        saved = json.loads(before["queue.json"])
        jobs = next(section for section in saved["sections"] if section["heading"] == "Jobs")
        check.that(len(jobs["rows"]) == 30 and saved["drawing"]["nodes"] == 8, f"{name}: {len(jobs['rows'])} jobs")
    check.that(saved["drawing"]["away"], "nodes were in repair")
    tool.run(binary, "report", "plain", "--picture", "pdf", "--quiet", cwd=folder)
    check.that((folder / "plain/timeline.pdf").read_bytes().startswith(b"%PDF"), "another format")


def damaged(binary, folder):
    """Each mistake is reported with its place, and nothing is written."""
    out = folder / "fails"
    file = out / "queue.json"
    text = file.read_text()
    before = (out / "report.html").read_bytes()
    (out / "report.html").unlink()
    changes = [('"title"', '"head"'), ('"span": ', '"span": -'), ('"nodes": 8', '"nodes": 2'),
               ('"nodes": 8', '"nodes": 0.5'), ('"longest": ', '"longest": 1e99, "y": '),
               ('"boxes": [', '"boxes": [["a", 1, 2], '),
               ('"boxes": [', '"boxes": [7, '), ('"levels": [', '"levels": [[1e11, 0, 0], '),
               ('"away": [', '"away": [[9, 0, 1], '), ('"tiles": [', '"tiles": [5, '), ('"sorts": ', '"sort": '),
               ('"columns": ["', '"columns": ["|'), ('"rows": [', '"rows": [[["a"]], '),
               ('"sections": [', '"sections": [3, '),
               ('">share"', '"<part"'), ('"drawing"', '"picture"'), (text[len(text) // 2:], "")]
    for old, new in changes:
        check.that(old in text, f"{old} is there")
        file.write_text(text.replace(old, new, 1))
        said = tool.run(binary, "report", "fails", cwd=folder, expect=1).stderr
        check.that(re.search(r"fails/queue\.json:\d+:\d+: error: ", said), f"{old} as {new}: {said}")
        check.that(not (out / "report.html").exists(), f"{old} as {new}: something was written")
    file.write_text(text)
    tool.run(binary, "report", "fails", "--quiet", cwd=folder)
    check.that((out / "report.html").read_bytes() == before, "whole again")


def zoomed(binary, folder):
    """The page says what draws an iteration of each kind of jobs: it takes as long as it says."""
    model = {"layers": 4, "hidden": 1024, "heads": 8, "sequence": 1024, "vocabulary": 32000}
    (folder / "gpt.yaml").write_text(json.dumps(
        {"platform": "dgx-h100:1", "workload": "transformer", "model": model, "parallel": {"tensor": 8, "data": 1},
         "batch": {"micro_batches": 2, "micro": 1}, "schedule": "gpipe"}))
    (folder / "typed.csv").write_text("submit,nodes,run,type,iterations\n"
                                      "0,2,,gpt,30\n0,4,,gpt,20\n3,2,,gpt,\n5,1,9,,\n")
    for engine, platform in (("simgrid", "dgx-h100:8"), ("analytic", {"preset": "dgx-h100", "nodes": 8, "pod": 2,
                                                                      "oversubscription": 4})):
        (folder / "typed.yaml").write_text(json.dumps(
            {"platform": platform, "engine": engine,
             "queue": {"log": "typed.csv", "types": {"gpt": {"scenario": "gpt.yaml", "iterations": 50}}}}))
        tool.run(binary, "run", "typed.yaml", "-o", engine, "--report", "--quiet", cwd=folder)
        saved = json.loads((folder / engine / "queue.json").read_text())
        rows = next(section for section in saved["sections"] if section["heading"] == "One iteration")["rows"]
        check.that([(row[0][0], row[1][0], row[2][0]) for row in rows] == [("gpt", "2", "2"), ("gpt", "4", "1")], rows)
        for row in rows:
            words = shlex.split(row[4][0])
            out = folder / f"{engine}-{words[words.index('-o') + 1]}"
            words[words.index("-o") + 1] = str(out)
            tool.run(binary, *words[1:], "--quiet", cwd=folder)
            time = json.loads((out / "summary.json").read_text())["time"]
            check.near(time["iteration_s"], row[3][1], row[4][0], 1e-9)
            check.that((out / "report.html").exists(), "its page")
    check.that("One iteration" not in (folder / "plain/report.html").read_text(), "jobs of a log have none")


class Panels(html.parser.HTMLParser):
    """The links of each picture, those of them that a key reaches, and the texts of the panels by their names."""

    def __init__(self, page):
        super().__init__()
        self.pictures, self.reached, self.texts, self.panel, self.groups = [], [], {}, None, 0
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        if tag == "svg":
            self.groups += attributes["role"] == "group"
            self.pictures.append([])
            self.reached.append([])
        elif tag == "a" and attributes["href"].startswith("#job-"):
            self.pictures[-1].append([attributes["href"][1:]])
            if "tabindex" not in attributes:
                self.reached[-1].append(attributes["href"][1:])
        elif tag == "rect" and self.pictures and self.pictures[-1] and len(self.pictures[-1][-1]) == 1:
            self.pictures[-1][-1].append([float(attributes[key]) for key in ("x", "y", "width", "height")])
        elif attributes.get("class") == "panel":
            self.panel = attributes["id"]
            self.texts[self.panel] = []

    def handle_endtag(self, tag):
        self.panel = None if tag == "section" else self.panel

    def handle_data(self, data):
        if self.panel and data.strip():
            self.texts[self.panel].append(data.strip())


def panels(folder):
    """A key reaches each job once in each picture, a pointer each of its boxes, where its nodes and its time are. Its
    panel has the row of the table and the command of its kind. Nothing leads out of the page."""
    for name in ("plain", "simgrid"):
        page = (folder / name / "report.html").read_text()
        saved = json.loads((folder / name / "queue.json").read_text())
        sections = {section["heading"]: section["rows"] for section in saved["sections"]}
        commands = {(row[0][0], row[1][0]): row[4][0] for row in sections.get("One iteration", [])}
        found, boxes, jobs = Panels(page), saved["drawing"]["boxes"], sections["Jobs"]
        check.that(len(found.pictures) == 2 and found.groups == 2, f"{name}: {len(found.pictures)} pictures")
        check.that(set(found.texts) == {f"job-{i}" for i in range(len(jobs))}, f"{name}: {sorted(found.texts)}")
        for links, reached in zip(found.pictures, found.reached):
            check.that([link[0] for link in links] == [f"job-{box[1]}" for box in boxes], f"{name}: links")
            check.that(sorted(reached) == sorted(found.texts), f"{name}: keys reach {reached}")
            left, top = min(link[1][0] for link in links), min(link[1][1] for link in links)
            scale = max(link[1][0] + link[1][2] - left for link in links) / saved["drawing"]["span"]
            row = max(link[1][1] + link[1][3] - top for link in links) / max(box[2] + box[3] for box in boxes)
            for (_, (x, y, width, height)), box in zip(links, boxes):
                for drawn, expected in ((x - left, (box[4] - saved["drawing"]["begin"]) * scale),
                                        (width, (box[5] - box[4]) * scale), (y - top, box[2] * row),
                                        (height, box[3] * row)):
                    check.that(abs(drawn - expected) < 0.05, f"{name}: {box} at {drawn}, not {expected}")
        for number, row in enumerate(jobs):
            said = found.texts[f"job-{number}"]
            check.that(said[0] == row[0][0] and {cell[0] for cell in row[1:] if cell[0]} <= set(said), f"{row}: {said}")
            command = commands.get((row[1][0], row[2][0]))
            check.that(command in said if command else "No command" in " ".join(said), f"{name}: {command}: {said}")
        check.that(".panel:target{display:block}" in page, "a panel opens")
        check.that(not re.search(r"""(src|href)=["'](?!#)|@import|url\((?!#)""", page), "nothing is asked of others")
    check.that(len(commands) == 2, f"{commands}")


def compared(binary, folder):
    """A comparison of queues is drawn again as it was, with each of its queues."""
    for number, more in enumerate(([], ["--set", "queue.gpu_hour=2", "--set", "power.carbon=300"])):
        both = folder / f"both{number}"
        tool.run(binary, "compare", "plain.yaml", "gang.yaml", "-o", both, "--report", "--picture", "svg", "--quiet",
                 *more, cwd=folder)
        drawn = {path: path.read_bytes() for path in both.rglob("*") if path.suffix in (".html", ".svg")}
        check.that(len(drawn) == 6, f"{sorted(drawn)}")
        for path in drawn:
            path.write_text("")
        tool.run(binary, "report", both, cwd=folder)
        for path, content in drawn.items():
            check.that(path.read_bytes() == content, f"{path} is another one")
    rows = json.loads((both / "comparison.json").read_text())
    for key, value, expected in (("completion", "soon", "a number"), ("haste", 1, "a figure of a queue"),
                                 ("directory", "../both0", "the directory of its run")):
        (both / "comparison.json").write_text(json.dumps([{**rows[0], key: value}, rows[1]]))
        said = tool.run(binary, "report", both, cwd=folder, expect=1).stderr
        check.that(expected in said, f"{key}: {value}: {said}")
    for more, titles in (([], {"energy"}), (["--set", "queue.gpu_hour=2", "--set", "power.carbon=300"],
                                            {"energy", "kg_of_co2", "price"})):
        rows = json.loads(tool.run(binary, "compare", "plain.yaml", "gang.yaml", "--format", "json", "--quiet", *more,
                                   cwd=folder).stdout)
        check.that(titles == titles & rows[0].keys() and ("price" in rows[0]) == ("price" in titles), f"{rows[0]}")
        for name, row in zip(("plain", "gang"), rows):
            tool.run(binary, "run", f"{name}.yaml", "-o", "single", "--quiet", *more, cwd=folder)
            energy = json.loads((folder / "single/summary.json").read_text())["energy"]
            for title, key in (("energy", "energy_j"), ("kg_of_co2", "carbon_kg"), ("price", "price")):
                check.that(row.get(title) == energy.get(key), f"{name}, {title}: {row}, alone {energy}")
    page = (folder / "both0/report.html").read_text()
    check.that('<th class="n">energy</th>' in page and "kg of CO2" not in page, "the page of the comparison")
    one = next(path.parent for path in (folder / "both0").glob("*/queue.json"))
    tool.run(binary, "report", one, "--quiet", cwd=folder)
    check.that((one / "report.html").exists(), "one of its runs")


def too_many_boxes(binary, folder):
    """A month of more than 20,000 boxes says that its nodes are not drawn, by itself and beside others."""
    (folder / "many.csv").write_text("submit,nodes,run\n" + "".join(f"{i},1,1\n" for i in range(20001)))
    (folder / "many.yaml").write_text("platform: dgx-h100:2\nqueue: {log: many.csv}\n")
    for name in ("alone", "beside"):
        arguments = ["compare", "many.yaml", "plain.yaml"] if name == "beside" else ["run", "many.yaml"]
        tool.run(binary, *arguments, "-o", name, "--report", "--picture", "svg", "--quiet", cwd=folder)
        for path in (folder / name).glob("*.*"):
            said = "nodes are not drawn: that would take more than 20,000 boxes" in path.read_text()
            check.that(said or path.suffix not in (".html", ".svg"), f"{path} does not say so")


def main():
    binary = tool.binary_argument()
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        (folder / "jobs.csv").write_text(LOG)
        again(binary, folder)
        damaged(binary, folder)
        zoomed(binary, folder)
        panels(folder)
        compared(binary, folder)
        too_many_boxes(binary, folder)
    return check.done()


sys.exit(main())
