#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""queue_report.py STAGESIM: `report` draws page and pictures of a queue again, the same to the byte, and refuses what
these are drawn from where it is damaged."""
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


def main():
    binary = tool.binary_argument()
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        (folder / "jobs.csv").write_text(LOG)
        again(binary, folder)
        damaged(binary, folder)
        zoomed(binary, folder)
        compared(binary, folder)
    return check.done()


sys.exit(main())
