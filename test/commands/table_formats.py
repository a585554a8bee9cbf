#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""table_formats.py STAGESIM: --format latex and markdown of every command that prints a table. A reader of its own
takes each apart again: as many cells in each row as titles, and the texts of names with every special character are
what they were. cmark-gfm reads the Markdown and pdflatex sets the LaTeX where they are installed. CSV and JSON of
lists and platforms hold numbers."""
import csv
import html.parser
import io
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from tool import Checker, binary_argument, run

JOB = """platform: dgx-a100:1
workload: stages
stages: {forward: 10ms, backward: 20ms, message: 1MiB, activation: 1MiB}
parallel: {pipeline: 4}
batch: {global: 8, micro: 1}
schedule: 1f1b
"""
NASTY = ["a_b & 50% of $x$ #1", "{curly} ~tilde^ \\back", "<b>|pipe| &amp; `code` *s* __u__", "[l](u) !`?` --set '' ,,",
         "\"q\" -- ``x'' ## $y$ <!-- c -->", "*star", "[bracket] ~~gone~~"]
check = Checker()


# ---- readers ----

def split_row(line, separator):
    """At separators that no backslash hides."""
    cells, cell, at = [], "", 0
    while at < len(line):
        if line[at] == "\\":
            cell += line[at:at + 2]
            at += 2
        elif line[at] == separator:
            cells.append(cell)
            cell = ""
            at += 1
        else:
            cell += line[at]
            at += 1
    return [c.strip() for c in cells + [cell]]


def markdown_tables(text):
    """[[row of plain cells]] with the titles first."""
    tables, rows = [], []
    for line in text.splitlines() + [""]:
        if line.startswith("|"):
            rows.append(split_row(line, "|")[1:-1])
        elif rows:
            tables.append(rows)
            rows = []
    for rows in tables:
        check.that(all(re.fullmatch(r":?-+:?", cell) for cell in rows[1]), f"no rule below the titles: {rows[1]}")
        titles = [cell for cell in rows[0] if cell]
        check.that(len(set(titles)) == len(titles), f"a title stands twice: {rows[0]}")
        for row in rows:
            check.that(len(row) == len(rows[0]), f"{len(row)} cells below {len(rows[0])} titles: {row}")
            for cell in row:  # no bare mark-up
                check.that(not re.search(r"[`*_\[\]<>|&~$]", re.sub(r"\\.", "", cell)), f"not escaped: {cell}")
    return [[[re.sub(r"\\(.)", r"\1", cell) for cell in row] for row in rows[:1] + rows[2:]] for rows in tables]


LATEX = [(r"\textbackslash{}", "\\"), (r"\textasciitilde{}", "~"), (r"\textasciicircum{}", "^"), (r"\textless{}", "<"),
         (r"\textgreater{}", ">"), (r"\textbar{}", "|"), (r"\char34{}", '"'), (r"\textasciigrave{}", "`"),
         (r"$\mu$", "u"), ("$-$", "-"), (r"\,", " "), ("{[}", "["), ("{*}", "*"), ("{}", "")] + \
        [("\\" + c, c) for c in "{}$&#%_"]


def latex_cell(cell):
    """Command by command; anything else that is special is a mistake."""
    plain = ""
    while cell:
        for command, text in LATEX:
            if cell.startswith(command):
                plain, cell = plain + text, cell[len(command):]
                break
        else:
            check.that(cell[0] not in "\\{}$&#%_~^<>|\"`", f"not escaped: {cell}")
            plain, cell = plain + cell[0], cell[1:]
    return plain


def latex_tables(text):
    tables = []
    whole = r"\\begin\{tabular\}\{([lr]+)\}\n\\toprule\n(.*?)\\bottomrule\n\\end\{tabular\}\n"
    for spec, body in re.findall(whole, text, re.S):
        head, rest = body.split("\\midrule\n")
        rows = []
        for line in (head + rest).splitlines():
            check.that(line.endswith(" \\\\"), f"a row without an end: {line}")
            row = split_row(line[:-3], "&")
            check.that(len(row) == len(spec), f"{len(row)} cells for {spec}: {row}")
            check.that(not line.startswith(("[", "*")), f"an argument of the row before: {line}")
            rows.append([latex_cell(cell) for cell in row])
        tables.append(rows)
    outside = re.sub(r"\\begin\{tabular\}.*?\\end\{tabular\}\n", "", text, flags=re.S)
    check.that(all(not line or line.startswith("%") for line in outside.splitlines()), f"outside: {outside[:200]}")
    return tables


class Cells(html.parser.HTMLParser):
    """The tables of a page."""

    def __init__(self):
        super().__init__()
        self.tables, self.cell = [], None

    def handle_starttag(self, tag, attrs):
        if tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self.tables[-1].append([])
        elif tag in ("td", "th"):
            self.cell = ""
        else:
            check.that(tag in ("thead", "tbody", "p"), f"mark-up in a cell: <{tag}>")

    def handle_endtag(self, tag):
        if tag in ("td", "th"):
            self.tables[-1][-1].append(self.cell)
            self.cell = None

    def handle_data(self, data):
        if self.cell is not None:
            self.cell += data


def with_cmark(text, tables):
    if not shutil.which("cmark-gfm"):
        return
    page = subprocess.run(["cmark-gfm", "-e", "table", "-e", "strikethrough"], input=text, capture_output=True,
                          text=True, check=True).stdout
    reader = Cells()
    reader.feed(page)
    plain = [[[" ".join(cell.split()) for cell in row] for row in table] for table in tables]
    read = [[[" ".join(cell.split()) for cell in row] for row in table] for table in reader.tables]
    check.that(read == plain, f"cmark-gfm reads other tables:\n{read}\n{plain}")


def with_pdflatex(texts, folder):
    if not shutil.which("pdflatex"):
        return
    body = "\n\n".join(texts)
    (folder / "t.tex").write_text("\\documentclass{article}\n\\usepackage{booktabs}\n\\usepackage[paperwidth=90cm]"
                                  "{geometry}\n\\begin{document}\n" + body + "\\end{document}\n")
    done = subprocess.run(["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "t.tex"], cwd=folder,
                          capture_output=True, text=True, errors="replace")
    wrong = [line for line in done.stdout.splitlines() if line.startswith("!") or "Missing character" in line]
    check.that(done.returncode == 0 and not wrong, f"pdflatex: {wrong} {done.stdout[-600:] if done.returncode else ''}")


# ---- what is read ----

def nasty_names(stagesim, folder, latex):
    """Names of scenarios, as `compare` shows them."""
    paths = []
    for number, name in enumerate(NASTY):
        (folder / str(number)).mkdir()
        paths.append(folder / str(number) / f"{name.replace('/', '-')}.yaml")
        paths[-1].write_text(JOB)
    arguments = ["compare", *paths, "--quiet", "--engine", "analytic", "--format"]
    text = run(stagesim, *arguments, "markdown").stdout
    tables = markdown_tables(text)
    names = [path.stem for path in paths]
    check.that([" ".join(row[0].split()) for row in tables[0][1:]] == names, f"Markdown: {tables[0]}")
    with_cmark(text, tables)
    text = run(stagesim, *arguments, "latex").stdout
    check.that([row[0] for row in latex_tables(text)[0][1:]] == names, f"LaTeX: {latex_tables(text)[0]}")
    latex.append(text)


def every_command(stagesim, folder, latex):
    (folder / "job.yaml").write_text(JOB)
    (folder / "m.csv").write_text(run(stagesim, "collective", "all-reduce", "--platform", "dgx-a100:1", "--engine",
                                      "analytic", "--sizes", "1KiB:1GiB:32", "--format", "csv").stdout)
    (folder / "gpt.yaml").write_text("platform: dgx-a100:1\nworkload: transformer\nmodel: megatron-1.7b\nparallel: "
                                     "{tensor: 4, pipeline: 2}\nbatch: {micro: 1, global: 8}\nschedule: 1f1b\n"
                                     "search: {micro: [1]}\n")
    commands = {
        "run": ["run", "job.yaml", "--quiet", "--engine", "both"],
        "compare": ["compare", "job.yaml", "--schedules", "gpipe,1f1b,pipedream,interleaved", "--quiet"],
        "sweep": ["sweep", "job.yaml", "--set", "batch.global=8,16", "--engine", "analytic", "--quiet"],
        "search": ["search", "gpt.yaml", "--quiet", "--top", "2"],
        "layouts": ["layouts", str(pathlib.Path(__file__).resolve().parents[2] / "scenarios/axonn.yaml"), "--top", "0",
                    "--set", "parallel.data=1", "--quiet"],
        "collective": ["collective", "all-gather", "--platform", "dgx-a100:1", "--sizes", "1KiB:1MiB:32"],
        "schedule": ["schedule", "pipedream", "--workers", "4", "--micro-batches", "8"],
        "show": ["platform", "show", "dgx-h100:2"],
        "route": ["platform", "show", "dgx-h100:2", "--between", "gpu-0-0", "gpu-1-3"],
        "kernel": ["kernel", "matmul", "--gpu", "H100", "-m", "8192", "-n", "8192", "-k", "8192"],
        "fit": ["platform", "fit", "m.csv", "--platform", "dgx-a100:1", "-o", "fitted.xml"],
    }
    for kind in ("schedules", "presets", "algorithms", "scenarios"):
        commands[kind] = ["list", kind]
    for name, arguments in commands.items():
        text = run(stagesim, *arguments, "--format", "markdown", cwd=folder).stdout
        tables = markdown_tables(text)
        check.that(tables and all(len(table) > 1 for table in tables), f"{name}: {tables}")
        with_cmark(text, tables)
        text = run(stagesim, *arguments, "--format", "latex", cwd=folder).stdout
        same = latex_tables(text)
        check.that([[[" ".join(cell.split()) for cell in row] for row in table] for table in same] ==
                   [[[" ".join(cell.split()) for cell in row] for row in table] for table in tables],
                   f"{name}: LaTeX and Markdown differ:\n{same}\n{tables}")
        latex.append(text)


def numbers(stagesim):
    """Programs read numbers without units."""
    rows = list(csv.DictReader(io.StringIO(run(stagesim, "platform", "show", "dgx-h100:2", "--format", "csv").stdout)))
    nic = next(row for row in rows if row["link"] == "nic")
    check.that(float(nic["bandwidth"]) == 45e9 and float(nic["latency"]) == 200e-9, nic)
    rows = list(csv.DictReader(io.StringIO(run(stagesim, "list", "presets", "--format", "csv").stdout)))
    entries = json.loads(run(stagesim, "list", "presets", "--format", "json").stdout)
    check.that([row["preset"] for row in rows] == [entry["name"] for entry in entries], "other presets in the table")
    check.that(all(int(row["gpus"]) == entry["gpus_per_node"] for row, entry in zip(rows, entries)), "other counts")
    rows = list(csv.DictReader(io.StringIO(run(stagesim, "list", "schedules", "--format", "csv").stdout)))
    entries = json.loads(run(stagesim, "list", "schedules", "--format", "json").stdout)
    check.that([(row["name"], row["summary"], row["source"]) for row in rows] ==
               [(entry["name"], entry["summary"], entry["source"]) for entry in entries], "texts are cut in the table")


def main():
    stagesim = binary_argument()
    latex = []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        nasty_names(stagesim, folder, latex)
        every_command(stagesim, folder, latex)
        numbers(stagesim)
        with_pdflatex(latex, folder)
    return check.done()


if __name__ == "__main__":
    sys.exit(main())
