#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""schedules_page.py PAGE STAGESIM: doc/schedules.md against the program: every schedule has its section, its picture
and its row, the numbers of the table are those of the program, and the example of a schedule of one's own is
accepted."""
import json
import pathlib
import re
import subprocess
import sys
import tempfile

page, stagesim = pathlib.Path(sys.argv[1]), str(pathlib.Path(sys.argv[2]).resolve())
text = page.read_text()
faults = []


def expect(good, what):
    if not good:
        faults.append(what)


def run(*arguments):
    result = subprocess.run([stagesim, *arguments], capture_output=True, text=True, timeout=60)
    expect(result.returncode == 0, f"{' '.join(arguments)}: {result.stderr}")
    return result.stdout


rows = {}
for line in text.splitlines():
    cells = [cell.strip() for cell in line.strip("|").split("|")]
    if len(cells) == 7:
        rows.setdefault(cells[0], cells)
names = [item["name"] for item in json.loads(run("list", "schedules", "--format", "json"))]
for name in names:
    headings = re.findall(r"^### (.*)$", text, re.MULTILINE)
    expect(any(name in heading.split(", ") for heading in headings), f"{name} has no section")
    expect(f"(images/{name}.svg)" in text, f"{name} has no picture")
    expect(name in rows, f"{name} has no row")
    if name not in rows:
        continue
    row = rows[name]
    batches = re.search(r"N = (\d+)", row[1])
    data = json.loads(run("schedule", name, "--workers", "8", "--micro-batches", batches.group(1) if batches else "16",
                          "--format", "json"))
    expect(row[1].startswith("no" if data["schedule"]["asynchronous"] else "yes"), f"{name}: synchronous is {row[1]}")
    expect(float(row[2]) == data["time"]["iteration_s"], f"{name}: T is {row[2]}, not {data['time']['iteration_s']}")
    expect(row[3] == f"{data['bubble']['ratio']:.3f}".replace("-0.000", "0.000"), f"{name}: bubble is {row[3]}")
    peak = max(worker["peak_in_flight"] for worker in data["workers"])
    expect(float(row[5]) == peak, f"{name}: memory is {row[5]}, not {peak}")
for picture in re.findall(r"\((images/[^)]*)\)", text):
    expect((page.parent / picture).exists(), f"{picture} does not exist")

example = re.search(r"(?:^    .*\n)+", text[text.index("## A schedule of your own"):], re.MULTILINE).group(0)
with tempfile.TemporaryDirectory() as folder:
    file = pathlib.Path(folder) / "mine.csv"
    file.write_text("\n".join(line[4:] for line in example.splitlines()) + "\n")
    expect("time 9;" in run("schedule", str(file)), "the example of a file is not 1f1b of 2 workers")

print("\n".join(faults))
sys.exit(bool(faults))
