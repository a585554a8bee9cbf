#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""platforms_page.py PAGE STAGESIM: the table of presets in doc/platforms.md is that of the program, its example of a
platform loads, and the files that it names exist."""
import json
import pathlib
import re
import subprocess
import sys
import tempfile

page, stagesim = pathlib.Path(sys.argv[1]), str(pathlib.Path(sys.argv[2]).resolve())
text = page.read_text()
faults = []


def run(*arguments):
    return subprocess.run([stagesim, *arguments], capture_output=True, text=True, timeout=60)


def rate(preset, key):
    return f"{preset[key] / 1e9:.6g}" if key in preset else "-"


def row(preset):
    cells = [f"`{preset['name']}`", preset["gpus_per_node"], preset["device"], preset.get("memory", "-"),
             f"{preset['peak_flops_per_s'] / 1e12:.10g} Tf {preset['precision']}", preset["links"],
             rate(preset, "pair_bytes_per_s"), rate(preset, "ring_bytes_per_s"), preset["network"],
             rate(preset, "network_bytes_per_s"), preset["fabric"]]
    return "| " + " | ".join(map(str, cells)) + " |"


shown = re.search(r"<!-- presets -->\n(.*?)<!-- end -->", text, re.DOTALL).group(1).strip().splitlines()[2:]
expected = [row(preset) for preset in json.loads(run("list", "presets", "--format", "json").stdout)]
faults += [f"not in the page: {line}" for line in expected if line not in shown]
faults += [f"not in the program: {line}" for line in shown if line not in expected]

example = re.search(r"```xml\n(.*?)```", text, re.DOTALL).group(1)
with tempfile.TemporaryDirectory() as folder:
    file = pathlib.Path(folder) / "own.xml"
    file.write_text(example)
    result = run("platform", "show", str(file), "--between", "gpu-1", "gpu-0")
    if "240 GB/s, 2.7 us, 2 links" not in result.stdout:
        faults.append(f"the example does not load: {result.stdout}{result.stderr}")

for name in re.findall(r"^\| `([^`]*\.xml)`", text, re.MULTILINE):
    if not (page.parent.parent / "platforms" / name).exists():
        faults.append(f"{name} does not exist")
for other in page.parent.glob("platform*.md"):
    for target in re.findall(r"\]\(([^)#]*)", other.read_text()):
        if target and not (page.parent / target).exists():
            faults.append(f"{other.name}: {target} does not exist")
for fault in faults:
    print(fault)
sys.exit(1 if faults else 0)
